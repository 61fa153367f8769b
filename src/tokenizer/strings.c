/* A table of byte strings: open addressing over XXH3, at most half full. */
#include "tokenizer/strings.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/memory.h"

/* The slot of the string, or the free one where it belongs. */
static size_t find_slot(const lg_strings *strings, const char *data, size_t length, uint32_t hash) {
    for (size_t slot = hash & strings->mask;; slot = (slot + 1) & strings->mask) {
        lg_strings_slot s = strings->slots[slot];
        if (!s.index) return slot;
        if (s.hash != hash) continue;
        const lg_strings_entry *e = &strings->entries[s.index - 1];
        if (e->length == length && (!length || memcmp(strings->blob.data + e->begin, data, length) == 0))
            return slot;
    }
}

static bool grow(lg_strings *strings) {
    size_t size = strings->slots ? 2 * (strings->mask + 1) : 64;
    lg_strings_slot *slots = calloc(size, sizeof *slots);
    if (!slots) return false;
    for (size_t i = 0; strings->slots && i <= strings->mask; i++) {
        lg_strings_slot s = strings->slots[i];
        size_t slot = s.hash & (size - 1);
        while (s.index && slots[slot].index) slot = (slot + 1) & (size - 1);
        if (s.index) slots[slot] = s;
    }
    free(strings->slots);
    strings->slots = slots;
    strings->mask = size - 1;
    return true;
}

lg_strings_added lg_strings_add(lg_strings *strings, const char *data, size_t length, uint32_t value) {
    if (length > UINT32_MAX || strings->count >= UINT32_MAX / 4) return LG_STRINGS_NO_MEMORY;
    if ((!strings->slots || 2 * (strings->count + 1) > strings->mask + 1) && !grow(strings))
        return LG_STRINGS_NO_MEMORY;
    uint32_t hash = (uint32_t)XXH3_64bits(data, length);
    size_t slot = find_slot(strings, data, length, hash);
    if (strings->slots[slot].index) return LG_STRINGS_KNOWN;
    size_t begin = strings->blob.length;
    if (!lg_reserve(&strings->entries, &strings->capacity, strings->count + 1, sizeof *strings->entries))
        return LG_STRINGS_NO_MEMORY;
    lg_text_put(&strings->blob, data, length);
    if (strings->blob.failed) return LG_STRINGS_NO_MEMORY;
    strings->entries[strings->count] = (lg_strings_entry){begin, (uint32_t)length, value};
    strings->slots[slot] = (lg_strings_slot){(uint32_t)++strings->count, hash};
    return LG_STRINGS_NEW;
}

bool lg_strings_find(const lg_strings *strings, const char *data, size_t length, uint32_t *value) {
    if (!strings->count) return false;
    size_t slot = find_slot(strings, data, length, (uint32_t)XXH3_64bits(data, length));
    if (!strings->slots[slot].index) return false;
    *value = strings->entries[strings->slots[slot].index - 1].value;
    return true;
}

void lg_strings_free(lg_strings *strings) {
    lg_text_free(&strings->blob);
    free(strings->entries);
    free(strings->slots);
    *strings = (lg_strings){0};
}
