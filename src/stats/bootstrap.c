/* The bootstrap over documents: as many documents as there are, drawn with replacement, and each group's mean
   over the tokens of those drawn. All groups see the same resamples, so that differences between groups are
   resampled too.

   Draw i of resample r is a function of (seed, r, i) alone, and resamples are independent: threads share them
   out, and the numbers stay the same. LANES resamples go side by side through the cells, a document's weights
   in one row. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "stats/cluster.h"
#include "base/philox.h"

enum { LANES = 8 };

void lg_bootstrap_draw(const lg_bootstrap *b, size_t replicate, double *weights, size_t stride) {
    size_t n = b->n_population;
    for (size_t i = 0; i < n; i++) weights[b->population[i] * stride] = 0;
    for (size_t i = 0; i < n; i += 2) {
        uint32_t counter[4] = {(uint32_t)(i / 2), (uint32_t)((uint64_t)i / 2 >> 32), (uint32_t)replicate,
                               (uint32_t)((uint64_t)replicate >> 32)},
                 bits[4];
        lg_philox(counter, b->seed, bits);
        for (size_t k = 0; k < 2 && i + k < n; k++) {
            uint64_t random = (uint64_t)bits[2 * k] << 32 | bits[2 * k + 1];
            weights[b->population[(size_t)((unsigned __int128)random * n >> 64)] * stride]++;
        }
    }
}

typedef double lanes __attribute__((vector_size(LANES * sizeof(double)), aligned(sizeof(double))));

static void run_block(const lg_bootstrap *b, const lg_bootstrap_group *groups, size_t n_groups, size_t first,
                      double *weights, double *means) {
    size_t n = b->replicates - first < LANES ? b->replicates - first : LANES;
    memset(weights, 0, b->n_docs * LANES * sizeof *weights);
    for (size_t r = 0; r < n; r++) lg_bootstrap_draw(b, first + r, weights + r, LANES);
    for (size_t g = 0; g < n_groups; g++) {
        lanes sums = {0}, tokens = {0};
        for (size_t i = 0; i < groups[g].n; i++) {
            const lg_cell *cell = &groups[g].cells[i];
            lanes w;
            memcpy(&w, weights + cell->document * LANES, sizeof w);
            sums += w * cell->sum;
            tokens += w * cell->tokens;
        }
        for (size_t r = 0; r < n; r++)
            means[g * b->replicates + first + r] = tokens[r] > 0 ? sums[r] / tokens[r] : NAN;
    }
}

lg_status lg_bootstrap_run(const lg_bootstrap *b, const lg_bootstrap_group *groups, size_t n_groups,
                           double *means, lg_error *error) {
    size_t row, bytes, blocks = (b->replicates + LANES - 1) / LANES;
    unsigned threads = b->threads < blocks ? b->threads : (unsigned)blocks;
    if (!blocks) return LG_OK;
    if (!lg_multiply(b->n_docs + 1, LANES, &row) || !lg_multiply(row, sizeof(double), &bytes))
        return lg_fail_memory(error);
    double *weights = lg_alloc(bytes, threads);
    if (!weights) return lg_fail_memory(error);
    if (threads == 1) { /* without a team, whose making cannot fail softly */
        for (size_t k = 0; k < blocks; k++) run_block(b, groups, n_groups, k * LANES, weights, means);
    } else {
#pragma omp parallel for schedule(static) num_threads((int)threads)
        for (unsigned t = 0; t < threads; t++)
            for (size_t k = t; k < blocks; k += threads)
                run_block(b, groups, n_groups, k * LANES, weights + t * row, means);
    }
    free(weights);
    return LG_OK;
}

/* ---- what the resamples say ---- */

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

size_t lg_sort_values(double *values, size_t n) {
    size_t m = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(values[i])) values[m++] = values[i];
    qsort(values, m, sizeof *values, compare);
    return m;
}

double lg_quantile(const double *sorted, size_t n, double q) {
    double at = (double)(n - 1) * q;
    size_t below = (size_t)at;
    if (below + 1 >= n) return sorted[n - 1];
    return sorted[below] + (sorted[below + 1] - sorted[below]) * (at - (double)below);
}

lg_bootstrap_interval lg_bootstrap_percentile(double *values, size_t n) {
    size_t used = lg_sort_values(values, n);
    if (!used) return (lg_bootstrap_interval){NAN, NAN, NAN, 0};
    double mean = 0, squares = 0;
    for (size_t i = 0; i < used; i++) mean += values[i];
    mean /= (double)used;
    for (size_t i = 0; i < used; i++) squares += (values[i] - mean) * (values[i] - mean);
    return (lg_bootstrap_interval){lg_quantile(values, used, 0.025), lg_quantile(values, used, 0.975),
                                   sqrt(squares / (double)used), used};
}
