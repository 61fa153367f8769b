/* What is said of wrong queries, and where; hostile ones end in an error, not in a crash. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../query_table.h"

enum { ROWS = 1024 };

static const char *const families[] = {"noun", "verb", "aux_be", "none", "pronoun"};
static const char *const tags[] = {"nn", "pp$", "pps+bez", ".", "``", "in", "python.keyword", "open.round"};

static uint8_t family[ROWS], tag[ROWS], copy_len[ROWS], flag[ROWS];
static float loss[ROWS];
static double x[ROWS], y[ROWS];
static lg_string word[ROWS];

static const query_table_column columns[] = {
    {"family", NULL, LG_QUERY_CATEGORY, LG_U8, family, families, 5, QUERY_TABLE_PLAIN},
    {"tag", NULL, LG_QUERY_CATEGORY, LG_U8, tag, tags, 8, QUERY_TABLE_PLAIN},
    {"copy_len", NULL, LG_QUERY_NUMBER, LG_U8, copy_len, NULL, 0, QUERY_TABLE_PLAIN},
    {"loss", "a", LG_QUERY_NUMBER, LG_F32, loss, NULL, 0, QUERY_TABLE_PLAIN},
    {"loss", "model-b.2", LG_QUERY_NUMBER, LG_F32, loss, NULL, 0, QUERY_TABLE_PLAIN},
    {"x", NULL, LG_QUERY_NUMBER, LG_F64, x, NULL, 0, QUERY_TABLE_PLAIN},
    {"y", NULL, LG_QUERY_NUMBER, LG_F64, y, NULL, 0, QUERY_TABLE_IN_BLOCKS},
    {"flag", NULL, LG_QUERY_BOOLEAN, LG_U8, flag, NULL, 0, QUERY_TABLE_PLAIN},
    {"word", NULL, LG_QUERY_TEXT, LG_U8, word, NULL, 0, QUERY_TABLE_IN_BLOCKS},
};
static query_table table = {columns, sizeof columns / sizeof *columns, 0};

static int setup(void **state) {
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        family[i] = (uint8_t)(i % 5);
        tag[i] = (uint8_t)(i % 8);
        word[i] = (lg_string){"word", 1 + i % 4};
    }
    return 0;
}

static lg_status compile(const char *text, lg_query_want want, lg_query **query, lg_error *error) {
    lg_query_source source = query_table_source(&table);
    lg_query_item item = {"--where", NULL, text, want};
    return lg_query_compile(&item, 1, &source, query, error);
}

static void refuses(const char *text, lg_query_want want, const char *message) {
    lg_error error = {0};
    lg_query *query;
    lg_status status = compile(text, want, &query, &error);
    assert_null(query);
    if (status != LG_USAGE) fail_msg("%s: status %d", text, (int)status);
    char expected[1200];
    snprintf(expected, sizeof expected, "--where '%s', %s", text, message);
    if (strcmp(error.message, expected) != 0) fail_msg("%s\n  is not\n%s", error.message, expected);
}

static void names(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } wrong[] = {
        {"family = nuon", "column 10: no level 'nuon' of family; did you mean noun?"},
        {"family = Noun", "column 10: no level 'Noun' of family; did you mean noun?"},
        {"family in (noun, vreb)", "column 18: no level 'vreb' of family; did you mean verb?"},
        {"tag = keyword", "column 7: no level 'keyword' of tag; did you mean python.keyword?"},
        {"tag = open", "column 7: no level 'open' of tag; did you mean open.round?"},
        {"family = zzzzzzzz",
         "column 10: no level 'zzzzzzzz' of family; there are noun, verb, aux_be, none, pronoun"},
        {"'nounn' = family", "column 1: no level 'nounn' of family; did you mean noun?"},
        {"family = 'noun\\x00'", "column 10: no level 'noun' of family; did you mean noun?"},
        {"family = noun or verb",
         "column 18: verb is a level of family, and no column: write family = verb, or "
         "family in (…, verb)"},
        {"famly = noun", "column 1: there is no column 'famly'; did you mean family?"},
        {"copy = 1", "column 1: there is no column 'copy'; did you mean copy_len?"},
        {"qqqqqq = 1",
         "column 1: there is no column 'qqqqqq'; there are family, tag, copy_len, loss, x, y, flag, "
         "word"},
        {"`no such` = 1",
         "column 1: there is no column 'no such'; there are family, tag, copy_len, loss, x, y, "
         "flag, word"},
        {"loss > 2", "column 1: loss of what? As in loss(a)"},
        {"loss(model-b) > 2", "column 1: there is no loss(model-b); did you mean model-b.2?"},
        {"loss('a\\x00') > 2", "column 1: there is no loss(a); did you mean a?"},
        {"loss() > 2", "column 6: expected a name, found ')'; names with other signs go in quotes"},
        {"x(a) > 2",
         "column 1: there is no function or column x(…); there are log, exp, sqrt, abs, floor, ceil, "
         "min, max, missing, loss"},
        {"los(a) > 2", "column 1: there is no function or column los(…); did you mean log or loss?"},
        {"lgo(x) > 2", "column 1: there is no function or column lgo(…); did you mean log?"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        refuses(wrong[i].text, LG_QUERY_CONDITION, wrong[i].message);
}

static void types(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } wrong[] = {
        {"family",
         "column 1: --where takes conditions, and family is a category: compare it, as in family = noun"},
        {"copy_len",
         "column 1: --where takes conditions, and copy_len is a number: compare it, as in copy_len > 0"},
        {"copy_len and x > 0",
         "column 1: `and` takes conditions, and copy_len is a number: compare it, as in copy_len > 0"},
        {"x > 0 or not copy_len",
         "column 14: `not` takes conditions, and copy_len is a number: compare it, as in copy_len > 0"},
        {"word",
         "column 1: --where takes conditions, and word is text: compare it, as in word = \"the\" or word ~ "
         "/^t/"},
        {"family + 1 > 0", "column 1: + takes numbers, and family is a category"},
        {"x > 0 and 2 * word > 0", "column 15: * takes numbers, and word is text"},
        {"log(word) > 0", "column 5: log takes numbers, and word is text"},
        {"min(x, family) > 1", "column 8: min takes numbers, and family is a category"},
        {"abs(x, y) > 1", "column 6: abs takes one value"},
        {"family < noun", "column 8: family is a category, which has no order: use =, !=, in or ~"},
        {"word >= the", "column 6: word is text, which has no order: use =, !=, in or ~"},
        {"copy_len = 'noun'", "column 12: copy_len is a number: it cannot be compared with text"},
        {"'noun' = copy_len",
         "column 1: text can be compared with texts and categories only; copy_len is neither"},
        {"copy_len = family",
         "column 12: family is a category: it can be compared with its levels, which stand on the right"},
        {"family = (copy_len)",
         "column 10: family is a category: it can be compared with its levels and with categories"},
        {"word = (x)", "column 8: word is text: it can be compared with texts only"},
        {"x in (3, y)", "column 10: this list takes constants only"},
        {"'a' in (a)", "column 1: left of `in` stands a column, not a text"},
        {"x ~ /a/", "column 3: ~ matches texts and the names of categories, and x is neither"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        refuses(wrong[i].text, LG_QUERY_CONDITION, wrong[i].message);
    refuses("family", LG_QUERY_NUMERIC, "column 1: --where takes numbers, and family is a category");
    refuses("word", LG_QUERY_VALUE, "column 1: --where takes numbers, and word is text");
}

static void signs(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } wrong[] = {
        {"", "column 1: expected a column, a number or a condition, found the end"},
        {"x > ", "column 5: expected a column, a number or a condition, found the end"},
        {"x > and", "column 5: expected a column, a number or a condition, found 'and'"},
        {"! flag", "column 1: expected a column, a number or a condition, found '!': write `not`"},
        {"/a/ ~ word",
         "column 1: expected a column, a number or a condition, found '/': a pattern stands after ~"},
        {"x > 1 && y > 1", "column 7: expected an operator, `and`, `or` or the end, found '&': write `and`"},
        {"x > 1 || y > 1", "column 7: expected an operator, `and`, `or` or the end, found '|': write `or`"},
        {"x > 1 AND y > 1", "column 7: expected an operator, `and`, `or` or the end, found 'AND': write "
                            "`and`, in small letters"},
        {"x > 1 y > 1", "column 7: expected an operator, `and`, `or` or the end, found 'y'"},
        {"x < y < 3", "column 7: comparisons do not chain: write a < b and b < c, or (a < b) = 1"},
        {"x in (1) = 1", "column 10: comparisons do not chain: write a < b and b < c, or (a < b) = 1"},
        {"x > 2 ** 3", "column 7: a power is written ^"},
        {"(x > 1", "column 1: this parenthesis is not closed"},
        {"x > 1)", "column 6: a parenthesis is closed that was not opened"},
        {"(x > 1]", "column 7: expected ')' or an operator, found ']'"},
        {"log(x > 1", "column 10: expected ')' after what the function takes, found the end"},
        {"family = --", "column 10: expected a level, found '-'; names with other signs go in quotes"},
        {"x in 3", "column 6: expected '(' after `in`, as in family in (noun, verb), found '3'"},
        {"x in ()", "column 7: expected a number or a range, as 2..4 or 8.., found ')'"},
        {"x in (1,,2)", "column 9: expected a number or a range, as 2..4 or 8.., found ','"},
        {"x in (1 2)", "column 9: expected ')' or ',' in the list, found '2'"},
        {"x in (3..1)", "column 7: this range holds nothing: its ends are out of order"},
        {"x not 3", "column 3: `not` stands before a condition, or in `not in`"},
        {"x > 1e999", "column 5: a number too large"},
        {"x > 1e999999999", "column 5: a number too large or too small"},
        {"x > 12ab", "column 5: a number runs into a word; names begin with a letter"},
        {"x > .", "column 5: a point without digits"},
        {"x > 1.2.3", "column 8: expected an operator, `and`, `or` or the end, found '.'"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        refuses(wrong[i].text, LG_QUERY_CONDITION, wrong[i].message);
}

static void strings(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } wrong[] = {
        {"word = 'abc", "column 8: this quote is not closed"},
        {"`abc", "column 1: this quote is not closed"},
        {"word = 'a\\",
         "column 10: after a backslash in quotes: n, t, r, \\, ', \" or x and two hexadecimal digits"},
        {"word = 'a\\q'",
         "column 10: after a backslash in quotes: n, t, r, \\, ', \" or x and two hexadecimal digits"},
        {"word = 'a\\x1'",
         "column 10: after a backslash in quotes: n, t, r, \\, ', \" or x and two hexadecimal digits"},
        {"word ~ 'a'", "column 8: expected a pattern between slashes, as in word ~ /^[A-Z]/, found '''"},
        {"word ~ /a", "column 8: this pattern has no second slash"},
        {"word ~ /a\\/", "column 8: this pattern has no second slash"},
        {"word ~ /(a/", "column 8: the pattern cannot be used: missing closing parenthesis (at its byte 3)"},
        {"word ~ /a\\Cb/",
         "column 8: the pattern cannot be used: using \\C is disabled by the application (at its byte 4)"},
        {"word ~ /a/x",
         "column 11: after a pattern only the letter i (case does not count) may follow at once"},
        {"word = \xC3\xA4\xC3\xB6 or famly = noun",
         "column 14: there is no column 'famly'; did you mean family?"}, /* columns are characters */
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        refuses(wrong[i].text, LG_QUERY_CONDITION, wrong[i].message);
}

/* A long expression is shown around the place. */
static void long_expressions(void **state) {
    (void)state;
    lg_text text = {0};
    for (int i = 0; i < 100; i++) lg_text_puts(&text, "x > 0 and ");
    lg_text_puts(&text, "famly = noun");
    for (int i = 0; i < 100; i++) lg_text_puts(&text, " and x > 0");
    lg_error error = {0};
    lg_query *query;
    assert_int_equal(compile(text.data, LG_QUERY_CONDITION, &query, &error), LG_USAGE);
    assert_string_equal(
        error.message,
        "--where '…x > 0 and x > 0 and x > 0 and x > 0 and famly = noun and x > 0 and x > 0 and x >"
        "…', column 1001: there is no column 'famly'; did you mean family?");
    lg_text_free(&text);
}

/* An item says which it is; a definition sees those before it only. */
static void items(void **state) {
    (void)state;
    lg_query_source source = query_table_source(&table);
    static const lg_query_item cases[][2] = {
        {{"--define a", "a", "b + 1", LG_QUERY_HELPER}, {"--define b", "b", "x", LG_QUERY_HELPER}},
        {{"--define a", "a", "x", LG_QUERY_HELPER}, {"--define b", "b", "a = noun", LG_QUERY_HELPER}},
    };
    static const char *const messages[] = {
        "--define a 'b + 1', column 1: there is no column 'b'; there are family, tag, copy_len, loss, x, y, "
        "flag, "
        "word",
        "--define b 'a = noun', column 5: there is no column 'noun'; there are a, family, tag, copy_len, "
        "loss, x, y, "
        "flag, word",
    };
    for (size_t i = 0; i < 2; i++) {
        lg_error error = {0};
        lg_query *query;
        assert_int_equal(lg_query_compile(cases[i], 2, &source, &query, &error), LG_USAGE);
        assert_string_equal(error.message, messages[i]);
    }
}

/* Depth is limited; length is not, and takes time in proportion. */
static void deep_and_long(void **state) {
    (void)state;
    static const struct {
        const char *before, *open, *middle, *close, *after;
        size_t times;
        bool fine;
    } cases[] = {
        {"", "(", "x", ")", " > 1", 100000, false},
        {"", "(", "", "", "", 100000, false},
        {"", "not ", "flag", "", "", 100000, false},
        {"", "- ", "x", "", " > 1", 100000, false},
        {"x", "^2", "", "", " > 1", 100000, false},
        {"", "log(", "x", ")", " > 1", 100000, false},
        {"", "(", "x", ")", " > 1", 150, true},
        {"x", "+y", "", "", " > 1", 100000, true},
        {"flag", " and flag", "", "", "", 50000, true},
        {"flag", " or x > 1 and flag", "", "", "", 30000, true},
        {"x in (1", ",3", "", "", ")", 100000, true},
        {"family in (noun", ",verb", "", "", ")", 100000, true},
        {"word in (a", ",b", "", "", ")", 100000, true},
        {"max(x", ",1", "", "", ") > 1", 100000, true},
        {"word = '", "a", "", "", "'", 1000000, true},
        {"word = '", "a", "", "", "'", 1100000, false},
        {"x > ", "1", "", "", "", 100000, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lg_text text = {0};
        lg_text_puts(&text, cases[i].before);
        for (size_t k = 0; k < cases[i].times; k++) lg_text_puts(&text, cases[i].open);
        lg_text_puts(&text, cases[i].middle);
        for (size_t k = 0; k < cases[i].times; k++) lg_text_puts(&text, cases[i].close);
        lg_text_puts(&text, cases[i].after);
        lg_error error = {0};
        lg_query *query;
        lg_status status = compile(text.data, LG_QUERY_CONDITION, &query, &error);
        if (status != (cases[i].fine ? LG_OK : LG_USAGE))
            fail_msg("case %zu: %d %s", i, (int)status, error.message);
        if (!status) {
            lg_query_session *session = lg_query_session_create(query);
            assert_non_null(session);
            assert_int_equal(lg_query_run(session, 100, 900, &error), LG_OK);
            lg_query_session_free(session);
        }
        lg_query_free(query);
        lg_text_free(&text);
    }
}

/* A pattern that would try for ever is stopped. */
static void hostile_patterns(void **state) {
    (void)state;
    static char as[101];
    memset(as, 'a', 100);
    static lg_string text;
    text = (lg_string){as, 100};
    const query_table_column column = {"word", NULL, LG_QUERY_TEXT,        LG_U8, &text,
                                       NULL,   0,    QUERY_TABLE_IN_BLOCKS};
    query_table one = {&column, 1, 0};
    lg_query_source source = query_table_source(&one);
    static const struct {
        const char *text;
        lg_status status;
    } cases[] = {{"word ~ /^(a|a)+$/", LG_OK}, {"word ~ /^(a|a)+[^a]/", LG_USAGE}};
    for (size_t i = 0; i < 2; i++) {
        lg_query_item item = {"--where", NULL, cases[i].text, LG_QUERY_CONDITION};
        lg_error error = {0};
        lg_query *query;
        assert_int_equal(lg_query_compile(&item, 1, &source, &query, &error), LG_OK);
        lg_query_session *session = lg_query_session_create(query);
        assert_int_equal(lg_query_run(session, 0, 1, &error), cases[i].status);
        if (!cases[i].status) assert_int_equal(lg_query_truth(session, 0)[0], LG_QUERY_TRUE);
        else
            assert_non_null(
                strstr(error.message, "--where: the pattern /^(a|a)+[^a]/ takes too many steps on 'aaaa"));
        lg_query_session_free(session);
        lg_query_free(query);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(types),
        cmocka_unit_test(signs),
        cmocka_unit_test(strings),
        cmocka_unit_test(long_expressions),
        cmocka_unit_test(items),
        cmocka_unit_test(deep_and_long),
        cmocka_unit_test(hostile_patterns),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
