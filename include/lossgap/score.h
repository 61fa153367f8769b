/* Losses per token: windows over a dataset, scored by a model, kept as a table. */
#ifndef LOSSGAP_SCORE_H
#define LOSSGAP_SCORE_H

#include "lossgap/base.h"
#include "lossgap/dataset.h"
#include "lossgap/model.h"

typedef enum lg_precision { LG_PRECISION_AUTO, LG_PRECISION_F32, LG_PRECISION_BF16 } lg_precision;
typedef enum lg_windows { LG_WINDOWS_DOCUMENT, LG_WINDOWS_PAPER } lg_windows;

enum { LG_COLUMN_ENTROPY = 1, LG_COLUMN_RANK = 2, LG_COLUMN_TOP1 = 4 };

#define LG_PREFIX_AUTO (-1)
#define LG_PREFIX_NONE (-2)

typedef struct lg_score_options {
    lg_precision precision;
    lg_windows windows;
    size_t context;         /* L, model inputs per row; 0: least of 8192 and max_position_embeddings */
    size_t stride;          /* 0: L/2 */
    int64_t prefix;         /* token id, LG_PREFIX_AUTO or LG_PREFIX_NONE */
    unsigned columns;       /* LG_COLUMN_* */
    unsigned threads;       /* 0: all processors */
    size_t batch;           /* tokens that go through a layer together; 0: chosen */
    const char *model_name; /* what tables call the model */
    const char *tokenizer;  /* tokenizer.json or folder for prefix auto; NULL: none */
    const char *command;
} lg_score_options;

typedef struct lg_score_plan {
    uint64_t rows, tokens_scored, tokens_unscorable, inputs; /* what the dataset needs in all */
    uint64_t rows_left, inputs_left;                         /* what is not there yet */
    double flops_left;
    int64_t prefix;         /* resolved: an id or LG_PREFIX_NONE */
    size_t context, stride; /* resolved */
    lg_precision precision; /* resolved */
} lg_score_plan;

LG_API const char *lg_precision_name(lg_precision precision); /* "auto", "f32", "bf16" */
LG_API const char *lg_windows_name(lg_windows windows);       /* "document", "paper" */

/* What lg_score_run would do. OUT is looked at, never changed. */
LG_API lg_status lg_score_plan_make(const lg_model *model, const lg_dataset *data,
                                    const lg_score_options *options, const char *out, lg_score_plan *plan,
                                    lg_error *error);

/* Times a little of the work that PLAN (of the same arguments) found left, and says how long all of it would
 * take. */
LG_API lg_status lg_score_estimate(const lg_model *model, const lg_dataset *data,
                                   const lg_score_options *options, const lg_score_plan *plan,
                                   double *seconds, const lg_monitor *monitor, lg_error *error);

/* Scores DATA into OUT. Rows already in OUT (or in the journal that a stopped run left beside it) are not
   computed again. On LG_CANCELLED the journal stays. */
LG_API lg_status lg_score_run(const lg_model *model, const lg_dataset *data, const lg_score_options *options,
                              const char *out, const lg_monitor *monitor, lg_error *error);

/* Scores from a JSONL of {"id", "input_ids", "nll"} lines made elsewhere, one for every document of DATA,
   whose names and tokens must match. OPTIONS say how they were scored; `columns`: which to keep, 0: all that
   the lines have. `threads` and `batch` are not looked at. */
LG_API lg_status lg_score_import(const char *jsonl, const lg_dataset *data, const lg_score_options *options,
                                 const char *out, const lg_monitor *monitor, lg_error *error);

/* A score table, mapped, checked against its dataset. */
typedef struct lg_scores {
    lg_table *table;
    const char *model_name;
    size_t n_tokens;
    const float *nll;        /* [n_tokens] nats, NaN where unscorable */
    const uint32_t *context; /* [n_tokens] tokens of context, prefix included; spans of the document before
                                it that every model of the alignment saw whole */
    const float *entropy;    /* [n_tokens] nats, or NULL */
    const uint32_t
        *rank; /* [n_tokens] entries with a strictly larger logit, or NULL; UINT32_MAX if unscorable */
    const uint32_t *top1; /* [n_tokens] the likeliest id, or NULL; UINT32_MAX if unscorable */
    const uint32_t
        *tokens; /* [n_tokens] scores over spans (lossgap/align.h): the model's tokens in each; else NULL */
    int64_t prefix; /* id or LG_PREFIX_NONE; of spans NONE, as the next two say nothing: the settings do */
    lg_windows windows;
    size_t window_context;  /* L; 0 of spans */
    size_t stride;          /* 0 in paper windows, and of spans */
    lg_precision precision; /* LG_PRECISION_AUTO: not known (imported) */
    const char *model;      /* identity of the checkpoint, "" if imported */
    void *memory;           /* what all this lies in; private */
} lg_scores;

/* Refuses scores of other tokens than DATA's: the ids and the documents' ends count, not the file. */
LG_API lg_status lg_scores_open(const char *path, const lg_dataset *data, lg_scores *scores, lg_error *error);
LG_API void lg_scores_close(lg_scores *scores);

/* A cache: FOLDER/NAME.safetensors, where NAME stands for the checkpoint's content, the settings and the
   tokens, so that neither paths nor names of models matter. */
enum { LG_CACHE_NAME = 34 }; /* bytes of NAME: 16 hex digits, '-', 16 hex digits, NUL */

typedef enum lg_cache_result {
    LG_CACHE_FOUND,   /* nothing was computed */
    LG_CACHE_MADE,    /* computed now, or what of it a stopped run or a smaller dataset had left */
    LG_CACHE_BUSY,    /* another process is at it, and we were not to wait: no scores */
    LG_CACHE_CHANGED, /* the checkpoint's files changed while they were read: no scores, nothing kept */
} lg_cache_result;

/* PLAN (NULL is fine) gets what the options come to: prefix, context, stride, precision; the rest is 0. */
LG_API lg_status lg_score_cache_name(const lg_model *model, const lg_dataset *data,
                                     const lg_score_options *options, char name[LG_CACHE_NAME],
                                     lg_score_plan *plan, lg_error *error);

/* Opens the scores of DATA under MODEL from the cache in FOLDER, which is made if missing; computes them if
   they are not there. One process computes, under a lock (FOLDER/NAME.lock) that ends with it; others WAIT,
   or come back with LG_CACHE_BUSY. */
LG_API lg_status lg_score_cached(const lg_model *model, const lg_dataset *data,
                                 const lg_score_options *options, const char *folder, bool wait,
                                 const lg_monitor *monitor, lg_cache_result *result, char name[LG_CACHE_NAME],
                                 lg_scores *scores, lg_error *error);
#endif
