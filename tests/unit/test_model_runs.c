/* Runs: steps and tokens in names, RUNS.json and what it refuses, folders that are checkpoints, and whether
   one is all there. */
#include <utime.h>

#include "base/error.h"
#include "corpus_files.h"
#include "failing_malloc.h"
#include "model/runs.h"

/* ---- names ---- */

enum { NO_STEP = -1, NO_TOKENS = -1 };

static void steps_are_read_from_names(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int64_t step, tokens;
        bool several;
    } table[] = {
        {"step100", 100, NO_TOKENS, false},
        {"step-100", 100, NO_TOKENS, false},
        {"step_100", 100, NO_TOKENS, false},
        {"step=100", 100, NO_TOKENS, false},
        {"STEP100", 100, NO_TOKENS, false},
        {"step0", 0, NO_TOKENS, false},
        {"checkpoint-100", 100, NO_TOKENS, false},
        {"checkpoint100", 100, NO_TOKENS, false},
        {"ckpt-5000", 5000, NO_TOKENS, false},
        {"global_step100", 100, NO_TOKENS, false},
        {"globalstep100", 100, NO_TOKENS, false},
        {"iter_0001000", 1000, NO_TOKENS, false},
        {"iteration-7", 7, NO_TOKENS, false},
        {"steps_20", 20, NO_TOKENS, false},
        {"step10k", 10000, NO_TOKENS, false},
        {"step1.5M", 1500000, NO_TOKENS, false},
        {"step100-hf", 100, NO_TOKENS, false},
        {"run7-step100-seed3", 100, NO_TOKENS, false},
        {"step1000-tokens4B", 1000, 4000000000, false},
        {"step1000-tokens-4.5B", 1000, 4500000000, false},
        {"stage1-step596057-tokens1251B", 596057, 1251000000000, false},
        {"step10-4Btokens", 10, 4000000000, false},
        {"4B-tokens-step10", 10, 4000000000, false},
        {"step10_tokens81920", 10, 81920, false},
        {"allenai/OLMo-2-1B@stage1-step1000-tokens5B", 1000, 5000000000, false},
        {"step100-step200", 200, NO_TOKENS, true},
        {"checkpoint-100-step100", 100, NO_TOKENS, false},
        {"step100.2", 100, NO_TOKENS, false},
        {"step1e5", NO_STEP, NO_TOKENS, false}, /* 1 would be a lie */
        {"step3b2", NO_STEP, NO_TOKENS, false},
        {"step", NO_STEP, NO_TOKENS, false},
        {"step--1", NO_STEP, NO_TOKENS, false},
        {"final", NO_STEP, NO_TOKENS, false},
        {"", NO_STEP, NO_TOKENS, false},
        {"100", NO_STEP, NO_TOKENS, false},
        {"timestep100", NO_STEP, NO_TOKENS, false},
        {"footsteps", NO_STEP, NO_TOKENS, false},
        {"step99999999999999999999", NO_STEP, NO_TOKENS, false},
        {"step10000000000T", NO_STEP, NO_TOKENS, false},
        {"epoch3", NO_STEP, NO_TOKENS, false},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        lg_step_name step;
        bool found = lg_step_of_name(table[i].name, &step);
        if (found != (table[i].step >= 0) || (found && step.step != (uint64_t)table[i].step) ||
            (found && step.has_tokens != (table[i].tokens >= 0)) ||
            (step.has_tokens && step.tokens != (uint64_t)table[i].tokens) || step.several != table[i].several)
            fail_msg("'%s' was read as step %lld, tokens %lld", table[i].name,
                     found ? (long long)step.step : -1, step.has_tokens ? (long long)step.tokens : -1);
    }
}

/* ---- RUNS.json ---- */

static lg_runs *create(void) {
    lg_runs *runs;
    lg_error error = {0};
    assert_int_equal(lg_runs_create(&runs, &error), LG_OK);
    return runs;
}

static void files_are_read(void **state) {
    (void)state;
    static const char text[] = "{\"baseline\": \"b\", \"tokens_per_step\": 10, \"runs\": ["
                               "{\"name\": \"a\", \"checkpoints\": \"fr/a/step*\", \"tokens_per_step\": 100},"
                               "{\"name\": \"b\", \"checkpoints\": [\"fr/b\", {\"path\": \"fr/other/final\", "
                               "\"step\": 9, \"tokens\": 95},"
                               " {\"path\": \"org/model@step1000-tokens4B\"}]}]}";
    put_text("fr/a/step1/config.json", "{}");
    put_text("fr/a/step20/config.json", "{}");
    put_text("fr/a/logs/x", "");
    put_text("fr/b/checkpoint-5/config.json", "{}");
    put_text("fr/other/final/config.json", "{}");
    put_text("runs.json", text);
    lg_runs *runs = create();
    lg_error error = {0};
    assert_int_equal(lg_runs_read(runs, in_scratch("runs.json"), &error), LG_OK);
    assert_int_equal(lg_runs_find(runs, &error), LG_OK);
    assert_int_equal(lg_runs_count(runs), 2);
    assert_string_equal(lg_runs_baseline(runs), "b");
    const lg_run *a = lg_runs_at(runs, 0), *b = lg_runs_at(runs, 1);
    assert_string_equal(a->name, "a");
    assert_int_equal(a->n_checkpoints, 2);
    assert_int_equal(a->checkpoints[0].step, 1);
    assert_int_equal(a->checkpoints[1].step, 20);
    assert_int_equal(a->checkpoints[1].tokens, 2000);
    assert_int_equal(a->checkpoints[1].tokens_from, LG_TOKENS_PER_STEP);
    assert_string_equal(a->checkpoints[1].where, in_scratch("fr/a/step20"));
    assert_int_equal(b->n_checkpoints, 3);
    assert_int_equal(b->checkpoints[0].step, 5);
    assert_int_equal(b->checkpoints[0].tokens, 50); /* the file's own */
    assert_int_equal(b->checkpoints[1].step, 9);
    assert_int_equal(b->checkpoints[1].tokens, 95);
    assert_int_equal(b->checkpoints[1].tokens_from, LG_TOKENS_GIVEN);
    assert_int_equal(b->checkpoints[2].step, 1000);
    assert_string_equal(b->checkpoints[2].where, "org/model@step1000-tokens4B");
    assert_int_equal(lg_runs_n_remarks(runs), 0);
    lg_runs_free(runs);
}

static void wrong_files_are_refused_with_the_place(void **state) {
    (void)state;
    static const struct {
        const char *text, *says;
    } table[] = {
        {"[]", "must hold an object"},
        {"{}", "must have \"runs\""},
        {"{\"runs\": []}", "a list with a run in it"},
        {"{\"runs\": [1]}", "runs[0] must be an object"},
        {"{\"runs\": [{\"checkpoints\": \"x\"}]}", "runs[0] needs a \"name\""},
        {"{\"runs\": [{\"name\": \"a b\", \"checkpoints\": \"x\"}]}", "runs[0] needs a \"name\""},
        {"{\"runs\": [{\"name\": \"a\"}]}", "runs[0] has no \"checkpoints\""},
        {"{\"runs\": [{\"name\": \"a\", \"checkpoints\": 5}]}", "runs[0].checkpoints must be a glob"},
        {"{\"runs\": [{\"name\": \"a\", \"checkpoints\": []}]}", "runs[0].checkpoints must be a glob"},
        {"{\"runs\": [{\"name\": \"a\", \"checkpoints\": [[\"x\"]]}]}", "runs[0].checkpoints[0] must be"},
        {"{\"runs\": [{\"name\": \"a\", \"checkpoints\": [{\"step\": 1}]}]}",
         "runs[0].checkpoints[0] has no path"},
        {"{\"runs\": [{\"name\": \"a\", \"checkpoints\": [{\"path\": \"final\"}]}]}",
         "runs[0].checkpoints[0] has no step"},
        {"{\"runs\": [{\"name\": \"a\", \"checkpoints\": [\"x\", {\"path\": \"y\", \"step\": -1}]}]}",
         "runs[0].checkpoints[1].step must be a whole number"},
        {"{\"runs\": [{\"name\": \"a\", \"checkpoints\": [{\"path\": \"y\", \"step\": 1.5}]}]}",
         "step must be a whole number"},
        {"{\"runs\": [{\"name\": \"a\", \"checkpoints\": [{\"path\": \"y\", \"step\": 1, \"stepp\": 1}]}]}",
         "checkpoints[0].stepp is no key of a checkpoint"},
        {"{\"runs\": [{\"name\": \"a\", \"checkpoints\": \"x\", \"tokens_per_step\": 0}]}",
         "runs[0].tokens_per_step must be"},
        {"{\"runs\": [{\"name\": \"a\", \"checkpoints\": \"x\", \"color\": 1}]}",
         "runs[0].color is no key of a run"},
        {"{\"runs\": [{\"name\": \"a\", \"checkpoints\": \"x\"}, {\"name\": \"a\", \"checkpoints\": \"x\"}]}",
         "runs[1].name: there is a run a already"},
        {"{\"runs\": [{\"name\": \"a\", \"checkpoints\": \"x\"}], \"run\": 1}", "run is no key of this file"},
        {"{\"runs\": [{\"name\": \"a\", \"checkpoints\": \"x\"}], \"baseline\": \"z\"}",
         "there is no such run"},
        {"{\"runs\": [{\"name\": \"a\", \"name\": \"b\", \"checkpoints\": \"x\"}]}", "name"},
        {"{\"runs\": [", "byte"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        lg_runs *runs = create();
        lg_error error = {0};
        lg_status status = lg_runs_parse(runs, table[i].text, strlen(table[i].text), "RUNS.json", "", &error);
        if (status != LG_BAD_INPUT || !strstr(error.message, table[i].says) ||
            !strstr(error.message, "RUNS.json"))
            fail_msg("%s: %d, %s", table[i].text, status, error.message);
        lg_runs_free(runs);
    }
}

/* ---- folders ---- */

static void folders_of_runs_are_searched(void **state) {
    (void)state;
    put_text("f/run/step10/config.json", "{}");
    put_text("f/run/step5/config.json", "{}");
    put_text("f/run/step5-again/config.json", "{}"); /* step 5 twice */
    put_text("f/run/notes.txt", "");
    put_text("f/run/step7", "a file");
    put_text("f/nested/step30/hf/config.json", "{}");
    put_text("f/final/config.json", "{}");
    put_text("f/trained/config.json", "{}");
    put_text("f/trained/trainer_state.json", "{\"global_step\": 77, \"num_input_tokens_seen\": 4242}");
    put_text("f/counted/checkpoint-3/trainer_state.json", "{\"log\": [1], \"num_input_tokens_seen\": 999}");
    put_text("f/counted/checkpoint-4/trainer_state.json", "{\"num_input_tokens_seen\": 0}");
    put_text("f/counted/checkpoint-5/trainer_state.json", "{broken");
    lg_runs *runs = create();
    lg_error error = {0};
    assert_int_equal(lg_runs_add(runs, "run", in_scratch("f/run"), &error), LG_OK);
    assert_int_equal(lg_runs_add(runs, "run", in_scratch("f/run/step1*"), &error), LG_OK); /* again */
    assert_int_equal(lg_runs_add(runs, "nested", in_scratch("f/nested/step*/hf"), &error), LG_OK);
    assert_int_equal(lg_runs_add(runs, "final", in_scratch("f/final"), &error), LG_OK);
    assert_int_equal(lg_runs_add(runs, "trained", in_scratch("f/trained"), &error), LG_OK);
    assert_int_equal(lg_runs_add(runs, "counted", in_scratch("f/counted/*"), &error), LG_OK);
    assert_int_equal(lg_runs_add(runs, "none", in_scratch("f/nothing/*"), &error), LG_OK);
    for (int round = 0; round < 2; round++) { /* a second look finds the same */
        assert_int_equal(lg_runs_find(runs, &error), LG_OK);
        const lg_run *run = lg_runs_at(runs, 0);
        assert_int_equal(run->n_checkpoints, 2);
        assert_int_equal(run->checkpoints[0].step, 5);
        assert_string_equal(run->checkpoints[0].where, in_scratch("f/run/step5"));
        assert_int_equal(run->checkpoints[0].tokens_from, LG_TOKENS_UNKNOWN);
        assert_int_equal(run->checkpoints[1].step, 10);
        assert_int_equal(lg_runs_at(runs, 1)->n_checkpoints, 1);
        assert_int_equal(lg_runs_at(runs, 1)->checkpoints[0].step, 30);
        assert_int_equal(lg_runs_at(runs, 2)->n_checkpoints, 0);
        assert_int_equal(lg_runs_at(runs, 3)->checkpoints[0].step, 77);
        assert_int_equal(lg_runs_at(runs, 3)->checkpoints[0].tokens, 4242);
        const lg_run *counted = lg_runs_at(runs, 4);
        assert_int_equal(counted->n_checkpoints, 3);
        assert_int_equal(counted->checkpoints[0].tokens, 999);
        assert_int_equal(counted->checkpoints[0].tokens_from, LG_TOKENS_TRAINER);
        assert_int_equal(counted->checkpoints[1].tokens_from, LG_TOKENS_UNKNOWN);
        assert_int_equal(counted->checkpoints[2].tokens_from, LG_TOKENS_UNKNOWN);
        assert_int_equal(lg_runs_at(runs, 5)->n_checkpoints, 0);
        assert_int_equal(lg_runs_n_remarks(runs), 2);
        assert_non_null(strstr(lg_runs_remark(runs, 0)->text, "step 5 again"));
        assert_false(lg_runs_remark(runs, 0)->taken);
        assert_non_null(strstr(lg_runs_remark(runs, 1)->text, "no step in its name"));
    }
    assert_int_equal(lg_runs_set_tokens_per_step(runs, NULL, 10, &error), LG_OK);
    assert_int_equal(lg_runs_set_tokens_per_step(runs, "run", 1000, &error), LG_OK);
    assert_int_equal(lg_runs_set_tokens_per_step(runs, "nobody", 1, &error), LG_USAGE);
    assert_int_equal(lg_runs_find(runs, &error), LG_OK);
    assert_int_equal(lg_runs_at(runs, 0)->checkpoints[1].tokens, 10000);
    assert_int_equal(lg_runs_at(runs, 1)->checkpoints[0].tokens, 300);
    lg_runs_free(runs);
}

/* ---- whole or not ---- */

/* A safetensors file of one tensor of N bytes. */
static size_t make_weights(unsigned char *out, size_t n) {
    char header[128];
    uint64_t length = (uint64_t)snprintf(
        header, sizeof header, "{\"w\":{\"dtype\":\"U8\",\"shape\":[%zu],\"data_offsets\":[0,%zu]}}", n, n);
    memcpy(out, &length, 8);
    memcpy(out + 8, header, length);
    memset(out + 8 + length, 7, n);
    return 8 + length + n;
}

static lg_checkpoint_look look_at(const char *name, bool tokenizer) {
    lg_checkpoint_look look;
    lg_error error = {0};
    assert_int_equal(lg_checkpoint_look_at(in_scratch(name), tokenizer, &look, &error), LG_OK);
    assert_int_equal(strlen(look.signature), look.whole || look.signature[0] ? 32 : 0);
    assert_true(look.whole == (look.why[0] == '\0'));
    return look;
}

static void lacks(const char *name, const char *what) {
    lg_checkpoint_look look = look_at(name, true);
    if (look.whole || !strstr(look.why, what)) fail_msg("%s: '%s', not '%s'", name, look.why, what);
}

static void half_written_is_not_whole(void **state) {
    (void)state;
    unsigned char weights[400];
    size_t size = make_weights(weights, 100);
    static const char tokenizer[] = "{\"model\": {\"vocab\": {\"a\": 1}}}";
    lacks("w/none", "cannot be read");
    put_text("w/step1/readme.txt", "");
    lacks("w/step1", "there is no config.json");
    put_text("w/step1/config.json", "");
    lacks("w/step1", "config.json is empty");
    put_text("w/step1/config.json", "{\"model_type\": \"olm");
    lacks("w/step1", "config.json lacks its end");
    put_text("w/step1/config.json", "{\"rope\": {\"a\": 1}");
    lacks("w/step1", "config.json lacks its end");
    put_text("w/step1/config.json", "{\"model_type\": \"olmo3\"}\n");
    lacks("w/step1", "there is no tokenizer.json");
    for (size_t n = 0; n + 1 < strlen(tokenizer); n++) { /* every cut */
        put_bytes("w/step1/tokenizer.json", tokenizer, n);
        lacks("w/step1", "tokenizer.json");
    }
    put_text("w/step1/tokenizer.json", tokenizer);
    lacks("w/step1", "there is no model.safetensors");
    for (size_t n = 0; n < size; n++) { /* every cut */
        put_bytes("w/step1/model.safetensors", weights, n);
        lacks("w/step1", "model.safetensors");
    }
    put_bytes("w/step1/model.safetensors", weights, size);
    lg_checkpoint_look look = look_at("w/step1", true);
    assert_true(look.whole);
    /* room made in advance, nothing written yet */
    unsigned char zeros[400] = {0};
    put_bytes("w/step1/model.safetensors", zeros, size);
    lacks("w/step1", "has no header yet");
    assert_string_not_equal(look.signature, look_at("w/step1", true).signature);
    /* without a tokenizer, where none is needed */
    put_bytes("w/step2/model.safetensors", weights, size);
    put_text("w/step2/config.json", "{}");
    assert_true(look_at("w/step2", false).whole);
    lacks("w/step2", "--tokenizer");
    /* a name that says it */
    put_bytes("w/tmp-checkpoint-5/model.safetensors", weights, size);
    put_text("w/tmp-checkpoint-5/config.json", "{}");
    lacks("w/tmp-checkpoint-5", "being written");
}

static void shards_are_all_needed(void **state) {
    (void)state;
    unsigned char weights[400];
    size_t size = make_weights(weights, 100);
    put_text("s/step1/config.json", "{}");
    put_text("s/step1/tokenizer.json", "{}");
    put_bytes("s/step1/model-00001-of-00002.safetensors", weights, size);
    lacks("s/step1", "there is no model.safetensors.index.json");
    put_text("s/step1/model.safetensors.index.json", "{\"weight_map\": {\"a\": \"model-00001-of-0000");
    lacks("s/step1", "index.json lacks its end");
    put_text("s/step1/model.safetensors.index.json",
             "{\"weight_map\": {\"a\": \"model-00001-of-00002.safetensors\","
             " \"b\": \"model-00002-of-00002.safetensors\", \"c\": \"model-00001-of-00002.safetensors\"}}");
    lacks("s/step1", "there is no model-00002-of-00002.safetensors");
    put_bytes("s/step1/model-00002-of-00002.safetensors", weights, size - 1);
    lacks("s/step1", "model-00002-of-00002.safetensors has");
    put_bytes("s/step1/model-00002-of-00002.safetensors", weights, size);
    assert_true(look_at("s/step1", true).whole);
}

static void broken_is_another_thing_than_unfinished(void **state) {
    (void)state;
    /* Complete nonsense does not get better by waiting: it is for lg_model_open to refuse. */
    unsigned char nonsense[100];
    memset(nonsense, 'x', sizeof nonsense);
    put_text("n/step1/config.json", "{\"a\": oops}");
    put_text("n/step1/tokenizer.json", "{}");
    put_bytes("n/step1/model.safetensors", nonsense, sizeof nonsense);
    assert_true(look_at("n/step1", true).whole);
}

static void a_touched_file_changes_the_signature(void **state) {
    (void)state;
    unsigned char weights[400];
    size_t size = make_weights(weights, 100);
    put_text("t/step1/config.json", "{}");
    put_bytes("t/step1/model.safetensors", weights, size);
    lg_checkpoint_look one = look_at("t/step1", false), two = look_at("t/step1", false);
    assert_true(one.whole);
    assert_string_equal(one.signature, two.signature);
    struct utimbuf times = {1000000000, 1000000000};
    assert_int_equal(utime(in_scratch("t/step1/model.safetensors"), &times), 0);
    assert_string_not_equal(one.signature, look_at("t/step1", false).signature);
    put_text("t/step1/log.txt", "not looked at");
    two = look_at("t/step1", false);
    assert_int_equal(utime(in_scratch("t/step1/log.txt"), &times), 0);
    assert_string_equal(two.signature, look_at("t/step1", false).signature);
}

/* ---- memory ---- */

static lg_status read_and_find(void *context, lg_error *error) {
    (void)context;
    lg_runs *runs = NULL;
    lg_checkpoint_look look;
    lg_status status = lg_runs_create(&runs, error);
    if (!status) status = lg_runs_read(runs, in_scratch("runs.json"), error);
    if (!status) status = lg_runs_add(runs, "run", in_scratch("f/run"), error);
    if (!status) status = lg_runs_add(runs, "final", in_scratch("f/final"), error);
    if (!status) status = lg_runs_find(runs, error);
    if (!status) status = lg_checkpoint_look_at(in_scratch("s/step1"), true, &look, error);
    if (!status && !look.whole) status = lg_fail_memory(error); /* a lie is as bad */
    lg_runs_free(runs);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    survives_failing_malloc(read_and_find, NULL, "runs");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_read_from_names),
        cmocka_unit_test(files_are_read),
        cmocka_unit_test(wrong_files_are_refused_with_the_place),
        cmocka_unit_test(folders_of_runs_are_searched),
        cmocka_unit_test(half_written_is_not_whole),
        cmocka_unit_test(shards_are_all_needed),
        cmocka_unit_test(broken_is_another_thing_than_unfinished),
        cmocka_unit_test(a_touched_file_changes_the_signature),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
