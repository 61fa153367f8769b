/* lossgap regress: a regression over columns of tokens. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "cli/cli.h"
#include "lossgap/report.h"

struct options {
    cli_token_options tokens; /* without groups */
    const char **tables, **references, *difficulty;
    size_t n_tables, tables_room, references_room;
    bool paper;
    lg_regress_options regress;
};

enum {
    KEY_FORMULA = 0x100,
    KEY_CLUSTER,
    KEY_ABSORB,
    KEY_WEIGHTS,
    KEY_REFERENCE,
    KEY_TOLERANCE,
    KEY_DIFFICULTY,
    KEY_PRESET
};

static double parse_tolerance(const struct argp_state *state, const char *text) {
    char *end;
    double value = strtod(text, &end);
    if (*end || end == text || !(value >= 1e-14 && value < 1))
        argp_error(state, "--tolerance takes a number from 1e-14 to 1, not '%s'", text);
    return value;
}

static error_t parse(int key, char *argument, struct argp_state *state) {
    static const char *const presets[] = {"paper", NULL};
    struct options *o = state->input;
    lg_regress_options *r = &o->regress;
    switch (key) {
    case KEY_FORMULA:
        r->formula = argument;
        return 0;
    case KEY_PRESET:
        cli_choice(state, "--preset", argument, presets);
        o->paper = true;
        return 0;
    case KEY_DIFFICULTY:
        o->difficulty = argument;
        return 0;
    case KEY_CLUSTER:
        r->cluster = argument;
        return 0;
    case KEY_ABSORB:
        r->absorb = argument;
        return 0;
    case KEY_WEIGHTS:
        r->weights = argument;
        return 0;
    case KEY_REFERENCE:
        return cli_push(&o->references, &r->n_references, &o->references_room, argument);
    case KEY_TOLERANCE:
        r->tolerance = parse_tolerance(state, argument);
        return 0;
    case ARGP_KEY_ARG:
        return cli_push(&o->tables, &o->n_tables, &o->tables_room, argument);
    case ARGP_KEY_END:
        if (!o->n_tables)
            argp_error(state, "which tables? Name files with columns, or two scores with --data");
        if (o->paper && r->formula) argp_error(state, "--preset paper is a formula: give one of the two");
        if (o->paper) r->formula = LG_REGRESS_PAPER;
        if (!r->formula)
            argp_error(state, "what is to be explained, and by what? Give --formula 'gap ~ domain + ...'");
        if (o->tokens.data && o->n_tables < 2)
            argp_error(state, "with --data, name the scores of two models");
        if (!o->tokens.data && (o->tokens.tags || o->difficulty || o->paper))
            argp_error(state, "--tags, --difficulty and --preset are for scores: give --data DATA too");
        if (o->tokens.data && !r->cluster) r->cluster = "doc";
        return 0;
    default:
        return cli_parse_tokens(key, argument, state, &o->tokens);
    }
}

static const struct argp_option options[] = {
    {"data", CLI_TOKENS_DATA, "DATA", 0, "The dataset that was scored: the arguments are scores", 1},
    {"tags", CLI_TOKENS_TAGS, "TAGS", 0, "Its tags (from `lossgap tag`)", 1},
    {"preset", KEY_PRESET, "paper", 0, "The paper's regression in place of --formula", 1},
    {"difficulty", KEY_DIFFICULTY, "MODEL", 0,
     "The loss of this model as the difficulty (further scores may be named); default mean: of the two "
     "models",
     1},
    {"formula", KEY_FORMULA, "FORMULA", 0,
     "OUTCOME ~ TERM + TERM...: columns, powers x^2, interactions a:b and a*b, 0 + for no intercept", 1},
    {"define", CLI_TOKENS_DEFINE, "NAME=EXPR", 0,
     "A column computed from others, as 'log_frequency=log(frequency)'; comparisons give 0 and 1", 1},
    {"where", CLI_TOKENS_WHERE, "EXPR", 0,
     "Only rows for which this holds, as 'copy_len = 0 and domain != python'", 1},
    {"reference", KEY_REFERENCE, "COLUMN=LEVEL", 0,
     "The level that the others of a category are compared with (default: its first)", 1},
    {"cluster", KEY_CLUSTER, "COLUMN", 0,
     "Errors clustered by this column (default: doc for scores, else classical errors)", 1},
    {"absorb", KEY_ABSORB, "COLUMN", 0, "An effect for each value of this column, by demeaning", 1},
    {"weights", KEY_WEIGHTS, "COLUMN", 0, "Analytic weights of the rows", 1},
    {"tolerance", KEY_TOLERANCE, "SHARE", 0,
     "Drop a column of whose norm the columns before it leave less than this share (default 1e-7)", 1},
    {"output", 'o', "REG.json", 0, "Write JSON there and the coefficients as CSV beside it (REG.csv)", 2},
    {0},
};

static const struct argp argp = {
    options,
    parse,
    "SCORES_A SCORES_B... --data DATA --tags TAGS --formula FORMULA\nTABLE... --formula FORMULA",
    "Explain a column of tokens by others, by least squares: coefficients with errors "
    "clustered by document beside classical ones, adjusted means of the levels of each "
    "category, content words less function words, opening less closing delimiters."
    "\vScores come with the columns gap, difficulty, doc and those of the dataset and the tags, as domain, "
    "tag, family, wordpos, relpos, copy1 ... copy4, log_prev_distance, prev_missing, log_frequency. A TABLE "
    "is a safetensors file or CSV (.csv, .tsv, also with .gz); all have the "
    "same rows. Columns are taken in order, and the later of two aliased ones is dropped "
    "and named.",
    NULL,
    NULL,
    NULL};

static lg_status write_files(const lg_regress *regress, const char *out, lg_error *error) {
    char *json = NULL, *csv = NULL;
    size_t json_length, csv_length;
    lg_status status = lg_regress_json(regress, &json, &json_length, error);
    if (!status) status = lg_regress_csv(regress, &csv, &csv_length, error);
    if (!status) status = cli_write_beside(out, ".csv", csv, csv_length, error);
    if (!status) status = cli_write_beside(out, ".json", json, json_length, error);
    free(json);
    free(csv);
    return status;
}

/* --difficulty may also be a file of scores: one of those named already, or SCORES [n_tables], which is
   opened. Its model's name, as tables tell models apart, goes to NAME. */
static lg_status find_difficulty(cli *c, const struct options *o, const lg_dataset *data, lg_scores *scores,
                                 size_t *n, char *name, size_t size) {
    const char *wanted = o->difficulty;
    size_t at = 0, same = 1;
    snprintf(name, size, "%s", wanted ? wanted : "mean");
    for (size_t i = 0; wanted && i < *n; i++)
        if (strcmp(scores[i].model_name, wanted) == 0) return LG_OK;
    if (!wanted || !lg_exists(wanted)) return LG_OK;
    while (at < *n && !lg_is_same_file(o->tables[at], wanted)) at++;
    if (at == *n) {
        lg_status status = lg_scores_open(wanted, data, &scores[at], &c->error);
        if (status) return status;
        ++*n;
    }
    for (size_t i = 0; i < at; i++) same += strcmp(scores[i].model_name, scores[at].model_name) == 0;
    if (same > 1) snprintf(name, size, "%s#%zu", scores[at].model_name, same);
    else snprintf(name, size, "%s", scores[at].model_name);
    return LG_OK;
}

/* The frame of what the arguments name. DATA and SCORES [n_tables + 1] are filled with --data. */
static lg_status fill_frame(cli *c, const struct options *o, lg_frame *frame, lg_dataset *data,
                            lg_scores *scores) {
    char difficulty[300];
    size_t n = o->n_tables;
    lg_status status =
        o->tokens.data ? cli_open_scores(o->tokens.data, o->tables, n, data, scores, &c->error) : LG_OK;
    for (size_t i = 0; i < n && !status && !o->tokens.data; i++)
        status = lg_frame_add_file(frame, o->tables[i], &c->error);
    if (!status && o->tokens.data)
        status = find_difficulty(c, o, data, scores, &n, difficulty, sizeof difficulty);
    if (!status && o->tokens.data)
        status = lg_frame_add_scores(frame, data, scores, n, o->tokens.tags, difficulty, &c->error);
    for (size_t i = 0; i < o->tokens.n_definitions && !status; i++)
        status = lg_frame_define(frame, o->tokens.definitions[i], &c->error);
    return status;
}

static lg_status run(cli *c, struct options *o) {
    lg_dataset data = {0};
    lg_scores *scores = calloc(o->n_tables + 1, sizeof *scores);
    lg_frame *frame = NULL;
    lg_regress *regress = NULL;
    char *text = NULL;
    size_t length;
    o->regress.references = o->references;
    o->regress.where = o->tokens.where;
    o->regress.command = c->command_line;
    o->regress.threads = c->threads;
    lg_status status = scores ? lg_frame_create(&frame, &c->error) : lg_fail_memory(&c->error);
    if (!status) status = fill_frame(c, o, frame, &data, scores);
    if (!status) status = lg_regress_compute(frame, &o->regress, &c->monitor, &regress, &c->error);
    if (!status && o->tokens.out) status = write_files(regress, o->tokens.out, &c->error);
    lg_table_style style = {.width = cli_width(stdout), .color = cli_color(stdout)};
    if (!status)
        status = c->json ? lg_regress_json(regress, &text, &length, &c->error)
                         : lg_regress_table(regress, &style, &text, &length, &c->error);
    if (!status) fwrite(text, 1, length, stdout);
    free(text);
    lg_regress_free(regress);
    lg_frame_free(frame);
    for (size_t i = 0; i <= o->n_tables && scores; i++) lg_scores_close(&scores[i]);
    free(scores);
    lg_dataset_close(&data);
    return status;
}

int cmd_regress(int argc, char **argv) {
    struct options o = {0};
    cli c;
    cli_start(&c, argc, argv, &argp, CLI_THREADS | CLI_JSON, &o);
    lg_status status = run(&c, &o);
    free(o.tables);
    free(o.references);
    free(o.tokens.definitions);
    return cli_end(&c, status);
}
