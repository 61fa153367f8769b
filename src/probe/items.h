/* Items in memory, with the room to add those whose strings are there already. */
#ifndef LG_PROBE_ITEMS_H
#define LG_PROBE_ITEMS_H

#include "base/json.h"
#include "base/memory.h"
#include "lossgap/probe.h"

struct lg_probe_items {
    lg_arena arena; /* strings, choices, spans */
    lg_probe_item *items;
    size_t count, capacity;
    size_t *lines; /* [count] of the file, from 1; 0: none */
    size_t lines_capacity;
    size_t
        *slots; /* [n_slots] a hash table of ids: 1 + index, 0 is free; a power of two, at most half full */
    size_t n_slots;
};

/* Adds ITEM, whose strings, choices and spans live in the arena. What is wrong with the item goes to PROBLEM,
   and false is returned: with an empty PROBLEM, there is no memory. */
bool lg_probe_items_append(lg_probe_items *items, const lg_probe_item *item, size_t line, char problem[256]);

/* Forgets the items from COUNT on. */
void lg_probe_items_truncate(lg_probe_items *items, size_t count);

bool lg_probe_is_utf8(const char *text, size_t length);

/* Reads items from memory; NAME stands for the file in errors. */
lg_status lg_probe_items_parse(const char *text, size_t length, const char *name, lg_probe_items **items,
                               lg_error *error);

/* The item as one line of JSON, without the line's end. */
void lg_probe_put_item(lg_text *out, const lg_probe_item *item);

#endif
