/* Blocks of rows of a design: values read, unusable rows left out, products formed, scaled and weighted. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "stats/dd.h"
#include "stats/regress_design_internal.h"

enum { B = LG_REGRESS_BLOCK };

lg_status lg_loader_open(lg_loader *l, const lg_design *d, lg_error *error) {
    *l = (lg_loader){.design = d};
    lg_regress_block *b = &l->block;
    b->n_dense = d->n_dense;
    b->width = (d->n_dense + 7) / 8 * 8;
    b->n_terms = d->n_sparse_terms;
    size_t dense, sparse, values;
    if (!lg_multiply(b->width + 1, B, &dense) || !lg_multiply(b->n_terms + 1, B, &sparse) ||
        !lg_multiply(d->n_variables, B, &values))
        return lg_fail_memory(error);
    b->dense = lg_alloc_aligned(dense, sizeof *b->dense);
    b->column = lg_alloc(sparse, sizeof *b->column);
    b->value = lg_alloc(sparse, sizeof *b->value);
    l->levels = lg_alloc(values, sizeof *l->levels);
    l->numbers = lg_alloc(values, sizeof *l->numbers);
    if (!b->dense || !b->column || !b->value || !l->levels || !l->numbers) return lg_fail_memory(error);
    memset(b->dense, 0, dense * sizeof *b->dense);
    if (d->query && !d->order && !(l->session = lg_query_session_create(d->query)))
        return lg_fail_memory(error);
    return LG_OK;
}

void lg_loader_close(lg_loader *l) {
    lg_query_session_free(l->session);
    l->session = NULL;
    free(l->block.dense);
    free(l->block.column);
    free(l->block.value);
    free(l->levels);
    free(l->numbers);
    l->block = (lg_regress_block){0};
    l->levels = NULL;
    l->numbers = NULL;
}

static bool all_finite(const double *values, size_t n) {
    const uint64_t exponent = (uint64_t)0x7FF << 52;
    uint64_t bad = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        bad |= (bits & exponent) == exponent;
    }
    return !bad;
}

void lg_loader_values(lg_loader *l, size_t first, size_t n) {
    const lg_design *d = l->design;
    const uint32_t *rows = d->order;
    double all[B];
    /* why a row is left out: the first variable that lacks a value; later ones do not count */
    uint32_t why[B];
    memset(why, 0xFF, sizeof why);
    if (l->session) lg_query_run(l->session, first, n, NULL); /* a frame's columns can always be read */
    if (d->where) {
        lg_column_numbers(d->where, l->session, rows, first, n, all);
        for (size_t i = 0; i < n; i++)
            if (!(all[i] > 0)) why[i] = (uint32_t)(d->n_variables + LG_LEFT_WHERE);
    }
    for (size_t v = 0; v < d->n_variables; v++) {
        const lg_variable *variable = &d->variables[v];
        if (variable->category) {
            uint32_t *levels = l->levels + v * B;
            lg_column_levels(variable->column, l->session, rows, first, n, levels);
            for (size_t i = 0; i < n; i++) {
                if (levels[i] < variable->n_levels) continue;
                if (why[i] == UINT32_MAX) why[i] = (uint32_t)v;
                if (levels[i] == UINT32_MAX) continue;
                if (l->bad_variable && (l->bad_variable < v || l->bad_level <= levels[i])) continue;
                l->bad_variable = v; /* the least of all, whoever finds it */
                l->bad_level = levels[i];
            }
        } else {
            double *numbers = l->numbers + v * B;
            lg_column_numbers(variable->column, l->session, rows, first, n, numbers);
            if (all_finite(numbers, n)) continue;
            for (size_t i = 0; i < n; i++)
                if (!isfinite(numbers[i]) && why[i] == UINT32_MAX) why[i] = (uint32_t)v;
        }
    }
    if (d->weights) {
        lg_column_numbers(d->weights, l->session, rows, first, n, all);
        for (size_t i = 0; i < n; i++) {
            if (all[i] > 0 && all[i] < INFINITY) continue;
            if (all[i] < l->negative_weight) l->negative_weight = all[i];
            if (why[i] == UINT32_MAX)
                why[i] = (uint32_t)(d->n_variables + (all[i] == 0 ? LG_LEFT_ZERO_WEIGHT : LG_LEFT_WEIGHT));
        }
    }
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        size_t row = rows ? rows[first + i] : first + i;
        uint32_t cluster = d->cluster_codes ? d->cluster_codes[row] : 0;
        uint32_t group = d->absorb_codes ? d->absorb_codes[row] : 0;
        if (why[i] == UINT32_MAX && (cluster == LG_REGRESS_NONE || group == LG_REGRESS_NONE))
            why[i] = (uint32_t)(d->n_variables + LG_LEFT_CLUSTER);
        if (why[i] != UINT32_MAX) {
            if (l->left_out) l->left_out[why[i]]++;
            continue;
        }
        l->cluster[used] = cluster;
        l->group[used] = group;
        l->weight[used] = d->weights ? all[i] : 1;
        l->used[used++] = (uint16_t)i;
    }
    l->block.rows = used;
    if (used == n) return;
    for (size_t v = 0; v < d->n_variables; v++) {
        if (d->variables[v].category) {
            uint32_t *levels = l->levels + v * B;
            for (size_t i = 0; i < used; i++) levels[i] = levels[l->used[i]];
        } else {
            double *numbers = l->numbers + v * B;
            for (size_t i = 0; i < used; i++) numbers[i] = numbers[l->used[i]];
        }
    }
}

/* x^n, rounded once. */
static double power(double x, unsigned n) {
    if (n == 1) return x;
    if (n == 2) return x * x;
    dd result = dd_of(1), square = dd_of(x);
    for (; n; n >>= 1) {
        if (n & 1) result = dd_multiply(result, square);
        if (n > 1) square = dd_multiply(square, square);
    }
    return dd_double(result);
}

void lg_loader_product(const lg_loader *l, const lg_design_term *t, double *out) {
    const size_t n = l->block.rows;
    if (!t->n_numbers) {
        for (size_t i = 0; i < n; i++) out[i] = 1;
        return;
    }
    for (size_t k = 0; k < t->n_numbers; k++) {
        const double *x = l->numbers + t->numbers[k] * B;
        const unsigned p = t->powers[k];
        if (!k && p == 1) memcpy(out, x, n * sizeof *out);
        else if (!k)
            for (size_t i = 0; i < n; i++) out[i] = power(x[i], p);
        else
            for (size_t i = 0; i < n; i++) out[i] *= power(x[i], p);
    }
}

/* Columns go into the rows eight at a time: a row's line of memory is written once. */
typedef struct stripe {
    double values[8][B];
    size_t first, n; /* dense columns FIRST … FIRST + N - 1 */
} stripe;

static void put_stripe(const lg_regress_block *b, stripe *s) {
    for (size_t i = 0; i < b->rows; i++) {
        double *to = b->dense + i * b->width + s->first;
        if (s->n == 8)
            for (size_t k = 0; k < 8; k++) to[k] = s->values[k][i];
        else
            for (size_t k = 0; k < s->n; k++) to[k] = s->values[k][i];
    }
    s->first += s->n;
    s->n = 0;
}

/* VALUES [rows] x scale x root as the next dense column. */
static void put_dense(const lg_regress_block *b, stripe *s, const double *values, double scale,
                      const double *root) {
    double *to = s->values[s->n];
    if (root)
        for (size_t i = 0; i < b->rows; i++) to[i] = values[i] * scale * root[i];
    else
        for (size_t i = 0; i < b->rows; i++) to[i] = values[i] * scale;
    if (++s->n == 8) put_stripe(b, s);
}

void lg_loader_read(lg_loader *l, size_t first, size_t n) {
    const lg_design *d = l->design;
    lg_regress_block *b = &l->block;
    double ones[B], roots[B], *root = d->weights ? roots : NULL;
    stripe s;
    s.first = s.n = 0;
    lg_loader_values(l, first, n);
    n = b->rows;
    for (size_t i = 0; i < n; i++) {
        ones[i] = 1;
        roots[i] = d->weights ? sqrt(l->weight[i]) : 1;
    }
    put_dense(b, &s, ones, 1, root);
    size_t sparse = 0;
    for (size_t t = 0; t < d->n_terms; t++) {
        const lg_design_term *term = &d->terms[t];
        const double scale = ldexp(1, -term->exponent);
        const double *product = l->product;
        if (term->n_numbers == 1 && term->powers[0] == 1) product = l->numbers + term->numbers[0] * B;
        else lg_loader_product(l, term, l->product);
        if (!term->n_categories) {
            put_dense(b, &s, product, scale, root); /* in the order of their columns */
            continue;
        }
        for (size_t i = 0; i < n; i++) {
            uint32_t cell = lg_loader_cell(l, term, i);
            b->column[i * b->n_terms + sparse] = cell == LG_REGRESS_NONE ? cell : term->gram[cell];
            b->value[i * b->n_terms + sparse] = product[i] * scale * roots[i];
        }
        sparse++;
    }
    put_dense(b, &s, l->numbers, ldexp(1, -d->y_exponent), root);
    put_stripe(b, &s);
}
