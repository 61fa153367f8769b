/* Making probe items: sets of counterbalanced items are drawn until the tokenizer agrees with them. */
#include "probe/generate.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "probe/group.h"
#include "probe/rows.h"
#include "probe/word_problem.h"

const char *lg_probe_kind_name(lg_probe_kind kind) {
    static const char *const names[LG_N_PROBE_KINDS] = {"pronoun", "entity", "closure", "word_problem",
                                                        "discourse"};
    return names[kind];
}

static const lg_recipe *const recipes[LG_N_PROBE_KINDS] = {
    &lg_recipe_pronoun, &lg_recipe_entity, &lg_recipe_closure, &lg_recipe_word_problem, &lg_recipe_discourse};

/* ---- drafts ---- */

void lg_draft_clear(lg_draft *d) {
    d->prompt.length = d->cell.length = d->choice_text.length = 0;
    d->n_choices = d->n_spans = d->answer = d->from = d->to = 0;
    d->most_recent = d->most_frequent = d->first_mention = -1;
}

static void free_draft(lg_draft *d) {
    lg_text_free(&d->prompt);
    lg_text_free(&d->cell);
    lg_text_free(&d->choice_text);
    free(d->choice_ends);
    free(d->choices);
    free(d->spans);
}

static void put_arguments(lg_draft *d, lg_text *text, const char *format, va_list args) {
    char some[512];
    int length = vsnprintf(some, sizeof some, format, args);
    if (length < 0 || (size_t)length >= sizeof some) d->failed = true; /* words of ours are shorter */
    else lg_text_put(text, some, (size_t)length);
    d->failed |= text->failed;
}

void lg_draft_put(lg_draft *d, const char *format, ...) {
    va_list args;
    va_start(args, format);
    put_arguments(d, &d->prompt, format, args);
    va_end(args);
}

size_t lg_draft_open(const lg_draft *d) {
    return d->prompt.length;
}

void lg_draft_close(lg_draft *d, const char *role, size_t begin) {
    if (d->failed || !lg_reserve(&d->spans, &d->spans_capacity, d->n_spans + 1, sizeof *d->spans)) {
        d->failed = true;
        return;
    }
    d->spans[d->n_spans++] = (lg_probe_span){role, begin, d->prompt.length};
}

void lg_draft_choice(lg_draft *d, int bound, int listed, const char *format, ...) {
    va_list args;
    if (d->failed || !lg_reserve(&d->choices, &d->choices_capacity, d->n_choices + 1, sizeof *d->choices) ||
        !lg_reserve(&d->choice_ends, &d->ends_capacity, d->n_choices + 1, sizeof *d->choice_ends)) {
        d->failed = true;
        return;
    }
    va_start(args, format);
    put_arguments(d, &d->choice_text, format, args);
    va_end(args);
    d->choices[d->n_choices] = (lg_probe_choice){.bound = bound, .listed = listed};
    d->choice_ends[d->n_choices++] = d->choice_text.length;
}

/* ---- what recipes ask the maker ---- */

bool lg_maker_fill(lg_maker *m, lg_random *random, size_t taken) {
    long long wanted = (long long)m->distance - (long long)taken + m->adjust;
    if (wanted >= 0 &&
        lg_filler_draw(&m->filler, random, (size_t)wanted, m->asides, m->n_asides, m->pieces, &m->n_pieces))
        return true;
    lg_maker_hinder(
        m, 2, "the filler's pieces do not add up to that length: take a longer distance or another filler");
    return false;
}

void lg_maker_hinder(lg_maker *m, int stage, const char *obstacle) {
    if (stage < m->stage) return;
    m->stage = stage;
    m->obstacle = obstacle;
}

static void put_piece(const lg_maker *m, lg_draft *d, size_t piece) {
    size_t length;
    const char *text = lg_filler_piece(&m->filler, piece, &length);
    lg_text_put(&d->prompt, text, length);
    d->failed |= d->prompt.failed;
}

void lg_maker_put_aside(lg_maker *m, lg_random *random, lg_draft *d) {
    enum { WORDS = 5 };
    for (size_t i = 0; i < (m->filler.repeats ? WORDS : 1) && m->n_asides < LG_MAX_ASIDES; i++) {
        size_t piece = lg_random_below(random, m->filler.n_whole);
        for (size_t k = 0; k < m->n_asides; k++)
            if (m->asides[k] == piece) return;
        m->asides[m->n_asides++] = piece;
        put_piece(m, d, piece);
    }
}

void lg_maker_put_pieces(const lg_maker *m, lg_draft *d, size_t begin, size_t end) {
    for (size_t i = begin; i < end; i++) put_piece(m, d, m->pieces[i]);
}

lg_status lg_maker_words(lg_maker *m, lg_word_list list, const lg_words **words) {
    *words = &m->words[list];
    if (m->words[list].count) return LG_OK;
    lg_status status = lg_words_measure(&m->words[list], list, m->session, &m->tokens, m->error);
    if (status) lg_words_free(&m->words[list]);
    return status;
}

lg_status lg_maker_measure(lg_maker *m, const char *text, size_t length, size_t *tokens) {
    lg_text line = {0};
    lg_text_puts(&line, ".");
    lg_text_put(&line, text, length);
    if (line.failed) {
        lg_text_free(&line);
        return lg_fail_memory(m->error);
    }
    lg_status status = lg_tokenize(m->session, ".", 1, false, &m->tokens, m->error);
    size_t before = m->tokens.count;
    if (!status) status = lg_tokenize(m->session, line.data, line.length, false, &m->tokens, m->error);
    *tokens = m->tokens.count > before ? m->tokens.count - before : 0;
    lg_text_free(&line);
    return status;
}

/* ---- checking against the tokenizer ---- */

typedef struct shape {
    size_t prompt, longest; /* tokens, of the prompt and with the longest choice */
} shape;

/* Counts the tokens that lie in [d->from, d->to). false: one crosses the beginning. */
static bool count_between(const lg_tokens *tokens, const lg_draft *d, size_t *count) {
    size_t begin = 0;
    *count = 0;
    for (size_t i = 0; i < tokens->count; begin = tokens->ends[i++]) {
        if (begin < d->from && tokens->ends[i] > d->from) return false;
        if (begin >= d->from && tokens->ends[i] <= d->to && tokens->ends[i] > begin) ++*count;
    }
    return true;
}

/* Whether the tokenizer sees the item as it was meant. If the distance is off, `adjust` learns by how much.
 */
static lg_status check_draft(lg_maker *m, const lg_recipe *recipe, lg_draft *d, shape *s, bool *good) {
    lg_status status = lg_tokenize(m->session, d->prompt.data, d->prompt.length, false, &m->tokens, m->error);
    if (status) return status;
    *good = false;
    size_t length = d->prompt.length, first = 0, between;
    if (recipe->in_tokens) {
        if (!count_between(&m->tokens, d, &between)) {
            lg_maker_hinder(
                m, 3, "a token crosses the end of the binding: such a tokenizer has no exact distances");
            return LG_OK;
        }
        if (between != m->distance) {
            m->adjust += (long long)m->distance - (long long)between;
            lg_maker_hinder(
                m, 3,
                "the tokens of filler and context do not add up: such a tokenizer has no exact distances");
            return LG_OK;
        }
    }
    s->prompt = s->longest = m->tokens.count;
    for (size_t i = 0; i < d->n_choices; i++) {
        size_t begin = i ? d->choice_ends[i - 1] : 0;
        d->prompt.length = length;
        lg_text_put(&d->prompt, d->choice_text.data + begin, d->choice_ends[i] - begin);
        if (d->prompt.failed) return lg_fail_memory(m->error);
        status = lg_tokenize(m->session, d->prompt.data, d->prompt.length, false, &m->extended, m->error);
        d->prompt.length = length;
        if (status) return status;
        size_t n = m->tokens.count;
        if (m->extended.count <= n ||
            memcmp(m->tokens.ids, m->extended.ids, n * sizeof *m->tokens.ids) != 0 ||
            m->extended.ends[n - 1] != length) {
            lg_maker_hinder(m, 3, "a token crosses the boundary between prompt and choice");
            return LG_OK;
        }
        if (!lg_probe_spells(m->tokenizer, m->extended.ids + n, m->extended.count - n,
                             d->choice_text.data + begin, d->choice_ends[i] - begin)) {
            lg_maker_hinder(m, 3, "its vocabulary lacks tokens for a choice");
            return LG_OK;
        }
        if (!i) first = m->extended.count;
        if (recipe->equal_choices && m->extended.count != first) {
            lg_maker_hinder(m, 3, "the choices differ in their number of tokens");
            return LG_OK;
        }
        if (m->extended.count > s->longest) s->longest = m->extended.count;
    }
    *good = true;
    return LG_OK;
}

/* ---- sets ---- */

enum { RUN_NAME = 128 };

/* Prompts of a probe and distance, so that none comes twice. */
typedef struct seen {
    uint64_t *hashes; /* [capacity] 0: free */
    size_t count, capacity;
} seen;

static bool grow_seen(seen *s) {
    seen larger = {.capacity = s->capacity ? 2 * s->capacity : 1024};
    larger.hashes = calloc(larger.capacity, sizeof *larger.hashes);
    if (!larger.hashes) return false;
    for (size_t i = 0; i < s->capacity; i++) {
        if (!s->hashes[i]) continue;
        size_t at = s->hashes[i] & (larger.capacity - 1);
        while (larger.hashes[at]) at = (at + 1) & (larger.capacity - 1);
        larger.hashes[at] = s->hashes[i];
    }
    larger.count = s->count;
    free(s->hashes);
    *s = larger;
    return true;
}

/* The slot of a prompt, or the free one for it. */
static uint64_t *find_seen(const seen *s, const lg_text *prompt, uint64_t *hash) {
    *hash = lg_hash_of(prompt->data, prompt->length).low | 1;
    size_t at = *hash & (s->capacity - 1);
    while (s->hashes[at] && s->hashes[at] != *hash) at = (at + 1) & (s->capacity - 1);
    return &s->hashes[at];
}

static bool is_new(const seen *s, const lg_draft *drafts, size_t n) {
    uint64_t hash;
    for (size_t i = 0; i < n; i++)
        if (*find_seen(s, &drafts[i].prompt, &hash)) return false;
    return true;
}

static bool remember(seen *s, const lg_draft *drafts, size_t n) {
    while (s->count + n > s->capacity / 2)
        if (!grow_seen(s)) return false;
    for (size_t i = 0; i < n; i++) {
        uint64_t hash, *slot = find_seen(s, &drafts[i].prompt, &hash);
        s->count += !*slot;
        *slot = hash;
    }
    return true;
}

/* What items of different runs begin their ids with, so that one file may hold them all: probe, distance,
   tokenizer, seed, and a hash of the settings that change items, where they are not the usual ones. */
static void put_run(const lg_maker *m, const lg_recipe *recipe, const char *probe, char run[RUN_NAME]) {
    struct {
        lg_hash filler;
        uint64_t values[3];
    } unusual = {0};
    const bool grammar = m->filler.by_default || !recipe->in_tokens;
    bool usual = grammar;
    if (!grammar) unusual.filler = lg_hash_of(m->filler.text.data, m->filler.text.length);
    if (recipe->settings) {
        const lg_recipe_settings s = recipe->settings(m);
        memcpy(unusual.values, s.values, sizeof unusual.values);
        usual &= s.usual;
    }
    int n = snprintf(run, RUN_NAME, "%s-%llu-%.8s-%llu", probe, (unsigned long long)m->distance,
                     lg_tokenizer_identity(m->tokenizer), (unsigned long long)m->options->seed);
    if (!usual)
        snprintf(run + n, RUN_NAME - (size_t)n, "-%08x",
                 (unsigned)(lg_hash_of(&unusual, sizeof unusual).low & UINT32_MAX));
}

static lg_status add_draft(lg_maker *m, const lg_recipe *recipe, const char *probe, const char *run,
                           size_t set, size_t number, lg_draft *d) {
    char id[RUN_NAME + 32], group[RUN_NAME + 32];
    const char *tokenizer = lg_tokenizer_identity(m->tokenizer);
    snprintf(id, sizeof id, "\"%s-%zu\"", run, number);
    snprintf(group, sizeof group, "%s-set%zu", run, set);
    for (size_t i = 0; i < d->n_choices; i++) {
        size_t begin = i ? d->choice_ends[i - 1] : 0;
        d->choices[i].text = d->choice_text.data + begin;
        d->choices[i].length = d->choice_ends[i] - begin;
    }
    lg_probe_item item = {.id = id,
                          .probe = probe,
                          .cell = d->cell.length ? d->cell.data : "",
                          .group = recipe->own_text ? NULL : group,
                          .tokenizer = tokenizer,
                          .distance = m->distance,
                          .prompt = d->prompt.data,
                          .prompt_length = d->prompt.length,
                          .choices = d->choices,
                          .n_choices = d->n_choices,
                          .answer = d->answer,
                          .spans = d->spans,
                          .n_spans = d->n_spans,
                          .most_recent = d->most_recent,
                          .most_frequent = d->most_frequent,
                          .first_mention = d->first_mention};
    return lg_probe_items_add(m->items, &item, m->error);
}

/* Draws the set until it comes off. */
static lg_status make_set(lg_maker *m, const lg_recipe *recipe, const char *probe, uint64_t key, size_t set,
                          lg_draft *drafts, size_t n, const seen *earlier, size_t *longest) {
    enum { TRIES = 2000 };
    m->adjust = m->stage = 0;
    m->obstacle = "nothing fits";
    for (uint32_t try = 0; try < TRIES && !m->hopeless; try++) {
        bool good = true;
        shape shapes[2] = {{0}};
        for (size_t i = 0; i < n; i++) lg_draft_clear(&drafts[i]);
        lg_status status = recipe->make(
            m, set, lg_random_at(key, (uint32_t)set, try, (uint32_t)((uint64_t)set >> 32)), drafts, &good);
        for (size_t i = 0; i < n && !status; i++)
            if (drafts[i].failed) status = lg_fail_memory(m->error);
        if (!status && good && !is_new(earlier, drafts, n)) {
            lg_maker_hinder(m, 3, "all items that there are were made already: ask for fewer");
            good = false;
        }
        for (size_t i = 0; i < n && !status && good; i++) {
            status = check_draft(m, recipe, &drafts[i], &shapes[i > 0], &good);
            if (i && good && recipe->equal_items && shapes[1].prompt != shapes[0].prompt) {
                lg_maker_hinder(
                    m, 3, "items that differ in the order of names only differ in their number of tokens");
                good = false;
            }
            if (shapes[i > 0].longest > *longest) *longest = shapes[i > 0].longest;
        }
        if (status || good) return status;
    }
    return lg_fail(m->error, LG_BAD_INPUT, "%s, distance %llu: no items come off with this tokenizer: %s",
                   probe, (unsigned long long)m->distance, m->obstacle);
}

/* All items of one probe and distance. Where they are too long for the models, none. */
static lg_status make_distance(lg_maker *m, const lg_recipe *recipe, const char *probe) {
    const lg_probe_options *o = m->options;
    size_t n = recipe->set_size(m), count = o->count ? o->count : 200, before = lg_probe_n_items(m->items);
    size_t sets = count / n + (count % n != 0);
    struct {
        uint64_t seed, distance;
        char probe[32];
    } named = {.seed = o->seed, .distance = m->distance};
    snprintf(named.probe, sizeof named.probe, "%s", probe);
    uint64_t key = lg_hash_of(&named, sizeof named).low;
    char run[RUN_NAME];
    put_run(m, recipe, probe, run);
    seen earlier = {0};
    lg_draft *drafts = calloc(n, sizeof *drafts);
    lg_status status = drafts && grow_seen(&earlier) ? LG_OK : lg_fail_memory(m->error);
    m->n_curtailed = 0;
    for (size_t set = 0; set < sets && !status; set++) {
        size_t longest = 0;
        if (lg_is_cancelled(m->monitor)) {
            status = lg_fail(m->error, LG_CANCELLED, "stopped");
            break;
        }
        status = make_set(m, recipe, probe, key, set, drafts, n, &earlier, &longest);
        if (status) break;
        if (o->max_tokens && longest > o->max_tokens) {
            lg_probe_items_truncate(m->items, before);
            m->n_curtailed = 0;
            lg_note(m->monitor,
                    "%s: %s %llu is left out: an item has %zu tokens, and at most %zu are allowed", probe,
                    recipe->in_tokens ? "distance" : "length", (unsigned long long)m->distance, longest,
                    o->max_tokens);
            break;
        }
        if (!remember(&earlier, drafts, n)) status = lg_fail_memory(m->error);
        for (size_t i = 0; i < n && !status; i++)
            status = add_draft(m, recipe, probe, run, set, set * n + i, &drafts[i]);
        lg_progress(m->monitor, "items", lg_probe_n_items(m->items), 0);
    }
    if (!status && m->n_curtailed)
        lg_note(m->monitor, "%s: distance %llu is too short for %zu of the distractors, which were left out",
                probe, (unsigned long long)m->distance, m->n_curtailed);
    for (size_t i = 0; drafts && i < n; i++) free_draft(&drafts[i]);
    free(drafts);
    free(earlier.hashes);
    return status;
}

/* ---- options ---- */

static const uint64_t usual_distances[] = {32, 64, 128, 256, 512, 1024};
static const uint64_t usual_lengths[] = {2, 4, 8, 16, 32, 64, 128, 256, 512};

/* The list asked for, or the usual one; each in LOW … HIGH and named once. */
static lg_status choose_list(const uint64_t *asked, size_t n_asked, const uint64_t *usual, size_t n_usual,
                             const char *what, uint64_t low, uint64_t high, const uint64_t **list, size_t *n,
                             lg_error *error) {
    *list = n_asked ? asked : usual;
    *n = n_asked ? n_asked : n_usual;
    for (size_t i = 0; i < *n; i++) {
        if ((*list)[i] < low || (*list)[i] > high)
            return lg_fail(error, LG_USAGE, "%s %llu is not in %llu to %llu", what,
                           (unsigned long long)(*list)[i], (unsigned long long)low, (unsigned long long)high);
        for (size_t k = 0; k < i; k++)
            if ((*list)[k] == (*list)[i])
                return lg_fail(error, LG_USAGE, "%s %llu is asked for twice", what,
                               (unsigned long long)(*list)[i]);
    }
    return LG_OK;
}

static lg_status check_options(const lg_probe_options *o, lg_error *error) {
    if (o->kinds >> LG_N_PROBE_KINDS) return lg_fail(error, LG_USAGE, "there is no such kind of probe");
    if (o->entities && (o->entities < LG_PROBE_FEWEST_ENTITIES || o->entities > LG_PROBE_MOST_ENTITIES))
        return lg_fail(error, LG_USAGE, "%zu entities: %d to %d make a story that can be asked about",
                       o->entities, LG_PROBE_FEWEST_ENTITIES, LG_PROBE_MOST_ENTITIES);
    if (o->updates > LG_PROBE_MOST_UPDATES)
        return lg_fail(error, LG_USAGE, "%zu updates: at most %d", o->updates, LG_PROBE_MOST_UPDATES);
    if (o->distractors >= (o->entities ? o->entities : 4))
        return lg_fail(error, LG_USAGE,
                       "%zu distractors of %zu entities: there must be fewer, one is asked for",
                       o->distractors, o->entities ? o->entities : 4);
    if (o->count > LG_PROBE_MOST_ITEMS)
        return lg_fail(error, LG_USAGE, "%zu items: at most %d", o->count, LG_PROBE_MOST_ITEMS);
    return LG_OK;
}

static lg_status make_word_problems(lg_maker *m, const lg_group *groups, size_t n_groups,
                                    const uint64_t *lengths, size_t n_lengths) {
    lg_status status = LG_OK;
    for (size_t g = 0; g < n_groups && !status; g++) {
        char probe[64];
        snprintf(probe, sizeof probe, "word_problem/%s", groups[g].name);
        m->group = &groups[g];
        status = lg_maker_elements(m, groups[g].order);
        for (size_t i = 0; i < n_lengths && !status; i++) {
            m->distance = lengths[i];
            status = make_distance(m, &lg_recipe_word_problem, probe);
        }
    }
    return status;
}

/* There are no other pronouns to choose from: where the tokenizer cuts them differently, that is said. */
static lg_status compare_pronouns(lg_maker *m) {
    size_t he, she;
    lg_status status = lg_maker_measure(m, " he", 3, &he);
    if (!status) status = lg_maker_measure(m, " she", 4, &she);
    if (!status && he != she)
        lg_note(
            m->monitor,
            "pronoun: this tokenizer makes %zu token%s of \" he\" and %zu of \" she\": single margins lean "
            "towards the shorter, means over whole sets do not",
            he, he == 1 ? "" : "s", she);
    return status;
}

lg_status lg_probe_generate(const lg_probe_options *options, const lg_tokenizer *tokenizer,
                            const lg_monitor *monitor, lg_probe_items **items, lg_error *error) {
    lg_maker m = {.options = options, .monitor = monitor, .error = error, .tokenizer = tokenizer};
    const uint64_t *distances, *lengths;
    size_t n_distances, n_lengths, n_groups, farthest = 0;
    lg_group groups[LG_N_GROUPS];
    unsigned kinds = options->kinds ? options->kinds : (1u << LG_N_PROBE_KINDS) - 1;
    *items = NULL;
    lg_status status = check_options(options, error);
    if (!status)
        status = choose_list(options->distances, options->n_distances, usual_distances,
                             sizeof usual_distances / sizeof *usual_distances, "distance", LG_PROBE_NEAREST,
                             LG_PROBE_FARTHEST, &distances, &n_distances, error);
    if (!status)
        status = choose_list(options->lengths, options->n_lengths, usual_lengths,
                             sizeof usual_lengths / sizeof *usual_lengths, "length", LG_PROBE_SHORTEST,
                             LG_PROBE_LONGEST, &lengths, &n_lengths, error);
    if (!status) status = lg_groups_named(options->groups, groups, &n_groups, error);
    if (status) return status;
    for (size_t i = 0; i < n_distances; i++)
        if (distances[i] > farthest) farthest = distances[i];
    farthest += 64; /* for what context takes away */
    if ((status = lg_tokenizer_session_create(tokenizer, &m.session, error))) goto done;
    if ((status = lg_probe_items_create(&m.items, error))) goto done;
    if (kinds & ~(1u << LG_PROBE_WORD_PROBLEM)) {
        m.pieces = lg_alloc(farthest + 1, sizeof *m.pieces);
        if (!m.pieces) {
            status = lg_fail_memory(error);
            goto done;
        }
        status = lg_filler_open(&m.filler, options->filler ? options->filler : "grammar", options->seed,
                                farthest, m.session, &m.tokens, monitor, error);
    }
    if (!status && (kinds >> LG_PROBE_PRONOUN & 1)) status = compare_pronouns(&m);
    for (unsigned kind = 0; kind < LG_N_PROBE_KINDS && !status; kind++) {
        if (!(kinds >> kind & 1)) continue;
        if (kind == LG_PROBE_WORD_PROBLEM) {
            status = make_word_problems(&m, groups, n_groups, lengths, n_lengths);
            continue;
        }
        for (size_t i = 0; i < n_distances && !status; i++) {
            m.distance = distances[i];
            status = make_distance(&m, recipes[kind], lg_probe_kind_name((lg_probe_kind)kind));
        }
    }
    if (!status && !lg_probe_n_items(m.items))
        status =
            lg_fail(error, LG_USAGE, "no items: every distance asked for is longer than %zu tokens allow",
                    options->max_tokens);
done:
    lg_filler_close(&m.filler);
    for (size_t i = 0; i < LG_N_WORD_LISTS; i++) lg_words_free(&m.words[i]);
    lg_words_free(&m.elements);
    lg_tokens_free(&m.tokens);
    lg_tokens_free(&m.extended);
    lg_tokenizer_session_free(m.session);
    free(m.pieces);
    if (!status) *items = m.items;
    else lg_probe_items_free(m.items);
    return status;
}
