/* The per-token table as JSONL or CSV. */
#include "lossgap/export.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/memory.h"

enum { FLUSH_AT = 1 << 16, REPORT_EVERY = 1 << 14 };

/* A column with one value per token, from a score or tag table. */
typedef struct column {
    const char *name;
    lg_dtype dtype;
    const void *values;  /* [n_tokens] */
    const char **levels; /* [n_levels] names of the values 0, 1 …; NULL: numbers */
    size_t n_levels;
    bool all_ones_is_none; /* UINT32_MAX stands for no value */
} column;

typedef struct exporter {
    const lg_dataset *data;
    const uint8_t *keep; /* [n_tokens] NULL: all */
    lg_export_format format;
    column *columns; /* [n] */
    size_t n, capacity;
    lg_table *tags;
    lg_arena arena; /* names */
    lg_text out;
    lg_json_writer json;
    bool first; /* CSV: no field in this record yet */
} exporter;

/* ---- fields ---- */

static void begin_field(exporter *e, const char *name) {
    if (e->format == LG_EXPORT_JSONL) {
        lg_json_put_key(&e->json, name);
        return;
    }
    if (!e->first) lg_text_put(&e->out, ",", 1);
    e->first = false;
    e->json = (lg_json_writer){.out = &e->out}; /* numbers look the same in both formats */
}

static void put_null(exporter *e) {
    if (e->format == LG_EXPORT_JSONL) lg_json_put_null(&e->json);
}

/* CSV text is always quoted: spaces and line ends are what many tokens are. */
static void put_string(exporter *e, const char *text, size_t length) {
    if (e->format == LG_EXPORT_JSONL) {
        lg_json_put_string(&e->json, text, length);
        return;
    }
    lg_text_put(&e->out, "\"", 1);
    for (size_t i = 0; i < length;) {
        uint32_t c;
        bool valid;
        size_t n = lg_utf8_decode(text + i, length - i, &c, &valid);
        if (c == '"') lg_text_put(&e->out, "\"\"", 2);
        else if (valid) lg_text_put(&e->out, text + i, n);
        else lg_text_put(&e->out, "\xEF\xBF\xBD", 3);
        i += n;
    }
    lg_text_put(&e->out, "\"", 1);
}

/* Most fields are small integers, and printf is slow at them. */
static void put_unsigned(exporter *e, uint64_t value) {
    char digits[24], *at = digits + sizeof digits - 1;
    *at = '\0';
    do *--at = (char)('0' + value % 10);
    while (value /= 10);
    lg_json_put_raw(&e->json, at, (size_t)(digits + sizeof digits - 1 - at));
}

static void put_level(exporter *e, const column *c, uint64_t value) {
    if (c->levels && value < c->n_levels) put_string(e, c->levels[value], strlen(c->levels[value]));
    else put_unsigned(e, value);
}

static void put_value(exporter *e, const column *c, size_t i) {
    switch (c->dtype) {
    case LG_BOOL:
    case LG_U8:
        put_level(e, c, ((const uint8_t *)c->values)[i]);
        break;
    case LG_U16:
        put_level(e, c, ((const uint16_t *)c->values)[i]);
        break;
    case LG_U32: {
        uint32_t value = ((const uint32_t *)c->values)[i];
        if (c->all_ones_is_none && value == UINT32_MAX) put_null(e);
        else put_level(e, c, value);
        break;
    }
    case LG_U64:
        put_level(e, c, ((const uint64_t *)c->values)[i]);
        break;
    case LG_I8:
        lg_json_put_integer(&e->json, ((const int8_t *)c->values)[i]);
        break;
    case LG_I16:
        lg_json_put_integer(&e->json, ((const int16_t *)c->values)[i]);
        break;
    case LG_I32:
        lg_json_put_integer(&e->json, ((const int32_t *)c->values)[i]);
        break;
    case LG_I64:
        lg_json_put_integer(&e->json, ((const int64_t *)c->values)[i]);
        break;
    case LG_F32: {
        float value = ((const float *)c->values)[i];
        if (isfinite(value)) lg_json_put_float(&e->json, value);
        else put_null(e);
        break;
    }
    case LG_F64: {
        double value = ((const double *)c->values)[i];
        if (isfinite(value)) lg_json_put_double(&e->json, value);
        else put_null(e);
        break;
    }
    default: /* add_column took none of the others */
        put_null(e);
    }
}

/* ---- columns ---- */

static lg_status add_column(exporter *e, column c, const char *model, lg_error *error) {
    char *name;
    if (model) {
        size_t length = strlen(c.name) + strlen(model) + 2;
        name = lg_arena_alloc(&e->arena, length);
        if (name) snprintf(name, length, "%s.%s", c.name, model);
    } else {
        name = lg_arena_copy(&e->arena, c.name, strlen(c.name));
    }
    if (!name || !lg_reserve(&e->columns, &e->capacity, e->n + 1, sizeof c)) return lg_fail_memory(error);
    c.name = name;
    e->columns[e->n++] = c;
    return LG_OK;
}

static lg_status add_scores(exporter *e, const lg_scores *scores, size_t n_scores, lg_error *error) {
    size_t n = e->data->n_tokens;
    bool same_context = true;
    lg_status status = LG_OK;
    for (size_t i = 0; i < n_scores; i++) {
        for (size_t k = 0; k < i; k++)
            if (!strcmp(scores[i].model_name, scores[k].model_name))
                return lg_fail(error, LG_USAGE,
                               "two of the scores are of a model called %s: score one under another name",
                               scores[i].model_name);
        same_context &= !n || !memcmp(scores[i].context, scores[0].context, n * sizeof *scores->context);
    }
    for (size_t i = 0; i < n_scores && !status; i++) {
        const lg_scores *s = &scores[i];
        const column all[] = {
            {.name = "nll", .dtype = LG_F32, .values = s->nll},
            {.name = "entropy", .dtype = LG_F32, .values = s->entropy},
            {.name = "rank", .dtype = LG_U32, .values = s->rank, .all_ones_is_none = true},
            {.name = "top1", .dtype = LG_U32, .values = s->top1, .all_ones_is_none = true},
            {.name = "tokens", .dtype = LG_U32, .values = s->tokens},
            {.name = "context", .dtype = LG_U32, .values = same_context ? NULL : s->context},
        };
        for (size_t k = 0; k < sizeof all / sizeof *all && !status; k++)
            if (all[k].values) status = add_column(e, all[k], s->model_name, error);
    }
    if (!status && n_scores && same_context)
        status = add_column(e, (column){.name = "context", .dtype = LG_U32, .values = scores[0].context},
                            NULL, error);
    return status;
}

/* The names of a column's values, where the settings tell them. */
static lg_status find_levels(exporter *e, const lg_json_value *levels, column *c, lg_error *error) {
    if (!levels || levels->type != LG_JSON_ARRAY) return LG_OK;
    c->levels = lg_arena_alloc(&e->arena, (levels->length + 1) * sizeof *c->levels);
    if (!c->levels) return lg_fail_memory(error);
    for (const lg_json_value *v = levels->first; v; v = v->next)
        c->levels[c->n_levels++] = v->type == LG_JSON_STRING ? v->string : "";
    return LG_OK;
}

static bool is_number(lg_dtype dtype) {
    return dtype != LG_F8_E4M3 && dtype != LG_F8_E5M2 && dtype != LG_F16 && dtype != LG_BF16;
}

/* Tags of another dataset would fit by chance only, if its number of tokens is the same. */
static lg_status check_dataset(exporter *e, const char *path, lg_error *error) {
    lg_json_value *inputs = NULL;
    const char *json = lg_table_provenance(e->tags)->inputs;
    lg_status status = lg_json_parse(&e->arena, json, strlen(json), path, &inputs, error);
    if (status) return status;
    const lg_json_value *dataset = lg_json_get(inputs, "dataset");
    const char *identity = lg_table_provenance(e->data->table)->identity;
    if (dataset && dataset->type == LG_JSON_STRING && strcmp(dataset->string, identity) == 0) return LG_OK;
    return lg_fail(error, LG_BAD_INPUT,
                   "%s was made of another dataset than %s: run `lossgap tag` on this one", path,
                   lg_table_path(e->data->table));
}

/* The columns with one number per token. A point is in the names of the layers, which hold spans. */
static lg_status add_tags(exporter *e, const char *path, lg_error *error) {
    lg_json_value *settings = NULL;
    lg_status status = lg_table_open(path, "tags", &e->tags, error);
    if (status) return status;
    status = check_dataset(e, path, error);
    if (status) return status;
    const char *json = lg_table_provenance(e->tags)->settings;
    status = lg_json_parse(&e->arena, json, strlen(json), path, &settings, error);
    for (size_t i = 0; i < lg_table_n_columns(e->tags) && !status; i++) {
        const lg_tensor *t = lg_table_at(e->tags, i);
        column c = {.name = t->name, .dtype = t->dtype};
        if (!is_number(t->dtype) || t->n_dims != 1 || t->count != e->data->n_tokens || strchr(t->name, '.'))
            continue;
        status = lg_table_column(e->tags, t->name, t->dtype, t->count, &c.values, error);
        if (!status)
            status = find_levels(e, lg_json_get(lg_json_get(settings, "levels"), t->name), &c, error);
        if (!status) status = add_column(e, c, NULL, error);
    }
    return status;
}

/* ---- records ---- */

static void begin_record(exporter *e) {
    e->first = true;
    e->json = (lg_json_writer){.out = &e->out};
    if (e->format == LG_EXPORT_JSONL) lg_json_put_object(&e->json);
}

static void end_record(exporter *e) {
    if (e->format == LG_EXPORT_JSONL) lg_json_end_object(&e->json);
    lg_text_put(&e->out, "\n", 1);
}

static void put_header(exporter *e) {
    static const char *const fixed[] = {"document", "domain", "token", "begin", "end", "text", "id"};
    begin_record(e);
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
        begin_field(e, NULL);
        lg_text_puts(&e->out, fixed[i]);
    }
    for (size_t i = 0; i < e->n; i++) {
        const char *name = e->columns[i].name;
        begin_field(e, NULL);
        if (strpbrk(name, ",\"\r\n")) put_string(e, name, strlen(name));
        else lg_text_puts(&e->out, name);
    }
    end_record(e);
}

static void put_token(exporter *e, size_t doc, size_t i) {
    const lg_dataset *d = e->data;
    uint64_t name = lg_begin_of(d->doc_name_end, doc), text = lg_begin_of(d->doc_text_end, doc);
    const char *domain = d->domains[d->doc_domain[doc]];
    begin_record(e);
    begin_field(e, "document");
    put_string(e, d->doc_name + name, (size_t)(d->doc_name_end[doc] - name));
    begin_field(e, "domain");
    put_string(e, domain, strlen(domain));
    begin_field(e, "token");
    put_unsigned(e, i - lg_begin_of(d->doc_token_end, doc));
    uint64_t begin = d->has_text ? lg_token_begin(d, doc, i) : 0, end = d->token_end[i];
    begin_field(e, "begin");
    if (d->has_text) put_unsigned(e, begin - text);
    else put_null(e);
    begin_field(e, "end");
    if (d->has_text) put_unsigned(e, end - text);
    else put_null(e);
    begin_field(e, "text");
    if (d->has_text) put_string(e, d->text + begin, (size_t)(end - begin));
    else put_null(e);
    begin_field(e, "id");
    put_unsigned(e, d->token_id[i]);
    for (size_t k = 0; k < e->n; k++) {
        begin_field(e, e->columns[k].name);
        put_value(e, &e->columns[k], i);
    }
    end_record(e);
}

static lg_status write_out(exporter *e, FILE *stream, lg_error *error) {
    if (e->out.failed) return lg_fail_memory(error);
    errno = 0;
    size_t n = fwrite(e->out.data, 1, e->out.length, stream);
    if (n != e->out.length) return lg_fail(error, LG_FAILED, "cannot write the table: %s", strerror(errno));
    e->out.length = 0;
    return LG_OK;
}

static lg_status put_all(exporter *e, FILE *stream, const lg_monitor *monitor, lg_error *error) {
    const lg_dataset *d = e->data;
    lg_status status = LG_OK;
    if (e->format == LG_EXPORT_CSV) put_header(e);
    for (size_t doc = 0, i = 0; doc < d->n_docs && !status; doc++) {
        for (; i < d->doc_token_end[doc] && !status; i++) {
            if (!e->keep || e->keep[i]) put_token(e, doc, i);
            if (e->out.length >= FLUSH_AT) status = write_out(e, stream, error);
            if (status || i % REPORT_EVERY) continue;
            lg_progress(monitor, "tokens", i, d->n_tokens);
            if (lg_is_cancelled(monitor)) status = lg_fail(error, LG_CANCELLED, "stopped");
        }
    }
    if (!status && e->out.length) status = write_out(e, stream, error);
    if (!status && fflush(stream) != 0)
        status = lg_fail(error, LG_FAILED, "cannot write the table: %s", strerror(errno));
    return status;
}

lg_status lg_export_tokens(const lg_dataset *data, const lg_scores *scores, size_t n_scores, const char *tags,
                           const uint8_t *keep, lg_export_format format, FILE *stream,
                           const lg_monitor *monitor, lg_error *error) {
    exporter e = {.data = data, .keep = keep, .format = format};
    lg_status status = add_scores(&e, scores, n_scores, error);
    if (!status && tags) status = add_tags(&e, tags, error);
    if (!status) status = put_all(&e, stream, monitor, error);
    lg_table_close(e.tags);
    free(e.columns);
    lg_arena_free(&e.arena);
    lg_text_free(&e.out);
    return status;
}
