/* The patterns that most tokenizers use, written by hand. */
#ifndef LG_TOKENIZER_SPLITTER_H
#define LG_TOKENIZER_SPLITTER_H

#include <stddef.h>
#include <stdint.h>

#include "tokenizer/unicode.h"

typedef struct lg_splitter {
    const char *pattern;
    /* The bytes of the match at TEXT < END. These patterns match every text from its beginning to its end. */
    size_t (*next)(const lg_classes *classes, const unsigned char *text, const unsigned char *end);
    const char *name;
} lg_splitter;

/* The splitter of exactly this pattern; NULL: there is none. */
const lg_splitter *lg_splitter_find(const char *pattern, size_t length);
const lg_splitter *lg_splitter_gpt2(void);
/* All of them, for tests; NULL past the last. */
const lg_splitter *lg_splitter_at(size_t index);

#endif
