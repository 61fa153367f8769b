/* Base and store when memory runs out: at every single allocation, an error and nothing lost. */
#include "failing_malloc.h"

#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "lossgap/dataset.h"
#include "store/safetensors.h"
#include "store/table_writer.h"

static char path[64];

static lg_status parse_json(void *context, lg_error *error) {
    const lg_text *text = context;
    lg_arena arena = {0};
    lg_json_value *value;
    lg_status status = lg_json_parse(&arena, text->data, text->length, "t", &value, error);
    lg_arena_free(&arena);
    return status;
}

static void json_tree(void **state) {
    (void)state;
    lg_text text = {0};
    lg_text_puts(&text, "{\"short\":\"\\n\",\"list\":[1,2.5,true,null,{}],");
    for (int i = 0; i < 300; i++) lg_text_printf(&text, "\"member %d\":\"%0200d\\t\",", i, i);
    lg_text_puts(
        &text,
        "\"number\":0.12345678901234567890123456789012345678901234567890123456789012345678901234567890}");
    survives_failing_malloc(parse_json, &text, "json tree");
    lg_text_free(&text);
}

static lg_status parse_safetensors(void *context, lg_error *error) {
    const lg_text *file = context;
    lg_safetensors *result;
    lg_status status =
        lg_safetensors_parse((const unsigned char *)file->data, file->length, "t", &result, error);
    lg_safetensors_close(result);
    return status;
}

static void safetensors(void **state) {
    (void)state;
    lg_text file = {0};
    uint64_t length = 0;
    lg_text_put(&file, &length, 8);
    lg_text_puts(&file, "{\"__metadata__\":{");
    for (int i = 0; i < 40; i++) lg_text_printf(&file, "%s\"key %d\":\"\\u0076alue\"", i ? "," : "", i);
    lg_text_puts(&file, "}");
    for (int i = 0; i < 400; i++)
        lg_text_printf(&file, ",\"tensor %d\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[%d,%d]}", i,
                       i, i + 1);
    lg_text_puts(&file, "}");
    length = file.length - 8;
    for (int i = 0; i < 400; i++) lg_text_puts(&file, "x");
    memcpy(file.data, &length, 8);
    survives_failing_malloc(parse_safetensors, &file, "safetensors");
    lg_text_free(&file);
}

static lg_status write_table(void *context, lg_error *error) {
    const char *values = context;
    lg_table_writer *writer;
    size_t a, b;
    lg_status status = lg_table_writer_create(path, &writer, error);
    if (status) return status;
    if ((status = lg_table_writer_add(writer, "a", LG_F32, 2, &a, error)) ||
        (status = lg_table_writer_add(writer, "b", LG_U8, 1, &b, error)) ||
        (status = lg_table_writer_append(writer, a, values, 8, error)) ||
        (status = lg_table_writer_append(writer, b, values, 300000, error)) ||
        (status = lg_table_writer_append(writer, a, values, 8, error))) {
        lg_table_writer_discard(writer);
        return status;
    }
    lg_provenance provenance = {.format = "test", .version = 1, .settings = "{\"k\":\"\\n\"}"};
    return lg_table_writer_commit(writer, &provenance, "{}", error);
}

static void writing_tables(void **state) {
    (void)state;
    static char values[300000];
    survives_failing_malloc(write_table, values, "table writer");
    unlink(path);
}

static lg_status open_table(void *context, lg_error *error) {
    (void)context;
    lg_table *table;
    lg_status status = lg_table_open(path, "test", &table, error);
    if (status) return status;
    const void *values;
    status = lg_table_column(table, "a", LG_F32, SIZE_MAX, &values, error);
    if (!status) status = lg_table_verify(table, error);
    lg_table_close(table);
    return status;
}

static void opening_tables(void **state) {
    static char values[300000];
    (void)state;
    assert_int_equal(write_table(values, NULL), LG_OK);
    survives_failing_malloc(open_table, NULL, "table");
    unlink(path);
}

static lg_status open_dataset(void *context, lg_error *error) {
    (void)context;
    lg_dataset dataset;
    lg_status status = lg_dataset_open(path, &dataset, error);
    lg_dataset_close(&dataset);
    return status;
}

static void opening_datasets(void **state) {
    (void)state;
    static const struct {
        const char *name;
        lg_dtype dtype;
    } columns[] = {{"text", LG_U8},          {"doc_text_end", LG_U64}, {"doc_token_end", LG_U64},
                   {"doc_kind", LG_U8},      {"doc_domain", LG_U16},   {"doc_name", LG_U8},
                   {"doc_name_end", LG_U64}, {"token_id", LG_U32},     {"token_end", LG_U64}};
    static const uint64_t ends[] = {1}, zeros[] = {0};
    lg_table_writer *writer;
    assert_int_equal(lg_table_writer_create(path, &writer, NULL), LG_OK);
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        size_t c;
        assert_int_equal(lg_table_writer_add(writer, columns[i].name, columns[i].dtype, 1, &c, NULL), LG_OK);
        assert_int_equal(
            lg_table_writer_append(writer, c, columns[i].dtype == LG_U64 ? ends : zeros, 1, NULL), LG_OK);
    }
    lg_provenance provenance = {.format = "dataset",
                                .version = 1,
                                .inputs = "{\"tokenizer\":\"x\"}",
                                .settings = "{\"domains\":[\"a\",\"b\"]}"};
    assert_int_equal(lg_table_writer_commit(writer, &provenance, NULL, NULL), LG_OK);
    survives_failing_malloc(open_dataset, NULL, "dataset");
    unlink(path);
}

static lg_status write_file(void *context, lg_error *error) {
    (void)context;
    return lg_write_file(path, "text", 4, error);
}

static void writing_files(void **state) {
    (void)state;
    survives_failing_malloc(write_file, NULL, "file");
    unlink(path);
}

static lg_status make_folders(void *context, lg_error *error) {
    (void)context;
    return lg_make_folders("/tmp", error);
}

static void folders(void **state) {
    (void)state;
    survives_failing_malloc(make_folders, NULL, "folders");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_tree),        cmocka_unit_test(safetensors),
        cmocka_unit_test(writing_tables),   cmocka_unit_test(opening_tables),
        cmocka_unit_test(opening_datasets), cmocka_unit_test(writing_files),
        cmocka_unit_test(folders),
    };
    snprintf(path, sizeof path, "/tmp/lossgap-test-%ld", (long)getpid());
    return cmocka_run_group_tests(tests, NULL, NULL);
}
