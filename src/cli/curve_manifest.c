/* DIR/checkpoints.json: which scores in the cache are those of which run and step. Training loops delete old
   checkpoints; with this list they stay in the curve. Processes share it: it is read again, under the
   folder's lock, before it is written. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "cli/curve.h"

enum { VERSION = 1, MOST = 1 << 20 };

typedef struct entry {
    const char *run, *name, *model;
    uint64_t step, tokens;
    lg_tokens_from from;
} entry;

typedef struct manifest {
    lg_arena arena;
    entry *entries; /* in the order of the file */
    size_t n, room;
} manifest;

static void manifest_free(manifest *m) {
    lg_arena_free(&m->arena);
    free(m->entries);
}

static bool is_name(const char *name) {
    size_t n = strspn(name, "0123456789abcdef-");
    return n == LG_CACHE_NAME - 1 && !name[n];
}

static const char *text_of(const lg_json_value *v, const char *key) {
    const lg_json_value *m = lg_json_get(v, key);
    return m && m->type == LG_JSON_STRING && strlen(m->string) == m->length ? m->string : NULL;
}

/* false: V is no checkpoint. */
static bool read_entry(const lg_json_value *v, entry *e) {
    const lg_json_value *step = lg_json_get(v, "step"), *tokens = lg_json_get(v, "tokens_seen");
    const char *from = text_of(v, "tokens_from");
    *e = (entry){.run = text_of(v, "run"), .name = text_of(v, "scores"), .model = text_of(v, "model")};
    if (!e->run || !e->name || !e->model || !is_name(e->name)) return false;
    if (!step || step->type != LG_JSON_INTEGER || step->integer < 0) return false;
    e->step = (uint64_t)step->integer;
    if (!from || !tokens || tokens->type != LG_JSON_INTEGER || tokens->integer < 0) return true;
    for (lg_tokens_from f = LG_TOKENS_GIVEN; f <= LG_TOKENS_NAME; f++)
        if (strcmp(lg_tokens_from_name(f), from) == 0) e->from = f;
    if (e->from) e->tokens = (uint64_t)tokens->integer;
    return true;
}

static lg_status add(manifest *m, entry e, lg_error *error) {
    if (!lg_reserve(&m->entries, &m->room, m->n + 1, sizeof *m->entries)) return lg_fail_memory(error);
    m->entries[m->n++] = e;
    return LG_OK;
}

static lg_status load(const char *path, manifest *m, lg_error *error) {
    lg_mapping file = {0};
    lg_json_value *root;
    *m = (manifest){0};
    if (!lg_exists(path)) return LG_OK;
    lg_status status = lg_map(path, &file, error);
    if (!status) status = lg_json_parse(&m->arena, (const char *)file.data, file.size, path, &root, error);
    lg_unmap(&file);
    if (status) return status;
    const char *format = text_of(root, "format");
    const lg_json_value *version = lg_json_get(root, "version"), *list = lg_json_get(root, "checkpoints");
    if (!format || strcmp(format, "checkpoints") != 0 || !version || version->type != LG_JSON_INTEGER ||
        version->integer > VERSION || !list || list->type != LG_JSON_ARRAY)
        return lg_fail(error, LG_BAD_INPUT,
                       "%s is no list of checkpoints of this program: move it away, or give another folder",
                       path);
    size_t i = 0;
    for (const lg_json_value *v = list->first; v && !status; v = v->next, i++) {
        entry e;
        if (!read_entry(v, &e))
            return lg_fail(error, LG_BAD_INPUT,
                           "%s: checkpoints[%zu] is no entry of such a list: take it out", path, i);
        status = add(m, e, error);
    }
    return status;
}

static void put_entry(lg_text *out, const entry *e) {
    lg_json_writer w = {.out = out};
    lg_json_put_object(&w);
    lg_json_put_key(&w, "run");
    lg_json_put_text(&w, e->run);
    lg_json_put_key(&w, "step");
    lg_json_put_unsigned(&w, e->step);
    lg_json_put_key(&w, "tokens_seen");
    if (e->from) lg_json_put_unsigned(&w, e->tokens);
    else lg_json_put_null(&w);
    lg_json_put_key(&w, "tokens_from");
    lg_json_put_text(&w, lg_tokens_from_name(e->from));
    lg_json_put_key(&w, "model");
    lg_json_put_text(&w, e->model);
    lg_json_put_key(&w, "scores");
    lg_json_put_text(&w, e->name);
    lg_json_end_object(&w);
}

/* By run and step. */
static int by_place(const void *a, const void *b) {
    const entry *x = a, *y = b;
    int order = strcmp(x->run, y->run);
    if (order) return order;
    if (x->step != y->step) return x->step < y->step ? -1 : 1;
    return strcmp(x->name, y->name);
}

static lg_status save(const char *path, const manifest *m, lg_error *error) {
    lg_text out = {0};
    lg_text_printf(&out, "{\"format\": \"checkpoints\", \"version\": %d, \"checkpoints\": [", VERSION);
    for (size_t i = 0; i < m->n; i++) {
        lg_text_puts(&out, i ? ",\n" : "\n");
        put_entry(&out, &m->entries[i]);
    }
    lg_text_puts(&out, "\n]}\n");
    lg_status status = out.failed ? lg_fail_memory(error) : cli_write_text(path, out.data, out.length, error);
    lg_text_free(&out);
    return status;
}

lg_status curve_manifest_has(const curve_work *w, const char *run, const uint64_t *step, bool *has) {
    manifest m = {0};
    char *path = curve_path(w, "checkpoints.json");
    lg_status status = path ? load(path, &m, &w->c->error) : lg_fail_memory(&w->c->error);
    *has = false;
    for (size_t i = 0; i < m.n && !status && !*has; i++)
        *has = (!step || m.entries[i].step == *step) && strcmp(m.entries[i].run, run) == 0;
    manifest_free(&m);
    free(path);
    return status;
}

lg_status curve_manifest_write(curve_work *w) {
    lg_error *error = &w->c->error;
    manifest m = {0};
    int fd = -1;
    char *path = curve_path(w, "checkpoints.json");
    lg_status status = path ? curve_lock(w, &fd) : lg_fail_memory(error);
    if (!status) status = load(path, &m, error);
    for (size_t i = 0; i < w->n_scored && !status; i++) {
        const curve_scored *s = &w->scored[i];
        entry e = {s->run, s->name, s->scores.model, s->step, s->tokens, s->tokens_from};
        size_t k = 0;
        while (k < m.n && !(m.entries[k].step == e.step && strcmp(m.entries[k].run, e.run) == 0 &&
                            strcmp(m.entries[k].name, e.name) == 0))
            k++;
        if (k < m.n) m.entries[k] = e;
        else status = add(&m, e, error);
    }
    if (!status && m.n) qsort(m.entries, m.n, sizeof *m.entries, by_place);
    if (!status && m.n) status = save(path, &m, error);
    if (fd >= 0) close(fd);
    manifest_free(&m);
    free(path);
    return status;
}

/* ---- what is gone ---- */

static bool is_of_run(const curve_work *w, const char *run) {
    for (size_t i = 0; i < lg_runs_count(w->runs); i++)
        if (strcmp(lg_runs_at(w->runs, i)->name, run) == 0) return true;
    return false;
}

/* Whether its folder is there, though it may not be whole or settled. */
static bool is_found(const curve_work *w, const entry *e) {
    for (size_t i = 0; i < lg_runs_count(w->runs); i++) {
        const lg_run *run = lg_runs_at(w->runs, i);
        for (size_t k = 0; k < run->n_checkpoints && strcmp(run->name, e->run) == 0; k++)
            if (run->checkpoints[k].step == e->step && lg_exists(run->checkpoints[k].where)) return true;
    }
    return false;
}

/* Whether S was scored as the others are, or as is asked for where there are no others. */
static bool fits(curve_work *w, const lg_scores *s) {
    const lg_score_options *o = &w->o->score;
    if (s->windows != o->windows) return false;
    if (o->precision != LG_PRECISION_AUTO && s->precision != o->precision) return false;
    if (w->n_scored) {
        const lg_scores *other = &w->scored[0].scores;
        return s->prefix == other->prefix && s->window_context == other->window_context &&
               s->stride == other->stride;
    }
    return (!o->context || s->window_context == o->context) && (!o->stride || s->stride == o->stride) &&
           (o->prefix == LG_PREFIX_AUTO || s->prefix == o->prefix);
}

static lg_status take(curve_work *w, const entry *e, lg_scores *scores) {
    if (!lg_reserve(&w->scored, &w->scored_room, w->n_scored + 1, sizeof *w->scored)) {
        lg_scores_close(scores);
        return lg_fail_memory(&w->c->error);
    }
    curve_scored *s = &w->scored[w->n_scored++];
    *s = (curve_scored){.run = strdup(e->run),
                        .step = e->step,
                        .tokens = e->tokens,
                        .tokens_from = e->from,
                        .gone = true,
                        .scores = *scores};
    memcpy(s->name, e->name, LG_CACHE_NAME);
    return s->run ? LG_OK : lg_fail_memory(&w->c->error);
}

lg_status curve_manifest_read(curve_work *w, bool tell) {
    lg_error *error = &w->c->error;
    manifest m = {0};
    size_t taken = 0, other = 0;
    char *path = curve_path(w, "checkpoints.json");
    lg_status status = path ? load(path, &m, error) : lg_fail_memory(error);
    for (size_t i = m.n; i-- > 0 && !status;) {
        const entry *e = &m.entries[i];
        if (!is_of_run(w, e->run) || curve_find(w, e->run, e->step) || is_found(w, e)) continue;
        char file[64 + LG_CACHE_NAME];
        snprintf(file, sizeof file, "scores/%s.safetensors", e->name);
        char *scores_path = curve_path(w, file);
        lg_scores scores;
        lg_error why;
        if (!scores_path) status = lg_fail_memory(error);
        else if (!lg_exists(scores_path) || lg_scores_open(scores_path, &w->data, &scores, &why)) other++;
        else if (!fits(w, &scores) || strcmp(scores.model, e->model) != 0) {
            lg_scores_close(&scores);
            other++;
        } else {
            status = take(w, e, &scores);
            taken++;
        }
        free(scores_path);
    }
    if (!status && taken)
        lg_note(&w->c->monitor,
                "%zu checkpoint%s not there any more: the scores that were kept stay in the curve (%s lists "
                "them)",
                taken, taken == 1 ? " is" : "s are", path);
    else if (!status && other && tell)
        lg_note(&w->c->monitor,
                "%s lists %zu checkpoint%s not there any more, scored over other text or with other "
                "settings: left out",
                path, other, other == 1 ? " that is" : "s that are");
    manifest_free(&m);
    free(path);
    return status;
}
