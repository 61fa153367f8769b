/* Kernels for AVX-512. */
#include "kernels/kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define FILL_KERNELS lg_kernels_avx512
#define LANES        16

typedef float v_float __attribute__((vector_size(64)));
typedef uint32_t v_word __attribute__((vector_size(64)));
typedef uint16_t v_half __attribute__((vector_size(32)));

static inline v_float v_set1(float x) {
    return _mm512_set1_ps(x);
}

static inline v_float v_fma(v_float a, v_float b, v_float c) {
    return _mm512_fmadd_ps(a, b, c);
}

static inline v_float v_max(v_float a, v_float b) {
    return _mm512_max_ps(a, b);
}

static inline v_float v_from_f16(const void *x) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(x));
}

#include "kernels/kernels_template.h"
#endif
