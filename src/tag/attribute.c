/* From spans to tokens: which spans give a token its tags (method §3). */
#include "tag/tag_internal.h"

const char *const lg_multi_names[] = {"first", "all", "drop", NULL};

static bool is_blank(const lg_tag_cursor *c, size_t span) {
    return c->whole && c->spans->tag[span] == LG_TAG_BLANK;
}

size_t lg_tag_next(lg_tag_cursor *c, size_t *first, size_t *last) {
    const lg_tag_document *d = c->document;
    const lg_spans *s = c->spans;
    size_t i = c->token++, begin = lg_tag_token_first(d, i), end = lg_tag_token_end(d, i);
    bool white = begin == end;
    if (white) begin = lg_tag_token_begin(d, i);
    while (c->at < s->count && s->end[c->at] <= begin) c->at++;
    *first = *last = c->at;
    while (begin < end && *last < s->count && s->begin[*last] < end) ++*last;
    if (*first == *last) return SIZE_MAX;
    size_t single = *first;
    while (single < *last && is_blank(c, single)) single++;
    if (single == *last) return *first;
    if (!c->whole && (white || s->begin[single] > begin)) return SIZE_MAX;
    if (d->context->options->multi == LG_MULTI_DROP)
        for (size_t k = single + 1; k < *last; k++)
            if (s->tag[k] != s->tag[single] && !is_blank(c, k)) return SIZE_MAX;
    return single;
}

void lg_tag_fill(const lg_tag_document *d, const lg_spans *spans, bool whole, uint16_t *column) {
    lg_tag_cursor c = {.document = d, .spans = spans, .whole = whole};
    for (size_t i = 0; i < d->n_tokens; i++) {
        size_t first, last, single = lg_tag_next(&c, &first, &last);
        column[i] = single == SIZE_MAX ? 0 : (uint16_t)(spans->tag[single] + 1);
    }
}
