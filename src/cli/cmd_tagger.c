/* lossgap tagger: making and measuring taggers of parts of speech. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/memory.h"
#include "cli/cli.h"
#include "lossgap/tagger.h"

enum { KEY_TAGSET = 0x3001, KEY_LEXICON, KEY_EPOCHS, KEY_SOURCE, KEY_MODEL, KEY_RAW };
enum { SHOWN_CONFUSIONS = 20 };

struct options {
    const char *action; /* train or eval */
    const char *tagset, *out, *model;
    const char **files, **lexicons, **sources; /* [argc] */
    size_t n_files, n_lexicons, n_sources;
    unsigned epochs;
    bool raw;
};

static const char *const actions[] = {"train", "eval", NULL};
static const char *const tagsets[] = {"brown", "upos", "penn", NULL};

static void check(const struct options *o, struct argp_state *state) {
    if (!o->action) argp_error(state, "train or eval?");
    if (!o->tagset) argp_error(state, "which tagset? Give --tagset brown, upos or penn");
    if (!o->n_files) argp_error(state, "which text? Give files of tagged words");
    if (strcmp(o->action, "train") == 0) {
        if (!o->out) argp_error(state, "where to? Give -o MODEL");
        if (o->model || o->raw) argp_error(state, "--model and --raw are for eval");
    } else if (o->out || o->n_lexicons || o->n_sources || o->epochs) {
        argp_error(state, "--output, --lexicon, --source and --epochs are for train");
    }
}

static error_t parse(int key, char *argument, struct argp_state *state) {
    struct options *o = state->input;
    switch (key) {
    case KEY_TAGSET:
        o->tagset = tagsets[cli_choice(state, "--tagset", argument, tagsets)];
        return 0;
    case 'o':
        o->out = argument;
        return 0;
    case KEY_LEXICON:
        o->lexicons[o->n_lexicons++] = argument;
        return 0;
    case KEY_SOURCE:
        o->sources[o->n_sources++] = argument;
        return 0;
    case KEY_EPOCHS:
        o->epochs = (unsigned)cli_number(state, "--epochs", argument, 1, 1000);
        return 0;
    case KEY_MODEL:
        o->model = argument;
        return 0;
    case KEY_RAW:
        o->raw = true;
        return 0;
    case ARGP_KEY_ARG:
        if (!o->action) o->action = actions[cli_choice(state, "the first argument", argument, actions)];
        else o->files[o->n_files++] = argument;
        return 0;
    case ARGP_KEY_END:
        check(o, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options[] = {
    {"tagset", KEY_TAGSET, "TAGSET", 0,
     "brown (files of lines of word/tag), upos or penn (CoNLL-U: its fourth or fifth column)", 1},
    {"output", 'o', "MODEL", 0, "train: write the model to the file MODEL", 2},
    {"lexicon", KEY_LEXICON, "FILE", 0,
     "train: text of another tagset (lines of word/tag, or CoNLL-U: its universal tags); what a word is "
     "there "
     "helps to say what it is here (may be given several times)",
     2},
    {"epochs", KEY_EPOCHS, "N", 0, "train: go through the text N times (default 8)", 2},
    {"source", KEY_SOURCE, "TEXT", 0,
     "train: where a file comes from and under which licence, for the model's provenance (may be given "
     "several "
     "times)",
     2},
    {"model", KEY_MODEL, "MODEL", 0,
     "eval: measure this model (default: the one that comes with the program)", 3},
    {"raw", KEY_RAW, NULL, 0,
     "eval: also cut the raw text (CoNLL-U's # text) into words and sentences and compare those", 3},
    {0},
};

static const struct argp argp = {
    options,
    parse,
    "train --tagset TAGSET FILE... -o MODEL\n"
    "eval --tagset TAGSET FILE...",
    "Make a tagger of parts of speech from tagged text, or measure one: how many words get "
    "the right tag, and a tag of the right family."
    "\vThe models that come with the program were made by data/train. The same text gives "
    "the same model, bit for bit.",
    NULL,
    NULL,
    NULL};

static double ratio(uint64_t part, uint64_t whole) {
    return whole ? (double)part / (double)whole : 0;
}

static double f1(uint64_t same, uint64_t gold, uint64_t predicted) {
    return ratio(2 * same, gold + predicted);
}

static lg_status print_json(const lg_tagger_report *r, lg_error *error) {
    lg_text text = {0};
    lg_json_writer w = {.out = &text};
    const struct {
        const char *key;
        double value;
    } fractions[] = {
        {"accuracy", ratio(r->correct, r->words)},
        {"family_accuracy", ratio(r->family_correct, r->words)},
        {"unknown_accuracy", ratio(r->unknown_correct, r->unknown)},
        {"word_f1", f1(r->raw_same, r->words, r->raw_words)},
        {"sentence_f1", f1(r->raw_sentences_same, r->sentences, r->raw_sentences)},
        {"raw_accuracy", ratio(r->raw_correct, r->raw_same)},
        {"raw_tag_f1", f1(r->raw_correct, r->words, r->raw_words)},
    };
    lg_json_put_object(&w);
    lg_json_put_key(&w, "tagset");
    lg_json_put_text(&w, r->tagset);
    lg_json_put_key(&w, "words");
    lg_json_put_unsigned(&w, r->words);
    lg_json_put_key(&w, "sentences");
    lg_json_put_unsigned(&w, r->sentences);
    lg_json_put_key(&w, "unknown_words");
    lg_json_put_unsigned(&w, r->unknown);
    for (size_t i = 0; i < (r->raw ? 7 : 3); i++) {
        lg_json_put_key(&w, fractions[i].key);
        lg_json_put_double(&w, fractions[i].value);
    }
    lg_json_put_key(&w, "confusions");
    lg_json_put_array(&w);
    for (size_t i = 0; i < r->n_confusions; i++) {
        lg_json_put_object(&w);
        lg_json_put_key(&w, "gold");
        lg_json_put_text(&w, r->confusions[i].gold);
        lg_json_put_key(&w, "predicted");
        lg_json_put_text(&w, r->confusions[i].predicted);
        lg_json_put_key(&w, "count");
        lg_json_put_unsigned(&w, r->confusions[i].count);
        lg_json_end_object(&w);
    }
    lg_json_end_array(&w);
    lg_json_end_object(&w);
    lg_status status = text.failed ? lg_fail_memory(error) : LG_OK;
    if (!status) printf("%s\n", text.data);
    lg_text_free(&text);
    return status;
}

static void print_share(const char *what, uint64_t part, uint64_t whole) {
    printf("%-28s %8.3f %%   %llu of %llu\n", what, 100 * ratio(part, whole), (unsigned long long)part,
           (unsigned long long)whole);
}

static void print_tables(const lg_tagger_report *r) {
    printf("%llu words, %llu sentences, tagset %s\n\n", (unsigned long long)r->words,
           (unsigned long long)r->sentences, r->tagset);
    print_share("tags", r->correct, r->words);
    print_share("families", r->family_correct, r->words);
    print_share("tags of unknown words", r->unknown_correct, r->unknown);
    if (r->raw) {
        printf("\nfrom raw text: %llu words, %llu sentences\n", (unsigned long long)r->raw_words,
               (unsigned long long)r->raw_sentences);
        printf("%-28s %8.3f %%   precision %.3f, recall %.3f\n", "words F1",
               100 * f1(r->raw_same, r->words, r->raw_words), 100 * ratio(r->raw_same, r->raw_words),
               100 * ratio(r->raw_same, r->words));
        printf("%-28s %8.3f %%   precision %.3f, recall %.3f\n", "sentences F1",
               100 * f1(r->raw_sentences_same, r->sentences, r->raw_sentences),
               100 * ratio(r->raw_sentences_same, r->raw_sentences),
               100 * ratio(r->raw_sentences_same, r->sentences));
        print_share("tags of those words", r->raw_correct, r->raw_same);
    }
    printf("\n%-12s %-14s %8s %9s %9s %9s\n", "tag", "family", "words", "precision", "recall", "F1");
    for (size_t i = 0; i < r->n_tags; i++) {
        const lg_tagger_tag *t = &r->tags[i];
        printf("%-12s %-14s %8llu %9.2f %9.2f %9.2f\n", t->name, t->family, (unsigned long long)t->gold,
               100 * ratio(t->correct, t->predicted), 100 * ratio(t->correct, t->gold),
               100 * f1(t->correct, t->gold, t->predicted));
    }
    printf("\nmost frequent confusions\n%-12s %-12s %8s %12s\n", "gold", "predicted", "words", "of errors");
    for (size_t i = 0; i < r->n_confusions && i < SHOWN_CONFUSIONS; i++)
        printf("%-12s %-12s %8llu %10.1f %%\n", r->confusions[i].gold, r->confusions[i].predicted,
               (unsigned long long)r->confusions[i].count,
               100 * ratio(r->confusions[i].count, r->words - r->correct));
}

static lg_status train(cli *c, const struct options *o) {
    const lg_tagger_options tagger = {.tagset = o->tagset,
                                      .epochs = o->epochs,
                                      .lexicons = o->lexicons,
                                      .n_lexicons = o->n_lexicons,
                                      .sources = o->sources,
                                      .n_sources = o->n_sources,
                                      .command = c->command_line};
    return lg_tagger_train(o->files, o->n_files, &tagger, o->out, &c->monitor, &c->error);
}

static lg_status eval(cli *c, const struct options *o) {
    const lg_tagger_eval_options eval = {.tagset = o->tagset, .model = o->model, .raw = o->raw};
    lg_tagger_report report;
    lg_status status = lg_tagger_eval(o->files, o->n_files, &eval, &report, &c->error);
    if (status) return status;
    if (c->json) status = print_json(&report, &c->error);
    else print_tables(&report);
    lg_tagger_report_free(&report);
    return status;
}

int cmd_tagger(int argc, char **argv) {
    cli c;
    struct options o = {.files = calloc((size_t)argc, sizeof *o.files),
                        .lexicons = calloc((size_t)argc, sizeof *o.lexicons),
                        .sources = calloc((size_t)argc, sizeof *o.sources)};
    if (!o.files || !o.lexicons || !o.sources) {
        fputs("lossgap tagger: out of memory\n", stderr);
        return LG_FAILED;
    }
    cli_start(&c, argc, argv, &argp, CLI_JSON, &o);
    lg_status status = strcmp(o.action, "train") == 0 ? train(&c, &o) : eval(&c, &o);
    free(o.files);
    free(o.lexicons);
    free(o.sources);
    return cli_end(&c, status);
}
