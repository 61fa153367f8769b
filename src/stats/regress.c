/* Regression: the steps in their order. */
#include "lossgap/regress.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "lossgap/gap.h"
#include "stats/regress_internal.h"
#include "stats/regress_team.h"

#define TOLERANCE 1e-7
/* Residuals below this share of the outcome are what rounding the data leaves. */
#define PERFECT 1e-14

lg_status lg_regress_note(lg_regress *result, lg_error *error, const char *format, ...) {
    char text[700];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (!lg_reserve(&result->notes, &result->notes_room, result->n_notes + 1, sizeof *result->notes))
        return lg_fail_memory(error);
    const char *copy = lg_arena_copy(&result->arena, text, strlen(text));
    if (!copy) return lg_fail_memory(error);
    result->notes[result->n_notes++] = copy;
    return LG_OK;
}

dd lg_regress_scale(const lg_regression *r, size_t column) {
    const lg_design_column *c = &r->design.columns[column];
    int exponent = r->design.y_exponent - (c->term == SIZE_MAX ? 0 : r->design.terms[c->term].exponent);
    dd scale = dd_divide(r->solution.y_norm, r->solution.norm[column]);
    return (dd){ldexp(scale.hi, exponent), ldexp(scale.lo, exponent)};
}

/* ---- coefficients ---- */

static lg_status solve(lg_regression *r, double tolerance, unsigned threads, const lg_monitor *monitor,
                       lg_error *error) {
    lg_regress_fit *fit = &r->result->fit;
    bool exact = r->design.absorb != NULL; /* demeaning takes like from like */
    fit->because = exact ? "effects are absorbed" : "the columns are well conditioned";
    lg_status status = lg_gram_make(&r->gram, &r->design, exact, threads, monitor, error);
    if (!status) status = lg_solve(&r->solution, &r->design, &r->gram, tolerance, exact, threads, error);
    if (!status && r->solution.doubtful) {
        fit->because = r->solution.because;
        exact = true;
        lg_gram_free(&r->gram);
        lg_solution_free(&r->solution);
        status = lg_gram_make(&r->gram, &r->design, true, threads, monitor, error);
        if (!status) status = lg_solve(&r->solution, &r->design, &r->gram, tolerance, true, threads, error);
    }
    fit->arithmetic = exact ? "double-double" : "double";
    return status;
}

/* Residuals of the coefficients, and once what they say is still missing in those. */
static lg_status take_residuals(lg_regression *r, unsigned threads, const lg_monitor *monitor,
                                lg_error *error) {
    const lg_design *d = &r->design;
    lg_solution *s = &r->solution;
    const bool exact = strcmp(r->result->fit.arithmetic, "double") != 0;
    const bool centred = d->formula.intercept || d->absorb;
    dd *b = calloc(d->n_gram, sizeof *b), *missing = calloc(s->k + 1, sizeof *missing);
    lg_status status = b && missing ? LG_OK : lg_fail_memory(error);
    for (size_t i = 0; i < s->k && !status; i++)
        b[d->columns[s->kept[i]].gram] = dd_multiply(s->b[i], dd_divide(s->y_norm, s->norm[s->kept[i]]));
    if (!status)
        status = lg_residuals_make(&r->residuals, &r->design, exact, b, centred ? r->mean : 0, r->pairs,
                                   r->n_pairs, threads, monitor, error);
    for (size_t i = 0; i < s->k && !status; i++) {
        size_t at = d->columns[s->kept[i]].gram;
        dd left = dd_two_sum(r->residuals.x.hi[at], r->residuals.x.lo[at]);
        missing[i] = dd_divide(dd_divide(left, s->norm[s->kept[i]]), s->y_norm);
    }
    for (size_t i = 0; i < s->k && !status; i++) {
        dd sum = {0};
        for (size_t j = 0; j < s->k; j++)
            sum = dd_add(sum, dd_multiply(lg_dd_at(&s->bread, i, j), missing[j]));
        s->b[i] = dd_add(s->b[i], sum);
    }
    free(b);
    free(missing);
    return status;
}

/* ---- errors ---- */

static lg_status judge(lg_regression *r, unsigned threads, lg_error *error) {
    const lg_design *d = &r->design;
    lg_solution *s = &r->solution;
    lg_regress_fit *fit = &r->result->fit;
    const double n = (double)d->n, k = (double)s->k, scale = ldexp(1, 2 * d->y_exponent);
    dd rss = dd_two_sum(r->residuals.scalars.hi[0], r->residuals.scalars.lo[0]);
    dd tss = dd_two_sum(r->residuals.scalars.hi[1], r->residuals.scalars.lo[1]);
    dd all = lg_gram_at(&r->gram, d->n_dense - 1, d->n_dense - 1);
    r->perfect = dd_double(rss) <= PERFECT * PERFECT * dd_double(all);
    if (r->perfect) rss = (dd){0};
    r->df_resid = n - k - (double)r->gram.n_groups;
    r->s2 = r->df_resid > 0 ? dd_double(dd_divide(dd_divide(rss, s->y_norm), s->y_norm)) / r->df_resid : NAN;
    r->clustered = d->cluster && r->residuals.n_clusters > 1;
    const double clusters = (double)r->residuals.n_clusters;
    r->df_cluster = r->clustered ? clusters - 1 : NAN;
    r->cr1_factor = r->clustered && n > k ? clusters / (clusters - 1) * (n - 1) / (n - k) : NAN;
    double df = d->cluster ? r->df_cluster : r->df_resid;
    r->t_quantile = df > 0 ? lg_regress_t_quantile(df) : NAN;

    fit->rows = d->n_rows;
    fit->n = d->n;
    fit->clusters = d->cluster ? r->residuals.n_clusters : 0;
    fit->groups = r->gram.n_groups;
    fit->columns = d->n_columns;
    fit->k = s->k;
    fit->intercept = d->formula.intercept;
    fit->df_resid = r->df_resid;
    fit->df_cluster = r->df_cluster;
    fit->cr1_factor = r->cr1_factor;
    fit->rss = dd_double(rss) * scale;
    fit->tss = dd_double(tss) * scale;
    fit->mean = ldexp(r->mean, d->y_exponent);
    fit->sigma = r->df_resid > 0 ? sqrt(fit->rss / r->df_resid) : NAN;
    const bool constant = d->y_low == d->y_high, centred = d->formula.intercept || d->absorb;
    if (constant && centred) fit->tss = 0;
    fit->r2 = fit->tss > 0 ? 1 - fit->rss / fit->tss : NAN;
    fit->adj_r2 =
        fit->tss > 0 && r->df_resid > 0 ? 1 - fit->rss / r->df_resid / (fit->tss / (n - centred)) : NAN;
    double within = dd_double(dd_multiply(s->y_norm, s->y_norm)) * scale;
    fit->r2_within = d->absorb && within > 0 ? 1 - fit->rss / within : NAN;
    fit->condition = s->condition;
    fit->smallest_ratio = 1;
    for (size_t i = 0; i < s->k; i++) fit->smallest_ratio = fmin(fit->smallest_ratio, s->ratio[s->kept[i]]);

    lg_status status = LG_OK;
    if (r->clustered) status = lg_solve_sandwich(s, d, &r->residuals.meat, &r->v, threads, error);
    if (!status && constant)
        status = lg_regress_note(r->result, error,
                                 "the outcome is %.17g in every row: there is nothing to explain", d->y_low);
    else if (!status && r->perfect)
        status = lg_regress_note(
            r->result, error,
            "the columns explain the outcome to the last digit: errors are 0, tests say nothing");
    if (!status && r->df_resid <= 0)
        status = lg_regress_note(
            r->result, error, "%llu rows for %llu columns%s: nothing is left to take errors from",
            (unsigned long long)d->n, (unsigned long long)s->k, d->absorb ? " and the absorbed effects" : "");
    if (!status && d->cluster && r->residuals.n_clusters < 2)
        status = lg_regress_note(r->result, error,
                                 "all rows lie in one cluster of '%s': there are no clustered errors",
                                 d->cluster->name);
    return status;
}

double lg_regress_t_quantile(double df) {
    return lg_t_quantile(0.5 + LG_REGRESS_CONFIDENCE / 2, df);
}

void lg_regress_finish(const lg_regression *r, lg_estimate *v) {
    const bool clustered = r->design.cluster != NULL;
    v->df = clustered ? r->df_cluster : r->df_resid;
    if (!(v->df > 0)) v->df = NAN;
    if (!clustered) v->se = v->se_classical;
    v->t = v->se > 0 && !r->perfect ? v->estimate / v->se : NAN;
    v->p = isfinite(v->t) && v->df > 0 ? 2 * lg_t_cdf(-fabs(v->t), v->df) : NAN;
    v->low = v->estimate - r->t_quantile * v->se;
    v->high = v->estimate + r->t_quantile * v->se;
    v->p_classical = v->se_classical > 0 && !r->perfect && r->df_resid > 0
                         ? 2 * lg_t_cdf(-fabs(v->estimate / v->se_classical), r->df_resid)
                         : NAN;
    v->p_adjusted = NAN;
}

lg_status lg_regress_combine(const lg_regression *r, const dd *c, lg_estimate *value, lg_error *error) {
    const lg_solution *s = &r->solution;
    dd *scaled = lg_alloc(s->k + 1, sizeof *scaled), sum = {0};
    if (!scaled) return lg_fail_memory(error);
    *value = LG_NO_ESTIMATE;
    for (size_t i = 0; i < s->k; i++) {
        scaled[i] = dd_multiply(c[i], lg_regress_scale(r, s->kept[i]));
        sum = dd_add(sum, dd_multiply(scaled[i], s->b[i]));
    }
    value->estimate = dd_double(sum);
    value->se_classical = sqrt(r->s2 * fmax(dd_double(lg_dd_square_form(&s->bread, scaled)), 0));
    if (r->clustered) {
        value->se_cr0 = r->perfect ? 0 : sqrt(fmax(dd_double(lg_dd_square_form(&r->v, scaled)), 0));
        value->se = value->se_cr0 * sqrt(r->cr1_factor);
    }
    free(scaled);
    lg_regress_finish(r, value);
    return LG_OK;
}

/* ---- all of it ---- */

static lg_status note_left_out(lg_regression *r, lg_error *error) {
    const lg_design *d = &r->design;
    lg_regress *result = r->result;
    result->left_out =
        lg_arena_alloc(&result->arena, (d->n_variables + LG_N_LEFT) * sizeof *result->left_out);
    if (!result->left_out) return lg_fail_memory(error);
    for (size_t i = 0; i < d->n_variables + LG_N_LEFT; i++) {
        if (!d->left_out[i]) continue;
        size_t other = i - d->n_variables;
        const lg_column *group = d->cluster ? d->cluster : d->absorb;
        const char *name = i < d->n_variables         ? d->variables[i].name
                           : other == LG_LEFT_WHERE   ? "--where"
                           : other == LG_LEFT_CLUSTER ? group->name
                                                      : d->weights->name;
        name = lg_arena_copy(&result->arena, name, strlen(name));
        if (!name) return lg_fail_memory(error);
        result->left_out[result->n_left_out++] =
            (lg_regress_left_out){name,
                                  i < d->n_variables             ? "missing or not finite"
                                  : other == LG_LEFT_ZERO_WEIGHT ? "weight 0"
                                  : other == LG_LEFT_WHERE       ? "not asked for"
                                                                 : "missing or not finite",
                                  d->left_out[i]};
    }
    return LG_OK;
}

lg_status lg_regress_compute(lg_frame *frame, const lg_regress_options *o, const lg_monitor *monitor,
                             lg_regress **regress, lg_error *error) {
    *regress = NULL;
    const double tolerance = o->tolerance == 0 ? TOLERANCE : o->tolerance;
    if (!(tolerance >= 1e-14 && tolerance < 1))
        return lg_fail(error, LG_USAGE, "the tolerance must be from 1e-14 to 1, not %g", tolerance);
    unsigned threads = lg_team_threads(o->threads);
    lg_regression r = {.result = calloc(1, sizeof *r.result)};
    if (!r.result) return lg_fail_memory(error);
    r.result->fit.tolerance = tolerance;
    lg_status status = lg_design_make(&r.design, frame, o, threads, monitor, error);
    if (!status) status = solve(&r, tolerance, threads, monitor, error);
    if (!status) {
        r.mean =
            dd_double(dd_divide(lg_gram_at(&r.gram, r.design.n_dense - 1, 0), lg_gram_at(&r.gram, 0, 0)));
        status = lg_regress_find_pairs(&r, error);
    }
    if (!status) status = take_residuals(&r, threads, monitor, error);
    if (!status) status = note_left_out(&r, error);
    if (!status) status = judge(&r, threads, error);
    if (!status) status = lg_regress_fill(&r, error);
    if (!status) status = lg_regress_fill_levels(&r, error);
    if (!status) status = lg_regress_fill_contrasts(&r, error);
    if (!status) status = lg_regress_describe(&r, o, error);
    lg_residuals_free(&r.residuals);
    lg_solution_free(&r.solution);
    lg_gram_free(&r.gram);
    lg_dd_matrix_free(&r.v);
    lg_design_free(&r.design);
    free(r.pairs);
    if (status) lg_regress_free(r.result);
    else *regress = r.result;
    return status;
}

void lg_regress_free(lg_regress *r) {
    if (!r) return;
    free(r->contrasts);
    free(r->notes);
    lg_text_free(&r->provenance);
    lg_arena_free(&r->arena);
    free(r);
}

const lg_regress_fit *lg_regress_get_fit(const lg_regress *r) {
    return &r->fit;
}

const lg_regress_row *lg_regress_rows(const lg_regress *r, size_t *count) {
    *count = r->n_rows;
    return r->rows;
}

const lg_regress_level *lg_regress_levels(const lg_regress *r, size_t *count) {
    *count = r->n_levels;
    return r->levels;
}

const lg_regress_contrast *lg_regress_contrasts(const lg_regress *r, size_t *count) {
    *count = r->n_contrasts;
    return r->contrasts;
}

const lg_regress_left_out *lg_regress_left_outs(const lg_regress *r, size_t *count) {
    *count = r->n_left_out;
    return r->left_out;
}

const char *const *lg_regress_notes(const lg_regress *r, size_t *count) {
    *count = r->n_notes;
    return r->notes;
}

const char *lg_regress_provenance(const lg_regress *r) {
    return r->provenance.data;
}
