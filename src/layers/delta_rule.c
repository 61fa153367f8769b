/* The gated delta rule of one value head over one row, token by token:
   S <- e^g S, delta = beta (v - S^T k), S <- S + k delta^T, o = S^T q / sqrt(dk). */
#include "layers/layers.h"

#include <math.h>
#include <string.h>

size_t lg_delta_scratch(const lg_compute *c, size_t T, size_t dk, size_t dv) {
    (void)c, (void)T;
    return sizeof(float) * (dk + 1) * dv;
}

void lg_delta_rule(const lg_compute *c, const lg_delta_args *a, void *scratch) {
    (void)c;
    const size_t dk = a->dk, dv = a->dv;
    const float read = (float)(1 / sqrt((double)dk));
    float *S = scratch, *delta = S + dk * dv;
    if (a->initial) memcpy(S, a->initial, dk * dv * sizeof *S);
    else memset(S, 0, dk * dv * sizeof *S);
    for (size_t t = 0; t < a->T; t++) {
        const float *q = a->q + t * a->qk_stride, *k = a->k + t * a->qk_stride, *v = a->v + t * a->v_stride;
        const float decay = expf(a->g[t * a->gate_stride]), beta = a->beta[t * a->gate_stride];
        float *o = a->out + t * a->out_stride;
        memset(delta, 0, dv * sizeof *delta);
        for (size_t i = 0; i < dk; i++)
            for (size_t j = 0; j < dv; j++) {
                S[i * dv + j] *= decay;
                delta[j] += S[i * dv + j] * k[i];
            }
        for (size_t j = 0; j < dv; j++) delta[j] = beta * (v[j] - delta[j]);
        memset(o, 0, dv * sizeof *o);
        for (size_t i = 0; i < dk; i++)
            for (size_t j = 0; j < dv; j++) {
                S[i * dv + j] += k[i] * delta[j];
                o[j] += S[i * dv + j] * q[i];
            }
        for (size_t j = 0; j < dv; j++) o[j] *= read;
    }
    if (a->final) memcpy(a->final, S, dk * dv * sizeof *S);
}
