/* Copy features: how long a run of tokens ending here was seen before, and how far back the token itself was.

   copy_len[i] is the length of the longest suffix of ids[0 … i] that also ends earlier. Ukkonen's
   construction of the suffix tree holds it at every step: after element i it is the number of suffixes that
   are not leaves yet. The tree lives in arrays; edges of inner nodes in one hash table, edges of the root in
   an array over the distinct tokens. */
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/memory.h"
#include "tag/tag_internal.h"

/* Where an edge leads: an inner node's number, or LEAF. */
#define LEAF 0xffffffffu

/* An edge of the tree, by the node that it leaves and the first token of its label. */
typedef struct edge {
    uint64_t key;
    uint32_t child;
    uint32_t start, length; /* label: tokens[start … start + length - 1]; a leaf's never ends */
    uint32_t stamp;         /* of the run that it belongs to; an older one: the slot is free */
} edge;

typedef struct type {
    uint32_t id, number, last, stamp; /* last: place in the run */
} type;

/* Where a run of tokens stood first. */
typedef struct first_run {
    uint32_t end, stamp;
} first_run;

struct lg_copy {
    uint32_t *tokens; /* numbers of the token types in order of appearance */
    edge *root;       /* [types] edges of the root */
    uint32_t *links;  /* [inner nodes] suffix links */
    size_t tokens_room, root_room, links_room;
    type *types; /* hash tables; sizes are powers of two, a short run uses the front part only */
    edge *edges;
    size_t types_room, edges_room, type_slots, edge_slots, n_edges;
    uint32_t stamp;
    first_run *runs; /* hash table of lg_copy_first_distance */
    size_t runs_room;
    uint32_t runs_stamp;
};

lg_copy *lg_copy_create(void) {
    return calloc(1, sizeof(lg_copy));
}

void lg_copy_free(lg_copy *copy) {
    if (!copy) return;
    free(copy->tokens);
    free(copy->root);
    free(copy->links);
    free(copy->types);
    free(copy->edges);
    free(copy->runs);
    free(copy);
}

static size_t slots_for(size_t n) {
    size_t size = 64;
    while (size < n + n / 2) size *= 2;
    return size;
}

static inline size_t hash_of(uint64_t key) {
    key *= 0x9E3779B97F4A7C15u;
    return (size_t)(key ^ key >> 32);
}

/* The slot of the edge that leaves NODE with TOKEN: that edge, or a free slot for it. */
static inline edge *find_edge(const lg_copy *c, uint32_t node, uint32_t token) {
    uint64_t key = (uint64_t)node << 32 | token;
    for (size_t i = hash_of(key) & (c->edge_slots - 1);; i = (i + 1) & (c->edge_slots - 1)) {
        edge *e = &c->edges[i];
        if (e->stamp != c->stamp || e->key == key) return e;
    }
}

/* Twice the slots; the edges of this run move there. */
static bool grow_edges(lg_copy *c) {
    size_t n = c->edge_slots;
    edge *old = c->edges, *grown = calloc(2 * n, sizeof *grown);
    if (!grown) return false;
    c->edges = grown;
    c->edge_slots = c->edges_room = 2 * n;
    for (size_t i = 0; i < n; i++)
        if (old[i].stamp == c->stamp)
            *find_edge(c, (uint32_t)(old[i].key >> 32), (uint32_t)old[i].key) = old[i];
    free(old);
    return true;
}

/* Room for a run of N tokens, and empty tables. */
static bool start_run(lg_copy *c, size_t n) {
    enum { TYPES = 1 << 16 }; /* room for so many at first: vocabularies have an end, documents need not */
    if (!lg_reserve(&c->tokens, &c->tokens_room, n, sizeof *c->tokens) ||
        !lg_reserve(&c->links, &c->links_room, n + 1, sizeof *c->links))
        return false;
    c->type_slots = slots_for(n < TYPES ? n : TYPES);
    c->edge_slots = slots_for(n);
    if (c->type_slots > c->types_room || c->edge_slots > c->edges_room || c->stamp == UINT32_MAX) {
        if (c->type_slots > c->types_room) c->types_room = c->type_slots;
        if (c->edge_slots > c->edges_room) c->edges_room = c->edge_slots;
        free(c->types);
        free(c->edges);
        c->types = calloc(c->types_room, sizeof *c->types);
        c->edges = calloc(c->edges_room, sizeof *c->edges);
        c->stamp = 0;
        if (!c->types || !c->edges) {
            c->types_room = c->edges_room = 0;
            return false;
        }
    }
    c->stamp++;
    c->n_edges = 0;
    return true;
}

/* The slot of the type ID, or a free one for it. */
static inline type *find_type(const lg_copy *c, uint32_t id) {
    size_t at = hash_of(id) & (c->type_slots - 1);
    while (c->types[at].stamp == c->stamp && c->types[at].id != id) at = (at + 1) & (c->type_slots - 1);
    return &c->types[at];
}

static bool grow_types(lg_copy *c) {
    size_t n = c->type_slots;
    type *old = c->types, *grown = calloc(2 * n, sizeof *grown);
    if (!grown) return false;
    c->types = grown;
    c->type_slots = c->types_room = 2 * n;
    for (size_t i = 0; i < n; i++)
        if (old[i].stamp == c->stamp) *find_type(c, old[i].id) = old[i];
    free(old);
    return true;
}

/* Numbers the tokens by first appearance (so that breaks can have numbers of their own) and finds the
 * distances. */
static bool number_tokens(lg_copy *c, const uint32_t *ids, const bool *is_break, size_t n,
                          uint32_t *prev_distance) {
    uint32_t types = 0;
    for (size_t i = 0; i < n; i++) {
        prev_distance[i] = 0;
        if (is_break && is_break[i]) {
            c->tokens[i] = types++;
            continue;
        }
        if (types > c->type_slots - c->type_slots / 4 && !grow_types(c)) return false;
        type *t = find_type(c, ids[i]);
        if (t->stamp != c->stamp) *t = (type){ids[i], types++, (uint32_t)i, c->stamp};
        else prev_distance[i] = (uint32_t)i - t->last;
        t->last = (uint32_t)i;
        c->tokens[i] = t->number;
    }
    if (!lg_reserve(&c->root, &c->root_room, types, sizeof *c->root)) return false;
    memset(c->root, 0, types * sizeof *c->root);
    return true;
}

bool lg_copy_features(lg_copy *c, const uint32_t *ids, const bool *is_break, size_t n, uint16_t *copy_len,
                      uint32_t *prev_distance) {
    if (n == 0) return true;
    if (n >= LEAF / 2 || !start_run(c, n) || !number_tokens(c, ids, is_break, n, prev_distance)) return false;
    const uint32_t *s = c->tokens;
    uint32_t n_nodes = 1; /* 0 is the root */

    /* The active point: below `at`, `deep` tokens down the edge whose label begins with s[first]. `open`
       suffixes, the shorter ones of ids[0 … i], end inside the tree. */
    uint32_t at = 0, first = 0, deep = 0, open = 0;
    for (uint32_t i = 0; i < (uint32_t)n; i++) {
        uint32_t unlinked = 0; /* an inner node made in this step that has no suffix link yet */
        open++;
        while (open) {
            if (c->edge_slots - c->n_edges < c->edge_slots / 4 + 3 && !grow_edges(c)) return false;
            if (!deep) first = i;
            edge *e = at ? find_edge(c, at, s[first]) : &c->root[s[first]];
            if (e->stamp != c->stamp) { /* a new leaf here */
                *e = (edge){(uint64_t)at << 32 | s[first], LEAF, i, UINT32_MAX, c->stamp};
                c->n_edges += at != 0;
                if (unlinked) c->links[unlinked] = at;
                unlinked = 0;
            } else if (deep >= e->length) { /* walk down */
                first += e->length;
                deep -= e->length;
                at = e->child;
                continue;
            } else if (s[e->start + deep] ==
                       s[i]) { /* it is there already, and so are all shorter suffixes */
                if (unlinked) c->links[unlinked] = at;
                deep++;
                break;
            } else { /* a leaf that leaves the edge in its middle */
                uint32_t split = n_nodes++, next = s[e->start + deep];
                edge rest = {(uint64_t)split << 32 | next, e->child, e->start + deep,
                             e->child == LEAF ? UINT32_MAX : e->length - deep, c->stamp};
                e->child = split;
                e->length = deep;
                *find_edge(c, split, next) = rest;
                *find_edge(c, split, s[i]) =
                    (edge){(uint64_t)split << 32 | s[i], LEAF, i, UINT32_MAX, c->stamp};
                c->n_edges += 2;
                if (unlinked) c->links[unlinked] = split;
                unlinked = split;
            }
            open--;
            if (at) {
                at = c->links[at];
            } else if (deep) {
                deep--;
                first = i - open + 1;
            }
        }
        copy_len[i] = open < UINT16_MAX ? (uint16_t)open : UINT16_MAX;
    }
    return true;
}

bool lg_copy_first_distance(lg_copy *c, const uint32_t *ids, size_t n, unsigned length,
                            const uint16_t *copy_len, uint32_t *first_distance) {
    size_t slots = slots_for(n), bytes = length * sizeof *ids;
    if (slots > c->runs_room || c->runs_stamp == UINT32_MAX) {
        free(c->runs);
        c->runs_room = slots;
        c->runs_stamp = 0;
        c->runs = calloc(slots, sizeof *c->runs);
        if (!c->runs) return c->runs_room = 0, false;
    }
    c->runs_stamp++;
    for (size_t i = 0; i < n; i++) {
        first_distance[i] = 0;
        if (i + 1 < length) continue;
        const uint32_t *run = ids + i + 1 - length;
        size_t at = (size_t)XXH3_64bits(run, bytes) & (slots - 1);
        while (c->runs[at].stamp == c->runs_stamp &&
               memcmp(ids + c->runs[at].end + 1 - length, run, bytes) != 0)
            at = (at + 1) & (slots - 1);
        if (copy_len[i] < length) c->runs[at] = (first_run){(uint32_t)i, c->runs_stamp}; /* it is new */
        else first_distance[i] = (uint32_t)i - c->runs[at].end;
    }
    return true;
}

/* ---- the maker ---- */

static void *start(const void *state) {
    (void)state;
    return lg_copy_create();
}

static void stop(void *scratch) {
    lg_copy_free(scratch);
}

static bool fill(const lg_tag_maker *self, const lg_tag_document *d, const lg_spans *spans,
                 void *const *columns) {
    (void)self, (void)spans;
    uint16_t *copy_len = columns[0];
    uint8_t *reuse = columns[3];
    if (!lg_copy_features(d->scratch, d->ids, NULL, d->n_tokens, copy_len, columns[1]) ||
        !lg_copy_first_distance(d->scratch, d->ids, d->n_tokens, 5, copy_len, columns[2]))
        return false;
    for (size_t i = 0; i < d->n_tokens; i++) reuse[i] = copy_len[i] > 0;
    return true;
}

static const char *const reuse_levels[] = {"first", "reuse", NULL};

const lg_tag_maker lg_maker_copy = {
    .name = "copy",
    .help = "what of the document was there before",
    .columns = {{.name = "copy_len",
                 .help = "tokens of the longest run ending here that occurred before",
                 .dtype = LG_U16},
                {.name = "prev_distance", .help = "tokens since the same token; 0: never", .dtype = LG_U32},
                {.name = "first_distance_5",
                 .help = "tokens since the first occurrence of the 5-gram that ends here; 0: none",
                 .dtype = LG_U32},
                {.name = "reuse",
                 .help = "whether the token occurred before",
                 .dtype = LG_U8,
                 .levels = reuse_levels}},
    .start = start,
    .stop = stop,
    .fill = fill,
};
