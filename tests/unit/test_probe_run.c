/* run.json: what is written is read as it was; what is damaged is refused, with what is wrong. */
#include "score_fake.h"

#include "lossgap/probe.h"
#include "probe/run_file.h"

static lg_probe_run_model models[] = {
    {"a",
     "00000000000000000000000000000002",
     "00000000000000000000000000000003",
     {LG_PRECISION_F32, 2047, 1024, "avx512", "00000000000000000000000000000001"}},
    {"b \"quoted\"",
     "00000000000000000000000000000012",
     "00000000000000000000000000000013",
     {LG_PRECISION_BF16, LG_PREFIX_NONE, 0, "c", "00000000000000000000000000000011"}},
};
static const lg_probe_run run = {"0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210",
                                 models, 2, NULL};

static void test_round_trip(void **state) {
    (void)state;
    lg_error error = {0};
    lg_probe_run read;
    const char *path = in_folder("run.json");
    assert_int_equal(lg_probe_run_write(&run, "lossgap probe", path, &error), LG_OK);
    assert_int_equal(lg_probe_run_read(path, &read, &error), LG_OK);
    assert_string_equal(read.items, run.items);
    assert_string_equal(read.logp, run.logp);
    assert_int_equal(read.n_models, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(read.models[i].name, models[i].name);
        assert_string_equal(read.models[i].model, models[i].model);
        assert_string_equal(read.models[i].tokenizer, models[i].tokenizer);
        assert_string_equal(read.models[i].plan.key, models[i].plan.key);
        assert_string_equal(read.models[i].plan.isa, models[i].plan.isa);
        assert_int_equal(read.models[i].plan.precision, models[i].plan.precision);
        assert_int_equal(read.models[i].plan.prefix, models[i].plan.prefix);
        assert_int_equal(read.models[i].plan.context, models[i].plan.context);
    }
    lg_probe_run_free(&read);
    assert_int_equal(lg_probe_run_read(in_folder("none.json"), &read, &error), LG_BAD_INPUT);
    lg_probe_run_free(&read);
}

/* The text with its first OLD replaced by NEW. */
static void check_refused(const char *old, const char *new, const char *message) {
    lg_error error = {0};
    lg_probe_run read;
    lg_text text = {0}, changed = {0};
    lg_probe_put_run(&text, &run, "x");
    const char *at = strstr(text.data, old);
    if (!at) fail_msg("no %s", old);
    lg_text_put(&changed, text.data, (size_t)(at - text.data));
    lg_text_puts(&changed, new);
    lg_text_puts(&changed, at + strlen(old));
    assert_int_equal(lg_probe_run_parse(changed.data, changed.length, "run.json", &read, &error),
                     LG_BAD_INPUT);
    if (!strstr(error.message, message) || strncmp(error.message, "run.json:", 9))
        fail_msg("%s -> %s: %s", old, new, error.message);
    assert_null(read.memory);
    lg_text_free(&text);
    lg_text_free(&changed);
}

static void test_refused(void **state) {
    (void)state;
    check_refused("probe run", "scores", "not what lossgap probe writes");
    check_refused("\"version\": 1", "\"version\": 2", "another version");
    check_refused("0123456789abcdef0123456789abcdef", "0123", "without \"items\"");
    check_refused("\"logp\"", "\"loss\"", "without \"items\"");
    check_refused("\"a\"", "\"\"", "model 0");
    check_refused("\"a\"", "\"b \\\"quoted\\\"\"", "model 1");
    check_refused("\"f32\"", "\"f16\"", "model 0");
    check_refused("2047", "-3", "model 0");
    check_refused("1024", "0", "model 0");
    check_refused("00000000000000000000000000000011", "X0000000000000000000000000000011", "model 1");
    check_refused("[", "[7,", "model 0");
    check_refused("}\n ]", "}\n ", "byte");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_round_trip), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, fake_enter, fake_leave);
}
