/* Speed and memory of gaps over 10 million tokens in 10000 documents: 40 groups with and without 1000
   resamples, then crossed with domains; and the 40 groups with pandas on the same files (gap_pandas.py),
   where Python (LG_PYTHON, else python3) has it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "lossgap/gap.h"
#include "store/table_writer.h"

enum { TOKENS = 10000000, DOCUMENTS = 10000, GROUPS = 40, DOMAINS = 7 };

static double now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t state = 1;
static uint32_t draw(void) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

static void stop(const char *what) {
    fprintf(stderr, "bench_gap: %s\n", what);
    exit(1);
}

static void *need(size_t count, size_t size) {
    void *block = calloc(count, size);
    if (!block) stop("out of memory");
    return block;
}

/* Documents of 1 to 1999 tokens of 1 to 8 bytes. */
static void make_data(const char *path) {
    static const char *const names[] = {"text",     "doc_text_end", "doc_token_end", "doc_kind", "doc_domain",
                                        "doc_name", "doc_name_end", "token_id",      "token_end"};
    static const lg_dtype types[] = {LG_U8, LG_U64, LG_U64, LG_U8, LG_U16, LG_U8, LG_U64, LG_U32, LG_U64};
    uint64_t *token_end = need(TOKENS, sizeof *token_end), *ends = need(3 * DOCUMENTS, sizeof *ends),
             bytes = 0;
    uint32_t *ids = need(TOKENS, sizeof *ids);
    uint16_t *domain = need(DOCUMENTS, sizeof *domain);
    for (size_t i = 0; i < TOKENS; i++) {
        bytes += 1 + draw() % 8;
        token_end[i] = bytes;
        ids[i] = (uint32_t)pow(50000, (draw() & 0xffffff) / 16777216.0);
    }
    uint64_t *text_end = ends, *doc_token_end = ends + DOCUMENTS, *name_end = ends + 2 * DOCUMENTS, at = 0;
    for (size_t d = 0; d < DOCUMENTS; d++) {
        at = d + 1 == DOCUMENTS ? TOKENS : (d + 1) * (TOKENS / DOCUMENTS) - draw() % (TOKENS / DOCUMENTS);
        doc_token_end[d] = at;
        text_end[d] = token_end[at - 1];
        name_end[d] = d + 1;
        domain[d] = (uint16_t)(draw() % DOMAINS);
    }
    char *text = need(bytes + 1, 1);
    uint8_t *kind = need(DOCUMENTS, 1);
    const void *values[] = {text, text_end, doc_token_end, kind, domain, text, name_end, ids, token_end};
    size_t counts[] = {bytes,     DOCUMENTS, DOCUMENTS, DOCUMENTS, DOCUMENTS,
                       DOCUMENTS, DOCUMENTS, TOKENS,    TOKENS};
    lg_error error = {0};
    lg_table_writer *w;
    size_t column[9];
    lg_status status = lg_table_writer_create(path, &w, &error);
    for (size_t i = 0; i < 9 && !status; i++)
        status = lg_table_writer_add(w, names[i], types[i], 1, &column[i], &error);
    for (size_t i = 0; i < 9 && !status; i++)
        status = lg_table_writer_append(w, column[i], values[i], counts[i], &error);
    lg_provenance p = {.format = "dataset",
                       .version = 1,
                       .inputs = "{\"tokenizer\":\"none\"}",
                       .settings =
                           "{\"domains\":[\"a\",\"b\",\"c\",\"d\",\"e\",\"f\",\"g\"],\"input_ids\":false}"};
    if (!status) status = lg_table_writer_commit(w, &p, NULL, &error);
    if (status) stop(error.message);
    free(token_end);
    free(ends);
    free(ids);
    free(domain);
    free(text);
    free(kind);
}

static void make_tags(const char *path, const lg_dataset *data) {
    uint8_t *family = need(TOKENS, 1);
    for (size_t i = 0; i < TOKENS; i++) family[i] = (uint8_t)((uint64_t)draw() * draw() % GROUPS);
    lg_error error = {0};
    lg_table_writer *w;
    size_t column;
    lg_status status = lg_table_writer_create(path, &w, &error);
    if (!status) status = lg_table_writer_add(w, "family", LG_U8, 1, &column, &error);
    if (!status) status = lg_table_writer_append(w, column, family, TOKENS, &error);
    char inputs[128], settings[1024] = "{\"levels\":{\"family\":[";
    int used = 21;
    snprintf(inputs, sizeof inputs, "{\"dataset\":\"%s\"}", lg_table_provenance(data->table)->identity);
    for (int i = 0; i < GROUPS; i++)
        used += snprintf(settings + used, sizeof settings - (size_t)used, "%s\"f%d\"", i ? "," : "", i);
    snprintf(settings + used, sizeof settings - (size_t)used, "]}}");
    lg_provenance p = {.format = "tags", .version = 1, .inputs = inputs, .settings = settings};
    if (!status) status = lg_table_writer_commit(w, &p, NULL, &error);
    if (status) stop(error.message);
    free(family);
}

static void keep_scores(const char *path, const float *nll) {
    lg_error error = {0};
    lg_table_writer *w;
    size_t column;
    lg_status status = lg_table_writer_create(path, &w, &error);
    if (!status) status = lg_table_writer_add(w, "nll", LG_F32, 1, &column, &error);
    if (!status) status = lg_table_writer_append(w, column, nll, TOKENS, &error);
    lg_provenance p = {.format = "scores", .version = 1};
    if (!status) status = lg_table_writer_commit(w, &p, NULL, &error);
    if (status) stop(error.message);
}

static double peak(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1e3;
}

static void run(const lg_dataset *data, const lg_scores *scores, const char *tags, const char *const *by,
                size_t n_by, size_t replicates, unsigned threads, const char *what) {
    lg_gap_options options = {.by = by, .n_by = n_by, .bootstrap = replicates, .threads = threads};
    lg_error error = {0};
    lg_gap *gap;
    double wall = now(CLOCK_MONOTONIC), busy = now(CLOCK_PROCESS_CPUTIME_ID);
    if (lg_gap_compute(data, scores, 2, tags, &options, &gap, &error)) stop(error.message);
    printf("%-34s %u thread%s %6.2f s, %6.2f s of processors, peak %4.0f MB, %zu rows\n", what, threads,
           threads == 1 ? " " : "s", now(CLOCK_MONOTONIC) - wall, now(CLOCK_PROCESS_CPUTIME_ID) - busy,
           peak(), lg_gap_n_rows(gap));
    lg_gap_free(gap);
}

int main(void) {
    char folder[] = "/tmp/lossgap-bench-XXXXXX", data_path[64], tags_path[64];
    if (!mkdtemp(folder)) stop("no folder in /tmp");
    snprintf(data_path, sizeof data_path, "%s/data", folder);
    snprintf(tags_path, sizeof tags_path, "%s/tags", folder);
    lg_error error = {0};
    lg_dataset data;
    make_data(data_path);
    if (lg_dataset_open(data_path, &data, &error)) stop(error.message);
    make_tags(tags_path, &data);
    uint32_t *context = need(TOKENS, sizeof *context);
    lg_scores scores[2];
    char score_path[2][64];
    for (size_t m = 0; m < 2; m++) {
        float *nll = need(TOKENS, sizeof *nll);
        for (size_t i = 0; i < TOKENS; i++) nll[i] = -logf(((float)(draw() & 0xffff) + 1) / 65536);
        snprintf(score_path[m], sizeof score_path[m], "%s/%c", folder, "ab"[m]);
        keep_scores(score_path[m], nll);
        scores[m] = (lg_scores){.table = data.table,
                                .model_name = m ? "B" : "A",
                                .n_tokens = TOKENS,
                                .nll = nll,
                                .context = context};
    }
    printf("%d tokens, %d documents; peak before %.0f MB\n", TOKENS, DOCUMENTS, peak());
    static const char *const by[] = {"family", "domain"};
    for (unsigned threads = 1; threads <= 2; threads++) {
        run(&data, scores, tags_path, by, 1, 0, threads, "40 groups");
        run(&data, scores, tags_path, by, 1, 1000, threads, "40 groups, 1000 resamples");
        run(&data, scores, tags_path, by, 2, 1000, threads, "by domain, too, 1000 resamples");
    }
    char command[256];
    const char *python = getenv("LG_PYTHON");
    fflush(stdout);
    snprintf(command, sizeof command, "%.100s bench/gap_pandas.py %s", python ? python : "python3", folder);
    if (system(command)) printf("pandas: not there\n");
    for (size_t m = 0; m < 2; m++) unlink(score_path[m]);
    for (size_t m = 0; m < 2; m++) free((void *)(uintptr_t)scores[m].nll);
    free(context);
    lg_dataset_close(&data);
    unlink(data_path);
    unlink(tags_path);
    rmdir(folder);
    return 0;
}
