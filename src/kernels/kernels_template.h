/* The kernels of kernels.h over vectors of LANES floats. Included once by each kernels_<isa>.c, which defines
     FILL_KERNELS             the function that overrides entries of the table
     LANES                    lanes of a vector
     v_float, v_word, v_half  vectors of LANES f32, uint32_t, uint16_t
     v_set1, v_fma, v_max     splat; a * b + c; larger, b where either is NaN
     v_from_f16               LANES f16 at an address, widened */
#include <math.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

INLINE v_float load(const float *x) {
    v_float v;
    memcpy(&v, x, sizeof v);
    return v;
}

INLINE void store(float *x, v_float v) {
    memcpy(x, &v, sizeof v);
}

/* The last, partial vector of an array; lanes beyond its N elements are 0. Element by element: a memcpy of
   unknown size is a call. */
INLINE v_float load_rest(const float *x, size_t n) {
    float rest[LANES] = {0};
    for (size_t i = 0; i < n; i++) rest[i] = x[i];
    return load(rest);
}

INLINE void store_rest(float *x, v_float v, size_t n) {
    float rest[LANES];
    store(rest, v);
    for (size_t i = 0; i < n; i++) x[i] = rest[i];
}

/* Runs STATEMENT for each vector of n elements from I on, GET and PUT moving it from and to an array. Every
   element meets the same arithmetic, in a whole vector or in the rest. */
#define GET(x)    (whole ? load((x) + i) : load_rest((x) + i, n - i))
#define PUT(y, v) (whole ? store((y) + i, v) : store_rest((y) + i, v, n - i))
#define EACH_VECTOR(STATEMENT)                                                                               \
    do {                                                                                                     \
        size_t i = 0;                                                                                        \
        for (; i + LANES <= n; i += LANES) {                                                                 \
            const bool whole = true;                                                                         \
            STATEMENT;                                                                                       \
        }                                                                                                    \
        if (i < n) {                                                                                         \
            const bool whole = false;                                                                        \
            STATEMENT;                                                                                       \
        }                                                                                                    \
    } while (0)

INLINE v_float choose(v_word mask, v_float yes, v_float no) {
    return (v_float)((mask & (v_word)yes) | (~mask & (v_word)no));
}

/* The lanes added pairwise, always in the same order. */
INLINE float sum_of(v_float v) {
    float lanes[LANES];
    store(lanes, v);
    for (size_t half = LANES / 2; half; half /= 2)
        for (size_t l = 0; l < half; l++) lanes[l] += lanes[l + half];
    return lanes[0];
}

/* ---- conversions ---- */

INLINE v_word rounded(v_float x) {
    v_word bits = (v_word)x, number = bits + 0x7fff + (bits >> 16 & 1);
    return ((v_word)choose((v_word)(x == x), (v_float)number, (v_float)(bits | 0x400000))) >> 16;
}

static void to_bf16(uint16_t *y, const float *x, size_t n) {
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        v_half v = __builtin_convertvector(rounded(load(x + i)), v_half);
        memcpy(y + i, &v, sizeof v);
    }
    if (i == n) return;
    uint16_t rest[LANES];
    v_half v = __builtin_convertvector(rounded(load_rest(x + i, n - i)), v_half);
    memcpy(rest, &v, sizeof v);
    for (size_t j = i; j < n; j++) y[j] = rest[j - i];
}

static void round_to_bf16(float *y, const float *x, size_t n) {
    EACH_VECTOR(PUT(y, (v_float)(rounded(GET(x)) << 16)));
}

INLINE v_float widened(const void *x) {
    v_half v;
    memcpy(&v, x, sizeof v);
    return (v_float)(__builtin_convertvector(v, v_word) << 16);
}

static void from_bf16(float *y, const void *x, size_t n) {
    const unsigned char *bytes = x;
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) store(y + i, widened(bytes + 2 * i));
    if (i == n) return;
    uint16_t rest[LANES] = {0};
    memcpy(rest, bytes + 2 * i, 2 * (n - i));
    store_rest(y + i, widened(rest), n - i);
}

static void from_f16(float *y, const void *x, size_t n) {
    const unsigned char *bytes = x;
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) store(y + i, v_from_f16(bytes + 2 * i));
    if (i == n) return;
    uint16_t rest[LANES] = {0};
    memcpy(rest, bytes + 2 * i, 2 * (n - i));
    store_rest(y + i, v_from_f16(rest), n - i);
}

/* n, the columns, is a multiple of LANES. */
static void widen_pairs(float *y, const uint32_t *x, size_t pairs, size_t n) {
    for (size_t p = 0; p < pairs; p++, x += n, y += 2 * n)
        for (size_t i = 0; i < n; i += LANES) {
            v_word v;
            memcpy(&v, x + i, sizeof v);
            store(y + i, (v_float)(v << 16));
            store(y + n + i, (v_float)(v & 0xffff0000u));
        }
}

/* ---- norms and gates ---- */

static float sum_squares(const float *x, size_t n) {
    v_float a = v_set1(0), b = a, c = a, d = a;
    size_t i = 0;
    for (; i + 4 * LANES <= n; i += 4 * LANES) {
        v_float p = load(x + i), q = load(x + i + LANES), r = load(x + i + 2 * LANES),
                s = load(x + i + 3 * LANES);
        a = v_fma(p, p, a);
        b = v_fma(q, q, b);
        c = v_fma(r, r, c);
        d = v_fma(s, s, d);
    }
    for (; i < n; i += LANES) {
        v_float p = i + LANES <= n ? load(x + i) : load_rest(x + i, n - i);
        a = v_fma(p, p, a);
    }
    return sum_of((a + b) + (c + d));
}

static void scale(float *y, const float *x, float r, size_t n) {
    const v_float s = v_set1(r);
    EACH_VECTOR(PUT(y, GET(x) * s));
}

static void norm(float *y, const float *x, const float *w, float r, size_t n) {
    const v_float s = v_set1(r);
    EACH_VECTOR(PUT(y, GET(x) * s * GET(w)));
}

static void norm_add(float *y, const float *x, const float *w, float r, size_t n) {
    const v_float s = v_set1(r);
    EACH_VECTOR(PUT(y, GET(y) + GET(x) * s * GET(w)));
}

/* e^x for x <= 0: x = n log 2 + r with n log 2 taken off in two parts, the first exactly; then the polynomial
   of degree 6 that is nearest to e^r, 4e-9 off before rounding; then n added to the exponent. 0 below
   e^-87.3. */
INLINE v_float exp_of(v_float x) {
    const v_float magic = v_set1(0x1.8p23f + 127); /* added, it leaves round(x) + 127 in the low bits */
    x = v_max(v_set1(-88), x);
    const v_float t = v_fma(x, v_set1(0x1.715476p0f), magic), n = t - magic;
    const v_float r = v_fma(n, v_set1(-0x1.7f7d1cp-20f), v_fma(n, v_set1(-0x1.62e4p-1f), x));
    v_float p = v_fma(v_set1(0x1.6a23cep-10f), r, v_set1(0x1.123a2p-7f));
    p = v_fma(p, r, v_set1(0x1.5558f2p-5f));
    p = v_fma(p, r, v_set1(0x1.555492p-3f));
    p = v_fma(p, r, v_set1(0x1.fffffcp-2f));
    p = v_fma(p * r, r, r);
    p = p + v_set1(1);
    return p * (v_float)((v_word)t << 23);
}

INLINE v_float silu(v_float x) {
    const v_float one = v_set1(1), t = exp_of((v_float)((v_word)x | 0x80000000u));
    return x * (choose((v_word)(x < 0), t, one) / (one + t));
}

static void norm_gate(float *y, const float *x, const float *w, const float *z, float r, size_t n) {
    const v_float s = v_set1(r);
    EACH_VECTOR(PUT(y, GET(x) * s * GET(w) * silu(GET(z))));
}

static void swiglu(float *h, const float *gate, const float *up, size_t n) {
    EACH_VECTOR(PUT(h, silu(GET(gate)) * GET(up)));
}

static void rotate(float *a, float *b, const float *cosine, const float *sine, size_t n) {
    EACH_VECTOR(const v_float x = GET(a); const v_float y = GET(b); const v_float c = GET(cosine);
                const v_float s = GET(sine); PUT(a, x * c - y * s); PUT(b, y * c + x * s));
}

/* ---- short convolution ---- */

/* FIRST: the first tap that meets a row of the document. */
INLINE void conv_row(float *y, const float *x, size_t x_stride, const float *w, size_t K, size_t first,
                     size_t n) {
    EACH_VECTOR(v_float sum = v_set1(0); for (size_t j = first; j < K; j++) sum =
                                             v_fma(GET(w + j * n), GET(x - (K - 1 - j) * x_stride), sum);
                PUT(y, silu(sum)));
}

/* From the end backwards, as in C. Four taps, the usual number, are a constant: the loop over them unrolls.
 */
static void short_conv(float *y, size_t y_stride, const float *x, size_t x_stride, const float *w, size_t K,
                       size_t T, size_t n) {
    for (size_t t = T; t-- > 0;) {
        float *to = y + t * y_stride;
        const float *from = x + t * x_stride;
        if (t + 1 < K) conv_row(to, from, x_stride, w, K, K - 1 - t, n);
        else if (K == 4) conv_row(to, from, x_stride, w, 4, 0, n);
        else conv_row(to, from, x_stride, w, K, 0, n);
    }
}

/* ---- softmax over a vocabulary ---- */

static float max_of(const float *x, size_t n) {
    v_float max = v_set1(-INFINITY), other = max;
    size_t i = 0;
    for (; i + 2 * LANES <= n; i += 2 * LANES) {
        max = v_max(load(x + i), max);
        other = v_max(load(x + i + LANES), other);
    }
    float lanes[LANES];
    store(lanes, v_max(max, other));
    float greatest = -INFINITY;
    for (size_t l = 0; l < LANES; l++) greatest = lanes[l] > greatest ? lanes[l] : greatest;
    for (; i < n; i++) greatest = x[i] > greatest ? x[i] : greatest;
    return greatest;
}

static size_t count_above(const float *x, float value, size_t n) {
    const v_float limit = v_set1(value);
    v_word count = (v_word)v_set1(0);
    size_t i = 0, total = 0;
    for (; i + LANES <= n; i += LANES) count -= (v_word)(load(x + i) > limit); /* a true lane is all ones */
    for (size_t l = 0; l < LANES; l++) total += count[l];
    for (; i < n; i++) total += x[i] > value;
    return total;
}

/* Sums of up to 4 CHUNK floats a lane, and of those in double. */
enum { CHUNK = 8 };

INLINE double sum_exp_of(const float *x, float max, size_t n, bool weigh, double *weighted) {
    const v_float shift = v_set1(max);
    double sums[LANES] = {0}, weighted_sums[LANES] = {0};
    for (size_t i = 0; i < n;) {
        v_float s[4], ws[4];
        for (int j = 0; j < 4; j++) s[j] = ws[j] = v_set1(0);
        size_t end = n - i > 4 * CHUNK * LANES ? i + 4 * CHUNK * LANES : n;
        for (; i + 4 * LANES <= end; i += 4 * LANES)
            for (int j = 0; j < 4; j++) {
                v_float d = load(x + i + (size_t)j * LANES) - shift, e = exp_of(d);
                s[j] += e;
                if (weigh) ws[j] = v_fma(e, v_max(v_set1(-88), d), ws[j]); /* finite: e is 0 below */
            }
        for (; i < end; i += LANES) {
            const size_t rest = end - i;
            v_float d = (rest >= LANES ? load(x + i) : load_rest(x + i, rest)) - shift, e = exp_of(d);
            if (rest < LANES) {
                float lanes[LANES];
                store(lanes, e);
                e = load_rest(lanes, rest);
                store(lanes, d);
                d = load_rest(lanes, rest);
            }
            s[0] += e;
            if (weigh) ws[0] = v_fma(e, v_max(v_set1(-88), d), ws[0]);
        }
        if (i > end) i = end;
        const v_float sum = (s[0] + s[1]) + (s[2] + s[3]), weighted_sum = (ws[0] + ws[1]) + (ws[2] + ws[3]);
        for (int l = 0; l < LANES; l++) {
            sums[l] += (double)sum[l];
            if (weigh) weighted_sums[l] += (double)weighted_sum[l];
        }
    }
    for (size_t half = LANES / 2; half; half /= 2)
        for (size_t l = 0; l < half; l++)
            sums[l] += sums[l + half], weighted_sums[l] += weighted_sums[l + half];
    if (weigh) *weighted = weighted_sums[0];
    return sums[0];
}

static double sum_exp(const float *x, float max, size_t n, double *weighted) {
    return weighted ? sum_exp_of(x, max, n, true, weighted) : sum_exp_of(x, max, n, false, NULL);
}

void FILL_KERNELS(lg_kernels *kernels) {
    kernels->to_bf16 = to_bf16;
    kernels->round_to_bf16 = round_to_bf16;
    kernels->from_bf16 = from_bf16;
    kernels->from_f16 = from_f16;
    kernels->widen_pairs = widen_pairs;
    kernels->sum_squares = sum_squares;
    kernels->scale = scale;
    kernels->norm = norm;
    kernels->norm_add = norm_add;
    kernels->norm_gate = norm_gate;
    kernels->swiglu = swiglu;
    kernels->rotate = rotate;
    kernels->short_conv = short_conv;
    kernels->max = max_of;
    kernels->count_above = count_above;
    kernels->sum_exp = sum_exp;
}
