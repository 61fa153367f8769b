/* Speed of attention and the delta rule on one thread, beside what the processor can multiply and add at
   most. Useful operations are counted: causal pairs of attention; of the delta rule's triangles one half. */
#include "kernels/block.h"
#include "layers/layers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* Of this thread on a processor: other work on the machine hardly shows. */
static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- peaks: multiply-adds on registers only, GFLOP/s; 0: not on this machine ---- */

enum { CHAINS = 12, ROUNDS = 2000000 };

#if defined(__x86_64__)
#define PEAK(NAME, TARGET, VECTOR, ONE, STEP)                                                                \
    __attribute__((target(TARGET))) static void NAME(long rounds) {                                          \
        const VECTOR one = ONE;                                                                              \
        VECTOR s0 = one, s1 = one, s2 = one, s3 = one, s4 = one, s5 = one;                                   \
        VECTOR s6 = one, s7 = one, s8 = one, s9 = one, s10 = one, s11 = one;                                 \
        for (long r = 0; r < rounds; r++) {                                                                  \
            STEP(s0), STEP(s1), STEP(s2), STEP(s3), STEP(s4), STEP(s5);                                      \
            STEP(s6), STEP(s7), STEP(s8), STEP(s9), STEP(s10), STEP(s11);                                    \
            __asm__ volatile("" : "+v"(s0), "+v"(s1), "+v"(s2), "+v"(s3), "+v"(s4), "+v"(s5));               \
            __asm__ volatile("" : "+v"(s6), "+v"(s7), "+v"(s8), "+v"(s9), "+v"(s10), "+v"(s11));             \
        }                                                                                                    \
    }
#define FMA256(S) S = _mm256_fmadd_ps(one, one, S)
#define FMA512(S) S = _mm512_fmadd_ps(one, one, S)
#define DOT512(S) S = _mm512_dpbf16_ps(S, (__m512bh)one, (__m512bh)one)
PEAK(fma256, "avx2,fma", __m256, _mm256_set1_ps(1), FMA256)
PEAK(fma512, "avx512f", __m512, _mm512_set1_ps(1), FMA512)
PEAK(dot512, "avx512f,avx512bf16", __m512, _mm512_set1_ps(1), DOT512)

static double measure(void (*loop)(long), int flops) {
    double best = 1e9;
    for (int i = 0; i < 5; i++) {
        const double start = seconds();
        loop(ROUNDS);
        best = fmin(best, seconds() - start);
    }
    return (double)flops * CHAINS * ROUNDS / best * 1e-9;
}
#endif

static void peaks(double *f32, double *bf16) {
    *f32 = *bf16 = 0;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) *f32 = measure(fma512, 32);
    else if (__builtin_cpu_supports("fma")) *f32 = measure(fma256, 16);
    if (__builtin_cpu_supports("avx512bf16")) *bf16 = measure(dot512, 64);
#endif
}

/* ---- the layers: one head of HEADS ---- */

enum { HEADS = 8 };

static float *numbers(size_t n, float scale) {
    float *x = malloc(n * sizeof *x);
    if (!x) exit(1);
    uint32_t seed = 12345;
    for (size_t i = 0; i < n; i++) {
        seed = seed * 1664525 + 1013904223;
        x[i] = scale * ((float)(seed >> 8) * 0x1p-23f - 1);
    }
    return x;
}

static void *scratch_of(size_t bytes) {
    void *scratch = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!scratch) exit(1);
    memset(scratch, 0, bytes);
    return scratch;
}

static void line(const char *what, const char *how, size_t T, double flops, double time, double peak) {
    printf("%-26s %-14s %6zu %9.3f ms %7.1f GFLOP/s", what, how, T, time * 1e3, flops / time * 1e-9);
    if (peak > 0) printf(" %5.1f %% of peak", flops / time * 1e-7 / peak);
    putchar('\n');
}

static int repeats(double flops) {
    return flops > 2e9 ? 3 : flops > 1e8 ? 20 : 100;
}

static void attention(const lg_compute *c, const char *how, size_t T, size_t window, size_t d, double peak) {
    const size_t width = 3 * HEADS * d; /* queries, keys and values of a token side by side, as in a model */
    float *mix = numbers(T * width, 1), *out = numbers(T * HEADS * d, 1);
    void *scratch = scratch_of(lg_attention_scratch(c, T, 1, d));
    const lg_attention_args a = {.q = mix,
                                 .k = mix + HEADS * d,
                                 .v = mix + 2 * HEADS * d,
                                 .out = out,
                                 .q_stride = width,
                                 .kv_stride = width,
                                 .out_stride = HEADS * d,
                                 .T = T,
                                 .n_group = 1,
                                 .head_dim = d,
                                 .window = window,
                                 .scale = 1 / sqrtf((float)d)};
    double pairs = 0, best = 1e9;
    for (size_t t = 0; t < T; t++) pairs += (double)(window && t >= window ? window : t + 1);
    const double flops = 4 * (double)d * pairs;
    for (int i = 0; i < repeats(flops); i++) {
        const double start = seconds();
        lg_attention(c, &a, scratch);
        best = fmin(best, seconds() - start);
    }
    char what[64];
    snprintf(what, sizeof what, window ? "attention %zu window %zu" : "attention %zu", d, window);
    line(what, how, T, flops, best, peak);
    free(mix), free(out), free(scratch);
}

static void delta(const lg_compute *c, const char *how, size_t T, size_t dk, size_t dv, double peak) {
    enum { C = 64 };
    const size_t width = HEADS * (2 * dk + dv + 2);
    float *mix = numbers(T * width, 0.15f), *out = numbers(T * HEADS * dv, 1);
    float *v = mix + 2 * HEADS * dk, *g = v + HEADS * dv, *beta = g + HEADS;
    for (size_t t = 0; t < T; t++) {
        g[t * width] = -fabsf(g[t * width]);
        beta[t * width] += 1;
    }
    void *scratch = scratch_of(lg_delta_scratch(c, T, dk, dv));
    const lg_delta_args a = {.q = mix,
                             .k = mix + HEADS * dk,
                             .v = v,
                             .g = g,
                             .beta = beta,
                             .out = out,
                             .qk_stride = width,
                             .v_stride = width,
                             .gate_stride = width,
                             .out_stride = HEADS * dv,
                             .T = T,
                             .dk = dk,
                             .dv = dv};
    /* per token: K K^T and Q K^T, the solution and P Delta (halves); K S, Q S and K^T Delta */
    const double flops = 2 * (double)T * (double)(C * dk + C * dv + 3 * dk * dv);
    double best = 1e9;
    for (int i = 0; i < repeats(flops); i++) {
        const double start = seconds();
        lg_delta_rule(c, &a, scratch);
        best = fmin(best, seconds() - start);
    }
    char what[64];
    snprintf(what, sizeof what, "delta rule %zu/%zu", dk, dv);
    line(what, how, T, flops, best, peak);
    free(mix), free(out), free(scratch);
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        lg_isa isa;
        lg_precision precision;
        bool native;
    } ways[] = {
        {"f32 best", LG_ISA_BEST, LG_PRECISION_F32, false},
        {"bf16 rounded", LG_ISA_BEST, LG_PRECISION_BF16, false},
        {"bf16 native", LG_ISA_AVX512_BF16, LG_PRECISION_BF16, true},
        {"f32 avx2", LG_ISA_AVX2, LG_PRECISION_F32, false},
        {"f32 c", LG_ISA_C, LG_PRECISION_F32, false},
    };
    const size_t longest = argc > 1 ? strtoul(argv[1], NULL, 10) : 8192;
    double f32, bf16;
    peaks(&f32, &bf16);
    printf("peak of one core: f32 %.1f GFLOP/s, bf16 pairs %.1f GFLOP/s\n", f32, bf16);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        const lg_compute c = {.block = lg_block_for(ways[i].isa),
                              .precision = ways[i].precision,
                              .native_bf16 = ways[i].native,
                              .threads = 1};
        if (!c.block) continue;
        const double peak = ways[i].native ? bf16 : f32;
        static const size_t lengths[] = {128, 512, 2048, 8192};
        for (size_t j = 0; j < 4; j++)
            if (lengths[j] <= longest && (i < 3 || lengths[j] == 2048))
                attention(&c, ways[i].name, lengths[j], 0, 128, peak);
        if (i < 3) attention(&c, ways[i].name, 2048, 0, 64, peak);
        if (i < 3 && longest >= 8192) attention(&c, ways[i].name, 8192, 1024, 128, peak);
        if (ways[i].native) continue;
        for (size_t j = 0; j < 3; j++)
            if (i == 0 || lengths[j] == 2048) delta(&c, ways[i].name, lengths[j], 96, 192, peak);
        if (i == 0) delta(&c, ways[i].name, 2048, 128, 256, peak);
    }
    return 0;
}
