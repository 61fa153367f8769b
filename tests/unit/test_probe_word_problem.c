/* The word problem: the groups are the groups they are said to be, every product by brute force, and the
   sequences to train on. */
#include "fixture.h"

#include "base/json.h"
#include "probe/word_problem.h"
#include "probe_items_helper.h"

#define COUNT(list) (sizeof list / sizeof *list)

static void all_groups(lg_group groups[LG_N_GROUPS]) {
    lg_error error = {0};
    size_t n;
    assert_int_equal(lg_groups_named(NULL, groups, &n, &error), LG_OK);
    assert_int_equal(n, LG_N_GROUPS);
}

static size_t times(const lg_group *g, size_t a, size_t b) {
    size_t c = lg_group_product(g, a, b);
    assert_true(c < g->order);
    return c;
}

/* Associative, with identity 0 and inverses; elements of each order as many as the books say. */
static void axioms(void **state) {
    (void)state;
    static const struct {
        const char *name;
        size_t order, classes; /* of the commutative quotient */
        bool commutative;
        size_t of_order[61];
    } known[LG_N_GROUPS] = {
        {"A5", 60, 1, false, {[1] = 1, [2] = 15, [3] = 20, [5] = 24}},
        {"S5", 120, 2, false, {[1] = 1, [2] = 25, [3] = 20, [4] = 30, [5] = 24, [6] = 20}},
        /* A4 has 1, 3 and 8 elements of order 1, 2 and 3; Z5 1 and 4 of order 1 and 5 */
        {"A4xZ5", 60, 15, false, {[1] = 1, [2] = 3, [3] = 8, [5] = 4, [10] = 12, [15] = 32}},
        {"Z60",
         60,
         60,
         true,
         {[1] = 1,
          [2] = 1,
          [3] = 2,
          [4] = 2,
          [5] = 4,
          [6] = 2,
          [10] = 4,
          [12] = 4,
          [15] = 8,
          [20] = 8,
          [30] = 8,
          [60] = 16}},
    };
    lg_group groups[LG_N_GROUPS];
    all_groups(groups);
    for (size_t k = 0; k < LG_N_GROUPS; k++) {
        const lg_group *g = &groups[k];
        assert_string_equal(g->name, known[k].name);
        assert_int_equal(g->order, known[k].order);
        bool commutative = true;
        size_t of_order[61] = {0};
        for (size_t a = 0; a < g->order; a++) {
            assert_int_equal(times(g, 0, a), a);
            assert_int_equal(times(g, a, 0), a);
            size_t inverses = 0, order = 1;
            for (size_t b = 0; b < g->order; b++) {
                inverses += times(g, a, b) == 0 && times(g, b, a) == 0;
                commutative &= times(g, a, b) == times(g, b, a);
                for (size_t c = 0; c < g->order; c++)
                    if (times(g, times(g, a, b), c) != times(g, a, times(g, b, c)))
                        fail_msg("%s: (%zu %zu) %zu", g->name, a, b, c);
            }
            assert_int_equal(inverses, 1);
            for (size_t power = a; power; power = times(g, power, a)) order++;
            assert_true(order <= 60);
            of_order[order]++;
        }
        assert_int_equal(commutative, known[k].commutative);
        assert_memory_equal(of_order, known[k].of_order, sizeof of_order);
        /* class_of is a homomorphism onto a commutative group, and there is no larger one: as many classes as
         * known */
        size_t classes = 0, product_of[60 * 60];
        for (size_t i = 0; i < 60 * 60; i++) product_of[i] = SIZE_MAX;
        for (size_t a = 0; a < g->order; a++)
            for (size_t b = 0; b < g->order; b++) {
                size_t *p = &product_of[g->class_of[a] * 60u + g->class_of[b]],
                       is = g->class_of[times(g, a, b)];
                if (*p == SIZE_MAX) *p = is;
                assert_int_equal(*p, is);
                assert_int_equal(g->class_of[times(g, b, a)], is);
                if (g->class_of[a] + 1u > classes) classes = g->class_of[a] + 1u;
            }
        assert_int_equal(classes, known[k].classes);
    }
}

static bool next_permutation(int *p, int n) {
    int i = n - 2, j = n - 1;
    while (i >= 0 && p[i] > p[i + 1]) i--;
    if (i < 0) return false;
    while (p[j] < p[i]) j--;
    int t = p[i];
    p[i] = p[j], p[j] = t;
    for (int a = i + 1, b = n - 1; a < b; a++, b--) t = p[a], p[a] = p[b], p[b] = t;
    return true;
}

/* Elements are the permutations in lexicographic order, and a·b is first a, then b. */
static void convention(void **state) {
    (void)state;
    lg_group groups[LG_N_GROUPS];
    all_groups(groups);
    for (size_t k = 0; k < 2; k++) {
        int list[120][5], p[5] = {0, 1, 2, 3, 4};
        size_t n = 0;
        do {
            int inversions = 0;
            for (int i = 0; i < 5; i++)
                for (int j = 0; j < i; j++) inversions += p[j] > p[i];
            if (k == 1 || inversions % 2 == 0) memcpy(list[n++], p, sizeof p);
        } while (next_permutation(p, 5));
        assert_int_equal(n, groups[k].order);
        for (size_t a = 0; a < n; a++)
            for (size_t b = 0; b < n; b++) {
                int then[5];
                for (int x = 0; x < 5; x++) then[x] = list[b][list[a][x]];
                assert_memory_equal(list[times(&groups[k], a, b)], then, sizeof then);
            }
    }
    for (size_t a = 0; a < 60; a++)
        for (size_t b = 0; b < 60; b++) {
            assert_int_equal(times(&groups[3], a, b), (a + b) % 60);
            assert_int_equal(times(&groups[2], a, b) % 5, (a + b) % 5);
        }
}

/* Words of the elements, as the tokenizer at hand has them. */
static void element_words(const lg_tokenizer *tokenizer, size_t order, lg_maker *maker, lg_error *error) {
    *maker = (lg_maker){.error = error, .tokenizer = tokenizer};
    assert_int_equal(lg_tokenizer_session_create(tokenizer, &maker->session, error), LG_OK);
    assert_int_equal(lg_maker_elements(maker, order), LG_OK);
    assert_int_equal(maker->elements.count, order);
    for (size_t i = 0; i < order; i++)
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(maker->elements.words[i], maker->elements.words[k]);
}

static size_t element_of(const lg_maker *maker, const char *word, size_t length) {
    for (size_t i = 0; i < maker->elements.count; i++)
        if (strlen(maker->elements.words[i]) == length && memcmp(maker->elements.words[i], word, length) == 0)
            return i;
    fail_msg("%.*s is no element", (int)length, word);
    return 0;
}

static void products(void **state) {
    (void)state;
    static const uint64_t lengths[] = {2, 3, 8, 64, 512};
    lg_group groups[LG_N_GROUPS];
    all_groups(groups);
    lg_tokenizer *tokenizer = small_tokenizer();
    for (size_t k = 0; k < LG_N_GROUPS; k++) {
        const lg_group *g = &groups[k];
        lg_error error = {0};
        lg_maker maker;
        element_words(tokenizer, g->order, &maker, &error);
        lg_probe_options o = LG_PROBE_OPTIONS_INIT;
        o.kinds = 1u << LG_PROBE_WORD_PROBLEM;
        o.groups = g->name;
        o.lengths = lengths;
        o.n_lengths = COUNT(lengths);
        o.count = 80;
        lg_probe_items *items = generate(tokenizer, &o);
        assert_int_equal(lg_probe_n_items(items), 80 * COUNT(lengths));
        size_t at_place[COUNT(lengths)][4] = {{0}};
        for (size_t i = 0; i < lg_probe_n_items(items); i++) {
            const lg_probe_item *item = lg_probe_item_at(items, i);
            char probe[64];
            snprintf(probe, sizeof probe, "word_problem/%s", g->name);
            assert_string_equal(item->probe, probe);
            const char *at = item->prompt + strlen(g->name);
            assert_memory_equal(at, ": ", 2);
            assert_int_equal(item->spans[0].begin, strlen(g->name) + 2);
            at += 2;
            size_t product = 0, n = 0;
            while (*at != '=') {
                size_t length = strcspn(at, " ");
                product = times(g, product, element_of(&maker, at, length));
                n++;
                at += length;
                if (n == lengths[i / 80]) assert_int_equal(at - item->prompt, item->spans[0].end);
                at++;
            }
            assert_int_equal(n, lengths[i / 80]);
            assert_int_equal(item->distance, n);
            assert_string_equal(at, "=");
            assert_int_equal(item->n_choices, 4);
            size_t same_class = 0;
            for (size_t c = 0; c < 4; c++) {
                size_t element = element_of(&maker, item->choices[c].text + 1, item->choices[c].length - 1);
                assert_int_equal(element == product, c == item->answer);
                same_class += g->class_of[element] == g->class_of[product];
            }
            /* what forgets the order cannot tell the choices apart; in a commutative group that is everything
             */
            if (k < 3) assert_int_equal(same_class, 4);
            at_place[i / 80][item->answer]++;
        }
        for (size_t l = 0; l < COUNT(lengths); l++)
            for (size_t c = 0; c < 4; c++) assert_int_equal(at_place[l][c], 20);
        lg_probe_items_free(items);
        lg_words_free(&maker.elements);
        lg_tokens_free(&maker.tokens);
        lg_tokenizer_session_free(maker.session);
    }
    lg_tokenizer_close(tokenizer);
}

/* The mistakes among the choices are those that have a name; there is always one that has none. */
static void distractors(void **state) {
    (void)state;
    lg_group groups[LG_N_GROUPS];
    all_groups(groups);
    const lg_group *g = &groups[0];
    size_t without_last = 0, reversed = 0, sequence[6], choices[4];
    for (uint32_t i = 0; i < 500; i++) {
        lg_random r = lg_random_at(5, i, 0, 0);
        size_t product = 0, but_last = 0, backwards = 0;
        for (size_t k = 0; k < 6; k++) sequence[k] = lg_random_below(&r, g->order);
        for (size_t k = 0; k < 6; k++) product = times(g, product, sequence[k]);
        for (size_t k = 0; k < 5; k++) but_last = times(g, but_last, sequence[k]);
        for (size_t k = 6; k-- > 0;) backwards = times(g, backwards, sequence[k]);
        lg_word_choices(g, sequence, 6, &r, choices);
        assert_int_equal(choices[0], product);
        for (size_t a = 0; a < 4; a++) {
            without_last += a && choices[a] == but_last;
            reversed += a && choices[a] == backwards;
            for (size_t b = 0; b < a; b++) assert_int_not_equal(choices[a], choices[b]);
        }
    }
    assert_true(without_last > 450 && reversed > 450);
    /* of two elements: neither of them is a wrong choice more often than by chance, for they can be seen */
    size_t visible = 0;
    for (uint32_t i = 0; i < 500; i++) {
        lg_random r = lg_random_at(6, i, 0, 0);
        sequence[0] = lg_random_below(&r, g->order);
        sequence[1] = lg_random_below(&r, g->order);
        lg_word_choices(g, sequence, 2, &r, choices);
        for (size_t a = 1; a < 4; a++) visible += choices[a] == sequence[0] || choices[a] == sequence[1];
    }
    assert_true(visible < 100); /* 2 of 60, 2 or 3 times: about 50 to 80 */
}

static void training(void **state) {
    (void)state;
    static const uint64_t lengths[] = {3, 600};
    const char *path = fixture_path("train.jsonl");
    lg_error error = {0};
    lg_group groups[LG_N_GROUPS];
    all_groups(groups);
    lg_probe_training_options o = {
        .groups = "A4xZ5,S5", .lengths = lengths, .n_lengths = 2, .count = 20, .seed = 3};
    assert_int_equal(lg_probe_write_training(&o, path, &error), LG_OK);
    lg_mapping file;
    assert_int_equal(lg_map(path, &file, &error), LG_OK);
    size_t lines = 0, largest = 0;
    const char *at = (const char *)file.data, *end = at + file.size;
    char first[64] = "";
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        assert_non_null(stop);
        lg_arena arena = {0};
        lg_json_value *line;
        assert_int_equal(lg_json_parse(&arena, at, (size_t)(stop - at), "t", &line, &error), LG_OK);
        const lg_group *g = &groups[lines < 40 ? 2 : 1];
        assert_string_equal(lg_json_get(line, "group")->string, g->name);
        const lg_json_value *ids = lg_json_get(line, "input_ids"), *labels = lg_json_get(line, "labels");
        assert_int_equal(ids->length, lengths[lines / 20 % 2]);
        assert_int_equal(labels->length, ids->length);
        size_t product = 0;
        const lg_json_value *label = labels->first;
        for (const lg_json_value *id = ids->first; id; id = id->next, label = label->next) {
            assert_true(id->integer >= 0 && (size_t)id->integer < g->order);
            product = times(g, product, (size_t)id->integer);
            assert_int_equal(label->integer, product);
            if ((size_t)id->integer > largest) largest = (size_t)id->integer;
        }
        if (!lines) snprintf(first, sizeof first, "%.60s", at);
        lg_arena_free(&arena);
        lines++;
        at = stop + 1;
    }
    assert_int_equal(lines, 2 * 2 * 20);
    assert_int_equal(largest, 119);
    lg_unmap(&file);
    /* sequence 0 is the same by itself; another seed is another */
    o.count = 1;
    o.n_lengths = 1;
    for (uint64_t seed = 3; seed < 5; seed++) {
        o.seed = seed;
        assert_int_equal(lg_probe_write_training(&o, path, &error), LG_OK);
        assert_int_equal(lg_map(path, &file, &error), LG_OK);
        assert_int_equal(strncmp((const char *)file.data, first, strlen(first)) == 0, seed == 3);
        lg_unmap(&file);
    }
    static const uint64_t bad[] = {1}, twice[] = {4, 4};
    o.lengths = bad;
    assert_int_equal(lg_probe_write_training(&o, path, &error), LG_USAGE);
    o.lengths = twice;
    o.n_lengths = 2;
    assert_int_equal(lg_probe_write_training(&o, path, &error), LG_USAGE);
    o.groups = "M24";
    assert_int_equal(lg_probe_write_training(&o, path, &error), LG_USAGE);
    assert_non_null(strstr(error.message, "M24"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(axioms),      cmocka_unit_test(convention), cmocka_unit_test(products),
        cmocka_unit_test(distractors), cmocka_unit_test(training),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
