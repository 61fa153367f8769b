/* Part-of-speech taggers: learning one from tagged text, and measuring one. docs/formats/tagger.md describes
   the model file. */
#ifndef LOSSGAP_TAGGER_H
#define LOSSGAP_TAGGER_H

#include "lossgap/base.h"

typedef struct lg_tagger_options {
    const char *tagset; /* "brown" (word/tag lines), "upos", "penn" (CoNLL-U) */
    unsigned epochs;    /* 0: 8 */
    /* Text of another tagset (word/tag lines, or CoNLL-U: its universal tags): a word's tags there are
       features here. */
    const char *const *lexicons;
    size_t n_lexicons;
    const char *const *sources; /* where the texts come from and what may be done with them, in words */
    size_t n_sources;
    const char *command;
} lg_tagger_options;

/* Learns from FILES and writes the model to OUT, atomically. The same input gives the same file everywhere.
 */
LG_API lg_status lg_tagger_train(const char *const *files, size_t n_files, const lg_tagger_options *options,
                                 const char *out, const lg_monitor *monitor, lg_error *error);

typedef struct lg_tagger_eval_options {
    const char *tagset;
    const char *model; /* NULL: the one that comes with the program */
    bool raw;          /* also from raw text (CoNLL-U only) */
} lg_tagger_eval_options;

typedef struct lg_tagger_tag {
    const char *name, *family;
    uint64_t gold, predicted, correct; /* words */
} lg_tagger_tag;

typedef struct lg_tagger_confusion {
    const char *gold, *predicted;
    uint64_t count;
} lg_tagger_confusion;

/* How a tagger does on text whose tags are known. Counts; divide them as you like. */
typedef struct lg_tagger_report {
    const char *tagset;
    uint64_t words, sentences;
    uint64_t correct, family_correct;  /* words that have the gold tag, a tag of its family */
    uint64_t unknown, unknown_correct; /* words that the model's text did not have in any case */
    lg_tagger_tag *tags;               /* [n_tags] most frequent first */
    size_t n_tags;
    lg_tagger_confusion *confusions; /* [n_confusions] most frequent first */
    size_t n_confusions;
    /* Options.raw: the splitter's words and sentences, and how many have the gold standard's ends; of the
       words, how many have the right tag too. */
    bool raw;
    uint64_t raw_words, raw_same, raw_correct, raw_sentences, raw_sentences_same;
    struct lg_tagger_memory *memory; /* what the names lie in */
} lg_tagger_report;

/* Tags the words of FILES as given (and, asked for, their raw text) and compares. */
LG_API lg_status lg_tagger_eval(const char *const *files, size_t n_files,
                                const lg_tagger_eval_options *options, lg_tagger_report *report,
                                lg_error *error);
LG_API void lg_tagger_report_free(lg_tagger_report *report);

#endif
