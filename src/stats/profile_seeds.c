/* The noise floor: how far losses of several seeds of one architecture lie apart, and whether the gap between
   the architectures exceeds that.

   With n_A files of A and n_B of B, whose mean losses in a group are x_i and y_j:

       gap      = mean x - mean y
       se       = sqrt(s_A^2 / n_A + s_B^2 / n_B), Welch's degrees of freedom; where one side has one file,
   the other's spread is taken for its own: s sqrt(1 / n_A + 1 / n_B) with n - 1 floor    = sqrt(2) s, s^2
   pooled: the root mean square gap between two files of one architecture both     = sqrt(se^2 + CR1 error of
   the gap over documents, ^2), Satterthwaite's degrees of freedom

   The last counts what depends on both seed and document twice, so it is rather too long than too short. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "stats/profile_internal.h"

typedef struct maker {
    lg_profile *profile;
    collector *c;
    const lg_profile_options *options;
    size_t n_a, n_b;
    double *x, *y;  /* [n_a], [n_b] mean losses in the group at hand */
    lg_cell *cells; /* scratch [n_docs] */
} maker;

/* The pair (A_i, B) or (A, B_j). */
static size_t pair_of_a(const maker *m, size_t i) {
    return i ? m->c->n_ordered + i - 1 : 0;
}
static size_t pair_of_b(const maker *m, size_t j) {
    return j ? m->c->n_ordered + m->options->n_seeds_a + j - 1 : 0;
}

static double mean_of(const double *values, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += values[i];
    return sum / (double)n;
}

static double variance_of(const double *values, size_t n) {
    double mean = mean_of(values, n), squares = 0;
    for (size_t i = 0; i < n; i++) squares += (values[i] - mean) * (values[i] - mean);
    return n > 1 ? squares / (double)(n - 1) : NAN;
}

static double largest_of(const double *values, size_t n) {
    double low = values[0], high = values[0];
    for (size_t i = 1; i < n; i++) {
        low = fmin(low, values[i]);
        high = fmax(high, values[i]);
    }
    return high - low;
}

/* Satterthwaite: the degrees of freedom of V + W, estimated with F and G. */
static double joint_df(double v, double f, double w, double g) {
    return v + w > 0 ? (v + w) * (v + w) / (v * v / f + w * w / g) : f + g;
}

static void put_interval(double estimate, double se, double df, double *low, double *high) {
    *low = estimate - lg_t_quantile(0.975, df) * se;
    *high = estimate + lg_t_quantile(0.975, df) * se;
}

/* Error over documents of the mean of the N cells whose sums are COMBINED from the pairs' with WEIGHTS
 * [n_pairs]. */
static lg_status cluster(maker *m, const group *g, size_t index, const double *weights, lg_cluster *r,
                         lg_error *error) {
    collector *c = m->c;
    for (size_t i = 0; i < g->documents; i++) {
        m->cells[i] = gap_cells(c, 0, index)[i];
        m->cells[i].sum = 0;
    }
    for (size_t p = 0; p < c->n_pairs; p++) {
        if (weights[p] == 0) continue;
        const lg_cell *from = gap_cells(c, p, index);
        for (size_t i = 0; i < g->documents; i++) m->cells[i].sum += weights[p] * from[i].sum;
    }
    return lg_cluster_compute(m->cells, g->documents, false, r, error);
}

static void put_spread(const maker *m, lg_profile_seeds *s) {
    double n_a = (double)m->n_a, n_b = (double)m->n_b, v_a = variance_of(m->x, m->n_a),
           v_b = variance_of(m->y, m->n_b);
    double pooled =
        ((m->n_a > 1 ? (n_a - 1) * v_a : 0) + (m->n_b > 1 ? (n_b - 1) * v_b : 0)) / (n_a + n_b - 2);
    s->gap = mean_of(m->x, m->n_a) - mean_of(m->y, m->n_b);
    s->sd_a = sqrt(v_a);
    s->sd_b = sqrt(v_b);
    if (m->n_a > 1 && m->n_b > 1) {
        s->se = sqrt(v_a / n_a + v_b / n_b);
        s->df = joint_df(v_a / n_a, n_a - 1, v_b / n_b, n_b - 1);
    } else {
        s->se = sqrt(pooled * (1 / n_a + 1 / n_b));
        s->df = n_a + n_b - 2;
        s->note = m->n_a > 1 ? "one file of B: its seeds are taken to spread like A's"
                             : "one file of A: its seeds are taken to spread like B's";
    }
    put_interval(s->gap, s->se, s->df, &s->low, &s->high);
    s->floor = sqrt(2 * pooled);
    s->largest = fmax(largest_of(m->x, m->n_a), largest_of(m->y, m->n_b));
    if (!(s->floor > 0)) return;
    s->ratio = fabs(s->gap) / s->floor;
    s->above = fabs(s->gap) > s->floor && (s->low > 0 || s->high < 0);
}

static lg_status put_seeds(maker *m, size_t i, double *weights, lg_profile_seeds *s, lg_error *error) {
    collector *c = m->c;
    size_t index = c->order[i];
    const group *g = &c->groups[index];
    *s = (lg_profile_seeds){.seeds_a = m->n_a,
                            .seeds_b = m->n_b,
                            .gap = NAN,
                            .sd_a = NAN,
                            .sd_b = NAN,
                            .se = NAN,
                            .df = NAN,
                            .low = NAN,
                            .high = NAN,
                            .document_se = NAN,
                            .both_se = NAN,
                            .both_low = NAN,
                            .both_high = NAN,
                            .floor = NAN,
                            .largest = NAN,
                            .ratio = NAN,
                            .above = -1,
                            .note = "no tokens"};
    if (!g->tokens) return LG_OK;
    s->note = NULL;
    const sums *own = &c->sums[index * c->n_pairs];
    for (size_t k = 0; k < m->n_a; k++) m->x[k] = own[pair_of_a(m, k)].a / (double)g->tokens;
    for (size_t k = 0; k < m->n_b; k++) m->y[k] = own[pair_of_b(m, k)].b / (double)g->tokens;
    put_spread(m, s);
    bool failed = false;
    if (!(s->floor > 0))
        s->note = profile_join(&c->gap->arena, s->note, "no spread between seeds: no floor", &failed);
    if (g->documents < 2)
        s->note = profile_join(&c->gap->arena, s->note, "one document: no error over documents", &failed);
    if (failed) return lg_fail_memory(error);
    memset(weights, 0, c->n_pairs * sizeof *weights);
    for (size_t k = 0; k < m->n_a; k++) weights[pair_of_a(m, k)] += 1 / (double)m->n_a;
    for (size_t k = 0; k < m->n_b; k++) weights[pair_of_b(m, k)] += 1 / (double)m->n_b;
    weights[0] -= 1; /* mean of (A_i, B), and of (A, B_j), less (A, B): mean of A's less mean of B's */
    lg_cluster r;
    lg_status status = cluster(m, g, index, weights, &r, error);
    if (status || g->documents < 2) return status;
    s->document_se = r.se;
    s->both_se = sqrt(s->se * s->se + r.se * r.se);
    double half = hypot(s->high - s->gap, r.high - r.mean);
    s->both_low = s->gap - half;
    s->both_high = s->gap + half;
    return LG_OK;
}

/* The gap between two files of one side: X's pair less Y's. */
static lg_status add_gap(maker *m, size_t i, const char *side, size_t x, size_t y, size_t model_x,
                         size_t model_y, double *weights, lg_error *error) {
    lg_profile *profile = m->profile;
    collector *c = m->c;
    size_t index = c->order[i];
    const group *g = &c->groups[index];
    if (!lg_reserve(&profile->seed_gaps, &profile->seed_gaps_room, profile->n_seed_gaps + 1,
                    sizeof *profile->seed_gaps))
        return lg_fail_memory(error);
    memset(weights, 0, c->n_pairs * sizeof *weights);
    weights[x] = 1;
    weights[y] = -1;
    lg_cluster r;
    lg_status status = cluster(m, g, index, weights, &r, error);
    profile->seed_gaps[profile->n_seed_gaps++] =
        (lg_profile_seed_gap){.side = side,
                              .model_a = c->gap->about.models[model_x],
                              .model_b = c->gap->about.models[model_y],
                              .level = profile->rows[i].level,
                              .grouping = profile->rows[i].grouping,
                              .tokens = g->tokens,
                              .documents = g->documents,
                              .gap = r.mean,
                              .se = r.se,
                              .df = r.df,
                              .low = r.low,
                              .high = r.high};
    return status;
}

static lg_status add_gaps(maker *m, size_t i, double *weights, lg_error *error) {
    const lg_profile_options *o = m->options;
    lg_status status = LG_OK;
    for (size_t k = 0; k < m->n_a && !status; k++)
        for (size_t l = k + 1; l < m->n_a && !status; l++)
            status = add_gap(m, i, "A", pair_of_a(m, k), pair_of_a(m, l), k ? o->seeds_a[k - 1] : o->pair.a,
                             o->seeds_a[l - 1], weights, error);
    for (size_t k = 0; k < m->n_b && !status; k++) /* loss(B_k) - loss(B_l) = (A, B_l) - (A, B_k) */
        for (size_t l = k + 1; l < m->n_b && !status; l++)
            status = add_gap(m, i, "B", pair_of_b(m, l), pair_of_b(m, k), k ? o->seeds_b[k - 1] : o->pair.b,
                             o->seeds_b[l - 1], weights, error);
    return status;
}

lg_status profile_add_seeds(lg_profile *profile, collector *c, const lg_profile_options *options,
                            lg_error *error) {
    maker m = {.profile = profile,
               .c = c,
               .options = options,
               .n_a = 1 + options->n_seeds_a,
               .n_b = 1 + options->n_seeds_b};
    double *weights = lg_alloc(c->n_pairs, sizeof *weights);
    m.x = lg_alloc(m.n_a, sizeof *m.x);
    m.y = lg_alloc(m.n_b, sizeof *m.y);
    m.cells = lg_alloc(c->data->n_docs, sizeof *m.cells);
    lg_status status = weights && m.x && m.y && m.cells ? LG_OK : lg_fail_memory(error);
    for (size_t i = 0; i < c->n_groups && !status; i++) {
        lg_profile_seeds seeds;
        status = put_seeds(&m, i, weights, &seeds, error);
        for (size_t k = i; k < profile->n_rows && !status; k += c->n_groups) profile->rows[k].seeds = seeds;
        if (!status) status = add_gaps(&m, i, weights, error);
    }
    free(weights);
    free(m.x);
    free(m.y);
    free(m.cells);
    return status;
}
