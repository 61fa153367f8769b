/* Giving words their part of speech: greedy, from left to right, by the sums of the weights of features. */
#include <stdlib.h>
#include <string.h>

#include "tag/pos_model.h"
#include "tag/pos_symbols.h"

enum {
    N_SCORES = 256,
    RING = 8,
    AHEAD = 3
}; /* tokens held; how far beyond the word in work they are spelled */

struct lg_pos_scratch {
    lg_pos_token tokens[RING], border;
    lg_pos_form form;                    /* of the word being spelled */
    uint64_t features[2][LG_POS_STATIC]; /* of the word in work, and of the next one */
    size_t n_features[2];
    int16_t scores[N_SCORES]; /* at most 88 features of at most 127 each */
};

lg_pos_scratch *lg_pos_scratch_create(const lg_pos_model *model) {
    lg_pos_scratch *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    lg_pos_border(&s->border, model->has_other);
    for (size_t i = 0; i < N_SCORES; i++) s->scores[i] = INT16_MIN;
    return s;
}

void lg_pos_scratch_free(lg_pos_scratch *scratch) {
    free(scratch);
}

/* A sentence in work. */
typedef struct sentence {
    const lg_pos_model *model;
    lg_pos_scratch *scratch;
    const char *text;
    const lg_spans *words;
    size_t begin, end; /* of its words */
    size_t spelled;    /* words spelled so far, up to here */
    lg_pos_sentence state;
} sentence;

static uint16_t look_up(const void *model, uint64_t folded, uint64_t lower) {
    return lg_pos_find_any(model, folded, lower).own;
}

static bool has_digit(const sentence *s, size_t word) {
    for (uint64_t at = s->words->begin[word]; at < s->words->end[word]; at++)
        if (s->text[at] >= '0' && s->text[at] <= '9') return true;
    return false;
}

/* The tag of a sign of Brown's, or LG_POS_NOT_ONE. */
static uint8_t symbol_tag(const sentence *s, size_t word) {
    const lg_pos_form *form = &s->scratch->form;
    const char first = form->lower[0];
    if ((first >= 'a' && first <= 'z') || (first >= '0' && first <= '9'))
        return LG_POS_NOT_ONE; /* most are */
    const bool between = form->length == 1 && first == '-' && word > s->begin && word + 1 < s->end &&
                         has_digit(s, word - 1) && has_digit(s, word + 1);
    const int symbol = lg_pos_symbol(form->lower, form->length, between);
    return symbol < 0 ? LG_POS_NOT_ONE : s->model->symbols[symbol];
}

static void spell_up_to(sentence *s, size_t end) {
    for (; s->spelled < end && s->spelled < s->end; s->spelled++) {
        lg_pos_token *t = &s->scratch->tokens[s->spelled % RING];
        lg_pos_spell(t, &s->scratch->form, &s->state, s->text, s->words, s->spelled);
        t->as_is = lg_pos_find_word(s->model, t->exact);
        if (s->model->has_symbols) {
            const uint8_t symbol = symbol_tag(s, s->spelled);
            if (symbol != LG_POS_NOT_ONE) t->as_is.only = symbol;
        }
        t->small = t->lower == t->exact ? t->as_is : lg_pos_find_word(s->model, t->lower);
        t->any = lg_pos_find_any(s->model, t->folded, t->lower);
        lg_pos_finish(t, &s->scratch->form, look_up, s->model);
    }
}

static void make_window(const sentence *s, size_t i, const lg_pos_token *window[5]) {
    for (size_t k = 0; k < 5; k++) {
        size_t at = i + k; /* two more than the word's index */
        window[k] = at >= s->begin + 2 && at < s->end + 2 ? &s->scratch->tokens[(at - 2) % RING]
                                                          : &s->scratch->border;
    }
}

/* Makes the static features of word I and has the memory fetched that they will be looked up in, while the
   word before it is worked on. */
static void prepare(sentence *s, size_t i) {
    if (i >= s->end) return;
    spell_up_to(s, i + AHEAD);
    if (s->scratch->tokens[i % RING].as_is.only != LG_POS_NOT_ONE) return;
    const lg_pos_token *window[5];
    make_window(s, i, window);
    uint64_t *features = s->scratch->features[i % 2];
    const size_t n = lg_pos_static_features(window, features);
    s->scratch->n_features[i % 2] = n;
    for (size_t k = 0; k < n; k++) {
        size_t home = lg_pos_home(s->model->features, features[k]);
        __builtin_prefetch(&s->model->feature_check[home]);
        __builtin_prefetch(&s->model->feature_row[home]);
    }
}

static void add_weights(const lg_pos_model *m, const uint64_t *features, size_t n, int16_t *scores) {
    size_t rows[LG_POS_STATIC > LG_POS_DYNAMIC ? LG_POS_STATIC : LG_POS_DYNAMIC], n_rows = 0;
    for (size_t k = 0; k < n; k++) {
        size_t slot = lg_pos_find_feature(m, features[k]);
        if (slot == SIZE_MAX) continue;
        rows[n_rows++] = slot;
        __builtin_prefetch(&m->weights[m->feature_row[slot]]);
    }
    for (size_t k = 0; k < n_rows; k++) {
        const uint16_t *w = &m->weights[m->feature_row[rows[k]]],
                       *end = &m->weights[m->feature_row[rows[k] + 1]];
        for (; w < end; w++) scores[*w & 0xFF] = (int16_t)(scores[*w & 0xFF] + (int8_t)(*w >> 8));
    }
}

/* The tag with the highest score, the lower one of two. Those that there are not have the lowest. */
static uint16_t best_tag(const int16_t scores[N_SCORES]) {
    int16_t most = scores[0];
    for (size_t i = 1; i < N_SCORES; i++) most = scores[i] > most ? scores[i] : most; /* vector code */
    uint16_t best = 0;
    while (scores[best] != most) best++;
    return best;
}

static void tag_sentence(sentence *s, uint16_t *tags) {
    const lg_pos_model *m = s->model;
    lg_pos_scratch *scratch = s->scratch;
    const uint16_t none = (uint16_t)m->n_tags;
    uint16_t previous[3] = {none, none, none};
    s->spelled = s->begin;
    s->state = (lg_pos_sentence){0};
    prepare(s, s->begin);
    for (size_t i = s->begin; i < s->end; i++) {
        prepare(s, i + 1);
        uint16_t tag = scratch->tokens[i % RING].as_is.only;
        if (tag == LG_POS_NOT_ONE) {
            const lg_pos_token *window[5];
            uint64_t dynamic[LG_POS_DYNAMIC];
            make_window(s, i, window);
            size_t n = lg_pos_dynamic_features(window, previous, dynamic);
            memset(scratch->scores, 0, m->n_tags * sizeof *scratch->scores);
            add_weights(m, scratch->features[i % 2], scratch->n_features[i % 2], scratch->scores);
            add_weights(m, dynamic, n, scratch->scores);
            tag = best_tag(scratch->scores);
        }
        tags[i] = tag;
        previous[2] = previous[1];
        previous[1] = previous[0];
        previous[0] = tag;
    }
}

bool lg_pos_tag(const lg_pos_model *model, lg_pos_scratch *scratch, const char *text, const lg_spans *words,
                uint16_t *tags) {
    for (size_t begin = 0, end; begin < words->count; begin = end) {
        end = begin + 1;
        while (end < words->count && !(words->tag[end] & LG_BEGINS_SENTENCE)) end++;
        sentence s = {model, scratch, text, words, begin, end, begin, {false, false}};
        tag_sentence(&s, tags);
    }
    return true;
}
