/* What a tokenizer is made of, and how one is read. */
#ifndef LG_TOKENIZER_INTERNAL_H
#define LG_TOKENIZER_INTERNAL_H

#include "base/memory.h"
#include "lossgap/tokenizer.h"
#include "tokenizer/added.h"
#include "tokenizer/normalize.h"
#include "tokenizer/pretokenize.h"

/* The bytes of a token: [begin, begin + length) of lg_tokenizer.bytes. */
typedef struct lg_token {
    size_t begin;
    uint32_t id, length;
} lg_token;

struct lg_tokenizer {
    char *name;
    char identity[33];
    lg_text description;
    lg_classes *classes;
    bool nfc;
    lg_step *steps; /* [step_count] */
    size_t step_count, step_capacity;
    bool uses_patterns; /* some step is a regular expression */
    lg_bpe bpe;
    unsigned missing_bytes; /* how many have no token */
    lg_text bytes;
    lg_token *tokens; /* [token_count], by id */
    size_t token_count, token_capacity;
    lg_arena arena;  /* contents of added tokens */
    lg_added *added; /* [added_count], in the order of the file */
    size_t added_count, added_capacity;
    lg_added_key *keys;      /* [added_count], those of `raw` first */
    lg_added_set raw;        /* looked for in the text */
    lg_added_set normalized; /* looked for in its normalised form */
};

/* lg_tokenizer_parse; NO_SPLITTERS: every pattern goes to PCRE2, also the well-known ones (for tests). */
lg_status lg_tokenizer_read(const char *json, size_t length, const char *name, bool no_splitters,
                            lg_tokenizer **tokenizer, lg_error *error);

#endif
