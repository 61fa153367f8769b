/* The loss gap by category: mean of nll(A) - nll(B), with intervals clustered by document. */
#ifndef LOSSGAP_GAP_H
#define LOSSGAP_GAP_H

#include "lossgap/base.h"
#include "lossgap/dataset.h"
#include "lossgap/score.h"

typedef struct lg_gap_options {
    const char *const *by; /* [n_by] grouping columns; NULL: a standard list, each alone and crossed with domain */
    size_t n_by;
    const char *command;
} lg_gap_options;

/* Means and gap are nats per token, positive where B predicts better; NAN where there is none. */
typedef struct lg_gap_row {
    const char *model_a, *model_b;
    const char **level;  /* [n_by] "*": all levels */
    uint64_t tokens, documents, bytes;
    double loss_a, loss_b, gap, se, df, low, high; /* 95 % interval, t with df degrees of freedom */
    double bits_per_byte_a, bits_per_byte_b;
} lg_gap_row;

typedef struct lg_gap lg_gap;

/* SCORES [n_scores >= 2]: each later one against the first. TAGS: path of a tags artefact of DATA, or NULL.
   Refused where two models scored other tokens, prefixes or contexts. */
LG_API lg_status lg_gap_compute(const lg_dataset *data, const lg_scores *scores, size_t n_scores, const char *tags,
                                const lg_gap_options *options, lg_gap **gap, lg_error *error);
LG_API void lg_gap_free(lg_gap *gap);
LG_API size_t lg_gap_n_by(const lg_gap *gap);
LG_API const char *lg_gap_by(const lg_gap *gap, size_t i);
LG_API size_t lg_gap_n_rows(const lg_gap *gap);
LG_API const lg_gap_row *lg_gap_at(const lg_gap *gap, size_t i);

/* Whole documents in the caller's hands: free() the text. */
LG_API lg_status lg_gap_json(const lg_gap *gap, char **text, size_t *length, lg_error *error);
LG_API lg_status lg_gap_csv(const lg_gap *gap, char **text, size_t *length, lg_error *error);
#endif
