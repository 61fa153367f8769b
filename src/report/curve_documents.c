/* Curves as JSON and as CSV (docs/formats/curve.md). */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "lossgap/report.h"
#include "report/csv.h"

enum { VERSION = 1 };

static lg_status hand_over(lg_text *out, char **text, size_t *length, lg_error *error) {
    if (out->failed) {
        lg_text_free(out);
        return lg_fail_memory(error);
    }
    *text = out->data;
    *length = out->length;
    return LG_OK;
}

/* ---- the members of a row, after filter, run and step ---- */

typedef enum kind { COUNT, BYTES, NUMBER } kind; /* BYTES: a count that only data with text have */

typedef struct member {
    const char *name;
    kind kind;
    size_t offset;
} member;

#define LOSS(name, kind, field)                                                                              \
    { name, kind, offsetof(lg_filtered_loss, field) }
static const member of_loss[] = {
    LOSS("tokens", COUNT, tokens),
    LOSS("documents", COUNT, documents),
    LOSS("bytes", BYTES, bytes),
    LOSS("unscorable", COUNT, unscorable),
    LOSS("loss", NUMBER, loss),
    LOSS("se", NUMBER, se),
    LOSS("df", NUMBER, df),
    LOSS("low", NUMBER, low),
    LOSS("high", NUMBER, high),
    LOSS("bits_per_byte", NUMBER, bits_per_byte),
    LOSS("bits_per_byte_se", NUMBER, bits_se),
    LOSS("bits_per_byte_low", NUMBER, bits_low),
    LOSS("bits_per_byte_high", NUMBER, bits_high),
};
static const member of_gap[] = {
    LOSS("gap", NUMBER, gap),
    LOSS("gap_se", NUMBER, gap_se),
    LOSS("gap_low", NUMBER, gap_low),
    LOSS("gap_high", NUMBER, gap_high),
    LOSS("gap_bits_per_byte", NUMBER, gap_bits_per_byte),
    LOSS("gap_bits_per_byte_se", NUMBER, gap_bits_se),
    LOSS("gap_bits_per_byte_low", NUMBER, gap_bits_low),
    LOSS("gap_bits_per_byte_high", NUMBER, gap_bits_high),
};
enum { N_LOSS = sizeof of_loss / sizeof *of_loss, N_GAP = sizeof of_gap / sizeof *of_gap };

static void put_text(lg_json_writer *w, const char *key, const char *value) {
    lg_json_put_key(w, key);
    lg_json_put_text(w, value);
}

static void put_count(lg_json_writer *w, const char *key, uint64_t value) {
    lg_json_put_key(w, key);
    lg_json_put_unsigned(w, value);
}

static void put_maybe(lg_json_writer *w, const char *key, bool there, uint64_t value) {
    lg_json_put_key(w, key);
    if (there) lg_json_put_unsigned(w, value);
    else lg_json_put_null(w);
}

static void put_member(lg_json_writer *w, const member *m, const lg_filtered_loss *loss, bool has_text) {
    const char *at = (const char *)loss + m->offset;
    lg_json_put_key(w, m->name);
    if (m->kind == NUMBER) lg_json_put_double(w, *(const double *)(const void *)at); /* NAN: null */
    else if (m->kind == BYTES && !has_text) lg_json_put_null(w);
    else lg_json_put_unsigned(w, *(const uint64_t *)(const void *)at);
}

static void put_row(lg_json_writer *w, const lg_curve_point *p, bool has_text) {
    lg_json_put_object(w);
    put_text(w, "filter", p->filter);
    put_text(w, "run", p->run);
    put_count(w, "step", p->step);
    put_maybe(w, "tokens_seen", p->has_tokens_seen, p->tokens_seen);
    for (size_t i = 0; i < N_LOSS; i++) put_member(w, &of_loss[i], &p->loss, has_text);
    put_text(w, "baseline", p->baseline);
    for (size_t i = 0; i < N_GAP; i++) put_member(w, &of_gap[i], &p->loss, has_text);
    put_text(w, "note", p->note);
    lg_json_end_object(w);
}

static void put_filters(lg_json_writer *w, lg_text *out, const lg_curve_about *about) {
    lg_json_put_key(w, "filters");
    lg_json_put_raw(w, "[", 1);
    for (size_t i = 0; i < lg_filters_n(about->filters); i++) {
        const lg_filter *f = lg_filters_at(about->filters, i);
        lg_text_puts(out, i ? ",\n" : "\n");
        lg_json_writer row = {.out = out};
        lg_json_put_object(&row);
        put_text(&row, "name", f->name);
        put_text(&row, "expression", f->expression);
        put_count(&row, "tokens", f->tokens);
        put_count(&row, "documents", f->documents);
        put_maybe(&row, "bytes", about->has_text, f->bytes);
        put_count(&row, "unknown", f->unknown);
        put_text(&row, "note", f->note);
        lg_json_end_object(&row);
    }
    lg_text_puts(out, "\n]");
    size_t n;
    const lg_state_tag *tags = lg_filters_state(about->filters, &n);
    lg_json_put_key(w, "state_tags");
    lg_json_put_array(w);
    for (size_t i = 0; i < n; i++) {
        lg_json_put_object(w);
        put_text(w, "tag", tags[i].tag);
        lg_json_put_key(w, "gap");
        lg_json_put_double(w, tags[i].gap);
        put_count(w, "tokens", tags[i].tokens);
        put_count(w, "documents", tags[i].documents);
        lg_json_end_object(w);
    }
    lg_json_end_array(w);
    lg_json_put_key(w, "left_out");
    lg_json_put_array(w);
    for (size_t i = 0; i < lg_filters_n_left_out(about->filters); i++) {
        const lg_filter_left_out *left = lg_filters_left_out(about->filters, i);
        lg_json_put_object(w);
        put_text(w, "filter", left->name);
        put_text(w, "reason", left->reason);
        lg_json_end_object(w);
    }
    lg_json_end_array(w);
}

static void put_checkpoints(lg_json_writer *w, lg_text *out, const lg_curve_about *about) {
    lg_json_put_key(w, "checkpoints");
    lg_json_put_raw(w, "[", 1);
    for (size_t i = 0; i < about->n_checkpoints; i++) {
        const lg_curve_checkpoint *c = &about->checkpoints[i];
        lg_text_puts(out, i ? ",\n" : "\n");
        lg_json_writer row = {.out = out};
        lg_json_put_object(&row);
        put_text(&row, "run", c->run);
        put_count(&row, "step", c->step);
        put_maybe(&row, "tokens_seen", c->tokens_from != NULL, c->tokens_seen);
        put_text(&row, "tokens_from", c->tokens_from);
        put_text(&row, "model", c->model);
        put_text(&row, "scores", c->name);
        put_text(&row, "precision",
                 c->precision == LG_PRECISION_AUTO ? NULL : lg_precision_name(c->precision));
        lg_json_put_key(&row, "gone");
        lg_json_put_bool(&row, c->gone);
        lg_json_end_object(&row);
    }
    lg_text_puts(out, "\n]");
    lg_json_put_key(w, "skipped");
    lg_json_put_array(w);
    for (size_t i = 0; i < about->n_skipped; i++) {
        const lg_curve_skipped *s = &about->skipped[i];
        lg_json_put_object(w);
        put_text(w, "run", s->run);
        put_text(w, "checkpoint", s->checkpoint);
        put_text(w, "state", s->broken ? "broken" : "incomplete");
        put_text(w, "reason", s->reason);
        lg_json_end_object(w);
    }
    lg_json_end_array(w);
}

lg_status lg_curve_json(const lg_curve *curve, char **text, size_t *length, lg_error *error) {
    const lg_curve_about *about = lg_curve_get_about(curve);
    lg_text out = {0};
    lg_json_writer w = {.out = &out};
    lg_json_put_object(&w);
    put_text(&w, "format", "curve");
    put_count(&w, "version", VERSION);
    put_text(&w, "sign", LG_CURVE_SIGN);
    lg_json_put_key(&w, "provenance");
    lg_json_put_raw(&w, about->provenance, strlen(about->provenance));
    put_text(&w, "baseline", about->n_runs ? about->runs[0] : NULL);
    lg_json_put_key(&w, "runs");
    lg_json_put_array(&w);
    for (size_t i = 0; i < about->n_runs; i++) lg_json_put_text(&w, about->runs[i]);
    lg_json_end_array(&w);
    put_filters(&w, &out, about);
    put_checkpoints(&w, &out, about);
    lg_json_put_key(&w, "rows");
    lg_json_put_raw(&w, "[", 1);
    for (size_t i = 0; i < lg_curve_n_points(curve); i++) {
        lg_text_puts(&out, i ? ",\n" : "\n");
        lg_json_writer row = {.out = &out};
        put_row(&row, lg_curve_at(curve, i), about->has_text);
    }
    lg_text_puts(&out, "\n]");
    lg_json_end_object(&w);
    lg_text_puts(&out, "\n");
    return hand_over(&out, text, length, error);
}

static void put_field(lg_csv *csv, const member *m, const lg_filtered_loss *loss, bool has_text) {
    const char *at = (const char *)loss + m->offset;
    if (m->kind == NUMBER) lg_csv_put_double(csv, *(const double *)(const void *)at);
    else if (m->kind == BYTES && !has_text) lg_csv_put(csv, NULL);
    else lg_csv_put_unsigned(csv, *(const uint64_t *)(const void *)at);
}

lg_status lg_curve_csv(const lg_curve *curve, char **text, size_t *length, lg_error *error) {
    const lg_curve_about *about = lg_curve_get_about(curve);
    lg_text out = {0};
    lg_csv csv = {.out = &out};
    static const char *const heads[] = {"filter", "run", "step", "tokens_seen"};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) lg_csv_put(&csv, heads[i]);
    for (size_t i = 0; i < N_LOSS; i++) lg_csv_put(&csv, of_loss[i].name);
    lg_csv_put(&csv, "baseline");
    for (size_t i = 0; i < N_GAP; i++) lg_csv_put(&csv, of_gap[i].name);
    lg_csv_put(&csv, "note");
    lg_csv_put(&csv, "positive_gap_means");
    lg_csv_end_row(&csv);
    for (size_t k = 0; k < lg_curve_n_points(curve); k++) {
        const lg_curve_point *p = lg_curve_at(curve, k);
        lg_csv_put(&csv, p->filter);
        lg_csv_put(&csv, p->run);
        lg_csv_put_unsigned(&csv, p->step);
        if (p->has_tokens_seen) lg_csv_put_unsigned(&csv, p->tokens_seen);
        else lg_csv_put(&csv, NULL);
        for (size_t i = 0; i < N_LOSS; i++) put_field(&csv, &of_loss[i], &p->loss, about->has_text);
        lg_csv_put(&csv, p->baseline);
        for (size_t i = 0; i < N_GAP; i++) put_field(&csv, &of_gap[i], &p->loss, about->has_text);
        lg_csv_put(&csv, p->note);
        lg_csv_put(&csv, "run predicts better than baseline");
        lg_csv_end_row(&csv);
    }
    return hand_over(&out, text, length, error);
}
