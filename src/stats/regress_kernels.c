/* The regression kernels in plain C, and the choice among versions. */
#define NAME(x) c_##x
#include "stats/regress_kernels_template.h"

const lg_regress_kernels lg_regress_kernels_c = {"c", c_gram, c_gram_dd, c_axpy_dd};

const lg_regress_kernels *lg_regress_kernels_get(void) {
    const lg_regress_kernels *best = lg_regress_kernels_avx2();
    return best ? best : &lg_regress_kernels_c;
}
