/* Tables and helpers of the splitter of prose: split.c cuts words, split_sentence.c marks where sentences
   begin, split_tables.c knows English. */
#ifndef LG_TAG_SPLIT_INTERNAL_H
#define LG_TAG_SPLIT_INTERNAL_H

#include "tag/prose.h"

typedef enum lg_word_list {
    LG_LIST_ABBREVIATION,  /* keeps its final period: "etc." */
    LG_LIST_TITLE,         /* the same, and a name follows: "Mr." */
    LG_LIST_BEFORE_NUMBER, /* an abbreviation if a number follows: "No. 5" */
    LG_LIST_CAPITALISED,   /* an abbreviation if it begins with a capital: "Sat." */
    LG_LIST_PREFIX,        /* stays with its stem in the treebanks: "non-" */
    LG_LIST_SUFFIX,        /* "-wise" */
    LG_LIST_UNIT,          /* the treebanks cut it from its number: "5km" */
    LG_LIST_DOMAIN,        /* last label of a host name */
    LG_LIST_FILE,          /* ending of a file's name */
    LG_LIST_NEWSGROUP,     /* first label of a newsgroup */
    LG_LIST_AFTER_ITS,     /* "its" before it stands for "it's" */
    LG_LIST_COORDINATOR,   /* behind the hyphen of "long- and short-range" */
    LG_LIST_ELIDED,        /* an apostrophe stands for its end: "an'" */
    LG_LIST_CURRENCY,      /* codes, cut from their amount: "Rs500" */
    LG_LIST_SIGN_OFF,      /* a line of its own at the end of a letter */
    LG_LIST_STARTER,       /* often begins a sentence, hardly a name */
    LG_N_LISTS
} lg_word_list;

enum { LG_LONGEST_LISTED = 15 }; /* bytes */

/* Whether WORD [n_bytes], in any case, is in LIST. */
bool lg_listed(lg_word_list list, const char *word, size_t n_bytes);

/* Where the treebanks cut contractions written without an apostrophe or a space: "cannot", "dont". CUTS:
   lengths of the first parts; returns how many parts, 0: no contraction. */
size_t lg_contraction(const char *word, size_t n_bytes, size_t cuts[2]);

/* Marks the words from FIRST on that begin a sentence. */
void lg_mark_sentences(const char *text, size_t n_bytes, lg_split style, lg_spans *words, size_t first);

/* Bytes of the apostrophe or single quote at AT: ' ` U+2018 U+2019; 0: none. */
static inline size_t lg_single_quote(const char *text, size_t at, size_t end) {
    if (at >= end) return 0;
    const unsigned char *s = (const unsigned char *)text + at;
    if (*s == '\'' || *s == '`') return 1;
    return end - at > 2 && s[0] == 0xE2 && s[1] == 0x80 && (s[2] == 0x98 || s[2] == 0x99) ? 3 : 0;
}

static inline bool lg_is_space(const uint8_t *classes, size_t at) {
    return (classes[at] & LG_CLASS_MASK) == LG_CLASS_WHITESPACE;
}
/* Letters, marks, numbers, _ */
static inline bool lg_is_wordy(const uint8_t *classes, size_t at) {
    unsigned c = classes[at] & LG_CLASS_MASK;
    return c == LG_CLASS_WORD || c == LG_CLASS_NUMBER;
}
static inline bool lg_is_digit(char c) {
    return c >= '0' && c <= '9';
}
/* Whether a capital letter stands at AT: ASCII, Latin-1, Greek or Cyrillic; enough for rules on English. */
static inline bool lg_is_capital(const char *text, size_t at, size_t n_bytes) {
    if (at >= n_bytes) return false;
    unsigned char c = (unsigned char)text[at], d = at + 1 < n_bytes ? (unsigned char)text[at + 1] : 0;
    return (c >= 'A' && c <= 'Z') || (c == 0xC3 && d >= 0x80 && d <= 0x9E) ||
           (c == 0xCE && d >= 0x86 && d <= 0xAB) || (c == 0xD0 && d >= 0x80 && d <= 0xAF);
}

#endif
