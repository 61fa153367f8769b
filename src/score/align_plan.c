/* What is aligned: whether sources fit together, and what the results say of them. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "score/align_internal.h"

/* Raised when the same sources begin to give other spans or numbers. */
enum { ENGINE = 1 };

static const char *identity_of(const lg_table *table) {
    const char *identity = lg_table_provenance(table)->identity;
    return identity ? identity : "";
}

/* ---- fitness ---- */

static lg_status check_source(const lg_align_source *source, lg_error *error) {
    const lg_dataset *d = source->data;
    const lg_scores *s = source->scores;
    const char *data = lg_table_path(d->table), *scores = s ? lg_table_path(s->table) : "";
    if (d->spans)
        return lg_fail(error, LG_BAD_INPUT,
                       "%s holds spans already: align the dataset that the model's own tokenizer made", data);
    if (!d->has_text)
        return lg_fail(error, LG_BAD_INPUT,
                       "%s came already tokenised, without text: there are no bytes to find spans in; "
                       "tokenize the text itself",
                       data);
    if (!s) return LG_OK;
    if (s->tokens)
        return lg_fail(error, LG_BAD_INPUT, "%s holds losses over spans already: align those over tokens",
                       scores);
    if (s->windows != LG_WINDOWS_DOCUMENT)
        return lg_fail(error, LG_BAD_INPUT,
                       "%s was scored in paper windows: these are cut by the model's own tokens, so that two "
                       "tokenizers see different documents before a span; score with --windows document",
                       scores);
    if (s->n_tokens != d->n_tokens)
        return lg_fail(error, LG_BAD_INPUT, "%s has %zu tokens, %s %zu: they do not belong together", scores,
                       s->n_tokens, data, d->n_tokens);
    return LG_OK;
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

lg_status lg_align_plan_make(const lg_align_source *sources, size_t n, lg_align_plan *p, lg_error *error) {
    *p = (lg_align_plan){.sources = sources, .n = n};
    if (n < 2)
        return lg_fail(error, LG_USAGE, "there is nothing to align: give scores of two models at least");
    for (size_t i = 0; i < n; i++) {
        lg_status status = check_source(&sources[i], error);
        if (status) return status;
        if (!sources[i].scores != !sources[0].scores)
            return lg_fail(error, LG_USAGE, "either all sources of an alignment have scores, or none");
    }
    p->n_scores = sources[0].scores ? n : 0;
    p->data = lg_alloc(n, sizeof *p->data);
    p->track_of = lg_alloc(n, sizeof *p->track_of);
    p->identities = lg_alloc(n, sizeof *p->identities);
    p->scores = lg_alloc(n, sizeof *p->scores);
    if (!p->data || !p->track_of || !p->identities || !p->scores) {
        lg_align_plan_free(p);
        return lg_fail_memory(error);
    }
    for (size_t i = 0; i < n; i++) {
        const char *identity = identity_of(sources[i].data->table);
        size_t t = 0;
        while (t < p->n_data && strcmp(p->identities[t], identity) != 0) t++;
        if (t == p->n_data) {
            p->data[t] = sources[i].data;
            p->identities[p->n_data++] = identity;
        }
        p->track_of[i] = t;
        if (p->n_scores) p->scores[i] = identity_of(sources[i].scores->table);
    }
    qsort(p->identities, p->n_data, sizeof *p->identities, by_text);
    qsort(p->scores, p->n_scores, sizeof *p->scores, by_text);
    return LG_OK;
}

void lg_align_plan_free(lg_align_plan *p) {
    free(p->data);
    free(p->track_of);
    free(p->identities);
    free(p->scores);
    *p = (lg_align_plan){0};
}

static lg_string name_of(const lg_dataset *d, size_t doc) {
    size_t begin = (size_t)lg_begin_of(d->doc_name_end, doc);
    return (lg_string){d->doc_name + begin, (size_t)d->doc_name_end[doc] - begin};
}

static lg_string text_of(const lg_dataset *d, size_t doc) {
    size_t begin = (size_t)lg_begin_of(d->doc_text_end, doc);
    return (lg_string){d->text + begin, (size_t)d->doc_text_end[doc] - begin};
}

static bool same(lg_string a, lg_string b) {
    return a.length == b.length && (!a.length || memcmp(a.data, b.data, a.length) == 0);
}

static int shown(lg_string name) {
    return name.length < 200 ? (int)name.length : 200;
}

static lg_status check_document(const lg_dataset *a, const lg_dataset *b, size_t doc, lg_error *error) {
    const char *one = lg_table_path(a->table), *other = lg_table_path(b->table), *differs = NULL;
    lg_string name = name_of(a, doc), named = name_of(b, doc), text = text_of(a, doc), with = text_of(b, doc);
    if (!same(name, named))
        return lg_fail(
            error, LG_BAD_INPUT,
            "document %zu is '%.*s' in %s and '%.*s' in %s: spans need the same documents in the same "
            "order",
            doc, shown(name), name.data, one, shown(named), named.data, other);
    if (a->doc_kind[doc] != b->doc_kind[doc]) differs = "kind";
    if (strcmp(a->domains[a->doc_domain[doc]], b->domains[b->doc_domain[doc]]) != 0) differs = "domain";
    if (differs)
        return lg_fail(error, LG_BAD_INPUT, "document '%.*s' has another %s in %s than in %s", shown(name),
                       name.data, differs, other, one);
    if (same(text, with)) return LG_OK;
    size_t at = 0;
    while (at < text.length && at < with.length && text.data[at] == with.data[at]) at++;
    return lg_fail(error, LG_BAD_INPUT,
                   "document '%.*s' is not the same text in %s and %s: they differ from byte %zu on",
                   shown(name), name.data, one, other, at);
}

lg_status lg_align_check_texts(const lg_align_plan *p, lg_error *error) {
    for (size_t t = 1; t < p->n_data; t++) {
        const lg_dataset *a = p->data[0], *b = p->data[t];
        size_t least = a->n_docs < b->n_docs ? a->n_docs : b->n_docs;
        for (size_t doc = 0; doc < least; doc++) {
            lg_status status = check_document(a, b, doc, error);
            if (status) return status;
        }
        if (a->n_docs != b->n_docs)
            return lg_fail(error, LG_BAD_INPUT,
                           "%s has %zu documents, %s %zu: spans need the same documents in the same order",
                           lg_table_path(a->table), a->n_docs, lg_table_path(b->table), b->n_docs);
    }
    for (size_t t = 0; t < p->n_data; t++) {
        const lg_dataset *d = p->data[t];
        for (size_t doc = 0; doc < d->n_docs; doc++) {
            lg_string name = name_of(d, doc);
            if (!text_of(d, doc).length && d->doc_token_end[doc] > lg_begin_of(d->doc_token_end, doc))
                return lg_fail(error, LG_BAD_INPUT,
                               "%s: document '%.*s' has tokens but no bytes: no span can hold them",
                               lg_table_path(d->table), shown(name), name.data);
        }
    }
    return LG_OK;
}

/* ---- provenance ---- */

static void put_list(lg_json_writer *w, const char *key, const char *const *list, size_t n) {
    lg_json_put_key(w, key);
    lg_json_put_array(w);
    for (size_t i = 0; i < n; i++) lg_json_put_text(w, list[i]);
    lg_json_end_array(w);
}

static void put_member(lg_json_writer *w, const char *key, const char *value) {
    lg_json_put_key(w, key);
    lg_json_put_text(w, value);
}

/* Numbers of types mean nothing outside these spans, so no other dataset has the same "tokenizer". */
void lg_align_put_data_inputs(const lg_align_plan *p, lg_text *out) {
    lg_text all = {0};
    char hash[33] = "";
    lg_text_puts(&all, "lossgap spans of");
    for (size_t t = 0; t < p->n_data; t++) lg_text_printf(&all, " %s", p->identities[t]);
    if (all.failed) out->failed = true;
    else lg_hash_hex(lg_hash_of(all.data, all.length), hash);
    lg_text_free(&all);
    lg_json_writer w = {.out = out};
    lg_json_put_object(&w);
    put_member(&w, "tokenizer", hash);
    put_list(&w, "datasets", p->identities, p->n_data);
    lg_json_end_object(&w);
}

void lg_align_put_data_settings(const lg_align_plan *p, lg_text *out) {
    const lg_dataset *d = p->data[0];
    lg_json_writer w = {.out = out};
    lg_json_put_object(&w);
    put_list(&w, "domains", (const char *const *)d->domains, d->n_domains);
    lg_json_put_key(&w, "input_ids");
    lg_json_put_bool(&w, false);
    put_member(&w, "unit", "span");
    lg_json_put_key(&w, "engine");
    lg_json_put_unsigned(&w, ENGINE);
    lg_json_end_object(&w);
}

void lg_align_put_score_inputs(const lg_align_plan *p, size_t m, const char *dataset, const char *tokens,
                               lg_text *out) {
    const lg_scores *s = p->sources[m].scores;
    lg_json_writer w = {.out = out};
    lg_json_put_object(&w);
    if (s->model[0]) put_member(&w, "model", s->model);
    put_member(&w, "dataset", dataset);
    put_member(&w, "tokens", tokens);
    put_member(&w, "scores", identity_of(s->table));
    put_list(&w, "aligned", p->scores, p->n_scores); /* where one has no loss, none has */
    lg_json_end_object(&w);
}

bool lg_align_put_score_settings(const lg_align_plan *p, size_t m, lg_text *out) {
    const lg_scores *s = p->sources[m].scores;
    const lg_score_settings settings = {.name = s->model_name,
                                        .model = s->model[0] ? s->model : NULL,
                                        .precision = s->precision,
                                        .windows = {.kind = LG_WINDOWS_DOCUMENT},
                                        .spans = true,
                                        .of = lg_table_provenance(s->table)->settings};
    return lg_score_put_settings(&settings, out);
}

/* ---- is it there? ---- */

/* Whether PATH is a table of FORMAT with these SETTINGS and INPUTS. What cannot be read is not. */
static lg_status look(const char *path, const char *format, const lg_text *settings, const lg_text *inputs,
                      lg_table **table, bool *same_one, lg_error *error) {
    lg_error unread = {0};
    *same_one = false;
    if (settings->failed || inputs->failed) return lg_fail_memory(error);
    lg_status status = lg_table_open(path, format, table, &unread);
    if (status == LG_BAD_INPUT) return LG_OK;
    if (status) {
        if (error) *error = unread;
        return status;
    }
    const lg_provenance *p = lg_table_provenance(*table);
    *same_one = strcmp(p->settings, settings->data) == 0 && strcmp(p->inputs, inputs->data) == 0;
    return LG_OK;
}

static lg_status look_at_scores(const lg_align_plan *p, size_t m, const char *path, const char *dataset,
                                const char *tokens, bool *current, lg_error *error) {
    lg_text settings = {0}, inputs = {0};
    lg_table *table = NULL;
    if (!lg_align_put_score_settings(p, m, &settings)) settings.failed = true;
    lg_align_put_score_inputs(p, m, dataset, tokens, &inputs);
    lg_status status = look(path, "scores", &settings, &inputs, &table, current, error);
    lg_table_close(table);
    lg_text_free(&settings);
    lg_text_free(&inputs);
    return status;
}

lg_status lg_align_data_is_current(const lg_align_plan *plan, const char *path, bool *current,
                                   lg_error *error) {
    lg_text settings = {0}, inputs = {0};
    lg_table *table = NULL;
    lg_align_put_data_settings(plan, &settings);
    lg_align_put_data_inputs(plan, &inputs);
    lg_status status = look(path, "dataset", &settings, &inputs, &table, current, error);
    lg_table_close(table);
    lg_text_free(&settings);
    lg_text_free(&inputs);
    if (status || !*current) return status;
    lg_dataset data; /* and it is not damaged */
    lg_error damaged = {0};
    status = lg_dataset_open(path, &data, &damaged);
    if (!status) lg_dataset_close(&data);
    *current = !status;
    if (status == LG_BAD_INPUT) return LG_OK;
    if (status && error) *error = damaged;
    return status;
}

lg_status lg_align_is_current(const lg_align_source *sources, size_t n, const char *data_out,
                              const char *const *scores_out, bool *current, lg_error *error) {
    lg_align_plan plan;
    lg_dataset data = {0};
    char tokens[33];
    *current = false;
    lg_status status = lg_align_plan_make(sources, n, &plan, error);
    if (status) return status;
    status = lg_align_data_is_current(&plan, data_out, current, error);
    if (!status && *current && plan.n_scores) {
        status = lg_dataset_open(data_out, &data, error);
        if (!status && !lg_score_tokens_identity(&data, tokens)) status = lg_fail_memory(error);
    }
    for (size_t m = 0; m < plan.n_scores && *current && !status; m++)
        status = look_at_scores(&plan, m, scores_out[m], identity_of(data.table), tokens, current, error);
    if (status) *current = false;
    lg_dataset_close(&data);
    lg_align_plan_free(&plan);
    return status;
}
