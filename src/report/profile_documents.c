/* Profiles as JSON and as CSV (docs/formats/profile.md). */
#include <string.h>

#include "lossgap/report.h"
#include "report/members.h"

enum { VERSION = 1 };

/* ---- members, after the models and grouping columns ---- */

#define ROW(name, kind, field)                                                                               \
    { name, LG_MEMBER_##kind, offsetof(lg_profile_row, field) }
#define VALUE(name, field)                                                                                   \
    ROW(name, NUMBER, field.value), ROW(name "_se", NUMBER, field.se), ROW(name "_low", NUMBER, field.low),  \
        ROW(name "_high", NUMBER, field.high), ROW(name "_t", NUMBER, field.t),                              \
        ROW(name "_p", NUMBER, field.p), ROW(name "_p_bh", NUMBER, field.p_bh)
#define FIELLER(name, field)                                                                                 \
    ROW(name "_fieller_low", NUMBER, field.fieller_low), ROW(name "_fieller_high", NUMBER, field.fieller_high)
#define RESAMPLED(name, field)                                                                               \
    ROW(name "_bootstrap_low", NUMBER, field.bootstrap_low),                                                 \
        ROW(name "_bootstrap_high", NUMBER, field.bootstrap_high)

static const lg_member row_members[] = {
    ROW("tokens", COUNT, tokens),       ROW("documents", COUNT, documents), ROW("bytes", BYTES, bytes),
    ROW("loss_a", NUMBER, pair.loss_a), ROW("loss_b", NUMBER, pair.loss_b), ROW("gap", NUMBER, pair.gap),
    ROW("se", NUMBER, pair.se),         ROW("df", NUMBER, pair.df),         ROW("low", NUMBER, pair.low),
    ROW("high", NUMBER, pair.high),     ROW("p", NUMBER, pair.p),           VALUE("profile", pair.profile),
    FIELLER("profile", pair.profile),
};
static const lg_member resampled_members[] = {
    RESAMPLED("profile", pair.profile),
    ROW("replicates", COUNT, pair.profile.replicates),
};
static const lg_member reference_members[] = {
    ROW("reference_a", TEXT, reference.model_a),       ROW("reference_b", TEXT, reference.model_b),
    ROW("reference_loss_a", NUMBER, reference.loss_a), ROW("reference_loss_b", NUMBER, reference.loss_b),
    ROW("reference_gap", NUMBER, reference.gap),       ROW("reference_se", NUMBER, reference.se),
    ROW("reference_low", NUMBER, reference.low),       ROW("reference_high", NUMBER, reference.high),
    ROW("reference_p", NUMBER, reference.p),           VALUE("reference_profile", reference.profile),
    FIELLER("reference_profile", reference.profile),   VALUE("difference", difference),
};
static const lg_member resampled_reference_members[] = {
    RESAMPLED("reference_profile", reference.profile),
    RESAMPLED("difference", difference),
};
static const lg_member seed_members[] = {
    ROW("seeds_a", COUNT, seeds.seeds_a),
    ROW("seeds_b", COUNT, seeds.seeds_b),
    ROW("seed_gap", NUMBER, seeds.gap),
    ROW("seed_sd_a", NUMBER, seeds.sd_a),
    ROW("seed_sd_b", NUMBER, seeds.sd_b),
    ROW("seed_se", NUMBER, seeds.se),
    ROW("seed_df", NUMBER, seeds.df),
    ROW("seed_low", NUMBER, seeds.low),
    ROW("seed_high", NUMBER, seeds.high),
    ROW("document_se", NUMBER, seeds.document_se),
    ROW("both_se", NUMBER, seeds.both_se),
    ROW("both_low", NUMBER, seeds.both_low),
    ROW("both_high", NUMBER, seeds.both_high),
    ROW("noise_floor", NUMBER, seeds.floor),
    ROW("noise_largest", NUMBER, seeds.largest),
    ROW("gap_over_noise", NUMBER, seeds.ratio),
    ROW("above_noise", TRUTH, seeds.above),
};
static const lg_member note_members[] = {ROW("note", TEXT, pair.note)};
static const lg_member reference_note_members[] = {ROW("reference_note", TEXT, reference.note)};
static const lg_member seed_note_members[] = {ROW("seed_note", TEXT, seeds.note)};

#define AGREEMENT(name, kind, field)                                                                         \
    { name, LG_MEMBER_##kind, offsetof(lg_profile_agreement, field) }
static const lg_member agreement_members[] = {
    AGREEMENT("model_a", TEXT, model_a),
    AGREEMENT("model_b", TEXT, model_b),
    AGREEMENT("reference_a", TEXT, reference_a),
    AGREEMENT("reference_b", TEXT, reference_b),
};
static const lg_member agreement_numbers[] = {
    AGREEMENT("groups", COUNT, groups),
    AGREEMENT("tokens", COUNT, tokens),
    AGREEMENT("correlation", NUMBER, correlation),
    AGREEMENT("correlation_low", NUMBER, correlation_low),
    AGREEMENT("correlation_high", NUMBER, correlation_high),
    AGREEMENT("slope", NUMBER, slope),
    AGREEMENT("slope_low", NUMBER, slope_low),
    AGREEMENT("slope_high", NUMBER, slope_high),
    AGREEMENT("replicates", COUNT, replicates),
    AGREEMENT("note", TEXT, note),
};

#define SEED(name, kind, field)                                                                              \
    { name, LG_MEMBER_##kind, offsetof(lg_profile_seed_gap, field) }
static const lg_member seed_gap_models[] = {
    SEED("side", TEXT, side),
    SEED("model_a", TEXT, model_a),
    SEED("model_b", TEXT, model_b),
};
static const lg_member seed_gap_numbers[] = {
    SEED("tokens", COUNT, tokens), SEED("documents", COUNT, documents),
    SEED("gap", NUMBER, gap),      SEED("se", NUMBER, se),
    SEED("df", NUMBER, df),        SEED("low", NUMBER, low),
    SEED("high", NUMBER, high),
};

#define ONE(list) ((lg_members){{LG_MEMBER_PART(list)}})

static lg_members members_of_rows(const lg_profile *profile) {
    const lg_profile_about *about = lg_profile_get_about(profile);
    lg_members m = {{LG_MEMBER_PART(row_members), LG_MEMBER_PART(resampled_members),
                     LG_MEMBER_PART(reference_members), LG_MEMBER_PART(resampled_reference_members),
                     LG_MEMBER_PART(seed_members), LG_MEMBER_PART(note_members),
                     LG_MEMBER_PART(reference_note_members), LG_MEMBER_PART(seed_note_members)}};
    if (!about->bootstrap) m.parts[1].n = m.parts[3].n = 0;
    if (!about->n_references) m.parts[2].n = m.parts[3].n = m.parts[6].n = 0;
    if (!about->has_seeds) m.parts[4].n = m.parts[7].n = 0;
    return m;
}

/* ---- JSON ---- */

static void put_levels(const lg_profile *profile, const char *const *level, lg_json_writer *w) {
    for (size_t b = 0; b < lg_profile_n_by(profile); b++) {
        lg_json_put_key(w, lg_profile_by(profile, b));
        lg_json_put_text(w, level[b]);
    }
}

/* The grouping columns of GROUPING, as "family" or "domain, family". */
static void put_by(const lg_profile *profile, uint32_t grouping, lg_text *out) {
    bool first = true;
    for (size_t b = 0; b < lg_profile_n_by(profile); b++) {
        if (!(grouping >> b & 1)) continue;
        lg_text_printf(out, "%s%s", first ? "" : ", ", lg_profile_by(profile, b));
        first = false;
    }
}

static void put_rows(const lg_profile *profile, lg_text *out) {
    bool has_text = lg_profile_get_about(profile)->gap->has_text;
    lg_members m = members_of_rows(profile);
    for (size_t i = 0; i < lg_profile_n_rows(profile); i++) {
        const lg_profile_row *row = lg_profile_at(profile, i);
        lg_text_puts(out, i ? ",\n" : "\n");
        lg_json_writer w = {.out = out};
        lg_json_put_object(&w);
        lg_json_put_key(&w, "model_a");
        lg_json_put_text(&w, row->pair.model_a);
        lg_json_put_key(&w, "model_b");
        lg_json_put_text(&w, row->pair.model_b);
        put_levels(profile, row->level, &w);
        lg_members_json(&m, row, has_text, &w);
        lg_json_end_object(&w);
    }
}

static void put_agreements(const lg_profile *profile, lg_text *out) {
    lg_members models = ONE(agreement_members), numbers = ONE(agreement_numbers);
    for (size_t i = 0; i < lg_profile_n_agreements(profile); i++) {
        const lg_profile_agreement *a = lg_profile_agreement_at(profile, i);
        lg_text by = {0};
        put_by(profile, a->grouping, &by);
        lg_text_puts(out, i ? ",\n" : "\n");
        lg_json_writer w = {.out = out};
        lg_json_put_object(&w);
        lg_members_json(&models, a, true, &w);
        lg_json_put_key(&w, "by");
        lg_json_put_text(&w, by.data);
        lg_members_json(&numbers, a, true, &w);
        lg_json_end_object(&w);
        out->failed |= by.failed;
        lg_text_free(&by);
    }
}

static void put_seed_gaps(const lg_profile *profile, lg_text *out) {
    lg_members models = ONE(seed_gap_models), numbers = ONE(seed_gap_numbers);
    for (size_t i = 0; i < lg_profile_n_seed_gaps(profile); i++) {
        const lg_profile_seed_gap *gap = lg_profile_seed_gap_at(profile, i);
        lg_text_puts(out, i ? ",\n" : "\n");
        lg_json_writer w = {.out = out};
        lg_json_put_object(&w);
        lg_members_json(&models, gap, true, &w);
        put_levels(profile, gap->level, &w);
        lg_members_json(&numbers, gap, true, &w);
        lg_json_end_object(&w);
    }
}

lg_status lg_profile_json(const lg_profile *profile, char **text, size_t *length, lg_error *error) {
    const lg_profile_about *about = lg_profile_get_about(profile);
    lg_text out = {0};
    lg_json_writer w = {.out = &out};
    lg_json_put_object(&w);
    lg_json_put_key(&w, "format");
    lg_json_put_text(&w, "profile");
    lg_json_put_key(&w, "version");
    lg_json_put_unsigned(&w, VERSION);
    lg_json_put_key(&w, "sign");
    lg_json_put_text(&w, lg_gap_sign(about->gap->spans));
    lg_json_put_key(&w, "profile");
    lg_json_put_text(&w, LG_PROFILE_MEANING);
    lg_json_put_key(&w, "provenance");
    lg_json_put_raw(&w, about->gap->provenance, strlen(about->gap->provenance));
    lg_json_put_key(&w, "rows");
    lg_json_put_raw(&w, "[", 1);
    put_rows(profile, &out);
    lg_text_puts(&out, "\n]");
    if (about->n_references) {
        lg_json_put_key(&w, "agreement");
        lg_json_put_raw(&w, "[", 1);
        put_agreements(profile, &out);
        lg_text_puts(&out, "\n]");
    }
    if (about->has_seeds) {
        lg_json_put_key(&w, "seed_gaps");
        lg_json_put_raw(&w, "[", 1);
        put_seed_gaps(profile, &out);
        lg_text_puts(&out, "\n]");
    }
    lg_json_end_object(&w);
    lg_text_puts(&out, "\n");
    return lg_text_take(&out, text, length, error);
}

/* ---- CSV ---- */

static void put_by_heads(const lg_profile *profile, lg_csv *csv) {
    for (size_t b = 0; b < lg_profile_n_by(profile); b++) lg_csv_put(csv, lg_profile_by(profile, b));
}

static void put_by_fields(const lg_profile *profile, const char *const *level, lg_csv *csv) {
    for (size_t b = 0; b < lg_profile_n_by(profile); b++) lg_csv_put(csv, level[b]);
}

/* The last fields of lines that have a gap. */
static void put_end(const lg_profile *profile, bool head, lg_csv *csv) {
    if (lg_profile_get_about(profile)->gap->spans) lg_csv_put(csv, head ? "unit" : "span");
    lg_csv_put(csv, head ? "positive_gap_means" : "model_b predicts better");
    lg_csv_end_row(csv);
}

lg_status lg_profile_csv(const lg_profile *profile, char **text, size_t *length, lg_error *error) {
    bool has_text = lg_profile_get_about(profile)->gap->has_text;
    lg_members m = members_of_rows(profile);
    lg_text out = {0};
    lg_csv csv = {.out = &out};
    lg_csv_put(&csv, "model_a");
    lg_csv_put(&csv, "model_b");
    put_by_heads(profile, &csv);
    lg_members_heads(&m, &csv);
    put_end(profile, true, &csv);
    for (size_t i = 0; i < lg_profile_n_rows(profile); i++) {
        const lg_profile_row *row = lg_profile_at(profile, i);
        lg_csv_put(&csv, row->pair.model_a);
        lg_csv_put(&csv, row->pair.model_b);
        put_by_fields(profile, row->level, &csv);
        lg_members_csv(&m, row, has_text, &csv);
        put_end(profile, false, &csv);
    }
    return lg_text_take(&out, text, length, error);
}

lg_status lg_profile_agreements_csv(const lg_profile *profile, char **text, size_t *length, lg_error *error) {
    lg_members models = ONE(agreement_members), numbers = ONE(agreement_numbers);
    lg_text out = {0};
    lg_csv csv = {.out = &out};
    lg_members_heads(&models, &csv);
    lg_csv_put(&csv, "by");
    lg_members_heads(&numbers, &csv);
    lg_csv_end_row(&csv);
    for (size_t i = 0; i < lg_profile_n_agreements(profile); i++) {
        const lg_profile_agreement *a = lg_profile_agreement_at(profile, i);
        lg_text by = {0};
        put_by(profile, a->grouping, &by);
        lg_members_csv(&models, a, true, &csv);
        lg_csv_put(&csv, by.data);
        lg_members_csv(&numbers, a, true, &csv);
        lg_csv_end_row(&csv);
        out.failed |= by.failed;
        lg_text_free(&by);
    }
    return lg_text_take(&out, text, length, error);
}

lg_status lg_profile_seeds_csv(const lg_profile *profile, char **text, size_t *length, lg_error *error) {
    lg_members models = ONE(seed_gap_models), numbers = ONE(seed_gap_numbers);
    lg_text out = {0};
    lg_csv csv = {.out = &out};
    lg_members_heads(&models, &csv);
    put_by_heads(profile, &csv);
    lg_members_heads(&numbers, &csv);
    put_end(profile, true, &csv);
    for (size_t i = 0; i < lg_profile_n_seed_gaps(profile); i++) {
        const lg_profile_seed_gap *gap = lg_profile_seed_gap_at(profile, i);
        lg_members_csv(&models, gap, true, &csv);
        put_by_fields(profile, gap->level, &csv);
        lg_members_csv(&numbers, gap, true, &csv);
        put_end(profile, false, &csv);
    }
    return lg_text_take(&out, text, length, error);
}
