/* Regressions over random tables against a naive one: every column spelled out, Householder's QR in long
   double, clusters by brute force. Also: the same bits for any number of threads, and from every set of
   kernels. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "lossgap/report.h"
#include "stats/regress_frame.h"
#include "stats/regress_kernels.h"

enum { MAX_N = 400, MAX_K = 60 };

static uint64_t seed;

static double uniform(void) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (double)(seed >> 11) * 0x1p-53;
}

static unsigned below(unsigned n) {
    return (unsigned)(uniform() * n);
}

static double normal(void) {
    return sqrt(-2 * log(1 - uniform())) * cos(2 * M_PI * uniform());
}

typedef struct table {
    size_t n, n_a, n_b, n_clusters;
    double y[MAX_N], x[MAX_N], z[MAX_N], w[MAX_N];
    unsigned a[MAX_N], b[MAX_N], cluster[MAX_N];
    bool weighted, absorbed;
} table;

/* What a formula's columns are: products of level indicators and numbers. */
typedef struct column {
    int a, b; /* level, or -1: not in it */
    int x, z; /* powers */
} column;

typedef struct design {
    const char *formula;
    column columns[MAX_K];
    size_t k;
} design;

static void add(design *d, int a, int b, int x, int z) {
    d->columns[d->k++] = (column){a, b, x, z};
}

/* The columns of formula number WHICH, as R makes them. */
static void spell_out(design *d, unsigned which, const table *t) {
    const int n_a = (int)t->n_a, n_b = (int)t->n_b;
    d->k = 0;
    switch (which) {
    case 0:
        d->formula = "y ~ x + a + z + x^2";
        add(d, -1, -1, 0, 0), add(d, -1, -1, 1, 0);
        for (int l = 1; l < n_a; l++) add(d, l, -1, 0, 0);
        add(d, -1, -1, 0, 1), add(d, -1, -1, 2, 0);
        break;
    case 1:
        d->formula = "y ~ 0 + a + b + x";
        for (int l = 0; l < n_a; l++) add(d, l, -1, 0, 0);
        for (int l = 1; l < n_b; l++) add(d, -1, l, 0, 0);
        add(d, -1, -1, 1, 0);
        break;
    case 2:
        d->formula = "y ~ a*b + x";
        add(d, -1, -1, 0, 0);
        for (int l = 1; l < n_a; l++) add(d, l, -1, 0, 0);
        for (int l = 1; l < n_b; l++) add(d, -1, l, 0, 0);
        add(d, -1, -1, 1, 0);
        for (int m = 1; m < n_b; m++)
            for (int l = 1; l < n_a; l++) add(d, l, m, 0, 0);
        break;
    case 3:
        d->formula = "y ~ a*x + x:z - 1 + 1";
        add(d, -1, -1, 0, 0);
        for (int l = 1; l < n_a; l++) add(d, l, -1, 0, 0);
        add(d, -1, -1, 1, 0);
        for (int l = 1; l < n_a; l++) add(d, l, -1, 1, 0);
        add(d, -1, -1, 1, 1);
        break;
    case 4: /* no margins: all levels */
        d->formula = "y ~ a:b + a:x";
        add(d, -1, -1, 0, 0);
        for (int m = 0; m < n_b; m++)
            for (int l = 0; l < n_a; l++) add(d, l, m, 0, 0);
        for (int l = 0; l < n_a; l++) add(d, l, -1, 1, 0);
        break;
    default: /* aliased: z2 = 2 z - 1 */
        d->formula = "y ~ z + `2z - 1` + x";
        add(d, -1, -1, 0, 0), add(d, -1, -1, 0, 1), add(d, -1, -1, 0, -1), add(d, -1, -1, 1, 0);
        break;
    }
}

static long double value_of(const column *c, const table *t, size_t i) {
    if ((c->a >= 0 && t->a[i] != (unsigned)c->a) || (c->b >= 0 && t->b[i] != (unsigned)c->b)) return 0;
    double v = 1;
    for (int k = 0; k < c->x; k++) v *= t->x[i];
    if (c->z < 0) return 2 * t->z[i] - 1;
    for (int k = 0; k < c->z; k++) v *= t->z[i];
    return v;
}

/* ---- the naive regression ---- */

typedef struct result {
    bool kept[MAX_K];
    double b[MAX_K], classical[MAX_K], cr1[MAX_K];
    double rss;
} result;

static long double x[MAX_K][MAX_N], q[MAX_K][MAX_N], upper[MAX_K][MAX_K], inverse[MAX_K][MAX_K];

static long double dot(const long double *u, const long double *v, size_t n) {
    long double s = 0;
    for (size_t i = 0; i < n; i++) s += u[i] * v[i];
    return s;
}

static void demean(const table *t, long double *v) {
    for (size_t g = 0; g < t->n_clusters; g++) {
        long double sum = 0, weight = 0;
        for (size_t i = 0; i < t->n; i++)
            if (t->cluster[i] == g) sum += t->w[i] * v[i], weight += t->w[i];
        for (size_t i = 0; i < t->n; i++)
            if (t->cluster[i] == g) v[i] -= sum / weight;
    }
}

static void naive(const design *d, const table *t, result *out) {
    static long double y[MAX_N], e[MAX_N], b[MAX_K];
    const size_t n = t->n;
    size_t k = 0, at[MAX_K];
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < n; i++) y[i] = t->y[i];
    if (t->absorbed) demean(t, y);
    for (size_t i = 0; i < n; i++) y[i] *= sqrtl(t->w[i]);
    for (size_t j = 0; j < d->k; j++) {
        for (size_t i = 0; i < n; i++) x[k][i] = value_of(&d->columns[j], t, i);
        long double before = sqrtl(dot(x[k], x[k], n));
        if (t->absorbed) demean(t, x[k]);
        long double own = sqrtl(dot(x[k], x[k], n));
        for (size_t i = 0; i < n; i++) x[k][i] *= sqrtl(t->w[i]);
        long double norm = sqrtl(dot(x[k], x[k], n));
        if (own <= 1e-10L * before || norm == 0) continue;
        memcpy(q[k], x[k], sizeof q[k]);
        for (int again = 0; again < 3; again++)
            for (size_t m = 0; m < k; m++) {
                long double s = dot(q[m], q[k], n);
                upper[m][k] = again ? upper[m][k] + s : s;
                for (size_t i = 0; i < n; i++) q[k][i] -= s * q[m][i];
            }
        long double left = sqrtl(dot(q[k], q[k], n));
        if (left < 1e-7L * norm) continue;
        upper[k][k] = left;
        for (size_t i = 0; i < n; i++) q[k][i] /= left;
        out->kept[j] = true;
        at[k++] = j;
    }
    for (size_t j = k; j-- > 0;) {
        b[j] = dot(q[j], y, n);
        for (size_t m = j + 1; m < k; m++) b[j] -= upper[j][m] * b[m];
        b[j] /= upper[j][j];
        for (size_t c = 0; c < k; c++) {
            long double s = c == j;
            for (size_t m = j + 1; m < k; m++) s -= upper[j][m] * inverse[m][c];
            inverse[j][c] = s / upper[j][j];
        }
    }
    long double rss = 0;
    for (size_t i = 0; i < n; i++) {
        e[i] = y[i];
        for (size_t j = 0; j < k; j++) e[i] -= b[j] * x[j][i];
        rss += e[i] * e[i];
    }
    size_t present = 0, groups = 0;
    long double meat[MAX_K] = {0};
    for (size_t g = 0; g < t->n_clusters; g++) {
        long double s[MAX_K] = {0};
        bool any = false;
        for (size_t i = 0; i < n; i++) {
            if (t->cluster[i] != g) continue;
            any = true;
            for (size_t j = 0; j < k; j++) s[j] += x[j][i] * e[i];
        }
        present += any;
        groups += any && t->absorbed;
        for (size_t j = 0; j < k; j++) { /* (bread s)_j, as R^-1 (R^-T s) */
            long double sum = 0;
            for (size_t c = 0; c < k; c++) {
                long double half = 0;
                for (size_t m = 0; m < k; m++) half += inverse[m][c] * s[m];
                sum += inverse[j][c] * half;
            }
            meat[j] += sum * sum;
        }
    }
    const double df = (double)n - (double)k - (double)groups, G = (double)present;
    for (size_t j = 0; j < k; j++) {
        out->b[at[j]] = (double)b[j];
        out->classical[at[j]] =
            df > 0 ? (double)sqrtl(dot(inverse[j], inverse[j], k) * rss / df) : (double)NAN;
        out->cr1[at[j]] = (double)sqrtl(meat[j] * G / (G - 1) * (double)(n - 1) / (double)(n - k));
    }
    out->rss = (double)rss;
}

/* ---- random tables ---- */

static void make_table(table *t) {
    t->n = 40 + below(MAX_N - 40);
    t->n_a = 2 + below(4);
    t->n_b = 2 + below(3);
    t->n_clusters = 2 + below(20);
    t->weighted = below(3) == 0;
    t->absorbed = below(4) == 0;
    const double offset = below(2) ? 0 : pow(10, 4 * uniform()), scale = pow(10, 6 * uniform() - 3);
    const bool sorted = below(2);
    for (size_t i = 0; i < t->n; i++) {
        t->a[i] = below((unsigned)t->n_a);
        t->b[i] = below((unsigned)t->n_b);
        t->cluster[i] = sorted ? (unsigned)(i * t->n_clusters / t->n) : below((unsigned)t->n_clusters);
        t->x[i] = offset + scale * normal();
        t->z[i] = uniform();
        t->w[i] = t->weighted ? 0.1 + 3 * uniform() : 1;
        t->y[i] = 0.3 * t->a[i] - 0.2 * t->b[i] + t->z[i] + normal() + 0.5 * (double)(t->cluster[i] % 3);
    }
}

static void write_csv(const table *t, lg_text *csv) {
    lg_text_puts(csv, "y,x,z,w,a,b,doc,2z - 1\n");
    for (size_t i = 0; i < t->n; i++)
        lg_text_printf(csv, "%.17g,%.17g,%.17g,%.17g,a%u,b%u,\"doc %u\",%.17g\n", t->y[i], t->x[i], t->z[i],
                       t->w[i], t->a[i], t->b[i], t->cluster[i], 2 * t->z[i] - 1);
    assert_false(csv->failed);
}

static void compare(const design *d, const table *t, const lg_regress *regress, const char *what) {
    static result expected;
    size_t n;
    const lg_regress_row *rows = lg_regress_rows(regress, &n);
    naive(d, t, &expected);
    /* levels that no row has are no columns of a CSV */
    assert_int_equal(n, d->k);
    for (size_t j = 0; j < n; j++) {
        if (rows[j].dropped == expected.kept[j])
            fail_msg("%s: %s: dropped %d", what, rows[j].term, rows[j].dropped);
        if (rows[j].dropped) continue;
        const double values[][2] = {{rows[j].value.estimate, expected.b[j]},
                                    {rows[j].value.se_classical, expected.classical[j]},
                                    {rows[j].value.se, expected.cr1[j]}};
        for (size_t v = 0; v < 3; v++) {
            double scale = fmax(fabs(values[v][1]), v ? 0 : expected.classical[j]);
            /* a clustered error of scores that sum to 0 is rounding */
            if (v == 2 && scale < 1e-9 * expected.classical[j]) continue;
            if (!(fabs(values[v][0] - values[v][1]) <= 1e-9 * scale))
                fail_msg("%s: %s: number %zu is %.17g, not %.17g", what, rows[j].term, v, values[v][0],
                         values[v][1]);
        }
    }
    assert_true(fabs(lg_regress_get_fit(regress)->rss - expected.rss) <= 1e-10 * expected.rss);
}

static char *run(const design *d, const table *t, const lg_text *csv, unsigned threads,
                 lg_regress **regress) {
    lg_error error = {0};
    lg_frame *frame;
    char *json;
    size_t length;
    lg_regress_options o = {.formula = d->formula,
                            .cluster = "doc",
                            .weights = t->weighted ? "w" : NULL,
                            .absorb = t->absorbed ? "doc" : NULL,
                            .threads = threads,
                            .command = ""};
    if (lg_frame_create(&frame, &error) ||
        lg_frame_add_csv(frame, csv->data, csv->length, "random", &error) ||
        lg_regress_compute(frame, &o, NULL, regress, &error) ||
        lg_regress_json(*regress, &json, &length, &error))
        fail_msg("%s: %s", d->formula, error.message);
    lg_frame_free(frame);
    return json;
}

static bool has_all_levels(const table *t) {
    unsigned a = 0, b = 0;
    for (size_t i = 0; i < t->n; i++) a |= 1u << t->a[i], b |= 1u << t->b[i];
    return a == (1u << t->n_a) - 1 && b == (1u << t->n_b) - 1;
}

static void test_random(void **state) {
    (void)state;
    static table t;
    static design d;
    size_t extended = 0, runs = 0;
    for (unsigned i = 0; i < 150; i++) {
        seed = 88172645463325252u + i;
        char what[64];
        make_table(&t);
        spell_out(&d, i % 6, &t);
        if (!has_all_levels(&t)) continue;
        snprintf(what, sizeof what, "table %u", i);
        lg_text csv = {0};
        lg_regress *regress;
        write_csv(&t, &csv);
        char *json = run(&d, &t, &csv, 1, &regress);
        compare(&d, &t, regress, what);
        extended += strcmp(lg_regress_get_fit(regress)->arithmetic, "double") != 0;
        runs++;
        lg_regress_free(regress);
        char *other = run(&d, &t, &csv, 3, &regress);
        assert_string_equal(json, other);
        lg_regress_free(regress);
        free(json);
        free(other);
        lg_text_free(&csv);
    }
    assert_true(runs > 120);
    assert_true(extended > 20 && extended < runs - 20); /* both ways were gone */
}

/* ---- kernels ---- */

static void test_kernels(void **state) {
    (void)state;
    const lg_regress_kernels *a = &lg_regress_kernels_c, *b = lg_regress_kernels_avx2();
    if (!b) {
        print_message("SKIP: this machine has no AVX2\n");
        skip();
    }
    enum { DENSE = 13, WIDTH = 16, TERMS = 3, COLUMNS = 40, ROWS = 250 };
    const size_t triangle = lg_triangle(COLUMNS) + LG_REGRESS_PAD;
    seed = 12345;
    lg_regress_block block = {.rows = ROWS, .n_dense = DENSE, .width = WIDTH, .n_terms = TERMS};
    block.dense = aligned_alloc(64, ROWS * WIDTH * sizeof(double));
    block.column = calloc(ROWS * TERMS, sizeof *block.column);
    block.value = calloc(ROWS * TERMS, sizeof *block.value);
    double *scratch = aligned_alloc(64, 2 * WIDTH * WIDTH * sizeof(double)), *sums[6];
    for (size_t i = 0; i < 6; i++) sums[i] = calloc(triangle, sizeof(double));
    memset(block.dense, 0, ROWS * WIDTH * sizeof(double));
    for (size_t r = 0; r < ROWS; r++) {
        for (size_t j = 0; j < DENSE; j++)
            block.dense[r * WIDTH + j] = normal() * pow(2, 20 * uniform() - 10);
        for (size_t u = 0; u < TERMS; u++) {
            block.column[r * TERMS + u] = below(5) ? DENSE + (uint32_t)(9 * u + below(9)) : LG_REGRESS_NONE;
            block.value[r * TERMS + u] = below(2) ? 1 : normal();
        }
    }
    a->gram(&block, scratch, sums[0]);
    b->gram(&block, scratch, sums[1]);
    a->gram_dd(&block, scratch, sums[2], sums[3]);
    b->gram_dd(&block, scratch, sums[4], sums[5]);
    assert_memory_equal(sums[0], sums[1], triangle * sizeof(double));
    assert_memory_equal(sums[2], sums[4], triangle * sizeof(double));
    assert_memory_equal(sums[3], sums[5], triangle * sizeof(double));
    for (size_t i = 0; i < COLUMNS; i++) /* and they are sums of products */
        for (size_t j = 0; j <= i; j++) {
            long double sum = 0, size = 0;
            for (size_t r = 0; r < ROWS; r++) {
                long double row[COLUMNS] = {0};
                for (size_t k = 0; k < DENSE; k++) row[k] = block.dense[r * WIDTH + k];
                for (size_t u = 0; u < TERMS; u++)
                    if (block.column[r * TERMS + u] != LG_REGRESS_NONE)
                        row[block.column[r * TERMS + u]] = block.value[r * TERMS + u];
                sum += row[i] * row[j];
                size += fabsl(row[i] * row[j]);
            }
            const size_t at = lg_triangle(i) + j;
            assert_true(fabsl(sums[0][at] - sum) <= 1e-14L * size);
            assert_true(fabsl((long double)sums[2][at] + sums[3][at] - sum) <= 1e-18L * size);
        }
    double y[2][2][11];
    memcpy(y[0], (double[2][11]){{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, {1e-17}}, sizeof y[0]);
    memcpy(y[1], y[0], sizeof y[0]);
    double lo[11] = {3e-18, -1e-18};
    a->axpy_dd(1. / 3, 1e-17, block.dense, lo, 11, y[0][0], y[0][1]);
    b->axpy_dd(1. / 3, 1e-17, block.dense, lo, 11, y[1][0], y[1][1]);
    assert_memory_equal(y[0], y[1], sizeof y[0]);
    free(block.dense);
    free(block.column);
    free(block.value);
    free(scratch);
    for (size_t i = 0; i < 6; i++) free(sums[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_kernels)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
