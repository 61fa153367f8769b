/* The query language: every operator against plain C, precedence, missing values, several items. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../query_table.h"
#include "query/query_internal.h"

enum { ROWS = 2500 }; /* three blocks, the last one cut */

static const char *const families[] = {"noun", "verb", "aux_be", "none", "pronoun"};
static const char *const tags[] = {"nn", "pp$", "pps+bez",        ".",    ",", "``",
                                   "''", "in",  "python.keyword", "fw-in"};
static const char *const domains[] = {"python", "news", "noun", "2024", "a b", "none"};

static uint8_t family[ROWS], family_2[ROWS], copy_len[ROWS], flag[ROWS];
static uint16_t tag[ROWS], depth[ROWS];
static uint32_t domain[ROWS], distance[ROWS];
static int16_t shift[ROWS];
static uint64_t big[ROWS];
static float loss_a[ROWS], loss_b[ROWS];
static double x[ROWS], y[ROWS];
static lg_string word[ROWS], token[ROWS];

static const query_table_column columns[] = {
    {"family", NULL, LG_QUERY_CATEGORY, LG_U8, family, families, 5, QUERY_TABLE_PLAIN},
    {"other_family", NULL, LG_QUERY_CATEGORY, LG_U8, family_2, families, 5, QUERY_TABLE_IN_BLOCKS},
    {"tag", NULL, LG_QUERY_CATEGORY, LG_U16, tag, tags, 10, QUERY_TABLE_PLAIN},
    {"domain", NULL, LG_QUERY_CATEGORY, LG_U32, domain, domains, 6, QUERY_TABLE_IN_BLOCKS},
    {"copy_len", NULL, LG_QUERY_NUMBER, LG_U8, copy_len, NULL, 0, QUERY_TABLE_PLAIN},
    {"depth", NULL, LG_QUERY_NUMBER, LG_U16, depth, NULL, 0, QUERY_TABLE_PLAIN},
    {"distance", NULL, LG_QUERY_NUMBER, LG_U32, distance, NULL, 0, QUERY_TABLE_PLAIN},
    {"shift", NULL, LG_QUERY_NUMBER, LG_I16, shift, NULL, 0, QUERY_TABLE_PLAIN},
    {"big", NULL, LG_QUERY_NUMBER, LG_U64, big, NULL, 0, QUERY_TABLE_PLAIN},
    {"loss", "a", LG_QUERY_NUMBER, LG_F32, loss_a, NULL, 0, QUERY_TABLE_PLAIN},
    {"loss", "model-b.2", LG_QUERY_NUMBER, LG_F32, loss_b, NULL, 0, QUERY_TABLE_IN_BLOCKS},
    {"x", NULL, LG_QUERY_NUMBER, LG_F64, x, NULL, 0, QUERY_TABLE_PLAIN},
    {"y", NULL, LG_QUERY_NUMBER, LG_F64, y, NULL, 0, QUERY_TABLE_IN_BLOCKS},
    {"flag", NULL, LG_QUERY_BOOLEAN, LG_U8, flag, NULL, 0, QUERY_TABLE_PLAIN},
    {"odd name", NULL, LG_QUERY_NUMBER, LG_U8, copy_len, NULL, 0, QUERY_TABLE_PLAIN},
    {"word", NULL, LG_QUERY_TEXT, LG_U8, word, NULL, 0, QUERY_TABLE_IN_BLOCKS},
    {"token", NULL, LG_QUERY_TEXT, LG_U8, token, NULL, 0, QUERY_TABLE_IN_BLOCKS},
    /* Two of the five levels have no name here: they are missing. */
    {"some", NULL, LG_QUERY_CATEGORY, LG_U8, family, families, 3, QUERY_TABLE_HAS_MISSING},
    {"some_block", NULL, LG_QUERY_CATEGORY, LG_U8, family, families, 3,
     QUERY_TABLE_IN_BLOCKS | QUERY_TABLE_HAS_MISSING},
    {"some_other", NULL, LG_QUERY_CATEGORY, LG_U8, family_2, families, 3,
     QUERY_TABLE_IN_BLOCKS | QUERY_TABLE_HAS_MISSING},
};
static query_table table = {columns, sizeof columns / sizeof *columns, 0};

static int setup(void **state) {
    static const char *const words[] = {"The",          "the",      "cat", "Cat's", "",
                                        "na\xC3\xAFve", "\xFF\xFE", "a/b", "at\n"};
    (void)state;
    uint64_t random = 12345;
    for (size_t i = 0; i < ROWS; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        uint32_t r = (uint32_t)(random >> 33);
        family[i] = (uint8_t)(r % 5);
        family_2[i] = (uint8_t)(r / 5 % 5);
        tag[i] = (uint16_t)(r / 3 % 10);
        domain[i] = r / 7 % 6;
        copy_len[i] = (uint8_t)(r / 11 % 6);
        depth[i] = (uint16_t)(i % 400 == 0 ? 65535 : r / 13 % 9);
        distance[i] = i % 100 == 0 ? UINT32_MAX : r / 17 % 50;
        shift[i] = (int16_t)(r / 19 % 65536 - 32768);
        big[i] = i % 3 == 0 ? (uint64_t)1 << 60 : i % 3 == 1 ? UINT64_MAX : i;
        loss_a[i] = i % 10 == 3 ? NAN : i % 10 == 4 ? 0.1f : (float)(r % 1000) / 250.0f;
        loss_b[i] = i % 15 == 4 ? NAN : i % 10 == 1 ? INFINITY : (float)(r / 1000 % 1000) / 250.0f;
        x[i] = i % 20 == 7 ? NAN : (double)(r % 2001) / 100 - 10;
        y[i] = i % 30 == 11 ? -INFINITY : i % 30 == 12 ? -0.0 : (double)(r / 23 % 2001) / 100 - 10;
        flag[i] = r / 29 % 2;
        const char *w = words[r / 31 % 9], *t = words[r / 37 % 9];
        word[i] = i % 8 == 0 ? (lg_string){NULL, 0} : (lg_string){w, strlen(w)};
        token[i] = (lg_string){t, strlen(t)};
    }
    return 0;
}

/* ---- conditions ---- */

typedef int condition(size_t i); /* LG_QUERY_FALSE … */

static lg_query *compile(const char *text, lg_query_want want) {
    lg_query_source source = query_table_source(&table);
    lg_query_item item = {"--where", NULL, text, want};
    lg_error error = {0};
    lg_query *query;
    if (lg_query_compile(&item, 1, &source, &query, &error)) fail_msg("%s", error.message);
    return query;
}

static void holds(const char *text, condition *expected) {
    lg_query *query = compile(text, LG_QUERY_CONDITION);
    lg_query_session *session = lg_query_session_create(query);
    lg_error error = {0};
    assert_non_null(session);
    size_t n;
    for (size_t first = 0; first < ROWS; first += n) {
        n = first == 0 ? 1 : first == 1 ? 100 : LG_QUERY_BLOCK; /* blocks begin anywhere */
        if (n > ROWS - first) n = ROWS - first;
        if (lg_query_run(session, first, n, &error)) fail_msg("%s: %s", text, error.message);
        const uint8_t *truth = lg_query_truth(session, 0);
        for (size_t i = 0; i < n; i++)
            if (truth[i] != expected(first + i))
                fail_msg("%s: row %zu is %d, not %d", text, first + i, truth[i], expected(first + i));
    }
    lg_query_session_free(session);
    lg_query_free(query);
}

static int yes(bool truth) {
    return truth ? LG_QUERY_TRUE : LG_QUERY_FALSE;
}

static int known(bool truth, double a, double b) {
    return isnan(a) || isnan(b) ? LG_QUERY_UNKNOWN : yes(truth);
}

static int both(int a, int b) {
    return a < b ? a : b;
}

static int either(int a, int b) {
    return a > b ? a : b;
}

static bool is_word(lg_string s, const char *text) {
    return s.data && s.length == strlen(text) && memcmp(s.data, text, s.length) == 0;
}

#define CONDITION(NAME, VALUE)                                                                               \
    static int NAME(size_t i) {                                                                              \
        (void)i;                                                                                             \
        return VALUE;                                                                                        \
    }

CONDITION(never, yes(false))
CONDITION(always, yes(true))
CONDITION(unknown, LG_QUERY_UNKNOWN)

CONDITION(is_noun, yes(family[i] == 0))
CONDITION(is_no_noun, yes(family[i] != 0))
CONDITION(new_noun, yes(family[i] == 0 && copy_len[i] == 0))
CONDITION(is_pp, yes(tag[i] == 1))
CONDITION(is_pps, yes(tag[i] == 2))
CONDITION(is_full_stop, yes(tag[i] == 3))
CONDITION(is_comma, yes(tag[i] == 4))
CONDITION(is_open_quote, yes(tag[i] == 5))
CONDITION(is_close_quote, yes(tag[i] == 6))
CONDITION(is_in, yes(tag[i] == 7))
CONDITION(is_keyword, yes(tag[i] == 8))
CONDITION(is_foreign, yes(tag[i] == 9))
CONDITION(is_some, yes(tag[i] == 0 || tag[i] == 7 || tag[i] == 5))
CONDITION(is_other, yes(tag[i] != 0 && tag[i] != 7 && tag[i] != 5))
CONDITION(is_neighbour, yes(tag[i] >= 2 && tag[i] <= 4))
CONDITION(no_python, yes(domain[i] != 0))
CONDITION(is_year, yes(domain[i] == 3))
CONDITION(is_a_b, yes(domain[i] == 4))
CONDITION(is_python_or_year, yes(domain[i] == 0 || domain[i] == 3))
CONDITION(like_p, yes(tag[i] == 1 || tag[i] == 2 || tag[i] == 8))
CONDITION(like_no_p, yes(!(tag[i] == 1 || tag[i] == 2 || tag[i] == 8)))
CONDITION(same_family, yes(family[i] == family_2[i]))
CONDITION(differs, yes(family[i] != family_2[i]))
CONDITION(family_domain, yes((family[i] == 0 && domain[i] == 2) || (family[i] == 3 && domain[i] == 5)))

CONDITION(some_verb, family[i] > 2 ? LG_QUERY_UNKNOWN : yes(family[i] == 1))
CONDITION(some_no_verb, 2 - some_verb(i))
CONDITION(some_any, family[i] > 2 ? LG_QUERY_UNKNOWN : LG_QUERY_TRUE)
CONDITION(some_none, 2 - some_any(i))
CONDITION(some_missing, yes(family[i] > 2))
CONDITION(some_same, family[i] > 2 || family_2[i] > 2 ? LG_QUERY_UNKNOWN : yes(family[i] == family_2[i]))
CONDITION(some_differs, 2 - some_same(i))

/* Categories with missing values. */
static void missing_levels(void **state) {
    (void)state;
    static const char *const names[] = {"some", "some_block"};
    for (size_t k = 0; k < 2; k++) {
        static const struct {
            const char *text;
            condition *expected;
        } cases[] = {{"%s = verb", some_verb},
                     {"%s != verb", some_no_verb},
                     {"not %s = verb", some_no_verb},
                     {"%s not in (noun, aux_be)", some_verb},
                     {"%s in (noun, verb, aux_be)", some_any},
                     {"%s ~ /zzz/", some_none},
                     {"missing(%s)", some_missing},
                     {"%s = some_other", some_same},
                     {"%s != some_other", some_differs}};
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            char text[64];
            snprintf(text, sizeof text, cases[i].text, names[k]);
            holds(text, cases[i].expected);
        }
    }
}

static void categories(void **state) {
    (void)state;
    holds("family = noun", is_noun);
    holds("family == noun", is_noun);
    holds(" \t(family)='noun'\n", is_noun);
    holds("'noun' = family", is_noun);
    holds("family != noun", is_no_noun);
    holds("family <> noun", is_no_noun);
    holds("not family = noun", is_no_noun);
    holds("family in (noun)", is_noun);
    holds("family not in (noun)", is_no_noun);
    holds("family in (noun, verb, aux_be, none, pronoun)", always);
    holds("family = noun and copy_len = 0", new_noun);
    holds("tag = pps+bez", is_pps);
    holds("tag = pp$", is_pp);
    holds("tag = .", is_full_stop);
    holds("tag = ','", is_comma);
    holds("tag = \"``\"", is_open_quote);
    holds("tag = '\\'\\''", is_close_quote);
    holds("tag = \"''\"", is_close_quote);
    holds("tag = in", is_in);
    holds("tag = fw-in", is_foreign);
    holds("tag = python.keyword", is_keyword);
    holds("tag = 'python\\x2ekeyword'", is_keyword);
    holds("tag in (nn, in, '``')", is_some);
    holds("tag not in (nn, in, '``', nn)", is_other);
    holds("tag in (pps+bez, ., ',')", is_neighbour);
    holds("domain != python", no_python);
    holds("domain = 2024", is_year);
    holds("domain = \"a b\"", is_a_b);
    holds("domain in (2024, python)", is_python_or_year);
    holds("tag ~ /^p/", like_p);
    holds("tag ~ /^P/i", like_p);
    holds("tag !~ /^p/", like_no_p);
    holds("not tag ~ /^p/", like_no_p);
    holds("tag ~ /x{3}/", never);
    holds("tag ~ /./", always);
    holds("family = other_family", same_family);
    holds("family != (other_family)", differs);
    holds("family = `other_family`", same_family);
    holds("family = domain", family_domain);
    holds("domain = family", family_domain);
}

/* ---- numbers ---- */

CONDITION(copies_2, yes(copy_len[i] == 2))
CONDITION(copies_below, yes(copy_len[i] < 3))
CONDITION(copies_up_to, yes(copy_len[i] <= 3))
CONDITION(copies_above, yes(copy_len[i] > 3))
CONDITION(copies_from, yes(copy_len[i] >= 3))
CONDITION(copies_not, yes(copy_len[i] != 3))
CONDITION(deepest, yes(depth[i] == 65535))
CONDITION(far, yes(distance[i] == UINT32_MAX))
CONDITION(shift_below, yes(shift[i] < -100))
CONDITION(shift_between, yes(shift[i] >= -32768 && shift[i] <= -32000))
CONDITION(shift_ends, yes(shift[i] <= -32000 || shift[i] == 5 || shift[i] >= 30000))
CONDITION(big_60, yes(big[i] == (uint64_t)1 << 60))
CONDITION(big_above, yes(big[i] > (uint64_t)1 << 60))
CONDITION(big_small, yes(big[i] < 3000))
CONDITION(hard, known(loss_a[i] > 2, loss_a[i], 0))
CONDITION(above_tenth, known((double)loss_a[i] > 0.1, loss_a[i], 0))
CONDITION(tenth, known((double)loss_a[i] == 0.1, loss_a[i], 0))
CONDITION(up_to_tenth, known((double)loss_a[i] <= 0.1, loss_a[i], 0))
CONDITION(gap_above, known((double)loss_a[i] - (double)loss_b[i] > 0.5, loss_a[i], loss_b[i]))
CONDITION(loss_equal, known((double)loss_a[i] == (double)loss_b[i], loss_a[i], loss_b[i]))
CONDITION(b_infinite, known(isinf(loss_b[i]), loss_b[i], 0))
CONDITION(b_finite, known(!isinf(loss_b[i]), loss_b[i], 0))
CONDITION(x_below_y, known(x[i] < y[i], x[i], y[i]))
CONDITION(x_up_to_y, known(x[i] <= y[i], x[i], y[i]))
CONDITION(x_above_y, known(x[i] > y[i], x[i], y[i]))
CONDITION(x_from_y, known(x[i] >= y[i], x[i], y[i]))
CONDITION(x_not_y, known(x[i] != y[i], x[i], y[i]))
CONDITION(y_zero, known(y[i] == 0, y[i], 0))
CONDITION(y_positive, known(y[i] > 0, y[i], 0))
CONDITION(x_in, known((x[i] >= -1 && x[i] <= 1) || x[i] == 3.25 || x[i] >= 9, x[i], 0))
CONDITION(x_not_in, known(!((x[i] >= -1 && x[i] <= 1) || x[i] == 3.25 || x[i] >= 9), x[i], 0))
CONDITION(x_is_missing, yes(isnan(x[i])))
CONDITION(is_flag, yes(flag[i]))
CONDITION(is_no_flag, yes(!flag[i]))
CONDITION(flag_or_noun, yes(flag[i] || family[i] == 0))
CONDITION(flag_is_noun, yes(flag[i] == (family[i] == 0)))

static void numbers(void **state) {
    (void)state;
    holds("copy_len = 2", copies_2);
    holds("2 = copy_len", copies_2);
    holds("copy_len = 2.0e0", copies_2);
    holds("copy_len - 1 = 1", copies_2);
    holds("copy_len-1=1", copies_2);
    holds("`odd name` = 002.", copies_2);
    holds("copy_len = 2.5", never);
    holds("copy_len != 2.5", always);
    holds("copy_len = -1", never);
    holds("copy_len >= -1", always);
    holds("copy_len = 258", never);
    holds("copy_len < 258", always);
    holds("copy_len < 3", copies_below);
    holds("copy_len < 2.5", copies_below);
    holds("2.5 > copy_len", copies_below);
    holds("copy_len in (..2)", copies_below);
    holds("copy_len <= 3", copies_up_to);
    holds("copy_len > 3", copies_above);
    holds("3 < copy_len", copies_above);
    holds("copy_len >= 3", copies_from);
    holds("copy_len in (3..)", copies_from);
    holds("copy_len in (3..4, 5, 4..6)", copies_from);
    holds("copy_len != 3", copies_not);
    holds("copy_len in (0..2, 4, 5)", copies_not);
    holds("copy_len not in (3)", copies_not);
    holds("depth = 65535", deepest);
    holds("depth > 65534", deepest);
    holds("distance = 4294967295", far);
    holds("distance > 4294967294.5", far);
    holds("shift < -100", shift_below);
    holds("shift <= -101", shift_below);
    holds("shift in (-1e9..-32000)", shift_between);
    holds("shift in (..-32000, 5, 30000..)", shift_ends);
    holds("shift < 32768", always);
    holds("shift < -32768", never);
    holds("big = 1152921504606846976", big_60);
    holds("big = 2^60", big_60);
    holds("big > 2^60", big_above);
    holds("big >= 1e300", never);
    holds("big < 3000", big_small);
    holds("loss(a) > 2", hard);
    holds("loss ( 'a' ) > 2", hard);
    holds("loss(a) > 0.1", above_tenth);
    holds("loss(a) = 0.1", tenth);
    holds("loss(a) <= .1", up_to_tenth);
    holds("loss(a) - loss(model-b.2) > 0.5", gap_above);
    holds("loss(a) = loss('model-b.2')", loss_equal);
    holds("loss(model-b.2) = 1/0", b_infinite);
    holds("loss(model-b.2) > 1e300", b_infinite);
    holds("loss(model-b.2) < 1/0", b_finite);
    holds("x < y", x_below_y);
    holds("x <= y", x_up_to_y);
    holds("x > y", x_above_y);
    holds("x >= y", x_from_y);
    holds("x != y", x_not_y);
    holds("y = 0", y_zero);
    holds("y > 0", y_positive);
    holds("y > -0", y_positive);
    holds("x in (-1..1, 3.25, 9..)", x_in);
    holds("x in (9..100, 3.25, 0..1, -1..0, 20)", x_in);
    holds("x not in (-1..1, 3.25, 9..)", x_not_in);
    holds("missing(x)", x_is_missing);
    holds("missing(x > 0)", x_is_missing);
    holds("missing(x + 1)", x_is_missing);
    holds("missing(copy_len) or missing(family) or missing(3)", never);
    holds("missing(0/0)", always);
    holds("x > 0/0", unknown);
    holds("flag", is_flag);
    holds("not flag", is_no_flag);
    holds("flag or family = noun", flag_or_noun);
    holds("flag = (family = noun)", flag_is_noun);
    holds("1 = 1", always);
    holds("1 = 2", never);
    holds("1 = 0/0", unknown);
    holds("2 in (1..3)", always);
    holds("2 in (1, 3)", never);
    holds("'a' = \"a\"", always);
}

/* ---- logic ---- */

CONDITION(and_unknown, both(known(x[i] > 0, x[i], 0), known(loss_a[i] > 2, loss_a[i], 0)))
CONDITION(or_unknown, either(known(x[i] > 0, x[i], 0), known(loss_a[i] > 2, loss_a[i], 0)))
CONDITION(not_unknown, 2 - known(x[i] > 0, x[i], 0))
CONDITION(x_positive, known(x[i] > 0, x[i], 0))
CONDITION(x_or_unknown, either(known(x[i] > 0, x[i], 0), LG_QUERY_UNKNOWN))
CONDITION(x_and_unknown, both(known(x[i] > 0, x[i], 0), LG_QUERY_UNKNOWN))
CONDITION(precedence, either(yes(family[i] == 0), both(yes(family[i] == 1), yes(copy_len[i] == 0))))
CONDITION(grouped_or, both(either(yes(family[i] == 0), yes(family[i] == 1)), yes(copy_len[i] == 0)))
CONDITION(not_first, both(yes(family[i] != 0), yes(copy_len[i] == 0)))
CONDITION(not_all, yes(!(family[i] == 0 && copy_len[i] == 0)))
CONDITION(is_cat, word[i].data ? yes(is_word(word[i], "cat")) : LG_QUERY_UNKNOWN)
CONDITION(rare, both(yes(copy_len[i] == 2), is_cat(i)))
CONDITION(rare_or, either(yes(copy_len[i] != 2), is_cat(i)))

static void logic(void **state) {
    (void)state;
    holds("x > 0 and loss(a) > 2", and_unknown);
    holds("x > 0 or loss(a) > 2", or_unknown);
    holds("not x > 0", not_unknown);
    holds("not not (x > 0)", x_positive);
    holds("x > 0 and 1 = 1", x_positive);
    holds("1 = 1 and x > 0", x_positive);
    holds("x > 0 or 1 = 2", x_positive);
    holds("1 = 2 or x > 0 or 3 < 2", x_positive);
    holds("x > 0 and log(x) > 0 and 1 = 2", never);
    holds("1 = 2 and x > 0", never);
    holds("x > 0 or log(x) > 0 or 1 = 1", always);
    holds("x > 0 or 0/0 = 1", x_or_unknown);
    holds("0/0 = 1 or x > 0", x_or_unknown);
    holds("0/0 = 1 and x > 0", x_and_unknown);
    holds("x > 0 and not 0/0 = 1", x_and_unknown);
    holds("family = noun or family = verb and copy_len = 0", precedence);
    holds("(family = noun or family = verb) and copy_len = 0", grouped_or);
    holds("not family = noun and copy_len = 0", not_first);
    holds("not (family = noun and copy_len = 0)", not_all);
    holds("copy_len = 2 and word = cat", rare);
    holds("copy_len != 2 or word = cat", rare_or);
}

/* ---- texts ---- */

CONDITION(is_the, word[i].data ? yes(is_word(word[i], "the")) : LG_QUERY_UNKNOWN)
CONDITION(is_not_the, word[i].data ? yes(!is_word(word[i], "the")) : LG_QUERY_UNKNOWN)
CONDITION(any_the, word[i].data ? yes(is_word(word[i], "the") || is_word(word[i], "The")) : LG_QUERY_UNKNOWN)
CONDITION(no_the, 2 - any_the(i))
CONDITION(capital, word[i].data ? yes(word[i].length &&word[i].data[0] >= 'A' && word[i].data[0] <= 'Z')
                                : LG_QUERY_UNKNOWN)
CONDITION(same_text, word[i].data ? yes(is_word(word[i], token[i].data)) : LG_QUERY_UNKNOWN)
CONDITION(other_text, 2 - same_text(i))
CONDITION(no_word, yes(!word[i].data))
CONDITION(naive, yes(is_word(token[i], "na\xC3\xAFve")))
CONDITION(slash, yes(is_word(token[i], "a/b")))
CONDITION(line, yes(is_word(token[i], "at\n")))
CONDITION(empty, yes(token[i].length == 0))
CONDITION(no_utf8, yes(is_word(token[i], "\xFF\xFE")))

static void texts(void **state) {
    (void)state;
    holds("word = the", is_the);
    holds("'the' = word", is_the);
    holds("word = ('the')", is_the);
    holds("word != the", is_not_the);
    holds("not word = the", is_not_the);
    holds("word in (the, The)", any_the);
    holds("word not in ('The', the)", no_the);
    holds("word ~ /^the$/i", any_the);
    holds("word !~ /^[tT]he$/", no_the);
    holds("word ~ /^[A-Z]/", capital);
    holds("word = (token)", same_text);
    holds("word != `token`", other_text);
    holds("missing(word)", no_word);
    holds("missing(token)", never);
    holds("token = na\xC3\xAFve", naive);
    holds("token = 'na\\xC3\\xAFve'", naive);
    holds("token ~ /^na\\x{ef}ve$/", naive);
    holds("token ~ /^na\\wve$/", naive);
    holds("token ~ /^NA\xC3\x8FVE$/i", naive);
    holds("token ~ /^$/", empty);
    holds("token ~ /^at\\n$/", line);
    holds("token ~ /^at.$/", never);
    holds("token ~ /^at$/", never);
    holds("token ~ /\\//", slash);
    holds("token = 'a/b'", slash);
    holds("token = ''", empty);
    holds("token ~ /^$/", empty);
    holds("token = '\\xff\\xFE'", no_utf8);
    holds("token = 'at\\n'", line);
    holds("token = it or token != it", always);
}

/* ---- values ---- */

typedef double value(size_t i);

static void gives(const char *text, value *expected) {
    lg_query *query = compile(text, LG_QUERY_NUMERIC);
    lg_query_session *session = lg_query_session_create(query);
    lg_error error = {0};
    assert_int_equal(lg_query_type_of(query, 0), LG_QUERY_NUMBER);
    for (size_t first = 0; first < ROWS; first += LG_QUERY_BLOCK) {
        size_t n = ROWS - first < LG_QUERY_BLOCK ? ROWS - first : LG_QUERY_BLOCK;
        assert_int_equal(lg_query_run(session, first, n, &error), LG_OK);
        const double *v = lg_query_numbers(session, 0);
        for (size_t i = 0; i < n; i++) {
            double e = expected(first + i);
            if (isnan(e) ? !isnan(v[i]) : v[i] != e || signbit(v[i]) != signbit(e))
                fail_msg("%s: row %zu is %.17g, not %.17g", text, first + i, v[i], e);
        }
    }
    lg_query_session_free(session);
    lg_query_free(query);
}

#define VALUE(NAME, EXPRESSION)                                                                              \
    static double NAME(size_t i) {                                                                           \
        (void)i;                                                                                             \
        return EXPRESSION;                                                                                   \
    }

VALUE(just_x, x[i])
VALUE(plus, x[i] + y[i])
VALUE(plus_minus, x[i] - -y[i])
VALUE(minus, x[i] - y[i])
VALUE(times, x[i] * y[i])
VALUE(over, x[i] / y[i])
VALUE(square, x[i] * x[i])
VALUE(minus_square, -(x[i] * x[i]))
VALUE(inverse, 1 / x[i])
VALUE(tower, 512)
VALUE(left, x[i] - y[i] - 1)
VALUE(divided, x[i] / y[i] / 2)
VALUE(mixed, x[i] + y[i] * 2 - 3 / x[i])
VALUE(grouped, (x[i] + y[i]) * 2)
VALUE(negated, -x[i])
VALUE(absolute, fabs(x[i]))
VALUE(root, sqrt(x[i]))
VALUE(floored, floor(x[i]))
VALUE(ceiled, ceil(x[i]))
VALUE(least, isnan(x[i]) || isnan(y[i]) ? NAN : x[i] < y[i] ? x[i] : y[i])
VALUE(most, isnan(x[i]) ? NAN : x[i] > 1 ? x[i] : 1)
VALUE(log_distance, lg_query_log(distance[i] > 1 ? distance[i] : 1))
VALUE(missing_distance, distance[i] == 0)
VALUE(truth_sum, (copy_len[i] >= 1) + (copy_len[i] >= 2) + 2 * (family[i] == 0))
VALUE(unknown_number, isnan(x[i]) ? NAN : x[i] > 0)
VALUE(shift_value, shift[i])
VALUE(big_value, (double)big[i])
VALUE(nothing, NAN)
VALUE(cube_root_of_8, lg_query_pow(8, 1. / 3))
VALUE(x_to_y, lg_query_pow(x[i], y[i]))
VALUE(two_to_x, lg_query_pow(2, x[i]))

static void arithmetic(void **state) {
    (void)state;
    gives("x", just_x);
    gives("+x", just_x);
    gives("x + y", plus);
    gives("x+y", plus);
    gives("x - y", minus);
    gives("x-y", minus);
    gives("x--y", plus_minus);
    gives("x * y", times);
    gives("x / y", over);
    gives("x^2", square);
    gives("-x^2", minus_square);
    gives("1 / x", inverse);
    gives("2^3^2", tower);
    gives("2 ^ (4 + 5)", tower);
    gives("2^-(-9)", tower);
    gives("x - y - 1", left);
    gives("x / y / 2", divided);
    gives("x + y * 2 - 3 / x", mixed);
    gives("(x + y) * 2", grouped);
    gives("-x", negated);
    gives("- - -x", negated);
    gives("abs(x)", absolute);
    gives("sqrt(x)", root);
    gives("floor(x)", floored);
    gives("ceil(x)", ceiled);
    gives("min(x, y)", least);
    gives("min(y, x, x, y)", least);
    gives("max(1, x)", most);
    gives("max(x, 1, -3)", most);
    gives("log(max(distance,1))", log_distance);
    gives("distance = 0", missing_distance);
    gives("(copy_len >= 1) + (copy_len >= 2) + 2 * (family = noun)", truth_sum);
    gives("x > 0", unknown_number);
    gives("shift", shift_value);
    gives("big", big_value);
    gives("0/0", nothing);
    gives("x^y", x_to_y);
    gives("2^x", two_to_x);
    gives("8^(1/3)", cube_root_of_8);
}

/* Distance in units of the last place. */
static double ulps(double a, double b) {
    if (a == b || (isnan(a) && isnan(b))) return 0;
    if (isnan(a) || isnan(b) || isinf(a) || isinf(b)) return INFINITY;
    return fabs(a - b) / (nextafter(fabs(b), INFINITY) - fabs(b));
}

static void worse(double *worst, double a, double b) {
    double e = ulps(a, b);
    if (e > *worst) *worst = e;
}

/* Against the C library's, of long doubles where the argument is random. */
static void functions(void **state) {
    (void)state;
    uint64_t random = 99;
    double log_off = 0, exp_off = 0, pow_off = 0;
    for (int i = 0; i < 100000; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        uint64_t bits = random ^ random >> 29;
        double any, unit = (double)(random >> 11) * 0x1p-53;
        memcpy(&any, &bits, sizeof any);
        any = fabs(any);
        if (isnan(any) || isinf(any)) any = 1;
        worse(&log_off, lg_query_log(any), (double)logl(any));
        worse(&log_off, lg_query_log(0.5 + unit), (double)logl(0.5 + unit));
        double exponent = (unit - 0.5) * (i % 2 ? 1500 : 3);
        worse(&exp_off, lg_query_exp(exponent), (double)expl(exponent));
        double base = i % 2 ? any : 0.5 + unit, power = i % 3 ? (unit - 0.5) * 40 : (double)(i % 41 - 20);
        worse(&pow_off, lg_query_pow(base, power), (double)powl(base, power));
    }
    if (log_off > 1 || exp_off > 1 || pow_off > 1)
        fail_msg("log %.3f, exp %.3f, pow %.3f units off", log_off, exp_off, pow_off);
    static const double special[] = {0,      -0.0,      1,     -1,       2,          -2,     0.5,
                                     -0.5,   3,         -3,    INFINITY, NAN,        1e-310, 1e308,
                                     -1e308, -INFINITY, 1e300, 0x1p53,   0x1p53 + 2, 2.5,    4};
    enum { SPECIAL = sizeof special / sizeof *special };
    for (size_t i = 0; i < SPECIAL; i++) {
        double a = special[i];
        if (ulps(lg_query_log(a), log(a)) > 1) fail_msg("log(%g) = %g", a, lg_query_log(a));
        if (ulps(lg_query_exp(a), exp(a)) > 1) fail_msg("exp(%g) = %g", a, lg_query_exp(a));
        for (size_t j = 0; j < SPECIAL; j++) {
            double b = special[j], p = lg_query_pow(a, b), e = pow(a, b);
            if (ulps(p, e) > 1 || (!isnan(e) && !signbit(p) != !signbit(e)))
                fail_msg("%g^%g = %.17g, not %.17g", a, b, p, e);
        }
    }
    for (int a = 2; a <= 12; a++) { /* whole numbers are exact */
        double product = a;
        for (int n = 1; product < 0x1p53; product *= a, n++) assert_true(lg_query_pow(a, n) == product);
    }
    assert_true(lg_query_pow(10, 22) == 1e22);
}

/* ---- items ---- */

static void several_items(void **state) {
    (void)state;
    lg_query_source source = query_table_source(&table);
    static const lg_query_item items[] = {
        {"--define unused", "unused", "log(y) + loss(model-b.2)", LG_QUERY_HELPER},
        {"--define log_distance", "log_distance", "log(max(distance,1))", LG_QUERY_HELPER},
        {"--define new", "new", "copy_len = 0 and x > 0", LG_QUERY_HELPER},
        {"--define two", "two", "2", LG_QUERY_HELPER},
        {"--define f", "f", "family", LG_QUERY_HELPER},
        {"--define depth", "depth", "depth * 0 + two", LG_QUERY_HELPER},
        {"--where", NULL, "new and f = noun or f = verb", LG_QUERY_CONDITION},
        {"term", "term", "two * log_distance", LG_QUERY_NUMERIC},
        {"term", NULL, "f", LG_QUERY_VALUE},
        {"term", NULL, "new", LG_QUERY_VALUE},
        {"term", NULL, "term", LG_QUERY_VALUE},
        {"term", NULL, "depth in (two..two)", LG_QUERY_CONDITION},
        {"term", NULL, "not new or new", LG_QUERY_CONDITION},
        {"term", NULL, "domain", LG_QUERY_VALUE},
    };
    lg_error error = {0};
    lg_query *query;
    if (lg_query_compile(items, sizeof items / sizeof *items, &source, &query, &error))
        fail_msg("%s", error.message);
    static const char *const used[] = {"distance", "copy_len", "x", "family", "depth", "domain"};
    assert_int_equal(lg_query_n_columns(query), 6);
    for (size_t i = 0; i < 6; i++) assert_string_equal(lg_query_column_name(query, i), used[i]);
    size_t n_levels;
    assert_int_equal(lg_query_type_of(query, 8), LG_QUERY_CATEGORY);
    assert_ptr_equal(lg_query_levels_of(query, 8, &n_levels), families);
    assert_int_equal(n_levels, 5);
    assert_int_equal(lg_query_type_of(query, 9), LG_QUERY_NUMBER);
    lg_query_session *session = lg_query_session_create(query);
    for (size_t first = 0; first < ROWS; first += 777) {
        size_t n = ROWS - first < 777 ? ROWS - first : 777;
        assert_int_equal(lg_query_run(session, first, n, &error), LG_OK);
        for (size_t i = 0; i < n; i++) {
            size_t row = first + i;
            int is_new = both(yes(copy_len[row] == 0), known(x[row] > 0, x[row], 0));
            double log_2 = 2 * log_distance(row), as_number = is_new == 1 ? (double)NAN : is_new / 2;
            assert_int_equal(lg_query_truth(session, 6)[i],
                             either(both(is_new, yes(family[row] == 0)), yes(family[row] == 1)));
            assert_true(lg_query_numbers(session, 7)[i] == log_2);
            assert_int_equal(lg_query_levels(session, 8)[i], family[row]);
            assert_true(ulps(lg_query_numbers(session, 9)[i], as_number) == 0);
            assert_true(lg_query_numbers(session, 10)[i] == log_2);
            assert_int_equal(lg_query_truth(session, 11)[i], LG_QUERY_TRUE);
            assert_int_equal(lg_query_truth(session, 12)[i], is_new == 1 ? LG_QUERY_UNKNOWN : LG_QUERY_TRUE);
            assert_int_equal(lg_query_levels(session, 13)[i], domain[row]);
        }
    }
    lg_query_session_free(session);
    lg_query_free(query);
}

/* What is not needed is not looked at: words are read only where some token of the block is left. */
static void skips(void **state) {
    (void)state;
    lg_query *query = compile("copy_len = 77 and word ~ /x/ and word = y or copy_len = 78 and log(y) > 3",
                              LG_QUERY_CONDITION);
    lg_query_session *session = lg_query_session_create(query);
    size_t before = table.reads;
    assert_int_equal(lg_query_run(session, 0, 1000, NULL), LG_OK);
    assert_int_equal(table.reads, before);
    for (size_t i = 0; i < 1000; i++) assert_int_equal(lg_query_truth(session, 0)[i], LG_QUERY_FALSE);
    lg_query_session_free(session);
    lg_query_free(query);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(categories), cmocka_unit_test(missing_levels), cmocka_unit_test(numbers),
        cmocka_unit_test(logic),      cmocka_unit_test(texts),          cmocka_unit_test(arithmetic),
        cmocka_unit_test(functions),  cmocka_unit_test(several_items),  cmocka_unit_test(skips),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
