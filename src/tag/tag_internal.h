/* Tag families: how one looks from inside. A family is one source file and one row of the table in
   families.c; it may make a layer (spans over the text, the same for every tokenizer) and token columns (one
   value per token). */
#ifndef LG_TAG_TAG_INTERNAL_H
#define LG_TAG_TAG_INTERNAL_H

#include "lossgap/dataset.h"
#include "tag/spans.h"

/* One document as a family sees it. */
typedef struct lg_tag_document {
    const char *text;       /* [n_bytes] */
    const uint8_t *classes; /* [n_bytes] lg_char_class and IN_WORD of every byte */
    size_t n_bytes;
    lg_kind kind;
    const uint32_t *ids;  /* [n_tokens] */
    const uint64_t *ends; /* [n_tokens] in the dataset's text: take away `offset` */
    uint64_t offset;      /* of the document in the dataset's text */
    size_t n_tokens;
    struct lg_copy *copy; /* the thread's scratch for copy features */
} lg_tag_document;

/* Bytes of token I, from the document's first byte. */
static inline size_t lg_tag_token_begin(const lg_tag_document *d, size_t i) {
    return i ? (size_t)(d->ends[i - 1] - d->offset) : 0;
}
static inline size_t lg_tag_token_end(const lg_tag_document *d, size_t i) {
    return (size_t)(d->ends[i] - d->offset);
}
/* The first byte of token I that is not white space; its end if there is none. */
static inline size_t lg_tag_token_first(const lg_tag_document *d, size_t i) {
    size_t at = lg_tag_token_begin(d, i), end = lg_tag_token_end(d, i);
    while (at < end && (d->classes[at] & LG_CLASS_MASK) == LG_CLASS_WHITESPACE) at++;
    return at;
}

enum { LG_TAG_MAX_COLUMNS = 4 };

typedef struct lg_tag_column {
    const char *name;
    lg_dtype dtype;            /* U8, U16 or U32 */
    const char *const *levels; /* NULL-terminated names of the values 0, 1 …; NULL: the values are numbers */
} lg_tag_column;

typedef struct lg_tag_family {
    const char *name;        /* of the layer: NAME.begin, NAME.end, NAME.tag */
    const char *help;        /* one line for people */
    bool needs_text;         /* not made for data that came tokenised */
    const char *const *tags; /* NULL-terminated; NULL: no layer */
    bool (*make_spans)(const lg_tag_document *document, lg_spans *spans); /* false: no memory */
    lg_tag_column columns[LG_TAG_MAX_COLUMNS];                            /* ends with a NULL name, or full */
    /* Fills the columns [n_tokens] of one document. false: no memory. */
    bool (*fill)(const lg_tag_document *document, const lg_spans *spans, void *const *columns);
} lg_tag_family;

extern const lg_tag_family *const lg_tag_families[]; /* NULL-terminated */

/* tag.c: fills a U8 column by the single-value rule: the tag (plus one; 0: none) of the span that holds the
   token's first byte that is not white space. */
bool lg_tag_fill_first(const lg_tag_document *document, const lg_spans *spans, void *const *columns);

/* copy.c: copy features of one run of tokens. Scratch grows to the longest run and is reused. */
typedef struct lg_copy lg_copy;
lg_copy *lg_copy_create(void); /* NULL: no memory */
void lg_copy_free(lg_copy *copy);
/* copy_len[i]: the largest n such that the n tokens ending at i occurred before as a run ending earlier, at
   most 65535. prev_distance[i]: tokens since the last occurrence of ids[i], 0: none. IS_BREAK (NULL: none)
   [n]: elements that equal nothing; theirs are 0. false: no memory, or n >= 2^31. Time and memory O(n). */
bool lg_copy_features(lg_copy *copy, const uint32_t *ids, const bool *is_break, size_t n, uint16_t *copy_len,
                      uint32_t *prev_distance);

#endif
