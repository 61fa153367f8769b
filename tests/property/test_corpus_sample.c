/* Samples under a limit: equal to sorting and summing, in any order of arrival, and nested. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "corpus/sample.h"

enum { MAX = 300, DOMAINS = 3 };

typedef struct item {
    lg_hash hash;
    uint64_t index, tokens;
    size_t domain;
} item;

static uint32_t seed;
static uint32_t next(uint32_t below) {
    seed = seed * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)(seed >> 8) * below >> 24);
}

static int in_order(const void *a, const void *b) {
    const item *x = a, *y = b;
    if (x->hash.high != y->hash.high) return x->hash.high < y->hash.high ? -1 : 1;
    if (x->hash.low != y->hash.low) return x->hash.low < y->hash.low ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* The definition: per domain, in order, while the sum stays within the limit. */
static void define(const item *items, size_t n, uint64_t limit, bool *kept) {
    item sorted[MAX];
    memcpy(sorted, items, n * sizeof *items);
    qsort(sorted, n, sizeof *sorted, in_order);
    memset(kept, 0, n);
    for (size_t d = 0; d < DOMAINS; d++) {
        uint64_t sum = 0;
        for (size_t i = 0; i < n; i++) {
            if (sorted[i].domain != d) continue;
            sum += sorted[i].tokens;
            if (sum > limit) break;
            kept[sorted[i].index] = true;
        }
    }
}

/* In the order of index, as a corpus is read, in batches whose members are asked for before any is told. */
static size_t sample(const item *items, size_t n, uint64_t limit, size_t batch, bool *kept,
                     uint64_t *too_long) {
    size_t told = 0;
    lg_sample *s = lg_sample_create(limit);
    assert_non_null(s);
    for (size_t begin = 0; begin < n; begin += batch) {
        bool wanted[MAX];
        size_t end = begin + batch < n ? begin + batch : n;
        for (size_t i = begin; i < end; i++)
            wanted[i] = lg_sample_wants(s, items[i].domain, items[i].hash, i);
        for (size_t i = begin; i < end; i++) {
            if (!wanted[i]) continue;
            told++;
            assert_true(lg_sample_add(s, items[i].domain, items[i].hash, i, items[i].tokens));
        }
    }
    assert_true(lg_sample_finish(s));
    for (size_t i = 0; i < n; i++) kept[i] = lg_sample_has(s, i);
    for (size_t d = 0; d < DOMAINS; d++) too_long[d] = lg_sample_too_long(s, d);
    lg_sample_free(s);
    return told;
}

static void test_definition(void **state) {
    (void)state;
    for (uint32_t round = 0; round < 400; round++) {
        item items[MAX];
        bool expected[MAX], kept[MAX], before[MAX] = {false};
        uint64_t too_long[DOMAINS];
        seed = round;
        size_t n = 1 + next(MAX - 1);
        for (size_t i = 0; i < n; i++)
            items[i] =
                (item){{next(round % 2 ? 1000 : 4), next(3)}, i, next(6) ? next(100) : 0, next(DOMAINS)};
        for (uint64_t limit = 1; limit < 100000; limit = limit * 3 / 2 + next(3)) {
            define(items, n, limit, expected);
            sample(items, n, limit, 1 + next(40), kept, too_long);
            for (size_t i = 0; i < n; i++) {
                assert_int_equal(kept[i], expected[i]);
                assert_true(kept[i] || !before[i]); /* nested */
            }
            memcpy(before, kept, n);
            item sorted[MAX];
            memcpy(sorted, items, n * sizeof *items);
            qsort(sorted, n, sizeof *sorted, in_order);
            for (size_t d = 0; d < DOMAINS; d++) {
                size_t i = 0;
                while (i < n && sorted[i].domain != d) i++;
                assert_int_equal(too_long[d], i < n && sorted[i].tokens > limit ? sorted[i].tokens : 0);
            }
        }
        sample(items, n, UINT64_MAX, 7, kept, too_long);
        for (size_t i = 0; i < n; i++) assert_true(kept[i]);
    }
}

/* Few documents beyond the sample are tokenised: about K ln(N / K) for K kept of N, not N. */
static void test_economy(void **state) {
    (void)state;
    enum { N = 20000 };
    lg_sample *s = lg_sample_create(100);
    size_t told = 0;
    seed = 1;
    for (size_t i = 0; i < N; i++) {
        lg_hash hash = {next(1u << 24), next(1u << 24)};
        if (!lg_sample_wants(s, 0, hash, i)) continue;
        told++;
        assert_true(lg_sample_add(s, 0, hash, i, 1));
    }
    assert_true(told > 100 && told < 1500); /* 100 + 100 ln 200 = 630 */
    lg_sample_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_definition), cmocka_unit_test(test_economy)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
