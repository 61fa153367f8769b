/* Profiles of all groups: ratios and their intervals for the pair and its references, the differences, and
   how alike the profiles are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "stats/profile_internal.h"
#include "stats/ratio.h"

enum { BATCH = 1 << 23, MOMENTS = 6 }; /* BATCH: resampled means that are held at a time */

/* Below so many standard errors the delta method's interval is doubtful: the ratio is skewed. */
static const double CAUTION = 5;

typedef struct maker {
    lg_profile *profile;
    collector *c;
    const lg_profile_options *options;
    size_t n_groups, n_sides; /* sides: the pair and its references */
    lg_ratio_base *bases;     /* [n_sides] */
    double *influence;        /* [n_sides, n_docs] */
    double *cross;            /* [n_sides] of the pair's base with the side's */
    const char **why_not;     /* [n_sides] why there is no profile; NULL: there is one */
    const char **caution;     /* [n_sides] how to read it; NULL */
    lg_profile_side *sides;   /* [n_sides, n_groups] in the order of rows */
    lg_bootstrap draws;
    double *totals;  /* [n_sides, replicates] overall gaps */
    bool *one_sided; /* [n_sides] of these: all on one side of 0 */
    double *moments; /* [n_references, n_groupings, MOMENTS, replicates] */
} maker;

static const lg_profile_value no_value = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, 0};

static lg_profile_value value_of(const lg_ratio *r) {
    return (lg_profile_value){r->value, r->se, r->df, r->low, r->high, r->fieller_low, r->fieller_high, r->t,
                              r->p,     r->p,  NAN,   NAN,    0};
}

static const group *group_at(const maker *m, size_t i) {
    return &m->c->groups[m->c->order[i]];
}

static const lg_gap_row *gap_at(const maker *m, size_t side, size_t i) {
    return &m->profile->gap->rows[side * m->n_groups + i];
}

static bool is_constant(const maker *m, size_t side, size_t i) {
    return m->c->sums[m->c->order[i] * m->c->n_pairs + side].constant;
}

static const lg_cell *cells_at(const maker *m, size_t side, size_t i) {
    return gap_cells(m->c, side, m->c->order[i]);
}

/* ---- by formula ---- */

static lg_status open_base(maker *m, size_t k, lg_error *error) {
    collector *c = m->c;
    size_t n_docs = c->data->n_docs, total = gap_find_group(c, 0, 0);
    lg_ratio_base *b = &m->bases[k];
    lg_ratio_base_init(b, gap_cells(c, k, total), c->groups[total].documents,
                       c->sums[total * c->n_pairs + k].constant, m->influence + k * n_docs, n_docs);
    m->cross[k] = lg_ratio_cross(&m->bases[0], b, n_docs);
    if (!b->n) m->why_not[k] = "no tokens";
    else if (!(fabs(b->mean) > 0)) m->why_not[k] = "the overall gap is 0: no profile";
    else if (!lg_ratio_base_is_clear(b))
        m->why_not[k] = "the interval of the overall gap holds 0, so shares of it mean nothing: no profile";
    else if (isnan(b->se))
        m->caution[k] = "one document in all: nothing says whether the overall gap is clear of 0";
    else if (b->se > 0 && fabs(b->mean) < CAUTION * b->se) {
        char text[160];
        snprintf(text, sizeof text,
                 "the overall gap is only %.1f standard errors from 0: believe Fieller's interval of a "
                 "profile rather than the delta method's",
                 fabs(b->mean) / b->se);
        m->caution[k] = lg_arena_copy(&m->profile->gap->arena, text, strlen(text));
        if (!m->caution[k]) return lg_fail_memory(error);
    }
    return LG_OK;
}

static void fill_side(maker *m, size_t k, size_t i) {
    const lg_gap_row *row = gap_at(m, k, i);
    lg_profile_side *s = &m->sides[k * m->n_groups + i];
    *s = (lg_profile_side){.model_a = row->model_a,
                           .model_b = row->model_b,
                           .loss_a = row->loss_a,
                           .loss_b = row->loss_b,
                           .gap = row->gap,
                           .se = row->se,
                           .df = row->df,
                           .low = row->low,
                           .high = row->high,
                           .p = row->p,
                           .profile = no_value,
                           .note = row->note};
    if (m->why_not[k]) {
        if (row->tokens) s->note = m->why_not[k];
        return;
    }
    const group *g = group_at(m, i);
    bool all = g->tokens == group_at(m, 0)->tokens;
    if (!g->tokens) return;
    if (all && g->grouping) s->note = "all tokens are in this group: its profile is 1 by definition";
    else if (all) s->note = m->caution[k] ? m->caution[k] : row->note;
    else if (!s->note) s->note = m->caution[k];
    if (all) {
        s->profile.value = 1;
        return;
    }
    lg_ratio r;
    lg_ratio_compute(&m->bases[k], cells_at(m, k, i), g->documents, is_constant(m, k, i), &r);
    s->profile = value_of(&r);
}

/* The difference of the pair's profile and that of side K. */
static lg_profile_value compare(const maker *m, size_t k, size_t i) {
    const group *g = group_at(m, i);
    if (m->why_not[0] || m->why_not[k] || !g->tokens) return no_value;
    lg_profile_value v = no_value;
    v.value = 0;
    if (g->tokens == group_at(m, 0)->tokens) return v;
    lg_ratio_side x = {&m->bases[0], cells_at(m, 0, i), is_constant(m, 0, i)},
                  y = {&m->bases[k], cells_at(m, k, i), is_constant(m, k, i)};
    lg_ratio r;
    lg_ratio_compare(&x, &y, g->documents, m->cross[k], &r);
    return value_of(&r);
}

/* ---- by resamples ---- */

/* Percentiles of VALUES [replicates], which are reordered, into V. */
static void put_percentiles(const maker *m, double *values, lg_profile_value *v) {
    lg_bootstrap_interval r = lg_bootstrap_percentile(values, m->draws.replicates);
    v->bootstrap_low = r.low;
    v->bootstrap_high = r.high;
    v->replicates = r.used;
}

/* Whether group I takes part in agreements. */
static bool agrees(const maker *m, size_t k, size_t i) {
    const group *g = group_at(m, i);
    return g->grouping && g->documents >= 2 && !m->why_not[0] && !m->why_not[k];
}

static void add_moments(double *at, size_t stride, double w, double x, double y) {
    const double terms[MOMENTS] = {w, w * x, w * y, w * x * x, w * x * y, w * y * y};
    for (size_t j = 0; j < MOMENTS; j++) at[j * stride] += terms[j];
}

static double *moments_of(const maker *m, size_t k, size_t way) {
    return m->moments + ((k - 1) * m->c->n_groupings + way) * MOMENTS * m->draws.replicates;
}

/* Ratios of group I from its resampled MEANS [n_sides], each [replicates]; they become the ratios. SCRATCH
   [replicates]. */
static void resample_group(maker *m, size_t i, double *const *means, double *scratch) {
    size_t replicates = m->draws.replicates;
    const group *g = group_at(m, i);
    if (g->documents < 2 || g->tokens == group_at(m, 0)->tokens) return; /* no interval of any kind */
    for (size_t k = 0; k < m->n_sides; k++) {
        if (m->why_not[k] || !m->one_sided[k]) continue;
        for (size_t r = 0; r < replicates; r++) means[k][r] /= m->totals[k * replicates + r];
        memcpy(scratch, means[k], replicates * sizeof *scratch);
        put_percentiles(m, scratch, &m->sides[k * m->n_groups + i].profile);
    }
    for (size_t k = 1; k < m->n_sides && m->one_sided[0]; k++) {
        if (!agrees(m, k, i) || !m->one_sided[k]) continue;
        for (size_t r = 0; r < replicates; r++) scratch[r] = means[0][r] - means[k][r];
        put_percentiles(m, scratch, &m->profile->rows[(k - 1) * m->n_groups + i].difference);
        double *at = moments_of(m, k, g->grouping);
        for (size_t r = 0; r < replicates; r++)
            if (!isnan(means[0][r]) && !isnan(means[k][r]))
                add_moments(at + r, replicates, (double)g->tokens, means[0][r], means[k][r]);
    }
}

static lg_status resample_totals(maker *m, lg_error *error) {
    const group *total = group_at(m, 0);
    size_t replicates = m->draws.replicates;
    for (size_t k = 0; k < m->n_sides; k++) {
        lg_bootstrap_group all = {cells_at(m, k, 0), total->documents};
        double *means = m->totals + k * replicates;
        lg_status status = lg_bootstrap_run(&m->draws, &all, 1, means, error);
        if (status) return status;
        m->one_sided[k] = true;
        for (size_t r = 0; r < replicates; r++) m->one_sided[k] &= means[r] * m->bases[k].mean > 0;
    }
    return LG_OK;
}

static lg_status resample(maker *m, lg_error *error) {
    size_t replicates = m->draws.replicates, batch = BATCH / replicates / m->n_sides + 1, size;
    if (batch > m->n_groups) batch = m->n_groups;
    bool fits = lg_multiply(batch * m->n_sides, replicates, &size);
    double *means = fits ? lg_alloc(size, sizeof *means) : NULL,
           *scratch = lg_alloc(replicates, sizeof *scratch), **own = lg_alloc(m->n_sides, sizeof *own);
    lg_bootstrap_group *groups = lg_alloc(batch, sizeof *groups);
    lg_status status = means && scratch && groups && own ? resample_totals(m, error) : lg_fail_memory(error);
    for (size_t first = 0, n; first < m->n_groups && !status; first += n) {
        n = m->n_groups - first < batch ? m->n_groups - first : batch;
        for (size_t k = 0; k < m->n_sides && !status; k++) {
            for (size_t i = 0; i < n; i++)
                groups[i] =
                    (lg_bootstrap_group){cells_at(m, k, first + i), group_at(m, first + i)->documents};
            status = lg_bootstrap_run(&m->draws, groups, n, means + k * batch * replicates, error);
        }
        for (size_t i = 0; i < n && !status; i++) {
            for (size_t k = 0; k < m->n_sides; k++) own[k] = means + (k * batch + i) * replicates;
            resample_group(m, first + i, own, scratch);
        }
    }
    free(means);
    free(scratch);
    free(own);
    free(groups);
    return status;
}

/* ---- agreement ---- */

/* Correlation and slope from MOMENTS, STRIDE apart. */
static void agree(const double *at, size_t stride, double *correlation, double *slope) {
    double w = at[0], x = at[stride] / w, y = at[2 * stride] / w, xx = at[3 * stride] / w - x * x,
           xy = at[4 * stride] / w - x * y, yy = at[5 * stride] / w - y * y;
    *slope = xx > 0 ? xy / xx : NAN;
    *correlation = xx > 0 && yy > 0 ? fmax(-1, fmin(1, xy / sqrt(xx * yy))) : NAN;
}

static void put_agreement(const maker *m, size_t k, size_t way, double *scratch, lg_profile_agreement *a) {
    double moments[MOMENTS] = {0};
    *a = (lg_profile_agreement){.model_a = gap_at(m, 0, 0)->model_a,
                                .model_b = gap_at(m, 0, 0)->model_b,
                                .reference_a = gap_at(m, k, 0)->model_a,
                                .reference_b = gap_at(m, k, 0)->model_b,
                                .grouping = m->c->groupings[way].columns,
                                .correlation = NAN,
                                .correlation_low = NAN,
                                .correlation_high = NAN,
                                .slope = NAN,
                                .slope_low = NAN,
                                .slope_high = NAN};
    for (size_t i = 0; i < m->n_groups; i++) {
        const group *g = group_at(m, i);
        if (g->grouping != way || !agrees(m, k, i)) continue;
        a->groups++;
        a->tokens += g->tokens;
        add_moments(moments, 1, (double)g->tokens, m->sides[i].profile.value,
                    m->sides[k * m->n_groups + i].profile.value);
    }
    if (m->why_not[0] || m->why_not[k]) a->note = m->why_not[0] ? m->why_not[0] : m->why_not[k];
    else if (a->groups < 3) a->note = "fewer than three groups with two documents";
    if (a->note) return;
    agree(moments, 1, &a->correlation, &a->slope);
    if (isnan(a->slope)) a->note = "the profile is the same in all groups";
    else if (m->draws.replicates && !(m->one_sided[0] && m->one_sided[k]))
        a->note = "resamples of an overall gap lie on both sides of 0: no resampled interval";
    if (!m->draws.replicates || a->note) return;
    size_t replicates = m->draws.replicates;
    const double *at = moments_of(m, k, way);
    double *slopes = scratch, *correlations = scratch + replicates;
    for (size_t r = 0; r < replicates; r++) agree(at + r, replicates, &correlations[r], &slopes[r]);
    lg_bootstrap_interval of_slope = lg_bootstrap_percentile(slopes, replicates),
                          of_correlation = lg_bootstrap_percentile(correlations, replicates);
    a->slope_low = of_slope.low;
    a->slope_high = of_slope.high;
    a->correlation_low = of_correlation.low;
    a->correlation_high = of_correlation.high;
    a->replicates = of_slope.used;
}

/* ---- all of it ---- */

static lg_status adjust(lg_profile_row *rows, size_t n, size_t offset, double *p, lg_error *error) {
    lg_status status = LG_OK;
    for (size_t begin = 0, end; begin < n && !status; begin = end) {
        for (end = begin; end < n && rows[end].grouping == rows[begin].grouping;) end++;
        for (size_t i = begin; i < end; i++) p[i] = *(double *)((char *)&rows[i] + offset);
        status = lg_adjust_bh(p + begin, end - begin, error);
        for (size_t i = begin; i < end; i++) *(double *)((char *)&rows[i] + offset) = p[i];
    }
    return status;
}

static lg_status finish_rows(maker *m, lg_error *error) {
    static const size_t at[] = {offsetof(lg_profile_row, pair.profile.p_bh),
                                offsetof(lg_profile_row, reference.profile.p_bh),
                                offsetof(lg_profile_row, difference.p_bh)};
    lg_profile *profile = m->profile;
    size_t n = m->n_groups, blocks = profile->n_rows / n;
    bool failed = false;
    static const char no_resamples[] =
        "resamples of the overall gap lie on both sides of 0: no resampled interval";
    for (size_t k = 0; k < m->n_sides && m->draws.replicates; k++) {
        if (m->why_not[k] || m->one_sided[k]) continue;
        for (size_t i = 0; i < n; i++) {
            lg_profile_side *s = &m->sides[k * n + i];
            if (!isnan(s->profile.se))
                s->note = profile_join(&profile->gap->arena, s->note, no_resamples, &failed);
        }
    }
    double *p = lg_alloc(n, sizeof *p);
    if (!p || failed) {
        free(p);
        return lg_fail_memory(error);
    }
    lg_status status = LG_OK;
    for (size_t block = 0; block < blocks && !status; block++) {
        lg_profile_row *rows = profile->rows + block * n;
        for (size_t i = 0; i < n; i++) {
            rows[i].pair = m->sides[i];
            if (m->n_sides > 1) rows[i].reference = m->sides[(block + 1) * n + i];
        }
        for (size_t t = 0; t < sizeof at / sizeof *at && !status; t++)
            status = adjust(rows, n, at[t], p, error);
    }
    free(p);
    return status;
}

static lg_status open_maker(maker *m, lg_error *error) {
    size_t n_docs = m->c->data->n_docs, replicates = m->options->bootstrap, n, size, moments;
    const group *total = group_at(m, 0);
    size_t *population = lg_alloc(total->documents, sizeof *population);
    m->draws =
        (lg_bootstrap){population, total->documents, n_docs, replicates, m->options->seed, m->c->threads};
    m->bases = calloc(m->n_sides, sizeof *m->bases);
    m->cross = calloc(m->n_sides, sizeof *m->cross);
    m->why_not = calloc(m->n_sides, sizeof *m->why_not);
    m->caution = calloc(m->n_sides, sizeof *m->caution);
    m->one_sided = calloc(m->n_sides, sizeof *m->one_sided);
    m->influence = lg_multiply(n_docs + 1, m->n_sides, &n) ? calloc(n, sizeof *m->influence) : NULL;
    m->sides = lg_multiply(m->n_groups, m->n_sides, &n) ? lg_alloc(n, sizeof *m->sides) : NULL;
    m->totals = lg_multiply(replicates, m->n_sides, &size) ? lg_alloc(size, sizeof *m->totals) : NULL;
    m->moments = lg_multiply(replicates * MOMENTS, (m->n_sides - 1) * m->c->n_groupings, &moments)
                     ? calloc(moments + 1, sizeof *m->moments)
                     : NULL;
    if (!population || !m->bases || !m->cross || !m->why_not || !m->caution || !m->one_sided ||
        !m->influence || !m->sides || !m->totals || !m->moments)
        return lg_fail_memory(error);
    for (size_t d = 0; d < total->documents; d++) population[d] = cells_at(m, 0, 0)[d].document;
    return LG_OK;
}

static void close_maker(maker *m) {
    free((void *)(uintptr_t)m->draws.population);
    free(m->bases);
    free(m->cross);
    free(m->why_not);
    free(m->caution);
    free(m->one_sided);
    free(m->influence);
    free(m->sides);
    free(m->totals);
    free(m->moments);
}

static lg_status make_agreements(maker *m, lg_error *error) {
    lg_profile *profile = m->profile;
    size_t n = (m->n_sides - 1) * (m->c->n_groupings - 1);
    double *scratch = lg_alloc(2 * m->draws.replicates, sizeof *scratch);
    profile->agreements = lg_alloc(n, sizeof *profile->agreements);
    lg_status status = scratch && profile->agreements ? LG_OK : lg_fail_memory(error);
    for (size_t k = 1; k < m->n_sides && !status; k++)
        for (size_t g = 1; g < m->c->n_groupings; g++)
            put_agreement(m, k, g, scratch, &profile->agreements[profile->n_agreements++]);
    free(scratch);
    return status;
}

lg_status profile_make_rows(lg_profile *profile, collector *c, const lg_profile_options *options,
                            lg_error *error) {
    maker m = {.profile = profile,
               .c = c,
               .options = options,
               .n_groups = c->n_groups,
               .n_sides = 1 + options->n_references};
    size_t n = m.n_groups, blocks = options->n_references ? options->n_references : 1, rows;
    lg_status status = open_maker(&m, error);
    if (!status &&
        (!lg_multiply(n, blocks, &rows) || !(profile->rows = lg_alloc(rows, sizeof *profile->rows))))
        status = lg_fail_memory(error);
    for (size_t k = 0; k < m.n_sides && !status; k++) status = open_base(&m, k, error);
    if (status) goto done;
    for (size_t k = 0; k < m.n_sides; k++)
        for (size_t i = 0; i < n; i++) fill_side(&m, k, i);
    profile->n_rows = rows;
    for (size_t i = 0; i < rows; i++) {
        const lg_gap_row *row = gap_at(&m, 0, i % n);
        profile->rows[i] = (lg_profile_row){.level = row->level,
                                            .grouping = row->grouping,
                                            .tokens = row->tokens,
                                            .documents = row->documents,
                                            .bytes = row->bytes,
                                            .difference = no_value,
                                            .reference = {.loss_a = NAN,
                                                          .loss_b = NAN,
                                                          .gap = NAN,
                                                          .se = NAN,
                                                          .df = NAN,
                                                          .low = NAN,
                                                          .high = NAN,
                                                          .p = NAN,
                                                          .profile = no_value},
                                            .seeds = {.above = -1}};
        if (m.n_sides > 1) profile->rows[i].difference = compare(&m, 1 + i / n, i % n);
    }
    if (options->bootstrap) status = resample(&m, error);
    if (!status) status = finish_rows(&m, error);
    if (!status && m.n_sides > 1) status = make_agreements(&m, error);
done:
    close_maker(&m);
    return status;
}
