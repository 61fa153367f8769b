/* The design of a regression: which columns a formula has over a frame, and their values by blocks of rows.

   The Gram matrix has columns of its own: first the dense ones (1, the numeric terms, the outcome), then
   those of terms with categories that are not empty, of which a row has at most one per term. All are scaled
   by powers of two so that the largest value is about 1, and by the square root of the row's weight. */
#ifndef LG_STATS_REGRESS_DESIGN_H
#define LG_STATS_REGRESS_DESIGN_H

#include "stats/regress_formula.h"
#include "stats/regress_frame.h"
#include "stats/regress_kernels.h"

/* A column of the frame that the formula uses. */
typedef struct lg_variable {
    const char *name; /* as the formula writes it */
    const lg_column *column;
    bool category;
    size_t n_levels, reference; /* of a category */
    bool chosen;                /* the reference was asked for */
    bool coded_by_contrast;     /* by its own term, or everywhere if it has none */
    const uint8_t *classes;     /* [n_levels] lg_level_class; NULL: by the names */
    size_t first_level;         /* where its levels lie among those of all categories */
} lg_variable;

typedef struct lg_design_term {
    size_t n_numbers, numbers[LG_FORMULA_DEGREE]; /* variables whose values are multiplied */
    unsigned powers[LG_FORMULA_DEGREE];
    size_t n_categories, categories[LG_FORMULA_DEGREE]; /* variables; the first one's levels vary fastest */
    bool contrast[LG_FORMULA_DEGREE];           /* the reference has no column (else all levels have) */
    size_t order[LG_FORMULA_DEGREE], n_factors; /* in the formula: numbers as they are, categories + DEGREE */
    size_t n_cells;                             /* columns */
    size_t first;                               /* column of the design */
    uint32_t *gram;                             /* [n_cells] column of the Gram matrix, NONE: empty */
    size_t n_combinations;                      /* of all levels of its categories, the first one's fastest */
    uint64_t *combinations;                     /* [n_combinations] used rows where it is not 0 */
    uint64_t *counts;                           /* [n_cells] used rows where it is not 0 */
    int exponent;                               /* values are scaled by 2^-exponent */
    double largest;                             /* absolute value of its numbers */
    bool whole;                                 /* they are whole numbers */
} lg_design_term;

typedef struct lg_design_column {
    size_t term, cell; /* SIZE_MAX: the intercept */
    uint32_t gram;     /* LG_REGRESS_NONE: empty */
} lg_design_column;

typedef struct lg_design {
    lg_arena arena;
    lg_formula formula;
    lg_frame *frame;
    lg_query *query;     /* NULL: nothing is an expression */
    lg_column *computed; /* [n_computed] its results; named by definition or expression */
    size_t n_computed;
    lg_variable *variables; /* [n_variables] the outcome is the first */
    size_t n_variables;
    size_t n_rows;
    size_t n_levels; /* of all categories together */
    lg_design_term *terms;
    size_t n_terms;
    lg_design_column *columns; /* [n_columns] in order, the intercept first if there is one */
    size_t n_columns;
    size_t n_dense, n_sparse_terms, n_gram; /* of the Gram matrix; the outcome is column n_dense - 1 */
    int y_exponent;
    double y_largest, y_low, y_high;

    const lg_column *weights, *cluster, *absorb, *where; /* NULL: none */
    uint32_t *cluster_codes,
        *absorb_codes;             /* [n_rows] in order of appearance, NONE: missing; may be the same */
    uint32_t n_clusters, n_groups; /* codes, also of rows left out */
    uint32_t *order;               /* [n_rows] rows by cluster and group; NULL: they are so already */
    size_t *chunks;                /* [n_chunks + 1] positions where chunks of rows begin */
    size_t n_chunks;

    uint64_t n;         /* used rows */
    uint64_t *left_out; /* [n_variables + LG_N_LEFT] by why: a variable, or one of these: */
} lg_design;

enum {
    LG_LEFT_ZERO_WEIGHT,
    LG_LEFT_WEIGHT,
    LG_LEFT_CLUSTER,
    LG_LEFT_WHERE,
    LG_N_LEFT
}; /* behind the variables */

/* Reads the formula, finds its columns, looks at all rows once. */
lg_status lg_design_make(lg_design *design, lg_frame *frame, const lg_regress_options *options,
                         unsigned threads, const lg_monitor *monitor, lg_error *error);
void lg_design_free(lg_design *design);

/* Cuts the rows into chunks of at least ROWS; GROUPED: never within a cluster or group. */
lg_status lg_design_cut(lg_design *design, size_t rows, bool grouped, lg_error *error);

/* Levels [n_categories] of the categories of a term's column CELL. */
void lg_design_cell_levels(const lg_design *design, const lg_design_term *term, size_t cell, size_t *levels);
/* Name of a column, from ARENA; NULL: no memory. */
const char *lg_design_name(const lg_design *design, size_t column, lg_arena *arena);
const char *lg_variable_level(const lg_variable *variable, size_t level);

/* A block of rows, one per thread. */
typedef struct lg_loader {
    const lg_design *design;
    lg_query_session *session; /* NULL: nothing is queried row by row */
    lg_regress_block block;    /* used rows only */
    uint32_t cluster[LG_REGRESS_BLOCK], group[LG_REGRESS_BLOCK];
    uint32_t *levels; /* [n_variables, LG_REGRESS_BLOCK] of categories, by used row */
    double *numbers;  /* [n_variables, LG_REGRESS_BLOCK] */
    double weight[LG_REGRESS_BLOCK], product[LG_REGRESS_BLOCK];
    uint16_t used[LG_REGRESS_BLOCK]; /* rows of the block that are used */
    uint64_t *left_out;              /* while looking: counts, [n_variables + LG_N_LEFT]; else NULL */
    size_t
        bad_variable; /* while looking: the first category with a value, bad_level, without a name; 0: none */
    uint32_t bad_level;
    double negative_weight; /* while looking: the least; 0: none */
} lg_loader;

lg_status lg_loader_open(lg_loader *loader, const lg_design *design, lg_error *error);
void lg_loader_close(lg_loader *loader);
/* Positions FIRST … FIRST + N - 1, N <= LG_REGRESS_BLOCK. The block is filled. */
void lg_loader_read(lg_loader *loader, size_t first, size_t n);

#endif
