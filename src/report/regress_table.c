/* A regression as JSON, as CSV, and as tables for people (docs/formats/regress.md). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "lossgap/report.h"
#include "report/csv.h"
#include "report/grid.h"

enum { VERSION = 1, MAX_EMPTY = 4 }; /* MAX_EMPTY: levels without rows that are named */

/* ---- JSON ---- */

static void put_number(lg_json_writer *w, const char *key, double value) {
    lg_json_put_key(w, key);
    lg_json_put_double(w, value); /* NAN: null */
}

static void put_text(lg_json_writer *w, const char *key, const char *value) {
    lg_json_put_key(w, key);
    lg_json_put_text(w, value);
}

static void put_count(lg_json_writer *w, const char *key, uint64_t value, bool known) {
    lg_json_put_key(w, key);
    if (known) lg_json_put_unsigned(w, value);
    else lg_json_put_null(w);
}

static void put_estimate(lg_json_writer *w, const char *name, const lg_estimate *v) {
    put_number(w, name, v->estimate);
    put_number(w, "se", v->se);
    put_number(w, "se_classical", v->se_classical);
    put_number(w, "se_cr0", v->se_cr0);
    put_number(w, "t", v->t);
    put_number(w, "df", v->df);
    put_number(w, "p", v->p);
    put_number(w, "low", v->low);
    put_number(w, "high", v->high);
}

static void put_row(lg_json_writer *w, const lg_regress_row *row, bool clustered) {
    put_text(w, "term", row->term);
    put_estimate(w, "estimate", &row->value);
    put_number(w, "p_classical", row->value.p_classical);
    put_number(w, "p_adjusted", row->value.p_adjusted);
    put_count(w, "n", row->n, row->counted);
    put_count(w, "documents", row->documents, row->counted && clustered);
    put_number(w, "mean", row->mean);
    lg_json_put_key(w, "dropped");
    lg_json_put_bool(w, row->dropped);
    put_text(w, "reason", row->reason);
}

static void put_level(lg_json_writer *w, const lg_regress_level *level, bool clustered, bool weighted) {
    put_text(w, level->column, level->level);
    put_count(w, "n", level->n, true);
    put_count(w, "documents", level->documents, clustered);
    put_number(w, "raw_mean", level->raw_mean);
    put_estimate(w, "adjusted_mean", &level->adjusted);
    if (weighted) {
        put_number(w, "adjusted_mean_unweighted", level->unweighted.estimate);
        put_number(w, "se_unweighted", level->unweighted.se);
    }
    lg_json_put_key(w, "reference");
    lg_json_put_bool(w, level->reference);
}

static void put_contrast(lg_json_writer *w, const lg_regress_contrast *c) {
    put_text(w, "contrast", c->name);
    put_text(w, "kind", c->kind);
    put_text(w, "column", c->column);
    put_text(w, "first", c->first);
    put_text(w, "second", c->second);
    put_estimate(w, "estimate", &c->value);
    put_number(w, "first_mean", c->first_mean);
    put_number(w, "second_mean", c->second_mean);
}

static void put_fit(lg_json_writer *w, const lg_regress *r) {
    const lg_regress_fit *f = lg_regress_get_fit(r);
    size_t n;
    const lg_regress_left_out *left_out = lg_regress_left_outs(r, &n);
    put_text(w, "outcome", f->outcome);
    put_text(w, "formula", f->formula);
    put_text(w, "cluster", f->cluster);
    put_text(w, "absorb", f->absorb);
    put_text(w, "weights", f->weights);
    put_text(w, "errors", f->cluster ? "clustered (CR1)" : "classical");
    put_count(w, "rows", f->rows, true);
    put_count(w, "n", f->n, true);
    lg_json_put_key(w, "left_out");
    lg_json_put_array(w);
    for (size_t i = 0; i < n; i++) {
        lg_json_put_object(w);
        put_text(w, "column", left_out[i].column);
        put_text(w, "reason", left_out[i].reason);
        put_count(w, "n", left_out[i].n, true);
        lg_json_end_object(w);
    }
    lg_json_end_array(w);
    put_count(w, "documents", f->clusters, f->cluster != NULL);
    put_count(w, "absorbed_groups", f->groups, f->absorb != NULL);
    put_count(w, "columns", f->columns, true);
    put_count(w, "k", f->k, true);
    lg_json_put_key(w, "intercept");
    lg_json_put_bool(w, f->intercept);
    put_number(w, "df_resid", f->df_resid);
    put_number(w, "df_cluster", f->df_cluster);
    put_number(w, "cr1_factor", f->cr1_factor);
    put_number(w, "rss", f->rss);
    put_number(w, "tss", f->tss);
    put_number(w, "sigma", f->sigma);
    put_number(w, "r2", f->r2);
    put_number(w, "adj_r2", f->adj_r2);
    put_number(w, "r2_within", f->r2_within);
    put_number(w, "mean", f->mean);
    put_number(w, "condition", f->condition);
    put_number(w, "smallest_ratio", f->smallest_ratio);
    put_number(w, "tolerance", f->tolerance);
    put_text(w, "arithmetic", f->arithmetic);
    put_text(w, "because", f->because);
}

/* "NAME": [ … ], an element a line: for diff and for eyes. */
static void open_list(lg_json_writer *w, const char *name) {
    lg_json_put_key(w, name);
    lg_json_put_raw(w, "[", 1);
}

static void open_element(lg_text *out, lg_json_writer *element, size_t i) {
    *element = (lg_json_writer){.out = out};
    lg_text_puts(out, i ? ",\n" : "\n");
    lg_json_put_object(element);
}

lg_status lg_regress_json(const lg_regress *r, char **text, size_t *length, lg_error *error) {
    lg_text out = {0};
    lg_json_writer w = {.out = &out}, element;
    const bool clustered = lg_regress_get_fit(r)->cluster != NULL;
    const char *provenance = lg_regress_provenance(r);
    size_t n;
    lg_json_put_object(&w);
    put_text(&w, "format", "regression");
    lg_json_put_key(&w, "version");
    lg_json_put_unsigned(&w, VERSION);
    if (strcmp(lg_regress_get_fit(r)->outcome, "gap") == 0)
        put_text(&w, "sign", lg_gap_sign(lg_regress_get_fit(r)->spans));
    lg_json_put_key(&w, "provenance");
    lg_json_put_raw(&w, provenance, strlen(provenance));
    open_list(&w, "rows");
    const lg_regress_row *rows = lg_regress_rows(r, &n);
    for (size_t i = 0; i < n; i++) {
        open_element(&out, &element, i);
        put_row(&element, &rows[i], clustered);
        lg_json_end_object(&element);
    }
    lg_text_puts(&out, "\n]");
    open_list(&w, "adjusted_means");
    const lg_regress_level *levels = lg_regress_levels(r, &n);
    for (size_t i = 0; i < n; i++) {
        open_element(&out, &element, i);
        put_level(&element, &levels[i], clustered, lg_regress_get_fit(r)->weights != NULL);
        lg_json_end_object(&element);
    }
    lg_text_puts(&out, "\n]");
    open_list(&w, "contrasts");
    const lg_regress_contrast *contrasts = lg_regress_contrasts(r, &n);
    for (size_t i = 0; i < n; i++) {
        open_element(&out, &element, i);
        put_contrast(&element, &contrasts[i]);
        lg_json_end_object(&element);
    }
    lg_text_puts(&out, "\n]");
    lg_json_put_key(&w, "fit");
    lg_json_put_object(&w);
    put_fit(&w, r);
    lg_json_end_object(&w);
    lg_json_put_key(&w, "notes");
    lg_json_put_array(&w);
    const char *const *notes = lg_regress_notes(r, &n);
    for (size_t i = 0; i < n; i++) lg_json_put_text(&w, notes[i]);
    lg_json_end_array(&w);
    lg_json_end_object(&w);
    lg_text_puts(&out, "\n");
    return lg_text_take(&out, text, length, error);
}

/* ---- CSV ---- */

lg_status lg_regress_csv(const lg_regress *r, char **text, size_t *length, lg_error *error) {
    static const char *const names[] = {
        "term",        "estimate",   "se", "se_classical", "se_cr0", "t",       "df",    "p", "low", "high",
        "p_classical", "p_adjusted", "n",  "documents",    "mean",   "dropped", "reason"};
    const bool clustered = lg_regress_get_fit(r)->cluster != NULL;
    lg_text out = {0};
    lg_csv csv = {.out = &out};
    size_t n;
    const lg_regress_row *rows = lg_regress_rows(r, &n);
    const bool gap =
        strcmp(lg_regress_get_fit(r)->outcome, "gap") == 0; /* then its sign is told, as elsewhere */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) lg_csv_put(&csv, names[i]);
    if (gap) lg_csv_put(&csv, "positive_gap_means");
    lg_csv_end_row(&csv);
    for (size_t i = 0; i < n; i++) {
        const lg_estimate *v = &rows[i].value;
        const double values[] = {v->estimate, v->se,  v->se_classical, v->se_cr0,      v->t,         v->df,
                                 v->p,        v->low, v->high,         v->p_classical, v->p_adjusted};
        lg_csv_put(&csv, rows[i].term);
        for (size_t k = 0; k < sizeof values / sizeof *values; k++) lg_csv_put_double(&csv, values[k]);
        if (rows[i].counted) lg_csv_put_unsigned(&csv, rows[i].n);
        else lg_csv_put(&csv, NULL);
        if (rows[i].counted && clustered) lg_csv_put_unsigned(&csv, rows[i].documents);
        else lg_csv_put(&csv, NULL);
        lg_csv_put_double(&csv, rows[i].mean);
        lg_csv_put(&csv, rows[i].dropped ? "true" : "false");
        lg_csv_put(&csv, rows[i].reason);
        if (gap) lg_csv_put(&csv, "B predicts better");
        lg_csv_end_row(&csv);
    }
    return lg_text_take(&out, text, length, error);
}

/* ---- for people ---- */

static void put_double(lg_grid *grid, lg_ink ink, double value) {
    if (isnan(value)) lg_grid_put(grid, LG_INK_PLAIN, "-");
    else if (value == 0 || (fabs(value) >= 1e-3 && fabs(value) < 1e5))
        lg_grid_printf(grid, ink, "%.5f", value);
    else lg_grid_printf(grid, ink, "%.3e", value);
}

static void put_p(lg_grid *grid, double p) {
    if (isnan(p)) lg_grid_put(grid, LG_INK_PLAIN, "-");
    else if (p < 1e-4) lg_grid_put(grid, LG_INK_PLAIN, "<.0001");
    else lg_grid_printf(grid, LG_INK_PLAIN, "%.4f", p);
}

static lg_ink ink_of(const lg_estimate *v) {
    return v->low > 0 ? LG_INK_GOOD : v->high < 0 ? LG_INK_BAD : LG_INK_PLAIN;
}

static void put_heads(lg_grid *grid, const char *const *names) {
    for (; *names; names++) lg_grid_put(grid, LG_INK_HEAD, *names);
    lg_grid_end_row(grid);
}

static void put_counted(lg_grid *grid, uint64_t n, bool known) {
    if (known) lg_grid_printf(grid, LG_INK_PLAIN, "%llu", (unsigned long long)n);
    else lg_grid_put(grid, LG_INK_PLAIN, "");
}

static void print_rows(const lg_regress *r, const lg_table_style *style, lg_text *out) {
    const bool clustered = lg_regress_get_fit(r)->cluster != NULL;
    const char *heads[] = {"term", "estimate", "se", "classical", "t", "p", "adjusted", "n", "docs", NULL};
    lg_grid grid = {.n_columns = 9};
    size_t n;
    const lg_regress_row *rows = lg_regress_rows(r, &n);
    put_heads(&grid, heads);
    for (size_t i = 0; i < n; i++) {
        const lg_estimate *v = &rows[i].value;
        if (rows[i].dropped) continue;
        lg_grid_put(&grid, LG_INK_PLAIN, rows[i].term);
        put_double(&grid, ink_of(v), v->estimate);
        put_double(&grid, LG_INK_PLAIN, v->se);
        put_double(&grid, LG_INK_PLAIN, v->se_classical);
        if (isnan(v->t)) lg_grid_put(&grid, LG_INK_PLAIN, "-");
        else lg_grid_printf(&grid, LG_INK_PLAIN, "%.2f", v->t);
        put_p(&grid, v->p);
        if (isnan(v->p_adjusted)) lg_grid_put(&grid, LG_INK_PLAIN, "");
        else put_p(&grid, v->p_adjusted);
        put_counted(&grid, rows[i].n, rows[i].counted);
        put_counted(&grid, rows[i].documents, rows[i].counted && clustered);
        lg_grid_end_row(&grid);
    }
    lg_grid_print(&grid, style->color, out);
    lg_grid_free(&grid);
    size_t empty = 0;
    for (size_t i = 0, first = 1; i < n; i++) {
        if (!rows[i].dropped) continue;
        lg_text_puts(out, first ? "\ndropped:\n" : "");
        first = 0;
        if (rows[i].counted && !rows[i].n && ++empty > MAX_EMPTY) continue;
        lg_text_printf(out, "  %s: %s\n", rows[i].term, rows[i].reason);
    }
    if (empty > MAX_EMPTY) lg_text_printf(out, "  and %zu more that no row has\n", empty - MAX_EMPTY);
}

static void print_levels(const lg_regress *r, const lg_table_style *style, lg_text *out) {
    const bool clustered = lg_regress_get_fit(r)->cluster != NULL;
    size_t n;
    const lg_regress_level *levels = lg_regress_levels(r, &n);
    for (size_t i = 0; i < n;) {
        const char *heads[] = {
            levels[i].column, "n", clustered ? "docs" : "", "raw mean", "adjusted", "±", NULL};
        lg_grid grid = {.n_columns = 6};
        put_heads(&grid, heads);
        const char *column = levels[i].column;
        for (; i < n && strcmp(levels[i].column, column) == 0; i++) {
            if (!levels[i].n) continue;
            lg_grid_put(&grid, LG_INK_PLAIN, levels[i].level);
            put_counted(&grid, levels[i].n, true);
            put_counted(&grid, levels[i].documents, clustered);
            put_double(&grid, LG_INK_PLAIN, levels[i].raw_mean);
            put_double(&grid, LG_INK_PLAIN, levels[i].adjusted.estimate);
            put_double(&grid, LG_INK_PLAIN, levels[i].adjusted.high - levels[i].adjusted.estimate);
            lg_grid_end_row(&grid);
        }
        lg_text_puts(out, "\n");
        lg_grid_print(&grid, style->color, out);
        lg_grid_free(&grid);
    }
}

static void print_contrasts(const lg_regress *r, const lg_table_style *style, lg_text *out) {
    const char *heads[] = {"contrast", "kind", "estimate", "se", "t", "p", NULL};
    size_t n;
    const lg_regress_contrast *contrasts = lg_regress_contrasts(r, &n);
    if (!n) return;
    lg_grid grid = {.n_columns = 6};
    put_heads(&grid, heads);
    for (size_t i = 0; i < n; i++) {
        const lg_estimate *v = &contrasts[i].value;
        lg_grid_printf(&grid, LG_INK_PLAIN, "%s: %s - %s", contrasts[i].column, contrasts[i].first,
                       contrasts[i].second);
        lg_grid_put(&grid, LG_INK_PLAIN, contrasts[i].kind);
        put_double(&grid, ink_of(v), v->estimate);
        put_double(&grid, LG_INK_PLAIN, v->se);
        if (isnan(v->t)) lg_grid_put(&grid, LG_INK_PLAIN, "-");
        else lg_grid_printf(&grid, LG_INK_PLAIN, "%.2f", v->t);
        put_p(&grid, v->p);
        lg_grid_end_row(&grid);
    }
    lg_text_puts(out, "\n");
    lg_grid_print(&grid, style->color, out);
    lg_grid_free(&grid);
}

static void print_fit(const lg_regress *r, lg_text *out) {
    const lg_regress_fit *f = lg_regress_get_fit(r);
    size_t n;
    lg_text_printf(out, "%s\n", f->formula);
    if (strcmp(f->outcome, "gap") == 0) lg_text_printf(out, "%s.\n", lg_gap_sign(f->spans));
    lg_text_printf(out, "%llu %s", (unsigned long long)f->n, f->spans ? "spans" : "rows");
    const lg_regress_left_out *left_out = lg_regress_left_outs(r, &n);
    for (size_t i = 0; i < n; i++) {
        const char *reason = left_out[i].reason;
        const bool missing = strncmp(reason, "missing", 7) == 0, weight = strncmp(reason, "weight", 6) == 0;
        lg_text_printf(out, "%s%llu %s%s%s", i ? ", " : " (left out: ", (unsigned long long)left_out[i].n,
                       missing  ? "without "
                       : weight ? "of "
                                : "",
                       missing ? left_out[i].column : reason, i + 1 == n ? ")" : "");
    }
    if (f->cluster)
        lg_text_printf(out, " in %llu clusters of %s", (unsigned long long)f->clusters, f->cluster);
    if (f->absorb)
        lg_text_printf(out, ", %llu effects of %s absorbed", (unsigned long long)f->groups, f->absorb);
    lg_text_printf(out, "; %llu columns, %llu kept", (unsigned long long)f->columns,
                   (unsigned long long)f->k);
    if (!isnan(f->r2)) lg_text_printf(out, "; R2 %.4f", f->r2);
    if (!isnan(f->sigma)) lg_text_printf(out, "; sigma %.5g", f->sigma);
    lg_text_printf(out, "\nse, t, p: %s; arithmetic: %s, as %s\n\n",
                   f->cluster ? "clustered (CR1), t with clusters - 1 degrees of freedom" : "classical",
                   f->arithmetic, f->because);
}

lg_status lg_regress_table(const lg_regress *r, const lg_table_style *style, char **text, size_t *length,
                           lg_error *error) {
    lg_text out = {0};
    size_t n;
    print_fit(r, &out);
    print_rows(r, style, &out);
    print_levels(r, style, &out);
    print_contrasts(r, style, &out);
    const char *const *notes = lg_regress_notes(r, &n);
    for (size_t i = 0; i < n; i++) lg_text_printf(&out, "%snote: %s\n", i ? "" : "\n", notes[i]);
    return lg_text_take(&out, text, length, error);
}
