/* Means and shares of probe items, clustered by group, and Wilson's interval. */
#include <math.h>
#include <stdlib.h>

#include "stats/probe_internal.h"

/* Wilson (1927): the proportions p for which |share - p| <= z sqrt(p (1 - p) / n). */
void lg_wilson_interval(double successes, double n, double *low, double *high) {
    const double z = 1.959963984540054, square = z * z;
    double share = successes / n;
    double centre = share + square / (2 * n);
    double half = z * sqrt(share * (1 - share) / n + square / (4 * n * n));
    double scale = 1 + square / n;
    *low = successes <= 0 ? 0 : fmax(0, (centre - half) / scale);
    *high = successes >= n ? 1 : fmin(1, (centre + half) / scale);
}

lg_probe_mean lg_probe_no_mean(void) {
    return (lg_probe_mean){NAN, NAN, NAN, NAN, NAN, NAN, NAN};
}

lg_probe_share lg_probe_no_share(void) {
    return (lg_probe_share){0, NAN, NAN, lg_probe_no_mean(), NAN, NAN};
}

/* Sums by group into w->cells, numbered in order of first appearance; how many. */
static size_t collect(const probe_work *w, const size_t *who, const double *y, size_t n) {
    size_t groups = 0;
    for (size_t k = 0; k < n; k++) {
        size_t *slot = &w->slot[w->group[who[k]]];
        if (*slot == SIZE_MAX) {
            *slot = groups;
            w->cells[groups] = (lg_cell){.document = groups};
            groups++;
        }
        w->cells[*slot].tokens++;
        if (y) w->cells[*slot].sum += y[k];
    }
    for (size_t k = 0; k < n; k++) w->slot[w->group[who[k]]] = SIZE_MAX;
    return groups;
}

size_t lg_probe_groups(const probe_work *w, const size_t *who, size_t n) {
    return collect(w, who, NULL, n);
}

static bool is_constant(const double *y, size_t n) {
    for (size_t k = 1; k < n; k++)
        if (y[k] != y[0]) return false;
    return true;
}

lg_probe_mean lg_probe_mean_of(const probe_work *w, const size_t *who, const double *y, size_t n) {
    lg_probe_mean mean = lg_probe_no_mean();
    if (!n) return mean;
    size_t groups = collect(w, who, y, n);
    if (is_constant(y, n)) { /* whatever spread the sums showed would be rounding */
        mean.mean = y[0];
        if (groups > 1) {
            mean.se = 0;
            mean.df = (double)groups - 1;
            mean.low = mean.high = y[0];
        }
        return mean;
    }
    lg_contrast c;
    lg_contrast_part part = {w->cells, groups, 1};
    lg_contrast_compute(&part, 1, w->sums, groups, &c);
    return (lg_probe_mean){c.estimate, c.se, c.df, c.low, c.high, c.t, c.p};
}

lg_probe_share lg_probe_share_of(const probe_work *w, const size_t *who, const double *y,
                                 const double *chance, size_t n) {
    lg_probe_share share = lg_probe_no_share();
    if (!n) return share;
    double successes = 0, guessed = 0;
    share.items = n;
    for (size_t k = 0; k < n; k++) {
        successes += y[k];
        guessed += chance[k];
    }
    lg_wilson_interval(successes, (double)n, &share.wilson_low, &share.wilson_high);
    share.clustered = lg_probe_mean_of(w, who, y, n);
    if (share.clustered.se == 0)
        share.clustered.low = share.clustered.high = NAN; /* 3 of 3 are not certainty */
    share.chance = is_constant(chance, n) ? chance[0] : guessed / (double)n;

    /* against chance: the same with each item's own chance taken off */
    double *excess = w->excess;
    for (size_t k = 0; k < n; k++) excess[k] = y[k] - chance[k];
    lg_probe_mean off = lg_probe_mean_of(w, who, excess, n);
    share.clustered.t = off.t;
    share.clustered.p = off.p;
    size_t groups = collect(w, who, excess, n), above = 0, below = 0;
    for (size_t g = 0; g < groups; g++) {
        double own = w->cells[g].sum / w->cells[g].tokens;
        above += own > 1e-12; /* thirds and the like do not add up to the last bit */
        below += own < -1e-12;
    }
    share.p_sign = lg_sign_test(above, below);
    return share;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

double lg_probe_median(double *values, size_t n) {
    if (!n) return NAN;
    qsort(values, n, sizeof *values, by_size);
    double a = values[(n - 1) / 2], b = values[n / 2];
    return a == b ? a : a / 2 + b / 2;
}
