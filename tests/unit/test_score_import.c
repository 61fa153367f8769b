/* Losses made elsewhere: accepted where they fit the dataset, refused with the place where they do not. */
#include "score_fake.h"

#include <math.h>

enum { PREFIX = 600 };

/* Three documents, "d1" [11 12 13], "d2" [], "d3" [14 15]. */
static corpus small_corpus(void) {
    const size_t length[] = {3, 0, 2};
    const uint64_t seed[] = {1, 2, 3};
    corpus c = make_corpus(3, length, seed);
    for (uint32_t i = 0; i < 5; i++) c.ids[i] = 11 + i;
    return c;
}

static lg_status import_text(const corpus *c, const char *text, const lg_score_options *options,
                             lg_error *error) {
    *error = (lg_error){0};
    assert_int_equal(lg_write_file(in_folder("losses.jsonl"), text, strlen(text), NULL), LG_OK);
    unlink(in_folder("imported"));
    return lg_score_import(in_folder("losses.jsonl"), &c->data, options, in_folder("imported"), NULL, error);
}

#define D1 "{\"id\": \"d1\", \"input_ids\": [11, 12, 13], \"nll\": [null, 2.5, 1e-3]}\n"
#define D2 "{\"id\": \"d2\", \"input_ids\": [], \"nll\": []}\n"
#define D3 "{\"nll\": [NaN, 0.25], \"input_ids\": [14, 15], \"extra\": {\"a\": [1]}, \"id\": \"d3\"}\n"

static void values_are_taken(void **state) {
    (void)state;
    corpus c = small_corpus();
    lg_score_options o = {.prefix = LG_PREFIX_AUTO, .model_name = "gpu"};
    lg_error error;
    lg_scores s;
    static const char *const orders[] = {D1 D2 D3, "\n" D3 "\r\n" D1 D2, D2 D3 D1};
    for (size_t i = 0; i < 3; i++) {
        if (import_text(&c, orders[i], &o, &error)) fail_msg("%s", error.message);
        assert_int_equal(lg_scores_open(in_folder("imported"), &c.data, &s, &error), LG_OK);
        const float expected[] = {NAN, 2.5f, 1e-3f, NAN, 0.25f};
        const uint32_t context[] = {0, 1, 2, 0, 1};
        for (size_t t = 0; t < 5; t++) {
            assert_true(isnan(expected[t]) ? isnan(s.nll[t]) : s.nll[t] == expected[t]);
            assert_int_equal(s.context[t], context[t]);
        }
        assert_int_equal(s.prefix, LG_PREFIX_NONE);
        assert_int_equal(s.window_context, 8192);
        assert_int_equal(s.stride, 4096);
        assert_int_equal(s.precision, LG_PRECISION_AUTO);
        assert_string_equal(s.model_name, "gpu");
        assert_string_equal(s.model, "");
        assert_null(s.rank);
        lg_scores_close(&s);
    }
    free_corpus(&c);
}

static void more_columns_and_windows_are_taken(void **state) {
    (void)state;
    corpus c = small_corpus();
    c.data.n_docs = 1;
    c.data.n_tokens = 3;
    lg_score_options o = {.prefix = PREFIX, .context = 2, .stride = 1, .precision = LG_PRECISION_BF16};
    lg_error error;
    lg_scores s;
    if (import_text(
            &c,
            "{\"id\":\"d1\",\"input_ids\":[11,12,13],\"nll\":[1,2,3],\"entropy\":[4,5.5,6],\"rank\":[0,7,8],"
            "\"top1\":[11,9,10],\"context\":[1,2,2]}",
            &o, &error))
        fail_msg("%s", error.message);
    assert_int_equal(lg_scores_open(in_folder("imported"), &c.data, &s, &error), LG_OK);
    assert_true(s.nll[2] == 3 && s.entropy[1] == 5.5f && s.rank[2] == 8 && s.top1[0] == 11);
    assert_true(s.context[0] == 1 && s.context[1] == 2 && s.context[2] == 2);
    assert_int_equal(s.prefix, PREFIX);
    assert_int_equal(s.precision, LG_PRECISION_BF16);
    lg_scores_close(&s);
    o.columns = LG_COLUMN_RANK | LG_COLUMN_TOP1;
    static const char text[] = "{\"id\":\"d1\",\"input_ids\":[11,12,13],\"nll\":[1,2,3],\"entropy\":[4,5,6],"
                               "\"rank\":[0,7,8],\"top1\":[11,9,10]}";
    if (import_text(&c, text, &o, &error)) fail_msg("%s", error.message);
    assert_int_equal(lg_scores_open(in_folder("imported"), &c.data, &s, &error), LG_OK);
    assert_true(!s.entropy && s.rank[2] == 8 && s.top1[0] == 11);
    lg_scores_close(&s);
    assert_int_equal(
        import_text(&c, "{\"id\":\"d1\",\"input_ids\":[11,12,13],\"nll\":[1,2,3],\"context\":[1,2,3]}", &o,
                    &error),
        LG_BAD_INPUT);
    assert_non_null(strstr(error.message, "no \"rank\", which was asked for"));
    o.columns = 0;
    assert_int_equal(
        import_text(&c, "{\"id\":\"d1\",\"input_ids\":[11,12,13],\"nll\":[1,2,3],\"context\":[1,2,3]}", &o,
                    &error),
        LG_BAD_INPUT);
    assert_non_null(strstr(error.message, "context[2] of document \"d1\" is 3, but 2"));
    free_corpus(&c);
}

static void paper_windows_are_taken(void **state) {
    (void)state;
    corpus c = small_corpus(); /* stream: 11 12 | 13 S | S 14 | 15 S */
    lg_score_options o = {.prefix = PREFIX, .context = 2, .windows = LG_WINDOWS_PAPER};
    lg_error error;
    lg_scores s;
    const char *text = "{\"id\":\"d1\",\"input_ids\":[11,12,13],\"nll\":[null,2,null]}\n" D2
                       "{\"id\":\"d3\",\"input_ids\":[14,15],\"nll\":[4,null]}";
    if (import_text(&c, text, &o, &error)) fail_msg("%s", error.message);
    assert_int_equal(lg_scores_open(in_folder("imported"), &c.data, &s, &error), LG_OK);
    const uint32_t context[] = {0, 1, 0, 1, 0};
    assert_memory_equal(s.context, context, sizeof context);
    assert_true(s.nll[3] == 4 && isnan(s.nll[4]));
    lg_scores_close(&s);
    o.context = 3;
    assert_int_equal(import_text(&c, text, &o, &error), LG_BAD_INPUT);
    assert_non_null(strstr(error.message, "nll[2] of document \"d1\" is missing"));
    free_corpus(&c);
}

/* What a model scored here and elsewhere in the same way can be paired: the files differ in provenance alone.
 */
static void an_import_equals_the_same_scores(void **state) {
    (void)state;
    const size_t length[] = {20, 3};
    const uint64_t seed[] = {1, 2};
    corpus c = make_corpus(2, length, seed);
    lg_score_settings settings = {
        .name = "x", .model = "m", .isa = "c", .windows = {LG_WINDOWS_DOCUMENT, 8, 4, PREFIX}};
    fake f;
    lg_error error = {0};
    lg_scores a, b;
    assert_int_equal(
        lg_score_rows(fake_start(&f, 8), &c.data, &settings, "", in_folder("scored"), NULL, &error), LG_OK);
    assert_int_equal(lg_scores_open(in_folder("scored"), &c.data, &a, &error), LG_OK);
    char text[4096];
    size_t n = 0, t = 0;
    for (size_t d = 0; d < 2; d++) {
        n += (size_t)sprintf(text + n, "{\"id\": \"d%zu\", \"input_ids\": [", d + 1);
        for (size_t i = 0; i < length[d]; i++)
            n += (size_t)sprintf(text + n, "%s%u", i ? "," : "", c.ids[t + i]);
        n += (size_t)sprintf(text + n, "], \"nll\": [");
        for (size_t i = 0; i < length[d]; i++)
            n += (size_t)sprintf(text + n, "%s%.9g", i ? "," : "", (double)a.nll[t + i]);
        n += (size_t)sprintf(text + n, "]}\n");
        t += length[d];
    }
    lg_score_options o = {.context = 8, .prefix = PREFIX};
    if (import_text(&c, text, &o, &error)) fail_msg("%s", error.message);
    assert_int_equal(lg_scores_open(in_folder("imported"), &c.data, &b, &error), LG_OK);
    assert_memory_equal(a.nll, b.nll, c.data.n_tokens * sizeof *a.nll);
    assert_memory_equal(a.context, b.context, c.data.n_tokens * sizeof *a.context);
    const void *hash_a, *hash_b;
    assert_int_equal(lg_table_column(a.table, "row_hash", LG_U64, SIZE_MAX, &hash_a, &error), LG_OK);
    assert_int_equal(lg_table_column(b.table, "row_hash", LG_U64, SIZE_MAX, &hash_b, &error), LG_OK);
    assert_memory_equal(hash_a, hash_b, 5 * 16); /* rows of 20 tokens: 8, then 4 each; and one of 3 */
    lg_scores_close(&a);
    lg_scores_close(&b);
    free_corpus(&c);
}

static void documents_of_one_name_come_in_order(void **state) {
    (void)state;
    const size_t length[] = {1, 1};
    const uint64_t seed[] = {1, 1};
    corpus c = make_corpus(2, length, seed);
    c.ids[0] = 5;
    c.ids[1] = 6;
    lg_score_options o = {.prefix = PREFIX};
    lg_error error;
    lg_scores s;
#define SAME(id, nll) "{\"id\":\"d1\",\"input_ids\":[" id "],\"nll\":[" nll "]}\n"
    if (import_text(&c, SAME("5", "1") SAME("6", "2"), &o, &error)) fail_msg("%s", error.message);
    assert_int_equal(lg_scores_open(in_folder("imported"), &c.data, &s, &error), LG_OK);
    assert_true(s.nll[0] == 1 && s.nll[1] == 2);
    lg_scores_close(&s);
    assert_int_equal(import_text(&c, SAME("5", "1") SAME("6", "2") SAME("6", "2"), &o, &error), LG_BAD_INPUT);
    assert_non_null(strstr(error.message, "a second time"));
    free_corpus(&c);
}

static void what_does_not_fit_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
        int64_t prefix;
    } cases[] = {
        {"", "has no line for document \"d1\" (0 of the dataset's 3 documents are there)", LG_PREFIX_NONE},
        {D1 D3, "has no line for document \"d2\" (2 of", LG_PREFIX_NONE},
        {D1 D2 D3 D1, "line 4: document \"d1\" a second time, it is also in line 1", LG_PREFIX_NONE},
        {D1 D2 D3 "{\"id\":\"d4\"}", "line 4: the dataset has no document \"d4\"", LG_PREFIX_NONE},
        {D1 D2 D3 "{\"id\":4}", "line 4: the dataset has no document \"4\"", LG_PREFIX_NONE},
        {D1 D2 "{\"input_ids\":[]}", "line 3: no \"id\"", LG_PREFIX_NONE},
        {D1 D2 "{\"id\":\"d3\"", "line 3: ", LG_PREFIX_NONE},
        {D1 D2 "{\"id\":\"d3\"} x", "line 3: ", LG_PREFIX_NONE},
        {D1 D2 "[]", "line 3: ", LG_PREFIX_NONE},
        {D1 D2 "{\"id\":\"d3\",\"nll\":[null,1]}", "line 3: no \"input_ids\"", LG_PREFIX_NONE},
        {D1 D2 "{\"id\":\"d3\",\"input_ids\":[14,15]}", "line 3: no \"nll\"", LG_PREFIX_NONE},
        {D1 D2 "{\"id\":\"d3\",\"input_ids\":[14,16],\"nll\":[null,1]}",
         "input_ids[1] is 16, the dataset has 15 there", LG_PREFIX_NONE},
        {D1 D2 "{\"id\":\"d3\",\"input_ids\":[14],\"nll\":[null,1]}", "input_ids has 1 tokens, the dataset 2",
         LG_PREFIX_NONE},
        {D1 D2 "{\"id\":\"d3\",\"input_ids\":[14,15,1],\"nll\":[null,1]}", "more than the dataset's 2 tokens",
         LG_PREFIX_NONE},
        {D1 D2 "{\"id\":\"d3\",\"input_ids\":[14,15],\"nll\":[1]}", "nll has 1 values, the document 2 tokens",
         LG_PREFIX_NONE},
        {D1 D2 "{\"id\":\"d3\",\"input_ids\":[14,15],\"nll\":[null,1,2]}", "nll has more values",
         LG_PREFIX_NONE},
        {D1 D2 "{\"id\":\"d3\",\"input_ids\":[14,15],\"nll\":[null,null]}",
         "line 3: nll[1] of document \"d3\" is missing", LG_PREFIX_NONE},
        {D1 D2 "{\"id\":\"d3\",\"input_ids\":[14,15],\"nll\":[1,1]}",
         "line 3: nll[0] of document \"d3\" should be null; nothing stands before it: say --prefix ID",
         LG_PREFIX_AUTO},
        {D1 D2 D3, "line 1: nll[0] of document \"d1\" is missing", PREFIX},
        {D1 D2 "{\"id\":\"d3\",\"input_ids\":[14,15],\"nll\":[null,1e60]}", "does not fit in 32 bits",
         LG_PREFIX_NONE},
        {D1 D2 "{\"id\":\"d3\",\"input_ids\":[14,15],\"nll\":[null,Infinity]}", "line 3: ", LG_PREFIX_NONE},
        {D1 D2 "{\"id\":\"d3\",\"input_ids\":[14,15],\"nll\":[null,\"1\"]}", "line 3: ", LG_PREFIX_NONE},
        {D1 D2 "{\"id\":\"d3\",\"input_ids\":[14,15],\"nll\":[null,1],\"rank\":[null,1]}",
         "line 3: it has \"rank\", unlike the first line", LG_PREFIX_NONE},
        {D1 D2 "{\"id\":\"d3\",\"input_ids\":[14,15],\"nll\":[null,1],\"nll\":[null,1]}", "twice",
         LG_PREFIX_NONE},
        {D1 D2 "{\"id\":\"d3\",\"id\":\"d3\",\"input_ids\":[14,15],\"nll\":[null,1]}", "twice",
         LG_PREFIX_NONE},
        {D1 "{\"id\":\"d2\",\"input_ids\":[1],\"nll\":[]}\n" D3, "line 2: ", LG_PREFIX_NONE},
    };
    corpus c = small_corpus();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lg_error error;
        lg_score_options o = {.prefix = cases[i].prefix};
        assert_int_equal(import_text(&c, cases[i].text, &o, &error), LG_BAD_INPUT);
        if (!strstr(error.message, cases[i].message))
            fail_msg("case %zu: \"%s\" does not say \"%s\"", i, error.message, cases[i].message);
        assert_non_null(strstr(error.message, "losses.jsonl"));
        assert_false(lg_exists(in_folder("imported")));
    }
    free_corpus(&c);
}

static void prefix_auto_reads_the_models_folder(void **state) {
    (void)state;
    corpus c = small_corpus();
    c.data.n_docs = 1;
    c.data.n_tokens = 3;
    lg_error error;
    lg_scores s;
    static const struct {
        const char *config;
        int64_t prefix;
    } cases[] = {{"{\"bos_token_id\": 3, \"eos_token_id\": 4}", 3},
                 {"{\"bos_token_id\": null, \"eos_token_id\": [5, 6]}", 5},
                 {"{\"eos_token_id\": 6}", 6}};
    assert_int_equal(lg_make_folders(in_folder("model"), NULL), LG_OK);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(
            lg_write_file(in_folder("model/config.json"), cases[i].config, strlen(cases[i].config), NULL),
            LG_OK);
        lg_score_options o = {.prefix = LG_PREFIX_AUTO, .tokenizer = in_folder("model")};
        if (import_text(&c, "{\"id\":\"d1\",\"input_ids\":[11,12,13],\"nll\":[1,2,3]}", &o, &error))
            fail_msg("%s", error.message);
        assert_int_equal(lg_scores_open(in_folder("imported"), &c.data, &s, &error), LG_OK);
        assert_int_equal(s.prefix, cases[i].prefix);
        lg_scores_close(&s);
    }
    free_corpus(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_taken),
        cmocka_unit_test(more_columns_and_windows_are_taken),
        cmocka_unit_test(paper_windows_are_taken),
        cmocka_unit_test(an_import_equals_the_same_scores),
        cmocka_unit_test(documents_of_one_name_come_in_order),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(prefix_auto_reads_the_models_folder),
    };
    return cmocka_run_group_tests(tests, fake_enter, fake_leave);
}
