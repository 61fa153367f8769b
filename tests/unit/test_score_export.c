/* The per-token table: exact records in both formats, and numbers that read back the same. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/json.h"
#include "lossgap/export.h"
#include "store/table_writer.h"

/* Two documents: "a,<e-acute>" whose last character two tokens share, and "\"\n". */
static char *domains[] = {(char[]){"d\"1"}, (char[]){"d2"}};
static const uint64_t text_ends[] = {4, 4, 6}, doc_ends[] = {3, 3, 4}, name_ends[] = {3, 4, 8};
static const uint8_t kinds[] = {0, 0, 1};
static const uint16_t doc_domains[] = {0, 0, 1};
static const uint32_t ids[] = {7, 2147483647, 9, 0};
static const uint64_t ends[] = {2, 3, 4, 6};
static const float nll_a[] = {NAN, 0.1f, 1e-8f, 3}, nll_b[] = {NAN, 16777216.f, 0.333333343f, 0};
static const uint32_t context[] = {0, 1, 2, 0}, other_context[] = {1, 2, 3, 1},
                      rank[] = {UINT32_MAX, 0, 5, 1};

static const lg_dataset data = {.n_docs = 3,
                                .n_tokens = 4,
                                .n_bytes = 6,
                                .n_domains = 2,
                                .text = "a,\xc3\xa9\"\n",
                                .doc_text_end = text_ends,
                                .doc_token_end = doc_ends,
                                .doc_kind = kinds,
                                .doc_domain = doc_domains,
                                .doc_name = "a b0\xff\"\n.",
                                .doc_name_end = name_ends,
                                .token_id = ids,
                                .token_end = ends,
                                .domains = domains,
                                .max_token_id = 2147483647,
                                .has_text = true,
                                .tokenizer = "0"};

static char *export(const lg_dataset *d, const lg_scores *scores, size_t n, const char *tags,
                    lg_export_format format) {
    char *text;
    size_t length;
    lg_error error = {0};
    FILE *stream = open_memstream(&text, &length);
    lg_status status = lg_export_tokens(d, scores, n, tags, NULL, format, stream, NULL, &error);
    assert_string_equal(error.message, "");
    assert_int_equal(status, LG_OK);
    fclose(stream);
    return text;
}

static void expect(const lg_dataset *d, const lg_scores *scores, size_t n, const char *tags,
                   lg_export_format format, const char *expected) {
    char *got = export(d, scores, n, tags, format);
    assert_string_equal(got, expected);
    free(got);
}

static void test_text(void **state) {
    (void)state;
    expect(&data, NULL, 0, NULL, LG_EXPORT_JSONL,
           "{\"document\":\"a "
           "b\",\"domain\":\"d\\\"1\",\"token\":0,\"begin\":0,\"end\":2,\"text\":\"a,\",\"id\":7}\n"
           "{\"document\":\"a "
           "b\",\"domain\":\"d\\\"1\",\"token\":1,\"begin\":2,\"end\":3,\"text\":\"\xef\xbf\xbd\","
           "\"id\":2147483647}\n"
           "{\"document\":\"a "
           "b\",\"domain\":\"d\\\"1\",\"token\":2,\"begin\":3,\"end\":4,\"text\":\"\xef\xbf\xbd\","
           "\"id\":9}\n"
           "{\"document\":\"\xef\xbf\xbd\\\"\\n.\",\"domain\":\"d2\",\"token\":0,\"begin\":0,\"end\":2,"
           "\"text\":\"\\\"\\n\",\"id\":0}\n");
    expect(&data, NULL, 0, NULL, LG_EXPORT_CSV,
           "document,domain,token,begin,end,text,id\n"
           "\"a b\",\"d\"\"1\",0,0,2,\"a,\",7\n"
           "\"a b\",\"d\"\"1\",1,2,3,\"\xef\xbf\xbd\",2147483647\n"
           "\"a b\",\"d\"\"1\",2,3,4,\"\xef\xbf\xbd\",9\n"
           "\"\xef\xbf\xbd\"\"\n.\",\"d2\",0,0,2,\"\"\"\n\",0\n");
}

static void test_no_text(void **state) {
    (void)state;
    static const uint64_t none[4] = {0};
    lg_dataset d = data;
    d.has_text = false;
    d.n_bytes = 0;
    d.text = "";
    d.doc_text_end = d.token_end = none;
    char *got = export(&d, NULL, 0, NULL, LG_EXPORT_JSONL);
    assert_non_null(strstr(got, "\"token\":1,\"begin\":null,\"end\":null,\"text\":null,\"id\":2147483647}"));
    free(got);
    got = export(&d, NULL, 0, NULL, LG_EXPORT_CSV);
    assert_non_null(strstr(got, ",1,,,,2147483647\n"));
    free(got);
}

static void test_scores(void **state) {
    (void)state;
    lg_scores scores[2] = {
        {.model_name = "A", .n_tokens = 4, .nll = nll_a, .context = context},
        {.model_name = "B,x", .n_tokens = 4, .nll = nll_b, .context = context, .rank = rank}};
    expect(&data, scores, 2, NULL, LG_EXPORT_CSV,
           "document,domain,token,begin,end,text,id,nll.A,\"nll.B,x\",\"rank.B,x\",context\n"
           "\"a b\",\"d\"\"1\",0,0,2,\"a,\",7,,,,0\n"
           "\"a b\",\"d\"\"1\",1,2,3,\"\xef\xbf\xbd\",2147483647,0.1,16777216,0,1\n"
           "\"a b\",\"d\"\"1\",2,3,4,\"\xef\xbf\xbd\",9,1e-08,0.33333334,5,2\n"
           "\"\xef\xbf\xbd\"\"\n.\",\"d2\",0,0,2,\"\"\"\n\",0,3,0,1,0\n");
    char *got = export(&data, scores, 2, NULL, LG_EXPORT_JSONL);
    assert_non_null(
        strstr(got, "\"id\":7,\"nll.A\":null,\"nll.B,x\":null,\"rank.B,x\":null,\"context\":0}\n"));
    assert_non_null(
        strstr(got, "\"id\":9,\"nll.A\":1e-08,\"nll.B,x\":0.33333334,\"rank.B,x\":5,\"context\":2}\n"));
    free(got);
    scores[1].context = other_context;
    got = export(&data, scores, 2, NULL, LG_EXPORT_JSONL);
    assert_non_null(strstr(got,
                           "\"id\":9,\"nll.A\":1e-08,\"context.A\":2,\"nll.B,x\":0.33333334,\"rank.B,x\":5,"
                           "\"context.B,x\":3}\n"));
    free(got);
    scores[1].model_name = "A";
    lg_error error = {0};
    assert_int_equal(lg_export_tokens(&data, scores, 2, NULL, NULL, LG_EXPORT_CSV, stdout, NULL, &error),
                     LG_USAGE);
}

/* Every float comes back as it was. */
static void test_round_trip(void **state) {
    (void)state;
    enum { N = 20000 };
    float *nll = malloc(N * sizeof *nll);
    uint64_t *token_ends = malloc(N * sizeof *token_ends);
    uint32_t *zeros = calloc(N, sizeof *zeros), x = 7;
    const uint64_t doc_end = N, name_end = 1, zero = 0;
    for (size_t i = 0; i < N; i++) {
        do {
            x = x * 1664525 + 1013904223;
            memcpy(&nll[i], &x, sizeof x);
        } while (!isfinite(nll[i]));
        token_ends[i] = 0;
    }
    lg_dataset d = {.n_docs = 1,
                    .n_tokens = N,
                    .n_domains = 1,
                    .text = "",
                    .doc_text_end = &zero,
                    .doc_token_end = &doc_end,
                    .doc_kind = kinds,
                    .doc_domain = doc_domains,
                    .doc_name = "n",
                    .doc_name_end = &name_end,
                    .token_id = zeros,
                    .token_end = token_ends,
                    .domains = domains,
                    .has_text = true};
    lg_scores s = {.model_name = "m", .n_tokens = N, .nll = nll, .context = zeros};
    char *text = export(&d, &s, 1, NULL, LG_EXPORT_JSONL), *line = text;
    for (size_t i = 0; i < N; i++) {
        char *end = strchr(line, '\n');
        assert_non_null(end);
        *end = '\0';
        const char *value = strstr(line, "\"nll.m\":");
        assert_non_null(value);
        assert_true(strtof(value + 8, NULL) == nll[i]);
        line = end + 1;
    }
    free(text);
    free(nll);
    free(token_ends);
    free(zeros);
}

static void test_tags(void **state) {
    (void)state;
    char path[] = "/tmp/lossgap-export-XXXXXX";
    close(mkstemp(path));
    static const uint8_t word[] = {1, 0, 1, 2};
    static const uint16_t copy[] = {0, 1, 65535, 3};
    static const uint64_t begins[] = {0, 1, 2, 3};
    static const struct {
        const char *name;
        lg_dtype dtype;
        const void *values;
    } all[] = {{"word", LG_U8, word},
               {"copy_len", LG_U16, copy},
               {"brown.begin", LG_U64, begins},
               {"brown.end", LG_U64, begins},
               {"brown.tag", LG_U16, copy}};
    /* Tags name their dataset: any table with an identity will do. */
    char data_path[] = "/tmp/lossgap-export-XXXXXX", inputs[100];
    close(mkstemp(data_path));
    lg_table_writer *w;
    lg_dataset with_tags = data;
    const lg_provenance plain = {.format = "dataset", .version = 1};
    assert_int_equal(lg_table_writer_create(data_path, &w, NULL), LG_OK);
    assert_int_equal(lg_table_writer_commit(w, &plain, NULL, NULL), LG_OK);
    assert_int_equal(lg_table_open(data_path, "dataset", &with_tags.table, NULL), LG_OK);
    snprintf(inputs, sizeof inputs, "{\"dataset\": \"%s\"}", lg_table_provenance(with_tags.table)->identity);
    assert_int_equal(lg_table_writer_create(path, &w, NULL), LG_OK);
    for (size_t i = 0; i < 5; i++) {
        size_t column;
        assert_int_equal(lg_table_writer_add(w, all[i].name, all[i].dtype, 1, &column, NULL), LG_OK);
        assert_int_equal(lg_table_writer_append(w, column, all[i].values, 4, NULL), LG_OK);
    }
    lg_provenance p = {.format = "tags",
                       .version = 1,
                       .inputs = inputs,
                       .settings = "{\"levels\": {\"word\": [\"start\", \"in\"]}}"};
    assert_int_equal(lg_table_writer_commit(w, &p, NULL, NULL), LG_OK);
    char *got = export(&with_tags, NULL, 0, path, LG_EXPORT_CSV);
    char *end = strchr(got, '\n');
    *end = '\0';
    assert_string_equal(got, "document,domain,token,begin,end,text,id,copy_len,word");
    free(got);
    got = export(&with_tags, NULL, 0, path, LG_EXPORT_JSONL);
    assert_non_null(strstr(got, "\"id\":9,\"copy_len\":65535,\"word\":\"in\"}"));
    assert_non_null(strstr(got, "\"id\":0,\"copy_len\":3,\"word\":2}"));
    free(got);
    lg_error error = {0};
    assert_int_equal(lg_table_writer_create(path, &w, NULL), LG_OK);
    p.inputs = "{\"dataset\": \"00112233445566778899aabbccddeeff\"}";
    assert_int_equal(lg_table_writer_commit(w, &p, NULL, NULL), LG_OK);
    assert_int_equal(lg_export_tokens(&with_tags, NULL, 0, path, NULL, LG_EXPORT_CSV, stdout, NULL, &error),
                     LG_BAD_INPUT);
    assert_non_null(strstr(error.message, "another dataset"));
    lg_table_close(with_tags.table);
    unlink(path);
    unlink(data_path);
}

static void test_full_disk(void **state) {
    (void)state;
    FILE *full = fopen("/dev/full", "w");
    if (!full) skip();
    lg_error error = {0};
    assert_int_equal(lg_export_tokens(&data, NULL, 0, NULL, NULL, LG_EXPORT_CSV, full, NULL, &error),
                     LG_FAILED);
    assert_non_null(strstr(error.message, strerror(ENOSPC)));
    fclose(full);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_text),   cmocka_unit_test(test_no_text),
                                       cmocka_unit_test(test_scores), cmocka_unit_test(test_round_trip),
                                       cmocka_unit_test(test_tags),   cmocka_unit_test(test_full_disk)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
