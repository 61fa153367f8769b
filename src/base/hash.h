/* Content hashes: XXH3-128, streamed. */
#ifndef LG_BASE_HASH_H
#define LG_BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct lg_hash {
    uint64_t high, low;
} lg_hash;

typedef struct lg_hasher lg_hasher;

lg_hasher *lg_hasher_create(void); /* NULL: no memory */
void lg_hasher_add(lg_hasher *hasher, const void *data, size_t size);
lg_hash lg_hasher_value(const lg_hasher *hasher);
void lg_hasher_reset(lg_hasher *hasher);
void lg_hasher_free(lg_hasher *hasher);

lg_hash lg_hash_of(const void *data, size_t size);
void lg_hash_hex(lg_hash hash, char out[33]);

static inline bool lg_hash_equal(lg_hash a, lg_hash b) {
    return a.high == b.high && a.low == b.low;
}

#endif
