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
    lg_dtype bits_dtype;         /* U8, U32 or U64 */
    const uint8_t *map;          /* values and bits go through it; NULL: they do not */
    bool curve;                  /* a token carries several levels by construction, whatever was asked for */
} lg_group_column;

/* Finds NAME among `domain`, `kind` and `document` of DATA and the token columns of TAGS (NULL: none). All
   memory comes from ARENA; values are borrowed from the tables. */
lg_status lg_group_column_open(const lg_dataset *data, const lg_table *tags, const char *name,
                               lg_arena *arena, lg_group_column *column, lg_error *error);

enum { LG_CURVE_MOST = 16 };

/* The levels that token I carries, of a column with bits or a curve. */
static inline uint64_t lg_group_column_bits(const lg_group_column *c, size_t i) {
    if (c->curve) { /* bit n: the value is n (17: more); bit 17 + n: it is n or more */
        uint32_t n = ((const uint16_t *)c->values)[i];
        uint32_t own = n > LG_CURVE_MOST ? LG_CURVE_MOST + 1 : n,
                 up_to = n > LG_CURVE_MOST ? LG_CURVE_MOST : n;
        return (uint64_t)1 << own | (((uint64_t)1 << up_to) - 1) << (LG_CURVE_MOST + 2);
    }
    uint64_t bits = c->bits_dtype == LG_U64   ? ((const uint64_t *)c->bits)[i]
                    : c->bits_dtype == LG_U32 ? ((const uint32_t *)c->bits)[i]
                                              : ((const uint8_t *)c->bits)[i];
    if (!c->map) return bits;
    uint64_t mapped = 0;
    for (; bits; bits &= bits - 1) mapped |= (uint64_t)1 << c->map[__builtin_ctzll(bits)];
    return mapped;
}

/* Makes `copy_len` or its like a curve: levels =0, =1 … =16, =17+, >=1 … >=16, of which a token carries all
 * that hold. */
lg_status lg_group_column_curve(lg_group_column *column, lg_arena *arena, lg_error *error);
/* Makes `delimiter` the column `side`: none, open, close. */
lg_status lg_group_column_sides(lg_group_column *column, lg_arena *arena, lg_error *error);

/* What the tags say of tokens that carry several levels: "first", "all" or "drop". From ARENA. */
lg_status lg_group_column_multi(const lg_table *tags, lg_arena *arena, const char **multi, lg_error *error);

/* Levels of tokens BEGIN … BEGIN + N - 1, all of document DOC. */
void lg_group_column_read(const lg_group_column *column, size_t doc, size_t begin, size_t n,
                          uint32_t *levels);

#endif
