/* lossgap export: the per-token table as JSONL or CSV. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "cli/cli.h"
#include "lossgap/export.h"
#include "lossgap/select.h"

enum { TAGS = 256, FORMAT, WHERE };

typedef struct options {
    const char *data, *tags, *out, *where;
    char **scores;
    size_t n_scores;
    lg_export_format format;
} options;

static const struct argp_option table[] = {
    {"tags", TAGS, "TAGS", 0, "Add the token columns of this tags artefact", 0},
    {"format", FORMAT, "FORMAT", 0, "jsonl (default) or csv", 0},
    {"where", WHERE, "EXPR", 0,
     "Only tokens for which EXPR holds, as in 'loss(hybrid) > 5 and family = noun' (docs/guide/query.md)", 0},
    {"output", 'o', "FILE", 0, "Write to FILE instead of standard output", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state) {
    static const char *const formats[] = {"jsonl", "csv", NULL};
    options *o = state->input;
    switch (key) {
    case TAGS:
        o->tags = arg;
        break;
    case WHERE:
        o->where = arg;
        break;
    case FORMAT:
        o->format = (lg_export_format)cli_choice(state, "--format", arg, formats);
        break;
    case 'o':
        o->out = arg;
        break;
    case ARGP_KEY_ARGS:
        o->data = state->argv[state->next];
        o->scores = state->argv + state->next + 1;
        o->n_scores = (size_t)(state->argc - state->next - 1);
        break;
    case ARGP_KEY_END:
        if (!o->data) argp_error(state, "name a dataset");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp argp = {
    table,
    parse,
    "DATA [SCORES...]",
    "Writes the per-token table: document, domain, token, begin and end (bytes in the document), text, id, "
    "then "
    "nll.MODEL for every SCORES (null or empty where a token cannot be scored), context, and the tags.",
    NULL,
    NULL,
    NULL};

/* KEEP: the tokens to export, NULL: all. Made before anything is opened to be written. */
static lg_status export_all(const options *o, const lg_dataset *data, const lg_scores *scores,
                            const uint8_t *keep, cli *c) {
    if (!o->out)
        return lg_export_tokens(data, scores, o->n_scores, o->tags, keep, o->format, stdout, &c->monitor,
                                &c->error);
    bool own = o->tags && lg_is_same_file(o->out, o->tags);
    for (size_t i = 0; i <= o->n_scores && !own; i++)
        own = lg_is_same_file(o->out, i ? o->scores[i - 1] : o->data);
    if (own)
        return lg_fail(&c->error, LG_USAGE,
                       "%s is to be exported and would be overwritten: choose another output", o->out);
    lg_output output;
    lg_status status = lg_output_open(o->out, &output, &c->error);
    if (!status)
        status = lg_export_tokens(data, scores, o->n_scores, o->tags, keep, o->format, output.stream,
                                  &c->monitor, &c->error);
    if (!status) return lg_output_commit(&output, &c->error);
    lg_output_discard(&output);
    return status;
}

static lg_status choose(const options *o, const lg_dataset *data, const lg_scores *scores, uint8_t **keep,
                        cli *c) {
    uint64_t unknown, kept = 0;
    if (!o->where) return LG_OK;
    *keep = malloc(data->n_tokens + 1);
    if (!*keep) return lg_fail_memory(&c->error);
    lg_status status =
        lg_select_tokens(o->where, data, scores, o->n_scores, o->tags, *keep, &unknown, &c->error);
    for (size_t i = 0; i < data->n_tokens && !status; i++) kept += (*keep)[i];
    if (!status && unknown)
        lg_note(&c->monitor, "%llu of %zu tokens; of %llu it cannot be told, because a value is missing",
                (unsigned long long)kept, data->n_tokens, (unsigned long long)unknown);
    return status;
}

int cmd_export(int argc, char **argv) {
    options o = {0};
    cli c;
    cli_start(&c, argc, argv, &argp, 0, &o);
    if (!o.out) c.go_on = "stopped; the table is not whole";
    lg_dataset data;
    size_t n = 0;
    lg_scores *scores = calloc(o.n_scores + 1, sizeof *scores);
    lg_status status = lg_dataset_open(o.data, &data, &c.error);
    bool opened = !status;
    if (!status && !scores) {
        snprintf(c.error.message, sizeof c.error.message, "out of memory");
        status = LG_FAILED;
    }
    while (!status && n < o.n_scores) {
        status = lg_scores_open(o.scores[n], &data, &scores[n], &c.error);
        n += !status;
    }
    uint8_t *keep = NULL;
    if (!status) status = choose(&o, &data, scores, &keep, &c);
    if (!status) status = export_all(&o, &data, scores, keep, &c);
    free(keep);
    while (n) lg_scores_close(&scores[--n]);
    free(scores);
    if (opened) lg_dataset_close(&data);
    return cli_end(&c, status);
}
