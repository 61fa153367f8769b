/* The columns that queries over tokens may name: of the dataset, of its scores and of its tags. */
#ifndef LG_STATS_TOKEN_SOURCE_H
#define LG_STATS_TOKEN_SOURCE_H

#include "lossgap/dataset.h"
#include "lossgap/score.h"
#include "query/query.h"

typedef struct lg_token_source lg_token_source;

/* Over the tokens of DATA, SCORES [n_scores] called MODELS, and TAGS (NULL: none), all of which outlive the
   source and belong together (their tokens are as many; the caller has checked that they are the same). */
lg_status lg_token_source_open(const lg_dataset *data, const lg_scores *scores, const char *const *models,
                               size_t n_scores, const lg_table *tags, lg_token_source **source,
                               lg_error *error);
void lg_token_source_close(lg_token_source *source); /* NULL is fine */

/* For lg_query_compile. Lives as long as the source. While a query is compiled, nobody else may use it; then
   threads may share it. */
const lg_query_source *lg_token_source_columns(const lg_token_source *source);

/* The half, 0 or 1, that document DOC falls into: a bit of the hash of its text (already tokenised data: of
   its ids), so that neither order nor neighbours matter and equal documents stay together. */
uint8_t lg_half_of_document(const lg_dataset *data, size_t doc);

#endif
