/* Probe items made by hand, counterbalanced, and models whose habits are known. */
#ifndef TESTS_UNIT_PROBE_FIXTURE_H
#define TESTS_UNIT_PROBE_FIXTURE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "lossgap/probe_results.h"

/* Numbers that look random, the same on every machine. */
static inline double fixture_random(uint64_t *state) { /* [0, 1) */
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 33) / 2147483648.0;
}
static inline double fixture_noise(uint64_t *state) { /* mean 0, variance 1 */
    double sum = 0;
    for (int i = 0; i < 12; i++) sum += fixture_random(state);
    return sum - 6;
}

static inline lg_probe_items *fixture_items(void) {
    lg_error error = {0};
    lg_probe_items *items;
    if (lg_probe_items_create(&items, &error)) fail_msg("%s", error.message);
    return items;
}

/* Adds an item with the choices TEXTS [n]; BOUND and LISTED [n] may be NULL. */
static inline void fixture_item(lg_probe_items *items, lg_probe_item item, const char *const *texts, size_t n,
                                const int *bound, const int *listed) {
    lg_error error = {0};
    lg_probe_choice choices[8];
    char id[32];
    assert_true(n <= 8);
    for (size_t c = 0; c < n; c++)
        choices[c] =
            (lg_probe_choice){texts[c], strlen(texts[c]), bound ? bound[c] : -1, listed ? listed[c] : -1};
    if (!item.id) {
        snprintf(id, sizeof id, "%zu", lg_probe_n_items(items));
        item.id = id;
    }
    if (!item.prompt) item.prompt = "Text.";
    item.prompt_length = strlen(item.prompt);
    item.choices = choices;
    item.n_choices = n;
    if (lg_probe_items_add(items, &item, &error)) fail_msg("%s", error.message);
}

#define NO_BASELINES .most_recent = -1, .most_frequent = -1, .first_mention = -1

/* A set of four: he or she first x first or second asked. */
static inline void fixture_pronouns(lg_probe_items *items, uint64_t distance, size_t sets) {
    static const char *const texts[] = {" he", " she"};
    for (size_t s = 0; s < sets; s++)
        for (int condition = 0; condition < 4; condition++) {
            int she_first = condition >> 1, second = condition & 1;
            char cell[32], group[32];
            snprintf(cell, sizeof cell, "%s-first/%s", she_first ? "she" : "he", second ? "second" : "first");
            snprintf(group, sizeof group, "p%zu", s);
            fixture_item(items,
                         (lg_probe_item){.probe = "pronoun",
                                         .cell = cell,
                                         .group = group,
                                         .distance = distance,
                                         .answer = (size_t)(she_first ^ second),
                                         NO_BASELINES},
                         texts, 2, she_first ? (int[]){1, 0} : (int[]){0, 1}, NULL);
        }
}

/* A set of eight: which name is bound first x first or second asked x order of the options. */
static inline void fixture_entities(lg_probe_items *items, uint64_t distance, size_t sets) {
    for (size_t s = 0; s < sets; s++)
        for (int condition = 0; condition < 8; condition++) {
            int swapped = condition >> 2, second = condition >> 1 & 1, listed = condition & 1;
            char cell[48], group[32], a[16], b[16];
            snprintf(cell, sizeof cell, "%s/%s/%s", swapped ? "B-first" : "A-first",
                     second ? "second" : "first", listed ? "BA" : "AB");
            snprintf(group, sizeof group, "e%zu", s);
            snprintf(a, sizeof a, " Ann%zu", s);
            snprintf(b, sizeof b, " Bob%zu", s);
            fixture_item(items,
                         (lg_probe_item){.probe = "entity",
                                         .cell = cell,
                                         .group = group,
                                         .distance = distance,
                                         .answer = (size_t)(swapped ^ second),
                                         NO_BASELINES},
                         (const char *const[]){a, b}, 2, swapped ? (int[]){1, 0} : (int[]){0, 1},
                         listed ? (int[]){1, 0} : (int[]){0, 1});
        }
}

/* Four places: the answer is never the one bound last; every other rank is it equally often. */
static inline void fixture_discourse(lg_probe_items *items, uint64_t distance, size_t sets) {
    static const char *const texts[] = {" hall", " attic", " garden", " cellar"};
    for (size_t s = 0; s < sets; s++)
        for (int turn = 0; turn < 4; turn++)
            for (int rank = 0; rank < 3; rank++) {
                int bound[4], answer = 0, last = 0, first = 0;
                char group[32];
                snprintf(group, sizeof group, "d%zu", s);
                for (int c = 0; c < 4; c++) {
                    bound[c] = (c + turn) % 4;
                    if (bound[c] == rank) answer = c;
                    if (bound[c] == 3) last = c;
                    if (bound[c] == 0) first = c;
                }
                fixture_item(items,
                             (lg_probe_item){.probe = "discourse",
                                             .cell = "",
                                             .group = group,
                                             .distance = distance,
                                             .answer = (size_t)answer,
                                             .most_recent = last,
                                             .most_frequent = turn % 2 ? last : -1,
                                             .first_mention = first},
                             texts, 4, bound, NULL);
            }
}

/* ---- models ---- */

typedef enum fixture_habit {
    KNOWS,
    LAST_MENTIONED,
    FIRST_OPTION,  /* "(A)"; where nothing is listed, choice 0 */
    KNOWS_OR_LAST, /* half of the items each */
    RANDOM,
} fixture_habit;

static inline lg_probe_scores fixture_scores(const lg_probe_items *items, const char *model) {
    size_t n = 0;
    for (size_t i = 0; i < lg_probe_n_items(items); i++) n += lg_probe_item_at(items, i)->n_choices;
    lg_probe_scores s = {model, calloc(n + 1, sizeof *s.logp), calloc(n + 1, sizeof *s.tokens),
                         calloc(lg_probe_n_items(items) + 1, 1)};
    assert_true(s.logp && s.tokens && s.outcome);
    for (size_t i = 0; i < n; i++) s.tokens[i] = 1 + (uint32_t)(i % 3);
    return s;
}

static inline void fixture_free_scores(lg_probe_scores *s) {
    free(s->logp);
    free(s->tokens);
    free(s->outcome);
}

static inline int fixture_last(const lg_probe_item *item) {
    int last = 0;
    for (size_t c = 1; c < item->n_choices; c++)
        if (item->choices[c].bound > item->choices[last].bound) last = (int)c;
    return item->choices[last].bound >= 0 ? last : item->most_recent;
}

/* The choice by habit gets -2, the others -5, give or take NOISE x a standard deviation of 1. */
static inline lg_probe_scores fixture_model(const lg_probe_items *items, const char *model,
                                            fixture_habit habit, double noise, uint64_t seed) {
    lg_probe_scores s = fixture_scores(items, model);
    uint64_t state = seed * 77 + 1;
    for (size_t i = 0, at = 0; i < lg_probe_n_items(items); i++) {
        const lg_probe_item *item = lg_probe_item_at(items, i);
        size_t chosen = item->answer;
        bool knows = habit == KNOWS || (habit == KNOWS_OR_LAST && fixture_random(&state) < 0.5);
        if (habit == FIRST_OPTION) {
            chosen = 0;
            for (size_t c = 0; c < item->n_choices; c++)
                if (item->choices[c].listed == 0) chosen = c;
        } else if (!knows && habit != RANDOM) {
            chosen = (size_t)fixture_last(item);
        }
        for (size_t c = 0; c < item->n_choices; c++, at++)
            s.logp[at] = (c == chosen && habit != RANDOM ? -20 : -23) + noise * fixture_noise(&state);
    }
    return s;
}

static inline lg_probe_results *fixture_evaluate(const lg_probe_items *items, const lg_probe_scores *scores,
                                                 size_t n) {
    lg_error error = {0};
    lg_probe_results *results;
    lg_probe_evaluate_options options = {.command = "test"};
    if (lg_probe_evaluate(items, scores, n, &options, &results, &error)) fail_msg("%s", error.message);
    return results;
}

static inline bool fixture_is_at(const lg_probe_place *at, const char *model, const char *probe,
                                 long distance, const char *cell) {
    return !strcmp(at->model, model) && !strcmp(at->probe, probe) && at->all_distances == (distance < 0) &&
           (distance < 0 || at->distance == (uint64_t)distance) && !at->cell == !cell &&
           (!cell || !strcmp(cell, at->cell));
}

/* DISTANCE < 0: all; CELL NULL: all. */
static inline const lg_probe_row *fixture_row(const lg_probe_results *r, const char *model, const char *probe,
                                              long distance, const char *cell) {
    for (size_t i = 0; i < lg_probe_n_rows(r); i++)
        if (fixture_is_at(&lg_probe_row_at(r, i)->at, model, probe, distance, cell))
            return lg_probe_row_at(r, i);
    fail_msg("no row for %s, %s", model, probe);
    return NULL;
}

static inline const lg_probe_bias *fixture_bias(const lg_probe_results *r, const char *model,
                                                const char *probe, long distance, const char *cell) {
    for (size_t i = 0; i < lg_probe_n_biases(r); i++)
        if (fixture_is_at(&lg_probe_bias_at(r, i)->at, model, probe, distance, cell))
            return lg_probe_bias_at(r, i);
    fail_msg("no bias for %s, %s", model, probe);
    return NULL;
}

static inline void fixture_near(double value, double expected, double tolerance, const char *what) {
    if (isnan(value) && isnan(expected)) return;
    if (!(fabs(value - expected) <= tolerance)) fail_msg("%s: %.17g, expected %.17g", what, value, expected);
}

#endif
