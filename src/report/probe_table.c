/* Results of probes as tables for people: margins and accuracy by distance, what moves the models' choices,
   and copy baselines. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "lossgap/probe_results.h"
#include "lossgap/report.h"
#include "report/grid.h"

typedef struct view {
    const lg_probe_results *results;
    const lg_table_style *style;
    lg_text *out;
} view;

/* VALUE x SCALE with DIGITS behind the point, or "-". */
static void put_value(lg_grid *grid, lg_ink ink, double value, double scale, int digits, bool sign) {
    if (isnan(value)) lg_grid_put(grid, LG_INK_PLAIN, "-");
    else if (sign) lg_grid_printf(grid, ink, "%+.*f", digits, value * scale);
    else lg_grid_printf(grid, ink, "%.*f", digits, value * scale);
}

static lg_ink ink_of(double low, double high, double neutral) {
    return low > neutral ? LG_INK_GOOD : high < neutral ? LG_INK_BAD : LG_INK_PLAIN;
}

/* The mean, half of its interval, and a star where the interval leaves NEUTRAL out. */
static void put_mean(lg_grid *grid, const lg_probe_mean *mean, double neutral, double scale, int digits,
                     bool sign) {
    lg_ink ink = ink_of(mean->low, mean->high, neutral);
    put_value(grid, ink, mean->mean, scale, digits, sign);
    put_value(grid, LG_INK_PLAIN, mean->high - mean->mean, scale, digits, false);
    lg_grid_put(grid, ink, ink == LG_INK_PLAIN ? "" : "*");
}

/* The same of a share, against chance; where groups do not differ, by Wilson's interval. */
static void put_share(lg_grid *grid, const lg_probe_share *share) {
    const lg_probe_mean *mean = &share->clustered;
    bool spread = mean->se > 0;
    lg_ink ink = ink_of(spread ? mean->low : share->wilson_low, spread ? mean->high : share->wilson_high,
                        share->chance);
    put_value(grid, ink, mean->mean, 100, 1, false);
    put_value(grid, LG_INK_PLAIN, mean->high - mean->mean, 100, 1, false);
    lg_grid_put(grid, ink, ink == LG_INK_PLAIN ? "" : "*");
}

static void put_place(lg_grid *grid, const lg_probe_place *at, const char *last_probe, bool distance) {
    lg_grid_put(grid, LG_INK_PLAIN, last_probe && !strcmp(last_probe, at->probe) ? "" : at->probe);
    if (!distance) return;
    if (at->all_distances) lg_grid_put(grid, LG_INK_PLAIN, "all");
    else lg_grid_printf(grid, LG_INK_PLAIN, "%" PRIu64, at->distance);
}

static void print_grid(const view *v, lg_grid *grid) {
    lg_grid_print(grid, v->style->color, v->out);
    lg_grid_free(grid);
}

/* ---- margins and accuracy ---- */

/* The difference to the first model in the same items; NULL: this is the first. */
static const lg_probe_pair *find_pair(const view *v, const lg_probe_place *at, size_t *next) {
    size_t n = lg_probe_n_pairs(v->results);
    for (size_t k = 0; k < n; k++) { /* pairs have the order of the rows: mostly the next one */
        const lg_probe_pair *pair = lg_probe_pair_at(v->results, (*next + k) % n);
        if (strcmp(pair->at.model, at->model) || strcmp(pair->at.probe, at->probe) ||
            pair->at.all_distances != at->all_distances || pair->at.distance != at->distance ||
            !pair->at.cell != !at->cell || (at->cell && strcmp(pair->at.cell, at->cell)))
            continue;
        *next = (*next + k + 1) % n;
        return pair;
    }
    return NULL;
}

/* Which blocks of columns there are. */
typedef struct columns {
    bool cell, wilson, loss, more, pairs;
} columns;

static void put_row(const view *v, lg_grid *grid, const columns *has, const lg_probe_row *row, size_t *next) {
    const lg_probe_share *a = &row->summed.accuracy;
    lg_grid_put(grid, LG_INK_PLAIN, row->at.model);
    lg_grid_printf(grid, LG_INK_PLAIN, "%" PRIu64, row->scored);
    lg_grid_printf(grid, LG_INK_PLAIN, "%" PRIu64, row->groups);
    put_share(grid, a);
    if (has->wilson && isnan(a->wilson_low)) lg_grid_put(grid, LG_INK_PLAIN, "-");
    else if (has->wilson)
        lg_grid_printf(grid, LG_INK_PLAIN, "%.1f-%.1f", 100 * a->wilson_low, 100 * a->wilson_high);
    put_value(grid, LG_INK_PLAIN, a->chance, 100, 1, false);
    put_mean(grid, &row->summed.margin, 0, 1, 3, true);
    if (has->loss) put_value(grid, LG_INK_PLAIN, row->loss.mean, 1, 3, false);
    if (has->more) {
        put_value(grid, LG_INK_PLAIN, row->summed.median_margin, 1, 3, true);
        put_share(grid, &row->normalized.accuracy);
        put_mean(grid, &row->normalized.margin, 0, 1, 3, true);
        put_value(grid, LG_INK_PLAIN, row->loss_per_token.mean, 1, 3, false);
    }
    const lg_probe_pair *pair = has->pairs ? find_pair(v, &row->at, next) : NULL;
    if (pair) {
        put_mean(grid, &pair->accuracy, 0, 100, 1, true);
        put_mean(grid, &pair->margin, 0, 1, 3, true);
    }
    lg_grid_end_row(grid);
}

/* Heads into GRID, unless it is NULL; how many. */
static size_t put_some(lg_grid *grid, bool has, const char *const *heads) {
    size_t n = 0;
    for (; has && heads[n]; n++)
        if (grid) lg_grid_put(grid, LG_INK_HEAD, heads[n]);
    return n;
}

static size_t put_row_heads(lg_grid *grid, const columns *has) {
    size_t n = put_some(grid, true, (const char *const[]){"probe", "distance", NULL});
    n += put_some(grid, has->cell, (const char *const[]){"cell", NULL});
    n += put_some(grid, true, (const char *const[]){"model", "items", "groups", "right %", "±", "", NULL});
    n += put_some(grid, has->wilson, (const char *const[]){"Wilson %", NULL});
    n += put_some(grid, true, (const char *const[]){"chance %", "margin", "±", "", NULL});
    n += put_some(grid, has->loss, (const char *const[]){"loss", NULL});
    n += put_some(
        grid, has->more,
        (const char *const[]){"median", "per token: right %", "±", "", "margin", "±", "", "loss", NULL});
    n += put_some(grid, has->pairs, (const char *const[]){"B-A: right %", "±", "", "margin", "±", "", NULL});
    return n;
}

/* false: no row to show. */
static bool fill_rows(const view *v, lg_grid *grid, const columns *has) {
    const char *last = NULL;
    size_t next = 0;
    *grid = (lg_grid){.n_columns = put_row_heads(NULL, has), .left = has->cell ? 3 << 2 : 1 << 2};
    put_row_heads(grid, has);
    lg_grid_end_row(grid);
    for (size_t i = 0; i < lg_probe_n_rows(v->results); i++) {
        const lg_probe_row *row = lg_probe_row_at(v->results, i);
        if (has->cell != !!row->at.cell || (has->cell && !row->at.all_distances)) continue;
        put_place(grid, &row->at, last, true);
        if (has->cell) lg_grid_put(grid, LG_INK_PLAIN, row->at.cell);
        put_row(v, grid, has, row, &next);
        last = row->at.probe;
    }
    return last;
}

/* On narrow terminals fewer columns; the files have them all. */
static void print_rows(const view *v, bool cells) {
    bool pairs = lg_probe_n_models(v->results) > 1, any = true;
    const columns wide[] = {{cells, true, true, v->style->full, pairs},
                            {cells, true, true, false, pairs},
                            {cells, false, false, false, pairs},
                            {cells, false, false, false, false}};
    lg_grid grid = {0};
    for (size_t i = 0; i < 4; i++) {
        lg_grid_free(&grid);
        any = fill_rows(v, &grid, &wide[i]);
        if (!v->style->width || lg_grid_width(&grid) <= v->style->width) break;
    }
    if (any && cells) lg_text_puts(v->out, "\nBy cell, all distances:\n");
    if (any) print_grid(v, &grid);
    else lg_grid_free(&grid);
}

/* Why items are not in the numbers, and what else rows say. */
static void print_notes(const view *v) {
    for (size_t i = 0; i < lg_probe_n_rows(v->results); i++) {
        const lg_probe_row *row = lg_probe_row_at(v->results, i);
        if (!row->at.all_distances || row->at.cell) continue;
        const struct {
            uint64_t n;
            const char *why;
        } reasons[] = {{row->straddles, "where a token crosses the boundary between prompt and choice"},
                       {row->too_long, "longer than the model's context"},
                       {row->not_meant, "made for another tokenizer"},
                       {row->missing, "without log-probabilities, nobody says why"}};
        if (row->scored < row->items) {
            lg_text_printf(v->out, "%s, %s: %" PRIu64 " of %" PRIu64 " items left out", row->at.probe,
                           row->at.model, row->items - row->scored, row->items);
            const char *comma = ": ";
            for (size_t k = 0; k < 4; k++) {
                if (!reasons[k].n) continue;
                lg_text_printf(v->out, "%s%" PRIu64 " %s", comma, reasons[k].n, reasons[k].why);
                comma = ", ";
            }
            lg_text_puts(v->out, "\n");
        }
        bool small = row->groups > 1 && !row->summed.infinite; /* about tokens of choices only */
        if (row->note && (!small || v->style->full))
            lg_text_printf(v->out, "%s, %s: %s\n", row->at.probe, row->at.model, row->note);
    }
}

/* ---- biases ---- */

static bool is_shown(const view *v, const lg_probe_bias *bias) {
    return !bias->at.cell && (bias->at.all_distances || v->style->full);
}

static void print_parts(const view *v) {
    unsigned has = 0;
    bool full = v->style->full;
    for (size_t i = 0; i < lg_probe_n_biases(v->results); i++)
        if (is_shown(v, lg_probe_bias_at(v->results, i))) has |= lg_probe_bias_at(v->results, i)->has;
    size_t parts = (size_t)__builtin_popcount(has);
    lg_grid grid = {.n_columns = 2 + (full ? 1u : 0u) + 3 * parts, .left = full ? 1 << 2 : 1 << 1};
    put_some(&grid, true,
             (const char *const[]){"probe", full ? "distance" : "model", full ? "model" : NULL, NULL});
    for (int j = 0; j < LG_N_PROBE_PARTS; j++)
        put_some(&grid, has >> j & 1,
                 (const char *const[]){lg_probe_part_name((lg_probe_part)j), "±", "", NULL});
    lg_grid_end_row(&grid);
    const char *last = NULL;
    for (size_t i = 0; i < lg_probe_n_biases(v->results); i++) {
        const lg_probe_bias *bias = lg_probe_bias_at(v->results, i);
        if (!is_shown(v, bias)) continue;
        put_place(&grid, &bias->at, last, full);
        lg_grid_put(&grid, LG_INK_PLAIN, bias->at.model);
        for (int j = 0; j < LG_N_PROBE_PARTS; j++)
            if (has >> j & 1) put_mean(&grid, &bias->part[j], 0, 1, 3, true);
        lg_grid_end_row(&grid);
        last = bias->at.probe;
    }
    print_grid(v, &grid);
}

static void print_biases(const view *v) {
    if (!lg_probe_n_biases(v->results)) return;
    lg_text_puts(v->out, "\nWhat moves the choices, nats. Knowledge: towards the answer; recency: the "
                         "last-mentioned; position: the first\noption listed; identity: one recurring option "
                         "over the other, whatever is asked; -: does not vary here.\n");
    print_parts(v);
    lg_text_puts(v->out, "\n");
    for (size_t i = 0; i < lg_probe_n_biases(v->results); i++) {
        const lg_probe_bias *bias = lg_probe_bias_at(v->results, i);
        if (bias->at.cell || !bias->at.all_distances) continue;
        lg_text_printf(v->out, "%s, %s: %s%s%s%s\n", bias->at.probe, bias->at.model, bias->verdict,
                       bias->note ? " [" : "", bias->note ? bias->note : "", bias->note ? "]" : "");
    }
}

/* ---- copy baselines ---- */

static void print_baselines(const view *v) {
    lg_grid grid = {.n_columns = 11, .left = 6};
    bool any = false;
    put_some(&grid, true,
             (const char *const[]){"probe", "model", "baseline", "items", "its right %", "model right %",
                                   "agree %", "where it errs", "model right %", "±", "agree %", NULL});
    lg_grid_end_row(&grid);
    const char *last = NULL;
    for (size_t i = 0; i < lg_probe_n_baselines(v->results); i++) {
        const lg_probe_baseline *b = lg_probe_baseline_at(v->results, i);
        if (b->at.cell || !b->at.all_distances) continue;
        const lg_probe_mean *wrong = &b->model_accuracy_wrong.clustered;
        put_place(&grid, &b->at, last, false);
        lg_grid_put(&grid, LG_INK_PLAIN, b->at.model);
        lg_grid_put(&grid, LG_INK_PLAIN, b->baseline);
        lg_grid_printf(&grid, LG_INK_PLAIN, "%" PRIu64, b->accuracy.items);
        put_value(&grid, LG_INK_PLAIN, b->accuracy.clustered.mean, 100, 1, false);
        put_value(&grid, LG_INK_PLAIN, b->model_accuracy.clustered.mean, 100, 1, false);
        put_value(&grid, LG_INK_PLAIN, b->agreement.clustered.mean, 100, 1, false);
        lg_grid_printf(&grid, LG_INK_PLAIN, "%" PRIu64, b->model_accuracy_wrong.items);
        put_value(&grid, LG_INK_PLAIN, wrong->mean, 100, 1, false);
        put_value(&grid, LG_INK_PLAIN, wrong->high - wrong->mean, 100, 1, false);
        put_value(&grid, LG_INK_PLAIN, b->agreement_wrong.clustered.mean, 100, 1, false);
        lg_grid_end_row(&grid);
        last = b->at.probe;
        any = true;
    }
    if (any) lg_text_puts(v->out, "\nBeside answers by copying:\n");
    if (any) print_grid(v, &grid);
    else lg_grid_free(&grid);
}

lg_status lg_probe_table(const lg_probe_results *results, const lg_table_style *style, char **text,
                         size_t *length, lg_error *error) {
    lg_text out = {0};
    view v = {results, style, &out};
    lg_text_puts(
        &out, "Margin: log p of the answer minus the largest other one, nats. Right: share of margins above "
              "0, ties count half.\nLoss: -log p of the answer. ±: half of the 95 % interval, clustered "
              "by group of items; *: it leaves 0 (right %: chance)\nout; -: there is none.");
    if (lg_probe_n_models(results) > 1) {
        lg_text_printf(&out, " B-A: the model minus %s, on items that both scored.",
                       lg_probe_model(results, 0));
    }
    lg_text_puts(&out, "\n\n");
    print_rows(&v, false);
    print_notes(&v);
    if (style->full) print_rows(&v, true);
    print_biases(&v);
    print_baselines(&v);
    if (out.failed) {
        lg_text_free(&out);
        return lg_fail_memory(error);
    }
    *text = out.data;
    *length = out.length;
    return LG_OK;
}
