/* What every command shares: options, progress, signals, errors and exit codes. A command is

       int cmd_tag(int argc, char **argv)
       {
           struct options o = {0};
           cli c;
           cli_start(&c, argc, argv, &argp, CLI_THREADS, &o);   // exits by itself on --help and wrong usage
           lg_status status = …(&c.monitor, &c.error);
           return cli_end(&c, status);                          // says what went wrong; the exit code
       }

   and a row in the table of main.c. */
#ifndef LG_CLI_CLI_H
#define LG_CLI_CLI_H

#include <argp.h>
#include <stdio.h>

#include "lossgap/base.h"

enum { CLI_EXIT_STOPPED = 130 };

/* Options beside -q and -v that a command takes from here. */
enum { CLI_THREADS = 1, CLI_JSON = 2 };

/* A line on the terminal that follows the work, or a line now and then where there is no terminal. */
typedef struct cli_progress {
    const char *command;
    bool terminal, shown;     /* shown: the live line is on the screen */
    char unit[32], label[64]; /* label: what the work is about, or "" */
    uint64_t first, last;     /* done when this unit was first seen (the rate leaves that out), and lastly */
    double started, printed;  /* seconds */
} cli_progress;

typedef struct cli {
    const char *command; /* "tag" */
    char *command_line;  /* what the user typed, shell-quoted, for the provenance */
    const char *go_on;   /* what is said when the user stops the work; a command may set it */
    unsigned threads;    /* 0: all processors */
    bool quiet, verbose, json;
    lg_monitor monitor; /* progress and notes on stderr, cancelled by SIGINT and SIGTERM */
    lg_error error;
    cli_progress progress;
    double started;
} cli;

/* Parses ARGV with the command's ARGP (input INPUT; four children at most) and the COMMON options, and
   arms the signals. Exits with 2 on wrong usage. */
void cli_start(cli *c, int argc, char **argv, const struct argp *argp, unsigned common, void *input);
/* Ends the live line, prints what c->error says if STATUS is not LG_OK, frees. Returns the exit code. */
int cli_end(cli *c, lg_status status);
/* True once the user asked to stop. */
bool cli_stopped(void);
/* Closes stdout when the program exits: a full disk there is an error like any other. */
void cli_check_stdout(void);

/* options.c: children that several commands have. */
extern const struct argp cli_corpus_argp; /* --kind … --input-ids; input: lg_dataset_options * */
extern const struct argp
    cli_score_argp; /* --precision … --columns; input: lg_score_options *, prefix is set to auto */

/* In argp parsers: a whole number from LOW to HIGH, or a usage error that names OPTION. */
uint64_t cli_number(const struct argp_state *state, const char *option, const char *text, uint64_t low,
                    uint64_t high);
/* The index of TEXT in NAMES (NULL-terminated), or a usage error that lists them. */
size_t cli_choice(const struct argp_state *state, const char *option, const char *text,
                  const char *const *names);
/* Appends VALUE to *LIST [*n], which has *ROOM; for the arguments of options that may be given again. 0 or
   ENOMEM, as parsers return. */
error_t cli_push(const char ***list, size_t *n, size_t *room, const char *value);
/* What filters are made of, as `filter` and `curve` ask for it. */
typedef struct cli_filter_options {
    const char *file, *pair[2], *hard;
    char **only, **state_tags; /* free() both */
} cli_filter_options;
enum {
    CLI_FILTER_FILTERS = 0x300,
    CLI_FILTER_ONLY,
    CLI_FILTER_SCORES,
    CLI_FILTER_HARD,
    CLI_FILTER_STATE_TAGS
};
/* Takes those keys: a parser's default. */
error_t cli_parse_filter(int key, char *argument, struct argp_state *state, cli_filter_options *o);
/* Which tokens `gap` and `profile` compare and in what groups; `regress` has some of these options. */
typedef struct cli_token_options {
    const char *data, *tags, *out, *where, *multi;
    const char **definitions; /* [n_definitions]; free() */
    char **by;                /* [n_by]; free() */
    size_t n_definitions, definitions_room, n_by;
    size_t bootstrap, fewest; /* resamples; the fewest that may be asked for */
    uint64_t seed;
    bool full;
} cli_token_options;
enum {
    CLI_TOKENS_DATA = 0x320,
    CLI_TOKENS_TAGS,
    CLI_TOKENS_BY,
    CLI_TOKENS_MULTI,
    CLI_TOKENS_DEFINE,
    CLI_TOKENS_WHERE,
    CLI_TOKENS_BOOTSTRAP,
    CLI_TOKENS_SEED,
    CLI_TOKENS_FULL
};
enum { CLI_REPLICATES = 1000 }; /* of --bootstrap without a number */
/* Takes those keys and 'o': a parser's default. */
error_t cli_parse_tokens(int key, char *argument, struct argp_state *state, cli_token_options *o);
/* Opens DATA and the scores of it in the files PATHS [n]. Both are zeros before; the caller closes them,
   after an error too. */
struct lg_dataset;
struct lg_scores;
lg_status cli_open_scores(const char *data_path, const char *const *paths, size_t n, struct lg_dataset *data,
                          struct lg_scores *scores, lg_error *error);
/* Refuses a folder OUT of results that is, or lies in, one of the folders PATHS [n] that are read as text:
   the next run would read the results, and compute everything anew. */
lg_status cli_refuse_inside(const char *out, const char *const *paths, size_t n, lg_error *error);
/* Splits TEXT at commas into a NULL-terminated array, one block: free() it. Empty parts are a usage error. */
char **cli_list(const struct argp_state *state, const char *option, const char *text, size_t *count);

/* A model argument: a folder, a hub id, or NAME=either. */
typedef struct cli_model {
    char *name;        /* what tables and files call it: letters, digits, . _ - only; free() */
    const char *where; /* points into the argument */
    bool named;        /* by NAME= */
    bool clash;        /* while names are made: another model has this one */
    size_t depth;      /* components of the path in the name */
} cli_model;

/* Names the N models of ARGUMENTS: NAME=, else as many of the path's last components as tell them apart.
   Refuses two of one name. On error nothing is owned. */
lg_status cli_name_models(char *const *arguments, size_t n, cli_model *models, lg_error *error);
void cli_free_models(cli_model *models, size_t n);

/* same_tokens.c: tokenises the text of DATA again with the tokenizer in FOLDER. *SAME: all ids are; else
   DIFFERENCE [size] says where the first one is another than NAME_A's. */
lg_status cli_same_tokens(const struct lg_dataset *data, const char *folder, bool parse_special,
                          const char *name_a, const char *name_b, unsigned threads, bool *same,
                          char *difference, size_t size, const lg_monitor *monitor, lg_error *error);

/* Makes FOLDER and locks it: only one process at a time works in a folder. The lock is on the folder itself
   and ends with close(*LOCK), or with the process; -1: none. */
lg_status cli_lock_folder(const char *folder, int *lock, lg_error *error);
/* The same, but waits for the process that has the lock, with a note. */
lg_status cli_wait_folder(const char *folder, const lg_monitor *monitor, int *lock, lg_error *error);

/* For tables: colour only on a terminal and without NO_COLOR; width 0: no limit. */
bool cli_color(FILE *stream);
size_t cli_width(FILE *stream);

/* 1234567 as "1.23 M", with the unit's own scale for bytes ("1.23 MB"). Returns OUT. */
char *cli_quantity(double value, const char *unit, char out[48]);
/* 3725 seconds as "1 h 2 min". Returns OUT. */
char *cli_duration(double seconds, char out[32]);

/* progress.c */
double cli_now(void); /* seconds on a clock that never jumps */
void cli_progress_start(cli_progress *p, const char *command);
void cli_progress_show(cli_progress *p, const char *unit, uint64_t done, uint64_t total);
void cli_progress_clear(cli_progress *p); /* takes the live line off the screen */

/* Writes a gap as JSON and, beside it, as CSV: OUT is the name of either, or of neither. */
struct lg_gap;
lg_status cli_write_gap(const struct lg_gap *gap, const char *out, lg_error *error);
/* STEM.ENDING, for a PATH that ends in .json or .csv; otherwise PATH.ENDING. free(); NULL: no memory. */
char *cli_beside(const char *path, const char *ending);
/* Writes TEXT [length] there. */
lg_status cli_write_beside(const char *path, const char *ending, const char *text, size_t length,
                           lg_error *error);

/* probe_results.c: evaluates SCORES [N_MODELS], writes the results to FOLDER (NULL: nowhere) and prints them.
 */
struct lg_probe_items;
struct lg_probe_scores;
lg_status cli_report_probes(cli *c, const struct lg_probe_items *items, const struct lg_probe_scores *scores,
                            size_t n_models, const char *folder, bool full);

/* Writes a text, atomically. A file that holds this already is left alone. */
lg_status cli_write_text(const char *path, const char *text, size_t length, lg_error *error);

/* cmd_score.c: a line on stderr that says what the scores at PATH hold. */
lg_status cli_say_scores(cli *c, const char *path, const struct lg_dataset *data);

/* The commands, one file each. */
int cmd_align(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_curve(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_filter(int argc, char **argv);
int cmd_frequency(int argc, char **argv);
int cmd_gap(int argc, char **argv);
int cmd_import(int argc, char **argv);
int cmd_inspect(int argc, char **argv);
int cmd_probe(int argc, char **argv);
int cmd_profile(int argc, char **argv);
int cmd_regress(int argc, char **argv);
int cmd_score(int argc, char **argv);
int cmd_tag(int argc, char **argv);
int cmd_tagger(int argc, char **argv);
int cmd_tokenize(int argc, char **argv);

#endif
