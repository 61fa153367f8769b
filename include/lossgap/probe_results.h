/* What the log-probabilities that models give the choices of probe items say: margins and accuracy, knowledge
   kept apart from biases, copy baselines, differences between models. docs/formats/probe.md has the formulas.

   Everywhere: log-probabilities in nats; intervals of 95 %; NAN where there is no such number, and then a
   note says why. "Clustered": items of one group are not independent (CR1, Student's t with groups - 1). */
#ifndef LOSSGAP_PROBE_RESULTS_H
#define LOSSGAP_PROBE_RESULTS_H

#include "lossgap/probe.h"

/* What every table and file says of the sign. */
#define LG_PROBE_SIGN                                                                                        \
    "margin = log p(answer) - largest log p of the other choices, nats; differences are model_b - model_a"

/* ---- log-probabilities in files (docs/formats/probe.md) ---- */

/* Reads lines of PATH about items of ITEMS: *SCORES [*n_models], in order of first appearance. Items without
   a line are LG_PROBE_MISSING. Refuses ids that ITEMS lacks, and two lines for one item and model. */
LG_API lg_status lg_probe_logp_read(const char *path, const lg_probe_items *items, lg_probe_scores **scores,
                                    size_t *n_models, lg_error *error);
/* Writes it, atomically, model after model; items that are LG_PROBE_MISSING get no line. */
LG_API lg_status lg_probe_logp_write(const char *path, const lg_probe_items *items,
                                     const lg_probe_scores *scores, size_t n_models, lg_error *error);
LG_API void lg_probe_logp_free(lg_probe_scores *scores, size_t n_models); /* of lg_probe_logp_read */

/* ---- results ---- */

/* Which items a row is about. Items differ in model, probe, distance and cell. */
typedef struct lg_probe_place {
    const char *model, *probe;
    const char *cell; /* NULL: all cells */
    bool all_distances;
    uint64_t distance; /* 0 with all_distances */
} lg_probe_place;

typedef struct lg_probe_mean {
    double mean, se, df, low, high; /* clustered */
    double t, p;                    /* is it 0? (of a share: what chance gives?) two-sided */
} lg_probe_mean;

/* A share of items. Items may count in part (ties), which Wilson's formula takes as it is. */
typedef struct lg_probe_share {
    uint64_t items;
    double wilson_low, wilson_high; /* as if items were independent */
    lg_probe_mean clustered;        /* mean: the share. No interval where groups do not differ */
    double chance;                  /* mean of what guessing gives */
    double p_sign; /* sign test on groups above and below chance, exact: also without spread */
} lg_probe_share;

/* From the choices' log-probabilities, summed or each divided by its tokens. Margin: that of the answer minus
   the largest other one. */
typedef struct lg_probe_figures {
    lg_probe_mean margin; /* NAN if any is infinite */
    double median_margin;
    uint64_t infinite, ties; /* items whose margin is infinite; is 0 */
    lg_probe_share accuracy; /* share of margins above 0; ties count half */
} lg_probe_figures;

typedef struct lg_probe_row {
    lg_probe_place at;
    uint64_t items, groups;                                   /* groups: of the scored items */
    uint64_t scored, straddles, too_long, not_meant, missing; /* items by outcome */
    lg_probe_figures summed, normalized;
    lg_probe_mean loss, loss_per_token; /* -log p of the answer */
    const char *note;                   /* NULL: nothing to say */
} lg_probe_row;

/* B minus A over the items that both scored; A is the first model. Positive: B does better. */
typedef struct lg_probe_pair {
    lg_probe_place at; /* model: B */
    const char *model_a;
    uint64_t items, groups;
    uint64_t only_a, only_b; /* items that only A, only B gets right (a tie is not right) */
    double accuracy_a, accuracy_b, accuracy_normalized_a, accuracy_normalized_b;
    lg_probe_mean accuracy, margin, accuracy_normalized, margin_normalized, loss;
    const char *note;
} lg_probe_pair;

/* How often a model's choice (that of the largest log-probability; ties are shared out) is of some kind. */
typedef struct lg_probe_pick {
    lg_probe_place at;
    const char *by;       /* "bound", "listed": rank of the choice; "option": its text */
    const char *level;    /* "0", "1" …, or the text */
    lg_probe_share share; /* over the scored items that have such a choice */
    double answer;        /* share of these items whose answer it is: what a perfect model would show */
} lg_probe_pick;

/* What a choice may have over the others of its item. */
typedef enum lg_probe_part {
    LG_PROBE_KNOWLEDGE, /* it is the answer */
    LG_PROBE_RECENCY,   /* bound last; where items do not say: what the baseline most_recent gives */
    LG_PROBE_POSITION,  /* listed first */
    LG_PROBE_IDENTITY,  /* it is a certain one of two recurring options */
    LG_PROBE_FREQUENCY, /* mentioned most often */
    LG_PROBE_PRIMACY,   /* mentioned first, of more than two */
    LG_N_PROBE_PARTS,
} lg_probe_part;
LG_API const char *lg_probe_part_name(lg_probe_part part); /* "knowledge" … */

/* Why a model chooses as it does: log-probabilities by least squares on what choices have, all parts at once.
   In balanced items with two choices a part is a mean, as knowledge = mean[log p(answer) - log p(other)]. */
typedef struct lg_probe_bias {
    lg_probe_place at;
    uint64_t items, groups, infinite;     /* used for the parts; scored, but left out for a log p of -inf */
    lg_probe_mean part[LG_N_PROBE_PARTS]; /* nats; NAN: these items do not have it, or do not tell it apart */
    unsigned has, separate; /* bit 1 << part: items have it; and it can be told from the others */
    bool by_cells;          /* cells differ in scored items: each cell counts as much as another */
    double overlap; /* largest correlation between two parts' columns, after the weights; 0: orthogonal */
    lg_probe_share picks[LG_N_PROBE_PARTS]; /* how often the model's choice is the one that has it */
    double answers[LG_N_PROBE_PARTS];       /* and how often the answer is: what a perfect model would show */
    const char *option, *other_option; /* what identity compares: " he", " she"; NULL: options do not recur */
    int found[LG_N_PROBE_PARTS];       /* [n_found] largest first: part + 1, negative if below 0 */
    size_t n_found;
    const char *verdict; /* in words, by the rule of docs/formats/probe.md */
    const char *note;
} lg_probe_bias;

typedef struct lg_probe_baseline {
    lg_probe_place at;
    const char *baseline;          /* "most_recent", "most_frequent", "first_mention" */
    lg_probe_share accuracy;       /* of the baseline, over the scored items that have it */
    lg_probe_share model_accuracy; /* of the model, over the same */
    lg_probe_share agreement;      /* the model chooses what the baseline says */
    lg_probe_share model_accuracy_wrong, agreement_wrong; /* over those where the baseline is wrong */
} lg_probe_baseline;

typedef struct lg_probe_results lg_probe_results;

typedef struct lg_probe_evaluate_options {
    const char *command; /* for the provenance */
} lg_probe_evaluate_options;

/* SCORES [n_models >= 1] of ITEMS, of different names. Refuses log-probabilities that are NAN, +inf or above
   0 (but for rounding) where the outcome is LG_PROBE_SCORED. The results hold no pointers into ITEMS or
   SCORES.

   Rows come by probe in order of first appearance; within a probe: all distances, each distance, then each
   cell at all distances, each cell at each distance; and for each of these, model after model. */
LG_API lg_status lg_probe_evaluate(const lg_probe_items *items, const lg_probe_scores *scores,
                                   size_t n_models, const lg_probe_evaluate_options *options,
                                   lg_probe_results **results, lg_error *error);
LG_API void lg_probe_results_free(lg_probe_results *results); /* NULL is fine */

LG_API size_t lg_probe_n_models(const lg_probe_results *results);
LG_API const char *lg_probe_model(const lg_probe_results *results, size_t i);
LG_API const char *lg_probe_provenance(const lg_probe_results *results); /* JSON object */

LG_API size_t lg_probe_n_rows(const lg_probe_results *results);
LG_API const lg_probe_row *lg_probe_row_at(const lg_probe_results *results, size_t i);
LG_API size_t lg_probe_n_pairs(const lg_probe_results *results);
LG_API const lg_probe_pair *lg_probe_pair_at(const lg_probe_results *results, size_t i);
LG_API size_t lg_probe_n_biases(const lg_probe_results *results);
LG_API const lg_probe_bias *lg_probe_bias_at(const lg_probe_results *results, size_t i);
LG_API size_t lg_probe_n_picks(const lg_probe_results *results);
LG_API const lg_probe_pick *lg_probe_pick_at(const lg_probe_results *results, size_t i);
LG_API size_t lg_probe_n_baselines(const lg_probe_results *results);
LG_API const lg_probe_baseline *lg_probe_baseline_at(const lg_probe_results *results, size_t i);

/* ---- documents; each text is whole and the caller's: free() it ---- */

typedef enum lg_probe_list {
    LG_PROBE_ROWS,
    LG_PROBE_PAIRS,
    LG_PROBE_BIAS,
    LG_PROBE_PICKS,
    LG_PROBE_BASELINES,
    LG_N_PROBE_LISTS,
} lg_probe_list;

LG_API lg_status lg_probe_json(const lg_probe_results *results, char **text, size_t *length, lg_error *error);
LG_API lg_status lg_probe_csv(const lg_probe_results *results, lg_probe_list list, char **text,
                              size_t *length, lg_error *error);
/* A Vega-Lite specification, data inlined: accuracy and margin against distance. */
LG_API lg_status lg_probe_view(const lg_probe_results *results, char **text, size_t *length, lg_error *error);
struct lg_table_style; /* lossgap/report.h */
LG_API lg_status lg_probe_table(const lg_probe_results *results, const struct lg_table_style *style,
                                char **text, size_t *length, lg_error *error);
#endif
