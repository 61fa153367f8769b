/* Filters: named conditions over tokens, the masks that they make, and mean losses over those
   (docs/guide/filters.md). */
#ifndef LOSSGAP_FILTER_H
#define LOSSGAP_FILTER_H

#include "lossgap/base.h"
#include "lossgap/dataset.h"
#include "lossgap/score.h"

/* The built-in filters, in this order. What one needs is said where it is left out. */
#define LG_FILTER_BUILT_IN                                                                                   \
    "all", "state", "copy5", "hard_copy5", "open", "close", "content", "function", "novel", "reuse"

/* A tag of `state` has so many tokens in so many documents of the half that chooses; it takes so many tags.
   `hard_copy5`: what the first occurrence cost, in nats. */
enum { LG_STATE_TOKENS = 200, LG_STATE_DOCUMENTS = 20, LG_STATE_TAGS = 10, LG_HARD_LOSS = 2 };

typedef struct lg_filter_options {
    const char *file;        /* "NAME = EXPRESSION" lines (docs/guide/filters.md); NULL: none */
    const char *const *only; /* names, NULL ends: just these, in this order, and an error where one cannot be
                                made. NULL: every built-in that can be made, then those of the file */
    const lg_scores *pair;   /* [2] A and B, by which `state` chooses its tags; NULL: none */
    const lg_scores *hard;   /* by which `hard_copy5` knows what was hard; NULL: none */
    const char *const *state_tags; /* tags for `state` in place of a choice, NULL ends; NULL: choose */
    unsigned threads;              /* 0: all processors */
    const char *command;
} lg_filter_options;

typedef struct lg_filter {
    const char *name, *expression;              /* expression: in the query language */
    const uint8_t *mask;                        /* [n_tokens] 1 where it holds, else 0 */
    uint64_t tokens, documents, bytes, unknown; /* unknown: tokens of which it cannot be told; not in it */
    const char *note;                           /* what is worth knowing; NULL: nothing */
} lg_filter;

/* A filter that was not made, and why. */
typedef struct lg_filter_left_out {
    const char *name, *reason;
} lg_filter_left_out;

/* A tag that `state` took. */
typedef struct lg_state_tag {
    const char *tag;
    double gap;                 /* loss(A) - loss(B) on its tokens where it was chosen; NAN without a pair */
    uint64_t tokens, documents; /* behind the gap; without a pair: all that carry the tag */
} lg_state_tag;

typedef struct lg_filters lg_filters; /* immutable; threads share it. Strings and masks live as long */

/* Makes the filters of OPTIONS over DATA and TAGS (path of its tags; NULL: none). DATA must stay open while
   they are used, not the scores. Wrong expressions of the file are LG_BAD_INPUT, with file and line. */
LG_API lg_status lg_filters_open(const lg_dataset *data, const char *tags, const lg_filter_options *options,
                                 lg_filters **filters, lg_error *error);
/* Whether they could be made so once there are scores of models called MODELS [n_models]: from two on there
   is a pair, from one on a model for `hard_copy5`; `pair` and `hard` are not looked at. */
LG_API lg_status lg_filters_check(const lg_dataset *data, const char *tags, const lg_filter_options *options,
                                  const char *const *models, size_t n_models, lg_error *error);
LG_API void lg_filters_close(lg_filters *filters); /* NULL is fine */
LG_API size_t lg_filters_n(const lg_filters *filters);
LG_API const lg_filter *lg_filters_at(const lg_filters *filters, size_t i);
LG_API size_t lg_filters_n_left_out(const lg_filters *filters);
LG_API const lg_filter_left_out *lg_filters_left_out(const lg_filters *filters, size_t i);
/* What `state` took, most B-favoured first (a given list: as given); *COUNT 0: there is no such filter. */
LG_API const lg_state_tag *lg_filters_state(const lg_filters *filters, size_t *count);
/* Of the dataset that they are of. */
LG_API const lg_dataset *lg_filters_data(const lg_filters *filters);
LG_API const char *lg_filters_command(const lg_filters *filters); /* NULL: none */
/* JSON objects: identities of what the masks were made from; names, expressions and the choice of `state`. */
LG_API const char *lg_filters_inputs(const lg_filters *filters);
LG_API const char *lg_filters_settings(const lg_filters *filters);

/* Masks as an artefact (docs/formats/masks.md): written atomically; and read again as filters of DATA, which
   must hold the same tokens in the same documents. */
LG_API lg_status lg_filters_may_write(const char *out, lg_error *error); /* asked before the work */
LG_API lg_status lg_filters_write(const lg_filters *filters, const char *out, lg_error *error);
LG_API lg_status lg_masks_open(const char *path, const lg_dataset *data, lg_filters **filters,
                               lg_error *error);

/* The mean loss of one model over one filter. NAN where there is none. */
typedef struct lg_filtered_loss {
    uint64_t tokens, documents, bytes; /* of the filter, with a loss */
    uint64_t unscorable;               /* of the filter, without one: left out */
    double loss, se, df, low, high;    /* nats per token: sum of losses / tokens; CR1, clustered by document,
                                          95 %, t with df = documents - 1 */
    double bits_per_byte, bits_se, bits_low, bits_high; /* sum of losses / (ln 2 x bytes); NAN without text */
    /* against the first model, paired by document: loss(first) - loss(this), positive: this one is better.
       NAN of the first itself */
    double gap, gap_se, gap_low, gap_high;                              /* nats per token */
    double gap_bits_per_byte, gap_bits_se, gap_bits_low, gap_bits_high; /* bits per byte */
    const char *note; /* why something is missing; static; NULL: nothing is */
} lg_filtered_loss;

/* LOSSES [n_scores, n_filters], by model, then filter: free() it. Several models must have scored the same
   tokens under the same contexts, and no loss may be infinite. The same bits for any number of threads
   (OPTIONS of the filters). */
LG_API lg_status lg_filtered_losses(const lg_dataset *data, const lg_scores *scores, size_t n_scores,
                                    const lg_filters *filters, lg_filtered_loss **losses, lg_error *error);
#endif
