/* Any bytes, cut into tokens anyhow, as a document of any kind: tags stay within their names, spans in order
 * and inside, and the text is covered once. */
#include <stdlib.h>

#define CHECK(what)                                                                                          \
    if (!(what)) abort()
#include "../tag_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static lg_tag_context context; /* the models are opened once */
    static const lg_tag_options options = {0};
    lg_error error;
    if (!context.options) CHECK(!lg_tag_open_makers(NULL, &options, &context, &error));
    if (size < 3) return 0;
    lg_tag_document d = {
        .text = (const char *)data + 2, .n_bytes = size - 2, .kind = (lg_kind)(data[0] % LG_N_KINDS)};
    uint32_t *ids = calloc(size, sizeof *ids);
    uint64_t *ends = calloc(size, sizeof *ends);
    uint8_t *classes = calloc(size, 1);
    CHECK(ids && ends && classes);
    for (size_t at = 0; at < d.n_bytes; d.n_tokens++) { /* tokens of 1 to 4 bytes, or none */
        size_t length = (data[2 + at] ^ data[1]) % 5;
        if (!length && d.n_tokens && ends[d.n_tokens - 1] == at) length = 1;
        at = at + length < d.n_bytes ? at + length : d.n_bytes;
        if (d.n_tokens + 1 == size) at = d.n_bytes;
        ids[d.n_tokens] = length ? data[1 + at] % 7 : 0;
        ends[d.n_tokens] = at;
    }
    lg_classify(d.text, d.n_bytes, classes);
    d.ids = ids;
    d.ends = ends;
    d.classes = classes;
    tag_check(&context, &d);
    free(ids);
    free(ends);
    free(classes);
    return 0;
}
