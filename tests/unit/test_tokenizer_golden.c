/* Token ids and byte ends against Hugging Face tokenizers and tiktoken: every case of tests/golden/tokenizers
   and, where they are, of the larger sets in ../shared. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/json.h"
#include "lossgap/tokenizer.h"
#include "tokenizer/tokenizer_internal.h"

typedef struct counts {
    size_t encodings, tokens, overlaps, newer; /* overlaps: left out; newer: depend on the Unicode version */
} counts;

typedef struct folder {
    lg_tokenizer *full, *bare; /* bare: without added tokens */
    lg_tokenizer_session *full_session, *bare_session;
    lg_tokens tokens;
    counts counts;
} folder;

static void open_folder(folder *f, const char *path, bool no_splitters) {
    *f = (folder){0};
    lg_error error = {0};
    char *file = lg_path_join(path, "tokenizer.json");
    lg_mapping m;
    if (lg_map(file, &m, &error)) fail_msg("%s", error.message);
    char *copy = malloc(m.size);
    memcpy(copy, m.data, m.size);
    if (lg_tokenizer_read(copy, m.size, file, no_splitters, &f->full, &error)) fail_msg("%s", error.message);
    char *added = memmem(copy, m.size, "\"added_tokens\"", 14);
    assert_non_null(added);
    memcpy(added, "\"added_nothing", 13); /* a member that means nothing */
    if (lg_tokenizer_read(copy, m.size, file, no_splitters, &f->bare, &error)) fail_msg("%s", error.message);
    assert_int_equal(lg_tokenizer_session_create(f->full, &f->full_session, &error), LG_OK);
    assert_int_equal(lg_tokenizer_session_create(f->bare, &f->bare_session, &error), LG_OK);
    free(copy);
    free(file);
    lg_unmap(&m);
}

static void close_folder(folder *f) {
    lg_tokenizer_session_free(f->full_session);
    lg_tokenizer_session_free(f->bare_session);
    lg_tokenizer_close(f->full);
    lg_tokenizer_close(f->bare);
    lg_tokens_free(&f->tokens);
}

/* The text of a case, as bytes. */
static char *case_text(const lg_json_value *row, size_t *length) {
    const lg_json_value *hex = lg_json_get(row, "text_hex"), *text = lg_json_get(row, "text");
    *length = hex ? hex->length / 2 : text->length;
    char *bytes = malloc(*length + 1);
    if (!hex) memcpy(bytes, text->string, *length);
    for (size_t i = 0; hex && i < *length; i++) {
        unsigned byte;
        assert_int_equal(sscanf(hex->string + 2 * i, "%2x", &byte), 1);
        bytes[i] = (char)byte;
    }
    return bytes;
}

static void check_encoding(folder *f, const char *where, lg_tokenizer_session *session, bool parse_special,
                           const lg_json_value *row, const lg_json_value *encoding) {
    if (lg_json_get(encoding, "overlap")) {
        f->counts.overlaps++;
        return;
    }
    size_t length;
    char *text = case_text(row, &length);
    lg_error error = {0};
    if (lg_tokenize(session, text, length, parse_special, &f->tokens, &error))
        fail_msg("%s: %s", where, error.message);
    const lg_json_value *ids = lg_json_get(encoding, "ids"), *ends = lg_json_get(encoding, "byte_end");
    size_t i = 0;
    for (const lg_json_value *id = ids->first; id; id = id->next, i++)
        if (i >= f->tokens.count || f->tokens.ids[i] != (uint64_t)id->integer)
            fail_msg("%s: token %zu is %lld in the reference, %lld here", where, i, (long long)id->integer,
                     i < f->tokens.count ? (long long)f->tokens.ids[i] : -1LL);
    if (i != f->tokens.count)
        fail_msg("%s: %zu tokens in the reference, %zu here", where, i, f->tokens.count);
    i = 0;
    for (const lg_json_value *end = ends ? ends->first : NULL; end; end = end->next, i++)
        if (end->type == LG_JSON_INTEGER && f->tokens.ends[i] != (uint64_t)end->integer)
            fail_msg("%s: token %zu ends at %lld in the reference, %zu here", where, i,
                     (long long)end->integer, f->tokens.ends[i]);
    f->counts.encodings++;
    f->counts.tokens += f->tokens.count;
    f->counts.newer += lg_json_get(row, "unicode") || lg_json_get(row, "nfc_unicode");
    free(text);
}

static void check_row(folder *f, const char *path, const lg_json_value *row) {
    char where[512];
    const char *name = lg_json_get(row, "name")->string;
    if (lg_json_get(row, "ids")) {
        snprintf(where, sizeof where, "%s: %s", path, name);
        check_encoding(f, where, f->full_session, true, row, row);
        return;
    }
    static const char *const modes[] = {"all", "non_special", "none"};
    for (int m = 0; m < 3; m++) {
        const lg_json_value *encoding = lg_json_get(row, modes[m]);
        assert_non_null(encoding);
        snprintf(where, sizeof where, "%s: %s (%s)", path, name, modes[m]);
        check_encoding(f, where, m == 2 ? f->bare_session : f->full_session, m == 0, row, encoding);
    }
}

static void check_file(folder *f, const char *path) {
    lg_mapping m;
    lg_error error = {0};
    if (lg_map(path, &m, &error)) fail_msg("%s", error.message);
    const char *at = (const char *)m.data, *end = at + m.size;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop) stop = end;
        lg_arena arena = {0};
        lg_json_value *row;
        if (stop > at) {
            if (lg_json_parse(&arena, at, (size_t)(stop - at), path, &row, &error))
                fail_msg("%s", error.message);
            check_row(f, path, row);
        }
        lg_arena_free(&arena);
        at = stop + 1;
    }
    lg_unmap(&m);
}

/* How many files were there. */
static size_t check_folder(const char *root, const char *name, bool no_splitters) {
    char *path = lg_path_join(root, name);
    size_t files = 0;
    if (lg_is_folder(path)) {
        folder f;
        open_folder(&f, path, no_splitters);
        static const char *const names[] = {"cases.jsonl", "cases_special.jsonl"};
        for (int i = 0; i < 2; i++) {
            char *file = lg_path_join(path, names[i]);
            if (lg_exists(file)) {
                check_file(&f, file);
                files++;
            }
            free(file);
        }
        print_message(
            "%s: %zu encodings, %zu tokens equal; %zu overlaps left out; %zu that depend on the Unicode "
            "version equal too\n",
            path, f.counts.encodings, f.counts.tokens, f.counts.overlaps, f.counts.newer);
        assert_true(f.counts.encodings > 0);
        close_folder(&f);
    }
    free(path);
    return files;
}

static const char *const folders[] = {"dolma2",
                                      "gpt2",
                                      "small",
                                      "small-ignore-merges",
                                      "small-ignore-merges-off",
                                      "neox",
                                      "neox-lstrip",
                                      "neox-rstrip",
                                      "neox-strip-both",
                                      "neox-single-word",
                                      "neox-normalized",
                                      "neox-overlap",
                                      NULL};

static void test_own_copy(void **state) {
    (void)state;
    size_t files = 0;
    for (int i = 0; folders[i]; i++) files += check_folder("tests/golden/tokenizers", folders[i], false);
    assert_int_equal(files, 11);
}

static void test_own_copy_with_pcre2(void **state) {
    (void)state;
    size_t files = 0;
    for (int i = 0; folders[i]; i++) files += check_folder("tests/golden/tokenizers", folders[i], true);
    assert_int_equal(files, 11);
}

/* Patterns as Oniguruma understands them: the matches that are not empty. */
static void check_pattern(const lg_classes *classes, lg_matcher *matcher, const lg_json_value *row) {
    const lg_json_value *pattern = lg_json_get(row, "pattern"), *text = lg_json_get(row, "text");
    const lg_json_value *expected = lg_json_get(row, "matches")->first;
    lg_pattern *p;
    lg_error error = {0};
    lg_subject subject = {0};
    lg_match_state state = {0};
    size_t start, end;
    if (lg_pattern_compile(pattern->string, pattern->length, "x", &p, &error)) fail_msg("%s", error.message);
    assert_true(lg_subject_set(&subject, classes, text->string, text->length, false));
    lg_match match;
    while ((match = lg_pattern_next(p, matcher, &subject, &state, &start, &end)) == LG_MATCH_FOUND) {
        if (start == end) continue;
        const char *found = text->string + lg_subject_original(&subject, start);
        size_t length = (size_t)(text->string + lg_subject_original(&subject, end) - found);
        if (!expected || expected->length != length || memcmp(expected->string, found, length) != 0)
            fail_msg("%s on \"%s\": \"%.*s\" here, \"%s\" in the reference", pattern->string, text->string,
                     (int)length, found, expected ? expected->string : "nothing");
        expected = expected->next;
    }
    assert_int_equal(match, LG_MATCH_NONE);
    if (expected) fail_msg("%s on \"%s\": no \"%s\"", pattern->string, text->string, expected->string);
    lg_subject_free(&subject);
    lg_pattern_free(p);
}

static void test_patterns(void **state) {
    (void)state;
    lg_mapping m;
    lg_error error = {0};
    if (lg_map("tests/golden/tokenizers/patterns.jsonl", &m, &error)) fail_msg("%s", error.message);
    lg_classes *classes = lg_classes_create();
    lg_matcher *matcher = lg_matcher_create();
    size_t rows = 0;
    for (const char *at = (const char *)m.data, *end = at + m.size; at < end; rows++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        lg_arena arena = {0};
        lg_json_value *row;
        if (lg_json_parse(&arena, at, (size_t)(stop - at), "patterns.jsonl", &row, &error))
            fail_msg("%s", error.message);
        check_pattern(classes, matcher, row);
        lg_arena_free(&arena);
        at = stop + 1;
    }
    assert_true(rows > 1500);
    lg_matcher_free(matcher);
    free(classes);
    lg_unmap(&m);
}

static char *shared_root(void) {
    const char *shared = getenv("LG_SHARED");
    char *root = lg_path_join(shared ? shared : "../shared", "golden/tokenizers");
    if (!lg_is_folder(root)) {
        print_message("skipped: %s is not there (LG_SHARED says where the shared data are)\n", root);
        free(root);
        skip();
    }
    return root;
}

static void check_shared(bool no_splitters) {
    char *root = shared_root();
    for (int i = 0; folders[i]; i++) assert_true(check_folder(root, folders[i], no_splitters) > 0);
    free(root);
}

static void test_shared(void **state) {
    (void)state;
    check_shared(false);
}

static void test_shared_with_pcre2(void **state) {
    (void)state;
    check_shared(true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_copy),          cmocka_unit_test(test_own_copy_with_pcre2),
        cmocka_unit_test(test_patterns),          cmocka_unit_test(test_shared),
        cmocka_unit_test(test_shared_with_pcre2),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
