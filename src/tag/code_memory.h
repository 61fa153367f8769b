/* Memory and work of one parse, with a bound for each.

   tree-sitter's own functions end the program where memory runs out or an assertion fails, and its error
   recovery can take many times a text's size of both. So the build takes the library's static form into the
   walker's object and puts the functions here in the place of malloc, free and the like (Makefile). They hand
   out pieces of a heap that belongs to one thread's parse; a parse that goes too far is left by longjmp, and
   whatever it held goes with the heap. */
#ifndef LG_TAG_CODE_MEMORY_H
#define LG_TAG_CODE_MEMORY_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum lg_tree_end {
    LG_TREE_DONE,
    LG_TREE_TOO_MUCH,  /* more work or memory than allowed, or a failed assertion */
    LG_TREE_NO_MEMORY, /* the system has no more */
} lg_tree_end;

enum { LG_TREE_SIZES = 64 + 48 }; /* block sizes that are kept apart */

typedef struct lg_tree_heap {
    char **chunks; /* [n_chunks] kept from parse to parse */
    size_t *chunk_bytes;
    size_t n_chunks, chunks_room, bytes_room;
    size_t chunk, used; /* the chunk at work, and its bytes in use */
    size_t bytes;       /* of all chunks in use */
    void *free[LG_TREE_SIZES];
    uint64_t work; /* done by the parse, about one per 16 bytes allocated or 8 bytes read */
    uint64_t max_work;
    size_t max_bytes;
    jmp_buf stop;               /* gets an lg_tree_end */
    struct lg_tree_heap *outer; /* of the parse that this one interrupts */
} lg_tree_heap;

/* From here on tree-sitter's functions on this thread take memory from HEAP, which is empty then. Next comes
   setjmp(heap->stop). */
void lg_tree_enter(lg_tree_heap *heap, uint64_t max_work, size_t max_bytes);
/* No tree, parser or cursor made since then may be used any more. */
void lg_tree_leave(lg_tree_heap *heap);
void lg_tree_free_heap(lg_tree_heap *heap);
/* Counts UNITS of work; does not return if that is too much. */
void lg_tree_work(lg_tree_heap *heap, uint64_t units);

/* What tree-sitter and its scanners call instead of the C library; outside of a parse they are the C
 * library's. */
void *lg_tree_malloc(size_t size);
void *lg_tree_calloc(size_t count, size_t size);
void *lg_tree_realloc(void *block, size_t size);
void lg_tree_free(void *block);
_Noreturn void lg_tree_assert_fail(const char *what, const char *file, unsigned line, const char *function);

#endif
