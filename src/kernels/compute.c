/* The arithmetic context: finds what the CPU has and fills the table of kernels. */
#include "kernels/compute.h"

#include <omp.h>
#include <stdlib.h>

#include "base/error.h"
#include "kernels/block.h"
#include "kernels/kernels.h"
#include "kernels/matmul.h"

static const char *const names[] = {"c", "avx2", "avx512", "avx512_bf16", "onednn"};

bool lg_cpu_has(lg_isa isa) {
    if (isa <= LG_ISA_C || isa == LG_ISA_ONEDNN) return true;
#if defined(__x86_64__)
    bool avx2 =
        __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
    bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    if (isa == LG_ISA_AVX2) return avx2;
    if (isa == LG_ISA_AVX512) return avx512;
    return avx512 && __builtin_cpu_supports("avx512bf16");
#else
    return false;
#endif
}

bool lg_cpu_has_bf16(void) {
    return lg_cpu_has(LG_ISA_AVX512_BF16);
}

static lg_isa best_isa(void) {
    lg_isa best = LG_ISA_AVX512_BF16;
    while (!lg_cpu_has(best)) best--;
    return best;
}

const char *lg_isa_best_name(void) {
    return names[best_isa()];
}

/* Intel's cores do bf16 products outside tiles at half the rate of f32 ones, AMD's at twice. */
static bool intel(void) {
#if defined(__x86_64__)
    return __builtin_cpu_is("intel");
#else
    return false;
#endif
}

static void fill_kernels(lg_kernels *kernels, lg_isa isa) {
    lg_kernels_c(kernels);
#if defined(__x86_64__)
    if (isa == LG_ISA_AVX2) lg_kernels_avx2(kernels);
    if (isa >= LG_ISA_AVX512) lg_kernels_avx512(kernels);
#else
    (void)isa;
#endif
}

lg_status lg_compute_create(lg_precision precision, unsigned threads, lg_isa isa, lg_compute **compute,
                            lg_error *error) {
    *compute = NULL;
    if (precision != LG_PRECISION_F32 && precision != LG_PRECISION_BF16)
        return lg_fail(error, LG_USAGE, "products need a precision: f32 or bf16");
    if (isa < LG_ISA_BEST || isa > LG_ISA_ONEDNN)
        return lg_fail(error, LG_USAGE, "there is no instruction set number %d", (int)isa);
    if (!lg_cpu_has(isa))
        return lg_fail(error, LG_USAGE,
                       "this CPU lacks the instruction set %s; leave the choice to the program", names[isa]);
    lg_isa chosen = isa == LG_ISA_BEST || isa == LG_ISA_ONEDNN ? best_isa() : isa;

    lg_status status = LG_OK;
    lg_compute *c = calloc(1, sizeof *c);
    lg_kernels *kernels = calloc(1, sizeof *kernels);
    if (!c || !kernels) {
        status = lg_fail_memory(error);
        goto done;
    }
    fill_kernels(kernels, chosen);
    kernels->isa = chosen;
    kernels->name = names[chosen];
    c->kernels = kernels;
    kernels = NULL;
    c->precision = precision;
    c->threads = threads ? threads : (unsigned)omp_get_num_procs();
    c->block = lg_block_for(chosen);
    bool bf16 = precision == LG_PRECISION_BF16 && lg_cpu_has_bf16(),
         tiles = bf16 && lg_matmul_has_bf16_tiles();
    if (isa == LG_ISA_BEST) c->native_bf16 = bf16 && (tiles || !intel());
    else c->native_bf16 = bf16 && isa >= LG_ISA_AVX512_BF16;
    if (isa == LG_ISA_ONEDNN || (isa == LG_ISA_BEST && tiles))
        status = lg_matmul_engine_create(&c->matmul, error);
    if (status) goto done;
    *compute = c;
    c = NULL;
done:
    free(kernels);
    lg_compute_free(c);
    return status;
}

void lg_compute_free(lg_compute *compute) {
    if (!compute) return;
    lg_matmul_engine_free(compute->matmul);
    free((void *)compute->kernels);
    free(compute);
}

size_t lg_operand_size(const lg_compute *compute) {
    return compute->native_bf16 ? 2 : 4;
}
