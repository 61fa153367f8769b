/* Taggers when memory runs out: at every single allocation of training, opening, tagging and measuring, an
   error and nothing lost. */
#include "failing_malloc.h"

#include "fixture.h"

#include "base/file.h"
#include "lossgap/tagger.h"
#include "tag/prose.h"

static char text[128], treebank[128], model_path[128], penn_path[128];

static lg_status train_brown(void *context, lg_error *error) {
    (void)context;
    const char *files[] = {text}, *sources[] = {"ours"};
    const lg_tagger_options o = {
        .tagset = "brown", .epochs = 2, .sources = sources, .n_sources = 1, .command = "test"};
    return lg_tagger_train(files, 1, &o, model_path, NULL, error);
}

static lg_status train_penn(void *context, lg_error *error) {
    (void)context;
    const char *files[] = {treebank}, *lexicons[] = {text};
    const lg_tagger_options o = {
        .tagset = "penn", .epochs = 1, .lexicons = lexicons, .n_lexicons = 1, .command = "test"};
    return lg_tagger_train(files, 1, &o, penn_path, NULL, error);
}

static lg_status eval(void *context, lg_error *error) {
    const bool penn = context == penn_path;
    const char *files[] = {penn ? treebank : text};
    const lg_tagger_eval_options o = {.tagset = penn ? "penn" : "brown", .model = context, .raw = penn};
    lg_tagger_report report;
    lg_status status = lg_tagger_eval(files, 1, &o, &report, error);
    if (!status) lg_tagger_report_free(&report);
    return status;
}

static lg_status open_builtin(void *context, lg_error *error) {
    lg_pos_model *model;
    lg_status status = lg_pos_model_builtin(context, &model, error);
    if (status) return status;
    lg_pos_scratch *scratch = lg_pos_scratch_create(model);
    lg_pos_scratch_free(scratch);
    lg_pos_model_close(model);
    if (scratch) return LG_OK;
    snprintf(error->message, sizeof error->message, "out of memory");
    return error->status = LG_FAILED;
}

static void write_text(char *path, const char *name, const char *what) {
    lg_error error = {0};
    snprintf(path, 128, "%s", fixture_path(name));
    if (lg_write_file(path, what, strlen(what), &error)) fail_msg("%s", error.message);
}

static void test_memory(void **state) {
    (void)state;
    write_text(text, "text",
               "# newdoc id = a\nThe/at dog/nn barks/vbz ./.\n# newdoc id = b\nA/at cat/nn sleeps/vbz ./.\n");
    write_text(treebank, "treebank",
               "# newdoc id = a\n# text = It's "
               "on.\n1-2\tIt's\t_\t_\t_\t_\t_\t_\t_\t_\n1\tIt\t_\tPRON\tPRP\t_\t_\t_\t_\t_\n"
               "2\t's\t_\tAUX\tVBZ\t_\t_\t_\t_\t_\n3\ton\t_\tADV\tRB\t_\t_\t_\t_\tSpaceAfter=No\n"
               "4\t.\t_\tPUNCT\t.\t_\t_\t_\t_\t_\n\n1\tYes\t_\tINTJ\tUH\t_\t_\t_\t_\t_\n");
    snprintf(model_path, sizeof model_path, "%s", fixture_path("brown"));
    snprintf(penn_path, sizeof penn_path, "%s", fixture_path("penn"));
    char upos[] = "upos";
    survives_failing_malloc(train_brown, NULL, "train brown");
    survives_failing_malloc(train_penn, NULL, "train penn");
    survives_failing_malloc(eval, model_path, "eval brown");
    survives_failing_malloc(eval, penn_path, "eval penn");
    survives_failing_malloc(open_builtin, upos, "built-in");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
