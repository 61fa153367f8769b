/* Losses computed elsewhere: a JSONL of {"id", "input_ids", "nll"} lines becomes a score file.

   The first pass finds each document's line; the second reads the lines in dataset order and checks them
   token by token. Memory holds one document, and some 50 bytes for each. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "score/artefact.h"
#include "score/prefix.h"
#include "score/row_index.h"

typedef struct line_place {
    uint64_t offset, number; /* number 0: no line yet */
    uint64_t next;           /* the next document of the same name; n_docs: none */
} line_place;

typedef struct import {
    const char *path;
    const lg_dataset *data;
    lg_mapping file;
    line_place *lines;  /* [n_docs] */
    lg_row_index names; /* name to the first document of that name that still waits for a line */
    unsigned columns;   /* LG_COLUMN_* that the lines have */
    bool has_context;
    lg_text scratch, name;
    /* the document whose values are held */
    size_t doc;
    bool held;
    uint32_t *values[LG_SCORE_COLUMNS]; /* [capacity] */
    uint32_t *context;
    size_t capacities[LG_SCORE_COLUMNS + 1];
} import;

static void import_free(import *m) {
    lg_unmap(&m->file);
    free(m->lines);
    lg_row_index_free(&m->names);
    lg_text_free(&m->scratch);
    lg_text_free(&m->name);
    for (size_t i = 0; i < LG_SCORE_COLUMNS; i++) free(m->values[i]);
    free(m->context);
}

static lg_hash name_of(const lg_dataset *data, size_t doc) {
    uint64_t begin = lg_begin_of(data->doc_name_end, doc);
    return lg_hash_of(data->doc_name + begin, (size_t)(data->doc_name_end[doc] - begin));
}

/* "%.*s" of a document's name. */
#define NAME(data, doc)                                                                                      \
    (int)((data)->doc_name_end[doc] - lg_begin_of((data)->doc_name_end, doc)),                               \
        (data)->doc_name + lg_begin_of((data)->doc_name_end, doc)

static lg_status index_names(import *m, lg_error *error) {
    size_t n = m->data->n_docs;
    m->lines = calloc(n ? n : 1, sizeof *m->lines);
    if (!m->lines) return lg_fail_memory(error);
    for (size_t d = n; d-- > 0;) { /* backwards, so that each name's first document ends in front */
        lg_row_entry *entry = lg_row_index_put(&m->names, name_of(m->data, d));
        if (!entry) return lg_fail_memory(error);
        m->lines[d].next = entry->place == LG_ROW_NONE ? n : entry->where;
        entry->where = d;
        entry->place = LG_ROW_WANTED;
    }
    return LG_OK;
}

/* Starts JSON on the line at OFFSET, and says where the next one begins. */
static lg_status start_line(import *m, lg_json *json, size_t offset, uint64_t number, size_t *next,
                            lg_error *error) {
    const char *text = (const char *)m->file.data;
    const char *newline = memchr(text + offset, '\n', m->file.size - offset);
    size_t end = newline ? (size_t)(newline - text) : m->file.size;
    m->name.length = 0;
    lg_text_printf(&m->name, "%s: line %" PRIu64, m->path, number);
    if (m->name.failed) return lg_fail_memory(error);
    lg_json_start(json, text + offset, end - offset, m->name.data, &m->scratch, error);
    *next = newline ? end + 1 : end;
    return LG_OK;
}

static bool is_blank(const lg_json *json) {
    for (const char *p = json->at; p < json->end; p++)
        if (*p != ' ' && *p != '\t' && *p != '\r') return false;
    return true;
}

/* NaN and the infinities are no JSON, but Python writes them; as a value in a list they are passed over here.
 */
static bool skip_word(lg_json *json) {
    static const char *const words[] = {"NaN", "Infinity", "-Infinity"};
    for (size_t i = 0; i < 3; i++) {
        size_t length = strlen(words[i]);
        if ((size_t)(json->end - json->at) >= length && !memcmp(json->at, words[i], length)) {
            json->at += length;
            return true;
        }
    }
    return false;
}

static bool skip_list(lg_json *json) {
    lg_json_array(json);
    while (lg_json_element(json))
        if (!skip_word(json)) lg_json_skip(json);
    return !json->failed;
}

/* Which list a member holds: 0 … LG_SCORE_COLUMNS - 1 a column, then context; -1: something else. */
static int list_of(lg_string key) {
    for (int i = 0; i < LG_SCORE_COLUMNS; i++)
        if (lg_string_is(key, lg_score_column_name((size_t)i))) return i;
    return lg_string_is(key, "context") ? LG_SCORE_COLUMNS : -1;
}

/* First pass: whose line is it? */
static lg_status place_line(import *m, lg_json *json, size_t offset, uint64_t number, bool first,
                            lg_error *error) {
    lg_string key;
    lg_hash id = {0};
    bool has_id = false;
    char shown[64] = "";
    lg_json_object(json);
    while (lg_json_key(json, &key)) {
        int list = list_of(key);
        if (list >= 0 || lg_string_is(key, "input_ids")) {
            if (first && list == LG_SCORE_COLUMNS) m->has_context = true;
            for (size_t i = 1; first && i < LG_SCORE_COLUMNS; i++)
                if (list == (int)i) m->columns |= 1u << (i - 1);
            skip_list(json);
        } else if (lg_string_is(key, "id")) {
            lg_string value;
            int64_t integer;
            if (has_id) lg_json_complain(json, "\"id\" twice");
            if (lg_json_peek(json) == LG_JSON_INTEGER) {
                if (!lg_json_integer(json, &integer)) break;
                snprintf(shown, sizeof shown, "%" PRId64, integer);
                id = lg_hash_of(shown, strlen(shown));
            } else {
                if (!lg_json_string(json, &value)) break;
                snprintf(shown, sizeof shown, "%.*s", (int)(value.length < 63 ? value.length : 63),
                         value.data);
                id = lg_hash_of(value.data, value.length);
            }
            has_id = true;
        } else {
            lg_json_skip(json);
        }
    }
    lg_status status = lg_json_done(json);
    if (status) return status;
    if (!has_id)
        return lg_fail(error, LG_BAD_INPUT, "%s: no \"id\": it must name a document of the dataset",
                       json->name);
    lg_row_entry *entry = lg_row_index_find(&m->names, id);
    if (!entry)
        return lg_fail(error, LG_BAD_INPUT, "%s: the dataset has no document \"%s\"", json->name, shown);
    size_t doc = entry->where;
    if (m->lines[doc].number && m->lines[doc].next == m->data->n_docs)
        return lg_fail(error, LG_BAD_INPUT, "%s: document \"%s\" a second time, it is also in line %" PRIu64,
                       json->name, shown, m->lines[doc].number);
    if (m->lines[doc].number) doc = entry->where = m->lines[doc].next;
    m->lines[doc].offset = offset;
    m->lines[doc].number = number;
    return LG_OK;
}

static lg_status find_lines(import *m, const lg_monitor *monitor, lg_error *error) {
    uint64_t number = 0, found = 0;
    for (size_t at = 0, next; at < m->file.size; at = next) {
        lg_json json;
        lg_status status = start_line(m, &json, at, ++number, &next, error);
        if (status) return status;
        if (is_blank(&json)) continue;
        if ((status = place_line(m, &json, at, number, !found, error))) return status;
        found++;
        if (number % 256 == 0) {
            if (lg_is_cancelled(monitor)) return lg_fail(error, LG_CANCELLED, "stopped, nothing was written");
            lg_progress(monitor, "lines found", number, 0);
        }
    }
    if (found == m->data->n_docs) return LG_OK;
    for (size_t d = 0; d < m->data->n_docs; d++)
        if (!m->lines[d].number)
            return lg_fail(error, LG_BAD_INPUT,
                           "%s has no line for document \"%.*s\" (%" PRIu64
                           " of the dataset's %zu documents are there)",
                           m->path, NAME(m->data, d), found, m->data->n_docs);
    return LG_OK;
}

/* Second pass: the values */

/* One value of column LIST (or of context), null and NaN where there is none. */
static bool read_value(lg_json *json, size_t list, uint32_t *bits) {
    const char *what = list < LG_SCORE_COLUMNS ? lg_score_column_name(list) : "context";
    bool real = list < LG_SCORE_COLUMNS && lg_score_column_dtype(list) == LG_F32;
    *bits = list < LG_SCORE_COLUMNS ? lg_score_missing(list) : UINT32_MAX;
    if ((size_t)(json->end - json->at) >= 3 && !memcmp(json->at, "NaN", 3)) return skip_word(json);
    if (lg_json_peek(json) == LG_JSON_NULL) return lg_json_null(json);
    if (real) {
        double value;
        if (!lg_json_number(json, &value)) return false;
        float narrow = (float)value;
        if (!isfinite(narrow)) return lg_json_complain(json, "%s %g does not fit in 32 bits", what, value);
        memcpy(bits, &narrow, sizeof narrow);
        return true;
    }
    uint64_t value;
    if (!lg_json_unsigned(json, &value)) return false;
    if (value >= UINT32_MAX)
        return lg_json_complain(json, "%s %" PRIu64 " does not fit in 32 bits", what, value);
    *bits = (uint32_t)value;
    return true;
}

static bool read_list(import *m, lg_json *json, size_t list, size_t n_tokens) {
    uint32_t *out = list < LG_SCORE_COLUMNS ? m->values[list] : m->context;
    const char *what = list < LG_SCORE_COLUMNS ? lg_score_column_name(list) : "context";
    size_t n = 0;
    lg_json_array(json);
    while (lg_json_element(json)) {
        if (n == n_tokens)
            return lg_json_complain(json, "%s has more values than the document tokens, %zu", what, n_tokens);
        if (!read_value(json, list, &out[n++])) return false;
    }
    if (!json->failed && n < n_tokens)
        return lg_json_complain(json, "%s has %zu values, the document %zu tokens", what, n, n_tokens);
    return !json->failed;
}

static bool read_ids(const import *m, lg_json *json, size_t doc) {
    uint64_t begin = lg_begin_of(m->data->doc_token_end, doc), n = m->data->doc_token_end[doc] - begin, i = 0,
             id;
    lg_json_array(json);
    while (lg_json_element(json)) {
        if (i == n)
            return lg_json_complain(json, "input_ids has more than the dataset's %" PRIu64 " tokens", n);
        if (!lg_json_unsigned(json, &id)) return false;
        if (id != m->data->token_id[begin + i])
            return lg_json_complain(json, "input_ids[%" PRIu64 "] is %" PRIu64 ", the dataset has %u there",
                                    i, id, m->data->token_id[begin + i]);
        i++;
    }
    if (!json->failed && i < n)
        return lg_json_complain(json, "input_ids has %" PRIu64 " tokens, the dataset %" PRIu64, i, n);
    return !json->failed;
}

/* Reads the values of document DOC. */
static lg_status hold(import *m, size_t doc, lg_error *error) {
    size_t n = m->data->doc_token_end[doc] - lg_begin_of(m->data->doc_token_end, doc), next;
    m->doc = doc;
    m->held = true;
    for (size_t i = 0; i <= LG_SCORE_COLUMNS; i++)
        if (!lg_reserve(i < LG_SCORE_COLUMNS ? &m->values[i] : &m->context, &m->capacities[i], n,
                        sizeof(uint32_t)))
            return lg_fail_memory(error);
    lg_json json;
    lg_status status = start_line(m, &json, m->lines[doc].offset, m->lines[doc].number, &next, error);
    if (status) return status;
    lg_string key;
    bool has_ids = false, has[LG_SCORE_COLUMNS + 1] = {0};
    lg_json_object(&json);
    while (lg_json_key(&json, &key)) {
        int list = list_of(key);
        if (lg_string_is(key, "input_ids")) {
            if (has_ids) lg_json_complain(&json, "\"input_ids\" twice");
            has_ids = read_ids(m, &json, doc);
        } else if (list >= 0) {
            if (has[list]) lg_json_complain(&json, "\"%.*s\" twice", (int)key.length, key.data);
            has[list] = read_list(m, &json, (size_t)list, n);
        } else {
            lg_json_skip(&json);
        }
    }
    if ((status = lg_json_done(&json))) return status;
    if (!has_ids) return lg_fail(error, LG_BAD_INPUT, "%s: no \"input_ids\"", json.name);
    for (size_t i = 0; i <= LG_SCORE_COLUMNS; i++) {
        const char *what = i < LG_SCORE_COLUMNS ? lg_score_column_name(i) : "context";
        bool wanted = i < LG_SCORE_COLUMNS ? lg_score_has_column(m->columns, i) : m->has_context;
        if (has[i] != wanted)
            return lg_fail(error, LG_BAD_INPUT, i ? "%s: %s \"%s\", unlike the first line" : "%s: %s \"%s\"",
                           json.name, wanted ? "no" : "it has", what);
    }
    return LG_OK;
}

/* Why the losses of WINDOW do not fit at owned token AT. */
static lg_status misfit(const import *m, const lg_window_settings *settings, const lg_window *window,
                        size_t at, bool scorable, lg_error *error) {
    uint64_t token = window->begin + at, i = token - lg_begin_of(m->data->doc_token_end, m->doc);
    const char *remedy =
        scorable                             ? "every token that has a context needs a loss"
        : settings->kind == LG_WINDOWS_PAPER ? "it is the first of a window: say --context as it was"
        : settings->prefix == LG_PREFIX_NONE ? "nothing stands before it: say --prefix ID if one did"
                                             : "nothing stands before it";
    return lg_fail(error, LG_BAD_INPUT, "%s: line %" PRIu64 ": nll[%" PRIu64 "] of document \"%.*s\" %s; %s",
                   m->path, m->lines[m->doc].number, i, NAME(m->data, m->doc),
                   scorable ? "is missing" : "should be null", remedy);
}

/* Copies the values of WINDOW's tokens to PAYLOAD [n_columns, count], reading on where needed. */
static lg_status take_window(import *m, const lg_score_settings *settings, const lg_window *window,
                             const uint32_t *position, uint32_t *payload, lg_error *error) {
    size_t count = window->end - window->begin;
    for (size_t i = 0; i < count; i++) {
        uint64_t token = window->begin + i;
        while (!m->held || token >= m->data->doc_token_end[m->doc]) {
            lg_status status = hold(m, m->held ? m->doc + 1 : 0, error);
            if (status) return status;
        }
        size_t at = token - lg_begin_of(m->data->doc_token_end, m->doc), bad;
        for (size_t c = 0, k = 0; c < LG_SCORE_COLUMNS; c++)
            if (lg_score_has_column(settings->columns, c)) payload[k++ * count + i] = m->values[c][at];
        lg_window one = {.begin = token, .end = token + 1, .first = window->first};
        if (!lg_score_payload_fits(&one, position + i, payload + i, &bad))
            return misfit(m, &settings->windows, window, i, position[i] >= window->first, error);
        if (m->has_context && position[i] >= window->first && m->context[at] != position[i])
            return lg_fail(error, LG_BAD_INPUT,
                           "%s: line %" PRIu64 ": context[%zu] of document \"%.*s\" is %" PRId64
                           ", but %u with these --windows, --context, --stride and --prefix",
                           m->path, m->lines[m->doc].number, at, NAME(m->data, m->doc),
                           m->context[at] == UINT32_MAX ? -1 : (int64_t)m->context[at], position[i]);
    }
    return LG_OK;
}

static lg_status write_rows(import *m, const lg_score_settings *settings, const char *command,
                            const char *out, const lg_monitor *monitor, lg_error *error) {
    const lg_window_settings *windows = &settings->windows;
    size_t longest = lg_window_longest(windows, m->data);
    uint32_t *y = lg_alloc(longest, sizeof *y), *position = lg_alloc(longest, sizeof *position);
    uint32_t *payload = lg_alloc(longest, sizeof *payload * LG_SCORE_COLUMNS);
    lg_hasher *hasher = lg_hasher_create();
    lg_score_writer writer = {0};
    lg_status status = LG_OK;
    if (!y || !position || !payload || !hasher) {
        status = lg_fail_memory(error);
        goto done;
    }
    if ((status = lg_score_writer_create(out, settings, &writer, error))) goto done;
    lg_window_walk walk;
    lg_window window;
    lg_window_start(&walk, windows, m->data);
    while (lg_window_next(&walk, &window)) {
        lg_window_elements(windows, m->data, &window, y, position);
        if ((status = take_window(m, settings, &window, position, payload, error))) goto done;
        lg_hash hash = lg_window_hash(&window, y, position, hasher);
        if ((status = lg_score_writer_row(&writer, &window, hash, position, payload, error))) goto done;
        lg_progress(monitor, "tokens", window.end, m->data->n_tokens);
        if (lg_is_cancelled(monitor)) {
            status = lg_fail(error, LG_CANCELLED, "stopped, nothing was written");
            goto done;
        }
    }
    for (size_t d = m->held ? m->doc + 1 : 0; d < m->data->n_docs; d++) /* empty ones at the end */
        if ((status = hold(m, d, error))) goto done;
    status = lg_score_writer_commit(&writer, m->data, command, error);
done:
    lg_score_writer_discard(&writer);
    lg_hasher_free(hasher);
    free(y);
    free(position);
    free(payload);
    return status;
}

lg_status lg_score_import(const char *jsonl, const lg_dataset *data, const lg_score_options *options,
                          const char *out, const lg_monitor *monitor, lg_error *error) {
import m = {.path = jsonl, .data = data };
    lg_prefix_hints hints = {.tokenizer = options->tokenizer};
    lg_score_settings settings = {.precision = options->precision};
    settings.name = options->model_name ? options->model_name : jsonl;
    const char *why;
    int64_t prefix;
    char hash[33];
    lg_score_table earlier;
    if (data->spans)
        return lg_fail(error, LG_USAGE,
                       "%s holds spans, not tokens: import losses of the model's own dataset, then align",
                       lg_table_path(data->table));
    lg_status status = lg_score_table_open_out(out, &earlier, error);
    lg_score_table_close(&earlier);
    if (!status && hints.tokenizer) status = lg_prefix_read_config(hints.tokenizer, &hints, error);
    if (status || (status = lg_prefix_resolve(options->prefix, &hints, &prefix, &why, error)) ||
        (status = lg_window_settings_make(options, 0, prefix, &settings.windows, error)) ||
        (status = lg_map(jsonl, &m.file, error)) || (status = index_names(&m, error)) ||
        (status = find_lines(&m, monitor, error)))
        goto done;
    for (size_t i = 1; i < LG_SCORE_COLUMNS; i++)
        if (lg_score_has_column(options->columns & ~m.columns, i)) {
            status = lg_fail(error, LG_BAD_INPUT, "%s: the first line has no \"%s\", which was asked for",
                             jsonl, lg_score_column_name(i));
            goto done;
        }
    lg_hash_hex(lg_hash_of(m.file.data, m.file.size), hash);
    settings.imported = hash;
    settings.columns = options->columns ? options->columns : m.columns;
    status = write_rows(&m, &settings, options->command, out, monitor, error);
done:
    import_free(&m);
    return status;
}
