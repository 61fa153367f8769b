/* lossgap filter: named conditions over tokens, as masks that any training loop can average its losses over.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/cli.h"
#include "lossgap/report.h"

struct options {
    const char *data, *tags, *out;
    cli_filter_options filter; /* pair, hard: files of scores */
};

static error_t parse(int key, char *argument, struct argp_state *state) {
    struct options *o = state->input;
    switch (key) {
    case 'o':
        o->out = argument;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 1) argp_error(state, "one DATASET and one TAGS, not also '%s'", argument);
        *(state->arg_num ? &o->tags : &o->data) = argument;
        return 0;
    case ARGP_KEY_END:
        if (!o->tags) argp_error(state, "DATASET and TAGS are needed");
        return 0;
    default:
        return cli_parse_filter(key, argument, state, &o->filter);
    }
}

static const struct argp_option options[] = {
    {"output", 'o', "MASKS", 0, "Write the masks there (without: only say what they would hold)", 1},
    {"filters", CLI_FILTER_FILTERS, "FILE", 0,
     "Take the filters of FILE, too: NAME = EXPRESSION, a line each (docs/guide/filters.md)", 1},
    {"only", CLI_FILTER_ONLY, "NAME,...", 0, "Make just these filters, in this order", 1},
    {"scores", CLI_FILTER_SCORES, "A", 0,
     "--scores A B: the scores of the pair by which `state` chooses its tags: those on which B is ahead of A "
     "the most",
     1},
    {"state-tags", CLI_FILTER_STATE_TAGS, "TAG,...", 0,
     "Take these tags for `state` instead, in all documents", 1},
    {"hard", CLI_FILTER_HARD, "SCORES", 0,
     "The scores by which `hard_copy5` knows what was hard: above 2 nats", 1},
    {0},
};

static const struct argp argp = {
    options,
    parse,
    "DATASET TAGS",
    "Make masks of tokens by named conditions, for mean losses over them: one U8 row per filter, beside the "
    "tokens' ids and offsets."
    "\vBuilt in: all; state (new tokens of the content tags on which B is ahead of A the most; one half of "
    "the "
    "documents chooses the tags, the filter holds in the other); copy5 (tokens that complete a repeated "
    "5-gram), hard_copy5 (of these, where the first occurrence was hard); open, close (delimiters); content, "
    "function (words); novel, reuse (tokens that are new in their document, or not). `state` needs --scores "
    "or --state-tags, hard_copy5 --hard.",
    NULL,
    NULL,
    NULL};

static lg_status run(cli *c, const struct options *o) {
    lg_dataset data = {0};
    lg_scores pair[2] = {0}, hard = {0};
    lg_filters *filters = NULL;
    char *text = NULL;
    size_t length;
    lg_status status = o->out ? lg_filters_may_write(o->out, &c->error) : LG_OK;
    if (!status) status = lg_dataset_open(o->data, &data, &c->error);
    for (size_t i = 0; i < 2 && o->filter.pair[0] && !status; i++)
        status = lg_scores_open(o->filter.pair[i], &data, &pair[i], &c->error);
    if (!status && o->filter.hard) status = lg_scores_open(o->filter.hard, &data, &hard, &c->error);
    lg_filter_options made = {.file = o->filter.file,
                              .only = (const char *const *)o->filter.only,
                              .pair = o->filter.pair[0] ? pair : NULL,
                              .hard = o->filter.hard ? &hard : NULL,
                              .state_tags = (const char *const *)o->filter.state_tags,
                              .threads = c->threads,
                              .command = c->command_line};
    if (!status) status = lg_filters_open(&data, o->tags, &made, &filters, &c->error);
    if (!status && o->out) status = lg_filters_write(filters, o->out, &c->error);
    lg_table_style style = {.width = cli_width(stdout), .color = cli_color(stdout)};
    if (!status)
        status = c->json ? lg_filters_json(filters, &text, &length, &c->error)
                         : lg_filters_table(filters, &style, &text, &length, &c->error);
    if (!status) fwrite(text, 1, length, stdout);
    free(text);
    lg_filters_close(filters);
    for (size_t i = 0; i < 2; i++) lg_scores_close(&pair[i]);
    lg_scores_close(&hard);
    lg_dataset_close(&data);
    return status;
}

int cmd_filter(int argc, char **argv) {
    struct options o = {0};
    cli c;
    cli_start(&c, argc, argv, &argp, CLI_THREADS | CLI_JSON, &o);
    lg_status status = run(&c, &o);
    free(o.filter.only);
    free(o.filter.state_tags);
    return cli_end(&c, status);
}
