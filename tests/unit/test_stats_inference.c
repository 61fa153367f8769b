/* Inference about means of clustered tokens against tests/golden/inference (exact fractions, statsmodels,
   scipy and R: see there), and coverage of the intervals in a simulation. */
#include <math.h>

#include "fixture.h"

#include "base/json.h"
#include "lossgap/gap.h"
#include "stats/cluster.h"
#include "base/philox.h"

enum { DOCUMENTS = 12, TOKENS = 134 };

typedef struct token {
    size_t document;
    bool content;
    double gap, bytes;
} token;

static lg_arena arena;
static const lg_json_value *golden;
static token tokens[TOKENS];
static size_t n_tokens;

static void read_golden(const char *folder) {
    char path[512], line[128], last[16] = "";
    snprintf(path, sizeof path, "%s/clusters.csv", folder);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    size_t document = 0;
    for (n_tokens = 0; fgets(line, sizeof line, file); n_tokens++) {
        char doc[16], kind[16];
        double a, b, bytes;
        assert_true(n_tokens < TOKENS);
        assert_int_equal(sscanf(line, "%15[^,],%15[^,],%lf,%lf,%lf", doc, kind, &a, &b, &bytes), 5);
        if (n_tokens && strcmp(doc, last) != 0) document++;
        strcpy(last, doc);
        tokens[n_tokens] = (token){document, strcmp(kind, "content") == 0, a - b, bytes};
    }
    fclose(file);
    assert_int_equal(document + 1, DOCUMENTS);
    snprintf(path, sizeof path, "%s/inference.json", folder);
    file = fopen(path, "r");
    assert_non_null(file);
    static char text[1 << 17];
    size_t length = fread(text, 1, sizeof text, file);
    fclose(file);
    lg_json_value *root;
    lg_error error = {0};
    if (lg_json_parse(&arena, text, length, path, &root, &error)) fail_msg("%s", error.message);
    golden = root;
}

static int setup(void **state) {
    (void)state;
    read_golden("tests/golden/inference");
    return 0;
}

static int teardown(void **state) {
    (void)state;
    lg_arena_free(&arena);
    return 0;
}

static const lg_json_value *get(const lg_json_value *value, const char *key) {
    const lg_json_value *v = lg_json_get(value, key);
    if (!v) fail_msg("the golden file has no '%s'", key);
    return v;
}

static double number(const lg_json_value *value, const char *key) {
    return get(value, key)->number;
}

static void near(const char *what, double value, double expected) {
    if (!(fabs(value - expected) <= 1e-12 * fmax(fabs(expected), 1e-3)))
        fail_msg("%s: %.17g, not %.17g", what, value, expected);
}

/* Cells of the tokens of one class (1 content, 0 function), or of all (2), in document order. */
static size_t make_cells(int class, lg_cell *cells, double *byte_weighted) {
    size_t n = 0;
    double weighted = 0, bytes = 0;
    for (size_t i = 0; i < n_tokens; i++) {
        const token *t = &tokens[i];
        if (class != 2 && t->content != class) continue;
        if (!n || cells[n - 1].document != t->document) cells[n++] = (lg_cell){.document = t->document};
        cells[n - 1].tokens++;
        cells[n - 1].bytes += t->bytes;
        cells[n - 1].sum += t->gap;
        weighted += t->bytes * t->gap;
        bytes += t->bytes;
    }
    if (byte_weighted) *byte_weighted = weighted / bytes;
    return n;
}

static void test_means(void **state) {
    (void)state;
    static const char *const names[] = {"function", "content", "all"};
    lg_error error = {0};
    for (int class = 0; class < 3; class ++) {
        const lg_json_value *want = get(get(golden, "clusters.csv"), names[class]);
        lg_cell cells[DOCUMENTS];
        double byte_weighted;
        size_t n = make_cells(class, cells, &byte_weighted);
        lg_cluster r;
        assert_int_equal(lg_cluster_compute(cells, n, false, &r, &error), LG_OK);
        near("micro", r.mean, number(want, "micro_mean"));
        near("cr0", r.se_cr0, number(want, "micro_se_cr0"));
        near("cr1", r.se, number(want, "micro_se_cr1"));
        near("macro", r.of_documents, number(want, "macro_mean"));
        near("macro se", r.se_of_documents, number(want, "macro_se"));
        near("per byte", r.per_byte, number(want, "mean_per_byte"));
        near("per byte cr0", r.se_per_byte_cr0, number(want, "mean_per_byte_se_cr0"));
        near("per byte cr1", r.se_per_byte, number(want, "mean_per_byte_se_cr1"));
        near("weighted by bytes", byte_weighted, number(want, "byte_weighted_mean"));
        /* (t(0.975) + t(0.8)) se, quantiles by mpmath, 30 digits */
        if (class == 2) near("detectable", r.mde, (2.2009851600916398679 + 0.87552997807388144790) * r.se);
        if (class != 2) continue;
        near("t", r.t, number(want, "t"));
        near("df", r.df, number(want, "df"));
        near("p", r.p, number(want, "p"));
        near("low", r.low, get(want, "ci95")->first->number);
        near("high", r.high, get(want, "ci95")->first->next->number);
    }
}

static void test_contrast(void **state) {
    (void)state;
    const lg_json_value *want = get(get(golden, "clusters.csv"), "content_minus_function");
    lg_cell content[DOCUMENTS], function[DOCUMENTS];
    double scratch[DOCUMENTS];
    lg_contrast_part parts[] = {{content, make_cells(1, content, NULL), 1},
                                {function, make_cells(0, function, NULL), -1}};
    lg_contrast r;
    lg_contrast_compute(parts, 2, scratch, DOCUMENTS, &r);
    near("estimate", r.estimate, number(want, "estimate"));
    near("cr0", r.se_cr0, number(want, "se_cr0"));
    near("cr1", r.se, number(want, "se_cr1"));
    near("t", r.t, number(want, "t"));
    near("df", r.df, number(want, "df"));
    near("p", r.p, number(want, "p"));
    assert_int_equal(r.tokens, TOKENS);
    assert_int_equal(r.documents, DOCUMENTS);
}

static void test_paired(void **state) {
    (void)state;
    const lg_json_value *want = get(golden, "paired_tests_on_documents");
    lg_error error = {0};
    lg_cell cells[DOCUMENTS];
    size_t n = make_cells(2, cells, NULL), i = 0;
    double means[DOCUMENTS], sums[DOCUMENTS];
    for (const lg_json_value *v = get(want, "document_means")->first; v; v = v->next, i++) {
        means[i] = cells[i].sum / cells[i].tokens;
        sums[i] = cells[i].sum;
        near("document mean", means[i], v->number);
    }
    assert_int_equal(i, n);
    lg_cluster r;
    assert_int_equal(lg_cluster_compute(cells, n, false, &r, &error), LG_OK);
    const lg_json_value *t = get(want, "t_test");
    near("t", r.t_of_documents, number(t, "t"));
    near("p", r.p_of_documents, number(t, "p"));
    near("low", r.low_of_documents, get(t, "ci95")->first->number);
    near("high", r.high_of_documents, get(t, "ci95")->first->next->number);
    near("W+", r.w_plus, number(get(want, "wilcoxon_signed_rank_exact"), "w_plus"));
    near("p Wilcoxon", r.p_wilcoxon, number(get(want, "wilcoxon_signed_rank_exact"), "p"));
    near("p sign", r.p_sign, number(get(want, "sign_test"), "p"));
    assert_int_equal(r.better, get(get(want, "sign_test"), "positive")->integer);
    near("p flips of means", r.p_sign_flip, number(get(want, "sign_flip_of_document_means"), "p"));
    near("p flips of sums", lg_sign_flip_test(sums, n), number(get(want, "sign_flip_of_document_sums"), "p"));
    for (const lg_json_value *v = get(golden, "mcnemar_exact")->first; v;
         v = v->next) /* the same binomial test */
        near("p sign", lg_sign_test((size_t)get(v, "b")->integer, (size_t)get(v, "c")->integer),
             number(v, "p"));
}

static void test_adjustment(void **state) {
    (void)state;
    lg_error error = {0};
    for (const lg_json_value *list = get(golden, "multiple_testing")->first; list; list = list->next) {
        double p[64];
        size_t n = 0;
        for (const lg_json_value *v = get(list, "p")->first; v; v = v->next)
            p[n++] = v->type == LG_JSON_NULL ? NAN : v->number;
        assert_int_equal(lg_adjust_bh(p, n, &error), LG_OK);
        n = 0;
        for (const lg_json_value *v = get(list, "bh")->first; v; v = v->next, n++) {
            if (v->type == LG_JSON_NULL) assert_true(isnan(p[n]));
            else if (!(fabs(p[n] - v->number) <= 1e-12 * v->number))
                fail_msg("BH: %.17g, not %.17g", p[n], v->number);
        }
    }
}

/* ---- the tests' own edges ---- */

/* By the definition: all 2^n ways to give the ranks signs. */
static double wilcoxon_by_hand(const double *values, size_t n) {
    double ranks[16], w = 0, total = 0;
    size_t m = 0, count = 0;
    double kept[16];
    for (size_t i = 0; i < n; i++)
        if (values[i] != 0) kept[m++] = values[i];
    for (size_t i = 0; i < m; i++) {
        ranks[i] = 0.5;
        for (size_t k = 0; k < m; k++)
            ranks[i] += fabs(kept[k]) < fabs(kept[i]) ? 1 : fabs(kept[k]) == fabs(kept[i]) ? 0.5 : 0;
        total += ranks[i];
        if (kept[i] > 0) w += ranks[i];
    }
    for (size_t s = 0; s < (size_t)1 << m; s++) {
        double other = 0;
        for (size_t i = 0; i < m; i++) other += s >> i & 1 ? ranks[i] : 0;
        count += fabs(other - total / 2) >= fabs(w - total / 2);
    }
    return (double)count / (double)((size_t)1 << m);
}

static void test_ranks(void **state) {
    (void)state;
    lg_error error = {0};
    lg_wilcoxon r;
    for (uint32_t round = 0; round < 200; round++) {
        double values[12];
        size_t n = round % 13;
        for (uint32_t i = 0; i < n; i++) {
            uint32_t bits[4];
            lg_philox((const uint32_t[4]){i, round, 0, 0}, 9, bits);
            values[i] = (double)(bits[0] % 7) - 2; /* many ties and zeros */
        }
        assert_int_equal(lg_wilcoxon_test(values, n, &r, &error), LG_OK);
        near("Wilcoxon", r.p, wilcoxon_by_hand(values, n));
        assert_true(r.exact);
    }
    double many[60]; /* scipy 1.17: wilcoxon(1 … 40, -41 … -60; correction=True, method="approx") */
    for (size_t i = 0; i < 60; i++) many[i] = i < 40 ? (double)(i + 1) : -(double)(i + 1);
    assert_int_equal(lg_wilcoxon_test(many, 60, &r, &error), LG_OK);
    assert_false(r.exact);
    near("W+", r.w_plus, 820);
    near("p", r.p, 0.486634587919174);
    near("none", lg_sign_test(0, 0), 1);
    near("one", lg_sign_test(1, 0), 1);
    near("six", lg_sign_test(6, 0), 0.03125);
    near("many", lg_sign_test(5000, 5000), 1);
    assert_true(isnan(lg_sign_flip_test(many, 60)));
    near("flips", lg_sign_flip_test((const double[]){1, 2, 3}, 3), 0.25);
    near("flips, ties", lg_sign_flip_test((const double[]){0.1, 0.2, -0.3}, 3), 1);
}

static void test_edges(void **state) {
    (void)state;
    lg_error error = {0};
    lg_cluster r;
    assert_int_equal(lg_cluster_compute(NULL, 0, false, &r, &error), LG_OK);
    assert_true(isnan(r.mean) && isnan(r.se) && isnan(r.p_sign));
    lg_cell one = {3, 4, 10, 2};
    assert_int_equal(lg_cluster_compute(&one, 1, false, &r, &error), LG_OK);
    near("mean", r.mean, 0.5);
    assert_true(isnan(r.se) && isnan(r.low) && isnan(r.p) && isnan(r.p_wilcoxon));
    lg_cell rounded[] = {{0, 3, 0, 0.1 + 0.1 + 0.1},
                         {1, 7, 0, 0.7}}; /* all gaps 0.1: the sums' noise is no spread */
    assert_int_equal(lg_cluster_compute(rounded, 2, true, &r, &error), LG_OK);
    assert_true(r.se == 0 && r.se_of_documents == 0 && r.low == r.mean && isnan(r.p) &&
                isnan(r.t_of_documents));
    assert_true(isnan(r.per_byte));
    lg_contrast c;
    double scratch[4];
    lg_contrast_compute((const lg_contrast_part[]){{&one, 1, 1}, {NULL, 0, -1}}, 2, scratch, 4, &c);
    assert_true(isnan(c.estimate) && isnan(c.se));
    lg_contrast_compute((const lg_contrast_part[]){{&one, 1, 1}, {rounded, 2, -1}}, 2, scratch, 4, &c);
    near("difference", c.estimate, 0.4);
    assert_int_equal(c.documents, 3);
}

/* ---- resamples ---- */

static void test_philox(void **state) {
    (void)state;
    static const struct { /* Random123's known answers */
        uint32_t counter[4];
        uint64_t key;
        uint32_t out[4];
    } known[] = {{{0}, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
                 {{UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX},
                  UINT64_MAX,
                  {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
                 {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                  0x299f31d0a4093822,
                  {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}};
    for (size_t i = 0; i < 3; i++) {
        uint32_t out[4];
        lg_philox(known[i].counter, known[i].key, out);
        assert_memory_equal(out, known[i].out, sizeof out);
    }
}

/* All 5^5 resamples: quantiles of type 7 and the standard error, to the last digits. And those drawn are such
 * as these. */
static void test_tiny(void **state) {
    (void)state;
    const lg_json_value *tiny = get(golden, "tiny_bootstrap");
    static const char *const statistics[] = {"micro", "macro"};
    double sums[5] = {0}, sizes[5] = {0};
    lg_cell cells[5];
    size_t d = 0;
    for (const lg_json_value *v = get(tiny, "documents")->first; v; v = v->next, d++) {
        for (const lg_json_value *x = v->first; x; x = x->next, sizes[d]++)
            sums[d] += strtod(x->string, NULL);
        cells[d] = (lg_cell){d, sizes[d], 0, sums[d]};
    }
    assert_int_equal(d, 5);
    static double values[3125], drawn[20000];
    for (int macro = 0; macro < 2; macro++) {
        const lg_json_value *want = get(tiny, statistics[macro]);
        for (size_t k = 0; k < 3125; k++) {
            double sum = 0, size = 0;
            for (size_t i = 0, rest = k; i < 5; i++, rest /= 5) {
                sum += macro ? sums[rest % 5] / sizes[rest % 5] : sums[rest % 5];
                size += macro ? 1 : sizes[rest % 5];
            }
            values[k] = sum / size;
        }
        lg_bootstrap_interval r = lg_bootstrap_percentile(values, 3125);
        const lg_json_value *interval = get(get(get(want, "percentile"), "0.95"), "type7");
        near("low", r.low, interval->first->number);
        near("high", r.high, interval->first->next->number);
        near("se", r.se, number(want, "se"));
        for (const lg_json_value *q = get(want, "quantiles")->first; q; q = q->next)
            near(q->key, lg_quantile(values, 3125, strtod(q->key, NULL)), number(q, "type7"));
        size_t at = 0; /* the whole distribution */
        for (const lg_json_value *v = get(want, "distribution")->first; v; v = v->next)
            for (int64_t k = 0; k < v->first->next->integer; k++)
                near("resample", values[at++], v->first->number);
        assert_int_equal(at, 3125);
    }
    /* Drawn ones: each is among all of them, and as often as it should be (chi-square over its values, 3
     * sigma). */
    const lg_json_value *distribution = get(get(tiny, "micro"), "distribution");
    lg_bootstrap b = {(const size_t[]){0, 1, 2, 3, 4}, 5, 5, 20000, 42, 1};
    lg_error error = {0};
    assert_int_equal(lg_bootstrap_run(&b, &(lg_bootstrap_group){cells, 5}, 1, drawn, &error), LG_OK);
    assert_int_equal(lg_sort_values(drawn, 20000), 20000);
    double chi = 0, classes = 0;
    size_t at = 0;
    for (const lg_json_value *v = distribution->first; v; v = v->next, classes++) {
        double seen = 0, due = 20000. * v->first->next->number / 3125;
        for (; at < 20000 && fabs(drawn[at] - v->first->number) < 1e-12; at++) seen++;
        chi += (seen - due) * (seen - due) / due;
    }
    assert_int_equal(at, 20000);
    if (fabs(chi - (classes - 1)) > 3 * sqrt(2 * (classes - 1)))
        fail_msg("chi-square %g with %g classes", chi, classes);
}

static double normal_of(uint64_t seed, uint32_t a, uint32_t b, uint32_t c) {
    uint32_t bits[4];
    lg_philox((const uint32_t[4]){a, b, c, 77}, seed, bits);
    return sqrt(-2 * log(((double)bits[0] + 1) / 4294967297.)) * cos(2 * M_PI * bits[1] / 4294967296.);
}

/* Documents of 5 to 60 tokens with effects of their own; a group that holds some tokens of most documents,
 * and a difference of groups. */
static void test_coverage(void **state) {
    (void)state;
    enum { REPEATS = 500, DOCS = 50, REPLICATES = 400 };
    const double truth = 0.03;
    lg_error error = {0};
    size_t population[DOCS], sandwich = 0, bootstrap = 0, contrast = 0, difference = 0, documents = 0;
    static double means[2 * REPLICATES], scratch[DOCS];
    for (size_t d = 0; d < DOCS; d++) population[d] = d;
    for (uint32_t round = 0; round < REPEATS; round++) {
        lg_cell cells[2][DOCS];
        size_t n[2] = {0};
        for (uint32_t d = 0; d < DOCS; d++) {
            double effect = 0.2 * normal_of(5, round, d, 0);
            for (uint32_t g = 0; g < 2; g++) {
                uint32_t bits[4];
                lg_philox((const uint32_t[4]){round, d, g, 78}, 5, bits);
                uint32_t size = g ? bits[0] % 40 : 5 + bits[0] % 56;
                if (!size) continue;
                lg_cell *cell = &cells[g][n[g]++];
                double own = effect + 0.1 * normal_of(5, round, d, 1 + g);
                *cell = (lg_cell){d, size, 0,
                                  size * (truth + own) + sqrt(size) * 0.5 * normal_of(5, round, d, 3 + g)};
            }
        }
        lg_bootstrap b = {population, DOCS, DOCS, REPLICATES, round, 1};
        lg_bootstrap_group groups[] = {{cells[0], n[0]}, {cells[1], n[1]}};
        assert_int_equal(lg_bootstrap_run(&b, groups, 2, means, &error), LG_OK);
        lg_cluster r;
        assert_int_equal(lg_cluster_compute(cells[1], n[1], false, &r, &error), LG_OK);
        sandwich += r.low <= truth && truth <= r.high;
        documents += r.low_of_documents <= truth && truth <= r.high_of_documents;
        lg_contrast c;
        lg_contrast_compute((const lg_contrast_part[]){{cells[0], n[0], 1}, {cells[1], n[1], -1}}, 2, scratch,
                            DOCS, &c);
        contrast += c.low <= 0 && 0 <= c.high;
        double differences[REPLICATES];
        for (size_t i = 0; i < REPLICATES; i++) differences[i] = means[i] - means[REPLICATES + i];
        lg_bootstrap_interval own = lg_bootstrap_percentile(means + REPLICATES, REPLICATES),
                              both = lg_bootstrap_percentile(differences, REPLICATES);
        bootstrap += own.low <= truth && truth <= own.high;
        difference += both.low <= 0 && 0 <= both.high;
    }
    size_t covered[] = {sandwich, documents, contrast, bootstrap, difference};
    for (size_t i = 0; i < 5; i++) {
        printf("interval %zu covers %.1f %%\n", i, 100. * (double)covered[i] / REPEATS);
        if (covered[i] < REPEATS * 92 / 100 || covered[i] > REPEATS * 98 / 100)
            fail_msg("interval %zu covers %zu of %d", i, covered[i], REPEATS);
    }
}

/* The same bits for any number of threads, and other numbers for another seed. */
static void test_threads(void **state) {
    (void)state;
    enum { DOCS = 300, REPLICATES = 501 };
    static lg_cell cells[DOCS];
    static double one[REPLICATES], two[REPLICATES];
    size_t population[DOCS];
    lg_error error = {0};
    for (uint32_t d = 0; d < DOCS; d++) {
        population[d] = d;
        cells[d] = (lg_cell){d, 1 + d % 7, 0, normal_of(1, d, 0, 0)};
    }
    lg_bootstrap b = {population, DOCS, DOCS, REPLICATES, 7, 1};
    lg_bootstrap_group group = {cells, DOCS};
    assert_int_equal(lg_bootstrap_run(&b, &group, 1, one, &error), LG_OK);
    for (b.threads = 2; b.threads < 6; b.threads++) {
        assert_int_equal(lg_bootstrap_run(&b, &group, 1, two, &error), LG_OK);
        assert_memory_equal(one, two, sizeof one);
    }
    b.seed = 8;
    assert_int_equal(lg_bootstrap_run(&b, &group, 1, two, &error), LG_OK);
    assert_memory_not_equal(one, two, sizeof one);
    /* A resample holds as many documents as there are. */
    double weights[DOCS] = {0}, sum = 0;
    lg_bootstrap_draw(&b, 3, weights, 1);
    for (size_t d = 0; d < DOCS; d++) sum += weights[d];
    near("documents", sum, DOCS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_means),      cmocka_unit_test(test_contrast), cmocka_unit_test(test_paired),
        cmocka_unit_test(test_adjustment), cmocka_unit_test(test_ranks),    cmocka_unit_test(test_edges),
        cmocka_unit_test(test_philox),     cmocka_unit_test(test_tiny),     cmocka_unit_test(test_coverage),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
