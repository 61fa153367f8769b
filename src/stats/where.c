/* Which tokens count. */
#include "stats/where.h"

#include <string.h>

#include "base/error.h"

lg_status lg_where_open(const char *text, const char *what, const lg_dataset *data, const lg_scores *scores,
                        const char *const *models, size_t n_scores, const lg_table *tags, lg_where *where,
                        lg_error *error) {
    *where = (lg_where){0};
    if (!text) return LG_OK;
    lg_status status = lg_token_source_open(data, scores, models, n_scores, tags, &where->source, error);
    if (status) return status;
    lg_query_item item = {.what = what, .text = text, .want = LG_QUERY_CONDITION};
    status = lg_query_compile(&item, 1, lg_token_source_columns(where->source), &where->query, error);
    if (!status && !(where->session = lg_query_session_create(where->query))) status = lg_fail_memory(error);
    if (status) lg_where_close(where);
    return status;
}

void lg_where_close(lg_where *where) {
    lg_query_session_free(where->session);
    lg_query_free(where->query);
    lg_token_source_close(where->source);
    *where = (lg_where){0};
}

lg_status lg_where_read(lg_where *where, size_t first, size_t n, uint8_t *truth, lg_error *error) {
    if (!where->query) {
        memset(truth, LG_QUERY_TRUE, n);
        return LG_OK;
    }
    for (size_t done = 0, part; done < n; done += part) {
        part = n - done < LG_QUERY_BLOCK ? n - done : LG_QUERY_BLOCK;
        lg_status status = lg_query_run(where->session, first + done, part, error);
        if (status) return status;
        memcpy(truth + done, lg_query_truth(where->session, 0), part);
    }
    return LG_OK;
}
