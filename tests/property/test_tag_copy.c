/* copy_len and prev_distance against the definition, on thousands of random runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tag/tag_internal.h"

static uint64_t state = 1;

static uint32_t draw(uint32_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % below);
}

/* By the definition: for every earlier end, how long the two runs agree; a break ends every run. */
static void brute_force(const uint32_t *ids, const bool *is_break, size_t n, uint16_t *copy_len,
                        uint32_t *distance) {
    for (size_t i = 0; i < n; i++) {
        copy_len[i] = 0;
        distance[i] = 0;
        for (size_t j = 0; j < i; j++) {
            size_t k = 0;
            while (k <= j && ids[i - k] == ids[j - k] && !is_break[i - k] && !is_break[j - k]) k++;
            if (k > copy_len[i]) copy_len[i] = (uint16_t)k;
            if (k) distance[i] = (uint32_t)(i - j);
        }
    }
}

enum { MAX = 300 };

static void compare(lg_copy *copy, const uint32_t *ids, const bool *is_break, size_t n) {
    uint16_t want_len[MAX], len[MAX];
    uint32_t want_distance[MAX], distance[MAX];
    bool any = false;
    for (size_t i = 0; i < n; i++) any |= is_break[i];
    brute_force(ids, is_break, n, want_len, want_distance);
    assert_true(lg_copy_features(copy, ids, any ? is_break : NULL, n, len, distance));
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(len[i], want_len[i]);
        assert_int_equal(distance[i], want_distance[i]);
    }
    for (unsigned length = 1; length <= 5 && !any; length += 2) {
        assert_true(lg_copy_first_distance(copy, ids, n, length, len, distance));
        for (size_t i = 0; i < n; i++) {
            size_t first = 0; /* distance to the first occurrence of the run that ends at i */
            for (size_t j = length - 1; i + 1 >= length && j < i && !first; j++)
                if (memcmp(ids + j + 1 - length, ids + i + 1 - length, length * sizeof *ids) == 0)
                    first = i - j;
            assert_int_equal(distance[i], first);
        }
    }
}

static void test_random(void **unused) {
    (void)unused;
    lg_copy *copy = lg_copy_create();
    assert_non_null(copy);
    uint32_t ids[MAX];
    bool is_break[MAX];
    for (int round = 0; round < 6000; round++) {
        size_t n = draw(round % 10 ? 40 : MAX);
        uint32_t alphabet = 1 + draw(round % 3 ? 4 : 50), breaks = draw(4) ? 0 : 1 + draw(20);
        uint32_t stride = draw(2) ? 1 : 0x7fffffu;
        for (size_t i = 0; i < n; i++) {
            ids[i] = draw(alphabet) * stride;
            is_break[i] = breaks && draw(breaks + 1) == 0;
            if (i > 10 && draw(8) == 0) { /* a copied stretch */
                size_t from = draw((uint32_t)i), length = 1 + draw(20);
                for (size_t k = 0; k < length && i < n; k++, i++) {
                    ids[i] = ids[from + k];
                    is_break[i] = false;
                }
                i--;
            }
        }
        compare(copy, ids, is_break, n);
    }
    lg_copy_free(copy);
}

/* Every string of up to 8 elements over three tokens. */
static void test_exhaustive(void **unused) {
    (void)unused;
    lg_copy *copy = lg_copy_create();
    assert_non_null(copy);
    for (size_t n = 0; n <= 8; n++) {
        size_t all = 1;
        for (size_t i = 0; i < n; i++) all *= 3;
        for (size_t code = 0; code < all; code++) {
            uint32_t ids[8] = {0};
            bool is_break[8] = {false};
            size_t rest = code;
            for (size_t i = 0; i < n; i++, rest /= 3) ids[i] = (uint32_t)(rest % 3);
            compare(copy, ids, is_break, n);
        }
    }
    lg_copy_free(copy);
}

/* Saturation, and time that does not grow with the square: these take minutes if it does. */
static void test_repetitive(void **unused) {
    (void)unused;
    enum { N = 400000 };
    lg_copy *copy = lg_copy_create();
    uint32_t *ids = calloc(N, sizeof *ids), *distance = malloc(N * sizeof *distance);
    uint16_t *len = malloc(N * sizeof *len);
    assert_true(copy && ids && distance && len);
    assert_true(lg_copy_features(copy, ids, NULL, N, len, distance)); /* all equal */
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(len[i], i < 65535 ? i : 65535);
        assert_int_equal(distance[i], i > 0);
    }
    for (size_t i = 0; i < N; i++) ids[i] = i % 1000 == 999 ? 7 : (uint32_t)(i % 3); /* near-periodic */
    assert_true(lg_copy_features(copy, ids, NULL, N, len, distance));
    uint32_t a = 0, b = 1; /* Fibonacci word, the worst case of many string algorithms */
    ids[0] = 0;
    for (size_t i = 1, from = 0; i < N; i++) ids[i] = ids[from++] ^ (i & 1 ? a : b);
    assert_true(lg_copy_features(copy, ids, NULL, N, len, distance));
    for (size_t i = 0; i < N; i++) ids[i] = (uint32_t)(N - i); /* all different */
    assert_true(lg_copy_features(copy, ids, NULL, N, len, distance));
    for (size_t i = 0; i < N; i++) assert_int_equal(len[i] | distance[i], 0);
    free(ids);
    free(len);
    free(distance);
    lg_copy_free(copy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_exhaustive),
        cmocka_unit_test(test_repetitive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
