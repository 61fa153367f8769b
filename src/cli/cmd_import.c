/* lossgap import: losses that another program computed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "lossgap/score.h"

static const char doc[] =
    "Makes SCORES from the losses that another program computed for the tokens of DATA (a GPU run, say).\v"
    "NLL.jsonl has one line for each document of DATA: {\"id\": its name, \"input_ids\": its tokens, "
    "\"nll\": their losses "
    "in nats}, and if you like \"context\", \"entropy\", \"rank\", \"top1\". All lists are as long as the "
    "document; null or "
    "NaN stands where there is no loss. `lossgap export` prints names and tokens of a dataset.\n\n"
    "--windows, --context, --stride and --prefix must say how the losses were computed: models are only "
    "compared where "
    "these agree.";

enum { DATA = 256, NAME, TOKENIZER };

static const struct argp_option options[] = {
    {"data", DATA, "DATA", 0, "The dataset that was scored (required)", 1},
    {"output", 'o', "SCORES", 0, "The scores to write (required)", 1},
    {"name", NAME, "NAME", 0, "What tables call the model (default: the file's name)", 1},
    {"tokenizer", TOKENIZER, "DIR", 0, "The model's folder, where --prefix auto looks", 1},
    {0},
};

struct arguments {
    lg_score_options score;
    char *losses, *data, *out, *name;
};

static error_t parse(int key, char *argument, struct argp_state *state) {
    struct arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->score;
        return 0;
    case 'o':
        a->out = argument;
        return 0;
    case DATA:
        a->data = argument;
        return 0;
    case NAME:
        a->name = argument;
        return 0;
    case TOKENIZER:
        a->score.tokenizer = argument;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num) argp_error(state, "one file of losses, not also '%s'", argument);
        a->losses = argument;
        return 0;
    case ARGP_KEY_END:
        if (!a->losses) argp_error(state, "a file of losses is needed");
        if (!a->data) argp_error(state, "say with --data what was scored");
        if (!a->out) argp_error(state, "say with -o where the scores go");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&cli_score_argp, 0, "How the losses were computed:", 10}, {0}};
static const struct argp argp = {options, parse, "NLL.jsonl", doc, children, NULL, NULL};

/* A model's name is NAME=, as everywhere, or made of the file's name. */
static lg_status name_it(const struct arguments *a, cli_model *name, lg_error *error) {
    char *argument = NULL;
    if (asprintf(&argument, a->name ? "%s=%s" : "%s%s", a->name ? a->name : "", a->losses) < 0)
        return LG_FAILED;
    lg_status status = cli_name_models(&argument, 1, name, error);
    free(argument);
    if (!status) name->where = a->losses;
    char *ending = status || a->name ? NULL : strrchr(name->name, '.');
    if (ending && ending > name->name && !strcmp(ending, ".jsonl")) *ending = '\0';
    return status;
}

int cmd_import(int argc, char **argv) {
    struct arguments a = {0};
    cli c;
    cli_start(&c, argc, argv, &argp, 0, &a);
    cli_model name = {0};
    lg_dataset data = {0};
    lg_status status = name_it(&a, &name, &c.error);
    if (!status) status = lg_dataset_open(a.data, &data, &c.error);
    a.score.model_name = name.name;
    a.score.command = c.command_line;
    if (!status) status = lg_score_import(a.losses, &data, &a.score, a.out, &c.monitor, &c.error);
    if (!status) status = cli_say_scores(&c, a.out, &data);
    lg_dataset_close(&data);
    cli_free_models(&name, 1);
    return cli_end(&c, status);
}
