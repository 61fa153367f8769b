/* The part-of-speech tagger: it learns what can be learnt, its file says the same after a round trip, hostile
   files are refused, and typographic variants change nothing. */
#include "fixture.h"

#include "base/file.h"
#include "lossgap/tagger.h"
#include "tag/pos_model.h"

static void write_text(const char *path, const char *text) {
    lg_error error = {0};
    if (lg_write_file(path, text, strlen(text), &error)) fail_msg("%s", error.message);
}

static void train(const char *tagset, const char *text, const char *lexicon, const char *out) {
    lg_error error = {0};
    char file[128], other[128];
    snprintf(file, sizeof file, "%s", fixture_path("train.txt"));
    snprintf(other, sizeof other, "%s", fixture_path("lexicon.txt"));
    const char *files[] = {file}, *lexicons[] = {other};
    write_text(file, text);
    if (lexicon) write_text(other, lexicon);
    lg_tagger_options o = {
        .tagset = tagset, .lexicons = lexicons, .n_lexicons = lexicon != NULL, .command = "test"};
    if (lg_tagger_train(files, 1, &o, out, NULL, &error)) fail_msg("%s", error.message);
}

/* Tags WORDS (blanks between, a sentence each line) and returns "tag tag …". */
static const char *tag(const lg_pos_model *model, const char *text) {
    static char out[1024];
    lg_spans words = {0};
    uint16_t tags[256];
    bool begins = true;
    for (size_t i = 0; text[i];) {
        size_t n = strcspn(text + i, " \n");
        if (n) {
            assert_true(lg_spans_add(&words, i, i + n, begins ? LG_BEGINS_SENTENCE : 0));
            begins = false;
        }
        i += n;
        if (text[i]) begins |= text[i++] == '\n';
    }
    assert_in_range(words.count, 1, 256);
    lg_pos_scratch *scratch = lg_pos_scratch_create(model);
    assert_non_null(scratch);
    assert_true(lg_pos_tag(model, scratch, text, &words, tags));
    size_t n = 0;
    for (size_t i = 0; i < words.count; i++)
        n += (size_t)snprintf(out + n, sizeof out - n, "%s%s", i ? " " : "",
                              lg_pos_model_tags(model)[tags[i]]);
    lg_pos_scratch_free(scratch);
    lg_spans_free(&words);
    return out;
}

static lg_pos_model *open_model(const char *path) {
    lg_pos_model *model;
    lg_error error = {0};
    if (lg_pos_model_open(path, &model, &error)) fail_msg("%s", error.message);
    return model;
}

/* run, walk and talk are nouns after the, verbs after to; -ing is a vbg; capitals within a sentence are np.
 */
static const char toy[] = "the/at run/nn was/bedz long/jj ./.\nwe/ppss like/vb to/to run/vb ./.\n"
                          "the/at walk/nn was/bedz long/jj ./.\nwe/ppss like/vb to/to walk/vb ./.\n"
                          "the/at talk/nn was/bedz long/jj ./.\nwe/ppss like/vb to/to talk/vb ./.\n"
                          "we/ppss are/ber singing/vbg ./.\nwe/ppss are/ber walking/vbg ./.\n"
                          "we/ppss are/ber jumping/vbg ./.\nwe/ppss like/vb Anna/np ./.\n"
                          "we/ppss like/vb Bert/np ./.\nwe/ppss like/vb Carla/np ./.\n";

static void test_toy(void **state) {
    (void)state;
    char path[128];
    snprintf(path, sizeof path, "%s", fixture_path("toy"));
    train("brown", toy, NULL, path);
    lg_pos_model *model = open_model(path);
    assert_string_equal(lg_pos_model_tagset(model), "brown");
    assert_int_equal(lg_pos_model_split(model), LG_SPLIT_WHOLE);
    assert_string_equal(lg_pos_model_tags(model)[0], "at");
    assert_string_equal(tag(model, "the run was long .\nwe like to run ."),
                        "at nn bedz jj . ppss vb to vb .");
    assert_string_equal(tag(model, "the talk was long .\nwe like to talk ."),
                        "at nn bedz jj . ppss vb to vb .");
    assert_string_equal(tag(model, "we are dancing .\nwe like Dora ."), "ppss ber vbg . ppss vb np .");
    assert_int_equal(strlen(lg_pos_model_identity(model)), 32);
    lg_pos_model_close(model);
}

/* The same text gives the same file; another text another identity. */
static void test_same_file(void **state) {
    (void)state;
    lg_mapping a, b;
    lg_error error = {0};
    char path[2][128];
    for (size_t i = 0; i < 2; i++) {
        snprintf(path[i], sizeof path[i], "%s", fixture_path(i ? "again" : "once"));
        train("brown", toy, NULL, path[i]);
    }
    assert_int_equal(lg_map(path[0], &a, &error), LG_OK);
    assert_int_equal(lg_map(path[1], &b, &error), LG_OK);
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.data, b.data, a.size);
    lg_unmap(&a);
    lg_unmap(&b);
    lg_pos_model *one = open_model(path[0]);
    train("brown", "a/b c/d\n", NULL, path[1]);
    lg_pos_model *two = open_model(path[1]);
    assert_string_not_equal(lg_pos_model_identity(one), lg_pos_model_identity(two));
    lg_pos_model_close(one);
    lg_pos_model_close(two);
}

#define LINE(id, form, upos) id "\t" form "\t_\t" upos "\t_\t_\t_\t_\t_\t_\n"

/* What a word is in a larger text of another tagset tells what it is here, though it was never seen here. */
static void test_lexicon(void **state) {
    (void)state;
    static const char text[] = LINE("1", "bab", "A") LINE("2", "dad", "B") "\n" LINE("1", "gag", "B")
        LINE("2", "mam", "A") "\n" LINE("1", "pap", "A") LINE("2", "tat", "B") "\n" LINE("1", "zaz", "B")
            LINE("2", "vav", "A") "\n";
    static const char larger[] = "bab/jj mam/jj pap/jj vav/jj kak/jj\ndad/nn gag/nn tat/nn zaz/nn lal/nn\n";
    char path[128];
    snprintf(path, sizeof path, "%s", fixture_path("stacked"));
    train("upos", text, larger, path);
    lg_pos_model *model = open_model(path);
    assert_int_equal(lg_pos_model_split(model), LG_SPLIT_TREEBANK);
    assert_string_equal(tag(model, "kak lal\nlal kak"), "A B B A");
    lg_pos_model_close(model);
}

/* Curly quotes, dashes and ellipses are as good as plain ones; a straight quote is the one that it looks
 * like. */
static void test_spelling(void **state) {
    (void)state;
    static const struct {
        const char *a, *b;
    } same[] = {
        {"it\xE2\x80\x99s", "it's"}, {"\xE2\x80\x9C", "``"}, {"\xE2\x80\x9D", "''"},
        {"\xE2\x80\xA6", "..."},     {"\xE2\x80\x94", "--"}, {"\"", "``"},
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        lg_pos_token a, b;
        lg_pos_form form;
        for (size_t k = 0; k < 2; k++) {
            const char *text = k ? same[i].b : same[i].a;
            uint64_t begin = 0, end = strlen(text);
            uint16_t one = LG_BEGINS_SENTENCE;
            lg_spans words = {&begin, &end, &one, 1, 1};
            lg_pos_sentence sentence = {0};
            lg_pos_spell(k ? &b : &a, &form, &sentence, text, &words, 0);
        }
        if (a.exact != b.exact || a.plain != b.plain || a.shape != b.shape)
            fail_msg("\"%s\" is not \"%s\"", same[i].a, same[i].b);
    }
    /* He said "yes" ("no"). */
    static const char text[] = "He said \"yes\" (\"no\").";
    uint64_t begin[] = {0, 3, 8, 9, 12, 14, 15, 16, 18, 19, 20},
             end[] = {2, 7, 9, 12, 13, 15, 16, 18, 19, 20, 21};
    uint16_t tags[11] = {LG_BEGINS_SENTENCE};
    lg_spans words = {begin, end, tags, 11, 11};
    lg_pos_sentence sentence = {0};
    lg_pos_token t[11];
    lg_pos_form form;
    for (size_t i = 0; i < 11; i++) lg_pos_spell(&t[i], &form, &sentence, text, &words, i);
    assert_true(t[2].exact == t[6].exact && t[4].exact == t[8].exact && t[2].exact != t[4].exact);
}

/* Signs in Brown, which its text hardly has: by a table, not by guessing. */
static void test_signs(void **state) {
    (void)state;
    lg_error error = {0};
    lg_pos_model *model;
    if (lg_pos_model_builtin("brown", &model, &error)) fail_msg("%s", error.message);
    assert_string_equal(tag(model, "[ { ( ) ] } ... ?! ! ; - -- \xE2\x80\x94 , :"),
                        "( ( ( ) ) ) . . . . -- -- -- , :");
    assert_string_equal(
        tag(model, "\" \xE2\x80\x9C \xE2\x80\x9D \xC2\xAB \xC2\xBB ' & % $ \xC2\xA3 \xE2\x82\xAC"),
        "`` `` '' `` '' ' cc nn nns nns nns");
    assert_string_equal(tag(model, "= == | * ~ <> \xF0\x9F\x98\x80 ^_"), "nil nil nil nil nil nil nil nil");
    lg_pos_model_close(model);
}

/* Typographic quotes and apostrophes give the tags that plain ones give. */
static void test_typographic(void **state) {
    (void)state;
    static const char *const tagsets[] = {"brown", "upos", "penn"};
    for (size_t i = 0; i < 3; i++) {
        lg_error error = {0};
        lg_pos_model *model;
        char plain[256];
        if (lg_pos_model_builtin(tagsets[i], &model, &error)) fail_msg("%s", error.message);
        snprintf(plain, sizeof plain, "%s",
                 tag(model, "`` It 's late '' , he said -- and John 's friends don't care ..."));
        assert_string_equal(
            tag(model, "\xE2\x80\x9C It \xE2\x80\x99s late \xE2\x80\x9D , he said \xE2\x80\x95 and John "
                       "\xE2\x80\x98s friends don\xE2\x80\x99t care \xE2\x80\xA6"),
            plain);
        lg_pos_model_close(model);
    }
}

/* Long words, words of any bytes, a long sentence: a tag for each, in time. */
static void test_strange_words(void **state) {
    (void)state;
    char path[128];
    snprintf(path, sizeof path, "%s", fixture_path("strange"));
    train("brown", toy, NULL, path);
    lg_pos_model *model = open_model(path);
    enum { N = 300000 };
    char *text = malloc(N);
    uint16_t *tags = malloc(N * sizeof *tags);
    lg_spans words = {0};
    lg_pos_scratch *scratch = lg_pos_scratch_create(model);
    uint32_t random = 1;
    for (size_t i = 0; i < N; i++) text[i] = (char)((random = random * 1664525 + 1013904223) >> 24);
    assert_true(lg_spans_add(&words, 0, N / 2, LG_BEGINS_SENTENCE)); /* one word of 150 kB */
    for (size_t i = N / 2; i < N; i += 3) assert_true(lg_spans_add(&words, i, i + 3, 0));
    assert_true(lg_pos_tag(model, scratch, text, &words, tags));
    for (size_t i = 0; i < words.count; i++) assert_in_range(tags[i], 0, model->n_tags - 1);
    lg_pos_scratch_free(scratch);
    lg_spans_free(&words);
    free(text);
    free(tags);
    lg_pos_model_close(model);
}

/* ---- files ---- */

/* A small model by hand: the first of two tags for every word. */
typedef struct by_hand {
    const char *settings;
    const char *missing; /* a column left out */
    size_t n_features;   /* values of feature_check */
    uint32_t row[5];
    uint16_t weight[2];
    uint8_t only;
    const char *format;
} by_hand;

#define SETTINGS(head, sizes, tags) "{" head "\"epochs\":1," sizes "\"lexicon\":false,\"tags\":" tags "}"
#define HEAD                        "\"tagset\":\"brown\",\"feature_set\":1,"
#define SIZES                       "\"feature_homes\":3,\"feature_reach\":1,\"word_homes\":1,\"word_reach\":1,"
#define TAGS                        "[\"a\",\"b\"]"

static const by_hand good = {
    SETTINGS(HEAD, SIZES, TAGS), "", 4, {0, 1, 1, 2, 2}, {0x0100, 0xFF01}, 255, "tagger"};

static void write_by_hand(const by_hand *m, const char *path) {
    lg_table_writer *w;
    lg_error error = {0};
    static const uint16_t check[8] = {1, 0, 5, 0}, classes[2] = {3, 0};
    static const uint32_t word_check[2] = {9, 0};
    const uint8_t only[2] = {m->only, 255};
    const struct {
        const char *name;
        lg_dtype dtype;
        const void *values;
        size_t count;
    } columns[] = {
        {"feature_check", LG_U16, check, m->n_features},
        {"feature_row", LG_U32, m->row, 5},
        {"weight", LG_U16, m->weight, 2},
        {"word_check", LG_U32, word_check, 2},
        {"word_own", LG_U16, classes, 2},
        {"word_other", LG_U16, classes, 2},
        {"word_only", LG_U8, only, 2},
    };
    assert_int_equal(lg_table_writer_create(path, &w, &error), LG_OK);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        size_t column;
        if (strcmp(columns[i].name, m->missing) == 0) continue;
        assert_int_equal(lg_table_writer_add(w, columns[i].name, columns[i].dtype, 1, &column, &error),
                         LG_OK);
        fixture_append(w, column, columns[i].values, columns[i].count);
    }
    lg_provenance p = {.format = m->format, .version = 1, .command = "test", .settings = m->settings};
    if (lg_table_writer_commit(w, &p, NULL, &error)) fail_msg("%s", error.message);
}

static void test_hostile(void **state) {
    (void)state;
    char path[128];
    snprintf(path, sizeof path, "%s", fixture_path("by-hand"));
    write_by_hand(&good, path);
    lg_pos_model *model = open_model(path);
    assert_string_equal(tag(model, "any word"), "a a");
    lg_pos_model_close(model);

    struct {
        const char *what;
        by_hand m;
    } bad[24];
    size_t n = 0;
#define BAD(why, member, ...) bad[n].what = why, bad[n].m = good, bad[n++].m.member = __VA_ARGS__
    BAD("feature_row", row[1], 2); /* descends */
    BAD("feature_row", row[4], 1); /* does not end with the weights */
    BAD("feature_row", row[0], 1); /* does not begin with them */
    BAD("feature_row", row[2], 0xFFFFFFFF);
    BAD("weight is of a tag", weight[1], 0xFF02);
    BAD("word has a tag", only, 2);
    BAD("feature_check", n_features, 5);
    BAD("feature_check", missing, "feature_check");
    BAD("feature_row", missing, "feature_row");
    BAD("weight", missing, "weight");
    BAD("word_check", missing, "word_check");
    BAD("word_only", missing, "word_only");
    BAD("train it again", settings, SETTINGS("\"tagset\":\"brown\",\"feature_set\":2,", SIZES, TAGS));
    BAD("train it again", settings, SETTINGS("\"tagset\":\"brown\",", SIZES, TAGS));
    BAD("name no tagset", settings, SETTINGS("\"tagset\":\"klingon\",\"feature_set\":1,", SIZES, TAGS));
    BAD("sizes", settings, SETTINGS(HEAD, "", TAGS));
    BAD("sizes", settings,
        SETTINGS(HEAD, "\"feature_homes\":3,\"feature_reach\":0,\"word_homes\":1,\"word_reach\":1,", TAGS));
    BAD("sizes", settings,
        SETTINGS(
            HEAD,
            "\"feature_homes\":18446744073709551615,\"feature_reach\":1,\"word_homes\":1,\"word_reach\":1,",
            TAGS));
    BAD("no tags", settings, SETTINGS(HEAD, SIZES, "[]"));
    BAD("no tags", settings, SETTINGS(HEAD, SIZES, "{}"));
    BAD("a tag", settings, SETTINGS(HEAD, SIZES, "[\"a\",2]"));
    BAD("a tag", settings, SETTINGS(HEAD, SIZES, "[\"a\",\"\"]"));
    BAD("tag that there is not", settings, SETTINGS(HEAD, SIZES, "[\"a\"]"));
    BAD("where tagger is wanted", format, "dataset");
    assert_int_equal(n, sizeof bad / sizeof *bad);
    for (size_t i = 0; i < n; i++) {
        lg_error error = {0};
        snprintf(path, sizeof path, "%s/bad-%zu", fixture_folder, i);
        write_by_hand(&bad[i].m, path);
        lg_status status = lg_pos_model_open(path, &model, &error);
        if (status != LG_BAD_INPUT || !strstr(error.message, bad[i].what) || !strstr(error.message, path) ||
            model)
            fail_msg("%s (%zu): status %d, \"%s\"", bad[i].what, i, (int)status, error.message);
    }
}

/* A model that was cut off anywhere is refused. */
static void test_truncated(void **state) {
    (void)state;
    char path[128];
    lg_mapping whole;
    lg_error error = {0};
    snprintf(path, sizeof path, "%s", fixture_path("whole"));
    write_by_hand(&good, path);
    assert_int_equal(lg_map(path, &whole, &error), LG_OK);
    for (size_t n = 0; n < whole.size; n++) {
        lg_pos_model *model;
        assert_int_equal(lg_write_file(fixture_path("cut"), whole.data, n, &error), LG_OK);
        assert_int_equal(lg_pos_model_open(fixture_path("cut"), &model, &error), LG_BAD_INPUT);
        assert_null(model);
    }
    lg_unmap(&whole);
}

static void test_usage(void **state) {
    (void)state;
    lg_error error = {0};
    lg_pos_model *model;
    lg_tagger_report report;
    char path[128], other[128];
    snprintf(path, sizeof path, "%s", fixture_path("train.txt"));
    snprintf(other, sizeof other, "%s", fixture_path("toy"));
    write_text(path, toy);
    train("brown", toy, NULL, other);
    const char *files[] = {path};
    assert_int_equal(lg_pos_model_builtin("klingon", &model, &error), LG_USAGE);
    lg_tagger_options o = {.tagset = "klingon"};
    assert_int_equal(lg_tagger_train(files, 1, &o, fixture_path("out"), NULL, &error), LG_USAGE);
    o.tagset = "brown";
    assert_int_equal(lg_tagger_train(files, 0, &o, fixture_path("out"), NULL, &error), LG_USAGE);
    assert_int_equal(lg_tagger_train(files, 1, &o, path, NULL, &error),
                     LG_BAD_INPUT); /* a text is not replaced */
    lg_tagger_eval_options e = {.tagset = "brown", .raw = true};
    assert_int_equal(lg_tagger_eval(files, 1, &e, &report, &error), LG_USAGE); /* no raw text */
    e = (lg_tagger_eval_options){.tagset = "upos", .model = other};
    assert_int_equal(lg_tagger_eval(files, 1, &e, &report, &error), LG_USAGE); /* a model of another tagset */
    assert_non_null(strstr(error.message, "brown"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_toy),           cmocka_unit_test(test_same_file),
        cmocka_unit_test(test_lexicon),       cmocka_unit_test(test_spelling),
        cmocka_unit_test(test_hostile),       cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_signs),         cmocka_unit_test(test_typographic),
        cmocka_unit_test(test_strange_words), cmocka_unit_test(test_usage),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
