/* lossgap compare: the whole way from checkpoints and a corpus to a table. Every step leaves an artefact in
   the output folder and is done only where that is missing or stale. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/cli.h"
#include "lossgap/align.h"
#include "lossgap/dataset.h"
#include "lossgap/report.h"
#include "lossgap/score.h"
#include "lossgap/tag.h"

enum { DEFAULT_CONTEXT = 8192, KEY_BY = 0x100, KEY_SORT, KEY_WHERE };

struct options {
    char **arguments; /* models, then corpora */
    size_t n_arguments;
    const char *out;
    lg_dataset_options dataset;
    lg_score_options score;
    char **by;
    size_t n_by;
    const char *where;
    lg_gap_sort sort;
};

static error_t parse(int key, char *argument, struct argp_state *state) {
    static const char *const sorts[] = {"group", "contribution", NULL};
    struct options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &o->dataset;
        state->child_inputs[1] = &o->score;
        return 0;
    case 'o':
        o->out = argument;
        return 0;
    case KEY_BY:
        free(o->by);
        o->by = cli_list(state, "--by", argument, &o->n_by);
        return 0;
    case KEY_WHERE:
        o->where = argument;
        return 0;
    case KEY_SORT:
        o->sort = (lg_gap_sort)cli_choice(state, "--sort", argument, sorts);
        return 0;
    case ARGP_KEY_ARGS:
        o->arguments = state->argv + state->next;
        o->n_arguments = (size_t)(state->argc - state->next);
        return 0;
    case ARGP_KEY_END:
        if (!o->n_arguments)
            argp_error(state, "which models, and on which text? Models first, then folders or files");
        if (!o->out) argp_error(state, "where to? Give -o DIR");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options[] = {
    {"output", 'o', "DIR", 0,
     "Keep every artefact in the folder DIR: the same command goes on from what is there", 1},
    {"by", KEY_BY, "COLUMN,...", 0,
     "Group by each of these columns alone and by all together (default: what `lossgap gap` takes)", 40},
    {"where", KEY_WHERE, "EXPR", 0,
     "Count only tokens for which EXPR holds, as in 'family = noun and copy_len = 0' (docs/guide/query.md)",
     40},
    {"sort", KEY_SORT, "ORDER", 0,
     "Order of the table's lines: group (default) or contribution (gap x tokens)", 40},
    {0},
};

static const struct argp_child children[] = {
    {&cli_corpus_argp, 0, "How the text is read:", 20},
    {&cli_score_argp, 0, "How it is scored:", 30},
    {0},
};

static const struct argp argp = {
    options,
    parse,
    "[NAME=]MODEL_A [NAME=]MODEL_B... CORPUS... -o DIR",
    "Score text with two or more models, token by token, and say where each "
    "later one predicts better than the first."
    "\vA MODEL is a folder with config.json, tokenizer.json and safetensors "
    "files, or a hub id (REPO or REPO@REVISION) in "
    "the local Hugging Face cache; NAME is what tables and files call it. A "
    "CORPUS is a folder, a text file or JSONL (also "
    ".gz, .zst). DIR will hold data.safetensors, tags.safetensors, "
    "scores-NAME.safetensors, gap.json, gap.csv and gap.txt. Models with different "
    "tokenizers are compared over the byte spans that they share: `lossgap align "
    "--help`.",
    children,
    NULL,
    NULL};

/* One comparison at work. */
typedef struct comparison {
    cli *c;
    const struct options *o;
    cli_model *models; /* [n_models] */
    char (*folders)[PATH_MAX];
    lg_model **opened;
    size_t n_models, context; /* context: of all models */
    int lock;
    /* the text in tokens: once for all models that have the same, the first ones' first */
    lg_dataset *data; /* [n_data] */
    size_t n_data;
    size_t *data_of;   /* [n_models] */
    size_t *first_of;  /* [n_data] the first model that has it */
    lg_scores *scores; /* [n_models] over these tokens */
    /* what is compared: these tokens, or the spans that several tokenizers share */
    bool spans;
    lg_dataset units;
    lg_scores *over; /* [n_models] */
    lg_gap *gap;
} comparison;

static const lg_dataset *units(const comparison *p) {
    return p->spans ? &p->units : &p->data[0];
}

/* ---- models and corpora ---- */

static bool is_named(const char *argument) {
    const char *equals = strchr(argument, '=');
    return equals && !memchr(argument, '/', (size_t)(equals - argument)) && !lg_exists(argument);
}

/* Whether ARGUMENT is a model: named, a folder with a config.json, or a hub id that is there. */
static bool is_model(const char *argument, lg_error *error) {
    char path[PATH_MAX];
    if (is_named(argument)) return true;
    if (lg_is_folder(argument)) {
        char *config = lg_path_join(argument, "config.json");
        bool there = config && lg_exists(config);
        free(config);
        if (!there) lg_fail(error, LG_BAD_INPUT, "there is no config.json in the folder %s", argument);
        return there;
    }
    return !lg_model_locate(argument, path, sizeof path, error);
}

static lg_status find_models(comparison *p) {
    const struct options *o = p->o;
    lg_error why = {0}, *error = &p->c->error;
    while (p->n_models < o->n_arguments && is_model(o->arguments[p->n_models], &why)) p->n_models++;
    if (p->n_models < 2 && p->n_models < o->n_arguments)
        return lg_fail(error, LG_BAD_INPUT, "compare needs two models first, but '%s' is none: %s",
                       o->arguments[p->n_models], why.message);
    if (p->n_models < 2) return lg_fail(error, LG_USAGE, "compare needs two models at least, then the text");
    if (p->n_models == o->n_arguments)
        return lg_fail(error, LG_USAGE, "on which text? Name folders or files after the models");
    p->models = calloc(p->n_models, sizeof *p->models);
    p->opened = calloc(p->n_models, sizeof *p->opened);
    p->scores = calloc(p->n_models, sizeof *p->scores);
    p->over = calloc(p->n_models, sizeof *p->over);
    p->data = calloc(p->n_models, sizeof *p->data);
    p->data_of = calloc(p->n_models, sizeof *p->data_of);
    p->first_of = calloc(p->n_models, sizeof *p->first_of);
    p->folders = calloc(p->n_models, sizeof *p->folders);
    if (!p->models || !p->opened || !p->scores || !p->over || !p->data || !p->data_of || !p->first_of ||
        !p->folders)
        return lg_fail_memory(error);
    lg_status status = cli_name_models(o->arguments, p->n_models, p->models, error);
    for (size_t i = 0; i < p->n_models && !status; i++) {
        status = lg_model_locate(p->models[i].where, p->folders[i], sizeof p->folders[i], error);
        if (!status) status = lg_model_open(p->models[i].where, &p->opened[i], &p->c->monitor, error);
    }
    p->context = o->score.context ? o->score.context : DEFAULT_CONTEXT;
    for (size_t i = 0; i < p->n_models && !status && !o->score.context; i++) {
        size_t most = lg_model_get_info(p->opened[i])->max_positions;
        if (most && most < p->context) p->context = most;
    }
    return status;
}

/* ---- steps ---- */

static char *in_folder(const comparison *p, const char *name, const char *model) {
    char *path;
    size_t n = strlen(p->o->out);
    return asprintf(&path, "%s%s%s%s%s", p->o->out, n && p->o->out[n - 1] == '/' ? "" : "/", name,
                    model ? model : "", model ? ".safetensors" : "") < 0
               ? NULL
               : path;
}

/* Another dataset of the same documents, for model I, whose tokenizer splits them as no earlier one does. */
static lg_status add_data(comparison *p, size_t i) {
    lg_error *error = &p->c->error;
    char *path = in_folder(p, "data-", p->models[i].name);
    if (!path) return lg_fail_memory(error);
    bool current;
    lg_status status = lg_dataset_is_retokenized(path, &p->data[0], p->folders[i], &current, error);
    if (!status && !current)
        status = lg_dataset_retokenize(&p->data[0], p->folders[i], p->c->threads, p->c->command_line, path,
                                       &p->c->monitor, error);
    if (!status) status = lg_dataset_open(path, &p->data[p->n_data], error);
    free(path);
    if (status) return status;
    p->first_of[p->n_data] = i;
    p->data_of[i] = p->n_data++;
    return LG_OK;
}

/* The dataset of model I: one that is there, or a new one. */
static lg_status find_data(comparison *p, size_t i) {
    lg_error *error = &p->c->error;
    char difference[800];
    for (size_t d = 0; d < p->n_data; d++) {
        char other[800];
        bool same;
        lg_status status =
            cli_same_tokens(&p->data[d], p->folders[i], p->o->dataset.parse_special,
                            p->models[p->first_of[d]].name, p->models[i].name, p->c->threads, &same,
                            d ? other : difference, sizeof difference, &p->c->monitor, error);
        if (status) return status;
        p->data_of[i] = d;
        if (same) return LG_OK;
    }
    if (p->o->score.windows == LG_WINDOWS_PAPER)
        return lg_fail(
            error, LG_BAD_INPUT,
            "%s; in paper windows, which are cut by tokens, they would see different documents: compare "
            "them with --windows document",
            difference);
    if (p->o->score.prefix >= 0)
        return lg_fail(error, LG_BAD_INPUT,
                       "%s; so --prefix %lld means another token to each of them: use auto or none",
                       difference, (long long)p->o->score.prefix);
    lg_note(&p->c->monitor, "%s; they are compared over the byte spans that they share", difference);
    return add_data(p, i);
}

static lg_status make_data(comparison *p) {
    lg_dataset_options wanted = p->o->dataset;
    wanted.tokenizer = wanted.input_ids ? NULL : p->folders[0];
    wanted.threads = p->c->threads;
    wanted.command = p->c->command_line;
    const char *const *paths = (const char *const *)(p->o->arguments + p->n_models);
    size_t n_paths = p->o->n_arguments - p->n_models;
    char *path = in_folder(p, "data.safetensors", NULL);
    if (!path) return lg_fail_memory(&p->c->error);
    bool current;
    lg_status status =
        lg_dataset_is_current(path, paths, n_paths, &wanted, &p->c->monitor, &current, &p->c->error);
    if (!status && !current)
        status = lg_dataset_build(paths, n_paths, &wanted, path, &p->c->monitor, &p->c->error);
    if (!status) status = lg_dataset_open(path, &p->data[0], &p->c->error);
    p->n_data = !status;
    free(path);
    if (!status && !p->data[0].n_tokens)
        status = lg_fail(&p->c->error, LG_BAD_INPUT, "there is no text to compare the models on");
    for (size_t i = 1; i < p->n_models && !status && p->data[0].has_text; i++) status = find_data(p, i);
    p->spans = p->n_data > 1;
    return status;
}

/* The settings of model I: one context for all. */
static lg_score_options settings_of(const comparison *p, size_t i) {
    lg_score_options s = p->o->score;
    s.context = p->context;
    s.threads = p->c->threads;
    s.model_name = p->models[i].name;
    s.tokenizer = p->data[0].has_text ? p->folders[i] : NULL;
    s.command = p->c->command_line;
    return s;
}

static const char *prefix_text(int64_t prefix, char out[32]) {
    if (prefix < 0) return "none";
    snprintf(out, 32, "token %lld", (long long)prefix);
    return out;
}

/* All models of a tokenizer must see the same before a document. Said before hours of work, not after. */
static lg_status check_plans(comparison *p) {
    lg_score_plan first = {0}, *of_data = calloc(p->n_data, sizeof *of_data);
    lg_status result = of_data ? LG_OK : lg_fail_memory(&p->c->error);
    for (size_t i = 0; i < p->n_models && !result; i++) {
        lg_score_options s = settings_of(p, i);
        const size_t d = p->data_of[i], before = p->first_of[d];
        lg_score_plan plan;
        char *path = in_folder(p, "scores-", p->models[i].name), one[32], other[32];
        result = path ? lg_score_plan_make(p->opened[i], &p->data[d], &s, path, &plan, &p->c->error)
                      : lg_fail_memory(&p->c->error);
        free(path);
        if (result) break;
        if (!i) first = plan;
        if (i == before) of_data[d] = plan;
        if (plan.prefix != of_data[d].prefix)
            result = lg_fail(&p->c->error, LG_BAD_INPUT,
                             "before a document %s would see %s, but %s %s: choose one with --prefix",
                             p->models[before].name, prefix_text(of_data[d].prefix, one), p->models[i].name,
                             prefix_text(plan.prefix, other));
        if (!result && (plan.prefix < 0) != (first.prefix < 0))
            lg_note(&p->c->monitor,
                    "before a document %s sees %s, but %s %s: the first span of a document has no loss",
                    p->models[0].name, prefix_text(first.prefix, one), p->models[i].name,
                    prefix_text(plan.prefix, other));
        if (!i) lg_note(&p->c->monitor, "%s windows, context %zu", lg_windows_name(s.windows), plan.context);
        if (plan.precision != first.precision)
            lg_note(&p->c->monitor, "%s is scored in %s, %s in %s: --precision chooses one for both",
                    p->models[0].name, lg_precision_name(first.precision), p->models[i].name,
                    lg_precision_name(plan.precision));
    }
    free(of_data);
    return result;
}

/* What tags and losses are compared over. The spans are made before there are scores, so that all that can be
   wrong is said before hours of work. */
static lg_status make_units(comparison *p) {
    lg_error *error = &p->c->error;
    if (!p->spans) return LG_OK;
    char *folder = in_folder(p, "spans", NULL), *path = in_folder(p, "spans/data.safetensors", NULL);
    lg_align_source *sources = calloc(p->n_models, sizeof *sources);
    bool current;
    lg_status status = folder && path && sources ? lg_make_folders(folder, error) : lg_fail_memory(error);
    for (size_t i = 0; i < p->n_models && !status; i++) sources[i].data = &p->data[p->data_of[i]];
    if (!status) status = lg_align_is_current(sources, p->n_models, path, NULL, &current, error);
    if (!status && !current)
        status = lg_align_run(sources, p->n_models, path, NULL, p->c->command_line, NULL, NULL,
                              &p->c->monitor, error);
    if (!status) status = lg_dataset_open(path, &p->units, error);
    if (!status && p->o->score.columns)
        lg_note(&p->c->monitor,
                "entropy, rank and top1 say nothing of spans: they stay in the scores over tokens");
    free(sources);
    free(folder);
    free(path);
    return status;
}

static lg_status make_tags(comparison *p, char **path) {
    lg_tag_options wanted = {.threads = p->c->threads, .command = p->c->command_line};
    if (p->spans) wanted.multi = LG_MULTI_ALL; /* a span counts for each family that it carries */
    if (p->o->score.windows == LG_WINDOWS_PAPER) wanted.window = settings_of(p, 0).context;
    bool current;
    *path = in_folder(p, p->spans ? "spans/tags.safetensors" : "tags.safetensors", NULL);
    if (!*path) return lg_fail_memory(&p->c->error);
    lg_status status = lg_tag_is_current(*path, units(p), &wanted, &current, &p->c->error);
    if (status || current) return status;
    return lg_tag_run(units(p), &wanted, *path, &p->c->monitor, &p->c->error);
}

/* A wrong condition is said before hours of work, not after. */
static lg_status check_where(comparison *p, const char *tags) {
    if (!p->o->where) return LG_OK;
    const char **names = calloc(p->n_models, sizeof *names);
    if (!names) return lg_fail_memory(&p->c->error);
    for (size_t i = 0; i < p->n_models; i++) names[i] = p->models[i].name;
    lg_status status = lg_gap_check_where(p->o->where, units(p), names, p->n_models,
                                          p->spans ? 0 : p->o->score.columns, tags, &p->c->error);
    free(names);
    return status;
}

static lg_status make_scores(comparison *p) {
    lg_status status = LG_OK;
    for (size_t i = 0; i < p->n_models && !status; i++) {
        lg_score_options s = settings_of(p, i);
        char *path = in_folder(p, "scores-", p->models[i].name);
        if (!path) return lg_fail_memory(&p->c->error);
        snprintf(p->c->progress.label, sizeof p->c->progress.label, "%s", p->models[i].name);
        const lg_dataset *data = &p->data[p->data_of[i]];
        status = lg_score_run(p->opened[i], data, &s, path, &p->c->monitor, &p->c->error);
        p->c->progress.label[0] = '\0';
        if (!status) status = lg_scores_open(path, data, &p->scores[i], &p->c->error);
        free(path);
        lg_model_close(p->opened[i]); /* its pages are of no use any more */
        p->opened[i] = NULL;
    }
    return status;
}

/* The losses over spans. */
static lg_status align(comparison *p) {
    lg_error *error = &p->c->error;
    if (!p->spans) return LG_OK;
    char *data = in_folder(p, "spans/data.safetensors", NULL), **outs = calloc(p->n_models, sizeof *outs);
    lg_align_source *sources = calloc(p->n_models, sizeof *sources);
    bool current;
    lg_status status = data && outs && sources ? LG_OK : lg_fail_memory(error);
    for (size_t i = 0; i < p->n_models && !status; i++) {
        sources[i] = (lg_align_source){&p->data[p->data_of[i]], &p->scores[i]};
        if (!(outs[i] = in_folder(p, "spans/scores-", p->models[i].name))) status = lg_fail_memory(error);
    }
    const char *const *paths = (const char *const *)outs;
    if (!status) status = lg_align_is_current(sources, p->n_models, data, paths, &current, error);
    if (!status && !current)
        status = lg_align_run(sources, p->n_models, data, paths, p->c->command_line, NULL, NULL,
                              &p->c->monitor, error);
    for (size_t i = 0; i < p->n_models && !status; i++)
        status = lg_scores_open(outs[i], &p->units, &p->over[i], error);
    for (size_t i = 0; i < p->n_models && outs; i++) free(outs[i]);
    free(outs);
    free(sources);
    free(data);
    return status;
}

static lg_status make_gap(comparison *p, const char *tags) {
    lg_error *error = &p->c->error;
    lg_gap_options wanted = {.by = (const char *const *)p->o->by,
                             .n_by = p->o->n_by,
                             .where = p->o->where,
                             .threads = p->c->threads,
                             .command = p->c->command_line};
    lg_status status =
        lg_gap_compute(units(p), p->spans ? p->over : p->scores, p->n_models, tags, &wanted, &p->gap, error);
    static const char *const names[] = {"gap.json", "gap.csv", "gap.txt"};
    for (size_t i = 0; i < 3 && !status; i++) {
        char *text = NULL, *path = in_folder(p, names[i], NULL);
        size_t length = 0;
        lg_table_style style = {.sort = p->o->sort};
        status = !path    ? lg_fail_memory(error)
                 : i == 0 ? lg_gap_json(p->gap, &text, &length, error)
                 : i == 1 ? lg_gap_csv(p->gap, &text, &length, error)
                          : lg_gap_table(p->gap, &style, &text, &length, error);
        if (!status) status = cli_write_text(path, text, length, error);
        free(text);
        free(path);
    }
    return status;
}

/* ---- what the user sees ---- */

/* The table on the screen leaves out columns that mostly repeat others; gap.txt has them all. */
static const char *const hidden[] = {"char_class", "prev_distance", NULL};

static lg_status print(const comparison *p) {
    cli_progress_clear(&p->c->progress);
    char *text;
    size_t length;
    lg_table_style style = {.width = cli_width(stdout),
                            .color = cli_color(stdout),
                            .sort = p->o->sort,
                            .hide = p->o->by ? NULL : hidden};
    lg_status status = p->c->json ? lg_gap_json(p->gap, &text, &length, &p->c->error)
                                  : lg_gap_table(p->gap, &style, &text, &length, &p->c->error);
    if (status) return status;
    fwrite(text, 1, length, stdout);
    free(text);
    if (p->c->json || p->c->quiet) return LG_OK;
    const char *a = p->models[0].name, *b = p->models[1].name;
    char *d = in_folder(p, p->spans ? "spans/" : "", NULL); /* where the artefacts are */
    if (!d) return lg_fail_memory(&p->c->error);
    printf("\nAll of it, with distances and character classes: %s/gap.txt, gap.csv, gap.json.  Next:\n"
           "  lossgap gap %sscores-%s.safetensors %sscores-%s.safetensors --data %sdata.safetensors "
           "--tags %stags.safetensors --by delimiter,domain\n"
           "  lossgap export %sdata.safetensors %sscores-%s.safetensors %sscores-%s.safetensors --format csv "
           "-o tokens.csv\n"
           "  lossgap inspect %sscores-%s.safetensors\n",
           p->o->out, d, a, d, b, d, d, d, d, a, d, b, d, b);
    free(d);
    return LG_OK;
}

static void close_comparison(comparison *p) {
    lg_gap_free(p->gap);
    for (size_t i = 0; i < p->n_models; i++) {
        if (p->over) lg_scores_close(&p->over[i]);
        if (p->scores) lg_scores_close(&p->scores[i]);
        if (p->opened) lg_model_close(p->opened[i]);
    }
    lg_dataset_close(&p->units);
    for (size_t d = 0; d < p->n_data; d++) lg_dataset_close(&p->data[d]);
    if (p->models) cli_free_models(p->models, p->n_models);
    free(p->models);
    free(p->folders);
    free(p->opened);
    free(p->scores);
    free(p->over);
    free(p->data);
    free(p->data_of);
    free(p->first_of);
    if (p->lock >= 0) close(p->lock);
}

int cmd_compare(int argc, char **argv) {
    struct options o = {0};
    cli c;
    cli_start(&c, argc, argv, &argp, CLI_THREADS | CLI_JSON, &o);
    c.go_on = "stopped; what was done is kept, the same command goes on from there";
    comparison p = {.c = &c, .o = &o, .lock = -1};
    char *tags = NULL;
    lg_status status = find_models(&p);
    if (!status) status = cli_lock_folder(o.out, &p.lock, &c.error);
    if (!status) status = make_data(&p);
    if (!status) status = check_plans(&p);
    if (!status) status = make_units(&p);
    if (!status) status = make_tags(&p, &tags);
    if (!status) status = check_where(&p, tags);
    if (!status) status = make_scores(&p);
    if (!status) status = align(&p);
    if (!status) status = make_gap(&p, tags);
    if (!status) status = print(&p);
    free(tags);
    free(o.by);
    close_comparison(&p);
    return cli_end(&c, status);
}
