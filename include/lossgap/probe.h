/* Controlled probes: items with choices, what models give each choice, and what that says. */
#ifndef LOSSGAP_PROBE_H
#define LOSSGAP_PROBE_H

#include "lossgap/base.h"
#include "lossgap/score.h"
#include "lossgap/tokenizer.h"

/* ---- items (docs/formats/probe-items.md) ---- */

/* One possible continuation of an item's prompt. */
typedef struct lg_probe_choice {
    const char *text; /* [length > 0] as " he"; UTF-8, may hold U+0000 */
    size_t length;
    int bound;  /* rank in which what it stands for was bound in the prompt (0: first); -1: not said */
    int listed; /* rank in the list of options that the prompt shows (0: "(A)"); -1: not said, or no list */
} lg_probe_choice;

/* Bytes begin … end - 1 of the prompt, and what they are: "binding", "query", "update" … */
typedef struct lg_probe_span {
    const char *role;
    size_t begin, end;
} lg_probe_span;

/* Strings without a length end in NUL. */
typedef struct lg_probe_item {
    const char *id;        /* JSON text: 17 or "pronoun-32-5-0" with its quotes; unique in its file */
    const char *probe;     /* "pronoun", "word_problem/A5" … or any label of a file's own */
    const char *cell;      /* which of the counterbalanced conditions: "he-first/second"; "" none */
    const char *group;     /* items that share names and filler: clusters of intervals; NULL, added: id */
    const char *tokenizer; /* identity (hex) of the only tokenizer that its distance holds for; NULL: any */
    uint64_t distance;     /* tokens of filler between binding and query; of word problems: elements */
    const char *prompt;    /* [prompt_length > 0] UTF-8, may hold U+0000 */
    size_t prompt_length;
    const lg_probe_choice *choices; /* [n_choices >= 2], all different */
    size_t n_choices, answer;
    const lg_probe_span *spans; /* [n_spans] */
    size_t n_spans;
    /* What copying without understanding would answer, as a choice: that which the prompt mentions last, most
       often, or first. -1: not said. */
    int most_recent, most_frequent, first_mention;
} lg_probe_item;

typedef struct lg_probe_items lg_probe_items; /* items in order, and their strings */

LG_API lg_status lg_probe_items_create(lg_probe_items **items, lg_error *error);
LG_API void lg_probe_items_free(lg_probe_items *items);
/* Adds a copy of ITEM. LG_USAGE if it is not as described above, or its id is there already. */
LG_API lg_status lg_probe_items_add(lg_probe_items *items, const lg_probe_item *item, lg_error *error);
LG_API size_t lg_probe_n_items(const lg_probe_items *items);
/* Valid until ITEMS are added to (the strings and arrays: until they are freed). I < lg_probe_n_items. */
LG_API const lg_probe_item *lg_probe_item_at(const lg_probe_items *items, size_t i);

/* Reads a file of one JSON object a line. An item without id gets the number of its line. */
LG_API lg_status lg_probe_items_read(const char *path, lg_probe_items **items, lg_error *error);
/* Writes it, atomically; what was read and is written again is the same bytes from then on. */
LG_API lg_status lg_probe_items_write(const lg_probe_items *items, const char *path, lg_error *error);
/* 32 hex digits: XXH3-128 of what lg_probe_items_write would write. */
LG_API lg_status lg_probe_items_identity(const lg_probe_items *items, char identity[33], lg_error *error);

/* ---- generated items (docs/guide/probes.md) ---- */

typedef enum lg_probe_kind {
    LG_PROBE_PRONOUN,      /* "pronoun" */
    LG_PROBE_ENTITY,       /* "entity" */
    LG_PROBE_CLOSURE,      /* "closure" */
    LG_PROBE_WORD_PROBLEM, /* "word_problem/A5", one probe for each group */
    LG_PROBE_DISCOURSE,    /* "discourse" */
    LG_N_PROBE_KINDS,
} lg_probe_kind;

LG_API const char *lg_probe_kind_name(lg_probe_kind kind); /* "pronoun" …, "word_problem" */

enum {
    LG_PROBE_NEAREST = 16, /* distances of items that are made, in tokens */
    LG_PROBE_FARTHEST = 1 << 20,
    LG_PROBE_SHORTEST = 2, /* word problems, in elements */
    LG_PROBE_LONGEST = 512,
    LG_PROBE_LONGEST_TRAINING = 4096,
    LG_PROBE_FEWEST_ENTITIES = 3,
    LG_PROBE_MOST_ENTITIES = 12,
    LG_PROBE_MOST_UPDATES = 16,
    LG_PROBE_MOST_ITEMS = 1 << 24, /* per probe and distance */
};

/* Start with LG_PROBE_OPTIONS_INIT. Item k of a probe and distance is the same whatever else is asked for. */
typedef struct lg_probe_options {
    unsigned kinds;            /* bit 1 << LG_PROBE_…; 0: all */
    const uint64_t *distances; /* [n_distances] tokens, 16 … 2^20; none: 32, 64, 128, 256, 512, 1024 */
    size_t n_distances;
    const uint64_t *lengths; /* [n_lengths] of word problems, in elements, 2 … 512; none: 2, 4, 8 … 512 */
    size_t n_lengths;
    const char *groups; /* of word problems: names with commas between; NULL: A5,S5,A4xZ5,Z60 */
    size_t count;       /* items per probe and distance, rounded up to whole counterbalanced sets; 0: 200 */
    uint64_t seed;
    const char *filler; /* "grammar" (or NULL), "words", or "text:FILE" */
    /* Items may have so many tokens, longest choice included; 0: no limit. Distances whose items would have
       more are left out, and the monitor is told. */
    size_t max_tokens;
    /* Discourse: ENTITIES characters, as many places and as many objects (0: 4; 3 to 12). What is asked for
       changes one to UPDATES times (0: 3) before the distance begins; after that, one to DISTRACTORS others
       of its type are mentioned (0: 3, or one less than there are), as far as the distance has room. */
    size_t entities, updates, distractors;
} lg_probe_options;

#define LG_PROBE_OPTIONS_INIT                                                                                \
    { 0 }

/* Makes items for models with TOKENIZER, in whose tokens the distances are exact. LG_USAGE: options that make
   no sense; LG_BAD_INPUT: a filler file, or a tokenizer, that does not serve. */
LG_API lg_status lg_probe_generate(const lg_probe_options *options, const lg_tokenizer *tokenizer,
                                   const lg_monitor *monitor, lg_probe_items **items, lg_error *error);

/* ---- word problems to train on (docs/formats/word-problem.md) ---- */

typedef struct lg_probe_training_options {
    const char *groups; /* as above; NULL: A5,S5,A4xZ5,Z60 */
    const uint64_t
        *lengths; /* [n_lengths] of the sequences, 2 … 512, to train on 2 … 4096; none: 2, 4, 8 … 512 */
    size_t n_lengths;
    size_t count; /* sequences per group and length; 0: 1000 */
    uint64_t seed;
} lg_probe_training_options;

/* Writes JSONL, a sequence of elements a line with the running product at each position. */
LG_API lg_status lg_probe_write_training(const lg_probe_training_options *options, const char *path,
                                         lg_error *error);

/* ---- what models give the choices ---- */

/* Why an item has no log-probabilities under a model. */
typedef enum lg_probe_outcome {
    LG_PROBE_SCORED,
    LG_PROBE_STRADDLES, /* a token crosses the boundary between prompt and choice */
    LG_PROBE_TOO_LONG,  /* longer than the model's context */
    LG_PROBE_NOT_MEANT, /* made for another tokenizer */
    LG_PROBE_MISSING,   /* a file of log-probabilities has no line for it, or one that does not say why */
} lg_probe_outcome;

/* What one model gives the choices: [sum of n_choices], item after item. */
typedef struct lg_probe_scores {
    const char *model;
    double *logp;     /* summed over the choice's tokens, nats; NAN unless scored */
    uint32_t *tokens; /* of the choice, for length-normalised figures; 0 unless scored */
    uint8_t *outcome; /* [n_items] LG_PROBE_… */
} lg_probe_scores;

/* Start with LG_PROBE_SCORE_OPTIONS_INIT. */
typedef struct lg_probe_score_options {
    lg_precision precision;
    int64_t prefix;         /* what stands before the prompt: token id, LG_PREFIX_AUTO or LG_PREFIX_NONE */
    size_t context;         /* inputs of an item at most; 0: the model's max_position_embeddings */
    unsigned threads;       /* 0: all processors */
    size_t batch;           /* tokens that go through a layer together; 0: chosen */
    const char *model_name; /* what results call the model; NULL: its path */
    /* JOURNAL.journal keeps what a stopped or killed run has computed, until a run of the same model,
       settings and items is done; NULL: none. */
    const char *journal;
    /* Identities; NULL ends; NULL: none. Items made for these tokenizers are taken, too: the model's own
       gives the same tokens (lg_probe_same_tokens). */
    const char *const *also;
} lg_probe_score_options;

#define LG_PROBE_SCORE_OPTIONS_INIT                                                                          \
    { .prefix = LG_PREFIX_AUTO }

/* What the options come to for a model and its tokenizer. */
typedef struct lg_probe_plan {
    lg_precision precision;
    int64_t prefix;  /* id or LG_PREFIX_NONE */
    size_t context;  /* 0: no limit is known */
    const char *isa; /* which kernels */
    char key[33];    /* hex; stands for all that log-probabilities depend on beside the items */
} lg_probe_plan;

LG_API lg_status lg_probe_plan_make(const lg_model *model, const lg_tokenizer *tokenizer,
                                    const lg_probe_score_options *options, lg_probe_plan *plan,
                                    lg_error *error);

/* Computes the log-probabilities of all choices of ITEMS under MODEL, whose TOKENIZER it is. A choice's
   tokens are those after the prompt's when both are tokenised together; items that cannot be scored so are
   left out and the monitor is told. In an item that LG_PROBE_STRADDLES the choices without that trouble have
   values, too. Values have the same bits for any threads, batch and other items. LG_BAD_INPUT: a choice
   without tokens, an id that the model lacks. */
LG_API lg_status lg_probe_score(const lg_model *model, const lg_tokenizer *tokenizer,
                                const lg_probe_items *items, const lg_probe_score_options *options,
                                const lg_monitor *monitor, lg_probe_scores *scores, lg_error *error);
LG_API void lg_probe_scores_free(lg_probe_scores *scores); /* of lg_probe_score; {0} is fine */

/* Whether tokenizers A and B make the same tokens of all ITEMS that are made for A, so that distances hold
   for models with either. */
LG_API lg_status lg_probe_same_tokens(const lg_probe_items *items, const lg_tokenizer *a,
                                      const lg_tokenizer *b, unsigned threads, const lg_monitor *monitor,
                                      bool *same, lg_error *error);

/* ---- what a file of log-probabilities was computed with (docs/formats/probe.md) ---- */

typedef struct lg_probe_run_model {
    const char *name;              /* in the file */
    const char *model, *tokenizer; /* identities */
    lg_probe_plan plan;
} lg_probe_run_model;

typedef struct lg_probe_run {
    char items[33];             /* their identity */
    char logp[33];              /* hex XXH3-128 of the file's bytes */
    lg_probe_run_model *models; /* [n_models], of different names */
    size_t n_models;
    void *memory; /* of what was read; private */
} lg_probe_run;

LG_API lg_status lg_probe_run_read(const char *path, lg_probe_run *run, lg_error *error);
LG_API void lg_probe_run_free(lg_probe_run *run); /* of lg_probe_run_read */
/* Writes it, atomically. */
LG_API lg_status lg_probe_run_write(const lg_probe_run *run, const char *command, const char *path,
                                    lg_error *error);

#endif
