/* A profile as tables for people: for each reference (or once) the total, then a section for each grouping;
   then how alike the profiles are. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lossgap/report.h"
#include "report/about.h"
#include "report/grid.h"

typedef struct view {
    const lg_profile *profile;
    const lg_profile_about *about;
    const lg_table_style *style;
    size_t first, n; /* rows of one reference */
    lg_text *out;
} view;

static const lg_profile_row *row_at(const view *v, size_t i) {
    return lg_profile_at(v->profile, v->first + i);
}

static lg_ink ink_of(double low, double high, double null) {
    return low > null ? LG_INK_GOOD : high < null ? LG_INK_BAD : LG_INK_PLAIN;
}

static void put_star(lg_grid *grid, double low, double high, double null) {
    lg_ink ink = ink_of(low, high, null);
    lg_grid_put(grid, ink, ink == LG_INK_PLAIN ? "" : "*");
}

static void put_signed(lg_grid *grid, double value, double low, double high) {
    if (isnan(value)) lg_grid_put(grid, LG_INK_PLAIN, "-");
    else lg_grid_printf(grid, ink_of(low, high, 0), "%+.4f", value);
}

static void put_range(lg_grid *grid, double low, double high) {
    if (isnan(low) || isnan(high)) lg_grid_put(grid, LG_INK_PLAIN, "-");
    else lg_grid_printf(grid, LG_INK_PLAIN, "%.2f … %.2f", low, high);
}

static void put_value(lg_grid *grid, const lg_profile_value *p) {
    if (isnan(p->value)) lg_grid_put(grid, LG_INK_PLAIN, "-");
    else lg_grid_printf(grid, ink_of(p->low, p->high, 1), "%.3f", p->value);
    lg_grid_number(grid, "%.3f", p->high - p->value);
    put_star(grid, p->low, p->high, 1);
}

static void put_heads(lg_grid *grid, const char *const *names) {
    for (; *names; names++) lg_grid_put(grid, LG_INK_HEAD, *names);
}

/* ---- one grouping ---- */

static void put_names(const view *v, lg_grid *grid, uint32_t grouping) {
    size_t n = 0;
    for (size_t b = 0; b < lg_profile_n_by(v->profile); b++) {
        if (!(grouping >> b & 1)) continue;
        lg_grid_put(grid, LG_INK_HEAD, lg_profile_by(v->profile, b));
        grid->left |= (uint64_t)1 << n++;
    }
    if (!n) lg_grid_put(grid, LG_INK_HEAD, "");
}

static void put_levels(const view *v, lg_grid *grid, const lg_profile_row *row) {
    if (!row->grouping) lg_grid_put(grid, LG_INK_PLAIN, "all");
    for (size_t b = 0; b < lg_profile_n_by(v->profile); b++)
        if (row->grouping >> b & 1) lg_grid_put(grid, LG_INK_PLAIN, row->level[b]);
}

/* The columns of the grids: heads and cells of a row. */
typedef void put_cells(const view *v, lg_grid *grid, const lg_profile_row *row);

static void put_pair(const view *v, lg_grid *grid, const lg_profile_row *row) {
    if (!row) {
        put_heads(grid, (const char *const[]){v->about->gap->spans ? "spans" : "tokens", "docs", "gap", "±",
                                              "", "profile", "±", "", NULL});
        return;
    }
    const lg_profile_side *p = &row->pair;
    lg_grid_count(grid, row->tokens);
    lg_grid_count(grid, row->documents);
    put_signed(grid, p->gap, p->low, p->high);
    lg_grid_number(grid, "%.4f", p->high - p->gap);
    put_star(grid, p->low, p->high, 0);
    put_value(grid, &p->profile);
}

static void put_reference(const view *v, lg_grid *grid, const lg_profile_row *row) {
    (void)v;
    if (!row) {
        put_heads(grid, (const char *const[]){"ref. gap", "±", "", "ref. profile", "±", "", "difference", "±",
                                              "", "p adj.", NULL});
        return;
    }
    const lg_profile_side *r = &row->reference;
    const lg_profile_value *d = &row->difference;
    put_signed(grid, r->gap, r->low, r->high);
    lg_grid_number(grid, "%.4f", r->high - r->gap);
    put_star(grid, r->low, r->high, 0);
    put_value(grid, &r->profile);
    if (isnan(d->value)) lg_grid_put(grid, LG_INK_PLAIN, "-");
    else lg_grid_printf(grid, ink_of(d->low, d->high, 0), "%+.3f", d->value);
    lg_grid_number(grid, "%.3f", d->high - d->value);
    put_star(grid, d->low, d->high, 0);
    lg_grid_p(grid, d->p_bh);
}

static void put_both(const view *v, lg_grid *grid, const lg_profile_row *row) {
    put_pair(v, grid, row);
    put_reference(v, grid, row);
}

static void put_more(const view *v, lg_grid *grid, const lg_profile_row *row) {
    bool reference = v->about->n_references, resampled = v->about->bootstrap;
    if (!row) {
        put_heads(grid, (const char *const[]){"profile: se", "p", "p adj.", "Fieller", NULL});
        if (resampled) put_heads(grid, (const char *const[]){"bootstrap", NULL});
        if (reference) put_heads(grid, (const char *const[]){"ref.: se", "Fieller", NULL});
        if (reference && resampled) put_heads(grid, (const char *const[]){"bootstrap", NULL});
        if (reference) put_heads(grid, (const char *const[]){"difference: se", "p", NULL});
        if (reference && resampled) put_heads(grid, (const char *const[]){"bootstrap", NULL});
        return;
    }
    const lg_profile_value *p = &row->pair.profile, *r = &row->reference.profile, *d = &row->difference;
    lg_grid_number(grid, "%.4f", p->se);
    lg_grid_p(grid, p->p);
    lg_grid_p(grid, p->p_bh);
    put_range(grid, p->fieller_low, p->fieller_high);
    if (resampled) put_range(grid, p->bootstrap_low, p->bootstrap_high);
    if (!reference) return;
    lg_grid_number(grid, "%.4f", r->se);
    put_range(grid, r->fieller_low, r->fieller_high);
    if (resampled) put_range(grid, r->bootstrap_low, r->bootstrap_high);
    lg_grid_number(grid, "%.4f", d->se);
    lg_grid_p(grid, d->p);
    if (resampled) put_range(grid, d->bootstrap_low, d->bootstrap_high);
}

static void put_seeds(const view *v, lg_grid *grid, const lg_profile_row *row) {
    (void)v;
    if (!row) {
        put_heads(grid, (const char *const[]){"gap of means", "sd A", "sd B", "± seeds", "df", "± both",
                                              "floor", "gap/floor", "above noise", NULL});
        return;
    }
    const lg_profile_seeds *s = &row->seeds;
    put_signed(grid, s->gap, s->low, s->high);
    lg_grid_number(grid, "%.4f", s->sd_a);
    lg_grid_number(grid, "%.4f", s->sd_b);
    lg_grid_number(grid, "%.4f", s->high - s->gap);
    lg_grid_number(grid, "%.1f", s->df);
    lg_grid_number(grid, "%.4f", s->both_high - s->gap);
    lg_grid_number(grid, "%.4f", s->floor);
    lg_grid_number(grid, "%.1f", s->ratio);
    lg_grid_put(grid, s->above == 1 ? ink_of(s->gap, s->gap, 0) : LG_INK_PLAIN,
                s->above < 0 ? "-"
                : s->above   ? "yes"
                             : "no");
}

static void fill_grid(const view *v, size_t begin, size_t end, put_cells *put, lg_grid *grid) {
    *grid = (lg_grid){.n_columns = LG_GRID_COLUMNS};
    put_names(v, grid, row_at(v, begin)->grouping);
    put(v, grid, NULL);
    grid->n_columns = grid->column;
    lg_grid_end_row(grid);
    for (size_t i = begin; i < end; i++) {
        put_levels(v, grid, row_at(v, i));
        put(v, grid, row_at(v, i));
        lg_grid_end_row(grid);
    }
}

static void print_section(const view *v, size_t begin, size_t end, put_cells *put) {
    lg_grid grid;
    fill_grid(v, begin, end, put, &grid);
    lg_text_puts(v->out, "\n");
    lg_grid_print(&grid, v->style->color, v->out);
    lg_grid_free(&grid);
}

/* The reference beside the pair where lines are long enough, else below. */
static void print_profiles(const view *v, size_t begin, size_t end) {
    lg_grid grid;
    fill_grid(v, begin, end, put_both, &grid);
    bool fits = !v->style->width || grid.failed || lg_grid_width(&grid) <= v->style->width;
    lg_grid_free(&grid);
    if (v->about->n_references && fits) {
        print_section(v, begin, end, put_both);
        return;
    }
    print_section(v, begin, end, put_pair);
    if (v->about->n_references) print_section(v, begin, end, put_reference);
}

/* ---- all of it ---- */

static void print_head(const view *v) {
    const lg_profile_row *total = row_at(v, 0);
    lg_text *out = v->out;
    lg_text_printf(out, "%s (A) against %s (B): ", total->pair.model_a, total->pair.model_b);
    lg_about_tokens(v->about->gap, total->tokens, total->documents, out);
    if (total->reference.model_a)
        lg_text_printf(out, "\nreference pair: %s (A) against %s (B)", total->reference.model_a,
                       total->reference.model_b);
    lg_text_printf(out, "\n%s.\n", lg_gap_sign(v->about->gap->spans));
    lg_text_puts(out, LG_PROFILE_MEANING
                 "; 1: as everywhere.\n"
                 "±: half of the 95 % interval, clustered by document (profiles: delta method); *: it "
                 "leaves 0 out (of a\n"
                 "profile: 1); -: none.\n");
    if (total->reference.model_a)
        lg_text_puts(out, "difference = profile - profile of the reference, of the same documents; p adj.: "
                          "is it 0, adjusted "
                          "(Benjamini-Hochberg).\n");
    if (v->about->has_seeds)
        lg_text_printf(out,
                       "seeds: %llu of A, %llu of B; floor = root mean square gap between two seeds of one "
                       "architecture;\n± seeds: over seeds alone (Welch); ± both: over seeds and documents; "
                       "above noise: "
                       "the gap exceeds\nthe floor, and ± seeds leaves 0 out.\n",
                       (unsigned long long)total->seeds.seeds_a, (unsigned long long)total->seeds.seeds_b);
    if (total->pair.note) lg_text_printf(out, "note: %s\n", total->pair.note);
    if (total->reference.note) lg_text_printf(out, "note on the reference: %s\n", total->reference.note);
    if (total->seeds.note) lg_text_printf(out, "note on the seeds: %s\n", total->seeds.note);
}

static void print_agreements(const view *v) {
    const char *a = row_at(v, 0)->reference.model_a, *b = row_at(v, 0)->reference.model_b;
    lg_grid grid = {.n_columns = 6};
    put_heads(&grid,
              (const char *const[]){"profiles by", "groups", "correlation", "95 %", "slope", "95 %", NULL});
    lg_grid_end_row(&grid);
    for (size_t i = 0; i < lg_profile_n_agreements(v->profile); i++) {
        const lg_profile_agreement *x = lg_profile_agreement_at(v->profile, i);
        if (x->reference_a != a || x->reference_b != b) continue;
        lg_text by = {0};
        for (size_t k = 0; k < lg_profile_n_by(v->profile); k++)
            if (x->grouping >> k & 1)
                lg_text_printf(&by, "%s%s", by.length ? ", " : "", lg_profile_by(v->profile, k));
        lg_grid_put(&grid, LG_INK_PLAIN, by.failed ? "" : by.data);
        v->out->failed |= by.failed;
        lg_text_free(&by);
        lg_grid_count(&grid, x->groups);
        lg_grid_number(&grid, "%+.3f", x->correlation);
        put_range(&grid, x->correlation_low, x->correlation_high);
        lg_grid_number(&grid, "%+.3f", x->slope);
        put_range(&grid, x->slope_low, x->slope_high);
        lg_grid_end_row(&grid);
    }
    lg_text_puts(
        v->out,
        "\nThe reference's profile against the pair's, groups weighted by tokens; resampled intervals:\n");
    lg_grid_print(&grid, v->style->color, v->out);
    lg_grid_free(&grid);
}

static void print_block(const view *v) {
    print_head(v);
    for (size_t begin = 0, end; begin < v->n; begin = end) {
        for (end = begin; end < v->n && row_at(v, end)->grouping == row_at(v, begin)->grouping;) end++;
        print_profiles(v, begin, end);
        if (v->style->full && row_at(v, begin)->grouping) print_section(v, begin, end, put_more);
        if (v->about->has_seeds) print_section(v, begin, end, put_seeds);
    }
    if (v->about->n_references) print_agreements(v);
}

lg_status lg_profile_table(const lg_profile *profile, const lg_table_style *style, char **text,
                           size_t *length, lg_error *error) {
    const lg_profile_about *about = lg_profile_get_about(profile);
    size_t blocks = about->n_references ? about->n_references : 1, n = lg_profile_n_rows(profile) / blocks;
    lg_text out = {0};
    for (size_t k = 0; k < blocks; k++) {
        view v = {profile, about, style, k * n, n, &out};
        if (k) lg_text_puts(&out, "\n");
        print_block(&v);
    }
    return lg_text_take(&out, text, length, error);
}
