/* lossgap tag: what each token is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/cli.h"
#include "lossgap/report.h"

struct options {
    const char *data, *out, *show;
    bool list, multi; /* multi: given */
    char **without;
    lg_tag_options tag;
};

enum { MULTI = 0x100, FREQUENCY, TAGGER, LIST, SHOW, WITHOUT };

static error_t parse(int key, char *argument, struct argp_state *state) {
    struct options *o = state->input;
    size_t n = 0;
    switch (key) {
    case 'o':
        o->out = argument;
        return 0;
    case 'w':
        o->tag.window = (size_t)cli_number(state, "--window", argument, 2, (1u << 31) - 1);
        return 0;
    case MULTI:
        o->multi = true;
        o->tag.multi = (lg_multi)cli_choice(state, "--multi", argument, lg_multi_names);
        return 0;
    case FREQUENCY:
        o->tag.frequency = argument;
        return 0;
    case TAGGER:
        while (n < LG_N_TAGSETS && o->tag.tagger[n]) n++;
        if (n == LG_N_TAGSETS) argp_error(state, "a tagger for each of three tagsets at most");
        o->tag.tagger[n] = argument;
        return 0;
    case WITHOUT:
        free(o->without);
        o->without = cli_list(state, "--without", argument, &n);
        o->tag.without = (const char *const *)o->without;
        return 0;
    case LIST:
        o->list = true;
        return 0;
    case SHOW:
        o->show = argument;
        return 0;
    case ARGP_KEY_ARG:
        if (o->data) argp_error(state, "one dataset at a time: '%s' is one too many", argument);
        o->data = argument;
        return 0;
    case ARGP_KEY_END:
        if (o->list && (o->data || o->out || o->show)) argp_error(state, "--list stands alone");
        if (o->list) return 0;
        if (!o->data) argp_error(state, "which dataset? `lossgap tokenize` makes one");
        if (!o->out && !o->show) argp_error(state, "where to? Give -o TAGS");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options[] = {
    {"output", 'o', "TAGS", 0, "Write the tags to the file TAGS", 1},
    {"multi", MULTI, "HOW", 0,
     "What a token of several words is where one value is needed: first (default: as the word that holds its "
     "first "
     "byte), all (the same, but tables count it under each of its families; default for spans of `lossgap "
     "align`), drop (nothing)",
     1},
    {"frequency", FREQUENCY, "FILE", 0,
     "Take frequencies from FILE (`lossgap frequency`; default: of this dataset)", 1},
    {"tagger", TAGGER, "FILE", 0, "Take parts of speech from FILE (`lossgap tagger train`); may be repeated",
     1},
    {"without", WITHOUT, "GROUP,...", 0,
     "Leave out groups of columns, as in `--without upos,penn`: less to compute and to keep", 1},
    {"window", 'w', "L", 0, "Tokens in a window of the columns across documents (default 8192)", 1},
    {"list", LIST, NULL, 0, "Print the columns, families and tags, and stop", 2},
    {"show", SHOW, "DOC", 0,
     "Print the document of that name (or the end of one, or number from 0) with its tags", 2},
    {0},
};

static const struct argp argp = {options,
                                 parse,
                                 "DATA -o TAGS\nDATA --show DOC\n--list",
                                 "Say of every token of the dataset DATA what it is: its part of speech in "
                                 "prose, its syntax in Python, HTML and "
                                 "LaTeX, which delimiter opens or closes there, its place in word, sentence "
                                 "and document, how frequent it is, and "
                                 "how much of the text before it is seen again."
                                 "\vThe tags lie on the text, not on the tokens, and are the same for every "
                                 "model; `lossgap gap --tags TAGS` relates "
                                 "losses to them.",
                                 NULL,
                                 NULL,
                                 NULL};

static bool ends_with(const char *text, size_t length, const char *end) {
    size_t n = strlen(end);
    return n <= length && memcmp(text + length - n, end, n) == 0;
}

/* The document that NAME means: its name, else the only one whose name ends so, else its number. */
static lg_status find_document(const lg_dataset *data, const char *name, size_t *doc, lg_error *error) {
    size_t found = 0;
    for (size_t d = 0; d < data->n_docs; d++) {
        size_t begin = (size_t)lg_begin_of(data->doc_name_end, d),
               length = (size_t)data->doc_name_end[d] - begin;
        if (!ends_with(data->doc_name + begin, length, name)) continue;
        *doc = d;
        if (length == strlen(name)) return LG_OK;
        found++;
    }
    if (found == 1) return LG_OK;
    char *end;
    unsigned long long number = strtoull(name, &end, 10);
    if (!found && *name >= '0' && *name <= '9' && !*end && number < data->n_docs) {
        *doc = (size_t)number;
        return LG_OK;
    }
    if (found)
        return lg_fail(error, LG_USAGE, "%zu documents have names that end in '%s': give more of the name",
                       found, name);
    size_t length = data->n_docs ? (size_t)data->doc_name_end[0] : 0;
    return lg_fail(error, LG_USAGE, "%s has no document '%s' among its %zu; the first is '%.*s'",
                   lg_table_path(data->table), name, data->n_docs, (int)(length < 200 ? length : 200),
                   data->doc_name);
}

static lg_status print_view(cli *c, const struct options *o, const lg_dataset *data) {
    lg_tag_view *view = NULL;
    char *text = NULL;
    size_t length = 0, doc = 0;
    lg_status status = data ? find_document(data, o->show, &doc, &c->error) : LG_OK;
    if (!status) status = lg_tag_view_open(data, doc, &o->tag, &view, &c->error);
    if (!status && data)
        status = c->json
                     ? lg_tag_document_json(view, data, doc, &text, &length, &c->error)
                     : lg_tag_document_table(view, data, doc, cli_color(stdout), &text, &length, &c->error);
    else if (!status)
        status = c->json ? lg_tag_list_json(view, &text, &length, &c->error)
                         : lg_tag_list_table(view, &text, &length, &c->error);
    if (!status && length) fwrite(text, 1, length, stdout);
    free(text);
    lg_tag_view_close(view);
    return status;
}

int cmd_tag(int argc, char **argv) {
    struct options o = {0};
    cli c;
    cli_start(&c, argc, argv, &argp, CLI_THREADS | CLI_JSON, &o);
    if (c.json && !o.list && !o.show) {
        fprintf(stderr, "lossgap tag: --json goes with --list or --show; tags are safetensors files\n");
        exit(LG_USAGE);
    }
    o.tag.threads = c.threads;
    o.tag.command = c.command_line;
    lg_dataset data = {0};
    lg_status status = LG_OK;
    if (o.list) {
        status = print_view(&c, &o, NULL);
    } else {
        status = lg_dataset_open(o.data, &data, &c.error);
        if (data.spans && !o.multi) o.tag.multi = LG_MULTI_ALL; /* method, section 8 */
        if (!status && o.out) status = lg_tag_run(&data, &o.tag, o.out, &c.monitor, &c.error);
        if (!status && o.show) status = print_view(&c, &o, &data);
        lg_dataset_close(&data);
    }
    free(o.without);
    return cli_end(&c, status);
}
