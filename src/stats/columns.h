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
} lg_group_column;

/* Finds NAME among `domain`, `kind` and `document` of DATA and the token columns of TAGS (NULL: none). All
   memory comes from ARENA; values are borrowed from the tables. */
lg_status lg_group_column_open(const lg_dataset *data, const lg_table *tags, const char *name,
                               lg_arena *arena, lg_group_column *column, lg_error *error);

/* Names of the token columns of TAGS, from ARENA: those with named levels in the order of the tags' settings,
   then numbers by name. */
lg_status lg_group_column_names(const lg_dataset *data, const lg_table *tags, lg_arena *arena,
                                const char ***names, size_t *count, lg_error *error);

/* Levels of tokens BEGIN … BEGIN + N - 1, all of document DOC. */
void lg_group_column_read(const lg_group_column *column, size_t doc, size_t begin, size_t n,
                          uint32_t *levels);

#endif
