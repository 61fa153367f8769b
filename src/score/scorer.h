/* What computes losses: a local model today. The scheduler knows no more of it than this. */
#ifndef LG_SCORE_SCORER_H
#define LG_SCORE_SCORER_H

#include "model/forward.h"
#include "score/artefact.h"

typedef struct lg_scorer {
    void *context;
    size_t vocab_size; /* ids are below; 0: not known */
    size_t max_tokens; /* inputs of one call at most; a single row may have more */
    /* As lg_forward. */
    lg_status (*score)(void *context, const lg_row *rows, size_t n_rows, unsigned columns,
                       const lg_monitor *monitor, lg_error *error);
    double (*flops)(void *context, size_t inputs, size_t scored); /* of one row */
} lg_scorer;

/* local.c: a checkpoint on this machine, for rows of LONGEST inputs at most, with their longest branches.
   BATCH: inputs that go through a layer together (and targets, no more), 0: chosen. */
lg_status lg_local_scorer_open(const lg_model *model, lg_precision precision, unsigned threads, size_t batch,
                               size_t longest, lg_scorer **scorer, lg_error *error);
void lg_local_scorer_close(lg_scorer *scorer); /* NULL is fine */

/* What losses by MODEL depend on but windows and columns: OPTIONS' precision and prefix resolved, the
   checkpoint's identity, the kernels. *WHY (static): how the prefix was found. */
lg_status lg_local_settings(const lg_model *model, const lg_score_options *options,
                            lg_score_settings *settings, const char **why, lg_error *error);

/* Fills the counts of PLAN. SCORER->flops and vocab_size are used, nothing is computed. */
lg_status lg_score_survey(const lg_scorer *scorer, const lg_dataset *data, const lg_score_settings *settings,
                          const char *out, lg_score_plan *plan, lg_error *error);

/* Scores DATA into OUT, reusing what is there. */
lg_status lg_score_rows(const lg_scorer *scorer, const lg_dataset *data, const lg_score_settings *settings,
                        const char *command, const char *out, const lg_monitor *monitor, lg_error *error);

/* How long the work of PLAN takes, judged by a little of it. */
lg_status lg_score_time(const lg_scorer *scorer, const lg_dataset *data, const lg_score_settings *settings,
                        const lg_score_plan *plan, double *seconds, const lg_monitor *monitor,
                        lg_error *error);

#endif
