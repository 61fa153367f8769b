/* lossgap tag: what each token is. */
#include <stdlib.h>

#include "base/error.h"
#include "cli/cli.h"
#include "lossgap/tag.h"

struct options {
    const char *data, *out;
    lg_tag_options tag;
};

static error_t parse(int key, char *argument, struct argp_state *state) {
    struct options *o = state->input;
    switch (key) {
    case 'o':
        o->out = argument;
        return 0;
    case 'w':
        o->tag.window = (size_t)cli_number(state, "--window", argument, 2, (1u << 31) - 1);
        return 0;
    case ARGP_KEY_ARG:
        if (o->data) argp_error(state, "one dataset at a time: '%s' is one too many", argument);
        o->data = argument;
        return 0;
    case ARGP_KEY_END:
        if (!o->data) argp_error(state, "which dataset? `lossgap tokenize` makes one");
        if (!o->out) argp_error(state, "where to? Give -o TAGS");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options[] = {
    {"output", 'o', "TAGS", 0, "Write the tags to the file TAGS", 1},
    {"window", 'w', "L", 0, "Tokens in a window of the copy features across documents (default 8192)", 1},
    {0},
};

static const struct argp argp = {
    options,
    parse,
    "DATA -o TAGS",
    "Say of every token of the dataset DATA what it is: its place in its word, the class of its first "
    "character, "
    "which delimiter opens or closes there, and how much of the text before it is seen again."
    "\vThe tags lie on the text, not on the tokens, and are the same for every model; `lossgap gap --tags "
    "TAGS` "
    "relates losses to them.",
    NULL,
    NULL,
    NULL};

int cmd_tag(int argc, char **argv) {
    struct options o = {0};
    cli c;
    cli_start(&c, argc, argv, &argp, CLI_THREADS, &o);
    o.tag.threads = c.threads;
    o.tag.command = c.command_line;
    lg_dataset data = {0};
    lg_status status = lg_dataset_open(o.data, &data, &c.error);
    if (!status) status = lg_tag_run(&data, &o.tag, o.out, &c.monitor, &c.error);
    lg_dataset_close(&data);
    return cli_end(&c, status);
}
