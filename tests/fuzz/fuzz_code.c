/* Any bytes as code of any kind: every byte lies in exactly one leaf, tags are known, and the same text gets
   the same leaves whatever was tagged before it. */
#include <stdlib.h>
#include <string.h>

#include "tag/code.h"

#define CHECK(what)                                                                                          \
    if (!(what)) abort()

static lg_code *shared; /* goes on from input to input, as a thread's does */

static void leaves_of(lg_code *code, lg_kind kind, const char *text, const uint8_t *classes, size_t n,
                      lg_spans *leaves) {
    leaves->count = 0;
    CHECK(lg_code_leaves(code, kind, text, classes, n, leaves));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) return 0;
    lg_kind kind = (lg_kind)(1 + data[0] % (LG_N_KINDS - 1));
    size_t n = size - 1, n_tags = 0;
    char *text = malloc(n + !n); /* so that a byte too many is seen */
    uint8_t *classes = malloc(n + !n);
    lg_code *fresh = lg_code_create();
    lg_spans first = {0}, again = {0};
    if (!shared) shared = lg_code_create();
    CHECK(text && classes && fresh && shared);
    memcpy(text, data + 1, n);
    lg_classify(text, n, classes);
    while (lg_code_tags[n_tags].name) n_tags++;
    leaves_of(shared, kind, text, classes, n, &first);
    leaves_of(fresh, kind, text, classes, n, &again);
    size_t at = 0;
    CHECK(first.count == again.count);
    for (size_t i = 0; i < first.count; i++) {
        CHECK(first.begin[i] == at && first.end[i] > at && first.tag[i] < n_tags);
        CHECK(again.begin[i] == at && again.end[i] == first.end[i] && again.tag[i] == first.tag[i]);
        at = (size_t)first.end[i];
    }
    CHECK(at == n);
    lg_spans_free(&first);
    lg_spans_free(&again);
    lg_code_free(fresh);
    free(classes);
    free(text);
    return 0;
}
