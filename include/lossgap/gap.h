/* The loss gap by category: mean of nll(A) - nll(B), with intervals clustered by document. */
#ifndef LOSSGAP_GAP_H
#define LOSSGAP_GAP_H

#include "lossgap/base.h"
#include "lossgap/dataset.h"
#include "lossgap/score.h"

/* What every table and file says of the sign. */
#define LG_GAP_SIGN       "gap = loss(A) - loss(B), nats per token; positive: B predicts better"
#define LG_GAP_SIGN_SPANS "gap = loss(A) - loss(B), nats per span; positive: B predicts better"
static inline const char *lg_gap_sign(bool spans) { /* spans: lg_dataset.spans */
    return spans ? LG_GAP_SIGN_SPANS : LG_GAP_SIGN;
}

/* What is grouped by when nothing is asked for: what there is of these. */
#define LG_GAP_STANDARD                                                                                      \
    "family", "class", "delimiter", "word_position", "char_class", "reuse", "copy_len", "prev_distance"

/* The heaviest of so many tokens (rounded down) is left out of trimmed means. */
#define LG_GAP_TRIM 1000

typedef struct lg_gap_options {
    const char *const *by; /* [n_by <= 32] grouping columns; NULL: domain and LG_GAP_STANDARD, each alone and
                              crossed with domain */
    size_t n_by;
    const char *multi; /* tokens that carry several levels of a column: "first", "all" (counted under each),
                          "drop" (left out of its groups); NULL: as the tags say */
    const char *where; /* a condition (docs/guide/query.md): only tokens that satisfy it count; NULL: all */
    const char *const *define; /* [n_define] NAME=EXPRESSION each: columns for `where`, for later ones, and
                                  (conditions and categories) for `by` */
    size_t n_define;
    const char
        *view; /* a ready-made comparison, with contrasts: see lg_gap_view_at; NULL: none. Then no `by` */
    size_t bootstrap; /* resamples of documents; 0: no bootstrap intervals */
    uint64_t seed;    /* of the resamples */
    unsigned threads; /* 0: all processors. Results are the same */
    const char *command;
} lg_gap_options;

/* Means and gap are nats per token, positive where B predicts better; NAN where there is none. */
typedef struct lg_gap_row {
    const char *model_a, *model_b;
    const char **level; /* [n_by] "*": all levels */
    uint32_t grouping;  /* bit i: the row is about one level of column i */
    uint64_t tokens, documents, bytes;
    double loss_a, loss_b, gap, se, df, low, high; /* 95 % interval, t with df degrees of freedom */
    double bits_per_byte_a, bits_per_byte_b;

    /* of the mean over tokens (micro), documents as clusters */
    double se_cr0; /* without the small-sample factor of se (CR1) */
    double t, p,
        p_bh;   /* p_bh: adjusted over the levels of the grouping (Benjamini and Hochberg), as all p_…_bh */
    double mde; /* minimum detectable effect: two-sided 5 %, power 80 % */
    /* of the tokens' gaps */
    double median, improved; /* improved: share of gaps above 0, zeros count half */
    double trimmed;          /* mean without the tokens / 1000 (rounded down) with the largest |gap| */
    uint64_t trimmed_tokens; /* so many */
    /* other averages */
    double per_byte, se_per_byte, se_per_byte_cr0; /* sum of gaps / sum of bytes */
    double byte_weighted;                          /* sum of bytes x gap / sum of bytes */
    double of_documents, se_of_documents, low_of_documents,
        high_of_documents; /* macro: mean of the documents' means */
    double of_domains;     /* macro: mean of the domains' means */
    uint64_t domains;
    /* paired by document, on the documents' means, two-sided */
    double t_of_documents, p_of_documents, p_of_documents_bh;
    double w_plus, p_wilcoxon, p_wilcoxon_bh, p_sign, p_sign_bh;
    double p_sign_flip; /* exact, with 2 to 16 documents */
    uint64_t documents_better, documents_worse;
    /* percentiles of resampled means */
    double bootstrap_low, bootstrap_high, bootstrap_se;
    uint64_t replicates; /* resamples that held a token of the group */
    uint64_t vocabulary; /* different tokens of the group in the view "vocabulary"; else 0 */
    /* over spans (lossgap/align.h), which `tokens` then counts: tokens of A and of B in them, and how many
       are one token in both */
    uint64_t tokens_a, tokens_b, one_token;
    const char *note; /* why there is no error or no test; NULL: nothing to say */
} lg_gap_row;

/* A difference between groups, or a slope over them. */
typedef struct lg_gap_contrast {
    const char *model_a, *model_b;
    const char *
        *level; /* [n_by] as in rows; of the column compared: what was compared, as "content - function" */
    uint32_t grouping; /* bit i: about column i */
    size_t column;     /* that which is compared */
    bool slope;
    uint64_t tokens, documents, levels;                          /* levels: so many groups take part */
    double estimate, se, se_cr0, df, low, high, t, p, p_bh, mde; /* clustered by document */
    double first, second, ratio;               /* of a difference: the two gaps, and first / second */
    double se_levels, low_levels, high_levels; /* of a slope: with the levels for the units that were drawn */
    double bootstrap_low, bootstrap_high, ratio_low, ratio_high;
    uint64_t replicates;
    const char *note;
} lg_gap_contrast;

typedef struct lg_gap lg_gap;

/* SCORES [n_scores >= 2]: each later one against the first. TAGS: path of a tags artefact of DATA, or NULL.
   Refused where two models scored other tokens, prefixes or contexts, naming the first difference. Rows: per
   pair the total, then the groupings, then levels in their own order. */
LG_API lg_status lg_gap_compute(const lg_dataset *data, const lg_scores *scores, size_t n_scores,
                                const char *tags, const lg_gap_options *options, lg_gap **gap,
                                lg_error *error);
/* Whether WHERE could be used so, before there are scores: over DATA, TAGS (path, or NULL), and models called
   MODELS [n_models], with COLUMNS (LG_COLUMN_*) beside their losses. */
LG_API lg_status lg_gap_check_where(const char *where, const lg_dataset *data, const char *const *models,
                                    size_t n_models, unsigned columns, const char *tags, lg_error *error);
LG_API void lg_gap_free(lg_gap *gap); /* NULL is fine */
LG_API size_t lg_gap_n_by(const lg_gap *gap);
LG_API const char *lg_gap_by(const lg_gap *gap, size_t i);
LG_API size_t lg_gap_n_rows(const lg_gap *gap);
LG_API const lg_gap_row *lg_gap_at(const lg_gap *gap, size_t i);
LG_API size_t lg_gap_n_contrasts(const lg_gap *gap); /* 0 without a view */
LG_API const lg_gap_contrast *lg_gap_contrast_at(const lg_gap *gap, size_t i);

/* The ready-made views: the I-th, NULL past the last. */
typedef struct lg_gap_view {
    const char *name, *about;
} lg_gap_view;
LG_API const lg_gap_view *lg_gap_view_at(size_t i);

/* What the whole comparison was. Strings live as long as the gap. */
typedef struct lg_gap_about {
    const char *const *models; /* [n_models] the first is the baseline of all */
    size_t n_models;
    uint64_t documents, tokens, unscorable; /* of the dataset; unscorable ones are in no row */
    bool has_text;                          /* else no bytes */
    bool spans;                             /* "tokens" are spans (lossgap/align.h) */
    uint64_t cut;      /* of the spans that count: some model did not see the whole document before it */
    const char *where; /* NULL: every token with a loss is counted */
    const char **definitions; /* [n_definitions] as NAME=EXPRESSION */
    size_t n_definitions;
    uint64_t kept, unknown;  /* tokens with a loss that satisfy it; for which it cannot be told */
    const char *multi;       /* "first", "all", "drop" */
    const uint64_t *several; /* [n_by] tokens with a loss that carry several levels of the column */
    const char *provenance;  /* JSON object: program, command, inputs, settings */
    const char *view;        /* NULL: none */
    bool has_vocabulary;
    size_t bootstrap; /* resamples; 0: none */
    uint64_t seed;
} lg_gap_about;
LG_API const lg_gap_about *lg_gap_get_about(const lg_gap *gap);

/* The P quantile of Student's t with DF > 0 degrees of freedom, 0 < P < 1; and its distribution function. */
LG_API double lg_t_quantile(double p, double df);
LG_API double lg_t_cdf(double t, double df);
#endif
