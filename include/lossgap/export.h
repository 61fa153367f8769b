/* The per-token table as text, for other programs: one record per token of a dataset. */
#ifndef LOSSGAP_EXPORT_H
#define LOSSGAP_EXPORT_H

#include <stdio.h>

#include "lossgap/base.h"
#include "lossgap/dataset.h"
#include "lossgap/score.h"

typedef enum lg_export_format { LG_EXPORT_JSONL, LG_EXPORT_CSV } lg_export_format;

/* Writes to STREAM, token by token in the dataset's order: document, domain, token (index in the document),
   begin, end (bytes in the document), text (U+FFFD for what is no whole character), id; for each of SCORES
   [n_scores] its columns as COLUMN.MODEL: nll, entropy, rank, top1, tokens (of spans), context (plain
   `context` where all agree); the token columns of the tags artefact TAGS (a path, or NULL) by name. What
   there is none of is null in JSONL and empty in CSV. KEEP [n_tokens]: only tokens where it is not 0 are
   written; NULL: all (lg_select_tokens makes it). STREAM is flushed, so that a failed write is an error here.
 */
LG_API lg_status lg_export_tokens(const lg_dataset *data, const lg_scores *scores, size_t n_scores,
                                  const char *tags, const uint8_t *keep, lg_export_format format,
                                  FILE *stream, const lg_monitor *monitor, lg_error *error);
#endif
