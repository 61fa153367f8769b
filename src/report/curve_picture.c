/* Curves as a Vega-Lite specification: losses in one row of panels, gaps in another, the data inside. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "lossgap/report.h"

static const char schema[] = "https://vega.github.io/schema/vega-lite/v5.json";

typedef struct picture {
    const lg_curve *curve;
    const lg_curve_about *about;
    const lg_curve_picture_style *style;
    bool tokens; /* on the axis */
    lg_text *out;
    lg_json_writer w;
} picture;

static void key(picture *p, const char *name) {
    lg_json_put_key(&p->w, name);
}

static void text(picture *p, const char *name, const char *value) {
    key(p, name);
    lg_json_put_text(&p->w, value);
}

static void open_object(picture *p, const char *name) {
    if (name) key(p, name);
    lg_json_put_object(&p->w);
}

static void open_array(picture *p, const char *name) {
    key(p, name);
    lg_json_put_array(&p->w);
}

static void close_object(picture *p) {
    lg_json_end_object(&p->w);
}

/* ---- data ---- */

static void number(lg_json_writer *w, const char *name, double value) {
    lg_json_put_key(w, name);
    lg_json_put_double(w, value);
}

static void put_point(picture *p, const lg_curve_point *point) {
    const lg_filtered_loss *l = &point->loss;
    bool bytes = p->style->bytes;
    lg_json_writer w = {.out = p->out};
    lg_json_put_object(&w);
    lg_json_put_key(&w, "filter");
    lg_json_put_text(&w, point->filter);
    lg_json_put_key(&w, "run");
    lg_json_put_text(&w, point->run);
    lg_json_put_key(&w, "step");
    lg_json_put_unsigned(&w, point->step);
    lg_json_put_key(&w, "tokens_seen");
    if (point->has_tokens_seen) lg_json_put_unsigned(&w, point->tokens_seen);
    else lg_json_put_null(&w);
    number(&w, "loss", bytes ? l->bits_per_byte : l->loss);
    number(&w, "low", bytes ? l->bits_low : l->low);
    number(&w, "high", bytes ? l->bits_high : l->high);
    number(&w, "gap", bytes ? l->gap_bits_per_byte : l->gap);
    number(&w, "gap_low", bytes ? l->gap_bits_low : l->gap_low);
    number(&w, "gap_high", bytes ? l->gap_bits_high : l->gap_high);
    lg_json_put_key(&w, "tokens");
    lg_json_put_unsigned(&w, l->tokens);
    lg_json_put_key(&w, "documents");
    lg_json_put_unsigned(&w, l->documents);
    lg_json_end_object(&w);
}

/* What can be drawn: with a loss and a place on the axis. */
static bool is_shown(const picture *p, const lg_curve_point *point) {
    double x = (double)(p->tokens ? point->tokens_seen : point->step);
    if (p->tokens && !point->has_tokens_seen) return false;
    return !isnan(point->loss.loss) && (x > 0 || !p->style->log);
}

static void put_data(picture *p) {
    bool first = true;
    open_object(p, "data");
    key(p, "values");
    lg_json_put_raw(&p->w, "[", 1);
    for (size_t i = 0; i < lg_curve_n_points(p->curve); i++) {
        const lg_curve_point *point = lg_curve_at(p->curve, i);
        if (!is_shown(p, point)) continue;
        lg_text_puts(p->out, first ? "\n" : ",\n");
        put_point(p, point);
        first = false;
    }
    lg_text_puts(p->out, "\n]");
    close_object(p);
}

/* ---- marks ---- */

static void put_names(picture *p, const char *name, bool filters) {
    open_array(p, name);
    size_t n = filters ? lg_filters_n(p->about->filters) : p->about->n_runs;
    for (size_t i = 0; i < n; i++)
        lg_json_put_text(&p->w, filters ? lg_filters_at(p->about->filters, i)->name : p->about->runs[i]);
    lg_json_end_array(&p->w);
}

static void put_x(picture *p) {
    open_object(p, "x");
    text(p, "field", p->tokens ? "tokens_seen" : "step");
    text(p, "type", "quantitative");
    text(p, "title", p->tokens ? "tokens seen" : "step");
    open_object(p, "scale");
    text(p, "type", p->style->log ? "log" : "linear");
    if (!p->style->log) {
        key(p, "zero");
        lg_json_put_bool(&p->w, false);
    }
    close_object(p);
    open_object(p, "axis");
    text(p, "format", "~s"); /* 2.9M */
    close_object(p);
    close_object(p);
}

/* Runs have the same colours in every picture of these runs, as they stand in the order of the command. */
static void put_color(picture *p) {
    open_object(p, "color");
    text(p, "field", "run");
    text(p, "type", "nominal");
    key(p, "title");
    lg_json_put_null(&p->w);
    open_object(p, "scale");
    put_names(p, "domain", false);
    close_object(p);
    close_object(p);
}

static void put_y(picture *p, const char *channel, const char *field, const char *title) {
    open_object(p, channel);
    text(p, "field", field);
    if (title) {
        text(p, "type", "quantitative");
        text(p, "title", title);
        open_object(p, "scale");
        key(p, "zero");
        lg_json_put_bool(&p->w, false);
        close_object(p);
    }
    close_object(p);
}

static void put_tooltip(picture *p, bool gap) {
    static const char *const fields[] = {"run", "step", "tokens_seen", "tokens", "documents"};
    open_array(p, "tooltip");
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        lg_json_put_object(&p->w);
        text(p, "field", fields[i]);
        text(p, "type", i ? "quantitative" : "nominal");
        if (i) text(p, "format", ",");
        lg_json_end_object(&p->w);
    }
    static const char *const losses[] = {"loss", "low", "high"}, *const gaps[] = {"gap", "gap_low",
                                                                                  "gap_high"};
    for (size_t i = 0; i < 3; i++) {
        lg_json_put_object(&p->w);
        text(p, "field", gap ? gaps[i] : losses[i]);
        text(p, "type", "quantitative");
        text(p, "format", gap ? "+.4f" : ".4f");
        lg_json_end_object(&p->w);
    }
    lg_json_end_array(&p->w);
}

/* A row of panels, one for each filter, of losses or of gaps. */
static void put_panels(picture *p, bool gap) {
    const char *unit = p->style->bytes ? "bits per byte" : "nats per token";
    char title[160];
    if (gap) snprintf(title, sizeof title, "gap, %s (positive: better than %.60s)", unit, p->about->runs[0]);
    else snprintf(title, sizeof title, "loss, %s", unit);
    open_object(p, NULL);
    if (gap) { /* the baseline has none */
        open_array(p, "transform");
        lg_json_put_object(&p->w);
        text(p, "filter", "isValid(datum.gap)");
        lg_json_end_object(&p->w);
        lg_json_end_array(&p->w);
    }
    open_object(p, "facet");
    text(p, "field", "filter");
    text(p, "type", "nominal");
    key(p, "title");
    lg_json_put_null(&p->w);
    put_names(p, "sort", true);
    close_object(p);
    key(p, "columns");
    lg_json_put_unsigned(&p->w, lg_filters_n(p->about->filters) < 4 ? lg_filters_n(p->about->filters) : 4);
    open_object(p, "resolve");
    open_object(p, "scale");
    text(p, "y", "independent"); /* filters are of different hardness */
    close_object(p);
    close_object(p);
    open_object(p, "spec");
    key(p, "width");
    lg_json_put_unsigned(&p->w, 240);
    key(p, "height");
    lg_json_put_unsigned(&p->w, 180);
    open_object(p, "encoding");
    put_x(p);
    put_color(p);
    close_object(p);
    open_array(p, "layer");
    if (gap) { /* where both are as good */
        lg_json_put_object(&p->w);
        open_object(p, "mark");
        text(p, "type", "rule");
        text(p, "color", "#888");
        open_array(p, "strokeDash");
        lg_json_put_unsigned(&p->w, 3);
        lg_json_put_unsigned(&p->w, 3);
        lg_json_end_array(&p->w);
        close_object(p);
        open_object(p, "encoding");
        open_object(p, "y");
        key(p, "datum");
        lg_json_put_unsigned(&p->w, 0);
        close_object(p);
        key(p, "x");
        lg_json_put_null(&p->w);
        key(p, "color");
        lg_json_put_null(&p->w);
        close_object(p);
        lg_json_end_object(&p->w);
    }
    lg_json_put_object(&p->w);
    open_object(p, "mark");
    text(p, "type", "area");
    key(p, "opacity");
    lg_json_put_double(&p->w, 0.2);
    close_object(p);
    open_object(p, "encoding");
    put_y(p, "y", gap ? "gap_low" : "low", title);
    put_y(p, "y2", gap ? "gap_high" : "high", NULL);
    close_object(p);
    lg_json_end_object(&p->w);
    lg_json_put_object(&p->w);
    open_object(p, "mark");
    text(p, "type", "line");
    key(p, "point");
    lg_json_put_bool(&p->w, true);
    close_object(p);
    open_object(p, "encoding");
    put_y(p, "y", gap ? "gap" : "loss", title);
    put_tooltip(p, gap);
    close_object(p);
    lg_json_end_object(&p->w);
    lg_json_end_array(&p->w);
    close_object(p);
    close_object(p);
}

static bool has_gaps(const lg_curve *curve) {
    for (size_t i = 0; i < lg_curve_n_points(curve); i++)
        if (!isnan(lg_curve_at(curve, i)->loss.gap)) return true;
    return false;
}

lg_status lg_curve_picture(const lg_curve *curve, const lg_curve_picture_style *style, char **result,
                           size_t *length, lg_error *error) {
    const lg_curve_about *about = lg_curve_get_about(curve);
    lg_text out = {0};
    picture p = {.curve = curve, .about = about, .style = style, .out = &out, .w = {.out = &out}};
    p.tokens = style->axis == LG_AXIS_TOKENS || (style->axis == LG_AXIS_AUTO && about->all_tokens_seen);
    open_object(&p, NULL);
    text(&p, "$schema", schema);
    text(&p, "description",
         "Filtered losses of the checkpoints of training runs, and the gap to the first run at equal steps; "
         "bands: 95 % intervals, clustered by document");
    put_data(&p);
    open_array(&p, "vconcat");
    put_panels(&p, false);
    if (has_gaps(curve)) put_panels(&p, true);
    lg_json_end_array(&p.w);
    close_object(&p);
    lg_text_puts(&out, "\n");
    if (out.failed) {
        lg_text_free(&out);
        return lg_fail_memory(error);
    }
    *result = out.data;
    *length = out.length;
    return LG_OK;
}
