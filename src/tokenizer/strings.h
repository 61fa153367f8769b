/* A table of byte strings with a number each, in the order of their arrival. */
#ifndef LG_TOKENIZER_STRINGS_H
#define LG_TOKENIZER_STRINGS_H

#include "base/text.h"

typedef struct lg_strings_entry {
    size_t begin; /* in blob */
    uint32_t length, value;
} lg_strings_entry;

typedef struct lg_strings_slot {
    uint32_t index; /* 1 + the entry, or 0 */
    uint32_t hash;
} lg_strings_slot;

/* {0} to start. */
typedef struct lg_strings {
    lg_text blob;
    lg_strings_entry *entries; /* [count] */
    size_t count, capacity;
    lg_strings_slot *slots; /* [mask + 1] */
    size_t mask;
} lg_strings;

typedef enum lg_strings_added { LG_STRINGS_NEW, LG_STRINGS_KNOWN, LG_STRINGS_NO_MEMORY } lg_strings_added;

/* KNOWN: the string was there already, and keeps its value. */
lg_strings_added lg_strings_add(lg_strings *strings, const char *data, size_t length, uint32_t value);
bool lg_strings_find(const lg_strings *strings, const char *data, size_t length, uint32_t *value);
void lg_strings_free(lg_strings *strings);

#endif
