/* Regression over columns of tokens: least squares from streamed normal equations, with errors clustered by
 * document. */
#ifndef LOSSGAP_REGRESS_H
#define LOSSGAP_REGRESS_H

#include "lossgap/base.h"
#include "lossgap/dataset.h"
#include "lossgap/score.h"
#include "lossgap/table.h"

/* Named columns of equal length, from any number of files. */
typedef struct lg_frame lg_frame;

LG_API lg_status lg_frame_create(lg_frame **frame, lg_error *error);
LG_API void lg_frame_free(lg_frame *frame); /* NULL is fine */

/* Adds the columns of PATH: a safetensors file (mapped; the names of a category's values from the metadata
   "levels.COLUMN", a JSON list, or from the settings of an artefact), or CSV with a header (.csv, .tsv, each
   also with .gz; read into memory; columns that hold more than numbers are categories, levels in the order of
   their bytes, an empty field is a missing value). */
LG_API lg_status lg_frame_add_file(lg_frame *frame, const char *path, lg_error *error);

/* Adds the columns of SCORES [n_scores] of DATA, and of TAGS (a path, or NULL): those that `lossgap gap
   --where` knows (docs/guide/query.md); gap, of the first two; difficulty, the mean of their losses or, by
   DIFFICULTY, the loss of the model of that name; with tags wordpos, copy1 … copy4, log_prev_distance,
   prev_missing, log_frequency. Refused where models scored other tokens, prefixes or contexts. DATA and
   SCORES outlive the frame. */
LG_API lg_status lg_frame_add_scores(lg_frame *frame, const lg_dataset *data, const lg_scores *scores,
                                     size_t n_scores, const char *tags, const char *difficulty,
                                     lg_error *error);

/* The regression of the method's section 5, over the columns of scores with tags. */
#define LG_REGRESS_PAPER                                                                                     \
    "gap ~ domain + tag + wordpos + relpos + difficulty + difficulty^2 + copy1 + copy2 + copy3 + copy4 + "   \
    "log_prev_distance + prev_missing + log_frequency"

/* Adds a column computed from others: "NAME=EXPRESSION" in the query language, where comparisons give 0
 * and 1. */
LG_API lg_status lg_frame_define(lg_frame *frame, const char *definition, lg_error *error);

typedef struct lg_regress_options {
    const char *formula;           /* docs/formats/regress.md */
    const char *cluster;           /* column that errors are clustered by, or NULL */
    const char *absorb;            /* column whose levels get an effect each, by demeaning, or NULL */
    const char *weights;           /* column of analytic weights, or NULL */
    const char *where;             /* condition on rows, or NULL: all */
    const char *const *references; /* [n_references] "COLUMN=LEVEL" */
    size_t n_references;
    double
        tolerance; /* a column is dropped when what the ones before it leave of its norm is less; 0: 1e-7 */
    unsigned threads;    /* 0: all processors */
    const char *command; /* for the provenance */
} lg_regress_options;

typedef struct lg_regress lg_regress;

/* A coefficient, or a combination of some. NAN where there is none. The interval is a 95 % one. */
typedef struct lg_estimate {
    double estimate, se; /* se: clustered (CR1), or classical where nothing is clustered */
    double se_classical; /* under equal independent errors */
    double se_cr0;       /* clustered without correction for few clusters */
    double t, df, p;     /* by se; df: clusters - 1, or rows - columns */
    double low, high;
    double p_classical; /* by se_classical and rows - columns */
    double p_adjusted;  /* of coefficients of one category: false discovery rate (Benjamini-Hochberg) */
} lg_estimate;

typedef struct lg_regress_row {
    const char *term; /* "(Intercept)", "difficulty^2", "tag=noun", "domain=python:tag=noun" */
    lg_estimate value;
    double mean; /* of the column, weighted */
    bool dropped;
    const char *reason;    /* why it was dropped; NULL */
    bool counted;          /* the column is an indicator: rows and documents are known */
    uint64_t n, documents; /* rows in which it is not 0, clusters that have such */
} lg_regress_row;

/* A level of a category in the formula. The adjusted mean is the prediction at the means of all other
 * columns. */
typedef struct lg_regress_level {
    const char *column, *level;
    uint64_t n, documents;
    double raw_mean;
    bool reference;
    lg_estimate adjusted;   /* no errors beside absorbed effects */
    lg_estimate unweighted; /* the same at the plain means of the other columns; only with weights */
} lg_regress_level;

/* A difference between levels of a category. */
typedef struct lg_regress_contrast {
    const char *column; /* the category */
    const char *name;   /* "content_minus_function" or "opening_minus_closing" */
    const char *kind; /* of coefficients, a class counting "equal"ly by level or "by_count" of rows; "raw": of
                         means */
    const char *first, *second; /* the class or level, and what is taken from it */
    lg_estimate value;
    double first_mean, second_mean; /* raw: the two means */
} lg_regress_contrast;

typedef struct lg_regress_fit {
    const char *outcome, *formula;          /* as it was understood */
    const char *cluster, *absorb, *weights; /* NULL */
    bool spans;                             /* rows are spans (lossgap/align.h), not tokens */
    uint64_t rows, n;                       /* of the tables; used */
    uint64_t clusters, groups;              /* groups: absorbed effects */
    uint64_t columns, k;                    /* of the design; kept */
    bool intercept;
    double df_resid, df_cluster, cr1_factor;
    double rss, tss, sigma, r2, adj_r2, r2_within;
    double mean;           /* of the outcome */
    double condition;      /* of the kept columns, scaled to norm 1 */
    double smallest_ratio; /* least share of its norm that the columns before a kept one leave */
    double tolerance;
    const char *arithmetic; /* "double" or "double-double" */
    const char *because;    /* why */
} lg_regress_fit;

/* Rows that could not be used: a value of COLUMN is missing or not finite, or has no weight. */
typedef struct lg_regress_left_out {
    const char *column, *reason;
    uint64_t n;
} lg_regress_left_out;

/* Fits. The result does not need the frame any more. */
LG_API lg_status lg_regress_compute(lg_frame *frame, const lg_regress_options *options,
                                    const lg_monitor *monitor, lg_regress **regress, lg_error *error);
LG_API void lg_regress_free(lg_regress *regress); /* NULL is fine */

LG_API const lg_regress_fit *lg_regress_get_fit(const lg_regress *regress);
LG_API const lg_regress_row *lg_regress_rows(const lg_regress *regress, size_t *count);
LG_API const lg_regress_level *lg_regress_levels(const lg_regress *regress, size_t *count);
LG_API const lg_regress_contrast *lg_regress_contrasts(const lg_regress *regress, size_t *count);
LG_API const lg_regress_left_out *lg_regress_left_outs(const lg_regress *regress, size_t *count);
LG_API const char *const *lg_regress_notes(const lg_regress *regress, size_t *count); /* what to beware of */
LG_API const char *lg_regress_provenance(const lg_regress *regress);                  /* JSON object */
#endif
