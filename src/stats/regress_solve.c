/* The dense algebra of a regression. Columns are brought to norm 1 and eliminated in their order, the outcome
   last: what is left on the diagonal when a column's turn comes is the square of its norm after projection on
   the kept ones before it. Everything here is in double-double, whatever the Gram matrix was summed in: a few
   hundred columns cost nothing, and rows are updated by vectors. */
#include "stats/regress_solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "stats/regress_team.h"

/* Without exact sums: the least share of a norm and the largest condition that the coefficients bear, and the
   error of an entry of the Gram matrix relative to the norms (chunks of 4096 or more rows, summed one after
   the other). */
#define LEAST_RATIO       5e-3
#define LEAST_Y_RATIO     1e-3
#define LARGEST_CONDITION 200
#define ENTRY_ERROR       (16384 * 0x1p-53)
/* A column that varies less than this within the absorbed groups does not vary. */
#define ABSORBED 1e-10

enum { LARGE = 96 }; /* columns from which several threads pay */

bool lg_dd_matrix_create(lg_dd_matrix *m, size_t rows, size_t columns) {
    size_t n;
    *m = (lg_dd_matrix){.rows = rows, .columns = columns};
    if (!lg_multiply(rows, columns, &n)) return false;
    m->hi = calloc(n + 1, sizeof *m->hi);
    m->lo = calloc(n + 1, sizeof *m->lo);
    return m->hi && m->lo;
}

void lg_dd_matrix_free(lg_dd_matrix *m) {
    free(m->hi);
    free(m->lo);
    *m = (lg_dd_matrix){0};
}

/* TO[row, first …] += a FROM[other, first …], N values. */
static void add_row(lg_dd_matrix *to, size_t row, dd a, const lg_dd_matrix *from, size_t other, size_t first,
                    size_t n) {
    const size_t x = other * from->columns + first, y = row * to->columns + first;
    if (a.hi == 0 && a.lo == 0) return;
    lg_regress_kernels_get()->axpy_dd(a.hi, a.lo, from->hi + x, from->lo + x, n, to->hi + y, to->lo + y);
}

/* c = a b, a row at a time. */
typedef struct multiplication {
    const lg_dd_matrix *a, *b;
    lg_dd_matrix *c;
} multiplication;

static void product_row(void *context, unsigned thread, size_t i) {
    const multiplication *p = context;
    (void)thread;
    for (size_t m = 0; m < p->a->columns; m++)
        add_row(p->c, i, lg_dd_at(p->a, i, m), p->b, m, 0, p->b->columns);
}

/* The same for an upper triangle a and its transpose b. */
static void square_row(void *context, unsigned thread, size_t i) {
    const multiplication *p = context;
    (void)thread;
    for (size_t m = i; m < p->a->columns; m++) add_row(p->c, i, lg_dd_at(p->a, i, m), p->b, m, 0, m + 1);
}

dd lg_dd_square_form(const lg_dd_matrix *m, const dd *c) {
    dd sum = {0};
    for (size_t i = 0; i < m->rows; i++) {
        if (c[i].hi == 0) continue;
        dd row = {0};
        for (size_t j = 0; j < m->columns; j++)
            if (c[j].hi != 0) row = dd_add(row, dd_multiply(lg_dd_at(m, i, j), c[j]));
        sum = dd_add(sum, dd_multiply(row, c[i]));
    }
    return sum;
}

/* ---- the working matrix ---- */

/* Candidates: columns that are not empty. */
typedef struct worker {
    const lg_design *design;
    const lg_gram *gram;
    lg_solution *s;
    size_t n;           /* candidates; the outcome is number n of the matrix */
    size_t *candidates; /* [n] columns of the design */
    lg_dd_matrix r;     /* [n + 1, n + 1] upper triangle: Gram matrix, then the factor in the kept rows */
    dd *alias;          /* [n] scratch */
    size_t *kept;       /* [k] candidates */
    size_t k;
    bool exact;
} worker;

static dd gram_entry(const worker *w, size_t i, size_t j) {
    dd value = lg_gram_at(w->gram, i, j);
    if (w->gram->absorbed.n) {
        size_t at = i < j ? lg_triangle(j) + i : lg_triangle(i) + j;
        value = dd_subtract(value, dd_two_sum(w->gram->absorbed.hi[at], w->gram->absorbed.lo[at]));
    }
    return value;
}

static size_t gram_column(const worker *w, size_t candidate) {
    return candidate < w->n ? w->design->columns[w->candidates[candidate]].gram : w->design->n_dense - 1;
}

/* Norms; and the Gram matrix of columns at norm 1. */
static void fill(worker *w) {
    lg_solution *s = w->s;
    for (size_t i = 0; i <= w->n; i++) {
        size_t column = gram_column(w, i);
        dd norm = dd_sqrt(gram_entry(w, column, column));
        if (i < w->n) s->norm[w->candidates[i]] = norm;
        else s->y_norm = norm.hi > 0 ? norm : dd_of(1);
    }
    for (size_t i = 0; i <= w->n; i++) {
        dd norm = i < w->n ? s->norm[w->candidates[i]] : s->y_norm;
        for (size_t j = i; j <= w->n; j++) {
            dd other = j < w->n ? s->norm[w->candidates[j]] : s->y_norm;
            if (norm.hi > 0 && other.hi > 0)
                lg_dd_put(
                    &w->r, i, j,
                    dd_divide(dd_divide(gram_entry(w, gram_column(w, i), gram_column(w, j)), norm), other));
        }
    }
}

/* Coefficients of candidate J on the kept ones: R a = r_j, into w->alias. */
static void find_alias(worker *w, size_t j) {
    for (size_t i = w->k; i-- > 0;) {
        const size_t row = w->kept[i];
        dd sum = lg_dd_at(&w->r, row, j);
        for (size_t m = i + 1; m < w->k; m++)
            sum = dd_subtract(sum, dd_multiply(lg_dd_at(&w->r, row, w->kept[m]), w->alias[m]));
        w->alias[i] = dd_divide(sum, lg_dd_at(&w->r, row, row));
    }
}

/* Whether sums of products of two columns are exact in double: whole numbers, not too many. */
static bool whole_products(const worker *w, size_t i, size_t j) {
    const lg_design *d = w->design;
    const size_t pair[2] = {i, j};
    double product = (double)d->n;
    if (d->weights) return false;
    for (size_t m = 0; m < 2; m++) {
        size_t term = d->columns[w->candidates[pair[m]]].term;
        if (term == SIZE_MAX) continue;
        if (!d->terms[term].whole) return false;
        product *= d->terms[term].largest;
    }
    return product < 0x1p52;
}

/* How far rounding in the Gram matrix can have moved the square that is left of candidate J, whose
   coefficients on the kept ones are in w->alias. */
static double error_of_square(const worker *w, size_t j) {
    double error = whole_products(w, j, j) ? 0 : 1;
    for (size_t a = 0; a < w->k; a++) {
        const double size = fabs(w->alias[a].hi);
        if (size < 1e-12) continue;
        if (!whole_products(w, w->kept[a], j)) error += 2 * size;
        for (size_t b = 0; b < w->k; b++)
            if (!whole_products(w, w->kept[a], w->kept[b])) error += size * fabs(w->alias[b].hi);
    }
    return error * ENTRY_ERROR + 1e-30;
}

/* ---- elimination ---- */

typedef struct elimination {
    lg_dd_matrix *r;
    size_t pivot;
} elimination;

static void eliminate_row(void *context, unsigned thread, size_t i) {
    const elimination *e = context;
    const size_t row = e->pivot + 1 + i;
    (void)thread;
    add_row(e->r, row, dd_negate(lg_dd_at(e->r, e->pivot, row)), e->r, e->pivot, row, e->r->columns - row);
}

static void eliminate(worker *w, size_t j, unsigned threads) {
    const size_t n = w->n + 1;
    lg_dd_matrix *r = &w->r;
    const dd root = dd_sqrt(lg_dd_at(r, j, j));
    for (size_t i = j; i < n; i++) lg_dd_put(r, j, i, i == j ? root : dd_divide(lg_dd_at(r, j, i), root));
    lg_team_for(n - j > LARGE ? threads : 1, n - j - 1, eliminate_row, &(elimination){r, j});
}

/* Decides on every candidate, in order. */
static lg_status choose(worker *w, double tolerance, unsigned threads, lg_error *error) {
    lg_solution *s = w->s;
    const double square = tolerance * tolerance;
    for (size_t j = 0; j < w->n && !s->doubtful; j++) {
        const size_t column = w->candidates[j], gram = gram_column(w, j);
        const double left = dd_double(lg_dd_at(&w->r, j, j));
        s->ratio[column] = sqrt(fmax(left, 0));
        if (w->gram->absorbed.n) {
            dd before = dd_sqrt(lg_gram_at(w->gram, gram, gram));
            if (!(s->norm[column].hi >= ABSORBED * before.hi)) {
                s->ratio[column] = 0;
                s->fate[column] = LG_COLUMN_ABSORBED;
                continue;
            }
        }
        if (!w->exact && left < LEAST_RATIO * LEAST_RATIO) {
            find_alias(w, j);
            if (!(left + error_of_square(w, j) < square)) {
                s->doubtful = true;
                s->because = "a column is nearly a combination of others";
                break;
            }
        }
        if (!(left >= square)) {
            s->fate[column] = LG_COLUMN_ALIASED;
            s->alias.rows++;
            continue;
        }
        s->fate[column] = LG_COLUMN_KEPT;
        s->position[column] = w->k;
        s->kept[w->k] = column;
        w->kept[w->k++] = j;
        eliminate(w, j, threads);
    }
    s->k = w->k;
    if (s->doubtful) return LG_OK;
    double left = dd_double(lg_dd_at(&w->r, w->n, w->n));
    s->y_ratio = sqrt(fmax(left, 0));
    if (!w->exact && s->y_ratio < LEAST_Y_RATIO) {
        s->doubtful = true;
        s->because = "the columns explain the outcome nearly wholly, or its mean is large beside its spread";
    }
    size_t rows = s->alias.rows;
    if (!lg_dd_matrix_create(&s->alias, rows, w->k)) return lg_fail_memory(error);
    rows = 0;
    for (size_t j = 0; j < w->n; j++) {
        if (s->fate[w->candidates[j]] != LG_COLUMN_ALIASED) continue;
        /* kept columns behind it have no part in it */
        size_t k = w->k;
        while (w->k && w->kept[w->k - 1] > j) w->k--;
        find_alias(w, j);
        for (size_t i = 0; i < w->k; i++) lg_dd_put(&s->alias, rows, i, w->alias[i]);
        w->k = k;
        rows++;
    }
    return LG_OK;
}

/* ---- inverse, coefficients, condition ---- */

/* Largest eigenvalue of U'U (or U U') for the upper triangle U [k, k] (row by row, in double), by iteration.
 */
static double largest_square(const double *u, size_t k, double *x, double *y) {
    double value = 0;
    for (size_t i = 0; i < k; i++) x[i] = 1 + 0.25 * (double)(i % 7);
    for (int step = 0; step < 300; step++) {
        double norm = 0, before = value;
        for (size_t i = 0; i < k; i++) {
            y[i] = 0;
            for (size_t j = i; j < k; j++) y[i] += u[i * k + j] * x[j];
        }
        for (size_t j = 0; j < k; j++) x[j] = 0;
        for (size_t i = 0; i < k; i++)
            for (size_t j = i; j < k; j++) x[j] += u[i * k + j] * y[i];
        for (size_t i = 0; i < k; i++) norm += x[i] * x[i];
        value = sqrt(norm);
        if (!(value > 0)) return 0;
        for (size_t i = 0; i < k; i++) x[i] /= value;
        if (fabs(value - before) < 1e-7 * value) break;
    }
    return value;
}

static lg_status invert(worker *w, unsigned threads, lg_error *error) {
    lg_solution *s = w->s;
    const size_t k = s->k;
    lg_dd_matrix inverse = {0}, transposed = {0};
    double *factor = lg_alloc(k * k + 1, sizeof *factor), *vectors = lg_alloc(2 * k + 1, sizeof *vectors);
    lg_status status = LG_OK;
    s->b = lg_alloc(k + 1, sizeof *s->b);
    if (!factor || !vectors || !s->b || !lg_dd_matrix_create(&inverse, k, k) ||
        !lg_dd_matrix_create(&transposed, k, k) || !lg_dd_matrix_create(&s->bread, k, k)) {
        status = lg_fail_memory(error);
        goto done;
    }
    /* R^-1 by rows from the last: R[i, i] row_i = e_i - sum over m > i of R[i, m] row_m */
    for (size_t i = k; i-- > 0;) {
        const size_t row = w->kept[i];
        const dd pivot = lg_dd_at(&w->r, row, row);
        for (size_t m = i + 1; m < k; m++)
            add_row(&inverse, i, dd_negate(lg_dd_at(&w->r, row, w->kept[m])), &inverse, m, m, k - m);
        lg_dd_put(&inverse, i, i, dd_of(1));
        for (size_t j = i; j < k; j++) lg_dd_put(&inverse, i, j, dd_divide(lg_dd_at(&inverse, i, j), pivot));
        for (size_t j = i; j < k; j++) lg_dd_put(&transposed, j, i, lg_dd_at(&inverse, i, j));
        s->b[i] = (dd){0};
        for (size_t j = i; j < k; j++)
            s->b[i] =
                dd_add(s->b[i], dd_multiply(lg_dd_at(&inverse, i, j), lg_dd_at(&w->r, w->kept[j], w->n)));
    }
    /* the bread: row i = sum over m of R^-1[i, m] times column m of R^-1 */
    lg_team_for(k > LARGE ? threads : 1, k, square_row, &(multiplication){&inverse, &transposed, &s->bread});
    memset(factor, 0, k * k * sizeof *factor);
    for (size_t i = 0; i < k; i++)
        for (size_t j = i; j < k; j++) factor[i * k + j] = lg_dd_at(&w->r, w->kept[i], w->kept[j]).hi;
    s->condition = largest_square(factor, k, vectors, vectors + k);
    for (size_t i = 0; i < k; i++)
        for (size_t j = i; j < k; j++) factor[i * k + j] = lg_dd_at(&inverse, i, j).hi;
    s->condition = k ? sqrt(s->condition * largest_square(factor, k, vectors, vectors + k)) : 1;
    if (!w->exact && !s->doubtful && s->condition > LARGEST_CONDITION) {
        s->doubtful = true;
        s->because = "the condition of the columns is large";
    }
done:
    lg_dd_matrix_free(&inverse);
    lg_dd_matrix_free(&transposed);
    free(factor);
    free(vectors);
    return status;
}

lg_status lg_solve(lg_solution *s, const lg_design *d, const lg_gram *gram, double tolerance, bool exact,
                   unsigned threads, lg_error *error) {
    const size_t n = d->n_columns;
    *s = (lg_solution){.n_columns = n};
    worker w = {.design = d, .gram = gram, .s = s, .exact = exact};
    lg_status status = LG_OK;
    s->fate = calloc(n + 1, sizeof *s->fate);
    s->ratio = calloc(n + 1, sizeof *s->ratio);
    s->norm = calloc(n + 1, sizeof *s->norm);
    s->kept = calloc(n + 1, sizeof *s->kept);
    s->position = calloc(n + 1, sizeof *s->position);
    w.candidates = calloc(n + 1, sizeof *w.candidates);
    w.kept = calloc(n + 1, sizeof *w.kept);
    w.alias = calloc(n + 1, sizeof *w.alias);
    if (!s->fate || !s->ratio || !s->norm || !s->kept || !s->position || !w.candidates || !w.kept ||
        !w.alias) {
        status = lg_fail_memory(error);
        goto done;
    }
    for (size_t i = 0; i < n; i++) {
        s->position[i] = SIZE_MAX;
        if (d->columns[i].gram == LG_REGRESS_NONE) s->fate[i] = LG_COLUMN_EMPTY;
        else w.candidates[w.n++] = i;
    }
    if (!lg_dd_matrix_create(&w.r, w.n + 1, w.n + 1)) {
        status = lg_fail_memory(error);
        goto done;
    }
    fill(&w);
    status = choose(&w, tolerance, threads, error);
    if (!status && !s->doubtful) status = invert(&w, threads, error);
done:
    free(w.candidates);
    free(w.kept);
    free(w.alias);
    lg_dd_matrix_free(&w.r);
    return status;
}

void lg_solution_free(lg_solution *s) {
    free(s->fate);
    free(s->ratio);
    free(s->norm);
    free(s->kept);
    free(s->position);
    free(s->b);
    lg_dd_matrix_free(&s->bread);
    lg_dd_matrix_free(&s->alias);
    *s = (lg_solution){0};
}

lg_status lg_solve_sandwich(const lg_solution *s, const lg_design *d, const lg_sums *meat, lg_dd_matrix *v,
                            unsigned threads, lg_error *error) {
    const size_t k = s->k;
    lg_dd_matrix m = {0}, half = {0};
    lg_status status = LG_OK;
    if (!lg_dd_matrix_create(&m, k, k) || !lg_dd_matrix_create(&half, k, k) ||
        !lg_dd_matrix_create(v, k, k)) {
        status = lg_fail_memory(error);
        goto done;
    }
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j <= i; j++) {
            size_t a = d->columns[s->kept[i]].gram, b = d->columns[s->kept[j]].gram;
            size_t at = a < b ? lg_triangle(b) + a : lg_triangle(a) + b;
            dd value = dd_two_sum(meat->hi[at], meat->lo[at]);
            value = dd_divide(dd_divide(value, s->norm[s->kept[i]]), s->norm[s->kept[j]]);
            value = dd_divide(dd_divide(value, s->y_norm), s->y_norm);
            lg_dd_put(&m, i, j, value);
            lg_dd_put(&m, j, i, value);
        }
    lg_team_for(k > LARGE ? threads : 1, k, product_row, &(multiplication){&s->bread, &m, &half});
    lg_team_for(k > LARGE ? threads : 1, k, product_row, &(multiplication){&half, &s->bread, v});
done:
    lg_dd_matrix_free(&m);
    lg_dd_matrix_free(&half);
    return status;
}
