/* Filters and filtered losses, for people and as JSON (docs/formats/masks.md). */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "lossgap/gap.h"
#include "lossgap/report.h"
#include "report/grid.h"

enum { VERSION = 1 };

/* ---- for people ---- */

/* What is counted: tokens, or spans that tokenizers share. */
static const char *units_of(const lg_filters *f) {
    return lg_filters_data(f)->spans ? "spans" : "tokens";
}

static void put_heads(lg_grid *grid, const char *const *heads) {
    for (; *heads; heads++) lg_grid_put(grid, LG_INK_HEAD, *heads);
}

static void print(lg_grid *grid, bool color, lg_text *out) {
    lg_grid_print(grid, color, out);
    lg_grid_free(grid);
}

/* Notes of the filters, and those that are not there. */
static void print_notes(const lg_filters *f, lg_text *out) {
    bool first = true;
    for (size_t i = 0; i < lg_filters_n(f); i++) {
        if (!lg_filters_at(f, i)->note) continue;
        lg_text_printf(out, "%s%s: %s.\n", first ? "\n" : "", lg_filters_at(f, i)->name,
                       lg_filters_at(f, i)->note);
        first = false;
    }
    for (size_t i = 0; i < lg_filters_n_left_out(f); i++) {
        const lg_filter_left_out *l = lg_filters_left_out(f, i);
        lg_text_printf(out, "%sleft out: %s: %s.\n", first ? "\n" : "", l->name, l->reason);
        first = false;
    }
}

static void print_state(const lg_filters *f, bool color, lg_text *out) {
    size_t n;
    const lg_state_tag *tags = lg_filters_state(f, &n);
    if (!n) return;
    lg_grid grid = {.n_columns = 4};
    put_heads(&grid, (const char *const[]){"tags of state", "gap", units_of(f), "documents", NULL});
    lg_grid_end_row(&grid);
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        lg_grid_put(&grid, LG_INK_PLAIN, tags[i].tag);
        lg_grid_number(&grid, "%+.4f", tags[i].gap);
        lg_grid_count(&grid, tags[i].tokens);
        lg_grid_count(&grid, tags[i].documents);
        lg_grid_end_row(&grid);
        any |= !isnan(tags[i].gap);
    }
    lg_text_puts(out, "\n");
    print(&grid, color, out);
    if (any) lg_text_printf(out, "%s.\n", lg_gap_sign(lg_filters_data(f)->spans));
}

lg_status lg_filters_table(const lg_filters *f, const lg_table_style *style, char **text, size_t *length,
                           lg_error *error) {
    const lg_dataset *data = lg_filters_data(f);
    lg_text out = {0};
    lg_grid grid = {.n_columns = 7, .left = 1u << 6};
    put_heads(&grid, (const char *const[]){"filter", units_of(f), "share", "documents", "bytes", "unknown",
                                           "expression", NULL});
    lg_grid_end_row(&grid);
    for (size_t i = 0; i < lg_filters_n(f); i++) {
        const lg_filter *filter = lg_filters_at(f, i);
        lg_grid_put(&grid, LG_INK_PLAIN, filter->name);
        lg_grid_count(&grid, filter->tokens);
        lg_grid_number(&grid, "%.2f%%",
                       data->n_tokens ? 100 * (double)filter->tokens / (double)data->n_tokens : (double)NAN);
        lg_grid_count(&grid, filter->documents);
        if (data->has_text) lg_grid_count(&grid, filter->bytes);
        else lg_grid_put(&grid, LG_INK_PLAIN, "-");
        lg_grid_count(&grid, filter->unknown);
        lg_grid_put(&grid, LG_INK_PLAIN, filter->expression);
        lg_grid_end_row(&grid);
    }
    print(&grid, style->color, &out);
    print_state(f, style->color, &out);
    print_notes(f, &out);
    return lg_text_take(&out, text, length, error);
}

static void put_ahead(lg_grid *grid, double value, double half) {
    lg_ink ink = !(fabs(value) > half) ? LG_INK_PLAIN : value > 0 ? LG_INK_GOOD : LG_INK_BAD;
    if (isnan(value)) lg_grid_put(grid, LG_INK_PLAIN, "-");
    else lg_grid_printf(grid, ink, "%+.4f", value);
    lg_grid_number(grid, "%.4f", half);
    lg_grid_put(grid, ink, fabs(value) > half ? "*" : "");
}

lg_status lg_filtered_table(const lg_filters *f, const lg_scores *scores, size_t n_scores,
                            const lg_filtered_loss *losses, const lg_table_style *style, char **text,
                            size_t *length, lg_error *error) {
    lg_text out = {0};
    bool bytes = lg_filters_data(f)->has_text, several = n_scores > 1;
    for (size_t m = 0; m < n_scores; m++) {
        lg_grid grid = {.n_columns = 10};
        lg_text_printf(&out, "%s%s\n", m ? "\n" : "", scores[m].model_name);
        put_heads(&grid, (const char *const[]){"filter", units_of(f), "documents", "loss", "±", NULL});
        if (bytes) put_heads(&grid, (const char *const[]){"bits/byte", "±", NULL});
        if (m) put_heads(&grid, (const char *const[]){"gap", "±", "", NULL});
        lg_grid_end_row(&grid);
        for (size_t i = 0; i < lg_filters_n(f); i++) {
            const lg_filtered_loss *l = &losses[m * lg_filters_n(f) + i];
            lg_grid_put(&grid, LG_INK_PLAIN, lg_filters_at(f, i)->name);
            lg_grid_count(&grid, l->tokens);
            lg_grid_count(&grid, l->documents);
            lg_grid_number(&grid, "%.4f", l->loss);
            lg_grid_number(&grid, "%.4f", l->high - l->loss);
            if (bytes) lg_grid_number(&grid, "%.4f", l->bits_per_byte);
            if (bytes) lg_grid_number(&grid, "%.4f", l->bits_high - l->bits_per_byte);
            if (m) put_ahead(&grid, l->gap, l->gap_high - l->gap);
            lg_grid_end_row(&grid);
        }
        print(&grid, style->color, &out);
    }
    lg_text_printf(&out,
                   "Losses are means over %s, in nats; ±: half of the 95 %% interval, clustered by "
                   "document; -: none.\n",
                   units_of(f));
    if (several)
        lg_text_printf(&out,
                       "gap = loss(%s) - loss, nats per %s; positive: better than %s; *: the interval "
                       "leaves 0 out.\n",
                       scores[0].model_name, lg_filters_data(f)->spans ? "span" : "token",
                       scores[0].model_name);
    print_notes(f, &out);
    return lg_text_take(&out, text, length, error);
}

/* ---- JSON ---- */

static void put_text(lg_json_writer *w, const char *key, const char *value) {
    lg_json_put_key(w, key);
    lg_json_put_text(w, value);
}

static void put_count(lg_json_writer *w, const char *key, uint64_t value, bool known) {
    lg_json_put_key(w, key);
    if (known) lg_json_put_unsigned(w, value);
    else lg_json_put_null(w);
}

static void put_number(lg_json_writer *w, const char *key, double value) {
    lg_json_put_key(w, key);
    lg_json_put_double(w, value); /* NAN: null */
}

/* The opening of a result, up to its inputs and settings; MODELS: scores that go to the inputs. */
static void begin(lg_json_writer *w, const char *format, const lg_filters *f, const lg_scores *scores,
                  size_t n_scores) {
    lg_json_put_object(w);
    put_text(w, "format", format);
    put_count(w, "version", VERSION, true);
    if (n_scores > 1)
        put_text(w, "sign",
                 lg_filters_data(f)->spans
                     ? "gap = loss(first model) - loss(model), nats per span; positive: "
                       "the model predicts better than the first"
                     : "gap = loss(first model) - loss(model), nats per token; positive: "
                       "the model predicts better than the first");
    lg_json_put_key(w, "provenance");
    lg_json_put_object(w);
    put_text(w, "program", "lossgap " LG_VERSION);
    put_text(w, "command", lg_filters_command(f));
    lg_json_put_key(w, "inputs");
    lg_json_put_raw(w, lg_filters_inputs(f), strlen(lg_filters_inputs(f)));
    for (size_t m = 0; m < n_scores; m++) {
        if (!m) {
            lg_json_put_key(w, "models");
            lg_json_put_object(w);
        }
        lg_json_put_key(w, scores[m].model_name);
        lg_json_put_text(w, lg_table_provenance(scores[m].table)->identity);
        if (m + 1 == n_scores) lg_json_end_object(w);
    }
    lg_json_put_key(w, "settings");
    lg_json_put_raw(w, lg_filters_settings(f), strlen(lg_filters_settings(f)));
    lg_json_end_object(w);
    lg_json_put_key(w, "rows");
    lg_json_put_array(w);
}

static void end(lg_json_writer *w, const lg_filters *f) {
    lg_json_end_array(w);
    lg_json_put_key(w, "left_out");
    lg_json_put_array(w);
    for (size_t i = 0; i < lg_filters_n_left_out(f); i++) {
        lg_json_put_object(w);
        put_text(w, "filter", lg_filters_left_out(f, i)->name);
        put_text(w, "reason", lg_filters_left_out(f, i)->reason);
        lg_json_end_object(w);
    }
    lg_json_end_array(w);
    lg_json_end_object(w);
    lg_text_puts(w->out, "\n");
}

lg_status lg_filters_json(const lg_filters *f, char **text, size_t *length, lg_error *error) {
    const lg_dataset *data = lg_filters_data(f);
    lg_text out = {0};
    lg_json_writer w = {.out = &out};
    begin(&w, "filters", f, NULL, 0);
    for (size_t i = 0; i < lg_filters_n(f); i++) {
        const lg_filter *filter = lg_filters_at(f, i);
        lg_json_put_object(&w);
        put_text(&w, "filter", filter->name);
        put_text(&w, "expression", filter->expression);
        put_count(&w, "tokens", filter->tokens, true);
        put_number(&w, "share",
                   data->n_tokens ? (double)filter->tokens / (double)data->n_tokens : (double)NAN);
        put_count(&w, "documents", filter->documents, true);
        put_count(&w, "bytes", filter->bytes, data->has_text);
        put_count(&w, "unknown", filter->unknown, true);
        put_text(&w, "note", filter->note);
        lg_json_end_object(&w);
    }
    end(&w, f);
    return lg_text_take(&out, text, length, error);
}

lg_status lg_filtered_json(const lg_filters *f, const lg_scores *scores, size_t n_scores,
                           const lg_filtered_loss *losses, char **text, size_t *length, lg_error *error) {
    const lg_dataset *data = lg_filters_data(f);
    lg_text out = {0};
    lg_json_writer w = {.out = &out};
    begin(&w, "filtered", f, scores, n_scores);
    for (size_t i = 0; i < n_scores * lg_filters_n(f); i++) {
        const lg_filtered_loss *l = &losses[i];
        const struct {
            const char *key;
            double value;
        } numbers[] = {{"loss", l->loss},
                       {"se", l->se},
                       {"df", l->df},
                       {"low", l->low},
                       {"high", l->high},
                       {"bits_per_byte", l->bits_per_byte},
                       {"bits_se", l->bits_se},
                       {"bits_low", l->bits_low},
                       {"bits_high", l->bits_high},
                       {"gap", l->gap},
                       {"gap_se", l->gap_se},
                       {"gap_low", l->gap_low},
                       {"gap_high", l->gap_high},
                       {"gap_bits_per_byte", l->gap_bits_per_byte},
                       {"gap_bits_se", l->gap_bits_se},
                       {"gap_bits_low", l->gap_bits_low},
                       {"gap_bits_high", l->gap_bits_high}};
        size_t n = n_scores > 1 ? sizeof numbers / sizeof *numbers : 9;
        lg_json_put_object(&w);
        put_text(&w, "model", scores[i / lg_filters_n(f)].model_name);
        put_text(&w, "filter", lg_filters_at(f, i % lg_filters_n(f))->name);
        put_count(&w, "tokens", l->tokens, true);
        put_count(&w, "documents", l->documents, true);
        put_count(&w, "bytes", l->bytes, data->has_text);
        put_count(&w, "unscorable", l->unscorable, true);
        for (size_t k = 0; k < n; k++) put_number(&w, numbers[k].key, numbers[k].value);
        put_text(&w, "note", l->note);
        lg_json_end_object(&w);
    }
    end(&w, f);
    return lg_text_take(&out, text, length, error);
}
