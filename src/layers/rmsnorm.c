/* RMS norm: y_c = w_c x_c / sqrt(mean_c(x_c^2) + eps), in f32. */
#include "layers/layers.h"

#include <math.h>

#include "kernels/kernels.h"

void lg_rmsnorm(const lg_compute *c, float *y, size_t y_stride, const float *x, size_t x_stride,
                const float *w, float eps, size_t T, size_t d) {
    for (size_t t = 0; t < T; t++, x += x_stride, y += y_stride) {
        float r = 1 / sqrtf(c->kernels->sum_squares(x, d) / (float)d + eps);
        c->kernels->norm(y, x, w, r, d);
    }
}

void lg_rmsnorm_add(const lg_compute *c, float *y, size_t y_stride, const float *x, size_t x_stride,
                    const float *w, float eps, size_t T, size_t d) {
    for (size_t t = 0; t < T; t++, x += x_stride, y += y_stride) {
        float r = 1 / sqrtf(c->kernels->sum_squares(x, d) / (float)d + eps);
        c->kernels->norm_add(y, x, w, r, d);
    }
}
