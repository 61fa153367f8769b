/* Block kernels in portable C: vectors of four, which any compiler maps to what the machine has. */
#include "kernels/block_tables.h"

#define BLOCK_TABLE lg_block_c
#define LANES       4
#define ROWS        4
#define VECTORS     2

typedef float v_float __attribute__((vector_size(16)));
typedef int32_t v_int __attribute__((vector_size(16)));
typedef uint32_t v_word __attribute__((vector_size(16)));

static inline v_float v_set1(float x) {
    return (v_float){x, x, x, x};
}

static inline v_float v_fma(v_float a, v_float b, v_float c) {
    return a * b + c;
}

static inline v_float v_max(v_float a, v_float b) {
    const v_word larger = (v_word)(a > b);
    return (v_float)((larger & (v_word)a) | (~larger & (v_word)b));
}

static inline float v_largest(v_float v) {
    float largest = v[0];
    for (int i = 1; i < LANES; i++)
        if (!(v[i] <= largest)) largest = v[i];
    return largest;
}

static inline void v_transpose(v_float *block) {
    for (int i = 0; i < LANES; i++)
        for (int j = 0; j < i; j++) {
            const float x = block[i][j];
            block[i][j] = block[j][i];
            block[j][i] = x;
        }
}

#include "kernels/block_template.h"
