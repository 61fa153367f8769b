/* Sums of products over blocks of rows: the inner loops of the normal equations. Rows are sparse: a few dense
   columns, and per term at most one column that is not zero.

   Gram matrices are packed lower triangles: entry (i, j <= i) lies at i (i + 1) / 2 + j. The C version and
   those for an instruction set give the same bits. */
#ifndef LG_STATS_REGRESS_KERNELS_H
#define LG_STATS_REGRESS_KERNELS_H

#include <stddef.h>
#include <stdint.h>

enum {
    LG_REGRESS_BLOCK = 256, /* rows that are looked at together */
    LG_REGRESS_PAD = 8,     /* doubles that may be touched (added 0 to) behind a packed triangle */
};
#define LG_REGRESS_NONE UINT32_MAX

typedef struct lg_regress_block {
    size_t rows;           /* <= LG_REGRESS_BLOCK */
    size_t n_dense, width; /* dense columns; the same rounded up to a multiple of 8 */
    double *dense;         /* [rows, width], 64-byte aligned, zero beyond n_dense */
    size_t n_terms;
    uint32_t *column; /* [rows, n_terms] column of the Gram matrix, LG_REGRESS_NONE: all zero; rising along a
                         row, and from n_dense on */
    double *value;    /* [rows, n_terms] */
} lg_regress_block;

static inline size_t lg_triangle(size_t i) {
    return i * (i + 1) / 2;
}

typedef struct lg_regress_kernels {
    const char *name;
    /* GRAM += sum over the block's rows of x x'. SCRATCH [2, width, width], aligned. */
    void (*gram)(const lg_regress_block *block, double *scratch, double *gram);
    /* The same in double-double: the sum is hi + lo, where lo may be larger than half an ulp of hi. */
    void (*gram_dd)(const lg_regress_block *block, double *scratch, double *hi, double *lo);
    /* y += a x in double-double, N values; results are normal. */
    void (*axpy_dd)(double a_hi, double a_lo, const double *x_hi, const double *x_lo, size_t n, double *y_hi,
                    double *y_lo);
} lg_regress_kernels;

/* The best set that this machine runs. */
const lg_regress_kernels *lg_regress_kernels_get(void);
extern const lg_regress_kernels lg_regress_kernels_c;
/* NULL where the machine, or the compiler's target, has no such instructions. */
const lg_regress_kernels *lg_regress_kernels_avx2(void);

#endif
