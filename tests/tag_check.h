/* What must hold of tags whatever the text: spans in order and inside, tags within their names, the whole
   text covered once by what covers it, columns within their levels. CHECK is the caller's: CHECK(condition).
 */
#ifndef TESTS_TAG_CHECK_H
#define TESTS_TAG_CHECK_H

#include <stdlib.h>
#include <string.h>

#include "tag/tag_internal.h"

static inline uint64_t tag_check_value(const lg_tag_column *column, const void *values, size_t i) {
    return column->dtype == LG_U8    ? ((const uint8_t *)values)[i]
           : column->dtype == LG_U16 ? ((const uint16_t *)values)[i]
           : column->dtype == LG_U32 ? ((const uint32_t *)values)[i]
                                     : ((const uint64_t *)values)[i];
}

static inline void tag_check_maker(const lg_tag_maker *maker, const lg_tag_document *d, lg_spans *spans) {
    const void *state = lg_tag_state(d->context, maker);
    const char *const *tags = lg_tag_names(maker, state);
    void *columns[LG_TAG_MAX_COLUMNS] = {0};
    for (size_t c = 0; c < LG_TAG_MAX_COLUMNS && maker->columns[c].name; c++) {
        columns[c] = malloc(d->n_tokens * lg_dtype_size(maker->columns[c].dtype) + 1);
        CHECK(columns[c]);
    }
    spans->count = 0;
    CHECK(!tags || maker->make_spans(maker, d, spans));
    CHECK(maker->fill(maker, d, spans, columns));
    size_t n_tags = 0, before = 0;
    while (tags && tags[n_tags]) n_tags++;
    bool covers =
        tags && strcmp(tags[0], "whitespace") == 0 && (d->kind == LG_PROSE) == (maker != &lg_maker_code);
    for (size_t s = 0; s < spans->count; s++) {
        CHECK(spans->begin[s] >= before && spans->end[s] > spans->begin[s] && spans->end[s] <= d->n_bytes);
        CHECK(!covers || spans->begin[s] == before);
        CHECK(spans->tag[s] < n_tags);
        before = (size_t)spans->end[s];
    }
    CHECK(!covers || before == d->n_bytes);
    for (size_t c = 0; c < LG_TAG_MAX_COLUMNS && columns[c]; c++) {
        const char *name_before, *const *levels =
                                     lg_tag_levels(maker, state, &maker->columns[c], &name_before);
        size_t n_levels = name_before != NULL;
        for (size_t l = 0; levels && levels[l]; l++) n_levels++;
        for (size_t i = 0; levels && i < d->n_tokens; i++)
            CHECK(tag_check_value(&maker->columns[c], columns[c], i) < n_levels);
        free(columns[c]);
    }
}

/* All makers over a document whose text, classes, kind and tokens are set. */
static inline void tag_check(const lg_tag_context *context, lg_tag_document *d) {
    lg_spans layers[LG_MAX_TAG_MAKERS] = {0};
    d->context = context;
    d->layers = layers;
    for (size_t m = 0; lg_tag_makers[m]; m++) {
        d->scratch = lg_tag_makers[m]->start ? lg_tag_makers[m]->start(context->state[m]) : NULL;
        CHECK(d->scratch || !lg_tag_makers[m]->start);
        tag_check_maker(lg_tag_makers[m], d, &layers[m]);
        if (d->scratch) lg_tag_makers[m]->stop(d->scratch);
    }
    for (size_t m = 0; m < LG_MAX_TAG_MAKERS; m++) lg_spans_free(&layers[m]);
    d->layers = NULL;
}

#endif
