/* Scoring probe items when memory runs out: at every single allocation, an error and nothing lost. */
#include "failing_malloc.h"

#include <stdio.h>
#include <unistd.h>

#include "lossgap/probe.h"
#include "probe/items.h"
#include "probe/run_file.h"
#include "probe/score.h"
#include "tokenizer_fixture.h"

static lg_status zero_score(void *context, const lg_row *rows, size_t n_rows, unsigned columns,
                            const lg_monitor *monitor, lg_error *error) {
    (void)context, (void)columns, (void)monitor, (void)error;
    for (size_t r = 0; r < n_rows; r++) {
        for (size_t i = rows[r].first; i < rows[r].n; i++) rows[r].nll[i - rows[r].first] = 1;
        for (size_t b = 0; b < rows[r].n_branches; b++)
            for (size_t i = 0; i < rows[r].branches[b].n; i++) rows[r].branches[b].nll[i] = 1;
    }
    return LG_OK;
}

typedef struct inputs {
    lg_probe_items *items;
    lg_tokenizer *tokenizer;
    char journal[512];
} inputs;

static lg_status score(void *context, lg_error *error) {
    const inputs *in = context;
    const lg_scorer scorer = {.vocab_size = 300, .max_tokens = 40, .score = zero_score};
    const lg_probe_reading how = {
        .tokenizer = in->tokenizer, .prefix = 3, .vocabulary = 300, .model = "m", .threads = 1};
    lg_probe_rows rows;
    lg_probe_scores scores = {0};
    lg_status status = lg_probe_rows_make(in->items, &how, NULL, &rows, error);
    if (status) return status;
    status = lg_probe_scores_create(&rows, "m", &scores, error);
    if (!status)
        status = lg_probe_score_rows(&scorer, &rows, in->journal, (lg_hash){1, 2}, NULL, &scores, error);
    lg_probe_scores_free(&scores);
    lg_probe_rows_free(&rows);
    return status;
}

static void scoring(void **state) {
    (void)state;
    lg_error error = {0};
    inputs in = {0};
    lg_text text = {0};
    char *json = tokenizer_json("null", BYTE_LEVEL, "[]", "[]", "", NULL);
    assert_int_equal(lg_tokenizer_parse(json, strlen(json), "bytes", &in.tokenizer, &error), LG_OK);
    free(json);
    for (int i = 0; i < 12; i++)
        lg_text_printf(
            &text,
            "{\"id\":%d,\"probe\":\"p\",\"distance\":1,\"prompt\":\"prompt %d\",\"choices\":[\"ab\","
            "\"abcd\",\"x\"],\"answer\":0}\n",
            i, i);
    assert_int_equal(lg_probe_items_parse(text.data, text.length, "t", &in.items, &error), LG_OK);
    const char *tmp = getenv("TMPDIR");
    snprintf(in.journal, sizeof in.journal, "%s/lossgap-probe-%ld", tmp && *tmp ? tmp : "/tmp",
             (long)getpid());
    survives_failing_malloc(score, &in, "score");
    lg_text_free(&text);
    lg_probe_items_free(in.items);
    lg_tokenizer_close(in.tokenizer);
}

static lg_status read_run(void *context, lg_error *error) {
    const lg_text *text = context;
    lg_probe_run run;
    lg_status status = lg_probe_run_parse(text->data, text->length, "t", &run, error);
    if (!status) {
        lg_text again = {0};
        lg_probe_put_run(&again, &run, "x");
        if (again.failed) {
            error->status = status = LG_FAILED;
            strcpy(error->message, "out of memory");
        }
        lg_text_free(&again);
    }
    lg_probe_run_free(&run);
    return status;
}

static void run_files(void **state) {
    (void)state;
    lg_text text = {0};
    lg_probe_run_model models[40];
    char names[40][8];
    for (int i = 0; i < 40; i++) {
        snprintf(names[i], sizeof names[i], "m%d", i);
        models[i] = (lg_probe_run_model){names[i],
                                         "00000000000000000000000000000002",
                                         "00000000000000000000000000000003",
                                         {LG_PRECISION_F32, 1, 10, "c", "00000000000000000000000000000001"}};
    }
    const lg_probe_run run = {"0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210", models,
                              40, NULL};
    lg_probe_put_run(&text, &run, "x");
    survives_failing_malloc(read_run, &text, "run.json");
    lg_text_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(scoring), cmocka_unit_test(run_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
