/* The score artefact: its settings, reading it (also to take rows over), writing it row by row. */
#include "score/artefact.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"

/* Raised when the same model and settings begin to give other bits, so that old rows are not mixed with new
 * ones. */
enum { ENGINE = 1 };

static const struct {
    const char *name;
    lg_dtype dtype;
    unsigned flag;
} columns[LG_SCORE_COLUMNS] = {
    {"nll", LG_F32, 0},
    {"entropy", LG_F32, LG_COLUMN_ENTROPY},
    {"rank", LG_U32, LG_COLUMN_RANK},
    {"top1", LG_U32, LG_COLUMN_TOP1},
};

const char *lg_precision_name(lg_precision precision) {
    return precision == LG_PRECISION_F32 ? "f32" : precision == LG_PRECISION_BF16 ? "bf16" : "auto";
}

const char *lg_windows_name(lg_windows windows) {
    return windows == LG_WINDOWS_PAPER ? "paper" : "document";
}

const char *lg_score_column_name(size_t i) {
    return columns[i].name;
}

lg_dtype lg_score_column_dtype(size_t i) {
    return columns[i].dtype;
}

bool lg_score_has_column(unsigned wanted, size_t i) {
    return i == 0 || (wanted & columns[i].flag);
}

unsigned lg_score_n_columns(unsigned wanted) {
    unsigned n = 0;
    for (size_t i = 0; i < LG_SCORE_COLUMNS; i++) n += lg_score_has_column(wanted, i);
    return n;
}

static uint32_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

uint32_t lg_score_missing(size_t i) {
    return columns[i].dtype == LG_F32 ? bits_of(NAN) : UINT32_MAX;
}

/* The settings as they are stored; WITH_NAME false: those that change numbers. */
static bool put_settings(const lg_score_settings *s, bool with_name, lg_text *out) {
    lg_json_writer w = {.out = out};
    lg_json_put_object(&w);
    if (with_name) {
        lg_json_put_key(&w, "model");
        lg_json_put_text(&w, s->name);
    }
    lg_json_put_key(&w, "source");
    lg_json_put_text(&w, s->spans ? "spans" : s->model ? "model" : "import");
    lg_json_put_key(&w, "precision");
    lg_json_put_text(&w, s->precision == LG_PRECISION_AUTO ? NULL : lg_precision_name(s->precision));
    if (s->model && !s->spans) {
        lg_json_put_key(&w, "isa");
        lg_json_put_text(&w, s->isa);
        lg_json_put_key(&w, "engine");
        lg_json_put_unsigned(&w, ENGINE);
    }
    lg_json_put_key(&w, "windows");
    lg_json_put_text(&w, lg_windows_name(s->windows.kind));
    lg_json_put_key(&w, "context");
    if (s->spans) lg_json_put_null(&w);
    else lg_json_put_unsigned(&w, s->windows.context);
    lg_json_put_key(&w, "stride");
    if (s->windows.stride && !s->spans) lg_json_put_unsigned(&w, s->windows.stride);
    else lg_json_put_null(&w);
    lg_json_put_key(&w, "prefix");
    if (s->windows.prefix >= 0 && !s->spans) lg_json_put_integer(&w, s->windows.prefix);
    else lg_json_put_null(&w);
    lg_json_put_key(&w, "columns");
    lg_json_put_array(&w);
    for (size_t i = 1; i < LG_SCORE_COLUMNS; i++)
        if (lg_score_has_column(s->columns, i)) lg_json_put_text(&w, columns[i].name);
    lg_json_end_array(&w);
    if (s->spans) {
        lg_json_put_key(&w, "of");
        if (s->of) lg_json_put_raw(&w, s->of, strlen(s->of));
        else lg_json_put_null(&w);
    }
    lg_json_end_object(&w);
    return !out->failed;
}

bool lg_score_put_settings(const lg_score_settings *settings, lg_text *out) {
    return put_settings(settings, true, out);
}

bool lg_score_settings_key(const lg_score_settings *settings, lg_hash *key) {
    lg_text text = {0};
    bool good = put_settings(settings, false, &text);
    lg_text_puts(&text, settings->model ? settings->model : "");
    good = good && !text.failed;
    if (good) *key = lg_hash_of(text.data, text.length);
    lg_text_free(&text);
    return good;
}

bool lg_score_tokens_identity(const lg_dataset *data, char hex[33]) {
    lg_hasher *hasher = lg_hasher_create();
    if (!hasher) return false;
    uint64_t n = data->n_docs;
    lg_hasher_add(hasher, &n, sizeof n);
    lg_hasher_add(hasher, data->doc_token_end, data->n_docs * sizeof *data->doc_token_end);
    lg_hasher_add(hasher, data->token_id, data->n_tokens * sizeof *data->token_id);
    lg_hash_hex(lg_hasher_value(hasher), hex);
    lg_hasher_free(hasher);
    return true;
}

/* Reading */

static const char *string_or(const lg_json_value *value, const char *otherwise) {
    return value && value->type == LG_JSON_STRING ? value->string : otherwise;
}

static bool whole(const lg_json_value *value, uint64_t most) {
    return value && value->type == LG_JSON_INTEGER && value->integer >= 0 && (uint64_t)value->integer <= most;
}

static bool is_null(const lg_json_value *value) {
    return value && value->type == LG_JSON_NULL;
}

/* Reads what put_settings wrote. Returns what is wrong, or NULL. */
static const char *read_settings(const lg_json_value *json, lg_score_settings *s) {
    const lg_json_value *context = lg_json_get(json, "context"), *stride = lg_json_get(json, "stride"),
                        *prefix = lg_json_get(json, "prefix"), *names = lg_json_get(json, "columns");
    const char *windows = string_or(lg_json_get(json, "windows"), "");
    const char *precision = string_or(lg_json_get(json, "precision"), "auto");
    s->name = string_or(lg_json_get(json, "model"), NULL);
    if (!s->name) return "model";
    s->isa = string_or(lg_json_get(json, "isa"), NULL);
    s->precision = !strcmp(precision, "f32")    ? LG_PRECISION_F32
                   : !strcmp(precision, "bf16") ? LG_PRECISION_BF16
                                                : LG_PRECISION_AUTO;
    if (strcmp(precision, lg_precision_name(s->precision)) != 0) return "precision";
    s->windows.kind = !strcmp(windows, "paper") ? LG_WINDOWS_PAPER : LG_WINDOWS_DOCUMENT;
    if (strcmp(windows, lg_windows_name(s->windows.kind)) != 0) return "windows";
    s->spans = strcmp(string_or(lg_json_get(json, "source"), ""), "spans") == 0;
    if (s->spans) { /* each model had its own windows and prefix: they stand in "of" */
        s->windows.context = UINT32_MAX;
        s->windows.prefix = LG_PREFIX_NONE;
        return s->windows.kind == LG_WINDOWS_DOCUMENT ? NULL : "windows";
    }
    if (!whole(context, UINT32_MAX - 1) || !context->integer) return "context";
    s->windows.context = (size_t)context->integer;
    if (!is_null(stride) && !whole(stride, s->windows.context)) return "stride";
    s->windows.stride = is_null(stride) ? 0 : (size_t)stride->integer;
    if ((s->windows.stride == 0) != (s->windows.kind == LG_WINDOWS_PAPER)) return "stride";
    if (!is_null(prefix) && !whole(prefix, UINT32_MAX)) return "prefix";
    s->windows.prefix = is_null(prefix) ? LG_PREFIX_NONE : prefix->integer;
    if (!names || names->type != LG_JSON_ARRAY) return "columns";
    for (const lg_json_value *name = names->first; name; name = name->next)
        for (size_t i = 1; i < LG_SCORE_COLUMNS; i++)
            if (!strcmp(string_or(name, ""), columns[i].name)) s->columns |= columns[i].flag;
    return NULL;
}

lg_status lg_score_table_open(const char *path, lg_score_table *t, lg_error *error) {
    *t = (lg_score_table){0};
    lg_status status = lg_table_open(path, "scores", &t->table, error);
    if (status) return status;
    const lg_provenance *provenance = lg_table_provenance(t->table);
    lg_json_value *settings, *inputs;
    if ((status = lg_json_parse(&t->arena, provenance->settings, strlen(provenance->settings), path,
                                &settings, error)) ||
        (status =
             lg_json_parse(&t->arena, provenance->inputs, strlen(provenance->inputs), path, &inputs, error)))
        goto failed;
    const char *wrong = read_settings(settings, &t->settings);
    if (wrong) {
        status = lg_fail(error, LG_BAD_INPUT,
                         "%s: the setting \"%s\" of the scores is missing or makes no sense", path, wrong);
        goto failed;
    }
    t->settings.model = string_or(lg_json_get(inputs, "model"), NULL);
    t->dataset = string_or(lg_json_get(inputs, "dataset"), "");
    t->tokens = string_or(lg_json_get(inputs, "tokens"), "");
    const lg_tensor *nll = lg_table_find(t->table, "nll"), *row_end = lg_table_find(t->table, "row_end");
    t->n_tokens = nll ? nll->count : 0;
    t->n_rows = row_end ? row_end->count : 0;
    for (size_t i = 0; i < LG_SCORE_COLUMNS && !status; i++) {
        const void *values = NULL;
        if (lg_score_has_column(t->settings.columns, i))
            status =
                lg_table_column(t->table, columns[i].name, columns[i].dtype, t->n_tokens, &values, error);
        t->columns[i] = values;
    }
    const void *context = NULL, *ends = NULL, *hashes = NULL, *tokens = NULL;
    if (status || (status = lg_table_column(t->table, "context", LG_U32, t->n_tokens, &context, error)))
        goto failed;
    t->context = context;
    if (t->settings.spans) { /* they were never scored as rows */
        t->n_rows = 0;
        status = lg_table_column(t->table, "tokens", LG_U32, t->n_tokens, &tokens, error);
        t->in_span = tokens;
        if (status) goto failed;
        return LG_OK;
    }
    if ((status = lg_table_column(t->table, "row_end", LG_U64, t->n_rows, &ends, error)) ||
        (status = lg_table_column(t->table, "row_hash", LG_U64, 2 * t->n_rows, &hashes, error)))
        goto failed;
    t->row_end = ends;
    t->row_hash = hashes;
    uint64_t before = 0;
    for (size_t r = 0; r < t->n_rows; before = t->row_end[r++])
        if (t->row_end[r] <= before || t->row_end[r] > t->n_tokens) break;
    if (before != t->n_tokens) {
        status = lg_fail(error, LG_BAD_INPUT, "%s: its rows (row_end) do not cover its %zu tokens", path,
                         t->n_tokens);
        goto failed;
    }
    return LG_OK;
failed:
    lg_score_table_close(t);
    return status;
}

lg_status lg_score_table_open_out(const char *out, lg_score_table *t, lg_error *error) {
    *t = (lg_score_table){0};
    lg_error reason = {0};
    if (!lg_exists(out)) return LG_OK;
    lg_status status = lg_score_table_open(out, t, &reason);
    if (status != LG_BAD_INPUT) return status ? lg_fail(error, status, "%s", reason.message) : LG_OK;
    return lg_fail(error, status, "%.700s (it would be overwritten: remove it, or write elsewhere)",
                   reason.message);
}

void lg_score_table_close(lg_score_table *t) {
    lg_table_close(t->table);
    lg_arena_free(&t->arena);
    *t = (lg_score_table){0};
}

/* Losses are numbers or NaN, and nothing has more context than a row holds. */
static lg_status check_values(const lg_score_table *t, const char *path, lg_error *error) {
    for (size_t i = 0; i < t->n_tokens; i++) {
        if (isinf(float_of(t->columns[0][i])))
            return lg_fail(error, LG_BAD_INPUT, "%s: the loss of token %zu is infinite", path, i);
        if (t->context[i] > t->settings.windows.context)
            return lg_fail(error, LG_BAD_INPUT, "%s: token %zu has %u tokens of context in windows of %zu",
                           path, i, t->context[i], t->settings.windows.context);
    }
    return LG_OK;
}

lg_status lg_scores_open(const char *path, const lg_dataset *data, lg_scores *scores, lg_error *error) {
    *scores = (lg_scores){0};
    lg_score_table *t = malloc(sizeof *t);
    if (!t) return lg_fail_memory(error);
    lg_status status = lg_score_table_open(path, t, error);
    if (status) {
        free(t);
        return status;
    }
    char tokens[33];
    if (t->n_tokens != data->n_tokens) {
        status = lg_fail(error, LG_BAD_INPUT,
                         "%s holds losses of %zu tokens, the dataset has %zu: score this dataset again", path,
                         t->n_tokens, data->n_tokens);
    } else if (!lg_score_tokens_identity(data, tokens)) {
        status = lg_fail_memory(error);
    } else if (strcmp(tokens, t->tokens) != 0) {
        status = lg_fail(
            error, LG_BAD_INPUT,
            "%s holds losses of another dataset (other tokens or documents): score this one again", path);
    } else {
        status = check_values(t, path, error);
    }
    if (status) {
        lg_score_table_close(t);
        free(t);
        return status;
    }
    *scores = (lg_scores){
        .table = t->table,
        .model_name = t->settings.name,
        .n_tokens = t->n_tokens,
        .nll = (const float *)t->columns[0],
        .context = t->context,
        .entropy = (const float *)t->columns[1],
        .rank = t->columns[2],
        .top1 = t->columns[3],
        .tokens = t->in_span,
        .prefix = t->settings.windows.prefix,
        .windows = t->settings.windows.kind,
        .window_context = t->settings.spans ? 0 : t->settings.windows.context,
        .stride = t->settings.windows.stride,
        .precision = t->settings.precision,
        .model = t->settings.model ? t->settings.model : "",
        .memory = t,
    };
    return LG_OK;
}

void lg_scores_close(lg_scores *scores) {
    if (scores->memory) {
        lg_score_table_close(scores->memory);
        free(scores->memory);
    }
    *scores = (lg_scores){0};
}

/* Writing */

lg_status lg_score_writer_create(const char *out, const lg_score_settings *settings, lg_score_writer *w,
                                 lg_error *error) {
    *w = (lg_score_writer){.settings = settings};
    lg_status status = lg_table_writer_create(out, &w->writer, error);
    if (status) return status;
    for (size_t i = 0; i < LG_SCORE_COLUMNS && !status; i++)
        if (lg_score_has_column(settings->columns, i))
            status =
                lg_table_writer_add(w->writer, columns[i].name, columns[i].dtype, 1, &w->columns[i], error);
    if (status || (status = lg_table_writer_add(w->writer, "context", LG_U32, 1, &w->context, error)) ||
        (status = lg_table_writer_add(w->writer, "row_end", LG_U64, 1, &w->row_end, error)) ||
        (status = lg_table_writer_add(w->writer, "row_hash", LG_U64, 2, &w->row_hash, error)))
        lg_score_writer_discard(w);
    return status;
}

bool lg_score_payload_fits(const lg_window *window, const uint32_t *position, const uint32_t *payload,
                           size_t *at) {
    for (size_t i = 0; i < window->end - window->begin; i++) {
        float nll = float_of(payload[i]);
        *at = i;
        if (position[i] >= window->first ? !isfinite(nll) : !isnan(nll)) return false;
    }
    return true;
}

lg_status lg_score_writer_row(lg_score_writer *w, const lg_window *window, lg_hash hash,
                              const uint32_t *position, const uint32_t *payload, lg_error *error) {
    size_t count = window->end - window->begin, bad;
    if (window->begin != w->n_tokens || !lg_score_payload_fits(window, position, payload, &bad))
        return lg_fail(error, LG_FAILED,
                       "internal error: the row of tokens %" PRIu64 " to %" PRIu64 " does not fit",
                       window->begin, window->end);
    lg_status status = LG_OK;
    for (size_t i = 0, k = 0; i < LG_SCORE_COLUMNS && !status; i++)
        if (lg_score_has_column(w->settings->columns, i))
            status = lg_table_writer_append(w->writer, w->columns[i], payload + k++ * count, count, error);
    uint64_t hashes[2] = {hash.high, hash.low};
    if (status || (status = lg_table_writer_append(w->writer, w->context, position, count, error)) ||
        (status = lg_table_writer_append(w->writer, w->row_end, &window->end, 1, error)) ||
        (status = lg_table_writer_append(w->writer, w->row_hash, hashes, 2, error)))
        return status;
    w->n_tokens = window->end;
    w->n_scored += count - (position[0] < window->first);
    w->n_rows++;
    return LG_OK;
}

static void put_member(lg_json_writer *w, const char *key, const char *value) {
    lg_json_put_key(w, key);
    lg_json_put_text(w, value);
}

lg_status lg_score_writer_commit(lg_score_writer *w, const lg_dataset *data, const char *command,
                                 lg_error *error) {
    lg_text inputs = {0}, settings = {0}, about = {0};
    lg_status status;
    char tokens[33];
    if (w->n_tokens != data->n_tokens) {
        status = lg_fail(error, LG_FAILED, "internal error: %" PRIu64 " of %zu tokens are in rows",
                         w->n_tokens, data->n_tokens);
        goto done;
    }
    const lg_provenance *of_data = data->table ? lg_table_provenance(data->table) : NULL;
    bool good = lg_score_tokens_identity(data, tokens) && put_settings(w->settings, true, &settings);
    lg_json_writer json = {.out = &inputs};
    lg_json_put_object(&json);
    if (w->settings->model) put_member(&json, "model", w->settings->model);
    if (w->settings->imported) put_member(&json, "losses", w->settings->imported);
    put_member(&json, "dataset", of_data && of_data->identity ? of_data->identity : "");
    put_member(&json, "tokens", tokens);
    lg_json_end_object(&json);
    json = (lg_json_writer){.out = &about};
    const struct {
        const char *key;
        uint64_t value;
    } counts[] = {{"tokens", w->n_tokens},
                  {"scored", w->n_scored},
                  {"unscorable", w->n_tokens - w->n_scored},
                  {"rows", w->n_rows}};
    lg_json_put_object(&json);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        lg_json_put_key(&json, counts[i].key);
        lg_json_put_unsigned(&json, counts[i].value);
    }
    lg_json_end_object(&json);
    if (!good || inputs.failed || about.failed) {
        status = lg_fail_memory(error);
        goto done;
    }
    lg_provenance provenance = {.format = "scores",
                                .version = LG_SCORE_VERSION,
                                .command = command ? command : "",
                                .inputs = inputs.data,
                                .settings = settings.data};
    status = lg_table_writer_commit(w->writer, &provenance, about.data, error);
    w->writer = NULL;
done:
    lg_score_writer_discard(w);
    lg_text_free(&inputs);
    lg_text_free(&settings);
    lg_text_free(&about);
    return status;
}

void lg_score_writer_discard(lg_score_writer *w) {
    lg_table_writer_discard(w->writer);
    w->writer = NULL;
}
