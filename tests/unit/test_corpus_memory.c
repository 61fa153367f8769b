/* Lack of memory: whichever allocation fails, building a dataset says so and leaves nothing behind. */
#include "corpus_files.h"

#include <errno.h>

#include "lossgap/dataset.h"

/* The C library's allocator, with the n-th call failing. A sanitizer's cannot be replaced so.*/
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
#define HAVE_FAILING_MALLOC 1
static long until_failure = -1; /* negative: never */

static bool fails(void) {
    if (until_failure < 0 || until_failure-- > 0) return false;
    errno = ENOMEM;
    return true; /* and the counter is negative again: one failure each */
}

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);

void *malloc(size_t size) {
    return fails() ? NULL : __libc_malloc(size);
}
void *calloc(size_t n, size_t size) {
    return fails() ? NULL : __libc_calloc(n, size);
}
void *realloc(void *p, size_t size) {
    return fails() ? NULL : __libc_realloc(p, size);
}
#endif

static void test_every_allocation(void **state) {
    (void)state;
#ifdef HAVE_FAILING_MALLOC
    unsigned char packed[1000];
    static const char more[] = "{\"input_ids\": [7, 8, 9], \"id\": \"c\"}\n";
    put_text(
        "ids/a.jsonl",
        "{\"input_ids\": [1, 2], \"domain\": \"d\\u00e9\", \"source\": \"s\\n\"}\n{\"input_ids\": []}\n");
    put_bytes("ids/sub/b.jsonl.gz", packed, pack_gzip(more, sizeof more - 1, packed, sizeof packed));
    put_bytes("ids/sub/c.jsonl.zst", packed, pack_zstd(more, sizeof more - 1, packed, sizeof packed));
    put_text("ids/d.png", "");
    assert_int_equal(mkdir(in_scratch("out"), 0700), 0);
    const char *path = in_scratch("ids");
    lg_dataset_options o = {.input_ids = true, .threads = 1};
    for (o.limit = 0; o.limit < 200; o.limit += 100) {
        lg_status status = LG_FAILED;
        long n = 0;
        for (; status; n++) {
            lg_error error = {0};
            until_failure = n;
            status = lg_dataset_build(&path, 1, &o, in_scratch("out/data"), NULL, &error);
            bool spent = until_failure < 0;
            until_failure = -1;
            if (!spent) break;
            /* A few callers of malloc in the C library do without: then all is well. */
            if (status == LG_OK) {
                assert_int_equal(unlink(in_scratch("out/data")), 0);
                status = LG_FAILED;
                continue;
            }
            if (status != LG_FAILED || !strstr(error.message, "memory"))
                fail_msg("allocation %ld: %d \"%s\"", n, status, error.message);
            if (rmdir(in_scratch("out"))) fail_msg("allocation %ld left a file", n);
            assert_int_equal(mkdir(in_scratch("out"), 0700), 0);
        }
        assert_int_equal(status, LG_OK);
        assert_true(n > 50);
        assert_int_equal(unlink(in_scratch("out/data")), 0);
    }
#else
    skip();
#endif
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_allocation)};
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
