/* Products with weights: y = x W^T in tiles of up to LG_TILE rows, each computed by one thread. A row's
   result has the same bits whatever stands beside it and whatever the tile's length. */
#ifndef LG_KERNELS_MATMUL_H
#define LG_KERNELS_MATMUL_H

#include "kernels/compute.h"

#define LG_TILE 128

/* A weight matrix [n_out, n_in] unpacked for products: room that is filled once per batch and reused. */
typedef struct lg_weight lg_weight;

/* The compute context must outlive the weight. */
lg_status lg_weight_create(lg_compute *compute, size_t n_out, size_t n_in, lg_weight **weight,
                           lg_error *error);
void lg_weight_free(lg_weight *weight);
/* Fills it from rows ROW … of TENSOR [>= row + n_rows, n_in] (F32, BF16 or F16, any alignment); N_ROWS may be
   fewer than n_out, the rest becomes zero. Uses the context's threads; call it outside parallel regions. */
lg_status lg_weight_load(lg_weight *weight, const lg_tensor *tensor, size_t row, size_t n_rows,
                         lg_error *error);

/* y [rows, ldy >= n_out] f32 = x [rows, n_in] (operands: lg_to_operand) times the weight transposed, 0 < rows
   <= LG_TILE; n_out floats of each row are written. With oneDNN all LG_TILE rows of x and y are read and
   written, so there must be room for them, and what the rows past ROWS hold means nothing. Called inside a
   parallel region, one tile a thread. SCRATCH: lg_weight_scratch bytes, 64-byte aligned, of this thread. */
lg_status lg_linear_tile(const lg_weight *weight, const void *x, size_t rows, float *y, size_t ldy,
                         void *scratch, lg_error *error);
size_t lg_weight_scratch(const lg_weight *weight); /* may be 0 */

/* Rounds N floats to operands of products. */
void lg_to_operand(const lg_compute *compute, const float *x, void *operand, size_t n);

/* The context's own. */
lg_status lg_matmul_engine_create(struct lg_matmul_engine **engine, lg_error *error);
void lg_matmul_engine_free(struct lg_matmul_engine *engine);
bool lg_matmul_has_bf16_tiles(void); /* oneDNN multiplies bf16 in AMX tiles on this CPU */

#endif
