/* Content hashes: XXH3-128, streamed. */
#include "base/hash.h"

#include <stdio.h>
#include <xxhash.h>

static lg_hash convert(XXH128_hash_t h) {
    return (lg_hash){h.high64, h.low64};
}

lg_hasher *lg_hasher_create(void) {
    XXH3_state_t *state = XXH3_createState();
    if (state) XXH3_128bits_reset(state);
    return (lg_hasher *)state;
}

void lg_hasher_add(lg_hasher *hasher, const void *data, size_t size) {
    if (size) XXH3_128bits_update((XXH3_state_t *)hasher, data, size);
}

lg_hash lg_hasher_value(const lg_hasher *hasher) {
    return convert(XXH3_128bits_digest((const XXH3_state_t *)hasher));
}

void lg_hasher_reset(lg_hasher *hasher) {
    XXH3_128bits_reset((XXH3_state_t *)hasher);
}

void lg_hasher_free(lg_hasher *hasher) {
    XXH3_freeState((XXH3_state_t *)hasher);
}

lg_hash lg_hash_of(const void *data, size_t size) {
    return convert(XXH3_128bits(size ? data : "", size));
}

void lg_hash_hex(lg_hash hash, char out[33]) {
    snprintf(out, 33, "%016llx%016llx", (unsigned long long)hash.high, (unsigned long long)hash.low);
}
