/* Results of probes as JSON and as CSV (docs/formats/probe.md). */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "lossgap/probe_results.h"
#include "report/csv.h"

enum { VERSION = 1 };

typedef enum kind { COUNT, NUMBER, TEXT, WEIGHTS, FOUND } kind;

typedef struct member {
    const char *name;
    kind kind;
    size_t offset;
} member;

#define AT(type, field) offsetof(lg_probe_##type, field)
#define MEAN(name, type, field)                                                                              \
    {name, NUMBER, AT(type, field.mean)}, {name "_se", NUMBER, AT(type, field.se)},                          \
        {name "_df", NUMBER, AT(type, field.df)}, {name "_low", NUMBER, AT(type, field.low)},                \
        {name "_high", NUMBER, AT(type, field.high)}, {name "_t", NUMBER, AT(type, field.t)}, {              \
        name "_p", NUMBER, AT(type, field.p)                                                                 \
    }
#define SHARE(name, type, field)                                                                             \
    {name "_items", COUNT, AT(type, field.items)}, MEAN(name, type, field.clustered),                        \
        {name "_wilson_low", NUMBER, AT(type, field.wilson_low)},                                            \
        {name "_wilson_high", NUMBER, AT(type, field.wilson_high)},                                          \
        {name "_chance", NUMBER, AT(type, field.chance)}, {                                                  \
        name "_p_sign", NUMBER, AT(type, field.p_sign)                                                       \
    }
#define FIGURES(prefix, field)                                                                               \
    SHARE(prefix "accuracy", row, field.accuracy), {prefix "ties", COUNT, AT(row, field.ties)},              \
        MEAN(prefix "margin", row, field.margin),                                                            \
        {prefix "median_margin", NUMBER, AT(row, field.median_margin)}, {                                    \
        prefix "infinite_margins", COUNT, AT(row, field.infinite)                                            \
    }

static const member row_members[] = {
    {"items", COUNT, AT(row, items)},
    {"groups", COUNT, AT(row, groups)},
    {"scored", COUNT, AT(row, scored)},
    {"straddles", COUNT, AT(row, straddles)},
    {"too_long", COUNT, AT(row, too_long)},
    {"not_meant", COUNT, AT(row, not_meant)},
    {"missing", COUNT, AT(row, missing)},
    FIGURES("", summed),
    FIGURES("normalized_", normalized),
    MEAN("loss", row, loss),
    MEAN("loss_per_token", row, loss_per_token),
    {"note", TEXT, AT(row, note)},
};
static const member pair_members[] = {
    {"items", COUNT, AT(pair, items)},
    {"groups", COUNT, AT(pair, groups)},
    {"only_a", COUNT, AT(pair, only_a)},
    {"only_b", COUNT, AT(pair, only_b)},
    {"accuracy_a", NUMBER, AT(pair, accuracy_a)},
    {"accuracy_b", NUMBER, AT(pair, accuracy_b)},
    MEAN("accuracy_difference", pair, accuracy),
    MEAN("margin_difference", pair, margin),
    {"normalized_accuracy_a", NUMBER, AT(pair, accuracy_normalized_a)},
    {"normalized_accuracy_b", NUMBER, AT(pair, accuracy_normalized_b)},
    MEAN("normalized_accuracy_difference", pair, accuracy_normalized),
    MEAN("normalized_margin_difference", pair, margin_normalized),
    MEAN("loss_difference", pair, loss),
    {"note", TEXT, AT(pair, note)},
};
#define PART(name, j)                                                                                        \
    MEAN(name, bias, part[j]), SHARE(name "_picks", bias, picks[j]), {                                       \
        name "_answers", NUMBER, AT(bias, answers[j])                                                        \
    }
static const member bias_members[] = {
    {"items", COUNT, AT(bias, items)},
    {"groups", COUNT, AT(bias, groups)},
    {"infinite", COUNT, AT(bias, infinite)},
    {"verdict", TEXT, AT(bias, verdict)},
    {"found", FOUND, 0},
    PART("knowledge", LG_PROBE_KNOWLEDGE),
    PART("recency", LG_PROBE_RECENCY),
    PART("position", LG_PROBE_POSITION),
    PART("identity", LG_PROBE_IDENTITY),
    PART("frequency", LG_PROBE_FREQUENCY),
    PART("primacy", LG_PROBE_PRIMACY),
    {"weights", WEIGHTS, AT(bias, by_cells)},
    {"overlap", NUMBER, AT(bias, overlap)},
    {"option", TEXT, AT(bias, option)},
    {"other_option", TEXT, AT(bias, other_option)},
    {"note", TEXT, AT(bias, note)},
};
static const member pick_members[] = {
    {"by", TEXT, AT(pick, by)},
    {"level", TEXT, AT(pick, level)},
    SHARE("picked", pick, share),
    {"answer", NUMBER, AT(pick, answer)},
};
static const member baseline_members[] = {
    {"baseline", TEXT, AT(baseline, baseline)},
    SHARE("baseline_accuracy", baseline, accuracy),
    SHARE("model_accuracy", baseline, model_accuracy),
    SHARE("agreement", baseline, agreement),
    SHARE("model_accuracy_wrong", baseline, model_accuracy_wrong),
    SHARE("agreement_wrong", baseline, agreement_wrong),
};

/* The I-th of each list, and what it is about. */
static const void *row_at(const lg_probe_results *r, size_t i) {
    return lg_probe_row_at(r, i);
}
static const void *pair_at(const lg_probe_results *r, size_t i) {
    return lg_probe_pair_at(r, i);
}
static const void *bias_at(const lg_probe_results *r, size_t i) {
    return lg_probe_bias_at(r, i);
}
static const void *pick_at(const lg_probe_results *r, size_t i) {
    return lg_probe_pick_at(r, i);
}
static const void *baseline_at(const lg_probe_results *r, size_t i) {
    return lg_probe_baseline_at(r, i);
}

_Static_assert(AT(row, at) == 0 && AT(pair, at) == 0 && AT(bias, at) == 0 && AT(pick, at) == 0 &&
                   AT(baseline, at) == 0,
               "every row begins with its place");

typedef struct list {
    const char *name;
    const member *members;
    size_t n_members;
    size_t (*count)(const lg_probe_results *);
    const void *(*at)(const lg_probe_results *, size_t); /* begins with a lg_probe_place */
} list;

#define MEMBERS(members) members, sizeof members / sizeof *members

static const list lists[LG_N_PROBE_LISTS] = {
    [LG_PROBE_ROWS] = {"rows", MEMBERS(row_members), lg_probe_n_rows, row_at},
    [LG_PROBE_PAIRS] = {"pairs", MEMBERS(pair_members), lg_probe_n_pairs, pair_at},
    [LG_PROBE_BIAS] = {"bias", MEMBERS(bias_members), lg_probe_n_biases, bias_at},
    [LG_PROBE_PICKS] = {"picks", MEMBERS(pick_members), lg_probe_n_picks, pick_at},
    [LG_PROBE_BASELINES] = {"baselines", MEMBERS(baseline_members), lg_probe_n_baselines, baseline_at},
};

static lg_status hand_over(lg_text *out, char **text, size_t *length, lg_error *error) {
    if (out->failed) {
        lg_text_free(out);
        return lg_fail_memory(error);
    }
    *text = out->data;
    *length = out->length;
    return LG_OK;
}

/* "*": all cells; so a cell that is called so gets quotes. */
static const char *shown_cell(const char *cell) {
    return !cell ? "*" : strcmp(cell, "*") ? cell : "'*'";
}

/* "recency -position": what was found, those below 0 with a minus. */
static void put_found(lg_text *out, const lg_probe_bias *bias) {
    for (size_t i = 0; i < bias->n_found; i++)
        lg_text_printf(out, "%s%s%s", i ? " " : "", bias->found[i] < 0 ? "-" : "",
                       lg_probe_part_name((lg_probe_part)(abs(bias->found[i]) - 1)));
}

static void put_member(lg_json_writer *w, const member *m, const void *row) {
    const char *at = (const char *)row + m->offset;
    lg_text found = {0};
    lg_json_put_key(w, m->name);
    switch (m->kind) {
    case COUNT:
        lg_json_put_unsigned(w, *(const uint64_t *)at);
        break;
    case NUMBER:
        lg_json_put_double(w, *(const double *)at); /* NAN: null */
        break;
    case TEXT:
        lg_json_put_text(w, *(const char *const *)at);
        break;
    case WEIGHTS:
        lg_json_put_text(w, *(const bool *)at ? "cells" : "items");
        break;
    case FOUND:
        put_found(&found, row);
        lg_json_put_text(w, found.data ? found.data : "");
        if (found.failed) w->out->failed = true;
        lg_text_free(&found);
    }
}

static void put_field(lg_csv *csv, const member *m, const void *row) {
    const char *at = (const char *)row + m->offset;
    lg_text found = {0};
    switch (m->kind) {
    case COUNT:
        lg_csv_put_unsigned(csv, *(const uint64_t *)at);
        break;
    case NUMBER:
        lg_csv_put_double(csv, *(const double *)at);
        break;
    case TEXT:
        lg_csv_put(csv, *(const char *const *)at);
        break;
    case WEIGHTS:
        lg_csv_put(csv, *(const bool *)at ? "cells" : "items");
        break;
    case FOUND:
        put_found(&found, row);
        lg_csv_put(csv, found.data ? found.data : "");
        if (found.failed) csv->out->failed = true;
        lg_text_free(&found);
    }
}

/* A row on a line, for diff and for eyes. */
static void put_row(lg_text *out, const list *l, const void *row) {
    const lg_probe_place *at = row;
    lg_json_writer w = {.out = out};
    lg_json_put_object(&w);
    if (l->at == pair_at) {
        lg_json_put_key(&w, "model_a");
        lg_json_put_text(&w, ((const lg_probe_pair *)row)->model_a);
    }
    lg_json_put_key(&w, l->at == pair_at ? "model_b" : "model");
    lg_json_put_text(&w, at->model);
    lg_json_put_key(&w, "probe");
    lg_json_put_text(&w, at->probe);
    lg_json_put_key(&w, "distance");
    if (at->all_distances) lg_json_put_null(&w);
    else lg_json_put_unsigned(&w, at->distance);
    lg_json_put_key(&w, "cell");
    lg_json_put_text(&w, shown_cell(at->cell));
    for (size_t m = 0; m < l->n_members; m++) put_member(&w, &l->members[m], row);
    lg_json_end_object(&w);
}

lg_status lg_probe_json(const lg_probe_results *r, char **text, size_t *length, lg_error *error) {
    lg_text out = {0};
    lg_json_writer w = {.out = &out};
    const char *provenance = lg_probe_provenance(r);
    lg_json_put_object(&w);
    lg_json_put_key(&w, "format");
    lg_json_put_text(&w, "probe");
    lg_json_put_key(&w, "version");
    lg_json_put_unsigned(&w, VERSION);
    lg_json_put_key(&w, "sign");
    lg_json_put_text(&w, LG_PROBE_SIGN);
    lg_json_put_key(&w, "provenance");
    lg_json_put_raw(&w, provenance, strlen(provenance));
    for (size_t l = 0; l < LG_N_PROBE_LISTS; l++) {
        lg_json_put_key(&w, lists[l].name);
        lg_json_put_raw(&w, "[", 1);
        size_t n = lists[l].count(r);
        for (size_t i = 0; i < n; i++) {
            lg_text_puts(&out, i ? ",\n" : "\n");
            put_row(&out, &lists[l], lists[l].at(r, i));
        }
        lg_text_puts(&out, "\n]");
    }
    lg_json_end_object(&w);
    lg_text_puts(&out, "\n");
    return hand_over(&out, text, length, error);
}

lg_status lg_probe_csv(const lg_probe_results *r, lg_probe_list which, char **text, size_t *length,
                       lg_error *error) {
    lg_text out = {0};
    lg_csv csv = {.out = &out};
    const list *l = &lists[which];
    bool pairs = l->at == pair_at;
    if (pairs) lg_csv_put(&csv, "model_a");
    lg_csv_put(&csv, pairs ? "model_b" : "model");
    lg_csv_put(&csv, "probe");
    lg_csv_put(&csv, "distance");
    lg_csv_put(&csv, "cell");
    for (size_t m = 0; m < l->n_members; m++) lg_csv_put(&csv, l->members[m].name);
    lg_csv_end_row(&csv);
    for (size_t i = 0; i < l->count(r); i++) {
        const void *row = l->at(r, i);
        const lg_probe_place *at = row;
        if (pairs) lg_csv_put(&csv, ((const lg_probe_pair *)row)->model_a);
        lg_csv_put(&csv, at->model);
        lg_csv_put(&csv, at->probe);
        if (at->all_distances) lg_csv_put(&csv, NULL);
        else lg_csv_put_unsigned(&csv, at->distance);
        lg_csv_put(&csv, shown_cell(at->cell));
        for (size_t m = 0; m < l->n_members; m++) put_field(&csv, &l->members[m], row);
        lg_csv_end_row(&csv);
    }
    return hand_over(&out, text, length, error);
}
