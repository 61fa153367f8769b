/* Allocations that fail on demand, and a count of those not freed. Include in ONE file of a test program: it
   defines malloc and its kin for the whole program, the C library's own calls (strdup, asprintf, qsort,
   stdio) among them.

       static lg_status parse(void *context, lg_error *error) { ... return status, everything freed ... }
       ...
       survives_failing_malloc(parse, NULL, "parse");

   runs it once as it is, which must succeed, and then with the 1st, 2nd, 3rd … allocation failing, until one
   run needs no more. Each must return LG_FAILED and say "out of memory" (or succeed, where the allocation was
   not essential), and free all that it had. Sanitizers bring an allocator of their own: with them only the
   first run is made. */
#ifndef TESTS_UNIT_FAILING_MALLOC_H
#define TESTS_UNIT_FAILING_MALLOC_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lossgap/base.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FAILING_MALLOC 0
#else
#define FAILING_MALLOC 1

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

static long allocations_until_failure = -1; /* -1: none fails */
static long allocations_held;
static long allocations_failed;

static int fails_now(void) {
    if (__atomic_load_n(&allocations_until_failure, __ATOMIC_RELAXED) < 0) return 0;
    if (__atomic_fetch_sub(&allocations_until_failure, 1, __ATOMIC_RELAXED) != 0) return 0;
    __atomic_fetch_add(&allocations_failed, 1, __ATOMIC_RELAXED);
    errno = ENOMEM;
    return 1;
}

static void *held(void *block) {
    if (block) __atomic_fetch_add(&allocations_held, 1, __ATOMIC_RELAXED);
    return block;
}

LG_API void *malloc(size_t size) {
    return fails_now() ? NULL : held(__libc_malloc(size));
}

LG_API void *calloc(size_t count, size_t size) {
    return fails_now() ? NULL : held(__libc_calloc(count, size));
}

LG_API void *realloc(void *block, size_t size) {
    if (fails_now()) return NULL;
    void *grown = __libc_realloc(block, size);
    if (grown && !block) held(grown);
    return grown;
}

LG_API void *aligned_alloc(size_t alignment, size_t size) {
    return fails_now() ? NULL : held(__libc_memalign(alignment, size));
}

void *memalign(size_t alignment, size_t size);

LG_API void *memalign(size_t alignment, size_t size) {
    return fails_now() ? NULL : held(__libc_memalign(alignment, size));
}

LG_API int posix_memalign(void **block, size_t alignment, size_t size) {
    void *got = fails_now() ? NULL : held(__libc_memalign(alignment, size));
    if (got) *block = got;
    return got ? 0 : ENOMEM;
}

LG_API void free(void *block) {
    if (block) __atomic_fetch_sub(&allocations_held, 1, __ATOMIC_RELAXED);
    __libc_free(block);
}
#endif

typedef lg_status failing_malloc_attempt(void *context, lg_error *error);

static void survives_failing_malloc(failing_malloc_attempt *attempt, void *context, const char *name) {
    lg_error error = {0};
    lg_status status = attempt(context, &error); /* also lets the C library keep what it keeps for ever */
    if (status) fail_msg("%s: %s", name, error.message);
#if FAILING_MALLOC
    for (long n = 0;; n++) {
        error = (lg_error){0};
        long before = allocations_held;
        allocations_failed = 0;
        allocations_until_failure = n;
        status = attempt(context, &error);
        allocations_until_failure = -1;
        long leaked = allocations_held - before;
        if (leaked) fail_msg("%s: %ld blocks not freed after allocation %ld failed", name, leaked, n);
        if (!allocations_failed && status)
            fail_msg("%s: without a failed allocation: %s", name, error.message);
        if (status && (status != LG_FAILED || error.status != LG_FAILED || !strstr(error.message, "memory")))
            fail_msg("%s: allocation %ld failed: status %d, \"%s\"", name, n, (int)status, error.message);
        if (!allocations_failed) {
            assert_true(n > 0);
            return;
        }
    }
#else
    print_message("%s: no allocation failed, the sanitizer has its own allocator\n", name);
#endif
}

#endif
