/* What the parts of the splitter share: the state of one pass, looks at the text that stay inside the chunk
   (a run without white space), and the parts' entry points. */
#ifndef LG_TAG_SPLIT_CUTTER_H
#define LG_TAG_SPLIT_CUTTER_H

#include <string.h>

#include "tag/split_internal.h"

typedef struct cutter {
    const char *text;
    const uint8_t *classes;
    size_t n_bytes;
    size_t begin, end; /* of the chunk */
    lg_split style;
    lg_spans *words;
    size_t plain_until;    /* no address and no file name ends before it */
    size_t pathless_until; /* nor a path */
    bool quoted;           /* a single quote is open */
    bool failed;
} cutter;

static inline char at(const cutter *c, size_t i) {
    return i < c->end ? c->text[i] : '\0';
}
static inline bool wordy(const cutter *c, size_t i) {
    return i < c->end && lg_is_wordy(c->classes, i);
}
static inline bool digit(const cutter *c, size_t i) {
    return i < c->end && lg_is_digit(c->text[i]);
}
static inline bool letter(const cutter *c, size_t i) { /* or mark, or _ */
    return i < c->end && (c->classes[i] & LG_CLASS_MASK) == LG_CLASS_WORD;
}
static inline bool capital(const cutter *c, size_t i) {
    return lg_is_capital(c->text, i, c->end);
}
static inline size_t single_quote(const cutter *c, size_t i) {
    return lg_single_quote(c->text, i, c->end);
}
static inline bool listed(const cutter *c, lg_word_list list, size_t begin, size_t end) {
    return lg_listed(list, c->text + begin, end - begin);
}

/* Whether PREFIX stands at I, in any case. */
static inline bool starts_with(const cutter *c, size_t i, const char *prefix) {
    for (size_t k = 0; prefix[k]; k++)
        if ((at(c, i + k) | 0x20) != (prefix[k] | 0x20)) return false;
    return true;
}

static inline void emit(cutter *c, size_t begin, size_t end) {
    if (end > begin && !lg_spans_add(c->words, begin, end, 0)) c->failed = true;
}

/* Cut words from I on, append them, return where they end. Entered by the class of the first character. */
size_t lg_cut_letters(cutter *c, size_t i);
size_t lg_cut_number(cutter *c, size_t begin, size_t i); /* from BEGIN; the first digit is at I */
size_t lg_cut_mark(cutter *c, size_t i);

/* The end of the run of letters, marks, numbers and _ from I. */
size_t lg_cut_run(const cutter *c, size_t i);
/* The end of the run of letters at I, also outside the chunk, or a place too far for any list. */
size_t lg_cut_short_run(const cutter *c, size_t i);
/* The first byte that is no white space from I on, also outside the chunk, but not far; n_bytes if there is
   none or a blank line is between. */
size_t lg_cut_peek(const cutter *c, size_t i);

/* The end of the URL, mail address or file name that begins at I, whose first run of letters or digits ends
   at RUN; or I. */
size_t lg_cut_address(cutter *c, size_t i, size_t run);
/* The end of the path to a file ("~/a/b.txt") that begins at I, or I. */
size_t lg_cut_path(cutter *c, size_t i);

/* split_period.c. Whether the period at DOT after the letters [begin, DOT) belongs to them. */
bool lg_cut_keeps_period(const cutter *c, size_t begin, size_t dot);
/* Whether the letter at I goes on a word: after a letter, or an apostrophe or sign behind one. */
bool lg_cut_inside_word(const cutter *c, size_t i);
/* Whether the period at DOT ends its sentence although the letters [begin, DOT) are abbreviated. */
bool lg_cut_sentence_ends(const cutter *c, size_t begin, size_t dot);
/* The end of the acronym whose first letter is at I ("U.S.", "e.g.", "p.m"); or I. */
size_t lg_cut_acronym(const cutter *c, size_t i);

/* Whether [begin, end) are the letters of 's 'm 'd 'll 're 've. */
bool lg_cut_is_clitic(const cutter *c, size_t begin, size_t end);

#endif
