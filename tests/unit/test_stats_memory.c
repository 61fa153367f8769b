/* Tags, gaps and their documents when memory runs out: at every single allocation, an error and nothing lost.
 */
#include "failing_malloc.h"

#include "fixture.h"

#include <math.h>

#include "lossgap/report.h"
#include "lossgap/tag.h"

static lg_dataset data;
static lg_scores scores[2];

static lg_status run_tags(void *context, lg_error *error) {
    lg_tag_options options = {.threads = 1, .command = "test"};
    return lg_tag_run(&data, &options, context, NULL, error);
}

static lg_status look_at_tags(void *context, lg_error *error) {
    lg_tag_options options = {.threads = 1};
    bool current;
    return lg_tag_is_current(context, &data, &options, &current, error);
}

static lg_status run_gap_where(void *context, lg_error *error) {
    static const char *const by[] = {"domain", "near", "odd"}, *const define[] = {"near=copy_len > 0",
                                                                                  "odd=family",
                                                                                  "far=not near"};
    lg_gap_options options = {.by = by,
                              .n_by = 3,
                              .define = define,
                              .n_define = 3,
                              .where = "family in (noun, none, whitespace) and domain = y and document ~ /2/ "
                                       "or word ~ /^T/ or loss(A) > log(1) or far",
                              .command = "test"};
    lg_gap *gap;
    const char *models[] = {"A", "B"};
    lg_status status =
        lg_gap_check_where("word ~ /^T/ or loss(A) > log(1)", &data, models, 2, 0, context, error);
    if (!status) status = lg_gap_compute(&data, scores, 2, context, &options, &gap, error);
    if (!status) lg_gap_free(gap);
    return status;
}

static lg_status run_gap(void *context, lg_error *error) {
    static const char *const by[] = {"domain", "class", "delimiter"};
    lg_gap_options options = {.by = by, .n_by = 3, .threads = 1, .command = "test"};
    lg_gap *gap;
    char *json = NULL, *csv = NULL, *table = NULL;
    size_t length;
    lg_table_style style = {.width = 80, .color = true, .sort = LG_SORT_CONTRIBUTION};
    lg_status status = lg_gap_compute(&data, scores, 2, context, &options, &gap, error);
    if (status) return status;
    status = lg_gap_json(gap, &json, &length, error);
    if (!status) status = lg_gap_csv(gap, &csv, &length, error);
    if (!status) status = lg_gap_table(gap, &style, &table, &length, error);
    free(json);
    free(csv);
    free(table);
    lg_gap_free(gap);
    return status;
}

static lg_status run_view(void *context, lg_error *error) {
    lg_gap_options options = {.view = "content", .bootstrap = 16, .threads = 1, .command = "test"};
    lg_gap *gap;
    char *json = NULL, *csv = NULL, *table = NULL;
    size_t length;
    lg_table_style style = {.full = true};
    lg_status status = lg_gap_compute(&data, scores, 2, context, &options, &gap, error);
    if (status) return status;
    status = lg_gap_json(gap, &json, &length, error);
    if (!status) status = lg_gap_contrasts_csv(gap, &csv, &length, error);
    if (!status) status = lg_gap_table(gap, &style, &table, &length, error);
    free(json);
    free(csv);
    free(table);
    lg_gap_free(gap);
    return status;
}

static lg_status run_profile(void *context, lg_error *error) {
    static const char *const by[] = {"domain", "class"};
    static const lg_profile_pair reference = {0, 1};
    static const size_t seeds[] = {1};
    lg_profile_options options = {.by = by,
                                  .n_by = 2,
                                  .pair = {0, 1},
                                  .references = &reference,
                                  .n_references = 1,
                                  .seeds_a = seeds,
                                  .n_seeds_a = 1,
                                  .bootstrap = 3,
                                  .threads = 1,
                                  .command = "test"};
    lg_profile *profile;
    char *texts[5] = {0};
    size_t length;
    lg_table_style style = {.width = 80, .full = true};
    lg_status status = lg_profile_compute(&data, scores, 2, context, &options, &profile, error);
    if (status) return status;
    status = lg_profile_json(profile, &texts[0], &length, error);
    if (!status) status = lg_profile_csv(profile, &texts[1], &length, error);
    if (!status) status = lg_profile_agreements_csv(profile, &texts[2], &length, error);
    if (!status) status = lg_profile_seeds_csv(profile, &texts[3], &length, error);
    if (!status) status = lg_profile_table(profile, &style, &texts[4], &length, error);
    for (size_t i = 0; i < 5; i++) free(texts[i]);
    lg_profile_free(profile);
    return status;
}

static lg_status run_vocabulary(void *context, lg_error *error) {
    lg_gap_options options = {.view = "vocabulary", .bootstrap = 3, .threads = 1, .command = "test"};
    lg_gap *gap;
    lg_status status = lg_gap_compute(&data, scores, 2, context, &options, &gap, error);
    if (!status) lg_gap_free(gap);
    return status;
}

static void test_memory(void **state) {
    (void)state;
    lg_error error = {0};
    fixture_document documents[] = {{"1", "x", LG_PROSE, "The\1 (quick)\1 fo\1x\1", 0},
                                    {"2", "y", LG_HTML, "<\1p\1>\1The\1 (quick)", 0},
                                    {"3", "y", LG_HTML, "", 0}};
    float nll[2][9] = {{NAN, 1, 2, 3, NAN, 5, 6, 7, 8}, {NAN, 2, 1, 1, NAN, 1, 1, 1, 1}};
    static uint32_t context[9];
    fixture_dataset(fixture_path("data"), documents, 3, true);
    if (lg_dataset_open(fixture_path("data"), &data, &error)) fail_msg("%s", error.message);
    assert_int_equal(data.n_tokens, 9);
    for (size_t m = 0; m < 2; m++)
        scores[m] = (lg_scores){.model_name = m ? "B" : "A",
                                .n_tokens = 9,
                                .nll = nll[m],
                                .context = context,
                                .table = data.table};
    char tags[128];
    snprintf(tags, sizeof tags, "%s", fixture_path("tags"));
    survives_failing_malloc(run_tags, tags, "tags");
    survives_failing_malloc(look_at_tags, tags, "are the tags current");
    survives_failing_malloc(run_gap, tags, "gap");
    survives_failing_malloc(run_view, tags, "gap --view content");
    survives_failing_malloc(run_vocabulary, tags, "gap --view vocabulary");
    survives_failing_malloc(run_gap_where, tags, "gap where");
    lg_table *other; /* the second scores are others than the first */
    assert_int_equal(lg_table_open(tags, "tags", &other, &error), LG_OK);
    scores[1].table = other;
    survives_failing_malloc(run_profile, tags, "profile");
    lg_table_close(other);
    lg_dataset_close(&data);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
