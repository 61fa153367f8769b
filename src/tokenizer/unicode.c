/* The table of character classes. */
#include "tokenizer/unicode.h"

#include <stdlib.h>

#include "tokenizer/unicode_ranges.h"

static void mark(uint8_t *classes, const lg_range *ranges, size_t count, uint8_t bit) {
    for (size_t i = 0; i < count; i++)
        for (uint32_t c = ranges[i].first; c <= ranges[i].last; c++) classes[c] |= bit;
}

#define MARK(classes, ranges, bit) mark(classes, ranges, sizeof(ranges) / sizeof *(ranges), bit)

uint8_t *lg_unicode_classes(void) {
    uint8_t *classes = calloc(LG_CODE_POINTS, 1);
    if (!classes) return NULL;
    MARK(classes, letter_ranges, LG_LETTER);
    MARK(classes, number_ranges, LG_NUMBER);
    MARK(classes, space_ranges, LG_SPACE);
    MARK(classes, word_ranges, LG_WORD);
    MARK(classes, joining_ranges, LG_JOINING);
    MARK(classes, newer_ranges, LG_NEWER);
    classes['\n'] |= LG_NEWLINE;
    classes['\r'] |= LG_NEWLINE;
    classes[' '] |= LG_BLANK;
    return classes;
}

unsigned lg_class_before(const uint8_t *classes, const unsigned char *begin, const unsigned char *end,
                         size_t *length) {
    for (size_t n = 1; n <= 4 && n <= (size_t)(end - begin); n++) {
        if ((end[-(ptrdiff_t)n] & 0xC0) == 0x80) continue;
        unsigned class = lg_class_at(classes, end - n, end, length);
        if (*length == n) return class;
        break;
    }
    *length = 1; /* a byte that belongs to no character */
    return classes[LG_REPLACEMENT];
}
