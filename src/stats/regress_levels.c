/* What a regression says of the levels of its categories: raw means, and predictions with every row at one
 * level. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "stats/regress_internal.h"

dd lg_regress_column_mean(const lg_regression *r, size_t column, bool plain) {
    const lg_design *d = &r->design;
    const lg_design_column *c = &d->columns[column];
    const int exponent = c->term == SIZE_MAX ? 0 : d->terms[c->term].exponent;
    if (c->gram == LG_REGRESS_NONE) return (dd){0};
    dd mean = plain ? dd_divide(dd_two_sum(r->residuals.plain.hi[c->gram], r->residuals.plain.lo[c->gram]),
                                dd_of((double)d->n))
                    : dd_divide(lg_gram_at(&r->gram, c->gram, 0), lg_gram_at(&r->gram, 0, 0));
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

/* ---- means with every row at one level ---- */

/* A product of numbers and of indicators of levels, whose mean over the rows is asked for. */
typedef struct product {
    size_t n_numbers, numbers[LG_FORMULA_DEGREE];
    unsigned powers[LG_FORMULA_DEGREE];
    size_t n_categories, categories[LG_FORMULA_DEGREE], levels[LG_FORMULA_DEGREE];
} product;

static void leave_out(product *p, size_t category) {
    size_t n = 0;
    for (size_t c = 0; c < p->n_categories; c++) {
        if (p->categories[c] == category) continue;
        p->categories[n] = p->categories[c];
        p->levels[n++] = p->levels[c];
    }
    p->n_categories = n;
}

static size_t *level_of(product *p, size_t category) {
    for (size_t c = 0; c < p->n_categories; c++)
        if (p->categories[c] == category) return &p->levels[c];
    return NULL;
}

/* The term of these numbers and categories. */
static const lg_design_term *find_term(const lg_design *d, product *p) {
    for (size_t t = 0; t < d->n_terms; t++) {
        const lg_design_term *term = &d->terms[t];
        size_t same = 0;
        if (term->n_numbers != p->n_numbers || term->n_categories != p->n_categories) continue;
        for (size_t i = 0; i < p->n_numbers; i++)
            for (size_t k = 0; k < p->n_numbers; k++)
                same += term->numbers[i] == p->numbers[k] && term->powers[i] == p->powers[k];
        for (size_t c = 0; c < p->n_categories; c++) same += level_of(p, term->categories[c]) != NULL;
        if (same == p->n_numbers + p->n_categories) return term;
    }
    return NULL;
}

/* Where a level has no column of its own, its share is what the other levels leave of the product without the
   category, which the formula has then. */
static dd product_mean(const lg_regression *r, product p, bool plain, bool *known) {
    const lg_design *d = &r->design;
    if (!p.n_numbers && !p.n_categories) return dd_of(1);
    const lg_design_term *t = find_term(d, &p);
    if (!t) {
        *known = false;
        return (dd){0};
    }
    size_t cell = 0, radix = 1;
    for (size_t c = 0; c < t->n_categories; c++) {
        const lg_variable *v = &d->variables[t->categories[c]];
        size_t level = *level_of(&p, t->categories[c]);
        if (t->contrast[c] && level == v->reference) {
            product rest = p;
            leave_out(&rest, t->categories[c]);
            dd sum = product_mean(r, rest, plain, known);
            for (size_t l = 0; l < v->n_levels && *known; l++) {
                if (l == v->reference) continue;
                product other = p;
                *level_of(&other, t->categories[c]) = l;
                sum = dd_subtract(sum, product_mean(r, other, plain, known));
            }
            return sum;
        }
        cell += radix * (level - (t->contrast[c] && level > v->reference));
        radix *= v->n_levels - t->contrast[c];
    }
    return lg_regress_column_mean(r, t->first + cell, plain);
}

/* The mean of column CELL of T, without the category C in it. */
static dd mean_without(const lg_regression *r, const lg_design_term *t, size_t cell, size_t c, bool plain,
                       bool *known) {
    const lg_design *d = &r->design;
    product p = {.n_numbers = t->n_numbers, .n_categories = t->n_categories};
    memcpy(p.numbers, t->numbers, sizeof p.numbers);
    memcpy(p.powers, t->powers, sizeof p.powers);
    memcpy(p.categories, t->categories, sizeof p.categories);
    lg_design_cell_levels(d, t, cell, p.levels);
    const size_t variable = t->categories[c];
    if (t->contrast[c]) {
        leave_out(&p, variable);
        return product_mean(r, p, plain, known);
    }
    dd sum = {0};
    for (size_t l = 0; l < d->variables[variable].n_levels; l++) {
        p.levels[c] = l;
        sum = dd_add(sum, product_mean(r, p, plain, known));
    }
    return sum;
}

bool lg_regress_level_means(const lg_regression *r, size_t variable, size_t level, bool plain, dd *c) {
    const lg_design *d = &r->design;
    bool known = true;
    for (size_t i = 0; i < d->n_columns; i++) c[i] = lg_regress_column_mean(r, i, plain);
    for (size_t t = 0; t < d->n_terms && known; t++) {
        const lg_design_term *term = &d->terms[t];
        size_t k = 0, levels[LG_FORMULA_DEGREE];
        while (k < term->n_categories && term->categories[k] != variable) k++;
        if (k == term->n_categories) continue;
        for (size_t cell = 0; cell < term->n_cells && known; cell++) {
            lg_design_cell_levels(d, term, cell, levels);
            c[term->first + cell] =
                levels[k] == level ? mean_without(r, term, cell, k, plain, &known) : (dd){0};
        }
    }
    return known;
}

/* ---- predictions ---- */

bool lg_regress_is_estimable(const lg_regression *r, const dd *c) {
    const lg_solution *s = &r->solution;
    size_t aliased = 0;
    for (size_t i = 0; i < s->n_columns; i++) {
        if (s->fate[i] == LG_COLUMN_EMPTY && c[i].hi != 0) return false;
        if (s->fate[i] != LG_COLUMN_ALIASED) continue;
        /* a dropped column must be in C what the kept ones make of it (all at norm 1) */
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

lg_status lg_regress_predict(const lg_regression *r, const dd *c, lg_estimate *value, lg_error *error) {
    const lg_solution *s = &r->solution;
    *value = LG_NO_ESTIMATE;
    if (!lg_regress_is_estimable(r, c)) return LG_OK;
    dd *kept = lg_alloc(s->k + 1, sizeof *kept);
    if (!kept) return lg_fail_memory(error);
    for (size_t i = 0; i < s->k; i++) kept[i] = c[s->kept[i]];
    lg_status status = lg_regress_combine(r, kept, value, error);
    free(kept);
    return status;
}

/* Beside absorbed effects: mean of the outcome + (c - means) b, C being over all columns, and overwritten. */
static lg_status predict_beside_effects(const lg_regression *r, size_t variable, size_t level, dd *c,
                                        lg_estimate *value, lg_error *error) {
    const lg_solution *s = &r->solution;
    if (lg_regress_main_effect(&r->design, variable)) {
        const size_t own = lg_regress_level_column(&r->design, variable, level);
        if (own != SIZE_MAX && s->fate[own] != LG_COLUMN_KEPT) return LG_OK;
    }
    for (size_t i = 0; i < s->k; i++) /* kept columns keep their order */
        c[i] = dd_subtract(c[s->kept[i]], lg_regress_column_mean(r, s->kept[i], false));
    lg_estimate difference;
    lg_status status = lg_regress_combine(r, c, &difference, error);
    if (!status) value->estimate = difference.estimate + r->result->fit.mean;
    return status;
}

static lg_status fill_level(lg_regression *r, size_t variable, size_t level, dd *c, lg_regress_level *out,
                            lg_error *error) {
    const lg_design *d = &r->design;
    const lg_variable *v = &d->variables[variable];
    const size_t at = v->first_level + level;
    const char *name = lg_variable_level(v, level);
    *out = (lg_regress_level){.column = lg_arena_copy(&r->result->arena, v->name, strlen(v->name)),
                              .level = lg_arena_copy(&r->result->arena, name, strlen(name)),
                              .n = r->residuals.level_counts[at],
                              .raw_mean = NAN,
                              .reference = level == v->reference && v->coded_by_contrast,
                              .adjusted = LG_NO_ESTIMATE,
                              .unweighted = LG_NO_ESTIMATE};
    if (!out->column || !out->level) return lg_fail_memory(error);
    if (d->cluster) out->documents = r->residuals.level_documents[at];
    dd weight = dd_two_sum(r->gram.levels.hi[2 * at], r->gram.levels.lo[2 * at]);
    dd sum = dd_two_sum(r->gram.levels.hi[2 * at + 1], r->gram.levels.lo[2 * at + 1]);
    if (weight.hi > 0) out->raw_mean = ldexp(dd_double(dd_divide(sum, weight)), d->y_exponent);
    if (!lg_regress_level_means(r, variable, level, false, c)) return LG_OK;
    if (d->absorb) return predict_beside_effects(r, variable, level, c, &out->adjusted, error);
    lg_status status = lg_regress_predict(r, c, &out->adjusted, error);
    if (!status && d->weights && lg_regress_level_means(r, variable, level, true, c))
        status = lg_regress_predict(r, c, &out->unweighted, error);
    return status;
}

lg_status lg_regress_fill_levels(lg_regression *r, lg_error *error) {
    lg_design *d = &r->design;
    lg_regress *result = r->result;
    dd *c = lg_alloc(d->n_columns + 1, sizeof *c);
    result->levels = lg_arena_alloc(&result->arena, (d->n_levels + 1) * sizeof *result->levels);
    lg_status status = c && result->levels ? LG_OK : lg_fail_memory(error);
    for (size_t v = 1; v < d->n_variables && !status; v++) {
        const lg_variable *variable = &d->variables[v];
        for (size_t l = 0; l < variable->n_levels && !status; l++)
            status = fill_level(r, v, l, c, &result->levels[result->n_levels++], error);
        if (!status && variable->category && variable->n_levels && variable->coded_by_contrast &&
            !r->residuals.level_counts[variable->first_level + variable->reference])
            status = lg_regress_note(result, error, "no row has '%s', the reference of '%s'",
                                     lg_variable_level(variable, variable->reference), variable->name);
    }
    free(c);
    return status;
}
