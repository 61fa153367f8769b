/* The table of character classes. */
#include "tokenizer/unicode.h"

#include <stdlib.h>
#include <string.h>

#include "tokenizer/unicode_ranges.h"

enum { N_BLOCKS = LG_CODE_POINTS / 256, N_RANGES = sizeof class_ranges / sizeof *class_ranges };

/* The value of all of the block from FIRST on, of which RANGE is the first range that does not end before it;
 * or -1. */
static int uniform(uint32_t first, size_t range) {
    if (range == N_RANGES || class_ranges[range].first > first + 255) return 0;
    if (class_ranges[range].first <= first && class_ranges[range].last >= first + 255)
        return (int)class_ranges[range].value;
    return -1;
}

/* Builds the table in CLASSES, or only counts its blocks. */
static size_t build(lg_classes *classes) {
    uint16_t shared[256] = {0}; /* 1 + the block with this value throughout */
    size_t count = 0, range = 0;
    for (uint32_t b = 0; b < N_BLOCKS; b++) {
        uint32_t first = b * 256;
        while (range < N_RANGES && class_ranges[range].last < first) range++;
        int value = uniform(first, range);
        if (value >= 0 && shared[value]) {
            if (classes) classes->block[b] = shared[value] - 1;
            continue;
        }
        if (classes) {
            classes->block[b] = (uint16_t)count;
            memset(classes->values[count], value > 0 ? value : 0, 256);
            for (size_t r = range; value < 0 && r < N_RANGES && class_ranges[r].first < first + 256; r++)
                for (uint32_t c = class_ranges[r].first < first ? first : class_ranges[r].first;
                     c <= class_ranges[r].last && c < first + 256; c++)
                    classes->values[count][c - first] = (uint8_t)class_ranges[r].value;
        }
        count++;
        if (value >= 0) shared[value] = (uint16_t)count;
    }
    return count;
}

lg_classes *lg_classes_create(void) {
    lg_classes *classes = malloc(sizeof *classes + build(NULL) * sizeof *classes->values);
    if (classes) build(classes);
    return classes;
}

unsigned lg_class_before(const lg_classes *classes, const unsigned char *begin, const unsigned char *end,
                         size_t *length) {
    for (size_t n = 1; n <= 4 && n <= (size_t)(end - begin); n++) {
        if ((end[-(ptrdiff_t)n] & 0xC0) == 0x80) continue;
        unsigned class = lg_class_at(classes, end - n, end, length);
        if (*length == n) return class;
        break;
    }
    *length = 1; /* a byte that belongs to no character */
    return lg_class_of(classes, LG_REPLACEMENT);
}
