/* Products with weights by oneDNN 2.6, for CPUs whose bf16 tiles (AMX) only it knows how to use. Only this
   file includes it. */
#include "kernels/matmul_internal.h"

#include <oneapi/dnnl/dnnl.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

struct lg_matmul_engine {
    dnnl_engine_t engine;
};

struct lg_dnnl_product {
    dnnl_memory_desc_t x, weight, y, scratchpad;
    size_t scratchpad_bytes; /* rounded up to 64 */
    dnnl_primitive_t primitive;
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
    if (status) {
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
static dnnl_status_t create_primitive(const lg_weight *weight, struct lg_dnnl_product *p,
                                      const dnnl_memory_desc_t *layout) {
    dnnl_engine_t engine = weight->compute->matmul->engine;
    dnnl_data_type_t type = weight->stored_bf16 ? dnnl_bf16 : dnnl_f32;
    dnnl_dims_t x_dims = {LG_TILE, (dnnl_dim_t)weight->n_in}, y_dims = {LG_TILE, (dnnl_dim_t)weight->n_out};
    dnnl_matmul_desc_t operation;
    dnnl_primitive_desc_t descriptor = NULL;
    dnnl_primitive_attr_t attributes = NULL;
    int threads = omp_get_max_threads();
    omp_set_num_threads(1);
    dnnl_status_t status = dnnl_primitive_attr_create(&attributes);
    if (!status) status = dnnl_primitive_attr_set_scratchpad_mode(attributes, dnnl_scratchpad_mode_user);
    if (!status) status = dnnl_primitive_attr_set_fpmath_mode(attributes, dnnl_fpmath_mode_strict);
    if (!status) status = dnnl_memory_desc_init_by_tag(&p->x, 2, x_dims, type, dnnl_ab);
    if (!status) status = dnnl_memory_desc_init_by_tag(&p->y, 2, y_dims, dnnl_f32, dnnl_ab);
    if (!status) status = dnnl_matmul_desc_init(&operation, &p->x, layout, NULL, &p->y);
    if (!status) status = dnnl_primitive_desc_create(&descriptor, &operation, attributes, engine, NULL);
    if (!status) {
        p->weight = *dnnl_primitive_desc_query_md(descriptor, dnnl_query_weights_md, 0);
        p->scratchpad = *dnnl_primitive_desc_query_md(descriptor, dnnl_query_scratchpad_md, 0);
        p->scratchpad_bytes = (dnnl_memory_desc_get_size(&p->scratchpad) + 63) / 64 * 64;
        status = dnnl_primitive_create(&p->primitive, descriptor);
    }
    if (descriptor) dnnl_primitive_desc_destroy(descriptor);
    if (attributes) dnnl_primitive_attr_destroy(attributes);
    omp_set_num_threads(threads);
    return status;
}

/* True if LAYOUT is blocks as lg_weight describes them (oneDNN's BA16a64b, BA16a64b2a). */
static bool read_layout(lg_weight *weight, const dnnl_memory_desc_t *layout) {
    const dnnl_blocking_desc_t *b = &layout->format_desc.blocking;
    size_t pair = weight->stored_bf16 ? 2 : 1;
    int parts = weight->stored_bf16 ? 3 : 2;
    if (layout->format_kind != dnnl_blocked || layout->extra.flags != dnnl_memory_extra_flag_none)
        return false;
    if (layout->offset0 != 0 || b->inner_nblks != parts || b->inner_idxs[0] != 0 || b->inner_idxs[1] != 1)
        return false;
    if (parts == 3 && (b->inner_idxs[2] != 0 || b->inner_blks[2] != 2)) return false;
    size_t rows = (size_t)layout->padded_dims[0], n_block = (size_t)b->inner_blks[1];
    if (n_block > LG_MAX_BLOCK || (size_t)b->strides[1] != rows * n_block) return false;
    if ((size_t)b->strides[0] != (size_t)b->inner_blks[0] * n_block * pair) return false;
    weight->n_block = n_block;
    weight->block_rows = rows;
    return true;
}

lg_status lg_dnnl_product_create(lg_weight *weight, size_t *bytes, lg_error *error) {
    struct lg_dnnl_product *p = calloc(1, sizeof *p);
    if (!p) return lg_fail_memory(error);
    dnnl_data_type_t type = weight->stored_bf16 ? dnnl_bf16 : dnnl_f32;
    dnnl_dims_t dims = {(dnnl_dim_t)weight->n_in, (dnnl_dim_t)weight->n_out};
    dnnl_memory_desc_t layout;
    dnnl_status_t status = dnnl_memory_desc_init_by_tag(&layout, 2, dims, type, dnnl_format_tag_any);
    if (!status) status = create_primitive(weight, p, &layout);
    if (!status && !read_layout(weight, &p->weight)) { /* rows as in the file, then */
        dnnl_primitive_destroy(p->primitive);
        p->primitive = NULL;
        status = dnnl_memory_desc_init_by_tag(&layout, 2, dims, type, dnnl_ba);
        if (!status) status = create_primitive(weight, p, &layout);
    }
    if (status) {
        lg_dnnl_product_free(p);
        return fail_dnnl(error, "multiply by a weight", status);
    }
    *bytes = dnnl_memory_desc_get_size(&p->weight);
    weight->product = p;
    return LG_OK;
}

void lg_dnnl_product_free(struct lg_dnnl_product *product) {
    if (!product) return;
    if (product->primitive) dnnl_primitive_destroy(product->primitive);
    free(product);
}

size_t lg_dnnl_scratch(const lg_weight *weight) {
    return weight->product->scratchpad_bytes + LG_TILE * weight->n_out * sizeof(float);
}

lg_status lg_dnnl_tile(const lg_weight *weight, const void *x, float *y, size_t ldy, void *scratch,
                       lg_error *error) {
    /* Blocked products go into rows without a gap only; into others, the reference implementation would
     * write. */
    const struct lg_dnnl_product *p = weight->product;
    float *dense = ldy == weight->n_out ? y : (float *)((char *)scratch + p->scratchpad_bytes);
    dnnl_engine_t engine = weight->compute->matmul->engine;
    dnnl_memory_t x_memory = NULL, weight_memory = NULL, y_memory = NULL, scratch_memory = NULL;
    dnnl_stream_t stream = NULL;
    dnnl_status_t status = dnnl_stream_create(&stream, engine, dnnl_stream_default_flags);
    if (!status) status = dnnl_memory_create(&x_memory, &p->x, engine, (void *)x);
    if (!status) status = dnnl_memory_create(&weight_memory, &p->weight, engine, weight->data);
    if (!status) status = dnnl_memory_create(&y_memory, &p->y, engine, dense);
    if (!status) status = dnnl_memory_create(&scratch_memory, &p->scratchpad, engine, scratch);
    if (status) goto done;
    dnnl_exec_arg_t arguments[] = {{DNNL_ARG_SRC, x_memory},
                                   {DNNL_ARG_WEIGHTS, weight_memory},
                                   {DNNL_ARG_DST, y_memory},
                                   {DNNL_ARG_SCRATCHPAD, scratch_memory}};
    status = dnnl_primitive_execute(p->primitive, stream, 4, arguments);
    if (!status) status = dnnl_stream_wait(stream);
    for (size_t t = 0; !status && dense != y && t < LG_TILE; t++)
        memcpy(y + t * ldy, dense + t * weight->n_out, weight->n_out * sizeof *y);
done:
    if (scratch_memory) dnnl_memory_destroy(scratch_memory);
    if (y_memory) dnnl_memory_destroy(y_memory);
    if (weight_memory) dnnl_memory_destroy(weight_memory);
    if (x_memory) dnnl_memory_destroy(x_memory);
    if (stream) dnnl_stream_destroy(stream);
    return status ? fail_dnnl(error, "multiply a tile", status) : LG_OK;
}
