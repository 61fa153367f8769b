/* JSON: pulling, skipping and the tree agree on what is JSON, and what was read survives writing and reading
 * again. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

static void check(bool good) {
    if (!good) abort();
}

static volatile unsigned sink; /* so that the reads are done */

static void touch(lg_string s) {
    for (size_t i = 0; i < s.length; i++) sink += (unsigned char)s.data[i];
}

/* Reads any value by pulling, as the readers of large files do. */
static void pull(lg_json *json) {
    lg_string string;
    bool boolean;
    switch (lg_json_peek(json)) {
    case LG_JSON_NULL:
        lg_json_null(json);
        break;
    case LG_JSON_BOOL:
        lg_json_bool(json, &boolean);
        break;
    case LG_JSON_INTEGER: {
        int64_t i;
        uint64_t u;
        double d;
        lg_json a = *json, b = *json;
        a.error = b.error = NULL;
        bool is_signed = lg_json_integer(&a, &i), is_unsigned = lg_json_unsigned(&b, &u);
        check(is_signed || is_unsigned);
        check(lg_json_number(json, &d));
        if (is_signed) check(d == (double)i && a.at == json->at);
        if (is_unsigned) check(d == (double)u && b.at == json->at);
        if (is_signed && is_unsigned) check((uint64_t)i == u);
        break;
    }
    case LG_JSON_NUMBER: {
        double d;
        if (lg_json_number(json, &d)) check(isfinite(d));
        break;
    }
    case LG_JSON_STRING:
        if (lg_json_string(json, &string)) touch(string);
        break;
    case LG_JSON_ARRAY:
        if (!lg_json_array(json)) break;
        while (lg_json_element(json)) pull(json);
        break;
    case LG_JSON_OBJECT:
        if (!lg_json_object(json)) break;
        while (lg_json_key(json, &string)) {
            touch(string);
            pull(json);
        }
        break;
    case LG_JSON_END:
        break;
    }
}

static void put(lg_json_writer *w, const lg_json_value *value) {
    if (value->key) lg_json_put_key(w, value->key);
    switch (value->type) {
    case LG_JSON_NULL:
        lg_json_put_null(w);
        break;
    case LG_JSON_BOOL:
        lg_json_put_bool(w, value->boolean);
        break;
    case LG_JSON_INTEGER:
        lg_json_put_integer(w, value->integer);
        break;
    case LG_JSON_NUMBER:
        lg_json_put_double(w, value->number);
        break;
    case LG_JSON_STRING:
        lg_json_put_string(w, value->string, value->length);
        break;
    case LG_JSON_ARRAY:
        lg_json_put_array(w);
        for (const lg_json_value *e = value->first; e; e = e->next) put(w, e);
        lg_json_end_array(w);
        break;
    case LG_JSON_OBJECT:
        lg_json_put_object(w);
        for (const lg_json_value *e = value->first; e; e = e->next) put(w, e);
        lg_json_end_object(w);
        break;
    case LG_JSON_END:
        abort();
    }
}

static bool is_plain(const char *text, size_t length) { /* UTF-8 without zero bytes */
    uint32_t code;
    bool valid = true;
    for (size_t i = 0; valid && i < length;) {
        i += lg_utf8_decode(text + i, length - i, &code, &valid);
        valid = valid && code;
    }
    return valid;
}

/* Whether writing keeps everything: strings are UTF-8, and keys have no zero bytes. */
static bool is_writable(const lg_json_value *value) {
    if (value->key && !is_plain(value->key, value->key_length)) return false;
    if (value->type == LG_JSON_STRING && !is_plain(value->string, value->length)) return false;
    for (const lg_json_value *e = value->first; e; e = e->next)
        if (!is_writable(e)) return false;
    return true;
}

/* Same type and value. A number may come back as an integer: 1.0 is written as 1. */
static bool is_same(const lg_json_value *a, const lg_json_value *b) {
    bool numbers = (a->type == LG_JSON_NUMBER || a->type == LG_JSON_INTEGER) &&
                   (b->type == LG_JSON_NUMBER || b->type == LG_JSON_INTEGER);
    if (numbers)
        return memcmp(&a->number, &b->number, sizeof a->number) == 0 || (a->number == 0 && b->number == 0);
    if (a->type != b->type || a->boolean != b->boolean || a->length != b->length) return false;
    if (a->type == LG_JSON_STRING && memcmp(a->string, b->string, a->length) != 0) return false;
    const lg_json_value *x = a->first, *y = b->first;
    for (; x && y; x = x->next, y = y->next) {
        if (x->key_length != y->key_length || (x->key && memcmp(x->key, y->key, x->key_length) != 0))
            return false;
        if (!is_same(x, y)) return false;
    }
    return !x && !y;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size ? size : 1); /* exactly the text, so that reading beyond it is seen */
    check(text != NULL);
    if (size) memcpy(text, data, size);
    lg_text scratch = {0};
    lg_json json;
    lg_error pulled_error = {0}, skipped_error = {0}, tree_error = {0};

    lg_json_start(&json, text, size, "t", &scratch, &pulled_error);
    pull(&json);
    lg_status pulled = lg_json_done(&json);

    lg_json_start(&json, text, size, "t", &scratch, &skipped_error);
    lg_json_skip(&json);
    lg_status skipped = lg_json_done(&json);
    if (pulled != skipped) {
        /* White space alone: pulling found nothing to read. */
        check(!pulled && strstr(skipped_error.message, "found the end of the text"));
    } else {
        check(strcmp(pulled_error.message, skipped_error.message) == 0);
    }
    check(skipped == LG_OK || skipped == LG_BAD_INPUT);

    lg_arena arena = {0};
    lg_json_value *value, *again;
    lg_status parsed = lg_json_parse(&arena, text, size, "t", &value, &tree_error);
    bool duplicate = strstr(tree_error.message, "twice in the object") != NULL;
    check(parsed == skipped || (parsed == LG_BAD_INPUT && duplicate));
    if (!duplicate) check(strcmp(tree_error.message, skipped_error.message) == 0);
    if (!parsed) {
        lg_text out = {0};
        lg_json_writer w = {.out = &out, .indent = size % 3};
        put(&w, value);
        lg_error error = {0};
        lg_status status = lg_json_parse(&arena, out.data, out.length, "again", &again, &error);
        if (is_writable(value)) check(!status && is_same(value, again));
        else check(!status || strstr(error.message, "twice in the object")); /* keys may have become alike */
        lg_text_free(&out);
    }
    lg_arena_free(&arena);
    lg_text_free(&scratch);
    free(text);
    return 0;
}
