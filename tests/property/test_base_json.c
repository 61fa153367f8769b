/* JSON, random: documents spelled by an independent writer with random spaces and escapes are read as what
   they stand for, and what our writer makes of them reads back the same. A document with one byte changed
   never crashes a reader. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"

static uint64_t seed;

static uint64_t next_random(void) { /* splitmix64 */
    uint64_t z = seed += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static unsigned below(unsigned n) {
    return (unsigned)(next_random() % n);
}

/* What a document stands for. */
typedef struct node {
    lg_json_type type;
    bool boolean;
    int64_t integer;
    double number;
    char *string, *key;
    size_t length, key_length; /* of string; children */
    struct node *children;
} node;

static uint32_t random_code_point(void) {
    switch (below(8)) {
    case 0:
        return below(0x20);
    case 1:
        return below(2) ? '"' : '\\';
    case 2:
        return 0x80 + below(0x780);
    case 3:
        return 0xE000 + below(0x2000);
    case 4:
        return 0x10000 + below(0x100000);
    default:
        return 0x20 + below(0x5F);
    }
}

static char *random_string(size_t *length) {
    size_t n = below(4) ? below(6) : below(60);
    char *s = malloc(4 * n + 1);
    *length = 0;
    for (size_t i = 0; i < n; i++) *length += lg_utf8_encode(random_code_point(), s + *length);
    return s;
}

static node random_node(unsigned depth) {
    node n = {.type = (lg_json_type)below(depth ? 7 : 5)};
    union {
        uint64_t bits;
        double value;
    } d;
    switch (n.type) {
    case LG_JSON_BOOL:
        n.boolean = below(2);
        break;
    case LG_JSON_INTEGER:
        n.integer = (int64_t)(next_random() >> below(64));
        if (below(2)) n.integer = -n.integer;
        n.number = (double)n.integer;
        break;
    case LG_JSON_NUMBER:
        do d.bits = next_random();
        while ((d.bits >> 52 & 2047) == 2047);
        n.number = below(2) ? d.value : (double)(int)below(2000) / 16 + 1.0 / 32;
        break;
    case LG_JSON_STRING:
        n.string = random_string(&n.length);
        break;
    case LG_JSON_ARRAY:
    case LG_JSON_OBJECT:
        n.length = below(5) ? below(5) : below(40);
        n.children = calloc(n.length + 1, sizeof *n.children);
        for (size_t i = 0; i < n.length; i++) {
            n.children[i] = random_node(depth - 1);
            if (n.type == LG_JSON_ARRAY) continue;
            n.children[i].key = random_string(&n.children[i].key_length);
            char unique[16]; /* keys differ */
            int k = snprintf(unique, sizeof unique, "%zu", i);
            n.children[i].key = realloc(n.children[i].key, n.children[i].key_length + (size_t)k + 2);
            memcpy(n.children[i].key + n.children[i].key_length, "\1", 1);
            memcpy(n.children[i].key + n.children[i].key_length + 1, unique, (size_t)k);
            n.children[i].key_length += (size_t)k + 1;
        }
        break;
    default:
        break;
    }
    return n;
}

static void free_node(node *n) {
    for (size_t i = 0; n->children && i < n->length; i++) free_node(&n->children[i]);
    free(n->children);
    free(n->string);
    free(n->key);
}

/* The independent writer: to a fixed block, with the spaces and escapes that the grammar allows. */
static char *out, *out_end;

static void spell_spaces(void) {
    while (!below(6)) *out++ = " \t\r\n"[below(4)];
}

static void spell_string(const char *s, size_t length) {
    *out++ = '"';
    for (size_t i = 0; i < length;) {
        uint32_t c;
        bool valid;
        size_t n = lg_utf8_decode(s + i, length - i, &c, &valid);
        static const char special[] = "\"\\/\b\f\n\r\t", letter[] = "\"\\/bfnrt";
        const char *place = c && c < 0x80 ? strchr(special, (int)c) : NULL;
        if (place && below(3)) {
            out += sprintf(out, "\\%c", letter[place - special]);
        } else if (c < 0x20 || c == '"' || c == '\\' || !below(10)) {
            const char *form = below(2) ? "\\u%04x" : "\\u%04X";
            if (c >= 0x10000) {
                out += sprintf(out, form, 0xD800 + ((c - 0x10000) >> 10));
                c = 0xDC00 + ((c - 0x10000) & 0x3FF);
            }
            out += sprintf(out, form, c);
        } else {
            memcpy(out, s + i, n);
            out += n;
        }
        i += n;
    }
    *out++ = '"';
}

static void spell(const node *n) {
    if (out_end - out < 4096) abort();
    spell_spaces();
    switch (n->type) {
    case LG_JSON_NULL:
        out += sprintf(out, "null");
        break;
    case LG_JSON_BOOL:
        out += sprintf(out, n->boolean ? "true" : "false");
        break;
    case LG_JSON_INTEGER:
        out += sprintf(out, "%" PRId64, n->integer);
        break;
    case LG_JSON_NUMBER:
        out += sprintf(out, below(2) ? "%.17e" : "%.20e", n->number);
        break;
    case LG_JSON_STRING:
        spell_string(n->string, n->length);
        break;
    default:
        *out++ = n->type == LG_JSON_ARRAY ? '[' : '{';
        spell_spaces();
        for (size_t i = 0; i < n->length; i++) {
            if (i) *out++ = ',';
            spell_spaces();
            if (n->type == LG_JSON_OBJECT) {
                spell_string(n->children[i].key, n->children[i].key_length);
                spell_spaces();
                *out++ = ':';
            }
            spell(&n->children[i]);
        }
        *out++ = n->type == LG_JSON_ARRAY ? ']' : '}';
    }
    spell_spaces();
}

static bool is_number(lg_json_type type) {
    return type == LG_JSON_INTEGER || type == LG_JSON_NUMBER;
}

/* Whether VALUE is N. Where KINDS is false, 1.0 may have become 1. */
static void compare(const node *n, const lg_json_value *v, bool kinds) {
    if (kinds || !is_number(n->type)) assert_int_equal(v->type, n->type);
    else assert_true(is_number(v->type));
    if (is_number(n->type)) assert_true(v->number == n->number);
    if (n->type == LG_JSON_INTEGER) assert_true(v->integer == n->integer);
    if (n->type == LG_JSON_BOOL) assert_int_equal(v->boolean, n->boolean);
    if (is_number(n->type) || n->type == LG_JSON_BOOL || n->type == LG_JSON_NULL) return;
    assert_int_equal(v->length, n->length);
    if (n->type == LG_JSON_STRING) {
        assert_memory_equal(v->string, n->string, n->length);
        return;
    }
    const lg_json_value *child = v->first;
    for (size_t i = 0; i < n->length; i++, child = child->next) {
        assert_non_null(child);
        if (n->type == LG_JSON_OBJECT) {
            assert_int_equal(child->key_length, n->children[i].key_length);
            assert_memory_equal(child->key, n->children[i].key, child->key_length);
        }
        compare(&n->children[i], child, kinds);
    }
    assert_null(child);
}

static void put(lg_json_writer *w, const node *n) {
    switch (n->type) {
    case LG_JSON_NULL:
        lg_json_put_null(w);
        break;
    case LG_JSON_BOOL:
        lg_json_put_bool(w, n->boolean);
        break;
    case LG_JSON_INTEGER:
        lg_json_put_integer(w, n->integer);
        break;
    case LG_JSON_NUMBER:
        lg_json_put_double(w, n->number);
        break;
    case LG_JSON_STRING:
        lg_json_put_string(w, n->string, n->length);
        break;
    case LG_JSON_ARRAY:
        lg_json_put_array(w);
        for (size_t i = 0; i < n->length; i++) put(w, &n->children[i]);
        lg_json_end_array(w);
        break;
    default:
        lg_json_put_object(w);
        for (size_t i = 0; i < n->length; i++) {
            n->children[i].key[n->children[i].key_length] = '\0';
            lg_json_put_key(w, n->children[i].key);
            put(w, &n->children[i]);
        }
        lg_json_end_object(w);
    }
}

/* The writer's keys are C strings: a key with U+0000 inside would be cut. */
static bool has_zero_in_key(const node *n) {
    if (n->key && memchr(n->key, 0, n->key_length)) return true;
    for (size_t i = 0; n->children && i < n->length; i++)
        if (has_zero_in_key(&n->children[i])) return true;
    return false;
}

enum { BLOCK = 1 << 22 };

static void random_documents_survive(void **state) {
    (void)state;
    char *block = malloc(BLOCK);
    size_t rewritten = 0;
    for (seed = 1; seed < 3000; seed++) {
        uint64_t first = seed;
        node n = random_node(5);
        out = block;
        out_end = block + BLOCK;
        spell(&n);
        size_t length = (size_t)(out - block);
        char *text = malloc(length); /* exactly the text */
        memcpy(text, block, length);

        lg_arena arena = {0};
        lg_json_value *v;
        lg_error error = {0};
        if (lg_json_parse(&arena, text, length, "t", &v, &error))
            fail_msg("seed %" PRIu64 ": %s", first, error.message);
        compare(&n, v, true);
        lg_json json;
        lg_json_start(&json, text, length, "t", NULL, &error);
        assert_true(lg_json_skip(&json));
        assert_int_equal(lg_json_done(&json), LG_OK);

        if (!has_zero_in_key(&n)) {
            lg_text again = {0};
            lg_json_writer w = {.out = &again, .indent = (unsigned)(first % 3)};
            put(&w, &n);
            if (lg_json_parse(&arena, again.data, again.length, "again", &v, &error))
                fail_msg("%s", error.message);
            compare(&n, v, false);
            lg_text_free(&again);
            rewritten++;
        }

        for (int k = 0; k < 20; k++) { /* any answer will do, as long as skipping and the tree agree */
            size_t at = below((unsigned)length);
            char before = text[at];
            text[at] = below(2) ? "{}[]\",:\\u0e-+. "[below(16)] : (char)below(256);
            lg_json_start(&json, text, length, "t", NULL, NULL);
            lg_json_skip(&json);
            lg_status skipped = lg_json_done(&json),
                      parsed = lg_json_parse(&arena, text, length, "t", &v, &error);
            if (skipped != parsed && !strstr(error.message, "twice")) fail_msg("seed %" PRIu64, first);
            text[at] = before;
        }
        lg_arena_free(&arena);
        free(text);
        free_node(&n);
        seed = first;
    }
    assert_true(rewritten > 1000);
    free(block);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_documents_survive)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
