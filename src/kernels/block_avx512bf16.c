/* Block kernels for AVX-512 with products of bf16 pairs. */
#include "kernels/block_tables.h"

#if defined(__x86_64__)
#include "kernels/block_avx512.h"

#include <string.h>

#define BLOCK_TABLE lg_block_avx512bf16
#define HAVE_BF16

static inline v_float v_dot(v_float a, v_float b, v_float c) {
    return _mm512_dpbf16_ps(c, (__m512bh)a, (__m512bh)b);
}

static inline void v_to_bf16(v_float x, uint16_t *y) {
    const __m256bh h = _mm512_cvtneps_pbh(x);
    memcpy(y, &h, sizeof h);
}

#include "kernels/block_template.h"
#endif
