/* Sentences of prose, and which one a token belongs to. */
#include <stdlib.h>

#include "tag/prose.h"
#include "tag/tag_internal.h"

static void *start(const void *state) {
    (void)state;
    return calloc(1, sizeof(lg_spans));
}

static void stop(void *scratch) {
    if (scratch) lg_spans_free(scratch);
    free(scratch);
}

static bool make_spans(const lg_tag_maker *self, const lg_tag_document *d, lg_spans *spans) {
    (void)self;
    if (d->kind != LG_PROSE) return true;
    lg_spans *words = d->scratch;
    words->count = 0;
    if (!lg_split_prose(d->text, d->classes, d->n_bytes, LG_SPLIT_WHOLE, words)) return false;
    for (size_t i = 0; i < words->count; i++) {
        if (words->tag[i] == LG_BEGINS_SENTENCE && !lg_spans_add(spans, words->begin[i], words->begin[i], 0))
            return false;
        spans->end[spans->count - 1] = words->end[i];
    }
    return true;
}

static bool fill(const lg_tag_maker *self, const lg_tag_document *d, const lg_spans *spans,
                 void *const *columns) {
    (void)self;
    uint32_t *sentence = columns[0];
    lg_tag_cursor c = {.document = d, .spans = spans};
    for (size_t i = 0; i < d->n_tokens; i++) {
        size_t first, last;
        lg_tag_next(&c, &first, &last);
        sentence[i] = first < last ? (uint32_t)(first + 1) : 0;
    }
    return true;
}

static const char *const tags[] = {"sentence", NULL};

const lg_tag_maker lg_maker_sentence = {
    .name = "sentence",
    .help = "sentences of prose",
    .needs_text = true,
    .tags = tags,
    .columns = {{.name = "sentence",
                 .help = "number of the sentence in the document, from 1; 0: none",
                 .dtype = LG_U32}},
    .start = start,
    .stop = stop,
    .make_spans = make_spans,
    .fill = fill,
};
