/* Choosing tokens by a condition over the columns of dataset, scores and tags (docs/guide/query.md). */
#ifndef LOSSGAP_SELECT_H
#define LOSSGAP_SELECT_H

#include "lossgap/base.h"
#include "lossgap/dataset.h"
#include "lossgap/score.h"

/* KEEP [n_tokens of DATA]: 1 where WHERE holds, else 0; *UNKNOWN: of how many it cannot be told. Models go by
   the names in SCORES [n_scores], which are scores of DATA; TAGS: path of its tags, or NULL. */
LG_API lg_status lg_select_tokens(const char *where, const lg_dataset *data, const lg_scores *scores,
                                  size_t n_scores, const char *tags, uint8_t *keep, uint64_t *unknown,
                                  lg_error *error);
#endif
