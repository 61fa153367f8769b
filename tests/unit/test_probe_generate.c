/* Generated probe items: distances exact by the tokenizer, cells in balance, nothing twice, the same by any
   order and number. */
#include "fixture.h"

#include <ctype.h>

#include "probe/words.h"
#include "probe_items_helper.h"
#include "tokenizer_fixture.h"

#define COUNT(list) (sizeof list / sizeof *list)

static lg_probe_options options_of(unsigned kinds, const uint64_t *distances, size_t n, size_t count) {
    static const uint64_t lengths[] = {2, 5, 33};
    lg_probe_options o = LG_PROBE_OPTIONS_INIT;
    o.kinds = kinds;
    o.distances = distances;
    o.n_distances = n;
    o.lengths = lengths;
    o.n_lengths = 3;
    o.groups = "S5";
    o.count = count;
    return o;
}

/* ---- what every item keeps ---- */

typedef struct checked {
    lg_tokenizer_session *session;
    lg_tokens prompt, both;
    lg_text text;
} checked;

/* Bytes from the end of the last span that binds to the beginning of the query (or the prompt's end). */
static void find_distance(const lg_probe_item *item, size_t *from, size_t *to) {
    *from = 0;
    *to = item->prompt_length;
    for (size_t i = 0; i < item->n_spans; i++) {
        const lg_probe_span *s = &item->spans[i];
        if ((strcmp(s->role, "binding") == 0 || strcmp(s->role, "rename") == 0) && s->end > *from)
            *from = s->end;
        if (strcmp(s->role, "query") == 0) *to = s->begin;
    }
    assert_true(*from > 0);
}

static void check_item(checked *c, const lg_probe_item *item) {
    lg_error error = {0};
    assert_int_equal(lg_tokenize(c->session, item->prompt, item->prompt_length, false, &c->prompt, &error),
                     LG_OK);
    if (strncmp(item->probe, "word_problem/", 13) != 0) {
        size_t from, to, begin = 0, between = 0;
        find_distance(item, &from, &to);
        bool boundary = false;
        for (size_t t = 0; t < c->prompt.count; begin = c->prompt.ends[t++]) {
            boundary |= c->prompt.ends[t] == from;
            between += begin >= from && c->prompt.ends[t] <= to;
        }
        if (!boundary || between != item->distance)
            fail_msg("%s: %zu tokens between binding and query: %.*s", item->id, between,
                     (int)item->prompt_length, item->prompt);
    }
    size_t first = 0;
    for (size_t k = 0; k < item->n_choices; k++) {
        c->text.length = 0;
        lg_text_put(&c->text, item->prompt, item->prompt_length);
        lg_text_put(&c->text, item->choices[k].text, item->choices[k].length);
        assert_int_equal(lg_tokenize(c->session, c->text.data, c->text.length, false, &c->both, &error),
                         LG_OK);
        assert_true(c->both.count > c->prompt.count);
        assert_memory_equal(c->both.ids, c->prompt.ids, c->prompt.count * sizeof *c->prompt.ids);
        assert_int_equal(c->both.ends[c->prompt.count - 1], item->prompt_length);
        if (!k) first = c->both.count;
        /* he and she, or the closers, are what they are; what is drawn is drawn to be equal */
        if (strcmp(item->probe, "pronoun") != 0 && strcmp(item->probe, "closure") != 0)
            assert_int_equal(c->both.count, first);
    }
}

static int compare_strings(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void check_unique(const lg_probe_items *items) {
    size_t n = lg_probe_n_items(items);
    const char **prompts = malloc(n * sizeof *prompts);
    for (size_t i = 0; i < n; i++) prompts[i] = lg_probe_item_at(items, i)->prompt;
    qsort(prompts, n, sizeof *prompts, compare_strings);
    for (size_t i = 1; i < n; i++)
        if (strcmp(prompts[i - 1], prompts[i]) == 0) fail_msg("twice: %s", prompts[i]);
    free(prompts);
}

static void check_all(const lg_tokenizer *tokenizer, const lg_probe_items *items) {
    checked c = {0};
    lg_error error = {0};
    assert_int_equal(lg_tokenizer_session_create(tokenizer, &c.session, &error), LG_OK);
    for (size_t i = 0; i < lg_probe_n_items(items); i++) {
        const lg_probe_item *item = lg_probe_item_at(items, i);
        assert_string_equal(item->tokenizer, lg_tokenizer_identity(tokenizer));
        check_item(&c, item);
    }
    check_unique(items);
    lg_tokenizer_session_free(c.session);
    lg_tokens_free(&c.prompt);
    lg_tokens_free(&c.both);
    lg_text_free(&c.text);
}

static void exact_with_small_tokenizer(void **state) {
    (void)state;
    static const uint64_t distances[] = {32, 33, 100, 512};
    static const char *const fillers[] = {"grammar", "words"};
    lg_tokenizer *tokenizer = small_tokenizer();
    for (size_t f = 0; f < COUNT(fillers); f++) {
        lg_probe_options o = options_of(0, distances, COUNT(distances), 50);
        o.filler = fillers[f];
        lg_probe_items *items = generate(tokenizer, &o);
        /* sets of 4, 8, 8, 24, and 4 for the 3 lengths of the word problem */
        assert_int_equal(lg_probe_n_items(items), 4 * (52 + 56 + 56 + 72) + 3 * 52);
        check_all(tokenizer, items);
        lg_probe_items_free(items);
    }
    lg_tokenizer_close(tokenizer);
}

static void exact_with_shared_tokenizers(void **state) {
    (void)state;
    static const char *const names[] = {"dolma2",
                                        "gpt2",
                                        "neox",
                                        "neox-overlap",
                                        "neox-strip-both",
                                        "neox-normalized",
                                        "small",
                                        "small-ignore-merges"};
    static const uint64_t distances[] = {32, 200};
    size_t seen = 0;
    for (size_t i = 0; i < COUNT(names); i++) {
        char folder[512];
        snprintf(folder, sizeof folder, "%s/golden/tokenizers/%s", shared_folder(), names[i]);
        lg_tokenizer *tokenizer = open_tokenizer(folder);
        if (!tokenizer) continue;
        seen++;
        lg_probe_options o = options_of(0, distances, COUNT(distances), 24);
        lg_probe_items *items = generate(tokenizer, &o);
        check_all(tokenizer, items);
        lg_probe_items_free(items);
        lg_tokenizer_close(tokenizer);
    }
    if (!seen) {
        print_message("skipped: no tokenizers in %s/golden (LG_SHARED says where)\n", shared_folder());
        skip();
    }
}

/* ---- balance ---- */

typedef struct tally {
    const char *cells[64];
    size_t items[64], answers[64][16], n;
} tally;

static void count_cell(tally *t, const lg_probe_item *item) {
    size_t c = 0;
    while (c < t->n && strcmp(t->cells[c], item->cell) != 0) c++;
    if (c == t->n) t->cells[t->n++] = item->cell;
    t->items[c]++;
    t->answers[c][item->answer]++;
}

static void cells_in_balance(void **state) {
    (void)state;
    static const uint64_t distance[] = {48};
    static const struct {
        unsigned kind;
        size_t cells, set;
    } cases[] = {{LG_PROBE_PRONOUN, 4, 4},
                 {LG_PROBE_ENTITY, 8, 8},
                 {LG_PROBE_CLOSURE, 8, 8},
                 {LG_PROBE_DISCOURSE, 24, 24}};
    lg_tokenizer *tokenizer = small_tokenizer();
    for (size_t k = 0; k < COUNT(cases); k++) {
        lg_probe_options o = options_of(1u << cases[k].kind, distance, 1, 3 * cases[k].set - 1);
        lg_probe_items *items = generate(tokenizer, &o);
        tally t = {0};
        assert_int_equal(lg_probe_n_items(items), 3 * cases[k].set); /* rounded up to whole sets */
        for (size_t i = 0; i < lg_probe_n_items(items); i++) {
            const lg_probe_item *item = lg_probe_item_at(items, i);
            count_cell(&t, item);
            const char *group = lg_probe_item_at(items, i / cases[k].set * cases[k].set)->group;
            if (cases[k].kind != LG_PROBE_DISCOURSE) assert_string_equal(item->group, group);
            else assert_string_equal(item->group, item->id);
        }
        assert_int_equal(t.n, cases[k].cells);
        for (size_t c = 0; c < t.n; c++) assert_int_equal(t.items[c], 3);
        lg_probe_items_free(items);
    }
    lg_tokenizer_close(tokenizer);
}

static bool starts(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

/* Every condition of pronoun memory, read from the prompts themselves. */
static void pronouns(void **state) {
    (void)state;
    static const uint64_t distance[] = {40};
    lg_tokenizer *tokenizer = small_tokenizer();
    lg_probe_options o = options_of(1u << LG_PROBE_PRONOUN, distance, 1, 80);
    lg_probe_items *items = generate(tokenizer, &o);
    size_t n_he, n_she, seen[2][2][2] = {{{0}}};
    const char *const *he = lg_word_list_of(LG_NAMES_HE, &n_he), *const *she =
                                                                     lg_word_list_of(LG_NAMES_SHE, &n_she);
    for (size_t i = 0; i < 80; i++) {
        const lg_probe_item *item = lg_probe_item_at(items, i);
        char name[2][32], role[2][32], asked[32];
        const char *query = item->prompt + item->spans[2].begin;
        assert_int_equal(sscanf(item->prompt, "%31s is the %31[a-z]. %31s is the %31[a-z].", name[0], role[0],
                                name[1], role[1]),
                         4);
        assert_int_equal(sscanf(query, "The %31[a-z]", asked), 1);
        assert_string_equal(item->prompt + item->prompt_length - 5, ", and");
        bool is_he[2] = {false, false}, is_she[2] = {false, false};
        for (size_t k = 0; k < 2; k++) {
            for (size_t w = 0; w < n_he; w++) is_he[k] |= strcmp(he[w], name[k]) == 0;
            for (size_t w = 0; w < n_she; w++) is_she[k] |= strcmp(she[w], name[k]) == 0;
            assert_true(is_he[k] != is_she[k]);
        }
        assert_true(is_he[0] != is_he[1]);
        size_t which = strcmp(asked, role[1]) == 0;
        assert_string_equal(asked, role[which]);
        assert_string_not_equal(role[0], role[1]);
        assert_memory_equal(item->choices[0].text, " he", 3);
        assert_memory_equal(item->choices[1].text, " she", 4);
        assert_int_equal(item->answer, is_he[which] ? 0 : 1);
        assert_int_equal(item->choices[0].bound, is_he[0] ? 0 : 1);
        assert_int_equal(item->choices[1].bound, is_he[0] ? 1 : 0);
        char cell[32];
        snprintf(cell, sizeof cell, "%s-first/%s", is_he[0] ? "he" : "she", which ? "second" : "first");
        assert_string_equal(item->cell, cell);
        seen[is_he[0]][which][item->answer]++;
        /* the spans are what they say */
        assert_int_equal(item->n_spans, 3);
        assert_int_equal(item->spans[0].begin, 0);
        assert_true(starts(item->prompt + item->spans[1].begin, name[1]));
        assert_int_equal(item->prompt[item->spans[1].end - 1], '.');
        assert_int_equal(item->spans[2].end, item->prompt_length);
    }
    for (size_t h = 0; h < 2; h++)
        for (size_t w = 0; w < 2; w++) assert_int_equal(seen[h][w][0] + seen[h][w][1], 20);
    assert_int_equal(seen[1][0][0] + seen[1][1][0] + seen[0][0][0] + seen[0][1][0], 40);
    lg_probe_items_free(items);
    lg_tokenizer_close(tokenizer);
}

static void entities(void **state) {
    (void)state;
    static const uint64_t distance[] = {40};
    lg_tokenizer *tokenizer = small_tokenizer();
    lg_probe_options o = options_of(1u << LG_PROBE_ENTITY, distance, 1, 80);
    lg_probe_items *items = generate(tokenizer, &o);
    size_t seen[2][2][2] = {{{0}}}; /* asked, order of options, which of the pair is bound first */
    for (size_t i = 0; i < 80; i++) {
        const lg_probe_item *item = lg_probe_item_at(items, i);
        char name[2][32], deed[3][32], colour[3][32], thing[3][32], option[2][32];
        assert_int_equal(sscanf(item->prompt, "%31s %31s the %31s %31[a-z]. %31s %31s the %31s %31[a-z].",
                                name[0], deed[0], colour[0], thing[0], name[1], deed[1], colour[1], thing[1]),
                         8);
        assert_int_equal(sscanf(item->prompt + item->spans[2].begin,
                                "Q: Who %31s the %31s %31[a-z]? (A) %31s (B) %31s Answer:", deed[2],
                                colour[2], thing[2], option[0], option[1]),
                         5);
        assert_string_equal(deed[0], deed[1]);
        assert_string_equal(deed[0], deed[2]);
        assert_string_not_equal(colour[0], colour[1]);
        assert_string_not_equal(thing[0], thing[1]);
        size_t asked = strcmp(thing[2], thing[1]) == 0, swapped = strcmp(option[0], name[1]) == 0;
        assert_string_equal(colour[2], colour[asked]);
        assert_string_equal(thing[2], thing[asked]);
        assert_string_equal(option[0], name[swapped]);
        assert_string_equal(option[1], name[!swapped]);
        assert_string_equal(item->choices[item->answer].text + 1, name[asked]);
        size_t y_first = strcmp(item->choices[0].text + 1, name[1]) == 0;
        for (size_t k = 0; k < 2; k++) {
            assert_string_equal(item->choices[k].text + 1, name[item->choices[k].bound]);
            assert_string_equal(item->choices[k].text + 1, option[item->choices[k].listed]);
        }
        /* in a set, the choices are the same and so is the filler */
        const lg_probe_item *first = lg_probe_item_at(items, i / 8 * 8);
        for (size_t k = 0; k < 2; k++) assert_string_equal(item->choices[k].text, first->choices[k].text);
        size_t from = item->spans[1].end, to = item->spans[2].begin;
        assert_memory_equal(item->prompt + from, first->prompt + from, to - from);
        char cell[32];
        snprintf(cell, sizeof cell, "%s/%s/%s-first", asked ? "second" : "first", swapped ? "BA" : "AB",
                 y_first ? "y" : "x");
        assert_string_equal(item->cell, cell);
        seen[asked][swapped][y_first]++;
    }
    for (size_t k = 0; k < 8; k++) assert_int_equal(seen[k / 4][k / 2 % 2][k % 2], 10);
    lg_probe_items_free(items);
    lg_tokenizer_close(tokenizer);
}

static void closures(void **state) {
    (void)state;
    static const uint64_t distance[] = {40};
    static const struct {
        const char *cell, *opener, *closer;
    } kinds[] = {{"parenthesis", "(", " )"}, {"bracket", "[", " ]"},
                 {"brace", "{", " }"},       {"quotation", "\xE2\x80\x9C", " \xE2\x80\x9D"},
                 {"tag", "<%s>", " </%s>"},  {"environment", "\\begin{%s}", " \\end{%s}"}};
    lg_tokenizer *tokenizer = small_tokenizer();
    lg_probe_options o = options_of(1u << LG_PROBE_CLOSURE, distance, 1, 160);
    lg_probe_items *items = generate(tokenizer, &o);
    size_t right[160 / 8] = {0};
    for (size_t i = 0; i < 160; i++) {
        const lg_probe_item *item = lg_probe_item_at(items, i), *first = lg_probe_item_at(items, i / 8 * 8);
        size_t k = 0;
        while (!starts(item->cell, kinds[k].cell)) k++;
        char opener[64], closer[64], name[32] = "";
        snprintf(opener, sizeof opener, "%.*s", (int)item->spans[0].end, item->prompt);
        if (k == 4) assert_int_equal(sscanf(opener, "<%31[a-z0-9]>", name), 1);
        if (k == 5) assert_int_equal(sscanf(opener, "\\begin{%31[a-z]}", name), 1);
        char expected[64];
        snprintf(expected, sizeof expected, "%s%s%s",
                 k == 4   ? "<"
                 : k == 5 ? "\\begin{"
                          : kinds[k].opener,
                 name,
                 k == 4   ? ">"
                 : k == 5 ? "}"
                          : "");
        assert_string_equal(opener, expected);
        snprintf(closer, sizeof closer, "%s%s%s",
                 k == 4   ? " </"
                 : k == 5 ? " \\end{"
                          : kinds[k].closer,
                 name,
                 k == 4   ? ">"
                 : k == 5 ? "}"
                          : "");
        assert_string_equal(item->choices[item->answer].text, closer);
        assert_int_equal(item->n_choices, 8);
        /* the same filler and closers in the set, each of them right once */
        for (size_t c = 0; c < 8; c++) assert_string_equal(item->choices[c].text, first->choices[c].text);
        assert_string_equal(item->prompt + item->spans[0].end, first->prompt + first->spans[0].end);
        assert_false(right[i / 8] >> item->answer & 1);
        right[i / 8] |= (size_t)1 << item->answer;
        assert_null(strpbrk(item->prompt + item->spans[0].end, "()[]{}<>\\\"'`$"));
    }
    lg_probe_items_free(items);
    lg_tokenizer_close(tokenizer);
}

/* ---- determinism ---- */

static const lg_probe_item *find_item(const lg_probe_items *items, const char *id) {
    for (size_t i = 0; i < lg_probe_n_items(items); i++)
        if (strcmp(lg_probe_item_at(items, i)->id, id) == 0) return lg_probe_item_at(items, i);
    return NULL;
}

/* Item k does not depend on how many are asked for, nor on what else is. */
static void each_on_its_own(void **state) {
    (void)state;
    static const uint64_t many[] = {64, 32, 128}, one[] = {32}, lengths[] = {33, 2};
    lg_tokenizer *tokenizer = small_tokenizer();
    lg_probe_options o = options_of(0, many, 3, 48);
    o.seed = 7;
    lg_probe_items *all = generate(tokenizer, &o), *again = generate(tokenizer, &o);
    char identity[2][33];
    lg_error error = {0};
    lg_probe_items_identity(all, identity[0], &error);
    lg_probe_items_identity(again, identity[1], &error);
    assert_string_equal(identity[0], identity[1]);
    lg_probe_items_free(again);
    for (unsigned kind = 0; kind < LG_N_PROBE_KINDS; kind++) {
        lg_probe_options few = options_of(1u << kind, one, 1, 1);
        few.seed = 7;
        few.lengths = lengths;
        few.n_lengths = 2;
        few.groups = "Z60,S5";
        lg_probe_items *some = generate(tokenizer, &few);
        size_t compared = 0;
        for (size_t i = 0; i < lg_probe_n_items(some); i++) {
            const lg_probe_item *item = lg_probe_item_at(some, i);
            if (starts(item->probe, "word_problem/Z60")) continue;
            const lg_probe_item *same = find_item(all, item->id);
            assert_non_null(same);
            lg_text a = item_text(item), b = item_text(same);
            assert_string_equal(a.data, b.data);
            lg_text_free(&a);
            lg_text_free(&b);
            compared++;
        }
        assert_true(compared >= 4);
        lg_probe_items_free(some);
        few.seed = 8;
        some = generate(tokenizer, &few);
        for (size_t i = 0; i < lg_probe_n_items(some); i++)
            assert_null(find_item(all, lg_probe_item_at(some, i)->id));
        lg_probe_items_free(some);
    }
    lg_probe_items_free(all);
    lg_tokenizer_close(tokenizer);
}

/* ---- words and filler ---- */

static bool is_listed(const char *word, size_t length, lg_word_list list) {
    size_t n;
    const char *const *words = lg_word_list_of(list, &n);
    for (size_t i = 0; i < n; i++)
        if (strlen(words[i]) == length && strncasecmp(words[i], word, length) == 0) return true;
    return false;
}

static void lists(void **state) {
    (void)state;
    static const lg_word_list all[] = {LG_NAMES_HE, LG_NAMES_SHE, LG_ROLES, LG_OBJECTS, LG_PLACES};
    for (size_t i = 0; i < COUNT(all); i++) {
        size_t n, m;
        const char *const *words = lg_word_list_of(all[i], &n);
        assert_true(n >= 50);
        for (size_t w = 0; w < n; w++) {
            for (const char *c = words[w]; *c; c++) assert_true(isalpha((unsigned char)*c));
            for (size_t k = 0; k < COUNT(all); k++) {
                const char *const *others = lg_word_list_of(all[k], &m);
                for (size_t v = 0; v < m; v++)
                    if ((k != i || v != w) && strcasecmp(words[w], others[v]) == 0)
                        fail_msg("%s comes twice", words[w]);
            }
            if (all[i] == LG_OBJECTS && strchr("aeiou", words[w][0])) fail_msg("a %s", words[w]);
        }
    }
    for (size_t i = 0; i < lg_n_common_words; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(lg_common_words[i], lg_common_words[k]) == 0)
                fail_msg("%s comes twice", lg_common_words[i]);
}

/* The filler says nothing of anybody: no name, role, object, place, pronoun of a person or delimiter. */
static void neutral_filler(void **state) {
    (void)state;
    static const uint64_t distance[] = {1024};
    static const char *const pronouns[] = {"he", "she", "him", "her", "his", "hers"};
    static const char *const fillers[] = {"grammar", "words"};
    static const lg_word_list all[] = {LG_NAMES_HE, LG_NAMES_SHE, LG_ROLES, LG_OBJECTS, LG_PLACES};
    lg_tokenizer *tokenizer = small_tokenizer();
    for (size_t f = 0; f < COUNT(fillers); f++) {
        lg_probe_options o = options_of(1u << LG_PROBE_CLOSURE, distance, 1, 400);
        o.filler = fillers[f];
        lg_probe_items *items = generate(tokenizer, &o);
        size_t words = 0;
        for (size_t i = 0; i < lg_probe_n_items(items); i += 8) {
            const lg_probe_item *item = lg_probe_item_at(items, i);
            const char *at = item->prompt + item->spans[0].end;
            if (f == 0) /* no sentence twice */
                for (const char *s = at, *dot; (dot = strchr(s, '.')); s = dot + 1)
                    for (const char *t = strstr(dot, ". "); t; t = strstr(t + 1, ". "))
                        if (strncmp(t + 1, s, (size_t)(dot - s) + 1) == 0 && dot - s > 20)
                            fail_msg("twice in one filler: %.*s", (int)(dot - s), s);
            for (size_t length; *at; at += length) {
                length = strcspn(at, " .");
                if (!length) {
                    length = 1;
                    continue;
                }
                for (size_t c = 0; c < length; c++) assert_true(isalpha((unsigned char)at[c]));
                for (size_t k = 0; k < COUNT(all); k++)
                    if (is_listed(at, length, all[k])) fail_msg("%s: %.*s", fillers[f], (int)length, at);
                for (size_t k = 0; k < COUNT(pronouns); k++)
                    if (strlen(pronouns[k]) == length && strncasecmp(pronouns[k], at, length) == 0)
                        fail_msg("%s: %.*s", fillers[f], (int)length, at);
                words++;
            }
        }
        assert_true(words > 10000);
        lg_probe_items_free(items);
    }
    lg_tokenizer_close(tokenizer);
}

static void write_file(const char *path, const char *text) {
    lg_error error = {0};
    if (lg_write_file(path, text, strlen(text), &error)) fail_msg("%s", error.message);
}

static void filler_from_a_file(void **state) {
    (void)state;
    static const uint64_t distances[] = {16, 64, 300};
    lg_tokenizer *tokenizer = small_tokenizer();
    char kind[256];
    const char *path = fixture_path("text");
    write_file(
        path,
        "A Heading Without End\n\nThe first thing\nto say is this.  It  goes on! Does it? The pilot came.\n"
        "He saw that. Say (nothing). \"Quoted\" words here. A \xC3\xA9t\xC3\xA9 of "
        "\xE2\x80\x9Cquotes\xE2\x80\x9D too. "
        "Bad \xFF bytes here. The last of them went far away from all that was known. no end");
    snprintf(kind, sizeof kind, "text:%s", path);
    lg_probe_options o = options_of(
        1u << LG_PROBE_CLOSURE | 1u << LG_PROBE_DISCOURSE | 1u << LG_PROBE_PRONOUN, distances + 1, 2, 24);
    o.filler = kind;
    lg_probe_items *items = generate(tokenizer, &o);
    check_all(tokenizer, items);
    bool whole = false;
    for (size_t i = 0; i < lg_probe_n_items(items); i++) {
        const lg_probe_item *item = lg_probe_item_at(items, i);
        whole |= strstr(item->prompt, " The first thing to say is this. It goes on!") != NULL;
        static const char *const never[] = {"pilot came",        "He saw", "nothing", "Quoted",
                                            "\xC3\xA9t\xC3\xA9", "Bad",    "Heading", "no end"};
        for (size_t k = 0; k < COUNT(never); k++)
            if (strstr(item->prompt, never[k])) fail_msg("%s in %s", never[k], item->prompt);
    }
    assert_true(whole);
    lg_probe_items_free(items);
    lg_error error = {0};
    write_file(path, "He came. (This) is it.");
    assert_int_equal(lg_probe_generate(&o, tokenizer, NULL, &items, &error), LG_BAD_INPUT);
    assert_non_null(strstr(error.message, "take a longer text"));
    snprintf(kind, sizeof kind, "text:%s/none", fixture_folder);
    assert_int_equal(lg_probe_generate(&o, tokenizer, NULL, &items, &error), LG_BAD_INPUT);
    lg_tokenizer_close(tokenizer);
}

/* Items of runs with other settings have other ids, so that one file may hold them all; the usual settings
   leave no mark, whether they are asked for or not. */
static void ids_of_settings(void **state) {
    (void)state;
    static const uint64_t distances[] = {64};
    const unsigned kinds = 1u << LG_PROBE_CLOSURE | 1u << LG_PROBE_DISCOURSE | 1u << LG_PROBE_WORD_PROBLEM;
    lg_tokenizer *tokenizer = small_tokenizer();
    lg_error error = {0};
    lg_probe_options o[6];
    for (size_t i = 0; i < 6; i++) o[i] = options_of(kinds, distances, 1, 1);
    o[1].filler = "words";
    o[2].distractors = 2;
    o[3].entities = 5;
    o[4].updates = 2;
    o[5].entities = 4, o[5].updates = o[5].distractors = 3, o[5].filler = "grammar";
    lg_probe_items *all, *made[6];
    assert_int_equal(lg_probe_items_create(&all, &error), LG_OK);
    for (size_t i = 0; i < 6; i++) {
        made[i] = generate(tokenizer, &o[i]);
        for (size_t k = 0; k < lg_probe_n_items(made[i]); k++) {
            const lg_probe_item *item = lg_probe_item_at(made[i], k);
            /* these settings are of discourse, and words of what has filler */
            bool marked = i < 5 && (strcmp(item->probe, "discourse") == 0
                                        ? i > 0
                                        : i == 1 && strcmp(item->probe, "closure") == 0);
            if (i && !marked) assert_string_equal(item->id, lg_probe_item_at(made[0], k)->id);
            else if (lg_probe_items_add(all, item, &error)) fail_msg("%zu: %s", i, error.message);
            if (i == 5) continue;
            size_t dashes = 0;
            for (const char *c = item->id; *c; c++) dashes += *c == '-';
            assert_int_equal(dashes, 4 + marked);
        }
    }
    for (size_t i = 0; i < 6; i++) lg_probe_items_free(made[i]);
    lg_probe_items_free(all);
    lg_tokenizer_close(tokenizer);
}

/* ---- refusals and what is left out ---- */

static char notes[4096];

static void take_note(void *context, const char *message) {
    (void)context;
    size_t length = strlen(notes);
    snprintf(notes + length, sizeof notes - length, "%s\n", message);
}

static void contexts(void **state) {
    (void)state;
    static const uint64_t distances[] = {32, 64, 128};
    lg_tokenizer *tokenizer = small_tokenizer();
    lg_probe_options o = options_of(1u << LG_PROBE_PRONOUN | 1u << LG_PROBE_WORD_PROBLEM, distances, 3, 40);
    lg_monitor monitor = {.note = take_note};
    lg_error error = {0};
    lg_probe_items *items;
    o.max_tokens = 110;
    notes[0] = '\0';
    assert_int_equal(lg_probe_generate(&o, tokenizer, &monitor, &items, &error), LG_OK);
    assert_non_null(strstr(notes, "pronoun: distance 128 is left out: an item has 1"));
    assert_non_null(strstr(notes, "and at most 110 are allowed"));
    assert_null(strstr(notes, "distance 64 is"));
    assert_non_null(strstr(notes, "1 token of \" he\" and 2 of \" she\"")); /* of this tokenizer */
    size_t of[3] = {0};
    for (size_t i = 0; i < lg_probe_n_items(items); i++) {
        const lg_probe_item *item = lg_probe_item_at(items, i);
        for (size_t k = 0; k < 3; k++)
            of[k] += strcmp(item->probe, "pronoun") == 0 && item->distance == distances[k];
    }
    assert_int_equal(of[0], 40);
    assert_int_equal(of[1], 40);
    assert_int_equal(of[2], 0);
    lg_probe_items_free(items);
    /* an item too long further on takes those before it with it */
    o.max_tokens = 0;
    items = generate(tokenizer, &o);
    size_t longest = 0, later = 0;
    checked c = {0};
    assert_int_equal(lg_tokenizer_session_create(tokenizer, &c.session, &error), LG_OK);
    for (size_t i = 0; i < lg_probe_n_items(items); i++) {
        const lg_probe_item *item = lg_probe_item_at(items, i);
        if (strcmp(item->probe, "pronoun") != 0 || item->distance != 64) continue;
        check_item(&c, item);
        size_t n = c.prompt.count + 2; /* " she" is the longer choice, of two tokens */
        if (n > longest) later = i - 40;
        if (n > longest) longest = n;
    }
    assert_true(later >= 4); /* not in the first set */
    lg_probe_items_free(items);
    lg_tokenizer_session_free(c.session);
    lg_tokens_free(&c.prompt);
    lg_tokens_free(&c.both);
    lg_text_free(&c.text);
    for (size_t limit = longest - 1; limit <= longest; limit++) {
        o.max_tokens = limit;
        size_t n = 0;
        items = generate(tokenizer, &o);
        for (size_t i = 0; i < lg_probe_n_items(items); i++) {
            const lg_probe_item *item = lg_probe_item_at(items, i);
            n += strcmp(item->probe, "pronoun") == 0 && item->distance == 64;
            assert_ptr_equal(find_item(items, item->id), item);
        }
        assert_int_equal(n, limit == longest ? 40 : 0);
        lg_probe_items_free(items);
    }
    o.max_tokens = 3;
    assert_int_equal(lg_probe_generate(&o, tokenizer, &monitor, &items, &error), LG_USAGE);
    assert_non_null(strstr(error.message, "no items"));
    assert_null(items);
    lg_tokenizer_close(tokenizer);
}

static void bad_options(void **state) {
    (void)state;
    static const uint64_t near[] = {15}, twice[] = {32, 32}, short_one[] = {1}, long_one[] = {513};
    lg_tokenizer *tokenizer = small_tokenizer();
    lg_probe_options cases[11];
    for (size_t i = 0; i < COUNT(cases); i++) cases[i] = (lg_probe_options)LG_PROBE_OPTIONS_INIT;
    static const char *const says[] = {"no such kind",
                                       "distance 15 is not in 16",
                                       "distance 32 is asked for twice",
                                       "length 1 is not in 2 to 512",
                                       "length 513",
                                       "2 entities",
                                       "13 entities",
                                       "group \"Z7\": there are",
                                       "group S5 is asked for twice",
                                       "filler \"poem\": there are grammar, words and text:FILE",
                                       "4 distractors of 4 entities"};
    cases[0].kinds = 1u << LG_N_PROBE_KINDS;
    cases[1].distances = near, cases[1].n_distances = 1;
    cases[2].distances = twice, cases[2].n_distances = 2;
    cases[3].lengths = short_one, cases[3].n_lengths = 1;
    cases[4].lengths = long_one, cases[4].n_lengths = 1;
    cases[5].entities = 2;
    cases[6].entities = 13;
    cases[7].groups = "Z7";
    cases[8].groups = "S5,A5,S5";
    cases[9].filler = "poem";
    cases[10].distractors = 4;
    for (size_t i = 0; i < COUNT(cases); i++) {
        lg_error error = {0};
        lg_probe_items *items = (lg_probe_items *)&error;
        if (i == 7 || i == 8) cases[i].kinds = 1u << LG_PROBE_WORD_PROBLEM;
        if (lg_probe_generate(&cases[i], tokenizer, NULL, &items, &error) != LG_USAGE ||
            !strstr(error.message, says[i]))
            fail_msg("case %zu: \"%s\"", i, error.message);
        assert_null(items);
    }
    /* more than there are: 3600 sequences of two elements of A5 */
    static const uint64_t two[] = {2}, distance[] = {32};
    lg_probe_options o = options_of(1u << LG_PROBE_WORD_PROBLEM, distance, 1, 3604);
    lg_error error = {0};
    lg_probe_items *items;
    o.groups = "A5";
    o.lengths = two;
    o.n_lengths = 1;
    assert_int_equal(lg_probe_generate(&o, tokenizer, NULL, &items, &error), LG_BAD_INPUT);
    assert_non_null(strstr(error.message, "ask for fewer"));
    /* distractors that do not fit: the largest story's last change and 11 more in 16 tokens are curtailed,
     * and said */
    static const uint64_t sixteen[] = {16};
    lg_monitor monitor = {.note = take_note};
    o = options_of(1u << LG_PROBE_DISCOURSE, sixteen, 1, 24);
    o.distractors = 3;
    notes[0] = '\0';
    assert_int_equal(lg_probe_generate(&o, tokenizer, &monitor, &items, &error), LG_OK);
    assert_non_null(strstr(notes, "discourse: distance 16 is too short for "));
    check_all(tokenizer, items);
    lg_probe_items_free(items);
    lg_tokenizer_close(tokenizer);
}

/* A tokenizer of bytes: distances are bytes. And one that ties a full stop to the space behind it: refused.
 */
static void odd_tokenizers(void **state) {
    (void)state;
    static const uint64_t distances[] = {100, 301};
    lg_error error = {0};
    lg_tokenizer *tokenizer;
    char *json = tokenizer_json("null", BYTE_LEVEL, "[]", "[]", "", NULL);
    assert_int_equal(lg_tokenizer_parse(json, strlen(json), "bytes", &tokenizer, &error), LG_OK);
    lg_probe_options o = options_of(0, distances, 2, 24);
    lg_probe_items *items = generate(tokenizer, &o);
    check_all(tokenizer, items);
    for (size_t i = 0; i < lg_probe_n_items(items); i++) {
        const lg_probe_item *item = lg_probe_item_at(items, i);
        if (strcmp(item->probe, "pronoun") == 0) /* the space before the query lies between, too */
            assert_int_equal(item->spans[2].begin - item->spans[1].end, item->distance);
    }
    lg_probe_items_free(items);
    lg_tokenizer_close(tokenizer);
    free(json);
    /* one without the first byte of a quotation mark */
    json = tokenizer_json("null", BYTE_LEVEL, "[]", "[]", "", NULL);
    char *byte = strstr(json, "\"\xC3\xA2\":226");
    assert_non_null(byte);
    memcpy(byte, "\"zz", 3);
    assert_int_equal(lg_tokenizer_parse(json, strlen(json), "lacking", &tokenizer, &error), LG_OK);
    o.kinds = 1u << LG_PROBE_CLOSURE;
    assert_int_equal(lg_probe_generate(&o, tokenizer, NULL, &items, &error), LG_BAD_INPUT);
    assert_non_null(strstr(error.message, "its vocabulary lacks tokens for a choice"));
    lg_tokenizer_close(tokenizer);
    free(json);
    static const char *const extra[] = {". ", NULL};
    json = tokenizer_json("null", BYTE_LEVEL, "[]", "[[\".\", \"\xC4\xA0\"]]", "", extra);
    assert_int_equal(lg_tokenizer_parse(json, strlen(json), "stops", &tokenizer, &error), LG_OK);
    o.kinds = 1u << LG_PROBE_PRONOUN;
    assert_int_equal(lg_probe_generate(&o, tokenizer, NULL, &items, &error), LG_BAD_INPUT);
    assert_non_null(strstr(error.message, "crosses the end of the binding"));
    assert_null(items);
    lg_tokenizer_close(tokenizer);
    free(json);
    /* one that ties "and" to " he": no boundary before the choice */
    static const char *const tied[] = {"d ", "d h", NULL};
    json =
        tokenizer_json("null", BYTE_LEVEL, "[]", "[[\"d\", \"\xC4\xA0\"], [\"d\xC4\xA0\", \"h\"]]", "", tied);
    assert_int_equal(lg_tokenizer_parse(json, strlen(json), "tied", &tokenizer, &error), LG_OK);
    assert_int_equal(lg_probe_generate(&o, tokenizer, NULL, &items, &error), LG_BAD_INPUT);
    assert_non_null(strstr(error.message, "crosses the boundary between prompt and choice"));
    lg_tokenizer_close(tokenizer);
    free(json);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_with_small_tokenizer),
        cmocka_unit_test(exact_with_shared_tokenizers),
        cmocka_unit_test(cells_in_balance),
        cmocka_unit_test(pronouns),
        cmocka_unit_test(entities),
        cmocka_unit_test(closures),
        cmocka_unit_test(each_on_its_own),
        cmocka_unit_test(lists),
        cmocka_unit_test(neutral_filler),
        cmocka_unit_test(filler_from_a_file),
        cmocka_unit_test(ids_of_settings),
        cmocka_unit_test(contexts),
        cmocka_unit_test(bad_options),
        cmocka_unit_test(odd_tokenizers),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
