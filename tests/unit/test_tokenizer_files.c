/* tokenizer.json files of all kinds: what is accepted means what it says, what is not is refused with its
 * name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tokenizer_fixture.h"

static const char *const pieces[] = {"the", "final", "countdown", "the-", "final-", "-final", "-countdown",
                                     "--",  " a",    " b",        "123",  "12",     " the",   NULL};

static void check_split(const char *pre_tokenizer, const char *text, const char *expected) {
    char pre[1024];
    fixture f;
    snprintf(pre, sizeof pre, "{\"type\": \"Sequence\", \"pretokenizers\": [%s, " BYTE_LEVEL "]}",
             pre_tokenizer);
    fixture_open(&f, tokenizer_json("null", pre, "[]", "[]", ", \"ignore_merges\": true", pieces));
    assert_string_equal(fixture_show(&f, text, false), expected);
    if (f.tokens.count) assert_int_equal(f.tokens.ends[f.tokens.count - 1], strlen(text));
    fixture_close(&f);
}

/* The example of Hugging Face's documentation of SplitDelimiterBehavior; whole pieces are tokens here. */
static void behaviors(void **state) {
    (void)state;
    static const struct {
        const char *behavior, *invert, *expected;
    } cases[] = {
        {"Removed", "false", "the|final|countdown"},
        {"Removed", "true", "-|-|-"},
        {"Isolated", "false", "the|-|final|-|-|countdown"},
        {"Isolated", "true", "the|-|final|-|-|countdown"},
        {"MergedWithPrevious", "false", "the-|final-|-|countdown"},
        {"MergedWithPrevious", "true", "the|-final|-|-countdown"},
        {"MergedWithNext", "false", "the|-final|-|-countdown"},
        {"MergedWithNext", "true", "the-|final-|-|countdown"},
        {"Contiguous", "false", "the|-|final|--|countdown"},
        {"Contiguous", "true", "the|-|final|--|countdown"},
    };
    static const char *const patterns[] = {"\"String\": \"-\"", "\"Regex\": \"-\""};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int p = 0; p < 2; p++) {
            char split[512];
            snprintf(split, sizeof split,
                     "{\"type\": \"Split\", \"pattern\": {%s}, \"behavior\": \"%s\", \"invert\": %s}",
                     patterns[p], cases[i].behavior, cases[i].invert);
            check_split(split, "the-final--countdown", cases[i].expected);
        }
}

static void digits(void **state) {
    (void)state;
    check_split("{\"type\": \"Digits\", \"individual_digits\": true}", "the123the", "the|1|2|3|the");
    check_split("{\"type\": \"Digits\", \"individual_digits\": false}", "the123the", "the|123|the");
}

static void byte_level(void **state) {
    (void)state;
    fixture f;
    /* the pattern is used unless the file says no; the space in front is no text */
    const char *pre = "{\"type\": \"ByteLevel\", \"add_prefix_space\": true, \"trim_offsets\": true}";
    fixture_open(&f, tokenizer_json("null", pre, "[]", "[]", ", \"ignore_merges\": true", pieces));
    assert_string_equal(fixture_show(&f, "the the", false), " the| the");
    assert_string_equal(fixture_ends(&f), "3 7");
    assert_string_equal(fixture_show(&f, " the", false), " the");
    assert_string_equal(fixture_show(&f, "x", false), " |x");
    assert_string_equal(fixture_ends(&f), "0 1");
    assert_string_equal(fixture_show(&f, "", false), "");
    fixture_close(&f);
    /* without any pre-tokenizer a text is one piece */
    fixture_open(&f, tokenizer_json("null", "null", "[]", "[\"t h\", \"th e\", \"e Ġ\", \"Ġ the\"]", "",
                                    (const char *const[]){"th", "the", "e ", " the", NULL}));
    assert_string_equal(fixture_show(&f, "thethe the", false), "the|the| the");
    fixture_close(&f);
}

static void merges(void **state) {
    (void)state;
    static const char *const extra[] = {"ab", "bc", "abc", "aa", NULL};
    fixture f;
    /* the lowest rank first, the leftmost of equals first, strings and pairs mixed; a later rank replaces */
    fixture_open(&f, tokenizer_json("null", BYTE_LEVEL, "[]",
                                    "[[\"b\", \"c\"], \"a b\", \"a bc\", [\"a\", \"a\"]]", "", extra));
    assert_string_equal(fixture_show(&f, "abc", false), "abc");
    assert_string_equal(fixture_show(&f, "ababc", false), "ab|abc");
    assert_string_equal(fixture_show(&f, "aaaaa", false), "aa|aa|a");
    fixture_close(&f);
    fixture_open(&f, tokenizer_json("null", BYTE_LEVEL, "[]", "[\"b c\", \"a b\", \"b c\"]", "", extra));
    assert_string_equal(fixture_show(&f, "abc", false), "ab|c");
    fixture_close(&f);
    /* ignore_merges wants the whole piece */
    fixture_open(&f, tokenizer_json("null", BYTE_LEVEL, "[]", "[]", ", \"ignore_merges\": true", extra));
    assert_string_equal(fixture_show(&f, "abc", false), "abc");
    assert_string_equal(fixture_show(&f, "abcd", false), "a|b|c|d");
    fixture_close(&f);
}

static void nfc(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f, tokenizer_json("{\"type\": \"Sequence\", \"normalizers\": [{\"type\": \"NFC\"}]}",
                                    BYTE_LEVEL, "[]", "[]", "", NULL));
    fixture_show(&f, "xe\u0301y", false); /* x 65 CC 81 y becomes x C3 A9 y */
    assert_string_equal(fixture_ends(&f), "1 1 4 5");
    fixture_show(&f, "x\u00e9y", false);
    assert_string_equal(fixture_ends(&f), "1 2 3 4");
    fixture_show(&f, "\xFF\u0301", false); /* nothing joins a byte that is no character */
    assert_string_equal(fixture_ends(&f), "1 2 3");
    assert_int_equal(f.tokens.ids[0], 0xFF);
    fixture_close(&f);
}

static void missing_bytes(void **state) {
    (void)state;
    const char *json =
        "{\"pre_tokenizer\": " BYTE_LEVEL ", \"model\": {%s\"vocab\": {\"a\": 0, \"c\": 1, \"ac\": 2, "
        "\"?\": 3}, \"merges\": [\"a c\"]}}";
    char text[512];
    fixture f;
    snprintf(text, sizeof text, json, "");
    fixture_open(&f, strdup(text));
    assert_string_equal(fixture_show(&f, "bacbabcb", false), "ac|ac"); /* a byte without a token is nothing */
    assert_string_equal(fixture_ends(&f), "3 8");
    assert_string_equal(fixture_show(&f, "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbabcbbbbb", false), "ac");
    assert_string_equal(fixture_ends(&f), "48");
    assert_string_equal(fixture_show(&f, "b", false), "");
    assert_non_null(strstr(lg_tokenizer_describe(f.tokenizer), "253 bytes without a token"));
    fixture_close(&f);
    snprintf(text, sizeof text, json, "\"unk_token\": \"?\", ");
    fixture_open(&f, strdup(text));
    assert_string_equal(fixture_show(&f, "acbabc", false), "ac|?|a|?|c");
    fixture_close(&f);
}

static void questions(void **state) {
    (void)state;
    fixture f;
    const char *added =
        "[{\"id\": 300, \"content\": \"<é>\", \"special\": true}, {\"id\": 65, \"content\": \"B\"},"
        " {\"id\": 300, \"content\": \"<é>\", \"special\": true}, {\"id\": 301, \"content\": \"\"}]";
    char *json = tokenizer_json("null", BYTE_LEVEL, added, "[]", "", NULL);
    /* byte 0x42, "B", has the id 66 here: the file contradicts itself */
    lg_error error = {0};
    lg_tokenizer *t;
    assert_int_equal(lg_tokenizer_parse(json, strlen(json), "x", &t, &error), LG_BAD_INPUT);
    assert_null(t);
    assert_non_null(strstr(error.message, "\"B\" has the id 65 here and 66 in model.vocab"));
    free(json);
    added = "[{\"id\": 300, \"content\": \"<é>\", \"special\": true}, {\"id\": 66, \"content\": \"B\"}]";
    fixture_open(&f, tokenizer_json("null", BYTE_LEVEL, added, "[]", "", NULL));
    assert_int_equal(lg_tokenizer_size(f.tokenizer), 301);
    uint32_t id = 0;
    assert_true(lg_tokenizer_added_token(f.tokenizer, "<é>", &id));
    assert_int_equal(id, 300);
    assert_false(lg_tokenizer_added_token(f.tokenizer, "<e>", &id));
    size_t length = 0;
    assert_memory_equal(lg_tokenizer_bytes(f.tokenizer, 300, &length), "<é>", 4);
    assert_int_equal(length, 4);
    assert_memory_equal(lg_tokenizer_bytes(f.tokenizer, 0xE9, &length), "\xE9", 1);
    assert_int_equal(length, 1);
    assert_null(lg_tokenizer_bytes(f.tokenizer, 256, &length));
    assert_null(lg_tokenizer_bytes(f.tokenizer, 302, &length));
    assert_int_equal(strlen(lg_tokenizer_identity(f.tokenizer)), 32);
    fixture_show(&f, "<é>", false);
    assert_int_equal(f.tokens.count, 4); /* a special token in a text is text */
    fixture_show(&f, "<é>", true);
    assert_int_equal(f.tokens.count, 1);
    fixture_close(&f);
}

/* ---- what is refused ---- */

typedef struct refusal {
    const char *json;    /* "%s" stands for the vocabulary of all bytes */
    const char *message; /* must be part of the error */
} refusal;

#define MODEL    "\"model\": {\"vocab\": %s, \"merges\": []}"
#define PRE(pre) "{\"pre_tokenizer\": " pre ", " MODEL "}"
#define SPLIT(pattern)                                                                                       \
    PRE("{\"type\": \"Split\", \"pattern\": {\"Regex\": \"" pattern                                          \
        "\"}, \"behavior\": \"Isolated\", \"invert\": false}")
#define WITH(member)                                                                                         \
    "{\"pre_tokenizer\": " BYTE_LEVEL ", \"model\": {" member ", \"vocab\": %s, \"merges\": []}}"
#define ADDED(tokens) "{\"pre_tokenizer\": " BYTE_LEVEL ", \"added_tokens\": " tokens ", " MODEL "}"

static const refusal refusals[] = {
    {"", "expected"},
    {"[]", "expected an object"},
    {"{}", "model: there is no such member"},
    {"{\"model\": {}}", "no vocab"},
    {"{\"model\": 3}", "expected an object"},
    {"{\"model\": {\"type\": \"WordPiece\"}}",
     "model.type is \"WordPiece\"; only byte-level BPE is supported"},
    {"{\"model\": {\"type\": \"Unigram\", \"vocab\": [[\"a\", 0.5]]}}", "Unigram"},
    {"{\"model\": {\"vocab\": [[\"a\", 0.5]]}}", "Unigram"},
    {"{\"model\": {\"vocab\": {\"a\": \"b\"}}}", "expected an integer"},
    {"{\"model\": {\"vocab\": {\"a\": -1}}}", "negative"},
    {"{\"model\": {\"vocab\": {\"a\": 1.5}}}", "integer"},
    {"{\"model\": {\"vocab\": {\"a\": 2147483648}}}", "2147483648 is above"},
    {"{\"model\": {\"vocab\": {\"a\": 18446744073709551616}}}", "64 bits"},
    {"{\"model\": {\"vocab\": {\"a\": 1, \"b\": 2, \"a\": 3}}}", "model.vocab has \"a\" twice"},
    {"{\"model\": {\"vocab\": {\"a\": 1, \"b\": 1}, \"merges\": []}, \"pre_tokenizer\": " BYTE_LEVEL "}",
     "the id 1 is given to two tokens"},
    {"{\"model\": {\"vocab\": {\"a\": 1}, \"vocab\": {}}}", "vocab is there twice"},
    {"{\"model\": {\"merges\": [], \"merges\": []}}", "merges is there twice"},
    {"{\"model\": {\"vocab\": {}}, \"model\": {}}", "no merges"},
    {"{" MODEL ", " MODEL "}", "\"model\" is there twice"},
    {"{\"model\": {\"vocab\": {}, \"merges\": []}}", "no token stands for any byte"},
    {"{\"model\": {\"vocab\": {\"a\": 0}, \"merges\": []}}", "pre_tokenizer: there is none"},
    {"{\"model\": {\"vocab\": {\"a\": 0}, \"merges\": {}}}", "expected an array"},
    {"{\"model\": {\"vocab\": {\"a\": 0}, \"merges\": [3]}}", "expected an array"},
    {"{\"model\": {\"vocab\": {\"a\": 0}, \"merges\": [[\"a\"]]}}", "a merge of 1 tokens"},
    {"{\"model\": {\"vocab\": {\"a\": 0}, \"merges\": [[\"a\", \"a\", \"a\"]]}}", "a merge of 3 tokens"},
    {"{\"model\": {\"vocab\": {\"a\": 0}, \"merges\": [\"a\"]}}", "the merge \"a\" is not two tokens"},
    {"{\"model\": {\"vocab\": {\"a\": 0}, \"merges\": [\"a a a\"]}}", "not two tokens"},
    {"{\"model\": {\"merges\": [\"a b\"], \"vocab\": {\"b\": 0}}}",
     "its left side of the merge \"a\" + \"b\""},
    {"{\"model\": {\"merges\": [\"a b\"], \"vocab\": {\"a\": 0}}}", "its right side"},
    {"{\"model\": {\"merges\": [\"a b\"], \"vocab\": {\"a\": 0, \"b\": 1}}}", "what it makes"},
    {WITH("\"dropout\": 0.1"), "dropout"},
    {WITH("\"continuing_subword_prefix\": \"##\""), "continuing_subword_prefix is \"##\""},
    {WITH("\"end_of_word_suffix\": \"</w>\""), "end_of_word_suffix is \"</w>\""},
    {WITH("\"ignore_merges\": 1"), "expected true or false"},
    {"{\"pre_tokenizer\": " BYTE_LEVEL
     ", \"model\": {\"byte_fallback\": true, \"vocab\": {\"a\": 0}, \"merges\": []}}",
     "byte_fallback is true"},
    {"{\"pre_tokenizer\": " BYTE_LEVEL
     ", \"model\": {\"unk_token\": \"a\", \"fuse_unk\": true, \"vocab\": {\"a\": 0}, \"merges\": []}}",
     "fuse_unk is true"},
    {"{\"pre_tokenizer\": " BYTE_LEVEL
     ", \"model\": {\"unk_token\": \"u\", \"vocab\": {\"a\": 0}, \"merges\": []}}",
     "unk_token is not in model.vocab"},
    {"{\"normalizer\": {\"type\": \"NFKC\"}, " MODEL "}", "normalizer: the type is \"NFKC\"; only NFC"},
    {"{\"normalizer\": {\"type\": \"Sequence\", \"normalizers\": [{\"type\": \"NFC\"}, {\"type\": "
     "\"Lowercase\"}]}, " MODEL "}",
     "normalizer.normalizers[1]: the type is \"Lowercase\""},
    {"{\"normalizer\": {\"type\": \"Sequence\"}, " MODEL "}", "no normalizers"},
    {"{\"normalizer\": {}, " MODEL "}", "it has no type"},
    {"{\"normalizer\": 3, " MODEL "}", "it has no type"},
    {"{\"normalizer\": {\"type\": \"NFC\", \"type\": \"NFC\"}, " MODEL "}", "type"},
    {PRE("{\"type\": \"Metaspace\"}"),
     "pre_tokenizer: the type is \"Metaspace\"; only Split, Digits, ByteLevel"},
    {PRE("{\"type\": \"Whitespace\"}"), "\"Whitespace\""},
    {PRE("{\"type\": 4}"), "type is not a string"},
    {PRE("{\"type\": \"Sequence\", \"pretokenizers\": 4}"), "pretokenizers is not a list"},
    {PRE("{\"type\": \"Sequence\", \"pretokenizers\": []}"), "there is no ByteLevel in it"},
    {PRE("{\"type\": \"Digits\", \"individual_digits\": true}"), "there is no ByteLevel in it"},
    {PRE("{\"type\": \"Sequence\", \"pretokenizers\": [" BYTE_LEVEL
         ", {\"type\": \"Digits\", \"individual_digits\": true}]}"),
     "\"Digits\" comes after ByteLevel"},
    {PRE("{\"type\": \"Digits\"}"), "it has no individual_digits"},
    {PRE("{\"type\": \"ByteLevel\"}"), "it has no add_prefix_space"},
    {PRE("{\"type\": \"ByteLevel\", \"add_prefix_space\": false, \"use_regex\": 1}"), "use_regex is neither"},
    {PRE("{\"type\": \"Split\", \"pattern\": {\"Regex\": \"a\"}, \"behavior\": \"Sometimes\", \"invert\": "
         "false}"),
     "the behavior \"Sometimes\" is unknown"},
    {PRE("{\"type\": \"Split\", \"behavior\": \"Removed\", \"invert\": false}"), "the pattern is neither"},
    {PRE("{\"type\": \"Split\", \"pattern\": \"a\", \"behavior\": \"Removed\", \"invert\": false}"),
     "the pattern is neither"},
    {PRE("{\"type\": \"Split\", \"pattern\": {\"String\": \"\"}, \"behavior\": \"Removed\", \"invert\": "
         "false}"),
     "empty string"},
    {SPLIT("(a"), "a parenthesis is not closed"},
    {SPLIT("a)"), "closed that was not opened"},
    {SPLIT("[a"), "a bracket is not closed"},
    {SPLIT("*a"), "nothing to repeat"},
    {SPLIT("a\\\\"), "ends in a backslash"},
    {SPLIT("\\\\p{Nonsense}"), "the pattern \\p{Nonsense} cannot be used"},
    {SPLIT("[a&&b]"), "intersection"},
    {SPLIT("[[:alpha:]]"), "POSIX"},
    {SPLIT("(*ACCEPT)"), "VERB"},
    {SPLIT("(?x)a"), "option x"},
    {SPLIT("\\\\Ka"), "escape"},
    {SPLIT("a{65536}"), "cannot be used"},
    {ADDED("[{\"id\": 300, \"content\": \"x y\"}, {\"id\": 300, \"content\": \"z z\"}]"),
     "the id 300 is given to \"x y\" and to \"z z\""},
    {ADDED("[{\"id\": 300, \"content\": \"x y\"}, {\"id\": 301, \"content\": \"x y\"}]"),
     "\"x y\" has two ids, 300 and 301"},
    {ADDED("[{\"id\": 3, \"content\": \"x y\"}]"), "the id 3 of \"x y\" is that of another token"},
    {ADDED("[{\"id\": 4294967296, \"content\": \"x y\"}]"), "above 2^31"},
    {ADDED("[{\"content\": \"x y\"}]"), "added_tokens[0] has no id"},
    {ADDED("[{\"id\": 300}]"), "added_tokens[0] has no content"},
    {ADDED("[{\"id\": 300, \"content\": \"x\", \"content\": \"y\"}]"), "content is there twice"},
    {ADDED("[{\"id\": 300, \"content\": 5}]"), "expected a string"},
    {ADDED("[{\"id\": 300, \"content\": \"x y\", \"lstrip\": \"yes\"}]"), "expected true or false"},
    {ADDED("{}"), "expected an array"},
};

/* JSON with the vocabulary of all bytes in the place of %s. */
static char *fill(const char *json, const char *vocabulary) {
    lg_text t = {0};
    for (const char *at = json, *mark; *at; at = mark ? mark + 2 : at + strlen(at)) {
        mark = strstr(at, "%s");
        lg_text_put(&t, at, mark ? (size_t)(mark - at) : strlen(at));
        if (mark) lg_text_puts(&t, vocabulary);
    }
    if (!t.data) lg_text_puts(&t, "");
    return t.data;
}

static char *byte_vocabulary(void) {
    char *json = tokenizer_json("null", "null", "[]", "[]", "", NULL);
    char *begin = strstr(json, "\"vocab\": ") + 9;
    char *copy = strndup(begin, strlen(begin) - 2);
    free(json);
    return copy;
}

static void refused(void **state) {
    (void)state;
    char *vocabulary = byte_vocabulary();
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        char *json = fill(refusals[i].json, vocabulary);
        lg_error error = {0};
        lg_tokenizer *t = (lg_tokenizer *)&error;
        lg_status status = lg_tokenizer_parse(json, strlen(json), "some.json", &t, &error);
        if (status != LG_BAD_INPUT || t || !strstr(error.message, refusals[i].message) ||
            strncmp(error.message, "some.json: ", 11) != 0)
            fail_msg("%s\nstatus %d, \"%s\"\nexpected \"%s\"", refusals[i].json, (int)status, error.message,
                     refusals[i].message);
        free(json);
    }
    free(vocabulary);
}

/* A file cut anywhere is an error; so are endless brackets. */
static void truncated(void **state) {
    (void)state;
    char *json =
        tokenizer_json("{\"type\": \"NFC\"}", "{\"type\": \"Sequence\", \"pretokenizers\": [" BYTE_LEVEL "]}",
                       "[{\"id\": 256, \"content\": \"<e>\", \"special\": true}]", "[\"a b\"]", "",
                       (const char *const[]){"ab", NULL});
    /* the added token has the id of "ab": give it another */
    char *id = strstr(json, "\"id\": 256");
    memcpy(id, "\"id\": 257", 9);
    size_t length = strlen(json);
    lg_tokenizer *t;
    lg_error error = {0};
    if (lg_tokenizer_parse(json, length, "x", &t, &error)) fail_msg("%s", error.message);
    lg_tokenizer_close(t);
    for (size_t n = 0; n < length; n++) {
        char *part = malloc(n ? n : 1);
        memcpy(part, json, n);
        assert_int_equal(lg_tokenizer_parse(part, n, "x", &t, &error), LG_BAD_INPUT);
        assert_null(t);
        free(part);
    }
    free(json);
    static const char *const members[] = {"normalizer", "pre_tokenizer", "anything", "model"};
    for (size_t i = 0; i < 4; i++) {
        lg_text deep = {0};
        lg_text_printf(&deep, "{\"%s\": ", members[i]);
        for (int n = 0; n < 100000; n++)
            lg_text_puts(&deep, i < 2 ? "{\"type\": \"Sequence\", \"normalizers\": [" : "[");
        assert_int_equal(lg_tokenizer_parse(deep.data, deep.length, "x", &t, &error), LG_BAD_INPUT);
        lg_text_free(&deep);
    }
}

static void missing_file(void **state) {
    (void)state;
    lg_tokenizer *t;
    lg_error error = {0};
    assert_int_equal(lg_tokenizer_open("/nonexistent/tokenizer.json", &t, &error), LG_BAD_INPUT);
    assert_non_null(strstr(error.message, "/nonexistent/tokenizer.json"));
    assert_int_equal(lg_tokenizer_open("/", &t, &error), LG_BAD_INPUT);
    assert_non_null(strstr(error.message, "/tokenizer.json"));
}

/* Catastrophic backtracking ends in an error that names the pattern's place; the session goes on. */
static void hostile_pattern(void **state) {
    (void)state;
    fixture f;
    const char *pre =
        "{\"type\": \"Sequence\", \"pretokenizers\": [{\"type\": \"Split\", \"pattern\": {\"Regex\": "
        "\"(?:a+|[ab]+)+[cd]\"}, \"behavior\": \"Isolated\", \"invert\": false}, " BYTE_LEVEL "]}";
    fixture_open(&f, tokenizer_json("null", pre, "[]", "[]", "", NULL));
    char text[4096];
    memset(text, 'a', sizeof text);
    lg_error error = {0};
    assert_int_equal(lg_tokenize(f.session, text, sizeof text, false, &f.tokens, &error), LG_BAD_INPUT);
    assert_non_null(
        strstr(error.message, "test.json: pre_tokenizer: the pattern of step 1 needs too much backtracking"));
    assert_int_equal(f.tokens.count, 0);
    assert_string_equal(fixture_show(&f, "aac", false), "a|a|c");
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(behaviors),
        cmocka_unit_test(digits),
        cmocka_unit_test(byte_level),
        cmocka_unit_test(merges),
        cmocka_unit_test(nfc),
        cmocka_unit_test(missing_bytes),
        cmocka_unit_test(questions),
        cmocka_unit_test(refused),
        cmocka_unit_test(truncated),
        cmocka_unit_test(missing_file),
        cmocka_unit_test(hostile_pattern),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
