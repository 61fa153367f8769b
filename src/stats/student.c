/* Student's t: distribution function and quantile, by the continued fraction of the incomplete beta function.
 */
#include <float.h>
#include <math.h>

#include "lossgap/gap.h"

/* Gamma(x + 1/2) / Gamma(x): the asymptotic series where it holds to the last digit, brought there by
 * recurrence. */
static double gamma_ratio(double x) {
    double factor = 1;
    for (; x < 64; x++) factor *= x / (x + 0.5);
    double r = 1 / x; /* the series in 1/x */
    double series =
        1 + r * (-1. / 8 + r * (1. / 128 + r * (5. / 1024 + r * (-21. / 32768 + r * (-399. / 262144 +
                                                                                     r * 869. / 4194304)))));
    return factor * sqrt(x) * series;
}

/* Where Lentz's method keeps its products away from zero. */
static double nonzero(double value) {
    return fabs(value) < 1e-300 ? 1e-300 : value;
}

/* f(a, b, x) in I_x(a, b) = x^a (1 - x)^b / (a B(a, b)) f, for x < (a + 1) / (a + b + 2): the continued
   fraction 1 / (1 + d1 / (1 + d2 / (1 + …))), by Lentz's method. */
static double beta_fraction(double a, double b, double x) {
    double c = 1, d = 1 / nonzero(1 - (a + b) * x / (a + 1)), value = d;
    for (int m = 1; m < 10000; m++) {
        double term[2] = {m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                          -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))};
        for (int k = 0; k < 2; k++) {
            d = 1 / nonzero(1 + term[k] * d);
            c = nonzero(1 + term[k] / c);
            value *= c * d;
        }
        if (fabs(c * d - 1) < DBL_EPSILON) break;
    }
    return value;
}

/* The same for b = 1/2 and x = 1 - y close to 1, where 1 + d1 and the like cancel: two steps in one (the even
   part of the fraction), whose denominators 1 + d[2m] + d[2m+1] are sums of positive terms but for a small
   one. */
static double tail_fraction(double a, double y) {
    const double b = 0.5, x = 1 - y;
    double value = ((1 - b) + (a + b) * y) / (a + 1), c = value, d = 0;
    for (int m = 1; m < 10000; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m - 1) * (a + b + m - 1) * x / ((a + 2 * m - 2) * (a + 2 * m - 1));
        double next = (2 * a * m + 3. * m * m + a * (1 - b) + m * (2 - b) + (a + m) * (a + b + m) * y) /
                      ((a + 2 * m) * (a + 2 * m + 1));
        double above = -odd * even, below = next + even;
        d = 1 / nonzero(below + above * d);
        c = nonzero(below + above / c);
        value *= c * d;
        if (fabs(c * d - 1) < DBL_EPSILON) break;
    }
    return 1 / value;
}

/* P(T > t) for t >= 0. */
static double upper_tail(double t, double df) {
    if (isinf(t)) return 0;
    /* x = df / (df + t^2), y = 1 - x, both without cancellation */
    double square = t * t / df, x = 1 / (1 + square), y = square / (1 + square);
    if (isinf(square)) { /* the leading term: x^a / (2 a B) */
        return exp(df * (log(df) / 2 - log(t))) * gamma_ratio(df / 2) / sqrt(M_PI) / df;
    }
    double a = df / 2;
    /* x^a y^(1/2) / B(a, 1/2), with 1/B = Gamma(a + 1/2) / (Gamma(a) sqrt(pi)) */
    double front = exp(-a * log1p(square)) * sqrt(y) * gamma_ratio(a) / sqrt(M_PI);
    if (x < (a + 1) / (a + 2.5)) return front * tail_fraction(a, y) / a / 2;
    return 0.5 - front * beta_fraction(0.5, a, y);
}

double lg_t_cdf(double t, double df) {
    return t < 0 ? upper_tail(-t, df) : 1 - upper_tail(t, df);
}

double lg_t_quantile(double p, double df) {
    if (!(p > 0 && p < 1 && df > 0)) return p == 0 ? -INFINITY : p == 1 ? INFINITY : NAN;
    if (p == 0.5) return 0;
    double tail = p < 0.5 ? p : 1 - p, low = 0, high = 1;
    while (upper_tail(high, df) > tail && high < 1e300) {
        low = high;
        high *= 2;
    }
    /* Newton from the right end, kept inside the bracket; the tail is convex, so it soon converges. */
    double t = high;
    for (int i = 0; i < 200; i++) {
        double value = upper_tail(t, df);
        if (value > tail) low = t;
        else high = t;
        double density = gamma_ratio(df / 2) / sqrt(df * M_PI) * exp(-(df + 1) / 2 * log1p(t * t / df));
        double next = t + (value - tail) / density;
        if (!(next > low && next < high)) next = low + (high - low) / 2;
        if (fabs(next - t) <= 2 * DBL_EPSILON * t) {
            t = next;
            break;
        }
        t = next;
    }
    return p < 0.5 ? -t : t;
}
