/* Logarithm, exponential and power from additions, products and quotients alone, so that they give the same
   bits on every machine; the C library picks its versions by processor.

   log(2^k (1 + f)) = k ln 2 + 2 artanh(s), s = f / (2 + f), |s| < 0.172: the series of artanh. As 2 s = f - s
   f and s f = f^2/2 - s f^2/2, what is rounded first is small beside f. exp(k ln 2 + r) = 2^k exp(r), |r| <
   0.347: the series of exp. Powers take both with the error of each operation carried along (a pair of
   doubles, high + low). */
#include <math.h>
#include <string.h>

#include "query/query_internal.h"

#define LN2_HIGH 0x1.62e42fee00000p-1 /* 32 bits: its products with exponents are exact */
#define LN2_LOW  0x1.a39ef35793c76p-33

/* x = 2^k m with sqrt(1/2) <= m < sqrt(2); x is positive and finite. */
static double split_exponent(double x, int *k) {
    uint64_t bits;
    *k = 0;
    if (x < 0x1p-1022) {
        x *= 0x1p54;
        *k = -54;
    }
    memcpy(&bits, &x, sizeof bits);
    const uint64_t half = 0x3FE6A09E667F3BCD; /* sqrt(1/2) */
    int64_t up = (int64_t)(bits - half) >> 52;
    bits -= (uint64_t)up << 52;
    *k += (int)up;
    memcpy(&x, &bits, sizeof x);
    return x;
}

double lg_query_log(double x) {
    if (!(x > 0)) return x == 0 ? -INFINITY : NAN;
    if (x > 0x1.fffffffffffffp1023) return x;
    int k;
    double f = split_exponent(x, &k) - 1, s = f / (2 + f), z = s * s, zz = z * z, n = k;
    double even = zz * (2. / 5 + zz * (2. / 9 + zz * (2. / 13 + zz * (2. / 17 + zz * (2. / 21)))));
    double odd = z * (2. / 3 + zz * (2. / 7 + zz * (2. / 11 + zz * (2. / 15 + zz * (2. / 19)))));
    double half = 0.5 * f * f, rest = s * (half + (even + odd));
    return n * LN2_HIGH - ((half - (rest + n * LN2_LOW)) - f);
}

/* 2^k x for results in the range of doubles or below it. */
static double scale(double x, int k) {
    uint64_t bits;
    double power;
    double once = 1;
    if (k < -1000) {
        once = 0x1p-54;
        k += 54;
    } else if (k > 1000) {
        once = 0x1p54;
        k -= 54;
    }
    bits = (uint64_t)(k + 1023) << 52;
    memcpy(&power, &bits, sizeof power);
    return x * power * once;
}

/* exp(high + low) for |high| < 746, low much smaller. */
static double exp_pair(double high, double low) {
    double n = floor(high * 0x1.71547652b82fep0 + 0.5);
    double r = (high - n * LN2_HIGH) - (n * LN2_LOW - low);
    double q =
        r * r *
        (1. / 2 +
         r * (1. / 6 +
              r * (1. / 24 +
                   r * (1. / 120 +
                        r * (1. / 720 +
                             r * (1. / 5040 +
                                  r * (1. / 40320 +
                                       r * (1. / 362880 +
                                            r * (1. / 3628800 +
                                                 r * (1. / 39916800 +
                                                      r * (1. / 479001600 + r * (1. / 6227020800))))))))))));
    return scale(1 + (r + q), (int)n);
}

double lg_query_exp(double x) {
    if (x != x) return x;
    if (x > 709.79) return INFINITY;
    if (x < -745.2) return 0;
    return exp_pair(x, 0);
}

/* ---- pairs ---- */

typedef struct pair {
    double high, low;
} pair;

static inline pair sum_of(double a, double b) {
    double s = a + b, t = s - a;
    return (pair){s, (a - (s - t)) + (b - t)};
}

/* Exact, without a fused operation: Dekker's product of halves. */
static inline pair product_of(double a, double b) {
    double p = a * b, t = 0x1.0000002p27 * a, ah = t - (t - a), al = a - ah;
    t = 0x1.0000002p27 * b;
    double bh = t - (t - b), bl = b - bh;
    return (pair){p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}

static inline pair add(pair a, pair b) {
    pair s = sum_of(a.high, b.high);
    return sum_of(s.high, s.low + (a.low + b.low));
}

static inline pair multiply(pair a, pair b) {
    pair p = product_of(a.high, b.high);
    return sum_of(p.high, p.low + (a.high * b.low + a.low * b.high));
}

static inline pair divide(pair a, pair b) {
    double q = a.high / b.high;
    pair p = multiply((pair){q, 0}, b);
    double rest = ((a.high - p.high) - p.low) + a.low;
    return sum_of(q, rest / b.high);
}

static pair log_pair(double x) {
    const pair ln2 = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
    int k;
    double f = split_exponent(x, &k) - 1;
    pair s = divide((pair){f, 0}, sum_of(2, f)), z = multiply(s, s), series = {0, 0};
    for (int i = 20; i >= 0; i--)
        series = add(multiply(series, z), divide((pair){1, 0}, (pair){2 * i + 1, 0}));
    s = multiply(s, series);
    return add(multiply((pair){k, 0}, ln2), (pair){2 * s.high, 2 * s.low});
}

/* |x|^n for 2 <= n <= 64 by products of pairs: where the result is a whole number below 2^53, it is exact.
   NAN: out of the range that the pairs' products are exact in. */
static double whole_power(double x, unsigned n) {
    pair result = {1, 0}, power = {x, 0};
    for (;; n >>= 1) {
        if (n & 1) result = multiply(result, power);
        if (n <= 1) break;
        power = multiply(power, power);
    }
    double value = result.high;
    return value > 0x1p-900 && value < 0x1p900 && power.high > 0x1p-900 && power.high < 0x1p900 ? value : NAN;
}

double lg_query_pow(double x, double y) {
    if (y == 0 || x == 1) return 1;
    if (x != x || y != y) return NAN;
    if (y == 1) return x;
    if (y == 2) return x * x;
    bool whole = floor(y) == y, odd = whole && fabs(y) < 0x1p53 && fmod(y, 2) != 0;
    double size = fabs(x);
    if (x < 0 && !whole && x > -INFINITY) return NAN;
    double sign = odd && signbit(x) ? -1 : 1;
    if (size == 0 || size > 0x1.fffffffffffffp1023) return sign * ((size == 0) == (y < 0) ? INFINITY : 0);
    if (size == 1) return sign;
    if (fabs(y) > 0x1p64) return sign * ((size > 1) == (y > 0) ? INFINITY : 0);
    if (y == 0.5) return sqrt(x);
    if (whole && y > 0 && y <= 64) {
        double value = whole_power(size, (unsigned)y);
        if (value == value) return sign * value;
    }
    pair l = multiply(log_pair(size), (pair){y, 0});
    if (l.high > 709.79) return sign * INFINITY;
    if (l.high < -745.2) return sign * 0;
    return sign * exp_pair(l.high, l.low);
}

double lg_query_unary(lg_math math, double x) {
    switch (math) {
    case LG_NEGATE:
        return -x;
    case LG_ABS:
        return fabs(x);
    case LG_SQRT:
        return sqrt(x);
    case LG_FLOOR:
        return floor(x);
    case LG_CEIL:
        return ceil(x);
    case LG_LOG:
        return lg_query_log(x);
    default:
        return lg_query_exp(x);
    }
}

double lg_query_binary(lg_math math, double x, double y) {
    switch (math) {
    case LG_ADD:
        return x + y;
    case LG_SUBTRACT:
        return x - y;
    case LG_MULTIPLY:
        return x * y;
    case LG_DIVIDE:
        return x / y;
    case LG_MIN:
        return x < y || x != x ? x : y;
    case LG_MAX:
        return x > y || x != x ? x : y;
    default:
        return lg_query_pow(x, y);
    }
}
