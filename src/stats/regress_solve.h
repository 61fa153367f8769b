/* The dense algebra of a regression, in double-double: which columns are kept, the coefficients, the inverse.
 */
#ifndef LG_STATS_REGRESS_SOLVE_H
#define LG_STATS_REGRESS_SOLVE_H

#include "stats/regress_sums.h"

/* [rows, columns] row by row, in two halves. */
typedef struct lg_dd_matrix {
    size_t rows, columns;
    double *hi, *lo;
} lg_dd_matrix;

bool lg_dd_matrix_create(lg_dd_matrix *m, size_t rows, size_t columns); /* zero; false: no memory */
void lg_dd_matrix_free(lg_dd_matrix *m);

static inline dd lg_dd_at(const lg_dd_matrix *m, size_t i, size_t j) {
    return (dd){m->hi[i * m->columns + j], m->lo[i * m->columns + j]};
}

static inline void lg_dd_put(lg_dd_matrix *m, size_t i, size_t j, dd value) {
    m->hi[i * m->columns + j] = value.hi;
    m->lo[i * m->columns + j] = value.lo;
}

/* What became of a column of the design. */
typedef enum lg_column_fate {
    LG_COLUMN_KEPT,
    LG_COLUMN_EMPTY,    /* 0 in all used rows */
    LG_COLUMN_ABSORBED, /* the same within each absorbed group */
    LG_COLUMN_ALIASED,  /* what the kept ones before it do not explain is less than the tolerance */
} lg_column_fate;

typedef struct lg_solution {
    size_t n_columns; /* of the design */
    lg_column_fate *fate;
    double *ratio;      /* [n_columns] norm after projection on the kept ones before, over the norm */
    dd *norm;           /* [n_columns] of the scaled column, demeaned if something is absorbed */
    dd y_norm;          /* 1 if the outcome is 0 */
    size_t k, *kept;    /* [k] columns of the design */
    size_t *position;   /* [n_columns] among the kept, SIZE_MAX: not kept */
    dd *b;              /* [k] coefficients for columns and outcome of norm 1 */
    lg_dd_matrix bread; /* [k, k] (X'WX)^-1 for columns of norm 1 */
    lg_dd_matrix
        alias;        /* [aliased, k] coefficients of the aliased columns, in their order, on the kept ones */
    double y_ratio;   /* norm of the outcome's residuals over its norm */
    double condition; /* of the kept columns at norm 1 */
    bool doubtful;    /* the Gram matrix is not exact enough to decide what to keep, or to solve */
    const char *because; /* then: why */
} lg_solution;

/* EXACT: the Gram matrix is in double-double. Otherwise what would need that is found out: see `doubtful`. */
lg_status lg_solve(lg_solution *solution, const lg_design *design, const lg_gram *gram, double tolerance,
                   bool exact, unsigned threads, lg_error *error);
void lg_solution_free(lg_solution *solution);

/* V = bread M bread, where M is the meat's part for the kept columns at norm 1 (in units of the outcome's
 * norm). */
lg_status lg_solve_sandwich(const lg_solution *solution, const lg_design *design, const lg_sums *meat,
                            lg_dd_matrix *v, unsigned threads, lg_error *error);

/* c' M c. */
dd lg_dd_square_form(const lg_dd_matrix *m, const dd *c);

#endif
