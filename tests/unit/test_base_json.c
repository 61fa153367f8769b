/* JSON: what is read, refused and written. */
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

typedef struct reader {
    lg_json json;
    lg_text scratch;
    lg_error error;
    char *copy; /* exactly the text, so that reading beyond it is seen by a sanitizer */
} reader;

static lg_json *start(reader *r, const char *text, size_t length) {
    *r = (reader){.copy = malloc(length ? length : 1)};
    memcpy(r->copy, text, length);
    lg_json_start(&r->json, r->copy, length, "t.json", &r->scratch, &r->error);
    return &r->json;
}

static void stop(reader *r) {
    lg_text_free(&r->scratch);
    free(r->copy);
}

/* ---- every construct ---- */

static void reads_every_construct(void **state) {
    (void)state;
    static const char text[] =
        "\xEF\xBB\xBF { \"a\" : [ ] , \"b\":{},\"c\":[1,-2 ,3.5e0,\"x\",true,false,null],\r\n"
        "\t\"\":{\"deep\":[[[\"\"]]]} } ";
    reader r;
    lg_json *j = start(&r, text, sizeof text - 1);
    lg_string key, s;
    int64_t i;
    uint64_t u;
    double d;
    bool b;
    assert_int_equal(lg_json_peek(j), LG_JSON_OBJECT);
    assert_true(lg_json_object(j));
    assert_true(lg_json_key(j, &key) && lg_string_is(key, "a"));
    assert_int_equal(lg_json_peek(j), LG_JSON_ARRAY);
    assert_true(lg_json_array(j));
    assert_false(lg_json_element(j));
    assert_true(lg_json_key(j, &key) && lg_string_is(key, "b"));
    assert_true(lg_json_object(j));
    assert_false(lg_json_key(j, &key));
    assert_true(lg_json_key(j, &key) && lg_string_is(key, "c"));
    assert_true(lg_json_array(j));
    assert_true(lg_json_element(j) && lg_json_peek(j) == LG_JSON_INTEGER && lg_json_unsigned(j, &u) &&
                u == 1);
    assert_true(lg_json_element(j) && lg_json_peek(j) == LG_JSON_INTEGER && lg_json_integer(j, &i) &&
                i == -2);
    assert_true(lg_json_element(j) && lg_json_peek(j) == LG_JSON_NUMBER && lg_json_number(j, &d) && d == 3.5);
    assert_true(lg_json_element(j) && lg_json_peek(j) == LG_JSON_STRING && lg_json_string(j, &s));
    assert_true(lg_string_is(s, "x"));
    assert_true(lg_json_element(j) && lg_json_peek(j) == LG_JSON_BOOL && lg_json_bool(j, &b) && b);
    assert_true(lg_json_element(j) && lg_json_peek(j) == LG_JSON_BOOL && lg_json_bool(j, &b) && !b);
    assert_true(lg_json_element(j) && lg_json_peek(j) == LG_JSON_NULL && lg_json_null(j));
    assert_false(lg_json_element(j));
    assert_true(lg_json_key(j, &key) && lg_string_is(key, ""));
    lg_json here = *j; /* a place to come back to */
    assert_true(lg_json_skip(j));
    assert_false(lg_json_key(j, &key));
    assert_int_equal(lg_json_peek(j), LG_JSON_END);
    assert_int_equal(lg_json_done(j), LG_OK);
    assert_true(lg_json_object(&here) && lg_json_key(&here, &key) && lg_string_is(key, "deep"));
    stop(&r);
}

/* ---- strings ---- */

static void check_string(const char *json, size_t length, const char *value, size_t value_length,
                         size_t lone) {
    reader r;
    lg_string s;
    lg_json *j = start(&r, json, length);
    if (!lg_json_string(j, &s) || lg_json_done(j)) fail_msg("%s: %s", json, r.error.message);
    assert_int_equal(s.length, value_length);
    assert_memory_equal(s.data, value, value_length);
    assert_int_equal(j->lone_surrogates, lone);
    stop(&r);
    j = start(&r, json, length);
    assert_true(lg_json_skip(j));
    assert_int_equal(lg_json_done(j), LG_OK);
    stop(&r);
}

static void reads_strings(void **state) {
    (void)state;
    static const struct {
        const char *json, *value;
        size_t length, lone;
    } cases[] = {
        {"\"\"", "", 0, 0},
        {"\"plain\"", "plain", 5, 0},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t", 8, 0},
        {"\"\\u0041\\u00e9\\u20AC\\uFFFF\"", "A\xC3\xA9\xE2\x82\xAC\xEF\xBF\xBF", 9, 0},
        {"\"\\u0000\"", "\0", 1, 0},
        {"\"\\uD83D\\uDE00\"", "\xF0\x9F\x98\x80", 4, 0},
        {"\"\\uD800\\uDC00\\uDBFF\\uDFFF\"", "\xF0\x90\x80\x80\xF4\x8F\xBF\xBF", 8, 0},
        {"\"\\uD800\"", "\xEF\xBF\xBD", 3, 1},
        {"\"\\uDC00x\"", "\xEF\xBF\xBDx", 4, 1},
        {"\"\\uD800\\uD800\\uDC00\"", "\xEF\xBF\xBD\xF0\x90\x80\x80", 7, 1},
        {"\"\\uD800\\u0041\"",
         "\xEF\xBF\xBD"
         "A",
         4, 1},
        {"\"\\uD800\\n\\uDC00\"", "\xEF\xBF\xBD\n\xEF\xBF\xBD", 7, 2},
        {"\"\xFF\xC3\x7F\"", "\xFF\xC3\x7F", 3, 0}, /* not UTF-8: bytes */
        {"\"\xE2\x80\xA8\"", "\xE2\x80\xA8", 3, 0},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        check_string(cases[i].json, strlen(cases[i].json), cases[i].value, cases[i].length, cases[i].lone);
}

/* Escapes and quotes at every place relative to the blocks in which strings are scanned. */
static void reads_strings_of_every_length(void **state) {
    (void)state;
    char json[256], value[256];
    for (size_t length = 0; length < 70; length++) {
        for (size_t at = 0; at <= length; at++) { /* at == length: no escape */
            size_t n = 0;
            json[n++] = '"';
            for (size_t i = 0; i < length; i++) {
                value[i] = (char)('a' + (int)(i % 26));
                if (i == at) {
                    value[i] = '\n';
                    json[n++] = '\\';
                    json[n++] = 'n';
                } else {
                    json[n++] = value[i];
                }
            }
            json[n++] = '"';
            check_string(json, n, value, length, 0);
        }
    }
}

/* ---- numbers ---- */

static void reads_numbers(void **state) {
    (void)state;
    static const char *const texts[] = {
        "0",
        "-0",
        "1",
        "-1",
        "0.1",
        "1.5",
        "-2.25e10",
        "1e0",
        "1E+2",
        "1e-2",
        "123456789012345678",
        "9007199254740993",
        "0.30000000000000004",
        "2.2250738585072011e-308",
        "2.2250738585072014e-308",
        "4.9e-324",
        "2e-324",
        "1e-400",
        "1.7976931348623157e308",
        "1e22",
        "1e23",
        "8.5e-23",
        "123456789012345e22",
        "123456789012345e-22",
        "0.000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000001",
        "100000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
        "0",
        "9007199254740992."
        "99999999999999999999999999999999999999999999999999999999999999999999999999999999999999",
        "00.5" + 1,
        "0e999999999999",
        "0.0e-99999",
        "5e-1",
        "5.0E1"};
    for (size_t i = 0; i < COUNT(texts); i++) {
        reader r;
        double d;
        lg_json *j = start(&r, texts[i], strlen(texts[i]));
        if (!lg_json_number(j, &d) || lg_json_done(j)) fail_msg("%s: %s", texts[i], r.error.message);
        double wanted = strtod(texts[i], NULL);
        if (memcmp(&d, &wanted, sizeof d) != 0) fail_msg("%s: %.17g, wanted %.17g", texts[i], d, wanted);
        stop(&r);
    }
}

static void reads_integers_exactly(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool is_signed, is_unsigned;
        int64_t i;
        uint64_t u;
        lg_json_type type;
    } cases[] = {
        {"0", true, true, 0, 0, LG_JSON_INTEGER},
        {"-0", true, true, 0, 0, LG_JSON_INTEGER},
        {"9007199254740993", true, true, 9007199254740993, 9007199254740993, LG_JSON_INTEGER},
        {"9223372036854775807", true, true, INT64_MAX, INT64_MAX, LG_JSON_INTEGER},
        {"9223372036854775808", false, true, 0, UINT64_C(9223372036854775808), LG_JSON_INTEGER},
        {"-9223372036854775808", true, false, INT64_MIN, 0, LG_JSON_INTEGER},
        {"-9223372036854775809", false, false, 0, 0, LG_JSON_NUMBER},
        {"18446744073709551615", false, true, 0, UINT64_MAX, LG_JSON_INTEGER},
        {"18446744073709551616", false, false, 0, 0, LG_JSON_NUMBER},
        {"99999999999999999999999", false, false, 0, 0, LG_JSON_NUMBER},
        {"-1", true, false, -1, 0, LG_JSON_INTEGER},
        {"1.0", false, false, 0, 0, LG_JSON_NUMBER},
        {"1e3", false, false, 0, 0, LG_JSON_NUMBER},
    };
    for (size_t k = 0; k < COUNT(cases); k++) {
        reader r;
        int64_t i;
        uint64_t u;
        lg_json *j = start(&r, cases[k].text, strlen(cases[k].text));
        assert_int_equal(lg_json_peek(j), cases[k].type);
        lg_json place = *j;
        assert_int_equal(lg_json_integer(j, &i), cases[k].is_signed);
        assert_int_equal(j->failed, !cases[k].is_signed);
        assert_true(i == cases[k].i);
        *j = place;
        assert_int_equal(lg_json_unsigned(j, &u), cases[k].is_unsigned);
        assert_true(u == cases[k].u);
        stop(&r);
    }
}

/* ---- what is refused ---- */

static const struct {
    const char *text;
    const char *message; /* byte and reason */
} refused[] = {
    {"", "byte 0: expected a value, found the end"},
    {"  ", "byte 2: expected a value, found the end"},
    {"[", "byte 1: expected an element or ']', found the end"},
    {"[1", "byte 2: expected ',' or ']', found the end"},
    {"[1,", "byte 3: expected a value, found the end"},
    {"[1,]", "byte 3: a comma before ']'"},
    {"[,1]", "byte 1: expected a value, found ','"},
    {"[1 2]", "byte 3: expected ',' or ']', found a number"},
    {"[1}", "byte 2: expected ',' or ']', found '}'"},
    {"]", "byte 0: expected a value, found ']'"},
    {"{", "byte 1: expected a key or '}', found the end"},
    {"{1:2}", "byte 1: expected a key, found a number"},
    {"{\"a\"}", "byte 4: expected ':', found '}'"},
    {"{\"a\":}", "byte 5: expected a value, found '}'"},
    {"{\"a\":1,}", "byte 7: a comma before '}'"},
    {"{\"a\":1 \"b\":2}", "byte 7: expected ',' or '}', found a string"},
    {"{\"a\":1", "byte 6: expected ',' or '}', found the end"},
    {"{\"a\":1]", "byte 6: expected ',' or '}', found ']'"},
    {"{\"a\":1,2}", "byte 7: expected a key, found a number"},
    {"\"abc", "byte 0: a string without its closing quote"},
    {"\"a\nb\"", "byte 2: the control character 0x0a in a string"},
    {"\"0123456789abcdefghij\x1f\"", "byte 21: the control character 0x1f in a string"},
    {"\"\\x\"", "byte 1: a broken escape"},
    {"\"\\u12g4\"", "byte 1: a broken escape"},
    {"\"\\u123", "byte 1: a broken escape"},
    {"\"a\\", "byte 2: a broken escape"},
    {"\"\\\"", "byte 0: a string without its closing quote"},
    {"-", "byte 0: a malformed number"},
    {"+1", "byte 0: expected a value, found '+'"},
    {".5", "byte 0: expected a value, found '.'"},
    {"1.", "byte 0: a malformed number"},
    {"1.e5", "byte 0: a malformed number"},
    {"1e", "byte 0: a malformed number"},
    {"1e+", "byte 0: a malformed number"},
    {"01", "byte 1: more text after the end"},
    {"0x10", "byte 1: more text after the end"},
    {"1e400", "byte 0: a number too large for a double"},
    {"[-1e400]", "byte 1: a number too large for a double"},
    {"NaN", "byte 0: expected a value, found 'N'"},
    {"nul", "byte 0: a misspelt word"},
    {"nulll", "byte 4: more text after the end"},
    {"[tru]", "byte 1: a misspelt word"},
    {"True", "byte 0: expected a value, found 'T'"},
    {"[1]x", "byte 3: more text after the end"},
    {"[1] [2]", "byte 4: more text after the end"},
    {"{} ,", "byte 3: more text after the end"},
    {"[1]\f", "byte 3: more text after the end"},
    {"\xEF\xBB\xBF\xEF\xBB\xBF"
     "1",
     "byte 3: expected a value, found the byte 0xef"},
    {"[1,/*x*/2]", "byte 3: expected a value, found '/'"},
    {"{'a':1}", "byte 1: expected a key, found '''"},
};

static void refuses_what_is_no_json(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(refused); i++) {
        reader r;
        lg_json *j = start(&r, refused[i].text, strlen(refused[i].text));
        lg_json_skip(j);
        assert_int_equal(lg_json_done(j), LG_BAD_INPUT);
        assert_int_equal(r.error.status, LG_BAD_INPUT);
        if (strncmp(r.error.message, "t.json: ", 8) != 0 || !strstr(r.error.message, refused[i].message))
            fail_msg("skip %s: %s", refused[i].text, r.error.message);
        assert_int_equal(lg_json_peek(j), LG_JSON_END); /* errors stick */
        assert_false(lg_json_array(j));

        lg_arena arena = {0};
        lg_json_value *value;
        lg_error error = {0};
        assert_int_equal(lg_json_parse(&arena, r.copy, strlen(refused[i].text), "t.json", &value, &error),
                         LG_BAD_INPUT);
        assert_null(value);
        if (!strstr(error.message, refused[i].message))
            fail_msg("tree %s: %s", refused[i].text, error.message);
        assert_int_equal(lg_json_parse(&arena, r.copy, strlen(refused[i].text), "t.json", &value, NULL),
                         LG_BAD_INPUT);
        lg_arena_free(&arena);
        stop(&r);
    }
}

static void refuses_other_types(void **state) {
    (void)state;
    static const char *const texts[] = {"null", "true", "7", "7.5", "\"s\"", "[]", "{}"};
    enum { NULLS, BOOLS, INTEGERS, UNSIGNED, NUMBERS, STRINGS, ARRAYS, OBJECTS, READERS };
    static const char accepts[][READERS + 1] = {"10000000", "01000000", "00111000", "00001000",
                                                "00000100", "00000010", "00000001"};
    for (size_t i = 0; i < COUNT(texts); i++) {
        for (int k = 0; k < READERS; k++) {
            reader r;
            lg_json *j = start(&r, texts[i], strlen(texts[i]));
            lg_string s;
            int64_t n;
            uint64_t u;
            double d;
            bool b, good = k == NULLS      ? lg_json_null(j)
                           : k == BOOLS    ? lg_json_bool(j, &b)
                           : k == INTEGERS ? lg_json_integer(j, &n)
                           : k == UNSIGNED ? lg_json_unsigned(j, &u)
                           : k == NUMBERS  ? lg_json_number(j, &d)
                           : k == STRINGS  ? lg_json_string(j, &s)
                           : k == ARRAYS   ? lg_json_array(j)
                                           : lg_json_object(j);
            assert_int_equal(good, accepts[i][k] == '1');
            assert_int_equal(j->failed, !good);
            if (!good) assert_non_null(strstr(r.error.message, "t.json: byte 0: expected"));
            stop(&r);
        }
    }
}

static void limits_depth(void **state) {
    (void)state;
    for (int extra = 0; extra < 2; extra++) {
        for (int object = 0; object < 2; object++) {
            size_t depth = LG_JSON_DEPTH + (size_t)extra, n = 0;
            char text[8 * LG_JSON_DEPTH + 64];
            for (size_t i = 0; i < depth; i++) n += (size_t)sprintf(text + n, object ? "{\"a\":" : "[");
            text[n++] = '1';
            for (size_t i = 0; i < depth; i++) text[n++] = object ? '}' : ']';
            reader r;
            lg_json *j = start(&r, text, n);
            assert_int_equal(lg_json_skip(j), !extra);
            assert_int_equal(lg_json_done(j), extra ? LG_BAD_INPUT : LG_OK);
            lg_arena arena = {0};
            lg_json_value *value;
            assert_int_equal(lg_json_parse(&arena, text, n, "t", &value, NULL), extra ? LG_BAD_INPUT : LG_OK);
            lg_arena_free(&arena);
            if (extra) assert_non_null(strstr(r.error.message, "nested more than 128 deep"));
            stop(&r);
        }
    }
}

static void complains_for_its_caller(void **state) {
    (void)state;
    reader r;
    lg_json *j = start(&r, "[7]", 3);
    assert_true(lg_json_array(j) && lg_json_element(j));
    assert_false(lg_json_complain(j, "%d is no %s", 7, "shape"));
    assert_string_equal(r.error.message, "t.json: byte 1: 7 is no shape");
    assert_false(lg_json_complain(j, "later"));
    assert_int_equal(lg_json_done(j), LG_BAD_INPUT);
    assert_string_equal(r.error.message, "t.json: byte 1: 7 is no shape");
    stop(&r);
}

/* ---- the tree ---- */

static void builds_trees(void **state) {
    (void)state;
    static const char text[] = "{\"a\":{\"b\":[1,2.5,\"x\\u0000y\",true,null,[],{}]},\"a\\u0000\":2,\"big\":"
                               "18446744073709551615,\"neg\":-9223372036854775808}";
    lg_arena arena = {0};
    lg_json_value *root;
    lg_error error = {0};
    assert_int_equal(lg_json_parse(&arena, text, sizeof text - 1, "t", &root, &error), LG_OK);
    assert_int_equal(root->type, LG_JSON_OBJECT);
    assert_int_equal(root->length, 4);
    assert_null(root->key);
    const lg_json_value *a = lg_json_get(root, "a"), *b = lg_json_get(a, "b");
    assert_int_equal(a->length, 1);
    assert_int_equal(b->length, 7);
    const lg_json_value *e = b->first;
    assert_true(e->type == LG_JSON_INTEGER && e->integer == 1 && e->number == 1.0 && !e->key);
    e = e->next;
    assert_true(e->type == LG_JSON_NUMBER && e->number == 2.5);
    e = e->next;
    assert_true(e->type == LG_JSON_STRING && e->length == 3 && memcmp(e->string, "x\0y", 4) == 0);
    e = e->next;
    assert_true(e->type == LG_JSON_BOOL && e->boolean);
    e = e->next;
    assert_true(e->type == LG_JSON_NULL);
    e = e->next;
    assert_true(e->type == LG_JSON_ARRAY && e->length == 0 && !e->first);
    e = e->next;
    assert_true(e->type == LG_JSON_OBJECT && e->length == 0 && !e->first && !e->next);
    assert_int_equal(a->next->key_length, 2);
    assert_true(lg_json_get(root, "big")->type == LG_JSON_NUMBER);
    assert_true(lg_json_get(root, "big")->number == 18446744073709551616.0);
    assert_true(lg_json_get(root, "neg")->integer == INT64_MIN);
    assert_null(lg_json_get(root, "c"));
    assert_null(lg_json_get(b, "c"));
    assert_null(lg_json_get(NULL, "c"));
    lg_arena_free(&arena);
}

static void refuses_duplicate_keys(void **state) {
    (void)state;
    lg_arena arena = {0};
    lg_json_value *root;
    lg_error error = {0};
    static const char small[] = "{\"x\":1,\"y\":{\"k\":1,\"\\u006b\":2}}";
    assert_int_equal(lg_json_parse(&arena, small, sizeof small - 1, "t", &root, &error), LG_BAD_INPUT);
    assert_non_null(strstr(error.message, "the key \"k\" twice"));
    for (int duplicate = 0; duplicate < 2; duplicate++) {
        lg_text text = {0};
        lg_text_puts(&text, "{");
        for (int i = 0; i < 50000; i++) lg_text_printf(&text, "\"k%d\":%d,", i, i);
        lg_text_printf(&text, "\"k%d\":0}", duplicate ? 31234 : 50000);
        assert_int_equal(lg_json_parse(&arena, text.data, text.length, "t", &root, &error),
                         duplicate ? LG_BAD_INPUT : LG_OK);
        if (duplicate) assert_non_null(strstr(error.message, "the key \"k31234\" twice"));
        else assert_int_equal(root->length, 50001);
        lg_text_free(&text);
    }
    lg_arena_free(&arena);
}

/* ---- the writer ---- */

static void writes_every_construct(void **state) {
    (void)state;
    for (unsigned indent = 0; indent <= 2; indent += 2) {
        lg_text out = {0};
        lg_json_writer w = {.out = &out, .indent = indent};
        lg_json_put_object(&w);
        lg_json_put_key(&w, "a\"b");
        lg_json_put_array(&w);
        lg_json_put_unsigned(&w, UINT64_MAX);
        lg_json_put_integer(&w, INT64_MIN);
        lg_json_put_bool(&w, true);
        lg_json_put_bool(&w, false);
        lg_json_put_null(&w);
        lg_json_put_double(&w, 0.1);
        lg_json_put_float(&w, 0.1f);
        lg_json_put_double(&w, (double)NAN);
        lg_json_put_float(&w, -INFINITY);
        lg_json_put_text(&w, "t");
        lg_json_put_text(&w, NULL);
        lg_json_put_raw(&w, "{\"r\": 1}", 8);
        lg_json_end_array(&w);
        lg_json_put_key(&w, "e");
        lg_json_put_object(&w);
        lg_json_end_object(&w);
        lg_json_put_key(&w, "f");
        lg_json_put_array(&w);
        lg_json_end_array(&w);
        lg_json_put_key(&w, "g");
        lg_json_put_string(&w, "x", 1);
        lg_json_end_object(&w);
        assert_false(out.failed);
        assert_string_equal(
            out.data,
            indent ? "{\n  \"a\\\"b\": [\n    18446744073709551615,\n    -9223372036854775808,\n    true,\n"
                     "    false,\n    null,\n    0.1,\n    0.1,\n    null,\n    null,\n    \"t\",\n"
                     "    null,\n    {\"r\": 1}\n  ],\n  \"e\": {},\n  \"f\": [],\n  \"g\": \"x\"\n}"
                   : "{\"a\\\"b\":[18446744073709551615,-9223372036854775808,true,false,null,0.1,0.1,"
                     "null,null,\"t\",null,{\"r\": 1}],\"e\":{},\"f\":[],\"g\":\"x\"}");
        lg_text_free(&out);
    }
}

static void writes_strings(void **state) {
    (void)state;
    static const char value[] =
        "\0\x01\b\t\n\v\f\r\x1f \"\\/\x7f\xC3\xA9\xE2\x80\xA8\xF0\x9F\x98\x80\xFF\xC3(\xED\xA0\x80";
    lg_text out = {0};
    lg_json_writer w = {.out = &out};
    lg_json_put_string(&w, value, sizeof value - 1);
    assert_string_equal(
        out.data,
        "\"\\u0000\\u0001\\b\\t\\n\\u000b\\f\\r\\u001f \\\"\\\\/\x7f\xC3\xA9\xE2\x80\xA8\xF0\x9F\x98\x80"
        "\xEF\xBF\xBD\xEF\xBF\xBD(\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
    lg_text_free(&out);
}

static uint64_t next_random(uint64_t *seed) /* splitmix64 */
{
    uint64_t z = *seed += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static void writes_shortest_numbers(void **state) {
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0, "0"},           {-0.0, "-0"},
                 {1, "1"},           {100, "100"},
                 {5e-324, "5e-324"}, {1e22, "1e+22"},
                 {0.3, "0.3"},       {0.1 + 0.2, "0.30000000000000004"},
                 {1e-7, "1e-07"},    {1.7976931348623157e308, "1.7976931348623157e+308"},
                 {123456, "123456"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        lg_text out = {0};
        lg_json_writer w = {.out = &out};
        lg_json_put_double(&w, cases[i].value);
        assert_string_equal(out.data, cases[i].text);
        lg_text_free(&out);
    }
    uint64_t seed = 1;
    for (int i = 0; i < 20000; i++) {
        union {
            uint64_t bits;
            double value;
        } d = {next_random(&seed)};
        union {
            uint32_t bits;
            float value;
        } f = {(uint32_t)next_random(&seed)};
        lg_text out = {0};
        lg_json_writer w = {.out = &out};
        if (isfinite(d.value)) {
            reader r;
            double back;
            lg_json_put_double(&w, d.value);
            assert_true(lg_json_number(start(&r, out.data, out.length), &back));
            assert_int_equal(lg_json_done(&r.json), LG_OK);
            assert_memory_equal(&back, &d.value, sizeof back);
            stop(&r);
        }
        out.length = 0;
        w = (lg_json_writer){.out = &out};
        if (isfinite(f.value)) {
            lg_json_put_float(&w, f.value);
            float back = strtof(out.data, NULL);
            assert_memory_equal(&back, &f.value, sizeof back);
            char digits[32]; /* one digit fewer must not do */
            int n = 0;
            for (const char *c = out.data; *c && *c != 'e'; c++) n += *c >= '0' && *c <= '9';
            snprintf(digits, sizeof digits, "%.*e", n > 2 ? n - 2 : 0, (double)f.value);
            if (n > 1 && n <= 9 && !strchr(out.data, '.')) n = 0; /* plain integers may end in zeros */
            if (n > 1 && out.data[0] != '0' && out.data[1] != '0')
                assert_true(strtof(digits, NULL) != f.value);
        }
        lg_text_free(&out);
    }
}

/* A program around the library may have chosen a locale with a decimal comma. */
static void ignores_the_locale(void **state) {
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8", "fr_FR.utf8"};
    bool found = false;
    for (size_t i = 0; i < COUNT(names) && !found; i++)
        found = setlocale(LC_NUMERIC, names[i]) && *localeconv()->decimal_point == ',';
    if (!found) {
        print_message("no locale with a decimal comma is installed\n");
        skip();
    }
    reader r;
    double fast, slow;
    lg_text out = {0};
    lg_json_writer w = {.out = &out};
    assert_true(lg_json_number(start(&r, "1.5", 3), &fast));
    stop(&r);
    assert_true(lg_json_number(start(&r, "1.5000000000000000000000000000000001", 36), &slow));
    stop(&r);
    lg_json_put_double(&w, 0.1);
    lg_json_put_float(&w, 2.5f);
    setlocale(LC_NUMERIC, "C");
    assert_true(fast == 1.5 && slow == 1.5);
    assert_string_equal(out.data, "0.1,2.5");
    lg_text_free(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_construct),
        cmocka_unit_test(reads_strings),
        cmocka_unit_test(reads_strings_of_every_length),
        cmocka_unit_test(reads_numbers),
        cmocka_unit_test(reads_integers_exactly),
        cmocka_unit_test(refuses_what_is_no_json),
        cmocka_unit_test(refuses_other_types),
        cmocka_unit_test(limits_depth),
        cmocka_unit_test(complains_for_its_caller),
        cmocka_unit_test(builds_trees),
        cmocka_unit_test(refuses_duplicate_keys),
        cmocka_unit_test(writes_every_construct),
        cmocka_unit_test(writes_strings),
        cmocka_unit_test(writes_shortest_numbers),
        cmocka_unit_test(ignores_the_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
