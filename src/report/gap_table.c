/* The gap as a table for people: what was compared, the total, then a section for each grouping column, with
   its crossing with another column (mostly the domain) beside it where the lines are long enough. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "lossgap/report.h"
#include "report/grid.h"

enum { MAX_BESIDE = 8 }; /* levels of a column that can stand side by side */

/* One pair's rows of one grouping, in the order in which they are printed. */
typedef struct view {
    const lg_gap *gap;
    const lg_table_style *style;
    const char *model_a, *model_b;
    lg_text *out;
    const lg_gap_row **rows; /* scratch [n_rows of the gap] */
} view;

static bool of_pair(const view *v, const lg_gap_row *row) {
    return strcmp(row->model_a, v->model_a) == 0 && strcmp(row->model_b, v->model_b) == 0;
}

static double contribution(const lg_gap_row *row) {
    return isnan(row->gap) ? 0 : fabs(row->gap) * (double)row->tokens;
}

static int by_contribution(const void *a, const void *b) {
    const lg_gap_row *x = *(const lg_gap_row *const *)a, *y = *(const lg_gap_row *const *)b;
    double p = contribution(x), q = contribution(y);
    if (p != q) return p > q ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* Rows of GROUPING into v->rows; how many. */
static size_t select_rows(const view *v, uint32_t grouping) {
    size_t n = 0;
    for (size_t i = 0; i < lg_gap_n_rows(v->gap); i++) {
        const lg_gap_row *row = lg_gap_at(v->gap, i);
        if (row->grouping == grouping && of_pair(v, row)) v->rows[n++] = row;
    }
    if (v->style->sort == LG_SORT_CONTRIBUTION) qsort(v->rows, n, sizeof *v->rows, by_contribution);
    return n;
}

static const lg_gap_row *find_row(const view *v, uint32_t grouping, size_t column, const char *level,
                                  size_t other, const char *other_level) {
    for (size_t i = 0; i < lg_gap_n_rows(v->gap); i++) {
        const lg_gap_row *row = lg_gap_at(v->gap, i);
        if (row->grouping == grouping && of_pair(v, row) && strcmp(row->level[column], level) == 0 &&
            strcmp(row->level[other], other_level) == 0)
            return row;
    }
    return NULL;
}

static bool has_grouping(const view *v, uint32_t grouping) {
    for (size_t i = 0; i < lg_gap_n_rows(v->gap); i++)
        if (lg_gap_at(v->gap, i)->grouping == grouping) return true;
    return false;
}

/* ---- cells ---- */

/* Whether the interval leaves 0 out. */
static bool is_clear(const lg_gap_row *row) {
    return row->low > 0 || row->high < 0;
}

static lg_ink ink_of(const lg_gap_row *row) {
    return !is_clear(row) ? LG_INK_PLAIN : row->gap > 0 ? LG_INK_GOOD : LG_INK_BAD;
}

static void put_count(lg_grid *grid, uint64_t value) {
    char digits[32], text[48];
    int n = snprintf(digits, sizeof digits, "%llu", (unsigned long long)value), at = 0;
    for (int i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0) text[at++] = ',';
        text[at++] = digits[i];
    }
    text[at] = '\0';
    lg_grid_put(grid, LG_INK_PLAIN, text);
}

static void put_double(lg_grid *grid, const char *format, double value) {
    if (isnan(value)) {
        lg_grid_put(grid, LG_INK_PLAIN, "-");
        return;
    }
    char text[64];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(text, sizeof text, format, value);
#pragma GCC diagnostic pop
    lg_grid_put(grid, LG_INK_PLAIN, text);
}

static void put_gap(lg_grid *grid, const lg_gap_row *row) {
    if (isnan(row->gap)) lg_grid_put(grid, LG_INK_PLAIN, "-");
    else lg_grid_printf(grid, ink_of(row), "%+.4f", row->gap);
}

static void put_numbers(lg_grid *grid, const lg_gap_row *row, bool bytes) {
    put_count(grid, row->tokens);
    put_count(grid, row->documents);
    put_double(grid, "%.4f", row->loss_a);
    put_double(grid, "%.4f", row->loss_b);
    put_gap(grid, row);
    put_double(grid, "%.4f", row->high - row->gap);
    lg_grid_put(grid, ink_of(row), is_clear(row) ? "*" : "");
    if (bytes) {
        put_double(grid, "%.3f", row->bits_per_byte_a);
        put_double(grid, "%.3f", row->bits_per_byte_b);
    }
}

static void put_heads(lg_grid *grid, const char *const *names) {
    for (; *names; names++) lg_grid_put(grid, LG_INK_HEAD, *names);
}

/* ---- sections ---- */

/* The column that is crossed with COLUMN, and its levels: rows of its own grouping. n_columns: none. */
static size_t crossed_with(const view *v, size_t column, const lg_gap_row *levels[MAX_BESIDE],
                           size_t *n_levels) {
    size_t n_by = lg_gap_n_by(v->gap);
    *n_levels = 0;
    for (size_t other = 0; other < n_by; other++) {
        if (other == column || !has_grouping(v, 1u << other | 1u << column)) continue;
        size_t n = 0;
        for (size_t i = 0; i < lg_gap_n_rows(v->gap); i++) {
            const lg_gap_row *row = lg_gap_at(v->gap, i);
            if (row->grouping != 1u << other || !of_pair(v, row)) continue;
            if (n < MAX_BESIDE) levels[n] = row;
            n++;
        }
        if (n > MAX_BESIDE) continue;
        *n_levels = n;
        return other;
    }
    return n_by;
}

static void put_crossed(const view *v, lg_grid *grid, const lg_gap_row *row, size_t column, size_t other,
                        const lg_gap_row *const *levels, size_t n_levels) {
    for (size_t i = 0; i < n_levels; i++) {
        const lg_gap_row *cell = find_row(v, 1u << column | 1u << other, column, row->level[column], other,
                                          levels[i]->level[other]);
        if (!cell) lg_grid_put(grid, LG_INK_PLAIN, "");
        else if (isnan(cell->gap)) lg_grid_put(grid, LG_INK_PLAIN, "-");
        else lg_grid_printf(grid, ink_of(cell), "%+.4f%s", cell->gap, is_clear(cell) ? "*" : " ");
    }
}

static void print_section(const view *v, size_t column, bool bytes) {
    const lg_gap_row *levels[MAX_BESIDE];
    const char *name = lg_gap_by(v->gap, column);
    size_t n_levels, other = crossed_with(v, column, levels, &n_levels);
    size_t n = select_rows(v, 1u << column);
    if (!n) return;
    /* a column stands beside the longer ones only, not they beside it */
    size_t n_other = 0;
    for (size_t i = 0; other < lg_gap_n_by(v->gap) && i < lg_gap_n_rows(v->gap); i++) {
        const lg_gap_row *row = lg_gap_at(v->gap, i);
        n_other += row->grouping == 1u << other && of_pair(v, row);
    }
    bool is_domain = strcmp(name, "domain") == 0;
    if (is_domain ||
        (other < lg_gap_n_by(v->gap) && n_other > n && strcmp(lg_gap_by(v->gap, other), "domain") != 0))
        n_levels = 0;

    for (int beside = n_levels > 0;; beside--) {
        lg_grid grid = {.n_columns = 8 + (bytes ? 2u : 0u) + (beside ? n_levels : 0)};
        const char *heads[] = {name, "tokens", "documents", v->model_a, v->model_b, "gap", "±", "", NULL};
        put_heads(&grid, heads);
        if (bytes) put_heads(&grid, (const char *const[]){"bits/byte", "bits/byte", NULL});
        for (size_t i = 0; beside && i < n_levels; i++)
            lg_grid_printf(&grid, LG_INK_HEAD, "%s ", levels[i]->level[other]);
        lg_grid_end_row(&grid);
        for (size_t i = 0; i < n; i++) {
            lg_grid_put(&grid, LG_INK_PLAIN, v->rows[i]->level[column]);
            put_numbers(&grid, v->rows[i], bytes);
            if (beside) put_crossed(v, &grid, v->rows[i], column, other, levels, n_levels);
            lg_grid_end_row(&grid);
        }
        bool fits = !v->style->width || lg_grid_width(&grid) <= v->style->width || !beside;
        if (fits) {
            lg_text_puts(v->out, "\n");
            lg_grid_print(&grid, v->style->color, v->out);
        }
        lg_grid_free(&grid);
        if (!fits) continue;
        if (!n_levels || beside) return;
        break;
    }
    lg_grid grid = {.n_columns = 1 + n_levels}; /* too wide: the crossing on its own */
    lg_grid_printf(&grid, LG_INK_HEAD, "gap by %s", name);
    for (size_t i = 0; i < n_levels; i++) lg_grid_printf(&grid, LG_INK_HEAD, "%s ", levels[i]->level[other]);
    lg_grid_end_row(&grid);
    for (size_t i = 0; i < n; i++) {
        lg_grid_put(&grid, LG_INK_PLAIN, v->rows[i]->level[column]);
        put_crossed(v, &grid, v->rows[i], column, other, levels, n_levels);
        lg_grid_end_row(&grid);
    }
    lg_text_puts(v->out, "\n");
    lg_grid_print(&grid, v->style->color, v->out);
    lg_grid_free(&grid);
}

/* A grouping by several columns as a list, a line a combination. */
static void print_list(const view *v, uint32_t grouping) {
    size_t n_by = lg_gap_n_by(v->gap), n = select_rows(v, grouping), n_columns = 0;
    for (size_t b = 0; b < n_by; b++) n_columns += grouping >> b & 1;
    lg_grid grid = {.n_columns = n_columns + 7};
    for (size_t b = 0; b < n_by; b++)
        if (grouping >> b & 1) lg_grid_put(&grid, LG_INK_HEAD, lg_gap_by(v->gap, b));
    const char *heads[] = {"tokens", "documents", v->model_a, v->model_b, "gap", "±", "", NULL};
    put_heads(&grid, heads);
    lg_grid_end_row(&grid);
    for (size_t i = 0; i < n; i++) {
        for (size_t b = 0; b < n_by; b++)
            if (grouping >> b & 1) lg_grid_put(&grid, LG_INK_PLAIN, v->rows[i]->level[b]);
        put_numbers(&grid, v->rows[i], false);
        lg_grid_end_row(&grid);
    }
    lg_text_puts(v->out, "\n");
    lg_grid_print(&grid, v->style->color, v->out);
    lg_grid_free(&grid);
}

static bool is_hidden(const view *v, size_t column) {
    for (const char *const *h = v->style->hide; h && *h; h++)
        if (strcmp(*h, lg_gap_by(v->gap, column)) == 0) return true;
    return false;
}

/* Groupings by several columns that no section shows. */
static void print_rest(const view *v) {
    size_t n_by = lg_gap_n_by(v->gap);
    uint32_t last = 0;
    for (size_t i = 0; i < lg_gap_n_rows(v->gap); i++) {
        uint32_t g = lg_gap_at(v->gap, i)->grouping;
        if (g == last || !(g & (g - 1)) || !of_pair(v, lg_gap_at(v->gap, i))) continue;
        last = g;
        bool shown = false, hidden = false;
        for (size_t b = 0; b < n_by; b++) {
            const lg_gap_row *levels[MAX_BESIDE];
            size_t n_levels, other = g >> b & 1 ? crossed_with(v, b, levels, &n_levels) : n_by;
            shown |= other < n_by && g == (1u << b | 1u << other);
            hidden |= (g >> b & 1) && is_hidden(v, b);
        }
        if (!shown && !hidden) print_list(v, g);
    }
}

static void print_pair(const view *v) {
    const lg_gap_about *about = lg_gap_get_about(v->gap);
    lg_text *out = v->out;
    lg_text_printf(out, "%s (A) against %s (B): ", v->model_a, v->model_b);
    size_t n = select_rows(v, 0);
    const lg_gap_row *total = n ? v->rows[0] : NULL;
    lg_grid counts = {.n_columns = 2};
    put_count(&counts, total ? total->tokens : 0);
    put_count(&counts, total ? total->documents : 0);
    if (counts.count == 2)
        lg_text_printf(out, "%s tokens in %s documents", counts.cells[0].text, counts.cells[1].text);
    out->failed |= counts.failed;
    lg_grid_free(&counts);
    if (about->unscorable)
        lg_text_printf(out, "; %llu without a loss left out", (unsigned long long)about->unscorable);
    lg_text_puts(out, "\n" LG_GAP_SIGN ".\n"
                      "±: half of the 95 % interval, clustered by document; *: it leaves 0 out; -: there is "
                      "none (one document).\n\n");
    bool bytes = about->has_text;
    lg_grid grid = {.n_columns = 10};
    const char *heads[] = {"", "tokens", "documents", v->model_a, v->model_b, "gap", "±", "", NULL};
    put_heads(&grid, heads);
    if (bytes) put_heads(&grid, (const char *const[]){"bits/byte", "bits/byte", NULL});
    lg_grid_end_row(&grid);
    if (total) {
        lg_grid_put(&grid, LG_INK_PLAIN, "all");
        put_numbers(&grid, total, bytes);
        lg_grid_end_row(&grid);
    }
    lg_grid_print(&grid, v->style->color, out);
    lg_grid_free(&grid);
    for (size_t b = 0; b < lg_gap_n_by(v->gap); b++) {
        const char *name = lg_gap_by(v->gap, b);
        bool of_documents =
            strcmp(name, "domain") == 0 || strcmp(name, "kind") == 0 || strcmp(name, "document") == 0;
        if (!is_hidden(v, b)) print_section(v, b, bytes && of_documents);
    }
    print_rest(v);
}

lg_status lg_gap_table(const lg_gap *gap, const lg_table_style *style, char **text, size_t *length,
                       lg_error *error) {
    lg_text out = {0};
    const lg_gap_about *about = lg_gap_get_about(gap);
    const lg_gap_row **rows = lg_alloc(lg_gap_n_rows(gap), sizeof *rows);
    if (!rows) return lg_fail_memory(error);
    for (size_t i = 1; i < about->n_models; i++) {
        if (i > 1) lg_text_puts(&out, "\n");
        view v = {gap, style, about->models[0], about->models[i], &out, rows};
        print_pair(&v);
    }
    free(rows);
    if (out.failed) {
        lg_text_free(&out);
        return lg_fail_memory(error);
    }
    *text = out.data;
    *length = out.length;
    return LG_OK;
}
