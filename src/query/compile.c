/* Compiling a list of items: each is parsed in turn, and what no result needs is taken out again. */
#include <stdlib.h>

#include "base/error.h"
#include "query/compiler.h"

/* Makes of the operand what the item wants, in a block of its own kind. */
static bool finish_item(lg_compiler *c, lg_operand *x) {
    const lg_query_item *item = &c->items[c->item];
    lg_item_result *result = &c->query->items[c->item];
    const char *what = item->what;
    result->want = item->want;
    result->what = lg_arena_copy(&c->query->arena, what, strlen(what));
    if (!result->what) return lg_complain_memory(c);
    bool category = x->type == LG_QUERY_CATEGORY;
    if (item->want == LG_QUERY_CONDITION && !lg_want_condition(c, x, what)) return false;
    if (item->want == LG_QUERY_NUMERIC && !lg_want_number(c, x, what)) return false;
    if (item->want == LG_QUERY_VALUE && !category && !lg_want_number(c, x, what)) return false;
    if (item->want == LG_QUERY_GROUP && !category && !lg_want_group(c, x)) return false;
    result->type = x->type;
    if (!category) {
        bool fine = item->want == LG_QUERY_HELPER || lg_settle(c, x, &result->block);
        x->keep = true;
        return fine;
    }
    lg_operand copy = *x; /* later items see the column, which knows its levels */
    result->levels = lg_column_of(c, x)->levels;
    result->n_levels = lg_column_of(c, x)->n_levels;
    return lg_settle(c, &copy, &result->block);
}

/* Takes out the steps of helpers that no result uses, and lists the columns that some does. References run
   backwards, so one pass from the end sees every use. */
static bool drop_unused(lg_compiler *c) {
    lg_query *q = c->query;
    bool *live = calloc(q->n_items + 1, sizeof *live);
    q->used = lg_alloc(q->n_columns + 1, sizeof *q->used);
    if (!live || !q->used) return free(live), lg_complain_memory(c);
    for (size_t i = 0; i < q->n_items; i++) live[i] = q->items[i].want != LG_QUERY_HELPER;
    for (size_t i = c->n_references; i-- > 0;) {
        const lg_reference *r = &c->references[i];
        if (!live[r->item]) continue;
        if (r->column) q->columns[r->to].used = true;
        else live[r->to] = true;
    }
    size_t n = 0;
    for (size_t i = 0; i < q->n_steps; i++)
        if (live[q->steps[i].item]) q->steps[n++] = q->steps[i];
    q->n_steps = n;
    for (size_t i = 0; i < q->n_columns; i++)
        if (q->columns[i].used) q->used[q->n_used++] = q->columns[i].name;
    free(live);
    return true;
}

lg_status lg_query_compile(const lg_query_item *items, size_t n_items, const lg_query_source *source,
                           lg_query **query, lg_error *error) {
    *query = NULL;
    lg_compiler c = {.items = items, .n_items = n_items, .source = source, .error = error};
    lg_query *q = c.query = calloc(1, sizeof *q);
    if (!q) return lg_fail_memory(error);
    q->source = *source;
    q->n_items = n_items;
    q->items = calloc(n_items + 1, sizeof *q->items);
    c.results = calloc(n_items + 1, sizeof *c.results);
    bool fine = (q->items && c.results) || lg_complain_memory(&c);
    for (c.item = 0; c.item < n_items && fine; c.item++) {
        lg_operand *x = &c.results[c.item];
        fine = lg_parse(&c, x);
        fine = fine && finish_item(&c, x);
    }
    fine = fine && drop_unused(&c);
    for (size_t k = 0; k < LG_N_BLOCKS; k++) free(c.free[k]);
    free(c.results);
    free(c.references);
    lg_text_free(&c.scratch);
    if (fine) *query = q;
    else lg_query_free(q);
    return fine ? LG_OK : c.status;
}

void lg_query_free(lg_query *q) {
    if (!q) return;
    for (size_t i = 0; i < q->n_regexes; i++) lg_query_regex_free(q->regexes[i]);
    free(q->columns);
    free(q->steps);
    free(q->items);
    free(q->tables);
    free(q->maps);
    free(q->ranges);
    free(q->strings);
    free(q->regexes);
    free(q->used);
    lg_arena_free(&q->arena);
    free(q);
}

lg_query_type lg_query_type_of(const lg_query *query, size_t item) {
    return query->items[item].type;
}

const char *const *lg_query_levels_of(const lg_query *query, size_t item, size_t *count) {
    *count = query->items[item].n_levels;
    return query->items[item].levels;
}

size_t lg_query_n_columns(const lg_query *query) {
    return query->n_used;
}

const char *lg_query_column_name(const lg_query *query, size_t i) {
    return query->used[i];
}

lg_status lg_query_split_definition(const char *text, size_t *name_length, const char **expression,
                                    lg_error *error) {
    const char *sign = strchr(text, '=');
    size_t length = sign ? (size_t)(sign - text) : 0;
    while (length && text[length - 1] == ' ') length--;
    if (!length || !sign[1])
        return lg_fail(error, LG_USAGE,
                       "a definition is NAME=EXPRESSION, as 'log_frequency=log(frequency)', not '%s'", text);
    for (size_t i = 0; i < length; i++)
        if (strchr(" \t()[]{}<>=!,;:+-*/^~'\"`", text[i]))
            return lg_fail(error, LG_USAGE, "'%.*s' is no name for a definition: letters, digits and _ are",
                           (int)length, text);
    *name_length = length;
    *expression = sign + 1;
    return LG_OK;
}
