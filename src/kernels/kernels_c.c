/* Reference kernels in plain C: the meaning of every entry of the table, and what runs where nothing better
 * does. */
#include "kernels/kernels.h"

#include <math.h>
#include <string.h>

static uint32_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* A NaN keeps its high bits and becomes quiet: rounding could carry it into infinity. */
static uint16_t bf16_of(float x) {
    uint32_t bits = bits_of(x);
    uint32_t rounded = bits + 0x7fff + (bits >> 16 & 1);
    return (uint16_t)((x != x ? bits | 0x400000 : rounded) >> 16);
}

static void to_bf16(uint16_t *y, const float *x, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = bf16_of(x[i]);
}

static void round_to_bf16(float *y, const float *x, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = float_of((uint32_t)bf16_of(x[i]) << 16);
}

static void from_bf16(float *y, const void *x, size_t n) {
    const unsigned char *bytes = x;
    for (size_t i = 0; i < n; i++)
        y[i] = float_of((uint32_t)bytes[2 * i] << 16 | (uint32_t)bytes[2 * i + 1] << 24);
}

static void from_f16(float *y, const void *x, size_t n) {
    const unsigned char *bytes = x;
    for (size_t i = 0; i < n; i++) {
        uint32_t half = (uint32_t)bytes[2 * i] | (uint32_t)bytes[2 * i + 1] << 8;
        uint32_t sign = (half & 0x8000) << 16, exponent = half >> 10 & 31, fraction = half & 1023;
        if (exponent == 31) y[i] = float_of(sign | 0x7f800000 | fraction << 13 | (fraction ? 0x400000 : 0));
        else if (exponent) y[i] = float_of(sign | (exponent + 112) << 23 | fraction << 13);
        else y[i] = float_of(sign | bits_of((float)fraction * 0x1p-24f));
    }
}

static void widen_pairs(float *y, const uint32_t *x, size_t pairs, size_t columns) {
    for (size_t p = 0; p < pairs; p++)
        for (size_t i = 0; i < columns; i++) {
            y[2 * p * columns + i] = float_of(x[p * columns + i] << 16);
            y[(2 * p + 1) * columns + i] = float_of(x[p * columns + i] & 0xffff0000u);
        }
}

static float sum_squares(const float *x, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += (double)x[i] * x[i];
    return (float)sum;
}

static void scale(float *y, const float *x, float r, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = x[i] * r;
}

static void norm(float *y, const float *x, const float *w, float r, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = x[i] * r * w[i];
}

static void norm_add(float *y, const float *x, const float *w, float r, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] += x[i] * r * w[i];
}

/* The exponent is never positive, so nothing overflows. */
static float silu(float x) {
    float t = expf(-fabsf(x));
    return x * ((x < 0 ? t : 1) / (1 + t));
}

static void norm_gate(float *y, const float *x, const float *w, const float *z, float r, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = x[i] * r * w[i] * silu(z[i]);
}

static void swiglu(float *h, const float *gate, const float *up, size_t n) {
    for (size_t i = 0; i < n; i++) h[i] = silu(gate[i]) * up[i];
}

static void rotate(float *a, float *b, const float *cosine, const float *sine, size_t n) {
    for (size_t i = 0; i < n; i++) {
        float x = a[i], y = b[i];
        a[i] = x * cosine[i] - y * sine[i];
        b[i] = y * cosine[i] + x * sine[i];
    }
}

/* From the end backwards, so that y may be x: a row is overwritten only after every later row has read it. */
static void short_conv(float *y, size_t y_stride, const float *x, size_t x_stride, const float *w, size_t K,
                       size_t T, size_t d) {
    for (size_t t = T; t-- > 0;)
        for (size_t c = 0; c < d; c++) {
            float sum = 0;
            for (size_t j = t + 1 < K ? K - 1 - t : 0; j < K; j++)
                sum += w[j * d + c] * x[(t + 1 + j - K) * x_stride + c];
            y[t * y_stride + c] = silu(sum);
        }
}

static float max_c(const float *x, size_t n) {
    float max = -INFINITY;
    for (size_t i = 0; i < n; i++)
        if (x[i] > max) max = x[i];
    return max;
}

static size_t find(const float *x, float value, size_t n) {
    size_t i = 0;
    while (i < n && x[i] != value) i++;
    return i;
}

static size_t count_above(const float *x, float value, size_t n) {
    size_t count = 0;
    for (size_t i = 0; i < n; i++) count += x[i] > value;
    return count;
}

static double sum_exp(const float *x, float max, size_t n, double *weighted) {
    double sum = 0, sum_weighted = 0;
    for (size_t i = 0; i < n; i++) {
        float difference = x[i] - max;
        double e = expf(difference);
        sum += e;
        if (e != 0) sum_weighted += e * difference; /* 0 times -infinity is 0 here */
    }
    if (weighted) *weighted = sum_weighted;
    return sum;
}

void lg_kernels_c(lg_kernels *kernels) {
    *kernels = (lg_kernels){
        .isa = LG_ISA_C,
        .name = "c",
        .to_bf16 = to_bf16,
        .round_to_bf16 = round_to_bf16,
        .from_bf16 = from_bf16,
        .from_f16 = from_f16,
        .widen_pairs = widen_pairs,
        .sum_squares = sum_squares,
        .scale = scale,
        .norm = norm,
        .norm_add = norm_add,
        .norm_gate = norm_gate,
        .swiglu = swiglu,
        .rotate = rotate,
        .short_conv = short_conv,
        .max = max_c,
        .find = find,
        .count_above = count_above,
        .sum_exp = sum_exp,
    };
}
