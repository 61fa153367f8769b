/* The forms of a training text and the tags that each had: what becomes the lexicon of a model. */
#ifndef LG_TAG_POS_LEXICON_H
#define LG_TAG_POS_LEXICON_H

#include "tag/pos_features.h"

/* The training text is cut into parts, so that a word can be asked about as if its own part were not there: a
   word of one text only is as unknown in training as a new word will be later. */
enum { LG_POS_PARTS = 64 };

typedef struct lg_pos_lexicon_tag {
    uint64_t parts; /* bit set: which parts had it */
    uint32_t count;
    uint16_t tag;
    uint32_t next; /* index + 1 of the form's next tag; 0: none */
} lg_pos_lexicon_tag;

typedef struct lg_pos_lexicon {
    struct lg_pos_lexicon_form {
        uint64_t hash;  /* 0: empty */
        uint64_t lower; /* of a form whatever its case: the same in lower case, as it is; else 0 */
        uint32_t first;
    } * forms; /* [capacity], a power of two */
    size_t capacity, n_forms;
    lg_pos_lexicon_tag *tags;
    size_t n_tags, tag_capacity;
} lg_pos_lexicon;

/* LOWER: as above. false: no memory. */
bool lg_pos_lexicon_add(lg_pos_lexicon *lexicon, uint64_t form, uint64_t lower, uint16_t tag, unsigned part);
/* The set of the form's tags outside PART (LG_POS_PARTS: in all), as a hash; 0: it has none. */
uint16_t lg_pos_lexicon_class(const lg_pos_lexicon *lexicon, uint64_t form, unsigned part);
/* The one tag that the form has, but for at most one time in a thousand and if it came often enough, or
   LG_POS_NOT_ONE. */
uint8_t lg_pos_lexicon_only(const lg_pos_lexicon *lexicon, uint64_t form);
void lg_pos_lexicon_free(lg_pos_lexicon *lexicon);

#endif
