/* The kernels of regress_kernels.h over vectors of four doubles, compiled once per instruction set. NAME(x)
   gives the functions their names. No product is contracted with a sum but where the exact error is asked
   for, so that all versions give the same bits. */
#include "stats/regress_kernels.h"

#include <string.h>

typedef double v4 __attribute__((vector_size(32)));
typedef double v4_any __attribute__((vector_size(32), aligned(8))); /* at any address of a double */

#if defined(__FMA__)
#include <immintrin.h>
#define PRODUCT_ERROR(error, a, b, p) error = (v4)_mm256_fmsub_pd((__m256d)(a), (__m256d)(b), (__m256d)(p))
#else
#define SPLIT(v, high, low)                                                                                  \
    v4 high = (v)*134217729.0, low = high - (v); /* Veltkamp */                                              \
    high = high - low;                                                                                       \
    low = (v)-high
#define PRODUCT_ERROR(error, a, b, p)                                                                        \
    do {                                                                                                     \
        SPLIT(a, a_high, a_low);                                                                             \
        SPLIT(b, b_high, b_low);                                                                             \
        error = ((a_high * b_high - (p)) + a_high * b_low + a_low * b_high) + a_low * b_low;                 \
    } while (0)
#endif

/* (sum, rest) += value without loss but in rest. */
#define ADD_EXACTLY(sum, rest, value)                                                                        \
    do {                                                                                                     \
        v4 s_ = (sum) + (value), t_ = s_ - (sum);                                                            \
        rest += ((sum) - (s_ - t_)) + ((value)-t_);                                                          \
        sum = s_;                                                                                            \
    } while (0)

#define ALL(x) ((v4){(x), (x), (x), (x)})

/* C [width, width] = sum of z z', tiles of 4 x 8 on and below the diagonal. */
static void NAME(dense)(const lg_regress_block *b, double *c) {
    const size_t w = b->width;
    for (size_t i = 0; i < b->n_dense; i += 4)
        for (size_t j = 0; j <= i + 3 && j < b->n_dense; j += 8) {
            v4 s00 = {0}, s01 = {0}, s10 = {0}, s11 = {0}, s20 = {0}, s21 = {0}, s30 = {0}, s31 = {0};
            const double *zi = b->dense + i, *zj = b->dense + j;
            for (size_t r = 0; r < b->rows; r++, zi += w, zj += w) {
                v4 left = *(const v4 *)zj, right = *(const v4 *)(zj + 4), at;
                at = ALL(zi[0]), s00 += at * left, s01 += at * right;
                at = ALL(zi[1]), s10 += at * left, s11 += at * right;
                at = ALL(zi[2]), s20 += at * left, s21 += at * right;
                at = ALL(zi[3]), s30 += at * left, s31 += at * right;
            }
            v4 *to = (v4 *)(c + i * w + j);
            const size_t step = w / 4;
            to[0] = s00, to[1] = s01, to += step;
            to[0] = s10, to[1] = s11, to += step;
            to[0] = s20, to[1] = s21, to += step;
            to[0] = s30, to[1] = s31;
        }
}

static void NAME(gram)(const lg_regress_block *b, double *scratch, double *gram) {
    NAME(dense)(b, scratch);
    for (size_t i = 0; i < b->n_dense; i++)
        for (size_t j = 0; j <= i; j++) gram[lg_triangle(i) + j] += scratch[i * b->width + j];
    for (size_t r = 0; r < b->rows; r++) {
        const uint32_t *column = b->column + r * b->n_terms;
        const double *value = b->value + r * b->n_terms, *z = b->dense + r * b->width;
        for (size_t t = 0; t < b->n_terms; t++) {
            if (column[t] == LG_REGRESS_NONE) continue;
            double *row = gram + lg_triangle(column[t]);
            const v4 v = ALL(value[t]);
            for (size_t j = 0; j < b->n_dense; j += 4) *(v4_any *)(row + j) += v * *(const v4 *)(z + j);
            for (size_t u = 0; u <= t; u++)
                if (column[u] != LG_REGRESS_NONE) row[column[u]] += value[t] * value[u];
        }
    }
}

static void NAME(dense_dd)(const lg_regress_block *b, double *c, double *d) {
    const size_t w = b->width;
    for (size_t i = 0; i < b->n_dense; i += 4)
        for (size_t j = 0; j <= i + 3 && j < b->n_dense; j += 4) {
            v4 s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, e0 = {0}, e1 = {0}, e2 = {0}, e3 = {0};
            const double *zi = b->dense + i, *zj = b->dense + j;
            for (size_t r = 0; r < b->rows; r++, zi += w, zj += w) {
                const v4 z = *(const v4 *)zj;
#define STEP(k, s, e)                                                                                        \
    do {                                                                                                     \
        const v4 a_ = ALL(zi[k]), p_ = a_ * z;                                                               \
        v4 error_;                                                                                           \
        PRODUCT_ERROR(error_, a_, z, p_);                                                                    \
        e += error_;                                                                                         \
        ADD_EXACTLY(s, e, p_);                                                                               \
    } while (0)
                STEP(0, s0, e0);
                STEP(1, s1, e1);
                STEP(2, s2, e2);
                STEP(3, s3, e3);
            }
            *(v4 *)(c + i * w + j) = s0, *(v4 *)(c + (i + 1) * w + j) = s1;
            *(v4 *)(c + (i + 2) * w + j) = s2, *(v4 *)(c + (i + 3) * w + j) = s3;
            *(v4 *)(d + i * w + j) = e0, *(v4 *)(d + (i + 1) * w + j) = e1;
            *(v4 *)(d + (i + 2) * w + j) = e2, *(v4 *)(d + (i + 3) * w + j) = e3;
        }
}

static inline void NAME(add_exactly)(double *hi, double *lo, double value, double error) {
    double s = *hi + value, t = s - *hi;
    *lo += ((*hi - (s - t)) + (value - t)) + error;
    *hi = s;
}

static void NAME(gram_dd)(const lg_regress_block *b, double *scratch, double *hi, double *lo) {
    const size_t w = b->width;
    double *rest = scratch + w * w;
    NAME(dense_dd)(b, scratch, rest);
    for (size_t i = 0; i < b->n_dense; i++)
        for (size_t j = 0; j <= i; j++) NAME(add_exactly)
    (hi + lg_triangle(i) + j, lo + lg_triangle(i) + j, scratch[i * w + j], rest[i * w + j]);
    for (size_t r = 0; r < b->rows; r++) {
        const uint32_t *column = b->column + r * b->n_terms;
        const double *value = b->value + r * b->n_terms, *z = b->dense + r * w;
        for (size_t t = 0; t < b->n_terms; t++) {
            if (column[t] == LG_REGRESS_NONE) continue;
            double *h = hi + lg_triangle(column[t]), *l = lo + lg_triangle(column[t]);
            const v4 v = ALL(value[t]);
            for (size_t j = 0; j < b->n_dense; j += 4) {
                const v4 x = *(const v4 *)(z + j), p = v * x;
                v4 error, sum = *(v4_any *)(h + j);
                PRODUCT_ERROR(error, v, x, p);
                ADD_EXACTLY(sum, error, p);
                *(v4_any *)(h + j) = sum;
                *(v4_any *)(l + j) += error;
            }
            for (size_t u = 0; u <= t; u++) {
                if (column[u] == LG_REGRESS_NONE) continue;
                const v4 x = ALL(value[u]), p = v * x;
                v4 error;
                PRODUCT_ERROR(error, v, x, p);
                NAME(add_exactly)(h + column[u], l + column[u], p[0], error[0]);
            }
        }
    }
}

static void NAME(axpy_dd)(double a_hi, double a_lo, const double *x_hi, const double *x_lo, size_t n,
                          double *y_hi, double *y_lo) {
    const v4 ah = ALL(a_hi), al = ALL(a_lo);
    for (size_t i = 0; i < n; i += 4) {
        const size_t left = n - i < 4 ? n - i : 4;
        v4 xh = {0}, xl = {0}, yh = {0}, yl = {0}, error;
        if (left == 4) {
            xh = *(const v4_any *)(x_hi + i), xl = *(const v4_any *)(x_lo + i);
            yh = *(v4_any *)(y_hi + i), yl = *(v4_any *)(y_lo + i);
        } else {
            for (size_t k = 0; k < left; k++)
                xh[k] = x_hi[i + k], xl[k] = x_lo[i + k], yh[k] = y_hi[i + k], yl[k] = y_lo[i + k];
        }
        const v4 p = ah * xh;
        PRODUCT_ERROR(error, ah, xh, p);
        error += ah * xl + al * xh;
        /* (p, error) normal, then the accurate sum */
        const v4 q = p + error, q_lo = error - (q - p);
        v4 s = q + yh, t = s - q, s_lo = (q - (s - t)) + (yh - t);
        v4 u = q_lo + yl, v = u - q_lo, u_lo = (q_lo - (u - v)) + (yl - v);
        s_lo += u;
        t = s + s_lo, s_lo = s_lo - (t - s), s = t;
        s_lo += u_lo;
        t = s + s_lo, s_lo = s_lo - (t - s), s = t;
        if (left == 4) {
            *(v4_any *)(y_hi + i) = s, *(v4_any *)(y_lo + i) = s_lo;
        } else {
            for (size_t k = 0; k < left; k++) y_hi[i + k] = s[k], y_lo[i + k] = s_lo[k];
        }
    }
}
