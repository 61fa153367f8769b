/* The tables of the method (§3): families and their classes, which tag belongs to which family, which tags
   open or close something. `lossgap tag --list` prints them. */
#ifndef LG_TAG_TAGSETS_H
#define LG_TAG_TAGSETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lossgap/tag.h"

/* Families are shared by prose, code and markup; their number is the bit in family_bits, so at most 64. */
typedef enum lg_family {
    LG_FAMILY_NONE, /* no bytes */
    LG_FAMILY_WHITESPACE,
    /* prose */
    LG_FAMILY_NOUN,
    LG_FAMILY_VERB,
    LG_FAMILY_ADJECTIVE,
    LG_FAMILY_ADVERB,
    LG_FAMILY_INTERJECTION,
    LG_FAMILY_QUALIFIER,
    LG_FAMILY_EXISTENTIAL,
    LG_FAMILY_PRONOUN,
    LG_FAMILY_DETERMINER,
    LG_FAMILY_PREPOSITION,
    LG_FAMILY_CONJUNCTION,
    LG_FAMILY_AUX_BE,
    LG_FAMILY_AUX_HAVE,
    LG_FAMILY_AUX_DO,
    LG_FAMILY_MODAL,
    LG_FAMILY_TO,
    LG_FAMILY_WH,
    LG_FAMILY_NUMERAL,
    LG_FAMILY_PARTICLE,
    LG_FAMILY_PUNCTUATION,
    LG_FAMILY_OPEN_BRACKET,
    LG_FAMILY_CLOSE_BRACKET,
    LG_FAMILY_OTHER,
    /* code and markup */
    LG_FAMILY_IDENTIFIER,
    LG_FAMILY_KEYWORD,
    LG_FAMILY_BUILTIN,
    LG_FAMILY_STRING,
    LG_FAMILY_COMMENT,
    LG_FAMILY_NUMBER,
    LG_FAMILY_OPERATOR,
    LG_FAMILY_LAYOUT, /* newlines and indentation that mean something */
    LG_FAMILY_OPEN,
    LG_FAMILY_CLOSE,
    LG_FAMILY_TEXT,
    LG_FAMILY_TAG_NAME,
    LG_FAMILY_ATTRIBUTE_NAME,
    LG_FAMILY_ATTRIBUTE_VALUE,
    LG_FAMILY_DOCTYPE,
    LG_FAMILY_ENTITY,
    LG_FAMILY_COMMAND,
    LG_FAMILY_ENVIRONMENT,
    LG_FAMILY_GROUP_TEXT,
    LG_FAMILY_MATH,
    LG_N_FAMILIES
} lg_family;

extern const lg_tag_family lg_families[LG_N_FAMILIES];

/* The family of a part of speech. TAGSET: "brown" (lower case), "upos" or "penn". A tag that it does not know
   is LG_FAMILY_OTHER. */
lg_family lg_family_of_tag(const char *tagset, const char *tag);

/* Delimiters: 0 is none; else 1 + 2 × kind + (0 opening, 1 closing). */
typedef enum lg_delimiter {
    LG_NO_DELIMITER,
    LG_OPEN_ROUND,
    LG_CLOSE_ROUND,
    LG_OPEN_SQUARE,
    LG_CLOSE_SQUARE,
    LG_OPEN_CURLY,
    LG_CLOSE_CURLY,
    LG_OPEN_ANGLE,
    LG_CLOSE_ANGLE,
    LG_OPEN_TAG,
    LG_CLOSE_TAG,
    LG_OPEN_ENVIRONMENT,
    LG_CLOSE_ENVIRONMENT,
    LG_OPEN_MATH,
    LG_CLOSE_MATH,
    LG_OPEN_QUOTE,
    LG_CLOSE_QUOTE,
    LG_N_DELIMITERS
} lg_delimiter;

/* Leaf tags of code and markup: LANGUAGE.NAME. The languages' files say which syntax gets which. */
typedef struct lg_code_tag {
    const char *name;
    uint8_t family;    /* lg_family */
    uint8_t delimiter; /* lg_delimiter: the whole span is one */
    bool prose;        /* delimiters inside are looked for as in prose (text, comments, strings) */
} lg_code_tag;

#endif
