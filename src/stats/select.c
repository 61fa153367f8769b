/* Choosing tokens by a condition. */
#include "lossgap/select.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "stats/comparable.h"
#include "stats/where.h"

enum { BLOCK = 4096 };

lg_status lg_select_tokens(const char *where, const lg_dataset *data, const lg_scores *scores,
                           size_t n_scores, const char *tags_path, uint8_t *keep, uint64_t *unknown,
                           lg_error *error) {
    lg_table *tags = NULL;
    lg_where w = {0};
    const char **models = lg_alloc(n_scores, sizeof *models);
    lg_status status = models ? LG_OK : lg_fail_memory(error);
    for (size_t i = 0; i < n_scores && !status; i++) models[i] = scores[i].model_name;
    if (!status && tags_path) status = lg_table_open(tags_path, "tags", &tags, error);
    if (!status && tags) status = lg_check_tags(data, tags, error);
    if (!status) status = lg_where_open(where, "--where", data, scores, models, n_scores, tags, &w, error);
    *unknown = 0;
    for (size_t first = 0; first < data->n_tokens && !status; first += BLOCK) {
        size_t n = data->n_tokens - first < BLOCK ? data->n_tokens - first : BLOCK;
        status = lg_where_read(&w, first, n, keep + first, error);
        for (size_t i = first; i < first + n && !status; i++) {
            *unknown += keep[i] == LG_QUERY_UNKNOWN;
            keep[i] = keep[i] == LG_QUERY_TRUE;
        }
    }
    lg_where_close(&w);
    lg_table_close(tags);
    free(models);
    return status;
}
