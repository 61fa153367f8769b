/* Which token stands before a document. */
#ifndef LG_SCORE_PREFIX_H
#define LG_SCORE_PREFIX_H

#include "lossgap/score.h"

/* What `--prefix auto` can go by. */
typedef struct lg_prefix_hints {
    bool has_bos, has_eos;
    uint32_t bos, eos;
    const char *tokenizer; /* tokenizer.json or folder, NULL: none */
} lg_prefix_hints;

/* Resolves WANTED: an id and LG_PREFIX_NONE stay; AUTO takes bos, else eos, else the added token
   <|endoftext|>, else none. *WHY (static) says which it was. */
lg_status lg_prefix_resolve(int64_t wanted, const lg_prefix_hints *hints, int64_t *prefix, const char **why,
                            lg_error *error);

/* Reads bos and eos from the config.json that FOLDER may hold; none there: HINTS stay as they are. */
lg_status lg_prefix_read_config(const char *folder, lg_prefix_hints *hints, lg_error *error);

#endif
