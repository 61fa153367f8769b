/* Products with weights. Packing turns W [n_out, n_in] into blocks of columns of W^T, bf16 wherever nothing
   is lost by it. A tile goes through a chunk of channels at a time: a block's chunk, widened first if it must
   be, stays in the second cache while the register-blocked products of block.h run down the rows. Each sum is
   one chain in index order. */
#include "kernels/matmul_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "kernels/block.h"
#include "kernels/kernels.h"

enum { PIECE = 256, CHUNK = 512 }; /* channels packed, channels multiplied at a time; even */

static size_t round_up(size_t n, size_t unit) {
    return (n + unit - 1) / unit * unit;
}

lg_status lg_weight_create(lg_compute *compute, size_t n_out, size_t n_in, lg_weight **weight,
                           lg_error *error) {
    *weight = NULL;
    size_t bytes;
    if (n_out == 0 || n_in == 0 || n_out > INT32_MAX || n_in > INT32_MAX)
        return lg_fail(error, LG_BAD_INPUT, "a weight of %zu x %zu cannot be multiplied", n_out, n_in);
    lg_status status = LG_OK;
    lg_weight *w = calloc(1, sizeof *w);
    if (!w) return lg_fail_memory(error);
    w->compute = compute;
    w->n_out = n_out;
    w->n_in = n_in;
    w->stored_bf16 = compute->native_bf16;
    if (compute->matmul) {
        status = lg_dnnl_product_create(w, &bytes, error);
        if (status) goto done;
    } else {
        w->n_block = compute->block->columns;
        w->block_rows = round_up(n_in, 2);
        bytes =
            round_up(n_out, w->n_block) * w->block_rows * (compute->precision == LG_PRECISION_BF16 ? 2 : 4);
    }
    w->data = lg_alloc_aligned(bytes, 1);
    if (!w->data) {
        status = lg_fail_memory(error);
        goto done;
    }
    *weight = w;
    w = NULL;
done:
    lg_weight_free(w);
    return status;
}

void lg_weight_free(lg_weight *weight) {
    if (!weight) return;
    lg_dnnl_product_free(weight->product);
    free(weight->data);
    free(weight);
}

void lg_to_operand(const lg_compute *compute, const float *x, void *operand, size_t n) {
    if (compute->native_bf16) compute->kernels->to_bf16(operand, x, n);
    else if (compute->precision == LG_PRECISION_BF16) compute->kernels->round_to_bf16(operand, x, n);
    else memcpy(operand, x, n * sizeof *x);
}

/* ---- packing ---- */

/* Bytes of a weight in a file; 0: no weight. */
static size_t element_size(lg_dtype dtype) {
    return dtype == LG_F32 ? 4 : dtype == LG_BF16 || dtype == LG_F16 ? 2 : 0;
}

/* N <= PIECE values of a tensor, at any address, to bf16 or else to f32 (rounded to bf16 if that is the
 * precision). */
static void convert(const lg_compute *compute, lg_dtype dtype, const unsigned char *source, bool bf16,
                    void *y, size_t n) {
    const lg_kernels *k = compute->kernels;
    float room[PIECE];
    if (bf16 && dtype == LG_BF16) {
        memcpy(y, source, 2 * n);
        return;
    }
    float *values = bf16 ? room : y;
    if (dtype == LG_BF16) k->from_bf16(values, source, n);
    else if (dtype == LG_F16) k->from_f16(values, source, n);
    else memcpy(values, source, 4 * n);
    if (bf16) k->to_bf16(y, values, n);
    else if (compute->precision == LG_PRECISION_BF16 && dtype != LG_BF16) k->round_to_bf16(values, values, n);
}

/* One block of columns from ROWS rows of the tensor. A piece of channels of each goes through a buffer in the
   first cache, converted, and is transposed from there in words of 4 bytes: one f32, or two bf16. */
static void pack_block(const lg_weight *weight, lg_dtype dtype, const unsigned char *source, size_t rows,
                       unsigned char *block) {
    _Alignas(64) uint32_t buffer[LG_MAX_BLOCK * PIECE];
    size_t element = element_size(dtype), n_in = weight->n_in, n_block = weight->n_block;
    size_t pair = weight->stored_bf16 ? 2 : 1, size = 4 / pair, words = PIECE / pair;
    memset(buffer, 0, sizeof buffer);
    for (size_t k = 0; k < n_in; k += PIECE) {
        size_t n = n_in - k < PIECE ? n_in - k : PIECE;
        if (n < PIECE) memset(buffer, 0, sizeof buffer);
        for (size_t r = 0; r < rows; r++)
            convert(weight->compute, dtype, source + (r * n_in + k) * element, weight->stored_bf16,
                    buffer + r * words, n);
        weight->compute->block->transpose(n_block, (n + pair - 1) / pair, buffer, words,
                                          block + k * n_block * size, n_block);
    }
    size_t filled = round_up(n_in, pair);
    memset(block + filled * n_block * size, 0, (weight->block_rows - filled) * n_block * size);
}

lg_status lg_weight_load(lg_weight *weight, const lg_tensor *tensor, size_t row, size_t n_rows,
                         lg_error *error) {
    const lg_compute *compute = weight->compute;
    size_t n_in = weight->n_in, n_out = weight->n_out, element = element_size(tensor->dtype);
    if (element == 0)
        return lg_fail(error, LG_BAD_INPUT, "tensor %s holds no weights: they must be F32, BF16 or F16",
                       tensor->name);
    if (n_rows > n_out || tensor->count % n_in || tensor->count / n_in < n_rows ||
        row > tensor->count / n_in - n_rows)
        return lg_fail(error, LG_BAD_INPUT, "tensor %s has no %zu rows of %zu from row %zu on", tensor->name,
                       n_rows, n_in, row);
    const unsigned char *source = (const unsigned char *)tensor->data + row * n_in * element;
    unsigned char *data = weight->data;
    if (!weight->product)
        weight->stored_bf16 = compute->precision == LG_PRECISION_BF16 || tensor->dtype == LG_BF16;
    size_t size = weight->stored_bf16 ? 2 : 4;
    if (weight->n_block) {
        size_t n_block = weight->n_block, block_bytes = weight->block_rows * n_block * size;
        size_t blocks = round_up(n_out, n_block) / n_block;
#pragma omp parallel for num_threads(compute->threads) schedule(dynamic)
        for (size_t b = 0; b < blocks; b++) {
            size_t first = b * n_block, rows = first < n_rows ? n_rows - first : 0;
            pack_block(weight, tensor->dtype, rows ? source + first * n_in * element : NULL,
                       rows < n_block ? rows : n_block, data + b * block_bytes);
        }
        return LG_OK;
    }
#pragma omp parallel for num_threads(compute->threads) schedule(static)
    for (size_t r = 0; r < n_out; r++) {
        if (r >= n_rows) memset(data + r * n_in * size, 0, n_in * size);
        for (size_t k = 0; r < n_rows && k < n_in; k += PIECE)
            convert(compute, tensor->dtype, source + (r * n_in + k) * element, weight->stored_bf16,
                    data + (r * n_in + k) * size, n_in - k < PIECE ? n_in - k : PIECE);
    }
    return LG_OK;
}

/* ---- multiplying ---- */

/* A thread's room for one tile. */
typedef struct scratch_room {
    float wide[CHUNK * LG_MAX_BLOCK];   /* a block's chunk as f32 */
    float last[LG_TILE * LG_MAX_BLOCK]; /* results of the last block, which may be wider than y */
    uint16_t operand[LG_TILE * CHUNK];  /* a chunk of bf16 operands whose rows are of odd length */
} scratch_room;

size_t lg_weight_scratch(const lg_weight *weight) {
    return weight->product ? lg_dnnl_scratch(weight) : sizeof(scratch_room);
}

/* Channels k … k + n - 1 of bf16 rows of odd length, which cannot be read in words, in rows of CHUNK, an odd
   end completed by 0. */
static void copy_operands(uint16_t *y, const uint16_t *x, size_t rows, size_t stride, size_t k, size_t n) {
    for (size_t t = 0; t < rows; t++) {
        memcpy(y + t * CHUNK, x + t * stride + k, 2 * n);
        if (n % 2) y[t * CHUNK + n] = 0;
    }
}

/* Rows to multiply next: as many as go at a time, but no sliver at the end, which would wait on its own sums.
 */
static size_t next_height(size_t left, size_t most) {
    return left <= most ? left : left < 2 * most ? (left + 1) / 2 : most;
}

static void multiply(const lg_weight *weight, const void *x, size_t rows, float *y, size_t ldy,
                     scratch_room *room) {
    static const float ones[LG_BLOCK_MAX_ROWS] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    const lg_block *block = weight->compute->block;
    const bool native = weight->compute->native_bf16, widen = weight->stored_bf16 && !native;
    const size_t n_in = weight->n_in, n_out = weight->n_out, n_block = weight->n_block;
    const size_t pair = weight->stored_bf16 ? 2 : 1, per_word = native ? 2 : 1;
    const uint32_t *data = weight->data;
    lg_block_product *product = native ? block->product_bf16 : block->product;
    size_t last =
        n_out % block->lanes ? n_out / n_block * n_block : n_out; /* results from here on go to room->last */
    for (size_t k = 0; k < n_in; k += CHUNK) {
        size_t depth = n_in - k < CHUNK ? n_in - k : CHUNK, words = (depth + per_word - 1) / per_word;
        const uint32_t *a = (const uint32_t *)x + k / per_word;
        size_t lda = n_in / per_word;
        if (n_in % per_word) {
            copy_operands(room->operand, x, rows, n_in, k, depth);
            a = (const uint32_t *)room->operand;
            lda = CHUNK / per_word;
        }
        for (size_t n = 0; n < n_out; n += n_block) {
            const uint32_t *packed = data + (n * weight->block_rows + k * n_block) / pair;
            const char *next =
                (const char *)(packed + weight->block_rows * n_block / pair); /* block, same channels */
            if (n + n_block >= n_out) next = (const char *)(data + (k + CHUNK) * n_block / pair);
            const char *end =
                next + (n + n_block < n_out || k + CHUNK < n_in ? depth * n_block * 4 / pair : 0);
            const size_t ahead =
                round_up(depth * n_block * 4 / pair / ((rows + block->rows - 1) / block->rows), 64);
            const void *b = packed;
            if (widen) {
                weight->compute->kernels->widen_pairs(room->wide, packed, (depth + 1) / 2, n_block);
                b = room->wide;
            }
            size_t width = round_up(n_out - n < n_block ? n_out - n : n_block, block->lanes);
            float *c = n < last ? y + n : room->last;
            size_t ldc = n < last ? ldy : n_block;
            for (size_t t = 0, height; t < rows; t += height) {
                for (const char *stop = end - next < (ptrdiff_t)ahead ? end : next + ahead; next < stop;
                     next += 64)
                    __builtin_prefetch(next, 0, 2);
                height = next_height(rows - t, block->rows);
                product(height, width, words, a + t * lda, lda, b, n_block, c + t * ldc, ldc,
                        k ? ones : NULL);
            }
        }
    }
    for (size_t t = 0; last < n_out && t < rows; t++)
        memcpy(y + t * ldy + last, room->last + t * n_block, (n_out - last) * sizeof *y);
}

lg_status lg_linear_tile(const lg_weight *weight, const void *x, size_t rows, float *y, size_t ldy,
                         void *scratch, lg_error *error) {
    if (weight->product) return lg_dnnl_tile(weight, x, y, ldy, scratch, error);
    multiply(weight, x, rows, y, ldy, scratch);
    return LG_OK;
}
