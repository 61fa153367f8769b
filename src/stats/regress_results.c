/* What a regression says of its coefficients and of the levels of its categories. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "stats/regress_internal.h"

dd lg_regress_column_mean(const lg_regression *r, size_t column) {
    const lg_design *d = &r->design;
    const lg_design_column *c = &d->columns[column];
    if (c->gram == LG_REGRESS_NONE) return (dd){0};
    dd mean = dd_divide(lg_gram_at(&r->gram, c->gram, 0), lg_gram_at(&r->gram, 0, 0));
    int exponent = c->term == SIZE_MAX ? 0 : d->terms[c->term].exponent;
    return (dd){ldexp(mean.hi, exponent), ldexp(mean.lo, exponent)};
}

const lg_design_term *lg_regress_main_effect(const lg_design *d, size_t variable) {
    const lg_design_term *main = NULL;
    for (size_t t = 0; t < d->n_terms; t++)
        for (size_t c = 0; c < d->terms[t].n_categories; c++) {
            if (d->terms[t].categories[c] != variable) continue;
            if (d->terms[t].n_factors > 1) return NULL;
            main = &d->terms[t];
        }
    return main;
}

size_t lg_regress_level_column(const lg_design *d, size_t variable, size_t level) {
    const lg_design_term *t = lg_regress_main_effect(d, variable);
    size_t reference = d->variables[variable].reference;
    if (!t->contrast[0]) return t->first + level;
    return level == reference ? SIZE_MAX : t->first + level - (level > reference);
}

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
    row->mean = dd_double(lg_regress_column_mean(r, column));
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

/* ---- levels ---- */

/* Whether the prediction at C, over all columns of the design, is the same whichever of aliased columns are
   kept: in each dropped column, C must be what the kept ones make of it. */
static bool is_estimable(const lg_regression *r, const dd *c) {
    const lg_solution *s = &r->solution;
    size_t aliased = 0;
    for (size_t i = 0; i < s->n_columns; i++) {
        if (s->fate[i] == LG_COLUMN_EMPTY && c[i].hi != 0) return false;
        if (s->fate[i] != LG_COLUMN_ALIASED) continue;
        /* at norm 1: c_i / scale_i, where scale is the inverse of the norm but for the outcome's part */
        dd own = dd_multiply(c[i], lg_regress_scale(r, i)), sum = dd_negate(own);
        double size = fabs(own.hi);
        for (size_t j = 0; j < s->k; j++) {
            dd part = dd_multiply(lg_dd_at(&s->alias, aliased, j),
                                  dd_multiply(c[s->kept[j]], lg_regress_scale(r, s->kept[j])));
            sum = dd_add(sum, part);
            size += fabs(part.hi);
        }
        if (fabs(sum.hi) > 1e-6 * size) return false;
        aliased++;
    }
    return true;
}

static lg_status fill_level(lg_regression *r, size_t variable, size_t level, const dd *means, dd *c, dd *kept,
                            lg_regress_level *out, lg_error *error) {
    const lg_design *d = &r->design;
    const lg_solution *s = &r->solution;
    const lg_variable *v = &d->variables[variable];
    const lg_design_term *t = lg_regress_main_effect(d, variable);
    const size_t at = v->first_level + level;
    lg_status status = LG_OK;
    *out = (lg_regress_level){.column = lg_arena_copy(&r->result->arena, v->name, strlen(v->name)),
                              .n = r->residuals.level_counts[at],
                              .raw_mean = NAN,
                              .adjusted = LG_NO_ESTIMATE};
    const char *name = lg_variable_level(v, level);
    out->level = lg_arena_copy(&r->result->arena, name, strlen(name));
    if (!out->column || !out->level) return lg_fail_memory(error);
    if (d->cluster) out->documents = r->residuals.level_documents[at];
    dd weight = dd_two_sum(r->gram.levels.hi[2 * at], r->gram.levels.lo[2 * at]);
    dd sum = dd_two_sum(r->gram.levels.hi[2 * at + 1], r->gram.levels.lo[2 * at + 1]);
    if (weight.hi > 0) out->raw_mean = ldexp(dd_double(dd_divide(sum, weight)), d->y_exponent);
    if (!t) return LG_OK; /* part of a product: no one adjusted mean */
    const size_t own = lg_regress_level_column(d, variable, level);
    out->reference = own == SIZE_MAX;
    memcpy(c, means, d->n_columns * sizeof *c);
    for (size_t i = 0; i < t->n_cells; i++) c[t->first + i] = (dd){0};
    if (own != SIZE_MAX) c[own] = dd_of(1);
    if (d->absorb) { /* mean of the outcome + (c - means) b */
        if (own != SIZE_MAX && s->fate[own] != LG_COLUMN_KEPT) return LG_OK;
        for (size_t i = 0; i < s->k; i++) kept[i] = dd_subtract(c[s->kept[i]], means[s->kept[i]]);
        lg_estimate value;
        status = lg_regress_combine(r, kept, &value, error);
        if (!status) out->adjusted.estimate = value.estimate + r->result->fit.mean;
        return status;
    }
    if (!is_estimable(r, c)) return LG_OK;
    for (size_t i = 0; i < s->k; i++) kept[i] = c[s->kept[i]];
    return lg_regress_combine(r, kept, &out->adjusted, error);
}

lg_status lg_regress_fill_levels(lg_regression *r, lg_error *error) {
    const lg_design *d = &r->design;
    lg_regress *result = r->result;
    dd *means = lg_alloc(d->n_columns + 1, sizeof *means), *c = lg_alloc(d->n_columns + 1, sizeof *c),
       *kept = lg_alloc(r->solution.k + 1, sizeof *kept);
    result->levels = lg_arena_alloc(&result->arena, (d->n_levels + 1) * sizeof *result->levels);
    lg_status status = means && c && kept && result->levels ? LG_OK : lg_fail_memory(error);
    for (size_t i = 0; i < d->n_columns && !status; i++) means[i] = lg_regress_column_mean(r, i);
    for (size_t v = 1; v < d->n_variables && !status; v++) {
        const lg_variable *variable = &d->variables[v];
        for (size_t l = 0; l < variable->n_levels && !status; l++)
            status = fill_level(r, v, l, means, c, kept, &result->levels[result->n_levels++], error);
        if (status || !variable->category || !variable->n_levels) continue;
        const char *reference = lg_variable_level(variable, variable->reference);
        const lg_design_term *main = lg_regress_main_effect(d, v);
        if (!main)
            status = lg_regress_note(result, error,
                                     "'%s' is part of a product: no adjusted means and contrasts of it",
                                     variable->name);
        else if (main->contrast[0] && !r->residuals.level_counts[variable->first_level + variable->reference])
            status = lg_regress_note(result, error, "no row has '%s', the reference of '%s'", reference,
                                     variable->name);
    }
    free(means);
    free(c);
    free(kept);
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
    lg_json_put_key(&w, "tolerance");
    lg_json_put_double(&w, fit->tolerance);
    lg_json_put_key(&w, "interval");
    lg_json_put_text(&w, d->cluster
                             ? "95 %, clustered (CR1), Student's t with clusters - 1 degrees of freedom"
                             : "95 %, classical, Student's t with rows - columns degrees of freedom");
    lg_json_end_object(&w);
    lg_json_end_object(&w);
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
