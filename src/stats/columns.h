/* Grouping columns: a level per token, from the dataset or from tags; numbers are binned. */
#ifndef LG_STATS_COLUMNS_H
#define LG_STATS_COLUMNS_H

#include "base/memory.h"
#include "lossgap/dataset.h"

typedef struct lg_group_column {
    const char *name;
    size_t n_levels;
    const char **levels; /* [n_levels] */
    const void *values;  /* [n_tokens] U8, U16 or U32; NULL: one level per document */
    lg_dtype dtype;
    bool binned; /* values are numbers, see lg_bin_of */
    bool copy_bins;
    const uint32_t *of_document; /* [n_docs] */
    const void *bits;            /* [n_tokens] of NAME_bits: bit k, the token carries level k; NULL: none */
    lg_dtype bits_dtype;         /* U32 or U64 */
} lg_group_column;

/* Finds NAME among `domain`, `kind` and `document` of DATA and the token columns of TAGS (NULL: none). All
   memory comes from ARENA; values are borrowed from the tables. */
lg_status lg_group_column_open(const lg_dataset *data, const lg_table *tags, const char *name,
                               lg_arena *arena, lg_group_column *column, lg_error *error);

/* The levels that token I carries, of a column with bits. */
static inline uint64_t lg_group_column_bits(const lg_group_column *c, size_t i) {
    return c->bits_dtype == LG_U64 ? ((const uint64_t *)c->bits)[i] : ((const uint32_t *)c->bits)[i];
}

/* What the tags say of tokens that carry several levels: "first", "all" or "drop". From ARENA. */
lg_status lg_group_column_multi(const lg_table *tags, lg_arena *arena, const char **multi, lg_error *error);

/* Levels of tokens BEGIN … BEGIN + N - 1, all of document DOC. */
void lg_group_column_read(const lg_group_column *column, size_t doc, size_t begin, size_t n,
                          uint32_t *levels);

#endif
