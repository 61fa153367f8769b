/* Any bytes, cut into tokens anyhow, as a document of any kind: tags stay within their names, spans in order
 * and inside. */
#include <stdlib.h>
#include <string.h>

#include "tag/tag_internal.h"

#define CHECK(what)                                                                                          \
    if (!(what)) abort()

static uint32_t value_of(const lg_tag_column *column, const void *values, size_t i) {
    return column->dtype == LG_U8    ? ((const uint8_t *)values)[i]
           : column->dtype == LG_U16 ? ((const uint16_t *)values)[i]
                                     : ((const uint32_t *)values)[i];
}

static void check_family(const lg_tag_family *f, const lg_tag_document *d, lg_spans *spans) {
    void *columns[LG_TAG_MAX_COLUMNS] = {0};
    for (size_t c = 0; c < LG_TAG_MAX_COLUMNS && f->columns[c].name; c++) {
        columns[c] = malloc(d->n_tokens * lg_dtype_size(f->columns[c].dtype) + 1);
        CHECK(columns[c]);
    }
    spans->count = 0;
    CHECK(!f->make_spans || f->make_spans(d, spans));
    CHECK(f->fill(d, spans, columns));
    size_t n_tags = 0, before = 0;
    while (f->tags && f->tags[n_tags]) n_tags++;
    for (size_t s = 0; s < spans->count; s++) {
        CHECK(spans->begin[s] >= before && spans->end[s] > spans->begin[s] && spans->end[s] <= d->n_bytes);
        CHECK(spans->tag[s] < n_tags);
        before = (size_t)spans->end[s];
    }
    for (size_t c = 0; c < LG_TAG_MAX_COLUMNS && columns[c]; c++) {
        size_t n_levels = 0;
        while (f->columns[c].levels && f->columns[c].levels[n_levels]) n_levels++;
        for (size_t i = 0; n_levels && i < d->n_tokens; i++)
            CHECK(value_of(&f->columns[c], columns[c], i) < n_levels);
        free(columns[c]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 3) return 0;
    lg_tag_document d = {
        .text = (const char *)data + 2, .n_bytes = size - 2, .kind = (lg_kind)(data[0] % LG_N_KINDS)};
    uint32_t *ids = calloc(size, sizeof *ids);
    uint64_t *ends = calloc(size, sizeof *ends);
    uint8_t *classes = calloc(size, 1);
    lg_spans spans = {0};
    d.copy = lg_copy_create();
    CHECK(ids && ends && classes && d.copy);
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
    for (size_t f = 0; lg_tag_families[f]; f++) check_family(lg_tag_families[f], &d, &spans);
    lg_spans_free(&spans);
    lg_copy_free(d.copy);
    free(ids);
    free(ends);
    free(classes);
    return 0;
}
