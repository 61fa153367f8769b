/* Queries when memory runs out: at every allocation an error, and nothing lost. */
#include "failing_malloc.h"

#include <stdio.h>

#include "../query_table.h"

enum { ROWS = 3000 };

static const char *const levels[] = {"a", "b", "c", "d"};
static uint8_t family[ROWS], other[ROWS], copy_len[ROWS];
static double x[ROWS];
static lg_string word[ROWS];
static char texts[ROWS][8];

static const query_table_column columns[] = {
    {"family", NULL, LG_QUERY_CATEGORY, LG_U8, family, levels, 4, QUERY_TABLE_PLAIN},
    {"other", NULL, LG_QUERY_CATEGORY, LG_U8, other, levels, 4, QUERY_TABLE_IN_BLOCKS},
    {"copy_len", NULL, LG_QUERY_NUMBER, LG_U8, copy_len, NULL, 0, QUERY_TABLE_PLAIN},
    {"x", "m", LG_QUERY_NUMBER, LG_F64, x, NULL, 0, QUERY_TABLE_IN_BLOCKS},
    {"word", NULL, LG_QUERY_TEXT, LG_U8, word, NULL, 0, QUERY_TABLE_IN_BLOCKS},
};
static query_table table = {columns, sizeof columns / sizeof *columns, 0};

static lg_status run_all(void *context, lg_error *error) {
    const lg_query_item *items = context;
    lg_query_source source = query_table_source(&table);
    lg_query *query;
    lg_status status = lg_query_compile(items, 3, &source, &query, error);
    if (status) return status;
    lg_query_session *session = lg_query_session_create(query);
    if (!session) status = lg_fail_memory(error);
    for (size_t first = 0; first < ROWS && !status; first += LG_QUERY_BLOCK)
        status = lg_query_run(session, first, ROWS - first < LG_QUERY_BLOCK ? ROWS - first : LG_QUERY_BLOCK,
                              error);
    lg_query_session_free(session);
    lg_query_free(query);
    return status;
}

static void everything(void **state) {
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        snprintf(texts[i], sizeof texts[i], "w%zu", i);
        word[i] = (lg_string){texts[i], strlen(texts[i])};
        family[i] = (uint8_t)(i % 4);
        x[i] = (double)i;
    }
    static const lg_query_item items[] = {
        {"--define l", "l", "log(max(x(m), 1)) + 0.5 * (family = a)", LG_QUERY_HELPER},
        {"--where", NULL,
         "family in (a, c) and l > 1 and x(m) not in (1, 3..5) and family = other or word ~ /[0-9]{3}/ and "
         "word in "
         "(w1, 'w22') or family ~ /^[ab]/ and missing(word)",
         LG_QUERY_CONDITION},
        {"term", NULL, "family", LG_QUERY_VALUE},
    };
    survives_failing_malloc(run_all, (void *)(uintptr_t)items, "query");
}

static lg_status fail_to_compile(void *context, lg_error *error) {
    const char *text = context;
    lg_query_item item = {"--where", NULL, text, LG_QUERY_CONDITION};
    lg_query_source source = query_table_source(&table);
    lg_query *query;
    lg_status status = lg_query_compile(&item, 1, &source, &query, error);
    assert_null(query);
    if (status == LG_USAGE) { /* as it should */
        *error = (lg_error){0};
        return LG_OK;
    }
    return status;
}

static void wrong_queries(void **state) {
    (void)state;
    static const char *const wrong[] = {"word ~ /(/",  "family = 'e'",  "x(m) in (1, 2, y)",
                                        "nothing > 3", "word in (a, b", "family in (a, e)"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        survives_failing_malloc(fail_to_compile, (void *)(uintptr_t)wrong[i], wrong[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(everything), cmocka_unit_test(wrong_queries)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
