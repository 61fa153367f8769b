/* The arithmetic context: which instruction set, which precision, how many threads. No globals: everything
   that computes is handed one. */
#ifndef LG_KERNELS_COMPUTE_H
#define LG_KERNELS_COMPUTE_H

#include "lossgap/score.h"

/* Elementwise and small-matrix kernels, filled with reference C first and overridden per instruction set. */
typedef struct lg_kernels lg_kernels;
typedef struct lg_block lg_block;

typedef enum lg_isa {
    LG_ISA_BEST = -1,
    LG_ISA_C,
    LG_ISA_AVX2,
    LG_ISA_AVX512,
    LG_ISA_AVX512_BF16,
    LG_ISA_ONEDNN, /* the best, but oneDNN multiplies with weights: what CPUs with AMX get in bf16, here for
                      tests */
} lg_isa;

/* Immutable once created. */
typedef struct lg_compute {
    const lg_kernels *kernels;
    const lg_block *block;  /* register-blocked products */
    lg_precision precision; /* of products: F32 or BF16 (operands rounded to bf16, sums in f32); never AUTO */
    bool native_bf16;       /* bf16 products in hardware; otherwise rounded operands in f32 products */
    unsigned threads;
    struct lg_matmul_engine *matmul; /* oneDNN; NULL: the products of block multiply */
} lg_compute;

/* THREADS 0: all processors. ISA: LG_ISA_BEST, or one to force, which is LG_USAGE where the CPU lacks it.
   bf16 products are native when the CPU has them and they are faster than f32 ones there (some have them at
   half the rate), or when LG_ISA_AVX512_BF16 is forced. */
lg_status lg_compute_create(lg_precision precision, unsigned threads, lg_isa isa, lg_compute **compute,
                            lg_error *error);
void lg_compute_free(lg_compute *compute); /* after every weight made with it */
bool lg_cpu_has_bf16(void);                /* bf16 products, at whatever speed */
bool lg_cpu_has(lg_isa isa);
const char *lg_isa_best_name(void); /* of the kernels that LG_ISA_BEST means here */
/* Bytes of an operand of products: 2 for native bf16, else 4. */
size_t lg_operand_size(const lg_compute *compute);

#endif
