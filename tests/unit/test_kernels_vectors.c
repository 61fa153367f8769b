/* Elementwise kernels of every instruction set against formulas in double, over all tails and unaligned. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <math.h>

#include "kernels/kernels.h"

static uint64_t state = 1;
static double uniform(void) /* in [-1, 1) */
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(state ^ state >> 29) * 0x1p-63;
}

static float float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, 4);
    return x;
}

static uint32_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, 4);
    return bits;
}

enum { MOST = 150, ROOM = MOST + 8 };

/* Calls CHECK with the kernels of every instruction set of this CPU. */
static void each_isa(void (*check)(const lg_kernels *k)) {
    for (int isa = LG_ISA_C; isa <= LG_ISA_AVX512_BF16; isa++) {
        lg_error error = {0};
        lg_compute *c;
        if (!lg_cpu_has((lg_isa)isa)) continue;
        assert_int_equal(lg_compute_create(LG_PRECISION_F32, 1, (lg_isa)isa, &c, &error), LG_OK);
        check(c->kernels);
        lg_compute_free(c);
    }
}

static void fill(float *x, size_t n, double scale) {
    for (size_t i = 0; i < n; i++) x[i] = (float)(uniform() * scale);
}

/* |got - expected| <= tolerance |expected| + floor, or both NaN, or the same infinity. */
static void close_to(float got, double expected, double tolerance, double floor) {
    if (isnan(expected) ? isnan(got)
                        : got == expected || fabs(got - expected) <= tolerance * fabs(expected) + floor)
        return;
    fail_msg("got %a, expected %a", (double)got, expected);
}

static double silu_of(double x) {
    return x >= 0 ? x / (1 + exp(-x)) : x * exp(x) / (1 + exp(x));
}

/* ---- conversions ---- */

/* By its definition: the nearest of the two neighbours, the even one of two as near. */
static uint16_t bf16_by_definition(float x) {
    uint32_t low = bits_of(x) & 0xffff0000u, high = low + 0x10000u;
    if (isnan(x)) return (uint16_t)(bits_of(x) >> 16 | 0x40);
    if (isinf(x)) return (uint16_t)(low >> 16);
    double below = fabs((double)x - float_of(low));
    double above = isinf(float_of(high)) ? ldexp(1, 128) - fabs((double)x) : fabs(float_of(high) - (double)x);
    if (below != above) return (uint16_t)((below < above ? low : high) >> 16);
    return (uint16_t)(((low >> 16 & 1) ? high : low) >> 16);
}

static void check_bf16(const lg_kernels *k) {
    static const uint32_t special[] = {0,          0x80000000, 0x7f800000, 0xff800000, 0x7f800001, 0x7fffffff,
                                       0xffffffff, 0x7f7fffff, 0xff7fffff, 0x7f7f8000, 0x7f7f7fff, 1,
                                       0x8000,     0x8001,     0x18000,    0x80008000, 0x00800000, 0x3f808000,
                                       0x3f818000, 0x3f808001, 0x3f807fff, 0x7fc00000, 0x7f80ffff};
    enum { SPECIAL = sizeof special / sizeof *special, N = 4099 };
    float *x = malloc(N * sizeof *x), *rounded = malloc(N * sizeof *x), *widened = malloc(N * sizeof *x);
    uint16_t *y = malloc(N * sizeof *y);
    for (size_t i = 0; i < N; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        x[i] = float_of(i < SPECIAL ? special[i] : (uint32_t)(state >> 32));
    }
    k->to_bf16(y, x, N);
    k->round_to_bf16(rounded, x, N);
    k->from_bf16(widened, y, N);
    for (size_t i = 0; i < N; i++) {
        if (y[i] != bf16_by_definition(x[i])) fail_msg("%s: %08x became %04x", k->name, bits_of(x[i]), y[i]);
        assert_int_equal(bits_of(rounded[i]), (uint32_t)y[i] << 16);
        assert_int_equal(bits_of(widened[i]), (uint32_t)y[i] << 16);
    }
    free(x), free(rounded), free(widened), free(y);
}

/* Every f16, from an odd address. */
static void check_f16(const lg_kernels *k) {
    unsigned char *halves = malloc(2 * 65536 + 1);
    float *y = malloc(65536 * sizeof *y);
    for (uint32_t h = 0; h < 65536; h++) memcpy(halves + 1 + 2 * h, &(uint16_t){(uint16_t)h}, 2);
    k->from_f16(y, halves + 1, 65536);
    for (uint32_t h = 0; h < 65536; h++) {
        int exponent = (int)(h >> 10 & 31), fraction = (int)(h & 1023);
        double expected = exponent == 31
                              ? (fraction ? (double)NAN : (double)INFINITY)
                              : ldexp(fraction + (exponent ? 1024 : 0), (exponent ? exponent : 1) - 25);
        close_to(y[h], h >> 15 ? -expected : expected, 0, 0);
        assert_true(isnan(expected) || !!signbit(y[h]) == (h >> 15));
    }
    free(halves), free(y);
}

static void check_pairs(const lg_kernels *k) {
    enum { PAIRS = 3, COLUMNS = 48 };
    uint32_t x[PAIRS * COLUMNS];
    float y[2 * PAIRS * COLUMNS];
    for (uint32_t i = 0; i < PAIRS * COLUMNS; i++) x[i] = 0x3f804000u + i * 0x10001u;
    k->widen_pairs(y, x, PAIRS, COLUMNS);
    for (size_t p = 0; p < PAIRS; p++)
        for (size_t c = 0; c < COLUMNS; c++) {
            assert_int_equal(bits_of(y[2 * p * COLUMNS + c]), x[p * COLUMNS + c] << 16);
            assert_int_equal(bits_of(y[(2 * p + 1) * COLUMNS + c]), x[p * COLUMNS + c] & 0xffff0000u);
        }
}

/* ---- norms and gates ---- */

/* For every length: right in all elements, silent beyond them, the same in place. */
static void check_elementwise(const lg_kernels *k) {
    float a[ROOM], b[ROOM], c[ROOM], d[ROOM], y[ROOM], z[ROOM];
    for (size_t n = 0; n <= MOST; n++) {
        size_t shift = n % 5; /* unaligned */
        fill(a, ROOM, 3), fill(b, ROOM, 3), fill(c, ROOM, 20), fill(d, ROOM, 3);
        double squares = 0;
        for (size_t i = 0; i < n; i++) squares += (double)a[shift + i] * a[shift + i];
        close_to(k->sum_squares(a + shift, n), squares, 5e-7, 0);

        const float r = 0.7f;
#define CHECK(CALL, FORMULA, TOLERANCE, FLOOR)                                                               \
    do {                                                                                                     \
        memcpy(y, d, sizeof y);                                                                              \
        CALL;                                                                                                \
        for (size_t i = shift; i < shift + n; i++) close_to(y[i], FORMULA, TOLERANCE, FLOOR);                \
        for (size_t i = 0; i < ROOM; i++)                                                                    \
            if (i < shift || i >= shift + n) assert_true(y[i] == d[i]);                                      \
    } while (0)
        CHECK(k->scale(y + shift, a + shift, r, n), (double)a[i] * r, 1e-7, 0);
        CHECK(k->norm(y + shift, a + shift, b + shift, r, n), (double)a[i] * r * b[i], 2e-7, 0);
        CHECK(k->norm_add(y + shift, a + shift, b + shift, r, n), d[i] + (double)a[i] * r * b[i], 1e-7, 2e-6);
        CHECK(k->norm_gate(y + shift, a + shift, b + shift, c + shift, r, n),
              (double)a[i] * r * b[i] * silu_of(c[i]), 8e-7, 0);
        CHECK(k->swiglu(y + shift, c + shift, a + shift, n), silu_of(c[i]) * a[i], 6e-7, 0);
        memcpy(z, c, sizeof z);
        k->swiglu(z + shift, z + shift, a + shift, n);
        assert_memory_equal(z + shift, y + shift, n * sizeof *y);
        memcpy(z, a, sizeof z);
        k->swiglu(z + shift, c + shift, z + shift, n);
        assert_memory_equal(z + shift, y + shift, n * sizeof *y);

        memcpy(y, a, sizeof y), memcpy(z, b, sizeof z);
        k->rotate(y + shift, z + shift, c + shift, d + shift, n);
        for (size_t i = 0; i < ROOM; i++) {
            bool in = i >= shift && i < shift + n;
            close_to(y[i], in ? (double)a[i] * c[i] - (double)b[i] * d[i] : a[i], 0, in ? 1e-5 : 0);
            close_to(z[i], in ? (double)b[i] * c[i] + (double)a[i] * d[i] : b[i], 0, in ? 1e-5 : 0);
        }
    }
}

/* An element's bits do not depend on its place: alone, and in a long call. */
static void check_places(const lg_kernels *k) {
    float gate[MOST], up[MOST], all[MOST], alone;
    fill(gate, MOST, 30), fill(up, MOST, 1);
    k->swiglu(all, gate, up, MOST);
    for (size_t i = 0; i < MOST; i++) {
        k->swiglu(&alone, gate + i, up + i, 1);
        assert_int_equal(bits_of(alone), bits_of(all[i]));
    }
}

/* silu at its ends; NaN stays NaN. */
static void check_extremes(const lg_kernels *k) {
    const float x[] = {0, -0.0f, 1e-30f, -1e-30f, 88, -87, 200, -200, 1e30f, -1e30f, INFINITY, NAN, 3.4e38f};
    enum { N = sizeof x / sizeof *x };
    float one[N], y[N];
    for (size_t i = 0; i < N; i++) one[i] = 1;
    k->swiglu(y, x, one, N);
    for (size_t i = 0; i < N; i++)
        close_to(y[i], isinf(x[i]) || isnan(x[i]) ? x[i] : silu_of(x[i]), 5e-7, 1e-35);
}

/* ---- short convolution ---- */

static void check_conv(const lg_kernels *k) {
    enum { LONGEST = 13, STRIDE = 60 };
    for (size_t K = 1; K <= 8; K++)
        for (size_t T = 0; T <= LONGEST; T += T < 4 ? 1 : 3)
            for (size_t d = 1; d <= 50; d += 7) {
                float x[LONGEST * STRIDE], y[LONGEST * STRIDE], w[8 * 50];
                fill(x, LONGEST * STRIDE, 2), fill(w, 8 * 50, 1);
                memset(y, 0, sizeof y);
                k->short_conv(y, STRIDE, x, STRIDE, w, K, T, d);
                for (size_t t = 0; t < LONGEST; t++)
                    for (size_t c = 0; c < STRIDE; c++) {
                        double sum = 0;
                        for (size_t j = 0; j < K; j++)
                            if (t + j + 1 >= K)
                                sum += (double)w[j * d + c % d] * x[(t + j + 1 - K) * STRIDE + c];
                        close_to(y[t * STRIDE + c], t < T && c < d ? silu_of(sum) : 0, 0,
                                 t < T && c < d ? 3e-6 : 0);
                    }
                k->short_conv(x, STRIDE, x, STRIDE, w, K, T, d);
                for (size_t t = 0; t < T; t++)
                    assert_memory_equal(x + t * STRIDE, y + t * STRIDE, d * sizeof *y);
            }
}

/* ---- softmax ---- */

/* exp through sum_exp of one element: at most 2 units in the last place, on a dense grid; 0 where f32 has no
 * normal. */
static void check_exp(const lg_kernels *k) {
    double worst = 0;
    for (long i = 0; i <= 400000; i++) {
        float x = (float)((double)-i * (87.3 / 400000));
        double e = exp(x), got = k->sum_exp(&x, 0, 1, NULL);
        double error = fabs(got - e) / (ldexp(1, ilogb(e) - 23));
        if (error > worst) worst = error;
    }
    if (worst > 2) fail_msg("%s: exp is %.3f units off", k->name, worst);
    const float low[] = {-90, -104, -1e30f, -INFINITY};
    for (size_t i = 0; i < 4; i++) close_to((float)k->sum_exp(&low[i], 0, 1, NULL), exp(low[i]), 0, 1.2e-38);
    const float nan = NAN;
    double weighted;
    assert_true(isnan(k->sum_exp(&nan, 0, 1, &weighted)) && isnan(weighted));
}

static void check_sums(const lg_kernels *k) {
    enum { LONGEST = 5000 };
    float *x = malloc((LONGEST + 3) * sizeof *x);
    for (size_t n = 0; n <= LONGEST; n += n < 140 ? 1 : 611)
        for (int kind = 0; kind < 3; kind++) {
            fill(x, LONGEST + 3, 12);
            if (kind == 1) /* far apart, and some that do not count */
                for (size_t i = 0; i < n; i++) x[3 + i] = i % 7 ? x[3 + i] * 10 : -INFINITY;
            if (kind == 2) /* all negative: what fills up a vector must not count */
                for (size_t i = 0; i < n; i++) x[3 + i] = -fabsf(x[3 + i]) - 1;
            float max = -INFINITY;
            for (size_t i = 0; i < n; i++) max = fmaxf(max, x[3 + i]);
            assert_true(k->max(x + 3, n) == max);
            if (n == 0 || isinf(max)) continue;
            double sum = 0, weighted = 0, got_weighted = 77, got = k->sum_exp(x + 3, max, n, &got_weighted);
            size_t above = 0, first = n;
            for (size_t i = n; i-- > 0;) {
                float difference = x[3 + i] - max;
                sum += exp(difference);
                if (!isinf(difference)) weighted += exp(difference) * difference;
                above += x[3 + i] > x[3 + n / 2];
                if (x[3 + i] == max) first = i;
            }
            assert_true(fabs(got - sum) <= 2e-7 * sum);
            assert_true(fabs(got_weighted - weighted) <= 3e-7 * fabs(weighted) + 1e-30);
            assert_true(k->sum_exp(x + 3, max, n, NULL) == got);
            assert_int_equal(k->count_above(x + 3, x[3 + n / 2], n), above);
            assert_int_equal(k->find(x + 3, max, n), first);
            assert_int_equal(k->find(x + 3, 1e9f, n), n);
        }
    for (size_t i = 0; i < 100; i++) x[i] = i % 3 ? NAN : (float)i;
    assert_true(k->max(x, 100) == 99);
    assert_int_equal(k->count_above(x, 90, 100), 3);
    free(x);
}

#define TEST(NAME)                                                                                           \
    static void test_##NAME(void **unused) {                                                                 \
        (void)unused;                                                                                        \
        each_isa(check_##NAME);                                                                              \
    }
TEST(bf16)
TEST(f16)
TEST(pairs)
TEST(elementwise)
TEST(places)
TEST(extremes)
TEST(conv)
TEST(exp)
TEST(sums)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bf16),        cmocka_unit_test(test_f16),    cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_elementwise), cmocka_unit_test(test_places), cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_conv),        cmocka_unit_test(test_exp),    cmocka_unit_test(test_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
