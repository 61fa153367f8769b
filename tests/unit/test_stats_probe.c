/* Margins, accuracy, losses and differences of probe items against loops over all items, published intervals
   of Wilson, and what happens where there is little or nothing to say. */
#include "probe_fixture.h"

#include "base/file.h"
#include "base/json.h"
#include "lossgap/gap.h"
#include "stats/probe_internal.h"

static void test_wilson(void **state) {
    (void)state;
    /* Newcombe, Statistics in Medicine 17 (1998) 857-872, table I, method 3 */
    static const struct {
        double r, n, low, high;
    } published[] = {
        {81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0, 0.1611}, {1, 29, 0.0061, 0.1718}};
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        double low, high;
        lg_wilson_interval(published[i].r, published[i].n, &low, &high);
        fixture_near(low, published[i].low, 5e-5, "low");
        fixture_near(high, published[i].high, 5e-5, "high");
        double mirrored_low, mirrored_high;
        lg_wilson_interval(published[i].n - published[i].r, published[i].n, &mirrored_low, &mirrored_high);
        fixture_near(mirrored_low, 1 - high, 1e-14, "mirrored low");
        fixture_near(mirrored_high, 1 - low, 1e-14, "mirrored high");
    }
    double low, high; /* ties: with 2.5 of 10, the ends solve |p - x| = z sqrt(x (1 - x) / n) */
    lg_wilson_interval(2.5, 10, &low, &high);
    fixture_near(0.25 - low, 1.959963984540054 * sqrt(low * (1 - low) / 10), 1e-12, "half success, low");
    fixture_near(high - 0.25, 1.959963984540054 * sqrt(high * (1 - high) / 10), 1e-12, "half success, high");
}

/* ---- against loops ---- */

static const char *group_of(const lg_probe_item *item) {
    return item->group ? item->group : item->id;
}

/* Mean and CR1 error of Y over the items CHOSEN: the error's square as a double sum over pairs. */
static lg_probe_mean brute_mean(const lg_probe_items *items, const bool *chosen, const double *y) {
    size_t n_items = lg_probe_n_items(items);
    double n = 0, sum = 0, squares = 0, groups = 0;
    lg_probe_mean m = {NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    for (size_t i = 0; i < n_items; i++) {
        if (!chosen[i]) continue;
        n++;
        sum += y[i];
    }
    if (!n) return m;
    m.mean = sum / n;
    for (size_t i = 0; i < n_items; i++) {
        if (!chosen[i]) continue;
        bool first = true;
        for (size_t j = 0; j < n_items; j++) {
            if (!chosen[j] ||
                strcmp(group_of(lg_probe_item_at(items, i)), group_of(lg_probe_item_at(items, j))))
                continue;
            first &= j >= i;
            squares += (y[i] - m.mean) * (y[j] - m.mean);
        }
        groups += first;
    }
    if (groups < 2) return m;
    m.df = groups - 1;
    m.se = sqrt(groups / (groups - 1) * squares) / n;
    m.low = m.mean - lg_t_quantile(0.975, m.df) * m.se;
    m.high = m.mean + lg_t_quantile(0.975, m.df) * m.se;
    m.t = m.mean / m.se;
    m.p = 2 * lg_t_cdf(-fabs(m.t), m.df);
    return m;
}

static void same_mean(const lg_probe_mean *a, const lg_probe_mean *b, const char *what) {
    fixture_near(a->mean, b->mean, 1e-12, what);
    fixture_near(a->se, b->se, 1e-12, what);
    fixture_near(a->df, b->df, 0, what);
    fixture_near(a->low, b->low, 1e-11, what);
    fixture_near(a->high, b->high, 1e-11, what);
    fixture_near(a->t, b->t, 1e-9 * (1 + fabs(b->t)), what);
    fixture_near(a->p, b->p, 1e-9, what);
}

typedef struct brute {
    const lg_probe_items *items;
    const lg_probe_scores *scores;
    double *margin[2], *right[2], *loss; /* NAN: not scored */
} brute;

static void brute_fill(brute *b) {
    size_t n = lg_probe_n_items(b->items), at = 0;
    for (int k = 0; k < 2; k++) {
        b->margin[k] = calloc(n, sizeof(double));
        b->right[k] = calloc(n, sizeof(double));
    }
    b->loss = calloc(n, sizeof(double));
    for (size_t i = 0; i < n; i++) {
        const lg_probe_item *item = lg_probe_item_at(b->items, i);
        for (int k = 0; k < 2; k++) {
            double best = -1e300, own = 0;
            for (size_t c = 0; c < item->n_choices; c++) {
                double value = b->scores->logp[at + c] / (k ? b->scores->tokens[at + c] : 1);
                if (c == item->answer) own = value;
                else if (value > best) best = value;
            }
            b->margin[k][i] = own - best;
            b->right[k][i] = own > best ? 1 : own < best ? 0 : 0.5;
        }
        b->loss[i] = -b->scores->logp[at + item->answer];
        at += item->n_choices;
    }
}

static void brute_free(brute *b) {
    for (int k = 0; k < 2; k++) {
        free(b->margin[k]);
        free(b->right[k]);
    }
    free(b->loss);
}

static bool in_slice(const lg_probe_item *item, const lg_probe_place *at) {
    return !strcmp(item->probe, at->probe) && (at->all_distances || item->distance == at->distance) &&
           (!at->cell || !strcmp(at->cell, item->cell));
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static lg_probe_items *mixed_items(void) {
    lg_probe_items *items = fixture_items();
    fixture_pronouns(items, 32, 5);
    fixture_entities(items, 32, 3);
    fixture_pronouns(items, 64, 4);
    fixture_discourse(items, 16, 3);
    fixture_item(items, (lg_probe_item){.probe = "alone", .cell = "", .distance = 0, NO_BASELINES},
                 (const char *const[]){"a", "b", "c"}, 3, NULL, NULL);
    fixture_item(items, (lg_probe_item){.probe = "pronoun", .cell = "other", .distance = 7, NO_BASELINES},
                 (const char *const[]){" he", " it"}, 2, NULL, NULL); /* no group: its own */
    return items;
}

static void test_rows(void **state) {
    (void)state;
    lg_probe_items *items = mixed_items();
    size_t n = lg_probe_n_items(items), compared = 0;
    lg_probe_scores scores[] = {fixture_model(items, "A", KNOWS_OR_LAST, 2, 1),
                                fixture_model(items, "B", KNOWS, 3, 2)};
    brute b[2];
    bool *chosen = calloc(n, 1);
    double *y = calloc(n, sizeof *y);
    uint64_t random = 5;
    scores[0].logp[0] = scores[0].logp[1] = -4; /* a tie */
    for (int m = 0; m < 2; m++) {
        for (size_t i = 0; i < n; i++)
            if (fixture_random(&random) < 0.2) scores[m].outcome[i] = (uint8_t)(1 + i % 4);
        b[m] = (brute){.items = items, .scores = &scores[m]};
        brute_fill(&b[m]);
    }
    scores[0].outcome[0] = LG_PROBE_SCORED;
    lg_probe_results *r = fixture_evaluate(items, scores, 2);
    for (size_t k = 0; k < lg_probe_n_rows(r); k++) {
        const lg_probe_row *row = lg_probe_row_at(r, k);
        int m = !strcmp(row->at.model, "B");
        uint64_t counts[5] = {0}, all = 0, ties = 0;
        double sorted[512], chance = 0;
        size_t used = 0;
        for (size_t i = 0; i < n; i++) {
            const lg_probe_item *item = lg_probe_item_at(items, i);
            chosen[i] = in_slice(item, &row->at);
            if (!chosen[i]) continue;
            all++;
            counts[scores[m].outcome[i]]++;
            chosen[i] = scores[m].outcome[i] == LG_PROBE_SCORED;
            if (!chosen[i]) continue;
            ties += b[m].right[0][i] == 0.5;
            chance += 1. / (double)item->n_choices;
            sorted[used++] = b[m].margin[0][i];
        }
        assert_int_equal(row->items, all);
        assert_int_equal(row->scored, counts[LG_PROBE_SCORED]);
        assert_int_equal(row->straddles, counts[LG_PROBE_STRADDLES]);
        assert_int_equal(row->too_long, counts[LG_PROBE_TOO_LONG]);
        assert_int_equal(row->not_meant, counts[LG_PROBE_NOT_MEANT]);
        assert_int_equal(row->missing, counts[LG_PROBE_MISSING]);
        assert_int_equal(row->summed.ties, ties);
        const lg_probe_figures *figures[] = {&row->summed, &row->normalized};
        for (int kind = 0; kind < 2; kind++) {
            lg_probe_mean margin = brute_mean(items, chosen, b[m].margin[kind]);
            if (row->scored > 1) same_mean(&figures[kind]->margin, &margin, "margin");
            else fixture_near(figures[kind]->margin.mean, margin.mean, 0, "margin of one");
            lg_probe_mean right = brute_mean(items, chosen, b[m].right[kind]);
            const lg_probe_share *accuracy = &figures[kind]->accuracy;
            fixture_near(accuracy->clustered.mean, right.mean, 1e-12, "accuracy");
            fixture_near(accuracy->clustered.se, right.se, 1e-12, "error of accuracy");
            fixture_near(accuracy->clustered.low, right.se > 1e-9 ? right.low : NAN, 1e-11,
                         "low of accuracy");
            if (!row->scored) continue;
            fixture_near(accuracy->chance, chance / (double)row->scored, 1e-14, "chance");
            double low, high;
            lg_wilson_interval(right.mean * (double)row->scored, (double)row->scored, &low, &high);
            fixture_near(accuracy->wilson_low, low, 1e-12, "Wilson low");
            fixture_near(accuracy->wilson_high, high, 1e-12, "Wilson high");
            if (!(right.se > 1e-9)) continue;
            for (size_t i = 0; i < n; i++)
                y[i] = b[m].right[kind][i] - 1. / (double)lg_probe_item_at(items, i)->n_choices;
            lg_probe_mean above = brute_mean(items, chosen, y);
            fixture_near(accuracy->clustered.t, above.t, 1e-9 * (1 + fabs(above.t)), "t against chance");
            fixture_near(accuracy->clustered.p, above.p, 1e-9, "p against chance");
            compared++;
        }
        if (row->scored > 1) {
            lg_probe_mean loss = brute_mean(items, chosen, b[m].loss);
            same_mean(&row->loss, &loss, "loss");
        }
        if (used) {
            qsort(sorted, used, sizeof *sorted, compare);
            fixture_near(row->summed.median_margin, (sorted[(used - 1) / 2] + sorted[used / 2]) / 2, 1e-12,
                         "median");
        } else {
            assert_true(isnan(row->summed.median_margin));
            assert_string_equal(row->note, "no item scored");
        }
    }
    assert_true(compared > 40);
    assert_int_equal(fixture_row(r, "A", "pronoun", -1, NULL)->items, 37);
    assert_int_equal(fixture_row(r, "A", "pronoun", 64, "he-first/second")->items, 4);

    compared = 0;
    for (size_t k = 0; k < lg_probe_n_pairs(r); k++) {
        const lg_probe_pair *pair = lg_probe_pair_at(r, k);
        double a_right = 0, b_right = 0;
        uint64_t both = 0, only_a = 0, only_b = 0;
        for (size_t i = 0; i < n; i++) {
            chosen[i] = in_slice(lg_probe_item_at(items, i), &pair->at) && !scores[0].outcome[i] &&
                        !scores[1].outcome[i];
            y[i] = b[1].right[0][i] - b[0].right[0][i];
            if (!chosen[i]) continue;
            both++;
            a_right += b[0].right[0][i];
            b_right += b[1].right[0][i];
            only_a += b[0].right[0][i] > 0.5 && b[1].right[0][i] < 0.6;
            only_b += b[1].right[0][i] > 0.5 && b[0].right[0][i] < 0.6;
        }
        assert_string_equal(pair->model_a, "A");
        assert_string_equal(pair->at.model, "B");
        assert_int_equal(pair->items, both);
        assert_int_equal(pair->only_a, only_a);
        assert_int_equal(pair->only_b, only_b);
        if (both < 2) continue;
        fixture_near(pair->accuracy_a, a_right / (double)both, 1e-12, "accuracy of A");
        fixture_near(pair->accuracy_b, b_right / (double)both, 1e-12, "accuracy of B");
        lg_probe_mean difference = brute_mean(items, chosen, y);
        fixture_near(pair->accuracy.mean, difference.mean, 1e-12, "difference of accuracy");
        fixture_near(pair->accuracy.se, difference.se, 1e-12, "its error");
        for (size_t i = 0; i < n; i++) y[i] = b[1].margin[0][i] - b[0].margin[0][i];
        difference = brute_mean(items, chosen, y);
        same_mean(&pair->margin, &difference, "difference of margins");
        for (size_t i = 0; i < n; i++) y[i] = b[1].margin[1][i] - b[0].margin[1][i];
        difference = brute_mean(items, chosen, y);
        same_mean(&pair->margin_normalized, &difference, "difference of normalised margins");
        for (size_t i = 0; i < n; i++) y[i] = b[1].loss[i] - b[0].loss[i];
        difference = brute_mean(items, chosen, y);
        same_mean(&pair->loss, &difference, "difference of losses");
        compared++;
    }
    assert_true(compared > 20);
    lg_probe_results_free(r);
    for (int m = 0; m < 2; m++) {
        brute_free(&b[m]);
        fixture_free_scores(&scores[m]);
    }
    free(chosen);
    free(y);
    lg_probe_items_free(items);
}

/* Picks and copy baselines against loops. */
static void test_picks(void **state) {
    (void)state;
    lg_probe_items *items = mixed_items();
    lg_probe_scores s = fixture_model(items, "A", KNOWS_OR_LAST, 3, 4);
    size_t first_discourse = 0, at = 0, n = lg_probe_n_items(items);
    while (strcmp(lg_probe_item_at(items, first_discourse)->probe, "discourse"))
        at += lg_probe_item_at(items, first_discourse++)->n_choices;
    for (int c = 0; c < 3; c++) s.logp[at + (size_t)c] = -1; /* three share the first place */
    s.logp[at + 3] = -2;
    s.outcome[first_discourse + 1] = LG_PROBE_TOO_LONG;
    lg_probe_results *r = fixture_evaluate(items, &s, 1);
    size_t compared = 0;
    for (size_t k = 0; k < lg_probe_n_picks(r); k++) {
        const lg_probe_pick *pick = lg_probe_pick_at(r, k);
        double picked = 0, answers = 0, chance = 0, used = 0;
        size_t place = 0;
        for (size_t i = 0; i < n; place += lg_probe_item_at(items, i++)->n_choices) {
            const lg_probe_item *item = lg_probe_item_at(items, i);
            if (!in_slice(item, &pick->at) || s.outcome[i]) continue;
            double best = -1e300, same = 0;
            for (size_t c = 0; c < item->n_choices; c++) best = fmax(best, s.logp[place + c]);
            for (size_t c = 0; c < item->n_choices; c++) same += s.logp[place + c] == best;
            for (size_t c = 0; c < item->n_choices; c++) {
                const lg_probe_choice *choice = &item->choices[c];
                bool is = !strcmp(pick->by, "option")   ? !strcmp(choice->text, pick->level)
                          : !strcmp(pick->by, "listed") ? choice->listed == atoi(pick->level)
                                                        : choice->bound == atoi(pick->level);
                if (!is) continue;
                used++;
                chance += 1 / (double)item->n_choices;
                picked += s.logp[place + c] == best ? 1 / same : 0;
                answers += c == item->answer;
            }
        }
        assert_true(pick->share.items == used);
        fixture_near(pick->share.clustered.mean, picked / used, 1e-12, "share of picks");
        fixture_near(pick->share.chance, chance / used, 1e-12, "chance of picks");
        fixture_near(pick->answer, answers / used, 1e-12, "share of answers");
        compared += !strcmp(pick->at.probe, "discourse") && pick->at.all_distances && !pick->at.cell;
    }
    assert_int_equal(compared, 8); /* four ranks, four places */

    static const char *const names[] = {"most_recent", "most_frequent", "first_mention"};
    assert_int_equal(lg_probe_n_baselines(r), 6); /* all distances, the one distance */
    for (size_t k = 0; k < 6; k++) {
        const lg_probe_baseline *b = lg_probe_baseline_at(r, k);
        double used = 0, right = 0, model = 0, agree = 0, wrong = 0, model_wrong = 0, agree_wrong = 0;
        size_t place = 0;
        assert_string_equal(b->baseline, names[k % 3]);
        for (size_t i = 0; i < n; place += lg_probe_item_at(items, i++)->n_choices) {
            const lg_probe_item *item = lg_probe_item_at(items, i);
            const int choices[] = {item->most_recent, item->most_frequent, item->first_mention};
            int choice = choices[k % 3];
            if (choice < 0 || s.outcome[i]) continue;
            double best = -1e300, other = -1e300, same = 0;
            for (size_t c = 0; c < item->n_choices; c++) {
                best = fmax(best, s.logp[place + c]);
                if (c != item->answer) other = fmax(other, s.logp[place + c]);
            }
            for (size_t c = 0; c < item->n_choices; c++) same += s.logp[place + c] == best;
            double own = s.logp[place + item->answer];
            double is_right = own > other    ? 1
                              : own == other ? 0.5
                                             : 0,
                   agrees = s.logp[place + (size_t)choice] == best ? 1 / same : 0;
            used++;
            right += (size_t)choice == item->answer;
            model += is_right;
            agree += agrees;
            if ((size_t)choice == item->answer) continue;
            wrong++;
            model_wrong += is_right;
            agree_wrong += agrees;
        }
        assert_true(b->accuracy.items == used && b->model_accuracy_wrong.items == wrong);
        fixture_near(b->accuracy.clustered.mean, right / used, 1e-12, "accuracy of the baseline");
        fixture_near(b->model_accuracy.clustered.mean, model / used, 1e-12, "accuracy of the model");
        fixture_near(b->agreement.clustered.mean, agree / used, 1e-12, "agreement");
        fixture_near(b->model_accuracy_wrong.clustered.mean, model_wrong / wrong, 1e-12,
                     "accuracy where it errs");
        fixture_near(b->agreement_wrong.clustered.mean, agree_wrong / wrong, 1e-12,
                     "agreement where it errs");
    }
    lg_probe_results_free(r);
    fixture_free_scores(&s);
    lg_probe_items_free(items);
}

/* ---- against NumPy ---- */

static double number(const lg_json_value *row, const char *key) {
    const lg_json_value *value = lg_json_get(row, key);
    return value && value->type != LG_JSON_NULL ? value->number : NAN;
}

/* Reference log-probabilities, read, evaluated, and compared with tests/golden/probes/evaluate.py. */
static void test_golden(void **state) {
    (void)state;
    lg_error error = {0};
    lg_probe_items *items;
    lg_probe_scores *scores;
    lg_mapping file;
    size_t n_models, rows = 0;
    if (lg_probe_items_read("tests/golden/probes/items.jsonl", &items, &error) ||
        lg_probe_logp_read("tests/golden/probes/logp.jsonl", items, &scores, &n_models, &error) ||
        lg_map("tests/golden/probes/evaluated.jsonl", &file, &error))
        fail_msg("%s", error.message);
    assert_int_equal(n_models, 2);
    lg_probe_results *r = fixture_evaluate(items, scores, n_models);
    const char *at = (const char *)file.data, *end = at + file.size;
    for (; at < end; rows++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        lg_arena arena = {0};
        lg_json_value *want;
        assert_int_equal(lg_json_parse(&arena, at, (size_t)(newline - at), "evaluated", &want, &error),
                         LG_OK);
        double distance = number(want, "distance");
        const char *cell = lg_json_get(want, "cell")->string;
        if (!strcmp(cell, "*")) cell = NULL;
        const char *model = lg_json_get(want, "model")->string, *probe = lg_json_get(want, "probe")->string;
        const lg_probe_row *row = fixture_row(r, model, probe, isnan(distance) ? -1 : (long)distance, cell);
        assert_true((double)row->items == number(want, "items") &&
                    (double)row->scored == number(want, "scored"));
        assert_true(row->missing == row->items - row->scored && row->groups == row->scored);
        fixture_near(row->summed.margin.mean, number(want, "margin"), 1e-12, "margin");
        fixture_near(row->summed.margin.se, number(want, "margin_se"), 1e-12, "error of the margin");
        fixture_near(row->summed.accuracy.clustered.mean, number(want, "accuracy"), 1e-15, "accuracy");
        fixture_near(row->summed.accuracy.wilson_low, number(want, "wilson_low"), 1e-12, "Wilson low");
        fixture_near(row->summed.accuracy.wilson_high, number(want, "wilson_high"), 1e-12, "Wilson high");
        fixture_near(row->loss.mean, number(want, "loss"), 1e-12, "loss");
        if (lg_json_get(want, "knowledge")) {
            const lg_probe_bias *bias =
                fixture_bias(r, model, probe, isnan(distance) ? -1 : (long)distance, NULL);
            fixture_near(bias->part[LG_PROBE_KNOWLEDGE].mean, number(want, "knowledge"), 1e-12, "knowledge");
            fixture_near(bias->part[LG_PROBE_IDENTITY].mean, number(want, "identity"), 1e-12, "identity");
            assert_true(!strncmp(bias->verdict, "prefers \"he\" (+", 15)); /* 50 % right: it always says he */
        }
        lg_arena_free(&arena);
        at = newline + 1;
    }
    assert_int_equal(rows, 86);
    assert_int_equal(lg_probe_n_rows(r), rows);
    lg_unmap(&file);
    lg_probe_results_free(r);
    lg_probe_logp_free(scores, n_models);
    lg_probe_items_free(items);
}

/* ---- little to say ---- */

static void test_degenerate(void **state) {
    (void)state;
    lg_error error = {0};
    lg_probe_evaluate_options options = {.command = "test"};
    lg_probe_results *r;
    lg_probe_items *items = fixture_items();
    lg_probe_scores none = fixture_scores(items, "none");
    r = fixture_evaluate(items, &none, 1); /* no items at all */
    assert_int_equal(lg_probe_n_rows(r), 0);
    lg_probe_results_free(r);
    assert_int_equal(lg_probe_evaluate(items, &none, 0, &options, &r, &error), LG_USAGE);
    assert_null(r);
    lg_probe_scores twice[] = {none, none};
    assert_int_equal(lg_probe_evaluate(items, twice, 2, &options, &r, &error), LG_USAGE);
    assert_non_null(strstr(error.message, "none"));
    fixture_free_scores(&none);

    fixture_pronouns(items, 32, 1); /* one group */
    lg_probe_scores s = fixture_model(items, "m", KNOWS, 0, 1);
    r = fixture_evaluate(items, &s, 1);
    const lg_probe_row *row = fixture_row(r, "m", "pronoun", -1, NULL);
    assert_int_equal(row->groups, 1);
    assert_true(row->summed.margin.mean == 3 && isnan(row->summed.margin.se) &&
                isnan(row->summed.margin.low));
    assert_true(row->summed.accuracy.clustered.mean == 1 && row->summed.accuracy.wilson_low < 0.6);
    assert_non_null(strstr(row->note, "one group"));
    assert_non_null(strstr(fixture_bias(r, "m", "pronoun", -1, NULL)->verdict, "too few groups"));
    lg_probe_results_free(r);

    for (size_t i = 0; i < 4; i++) s.outcome[i] = LG_PROBE_STRADDLES; /* nothing scored */
    for (size_t i = 0; i < 8; i++) s.logp[i] = NAN;
    r = fixture_evaluate(items, &s, 1);
    row = fixture_row(r, "m", "pronoun", 32, NULL);
    assert_true(!row->scored && row->straddles == 4 && !row->groups && isnan(row->summed.margin.mean) &&
                isnan(row->summed.accuracy.wilson_low) && isnan(row->loss.mean));
    assert_string_equal(fixture_bias(r, "m", "pronoun", 32, NULL)->verdict, "no item scored");
    lg_probe_results_free(r);
    fixture_free_scores(&s);

    fixture_pronouns(items, 64, 9); /* all margins equal: no spread, no t; Wilson and signs still speak */
    s = fixture_model(items, "m", KNOWS, 0, 1);
    r = fixture_evaluate(items, &s, 1);
    row = fixture_row(r, "m", "pronoun", 64, NULL);
    assert_true(row->summed.margin.mean == 3 && row->summed.margin.se == 0 && row->summed.margin.low == 3 &&
                isnan(row->summed.margin.t) && isnan(row->summed.margin.p));
    assert_true(row->summed.accuracy.clustered.se == 0 && isnan(row->summed.accuracy.clustered.low));
    fixture_near(row->summed.accuracy.p_sign, 2. / 512, 1e-15, "nine groups on one side");
    lg_probe_results_free(r);

    size_t choices = 2 * lg_probe_n_items(items); /* all equal: ties, at chance */
    for (size_t i = 0; i < choices; i++) s.logp[i] = -0.7;
    r = fixture_evaluate(items, &s, 1);
    row = fixture_row(r, "m", "pronoun", 64, NULL);
    assert_true(row->summed.accuracy.clustered.mean == 0.5 && row->summed.ties == 36 &&
                row->summed.margin.mean == 0 && row->summed.accuracy.p_sign == 1);
    assert_string_equal(fixture_bias(r, "m", "pronoun", 64, NULL)->verdict, "at chance, no bias found");
    lg_probe_results_free(r);

    for (size_t i = 0; i < lg_probe_n_items(items); i++) s.tokens[2 * i] = 0; /* lengths not known */
    r = fixture_evaluate(items, &s, 1);
    row = fixture_row(r, "m", "pronoun", 64, NULL);
    assert_true(isnan(row->normalized.margin.mean) && !row->normalized.accuracy.items);
    assert_non_null(strstr(row->note, "not known in 36"));
    lg_probe_results_free(r);
    fixture_free_scores(&s);

    /* -inf for the answer, for the others, for all */
    s = fixture_model(items, "m", KNOWS, 0, 1);
    size_t answer = lg_probe_item_at(items, 4)->answer;
    s.logp[2 * 4 + answer] = -INFINITY;
    s.logp[2 * 5 + 1 - lg_probe_item_at(items, 5)->answer] = -INFINITY;
    s.logp[2 * 6] = s.logp[2 * 6 + 1] = -INFINITY;
    r = fixture_evaluate(items, &s, 1);
    row = fixture_row(r, "m", "pronoun", 64, NULL);
    assert_true(isnan(row->summed.margin.mean) && row->summed.infinite == 2 && row->summed.ties == 1 &&
                row->summed.median_margin == 3 && isnan(row->loss.mean));
    fixture_near(row->summed.accuracy.clustered.mean, 34.5 / 36, 1e-15, "accuracy with -inf");
    assert_non_null(strstr(row->note, "margin infinite in 2"));
    assert_non_null(strstr(row->note, "-inf in 2"));
    const lg_probe_bias *bias = fixture_bias(r, "m", "pronoun", 64, NULL);
    assert_true(bias->infinite == 3 && bias->items == 33);
    fixture_near(bias->part[LG_PROBE_KNOWLEDGE].mean, 3, 1e-12, "knowledge of the rest");
    assert_non_null(strstr(bias->note, "-inf in 3"));
    lg_probe_results_free(r);

    static const double wrong[] = {NAN, INFINITY, 0.5};
    for (size_t k = 0; k < 3; k++) {
        s.logp[3] = wrong[k];
        error = (lg_error){0};
        assert_int_equal(lg_probe_evaluate(items, &s, 1, &options, &r, &error), LG_BAD_INPUT);
        assert_non_null(strstr(error.message, "item 1 under m: choice 1"));
    }
    s.logp[3] = 1e-7; /* rounding */
    s.outcome[0] = 77;
    assert_int_equal(lg_probe_evaluate(items, &s, 1, &options, &r, &error), LG_USAGE);
    fixture_free_scores(&s);
    lg_probe_items_free(items);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_wilson), cmocka_unit_test(test_rows),
                                       cmocka_unit_test(test_picks), cmocka_unit_test(test_golden),
                                       cmocka_unit_test(test_degenerate)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
