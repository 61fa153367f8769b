/* Products with weights over oneDNN 2.6: layout chosen by oneDNN, packed here, executed tile by tile on the
   calling thread. Without an engine (LG_ISA_C) plain loops do it. */
#include "kernels/matmul.h"

#include <oneapi/dnnl/dnnl.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "kernels/kernels.h"

struct lg_matmul_engine {
    dnnl_engine_t engine;
};

/* Packed element (k, n) of W^T lies in column block n / n_block, and there at row k / pair, column n %
   n_block and place k % pair: what oneDNN calls BA<n>a<n_block>b<pair>a. Plain rows [n_out, n_in] when
   n_block is 0. */
enum { PIECE = 64, MAX_BLOCK = 64 }; /* channels packed at a time; most columns of a block */

struct lg_weight {
    const lg_compute *compute;
    size_t n_out, n_in;
    size_t n_block, pair;
    size_t block_bytes; /* of one column block */
    size_t bytes;
    void *data;
    dnnl_memory_desc_t x, layout, y, scratchpad;
    size_t scratchpad_bytes; /* rounded up to 64 */
    dnnl_memory_t memory;    /* over data */
    dnnl_primitive_t product;
};

static lg_status fail_dnnl(lg_error *error, const char *what, dnnl_status_t status) {
    if (status == dnnl_out_of_memory) return lg_fail_memory(error);
    return lg_fail(error, LG_FAILED, "oneDNN cannot %s (status %d)", what, (int)status);
}

lg_status lg_matmul_engine_create(struct lg_matmul_engine **engine, lg_error *error) {
    *engine = NULL;
    struct lg_matmul_engine *e = calloc(1, sizeof *e);
    if (!e) return lg_fail_memory(error);
    dnnl_status_t status = dnnl_engine_create(&e->engine, dnnl_cpu, 0);
    if (status != dnnl_success) {
        free(e);
        return fail_dnnl(error, "start", status);
    }
    *engine = e;
    return LG_OK;
}

void lg_matmul_engine_free(struct lg_matmul_engine *engine) {
    if (!engine) return;
    dnnl_engine_destroy(engine->engine);
    free(engine);
}

bool lg_matmul_has_bf16_tiles(void) {
    return (dnnl_get_effective_cpu_isa() & dnnl_cpu_isa_avx512_core_amx) == dnnl_cpu_isa_avx512_core_amx;
}

/* oneDNN splits the work, and perhaps a row's sum, by the number of threads that it finds when a primitive is
   created: always one, as tiles are executed. (The number that is set here belongs to the calling thread
   only.) */
static dnnl_status_t create_product(lg_weight *weight, const dnnl_memory_desc_t *layout) {
    dnnl_engine_t engine = weight->compute->matmul->engine;
    dnnl_data_type_t type = weight->compute->native_bf16 ? dnnl_bf16 : dnnl_f32;
    dnnl_dims_t x_dims = {LG_TILE, (dnnl_dim_t)weight->n_in}, y_dims = {LG_TILE, (dnnl_dim_t)weight->n_out};
    dnnl_matmul_desc_t operation;
    dnnl_primitive_desc_t descriptor = NULL;
    dnnl_primitive_attr_t attributes = NULL;
    int threads = omp_get_max_threads();
    omp_set_num_threads(1);
    dnnl_status_t status = dnnl_primitive_attr_create(&attributes);
    if (!status) status = dnnl_primitive_attr_set_scratchpad_mode(attributes, dnnl_scratchpad_mode_user);
    if (!status) status = dnnl_primitive_attr_set_fpmath_mode(attributes, dnnl_fpmath_mode_strict);
    if (!status) status = dnnl_memory_desc_init_by_tag(&weight->x, 2, x_dims, type, dnnl_ab);
    if (!status) status = dnnl_memory_desc_init_by_tag(&weight->y, 2, y_dims, dnnl_f32, dnnl_ab);
    if (!status) status = dnnl_matmul_desc_init(&operation, &weight->x, layout, NULL, &weight->y);
    if (!status) status = dnnl_primitive_desc_create(&descriptor, &operation, attributes, engine, NULL);
    if (!status) {
        weight->layout = *dnnl_primitive_desc_query_md(descriptor, dnnl_query_weights_md, 0);
        weight->scratchpad = *dnnl_primitive_desc_query_md(descriptor, dnnl_query_scratchpad_md, 0);
        weight->scratchpad_bytes = (dnnl_memory_desc_get_size(&weight->scratchpad) + 63) / 64 * 64;
        status = dnnl_primitive_create(&weight->product, descriptor);
    }
    if (descriptor) dnnl_primitive_desc_destroy(descriptor);
    if (attributes) dnnl_primitive_attr_destroy(attributes);
    omp_set_num_threads(threads);
    return status;
}

/* True if LAYOUT is the one described at lg_weight, which lg_weight_load knows how to fill. */
static bool read_layout(lg_weight *weight, const dnnl_memory_desc_t *layout) {
    const dnnl_blocking_desc_t *b = &layout->format_desc.blocking;
    if (layout->format_kind != dnnl_blocked || layout->extra.flags != dnnl_memory_extra_flag_none)
        return false;
    if (layout->offset0 != 0 || b->inner_nblks < 2 || b->inner_nblks > 3) return false;
    if (b->inner_idxs[0] != 0 || b->inner_idxs[1] != 1 || (b->inner_nblks == 3 && b->inner_idxs[2] != 0))
        return false;
    size_t pair = b->inner_nblks == 3 ? (size_t)b->inner_blks[2] : 1;
    if (pair != 4 / lg_operand_size(weight->compute)) return false;
    size_t rows = (size_t)layout->padded_dims[0], n_block = (size_t)b->inner_blks[1];
    if ((size_t)b->strides[0] != (size_t)b->inner_blks[0] * n_block * pair) return false;
    if ((size_t)b->strides[1] != rows * n_block) return false;
    if (n_block > MAX_BLOCK || PIECE % pair) return false;
    weight->n_block = n_block;
    weight->pair = pair;
    weight->block_bytes = rows * n_block * lg_operand_size(weight->compute);
    return true;
}

/* The product with oneDNN's favourite layout, or, if that is one that we cannot fill, with rows as in the
 * file. */
static dnnl_status_t choose_product(lg_weight *weight) {
    dnnl_data_type_t type = weight->compute->native_bf16 ? dnnl_bf16 : dnnl_f32;
    dnnl_dims_t dims = {(dnnl_dim_t)weight->n_in, (dnnl_dim_t)weight->n_out};
    dnnl_memory_desc_t layout;
    dnnl_status_t status = dnnl_memory_desc_init_by_tag(&layout, 2, dims, type, dnnl_format_tag_any);
    if (!status) status = create_product(weight, &layout);
    if (!status && !read_layout(weight, &weight->layout)) {
        dnnl_primitive_destroy(weight->product);
        weight->product = NULL;
        status = dnnl_memory_desc_init_by_tag(&layout, 2, dims, type, dnnl_ba);
        if (!status) status = create_product(weight, &layout);
    }
    if (!status) weight->bytes = dnnl_memory_desc_get_size(&weight->layout);
    return status;
}

lg_status lg_weight_create(lg_compute *compute, size_t n_out, size_t n_in, lg_weight **weight,
                           lg_error *error) {
    *weight = NULL;
    size_t bytes;
    if (n_out == 0 || n_in == 0 || n_out > INT32_MAX || n_in > INT32_MAX ||
        !lg_multiply(n_out, n_in, &bytes) || !lg_multiply(bytes, 4, &bytes))
        return lg_fail(error, LG_BAD_INPUT, "a weight of %zu x %zu cannot be multiplied", n_out, n_in);
    lg_status status = LG_OK;
    dnnl_status_t dnnl = dnnl_success;
    lg_weight *w = calloc(1, sizeof *w);
    if (!w) return lg_fail_memory(error);
    w->compute = compute;
    w->n_out = n_out;
    w->n_in = n_in;
    w->bytes = bytes;
    if (compute->matmul) dnnl = choose_product(w);
    if (dnnl) {
        status = fail_dnnl(error, "multiply by a weight", dnnl);
        goto done;
    }
    w->data = lg_alloc_aligned(w->bytes, 1);
    if (!w->data) {
        status = lg_fail_memory(error);
        goto done;
    }
    if (compute->matmul) {
        dnnl = dnnl_memory_create(&w->memory, &w->layout, compute->matmul->engine, w->data);
        if (dnnl) {
            status = fail_dnnl(error, "hold a weight", dnnl);
            goto done;
        }
    }
    *weight = w;
    w = NULL;
done:
    lg_weight_free(w);
    return status;
}

void lg_weight_free(lg_weight *weight) {
    if (!weight) return;
    if (weight->product) dnnl_primitive_destroy(weight->product);
    if (weight->memory) dnnl_memory_destroy(weight->memory);
    free(weight->data);
    free(weight);
}

size_t lg_weight_scratch(const lg_weight *weight) {
    return weight->scratchpad_bytes + LG_TILE * weight->n_out * sizeof(float);
}

void lg_to_operand(const lg_compute *compute, const float *x, void *operand, size_t n) {
    if (compute->native_bf16) compute->kernels->to_bf16(operand, x, n);
    else if (compute->precision == LG_PRECISION_BF16) compute->kernels->round_to_bf16(operand, x, n);
    else memcpy(operand, x, n * sizeof *x);
}

/* Bytes of a weight in a file; 0: no weight. */
static size_t element_size(lg_dtype dtype) {
    return dtype == LG_F32 ? 4 : dtype == LG_BF16 || dtype == LG_F16 ? 2 : 0;
}

/* N values of a tensor as operands. ROOM [n] floats is used on the way to bf16. */
static void convert(const lg_compute *compute, lg_dtype dtype, const unsigned char *source, void *operand,
                    float *room, size_t n) {
    const lg_kernels *k = compute->kernels;
    if (compute->native_bf16) {
        if (dtype == LG_BF16) {
            memcpy(operand, source, 2 * n);
            return;
        }
        if (dtype == LG_F16) k->from_f16(room, source, n);
        else memcpy(room, source, 4 * n);
        k->to_bf16(operand, room, n);
        return;
    }
    if (dtype == LG_BF16) k->from_bf16(operand, source, n);
    else if (dtype == LG_F16) k->from_f16(operand, source, n);
    else memcpy(operand, source, 4 * n);
    if (compute->precision == LG_PRECISION_BF16 && dtype != LG_BF16) k->round_to_bf16(operand, operand, n);
}

/* One column block from ROWS rows at SOURCE: pieces of PIECE channels go through a buffer that stays in the
   first cache, converted, then transposed in units of 4 bytes (a float, or two bf16 of one row). */
static void pack_block(const lg_weight *weight, lg_dtype dtype, const unsigned char *source, size_t row_bytes,
                       size_t rows, unsigned char *block) {
    _Alignas(64) uint32_t buffer[MAX_BLOCK * PIECE];
    _Alignas(64) float room[PIECE];
    size_t size = lg_operand_size(weight->compute), element = element_size(dtype), n_in = weight->n_in;
    size_t units = PIECE / weight->pair;
    memset(block, 0, weight->block_bytes);
    for (size_t k = 0; k < n_in; k += PIECE) {
        size_t n = n_in - k < PIECE ? n_in - k : PIECE;
        for (size_t r = 0; r < rows; r++) {
            unsigned char *piece = (unsigned char *)(buffer + r * units);
            if (n % weight->pair) memset(piece + n * size, 0, size);
            convert(weight->compute, dtype, source + r * row_bytes + k * element, piece, room, n);
        }
        weight->compute->kernels->transpose((uint32_t *)block + k / weight->pair * weight->n_block,
                                            weight->n_block, buffer, units, rows,
                                            (n + weight->pair - 1) / weight->pair);
    }
}

lg_status lg_weight_load(lg_weight *weight, const lg_tensor *tensor, size_t row, size_t n_rows,
                         lg_error *error) {
    const lg_compute *compute = weight->compute;
    size_t n_in = weight->n_in, element = element_size(tensor->dtype), size = lg_operand_size(compute);
    if (element == 0)
        return lg_fail(error, LG_BAD_INPUT, "tensor %s holds no weights: they must be F32, BF16 or F16",
                       tensor->name);
    if (n_rows > weight->n_out || tensor->count % n_in || tensor->count / n_in < n_rows ||
        row > tensor->count / n_in - n_rows)
        return lg_fail(error, LG_BAD_INPUT, "tensor %s has no rows %zu to %zu of %zu", tensor->name, row,
                       row + n_rows, n_in);
    const unsigned char *source = tensor->data;
    source += row * n_in * element;
    if (weight->n_block) {
        size_t blocks = weight->bytes / weight->block_bytes;
#pragma omp parallel for num_threads(compute->threads) schedule(dynamic)
        for (size_t b = 0; b < blocks; b++) {
            size_t first = b * weight->n_block;
            size_t rows = first >= n_rows ? 0 : n_rows - first;
            if (rows > weight->n_block) rows = weight->n_block;
            pack_block(weight, tensor->dtype, rows ? source + first * n_in * element : NULL, n_in * element,
                       rows, (unsigned char *)weight->data + b * weight->block_bytes);
        }
        return LG_OK;
    }
#pragma omp parallel for num_threads(compute->threads) schedule(static)
    for (size_t r = 0; r < weight->n_out; r++) {
        unsigned char *packed = (unsigned char *)weight->data + r * n_in * size;
        float room[PIECE];
        if (r >= n_rows) memset(packed, 0, n_in * size);
        for (size_t k = 0; r < n_rows && k < n_in; k += PIECE)
            convert(compute, tensor->dtype, source + (r * n_in + k) * element, packed + k * size, room,
                    n_in - k < PIECE ? n_in - k : PIECE);
    }
    return LG_OK;
}

/* The meaning of the product: sums in double, in index order. */
static void multiply_plainly(const lg_weight *weight, const float *x, float *y, size_t ldy) {
    const float *w = weight->data;
    for (size_t t = 0; t < LG_TILE; t++)
        for (size_t o = 0; o < weight->n_out; o++) {
            double sum = 0;
            for (size_t k = 0; k < weight->n_in; k++)
                sum += (double)x[t * weight->n_in + k] * w[o * weight->n_in + k];
            y[t * ldy + o] = (float)sum;
        }
}

lg_status lg_linear_tile(const lg_weight *weight, const void *x, float *y, size_t ldy, void *scratch,
                         lg_error *error) {
    if (!weight->compute->matmul) {
        multiply_plainly(weight, x, y, ldy);
        return LG_OK;
    }
    /* oneDNN 2.6 writes blocked products into rows without a gap only. */
    float *dense = ldy == weight->n_out ? y : (float *)((char *)scratch + weight->scratchpad_bytes);
    dnnl_engine_t engine = weight->compute->matmul->engine;
    dnnl_memory_t x_memory = NULL, y_memory = NULL, scratch_memory = NULL;
    dnnl_stream_t stream = NULL;
    dnnl_status_t status = dnnl_stream_create(&stream, engine, dnnl_stream_default_flags);
    if (!status) status = dnnl_memory_create(&x_memory, &weight->x, engine, (void *)x);
    if (!status) status = dnnl_memory_create(&y_memory, &weight->y, engine, dense);
    if (!status) status = dnnl_memory_create(&scratch_memory, &weight->scratchpad, engine, scratch);
    if (status) goto done;
    dnnl_exec_arg_t arguments[] = {{DNNL_ARG_SRC, x_memory},
                                   {DNNL_ARG_WEIGHTS, weight->memory},
                                   {DNNL_ARG_DST, y_memory},
                                   {DNNL_ARG_SCRATCHPAD, scratch_memory}};
    status = dnnl_primitive_execute(weight->product, stream, 4, arguments);
    if (!status) status = dnnl_stream_wait(stream);
    for (size_t t = 0; !status && dense != y && t < LG_TILE; t++)
        memcpy(y + t * ldy, dense + t * weight->n_out, weight->n_out * sizeof *y);
done:
    if (scratch_memory) dnnl_memory_destroy(scratch_memory);
    if (y_memory) dnnl_memory_destroy(y_memory);
    if (x_memory) dnnl_memory_destroy(x_memory);
    if (stream) dnnl_stream_destroy(stream);
    return status ? fail_dnnl(error, "multiply a tile", status) : LG_OK;
}
