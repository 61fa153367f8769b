/* Short causal convolution of one document, channel by channel, then silu: y_t = silu(sum_j w_j x_{t-K+1+j}).
 */
#include "layers/layers.h"

#include "kernels/kernels.h"

/* Channels go in stripes whose taps, laid out by age, stay on the stack. */
void lg_short_conv(const lg_compute *c, float *y, size_t y_stride, const float *x, size_t x_stride,
                   const float *w, size_t K, size_t T, size_t d) {
    enum { STRIPE = 256, MAX_K = 8 };
    _Alignas(64) float taps[MAX_K * STRIPE];
    for (size_t first = 0; first < d; first += STRIPE) {
        size_t n = d - first < STRIPE ? d - first : STRIPE;
        for (size_t j = 0; j < K; j++)
            for (size_t i = 0; i < n; i++) taps[j * n + i] = w[(first + i) * K + j];
        c->kernels->short_conv(y + first, y_stride, x + first, x_stride, taps, K, T, n);
    }
}
