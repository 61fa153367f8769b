/* Byte-pair merging: again and again the adjacent pair of lowest rank is joined, the leftmost first. Short
   pieces scan their few ranks; long ones keep a heap over a linked list, O(n log n). */
#include "tokenizer/bpe.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* ---- the merges ---- */

static inline size_t hash_pair(uint32_t left, uint32_t right) {
    uint64_t h = ((uint64_t)left << 32 | right) * 0x9E3779B97F4A7C15u;
    return (size_t)(h ^ h >> 32);
}

bool lg_bpe_reserve(lg_bpe *bpe, size_t merges) {
    size_t size = 64;
    while (size / 2 < merges) size *= 2;
    bpe->pairs = lg_alloc_aligned(size, sizeof *bpe->pairs);
    if (!bpe->pairs) return false;
    bpe->mask = size - 1;
    for (size_t i = 0; i < size; i++) bpe->pairs[i].rank = LG_NO_RANK;
    return true;
}

/* The slot of the pair, or the free one where it belongs. */
static inline lg_pair *find_pair(const lg_bpe *bpe, uint32_t left, uint32_t right) {
    for (size_t slot = hash_pair(left, right) & bpe->mask;; slot = (slot + 1) & bpe->mask) {
        lg_pair *p = &bpe->pairs[slot];
        if (p->rank == LG_NO_RANK || (p->left == left && p->right == right)) return p;
    }
}

void lg_bpe_add(lg_bpe *bpe, uint32_t left, uint32_t right, uint32_t rank, uint32_t id) {
    lg_pair *p = find_pair(bpe, left, right);
    bpe->count += p->rank == LG_NO_RANK;
    *p = (lg_pair){left, right, rank, id};
}

bool lg_bpe_finish(lg_bpe *bpe) {
    bpe->byte_pairs = lg_alloc(256 * 256, sizeof *bpe->byte_pairs);
    if (!bpe->byte_pairs) return false;
    for (size_t i = 0; i < 256 * 256; i++) {
        const lg_pair *p = find_pair(bpe, bpe->byte_id[i >> 8], bpe->byte_id[i & 255]);
        bpe->byte_pairs[i] = (lg_joined){p->rank, p->id};
    }
    return true;
}

void lg_bpe_free(lg_bpe *bpe) {
    free(bpe->pairs);
    free(bpe->byte_pairs);
    lg_strings_free(&bpe->whole);
    *bpe = (lg_bpe){0};
}

/* ---- output ---- */

bool lg_tokens_reserve(lg_tokens *tokens, size_t more) {
    if (more <= tokens->capacity - tokens->count) return true;
    if (more > SIZE_MAX - tokens->count) return false;
    size_t capacity = tokens->capacity; /* both arrays have it or more: one of them may have grown alone */
    if (!lg_reserve(&tokens->ids, &capacity, tokens->count + more, sizeof *tokens->ids)) return false;
    capacity = tokens->capacity;
    if (!lg_reserve(&tokens->ends, &capacity, tokens->count + more, sizeof *tokens->ends)) return false;
    tokens->capacity = capacity;
    return true;
}

static inline size_t place(size_t origin, size_t end, size_t made_up) {
    return origin + (end > made_up ? end - made_up : 0);
}

/* ---- short pieces ---- */

enum { SHORT = 32 };

/* Puts the ids of PIECE (SIZE <= SHORT) and where each ends in it; returns how many there are. */
static size_t merge_short(const lg_bpe *bpe, const unsigned char *piece, size_t size, uint32_t *ids,
                          uint8_t *ends) {
    uint32_t ranks[SHORT], joined[SHORT]; /* of token i and the one after it */
    size_t n = 0, last = 0;
    for (size_t i = 0; i < size; i++) {
        ids[n] = bpe->byte_id[piece[i]];
        if (ids[n] == LG_NO_ID) continue;
        ends[n] = (uint8_t)(i + 1);
        if (n) {
            const lg_joined *pair = &bpe->byte_pairs[last << 8 | piece[i]];
            ranks[n - 1] = pair->rank;
            joined[n - 1] = pair->id;
        }
        last = piece[i];
        n++;
    }
    while (n > 1) {
        size_t best = 0;
        for (size_t i = 1; i + 1 < n; i++)
            if (ranks[i] < ranks[best]) best = i;
        if (ranks[best] == LG_NO_RANK) break;
        ids[best] = joined[best];
        ends[best] = ends[best + 1];
        for (size_t i = best + 1; i + 1 < n; i++) {
            ids[i] = ids[i + 1];
            ends[i] = ends[i + 1];
            ranks[i] = ranks[i + 1];
            joined[i] = joined[i + 1];
        }
        n--;
        for (size_t i = best ? best - 1 : 0; i <= best && i + 1 < n; i++) {
            const lg_pair *p = find_pair(bpe, ids[i], ids[i + 1]);
            ranks[i] = p->rank;
            joined[i] = p->id;
        }
    }
    return n;
}

/* ---- long pieces ---- */

static void sift_down(uint64_t *heap, size_t count, size_t i) {
    uint64_t x = heap[i];
    for (size_t child; (child = 2 * i + 1) < count; i = child) {
        if (child + 1 < count && heap[child + 1] < heap[child]) child++;
        if (heap[child] >= x) break;
        heap[i] = heap[child];
    }
    heap[i] = x;
}

static bool heap_push(lg_bpe_scratch *s, uint64_t x) {
    if (!lg_reserve(&s->heap, &s->heap_capacity, s->heap_count + 1, sizeof *s->heap)) return false;
    size_t i = s->heap_count++;
    for (; i && s->heap[(i - 1) / 2] > x; i = (i - 1) / 2) s->heap[i] = s->heap[(i - 1) / 2];
    s->heap[i] = x;
    return true;
}

/* The heap holds rank << 32 | position of the left token. An entry is stale unless the pair that now begins
   there has that rank. Positions are bytes of the piece; the token at i goes up to next[i]. */
static bool merge_long(const lg_bpe *bpe, lg_bpe_scratch *s, const unsigned char *piece, uint32_t size,
                       size_t origin, size_t made_up, lg_tokens *tokens) {
    if (!lg_reserve(&s->symbols, &s->symbols_capacity, (size_t)size * 5, sizeof *s->symbols)) return false;
    uint32_t *ids = s->symbols, *ends = ids + size, *next = ends + size, *before = next + size,
             *ranks = before + size;
    uint32_t n = 0;
    for (uint32_t i = 0; i < size; i++) {
        ids[n] = bpe->byte_id[piece[i]];
        ends[n] = i + 1;
        next[n] = n + 1;
        before[n] = n - 1; /* of the first: never used */
        n += ids[n] != LG_NO_ID;
    }
    s->heap_count = 0;
    if (!lg_reserve(&s->heap, &s->heap_capacity, n, sizeof *s->heap)) return false;
    for (uint32_t i = 0; i < n; i++) {
        ranks[i] = i + 1 < n ? find_pair(bpe, ids[i], ids[i + 1])->rank : LG_NO_RANK;
        if (ranks[i] != LG_NO_RANK) s->heap[s->heap_count++] = (uint64_t)ranks[i] << 32 | i;
    }
    for (size_t i = s->heap_count / 2; i-- > 0;) sift_down(s->heap, s->heap_count, i);

    uint32_t left = n;
    while (s->heap_count) {
        uint64_t top = s->heap[0];
        s->heap[0] = s->heap[--s->heap_count];
        if (s->heap_count) sift_down(s->heap, s->heap_count, 0);
        uint32_t i = (uint32_t)top;
        if (ranks[i] != top >> 32) continue;
        uint32_t gone = next[i];
        ids[i] = find_pair(bpe, ids[i], ids[gone])->id;
        ends[i] = ends[gone];
        ranks[gone] = LG_NO_RANK;
        next[i] = next[gone];
        if (next[i] < n) before[next[i]] = i;
        left--;
        uint32_t changed[2] = {i ? before[i] : i, i};
        for (int k = i ? 0 : 1; k < 2; k++) {
            uint32_t c = changed[k];
            ranks[c] = next[c] < n ? find_pair(bpe, ids[c], ids[next[c]])->rank : LG_NO_RANK;
            if (ranks[c] != LG_NO_RANK && !heap_push(s, (uint64_t)ranks[c] << 32 | c)) return false;
        }
    }

    if (!lg_tokens_reserve(tokens, left)) return false;
    for (uint32_t i = 0; i < n; i = next[i]) {
        tokens->ids[tokens->count] = ids[i];
        tokens->ends[tokens->count++] = place(origin, ends[i], made_up);
    }
    enum { KEEP = 1 << 20 }; /* one giant piece shall not hold its memory for the rest of the run */
    if (size > KEEP) {
        free(s->symbols);
        free(s->heap);
        s->symbols = NULL;
        s->heap = NULL;
        s->symbols_capacity = s->heap_capacity = 0;
    }
    return true;
}

/* ---- the cache ---- */

static inline void load_key(const char *piece, size_t size, size_t readable, uint64_t key[2]) {
    if (readable >= LG_CACHE_KEY) {
        memcpy(key, piece, LG_CACHE_KEY);
        if (size <= 8) {
            key[0] &= UINT64_MAX >> (64 - 8 * size);
            key[1] = 0;
        } else {
            key[1] &= UINT64_MAX >> (128 - 8 * size);
        }
    } else {
        key[0] = key[1] = 0;
        memcpy(key, piece, size);
    }
}

static inline size_t hash_key(const uint64_t key[2], size_t size) {
    uint64_t h = (key[0] ^ size << 56) * 0x9E3779B97F4A7C15u;
    h = (h ^ h >> 29 ^ key[1]) * 0xBF58476D1CE4E5B9u;
    return (size_t)(h >> 32);
}

void lg_bpe_prefetch(const lg_bpe_scratch *scratch, const char *piece, size_t size, size_t readable) {
    uint64_t key[2];
    if (size > LG_CACHE_KEY || !scratch->cache) return;
    load_key(piece, size, readable, key);
    __builtin_prefetch(&scratch->cache[hash_key(key, size) % LG_CACHE_SLOTS]);
}

static inline void put_cached(const lg_cached *c, size_t origin, size_t made_up, lg_tokens *tokens) {
    uint32_t *ids = tokens->ids + tokens->count;
    size_t *ends = tokens->ends + tokens->count;
    ids[0] = c->ids[0];
    ends[0] = place(origin, c->ends[0], made_up);
    for (size_t i = 1; i < c->count; i++) {
        ids[i] = c->ids[i];
        ends[i] = place(origin, c->ends[i], made_up);
    }
    tokens->count += c->count;
}

bool lg_bpe_encode(const lg_bpe *bpe, lg_bpe_scratch *scratch, const char *piece, size_t size,
                   size_t readable, size_t origin, size_t made_up, lg_tokens *tokens) {
    if (!lg_tokens_reserve(tokens, SHORT)) return false;
    lg_cached *slot = NULL;
    uint64_t key[2];
    if (size <= LG_CACHE_KEY) {
        if (!scratch->cache) {
            scratch->cache =
                lg_alloc_aligned(LG_CACHE_SLOTS, sizeof *scratch->cache); /* a slot is a cache line */
            if (!scratch->cache) return false;
            memset(scratch->cache, 0, LG_CACHE_SLOTS * sizeof *scratch->cache);
        }
        load_key(piece, size, readable, key);
        slot = &scratch->cache[hash_key(key, size) % LG_CACHE_SLOTS];
        if (slot->length == size && slot->key[0] == key[0] && slot->key[1] == key[1]) {
            put_cached(slot, origin, made_up, tokens);
            return true;
        }
    }
    uint32_t id;
    if (bpe->ignore_merges && lg_strings_find(&bpe->whole, piece, size, &id)) {
        tokens->ids[tokens->count] = id;
        tokens->ends[tokens->count++] = place(origin, size, made_up);
        return true;
    }
    if (size > SHORT)
        return size < UINT32_MAX && merge_long(bpe, scratch, (const unsigned char *)piece, (uint32_t)size,
                                               origin, made_up, tokens);
    uint32_t ids[SHORT];
    uint8_t ends[SHORT];
    size_t count = merge_short(bpe, (const unsigned char *)piece, size, ids, ends);
    for (size_t i = 0; i < count; i++) {
        tokens->ids[tokens->count] = ids[i];
        tokens->ends[tokens->count++] = place(origin, ends[i], made_up);
    }
    if (slot && count <= LG_CACHE_TOKENS) {
        *slot = (lg_cached){.key = {key[0], key[1]}, .length = (uint8_t)size, .count = (uint8_t)count};
        memcpy(slot->ids, ids, count * sizeof *ids);
        memcpy(slot->ends, ends, count);
    }
    return true;
}

void lg_bpe_scratch_free(lg_bpe_scratch *scratch) {
    free(scratch->cache);
    free(scratch->symbols);
    free(scratch->heap);
    *scratch = (lg_bpe_scratch){0};
}
