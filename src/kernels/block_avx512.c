/* Block kernels for AVX-512. */
#include "kernels/block_tables.h"

#if defined(__x86_64__)
#include "kernels/block_avx512.h"

#define BLOCK_TABLE lg_block_avx512

#include "kernels/block_template.h"
#endif
