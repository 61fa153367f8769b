/* Spans over one document's text: what layers of tags are made of. */
#ifndef LG_TAG_SPANS_H
#define LG_TAG_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Classes of characters. A byte has the class of the character that it belongs to. */
typedef enum lg_char_class {
    LG_CLASS_WHITESPACE,  /* Unicode White_Space */
    LG_CLASS_WORD,        /* letters, marks, _ */
    LG_CLASS_NUMBER,      /* N */
    LG_CLASS_PUNCTUATION, /* P, S */
    LG_CLASS_OTHER,       /* the rest; U+FFFD and bytes that are no UTF-8 */
} lg_char_class;
enum { LG_CLASS_MASK = 7, LG_CLASS_IN_WORD = 8 }; /* IN_WORD: letters, marks, decimal digits, _ */

/* classes.c: classes [n_bytes] of TEXT. */
void lg_classify(const char *text, size_t n_bytes, uint8_t *classes);

/* Spans of one document, in order, without overlap; offsets from the document's first byte. */
typedef struct lg_spans {
    uint64_t *begin, *end; /* [count] */
    uint16_t *tag;         /* [count] index into the layer's tags */
    size_t count, capacity;
} lg_spans;

bool lg_spans_add(lg_spans *spans, uint64_t begin, uint64_t end, uint16_t tag); /* false: no memory */
void lg_spans_free(lg_spans *spans);

#endif
