/* Regressions when memory runs out: at every single allocation, an error and nothing lost. */
#include "failing_malloc.h"

#include "regress_golden.h"

static lg_status run_table(void *context, lg_error *error) {
    static const char *const definitions[] = {"log_frequency=log(frequency)",
                                              "missing_before=prev_distance = 0", NULL};
    static const char *const references[] = {"tag=verb"};
    const char *const *files = context;
    lg_frame *frame;
    lg_regress *regress = NULL;
    char *json = NULL, *csv = NULL, *table = NULL;
    size_t length;
    lg_regress_options o = {
        .formula = "gap ~ domain + tag + wordpos:difficulty + difficulty^3 + factor(copy1) + copy1 + "
                   "log_frequency + log(difficulty + 1) + missing_before",
        .cluster = "doc",
        .where = "copy3 = 0",
        .references = references,
        .n_references = 1,
        .threads = 1,
        .command = "test"};
    lg_status status = lg_frame_create(&frame, error);
    if (!status) status = lg_frame_add_file(frame, files[0], error);
    for (size_t i = 0; definitions[i] && !status; i++) status = lg_frame_define(frame, definitions[i], error);
    if (files[1]) o.absorb = files[1];
    if (!status) status = lg_regress_compute(frame, &o, NULL, &regress, error);
    lg_table_style style = {.width = 80, .color = true};
    if (!status) status = lg_regress_json(regress, &json, &length, error);
    if (!status) status = lg_regress_csv(regress, &csv, &length, error);
    if (!status) status = lg_regress_table(regress, &style, &table, &length, error);
    free(json);
    free(csv);
    free(table);
    lg_regress_free(regress);
    lg_frame_free(frame);
    return status;
}

static void test_memory(void **state) {
    (void)state;
    const char *csv[] = {"tests/golden/regression/data/tiny.csv", NULL};
    const char *table[] = {"tests/golden/regression/data/tiny.safetensors", "doc"};
    survives_failing_malloc(run_table, csv, "a regression over CSV");
    survives_failing_malloc(run_table, table, "with absorbed effects");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
