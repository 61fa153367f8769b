/* lossgap tokenize: from a corpus to a dataset. */
#include <stdlib.h>

#include "cli/cli.h"
#include "lossgap/dataset.h"

enum { TOKENIZER = 256, LIKE };

typedef struct options {
    lg_dataset_options dataset;
    char **paths;
    size_t n_paths;
    const char *out, *like;
} options;

static const struct argp_option table[] = {
    {"tokenizer", TOKENIZER, "DIR", 0, "The tokenizer.json, or a folder that holds one (a checkpoint)", 0},
    {"like", LIKE, "DATA", 0,
     "Take the documents of this dataset, in place of a corpus: the same text with other tokens", 0},
    {"output", 'o', "DATA", 0, "The dataset to write", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state) {
    options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &o->dataset;
        break;
    case TOKENIZER:
        o->dataset.tokenizer = arg;
        break;
    case LIKE:
        o->like = arg;
        break;
    case 'o':
        o->out = arg;
        break;
    case ARGP_KEY_ARGS:
        o->paths = state->argv + state->next;
        o->n_paths = (size_t)(state->argc - state->next);
        break;
    case ARGP_KEY_END:
        if (!o->n_paths && !o->like) argp_error(state, "name a corpus: folders, files or JSONL");
        if (o->like && (o->n_paths || o->dataset.kind || o->dataset.domain || o->dataset.limit ||
                        o->dataset.parse_special || o->dataset.input_ids))
            argp_error(state, "--like takes documents, kinds, domains and special tokens as they are in its "
                              "dataset: beside it goes --tokenizer only");
        if (!o->out) argp_error(state, "say with -o where the dataset goes");
        if (o->dataset.input_ids && o->dataset.tokenizer)
            argp_error(state, "--input-ids takes no --tokenizer");
        if (!o->dataset.input_ids && !o->dataset.tokenizer)
            argp_error(state, "--tokenizer is missing (or --input-ids)");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp_child children[] = {{&cli_corpus_argp, 0, NULL, 0}, {0}};

static const struct argp argp = {
    table,
    parse,
    "CORPUS...\n--like DATA",
    "Reads folders, files and JSONL (also .gz and .zst), tokenises them and writes one dataset.\v"
    "Folders are read with all below them, in order of the paths: .txt .md .rst (prose), .py, .html .htm, "
    ".tex .ltx "
    ".latex .sty, .jsonl .ndjson; other files are passed over and counted. A JSONL line is an object with "
    "\"text\" and, if "
    "there, \"id\", \"source\", \"domain\", \"kind\". Bytes are kept as they are.",
    children,
    NULL,
    NULL};

int cmd_tokenize(int argc, char **argv) {
    options o = {0};
    cli c;
    cli_start(&c, argc, argv, &argp, CLI_THREADS, &o);
    c.go_on = "stopped; nothing was written";
    o.dataset.threads = c.threads;
    o.dataset.command = c.command_line;
    if (!o.like)
        return cli_end(&c, lg_dataset_build((const char *const *)o.paths, o.n_paths, &o.dataset, o.out,
                                            &c.monitor, &c.error));
    lg_dataset data;
    lg_status status = lg_dataset_open(o.like, &data, &c.error);
    if (status) return cli_end(&c, status);
    status = lg_dataset_retokenize(&data, o.dataset.tokenizer, c.threads, c.command_line, o.out, &c.monitor,
                                   &c.error);
    lg_dataset_close(&data);
    return cli_end(&c, status);
}
