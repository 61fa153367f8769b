/* A corpus for tests of filters: documents of random words, some of their runs repeated, tagged by the
   program, with the scores of models made up. */
#ifndef TESTS_FILTER_FIXTURE_H
#define TESTS_FILTER_FIXTURE_H

#include <math.h>

#include "fixture.h"

#include "lossgap/filter.h"
#include "lossgap/tag.h"

enum { FILTER_DOCS = 90, FILTER_MODELS = 3 };

static lg_dataset data;
static lg_scores scores[FILTER_MODELS]; /* "a", "b" (compared), "hard" (another model) */
static const char *tags_path;

static uint64_t filter_random_state = 88172645463325252u;

static uint32_t filter_random(uint32_t below) {
    filter_random_state ^= filter_random_state << 13;
    filter_random_state ^= filter_random_state >> 7;
    filter_random_state ^= filter_random_state << 17;
    return (uint32_t)(filter_random_state >> 33) % below;
}

static const char *const filter_words[] = {
    "house", "dog",   "river", "table", "idea",  "stones", "houses", "rivers", "green", "large",
    "old",   "small", "runs",  "sees",  "takes", "walked", "opened", "slowly", "often", "quickly",
    "walk",  "open",  "see",   "seen",  "taken", "making", "taking", "the",    "a",     "of",
    "in",    "and",   "to",    "is",    "was",   "he",     "she",    "which",  ".",     ",",
    "(",     ")",     "[",     "]",     "\"",    "can",    "will",   "not",    "with",  "Mary",
};

/* Tokens of one document, a bar between them: N words, and now and then a run of the last ones again. */
static char *filter_text(size_t n) {
    enum { WORDS = sizeof filter_words / sizeof *filter_words };
    lg_text out = {0};
    size_t *words = malloc(n * sizeof *words);
    for (size_t i = 0; i < n; i++) {
        if (i > 30 && filter_random(12) == 0) {
            size_t from = filter_random((uint32_t)i - 12), length = 3 + filter_random(9);
            for (size_t k = 0; k < length && i < n; k++, i++) words[i] = words[from + k];
            if (i == n) break;
        }
        words[i] = filter_random(WORDS);
    }
    for (size_t i = 0; i < n; i++) lg_text_printf(&out, "%s%s", i ? "\1 " : "", filter_words[words[i]]);
    free(words);
    assert_false(out.failed);
    return out.data;
}

static void filter_write_scores(const char *name, const float *nll, size_t n) {
    lg_error error = {0};
    lg_table_writer *w;
    size_t column;
    assert_int_equal(lg_table_writer_create(fixture_path(name), &w, &error), LG_OK);
    assert_int_equal(lg_table_writer_add(w, "nll", LG_F32, 1, &column, &error), LG_OK);
    fixture_append(w, column, nll, n);
    lg_provenance p = {.format = "scores", .version = 1, .settings = "{}"};
    assert_int_equal(lg_table_writer_commit(w, &p, NULL, &error), LG_OK);
}

/* Losses of model M: tokens that cannot be scored are the same for all. */
static void filter_make_scores(size_t m, const char *name) {
    lg_error error = {0};
    float *nll = malloc((data.n_tokens + 1) * sizeof *nll);
    uint32_t *context = calloc(data.n_tokens + 1, sizeof *context);
    for (size_t d = 0; d < data.n_docs; d++)
        for (size_t i = (size_t)lg_begin_of(data.doc_token_end, d); i < data.doc_token_end[d]; i++) {
            bool none = i == lg_begin_of(data.doc_token_end, d) || i % 97 == 5;
            float loss = (float)filter_random(60000) / 10000.0f;
            /* what B is ahead by goes with the token's type, so that tags differ */
            nll[i] = none ? NAN : m == 1 ? loss + (float)(data.token_id[i] % 11) / 10.0f : loss;
        }
    filter_write_scores(name, nll, data.n_tokens);
    scores[m] = (lg_scores){
        .model_name = name, .n_tokens = data.n_tokens, .nll = nll, .context = context, .prefix = -1};
    assert_int_equal(lg_table_open(fixture_path(name), "scores", &scores[m].table, &error), LG_OK);
}

static void filter_tag(const char *path) {
    lg_error error = {0};
    lg_tag_options options = {.threads = 1, .command = "test"};
    if (lg_tag_run(&data, &options, path, NULL, &error)) fail_msg("%s", error.message);
}

/* N_DOCS documents of SHORTEST to 2 x SHORTEST words; text or already tokenised. */
static void filter_open(size_t n_docs, size_t shortest, bool text) {
    static char tags[128];
    lg_error error = {0};
    fixture_document *documents = calloc(n_docs + 1, sizeof *documents);
    char(*names)[16] = calloc(n_docs + 1, sizeof *names);
    for (size_t d = 0; d < n_docs; d++) {
        snprintf(names[d], sizeof names[d], "doc%zu.txt", d);
        documents[d] = (fixture_document){names[d], d % 2 ? "odd" : "even", LG_PROSE,
                                          filter_text(shortest + filter_random((uint32_t)shortest + 1)), 0};
    }
    fixture_dataset(fixture_path("data"), documents, n_docs, text);
    assert_int_equal(lg_dataset_open(fixture_path("data"), &data, &error), LG_OK);
    for (size_t d = 0; d < n_docs; d++) free((char *)(uintptr_t)documents[d].tokens);
    free(documents);
    free(names);
    snprintf(tags, sizeof tags, "%s", fixture_path("tags"));
    tags_path = tags;
    filter_tag(tags);
    static const char *const models[] = {"a", "b", "hard"};
    for (size_t m = 0; m < FILTER_MODELS; m++) filter_make_scores(m, models[m]);
}

static void filter_close(void) {
    for (size_t m = 0; m < FILTER_MODELS; m++) {
        lg_table_close(scores[m].table);
        free((void *)(uintptr_t)scores[m].nll);
        free((void *)(uintptr_t)scores[m].context);
    }
    lg_dataset_close(&data);
}

static inline lg_filters *filter_make(const lg_filter_options *options, const char *tags) {
    lg_error error = {0};
    lg_filters *f = NULL;
    if (lg_filters_open(&data, tags, options, &f, &error)) fail_msg("%s", error.message);
    return f;
}

static inline const lg_filter *filter_find(const lg_filters *f, const char *name) {
    for (size_t i = 0; i < lg_filters_n(f); i++)
        if (strcmp(lg_filters_at(f, i)->name, name) == 0) return lg_filters_at(f, i);
    return NULL;
}

static inline void filter_write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

#endif
