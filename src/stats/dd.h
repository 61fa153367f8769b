/* Double-double numbers: a value as the unevaluated sum of two doubles, some 106 bits. The operations are the
   error-free transformations of Dekker and Knuth, so that every machine gives the same bits. */
#ifndef LG_STATS_DD_H
#define LG_STATS_DD_H

#include <math.h>

typedef struct dd {
    double hi, lo; /* |lo| <= ulp(hi) / 2 */
} dd;

static inline dd dd_of(double a) {
    return (dd){a, 0};
}

/* a + b without loss; the quick one needs |a| >= |b|. */
static inline dd dd_two_sum(double a, double b) {
    double s = a + b, t = s - a;
    return (dd){s, (a - (s - t)) + (b - t)};
}

static inline dd dd_quick_sum(double a, double b) {
    double s = a + b;
    return (dd){s, b - (s - a)};
}

/* a b without loss. */
static inline dd dd_two_product(double a, double b) {
    double p = a * b;
    return (dd){p, fma(a, b, -p)};
}

static inline dd dd_add(dd a, dd b) {
    dd s = dd_two_sum(a.hi, b.hi), t = dd_two_sum(a.lo, b.lo);
    s = dd_quick_sum(s.hi, s.lo + t.hi);
    return dd_quick_sum(s.hi, s.lo + t.lo);
}

static inline dd dd_add_double(dd a, double b) {
    dd s = dd_two_sum(a.hi, b);
    return dd_quick_sum(s.hi, s.lo + a.lo);
}

static inline dd dd_negate(dd a) {
    return (dd){-a.hi, -a.lo};
}

static inline dd dd_subtract(dd a, dd b) {
    return dd_add(a, dd_negate(b));
}

static inline dd dd_multiply(dd a, dd b) {
    dd p = dd_two_product(a.hi, b.hi);
    return dd_quick_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

static inline dd dd_scale(dd a, double b) {
    dd p = dd_two_product(a.hi, b);
    return dd_quick_sum(p.hi, p.lo + a.lo * b);
}

static inline dd dd_divide(dd a, dd b) {
    double q = a.hi / b.hi;
    dd r = dd_subtract(a, dd_scale(b, q));
    double q2 = r.hi / b.hi;
    r = dd_subtract(r, dd_scale(b, q2));
    return dd_add_double(dd_quick_sum(q, q2), r.hi / b.hi);
}

/* Of a >= 0. */
static inline dd dd_sqrt(dd a) {
    if (a.hi <= 0) return (dd){0, 0};
    double s = sqrt(a.hi);
    dd r = dd_subtract(a, dd_two_product(s, s));
    return dd_quick_sum(s, r.hi / (2 * s));
}

static inline double dd_double(dd a) {
    return a.hi + a.lo;
}

#endif
