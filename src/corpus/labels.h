/* Distinct strings, numbered in order of appearance. */
#ifndef LG_CORPUS_LABELS_H
#define LG_CORPUS_LABELS_H

#include "base/json.h"
#include "base/memory.h"

/* {0} to start. */
typedef struct lg_labels {
    lg_string *labels; /* [n] NUL-terminated */
    size_t n, capacity;
    uint32_t *slots; /* [n_slots] open addressing: 1 + index, 0 free */
    size_t n_slots;
    lg_arena strings;
} lg_labels;

bool lg_labels_add(lg_labels *labels, lg_string label,
                   size_t *index); /* the old or a new index; false: no memory */
void lg_labels_free(lg_labels *labels);

#endif
