/* Queries: any text is an expression or an error that says where; an expression runs, and block by block
   gives what it gives row by row. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../query_table.h"

enum { ROWS = 40 };

static const char *const families[] = {"noun", "verb", "none", "a.b", "''"};
static uint8_t family[ROWS], other[ROWS], copy_len[ROWS], flag[ROWS];
static uint32_t distance[ROWS];
static float loss[ROWS];
static double x[ROWS];
static lg_string word[ROWS];

static const query_table_column columns[] = {
    {"family", NULL, LG_QUERY_CATEGORY, LG_U8, family, families, 5, QUERY_TABLE_PLAIN},
    {"other", NULL, LG_QUERY_CATEGORY, LG_U8, other, families, 5, QUERY_TABLE_IN_BLOCKS},
    {"copy_len", NULL, LG_QUERY_NUMBER, LG_U8, copy_len, NULL, 0, QUERY_TABLE_PLAIN},
    {"distance", NULL, LG_QUERY_NUMBER, LG_U32, distance, NULL, 0, QUERY_TABLE_PLAIN},
    {"loss", "a", LG_QUERY_NUMBER, LG_F32, loss, NULL, 0, QUERY_TABLE_PLAIN},
    {"x", NULL, LG_QUERY_NUMBER, LG_F64, x, NULL, 0, QUERY_TABLE_PLAIN},
    {"z", NULL, LG_QUERY_NUMBER, LG_F64, x, NULL, 0, QUERY_TABLE_IN_BLOCKS},
    {"flag", NULL, LG_QUERY_BOOLEAN, LG_U8, flag, NULL, 0, QUERY_TABLE_PLAIN},
    {"word", NULL, LG_QUERY_TEXT, LG_U8, word, NULL, 0, QUERY_TABLE_IN_BLOCKS},
};

static void check(bool good) {
    if (!good) abort();
}

static void run(const lg_query *query, size_t item) {
    lg_query_session *whole = lg_query_session_create(query), *single = lg_query_session_create(query);
    check(whole && single);
    lg_query_type type = lg_query_type_of(query, item);
    lg_error error = {0};
    lg_status status = lg_query_run(whole, 0, ROWS, &error);
    if (status) check(error.message[0]);
    for (size_t i = 0; i < ROWS && !status; i++) {
        check(lg_query_run(single, i, 1, NULL) == LG_OK);
        if (type == LG_QUERY_BOOLEAN) {
            check(lg_query_truth(whole, item)[i] == lg_query_truth(single, item)[0]);
            check(lg_query_truth(whole, item)[i] <= LG_QUERY_TRUE);
        } else if (type == LG_QUERY_NUMBER) {
            double a = lg_query_numbers(whole, item)[i], b = lg_query_numbers(single, item)[0];
            check(isnan(a) ? isnan(b) : memcmp(&a, &b, sizeof a) == 0);
        } else {
            check(lg_query_levels(whole, item)[i] == lg_query_levels(single, item)[0]);
        }
    }
    lg_query_session_free(whole);
    lg_query_session_free(single);
}

/* Two expressions, parted by a line break: the second may use the first as `d`. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!word[0].data)
        for (size_t i = 0; i < ROWS; i++) {
            family[i] = (uint8_t)(i % 5);
            other[i] = (uint8_t)(i / 3 % 5);
            copy_len[i] = (uint8_t)(i / 2);
            flag[i] = i % 2;
            distance[i] = (uint32_t)(i * i * i);
            loss[i] = i % 7 == 3 ? NAN : (float)i / 8;
            x[i] = i % 9 == 3 ? NAN : i % 9 == 4 ? INFINITY : (double)i - 20;
            word[i] = i % 6 == 5 ? (lg_string){NULL, 0} : (lg_string){&"the Th\xC3\xA9\xFF"[i % 8], i % 3};
        }
    char *text = malloc(size + 1);
    check(text);
    memcpy(text, data, size);
    text[size] = 0;
    char *second = strchr(text, '\n');
    if (second) *second++ = 0;
    const query_table table = {columns, sizeof columns / sizeof *columns, 0};
    query_table copy = table;
    lg_query_source source = query_table_source(&copy);
    lg_query_item items[] = {{"--define d", "d", text, second ? LG_QUERY_HELPER : LG_QUERY_VALUE},
                             {"--where", NULL, second, size % 2 ? LG_QUERY_CONDITION : LG_QUERY_VALUE}};
    lg_error error = {0};
    lg_query *query;
    lg_status status = lg_query_compile(items, second ? 2 : 1, &source, &query, &error);
    if (status) {
        check(!query && error.status == status && error.message[0]);
    } else {
        run(query, second != NULL);
        lg_query_free(query);
    }
    free(text);
    return 0;
}
