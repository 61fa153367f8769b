/* Memory: checked products, growth, aligned blocks, arenas for small things that die together. */
#ifndef LG_BASE_MEMORY_H
#define LG_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* COUNT elements of SIZE bytes, uninitialised; NULL on overflow or lack of memory. free() it. calloc is the
   zeroed one. */
void *lg_alloc(size_t count, size_t size);
/* The same on a 64-byte boundary, for vector loads. free() it. */
void *lg_alloc_aligned(size_t count, size_t size);
bool lg_multiply(size_t a, size_t b, size_t *product); /* false on overflow */

/* Makes room for NEEDED elements of SIZE bytes in the array *DATA (a pointer to the caller's typed pointer),
   doubling. false: no memory, nothing changed. */
bool lg_reserve(void *data, size_t *capacity, size_t needed, size_t size);

/* Blocks that are freed together. {0} to start. */
typedef struct lg_arena {
    struct lg_arena_block *blocks;
} lg_arena;

void *lg_arena_alloc(lg_arena *arena, size_t size); /* zeroed, aligned for any type; NULL: no memory */
char *lg_arena_copy(lg_arena *arena, const char *text, size_t length); /* NUL-terminated */
void lg_arena_free(lg_arena *arena);

#endif
