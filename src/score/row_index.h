/* Which rows have results, and where they lie: a hash table from row hashes. */
#ifndef LG_SCORE_ROW_INDEX_H
#define LG_SCORE_ROW_INDEX_H

#include "base/hash.h"
#include "lossgap/base.h"

typedef enum lg_row_place {
    LG_ROW_NONE,    /* a free slot */
    LG_ROW_WANTED,  /* asked for, not computed yet */
    LG_ROW_JOURNAL, /* `where` is an offset in the journal */
    LG_ROW_TABLE,   /* `where` is a token in an earlier score table */
} lg_row_place;

typedef struct lg_row_entry {
    lg_hash hash;
    uint64_t where;
    uint32_t count; /* tokens of the row's results */
    uint32_t place; /* lg_row_place */
} lg_row_entry;

typedef struct lg_row_index {
    lg_row_entry *entries; /* [capacity], a power of two */
    size_t count, capacity;
} lg_row_index; /* {0} to start */

/* The entry of HASH, a new one of place LG_ROW_NONE if there was none; the caller fills it. NULL: no memory.
   Valid until the next call. */
lg_row_entry *lg_row_index_put(lg_row_index *index, lg_hash hash);
lg_row_entry *lg_row_index_find(const lg_row_index *index, lg_hash hash); /* NULL: none */
void lg_row_index_free(lg_row_index *index);

#endif
