/* run.json: what a file of log-probabilities was computed with, so that a later run knows what it need not
   compute again, and a reader what the numbers are. */
#include "probe/run_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"

enum { VERSION = 1, MOST_MODELS = 1000 };
static const char FORMAT[] = "probe run";

/* ---- reading ---- */

/* Member KEY of OBJECT as 32 hex digits. */
static bool get_identity(const lg_json_value *object, const char *key, char identity[33]) {
    const lg_json_value *v = lg_json_get(object, key);
    if (!v || v->type != LG_JSON_STRING || v->length != 32 || strspn(v->string, "0123456789abcdef") != 32)
        return false;
    memcpy(identity, v->string, 33);
    return true;
}

static bool get_text(const lg_json_value *object, const char *key, const char **text) {
    const lg_json_value *v = lg_json_get(object, key);
    if (!v || v->type != LG_JSON_STRING || !v->length || strlen(v->string) != v->length) return false;
    *text = v->string;
    return true;
}

static bool get_model(const lg_json_value *v, lg_probe_run_model *m) {
    const lg_json_value *prefix = lg_json_get(v, "prefix"), *context = lg_json_get(v, "context");
    const char *precision;
    char identity[33];
    if (v->type != LG_JSON_OBJECT || !get_text(v, "name", &m->name) || !get_text(v, "isa", &m->plan.isa) ||
        !get_text(v, "precision", &precision) || !get_identity(v, "key", m->plan.key) ||
        !get_identity(v, "model", identity) || !get_text(v, "model", &m->model) ||
        !get_identity(v, "tokenizer", identity) || !get_text(v, "tokenizer", &m->tokenizer) || !prefix ||
        !context)
        return false;
    if (strcmp(precision, lg_precision_name(LG_PRECISION_F32)) == 0) m->plan.precision = LG_PRECISION_F32;
    else if (strcmp(precision, lg_precision_name(LG_PRECISION_BF16)) == 0)
        m->plan.precision = LG_PRECISION_BF16;
    else return false;
    m->plan.prefix = LG_PREFIX_NONE;
    if (prefix->type == LG_JSON_INTEGER && prefix->integer >= 0) m->plan.prefix = prefix->integer;
    else if (prefix->type != LG_JSON_NULL) return false;
    if (context->type == LG_JSON_INTEGER && context->integer > 0) m->plan.context = (size_t)context->integer;
    else if (context->type != LG_JSON_NULL) return false;
    return true;
}

lg_status lg_probe_run_parse(const char *text, size_t length, const char *name, lg_probe_run *run,
                             lg_error *error) {
    *run = (lg_probe_run){0};
    lg_arena *arena = calloc(1, sizeof *arena);
    lg_json_value *root;
    if (!arena) return lg_fail_memory(error);
    run->memory = arena;
    lg_status status = lg_json_parse(arena, text, length, name, &root, error);
    if (status) goto done;
    const char *format;
    const lg_json_value *version = lg_json_get(root, "version"), *models = lg_json_get(root, "models");
    status = LG_BAD_INPUT;
    if (!get_text(root, "format", &format) || strcmp(format, FORMAT) != 0) {
        lg_fail(error, status, "%s: not what lossgap probe writes there", name);
        goto done;
    }
    if (!version || version->type != LG_JSON_INTEGER || version->integer != VERSION) {
        lg_fail(error, status, "%s: of another version than this program's, which is %d", name, VERSION);
        goto done;
    }
    if (!get_identity(root, "items", run->items) || !get_identity(root, "logp", run->logp) || !models ||
        models->type != LG_JSON_ARRAY || models->length > MOST_MODELS) {
        lg_fail(error, status, "%s: damaged, without \"items\", \"logp\" or \"models\"", name);
        goto done;
    }
    run->models = lg_arena_alloc(arena, (models->length + 1) * sizeof *run->models);
    if (!run->models) {
        status = lg_fail_memory(error);
        goto done;
    }
    for (const lg_json_value *v = models->first; v; v = v->next, run->n_models++) {
        bool good = get_model(v, &run->models[run->n_models]);
        for (size_t m = 0; good && m < run->n_models; m++)
            good = strcmp(run->models[m].name, run->models[run->n_models].name) != 0;
        if (good) continue;
        lg_fail(error, status, "%s: damaged, model %zu is not described as it should be", name,
                run->n_models);
        goto done;
    }
    status = LG_OK;
done:
    if (status) lg_probe_run_free(run);
    return status;
}

lg_status lg_probe_run_read(const char *path, lg_probe_run *run, lg_error *error) {
    lg_mapping file;
    *run = (lg_probe_run){0};
    lg_status status = lg_map(path, &file, error);
    if (status) return status;
    status = lg_probe_run_parse(file.data ? (const char *)file.data : "", file.size, path, run, error);
    lg_unmap(&file);
    return status;
}

void lg_probe_run_free(lg_probe_run *run) {
    if (run->memory) lg_arena_free(run->memory);
    free(run->memory);
    *run = (lg_probe_run){0};
}

/* ---- writing ---- */

static void put_text(lg_json_writer *w, const char *key, const char *text) {
    lg_json_put_key(w, key);
    lg_json_put_text(w, text);
}

static void put_model(lg_json_writer *w, const lg_probe_run_model *m) {
    lg_json_put_object(w);
    put_text(w, "name", m->name);
    put_text(w, "key", m->plan.key);
    put_text(w, "model", m->model);
    put_text(w, "tokenizer", m->tokenizer);
    put_text(w, "precision", lg_precision_name(m->plan.precision));
    put_text(w, "isa", m->plan.isa);
    lg_json_put_key(w, "prefix");
    if (m->plan.prefix >= 0) lg_json_put_integer(w, m->plan.prefix);
    else lg_json_put_null(w);
    lg_json_put_key(w, "context");
    if (m->plan.context) lg_json_put_unsigned(w, m->plan.context);
    else lg_json_put_null(w);
    lg_json_end_object(w);
}

void lg_probe_put_run(lg_text *out, const lg_probe_run *run, const char *command) {
    char program[64];
    lg_json_writer w = {.out = out, .indent = 1};
    snprintf(program, sizeof program, "lossgap %s", lg_version());
    lg_json_put_object(&w);
    put_text(&w, "format", FORMAT);
    lg_json_put_key(&w, "version");
    lg_json_put_unsigned(&w, VERSION);
    put_text(&w, "program", program);
    put_text(&w, "command", command);
    put_text(&w, "items", run->items);
    put_text(&w, "logp", run->logp);
    lg_json_put_key(&w, "models");
    lg_json_put_array(&w);
    for (size_t m = 0; m < run->n_models; m++) put_model(&w, &run->models[m]);
    lg_json_end_array(&w);
    lg_json_end_object(&w);
    lg_text_puts(out, "\n");
}

lg_status lg_probe_run_write(const lg_probe_run *run, const char *command, const char *path,
                             lg_error *error) {
    lg_text out = {0};
    lg_probe_put_run(&out, run, command);
    lg_status status = out.failed ? lg_fail_memory(error) : lg_write_file(path, out.data, out.length, error);
    lg_text_free(&out);
    return status;
}
