/* A document with its tags, a token a line, so that a person can check them. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "lossgap/report.h"
#include "report/grid.h"

static double value_of(const lg_tag_view_column *c, size_t i) {
    switch (c->dtype) {
    case LG_U8:
        return ((const uint8_t *)c->values)[i];
    case LG_U16:
        return ((const uint16_t *)c->values)[i];
    case LG_U32:
        return ((const uint32_t *)c->values)[i];
    case LG_F64:
        return ((const double *)c->values)[i];
    default:
        return (double)((const uint64_t *)c->values)[i];
    }
}

static const char *level_of(const lg_tag_view_column *c, size_t i) {
    return c ? c->levels[(size_t)value_of(c, i)] : "";
}

/* Bytes of token I of document DOC. */
static const char *bytes_of(const lg_dataset *data, size_t doc, size_t i, size_t *length) {
    size_t token = (size_t)lg_begin_of(data->doc_token_end, doc) + i,
           begin = (size_t)lg_token_begin(data, doc, token);
    *length = (size_t)data->token_end[token] - begin;
    return data->text + begin;
}

/* Blanks as ·, what cannot be shown as in C. */
static void put_visible(lg_text *out, const char *text, size_t length) {
    for (size_t i = 0; i < length;) {
        uint32_t c;
        bool valid;
        size_t n = lg_utf8_decode(text + i, length - i, &c, &valid);
        if (!valid || c < ' ' || c == 0x7F) {
            static const char named[] = "\a\b\t\n\v\f\r", letters[] = "abtnvfr";
            const char *at = c && valid ? strchr(named, (int)c) : NULL;
            if (at) lg_text_printf(out, "\\%c", letters[at - named]);
            else lg_text_printf(out, "\\x%02X", (unsigned char)text[i]);
        } else if (c == ' ') {
            lg_text_puts(out, "·");
        } else {
            lg_text_put(out, text + i, n);
        }
        i += n;
    }
}

static lg_ink ink_of(const lg_tag_family *families, const char *family, const char *delimiter) {
    static const struct {
        const char *family;
        lg_ink ink;
    } inks[] = {{"string", LG_INK_GOOD},      {"attribute_value", LG_INK_GOOD},
                {"comment", LG_INK_DIM},      {"whitespace", LG_INK_DIM},
                {"none", LG_INK_DIM},         {"keyword", LG_INK_BLUE},
                {"builtin", LG_INK_CYAN},     {"command", LG_INK_BLUE},
                {"environment", LG_INK_BLUE}, {"tag_name", LG_INK_BLUE},
                {"number", LG_INK_YELLOW}};
    if (*delimiter && strcmp(delimiter, "none") != 0) return LG_INK_MAGENTA;
    for (size_t i = 0; i < sizeof inks / sizeof *inks; i++)
        if (strcmp(inks[i].family, family) == 0) return inks[i].ink;
    while (strcmp(families->name, family) != 0) families++;
    return strcmp(families->class, "content") == 0    ? LG_INK_CYAN
           : strcmp(families->class, "function") == 0 ? LG_INK_YELLOW
                                                      : LG_INK_PLAIN;
}

/* The columns that are shown, and their heads. */
static const char *const shown[][2] = {
    {"tag", "tag"},
    {"family", "family"},
    {"upos", "upos"},
    {"penn", "penn"},
    {"delimiter", "delimiter"},
    {"delimiter_depth", "depth"},
    {"delimiter_distance", "back"},
    {"word_position", "word"},
    {"sentence", "sentence"},
    {"copy_len", "copy"},
    {"prev_distance", "prev"},
    {"frequency", "frequency"},
};
enum { N_SHOWN = sizeof shown / sizeof *shown };

lg_status lg_tag_document_table(const lg_tag_view *view, const lg_dataset *data, size_t doc, bool color,
                                char **text, size_t *length, lg_error *error) {
    lg_grid grid = {.n_columns = 2, .left = 2};
    lg_text out = {0}, token = {0};
    const lg_tag_view_column *columns[N_SHOWN], *family = lg_tag_view_find(view, "family"),
                                                *delimiter = lg_tag_view_find(view, "delimiter");
    size_t n = 0, n_families,
           n_tokens = (size_t)(data->doc_token_end[doc] - lg_begin_of(data->doc_token_end, doc));
    const lg_tag_family *families = lg_tag_families(&n_families);
    lg_grid_put(&grid, LG_INK_HEAD, "#");
    grid.n_columns = LG_GRID_COLUMNS;
    lg_grid_put(&grid, LG_INK_HEAD, "token");
    for (size_t c = 0; c < N_SHOWN; c++) {
        const lg_tag_view_column *column = lg_tag_view_find(view, shown[c][0]);
        if (!column) continue;
        columns[n] = column;
        if (column->levels) grid.left |= (uint64_t)1 << (n + 2);
        n++;
        lg_grid_put(&grid, LG_INK_HEAD, shown[c][1]);
    }
    grid.n_columns = n + 2;
    lg_grid_end_row(&grid);
    for (size_t i = 0; i < n_tokens && !grid.failed && !token.failed; i++) {
        size_t bytes = 0;
        const char *at = data->has_text ? bytes_of(data, doc, i, &bytes) : "";
        token.length = 0;
        if (data->has_text) put_visible(&token, at, bytes);
        else lg_text_printf(&token, "%u", data->token_id[lg_begin_of(data->doc_token_end, doc) + i]);
        lg_ink ink = family ? ink_of(families, level_of(family, i), level_of(delimiter, i)) : LG_INK_PLAIN;
        lg_grid_printf(&grid, LG_INK_DIM, "%zu", i);
        lg_grid_put(&grid, ink, token.length ? token.data : "");
        for (size_t c = 0; c < n; c++) {
            double value = value_of(columns[c], i);
            if (columns[c]->levels) {
                const char *level = level_of(columns[c], i);
                lg_grid_put(&grid, ink, strcmp(level, "none") == 0 ? "" : level);
            } else if (value == 0) {
                lg_grid_put(&grid, LG_INK_PLAIN, "");
            } else {
                lg_grid_printf(&grid, LG_INK_PLAIN, columns[c]->dtype == LG_F64 ? "%.2e" : "%.0f", value);
            }
        }
        lg_grid_end_row(&grid);
    }
    lg_grid_print(&grid, color, &out);
    lg_grid_free(&grid);
    bool failed = out.failed || token.failed;
    lg_text_free(&token);
    if (failed) return lg_text_free(&out), lg_fail_memory(error);
    *text = out.data;
    *length = out.length;
    return LG_OK;
}

lg_status lg_tag_document_json(const lg_tag_view *view, const lg_dataset *data, size_t doc, char **text,
                               size_t *length, lg_error *error) {
    lg_text out = {0};
    size_t first = (size_t)lg_begin_of(data->doc_token_end, doc),
           n_tokens = (size_t)data->doc_token_end[doc] - first;
    for (size_t i = 0; i < n_tokens && !out.failed; i++) {
        lg_json_writer w = {.out = &out};
        lg_json_put_object(&w);
        lg_json_put_key(&w, "id");
        lg_json_put_unsigned(&w, data->token_id[first + i]);
        if (data->has_text) {
            size_t bytes;
            const char *at = bytes_of(data, doc, i, &bytes);
            lg_json_put_key(&w, "text");
            lg_json_put_string(&w, at, bytes);
        }
        for (size_t c = 0; c < lg_tag_view_n_columns(view); c++) {
            const lg_tag_view_column *column = lg_tag_view_at(view, c);
            lg_json_put_key(&w, column->name);
            if (column->levels) lg_json_put_text(&w, level_of(column, i));
            else if (column->dtype == LG_F64) lg_json_put_double(&w, value_of(column, i));
            else if (column->dtype == LG_U64) lg_json_put_unsigned(&w, ((const uint64_t *)column->values)[i]);
            else lg_json_put_unsigned(&w, (uint64_t)value_of(column, i));
        }
        lg_json_end_object(&w);
        lg_text_puts(&out, "\n");
    }
    if (!n_tokens) lg_text_puts(&out, "");
    if (out.failed) return lg_text_free(&out), lg_fail_memory(error);
    *text = out.data;
    *length = out.length;
    return LG_OK;
}
