/* Probe items under models: which items belong together, and for each such slice margins, accuracy, losses,
   and the differences between models. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/json.h"
#include "stats/probe_internal.h"

/* Log-probabilities may come out above 0 by so much, from sums of rounded numbers. */
#define ABOVE_ZERO 1e-3

enum { N_OUTCOMES = LG_PROBE_MISSING + 1 };

const char *lg_probe_printf(probe_work *w, const char *format, ...) {
    char text[2048];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    size_t length = n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    return lg_arena_copy(&w->results->arena, text, length);
}

/* ---- values of each item ---- */

static lg_status check_scores(const probe_work *w, const lg_probe_scores *scores, size_t n_models) {
    if (!n_models) return lg_fail(w->error, LG_USAGE, "no model: nothing to evaluate");
    for (size_t m = 0; m < n_models; m++) {
        for (size_t other = 0; other < m; other++)
            if (!strcmp(scores[other].model, scores[m].model))
                return lg_fail(w->error, LG_USAGE, "two models are called %s: give them names of their own",
                               scores[m].model);
        for (size_t i = 0; i < w->n_items; i++) {
            const lg_probe_item *item = lg_probe_item_at(w->items, i);
            if (scores[m].outcome[i] >= N_OUTCOMES)
                return lg_fail(w->error, LG_USAGE, "item %s under %s: %d is no outcome", item->id,
                               scores[m].model, scores[m].outcome[i]);
            if (scores[m].outcome[i] != LG_PROBE_SCORED) continue;
            const double *logp = probe_logp(w, &scores[m], i);
            for (size_t c = 0; c < item->n_choices; c++)
                if (!(logp[c] <= ABOVE_ZERO))
                    return lg_fail(w->error, LG_BAD_INPUT,
                                   "item %s under %s: choice %zu has %g for its log-probability, which must "
                                   "be a number up to 0; an item without log-probabilities needs a null",
                                   item->id, scores[m].model, c, logp[c]);
        }
    }
    return LG_OK;
}

/* LOGP [n], each divided by TOKENS [n] unless NULL. */
static double margin_of(const double *logp, const uint32_t *tokens, size_t n, size_t answer) {
    double own = 0, best = -INFINITY;
    for (size_t c = 0; c < n; c++) {
        if (tokens && !tokens[c]) return NAN;
        double value = tokens ? logp[c] / tokens[c] : logp[c];
        if (c == answer) own = value;
        else best = fmax(best, value);
    }
    return own == best ? 0 : own - best; /* a tie also where both are -inf */
}

static void set_values(const probe_work *w, probe_values *v) {
    for (size_t i = 0; i < w->n_items; i++) {
        const lg_probe_item *item = lg_probe_item_at(w->items, i);
        v->loss[i] = v->loss_per_token[i] = NAN;
        for (int k = 0; k < N_KINDS; k++) v->margin[k][i] = v->right[k][i] = NAN;
        if (v->scores->outcome[i] != LG_PROBE_SCORED) continue;
        const double *logp = probe_logp(w, v->scores, i);
        const uint32_t *tokens = v->scores->tokens ? v->scores->tokens + w->first_choice[i] : NULL;
        v->loss[i] = 0 - logp[item->answer]; /* never a negative zero */
        if (tokens && tokens[item->answer]) v->loss_per_token[i] = v->loss[i] / tokens[item->answer];
        for (int k = 0; k < N_KINDS; k++) {
            if (k == NORMALIZED && !tokens) continue;
            double margin = margin_of(logp, k == NORMALIZED ? tokens : NULL, item->n_choices, item->answer);
            v->margin[k][i] = margin;
            if (!isnan(margin)) v->right[k][i] = margin > 0 ? 1 : margin == 0 ? 0.5 : 0;
        }
    }
}

double lg_probe_picked(const double *logp, size_t n, size_t c) {
    size_t same = 0;
    for (size_t k = 0; k < n; k++) {
        if (logp[k] > logp[c]) return 0;
        same += logp[k] == logp[c];
    }
    return 1 / (double)same;
}

/* ---- rows ---- */

size_t lg_probe_select_scored(const probe_work *w, const probe_slice *slice, size_t m) {
    size_t n = 0;
    for (size_t k = 0; k < slice->n; k++)
        if (w->models[m].scores->outcome[slice->items[k]] == LG_PROBE_SCORED) w->who[n++] = slice->items[k];
    return n;
}

/* The mean of VALUES [n_items] over WHO; none if one is infinite. NANs are passed over. */
static lg_probe_mean mean_of_values(const probe_work *w, const double *values, size_t n, uint64_t *infinite) {
    size_t used = 0;
    size_t *who = w->used;
    *infinite = 0;
    for (size_t k = 0; k < n; k++) {
        double value = values[w->who[k]];
        if (isnan(value)) continue;
        *infinite += isinf(value) != 0;
        who[used] = w->who[k];
        w->y[used++] = value;
    }
    return *infinite ? lg_probe_no_mean() : lg_probe_mean_of(w, who, w->y, used);
}

static lg_probe_figures figures_of(const probe_work *w, const probe_values *v, int kind, size_t n) {
    lg_probe_figures f = {0};
    f.margin = mean_of_values(w, v->margin[kind], n, &f.infinite);
    size_t used = 0;
    for (size_t k = 0; k < n; k++) {
        size_t i = w->who[k];
        if (isnan(v->right[kind][i])) continue;
        f.ties += v->right[kind][i] == 0.5;
        w->used[used] = i;
        w->chance[used] = 1 / (double)lg_probe_item_at(w->items, i)->n_choices;
        w->y[used++] = v->right[kind][i];
    }
    f.accuracy = lg_probe_share_of(w, w->used, w->y, w->chance, used);
    for (size_t k = 0; k < used; k++) w->y[k] = v->margin[kind][w->used[k]];
    f.median_margin = lg_probe_median(w->y, used);
    return f;
}

static lg_status add_row(probe_work *w, const probe_slice *slice, size_t m) {
    lg_probe_results *r = w->results;
    const probe_values *v = &w->models[m];
    lg_probe_row row = {.at = slice->at, .items = slice->n};
    uint64_t count[N_OUTCOMES] = {0}, infinite, ignored;
    for (size_t k = 0; k < slice->n; k++) count[v->scores->outcome[slice->items[k]]]++;
    size_t n = lg_probe_select_scored(w, slice, m);
    row.at.model = r->models[m];
    row.groups = lg_probe_groups(w, w->who, n);
    row.scored = count[LG_PROBE_SCORED];
    row.straddles = count[LG_PROBE_STRADDLES];
    row.too_long = count[LG_PROBE_TOO_LONG];
    row.not_meant = count[LG_PROBE_NOT_MEANT];
    row.missing = count[LG_PROBE_MISSING];
    row.summed = figures_of(w, v, SUMMED, n);
    row.normalized = figures_of(w, v, NORMALIZED, n);
    row.loss = mean_of_values(w, v->loss, n, &infinite);
    row.loss_per_token = mean_of_values(w, v->loss_per_token, n, &ignored);

    lg_text note = {0};
    if (!n) lg_text_puts(&note, "; no item scored");
    if (n && row.groups < 2) lg_text_puts(&note, "; one group of items: no clustered errors");
    if (row.summed.infinite)
        lg_text_printf(&note, "; margin infinite in %" PRIu64 ": no mean margin", row.summed.infinite);
    if (infinite)
        lg_text_printf(&note, "; the answer's log p is -inf in %" PRIu64 ": no mean loss", infinite);
    if (row.normalized.accuracy.items < n)
        lg_text_printf(&note, "; length-normalised: tokens of choices are not known in %" PRIu64,
                       (uint64_t)(n - row.normalized.accuracy.items));
    if (note.length) row.note = lg_arena_copy(&r->arena, note.data + 2, note.length - 2);
    bool failed = note.failed || (note.length && !row.note) ||
                  !lg_reserve(&r->rows, &r->rows_room, r->n_rows + 1, sizeof *r->rows);
    lg_text_free(&note);
    if (failed) return lg_fail_memory(w->error);
    r->rows[r->n_rows++] = row;
    return LG_OK;
}

/* ---- pairs ---- */

/* B - A over items in w->who that have both; *MEAN_A, *MEAN_B over the same. Infinite ones: no numbers. */
static lg_probe_mean difference(const probe_work *w, const double *a, const double *b, size_t n,
                                double *mean_a, double *mean_b) {
    size_t used = 0;
    double sum_a = 0, sum_b = 0;
    bool infinite = false;
    for (size_t k = 0; k < n; k++) {
        size_t i = w->who[k];
        if (isnan(a[i]) || isnan(b[i])) continue;
        infinite |= isinf(a[i]) || isinf(b[i]);
        sum_a += a[i];
        sum_b += b[i];
        w->used[used] = i;
        w->y[used++] = b[i] - a[i];
    }
    if (mean_a) *mean_a = used ? sum_a / (double)used : NAN;
    if (mean_b) *mean_b = used ? sum_b / (double)used : NAN;
    return infinite ? lg_probe_no_mean() : lg_probe_mean_of(w, w->used, w->y, used);
}

static lg_status add_pair(probe_work *w, const probe_slice *slice, size_t m) {
    lg_probe_results *r = w->results;
    const probe_values *a = &w->models[0], *b = &w->models[m];
    lg_probe_pair pair = {.at = slice->at, .model_a = r->models[0]};
    size_t n = 0, scored = lg_probe_select_scored(w, slice, m);
    for (size_t k = 0; k < scored; k++) /* in place: those that A scored, too */
        if (a->scores->outcome[w->who[k]] == LG_PROBE_SCORED) w->who[n++] = w->who[k];
    bool infinite = false;
    for (size_t k = 0; k < n; k++) {
        size_t i = w->who[k];
        pair.only_a += a->right[SUMMED][i] == 1 && b->right[SUMMED][i] != 1;
        pair.only_b += b->right[SUMMED][i] == 1 && a->right[SUMMED][i] != 1;
        infinite |= isinf(a->margin[SUMMED][i]) || isinf(b->margin[SUMMED][i]);
    }
    pair.at.model = r->models[m];
    pair.items = n;
    pair.groups = lg_probe_groups(w, w->who, n);
    pair.accuracy = difference(w, a->right[SUMMED], b->right[SUMMED], n, &pair.accuracy_a, &pair.accuracy_b);
    pair.accuracy_normalized = difference(w, a->right[NORMALIZED], b->right[NORMALIZED], n,
                                          &pair.accuracy_normalized_a, &pair.accuracy_normalized_b);
    pair.margin = difference(w, a->margin[SUMMED], b->margin[SUMMED], n, NULL, NULL);
    pair.margin_normalized = difference(w, a->margin[NORMALIZED], b->margin[NORMALIZED], n, NULL, NULL);
    pair.loss = difference(w, a->loss, b->loss, n, NULL, NULL);
    if (!n) pair.note = "no item scored by both";
    else if (infinite) pair.note = "infinite margins: no mean difference";
    else if (pair.groups < 2) pair.note = "one group of items: no clustered errors";
    if (!lg_reserve(&r->pairs, &r->pairs_room, r->n_pairs + 1, sizeof *r->pairs))
        return lg_fail_memory(w->error);
    r->pairs[r->n_pairs++] = pair;
    return LG_OK;
}

/* ---- slices ---- */

typedef struct sorting {
    const probe_work *w;
    bool cell_first; /* by probe, cell, distance; else by probe, distance, cell */
} sorting;

static int compare_sizes(size_t a, size_t b) {
    return a < b ? -1 : a > b;
}

static int by_slice(const void *a, const void *b, void *context) {
    const sorting *s = context;
    size_t i = *(const size_t *)a, j = *(const size_t *)b;
    int probe = compare_sizes(s->w->probe[i], s->w->probe[j]);
    int cell = compare_sizes(s->w->cell[i], s->w->cell[j]);
    uint64_t x = lg_probe_item_at(s->w->items, i)->distance, y = lg_probe_item_at(s->w->items, j)->distance;
    int distance = x < y ? -1 : x > y;
    int first = s->cell_first ? cell : distance, second = s->cell_first ? distance : cell;
    return probe ? probe : first ? first : second ? second : compare_sizes(i, j);
}

/* The end of the run that begins at AT and agrees in probe and, if asked, in distance and cell. */
static size_t run_end(const probe_work *w, const size_t *order, size_t at, size_t end, bool distance,
                      bool cell) {
    const lg_probe_item *first = lg_probe_item_at(w->items, order[at]);
    size_t next = at + 1;
    while (next < end && w->probe[order[next]] == w->probe[order[at]] &&
           (!distance || lg_probe_item_at(w->items, order[next])->distance == first->distance) &&
           (!cell || w->cell[order[next]] == w->cell[order[at]]))
        next++;
    return next;
}

static lg_status add_slice(probe_work *w, const size_t *order, size_t begin, size_t end, bool distance,
                           bool cell) {
    lg_probe_results *r = w->results;
    const lg_probe_item *item = lg_probe_item_at(w->items, order[begin]);
    probe_slice slice = {.items = order + begin, .n = end - begin, .by_cell = cell};
    slice.at.probe = lg_arena_copy(&r->arena, item->probe, strlen(item->probe));
    slice.at.all_distances = !distance;
    slice.at.distance = distance ? item->distance : 0;
    if (cell) slice.at.cell = lg_arena_copy(&r->arena, item->cell, strlen(item->cell));
    if (!slice.at.probe || (cell && !slice.at.cell)) return lg_fail_memory(w->error);
    lg_status status = LG_OK;
    for (size_t m = 0; m < w->n_models && !status; m++) {
        if (!(status = add_row(w, &slice, m)) && m) status = add_pair(w, &slice, m);
        if (!status) status = lg_probe_add_bias(w, &slice, m);
        if (!status) status = lg_probe_add_picks(w, &slice, m);
        if (!status) status = lg_probe_add_baselines(w, &slice, m);
    }
    return status;
}

/* ORDER, BY_CELLS [n_items]: the items sorted by probe, distance, cell, and by probe, cell, distance. */
static lg_status add_probe(probe_work *w, const size_t *order, const size_t *by_cells, size_t begin,
                           size_t end) {
    lg_status status = add_slice(w, order, begin, end, false, false);
    for (size_t at = begin, next; at < end && !status; at = next) {
        next = run_end(w, order, at, end, true, false);
        status = add_slice(w, order, at, next, true, false);
    }
    if (run_end(w, by_cells, begin, end, false, true) == end) return status; /* a single cell */
    for (size_t at = begin, next; at < end && !status; at = next) {
        next = run_end(w, by_cells, at, end, false, true);
        status = add_slice(w, by_cells, at, next, false, true);
    }
    for (size_t at = begin, next; at < end && !status; at = next) {
        next = run_end(w, by_cells, at, end, true, true);
        status = add_slice(w, by_cells, at, next, true, true);
    }
    return status;
}

/* ---- numbers for names ---- */

typedef struct named {
    const char *name;
    size_t item;
} named;

static int by_name(const void *a, const void *b) {
    const named *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : compare_sizes(x->item, y->item);
}

typedef const char *get_name(const lg_probe_item *item);
static const char *get_probe(const lg_probe_item *item) {
    return item->probe;
}
static const char *get_cell(const lg_probe_item *item) {
    return item->cell;
}
static const char *get_group(const lg_probe_item *item) {
    return item->group;
}

/* NUMBERS [n_items]: for each item the first that has the same name; those without: themselves. NAMES:
   scratch [n_items]. */
static void number_names(const lg_probe_items *items, get_name *get, named *names, size_t *numbers) {
    size_t n = 0, all = lg_probe_n_items(items);
    for (size_t i = 0; i < all; i++) {
        const char *name = get(lg_probe_item_at(items, i));
        numbers[i] = i;
        if (name) names[n++] = (named){name, i};
    }
    qsort(names, n, sizeof *names, by_name);
    for (size_t k = 1; k < n; k++)
        if (!strcmp(names[k].name, names[k - 1].name)) numbers[names[k].item] = numbers[names[k - 1].item];
}

/* ---- the whole ---- */

static lg_status describe(probe_work *w, const lg_probe_evaluate_options *options) {
    lg_probe_results *r = w->results;
    lg_json_writer j = {.out = &r->provenance};
    char hex[33];
    lg_status status = lg_probe_items_identity(w->items, hex, w->error);
    if (status) return status;
    size_t n_choices = w->first_choice[w->n_items];
    lg_json_put_object(&j);
    lg_json_put_key(&j, "program");
    lg_json_put_text(&j, "lossgap " LG_VERSION);
    lg_json_put_key(&j, "command");
    lg_json_put_text(&j, options->command);
    lg_json_put_key(&j, "inputs");
    lg_json_put_object(&j);
    lg_json_put_key(&j, "items");
    lg_json_put_text(&j, hex);
    lg_json_put_key(&j, "logp");
    lg_json_put_object(&j);
    for (size_t m = 0; m < w->n_models; m++) {
        const lg_probe_scores *s = w->models[m].scores;
        lg_hasher *hasher = lg_hasher_create();
        if (!hasher) return lg_fail_memory(w->error);
        for (size_t i = 0; i < w->n_items; i++) { /* NANs of items without log-probabilities are no content */
            lg_hasher_add(hasher, &s->outcome[i], 1);
            if (s->outcome[i] != LG_PROBE_SCORED) continue;
            size_t first = w->first_choice[i], n = w->first_choice[i + 1] - first;
            lg_hasher_add(hasher, s->logp + first, n * sizeof *s->logp);
            if (s->tokens) lg_hasher_add(hasher, s->tokens + first, n * sizeof *s->tokens);
        }
        lg_hash_hex(lg_hasher_value(hasher), hex);
        lg_hasher_free(hasher);
        lg_json_put_key(&j, r->models[m]);
        lg_json_put_text(&j, hex);
    }
    lg_json_end_object(&j);
    lg_json_end_object(&j);
    lg_json_put_key(&j, "settings");
    lg_json_put_object(&j);
    lg_json_put_key(&j, "margin");
    lg_json_put_text(
        &j,
        "log p(answer) - largest log p of the others, nats; normalized: each log p / tokens of its choice");
    lg_json_put_key(&j, "accuracy");
    lg_json_put_text(&j, "share of margins above 0, ties count half");
    lg_json_put_key(&j, "interval");
    lg_json_put_text(
        &j, "95 %; clustered by group of items (CR1), Student's t with groups - 1 degrees of freedom; "
            "Wilson's with ties as half a success");
    lg_json_put_key(&j, "items");
    lg_json_put_unsigned(&j, w->n_items);
    lg_json_put_key(&j, "choices");
    lg_json_put_unsigned(&j, n_choices);
    lg_json_end_object(&j);
    lg_json_end_object(&j);
    return r->provenance.failed ? lg_fail_memory(w->error) : LG_OK;
}

static void free_work(probe_work *w, named *names, size_t *order, double *values) {
    free((size_t *)w->first_choice);
    free(w->probe);
    free(w->models);
    free(w->cells);
    free(w->y);
    free(names);
    free(order);
    free(values);
}

lg_status lg_probe_evaluate(const lg_probe_items *items, const lg_probe_scores *scores, size_t n_models,
                            const lg_probe_evaluate_options *options, lg_probe_results **results,
                            lg_error *error) {
    enum { NUMBERS = 6, SCRATCH = 4, VALUES = 2 * N_KINDS + 2 };
    size_t n = lg_probe_n_items(items), room = n + 1, many;
    *results = NULL;
    lg_probe_results *r = calloc(1, sizeof *r);
    if (!r) return lg_fail_memory(error);
    probe_work w = {.items = items, .n_items = n, .n_models = n_models, .results = r, .error = error};
    /* one block each for numbers of items and for doubles */
    size_t *first = lg_alloc(room, sizeof *first), *order = lg_alloc(room, 2 * sizeof *order);
    named *names = lg_alloc(room, sizeof *names);
    double *values = lg_multiply(n_models, VALUES * sizeof *values, &many) ? lg_alloc(room, many) : NULL;
    w.first_choice = first;
    w.probe = lg_alloc(room, NUMBERS * sizeof *w.probe);
    w.y = lg_alloc(room, SCRATCH * sizeof *w.y);
    w.cells = lg_alloc(room, sizeof *w.cells);
    w.models = calloc(n_models ? n_models : 1, sizeof *w.models);
    r->models = lg_arena_alloc(&r->arena, n_models * sizeof *r->models);
    lg_status status = LG_OK;
    if (!first || !order || !names || !values || !w.probe || !w.y || !w.cells || !w.models || !r->models) {
        status = lg_fail_memory(error);
        goto done;
    }
    w.cell = w.probe + room;
    w.group = w.cell + room;
    w.slot = w.group + room;
    w.who = w.slot + room;
    w.used = w.who + room;
    w.chance = w.y + room;
    w.sums = w.chance + room;
    w.excess = w.sums + room;
    first[0] = 0;
    for (size_t i = 0; i < n; i++) {
        first[i + 1] = first[i] + lg_probe_item_at(items, i)->n_choices;
        w.slot[i] = SIZE_MAX;
        order[i] = order[room + i] = i;
    }
    if ((status = check_scores(&w, scores, n_models))) goto done;
    number_names(items, get_probe, names, w.probe);
    number_names(items, get_cell, names, w.cell);
    number_names(items, get_group, names, w.group);
    for (size_t m = 0; m < n_models; m++) {
        probe_values *v = &w.models[m];
        double *at = values + m * VALUES * room;
        *v = (probe_values){
            &scores[m], {at, at + room}, {at + 2 * room, at + 3 * room}, at + 4 * room, at + 5 * room};
        set_values(&w, v);
        r->models[m] = lg_arena_copy(&r->arena, scores[m].model, strlen(scores[m].model));
        if (!r->models[m]) {
            status = lg_fail_memory(error);
            goto done;
        }
        r->n_models++;
    }
    if ((status = describe(&w, options))) goto done;
    qsort_r(order, n, sizeof *order, by_slice, &(sorting){&w, false});
    qsort_r(order + room, n, sizeof *order, by_slice, &(sorting){&w, true});
    for (size_t at = 0, next; at < n && !status; at = next) {
        next = run_end(&w, order, at, n, false, false);
        status = add_probe(&w, order, order + room, at, next);
    }
done:
    free_work(&w, names, order, values);
    if (status) lg_probe_results_free(r);
    else *results = r;
    return status;
}

void lg_probe_results_free(lg_probe_results *r) {
    if (!r) return;
    free(r->rows);
    free(r->pairs);
    free(r->biases);
    free(r->picks);
    free(r->baselines);
    lg_text_free(&r->provenance);
    lg_arena_free(&r->arena);
    free(r);
}

size_t lg_probe_n_models(const lg_probe_results *r) {
    return r->n_models;
}
const char *lg_probe_model(const lg_probe_results *r, size_t i) {
    return r->models[i];
}
const char *lg_probe_provenance(const lg_probe_results *r) {
    return r->provenance.data;
}
size_t lg_probe_n_rows(const lg_probe_results *r) {
    return r->n_rows;
}
const lg_probe_row *lg_probe_row_at(const lg_probe_results *r, size_t i) {
    return &r->rows[i];
}
size_t lg_probe_n_pairs(const lg_probe_results *r) {
    return r->n_pairs;
}
const lg_probe_pair *lg_probe_pair_at(const lg_probe_results *r, size_t i) {
    return &r->pairs[i];
}
size_t lg_probe_n_biases(const lg_probe_results *r) {
    return r->n_biases;
}
const lg_probe_bias *lg_probe_bias_at(const lg_probe_results *r, size_t i) {
    return &r->biases[i];
}
size_t lg_probe_n_picks(const lg_probe_results *r) {
    return r->n_picks;
}
const lg_probe_pick *lg_probe_pick_at(const lg_probe_results *r, size_t i) {
    return &r->picks[i];
}
size_t lg_probe_n_baselines(const lg_probe_results *r) {
    return r->n_baselines;
}
const lg_probe_baseline *lg_probe_baseline_at(const lg_probe_results *r, size_t i) {
    return &r->baselines[i];
}
