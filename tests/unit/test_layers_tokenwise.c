/* Layers that look at one token (or, the convolution, a few) against their formulas in double, for every
   instruction set; the running softmax against the whole one. */
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
#include "layers/layers.h"

static uint64_t state = 7;
static double uniform(void) /* in [-1, 1) */
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(state ^ state >> 29) * 0x1p-63;
}

/* N random floats in [-scale, scale). free() it. */
static float *values(size_t n, double scale) {
    float *x = malloc((n ? n : 1) * sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < n; i++) x[i] = (float)(uniform() * scale);
    return x;
}

static float *copy(const float *x, size_t n) {
    float *y = malloc((n ? n : 1) * sizeof *y);
    assert_non_null(y);
    memcpy(y, x, n * sizeof *y);
    return y;
}

/* Calls CHECK for every instruction set of this CPU. */
static void each_isa(void (*check)(const lg_compute *c)) {
    for (int isa = LG_ISA_C; isa <= LG_ISA_AVX512_BF16; isa++) {
        lg_error error = {0};
        lg_compute *c;
        if (!lg_cpu_has((lg_isa)isa)) continue;
        assert_int_equal(lg_compute_create(LG_PRECISION_F32, 1, (lg_isa)isa, &c, &error), LG_OK);
        check(c);
        lg_compute_free(c);
    }
}

static void near(double got, double expected, double tolerance) {
    if (!(fabs(got - expected) <= tolerance)) fail_msg("got %.9g, expected %.9g", got, expected);
}

static double silu(double x) {
    return x * (x >= 0 ? 1 / (1 + exp(-x)) : exp(x) / (1 + exp(x)));
}

static const size_t lengths[] = {0, 1, 3};
static const size_t widths[] = {1, 15, 16, 17, 64, 96, 200};
enum { N_LENGTHS = sizeof lengths / sizeof *lengths, N_WIDTHS = sizeof widths / sizeof *widths };

/* ---- norms ---- */

static void check_rmsnorm(const lg_compute *c) {
    for (size_t a = 0; a < N_LENGTHS; a++)
        for (size_t b = 0; b < N_WIDTHS; b++) {
            size_t T = lengths[a], d = widths[b], x_stride = d + 3, y_stride = d + 5;
            float *x = values(T * x_stride, 4), *w = values(d, 2), *y = values(T * y_stride, 1);
            float *before = copy(y, T * y_stride), *sum = copy(y, T * y_stride),
                  *in_place = copy(x, T * x_stride);
            lg_rmsnorm(c, y, y_stride, x, x_stride, w, 1e-3f, T, d);
            lg_rmsnorm_add(c, sum, y_stride, x, x_stride, w, 1e-3f, T, d);
            lg_rmsnorm(c, in_place, x_stride, in_place, x_stride, w, 1e-3f, T, d);
            for (size_t t = 0; t < T; t++) {
                double squares = 0;
                for (size_t i = 0; i < d; i++) squares += (double)x[t * x_stride + i] * x[t * x_stride + i];
                double r = 1 / sqrt(squares / (double)d + 1e-3f);
                for (size_t i = 0; i < y_stride; i++) {
                    double kept = before[t * y_stride + i],
                           normed = i < d ? x[t * x_stride + i] * r * w[i] : 0;
                    near(y[t * y_stride + i], i < d ? normed : kept, 4e-7 * fabs(normed));
                    near(sum[t * y_stride + i], kept + normed, 4e-7 * (fabs(normed) + fabs(kept)));
                }
                assert_memory_equal(in_place + t * x_stride, y + t * y_stride, d * sizeof *y);
            }
            free(x), free(w), free(y), free(before), free(sum), free(in_place);
        }
    /* a row of zeros is not a division by zero */
    float zeros[20] = {0}, w[20] = {1}, y[20];
    lg_rmsnorm(c, y, 20, zeros, 20, w, 1e-6f, 1, 20);
    for (size_t i = 0; i < 20; i++) assert_true(y[i] == 0);
}

static void check_l2norm(const lg_compute *c) {
    enum { T = 3, HEADS = 3, DIM = 24, STRIDE = HEADS * DIM + 2 };
    float *x = values(T * STRIDE, 2), *y;
    for (size_t i = 0; i < DIM; i++) x[i] = 0;            /* a head of zeros stays so */
    for (size_t i = 0; i < DIM; i++) x[DIM + i] *= 1e-4f; /* where 1e-6 counts, inside the root */
    y = copy(x, T * STRIDE);
    lg_l2norm(c, y, STRIDE, T, HEADS, DIM);
    for (size_t t = 0; t < T; t++)
        for (size_t h = 0; h < HEADS; h++) {
            const float *head = x + t * STRIDE + h * DIM;
            double squares = 0;
            for (size_t i = 0; i < DIM; i++) squares += (double)head[i] * head[i];
            for (size_t i = 0; i < DIM; i++) {
                double expected = head[i] / sqrt(squares + 1e-6);
                near(y[t * STRIDE + h * DIM + i], expected, 4e-7 * fabs(expected));
            }
        }
    for (size_t t = 0; t < T; t++)
        assert_memory_equal(y + t * STRIDE + HEADS * DIM, x + t * STRIDE + HEADS * DIM, 8);
    free(x), free(y);
}

static void check_gated_norm(const lg_compute *c) {
    enum { T = 3, HEADS = 2, DIM = 40, O = HEADS * DIM + 1, Z = HEADS * DIM + 7, Y = HEADS * DIM };
    float *o = values(T * O, 3), *z = values(T * Z, 9), *w = values(DIM, 2), *y = values(T * Y, 1);
    lg_gated_norm(c, y, o, O, z, Z, w, 1e-5f, T, HEADS, DIM, Y);
    for (size_t t = 0; t < T; t++)
        for (size_t h = 0; h < HEADS; h++) {
            const float *head = o + t * O + h * DIM;
            double squares = 0;
            for (size_t i = 0; i < DIM; i++) squares += (double)head[i] * head[i];
            for (size_t i = 0; i < DIM; i++) {
                double expected = head[i] / sqrt(squares / DIM + 1e-5) * w[i] * silu(z[t * Z + h * DIM + i]);
                near(y[t * Y + h * DIM + i], expected, 1e-6 * fabs(expected) + 1e-12);
            }
        }
    lg_gated_norm(c, o, o, O, z, Z, w, 1e-5f, T, HEADS, DIM, O);
    for (size_t t = 0; t < T; t++) assert_memory_equal(o + t * O, y + t * Y, Y * sizeof *y);
    free(o), free(z), free(w), free(y);
}

/* ---- gates ---- */

static void check_gates(const lg_compute *c) {
    static const float a_values[] = {0, 1, -1, 30, -30, 100, -100, 1e4f, -1e4f};
    enum { HEADS = 9, STRIDE = 11, T = 2 };
    float a[T * STRIDE], b[T * STRIDE], a_log[HEADS], dt_bias[HEADS], g[T * STRIDE], beta[T * STRIDE];
    for (int doubled = 0; doubled < 2; doubled++) {
        for (size_t h = 0; h < HEADS; h++) a_log[h] = 0.3f * (float)h, dt_bias[h] = (float)h - 4;
        for (size_t i = 0; i < T * STRIDE; i++) a[i] = a_values[i % 9], b[i] = a_values[(i + 4) % 9] / 2;
        memcpy(g, a, sizeof g), memcpy(beta, b, sizeof beta);
        lg_delta_gates(c, g, beta, a_log, dt_bias, doubled, T, HEADS, STRIDE);
        for (size_t t = 0; t < T; t++)
            for (size_t h = 0; h < STRIDE; h++) {
                size_t i = t * STRIDE + h;
                if (h >= HEADS) {
                    assert_true(g[i] == a[i] && beta[i] == b[i]);
                    continue;
                }
                /* in long double, log(1 + e^u) is exact enough as written */
                long double u = (long double)a[i] + dt_bias[h];
                double expected = (double)(-expl(a_log[h]) * (u > 5000 ? u : log1pl(expl(u))));
                near(g[i], expected, 1e-7 * fabs(expected) + 1e-40);
                assert_true(g[i] <= 0);
                double strength = (double)((doubled ? 2 : 1) / (1 + expl(-(long double)b[i])));
                near(beta[i], strength, 1e-7 * strength + 1e-40);
            }
    }
}

/* ---- positions ---- */

static void check_rope(const lg_compute *c) {
    enum { T = 5, HEADS = 3, MOST = 64, STRIDE = HEADS * MOST + 4, POSITIONS = 5000 };
    static const size_t dims[] = {2, 6, 32, 64};
    const uint32_t pos[T] = {0, 1, 4999, 17, 0};
    for (size_t k = 0; k < 4; k++) {
        size_t hd = dims[k], half = hd / 2;
        double frequencies[MOST / 2];
        for (size_t i = 0; i < half; i++) frequencies[i] = pow(500000, -2.0 * (double)i / (double)hd);
        float *table = malloc(POSITIONS * hd * sizeof *table), *x = values(T * STRIDE, 2),
              *y = copy(x, T * STRIDE);
        lg_rope_table(frequencies, 1.25, hd, POSITIONS, table);
        lg_rope(c, y, STRIDE, table, pos, T, HEADS, hd);
        for (size_t t = 0; t < T; t++)
            for (size_t at = 0; at < STRIDE; at++) {
                size_t h = at / hd, i = at % hd % half, first = t * STRIDE + h * hd + i;
                double expected = x[t * STRIDE + at];
                if (h < HEADS) {
                    double angle = pos[t] * frequencies[i], cosine = 1.25 * cos(angle),
                           sine = 1.25 * sin(angle);
                    expected = at % hd < half ? x[first] * cosine - x[first + half] * sine
                                              : x[first + half] * cosine + x[first] * sine;
                }
                near(y[t * STRIDE + at], expected, h < HEADS ? 1e-6 : 0);
            }
        free(table), free(x), free(y);
    }
}

static void check_embed(const lg_compute *c) {
    enum { V = 5, D = 21, T = 4 };
    static const uint32_t ids[T] = {4, 0, 0, 3};
    static const uint32_t bits[] = {0x3f80, 0xc049, 0x0001,
                                    0x7f80}; /* bf16: 1, -3.140625, subnormal, infinity */
    static const float widened[] = {1, -3.140625f, 0x1p-133f, INFINITY};
    float x[T * D], table[V * D];
    unsigned char halves[V * D * 2 + 1];
    for (size_t i = 0; i < V * D; i++) {
        table[i] = (float)i;
        memcpy(halves + 1 + 2 * i, &(uint16_t){(uint16_t)bits[i % 4]}, 2);
    }
    lg_tensor f32 = {.dtype = LG_F32, .n_dims = 2, .shape = {V, D}, .count = V * D, .data = table};
    lg_embed(c, &f32, ids, x, T, D);
    for (size_t t = 0; t < T; t++) assert_memory_equal(x + t * D, table + ids[t] * D, D * sizeof *x);
    lg_tensor bf16 = {.dtype = LG_BF16, .n_dims = 2, .shape = {V, D}, .count = V * D, .data = halves + 1};
    lg_embed(c, &bf16, ids, x, T, D);
    for (size_t i = 0; i < T * D; i++) assert_true(x[i] == widened[(ids[i / D] * D + i % D) % 4]);
    lg_tensor f16 = bf16; /* f16: 0x3f80 = 1.875, 0xc049 = -2.142578125, 0x0001 = 2^-24, 0x7f80 = NaN */
    f16.dtype = LG_F16;
    static const float f16_values[] = {1.875f, -2.142578125f, 0x1p-24f};
    lg_embed(c, &f16, ids, x, T, D);
    for (size_t i = 0; i < T * D; i++) {
        size_t which = (ids[i / D] * D + i % D) % 4;
        assert_true(which == 3 ? isnan(x[i]) : x[i] == f16_values[which]);
    }
}

/* ---- convolution ---- */

/* Wider than a stripe, and in parts: a document's channels are independent. */
static void check_short_conv(const lg_compute *c) {
    enum { T = 9, D = 301, STRIDE = 310 };
    for (size_t K = 1; K <= 8; K += K == 4 ? 4 : 1) {
        float *x = values(T * STRIDE, 2), *w = values(D * K, 1), *y = copy(x, T * STRIDE),
              *in_place = copy(x, T * STRIDE);
        lg_short_conv(c, y, STRIDE, x, STRIDE, w, K, T, D);
        lg_short_conv(c, in_place, STRIDE, in_place, STRIDE, w, K, T, 100);
        lg_short_conv(c, in_place + 100, STRIDE, in_place + 100, STRIDE, w + 100 * K, K, T, D - 100);
        for (size_t t = 0; t < T; t++)
            for (size_t i = 0; i < STRIDE; i++) {
                double sum = 0;
                for (size_t j = 0; j < K && i < D; j++)
                    if (t + 1 + j >= K) sum += (double)w[i * K + j] * x[(t + 1 + j - K) * STRIDE + i];
                near(y[t * STRIDE + i], i < D ? silu(sum) : x[t * STRIDE + i], i < D ? 3e-6 : 0);
                assert_true(in_place[t * STRIDE + i] == y[t * STRIDE + i]);
            }
        free(x), free(w), free(y), free(in_place);
    }
}

static void check_swiglu(const lg_compute *c) {
    float *gate = values(77, 10), *up = values(77, 2), *h = values(77, 1);
    lg_swiglu(c, h, gate, up, 77);
    for (size_t i = 0; i < 77; i++) near(h[i], silu(gate[i]) * up[i], 1e-6 * fabs(silu(gate[i]) * up[i]));
    free(gate), free(up), free(h);
}

/* ---- cross entropy ---- */

enum { ALL_COLUMNS = LG_COLUMN_ENTROPY | LG_COLUMN_RANK | LG_COLUMN_TOP1 };

/* Rows of logits [T, V] in blocks of BLOCK against the sums over all of them. */
static void check_rows(const lg_compute *c, const float *logits, size_t T, size_t V, size_t block,
                       const uint32_t *targets, double tolerance) {
    lg_softmax_state *all = calloc(T, sizeof *all), *plain = calloc(T, sizeof *plain);
    float *target_logit = malloc(T * sizeof *target_logit), *part = malloc(T * block * sizeof *part);
    for (size_t t = 0; t < T; t++) target_logit[t] = logits[t * V + targets[t]];
    for (size_t first = 0; first < V; first += block) {
        size_t n = V - first < block ? V - first : block;
        for (size_t t = 0; t < T; t++) memcpy(part + t * block, logits + t * V + first, n * sizeof *part);
        lg_softmax_add(c, all, part, block, T, (uint32_t)first, n, targets, target_logit, ALL_COLUMNS);
        lg_softmax_add(c, plain, part, block, T, (uint32_t)first, n, targets, NULL, 0);
    }
    for (size_t t = 0; t < T; t++) {
        const float *row = logits + t * V;
        double max = -INFINITY, sum = 0, entropy = 0;
        uint32_t rank = 0, top1 = 0;
        for (size_t i = 0; i < V; i++) {
            if (row[i] > max) max = row[i], top1 = (uint32_t)i;
            rank += row[i] > row[targets[t]];
        }
        for (size_t i = 0; i < V; i++) sum += exp(row[i] - max);
        for (size_t i = 0; i < V; i++) {
            double p = exp(row[i] - max) / sum;
            if (p > 0) entropy -= p * log(p);
        }
        near(lg_softmax_nll(&all[t]), log(sum) + max - row[targets[t]], tolerance);
        near(lg_softmax_entropy(&all[t]), entropy, tolerance * 3);
        assert_int_equal(all[t].rank, rank);
        assert_int_equal(all[t].top1, top1);
        assert_true(lg_softmax_nll(&plain[t]) == lg_softmax_nll(&all[t]));
    }
    free(all), free(plain), free(target_logit), free(part);
}

static void check_cross_entropy(const lg_compute *c) {
    enum { T = 4, V = 5003 };
    const uint32_t targets[T] = {0, 5002, 2600, 1023};
    static const double scales[] = {0, 1e-3, 5, 60, 3000};
    for (size_t s = 0; s < sizeof scales / sizeof *scales; s++) {
        float *logits = values(T * V, scales[s]);
        for (size_t i = 0; i < V; i++) logits[i] += (float)i; /* the greatest grows from block to block */
        for (size_t i = 0; i < V; i++) logits[V + i] -= (float)i;
        for (size_t i = 0; i < V; i += 3) logits[2 * V + i] = logits[2 * V + 2600]; /* ties with the target */
        check_rows(c, logits, T, V, 1024, targets, 1e-6 + 2e-7 * scales[s]);
        check_rows(c, logits, T, V, V, targets, 1e-6 + 2e-7 * scales[s]);
        check_rows(c, logits, T, V, 1, targets, 1e-6 + 2e-7 * scales[s]);
        free(logits);
    }
}

/* Forbidden entries (-infinity), a whole first block of them too; ties to the lower id; NaN is not hidden. */
static void check_special_logits(const lg_compute *c) {
    const uint32_t target = 40;
    float logits[64], target_logit;
    for (int with_nan = 0; with_nan < 2; with_nan++) {
        for (size_t i = 0; i < 64; i++)
            logits[i] = i < 32 ? -INFINITY : i == 50 || i == 55 ? 3 : i == 40 ? 1 : -INFINITY;
        if (with_nan) logits[5] = NAN;
        lg_softmax_state s = {0};
        target_logit = logits[target];
        for (uint32_t first = 0; first < 64; first += 16)
            lg_softmax_add(c, &s, logits + first, 16, 1, first, 16, &target, &target_logit, ALL_COLUMNS);
        double sum = 2 + exp(-2), p = 1 / sum, q = exp(-2) / sum;
        if (with_nan) {
            assert_true(isnan(lg_softmax_nll(&s)) && isnan(lg_softmax_entropy(&s)));
            continue;
        }
        near(lg_softmax_nll(&s), log(sum) + 2, 1e-7);
        near(lg_softmax_entropy(&s), -2 * p * log(p) - q * log(q), 1e-7);
        assert_int_equal(s.rank, 2);
        assert_int_equal(s.top1, 50);
    }
    lg_softmax_state s = {0};
    lg_softmax_add(c, &s, logits, 64, 1, 0, 0, &target, &target_logit, ALL_COLUMNS);
    lg_softmax_add(c, &s, logits, 64, 0, 0, 64, &target, &target_logit, ALL_COLUMNS);
    assert_int_equal(s.seen, 0);
}

#define TEST(NAME)                                                                                           \
    static void test_##NAME(void **unused) {                                                                 \
        (void)unused;                                                                                        \
        each_isa(check_##NAME);                                                                              \
    }
TEST(rmsnorm)
TEST(l2norm)
TEST(gated_norm)
TEST(gates)
TEST(rope)
TEST(embed)
TEST(short_conv)
TEST(swiglu)
TEST(cross_entropy)
TEST(special_logits)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rmsnorm),       cmocka_unit_test(test_l2norm),
        cmocka_unit_test(test_gated_norm),    cmocka_unit_test(test_gates),
        cmocka_unit_test(test_rope),          cmocka_unit_test(test_embed),
        cmocka_unit_test(test_short_conv),    cmocka_unit_test(test_swiglu),
        cmocka_unit_test(test_cross_entropy), cmocka_unit_test(test_special_logits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
