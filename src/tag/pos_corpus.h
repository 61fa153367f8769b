/* Tagged text to learn from and to measure with: Brown's word/tag lines, and CoNLL-U. */
#ifndef LG_TAG_POS_CORPUS_H
#define LG_TAG_POS_CORPUS_H

#include "base/text.h"
#include "lossgap/base.h"
#include "tag/spans.h"

enum { LG_POS_MAX_TAGS = 255, LG_POS_MAX_TAG_BYTES = 31 };

/* Names, each once, in the order in which they came. {0} to start. */
typedef struct lg_pos_names {
    char **names;
    size_t count, capacity;
} lg_pos_names;

/* The index of NAME, added if it is new; SIZE_MAX: no memory. */
size_t lg_pos_names_add(lg_pos_names *names, const char *name, size_t length);
/* SIZE_MAX: not there. */
size_t lg_pos_names_find(const lg_pos_names *names, const char *name, size_t length);
void lg_pos_names_free(lg_pos_names *names);

typedef struct lg_pos_corpus {
    /* The words as the file gives them, joined: no space where it says so, else one; a line feed between
       sentences. */
    lg_text given;
    lg_spans words; /* in `given`; tag: LG_BEGINS_SENTENCE or 0 */
    uint16_t *gold; /* [words.count] index into `tags` */
    lg_pos_names tags;
    size_t *document_end; /* [n_documents] words up to the end of each document */
    size_t n_documents;

    /* CoNLL-U only: the text as a stranger meets it (`# text`), and where the words lie in it. The parts of a
       word whose surface is not what they spell lie on all of it: `parts` says how many share the span, at
       the first one; 0 at the others; 1: a word of its own. */
    lg_text raw;
    uint64_t *raw_begin, *raw_end; /* [words.count] */
    uint8_t *parts;                /* [words.count] */
    size_t capacity, document_capacity;
} lg_pos_corpus;

/* Appends the text of PATH to CORPUS ({0} to start). TAGSET: "brown" reads word/tag lines, its tags without
   -hl, -tl and -nc and in lower case; "upos" and "penn" read CoNLL-U; NULL reads either, as brown or upos.
   The file is untrusted: errors name the line. On error the corpus may hold a part of the file; free it. */
lg_status lg_pos_corpus_read(lg_pos_corpus *corpus, const char *path, const char *tagset, lg_error *error);
/* The same over bytes in memory; NAME stands for the file in errors. */
lg_status lg_pos_corpus_parse(lg_pos_corpus *corpus, const char *text, size_t size, const char *name,
                              const char *tagset, lg_error *error);
void lg_pos_corpus_free(lg_pos_corpus *corpus);

#endif
