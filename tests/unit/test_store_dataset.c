/* Datasets: a good one is read, and whatever is wrong in one is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lossgap/dataset.h"
#include "store/table_writer.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static char path[64];

enum {
    TEXT,
    DOC_TEXT_END,
    DOC_TOKEN_END,
    DOC_KIND,
    DOC_DOMAIN,
    DOC_NAME,
    DOC_NAME_END,
    TOKEN_ID,
    TOKEN_END,
    N_COLUMNS
};

typedef struct column {
    const char *name;
    lg_dtype dtype;
    size_t count;
    uint64_t values[8];
} column;

typedef struct data {
    column columns[N_COLUMNS];
    const char *settings, *inputs;
} data;

/* Three documents: "héy" in three tokens that split é, nothing at all, and "b" in two tokens, of which one is
 * empty. */
static const data good = {
    {
        {"text", LG_U8, 5, {'h', 0xC3, 0xA9, 'y', 'b'}},
        {"doc_text_end", LG_U64, 3, {4, 4, 5}},
        {"doc_token_end", LG_U64, 3, {3, 3, 5}},
        {"doc_kind", LG_U8, 3, {0, 1, 3}},
        {"doc_domain", LG_U16, 3, {1, 0, 1}},
        {"doc_name", LG_U8, 3, {'a', 'b', 'c'}},
        {"doc_name_end", LG_U64, 3, {1, 2, 3}},
        {"token_id", LG_U32, 5, {7, 100000, 5, 0, 6}},
        {"token_end", LG_U64, 5, {2, 3, 4, 4, 5}},
    },
    "{\"domains\":[\"web\",\"b\\u00fccher\"]}",
    "{\"tokenizer\":\"0123\"}",
};

static lg_status write_and_open(const data *d, lg_dataset *dataset, lg_error *error) {
    lg_table_writer *writer;
    assert_int_equal(lg_table_writer_create(path, &writer, NULL), LG_OK);
    for (size_t i = 0; i < N_COLUMNS; i++) {
        const column *c = &d->columns[i];
        if (!c->name) continue;
        size_t index;
        assert_int_equal(lg_table_writer_add(writer, c->name, c->dtype, 1, &index, NULL), LG_OK);
        for (size_t k = 0; k < c->count; k++) {
            unsigned char value[8];
            memcpy(value, &c->values[k], 8); /* little endian: the first bytes are the narrower value */
            assert_int_equal(lg_table_writer_append(writer, index, value, 1, NULL), LG_OK);
        }
    }
    lg_provenance p = {.format = "dataset", .version = 1, .inputs = d->inputs, .settings = d->settings};
    assert_int_equal(lg_table_writer_commit(writer, &p, NULL, NULL), LG_OK);
    lg_status status = lg_dataset_open(path, dataset, error);
    unlink(path);
    return status;
}

static void reads_a_good_one(void **state) {
    (void)state;
    lg_dataset d;
    lg_error error = {0};
    if (write_and_open(&good, &d, &error)) fail_msg("%s", error.message);
    assert_true(d.n_docs == 3 && d.n_tokens == 5 && d.n_bytes == 5 && d.n_domains == 2 && d.has_text);
    assert_memory_equal(d.text, "h\xC3\xA9yb", 5);
    assert_memory_equal(d.doc_name, "abc", 3);
    assert_string_equal(d.domains[0], "web");
    assert_string_equal(d.domains[1], "b\xC3\xBC"
                                      "cher");
    assert_string_equal(d.tokenizer, "0123");
    assert_int_equal(d.max_token_id, 100000);
    assert_int_equal(d.doc_kind[2], LG_LATEX);
    assert_int_equal(d.doc_domain[2], 1);
    static const uint64_t begins[] = {0, 2, 3, 4, 4};
    for (size_t doc = 0, i = 0; doc < 3; doc++)
        for (; i < d.doc_token_end[doc]; i++) assert_int_equal(lg_token_begin(&d, doc, i), begins[i]);
    lg_dataset_close(&d);
    lg_dataset_close(&d); /* closed is empty */
}

static void reads_tokenised_data(void **state) {
    (void)state;
    data changed = good;
    changed.columns[TEXT].count = 0;
    memset(changed.columns[DOC_TEXT_END].values, 0, sizeof changed.columns[DOC_TEXT_END].values);
    memset(changed.columns[TOKEN_END].values, 0, sizeof changed.columns[TOKEN_END].values);
    changed.settings = "{\"domains\":[\"a\",\"b\"],\"input_ids\":true}";
    changed.inputs = "{}";
    lg_dataset d;
    lg_error error = {0};
    if (write_and_open(&changed, &d, &error)) fail_msg("%s", error.message);
    assert_false(d.has_text);
    assert_string_equal(d.tokenizer, "");
    assert_int_equal(d.n_bytes, 0);
    lg_dataset_close(&d);
}

static void reads_the_empty_one(void **state) {
    (void)state;
    data changed = good;
    for (size_t i = 0; i < N_COLUMNS; i++) changed.columns[i].count = 0;
    changed.settings = "{\"domains\":[],\"input_ids\":false}";
    lg_dataset d;
    lg_error error = {0};
    if (write_and_open(&changed, &d, &error)) fail_msg("%s", error.message);
    assert_true(d.n_docs == 0 && d.n_tokens == 0 && d.n_domains == 0 && d.has_text);
    lg_dataset_close(&d);
}

static void refuses_wrong_values(void **state) {
    (void)state;
    static const struct {
        int column;
        size_t row;
        uint64_t value;
        const char *message;
    } cases[] = {
        {DOC_TEXT_END, 0, 6, "row 0: doc_text_end does not rise"},
        {DOC_TEXT_END, 0, 5, "row 1: doc_text_end does not rise"},
        {DOC_TEXT_END, 2, 4, "row 2: doc_text_end does not rise"},
        {DOC_TEXT_END, 2, UINT64_MAX, "row 2: doc_text_end does not rise"},
        {DOC_TEXT_END, 1, 5, "token_end does not rise within its document"},
        {DOC_TOKEN_END, 0, 4, "row 1: doc_token_end does not rise"},
        {DOC_TOKEN_END, 2, 6, "row 2: doc_token_end does not rise"},
        {DOC_TOKEN_END, 2, 4, "row 2: doc_token_end does not rise"},
        {DOC_NAME_END, 1, 0, "row 1: doc_name_end does not rise"},
        {DOC_NAME_END, 2, 2, "row 2: doc_name_end does not rise"},
        {DOC_KIND, 1, 4, "row 1: doc_kind is no kind"},
        {DOC_KIND, 1, 255, "row 1: doc_kind is no kind"},
        {DOC_DOMAIN, 2, 2, "row 2: doc_domain is no domain"},
        {TOKEN_END, 1, 1, "row 1: token_end does not rise within its document"},
        {TOKEN_END, 2, 5, "row 2: token_end does not rise within its document"},
        {TOKEN_END, 2, 3, "row 2: token_end leaves bytes of its document to no token"},
        {TOKEN_END, 3, 3, "row 3: token_end does not rise within its document"},
        {TOKEN_END, 4, 4, "row 4: token_end leaves bytes"},
        {TOKEN_END, 4, UINT64_MAX, "row 4: token_end does not rise"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        data changed = good;
        changed.columns[cases[i].column].values[cases[i].row] = cases[i].value;
        lg_dataset d;
        lg_error error = {0};
        assert_int_equal(write_and_open(&changed, &d, &error), LG_BAD_INPUT);
        if (!strstr(error.message, cases[i].message) || !strstr(error.message, path))
            fail_msg("%zu: %s", i, error.message);
        assert_null(d.table);
    }
}

static void refuses_wrong_columns(void **state) {
    (void)state;
    for (size_t c = 0; c < N_COLUMNS; c++) {
        lg_dataset d;
        lg_error error = {0};
        data changed = good;
        changed.columns[c].name = NULL;
        assert_int_equal(write_and_open(&changed, &d, &error), LG_BAD_INPUT);
        assert_non_null(strstr(error.message, "has no column"));
        changed = good;
        changed.columns[c].dtype = LG_I16;
        assert_int_equal(write_and_open(&changed, &d, &error), LG_BAD_INPUT);
        assert_non_null(strstr(error.message, "has the dtype I16"));
        changed = good;
        changed.columns[c].count--;
        assert_int_equal(write_and_open(&changed, &d, &error), LG_BAD_INPUT);
    }
}

static void refuses_wrong_provenance(void **state) {
    (void)state;
    static const char *const settings[] = {"{}",
                                           "{\"domains\":2}",
                                           "{\"domains\":[1,2]}",
                                           "{\"domains\":[\"a\",\"\\u0000\"]}",
                                           "{\"domains\":[\"a\",\"b\"],\"input_ids\":1}",
                                           "{\"domains\":[\"a\",\"b\"],\"domains\":[]}"};
    static const char *const inputs[] = {"{}", "{\"tokenizer\":1}", "{\"tokenizer\":\"\"}"};
    lg_dataset d;
    lg_error error = {0};
    for (size_t i = 0; i < COUNT(settings); i++) {
        data changed = good;
        changed.settings = settings[i];
        assert_int_equal(write_and_open(&changed, &d, &error), LG_BAD_INPUT);
    }
    for (size_t i = 0; i < COUNT(inputs); i++) {
        data changed = good;
        changed.inputs = inputs[i];
        assert_int_equal(write_and_open(&changed, &d, &error), LG_BAD_INPUT);
        assert_non_null(strstr(error.message, "\"tokenizer\" in the inputs"));
    }
    data changed = good; /* text, where there should be none */
    changed.settings = "{\"domains\":[\"a\",\"b\"],\"input_ids\":true}";
    assert_int_equal(write_and_open(&changed, &d, &error), LG_BAD_INPUT);
    assert_non_null(strstr(error.message, "already tokenised data with text"));
    assert_int_equal(lg_dataset_open(path, &d, &error), LG_BAD_INPUT); /* no such file */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_good_one),      cmocka_unit_test(reads_tokenised_data),
        cmocka_unit_test(reads_the_empty_one),   cmocka_unit_test(refuses_wrong_values),
        cmocka_unit_test(refuses_wrong_columns), cmocka_unit_test(refuses_wrong_provenance),
    };
    snprintf(path, sizeof path, "/tmp/lossgap-test-dataset-%ld", (long)getpid());
    return cmocka_run_group_tests(tests, NULL, NULL);
}
