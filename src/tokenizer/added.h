/* Added tokens: strings that are found in the text before anything else happens to it. */
#ifndef LG_TOKENIZER_ADDED_H
#define LG_TOKENIZER_ADDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tokenizer/unicode.h"

typedef struct lg_added {
    const char *content; /* [length] */
    size_t length;
    uint32_t id;
    bool special, normalized, lstrip, rstrip, single_word;
} lg_added;

typedef struct lg_added_key {
    const char *text; /* [length > 0], what is looked for */
    size_t length;
    const lg_added *token;
} lg_added_key;

/* Keys that are looked for together. {0}: none. */
typedef struct lg_added_set {
    lg_added_key *keys; /* [count], sorted by bytes, each once */
    size_t count;
    uint64_t pairs[1024]; /* bit a << 8 | b: some key begins with the bytes a b, or is a alone */
} lg_added_set;

/* Sorts KEYS; of equal ones the first stays. The set borrows them. */
void lg_added_set_build(lg_added_set *set, lg_added_key *keys, size_t count);

typedef struct lg_added_scan {
    const lg_added_set *set;
    const lg_classes *classes;
    const unsigned char *text;
    size_t length;
    bool skip_special; /* special tokens are text, but still hide what they overlap */
    size_t from;       /* where to look on; 0 to start */
    size_t taken;      /* the end of the last token found; 0 to start */
} lg_added_scan;

/* The next token, the leftmost and of these the longest, with what it takes of the text; NULL: none. */
const lg_added *lg_added_next(lg_added_scan *scan, size_t *start, size_t *stop);

#endif
