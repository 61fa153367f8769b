/* Windows: how a dataset is cut into rows that a model sees, and which tokens each row accounts for. */
#ifndef LG_SCORE_WINDOWS_H
#define LG_SCORE_WINDOWS_H

#include "base/hash.h"
#include "lossgap/score.h"

/* Everything that decides the rows. */
typedef struct lg_window_settings {
    lg_windows kind;
    size_t context; /* L: model inputs of a row (document), elements of a row (paper) */
    size_t stride;  /* 1 … L; 0 in paper windows */
    int64_t prefix; /* token id, or LG_PREFIX_NONE; the separator of paper windows */
} lg_window_settings;

/* A row: elements y[0 … n-1]. It owns the tokens begin … end-1 of the dataset: every token is owned by
   exactly one row, rows own rising ranges. Owned tokens at elements < first cannot be scored. */
typedef struct lg_window {
    uint64_t begin, end; /* owned tokens, begin < end */
    uint64_t
        token;    /* dataset index of the first element that is no prefix (paper: doc's end at a separator) */
    uint64_t doc; /* the document of that element */
    uint32_t n, first; /* elements; the first one whose loss is wanted (n: none) */
    bool prefix;       /* y[0] is the prefix */
} lg_window;

/* Walks over the rows in dataset order, in constant memory. */
typedef struct lg_window_walk {
    const lg_window_settings *settings;
    const lg_dataset *data;
    size_t doc;      /* of the next row */
    uint64_t offset; /* of the next row's first element in its document (document: prefix counted) */
    uint64_t scored; /* elements of this document that earlier rows hold (document) */
} lg_window_walk;

/* Takes context, stride and windows from OPTIONS; PREFIX is resolved already. MAX_POSITIONS 0: unknown. */
lg_status lg_window_settings_make(const lg_score_options *options, size_t max_positions, int64_t prefix,
                                  lg_window_settings *settings, lg_error *error);

void lg_window_start(lg_window_walk *walk, const lg_window_settings *settings, const lg_dataset *data);
bool lg_window_next(lg_window_walk *walk, lg_window *window); /* false: no more rows */

/* Elements of the longest row that WALK can yield. */
size_t lg_window_longest(const lg_window_settings *settings, const lg_dataset *data);

/* Fills Y [window->n] with the row's elements, and POSITION [window->end - window->begin] with the element at
   which each owned token stands, which is also its context. Returns how many owned tokens can be scored. */
size_t lg_window_elements(const lg_window_settings *settings, const lg_dataset *data, const lg_window *window,
                          uint32_t *y, uint32_t *position);

/* What a row's results depend on, beside model and settings: rows of equal hash have equal results. */
lg_hash lg_window_hash(const lg_window *window, const uint32_t *y, const uint32_t *position,
                       lg_hasher *hasher);

#endif
