/* Growing lists of spans. */
#include "tag/spans.h"

#include <stdlib.h>

#include "base/memory.h"

bool lg_spans_add(lg_spans *s, uint64_t begin, uint64_t end, uint16_t tag) {
    if (s->count == s->capacity) {
        size_t begins = s->capacity, ends = s->capacity, tags = s->capacity;
        if (!lg_reserve(&s->begin, &begins, s->count + 1, sizeof *s->begin) ||
            !lg_reserve(&s->end, &ends, s->count + 1, sizeof *s->end) ||
            !lg_reserve(&s->tag, &tags, s->count + 1, sizeof *s->tag))
            return false;
        s->capacity = tags;
    }
    s->begin[s->count] = begin;
    s->end[s->count] = end;
    s->tag[s->count++] = tag;
    return true;
}

void lg_spans_free(lg_spans *s) {
    free(s->begin);
    free(s->end);
    free(s->tag);
    *s = (lg_spans){0};
}
