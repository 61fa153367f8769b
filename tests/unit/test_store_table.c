/* Tables: what is written is read back; the identity depends on what the numbers say and on nothing else. */
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "store/safetensors.h"
#include "store/table_writer.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static char folder[] = "/tmp/lossgap-test-XXXXXX";
static char path[64], other[64];

static int set_up(void **state) {
    (void)state;
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/table", folder);
    snprintf(other, sizeof other, "%s/other", folder);
    return 0;
}

static size_t files_in_folder(void) {
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    size_t n = 0;
    for (struct dirent *e; (e = readdir(dir));) n += e->d_name[0] != '.';
    closedir(dir);
    return n;
}

static int tear_down(void **state) {
    (void)state;
    unlink(path);
    unlink(other);
    return rmdir(folder); /* fails if anything else was left */
}

static const lg_provenance about_it = {.format = "test",
                                       .version = 1,
                                       .command = "lossgap test \"\xC3\xA9\"",
                                       .inputs = " {\"x\": \"00\"} ",
                                       .settings = "\n{\"k\": [1, {\"\\u00e9\": null}]}\t"};

enum { ROWS = 100003 };

/* Writes five columns of ROWS rows in pieces of PIECE values, added in either order. */
static void write_table(const char *where, size_t piece, bool reverse, const lg_provenance *provenance,
                        const char *about) {
    static uint8_t bytes[ROWS];
    static uint16_t pairs[2 * ROWS];
    static float floats[ROWS];
    static uint64_t words[ROWS];
    for (size_t i = 0; i < ROWS; i++) {
        bytes[i] = (uint8_t)(i * 7);
        pairs[2 * i] = (uint16_t)i;
        pairs[2 * i + 1] = (uint16_t)(i * i);
        floats[i] = (float)i * 0.5f;
        words[i] = i * UINT64_C(0x9E3779B97F4A7C15);
    }
    const struct {
        const char *name;
        lg_dtype dtype;
        size_t width;
        const void *values;
        size_t count;
    } columns[] = {
        {"bytes", LG_U8, 1, bytes, ROWS},    {"pairs", LG_U16, 2, pairs, 2 * ROWS},
        {"floats", LG_F32, 1, floats, ROWS}, {"words", LG_U64, 1, words, ROWS},
        {"none", LG_U32, 3, NULL, 0},
    };
    enum { N = COUNT(columns) };
    lg_table_writer *writer;
    lg_error error = {0};
    size_t index[N];
    assert_int_equal(lg_table_writer_create(where, &writer, &error), LG_OK);
    for (size_t k = 0; k < N; k++) {
        size_t c = reverse ? N - 1 - k : k;
        assert_int_equal(lg_table_writer_add(writer, columns[c].name, columns[c].dtype, columns[c].width,
                                             &index[c], &error),
                         LG_OK);
    }
    for (size_t at = 0, more = 1; more; at += piece) {
        more = 0;
        for (size_t c = 0; c < N; c++) {
            if (at >= columns[c].count) continue;
            size_t n = columns[c].count - at < piece ? columns[c].count - at : piece;
            const char *values = (const char *)columns[c].values + at * lg_dtype_size(columns[c].dtype);
            assert_int_equal(lg_table_writer_append(writer, index[c], values, n, &error), LG_OK);
            more = 1;
        }
    }
    if (lg_table_writer_commit(writer, provenance, about, &error)) fail_msg("%s", error.message);
}

static void reads_what_was_written(void **state) {
    (void)state;
    write_table(path, 1000, false, &about_it, "{\"when\": \"now\"}");
    assert_int_equal(files_in_folder(), 1);
    lg_table *table;
    lg_error error = {0};
    if (lg_table_open(path, "test", &table, &error)) fail_msg("%s", error.message);
    assert_string_equal(lg_table_path(table), path);
    const lg_provenance *p = lg_table_provenance(table);
    assert_string_equal(p->format, "test");
    assert_int_equal(p->version, 1);
    assert_string_equal(p->command, about_it.command);
    assert_memory_equal(p->program, "lossgap ", 8);
    assert_int_equal(strlen(p->identity), 32);
    assert_string_equal(p->inputs, "{\"x\": \"00\"}");
    assert_string_equal(p->settings, "{\"k\": [1, {\"\\u00e9\": null}]}");
    assert_string_equal(p->about, "{\"when\": \"now\"}");

    static const char *const order[] = {"words", "floats", "none", "pairs", "bytes"}; /* widest first */
    assert_int_equal(lg_table_n_columns(table), 5);
    for (size_t i = 0; i < 5; i++) {
        const lg_tensor *t = lg_table_at(table, i);
        assert_string_equal(t->name, order[i]);
        assert_int_equal((uintptr_t)t->data % lg_dtype_size(t->dtype), 0);
        assert_ptr_equal(lg_table_find(table, order[i]), t);
    }
    assert_int_equal((uintptr_t)lg_table_at(table, 0)->data % 64, 0); /* of a mapping, so of the file */
    const lg_tensor *pairs = lg_table_find(table, "pairs"), *none = lg_table_find(table, "none");
    assert_true(pairs->n_dims == 2 && pairs->shape[0] == ROWS && pairs->shape[1] == 2);
    assert_true(none->n_dims == 2 && none->shape[0] == 0 && none->shape[1] == 3 && none->count == 0);
    assert_null(lg_table_find(table, "lossgap"));

    const void *values;
    assert_int_equal(lg_table_column(table, "bytes", LG_U8, ROWS, &values, &error), LG_OK);
    for (size_t i = 0; i < ROWS; i++) assert_true(((const uint8_t *)values)[i] == (uint8_t)(i * 7));
    assert_int_equal(lg_table_column(table, "pairs", LG_U16, SIZE_MAX, &values, &error), LG_OK);
    for (size_t i = 0; i < ROWS; i++) {
        assert_true(((const uint16_t *)values)[2 * i] == (uint16_t)i);
        assert_true(((const uint16_t *)values)[2 * i + 1] == (uint16_t)(i * i));
    }
    assert_int_equal(lg_table_column(table, "floats", LG_F32, ROWS, &values, &error), LG_OK);
    for (size_t i = 0; i < ROWS; i++) assert_true(((const float *)values)[i] == (float)i * 0.5f);
    assert_int_equal(lg_table_column(table, "words", LG_U64, ROWS, &values, &error), LG_OK);
    for (size_t i = 0; i < ROWS; i++)
        assert_true(((const uint64_t *)values)[i] == i * UINT64_C(0x9E3779B97F4A7C15));
    assert_int_equal(lg_table_column(table, "none", LG_U32, 0, &values, &error), LG_OK);
    assert_non_null(values);

    assert_int_equal(lg_table_column(table, "absent", LG_U8, 1, &values, &error), LG_BAD_INPUT);
    assert_non_null(strstr(error.message, "has no column \"absent\""));
    assert_int_equal(lg_table_column(table, "bytes", LG_I8, ROWS, &values, &error), LG_BAD_INPUT);
    assert_non_null(strstr(error.message, "has the dtype U8, where I8 is wanted"));
    assert_int_equal(lg_table_column(table, "bytes", LG_U8, 5, &values, &error), LG_BAD_INPUT);
    assert_non_null(strstr(error.message, "has 100003 values, where 5 are wanted"));
    assert_int_equal(lg_table_verify(table, &error), LG_OK);
    lg_table_close(table);
    lg_table_close(NULL);
}

static void identity_of(const char *where, char identity[33]) {
    lg_table *table;
    assert_int_equal(lg_table_open(where, NULL, &table, NULL), LG_OK);
    strcpy(identity, lg_table_provenance(table)->identity);
    assert_int_equal(lg_table_verify(table, NULL), LG_OK);
    lg_table_close(table);
}

static void same_content_is_the_same_file(void **state) {
    (void)state;
    write_table(path, 1000, false, &about_it, NULL);
    lg_mapping first, again;
    assert_int_equal(lg_map(path, &first, NULL), LG_OK);
    static const size_t pieces[] = {777, 65536, ROWS, 4 * ROWS};
    for (size_t i = 0; i < 2 * COUNT(pieces); i++) {
        write_table(other, pieces[i / 2], i % 2, &about_it, NULL);
        assert_int_equal(lg_map(other, &again, NULL), LG_OK);
        assert_int_equal(again.size, first.size);
        assert_memory_equal(again.data, first.data, first.size);
        lg_unmap(&again);
    }
    lg_unmap(&first);
}

static void identity_is_of_settings_and_data(void **state) {
    (void)state;
    char identity[33], changed[33];
    write_table(path, 5000, false, &about_it, NULL);
    identity_of(path, identity);
    lg_provenance p = about_it;
    p.command = "another";
    p.inputs = NULL;
    write_table(path, 5000, false, &p, "{\"x\":1}");
    identity_of(path, changed);
    assert_string_equal(identity, changed);
    p.settings = "{}";
    write_table(path, 5000, false, &p, NULL);
    identity_of(path, changed);
    assert_string_not_equal(identity, changed);
    p = about_it;
    p.format = "other";
    write_table(path, 5000, false, &p, NULL);
    identity_of(path, changed);
    assert_string_not_equal(identity, changed);
    p = about_it;
    p.version = 2;
    write_table(path, 5000, false, &p, NULL);
    identity_of(path, changed);
    assert_string_not_equal(identity, changed);
}

static void identity_sees_a_changed_byte(void **state) {
    (void)state;
    write_table(path, 5000, false, &about_it, NULL);
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    int fd = open(path, O_RDWR);
    unsigned char byte;
    assert_int_equal(pread(fd, &byte, 1, info.st_size - 1), 1);
    byte ^= 1;
    assert_int_equal(pwrite(fd, &byte, 1, info.st_size - 1), 1);
    close(fd);
    lg_table *table;
    lg_error error = {0};
    assert_int_equal(lg_table_open(path, "test", &table, &error), LG_OK);
    assert_int_equal(lg_table_verify(table, &error), LG_BAD_INPUT);
    assert_non_null(strstr(error.message, "its content has the identity"));
    lg_table_close(table);
}

static void refuses_other_formats(void **state) {
    (void)state;
    lg_table *table;
    lg_error error = {0};
    write_table(path, ROWS, false, &about_it, NULL);
    assert_int_equal(lg_table_open(path, "scores", &table, &error), LG_BAD_INPUT);
    assert_non_null(strstr(error.message, "holds test, where scores is wanted"));
    lg_provenance p = about_it;
    p.version = LG_TABLE_VERSION + 1;
    write_table(path, ROWS, false, &p, NULL);
    assert_int_equal(lg_table_open(path, "test", &table, &error), LG_BAD_INPUT);
    assert_non_null(strstr(error.message, "use a newer lossgap"));
    assert_int_equal(lg_table_open(path, NULL, &table, &error), LG_OK);
    lg_table_close(table);
    assert_int_equal(lg_table_open("/nonexistent/x", NULL, &table, &error), LG_BAD_INPUT);
}

/* A foreign file: METADATA, and one U32 column of two values that begins ODD bytes off alignment. */
static void write_foreign(const char *metadata, unsigned odd) {
    lg_text file = {0};
    uint64_t length = 0;
    lg_text_put(&file, &length, 8);
    lg_text_printf(&file,
                   "{\"__metadata__\":{%s},\"pad\":{\"dtype\":\"U8\",\"shape\":[%u],\"data_offsets\":[0,%u]},"
                   "\"x\":{\"dtype\":\"U32\",\"shape\":[2],\"data_offsets\":[%u,%u]}}",
                   metadata, odd, odd, odd, odd + 8);
    while (file.length % 8) lg_text_puts(&file, " ");
    length = file.length - 8;
    memcpy(file.data, &length, 8);
    lg_text_put(&file, "padding", odd);
    lg_text_put(&file, (const uint32_t[]){0x01020304, 0xfffefdfc}, 8);
    assert_int_equal(lg_write_file(path, file.data, file.length, NULL), LG_OK);
    lg_text_free(&file);
}

static void reads_foreign_files(void **state) {
    (void)state;
    for (unsigned odd = 0; odd < 5; odd++) {
        write_foreign("\"format\":\"pt\"", odd);
        lg_table *table;
        lg_error error = {0};
        assert_int_equal(lg_table_open(path, "scores", &table, &error), LG_BAD_INPUT);
        assert_non_null(strstr(error.message, "safetensors file of another program"));
        assert_int_equal(lg_table_open(path, NULL, &table, &error), LG_OK);
        assert_null(lg_table_provenance(table)->format);
        assert_int_equal(lg_table_verify(table, &error), LG_BAD_INPUT);
        const void *x, *again;
        assert_int_equal(lg_table_column(table, "x", LG_U32, 2, &x, &error), LG_OK);
        assert_int_equal(lg_table_column(table, "x", LG_U32, 2, &again, &error), LG_OK);
        assert_ptr_equal(x, again);
        assert_int_equal((uintptr_t)x % 4, 0);
        assert_true(((const uint32_t *)x)[0] == 0x01020304 && ((const uint32_t *)x)[1] == 0xfffefdfc);
        lg_table_close(table);
    }
}

/* The value comes from the program in docs/formats/table.md, which is Python. */
static void identity_is_what_the_documentation_says(void **state) {
    (void)state;
    lg_table_writer *writer;
    size_t a, b;
    assert_int_equal(lg_table_writer_create(path, &writer, NULL), LG_OK);
    assert_int_equal(lg_table_writer_add(writer, "zz", LG_U8, 1, &a, NULL), LG_OK);
    assert_int_equal(lg_table_writer_add(writer, "a\xC3\xA9", LG_F32, 2, &b, NULL), LG_OK);
    assert_int_equal(lg_table_writer_append(writer, a, "hello", 5, NULL), LG_OK);
    assert_int_equal(lg_table_writer_append(writer, b, (const float[]){1, 2, 3, 4}, 4, NULL), LG_OK);
    const lg_provenance p = {
        .format = "test", .version = 1, .settings = "{\"domains\": [\"\xC3\xA9\"], \"x\":1}"};
    assert_int_equal(lg_table_writer_commit(writer, &p, "{\"n\":1}", NULL), LG_OK);
    char identity[33];
    identity_of(path, identity);
    assert_string_equal(identity, "83a2a280940b7adc3cd94b1089553bcd");
}

/* Writes a foreign file whose provenance is VALUE, with ' for ". */
static void write_provenance(const char *value) {
    char json[512];
    size_t n = strlen(value);
    for (size_t i = 0; i <= n; i++) json[i] = value[i] == '\'' ? '"' : value[i];
    lg_text metadata = {0};
    lg_json_writer w = {.out = &metadata};
    lg_text_puts(&metadata, "\"lossgap\":");
    lg_json_put_text(&w, json);
    write_foreign(metadata.data, 0);
    lg_text_free(&metadata);
}

static void refuses_broken_provenance(void **state) {
    (void)state;
#define START    "{'format':'f','program':'p','command':'',"
#define IDENTITY "'identity':'0123456789abcdef0123456789abcdef',"
    static const struct {
        const char *value, *message;
    } cases[] = {
        {"", "expected an object, found the end"},
        {"[]", "expected an object, found an array"},
        {"{}", "lacks \"format\""},
        {START "'version':1,'inputs':{},'settings':{}}", "lacks \"identity\""},
        {START IDENTITY "'inputs':{},'settings':{}}", "lacks \"version\""},
        {START IDENTITY "'version':0,'inputs':{},'settings':{}}", "a version of 0"},
        {START IDENTITY "'version':4294967296,'inputs':{},'settings':{}}", "a version of 4294967296"},
        {START IDENTITY "'version':1,'settings':{}}", "lacks \"inputs\""},
        {START IDENTITY "'version':1,'inputs':{}}", "lacks \"settings\""},
        {START IDENTITY "'version':1,'inputs':[],'settings':{}}", "expected an object, found an array"},
        {START IDENTITY "'version':1,'inputs':{},'inputs':{},'settings':{}}", "\"inputs\" twice"},
        {START IDENTITY "'version':1,'inputs':{},'settings':{'a':}}", "expected a value, found '}'"},
        {START "'identity':'','version':1,'inputs':{},'settings':{}}", "\"identity\" that is none"},
        {START "'identity':'0123456789ABCDEF0123456789abcdef','version':1,'inputs':{},'settings':{}}",
         "\"identity\" that is none"},
        {START "'identity':'0123456789abcdef0123456789abcdef0','version':1,'inputs':{},'settings':{}}",
         "\"identity\" that is none"},
        {"{'format':1}", "expected a string, found a number"},
        {"{'format':'a\\u0000b'}", "a zero byte in \"format\""},
    };
    lg_table *table;
    for (size_t i = 0; i < COUNT(cases); i++) {
        lg_error error = {0};
        write_provenance(cases[i].value);
        assert_int_equal(lg_table_open(path, NULL, &table, &error), LG_BAD_INPUT);
        if (!strstr(error.message, cases[i].message) || !strstr(error.message, path))
            fail_msg("%s: %s", cases[i].value, error.message);
    }
    write_provenance(START IDENTITY "'version':1,'later':[1],'inputs':{},'settings':{}}");
    assert_int_equal(lg_table_open(path, "f", &table, NULL), LG_OK); /* unknown members are passed over */
    assert_null(lg_table_provenance(table)->about);
    lg_table_close(table);
}

static void writes_the_empty_table(void **state) {
    (void)state;
    lg_table_writer *writer;
    lg_table *table;
    assert_int_equal(lg_table_writer_create(path, &writer, NULL), LG_OK);
    assert_int_equal(lg_table_writer_commit(writer, &about_it, NULL, NULL), LG_OK);
    assert_int_equal(lg_table_open(path, "test", &table, NULL), LG_OK);
    assert_int_equal(lg_table_n_columns(table), 0);
    assert_int_equal(lg_table_verify(table, NULL), LG_OK);
    lg_table_close(table);
}

static void refuses_misuse(void **state) {
    (void)state;
    lg_table_writer *writer;
    lg_error error = {0};
    size_t c;
    unlink(path);
    unlink(other);
    assert_int_equal(lg_table_writer_create(folder, &writer, &error), LG_USAGE);
    assert_int_equal(lg_table_writer_create("/nonexistent/folder/x", &writer, &error), LG_FAILED);
    assert_non_null(strstr(error.message, "/nonexistent/folder/x"));
    assert_null(writer);
    assert_int_equal(lg_table_writer_create(path, &writer, &error), LG_OK);
    assert_int_equal(lg_table_writer_add(writer, "", LG_U8, 1, &c, &error), LG_USAGE);
    assert_int_equal(lg_table_writer_add(writer, "__metadata__", LG_U8, 1, &c, &error), LG_USAGE);
    assert_int_equal(lg_table_writer_add(writer, "\xFF", LG_U8, 1, &c, &error), LG_USAGE);
    assert_int_equal(lg_table_writer_add(writer, "x", LG_U8, 0, &c, &error), LG_USAGE);
    assert_int_equal(lg_table_writer_add(writer, "x", LG_U8, 2, &c, &error), LG_OK);
    assert_int_equal(lg_table_writer_add(writer, "x", LG_U8, 2, &c, &error), LG_USAGE);
    assert_int_equal(lg_table_writer_append(writer, c, "abc", 3, &error), LG_OK);
    assert_int_equal(lg_table_writer_commit(writer, &about_it, NULL, &error), LG_USAGE);
    assert_non_null(strstr(error.message, "no whole number of rows of 2"));
    static const char *const no_objects[] = {"", "[]", "1", "{", "{} {}", "{\"a\":1,}", "{\"\xFF\":1}"};
    for (size_t i = 0; i < COUNT(no_objects); i++) {
        lg_provenance p = about_it;
        p.settings = no_objects[i];
        assert_int_equal(lg_table_writer_create(path, &writer, &error), LG_OK);
        assert_int_not_equal(lg_table_writer_commit(writer, &p, NULL, &error), LG_OK);
        assert_int_equal(lg_table_writer_create(path, &writer, &error), LG_OK);
        assert_int_not_equal(lg_table_writer_commit(writer, &about_it, no_objects[i], &error), LG_OK);
    }
    lg_table_writer_discard(NULL);
    assert_int_equal(files_in_folder(), 0);
}

static void leaves_nothing_when_discarded(void **state) {
    (void)state;
    lg_table_writer *writer;
    size_t c;
    static const char block[100000];
    assert_int_equal(lg_table_writer_create(path, &writer, NULL), LG_OK);
    assert_int_equal(lg_table_writer_add(writer, "x", LG_U8, 1, &c, NULL), LG_OK);
    for (int i = 0; i < 20; i++)
        assert_int_equal(lg_table_writer_append(writer, c, block, sizeof block, NULL), LG_OK);
    assert_int_equal(files_in_folder(), 0); /* spools have no name */
    lg_table_writer_discard(writer);
    assert_int_equal(files_in_folder(), 0);
}

/* A limit on file size stands for the full disk. */
static void reports_a_full_disk(void **state) {
    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit old, limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    static const char block[65536];
    bool appended = false, committed = false;
    for (rlim_t room = 100; room < 3 << 20; room = room * 5 / 4 + 1) {
        lg_table_writer *writer;
        lg_error error = {0};
        size_t c, d;
        assert_int_equal(lg_write_file(path, "old", 3, NULL), LG_OK);
        assert_int_equal(lg_table_writer_create(path, &writer, NULL), LG_OK);
        assert_int_equal(lg_table_writer_add(writer, "x", LG_U8, 1, &c, NULL), LG_OK);
        assert_int_equal(lg_table_writer_add(writer, "y", LG_U16, 1, &d, NULL), LG_OK);
        limit = (struct rlimit){room, old.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        lg_status status = LG_OK;
        for (int i = 0; i < 16 && !status; i++) {
            status = lg_table_writer_append(writer, c, block, sizeof block, &error);
            if (!status) status = lg_table_writer_append(writer, d, block, sizeof block / 2, &error);
        }
        if (status) lg_table_writer_discard(writer);
        else if ((status = lg_table_writer_commit(writer, &about_it, NULL, &error))) committed = true;
        else break;
        if (!committed) appended = true;
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
        assert_int_equal(status, LG_FAILED);
        if (!strstr(error.message, "cannot write") || !strstr(error.message, "File too large"))
            fail_msg("%s", error.message);
        assert_int_equal(files_in_folder(), 1);
        lg_mapping mapping; /* what was there before is there still */
        assert_int_equal(lg_map(path, &mapping, NULL), LG_OK);
        assert_int_equal(mapping.size, 3);
        lg_unmap(&mapping);
    }
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_true(appended && committed);
    lg_table *table;
    assert_int_equal(lg_table_open(path, "test", &table, NULL), LG_OK);
    lg_table_close(table);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_was_written),
        cmocka_unit_test(same_content_is_the_same_file),
        cmocka_unit_test(identity_is_of_settings_and_data),
        cmocka_unit_test(identity_sees_a_changed_byte),
        cmocka_unit_test(identity_is_what_the_documentation_says),
        cmocka_unit_test(refuses_other_formats),
        cmocka_unit_test(reads_foreign_files),
        cmocka_unit_test(refuses_broken_provenance),
        cmocka_unit_test(writes_the_empty_table),
        cmocka_unit_test(refuses_misuse),
        cmocka_unit_test(leaves_nothing_when_discarded),
        cmocka_unit_test(reports_a_full_disk),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
