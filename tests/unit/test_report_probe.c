/* Results of probes as JSON, CSV, table and picture: they hold the numbers, and each other's. */
#include "probe_fixture.h"

#include "base/json.h"
#include "lossgap/report.h"

static lg_probe_items *items;
static lg_probe_results *results;

static int make(void **state) {
    (void)state;
    items = fixture_items();
    fixture_pronouns(items, 32, 7);
    fixture_pronouns(items, 64, 7);
    fixture_discourse(items, 16, 7);
    fixture_item(items, (lg_probe_item){.probe = "odd \"one\", <b>", .cell = "*", NO_BASELINES},
                 (const char *const[]){"a", "b"}, 2, NULL, NULL);
    fixture_item(items, (lg_probe_item){.probe = "odd \"one\", <b>", .cell = "x", NO_BASELINES},
                 (const char *const[]){"a", "b"}, 2, NULL, NULL);
    lg_probe_scores scores[] = {fixture_model(items, "A", KNOWS_OR_LAST, 1, 1),
                                fixture_model(items, "B", LAST_MENTIONED, 0, 2)};
    scores[1].outcome[0] = LG_PROBE_STRADDLES;
    results = fixture_evaluate(items, scores, 2);
    for (int m = 0; m < 2; m++) fixture_free_scores(&scores[m]);
    return 0;
}

static int unmake(void **state) {
    (void)state;
    lg_probe_results_free(results);
    lg_probe_items_free(items);
    return 0;
}

static double number(const lg_json_value *row, const char *key) {
    const lg_json_value *value = lg_json_get(row, key);
    if (!value) fail_msg("no %s", key);
    return value->type == LG_JSON_NULL ? NAN : value->number;
}

static void test_json(void **state) {
    (void)state;
    lg_error error = {0};
    lg_arena arena = {0};
    lg_json_value *whole;
    char *text;
    size_t length;
    assert_int_equal(lg_probe_json(results, &text, &length, &error), LG_OK);
    if (lg_json_parse(&arena, text, length, "probes.json", &whole, &error)) fail_msg("%s", error.message);
    assert_string_equal(lg_json_get(whole, "format")->string, "probe");
    assert_int_equal(lg_json_get(whole, "version")->integer, 1);
    assert_int_equal(
        strlen(lg_json_get(lg_json_get(lg_json_get(lg_json_get(whole, "provenance"), "inputs"), "logp"), "A")
                   ->string),
        32);
    const lg_json_value *row = lg_json_get(whole, "rows")->first;
    bool star = false;
    for (size_t i = 0; i < lg_probe_n_rows(results); i++, row = row->next) {
        const lg_probe_row *r = lg_probe_row_at(results, i);
        assert_string_equal(lg_json_get(row, "model")->string, r->at.model);
        assert_string_equal(lg_json_get(row, "probe")->string, r->at.probe);
        assert_true(r->at.all_distances ? isnan(number(row, "distance"))
                                        : number(row, "distance") == (double)r->at.distance);
        const char *cell = lg_json_get(row, "cell")->string;
        assert_string_equal(cell, !r->at.cell ? "*" : strcmp(r->at.cell, "*") ? r->at.cell : "'*'");
        star |= !strcmp(cell, "'*'");
        fixture_near(number(row, "margin"), r->summed.margin.mean, 0, "margin");
        fixture_near(number(row, "margin_high"), r->summed.margin.high, 0, "high of margin");
        fixture_near(number(row, "accuracy"), r->summed.accuracy.clustered.mean, 0, "accuracy");
        fixture_near(number(row, "accuracy_wilson_low"), r->summed.accuracy.wilson_low, 0, "Wilson");
        fixture_near(number(row, "accuracy_chance"), r->summed.accuracy.chance, 0, "chance");
        fixture_near(number(row, "normalized_margin"), r->normalized.margin.mean, 0, "normalised margin");
        fixture_near(number(row, "loss_per_token_p"), r->loss_per_token.p, 0, "p of loss");
        fixture_near(number(row, "straddles"), (double)r->straddles, 0, "straddles");
    }
    assert_true(star && !row);
    row = lg_json_get(whole, "pairs")->first;
    for (size_t i = 0; i < lg_probe_n_pairs(results); i++, row = row->next) {
        assert_string_equal(lg_json_get(row, "model_a")->string, "A");
        assert_string_equal(lg_json_get(row, "model_b")->string, "B");
        fixture_near(number(row, "margin_difference"), lg_probe_pair_at(results, i)->margin.mean, 0,
                     "difference");
    }
    row = lg_json_get(whole, "bias")->first;
    for (size_t i = 0; i < lg_probe_n_biases(results); i++, row = row->next) {
        const lg_probe_bias *b = lg_probe_bias_at(results, i);
        assert_string_equal(lg_json_get(row, "verdict")->string, b->verdict);
        fixture_near(number(row, "recency"), b->part[LG_PROBE_RECENCY].mean, 0, "recency");
        fixture_near(number(row, "recency_picks"), b->picks[LG_PROBE_RECENCY].clustered.mean, 0, "picks");
        fixture_near(number(row, "primacy_se"), b->part[LG_PROBE_PRIMACY].se, 0, "primacy");
        if (!strcmp(b->at.model, "B") && !strcmp(b->at.probe, "pronoun") && !b->at.cell &&
            b->at.distance == 64)
            assert_string_equal(lg_json_get(row, "found")->string, "recency");
    }
    assert_int_equal(lg_json_get(whole, "picks")->length, lg_probe_n_picks(results));
    assert_int_equal(lg_json_get(whole, "baselines")->length, lg_probe_n_baselines(results));
    assert_true(lg_probe_n_baselines(results) == 12);
    lg_arena_free(&arena);
    free(text);
}

/* Commas outside of quotes. */
static size_t commas(const char *line) {
    size_t n = 0;
    for (bool quoted = false; *line && (quoted || *line != '\n'); line++) {
        quoted ^= *line == '"';
        n += !quoted && *line == ',';
    }
    return n;
}

static void test_csv(void **state) {
    (void)state;
    lg_error error = {0};
    const size_t counts[] = {lg_probe_n_rows(results), lg_probe_n_pairs(results), lg_probe_n_biases(results),
                             lg_probe_n_picks(results), lg_probe_n_baselines(results)};
    for (int list = 0; list < LG_N_PROBE_LISTS; list++) {
        char *text;
        size_t length, lines = 0;
        assert_int_equal(lg_probe_csv(results, (lg_probe_list)list, &text, &length, &error), LG_OK);
        for (const char *line = text; *line; line = strchr(line, '\n') + 1, lines++)
            assert_int_equal(commas(line), commas(text));
        assert_int_equal(lines, counts[list] + 1);
        if (list == LG_PROBE_ROWS) {
            assert_non_null(strstr(text, "\nB,\"odd \"\"one\"\", <b>\",,'*',1,"));
            assert_int_equal(strncmp(text, "model,probe,distance,cell,items,groups,scored,", 46), 0);
        }
        free(text);
    }
}

static void test_table(void **state) {
    (void)state;
    lg_error error = {0};
    lg_table_style style = {0};
    char *text, *wide;
    size_t length;
    assert_int_equal(lg_probe_table(results, &style, &text, &length, &error), LG_OK);
    assert_non_null(strstr(text, "pronoun, B: 1 of 56 items left out: 1 where a token crosses the boundary"));
    assert_non_null(strstr(
        text, "pronoun, B: prefers the last-mentioned (+3.00 nats, picks it in 100 %); no knowledge found"));
    assert_non_null(strstr(text, "[cells differ in scored items"));
    assert_non_null(strstr(text, "most_recent"));
    assert_null(strstr(text, "he-first/first"));
    style.full = true;
    assert_int_equal(lg_probe_table(results, &style, &wide, &length, &error), LG_OK);
    assert_non_null(strstr(wide, "he-first/first"));
    assert_non_null(strstr(wide, "per token"));
    free(text);
    free(wide);
    style = (lg_table_style){.width = 80};
    assert_int_equal(lg_probe_table(results, &style, &text, &length, &error), LG_OK);
    assert_null(strstr(text, "Wilson %"));
    free(text);
}

static void test_view(void **state) {
    (void)state;
    lg_error error = {0};
    lg_arena arena = {0};
    lg_json_value *whole;
    char *text;
    size_t length;
    assert_int_equal(lg_probe_view(results, &text, &length, &error), LG_OK);
    if (lg_json_parse(&arena, text, length, "probes.vl.json", &whole, &error)) fail_msg("%s", error.message);
    const lg_json_value *point = lg_json_get(lg_json_get(whole, "data"), "values")->first;
    size_t points = 0;
    for (; point; point = point->next, points++) {
        const lg_probe_row *row =
            fixture_row(results, lg_json_get(point, "model")->string, lg_json_get(point, "probe")->string,
                        (long)number(point, "distance"), NULL);
        fixture_near(number(point, "accuracy"), row->summed.accuracy.clustered.mean, 0, "accuracy");
        fixture_near(number(point, "margin_low"), row->summed.margin.low, 0, "low of margin");
        assert_true(number(point, "accuracy_low") >= 0 && number(point, "accuracy_high") <= 1);
    }
    assert_int_equal(points, 8); /* pronoun 32, 64; discourse 16; odd 0: two models each */
    assert_int_equal(lg_json_get(whole, "vconcat")->length, 2);
    assert_non_null(strstr(text, "symlog")); /* a distance of 0 */
    lg_arena_free(&arena);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_json), cmocka_unit_test(test_csv),
                                       cmocka_unit_test(test_table), cmocka_unit_test(test_view)};
    return cmocka_run_group_tests(tests, make, unmake);
}
