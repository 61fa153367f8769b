/* Samples of documents by content hash.

   A domain's sample is the longest run of documents, in order of (hash, index), whose tokens stay within the
   limit. While documents come in any order, a heap holds that run for those seen so far: a new one is pushed
   if it lies before the cutoff, and while the sum is over the limit, the last of the order is popped and
   becomes the cutoff. What comes at or after the cutoff can be passed over: the sum up to the cutoff is over
   the limit already and only grows. */
#include "corpus/sample.h"

#include <stdlib.h>

#include "base/memory.h"

typedef struct entry {
    lg_hash hash;
    uint64_t index, tokens;
} entry;

typedef struct domain {
    entry *heap; /* [n] the last in order first */
    size_t n, capacity;
    uint64_t tokens;
    bool cut;
    entry cutoff;
} domain;

struct lg_sample {
    uint64_t limit;
    domain *domains; /* [n] */
    size_t n, capacity;
    uint64_t *kept; /* [n_kept] indices, rising */
    size_t n_kept, at;
};

static bool before(lg_hash a, uint64_t i, const entry *b) {
    if (a.high != b->hash.high) return a.high < b->hash.high;
    if (a.low != b->hash.low) return a.low < b->hash.low;
    return i < b->index;
}

static bool entry_before(const entry *a, const entry *b) {
    return before(a->hash, a->index, b);
}

lg_sample *lg_sample_create(uint64_t limit) {
    lg_sample *sample = calloc(1, sizeof *sample);
    if (sample) sample->limit = limit;
    return sample;
}

bool lg_sample_wants(const lg_sample *sample, size_t d, lg_hash hash, uint64_t index) {
    return d >= sample->n || !sample->domains[d].cut || before(hash, index, &sample->domains[d].cutoff);
}

static bool push(domain *d, entry new) {
    if (!lg_reserve(&d->heap, &d->capacity, d->n + 1, sizeof new)) return false;
    size_t i = d->n++;
    for (; i && entry_before(&d->heap[(i - 1) / 2], &new); i = (i - 1) / 2) d->heap[i] = d->heap[(i - 1) / 2];
    d->heap[i] = new;
    return true;
}

static entry pop(domain *d) {
    entry top = d->heap[0], moved = d->heap[--d->n];
    size_t i = 0;
    for (size_t child = 1; child < d->n; i = child, child = 2 * i + 1) {
        if (child + 1 < d->n && entry_before(&d->heap[child], &d->heap[child + 1])) child++;
        if (!entry_before(&moved, &d->heap[child])) break;
        d->heap[i] = d->heap[child];
    }
    d->heap[i] = moved;
    return top;
}

bool lg_sample_add(lg_sample *sample, size_t index_of_domain, lg_hash hash, uint64_t index, uint64_t tokens) {
    if (!lg_sample_wants(sample, index_of_domain, hash, index)) return true;
    if (!lg_reserve(&sample->domains, &sample->capacity, index_of_domain + 1, sizeof(domain))) return false;
    while (sample->n <= index_of_domain) sample->domains[sample->n++] = (domain){0};
    domain *d = &sample->domains[index_of_domain];
    if (!push(d, (entry){hash, index, tokens})) return false;
    d->tokens += tokens; /* at most the limit before, and no document has 2^63 tokens */
    while (d->tokens > sample->limit) {
        d->cutoff = pop(d);
        d->cut = true;
        d->tokens -= d->cutoff.tokens;
    }
    return true;
}

static int by_value(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

bool lg_sample_finish(lg_sample *sample) {
    size_t n = 0;
    for (size_t d = 0; d < sample->n; d++) n += sample->domains[d].n;
    sample->kept = lg_alloc(n, sizeof *sample->kept);
    if (!sample->kept) return false;
    for (size_t d = 0; d < sample->n; d++)
        for (size_t i = 0; i < sample->domains[d].n; i++)
            sample->kept[sample->n_kept++] = sample->domains[d].heap[i].index;
    qsort(sample->kept, n, sizeof *sample->kept, by_value);
    return true;
}

bool lg_sample_has(lg_sample *sample, uint64_t index) {
    while (sample->at < sample->n_kept && sample->kept[sample->at] < index) sample->at++;
    return sample->at < sample->n_kept && sample->kept[sample->at] == index;
}

uint64_t lg_sample_too_long(const lg_sample *sample, size_t d) {
    return d < sample->n && sample->domains[d].cut && !sample->domains[d].n ? sample->domains[d].cutoff.tokens
                                                                            : 0;
}

void lg_sample_free(lg_sample *sample) {
    if (!sample) return;
    for (size_t d = 0; d < sample->n; d++) free(sample->domains[d].heap);
    free(sample->domains);
    free(sample->kept);
    free(sample);
}
