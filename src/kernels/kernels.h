/* The table of kernels: arithmetic over raw pointers, filled with the reference C versions and then
   overridden by what the instruction set has. Each kernel's result for an element (or a row) depends on that
   element (or row) alone. */
#ifndef LG_KERNELS_KERNELS_H
#define LG_KERNELS_KERNELS_H

#include "kernels/compute.h"

/* Outputs may be the inputs themselves unless said otherwise, but may not overlap them in part. */
struct lg_kernels {
    lg_isa isa;
    const char *name;

    /* Conversions of n values. bf16 is rounded to nearest even and keeps NaN, infinities and subnormals. */
    void (*to_bf16)(uint16_t *y, const float *x, size_t n);
    void (*round_to_bf16)(float *y, const float *x, size_t n); /* the same values, kept as f32 */
    void (*from_bf16)(float *y, const void *x, size_t n);      /* x: any alignment */
    void (*from_f16)(float *y, const void *x, size_t n);       /* x: any alignment */
    /* x [pairs, columns] of two bf16 each, the first in the low half, to y [2 pairs, columns]: the first of a
       pair in one row, the second in the next. columns: a multiple of 16. y is not x. */
    void (*widen_pairs)(float *y, const uint32_t *x, size_t pairs, size_t columns);

    float (*sum_squares)(const float *x, size_t n);
    void (*scale)(float *y, const float *x, float r, size_t n);                    /* y = x r */
    void (*norm)(float *y, const float *x, const float *w, float r, size_t n);     /* y = x r w */
    void (*norm_add)(float *y, const float *x, const float *w, float r, size_t n); /* y += x r w */
    void (*norm_gate)(float *y, const float *x, const float *w, const float *z, float r,
                      size_t n);                                            /* x r w silu(z) */
    void (*swiglu)(float *h, const float *gate, const float *up, size_t n); /* h = silu(gate) up */
    /* (a, b) = (a cos - b sin, b cos + a sin) */
    void (*rotate)(float *a, float *b, const float *cosine, const float *sine, size_t n);
    /* layers.h, lg_short_conv; w [K, d] here: the taps of one age side by side. */
    void (*short_conv)(float *y, size_t y_stride, const float *x, size_t x_stride, const float *w, size_t K,
                       size_t T, size_t d);
    /* Of one row's block of logits: greatest (-inf when there is none), and where it stands first. */
    float (*max)(const float *x, size_t n);
    size_t (*find)(const float *x, float value, size_t n);        /* first index with that value, or n */
    size_t (*count_above)(const float *x, float value, size_t n); /* strictly larger ones */
    /* Sum of exp(x - max); weighted, when not NULL: that of exp(x - max) (x - max). Sums in double at fixed
     * places. */
    double (*sum_exp)(const float *x, float max, size_t n, double *weighted);
};

void lg_kernels_c(lg_kernels *kernels);
#if defined(__x86_64__)
void lg_kernels_avx2(lg_kernels *kernels);
void lg_kernels_avx512(lg_kernels *kernels);
#endif

#endif
