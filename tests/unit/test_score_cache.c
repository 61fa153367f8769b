/* The cache of scores: names by content, one process at a time, nothing kept of a checkpoint that changes
   while it is read, rows of an older text taken over. */
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "lossgap/score.h"
#include "score_fake.h"

static char root[256];

static int make_root(void **state) {
    (void)state;
    const char *base = getenv("TMPDIR");
    snprintf(root, sizeof root, "%s/lossgap-cache-XXXXXX", base ? base : "/tmp");
    return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state) {
    (void)state;
    char command[400];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    return system(command);
}

static void run(const char *format, ...) LG_PRINTF(1, 2);
static void run(const char *format, ...) {
    char command[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    assert_int_equal(system(command), 0);
}

/* A checkpoint at FOLDER below the root, opened. */
static lg_model *make_model(const char *folder) {
    char path[400];
    lg_model *model;
    lg_error error = {0};
    snprintf(path, sizeof path, "%s/%s", root, folder);
    run("mkdir -p '%s' && cp tests/golden/models/olmo3-yarn/config.json "
        "tests/golden/models/olmo3-yarn/model.safetensors '%s'",
        path, path);
    if (lg_model_open(path, &model, NULL, &error)) fail_msg("%s", error.message);
    return model;
}

static corpus text_of(size_t n_docs) {
    static const size_t length[] = {40, 60, 80, 50};
    static const uint64_t seeds[] = {1, 2, 3, 4};
    corpus c = make_corpus(n_docs, length, seeds);
    for (size_t i = 0; i < c.data.n_tokens; i++) c.ids[i] %= 200;
    c.data.max_token_id = 199;
    return c;
}

static const lg_score_options plain = {.context = 32, .prefix = 0, .model_name = "m", .threads = 1};

static lg_status cached(const lg_model *model, const corpus *c, const lg_score_options *o, bool wait,
                        const lg_monitor *monitor, lg_cache_result *result, char name[LG_CACHE_NAME],
                        lg_scores *scores) {
    char folder[400];
    lg_error error = {0};
    snprintf(folder, sizeof folder, "%s/scores", root);
    lg_status status =
        lg_score_cached(model, &c->data, o, folder, wait, monitor, result, name, scores, &error);
    if (status && status != LG_CANCELLED) fail_msg("%s", error.message);
    return status;
}

static int files(void) {
    char command[400];
    snprintf(command, sizeof command, "ls '%s/scores' | wc -l", root);
    FILE *pipe = popen(command, "r");
    int n = -1;
    assert_int_equal(fscanf(pipe, "%d", &n), 1);
    pclose(pipe);
    return n;
}

static void content_decides(void **state) {
    (void)state;
    lg_model *one = make_model("a/step1"), *other = make_model("b/another-name");
    corpus c = text_of(2), more = text_of(3);
    lg_cache_result result;
    char name[LG_CACHE_NAME], again[LG_CACHE_NAME];
    lg_scores scores;
    cached(one, &c, &plain, true, NULL, &result, name, &scores);
    assert_int_equal(result, LG_CACHE_MADE);
    assert_int_equal(scores.n_tokens, c.data.n_tokens);
    float first = scores.nll[5];
    lg_scores_close(&scores);
    lg_score_options renamed = plain;
    renamed.model_name = "someone else";
    cached(other, &c, &renamed, true, NULL, &result, again, &scores);
    assert_int_equal(result, LG_CACHE_FOUND);
    assert_string_equal(name, again);
    assert_true(scores.nll[5] == first);
    lg_scores_close(&scores);
    lg_score_options f32 = plain;
    f32.context = 16; /* numbers depend on it */
    lg_error error = {0};
    assert_int_equal(lg_score_cache_name(one, &c.data, &f32, again, NULL, &error), LG_OK);
    assert_string_not_equal(name, again);
    lg_score_plan plan;
    assert_int_equal(lg_score_cache_name(one, &more.data, &plain, again, &plan, &error), LG_OK);
    assert_string_not_equal(name, again);
    assert_memory_equal(name, again, 17); /* the same checkpoint and settings */
    assert_int_equal(plan.prefix, 0);
    assert_int_equal(plan.context, 32);
    assert_int_equal(files(), 1);
    lg_model_close(one);
    lg_model_close(other);
    free_corpus(&c);
    free_corpus(&more);
}

static void note_total(void *context, const char *unit, uint64_t done, uint64_t total) {
    (void)done;
    if (strcmp(unit, "tokens") == 0) *(uint64_t *)context = total;
}

static void rows_of_an_older_text_are_taken_over(void **state) {
    (void)state;
    lg_model *model = make_model("a/step1");
    corpus c = text_of(2), more = text_of(3);
    lg_cache_result result;
    char name[LG_CACHE_NAME];
    lg_scores scores;
    cached(model, &c, &plain, true, NULL, &result, name, &scores); /* there, from the test before */
    lg_scores_close(&scores);
    uint64_t total = 0;
    lg_monitor monitor = {.context = &total, .progress = note_total};
    cached(model, &more, &plain, true, &monitor, &result, name, &scores);
    assert_int_equal(result, LG_CACHE_MADE);
    assert_int_equal(scores.n_tokens, more.data.n_tokens);
    assert_int_equal(total, 80); /* the third document's tokens only */
    lg_scores_close(&scores);
    cached(model, &c, &plain, true, NULL, &result, name, &scores); /* the old one is as it was */
    assert_int_equal(result, LG_CACHE_FOUND);
    lg_scores_close(&scores);
    assert_int_equal(files(), 2);
    lg_model_close(model);
    free_corpus(&c);
    free_corpus(&more);
}

static void one_process_at_a_time(void **state) {
    (void)state;
    lg_model *model = make_model("a/step1");
    corpus c = text_of(4);
    lg_cache_result result;
    char name[LG_CACHE_NAME], path[400];
    lg_scores scores;
    lg_error error = {0};
    assert_int_equal(lg_score_cache_name(model, &c.data, &plain, name, NULL, &error), LG_OK);
    snprintf(path, sizeof path, "%s/scores/%s.lock", root, name);
    int fd = open(path, O_RDWR | O_CREAT, 0666); /* as another process has it */
    assert_int_equal(flock(fd, LOCK_EX), 0);
    cached(model, &c, &plain, false, NULL, &result, name, &scores);
    assert_int_equal(result, LG_CACHE_BUSY);
    assert_null(scores.table);
    close(fd); /* killed: the lock file stays, its lock does not */
    cached(model, &c, &plain, false, NULL, &result, name, &scores);
    assert_int_equal(result, LG_CACHE_MADE);
    lg_scores_close(&scores);
    assert_int_equal(access(path, F_OK), -1);
    lg_model_close(model);
    free_corpus(&c);
}

/* ---- while it is read ---- */

typedef struct meddler {
    const char *command;
    bool done, stop;
} meddler;

static void meddle(void *context, const char *unit, uint64_t done, uint64_t total) {
    meddler *m = context;
    (void)unit, (void)done, (void)total;
    if (m->done) return;
    m->done = true;
    run("cd '%s/c/step1' && %s", root, m->command);
}

static bool wants_stop(void *context) {
    const meddler *m = context;
    return m->stop && m->done;
}

static void changed_checkpoints_leave_nothing(void **state) {
    (void)state;
    static const struct {
        const char *command;
        bool stop;
        lg_cache_result result;
    } table[] = {
        {"echo ' ' >>config.json", false, LG_CACHE_CHANGED},           /* other bytes, the same model */
        {"mv config.json gone.json", false, LG_CACHE_CHANGED},         /* written anew, half way */
        {"echo ' ' >>config.json", true, LG_CACHE_CHANGED},            /* and the user stops it */
        {"touch config.json model.safetensors", false, LG_CACHE_MADE}, /* times do not matter */
        {"cd .. && rm -r step1", false, LG_CACHE_MADE},                /* what was read stays */
    };
    corpus c = text_of(3);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        lg_cache_result result = LG_CACHE_FOUND;
        char name[LG_CACHE_NAME];
        lg_scores scores;
        run("rm -rf '%s/c' '%s/scores'", root, root);
        lg_model *model = make_model("c/step1");
        meddler m = {.command = table[i].command, .stop = table[i].stop};
        lg_monitor monitor = {.context = &m, .progress = meddle, .cancelled = wants_stop};
        lg_status status = cached(model, &c, &plain, true, &monitor, &result, name, &scores);
        assert_int_equal(status, table[i].stop ? LG_CANCELLED : LG_OK);
        assert_true(m.done);
        if (result != table[i].result) fail_msg("%s: result %d", table[i].command, (int)result);
        assert_int_equal(files(), result == LG_CACHE_MADE ? 1 : 0);
        assert_true((scores.table != NULL) == (result == LG_CACHE_MADE));
        lg_scores_close(&scores);
        lg_model_close(model);
    }
    free_corpus(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(content_decides),
        cmocka_unit_test(rows_of_an_older_text_are_taken_over),
        cmocka_unit_test(one_process_at_a_time),
        cmocka_unit_test(changed_checkpoints_leave_nothing),
    };
    return cmocka_run_group_tests(tests, make_root, remove_root);
}
