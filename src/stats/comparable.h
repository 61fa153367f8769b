/* Whether scores and tags may be put side by side, and what their models are called. */
#ifndef LG_STATS_COMPARABLE_H
#define LG_STATS_COMPARABLE_H

#include "base/memory.h"
#include "lossgap/score.h"

/* Refuses SCORES [n], called NAMES, of other tokens, prefixes or contexts than the first's, and infinite
   losses; the first difference is told. */
lg_status lg_check_scores(const lg_dataset *data, const lg_scores *scores, size_t n, const char *const *names,
                          lg_error *error);
/* Tags that were made of another dataset would line up with nothing. */
lg_status lg_check_tags(const lg_dataset *data, const lg_table *tags, lg_error *error);
/* Names for tables: those of the scores, told apart where two are the same. From ARENA; NULL: no memory. */
const char *const *lg_name_models(lg_arena *arena, const lg_scores *scores, size_t n);
/* Scores [n] that are not there yet, with COLUMNS (LG_COLUMN_*) beside the losses: to compile conditions over
   them, never to read. free(); NULL: no memory. */
lg_scores *lg_pretend_scores(const lg_dataset *data, size_t n, unsigned columns);

#endif
