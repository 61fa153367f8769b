/* Memory: checked products, growth, aligned blocks, arenas. */
#include "base/memory.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

bool lg_multiply(size_t a, size_t b, size_t *product) {
    return !__builtin_mul_overflow(a, b, product);
}

void *lg_alloc(size_t count, size_t size) {
    size_t bytes;
    return lg_multiply(count, size, &bytes) ? malloc(bytes ? bytes : 1) : NULL;
}

void *lg_alloc_aligned(size_t count, size_t size) {
    size_t bytes;
    if (!lg_multiply(count, size, &bytes) || bytes > SIZE_MAX - 64) return NULL;
    return aligned_alloc(64, (bytes + 64) / 64 * 64);
}

bool lg_reserve(void *data, size_t *capacity, size_t needed, size_t size) {
    if (needed <= *capacity) return true;
    size_t wanted = *capacity < SIZE_MAX / 2 && 2 * *capacity > needed ? 2 * *capacity : needed;
    if (wanted < 16) wanted = 16;
    size_t bytes;
    if (!lg_multiply(wanted, size, &bytes)) return false;
    void *block; /* copied as bytes: the caller's pointer has a type of its own */
    memcpy(&block, data, sizeof block);
    if (!(block = realloc(block, bytes))) return false;
    memcpy(data, &block, sizeof block);
    *capacity = wanted;
    return true;
}

struct lg_arena_block {
    struct lg_arena_block *next;
    size_t used, size;
    max_align_t data[];
};

void *lg_arena_alloc(lg_arena *arena, size_t size) {
    enum { ALIGN = _Alignof(max_align_t), BLOCK = 16384 };
    if (size > SIZE_MAX / 2) return NULL;
    size = (size + ALIGN - 1) / ALIGN * ALIGN;
    struct lg_arena_block *block = arena->blocks;
    if (!block || block->size - block->used < size) {
        size_t room = size > BLOCK ? size : BLOCK;
        block = malloc(sizeof *block + room);
        if (!block) return NULL;
        *block = (struct lg_arena_block){.next = arena->blocks, .size = room};
        arena->blocks = block;
    }
    void *result = (char *)block->data + block->used;
    block->used += size;
    return memset(result, 0, size);
}

char *lg_arena_copy(lg_arena *arena, const char *text, size_t length) {
    char *copy = length < SIZE_MAX ? lg_arena_alloc(arena, length + 1) : NULL;
    if (copy && length) memcpy(copy, text, length);
    return copy;
}

void lg_arena_free(lg_arena *arena) {
    for (struct lg_arena_block *b = arena->blocks, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    arena->blocks = NULL;
}
