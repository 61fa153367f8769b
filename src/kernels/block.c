/* Picks the block kernels. */
#include "kernels/block_tables.h"

#include <stddef.h>

const lg_block *lg_block_for(lg_isa isa) {
#if defined(__x86_64__)
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    const bool bf16 = avx512 && __builtin_cpu_supports("avx512bf16");
#endif
    switch (isa) {
    case LG_ISA_C:
        return &lg_block_c;
#if defined(__x86_64__)
    case LG_ISA_AVX2:
        return avx2 ? &lg_block_avx2 : NULL;
    case LG_ISA_AVX512:
        return avx512 ? &lg_block_avx512 : NULL;
    case LG_ISA_AVX512_BF16:
        return bf16 ? &lg_block_avx512bf16 : NULL;
    default:
        return bf16 ? &lg_block_avx512bf16 : avx512 ? &lg_block_avx512 : avx2 ? &lg_block_avx2 : &lg_block_c;
#else
    case LG_ISA_BEST:
        return &lg_block_c;
    default:
        return NULL;
#endif
    }
}
