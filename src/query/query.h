/* The query language: conditions and derived values over named columns (docs/guide/query.md), compiled once
   and run in blocks of rows. A query knows columns only through a source; what they are of is the source's
   business. */
#ifndef LG_QUERY_QUERY_H
#define LG_QUERY_QUERY_H

#include "base/json.h"
#include "lossgap/base.h"
#include "lossgap/table.h"

#define LG_QUERY_BLOCK 1024 /* rows that a query looks at together */

typedef enum lg_query_type {
    LG_QUERY_NUMBER,
    LG_QUERY_BOOLEAN,
    LG_QUERY_CATEGORY,
    LG_QUERY_TEXT
} lg_query_type;

/* Truth: `and` is the lesser of two, `or` the greater, `not` 2 - x. A condition that is unknown does not
 * hold. */
enum { LG_QUERY_FALSE = 0, LG_QUERY_UNKNOWN = 1, LG_QUERY_TRUE = 2 };

/* A column as its source tells it. What it points to lives as long as the source. */
typedef struct lg_query_column {
    lg_query_type type;
    const void *values; /* [rows] of dtype, aligned; NULL: the source's `read` hands out blocks */
    lg_dtype dtype; /* of values. Numbers and booleans (0 is false): BOOL, U8 … U64, I8 … I64, F32, F64,
                       NaN is missing; categories: U8, U16, U32 */
    const char *const *levels; /* [n_levels] names of a category's values */
    size_t n_levels;
    bool has_missing; /* of a category: some values are n_levels or more, and stand for none */
    size_t handle;    /* the source's own, for `read` */
} lg_query_column;

/* Where columns come from. Threads share it. */
typedef struct lg_query_source {
    const void *context;
    /* The names that there are: the I-th, NULL past the last. For messages only. */
    const char *(*name)(const void *context, size_t i);
    /* What NAME takes in parentheses, as loss(transformer): the I-th, NULL past the last; NULL where it takes
       nothing. For messages only. */
    const char *(*argument)(const void *context, const char *name, size_t i);
    /* Column NAME, or NAME(ARGUMENT) unless that is NULL; *FOUND false: there is none. */
    lg_status (*find)(const void *context, const char *name, const char *argument, lg_query_column *column,
                      bool *found, lg_error *error);
    /* Rows FIRST … FIRST + N - 1 (N <= LG_QUERY_BLOCK) of a column without values: double [n], uint8_t [n] of
       truth, uint32_t [n] levels, or lg_string [n] (data NULL: missing). Strings live as long as the source.
       NULL where every column has values. */
    lg_status (*read)(const void *context, size_t handle, size_t first, size_t n, void *out, lg_error *error);
    const char *more; /* how to come by more columns, said where one is unknown; NULL */
} lg_query_source;

typedef enum lg_query_want {
    LG_QUERY_HELPER,    /* no result of its own: computed only if a later item uses it */
    LG_QUERY_CONDITION, /* true or false */
    LG_QUERY_NUMERIC,   /* a number; of a condition 1, 0, or NaN where unknown */
    LG_QUERY_VALUE,     /* numeric, or a category */
    LG_QUERY_GROUP,     /* a condition, or a category */
} lg_query_want;

typedef struct lg_query_item {
    const char *what; /* what errors call it: "--where", "--define log_frequency" */
    const char *name; /* by which later items may use it; NULL: by none. It hides a column of that name. */
    const char *text;
    lg_query_want want;
} lg_query_item;

typedef struct lg_query lg_query;                 /* immutable; threads share it */
typedef struct lg_query_session lg_query_session; /* one a thread */

/* Compiles ITEMS [n_items], in order, over SOURCE, which outlives the query. Wrong expressions are LG_USAGE;
   the message names the place and what would be right. */
lg_status lg_query_compile(const lg_query_item *items, size_t n_items, const lg_query_source *source,
                           lg_query **query, lg_error *error);
/* TEXT is NAME=EXPRESSION: how long the name is, and where the expression begins. */
lg_status lg_query_split_definition(const char *text, size_t *name_length, const char **expression,
                                    lg_error *error);
void lg_query_free(lg_query *query); /* NULL is fine */

/* LG_QUERY_BOOLEAN, LG_QUERY_NUMBER or LG_QUERY_CATEGORY. */
lg_query_type lg_query_type_of(const lg_query *query, size_t item);
const char *const *lg_query_levels_of(const lg_query *query, size_t item, size_t *count); /* of a category */
/* The columns that results depend on, each once, in order of first mention: "family", "loss(transformer)". */
size_t lg_query_n_columns(const lg_query *query);
const char *lg_query_column_name(const lg_query *query, size_t i);

lg_query_session *lg_query_session_create(const lg_query *query); /* NULL: no memory */
void lg_query_session_free(lg_query_session *session);            /* NULL is fine */

/* Evaluates all items over the rows FIRST … FIRST + N - 1, N <= LG_QUERY_BLOCK. */
lg_status lg_query_run(lg_query_session *session, size_t first, size_t n, lg_error *error);

/* Results of the last run, [n]; borrowed until the next. The type must be the item's. */
const double *lg_query_numbers(const lg_query_session *session, size_t item);
const uint8_t *lg_query_truth(const lg_query_session *session, size_t item);
const uint32_t *lg_query_levels(const lg_query_session *session, size_t item);

#endif
