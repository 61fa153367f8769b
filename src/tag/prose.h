/* Prose: cutting text into words and sentences, and giving words their part of speech. */
#ifndef LG_TAG_PROSE_H
#define LG_TAG_PROSE_H

#include "lossgap/base.h"
#include "tag/spans.h"

typedef enum lg_split {
    LG_SPLIT_WHOLE,    /* Brown: "she's" and "don't" are one word */
    LG_SPLIT_TREEBANK, /* UD and Penn: "she" "'s", "do" "n't" */
} lg_split;

enum { LG_BEGINS_SENTENCE = 1 };

/* split.c: appends the words of TEXT in order, tag LG_BEGINS_SENTENCE or 0. Every byte that is not white
   space lies in exactly one word; white space lies in one only where the treebanks have it so. Time and
   memory O(n). false: no memory. */
bool lg_split_prose(const char *text, const uint8_t *classes, size_t n_bytes, lg_split style,
                    lg_spans *words);

/* A part-of-speech tagger: an averaged perceptron over hashed features, immutable, mapped. */
typedef struct lg_pos_model lg_pos_model;
/* The models that come with the program. TAGSET: "brown", "upos", "penn". */
lg_status lg_pos_model_builtin(const char *tagset, lg_pos_model **model, lg_error *error);
lg_status lg_pos_model_open(const char *path, lg_pos_model **model, lg_error *error);
void lg_pos_model_close(lg_pos_model *model); /* NULL is fine */
const char *lg_pos_model_tagset(const lg_pos_model *model);
lg_split lg_pos_model_split(const lg_pos_model *model);
/* NULL-terminated; lives as long as the model. */
const char *const *lg_pos_model_tags(const lg_pos_model *model);
/* XXH3-128 of what changes results, 32 hex digits. */
const char *lg_pos_model_identity(const lg_pos_model *model);

/* What a thread needs for itself. */
typedef struct lg_pos_scratch lg_pos_scratch;
lg_pos_scratch *lg_pos_scratch_create(const lg_pos_model *model); /* NULL: no memory */
void lg_pos_scratch_free(lg_pos_scratch *scratch);
/* Tags WORDS as lg_split_prose leaves them: TAGS [words->count] index into the model's tags. false: no
 * memory. */
bool lg_pos_tag(const lg_pos_model *model, lg_pos_scratch *scratch, const char *text, const lg_spans *words,
                uint16_t *tags);

#endif
