/* Filters, their losses and their masks when memory runs out: at every single allocation, an error and
   nothing lost. And data that came tokenised. */
#include "failing_malloc.h"

#include "filter_fixture.h"

#include "lossgap/report.h"

static char file[128], masks[128];

static lg_status print(const lg_filters *f, lg_error *error) {
    char *text[4] = {NULL};
    size_t length;
    lg_filtered_loss *losses = NULL;
    lg_table_style style = {.width = 80, .color = true};
    lg_status status = lg_filtered_losses(&data, scores, 2, f, &losses, error);
    if (!status) status = lg_filters_table(f, &style, &text[0], &length, error);
    if (!status) status = lg_filters_json(f, &text[1], &length, error);
    if (!status) status = lg_filtered_table(f, scores, 2, losses, &style, &text[2], &length, error);
    if (!status) status = lg_filtered_json(f, scores, 2, losses, &text[3], &length, error);
    for (size_t i = 0; i < 4; i++) free(text[i]);
    free(losses);
    return status;
}

static lg_status make(void *context, lg_error *error) {
    lg_filter_options options = {
        .file = file, .pair = scores, .hard = context, .threads = 1, .command = "test"};
    lg_filters *f;
    lg_status status = lg_filters_open(&data, tags_path, &options, &f, error);
    if (status) return status;
    status = print(f, error);
    if (!status) status = lg_filters_write(f, masks, error);
    lg_filters_close(f);
    return status;
}

static lg_status make_of_list(void *context, lg_error *error) {
    static const char *const only[] = {"state", "all", NULL};
    lg_filter_options options = {.only = only, .state_tags = context, .threads = 1};
    lg_filters *f;
    lg_status status = lg_filters_open(&data, tags_path, &options, &f, error);
    if (!status) lg_filters_close(f);
    return status;
}

static lg_status check(void *context, lg_error *error) {
    lg_filter_options options = {.file = context};
    return lg_filters_check(&data, tags_path, &options, (const char *const[]){"a", "b"}, 2, error);
}

static lg_status check_of_list(void *context, lg_error *error) {
    lg_filter_options options = {.state_tags = context};
    return lg_filters_check(&data, tags_path, &options, NULL, 0, error);
}

static lg_status may_write(void *context, lg_error *error) {
    return lg_filters_may_write(context, error);
}

static lg_status read_again(void *context, lg_error *error) {
    lg_filters *f;
    lg_status status = lg_masks_open(context, &data, &f, error);
    if (!status) lg_filters_close(f);
    return status;
}

static void memory(void **state) {
    (void)state;
    static const char *const list[] = {"nn", ".", NULL};
    filter_open(50, 60, true);
    snprintf(file, sizeof file, "%s", fixture_path("filters.txt"));
    snprintf(masks, sizeof masks, "%s", fixture_path("masks"));
    filter_write_file(file,
                      "# two\nnouns = family = noun and \\\n word ~ /^h/\nclose: nouns or loss(a) > 2\n");
    lg_filter_options options = {.pair = scores}; /* the choice is made, not given up */
    lg_filters *f = filter_make(&options, tags_path);
    assert_non_null(filter_find(f, "state"));
    lg_filters_close(f);
    survives_failing_malloc(make, &scores[2], "filters");
    survives_failing_malloc(make_of_list, (void *)(uintptr_t)list, "state of a list");
    survives_failing_malloc(check, file, "a check");
    survives_failing_malloc(check_of_list, (void *)(uintptr_t)list, "a check of a list");
    survives_failing_malloc(may_write, masks, "whether masks may be written");
    survives_failing_malloc(read_again, masks, "masks");
    filter_close();
}

static void tokenised(void **state) {
    (void)state;
    lg_error error = {0};
    filter_open(30, 60, false);
    lg_filter_options options = {.pair = scores, .hard = &scores[2], .threads = 2};
    lg_filters *f = filter_make(&options, tags_path), *again;
    static const char *const names[] = {"all", "copy5", "hard_copy5", "novel", "reuse"};
    assert_int_equal(lg_filters_n(f), 5);
    assert_int_equal(lg_filters_n_left_out(f), 5);
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(lg_filters_at(f, i)->name, names[i]);
        assert_true(lg_filters_at(f, i)->tokens > 0 && lg_filters_at(f, i)->bytes == 0);
        assert_non_null(strstr(lg_filters_left_out(f, i)->reason, "came tokenised"));
    }
    lg_filtered_loss *losses;
    assert_int_equal(lg_filtered_losses(&data, scores, 2, f, &losses, &error), LG_OK);
    for (size_t i = 5; i < 10; i++)
        assert_true(!isnan(losses[i].loss) && !isnan(losses[i].gap_high) && isnan(losses[i].bits_per_byte) &&
                    isnan(losses[i].gap_bits_high) && !losses[i].bytes);
    char *text;
    size_t length;
    assert_int_equal(lg_filtered_json(f, scores, 2, losses, &text, &length, &error), LG_OK);
    assert_non_null(strstr(text, "\"bytes\":null"));
    assert_non_null(strstr(text, "\"bits_per_byte\":null"));
    free(text);
    snprintf(masks, sizeof masks, "%s", fixture_path("masks"));
    assert_int_equal(lg_filters_write(f, masks, &error), LG_OK);
    lg_table *table;
    assert_int_equal(lg_table_open(masks, "masks", &table, &error), LG_OK);
    assert_null(lg_table_find(table, "token_end")); /* there is no text for it to point into */
    lg_table_close(table);
    assert_int_equal(lg_masks_open(masks, &data, &again, &error), LG_OK);
    lg_filters_close(again);
    free(losses);
    lg_filters_close(f);
    filter_close();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(memory, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(tokenised, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
