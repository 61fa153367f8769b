/* Block kernels for AVX2 with FMA. */
#include "kernels/block_tables.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define BLOCK_TABLE lg_block_avx2
#define LANES       8
#define ROWS        6
#define VECTORS     2

typedef float v_float __attribute__((vector_size(32)));
typedef int32_t v_int __attribute__((vector_size(32)));
typedef uint32_t v_word __attribute__((vector_size(32)));

static inline v_float v_set1(float x) {
    return _mm256_set1_ps(x);
}

static inline v_float v_fma(v_float a, v_float b, v_float c) {
    return _mm256_fmadd_ps(a, b, c);
}

static inline v_float v_max(v_float a, v_float b) {
    return _mm256_max_ps(a, b);
}

static inline float v_largest(v_float v) {
    __m128 x = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    x = _mm_max_ps(x, _mm_movehl_ps(x, x));
    return _mm_cvtss_f32(_mm_max_ss(x, _mm_movehdup_ps(x)));
}

/* Pairs of lanes, then of pairs, then of halves. */
static inline void v_transpose(v_float *block) {
    __m256 t[8];
    for (int i = 0; i < 8; i += 4) {
        const __m256 a = _mm256_unpacklo_ps(block[i], block[i + 1]),
                     b = _mm256_unpackhi_ps(block[i], block[i + 1]);
        const __m256 c = _mm256_unpacklo_ps(block[i + 2], block[i + 3]);
        const __m256 d = _mm256_unpackhi_ps(block[i + 2], block[i + 3]);
        t[i] = _mm256_shuffle_ps(a, c, 0x44);
        t[i + 1] = _mm256_shuffle_ps(a, c, 0xee);
        t[i + 2] = _mm256_shuffle_ps(b, d, 0x44);
        t[i + 3] = _mm256_shuffle_ps(b, d, 0xee);
    }
    for (int i = 0; i < 4; i++) {
        block[i] = _mm256_permute2f128_ps(t[i], t[i + 4], 0x20);
        block[i + 4] = _mm256_permute2f128_ps(t[i], t[i + 4], 0x31);
    }
}

#include "kernels/block_template.h"
#endif
