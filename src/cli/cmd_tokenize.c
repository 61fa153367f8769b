/* lossgap tokenize: from a corpus to a dataset. */
#include <stdlib.h>

#include "cli/cli.h"
#include "lossgap/dataset.h"

enum { KIND = 256, DOMAIN_LABEL, LIMIT, PARSE_SPECIAL, INPUT_IDS, TOKENIZER };

typedef struct options {
    lg_dataset_options dataset;
    char **paths;
    size_t n_paths;
    const char *out;
} options;

static const struct argp_option table[] = {
    {"tokenizer", TOKENIZER, "DIR", 0, "The tokenizer.json, or a folder that holds one (a checkpoint)", 0},
    {"output", 'o', "DATA", 0, "The dataset to write", 0},
    {"kind", KIND, "KIND", 0,
     "Take every document as KIND: prose, python, html or latex (default: by file ending; JSONL: prose); a single "
     "file may then "
     "have any ending",
     0},
    {"domain", DOMAIN_LABEL, "NAME", 0,
     "Label of documents that name none in \"domain\" or \"source\" (default: their kind)", 0},
    {"limit", LIMIT, "TOKENS", 0,
     "Take at most so many tokens per domain: whole documents in order of their content hash, so that a smaller "
     "sample is "
     "part of a larger one",
     0},
    {"parse-special", PARSE_SPECIAL, NULL, 0,
     "Take special tokens spelled in the text for tokens (default: they are text)", 0},
    {"input-ids", INPUT_IDS, NULL, 0, "JSONL lines hold \"input_ids\": already tokenised, no tokenizer", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state) {
    options *o = state->input;
    lg_kind kind;
    switch (key) {
    case TOKENIZER:
        o->dataset.tokenizer = arg;
        break;
    case 'o':
        o->out = arg;
        break;
    case KIND:
        if (!lg_kind_parse(arg, &kind))
            argp_error(state, "--kind is prose, python, html or latex, not '%s'", arg);
        o->dataset.kind = arg;
        break;
    case DOMAIN_LABEL:
        o->dataset.domain = arg;
        break;
    case LIMIT:
        o->dataset.limit = cli_number(state, "--limit", arg, 1, INT64_MAX);
        break;
    case PARSE_SPECIAL:
        o->dataset.parse_special = true;
        break;
    case INPUT_IDS:
        o->dataset.input_ids = true;
        break;
    case ARGP_KEY_ARGS:
        o->paths = state->argv + state->next;
        o->n_paths = (size_t)(state->argc - state->next);
        break;
    case ARGP_KEY_END:
        if (!o->n_paths) argp_error(state, "name a corpus: folders, files or JSONL");
        if (!o->out) argp_error(state, "say with -o where the dataset goes");
        if (o->dataset.input_ids && o->dataset.tokenizer)
            argp_error(state, "--input-ids takes no --tokenizer");
        if (o->dataset.input_ids && o->dataset.parse_special)
            argp_error(state, "--input-ids takes no --parse-special");
        if (!o->dataset.input_ids && !o->dataset.tokenizer)
            argp_error(state, "--tokenizer is missing (or --input-ids)");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp argp = {
    table,
    parse,
    "CORPUS...",
    "Reads folders, files and JSONL (also .gz and .zst), tokenises them and writes one dataset.\v"
    "Folders are read with all below them, in order of the paths: .txt .md .rst (prose), .py, .html .htm, "
    ".tex .ltx "
    ".latex .sty, .jsonl .ndjson; other files are passed over and counted. A JSONL line is an object with "
    "\"text\" and, if "
    "there, \"id\", \"source\", \"domain\", \"kind\". Bytes are kept as they are.",
    NULL,
    NULL,
    NULL};

int cmd_tokenize(int argc, char **argv) {
    options o = {0};
    cli c;
    cli_start(&c, argc, argv, &argp, CLI_THREADS, &o);
    c.go_on = "stopped; nothing was written";
    o.dataset.threads = c.threads;
    o.dataset.command = c.command_line;
    lg_status status =
        lg_dataset_build((const char *const *)o.paths, o.n_paths, &o.dataset, o.out, &c.monitor, &c.error);
    return cli_end(&c, status);
}
