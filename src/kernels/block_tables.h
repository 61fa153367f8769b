/* The tables of block kernels, one per instruction set. */
#ifndef LG_KERNELS_BLOCK_TABLES_H
#define LG_KERNELS_BLOCK_TABLES_H

#include "kernels/block.h"

extern const lg_block lg_block_c;
#if defined(__x86_64__)
extern const lg_block lg_block_avx2, lg_block_avx512, lg_block_avx512bf16;
#endif

#endif
