/* Delimiters, their partners, depths and distances against the definition, on thousands of random documents.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tag/code.h"
#include "tag/tag_internal.h"

static uint64_t state = 1;

static uint32_t draw(uint32_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % below);
}

enum { MAX = 400, PARSED = 1, TEXT = 2, ANGLES = 3, APART = 4 };

/* A delimiter by the definition. Region: PARSED, TEXT, ANGLES, or APART plus the leaf's number. */
typedef struct mark {
    size_t begin, end;
    unsigned delimiter, region;
    char key[40];
    bool open; /* an opening one that nothing has closed yet */
    size_t partner, depth;
} mark;

typedef struct marks {
    mark m[MAX];
    size_t n;
} marks;

static void add(marks *all, size_t begin, size_t end, unsigned delimiter, unsigned region, const char *key,
                size_t key_length) {
    mark *m = &all->m[all->n];
    *m = (mark){.begin = begin, .end = end, .delimiter = delimiter, .region = region, .partner = SIZE_MAX};
    assert_true(key_length < sizeof m->key);
    memcpy(m->key, key, key_length);
    m->key[key_length] = 0;
    if (delimiter % 2) {
        m->open = true;
        for (size_t i = 0; i <= all->n; i++) /* what is around a leaf that keeps to itself counts too */
            m->depth += all->m[i].open && !(delimiter == LG_OPEN_TAG && all->m[i].region == ANGLES);
    } else {
        for (size_t i = all->n; i-- > 0 && m->partner == SIZE_MAX;)
            if (all->m[i].open && all->m[i].region == region && strcmp(all->m[i].key, m->key) == 0)
                m->partner = i;
        if (m->partner != SIZE_MAX) {
            m->depth = all->m[m->partner].depth;
            for (size_t i = m->partner; i < all->n; i++)
                if (all->m[i].region == region) all->m[i].open = false;
        }
    }
    all->n++;
}

static bool pending(const marks *all, unsigned region, const char *key) {
    for (size_t i = 0; i < all->n; i++)
        if (all->m[i].open && all->m[i].region == region && strcmp(all->m[i].key, key) == 0) return true;
    return false;
}

static bool is_letter(const char *text, size_t n, size_t at) {
    return at < n && (text[at] == 'a' || text[at] == '9');
}

/* Brackets and quotes of text [begin, end). */
static void scan(marks *all, const char *text, size_t begin, size_t end, size_t n, unsigned region,
                 bool prose) {
    static const char *const pairs[] = {"()", "[]", "{}"};
    static const struct {
        const char *open, *close, *key;
    } quotes[] = {{"\xE2\x80\x9C", "\xE2\x80\x9D", "q2"},
                  {"\xE2\x80\x98", "\xE2\x80\x99", "q1"},
                  {"\xC2\xAB", "\xC2\xBB", "qg"}};
    for (size_t i = begin; i < end;) {
        size_t left = end - i;
        if (text[i] == '\n') { /* a blank line before it? */
            size_t k = i;
            while (k > begin && (unsigned char)text[k - 1] <= ' ' && text[k - 1] != '\n') k--;
            size_t lines = 1; /* every second newline of white space ends a paragraph once */
            for (size_t j = k; j > begin && (unsigned char)text[j - 1] <= ' '; j--)
                lines += text[j - 1] == '\n';
            if (lines == 2)
                for (size_t q = 0; q < all->n; q++)
                    if (all->m[q].open && all->m[q].region == region && (prose || all->m[q].key[0] == 'q')) {
                        for (; q < all->n; q++)
                            if (all->m[q].region == region) all->m[q].open = false;
                    }
        }
        if (text[i] == '"') {
            add(all, i, i + 1, pending(all, region, "q") ? LG_CLOSE_QUOTE : LG_OPEN_QUOTE, region, "q", 1);
            i++;
            continue;
        }
        bool found = false;
        size_t eyes = i; /* :( and ;-) are no brackets */
        if (eyes > begin && strchr("-'", text[eyes - 1])) eyes--;
        if (strchr("()[]{}", text[i]) && eyes > begin && strchr(":;", text[eyes - 1]) &&
            (eyes - 1 == begin || strchr(" \n", text[eyes - 2]))) {
            i++;
            continue;
        }
        for (unsigned p = 0; p < 3 && !found; p++)
            for (unsigned side = 0; side < 2; side++)
                if (text[i] == pairs[p][side]) {
                    add(all, i, i + 1, LG_OPEN_ROUND + 2 * p + side, region, pairs[p], 2);
                    found = true;
                }
        if (found) {
            i++;
            continue;
        }
        if (left >= 2 && memcmp(text + i, "``", 2) == 0) {
            add(all, i, i + 2, pending(all, region, "qt") ? LG_CLOSE_QUOTE : LG_OPEN_QUOTE, region, "qt", 2);
            i += 2;
            continue;
        }
        if (left >= 2 && memcmp(text + i, "''", 2) == 0 && pending(all, region, "qt")) {
            add(all, i, i + 2, LG_CLOSE_QUOTE, region, "qt", 2);
            i += 2;
            continue;
        }
        for (size_t q = 0; q < 3 && !found; q++) {
            size_t length = strlen(quotes[q].open);
            if (left < length) continue;
            bool opens = memcmp(text + i, quotes[q].open, length) == 0,
                 closes = memcmp(text + i, quotes[q].close, length) == 0;
            if (closes &&
                q == 1) { /* an apostrophe, unless it closes something and stands at a word's edge */
                if (!pending(all, region, "q1")) closes = false;
                if (i && is_letter(text, n, i - 1) && is_letter(text, n, i + 3)) closes = false;
            }
            if (opens && q == 1 && i + 3 < n && text[i + 3] == '9') opens = false; /* ‘90s */
            if (!opens && !closes) continue;
            add(all, i, i + length, opens ? LG_OPEN_QUOTE : LG_CLOSE_QUOTE, region, quotes[q].key, 2);
            i += length;
            found = true;
        }
        if (!found) i++;
    }
}

static size_t append(char *text, size_t n, const char *piece) {
    size_t length = strlen(piece);
    memcpy(text + n, piece, length);
    return n + length;
}

/* A leaf tag of lg_code_tags with these properties; SIZE_MAX: the table has none. */
static size_t leaf_tag(unsigned delimiter, bool prose, bool flows) {
    for (size_t i = 0; lg_code_tags[i].name; i++) {
        uint8_t f = lg_code_tags[i].family;
        bool flowing = f == LG_FAMILY_TEXT || f == LG_FAMILY_GROUP_TEXT || f == LG_FAMILY_MATH;
        if (lg_code_tags[i].delimiter == delimiter && lg_code_tags[i].prose == prose &&
            (!prose || flowing == flows))
            return i;
    }
    return SIZE_MAX;
}

static void check(const lg_tag_document *d, const marks *want) {
    lg_spans spans = {0};
    static uint8_t single[4 * MAX];
    static uint16_t depth[4 * MAX];
    static uint32_t distance[4 * MAX], bits[4 * MAX];
    void *columns[] = {single, depth, distance, bits};
    const lg_tag_maker *maker = NULL;
    for (size_t i = 0; lg_tag_makers[i]; i++)
        if (strcmp(lg_tag_makers[i]->name, "delimiter") == 0) maker = lg_tag_makers[i];
    assert_non_null(maker);
    lg_tag_document own = *d;
    own.scratch = maker->start(NULL);
    assert_true(maker->make_spans(maker, &own, &spans));
    assert_true(maker->fill(maker, &own, &spans, columns));
    assert_int_equal(spans.count, want->n);
    for (size_t i = 0; i < want->n; i++) {
        assert_int_equal(spans.begin[i], want->m[i].begin);
        assert_int_equal(spans.end[i], want->m[i].end);
        assert_int_equal(spans.tag[i] + 1u, want->m[i].delimiter);
    }
    for (size_t t = 0; t < d->n_tokens; t++) {
        size_t begin = lg_tag_token_begin(d, t), end = lg_tag_token_end(d, t),
               first = lg_tag_token_first(d, t);
        uint32_t want_bits = 0;
        unsigned want_single = 0;
        size_t want_depth = 0, want_distance = 0;
        for (size_t i = 0; i < want->n; i++) {
            const mark *m = &want->m[i];
            if (begin < end && m->begin < end && m->end > (first < end ? first : begin))
                want_bits |= 1u << m->delimiter;
            if (first == end || first < m->begin || first >= m->end) continue;
            want_single = m->delimiter;
            want_depth = m->depth;
            if (m->partner == SIZE_MAX) continue;
            size_t opener = 0; /* the token that holds the opener's first byte */
            while (lg_tag_token_end(d, opener) <= want->m[m->partner].begin) opener++;
            want_distance = t - opener;
        }
        assert_int_equal(single[t], want_single);
        assert_int_equal(depth[t], want_depth);
        assert_int_equal(distance[t], want_distance);
        assert_int_equal(bits[t], want_bits ? want_bits : 1);
    }
    maker->stop(own.scratch);
    lg_spans_free(&spans);
}

static void cut_tokens(lg_tag_document *d, uint64_t *ends) {
    size_t n = 0;
    for (size_t at = 0; at < d->n_bytes;) {
        at += draw(5);
        ends[n++] = at < d->n_bytes ? at : d->n_bytes;
    }
    d->ends = ends;
    d->n_tokens = n;
}

static const char *const pieces[] = {"(",
                                     ")",
                                     "[",
                                     "]",
                                     "{",
                                     "}",
                                     "\"",
                                     "'",
                                     "`",
                                     "\xE2\x80\x98",
                                     "\xE2\x80\x99",
                                     "\xE2\x80\x9C",
                                     "\xE2\x80\x9D",
                                     "\xC2\xAB",
                                     "\xC2\xBB",
                                     "a",
                                     "a",
                                     " ",
                                     "\n",
                                     "\n\n",
                                     "\xE2\x80\x94",
                                     ":",
                                     ";",
                                     "-",
                                     "9"};
enum { N_PIECES = sizeof pieces / sizeof *pieces };

static void test_prose(void **unused) {
    (void)unused;
    static const lg_tag_options options = {0};
    lg_tag_context context = {.options = &options};
    lg_spans layers[LG_MAX_TAG_MAKERS] = {0};
    for (int round = 0; round < 4000; round++) {
        char text[MAX];
        uint8_t classes[MAX];
        uint64_t ends[4 * MAX];
        static marks want;
        size_t n = 0, kinds = 2 + draw(N_PIECES - 1), length = draw(round % 8 ? 30 : 120);
        for (size_t i = 0; i < length; i++)
            n = append(text, n, pieces[draw(3) ? draw((uint32_t)kinds) : draw(N_PIECES)]);
        want.n = 0;
        scan(&want, text, 0, n, n, TEXT, true);
        lg_classify(text, n, classes);
        lg_tag_document d = {.context = &context,
                             .text = text,
                             .classes = classes,
                             .n_bytes = n,
                             .kind = LG_PROSE,
                             .layers = layers};
        cut_tokens(&d, ends);
        check(&d, &want);
    }
}

/* Leaves as a parser might make them: delimiters with names, text that flows on, strings and comments. */
static void test_leaves(void **unused) {
    (void)unused;
    static const lg_tag_options options = {0};
    lg_tag_context context = {.options = &options};
    lg_spans layers[LG_MAX_TAG_MAKERS] = {0};
    lg_spans *leaves = &layers[lg_tag_place(&lg_maker_code)];
    size_t flowing = leaf_tag(LG_NO_DELIMITER, true, true), apart = leaf_tag(LG_NO_DELIMITER, true, false);
    static const char *const names[] = {"p", "P", "div"}, *const environments[] = {"{p}", "[x]{P}", "{div}"};
    assert_true(apart != SIZE_MAX);
    for (int round = 0; round < 4000; round++) {
        char text[MAX];
        uint8_t classes[MAX];
        uint64_t ends[4 * MAX];
        static marks want;
        lg_kind kind = (lg_kind)(1 + draw(3));
        size_t n = 0, n_leaves = draw(40);
        struct {
            size_t end, tag;
        } leaf[40];
        for (size_t i = 0; i < n_leaves; i++) {
            unsigned what = draw(4);
            if (what == 0) {
                leaf[i].tag = draw(2) && flowing != SIZE_MAX ? flowing : apart;
                size_t length = draw(4);
                for (size_t k = 0; k <= length; k++) n = append(text, n, pieces[draw(N_PIECES)]);
            } else {
                unsigned delimiter = 1 + draw(LG_N_DELIMITERS - 1);
                leaf[i].tag = leaf_tag(delimiter, false, false);
                if (leaf[i].tag == SIZE_MAX) leaf[i].tag = 0;
                delimiter = lg_code_tags[leaf[i].tag].delimiter;
                if (delimiter == LG_OPEN_TAG || delimiter == LG_CLOSE_TAG)
                    n = append(text, n, names[draw(3)]);
                else if (delimiter == LG_OPEN_ENVIRONMENT || delimiter == LG_CLOSE_ENVIRONMENT)
                    n = append(text, append(text, n, "\\b"), environments[draw(3)]);
                else n = append(text, n, "(");
            }
            leaf[i].end = n;
        }
        want.n = 0;
        leaves->count = 0;
        for (size_t i = 0, begin = 0; i < n_leaves; begin = leaf[i++].end) {
            const lg_code_tag *tag = &lg_code_tags[leaf[i].tag];
            assert_true(lg_spans_add(leaves, begin, leaf[i].end, (uint16_t)leaf[i].tag));
            unsigned region = leaf[i].tag == flowing ? TEXT : APART + (unsigned)i;
            if (tag->prose) {
                scan(&want, text, begin, leaf[i].end, n, region, false);
                for (size_t k = 0; k < want.n; k++)
                    if (want.m[k].region >= APART) want.m[k].open = false;
            } else if (tag->delimiter) {
                char key[40];
                size_t length = leaf[i].end - begin;
                memcpy(key, text + begin, length);
                unsigned kind_of = (tag->delimiter - 1u) / 2;
                if (tag->delimiter < LG_OPEN_TAG || tag->delimiter > LG_CLOSE_ENVIRONMENT) {
                    length = 1;
                    key[0] = (char)('0' + kind_of);
                } else if (kind_of == 5) { /* what stands in braces */
                    size_t from = (size_t)(strchr(memcpy(key, text + begin, length), '{') - key);
                    memmove(key, key + from, length - from);
                    length -= from;
                }
                if (kind == LG_HTML)
                    for (size_t k = 0; k < length; k++) key[k] = key[k] == 'P' ? 'p' : key[k];
                bool angle = tag->delimiter == LG_OPEN_ANGLE || tag->delimiter == LG_CLOSE_ANGLE;
                add(&want, begin, leaf[i].end, tag->delimiter, angle ? ANGLES : PARSED, key, length);
            }
        }
        lg_classify(text, n, classes);
        lg_tag_document d = {.context = &context,
                             .text = text,
                             .classes = classes,
                             .n_bytes = n,
                             .kind = kind,
                             .layers = layers};
        cut_tokens(&d, ends);
        check(&d, &want);
    }
    lg_spans_free(leaves);
}

/* Time that does not grow with the square, whatever the names: these take minutes if it does. */
static void test_deep(void **unused) {
    (void)unused;
    enum { N = 2000000 };
    static const lg_tag_options options = {0};
    lg_tag_context context = {.options = &options};
    lg_spans layers[LG_MAX_TAG_MAKERS] = {0}, spans = {0};
    char *text = malloc(N);
    uint8_t *classes = malloc(N);
    assert_true(text && classes);
    for (int shape = 0; shape < 3; shape++) {
        for (size_t i = 0; i < N; i++)
            text[i] = shape == 0 ? "()"[i >= N / 2] : shape == 1 ? "(]"[i & 1] : "(\"\n\n"[i & 3];
        lg_classify(text, N, classes);
        lg_tag_document d = {.context = &context,
                             .text = text,
                             .classes = classes,
                             .n_bytes = N,
                             .kind = LG_PROSE,
                             .layers = layers};
        for (size_t i = 0; lg_tag_makers[i]; i++) {
            if (strcmp(lg_tag_makers[i]->name, "delimiter") != 0) continue;
            d.scratch = lg_tag_makers[i]->start(NULL);
            spans.count = 0;
            assert_true(lg_tag_makers[i]->make_spans(lg_tag_makers[i], &d, &spans));
            assert_int_equal(spans.count, shape == 2 ? N / 2 : N);
            lg_tag_makers[i]->stop(d.scratch);
        }
    }
    lg_spans_free(&spans);
    free(text);
    free(classes);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_prose), cmocka_unit_test(test_leaves),
                                       cmocka_unit_test(test_deep)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
