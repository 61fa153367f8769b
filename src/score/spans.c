/* Spans that several tokenisations of one document share. */
#include "score/spans.h"

void lg_span_start(lg_span_track *track, const uint64_t *ends, size_t n, uint64_t begin) {
    *track = (lg_span_track){.ends = ends, .n = n, .end = begin};
}

/* Whoever is behind goes on to its first end that is not before the farthest one, until nobody is behind: an
   end that all share can lie no nearer. */
uint64_t lg_span_next(lg_span_track *tracks, size_t n, uint64_t begin, uint64_t stop) {
    uint64_t target = begin + 1;
    for (size_t t = 0; t < n; t++) tracks[t].first = tracks[t].last;
    for (size_t t = 0, there = 0; there < n; t = t + 1 == n ? 0 : t + 1) {
        lg_span_track *x = &tracks[t];
        if (x->end < target) {
            while (x->last < x->n && x->ends[x->last] < target) x->last++;
            x->end = x->last < x->n ? x->ends[x->last++] : stop;
        }
        there = x->end > target ? 1 : there + 1;
        target = x->end;
    }
    if (target == stop)
        for (size_t t = 0; t < n; t++) tracks[t].last = tracks[t].n;
    return target;
}
