/* Training runs: their checkpoints, found by the steps in the names of folders, and whether one is all there
   yet. */
#ifndef LOSSGAP_RUNS_H
#define LOSSGAP_RUNS_H

#include "lossgap/base.h"

/* What a name says: "step1000-tokens4B", "checkpoint-500", "global_step100", "iter_0001000". */
typedef struct lg_step_name {
    uint64_t step;
    bool several; /* the name holds other steps, too: this is the last one */
    bool has_tokens;
    uint64_t tokens; /* seen in training, as rounded as the name has it */
} lg_step_name;

/* The last number after step, checkpoint, ckpt or iter in NAME, and tokens if it has them ("tokens4B",
   "4.5Btokens"). k, M, B and T stand for thousands and so on. false: no step. */
LG_API bool lg_step_of_name(const char *name, lg_step_name *step);

/* Where the number of tokens that a checkpoint had seen is from. */
typedef enum lg_tokens_from {
    LG_TOKENS_UNKNOWN,
    LG_TOKENS_GIVEN,    /* of this checkpoint, in RUNS.json */
    LG_TOKENS_PER_STEP, /* step x tokens_per_step */
    LG_TOKENS_TRAINER,  /* num_input_tokens_seen of trainer_state.json */
    LG_TOKENS_NAME,     /* in the folder's name, as rounded as it is there */
} lg_tokens_from;
/* NULL (unknown), "given", "tokens_per_step", "trainer_state.json", "name". */
LG_API const char *lg_tokens_from_name(lg_tokens_from from);

typedef struct lg_run_checkpoint {
    const char *where; /* a folder, or a hub id in the local cache */
    uint64_t step, tokens;
    lg_tokens_from tokens_from; /* LG_TOKENS_UNKNOWN: tokens is 0 */
} lg_run_checkpoint;

typedef struct lg_run {
    const char *name;                     /* letters, digits . _ - */
    uint64_t tokens_per_step;             /* 0: not known */
    size_t n_checkpoints;                 /* as the last lg_runs_find found them */
    const lg_run_checkpoint *checkpoints; /* [n_checkpoints] by step, each step once */
} lg_run;

/* A folder that looks like a checkpoint and was not taken, or was taken with a doubt. */
typedef struct lg_run_remark {
    const char *run, *where, *text;
    bool taken;
} lg_run_remark;

typedef struct lg_runs lg_runs;

LG_API lg_status lg_runs_create(lg_runs **runs, lg_error *error);
LG_API void lg_runs_free(lg_runs *runs); /* NULL is fine */
/* Adds the runs of a RUNS.json (docs/formats/runs.md). Paths in it are from its own folder. */
LG_API lg_status lg_runs_read(lg_runs *runs, const char *path, lg_error *error);
/* Adds PATTERN (a glob that names folders of checkpoints, or a folder of a run, or a hub id) to the run NAME,
   which is made if it is new. */
LG_API lg_status lg_runs_add(lg_runs *runs, const char *name, const char *pattern, lg_error *error);
/* Of the run NAME, or with NULL of all that have none of their own. */
LG_API lg_status lg_runs_set_tokens_per_step(lg_runs *runs, const char *name, uint64_t tokens,
                                             lg_error *error);
LG_API size_t lg_runs_count(const lg_runs *runs);
LG_API const lg_run *lg_runs_at(const lg_runs *runs, size_t i);
LG_API const char *lg_runs_baseline(const lg_runs *runs); /* of RUNS.json; NULL: none */

/* Looks at the folders, anew each time. What it gave before is gone. */
LG_API lg_status lg_runs_find(lg_runs *runs, lg_error *error);
LG_API size_t lg_runs_n_remarks(const lg_runs *runs);
LG_API const lg_run_remark *lg_runs_remark(const lg_runs *runs, size_t i);

/* Whether a checkpoint's folder is all there, by its files' names, sizes and first bytes. */
typedef struct lg_checkpoint_look {
    bool whole;
    char why[400];      /* what is missing; "" if whole */
    char signature[33]; /* of names, sizes and times: another one means that somebody wrote */
    int64_t newest;     /* the youngest file's time of change, seconds since 1970 */
} lg_checkpoint_look;

/* Fails for lack of memory only: what cannot be read is not there yet. TOKENIZER: tokenizer.json must be
   there, too. */
LG_API lg_status lg_checkpoint_look_at(const char *folder, bool tokenizer, lg_checkpoint_look *look,
                                       lg_error *error);
#endif
