/* Speed of products with weights, tile by tile on every thread, beside the machine's peak: the best that
   oneDNN reaches on one product of 2048 x 2048 x 2048. And of unpacking weights.
   bench_matmul [THREADS [cpu]]: cpu measures by processor time, for one thread on a busy machine. */
#include <omp.h>
#include <oneapi/dnnl/dnnl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "kernels/matmul.h"

enum { REPEATS = 5 };

static clockid_t clock_used = CLOCK_MONOTONIC;

static double now(void) {
    struct timespec t;
    clock_gettime(clock_used, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void need(bool good, const char *what) {
    if (good) return;
    fprintf(stderr, "bench_matmul: %s\n", what);
    exit(1);
}

/* N operands that are neither zero nor subnormal. */
static void *operands(size_t n, size_t size) {
    unsigned char *x = lg_alloc_aligned(n, size);
    need(x, "out of memory");
    for (size_t i = 0; i < n; i++) {
        uint32_t bits = 0x3f800000u + (uint32_t)(i % 97) * 0x10000u;
        memcpy(x + i * size, (char *)&bits + 4 - size, size);
    }
    return x;
}

/* GFLOP/s of oneDNN's own product, layouts of its choice; 0: it has none of that type. */
static double peak(dnnl_data_type_t type, size_t n) {
    size_t size = type == dnnl_bf16 ? 2 : 4;
    dnnl_dims_t dims = {(dnnl_dim_t)n, (dnnl_dim_t)n};
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_memory_desc_t any, y;
    dnnl_matmul_desc_t operation;
    dnnl_primitive_desc_t descriptor;
    dnnl_primitive_t primitive;
    need(!dnnl_engine_create(&engine, dnnl_cpu, 0) &&
             !dnnl_stream_create(&stream, engine, dnnl_stream_default_flags) &&
             !dnnl_memory_desc_init_by_tag(&any, 2, dims, type, dnnl_format_tag_any) &&
             !dnnl_memory_desc_init_by_tag(&y, 2, dims, dnnl_f32, dnnl_ab) &&
             !dnnl_matmul_desc_init(&operation, &any, &any, NULL, &y),
         "oneDNN does not start");
    double best = 0;
    if (dnnl_primitive_desc_create(&descriptor, &operation, NULL, engine, NULL) == dnnl_success) {
        static const dnnl_query_t queries[] = {dnnl_query_src_md, dnnl_query_weights_md, dnnl_query_dst_md};
        static const int names[] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST};
        dnnl_exec_arg_t arguments[3];
        void *data[3];
        for (int i = 0; i < 3; i++) {
            const dnnl_memory_desc_t *layout = dnnl_primitive_desc_query_md(descriptor, queries[i], 0);
            size_t element = i == 2 ? 4 : size;
            data[i] = operands(dnnl_memory_desc_get_size(layout) / element, element);
            arguments[i].arg = names[i];
            need(!dnnl_memory_create(&arguments[i].memory, layout, engine, data[i]), "oneDNN memory");
        }
        need(!dnnl_primitive_create(&primitive, descriptor), "oneDNN primitive");
        for (int r = 0; r < REPEATS; r++) {
            double start = now();
            need(!dnnl_primitive_execute(primitive, stream, 3, arguments) && !dnnl_stream_wait(stream),
                 "oneDNN product");
            double rate = 2e-9 * (double)n * (double)n * (double)n / (now() - start);
            if (rate > best) best = rate;
        }
        for (int i = 0; i < 3; i++) dnnl_memory_destroy(arguments[i].memory), free(data[i]);
        dnnl_primitive_destroy(primitive);
        dnnl_primitive_desc_destroy(descriptor);
    }
    dnnl_stream_destroy(stream);
    dnnl_engine_destroy(engine);
    return best;
}

static void bench(lg_compute *c, const char *name, lg_dtype dtype, size_t n_out, size_t n_in, double best) {
    lg_error error = {0};
    lg_weight *w;
    size_t element = dtype == LG_F32 ? 4 : 2;
    lg_tensor tensor = {
        .name = "w", .dtype = dtype, .n_dims = 2, .shape = {n_out, n_in}, .count = n_out * n_in};
    void *source = operands(tensor.count, element);
    tensor.data = source;
    need(!lg_weight_create(c, n_out, n_in, &w, &error), error.message);
    double load = 0;
    for (int r = 0; r < REPEATS; r++) {
        double start = now();
        need(!lg_weight_load(w, &tensor, 0, n_out, &error), error.message);
        double rate = 1e-9 * (double)(tensor.count * element) / (now() - start);
        if (r && rate > load) load = rate;
    }
    /* two tiles a thread and turn, so that every thread reads the whole weight as in a forward pass */
    size_t tiles = 2 * c->threads, size = lg_operand_size(c), ldy = n_out + 48;
    char *x = operands(tiles * LG_TILE * n_in, size);
    float *y = lg_alloc_aligned(tiles * LG_TILE * ldy, sizeof *y);
    need(y, "out of memory");
    memset(y, 0, tiles * LG_TILE * ldy * sizeof *y);
    double rate = 0;
    for (int r = 0; r < REPEATS; r++) {
        double start = now();
        int failed = 0;
#pragma omp parallel num_threads(c->threads) reduction(+ : failed)
        {
            void *scratch = lg_alloc_aligned(lg_weight_scratch(w), 1);
#pragma omp for schedule(static)
            for (size_t t = 0; t < tiles; t++)
                failed += !scratch || lg_linear_tile(w, x + t * LG_TILE * n_in * size, LG_TILE,
                                                     y + t * LG_TILE * ldy, ldy, scratch, NULL) != LG_OK;
            free(scratch);
        }
        need(!failed, "a tile failed");
        double now_rate = 2e-9 * (double)(tiles * LG_TILE) * (double)n_out * (double)n_in / (now() - start);
        if (now_rate > rate) rate = now_rate;
    }
    printf("%-22s %-4s %6zu x %5zu  %7.1f GFLOP/s  %4.0f %% of peak   unpacked at %5.1f GB/s\n", name,
           dtype == LG_F32 ? "F32" : "BF16", n_out, n_in, rate, 100 * rate / best, load);
    lg_weight_free(w);
    free(source), free(x), free(y);
}

int main(int argc, char **argv) {
    unsigned threads = argc > 1 ? (unsigned)atoi(argv[1]) : (unsigned)omp_get_num_procs();
    if (argc > 2 && !strcmp(argv[2], "cpu")) clock_used = CLOCK_PROCESS_CPUTIME_ID;
    omp_set_num_threads((int)threads);
    double f32 = peak(dnnl_f32, 2048), bf16 = peak(dnnl_bf16, 2048);
    printf("%u threads, tiles of %d rows. Peak (oneDNN, 2048 x 2048 x 2048): f32 %.1f, bf16 %.1f GFLOP/s\n",
           threads, LG_TILE, f32, bf16);
    static const struct {
        const char *name;
        lg_precision precision;
        lg_isa isa;
    } ways[] = {
        {"f32", LG_PRECISION_F32, LG_ISA_BEST},
        {"f32, oneDNN tiles", LG_PRECISION_F32, LG_ISA_ONEDNN},
        {"bf16", LG_PRECISION_BF16, LG_ISA_BEST},
        {"bf16, native", LG_PRECISION_BF16, LG_ISA_AVX512_BF16},
        {"bf16, oneDNN tiles", LG_PRECISION_BF16, LG_ISA_ONEDNN},
        {"f32, AVX2", LG_PRECISION_F32, LG_ISA_AVX2},
    };
    static const size_t shapes[][2] = {{2048, 2048}, {8192, 2048}, {2048, 8192}, {2880, 3840}, {30, 3840}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        lg_error error = {0};
        lg_compute *c;
        if (!lg_cpu_has(ways[i].isa)) continue;
        need(!lg_compute_create(ways[i].precision, threads, ways[i].isa, &c, &error), error.message);
        double best = ways[i].precision == LG_PRECISION_BF16 && bf16 > 0 ? bf16 : f32;
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            bench(c, ways[i].name, LG_BF16, shapes[s][0], shapes[s][1], best);
        bench(c, ways[i].name, LG_F32, shapes[1][0], shapes[1][1], best);
        lg_compute_free(c);
    }
    return 0;
}
