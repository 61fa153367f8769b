/* What a regression says of its coefficients, and of how it was made. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "stats/regress_internal.h"

/* ---- coefficients ---- */

/* "aliased with a, b and 3 more": the columns that make up the DROPPEDth aliased one. */
static lg_status explain_alias(const lg_regression *r, size_t dropped, const char **reason, lg_error *error) {
    enum { NAMED = 4 };
    const lg_solution *s = &r->solution;
    lg_text text = {0};
    size_t n = 0;
    for (size_t i = 0; i < s->k; i++) {
        if (fabs(s->alias.hi[dropped * s->alias.columns + i]) < 1e-6) continue;
        const char *name = n < NAMED ? lg_design_name(&r->design, s->kept[i], &r->result->arena) : "";
        if (!name) {
            lg_text_free(&text);
            return lg_fail_memory(error);
        }
        if (n < NAMED) lg_text_printf(&text, "%s%s", n ? ", " : "aliased with ", name);
        n++;
    }
    if (n > NAMED) lg_text_printf(&text, " and %zu more", n - NAMED);
    if (!n) lg_text_puts(&text, "aliased");
    *reason = text.failed ? NULL : lg_arena_copy(&r->result->arena, text.data, text.length);
    lg_text_free(&text);
    return *reason ? LG_OK : lg_fail_memory(error);
}

typedef struct ranked {
    double p;
    lg_regress_row *row;
} ranked;

static int by_p(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    if (x->p != y->p) return x->p < y->p ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* Benjamini-Hochberg over ROWS [n]; those without a p do not count. */
static lg_status adjust(lg_regress_row *rows, size_t n, lg_error *error) {
    ranked *order = lg_alloc(n + 1, sizeof *order);
    if (!order) return lg_fail_memory(error);
    size_t m = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(rows[i].value.p)) order[m++] = (ranked){rows[i].value.p, &rows[i]};
    qsort(order, m, sizeof *order, by_p);
    double least = 1;
    for (size_t i = m; i-- > 0;) {
        least = fmin(least, order[i].p * (double)m / (double)(i + 1));
        order[i].row->value.p_adjusted = least;
    }
    free(order);
    return LG_OK;
}

static lg_status fill_row(lg_regression *r, size_t column, dd *c, size_t *aliased, lg_regress_row *row,
                          lg_error *error) {
    const lg_design *d = &r->design;
    const lg_solution *s = &r->solution;
    const lg_design_column *of = &d->columns[column];
    const lg_design_term *term = of->term == SIZE_MAX ? NULL : &d->terms[of->term];
    lg_status status = LG_OK;
    *row = (lg_regress_row){.term = lg_design_name(d, column, &r->result->arena), .value = LG_NO_ESTIMATE};
    if (!row->term) return lg_fail_memory(error);
    row->mean = dd_double(lg_regress_column_mean(r, column, false));
    row->counted = term && term->n_categories && !term->n_numbers;
    if (row->counted) {
        row->n = term->counts[of->cell];
        if (d->cluster && of->gram != LG_REGRESS_NONE)
            row->documents = r->residuals.column_documents[of->gram];
    }
    row->dropped = s->fate[column] != LG_COLUMN_KEPT;
    switch (s->fate[column]) {
    case LG_COLUMN_KEPT:
        c[s->position[column]] = dd_of(1);
        status = lg_regress_combine(r, c, &row->value, error);
        c[s->position[column]] = (dd){0};
        break;
    case LG_COLUMN_EMPTY:
        row->reason = row->counted ? "no row has it" : "it is 0 in every row";
        break;
    case LG_COLUMN_ABSORBED:
        row->reason = "it does not vary within the absorbed groups";
        break;
    case LG_COLUMN_ALIASED:
        status = explain_alias(r, (*aliased)++, &row->reason, error);
        break;
    }
    return status;
}

lg_status lg_regress_fill(lg_regression *r, lg_error *error) {
    const lg_design *d = &r->design;
    lg_regress *result = r->result;
    size_t aliased = 0, lonely = 0;
    const char *first = NULL;
    dd *c = calloc(r->solution.k + 1, sizeof *c);
    result->rows = lg_arena_alloc(&result->arena, (d->n_columns + 1) * sizeof *result->rows);
    lg_status status = c && result->rows ? LG_OK : lg_fail_memory(error);
    for (size_t i = 0; i < d->n_columns && !status; i++) {
        lg_regress_row *row = &result->rows[i];
        status = fill_row(r, i, c, &aliased, row, error);
        if (row->counted && !row->dropped && r->clustered && row->documents == 1) {
            if (!lonely++) first = row->term;
        }
    }
    if (!status) result->n_rows = d->n_columns;
    for (size_t t = 0; t < d->n_terms && !status; t++)
        if (d->terms[t].n_factors == 1 && d->terms[t].n_categories)
            status = adjust(result->rows + d->terms[t].first, d->terms[t].n_cells, error);
    if (!status && lonely)
        status = lg_regress_note(result, error,
                                 "%s%s lies in one cluster only: its clustered error is far too small", first,
                                 lonely > 1 ? " (and others: see the documents of each)" : "");
    free(c);
    return status;
}

/* ---- provenance ---- */

static const char *copy(lg_regress *result, const char *text) {
    return text ? lg_arena_copy(&result->arena, text, strlen(text)) : NULL;
}

lg_status lg_regress_describe(lg_regression *r, const lg_regress_options *o, lg_error *error) {
    const lg_design *d = &r->design;
    lg_regress_fit *fit = &r->result->fit;
    lg_json_writer w = {.out = &r->result->provenance};
    lg_json_put_object(&w);
    lg_json_put_key(&w, "program");
    lg_json_put_text(&w, "lossgap " LG_VERSION);
    lg_json_put_key(&w, "command");
    lg_json_put_text(&w, o->command);
    lg_json_put_key(&w, "inputs");
    lg_json_put_object(&w);
    for (size_t i = 0; i < d->frame->n_inputs; i++) {
        lg_json_put_key(&w, d->frame->inputs[i].name);
        lg_json_put_text(&w, d->frame->inputs[i].identity);
    }
    lg_json_end_object(&w);
    lg_json_put_key(&w, "settings");
    lg_json_put_object(&w);
    if (d->frame->tokens) {
        lg_json_put_key(&w, "unit");
        lg_json_put_text(&w, d->frame->spans ? "span" : "token");
    }
    lg_json_put_key(&w, "formula");
    lg_json_put_text(&w, o->formula);
    lg_json_put_key(&w, "cluster");
    lg_json_put_text(&w, o->cluster);
    lg_json_put_key(&w, "absorb");
    lg_json_put_text(&w, o->absorb);
    lg_json_put_key(&w, "weights");
    lg_json_put_text(&w, o->weights);
    lg_json_put_key(&w, "references");
    lg_json_put_object(&w);
    for (size_t v = 1; v < d->n_variables; v++) {
        const lg_variable *variable = &d->variables[v];
        if (!variable->category || !variable->n_levels) continue;
        lg_json_put_key(&w, variable->name);
        lg_json_put_text(&w, lg_variable_level(variable, variable->reference));
    }
    lg_json_end_object(&w);
    lg_json_put_key(&w, "define"); /* those of the user, as text */
    lg_json_put_object(&w);
    for (size_t i = 0; i < d->frame->n_definitions; i++) {
        const lg_definition *definition = &d->frame->definitions[i];
        if (definition->built_in) continue;
        lg_json_put_key(&w, definition->name);
        lg_json_put_text(&w, definition->text);
    }
    lg_json_end_object(&w);
    lg_json_put_key(&w, "where");
    lg_json_put_text(&w, o->where);
    lg_json_put_key(&w, "tolerance");
    lg_json_put_double(&w, fit->tolerance);
    lg_json_put_key(&w, "interval");
    lg_json_put_text(&w, d->cluster
                             ? "95 %, clustered (CR1), Student's t with clusters - 1 degrees of freedom"
                             : "95 %, classical, Student's t with rows - columns degrees of freedom");
    lg_json_end_object(&w);
    lg_json_end_object(&w);
    fit->spans = d->frame->spans;
    fit->outcome = copy(r->result, d->formula.outcome);
    fit->formula = copy(r->result, o->formula);
    fit->cluster = copy(r->result, o->cluster);
    fit->absorb = copy(r->result, o->absorb);
    fit->weights = copy(r->result, o->weights);
    if (r->result->provenance.failed || !fit->outcome || !fit->formula || (o->cluster && !fit->cluster) ||
        (o->absorb && !fit->absorb) || (o->weights && !fit->weights))
        return lg_fail_memory(error);
    return LG_OK;
}
