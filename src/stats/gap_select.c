/* Which tokens count, and the grouping columns that are computed from others: one walk over all tokens, for
   two passes and several threads ask later. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "stats/gap_internal.h"

size_t gap_find_definition(const collector *c, const char *name) {
    for (size_t i = 0; i < c->n_definitions; i++)
        if (strcmp(c->definitions[i], name) == 0) return i;
    return SIZE_MAX;
}

/* NAME=EXPRESSION into ITEM, in the gap's arena. */
static lg_status add_definition(collector *c, const char *text, lg_query_item *item, lg_error *error) {
    lg_arena *arena = &c->gap->arena;
    const char *expression;
    size_t length;
    lg_status status = lg_query_split_definition(text, &length, &expression, error);
    if (status) return status;
    const char *name = lg_arena_copy(arena, text, length), *copy = lg_arena_copy(arena, text, strlen(text));
    char *what = lg_arena_alloc(arena, length + sizeof "--define ");
    if (!name || !copy || !what) return lg_fail_memory(error);
    stpcpy(stpcpy(what, "--define "), name);
    if (gap_find_definition(c, name) != SIZE_MAX)
        return lg_fail(error, LG_USAGE, "'%s' is defined twice", name);
    c->gap->about.definitions[c->n_definitions] = copy;
    c->definitions[c->n_definitions++] = name;
    *item = (lg_query_item){.what = what, .name = name, .text = expression, .want = LG_QUERY_HELPER};
    return LG_OK;
}

lg_status gap_compile(collector *c, const lg_table *tags, const gap_selection *options, lg_error *error) {
    lg_gap *gap = c->gap;
    if (!options->where && !options->n_define) return LG_OK;
    size_t n = options->n_define;
    lg_query_item *items = calloc(n + 1, sizeof *items);
    c->definitions = lg_arena_alloc(&gap->arena, (n + 1) * sizeof *c->definitions);
    gap->about.definitions = lg_arena_alloc(&gap->arena, (n + 1) * sizeof *gap->about.definitions);
    lg_status status = items && c->definitions && gap->about.definitions ? LG_OK : lg_fail_memory(error);
    for (size_t i = 0; i < n && !status; i++)
        status = add_definition(c, options->define[i], &items[i], error);
    gap->about.n_definitions = c->n_definitions;
    for (size_t i = 0; i < options->n_by && !status; i++) {
        size_t item = gap_find_definition(c, options->by[i]);
        if (item != SIZE_MAX) items[item].want = LG_QUERY_GROUP;
    }
    if (!status && options->where) {
        gap->about.where = lg_arena_copy(&gap->arena, options->where, strlen(options->where));
        if (!gap->about.where) status = lg_fail_memory(error);
        items[n++] = (lg_query_item){.what = "--where", .text = options->where, .want = LG_QUERY_CONDITION};
    }
    if (!status)
        status =
            lg_token_source_open(c->data, c->scores, gap->about.models, c->n_scores, tags, &c->source, error);
    if (!status) status = lg_query_compile(items, n, lg_token_source_columns(c->source), &c->query, error);
    free(items);
    return status;
}

lg_status gap_open_definition(collector *c, size_t b, size_t item, lg_error *error) {
    static const char *const truths[] = {"false", "true"};
    const char *name = c->definitions[item];
    lg_group_column *column = &c->gap->by[b];
    const char *const *levels = truths;
    size_t n = 2;
    *column = (lg_group_column){.name = name};
    if (lg_query_type_of(c->query, item) == LG_QUERY_CATEGORY)
        levels = lg_query_levels_of(c->query, item, &n);
    if (n >= UINT32_MAX) return lg_fail(error, LG_FAILED, "too many levels of '%s' to group by", name);
    column->n_levels = n + 1; /* the last: of which it is not known */
    column->levels = lg_arena_alloc(&c->gap->arena, (n + 1) * sizeof *column->levels);
    column->dtype = n < 256 ? LG_U8 : n < 65536 ? LG_U16 : LG_U32;
    size_t size = n < 256 ? 1 : n < 65536 ? 2 : 4;
    column->values = c->defined[b] = lg_alloc(c->data->n_tokens, size);
    if (!column->levels || !column->values) return lg_fail_memory(error);
    for (size_t i = 0; i < n; i++) { /* the query ends before the gap does */
        column->levels[i] = lg_arena_copy(&c->gap->arena, levels[i], strlen(levels[i]));
        if (!column->levels[i]) return lg_fail_memory(error);
    }
    column->levels[n] = "unknown";
    c->item[b] = item;
    return LG_OK;
}

static void store_level(const lg_group_column *column, void *values, size_t at, uint32_t level) {
    if (column->dtype == LG_U8) ((uint8_t *)values)[at] = (uint8_t)level;
    else if (column->dtype == LG_U16) ((uint16_t *)values)[at] = (uint16_t)level;
    else ((uint32_t *)values)[at] = level;
}

/* The levels of column B for the tokens AT … AT + N - 1, over which SESSION has run. */
static void store_block(collector *c, const lg_query_session *session, size_t b, size_t at, size_t n) {
    const lg_group_column *column = &c->gap->by[b];
    size_t item = c->item[b];
    if (lg_query_type_of(c->query, item) == LG_QUERY_BOOLEAN) {
        const uint8_t *truth = lg_query_truth(session, item);
        for (size_t i = 0; i < n; i++)
            store_level(column, c->defined[b], at + i,
                        truth[i] == LG_QUERY_TRUE    ? 1
                        : truth[i] == LG_QUERY_FALSE ? 0
                                                     : 2);
        return;
    }
    const uint32_t *levels = lg_query_levels(session, item);
    uint32_t unknown = (uint32_t)(column->n_levels - 1);
    for (size_t i = 0; i < n; i++)
        store_level(column, c->defined[b], at + i, levels[i] < unknown ? levels[i] : unknown);
}

lg_status gap_select(collector *c, lg_error *error) {
    size_t n_tokens = c->data->n_tokens;
    const float *nll = c->scores[0].nll;
    bool where = c->gap->about.where != NULL;
    lg_query_session *session = c->query ? lg_query_session_create(c->query) : NULL;
    lg_status status = c->query && !session ? lg_fail_memory(error) : LG_OK;
    if (!status && where && !(c->keep = lg_alloc(n_tokens, 1))) status = lg_fail_memory(error);
    for (size_t at = 0, n; at < n_tokens && !status; at += n) {
        n = n_tokens - at < LG_QUERY_BLOCK ? n_tokens - at : LG_QUERY_BLOCK;
        if (session && (status = lg_query_run(session, at, n, error))) break;
        const uint8_t *truth = where ? lg_query_truth(session, c->n_definitions) : NULL;
        for (size_t i = 0; i < n; i++) {
            bool none = isnan(nll[at + i]);
            c->unscorable += none;
            c->unknown += !none && truth && truth[i] == LG_QUERY_UNKNOWN;
            c->kept += !none && (!truth || truth[i] == LG_QUERY_TRUE);
            if (truth) c->keep[at + i] = truth[i] == LG_QUERY_TRUE;
        }
        for (size_t b = 0; b < c->gap->n_by; b++)
            if (c->defined[b]) store_block(c, session, b, at, n);
    }
    lg_query_session_free(session);
    return status;
}
