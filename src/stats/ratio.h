/* Ratios of means that share documents: a group's gap over the overall gap, and the difference of two such
   ratios, with documents as the units that were drawn. */
#ifndef LG_STATS_RATIO_H
#define LG_STATS_RATIO_H

#include "stats/cluster.h"

/* What all ratios of one pair of models are ratios to: its gap over all tokens that count. */
typedef struct lg_ratio_base {
    const lg_cell *cells; /* [n] */
    size_t n;
    bool constant;     /* all tokens have the same gap */
    double mean;       /* NAN without tokens */
    double se;         /* CR1; NAN with less than two documents */
    double low, high;  /* 95 %; NAN likewise */
    double *influence; /* [n_docs] (S_d - mean n_d) / N, 0 for documents without tokens; the caller's */
    double squares;    /* sum of influence^2 */
} lg_ratio_base;

/* INFLUENCE [n_docs] is written, and kept. */
void lg_ratio_base_init(lg_ratio_base *base, const lg_cell *cells, size_t n, bool constant, double *influence,
                        size_t n_docs);
/* Whether ratios to it mean anything: it is not 0, nor does its interval hold 0. Where it has no interval
   (one document) it is enough that it is not 0. */
bool lg_ratio_base_is_clear(const lg_ratio_base *base);

/* NAN where there is none. */
typedef struct lg_ratio {
    double value, se, df, low, high; /* delta method; df: documents of the group - 1 */
    double fieller_low, fieller_high;
    double t, p; /* against 1 or 0, see below */
} lg_ratio;

/* The mean over CELLS [n], a group within the base's tokens, over the base's mean; tested against 1.
   CONSTANT: all its tokens have the same gap. */
void lg_ratio_compute(const lg_ratio_base *base, const lg_cell *cells, size_t n, bool constant, lg_ratio *r);

/* One of two ratios: the same group and the same documents, another pair of models. */
typedef struct lg_ratio_side {
    const lg_ratio_base *base;
    const lg_cell *cells; /* [n] */
    bool constant;
} lg_ratio_side;

/* sum of X's influence x Y's. */
double lg_ratio_cross(const lg_ratio_base *x, const lg_ratio_base *y, size_t n_docs);
/* X's ratio - Y's, tested against 0. CROSS: lg_ratio_cross of their bases. No Fieller interval. */
void lg_ratio_compare(const lg_ratio_side *x, const lg_ratio_side *y, size_t n, double cross, lg_ratio *r);

#endif
