/* Embedding: x_t = E[id_t], widened to f32 exactly. */
#include "layers/layers.h"

#include <string.h>

#include "kernels/kernels.h"

void lg_embed(const lg_compute *c, const lg_tensor *embedding, const uint32_t *ids, float *x, size_t T,
              size_t d) {
    const unsigned char *rows = embedding->data;
    for (size_t t = 0; t < T; t++, x += d) {
        if (embedding->dtype == LG_F32) memcpy(x, rows + ids[t] * d * 4, d * 4);
        else if (embedding->dtype == LG_BF16) c->kernels->from_bf16(x, rows + ids[t] * d * 2, d);
        else c->kernels->from_f16(x, rows + ids[t] * d * 2, d);
    }
}
