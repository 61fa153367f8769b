/* Items as token ids: what a model with a certain tokenizer is asked. */
#ifndef LG_PROBE_ROWS_H
#define LG_PROBE_ROWS_H

#include "lossgap/probe.h"

/* One item: prefix and prompt, then the choices' own tokens, one choice after the other. */
typedef struct lg_probe_ids {
    uint32_t *ids;           /* [n_prompt + the choices' tokens]; NULL: nothing to compute */
    size_t n_prompt, shared; /* shared: of the choices' first tokens, so many are the same in all */
} lg_probe_ids;

typedef struct lg_probe_rows {
    size_t n_items, n_choices; /* n_choices: of all items */
    lg_probe_ids *of;          /* [n_items] */
    size_t *first;             /* [n_items + 1] index of the item's first choice */
    uint32_t *tokens;          /* [n_choices] its own tokens; 0: it cannot be scored */
    uint8_t *outcome;          /* [n_items] lg_probe_outcome */
} lg_probe_rows;               /* {0} to start */

/* How items become rows. */
typedef struct lg_probe_reading {
    const lg_tokenizer *tokenizer;
    const char *const *also; /* identities of tokenizers for which it stands; NULL ends; NULL: none */
    int64_t prefix;          /* in front; or LG_PREFIX_NONE */
    size_t context;          /* items of more inputs are LG_PROBE_TOO_LONG; 0: no limit */
    size_t vocabulary;       /* ids are below, else it is an error that names MODEL */
    const char *model;
    unsigned threads; /* 0: all processors */
} lg_probe_reading;

/* Whether tokens IDS [n] are TEXT, byte for byte. */
bool lg_probe_spells(const lg_tokenizer *tokenizer, const uint32_t *ids, size_t n, const char *text,
                     size_t length);

lg_status lg_probe_rows_make(const lg_probe_items *items, const lg_probe_reading *how,
                             const lg_monitor *monitor, lg_probe_rows *rows, lg_error *error);
void lg_probe_rows_free(lg_probe_rows *rows);

#endif
