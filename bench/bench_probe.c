/* Speed of scoring probe items beside that of scoring documents of the same tokens: for each model and
   distance, tokens a second (prompt, and every choice's own) of lg_probe_score, tokenising included, and of
   lg_score_run on a dataset with each item's prompt and answer as a document. The ratio is of two times taken
   in turn, the best of REPEATS each.

   bench_probe [--count N] [--repeats N] [--probes] [MODEL…]
   --probes: also each probe by itself. Models: the three of ../shared/models, or those of this repository. */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "lossgap/probe.h"
#include "lossgap/score.h"

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check(lg_status status, const lg_error *error) {
    if (!status) return;
    fprintf(stderr, "bench_probe: %s\n", error->message);
    exit(status);
}

static void *need(void *block) {
    if (block) return block;
    fprintf(stderr, "bench_probe: out of memory\n");
    exit(1);
}

/* Documents in memory: prompt and answer of each item. */
typedef struct documents {
    lg_dataset data;
    uint64_t *ends, *name_ends;
    uint32_t *ids;
    size_t capacity;
} documents;

static documents documents_of(const lg_probe_items *items, const lg_tokenizer *tokenizer) {
    lg_error error = {0};
    lg_tokenizer_session *session;
    lg_tokens tokens = {0};
    const size_t n = lg_probe_n_items(items);
    documents d = {.ends = need(calloc(n + 1, sizeof *d.ends)),
                   .name_ends = need(calloc(n + 1, sizeof *d.ends))};
    size_t at = 0;
    check(lg_tokenizer_session_create(tokenizer, &session, &error), &error);
    for (size_t i = 0; i < n; i++) {
        const lg_probe_item *item = lg_probe_item_at(items, i);
        const lg_probe_choice *answer = &item->choices[item->answer];
        char *text = need(malloc(item->prompt_length + answer->length));
        memcpy(text, item->prompt, item->prompt_length);
        memcpy(text + item->prompt_length, answer->text, answer->length);
        check(lg_tokenize(session, text, item->prompt_length + answer->length, false, &tokens, &error),
              &error);
        if (!lg_reserve(&d.ids, &d.capacity, at + tokens.count, sizeof *d.ids)) need(NULL);
        memcpy(d.ids + at, tokens.ids, tokens.count * sizeof *d.ids);
        for (size_t t = 0; t < tokens.count; t++)
            if (tokens.ids[t] > d.data.max_token_id) d.data.max_token_id = tokens.ids[t];
        at += tokens.count;
        d.ends[i] = at;
        free(text);
    }
    lg_tokens_free(&tokens);
    lg_tokenizer_session_free(session);
    d.data.n_docs = n;
    d.data.n_tokens = at;
    d.data.token_id = d.ids;
    d.data.doc_token_end = d.ends;
    d.data.doc_name = "";
    d.data.doc_name_end = d.name_ends;
    return d;
}

typedef struct subject {
    const char *name;
    lg_model *model;
    lg_tokenizer *tokenizer;
    const char *folder; /* for scores */
} subject;

static double time_probe(const subject *s, const lg_probe_items *items, size_t *tokens) {
    lg_error error = {0};
    lg_probe_scores scores;
    lg_probe_score_options options = LG_PROBE_SCORE_OPTIONS_INIT;
    options.precision = LG_PRECISION_F32;
    double begin = now();
    check(lg_probe_score(s->model, s->tokenizer, items, &options, NULL, &scores, &error), &error);
    double seconds = now() - begin;
    size_t n = 0, choices = 0;
    lg_tokenizer_session *session;
    lg_tokens prompt = {0};
    check(lg_tokenizer_session_create(s->tokenizer, &session, &error), &error);
    for (size_t i = 0; i < lg_probe_n_items(items); i++) {
        const lg_probe_item *item = lg_probe_item_at(items, i);
        check(lg_tokenize(session, item->prompt, item->prompt_length, false, &prompt, &error), &error);
        n += prompt.count;
        for (size_t c = 0; c < item->n_choices; c++) n += scores.tokens[choices++];
    }
    *tokens = n;
    lg_tokens_free(&prompt);
    lg_tokenizer_session_free(session);
    lg_probe_scores_free(&scores);
    return seconds;
}

static double time_score(const subject *s, const lg_dataset *data) {
    lg_error error = {0};
    char out[600];
    lg_score_options options = {.precision = LG_PRECISION_F32, .prefix = LG_PREFIX_AUTO};
    snprintf(out, sizeof out, "%s/scores", s->folder);
    unlink(out);
    double begin = now();
    check(lg_score_run(s->model, data, &options, out, NULL, &error), &error);
    return now() - begin;
}

static double measure(const subject *s, unsigned kinds, const char *what, uint64_t distance, size_t count,
                      int repeats) {
    lg_error error = {0};
    lg_probe_items *items;
    lg_probe_options options = LG_PROBE_OPTIONS_INIT;
    options.kinds = kinds;
    options.distances = &distance;
    options.n_distances = 1;
    options.count = count;
    options.max_tokens = lg_model_get_info(s->model)->max_positions;
    check(lg_probe_generate(&options, s->tokenizer, NULL, &items, &error), &error);
    documents d = documents_of(items, s->tokenizer);
    double probe = INFINITY, score = INFINITY;
    size_t tokens = 0;
    for (int r = 0; r < repeats; r++) {
        score = fmin(score, time_score(s, &d.data));
        probe = fmin(probe, time_probe(s, items, &tokens));
    }
    double probe_rate = (double)tokens / probe, score_rate = (double)d.data.n_tokens / score;
    printf("%-20s %-10s %8llu %6zu %9zu %10.0f %10.0f %7.0f %%\n", s->name, what,
           (unsigned long long)distance, lg_probe_n_items(items), tokens, probe_rate, score_rate,
           100 * probe_rate / score_rate);
    fflush(stdout);
    lg_probe_items_free(items);
    free(d.ids);
    free(d.ends);
    free(d.name_ends);
    return probe_rate / score_rate;
}

/* The last two parts of PATH. */
static const char *last_two(const char *path) {
    const char *at = path + strlen(path);
    for (int slashes = 0; at > path; at--)
        if (at[-1] == '/' && ++slashes == 2) break;
    return at;
}

int main(int argc, char **argv) {
    static const struct option long_options[] = {
        {"count", 1, NULL, 'c'}, {"repeats", 1, NULL, 'r'}, {"probes", 0, NULL, 'p'}, {NULL, 0, NULL, 0}};
    static const uint64_t distances[] = {32, 64, 128, 256, 512};
    static const lg_probe_kind kinds[] = {LG_PROBE_PRONOUN, LG_PROBE_ENTITY, LG_PROBE_CLOSURE,
                                          LG_PROBE_DISCOURSE};
    size_t count = 200;
    int repeats = 2;
    bool each = false;
    for (int o; (o = getopt_long(argc, argv, "", long_options, NULL)) != -1;) {
        if (o == 'c') count = strtoul(optarg, NULL, 10);
        else if (o == 'r') repeats = atoi(optarg);
        else if (o == 'p') each = true;
        else return 2;
    }
    const char *models[16];
    size_t n_models = 0;
    for (; optind < argc && n_models < 16; optind++) models[n_models++] = argv[optind];
    if (!n_models) {
        static const char *const shared[] = {"../shared/models/transformer/step360",
                                             "../shared/models/hybrid/step360",
                                             "../shared/models/rnn/step360"};
        static const char *const own[] = {"models/transformer", "models/hybrid"};
        bool there = lg_exists(shared[2]);
        n_models = there ? 3 : 2;
        memcpy(models, there ? shared : own, n_models * sizeof *models);
    }
    const char *tmp = getenv("TMPDIR");
    char folder[512], command[600];
    snprintf(folder, sizeof folder, "%s/lossgap-bench-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(folder)) {
        perror("bench_probe: mkdtemp");
        return 1;
    }
    printf("%-20s %-10s %8s %6s %9s %10s %10s %9s\n", "model", "probes", "distance", "items", "tokens",
           "probe t/s", "score t/s", "ratio");
    double least = INFINITY;
    for (size_t m = 0; m < n_models; m++) {
        lg_error error = {0};
        subject s = {.folder = folder};
        check(lg_model_open(models[m], &s.model, NULL, &error), &error);
        check(lg_tokenizer_open(lg_model_get_info(s.model)->path, &s.tokenizer, &error), &error);
        s.name = last_two(models[m]);
        for (size_t i = 0; i < sizeof distances / sizeof *distances; i++) {
            unsigned all = 0;
            for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) all |= 1u << kinds[k];
            for (size_t k = 0; each && k < sizeof kinds / sizeof *kinds; k++)
                measure(&s, 1u << kinds[k], lg_probe_kind_name(kinds[k]), distances[i], count, repeats);
            least = fmin(least, measure(&s, all, "all four", distances[i], count, repeats));
        }
        lg_tokenizer_close(s.tokenizer);
        lg_model_close(s.model);
    }
    printf("least ratio, all four probes: %.0f %%\n", 100 * least);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command) != 0;
}
