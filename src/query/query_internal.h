/* What a compiled query is: columns, and steps over blocks that the parser puts down as it reads. */
#ifndef LG_QUERY_INTERNAL_H
#define LG_QUERY_INTERNAL_H

#include <string.h>

#include "query/query.h"
#include "query/regex.h"

enum {
    LG_QUERY_MAX_DEPTH = 200,      /* of parentheses, signs and powers inside each other */
    LG_QUERY_MAX_LENGTH = 1 << 20, /* bytes of an expression */
};

/* Blocks of these kinds are what steps read and write. */
typedef enum lg_block_kind {
    LG_BLOCK_NUMBER,
    LG_BLOCK_TRUTH,
    LG_BLOCK_LEVEL,
    LG_BLOCK_TEXT,
    LG_N_BLOCKS
} lg_block_kind;

/* A block of a session, or the values of a column, as they lie. */
typedef struct lg_block_ref {
    uint32_t index;
    bool column;
} lg_block_ref;

/* What a step does; a, b: what it reads, to: the block of the session that it writes. */
typedef enum lg_step_kind {
    LG_STEP_LOAD,       /* number: values of column a */
    LG_STEP_READ,       /* of kind `block`: column a, by the source */
    LG_STEP_LEVEL,      /* level: values of column a, widened */
    LG_STEP_FILL,       /* of kind `block`: `low` */
    LG_STEP_RANGE,      /* truth: whether a lies from low to high; `yes` if so, else `no` */
    LG_STEP_TABLE,      /* truth: tables + offset of the level a */
    LG_STEP_SET,        /* truth: whether a lies in one of `count` ranges from ranges + offset on */
    LG_STEP_COMPARE,    /* truth: numbers a and b */
    LG_STEP_SAME_LEVEL, /* truth: whether maps + offset of the level a is the level b */
    LG_STEP_AND,
    LG_STEP_OR,
    LG_STEP_NOT,
    LG_STEP_SKIP,      /* the next `count` steps, if all of the truth a is `yes` */
    LG_STEP_NUMBER_OF, /* number: 0, 1 or NaN by the truth a */
    LG_STEP_MISSING,   /* truth: whether a of kind `block` is missing */
    LG_STEP_UNARY,
    LG_STEP_BINARY,     /* numbers a, b */
    LG_STEP_BINARY_LOW, /* b is `low` */
    LG_STEP_LOW_BINARY, /* a is `low` */
    LG_STEP_SAME_TEXT,  /* truth: texts a and b */
    LG_STEP_TEXT_IN,    /* truth: whether a is one of the `count` strings from strings + offset on, sorted */
    LG_STEP_MATCH,      /* truth: whether regex number `offset` matches the text a */
} lg_step_kind;

typedef enum lg_compare {
    LG_EQUAL,
    LG_UNEQUAL,
    LG_LESS,
    LG_LESS_EQUAL,
    LG_GREATER,
    LG_GREATER_EQUAL
} lg_compare;

typedef enum lg_math {
    LG_NEGATE,
    LG_ABS,
    LG_SQRT,
    LG_FLOOR,
    LG_CEIL,
    LG_LOG,
    LG_EXP, /* unary */
    LG_ADD,
    LG_SUBTRACT,
    LG_MULTIPLY,
    LG_DIVIDE,
    LG_POWER,
    LG_MIN,
    LG_MAX,
} lg_math;

typedef struct lg_step {
    lg_step_kind kind;
    lg_block_kind block;
    lg_math math;
    lg_compare compare; /* EQUAL, LESS or LESS_EQUAL */
    lg_dtype dtype;     /* of a: LEVEL, RANGE, TABLE (blocks of numbers are F64, of levels U32) */
    uint8_t yes, no;
    lg_block_ref a, b;
    uint32_t to, item;    /* item: whose step it is */
    double low, high;     /* RANGE of floats; else the constant */
    uint64_t from, width; /* RANGE of integers: a - from <= width, as unsigned of its size */
    size_t offset, count; /* of SAME_LEVEL: levels of a; width: those of b */
} lg_step;

/* What an item comes to. */
typedef struct lg_item_result {
    const char *what; /* for errors */
    lg_query_want want;
    lg_query_type type;
    lg_block_ref block; /* unless a helper */
    const char *const *levels;
    size_t n_levels;
} lg_item_result;

typedef struct lg_used_column {
    const char *name;                   /* "loss(transformer)" */
    const char *column_name, *argument; /* "loss", "transformer"; NULL: takes none */
    lg_query_column column;
    bool used; /* by an item that counts */
} lg_used_column;

struct lg_query {
    lg_arena arena; /* names, strings */
    lg_query_source source;
    lg_used_column *columns;
    lg_step *steps;
    lg_item_result *items;
    uint8_t *tables; /* truth by level, one table after another */
    uint32_t *maps;  /* level to level */
    double *ranges;  /* low, high; low, high … rising and apart */
    lg_string *strings;
    lg_query_regex **regexes;
    const char **used; /* names of the columns used */
    size_t n_columns, columns_room, n_steps, steps_room, n_items, n_tables, tables_room, n_maps, maps_room,
        n_ranges, ranges_room, n_strings, strings_room, n_regexes, regexes_room, n_used;
    uint32_t n_blocks[LG_N_BLOCKS];
};

/* The order of a list of texts: by length, then by bytes. */
static inline int lg_string_order(lg_string a, lg_string b) {
    if (a.length != b.length) return a.length < b.length ? -1 : 1;
    return a.length ? memcmp(a.data, b.data, a.length) : 0;
}

/* math.c: the same bits on every machine; within one unit in the last place. */
double lg_query_log(double x);
double lg_query_exp(double x);
double lg_query_pow(double x, double y); /* special cases as C's pow */
double lg_query_unary(lg_math math, double x);
double lg_query_binary(lg_math math, double x, double y);

/* near.c: appends to OUT, for an unknown WORD, "; did you mean A, B?" of the names nearest to it, else ";
   there are A, B, C …". NAME: the I-th, NULL past the last. */
void lg_query_suggest(const char *word, size_t length, const char *(*name)(const void *context, size_t i),
                      const void *context, char *out, size_t size);

#endif
