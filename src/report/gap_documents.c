/* The gap as JSON and as CSV (docs/formats/gap.md). */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "lossgap/report.h"
#include "report/members.h"

enum { VERSION = 1 };

/* ---- the members of rows, after the models and grouping columns ---- */

#define ROW(name, kind, field)                                                                               \
    { name, LG_MEMBER_##kind, offsetof(lg_gap_row, field) }
static const lg_member row_members[] = {
    ROW("tokens", COUNT, tokens),
    ROW("documents", COUNT, documents),
    ROW("bytes", BYTES, bytes),
    ROW("loss_a", NUMBER, loss_a),
    ROW("loss_b", NUMBER, loss_b),
    ROW("gap", NUMBER, gap),
    ROW("se", NUMBER, se),
    ROW("df", NUMBER, df),
    ROW("low", NUMBER, low),
    ROW("high", NUMBER, high),
    ROW("bits_per_byte_a", NUMBER, bits_per_byte_a),
    ROW("bits_per_byte_b", NUMBER, bits_per_byte_b),
    ROW("se_cr0", NUMBER, se_cr0),
    ROW("t", NUMBER, t),
    ROW("p", NUMBER, p),
    ROW("p_bh", NUMBER, p_bh),
    ROW("mde", NUMBER, mde),
    ROW("median_gap", NUMBER, median),
    ROW("improved", NUMBER, improved),
    ROW("trimmed_gap", NUMBER, trimmed),
    ROW("trimmed_tokens", COUNT, trimmed_tokens),
    ROW("gap_per_byte", NUMBER, per_byte),
    ROW("se_per_byte", NUMBER, se_per_byte),
    ROW("gap_byte_weighted", NUMBER, byte_weighted),
    ROW("gap_of_documents", NUMBER, of_documents),
    ROW("se_of_documents", NUMBER, se_of_documents),
    ROW("low_of_documents", NUMBER, low_of_documents),
    ROW("high_of_documents", NUMBER, high_of_documents),
    ROW("gap_of_domains", NUMBER, of_domains),
    ROW("domains", COUNT, domains),
    ROW("t_of_documents", NUMBER, t_of_documents),
    ROW("p_of_documents", NUMBER, p_of_documents),
    ROW("p_of_documents_bh", NUMBER, p_of_documents_bh),
    ROW("documents_better", COUNT, documents_better),
    ROW("documents_worse", COUNT, documents_worse),
    ROW("w_plus", NUMBER, w_plus),
    ROW("p_wilcoxon", NUMBER, p_wilcoxon),
    ROW("p_wilcoxon_bh", NUMBER, p_wilcoxon_bh),
    ROW("p_sign", NUMBER, p_sign),
    ROW("p_sign_bh", NUMBER, p_sign_bh),
    ROW("p_sign_flip", NUMBER, p_sign_flip),
};
static const lg_member bootstrap_members[] = {
    ROW("bootstrap_low", NUMBER, bootstrap_low),
    ROW("bootstrap_high", NUMBER, bootstrap_high),
    ROW("bootstrap_se", NUMBER, bootstrap_se),
    ROW("replicates", COUNT, replicates),
};
static const lg_member vocabulary_members[] = {ROW("vocabulary", COUNT, vocabulary)};
static const lg_member span_members[] = {
    ROW("tokens_a", COUNT, tokens_a),
    ROW("tokens_b", COUNT, tokens_b),
    ROW("one_token", COUNT, one_token),
};
static const lg_member note_members[] = {ROW("note", TEXT, note)};

#define CONTRAST(name, kind, field)                                                                          \
    { name, LG_MEMBER_##kind, offsetof(lg_gap_contrast, field) }
static const lg_member contrast_members[] = {
    CONTRAST("tokens", COUNT, tokens),
    CONTRAST("documents", COUNT, documents),
    CONTRAST("groups", COUNT, levels),
    CONTRAST("first", NUMBER, first),
    CONTRAST("second", NUMBER, second),
    CONTRAST("estimate", NUMBER, estimate),
    CONTRAST("se", NUMBER, se),
    CONTRAST("df", NUMBER, df),
    CONTRAST("low", NUMBER, low),
    CONTRAST("high", NUMBER, high),
    CONTRAST("se_cr0", NUMBER, se_cr0),
    CONTRAST("t", NUMBER, t),
    CONTRAST("p", NUMBER, p),
    CONTRAST("p_bh", NUMBER, p_bh),
    CONTRAST("mde", NUMBER, mde),
    CONTRAST("ratio", NUMBER, ratio),
    CONTRAST("se_levels", NUMBER, se_levels),
    CONTRAST("low_levels", NUMBER, low_levels),
    CONTRAST("high_levels", NUMBER, high_levels),
};
static const lg_member contrast_bootstrap_members[] = {
    CONTRAST("bootstrap_low", NUMBER, bootstrap_low), CONTRAST("bootstrap_high", NUMBER, bootstrap_high),
    CONTRAST("ratio_low", NUMBER, ratio_low),         CONTRAST("ratio_high", NUMBER, ratio_high),
    CONTRAST("replicates", COUNT, replicates),
};
static const lg_member contrast_note_members[] = {CONTRAST("note", TEXT, note)};

static lg_members members_of_rows(const lg_gap *gap) {
    const lg_gap_about *about = lg_gap_get_about(gap);
    lg_members m = {{LG_MEMBER_PART(row_members), LG_MEMBER_PART(bootstrap_members),
                     LG_MEMBER_PART(vocabulary_members), LG_MEMBER_PART(span_members),
                     LG_MEMBER_PART(note_members)}};
    if (!about->bootstrap) m.parts[1].n = 0;
    if (!about->has_vocabulary) m.parts[2].n = 0;
    if (!about->spans) m.parts[3].n = 0;
    return m;
}

static lg_members members_of_contrasts(const lg_gap *gap) {
    lg_members m = {{LG_MEMBER_PART(contrast_members), LG_MEMBER_PART(contrast_bootstrap_members),
                     LG_MEMBER_PART(contrast_note_members)}};
    if (!lg_gap_get_about(gap)->bootstrap) m.parts[1].n = 0;
    return m;
}

/* ---- documents ---- */

/* A row on a line, for diff and for eyes. ROW: what the members are offsets into. */
static void put_row(lg_text *out, const lg_gap *gap, const lg_members *m, const char *model_a,
                    const char *model_b, const char *const *level, const void *row) {
    lg_json_writer w = {.out = out};
    lg_json_put_object(&w);
    lg_json_put_key(&w, "model_a");
    lg_json_put_text(&w, model_a);
    lg_json_put_key(&w, "model_b");
    lg_json_put_text(&w, model_b);
    for (size_t b = 0; b < lg_gap_n_by(gap); b++) {
        lg_json_put_key(&w, lg_gap_by(gap, b));
        lg_json_put_text(&w, level[b]);
    }
    lg_members_json(m, row, lg_gap_get_about(gap)->has_text, &w);
    lg_json_end_object(&w);
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
    lg_json_put_text(&w, lg_gap_sign(lg_gap_get_about(gap)->spans));
    lg_json_put_key(&w, "provenance");
    const char *provenance = lg_gap_get_about(gap)->provenance;
    lg_json_put_raw(&w, provenance, strlen(provenance));
    lg_json_put_key(&w, "rows");
    lg_json_put_raw(&w, "[", 1);
    lg_members m = members_of_rows(gap);
    for (size_t i = 0; i < lg_gap_n_rows(gap); i++) {
        const lg_gap_row *row = lg_gap_at(gap, i);
        lg_text_puts(&out, i ? ",\n" : "\n");
        put_row(&out, gap, &m, row->model_a, row->model_b, row->level, row);
    }
    lg_text_puts(&out, "\n]");
    if (lg_gap_get_about(gap)->view) {
        lg_json_put_key(&w, "contrasts");
        lg_json_put_raw(&w, "[", 1);
        m = members_of_contrasts(gap);
        for (size_t i = 0; i < lg_gap_n_contrasts(gap); i++) {
            const lg_gap_contrast *row = lg_gap_contrast_at(gap, i);
            lg_text_puts(&out, i ? ",\n" : "\n");
            put_row(&out, gap, &m, row->model_a, row->model_b, row->level, row);
        }
        lg_text_puts(&out, "\n]");
    }
    lg_json_end_object(&w);
    lg_text_puts(&out, "\n");
    return lg_text_take(&out, text, length, error);
}

static void put_heads(lg_csv *csv, const lg_gap *gap, const lg_members *m) {
    lg_csv_put(csv, "model_a");
    lg_csv_put(csv, "model_b");
    for (size_t b = 0; b < lg_gap_n_by(gap); b++) lg_csv_put(csv, lg_gap_by(gap, b));
    lg_members_heads(m, csv);
    if (lg_gap_get_about(gap)->spans) lg_csv_put(csv, "unit");
    lg_csv_put(csv, "positive_gap_means");
    lg_csv_end_row(csv);
}

static void put_line(lg_csv *csv, const lg_gap *gap, const lg_members *m, const char *model_a,
                     const char *model_b, const char *const *level, const void *row) {
    lg_csv_put(csv, model_a);
    lg_csv_put(csv, model_b);
    for (size_t b = 0; b < lg_gap_n_by(gap); b++) lg_csv_put(csv, level[b]);
    lg_members_csv(m, row, lg_gap_get_about(gap)->has_text, csv);
    if (lg_gap_get_about(gap)->spans) lg_csv_put(csv, "span");
    lg_csv_put(csv, "model_b predicts better");
    lg_csv_end_row(csv);
}

lg_status lg_gap_csv(const lg_gap *gap, char **text, size_t *length, lg_error *error) {
    lg_text out = {0};
    lg_csv csv = {.out = &out};
    lg_members m = members_of_rows(gap);
    put_heads(&csv, gap, &m);
    for (size_t i = 0; i < lg_gap_n_rows(gap); i++) {
        const lg_gap_row *row = lg_gap_at(gap, i);
        put_line(&csv, gap, &m, row->model_a, row->model_b, row->level, row);
    }
    return lg_text_take(&out, text, length, error);
}

lg_status lg_gap_contrasts_csv(const lg_gap *gap, char **text, size_t *length, lg_error *error) {
    lg_text out = {0};
    lg_csv csv = {.out = &out};
    lg_members m = members_of_contrasts(gap);
    put_heads(&csv, gap, &m);
    for (size_t i = 0; i < lg_gap_n_contrasts(gap); i++) {
        const lg_gap_contrast *row = lg_gap_contrast_at(gap, i);
        put_line(&csv, gap, &m, row->model_a, row->model_b, row->level, row);
    }
    return lg_text_take(&out, text, length, error);
}
