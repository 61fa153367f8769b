/* Attention against its formula in double, on every instruction set of this machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "mixers.h"

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

typedef struct setting {
    size_t T, n_group, head_dim, window;
    size_t gap;    /* unused floats between rows */
    bool in_place; /* out is q */
    float spread;  /* of q and k: how peaked the softmax is */
} setting;

typedef struct difference {
    double worst, rms;
} difference;

/* Runs one setting; differences are relative to values of about 1. */
static difference run(const lg_compute *c, const setting *s) {
    const size_t q_stride = s->n_group * s->head_dim + s->gap, kv_stride = s->head_dim + s->gap;
    float *q = mixers_random(s->T * q_stride, s->spread), *k = mixers_random(s->T * kv_stride, s->spread);
    float *v = mixers_random(s->T * kv_stride, 1), *out = s->in_place ? q : mixers_random(s->T * q_stride, 1);
    lg_attention_args a = {q,    k,          v,           out,       q_stride, kv_stride, q_stride,
                           s->T, s->n_group, s->head_dim, s->window, 0,        0};
    a.scale = (float)(1 / sqrt((double)s->head_dim));
    const size_t n = s->n_group * s->head_dim;
    double *wanted = malloc(s->T * n * sizeof *wanted);
    assert_non_null(wanted);
    mixers_attention(&a, c->precision == LG_PRECISION_BF16, wanted);
    float *untouched = malloc(s->T * q_stride * sizeof *untouched);
    assert_non_null(untouched);
    memcpy(untouched, out, s->T * q_stride * sizeof *untouched);

    const size_t bytes = lg_attention_scratch(c, s->T, s->n_group, s->head_dim);
    unsigned char *scratch = malloc(bytes);
    assert_non_null(scratch);
    memset(scratch, 0xff, bytes); /* NaN */
    lg_attention(c, &a, scratch);

    difference d = {0, 0};
    for (size_t t = 0; t < s->T; t++) {
        for (size_t i = 0; i < n; i++) {
            const double error = fabs((double)out[t * q_stride + i] - wanted[t * n + i]);
            d.worst = error <= d.worst ? d.worst : error; /* also NaN */
            d.rms += error * error;
        }
        assert_memory_equal(out + t * q_stride + n, untouched + t * q_stride + n, s->gap * sizeof *out);
    }
    d.rms = sqrt(d.rms / (double)(s->T * n));
    free(q), free(k), free(v), free(wanted), free(untouched), free(scratch);
    if (!s->in_place) free(out);
    return d;
}

static void check(const setting *s) {
    for (lg_isa isa = LG_ISA_C; isa <= LG_ISA_AVX512_BF16; isa++)
        for (int bf16 = 0; bf16 < 2; bf16++) {
            lg_compute c;
            if (!mixers_compute(&c, isa, bf16 ? LG_PRECISION_BF16 : LG_PRECISION_F32)) continue;
            const difference d = run(&c, s);
            /* f32: sums of up to 256 products of about spread^2. bf16: probabilities are off by up to 2^-9.
             */
            const double bound = bf16 ? 1.2e-2 : 2e-6 * (double)(1 + s->spread * s->spread);
            if (!(d.worst <= bound) || !(d.rms <= bound / 4))
                fail_msg("isa %d, %s, T %zu, group %zu, head_dim %zu, window %zu: worst %.2g, rms %.2g",
                         (int)isa, bf16 ? "bf16" : "f32", s->T, s->n_group, s->head_dim, s->window, d.worst,
                         d.rms);
        }
}

static void all_short_rows_and_windows(void **state) {
    (void)state;
    static const size_t head_dims[] = {1, 8, 12, 16, 64};
    for (size_t T = 1; T <= 20; T++)
        for (size_t window = 0; window <= T + 1; window++)
            for (size_t i = 0; i < COUNT(head_dims); i++)
                check(
                    &(setting){T, 1 + (T + window) % 3, head_dims[i], window, T % 2 ? 3 : 0, window % 2, 1});
}

/* Around the edges of tiles (6 and 4 rows, 16 and 64 columns) and blocks (96 queries, 128 keys). */
static void rows_around_block_edges(void **state) {
    (void)state;
    static const size_t lengths[] = {63, 64, 65, 95, 96, 97, 127, 128, 129, 193, 257, 400};
    static const size_t windows[] = {0, 1, 2, 5, 63, 64, 65, 100, 127, 128, 129, 200, 256, 399};
    for (size_t i = 0; i < COUNT(lengths); i++)
        for (size_t j = 0; j < COUNT(windows); j++)
            check(&(setting){lengths[i], 1 + j % 2, j % 3 ? 24 : 12, windows[j], 5, i % 2, 1});
}

static void every_head_dim(void **state) {
    (void)state;
    for (size_t d = 1; d <= 256; d += d < 40 ? 1 : d < 140 ? 4 : 29)
        check(&(setting){140, 1, d, d % 3 ? 0 : 50, 1, d % 2, 1});
    check(&(setting){131, 1, 256, 0, 0, false, 1});
    check(&(setting){131, 3, 128, 0, 0, true, 1});
    check(&(setting){131, 2, 80, 40, 0, true, 1});
}

static void peaked_softmax(void **state) {
    (void)state;
    check(&(setting){300, 1, 64, 0, 0, false, 4}); /* scores of some 16 * 8 */
    check(&(setting){300, 1, 64, 77, 0, false, 4});
    check(&(setting){300, 1, 64, 0, 0, false, 1e-3f});
}

static void long_rows(void **state) {
    (void)state;
    check(&(setting){1500, 1, 16, 0, 0, false, 1});
    check(&(setting){1500, 1, 16, 700, 0, false, 1});
}

/* Scores far from 0, equal for all keys: an average whatever their size. */
static void equal_scores_average(void **state) {
    (void)state;
    static const size_t T = 200, D = 16;
    for (lg_isa isa = LG_ISA_C; isa <= LG_ISA_AVX512_BF16; isa++)
        for (int sign = -1; sign <= 1; sign++) {
            lg_compute c;
            if (!mixers_compute(&c, isa, LG_PRECISION_F32)) continue;
            float *q = mixers_random(T * D, 0), *k = mixers_random(T * D, 0), *v = mixers_random(T * D, 0);
            for (size_t i = 0; i < T * D; i++) {
                q[i] = 64;
                k[i] = 64 * (float)sign; /* 2^16 a score */
                v[i] = (float)(i / D);
            }
            const lg_attention_args a = {q, k, v, q, D, D, D, T, 1, D, 0, 0.25f, 0};
            void *scratch = malloc(lg_attention_scratch(&c, T, 1, D));
            assert_non_null(scratch);
            lg_attention(&c, &a, scratch);
            for (size_t i = 0; i < T * D; i++) assert_true(fabsf(q[i] - 0.5f * (float)(i / D)) <= 1e-4f);
            free(q), free(k), free(v), free(scratch);
        }
}

/* A broken value shows; it does not turn into a number. */
static void nan_stays_nan(void **state) {
    (void)state;
    static const size_t T = 150, D = 12;
    for (lg_isa isa = LG_ISA_C; isa <= LG_ISA_AVX512_BF16; isa++)
        for (int which = 0; which < 6; which++) {
            lg_compute c;
            if (!mixers_compute(&c, isa, which < 3 ? LG_PRECISION_F32 : LG_PRECISION_BF16)) continue;
            float *x[3];
            for (int i = 0; i < 3; i++) x[i] = mixers_random(T * D, 1);
            float *out = mixers_random(T * D, 1);
            static const uint32_t bits = 0x7fffffff;
            memcpy(x[which % 3] + 100 * D + 7, &bits, sizeof bits);
            const lg_attention_args a = {x[0], x[1], x[2], out, D, D, D, T, 1, D, 0, 0.25f, 0};
            void *scratch = malloc(lg_attention_scratch(&c, T, 1, D));
            assert_non_null(scratch);
            lg_attention(&c, &a, scratch);
            assert_true(isnan(out[100 * D + 7]) != 0);
            assert_true(isnan(out[90 * D + 7]) == 0);
            if (which % 3) assert_true(isnan(out[149 * D + 7]) != 0);
            for (int i = 0; i < 3; i++) free(x[i]);
            free(out), free(scratch);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_short_rows_and_windows),
        cmocka_unit_test(rows_around_block_edges),
        cmocka_unit_test(every_head_dim),
        cmocka_unit_test(peaked_softmax),
        cmocka_unit_test(long_rows),
        cmocka_unit_test(equal_scores_average),
        cmocka_unit_test(nan_stays_nan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
