/* Small-matrix kernels inside attention and the delta rule: register-blocked products, softmax of a block,
   decays. Everything is row-major; "words" are 32 bits, one f32 or two neighbouring bf16 (the first in the
   low half). Each element of a product is one chain of fused multiply-adds in index order (unfused in the C
   version), whatever the tile's shape: an element has the same bits in a tile cut short by the end of a row
   and in a full one. */
#ifndef LG_KERNELS_BLOCK_H
#define LG_KERNELS_BLOCK_H

#include "kernels/compute.h"

#define LG_BLOCK_MAX_ROWS 16

/* What attention knows of the tile whose scores become probabilities. */
typedef struct lg_softmax_tile {
    ptrdiff_t row; /* the tile's first query minus the block's first key, by position */
    size_t window; /* a query sees this many keys, its own the last */
    float factor;  /* > 0; probabilities are 2^(factor * score - max) */
    bool round;    /* probabilities are rounded to bf16 values */
} lg_softmax_tile;

typedef void lg_block_product(size_t m, size_t n, size_t k, const void *a, size_t lda, const void *b,
                              size_t ldb, float *c, size_t ldc, const float *scale);
typedef void lg_block_softmax(size_t m, size_t n, const lg_softmax_tile *tile, float *s, size_t lds,
                              float *max, float *sum, float *rescale);

struct lg_block {
    size_t rows;    /* of a tile at most */
    size_t columns; /* of a tile at most: the width of packed panels */
    size_t lanes;   /* n of every call is a multiple of it */

    /* c [m, n] = a [m, k] b [k, n], plus scale[i] * c unless SCALE is NULL. 1 <= m <= rows, 0 < n <= columns.
       Strides in words. */
    lg_block_product *product;
    /* The same with bf16 operands, K counts words (pairs): b holds [k, n] pairs of rows. NULL: not here. */
    lg_block_product *product_bf16;
    /* Rows ROW … ROW + m - 1 of the forward substitution x_i = x_i + sum_{j < i} a_ij x_j, in place in x [.,
       n]; the rows before are done. a [., row + m] strictly lower triangular. */
    void (*substitute)(size_t m, size_t n, size_t row, const float *a, size_t lda, float *x, size_t ldx);

    /* One step of the online softmax of m rows of scores s [m, n]: probabilities replace the scores (keys
       that a row does not see get 0), as f32 or, in softmax_bf16, as bf16 at the row's start. max [m] and sum
       [m, lanes] are the running maximum (in units of the exponent) and lane sums, rescale [m] what earlier
       sums and outputs were multiplied by. Only columns from the first row's first key to the last row's last
       key are read and written. */
    lg_block_softmax *softmax, *softmax_bf16;

    /* y[j] = x[j] / (the sum of sum's lanes), never -0. */
    void (*average)(size_t n, const float *x, const float *sum, float *y);

    /* y[j] = x[j] * factor (* by[j] unless BY is NULL), never -0. y may be x. */
    void (*multiply)(size_t n, const float *x, float factor, const float *by, float *y);
    /* y[j] = exp((hi - his[j]) + (lo - los[j])) for j < n, exponents <= 0. All arrays have n rounded up to
       lanes; there y becomes 0. */
    void (*decay)(size_t n, float hi, float lo, const float *his, const float *los, float *y);

    /* Packing. y [columns, rows] = x [rows, columns] transposed, words of any kind. */
    void (*transpose)(size_t rows, size_t columns, const void *x, size_t ldx, void *y, size_t ldy);
    /* y[i] = x[i] rounded to bf16: as f32 values; as bf16; as bf16 pairs of two rows (x1 NULL: zeros), word i
       of x0[i] and x1[i]. */
    void (*round)(size_t n, const float *x, float *y);
    void (*round_bf16)(size_t n, const float *x, uint16_t *y);
    void (*round_pairs)(size_t n, const float *x0, const float *x1, uint32_t *y);
};

/* The kernels of ISA, NULL when this processor or build lacks it; never for LG_ISA_BEST and LG_ISA_C. BEST
   has bf16 products where they are faster than f32 ones. */
const lg_block *lg_block_for(lg_isa isa);

#endif
