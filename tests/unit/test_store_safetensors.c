/* safetensors: good files byte by byte, and hostile ones with the error that each must get. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/text.h"
#include "store/safetensors.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* A file of HEADER and N_DATA bytes 0, 1, 2 …, in a block of exactly its size. */
static unsigned char *build(const char *header, size_t header_length, size_t n_data, size_t *size) {
    *size = 8 + header_length + n_data;
    unsigned char *bytes = malloc(*size);
    assert_non_null(bytes);
    for (size_t i = 0; i < 8; i++) bytes[i] = (unsigned char)((uint64_t)header_length >> 8 * i);
    memcpy(bytes + 8, header, header_length);
    for (size_t i = 0; i < n_data; i++) bytes[8 + header_length + i] = (unsigned char)i;
    return bytes;
}

static void reads_a_good_file(void **state) {
    (void)state;
    static const char header[] =
        "{\"__metadata__\":{\"format\":\"pt\",\"a\":\"\\u00e9\\n\"},"
        "\"late\":{\"dtype\":\"I64\",\"shape\":[1],\"data_offsets\":[14,22]},"
        "\"first\":{\"data_offsets\":[0,12],\"shape\":[2,3],\"dtype\":\"F16\",\"other\":[{}]},"
        "\"\\u0065mpty\":{\"dtype\":\"F32\",\"shape\":[5,0],\"data_offsets\":[12,12]},"
        "\"scalar\":{\"dtype\":\"BF16\",\"shape\":[],\"data_offsets\":[12,14]}}     ";
    size_t size;
    unsigned char *bytes = build(header, sizeof header - 1, 22, &size);
    lg_safetensors *file;
    lg_error error = {0};
    if (lg_safetensors_parse(bytes, size, "m.safetensors", &file, &error)) fail_msg("%s", error.message);
    assert_int_equal(lg_safetensors_count(file), 4);
    static const char *const order[] = {"first", "empty", "scalar", "late"};
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(lg_safetensors_at(file, i)->name, order[i]);
        assert_ptr_equal(lg_safetensors_find(file, order[i]), lg_safetensors_at(file, i));
    }
    const unsigned char *data = bytes + 8 + sizeof header - 1;
    const lg_tensor *t = lg_safetensors_find(file, "first");
    assert_true(t->dtype == LG_F16 && t->n_dims == 2 && t->shape[0] == 2 && t->shape[1] == 3 &&
                t->count == 6);
    assert_ptr_equal(t->data, data);
    t = lg_safetensors_find(file, "empty");
    assert_true(t->dtype == LG_F32 && t->n_dims == 2 && t->shape[0] == 5 && t->shape[1] == 0 &&
                t->count == 0);
    t = lg_safetensors_find(file, "scalar");
    assert_true(t->dtype == LG_BF16 && t->n_dims == 0 && t->count == 1);
    assert_ptr_equal(t->data, data + 12);
    t = lg_safetensors_find(file, "late");
    assert_true(t->dtype == LG_I64 && t->n_dims == 1 && t->count == 1);
    assert_ptr_equal(t->data, data + 14); /* unaligned, as foreign files may be */
    assert_null(lg_safetensors_find(file, "lat"));
    assert_null(lg_safetensors_find(file, "__metadata__"));
    assert_string_equal(lg_safetensors_metadata(file, "format"), "pt");
    assert_string_equal(lg_safetensors_metadata(file, "a"), "\xC3\xA9\n");
    assert_null(lg_safetensors_metadata(file, "b"));
    assert_string_equal(lg_safetensors_path(file), "m.safetensors");
    size_t header_size;
    assert_ptr_equal(lg_safetensors_header(file, &header_size), bytes + 8);
    assert_int_equal(header_size, sizeof header - 1);
    lg_safetensors_close(file);
    free(bytes);
}

static void knows_every_dtype(void **state) {
    (void)state;
    static const struct {
        const char *name;
        lg_dtype dtype;
        size_t size;
    } cases[] = {
        {"BOOL", LG_BOOL, 1},       {"U8", LG_U8, 1},   {"I8", LG_I8, 1},   {"F8_E5M2", LG_F8_E5M2, 1},
        {"F8_E4M3", LG_F8_E4M3, 1}, {"I16", LG_I16, 2}, {"U16", LG_U16, 2}, {"F16", LG_F16, 2},
        {"BF16", LG_BF16, 2},       {"I32", LG_I32, 4}, {"U32", LG_U32, 4}, {"F32", LG_F32, 4},
        {"F64", LG_F64, 8},         {"I64", LG_I64, 8}, {"U64", LG_U64, 8},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char header[128];
        int n = snprintf(header, sizeof header,
                         "{\"x\":{\"dtype\":\"%s\",\"shape\":[3],\"data_offsets\":[0,%zu]}}", cases[i].name,
                         3 * cases[i].size);
        size_t size;
        unsigned char *bytes = build(header, (size_t)n, 3 * cases[i].size, &size);
        lg_safetensors *file;
        assert_int_equal(lg_safetensors_parse(bytes, size, "f", &file, NULL), LG_OK);
        assert_int_equal(lg_safetensors_at(file, 0)->dtype, cases[i].dtype);
        assert_string_equal(lg_dtype_name(cases[i].dtype), cases[i].name);
        assert_int_equal(lg_dtype_size(cases[i].dtype), cases[i].size);
        lg_safetensors_close(file);
        free(bytes);
    }
}

static void accepts_the_smallest_files(void **state) {
    (void)state;
    static const char *const headers[] = {"{}", "{ }   ", "{\"__metadata__\":{}}", "{\"__metadata__\":null}",
                                          "{\"e\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]}}"};
    for (size_t i = 0; i < COUNT(headers); i++) {
        size_t size;
        unsigned char *bytes = build(headers[i], strlen(headers[i]), 0, &size);
        lg_safetensors *file;
        lg_error error = {0};
        if (lg_safetensors_parse(bytes, size, "f", &file, &error))
            fail_msg("%s: %s", headers[i], error.message);
        assert_int_equal(lg_safetensors_count(file), i == 4);
        assert_null(lg_safetensors_find(file, "x"));
        lg_safetensors_close(file);
        free(bytes);
    }
}

#define A8 "\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}"

static const struct {
    const char *header;
    size_t n_data;
    const char *message;
} hostile[] = {
    {"", 0, "does not begin with '{'"},
    {" {}", 0, "does not begin with '{'"},
    {"[]", 0, "does not begin with '{'"},
    {"\xEF\xBB\xBF{}", 0, "does not begin with '{'"},
    {"{\"\xFF\":1}", 0, "header: byte 2: not UTF-8"},
    {"{\"\\ud800\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1]}}", 1, "half a surrogate pair"},
    {"{", 0, "header: byte 1: expected a key or '}', found the end of the text: the file is damaged"},
    {"{} x", 0, "header: byte 3: more text"},
    {"{\"a\":1}", 0, "header: byte 5: expected an object, found a number"},
    {"{\"a\":{}}", 0, "tensor \"a\" lacks its dtype, shape or data_offsets"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2]}}", 8, "tensor \"a\" lacks"},
    {"{" A8 "}", 0, "tensor \"a\" ends at byte 8 of the data, but there are only 0: the file was cut off"},
    {"{" A8 "}", 7, "tensor \"a\" ends at byte 8 of the data, but there are only 7"},
    {"{" A8 "}", 9, "1 bytes after the last tensor"},
    {"{}", 1, "1 bytes after the last tensor"},
    {"{" A8 "," A8 "}", 8, "tensor \"a\" is there twice"},
    {"{" A8 ",\"\\u0061\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,16]}}", 16,
     "tensor \"a\" is there twice"},
    {"{" A8 ",\"b\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[7,8]}}", 8, "tensor \"b\" overlaps"},
    {"{" A8 ",\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8, "tensor \"b\" overlaps"},
    {"{" A8 ",\"b\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[4,4]}}", 8, "tensor \"b\" overlaps"},
    {"{" A8 ",\"b\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[9,10]}}", 10,
     "tensor \"b\" is preceded by bytes that belong to no tensor"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]}}", 2, "tensor \"a\" is preceded"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,8]}}", 8,
     "tensor \"a\" needs 12 bytes for its shape and dtype F32, but its data_offsets hold 8"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,8]}}", 8, "tensor \"a\" needs 0 bytes"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1000000000],\"data_offsets\":[0,8]}}", 8,
     "tensor \"a\" needs 4000000000 bytes"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1000000000],\"data_offsets\":[0,4000000000]}}", 8,
     "tensor \"a\" ends at byte 4000000000 of the data, but there are only 8"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,0]}}", 0,
     "shape too large"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4294967296,1073741824],\"data_offsets\":[0,0]}}", 0,
     "shape too large"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[0,4294967296,4294967296],\"data_offsets\":[0,0]}}", 0,
     "shape too large"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[18446744073709551616],\"data_offsets\":[0,8]}}", 8,
     "does not fit 64 bits"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[-2],\"data_offsets\":[0,8]}}", 8, "must not be negative"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2.0],\"data_offsets\":[0,8]}}", 8, "expected an integer"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[\"2\"],\"data_offsets\":[0,8]}}", 8, "expected an integer"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":2,\"data_offsets\":[0,8]}}", 8, "expected an array"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0]}}", 8,
     "tensor \"a\" has data_offsets that are no range"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8,8]}}", 8, "are no range"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,0]}}", 8, "are no range"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[18446744073709551608,18446744073709551615]}}",
     8, "ends at byte 18446744073709551615"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8],\"shape\":[2]}}", 8,
     "tensor \"a\" is described twice"},
    {"{\"a\":{\"dtype\":\"F31\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8,
     "tensor \"a\" has the dtype \"F31\""},
    {"{\"a\":{\"dtype\":\"F32\\u0000\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8,
     "tensor \"a\" has the dtype"},
    {"{\"a\":{\"dtype\":\"\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8, "tensor \"a\" has the dtype \"\""},
    {"{\"a\":{\"dtype\":32,\"shape\":[2],\"data_offsets\":[0,8]}}", 8, "expected a string"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,1]}}", 1,
     "has 9 dimensions, more than 8"},
    {"{\"a\\u0000b\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1]}}", 1,
     "a zero byte in a tensor's name"},
    {"{\"__metadata__\":[]}", 0, "expected an object, found an array"},
    {"{\"__metadata__\":{\"a\":1}}", 0, "expected a string, found a number"},
    {"{\"__metadata__\":{\"a\":{}}}", 0, "expected a string, found an object"},
    {"{\"__metadata__\":{\"a\":\"1\",\"b\":\"2\",\"a\":\"3\"}}", 0, "the metadata holds \"a\" twice"},
    {"{\"__metadata__\":{\"a\":\"\\u0000\"}}", 0, "a zero byte in the metadata"},
    {"{\"__metadata__\":{},\"__metadata__\":{}}", 0, "is there twice"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1],\"x\":[[[}}", 1,
     "expected a value, found '}'"},
};

static void refuses_hostile_files(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(hostile); i++) {
        size_t size;
        unsigned char *bytes = build(hostile[i].header, strlen(hostile[i].header), hostile[i].n_data, &size);
        lg_safetensors *file;
        lg_error error = {0};
        assert_int_equal(lg_safetensors_parse(bytes, size, "m.safetensors", &file, &error), LG_BAD_INPUT);
        assert_null(file);
        if (strncmp(error.message, "m.safetensors", 13) != 0 || !strstr(error.message, hostile[i].message))
            fail_msg("%s: %s", hostile[i].header, error.message);
        assert_int_equal(lg_safetensors_parse(bytes, size, "m.safetensors", &file, NULL), LG_BAD_INPUT);
        free(bytes);
    }
}

static void refuses_lying_header_lengths(void **state) {
    (void)state;
    static const struct {
        unsigned char bytes[12];
        size_t size;
        const char *message;
    } cases[] = {
        {{0}, 0, "it has only 0 bytes"},
        {{2, 0, 0, 0, 0, 0, 0}, 7, "it has only 7 bytes"},
        {{0, 0, 0, 0, 0, 0, 0, 0}, 8, "does not begin with '{'"},
        {{2, 0, 0, 0, 0, 0, 0, 0}, 8, "should have 2 bytes, but only 0 follow"},
        {{3, 0, 0, 0, 0, 0, 0, 0, '{', '}'}, 10, "should have 3 bytes, but only 2 follow"},
        {{255, 255, 255, 255, 255, 255, 255, 255, '{', '}'}, 10, "should have 18446744073709551615 bytes"},
        {{248, 255, 255, 255, 255, 255, 255, 255, '{', '}'}, 10, "should have 18446744073709551608 bytes"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        lg_safetensors *file;
        lg_error error = {0};
        assert_int_equal(lg_safetensors_parse(cases[i].bytes, cases[i].size, "m", &file, &error),
                         LG_BAD_INPUT);
        if (!strstr(error.message, cases[i].message)) fail_msg("%zu: %s", i, error.message);
    }
    static const char lfs[] = "version https://git-lfs.github.com/spec/v1\noid sha256:0\n";
    lg_safetensors *file;
    lg_error error = {0};
    assert_int_equal(lg_safetensors_parse((const unsigned char *)lfs, sizeof lfs - 1, "m", &file, &error),
                     LG_BAD_INPUT);
    assert_non_null(strstr(error.message, "git lfs pull"));

    const size_t long_header = 100000001;
    unsigned char *bytes = calloc(1, long_header + 8);
    assert_non_null(bytes);
    memcpy(bytes, "\x01\xE1\xF5\x05\0\0\0\0{", 9);
    assert_int_equal(lg_safetensors_parse(bytes, long_header + 8, "m", &file, &error), LG_BAD_INPUT);
    assert_non_null(strstr(error.message, "longer than the format allows"));
    free(bytes);
}

/* Every prefix of a good file is an error (or, past the header, a cut-off tensor), and none crashes. */
static void refuses_every_truncation(void **state) {
    (void)state;
    static const char header[] = "{\"__metadata__\":{\"k\":\"v\"}," A8 "}";
    size_t size;
    unsigned char *bytes = build(header, sizeof header - 1, 8, &size);
    for (size_t n = 0; n < size; n++) {
        unsigned char *cut = malloc(n ? n : 1);
        memcpy(cut, bytes, n);
        lg_safetensors *file;
        assert_int_equal(lg_safetensors_parse(cut, n, "m", &file, NULL), LG_BAD_INPUT);
        free(cut);
    }
    free(bytes);
}

static void handles_many_tensors(void **state) {
    (void)state;
    enum { N = 100000 };
    lg_text header = {0};
    lg_text_puts(&header, "{");
    for (unsigned i = 0; i < N; i++) {
        unsigned k = (unsigned)(i * UINT64_C(7919) % N); /* out of order */
        lg_text_printf(&header, "%s\"t%u\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[%u,%u]}",
                       i ? "," : "", k, k, k + 1);
    }
    lg_text_puts(&header, "}");
    size_t size;
    unsigned char *bytes = build(header.data, header.length, N, &size);
    lg_safetensors *file;
    lg_error error = {0};
    if (lg_safetensors_parse(bytes, size, "m", &file, &error)) fail_msg("%s", error.message);
    for (unsigned i = 0; i < N; i++) {
        char name[32];
        snprintf(name, sizeof name, "t%u", i);
        const lg_tensor *t = lg_safetensors_find(file, name);
        assert_non_null(t);
        assert_int_equal(*(const unsigned char *)t->data, i & 255);
    }
    lg_safetensors_close(file);
    free(bytes);
    lg_text_free(&header);
}

static void opens_files(void **state) {
    (void)state;
    char path[] = "/tmp/lossgap-test-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    static const char header[] = "{" A8 "}";
    size_t size;
    unsigned char *bytes = build(header, sizeof header - 1, 8, &size);
    assert_int_equal(lg_write_file(path, bytes, size, NULL), LG_OK);
    lg_safetensors *file;
    lg_error error = {0};
    assert_int_equal(lg_safetensors_open(path, &file, &error), LG_OK);
    assert_memory_equal(lg_safetensors_find(file, "a")->data, bytes + size - 8, 8);
    assert_string_equal(lg_safetensors_path(file), path);
    lg_safetensors_close(file);
    assert_int_equal(lg_write_file(path, bytes, size - 1, NULL), LG_OK);
    assert_int_equal(lg_safetensors_open(path, &file, &error), LG_BAD_INPUT);
    assert_int_equal(lg_write_file(path, "", 0, NULL), LG_OK);
    assert_int_equal(lg_safetensors_open(path, &file, &error), LG_BAD_INPUT);
    assert_int_equal(remove(path), 0);
    assert_int_equal(lg_safetensors_open(path, &file, &error), LG_BAD_INPUT);
    assert_non_null(strstr(error.message, "cannot open"));
    assert_int_equal(lg_safetensors_open("/tmp", &file, &error), LG_BAD_INPUT);
    lg_safetensors_close(NULL);
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_good_file),
        cmocka_unit_test(knows_every_dtype),
        cmocka_unit_test(accepts_the_smallest_files),
        cmocka_unit_test(refuses_hostile_files),
        cmocka_unit_test(refuses_lying_header_lengths),
        cmocka_unit_test(refuses_every_truncation),
        cmocka_unit_test(handles_many_tensors),
        cmocka_unit_test(opens_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
