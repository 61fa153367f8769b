/* lossgap score: the loss of every token of a dataset under a model. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "lossgap/report.h"
#include "lossgap/score.h"

static const char doc[] = "Scores every token of DATA (from `lossgap tokenize`) with MODEL and writes "
                          "SCORES: each token's loss in nats, and how "
                          "many tokens of context it had.\v"
                          "MODEL is a folder in Hugging Face layout, a hub id in the local cache (REPO or "
                          "REPO@REVISION), or NAME=either; NAME "
                          "is what tables call it.\n\n"
                          "A run that was stopped or killed goes on where it was: what it computed lies in "
                          "SCORES.journal. Where SCORES exists "
                          "for the same model and settings, only rows that it lacks are computed: a grown "
                          "dataset costs only what is new.\n\n"
                          "Windows `document`: each document alone, the prefix before it; longer ones in "
                          "rows of L inputs, S apart, each token "
                          "scored in the first row that reaches it. Windows `paper`: all documents in one "
                          "stream that is cut every L tokens.";

enum { BATCH = 256, DRY_RUN, MASKS };

static const struct argp_option options[] = {
    {"output", 'o', "SCORES", 0, "The scores to write (required)", 1},
    {"masks", MASKS, "MASKS", 0,
     "Then print the mean loss over each of these filters (from `lossgap filter`), with intervals clustered "
     "by "
     "document",
     1},
    {"dry-run", DRY_RUN, NULL, 0, "Say what there is to do and how long it would take; write nothing", 1},
    {"batch", BATCH, "N", 0, "Tokens that go through a layer together (default: by the model's size)", 1},
    {0},
};

struct arguments {
    lg_score_options score;
    char *model, *data, *out, *masks;
    bool dry_run;
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
    case BATCH:
        a->score.batch = (size_t)cli_number(state, "--batch", argument, 1, 1u << 30);
        return 0;
    case MASKS:
        a->masks = argument;
        return 0;
    case DRY_RUN:
        a->dry_run = true;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 1) argp_error(state, "one MODEL and one DATA, not also '%s'", argument);
        *(state->arg_num ? &a->data : &a->model) = argument;
        return 0;
    case ARGP_KEY_END:
        if (!a->data) argp_error(state, "MODEL and DATA are needed");
        if (!a->out) argp_error(state, "say with -o where the scores go");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&cli_score_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {options, parse, "MODEL DATA", doc, children, NULL, NULL};

static void print_json(const lg_score_plan *p, double seconds) {
    printf("{\"rows\": %" PRIu64 ", \"tokens_scored\": %" PRIu64 ", \"tokens_unscorable\": %" PRIu64
           ", \"inputs\": %" PRIu64 ", \"rows_left\": %" PRIu64 ", \"inputs_left\": %" PRIu64
           ", \"flops_left\": %.17g, \"seconds_left\": %.3g, \"prefix\": ",
           p->rows, p->tokens_scored, p->tokens_unscorable, p->inputs, p->rows_left, p->inputs_left,
           p->flops_left, seconds);
    if (p->prefix >= 0) printf("%" PRId64, p->prefix);
    else printf("null");
    printf(", \"context\": %zu, \"stride\": ", p->context);
    if (p->stride) printf("%zu", p->stride);
    else printf("null");
    printf(", \"precision\": \"%s\"}\n", lg_precision_name(p->precision));
}

static void print_plan(const lg_score_plan *p, lg_windows windows, double seconds) {
    char text[48], time[32];
    printf("windows    %s, %zu tokens", lg_windows_name(windows), p->context);
    if (p->stride) printf(", stride %zu", p->stride);
    printf("\nprefix     ");
    if (p->prefix >= 0) printf("%" PRId64 "\n", p->prefix);
    else printf("none\n");
    printf("precision  %s\n", lg_precision_name(p->precision));
    printf("tokens     %" PRIu64 " to score, %" PRIu64 " unscorable\n", p->tokens_scored,
           p->tokens_unscorable);
    printf("rows       %" PRIu64 " with %" PRIu64 " inputs\n", p->rows, p->inputs);
    printf("left       %" PRIu64 " rows with %" PRIu64 " inputs, %s\n", p->rows_left, p->inputs_left,
           cli_quantity(p->flops_left, "FLOP", text));
    printf("time       about %s\n", cli_duration(seconds, time));
}

/* Says what there is to do, timing a little of it. */
static lg_status dry_run(cli *c, const struct arguments *a, const lg_model *model, const lg_dataset *data) {
    lg_score_plan plan;
    double seconds;
    lg_status status = lg_score_plan_make(model, data, &a->score, a->out, &plan, &c->error);
    if (!status) status = lg_score_estimate(model, data, &a->score, &plan, &seconds, &c->monitor, &c->error);
    if (status) return status;
    if (c->json) print_json(&plan, seconds);
    else print_plan(&plan, a->score.windows, seconds);
    return LG_OK;
}

lg_status cli_say_scores(cli *c, const char *path, const lg_dataset *data) {
    lg_scores scores;
    char line[256];
    if (c->quiet) return LG_OK;
    lg_status status = lg_scores_open(path, data, &scores, &c->error);
    if (status) return status;
    double sum = 0;
    size_t scored = 0;
    for (size_t i = 0; i < scores.n_tokens; i++) {
        if (isnan(scores.nll[i])) continue;
        sum += (double)scores.nll[i];
        scored++;
    }
    int n = snprintf(line, sizeof line, "%.100s: %zu tokens scored", scores.model_name, scored);
    if (scored)
        n += snprintf(line + n, sizeof line - (size_t)n, ", mean loss %.4f nats", sum / (double)scored);
    if (scored < scores.n_tokens)
        snprintf(line + n, sizeof line - (size_t)n, ", %zu unscorable", scores.n_tokens - scored);
    c->monitor.note(c->monitor.context, line);
    lg_scores_close(&scores);
    return LG_OK;
}

/* Prints the losses of the scores at PATH over FILTERS. */
static lg_status print_filtered(cli *c, const char *path, const lg_dataset *data, const lg_filters *filters) {
    lg_scores scores;
    lg_filtered_loss *losses = NULL;
    char *text = NULL;
    size_t length;
    lg_table_style style = {.width = cli_width(stdout), .color = cli_color(stdout)};
    lg_status status = lg_scores_open(path, data, &scores, &c->error);
    if (status) return status;
    status = lg_filtered_losses(data, &scores, 1, filters, &losses, &c->error);
    if (!status)
        status = c->json ? lg_filtered_json(filters, &scores, 1, losses, &text, &length, &c->error)
                         : lg_filtered_table(filters, &scores, 1, losses, &style, &text, &length, &c->error);
    if (!status) fwrite(text, 1, length, stdout);
    free(text);
    free(losses);
    lg_scores_close(&scores);
    return status;
}

static lg_status run(cli *c, struct arguments *a) {
    cli_model name;
    lg_model *model = NULL;
    lg_filters *filters = NULL;
    lg_dataset data = {0};
    lg_status status = cli_name_models(&a->model, 1, &name, &c->error);
    if (status) return status;
    a->score.model_name = name.name;
    a->score.threads = c->threads;
    a->score.command = c->command_line;
    if ((status = lg_dataset_open(a->data, &data, &c->error)) ||
        (a->masks &&
         (status = lg_masks_open(a->masks, &data, &filters, &c->error))) || /* before hours of work */
        (status = lg_model_open(name.where, &model, &c->monitor, &c->error)))
        goto done;
    if (a->dry_run) status = dry_run(c, a, model, &data);
    else status = lg_score_run(model, &data, &a->score, a->out, &c->monitor, &c->error);
    if (!status && !a->dry_run) status = cli_say_scores(c, a->out, &data);
    if (!status && !a->dry_run && filters) status = print_filtered(c, a->out, &data, filters);
done:
    lg_filters_close(filters);
    lg_model_close(model);
    lg_dataset_close(&data);
    cli_free_models(&name, 1);
    return status;
}

int cmd_score(int argc, char **argv) {
    struct arguments a = {0};
    cli c;
    cli_start(&c, argc, argv, &argp, CLI_THREADS | CLI_JSON, &a);
    c.go_on =
        a.dry_run ? "stopped" : "stopped; what was scored is kept, and the same command goes on from there";
    return cli_end(&c, run(&c, &a));
}
