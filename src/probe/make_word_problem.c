/* The word problem over a finite group: "A5: w1 w2 … wn =" → the word of the product w1·w2·…·wn, among four.
   Also as sequences to train on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "probe/generate.h"
#include "probe/group.h"
#include "probe/word_problem.h"

/* ---- the words that elements are written as ---- */

/* Words of two syllables: nobody's, and easy to say. */
enum { CONSONANTS = 9, VOWELS = 5, SYLLABLES = CONSONANTS * VOWELS, WORDS = SYLLABLES * SYLLABLES };

static void spell(size_t i, char word[5]) {
    size_t number = i * 1237 % WORDS; /* 1237 has no divisor with WORDS in common: all come, mixed */
    size_t syllables[2] = {number / SYLLABLES, number % SYLLABLES};
    for (size_t k = 0; k < 2; k++) {
        word[2 * k] = "bdlmnrstv"[syllables[k] / VOWELS];
        word[2 * k + 1] = "aeiou"[syllables[k] % VOWELS];
    }
    word[4] = '\0';
}

lg_status lg_maker_elements(lg_maker *m, size_t order) {
    lg_words *e = &m->elements;
    lg_words_free(e);
    enum { LONGEST = 16 };
    size_t tokens[WORDS], count[LONGEST + 1] = {0}, commonest = 0;
    char word[8] = " ";
    for (size_t i = 0; i < WORDS; i++) {
        spell(i, word + 1);
        lg_status status = lg_tokenize(m->session, word, 5, false, &m->tokens, m->error);
        if (status) return status;
        tokens[i] = m->tokens.count < LONGEST ? m->tokens.count : LONGEST;
        count[tokens[i]]++;
    }
    for (size_t n = 1; n < LONGEST; n++)
        if (count[n] > count[commonest]) commonest = n;
    if (!commonest || count[commonest] < order)
        return lg_fail(m->error, LG_BAD_INPUT,
                       "word_problem: this tokenizer cuts no %zu of our words into the same number of tokens",
                       order);
    e->words = lg_alloc(order, sizeof *e->words);
    e->storage = lg_alloc(order, 5);
    if (!e->words || !e->storage) return lg_fail_memory(m->error);
    for (size_t i = 0; i < WORDS && e->count < order; i++) {
        if (tokens[i] != commonest) continue;
        char *kept = e->storage + 5 * e->count;
        spell(i, kept);
        e->words[e->count++] = kept;
    }
    return LG_OK;
}

/* ---- items ---- */

static size_t set_size(const lg_maker *m) {
    (void)m;
    return LG_WORD_CHOICES; /* the answer stands at each place once */
}

/* Adds ELEMENT unless it is there. With CLASS >= 0: nor if commuting everything would tell it from the
 * answer. */
static void add_choice(const lg_group *g, size_t *choices, size_t *n, size_t element, int class) {
    if (class >= 0 && g->class_of[element] != class) return;
    for (size_t i = 0; i < *n; i++)
        if (choices[i] == element) return;
    choices[(*n)++] = element;
}

void lg_word_choices(const lg_group *g, const size_t *sequence, size_t n, lg_random *r,
                     size_t choices[LG_WORD_CHOICES]) {
    size_t product = 0, without_last = 0, without_first = 0, reversed = 0, count = 0, members = 0;
    for (size_t i = 0; i < n; i++) {
        if (i + 1 == n) without_last = product;
        product = lg_group_product(g, product, sequence[i]);
        reversed = lg_group_product(g, sequence[i], reversed);
        if (i) without_first = lg_group_product(g, without_first, sequence[i]);
    }
    int class = g->class_of[product];
    for (size_t i = 0; i < g->order; i++) members += g->class_of[i] == class;
    /* A class of fewer than four would leave nothing to choose from. */
    if (members < LG_WORD_CHOICES) class = -1;
    choices[count++] = product;
    /* At most two that a model gets which goes wrong in a way that can be named. Of two elements the shorter
       products are the elements themselves, which can be seen: those are not among them. */
    size_t mistakes[3] = {without_last, reversed, without_first};
    for (size_t i = 0; i < 3 && count < LG_WORD_CHOICES - 1; i++)
        if (n > 2 || i == 1) add_choice(g, choices, &count, mistakes[i], class);
    while (count < LG_WORD_CHOICES) add_choice(g, choices, &count, lg_random_below(r, g->order), class);
}

static lg_status make(lg_maker *m, size_t set, lg_random r, lg_draft *drafts, bool *good) {
    (void)set;
    const lg_group *g = m->group;
    size_t n = (size_t)m->distance, places[LG_WORD_CHOICES];
    size_t *sequence = lg_alloc(n, sizeof *sequence);
    if (!sequence) return lg_fail_memory(m->error);
    lg_random_order(&r, places, LG_WORD_CHOICES);
    for (size_t i = 0; i < LG_WORD_CHOICES; i++) {
        lg_draft *d = &drafts[i];
        size_t choices[LG_WORD_CHOICES], others[LG_WORD_CHOICES - 1], next = 0;
        for (size_t k = 0; k < n; k++) sequence[k] = lg_random_below(&r, g->order);
        lg_draft_put(d, "%s:", g->name);
        for (size_t k = 0; k < n; k++) {
            lg_draft_put(d, " ");
            size_t begin = lg_draft_open(d);
            lg_draft_put(d, "%s", m->elements.words[sequence[k]]);
            if (!k) lg_draft_close(d, "binding", begin);
        }
        if (!d->failed) d->spans[0].end = d->prompt.length;
        lg_draft_put(d, " ");
        size_t begin = lg_draft_open(d);
        lg_draft_put(d, "=");
        lg_draft_close(d, "query", begin);
        lg_word_choices(g, sequence, n, &r, choices);
        lg_random_order(&r, others, LG_WORD_CHOICES - 1);
        for (size_t k = 0; k < LG_WORD_CHOICES; k++) {
            size_t element = choices[k == places[i] ? 0 : 1 + others[next++]];
            lg_draft_choice(d, -1, -1, " %s", m->elements.words[element]);
        }
        d->answer = places[i];
        for (size_t k = 0; k < i; k++) /* of two elements there are only so many sequences */
            if (d->prompt.length == drafts[k].prompt.length && !d->failed && !drafts[k].failed &&
                memcmp(d->prompt.data, drafts[k].prompt.data, d->prompt.length) == 0)
                *good = false;
    }
    lg_maker_hinder(m, 1, "all sequences that there are were drawn already: ask for fewer, or longer ones");
    free(sequence);
    return LG_OK;
}

const lg_recipe lg_recipe_word_problem = {
    .set_size = set_size, .make = make, .equal_items = true, .equal_choices = true, .own_text = true};

/* ---- sequences to train on ---- */

static void put_elements(lg_json_writer *w, const char *key, const size_t *elements, size_t n) {
    lg_json_put_key(w, key);
    lg_json_put_array(w);
    for (size_t i = 0; i < n; i++) lg_json_put_unsigned(w, elements[i]);
    lg_json_end_array(w);
}

static lg_status write_sequences(FILE *stream, const lg_group *g, size_t length, size_t count, uint64_t seed,
                                 lg_error *error) {
    size_t *elements = lg_alloc(length, sizeof *elements), *products = lg_alloc(length, sizeof *products);
    lg_text line = {0};
    struct {
        uint64_t seed, length;
        char purpose[32];
    } named = {.seed = seed, .length = length};
    snprintf(named.purpose, sizeof named.purpose, "training/%s", g->name);
    uint64_t key = lg_hash_of(&named, sizeof named).low;
    bool failed = !elements || !products;
    for (size_t i = 0; i < count && !failed; i++) {
        lg_random r = lg_random_at(key, (uint32_t)i, (uint32_t)((uint64_t)i >> 32), 0);
        size_t product = 0;
        char id[64];
        for (size_t k = 0; k < length; k++) {
            elements[k] = lg_random_below(&r, g->order);
            products[k] = product = lg_group_product(g, product, elements[k]);
        }
        line.length = 0;
        lg_json_writer w = {.out = &line};
        snprintf(id, sizeof id, "%s-%zu-%llu-%zu", g->name, length, (unsigned long long)seed, i);
        lg_json_put_object(&w);
        lg_json_put_key(&w, "id");
        lg_json_put_text(&w, id);
        lg_json_put_key(&w, "group");
        lg_json_put_text(&w, g->name);
        put_elements(&w, "input_ids", elements, length);
        put_elements(&w, "labels", products, length);
        lg_json_end_object(&w);
        lg_text_puts(&line, "\n");
        failed = line.failed;
        if (!failed) fwrite(line.data, 1, line.length, stream);
    }
    free(elements);
    free(products);
    lg_text_free(&line);
    return failed ? lg_fail_memory(error) : LG_OK;
}

lg_status lg_probe_write_training(const lg_probe_training_options *o, const char *path, lg_error *error) {
    static const uint64_t usual[] = {2, 4, 8, 16, 32, 64, 128, 256, 512};
    const uint64_t *lengths = o->n_lengths ? o->lengths : usual;
    size_t n_lengths = o->n_lengths ? o->n_lengths : sizeof usual / sizeof *usual, n_groups;
    lg_group groups[LG_N_GROUPS];
    lg_status status = lg_groups_named(o->groups, groups, &n_groups, error);
    for (size_t i = 0; i < n_lengths && !status; i++) {
        if (lengths[i] < LG_PROBE_SHORTEST || lengths[i] > LG_PROBE_LONGEST_TRAINING)
            status = lg_fail(error, LG_USAGE, "length %llu is not in %d to %d",
                             (unsigned long long)lengths[i], LG_PROBE_SHORTEST, LG_PROBE_LONGEST_TRAINING);
        for (size_t k = 0; k < i && !status; k++)
            if (lengths[k] == lengths[i])
                status = lg_fail(error, LG_USAGE, "length %llu is asked for twice",
                                 (unsigned long long)lengths[i]);
    }
    if (status) return status;
    lg_output output;
    if ((status = lg_output_open(path, &output, error))) return status;
    for (size_t g = 0; g < n_groups && !status; g++)
        for (size_t i = 0; i < n_lengths && !status; i++)
            status = write_sequences(output.stream, &groups[g], (size_t)lengths[i],
                                     o->count ? o->count : 1000, o->seed, error);
    if (!status) status = lg_output_commit(&output, error);
    lg_output_discard(&output);
    return status;
}
