/* Words: maximal runs of letters, marks, digits, _ and inner apostrophes; and where in its word a token
 * stands. */
#include "tag/tag_internal.h"

static bool in_word(const lg_tag_document *d, size_t at) {
    return at < d->n_bytes && (d->classes[at] & LG_CLASS_IN_WORD);
}

/* Bytes of the apostrophe at AT: ' or U+2019; 0: none. */
static size_t apostrophe(const lg_tag_document *d, size_t at) {
    const unsigned char *s = (const unsigned char *)d->text + at;
    if (at < d->n_bytes && s[0] == '\'') return 1;
    return at + 2 < d->n_bytes && s[0] == 0xE2 && s[1] == 0x80 && s[2] == 0x99 ? 3 : 0;
}

static bool make_spans(const lg_tag_maker *self, const lg_tag_document *d, lg_spans *spans) {
    (void)self;
    for (size_t i = 0; i < d->n_bytes;) {
        if (!in_word(d, i)) {
            i++;
            continue;
        }
        size_t end = i + 1;
        for (;;) {
            while (in_word(d, end)) end++;
            size_t inner = apostrophe(d, end);
            if (!inner || !in_word(d, end + inner)) break;
            end += inner;
        }
        if (!lg_spans_add(spans, i, end, 0)) return false;
        i = end;
    }
    return true;
}

enum { NONE, WHOLE, PREFIX, MIDDLE, SUFFIX };

static bool fill(const lg_tag_maker *self, const lg_tag_document *d, const lg_spans *words,
                 void *const *columns) {
    (void)self;
    uint8_t *out = columns[0];
    for (size_t i = 0, w = 0; i < d->n_tokens; i++) {
        size_t begin = lg_tag_token_begin(d, i), end = lg_tag_token_end(d, i);
        while (w < words->count && words->end[w] <= begin) w++;
        if (begin == end || w == words->count || words->begin[w] >= end) {
            out[i] = NONE;
            continue;
        }
        bool first = begin <= words->begin[w], last = end >= words->end[w];
        out[i] = first && last ? WHOLE : first ? PREFIX : last ? SUFFIX : MIDDLE;
    }
    return true;
}

static const char *const tags[] = {"word", NULL};
static const char *const levels[] = {"none", "whole", "prefix", "middle", "suffix", NULL};

const lg_tag_maker lg_maker_word = {
    .name = "word",
    .help = "where in its word the token stands",
    .needs_text = true,
    .tags = tags,
    .make_spans = make_spans,
    .columns = {{.name = "word_position",
                 .help = "within the first word that the token overlaps",
                 .dtype = LG_U8,
                 .levels = levels}},
    .fill = fill,
};
