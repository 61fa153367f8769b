/* Masks as an artefact (docs/formats/masks.md): written, and read again. */
#include <string.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/json.h"
#include "stats/filter_internal.h"
#include "store/table_writer.h"

enum { VERSION = 1 };

static lg_status append(lg_table_writer *writer, const char *name, lg_dtype dtype, const void *values,
                        size_t n, lg_error *error) {
    size_t column;
    lg_status status = lg_table_writer_add(writer, name, dtype, 1, &column, error);
    return status ? status : lg_table_writer_append(writer, column, values, n, error);
}

/* Counts, for people. */
static void describe(const lg_filters *f, lg_text *out) {
    lg_json_writer w = {.out = out};
    lg_json_put_object(&w);
    lg_json_put_key(&w, "documents");
    lg_json_put_unsigned(&w, f->data->n_docs);
    lg_json_put_key(&w, "tokens");
    lg_json_put_unsigned(&w, f->data->n_tokens);
    lg_json_put_key(&w, "filters");
    lg_json_put_object(&w);
    for (size_t k = 0; k < f->n; k++) {
        const lg_filter *filter = &f->filters[k];
        const struct {
            const char *name;
            uint64_t value;
        } counts[] = {{"tokens", filter->tokens},
                      {"documents", filter->documents},
                      {"bytes", filter->bytes},
                      {"unknown", filter->unknown}};
        lg_json_put_key(&w, filter->name);
        lg_json_put_object(&w);
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            lg_json_put_key(&w, counts[i].name);
            if (i == 2 && !f->data->has_text) lg_json_put_null(&w);
            else lg_json_put_unsigned(&w, counts[i].value);
        }
        lg_json_end_object(&w);
    }
    lg_json_end_object(&w);
    lg_json_put_key(&w, "left_out");
    lg_json_put_object(&w);
    for (size_t i = 0; i < f->n_left_out; i++) {
        lg_json_put_key(&w, f->left_out[i].name);
        lg_json_put_text(&w, f->left_out[i].reason);
    }
    lg_json_end_object(&w);
    lg_json_end_object(&w);
}

lg_status lg_filters_may_write(const char *out, lg_error *error) {
    lg_table_writer *writer = NULL;
    lg_status status = lg_table_may_replace(out, "masks", error);
    if (!status) status = lg_table_writer_create(out, &writer, error); /* the folder must take files */
    lg_table_writer_discard(writer);
    return status;
}

lg_status lg_filters_write(const lg_filters *f, const char *out, lg_error *error) {
    const lg_dataset *data = f->data;
    lg_table_writer *writer = NULL;
    lg_text about = {0};
    lg_status status = lg_table_may_replace(out, "masks", error);
    if (!status) status = lg_table_writer_create(out, &writer, error);
    if (!status) status = append(writer, "doc_token_end", LG_U64, data->doc_token_end, data->n_docs, error);
    if (!status && data->has_text)
        status = append(writer, "token_end", LG_U64, data->token_end, data->n_tokens, error);
    if (!status) status = append(writer, "token_id", LG_U32, data->token_id, data->n_tokens, error);
    for (size_t k = 0; k < f->n && !status; k++)
        status = append(writer, f->filters[k].name, LG_U8, f->filters[k].mask, data->n_tokens, error);
    if (!status) {
        describe(f, &about);
        if (about.failed) status = lg_fail_memory(error);
    }
    if (!status) {
        lg_provenance provenance = {.format = "masks",
                                    .version = VERSION,
                                    .command = f->command,
                                    .inputs = f->inputs.data,
                                    .settings = f->settings.data};
        status = lg_table_writer_commit(writer, &provenance, about.data, error);
        writer = NULL;
    }
    lg_table_writer_discard(writer);
    lg_text_free(&about);
    return status;
}

/* ---- reading ---- */

static lg_status check_tokens(const lg_table *masks, const lg_dataset *data, lg_error *error) {
    const char *path = lg_table_path(masks);
    const void *values;
    lg_status status = lg_table_column(masks, "token_id", LG_U32, SIZE_MAX, &values, error);
    if (status) return status;
    size_t n = lg_table_find(masks, "token_id")->count;
    if (n != data->n_tokens)
        return lg_fail(error, LG_BAD_INPUT,
                       "%s holds masks of %zu tokens, %s has %zu: run `lossgap filter` on this dataset", path,
                       n, lg_table_path(data->table), data->n_tokens);
    const uint32_t *ids = values;
    for (size_t i = 0; i < n; i++)
        if (ids[i] != data->token_id[i])
            return lg_fail(
                error, LG_BAD_INPUT,
                "%s holds masks of another dataset than %s: token %zu has id %u there and %u here; "
                "run `lossgap filter` on this one",
                path, lg_table_path(data->table), i, ids[i], data->token_id[i]);
    status = lg_table_column(masks, "doc_token_end", LG_U64, SIZE_MAX, &values, error);
    if (status) return status;
    if (lg_table_find(masks, "doc_token_end")->count != data->n_docs ||
        memcmp(values, data->doc_token_end, data->n_docs * sizeof *data->doc_token_end) != 0)
        return lg_fail(error, LG_BAD_INPUT,
                       "%s holds masks of another dataset than %s: its documents end elsewhere; run `lossgap "
                       "filter` on this one",
                       path, lg_table_path(data->table));
    return LG_OK;
}

static char *copy_text(lg_arena *arena, const lg_json_value *v) {
    return lg_arena_copy(arena, v->string, v->length);
}

static bool is_text(const lg_json_value *v) {
    return v && v->type == LG_JSON_STRING;
}

static lg_status read_mask(const lg_table *masks, const lg_json_value *about, const lg_json_value *v,
                           lg_filters *f, size_t k, lg_error *error) {
    const lg_json_value *name = lg_json_get(v, "name"), *expression = lg_json_get(v, "expression"),
                        *note = lg_json_get(v, "note");
    lg_filter *filter = &f->filters[k];
    const void *values;
    if (!is_text(name) || !is_text(expression))
        return lg_fail(error, LG_BAD_INPUT, "%s: filter %zu of its settings has no name or no expression",
                       lg_table_path(masks), k);
    filter->name = copy_text(&f->arena, name);
    filter->expression = copy_text(&f->arena, expression);
    if (is_text(note)) filter->note = copy_text(&f->arena, note);
    if (!filter->name || !filter->expression || (is_text(note) && !filter->note))
        return lg_fail_memory(error);
    lg_status status = lg_table_column(masks, filter->name, LG_U8, f->data->n_tokens, &values, error);
    if (status) return status;
    memcpy(f->masks + k * f->data->n_tokens, values, f->data->n_tokens);
    for (size_t i = 0; i < f->data->n_tokens; i++)
        if (filter->mask[i] > 1)
            return lg_fail(error, LG_BAD_INPUT, "%s: mask '%s' holds %u for token %zu, not 0 or 1",
                           lg_table_path(masks), filter->name, filter->mask[i], i);
    const lg_json_value *unknown =
        lg_json_get(lg_json_get(lg_json_get(about, "filters"), filter->name), "unknown");
    if (unknown && unknown->type == LG_JSON_INTEGER && unknown->integer > 0)
        filter->unknown = (uint64_t)unknown->integer;
    return LG_OK;
}

static lg_status keep_text(lg_text *out, const char *text, lg_error *error) {
    lg_text_puts(out, text);
    return out->failed ? lg_fail_memory(error) : LG_OK;
}

static lg_status read_masks(const lg_table *masks, lg_filters *f, lg_error *error) {
    const lg_provenance *p = lg_table_provenance(masks);
    const char *about_text = p->about ? p->about : "{}";
    lg_json_value *settings, *about;
    lg_arena arena = {0};
    lg_status status = check_tokens(masks, f->data, error);
    if (!status)
        status =
            lg_json_parse(&arena, p->settings, strlen(p->settings), lg_table_path(masks), &settings, error);
    if (!status)
        status = lg_json_parse(&arena, about_text, strlen(about_text), lg_table_path(masks), &about, error);
    if (status) goto done;
    const lg_json_value *list = lg_json_get(settings, "filters");
    if (!list || list->type != LG_JSON_ARRAY) {
        status = lg_fail(error, LG_BAD_INPUT, "%s: its settings name no filters", lg_table_path(masks));
        goto done;
    }
    f->n = list->length;
    status = lg_filters_alloc(f, error);
    const lg_json_value *v = list->first;
    for (size_t k = 0; k < f->n && !status; k++, v = v->next)
        status = read_mask(masks, about, v, f, k, error);
    if (!status) lg_filters_count(f);
    if (!status) status = keep_text(&f->inputs, p->inputs, error);
    if (!status) status = keep_text(&f->settings, p->settings, error);
done:
    lg_arena_free(&arena);
    return status;
}

lg_status lg_masks_open(const char *path, const lg_dataset *data, lg_filters **filters, lg_error *error) {
    lg_table *masks;
    *filters = NULL;
    lg_status status = lg_table_open(path, "masks", &masks, error);
    if (status) return status;
    lg_filters *f = calloc(1, sizeof *f);
    if (f) {
        f->data = data;
        f->threads = lg_filter_threads(0);
        status = read_masks(masks, f, error);
    } else {
        status = lg_fail_memory(error);
    }
    lg_table_close(masks);
    if (status) lg_filters_close(f);
    else *filters = f;
    return status;
}
