/* Speed of the part-of-speech taggers on one thread: words a second over real text (the development files in
   ../shared/pos, given words), next to two floors: spelling the words and looking them up in the lexicon; and
   as many look-ups of features at random places as the words need, whose cost is cache misses. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tag/pos_corpus.h"
#include "tag/pos_model.h"

enum { RUNS = 5, FEATURES = 70 };

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

/* Spells every word and looks its three forms up; returns something that depends on all of it. LEARNED: how
   many are not in the dictionary of those that are always tagged alike. */
static uint64_t spell_all(const lg_pos_model *model, const lg_pos_corpus *c, size_t *learned) {
    uint64_t sum = 0;
    *learned = 0;
    lg_pos_sentence state = {0};
    for (size_t i = 0; i < c->words.count; i++) {
        lg_pos_token t;
        lg_pos_form form;
        if (c->words.tag[i] & LG_BEGINS_SENTENCE) state = (lg_pos_sentence){0};
        lg_pos_spell(&t, &form, &state, c->given.data, &c->words, i);
        const lg_pos_classes exact = lg_pos_find_word(model, t.exact);
        *learned += exact.only == LG_POS_NOT_ONE;
        sum += exact.own;
        sum += lg_pos_find_word(model, t.lower).own;
        sum += lg_pos_find_any(model, t.folded, t.lower).own;
    }
    return sum;
}

/* N look-ups of features at random. */
static uint64_t look_up_all(const lg_pos_model *model, size_t n) {
    uint64_t sum = 0, hash = 1;
    for (size_t i = 0; i < n; i++) {
        hash = hash * 6364136223846793005u + 1442695040888963407u;
        size_t slot = lg_pos_find_feature(model, lg_pos_mix(hash, i));
        if (slot != SIZE_MAX) sum += model->weights[model->feature_row[slot]];
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
    double best = 1e9, spelling = 1e9, looking = 1e9;
    size_t learned = 0;
    uint64_t sum = 0, same = 0;
    for (int r = 0; r < RUNS; r++) {
        double start = seconds();
        if (!lg_pos_tag(model, scratch, c.given.data, &c.words, tags)) stop("out of memory");
        double taken = seconds() - start;
        if (taken < best) best = taken;
        start = seconds();
        sum += spell_all(model, &c, &learned);
        taken = seconds() - start;
        if (taken < spelling) spelling = taken;
        start = seconds();
        sum += look_up_all(model, learned * FEATURES);
        taken = seconds() - start;
        if (taken < looking) looking = taken;
    }
    for (size_t i = 0; i < c.words.count; i++) same += tags[i] < model->n_tags;
    if (same != c.words.count || !sum) stop("a word has no tag");
    const double n = (double)c.words.count;
    printf("%-6s %7.0f words (%.0f %% with features), %3zu tags: %8.0f words/s; floors: spelling %9.0f, %d "
           "look-ups "
           "%8.0f words/s; opened in %.1f ms\n",
           tagset, n, 100 * (double)learned / n, model->n_tags, n / best, n / spelling, FEATURES, n / looking,
           1e3 * opened);
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
