/* What the files of probe evaluation share: items in slices, values of each model, means clustered by group.
 */
#ifndef LG_STATS_PROBE_INTERNAL_H
#define LG_STATS_PROBE_INTERNAL_H

#include "base/memory.h"
#include "base/text.h"
#include "lossgap/probe_results.h"
#include "stats/cluster.h"

struct lg_probe_results {
    lg_arena arena; /* strings */
    const char **models;
    size_t n_models;
    lg_text provenance;
    lg_probe_row *rows;
    lg_probe_pair *pairs;
    lg_probe_bias *biases;
    lg_probe_pick *picks;
    lg_probe_baseline *baselines;
    size_t n_rows, n_pairs, n_biases, n_picks, n_baselines;
    size_t rows_room, pairs_room, biases_room, picks_room, baselines_room;
};

enum { SUMMED, NORMALIZED, N_KINDS };

/* One model's values per item, [n_items]. NAN where the item has none. */
typedef struct probe_values {
    const lg_probe_scores *scores;
    double *margin[N_KINDS], *right[N_KINDS]; /* right: 0, 1/2 (tie) or 1 */
    double *loss, *loss_per_token;
} probe_values;

/* Means are over lists: item WHO[k] has the value Y[k]. */
typedef struct probe_work {
    const lg_probe_items *items;
    size_t n_items, n_models;
    const size_t *first_choice; /* [n_items] where an item's choices begin in lg_probe_scores */
    /* [n_items] numbers for probes, cells and groups: the first item that has the same */
    size_t *probe, *cell, *group;
    probe_values *models; /* [n_models] */
    size_t *who, *used;   /* scratch [n_items] */
    double *y, *chance;   /* scratch [n_items] */
    /* scratch of means: [n_items] each; slot[g] is SIZE_MAX between calls */
    size_t *slot;
    lg_cell *cells;
    double *sums, *excess;
    lg_probe_results *results;
    lg_error *error;
} probe_work;

/* Items of one probe; of one distance or of all; of one cell or of all. */
typedef struct probe_slice {
    lg_probe_place at;   /* model: to be set */
    const size_t *items; /* [n] */
    size_t n;
    bool by_cell;
} probe_slice;

/* ---- probe_means.c ---- */

/* Wilson's score interval of 95 % for SUCCESSES of N > 0. */
void lg_wilson_interval(double successes, double n, double *low, double *high);
lg_probe_mean lg_probe_no_mean(void); /* NANs */
lg_probe_share lg_probe_no_share(void);
/* Mean and clustered error of Y [n]; all must be finite. */
lg_probe_mean lg_probe_mean_of(const probe_work *w, const size_t *who, const double *y, size_t n);
/* Of shares Y [n] (0 … 1) where guessing would give CHANCE [n]. */
lg_probe_share lg_probe_share_of(const probe_work *w, const size_t *who, const double *y,
                                 const double *chance, size_t n);
size_t lg_probe_groups(const probe_work *w, const size_t *who, size_t n); /* how many different groups */
double lg_probe_median(double *values, size_t n); /* sorts; NAN: none. Infinite values are fine */

/* ---- probe_evaluate.c ---- */

/* Items of SLICE that model M scored into w->who; how many. */
size_t lg_probe_select_scored(const probe_work *w, const probe_slice *slice, size_t m);

/* ---- probe_bias.c and probe_picks.c: add parts, picks, copy baselines of model M in SLICE ---- */

lg_status lg_probe_add_bias(probe_work *w, const probe_slice *slice, size_t m);
lg_status lg_probe_add_picks(probe_work *w, const probe_slice *slice, size_t m);
lg_status lg_probe_add_baselines(probe_work *w, const probe_slice *slice, size_t m);
/* The option that model M clearly picks more often than any other, and at least twice as often as it is the
   answer, of those that every item of SLICE offers. false: none. Overwrites w->who. */
bool lg_probe_favourite(const probe_work *w, const probe_slice *slice, size_t m,
                        const lg_probe_choice **option, lg_probe_share *share);

/* log p [n_choices] of item I under a model. */
static inline const double *probe_logp(const probe_work *w, const lg_probe_scores *scores, size_t i) {
    return scores->logp + w->first_choice[i];
}

/* Choice C's part of the model's choice: 1, or a share of it where several are largest. */
double lg_probe_picked(const double *logp, size_t n, size_t c);
/* The choice whose RANK is largest (LAST) or 0; -1 if a choice has none, or several share it. */
int lg_probe_bound_last(const lg_probe_item *item);
int lg_probe_listed_first(const lg_probe_item *item);

static inline bool probe_same(const lg_probe_choice *a, const lg_probe_choice *b) {
    return a->length == b->length && !__builtin_memcmp(a->text, b->text, a->length);
}

/* TEXT with control characters and quotes as JSON writes them, without the outer quotes; in the results'
   arena. NULL: no memory. */
const char *lg_probe_shown(probe_work *w, const char *text, size_t length);
const char *lg_probe_printf(probe_work *w, const char *format, ...) LG_PRINTF(2, 3);

#endif
