/* Copy features: how long a run of tokens ending here was seen before, and how far back the token itself was.

   copy_len[i] is the length of the longest suffix of ids[0 … i] that also ends earlier. Ukkonen's
   construction of the suffix tree holds it at every step: after element i it is the number of suffixes that
   are not leaves yet. The tree lives in arrays; edges of inner nodes in one hash table, edges of the root in
   an array over the distinct tokens. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tag/tag_internal.h"

/* An edge leads to an inner node (its number) or to a leaf (LEAF and where its label starts; it never ends).
 */
#define LEAF 0x80000000u
#define NONE 0xffffffffu

typedef struct node {
    uint32_t start, length; /* label of the edge into it: tokens[start … start + length - 1] */
    uint32_t link;          /* suffix link */
} node;

typedef struct slot {
    uint64_t key;
    uint32_t value, stamp; /* filled in this run if stamp is the current one */
} slot;

typedef struct table {
    slot *slots;
    size_t capacity, mask;
    uint32_t stamp;
} table;

struct lg_copy {
    uint32_t *tokens, *last,
        *root; /* tokens: dense numbers in order of appearance; of each: last place, root's edge */
    size_t tokens_room, last_room, root_room;
    node *nodes;
    size_t nodes_room;
    table types, edges;
};

lg_copy *lg_copy_create(void) {
    return calloc(1, sizeof(lg_copy));
}

void lg_copy_free(lg_copy *copy) {
    if (!copy) return;
    free(copy->tokens);
    free(copy->last);
    free(copy->root);
    free(copy->nodes);
    free(copy->types.slots);
    free(copy->edges.slots);
    free(copy);
}

/* Empties T and makes room for N keys at a load of at most one half. */
static bool table_start(table *t, size_t n) {
    size_t size = 64;
    while (size < 2 * n) size *= 2;
    if (size > t->capacity || t->stamp == UINT32_MAX) {
        free(t->slots);
        t->slots = calloc(size, sizeof *t->slots);
        t->capacity = t->slots ? size : 0;
        t->stamp = 0;
        if (!t->slots) return false;
    }
    t->mask = size - 1; /* a short run stays in a small part of the table, and in the cache */
    t->stamp++;
    return true;
}

/* The slot of KEY: filled in this run, or free for it. */
static inline slot *table_find(const table *t, uint64_t key) {
    uint64_t h = key * 0x9E3779B97F4A7C15u;
    h ^= h >> 32;
    for (size_t i = (size_t)h & t->mask;; i = (i + 1) & t->mask) {
        slot *s = &t->slots[i];
        if (s->stamp != t->stamp || s->key == key) return s;
    }
}

static inline void table_set(const table *t, uint64_t key, uint32_t value) {
    slot *s = table_find(t, key);
    *s = (slot){key, value, t->stamp};
}

/* Numbers the tokens by first appearance (so that breaks can have numbers of their own) and finds the
 * distances. */
static bool number_tokens(lg_copy *c, const uint32_t *ids, const bool *is_break, size_t n,
                          uint32_t *prev_distance) {
    uint32_t types = 0;
    for (size_t i = 0; i < n; i++) {
        prev_distance[i] = 0;
        if (is_break && is_break[i]) {
            c->tokens[i] = types;
            c->last[types++] = (uint32_t)i;
            continue;
        }
        slot *s = table_find(&c->types, ids[i]);
        if (s->stamp != c->types.stamp) *s = (slot){ids[i], types++, c->types.stamp};
        else prev_distance[i] = (uint32_t)i - c->last[s->value];
        c->tokens[i] = s->value;
        c->last[s->value] = (uint32_t)i;
    }
    if (!lg_reserve(&c->root, &c->root_room, types, sizeof *c->root)) return false;
    memset(c->root, 0xff, types * sizeof *c->root);
    return true;
}

bool lg_copy_features(lg_copy *c, const uint32_t *ids, const bool *is_break, size_t n, uint16_t *copy_len,
                      uint32_t *prev_distance) {
    if (n == 0) return true;
    if (n >= LEAF || !lg_reserve(&c->tokens, &c->tokens_room, n, sizeof *c->tokens) ||
        !lg_reserve(&c->last, &c->last_room, n, sizeof *c->last) ||
        !lg_reserve(&c->nodes, &c->nodes_room, n + 1, sizeof *c->nodes) || !table_start(&c->types, n) ||
        !table_start(&c->edges, 2 * n) || !number_tokens(c, ids, is_break, n, prev_distance))
        return false;
    const uint32_t *s = c->tokens;
    node *nodes = c->nodes;
    uint32_t n_nodes = 1; /* 0 is the root */
    nodes[0] = (node){0};

    /* The active point: below `at`, `deep` tokens down the edge whose label begins with s[edge]. `open`
       suffixes, the shorter ones of ids[0 … i], are inner points of the tree. */
    uint32_t at = 0, edge = 0, deep = 0, open = 0;
    for (uint32_t i = 0; i < (uint32_t)n; i++) {
        uint32_t unlinked = 0; /* an inner node made in this step that has no suffix link yet */
        open++;
        while (open) {
            if (!deep) edge = i;
            uint64_t key = (uint64_t)at << 32 | s[edge];
            uint32_t child = NONE;
            slot *place = NULL;
            if (!at) {
                child = c->root[s[edge]];
            } else {
                place = table_find(&c->edges, key);
                if (place->stamp == c->edges.stamp) child = place->value;
            }
            if (child == NONE) { /* a new leaf here */
                if (at) *place = (slot){key, LEAF | i, c->edges.stamp};
                else c->root[s[edge]] = LEAF | i;
                if (unlinked) nodes[unlinked].link = at;
                unlinked = 0;
            } else {
                bool leaf = child & LEAF;
                if (!leaf && deep >= nodes[child].length) { /* walk down */
                    edge += nodes[child].length;
                    deep -= nodes[child].length;
                    at = child;
                    continue;
                }
                uint32_t start = leaf ? child & ~LEAF : nodes[child].start;
                if (s[start + deep] == s[i]) { /* it is there already, and so are all shorter suffixes */
                    if (unlinked) nodes[unlinked].link = at;
                    deep++;
                    break;
                }
                uint32_t split = n_nodes++; /* a leaf that leaves the edge in its middle */
                nodes[split] = (node){start, deep, 0};
                if (at) place->value = split;
                else c->root[s[edge]] = split;
                table_set(&c->edges, (uint64_t)split << 32 | s[i], LEAF | i);
                uint32_t rest = leaf ? LEAF | (start + deep) : child;
                if (!leaf) {
                    nodes[child].start += deep;
                    nodes[child].length -= deep;
                }
                table_set(&c->edges, (uint64_t)split << 32 | s[start + deep], rest);
                if (unlinked) nodes[unlinked].link = split;
                unlinked = split;
            }
            open--;
            if (at) {
                at = nodes[at].link;
            } else if (deep) {
                deep--;
                edge = i - open + 1;
            }
        }
        copy_len[i] = open < UINT16_MAX ? (uint16_t)open : UINT16_MAX;
    }
    return true;
}
