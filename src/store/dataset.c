/* Reading datasets: columns found, and every number in them checked, so that no reader has to. */
#include "lossgap/dataset.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/memory.h"

static lg_status damaged(const lg_dataset *d, lg_error *error, const char *what, size_t row) {
    return lg_fail(error, LG_BAD_INPUT, "%s: row %zu: %s: the dataset is damaged, make it again",
                   lg_table_path(d->table), row, what);
}

/* Finds a column; *COUNT is SIZE_MAX for the first of its length, which sets it. */
static lg_status find(const lg_dataset *d, const char *name, lg_dtype dtype, size_t *count,
                      const void **values, lg_error *error) {
    lg_status status = lg_table_column(d->table, name, dtype, *count, values, error);
    if (!status) *count = lg_table_find(d->table, name)->count;
    return status;
}

static lg_status find_columns(lg_dataset *d, lg_error *error) {
    const void *text, *text_end, *token_end_of_doc, *kind, *domain, *name, *name_end, *id, *end;
    size_t names = SIZE_MAX;
    lg_status status;
    d->n_docs = d->n_tokens = d->n_bytes = SIZE_MAX;
    if ((status = find(d, "text", LG_U8, &d->n_bytes, &text, error)) ||
        (status = find(d, "doc_text_end", LG_U64, &d->n_docs, &text_end, error)) ||
        (status = find(d, "doc_token_end", LG_U64, &d->n_docs, &token_end_of_doc, error)) ||
        (status = find(d, "doc_kind", LG_U8, &d->n_docs, &kind, error)) ||
        (status = find(d, "doc_domain", LG_U16, &d->n_docs, &domain, error)) ||
        (status = find(d, "doc_name", LG_U8, &names, &name, error)) ||
        (status = find(d, "doc_name_end", LG_U64, &d->n_docs, &name_end, error)) ||
        (status = find(d, "token_id", LG_U32, &d->n_tokens, &id, error)) ||
        (status = find(d, "token_end", LG_U64, &d->n_tokens, &end, error)))
        return status;
    d->text = text;
    d->doc_text_end = text_end;
    d->doc_token_end = token_end_of_doc;
    d->doc_kind = kind;
    d->doc_domain = domain;
    d->doc_name = name;
    d->doc_name_end = name_end;
    d->token_id = id;
    d->token_end = end;
    return LG_OK;
}

/* Reads what the provenance says: the domains' names, the tokenizer, and whether there is text. The names lie
   in one block with the array of pointers to them, and the tokenizer's identity behind them. */
static lg_status read_provenance(lg_dataset *d, lg_error *error) {
    const lg_provenance *p = lg_table_provenance(d->table);
    const char *path = lg_table_path(d->table);
    lg_arena arena = {0};
    lg_json_value *settings, *inputs;
    lg_status status = lg_json_parse(&arena, p->settings, strlen(p->settings), path, &settings, error);
    if (!status) status = lg_json_parse(&arena, p->inputs, strlen(p->inputs), path, &inputs, error);
    if (status) goto done;

    const lg_json_value *domains = lg_json_get(settings, "domains"),
                        *input_ids = lg_json_get(settings, "input_ids");
    const lg_json_value *tokenizer = lg_json_get(inputs, "tokenizer"), *unit = lg_json_get(settings, "unit");
    d->spans = unit && unit->type == LG_JSON_STRING && strcmp(unit->string, "span") == 0;
    bool good = domains && domains->type == LG_JSON_ARRAY && (!input_ids || input_ids->type == LG_JSON_BOOL);
    d->has_text = !input_ids || !input_ids->boolean;
    if (d->has_text) good = good && tokenizer && tokenizer->type == LG_JSON_STRING && tokenizer->length;
    size_t bytes = 0;
    for (const lg_json_value *v = good ? domains->first : NULL; v; v = v->next) {
        good = good && v->type == LG_JSON_STRING && strlen(v->string) == v->length;
        bytes += sizeof(char *) + v->length + 1;
    }
    if (!good) {
        status = lg_fail(error, LG_BAD_INPUT,
                         "%s: the provenance lacks \"domains\" in the settings or \"tokenizer\" in the "
                         "inputs: the dataset is "
                         "damaged, make it again",
                         path);
        goto done;
    }
    const char *identity = d->has_text ? tokenizer->string : "";
    d->n_domains = domains->length;
    d->domains = malloc(bytes + strlen(identity) + 1);
    if (!d->domains) {
        status = lg_fail_memory(error);
        goto done;
    }
    char *to = (char *)(d->domains + d->n_domains);
    size_t i = 0;
    for (const lg_json_value *v = domains->first; v; v = v->next) {
        d->domains[i++] = to;
        to = stpcpy(to, v->string) + 1;
    }
    d->tokenizer = strcpy(to, identity);
done:
    lg_arena_free(&arena);
    return status;
}

/* ENDS [n] must rise, from 0, to exactly TOTAL. */
static lg_status check_ends(const lg_dataset *d, const char *name, const uint64_t *ends, size_t n,
                            size_t total, lg_error *error) {
    uint64_t before = 0;
    for (size_t i = 0; i < n; i++) {
        if (ends[i] < before || ends[i] > total) return damaged(d, error, name, i);
        before = ends[i];
    }
    return before == total ? LG_OK : damaged(d, error, name, n ? n - 1 : 0);
}

static lg_status check_documents(const lg_dataset *d, lg_error *error) {
    const size_t names = lg_table_find(d->table, "doc_name")->count;
    lg_status status;
    if ((status = check_ends(d, "doc_text_end does not rise to the length of the text", d->doc_text_end,
                             d->n_docs, d->n_bytes, error)) ||
        (status = check_ends(d, "doc_token_end does not rise to the number of tokens", d->doc_token_end,
                             d->n_docs, d->n_tokens, error)) ||
        (status = check_ends(d, "doc_name_end does not rise to the length of the names", d->doc_name_end,
                             d->n_docs, names, error)))
        return status;
    for (size_t i = 0; i < d->n_docs; i++) {
        if (d->doc_kind[i] >= LG_N_KINDS) return damaged(d, error, "doc_kind is no kind", i);
        if (d->doc_domain[i] >= d->n_domains) return damaged(d, error, "doc_domain is no domain", i);
    }
    return LG_OK;
}

/* Within each document tokens end one after the other, and the last one where the document does. */
static lg_status check_tokens(lg_dataset *d, lg_error *error) {
    if (!d->has_text && d->n_bytes) return damaged(d, error, "already tokenised data with text", 0);
    for (size_t doc = 0, i = 0; doc < d->n_docs; doc++) {
        const uint64_t last = d->doc_token_end[doc], stop = d->doc_text_end[doc];
        uint64_t before = lg_begin_of(d->doc_text_end, doc);
        if (i == last) continue;
        for (; i < last; i++) {
            if (d->token_end[i] < before || d->token_end[i] > stop)
                return damaged(d, error, "token_end does not rise within its document", i);
            before = d->token_end[i];
        }
        if (before != stop)
            return damaged(d, error, "token_end leaves bytes of its document to no token", i - 1);
    }
    uint32_t largest = 0;
    for (size_t i = 0; i < d->n_tokens; i++) largest = d->token_id[i] > largest ? d->token_id[i] : largest;
    d->max_token_id = largest;
    return LG_OK;
}

lg_status lg_dataset_open(const char *path, lg_dataset *dataset, lg_error *error) {
    *dataset = (lg_dataset){0};
    lg_status status = lg_table_open(path, "dataset", &dataset->table, error);
    if (status) return status;
    if ((status = find_columns(dataset, error)) || (status = read_provenance(dataset, error)) ||
        (status = check_documents(dataset, error)) || (status = check_tokens(dataset, error)))
        lg_dataset_close(dataset);
    return status;
}

void lg_dataset_close(lg_dataset *dataset) {
    lg_table_close(dataset->table);
    free(dataset->domains);
    *dataset = (lg_dataset){0};
}
