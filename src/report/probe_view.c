/* Probes as a picture: a Vega-Lite specification of accuracy and margin against distance. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "lossgap/probe_results.h"

static void put_number(lg_json_writer *w, const char *key, double value) {
    lg_json_put_key(w, key);
    lg_json_put_double(w, value);
}

static bool is_drawn(const lg_probe_row *row) {
    return !row->at.all_distances && !row->at.cell && row->scored;
}

/* One point of a line. The band of accuracy: clustered, but Wilson's where groups show no spread. */
static void put_point(lg_text *out, const lg_probe_row *row) {
    lg_json_writer json = {.out = out}, *w = &json;
    const lg_probe_share *a = &row->summed.accuracy;
    bool spread = a->clustered.se > 0;
    lg_json_put_object(w);
    lg_json_put_key(w, "probe");
    lg_json_put_text(w, row->at.probe);
    lg_json_put_key(w, "model");
    lg_json_put_text(w, row->at.model);
    lg_json_put_key(w, "distance");
    lg_json_put_unsigned(w, row->at.distance);
    lg_json_put_key(w, "items");
    lg_json_put_unsigned(w, row->scored);
    lg_json_put_key(w, "groups");
    lg_json_put_unsigned(w, row->groups);
    put_number(w, "chance", a->chance);
    put_number(w, "accuracy", a->clustered.mean);
    put_number(w, "accuracy_low", fmax(0, spread ? a->clustered.low : a->wilson_low));
    put_number(w, "accuracy_high", fmin(1, spread ? a->clustered.high : a->wilson_high));
    put_number(w, "margin", row->summed.margin.mean);
    put_number(w, "margin_low", row->summed.margin.low);
    put_number(w, "margin_high", row->summed.margin.high);
    put_number(w, "zero", 0);
    lg_json_end_object(w);
}

/* Different probes in the order of the rows, where they stand together. */
static void put_probes(lg_text *out, const lg_probe_results *r) {
    const char *last = NULL;
    lg_json_writer w = {.out = out};
    lg_json_put_array(&w);
    for (size_t i = 0; i < lg_probe_n_rows(r); i++) {
        const char *probe = lg_probe_row_at(r, i)->at.probe;
        if (!last || strcmp(last, probe)) lg_json_put_text(&w, probe);
        last = probe;
    }
    lg_json_end_array(&w);
}

static void put_models(lg_text *out, const lg_probe_results *r) {
    lg_json_writer w = {.out = out};
    lg_json_put_array(&w);
    for (size_t m = 0; m < lg_probe_n_models(r); m++) lg_json_put_text(&w, lg_probe_model(r, m));
    lg_json_end_array(&w);
}

/* What is drawn against distance: a field of the points, with its band, and a dashed line at another's mean.
 */
typedef struct figure {
    const char *field, *title, *domain, *independent, *reference, *reference_title;
} figure;

/* The interval at each distance as MARK: a band, or a stroke, which also shows where there is one distance.
 */
static void put_interval(lg_text *out, const figure *f, const char *x, const char *mark) {
    lg_text_printf(out,
                   "{\"mark\":{%s},\"encoding\":{%s,\"y\":{\"field\":\"%s_low\",\"type\":\"quantitative\"},"
                   "\"y2\":{\"field\":\"%s_high\"}}},\n",
                   mark, x, f->field, f->field);
}

/* One panel for each probe. */
static void put_panels(lg_text *out, const lg_probe_results *r, const figure *f, const char *x) {
    lg_text_puts(out, "{\"facet\":{\"field\":\"probe\",\"type\":\"nominal\",\"title\":null,\"sort\":");
    put_probes(out, r);
    lg_text_printf(out,
                   "},\"columns\":3,\"resolve\":{\"scale\":{\"x\":\"independent\"%s}},\n"
                   "\"spec\":{\"width\":220,\"height\":150,\n"
                   "\"encoding\":{\"color\":{\"field\":\"model\",\"type\":\"nominal\",\"title\":\"model\","
                   "\"legend\":{\"symbolOpacity\":1},\"sort\":",
                   f->independent);
    put_models(out, r);
    lg_text_puts(out, ",\"scale\":{\"range\":[\"#0072b2\",\"#d55e00\",\"#009e73\",\"#cc79a7\",\"#e69f00\","
                      "\"#56b4e9\",\"#000000\",\"#999999\"]}}},\n\"layer\":[\n");
    lg_text_printf(
        out,
        "{\"mark\":{\"type\":\"rule\",\"strokeDash\":[4,4]},\"encoding\":{\"color\":{\"value\":\"#777\"},"
        "\"y\":{\"aggregate\":\"mean\",\"field\":\"%s\",\"type\":\"quantitative\"},"
        "\"tooltip\":{\"value\":\"%s\"}}},\n",
        f->reference, f->reference_title);
    put_interval(out, f, x, "\"type\":\"area\",\"opacity\":0.15");
    put_interval(out, f, x, "\"type\":\"rule\",\"opacity\":0.6");
    lg_text_printf(
        out,
        "{\"mark\":{\"type\":\"line\",\"point\":true},\"encoding\":{%s,\"y\":{\"field\":\"%s\","
        "\"type\":\"quantitative\",\"title\":\"%s\"%s},\"tooltip\":[{\"field\":\"probe\"},"
        "{\"field\":\"model\"},{\"field\":\"distance\"},"
        "{\"field\":\"%s\",\"format\":\".4f\"},{\"field\":\"%s_low\",\"format\":\".4f\"},"
        "{\"field\":\"%s_high\",\"format\":\".4f\"},{\"field\":\"items\"},{\"field\":\"groups\"}]}}\n]}}",
        x, f->field, f->title, f->domain, f->field, f->field, f->field);
}

lg_status lg_probe_view(const lg_probe_results *r, char **text, size_t *length, lg_error *error) {
    static const figure figures[] = {
        {"accuracy", "accuracy", ",\"scale\":{\"domain\":[0,1]}", "", "chance", "chance"},
        {"margin", "margin (nats)", "", ",\"y\":\"independent\"", "zero", "no preference"},
    };
    lg_text out = {0};
    bool zero = false;
    lg_text_puts(&out,
                 "{\"$schema\":\"https://vega.github.io/schema/vega-lite/v5.json\",\n"
                 "\"description\":\"Probes: accuracy and margin against distance, with 95 % intervals "
                 "clustered by group of items (of accuracy: Wilson's where groups show no spread); dashed: "
                 "chance\",\n\"data\":{\"values\":[");
    const char *comma = "\n";
    for (size_t i = 0; i < lg_probe_n_rows(r); i++) {
        const lg_probe_row *row = lg_probe_row_at(r, i);
        if (!is_drawn(row)) continue;
        zero |= !row->at.distance;
        lg_text_puts(&out, comma);
        put_point(&out, row);
        comma = ",\n";
    }
    lg_text_puts(&out, "\n]},\n\"vconcat\":[\n");
    /* a logarithm has no place for 0 */
    const char *x = zero ? "\"x\":{\"field\":\"distance\",\"type\":\"quantitative\",\"title\":\"distance\","
                           "\"scale\":{\"type\":\"symlog\"}}"
                         : "\"x\":{\"field\":\"distance\",\"type\":\"quantitative\",\"title\":\"distance\","
                           "\"scale\":{\"type\":\"log\",\"base\":2,\"nice\":false,\"padding\":8}}";
    for (size_t f = 0; f < sizeof figures / sizeof *figures; f++) {
        if (f) lg_text_puts(&out, ",\n");
        put_panels(&out, r, &figures[f], x);
    }
    lg_text_puts(&out, "\n]}\n");
    if (out.failed) {
        lg_text_free(&out);
        return lg_fail_memory(error);
    }
    *text = out.data;
    *length = out.length;
    return LG_OK;
}
