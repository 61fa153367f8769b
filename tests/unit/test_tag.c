/* The first tags, case by case from the method's definitions (words, classes, delimiters, copies across
 * windows). */
#include "fixture.h"

#include "base/json.h"
#include "lossgap/tag.h"

/* Opens the tags of DOCUMENTS; expects of each token column what is written, a character a token. */
static lg_table *tag(const fixture_document *documents, size_t n, bool text, size_t window, unsigned threads,
                     lg_dataset *data) {
    lg_error error = {0};
    fixture_dataset(fixture_path("data"), documents, n, text);
    if (lg_dataset_open(fixture_path("data"), data, &error)) fail_msg("%s", error.message);
    lg_tag_options options = {.window = window, .threads = threads, .command = "test"};
    if (lg_tag_run(data, &options, fixture_path("tags"), NULL, &error)) fail_msg("%s", error.message);
    lg_table *tags;
    if (lg_table_open(fixture_path("tags"), "tags", &tags, &error)) fail_msg("%s", error.message);
    return tags;
}

/* Column values as digits and letters. */
static void expect(const lg_table *tags, const char *column, const char *values) {
    lg_error error = {0};
    const lg_tensor *t = lg_table_find(tags, column);
    if (!t) fail_msg("no column %s", column);
    char seen[256] = "";
    for (size_t i = 0; i < t->count && i < 255; i++) {
        const void *v;
        assert_int_equal(lg_table_column(tags, column, t->dtype, t->count, &v, &error), LG_OK);
        uint64_t value = t->dtype == LG_U8    ? ((const uint8_t *)v)[i]
                         : t->dtype == LG_U16 ? ((const uint16_t *)v)[i]
                         : t->dtype == LG_U32 ? ((const uint32_t *)v)[i]
                                              : ((const uint64_t *)v)[i];
        seen[i] = (char)(value < 10 ? '0' + (int)value : 'a' + (int)value - 10);
    }
    if (strcmp(seen, values) != 0) fail_msg("%s: %s, not %s", column, seen, values);
}

#define ONE(kind, text) (fixture_document[]){{"d", "x", kind, text, 0}}, 1

/* none 0, whole 1, prefix 2, middle 3, suffix 4 */
static void test_word_position(void **state) {
    (void)state;
    static const struct {
        const char *tokens, *positions;
    } cases[] = {
        {"The\1 quick\1 fo\1x\1.", "11240"},
        {" don\1'\1t\1 '\1quoted\1'", "234010"},          /* inner apostrophes only */
        {"it\1\xE2\x80\x99\1s\1 \xE2\x80\x99\1", "2340"}, /* U+2019 */
        {"rock\1'n\1'\1roll''\1n", "23341"},
        {"foo_\1bar\1 x1\1"
         "2",
         "2424"},
        {" a b\1c", "14"}, /* the first word that it overlaps */
        {"\n\n\1  \1a", "001"},
        {"na\xC3\1\xAF\1ve", "234"}, /* a split character */
        {"caf\xC3\xA9\1\xCC\x81\1 \xE6\x97\xA5\xE6\x9C\xAC",
         "241"},                  /* marks and ideographs belong to words */
        {"\xFF\1a\1\xFF", "010"}, /* no UTF-8 */
        {"x\1\xC2\xB2", "10"},    /* a superscript two is no digit */
        {"a'\1b", "24"},
        {"a\1''\1b", "101"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lg_dataset data;
        lg_table *tags = tag(ONE(LG_PROSE, cases[i].tokens), true, 0, 1, &data);
        expect(tags, "word_position", cases[i].positions);
        lg_table_close(tags);
        lg_dataset_close(&data);
    }
}

/* whitespace 0, word 1, number 2, punctuation 3, other 4 */
static void test_char_class(void **state) {
    (void)state;
    static const struct {
        const char *tokens, *classes;
    } cases[] = {
        {"The\1 7th\1_\1 (x\1 \1\n\t\1$", "1213003"},
        {"\xC2\xA0\1\xE2\x80\xA9\1\xC2\x85\1\xE3\x80\x80x",
         "0001"},                                           /* NBSP, U+2029, U+0085, ideographic space */
        {"\xFF\1\xEF\xBF\xBD\1\x7F\1\xE2\x80\x8B", "4444"}, /* no UTF-8, U+FFFD, DEL, zero width space */
        {"\xE2\x82\1\xAC\1 \xE2\x82\xAC", "333"},           /* a split euro sign */
        {"\xE2\x80\1\x83\1"
         "1",
         "002"},                                     /* a split em space */
        {"\xC2\xBD\1\xE2\x85\xA7\1\xD9\xA3", "222"}, /* one half, roman eight, arabic three */
        {"\xCC\x81\1\xE2\x80\x94", "13"},            /* a mark, a dash */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lg_dataset data;
        lg_table *tags = tag(ONE(LG_PROSE, cases[i].tokens), true, 0, 1, &data);
        expect(tags, "char_class", cases[i].classes);
        lg_table_close(tags);
        lg_dataset_close(&data);
    }
}

/* none 0, then by kind, opening before closing: round 1 2, square 3 4, curly 5 6 … quote f g */
static void test_delimiters(void **state) {
    (void)state;
    lg_dataset data;
    const char *tokens = " (\1a\1[]\1){\1}\1 <\1>\1f(";
    lg_table *tags = tag(ONE(LG_PROSE, tokens), true, 0, 1, &data);
    expect(tags, "delimiter",
           "10326000"); /* the delimiter that holds the first byte that is not white space */
    expect(tags, "delimiter.begin", "134567c");
    expect(tags, "delimiter.tag", "0231450");
    lg_table_close(tags);
    lg_dataset_close(&data);
    tags = tag(ONE(LG_PROSE, " (see\1 \"\1(\1it\1)\".\1 x\1)\1]\1).\1 (("), true, 0, 1, &data);
    expect(tags, "delimiter", "1f10202421");
    expect(tags, "delimiter_depth", "1230301001");
    expect(tags, "delimiter_distance", "0000206000");
    lg_table_close(tags);
    lg_dataset_close(&data);
}

/* Three documents in windows of 5: the stream is a b a b | a b a | a a b |, with separators at |. */
static void test_copies(void **state) {
    (void)state;
    fixture_document documents[] = {{"1", "x", LG_PROSE, "a\1b\1a\1b", 0},
                                    {"2", "x", LG_PROSE, "a\1b\1a", 0},
                                    {"3", "y", LG_PROSE, "", 0},
                                    {"4", "y", LG_PROSE, "a\1a\1b", 0}};
    for (int text = 0; text < 2; text++) {
        lg_dataset data;
        lg_table *tags = tag(documents, 4, text, 5, 2, &data);
        expect(tags, "copy_len", "0012001010");
        expect(tags, "prev_distance", "0022002010");
        expect(tags, "reuse", "0011001010");
        /* stream: a b a b | / a b a | | / a a b | */
        expect(tags, "copy_len_window", "0012001010");
        expect(tags, "prev_distance_window", "0022002010");
        assert_true((lg_table_find(tags, "word_position") != NULL) == text);
        lg_table_close(tags);
        lg_dataset_close(&data);
        tags = tag(documents, 4, text, 100, 1, &data); /* one window: runs and distances over separators */
        expect(tags, "copy_len", "0012001010");
        /* a b a b | a b a | | a a b |: positions 0-3, 5-7, 10-12 */
        expect(tags, "copy_len_window", "0012123112");
        expect(tags, "prev_distance_window", "0022332316");
        lg_table_close(tags);
        lg_dataset_close(&data);
    }
}

/* Positions count within documents and windows; frequencies over the whole dataset. */
static void test_positions(void **state) {
    (void)state;
    fixture_document documents[] = {{"1", "x", LG_PROSE, "a\1b\1a", 0}, {"2", "x", LG_PROSE, "a", 0}};
    for (int text = 0; text < 2; text++) {
        lg_dataset data;
        lg_error error = {0};
        lg_table *tags = tag(documents, 2, text, 3, 1, &data);
        const void *values;
        expect(tags, "position", "0120");
        expect(tags, "position_window", "0121"); /* a b a | separator a separator */
        assert_int_equal(lg_table_column(tags, "frequency", LG_F64, 4, &values, &error), LG_OK);
        assert_true(((const double *)values)[0] == 0.75 && ((const double *)values)[1] == 0.25);
        lg_table_close(tags);
        lg_dataset_close(&data);
    }
}

/* Frequencies from a table of other data: types that it has not seen have none. */
static void test_frequency_table(void **state) {
    (void)state;
    lg_error error = {0};
    lg_dataset data[2];
    fixture_document wide[] = {{"1", "x", LG_PROSE, "a\1b\1a\1a", 0}},
                     narrow[] = {{"1", "x", LG_PROSE, "b\1c", 0}};
    fixture_dataset(fixture_path("wide"), wide, 1, true);
    fixture_dataset(fixture_path("narrow"), narrow, 1, true);
    assert_int_equal(lg_dataset_open(fixture_path("wide"), &data[0], &error), LG_OK);
    assert_int_equal(lg_dataset_open(fixture_path("narrow"), &data[1], &error), LG_OK);
    assert_int_equal(lg_frequency_count(data, 2, fixture_path("both"), "test", NULL, &error), LG_OK);
    assert_int_equal(lg_frequency_count(data, 1, fixture_path("counts"), "test", NULL, &error), LG_OK);
    static const double want[2][2] = {{0.25, 0}, {2.0 / 6, 1.0 / 6}};
    for (int k = 0; k < 2; k++) {
        char counts[128];
        strcpy(counts, fixture_path(k ? "both" : "counts"));
        lg_tag_options options = {.frequency = counts, .command = "test"};
        const void *values;
        lg_table *tags;
        bool current;
        if (lg_tag_run(&data[1], &options, fixture_path("tags"), NULL, &error)) fail_msg("%s", error.message);
        assert_int_equal(lg_table_open(fixture_path("tags"), "tags", &tags, &error), LG_OK);
        assert_int_equal(lg_table_column(tags, "frequency", LG_F64, 2, &values, &error), LG_OK);
        assert_memory_equal(values, want[k], sizeof want[k]);
        lg_table_close(tags);
        assert_int_equal(lg_tag_is_current(fixture_path("tags"), &data[1], &options, &current, &error),
                         LG_OK);
        assert_true(current);
        options.frequency = NULL;
        assert_int_equal(lg_tag_is_current(fixture_path("tags"), &data[1], &options, &current, &error),
                         LG_OK);
        assert_false(current);
        options.multi = LG_MULTI_DROP;
        options.frequency = fixture_path("narrow"); /* no such table */
        assert_int_equal(lg_tag_run(&data[1], &options, fixture_path("none"), NULL, &error), LG_BAD_INPUT);
        assert_int_equal(access(fixture_path("none"), F_OK), -1);
    }
    lg_dataset_close(&data[0]);
    lg_dataset_close(&data[1]);
}

/* What LEVEL is called among the settings' levels of COLUMN. */
static size_t level(const lg_table *tags, const char *column, const char *name) {
    lg_arena arena = {0};
    lg_error error = {0};
    lg_json_value *settings;
    const char *text = lg_table_provenance(tags)->settings;
    assert_int_equal(lg_json_parse(&arena, text, strlen(text), "settings", &settings, &error), LG_OK);
    size_t i = 0;
    const lg_json_value *v = lg_json_get(lg_json_get(settings, "levels"), column);
    assert_non_null(v);
    for (v = v->first; v && strcmp(v->string, name) != 0; v = v->next) i++;
    if (!v) fail_msg("%s has no level %s", column, name);
    lg_arena_free(&arena);
    return i;
}

/* Single tags, and all that a token carries. White space counts only where there is nothing else. */
static void test_families(void **state) {
    (void)state;
    static const char *const families[] = {"keyword",    "open",   "close",  "layout", "keyword",
                                           "whitespace", "number", "layout", "none"};
    static const char *const carried[][5] = {{"keyword", "identifier"},
                                             {"open", "identifier"},
                                             {"close", "operator", "layout"},
                                             {"layout"},
                                             {"keyword"},
                                             {"whitespace"},
                                             {"number"},
                                             {"layout"},
                                             {"none"}};
    enum { N = sizeof families / sizeof *families };
    for (int multi = LG_MULTI_FIRST; multi <= LG_MULTI_DROP; multi++) {
        lg_dataset data;
        lg_error error = {0};
        fixture_document one = {"d", "x", LG_PYTHON, "def f\1 (a\1):\n\1    \1return\1 \1 1\1\n\1\1", 0};
        fixture_dataset(fixture_path("data"), &one, 1, true);
        assert_int_equal(lg_dataset_open(fixture_path("data"), &data, &error), LG_OK);
        assert_int_equal(data.n_tokens, N);
        lg_tag_options options = {.multi = (lg_multi)multi, .command = "test"};
        if (lg_tag_run(&data, &options, fixture_path("tags"), NULL, &error)) fail_msg("%s", error.message);
        lg_table *tags;
        const void *family, *bits, *class, *brown;
        assert_int_equal(lg_table_open(fixture_path("tags"), "tags", &tags, &error), LG_OK);
        assert_int_equal(lg_table_column(tags, "family", LG_U8, N, &family, &error), LG_OK);
        assert_int_equal(lg_table_column(tags, "class", LG_U8, N, &class, &error), LG_OK);
        assert_int_equal(lg_table_column(tags, "brown", LG_U16, N, &brown, &error), LG_OK);
        assert_int_equal(lg_table_column(tags, "family_bits", LG_U64, N, &bits, &error), LG_OK);
        for (size_t i = 0; i < N; i++) {
            size_t several = 0;
            uint64_t want = 0;
            for (; carried[i][several]; several++)
                want |= (uint64_t)1 << level(tags, "family", carried[i][several]);
            if (((const uint64_t *)bits)[i] != want)
                fail_msg("token %zu carries %llx", i, (unsigned long long)((const uint64_t *)bits)[i]);
            const char *single = multi == LG_MULTI_DROP && several > 1 ? "none" : families[i];
            if (((const uint8_t *)family)[i] != level(tags, "family", single))
                fail_msg("token %zu is no %s", i, single);
            assert_int_equal(((const uint8_t *)class)[i], level(tags, "class", "none"));
            assert_int_equal(((const uint16_t *)brown)[i], 0);
        }
        lg_table_close(tags);
        lg_dataset_close(&data);
    }
}

/* Sentences are counted from 1; white space between them belongs to none. */
static void test_sentences(void **state) {
    (void)state;
    lg_dataset data;
    lg_table *tags = tag(ONE(LG_PROSE, "One\1 two\1.\1 \1Is\1 it\1?\1\n\n\1Four\1."), true, 0, 1, &data);
    expect(tags, "sentence", "1110222033");
    expect(tags, "sentence.begin", "09h");
    lg_table_close(tags);
    lg_dataset_close(&data);
}

/* Classes of words, one and all; code has none. */
static void test_classes(void **state) {
    (void)state;
    static const char *const single[] = {"function", "content", "none", "function"};
    static const char *const carried[][3] = {
        {"function"}, {"content", "other"}, {"none"}, {"function", "content"}};
    lg_dataset data;
    lg_error error = {0};
    lg_table *tags = tag(ONE(LG_PROSE, "The\1 dog.\1 \1of dogs"), true, 0, 1, &data);
    const void *class, *bits;
    assert_int_equal(lg_table_column(tags, "class", LG_U8, 4, &class, &error), LG_OK);
    assert_int_equal(lg_table_column(tags, "class_bits", LG_U8, 4, &bits, &error), LG_OK);
    for (size_t i = 0; i < 4; i++) {
        unsigned want = 0;
        for (size_t k = 0; carried[i][k]; k++) want |= 1u << level(tags, "class", carried[i][k]);
        assert_int_equal(((const uint8_t *)class)[i], level(tags, "class", single[i]));
        assert_int_equal(((const uint8_t *)bits)[i], want);
    }
    lg_table_close(tags);
    lg_dataset_close(&data);
}

/* Empty documents, no documents; threads and windows of any size change nothing but what they must. */
static void test_any_threads(void **state) {
    (void)state;
    enum { N = 300 };
    fixture_document documents[N];
    char names[N][16], *texts[N];
    uint64_t random = 3;
    for (size_t d = 0; d < N; d++) {
        snprintf(names[d], sizeof names[d], "%zu", d);
        texts[d] = malloc(400);
        size_t n = 0;
        for (size_t k = random >> 40 & 63; k > 0; k--) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            n += (size_t)sprintf(texts[d] + n, "%s%c%s", n ? "\1" : "",
                                 " a(b.<"[random >> 33 & 7 ? random >> 36 & 3 : 4],
                                 random >> 50 & 1 ? "x" : "1");
        }
        texts[d][n] = 0;
        documents[d] =
            (fixture_document){names[d], d & 1 ? "odd" : "even", (lg_kind)(d % LG_N_KINDS), texts[d], 0};
    }
    char identity[2][33] = {"", ""};
    for (unsigned threads = 1; threads <= 2; threads++) {
        lg_dataset data;
        lg_table *tags = tag(documents, N, true, 64, threads, &data);
        strcpy(identity[threads - 1], lg_table_provenance(tags)->identity);
        lg_table_close(tags);
        lg_dataset_close(&data);
    }
    assert_string_equal(identity[0], identity[1]);
    for (size_t d = 0; d < N; d++) free(texts[d]);

    lg_dataset data;
    lg_table *tags = tag(documents, 0, true, 0, 2, &data);
    assert_int_equal(lg_table_find(tags, "copy_len")->count, 0);
    lg_table_close(tags);
    lg_dataset_close(&data);
}

/* The same text under two tokenizers: the same layers, byte by byte. */
static void test_layers_do_not_depend_on_tokens(void **state) {
    (void)state;
    static const char *const cuts[] = {"It's (a\1\1 <b\1>) x_1", "I\1t'\1s (\1a <\1b>) x\1_1"};
    static const char *const layers[] = {"word.begin",      "word.end",      "word.tag",
                                         "delimiter.begin", "delimiter.end", "delimiter.tag"};
    unsigned char seen[2][6][128];
    size_t sizes[2][6];
    for (size_t i = 0; i < 2; i++) {
        lg_dataset data;
        lg_table *tags = tag(ONE(LG_PROSE, cuts[i]), true, 0, 1, &data);
        for (size_t k = 0; k < 6; k++) {
            const lg_tensor *t = lg_table_find(tags, layers[k]);
            assert_non_null(t);
            sizes[i][k] = t->count * lg_dtype_size(t->dtype);
            assert_in_range(sizes[i][k], 1, sizeof seen[i][k]);
            memcpy(seen[i][k], t->data, sizes[i][k]);
        }
        lg_table_close(tags);
        lg_dataset_close(&data);
    }
    for (size_t k = 0; k < 6; k++) {
        assert_int_equal(sizes[0][k], sizes[1][k]);
        assert_memory_equal(seen[0][k], seen[1][k], sizes[0][k]);
    }
}

static bool stop(void *context) {
    (void)context;
    return true;
}

static void test_stops(void **state) {
    (void)state;
    lg_error error = {0};
    lg_dataset data;
    fixture_document one = {"d", "x", LG_PROSE, "a\1b", 0};
    fixture_dataset(fixture_path("data"), &one, 1, true);
    assert_int_equal(lg_dataset_open(fixture_path("data"), &data, &error), LG_OK);
    lg_monitor monitor = {.cancelled = stop};
    lg_tag_options options = {0};
    assert_int_equal(lg_tag_run(&data, &options, fixture_path("stopped"), &monitor, &error), LG_CANCELLED);
    assert_int_equal(access(fixture_path("stopped"), F_OK), -1);
    options.window = (size_t)1 << 31;
    assert_int_equal(lg_tag_run(&data, &options, fixture_path("stopped"), NULL, &error), LG_USAGE);
    lg_dataset_close(&data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_word_position),
        cmocka_unit_test(test_char_class),
        cmocka_unit_test(test_delimiters),
        cmocka_unit_test(test_positions),
        cmocka_unit_test(test_frequency_table),
        cmocka_unit_test(test_families),
        cmocka_unit_test(test_sentences),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_any_threads),
        cmocka_unit_test(test_layers_do_not_depend_on_tokens),
        cmocka_unit_test(test_stops),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
