/* The passes over the rows: the Gram matrix, then residuals and their products with the columns. Rows are cut
   into chunks at fixed places; each is summed alone and the sums are added in order, so that the results are
   the same for any number of threads. */
#ifndef LG_STATS_REGRESS_SUMS_H
#define LG_STATS_REGRESS_SUMS_H

#include "stats/dd.h"
#include "stats/regress_design.h"

/* Sums in double-double. */
typedef struct lg_sums {
    double *hi, *lo; /* [n] */
    size_t n;
} lg_sums;

static inline dd lg_sum_at(const lg_sums *sums, size_t i) {
    return (dd){sums->hi[i], sums->lo[i]};
}

bool lg_sums_create(lg_sums *sums, size_t n, bool low); /* LOW: with lo; false: no memory */
void lg_sums_clear(lg_sums *sums);
void lg_sums_free(lg_sums *sums);
/* Entries FIRST … FIRST + N - 1 of ALL as sums of their own. */
lg_status lg_sums_take(lg_sums *part, const lg_sums *all, size_t first, size_t n, lg_error *error);

/* Entry I += value + error, where lo may grow beyond a rest of hi. */
static inline void lg_sums_add(lg_sums *s, size_t i, double value, double error) {
    dd sum = dd_two_sum(s->hi[i], value);
    s->hi[i] = sum.hi;
    s->lo[i] += sum.lo + error;
}

static inline void lg_sums_add_product(lg_sums *s, size_t i, double a, double b) {
    dd p = dd_two_product(a, b);
    lg_sums_add(s, i, p.hi, p.lo);
}

typedef struct lg_gram {
    lg_sums x;        /* packed triangle over the Gram matrix' columns */
    lg_sums absorbed; /* what demeaning takes away from it; n 0: nothing is absorbed */
    lg_sums
        levels; /* [n_levels, 2] of each category's levels: sum of weights, of weighted outcomes (scaled) */
    uint64_t n_groups; /* absorbed ones with a used row */
} lg_gram;

/* EXTENDED: every product and sum in double-double; else in double within a chunk. Cuts the rows anew. */
lg_status lg_gram_make(lg_gram *gram, lg_design *design, bool extended, unsigned threads,
                       const lg_monitor *monitor, lg_error *error);
void lg_gram_free(lg_gram *gram);

static inline dd lg_gram_at(const lg_gram *g, size_t i, size_t j) {
    return i < j ? lg_sum_at(&g->x, lg_triangle(j) + i) : lg_sum_at(&g->x, lg_triangle(i) + j);
}

/* Two classes of a category's levels, whose raw means are compared. */
typedef struct lg_class_pair {
    size_t variable;
    const char *name, *first, *second; /* of the contrast, and its classes */
    bool single;                       /* the classes are single levels */
    const uint8_t *class_of;           /* [n_levels of the variable] 0, 1, or 2: neither */
    double mean[3], weight[3];         /* of the outcome (scaled); sums of weights */
} lg_class_pair;

typedef struct lg_residuals {
    lg_sums meat; /* packed triangle: sum over clusters of s s', s the cluster's products; n 0: no clusters */
    lg_sums x;    /* [n_gram] products of columns and residuals */
    lg_sums scalars; /* residual squares, outcome's squares about its mean, then for each pair: squares of the
                        clusters' differences, squares about the classes' means */
    lg_sums plain;   /* [n_gram] sums of the columns without weights; n 0: there are none */
    uint64_t n_clusters;        /* with a used row */
    uint64_t *level_documents;  /* [n_levels] clusters that have it */
    uint64_t *column_documents; /* [n_gram] clusters in which the column is not 0; 0 for dense ones */
    uint64_t *level_counts;     /* [n_levels] rows */
} lg_residuals;

/* B [n_gram]: coefficients for scaled columns, 0 for those that are none; MEAN: that of the scaled outcome,
   to take squares about it. */
lg_status lg_residuals_make(lg_residuals *residuals, lg_design *design, bool extended, const dd *b,
                            double mean, const lg_class_pair *pairs, size_t n_pairs, unsigned threads,
                            const lg_monitor *monitor, lg_error *error);
void lg_residuals_free(lg_residuals *residuals);

/* What both passes are made of: work on chunk CHUNK into SUMS (zeroed), by THREAD. */
typedef void lg_chunk_work(void *context, unsigned thread, size_t chunk, lg_sums *sums);
lg_status lg_sum_chunks(const lg_design *design, lg_sums *total, unsigned threads, lg_chunk_work *work,
                        void *context, bool extended, const lg_monitor *monitor, lg_error *error);

#endif
