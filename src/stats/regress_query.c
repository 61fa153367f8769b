/* Columns that are expressions: those of --define, those in the formula, and the condition on rows. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "stats/regress_design_internal.h"

lg_status lg_frame_put_definition(lg_frame *frame, const char *name, const char *text, bool built_in,
                                  lg_error *error) {
    if (!lg_reserve(&frame->definitions, &frame->definitions_room, frame->n_definitions + 1,
                    sizeof *frame->definitions))
        return lg_fail_memory(error);
    lg_definition put = {lg_arena_copy(&frame->arena, name, strlen(name)),
                         lg_arena_copy(&frame->arena, text, strlen(text)), built_in};
    if (!put.name || !put.text) return lg_fail_memory(error);
    for (size_t i = 0; i < frame->n_definitions; i++) {
        lg_definition *d = &frame->definitions[i];
        if (strcmp(d->name, put.name) != 0) continue;
        if (built_in) return LG_OK;
        if (!d->built_in) return lg_fail(error, LG_USAGE, "'%s' is defined twice", d->name);
        /* the built-in one goes, and the new one comes where the user put it */
        memmove(d, d + 1, (--frame->n_definitions - i) * sizeof *d);
        break;
    }
    frame->definitions[frame->n_definitions++] = put;
    return LG_OK;
}

lg_status lg_frame_define(lg_frame *frame, const char *text, lg_error *error) {
    const char *expression;
    size_t length;
    lg_status status = lg_query_split_definition(text, &length, &expression, error);
    if (status) return status;
    char *name = strndup(text, length);
    if (!name) return lg_fail_memory(error);
    status = lg_frame_put_definition(frame, name, expression, false, error);
    free(name);
    return status;
}

/* ---- the frame as a source ---- */

static const char *source_name(const void *context, size_t i) {
    const lg_frame *frame = context;
    if (i < frame->n_columns) return frame->columns[i].name;
    return frame->tokens ? frame->tokens->name(frame->tokens->context, i - frame->n_columns) : NULL;
}

static const char *source_argument(const void *context, const char *name, size_t i) {
    const lg_frame *frame = context;
    return frame->tokens ? frame->tokens->argument(frame->tokens->context, name, i) : NULL;
}

/* Handles: twice the index of a column of the frame, or twice that of the tokens and 1. */
static lg_status source_find(const void *context, const char *name, const char *argument,
                             lg_query_column *column, bool *found, lg_error *error) {
    const lg_frame *frame = context;
    *found = false;
    for (size_t i = 0; i < frame->n_columns && !argument; i++) {
        const lg_column *c = &frame->columns[i];
        if (strcmp(c->name, name) != 0) continue;
        if (*found) return lg_frame_find(frame, name, NULL, &c, error); /* which says that there are two */
        *found = true;
        const bool direct = c->dtype != LG_F16 && c->dtype != LG_BF16;
        *column = (lg_query_column){.type = c->levels ? LG_QUERY_CATEGORY : LG_QUERY_NUMBER,
                                    .values = direct ? c->values : NULL,
                                    .dtype = c->dtype,
                                    .levels = c->levels,
                                    .n_levels = c->n_levels,
                                    .has_missing = c->has_missing,
                                    .handle = 2 * i};
    }
    if (*found || !frame->tokens) return LG_OK;
    lg_status status = frame->tokens->find(frame->tokens->context, name, argument, column, found, error);
    column->handle = 2 * column->handle + 1;
    return status;
}

static lg_status source_read(const void *context, size_t handle, size_t first, size_t n, void *out,
                             lg_error *error) {
    const lg_frame *frame = context;
    if (handle & 1) return frame->tokens->read(frame->tokens->context, handle / 2, first, n, out, error);
    lg_column_numbers(&frame->columns[handle / 2], NULL, NULL, first, n, out);
    return LG_OK;
}

/* ---- compiling ---- */

/* Whether the regression itself asks for the column NAME. */
static bool is_wanted(const lg_design *d, const lg_regress_options *o, const char *name) {
    const lg_formula *f = &d->formula;
    const char *const others[] = {f->outcome, o->cluster, o->absorb, o->weights};
    for (size_t i = 0; i < 4; i++)
        if (others[i] && strcmp(others[i], name) == 0) return true;
    for (size_t i = 0; i < f->n_atoms; i++)
        if (strcmp(f->atoms[i].text, name) == 0) return true;
    return false;
}

static const char *what_of(lg_design *d, const char *name) {
    char *what = lg_arena_alloc(&d->arena, strlen(name) + 10);
    if (what) stpcpy(stpcpy(what, "--define "), name);
    return what;
}

/* The columns that expressions read have one length, which is the rows' where the outcome is one. */
static lg_status check_lengths(lg_design *d, lg_error *error) {
    const lg_column *first = NULL;
    for (size_t i = 0; i < lg_query_n_columns(d->query); i++) {
        const char *name = lg_query_column_name(d->query, i);
        const lg_column *c = NULL;
        for (size_t k = 0; k < d->frame->n_columns && !c; k++)
            if (strcmp(d->frame->columns[k].name, name) == 0) c = &d->frame->columns[k];
        if (!c) continue;
        if (first && c->count != first->count)
            return lg_fail(error, LG_BAD_INPUT,
                           "column '%s' has %zu rows, '%s' has %zu: the tables are not aligned", c->name,
                           c->count, first->name, first->count);
        first = c;
    }
    size_t count = first ? first->count : d->frame->tokens ? d->frame->n_tokens : SIZE_MAX;
    for (size_t i = 0; i < d->n_computed; i++) d->computed[i].count = count;
    return LG_OK;
}

static void describe_item(lg_design *d, size_t item, const char *name, lg_column *c) {
    *c = (lg_column){.name = name, .from = "--define", .dtype = LG_F64, .queried = true, .item = item};
    if (lg_query_type_of(d->query, item) != LG_QUERY_CATEGORY) return;
    c->dtype = LG_U32;
    c->levels = lg_query_levels_of(d->query, item, &c->n_levels);
    c->has_missing = true; /* perhaps */
}

lg_status lg_design_compile(lg_design *d, const lg_regress_options *o, lg_error *error) {
    const lg_formula *f = &d->formula;
    const lg_frame *frame = d->frame;
    const size_t most = frame->n_definitions + f->n_atoms + 2;
    const lg_query_source source = {.context = frame,
                                    .name = source_name,
                                    .argument = source_argument,
                                    .find = source_find,
                                    .read = source_read,
                                    .more = frame->tokens ? frame->tokens->more : NULL};
    lg_query_item *items = calloc(most, sizeof *items);
    d->computed = lg_arena_alloc(&d->arena, most * sizeof *d->computed);
    lg_status status = items && d->computed ? LG_OK : lg_fail_memory(error);
    size_t n = 0;
    bool any = o->where != NULL;
    for (size_t i = 0; i < frame->n_definitions && !status; i++) {
        const lg_definition *def = &frame->definitions[i];
        bool wanted = is_wanted(d, o, def->name);
        any = any || wanted;
        items[n] = (lg_query_item){.what = what_of(d, def->name),
                                   .name = def->name,
                                   .text = def->text,
                                   .want = wanted ? LG_QUERY_VALUE : LG_QUERY_HELPER};
        if (!items[n++].what) status = lg_fail_memory(error);
    }
    if (!status && f->outcome_is_expression) {
        items[n++] = (lg_query_item){.what = "the outcome", .text = f->outcome, .want = LG_QUERY_VALUE};
        any = true;
    }
    for (size_t i = 0; i < f->n_atoms && !status; i++) {
        if (!f->atoms[i].expression) continue;
        items[n++] = (lg_query_item){.what = "the formula", .text = f->atoms[i].text, .want = LG_QUERY_VALUE};
        any = true;
    }
    if (!status && o->where)
        items[n++] = (lg_query_item){.what = "--where", .text = o->where, .want = LG_QUERY_NUMERIC};
    if (!status && (any || n)) status = lg_query_compile(items, n, &source, &d->query, error);
    for (size_t i = 0; i < n && !status; i++) {
        if (items[i].want == LG_QUERY_HELPER) continue;
        const bool condition = o->where && i == n - 1;
        describe_item(d, i, items[i].name ? items[i].name : items[i].text, &d->computed[d->n_computed]);
        if (condition) d->where = &d->computed[d->n_computed];
        d->n_computed++;
    }
    if (!status && d->query) status = check_lengths(d, error);
    free(items);
    return status;
}

lg_status lg_design_find(lg_design *d, const char *text, const lg_column **column, lg_error *error) {
    for (size_t i = 0; i < d->n_computed; i++)
        if (&d->computed[i] != d->where && strcmp(d->computed[i].name, text) == 0) {
            *column = &d->computed[i];
            return LG_OK;
        }
    return lg_frame_find(d->frame, text, &d->arena, column, error);
}

/* ---- all values at once ---- */

static lg_status store_all(const lg_design *d, const lg_column *c, void *values, lg_error *error) {
    lg_query_session *session = c->queried ? lg_query_session_create(d->query) : NULL;
    lg_status status = c->queried && !session ? lg_fail_memory(error) : LG_OK;
    for (size_t i = 0; i < c->count && !status; i += LG_QUERY_BLOCK) {
        size_t n = c->count - i < LG_QUERY_BLOCK ? c->count - i : LG_QUERY_BLOCK;
        if (session && (status = lg_query_run(session, i, n, error))) break;
        if (c->levels)
            memcpy((uint32_t *)values + i, lg_query_levels(session, c->item), n * sizeof(uint32_t));
        else lg_column_numbers(c, session, NULL, i, n, (double *)values + i);
    }
    lg_query_session_free(session);
    return status;
}

lg_status lg_design_store(lg_design *d, const lg_column **column, lg_error *error) {
    const lg_column *from = *column;
    if (!from || from->values) return LG_OK;
    lg_column *c = lg_arena_alloc(&d->arena, sizeof *c);
    void *values = lg_alloc(from->count + 1, from->levels ? sizeof(uint32_t) : sizeof(double));
    lg_status status = c && values ? store_all(d, from, values, error) : lg_fail_memory(error);
    if (status) {
        free(values);
        return status;
    }
    *c = *from;
    c->queried = false;
    c->values = values;
    c->dtype = from->levels ? LG_U32 : LG_F64;
    *column = c;
    return lg_frame_own(d->frame, values, error);
}
