/* Profiles: where a gap lies, as each group's gap over the overall one; beside a reference pair (is it this
   architecture, or what any better model shows?) and against the noise floor of several seeds. */
#ifndef LOSSGAP_PROFILE_H
#define LOSSGAP_PROFILE_H

#include "lossgap/base.h"
#include "lossgap/dataset.h"
#include "lossgap/gap.h"
#include "lossgap/score.h"

/* What every table and file says of a profile. */
#define LG_PROFILE_MEANING "profile = gap of the group / overall gap of the same pair"

typedef struct lg_profile_pair {
    size_t a, b; /* indices of scores */
} lg_profile_pair;

typedef struct lg_profile_options {
    const char *const *by; /* as in lg_gap_options; NULL: "family" where the tags have it, else "domain" */
    size_t n_by;
    const char *multi, *where;
    const char *const *define; /* [n_define] */
    size_t n_define;
    lg_profile_pair pair;
    const lg_profile_pair *references; /* [n_references] */
    size_t n_references;
    const size_t *seeds_a, *seeds_b; /* [n_seeds_…] indices of further scores of A's, B's architecture */
    size_t n_seeds_a, n_seeds_b;
    size_t bootstrap; /* resamples of documents; 0: none */
    uint64_t seed;
    unsigned threads; /* 0: all processors. Results are the same */
    const char *command;
} lg_profile_options;

/* A group's gap over the overall gap. NAN where there is none. */
typedef struct lg_profile_value {
    double value, se, df, low, high;  /* delta method, clustered by document; t with df degrees of freedom */
    double fieller_low, fieller_high; /* Fieller's interval */
    double t, p, p_bh; /* is it 1? (of a difference: 0?) p_bh over the levels of the grouping */
    double bootstrap_low, bootstrap_high;
    uint64_t replicates; /* resamples that held a token of the group */
} lg_profile_value;

/* A pair's mean gap in a group, nats per token, and its profile. */
typedef struct lg_profile_side {
    const char *model_a, *model_b; /* NULL: there is no such pair */
    double loss_a, loss_b, gap, se, df, low, high, p;
    lg_profile_value profile;
    const char *note; /* why there is none, or how to read it; NULL: nothing to say */
} lg_profile_side;

/* Several runs of the same architectures. */
typedef struct lg_profile_seeds {
    uint64_t seeds_a, seeds_b;           /* files, SCORES_A and SCORES_B among them; 0: no seeds were given */
    double gap;                          /* mean loss of A's files - mean loss of B's */
    double sd_a, sd_b;                   /* standard deviation of the files' mean losses (divisor n - 1) */
    double se, df, low, high;            /* over seeds, with these documents: Welch */
    double document_se;                  /* over documents, with these seeds: CR1 */
    double both_se, both_low, both_high; /* over seeds and documents */
    double floor;   /* root mean square gap between two files of one architecture: sqrt(2) x pooled sd */
    double largest; /* largest size of such a gap */
    double ratio;   /* |gap| / floor */
    int above;      /* 1: |gap| > floor, and low … high leaves 0 out; 0: not; -1: cannot be told */
    const char *note;
} lg_profile_seeds;

typedef struct lg_profile_row {
    const char **level; /* [n_by] "*": all levels */
    uint32_t grouping;  /* bit i: the row is about one level of column i */
    uint64_t tokens, documents, bytes;
    lg_profile_side pair, reference;
    lg_profile_value difference; /* the pair's profile - the reference's, of the same documents; no Fieller */
    lg_profile_seeds seeds;
} lg_profile_row;

/* How alike the profiles of the pair and of a reference are over the groups of one grouping. */
typedef struct lg_profile_agreement {
    const char *model_a, *model_b, *reference_a, *reference_b;
    uint32_t grouping;
    uint64_t groups, tokens; /* with two documents or more; their tokens are the weights */
    double correlation, correlation_low, correlation_high;
    double slope, slope_low, slope_high; /* of the reference's profile on the pair's */
    uint64_t replicates;
    const char *note;
} lg_profile_agreement;

/* The gap between two files of one architecture. */
typedef struct lg_profile_seed_gap {
    const char *side; /* "A", "B" */
    const char *model_a, *model_b;
    const char **level;
    uint32_t grouping;
    uint64_t tokens, documents;
    double gap, se, df, low, high;
} lg_profile_seed_gap;

typedef struct lg_profile lg_profile;

/* SCORES [n_scores] of DATA: all must have scored the same tokens behind the same prefixes. TAGS: path of a
   tags artefact of DATA, or NULL. Rows: for each reference (or once) the total, then the groupings. */
LG_API lg_status lg_profile_compute(const lg_dataset *data, const lg_scores *scores, size_t n_scores,
                                    const char *tags, const lg_profile_options *options, lg_profile **profile,
                                    lg_error *error);
LG_API void lg_profile_free(lg_profile *profile); /* NULL is fine */
LG_API size_t lg_profile_n_by(const lg_profile *profile);
LG_API const char *lg_profile_by(const lg_profile *profile, size_t i);
LG_API size_t lg_profile_n_rows(const lg_profile *profile);
LG_API const lg_profile_row *lg_profile_at(const lg_profile *profile, size_t i);
LG_API size_t lg_profile_n_agreements(const lg_profile *profile);
LG_API const lg_profile_agreement *lg_profile_agreement_at(const lg_profile *profile, size_t i);
LG_API size_t lg_profile_n_seed_gaps(const lg_profile *profile);
LG_API const lg_profile_seed_gap *lg_profile_seed_gap_at(const lg_profile *profile, size_t i);

/* What was compared; strings live as long as the profile. */
typedef struct lg_profile_about {
    const lg_gap_about
        *gap; /* models, tokens, documents, condition, definitions; provenance: this profile's */
    size_t n_references, bootstrap;
    uint64_t seed;
    bool has_seeds;
} lg_profile_about;
LG_API const lg_profile_about *lg_profile_get_about(const lg_profile *profile);

#endif
