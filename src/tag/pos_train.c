/* The averaged perceptron, with a margin: where the gold tag does not win clearly, the word's features gain
   for that tag and lose for its rival; the weights are averaged over all steps. For the features f of the
   word:

       score(tag) = sum over f of w[f, tag]
       if score(gold) - score(rival) <= margin:   w[f, gold] += 1, w[f, rival] -= 1
       average of w = w - (sum over its changes of step * change) / steps

   Earlier tags are those that the tagger itself gave, as they will be later. All of it is integer arithmetic.
 */
#include "tag/pos_train.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "tag/prose.h"
#include "tag/tagsets.h"

enum {
    MARGIN = 20,         /* to a tag of the same family */
    FAMILY_MARGIN = 100, /* to a tag of another: such mistakes count for more */
    RARE = 2,            /* features seen less often are left out */
    STEPS = 2,           /* of a rounded weight in one of the perceptron\'s */
    SMALLEST = 2, /* rounded weight that is kept: smaller ones make the file larger, the tags no better */
    LARGEST = 127
};

typedef struct weight {
    int64_t changes; /* sum of step * change */
    int32_t now;
    uint16_t tag;
} weight;

typedef struct row {
    weight *weights;
    uint16_t count, capacity;
} row;

/* Features by their hash. */
typedef struct feature_map {
    uint64_t *hashes; /* [capacity], a power of two; 0: empty */
    uint32_t *values; /* while they are counted: how often each came; then its index + 1, 0: left out */
    size_t capacity, count;
} feature_map;

typedef struct trainer {
    const lg_pos_corpus *corpus;
    const lg_pos_lexicon *own, *other;
    size_t *sentences, n_sentences;
    uint8_t *parts; /* [n_sentences] */

    lg_pos_token *tokens, border; /* of the sentence in work */
    size_t token_capacity;
    feature_map map;
    uint32_t *statics; /* indices of the words' static features */
    size_t n_statics, static_capacity;
    size_t *static_end; /* [words] */
    row *rows;          /* [n_rows] by feature */
    size_t n_rows;
    lg_arena arena; /* weights */
    int64_t step;
    size_t *order;                       /* [n_sentences] */
    lg_family families[LG_POS_MAX_TAGS]; /* of the tags */
} trainer;

/* ---- sentences ---- */

size_t *lg_pos_sentences(const lg_pos_corpus *corpus, size_t *n_sentences) {
    size_t n = 0;
    for (size_t i = 0; i < corpus->words.count; i++) n += corpus->words.tag[i] & LG_BEGINS_SENTENCE;
    size_t *sentences = lg_alloc(n + 1, sizeof *sentences);
    if (!sentences) return NULL;
    *n_sentences = n;
    n = 0;
    for (size_t i = 0; i < corpus->words.count; i++)
        if (corpus->words.tag[i] & LG_BEGINS_SENTENCE) sentences[n++] = i;
    sentences[n] = corpus->words.count;
    return sentences;
}

void lg_pos_cut_parts(const lg_pos_corpus *corpus, const size_t *sentences, size_t n_sentences,
                      uint8_t *parts) {
    size_t document = 0;
    for (size_t s = 0; s < n_sentences; s++) {
        while (corpus->document_end[document] <= sentences[s]) document++;
        parts[s] = (uint8_t)(corpus->n_documents >= LG_POS_PARTS ? document % LG_POS_PARTS
                                                                 : s * LG_POS_PARTS / n_sentences);
    }
}

bool lg_pos_count_forms(const lg_pos_corpus *corpus, lg_pos_lexicon *lexicon) {
    size_t n;
    size_t *sentences = lg_pos_sentences(corpus, &n);
    uint8_t *parts = sentences ? lg_alloc(n, 1) : NULL;
    bool good = parts != NULL;
    if (good) lg_pos_cut_parts(corpus, sentences, n, parts);
    for (size_t s = 0; s < n && good; s++) {
        lg_pos_sentence state = {0};
        for (size_t i = sentences[s]; i < sentences[s + 1] && good; i++) {
            lg_pos_token t;
            lg_pos_form form;
            lg_pos_spell(&t, &form, &state, corpus->given.data, &corpus->words, i);
            good = lg_pos_lexicon_add(lexicon, t.exact, 0, corpus->gold[i], parts[s]) &&
                   lg_pos_lexicon_add(lexicon, t.folded, t.lower, corpus->gold[i], parts[s]);
        }
    }
    free(sentences);
    free(parts);
    return good;
}

static lg_pos_classes classes_of(const trainer *t, uint64_t form, unsigned part) {
    return (lg_pos_classes){lg_pos_lexicon_class(t->own, form, part),
                            lg_pos_lexicon_class(t->other, form, LG_POS_PARTS),
                            lg_pos_lexicon_only(t->own, form)};
}

/* The sentence in work, for looking up forms. */
typedef struct place {
    const trainer *trainer;
    unsigned part;
} place;

static uint16_t look_up(const void *context, uint64_t folded, uint64_t lower) {
    (void)lower;
    const place *p = context;
    return lg_pos_lexicon_class(p->trainer->own, folded, p->part);
}

/* Spells sentence S, its own part of the text hidden from the lexicon. */
static bool spell_sentence(trainer *t, size_t s) {
    const size_t begin = t->sentences[s], n = t->sentences[s + 1] - begin;
    if (!lg_reserve(&t->tokens, &t->token_capacity, n, sizeof *t->tokens)) return false;
    lg_pos_sentence state = {0};
    const place here = {t, t->parts[s]};
    for (size_t i = 0; i < n; i++) {
        lg_pos_token *token = &t->tokens[i];
        lg_pos_form form;
        lg_pos_spell(token, &form, &state, t->corpus->given.data, &t->corpus->words, begin + i);
        token->as_is = classes_of(t, token->exact, t->parts[s]);
        token->small = classes_of(t, token->lower, t->parts[s]);
        token->any = classes_of(t, token->folded, t->parts[s]);
        lg_pos_finish(token, &form, look_up, &here);
    }
    return true;
}

/* The window around word I of the N of the sentence that was spelled. */
static void make_window(const trainer *t, size_t i, size_t n, const lg_pos_token *window[5]) {
    for (size_t k = 0; k < 5; k++)
        window[k] = i + k >= 2 && i + k < n + 2 ? &t->tokens[i + k - 2] : &t->border;
}

/* ---- features ---- */

static size_t find_slot(const feature_map *map, uint64_t hash) {
    size_t i = (size_t)(hash >> 20) & (map->capacity - 1);
    while (map->hashes[i] && map->hashes[i] != hash) i = (i + 1) & (map->capacity - 1);
    return i;
}

static bool grow_map(feature_map *map) {
    feature_map larger = {.capacity = map->capacity ? 2 * map->capacity : 1024, .count = map->count};
    larger.hashes = calloc(larger.capacity, sizeof *larger.hashes);
    larger.values = calloc(larger.capacity, sizeof *larger.values);
    if (!larger.hashes || !larger.values) {
        free(larger.hashes);
        free(larger.values);
        return false;
    }
    for (size_t i = 0; i < map->capacity; i++) {
        if (!map->hashes[i]) continue;
        size_t at = find_slot(&larger, map->hashes[i]);
        larger.hashes[at] = map->hashes[i];
        larger.values[at] = map->values[i];
    }
    free(map->hashes);
    free(map->values);
    *map = larger;
    return true;
}

static bool count_feature(feature_map *map, uint64_t hash) {
    if (5 * map->count >= 3 * map->capacity && !grow_map(map)) return false;
    size_t at = find_slot(map, hash);
    if (!map->hashes[at]) {
        map->hashes[at] = hash;
        map->count++;
    }
    map->values[at]++;
    return true;
}

/* Replaces hashes by the indices of those features that are kept; returns how many. */
static size_t find_features(const feature_map *map, const uint64_t *hashes, size_t n, uint32_t *indices) {
    size_t kept = 0;
    for (size_t k = 0; k < n; k++) {
        size_t at = find_slot(map, hashes[k]);
        if (map->hashes[at] && map->values[at]) indices[kept++] = map->values[at] - 1;
    }
    return kept;
}

static bool is_learned(const lg_pos_token *token) { /* others have their one tag from the lexicon */
    return token->as_is.only == LG_POS_NOT_ONE;
}

/* Counts all features of the text, earlier tags as in the gold standard. */
static bool count_features(trainer *t) {
    const uint16_t none = (uint16_t)t->corpus->tags.count;
    for (size_t s = 0; s < t->n_sentences; s++) {
        const size_t begin = t->sentences[s], n = t->sentences[s + 1] - begin;
        if (!spell_sentence(t, s)) return false;
        uint16_t previous[3] = {none, none, none};
        for (size_t i = 0; i < n; i++) {
            if (is_learned(&t->tokens[i])) {
                const lg_pos_token *window[5];
                uint64_t hashes[LG_POS_STATIC + LG_POS_DYNAMIC];
                make_window(t, i, n, window);
                size_t k = lg_pos_static_features(window, hashes);
                k += lg_pos_dynamic_features(window, previous, hashes + k);
                while (k > 0)
                    if (!count_feature(&t->map, hashes[--k])) return false;
            }
            previous[2] = previous[1];
            previous[1] = previous[0];
            previous[0] = t->corpus->gold[begin + i];
        }
    }
    for (size_t i = 0; i < t->map.capacity; i++)
        t->map.values[i] = t->map.values[i] >= RARE ? (uint32_t)++t->n_rows : 0;
    return t->n_rows < UINT32_MAX;
}

/* Keeps the indices of each word's static features. */
static bool index_features(trainer *t) {
    for (size_t s = 0; s < t->n_sentences; s++) {
        const size_t begin = t->sentences[s], n = t->sentences[s + 1] - begin;
        if (!spell_sentence(t, s)) return false;
        for (size_t i = 0; i < n; i++) {
            if (is_learned(&t->tokens[i])) {
                const lg_pos_token *window[5];
                uint64_t hashes[LG_POS_STATIC];
                make_window(t, i, n, window);
                size_t k = lg_pos_static_features(window, hashes);
                if (!lg_reserve(&t->statics, &t->static_capacity, t->n_statics + k, sizeof *t->statics))
                    return false;
                t->n_statics += find_features(&t->map, hashes, k, t->statics + t->n_statics);
            }
            t->static_end[begin + i] = t->n_statics;
        }
    }
    return true;
}

/* ---- weights ---- */

static void add_scores(const trainer *t, const uint32_t *features, size_t n, int64_t *scores) {
    for (size_t k = 0; k < n; k++) {
        const row *r = &t->rows[features[k]];
        for (size_t w = 0; w < r->count; w++) scores[r->weights[w].tag] += r->weights[w].now;
    }
}

static bool change(trainer *t, const uint32_t *features, size_t n, uint16_t tag, int32_t by) {
    for (size_t k = 0; k < n; k++) {
        row *r = &t->rows[features[k]];
        size_t w = 0;
        while (w < r->count && r->weights[w].tag != tag) w++;
        if (w == r->count) {
            if (r->count == r->capacity) { /* the arena keeps the smaller one: at most as much again */
                uint16_t capacity = (uint16_t)(r->capacity ? 2 * r->capacity : 2);
                weight *weights = lg_arena_alloc(&t->arena, capacity * sizeof *weights);
                if (!weights) return false;
                if (r->count) memcpy(weights, r->weights, r->count * sizeof *weights);
                r->weights = weights;
                r->capacity = capacity;
            }
            r->weights[r->count++] = (weight){0, 0, tag};
        }
        r->weights[w].now += by;
        r->weights[w].changes += by * t->step;
    }
    return true;
}

/* One sentence: tags it with the weights of the moment and corrects them. */
static bool learn_sentence(trainer *t, size_t s) {
    const size_t begin = t->sentences[s], n = t->sentences[s + 1] - begin, n_tags = t->corpus->tags.count;
    const uint16_t none = (uint16_t)n_tags;
    if (!spell_sentence(t, s)) return false;
    uint16_t previous[3] = {none, none, none};
    for (size_t i = 0; i < n; i++) {
        uint16_t best = t->tokens[i].as_is.only;
        if (is_learned(&t->tokens[i])) {
            const lg_pos_token *window[5];
            uint64_t hashes[LG_POS_DYNAMIC];
            uint32_t dynamic[LG_POS_DYNAMIC];
            int64_t scores[LG_POS_MAX_TAGS] = {0};
            const size_t first = begin + i ? t->static_end[begin + i - 1] : 0;
            const uint32_t *statics = t->statics + first;
            const size_t n_statics = t->static_end[begin + i] - first;
            make_window(t, i, n, window);
            size_t n_dynamic = lg_pos_dynamic_features(window, previous, hashes);
            n_dynamic = find_features(&t->map, hashes, n_dynamic, dynamic);
            add_scores(t, statics, n_statics, scores);
            add_scores(t, dynamic, n_dynamic, scores);
            const uint16_t gold = t->corpus->gold[begin + i];
            uint16_t rival = none;
            int64_t least = 0; /* by which the gold tag leads the rival, the margin taken away */
            best = 0;
            for (uint16_t k = 0; k < n_tags; k++) {
                if (scores[k] > scores[best]) best = k;
                if (k == gold) continue;
                int64_t lead =
                    scores[gold] - scores[k] - (t->families[k] == t->families[gold] ? MARGIN : FAMILY_MARGIN);
                if (rival != none && lead >= least) continue;
                rival = k;
                least = lead;
            }
            if (rival != none && least <= 0 &&
                !(change(t, statics, n_statics, gold, 1) && change(t, dynamic, n_dynamic, gold, 1) &&
                  change(t, statics, n_statics, rival, -1) && change(t, dynamic, n_dynamic, rival, -1)))
                return false;
            t->step++;
        }
        previous[2] = previous[1];
        previous[1] = previous[0];
        previous[0] = best;
    }
    return true;
}

static void shuffle(size_t *order, size_t n, uint64_t *state) {
    for (size_t i = n; i > 1; i--) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        size_t j = (size_t)((*state >> 32) * (uint64_t)i >> 32), swap = order[i - 1];
        order[i - 1] = order[j];
        order[j] = swap;
    }
}

/* The average in steps of 1/STEPS, rounded to the nearest, ties away from zero. */
static int rounded(const weight *w, int64_t steps) {
    int64_t n = STEPS * (w->now * steps - w->changes), half = steps / 2;
    int64_t value = n >= 0 ? (n + half) / steps : -((-n + half) / steps);
    return (int)(value > LARGEST ? LARGEST : value < -LARGEST ? -LARGEST : value);
}

static bool keep_weights(trainer *t, lg_pos_learned *learned) {
    size_t capacity = 0, feature_capacity = 0;
    for (size_t i = 0; i < t->map.capacity; i++) {
        if (!t->map.values[i]) continue;
        const row *r = &t->rows[t->map.values[i] - 1];
        const size_t begin = learned->n_weights;
        for (size_t w = 0; w < r->count; w++) {
            int value = rounded(&r->weights[w], t->step);
            if (abs(value) < SMALLEST) continue;
            if (!lg_reserve(&learned->weights, &capacity, learned->n_weights + 1, sizeof *learned->weights))
                return false;
            learned->weights[learned->n_weights++] =
                (uint16_t)(r->weights[w].tag | (unsigned)(uint8_t)(int8_t)value << 8);
        }
        if (learned->n_weights == begin) continue;
        if (!lg_reserve(&learned->features, &feature_capacity, learned->n_features + 1,
                        sizeof *learned->features))
            return false;
        learned->features[learned->n_features++] =
            (lg_pos_learned_feature){t->map.hashes[i], begin, learned->n_weights - begin};
    }
    return true;
}

/* ---- the whole ---- */

lg_status lg_pos_learn(const lg_pos_corpus *corpus, const char *tagset, const lg_pos_lexicon *own,
                       const lg_pos_lexicon *other, unsigned epochs, lg_pos_learned *learned,
                       const lg_monitor *monitor, lg_error *error) {
    trainer t = {.corpus = corpus, .own = own, .other = other};
    uint64_t random = 1, done = 0;
    lg_status status = LG_OK;
    *learned = (lg_pos_learned){0};
    bool good = (t.sentences = lg_pos_sentences(corpus, &t.n_sentences)) != NULL &&
                (t.parts = lg_alloc(t.n_sentences, 1)) != NULL &&
                (t.order = lg_alloc(t.n_sentences, sizeof *t.order)) != NULL &&
                (t.static_end = lg_alloc(corpus->words.count, sizeof *t.static_end)) != NULL;
    if (!good) goto done;
    for (size_t i = 0; i < corpus->tags.count; i++)
        t.families[i] = lg_family_of_tag(tagset, corpus->tags.names[i]);
    lg_pos_border(&t.border, other->n_forms > 0);
    lg_pos_cut_parts(corpus, t.sentences, t.n_sentences, t.parts);
    for (size_t s = 0; s < t.n_sentences; s++) t.order[s] = s;
    if (!(good = count_features(&t) && index_features(&t))) goto done;
    if (!(good = (t.rows = calloc(t.n_rows + 1, sizeof *t.rows)) != NULL)) goto done;
    t.step = 1;
    for (unsigned e = 0; e < epochs && good && !status; e++) {
        shuffle(t.order, t.n_sentences, &random);
        for (size_t s = 0; s < t.n_sentences && good && !status; s++) {
            good = learn_sentence(&t, t.order[s]);
            if (++done % 256 == 0) {
                lg_progress(monitor, "sentences", done, (uint64_t)t.n_sentences * epochs);
                if (lg_is_cancelled(monitor))
                    status = lg_fail(error, LG_CANCELLED, "stopped; nothing is written");
            }
        }
    }
    if (good && !status) good = keep_weights(&t, learned);
done:
    free(t.sentences);
    free(t.parts);
    free(t.order);
    free(t.static_end);
    free(t.tokens);
    free(t.map.hashes);
    free(t.map.values);
    free(t.statics);
    free(t.rows);
    lg_arena_free(&t.arena);
    if (!good) status = lg_fail_memory(error);
    if (status) lg_pos_learned_free(learned);
    return status;
}

void lg_pos_learned_free(lg_pos_learned *learned) {
    free(learned->features);
    free(learned->weights);
    *learned = (lg_pos_learned){0};
}
