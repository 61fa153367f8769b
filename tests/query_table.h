/* A table in memory as a source of columns, for tests of queries. Columns may hand out their values as they
   lie, or block by block. */
#ifndef TESTS_QUERY_TABLE_H
#define TESTS_QUERY_TABLE_H

#include <string.h>

#include "base/error.h"
#include "query/query.h"

/* Whether values are handed out block by block, as texts always are; whether levels may be n_levels or more.
 */
enum { QUERY_TABLE_PLAIN = 0, QUERY_TABLE_IN_BLOCKS = 1, QUERY_TABLE_HAS_MISSING = 2 };

typedef struct query_table_column {
    const char *name, *argument; /* argument: NULL for plain columns */
    lg_query_type type;
    lg_dtype dtype;
    const void *values; /* texts: lg_string [rows] */
    const char *const *levels;
    size_t n_levels;
    unsigned how; /* QUERY_TABLE_… */
} query_table_column;

typedef struct query_table {
    const query_table_column *columns;
    size_t n_columns;
    size_t reads; /* blocks asked for so far */
} query_table;

static inline const char *query_table_name(const void *context, size_t i) {
    const query_table *t = context;
    for (size_t k = 0; k < t->n_columns; k++) {
        bool again = false;
        for (size_t j = 0; j < k; j++) again |= strcmp(t->columns[j].name, t->columns[k].name) == 0;
        if (!again && i-- == 0) return t->columns[k].name;
    }
    return NULL;
}

static inline const char *query_table_argument(const void *context, const char *name, size_t i) {
    const query_table *t = context;
    for (size_t k = 0; k < t->n_columns; k++)
        if (t->columns[k].argument && strcmp(t->columns[k].name, name) == 0 && i-- == 0)
            return t->columns[k].argument;
    return NULL;
}

static inline lg_status query_table_find(const void *context, const char *name, const char *argument,
                                         lg_query_column *column, bool *found, lg_error *error) {
    const query_table *t = context;
    (void)error;
    *found = false;
    for (size_t k = 0; k < t->n_columns && !*found; k++) {
        const query_table_column *c = &t->columns[k];
        if (strcmp(c->name, name) != 0 || !argument != !c->argument) continue;
        if (argument && strcmp(c->argument, argument) != 0) continue;
        *found = true;
        *column = (lg_query_column){
            .type = c->type,
            .values = c->how & QUERY_TABLE_IN_BLOCKS || c->type == LG_QUERY_TEXT ? NULL : c->values,
            .dtype = c->dtype,
            .levels = c->levels,
            .n_levels = c->n_levels,
            .has_missing = c->how & QUERY_TABLE_HAS_MISSING,
            .handle = k};
    }
    return LG_OK;
}

static inline double query_table_number(const query_table_column *c, size_t row) {
    switch (c->dtype) {
    case LG_BOOL:
    case LG_U8:
        return ((const uint8_t *)c->values)[row];
    case LG_I8:
        return ((const int8_t *)c->values)[row];
    case LG_U16:
        return ((const uint16_t *)c->values)[row];
    case LG_I16:
        return ((const int16_t *)c->values)[row];
    case LG_U32:
        return ((const uint32_t *)c->values)[row];
    case LG_I32:
        return ((const int32_t *)c->values)[row];
    case LG_U64:
        return (double)((const uint64_t *)c->values)[row];
    case LG_I64:
        return (double)((const int64_t *)c->values)[row];
    case LG_F32:
        return (double)((const float *)c->values)[row];
    default:
        return ((const double *)c->values)[row];
    }
}

static inline lg_status query_table_read(const void *context, size_t handle, size_t first, size_t n,
                                         void *out, lg_error *error) {
    query_table *t = (query_table *)(uintptr_t)context;
    const query_table_column *c = &t->columns[handle];
    t->reads++;
    if (n > LG_QUERY_BLOCK) return lg_fail(error, LG_FAILED, "more than a block was asked for");
    for (size_t i = 0; i < n; i++) {
        if (c->type == LG_QUERY_TEXT) {
            ((lg_string *)out)[i] = ((const lg_string *)c->values)[first + i];
            continue;
        }
        double value = query_table_number(c, first + i);
        if (c->type == LG_QUERY_NUMBER) ((double *)out)[i] = value;
        else if (c->type == LG_QUERY_CATEGORY) ((uint32_t *)out)[i] = (uint32_t)value;
        else
            ((uint8_t *)out)[i] = value != value ? LG_QUERY_UNKNOWN
                                  : value != 0   ? LG_QUERY_TRUE
                                                 : LG_QUERY_FALSE;
    }
    return LG_OK;
}

static inline lg_query_source query_table_source(const query_table *table) {
    return (lg_query_source){.context = table,
                             .name = query_table_name,
                             .argument = query_table_argument,
                             .find = query_table_find,
                             .read = query_table_read};
}

#endif
