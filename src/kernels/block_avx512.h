/* Vectors of AVX-512 for block_template.h. */
#include <immintrin.h>

#define LANES   16
#define ROWS    6
#define VECTORS 4

typedef float v_float __attribute__((vector_size(64)));
typedef int32_t v_int __attribute__((vector_size(64)));
typedef uint32_t v_word __attribute__((vector_size(64)));

static inline v_float v_set1(float x) {
    return _mm512_set1_ps(x);
}

static inline v_float v_fma(v_float a, v_float b, v_float c) {
    return _mm512_fmadd_ps(a, b, c);
}

static inline v_float v_max(v_float a, v_float b) {
    return _mm512_max_ps(a, b);
}

static inline float v_largest(v_float v) {
    return _mm512_reduce_max_ps(v);
}

/* Pairs of lanes, then of pairs inside quarters; then the quarters themselves. */
static inline void v_transpose(v_float *block) {
    __m512 t[16];
    for (int i = 0; i < 16; i += 4) {
        const __m512 a = _mm512_unpacklo_ps(block[i], block[i + 1]),
                     b = _mm512_unpackhi_ps(block[i], block[i + 1]);
        const __m512 c = _mm512_unpacklo_ps(block[i + 2], block[i + 3]);
        const __m512 d = _mm512_unpackhi_ps(block[i + 2], block[i + 3]);
        t[i] = _mm512_shuffle_ps(a, c, 0x44);
        t[i + 1] = _mm512_shuffle_ps(a, c, 0xee);
        t[i + 2] = _mm512_shuffle_ps(b, d, 0x44);
        t[i + 3] = _mm512_shuffle_ps(b, d, 0xee);
    }
    for (int i = 0; i < 4; i++) {
        const __m512 a = _mm512_shuffle_f32x4(t[i], t[i + 4], 0x88),
                     b = _mm512_shuffle_f32x4(t[i], t[i + 4], 0xdd);
        const __m512 c = _mm512_shuffle_f32x4(t[i + 8], t[i + 12], 0x88);
        const __m512 d = _mm512_shuffle_f32x4(t[i + 8], t[i + 12], 0xdd);
        block[i] = _mm512_shuffle_f32x4(a, c, 0x88);
        block[i + 4] = _mm512_shuffle_f32x4(b, d, 0x88);
        block[i + 8] = _mm512_shuffle_f32x4(a, c, 0xdd);
        block[i + 12] = _mm512_shuffle_f32x4(b, d, 0xdd);
    }
}
