/* The gap as JSON and as CSV (docs/formats/gap.md). */
#include <stdlib.h>
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

static void put_number(lg_json_writer *w, const char *key, double value) {
    lg_json_put_key(w, key);
    lg_json_put_double(w, value); /* NAN: null */
}

static void put_row(lg_json_writer *w, const lg_gap *gap, const lg_gap_row *row) {
    lg_json_put_object(w);
    lg_json_put_key(w, "model_a");
    lg_json_put_text(w, row->model_a);
    lg_json_put_key(w, "model_b");
    lg_json_put_text(w, row->model_b);
    for (size_t b = 0; b < lg_gap_n_by(gap); b++) {
        lg_json_put_key(w, lg_gap_by(gap, b));
        lg_json_put_text(w, row->level[b]);
    }
    lg_json_put_key(w, "tokens");
    lg_json_put_unsigned(w, row->tokens);
    lg_json_put_key(w, "documents");
    lg_json_put_unsigned(w, row->documents);
    lg_json_put_key(w, "bytes");
    if (lg_gap_get_about(gap)->has_text) lg_json_put_unsigned(w, row->bytes);
    else lg_json_put_null(w);
    put_number(w, "loss_a", row->loss_a);
    put_number(w, "loss_b", row->loss_b);
    put_number(w, "gap", row->gap);
    put_number(w, "se", row->se);
    put_number(w, "df", row->df);
    put_number(w, "low", row->low);
    put_number(w, "high", row->high);
    put_number(w, "bits_per_byte_a", row->bits_per_byte_a);
    put_number(w, "bits_per_byte_b", row->bits_per_byte_b);
    lg_json_end_object(w);
}

lg_status lg_gap_json(const lg_gap *gap, char **text, size_t *length, lg_error *error) {
    lg_text out = {0};
    lg_json_writer w = {.out = &out};
    lg_json_put_object(&w);
    lg_json_put_key(&w, "format");
    lg_json_put_text(&w, "gap");
    lg_json_put_key(&w, "version");
    lg_json_put_unsigned(&w, VERSION);
    lg_json_put_key(&w, "sign");
    lg_json_put_text(&w, LG_GAP_SIGN);
    lg_json_put_key(&w, "provenance");
    const char *provenance = lg_gap_get_about(gap)->provenance;
    lg_json_put_raw(&w, provenance, strlen(provenance));
    lg_json_put_key(&w, "rows");
    lg_json_put_raw(&w, "[", 1);
    for (size_t i = 0; i < lg_gap_n_rows(gap); i++) { /* a row a line: for diff and for eyes */
        lg_json_writer row = {.out = &out};
        lg_text_puts(&out, i ? ",\n" : "\n");
        put_row(&row, gap, lg_gap_at(gap, i));
    }
    lg_text_puts(&out, "\n]");
    lg_json_end_object(&w);
    lg_text_puts(&out, "\n");
    return hand_over(&out, text, length, error);
}

lg_status lg_gap_csv(const lg_gap *gap, char **text, size_t *length, lg_error *error) {
    static const char *const names[] = {"tokens",
                                        "documents",
                                        "bytes",
                                        "loss_a",
                                        "loss_b",
                                        "gap",
                                        "se",
                                        "df",
                                        "low",
                                        "high",
                                        "bits_per_byte_a",
                                        "bits_per_byte_b",
                                        "positive_gap_means"};
    lg_text out = {0};
    lg_csv csv = {.out = &out};
    lg_csv_put(&csv, "model_a");
    lg_csv_put(&csv, "model_b");
    for (size_t b = 0; b < lg_gap_n_by(gap); b++) lg_csv_put(&csv, lg_gap_by(gap, b));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) lg_csv_put(&csv, names[i]);
    lg_csv_end_row(&csv);
    for (size_t i = 0; i < lg_gap_n_rows(gap); i++) {
        const lg_gap_row *row = lg_gap_at(gap, i);
        lg_csv_put(&csv, row->model_a);
        lg_csv_put(&csv, row->model_b);
        for (size_t b = 0; b < lg_gap_n_by(gap); b++) lg_csv_put(&csv, row->level[b]);
        lg_csv_put_unsigned(&csv, row->tokens);
        lg_csv_put_unsigned(&csv, row->documents);
        if (lg_gap_get_about(gap)->has_text) lg_csv_put_unsigned(&csv, row->bytes);
        else lg_csv_put(&csv, NULL);
        double values[] = {
            row->loss_a,          row->loss_b,         row->gap, row->se, row->df, row->low, row->high,
            row->bits_per_byte_a, row->bits_per_byte_b};
        for (size_t v = 0; v < sizeof values / sizeof *values; v++) lg_csv_put_double(&csv, values[v]);
        lg_csv_put(&csv, "model_b predicts better");
        lg_csv_end_row(&csv);
    }
    return hand_over(&out, text, length, error);
}
