/* SwiGLU: h = silu(gate) up, silu(x) = x / (1 + exp(-x)). */
#include "layers/layers.h"

#include "kernels/kernels.h"

void lg_swiglu(const lg_compute *c, float *h, const float *gate, const float *up, size_t n) {
    c->kernels->swiglu(h, gate, up, n);
}
