/* Lack of memory: whichever allocation fails, scoring and importing say so, leave no file behind, and free
 * all. */
#include "failing_malloc.h"
#include "score_fake.h"

typedef struct attempt {
    corpus c;
    lg_score_settings settings;
    const char *losses;
} attempt;

static lg_status score(void *context, lg_error *error) {
    attempt *a = context;
    fake f;
    lg_scores scores;
    const char *out = in_folder("memory");
    fake_start(&f, 16);
    lg_status status = lg_score_rows(&f.scorer, &a->c.data, &a->settings, "lossgap score", out, NULL, error);
    if (status) assert_false(lg_exists(out));
    /* with the file there: nothing to do, then with other settings */
    a->settings.windows.stride = 3;
    if (!status)
        status = lg_score_rows(&f.scorer, &a->c.data, &a->settings, "lossgap score", out, NULL, error);
    a->settings.windows.stride = 4;
    if (!status) status = lg_scores_open(out, &a->c.data, &scores, error);
    if (!status) lg_scores_close(&scores);
    unlink(out);
    unlink(in_folder("memory.journal"));
    return status;
}

static lg_status import(void *context, lg_error *error) {
    attempt *a = context;
    const char *out = in_folder("memory-import");
    lg_score_options o = {.context = 8, .prefix = LG_PREFIX_AUTO, .tokenizer = in_folder("model")};
    lg_status status = lg_score_import(a->losses, &a->c.data, &o, out, NULL, error);
    assert_true(lg_exists(out) == (status == LG_OK));
    unlink(out);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    const size_t length[] = {3, 0, 20};
    const uint64_t seed[] = {1, 2, 3};
    attempt a = {.c = make_corpus(3, length, seed),
                 .losses = in_folder("memory.jsonl"),
                 .settings = {.name = "x",
                              .model = "m",
                              .isa = "c",
                              .windows = {LG_WINDOWS_DOCUMENT, 8, 4, 600},
                              .columns = 7}};
    survives_failing_malloc(score, &a, "score");
    FILE *f = fopen(a.losses, "w");
    for (size_t d = 0, t = 0; d < 3; d++) {
        fprintf(f, "{\"id\": \"d%zu\", \"input_ids\": [", d + 1);
        for (size_t i = 0; i < length[d]; i++) fprintf(f, "%s%u", i ? "," : "", a.c.ids[t + i]);
        fprintf(f, "], \"nll\": [");
        for (size_t i = 0; i < length[d]; i++) fprintf(f, "%s%zu", i ? "," : "", i);
        fprintf(f, "]}\n");
        t += length[d];
    }
    fclose(f);
    assert_int_equal(lg_make_folders(in_folder("model"), NULL), LG_OK);
    assert_int_equal(lg_write_file(in_folder("model/config.json"), "{\"eos_token_id\": [3]}", 21, NULL),
                     LG_OK);
    survives_failing_malloc(import, &a, "import");
    free_corpus(&a.c);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_may_fail)};
    return cmocka_run_group_tests(tests, fake_enter, fake_leave);
}
