/* Log-probabilities of choices: against the reference, against rows of their own by a scorer whose losses are
   known, and the same bits whatever stands around an item. */
#include "score_fake.h"

#include <math.h>

#include "base/json.h"
#include "lossgap/probe.h"
#include "probe/items.h"
#include "probe/score.h"
#include "tokenizer_fixture.h"

#define assert_ok(call)                                                                                      \
    do {                                                                                                     \
        if ((call) != LG_OK) fail_msg("%s: %s", #call, error.message);                                       \
    } while (0)

/* ---- the reference ---- */

static const char *shared(const char *name) {
    static char path[512];
    const char *folder = getenv("LG_SHARED");
    snprintf(path, sizeof path, "%s/%s", folder ? folder : "../shared", name);
    return path;
}

typedef struct checkpoint {
    lg_model *model;
    lg_tokenizer *tokenizer;
} checkpoint;

static checkpoint open_checkpoint(const char *folder) {
    lg_error error = {0};
    checkpoint c;
    assert_ok(lg_model_open(folder, &c.model, NULL, &error));
    assert_ok(lg_tokenizer_open(folder, &c.tokenizer, &error));
    return c;
}

static void close_checkpoint(checkpoint *c) {
    lg_model_close(c->model);
    lg_tokenizer_close(c->tokenizer);
}

/* The margin: the answer's log-probability minus the largest other. */
static double margin_of(const double *logp, size_t n, size_t answer) {
    double other = -INFINITY;
    for (size_t c = 0; c < n; c++)
        if (c != answer && logp[c] > other) other = logp[c];
    return logp[answer] - other;
}

/* Compares SCORES with the lines of MODEL in LOGP. */
static void check_reference(const char *logp, const char *model, const lg_probe_items *items,
                            const lg_probe_scores *scores) {
    lg_error error = {0};
    FILE *lines = fopen(logp, "r");
    char *line = NULL;
    size_t capacity = 0, item = 0, at = 0, nulls = 0;
    double worst = 0, worst_margin = 0;
    assert_non_null(lines);
    for (ssize_t length; (length = getline(&line, &capacity, lines)) > 0;) {
        lg_arena arena = {0};
        lg_json_value *v;
        assert_ok(lg_json_parse(&arena, line, (size_t)length, logp, &v, &error));
        if (strcmp(lg_json_get(v, "model")->string, model) == 0) {
            const lg_probe_item *it = lg_probe_item_at(items, item);
            const lg_json_value *values = lg_json_get(v, "logp");
            double right[16];
            bool left_out = false;
            size_t c = 0;
            assert_int_equal(lg_json_get(v, "id")->integer, atoi(it->id));
            assert_int_equal(values->length, it->n_choices);
            for (const lg_json_value *x = values->first; x; x = x->next, c++) {
                right[c] = x->type == LG_JSON_NULL ? NAN : x->number;
                if (isnan(right[c]) != isnan(scores->logp[at + c]))
                    fail_msg("%s, item %s, choice %zu: %g instead of %g", model, it->id, c,
                             scores->logp[at + c], right[c]);
                assert_true(isnan(right[c]) == !scores->tokens[at + c]);
                if (isnan(right[c])) left_out = true, nulls++;
                else worst = fmax(worst, fabs(scores->logp[at + c] - right[c]));
            }
            assert_int_equal(scores->outcome[item], left_out ? LG_PROBE_STRADDLES : LG_PROBE_SCORED);
            if (!left_out)
                worst_margin = fmax(worst_margin, fabs(margin_of(scores->logp + at, c, it->answer) -
                                                       margin_of(right, c, it->answer)));
            at += c;
            item++;
        }
        lg_arena_free(&arena);
    }
    print_message(
        "# %s: %zu items, %zu choices without a value; log-probabilities within %.1e, margins %.1e\n", model,
        item, nulls, worst, worst_margin);
    assert_int_equal(item, lg_probe_n_items(items));
    assert_true(nulls > 0);
    assert_true(worst_margin <= 5e-4);
    assert_true(worst <= 1e-4);
    free(line);
    fclose(lines);
}

static void check_golden(const char *folder, const char *const *models, const char *const *names, size_t n) {
    lg_error error = {0};
    lg_probe_items *items;
    char path[600];
    snprintf(path, sizeof path, "%s/items.jsonl", folder);
    assert_ok(lg_probe_items_read(path, &items, &error));
    snprintf(path, sizeof path, "%s/logp.jsonl", folder);
    for (size_t m = 0; m < n; m++) {
        checkpoint c = open_checkpoint(models[m]);
        lg_probe_score_options options = LG_PROBE_SCORE_OPTIONS_INIT;
        lg_probe_scores scores;
        options.precision = LG_PRECISION_F32;
        options.model_name = names[m];
        assert_ok(lg_probe_score(c.model, c.tokenizer, items, &options, NULL, &scores, &error));
        assert_string_equal(scores.model, names[m]);
        check_reference(path, names[m], items, &scores);
        lg_probe_scores_free(&scores);
        close_checkpoint(&c);
    }
    lg_probe_items_free(items);
}

static const char *const names[] = {"transformer", "hybrid", "rnn"};

static void test_golden(void **state) {
    (void)state;
    static const char *const models[] = {"models/transformer", "models/hybrid"};
    check_golden("tests/golden/probes", models, names, 2);
}

static void test_golden_all(void **state) {
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    print_message("skip: minutes under sanitizers, and the same code as with fewer items\n");
    skip();
#endif
    char folder[512], paths[3][512];
    const char *models[3];
    snprintf(folder, sizeof folder, "%s", shared("golden/probes"));
    if (!lg_exists(folder)) {
        print_message("skip: %s is not there (set LG_SHARED)\n", folder);
        skip();
    }
    for (size_t m = 0; m < 3; m++) {
        char name[64];
        snprintf(name, sizeof name, "models/%s/step360", names[m]);
        snprintf(paths[m], sizeof paths[m], "%s", shared(name));
        models[m] = paths[m];
    }
    check_golden(folder, models, names, 3);
}

/* ---- items that are written here ---- */

static lg_probe_items *parse(const char *text) {
    lg_error error = {0};
    lg_probe_items *items;
    assert_ok(lg_probe_items_parse(text, strlen(text), "test", &items, &error));
    return items;
}

/* A token for each byte, one for "cd"; '~' has none. */
static lg_tokenizer *byte_tokenizer(void) {
    lg_error error = {0};
    static const char *const extra[] = {"cd", NULL};
    char *json = tokenizer_json(
        "null",
        "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\",\"pattern\":{\"String\":\"~\"},"
        "\"behavior\":\"Removed\",\"invert\":false}," BYTE_LEVEL "]}",
        "[]", "[\"c d\"]", "", extra);
    lg_tokenizer *tokenizer;
    assert_ok(lg_tokenizer_parse(json, strlen(json), "bytes", &tokenizer, &error));
    free(json);
    return tokenizer;
}

/* fake_score for rows with branches; counts inputs. */
static lg_status branching_score(void *context, const lg_row *rows, size_t n_rows, unsigned columns,
                                 const lg_monitor *monitor, lg_error *error) {
    fake *f = context;
    size_t inputs = 0, targets = 0;
    (void)columns, (void)monitor;
    if (f->cancel_after && f->calls == f->cancel_after) return lg_fail(error, LG_CANCELLED, "stop");
    for (size_t r = 0; r < n_rows; r++) {
        const lg_row *row = &rows[r];
        uint32_t y[1024];
        memcpy(y, row->y, row->n * sizeof *y);
        for (size_t i = row->first; i < row->n; i++) row->nll[i - row->first] = fake_nll(y, i);
        for (size_t b = 0; b < row->n_branches; b++) {
            memcpy(y + row->n, row->branches[b].y, row->branches[b].n * sizeof *y);
            for (size_t i = 0; i < row->branches[b].n; i++) row->branches[b].nll[i] = fake_nll(y, row->n + i);
        }
        inputs += lg_row_inputs(row);
        targets += lg_row_targets(row);
    }
    f->calls++;
    f->rows += n_rows;
    f->inputs += inputs;
    assert_true((inputs <= f->scorer.max_tokens && targets <= f->scorer.max_tokens));
    return LG_OK;
}

static lg_scorer *branching_start(fake *f, size_t max_tokens) {
    lg_scorer *scorer = fake_start(f, max_tokens);
    scorer->score = branching_score;
    return scorer;
}

static lg_probe_rows rows_of(const lg_probe_items *items, const lg_tokenizer *tokenizer, int64_t prefix,
                             size_t context) {
    lg_error error = {0};
    lg_probe_rows rows;
    const lg_probe_reading how = {.tokenizer = tokenizer,
                                  .prefix = prefix,
                                  .context = context,
                                  .vocabulary = 1000,
                                  .model = "m",
                                  .threads = 2};
    assert_ok(lg_probe_rows_make(items, &how, NULL, &rows, &error));
    return rows;
}

/* Choices that begin alike, that are the beginning of another, that are several bytes long; in any order. */
static const char choices[] =
    "{\"id\":\"a\",\"probe\":\"p\",\"distance\":1,\"prompt\":\"xyz\",\"choices\":[\"q\",\"r\"],\"answer\":0}"
    "\n"
    "{\"id\":\"b\",\"probe\":\"p\",\"distance\":1,\"prompt\":\"the \",\"choices\":[\"ab\",\"abc\",\"abcx\","
    "\"abq\"],\"answer\":0}\n"
    "{\"id\":\"c\",\"probe\":\"p\",\"distance\":1,\"prompt\":\"the \",\"choices\":[\"abq\",\"a\",\"b\"],"
    "\"answer\":0}\n"
    "{\"id\":\"d\",\"probe\":\"p\",\"distance\":1,\"prompt\":\"w\",\"choices\":[\"mnop\",\"mnoq\",\"mn~o\","
    "\"mno\"],\"answer\":2}\n"
    /* "cd" is a token: it straddles, the rest does not */
    "{\"id\":\"e\",\"probe\":\"p\",\"distance\":1,\"prompt\":\"abc\",\"choices\":[\"dx\",\"xx\",\"x\"],"
    "\"answer\":0}\n"
    "{\"id\":\"f\",\"probe\":\"p\",\"distance\":1,\"prompt\":\"c\",\"choices\":[\"d\",\"de\"],\"answer\":0}\n"
    "{\"id\":\"g\",\"probe\":\"p\",\"distance\":1,\"prompt\":\"abcdefghijkl\",\"choices\":[\"x\",\"xyz\"],"
    "\"answer\":0}\n"
    "{\"id\":\"h\",\"probe\":\"p\",\"distance\":1,\"tokenizer\":\"00000000000000000000000000000000\","
    "\"prompt\":\"ab\",\"choices\":[\"x\",\"y\"],\"answer\":0}\n"
    "{\"id\":\"i\",\"probe\":\"p\",\"distance\":1,\"prompt\":\"same\",\"choices\":[\"x~y\",\"xy\",\"xy~\"],"
    "\"answer\":0}\n"
    "{\"id\":\"j\",\"probe\":\"p\",\"distance\":1,\"prompt\":\"abcdefghijkl\",\"choices\":[\"x\",\"xy\"],"
    "\"answer\":0}\n";
enum {
    LIMIT = 13
}; /* behind the prefix and 11 tokens two more of a choice are within, as the last is no input */

/* What the fake scorer gives BYTES behind PREFIX and PROMPT, '~' left out. */
static double expected(uint32_t prefix, const char *prompt, const char *choice) {
    uint32_t y[64] = {prefix};
    size_t n = 1, from = 1;
    for (int part = 0; part < 2; part++) {
        if (part) from = n;
        for (const char *c = part ? choice : prompt; *c; c++) {
            if (*c == '~') continue;
            bool pair = c[0] == 'c' && c[1] == 'd';
            y[n++] = pair ? 256 : (unsigned char)*c;
            c += pair;
        }
    }
    double sum = 0;
    for (size_t i = from; i < n; i++) sum -= (double)fake_nll(y, i);
    return sum;
}

static void test_choices(void **state) {
    (void)state;
    lg_error error = {0};
    lg_tokenizer *tokenizer = byte_tokenizer();
    lg_probe_items *items = parse(choices);
    lg_probe_rows rows = rows_of(items, tokenizer, 999, LIMIT);
    static const uint8_t outcomes[] = {
        LG_PROBE_SCORED,    LG_PROBE_SCORED,   LG_PROBE_SCORED,    LG_PROBE_SCORED, LG_PROBE_STRADDLES,
        LG_PROBE_STRADDLES, LG_PROBE_TOO_LONG, LG_PROBE_NOT_MEANT, LG_PROBE_SCORED, LG_PROBE_SCORED};
    assert_memory_equal(rows.outcome, outcomes, sizeof outcomes);
    const size_t largest = lg_probe_largest(&rows);
    assert_int_equal(largest, LIMIT); /* j */
    for (size_t batch = largest; batch < 200; batch += 7) {
        fake f;
        lg_probe_scores scores;
        assert_ok(lg_probe_scores_create(&rows, "m", &scores, &error));
        assert_ok(lg_probe_score_rows(branching_start(&f, batch), &rows, NULL, (lg_hash){1, 2}, NULL, &scores,
                                      &error));
        size_t at = 0;
        for (size_t i = 0; i < lg_probe_n_items(items); i++) {
            const lg_probe_item *item = lg_probe_item_at(items, i);
            for (size_t c = 0; c < item->n_choices; c++, at++) {
                bool straddles =
                    item->prompt[item->prompt_length - 1] == 'c' && item->choices[c].text[0] == 'd';
                if (straddles || outcomes[i] > LG_PROBE_STRADDLES) {
                    assert_true(isnan(scores.logp[at]) && !scores.tokens[at]);
                    continue;
                }
                assert_true(scores.logp[at] == expected(999, item->prompt, item->choices[c].text));
            }
        }
        /* every token of a prompt once: a 4, b 5 + 2 + 1 ("c" before "x"), c 5 + 2 ("ab" before "q"), d 2 +
           3, e 4 + 1 ("x" of both), i 5 + 1: its choices are all the same, the last is no input; j 12 + 1 */
        assert_int_equal(f.inputs, 4 + 8 + 7 + 5 + 5 + 6 + 13);
        lg_probe_scores_free(&scores);
    }
    lg_probe_rows_free(&rows);
    lg_probe_items_free(items);
    lg_tokenizer_close(tokenizer);
}

static void test_refused(void **state) {
    (void)state;
    lg_error error = {0};
    lg_probe_rows rows;
    lg_tokenizer *tokenizer = byte_tokenizer();
    static const struct {
        const char *item, *message;
        int64_t prefix;
        size_t vocabulary;
    } cases[] = {
        {"{\"id\":\"q\",\"probe\":\"p\",\"distance\":1,\"prompt\":\"xyz\",\"choices\":[\"q\",\"~\"],"
         "\"answer\":0}",
         "item \"q\": choice 1 has no tokens", 3, 1000},
        {"{\"probe\":\"p\",\"distance\":1,\"prompt\":\"~~\",\"choices\":[\"q\",\"r\"],\"answer\":0}",
         "its prompt has no tokens", LG_PREFIX_NONE, 1000},
        {"{\"probe\":\"p\",\"distance\":1,\"prompt\":\"abcd\",\"choices\":[\"q\",\"r\"],\"answer\":0}",
         "id 256, but the model m knows 256", 0, 256},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lg_probe_items *items = parse(cases[i].item);
        const lg_probe_reading how = {.tokenizer = tokenizer,
                                      .prefix = cases[i].prefix,
                                      .vocabulary = cases[i].vocabulary,
                                      .model = "m",
                                      .threads = 1};
        assert_int_equal(lg_probe_rows_make(items, &how, NULL, &rows, &error), LG_BAD_INPUT);
        if (!strstr(error.message, cases[i].message)) fail_msg("%s", error.message);
        assert_null(rows.of);
        lg_probe_items_free(items);
    }
    lg_tokenizer_close(tokenizer);
    /* where the vocabulary lacks a byte, what is left of a choice is another one */
    static const char *const members[] = {"", ", \"unk_token\": \"<\""};
    for (size_t k = 0; k < 2; k++) {
        char *json = tokenizer_json("{\"type\":\"NFC\"}", BYTE_LEVEL, "[]", "[]", members[k], NULL);
        char *byte = strstr(json, "\"~\":");
        assert_non_null(byte);
        byte[1] = '\x7f';
        assert_ok(lg_tokenizer_parse(json, strlen(json), "lacking", &tokenizer, &error));
        free(json);
        lg_probe_items *items = parse("{\"probe\":\"p\",\"prompt\":\"a~\",\"choices\":[\"x~y\",\"xy\"],"
                                      "\"answer\":0}");
        const lg_probe_reading how = {.tokenizer = tokenizer, .prefix = 0, .vocabulary = 1000, .model = "m"};
        assert_int_equal(lg_probe_rows_make(items, &how, NULL, &rows, &error), LG_BAD_INPUT);
        assert_non_null(strstr(error.message, "item 1: the vocabulary of m lacks tokens for choice 0"));
        lg_probe_items_free(items);
        /* what NFC composes (A and a ring) is no less for it */
        items = parse("{\"probe\":\"p\",\"prompt\":\"a\",\"choices\":[\"xA\\u030A\",\"xy\"],\"answer\":0}");
        rows = rows_of(items, tokenizer, 5, 0);
        assert_int_equal(rows.outcome[0], LG_PROBE_SCORED);
        assert_int_equal(rows.tokens[0], 3);
        lg_probe_rows_free(&rows);
        lg_probe_items_free(items);
        lg_tokenizer_close(tokenizer);
    }
    tokenizer = byte_tokenizer();
    /* a prompt without tokens behind a prefix is a prompt */
    lg_probe_items *items = parse(cases[1].item);
    rows = rows_of(items, tokenizer, 5, 0);
    assert_int_equal(rows.of[0].n_prompt, 1);
    lg_probe_rows_free(&rows);
    lg_probe_items_free(items);
    lg_tokenizer_close(tokenizer);
}

/* A run that was stopped goes on from its journal, computes the rest only, and leaves no journal. */
static void test_journal(void **state) {
    (void)state;
    lg_error error = {0};
    lg_tokenizer *tokenizer = byte_tokenizer();
    lg_probe_items *items = parse(choices);
    lg_probe_rows rows = rows_of(items, tokenizer, 999, LIMIT);
    const char *journal = in_folder("logp");
    const lg_hash key = {1, 2}, other = {1, 3};
    fake f;
    lg_probe_scores whole, scores;
    assert_ok(lg_probe_scores_create(&rows, "m", &whole, &error));
    assert_ok(lg_probe_score_rows(branching_start(&f, 13), &rows, NULL, key, NULL, &whole, &error));
    const size_t calls = f.calls, inputs = f.inputs;
    assert_true(calls > 3);
    for (size_t stop = 1; stop < calls; stop++)
        for (int foreign = 0; foreign < 2; foreign++) {
            assert_ok(lg_probe_scores_create(&rows, "m", &scores, &error));
            lg_scorer *scorer = branching_start(&f, 13);
            f.cancel_after = stop;
            assert_int_equal(lg_probe_score_rows(scorer, &rows, journal, key, NULL, &scores, &error),
                             LG_CANCELLED);
            assert_non_null(strstr(error.message, "which is kept"));
            lg_probe_scores_free(&scores);
            size_t before = f.inputs;

            assert_ok(lg_probe_scores_create(&rows, "m", &scores, &error));
            watch w = {0};
            lg_monitor monitor = {&w, watch_progress, watch_note, watch_cancelled};
            assert_ok(lg_probe_score_rows(branching_start(&f, 13), &rows, journal, foreign ? other : key,
                                          &monitor, &scores, &error));
            assert_int_equal(f.inputs, foreign ? inputs : inputs - before);
            assert_true(strlen(w.note) > 0 && w.done == w.total && w.total == f.inputs);
            assert_memory_equal(scores.logp, whole.logp, rows.n_choices * sizeof *whole.logp);
            lg_probe_scores_free(&scores);
            assert_false(lg_exists(in_folder("logp.journal")));
        }
    lg_probe_scores_free(&whole);
    lg_probe_rows_free(&rows);
    lg_probe_items_free(items);
    lg_tokenizer_close(tokenizer);
}

/* The same bits for any threads, batch, order and company; notes say what was left out. */
static void test_invariance(void **state) {
    (void)state;
    lg_error error = {0};
    lg_probe_items *items, *some;
    checkpoint c = open_checkpoint("models/hybrid");
    assert_ok(lg_probe_items_read("tests/golden/probes/items.jsonl", &items, &error));
    const size_t n = 24;
    assert_ok(lg_probe_items_create(&some, &error));
    for (size_t i = n; i-- > 0;) assert_ok(lg_probe_items_add(some, lg_probe_item_at(items, i), &error));
    lg_probe_score_options options = LG_PROBE_SCORE_OPTIONS_INIT;
    lg_probe_scores all, part;
    watch w = {0};
    lg_monitor monitor = {&w, NULL, watch_note, NULL};
    options.threads = 1;
    options.model_name = "m";
    assert_ok(lg_probe_score(c.model, c.tokenizer, items, &options, &monitor, &all, &error));
    assert_string_equal(w.note,
                        "m: left out 2 of 72 items (item 35 is the first): a token crosses the boundary "
                        "between prompt and choice (a space between them belongs to the choice)");
    for (unsigned round = 1; round < 4; round++) {
        options.threads = round;
        options.batch = 250 * round;
        assert_ok(lg_probe_score(c.model, c.tokenizer, some, &options, NULL, &part, &error));
        for (size_t i = 0, at = 0; i < n; i++) {
            size_t here = 0, choices_here = lg_probe_item_at(items, i)->n_choices;
            for (size_t k = 0; k < n && strcmp(lg_probe_item_at(some, k)->id, lg_probe_item_at(items, i)->id);
                 k++)
                here += lg_probe_item_at(some, k)->n_choices;
            assert_memory_equal(all.logp + at, part.logp + here, choices_here * sizeof *all.logp);
            at += choices_here;
        }
        lg_probe_scores_free(&part);
    }
    lg_probe_scores_free(&all);
    lg_probe_items_free(items);
    lg_probe_items_free(some);
    close_checkpoint(&c);
}

/* What the plan says, and that its key goes by what changes numbers. */
static void test_plan(void **state) {
    (void)state;
    lg_error error = {0};
    checkpoint c = open_checkpoint("models/transformer");
    lg_probe_score_options options = LG_PROBE_SCORE_OPTIONS_INIT;
    lg_probe_plan plan, other;
    options.precision = LG_PRECISION_F32;
    assert_ok(lg_probe_plan_make(c.model, c.tokenizer, &options, &plan, &error));
    assert_int_equal(plan.context, lg_model_get_info(c.model)->max_positions);
    assert_int_equal(plan.prefix, lg_model_get_info(c.model)->eos);
    assert_int_equal(plan.precision, LG_PRECISION_F32);
    options.threads = 7, options.batch = 100, options.model_name = "x";
    assert_ok(lg_probe_plan_make(c.model, c.tokenizer, &options, &other, &error));
    assert_string_equal(plan.key, other.key);
    for (int i = 0; i < 3; i++) {
        lg_probe_score_options changed = options;
        if (i == 0) changed.precision = LG_PRECISION_BF16;
        if (i == 1) changed.prefix = LG_PREFIX_NONE;
        if (i == 2) changed.context = 100;
        assert_ok(lg_probe_plan_make(c.model, c.tokenizer, &changed, &other, &error));
        assert_string_not_equal(plan.key, other.key);
    }
    options.prefix = 1000000;
    assert_int_equal(lg_probe_plan_make(c.model, c.tokenizer, &options, &other, &error), LG_USAGE);
    close_checkpoint(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),  cmocka_unit_test(test_golden_all), cmocka_unit_test(test_choices),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_journal),    cmocka_unit_test(test_invariance),
        cmocka_unit_test(test_plan),
    };
    return cmocka_run_group_tests(tests, fake_enter, fake_leave);
}
