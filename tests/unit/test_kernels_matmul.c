/* Products with weights: right against sums in double, and a row's bits depend on that row alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <math.h>

#include "base/memory.h"
#include "kernels/kernels.h"
#include "kernels/matmul.h"

static uint64_t state;
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

/* To nearest even, for finite values; written apart from the library's. */
static double bf16_of(double x) {
    if (x == 0) return x;
    int exponent;
    frexp(x, &exponent);
    double unit = ldexp(1, exponent - 8);
    return nearbyint(x / unit) * unit;
}

/* A weight [n_out, n_in] of DTYPE at an odd address, and its values. */
static void make_weight(lg_dtype dtype, size_t n, unsigned char **bytes, double *values) {
    *bytes = malloc(n * 4 + 1);
    for (size_t i = 0; i < n; i++) {
        float v = (float)uniform();
        if (dtype == LG_F32) memcpy(*bytes + 1 + 4 * i, &v, 4);
        else if (dtype == LG_BF16) {
            uint16_t b = (uint16_t)(bits_of(v) >> 16);
            memcpy(*bytes + 1 + 2 * i, &b, 2);
            v = float_of((uint32_t)b << 16);
        } else {
            int half = (int)(v * 1024); /* k / 1024, exact in f16 */
            unsigned magnitude = (unsigned)abs(half), e = 25;
            v = (float)half / 1024;
            uint16_t b = 0;
            if (magnitude) {
                while (magnitude < 1024) magnitude *= 2, e--;
                b = (uint16_t)((half < 0 ? 0x8000u : 0) | (e - 10) << 10 | (magnitude & 1023));
                if (magnitude == 2048) fail();
            }
            memcpy(*bytes + 1 + 2 * i, &b, 2);
        }
        values[i] = v;
    }
}

static const struct {
    size_t n_out, n_in, ldy;
} shapes[] = {
    {1, 1, 1},    {3, 5, 8},       {30, 96, 30},     {64, 64, 64},
    {65, 33, 70}, {130, 257, 130}, {100, 2880, 103}, {257, 30, 300},
};

static void check_product(lg_precision precision, lg_isa isa, lg_dtype dtype) {
    lg_error error = {0};
    lg_compute *c;
    if (!lg_cpu_has(isa)) return;
    assert_int_equal(lg_compute_create(precision, 2, isa, &c, &error), LG_OK);
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        size_t n_out = shapes[s].n_out, n_in = shapes[s].n_in, ldy = shapes[s].ldy,
               filled = n_out - n_out / 4;
        size_t skip = 2, rows = filled + skip,
               length = s % 2 ? LG_TILE : 1 + (s * 29 + (size_t)dtype) % LG_TILE;
        double *values = malloc(rows * n_in * sizeof *values);
        unsigned char *bytes;
        make_weight(dtype, rows * n_in, &bytes, values);
        lg_tensor tensor = {.name = "w",
                            .dtype = dtype,
                            .n_dims = 2,
                            .shape = {rows, n_in},
                            .count = rows * n_in,
                            .data = bytes + 1};
        lg_weight *w;
        assert_int_equal(lg_weight_create(c, n_out, n_in, &w, &error), LG_OK);
        assert_int_equal(lg_weight_load(w, &tensor, 0, filled, &error),
                         LG_OK); /* reloaded: no trace of it is left */
        assert_int_equal(lg_weight_load(w, &tensor, skip, filled, &error), LG_OK);
        float *x = lg_alloc_aligned(LG_TILE * n_in, 4), *y = lg_alloc_aligned(LG_TILE * ldy, 4);
        void *operand = lg_alloc_aligned(LG_TILE * n_in, 4),
             *scratch = lg_alloc_aligned(lg_weight_scratch(w), 1);
        for (size_t i = 0; i < LG_TILE * n_in; i++) x[i] = (float)uniform();
        for (size_t i = 0; i < LG_TILE * ldy; i++) y[i] = 77;
        lg_to_operand(c, x, operand, LG_TILE * n_in);
        assert_int_equal(lg_linear_tile(w, operand, length, y, ldy, scratch, &error), LG_OK);
        double *exact = malloc(LG_TILE * n_in * sizeof *exact);
        bool rounds = precision == LG_PRECISION_BF16;
        for (size_t j = 0; j < LG_TILE * n_in; j++) exact[j] = rounds ? bf16_of(x[j]) : x[j];
        for (size_t j = 0; rounds && j < rows * n_in; j++) values[j] = bf16_of(values[j]);
        for (size_t t = 0; t < length; t++) {
            for (size_t o = 0; o < n_out; o++) {
                double sum = 0, size = 0;
                for (size_t k = 0; k < n_in && o < filled; k++) {
                    double a = exact[t * n_in + k], b = values[(o + skip) * n_in + k];
                    sum += a * b;
                    size += fabs(a * b);
                }
                if (!(fabs(y[t * ldy + o] - sum) <= 1e-6 * size + 1e-12))
                    fail_msg("%zu x %zu at (%zu, %zu): %g, expected %g", n_out, n_in, t, o,
                             (double)y[t * ldy + o], sum);
            }
            for (size_t o = n_out; o < ldy; o++) assert_true(y[t * ldy + o] == 77);
        }
        free(scratch), free(operand), free(y), free(x), free(bytes), free(values), free(exact);
        lg_weight_free(w);
    }
    lg_compute_free(c);
}

static void test_product(void **unused) {
    (void)unused;
    static const lg_dtype dtypes[] = {LG_F32, LG_BF16, LG_F16};
    for (int isa = LG_ISA_BEST; isa <= LG_ISA_ONEDNN; isa++)
        for (int d = 0; d < 3; d++) {
            check_product(LG_PRECISION_F32, (lg_isa)isa, dtypes[d]);
            check_product(LG_PRECISION_BF16, (lg_isa)isa, dtypes[d]);
        }
}

/* One row alone, and among zeros or garbage (NaN too) at every place of tiles of all lengths, on two threads
   at once: the same bits. */
static void check_invariance(lg_precision precision, lg_isa isa, size_t n_out, size_t n_in) {
    lg_error error = {0};
    lg_compute *c;
    if (!lg_cpu_has(isa)) return;
    assert_int_equal(lg_compute_create(precision, 2, isa, &c, &error), LG_OK);
    size_t size = lg_operand_size(c);
    float *weights = malloc(n_out * n_in * 4);
    for (size_t i = 0; i < n_out * n_in; i++) weights[i] = (float)uniform();
    lg_tensor tensor = {.name = "w",
                        .dtype = LG_F32,
                        .n_dims = 2,
                        .shape = {n_out, n_in},
                        .count = n_out * n_in,
                        .data = weights};
    lg_weight *w;
    assert_int_equal(lg_weight_create(c, n_out, n_in, &w, &error), LG_OK);
    assert_int_equal(lg_weight_load(w, &tensor, 0, n_out, &error), LG_OK);
    float *x = malloc(LG_TILE * n_in * 4), *expected = malloc(n_out * 4);
    unsigned char *row = malloc(n_in * size), *others = malloc(LG_TILE * n_in * size);
    for (size_t i = 0; i < LG_TILE * n_in; i++) x[i] = (float)uniform();
    lg_to_operand(c, x, row, n_in);
    for (size_t i = 0; i < LG_TILE * n_in; i++) x[i] = i % 97 ? (float)(uniform() * 1e30) : NAN;
    lg_to_operand(c, x, others, LG_TILE * n_in);
    void *alone = lg_alloc_aligned(lg_weight_scratch(w), 1);
    float *padded = lg_alloc_aligned(LG_TILE * n_out, 4);
    memcpy(others, row, n_in * size);
    assert_int_equal(lg_linear_tile(w, others, 1, padded, n_out, alone, &error), LG_OK);
    memcpy(expected, padded, n_out * 4);
    for (size_t o = 0; o < n_out; o++) assert_true(isfinite(expected[o]));
    lg_to_operand(c, x, others, n_in);
    size_t different = 0;
#pragma omp parallel for num_threads(2) schedule(dynamic) reduction(+ : different)
    for (size_t at = 0; at < LG_TILE; at++) {
        size_t ldy = n_out + (at % 3 ? 0 : 16), length = at + 1 + (at * 37 + n_in) % (LG_TILE - at);
        void *tile = lg_alloc_aligned(LG_TILE * n_in, size),
             *scratch = lg_alloc_aligned(lg_weight_scratch(w), 1);
        float *y = lg_alloc_aligned(LG_TILE * ldy, 4);
        if (at % 2) memset(tile, 0, LG_TILE * n_in * size);
        else memcpy(tile, others, LG_TILE * n_in * size);
        memcpy((char *)tile + at * n_in * size, row, n_in * size);
        different += lg_linear_tile(w, tile, length, y, ldy, scratch, NULL) != LG_OK;
        different += memcmp(y + at * ldy, expected, n_out * 4) != 0;
        free(scratch), free(tile), free(y);
    }
    assert_int_equal(different, 0);
    /* and a context with another number of threads */
    lg_compute *single;
    lg_weight *w1;
    assert_int_equal(lg_compute_create(precision, 1, isa, &single, &error), LG_OK);
    assert_int_equal(lg_weight_create(single, n_out, n_in, &w1, &error), LG_OK);
    assert_int_equal(lg_weight_load(w1, &tensor, 0, n_out, &error), LG_OK);
    void *scratch = lg_alloc_aligned(lg_weight_scratch(w1), 1);
    float *y = lg_alloc_aligned(LG_TILE * n_out, 4);
    memcpy(others + 5 * n_in * size, row, n_in * size);
    assert_int_equal(lg_linear_tile(w1, others, 6, y, n_out, scratch, &error), LG_OK);
    assert_memory_equal(y + 5 * n_out, expected, n_out * 4);
    free(scratch), free(alone), free(padded), free(y), free(x), free(expected), free(row), free(others),
        free(weights);
    lg_weight_free(w1), lg_weight_free(w);
    lg_compute_free(single), lg_compute_free(c);
}

static void test_invariance(void **unused) {
    (void)unused;
    static const size_t pairs[][2] = {{30, 256}, {130, 1000}, {1000, 256}, {64, 2100}};
    for (int isa = LG_ISA_BEST; isa <= LG_ISA_ONEDNN; isa++)
        for (int s = 0; s < 4; s++)
            for (int p = LG_PRECISION_F32; p <= LG_PRECISION_BF16; p++)
                check_invariance((lg_precision)p, (lg_isa)isa, pairs[s][0], pairs[s][1]);
}

static void test_refusals(void **unused) {
    (void)unused;
    lg_error error = {0};
    lg_compute *c;
    lg_weight *w;
    float values[12] = {0};
    lg_tensor tensor = {
        .name = "model.w", .dtype = LG_F32, .n_dims = 2, .shape = {3, 4}, .count = 12, .data = values};
    assert_int_equal(lg_compute_create(LG_PRECISION_AUTO, 1, LG_ISA_BEST, &c, &error), LG_USAGE);
    assert_int_equal(lg_compute_create(LG_PRECISION_F32, 1, LG_ISA_BEST, &c, &error), LG_OK);
    assert_int_equal(lg_weight_create(c, 0, 4, &w, &error), LG_BAD_INPUT);
    assert_int_equal(lg_weight_create(c, SIZE_MAX / 2, 4, &w, &error), LG_BAD_INPUT);
    assert_int_equal(lg_weight_create(c, 3, 4, &w, &error), LG_OK);
    assert_int_equal(lg_weight_load(w, &tensor, 0, 3, &error), LG_OK);
    assert_int_equal(lg_weight_load(w, &tensor, 1, 3, &error), LG_BAD_INPUT);
    assert_int_equal(lg_weight_load(w, &tensor, 0, 4, &error), LG_BAD_INPUT);
    assert_int_equal(lg_weight_load(w, &tensor, SIZE_MAX, 3, &error), LG_BAD_INPUT);
    tensor.dtype = LG_I32;
    assert_int_equal(lg_weight_load(w, &tensor, 0, 3, &error), LG_BAD_INPUT);
    assert_non_null(strstr(error.message, "model.w"));
    lg_weight_free(w);
    lg_weight_free(NULL);
    lg_compute_free(c);
    lg_compute_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_product),
        cmocka_unit_test(test_invariance),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
