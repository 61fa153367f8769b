/* What the part-of-speech tagger sees of a word and its neighbours: one set of features for all tagsets. */
#ifndef LG_TAG_POS_FEATURES_H
#define LG_TAG_POS_FEATURES_H

#include "tag/prose.h"

/* Hashes are the same on every machine. A feature is the 64-bit hash of its template and its values. */
static inline uint64_t lg_pos_mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 29;
}

/* Where a hash begins. Small numbers must be spread first: a value may be small too, and would cancel them.
 */
static inline uint64_t lg_pos_seed(unsigned kind) {
    return (kind + 1) * 0xD1B54A32D192ED03u;
}

/* What a lexicon knows of a form: the set of tags that it had in the training text, as a hash; 0: the form
   is not known. */
typedef struct lg_pos_classes {
    uint16_t own;   /* in the training text */
    uint16_t other; /* in a lexicon of another tagset */
    uint8_t only;   /* the one tag that it always has; LG_POS_NOT_ONE */
} lg_pos_classes;

enum { LG_POS_NOT_ONE = 255 };

/* A word. Spelling fills in the hashes, a lexicon the classes of the three keys. */
typedef struct lg_pos_token {
    uint64_t exact;       /* the form; case counts */
    uint64_t lower;       /* the form in lower case, as `exact` would have it */
    uint64_t folded;      /* the form whatever its case */
    uint64_t plain;       /* the same with every digit a 0: what contexts are made of */
    uint64_t suffix[5];   /* the last 1 … 5 characters of that, 0: the word is shorter */
    uint64_t prefix[5];   /* the first ones */
    uint64_t last_part;   /* what follows the last hyphen, 0: nothing */
    uint64_t shape;       /* runs of capitals, small letters, digits */
    uint64_t ending;      /* suffix[2], or the word if it is shorter */
    uint64_t capitals;    /* is the first letter, are all letters capitals; does it begin the sentence */
    lg_pos_classes as_is; /* of `exact` */
    lg_pos_classes small; /* of `lower` */
    lg_pos_classes any;   /* of `folded` */
    uint64_t own, other;  /* the class to look at: as it is, else whatever its case */
    uint64_t known;       /* which of the six classes there are */
    uint64_t relative;    /* of a word unknown in any case: the class of one that differs in its ending or
                             prefix, and how it differs; 0: there is none */
    uint64_t part;        /* … and the class of what follows its last hyphen */
} lg_pos_token;

/* A word in lower case, for looking up its relatives. */
typedef struct lg_pos_form {
    char lower[4 * 256];
    size_t length;
    size_t last_part; /* where what follows the last hyphen begins; 0: nowhere */
} lg_pos_form;

/* What spelling remembers within a sentence. */
typedef struct lg_pos_sentence {
    bool begun;  /* a word that is no quote or bracket has come */
    bool quoted; /* the last quote opened */
} lg_pos_sentence;

/* Spells word I. Typographic quotes, dashes and ellipses count as the plain ones; straight double quotes as
   `` or '', by what stands around them. Of a word only the first 256 bytes count. */
void lg_pos_spell(lg_pos_token *token, lg_pos_form *form, lg_pos_sentence *sentence, const char *text,
                  const lg_spans *words, size_t i);
/* After the classes are filled in. LOOK_UP: the class of a form whatever its case, given its hash and that of
   it in lower case. */
void lg_pos_finish(lg_pos_token *token, const lg_pos_form *form,
                   uint16_t (*look_up)(const void *context, uint64_t folded, uint64_t lower),
                   const void *context);
/* What stands before the first word and after the last one of a sentence. HAS_OTHER: the lexicon has classes
   of another tagset. */
void lg_pos_border(lg_pos_token *token, bool has_other);

enum { LG_POS_STATIC = 64, LG_POS_DYNAMIC = 24 }; /* at most so many features */

/* The features of window[2] that do not depend on earlier tags. WINDOW: the word with two neighbours on
   either side. Returns how many. */
size_t lg_pos_static_features(const lg_pos_token *const window[5], uint64_t features[LG_POS_STATIC]);
/* Those that do. PREVIOUS: the tags of the last three words, the last one first; the number of tags stands
   for none. */
size_t lg_pos_dynamic_features(const lg_pos_token *const window[5], const uint16_t previous[3],
                               uint64_t features[LG_POS_DYNAMIC]);

#endif
