/* Causal attention of the query heads that share one key/value head: out = softmax(q k^T scale) v, row by
 * row. */
#include "layers/layers.h"

#include <math.h>
#include <string.h>

static size_t round_up(size_t n) {
    return (n + 15) / 16 * 16;
}

/* Rounds to bf16 (nearest, ties to even) when products are bf16. */
static float operand(const lg_compute *c, float x) {
    if (c->precision != LG_PRECISION_BF16 || x != x) return x;
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits + 0x7fffu + (bits >> 16 & 1)) & 0xffff0000u;
    memcpy(&x, &bits, sizeof bits);
    return x;
}

size_t lg_attention_scratch(const lg_compute *c, size_t T, size_t n_group, size_t head_dim) {
    (void)c, (void)n_group;
    return sizeof(float) * (round_up(T) * (2 * head_dim + 1) + 2 * round_up(head_dim));
}

void lg_attention(const lg_compute *c, const lg_attention_args *a, void *scratch) {
    const size_t d = a->head_dim, ld = round_up(a->T);
    float *k = scratch, *v = k + ld * d, *s = v + ld * d, *q = s + ld, *o = q + round_up(d);
    for (size_t j = 0; j < a->T; j++)
        for (size_t i = 0; i < d; i++) {
            k[i * ld + j] = operand(c, a->k[j * a->kv_stride + i]);
            v[j * d + i] = operand(c, a->v[j * a->kv_stride + i]);
        }
    for (size_t t = 0; t < a->T; t++)
        for (size_t h = 0; h < a->n_group; h++) {
            const float *from = a->q + t * a->q_stride + h * d;
            float *to = a->out + t * a->out_stride + h * d;
            const size_t first = a->window && t >= a->window ? t + 1 - a->window : 0;
            for (size_t i = 0; i < d; i++) q[i] = operand(c, from[i]);
            memset(s + first, 0, (t + 1 - first) * sizeof *s);
            for (size_t i = 0; i < d; i++)
                for (size_t j = first; j <= t; j++) s[j] += q[i] * k[i * ld + j];
            float max = -INFINITY;
            for (size_t j = first; j <= t; j++)
                if (s[j] > max) max = s[j];
            float sum = 0;
            memset(o, 0, d * sizeof *o);
            for (size_t j = first; j <= t; j++) {
                const float p = operand(c, expf((s[j] - max) * a->scale));
                sum += p;
                for (size_t i = 0; i < d; i++) o[i] += p * v[j * d + i];
            }
            for (size_t i = 0; i < d; i++) to[i] = o[i] / sum;
        }
}
