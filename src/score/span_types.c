/* Numbers for byte strings: a hash table over places in the text. */
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/memory.h"
#include "score/align_internal.h"

typedef struct lg_type {
    uint64_t hash, begin, end; /* bytes where it stood first; end 0: the slot is free */
    uint32_t number;
} lg_type;

static bool grow(lg_types *t) {
    size_t capacity = t->capacity ? 2 * t->capacity : 1 << 12;
    lg_type *slots = capacity > t->capacity ? calloc(capacity, sizeof *slots) : NULL;
    if (!slots) return false;
    for (size_t i = 0; i < t->capacity; i++) {
        if (!t->slots[i].end) continue;
        size_t at = (size_t)t->slots[i].hash & (capacity - 1);
        while (slots[at].end) at = (at + 1) & (capacity - 1);
        slots[at] = t->slots[i];
    }
    free(t->slots);
    t->slots = slots;
    t->capacity = capacity;
    return true;
}

/* First all hashes, so that the table's lines are on their way when they are looked at. */
bool lg_types_number(lg_types *t, const char *text, const uint64_t *begin, const uint64_t *end, size_t n,
                     uint32_t *ids) {
    if (!lg_reserve(&t->hashes, &t->hashes_room, n, sizeof *t->hashes)) return false;
    while (t->capacity / 2 < t->count + n)
        if (!grow(t)) return false;
    for (size_t i = 0; i < n; i++) {
        t->hashes[i] = XXH3_64bits(text + begin[i], (size_t)(end[i] - begin[i]));
        __builtin_prefetch(&t->slots[(size_t)t->hashes[i] & (t->capacity - 1)]);
    }
    for (size_t i = 0; i < n; i++) {
        const uint64_t hash = t->hashes[i];
        const size_t length = (size_t)(end[i] - begin[i]);
        lg_type *slot;
        for (size_t at = (size_t)hash & (t->capacity - 1);; at = (at + 1) & (t->capacity - 1)) {
            slot = &t->slots[at];
            if (!slot->end || (slot->hash == hash && slot->end - slot->begin == length &&
                               memcmp(text + slot->begin, text + begin[i], length) == 0))
                break;
        }
        if (!slot->end) {
            if (t->count == UINT32_MAX) return false;
            *slot = (lg_type){hash, begin[i], end[i], t->count++};
        }
        ids[i] = slot->number;
    }
    return true;
}

void lg_types_free(lg_types *t) {
    free(t->slots);
    free(t->hashes);
    *t = (lg_types){0};
}
