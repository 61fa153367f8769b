/* The regression kernels for AVX2 with FMA. */
#include "stats/regress_kernels.h"

#if defined(__AVX2__) && defined(__FMA__)
#define NAME(x) avx2_##x
#include "stats/regress_kernels_template.h"

static const lg_regress_kernels kernels = {"avx2", avx2_gram, avx2_gram_dd, avx2_axpy_dd};

const lg_regress_kernels *lg_regress_kernels_avx2(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &kernels : NULL;
}
#else
const lg_regress_kernels *lg_regress_kernels_avx2(void) {
    return NULL;
}
#endif
