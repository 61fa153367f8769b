/* What the bias report makes of models whose habits are known, and its parts against least squares worked out
   the long way. */
#include "probe_fixture.h"

#include "lossgap/gap.h"
#include "stats/probe_internal.h"

static bool begins(const char *text, const char *start) {
    return !strncmp(text, start, strlen(start));
}

static bool has_found(const lg_probe_bias *bias, int part) {
    for (size_t i = 0; i < bias->n_found; i++)
        if (bias->found[i] == part) return true;
    return false;
}

static lg_probe_items *balanced_items(void) {
    lg_probe_items *items = fixture_items();
    for (uint64_t distance = 32; distance <= 64; distance *= 2) {
        fixture_pronouns(items, distance, 25);
        fixture_entities(items, distance, 25);
        fixture_discourse(items, distance, 25);
    }
    return items;
}

static void expect_first(const lg_probe_bias *bias, int part, const char *words) {
    if (!bias->n_found || bias->found[0] != part || !begins(bias->verdict, words))
        fail_msg("%s, %s: \"%s\" (%zu found), expected \"%s\"", bias->at.probe, bias->at.model, bias->verdict,
                 bias->n_found, words);
}

static void expect_found(const lg_probe_bias *bias, int part, const char *words) {
    expect_first(bias, part, words);
    if (bias->n_found != 1) fail_msg("%s, %s: \"%s\"", bias->at.probe, bias->at.model, bias->verdict);
}

/* The three of the issue, at every distance and over all, without and with noise half as large as the habit.
 */
static void test_habits(void **state) {
    (void)state;
    static const char *const probes[] = {"pronoun", "entity", "discourse"};
    lg_probe_items *items = balanced_items();
    size_t more = 0, looked_at = 0; /* what noise adds: 1 in 20 at most */
    for (int noisy = 0; noisy < 6; noisy++) {
        double noise = noisy ? 1.5 : 0;
        lg_probe_scores scores[] = {fixture_model(items, "perfect", KNOWS, noise, 3 + (uint64_t)noisy),
                                    fixture_model(items, "last", LAST_MENTIONED, noise, 40 + (uint64_t)noisy),
                                    fixture_model(items, "(A)", FIRST_OPTION, noise, 500 + (uint64_t)noisy)};
        lg_probe_results *r = fixture_evaluate(items, scores, 3);
        for (size_t p = 0; p < 3; p++)
            for (long distance = -1; distance <= 64; distance += distance < 0 ? 33 : 32) {
                const lg_probe_bias *perfect = fixture_bias(r, "perfect", probes[p], distance, NULL),
                                    *last = fixture_bias(r, "last", probes[p], distance, NULL),
                                    *first = fixture_bias(r, "(A)", probes[p], distance, NULL);
                expect_first(perfect, LG_PROBE_KNOWLEDGE + 1, "knows (+");
                expect_first(last, LG_PROBE_RECENCY + 1, "prefers the last-mentioned (+");
                if (p == 0) expect_first(first, LG_PROBE_IDENTITY + 1, "prefers \"he\" (+");
                if (p == 1) expect_first(first, LG_PROBE_POSITION + 1, "prefers the first option (+");
                fixture_near(perfect->part[LG_PROBE_KNOWLEDGE].mean, 3, noisy ? 0.6 : 1e-12, "knowledge");
                fixture_near(last->part[LG_PROBE_RECENCY].mean, 3, noisy ? 0.6 : 1e-12, "recency");
                assert_true(!last->by_cells && !last->note);
                if (p < 2) assert_true(last->overlap == 0);
                if (!has_found(last, LG_PROBE_KNOWLEDGE + 1))
                    assert_non_null(strstr(last->verdict, "no knowledge found"));
                const lg_probe_bias *all[] = {perfect, last, first};
                for (size_t m = 0; m < (p < 2 ? 3 : 2); m++) {
                    if (!noisy) assert_int_equal(all[m]->n_found, 1);
                    looked_at++;
                    more += all[m]->n_found > 1;
                }
                if (noisy) continue;
                const lg_probe_row *row = fixture_row(r, "last", probes[p], distance, NULL);
                fixture_near(row->summed.accuracy.clustered.mean, p < 2 ? 0.5 : 0, 0,
                             "accuracy of the last-mentioned");
                assert_true(last->picks[LG_PROBE_RECENCY].clustered.mean == 1);
                if (p == 2) assert_non_null(strstr(last->verdict, "below chance: right in 0 %"));
            }
        lg_probe_results_free(r);
        for (size_t m = 0; m < 3; m++) fixture_free_scores(&scores[m]);
    }
    if (more * 10 > looked_at) fail_msg("noise made something in %zu of %zu", more, looked_at);
    lg_probe_items_free(items);
}

static void test_mixture(void **state) {
    (void)state;
    static const char *const probes[] = {"pronoun", "entity", "discourse"};
    lg_probe_items *items = balanced_items();
    for (uint64_t seed = 0; seed < 4; seed++) {
        lg_probe_scores scores[] = {fixture_model(items, "half", KNOWS_OR_LAST, seed ? 1 : 0, seed),
                                    fixture_model(items, "random", RANDOM, 1, seed + 9)};
        lg_probe_results *r = fixture_evaluate(items, scores, 2);
        for (size_t p = 0; p < 3; p++) {
            const lg_probe_bias *bias = fixture_bias(r, "half", probes[p], -1, NULL);
            assert_int_equal(bias->n_found, 2);
            assert_true(has_found(bias, LG_PROBE_KNOWLEDGE + 1) && has_found(bias, LG_PROBE_RECENCY + 1));
            fixture_near(bias->part[LG_PROBE_KNOWLEDGE].mean, 1.5, 0.45, "half knowledge");
            fixture_near(bias->part[LG_PROBE_RECENCY].mean, 1.5, 0.45, "half recency");
            assert_non_null(strstr(bias->verdict, "knows (+"));
            assert_non_null(strstr(bias->verdict, "prefers the last-mentioned (+"));
            assert_non_null(strstr(bias->verdict, "; also "));
        }
        lg_probe_results_free(r);
        for (size_t m = 0; m < 2; m++) fixture_free_scores(&scores[m]);
    }
    /* habits that are none: found in hardly any of many samples */
    size_t found = 0;
    for (uint64_t seed = 0; seed < 30; seed++) {
        lg_probe_scores random = fixture_model(items, "random", RANDOM, 1, seed + 100);
        lg_probe_results *r = fixture_evaluate(items, &random, 1);
        for (size_t p = 0; p < 3; p++) {
            const lg_probe_bias *bias = fixture_bias(r, "random", probes[p], -1, NULL);
            found += bias->n_found > 0;
            if (!bias->n_found && begins(bias->verdict, "at chance"))
                assert_string_equal(bias->verdict, "at chance, no bias found");
        }
        lg_probe_results_free(r);
        fixture_free_scores(&random);
    }
    if (found > 10) fail_msg("found something in %zu of 90 samples of nothing", found); /* 4.5 expected */
    lg_probe_items_free(items);
}

/* The three habits and the mixture over generated items, without and with noise. */
static void test_generated(void **state) {
    (void)state;
    static const char *const probes[] = {"pronoun", "entity", "discourse"};
    static const uint64_t distances[] = {32, 64};
    lg_error error = {0};
    lg_tokenizer *tokenizer;
    lg_probe_items *items;
    lg_probe_options options = {.kinds =
                                    1u << LG_PROBE_PRONOUN | 1u << LG_PROBE_ENTITY | 1u << LG_PROBE_DISCOURSE,
                                .distances = distances,
                                .n_distances = 2,
                                .count = 200};
    if (lg_tokenizer_open("models/transformer", &tokenizer, &error) ||
        lg_probe_generate(&options, tokenizer, NULL, &items, &error))
        fail_msg("%s", error.message);
    for (int noisy = 0; noisy < 3; noisy++) {
        double noise = noisy;
        lg_probe_scores scores[] = {fixture_model(items, "perfect", KNOWS, noise, 1),
                                    fixture_model(items, "last", LAST_MENTIONED, noise, 2),
                                    fixture_model(items, "(A)", FIRST_OPTION, noise, 3),
                                    fixture_model(items, "half", KNOWS_OR_LAST, noise, 4)};
        lg_probe_results *r = fixture_evaluate(items, scores, 4);
        for (size_t p = 0; p < 3; p++)
            for (long distance = -1; distance <= 64; distance += distance < 0 ? 33 : 32) {
                const lg_probe_bias *perfect = fixture_bias(r, "perfect", probes[p], distance, NULL),
                                    *last = fixture_bias(r, "last", probes[p], distance, NULL),
                                    *first = fixture_bias(r, "(A)", probes[p], distance, NULL),
                                    *half = fixture_bias(r, "half", probes[p], distance, NULL);
                expect_first(perfect, LG_PROBE_KNOWLEDGE + 1, "knows (+");
                expect_first(last, LG_PROBE_RECENCY + 1, "prefers the last-mentioned (+");
                if (p == 0) expect_first(first, LG_PROBE_IDENTITY + 1, "prefers \"he\" (+");
                if (p == 1) expect_first(first, LG_PROBE_POSITION + 1, "prefers the first option (+");
                assert_true(has_found(half, LG_PROBE_KNOWLEDGE + 1) && has_found(half, LG_PROBE_RECENCY + 1));
                fixture_near(half->part[LG_PROBE_KNOWLEDGE].mean, 1.5, 0.7, "half knowledge");
                fixture_near(half->part[LG_PROBE_RECENCY].mean, 1.5, 0.7, "half recency");
                if (p < 2) assert_true(!perfect->by_cells && perfect->overlap == 0); /* they are balanced */
                if (noisy) continue;
                assert_true(perfect->n_found == 1 && last->n_found == 1);
                const lg_probe_row *row = fixture_row(r, "last", probes[p], distance, NULL);
                fixture_near(row->summed.accuracy.clustered.mean, p < 2 ? 0.5 : 0, 0, "accuracy");
                assert_int_equal(strstr(last->verdict, "below chance") != NULL, p == 2);
            }
        lg_probe_results_free(r);
        for (size_t m = 0; m < 4; m++) fixture_free_scores(&scores[m]);
    }
    lg_probe_items_free(items);
    lg_tokenizer_close(tokenizer);
}

/* The reverse habits have words of their own. */
static void test_reverse(void **state) {
    (void)state;
    lg_probe_items *items = balanced_items();
    lg_probe_scores scores[] = {fixture_model(items, "wrong", KNOWS, 0, 1),
                                fixture_model(items, "first", LAST_MENTIONED, 0, 1),
                                fixture_model(items, "(B)", FIRST_OPTION, 0, 1)};
    size_t choices = 0;
    for (size_t i = 0; i < lg_probe_n_items(items); i++) choices += lg_probe_item_at(items, i)->n_choices;
    for (size_t m = 0; m < 3; m++)
        for (size_t c = 0; c < choices; c++) scores[m].logp[c] = -43 - scores[m].logp[c];
    lg_probe_results *r = fixture_evaluate(items, scores, 3);
    expect_found(fixture_bias(r, "wrong", "entity", -1, NULL), -(LG_PROBE_KNOWLEDGE + 1),
                 "prefers the wrong answer (-3.00 nats, right in 0 %)");
    assert_non_null(
        strstr(fixture_bias(r, "wrong", "discourse", 32, NULL)->verdict, "right in 0 %, by chance in 25 %)"));
    expect_found(fixture_bias(r, "first", "pronoun", 32, NULL), -(LG_PROBE_RECENCY + 1),
                 "prefers the first-mentioned (-3.00 nats, picks it in 100 %)");
    expect_found(fixture_bias(r, "first", "discourse", 32, NULL), -(LG_PROBE_RECENCY + 1),
                 "avoids the last-mentioned (-3.00 nats, picks it in 0 %)");
    expect_found(fixture_bias(r, "(B)", "entity", 64, NULL), -(LG_PROBE_POSITION + 1),
                 "prefers the second option (-3.00 nats, picks it in 100 %)");
    expect_found(fixture_bias(r, "(B)", "pronoun", 64, NULL), -(LG_PROBE_IDENTITY + 1),
                 "prefers \"she\" (-3.00 nats, picks it in 100 %)");
    lg_probe_results_free(r);
    for (size_t m = 0; m < 3; m++) fixture_free_scores(&scores[m]);
    lg_probe_items_free(items);
}

/* In one cell everything coincides, and that is what the report says. */
static void test_cells(void **state) {
    (void)state;
    lg_probe_items *items = balanced_items();
    lg_probe_scores s = fixture_model(items, "last", LAST_MENTIONED, 0, 1);
    lg_probe_results *r = fixture_evaluate(items, &s, 1);
    const lg_probe_bias *bias = fixture_bias(r, "last", "pronoun", -1, "he-first/first");
    assert_true(!bias->separate && isnan(bias->part[LG_PROBE_KNOWLEDGE].mean));
    assert_string_equal(bias->verdict,
                        "one condition, where knowledge cannot be told from recency, identity: right "
                        "in 0 %, picks the last-mentioned in 100 %");
    bias = fixture_bias(r, "last", "entity", 32, "B-first/second/AB");
    assert_true(
        begins(bias->verdict,
               "one condition, where knowledge cannot be told from recency, position: right in 100 %"));
    lg_probe_results_free(r);
    fixture_free_scores(&s);
    lg_probe_items_free(items);
}

/* Sets of eight closers, of which the last four have other names in each set; each is right once. */
static lg_probe_items *closers(size_t sets) {
    lg_probe_items *items = fixture_items();
    for (size_t set = 0; set < sets; set++) {
        char text[8][24], cell[24], group[24];
        const char *texts[8];
        for (size_t c = 0; c < 8; c++) {
            snprintf(text[c], sizeof text[c], c < 4 ? " %c" : " </%c%zu>", ")]}|abcd"[c], set);
            texts[c] = text[c];
        }
        snprintf(group, sizeof group, "c%zu", set);
        for (size_t answer = 0; answer < 8; answer++) {
            snprintf(cell, sizeof cell, "kind-%zu", answer);
            fixture_item(
                items,
                (lg_probe_item){
                    .probe = "closure", .cell = cell, .group = group, .answer = answer, NO_BASELINES},
                texts, 8, NULL, NULL);
        }
    }
    return items;
}

/* Of eight closers one is picked almost always: that is said, and not that the model knows, though it is
   right by a little, but clearly, more often than by chance. */
static void test_favourite(void **state) {
    (void)state;
    lg_probe_items *items = closers(20);
    lg_probe_scores s[3] = {fixture_scores(items, "one"), fixture_scores(items, "most"),
                            fixture_model(items, "perfect", KNOWS, 0.1, 1)};
    for (size_t i = 0; i < lg_probe_n_items(items); i++)
        for (size_t c = 0; c < 8; c++) {
            const lg_probe_item *item = lg_probe_item_at(items, i);
            double logp = -9 + 0.3 * (c == item->answer) + 3. * (c == 1);
            s[0].logp[8 * i + c] = logp;
            /* one set of three is right once more */
            s[1].logp[8 * i + c] = logp + 4. * (c == item->answer && i / 8 % 3 == 0 && c == 6);
        }
    lg_probe_results *r = fixture_evaluate(items, s, 3);
    assert_string_equal(
        fixture_bias(r, "one", "closure", -1, NULL)->verdict,
        "leans to the answer, but chooses no better than chance (+0.30 nats, right in 12.5 %, by "
        "chance in 12.5 %); its favourite is \"]\" (picks it in 100 %)");
    const lg_probe_bias *most = fixture_bias(r, "most", "closure", -1, NULL);
    /* right in 27 of 160, 4.4 % more than by chance, of 87.5 % that are missing */
    assert_non_null(strstr(most->verdict, "leans to the answer, but chooses hardly better than chance (+"));
    assert_non_null(strstr(most->verdict, "; its favourite is \"]\" (picks it in 96 %)"));
    const lg_probe_bias *perfect = fixture_bias(r, "perfect", "closure", -1, NULL);
    assert_true(begins(perfect->verdict, "knows (+"));
    assert_null(strstr(perfect->verdict, "favourite"));
    /* One cell has one answer, which may be known or only liked. */
    assert_string_equal(
        fixture_bias(r, "one", "closure", -1, "kind-1")->verdict,
        "one condition, where knowledge cannot be told from a liking for \"]\": right in 100 %");
    assert_int_equal(fixture_bias(r, "one", "closure", -1, "kind-1")->n_found, 0);
    /* The picks name what all items offer, though there are more options than can be listed. */
    size_t found = 0;
    for (size_t i = 0; i < lg_probe_n_picks(r); i++) {
        const lg_probe_pick *pick = lg_probe_pick_at(r, i);
        if (pick->at.cell || !pick->at.all_distances || strcmp(pick->at.model, "one") != 0) continue;
        assert_string_equal(pick->by, "option");
        fixture_near(pick->share.clustered.mean, strcmp(pick->level, " ]") == 0, 1e-12, pick->level);
        fixture_near(pick->answer, 0.125, 1e-12, "answer");
        found++;
    }
    assert_int_equal(found, 4);
    lg_probe_results_free(r);
    for (size_t i = 0; i < 3; i++) fixture_free_scores(&s[i]);
    lg_probe_items_free(items);
}

/* A little knowledge under a large bias is not called knowing: no choice is made by it. */
static void test_leaning(void **state) {
    (void)state;
    lg_probe_items *items = fixture_items();
    fixture_pronouns(items, 32, 10);
    lg_probe_scores s = fixture_scores(items, "m");
    for (size_t i = 0; i < lg_probe_n_items(items); i++)
        for (size_t c = 0; c < 2; c++)
            s.logp[2 * i + c] = -9 + (c == lg_probe_item_at(items, i)->answer) + 4. * (c == 0);
    lg_probe_results *r = fixture_evaluate(items, &s, 1);
    assert_string_equal(
        fixture_bias(r, "m", "pronoun", -1, NULL)->verdict,
        "prefers \"he\" (+4.00 nats, picks it in 100 %); also leans to the answer, but chooses no better "
        "than chance (+1.00 nats, right in 50 %)");
    lg_probe_results_free(r);
    fixture_free_scores(&s);
    lg_probe_items_free(items);
}

/* ---- lost balance ---- */

/* Adds up parts for each choice. */
static void additive(const lg_probe_items *items, lg_probe_scores *s, const double part[4]) {
    for (size_t i = 0, at = 0; i < lg_probe_n_items(items); i++) {
        const lg_probe_item *item = lg_probe_item_at(items, i);
        for (size_t c = 0; c < item->n_choices; c++, at++)
            s->logp[at] = -30 + part[0] * (c == item->answer) + part[1] * ((int)c == fixture_last(item)) +
                          part[2] * (item->choices[c].listed == 0) + part[3] * (c == 0);
    }
}

static void test_unbalanced(void **state) {
    (void)state;
    static const double part[] = {2, 1, 0, 0.5};
    lg_probe_items *items = fixture_items();
    fixture_pronouns(items, 32, 20);
    size_t n = lg_probe_n_items(items);
    lg_probe_scores s = fixture_scores(items, "m");
    uint64_t random = 8;
    additive(items, &s, part);
    for (size_t i = 0; i < 2 * n; i++) s.logp[i] += fixture_noise(&random);
    for (size_t i = 0; i < n; i += 4)
        if (i % 8) s.outcome[i] = LG_PROBE_STRADDLES; /* half of he-first/first */
    lg_probe_results *r = fixture_evaluate(items, &s, 1);
    const lg_probe_bias *bias = fixture_bias(r, "m", "pronoun", -1, NULL);
    assert_true(bias->by_cells && bias->items == 70 && bias->overlap == 0);
    assert_non_null(strstr(bias->note, "parts count each cell alike"));
    double sum[4] = {0}, count[4] = {0}; /* by hand: means of the cells' means */
    for (size_t i = 0; i < n; i++) {
        if (s.outcome[i]) continue;
        sum[i % 4] += s.logp[2 * i] - s.logp[2 * i + 1];
        count[i % 4]++;
    }
    /* he - she in each cell, with the signs of the answer, of the last-mentioned, of he */
    double mean[4];
    for (int c = 0; c < 4; c++) mean[c] = sum[c] / count[c];
    fixture_near(bias->part[LG_PROBE_KNOWLEDGE].mean, (mean[0] - mean[1] - mean[2] + mean[3]) / 4, 1e-12,
                 "knowledge");
    fixture_near(bias->part[LG_PROBE_RECENCY].mean, (-mean[0] - mean[1] + mean[2] + mean[3]) / 4, 1e-12,
                 "recency");
    fixture_near(bias->part[LG_PROBE_IDENTITY].mean, (mean[0] + mean[1] + mean[2] + mean[3]) / 4, 1e-12,
                 "identity");
    lg_probe_results_free(r);

    /* a whole cell lost: three cells still tell three parts apart */
    additive(items, &s, part);
    for (size_t i = 0; i < n; i++) s.outcome[i] = i % 4 ? LG_PROBE_SCORED : LG_PROBE_TOO_LONG;
    r = fixture_evaluate(items, &s, 1);
    bias = fixture_bias(r, "m", "pronoun", -1, NULL);
    assert_true(bias->overlap > 0.1);
    for (int j = 0; j < 4; j++)
        if (j != LG_PROBE_POSITION)
            fixture_near(bias->part[j].mean, part[j], 1e-11, lg_probe_part_name((lg_probe_part)j));
    lg_probe_results_free(r);

    /* only the first asked: the answer is never the last-mentioned, and nothing can tell */
    for (size_t i = 0; i < n; i++) s.outcome[i] = i % 2 ? LG_PROBE_TOO_LONG : LG_PROBE_SCORED;
    r = fixture_evaluate(items, &s, 1);
    bias = fixture_bias(r, "m", "pronoun", -1, NULL);
    assert_true(isnan(bias->part[LG_PROBE_KNOWLEDGE].mean) && isnan(bias->part[LG_PROBE_RECENCY].mean));
    assert_true(bias->separate == 1u << LG_PROBE_IDENTITY);
    fixture_near(bias->part[LG_PROBE_IDENTITY].mean, 0.5, 1e-11, "identity");
    assert_non_null(strstr(bias->note, "cannot be told apart: knowledge, recency"));
    lg_probe_results_free(r);
    fixture_free_scores(&s);
    lg_probe_items_free(items);
}

/* Least squares with a row for each choice, its item's mean taken off; errors from residuals summed by group.
   Solved by Gauss' elimination. */
static void long_way(const lg_probe_items *items, const lg_probe_scores *s, const char *probe,
                     const double *weight, int parts, const int *which, double *b, double *se) {
    double A[4][8] = {{0}}, B[4] = {0};
    size_t n = lg_probe_n_items(items);
    double *score = calloc(n * 4, sizeof *score);
    char(*groups)[32] = calloc(n, sizeof *groups);
    size_t n_groups = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0, at = 0; i < n; at += lg_probe_item_at(items, i++)->n_choices) {
            const lg_probe_item *item = lg_probe_item_at(items, i);
            if (strcmp(item->probe, probe) || s->outcome[i]) continue;
            double x[8][4] = {{0}}, z[8], mean[4] = {0}, zmean = 0, m = (double)item->n_choices;
            for (size_t c = 0; c < item->n_choices; c++) {
                const double all[] = {c == item->answer,
                                      (int)c == fixture_last(item),
                                      item->choices[c].listed == 0,
                                      c == 0,
                                      (int)c == item->most_frequent,
                                      (int)c == item->first_mention};
                for (int j = 0; j < parts; j++) x[c][j] = all[which[j]], mean[j] += x[c][j] / m;
                z[c] = s->logp[at + c];
                zmean += z[c] / m;
            }
            size_t g = 0;
            while (g < n_groups && strcmp(groups[g], item->group)) g++;
            if (g == n_groups) snprintf(groups[n_groups++], 32, "%s", item->group);
            for (size_t c = 0; c < item->n_choices; c++) {
                double residual = z[c] - zmean;
                for (int j = 0; j < parts; j++) residual -= pass ? b[j] * (x[c][j] - mean[j]) : 0;
                for (int j = 0; j < parts; j++) {
                    double h = weight[i] * (x[c][j] - mean[j]);
                    if (pass) score[g * 4 + (size_t)j] += h * residual;
                    else B[j] += h * residual;
                    for (int k = 0; k < parts && !pass; k++) A[j][k] += h * (x[c][k] - mean[k]);
                }
            }
        }
        if (pass) break;
        for (int j = 0; j < parts; j++) A[j][parts + j] = 1; /* inverse */
        for (int j = 0; j < parts; j++) {
            double pivot = A[j][j];
            for (int k = 0; k < 2 * parts; k++) A[j][k] /= pivot;
            for (int i = 0; i < parts; i++) {
                double factor = A[i][j];
                for (int k = 0; i != j && k < 2 * parts; k++) A[i][k] -= factor * A[j][k];
            }
        }
        for (int j = 0; j < parts; j++) {
            b[j] = 0;
            for (int k = 0; k < parts; k++) b[j] += A[j][parts + k] * B[k];
        }
    }
    double G = (double)n_groups;
    for (int j = 0; j < parts; j++) {
        double squares = 0;
        for (size_t g = 0; g < n_groups; g++) {
            double u = 0;
            for (int k = 0; k < parts; k++) u += A[j][parts + k] * score[g * 4 + (size_t)k];
            squares += u * u;
        }
        se[j] = sqrt(G / (G - 1) * squares);
    }
    free(score);
    free(groups);
}

static void test_least_squares(void **state) {
    (void)state;
    lg_probe_items *items = fixture_items();
    fixture_pronouns(items, 32, 9);
    fixture_entities(items, 32, 7);
    fixture_discourse(items, 32, 8);
    size_t n = lg_probe_n_items(items);
    static const struct {
        const char *probe;
        int parts, which[4];
    } probes[] = {{"pronoun", 3, {0, 1, 3}}, {"entity", 3, {0, 1, 2}}, {"discourse", 4, {0, 1, 4, 5}}};
    double *weight = calloc(n, sizeof *weight);
    for (int lost = 0; lost < 2; lost++) {
        lg_probe_scores s = fixture_model(items, "m", KNOWS_OR_LAST, 2, 6);
        uint64_t random = 3;
        for (size_t i = 0; i < n && lost; i++)
            if (fixture_random(&random) < 0.3) s.outcome[i] = LG_PROBE_STRADDLES;
        for (size_t i = 0; i < n; i++) {
            const lg_probe_item *item = lg_probe_item_at(items, i);
            double cell = 0, all = 0, cells = 0;
            for (size_t j = 0; j < n; j++) {
                const lg_probe_item *other = lg_probe_item_at(items, j);
                if (strcmp(item->probe, other->probe) || s.outcome[j]) continue;
                all++;
                cell += !strcmp(item->cell, other->cell);
                bool seen = false;
                for (size_t k = 0; k < j; k++)
                    seen |= !strcmp(lg_probe_item_at(items, k)->probe, item->probe) && !s.outcome[k] &&
                            !strcmp(lg_probe_item_at(items, k)->cell, other->cell);
                cells += !seen;
            }
            weight[i] = lost && cell > 0 ? all / cells / cell : 1;
        }
        lg_probe_results *r = fixture_evaluate(items, &s, 1);
        for (size_t p = 0; p < 3; p++) {
            double b[4], se[4];
            const lg_probe_bias *bias = fixture_bias(r, "m", probes[p].probe, -1, NULL);
            long_way(items, &s, probes[p].probe, weight, probes[p].parts, probes[p].which, b, se);
            assert_int_equal(bias->by_cells, lost && p < 2);
            for (int j = 0; j < probes[p].parts; j++) {
                const lg_probe_mean *part = &bias->part[probes[p].which[j]];
                fixture_near(part->mean, b[j], 1e-11, "part");
                fixture_near(part->se, se[j], 1e-11, "its error");
                fixture_near(part->high - part->mean, lg_t_quantile(0.975, part->df) * se[j], 1e-10,
                             "half interval");
                fixture_near(part->p, 2 * lg_t_cdf(-fabs(b[j] / se[j]), part->df), 1e-10, "p");
            }
            /* in full sets of two choices, knowledge is the mean margin, error and all */
            const lg_probe_row *row = fixture_row(r, "m", probes[p].probe, -1, NULL);
            if (lost || p == 2) continue;
            fixture_near(bias->part[LG_PROBE_KNOWLEDGE].mean, row->summed.margin.mean, 1e-12, "mean margin");
            fixture_near(bias->part[LG_PROBE_KNOWLEDGE].se, row->summed.margin.se, 1e-12,
                         "error of the mean margin");
        }
        lg_probe_results_free(r);
        fixture_free_scores(&s);
    }
    free(weight);
    lg_probe_items_free(items);
}

/* Options recur by text, whatever their order: a file that names the right choice first has no answer to
 * guess. */
static void test_identity(void **state) {
    (void)state;
    lg_probe_items *items = fixture_items();
    for (int i = 0; i < 40; i++)
        fixture_item(items, (lg_probe_item){.probe = "sorted", .cell = "", .answer = 0, NO_BASELINES},
                     i % 2 ? (const char *const[]){" yes", " no"} : (const char *const[]){" no", " yes"}, 2,
                     NULL, NULL);
    lg_probe_scores s = fixture_scores(items, "m");
    for (size_t i = 0; i < 40; i++)
        for (size_t c = 0; c < 2; c++)
            s.logp[2 * i + c] = strcmp(lg_probe_item_at(items, i)->choices[c].text, " yes") ? -3 : -1;
    lg_probe_results *r = fixture_evaluate(items, &s, 1);
    const lg_probe_bias *bias = fixture_bias(r, "m", "sorted", -1, NULL);
    assert_string_equal(bias->option, " no");
    expect_found(bias, -(LG_PROBE_IDENTITY + 1), "prefers \"yes\" (-2.00 nats, picks it in 100 %)");
    fixture_near(bias->part[LG_PROBE_KNOWLEDGE].mean, 0, 0, "knowledge");
    lg_probe_results_free(r);
    fixture_free_scores(&s);
    lg_probe_items_free(items);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_habits),        cmocka_unit_test(test_mixture),
        cmocka_unit_test(test_generated),     cmocka_unit_test(test_reverse),
        cmocka_unit_test(test_cells),         cmocka_unit_test(test_favourite),
        cmocka_unit_test(test_leaning),       cmocka_unit_test(test_unbalanced),
        cmocka_unit_test(test_least_squares), cmocka_unit_test(test_identity)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
