/* Curves for terminals: a line for each filter and run, with the way of the loss as a sparkline. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "lossgap/report.h"
#include "report/grid.h"

enum { LEVELS = 8, LONGEST = 32 }; /* characters of a sparkline */

/* Losses between LOW and HIGH as marks, the lowest one for LOW; a gap where there is none. More than LONGEST
   points are thinned out, the first and the last kept. */
static void put_sparkline(lg_grid *grid, const lg_curve_point *points, size_t n, double low, double high,
                          bool unicode) {
    static const char *const blocks[LEVELS] = {"\u2581", "\u2582", "\u2583", "\u2584",
                                               "\u2585", "\u2586", "\u2587", "\u2588"};
    static const char *const ascii[LEVELS] = {"_", ".", "-", "~", "=", "+", "*", "#"};
    char text[LONGEST * 3 + 1] = "";
    size_t shown = n < LONGEST ? n : LONGEST, length = 0;
    for (size_t i = 0; i < shown; i++) {
        double loss = points[shown > 1 ? i * (n - 1) / (shown - 1) : 0].loss.loss;
        const char *mark = " ";
        if (!isnan(loss)) {
            double share = high > low ? (loss - low) / (high - low) : 0;
            int level = (int)(share * LEVELS);
            mark = (unicode ? blocks : ascii)[level < 0 ? 0 : level >= LEVELS ? LEVELS - 1 : level];
        }
        length += (size_t)snprintf(text + length, sizeof text - length, "%s", mark);
    }
    lg_grid_put(grid, LG_INK_CYAN, text);
}

static void put_number(lg_grid *grid, double value, bool sign, lg_ink ink) {
    if (isnan(value)) lg_grid_put(grid, LG_INK_PLAIN, "-");
    else if (sign) lg_grid_printf(grid, ink, "%+.4f", value);
    else lg_grid_printf(grid, ink, "%.4f", value);
}

/* The last point with a loss; NULL: none. */
static const lg_curve_point *last_of(const lg_curve_point *points, size_t n) {
    while (n && isnan(points[n - 1].loss.loss)) n--;
    return n ? &points[n - 1] : NULL;
}

static const lg_curve_point *first_of(const lg_curve_point *points, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!isnan(points[i].loss.loss)) return &points[i];
    return NULL;
}

static const lg_curve_point *last_gap_of(const lg_curve_point *points, size_t n) {
    while (n && isnan(points[n - 1].loss.gap)) n--;
    return n ? &points[n - 1] : NULL;
}

static void put_line(lg_grid *grid, const lg_curve_point *points, size_t n, double low, double high,
                     const lg_curve_style *style, bool bytes) {
    const lg_curve_point *first = first_of(points, n), *last = last_of(points, n),
                         *gap = last_gap_of(points, n);
    lg_grid_put(grid, LG_INK_PLAIN, first ? first->run : points[0].run);
    if (!last) {
        lg_grid_put(grid, LG_INK_PLAIN, "-");
        lg_grid_end_row(grid);
        return;
    }
    lg_grid_printf(grid, LG_INK_PLAIN, "%llu", (unsigned long long)first->step);
    put_number(grid, first->loss.loss, false, LG_INK_PLAIN);
    put_sparkline(grid, points, n, low, high, style->unicode);
    lg_grid_printf(grid, LG_INK_PLAIN, "%llu", (unsigned long long)last->step);
    put_number(grid, last->loss.loss, false, LG_INK_PLAIN);
    put_number(grid, last->loss.high - last->loss.loss, false, LG_INK_DIM);
    if (bytes) put_number(grid, last->loss.bits_per_byte, false, LG_INK_PLAIN);
    const lg_filtered_loss *l = gap ? &gap->loss : NULL;
    bool clear = l && (l->gap_low > 0 || l->gap_high < 0);
    lg_ink ink = !clear ? LG_INK_PLAIN : l->gap > 0 ? LG_INK_GOOD : LG_INK_BAD;
    if (!l) {
        lg_grid_end_row(grid);
        return;
    }
    put_number(grid, l->gap, true, ink);
    put_number(grid, l->gap_high - l->gap, false, LG_INK_DIM);
    lg_grid_put(grid, ink, clear ? "*" : "");
    if (gap != last) lg_grid_printf(grid, LG_INK_DIM, "at step %llu", (unsigned long long)gap->step);
    lg_grid_end_row(grid);
}

static void put_heads(lg_grid *grid, const char *filter, const lg_curve_style *style, bool bytes) {
    const char *interval = style->unicode ? "\u00b1" : "+/-";
    lg_grid_put(grid, LG_INK_HEAD, filter);
    lg_grid_put(grid, LG_INK_HEAD, "step");
    lg_grid_put(grid, LG_INK_HEAD, "loss");
    lg_grid_put(grid, LG_INK_HEAD, "");
    lg_grid_put(grid, LG_INK_HEAD, "step");
    lg_grid_put(grid, LG_INK_HEAD, "loss");
    lg_grid_put(grid, LG_INK_HEAD, interval);
    if (bytes) lg_grid_put(grid, LG_INK_HEAD, "bits/byte");
    lg_grid_put(grid, LG_INK_HEAD, "gap");
    lg_grid_put(grid, LG_INK_HEAD, interval);
    lg_grid_end_row(grid);
}

static void put_filter(lg_grid *grid, const lg_curve *curve, size_t f, const lg_curve_style *style) {
    const lg_curve_about *about = lg_curve_get_about(curve);
    double low = INFINITY, high = -INFINITY;
    size_t n;
    for (size_t r = 0; r < about->n_runs; r++) { /* one scale for all runs */
        const lg_curve_point *points = lg_curve_line(curve, f, r, &n);
        for (size_t i = 0; i < n; i++) {
            if (points[i].loss.loss < low) low = points[i].loss.loss;
            if (points[i].loss.loss > high) high = points[i].loss.loss;
        }
    }
    put_heads(grid, lg_filters_at(about->filters, f)->name, style, about->has_text);
    for (size_t r = 0; r < about->n_runs; r++) {
        const lg_curve_point *points = lg_curve_line(curve, f, r, &n);
        if (n) put_line(grid, points, n, low, high, style, about->has_text);
    }
}

static void put_quantity(lg_text *out, uint64_t value) {
    char digits[32];
    int n = snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    for (int i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0) lg_text_puts(out, ",");
        lg_text_put(out, &digits[i], 1);
    }
}

/* Text from outside: control characters become '?', so that no name drives the terminal. */
static void put_clean(lg_text *out, const char *text) {
    for (; *text; text++) {
        bool control = (unsigned char)*text < 0x20 || *text == 0x7f;
        lg_text_put(out, control ? "?" : text, 1);
    }
}

static void put_introduction(lg_text *out, const lg_curve *curve, const lg_curve_style *style) {
    const lg_curve_about *about = lg_curve_get_about(curve);
    lg_text_printf(out, "%zu checkpoint%s of %zu run%s over ", about->n_checkpoints,
                   about->n_checkpoints == 1 ? "" : "s", about->n_runs, about->n_runs == 1 ? "" : "s");
    put_quantity(out, about->tokens);
    lg_text_puts(out, " tokens in ");
    put_quantity(out, about->documents);
    lg_text_printf(out, " document%s; loss in nats per token\n", about->documents == 1 ? "" : "s");
    if (about->n_runs > 1) lg_text_printf(out, "%s; the baseline is %s.\n", LG_CURVE_SIGN, about->runs[0]);
    lg_text_printf(out,
                   "%s: half of the 95 %% interval, clustered by document; *: it leaves 0 out; -: none.\n",
                   style->unicode ? "\u00b1" : "+/-");
}

static void put_notes(lg_text *out, const lg_curve *curve) {
    const lg_curve_about *about = lg_curve_get_about(curve);
    size_t n, gone = 0;
    lg_text_puts(out, "\nfilters:\n");
    for (size_t f = 0; f < lg_filters_n(about->filters); f++) {
        const lg_filter *filter = lg_filters_at(about->filters, f);
        lg_text_printf(out, "  %s: ", filter->name);
        put_quantity(out, filter->tokens);
        lg_text_puts(out, " tokens in ");
        put_quantity(out, filter->documents);
        lg_text_printf(out, " documents%s%s\n", filter->note ? "; " : "", filter->note ? filter->note : "");
    }
    const lg_state_tag *tags = lg_filters_state(about->filters, &n);
    if (n) {
        lg_text_puts(out, "  state takes");
        for (size_t i = 0; i < n; i++) lg_text_printf(out, "%s %s", i ? "," : "", tags[i].tag);
        if (about->pair[0])
            lg_text_printf(out, " (most favoured by %s over %s on the half of the documents that chooses)",
                           about->pair[1], about->pair[0]);
        lg_text_puts(out, "\n");
    }
    if (about->hard && lg_filters_n(about->filters)) {
        for (size_t f = 0; f < lg_filters_n(about->filters); f++)
            if (strcmp(lg_filters_at(about->filters, f)->name, "hard_copy5") == 0)
                lg_text_printf(out, "  hard_copy5: hard under %s\n", about->hard);
    }
    for (size_t i = 0; i < lg_filters_n_left_out(about->filters); i++) {
        lg_text_printf(out, "  without %s: ", lg_filters_left_out(about->filters, i)->name);
        put_clean(out, lg_filters_left_out(about->filters, i)->reason);
        lg_text_puts(out, "\n");
    }
    for (size_t i = 0; i < about->n_checkpoints; i++) gone += about->checkpoints[i].gone;
    if (gone)
        lg_text_printf(out, "%zu checkpoint%s gone by now; the scores were kept.\n", gone,
                       gone == 1 ? " is" : "s are");
    for (size_t i = 0; i < about->n_skipped; i++) {
        const lg_curve_skipped *s = &about->skipped[i];
        lg_text_printf(out, "skipped: %s of %s, %s: ", s->checkpoint, s->run,
                       s->broken ? "broken" : "not complete yet");
        put_clean(out, s->reason);
        lg_text_puts(out, "\n");
    }
}

lg_status lg_curve_table(const lg_curve *curve, const lg_curve_style *style, char **text, size_t *length,
                         lg_error *error) {
    const lg_curve_about *about = lg_curve_get_about(curve);
    lg_text out = {0};
    bool failed = false;
    put_introduction(&out, curve, style);
    lg_grid grid = {.n_columns = about->has_text ? 12 : 11, .left = 1u << 3};
    grid.left |= (uint64_t)1 << (grid.n_columns - 1);
    for (size_t f = 0; f < lg_filters_n(about->filters) && !failed; f++) {
        lg_grid_end_row(&grid);
        put_filter(&grid, curve, f, style);
    }
    lg_grid_print(&grid, style->color, &out);
    failed = grid.failed;
    lg_grid_free(&grid);
    put_notes(&out, curve);
    if (out.failed || failed) {
        lg_text_free(&out);
        return lg_fail_memory(error);
    }
    *text = out.data;
    *length = out.length;
    return LG_OK;
}
