/* What the tests of attention and the delta rule share: random numbers and the formulas in double, as plainly
   as they can be written. */
#ifndef LG_TESTS_MIXERS_H
#define LG_TESTS_MIXERS_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/block.h"
#include "layers/layers.h"

static uint64_t mixers_seed = 88172645463325252u;

/* About normal: twelve uniform numbers. */
static inline float mixers_normal(void) {
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        mixers_seed ^= mixers_seed << 13;
        mixers_seed ^= mixers_seed >> 7;
        mixers_seed ^= mixers_seed << 17;
        sum += (double)(mixers_seed >> 11) * 0x1p-53;
    }
    return (float)sum;
}

static inline float *mixers_random(size_t n, float scale) {
    float *x = malloc((n ? n : 1) * sizeof *x);
    if (!x) abort();
    for (size_t i = 0; i < n; i++) x[i] = scale * mixers_normal();
    return x;
}

static inline float mixers_bf16(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits + 0x7fffu + (bits >> 16 & 1)) & 0xffff0000u;
    memcpy(&x, &bits, sizeof bits);
    return x;
}

/* A context with the kernels of ISA; false if this machine lacks it. */
static inline bool mixers_compute(lg_compute *c, lg_isa isa, lg_precision precision) {
    *c = (lg_compute){.block = lg_block_for(isa),
                      .precision = precision,
                      .native_bf16 = precision == LG_PRECISION_BF16 && isa == LG_ISA_AVX512_BF16,
                      .threads = 1};
    return c->block;
}

/* out [T, n_group * head_dim], from operands rounded to bf16 if ROUND. */
static inline void mixers_attention(const lg_attention_args *a, bool round, double *out) {
    const size_t d = a->head_dim;
    double *p = malloc(a->T * sizeof *p);
    if (!p) abort();
    for (size_t t = 0; t < a->T; t++)
        for (size_t h = 0; h < a->n_group; h++) {
            const float *q = a->q + t * a->q_stride + h * d;
            double *o = out + (t * a->n_group + h) * d, largest = -INFINITY, sum = 0;
            const size_t first = a->window && a->window <= t ? t - a->window + 1 : 0;
            for (size_t j = first; j <= t; j++) {
                const float *k = a->k + j * a->kv_stride;
                p[j] = 0;
                for (size_t i = 0; i < d; i++)
                    p[j] += round ? (double)mixers_bf16(q[i]) * (double)mixers_bf16(k[i])
                                  : (double)q[i] * (double)k[i];
                p[j] *= (double)a->scale;
                largest = fmax(largest, p[j]);
            }
            for (size_t j = first; j <= t; j++) sum += p[j] = exp(p[j] - largest);
            for (size_t i = 0; i < d; i++) {
                o[i] = 0;
                for (size_t j = first; j <= t; j++) {
                    const float v = a->v[j * a->kv_stride + i];
                    o[i] += p[j] / sum * (double)(round ? mixers_bf16(v) : v);
                }
            }
        }
    free(p);
}

/* One token of the recurrence: o [dv] and S [dk, dv], in place. */
static inline void mixers_delta_step(const double *q, const double *k, const double *v, double g, double beta,
                                     double *o, double *S, size_t dk, size_t dv) {
    for (size_t j = 0; j < dv; j++) {
        double delta = v[j];
        for (size_t i = 0; i < dk; i++) delta -= (S[i * dv + j] *= exp(g)) * k[i];
        o[j] = 0;
        for (size_t i = 0; i < dk; i++) {
            S[i * dv + j] += k[i] * beta * delta;
            o[j] += S[i * dv + j] * q[i] / sqrt((double)dk);
        }
    }
}

/* The recurrence token by token: out [T, dv], S [dk, dv] from the initial to the final state. */
static inline void mixers_delta(const lg_delta_args *a, double *out, double *S) {
    const size_t dk = a->dk, dv = a->dv;
    double *q = malloc((2 * dk + dv) * sizeof *q), *k = q + dk, *v = k + dk;
    if (!q) abort();
    for (size_t i = 0; i < dk * dv; i++) S[i] = a->initial ? (double)a->initial[i] : 0;
    for (size_t t = 0; t < a->T; t++) {
        for (size_t i = 0; i < dk; i++) q[i] = (double)a->q[t * a->qk_stride + i];
        for (size_t i = 0; i < dk; i++) k[i] = (double)a->k[t * a->qk_stride + i];
        for (size_t j = 0; j < dv; j++) v[j] = (double)a->v[t * a->v_stride + j];
        mixers_delta_step(q, k, v, (double)a->g[t * a->gate_stride], (double)a->beta[t * a->gate_stride],
                          out + t * dv, S, dk, dv);
    }
    free(q);
}

#endif
