/* Whether two models read a corpus as the same tokens: decided by the ids, on this corpus. */
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "cli/cli.h"
#include "lossgap/dataset.h"

enum { BATCH = 512 }; /* documents between two looks at the monitor */

typedef struct reader {
    lg_tokenizer_session *session;
    lg_tokens tokens;
    lg_error error;
} reader;

/* The first token of document DOC whose id is another in TOKENS; SIZE_MAX: all are the same. */
static size_t first_difference(const lg_dataset *data, size_t doc, const lg_tokens *tokens) {
    size_t begin = (size_t)lg_begin_of(data->doc_token_end, doc),
           n = (size_t)data->doc_token_end[doc] - begin, i = 0;
    while (i < n && i < tokens->count && data->token_id[begin + i] == tokens->ids[i]) i++;
    return i == n && i == tokens->count ? SIZE_MAX : i;
}

static void put_id(char *out, size_t size, const uint32_t *ids, size_t count, size_t at) {
    if (at < count) snprintf(out, size, "id %u", ids[at]);
    else snprintf(out, size, "no more tokens");
}

lg_status cli_same_tokens(const lg_dataset *data, const char *folder, bool parse_special, const char *name_a,
                          const char *name_b, unsigned threads, bool *same, char *difference, size_t size,
                          const lg_monitor *monitor, lg_error *error) {
    *same = true;
    lg_tokenizer *tokenizer = NULL;
    lg_status status = lg_tokenizer_open(folder, &tokenizer, error);
    if (status) return status;
    unsigned n_readers = threads ? threads : (unsigned)omp_get_num_procs();
    reader *readers = NULL;
    size_t *differs = NULL;
    if (strcmp(lg_tokenizer_identity(tokenizer), data->tokenizer) == 0)
        goto done; /* the same file, in effect */
    readers = calloc(n_readers, sizeof *readers);
    differs = lg_alloc(BATCH, sizeof *differs);
    if (!readers || !differs) status = lg_fail_memory(error);
    for (unsigned i = 0; i < n_readers && !status; i++)
        status = lg_tokenizer_session_create(tokenizer, &readers[i].session, error);
    for (size_t first = 0; first < data->n_docs && !status && *same; first += BATCH) {
        size_t n = data->n_docs - first < BATCH ? data->n_docs - first : BATCH;
        if (lg_is_cancelled(monitor)) status = LG_CANCELLED;
        lg_status worst = LG_OK;
#pragma omp parallel for schedule(dynamic) num_threads(n_readers) reduction(max : worst)
        for (size_t i = 0; i < n; i++) {
            reader *r = &readers[omp_get_thread_num()];
            size_t begin = (size_t)lg_begin_of(data->doc_text_end, first + i);
            lg_error unused; /* the first error of a thread is kept */
            lg_status failed =
                lg_tokenize(r->session, data->text + begin, (size_t)data->doc_text_end[first + i] - begin,
                            parse_special, &r->tokens, r->error.status ? &unused : &r->error);
            differs[i] = failed ? SIZE_MAX : first_difference(data, first + i, &r->tokens);
            if (failed > worst) worst = failed;
        }
        for (unsigned i = 0; worst && !status && i < n_readers; i++)
            if (readers[i].error.status) {
                *error = readers[i].error;
                status = error->status;
            }
        for (size_t i = 0; i < n && !status && *same; i++) {
            if (differs[i] == SIZE_MAX) continue;
            size_t doc = first + i, name = (size_t)lg_begin_of(data->doc_name_end, doc);
            size_t token = (size_t)lg_begin_of(data->doc_token_end, doc),
                   byte = (size_t)lg_begin_of(data->doc_text_end, doc);
            char id_a[32], id_b[32];
            status =
                lg_tokenize(readers[0].session, data->text + byte, (size_t)data->doc_text_end[doc] - byte,
                            parse_special, &readers[0].tokens, error);
            if (status) break;
            put_id(id_a, sizeof id_a, data->token_id + token, (size_t)data->doc_token_end[doc] - token,
                   differs[i]);
            put_id(id_b, sizeof id_b, readers[0].tokens.ids, readers[0].tokens.count, differs[i]);
            size_t length = (size_t)data->doc_name_end[doc] - name;
            *same = false;
            snprintf(
                difference, size,
                "%s and %s split this corpus into different tokens: in document '%.*s', token %zu is %s for "
                "%s and %s for %s",
                name_a, name_b, (int)(length < 200 ? length : 200), data->doc_name + name, differs[i], id_a,
                name_a, id_b, name_b);
        }
        lg_progress(monitor, "bytes", data->doc_text_end[first + n - 1], data->n_bytes);
    }
    for (unsigned i = 0; readers && i < n_readers; i++) {
        lg_tokenizer_session_free(readers[i].session);
        lg_tokens_free(&readers[i].tokens);
    }
done:
    free(readers);
    free(differs);
    lg_tokenizer_close(tokenizer);
    return status;
}
