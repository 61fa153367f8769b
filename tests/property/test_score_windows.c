/* Windows against a brute-force reading of the method, for thousands of random datasets, lengths and strides.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "score/windows.h"

enum { PREFIX = 1000000, MOST_DOCS = 6, MOST_TOKENS = 64 };

static uint64_t seed = 88172645463325252u;

static size_t draw(size_t below) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (size_t)(seed % below);
}

typedef struct corpus {
    lg_dataset data;
    uint64_t ends[MOST_DOCS];
    uint32_t ids[MOST_DOCS * MOST_TOKENS];
} corpus;

static void make_corpus(corpus *c, size_t most) {
    size_t n = 0;
    memset(c, 0, sizeof *c);
    c->data.n_docs = draw(MOST_DOCS + 1);
    for (size_t d = 0; d < c->data.n_docs; d++) {
        n += draw(4) ? draw(most + 1) : draw(3);
        c->ends[d] = n;
    }
    for (size_t i = 0; i < n; i++)
        c->ids[i] = (uint32_t)i; /* all different, so that a row shows where it is from */
    c->data.n_tokens = n;
    c->data.doc_token_end = c->ends;
    c->data.token_id = c->ids;
}

/* What the method says of one token: its row by elements, its place in it, whether it is scored. */
typedef struct expected {
    uint32_t y[MOST_DOCS * (MOST_TOKENS + 1)];
    size_t n, context;
    bool scored;
} expected;

/* Document windows, from the definition: the earliest row that holds y[e] as a target. */
static void expect_document(const corpus *c, size_t L, size_t s, bool prefix, size_t doc, size_t i,
                            expected *e) {
    uint32_t y[MOST_TOKENS + 1];
    size_t begin = lg_begin_of(c->ends, doc), n = 0;
    if (prefix) y[n++] = PREFIX;
    for (size_t t = begin; t < c->ends[doc]; t++) y[n++] = c->ids[t];
    size_t element = i + prefix;
    e->scored = element > 0;
    for (size_t k = 0;; k++) {
        size_t start = k * s, end = start + L + 1 < n ? start + L + 1 : n;
        if (element >= end) continue;
        if (k == 0 || element > start) {
            e->n = end - start;
            e->context = element - start;
            memcpy(e->y, y + start, e->n * sizeof *y);
            return;
        }
    }
}

static void expect_paper(const corpus *c, size_t L, size_t doc, size_t i, expected *e) {
    static uint32_t stream[MOST_DOCS * (MOST_TOKENS + 1)];
    size_t n = 0, at = 0;
    for (size_t d = 0; d < c->data.n_docs; d++) {
        for (size_t t = lg_begin_of(c->ends, d); t < c->ends[d]; t++) {
            if (d == doc && t == lg_begin_of(c->ends, d) + i) at = n;
            stream[n++] = c->ids[t];
        }
        stream[n++] = PREFIX;
    }
    size_t start = at / L * L;
    e->n = start + L < n ? L : n - start;
    e->context = at - start;
    e->scored = at > start;
    memcpy(e->y, stream + start, e->n * sizeof *stream);
}

static void check(const corpus *c, const lg_window_settings *settings) {
    static uint32_t y[MOST_DOCS * (MOST_TOKENS + 1)], position[MOST_DOCS * MOST_TOKENS];
    static expected e;
    lg_window_walk walk;
    lg_window w;
    size_t next = 0, doc = 0, longest = 0, bound = lg_window_longest(settings, &c->data);
    lg_window_start(&walk, settings, &c->data);
    while (lg_window_next(&walk, &w)) {
        assert_int_equal(w.begin, next); /* rows own rising ranges without a gap */
        assert_true(w.end > w.begin);
        assert_true(w.n <= bound);
        if (w.n > longest) longest = w.n;
        size_t scored = lg_window_elements(settings, &c->data, &w, y, position), count = 0;
        for (size_t t = w.begin; t < w.end; t++) {
            while (c->ends[doc] <= t) doc++;
            size_t i = t - lg_begin_of(c->ends, doc);
            if (settings->kind == LG_WINDOWS_PAPER) expect_paper(c, settings->context, doc, i, &e);
            else expect_document(c, settings->context, settings->stride, settings->prefix >= 0, doc, i, &e);
            uint32_t p = position[t - w.begin];
            assert_int_equal(p, e.context);
            assert_int_equal(w.n, e.n);
            assert_memory_equal(y, e.y, e.n * sizeof *y);
            assert_int_equal(p >= w.first, e.scored);
            assert_int_equal(y[p], c->ids[t]);
            count += e.scored;
        }
        assert_int_equal(scored, count);
        next = w.end;
    }
    assert_int_equal(next, c->data.n_tokens); /* every token, once */
    if (next && settings->kind == LG_WINDOWS_DOCUMENT) assert_int_equal(longest, bound);
}

static void windows_are_those_of_the_method(void **state) {
    (void)state;
    static corpus c;
    for (int i = 0; i < 20000; i++) {
        make_corpus(&c, 1 + draw(MOST_TOKENS));
        size_t L = 1 + draw(draw(2) ? 8 : MOST_TOKENS + 10);
        lg_window_settings settings = {LG_WINDOWS_DOCUMENT, L, 1 + draw(L),
                                       draw(2) ? PREFIX : LG_PREFIX_NONE};
        check(&c, &settings);
    }
}

static void paper_windows_are_those_of_the_method(void **state) {
    (void)state;
    static corpus c;
    for (int i = 0; i < 20000; i++) {
        make_corpus(&c, 1 + draw(MOST_TOKENS));
        lg_window_settings settings = {LG_WINDOWS_PAPER, 2 + draw(draw(2) ? 8 : 500), 0, PREFIX};
        check(&c, &settings);
    }
}

/* Rows of one hash have the same elements, the same first target and the same owned places. */
static void equal_hash_means_equal_row(void **state) {
    (void)state;
    enum { MOST = 4096 };
    static struct {
        lg_hash hash;
        uint32_t y[12], position[12], n, first, owned;
    } seen[MOST];
    size_t n_seen = 0;
    static corpus c;
    lg_hasher *hasher = lg_hasher_create();
    while (n_seen < MOST) {
        make_corpus(&c, 12);
        for (size_t i = 0; i < c.data.n_tokens; i++) c.ids[i] = (uint32_t)draw(2);
        size_t L = 2 + draw(8);
        bool paper = draw(2);
        lg_window_settings settings = {paper ? LG_WINDOWS_PAPER : LG_WINDOWS_DOCUMENT, L,
                                       paper ? 0 : 1 + draw(L), 1};
        lg_window_walk walk;
        lg_window w;
        lg_window_start(&walk, &settings, &c.data);
        while (lg_window_next(&walk, &w) && n_seen < MOST) {
            uint32_t y[12] = {0}, position[12] = {0};
            lg_window_elements(&settings, &c.data, &w, y, position);
            lg_hash hash = lg_window_hash(&w, y, position, hasher);
            size_t i = 0;
            bool same = false;
            for (; i < n_seen && !same; i++) {
                same = seen[i].n == w.n && seen[i].first == w.first && seen[i].owned == w.end - w.begin &&
                       !memcmp(seen[i].y, y, sizeof y) &&
                       !memcmp(seen[i].position, position, sizeof position);
                assert_int_equal(same, lg_hash_equal(seen[i].hash, hash));
            }
            if (same) continue;
            seen[n_seen].hash = hash;
            memcpy(seen[n_seen].y, y, sizeof y);
            memcpy(seen[n_seen].position, position, sizeof position);
            seen[n_seen].n = w.n;
            seen[n_seen].first = w.first;
            seen[n_seen++].owned = (uint32_t)(w.end - w.begin);
        }
    }
    lg_hasher_free(hasher);
}

static void settings_have_defaults_and_limits(void **state) {
    (void)state;
    lg_window_settings s;
    lg_error error = {0};
    lg_score_options o = {0};
    assert_int_equal(lg_window_settings_make(&o, 65536, 7, &s, &error), LG_OK);
    assert_int_equal(s.context, 8192);
    assert_int_equal(s.stride, 4096);
    assert_int_equal(lg_window_settings_make(&o, 1024, 7, &s, &error), LG_OK);
    assert_int_equal(s.context, 1024);
    o.context = 4096; /* more than the model was made for, when asked */
    assert_int_equal(lg_window_settings_make(&o, 1024, 7, &s, &error), LG_OK);
    assert_int_equal(s.context, 4096);
    assert_int_equal(s.stride, 2048);
    o.context = 1;
    assert_int_equal(lg_window_settings_make(&o, 1024, 7, &s, &error), LG_OK);
    assert_int_equal(s.stride, 1);
    o.stride = 2;
    assert_int_equal(lg_window_settings_make(&o, 1024, 7, &s, &error), LG_USAGE);
    assert_non_null(strstr(error.message, "stride of 2"));
    o = (lg_score_options){.windows = LG_WINDOWS_PAPER};
    assert_int_equal(lg_window_settings_make(&o, 1024, LG_PREFIX_NONE, &s, &error), LG_USAGE);
    assert_non_null(strstr(error.message, "--prefix"));
    assert_int_equal(lg_window_settings_make(&o, 1024, 0, &s, &error), LG_OK);
    assert_int_equal(s.stride, 0);
    o.stride = 5;
    assert_int_equal(lg_window_settings_make(&o, 1024, 0, &s, &error), LG_USAGE);
    o = (lg_score_options){.windows = LG_WINDOWS_PAPER, .context = 1};
    assert_int_equal(lg_window_settings_make(&o, 1024, 0, &s, &error), LG_USAGE);
    o = (lg_score_options){.context = UINT32_MAX};
    assert_int_equal(lg_window_settings_make(&o, 1024, 0, &s, &error), LG_USAGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_are_those_of_the_method),
        cmocka_unit_test(paper_windows_are_those_of_the_method),
        cmocka_unit_test(equal_hash_means_equal_row),
        cmocka_unit_test(settings_have_defaults_and_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
