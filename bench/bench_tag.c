/* Speed of tags and gaps on one thread: copy features of tokens with repeats, all tags of a text, all default
 * groupings. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lossgap/gap.h"
#include "lossgap/tag.h"
#include "store/table_writer.h"
#include "tag/tag_internal.h"

enum { TOKENS = 4 << 20, TOKEN_BYTES = 4 };

/* Of this thread on a processor: other work on the machine hardly shows. */
static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t state = 1;
static uint32_t draw(void) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

static void stop(const char *what) {
    fprintf(stderr, "bench_tag: %s\n", what);
    exit(1);
}

/* Ids with frequencies like those of words, and copied stretches of a few tokens. */
static void make_ids(uint32_t *ids) {
    for (size_t i = 0; i < TOKENS; i++) {
        ids[i] = (uint32_t)pow(50000, (draw() & 0xffffff) / 16777216.0);
        if (i < 5000 || draw() % 16) continue;
        size_t from = i - 1 - draw() % 4000, length = draw() % 12;
        for (size_t k = 0; k < length && i + 1 < TOKENS; k++) ids[i++] = ids[from + k];
    }
}

static void bench_copies(const uint32_t *ids) {
    static const size_t sizes[] = {512, 2048, 8192, 65536, TOKENS};
    uint16_t *copy_len = malloc(TOKENS * sizeof *copy_len);
    uint32_t *distance = malloc(TOKENS * sizeof *distance), *first = malloc(TOKENS * sizeof *first);
    lg_copy *copy = lg_copy_create();
    if (!copy_len || !distance || !first || !copy) stop("out of memory");
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        double start = seconds();
        for (size_t i = 0; i < TOKENS; i += sizes[s]) {
            size_t n = TOKENS - i < sizes[s] ? TOKENS - i : sizes[s];
            if (!lg_copy_features(copy, ids + i, NULL, n, copy_len + i, distance + i) ||
                !lg_copy_first_distance(copy, ids + i, n, 5, copy_len + i, first + i))
                stop("out of memory");
        }
        printf("copy features, documents of %8zu tokens  %6.1f M tokens/s\n", sizes[s],
               TOKENS / (seconds() - start) * 1e-6);
    }
    lg_copy_free(copy);
    free(copy_len);
    free(distance);
    free(first);
}

/* Words and brackets in tokens of four bytes, documents of 4096 tokens in four domains. */
static void make_data(const char *path, const uint32_t *ids) {
    static const char *const names[] = {"text",     "doc_text_end", "doc_token_end", "doc_kind", "doc_domain",
                                        "doc_name", "doc_name_end", "token_id",      "token_end"};
    static const lg_dtype types[] = {LG_U8, LG_U64, LG_U64, LG_U8, LG_U16, LG_U8, LG_U64, LG_U32, LG_U64};
    static const char pieces[16][TOKEN_BYTES + 1] = {
        " the",          " of ",    "ing ", "comp", "uter",   " (a)", "x = ", "[i];",
        "\xC3\xA9t\xC3", "\xA9 . ", "<p> ", "2024", ".\n\n ", "it's", "    ", " a_b"};
    lg_error error = {0};
    lg_table_writer *w;
    size_t column[9];
    lg_status status = lg_table_writer_create(path, &w, &error);
    for (size_t i = 0; i < 9 && !status; i++)
        status = lg_table_writer_add(w, names[i], types[i], 1, &column[i], &error);
    for (uint64_t i = 0; i < TOKENS && !status; i++) {
        uint64_t bytes = (i + 1) * TOKEN_BYTES, tokens = i + 1, name_end = tokens / 4096;
        status = lg_table_writer_append(w, column[0], pieces[draw() % 16], TOKEN_BYTES, &error);
        if (!status) status = lg_table_writer_append(w, column[7], &ids[i], 1, &error);
        if (!status) status = lg_table_writer_append(w, column[8], &bytes, 1, &error);
        if (status || tokens % 4096) continue;
        uint8_t kind = (uint8_t)(name_end % 4);
        uint16_t domain = kind;
        lg_table_writer_append(w, column[1], &bytes, 1, &error);
        lg_table_writer_append(w, column[2], &tokens, 1, &error);
        lg_table_writer_append(w, column[3], &kind, 1, &error);
        lg_table_writer_append(w, column[4], &domain, 1, &error);
        lg_table_writer_append(w, column[5], "d", 1, &error);
        status = lg_table_writer_append(w, column[6], &name_end, 1, &error);
    }
    lg_provenance p = {.format = "dataset",
                       .version = 1,
                       .inputs = "{\"tokenizer\":\"none\"}",
                       .settings =
                           "{\"domains\":[\"prose\",\"python\",\"html\",\"latex\"],\"input_ids\":false}"};
    if (!status) status = lg_table_writer_commit(w, &p, NULL, &error);
    if (status) stop(error.message);
}

int main(void) {
    uint32_t *ids = malloc(TOKENS * sizeof *ids), *context = calloc(TOKENS, sizeof *context);
    float *nll[2] = {malloc(TOKENS * sizeof(float)), malloc(TOKENS * sizeof(float))};
    char folder[] = "/tmp/lossgap-bench-XXXXXX", data_path[64], tags_path[64];
    if (!ids || !context || !nll[0] || !nll[1] || !mkdtemp(folder)) stop("out of memory");
    snprintf(data_path, sizeof data_path, "%s/data", folder);
    snprintf(tags_path, sizeof tags_path, "%s/tags", folder);
    make_ids(ids);
    bench_copies(ids);

    make_data(data_path, ids);
    lg_error error = {0};
    lg_dataset data;
    if (lg_dataset_open(data_path, &data, &error)) stop(error.message);
    double start = seconds();
    lg_tag_options tag = {.threads = 1};
    if (lg_tag_run(&data, &tag, tags_path, NULL, &error)) stop(error.message);
    double time = seconds() - start;
    printf("all tags, writing them                       %6.1f M tokens/s, %.0f MB/s\n", TOKENS / time * 1e-6,
           TOKENS * TOKEN_BYTES / time * 1e-6);
    for (size_t i = 0; i < TOKENS; i++)
        for (size_t m = 0; m < 2; m++) nll[m][i] = (float)(draw() % 10000) * 1e-3f;
    lg_scores scores[2];
    for (size_t m = 0; m < 2; m++)
        scores[m] = (lg_scores){.table = data.table,
                                .model_name = m ? "B" : "A",
                                .n_tokens = TOKENS,
                                .nll = nll[m],
                                .context = context};
    lg_gap_options options = {.threads = 1};
    lg_gap *gap;
    start = seconds();
    if (lg_gap_compute(&data, scores, 2, tags_path, &options, &gap, &error)) stop(error.message);
    printf("gap by all tags, alone and by domain         %6.1f M tokens/s, %zu rows\n",
           TOKENS / (seconds() - start) * 1e-6, lg_gap_n_rows(gap));
    lg_gap_free(gap);
    lg_dataset_close(&data);
    unlink(data_path);
    unlink(tags_path);
    rmdir(folder);
    free(ids);
    free(context);
    free(nll[0]);
    free(nll[1]);
    return 0;
}
