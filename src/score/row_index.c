/* Which rows have results, and where they lie: open addressing, since the hashes are good ones already. */
#include "score/row_index.h"

#include <stdlib.h>

/* The slot of HASH or the free one where it belongs. */
static lg_row_entry *slot_of(lg_row_entry *entries, size_t capacity, lg_hash hash) {
    size_t i = (size_t)hash.low & (capacity - 1);
    while (entries[i].place != LG_ROW_NONE && !lg_hash_equal(entries[i].hash, hash))
        i = (i + 1) & (capacity - 1);
    return &entries[i];
}

static bool grow(lg_row_index *index) {
    size_t capacity = index->capacity ? 2 * index->capacity : 64;
    if (capacity < index->capacity) return false;
    lg_row_entry *entries = calloc(capacity, sizeof *entries);
    if (!entries) return false;
    for (size_t i = 0; i < index->capacity; i++)
        if (index->entries[i].place != LG_ROW_NONE)
            *slot_of(entries, capacity, index->entries[i].hash) = index->entries[i];
    free(index->entries);
    index->entries = entries;
    index->capacity = capacity;
    return true;
}

lg_row_entry *lg_row_index_put(lg_row_index *index, lg_hash hash) {
    if (index->count >= index->capacity / 4 * 3 && !grow(index)) return NULL;
    lg_row_entry *entry = slot_of(index->entries, index->capacity, hash);
    if (entry->place == LG_ROW_NONE) {
        entry->hash = hash;
        index->count++;
    }
    return entry;
}

lg_row_entry *lg_row_index_find(const lg_row_index *index, lg_hash hash) {
    if (!index->capacity) return NULL;
    lg_row_entry *entry = slot_of(index->entries, index->capacity, hash);
    return entry->place == LG_ROW_NONE ? NULL : entry;
}

void lg_row_index_free(lg_row_index *index) {
    free(index->entries);
    *index = (lg_row_index){0};
}
