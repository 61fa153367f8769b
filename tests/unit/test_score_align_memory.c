/* Lack of memory: whichever allocation fails, aligning says so, leaves no half of a file
   behind, and frees all. */
#include "failing_malloc.h"

#include "../align_helper.h"

#include "base/file.h"

typedef struct attempt {
    lg_dataset a, b;
    lg_scores of_a, of_b;
} attempt;

static lg_status align(void *context, lg_error *error) {
    attempt *t = context;
    const lg_align_source sources[] = {{&t->a, &t->of_a}, {&t->b, &t->of_b}},
                          bare[] = {{&t->a, NULL}, {&t->b, NULL}};
    char data[128], one[128], other[128];
    snprintf(data, sizeof data, "%s/spans", fixture_folder);
    snprintf(one, sizeof one, "%s/one", fixture_folder);
    snprintf(other, sizeof other, "%s/other", fixture_folder);
    const char *outs[] = {one, other};
    bool current = false;
    lg_status status = lg_align_run(bare, 2, data, NULL, "test", NULL, NULL, NULL, error);
    if (status && lg_exists(data)) { /* then it is whole: what failed came after */
        lg_dataset whole;
        assert_int_equal(lg_dataset_open(data, &whole, NULL), LG_OK);
        assert_true(whole.spans);
        lg_dataset_close(&whole);
    }
    if (!status) status = lg_align_run(sources, 2, data, outs, "test", NULL, NULL, NULL, error);
    if (!status) status = lg_align_is_current(sources, 2, data, outs, &current, error);
    if (!status) assert_true(current);
    unlink(data);
    unlink(one);
    unlink(other);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    const fixture_document cut_a[] = {{"one", "prose", LG_PROSE, "The c\1at\1 sat", 0}},
                           cut_b[] = {{"one", "prose", LG_PROSE, "The\1 \1cat\1 s\1at", 0}};
    attempt t;
    fixture_dataset(fixture_path("a"), cut_a, 1, true);
    fixture_dataset(fixture_path("b"), cut_b, 1, true);
    t.a = align_open(fixture_path("a"));
    t.b = align_open(fixture_path("b"));
    align_scores(&t.a, "A", 1, 3, 2, 599, fixture_path("sa"));
    align_scores(&t.b, "B", 2, 3, 2, 599, fixture_path("sb"));
    t.of_a = align_open_scores(fixture_path("sa"), &t.a);
    t.of_b = align_open_scores(fixture_path("sb"), &t.b);
    survives_failing_malloc(align, &t, "align");
    lg_scores_close(&t.of_a);
    lg_scores_close(&t.of_b);
    lg_dataset_close(&t.a);
    lg_dataset_close(&t.b);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_may_fail)};
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
