/* CSV (RFC 4180, and what programs write as such) into columns of a frame. Once over the text for numbers;
   once more for the columns that turned out to hold something else. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/json.h"
#include "stats/regress_frame.h"

enum { MAX_COLUMNS = 100000 };

typedef struct field {
    const char *data; /* without the quotes around it */
    size_t length;
    bool quoted, doubled; /* doubled: holds "" for " */
} field;

typedef struct reader {
    const char *at, *end, *name;
    char separator;
    size_t line; /* from 1 */
} reader;

static bool at_line_end(const reader *r) {
    return r->at == r->end || *r->at == '\n' || *r->at == '\r';
}

/* Reads a field and the separator behind it. *LAST: it ended the line. */
static lg_status next_field(reader *r, field *f, bool *last, lg_error *error) {
    *f = (field){.data = r->at};
    if (r->at < r->end && *r->at == '"') {
        size_t begun = r->line;
        f->data = ++r->at;
        f->quoted = true;
        for (;; r->at++) {
            if (r->at == r->end)
                return lg_fail(error, LG_BAD_INPUT, "%s: line %zu: a quote that is never closed", r->name,
                               begun);
            if (*r->at == '\n') r->line++;
            if (*r->at != '"') continue;
            if (r->at + 1 == r->end || r->at[1] != '"') break;
            f->doubled = true;
            r->at++;
        }
        f->length = (size_t)(r->at - f->data);
        r->at++;
        if (!at_line_end(r) && *r->at != r->separator)
            return lg_fail(error, LG_BAD_INPUT, "%s: line %zu: text behind a closing quote", r->name,
                           r->line);
    } else {
        while (!at_line_end(r) && *r->at != r->separator) r->at++;
        f->length = (size_t)(r->at - f->data);
    }
    *last = at_line_end(r);
    if (r->at == r->end) return LG_OK;
    if (*last && *r->at == '\r' && r->at + 1 < r->end && r->at[1] == '\n') r->at++;
    r->at++;
    r->line += *last;
    return LG_OK;
}

/* Passes over empty lines; false: nothing is left. */
static bool begin_line(reader *r) {
    while (r->at < r->end && at_line_end(r)) r->line += *r->at++ == '\n';
    return r->at < r->end;
}

static bool is_one_of(const field *f, const char *const *names) {
    for (; *names; names++)
        if (strlen(*names) == f->length && strncasecmp(*names, f->data, f->length) == 0) return true;
    return false;
}

/* The number that F spells, spaces around it aside; NAN for a missing one. false: it is none, or no memory.
 */
static bool read_number(const field *f, double *value) {
    static const char *const missing[] = {"", "na", "nan", "-nan", "null", "n/a", "none", NULL};
    static const char *const infinite[] = {"inf", "infinity", "+inf", "+infinity", NULL};
    static const char *const negative[] = {"-inf", "-infinity", NULL};
    field t = *f;
    while (t.length && (*t.data == ' ' || *t.data == '\t')) t.data++, t.length--;
    while (t.length && (t.data[t.length - 1] == ' ' || t.data[t.length - 1] == '\t')) t.length--;
    const char *p = t.data, *end = p + t.length;
    if (p < end && *p == '+') p++;
    const char *begin = p;
    if (p < end && *p == '-' && p == t.data) p++;
    size_t digits = 0;
    for (bool point = false; p < end && ((*p >= '0' && *p <= '9') || (*p == '.' && !point)); p++) {
        point = point || *p == '.';
        digits += *p != '.';
    }
    if (digits && p < end && (*p == 'e' || *p == 'E')) {
        p++;
        if (p < end && (*p == '+' || *p == '-')) p++;
        const char *exponent = p;
        while (p < end && *p >= '0' && *p <= '9') p++;
        if (p == exponent) return false;
    }
    if (digits && p == end) return lg_decimal_to_double(begin, end, value);
    if (is_one_of(&t, missing)) *value = NAN;
    else if (is_one_of(&t, infinite)) *value = INFINITY;
    else if (is_one_of(&t, negative)) *value = -INFINITY;
    else return false;
    return true;
}

/* A copy of F in ARENA with its quotes undone. */
static char *copy_field(lg_arena *arena, const field *f) {
    char *copy = lg_arena_copy(arena, f->data, f->length);
    if (!copy || !f->doubled) return copy;
    size_t n = 0;
    for (size_t i = 0; i < f->length; i++) {
        copy[n++] = f->data[i];
        i += f->data[i] == '"'; /* they come in pairs */
    }
    copy[n] = '\0';
    return copy;
}

/* ---- categories ---- */

typedef struct category {
    const char **levels; /* in order of appearance; their text in the frame's arena */
    size_t n_levels, room;
    uint32_t *slots; /* hash: level + 1, 0: free */
    size_t n_slots;
} category;

static size_t slot_of(const category *c, const char *text) {
    size_t mask = c->n_slots - 1, i = (size_t)lg_hash_of(text, strlen(text)).low & mask;
    while (c->slots[i] && strcmp(c->levels[c->slots[i] - 1], text) != 0) i = (i + 1) & mask;
    return i;
}

static bool grow(category *c) {
    uint32_t *before = c->slots;
    size_t n = c->n_slots ? 2 * c->n_slots : 64;
    uint32_t *slots = calloc(n, sizeof *slots);
    if (!slots) return false;
    c->slots = slots;
    c->n_slots = n;
    for (size_t i = 0; i < c->n_levels; i++) slots[slot_of(c, c->levels[i])] = (uint32_t)(i + 1);
    free(before);
    return true;
}

/* The level of F, a new one if need be; false: no memory. */
static bool find_level(category *c, lg_arena *arena, const field *f, uint32_t *level) {
    char small[256], *text = small;
    if (f->length >= sizeof small || f->doubled) {
        text = copy_field(arena, f);
        if (!text) return false;
    } else {
        memcpy(small, f->data, f->length);
        small[f->length] = '\0';
    }
    if (2 * (c->n_levels + 1) > c->n_slots && !grow(c)) return false;
    size_t at = slot_of(c, text);
    if (!c->slots[at]) {
        if (c->n_levels >= UINT32_MAX - 2 ||
            !lg_reserve(&c->levels, &c->room, c->n_levels + 1, sizeof *c->levels))
            return false;
        c->levels[c->n_levels] = text == small ? lg_arena_copy(arena, text, strlen(text)) : text;
        if (!c->levels[c->n_levels]) return false;
        c->slots[at] = (uint32_t)++c->n_levels;
    }
    *level = c->slots[at] - 1;
    return true;
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Brings the levels into the order of their bytes, and VALUES [n] with them. */
static bool sort_levels(category *c, uint32_t *values, size_t n) {
    if (!lg_reserve(&c->levels, &c->room, c->n_levels + 1, sizeof *c->levels))
        return false; /* also without levels */
    const char **sorted = lg_alloc(c->n_levels + 1, sizeof *sorted);
    uint32_t *to = lg_alloc(c->n_levels + 1, sizeof *to);
    bool good = sorted && to;
    if (good) {
        if (c->n_levels) memcpy(sorted, c->levels, c->n_levels * sizeof *sorted);
        qsort(sorted, c->n_levels, sizeof *sorted, by_text);
        for (size_t i = 0; i < c->n_levels; i++) to[c->slots[slot_of(c, sorted[i])] - 1] = (uint32_t)i;
        to[c->n_levels] = (uint32_t)c->n_levels;
        for (size_t i = 0; i < n; i++)
            values[i] = values[i] == UINT32_MAX ? (uint32_t)c->n_levels : to[values[i]];
        if (c->n_levels) memcpy(c->levels, sorted, c->n_levels * sizeof *sorted);
    }
    free(sorted);
    free(to);
    return good;
}

/* ---- the table ---- */

typedef struct csv_column {
    const char *name;
    bool text;
    double *numbers;
    size_t room;
    uint32_t *values;
    category category;
} csv_column;

typedef struct csv {
    lg_frame *frame;
    reader start; /* behind the header */
    csv_column *columns;
    size_t n_columns, room, n_rows;
} csv;

static lg_status read_header(csv *c, const char *text, size_t length, const char *name, lg_error *error) {
    reader r = {.at = text, .end = text + length, .name = name, .separator = ',', .line = 1};
    if (length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) r.at += 3;
    if (!begin_line(&r)) return lg_fail(error, LG_BAD_INPUT, "%s is empty: it needs a line of names", name);
    const char *end = r.at;
    while (end < r.end && *end != '\n' && *end != '\r') end++;
    size_t line = (size_t)(end - r.at);
    if (!memchr(r.at, ',', line) && memchr(r.at, '\t', line)) r.separator = '\t';
    for (bool last = false; !last;) {
        field f;
        lg_status status = next_field(&r, &f, &last, error);
        if (status) return status;
        if (c->n_columns >= MAX_COLUMNS)
            return lg_fail(error, LG_BAD_INPUT, "%s has more than %d columns", name, MAX_COLUMNS);
        if (!lg_reserve(&c->columns, &c->room, c->n_columns + 1, sizeof *c->columns))
            return lg_fail_memory(error);
        c->columns[c->n_columns] = (csv_column){.name = copy_field(&c->frame->arena, &f)};
        if (!c->columns[c->n_columns].name) return lg_fail_memory(error);
        c->n_columns++;
    }
    c->start = r;
    return LG_OK;
}

/* One pass over the rows: numbers first, then (TEXT) the columns that hold other things. */
static lg_status read_rows(csv *c, bool text, lg_error *error) {
    reader r = c->start;
    size_t row = 0;
    for (; begin_line(&r); row++) {
        size_t line = r.line, i = 0;
        for (bool last = false; !last; i++) {
            field f;
            lg_status status = next_field(&r, &f, &last, error);
            if (status) return status;
            if (i >= c->n_columns) continue;
            csv_column *column = &c->columns[i];
            if (text != column->text) continue;
            if (text) {
                if (!f.length && !f.quoted) column->values[row] = UINT32_MAX;
                else if (!find_level(&column->category, &c->frame->arena, &f, &column->values[row]))
                    return lg_fail_memory(error);
                continue;
            }
            if (!lg_reserve(&column->numbers, &column->room, row + 1, sizeof *column->numbers))
                return lg_fail_memory(error);
            if (!f.quoted && read_number(&f, &column->numbers[row])) continue;
            column->text = true;
            free(column->numbers);
            column->numbers = NULL;
        }
        if (i != c->n_columns)
            return lg_fail(error, LG_BAD_INPUT, "%s: line %zu has %zu fields, the header %zu", r.name, line,
                           i, c->n_columns);
        if (row >= UINT32_MAX - 2) return lg_fail(error, LG_BAD_INPUT, "%s has too many rows", r.name);
    }
    c->n_rows = row;
    return LG_OK;
}

static lg_status put_column(csv *c, csv_column *column, const char *from, lg_error *error) {
    lg_column put = {.name = column->name, .from = from, .count = c->n_rows, .dtype = LG_F64};
    lg_status status;
    if (!column->text) {
        if (!column->numbers && !(column->numbers = lg_alloc(1, sizeof *column->numbers)))
            return lg_fail_memory(error);
        put.values = column->numbers;
        column->numbers = NULL; /* owned by the frame now */
        status = lg_frame_own(c->frame, (void *)(uintptr_t)put.values, error);
    } else {
        category *k = &column->category;
        if (!sort_levels(k, column->values, c->n_rows)) return lg_fail_memory(error);
        put.dtype = LG_U32;
        put.values = column->values;
        put.levels = k->levels;
        put.n_levels = k->n_levels;
        put.has_missing = true;
        void *levels = k->levels;
        column->values = NULL;
        k->levels = NULL;
        status = lg_frame_own(c->frame, (void *)(uintptr_t)put.values, error);
        if (status) free(levels);
        else status = lg_frame_own(c->frame, levels, error);
    }
    return status ? status : lg_frame_put(c->frame, &put, error);
}

lg_status lg_frame_add_csv(lg_frame *frame, const char *text, size_t length, const char *name,
                           lg_error *error) {
    csv c = {.frame = frame};
    const char *from = lg_arena_copy(&frame->arena, name, strlen(name));
    lg_status status = from ? read_header(&c, text, length, from, error) : lg_fail_memory(error);
    if (!status) status = read_rows(&c, false, error);
    bool any = false;
    for (size_t i = 0; i < c.n_columns && !status; i++) {
        if (!c.columns[i].text) continue;
        any = true;
        c.columns[i].values = lg_alloc(c.n_rows + 1, sizeof *c.columns[i].values);
        if (!c.columns[i].values) status = lg_fail_memory(error);
    }
    if (!status && any) status = read_rows(&c, true, error);
    for (size_t i = 0; i < c.n_columns && !status; i++) status = put_column(&c, &c.columns[i], from, error);
    for (size_t i = 0; i < c.n_columns; i++) {
        free(c.columns[i].numbers);
        free(c.columns[i].values);
        free(c.columns[i].category.levels);
        free(c.columns[i].category.slots);
    }
    free(c.columns);
    return status;
}
