/* What matmul.c shares with the optional engine matmul_dnnl.c. */
#ifndef LG_KERNELS_MATMUL_INTERNAL_H
#define LG_KERNELS_MATMUL_INTERNAL_H

#include "kernels/matmul.h"

#define LG_MAX_BLOCK 64 /* columns of a block at most */

/* Packed, element (k, n) of W^T lies in column block n / n_block, and there at row k / pair, column n %
   n_block, place k % pair: blocks of [block_rows, n_block, pair]. pair is 2 for bf16, 1 for f32. */
struct lg_weight {
    const lg_compute *compute;
    size_t n_out, n_in;
    size_t n_block;    /* columns of a block; 0: no blocks, the rows [n_out, n_in] as in the file */
    size_t block_rows; /* when pair is 1; half as many pairs */
    bool stored_bf16;  /* what is packed now; also in f32 when it came as bf16, which halves the traffic */
    void *data;
    struct lg_dnnl_product *product; /* NULL: matmul.c multiplies */
};

/* ---- matmul_dnnl.c ---- */

/* Chooses a layout for WEIGHT and fills n_block, block_rows and product; BYTES: what data needs. */
lg_status lg_dnnl_product_create(lg_weight *weight, size_t *bytes, lg_error *error);
void lg_dnnl_product_free(struct lg_dnnl_product *product);
size_t lg_dnnl_scratch(const lg_weight *weight);
/* All LG_TILE rows, whatever they hold. */
lg_status lg_dnnl_tile(const lg_weight *weight, const void *x, float *y, size_t ldy, void *scratch,
                       lg_error *error);

#endif
