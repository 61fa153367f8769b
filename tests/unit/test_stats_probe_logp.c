/* Files of log-probabilities: what is read, what is refused and where, what is written reads back. */
#include "probe_fixture.h"

#include "base/file.h"
#include "stats/probe_logp.h"

static lg_probe_items *three(void) {
    lg_error error = {0};
    lg_probe_items *items = fixture_items();
    static const char *const ids[] = {"7", "\"a b\"", "\"\xC3\xA9\\n\""};
    for (int i = 0; i < 3; i++)
        fixture_item(items, (lg_probe_item){.id = ids[i], .probe = "p", .cell = "", NO_BASELINES},
                     (const char *const[]){"x", "y", "z"}, i == 1 ? 3 : 2, NULL, NULL);
    (void)error;
    return items;
}

static void test_read(void **state) {
    (void)state;
    static const char text[] =
        "\xEF\xBB\xBF{\"id\": 7, \"model\": \"m\", \"logp\": [-1.5, -2e0], \"tokens\": [1, 2], \"note\": "
        "{}}\r\n"
        "\n"
        "{\"logp\": [ -Infinity,\"-inf\", -3], \"id\": \"a\\u0020b\", \"model\": \"n\"}\n"
        "  \t\n"
        "{\"id\": \"\\u00e9\\n\", \"model\": \"m\", \"logp\": [null, -1], \"left_out\": \"straddles\"}\n"
        "{\"id\": \"a b\", \"model\": \"m\", \"logp\": null, \"left_out\": \"too_long\"}\n"
        "{\"id\": 7, \"model\": \"n\", \"logp\": [null, null], \"tokens\": null, \"left_out\": null}";
    lg_error error = {0};
    lg_probe_items *items = three();
    lg_probe_scores *s;
    size_t n;
    if (lg_probe_logp_parse(text, sizeof text - 1, "file", items, &s, &n, &error))
        fail_msg("%s", error.message);
    assert_int_equal(n, 2);
    assert_string_equal(s[0].model, "m");
    assert_string_equal(s[1].model, "n");
    static const uint8_t outcome[2][3] = {{LG_PROBE_SCORED, LG_PROBE_TOO_LONG, LG_PROBE_STRADDLES},
                                          {LG_PROBE_MISSING, LG_PROBE_SCORED, LG_PROBE_MISSING}};
    static const double logp[2][7] = {{-1.5, -2, NAN, NAN, NAN, NAN, -1},
                                      {NAN, NAN, -INFINITY, -INFINITY, -3, NAN, NAN}};
    for (int m = 0; m < 2; m++) {
        assert_memory_equal(s[m].outcome, outcome[m], 3);
        for (int c = 0; c < 7; c++)
            assert_true(isnan(logp[m][c]) ? isnan(s[m].logp[c]) : s[m].logp[c] == logp[m][c]);
    }
    assert_true(s[0].tokens[0] == 1 && s[0].tokens[1] == 2 && !s[0].tokens[2] && !s[1].tokens[2]);

    const char *path = fixture_path("logp.jsonl");
    lg_probe_scores *again;
    size_t n_again;
    lg_mapping first, second;
    assert_int_equal(lg_probe_logp_write(path, items, s, n, &error), LG_OK);
    if (lg_probe_logp_read(path, items, &again, &n_again, &error)) fail_msg("%s", error.message);
    assert_int_equal(n_again, 2);
    for (int m = 0; m < 2; m++) {
        assert_string_equal(again[m].model, s[m].model);
        assert_memory_equal(again[m].outcome, s[m].outcome, 3);
        assert_memory_equal(again[m].tokens, s[m].tokens, 7 * sizeof(uint32_t));
        for (int c = 0; c < 7; c++)
            assert_true(isnan(s[m].logp[c]) ? isnan(again[m].logp[c]) : s[m].logp[c] == again[m].logp[c]);
    }
    const char *copy = fixture_path("copy.jsonl");
    assert_int_equal(lg_probe_logp_write(copy, items, again, n_again, &error), LG_OK);
    assert_int_equal(lg_map(path, &first, &error) | lg_map(copy, &second, &error), LG_OK);
    assert_int_equal(first.size, second.size);
    assert_memory_equal(first.data, second.data, first.size);
    assert_non_null(
        strstr((const char *)first.data, "{\"id\":7,\"model\":\"m\",\"logp\":[-1.5,-2],\"tokens\":[1,2]}\n"));
    lg_unmap(&first);
    lg_unmap(&second);
    lg_probe_logp_free(s, n);
    lg_probe_logp_free(again, n_again);
    lg_probe_logp_free(NULL, 0);
    lg_probe_items_free(items);
}

static void test_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *says;
    } wrong[] = {
        {"", "empty"},
        {" \n\n", "empty"},
        {"[]", "line 1"},
        {"{\"id\": 7, \"model\": \"m\", \"logp\": [-1, -2]", "line 1"},
        {"{\"id\": 7, \"model\": \"m\", \"logp\": [-1, -2]}}", "line 1"},
        {"\n{\"model\": \"m\", \"logp\": [-1, -2]}", "line 2: byte"},
        {"{\"id\": 7, \"logp\": [-1, -2]}", "no \"model\""},
        {"{\"id\": 7, \"model\": \"m\"}", "no \"logp\""},
        {"{\"id\": 8, \"model\": \"m\", \"logp\": [-1, -2]}", "no item has the id 8"},
        {"{\"id\": \"7\", \"model\": \"m\", \"logp\": [-1, -2]}", "no item has the id \"7\""},
        {"{\"id\": 7.0, \"model\": \"m\", \"logp\": [-1, -2]}", "an id is a string or a whole number"},
        {"{\"id\": 7, \"id\": 7, \"model\": \"m\", \"logp\": [-1, -2]}", "\"id\" twice"},
        {"{\"id\": 7, \"model\": \"m\", \"logp\": [-1, -2], \"logp\": [-1, -2]}", "\"logp\" twice"},
        {"{\"id\": 7, \"model\": \"\", \"logp\": [-1, -2]}", "must be a name"},
        {"{\"id\": 7, \"model\": \"a\\u0000b\", \"logp\": [-1, -2]}", "must be a name"},
        {"{\"id\": 7, \"model\": 3, \"logp\": [-1, -2]}", "line 1"},
        {"{\"id\": 7, \"model\": \"m\", \"logp\": [-1]}", "1 log-probabilities, but item 7 has 2 choices"},
        {"{\"id\": 7, \"model\": \"m\", \"logp\": []}", "an empty list"},
        {"{\"id\": 7, \"model\": \"m\", \"logp\": [-1, 0.5]}", "at most 0"},
        {"{\"id\": 7, \"model\": \"m\", \"logp\": [-1, NaN]}", "line 1"},
        {"{\"id\": 7, \"model\": \"m\", \"logp\": [-1, Infinity]}", "line 1"},
        {"{\"id\": 7, \"model\": \"m\", \"logp\": [-1, \"inf\"]}", "\"-inf\""},
        {"{\"id\": 7, \"model\": \"m\", \"logp\": [-1, -1e999]}", "line 1"},
        {"{\"id\": 7, \"model\": \"m\", \"logp\": -1}", "line 1"},
        {"{\"id\": 7, \"model\": \"m\", \"logp\": [-1, -2], \"tokens\": [1]}", "tokens of 1 choices"},
        {"{\"id\": 7, \"model\": \"m\", \"logp\": [-1, -2], \"tokens\": [1, 0]}", "0 tokens"},
        {"{\"id\": 7, \"model\": \"m\", \"logp\": [-1, -2], \"tokens\": [1, null]}",
         "whose \"tokens\" are null"},
        {"{\"id\": 7, \"model\": \"m\", \"logp\": [-1, -2], \"tokens\": [1, 4294967296]}",
         "4294967296 tokens"},
        {"{\"id\": 7, \"model\": \"m\", \"logp\": null, \"left_out\": \"why\"}", "\"left_out\" must be"},
        {"{\"id\": 7, \"model\": \"m\", \"logp\": [-1, -2], \"left_out\": \"too_long\"}",
         "one of them is wrong"},
        {"{\"id\": 7, \"model\": \"m\", \"logp\": [-1, -2]}\n{\"id\": 7, \"model\": \"m\", \"logp\": [-1, "
         "-2]}",
         "line 2: byte 41: item 7 under m a second time, it is also in line 1"},
    };
    lg_probe_items *items = three();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        lg_error error = {0};
        lg_probe_scores *s;
        size_t n;
        lg_status status =
            lg_probe_logp_parse(wrong[i].text, strlen(wrong[i].text), "file", items, &s, &n, &error);
        if (status != LG_BAD_INPUT || s || n || !strstr(error.message, wrong[i].says) ||
            !strstr(error.message, "file"))
            fail_msg("%s: status %d, \"%s\", expected \"%s\"", wrong[i].text, (int)status, error.message,
                     wrong[i].says);
    }
    lg_error error = {0};
    lg_probe_scores *s;
    size_t n;
    assert_int_equal(lg_probe_logp_read(fixture_path("nowhere"), items, &s, &n, &error), LG_BAD_INPUT);
    lg_text many = {0}; /* "model" used for something else */
    for (int i = 0; i <= 1000; i++)
        lg_text_printf(&many, "{\"id\": 7, \"model\": \"%d\", \"logp\": [-1, -2]}\n", i);
    assert_int_equal(lg_probe_logp_parse(many.data, many.length, "file", items, &s, &n, &error),
                     LG_BAD_INPUT);
    assert_non_null(strstr(error.message, "more than 1000 models"));
    lg_text_free(&many);
    lg_probe_items_free(items);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_read), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
