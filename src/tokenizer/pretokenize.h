/* From a stretch of text to pieces: the pre-tokenizers of tokenizer.json, one after another. */
#ifndef LG_TOKENIZER_PRETOKENIZE_H
#define LG_TOKENIZER_PRETOKENIZE_H

#include "tokenizer/bpe.h"
#include "tokenizer/pattern.h"
#include "tokenizer/splitter.h"

typedef enum lg_behavior {
    LG_REMOVED,
    LG_ISOLATED,
    LG_MERGED_WITH_PREVIOUS,
    LG_MERGED_WITH_NEXT,
    LG_CONTIGUOUS
} lg_behavior;

typedef enum lg_step_kind {
    LG_STEP_SPLITTER, /* a pattern written by hand */
    LG_STEP_PATTERN,  /* a regular expression */
    LG_STEP_LITERAL,  /* a string */
    LG_STEP_NUMBERS,  /* each character of \p{N} */
    LG_STEP_PREFIX,   /* puts a space before what does not begin with one */
} lg_step_kind;

typedef struct lg_step {
    lg_step_kind kind;
    lg_behavior behavior;
    bool invert; /* what lies between the matches counts as match, and the other way round */
    const lg_splitter *splitter;
    lg_pattern *pattern;
    char *literal; /* [literal_length] */
    size_t literal_length;
} lg_step;

typedef struct lg_step_scratch {
    lg_subject subject;
    lg_text prefixed;
} lg_step_scratch;

/* What one thread needs to walk STEPS. */
typedef struct lg_pieces {
    const lg_step *steps; /* [count] */
    size_t count;
    const lg_classes *classes;
    const lg_bpe *bpe;
    lg_bpe_scratch merge;
    lg_matcher *matcher;
    lg_step_scratch *scratch; /* [count] */
    const char *name;         /* of the tokenizer, for errors */
    bool plain;               /* the stretch can be matched as it is */
    lg_tokens *tokens;
    lg_error *error;
} lg_pieces;

void lg_step_free(lg_step *step);
/* Appends the tokens of TEXT to pieces->tokens, with ends counted from ORIGIN. */
lg_status lg_pieces_run(lg_pieces *pieces, const char *text, size_t length, size_t origin);

#endif
