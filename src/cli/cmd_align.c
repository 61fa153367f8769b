/* lossgap align: losses of models with different tokenizers over the byte spans that these share. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "cli/cli.h"
#include "lossgap/align.h"

struct options {
    const char **scores, **data; /* paths */
    size_t n_scores, scores_room, n_data, data_room;
    const char *out;
};

enum { KEY_DATA = 0x100 };

static error_t parse(int key, char *argument, struct argp_state *state) {
    struct options *o = state->input;
    switch (key) {
    case 'o':
        o->out = argument;
        return 0;
    case KEY_DATA:
        return cli_push(&o->data, &o->n_data, &o->data_room, argument);
    case ARGP_KEY_ARG:
        return cli_push(&o->scores, &o->n_scores, &o->scores_room, argument);
    case ARGP_KEY_END:
        if (o->n_scores < 2) argp_error(state, "name the scores of two models at least");
        if (!o->n_data)
            argp_error(state, "which datasets are these the scores of? Give --data DATA for each tokenizer");
        if (!o->out) argp_error(state, "where to? Give -o DIR");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options[] = {
    {"data", KEY_DATA, "DATA", 0,
     "A dataset that some of the SCORES are of: once for each tokenizer, all of the same text (`lossgap "
     "tokenize --like` makes one from another)",
     1},
    {"output", 'o', "DIR", 0,
     "Write DIR/data.safetensors, the spans, and DIR/scores-NAME.safetensors for each model NAME", 1},
    {0},
};

static const struct argp argp = {
    options,
    parse,
    "SCORES_A SCORES_B... --data DATA_A --data DATA_B -o DIR",
    "Add up the losses of models with different tokenizers over the smallest byte spans whose ends are token "
    "ends in all of them. The result is a dataset whose units are these spans, and scores of it, for every "
    "command that takes a dataset and scores."
    "\vEach model keeps its own prefix and windows; document windows only. Where one model has no loss, the "
    "span has none for all. Then:\n"
    "  lossgap tag DIR/data.safetensors -o DIR/tags.safetensors\n"
    "  lossgap gap DIR/scores-A.safetensors DIR/scores-B.safetensors --data DIR/data.safetensors --tags "
    "DIR/tags.safetensors",
    NULL,
    NULL,
    NULL};

/* Everything that is open. */
typedef struct work {
    cli *c;
    const struct options *o;
    lg_dataset *data;         /* [o->n_data] */
    bool *used;               /* [o->n_data] */
    lg_scores *scores;        /* [o->n_scores] */
    lg_align_source *sources; /* [o->n_scores] */
    char **outs;              /* [o->n_scores] */
    char *data_out;
} work;

/* Opens scores I with the dataset that they are of. */
static lg_status open_scores(work *w, size_t i) {
    lg_error why = {0};
    for (size_t d = 0; d < w->o->n_data; d++) {
        lg_status status = lg_scores_open(w->o->scores[i], &w->data[d], &w->scores[i], &why);
        if (status == LG_BAD_INPUT) continue;
        w->used[d] |= !status;
        w->sources[i] = (lg_align_source){&w->data[d], &w->scores[i]};
        if (status) w->c->error = why;
        return status;
    }
    if (w->o->n_data > 1 && strstr(why.message, "dataset"))
        return lg_fail(
            &w->c->error, LG_BAD_INPUT,
            "%s holds the scores of none of these %zu datasets: give the one that was scored, with a "
            "--data of its own",
            w->o->scores[i], w->o->n_data);
    w->c->error = why;
    return LG_BAD_INPUT;
}

/* DIR/scores-NAME.safetensors; what could be a path in NAME becomes '-'. */
static char *score_path(const char *folder, const char *name) {
    char *file, *path;
    if (asprintf(&file, "scores-%s.safetensors", name) < 0) return NULL;
    for (char *c = file; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("._-", *c)) *c = '-';
    path = lg_path_join(folder, file);
    free(file);
    return path;
}

static lg_status name_outputs(work *w) {
    const struct options *o = w->o;
    lg_error *error = &w->c->error;
    lg_status status = lg_make_folders(o->out, error);
    if (status) return status;
    if (!(w->data_out = lg_path_join(o->out, "data.safetensors"))) return lg_fail_memory(error);
    for (size_t i = 0; i < o->n_scores; i++) {
        if (!(w->outs[i] = score_path(o->out, w->scores[i].model_name))) return lg_fail_memory(error);
        for (size_t k = 0; k < i; k++)
            if (strcmp(w->outs[i], w->outs[k]) == 0)
                return lg_fail(error, LG_USAGE,
                               "%s and %s are both of a model called %s: score one under another name, as in "
                               "`lossgap score NAME=MODEL`",
                               o->scores[k], o->scores[i], w->scores[i].model_name);
    }
    return LG_OK;
}

static double ratio(uint64_t a, uint64_t b) {
    return b ? (double)a / (double)b : 0;
}

static void print_table(const work *w, const lg_align_summary *s, const lg_align_count *counts) {
    int width = 5;
    for (size_t i = 0; i < w->o->n_scores; i++)
        if ((int)strlen(w->scores[i].model_name) > width) width = (int)strlen(w->scores[i].model_name);
    printf("%" PRIu64 " spans in %" PRIu64 " documents, %.2f bytes each; %" PRIu64
           " (%.1f %%) are one token in every model\n",
           s->spans, s->documents, ratio(s->bytes, s->spans), s->one_token,
           100 * ratio(s->one_token, s->spans));
    if (s->unscorable) printf("%" PRIu64 " have no loss, because some model has none there\n", s->unscorable);
    printf("\n%-*s  %12s  %8s  %12s  %12s\n", width, "", "tokens", "per span", "without loss",
           "cut document");
    for (size_t i = 0; i < w->o->n_scores; i++)
        printf("%-*s  %12" PRIu64 "  %8.3f  %12" PRIu64 "  %12" PRIu64 "\n", width, w->scores[i].model_name,
               counts[i].tokens, ratio(counts[i].tokens, s->spans), counts[i].missing, counts[i].cut);
    const char *d = w->o->out;
    if (w->c->quiet) return;
    printf("\nNext:\n  lossgap tag %s -o %s/tags.safetensors\n  lossgap gap %s %s --data %s --tags "
           "%s/tags.safetensors\n",
           w->data_out, d, w->outs[0], w->outs[1], w->data_out, d);
}

static void put_number(lg_json_writer *w, const char *key, uint64_t value) {
    lg_json_put_key(w, key);
    lg_json_put_unsigned(w, value);
}

static lg_status print_json(const work *w, const lg_align_summary *s, const lg_align_count *counts) {
    lg_text out = {0};
    lg_json_writer j = {.out = &out, .indent = 2};
    lg_json_put_object(&j);
    put_number(&j, "spans", s->spans);
    put_number(&j, "documents", s->documents);
    put_number(&j, "bytes", s->bytes);
    put_number(&j, "types", s->types);
    put_number(&j, "one_token_in_all", s->one_token);
    put_number(&j, "unscorable", s->unscorable);
    put_number(&j, "uneven", s->uneven);
    lg_json_put_key(&j, "data");
    lg_json_put_text(&j, w->data_out);
    lg_json_put_key(&j, "models");
    lg_json_put_array(&j);
    for (size_t i = 0; i < w->o->n_scores; i++) {
        lg_json_put_object(&j);
        lg_json_put_key(&j, "model");
        lg_json_put_text(&j, w->scores[i].model_name);
        put_number(&j, "tokens", counts[i].tokens);
        lg_json_put_key(&j, "tokens_per_span");
        if (s->spans) lg_json_put_double(&j, ratio(counts[i].tokens, s->spans));
        else lg_json_put_null(&j);
        put_number(&j, "missing", counts[i].missing);
        put_number(&j, "cut", counts[i].cut);
        lg_json_put_key(&j, "scores");
        lg_json_put_text(&j, w->outs[i]);
        lg_json_end_object(&j);
    }
    lg_json_end_array(&j);
    lg_json_end_object(&j);
    lg_text_puts(&out, "\n");
    if (!out.failed) fwrite(out.data, 1, out.length, stdout);
    lg_status status = out.failed ? lg_fail_memory(&w->c->error) : LG_OK;
    lg_text_free(&out);
    return status;
}

static lg_status run(work *w) {
    const struct options *o = w->o;
    lg_error *error = &w->c->error;
    lg_align_summary summary;
    lg_align_count *counts = calloc(o->n_scores, sizeof *counts);
    w->data = calloc(o->n_data, sizeof *w->data);
    w->used = calloc(o->n_data, sizeof *w->used);
    w->scores = calloc(o->n_scores, sizeof *w->scores);
    w->sources = calloc(o->n_scores, sizeof *w->sources);
    w->outs = calloc(o->n_scores, sizeof *w->outs);
    lg_status status =
        counts && w->data && w->used && w->scores && w->sources && w->outs ? LG_OK : lg_fail_memory(error);
    for (size_t d = 0; d < o->n_data && !status; d++)
        status = lg_dataset_open(o->data[d], &w->data[d], error);
    for (size_t i = 0; i < o->n_scores && !status; i++) status = open_scores(w, i);
    for (size_t d = 0; d < o->n_data && !status; d++)
        if (!w->used[d])
            status = lg_fail(error, LG_USAGE, "none of the scores are of %s: leave it out, or add its scores",
                             o->data[d]);
    if (!status) status = name_outputs(w);
    if (!status)
        status = lg_align_run(w->sources, o->n_scores, w->data_out, (const char *const *)w->outs,
                              w->c->command_line, &summary, counts, &w->c->monitor, error);
    if (!status) cli_progress_clear(&w->c->progress);
    if (!status && w->c->json) status = print_json(w, &summary, counts);
    else if (!status) print_table(w, &summary, counts);
    free(counts);
    return status;
}

int cmd_align(int argc, char **argv) {
    struct options o = {0};
    cli c;
    cli_start(&c, argc, argv, &argp, CLI_JSON, &o);
    work w = {.c = &c, .o = &o};
    lg_status status = run(&w);
    for (size_t i = 0; i < o.n_scores; i++) {
        if (w.scores) lg_scores_close(&w.scores[i]);
        if (w.outs) free(w.outs[i]);
    }
    for (size_t d = 0; d < o.n_data && w.data; d++) lg_dataset_close(&w.data[d]);
    free(w.data);
    free(w.used);
    free(w.scores);
    free(w.sources);
    free(w.outs);
    free(w.data_out);
    free(o.scores);
    free(o.data);
    return cli_end(&c, status);
}
