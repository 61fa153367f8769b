/* lossgap curve: filtered losses over the checkpoints of training runs. Scores are kept by content, so that
   each checkpoint is computed once; with --watch the results grow as training goes on. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/curve.h"

enum { EVERY = 30 }; /* seconds */
enum {
    KEY_RUN = 0x100,
    KEY_CORPUS,
    KEY_TOKENS,
    KEY_TOKENIZER,
    KEY_BASELINE,
    KEY_WATCH,
    KEY_LIST,
    KEY_AXIS,
    KEY_LOG,
    KEY_BITS,
};

/* ---- options ---- */

static bool ends_in_json(const char *path) {
    size_t n = strlen(path);
    return n > 5 && strcasecmp(path + n - 5, ".json") == 0;
}

static error_t parse(int key, char *argument, struct argp_state *state) {
    static const char *const axes[] = {"auto", "step", "tokens", NULL};
    curve_options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &o->dataset;
        state->child_inputs[1] = &o->score;
        return 0;
    case 'o':
        o->out = argument;
        return 0;
    case KEY_RUN:
        if (!strchr(argument, '=')) argp_error(state, "--run takes NAME=GLOB, not '%s'", argument);
        return cli_push(&o->runs, &o->n_runs, &o->runs_room, argument);
    case KEY_CORPUS:
        return cli_push(&o->corpora, &o->n_corpora, &o->corpora_room, argument);
    case KEY_TOKENS: {
        const char *equals = strrchr(argument, '=');
        cli_number(state, "--tokens-per-step", equals ? equals + 1 : argument, 1, INT64_MAX);
        return cli_push(&o->tokens_per_step, &o->n_tokens_per_step, &o->tokens_room, argument);
    }
    case KEY_TOKENIZER:
        o->tokenizer = argument;
        return 0;
    case KEY_BASELINE:
        o->baseline = argument;
        return 0;
    case KEY_WATCH:
        o->watch = true;
        o->seconds = argument ? (unsigned)cli_number(state, "--watch", argument, 1, 86400) : EVERY;
        return 0;
    case KEY_LIST:
        o->list = true;
        return 0;
    case KEY_AXIS:
        o->picture.axis = (lg_curve_axis)cli_choice(state, "--axis", argument, axes);
        return 0;
    case KEY_LOG:
        o->picture.log = true;
        return 0;
    case KEY_BITS:
        o->picture.bytes = true;
        return 0;
    case ARGP_KEY_ARG:
        if (!o->runs_file && ends_in_json(argument)) {
            o->runs_file = argument;
            return 0;
        }
        return cli_push(&o->corpora, &o->n_corpora, &o->corpora_room, argument);
    case ARGP_KEY_END:
        if (!o->runs_file && !o->n_runs)
            argp_error(state, "which runs? Give RUNS.json, or --run NAME=GLOB for each");
        if (o->list) return 0;
        if (!o->n_corpora) argp_error(state, "on which text? Give --corpus CORPUS");
        if (!o->out) argp_error(state, "where to? Give -o DIR");
        return 0;
    default:
        return cli_parse_filter(key, argument, state, &o->filter);
    }
}

static const struct argp_option options[] = {
    {"output", 'o', "DIR", 0,
     "Keep scores and results in the folder DIR: what is scored once is never computed again", 1},
    {"run", KEY_RUN, "NAME=GLOB", 0,
     "A run and its checkpoints: folders with a step in their name, or the folder that holds them; may be "
     "given "
     "again, also for the same NAME",
     1},
    {"corpus", KEY_CORPUS, "CORPUS", 0, "A folder, a text file or JSONL to score; may be given again", 1},
    {"baseline", KEY_BASELINE, "NAME", 0, "The run that gaps are against (default: the first)", 1},
    {"tokens-per-step", KEY_TOKENS, "[NAME=]N", 0,
     "Tokens seen = step x N, of all runs or of the run NAME (default: what trainer_state.json or the "
     "folder's "
     "name says)",
     1},
    {"tokenizer", KEY_TOKENIZER, "DIR", 0,
     "Take the tokenizer from DIR (default: each checkpoint's own, which must all read the text alike)", 1},
    {"watch", KEY_WATCH, "SECONDS", OPTION_ARG_OPTIONAL,
     "Go on while training runs: look every SECONDS (default 30), score what is new and whole, write the "
     "results "
     "anew; Ctrl-C ends it",
     1},
    {"list", KEY_LIST, NULL, 0, "Say which checkpoints there are, and score nothing", 1},
    {"filters", CLI_FILTER_FILTERS, "FILE", 0,
     "Take the filters of FILE, too: NAME = EXPRESSION, a line each (docs/guide/filters.md)", 10},
    {"only", CLI_FILTER_ONLY, "NAME,...", 0, "Just these filters, in this order", 10},
    {"scores", CLI_FILTER_SCORES, "A", 0,
     "--scores A B: the pair by which `state` chooses its tags: runs (their last checkpoints), RUN@STEP, or "
     "files "
     "of scores (default: the baseline and the next run, at the last step that both have)",
     10},
    {"state-tags", CLI_FILTER_STATE_TAGS, "TAG,...", 0,
     "Take these tags for `state` instead, in all documents", 10},
    {"hard", CLI_FILTER_HARD, "MODEL", 0,
     "By which `hard_copy5` knows what was hard: a run, RUN@STEP, or a file of scores (default: A)", 10},
    {"axis", KEY_AXIS, "AXIS", 0,
     "Of the picture: step, tokens (seen), or auto (default: tokens where they are known of all)", 15},
    {"log", KEY_LOG, NULL, 0, "Of the picture: a logarithmic axis", 15},
    {"bits-per-byte", KEY_BITS, NULL, 0, "Of the picture: bits per byte in place of nats per token", 15},
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
    "[RUNS.json] [--run NAME=GLOB...] --corpus CORPUS... -o DIR",
    "Follow the losses of training runs over their checkpoints, for all tokens and for filters of them, with "
    "intervals, and the gap between runs at equal steps."
    "\vA step is the last number after step, checkpoint, ckpt or iter in a folder's name (step100, "
    "checkpoint-100, "
    "global_step100, step1000-tokens4B, iter_0001000). RUNS.json names runs and checkpoints, too "
    "(docs/formats/runs.md). A checkpoint that is still being written is left for later; a broken one is "
    "skipped "
    "and the program ends with 1. DIR will hold curve.json, curve.csv, curve.txt, curve.vl.json (a Vega-Lite "
    "picture), checkpoints.json, data.safetensors, tags.safetensors and the folder scores.",
    children,
    NULL,
    NULL};

/* ---- runs ---- */

char *curve_path(const curve_work *w, const char *name) {
    return lg_path_join(w->o->out, name);
}

static lg_status read_runs(curve_work *w) {
    const curve_options *o = w->o;
    lg_error *error = &w->c->error;
    lg_status status = lg_runs_create(&w->runs, error);
    if (!status && o->runs_file) status = lg_runs_read(w->runs, o->runs_file, error);
    for (size_t i = 0; i < o->n_runs && !status; i++) {
        const char *equals = strchr(o->runs[i], '=');
        char *name = strndup(o->runs[i], (size_t)(equals - o->runs[i]));
        status = name ? lg_runs_add(w->runs, name, equals + 1, error) : lg_fail_memory(error);
        free(name);
    }
    for (size_t i = 0; i < o->n_tokens_per_step && !status; i++) {
        const char *text = o->tokens_per_step[i], *equals = strrchr(text, '=');
        char *name = equals ? strndup(text, (size_t)(equals - text)) : NULL;
        status = equals && !name ? lg_fail_memory(error)
                                 : lg_runs_set_tokens_per_step(
                                       w->runs, name, strtoull(equals ? equals + 1 : text, NULL, 10), error);
        free(name);
    }
    return status;
}

static bool is_run(const curve_work *w, const char *name, size_t length) {
    for (size_t i = 0; i < lg_runs_count(w->runs); i++) {
        const char *run = lg_runs_at(w->runs, i)->name;
        if (strlen(run) == length && memcmp(run, name, length) == 0) return true;
    }
    return false;
}

static const char *baseline_of(const curve_work *w) {
    return w->o->baseline              ? w->o->baseline
           : lg_runs_baseline(w->runs) ? lg_runs_baseline(w->runs)
                                       : lg_runs_at(w->runs, 0)->name;
}

/* The step of RUN@STEP, where LENGTH is that of RUN. */
static lg_status read_step(const curve_work *w, const char *text, size_t length, uint64_t *step) {
    const char *digits = text + length + 1;
    size_t n = strspn(digits, "0123456789");
    errno = 0;
    *step = strtoull(digits, NULL, 10);
    if (n && !digits[n] && !errno) return LG_OK;
    return lg_fail(&w->c->error, LG_USAGE, "'%s': behind the @ stands a step", text);
}

/* RUN, RUN@STEP, or a file that is there. */
static lg_status check_reference(const curve_work *w, const char *option, const char *text) {
    size_t length = text ? strcspn(text, "@") : 0;
    uint64_t step;
    if (!text) return LG_OK;
    if (is_run(w, text, length)) return text[length] ? read_step(w, text, length, &step) : LG_OK;
    if (lg_exists(text)) return LG_OK;
    return lg_fail(&w->c->error, LG_USAGE, "%s %s: there is neither a run nor a file of that name", option,
                   text);
}

static lg_status check_names(curve_work *w) {
    const char *baseline = baseline_of(w);
    if (!is_run(w, baseline, strlen(baseline)))
        return lg_fail(&w->c->error, LG_USAGE, "--baseline %s: there is no such run", baseline);
    lg_status status =
        w->o->out ? cli_refuse_inside(w->o->out, w->o->corpora, w->o->n_corpora, &w->c->error) : LG_OK;
    if (!status) status = check_reference(w, "--scores", w->o->filter.pair[0]);
    if (!status) status = check_reference(w, "--scores", w->o->filter.pair[1]);
    if (!status) status = check_reference(w, "--hard", w->o->filter.hard);
    if (!status && w->o->filter.file && !lg_exists(w->o->filter.file))
        status = lg_fail(&w->c->error, LG_BAD_INPUT, "there is no file %s", w->o->filter.file);
    return status;
}

/* The runs, the baseline first. free() */
static const char **order_runs(const curve_work *w, size_t *n) {
    const char *baseline = baseline_of(w), **names;
    *n = lg_runs_count(w->runs);
    names = lg_alloc(*n, sizeof *names);
    size_t k = 1;
    for (size_t i = 0; names && i < *n; i++) {
        const char *run = lg_runs_at(w->runs, i)->name;
        if (strcmp(run, baseline) == 0) names[0] = run;
        else names[k++] = run;
    }
    return names;
}

/* ---- the scores that filters are made with ---- */

typedef struct reference {
    lg_scores scores; /* model_name: the run, for expressions */
    char label[200], name[160];
    bool there, owned; /* owned: opened here */
} reference;

static void refer(reference *r, const curve_scored *s, bool step) {
    r->there = true;
    r->scores = s->scores;
    snprintf(r->label, sizeof r->label, "%.120s step %llu", s->run, (unsigned long long)s->step);
    if (step) snprintf(r->name, sizeof r->name, "%.120s@%llu", s->run, (unsigned long long)s->step);
    else snprintf(r->name, sizeof r->name, "%.120s", s->run);
    r->scores.model_name = r->name;
}

static const curve_scored *last_of(const curve_work *w, const char *run, size_t length) {
    const curve_scored *last = NULL;
    for (size_t i = 0; i < w->n_scored; i++) {
        const curve_scored *s = &w->scored[i];
        if (strlen(s->run) != length || memcmp(s->run, run, length) != 0) continue;
        if (!last || s->step > last->step) last = s;
    }
    return last;
}

static lg_status open_reference(const curve_work *w, const char *text, reference *r) {
    size_t length = strcspn(text, "@");
    const curve_scored *s = NULL;
    if (!is_run(w, text, length)) {
        lg_status status = lg_scores_open(text, &w->data, &r->scores, &w->c->error);
        r->there = r->owned = !status;
        snprintf(r->label, sizeof r->label, "%.190s", status ? "" : r->scores.model_name);
        return status;
    }
    if (!text[length]) {
        s = last_of(w, text, length);
    } else {
        uint64_t step;
        lg_status status = read_step(w, text, length, &step);
        if (status) return status;
        for (size_t i = 0; i < w->n_scored; i++)
            if (w->scored[i].step == step && strlen(w->scored[i].run) == length &&
                memcmp(w->scored[i].run, text, length) == 0)
                s = &w->scored[i];
        if (!s && !w->o->watch) return lg_fail(&w->c->error, LG_USAGE, "'%s': no such step has scores", text);
    }
    if (s) refer(r, s, text[length] != '\0');
    return LG_OK;
}

/* The baseline and the next run with scores, at the last step that both have. */
static void default_pair(const curve_work *w, const char *const *runs, size_t n, reference pair[2]) {
    const curve_scored *a = last_of(w, runs[0], strlen(runs[0])), *b = NULL;
    for (size_t i = 1; i < n && !b; i++) b = last_of(w, runs[i], strlen(runs[i]));
    if (!a || !b) return;
    const curve_scored *common_a = NULL, *common_b = NULL;
    for (size_t i = 0; i < w->n_scored; i++) {
        const curve_scored *s = &w->scored[i], *other = curve_find(w, b->run, s->step);
        if (strcmp(s->run, a->run) != 0 || !other || (common_a && s->step < common_a->step)) continue;
        common_a = s;
        common_b = other;
    }
    refer(&pair[0], common_a ? common_a : a, false);
    refer(&pair[1], common_a ? common_b : b, false);
}

/* The filters of --only that can be made by now: while a run has no checkpoint yet, `state` and `hard_copy5`
   must wait. free() the array. */
static const char **wanted_now(const curve_work *w, bool pair, bool hard, lg_error *error) {
    char **only = w->o->filter.only;
    size_t n = 0, k = 0;
    while (only[n]) n++;
    const char **names = lg_alloc(n + 1, sizeof *names);
    if (!names) {
        lg_fail_memory(error);
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        bool waits = (strcmp(only[i], "state") == 0 && !pair && !w->o->filter.state_tags) ||
                     (strcmp(only[i], "hard_copy5") == 0 && !hard);
        if (!waits || !w->o->watch) names[k++] = only[i];
    }
    names[k] = NULL;
    return names;
}

/* Whether the checkpoint of RUN@STEP is there, or its scores were kept. With --watch it may come. */
static lg_status check_step(const curve_work *w, const char *text, size_t length) {
    uint64_t step;
    bool there = false;
    lg_status status = read_step(w, text, length, &step);
    for (size_t i = 0; i < lg_runs_count(w->runs) && !status; i++) {
        const lg_run *run = lg_runs_at(w->runs, i);
        if (strlen(run->name) != length || memcmp(run->name, text, length) != 0) continue;
        for (size_t k = 0; k < run->n_checkpoints && !there; k++) there = run->checkpoints[k].step == step;
        if (!there) status = curve_manifest_has(w, run->name, &step, &there);
    }
    if (status || there || w->o->watch) return status;
    return lg_fail(&w->c->error, LG_USAGE, "'%s': there is no such step; --list says which there are", text);
}

/* What expressions will call the reference TEXT: a run as it was given, a file's scores by their model.
   free() NULL: it is not there, cannot be opened, or no memory. */
static char *name_reference(const curve_work *w, const char *text) {
    lg_scores scores = {0};
    char *name;
    size_t length = strcspn(text, "@");
    if (is_run(w, text, length) && text[length] && check_step(w, text, length)) return NULL;
    if (is_run(w, text, length)) name = strdup(text);
    else if (lg_scores_open(text, &w->data, &scores, &w->c->error)) return NULL;
    else name = strdup(scores.model_name);
    lg_scores_close(&scores);
    if (!name) lg_fail_memory(&w->c->error);
    return name;
}

/* Takes the runs that will have no scores out of RUNS [*N]. With --watch any may have. */
static lg_status drop_empty(curve_work *w, const char **runs, size_t *n) {
    size_t kept = 0;
    lg_status status = LG_OK;
    for (size_t i = 0; i < *n && !status; i++) {
        bool there = w->o->watch;
        for (size_t r = 0; r < lg_runs_count(w->runs); r++) {
            const lg_run *run = lg_runs_at(w->runs, r);
            there |= strcmp(run->name, runs[i]) == 0 && run->n_checkpoints;
        }
        if (!there) status = curve_manifest_has(w, runs[i], NULL, &there);
        if (!status && !there) lg_note(&w->c->monitor, "no checkpoint was found of the run %s", runs[i]);
        if (there) runs[kept++] = runs[i];
        else if (i == 0) break; /* no gaps without the baseline */
    }
    *n = kept;
    return status;
}

lg_status curve_check_filters(curve_work *w) {
    const curve_options *o = w->o;
    lg_filter_options wanted = {.file = o->filter.file,
                                .only = (const char *const *)o->filter.only,
                                .state_tags = (const char *const *)o->filter.state_tags};
    const char *given[3] = {o->filter.pair[0], o->filter.pair[1], o->filter.hard}, *models[3];
    char *names[3] = {NULL};
    size_t n_runs, n = 0;
    const char **runs = order_runs(w, &n_runs);
    lg_status status = runs ? drop_empty(w, runs, &n_runs) : lg_fail_memory(&w->c->error);
    for (size_t i = 0; i < 3 && !status; i++)
        if (given[i] && !(names[i] = name_reference(w, given[i]))) status = w->c->error.status;
    /* by default the second of the pair is the first run behind the baseline that has scores: any may be */
    size_t seconds = o->filter.pair[0] || n_runs < 3 ? 1 : n_runs - 1;
    for (size_t k = 0; k < seconds && !status; k++) {
        n = 0;
        if (o->filter.pair[0] || n_runs > 1) {
            models[n++] = o->filter.pair[0] ? names[0] : runs[0];
            models[n++] = o->filter.pair[0] ? names[1] : runs[k + 1];
        }
        if (names[2] && (!n || (strcmp(names[2], models[0]) != 0 && strcmp(names[2], models[1]) != 0)))
            models[n++] = names[2];
        lg_error why = {0};
        lg_status own = lg_filters_check(&w->data, w->tags, &wanted, models, n, &why);
        if (!own) break;
        if (k + 1 == seconds) status = lg_fail(&w->c->error, own, "%s", why.message);
    }
    for (size_t i = 0; i < 3; i++) free(names[i]);
    free(runs);
    return status;
}

/* Makes the filters, unless they are made and would be the same. */
static lg_status make_filters(curve_work *w, const char *const *runs, size_t n_runs, reference r[3]) {
    const curve_options *o = w->o;
    lg_error *error = &w->c->error;
    lg_status status = LG_OK;
    if (o->filter.pair[0]) {
        status = open_reference(w, o->filter.pair[0], &r[0]);
        if (!status) status = open_reference(w, o->filter.pair[1], &r[1]);
    } else if (!o->filter.state_tags || !o->filter.hard) {
        default_pair(w, runs, n_runs, r);
    }
    if (!status && o->filter.hard) {
        status = open_reference(w, o->filter.hard, &r[2]);
    } else if (!status && r[0].there) {
        r[2] = r[0];
        r[2].owned = false;
        if (!r[0].owned) r[2].scores.model_name = r[2].name;
    }
    if (status) return status;
    bool pair = r[0].there && r[1].there && !o->filter.state_tags;
    lg_text key = {0};
    for (size_t i = 0; i < 3; i++)
        lg_text_printf(&key, "%s %s\n", r[i].there ? r[i].label : "", r[i].there ? r[i].scores.model : "");
    if (key.failed) return lg_fail_memory(error);
    if (w->filters && strcmp(key.data, w->filters_of) == 0) {
        lg_text_free(&key);
        return LG_OK;
    }
    lg_filters *filters = NULL;
    lg_scores both[2] = {r[0].scores, r[1].scores};
    const char **only = o->filter.only ? wanted_now(w, pair, r[2].there, error) : NULL;
    if (o->filter.only && !only) status = LG_FAILED;
    lg_filter_options wanted = {.file = o->filter.file,
                                .only = only,
                                .pair = pair ? both : NULL,
                                .hard = r[2].there ? &r[2].scores : NULL,
                                .state_tags = (const char *const *)o->filter.state_tags,
                                .threads = w->c->threads,
                                .command = w->c->command_line};
    if (!status) status = lg_filters_open(&w->data, w->tags, &wanted, &filters, error);
    free(only);
    if (status) {
        lg_text_free(&key);
        return status;
    }
    lg_curve_free(w->curve); /* it is over the old ones */
    w->curve = NULL;
    lg_filters_close(w->filters);
    w->filters = filters;
    free(w->filters_of);
    w->filters_of = key.data;
    return LG_OK;
}

/* ---- results ---- */

/* The last component of PATH; the whole where it has none. */
static const char *name_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* REASON without the path WHERE, which is of this machine. free(); NULL: no memory. */
static char *without_path(const char *reason, const char *where) {
    lg_text out = {0};
    size_t length = strlen(where);
    for (const char *p = reason; *p;) {
        if (length && strncmp(p, where, length) == 0) {
            lg_text_puts(&out, name_of(where));
            p += length;
        } else {
            lg_text_put(&out, p++, 1);
        }
    }
    if (!out.failed && !out.data) lg_text_puts(&out, "");
    if (!out.failed) return out.data;
    lg_text_free(&out);
    return NULL;
}

static lg_status list_skipped(const curve_work *w, lg_curve_skipped **list, size_t *n) {
    *n = 0;
    *list = calloc(w->n_waiting + 1, sizeof **list);
    if (!*list) return lg_fail_memory(&w->c->error);
    for (size_t i = 0; i < w->n_waiting; i++) {
        const curve_waiting *entry = &w->waiting[i];
        if (!entry->reason) continue;
        char *reason = without_path(entry->reason, entry->where);
        if (!reason) return lg_fail_memory(&w->c->error);
        (*list)[(*n)++] = (lg_curve_skipped){entry->run, name_of(entry->where), reason, entry->broken};
    }
    return LG_OK;
}

static void free_skipped(lg_curve_skipped *list, size_t n) {
    for (size_t i = 0; i < n; i++) free((char *)(uintptr_t)list[i].reason);
    free(list);
}

static lg_status compute(curve_work *w, const lg_curve_options *wanted) {
    lg_curve_checkpoint *list = lg_alloc(w->n_scored, sizeof *list);
    if (!list) return lg_fail_memory(&w->c->error);
    for (size_t i = 0; i < w->n_scored; i++) {
        const curve_scored *s = &w->scored[i];
        list[i] = (lg_curve_checkpoint){.run = s->run,
                                        .step = s->step,
                                        .tokens_seen = s->tokens,
                                        .tokens_from = lg_tokens_from_name(s->tokens_from),
                                        .name = s->name,
                                        .gone = s->gone,
                                        .scores = &s->scores};
    }
    lg_curve *curve;
    lg_status status =
        lg_curve_compute(&w->data, list, w->n_scored, w->filters, wanted, w->curve, &curve, &w->c->error);
    free(list);
    if (status) return status;
    lg_curve_free(w->curve);
    w->curve = curve;
    return LG_OK;
}

static bool speaks_utf8(void) {
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i]);
        if (value && *value) return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
    }
    return false;
}

static lg_status write_results(const curve_work *w) {
    static const char *const names[] = {"curve.json", "curve.csv", "curve.txt", "curve.vl.json"};
    lg_curve_style style = {.unicode = true};
    lg_error *error = &w->c->error;
    lg_status status = LG_OK;
    for (size_t i = 0; i < sizeof names / sizeof *names && !status; i++) {
        char *text = NULL, *path = curve_path(w, names[i]);
        size_t length = 0;
        status = !path    ? lg_fail_memory(error)
                 : i == 0 ? lg_curve_json(w->curve, &text, &length, error)
                 : i == 1 ? lg_curve_csv(w->curve, &text, &length, error)
                 : i == 2 ? lg_curve_table(w->curve, &style, &text, &length, error)
                          : lg_curve_picture(w->curve, &w->o->picture, &text, &length, error);
        if (!status) status = cli_write_text(path, text, length, error);
        free(text);
        free(path);
    }
    return status;
}

/* "hybrid step 360 (2.95 M tokens): all 4.8013 (gap +0.3426), …" for each checkpoint that is new. */
static void tell_new(curve_work *w) {
    const lg_curve_about *about = lg_curve_get_about(w->curve);
    cli_progress_clear(&w->c->progress);
    for (size_t i = 0; i < w->n_scored; i++) {
        curve_scored *s = &w->scored[i];
        char tokens[48];
        if (s->told) continue;
        s->told = true;
        if (w->c->json || w->c->quiet || s->gone) continue;
        printf("%s step %llu", s->run, (unsigned long long)s->step);
        if (s->tokens_from) printf(" (%s)", cli_quantity((double)s->tokens, "tokens", tokens));
        for (size_t f = 0; f < lg_filters_n(about->filters); f++)
            for (size_t r = 0; r < about->n_runs; r++) {
                size_t n;
                const lg_curve_point *line = lg_curve_line(w->curve, f, r, &n);
                for (size_t k = 0; k < n; k++) {
                    if (line[k].step != s->step || strcmp(line[k].run, s->run) != 0) continue;
                    printf("%s %s %.4f", f ? "," : ":", line[k].filter, line[k].loss.loss);
                    if (!isnan(line[k].loss.gap)) printf(" (gap %+.4f)", line[k].loss.gap);
                }
            }
        printf("\n");
    }
    fflush(stdout);
}

/* Computes the curves of all that is scored, and writes them. */
static lg_status publish(curve_work *w) {
    reference r[3] = {0};
    lg_curve_skipped *skipped = NULL;
    size_t n_skipped = 0, n_runs;
    const char **runs = order_runs(w, &n_runs);
    lg_status status = runs ? make_filters(w, runs, n_runs, r) : lg_fail_memory(&w->c->error);
    if (!status) status = list_skipped(w, &skipped, &n_skipped);
    bool pair = r[0].there && r[1].there && !w->o->filter.state_tags;
    lg_curve_options wanted = {.runs = runs,
                               .n_runs = n_runs,
                               .pair = {pair ? r[0].label : NULL, pair ? r[1].label : NULL},
                               .hard = r[2].there ? r[2].label : NULL,
                               .skipped = skipped,
                               .n_skipped = n_skipped,
                               .command = w->c->command_line};
    if (!status) status = compute(w, &wanted);
    if (!status) status = write_results(w);
    if (!status && w->o->watch) tell_new(w);
    free_skipped(skipped, n_skipped);
    for (size_t i = 0; i < 3; i++)
        if (r[i].owned) lg_scores_close(&r[i].scores);
    free(runs);
    return status;
}

static lg_status print(const curve_work *w) {
    char *text;
    size_t length;
    lg_curve_style style = {.color = cli_color(stdout), .unicode = speaks_utf8()};
    cli_progress_clear(&w->c->progress);
    lg_status status = w->c->json ? lg_curve_json(w->curve, &text, &length, &w->c->error)
                                  : lg_curve_table(w->curve, &style, &text, &length, &w->c->error);
    if (status) return status;
    fwrite(text, 1, length, stdout);
    fflush(stdout);
    free(text);
    if (!w->c->json && !w->c->quiet)
        printf("\nAll of it: %s/curve.json, curve.csv; a picture for Vega-Lite: %s/curve.vl.json\n",
               w->o->out, w->o->out);
    return LG_OK;
}

static void say_computed(const curve_work *w) {
    size_t n = w->n_scored;
    if (w->computed)
        lg_note(&w->c->monitor, "%zu checkpoint%s, %zu of them scored now", n, n == 1 ? "" : "s",
                w->computed);
    else
        lg_note(&w->c->monitor, "nothing to compute: the scores of %s%zu checkpoint%s are there",
                n == 1 ? "" : "all ", n, n == 1 ? "" : "s");
}

/* ---- the command ---- */

/* Nothing can be shown: says why. */
static lg_status complain(const curve_work *w) {
    for (size_t i = 0; i < w->n_waiting; i++)
        if (w->waiting[i].reason)
            return lg_fail(&w->c->error, LG_BAD_INPUT, "no checkpoint can be scored; %s: %s",
                           w->waiting[i].where, w->waiting[i].reason);
    const curve_options *o = w->o;
    return lg_fail(&w->c->error, LG_BAD_INPUT,
                   "no checkpoint was found by %s%s: a folder's name must hold a step, as in step100 or "
                   "checkpoint-100; --list says what is there",
                   o->n_runs ? o->runs[0] : o->runs_file,
                   o->n_runs > 1 || (o->n_runs && o->runs_file) ? " and the others" : "");
}

static void wait_for(unsigned seconds) {
    double end = cli_now() + seconds;
    while (!cli_stopped() && cli_now() < end) nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
}

static lg_status watch(curve_work *w) {
    bool changed, shown = false, said = false;
    while (!cli_stopped()) {
        lg_status status = curve_round(w, publish, &changed);
        if (!status && changed && w->n_scored) status = publish(w);
        if (status) return status;
        if (!shown && w->n_scored) {
            say_computed(w);
            if (!w->c->json) status = print(w);
            shown = true;
        }
        if (!said && !status) {
            lg_note(&w->c->monitor, "%s; looking every %u s, Ctrl-C ends it",
                    w->n_scored ? "watching" : "waiting for a first checkpoint", w->o->seconds);
            said = true;
        }
        if (status) return status;
        wait_for(w->o->seconds);
    }
    if (!w->curve) return lg_fail(&w->c->error, LG_CANCELLED, "stopped before there was a checkpoint");
    return print(w);
}

static lg_status run(curve_work *w) {
    bool changed;
    lg_status status = read_runs(w);
    if (!status) status = check_names(w);
    if (status) return status;
    if (w->o->list) return curve_list(w);
    if (w->o->watch) {
        status = watch(w);
    } else {
        status = curve_round(w, publish, &changed);
        if (!status && !w->n_scored) status = complain(w);
        if (!status) status = publish(w);
        if (!status) say_computed(w);
        if (!status) status = print(w);
    }
    size_t broken = 0;
    for (size_t i = 0; i < w->n_waiting; i++) broken += w->waiting[i].broken;
    if (!status && broken)
        status = lg_fail(&w->c->error, LG_FAILED,
                         "%zu checkpoint%s broken and left out; the results hold all others", broken,
                         broken == 1 ? " is" : "s are");
    return status;
}

static void close_work(curve_work *w) {
    lg_curve_free(w->curve);
    lg_filters_close(w->filters);
    for (size_t i = 0; i < w->n_scored; i++) {
        free(w->scored[i].run);
        free(w->scored[i].where);
        lg_scores_close(&w->scored[i].scores);
    }
    for (size_t i = 0; i < w->n_waiting; i++) {
        free(w->waiting[i].run);
        free(w->waiting[i].where);
        free(w->waiting[i].reason);
    }
    free(w->scored);
    free(w->waiting);
    free(w->filters_of);
    free(w->tags);
    if (w->has_data) lg_dataset_close(&w->data);
    lg_runs_free(w->runs);
}

int cmd_curve(int argc, char **argv) {
    curve_options o = {0};
    cli c;
    cli_start(&c, argc, argv, &argp, CLI_THREADS | CLI_JSON, &o);
    c.go_on = "stopped; what was scored is kept, the same command goes on from there";
    curve_work w = {.c = &c, .o = &o};
    lg_status status = run(&w);
    close_work(&w);
    free(o.runs);
    free(o.corpora);
    free(o.tokens_per_step);
    free(o.filter.only);
    free(o.filter.state_tags);
    return cli_end(&c, status);
}
