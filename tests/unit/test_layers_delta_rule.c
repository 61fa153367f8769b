/* The chunked delta rule against its recurrence in double and the specification's numbers, on every
 * instruction set. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "mixers.h"

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

enum { RANDOM, CORRELATED, IDENTICAL };

typedef struct setting {
    size_t T, dk, dv;
    int keys;      /* how alike they are */
    float beta, g; /* around which; g: exactly, if keys are identical */
    bool carried;  /* initial and final state */
    bool in_place; /* out is v */
    size_t gap;
} setting;

static void normalise(float *x, size_t n) {
    double sum = 1e-6;
    for (size_t i = 0; i < n; i++) sum += (double)x[i] * (double)x[i];
    for (size_t i = 0; i < n; i++) x[i] = (float)((double)x[i] / sqrt(sum));
}

typedef struct inputs {
    float *q, *k, *v, *g, *beta, *initial;
} inputs;

static inputs make(const setting *s) {
    const size_t qk_stride = s->dk + s->gap, v_stride = s->dv + s->gap, gate_stride = 1 + s->gap;
    inputs x = {mixers_random(s->T * qk_stride, 1),   mixers_random(s->T * qk_stride, 1),
                mixers_random(s->T * v_stride, 1),    mixers_random(s->T * gate_stride, 1),
                mixers_random(s->T * gate_stride, 1), mixers_random(s->dk * s->dv, 0.3f)};
    float *base = mixers_random(s->dk, 1);
    for (size_t t = 0; t < s->T; t++) {
        for (size_t i = 0; i < s->dk && s->keys; i++)
            x.k[t * qk_stride + i] = base[i] + (s->keys == CORRELATED ? 0.2f * x.k[t * qk_stride + i] : 0);
        normalise(x.q + t * qk_stride, s->dk);
        normalise(x.k + t * qk_stride, s->dk);
        float *g = x.g + t * gate_stride, *beta = x.beta + t * gate_stride;
        *g = s->keys == IDENTICAL ? s->g : s->g * (0.5f + 0.25f * fminf(fabsf(*g), 4));
        *beta = s->keys ? s->beta : fminf(fmaxf(s->beta + 0.3f * *beta, 0), 2);
    }
    free(base);
    return x;
}

/* The worst difference in outputs and final state, relative to the largest number among them. */
static double run(const lg_compute *c, const setting *s) {
    const size_t v_stride = s->dv + s->gap;
    inputs x = make(s);
    float *out = s->in_place ? x.v : mixers_random(s->T * v_stride, 1),
          *final = mixers_random(s->dk * s->dv, 1);
    const lg_delta_args a = {.q = x.q,
                             .k = x.k,
                             .v = x.v,
                             .g = x.g,
                             .beta = x.beta,
                             .out = out,
                             .initial = s->carried ? x.initial : NULL,
                             .final = s->carried ? final : NULL,
                             .qk_stride = s->dk + s->gap,
                             .v_stride = v_stride,
                             .gate_stride = 1 + s->gap,
                             .out_stride = v_stride,
                             .T = s->T,
                             .dk = s->dk,
                             .dv = s->dv};
    double *wanted = malloc(s->T * s->dv * sizeof *wanted), *S = malloc(s->dk * s->dv * sizeof *S);
    assert_true(wanted && S);
    mixers_delta(&a, wanted, S);
    float *untouched = malloc(s->T * v_stride * sizeof *untouched);
    assert_non_null(untouched);
    memcpy(untouched, out, s->T * v_stride * sizeof *untouched);
    const size_t bytes = lg_delta_scratch(c, s->T, s->dk, s->dv);
    void *scratch = malloc(bytes);
    assert_non_null(scratch);
    memset(scratch, 0xff, bytes);
    lg_delta_rule(c, &a, scratch);

    double worst = 0, largest = 0.1; /* of values of about 1: less is cancellation */
    for (size_t t = 0; t < s->T; t++) {
        for (size_t j = 0; j < s->dv; j++) {
            const double error = fabs((double)out[t * v_stride + j] - wanted[t * s->dv + j]);
            worst = error <= worst ? worst : error;
            largest = fmax(largest, fabs(wanted[t * s->dv + j]));
        }
        assert_memory_equal(out + t * v_stride + s->dv, untouched + t * v_stride + s->dv,
                            s->gap * sizeof *out);
    }
    double result = worst / largest;
    worst = 0;
    largest = 0.1;
    for (size_t i = 0; s->carried && i < s->dk * s->dv; i++) {
        const double error = fabs((double) final[i] - S[i]);
        worst = error <= worst ? worst : error;
        largest = fmax(largest, fabs(S[i]));
    }
    if (!(worst / largest <= result)) result = worst / largest;
    free(x.q), free(x.k), free(x.v), free(x.g), free(x.beta), free(x.initial);
    free(final), free(wanted), free(S), free(scratch), free(untouched);
    if (!s->in_place) free(out);
    return result;
}

static void check(const setting *s, double bound) {
    for (lg_isa isa = LG_ISA_C; isa <= LG_ISA_AVX512_BF16; isa++)
        for (int bf16 = 0; bf16 < 2; bf16++) {
            lg_compute c;
            if (!mixers_compute(&c, isa, bf16 ? LG_PRECISION_BF16 : LG_PRECISION_F32)) continue;
            const double error = run(&c, s);
            if (!(error <= bound))
                fail_msg("isa %d, T %zu, dk %zu, dv %zu, keys %d, beta %g, g %g: %.2g", (int)isa, s->T, s->dk,
                         s->dv, s->keys, (double)s->beta, (double)s->g, error);
        }
}

/* spec/models.md 16, with nine digits: the reference reproduces them, and so do the kernels as far as f32
 * goes. */
static void specification_vectors(void **state) {
    (void)state;
    static const double q[] = {.6, .8, .8, -.6, 0, 1}, k[] = {1, 0, .6, .8, .8, .6};
    static const double v[] = {1, 2, -1, .5, .25, -2}, g[] = {-.1, -.5, -.2}, beta[] = {.5, 1.5, 1};
    static const double S0[] = {.1, -.2, .3, .4};
    static const double o[] = {0.384882536, 0.590616404,  0.117223197,
                               0.218923657, -0.183568924, -0.921772485};
    static const double S3[] = {0.507204247, -1.522312638, -0.259605662, -1.303583150};
    double reference[6], S[4];
    memcpy(S, S0, sizeof S);
    for (size_t t = 0; t < 3; t++)
        mixers_delta_step(q + 2 * t, k + 2 * t, v + 2 * t, g[t], beta[t], reference + 2 * t, S, 2, 2);
    for (int i = 0; i < 6; i++) assert_true(fabs(reference[i] - o[i]) <= 1e-8);
    for (int i = 0; i < 4; i++) assert_true(fabs(S[i] - S3[i]) <= 1e-8);

    float fq[6], fk[6], fv[6], fg[3], fbeta[3], fS0[4], out[6], final[4];
    for (int i = 0; i < 6; i++) fq[i] = (float)q[i], fk[i] = (float)k[i], fv[i] = (float)v[i];
    for (int i = 0; i < 3; i++) fg[i] = (float)g[i], fbeta[i] = (float)beta[i];
    for (int i = 0; i < 4; i++) fS0[i] = (float)S0[i];
    const lg_delta_args a = {.q = fq,
                             .k = fk,
                             .v = fv,
                             .g = fg,
                             .beta = fbeta,
                             .out = out,
                             .initial = fS0,
                             .final = final,
                             .qk_stride = 2,
                             .v_stride = 2,
                             .gate_stride = 1,
                             .out_stride = 2,
                             .T = 3,
                             .dk = 2,
                             .dv = 2};
    for (lg_isa isa = LG_ISA_C; isa <= LG_ISA_AVX512_BF16; isa++) {
        lg_compute c;
        if (!mixers_compute(&c, isa, LG_PRECISION_F32)) continue;
        void *scratch = malloc(lg_delta_scratch(&c, 3, 2, 2));
        assert_non_null(scratch);
        lg_delta_rule(&c, &a, scratch);
        free(scratch);
        for (int i = 0; i < 6; i++) assert_true(fabs((double)out[i] - o[i]) <= 5e-7);
        for (int i = 0; i < 4; i++) assert_true(fabs((double) final[i] - S3[i]) <= 5e-7);
    }
}

static void all_short_rows(void **state) {
    (void)state;
    static const size_t dims[][2] = {{1, 1}, {2, 3}, {10, 20}, {12, 24}, {16, 20}, {5, 70}};
    for (size_t T = 1; T <= 20; T++)
        for (size_t i = 0; i < COUNT(dims); i++)
            check(&(setting){T, dims[i][0], dims[i][1], RANDOM, 1, -0.3f, T % 2, i % 2, T % 3}, 3e-6);
}

static void rows_around_chunk_edges(void **state) {
    (void)state;
    static const size_t lengths[] = {62, 63, 64, 65, 66, 127, 128, 129, 200};
    static const size_t dims[][2] = {{10, 20}, {12, 24}, {16, 20}, {33, 130}, {96, 192}};
    for (size_t i = 0; i < COUNT(lengths); i++)
        for (size_t j = 0; j < COUNT(dims); j++)
            check(&(setting){lengths[i], dims[j][0], dims[j][1], RANDOM, 1, -0.1f, i % 2, j % 2, j}, 3e-6);
    check(&(setting){150, 128, 256, RANDOM, 1, -0.05f, true, false, 0}, 3e-6);
}

static void every_dv(void **state) {
    (void)state;
    for (size_t dv = 1; dv <= 140; dv += dv < 34 ? 1 : 7)
        check(&(setting){70, 9, dv, RANDOM, 1, -0.2f, true, dv % 2, 1}, 3e-6);
}

/* Substitution keeps what a doubling inverse loses by 1e20. */
static void badly_conditioned_chunks(void **state) {
    (void)state;
    static const size_t lengths[] = {63, 64, 65, 129, 200};
    for (size_t i = 0; i < COUNT(lengths); i++) {
        check(&(setting){lengths[i], 96, 40, CORRELATED, 1.9f, -1e-3f, true, false, 0}, 2e-5);
        check(&(setting){lengths[i], 96, 40, IDENTICAL, 1.99f, 0, true, false, 0}, 5e-5);
        check(&(setting){lengths[i], 12, 24, IDENTICAL, 2, 0, true, false, 0}, 5e-5);
        check(&(setting){lengths[i], 12, 24, IDENTICAL, 2, -1e-4f, true, false, 0}, 5e-5);
    }
}

static void strong_decay(void **state) {
    (void)state;
    static const float g[] = {-80, -20, -5, -1, 0};
    for (size_t i = 0; i < COUNT(g); i++) {
        check(&(setting){200, 16, 20, RANDOM, 1, g[i], true, false, 0}, 3e-6);
        check(&(setting){129, 16, 20, IDENTICAL, 1.5f, g[i], true, false, 0}, 1e-5);
    }
}

/* A token that forgets everything must not cost the later ones of its chunk their digits. */
static void memory_after_a_strong_decay(void **state) {
    (void)state;
    enum { T = 64, D = 8 };
    const setting s = {T, D, D, RANDOM, 1, -1e-3f, false, false, 0};
    for (lg_isa isa = LG_ISA_C; isa <= LG_ISA_AVX512_BF16; isa++) {
        lg_compute c;
        if (!mixers_compute(&c, isa, LG_PRECISION_F32)) continue;
        inputs x = make(&s);
        for (size_t t = 0; t < 20; t++) x.g[t] = -80; /* G is about -1600 where the memory begins */
        float out[T * D];
        double wanted[T * D], S[D * D];
        const lg_delta_args a = {.q = x.q,
                                 .k = x.k,
                                 .v = x.v,
                                 .g = x.g,
                                 .beta = x.beta,
                                 .out = out,
                                 .qk_stride = D,
                                 .v_stride = D,
                                 .gate_stride = 1,
                                 .out_stride = D,
                                 .T = T,
                                 .dk = D,
                                 .dv = D};
        mixers_delta(&a, wanted, S);
        void *scratch = malloc(lg_delta_scratch(&c, T, D, D));
        assert_non_null(scratch);
        lg_delta_rule(&c, &a, scratch);
        for (size_t i = 0; i < T * D; i++) assert_true(fabs((double)out[i] - wanted[i]) <= 2e-6);
        free(x.q), free(x.k), free(x.v), free(x.g), free(x.beta), free(x.initial), free(scratch);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(specification_vectors),       cmocka_unit_test(all_short_rows),
        cmocka_unit_test(rows_around_chunk_edges),     cmocka_unit_test(every_dv),
        cmocka_unit_test(badly_conditioned_chunks),    cmocka_unit_test(strong_decay),
        cmocka_unit_test(memory_after_a_strong_decay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
