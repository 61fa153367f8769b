/* Evaluation of probes when memory runs out: at every single allocation, an error and nothing lost. */
#include "failing_malloc.h"

#include "probe_fixture.h"

#include "lossgap/report.h"

static lg_probe_items *items;
static lg_probe_scores scores[2];

static lg_status run_evaluation(void *context, lg_error *error) {
    (void)context;
    lg_probe_results *r;
    lg_probe_evaluate_options options = {.command = "test"};
    lg_status status = lg_probe_evaluate(items, scores, 2, &options, &r, error);
    if (!status) lg_probe_results_free(r);
    return status;
}

/* One document an attempt: those of many allocations are not those that take long. */
static lg_status run_json(void *context, lg_error *error) {
    char *text = NULL;
    size_t length;
    lg_status status = lg_probe_json(context, &text, &length, error);
    free(text);
    return status;
}

static lg_status run_csv(void *context, lg_error *error) {
    char *text = NULL;
    size_t length;
    lg_status status = LG_OK;
    for (int list = 0; list < LG_N_PROBE_LISTS && !status; list++) {
        free(text);
        text = NULL;
        status = lg_probe_csv(context, (lg_probe_list)list, &text, &length, error);
    }
    free(text);
    return status;
}

static lg_status run_view(void *context, lg_error *error) {
    char *text = NULL;
    size_t length;
    lg_status status = lg_probe_view(context, &text, &length, error);
    free(text);
    return status;
}

static lg_status run_table(void *context, lg_error *error) {
    char *text = NULL;
    size_t length;
    lg_table_style style = {.width = 120, .color = true, .full = true};
    lg_status status = lg_probe_table(context, &style, &text, &length, error);
    free(text);
    return status;
}

static lg_status run_logp(void *context, lg_error *error) {
    lg_probe_scores *again = NULL;
    size_t n;
    lg_status status = lg_probe_logp_write(context, items, scores, 2, error);
    if (!status) status = lg_probe_logp_read(context, items, &again, &n, error);
    if (!status) lg_probe_logp_free(again, n);
    return status;
}

static void test_memory(void **state) {
    (void)state;
    items = fixture_items();
    fixture_pronouns(items, 32, 2);
    for (int turn = 0; turn < 2; turn++)
        fixture_item(items,
                     (lg_probe_item){.probe = "copies",
                                     .cell = turn ? "a" : "b",
                                     .most_recent = 1,
                                     .most_frequent = -1,
                                     .first_mention = 0},
                     (const char *const[]){"x", "y", "z"}, 3, NULL, NULL);
    scores[0] = fixture_model(items, "A", KNOWS_OR_LAST, 1, 1);
    scores[1] = fixture_model(items, "B", KNOWS, 1, 1);
    scores[1].outcome[0] = LG_PROBE_TOO_LONG;
    scores[1].logp[0] = scores[1].logp[1] = NAN;
    scores[1].tokens[0] = scores[1].tokens[1] = 0;
    scores[1].logp[2] = -INFINITY;
    survives_failing_malloc(run_evaluation, NULL, "evaluation");
    char path[128];
    snprintf(path, sizeof path, "%s", fixture_path("logp.jsonl"));
    survives_failing_malloc(run_logp, path, "log-probabilities");
    lg_probe_results *r = fixture_evaluate(items, scores, 2);
    survives_failing_malloc(run_json, r, "JSON");
    survives_failing_malloc(run_csv, r, "CSV");
    survives_failing_malloc(run_view, r, "view");
    survives_failing_malloc(run_table, r, "table");
    lg_probe_results_free(r);
    for (int m = 0; m < 2; m++) fixture_free_scores(&scores[m]);
    lg_probe_items_free(items);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
