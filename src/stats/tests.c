/* Tests on paired differences, and adjustment for many of them. */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "stats/cluster.h"

enum { EXACT_MOST = 50 };

double lg_normal_tail(double z) {
    return erfc(z / M_SQRT2) / 2;
}

/* ---- Wilcoxon's signed ranks ---- */

static int by_size(const void *a, const void *b) {
    double x = fabs(*(const double *)a), y = fabs(*(const double *)b);
    return x < y ? -1 : x > y;
}

/* P(W <= at most) x 2^n is the number of subsets of the doubled ranks with a sum up to TWICE; over all of
 * them. */
static double exact_below(const unsigned *doubled, size_t n, size_t twice) {
    enum { MOST = EXACT_MOST * (EXACT_MOST + 1) };
    double ways[MOST + 1] = {1}; /* [sum of doubled ranks], scaled by 2^-i */
    size_t total = 0;
    for (size_t i = 0; i < n; i++) {
        total += doubled[i];
        for (size_t s = total + 1; s-- > 0;)
            ways[s] = (ways[s] + (s >= doubled[i] ? ways[s - doubled[i]] : 0)) / 2;
    }
    double p = 0;
    for (size_t s = 0; s <= twice && s <= total; s++) p += ways[s];
    return p;
}

lg_status lg_wilcoxon_test(const double *values, size_t n, lg_wilcoxon *result, lg_error *error) {
    *result = (lg_wilcoxon){.p = 1, .exact = true};
    double *d = lg_alloc(n, sizeof *d);
    if (!d) return lg_fail_memory(error);
    size_t m = 0, at = 0;
    for (size_t i = 0; i < n; i++)
        if (values[i] != 0) d[m++] = values[i];
    qsort(d, m, sizeof *d, by_size);
    unsigned doubled[EXACT_MOST];
    double ties = 0;
    for (size_t end; at < m; at = end) {
        for (end = at + 1; end < m && fabs(d[end]) == fabs(d[at]);) end++;
        double rank = (double)(at + 1 + end) / 2, same = (double)(end - at);
        ties += same * same * same - same;
        for (size_t i = at; i < end; i++) {
            if (i < EXACT_MOST) doubled[i] = (unsigned)(at + 1 + end);
            if (d[i] > 0) result->w_plus += rank;
        }
    }
    free(d);
    if (!m) return LG_OK;
    double size = (double)m, total = size * (size + 1) / 2,
           less = fmin(result->w_plus, total - result->w_plus);
    if (m <= EXACT_MOST) {
        result->p = fmin(1, 2 * exact_below(doubled, m, (size_t)(2 * less)));
    } else {
        double variance = size * (size + 1) * (2 * size + 1) / 24 - ties / 48;
        result->exact = false;
        result->p = fmin(1, 2 * lg_normal_tail(fmax(0, total / 2 - less - 0.5) / sqrt(variance)));
    }
    return LG_OK;
}

/* ---- signs ---- */

double lg_sign_test(size_t positive, size_t negative) {
    double n = (double)(positive + negative), less = (double)(positive < negative ? positive : negative);
    if (positive == negative) return 1;
    /* The likeliest of the terms summed is the last; the others are products of ratios below 1. */
    double term = 1, sum = 1;
    for (double k = less; k > 0 && term > 0; k--) {
        term *= k / (n - k + 1);
        sum += term;
    }
    if (n <= 1000) { /* C(n, less) / 2^n as a product: no logarithm to lose digits by */
        double last = 1, halves = n;
        for (double k = 1; k <= less; k++) {
            last *= (n - less + k) / k;
            for (; last > 1 && halves > 0; halves--) last /= 2;
        }
        return fmin(1, 2 * ldexp(last, (int)-halves) * sum);
    }
    return fmin(1, 2 * exp(lgamma(n + 1) - lgamma(less + 1) - lgamma(n - less + 1) - n * M_LN2) * sum);
}

static size_t count_flips(const double *values, size_t n, double sum, double least) {
    if (!n) return fabs(sum) >= least;
    return count_flips(values + 1, n - 1, sum + *values, least) +
           count_flips(values + 1, n - 1, sum - *values, least);
}

double lg_sign_flip_test(const double *values, size_t n) {
    if (!n || n > LG_SIGN_FLIP_MOST) return NAN;
    double sum = 0, size = 0;
    for (size_t i = 0; i < n; i++) {
        sum += values[i];
        size += fabs(values[i]);
    }
    /* Sums that are equal may differ by rounding. The sign of the first is kept: the other half mirrors this
     * one. */
    size_t count = count_flips(values + 1, n - 1, values[0], fabs(sum) - 1e-12 * size);
    return ldexp((double)count, (int)(1 - (int)n));
}

/* ---- many tests ---- */

typedef struct ranked {
    double p;
    size_t at;
} ranked;

static int by_p(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    if (x->p != y->p) return x->p < y->p ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

lg_status lg_adjust_bh(double *p, size_t n, lg_error *error) {
    ranked *order = lg_alloc(n, sizeof *order);
    if (!order) return lg_fail_memory(error);
    size_t m = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(p[i])) order[m++] = (ranked){p[i], i};
    qsort(order, m, sizeof *order, by_p);
    double least = 1;
    for (size_t i = m; i-- > 0;) {
        least = fmin(least, order[i].p * (double)m / (double)(i + 1));
        p[order[i].at] = least;
    }
    free(order);
    return LG_OK;
}
