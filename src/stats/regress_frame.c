/* Columns of equal length by name. */
#include "stats/regress_frame.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"

lg_status lg_frame_create(lg_frame **frame, lg_error *error) {
    *frame = calloc(1, sizeof **frame);
    return *frame ? LG_OK : lg_fail_memory(error);
}

void lg_frame_free(lg_frame *frame) {
    if (!frame) return;
    lg_token_source_close(frame->token_source);
    for (size_t i = 0; i < frame->n_tables; i++) lg_table_close(frame->tables[i]);
    for (size_t i = 0; i < frame->n_blocks; i++) free(frame->blocks[i]);
    free(frame->tables);
    free(frame->blocks);
    free(frame->columns);
    free(frame->inputs);
    free(frame->definitions);
    lg_arena_free(&frame->arena);
    free(frame);
}

lg_status lg_frame_put(lg_frame *frame, const lg_column *column, lg_error *error) {
    if (!lg_reserve(&frame->columns, &frame->columns_room, frame->n_columns + 1, sizeof *frame->columns))
        return lg_fail_memory(error);
    frame->columns[frame->n_columns++] = *column;
    return LG_OK;
}

lg_status lg_frame_own(lg_frame *frame, void *block, lg_error *error) {
    if (!lg_reserve(&frame->blocks, &frame->blocks_room, frame->n_blocks + 1, sizeof *frame->blocks)) {
        free(block);
        return lg_fail_memory(error);
    }
    frame->blocks[frame->n_blocks++] = block;
    return LG_OK;
}

lg_status lg_frame_put_input(lg_frame *frame, const char *name, const char *identity, lg_error *error) {
    if (!lg_reserve(&frame->inputs, &frame->inputs_room, frame->n_inputs + 1, sizeof *frame->inputs))
        return lg_fail_memory(error);
    lg_frame_input *input = &frame->inputs[frame->n_inputs];
    input->name = lg_arena_copy(&frame->arena, name, strlen(name));
    input->identity = lg_arena_copy(&frame->arena, identity, strlen(identity));
    if (!input->name || !input->identity) return lg_fail_memory(error);
    frame->n_inputs++;
    return LG_OK;
}

/* The names that there are, as many as fit. */
static void list_names(const lg_frame *frame, char *list, size_t size) {
    size_t used = 0;
    list[0] = '\0';
    for (size_t i = 0;; i++) {
        const size_t n_columns = frame->n_columns;
        const char *name = i < n_columns   ? frame->columns[i].name
                           : frame->tokens ? frame->tokens->name(frame->tokens->context, i - n_columns)
                                           : NULL;
        int n = name ? snprintf(list + used, size - used, "%s%s", i ? ", " : "", name) : -1;
        if (n < 0 || (size_t)n >= size - used) {
            list[used] = '\0';
            return;
        }
        used += (size_t)n;
    }
}

/* A column of the tokens. */
static lg_status find_token_column(const lg_frame *frame, const char *name, lg_arena *arena,
                                   const lg_column **column, lg_error *error) {
    const lg_query_source *source = frame->tokens;
    lg_query_column q;
    bool found;
    lg_status status = source->find(source->context, name, NULL, &q, &found, error);
    if (status || !found) return status;
    if (q.type == LG_QUERY_TEXT)
        return lg_fail(error, LG_USAGE, "'%s' is a text: make a number of it, as --define 'NAME=%s = the'",
                       name, name);
    lg_column *c = lg_arena_alloc(arena, sizeof *c);
    if (!c) return lg_fail_memory(error);
    *c = (lg_column){.name = lg_arena_copy(arena, name, strlen(name)),
                     .from = "the dataset",
                     .count = frame->n_tokens,
                     .dtype = q.values                      ? q.dtype
                              : q.type == LG_QUERY_CATEGORY ? LG_U32
                                                            : LG_F64,
                     .values = q.values,
                     .levels = q.type == LG_QUERY_CATEGORY ? q.levels : NULL,
                     .n_levels = q.n_levels,
                     .has_missing = q.has_missing,
                     .source = source,
                     .handle = q.handle};
    if (!c->name) return lg_fail_memory(error);
    *column = c;
    return LG_OK;
}

lg_status lg_frame_find(const lg_frame *frame, const char *name, lg_arena *arena, const lg_column **column,
                        lg_error *error) {
    lg_status status = LG_OK;
    *column = NULL;
    for (size_t i = 0; i < frame->n_columns; i++) {
        const lg_column *c = &frame->columns[i];
        if (strcmp(c->name, name) != 0) continue;
        if (*column)
            return lg_fail(error, LG_BAD_INPUT,
                           "both %s and %s have a column '%s': leave one of the files out, or rename it",
                           (*column)->from, c->from, name);
        *column = c;
    }
    if (!*column && frame->tokens) status = find_token_column(frame, name, arena, column, error);
    if (*column || status) return status;
    char list[600];
    list_names(frame, list, sizeof list);
    return lg_fail(error, LG_USAGE, "there is no column '%s'; there are %s%s%s", name, list,
                   frame->tokens && frame->tokens->more ? " " : "",
                   frame->tokens && frame->tokens->more ? frame->tokens->more : "");
}

/* ---- safetensors ---- */

static bool is_numeric(lg_dtype dtype) {
    return dtype != LG_F8_E4M3 && dtype != LG_F8_E5M2;
}

/* Names of a category's values from LIST, a JSON array; NULL or no array: the column holds numbers. */
static lg_status read_levels(lg_frame *frame, const lg_json_value *list, lg_column *c, lg_error *error) {
    if (!list || list->type != LG_JSON_ARRAY) return LG_OK;
    if (c->dtype != LG_U8 && c->dtype != LG_U16 && c->dtype != LG_U32) return LG_OK;
    const char **levels = lg_arena_alloc(&frame->arena, (list->length + 1) * sizeof *levels);
    if (!levels) return lg_fail_memory(error);
    for (const lg_json_value *v = list->first; v; v = v->next) {
        if (v->type != LG_JSON_STRING)
            return lg_fail(error, LG_BAD_INPUT, "%s: the levels of '%s' are not a list of names", c->from,
                           c->name);
        levels[c->n_levels] = lg_arena_copy(&frame->arena, v->string, v->length);
        if (!levels[c->n_levels]) return lg_fail_memory(error);
        c->n_levels++;
    }
    c->levels = levels;
    return LG_OK;
}

/* The last part of a path: what results call a file. */
static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static lg_status add_table(lg_frame *frame, lg_table *table, lg_error *error) {
    const lg_provenance *p = lg_table_provenance(table);
    const char *path = lg_table_path(table);
    lg_json_value *settings = NULL;
    lg_hasher *hasher = NULL;
    lg_status status =
        p->format ? lg_json_parse(&frame->arena, p->settings, strlen(p->settings), path, &settings, error)
                  : LG_OK;
    const lg_json_value *levels = lg_json_get(settings, "levels");
    if (!status && !p->format && !(hasher = lg_hasher_create())) status = lg_fail_memory(error);
    for (size_t i = 0; i < lg_table_n_columns(table) && !status; i++) {
        const lg_tensor *t = lg_table_at(table, i);
        char key[256];
        if (t->n_dims != 1 || !is_numeric(t->dtype)) continue;
        lg_column c = {.name = t->name, .from = path, .count = t->count, .dtype = t->dtype};
        status = lg_table_column(table, t->name, t->dtype, t->count, &c.values, error);
        const lg_json_value *list = lg_json_get(levels, t->name);
        int n = snprintf(key, sizeof key, "levels.%s", t->name);
        const char *text = n > 0 && (size_t)n < sizeof key ? lg_table_metadata(table, key) : NULL;
        lg_json_value *parsed = NULL;
        if (!status && !list && text)
            status = lg_json_parse(&frame->arena, text, strlen(text), path, &parsed, error);
        if (!status) status = read_levels(frame, list ? list : parsed, &c, error);
        if (!status) status = lg_frame_put(frame, &c, error);
        if (!status && hasher) {
            lg_hasher_add(hasher, t->name, strlen(t->name) + 1);
            lg_hasher_add(hasher, t->data, t->count * lg_dtype_size(t->dtype));
        }
    }
    char identity[33] = "";
    if (hasher && !status) lg_hash_hex(lg_hasher_value(hasher), identity);
    if (!status)
        status = lg_frame_put_input(frame, base_name(path), p->format ? p->identity : identity, error);
    if (hasher) lg_hasher_free(hasher);
    return status;
}

/* ---- CSV ---- */

static bool ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* All of a compressed file into *TEXT (the caller's). */
static lg_status inflate_file(const char *path, char **text, size_t *length, lg_error *error) {
    enum { STEP = 1 << 20 };
    size_t room = 0;
    lg_status status = LG_OK;
    *text = NULL;
    *length = 0;
    gzFile file = gzopen(path, "rb");
    if (!file) return lg_fail_errno(error, "read", path);
    for (int n = 1; n > 0 && !status;) {
        if (!lg_reserve(text, &room, *length + STEP, 1)) {
            status = lg_fail_memory(error);
            break;
        }
        n = gzread(file, *text + *length, STEP);
        if (n > 0) *length += (size_t)n;
        int code;
        const char *why = n < 0 ? gzerror(file, &code) : NULL;
        if (n < 0 && code == Z_MEM_ERROR) status = lg_fail_memory(error);
        else if (n < 0) status = lg_fail(error, LG_BAD_INPUT, "%s is damaged: %s", path, why);
    }
    if (gzclose_r(file) != Z_OK && !status)
        status = lg_fail(error, LG_BAD_INPUT, "%s is cut off: get it again", path);
    return status;
}

static lg_status add_csv_file(lg_frame *frame, const char *path, lg_error *error) {
    lg_mapping mapping = {0};
    char *text = NULL, identity[33];
    size_t length = 0;
    lg_status status;
    if (ends_with(path, ".gz")) status = inflate_file(path, &text, &length, error);
    else status = lg_map(path, &mapping, error);
    const char *data = text ? text : (const char *)mapping.data;
    if (!text) length = mapping.size;
    if (!status) status = lg_frame_add_csv(frame, data, length, path, error);
    if (!status) {
        lg_hash_hex(lg_hash_of(data, length), identity);
        status = lg_frame_put_input(frame, base_name(path), identity, error);
    }
    lg_unmap(&mapping);
    free(text);
    return status;
}

lg_status lg_frame_add_file(lg_frame *frame, const char *path, lg_error *error) {
    if (ends_with(path, ".csv") || ends_with(path, ".tsv") || ends_with(path, ".gz"))
        return add_csv_file(frame, path, error);
    if (!lg_reserve(&frame->tables, &frame->tables_room, frame->n_tables + 1, sizeof *frame->tables))
        return lg_fail_memory(error);
    lg_table *table;
    lg_status status = lg_table_open(path, NULL, &table, error);
    if (status) return status;
    frame->tables[frame->n_tables++] = table;
    return add_table(frame, table, error);
}

/* ---- values ---- */

static double from_f16(uint16_t bits) {
    int exponent = bits >> 10 & 31;
    double m = bits & 1023, v = exponent == 31  ? (bits & 1023 ? NAN : INFINITY)
                                : exponent == 0 ? ldexp(m, -24)
                                                : ldexp(m + 1024, exponent - 25);
    return bits >> 15 ? -v : v;
}

static double from_bf16(uint16_t bits) {
    uint32_t wide = (uint32_t)bits << 16;
    float f;
    memcpy(&f, &wide, sizeof f);
    return f;
}

#define READ(type, convert)                                                                                  \
    do {                                                                                                     \
        const type *v = c->values;                                                                           \
        if (rows)                                                                                            \
            for (size_t i = 0; i < n; i++) out[i] = convert(v[rows[first + i]]);                             \
        else                                                                                                 \
            for (size_t i = 0; i < n; i++) out[i] = convert(v[first + i]);                                   \
    } while (0)

void lg_column_numbers(const lg_column *c, const lg_query_session *session, const uint32_t *rows,
                       size_t first, size_t n, double *out) {
    if (c->queried) {
        memcpy(out, lg_query_numbers(session, c->item), n * sizeof *out);
        return;
    }
    if (!c->values) {
        c->source->read(c->source->context, c->handle, first, n, out, NULL); /* numbers: cannot fail */
        return;
    }
    switch (c->dtype) {
    case LG_U8:
    case LG_BOOL:
        READ(uint8_t, (double));
        break;
    case LG_I8:
        READ(int8_t, (double));
        break;
    case LG_U16:
        READ(uint16_t, (double));
        break;
    case LG_I16:
        READ(int16_t, (double));
        break;
    case LG_F16:
        READ(uint16_t, from_f16);
        break;
    case LG_BF16:
        READ(uint16_t, from_bf16);
        break;
    case LG_U32:
        READ(uint32_t, (double));
        break;
    case LG_I32:
        READ(int32_t, (double));
        break;
    case LG_F32:
        READ(float, (double));
        break;
    case LG_U64:
        READ(uint64_t, (double));
        break;
    case LG_I64:
        READ(int64_t, (double));
        break;
    case LG_F64:
        READ(double, );
        break;
    case LG_F8_E4M3:
    case LG_F8_E5M2:
        break; /* never added */
    }
}

void lg_column_levels(const lg_column *c, const lg_query_session *session, const uint32_t *rows, size_t first,
                      size_t n, uint32_t *out) {
    if (c->queried) memcpy(out, lg_query_levels(session, c->item), n * sizeof *out);
    else if (!c->values) c->source->read(c->source->context, c->handle, first, n, out, NULL);
    else if (c->dtype == LG_U8) READ(uint8_t, );
    else if (c->dtype == LG_U16) READ(uint16_t, );
    else READ(uint32_t, );
    if (c->has_missing)
        for (size_t i = 0; i < n; i++)
            if (out[i] >= c->n_levels) out[i] = UINT32_MAX;
}
