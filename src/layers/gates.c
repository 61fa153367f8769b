/* What surrounds the gated delta rule: L2 norm of queries and keys, decay and write strength, gated output
 * norm. */
#include "layers/layers.h"

#include <math.h>

#include "kernels/kernels.h"

/* x / sqrt(sum x^2 + 1e-6): a sum, not a mean. */
void lg_l2norm(const lg_compute *c, float *x, size_t stride, size_t T, size_t n_heads, size_t head_dim) {
    for (size_t t = 0; t < T; t++)
        for (size_t h = 0; h < n_heads; h++) {
            float *head = x + t * stride + h * head_dim;
            c->kernels->scale(head, head, 1 / sqrtf(c->kernels->sum_squares(head, head_dim) + 1e-6f),
                              head_dim);
        }
}

/* In double: these few values compound through the whole recurrence. No exponent is positive. */
static double sigmoid(double x) {
    double t = exp(-fabs(x));
    return (x < 0 ? t : 1) / (1 + t);
}

static double softplus(double x) {
    return fmax(x, 0) + log1p(exp(-fabs(x)));
}

/* beta = sigmoid(b) (2 if doubled), g = -exp(a_log) softplus(a + dt_bias). */
void lg_delta_gates(const lg_compute *c, float *a_to_g, float *b_to_beta, const float *a_log,
                    const float *dt_bias, bool doubled, size_t T, size_t n_heads, size_t stride) {
    (void)c;
    for (size_t t = 0; t < T; t++, a_to_g += stride, b_to_beta += stride)
        for (size_t h = 0; h < n_heads; h++) {
            double a = (double)a_to_g[h] + dt_bias[h];
            a_to_g[h] = (float)(-exp(a_log[h]) * softplus(a));
            b_to_beta[h] = (float)(sigmoid(b_to_beta[h]) * (doubled ? 2 : 1));
        }
}

/* y = w o / sqrt(mean(o^2) + eps) silu(z): norm before gate, w shared by all heads. */
void lg_gated_norm(const lg_compute *c, float *y, const float *o, size_t o_stride, const float *z,
                   size_t z_stride, const float *w, float eps, size_t T, size_t n_heads, size_t dv,
                   size_t y_stride) {
    for (size_t t = 0; t < T; t++)
        for (size_t h = 0; h < n_heads; h++) {
            const float *head = o + t * o_stride + h * dv;
            float r = 1 / sqrtf(c->kernels->sum_squares(head, dv) / (float)dv + eps);
            c->kernels->norm_gate(y + t * y_stride + h * dv, head, w, z + t * z_stride + h * dv, r, dv);
        }
}
