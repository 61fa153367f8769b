/* Discourse state: every story is read again from its text by a simulator that knows nothing of how it was
   made; it follows each sentence, answers the question, counts how often the answer changed, and finds what
   copying would answer. */
#include "fixture.h"

#include <ctype.h>

#include "probe/words.h"
#include "probe_items_helper.h"

enum { MOST = 16, NONE = -1 };

typedef struct table { /* of words, as they come up */
    char words[4 * MOST][32];
    int n;
} table;

static int find(const table *t, const char *word) {
    for (int i = 0; i < t->n; i++)
        if (strcmp(t->words[i], word) == 0) return i;
    return NONE;
}

static int find_or_add(table *t, const char *word) {
    int i = find(t, word);
    if (i != NONE) return i;
    assert_true(t->n < 4 * MOST);
    snprintf(t->words[t->n], sizeof t->words[0], "%s", word);
    return t->n++;
}

typedef struct world {
    table names, places, objects;
    int person_of[4 * MOST]; /* of each name */
    int called[MOST];        /* the name of each person */
    int n_persons;
    int place_of[MOST];                   /* of each person */
    int holder[4 * MOST], lies[4 * MOST]; /* of each object */
    bool renamed[MOST];
} world;

static int person(const world *w, const char *name) {
    int n = find(&w->names, name);
    if (n == NONE) fail_msg("%s has not come up", name);
    if (w->called[w->person_of[n]] != n) fail_msg("%s is called otherwise by now", name);
    return w->person_of[n];
}

static int thing(const world *w, const char *word) {
    int o = find(&w->objects, word);
    if (o == NONE) fail_msg("the %s has not come up", word);
    return o;
}

static bool is_name(const char *word) {
    for (int list = LG_NAMES_HE; list <= LG_NAMES_SHE; list++) {
        size_t n;
        const char *const *names = lg_word_list_of((lg_word_list)list, &n);
        for (size_t i = 0; i < n; i++)
            if (strcmp(names[i], word) == 0) return true;
    }
    return false;
}

static bool parse(const char *sentence, const char *format, int wanted, char words[3][32]) {
    int end = 0,
        got = sscanf(sentence, format, words[0], words[1], wanted > 2 ? words[2] : (char *)&end, &end);
    return got == wanted && sentence[end] == '\0';
}

/* Follows one sentence, without its full stop. false: it is filler. */
static bool follow(world *w, const char *sentence) {
    static const char *const moves[] = {
        "%31[A-Za-z] went to the %31[a-z]%n", "%31[A-Za-z] walked to the %31[a-z]%n",
        "%31[A-Za-z] moved to the %31[a-z]%n", "%31[A-Za-z] hurried to the %31[a-z]%n"};
    static const char *const takes[] = {"%31[A-Za-z] took the %31[a-z]%n",
                                        "%31[A-Za-z] picked up the %31[a-z]%n",
                                        "%31[A-Za-z] grabbed the %31[a-z]%n"};
    static const char *const gives[] = {"%31[A-Za-z] gave the %31[a-z] to %31[A-Za-z]%n",
                                        "%31[A-Za-z] handed the %31[a-z] to %31[A-Za-z]%n",
                                        "%31[A-Za-z] passed the %31[a-z] to %31[A-Za-z]%n"};
    static const char *const leaves[] = {"%31[A-Za-z] left the %31[a-z] in the %31[a-z]%n",
                                         "%31[A-Za-z] put down the %31[a-z] in the %31[a-z]%n"};
    char a[3][32];
    if (parse(sentence, "There was a %31[a-z] in the %31[a-z]%n", 2, a)) {
        if (find(&w->objects, a[0]) != NONE) fail_msg("the %s comes up twice", a[0]);
        int o = find_or_add(&w->objects, a[0]);
        w->holder[o] = NONE;
        w->lies[o] = find_or_add(&w->places, a[1]);
        return true;
    }
    if (parse(sentence, "From then on everyone called %31[A-Za-z] %31[A-Za-z]%n", 2, a)) {
        int p = person(w, a[0]);
        assert_true(find(&w->names, a[1]) == NONE);
        int n = find_or_add(&w->names, a[1]);
        w->person_of[n] = p;
        w->called[p] = n;
        w->renamed[p] = true;
        return true;
    }
    char first[32];
    if (sscanf(sentence, "%31s", first) != 1 || !is_name(first)) return false;
    if (parse(sentence, "%31[A-Za-z] was in the %31[a-z]%n", 2, a)) {
        if (find(&w->names, a[0]) != NONE) fail_msg("%s comes up twice", a[0]);
        int n = find_or_add(&w->names, a[0]), p = w->n_persons++;
        assert_true(p < MOST);
        w->person_of[n] = p;
        w->called[p] = n;
        w->place_of[p] = find_or_add(&w->places, a[1]);
        return true;
    }
    for (size_t i = 0; i < 4; i++)
        if (parse(sentence, moves[i], 2, a)) {
            int p = person(w, a[0]), to = find_or_add(&w->places, a[1]);
            assert_true(w->place_of[p] != to);
            w->place_of[p] = to;
            return true;
        }
    for (size_t i = 0; i < 3; i++)
        if (parse(sentence, takes[i], 2, a)) {
            int p = person(w, a[0]), o = thing(w, a[1]);
            assert_true(w->holder[o] == NONE && w->lies[o] == w->place_of[p]);
            w->holder[o] = p;
            w->lies[o] = NONE;
            return true;
        }
    for (size_t i = 0; i < 3; i++)
        if (parse(sentence, gives[i], 3, a)) {
            int p = person(w, a[0]), o = thing(w, a[1]), q = person(w, a[2]);
            assert_true(w->holder[o] == p && p != q && w->place_of[p] == w->place_of[q]);
            w->holder[o] = q;
            return true;
        }
    for (size_t i = 0; i < 2; i++)
        if (parse(sentence, leaves[i], 3, a)) {
            int p = person(w, a[0]), o = thing(w, a[1]), where = find(&w->places, a[2]);
            assert_true(w->holder[o] == p && w->place_of[p] == where);
            w->holder[o] = NONE;
            w->lies[o] = where;
            return true;
        }
    fail_msg("what is this? %s", sentence);
    return false;
}

typedef struct question {
    char kind; /* l, h, o, c */
    char word[32];
    int hero; /* l: the person meant, whoever that is called at first */
} question;

static int where_is(const world *w, int o) {
    return w->holder[o] != NONE ? w->place_of[w->holder[o]] : w->lies[o];
}

/* Place or person, whoever that is called; NONE: not determined yet. *WHO: the person that it depends on. */
static int answer(const world *w, const question *q, int *who) {
    *who = NONE;
    if (q->kind == 'l') {
        *who = q->hero < w->n_persons ? q->hero : NONE;
        return *who == NONE ? NONE : w->place_of[*who];
    }
    int o = find(&w->objects, q->word);
    if (o == NONE) return NONE;
    if (q->kind == 'h') return *who = w->holder[o];
    if (q->kind == 'o') {
        *who = w->holder[o];
        return where_is(w, o);
    }
    for (int p = 0; p < w->n_persons; p++) {
        if (w->place_of[p] != where_is(w, o)) continue;
        if (*who != NONE) return *who = NONE; /* two of them: no answer */
        *who = p;
    }
    return *who;
}

static question read_question(const lg_probe_item *item) {
    static const struct {
        char kind;
        const char *format;
    } forms[] = {{'o', "Q: Where is the %31[a-z] now? A: the%n"},
                 {'l', "Q: Where is %31[A-Z-a-z] now? A: the%n"},
                 {'h', "Q: Who has the %31[a-z] now? A:%n"},
                 {'c', "Q: Who is in the same place as the %31[a-z] now? A:%n"}};
    const char *text = strstr(item->prompt, "Q: ");
    assert_non_null(text);
    for (size_t i = 0; i < 4; i++) {
        question q = {.kind = forms[i].kind};
        int end = 0;
        if (sscanf(text, forms[i].format, q.word, &end) == 1 && end && text[end] == '\0') return q;
    }
    fail_msg("what is asked? %s", text);
    return (question){0};
}

/* The choice that comes as word number 1, 2 … from the end of the text among all mentions of choices, and so
 * on. */
static bool check_copies(const lg_probe_item *item, size_t *rank_of_answer, size_t from) {
    size_t count[MOST] = {0}, order = 0, last[MOST] = {0}, first[MOST] = {0}, after = 0;
    char *copy = strdup(item->prompt), *rest = copy;
    bool later[MOST] = {false};
    for (char *word; (word = strsep(&rest, " .,?:"));)
        for (size_t k = 0; k < item->n_choices; k++)
            if (strcmp(word, item->choices[k].text + 1) == 0) {
                order++;
                if (!count[k]++) first[k] = order;
                last[k] = order;
                if ((size_t)(word - copy) >= from) later[k] = true;
            }
    size_t recent = 0, frequent = 0, earliest = 0, newest = 0;
    for (size_t k = 0; k < item->n_choices; k++) {
        if (!count[k]) fail_msg("%s is not mentioned", item->choices[k].text);
        if (last[k] > last[recent]) recent = k;
        if (first[k] < first[earliest]) earliest = k;
        if (first[k] > first[newest]) newest = k;
        if (count[k] > count[frequent] || (count[k] == count[frequent] && last[k] > last[frequent]))
            frequent = k;
        after += later[k];
    }
    assert_int_equal(item->most_recent, recent);
    assert_int_equal(item->most_frequent, frequent);
    assert_int_equal(item->first_mention, earliest);
    assert_false(later[item->answer]);
    *rank_of_answer = 1;
    for (size_t k = 0; k < item->n_choices; k++) *rank_of_answer += last[k] > last[item->answer];
    assert_int_equal(*rank_of_answer, after + 1);
    free(copy);
    return newest == item->answer;
}

/* Returns how many others are mentioned after the answer, plus one. */
static size_t check_story(const lg_probe_item *item, size_t *fillers, size_t *newest) {
    world w = {0};
    question q = read_question(item);
    char *copy = strdup(item->prompt), *stop;
    *strstr(copy, "Q: ") = '\0';
    if (q.kind == 'l') { /* who is meant is known by the end */
        char *once = strdup(copy);
        for (char *at = once; (stop = strchr(at, '.')); at = stop + 1) {
            *stop = '\0';
            follow(&w, at + strspn(at, " "));
        }
        q.hero = person(&w, q.word);
        w = (world){0};
        free(once);
    }
    int known = NONE, who, changes = 0, events_after = 0;
    size_t last_change = 0, from = 0, distractors = 0, binding_begin = SIZE_MAX;
    for (size_t i = 0; i < item->n_spans; i++) {
        const lg_probe_span *s = &item->spans[i];
        bool binds = strcmp(s->role, "binding") == 0 || strcmp(s->role, "rename") == 0;
        if (binds && s->end > from) from = s->end;
        if (binds && s->begin < binding_begin) binding_begin = s->begin;
        distractors += strcmp(s->role, "distractor") == 0;
        if (strcmp(s->role, "query") != 0) assert_int_equal(item->prompt[s->end - 1], '.');
        if (strcmp(s->role, "query") != 0) assert_true(isupper((unsigned char)item->prompt[s->begin]));
    }
    bool renamed_now = false;
    size_t filler_before = 0;
    for (char *at = copy; (stop = strchr(at, '.')); at = stop + 1) {
        *stop = '\0';
        while (*at == ' ') at++;
        bool story = follow(&w, at);
        size_t end = (size_t)(stop - copy) + 1;
        filler_before += !story && end <= from;
        events_after += story && end > from;
        int now = answer(&w, &q, &who);
        renamed_now = who != NONE && w.renamed[who];
        if (now == NONE || now == known) continue;
        /* a place is given at first, and changes then; a holder or companion is a change from nobody */
        if (known != NONE || q.kind == 'h' || q.kind == 'c') {
            changes++;
            last_change = end;
        }
        known = now;
    }
    assert_int_equal(events_after, distractors);
    assert_true(distractors >= 1);
    /* the answer, by its name now */
    int now = answer(&w, &q, &who);
    const char *text = q.kind == 'l' || q.kind == 'o' ? w.places.words[now] : w.names.words[w.called[now]];
    if (strcmp(item->choices[item->answer].text + 1, text) != 0)
        fail_msg("the answer is %s, not%s: %s", text, item->choices[item->answer].text, item->prompt);
    for (size_t k = 0; k < item->n_choices; k++) { /* the others are of its type */
        const char *word = item->choices[k].text + 1;
        if (q.kind == 'l' || q.kind == 'o') assert_true(find(&w.places, word) != NONE);
        else person(&w, word);
    }
    /* the cell says what it is */
    char kind[32], naming[32];
    int updates;
    assert_int_equal(sscanf(item->cell, "%31[a-z-]/%d/%31s", kind, &updates, naming), 3);
    assert_int_equal(changes, updates);
    assert_string_equal(kind, q.kind == 'l'   ? "location"
                              : q.kind == 'h' ? "holder"
                              : q.kind == 'o' ? "object-place"
                                              : "companion");
    assert_string_equal(naming, renamed_now ? "renamed" : "plain");
    /* the distance begins where the last thing changed that the answer depends on: its name counts */
    if (strcmp(naming, "plain") == 0 || q.kind == 'o') assert_int_equal(from, last_change);
    else assert_true(from > last_change);
    if (q.kind == 'o') assert_true(w.holder[find(&w.objects, q.word)] != NONE); /* carried about */
    free(copy);
    size_t rank;
    *fillers += filler_before > 0;
    *newest += check_copies(item, &rank, from);
    return rank;
}

static void run(const lg_tokenizer *tokenizer, const lg_probe_options *o, size_t n_choices) {
    lg_probe_items *items = generate(tokenizer, o);
    size_t n = lg_probe_n_items(items), fillers = 0, newest = 0, recent = 0, frequent = 0, first = 0,
           rank[MOST + 1] = {0}, place[MOST] = {0};
    for (size_t i = 0; i < n; i++) {
        const lg_probe_item *item = lg_probe_item_at(items, i);
        assert_int_equal(item->n_choices, n_choices);
        rank[check_story(item, &fillers, &newest)]++;
        recent += item->most_recent == (int)item->answer;
        frequent += item->most_frequent == (int)item->answer;
        first += item->first_mention == (int)item->answer;
        place[item->answer]++;
    }
    assert_true(fillers > n / 2); /* where filler begins is no sign of the binding */
    /* no copy is right more often than chance, and none is always wrong but the most recent */
    assert_int_equal(recent, 0);
    assert_true(frequent > 0 && frequent <= n / n_choices);
    assert_true(first > 0 && first <= n / n_choices);
    assert_true(newest < n / n_choices + n / 12);
    /* nor is the last but one, or the last but two */
    size_t others = n_choices - 1;
    if (others > 3) others = 3;
    for (size_t r = 2; r <= others + 1; r++)
        assert_in_range(rank[r], n / others - n / 20, n / others + n / 20);
    for (size_t k = 0; k < n_choices; k++) assert_in_range(place[k], n / n_choices / 2, 2 * n / n_choices);
    lg_probe_items_free(items);
}

static void stories(void **state) {
    (void)state;
    static const uint64_t distances[] = {256, 64};
    lg_tokenizer *tokenizer = small_tokenizer();
    for (uint64_t seed = 0; seed < 2; seed++) {
        lg_probe_options o = LG_PROBE_OPTIONS_INIT;
        o.kinds = 1u << LG_PROBE_DISCOURSE;
        o.distances = distances;
        o.n_distances = 1 + (seed == 0);
        o.count = 288;
        o.seed = seed;
        run(tokenizer, &o, 4);
    }
    lg_tokenizer_close(tokenizer);
}

static void larger_and_smaller(void **state) {
    (void)state;
    static const uint64_t distances[] = {400};
    lg_tokenizer *tokenizer = small_tokenizer();
    lg_probe_options o = LG_PROBE_OPTIONS_INIT;
    o.kinds = 1u << LG_PROBE_DISCOURSE;
    o.distances = distances;
    o.n_distances = 1;
    o.count = 240;
    o.entities = 3;
    o.updates = 5;
    run(tokenizer, &o, 3);
    o.entities = 8;
    o.updates = 2;
    o.distractors = 3;
    run(tokenizer, &o, 8);
    lg_tokenizer_close(tokenizer);
}

/* The state grows with the text: more updates, longer stories. */
static void growth(void **state) {
    (void)state;
    static const uint64_t distances[] = {64};
    lg_tokenizer *tokenizer = small_tokenizer();
    lg_probe_options o = LG_PROBE_OPTIONS_INIT;
    o.kinds = 1u << LG_PROBE_DISCOURSE;
    o.distances = distances;
    o.n_distances = 1;
    o.updates = 4;
    o.count = 128;
    lg_probe_items *items = generate(tokenizer, &o);
    size_t length[5] = {0};
    for (size_t i = 0; i < lg_probe_n_items(items); i++) {
        const lg_probe_item *item = lg_probe_item_at(items, i);
        length[strchr(item->cell, '/')[1] - '0'] += item->prompt_length;
    }
    for (size_t u = 2; u < 5; u++) assert_true(length[u] > length[u - 1]);
    lg_probe_items_free(items);
    lg_tokenizer_close(tokenizer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stories),
        cmocka_unit_test(larger_and_smaller),
        cmocka_unit_test(growth),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
