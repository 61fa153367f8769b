/* Curves against loops over the losses: means, clustered errors, gaps at equal steps; and what JSON, CSV, the
   table and the picture say of them. */
#include <math.h>

#include "base/json.h"
#include "corpus_files.h"
#include "failing_malloc.h"
#include "lossgap/report.h"

enum { N_DOCS = 7, N_MODELS = 5, N_POINTS = 6, LONGEST = 12 };

static lg_dataset data;
static lg_scores scores[N_MODELS];
static lg_filters *filters;
static uint64_t seed = 5;

static unsigned draw(unsigned below) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((seed >> 33) % below);
}

static int make_data(void **state) {
    if (make_scratch(state)) return -1;
    lg_error error = {0};
    lg_text lines = {0}, losses[N_MODELS] = {{0}};
    for (int d = 0; d < N_DOCS; d++) {
        unsigned n = 3 + draw(LONGEST - 3);
        lg_text ids = {0};
        for (unsigned i = 0; i < n; i++) lg_text_printf(&ids, "%s%u", i ? "," : "", draw(50));
        lg_text_printf(&lines, "{\"id\": \"d%d\", \"input_ids\": [%s]}\n", d, ids.data);
        for (int m = 0; m < N_MODELS; m++) {
            lg_text_printf(&losses[m], "{\"id\": \"d%d\", \"input_ids\": [%s], \"nll\": [null", d, ids.data);
            for (unsigned i = 1; i < n; i++) lg_text_printf(&losses[m], ",%u.%u", draw(9), draw(1000));
            lg_text_puts(&losses[m], "]}\n");
        }
        lg_text_free(&ids);
    }
    put_bytes("text.jsonl", lines.data, lines.length);
    lg_dataset_options wanted = {.input_ids = true};
    const char *path = in_scratch("text.jsonl");
    if (lg_dataset_build(&path, 1, &wanted, in_scratch("data"), NULL, &error) ||
        lg_dataset_open(in_scratch("data"), &data, &error)) {
        print_message("%s\n", error.message);
        return -1;
    }
    for (int m = 0; m < N_MODELS; m++) {
        char name[32], out[32];
        snprintf(name, sizeof name, "losses%d.jsonl", m);
        snprintf(out, sizeof out, "scores%d", m);
        put_bytes(name, losses[m].data, losses[m].length);
        lg_score_options o = {.prefix = LG_PREFIX_NONE, .context = 64, .model_name = name};
        if (lg_score_import(in_scratch(name), &data, &o, in_scratch(out), NULL, &error) ||
            lg_scores_open(in_scratch(out), &data, &scores[m], &error)) {
            print_message("%s\n", error.message);
            return -1;
        }
        lg_text_free(&losses[m]);
    }
    lg_text_free(&lines);
    put_text("filters.txt", "early = position <= 3\n");
    static const char *const only[] = {"all", "early", NULL};
    lg_filter_options fo = {.file = in_scratch("filters.txt"), .only = only, .threads = 1};
    if (lg_filters_open(&data, NULL, &fo, &filters, &error)) {
        print_message("%s\n", error.message);
        return -1;
    }
    return 0;
}

static int free_data(void **state) {
    lg_filters_close(filters);
    for (int m = 0; m < N_MODELS; m++) lg_scores_close(&scores[m]);
    lg_dataset_close(&data);
    return remove_scratch(state);
}

static const char *const runs[] = {"base", "new", "third"};
/* Out of order; the baseline has no step 30, the other no step 5. */
static const lg_curve_checkpoint points[N_POINTS] = {
    {.run = "new", .step = 30, .tokens_seen = 300, .tokens_from = "given", .scores = &scores[0]},
    {.run = "base", .step = 20, .tokens_seen = 200, .tokens_from = "given", .scores = &scores[1]},
    {.run = "new", .step = 20, .tokens_seen = 200, .tokens_from = "given", .scores = &scores[2]},
    {.run = "base", .step = 5, .tokens_seen = 50, .tokens_from = "given", .scores = &scores[3]},
    {.run = "new", .step = 10, .scores = &scores[4], .gone = true},
    {.run = "third", .step = 30, .tokens_seen = 300, .tokens_from = "given", .scores = &scores[1]},
};
static const lg_curve_skipped skipped[] = {{"new", "step40", "it is\nnot whole", false}};
static const lg_curve_options options = {.runs = runs, .n_runs = 3, .skipped = skipped, .n_skipped = 1};

static lg_curve *compute(const lg_curve *earlier) {
    lg_curve *curve;
    lg_error error = {0};
    if (lg_curve_compute(&data, points, N_POINTS, filters, &options, earlier, &curve, &error))
        fail_msg("%s", error.message);
    return curve;
}

/* Mean, CR1 error with documents as clusters, of A (minus B) over the first LIMIT tokens of documents. */
static void brute(const lg_scores *a, const lg_scores *b, uint64_t limit, double *mean, double *se,
                  uint64_t *tokens, uint64_t *documents) {
    double sum = 0, sums[N_DOCS] = {0}, n[N_DOCS] = {0};
    *tokens = *documents = 0;
    for (size_t d = 0; d < N_DOCS; d++) {
        size_t begin = (size_t)lg_begin_of(data.doc_token_end, d);
        for (size_t i = begin; i < data.doc_token_end[d] && i - begin <= limit; i++) {
            if (isnan(a->nll[i])) continue;
            double x = (double)a->nll[i] - (b ? (double)b->nll[i] : 0);
            sum += x;
            sums[d] += x;
            n[d]++;
            ++*tokens;
        }
        *documents += n[d] > 0;
    }
    *mean = sum / (double)*tokens;
    double squares = 0, g = (double)*documents;
    for (size_t d = 0; d < N_DOCS; d++) squares += (sums[d] - *mean * n[d]) * (sums[d] - *mean * n[d]);
    *se = sqrt(g / (g - 1) * squares) / (double)*tokens;
}

static void is_near(double a, double b) {
    if (!(fabs(a - b) <= 1e-12 * (1 + fabs(b)))) fail_msg("%.17g is not %.17g", a, b);
}

static void points_equal_loops(void **state) {
    (void)state;
    lg_curve *curve = compute(NULL);
    static const struct {
        const char *run;
        uint64_t step;
        int model, base; /* -1: no gap */
    } order[N_POINTS] = {{"base", 5, 3, -1}, {"base", 20, 1, -1}, {"new", 10, 4, -1},
                         {"new", 20, 2, 1},  {"new", 30, 0, -1},  {"third", 30, 1, -1}};
    assert_int_equal(lg_curve_n_points(curve), 2 * N_POINTS);
    for (size_t k = 0; k < 2 * N_POINTS; k++) {
        const lg_curve_point *p = lg_curve_at(curve, k);
        size_t i = k % N_POINTS;
        uint64_t limit = k < N_POINTS ? UINT64_MAX : 3, tokens, documents;
        double mean, se;
        assert_string_equal(p->filter, k < N_POINTS ? "all" : "early");
        assert_string_equal(p->run, order[i].run);
        assert_int_equal(p->step, order[i].step);
        brute(&scores[order[i].model], NULL, limit, &mean, &se, &tokens, &documents);
        is_near(p->loss.loss, mean);
        is_near(p->loss.se, se);
        assert_int_equal(p->loss.tokens, tokens);
        assert_int_equal(p->loss.documents, documents);
        assert_true(isnan(p->loss.bits_per_byte)); /* no text */
        if (order[i].base < 0) {
            assert_true(isnan(p->loss.gap));
            assert_null(p->baseline);
        } else {
            brute(&scores[order[i].base], &scores[order[i].model], limit, &mean, &se, &tokens, &documents);
            is_near(p->loss.gap, mean);
            is_near(p->loss.gap_se, se);
            assert_string_equal(p->baseline, "base");
        }
        assert_true(p->gone == (order[i].step == 10));
    }
    assert_non_null(lg_curve_at(curve, 2)->note); /* no baseline there */
    assert_non_null(lg_curve_at(curve, 4)->note);
    assert_false(lg_curve_get_about(curve)->all_tokens_seen);
    lg_curve_free(curve);
}

static void earlier_curves_change_nothing(void **state) {
    (void)state;
    lg_curve *one = compute(NULL), *two = compute(one);
    char *a, *b;
    size_t n, m;
    lg_error error = {0};
    assert_int_equal(lg_curve_json(one, &a, &n, &error), LG_OK);
    assert_int_equal(lg_curve_json(two, &b, &m, &error), LG_OK);
    assert_int_equal(n, m);
    assert_memory_equal(a, b, n);
    free(a);
    free(b);
    /* A checkpoint that was trained anew is another one. */
    lg_curve_checkpoint other[N_POINTS];
    memcpy(other, points, sizeof other);
    other[2].scores = &scores[0];
    lg_curve *three;
    assert_int_equal(lg_curve_compute(&data, other, N_POINTS, filters, &options, one, &three, &error), LG_OK);
    double mean, se;
    uint64_t tokens, documents;
    brute(&scores[0], NULL, UINT64_MAX, &mean, &se, &tokens, &documents);
    is_near(lg_curve_at(three, 3)->loss.loss, mean);
    lg_curve_free(one);
    lg_curve_free(two);
    lg_curve_free(three);
}

static void wrong_lists_are_refused(void **state) {
    (void)state;
    lg_curve_checkpoint twice[2] = {points[0], points[0]}, stranger = points[0];
    lg_curve *curve;
    lg_error error = {0};
    assert_int_equal(lg_curve_compute(&data, twice, 2, filters, &options, NULL, &curve, &error), LG_USAGE);
    stranger.run = "nobody";
    assert_int_equal(lg_curve_compute(&data, &stranger, 1, filters, &options, NULL, &curve, &error),
                     LG_USAGE);
}

static size_t count(const char *text, const char *what) {
    size_t n = 0;
    for (const char *p = text; (p = strstr(p, what)); p++) n++;
    return n;
}

static void texts_are_whole(void **state) {
    (void)state;
    lg_curve *curve = compute(NULL);
    char *text;
    size_t n;
    lg_error error = {0};
    lg_arena arena = {0};
    lg_json_value *root;
    assert_int_equal(lg_curve_json(curve, &text, &n, &error), LG_OK);
    assert_int_equal(lg_json_parse(&arena, text, n, "json", &root, &error), LG_OK);
    assert_int_equal(lg_json_get(root, "rows")->length, 2 * N_POINTS);
    assert_int_equal(lg_json_get(root, "checkpoints")->length, N_POINTS);
    assert_string_equal(lg_json_get(lg_json_get(root, "skipped")->first, "state")->string, "incomplete");
    assert_int_equal(lg_json_get(lg_json_get(root, "rows")->first, "bytes")->type, LG_JSON_NULL);
    assert_null(strstr(text, ":nan"));
    free(text);
    assert_int_equal(lg_curve_csv(curve, &text, &n, &error), LG_OK);
    assert_int_equal(count(text, "\n"), 1 + 2 * N_POINTS);
    free(text);

    for (int unicode = 0; unicode < 2; unicode++) {
        lg_curve_style style = {.unicode = unicode};
        assert_int_equal(lg_curve_table(curve, &style, &text, &n, &error), LG_OK);
        bool ascii = true;
        for (size_t i = 0; i < n; i++) ascii &= (unsigned char)text[i] < 0x80;
        assert_true(ascii == !unicode);
        assert_int_equal(count(text, "at step 20"),
                         2); /* of both filters: the last gap is not at the last step */
        assert_non_null(strstr(text, "it is?not whole")); /* no name drives the terminal */
        free(text);
    }

    for (int log = 0; log < 2; log++) {
        lg_curve_picture_style style = {.axis = log ? LG_AXIS_TOKENS : LG_AXIS_AUTO, .log = log};
        assert_int_equal(lg_curve_picture(curve, &style, &text, &n, &error), LG_OK);
        assert_int_equal(lg_json_parse(&arena, text, n, "picture", &root, &error), LG_OK);
        /* step 10 has no tokens: it cannot be drawn over them, and is why auto takes steps */
        assert_int_equal(lg_json_get(lg_json_get(root, "data"), "values")->length,
                         log ? 2 * (N_POINTS - 1) : 2 * N_POINTS);
        assert_int_equal(lg_json_get(root, "vconcat")->length, 2);
        assert_true((strstr(text, "\"x\":{\"field\":\"step\"") != NULL) == !log);
        free(text);
    }
    lg_arena_free(&arena);
    lg_curve_free(curve);
}

/* ---- memory ---- */

static lg_status compute_and_write(void *context, lg_error *error) {
    (void)context;
    lg_curve *curve = NULL;
    char *text[4] = {NULL};
    size_t n;
    lg_curve_style style = {.unicode = true};
    lg_curve_picture_style picture = {0};
    lg_status status = lg_curve_compute(&data, points, N_POINTS, filters, &options, NULL, &curve, error);
    if (!status) status = lg_curve_json(curve, &text[0], &n, error);
    if (!status) status = lg_curve_csv(curve, &text[1], &n, error);
    if (!status) status = lg_curve_table(curve, &style, &text[2], &n, error);
    if (!status) status = lg_curve_picture(curve, &picture, &text[3], &n, error);
    for (int i = 0; i < 4; i++) free(text[i]);
    lg_curve_free(curve);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    survives_failing_malloc(compute_and_write, NULL, "curve");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_equal_loops),        cmocka_unit_test(earlier_curves_change_nothing),
        cmocka_unit_test(wrong_lists_are_refused),   cmocka_unit_test(texts_are_whole),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, make_data, free_data);
}
