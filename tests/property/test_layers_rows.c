/* Attention and the delta rule give a token the same bits however long its row is, wherever the arrays lie,
   and whoever computes it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "../unit/mixers.h"

#include <cmocka.h>

static void *need(void *p) {
    assert_non_null(p);
    return p;
}

/* Copies rows of n floats into an array with another stride that starts OFFSET floats into its block. */
static float *spread(const float *x, size_t T, size_t n, size_t from_stride, size_t stride, size_t offset) {
    float *y = need(calloc(T * stride + offset + 1, sizeof *y));
    for (size_t t = 0; t < T; t++) memcpy(y + offset + t * stride, x + t * from_stride, n * sizeof *y);
    return y;
}

/* ---- attention ---- */

typedef struct attention_inputs {
    size_t T, n_group, head_dim, window;
    float *q, *k, *v;
} attention_inputs;

/* The first T tokens, from token FIRST on, into OUT [T - first, n_group * head_dim], from copies with other
   strides and offsets. */
static void attend(const lg_compute *c, const attention_inputs *x, size_t T, size_t first, size_t gap,
                   size_t offset, float *out) {
    const size_t n = x->n_group * x->head_dim, d = x->head_dim;
    float *q = spread(x->q + first * n, T - first, n, n, n + gap, offset);
    float *k = spread(x->k, T, d, d, d + gap, offset);
    float *v = spread(x->v, T, d, d, d + gap, offset);
    const lg_attention_args a = {q + offset, k + offset, v + offset, q + offset, n + gap, d + gap, n + gap,
                                 T,          x->n_group, d,          x->window,  0.3f,    first};
    const size_t bytes = lg_attention_scratch(c, T, x->n_group, d);
    void *scratch = need(malloc(bytes));
    memset(scratch, (int)(offset * 85), bytes);
    lg_attention(c, &a, scratch);
    for (size_t t = 0; t < T - first; t++) memcpy(out + t * n, a.q + t * (n + gap), n * sizeof *out);
    free(q), free(k), free(v), free(scratch);
}

static void attention_prefixes(const lg_compute *c, size_t T, size_t n_group, size_t head_dim,
                               size_t window) {
    const size_t n = n_group * head_dim;
    attention_inputs x = {T,
                          n_group,
                          head_dim,
                          window,
                          mixers_random(T * n, 1),
                          mixers_random(T * head_dim, 1),
                          mixers_random(T * head_dim, 1)};
    float *whole = need(malloc(T * n * sizeof *whole)), *part = need(malloc(T * n * sizeof *part));
    attend(c, &x, T, 0, 0, 0, whole);
    for (size_t t = 1; t <= T; t += t < 20 || T - t < 3 ? 1 : t % 13 + 1) {
        attend(c, &x, t, 0, t % 3 * 5, t % 4, part);
        if (memcmp(part, whole, t * n * sizeof *part))
            fail_msg("the first %zu of %zu tokens differ: group %zu, head_dim %zu, window %zu", t, T, n_group,
                     head_dim, window);
        attend(c, &x, T, T - t, t % 3 * 5, t % 4, part);
        if (memcmp(part, whole + (T - t) * n, t * n * sizeof *part))
            fail_msg("the last %zu of %zu tokens differ: group %zu, head_dim %zu, window %zu", t, T, n_group,
                     head_dim, window);
    }
    free(x.q), free(x.k), free(x.v), free(whole), free(part);
}

static void attention_of_prefixes(void **state) {
    (void)state;
    for (lg_isa isa = LG_ISA_C; isa <= LG_ISA_AVX512_BF16; isa++)
        for (int bf16 = 0; bf16 < 2; bf16++) {
            lg_compute c;
            if (!mixers_compute(&c, isa, bf16 ? LG_PRECISION_BF16 : LG_PRECISION_F32)) continue;
            attention_prefixes(&c, 270, 1, 12, 0);
            attention_prefixes(&c, 270, 1, 12, 37);
            attention_prefixes(&c, 200, 3, 8, 100);
            attention_prefixes(&c, 150, 1, 70, 129);
            attention_prefixes(&c, 620, 1, 5, 530);
        }
}

/* Later tokens, keys and values of any size, leave earlier outputs alone. */
static void attention_is_causal(void **state) {
    (void)state;
    static const size_t T = 200, d = 16;
    for (lg_isa isa = LG_ISA_C; isa <= LG_ISA_AVX512_BF16; isa++) {
        lg_compute c;
        if (!mixers_compute(&c, isa, LG_PRECISION_F32)) continue;
        attention_inputs x = {
            T, 1, d, 0, mixers_random(T * d, 1), mixers_random(T * d, 1), mixers_random(T * d, 1)};
        float *before = need(malloc(T * d * sizeof *before)), *after = need(malloc(T * d * sizeof *after));
        attend(&c, &x, T, 0, 0, 0, before);
        for (size_t t = T - 1; t > 0; t -= t > 30 ? 11 : 1) {
            for (size_t i = t * d; i < (t + 1) * d; i++) {
                x.k[i] = 1e9f;
                x.v[i] = -1e30f;
            }
            attend(&c, &x, T, 0, 0, 0, after);
            assert_memory_equal(before, after, t * d * sizeof *before);
        }
        free(x.q), free(x.k), free(x.v), free(before), free(after);
    }
}

/* ---- the delta rule ---- */

typedef struct delta_inputs {
    size_t T, dk, dv;
    float *q, *k, *v, *g, *beta, *initial;
} delta_inputs;

static void recur(const lg_compute *c, const delta_inputs *x, size_t T, size_t gap, size_t offset,
                  float *out) {
    float *q = spread(x->q, T, x->dk, x->dk, x->dk + gap, offset),
          *k = spread(x->k, T, x->dk, x->dk, x->dk + gap, offset);
    float *v = spread(x->v, T, x->dv, x->dv, x->dv + gap, offset);
    float *g = spread(x->g, T, 1, 1, 1 + gap, offset), *beta = spread(x->beta, T, 1, 1, 1 + gap, offset);
    const lg_delta_args a = {.q = q + offset,
                             .k = k + offset,
                             .v = v + offset,
                             .g = g + offset,
                             .beta = beta + offset,
                             .out = v + offset,
                             .initial = x->initial,
                             .qk_stride = x->dk + gap,
                             .v_stride = x->dv + gap,
                             .gate_stride = 1 + gap,
                             .out_stride = x->dv + gap,
                             .T = T,
                             .dk = x->dk,
                             .dv = x->dv};
    const size_t bytes = lg_delta_scratch(c, T, x->dk, x->dv);
    void *scratch = need(malloc(bytes));
    memset(scratch, (int)(offset * 85), bytes);
    lg_delta_rule(c, &a, scratch);
    for (size_t t = 0; t < T; t++) memcpy(out + t * x->dv, a.v + t * (x->dv + gap), x->dv * sizeof *out);
    free(q), free(k), free(v), free(g), free(beta), free(scratch);
}

static void delta_prefixes(const lg_compute *c, size_t T, size_t dk, size_t dv, bool carried) {
    delta_inputs x = {T,
                      dk,
                      dv,
                      mixers_random(T * dk, 0.3f),
                      mixers_random(T * dk, 0.3f),
                      mixers_random(T * dv, 1),
                      mixers_random(T, 0.2f),
                      mixers_random(T, 0.3f),
                      carried ? mixers_random(dk * dv, 1) : NULL};
    for (size_t t = 0; t < T; t++) {
        x.g[t] = -fabsf(x.g[t]);
        x.beta[t] = fabsf(x.beta[t]);
    }
    float *whole = need(malloc(T * dv * sizeof *whole)), *part = need(malloc(T * dv * sizeof *part));
    recur(c, &x, T, 0, 0, whole);
    for (size_t t = 1; t <= T; t += t < 70 || T - t < 3 ? 1 : t % 7 + 1) {
        recur(c, &x, t, t % 3 * 5, t % 4, part);
        if (memcmp(part, whole, t * dv * sizeof *part))
            fail_msg("the first %zu of %zu tokens differ: dk %zu, dv %zu", t, T, dk, dv);
    }
    free(x.q), free(x.k), free(x.v), free(x.g), free(x.beta), free(x.initial), free(whole), free(part);
}

static void delta_rule_of_prefixes(void **state) {
    (void)state;
    for (lg_isa isa = LG_ISA_C; isa <= LG_ISA_AVX512_BF16; isa++) {
        lg_compute c;
        if (!mixers_compute(&c, isa, LG_PRECISION_F32)) continue;
        delta_prefixes(&c, 140, 12, 24, false);
        delta_prefixes(&c, 140, 10, 20, true);
        delta_prefixes(&c, 90, 33, 70, true);
    }
}

/* A row in two parts, cut at a chunk, is the row in one. */
static void state_carries_over(void **state) {
    (void)state;
    static const size_t T = 150, cut = 64, dk = 16, dv = 20;
    for (lg_isa isa = LG_ISA_C; isa <= LG_ISA_AVX512_BF16; isa++) {
        lg_compute c;
        if (!mixers_compute(&c, isa, LG_PRECISION_F32)) continue;
        float *q = mixers_random(T * dk, 0.3f), *k = mixers_random(T * dk, 0.3f),
              *v = mixers_random(T * dv, 1);
        float *g = mixers_random(T, 0), *beta = mixers_random(T, 0.2f), *one = mixers_random(T * dv, 1);
        float *two = mixers_random(T * dv, 1), *S = mixers_random(dk * dv, 1),
              *end = mixers_random(dk * dv, 1);
        for (size_t t = 0; t < T; t++) beta[t] = fabsf(beta[t]);
        void *scratch = need(malloc(lg_delta_scratch(&c, T, dk, dv)));
        lg_delta_args a = {.q = q,
                           .k = k,
                           .v = v,
                           .g = g,
                           .beta = beta,
                           .out = one,
                           .final = end,
                           .qk_stride = dk,
                           .v_stride = dv,
                           .gate_stride = 1,
                           .out_stride = dv,
                           .T = T,
                           .dk = dk,
                           .dv = dv};
        lg_delta_rule(&c, &a, scratch);
        a.T = cut, a.out = two, a.final = S;
        lg_delta_rule(&c, &a, scratch);
        a.T = T - cut, a.initial = S, a.out = two + cut * dv;
        a.q += cut * dk, a.k += cut * dk, a.v += cut * dv, a.g += cut, a.beta += cut;
        lg_delta_rule(&c, &a, scratch); /* the state in place */
        assert_memory_equal(one, two, T * dv * sizeof *one);
        assert_memory_equal(end, S, dk * dv * sizeof *S);
        free(q), free(k), free(v), free(g), free(beta), free(one), free(two), free(S), free(end),
            free(scratch);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attention_of_prefixes),
        cmocka_unit_test(attention_is_causal),
        cmocka_unit_test(delta_rule_of_prefixes),
        cmocka_unit_test(state_carries_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
