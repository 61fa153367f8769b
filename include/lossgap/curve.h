/* Curves: filtered losses of the checkpoints of training runs against steps and tokens seen, and the gap
   between runs at equal steps. */
#ifndef LOSSGAP_CURVE_H
#define LOSSGAP_CURVE_H

#include "lossgap/base.h"
#include "lossgap/dataset.h"
#include "lossgap/filter.h"
#include "lossgap/score.h"

/* What every table and file says of the sign. */
#define LG_CURVE_SIGN                                                                                        \
    "gap = loss(baseline) - loss(run) at the same step, nats per token; positive: the run predicts better"

/* A checkpoint with its scores. Strings and scores are the caller's. */
typedef struct lg_curve_checkpoint {
    const char *run;
    uint64_t step, tokens_seen;
    const char *tokens_from; /* where tokens_seen is from; NULL: it is not known */
    const char *name;        /* of its scores in the cache; NULL: none */
    bool gone;               /* its files are not there any more, only its scores */
    const lg_scores *scores; /* NULL in lg_curve_about */
    const char *model;       /* identity of the checkpoint, taken from the scores; so is precision */
    lg_precision precision;
} lg_curve_checkpoint;

/* One that could not be taken. */
typedef struct lg_curve_skipped {
    const char *run, *checkpoint, *reason;
    bool broken; /* else: not complete yet */
} lg_curve_skipped;

typedef struct lg_curve_options {
    const char *const *runs; /* [n_runs] in the order wanted; the first one is the baseline */
    size_t n_runs;
    const char *pair[2], *hard;      /* which scores the filters were made with, for the reader; NULL: none */
    const lg_curve_skipped *skipped; /* [n_skipped] */
    size_t n_skipped;
    const char *command;
} lg_curve_options;

/* One filter, run and step. */
typedef struct lg_curve_point {
    const char *filter, *run;
    uint64_t step, tokens_seen;
    bool has_tokens_seen, gone;
    const char *baseline; /* the run that the gap is against; NULL: this one is it, or it has no such step */
    lg_filtered_loss loss;
    const char *note; /* why something is missing; NULL: nothing is */
} lg_curve_point;

typedef struct lg_curve lg_curve;

/* CHECKPOINTS [n]: a run has a step once; all were scored over DATA under the same windows. EARLIER (NULL:
   none): a curve over the same DATA and FILTERS, from which steps are taken whose checkpoints are the same.
   FILTERS must outlive the curve. */
LG_API lg_status lg_curve_compute(const lg_dataset *data, const lg_curve_checkpoint *checkpoints, size_t n,
                                  const lg_filters *filters, const lg_curve_options *options,
                                  const lg_curve *earlier, lg_curve **curve, lg_error *error);
LG_API void lg_curve_free(lg_curve *curve); /* NULL is fine */

/* By filter, then run, then step. */
LG_API size_t lg_curve_n_points(const lg_curve *curve);
LG_API const lg_curve_point *lg_curve_at(const lg_curve *curve, size_t i);
/* The points of the I-th filter and R-th run, by step; *N of them. */
LG_API const lg_curve_point *lg_curve_line(const lg_curve *curve, size_t filter, size_t run, size_t *n);

/* Strings live as long as the curve. */
typedef struct lg_curve_about {
    const char *const *runs; /* [n_runs] the first is the baseline */
    size_t n_runs;
    const lg_filters *filters;
    const lg_curve_checkpoint *checkpoints; /* [n_checkpoints] by run, then step; without scores */
    size_t n_checkpoints;
    const lg_curve_skipped *skipped; /* [n_skipped] */
    size_t n_skipped;
    const char *pair[2], *hard;
    bool has_text, all_tokens_seen; /* all_tokens_seen: of every checkpoint it is known */
    uint64_t documents, tokens;     /* of the dataset */
    const char *provenance;         /* JSON object: program, command, inputs, settings */
} lg_curve_about;
LG_API const lg_curve_about *lg_curve_get_about(const lg_curve *curve);
#endif
