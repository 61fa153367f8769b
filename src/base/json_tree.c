/* Small JSON documents as a tree in an arena. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"

typedef struct parse {
    lg_json json;
    lg_arena *arena;
    bool no_memory;
} parse;

static int compare_keys(const void *a, const void *b) {
    const lg_json_value *x = *(const lg_json_value *const *)a, *y = *(const lg_json_value *const *)b;
    size_t n = x->key_length < y->key_length ? x->key_length : y->key_length;
    int order = memcmp(x->key, y->key, n);
    return order ? order : (x->key_length > y->key_length) - (x->key_length < y->key_length);
}

static bool same_key(const lg_json_value *a, const lg_json_value *b) {
    return compare_keys(&a, &b) == 0;
}

/* Finds a key that OBJECT has twice, or NULL: pairwise in small objects, by sorting in large ones. */
static const lg_json_value *find_duplicate(parse *p, const lg_json_value *object) {
    if (object->length <= 16) {
        for (const lg_json_value *a = object->first; a; a = a->next)
            for (const lg_json_value *b = a->next; b; b = b->next)
                if (same_key(a, b)) return a;
        return NULL;
    }
    const lg_json_value **members = lg_alloc(object->length, sizeof *members), *found = NULL;
    p->no_memory = !members;
    if (!members) return NULL;
    size_t n = 0;
    for (const lg_json_value *m = object->first; m; m = m->next) members[n++] = m;
    qsort(members, n, sizeof *members, compare_keys);
    for (size_t i = 1; i < n && !found; i++)
        if (same_key(members[i - 1], members[i])) found = members[i];
    free(members);
    return found;
}

static const char *keep(parse *p, lg_string string) {
    char *copy = lg_arena_copy(p->arena, string.data, string.length);
    if (!copy) p->no_memory = true;
    return copy;
}

/* Reads the scalar of TYPE that comes next, or enters the container. */
static void begin_value(parse *p, lg_json_value *value, lg_json_type type) {
    lg_string string;
    value->type = type;
    switch (type) {
    case LG_JSON_NULL:
        lg_json_null(&p->json);
        break;
    case LG_JSON_BOOL:
        lg_json_bool(&p->json, &value->boolean);
        break;
    case LG_JSON_INTEGER:
    case LG_JSON_NUMBER: {
        const char *at = p->json.at;
        if (!lg_json_number(&p->json, &value->number)) break;
        if (type == LG_JSON_NUMBER) break;
        lg_json again =
            p->json; /* the same place, with an error of its own: beyond int64 it stays a number */
        again.at = at;
        again.error = NULL;
        if (!lg_json_integer(&again, &value->integer)) value->type = LG_JSON_NUMBER;
        break;
    }
    case LG_JSON_STRING:
        if (!lg_json_string(&p->json, &string)) break;
        value->string = keep(p, string);
        value->length = string.length;
        break;
    case LG_JSON_ARRAY:
        lg_json_array(&p->json);
        break;
    case LG_JSON_OBJECT:
        lg_json_object(&p->json);
        break;
    case LG_JSON_END:
        lg_json_complain(&p->json, "expected a value, found the end of the text");
        break;
    }
}

static bool stopped(const parse *p) {
    return p->no_memory || p->json.failed;
}

/* One value and, depth first, all in it. The stack is as deep as the parser lets containers be. */
static lg_json_value *parse_value(parse *p) {
    struct {
        lg_json_value *container, **tail;
    } stack[LG_JSON_DEPTH + 1];
    size_t depth = 0;
    lg_json_value *root = NULL, **slot = &root;
    lg_string key = {0};
    const char *kept_key = NULL;
    for (;;) {
        lg_json_value *value = lg_arena_alloc(p->arena, sizeof *value);
        if (!value) p->no_memory = true;
        if (stopped(p)) return NULL;
        value->key = kept_key;
        value->key_length = key.length;
        *slot = value;
        begin_value(p, value, lg_json_peek(&p->json));
        if (stopped(p)) return NULL;
        if (depth) stack[depth - 1].tail = &value->next;
        if (value->type == LG_JSON_ARRAY || value->type == LG_JSON_OBJECT) {
            stack[depth].container = value;
            stack[depth++].tail = &value->first;
        }
        for (;;) { /* on to the next value inside, closing what ends */
            if (!depth) return root;
            lg_json_value *container = stack[depth - 1].container;
            bool more, object = container->type == LG_JSON_OBJECT;
            kept_key = NULL;
            key.length = 0;
            if (object) {
                more = lg_json_key(&p->json, &key);
                if (more) kept_key = keep(p, key);
            } else {
                more = lg_json_element(&p->json);
            }
            if (stopped(p)) return NULL;
            if (more) {
                container->length++;
                slot = stack[depth - 1].tail;
                break;
            }
            const lg_json_value *twice = object ? find_duplicate(p, container) : NULL;
            if (twice)
                lg_json_complain(&p->json, "the key \"%.100s\" twice in the object that ends here",
                                 twice->key);
            if (stopped(p)) return NULL;
            depth--;
        }
    }
}

lg_status lg_json_parse(lg_arena *arena, const char *text, size_t length, const char *name,
                        lg_json_value **value, lg_error *error) {
    lg_text scratch = {0};
    parse p = {.arena = arena};
    *value = NULL;
    lg_json_start(&p.json, text, length, name, &scratch, error);
    lg_json_value *root = parse_value(&p);
    lg_status status = p.no_memory ? lg_fail_memory(error) : lg_json_done(&p.json);
    if (!status) *value = root;
    lg_text_free(&scratch);
    return status;
}

const lg_json_value *lg_json_get(const lg_json_value *value, const char *key) {
    if (!value || value->type != LG_JSON_OBJECT) return NULL;
    size_t length = strlen(key);
    for (const lg_json_value *m = value->first; m; m = m->next)
        if (m->key_length == length && memcmp(m->key, key, length) == 0) return m;
    return NULL;
}
