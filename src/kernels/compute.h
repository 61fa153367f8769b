/* The arithmetic context: which instruction set, which precision, how many threads. No globals: everything that
   computes is handed one. */
#ifndef LG_KERNELS_COMPUTE_H
#define LG_KERNELS_COMPUTE_H

#include "lossgap/score.h"

/* Elementwise and small-matrix kernels, filled with reference C first and overridden per instruction set. */
typedef struct lg_kernels lg_kernels;
typedef struct lg_block lg_block;

typedef struct lg_compute {
    const lg_kernels *kernels;
    const lg_block *block;  /* lg_block_for(isa): attention and the delta rule; NULL: the best here */
    lg_precision precision; /* of products: F32 or BF16 (operands rounded to bf16, sums in f32); never AUTO */
    bool native_bf16;       /* bf16 products in hardware; otherwise rounded operands in f32 products */
    unsigned threads;
    struct lg_matmul_engine *matmul; /* oneDNN engine, stream, primitives by shape */
} lg_compute;

typedef enum lg_isa { LG_ISA_BEST = -1, LG_ISA_C, LG_ISA_AVX2, LG_ISA_AVX512, LG_ISA_AVX512_BF16 } lg_isa;

lg_status lg_compute_create(lg_precision precision, unsigned threads, lg_isa isa, lg_compute **compute,
                            lg_error *error);
void lg_compute_free(lg_compute *compute);
bool lg_cpu_has_bf16(void);
/* Bytes of an operand of products: 2 for bf16, else 4. */
size_t lg_operand_size(const lg_compute *compute);

#endif
