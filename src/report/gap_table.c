/* The gap as a table for people: what was compared, the total, then a section for each grouping column, with
   its crossing with another column (mostly the domain) beside it where the lines are long enough. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "lossgap/report.h"
#include "report/about.h"
#include "report/grid.h"

enum {
    MAX_BY = 32,     /* grouping columns of a gap */
    SHORT_NAME = 12, /* bytes: names up to here head columns */
    MAX_BESIDE = 8,  /* levels of a column that can stand side by side */
};

/* One pair's rows of one grouping, in the order in which they are printed. */
typedef struct view {
    const lg_gap *gap;
    const lg_table_style *style;
    const char *model_a, *model_b;
    const char *head_a, *head_b; /* of the columns with their losses */
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

/* How many levels COLUMN has: rows of its own grouping. */
static size_t count_levels(const view *v, size_t column) {
    size_t n = 0;
    for (size_t i = 0; i < lg_gap_n_rows(v->gap); i++)
        n += lg_gap_at(v->gap, i)->grouping == 1u << column && of_pair(v, lg_gap_at(v->gap, i));
    return n;
}

/* ---- cells ---- */

/* Whether the interval leaves 0 out. */
static bool is_clear(const lg_gap_row *row) {
    return row->low > 0 || row->high < 0;
}

static lg_ink ink_of(const lg_gap_row *row) {
    return !is_clear(row) ? LG_INK_PLAIN : row->gap > 0 ? LG_INK_GOOD : LG_INK_BAD;
}

static void put_gap(lg_grid *grid, const lg_gap_row *row) {
    if (isnan(row->gap)) lg_grid_put(grid, LG_INK_PLAIN, "-");
    else lg_grid_printf(grid, ink_of(row), "%+.4f", row->gap);
}

static void put_numbers(lg_grid *grid, const lg_gap_row *row, bool bytes) {
    lg_grid_count(grid, row->tokens);
    lg_grid_count(grid, row->documents);
    lg_grid_number(grid, "%.4f", row->loss_a);
    lg_grid_number(grid, "%.4f", row->loss_b);
    put_gap(grid, row);
    lg_grid_number(grid, "%.4f", row->high - row->gap);
    lg_grid_put(grid, ink_of(row), is_clear(row) ? "*" : "");
    if (bytes && isnan(row->bits_per_byte_a)) lg_grid_put(grid, LG_INK_PLAIN, "-");
    else if (bytes)
        lg_grid_printf(grid, LG_INK_PLAIN, "%.3f %.3f", row->bits_per_byte_a, row->bits_per_byte_b);
}

/* What is counted: tokens, or spans that tokenizers share. */
static const char *unit_of(const view *v) {
    return lg_gap_get_about(v->gap)->spans ? "span" : "token";
}

static const char *units_of(const view *v) {
    return lg_gap_get_about(v->gap)->spans ? "spans" : "tokens";
}

static void put_heads(lg_grid *grid, const char *const *names) {
    for (; *names; names++) lg_grid_put(grid, LG_INK_HEAD, *names);
}

/* ---- crossings: the gap by two columns, one of them side by side ---- */

typedef struct crossing {
    size_t column, beside; /* indices of grouping columns; the levels of `beside` make columns */
    const lg_gap_row *levels[MAX_BESIDE]; /* [n_levels] one row for each level of `beside` */
    size_t n_levels, n_cells;
    const lg_gap_row **cells; /* [n_cells] the grouping's rows, sorted by the addresses of their levels */
} crossing;

static bool is_domain(const view *v, size_t column) {
    return strcmp(lg_gap_by(v->gap, column), "domain") == 0;
}

/* Whether the rows of GROUPING can be shown as a crossing, and which column stands beside which: the domain,
   else the one with fewer levels. */
static bool can_cross(const view *v, uint32_t grouping, size_t *column, size_t *beside) {
    if (__builtin_popcount(grouping) != 2) return false;
    size_t a = (size_t)__builtin_ctz(grouping), b = (size_t)__builtin_ctz(grouping & (grouping - 1));
    size_t n_a = count_levels(v, a), n_b = count_levels(v, b);
    bool first = is_domain(v, a) || (!is_domain(v, b) && n_a < n_b);
    *column = first ? b : a;
    *beside = first ? a : b;
    size_t n = first ? n_a : n_b;
    return n > 1 && n <= MAX_BESIDE;
}

/* A level's name is one string in a whole gap; two documents may have the same name. */
static int compare_levels(const char *const *a, const char *const *b, size_t n) {
    for (size_t i = 0; i < n; i++) {
        uintptr_t p = (uintptr_t)a[i], q = (uintptr_t)b[i];
        if (p != q) return p < q ? -1 : 1;
    }
    return 0;
}

static int by_levels(const void *a, const void *b, void *n_by) {
    return compare_levels((*(const lg_gap_row *const *)a)->level, (*(const lg_gap_row *const *)b)->level,
                          *(const size_t *)n_by);
}

/* Finds what is crossed with COLUMN; n_levels 0: nothing. */
static void open_crossing(const view *v, size_t column, crossing *c) {
    size_t n_rows = lg_gap_n_rows(v->gap), n_by = lg_gap_n_by(v->gap);
    uint32_t grouping = 0;
    *c = (crossing){0};
    for (size_t i = 0; i < n_rows && !grouping; i++) {
        uint32_t g = lg_gap_at(v->gap, i)->grouping;
        if ((g >> column & 1) && g != 1u << column && can_cross(v, g, &c->column, &c->beside) &&
            c->column == column)
            grouping = g;
    }
    if (!grouping) return;
    c->cells = lg_alloc(n_rows, sizeof *c->cells);
    if (!c->cells) {
        v->out->failed = true;
        return;
    }
    for (size_t i = 0; i < n_rows; i++) {
        const lg_gap_row *row = lg_gap_at(v->gap, i);
        if (!of_pair(v, row)) continue;
        if (row->grouping == 1u << c->beside) c->levels[c->n_levels++] = row;
        if (row->grouping == grouping) c->cells[c->n_cells++] = row;
    }
    qsort_r(c->cells, c->n_cells, sizeof *c->cells, by_levels, &n_by);
}

static const lg_gap_row *find_cell(const view *v, const crossing *c, const lg_gap_row *row, size_t level) {
    size_t n_by = lg_gap_n_by(v->gap);
    const char *wanted[MAX_BY];
    for (size_t b = 0; b < n_by; b++)
        wanted[b] = lg_gap_at(v->gap, 0)->level[b]; /* the total's: "*" everywhere */
    wanted[c->column] = row->level[c->column];
    wanted[c->beside] = c->levels[level]->level[c->beside];
    size_t low = 0, high = c->n_cells;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare_levels(c->cells[middle]->level, wanted, n_by);
        if (!order) return c->cells[middle];
        if (order < 0) low = middle + 1;
        else high = middle;
    }
    return NULL;
}

static void put_crossed_heads(const crossing *c, lg_grid *grid) {
    for (size_t i = 0; i < c->n_levels; i++)
        lg_grid_printf(grid, LG_INK_HEAD, "%s ", c->levels[i]->level[c->beside]);
}

static void put_crossed(const view *v, const crossing *c, lg_grid *grid, const lg_gap_row *row) {
    for (size_t i = 0; i < c->n_levels; i++) {
        const lg_gap_row *cell = find_cell(v, c, row, i);
        if (!cell) lg_grid_put(grid, LG_INK_PLAIN, "");
        else if (isnan(cell->gap)) lg_grid_put(grid, LG_INK_PLAIN, "- ");
        else lg_grid_printf(grid, ink_of(cell), "%+.4f%s", cell->gap, is_clear(cell) ? "*" : " ");
    }
}

/* ---- the other columns ---- */

static void put_share(lg_grid *grid, double value) {
    if (isnan(value)) lg_grid_put(grid, LG_INK_PLAIN, "-");
    else lg_grid_printf(grid, LG_INK_PLAIN, "%.1f%%", 100 * value);
}

static void put_interval(lg_grid *grid, double low, double high) {
    if (isnan(low)) lg_grid_put(grid, LG_INK_PLAIN, "-");
    else lg_grid_printf(grid, LG_INK_PLAIN, "%+.4f … %+.4f", low, high);
}

/* What the compact table leaves out, of v->rows [n]; what is named NAME heads their levels in COLUMN
 * (SIZE_MAX: the total). */
static void print_more(const view *v, const char *name, size_t column, size_t n) {
    const lg_gap_about *about = lg_gap_get_about(v->gap);
    lg_grid grid = {.n_columns = 12};
    lg_grid_put(&grid, LG_INK_HEAD, name);
    put_heads(&grid, (const char *const[]){"median", "improved", "trimmed", NULL});
    if (about->has_text) put_heads(&grid, (const char *const[]){"by bytes", NULL});
    put_heads(&grid, (const char *const[]){"by docs", "by domains", "p", "p adj.", "p Wilcoxon", "detectable",
                                           NULL});
    if (about->bootstrap) put_heads(&grid, (const char *const[]){"bootstrap", NULL});
    lg_grid_end_row(&grid);
    for (size_t i = 0; i < n; i++) {
        const lg_gap_row *row = v->rows[i];
        lg_grid_put(&grid, LG_INK_PLAIN, column == SIZE_MAX ? "all" : row->level[column]);
        lg_grid_number(&grid, "%+.4f", row->median);
        put_share(&grid, row->improved);
        lg_grid_number(&grid, "%+.4f", row->trimmed);
        if (about->has_text) lg_grid_number(&grid, "%+.4f", row->byte_weighted);
        lg_grid_number(&grid, "%+.4f", row->of_documents);
        lg_grid_number(&grid, "%+.4f", row->of_domains);
        lg_grid_p(&grid, row->p);
        lg_grid_p(&grid, row->p_bh);
        lg_grid_p(&grid, row->p_wilcoxon);
        lg_grid_number(&grid, "%.4f", row->mde);
        if (about->bootstrap) put_interval(&grid, row->bootstrap_low, row->bootstrap_high);
        lg_grid_end_row(&grid);
    }
    lg_text_puts(v->out, "\n");
    lg_grid_print(&grid, v->style->color, v->out);
    lg_grid_free(&grid);
}

static const char *reason_of(const view *v, size_t i) {
    const lg_gap_contrast *row = lg_gap_contrast_at(v->gap, i);
    bool own = strcmp(row->model_a, v->model_a) == 0 && strcmp(row->model_b, v->model_b) == 0;
    return own && isnan(row->estimate) ? row->note : NULL;
}

/* Why contrasts could not be made, each reason once. */
static void print_reasons(const view *v) {
    size_t n = lg_gap_n_contrasts(v->gap);
    for (size_t i = 0; i < n; i++) {
        const char *reason = reason_of(v, i);
        bool told = false;
        for (size_t k = 0; k < i && reason && !told; k++)
            told = reason_of(v, k) && strcmp(reason_of(v, k), reason) == 0;
        if (reason && !told) lg_text_printf(v->out, "-: %s.\n", reason);
    }
}

/* The contrasts of a view: a line each. */
static void print_contrasts(const view *v) {
    const lg_gap_about *about = lg_gap_get_about(v->gap);
    size_t n_by = lg_gap_n_by(v->gap), n = 0;
    lg_grid grid = {.n_columns = n_by + 12};
    for (size_t b = 0; b < n_by; b++) grid.left |= (uint64_t)1 << b;
    for (size_t i = 0; i < lg_gap_n_contrasts(v->gap); i++) {
        const lg_gap_contrast *row = lg_gap_contrast_at(v->gap, i);
        if (strcmp(row->model_a, v->model_a) != 0 || strcmp(row->model_b, v->model_b) != 0) continue;
        if (!n++) {
            for (size_t b = 0; b < n_by; b++) lg_grid_put(&grid, LG_INK_HEAD, lg_gap_by(v->gap, b));
            put_heads(&grid, (const char *const[]){units_of(v), "docs", NULL});
            if (row->slope)
                put_heads(&grid, (const char *const[]){"tags", "slope", "±", "", "± of tags", NULL});
            else
                put_heads(&grid,
                          (const char *const[]){"first", "second", "difference", "±", "", "ratio", NULL});
            put_heads(&grid, (const char *const[]){"p", "p adj.", NULL});
            if (about->bootstrap) put_heads(&grid, (const char *const[]){"bootstrap", NULL});
            lg_grid_end_row(&grid);
        }
        bool clear = row->low > 0 || row->high < 0;
        lg_ink ink = !clear ? LG_INK_PLAIN : row->estimate > 0 ? LG_INK_GOOD : LG_INK_BAD;
        for (size_t b = 0; b < n_by; b++) lg_grid_put(&grid, LG_INK_PLAIN, row->level[b]);
        lg_grid_count(&grid, row->tokens);
        lg_grid_count(&grid, row->documents);
        if (row->slope) {
            lg_grid_count(&grid, row->levels);
        } else {
            lg_grid_number(&grid, "%+.4f", row->first);
            lg_grid_number(&grid, "%+.4f", row->second);
        }
        if (isnan(row->estimate)) lg_grid_put(&grid, LG_INK_PLAIN, "-");
        else lg_grid_printf(&grid, ink, "%+.4f", row->estimate);
        lg_grid_number(&grid, "%.4f", row->high - row->estimate);
        lg_grid_put(&grid, ink, clear ? "*" : "");
        if (row->slope) lg_grid_number(&grid, "%.4f", row->high_levels - row->estimate);
        else lg_grid_number(&grid, "%.2f", row->ratio);
        lg_grid_p(&grid, row->p);
        lg_grid_p(&grid, row->p_bh);
        if (about->bootstrap) put_interval(&grid, row->bootstrap_low, row->bootstrap_high);
        lg_grid_end_row(&grid);
    }
    if (n) {
        lg_text_puts(v->out, "\n");
        lg_grid_print(&grid, v->style->color, v->out);
    }
    v->out->failed |= grid.failed;
    lg_grid_free(&grid);
    print_reasons(v);
}

/* ---- sections ---- */

/* The numbers of N rows (v->rows) of COLUMN, and the crossing beside them unless it is NULL. False: that is
 * too wide. */
static bool print_rows(const view *v, size_t column, size_t n, bool bytes, const crossing *c) {
    bool types = lg_gap_get_about(v->gap)->has_vocabulary;
    lg_grid grid = {.n_columns = 8 + (bytes ? 1u : 0u) + (types ? 1u : 0u) + (c ? c->n_levels : 0)};
    const char *heads[] = {
        lg_gap_by(v->gap, column), units_of(v), "docs", v->head_a, v->head_b, "gap", "±", "", NULL};
    put_heads(&grid, heads);
    if (bytes) put_heads(&grid, (const char *const[]){"bits/byte", NULL});
    if (types) put_heads(&grid, (const char *const[]){"vocabulary", NULL});
    if (c) put_crossed_heads(c, &grid);
    lg_grid_end_row(&grid);
    for (size_t i = 0; i < n; i++) {
        lg_grid_put(&grid, LG_INK_PLAIN, v->rows[i]->level[column]);
        put_numbers(&grid, v->rows[i], bytes);
        if (types) lg_grid_count(&grid, v->rows[i]->vocabulary);
        if (c) put_crossed(v, c, &grid, v->rows[i]);
        lg_grid_end_row(&grid);
    }
    bool fits = !c || !v->style->width || lg_grid_width(&grid) <= v->style->width;
    if (fits) {
        lg_text_puts(v->out, "\n");
        lg_grid_print(&grid, v->style->color, v->out);
    }
    lg_grid_free(&grid);
    return fits;
}

/* The crossing on its own, where lines are too short for both. */
static void print_crossing(const view *v, size_t n, const crossing *c) {
    lg_grid grid = {.n_columns = 1 + c->n_levels};
    lg_grid_printf(&grid, LG_INK_HEAD, "gap by %s", lg_gap_by(v->gap, c->column));
    put_crossed_heads(c, &grid);
    lg_grid_end_row(&grid);
    for (size_t i = 0; i < n; i++) {
        lg_grid_put(&grid, LG_INK_PLAIN, v->rows[i]->level[c->column]);
        put_crossed(v, c, &grid, v->rows[i]);
        lg_grid_end_row(&grid);
    }
    lg_text_puts(v->out, "\n");
    lg_grid_print(&grid, v->style->color, v->out);
    lg_grid_free(&grid);
}

/* What became of tokens that carry several levels. */
static void put_several(const view *v, size_t column) {
    const lg_gap_about *about = lg_gap_get_about(v->gap);
    if (!about->several[column]) return;
    lg_about_counted(v->out, about->several[column], unit_of(v));
    const char *fate = strcmp(about->multi, "all") == 0    ? "counted under each"
                       : strcmp(about->multi, "drop") == 0 ? "left out"
                                                           : "counted under the first";
    lg_text_printf(v->out, " of several levels: %s.\n", fate);
}

static void print_section(const view *v, size_t column) {
    const char *name = lg_gap_by(v->gap, column);
    bool bytes = lg_gap_get_about(v->gap)->has_text &&
                 (is_domain(v, column) || strcmp(name, "kind") == 0 || strcmp(name, "document") == 0);
    size_t n = select_rows(v, 1u << column);
    if (!n) return;
    crossing c;
    open_crossing(v, column, &c);
    if (!c.n_levels || !print_rows(v, column, n, bytes, &c)) {
        print_rows(v, column, n, bytes, NULL);
        if (c.n_levels) print_crossing(v, n, &c);
    }
    if (v->style->full) print_more(v, name, column, n);
    put_several(v, column);
    free(c.cells);
}

/* A grouping by several columns as a list, a line a combination. */
static void print_list(const view *v, uint32_t grouping) {
    size_t n_by = lg_gap_n_by(v->gap), n = select_rows(v, grouping), n_columns = 0;
    for (size_t b = 0; b < n_by; b++) n_columns += grouping >> b & 1;
    lg_grid grid = {.n_columns = n_columns + 7};
    for (size_t b = 0; b < n_by; b++)
        if (grouping >> b & 1) lg_grid_put(&grid, LG_INK_HEAD, lg_gap_by(v->gap, b));
    const char *heads[] = {units_of(v), "docs", v->head_a, v->head_b, "gap", "±", "", NULL};
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

/* Groupings by several columns that no section shows. One level on its own says nothing new. */
static void print_rest(const view *v) {
    size_t n_by = lg_gap_n_by(v->gap), column, beside;
    uint32_t last = 0;
    for (size_t i = 0; i < lg_gap_n_rows(v->gap); i++) {
        uint32_t g = lg_gap_at(v->gap, i)->grouping;
        if (g == last || !(g & (g - 1)) || !of_pair(v, lg_gap_at(v->gap, i))) continue;
        last = g;
        bool skip = can_cross(v, g, &column, &beside);
        for (size_t b = 0; b < n_by; b++)
            skip |=
                (g >> b & 1) && (is_hidden(v, b) || (count_levels(v, b) < 2 && __builtin_popcount(g) == 2));
        if (!skip) print_list(v, g);
    }
}

static double ratio(uint64_t a, uint64_t b) {
    return b ? (double)a / (double)b : 0;
}

/* What the units are where they are no tokens. */
static void print_spans(const view *v, const lg_gap_row *total) {
    const lg_gap_about *about = lg_gap_get_about(v->gap);
    lg_text_printf(
        v->out,
        "Spans: the shortest stretches of bytes whose ends are token ends in all models; on average\n"
        "%.2f bytes, %.3f tokens of A, %.3f of B; %.1f %% are one token in both. Bits per byte do "
        "not\ndepend on them.\n",
        ratio(total->bytes, total->tokens), ratio(total->tokens_a, total->tokens),
        ratio(total->tokens_b, total->tokens), 100 * ratio(total->one_token, total->tokens));
    if (about->cut) {
        lg_about_counted(v->out, about->cut, "span");
        lg_text_puts(v->out, " beyond a window: not all models saw all of the document before; --where\n"
                             "'context = position' leaves them out.\n");
    }
}

static void print_pair(const view *v) {
    const lg_gap_about *about = lg_gap_get_about(v->gap);
    lg_text *out = v->out;
    lg_text_printf(out, "%s (A) against %s (B): ", v->model_a, v->model_b);
    size_t n = select_rows(v, 0);
    const lg_gap_row *total = n ? v->rows[0] : NULL;
    lg_about_tokens(about, total ? total->tokens : 0, total ? total->documents : 0, out);
    lg_text_printf(out, "\n%s.\n", lg_gap_sign(about->spans));
    if (about->spans && total) print_spans(v, total);
    lg_text_puts(out, "±: half of the 95 % interval, clustered by document; *: it leaves 0 out; -: none\n"
                      "(one document).\n\n");
    bool bytes = about->has_text;
    lg_grid grid = {.n_columns = 9};
    const char *heads[] = {"", units_of(v), "docs", v->head_a, v->head_b, "gap", "±", "", NULL};
    put_heads(&grid, heads);
    if (bytes) put_heads(&grid, (const char *const[]){"bits/byte", NULL});
    lg_grid_end_row(&grid);
    if (total) {
        lg_grid_put(&grid, LG_INK_PLAIN, "all");
        put_numbers(&grid, total, bytes);
        lg_grid_end_row(&grid);
    }
    lg_grid_print(&grid, v->style->color, out);
    lg_grid_free(&grid);
    if (v->style->full) print_more(v, "", SIZE_MAX, select_rows(v, 0));
    for (size_t b = 0; b < lg_gap_n_by(v->gap); b++)
        if (!is_hidden(v, b)) print_section(v, b);
    print_rest(v);
    print_contrasts(v);
}

lg_status lg_gap_table(const lg_gap *gap, const lg_table_style *style, char **text, size_t *length,
                       lg_error *error) {
    lg_text out = {0};
    const lg_gap_about *about = lg_gap_get_about(gap);
    const lg_gap_row **rows = lg_alloc(lg_gap_n_rows(gap), sizeof *rows);
    if (!rows) return lg_fail_memory(error);
    for (size_t i = 1; i < about->n_models; i++) {
        if (i > 1) lg_text_puts(&out, "\n");
        const char *a = about->models[0], *b = about->models[i];
        bool is_short = strlen(a) <= SHORT_NAME && strlen(b) <= SHORT_NAME;
        view v = {gap, style, a, b, is_short ? a : "loss A", is_short ? b : "loss B", &out, rows};
        print_pair(&v);
    }
    free(rows);
    return lg_text_take(&out, text, length, error);
}
