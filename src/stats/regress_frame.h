/* Columns of equal length by name: mapped, read from CSV, or computed. */
#ifndef LG_STATS_REGRESS_FRAME_H
#define LG_STATS_REGRESS_FRAME_H

#include "base/memory.h"
#include "lossgap/regress.h"
#include "query/query.h"
#include "stats/token_source.h"

typedef struct lg_column {
    const char *name, *from; /* from: the file, for messages */
    size_t count;
    lg_dtype dtype;
    const void *values;        /* [count]; NULL: see source and queried */
    const char *const *levels; /* [n_levels] of a category, whose values are U8, U16 or U32; NULL: numbers */
    size_t n_levels;
    bool has_missing;              /* of a category: values from n_levels on stand for none */
    const uint8_t *classes;        /* [n_levels] lg_level_class; NULL: by the levels' names */
    const lg_query_source *source; /* reads the rows by `handle`, where there are no values */
    size_t handle;
    bool queried; /* the result `item` of the design's query, where there is neither */
    size_t item;
} lg_column;

/* What a level of a category is, where tags say so. */
typedef enum lg_level_class {
    LG_CLASS_CONTENT,
    LG_CLASS_FUNCTION,
    LG_CLASS_NEITHER,
    LG_CLASS_OPENING,
    LG_CLASS_CLOSING,
} lg_level_class;

typedef struct lg_definition {
    const char *name, *text;
    bool built_in; /* gives way to another of the same name */
} lg_definition;

/* A file and its identity (32 hexadecimal digits), for the provenance. */
typedef struct lg_frame_input {
    const char *name, *identity;
} lg_frame_input;

struct lg_frame {
    lg_arena arena;
    lg_column *columns;
    size_t n_columns, columns_room;
    lg_definition *definitions;
    size_t n_definitions, definitions_room;
    lg_frame_input *inputs;
    size_t n_inputs, inputs_room;
    lg_token_source *token_source; /* columns of scores; NULL: none */
    const lg_query_source *tokens; /* its columns */
    size_t n_tokens;
    bool spans;                    /* they are spans (lossgap/align.h) */
    const char *model_a, *model_b; /* of scores; NULL */
    lg_table **tables;             /* owned */
    size_t n_tables, tables_room;
    void **blocks; /* owned memory */
    size_t n_blocks, blocks_room;
};

lg_status lg_frame_put(lg_frame *frame, const lg_column *column, lg_error *error);
/* Takes BLOCK, which is freed with the frame, or now if that fails. */
lg_status lg_frame_own(lg_frame *frame, void *block, lg_error *error);
lg_status lg_frame_put_input(lg_frame *frame, const char *name, const char *identity, lg_error *error);
/* Column NAME; an error if there is none, or more than one. One that is not stored is made in ARENA. */
lg_status lg_frame_find(const lg_frame *frame, const char *name, lg_arena *arena, const lg_column **column,
                        lg_error *error);
lg_status lg_frame_put_definition(lg_frame *frame, const char *name, const char *text, bool built_in,
                                  lg_error *error);
/* Classes of the levels of C, a category of fine tags, from the families that its tokens have; NULL: it is
 * none. */
lg_status lg_frame_classes(const lg_frame *frame, lg_arena *arena, const lg_column *c,
                           const uint8_t **classes, lg_error *error);

/* Numbers of N rows: FIRST … FIRST + N - 1, or ROWS[FIRST …] where ROWS is not NULL (then the column has
   values). SESSION has run over these rows, if the column is queried. */
void lg_column_numbers(const lg_column *column, const lg_query_session *session, const uint32_t *rows,
                       size_t first, size_t n, double *out);
/* Levels of a category; the missing one is UINT32_MAX. */
void lg_column_levels(const lg_column *column, const lg_query_session *session, const uint32_t *rows,
                      size_t first, size_t n, uint32_t *out);

/* Adds the columns of the CSV text [LENGTH]; NAME stands for the file in errors. */
lg_status lg_frame_add_csv(lg_frame *frame, const char *text, size_t length, const char *name,
                           lg_error *error);

#endif
