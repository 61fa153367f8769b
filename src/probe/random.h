/* Random numbers as a function of a key and a place, so that an item does not depend on those before it. */
#ifndef LG_PROBE_RANDOM_H
#define LG_PROBE_RANDOM_H

#include <stddef.h>

#include "base/philox.h"

typedef struct lg_random {
    uint64_t key;
    uint32_t counter[4]; /* the first counts draws, the others are the place */
    uint32_t bits[4];
    unsigned left;
} lg_random;

static inline lg_random lg_random_at(uint64_t key, uint32_t a, uint32_t b, uint32_t c) {
    return (lg_random){.key = key, .counter = {0, a, b, c}};
}

static inline uint32_t lg_random_bits(lg_random *r) {
    if (!r->left) {
        lg_philox(r->counter, r->key, r->bits);
        r->counter[0]++;
        r->left = 4;
    }
    return r->bits[--r->left];
}

/* Uniform in 0 … n - 1, without bias; 0 < n <= 2^31. */
static inline size_t lg_random_below(lg_random *r, size_t n) {
    uint32_t range = (uint32_t)n, limit = UINT32_MAX - UINT32_MAX % range, bits;
    do bits = lg_random_bits(r);
    while (bits >= limit);
    return bits % range;
}

/* ORDER becomes the numbers 0 … n - 1 in random order. */
static inline void lg_random_order(lg_random *r, size_t *order, size_t n) {
    for (size_t i = 0; i < n; i++) {
        size_t j = lg_random_below(r, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
}

#endif
