/* Inference about means of tokens that come in documents: errors, intervals and tests with documents as the
 * units that were drawn. */
#ifndef LG_STATS_CLUSTER_H
#define LG_STATS_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lossgap/base.h"

/* One document's share of a group of tokens. */
typedef struct lg_cell {
    size_t document;
    double tokens, bytes; /* tokens > 0 */
    double sum;           /* of the gap over these tokens */
} lg_cell;

/* NAN where there is none: means without cells, errors with one cell, tests without spread. */
typedef struct lg_cluster {
    double mean;                                   /* sum / tokens */
    double se, se_cr0, df, low, high, t, p;        /* of the mean; CR1, 95 % */
    double mde;                                    /* (t(0.975, df) + t(0.8, df)) se */
    double per_byte, se_per_byte, se_per_byte_cr0; /* sum / bytes */
    double of_documents, se_of_documents;          /* mean of the documents' means */
    double low_of_documents, high_of_documents, t_of_documents, p_of_documents;
    double w_plus, p_wilcoxon, p_sign, p_sign_flip; /* of the documents' means, two-sided */
    size_t better, worse;                           /* documents with a mean above, below 0 */
} lg_cluster;

/* CELLS [n], a document at most once. CONSTANT: all tokens have the same gap, so that whatever spread the
 * sums show is rounding. */
lg_status lg_cluster_compute(const lg_cell *cells, size_t n, bool constant, lg_cluster *result,
                             lg_error *error);

/* COEFFICIENT x the mean of a group. */
typedef struct lg_contrast_part {
    const lg_cell *cells; /* [n] */
    size_t n;
    double coefficient;
} lg_contrast_part;

typedef struct lg_contrast {
    uint64_t tokens, documents; /* of all parts; a document once */
    double estimate, se, se_cr0, df, low, high, t, p, mde;
} lg_contrast;

/* The sum of PARTS, whose groups share no token, with the error that least squares on their indicators,
   clustered by document, gives it: CR1 factor G / (G - 1) x (N - 1) / (N - K). SCRATCH [n_docs] doubles. All
   NAN where a part is empty. */
void lg_contrast_compute(const lg_contrast_part *parts, size_t n_parts, double *scratch, size_t n_docs,
                         lg_contrast *result);

/* Means of each group in resamples of documents. */
typedef struct lg_bootstrap_group {
    const lg_cell *cells; /* [n] */
    size_t n;
} lg_bootstrap_group;

typedef struct lg_bootstrap {
    const size_t *population;    /* [n_population] the documents drawn from, as many in a resample */
    size_t n_population, n_docs; /* all document numbers are below n_docs */
    size_t replicates;
    uint64_t seed;
    unsigned threads; /* at least 1 */
} lg_bootstrap;

/* MEANS [n_groups, replicates]; NAN where a resample has none of the group's tokens. The same to the last bit
 * for any number of threads. */
lg_status lg_bootstrap_run(const lg_bootstrap *b, const lg_bootstrap_group *groups, size_t n_groups,
                           double *means, lg_error *error);
/* What resample REPLICATE holds how often. WEIGHTS [n_docs], STRIDE apart; only those of the population are
 * written. */
void lg_bootstrap_draw(const lg_bootstrap *b, size_t replicate, double *weights, size_t stride);

/* Moves the NANs out and sorts the rest; how many are left. */
size_t lg_sort_values(double *values, size_t n);
/* The Q quantile of SORTED [n > 0], linear between order statistics (type 7). */
double lg_quantile(const double *sorted, size_t n, double q);
/* Interval and error of VALUES [n], which are sorted by this: the 0.025 and 0.975 quantiles, the standard
 * deviation (divisor n). */
typedef struct lg_bootstrap_interval {
    double low, high, se;
    size_t used; /* replicates that have a value */
} lg_bootstrap_interval;
lg_bootstrap_interval lg_bootstrap_percentile(double *values, size_t n);

/* Tests on N differences, two-sided. Zeros say nothing and are left out, but for the flips. */
typedef struct lg_wilcoxon {
    double w_plus, p;
    bool exact; /* else the normal approximation with corrections for ties and continuity: above 50
                   differences */
} lg_wilcoxon;
lg_status lg_wilcoxon_test(const double *values, size_t n, lg_wilcoxon *result, lg_error *error);
double lg_sign_test(size_t positive, size_t negative); /* binomial, exact */
enum { LG_SIGN_FLIP_MOST = 16 };
/* Share of the 2^n ways to flip signs that give a sum as far from 0 as the one observed, itself included. N
 * <= LG_SIGN_FLIP_MOST, else NAN. */
double lg_sign_flip_test(const double *values, size_t n);
double lg_normal_tail(double z); /* P(Z > z) */

/* Adjusts P [n] for the false discovery rate (Benjamini and Hochberg) in place; NANs are not counted and
 * stay. */
lg_status lg_adjust_bh(double *p, size_t n, lg_error *error);

#endif
