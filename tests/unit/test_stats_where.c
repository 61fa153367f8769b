/* Conditions over tokens: every column that a query may name, and the gap over what a condition keeps. */
#include <math.h>

#include "fixture.h"

#include "lossgap/gap.h"
#include "lossgap/report.h"
#include "stats/where.h"

/* Ten tokens in two documents and an empty one between them. "na" and "ïve" are one word; U+3000 is white
   space; the last token has no bytes. */
static const fixture_document documents[] = {
    {"one.txt", "news", LG_PROSE, "The\1 cat\1\xE3\x80\x80 na\1\xC3\xAFve\1  \1 .", 0},
    {"none.txt", "news", LG_PROSE, "", 0},
    {"two.py", "code", LG_PYTHON, "x\1 =\1 x", 0},
};
enum { TOKENS = 9 };

static const float nll_a[TOKENS] = {NAN, 1, 2, 3, 4, 5, NAN, 7, 8};
static const float nll_b[TOKENS] = {NAN, 0.5f, 3, 1, 4, 2, NAN, 1, 9};
static const float entropy[TOKENS] = {NAN, 1.5f, 2.5f, 3.5f, 4.5f, 5.5f, NAN, 7.5f, 8.5f};
static const uint32_t rank[TOKENS] = {UINT32_MAX, 0, 1, 2, 3, 4, UINT32_MAX, 6, 7};
static const uint32_t context[TOKENS] = {0, 1, 2, 3, 4, 5, 0, 1, 2};
static const uint8_t family[TOKENS] = {1, 0, 2, 2, 3, 3, 0, 3, 0};
static const uint16_t copy_len[TOKENS] = {0, 0, 0, 0, 0, 0, 0, 0, 300};
static const uint64_t family_bits[TOKENS] = {2, 1, 4, 4, 8, 8, 1, 8, 1};
static const double frequency[TOKENS] = {0.5, 0.25, 0, 0.125, 0.125, 0, 0.5, 0.25, 0.5};

static const char settings[] = "{\"levels\":{\"family\":[\"noun\",\"determiner\",\"adjective\",\"none\"]}}";

static lg_dataset data;
static lg_scores scores[2];
static lg_table *tags;
static lg_token_source *source;
static const char *const models[] = {"a", "b"};

static void add(lg_table_writer *w, const char *name, lg_dtype dtype, const void *values, size_t n) {
    lg_error error = {0};
    size_t column;
    assert_int_equal(lg_table_writer_add(w, name, dtype, 1, &column, &error), LG_OK);
    fixture_append(w, column, values, n);
}

static void write_tags(const char *path, const uint64_t *word_begin, const uint64_t *word_end,
                       size_t n_words) {
    lg_error error = {0};
    lg_table_writer *w;
    assert_int_equal(lg_table_writer_create(path, &w, &error), LG_OK);
    add(w, "family", LG_U8, family, TOKENS);
    add(w, "copy_len", LG_U16, copy_len, TOKENS);
    add(w, "family_bits", LG_U64, family_bits, TOKENS);
    add(w, "frequency", LG_F64, frequency, TOKENS);
    add(w, "word.begin", LG_U64, word_begin, n_words);
    add(w, "word.end", LG_U64, word_end, n_words);
    char inputs[96];
    snprintf(inputs, sizeof inputs, "{\"dataset\":\"%s\"}", lg_table_provenance(data.table)->identity);
    lg_provenance p = {.format = "tags", .version = 1, .inputs = inputs, .settings = settings};
    assert_int_equal(lg_table_writer_commit(w, &p, NULL, &error), LG_OK);
}

static void write_scores(const char *path, const float *nll) {
    lg_error error = {0};
    lg_table_writer *w;
    assert_int_equal(lg_table_writer_create(path, &w, &error), LG_OK);
    add(w, "nll", LG_F32, nll, TOKENS);
    lg_provenance p = {.format = "scores", .version = 1, .settings = "{}"};
    assert_int_equal(lg_table_writer_commit(w, &p, NULL, &error), LG_OK);
}

static int setup(void **state) {
    if (fixture_setup(state)) return -1;
    lg_error error = {0};
    fixture_dataset(fixture_path("data"), documents, 3, true);
    assert_int_equal(lg_dataset_open(fixture_path("data"), &data, &error), LG_OK);
    assert_int_equal(data.n_tokens, TOKENS);
    /* "The cat　 naïve   .x = x" */
    static const uint64_t begin[] = {0, 4, 11, 21, 25}, end[] = {3, 7, 17, 22, 26};
    write_tags(fixture_path("tags"), begin, end, 5);
    assert_int_equal(lg_table_open(fixture_path("tags"), "tags", &tags, &error), LG_OK);
    for (size_t i = 0; i < 2; i++) {
        write_scores(fixture_path(models[i]), i ? nll_b : nll_a);
        scores[i] = (lg_scores){.model_name = models[i],
                                .n_tokens = TOKENS,
                                .nll = i ? nll_b : nll_a,
                                .context = context,
                                .prefix = -1};
        assert_int_equal(lg_table_open(fixture_path(models[i]), "scores", &scores[i].table, &error), LG_OK);
    }
    scores[1].entropy = entropy;
    scores[1].rank = rank;
    assert_int_equal(lg_token_source_open(&data, scores, models, 2, tags, &source, &error), LG_OK);
    return 0;
}

static int teardown(void **state) {
    lg_token_source_close(source);
    lg_table_close(tags);
    for (size_t i = 0; i < 2; i++) lg_table_close(scores[i].table);
    lg_dataset_close(&data);
    return fixture_teardown(state);
}

/* ---- columns ---- */

/* The tokens for which TEXT holds, as a string of 1, 0 and ?. */
static void holds(const char *text, const char *expected) {
    lg_error error = {0};
    lg_where w;
    if (lg_where_open(text, "--where", &data, scores, models, 2, tags, &w, &error))
        fail_msg("%s", error.message);
    uint8_t truth[TOKENS];
    char found[TOKENS + 1] = {0};
    for (size_t first = 0; first < TOKENS; first++) { /* from every token on */
        assert_int_equal(lg_where_read(&w, first, TOKENS - first, truth, &error), LG_OK);
        for (size_t i = first; i < TOKENS; i++) found[i] = "0?1"[truth[i - first]];
        if (strcmp(found, expected) != 0) fail_msg("%s: %s, not %s (from %zu)", text, found, expected, first);
    }
    lg_where_close(&w);
}

static void of_the_dataset(void **state) {
    (void)state;
    holds("domain = news", "111111000");
    holds("kind = python", "000000111");
    holds("kind in (html, latex)", "000000000");
    holds("document = two.py", "000000111");
    holds("document ~ /^one/", "111111000");
    holds("doc = 2", "000000111");
    holds("position = 0", "100000100");
    holds("position in (1..2)", "011000011");
    holds("relpos > 0.5", "000111011");
    holds("relpos = 1", "000001001");
    char id[64];
    snprintf(id, sizeof id, "id = %u", fixture_id("x", 1));
    holds(id, "000000100");
    holds("bytes = 3", "100000000");
    holds("bytes = 2", "000011011");
    holds("bytes = 6", "001000000");
}

static void of_texts(void **state) {
    (void)state;
    holds("token = The", "100000000");
    holds("token = cat", "010000000");
    holds("token = na", "001000000");
    holds("token ~ /^\\w+$/", "111100101");
    holds("token = ''", "000010000");
    holds("token = x", "000000101");
    holds("token = '='", "000000010");
    holds("word = cat", "0100??0?0");
    holds("word = na\xC3\xAFve", "0011??0?0");
    holds("word ~ /^[A-Z]/", "1000??0?0");
    holds("missing(word)", "000011010");
    holds("word = (token)", "1100??1?1");
}

static void of_scores(void **state) {
    (void)state;
    holds("loss(a) > 3", "?00011?11");
    holds("nll(b) >= 4", "?00010?01");
    holds("missing(loss(a))", "100000100");
    holds("gap > 0", "?10101?10");
    holds("gap(b) = 0", "?00010?00");
    holds("loss(a) - loss(b) = gap", "?11111?11");
    holds("difficulty = 2.5", "?01000?00");
    holds("entropy(b) < 3", "?11000?00");
    holds("rank(b) = 0", "?10000?00");
    holds("context = 2", "001000001");
}

static void of_tags(void **state) {
    (void)state;
    holds("family = noun", "010000101");
    holds("family in (determiner, none)", "100011010");
    holds("copy_len > 255", "000000001");
    holds("family_bits = 4", "001100000");
    holds("frequency = 0", "001001000");
    holds("log(frequency) < -2", "001111000");
}

static void refuses(const char *text, const lg_table *with, const char *message) {
    lg_error error = {0};
    lg_where w;
    assert_int_equal(lg_where_open(text, "--where", &data, scores, models, 2, with, &w, &error), LG_USAGE);
    if (!strstr(error.message, message)) fail_msg("%s", error.message);
}

static void unknown_names(void **state) {
    (void)state;
    refuses("loss > 1", tags, "column 1: loss of what? As in loss(a)");
    refuses("loss(c) > 1", tags, "column 1: there is no loss(c); there are a, b");
    refuses("gap(a) > 1", tags, "there is no gap(a)");
    refuses("entropy(a) > 1", tags, "there is no entropy(a)");
    refuses("top1(a) = 1", tags, "there is no function or column top1(…)");
    refuses("famly = noun", tags, "there is no column 'famly'; did you mean family?");
    refuses("family = nuon", tags, "no level 'nuon' of family; did you mean noun?");
    refuses("zzzzzz = noun", NULL,
            "there is no column 'zzzzzz'; there are domain, kind, document, doc, loss, nll, "
            "entropy, rank, gap, difficulty, context, position … (and those of tags, with "
            "--tags)");
    refuses("word = x", NULL, "there is no column 'word'");
}

/* A layer that does not lie in the text is refused, not read. */
static void broken_words(void **state) {
    (void)state;
    static const uint64_t spans[][4] = {{0, 4, 3, 27}, {5, 0, 6, 3}, {3, 5, 2, 6}};
    for (size_t i = 0; i < 3; i++) {
        write_tags(fixture_path("broken"), spans[i], spans[i] + 2, 2);
        lg_table *broken;
        lg_error error = {0};
        lg_where w;
        assert_int_equal(lg_table_open(fixture_path("broken"), "tags", &broken, &error), LG_OK);
        assert_int_equal(lg_where_open("word = x", "--where", &data, scores, models, 2, broken, &w, &error),
                         LG_BAD_INPUT);
        assert_non_null(strstr(error.message, "lies outside the text or in another"));
        lg_table_close(broken);
    }
}

/* ---- the gap ---- */

static const char *const by[] = {"domain"};

static lg_gap *compute(const char *where) {
    lg_error error = {0};
    lg_gap_options options = {.by = by, .n_by = 1, .where = where, .command = "test"};
    lg_gap *gap;
    if (lg_gap_compute(&data, scores, 2, fixture_path("tags"), &options, &gap, &error))
        fail_msg("%s", error.message);
    return gap;
}

static void gap_where(void **state) {
    (void)state;
    lg_gap *gap = compute("family != none and loss(a) < 8");
    const lg_gap_about *about = lg_gap_get_about(gap);
    assert_string_equal(about->where, "family != none and loss(a) < 8");
    assert_int_equal(about->unscorable, 2);
    assert_int_equal(about->kept, 3);
    assert_int_equal(about->unknown, 0);
    const lg_gap_row *all = lg_gap_at(gap, 0), *news = lg_gap_at(gap, 1); /* cat, na, ïve */
    assert_int_equal(lg_gap_n_rows(gap), 2);
    assert_int_equal(all->tokens, 3);
    assert_int_equal(all->documents, 1);
    assert_int_equal(all->bytes, 4 + 6 + 4);
    assert_true(all->loss_a == 2 && all->loss_b == 1.5 && all->gap == 0.5);
    assert_string_equal(news->level[0], "news");
    assert_int_equal(news->tokens, 3);
    assert_non_null(
        strstr(about->provenance, "\"where\":\"family != none and loss(a) < 8\",\"kept\":3,\"unknown\":0"));
    char *text;
    size_t length;
    lg_table_style style = {0};
    assert_int_equal(lg_gap_table(gap, &style, &text, &length, NULL), LG_OK);
    assert_non_null(
        strstr(text, "\nwhere family != none and loss(a) < 8: 3 tokens of 7 tokens with a loss\n"));
    free(text);
    lg_gap_free(gap);

    gap = compute("word = cat or doc = 2"); /* cat; =, x */
    assert_int_equal(lg_gap_get_about(gap)->kept, 3);
    assert_int_equal(lg_gap_get_about(gap)->unknown, 2);
    assert_int_equal(lg_gap_at(gap, 0)->documents, 2);
    assert_true(fabs(lg_gap_at(gap, 0)->gap - (0.5 + 6 - 1) / 3) < 1e-15);
    assert_int_equal(lg_gap_table(gap, &style, &text, &length, NULL), LG_OK);
    assert_non_null(strstr(text, "with a loss; it cannot be told of 2 tokens\n"));
    free(text);
    lg_gap_free(gap);

    gap = compute("1 = 2");
    assert_int_equal(lg_gap_n_rows(gap), 1);
    assert_int_equal(lg_gap_at(gap, 0)->tokens, 0);
    assert_true(isnan(lg_gap_at(gap, 0)->gap));
    lg_gap_free(gap);

    gap = compute(NULL);
    assert_null(lg_gap_get_about(gap)->where);
    assert_null(strstr(lg_gap_get_about(gap)->provenance, "where"));
    lg_gap_free(gap);

    lg_error error = {0};
    lg_gap_options options = {.where = "family = nuon"};
    assert_int_equal(lg_gap_compute(&data, scores, 2, fixture_path("tags"), &options, &gap, &error),
                     LG_USAGE);
    assert_string_equal(error.message,
                        "--where 'family = nuon', column 10: no level 'nuon' of family; did you mean noun?");
}

static void checked_before(void **state) {
    (void)state;
    static const struct {
        const char *where;
        unsigned columns;
        lg_status status;
    } cases[] = {{"loss(a) > 1 and gap > 0 and word ~ /x/ and family = noun", 0, LG_OK},
                 {"entropy(a) > 1", LG_COLUMN_ENTROPY, LG_OK},
                 {"rank(a) > 1 or top1(b) = 3", LG_COLUMN_RANK | LG_COLUMN_TOP1, LG_OK},
                 {"entropy(a) > 1", LG_COLUMN_RANK, LG_USAGE},
                 {"loss(c) > 1", 0, LG_USAGE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lg_error error = {0};
        assert_int_equal(lg_gap_check_where(cases[i].where, &data, models, 2, cases[i].columns,
                                            fixture_path("tags"), &error),
                         cases[i].status);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_the_dataset), cmocka_unit_test(of_texts),       cmocka_unit_test(of_scores),
        cmocka_unit_test(of_tags),        cmocka_unit_test(unknown_names),  cmocka_unit_test(broken_words),
        cmocka_unit_test(gap_where),      cmocka_unit_test(checked_before),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
