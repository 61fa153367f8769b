/* Scoring tokenised items with whatever computes losses. */
#ifndef LG_PROBE_SCORE_H
#define LG_PROBE_SCORE_H

#include "base/hash.h"
#include "probe/rows.h"
#include "score/scorer.h"

/* Inputs of the largest of ROWS with all its branches, or its targets, where they are more: what SCORER must
   take in one call. 0: there is nothing to compute. */
size_t lg_probe_largest(const lg_probe_rows *rows);

/* Allocates SCORES for ROWS: all of it missing but the outcomes and the choices' tokens. */
lg_status lg_probe_scores_create(const lg_probe_rows *rows, const char *model, lg_probe_scores *scores,
                                 lg_error *error);

/* Fills the log-probabilities of SCORES. JOURNAL: as in the options, KEY stands for model and settings. */
lg_status lg_probe_score_rows(const lg_scorer *scorer, const lg_probe_rows *rows, const char *journal,
                              lg_hash key, const lg_monitor *monitor, lg_probe_scores *scores,
                              lg_error *error);

#endif
