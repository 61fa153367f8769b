/* lossgap gap: where B predicts better than A, by category. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "cli/cli.h"
#include "lossgap/report.h"

struct options {
    cli_token_options tokens;
    const char **scores, *view;
    size_t n_scores, scores_room;
    lg_gap_sort sort;
};

enum { KEY_SORT = 0x100, KEY_VIEW };

static error_t parse(int key, char *argument, struct argp_state *state) {
    static const char *const sorts[] = {"group", "contribution", NULL};
    struct options *o = state->input;
    switch (key) {
    case KEY_VIEW:
        o->view = argument;
        return 0;
    case KEY_SORT:
        o->sort = (lg_gap_sort)cli_choice(state, "--sort", argument, sorts);
        return 0;
    case ARGP_KEY_ARG:
        return cli_push(&o->scores, &o->n_scores, &o->scores_room, argument);
    case ARGP_KEY_END:
        if (o->n_scores < 2)
            argp_error(state, "a gap needs the scores of two models; `lossgap score` makes them");
        if (o->view && o->tokens.by)
            argp_error(state, "--view has columns of its own to group by: leave out --by");
        if (!o->tokens.data) argp_error(state, "which dataset are these the scores of? Give --data DATA");
        return 0;
    default:
        return cli_parse_tokens(key, argument, state, &o->tokens);
    }
}

static const struct argp_option options[] = {
    {"data", CLI_TOKENS_DATA, "DATA", 0, "The dataset that was scored", 1},
    {"tags", CLI_TOKENS_TAGS, "TAGS", 0, "Its tags (from `lossgap tag`)", 1},
    {"by", CLI_TOKENS_BY, "COLUMN,...", 0,
     "Group by each of these columns alone and by all together: domain, kind, document, or a column of the "
     "tags "
     "(default: what there is of domain, family, class, delimiter, word_position, char_class, reuse, "
     "copy_len and "
     "prev_distance, each alone and crossed with domain)",
     1},
    {"multi", CLI_TOKENS_MULTI, "HOW", 0,
     "A token that carries several families, classes or delimiters counts under the first, under all, or not "
     "at all "
     "(drop); "
     "default: as the tags were made",
     1},
    {"define", CLI_TOKENS_DEFINE, "NAME=EXPR", 0,
     "A column computed from others, for --where, for later definitions and, if it is a condition or a "
     "category, "
     "for --by, as 'far=prev_distance > 1000'",
     1},
    {"where", CLI_TOKENS_WHERE, "EXPR", 0,
     "Count only tokens for which EXPR holds, as in 'family = noun and copy_len = 0' (docs/guide/query.md)",
     1},
    {"view", KEY_VIEW, "NAME", 0,
     "A ready-made comparison, with differences or slopes and their intervals; the names stand below", 1},
    {"bootstrap", CLI_TOKENS_BOOTSTRAP, "N", OPTION_ARG_OPTIONAL,
     "Intervals from N resamples of the documents, too (1000 without N); the same for any --threads", 1},
    {"seed", CLI_TOKENS_SEED, "NUMBER", 0, "Of the resamples (default 0)", 1},
    {"full", CLI_TOKENS_FULL, NULL, 0,
     "Add to the table: median, share of tokens improved, mean without the heaviest tokens, other averages, "
     "tests, the smallest effect that could "
     "be detected, bootstrap intervals. JSON and CSV always have them",
     2},
    {"output", 'o', "GAP.json", 0, "Write JSON there and CSV beside it (GAP.csv)", 2},
    {"sort", KEY_SORT, "ORDER", 0,
     "Order of the table's lines: group (default) or contribution (gap x tokens)", 2},
    {0},
};

/* The end of --help: the views by name. */
static char *help(int key, const char *text, void *input) {
    (void)input;
    if (key != ARGP_KEY_HELP_POST_DOC || !text) return (char *)text;
    lg_text out = {0};
    lg_text_printf(&out, "%s\n\nViews:", text);
    for (size_t i = 0; lg_gap_view_at(i); i++)
        lg_text_printf(&out, "\n  %-11s %s", lg_gap_view_at(i)->name, lg_gap_view_at(i)->about);
    return out.failed ? (char *)text : out.data; /* argp frees it */
}

static const struct argp argp = {options,
                                 parse,
                                 "SCORES_A SCORES_B... --data DATA",
                                 "Say by how much B predicts better than A, in total and by category: "
                                 "tokens, documents, losses, their gap with a "
                                 "95 % interval clustered by document, and bits per byte. With more than "
                                 "two, each later one is compared with the first."
                                 "\vThe gap is loss(A) - loss(B) in nats per token: positive where B "
                                 "predicts better. Numbers are grouped in bins: "
                                 "copy_len as 0, 1, 2, 3, 4, 5-8, 9-16, 17+, distances by powers of two.",
                                 NULL,
                                 help,
                                 NULL};

lg_status cli_write_gap(const lg_gap *gap, const char *out, lg_error *error) {
    char *json = NULL, *csv = NULL, *more = NULL;
    size_t json_length, csv_length, more_length;
    lg_status status = lg_gap_json(gap, &json, &json_length, error);
    if (!status) status = lg_gap_csv(gap, &csv, &csv_length, error);
    if (!status && lg_gap_n_contrasts(gap)) status = lg_gap_contrasts_csv(gap, &more, &more_length, error);
    if (!status && more) status = cli_write_beside(out, "-contrasts.csv", more, more_length, error);
    if (!status) status = cli_write_beside(out, ".csv", csv, csv_length, error);
    if (!status) status = cli_write_beside(out, ".json", json, json_length, error);
    free(json);
    free(csv);
    free(more);
    return status;
}

static lg_status run(cli *c, const struct options *o) {
    lg_dataset data = {0};
    lg_scores *scores = calloc(o->n_scores, sizeof *scores);
    lg_gap *gap = NULL;
    char *text = NULL;
    size_t length;
    if (!scores) return lg_fail_memory(&c->error);
    lg_status status = cli_open_scores(o->tokens.data, o->scores, o->n_scores, &data, scores, &c->error);
    lg_gap_options gap_options = {.by = (const char *const *)o->tokens.by,
                                  .n_by = o->tokens.n_by,
                                  .multi = o->tokens.multi,
                                  .where = o->tokens.where,
                                  .define = o->tokens.definitions,
                                  .n_define = o->tokens.n_definitions,
                                  .view = o->view,
                                  .bootstrap = o->tokens.bootstrap,
                                  .seed = o->tokens.seed,
                                  .threads = c->threads,
                                  .command = c->command_line};
    if (!status)
        status = lg_gap_compute(&data, scores, o->n_scores, o->tokens.tags, &gap_options, &gap, &c->error);
    if (!status && o->tokens.out) status = cli_write_gap(gap, o->tokens.out, &c->error);
    lg_table_style style = {
        .width = cli_width(stdout), .color = cli_color(stdout), .full = o->tokens.full, .sort = o->sort};
    if (!status)
        status = c->json ? lg_gap_json(gap, &text, &length, &c->error)
                         : lg_gap_table(gap, &style, &text, &length, &c->error);
    if (!status) fwrite(text, 1, length, stdout);
    free(text);
    lg_gap_free(gap);
    for (size_t i = 0; i < o->n_scores; i++) lg_scores_close(&scores[i]);
    free(scores);
    lg_dataset_close(&data);
    return status;
}

int cmd_gap(int argc, char **argv) {
    struct options o = {.tokens.fewest = 1};
    cli c;
    cli_start(&c, argc, argv, &argp, CLI_THREADS | CLI_JSON, &o);
    lg_status status = run(&c, &o);
    free(o.scores);
    free(o.tokens.by);
    free(o.tokens.definitions);
    return cli_end(&c, status);
}
