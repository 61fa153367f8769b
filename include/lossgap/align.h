/* Models with different tokenizers on one text: their losses over the smallest byte spans whose ends are
   token ends in all of them. The result is a dataset whose "tokens" are these spans, and scores of it, which
   everything that takes a dataset and scores takes, too (docs/guide/cross-tokenizer.md). */
#ifndef LOSSGAP_ALIGN_H
#define LOSSGAP_ALIGN_H

#include "lossgap/base.h"
#include "lossgap/dataset.h"
#include "lossgap/score.h"

/* A model: its scores, and the dataset that these are of. Models may share one. Without scores, which all
   sources have or none, only spans are asked for. */
typedef struct lg_align_source {
    const lg_dataset *data;
    const lg_scores *scores; /* or NULL */
} lg_align_source;

/* What one model has in the spans. */
typedef struct lg_align_count {
    uint64_t tokens;  /* of its dataset, all of which are in spans */
    uint64_t missing; /* spans in which it has a token without a loss, or no token */
    uint64_t cut;     /* of those with a loss: spans before which it did not see all of the document */
} lg_align_count;

typedef struct lg_align_summary {
    uint64_t documents, bytes, spans;
    uint64_t unscorable; /* spans without a loss, because some model has none there */
    uint64_t one_token;  /* spans that are one token in every model */
    uint64_t uneven;     /* of those with a loss: spans before which the models saw different bytes */
    uint64_t types;      /* different byte strings among the spans */
} lg_align_summary;

/* Writes the spans to DATA_OUT and the losses of model i over them to SCORES_OUT[i], each atomically, scores
   after the dataset that they name. SOURCES [n >= 2]; the datasets must hold the same documents, with text,
   and the scores be of document windows: refused at the first difference. Files that are there are replaced
   only if they hold spans or scores over spans; spans that are current are left as they are. Without scores,
   SCORES_OUT is not looked at. COUNTS [n] and SUMMARY are filled (each may be NULL). */
LG_API lg_status lg_align_run(const lg_align_source *sources, size_t n, const char *data_out,
                              const char *const *scores_out, const char *command, lg_align_summary *summary,
                              lg_align_count *counts, const lg_monitor *monitor, lg_error *error);

/* Whether all these files are what lg_align_run would write now. One that is missing, or holds something
   else, is not. */
LG_API lg_status lg_align_is_current(const lg_align_source *sources, size_t n, const char *data_out,
                                     const char *const *scores_out, bool *current, lg_error *error);
#endif
