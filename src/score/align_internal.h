/* Between the files that align: what is aligned and what is told of it; types of spans. */
#ifndef LG_SCORE_ALIGN_INTERNAL_H
#define LG_SCORE_ALIGN_INTERNAL_H

#include "base/hash.h"
#include "base/text.h"
#include "lossgap/align.h"
#include "score/artefact.h"
#include "score/spans.h"

/* What is aligned, found fit for it. */
typedef struct lg_align_plan {
    const lg_align_source *sources; /* [n] */
    size_t n, n_data, n_scores;     /* n_scores: n, or 0 where only spans are asked for */
    const lg_dataset **data;        /* [n_data] different ones, in order of their first model */
    size_t *track_of;               /* [n] which of them a model has */
    const char **identities;        /* [n_data] of the datasets, sorted: which comes first does not matter */
    const char **scores;            /* [n_scores] identities of the scores, sorted */
} lg_align_plan;

/* Refuses sources that cannot be aligned, whatever their texts. */
lg_status lg_align_plan_make(const lg_align_source *sources, size_t n, lg_align_plan *plan, lg_error *error);
/* Refuses datasets of other documents than the first one's, naming the first difference. */
lg_status lg_align_check_texts(const lg_align_plan *plan, lg_error *error);
void lg_align_plan_free(lg_align_plan *plan);

/* Whether PATH holds these spans. */
lg_status lg_align_data_is_current(const lg_align_plan *plan, const char *path, bool *current,
                                   lg_error *error);

/* The provenance of the spans, and of the scores of model M over them; DATASET, TOKENS: their identities. */
void lg_align_put_data_inputs(const lg_align_plan *plan, lg_text *out);
void lg_align_put_data_settings(const lg_align_plan *plan, lg_text *out);
void lg_align_put_score_inputs(const lg_align_plan *plan, size_t m, const char *dataset, const char *tokens,
                               lg_text *out);
/* False: no memory. */
bool lg_align_put_score_settings(const lg_align_plan *plan, size_t m, lg_text *out);

/* Numbers for byte strings, in order of their first appearance. {0} to start. */
typedef struct lg_types {
    struct lg_type *slots; /* [capacity] open addressing */
    size_t capacity;
    uint32_t count;
    uint64_t *hashes; /* scratch */
    size_t hashes_room;
} lg_types;

/* IDS [n]: the numbers of TEXT[begin[i] … end[i] - 1]; TEXT is the same in all calls. False: no memory, or
   more than 2^32 - 1 types. */
bool lg_types_number(lg_types *types, const char *text, const uint64_t *begin, const uint64_t *end, size_t n,
                     uint32_t *ids);
void lg_types_free(lg_types *types);

#endif
