/* Ratios of means that share documents.

   A group has the mean m_g = sum S_dg / N_g, all tokens m = sum S_d / N, and their ratio is r = m_g / m. To
   first order document d moves it by

       u_d = (g_d - r T_d) / m,   g_d = (S_dg - m_g n_dg) / N_g,   T_d = (S_d - m n_d) / N,

   the delta method; sum of u_d is 0, and the variance of r is G / (G - 1) sum u_d^2, where G counts the
   documents that have tokens of the group (those without say nothing of m_g; for a group of two documents
   among a thousand, the uncertainty is that of two). The difference of the ratios of two pairs of models
   moves by the difference of their u_d: the documents are the same, so what both pairs find hard about a
   document falls out.

   Fieller's interval holds the ratios q for which m_g - q m, which is linear, is within t standard errors of
   0: the roots of (m^2 - t^2 V_TT) q^2 - 2 (m_g m - t^2 V_gT) q + m_g^2 - t^2 V_gg. It does not need m to be
   far from 0, only clear of it.

   Documents outside of the group move r through m alone; their sums of squares are those of all documents
   less those of the group's. */
#include "stats/ratio.h"

#include <math.h>

#include "lossgap/gap.h"

/* What the document of CELL adds to a mean. */
static double influence_of(const lg_cell *cell, double mean, double tokens, bool constant) {
    return constant ? 0 : cell->tokens * (cell->sum / cell->tokens - mean) / tokens;
}

static double mean_of(const lg_cell *cells, size_t n, double *tokens) {
    double sum = 0;
    *tokens = 0;
    for (size_t i = 0; i < n; i++) {
        sum += cells[i].sum;
        *tokens += cells[i].tokens;
    }
    return n ? sum / *tokens : NAN;
}

void lg_ratio_base_init(lg_ratio_base *b, const lg_cell *cells, size_t n, bool constant, double *influence,
                        size_t n_docs) {
    *b = (lg_ratio_base){.cells = cells, .n = n, .constant = constant, .influence = influence};
    b->se = b->low = b->high = NAN;
    double tokens;
    b->mean = mean_of(cells, n, &tokens);
    for (size_t d = 0; d < n_docs; d++) influence[d] = 0;
    for (size_t i = 0; i < n; i++) {
        double own = influence_of(&cells[i], b->mean, tokens, constant);
        influence[cells[i].document] = own;
        b->squares += own * own;
    }
    if (n < 2) return;
    double df = (double)n - 1, half;
    b->se = sqrt((double)n / df * b->squares);
    half = lg_t_quantile(0.975, df) * b->se;
    b->low = b->mean - half;
    b->high = b->mean + half;
}

bool lg_ratio_base_is_clear(const lg_ratio_base *b) {
    if (!(fabs(b->mean) > 0)) return false; /* NAN, too */
    return isnan(b->se) || b->low > 0 || b->high < 0;
}

static void finish(lg_ratio *r, size_t n, double squares, double null) {
    r->df = (double)n - 1;
    r->se = sqrt((double)n / r->df * fmax(squares, 0));
    double half = lg_t_quantile(0.975, r->df) * r->se;
    r->low = r->value - half;
    r->high = r->value + half;
    if (!(r->se > 0)) return;
    r->t = (r->value - null) / r->se;
    r->p = fmin(1, 2 * lg_t_cdf(-fabs(r->t), r->df));
}

/* GG, GT, TT: sums of g_d^2, g_d T_d, T_d^2 over all documents. */
static void fieller(const lg_ratio_base *b, double mean, size_t n, double gg, double gt, lg_ratio *r) {
    double t = lg_t_quantile(0.975, r->df), factor = t * t * (double)n / r->df;
    double a = b->mean * b->mean - factor * b->squares, half_b = mean * b->mean - factor * gt,
           c = mean * mean - factor * gg, root = half_b * half_b - a * c;
    if (!(a > 0))
        return; /* with so few documents the overall gap is not clear of 0: every ratio is possible */
    root = sqrt(fmax(root, 0));
    r->fieller_low = (half_b - root) / a;
    r->fieller_high = (half_b + root) / a;
}

static const lg_ratio none = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};

void lg_ratio_compute(const lg_ratio_base *b, const lg_cell *cells, size_t n, bool constant, lg_ratio *r) {
    *r = none;
    double tokens, mean = mean_of(cells, n, &tokens);
    if (!n) return;
    r->value = mean / b->mean;
    if (n < 2) return;
    double inside = 0, shared = 0, gg = 0, gt = 0;
    for (size_t i = 0; i < n; i++) {
        double g = influence_of(&cells[i], mean, tokens, constant), t = b->influence[cells[i].document];
        inside += (g - r->value * t) * (g - r->value * t);
        shared += t * t;
        gg += g * g;
        gt += g * t;
    }
    double outside = n == b->n ? 0 : fmax(b->squares - shared, 0);
    finish(r, n, (inside + r->value * r->value * outside) / (b->mean * b->mean), 1);
    fieller(b, mean, n, gg, gt, r);
}

double lg_ratio_cross(const lg_ratio_base *x, const lg_ratio_base *y, size_t n_docs) {
    double sum = 0;
    for (size_t d = 0; d < n_docs; d++) sum += x->influence[d] * y->influence[d];
    return sum;
}

void lg_ratio_compare(const lg_ratio_side *x, const lg_ratio_side *y, size_t n, double cross, lg_ratio *r) {
    *r = none;
    double tokens, mean_x = mean_of(x->cells, n, &tokens), mean_y = mean_of(y->cells, n, &tokens);
    if (!n) return;
    double ratio_x = mean_x / x->base->mean, ratio_y = mean_y / y->base->mean;
    r->value = ratio_x - ratio_y;
    if (n < 2) return;
    double inside = 0, xx = 0, xy = 0, yy = 0;
    for (size_t i = 0; i < n; i++) {
        size_t d = x->cells[i].document;
        double t_x = x->base->influence[d], t_y = y->base->influence[d],
               u = (influence_of(&x->cells[i], mean_x, tokens, x->constant) - ratio_x * t_x) / x->base->mean,
               v = (influence_of(&y->cells[i], mean_y, tokens, y->constant) - ratio_y * t_y) / y->base->mean;
        inside += (u - v) * (u - v);
        xx += t_x * t_x;
        xy += t_x * t_y;
        yy += t_y * t_y;
    }
    double c_x = ratio_x / x->base->mean, c_y = ratio_y / y->base->mean, outside = 0;
    if (n < x->base->n)
        outside = c_x * c_x * (x->base->squares - xx) - 2 * c_x * c_y * (cross - xy) +
                  c_y * c_y * (y->base->squares - yy);
    finish(r, n, inside + fmax(outside, 0), 0);
}
