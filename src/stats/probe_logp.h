/* Log-probabilities of choices as lines of JSON. */
#ifndef LG_STATS_PROBE_LOGP_H
#define LG_STATS_PROBE_LOGP_H

#include "base/text.h"
#include "lossgap/probe_results.h"

/* Reads them from memory; NAME stands for the file in errors. */
lg_status lg_probe_logp_parse(const char *text, size_t length, const char *name, const lg_probe_items *items,
                              lg_probe_scores **scores, size_t *n_models, lg_error *error);

#endif
