/* lossgap probe: items made or read, scored by models, and what that says. A folder keeps items and
   log-probabilities, so that the same command goes on from what is there. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/cli.h"
#include "lossgap/probe.h"
#include "lossgap/probe_results.h"

static const char doc[] =
    "Asks models questions that isolate one ability each: who a pronoun means, who held what, which bracket "
    "is "
    "to be closed, products in a group, where things are by now. Each item is a prompt and its choices; a "
    "model answers with the choice that it gives the largest log-probability.\v"
    "A MODEL is a folder with config.json, tokenizer.json and safetensors files, or a hub id (REPO or "
    "REPO@REVISION) in the local Hugging Face cache; NAME is what tables and files call it.\n\n"
    "Items are made so that the distance is exact in the models' own tokens, or read from a file of items. "
    "DIR will hold items.jsonl, logp.jsonl (what each model gives each choice), run.json (what that was "
    "computed with) and the results: probes.json, tables as CSV, and probes.vl.json to draw. Models whose "
    "log-probabilities for the same items and settings are there already are not computed again, and a run "
    "that was stopped or killed goes on where it was.\n\n"
    "With --logp, log-probabilities that another program computed are evaluated; with --train-format, word "
    "problems are written as sequences to train on. Neither needs a MODEL.";

enum {
    ITEMS = 0x100,
    LOGP,
    DRY_RUN,
    FULL,
    PROBES,
    DISTANCES,
    COUNT,
    SEED,
    FILLER,
    ENTITIES,
    UPDATES,
    DISTRACTORS,
    LENGTHS,
    GROUPS,
    TRAIN_FORMAT,
    PRECISION,
    PREFIX,
    CONTEXT,
    BATCH,
};

static const struct argp_option options[] = {
    {"output", 'o', "DIR", 0, "Keep items, log-probabilities and results in the folder DIR (required)", 1},
    {"items", ITEMS, "FILE", 0, "Take the items of FILE (docs/formats/probe-items.md) instead of making some",
     1},
    {"logp", LOGP, "FILE", 0,
     "Evaluate log-probabilities of those items that are in FILE (docs/formats/probe.md); no MODEL is needed",
     1},
    {"dry-run", DRY_RUN, NULL, 0, "Make or read the items, write items.jsonl, and score nothing", 1},
    {"full", FULL, NULL, 0, "Print by cells and length-normalised, too", 1},

    {NULL, 0, NULL, 0, "How items are made:", 10},
    {"probes", PROBES, "LIST", 0,
     "Of pronoun, entity, closure, word_problem and discourse, with commas between (default: all)", 11},
    {"distances", DISTANCES, "LIST", 0,
     "Tokens between binding and query, 16 or more (default: 32,64,128,256,512,1024, as far as the models' "
     "context "
     "allows)",
     11},
    {"count", COUNT, "N", 0,
     "Items per probe and distance, rounded up to whole counterbalanced sets (default: 200)", 11},
    {"seed", SEED, "S", 0, "Another S gives other items (default: 0)", 11},
    {"filler", FILLER, "WHAT", 0,
     "What fills the distance: grammar (default: neutral sentences), words (random common ones) or text:FILE",
     11},
    {"entities", ENTITIES, "N", 0,
     "Discourse: characters, and as many places and objects, 3 to 12 (default: 4)", 11},
    {"updates", UPDATES, "N", 0,
     "Discourse: what is asked for changes once to N times, at most 16 (default: 3)", 11},
    {"distractors", DISTRACTORS, "N", 0,
     "Discourse: one to N others of its type are mentioned after that (default: 3, or all others)", 11},
    {"lengths", LENGTHS, "LIST", 0,
     "Word problems: elements in a sequence, 2 to 512, with --train-format to 4096 (default: 2,4,8,...,512)",
     11},
    {"groups", GROUPS, "LIST", 0, "Word problems: of A5, S5, A4xZ5 and Z60 (default: all)", 11},
    {"train-format", TRAIN_FORMAT, NULL, 0,
     "Write word problems as sequences to train on, DIR/train.jsonl, and end; groups, lengths, count and "
     "seed "
     "count here, too",
     11},

    {NULL, 0, NULL, 0, "How they are scored:", 20},
    {"precision", PRECISION, "P", 0,
     "auto (default: bf16 where the weights are and the processor can, else f32), f32 or bf16", 21},
    {"prefix", PREFIX, "WHICH", 0,
     "What stands before a prompt: auto (default: the model's bos, else eos, else <|endoftext|>), none, or a "
     "token id",
     21},
    {"context", CONTEXT, "L", 0,
     "Tokens that a model reads at most; longer items are left out (default: its max_position_embeddings)",
     21},
    {"batch", BATCH, "N", 0, "Tokens that go through a layer together (default: by the model's size)", 21},
    {0},
};

struct arguments {
    char **models;
    size_t n_models;
    const char *out, *items, *logp;
    bool dry_run, full, train;
    bool makes, fills, scores; /* given was an option of generators, of other items than word problems, of
                                  scoring */
    lg_probe_options make;
    uint64_t *distances, *lengths; /* owned; what MAKE points to */
    lg_probe_score_options score;
};

static uint64_t *numbers(const struct argp_state *state, const char *option, const char *text, uint64_t low,
                         uint64_t high, size_t *n) {
    char **list = cli_list(state, option, text, n);
    uint64_t *values = lg_alloc(*n, sizeof *values);
    if (!values) argp_failure(state, LG_FAILED, 0, "out of memory");
    for (size_t i = 0; i < *n; i++) values[i] = cli_number(state, option, list[i], low, high);
    free(list);
    return values;
}

static unsigned parse_probes(struct argp_state *state, const char *text) {
    const char *names[LG_N_PROBE_KINDS + 1] = {NULL};
    for (int k = 0; k < LG_N_PROBE_KINDS; k++) names[k] = lg_probe_kind_name((lg_probe_kind)k);
    size_t n;
    char **list = cli_list(state, "--probes", text, &n);
    unsigned kinds = 0;
    for (size_t i = 0; i < n; i++) kinds |= 1u << cli_choice(state, "--probes", list[i], names);
    free(list);
    return kinds;
}

static void check_arguments(struct argp_state *state, const struct arguments *a) {
    if (!a->out) argp_error(state, "where to? Give -o DIR");
    if (a->logp && !a->items)
        argp_error(state, "--logp goes with --items: which items are these log-probabilities of?");
    if (a->logp && (a->n_models || a->dry_run))
        argp_error(state, "--logp evaluates what is in its file: no MODEL, no --dry-run");
    if (a->items && (a->makes || a->train))
        argp_error(state, "--items takes the items as they are: no options that say how to make some");
    if (a->train && (a->n_models || a->dry_run))
        argp_error(state, "--train-format only writes sequences: no MODEL, no --dry-run");
    if (a->train && a->fills)
        argp_error(state,
                   "--train-format writes word problems: of what says how items are made, only --groups, "
                   "--lengths, --count and --seed count");
    if (a->scores && (a->train || a->logp))
        argp_error(state, "%s: nothing is scored, so no --precision, --prefix, --context or --batch",
                   a->train ? "--train-format" : "--logp");
    for (size_t i = 0; i < a->make.n_lengths && !a->train; i++)
        if (a->lengths[i] > LG_PROBE_LONGEST)
            argp_error(state,
                       "--lengths: items have at most %d elements; only sequences to train on "
                       "(--train-format) may have %d",
                       LG_PROBE_LONGEST, LG_PROBE_LONGEST_TRAINING);
    if (!a->n_models && !a->logp && !a->train)
        argp_error(state, "which models? Give one or more (or --logp FILE, or --train-format)");
}

static error_t parse(int key, char *argument, struct argp_state *state) {
    static const char *const precisions[] = {"auto", "f32", "bf16", NULL};
    struct arguments *a = state->input;
    if (key >= PROBES && key <= GROUPS) a->makes = true;
    if (key == PROBES || key == DISTANCES || (key >= FILLER && key <= DISTRACTORS)) a->fills = true;
    if (key >= PRECISION && key <= BATCH) a->scores = true;
    switch (key) {
    case ARGP_KEY_INIT:
        a->score.prefix = LG_PREFIX_AUTO;
        return 0;
    case 'o':
        a->out = argument;
        return 0;
    case ITEMS:
        a->items = argument;
        return 0;
    case LOGP:
        a->logp = argument;
        return 0;
    case DRY_RUN:
        a->dry_run = true;
        return 0;
    case FULL:
        a->full = true;
        return 0;
    case PROBES:
        a->make.kinds = parse_probes(state, argument);
        return 0;
    case DISTANCES:
        free(a->distances);
        a->distances = numbers(state, "--distances", argument, LG_PROBE_NEAREST, LG_PROBE_FARTHEST,
                               &a->make.n_distances);
        return 0;
    case COUNT:
        a->make.count = (size_t)cli_number(state, "--count", argument, 1, LG_PROBE_MOST_ITEMS);
        return 0;
    case SEED:
        a->make.seed = cli_number(state, "--seed", argument, 0, UINT64_MAX);
        return 0;
    case FILLER:
        a->make.filler = argument;
        return 0;
    case ENTITIES:
        a->make.entities = (size_t)cli_number(state, "--entities", argument, LG_PROBE_FEWEST_ENTITIES,
                                              LG_PROBE_MOST_ENTITIES);
        return 0;
    case UPDATES:
        a->make.updates = (size_t)cli_number(state, "--updates", argument, 1, LG_PROBE_MOST_UPDATES);
        return 0;
    case DISTRACTORS:
        a->make.distractors =
            (size_t)cli_number(state, "--distractors", argument, 1, LG_PROBE_MOST_ENTITIES - 1);
        return 0;
    case LENGTHS:
        free(a->lengths);
        a->lengths = numbers(state, "--lengths", argument, LG_PROBE_SHORTEST, LG_PROBE_LONGEST_TRAINING,
                             &a->make.n_lengths);
        return 0;
    case GROUPS:
        a->make.groups = argument;
        return 0;
    case TRAIN_FORMAT:
        a->train = true;
        return 0;
    case PRECISION:
        a->score.precision = (lg_precision)cli_choice(state, "--precision", argument, precisions);
        return 0;
    case PREFIX:
        if (strcmp(argument, "auto") == 0) a->score.prefix = LG_PREFIX_AUTO;
        else if (strcmp(argument, "none") == 0) a->score.prefix = LG_PREFIX_NONE;
        else
            a->score.prefix =
                (int64_t)cli_number(state, "--prefix (auto, none or an id)", argument, 0, UINT32_MAX - 1);
        return 0;
    case CONTEXT:
        a->score.context = (size_t)cli_number(state, "--context", argument, 1, 1u << 30);
        return 0;
    case BATCH:
        a->score.batch = (size_t)cli_number(state, "--batch", argument, 1, 1u << 30);
        return 0;
    case ARGP_KEY_ARGS:
        a->models = state->argv + state->next;
        a->n_models = (size_t)(state->argc - state->next);
        return 0;
    case ARGP_KEY_END:
        check_arguments(state, a);
        a->make.distances = a->distances;
        a->make.lengths = a->lengths;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {options, parse, "[[NAME=]MODEL...] -o DIR", doc, NULL, NULL, NULL};

/* ---- the work ---- */

typedef struct subject { /* a model that is asked */
    lg_model *model;
    lg_tokenizer *tokenizer;
    lg_probe_plan plan;
    const char **also; /* identities of the tokenizers that its own stands for; NULL ends */
    size_t n_also;
    lg_probe_scores scores; /* computed here */
} subject;

typedef struct work {
    cli *c;
    struct arguments *a;
    int lock;
    cli_model *names;  /* [n_models] */
    subject *subjects; /* [n_models] */
    lg_probe_items *items;
    char identity[33]; /* of the items */
    char *items_path, *logp_path, *run_path;
    lg_probe_run before;   /* what DIR/logp.jsonl was computed with */
    lg_probe_scores *kept; /* [n_kept] what it holds */
    size_t n_kept;
} work;

static lg_status open_models(work *w) {
    const struct arguments *a = w->a;
    lg_error *error = &w->c->error;
    w->subjects = calloc(a->n_models, sizeof *w->subjects);
    cli_model *names = calloc(a->n_models, sizeof *names);
    if (!w->subjects || !names) {
        free(names);
        return lg_fail_memory(error);
    }
    lg_status status = cli_name_models(a->models, a->n_models, names, error);
    if (status) {
        free(names);
        return status;
    }
    w->names = names;
    for (size_t i = 0; i < a->n_models && !status; i++) {
        subject *s = &w->subjects[i];
        lg_probe_score_options score = a->score;
        score.model_name = names[i].name;
        s->also = calloc(a->n_models + 1, sizeof *s->also);
        if (!s->also) return lg_fail_memory(error);
        status = lg_model_open(names[i].where, &s->model, &w->c->monitor, error);
        if (!status) status = lg_tokenizer_open(lg_model_get_info(s->model)->path, &s->tokenizer, error);
        if (!status) status = lg_probe_plan_make(s->model, s->tokenizer, &score, &s->plan, error);
    }
    return status;
}

/* ---- items ---- */

/* Tokens that an item may have under every model; 0: no limit is known. */
static size_t item_limit(const work *w) {
    size_t limit = 0;
    for (size_t i = 0; i < w->a->n_models; i++) {
        const lg_probe_plan *plan = &w->subjects[i].plan;
        if (!plan->context) continue;
        /* a choice's last token is no input; the prefix is */
        const size_t tokens = plan->context + (plan->prefix < 0);
        if (!limit || tokens < limit) limit = tokens;
    }
    return limit;
}

/* The identity of the tokenizer of model I, if a model before has it: then nothing is to be made for I. */
static bool is_known(const work *w, size_t i) {
    for (size_t k = 0; k < i; k++)
        if (strcmp(lg_tokenizer_identity(w->subjects[k].tokenizer),
                   lg_tokenizer_identity(w->subjects[i].tokenizer)) == 0)
            return true;
    return false;
}

/* Whether model I's tokenizer gives the same tokens as model K's on the items made for that one; then I takes
   them. */
static lg_status compare_tokens(work *w, size_t i, size_t k, bool *same) {
    subject *s = &w->subjects[i];
    const lg_tokenizer *other = w->subjects[k].tokenizer;
    lg_status status = lg_probe_same_tokens(w->items, other, s->tokenizer, w->c->threads, &w->c->monitor,
                                            same, &w->c->error);
    if (!status && *same) s->also[s->n_also++] = lg_tokenizer_identity(other);
    return status;
}

static lg_status add_items(work *w, const lg_probe_items *more) {
    lg_status status = LG_OK;
    for (size_t i = 0; i < lg_probe_n_items(more) && !status; i++)
        status = lg_probe_items_add(w->items, lg_probe_item_at(more, i), &w->c->error);
    return status;
}

/* Items for each tokenizer that tells the earlier ones' items into other tokens. */
static lg_status make_items(work *w) {
    lg_probe_options make = w->a->make;
    make.max_tokens = item_limit(w);
    for (size_t i = 0; i < w->a->n_models; i++) {
        bool same = false;
        lg_status status = LG_OK;
        if (is_known(w, i)) continue;
        for (size_t k = 0; k < i && !same && !status; k++)
            if (!is_known(w, k)) status = compare_tokens(w, i, k, &same);
        if (status) return status;
        if (same) continue;
        lg_probe_items *made;
        status = lg_probe_generate(&make, w->subjects[i].tokenizer, &w->c->monitor, &made, &w->c->error);
        if (status) return status;
        if (!w->items) {
            w->items = made;
            continue;
        }
        lg_note(&w->c->monitor,
                "%s makes other tokens than the models before: it gets items of its own, in which distances "
                "are exact",
                w->names[i].name);
        status = add_items(w, made);
        lg_probe_items_free(made);
        if (status) return status;
    }
    return LG_OK;
}

/* Items of a file may be made for one model's tokenizer; models that make the same tokens take them, too. */
static lg_status read_items(work *w) {
    bool same;
    lg_status status = lg_probe_items_read(w->a->items, &w->items, &w->c->error);
    for (size_t i = 0; i < w->a->n_models && !status; i++)
        for (size_t k = 0; k < w->a->n_models && !status; k++) {
            const char *other = lg_tokenizer_identity(w->subjects[k].tokenizer);
            bool asked = !is_known(w, k) && strcmp(other, lg_tokenizer_identity(w->subjects[i].tokenizer));
            for (size_t m = 0, n = lg_probe_n_items(w->items); asked && m < n && !status; m++) {
                const char *meant = lg_probe_item_at(w->items, m)->tokenizer;
                if (!meant || strcmp(meant, other) != 0) continue;
                status = compare_tokens(w, i, k, &same);
                break;
            }
        }
    return status;
}

/* The hash of the file PATH; false: there is none that can be read. */
static bool hash_file(const char *path, char hex[33]) {
    lg_mapping file;
    lg_error missing;
    if (lg_map(path, &file, &missing)) return false;
    lg_hash_hex(lg_hash_of(file.data ? (const void *)file.data : "", file.size), hex);
    lg_unmap(&file);
    return true;
}

static lg_status write_items(work *w) {
    char there[33];
    lg_status status = lg_probe_items_identity(w->items, w->identity, &w->c->error);
    if (status || (hash_file(w->items_path, there) && strcmp(there, w->identity) == 0)) return status;
    return lg_probe_items_write(w->items, w->items_path, &w->c->error);
}

/* ---- log-probabilities ---- */

/* Takes over what DIR/logp.jsonl holds, if it is of these items and as run.json knows it. */
static lg_status read_before(work *w) {
    lg_error why = {0};
    char hash[33];
    if (!hash_file(w->logp_path, hash)) return LG_OK;
    lg_status status = LG_BAD_INPUT;
    if (!lg_exists(w->run_path))
        lg_fail(&why, status, "there is no run.json beside it to say what it was computed with");
    else if (!(status = lg_probe_run_read(w->run_path, &w->before, &why))) {
        if (strcmp(w->before.logp, hash) != 0)
            status = lg_fail(&why, LG_BAD_INPUT, "it is not the file that run.json is about");
        else if (strcmp(w->before.items, w->identity) != 0)
            status = lg_fail(&why, LG_BAD_INPUT, "it is of other items");
        else status = lg_probe_logp_read(w->logp_path, w->items, &w->kept, &w->n_kept, &why);
    }
    if (status == LG_BAD_INPUT) {
        lg_note(&w->c->monitor, "%s will be replaced: %s", w->logp_path, why.message);
        lg_probe_run_free(&w->before);
        return LG_OK;
    }
    if (status) w->c->error = why;
    return status;
}

/* What is known of NAME from before, both in run.json and in logp.jsonl; SIZE_MAX: nothing. */
static size_t find_kept(const work *w, const char *name, size_t *record) {
    size_t k = 0;
    for (*record = 0; *record < w->before.n_models; ++*record)
        if (strcmp(w->before.models[*record].name, name) == 0) break;
    while (k < w->n_kept && strcmp(w->kept[k].model, name) != 0) k++;
    return *record < w->before.n_models && k < w->n_kept ? k : SIZE_MAX;
}

static bool is_complete(const work *w, const lg_probe_scores *scores) {
    for (size_t i = 0; i < lg_probe_n_items(w->items); i++)
        if (scores->outcome[i] == LG_PROBE_MISSING) return false;
    return true;
}

/* The scores of model I from before, if they are what would be computed now, under whatever name; false:
   none. SCORES borrows them. */
static bool scores_before(const work *w, size_t i, lg_probe_scores *scores) {
    size_t own, n = w->before.n_models;
    find_kept(w, w->names[i].name, &own); /* its own name first */
    for (size_t turn = 0; turn <= n; turn++) {
        const size_t m = turn ? turn - 1 : own;
        size_t record, k = m < n ? find_kept(w, w->before.models[m].name, &record) : SIZE_MAX;
        if (k == SIZE_MAX || strcmp(w->before.models[m].plan.key, w->subjects[i].plan.key) != 0 ||
            !is_complete(w, &w->kept[k]))
            continue;
        *scores = w->kept[k];
        scores->model = w->names[i].name;
        return true;
    }
    return false;
}

/* The scores of model I, computed now or before; false: none yet. SCORES borrows them. */
static bool scores_of(const work *w, size_t i, lg_probe_scores *scores) {
    if (!w->subjects[i].scores.logp) return scores_before(w, i, scores);
    *scores = w->subjects[i].scores;
    return true;
}

static bool is_asked(const work *w, const char *name) {
    for (size_t i = 0; i < w->a->n_models; i++)
        if (strcmp(w->names[i].name, name) == 0) return true;
    return false;
}

/* Writes the log-probabilities of all models that have some: those asked, then others from before. */
static lg_status write_scores(work *w) {
    const size_t most = w->a->n_models + w->n_kept;
    lg_probe_scores *scores = calloc(most, sizeof *scores);
    lg_probe_run run = {.models = calloc(most, sizeof *run.models)};
    lg_status status = LG_OK;
    char hash[33] = "";
    if (!scores || !run.models) {
        status = lg_fail_memory(&w->c->error);
        goto done;
    }
    size_t n = 0, record;
    for (size_t i = 0; i < w->a->n_models; i++) {
        const subject *s = &w->subjects[i];
        if (!scores_of(w, i, &scores[n])) continue;
        run.models[n++] = (lg_probe_run_model){.name = w->names[i].name,
                                               .model = lg_model_get_info(s->model)->identity,
                                               .tokenizer = lg_tokenizer_identity(s->tokenizer),
                                               .plan = s->plan};
    }
    for (size_t k = 0; k < w->n_kept; k++)
        if (!is_asked(w, w->kept[k].model) && find_kept(w, w->kept[k].model, &record) == k) {
            scores[n] = w->kept[k];
            run.models[n++] = w->before.models[record];
        }
    run.n_models = n;
    memcpy(run.items, w->identity, sizeof run.items);
    status = lg_probe_logp_write(w->logp_path, w->items, scores, n, &w->c->error);
    if (!status && !hash_file(w->logp_path, hash))
        status = lg_fail(&w->c->error, LG_FAILED, "cannot read %s, which was just written", w->logp_path);
    memcpy(run.logp, hash, sizeof run.logp);
    if (!status) status = lg_probe_run_write(&run, w->c->command_line, w->run_path, &w->c->error);
done:
    free(scores);
    free(run.models);
    return status;
}

static lg_status score_model(work *w, size_t i) {
    subject *s = &w->subjects[i];
    lg_probe_score_options score = w->a->score;
    lg_text journal = {0};
    lg_text_printf(&journal, "%s-%s", w->logp_path, w->names[i].name);
    if (journal.failed) return lg_fail_memory(&w->c->error);
    score.threads = w->c->threads;
    score.model_name = w->names[i].name;
    score.journal = journal.data;
    score.also = s->also;
    snprintf(w->c->progress.label, sizeof w->c->progress.label, "%s", w->names[i].name);
    lg_status status =
        lg_probe_score(s->model, s->tokenizer, w->items, &score, &w->c->monitor, &s->scores, &w->c->error);
    w->c->progress.label[0] = '\0';
    lg_text_free(&journal);
    return status ? status : write_scores(w);
}

/* The plan's key stands for the tokenizers, too, that a model's own stands for. */
static lg_status finish_plans(work *w) {
    lg_status status = LG_OK;
    for (size_t i = 0; i < w->a->n_models && !status; i++) {
        subject *s = &w->subjects[i];
        lg_probe_score_options score = w->a->score;
        score.also = s->also;
        status = lg_probe_plan_make(s->model, s->tokenizer, &score, &s->plan, &w->c->error);
    }
    return status;
}

static lg_status score_models(work *w) {
    lg_status status = finish_plans(w);
    size_t there = 0, record;
    bool renamed = false;
    if (!status) status = read_before(w);
    for (size_t i = 0; i < w->a->n_models && !status; i++) {
        lg_probe_scores known;
        if (!scores_before(w, i, &known)) {
            status = score_model(w, i);
            continue;
        }
        there++;
        size_t k = find_kept(w, w->names[i].name, &record);
        renamed |= k == SIZE_MAX || known.logp != w->kept[k].logp;
    }
    if (!status && renamed) status = write_scores(w);
    if (!status && there)
        lg_note(&w->c->monitor, "%zu of %zu models: log-probabilities were there already", there,
                w->a->n_models);
    return status;
}

/* ---- what the user sees ---- */

static lg_status report(work *w) {
    lg_probe_scores *scores = calloc(w->a->n_models, sizeof *scores);
    if (!scores) return lg_fail_memory(&w->c->error);
    for (size_t i = 0; i < w->a->n_models; i++) scores_of(w, i, &scores[i]);
    cli_progress_clear(&w->c->progress);
    lg_status status = cli_report_probes(w->c, w->items, scores, w->a->n_models, w->a->out, w->a->full);
    free(scores);
    return status;
}

static lg_status evaluate_file(work *w) {
    lg_status status = lg_probe_items_read(w->a->items, &w->items, &w->c->error);
    if (!status) status = lg_probe_logp_read(w->a->logp, w->items, &w->kept, &w->n_kept, &w->c->error);
    if (!status) status = cli_report_probes(w->c, w->items, w->kept, w->n_kept, w->a->out, w->a->full);
    return status;
}

static lg_status write_training(work *w) {
    const lg_probe_options *make = &w->a->make;
    const lg_probe_training_options training = {.groups = make->groups,
                                                .lengths = make->lengths,
                                                .n_lengths = make->n_lengths,
                                                .count = make->count,
                                                .seed = make->seed};
    char *path = lg_path_join(w->a->out, "train.jsonl");
    if (!path) return lg_fail_memory(&w->c->error);
    lg_status status = lg_probe_write_training(&training, path, &w->c->error);
    if (!status) lg_note(&w->c->monitor, "wrote %s", path);
    free(path);
    return status;
}

static lg_status probe(work *w) {
    const struct arguments *a = w->a;
    w->items_path = lg_path_join(a->out, "items.jsonl");
    w->logp_path = lg_path_join(a->out, "logp.jsonl");
    w->run_path = lg_path_join(a->out, "run.json");
    if (!w->items_path || !w->logp_path || !w->run_path) return lg_fail_memory(&w->c->error);
    lg_status status = open_models(w);
    if (!status) status = cli_lock_folder(a->out, &w->lock, &w->c->error);
    if (!status) status = a->items ? read_items(w) : make_items(w);
    if (!status && !lg_probe_n_items(w->items))
        status = lg_fail(&w->c->error, LG_BAD_INPUT,
                         "there are no items: the models' context is too short for every distance asked for");
    if (!status) status = write_items(w);
    if (!status && a->dry_run) {
        lg_note(&w->c->monitor, "%zu items in %s", lg_probe_n_items(w->items), w->items_path);
        return LG_OK;
    }
    if (!status) status = score_models(w);
    return status ? status : report(w);
}

static lg_status run(work *w) {
    if (!w->a->logp && !w->a->train) return probe(w);
    lg_status status = cli_lock_folder(w->a->out, &w->lock, &w->c->error);
    if (status) return status;
    return w->a->logp ? evaluate_file(w) : write_training(w);
}

static void close_work(work *w) {
    for (size_t i = 0; w->subjects && i < w->a->n_models; i++) {
        subject *s = &w->subjects[i];
        lg_probe_scores_free(&s->scores);
        lg_tokenizer_close(s->tokenizer);
        lg_model_close(s->model);
        free(s->also);
    }
    free(w->subjects);
    if (w->names) cli_free_models(w->names, w->a->n_models);
    free(w->names);
    lg_probe_logp_free(w->kept, w->n_kept);
    lg_probe_run_free(&w->before);
    lg_probe_items_free(w->items);
    free(w->items_path);
    free(w->logp_path);
    free(w->run_path);
    free(w->a->distances);
    free(w->a->lengths);
    if (w->lock >= 0) close(w->lock);
}

int cmd_probe(int argc, char **argv) {
    struct arguments a = {0};
    cli c;
    cli_start(&c, argc, argv, &argp, CLI_THREADS | CLI_JSON, &a);
    c.go_on = "stopped; what was done is kept, the same command goes on from there";
    work w = {.c = &c, .a = &a, .lock = -1};
    lg_status status = run(&w);
    close_work(&w);
    return cli_end(&c, status);
}
