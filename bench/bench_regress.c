/* Regressions over synthetic tokens: 120 columns, most of them indicators, in double and in double-double;
   and 120 dense columns. Beside each the floor: what its three passes must read from memory and compute, on
   the processors at hand.

   LG_BENCH_ROWS: rows of the sparse table (default 10^7). LG_PYTHON: a Python with statsmodels and
   safetensors, to fit the first million rows of the same columns. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "lossgap/regress.h"
#include "store/table_writer.h"

enum { DOMAINS = 7, TAGS = 90, POSITIONS = 5, DENSE = 119, STEP = 1 << 16, TOKENS_IN_DOCUMENT = 1250 };

static uint64_t state = 1;

static double draw(void) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) * 0x1p-53;
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void stop(const lg_error *error) {
    fprintf(stderr, "bench_regress: %s\n", error->message);
    exit(1);
}

static void put(lg_table_writer *w, size_t column, const void *values, size_t n) {
    lg_error error = {0};
    if (lg_table_writer_append(w, column, values, n, &error)) stop(&error);
}

static void put_levels(lg_text *settings, const char *name, unsigned n, bool last) {
    lg_text_printf(settings, "\"%s\":[", name);
    for (unsigned i = 0; i < n; i++) lg_text_printf(settings, "%s\"%c%u\"", i ? "," : "", name[0], i);
    lg_text_puts(settings, last ? "]" : "],");
}

/* Tokens with a domain, a tag by Zipf's law, a position, four flags and fifteen numbers. */
static void write_sparse(const char *path, size_t rows) {
    static const char *const bytes[] = {"domain", "tag", "wordpos", "copy1", "copy2", "copy3", "copy4"};
    static uint8_t flags[7][STEP];
    static float numbers[16][STEP];
    static uint32_t doc[STEP];
    lg_error error = {0};
    lg_table_writer *w;
    size_t column[24];
    lg_text settings = {0};
    if (lg_table_writer_create(path, &w, &error)) stop(&error);
    for (size_t i = 0; i < 7; i++)
        if (lg_table_writer_add(w, bytes[i], LG_U8, 1, &column[i], &error)) stop(&error);
    for (size_t i = 0; i < 16; i++) {
        char name[16];
        snprintf(name, sizeof name, i ? "x%zu" : "gap", i);
        if (lg_table_writer_add(w, name, LG_F32, 1, &column[7 + i], &error)) stop(&error);
    }
    if (lg_table_writer_add(w, "doc", LG_U32, 1, &column[23], &error)) stop(&error);
    for (size_t first = 0; first < rows; first += STEP) {
        size_t n = rows - first < STEP ? rows - first : STEP;
        for (size_t i = 0; i < n; i++) {
            doc[i] = (uint32_t)((first + i) / TOKENS_IN_DOCUMENT);
            flags[0][i] = (uint8_t)(doc[i] % DOMAINS);
            flags[1][i] = (uint8_t)(pow(TAGS + 1, draw()) - 1);
            flags[2][i] = (uint8_t)(draw() * POSITIONS);
            for (size_t k = 3; k < 7; k++) flags[k][i] = draw() < 0.6 / (double)(k - 2);
            for (size_t k = 1; k < 16; k++) numbers[k][i] = (float)(draw() + draw() - 1);
            numbers[0][i] = (float)(0.1 * flags[3][i] + 0.2 * numbers[1][i] + draw() + draw() - 1);
        }
        for (size_t k = 0; k < 7; k++) put(w, column[k], flags[k], n);
        for (size_t k = 0; k < 16; k++) put(w, column[7 + k], numbers[k], n);
        put(w, column[23], doc, n);
    }
    lg_text_puts(&settings, "{\"levels\":{");
    put_levels(&settings, "domain", DOMAINS, false);
    put_levels(&settings, "tag", TAGS, false);
    put_levels(&settings, "wordpos", POSITIONS, true);
    lg_text_puts(&settings, "}}");
    lg_provenance p = {.format = "bench", .version = 1, .settings = settings.data};
    if (lg_table_writer_commit(w, &p, NULL, &error)) stop(&error);
    lg_text_free(&settings);
}

static void write_dense(const char *path, size_t rows) {
    static float values[STEP];
    lg_error error = {0};
    lg_table_writer *w;
    size_t column;
    if (lg_table_writer_create(path, &w, &error)) stop(&error);
    for (size_t k = 0; k <= DENSE; k++) {
        char name[16];
        snprintf(name, sizeof name, k ? "x%zu" : "y", k);
        if (lg_table_writer_add(w, name, LG_F32, 1, &column, &error)) stop(&error);
        for (size_t first = 0; first < rows; first += STEP) {
            size_t n = rows - first < STEP ? rows - first : STEP;
            for (size_t i = 0; i < n; i++) values[i] = (float)(draw() - 0.5);
            put(w, column, values, n);
        }
    }
    lg_provenance p = {.format = "bench", .version = 1};
    if (lg_table_writer_commit(w, &p, NULL, &error)) stop(&error);
}

/* Memory of this process that is no file, in MB. */
static double own_memory(void) {
    char line[256];
    double kb = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "RssAnon:", 8) == 0) kb = atof(line + 8);
    if (file) fclose(file);
    return kb / 1024;
}

/* The most memory at any time, looked at now and then. */
static void watch(void *context, const char *unit, uint64_t done, uint64_t total) {
    static unsigned calls;
    (void)unit, (void)done, (void)total;
    double now = calls++ % 32 ? 0 : own_memory(), *most = context;
    if (now > *most) *most = now;
}

/* Bytes per row that a pass reads; P dense columns and T terms with categories: multiplications of sums of
 * products. */
static void run(const char *what, const char *path, const char *formula, const char *definition,
                const char *cluster, double bytes, double p, double t) {
    lg_error error = {0};
    lg_frame *frame;
    lg_regress *regress;
    lg_regress_options o = {.formula = formula, .cluster = cluster, .command = "bench"};
    if (lg_frame_create(&frame, &error) || lg_frame_add_file(frame, path, &error) ||
        (definition && lg_frame_define(frame, definition, &error)))
        stop(&error);
    double memory = 0, start = seconds();
    const lg_monitor monitor = {.context = &memory, .progress = watch};
    if (lg_regress_compute(frame, &o, &monitor, &regress, &error)) stop(&error);
    double took = seconds() - start;
    const lg_regress_fit *f = lg_regress_get_fit(regress);
    const double n = (double)f->n, processors = (double)omp_get_num_procs();
    const bool twice = strcmp(f->arithmetic, "double") != 0;
    /* a product and a sum; in double-double ten operations. Four of a kind at a time, two a cycle, 3.3 GHz */
    const double products = p * (p + 1) / 2 + t * (p + (t + 1) / 2);
    const double operations = n * products * (2 + (twice ? 10 : 0)), rate = processors * 3.3e9 * 8;
    const double read = n * bytes * (twice ? 4 : 3);
    printf("%-34s %5.1f M rows x %llu columns  %6.2f s  %s, %.0f MB beyond the file\n", what, n * 1e-6,
           (unsigned long long)f->columns, took, f->arithmetic, memory);
    printf("%34s floor: %.1f GB read (%.2f s at 40 GB/s), %.0f G operations (%.2f s)\n", "", read * 1e-9,
           read / 40e9, operations * 1e-9, operations / rate);
    fflush(stdout);
    lg_regress_free(regress);
    lg_frame_free(frame);
}

static void run_python(const char *path) {
    const char *python = getenv("LG_PYTHON");
    char command[2048];
    if (!python) return;
    snprintf(command, sizeof command,
             "%s -c \"\n"
             "import time, numpy as np\n"
             "try: import statsmodels.api as sm\n"
             "except ImportError: raise SystemExit(0)\n"
             "from safetensors import safe_open\n"
             "f = safe_open('%s', 'np'); n = 10**6\n"
             "c = {k: f.get_slice(k)[:n] for k in f.keys()}\n"
             "t = time.time()\n"
             "X = [np.ones(n)]\n"
             "for k, m in (('domain', %d), ('tag', %d), ('wordpos', %d)): X += [(c[k] == i).astype(float) "
             "for i in "
             "range(1, m)]\n"
             "X += [c['copy%%d' %% i].astype(float) for i in range(1, 5)] + [c['x%%d' %% i].astype(float) "
             "for i in "
             "range(1, 16)] + [c['x1'].astype(float) ** 2]\n"
             "X = np.column_stack(X)\n"
             "r = sm.OLS(c['gap'].astype(float), X).fit(cov_type='cluster', cov_kwds={'groups': c['doc']})\n"
             "r.bse\n"
             "print('%%-34s %%5.1f M rows x %%d columns  %%6.2f s' %% ('statsmodels, clustered', n * 1e-6, "
             "X.shape[1], "
             "time.time() - t))\n\"",
             python, path, DOMAINS, TAGS, POSITIONS);
    if (system(command)) fprintf(stderr, "bench_regress: LG_PYTHON failed\n");
}

int main(void) {
    char folder[] = "/tmp/bench-regress-XXXXXX", path[64], formula[2048];
    const char *rows = getenv("LG_BENCH_ROWS");
    const size_t n = rows && atol(rows) > 1000 ? (size_t)atol(rows) : 10000000;
    if (!mkdtemp(folder)) return 1;
    snprintf(path, sizeof path, "%s/tokens", folder);
    snprintf(formula, sizeof formula, "gap ~ domain + tag + wordpos + copy1 + copy2 + copy3 + copy4 + x1^2");
    for (int i = 1; i < 16; i++)
        snprintf(formula + strlen(formula), sizeof formula - strlen(formula), " + x%d", i);
    write_sparse(path, n);
    run("tokens, clustered", path, formula, NULL, "doc", 7 + 16 * 4 + 4, 22, 3);
    strcat(formula, " + near");
    run("tokens, nearly collinear", path, formula, "near=x1 + x2 / 100000", "doc", 7 + 16 * 4 + 4, 23, 3);
    run_python(path);
    unlink(path);
    strcpy(formula, "y ~ x1");
    for (int i = 2; i <= DENSE; i++)
        snprintf(formula + strlen(formula), sizeof formula - strlen(formula), " + x%d", i);
    write_dense(path, n / 5);
    run("dense", path, formula, NULL, NULL, 4 * (DENSE + 1), DENSE + 2, 0);
    unlink(path);
    rmdir(folder);
    return 0;
}
