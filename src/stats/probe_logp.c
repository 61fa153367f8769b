/* Log-probabilities of choices in files: {"id", "model", "logp", "tokens", "left_out"} lines, from here or
   from other programs. */
#include "stats/probe_logp.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"

/* A log-probability may come out so far above 0, from sums of rounded numbers. */
#define ABOVE_ZERO 1e-3

enum { MOST_MODELS = 1000 };

static const char *const reasons[] = {NULL, "straddles", "too_long", "not_meant", NULL}; /* by outcome */

typedef struct reader {
    const lg_probe_items *items;
    size_t n_items;
    size_t *first_choice; /* [n_items + 1] */
    size_t *sorted;       /* [n_items] items by id */
    lg_probe_scores *scores;
    uint64_t **lines; /* [n_models][n_items] where an item's line is, 0: nowhere */
    size_t n_models, scores_room, lines_room;
    size_t next, model; /* guesses: the item after the last one, the same model */
    /* one line */
    lg_text id, name, scratch, where;
    double *logp;
    uint32_t *tokens;
    size_t n_logp, n_tokens, logp_room, tokens_room;
    bool has_id, has_model, has_logp, has_tokens, has_null;
    int left_out; /* an outcome; -1: not said */
} reader;

static void free_scores(lg_probe_scores *scores, size_t n) {
    for (size_t m = 0; m < n; m++) {
        free((char *)scores[m].model);
        free(scores[m].logp);
        free(scores[m].tokens);
        free(scores[m].outcome);
    }
    free(scores);
}

void lg_probe_logp_free(lg_probe_scores *scores, size_t n_models) {
    if (scores) free_scores(scores, n_models);
}

/* ---- items by id ---- */

static int by_id(const void *a, const void *b, void *context) {
    const reader *r = context;
    return strcmp(lg_probe_item_at(r->items, *(const size_t *)a)->id,
                  lg_probe_item_at(r->items, *(const size_t *)b)->id);
}

/* The item called ID; n_items: none. Files mostly have the order of the items. */
static size_t find_item(const reader *r, const char *id) {
    if (r->next < r->n_items && !strcmp(lg_probe_item_at(r->items, r->next)->id, id)) return r->next;
    size_t low = 0, high = r->n_items;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(id, lg_probe_item_at(r->items, r->sorted[middle])->id);
        if (!order) return r->sorted[middle];
        if (order < 0) high = middle;
        else low = middle + 1;
    }
    return r->n_items;
}

/* ---- models ---- */

/* The model called r->name, which is new if need be; false: complained, or no memory (then *FAILED). */
static bool find_model(reader *r, lg_json *json, size_t *model, bool *failed) {
    if (r->n_models && !strcmp(r->scores[r->model].model, r->name.data)) {
        *model = r->model;
        return true;
    }
    for (*model = 0; *model < r->n_models; ++*model)
        if (!strcmp(r->scores[*model].model, r->name.data)) return true;
    if (r->n_models == MOST_MODELS)
        return lg_json_complain(json, "more than %d models: is \"model\" the model's name?", MOST_MODELS);
    size_t n_choices = r->first_choice[r->n_items];
    *failed = true;
    if (!lg_reserve(&r->scores, &r->scores_room, r->n_models + 1, sizeof *r->scores) ||
        !lg_reserve(&r->lines, &r->lines_room, r->n_models + 1, sizeof *r->lines))
        return false;
    lg_probe_scores s = {.model = strdup(r->name.data),
                         .logp = lg_alloc(n_choices, sizeof *s.logp),
                         .tokens = calloc(n_choices ? n_choices : 1, sizeof *s.tokens),
                         .outcome = lg_alloc(r->n_items, 1)};
    uint64_t *lines = calloc(r->n_items ? r->n_items : 1, sizeof *lines);
    if (!s.model || !s.logp || !s.tokens || !s.outcome || !lines) {
        free((char *)s.model);
        free(s.logp);
        free(s.tokens);
        free(s.outcome);
        free(lines);
        return false;
    }
    for (size_t i = 0; i < n_choices; i++) s.logp[i] = NAN;
    memset(s.outcome, LG_PROBE_MISSING, r->n_items);
    r->lines[r->n_models] = lines;
    r->scores[r->n_models++] = s;
    *failed = false;
    return true;
}

/* ---- lines ---- */

static bool skip_word(lg_json *json, const char *word) {
    size_t length = strlen(word);
    if ((size_t)(json->end - json->at) < length || memcmp(json->at, word, length)) return false;
    json->at += length;
    return true;
}

/* One log-probability; NAN for null. Python writes -Infinity, which is no JSON. */
static bool read_logp(lg_json *json, double *value) {
    lg_string word;
    *value = -INFINITY;
    if (skip_word(json, "-Infinity")) return true;
    switch (lg_json_peek(json)) {
    case LG_JSON_NULL:
        *value = NAN;
        return lg_json_null(json);
    case LG_JSON_STRING:
        if (!lg_json_string(json, &word)) return false;
        return lg_string_is(word, "-inf") ||
               lg_json_complain(json, "a log-probability is a number, null or \"-inf\"");
    default:
        if (!lg_json_number(json, value)) return false;
        return *value <= ABOVE_ZERO ||
               lg_json_complain(json, "%g is no log-probability: those are at most 0", *value);
    }
}

/* false: complained, or no memory (then *FAILED). */
static bool read_list(reader *r, lg_json *json, bool *failed) {
    r->has_logp = true;
    if (lg_json_peek(json) == LG_JSON_NULL) {
        r->has_null = true;
        return lg_json_null(json);
    }
    lg_json_array(json);
    while (lg_json_element(json)) {
        double value;
        if (!read_logp(json, &value)) return false;
        if (!lg_reserve(&r->logp, &r->logp_room, r->n_logp + 1, sizeof *r->logp)) {
            *failed = true;
            return false;
        }
        r->has_null |= isnan(value) != 0;
        r->logp[r->n_logp++] = value;
    }
    return !json->failed;
}

static bool read_tokens(reader *r, lg_json *json, bool *failed) {
    if (lg_json_peek(json) == LG_JSON_NULL) return lg_json_null(json);
    r->has_tokens = true;
    lg_json_array(json);
    while (lg_json_element(json)) {
        uint64_t count = 0;
        if (lg_json_peek(json) == LG_JSON_NULL) { /* of a choice without log-probability */
            if (!lg_json_null(json)) return false;
        } else if (!lg_json_unsigned(json, &count)) return false;
        else if (!count || count > UINT32_MAX)
            return lg_json_complain(json, "%" PRIu64 " tokens: a choice has one or more", count);
        if (!lg_reserve(&r->tokens, &r->tokens_room, r->n_tokens + 1, sizeof *r->tokens)) {
            *failed = true;
            return false;
        }
        r->tokens[r->n_tokens++] = (uint32_t)count;
    }
    return !json->failed;
}

static bool read_id(reader *r, lg_json *json) {
    lg_string string;
    r->has_id = true;
    if (lg_json_peek(json) == LG_JSON_STRING) {
        lg_json_writer w = {.out = &r->id};
        if (!lg_json_string(json, &string)) return false;
        lg_json_put_string(&w, string.data, string.length);
        return true;
    }
    if (lg_json_peek(json) != LG_JSON_INTEGER)
        return lg_json_complain(json, "an id is a string or a whole number");
    const char *begin = json->at;
    while (*begin == ' ' || *begin == '\t' || *begin == '\r') begin++;
    if (!lg_json_skip(json)) return false;
    lg_text_put(&r->id, begin, (size_t)(json->at - begin));
    return true;
}

static bool read_model(reader *r, lg_json *json) {
    lg_string string;
    r->has_model = true;
    if (!lg_json_string(json, &string)) return false;
    if (!string.length || memchr(string.data, 0, string.length))
        return lg_json_complain(json, "\"model\" must be a name, without U+0000");
    lg_text_put(&r->name, string.data, string.length);
    return true;
}

static bool read_reason(reader *r, lg_json *json) {
    lg_string string;
    if (lg_json_peek(json) == LG_JSON_NULL) return lg_json_null(json);
    if (!lg_json_string(json, &string)) return false;
    for (int i = LG_PROBE_STRADDLES; i <= LG_PROBE_NOT_MEANT; i++)
        if (lg_string_is(string, reasons[i])) r->left_out = i;
    return r->left_out > 0 ||
           lg_json_complain(json, "\"left_out\" must be \"straddles\", \"too_long\" or \"not_meant\"");
}

/* What the line says goes to the scores. */
static bool use_line(reader *r, lg_json *json, uint64_t number, bool *failed) {
    if (!r->has_id) return lg_json_complain(json, "no \"id\": it must name an item");
    if (!r->has_model) return lg_json_complain(json, "no \"model\"");
    if (!r->has_logp)
        return lg_json_complain(json, "no \"logp\": a list of the choices' log-probabilities, or null");
    size_t i = find_item(r, r->id.data), m;
    if (i == r->n_items)
        return lg_json_complain(
            json, "no item has the id %.80s: are these the log-probabilities of other items?", r->id.data);
    const lg_probe_item *item = lg_probe_item_at(r->items, i);
    if (!find_model(r, json, &m, failed)) return false;
    if (r->lines[m][i])
        return lg_json_complain(json, "item %.80s under %.80s a second time, it is also in line %" PRIu64,
                                item->id, r->name.data, r->lines[m][i]);
    if (r->n_logp && r->n_logp != item->n_choices)
        return lg_json_complain(json, "%zu log-probabilities, but item %.80s has %zu choices", r->n_logp,
                                item->id, item->n_choices);
    if (!r->n_logp && !r->has_null)
        return lg_json_complain(json, "an empty list, but item %.80s has %zu choices", item->id,
                                item->n_choices);
    if (r->has_tokens && r->n_tokens != item->n_choices)
        return lg_json_complain(json, "tokens of %zu choices, but item %.80s has %zu", r->n_tokens, item->id,
                                item->n_choices);
    if (r->left_out > 0 && !r->has_null)
        return lg_json_complain(json, "left out, but with log-probabilities: one of them is wrong");
    lg_probe_scores *s = &r->scores[m];
    r->lines[m][i] = number;
    r->next = i + 1;
    r->model = m;
    s->outcome[i] = (uint8_t)(!r->has_null      ? LG_PROBE_SCORED
                              : r->left_out > 0 ? r->left_out
                                                : LG_PROBE_MISSING);
    if (!r->n_logp) return true; /* null, and not a list of them */
    double *logp = s->logp + r->first_choice[i];
    uint32_t *tokens = s->tokens + r->first_choice[i];
    memcpy(logp, r->logp, item->n_choices * sizeof *logp);
    if (r->has_tokens) memcpy(tokens, r->tokens, item->n_choices * sizeof *tokens);
    for (size_t c = 0; c < item->n_choices; c++) {
        if (isnan(logp[c])) tokens[c] = 0;
        else if (r->has_tokens && !tokens[c])
            return lg_json_complain(json, "a log-probability of a choice whose \"tokens\" are null");
    }
    return true;
}

static bool is_blank(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (text[i] != ' ' && text[i] != '\t' && text[i] != '\r') return false;
    return true;
}

static bool read_member(reader *r, lg_json *json, bool *failed) {
    static const char *const names[] = {"id", "model", "logp", "tokens", "left_out"};
    lg_string key;
    if (!lg_json_key(json, &key)) return false;
    size_t which = 0;
    while (which < 5 && !lg_string_is(key, names[which])) which++;
    const bool seen[] = {r->has_id, r->has_model, r->has_logp, r->has_tokens, r->left_out > 0, false};
    if (seen[which]) return lg_json_complain(json, "\"%s\" twice", names[which]);
    switch (which) {
    case 0:
        return read_id(r, json);
    case 1:
        return read_model(r, json);
    case 2:
        return read_list(r, json, failed);
    case 3:
        return read_tokens(r, json, failed);
    case 4:
        return read_reason(r, json);
    default:
        return lg_json_skip(json);
    }
}

static lg_status read_line(reader *r, const char *text, size_t length, const char *file, uint64_t number,
                           lg_error *error) {
    lg_json json;
    bool failed = false;
    r->id.length = r->name.length = r->where.length = 0;
    r->n_logp = r->n_tokens = 0;
    r->has_id = r->has_model = r->has_logp = r->has_tokens = r->has_null = false;
    r->left_out = -1;
    lg_text_printf(&r->where, "%s: line %" PRIu64, file, number);
    if (r->where.failed) return lg_fail_memory(error);
    lg_json_start(&json, text, length, r->where.data, &r->scratch, error);
    lg_json_object(&json);
    while (read_member(r, &json, &failed)) continue;
    if (failed || r->id.failed || r->name.failed) return lg_fail_memory(error);
    lg_status status = lg_json_done(&json);
    if (!status && !use_line(r, &json, number, &failed))
        status = failed ? lg_fail_memory(error) : json.status;
    return status;
}

lg_status lg_probe_logp_parse(const char *text, size_t length, const char *name, const lg_probe_items *items,
                              lg_probe_scores **scores, size_t *n_models, lg_error *error) {
    size_t n = lg_probe_n_items(items);
    reader r = {.items = items, .n_items = n};
    lg_status status = LG_OK;
    *scores = NULL;
    *n_models = 0;
    r.first_choice = lg_alloc(n + 1, sizeof *r.first_choice);
    r.sorted = lg_alloc(n, sizeof *r.sorted);
    if (!r.first_choice || !r.sorted) {
        status = lg_fail_memory(error);
        goto done;
    }
    r.first_choice[0] = 0;
    for (size_t i = 0; i < n; i++) {
        r.first_choice[i + 1] = r.first_choice[i] + lg_probe_item_at(items, i)->n_choices;
        r.sorted[i] = i;
    }
    qsort_r(r.sorted, n, sizeof *r.sorted, by_id, &r);
    uint64_t number = 0;
    for (size_t at = 0; at < length && !status;) {
        const char *newline = memchr(text + at, '\n', length - at);
        size_t end = newline ? (size_t)(newline - text) : length;
        number++;
        if (!is_blank(text + at, end - at)) status = read_line(&r, text + at, end - at, name, number, error);
        at = newline ? end + 1 : end;
    }
    if (!status && !r.n_models)
        status = lg_fail(error, LG_BAD_INPUT, "%s: empty: no log-probabilities to evaluate", name);
done:
    for (size_t m = 0; m < r.n_models; m++) free(r.lines[m]);
    free(r.lines);
    free(r.first_choice);
    free(r.sorted);
    free(r.logp);
    free(r.tokens);
    lg_text_free(&r.id);
    lg_text_free(&r.name);
    lg_text_free(&r.scratch);
    lg_text_free(&r.where);
    if (status) {
        free_scores(r.scores, r.n_models);
        return status;
    }
    *scores = r.scores;
    *n_models = r.n_models;
    return LG_OK;
}

lg_status lg_probe_logp_read(const char *path, const lg_probe_items *items, lg_probe_scores **scores,
                             size_t *n_models, lg_error *error) {
    lg_mapping file;
    *scores = NULL;
    *n_models = 0;
    lg_status status = lg_map(path, &file, error);
    if (status) return status;
    status = lg_probe_logp_parse((const char *)file.data, file.size, path, items, scores, n_models, error);
    lg_unmap(&file);
    return status;
}

/* ---- writing ---- */

static void put_line(lg_text *out, const lg_probe_item *item, const lg_probe_scores *s, size_t i,
                     size_t first) {
    lg_json_writer w = {.out = out};
    lg_json_put_object(&w);
    lg_json_put_key(&w, "id");
    lg_json_put_raw(&w, item->id, strlen(item->id));
    lg_json_put_key(&w, "model");
    lg_json_put_text(&w, s->model);
    lg_json_put_key(&w, "logp");
    /* An item may be left out for some of its choices: the others' values stand there all the same. */
    bool tokens = s->tokens, any = false;
    lg_json_put_array(&w);
    for (size_t c = first; c < first + item->n_choices; c++) {
        if (isinf(s->logp[c])) lg_json_put_text(&w, "-inf");
        else lg_json_put_double(&w, s->logp[c]); /* NAN: null */
        any = any || !isnan(s->logp[c]);
        tokens = tokens && (s->tokens[c] || isnan(s->logp[c]));
    }
    lg_json_end_array(&w);
    if (tokens && any) {
        lg_json_put_key(&w, "tokens");
        lg_json_put_array(&w);
        for (size_t c = first; c < first + item->n_choices; c++) {
            if (isnan(s->logp[c])) lg_json_put_null(&w);
            else lg_json_put_unsigned(&w, s->tokens[c]);
        }
        lg_json_end_array(&w);
    }
    if (s->outcome[i] != LG_PROBE_SCORED) {
        lg_json_put_key(&w, "left_out");
        lg_json_put_text(&w, reasons[s->outcome[i]]);
    }
    lg_json_end_object(&w);
    lg_text_put(out, "\n", 1);
}

lg_status lg_probe_logp_write(const char *path, const lg_probe_items *items, const lg_probe_scores *scores,
                              size_t n_models, lg_error *error) {
    lg_text out = {0};
    for (size_t m = 0; m < n_models; m++)
        for (size_t i = 0, first = 0; i < lg_probe_n_items(items); i++) {
            const lg_probe_item *item = lg_probe_item_at(items, i);
            if (scores[m].outcome[i] < LG_PROBE_MISSING) put_line(&out, item, &scores[m], i, first);
            first += item->n_choices;
        }
    lg_status status =
        out.failed ? lg_fail_memory(error) : lg_write_file(path, out.data ? out.data : "", out.length, error);
    lg_text_free(&out);
    return status;
}
