/* Speed of the part-of-speech taggers on one thread: words a second over real text (the development files in
   ../shared/pos, given words), next to the floor: what spelling the words and looking them up costs alone. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tag/pos_corpus.h"
#include "tag/pos_model.h"

enum { RUNS = 5 };

/* Of this thread on a processor: other work on the machine hardly shows. */
static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void stop(const char *what) {
    fprintf(stderr, "bench_pos: %s\n", what);
    exit(1);
}

/* Spells every word and looks its three forms up; returns something that depends on all of it. */
static uint64_t spell_all(const lg_pos_model *model, const lg_pos_corpus *c) {
    uint64_t sum = 0;
    lg_pos_sentence state = {0};
    for (size_t i = 0; i < c->words.count; i++) {
        lg_pos_token t;
        if (c->words.tag[i] & LG_BEGINS_SENTENCE) state = (lg_pos_sentence){0};
        lg_pos_spell(&t, &state, c->given.data, &c->words, i);
        sum += (uint64_t)lg_pos_find_word(model, t.exact).own + lg_pos_find_word(model, t.lower).own +
               lg_pos_find_word(model, t.folded).own;
    }
    return sum;
}

static void bench(const char *tagset, const char *path) {
    lg_error error = {0};
    lg_pos_model *model;
    lg_pos_corpus c = {0};
    double opened = seconds();
    if (lg_pos_model_builtin(tagset, &model, &error)) stop(error.message);
    opened = seconds() - opened;
    if (lg_pos_corpus_read(&c, path, tagset, &error)) {
        printf("%-6s skipped: %s\n", tagset, error.message);
        lg_pos_model_close(model);
        return;
    }
    lg_pos_scratch *scratch = lg_pos_scratch_create(model);
    uint16_t *tags = lg_alloc(c.words.count, sizeof *tags);
    if (!scratch || !tags) stop("out of memory");
    double best = 1e9, floor = 1e9;
    uint64_t sum = 0, same = 0;
    for (int r = 0; r < RUNS; r++) {
        double start = seconds();
        if (!lg_pos_tag(model, scratch, c.given.data, &c.words, tags)) stop("out of memory");
        double taken = seconds() - start;
        if (taken < best) best = taken;
        start = seconds();
        sum += spell_all(model, &c);
        taken = seconds() - start;
        if (taken < floor) floor = taken;
    }
    for (size_t i = 0; i < c.words.count; i++) same += tags[i] < model->n_tags;
    if (same != c.words.count || !sum) stop("a word has no tag");
    const double n = (double)c.words.count;
    printf("%-6s %7.0f words, %3zu tags: %8.0f words/s, floor (spelling, word look-ups) %9.0f words/s, "
           "opened in %.1f ms\n",
           tagset, n, model->n_tags, n / best, n / floor, 1e3 * opened);
    lg_pos_scratch_free(scratch);
    lg_pos_corpus_free(&c);
    lg_pos_model_close(model);
    free(tags);
}

int main(void) {
    const char *shared = getenv("LG_SHARED");
    static const struct {
        const char *tagset, *file;
    } runs[] = {{"brown", "brown-dev.txt"}, {"upos", "en_ewt-dev.conllu"}, {"penn", "en_ewt-dev.conllu"}};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/pos/%s", shared ? shared : "../shared", runs[i].file);
        bench(runs[i].tagset, path);
    }
    return 0;
}
