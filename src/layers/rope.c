/* Rotary embedding, rotate-half: y_i = x_i cos - x_{i+h/2} sin, y_{i+h/2} = x_{i+h/2} cos + x_i sin, angle p
 * w_i. */
#include "layers/layers.h"

#include <math.h>

#include "kernels/kernels.h"

void lg_rope_table(const double *frequencies, double factor, size_t head_dim, size_t n_positions,
                   float *table) {
    size_t half = head_dim / 2;
    for (size_t p = 0; p < n_positions; p++, table += head_dim)
        for (size_t i = 0; i < half; i++) {
            double angle = (double)p * frequencies[i];
            table[i] = (float)(factor * cos(angle));
            table[half + i] = (float)(factor * sin(angle));
        }
}

void lg_rope(const lg_compute *c, float *x, size_t stride, const float *table, const uint32_t *pos, size_t T,
             size_t n_heads, size_t head_dim) {
    size_t half = head_dim / 2;
    for (size_t t = 0; t < T; t++, x += stride) {
        const float *cosine = table + pos[t] * head_dim, *sine = cosine + half;
        for (size_t h = 0; h < n_heads; h++)
            c->kernels->rotate(x + h * head_dim, x + h * head_dim + half, cosine, sine, half);
    }
}
