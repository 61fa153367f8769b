/* The kernels of block.h over vectors of LANES floats. Included once by each block_*.c, which defines
     BLOCK_TABLE                the table's name
     LANES, ROWS, VECTORS       lanes of a vector, rows of a tile, vectors of a tile's row
     v_float, v_int, v_word     vectors of LANES f32, int32_t, uint32_t
     v_set1, v_fma, v_max       splat; a * b + c; larger, b where either is NaN
     v_largest                  largest lane
     v_transpose                a LANES x LANES block in place
     v_dot, v_to_bf16           (bf16 processors) c + a * b over pairs; LANES bf16, nearest even */
#include <math.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

#ifndef HAVE_BF16 /* never reached, but seen by the compiler */
#define v_dot           v_fma
#define v_to_bf16(x, y) ((void)(y))
#endif

INLINE v_float load(const void *x) {
    v_float v;
    memcpy(&v, x, sizeof v);
    return v;
}

INLINE void store(void *x, v_float v) {
    memcpy(x, &v, sizeof v);
}

INLINE float word(const void *x, size_t i) {
    float w;
    memcpy(&w, (const char *)x + 4 * i, sizeof w);
    return w;
}

/* ---- products ---- */

/* m and n are constants where this is called, so that the accumulators live in registers. */
INLINE void tile(int m, int n, bool pairs, bool substitute, size_t k, const void *a, size_t lda,
                 const void *b, size_t ldb, float *c, size_t ldc, const float *scale) {
    v_float sum[ROWS][VECTORS];
    const float *row[ROWS];
    for (int i = 0; i < m; i++) row[i] = (const float *)a + (size_t)i * lda;
#pragma GCC unroll 16
    for (int i = 0; i < m; i++)
#pragma GCC unroll 16
        for (int j = 0; j < n; j++) {
            if (substitute) sum[i][j] = load(c + (size_t)i * ldc + (size_t)j * LANES);
            else if (scale) sum[i][j] = load(c + (size_t)i * ldc + (size_t)j * LANES) * v_set1(scale[i]);
            else sum[i][j] = v_set1(0);
        }
    for (size_t p = 0; p < k; p++) {
        v_float v[VECTORS];
#pragma GCC unroll 16
        for (int j = 0; j < n; j++) v[j] = load((const float *)b + p * ldb + (size_t)j * LANES);
#pragma GCC unroll 16
        for (int i = 0; i < m; i++) {
            const v_float x = v_set1(word(row[i], p));
#pragma GCC unroll 16
            for (int j = 0; j < n; j++)
                sum[i][j] = pairs ? v_dot(x, v[j], sum[i][j]) : v_fma(x, v[j], sum[i][j]);
        }
    }
    if (substitute) {
#pragma GCC unroll 16
        for (int h = 0; h < m - 1; h++)
#pragma GCC unroll 16
            for (int i = h + 1; i < m; i++) {
                const v_float x = v_set1(word(row[i], k + (size_t)h));
#pragma GCC unroll 16
                for (int j = 0; j < n; j++) sum[i][j] = v_fma(x, sum[h][j], sum[i][j]);
            }
    }
#pragma GCC unroll 16
    for (int i = 0; i < m; i++)
#pragma GCC unroll 16
        for (int j = 0; j < n; j++) store(c + (size_t)i * ldc + (size_t)j * LANES, sum[i][j]);
}

#define TILE_ARGUMENTS                                                                                       \
    size_t k, const void *a, size_t lda, const void *b, size_t ldb, float *c, size_t ldc, const float *scale
#define TILE(KIND, PAIRS, SUBSTITUTE, M, N)                                                                  \
    static void KIND##_##M##_##N(TILE_ARGUMENTS) {                                                           \
        tile(M, N, PAIRS, SUBSTITUTE, k, a, lda, b, ldb, c, ldc, scale);                                     \
    }
#if VECTORS == 4
#define EACH_WIDTH(DO, KIND, M) DO(KIND, M, 1) DO(KIND, M, 2) DO(KIND, M, 3) DO(KIND, M, 4)
#else
#define EACH_WIDTH(DO, KIND, M) DO(KIND, M, 1) DO(KIND, M, 2)
#endif
#if ROWS == 6
#define EACH_HEIGHT(DO, KIND) DO(KIND, 1) DO(KIND, 2) DO(KIND, 3) DO(KIND, 4) DO(KIND, 5) DO(KIND, 6)
#else
#define EACH_HEIGHT(DO, KIND) DO(KIND, 1) DO(KIND, 2) DO(KIND, 3) DO(KIND, 4)
#endif

typedef void tile_function(TILE_ARGUMENTS);
#define DEFINE_product(KIND, M, N)      TILE(KIND, false, false, M, N)
#define DEFINE_product_bf16(KIND, M, N) TILE(KIND, true, false, M, N)
#define DEFINE_substitute(KIND, M, N)   TILE(KIND, false, true, M, N)
#define DEFINE_ROW(KIND, M)             EACH_WIDTH(DEFINE_##KIND, KIND, M)
#define NAME_TILE(KIND, M, N)           KIND##_##M##_##N,
#define NAME_ROW(KIND, M)               {EACH_WIDTH(NAME_TILE, KIND, M)},

EACH_HEIGHT(DEFINE_ROW, product)
static tile_function *const product_tiles[ROWS][VECTORS] = {EACH_HEIGHT(NAME_ROW, product)};
static void product(size_t m, size_t n, TILE_ARGUMENTS) {
    product_tiles[m - 1][n / LANES - 1](k, a, lda, b, ldb, c, ldc, scale);
}

EACH_HEIGHT(DEFINE_ROW, substitute)
static tile_function *const substitute_tiles[ROWS][VECTORS] = {EACH_HEIGHT(NAME_ROW, substitute)};
static void substitute(size_t m, size_t n, size_t row, const float *a, size_t lda, float *x, size_t ldx) {
    substitute_tiles[m - 1][n / LANES - 1](row, a + row * lda, lda, x, ldx, x + row * ldx, ldx, NULL);
}

#ifdef HAVE_BF16
EACH_HEIGHT(DEFINE_ROW, product_bf16)
static tile_function *const product_bf16_tiles[ROWS][VECTORS] = {EACH_HEIGHT(NAME_ROW, product_bf16)};
static void product_bf16(size_t m, size_t n, TILE_ARGUMENTS) {
    product_bf16_tiles[m - 1][n / LANES - 1](k, a, lda, b, ldb, c, ldc, scale);
}
#endif

/* ---- exponentials ---- */

INLINE v_word bits_of(v_float x) {
    return (v_word)x;
}

/* All bits of the lanes for which FIRST + lane is in [lo, hi). */
INLINE v_word lanes_within(ptrdiff_t first, ptrdiff_t lo, ptrdiff_t hi) {
    v_int lane;
    for (int i = 0; i < LANES; i++) lane[i] = i;
    return (v_word)((lane >= (int)(lo - first)) & (lane < (int)(hi - first)));
}

INLINE v_float choose(v_word mask, v_float yes, v_float no) {
    return (v_float)((mask & bits_of(yes)) | (~mask & bits_of(no)));
}

/* To the nearest bf16 value, ties to even. Of NaNs only those that v_round and arithmetic make. */
INLINE v_float round_number(v_float x) {
    const v_word bits = bits_of(x);
    return (v_float)((bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff0000u);
}

INLINE v_float v_round(v_float x) {
    return choose((v_word)(x == x), round_number(x), (v_float)((bits_of(x) & 0xffff0000u) | 0x400000));
}

/* 2^f, |f| <= 1/2, by its minimax polynomial of degree 6 with p(0) = 1: 2e-9 off before rounding. */
INLINE v_float exp2_fraction(v_float f) {
    v_float p = v_fma(f, v_set1(0x1.41fbbcp-13f), v_set1(0x1.5f3e52p-10f));
    p = v_fma(f, p, v_set1(0x1.3b2d4cp-7f));
    p = v_fma(f, p, v_set1(0x1.c6aee8p-5f));
    p = v_fma(f, p, v_set1(0x1.ebfbdcp-3f));
    p = v_fma(f, p, v_set1(0x1.62e43p-1f));
    return v_fma(f, p, v_set1(1));
}

/* A number near x plus this has round(x) + 127 in its low bits: 2^round(x) once they are shifted to the
 * exponent. */
#define MAGIC (0x1.8p23f + 127)

/* 2^x for x <= 0; 0 below 2^-126; NaN for NaN. */
INLINE v_float exp2_of(v_float x) {
    x = v_max(v_set1(-127), x);
    const v_float t = x + v_set1(MAGIC);
    return exp2_fraction(x - (t - v_set1(MAGIC))) * (v_float)(bits_of(t) << 23);
}

/* e^x for x <= 0, the same, with n log(2) taken off in two parts, the first without rounding: good for large
 * x too. */
INLINE v_float exp_of(v_float x) {
    x = v_max(v_set1(-88), x);
    const v_float t = x * v_set1(0x1.715476p0f) + v_set1(MAGIC), n = t - v_set1(MAGIC);
    const v_float r = v_fma(n, v_set1(-0x1.7f7d1cp-20f), v_fma(n, v_set1(-0x1.62e4p-1f), x));
    return exp2_fraction(r * v_set1(0x1.715476p0f)) * (v_float)(bits_of(t) << 23);
}

INLINE void softmax_tile(bool bf16, size_t m, size_t n, const lg_softmax_tile *a, float *s, size_t lds,
                         float *max, float *sum, float *rescale) {
    const ptrdiff_t window = a->window < PTRDIFF_MAX ? (ptrdiff_t)a->window : PTRDIFF_MAX;
    const v_float factor = v_set1(a->factor);
    ptrdiff_t from[ROWS], to[ROWS]; /* the keys that a row sees */
    float change[LANES] = {0};
    for (size_t i = 0; i < m; i++) {
        const ptrdiff_t last = a->row + (ptrdiff_t)i;
        const float *row = s + i * lds;
        from[i] = last >= window ? last - window + 1 : 0;
        to[i] = last < (ptrdiff_t)n ? last + 1 : (ptrdiff_t)n;
        if (from[i] >= to[i]) continue;
        v_float largest = v_set1(-INFINITY);
        for (ptrdiff_t j = from[i] / LANES * LANES; j < to[i]; j += LANES) {
            v_float x = load(row + j);
            if (j < from[i] || j + LANES > to[i])
                x = choose(lanes_within(j, from[i], to[i]), x, v_set1(-INFINITY));
            largest = v_max(largest, x);
        }
        const float now = a->factor * v_largest(largest);
        if (!(now <= max[i])) { /* also NaN */
            change[i] = max[i] - now;
            max[i] = now;
        }
    }
    const v_float change_factor = exp2_of(load(change));
    for (size_t i = 0; i < m; i++) {
        float *row = s + i * lds;
        rescale[i] = change_factor[i];
        v_float total = load(sum + i * LANES) * v_set1(rescale[i]);
        const v_float shift = v_set1(-max[i]);
        for (ptrdiff_t j = from[0] / LANES * LANES; j < to[m - 1]; j += LANES) {
            v_float p = exp2_of(v_fma(load(row + j), factor, shift));
            if (j < from[i] || j + LANES > to[i]) p = (v_float)(lanes_within(j, from[i], to[i]) & bits_of(p));
            if (bf16) {
                v_to_bf16(p, (uint16_t *)row + j);
                p = round_number(p);
            } else {
                if (a->round) p = round_number(p);
                store(row + j, p);
            }
            total += p;
        }
        store(sum + i * LANES, total);
    }
}

static void softmax(size_t m, size_t n, const lg_softmax_tile *a, float *s, size_t lds, float *max,
                    float *sum, float *rescale) {
    softmax_tile(false, m, n, a, s, lds, max, sum, rescale);
}

#ifdef HAVE_BF16
static void softmax_bf16(size_t m, size_t n, const lg_softmax_tile *a, float *s, size_t lds, float *max,
                         float *sum, float *rescale) {
    softmax_tile(true, m, n, a, s, lds, max, sum, rescale);
}
#endif

static void average(size_t n, const float *x, const float *sum, float *y) {
    float lanes[LANES];
    memcpy(lanes, sum, sizeof lanes);
    for (size_t half = LANES / 2; half; half /= 2)
        for (size_t l = 0; l < half; l++) lanes[l] += lanes[l + half];
    const v_float inverse = v_set1(1 / lanes[0]), zero = v_set1(0);
    size_t j = 0;
    for (; j + LANES <= n; j += LANES) store(y + j, v_fma(load(x + j), inverse, zero));
    for (; j < n; j++) y[j] = x[j] * inverse[0] + 0.0f;
}

static void multiply(size_t n, const float *x, float factor, const float *by, float *y) {
    const v_float f = v_set1(factor), zero = v_set1(0);
    size_t j = 0;
    for (; j + LANES <= n; j += LANES) store(y + j, v_fma(load(x + j), by ? f * load(by + j) : f, zero));
    for (; j < n; j++) y[j] = x[j] * (by ? factor * by[j] : factor) + 0.0f;
}

static void decay(size_t n, float hi, float lo, const float *his, const float *los, float *y) {
    for (size_t j = 0; j < n; j += LANES) {
        v_float e = exp_of((v_set1(hi) - load(his + j)) + (v_set1(lo) - load(los + j)));
        if (j + LANES > n) e = (v_float)(lanes_within((ptrdiff_t)j, 0, (ptrdiff_t)n) & bits_of(e));
        store(y + j, e);
    }
}

/* ---- packing ---- */

static void transpose(size_t rows, size_t columns, const void *x, size_t ldx, void *y, size_t ldy) {
    const size_t whole_rows = rows / LANES * LANES, whole_columns = columns / LANES * LANES;
    const uint32_t *from = x;
    uint32_t *to = y;
    for (size_t i = 0; i < whole_rows; i += LANES)
        for (size_t j = 0; j < whole_columns; j += LANES) {
            v_float block[LANES];
            for (size_t l = 0; l < LANES; l++) block[l] = load(from + (i + l) * ldx + j);
            v_transpose(block);
            for (size_t l = 0; l < LANES; l++) store(to + (j + l) * ldy + i, block[l]);
        }
    for (size_t j = 0; j < columns; j++)
        for (size_t i = j < whole_columns ? whole_rows : 0; i < rows; i++)
            to[j * ldy + i] = from[i * ldx + j];
}

/* The last, partial vector of n floats; lanes beyond them are 0. */
INLINE v_float load_rest(const float *x, size_t n) {
    float rest[LANES] = {0};
    for (size_t i = 0; i < n; i++) rest[i] = x[i];
    return load(rest);
}

static void round_values(size_t n, const float *x, float *y) {
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) store(y + i, v_round(load(x + i)));
    if (i == n) return;
    const v_float rest = v_round(load_rest(x + i, n - i));
    memcpy(y + i, &rest, (n - i) * sizeof *y);
}

#ifdef HAVE_BF16
static void round_bf16(size_t n, const float *x, uint16_t *y) {
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) v_to_bf16(load(x + i), y + i);
    if (i == n) return;
    uint16_t rest[LANES];
    v_to_bf16(load_rest(x + i, n - i), rest);
    memcpy(y + i, rest, (n - i) * sizeof *y);
}

INLINE v_float pairs_of(v_float x0, v_float x1) {
    return (v_float)(bits_of(v_round(x1)) | (bits_of(v_round(x0)) >> 16));
}

static void round_pairs(size_t n, const float *x0, const float *x1, uint32_t *y) {
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) store(y + i, pairs_of(load(x0 + i), x1 ? load(x1 + i) : v_set1(0)));
    if (i == n) return;
    const v_float rest = pairs_of(load_rest(x0 + i, n - i), x1 ? load_rest(x1 + i, n - i) : v_set1(0));
    memcpy(y + i, &rest, (n - i) * sizeof *y);
}
#endif

const lg_block BLOCK_TABLE = {
    .rows = ROWS,
    .columns = VECTORS * LANES,
    .lanes = LANES,
    .product = product,
    .substitute = substitute,
    .softmax = softmax,
    .average = average,
    .multiply = multiply,
    .decay = decay,
    .transpose = transpose,
    .round = round_values,
#ifdef HAVE_BF16
    .product_bf16 = product_bf16,
    .softmax_bf16 = softmax_bf16,
    .round_bf16 = round_bf16,
    .round_pairs = round_pairs,
#endif
};
