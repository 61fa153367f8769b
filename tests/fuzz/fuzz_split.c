/* Any bytes as prose, in both styles: words in order, not empty, without white space inside, and every other
   byte in exactly one; the first word of the text begins a sentence. */
#include <stdlib.h>
#include <string.h>

#include "tag/prose.h"

#define CHECK(what)                                                                                          \
    if (!(what)) abort()

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1); /* of its own size, so that a read behind it is seen */
    uint8_t *classes = malloc(size + 1);
    CHECK(text && classes);
    if (size) memcpy(text, data, size);
    text = realloc(text, size ? size : 1);
    CHECK(text);
    lg_classify(text, size, classes);
    for (int style = 0; style < 2; style++) {
        lg_spans words = {0};
        CHECK(lg_split_prose(text, classes, size, (lg_split)style, &words));
        size_t at = 0;
        for (size_t w = 0; w < words.count; w++) {
            CHECK(words.begin[w] >= at && words.end[w] > words.begin[w] && words.end[w] <= size);
            for (; at < words.begin[w]; at++) CHECK((classes[at] & LG_CLASS_MASK) == LG_CLASS_WHITESPACE);
            for (; at < words.end[w]; at++) CHECK((classes[at] & LG_CLASS_MASK) != LG_CLASS_WHITESPACE);
            CHECK(words.tag[w] <= LG_BEGINS_SENTENCE && (w || words.tag[w] == LG_BEGINS_SENTENCE));
        }
        for (; at < size; at++) CHECK((classes[at] & LG_CLASS_MASK) == LG_CLASS_WHITESPACE);
        lg_spans_free(&words);
    }
    free(text);
    free(classes);
    return 0;
}
