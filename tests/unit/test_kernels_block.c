/* The block kernels, each against plain loops, on every instruction set of this machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "mixers.h"

#include <cmocka.h>

static const lg_block *block; /* under test */

static void each_isa(void (*test)(void)) {
    for (lg_isa isa = LG_ISA_C; isa <= LG_ISA_AVX512_BF16; isa++)
        if ((block = lg_block_for(isa))) test();
}

static double distance(const float *x, const double *y, size_t n) {
    double worst = 0;
    for (size_t i = 0; i < n; i++) {
        const double d = fabs((double)x[i] - y[i]);
        worst = d <= worst ? worst : d;
    }
    return worst;
}

/* Every height and width of a tile, three depths, with and without what was there. */
static void products(void) {
    for (size_t m = 1; m <= block->rows; m++)
        for (size_t n = block->lanes; n <= block->columns; n += block->lanes)
            for (size_t k = 0; k <= 40; k += 20)
                for (int scaled = 0; scaled < 2; scaled++) {
                    const size_t lda = k + 3, ldb = n + 5, ldc = n + 2;
                    float *a = mixers_random(m * lda, 1), *b = mixers_random(k * ldb, 1);
                    float *c = mixers_random(m * ldc, 1), *scale = mixers_random(m, 1);
                    double *wanted = malloc(m * ldc * sizeof *wanted);
                    assert_non_null(wanted);
                    for (size_t i = 0; i < m; i++)
                        for (size_t j = 0; j < ldc; j++) {
                            double *w = &wanted[i * ldc + j];
                            *w = (double)c[i * ldc + j];
                            if (j >= n) continue;
                            *w *= scaled ? (double)scale[i] : 0;
                            for (size_t p = 0; p < k; p++)
                                *w += (double)a[i * lda + p] * (double)b[p * ldb + j];
                        }
                    block->product(m, n, k, a, lda, b, ldb, c, ldc, scaled ? scale : NULL);
                    assert_true(distance(c, wanted, m * ldc) <= 1e-5);
                    free(a), free(b), free(c), free(scale), free(wanted);
                }
}

static void test_products(void **state) {
    (void)state;
    each_isa(products);
}

static void products_bf16(void) {
    if (!block->product_bf16) return;
    for (size_t m = 1; m <= block->rows; m++)
        for (size_t n = block->lanes; n <= block->columns; n += block->lanes)
            for (size_t k = 1; k <= 41; k += 20) { /* odd: the last pair is half */
                const size_t pairs = (k + 1) / 2;
                float *a = mixers_random(m * k, 1), *b = mixers_random(k * n, 1),
                      *c = mixers_random(m * n, 1);
                float *scale = mixers_random(m, 1);
                uint32_t *pa = calloc(m * pairs, sizeof *pa), *pb = calloc(pairs * n, sizeof *pb);
                double *wanted = malloc(m * n * sizeof *wanted);
                assert_true(pa && pb && wanted);
                for (size_t i = 0; i < m; i++) block->round_bf16(k, a + i * k, (uint16_t *)(pa + i * pairs));
                for (size_t p = 0; p < pairs; p++)
                    block->round_pairs(n, b + 2 * p * n, 2 * p + 1 < k ? b + (2 * p + 1) * n : NULL,
                                       pb + p * n);
                for (size_t i = 0; i < m; i++)
                    for (size_t j = 0; j < n; j++) {
                        double *w = &wanted[i * n + j];
                        *w = (double)scale[i] * (double)c[i * n + j];
                        for (size_t p = 0; p < k; p++)
                            *w += (double)mixers_bf16(a[i * k + p]) * (double)mixers_bf16(b[p * n + j]);
                    }
                block->product_bf16(m, n, pairs, pa, pairs, pb, n, c, n, scale);
                assert_true(distance(c, wanted, m * n) <= 1e-5);
                free(a), free(b), free(c), free(scale), free(pa), free(pb), free(wanted);
            }
}

static void test_products_bf16(void **state) {
    (void)state;
    each_isa(products_bf16);
}

/* An element does not depend on the tile that it is computed in. */
static void same_bits_in_every_tile(void) {
    const size_t m = block->rows, n = block->columns, k = 50;
    float *a = mixers_random(m * k, 1), *b = mixers_random(k * n, 1);
    float *whole = mixers_random(m * n, 0), *part = mixers_random(m * n, 0);
    block->product(m, n, k, a, k, b, n, whole, n, NULL);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j += block->lanes) {
            block->product(m - i, block->lanes, k, a + i * k, k, b + j, n, part, n, NULL);
            assert_memory_equal(part, whole + i * n + j, block->lanes * sizeof *part);
        }
    free(a), free(b), free(whole), free(part);
}

static void test_same_bits(void **state) {
    (void)state;
    each_isa(same_bits_in_every_tile);
}

static void substitution(void) {
    enum { N = 23 };
    const size_t n = block->columns;
    float *a = mixers_random(N * N, 0.3f), *x = mixers_random(N * n, 1);
    double *wanted = malloc(N * n * sizeof *wanted);
    assert_non_null(wanted);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < n; j++) {
            wanted[i * n + j] = (double)x[i * n + j];
            for (size_t p = 0; p < i; p++) wanted[i * n + j] += (double)a[i * N + p] * wanted[p * n + j];
        }
    for (size_t i = 0; i < N; i += block->rows)
        block->substitute(N - i < block->rows ? N - i : block->rows, n, i, a, N, x, n);
    assert_true(distance(x, wanted, N * n) <= 1e-4);
    free(a), free(x), free(wanted);
}

static void test_substitution(void **state) {
    (void)state;
    each_isa(substitution);
}

/* e^x within 2 units in the last place down to the smallest normal numbers, 0 far below, 1 at 0, NaN for NaN.
 */
static void exponentials(void) {
    enum { N = 64 };
    float his[N], los[N] = {0}, y[N];
    double worst = 0;
    for (int step = 0; step < 4000; step++) {
        for (int j = 0; j < N; j++) his[j] = 86.9f * (float)(step * N + j) / (4000 * N);
        block->decay(N, 0, 0, his, los, y);
        for (int j = 0; j < N; j++) {
            const double e = exp(-(double)his[j]);
            const double ulp = ldexp(1, ilogb(e) - 23);
            worst = fmax(worst, fabs((double)y[j] - e) / ulp);
        }
    }
    if (!(worst <= 2)) fail_msg("%.2f units in the last place", worst);
    const float far[] = {0, 88, 200, 1e30f, INFINITY, NAN};
    for (size_t n = 1; n <= 6; n++) {
        float some[N] = {0};
        memcpy(some, far, n * sizeof *some);
        for (size_t j = 0; j < N; j++) y[j] = -1;
        block->decay(n, 0, 0, some, los, y);
        assert_true(y[0] == 1);
        for (size_t j = 1; j < n; j++) assert_true(j < 5 ? y[j] >= 0 && y[j] <= 1e-38f : isnan(y[j]));
        for (size_t j = n; j < (n + block->lanes - 1) / block->lanes * block->lanes; j++)
            assert_true(y[j] == 0);
    }
    const float hi[N] = {1000}, lo[N] = {-1e-5f}; /* both parts count */
    block->decay(1, 999, 2e-5f, hi, lo, y);
    assert_true(fabs((double)y[0] - exp(-1 + 3e-5)) <= 1e-7);
}

static void test_exponentials(void **state) {
    (void)state;
    each_isa(exponentials);
}

/* Blocks one after the other give the softmax of all keys, whatever a row sees of each. */
static void online_softmax(void) {
    enum { N = 64, BLOCKS = 4 };
    static const size_t windows[] = {1, 2, 10, 63, 64, 65, 100, 1000};
    for (size_t w = 0; w < sizeof windows / sizeof *windows; w++)
        for (size_t first = 0; first + block->rows <= (size_t)N * BLOCKS; first += 7)
            for (int round = 0; round < 2; round++) {
                const size_t m = block->rows, window = windows[w];
                float *s = mixers_random(m * N * BLOCKS, 3), max[LG_BLOCK_MAX_ROWS];
                double p[LG_BLOCK_MAX_ROWS][N * BLOCKS] = {{0}}, total[LG_BLOCK_MAX_ROWS] = {0};
                float *sum = calloc(m * block->lanes, sizeof *sum);
                assert_non_null(sum);
                double *wanted = malloc(m * N * BLOCKS * sizeof *wanted);
                assert_non_null(wanted);
                for (size_t i = 0; i < m; i++) {
                    double z = 0;
                    for (size_t j = 0; j < (size_t)N * BLOCKS; j++) {
                        const bool seen = j <= first + i && j + window > first + i;
                        double *e = &wanted[i * N * BLOCKS + j];
                        z += *e = seen ? exp2(0.7 * (double)s[j / N * m * N + i * N + j % N]) : 0;
                    }
                    for (size_t j = 0; j < (size_t)N * BLOCKS; j++) wanted[i * N * BLOCKS + j] /= z;
                    max[i] = -INFINITY;
                }
                const size_t from = first + 1 > window ? first + 1 - window : 0, to = first + m;
                for (size_t b = from / N; b * N < to && b < BLOCKS; b++) {
                    lg_softmax_tile tile = {(ptrdiff_t)first - (ptrdiff_t)(b * N), window, 0.7f, round};
                    float rescale[LG_BLOCK_MAX_ROWS], *block_s = s + b * m * N;
                    block->softmax(m, N, &tile, block_s, N, max, sum, rescale);
                    for (size_t i = 0; i < m; i++) {
                        for (size_t j = 0; j < (size_t)N * BLOCKS; j++) p[i][j] *= (double)rescale[i];
                        for (size_t j = 0; j < N; j++)
                            if (b * N + j >= from && b * N + j < to) {
                                p[i][b * N + j] = (double)block_s[i * N + j];
                                if (round) assert_true(mixers_bf16(block_s[i * N + j]) == block_s[i * N + j]);
                            }
                    }
                }
                for (size_t i = 0; i < m; i++) {
                    for (size_t l = 0; l < block->lanes; l++) total[i] += (double)sum[i * block->lanes + l];
                    for (size_t j = 0; j < (size_t)N * BLOCKS; j++) {
                        const double w_ij = wanted[i * N * BLOCKS + j];
                        if (w_ij == 0) assert_true(p[i][j] == 0);
                        assert_true(fabs(p[i][j] / total[i] - w_ij) <= (round ? 8e-3 : 2e-6) * w_ij + 1e-9);
                    }
                }
                free(s), free(sum), free(wanted);
            }
}

static void test_online_softmax(void **state) {
    (void)state;
    each_isa(online_softmax);
}

static void transposition(void) {
    for (size_t rows = 1; rows <= 35; rows += 2)
        for (size_t columns = 1; columns <= 35; columns++) {
            float *x = mixers_random(rows * (columns + 1), 1), *y = mixers_random(columns * (rows + 2), 1);
            block->transpose(rows, columns, x, columns + 1, y, rows + 2);
            for (size_t i = 0; i < rows; i++)
                for (size_t j = 0; j < columns; j++)
                    assert_true(y[j * (rows + 2) + i] == x[i * (columns + 1) + j]);
            free(x), free(y);
        }
}

static void test_transposition(void **state) {
    (void)state;
    each_isa(transposition);
}

static uint32_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Every sort of number; ties go to even. */
static void rounding(void) {
    static const uint32_t special[] = {0,          0x80000000, 0x3f808000, 0x3f818000,
                                       0x3f808001, 0x3f807fff, 0x7f7f7fff, 0x7f7f8000,
                                       0x7f800000, 0xff800000, 0x00800000, 0xbf818000};
    static const uint32_t nans[] = {0x7fc00000, 0x7fffffff, 0xffffffff, 0x7f800001, 0xffbfffff};
    enum { N = 300 };
    float *x = mixers_random(N, 1), y[N];
    uint16_t h[N];
    uint32_t pairs[N];
    memcpy(x, special, sizeof special);
    for (size_t n = 1; n <= N; n += n < 40 ? 1 : 37) {
        block->round(n, x, y);
        for (size_t i = 0; i < n; i++) assert_int_equal(bits_of(y[i]), bits_of(mixers_bf16(x[i])));
        if (!block->round_bf16) continue;
        block->round_bf16(n, x, h);
        block->round_pairs(n - n / 2, x, x + n / 2, pairs);
        for (size_t i = 0; i < n; i++) assert_int_equal(h[i], bits_of(mixers_bf16(x[i])) >> 16);
        for (size_t i = 0; i < n - n / 2; i++)
            assert_int_equal(pairs[i], bits_of(mixers_bf16(x[i])) >> 16 | bits_of(mixers_bf16(x[n / 2 + i])));
    }
    memcpy(x, nans, sizeof nans);
    block->round(5, x, y);
    if (block->round_bf16) block->round_bf16(5, x, h);
    for (size_t i = 0; i < 5; i++) {
        assert_true(isnan(y[i]) && (bits_of(y[i]) & 0xffff) == 0);
        if (block->round_bf16) assert_true((h[i] & 0x7fff) > 0x7f80);
    }
    free(x);
}

static void test_rounding(void **state) {
    (void)state;
    each_isa(rounding);
}

static void test_choice(void **state) {
    (void)state;
    const lg_block *best = lg_block_for(LG_ISA_BEST);
    assert_non_null(best);
    assert_non_null(lg_block_for(LG_ISA_C));
    for (lg_isa isa = LG_ISA_C; isa <= LG_ISA_AVX512_BF16; isa++) {
        const lg_block *b = lg_block_for(isa);
        if (!b) continue;
        assert_true(b->rows <= LG_BLOCK_MAX_ROWS && b->columns % b->lanes == 0 && b->lanes <= best->lanes);
        assert_true(64 % b->columns == 0 && 96 % b->rows == 0); /* what the layers' blocks rest on */
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products),      cmocka_unit_test(test_products_bf16),
        cmocka_unit_test(test_same_bits),     cmocka_unit_test(test_substitution),
        cmocka_unit_test(test_exponentials),  cmocka_unit_test(test_online_softmax),
        cmocka_unit_test(test_transposition), cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_choice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
