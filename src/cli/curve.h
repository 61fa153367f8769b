/* What the files of `lossgap curve` share: what is asked for, the checkpoints that have scores, those that
   have none yet, and the list that outlives deleted checkpoints. */
#ifndef LG_CLI_CURVE_H
#define LG_CLI_CURVE_H

#include "cli/cli.h"
#include "lossgap/curve.h"
#include "lossgap/dataset.h"
#include "lossgap/report.h"
#include "lossgap/runs.h"
#include "lossgap/score.h"

typedef struct curve_options {
    const char *runs_file;
    const char **runs, **corpora, **tokens_per_step; /* NAME=GLOB; paths; [NAME=]N */
    size_t n_runs, n_corpora, n_tokens_per_step, runs_room, corpora_room, tokens_room;
    const char *out, *tokenizer, *baseline;
    cli_filter_options filter; /* pair, hard: runs, RUN@STEP, or files of scores */
    lg_dataset_options dataset;
    lg_score_options score;
    lg_curve_picture_style picture;
    bool watch, list;
    unsigned seconds; /* between two looks */
} curve_options;

/* A checkpoint that has scores. Strings are its own. */
typedef struct curve_scored {
    char *run, *where; /* where: as it was found; NULL: from the list */
    uint64_t step, tokens;
    lg_tokens_from tokens_from;
    char name[LG_CACHE_NAME], signature[33];
    bool gone, seen, told; /* seen: in this round; told: to the user */
    lg_scores scores;
} curve_scored;

/* One that has none. */
typedef struct curve_waiting {
    char *run, *where, *reason; /* reason NULL: nothing is wrong */
    uint64_t step;
    char signature[33];             /* at the last look */
    bool broken, doubt, told, seen; /* doubt: no checkpoint of its own, only a remark */
} curve_waiting;

typedef struct curve_work {
    cli *c;
    const curve_options *o;
    lg_runs *runs;
    lg_dataset data;
    bool has_data, fixed; /* fixed: context and prefix are decided */
    char *tags;
    size_t context;
    int64_t prefix;
    curve_scored *scored;
    size_t n_scored, scored_room;
    curve_waiting *waiting;
    size_t n_waiting, waiting_room;
    size_t computed; /* checkpoints scored by this process */
    lg_filters *filters;
    char *filters_of; /* what they were made with */
    lg_curve *curve;
} curve_work;

/* DIR/NAME; free(). NULL: no memory. */
char *curve_path(const curve_work *w, const char *name);
/* Takes the lock of DIR, waiting for another process with a word about it; *FD to close(). */
lg_status curve_lock(curve_work *w, int *fd);

/* curve_scores.c: looks for checkpoints, and scores what is new and whole; *CHANGED: there is something new
   to show. With --watch PUBLISH is called after each one that was computed. */
lg_status curve_round(curve_work *w, lg_status (*publish)(curve_work *w), bool *changed);
/* The scored checkpoint STEP of RUN; NULL: none. */
curve_scored *curve_find(const curve_work *w, const char *run, uint64_t step);
/* Finds the runs, as --list does. */
lg_status curve_list(curve_work *w);

/* curve_manifest.c: DIR/checkpoints.json (docs/formats/curve.md). Adds what it lists and is scored, and is
   neither among w->scored nor found, as gone. TELL: say what is left out. */
lg_status curve_manifest_read(curve_work *w, bool tell);
/* Whether it lists STEP of RUN; NULL: any step. */
lg_status curve_manifest_has(const curve_work *w, const char *run, const uint64_t *step, bool *has);
/* Adds w->scored to it. */
lg_status curve_manifest_write(curve_work *w);

/* cmd_curve.c: whether the filters could be made once there are scores; data and tags are there. A wrong
   expression is said before hours of work, not after. */
lg_status curve_check_filters(curve_work *w);

#endif
