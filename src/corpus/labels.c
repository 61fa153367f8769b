/* Distinct strings, numbered in order of appearance. */
#include "corpus/labels.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/* The slot that holds LABEL, or the free one where it belongs. */
static size_t slot_of(const lg_labels *labels, lg_string label) {
    size_t slot = (size_t)lg_hash_of(label.data, label.length).low & (labels->n_slots - 1);
    for (; labels->slots[slot]; slot = (slot + 1) & (labels->n_slots - 1)) {
        lg_string other = labels->labels[labels->slots[slot] - 1];
        if (other.length == label.length && memcmp(other.data, label.data, label.length) == 0) break;
    }
    return slot;
}

static bool grow(lg_labels *labels) {
    size_t n_slots = labels->n_slots ? 2 * labels->n_slots : 64;
    uint32_t *slots = calloc(n_slots, sizeof *slots);
    if (!slots) return false;
    free(labels->slots);
    labels->slots = slots;
    labels->n_slots = n_slots;
    for (size_t i = 0; i < labels->n; i++) slots[slot_of(labels, labels->labels[i])] = (uint32_t)(i + 1);
    return true;
}

bool lg_labels_add(lg_labels *labels, lg_string label, size_t *index) {
    if (2 * (labels->n + 1) > labels->n_slots && !grow(labels)) return false;
    size_t slot = slot_of(labels, label);
    if (!labels->slots[slot]) {
        char *copy = lg_arena_copy(&labels->strings, label.data, label.length);
        if (!copy || !lg_reserve(&labels->labels, &labels->capacity, labels->n + 1, sizeof label))
            return false;
        labels->labels[labels->n++] = (lg_string){copy, label.length};
        labels->slots[slot] = (uint32_t)labels->n;
    }
    *index = labels->slots[slot] - 1;
    return true;
}

void lg_labels_free(lg_labels *labels) {
    free(labels->labels);
    free(labels->slots);
    lg_arena_free(&labels->strings);
    *labels = (lg_labels){0};
}
