/* lossgap profile: where a gap lies, beside that of a reference pair and the noise between seeds. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "cli/cli.h"
#include "lossgap/report.h"

/* Files of scores, each once, and what they are for: indices. */
struct options {
    cli_token_options tokens;
    const char **files;
    size_t n_files, files_room;
    size_t *pair, *seeds_a, *seeds_b; /* pair: positional arguments */
    size_t n_pair, n_seeds_a, n_seeds_b, pair_room, seeds_a_room, seeds_b_room;
    lg_profile_pair *references;
    size_t n_references, references_room;
    char **lists[64]; /* names of --seeds */
    size_t n_lists;
};

enum { KEY_REFERENCE = 0x100, KEY_SEEDS };

/* The index of FILE among the files; SIZE_MAX: no memory. A file named twice is opened once. */
static size_t file_index(struct options *o, const char *file) {
    for (size_t i = 0; i < o->n_files; i++)
        if (strcmp(o->files[i], file) == 0 || lg_is_same_file(o->files[i], file)) return i;
    if (!lg_reserve(&o->files, &o->files_room, o->n_files + 1, sizeof *o->files)) return SIZE_MAX;
    o->files[o->n_files] = file;
    return o->n_files++;
}

static bool add_file(struct options *o, const char *file, size_t **list, size_t *n, size_t *room) {
    size_t i = file_index(o, file);
    if (i == SIZE_MAX || !lg_reserve(list, room, *n + 1, sizeof **list)) return false;
    (*list)[(*n)++] = i;
    return true;
}

/* --reference takes two arguments: FIRST, and the next one of the command line. */
static error_t add_reference(struct options *o, struct argp_state *state, const char *first) {
    const char *second = state->next < state->argc ? state->argv[state->next] : NULL;
    if (!second || second[0] == '-')
        argp_error(state, "--reference takes the scores of two models: --reference SCORES_A1 SCORES_A2");
    state->next++;
    size_t a = file_index(o, first), b = a == SIZE_MAX ? a : file_index(o, second);
    if (b == SIZE_MAX ||
        !lg_reserve(&o->references, &o->references_room, o->n_references + 1, sizeof *o->references))
        return ENOMEM;
    o->references[o->n_references++] = (lg_profile_pair){a, b};
    return 0;
}

/* A=SCORES,… or B=SCORES,… */
static error_t add_seeds(struct options *o, struct argp_state *state, const char *text) {
    bool a = strncmp(text, "A=", 2) == 0;
    if (!a && strncmp(text, "B=", 2) != 0)
        argp_error(state, "--seeds takes further scores of one side, A=SCORES,... or B=SCORES,..., not '%s'",
                   text);
    if (o->n_lists == sizeof o->lists / sizeof *o->lists)
        argp_error(state, "--seeds is given too often: name several files in one, A=SCORES,SCORES");
    size_t n;
    char **list = o->lists[o->n_lists++] = cli_list(state, "--seeds", text + 2, &n);
    for (size_t i = 0; i < n; i++)
        if (a ? !add_file(o, list[i], &o->seeds_a, &o->n_seeds_a, &o->seeds_a_room)
              : !add_file(o, list[i], &o->seeds_b, &o->n_seeds_b, &o->seeds_b_room))
            return ENOMEM;
    return 0;
}

static error_t parse(int key, char *argument, struct argp_state *state) {
    struct options *o = state->input;
    switch (key) {
    case KEY_REFERENCE:
        return add_reference(o, state, argument);
    case KEY_SEEDS:
        return add_seeds(o, state, argument);
    case ARGP_KEY_ARG:
        return add_file(o, argument, &o->pair, &o->n_pair, &o->pair_room) ? 0 : ENOMEM;
    case ARGP_KEY_END:
        if (o->n_pair != 2)
            argp_error(
                state,
                "a profile is of the scores of two models, and %zu are named; a pair to compare it with "
                "comes with --reference, further seeds with --seeds",
                o->n_pair);
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
     "Group by each of these columns alone and by all together: domain, kind, document, a column of the "
     "tags, or of "
     "--define (default: family)",
     1},
    {"reference", KEY_REFERENCE, "SCORES_A1 SCORES_A2", 0,
     "The profile of this pair beside it, and the difference: two sizes, checkpoints or seeds of one "
     "architecture. "
     "Several may be given",
     1},
    {"seeds", KEY_SEEDS, "A=SCORES,...|B=SCORES,...", 0,
     "Further seeds or checkpoints of A's, or of B's architecture: the noise floor that the gap must exceed",
     1},
    {"multi", CLI_TOKENS_MULTI, "HOW", 0,
     "A token that carries several families, classes or delimiters counts under the first, under all, or not "
     "at all "
     "(drop); default: as the tags were made",
     1},
    {"define", CLI_TOKENS_DEFINE, "NAME=EXPR", 0,
     "A column computed from others, for --where, for later definitions and, if it is a condition or a "
     "category, for "
     "--by, as 'far=prev_distance > 1000'",
     1},
    {"where", CLI_TOKENS_WHERE, "EXPR", 0,
     "Count only tokens for which EXPR holds, as in 'copy_len = 0' (docs/guide/query.md)", 1},
    {"bootstrap", CLI_TOKENS_BOOTSTRAP, "N", OPTION_ARG_OPTIONAL,
     "Resamples of the documents for the second kind of interval (default 1000; 0: none)", 1},
    {"seed", CLI_TOKENS_SEED, "NUMBER", 0, "Of the resamples (default 0)", 1},
    {"full", CLI_TOKENS_FULL, NULL, 0,
     "Add errors, tests, Fieller's and resampled intervals to the table. JSON and CSV always have them", 2},
    {"output", 'o', "PROFILE.json", 0, "Write JSON there and CSV beside it (PROFILE.csv)", 2},
    {0},
};

static const struct argp argp = {options,
                                 parse,
                                 "SCORES_A SCORES_B --data DATA --tags TAGS",
                                 "Say where the gap between two models lies: each group's gap over the "
                                 "overall gap, with intervals. Beside it, the "
                                 "profile of a reference pair: is it this architecture, or what any better "
                                 "model shows? And the noise floor of "
                                 "several seeds."
                                 "\vThe gap is loss(A) - loss(B) in nats per token: positive where B "
                                 "predicts better. A profile of 1.5 says that the "
                                 "group's gap is one and a half times the overall one. All files must be "
                                 "scores of the same tokens, with the same "
                                 "prefix and context.",
                                 NULL,
                                 NULL,
                                 NULL};

/* The pair's files first, then those of references, then seeds: in this order models that are called the same
   get their numbers. */
static lg_status order_files(struct options *o, lg_error *error) {
    const char **sorted = lg_alloc(o->n_files, sizeof *sorted);
    size_t *place = lg_alloc(o->n_files, sizeof *place), n = 0;
    lg_status status = sorted && place ? LG_OK : lg_fail_memory(error);
    size_t total = o->n_pair + 2 * o->n_references + o->n_seeds_a + o->n_seeds_b;
    for (size_t i = 0; i < o->n_files && !status; i++) place[i] = SIZE_MAX;
    for (size_t i = 0; i < total && !status; i++) {
        size_t k = i, *at = NULL;
        if (k < o->n_pair) at = &o->pair[k];
        else if ((k -= o->n_pair) < 2 * o->n_references)
            at = k % 2 ? &o->references[k / 2].b : &o->references[k / 2].a;
        else if ((k -= 2 * o->n_references) < o->n_seeds_a) at = &o->seeds_a[k];
        else at = &o->seeds_b[k - o->n_seeds_a];
        if (place[*at] == SIZE_MAX) {
            place[*at] = n;
            sorted[n++] = o->files[*at];
        }
        *at = place[*at];
    }
    if (!status) memcpy(o->files, sorted, n * sizeof *sorted);
    free(sorted);
    free(place);
    return status;
}

static lg_status write_files(const lg_profile *profile, const char *out, lg_error *error) {
    const lg_profile_about *about = lg_profile_get_about(profile);
    char *json = NULL, *csv = NULL, *agreement = NULL, *seeds = NULL;
    size_t json_length, csv_length, agreement_length, seeds_length;
    lg_status status = lg_profile_json(profile, &json, &json_length, error);
    if (!status) status = lg_profile_csv(profile, &csv, &csv_length, error);
    if (!status && about->n_references)
        status = lg_profile_agreements_csv(profile, &agreement, &agreement_length, error);
    if (!status && about->has_seeds) status = lg_profile_seeds_csv(profile, &seeds, &seeds_length, error);
    if (!status && agreement)
        status = cli_write_beside(out, "-agreement.csv", agreement, agreement_length, error);
    if (!status && seeds) status = cli_write_beside(out, "-seeds.csv", seeds, seeds_length, error);
    if (!status) status = cli_write_beside(out, ".csv", csv, csv_length, error);
    if (!status) status = cli_write_beside(out, ".json", json, json_length, error);
    free(json);
    free(csv);
    free(agreement);
    free(seeds);
    return status;
}

static lg_status run(cli *c, struct options *o) {
    lg_dataset data = {0};
    lg_scores *scores = calloc(o->n_files, sizeof *scores);
    lg_profile *profile = NULL;
    char *text = NULL;
    size_t length;
    if (!scores) return lg_fail_memory(&c->error);
    lg_status status = order_files(o, &c->error);
    if (!status) status = cli_open_scores(o->tokens.data, o->files, o->n_files, &data, scores, &c->error);
    lg_profile_options profile_options = {.by = (const char *const *)o->tokens.by,
                                          .n_by = o->tokens.n_by,
                                          .multi = o->tokens.multi,
                                          .where = o->tokens.where,
                                          .define = o->tokens.definitions,
                                          .n_define = o->tokens.n_definitions,
                                          .pair = {o->pair[0], o->pair[1]},
                                          .references = o->references,
                                          .n_references = o->n_references,
                                          .seeds_a = o->seeds_a,
                                          .n_seeds_a = o->n_seeds_a,
                                          .seeds_b = o->seeds_b,
                                          .n_seeds_b = o->n_seeds_b,
                                          .bootstrap = o->tokens.bootstrap,
                                          .seed = o->tokens.seed,
                                          .threads = c->threads,
                                          .command = c->command_line};
    if (!status)
        status = lg_profile_compute(&data, scores, o->n_files, o->tokens.tags, &profile_options, &profile,
                                    &c->error);
    if (!status && o->tokens.out) status = write_files(profile, o->tokens.out, &c->error);
    lg_table_style style = {.width = cli_width(stdout), .color = cli_color(stdout), .full = o->tokens.full};
    if (!status)
        status = c->json ? lg_profile_json(profile, &text, &length, &c->error)
                         : lg_profile_table(profile, &style, &text, &length, &c->error);
    if (!status) fwrite(text, 1, length, stdout);
    free(text);
    lg_profile_free(profile);
    for (size_t i = 0; i < o->n_files; i++) lg_scores_close(&scores[i]);
    free(scores);
    lg_dataset_close(&data);
    return status;
}

int cmd_profile(int argc, char **argv) {
    struct options o = {.tokens.bootstrap = CLI_REPLICATES};
    cli c;
    cli_start(&c, argc, argv, &argp, CLI_THREADS | CLI_JSON, &o);
    lg_status status = run(&c, &o);
    free(o.files);
    free(o.pair);
    free(o.seeds_a);
    free(o.seeds_b);
    free(o.references);
    free(o.tokens.by);
    free(o.tokens.definitions);
    for (size_t i = 0; i < o.n_lists; i++) free(o.lists[i]);
    return cli_end(&c, status);
}
