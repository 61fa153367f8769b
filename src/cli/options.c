/* Options that several commands take: how a corpus is read, how it is scored (argp children), which filters
   are made, which tokens are compared (parsers: each command's help has words of its own). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "cli/cli.h"
#include "lossgap/dataset.h"
#include "lossgap/score.h"
#include "lossgap/tag.h"

enum {
    KIND = 0x2001,
    DOMAIN_LABEL,
    LIMIT,
    PARSE_SPECIAL,
    INPUT_IDS,
    PRECISION,
    WINDOWS,
    CONTEXT,
    STRIDE,
    PREFIX,
    COLUMNS
};

static const struct argp_option corpus_options[] = {
    {"kind", KIND, "KIND", 0,
     "Take every document as KIND: prose, python, html or latex (default: by file ending; JSONL: prose); a "
     "single "
     "file may then have any ending",
     20},
    {"domain", DOMAIN_LABEL, "NAME", 0,
     "Label of documents that name none in \"domain\" or \"source\" (default: their kind)", 20},
    {"limit", LIMIT, "TOKENS", 0,
     "Take at most so many tokens per domain: whole documents in order of their content hash, so that a "
     "smaller "
     "sample is part of a larger one",
     20},
    {"parse-special", PARSE_SPECIAL, NULL, 0,
     "Take special tokens spelled in the text for tokens (default: they are text)", 20},
    {"input-ids", INPUT_IDS, NULL, 0, "JSONL lines hold \"input_ids\": already tokenised, no tokenizer", 20},
    {0},
};

static error_t parse_corpus(int key, char *argument, struct argp_state *state) {
    lg_dataset_options *o = state->input;
    lg_kind kind;
    switch (key) {
    case KIND:
        if (!lg_kind_parse(argument, &kind))
            argp_error(state, "--kind is prose, python, html or latex, not '%s'", argument);
        o->kind = argument;
        return 0;
    case DOMAIN_LABEL:
        o->domain = argument;
        return 0;
    case LIMIT:
        o->limit = cli_number(state, "--limit", argument, 1, INT64_MAX);
        return 0;
    case PARSE_SPECIAL:
        o->parse_special = true;
        return 0;
    case INPUT_IDS:
        o->input_ids = true;
        return 0;
    case ARGP_KEY_END:
        if (o->input_ids && o->parse_special) argp_error(state, "--input-ids takes no --parse-special");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp cli_corpus_argp = {corpus_options, parse_corpus, NULL, NULL, NULL, NULL, NULL};

static const struct argp_option score_options[] = {
    {"precision", PRECISION, "P", 0,
     "auto (default: bf16 where the weights are and the processor can, else f32), f32 or bf16", 30},
    {"windows", WINDOWS, "KIND", 0,
     "document (default: each document on its own) or paper (one stream of documents, cut into rows)", 30},
    {"context", CONTEXT, "L", 0,
     "Tokens that a row of the model reads (default: the least of 8192 and what every model was made for; "
     "more when "
     "asked)",
     30},
    {"stride", STRIDE, "S", 0,
     "Document windows: a longer document's rows begin S tokens apart (default L/2)", 30},
    {"prefix", PREFIX, "WHICH", 0,
     "What stands before a document: auto (default: the model's bos, else eos, else <|endoftext|>), none, or "
     "a token id",
     30},
    {"columns", COLUMNS, "LIST", 0, "Keep these too, of each token: entropy, rank, top1", 30},
    {0},
};

static unsigned parse_columns(struct argp_state *state, const char *argument) {
    static const char *const names[] = {"entropy", "rank", "top1", NULL};
    static const unsigned flags[] = {LG_COLUMN_ENTROPY, LG_COLUMN_RANK, LG_COLUMN_TOP1};
    size_t n;
    unsigned columns = 0;
    char **list = cli_list(state, "--columns", argument, &n);
    for (size_t i = 0; i < n; i++) columns |= flags[cli_choice(state, "--columns", list[i], names)];
    free(list);
    return columns;
}

static error_t parse_score(int key, char *argument, struct argp_state *state) {
    static const char *const precisions[] = {"auto", "f32", "bf16", NULL}, *const windows[] = {"document",
                                                                                               "paper", NULL};
    lg_score_options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        o->prefix = LG_PREFIX_AUTO;
        return 0;
    case PRECISION:
        o->precision = (lg_precision)cli_choice(state, "--precision", argument, precisions);
        return 0;
    case WINDOWS:
        o->windows = (lg_windows)cli_choice(state, "--windows", argument, windows);
        return 0;
    case CONTEXT:
        o->context = (size_t)cli_number(state, "--context", argument, 1, 1u << 30);
        return 0;
    case STRIDE:
        o->stride = (size_t)cli_number(state, "--stride", argument, 1, 1u << 30);
        return 0;
    case PREFIX:
        if (strcmp(argument, "auto") == 0) o->prefix = LG_PREFIX_AUTO;
        else if (strcmp(argument, "none") == 0) o->prefix = LG_PREFIX_NONE;
        else
            o->prefix =
                (int64_t)cli_number(state, "--prefix (auto, none or an id)", argument, 0, UINT32_MAX - 1);
        return 0;
    case COLUMNS:
        o->columns = parse_columns(state, argument);
        return 0;
    case ARGP_KEY_END:
        if (o->stride && o->context && o->stride > o->context)
            argp_error(state, "--stride %zu would leave tokens out between rows of --context %zu", o->stride,
                       o->context);
        if (o->stride && o->windows == LG_WINDOWS_PAPER) argp_error(state, "paper windows have no --stride");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp cli_score_argp = {score_options, parse_score, NULL, NULL, NULL, NULL, NULL};

/* PATH without links, or the deepest folder of it that is there. free(); NULL: no memory. */
static char *resolve(const char *path) {
    char *there = strdup(*path ? path : "."), *resolved = NULL;
    for (size_t n = there ? strlen(there) : 0; there && !(resolved = realpath(there, NULL));) {
        if (errno == ENOMEM) break;
        while (n && there[n - 1] == '/') n--;
        while (n && there[n - 1] != '/') n--;
        if (!n) {
            resolved = realpath(".", NULL);
            break;
        }
        there[n] = '\0';
    }
    free(there);
    return resolved;
}

lg_status cli_refuse_inside(const char *out, const char *const *paths, size_t n, lg_error *error) {
    char *place = resolve(out);
    lg_status status = place ? LG_OK : lg_fail_memory(error);
    for (size_t i = 0; i < n && !status; i++) {
        if (!lg_is_folder(paths[i])) continue;
        char *corpus = realpath(paths[i], NULL);
        size_t length = corpus ? strlen(corpus) : 0;
        if (length == 1) length = 0; /* "/" holds everything */
        if (corpus && strncmp(place, corpus, length) == 0 && (place[length] == '/' || !place[length]))
            status =
                lg_fail(error, LG_USAGE,
                        "%s lies in %s, and what is written there would be read as text by the next run: "
                        "choose a folder elsewhere",
                        out, paths[i]);
        free(corpus);
    }
    free(place);
    return status;
}

error_t cli_parse_filter(int key, char *argument, struct argp_state *state, cli_filter_options *o) {
    size_t n;
    switch (key) {
    case CLI_FILTER_FILTERS:
        o->file = argument;
        return 0;
    case CLI_FILTER_ONLY:
        free(o->only);
        o->only = cli_list(state, "--only", argument, &n);
        return 0;
    case CLI_FILTER_STATE_TAGS:
        free(o->state_tags);
        o->state_tags = cli_list(state, "--state-tags", argument, &n);
        return 0;
    case CLI_FILTER_HARD:
        o->hard = argument;
        return 0;
    case CLI_FILTER_SCORES: /* takes the argument behind it, too */
        o->pair[0] = argument;
        if (state->next >= state->argc || state->argv[state->next][0] == '-')
            argp_error(state, "--scores takes the scores of two models, A and B");
        o->pair[1] = state->argv[state->next++];
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

error_t cli_parse_tokens(int key, char *argument, struct argp_state *state, cli_token_options *o) {
    enum { MOST_REPLICATES = 100000 };
    switch (key) {
    case 'o':
        o->out = argument;
        return 0;
    case CLI_TOKENS_DATA:
        o->data = argument;
        return 0;
    case CLI_TOKENS_TAGS:
        o->tags = argument;
        return 0;
    case CLI_TOKENS_BY:
        free(o->by);
        o->by = cli_list(state, "--by", argument, &o->n_by);
        return 0;
    case CLI_TOKENS_MULTI:
        o->multi = lg_multi_names[cli_choice(state, "--multi", argument, lg_multi_names)];
        return 0;
    case CLI_TOKENS_DEFINE:
        return cli_push(&o->definitions, &o->n_definitions, &o->definitions_room, argument);
    case CLI_TOKENS_WHERE:
        o->where = argument;
        return 0;
    case CLI_TOKENS_BOOTSTRAP:
        o->bootstrap = argument
                           ? (size_t)cli_number(state, "--bootstrap", argument, o->fewest, MOST_REPLICATES)
                           : CLI_REPLICATES;
        return 0;
    case CLI_TOKENS_SEED:
        o->seed = cli_number(state, "--seed", argument, 0, UINT64_MAX);
        return 0;
    case CLI_TOKENS_FULL:
        o->full = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

lg_status cli_open_scores(const char *data_path, const char *const *paths, size_t n, lg_dataset *data,
                          lg_scores *scores, lg_error *error) {
    lg_status status = lg_dataset_open(data_path, data, error);
    for (size_t i = 0; i < n && !status; i++) status = lg_scores_open(paths[i], data, &scores[i], error);
    return status;
}
