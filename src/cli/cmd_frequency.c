/* lossgap frequency: how often each token type occurs. */
#include <stdlib.h>

#include "base/error.h"
#include "cli/cli.h"
#include "lossgap/tag.h"

struct options {
    const char **data, *out;
    size_t n_data, data_room;
};

static error_t parse(int key, char *argument, struct argp_state *state) {
    struct options *o = state->input;
    switch (key) {
    case 'o':
        o->out = argument;
        return 0;
    case ARGP_KEY_ARG:
        return cli_push(&o->data, &o->n_data, &o->data_room, argument);
    case ARGP_KEY_END:
        if (!o->n_data) argp_error(state, "which dataset? `lossgap tokenize` makes one");
        if (!o->out) argp_error(state, "where to? Give -o FILE");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0, "Write the counts to FILE", 1},
    {0},
};

static const struct argp argp = {
    options,
    parse,
    "DATA... -o FILE",
    "Count the token types of the datasets DATA, all of one tokenizer. `lossgap tag --frequency "
    "FILE` then says how frequent a token is in these, not in the dataset at hand.",
    NULL,
    NULL,
    NULL};

int cmd_frequency(int argc, char **argv) {
    struct options o = {0};
    cli c;
    cli_start(&c, argc, argv, &argp, 0, &o);
    lg_dataset *data = calloc(o.n_data, sizeof *data);
    lg_status status = data ? LG_OK : lg_fail_memory(&c.error);
    for (size_t i = 0; i < o.n_data && !status; i++) status = lg_dataset_open(o.data[i], &data[i], &c.error);
    if (!status) status = lg_frequency_count(data, o.n_data, o.out, c.command_line, &c.monitor, &c.error);
    for (size_t i = 0; i < o.n_data && data; i++) lg_dataset_close(&data[i]);
    free(data);
    free(o.data);
    return cli_end(&c, status);
}
