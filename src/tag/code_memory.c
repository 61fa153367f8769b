/* The heap of one parse: blocks cut from chunks, free ones kept by size, all of them dropped at once. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tag/code_memory.h"

enum {
    UNIT = 16,
    SMALL_SIZES = 64,
    CHUNK = 1 << 18,
    /* tree-sitter 0.20 keeps a node's number of children in 16 bits, and corrupts memory where an error has
       more. It puts the node itself behind its children, in one block: such a block is not to be had. */
    MAX_BLOCK = (1 << 16) * sizeof(void *),
};

/* tree-sitter's allocation functions take no context. */
static _Thread_local lg_tree_heap *current;

/* Before each block; keeps it aligned. */
typedef union header {
    struct {
        size_t bytes; /* of the block, without this */
        unsigned size;
    };
    char unit[UNIT];
} header;

_Noreturn static void stop(lg_tree_heap *heap, lg_tree_end why) {
    longjmp(heap->stop, (int)why);
}

void lg_tree_enter(lg_tree_heap *heap, uint64_t max_work, size_t max_bytes) {
    heap->chunk = heap->used = heap->bytes = 0;
    memset(heap->free, 0, sizeof heap->free);
    heap->work = 0;
    heap->max_work = max_work;
    heap->max_bytes = max_bytes;
    heap->outer = current;
    current = heap;
}

void lg_tree_leave(lg_tree_heap *heap) {
    enum { KEPT = 128 }; /* chunks, 32 MB */
    current = heap->outer;
    while (heap->n_chunks && (heap->n_chunks > KEPT || heap->chunk_bytes[heap->n_chunks - 1] > CHUNK))
        free(heap->chunks[--heap->n_chunks]);
}

void lg_tree_free_heap(lg_tree_heap *heap) {
    while (heap->n_chunks) free(heap->chunks[--heap->n_chunks]);
    free(heap->chunks);
    free(heap->chunk_bytes);
    *heap = (lg_tree_heap){0};
}

void lg_tree_work(lg_tree_heap *heap, uint64_t units) {
    heap->work += units;
    if (heap->work > heap->max_work) stop(heap, LG_TREE_TOO_MUCH);
}

/* The size class of BYTES, which grows to what such a block holds. */
static unsigned size_of(size_t *bytes) {
    size_t units = (*bytes + UNIT - 1) / UNIT;
    if (!units) units = 1;
    unsigned size = (unsigned)units - 1;
    if (units > SMALL_SIZES) {
        size = SMALL_SIZES;
        size_t room = 2 * SMALL_SIZES;
        for (; room < units; room *= 2) size++;
        units = room;
    }
    *bytes = units * UNIT;
    return size;
}

/* Makes the next chunk that holds BYTES the one at work. */
static void next_chunk(lg_tree_heap *heap, size_t bytes) {
    size_t at = heap->bytes ? heap->chunk + 1 : 0, size = bytes > CHUNK ? bytes : CHUNK;
    if (size > heap->max_bytes - heap->bytes) stop(heap, LG_TREE_TOO_MUCH);
    if (at < heap->n_chunks &&
        heap->chunk_bytes[at] < size) { /* one kept, but too small: to the end with it */
        char *chunk = realloc(heap->chunks[at], size);
        if (!chunk) stop(heap, LG_TREE_NO_MEMORY);
        heap->chunks[at] = chunk;
        heap->chunk_bytes[at] = size;
    }
    if (at == heap->n_chunks) {
        if (!lg_reserve(&heap->chunks, &heap->chunks_room, at + 1, sizeof *heap->chunks) ||
            !lg_reserve(&heap->chunk_bytes, &heap->bytes_room, at + 1, sizeof *heap->chunk_bytes))
            stop(heap, LG_TREE_NO_MEMORY);
        heap->chunks[at] = malloc(size);
        if (!heap->chunks[at]) stop(heap, LG_TREE_NO_MEMORY);
        heap->chunk_bytes[at] = size;
        heap->n_chunks++;
    }
    heap->chunk = at;
    heap->used = 0;
    heap->bytes += size;
}

void *lg_tree_malloc(size_t bytes) {
    lg_tree_heap *heap = current;
    if (!heap) return malloc(bytes);
    if (bytes > MAX_BLOCK) stop(heap, LG_TREE_TOO_MUCH);
    unsigned size = size_of(&bytes);
    lg_tree_work(heap, bytes / UNIT);
    header *block = heap->free[size];
    if (block) {
        memcpy(&heap->free[size], block + 1, sizeof(void *));
        return block + 1;
    }
    size_t needed = bytes + sizeof(header);
    if (!heap->bytes || heap->chunk_bytes[heap->chunk] - heap->used < needed) next_chunk(heap, needed);
    block = (header *)(void *)(heap->chunks[heap->chunk] + heap->used);
    heap->used += needed;
    block->bytes = bytes;
    block->size = size;
    return block + 1;
}

void *lg_tree_calloc(size_t count, size_t size) {
    size_t bytes;
    if (!current) return calloc(count, size);
    if (!lg_multiply(count, size, &bytes)) stop(current, LG_TREE_TOO_MUCH);
    void *block = lg_tree_malloc(bytes);
    return memset(block, 0, bytes);
}

void *lg_tree_realloc(void *block, size_t bytes) {
    if (!current) return realloc(block, bytes);
    if (!block) return lg_tree_malloc(bytes);
    size_t old = ((header *)block - 1)->bytes;
    if (bytes <= old) return block;
    void *larger = lg_tree_malloc(bytes);
    memcpy(larger, block, old);
    lg_tree_free(block);
    return larger;
}

void lg_tree_free(void *block) {
    if (!current) {
        free(block);
        return;
    }
    if (!block) return;
    header *freed = (header *)block - 1;
    memcpy(block, &current->free[freed->size], sizeof(void *));
    current->free[freed->size] = freed;
}

void lg_tree_assert_fail(const char *what, const char *file, unsigned line, const char *function) {
    (void)what, (void)file, (void)line, (void)function;
    stop(current, LG_TREE_TOO_MUCH);
}
