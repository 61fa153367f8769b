/* Speed and memory of scoring at 1B shapes: writes random olmo3 and olmo_hybrid checkpoints, scores documents
   of 128, 2048 and 8192 tokens, and sets the rate beside the best that oneDNN reaches here on 2048 x 2048 x
   2048.

   bench_model [--family NAME] [--precision bf16|f32] [--length N] [--batch N] [--threads N] [--layers N] to
   narrow the run; --cpu for rates by processor time, on a machine that has other work. The checkpoints (3 GB
   each) go to $TMPDIR and are removed. */
#include <getopt.h>
#include <math.h>
#include <omp.h>
#include <oneapi/dnnl/dnnl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "model/checkpoint.h"
#include "model/forward.h"

static bool by_cpu; /* time is that of this process's processors, per thread: for machines with other load */
static unsigned n_threads;

static double now(void) {
    struct timespec t;
    if (by_cpu) {
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        return ((double)t.tv_sec + 1e-9 * (double)t.tv_nsec) / n_threads;
    }
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check(lg_status status, const lg_error *error) {
    if (!status) return;
    fprintf(stderr, "bench_model: %s\n", error->message);
    exit(status);
}

/* ---- the machine's peak ---- */

static void need(dnnl_status_t status) {
    if (status == dnnl_success) return;
    fprintf(stderr, "bench_model: oneDNN status %d\n", (int)status);
    exit(1);
}

static dnnl_memory_t memory_for(const_dnnl_primitive_desc_t descriptor, dnnl_query_t what,
                                dnnl_engine_t engine) {
    const dnnl_memory_desc_t *md = dnnl_primitive_desc_query_md(descriptor, what, 0);
    size_t bytes = dnnl_memory_desc_get_size(md);
    void *data = lg_alloc_aligned(bytes + 64, 1);
    dnnl_memory_t memory;
    if (!data) exit(1);
    memset(data, 0, bytes);
    need(dnnl_memory_create(&memory, md, engine, data));
    return memory;
}

static void drop(dnnl_memory_t memory) {
    void *data;
    need(dnnl_memory_get_data_handle(memory, &data));
    dnnl_memory_destroy(memory);
    free(data);
}

/* Best rate of N^3 products, flop/s, layouts as oneDNN likes them. */
static double peak(lg_precision precision) {
    enum { N = 2048 };
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_memory_desc_t md;
    dnnl_matmul_desc_t operation;
    dnnl_primitive_desc_t descriptor;
    dnnl_primitive_t primitive;
    dnnl_dims_t dims = {N, N};
    dnnl_memory_desc_t any;
    dnnl_data_type_t type = precision == LG_PRECISION_BF16 ? dnnl_bf16 : dnnl_f32;
    need(dnnl_engine_create(&engine, dnnl_cpu, 0));
    need(dnnl_stream_create(&stream, engine, dnnl_stream_default_flags));
    need(dnnl_memory_desc_init_by_tag(&any, 2, dims, type, dnnl_format_tag_any));
    need(dnnl_memory_desc_init_by_tag(&md, 2, dims, dnnl_f32, dnnl_ab));
    need(dnnl_matmul_desc_init(&operation, &any, &any, NULL, &md));
    need(dnnl_primitive_desc_create(&descriptor, &operation, NULL, engine, NULL));
    need(dnnl_primitive_create(&primitive, descriptor));
    dnnl_memory_t a = memory_for(descriptor, dnnl_query_src_md, engine);
    dnnl_memory_t b = memory_for(descriptor, dnnl_query_weights_md, engine);
    dnnl_memory_t c = memory_for(descriptor, dnnl_query_dst_md, engine);
    dnnl_exec_arg_t arguments[] = {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}};
    double best = INFINITY;
    for (int i = 0; i < 12; i++) {
        double begin = now();
        need(dnnl_primitive_execute(primitive, stream, 3, arguments));
        need(dnnl_stream_wait(stream));
        best = fmin(best, now() - begin);
    }
    drop(a), drop(b), drop(c);
    dnnl_primitive_destroy(primitive);
    dnnl_primitive_desc_destroy(descriptor);
    dnnl_stream_destroy(stream);
    dnnl_engine_destroy(engine);
    return 2.0 * N * N * N / best;
}

/* ---- random checkpoints ---- */

static const char olmo3[] =
    "{\"model_type\":\"olmo3\",\"hidden_size\":2048,\"intermediate_size\":8192,\"num_hidden_layers\":%zu,"
    "\"num_attention_heads\":16,\"vocab_size\":100278,\"rms_norm_eps\":1e-6,\"rope_theta\":500000,"
    "\"sliding_window\":4096,\"max_position_embeddings\":8192,\"eos_token_id\":100257}";
static const char hybrid[] =
    "{\"model_type\":\"olmo_hybrid\",\"hidden_size\":2048,\"intermediate_size\":8192,\"num_hidden_layers\":%"
    "zu,"
    "\"num_attention_heads\":16,\"vocab_size\":100278,\"rms_norm_eps\":1e-6,\"rope_parameters\":null,"
    "\"max_position_embeddings\":8192,\"eos_token_id\":100257}";

enum { BLOCK = 1 << 20 };
static uint16_t noise[BLOCK]; /* bf16, normal with standard deviation 0.02 */

static uint16_t to_bf16(double value) {
    float f = (float)value;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static double uniform(void) {
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return ((double)(state >> 11) + 0.5) * 0x1p-53;
}

static double normal(void) {
    return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

typedef struct writer {
    lg_text header;
    FILE *file;
    size_t bytes;
    bool writing; /* first pass: the header; second: the data */
} writer;

static void put(writer *w, const char *name, lg_slot slot, const size_t *shape, unsigned n) {
    size_t count = 1;
    for (unsigned i = 0; i < n; i++) count *= shape[i];
    if (!w->writing) {
        lg_text_printf(&w->header, "%s\"%s\":{\"dtype\":\"BF16\",\"shape\":[", w->bytes ? "," : "{", name);
        for (unsigned i = 0; i < n; i++) lg_text_printf(&w->header, "%s%zu", i ? "," : "", shape[i]);
        lg_text_printf(&w->header, "],\"data_offsets\":[%zu,%zu]}", w->bytes, w->bytes + 2 * count);
        w->bytes += 2 * count;
        return;
    }
    bool scale = n == 1 && slot != LG_A_LOG && slot != LG_DT_BIAS;
    for (size_t i = 0; n == 1 && i < count; i++) {
        double dt = exp(uniform() * log(100) + log(0.001));
        uint16_t value = to_bf16(scale ? 1 : slot == LG_A_LOG ? log(16 * uniform()) : dt + log(-expm1(-dt)));
        fwrite(&value, 2, 1, w->file);
    }
    for (size_t i = 0; n > 1 && i < count;) {
        size_t at = (size_t)(uniform() * BLOCK / 2), part = BLOCK - at < count - i ? BLOCK - at : count - i;
        fwrite(noise + at, 2, part, w->file);
        i += part;
    }
}

/* All tensors under their first names, for a specification read back from the config. */
static void put_all(writer *w, const lg_family *family, const lg_spec *spec) {
    for (size_t layer = 0; layer <= spec->n_layers; layer++) {
        bool globals = layer == spec->n_layers;
        lg_mixer mixer = globals ? LG_ATTENTION : spec->layers[layer].mixer;
        unsigned where = globals ? LG_IN_MODEL : mixer == LG_ATTENTION ? LG_IN_ATTENTION : LG_IN_DELTA;
        for (const lg_tensor_rule *const *table = family->rules; *table; table++)
            for (const lg_tensor_rule *rule = *table; rule->names; rule++) {
                size_t shape[3];
                char name[256] = "";
                if (!(rule->where & where) || rule->slot == LG_CONV) continue;
                for (const char *c = rule->names; *c && *c != ' '; c++) {
                    size_t used = strlen(name);
                    if (*c == '#') snprintf(name + used, sizeof name - used, "%zu", layer);
                    else snprintf(name + used, sizeof name - used, "%c", *c);
                }
                put(w, name, rule->slot, shape, lg_slot_shape(spec, mixer, rule->slot, shape));
            }
    }
}

static void write_checkpoint(const char *folder, const char *format, size_t layers) {
    lg_error error = {0};
    lg_arena arena = {0};
    lg_json_value *root;
    char json[1024], path[1024];
    snprintf(json, sizeof json, format, layers);
    snprintf(path, sizeof path, "%s/config.json", folder);
    check(lg_write_file(path, json, strlen(json), &error), &error);
    check(lg_json_parse(&arena, json, strlen(json), path, &root, &error), &error);
    lg_config config = {root, path, LG_OK, &error};
    const lg_family *family = lg_family_find(lg_json_get(root, "model_type")->string);
    lg_spec spec = {0};
    family->read(&config, &spec);
    check(config.status, &error);

    for (size_t i = 0; i < BLOCK; i++) noise[i] = to_bf16(0.02 * normal());
    writer w = {0};
    put_all(&w, family, &spec);
    lg_text_puts(&w.header, "}");
    while (w.header.length % 8) lg_text_puts(&w.header, " ");
    snprintf(path, sizeof path, "%s/model.safetensors", folder);
    w.file = fopen(path, "wb");
    uint64_t length = w.header.length;
    if (w.file) {
        fwrite(&length, sizeof length, 1, w.file);
        fwrite(w.header.data, 1, w.header.length, w.file);
        w.writing = true;
        put_all(&w, family, &spec);
    }
    if (!w.file || ferror(w.file) || fclose(w.file) != 0) {
        fprintf(stderr, "bench_model: cannot write %s\n", path);
        exit(1);
    }
    lg_text_free(&w.header);
    lg_spec_free(&spec);
    lg_arena_free(&arena);
}

/* ---- one measurement, in a process of its own so that peak memory is its own ---- */

static size_t peak_memory_mb(void) {
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];
    size_t kb = 0;
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "VmHWM: %zu", &kb) == 1) break;
    if (status) fclose(status);
    return kb / 1024;
}

static void measure(const char *folder, const char *family, lg_precision precision, size_t length,
                    size_t batch, unsigned threads) {
    lg_error error = {0};
    lg_model *model;
    lg_session *session;
    check(lg_model_open(folder, &model, NULL, &error), &error);
    size_t n = batch / length ? batch / length : 1, vocabulary = lg_model_get_info(model)->vocab_size;
    check(lg_session_create(model, precision, threads, LG_ISA_BEST, n * length, length, &session, &error),
          &error);
    uint32_t *y = lg_alloc(n * (length + 1), sizeof *y);
    float *nll = lg_alloc(n * length, sizeof *nll);
    lg_row *rows = lg_alloc(n, sizeof *rows);
    if (!y || !nll || !rows) exit(1);
    for (size_t i = 0; i < n * (length + 1); i++) y[i] = (uint32_t)(uniform() * (double)vocabulary);
    for (size_t r = 0; r < n; r++)
        rows[r] = (lg_row){.y = y + r * (length + 1), .n = length + 1, .first = 1, .nll = nll + r * length};
    double seconds = INFINITY;
    for (int repeat = 0; repeat < (n * length <= 4096 ? 2 : 1); repeat++) {
        double begin = now();
        check(lg_forward(session, rows, n, 0, NULL, &error), &error);
        seconds = fmin(seconds, now() - begin);
    }
    double flops = (double)n * lg_model_flops(model, length, length);
    size_t memory = peak_memory_mb();     /* before the peak is measured, which needs memory too */
    double best = peak(LG_PRECISION_F32); /* a CPU may have bf16 products at half the rate */
    if (precision == LG_PRECISION_BF16) best = fmax(best, peak(precision));
    double sum = 0;
    for (size_t i = 0; i < n * length; i++) sum += nll[i];
    printf("%-12s %-5s %7zu %7zu %9.1f %10.1f %10.1f %6.0f %% %8zu   %.4f\n", family,
           precision == LG_PRECISION_BF16 ? "bf16" : "f32", length, n, (double)(n * length) / seconds,
           flops / seconds * 1e-9, best * 1e-9, 100 * flops / seconds / best, memory,
           sum / (double)(n * length));
    fflush(stdout);
    free(y);
    free(nll);
    free(rows);
    lg_session_free(session);
    lg_model_close(model);
}

int main(int argc, char **argv) {
    static const struct option options[] = {{"family", 1, NULL, 'f'},  {"precision", 1, NULL, 'p'},
                                            {"length", 1, NULL, 'l'},  {"batch", 1, NULL, 'b'},
                                            {"threads", 1, NULL, 't'}, {"layers", 1, NULL, 'n'},
                                            {"cpu", 0, NULL, 'c'},     {NULL, 0, NULL, 0}};
    static const struct {
        const char *name, *config;
    } families[] = {{"olmo3", olmo3}, {"olmo_hybrid", hybrid}};
    const char *only_family = NULL, *only_precision = NULL;
    size_t only_length = 0, batch = 4096, layers = 16;
    unsigned threads = (unsigned)omp_get_num_procs();
    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (o == 'f') only_family = optarg;
        else if (o == 'p') only_precision = optarg;
        else if (o == 'l') only_length = strtoul(optarg, NULL, 10);
        else if (o == 'b') batch = strtoul(optarg, NULL, 10);
        else if (o == 't') threads = (unsigned)strtoul(optarg, NULL, 10);
        else if (o == 'n') layers = strtoul(optarg, NULL, 10);
        else if (o == 'c') by_cpu = true;
        else return 2;
    }
    n_threads = threads;
    printf("1B shapes, random weights, %u threads; peak: the best oneDNN product of 2048 x 2048 x 2048\n",
           threads);
    printf("%-12s %-5s %7s %7s %9s %10s %10s %8s %8s   %s\n", "model", "", "length", "rows", "tokens/s",
           "GFLOP/s", "peak", "share", "MB", "mean nll");
    fflush(stdout);
    int failed = 0;
    for (size_t f = 0; f < sizeof families / sizeof *families && !failed; f++) {
        if (only_family && strcmp(only_family, families[f].name) != 0) continue;
        const char *tmp = getenv("TMPDIR");
        char folder[512], command[600];
        snprintf(folder, sizeof folder, "%s/lossgap-bench-XXXXXX", tmp && *tmp ? tmp : "/tmp");
        if (!mkdtemp(folder)) {
            perror("bench_model: mkdtemp");
            return 1;
        }
        static const lg_precision precisions[] = {LG_PRECISION_BF16, LG_PRECISION_F32};
        static const size_t lengths[] = {128, 2048, 8192};
        for (int p = -1; p < 6 && !failed;
             p++) { /* the first child writes, so that no memory of that is kept */
            bool f32 = p >= 3;
            size_t length = p < 0 ? 0 : lengths[p % 3];
            if (p >= 0 && only_precision && (strcmp(only_precision, "f32") == 0) != f32) continue;
            if (p >= 0 && only_length && only_length != length) continue;
            fflush(NULL);
            pid_t child = fork();
            if (child == 0) {
                if (p < 0) write_checkpoint(folder, families[f].config, layers);
                else measure(folder, families[f].name, precisions[f32], length, batch, threads);
                exit(0);
            }
            int status = 1;
            if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0) failed = 1;
        }
        snprintf(command, sizeof command, "rm -rf '%s'", folder);
        if (system(command) != 0) failed = 1;
    }
    return failed;
}
