/* Files of filters: a line each, NAME = EXPRESSION or NAME: EXPRESSION (docs/guide/filters.md). */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "stats/filter_internal.h"

/* One logical line: physical ones joined where they end in a backslash. */
typedef struct reader {
    const char *at, *end, *name;
    size_t line, next; /* the number of its first physical line, and of what follows */
    lg_text text;
} reader;

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

static bool starts_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool in_name(char c) {
    return starts_name(c) || (c >= '0' && c <= '9');
}

/* The next logical line into text, without the white space at both ends; false: there is none, or no memory.
 */
static bool read_line(reader *r) {
    if (r->at == r->end) return false;
    r->line = r->next;
    r->text.length = 0;
    lg_text_puts(&r->text, ""); /* never NULL */
    for (bool more = true; more && r->at < r->end;) {
        const char *feed = memchr(r->at, '\n', (size_t)(r->end - r->at));
        const char *begin = r->at, *stop = feed ? feed : r->end;
        r->at = feed ? feed + 1 : r->end;
        r->next++;
        while (stop > begin && is_space(stop[-1])) stop--;
        while (begin < stop && is_space(*begin)) begin++;
        bool comment = begin < stop && *begin == '#';
        more = begin < stop && stop[-1] == '\\' && !comment;
        if (more) stop--; /* the backslash */
        while (stop > begin && is_space(stop[-1])) stop--;
        lg_text_put(&r->text, begin, (size_t)(stop - begin));
        if (more) lg_text_puts(&r->text, " ");
    }
    while (r->text.length && is_space(r->text.data[r->text.length - 1]))
        r->text.data[--r->text.length] = '\0';
    return !r->text.failed;
}

static lg_status check_name(const reader *r, const char *name, size_t length, lg_error *error) {
    static const char *const taken[] = {"token_id", "doc_token_end", "token_end"};
    static const char *const words[] = {"and", "or", "not", "in"};
    if (length > LG_FILTER_NAME)
        return lg_fail(error, LG_BAD_INPUT, "%s:%zu: a filter's name has at most %d bytes", r->name, r->line,
                       (int)LG_FILTER_NAME);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (strlen(taken[i]) == length && memcmp(taken[i], name, length) == 0)
            return lg_fail(error, LG_BAD_INPUT,
                           "%s:%zu: '%s' is an array of the masks already: give the filter another name",
                           r->name, r->line, taken[i]);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == length && memcmp(words[i], name, length) == 0)
            return lg_fail(error, LG_BAD_INPUT,
                           "%s:%zu: '%s' is a word of the language: give the filter another name", r->name,
                           r->line, words[i]);
    return LG_OK;
}

/* A filter of the same name that is there goes, unless it came from the file, too. */
static lg_status make_room(const reader *r, lg_filter_list *list, const char *name, lg_error *error) {
    size_t n = 0, own = 0;
    for (size_t i = 0; i < list->n; i++) {
        bool same = strcmp(list->items[i].name, name) == 0;
        if (same && list->items[i].own)
            return lg_fail(error, LG_BAD_INPUT, "%s:%zu: filter '%s' is defined above already", r->name,
                           r->line, name);
        own += list->items[i].own;
        if (!same) list->items[n++] = list->items[i];
    }
    list->n = n;
    if (own == LG_MOST_FILTERS)
        return lg_fail(error, LG_BAD_INPUT, "%s:%zu: at most %d filters", r->name, r->line,
                       (int)LG_MOST_FILTERS);
    return LG_OK;
}

static lg_status add_filter(const reader *r, lg_arena *arena, lg_filter_list *list, lg_error *error) {
    const char *text = r->text.data, *p = text, *end = text + r->text.length;
    while (p < end && in_name(*p)) p++;
    size_t length = (size_t)(p - text);
    while (p < end && is_space(*p)) p++;
    if (!starts_name(*text) || p == end || (*p != '=' && *p != ':'))
        return lg_fail(error, LG_BAD_INPUT,
                       "%s:%zu: column %zu: expected NAME = EXPRESSION, as in 'nouns = family = noun'; a "
                       "name has letters, digits and _",
                       r->name, r->line, starts_name(*text) ? (size_t)(p - text) + 1 : 1);
    lg_status status = check_name(r, text, length, error);
    if (status) return status;
    p++;
    while (p < end && is_space(*p)) p++;
    if (p == end)
        return lg_fail(error, LG_BAD_INPUT, "%s:%zu: filter '%.*s' has no expression", r->name, r->line,
                       (int)length, text);
    char *name = lg_arena_copy(arena, text, length), *expression = lg_arena_copy(arena, p, (size_t)(end - p));
    size_t room = strlen(r->name) + length + 48;
    char *what = lg_arena_alloc(arena, room);
    if (!name || !expression || !what) return lg_fail_memory(error);
    snprintf(what, room, "%s:%zu: filter %s", r->name, r->line, name);
    status = make_room(r, list, name, error);
    if (status) return status;
    list->items[list->n++] =
        (lg_filter_definition){.name = name, .expression = expression, .what = what, .own = true};
    return LG_OK;
}

lg_status lg_filter_parse(const char *text, size_t length, const char *name, lg_arena *arena,
                          lg_filter_list *list, lg_error *error) {
    if (!length) return LG_OK; /* TEXT may be NULL */
    reader r = {.at = text, .end = text + length, .name = name, .next = 1};
    const char *zero = memchr(text, 0, length);
    lg_status status = LG_OK;
    if (zero) {
        for (const char *p = text; p < zero; p++) r.next += *p == '\n';
        return lg_fail(error, LG_BAD_INPUT, "%s:%zu: a zero byte: this is no text", name, r.next);
    }
    if (length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) r.at += 3;
    while (!status && read_line(&r))
        if (r.text.length && *r.text.data != '#') status = add_filter(&r, arena, list, error);
    if (!status && r.text.failed) status = lg_fail_memory(error);
    lg_text_free(&r.text);
    return status;
}
