/* Reading tokenizer.json: its members, the added tokens, and putting the tokenizer together. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "tokenizer/read_internal.h"
#include "tokenizer/unicode.h"

lg_status lg_reader_refuse(lg_reader *r, const char *place, const char *format, ...) {
    char message[512];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return lg_fail(r->error, LG_BAD_INPUT, "%s: %s: %s", r->name, place, message);
}

bool lg_read_stop(lg_json *json, lg_status status) {
    json->failed = true;
    json->status = status;
    return false;
}

/* ---- added tokens ---- */

static bool read_added_token(lg_reader *r, lg_json *json) {
    lg_tokenizer *t = r->tokenizer;
    lg_added a = {0};
    bool has_id = false, has_content = false, has_normalized = false;
    lg_string key, content;
    uint64_t id = 0;
    if (!lg_json_object(json)) return false;
    while (lg_json_key(json, &key)) {
        if (lg_string_is(key, "id")) {
            has_id = lg_json_unsigned(json, &id);
            if (id > INT32_MAX)
                lg_json_complain(json, "the id %llu is above 2^31 - 1", (unsigned long long)id);
        } else if (lg_string_is(key, "content")) {
            if (has_content) lg_json_complain(json, "content is there twice");
            has_content = lg_json_string(json, &content);
            if (has_content) a.content = lg_arena_copy(&t->arena, content.data, a.length = content.length);
        } else {
            bool *flag = lg_string_is(key, "special")       ? &a.special
                         : lg_string_is(key, "normalized")  ? &a.normalized
                         : lg_string_is(key, "lstrip")      ? &a.lstrip
                         : lg_string_is(key, "rstrip")      ? &a.rstrip
                         : lg_string_is(key, "single_word") ? &a.single_word
                                                            : NULL;
            if (flag) lg_json_bool(json, flag);
            else lg_json_skip(json);
            has_normalized |= flag == &a.normalized;
        }
    }
    if (json->failed) return false;
    if (!has_id || !has_content)
        return lg_json_complain(json, "added_tokens[%zu] has no %s", t->added_count,
                                has_id ? "content" : "id");
    if (!has_normalized) a.normalized = !a.special; /* Hugging Face's default */
    a.id = (uint32_t)id;
    if (a.length > INT32_MAX) return lg_json_complain(json, "an added token of 2 GiB or more");
    if (!a.length) return true; /* never found */
    if (!a.content || !lg_reserve(&t->added, &t->added_capacity, t->added_count + 1, sizeof *t->added))
        return lg_read_stop(json, lg_fail_memory(r->error));
    t->added[t->added_count++] = a;
    return true;
}

static bool read_added_tokens(lg_reader *r, lg_json *json) {
    if (lg_json_peek(json) == LG_JSON_NULL) return lg_json_null(json);
    if (!lg_json_array(json)) return false;
    while (lg_json_element(json))
        if (!read_added_token(r, json)) return false;
    return !json->failed;
}

static int compare_ids(const void *a, const void *b) {
    const lg_added *x = *(const lg_added *const *)a, *y = *(const lg_added *const *)b;
    if (x->id != y->id) return x->id < y->id ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* One id each, one content each; a token that is there twice is kept once. */
static lg_status check_added(lg_reader *r) {
    lg_tokenizer *t = r->tokenizer;
    lg_strings contents = {0};
    lg_status status = LG_OK;
    size_t kept = 0;
    for (size_t i = 0; i < t->added_count && !status; i++) {
        const lg_added *a = &t->added[i];
        uint32_t id = a->id;
        lg_strings_added added = lg_strings_add(&contents, a->content, a->length, id);
        if (added == LG_STRINGS_NO_MEMORY) status = lg_fail_memory(r->error);
        else if (added == LG_STRINGS_NEW) t->added[kept++] = *a;
        else if (lg_strings_find(&contents, a->content, a->length, &id) && id != a->id)
            status = lg_reader_refuse(r, "added_tokens", "\"%.100s\" has two ids, %u and %u", a->content, id,
                                      a->id);
    }
    lg_strings_free(&contents);
    if (status) return status;
    t->added_count = kept;

    const lg_added **by_id = lg_alloc(kept, sizeof *by_id);
    if (!by_id) return lg_fail_memory(r->error);
    for (size_t i = 0; i < kept; i++) by_id[i] = &t->added[i];
    qsort(by_id, kept, sizeof *by_id, compare_ids);
    for (size_t i = 1; i < kept && !status; i++)
        if (by_id[i]->id == by_id[i - 1]->id)
            status = lg_reader_refuse(r, "added_tokens", "the id %u is given to \"%.100s\" and to \"%.100s\"",
                                      by_id[i]->id, by_id[i - 1]->content, by_id[i]->content);
    free(by_id);
    return status;
}

/* The sets that are looked for: raw ones, and normalised ones in their normalised form. */
static lg_status build_sets(lg_reader *r) {
    lg_tokenizer *t = r->tokenizer;
    t->keys = lg_alloc(t->added_count, sizeof *t->keys);
    if (!t->keys) return lg_fail_memory(r->error);
    size_t raw = 0, normalized = t->added_count; /* from the front, from the back */
    lg_nfc nfc = {0};
    bool failed = false;
    for (size_t i = 0; i < t->added_count && !failed; i++) {
        const lg_added *a = &t->added[i];
        lg_added_key key = {a->content, a->length, a};
        if (a->normalized && t->nfc && lg_nfc_apply(&nfc, t->classes, a->content, a->length, &failed)) {
            key.length = nfc.text.length;
            key.text = lg_arena_copy(&t->arena, nfc.text.data, nfc.text.length);
            failed = !key.text;
        }
        t->keys[a->normalized ? --normalized : raw++] = key;
    }
    lg_nfc_free(&nfc);
    if (failed) return lg_fail_memory(r->error);
    lg_added_set_build(&t->raw, t->keys, raw);
    lg_added_set_build(&t->normalized, t->keys + raw, t->added_count - raw);
    return LG_OK;
}

/* ---- the whole ---- */

/* A small member as a tree, given to READ. */
static bool read_tree(lg_reader *r, lg_json *json, lg_status (*read)(lg_reader *, const lg_json_value *)) {
    lg_json_peek(json); /* passes white space */
    const char *begin = json->at;
    if (!lg_json_skip(json)) return false;
    lg_arena arena = {0};
    lg_json_value *value;
    lg_status status = lg_json_parse(&arena, begin, (size_t)(json->at - begin), r->name, &value, r->error);
    if (!status) status = read(r, value);
    lg_arena_free(&arena);
    return !status || lg_read_stop(json, status);
}

enum { MODEL = 1, ADDED_TOKENS = 2, NORMALIZER = 4, PRE_TOKENIZER = 8 };

/* truncation and padding are a matter of batches, the post-processor adds tokens around a text, the decoder
   turns ids into text: none of them has a say here. */
static bool read_member(lg_reader *r, lg_json *json, lg_string key, unsigned *seen) {
    unsigned member = lg_string_is(key, "model")           ? MODEL
                      : lg_string_is(key, "added_tokens")  ? ADDED_TOKENS
                      : lg_string_is(key, "normalizer")    ? NORMALIZER
                      : lg_string_is(key, "pre_tokenizer") ? PRE_TOKENIZER
                                                           : 0;
    if (*seen & member)
        return lg_json_complain(json, "the member \"%.*s\" is there twice", (int)key.length, key.data);
    *seen |= member;
    lg_status status;
    switch (member) {
    case MODEL:
        return !(status = lg_read_model(r, json)) || lg_read_stop(json, status);
    case ADDED_TOKENS:
        return read_added_tokens(r, json);
    case NORMALIZER:
        return read_tree(r, json, lg_read_normalizer);
    case PRE_TOKENIZER:
        return read_tree(r, json, lg_read_pre_tokenizer);
    }
    return lg_json_skip(json);
}

static lg_status describe(lg_reader *r) {
    static const char *const kinds[] = {"", "pattern", "string", "digits", "prefix space"};
    lg_tokenizer *t = r->tokenizer;
    lg_text *d = &t->description;
    lg_text_printf(d, "byte-level BPE, %zu tokens, %zu merges, %zu added tokens%s", t->token_count,
                   t->bpe.count, t->added_count, t->nfc ? ", NFC" : "");
    if (t->missing_bytes) lg_text_printf(d, ", %u bytes without a token", t->missing_bytes);
    for (size_t i = 0; i < t->step_count; i++) {
        const lg_step *step = &t->steps[i];
        lg_text_printf(d, "%s%s", i ? ", " : "; split by ",
                       step->splitter ? step->splitter->name : kinds[step->kind]);
    }
    return d->failed ? lg_fail_memory(r->error) : LG_OK;
}

static lg_status read_whole(lg_reader *r, const char *text, size_t length) {
    lg_json json;
    lg_string key;
    unsigned seen = 0;
    lg_json_start(&json, text, length, r->name, &r->scratch, r->error);
    if (lg_json_object(&json))
        while (lg_json_key(&json, &key))
            if (!read_member(r, &json, key, &seen)) break;
    lg_status status = lg_json_done(&json);
    if (status) return status;
    if (!(seen & MODEL))
        return lg_reader_refuse(r, "model", "there is no such member: this is not a tokenizer.json");
    if (!r->byte_level && r->tokenizer->bpe.byte_id[' '] == LG_NO_ID)
        return lg_reader_refuse(r, "pre_tokenizer",
                                "there is none, and the vocabulary is not that of byte-level BPE, "
                                "the kind that is supported");
    status = check_added(r);
    if (!status) status = build_sets(r);
    if (!status) status = lg_read_finish_vocabulary(r);
    if (!status) status = describe(r);
    return status;
}

lg_status lg_tokenizer_read(const char *json, size_t length, const char *name, bool no_splitters,
                            lg_tokenizer **tokenizer, lg_error *error) {
    *tokenizer = NULL;
    lg_tokenizer *t = calloc(1, sizeof *t);
    if (!t) return lg_fail_memory(error);
    lg_reader r = {.tokenizer = t, .name = name, .no_splitters = no_splitters, .error = error};
    t->name = strdup(name);
    t->classes = lg_classes_create();
    lg_status status = t->name && t->classes ? read_whole(&r, json, length) : lg_fail_memory(error);
    lg_text_free(&r.scratch);
    lg_strings_free(&r.names);
    if (status) {
        lg_tokenizer_close(t);
        return status;
    }
    lg_hash_hex(lg_hash_of(json, length), t->identity);
    *tokenizer = t;
    return LG_OK;
}
