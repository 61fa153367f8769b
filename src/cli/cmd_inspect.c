/* lossgap inspect: what is in an artefact, a checkpoint, a tokenizer or a result. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "cli/cli.h"
#include "lossgap/model.h"
#include "lossgap/table.h"
#include "lossgap/tokenizer.h"

struct options {
    const char *what;
    bool all;
};

/* Columns of more values than this are looked at with --all only. */
#define MANY ((size_t)1 << 27)

static error_t parse(int key, char *argument, struct argp_state *state) {
    struct options *o = state->input;
    switch (key) {
    case 'a':
        o->all = true;
        return 0;
    case ARGP_KEY_ARG:
        if (o->what) argp_error(state, "one thing at a time: '%s' is one too many", argument);
        o->what = argument;
        return 0;
    case ARGP_KEY_END:
        if (!o->what)
            argp_error(state, "inspect what? A file that lossgap made, a checkpoint, a tokenizer.json");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options[] = {
    {"all", 'a', NULL, 0, "Look at every value of large columns too, and check the file's identity", 1},
    {0},
};

static const struct argp argp = {options,
                                 parse,
                                 "FILE|FOLDER|MODEL",
                                 "Say what is in a dataset, scores, tags, a table of results, any "
                                 "safetensors file, a tokenizer.json, or a checkpoint "
                                 "(a folder, or a hub id in the local Hugging Face cache).",
                                 NULL,
                                 NULL,
                                 NULL};

/* ---- what is printed: pairs of a name and a value, for people or as JSON ---- */

typedef struct printer {
    bool json;
    lg_text out;
    lg_json_writer w;
} printer;

static void put_name(printer *p, const char *key, const char *label) {
    if (p->json) lg_json_put_key(&p->w, key);
    else lg_text_printf(&p->out, "%-12s ", label);
}

static void put_text(printer *p, const char *key, const char *label, const char *value) {
    put_name(p, key, label);
    if (p->json) {
        lg_json_put_text(&p->w, value);
        return;
    }
    for (const char *c = value ? value : "-"; *c; c++) /* nothing that could drive the terminal */
        lg_text_put(&p->out, (unsigned char)*c < 0x20 || *c == 0x7f ? "?" : c, 1);
    lg_text_puts(&p->out, "\n");
}

static void put_count(printer *p, const char *key, const char *label, uint64_t value) {
    put_name(p, key, label);
    if (p->json) lg_json_put_unsigned(&p->w, value);
    else lg_text_printf(&p->out, "%llu\n", (unsigned long long)value);
}

/* A member of the provenance that is JSON itself. */
static void put_object(printer *p, const char *key, const char *label, const char *json) {
    if (!p->json) put_text(p, key, label, json);
    else if (json) {
        lg_json_put_key(&p->w, key);
        lg_json_put_raw(&p->w, json, strlen(json));
    }
}

/* ---- tables ---- */

typedef struct summary {
    bool known;
    size_t missing; /* NaN */
    double low, high, mean;
} summary;

static double half_to_double(uint16_t h) {
    int exponent = h >> 10 & 31;
    double fraction = (h & 1023) / 1024.0;
    double value = exponent == 31 ? (h & 1023 ? NAN : INFINITY)
                   : exponent     ? ldexp(1 + fraction, exponent - 15)
                                  : ldexp(fraction, -14);
    return h & 0x8000 ? -value : value;
}

static double value_at(const lg_tensor *t, size_t i) {
    const unsigned char *at = (const unsigned char *)t->data + i * lg_dtype_size(t->dtype);
    switch (t->dtype) {
#define READ(TYPE)                                                                                           \
    {                                                                                                        \
        TYPE value;                                                                                          \
        memcpy(&value, at, sizeof value);                                                                    \
        return (double)value;                                                                                \
    }
    case LG_U8:
    case LG_BOOL:
        return *at;
    case LG_I8:
        READ(int8_t)
    case LG_U16:
        READ(uint16_t)
    case LG_I16:
        READ(int16_t)
    case LG_U32:
        READ(uint32_t)
    case LG_I32:
        READ(int32_t)
    case LG_U64:
        READ(uint64_t)
    case LG_I64:
        READ(int64_t)
    case LG_F32:
        READ(float)
    case LG_F64:
        READ(double)
#undef READ
    case LG_F16: {
        uint16_t half;
        memcpy(&half, at, sizeof half);
        return half_to_double(half);
    }
    case LG_BF16: {
        uint16_t half;
        memcpy(&half, at, sizeof half);
        uint32_t bits = (uint32_t)half << 16;
        float value;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    default:
        return NAN;
    }
}

static summary summarise(const lg_tensor *t, bool all) {
    summary s = {.low = INFINITY, .high = -INFINITY};
    if (t->dtype == LG_F8_E4M3 || t->dtype == LG_F8_E5M2 || (t->count > MANY && !all)) return s;
    double sum = 0;
    for (size_t i = 0; i < t->count; i++) {
        double value = value_at(t, i);
        if (isnan(value)) {
            s.missing++;
            continue;
        }
        s.low = value < s.low ? value : s.low;
        s.high = value > s.high ? value : s.high;
        sum += value;
    }
    s.known = s.missing < t->count;
    s.mean = sum / (double)(t->count - s.missing);
    return s;
}

static void put_shape(const lg_tensor *t, char *out, size_t size) {
    size_t used = (size_t)snprintf(out, size, "[");
    for (unsigned d = 0; d < t->n_dims && used < size; d++)
        used += (size_t)snprintf(out + used, size - used, "%s%zu", d ? ", " : "", t->shape[d]);
    if (used < size) snprintf(out + used, size - used, "]");
}

static void put_column(printer *p, const lg_tensor *t, size_t width, const summary *s) {
    if (!p->json) {
        char shape[200];
        put_shape(t, shape, sizeof shape);
        lg_text_printf(&p->out, "  %-*s %-4s ", (int)width, t->name, lg_dtype_name(t->dtype));
        if (s->known) lg_text_printf(&p->out, "%-14s %g ... %g, mean %g", shape, s->low, s->high, s->mean);
        else lg_text_puts(&p->out, shape);
        if (s->missing) lg_text_printf(&p->out, ", %zu NaN", s->missing);
        lg_text_puts(&p->out, "\n");
        return;
    }
    lg_json_put_object(&p->w);
    lg_json_put_key(&p->w, "name");
    lg_json_put_text(&p->w, t->name);
    lg_json_put_key(&p->w, "dtype");
    lg_json_put_text(&p->w, lg_dtype_name(t->dtype));
    lg_json_put_key(&p->w, "shape");
    lg_json_put_array(&p->w);
    for (unsigned d = 0; d < t->n_dims; d++) lg_json_put_unsigned(&p->w, t->shape[d]);
    lg_json_end_array(&p->w);
    const struct {
        const char *key;
        double value;
    } values[] = {{"min", s->low}, {"max", s->high}, {"mean", s->mean}};
    for (size_t i = 0; i < 3; i++) {
        lg_json_put_key(&p->w, values[i].key);
        lg_json_put_double(&p->w, s->known ? values[i].value : NAN);
    }
    lg_json_put_key(&p->w, "nan");
    lg_json_put_unsigned(&p->w, s->missing);
    lg_json_end_object(&p->w);
}

static lg_status inspect_table(printer *p, const char *path, bool all, const lg_monitor *monitor,
                               lg_error *error) {
    lg_table *table;
    lg_status status = lg_table_open(path, NULL, &table, error);
    if (status) return status;
    const lg_provenance *about = lg_table_provenance(table);
    size_t n = lg_table_n_columns(table), width = 4;
    uint64_t values = 0;
    if (about->format) {
        put_text(p, "kind", "what", about->format);
        put_count(p, "version", "version", about->version);
        put_text(p, "identity", "identity", about->identity);
        put_text(p, "program", "made by", about->program);
        put_text(p, "command", "command", about->command);
        put_object(p, "inputs", "inputs", about->inputs);
        put_object(p, "settings", "settings", about->settings);
        if (about->about) put_object(p, "about", "about", about->about);
    } else {
        put_text(p, "kind", "what", "safetensors");
    }
    for (size_t i = 0; i < n; i++) {
        const lg_tensor *t = lg_table_at(table, i);
        values += t->count;
        width = strlen(t->name) > width ? strlen(t->name) : width;
    }
    if (!about->format) put_count(p, "values", "values", values);
    if (all && about->format) {
        status = lg_table_verify(table, error);
        if (!status) put_text(p, "verified", "verified", "the data and settings are those of the identity");
    }
    put_name(p, "columns", "columns");
    if (p->json) lg_json_put_array(&p->w);
    else lg_text_printf(&p->out, "%zu\n", n);
    for (size_t i = 0; i < n && !status; i++) {
        const lg_tensor *t = lg_table_at(table, i);
        summary s = summarise(t, all);
        put_column(p, t, width < 48 ? width : 48, &s);
        if (lg_is_cancelled(monitor)) status = LG_CANCELLED;
    }
    if (p->json) lg_json_end_array(&p->w);
    lg_table_close(table);
    return status;
}

/* ---- tokenizers and checkpoints ---- */

static void put_tokenizer(printer *p, const lg_tokenizer *t) {
    put_text(p, "tokenizer", "tokenizer", lg_tokenizer_describe(t));
    put_count(p, "tokenizer_size", "token ids", lg_tokenizer_size(t));
    put_text(p, "tokenizer_identity", "of identity", lg_tokenizer_identity(t));
}

static lg_status inspect_tokenizer(printer *p, const char *path, lg_error *error) {
    lg_tokenizer *tokenizer;
    lg_status status = lg_tokenizer_open(path, &tokenizer, error);
    if (status) return status;
    put_text(p, "kind", "what", "tokenizer");
    put_tokenizer(p, tokenizer);
    lg_tokenizer_close(tokenizer);
    return LG_OK;
}

static lg_status inspect_model(printer *p, const char *where, const lg_monitor *monitor, lg_error *error) {
    lg_model *model;
    lg_status status = lg_model_open(where, &model, monitor, error);
    if (status) return status;
    const lg_model_info *m = lg_model_get_info(model);
    put_text(p, "kind", "what", "checkpoint");
    put_text(p, "path", "folder", m->path);
    put_text(p, "family", "architecture", m->family);
    if (p->json) {
        put_count(p, "parameters", "", m->parameters);
    } else {
        char short_form[48];
        size_t end = strlen(cli_quantity((double)m->parameters, "", short_form));
        if (end && short_form[end - 1] == ' ') short_form[end - 1] = '\0';
        lg_text_printf(&p->out, "%-12s %llu (%s), %s%s\n", "parameters", (unsigned long long)m->parameters,
                       short_form, m->dtype, m->tied ? ", embedding and head are one" : "");
    }
    put_text(p, "layers", "layers", m->layers);
    if (p->json) {
        put_text(p, "dtype", "", m->dtype);
        const struct {
            const char *key;
            size_t value;
        } numbers[] = {{"n_layers", m->n_layers},     {"n_attention_layers", m->n_attention_layers},
                       {"d_model", m->d_model},       {"d_ff", m->d_ff},
                       {"vocab_size", m->vocab_size}, {"n_heads", m->n_heads},
                       {"n_kv_heads", m->n_kv_heads}, {"head_dim", m->head_dim},
                       {"window", m->window},         {"max_positions", m->max_positions}};
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
            put_count(p, numbers[i].key, "", numbers[i].value);
        lg_json_put_key(&p->w, "tied");
        lg_json_put_bool(&p->w, m->tied);
        lg_json_put_key(&p->w, "bos");
        if (m->has_bos) lg_json_put_unsigned(&p->w, m->bos);
        else lg_json_put_null(&p->w);
        lg_json_put_key(&p->w, "eos");
        if (m->has_eos) lg_json_put_unsigned(&p->w, m->eos);
        else lg_json_put_null(&p->w);
    } else {
        lg_text_printf(
            &p->out,
            "%-12s d_model %zu, d_ff %zu, %zu heads of %zu (%zu for keys and values), vocabulary %zu\n",
            "sizes", m->d_model, m->d_ff, m->n_heads, m->head_dim, m->n_kv_heads, m->vocab_size);
        if (m->window) lg_text_printf(&p->out, "%-12s %zu tokens in sliding layers\n", "window", m->window);
        if (m->max_positions) put_count(p, "", "positions", m->max_positions);
        if (m->has_bos) put_count(p, "", "bos", m->bos);
        if (m->has_eos) put_count(p, "", "eos", m->eos);
    }
    put_text(p, "identity", "identity", m->identity);
    char *path = lg_path_join(m->path, "tokenizer.json");
    lg_tokenizer *tokenizer;
    lg_error unread = {0};
    if (!path) status = lg_fail_memory(error);
    else if (!lg_exists(path)) put_text(p, "tokenizer", "tokenizer", NULL);
    else if (lg_tokenizer_open(path, &tokenizer, &unread)) {
        put_text(p, "tokenizer", "tokenizer", NULL);
        put_text(p, "tokenizer_error", "because", unread.message);
    } else {
        put_tokenizer(p, tokenizer);
        lg_tokenizer_close(tokenizer);
    }
    free(path);
    lg_model_close(model);
    return status;
}

/* ---- JSON files ---- */

/* Members of the top level that say what a JSON file is. */
typedef struct contents {
    char format[64];
    uint64_t version, rows;
    bool tokenizer, config;
    lg_string provenance; /* text */
} contents;

static lg_status survey(const char *path, const lg_mapping *file, contents *found, lg_error *error) {
    lg_json json;
    lg_text scratch = {0};
    lg_string key, value;
    *found = (contents){0};
    lg_json_start(&json, (const char *)file->data, file->size, path, &scratch, error);
    lg_json_object(&json);
    while (lg_json_key(&json, &key)) {
        bool text = lg_json_peek(&json) == LG_JSON_STRING;
        if (lg_string_is(key, "model") || lg_string_is(key, "added_tokens")) found->tokenizer = true;
        if (lg_string_is(key, "model_type")) found->config = true;
        if (lg_string_is(key, "format") && text) {
            lg_json_string(&json, &value);
            snprintf(found->format, sizeof found->format, "%.*s",
                     (int)(value.length < 60 ? value.length : 60), value.data);
        } else if (lg_string_is(key, "version") && lg_json_peek(&json) == LG_JSON_INTEGER) {
            lg_json_unsigned(&json, &found->version);
        } else if (lg_string_is(key, "rows") && lg_json_peek(&json) == LG_JSON_ARRAY) {
            lg_json_array(&json);
            for (; lg_json_element(&json); found->rows++) lg_json_skip(&json);
        } else if (lg_string_is(key, "provenance")) {
            lg_json_peek(&json);
            found->provenance.data = json.at;
            lg_json_skip(&json);
            found->provenance.length = (size_t)(json.at - found->provenance.data);
        } else {
            lg_json_skip(&json);
        }
    }
    lg_status status = lg_json_done(&json);
    lg_text_free(&scratch);
    return status;
}

static lg_status inspect_json(printer *p, const char *path, const lg_mapping *file, lg_error *error) {
    contents found;
    lg_status status = survey(path, file, &found, error);
    if (status) return status;
    if (!found.format[0] && found.tokenizer) return inspect_tokenizer(p, path, error);
    if (!found.format[0] && found.config)
        return lg_fail(error, LG_BAD_INPUT, "%s is a part of a checkpoint: inspect its folder", path);
    if (!found.format[0])
        return lg_fail(error, LG_BAD_INPUT, "%s is JSON, but neither a result of lossgap nor a tokenizer",
                       path);
    put_text(p, "kind", "what", found.format);
    put_count(p, "version", "version", found.version);
    put_count(p, "rows", "rows", found.rows);
    if (!found.provenance.data) return LG_OK;
    if (p->json) {
        lg_json_put_key(&p->w, "provenance");
        lg_json_put_raw(&p->w, found.provenance.data, found.provenance.length);
        return LG_OK;
    }
    lg_arena arena = {0};
    lg_json_value *provenance;
    status = lg_json_parse(&arena, found.provenance.data, found.provenance.length, path, &provenance, error);
    if (!status && provenance->type == LG_JSON_OBJECT)
        for (const lg_json_value *v = provenance->first; v; v = v->next)
            if (v->type == LG_JSON_STRING) put_text(p, v->key, v->key, v->string);
    const lg_json_value *inputs = status ? NULL : lg_json_get(provenance, "inputs");
    for (const lg_json_value *v = inputs ? inputs->first : NULL; v; v = v->next)
        if (v->type == LG_JSON_STRING) put_text(p, v->key, v->key, v->string);
    const lg_json_value *scores = lg_json_get(inputs, "scores");
    for (const lg_json_value *v = scores ? scores->first : NULL; v; v = v->next)
        if (v->type == LG_JSON_STRING) put_text(p, v->key, v->key, v->string);
    lg_arena_free(&arena);
    return status;
}

/* ---- which of these? ---- */

static bool is_json(const lg_mapping *file) {
    size_t i = 0;
    while (i < file->size && memchr(" \t\r\n", file->data[i], 4)) i++;
    return i < file->size && file->data[i] == '{';
}

static bool has_file(const char *folder, const char *name) {
    char *path = lg_path_join(folder, name);
    bool there = path && lg_exists(path);
    free(path);
    return there;
}

static lg_status inspect(printer *p, const struct options *o, const lg_monitor *monitor, lg_error *error) {
    if (lg_is_folder(o->what) && !has_file(o->what, "config.json") && has_file(o->what, "tokenizer.json"))
        return inspect_tokenizer(p, o->what, error);
    if (lg_is_folder(o->what) || !lg_exists(o->what)) return inspect_model(p, o->what, monitor, error);
    lg_mapping file;
    lg_status status = lg_map(o->what, &file, error);
    if (status) return status;
    status = is_json(&file) ? inspect_json(p, o->what, &file, error)
                            : inspect_table(p, o->what, o->all, monitor, error);
    lg_unmap(&file);
    return status;
}

int cmd_inspect(int argc, char **argv) {
    struct options o = {0};
    cli c;
    cli_start(&c, argc, argv, &argp, CLI_JSON, &o);
    printer p = {.json = c.json};
    p.w = (lg_json_writer){.out = &p.out, .indent = 2};
    if (c.json) lg_json_put_object(&p.w);
    lg_status status = inspect(&p, &o, &c.monitor, &c.error);
    if (c.json) {
        lg_json_end_object(&p.w);
        lg_text_puts(&p.out, "\n");
    }
    if (!status && p.out.failed) status = lg_fail_memory(&c.error);
    if (!status) fwrite(p.out.data, 1, p.out.length, stdout);
    lg_text_free(&p.out);
    return cli_end(&c, status);
}
