/* Regressions against references: NIST's certified sets, statsmodels, R and 60-digit arithmetic. */
#include "regress_golden.h"

#define BOTH(set) "tests/golden/regression/data/" set

/* ---- NIST ---- */

static void test_nist(void **state) {
    (void)state;
    static const char *const names[] = {"norris",   "pontius",  "noint1",   "noint2",   "filip",   "longley",
                                        "wampler1", "wampler2", "wampler3", "wampler4", "wampler5"};
    lg_arena arena = {0};
    const lg_json_value *all = golden_read(&arena, "tests/golden/regression/nist/certified.json");
    for (size_t s = 0; s < 11; s++) {
        char path[128], formula[256] = "y ~ x";
        const lg_json_value *set = lg_json_get(all, names[s]), *coef = lg_json_get(set, "coef");
        const bool filip = strcmp(names[s], "filip") == 0;
        snprintf(path, sizeof path, "tests/golden/regression/nist/%s.csv", names[s]);
        if (strcmp(names[s], "longley") == 0) strcpy(formula, "y ~ x1 + x2 + x3 + x4 + x5 + x6");
        else if (strncmp(names[s], "noint", 5) == 0) strcpy(formula, "y ~ 0 + x");
        else
            for (size_t k = 2; k < coef->length; k++)
                snprintf(formula + strlen(formula), sizeof formula - strlen(formula), " + x^%zu", k);
        lg_error error = {0};
        regress_run run;
        if (regress_files(&run, (const char *[]){path, NULL}, NULL,
                          (lg_regress_options){.formula = formula, .tolerance = filip ? 1e-12 : 0}, &error))
            fail_msg("%s", error.message);
        size_t n;
        const lg_regress_row *rows = lg_regress_rows(run.regress, &n);
        const lg_regress_fit *fit = lg_regress_get_fit(run.regress);
        assert_int_equal(n, coef->length);
        double largest = 0;
        for (size_t i = 0; i < n; i++) {
            largest = fmax(largest, fabs(golden_number(golden_element(coef, i))));
            largest = fmax(largest, golden_number(golden_element(lg_json_get(set, "se"), i)));
        }
        const double tolerance = filip ? 1e-7 : 1e-9;
        for (size_t i = 0; i < n; i++) {
            check_close(names[s], rows[i].term, rows[i].value.estimate,
                        golden_number(golden_element(coef, i)), tolerance, largest);
            check_close(names[s], rows[i].term, rows[i].value.se_classical,
                        golden_number(golden_element(lg_json_get(set, "se"), i)), tolerance, largest);
        }
        check_close(names[s], "r2", fit->r2, golden_member(set, "r2"), 1e-9, 0);
        check_close(names[s], "sigma", fit->sigma, golden_member(set, "residual_sd"), filip ? 1e-7 : 1e-9,
                    1e-12);
        assert_true(fit->df_resid == golden_member(set, "df_resid"));
        const bool easy = strcmp(names[s], "norris") == 0 || strncmp(names[s], "noint", 5) == 0;
        assert_string_equal(fit->arithmetic, easy ? "double" : "double-double");
        regress_close(&run);
    }
    lg_arena_free(&arena);
}

/* R's lm drops x^10 of Filip at its default tolerance: its ratio is 5.2e-8. */
static void test_tolerance(void **state) {
    (void)state;
    lg_error error = {0};
    regress_run run;
    size_t n;
    const char *formula = "y ~ x + x^2 + x^3 + x^4 + x^5 + x^6 + x^7 + x^8 + x^9 + x^10";
    const char *const files[] = {"tests/golden/regression/nist/filip.csv", NULL};
    if (regress_files(&run, files, NULL, (lg_regress_options){.formula = formula}, &error))
        fail_msg("%s", error.message);
    const lg_regress_row *rows = lg_regress_rows(run.regress, &n);
    for (size_t i = 0; i < n; i++) assert_int_equal(rows[i].dropped, i == 10);
    assert_non_null(rows[10].reason);
    regress_close(&run);
    assert_int_equal(
        regress_files(&run, files, NULL, (lg_regress_options){.formula = formula, .tolerance = 2}, &error),
        LG_USAGE);
}

/* ---- synthetic tokens ---- */

static const char *const paper[] = {"log_prev_distance=log(max(prev_distance, 1))",
                                    "prev_missing=prev_distance = 0", "log_frequency=log(frequency)", NULL};
#define PAPER                                                                                                \
    "gap ~ domain + tag + wordpos + relpos + difficulty + difficulty^2 + copy1 + copy2 + copy3 + copy4 + "   \
    "log_prev_distance + prev_missing + log_frequency"

static void check_estimate(const char *of, const lg_json_value *ours, const lg_json_value *golden,
                           double tolerance) {
    static const char *const names[][2] = {
        {"estimate", "estimate"}, {"se", "se_cr1"}, {"se_classical", "se_classical"},
        {"se_cr0", "se_cr0"},     {"t", "t_cr1"},   {"p", "p_cr1"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (lg_json_get(golden, names[i][1]))
            check_close(names[i][0], of, golden_member(ours, names[i][0]), golden_member(golden, names[i][1]),
                        tolerance, 0);
}

static void check_rows(const lg_json_value *json, const lg_json_value *golden, double tolerance) {
    static const char *const names[][2] = {{"se", "se_cr1"},        {"se_classical", "se_classical"},
                                           {"se_cr0", "se_cr0"},    {"t", "t_cr1"},
                                           {"p", "p_cr1"},          {"p_classical", "p_classical"},
                                           {"low", "ci95_cr1_low"}, {"high", "ci95_cr1_high"}};
    const lg_json_value *rows = lg_json_get(json, "rows"), *columns = lg_json_get(golden, "columns");
    const lg_json_value *fdr = lg_json_get(golden, "tag_fdr_bh");
    assert_int_equal(rows->length, columns->length);
    for (size_t i = 0; i < rows->length; i++) {
        const lg_json_value *row = golden_element(rows, i);
        const char *term = lg_json_get(row, "term")->string;
        assert_string_equal(term, golden_element(columns, i)->string);
        const double se = golden_number(golden_element(lg_json_get(golden, "se_cr1"), i));
        const double coef = golden_number(golden_element(lg_json_get(golden, "coef"), i));
        assert_int_equal(lg_json_get(row, "dropped")->boolean, isnan(coef));
        assert_int_equal(lg_json_get(row, "reason")->type == LG_JSON_STRING, isnan(coef));
        check_close("coefficient", term, golden_member(row, "estimate"), coef, tolerance, isnan(se) ? 0 : se);
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            double expected = golden_number(golden_element(lg_json_get(golden, names[k][1]), i));
            /* ends of intervals and t may be close to 0 */
            check_close(names[k][0], term, golden_member(row, names[k][0]), expected, tolerance,
                        k == 3                ? 1
                        : k > 5 && !isnan(se) ? se
                                              : 0);
        }
        const lg_json_value *adjusted = lg_json_get(fdr, term);
        if (adjusted)
            check_close("fdr", term, golden_member(row, "p_adjusted"), adjusted->number, tolerance, 0);
        if (!isnan(coef) && lg_json_get(golden, "column_means"))
            check_close("mean", term, golden_member(row, "mean"),
                        golden_number(golden_element(lg_json_get(golden, "column_means"), i)), tolerance, 0);
    }
}

static void check_means(const lg_json_value *json, const lg_json_value *golden, double tolerance) {
    const lg_json_value *means = lg_json_get(json, "adjusted_means"),
                        *expected = lg_json_get(golden, "adjusted_means")->first;
    for (const lg_json_value *m = means->first; m; m = m->next) {
        if (!lg_json_get(m, "tag")) continue;
        const char *tag = lg_json_get(m, "tag")->string;
        assert_non_null(expected);
        assert_string_equal(tag, lg_json_get(expected, "tag")->string);
        static const char *const names[][2] = {{"n", "n"},
                                               {"documents", "documents"},
                                               {"raw_mean", "raw_mean"},
                                               {"adjusted_mean", "adjusted_mean"},
                                               {"se", "se_cr1"},
                                               {"se_classical", "se_classical"},
                                               {"adjusted_mean_unweighted", "adjusted_mean_unweighted"},
                                               {"se_unweighted", "se_cr1_unweighted"}};
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            check_close(names[k][0], tag, golden_member(m, names[k][0]), golden_member(expected, names[k][1]),
                        tolerance, 0);
        expected = expected->next;
    }
    assert_null(expected);
}

static void check_contrasts(const lg_json_value *json, const lg_json_value *golden, double tolerance) {
    const lg_json_value *classes = lg_json_get(golden, "content_minus_function"),
                        *opening = lg_json_get(golden, "opening_minus_closing");
    size_t seen = 0;
    for (const lg_json_value *c = lg_json_get(json, "contrasts")->first; c; c = c->next) {
        if (strcmp(lg_json_get(c, "column")->string, "tag") != 0) continue;
        const char *kind = lg_json_get(c, "kind")->string;
        const bool raw = strcmp(kind, "raw") == 0;
        seen++;
        if (strcmp(lg_json_get(c, "contrast")->string, "content_minus_function") == 0) {
            const lg_json_value *expected = lg_json_get(classes, kind);
            check_estimate(kind, c, expected, tolerance);
            if (!raw) continue;
            check_close("mean", "content", golden_member(c, "first_mean"),
                        golden_member(expected, "content_mean"), tolerance, 0);
            check_close("mean", "function", golden_member(c, "second_mean"),
                        golden_member(expected, "function_mean"), tolerance, 0);
        } else if (raw) {
            check_close("raw", "opening - closing", golden_member(c, "estimate"),
                        golden_member(opening, "raw_estimate"), tolerance, 0);
        } else {
            check_estimate("opening - closing", c, opening, tolerance);
        }
    }
    assert_int_equal(seen, 5);
}

static void check_fit(const lg_json_value *json, const lg_json_value *golden, double tolerance) {
    static const char *const names[] = {"n",   "documents", "k",     "df_resid", "df_cluster", "cr1_factor",
                                        "rss", "tss",       "sigma", "r2",       "adj_r2",     "r2_within"};
    const lg_json_value *fit = lg_json_get(json, "fit");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        check_close(names[i], "fit", golden_member(fit, names[i]), golden_member(golden, names[i]), tolerance,
                    0);
}

/* EXTRA terms, and the set's path without its ending. */
static void check_set(const char *path, const char *extra, double tolerance, unsigned threads) {
    char file[600], result[600], formula[512];
    lg_arena arena = {0};
    lg_error error = {0};
    snprintf(file, sizeof file, "%s.safetensors", path);
    snprintf(result, sizeof result, "%s.json", path);
    snprintf(formula, sizeof formula, "%s%s", PAPER, extra);
    const lg_json_value *golden = golden_read(&arena, result);
    assert_non_null(golden);
    const lg_json_value *weights = lg_json_get(golden, "weights"),
                        *effects = lg_json_get(golden, "fixed_effects");
    regress_run run;
    lg_regress_options options = {.formula = formula,
                                  .cluster = "doc",
                                  .weights = weights->string,
                                  .absorb = effects->string,
                                  .threads = threads};
    if (regress_files(&run, (const char *[]){file, NULL}, paper, options, &error))
        fail_msg("%s", error.message);
    check_rows(run.json, golden, tolerance);
    check_means(run.json, golden, tolerance);
    check_contrasts(run.json, golden, tolerance);
    check_fit(run.json, golden, tolerance);
    regress_close(&run);
    lg_arena_free(&arena);
}

static void test_tiny(void **state) {
    (void)state;
    check_set(BOTH("tiny"), "", 1e-9, 1);
}

static void test_collinear(void **state) {
    (void)state;
    check_set(BOTH("collinear"), " + difficulty_again + constant", 1e-9, 2);
}

static void test_weighted(void **state) {
    (void)state;
    check_set(BOTH("weighted"), "", 1e-9, 2);
}

static void test_fixed(void **state) {
    (void)state;
    check_set(BOTH("fixed"), "", 1e-9, 2);
}

static void check_shared(const char *set, const char *extra, double tolerance) {
    char path[512];
    const char *file = golden_shared(set);
    snprintf(path, sizeof path, "%.*s", (int)(strlen(file) - strlen(".json")), file);
    check_set(path, extra, tolerance, 2);
}

static void test_small(void **state) {
    (void)state;
    check_shared("data/small.json", "", 1e-9);
}

static void test_medium(void **state) {
    (void)state;
    check_shared("data/medium.json", "", 1e-9);
}

static void test_heavy(void **state) {
    (void)state;
    check_shared("data/heavy.json", "", 1e-9);
}

static void test_near_collinear(void **state) {
    (void)state;
    check_shared("data/near_collinear.json", " + nearly_difficulty + too_near_difficulty", 1e-6);
}

/* The same table as CSV: categories by name. */
static void test_csv(void **state) {
    (void)state;
    lg_error error = {0};
    regress_run a, b;
    const char *references[] = {"domain=prose", "tag=noun", "wordpos=whole"};
    lg_regress_options options = {
        .formula = PAPER, .cluster = "doc", .references = references, .n_references = 3};
    if (regress_files(&a, (const char *[]){BOTH("tiny.csv"), NULL}, paper, options, &error) ||
        regress_files(&b, (const char *[]){BOTH("tiny.safetensors"), NULL}, paper, options, &error))
        fail_msg("%s", error.message);
    size_t n, m;
    const lg_regress_row *rows = lg_regress_rows(a.regress, &n), *other = lg_regress_rows(b.regress, &m);
    assert_int_equal(n, m);
    for (size_t i = 0; i < n; i++) { /* levels of a CSV are in the order of their bytes */
        size_t j = 0;
        while (j < m && strcmp(rows[i].term, other[j].term) != 0) j++;
        assert_true(j < m);
        check_close("coefficient", rows[i].term, rows[i].value.estimate, other[j].value.estimate, 1e-10,
                    other[j].value.se);
        check_close("error", rows[i].term, rows[i].value.se, other[j].value.se, 1e-10, 0);
    }
    regress_close(&a);
    regress_close(&b);
}

/* ---- means with clustered errors ---- */

static void test_inference(void **state) {
    (void)state;
    lg_arena arena = {0};
    lg_error error = {0};
    const lg_json_value *clusters =
        lg_json_get(golden_read(&arena, "tests/golden/regression/inference.json"), "clusters.csv");
    const lg_json_value *means = lg_json_get(clusters, "all");
    const char *const files[] = {"tests/golden/inference/clusters.csv", NULL};
    const char *const gap[] = {"gap=nll_a - nll_b", "inverse=1 / bytes", NULL};
    regress_run run;
    if (regress_files(&run, files, gap, (lg_regress_options){.formula = "gap ~ 1", .cluster = "doc"}, &error))
        fail_msg("%s", error.message);
    const lg_estimate *v = &lg_regress_rows(run.regress, &(size_t){0})->value;
    check_close("mean", "gap", v->estimate, golden_member(means, "micro_mean"), 1e-12, 0);
    check_close("se", "gap", v->se, golden_member(means, "micro_se_cr1"), 1e-12, 0);
    check_close("se_cr0", "gap", v->se_cr0, golden_member(means, "micro_se_cr0"), 1e-12, 0);
    check_close("iid", "gap", v->se_classical, golden_member(means, "micro_se_iid"), 1e-12, 0);
    check_close("p", "gap", v->p, golden_member(means, "p"), 1e-12, 0);
    regress_close(&run);
    /* nats per byte: a line through the origin, bytes weighing 1 / bytes */
    lg_regress_options per_byte = {.formula = "gap ~ 0 + bytes", .cluster = "doc", .weights = "inverse"};
    if (regress_files(&run, files, gap, per_byte, &error)) fail_msg("%s", error.message);
    v = &lg_regress_rows(run.regress, &(size_t){0})->value;
    check_close("mean", "gap per byte", v->estimate, golden_member(means, "mean_per_byte"), 1e-12, 0);
    check_close("se", "gap per byte", v->se, golden_member(means, "mean_per_byte_se_cr1"), 1e-12, 0);
    regress_close(&run);
    if (regress_files(&run, files, gap, (lg_regress_options){.formula = "gap ~ class", .cluster = "doc"},
                      &error))
        fail_msg("%s", error.message);
    size_t n;
    const lg_regress_contrast *contrasts = lg_regress_contrasts(run.regress, &n);
    const lg_json_value *expected = lg_json_get(clusters, "content_minus_function");
    assert_int_equal(n, 3);
    for (size_t i = 0; i < n; i++) {
        check_close("difference", contrasts[i].kind, contrasts[i].value.estimate,
                    golden_member(expected, "estimate"), 1e-12, 0);
        check_close("se", contrasts[i].kind, contrasts[i].value.se, golden_member(expected, "se_cr1"), 1e-12,
                    0);
    }
    regress_close(&run);
    lg_arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nist),     cmocka_unit_test(test_tolerance),
                                       cmocka_unit_test(test_tiny),     cmocka_unit_test(test_collinear),
                                       cmocka_unit_test(test_weighted), cmocka_unit_test(test_fixed),
                                       cmocka_unit_test(test_small),    cmocka_unit_test(test_medium),
                                       cmocka_unit_test(test_heavy),    cmocka_unit_test(test_near_collinear),
                                       cmocka_unit_test(test_csv),      cmocka_unit_test(test_inference)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
