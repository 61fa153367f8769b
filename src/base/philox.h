/* Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011): random numbers as a function of a counter and a key, so
   that any thread can draw any of them, in any order. */
#ifndef LG_BASE_PHILOX_H
#define LG_BASE_PHILOX_H

#include <stdint.h>

static inline void lg_philox(const uint32_t counter[4], uint64_t key, uint32_t out[4]) {
    uint32_t a = counter[0], b = counter[1], c = counter[2], d = counter[3];
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    for (int round = 0; round < 10; round++) {
        uint64_t p = (uint64_t)0xD2511F53u * a, q = (uint64_t)0xCD9E8D57u * c;
        a = (uint32_t)(q >> 32) ^ b ^ k0;
        b = (uint32_t)q;
        c = (uint32_t)(p >> 32) ^ d ^ k1;
        d = (uint32_t)p;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out[0] = a;
    out[1] = b;
    out[2] = c;
    out[3] = d;
}

#endif
