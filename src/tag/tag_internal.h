/* Makers of tags: how one looks from inside. A maker is one source file and one row of the table in makers.c;
   it makes a layer (spans over the text, the same for every tokenizer), token columns (one value per token),
   or both. docs/guide/tags.md shows how to add one. */
#ifndef LG_TAG_TAG_INTERNAL_H
#define LG_TAG_TAG_INTERNAL_H

#include "base/json.h"
#include "lossgap/tag.h"
#include "tag/spans.h"

typedef struct lg_tag_maker lg_tag_maker;
enum { LG_MAX_TAG_MAKERS = 16 };

/* What all documents share: the options, and what each maker opened. */
typedef struct lg_tag_context {
    const lg_dataset *data;
    const lg_tag_options *options;
    void *state[LG_MAX_TAG_MAKERS]; /* in the order of the table */
} lg_tag_context;

/* One document as a maker sees it. */
typedef struct lg_tag_document {
    const lg_tag_context *context;
    const char *text;       /* [n_bytes] */
    const uint8_t *classes; /* [n_bytes] lg_char_class and IN_WORD of every byte */
    size_t n_bytes;
    lg_kind kind;
    const uint32_t *ids;  /* [n_tokens] */
    const uint64_t *ends; /* [n_tokens] in the dataset's text: take away `offset` */
    uint64_t offset;      /* of the document in the dataset's text */
    size_t n_tokens;
    const lg_spans *layers; /* of the makers, in the order of the table, as far as they are made */
    void *scratch;          /* the maker's own, of this thread */
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

enum { LG_TAG_MAX_COLUMNS = 5 };

typedef struct lg_tag_column {
    const char *name, *help;
    lg_dtype dtype;            /* U8 … U64, F64 */
    const char *const *levels; /* NULL-terminated names of the values 0, 1 …; NULL: see below */
    bool tags;                 /* the values are 0, none, and the layer's tags plus one */
} lg_tag_column;               /* neither levels nor tags: the maker's `levels`, or the values are numbers */

struct lg_tag_maker {
    const char *name;                          /* of the layer: NAME.begin, NAME.end, NAME.tag */
    const char *help;                          /* one line for people */
    bool needs_text;                           /* not made for data that came tokenised */
    const char *const *tags;                   /* the layer's, NULL-terminated; NULL: see state_tags */
    lg_tag_column columns[LG_TAG_MAX_COLUMNS]; /* ends with a NULL name, or full */

    /* All of these may be missing. What the maker shares over documents and threads; earlier makers' states
       are there already. */
    lg_status (*open)(const lg_tag_maker *self, const lg_tag_context *context, void **state, lg_error *error);
    void (*close)(void *state);
    const char *const *(*state_tags)(
        const void *state); /* the layer's tags; neither this nor `tags`: no layer */
    const char *const *(*levels)(const void *state, const char *column); /* NULL: numbers */
    void (*describe)(const void *state, lg_json_writer *settings);       /* members that change the numbers */
    /* What a thread needs for itself. NULL: no memory. */
    void *(*start)(const void *state);
    void (*stop)(void *scratch);

    bool (*make_spans)(const lg_tag_maker *self, const lg_tag_document *document,
                       lg_spans *spans); /* false: no memory */
    /* Fills the columns [n_tokens] of one document. false: no memory. */
    bool (*fill)(const lg_tag_maker *self, const lg_tag_document *document, const lg_spans *spans,
                 void *const *columns);
};

extern const lg_tag_maker *const lg_tag_makers[]; /* NULL-terminated, at most LG_MAX_TAG_MAKERS */

/* makers.c: the place of MAKER in the table, its state, its layer. */
size_t lg_tag_place(const lg_tag_maker *maker);
static inline void *lg_tag_state(const lg_tag_context *context, const lg_tag_maker *maker) {
    return context->state[lg_tag_place(maker)];
}
static inline const lg_spans *lg_tag_layer(const lg_tag_document *document, const lg_tag_maker *maker) {
    return &document->layers[lg_tag_place(maker)];
}
const char *const *lg_tag_names(const lg_tag_maker *maker, const void *state); /* NULL: no layer */

/* run.c: opens and closes all makers for DATA. */
lg_status lg_tag_open_makers(const lg_dataset *data, const lg_tag_options *options, lg_tag_context *context,
                             lg_error *error);
void lg_tag_close_makers(lg_tag_context *context);
/* Whether MAKER is wanted, and has what it needs. */
bool lg_tag_applies(const lg_tag_maker *maker, const lg_tag_context *context);
/* run.c: all columns of document DOC, in the order of makers and their columns. VALUES: their arrays
   [n_tokens]; NULL where the maker is not for this dataset. */
lg_status lg_tag_one(const lg_dataset *data, size_t doc, const lg_tag_options *options,
                     void *(*values)[LG_TAG_MAX_COLUMNS], lg_error *error);
/* makers.c: names of the values of COLUMN from 0 on, NULL-terminated, after *BEFORE (NULL: nothing); NULL:
 * numbers. */
const char *const *lg_tag_levels(const lg_tag_maker *maker, const void *state, const lg_tag_column *column,
                                 const char **before);

/* Makers that others build on: layers that cover the whole text of prose, and of everything else. */
extern const lg_tag_maker lg_maker_brown, lg_maker_code;

/* attribute.c: from spans to tokens. The spans that give token I its tags are those that overlap it from its
   first byte that is not white space on; a token of white space alone takes those that overlap it. Spans of
   the tag LG_TAG_BLANK count only where there is nothing else. */
enum { LG_TAG_BLANK = 0 }; /* the first tag of every layer that covers the whole text: "whitespace" */
typedef struct lg_tag_cursor {
    const lg_tag_document *document;
    const lg_spans *spans;
    bool whole;   /* the layer covers the whole text: it has LG_TAG_BLANK */
    size_t token; /* the next one */
    size_t at;    /* the first span that may overlap it */
} lg_tag_cursor;
/* The spans of the next token: FIRST … LAST - 1, blank ones among them. Returns the one that gives it its
   single tag; SIZE_MAX: none, or with `--multi drop` several. */
size_t lg_tag_next(lg_tag_cursor *cursor, size_t *first, size_t *last);

/* Fills a U16 column with the single tag plus one; 0: none. */
void lg_tag_fill(const lg_tag_document *document, const lg_spans *spans, bool whole, uint16_t *column);

/* copy.c: copy features of one run of tokens. Scratch grows to the longest run and is reused. */
typedef struct lg_copy lg_copy;
lg_copy *lg_copy_create(void); /* NULL: no memory */
void lg_copy_free(lg_copy *copy);
/* copy_len[i]: the largest n such that the n tokens ending at i occurred before as a run ending earlier, at
   most 65535. prev_distance[i]: tokens since the last occurrence of ids[i], 0: none. IS_BREAK (NULL: none)
   [n]: elements that equal nothing; theirs are 0. false: no memory, or n >= 2^31. Time and memory O(n). */
bool lg_copy_features(lg_copy *copy, const uint32_t *ids, const bool *is_break, size_t n, uint16_t *copy_len,
                      uint32_t *prev_distance);
/* first_distance[i]: tokens since the first occurrence of the run of LENGTH tokens that ends at i; 0: none.
   COPY_LEN as from lg_copy_features for the same run without breaks. false: no memory. */
bool lg_copy_first_distance(lg_copy *copy, const uint32_t *ids, size_t n, unsigned length,
                            const uint16_t *copy_len, uint32_t *first_distance);

#endif
