/* What must hold for any bytes: no byte is lost, a used session gives what a fresh one gives, the
   hand-written splitters do what their patterns say, merging is what its definition says, and nothing takes
   quadratic time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "tokenizer/tokenizer_internal.h"
#include "tokenizer/unicode.h"

#define GOLDEN "tests/golden/tokenizers/"

/* ---- random texts ---- */

static uint64_t random_state;

static uint32_t random_below(uint32_t n) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_state >> 32) * n >> 32);
}

static const char *const parts[] = {
    "a",
    "the",
    " the",
    "The",
    "THE",
    "re",
    " ",
    "  ",
    "   ",
    "        ",
    "\n",
    "\r\n",
    "\r",
    "\t",
    "\v",
    "'s",
    "'S",
    "'\u017f",
    "'ll",
    "'Ve",
    "'re",
    "'",
    "''",
    "1",
    "12",
    "1234567",
    "\u0663",
    "\u00bd",
    "\u216b",
    ".",
    "...",
    "--",
    "_",
    "(",
    "{\n",
    "\u00e9",
    "e\u0301",
    "\u0301",
    "\u0323\u0307",
    "\u212b",
    "\u1100\u1161\u11a8",
    "\uac00\u11a8",
    "\u4e2d\u6587",
    "\u0434\u0430",
    "\u3042",
    "\u00a0",
    "\xc2\x85",
    "\u1680",
    "\u180e",
    "\u2003",
    "\u200b",
    "\u2028",
    "\u3000",
    "\ufeff",
    "\ufffd",
    "\U0001f600",
    "\U0001f468\u200d\U0001f469",
    "\U0002a6d6",
    "\U00011f02",
    "\U00016d40",
    "\U0001e4f0",
    "\U0002ebf0",
    "\U0010ffff",
    "<|endoftext|>",
    "<|pad|>",
    "<|user|>",
    "|||EMAIL_ADDRESS|||",
    "<mask>",
    "<sep>",
    "token",
    "qux",
    "<a>",
    "<a><b>",
    "aaa",
    "aaaab",
    "<q>",
    "q>",
    "\xff",
    "\xc3",
    "\xe2\x82",
    "\xf0\x9f\x98",
    "\x80",
    "\xed\xa0\x80",
    "\xc0\xaf",
    "\xf4\x90\x80\x80",
};

/* Up to MOST parts, or random bytes or code points. */
static void random_text(lg_text *out, uint32_t most) {
    out->length = 0;
    lg_text_puts(out, "");
    uint32_t n = random_below(most + 1), kind = random_below(10);
    for (uint32_t i = 0; i < n; i++) {
        char utf8[4];
        uint32_t part = random_below(sizeof parts / sizeof *parts);
        if (kind == 0) utf8[0] = (char)random_below(256);
        if (kind == 0) lg_text_put(out, utf8, 1);
        else if (kind == 1)
            lg_text_put(out, utf8, lg_utf8_encode(random_below(0x110000), utf8)); /* surrogates too */
        else if (kind == 2) lg_text_puts(out, parts[random_below(30)]);
        else lg_text_puts(out, parts[part]);
        if (random_below(60) == 0) lg_text_put(out, "", 1);
    }
}

/* ---- tokenizers of the golden set ---- */

static lg_tokenizer *open_golden(const char *folder, bool no_splitters) {
    char path[256];
    snprintf(path, sizeof path, GOLDEN "%s/tokenizer.json", folder);
    lg_mapping m;
    lg_tokenizer *t;
    lg_error error = {0};
    if (lg_map(path, &m, &error) ||
        lg_tokenizer_read((const char *)m.data, m.size, path, no_splitters, &t, &error))
        fail_msg("%s", error.message);
    lg_unmap(&m);
    return t;
}

static lg_tokenizer_session *open_session(const lg_tokenizer *t) {
    lg_tokenizer_session *s;
    lg_error error = {0};
    if (lg_tokenizer_session_create(t, &s, &error)) fail_msg("%s", error.message);
    return s;
}

static void tokenize(lg_tokenizer_session *s, const lg_text *text, bool special, lg_tokens *tokens) {
    lg_error error = {0};
    char *copy = malloc(text->length ? text->length : 1); /* so that reading past the end shows */
    memcpy(copy, text->data, text->length);
    if (lg_tokenize(s, copy, text->length, special, tokens, &error)) fail_msg("%s", error.message);
    free(copy);
}

static const char *const golden[] = {"small",
                                     "small-ignore-merges",
                                     "neox",
                                     "neox-lstrip",
                                     "neox-rstrip",
                                     "neox-strip-both",
                                     "neox-single-word",
                                     "neox-normalized",
                                     "neox-overlap"};
enum { N_GOLDEN = sizeof golden / sizeof *golden, N_PLAIN = 2 /* the first ones have no NFC */ };

/* The tokens' bytes are the text, where nothing normalises or strips; ends never fall and come to the text's
 * end. */
static void bytes_are_kept(void **state) {
    (void)state;
    random_state = 1;
    lg_text text = {0};
    lg_tokens tokens = {0};
    for (int g = 0; g < N_GOLDEN; g++) {
        lg_tokenizer *t = open_golden(golden[g], false);
        lg_tokenizer_session *s = open_session(t);
        for (int n = 0; n < 3000; n++) {
            random_text(&text, 60);
            tokenize(s, &text, n % 2, &tokens);
            assert_int_equal(tokens.count > 0, text.length > 0);
            size_t begin = 0;
            for (size_t i = 0; i < tokens.count; i++) {
                size_t length, end = tokens.ends[i];
                const char *bytes = lg_tokenizer_bytes(t, tokens.ids[i], &length);
                assert_non_null(bytes);
                assert_true(end >= begin && end <= text.length);
                if (g < N_PLAIN) {
                    assert_int_equal(end - begin, length);
                    assert_memory_equal(bytes, text.data + begin, length);
                }
                begin = end;
            }
            assert_int_equal(begin, text.length);
        }
        lg_tokenizer_session_free(s);
        lg_tokenizer_close(t);
    }
    lg_tokens_free(&tokens);
    lg_text_free(&text);
}

static void assert_same(const lg_tokens *a, const lg_tokens *b) {
    assert_int_equal(a->count, b->count);
    if (!a->count) return;
    assert_memory_equal(a->ids, b->ids, a->count * sizeof *a->ids);
    assert_memory_equal(a->ends, b->ends, a->count * sizeof *a->ends);
}

/* A session that has seen many texts, a fresh one, and one that asks PCRE2 for everything agree. */
static void sessions_agree(void **state) {
    (void)state;
    random_state = 2;
    lg_text text = {0};
    lg_tokens used_tokens = {0}, fresh_tokens = {0}, slow_tokens = {0};
    for (int g = 0; g < N_GOLDEN; g++) {
        lg_tokenizer *t = open_golden(golden[g], false), *slow = open_golden(golden[g], true);
        assert_false(t->uses_patterns);
        assert_true(slow->uses_patterns);
        lg_tokenizer_session *used = open_session(t), *slow_session = open_session(slow);
        for (int n = 0; n < 500; n++) {
            random_text(&text, 200);
            tokenize(used, &text, n % 2, &used_tokens);
            tokenize(slow_session, &text, n % 2, &slow_tokens);
            assert_same(&used_tokens, &slow_tokens);
            if (n % 10) continue;
            lg_tokenizer_session *fresh = open_session(t);
            tokenize(fresh, &text, n % 2, &fresh_tokens);
            assert_same(&used_tokens, &fresh_tokens);
            lg_tokenizer_session_free(fresh);
        }
        lg_tokenizer_session_free(used);
        lg_tokenizer_session_free(slow_session);
        lg_tokenizer_close(t);
        lg_tokenizer_close(slow);
    }
    lg_tokens_free(&used_tokens);
    lg_tokens_free(&fresh_tokens);
    lg_tokens_free(&slow_tokens);
    lg_text_free(&text);
}

static void splitters_match_their_patterns(void **state) {
    (void)state;
    lg_classes *classes = lg_classes_create();
    lg_matcher *matcher = lg_matcher_create();
    lg_subject subject = {0};
    lg_text text = {0};
    assert_true(classes && matcher);
    size_t k = 0;
    for (const lg_splitter *s; (s = lg_splitter_at(k)) != NULL; k++) {
        random_state = 3 + k;
        lg_pattern *pattern;
        lg_error error = {0};
        if (lg_pattern_compile(s->pattern, strlen(s->pattern), "x", &pattern, &error))
            fail_msg("%s", error.message);
        for (int n = 0; n < 20000; n++) {
            random_text(&text, 40);
            assert_true(lg_subject_set(&subject, classes, text.data, text.length, false));
            lg_match_state match = {0};
            size_t at = 0, start, end;
            while (at < text.length) {
                assert_int_equal(lg_pattern_next(pattern, matcher, &subject, &match, &start, &end),
                                 LG_MATCH_FOUND);
                start = lg_subject_original(&subject, start);
                end = lg_subject_original(&subject, end);
                size_t length = s->next(classes, (const unsigned char *)text.data + at,
                                        (const unsigned char *)text.data + text.length);
                if (start != at || end != at + length)
                    fail_msg("%s: PCRE2 matches [%zu, %zu), the splitter [%zu, %zu), text %d", s->name, start,
                             end, at, at + length, n);
                at = end;
            }
        }
        lg_pattern_free(pattern);
    }
    assert_int_equal(k, 4);
    lg_subject_free(&subject);
    lg_matcher_free(matcher);
    free(classes);
    lg_text_free(&text);
}

/* ---- merging by its definition ---- */

static uint32_t naive_rank(const lg_bpe *bpe, uint32_t left, uint32_t right, uint32_t *id) {
    for (size_t i = 0; i <= bpe->mask; i++) {
        const lg_pair *p = &bpe->pairs[i];
        if (p->rank == LG_NO_RANK || p->left != left || p->right != right) continue;
        *id = p->id;
        return p->rank;
    }
    return LG_NO_RANK;
}

static size_t naive_merge(const lg_bpe *bpe, const lg_text *piece, uint32_t *ids) {
    size_t n = 0;
    for (size_t i = 0; i < piece->length; i++) ids[n++] = bpe->byte_id[(unsigned char)piece->data[i]];
    for (;;) {
        uint32_t best = LG_NO_RANK, joined = 0, id = 0;
        size_t at = 0;
        for (size_t i = 0; i + 1 < n; i++) {
            uint32_t rank = naive_rank(bpe, ids[i], ids[i + 1], &id);
            if (rank >= best) continue;
            best = rank;
            at = i;
            joined = id;
        }
        if (best == LG_NO_RANK) return n;
        ids[at] = joined;
        memmove(ids + at + 1, ids + at + 2, (n - at - 2) * sizeof *ids);
        n--;
    }
}

static void merging_is_as_defined(void **state) {
    (void)state;
    random_state = 5;
    lg_tokenizer *t = open_golden("small", false);
    lg_bpe_scratch scratch = {0};
    lg_tokens tokens = {0};
    lg_text piece = {0};
    uint32_t ids[1024];
    for (int n = 0; n < 400; n++) {
        static const char *const words[] = {"the",  "ing", " of", "er", "and", "str",
                                            "tion", "a",   "s",   "  ", "in",  "\n"};
        piece.length = 0;
        for (uint32_t k = 1 + random_below(n % 2 ? 5 : 25); k--;)
            lg_text_puts(&piece, random_below(8) ? words[random_below(12)] : parts[random_below(40)]);
        size_t expected = naive_merge(&t->bpe, &piece, ids);
        for (int again = 0; again < 2; again++) { /* merged, then perhaps from the cache */
            tokens.count = 0;
            assert_true(
                lg_bpe_encode(&t->bpe, &scratch, piece.data, piece.length, piece.length, 7, 0, &tokens));
            assert_int_equal(tokens.count, expected);
            assert_memory_equal(tokens.ids, ids, expected * sizeof *ids);
            assert_int_equal(tokens.ends[expected - 1], 7 + piece.length);
        }
    }
    lg_bpe_scratch_free(&scratch);
    lg_tokens_free(&tokens);
    lg_text_free(&piece);
    lg_tokenizer_close(t);
}

/* ---- added tokens by their definition ---- */

static void added_tokens_are_leftmost_longest(void **state) {
    (void)state;
    random_state = 6;
    lg_classes *classes = lg_classes_create();
    for (int n = 0; n < 2000; n++) {
        char texts[8][6], text[40];
        lg_added tokens[8];
        lg_added_key keys[8], sorted[8];
        size_t count = 1 + random_below(8), length = random_below(40);
        for (size_t i = 0; i < count; i++) {
            size_t size = 1 + random_below(5);
            for (size_t k = 0; k < size; k++) texts[i][k] = (char)('a' + random_below(2));
            tokens[i] = (lg_added){.content = texts[i], .length = size, .id = (uint32_t)i};
            sorted[i] = keys[i] = (lg_added_key){texts[i], size, &tokens[i]};
        }
        for (size_t k = 0; k < length; k++) text[k] = (char)('a' + random_below(3) % 3);
        lg_added_set set;
        lg_added_set_build(&set, sorted, count);
        lg_added_scan scan = {
            .set = &set, .classes = classes, .text = (unsigned char *)text, .length = length};
        size_t at = 0, start, stop;
        for (;;) {
            const lg_added *expected = NULL;
            for (; at < length && !expected; at += !expected)
                for (size_t i = 0; i < count; i++)
                    if (keys[i].length <= length - at &&
                        memcmp(text + at, keys[i].text, keys[i].length) == 0 &&
                        (!expected || keys[i].length > expected->length))
                        expected = &tokens[i];
            const lg_added *found = lg_added_next(&scan, &start, &stop);
            assert_ptr_equal(found, expected);
            if (!found) break;
            assert_int_equal(start, at);
            assert_int_equal(stop, at + expected->length);
            at = stop;
        }
    }
    free(classes);
}

/* ---- long texts ---- */

static void long_texts_are_no_problem(void **state) {
    (void)state;
    static const char *const units[] = {"a",  " ",  "\n",     "1", ".",  "\u0301", "\xff",
                                        "'s", "a ", "\u4e2d", "<", "ab", " \n",    "\t "};
    static const char *const folders[] = {"small", "neox"};
    enum { SIZE = 5 << 20 };
    lg_text text = {0};
    lg_tokens tokens = {0};
    for (int g = 0; g < 2; g++)
        for (int slow = 0; slow < 2; slow++) {
            lg_tokenizer *t = open_golden(folders[g], slow);
            lg_tokenizer_session *s = open_session(t);
            for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
                /* the whole length only once for each unit */
                size_t size = (u + (size_t)g) % 4 == 0 ? SIZE : 100000;
                text.length = 0;
                while (text.length < size) lg_text_puts(&text, units[u]);
                tokenize(s, &text, false, &tokens);
                assert_true(tokens.count > 0);
                assert_int_equal(tokens.ends[tokens.count - 1], text.length);
            }
            lg_tokenizer_session_free(s);
            lg_tokenizer_close(t);
        }
    lg_tokens_free(&tokens);
    lg_text_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_kept),
        cmocka_unit_test(sessions_agree),
        cmocka_unit_test(splitters_match_their_patterns),
        cmocka_unit_test(merging_is_as_defined),
        cmocka_unit_test(added_tokens_are_leftmost_longest),
        cmocka_unit_test(long_texts_are_no_problem),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
