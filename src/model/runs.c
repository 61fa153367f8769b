/* Runs: which folders are their checkpoints. */
#include "model/runs.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "lossgap/model.h"

/* A pattern, or a checkpoint that was named one by one. */
typedef struct source {
    const char *where;
    bool single, has_step;
    uint64_t step;
    bool has_tokens;
    uint64_t tokens;
} source;

typedef struct run {
    lg_run public;
    source *sources;
    size_t n_sources, capacity;
    lg_run_checkpoint *found;
    size_t found_capacity;
} run;

struct lg_runs {
    lg_arena arena; /* names and patterns */
    lg_arena found; /* what lg_runs_find found */
    run *runs;
    size_t n, capacity;
    lg_run_remark *remarks;
    size_t n_remarks, remarks_capacity;
    const char *baseline;
    uint64_t tokens_per_step;
};

lg_status lg_runs_create(lg_runs **runs, lg_error *error) {
    *runs = calloc(1, sizeof **runs);
    return *runs ? LG_OK : lg_fail_memory(error);
}

void lg_runs_free(lg_runs *runs) {
    if (!runs) return;
    for (size_t i = 0; i < runs->n; i++) {
        free(runs->runs[i].sources);
        free(runs->runs[i].found);
    }
    free(runs->runs);
    free(runs->remarks);
    lg_arena_free(&runs->arena);
    lg_arena_free(&runs->found);
    free(runs);
}

/* ---- what there is to look for ---- */

static bool is_name(const char *name) {
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    return *name && *name != '.' && strlen(name) <= 100 && name[strspn(name, allowed)] == '\0';
}

static run *find_run(const lg_runs *runs, const char *name) {
    for (size_t i = 0; i < runs->n; i++)
        if (strcmp(runs->runs[i].public.name, name) == 0) return &runs->runs[i];
    return NULL;
}

static lg_status make_run(lg_runs *runs, const char *name, run **made, lg_error *error) {
    if ((*made = find_run(runs, name))) return LG_OK;
    if (!is_name(name))
        return lg_fail(error, LG_USAGE,
                       "'%.120s' is no name of a run: letters, digits, '.', '_', '-', no dot in front", name);
    char *copy = lg_arena_copy(&runs->arena, name, strlen(name));
    if (!copy || !lg_reserve(&runs->runs, &runs->capacity, runs->n + 1, sizeof *runs->runs))
        return lg_fail_memory(error);
    *made = &runs->runs[runs->n++];
    **made = (run){.public = {.name = copy}};
    return LG_OK;
}

static lg_status add_source(lg_runs *runs, run *r, source s, lg_error *error) {
    const char *home = strncmp(s.where, "~/", 2) == 0 ? getenv("HOME") : NULL;
    char *path = home ? lg_path_join(home, s.where + 2) : strdup(s.where);
    s.where = path ? lg_arena_copy(&runs->arena, path, strlen(path)) : NULL;
    free(path);
    if (!s.where || !lg_reserve(&r->sources, &r->capacity, r->n_sources + 1, sizeof *r->sources))
        return lg_fail_memory(error);
    r->sources[r->n_sources++] = s;
    return LG_OK;
}

lg_status lg_runs_add(lg_runs *runs, const char *name, const char *pattern, lg_error *error) {
    run *r;
    lg_status status = make_run(runs, name, &r, error);
    if (status) return status;
    if (!*pattern) return lg_fail(error, LG_USAGE, "the run %s has an empty pattern", name);
    return add_source(runs, r, (source){.where = pattern}, error);
}

lg_status lg_runs_set_tokens_per_step(lg_runs *runs, const char *name, uint64_t tokens, lg_error *error) {
    if (!name) {
        runs->tokens_per_step = tokens;
        return LG_OK;
    }
    run *r = find_run(runs, name);
    if (!r) return lg_fail(error, LG_USAGE, "tokens per step of the run %s, but there is no such run", name);
    r->public.tokens_per_step = tokens;
    return LG_OK;
}

/* ---- RUNS.json ---- */

typedef struct reader {
    lg_runs *runs;
    const char *name, *folder; /* of the file */
    lg_error *error;
} reader;

/* A path of the file is from the file's folder; a hub id is itself. free(); NULL: no memory. */
static char *resolve(const reader *f, const char *where) {
    char place[4096];
    if (where[0] == '/' || where[0] == '~' || !*f->folder) return strdup(where);
    char *path = lg_path_join(f->folder, where);
    if (!path || strpbrk(where, "*?[") || lg_exists(path)) return path;
    if (!strchr(where, '@') && lg_model_locate(where, place, sizeof place, NULL)) return path;
    free(path); /* REPO or REPO@REVISION */
    return strdup(where);
}

static lg_status refuse(const reader *f, const char *place, const char *what) {
    return lg_fail(f->error, LG_BAD_INPUT, "%s: %s %s", f->name, place, what);
}

static bool is_text(const lg_json_value *v) {
    return v->type == LG_JSON_STRING && v->length && strlen(v->string) == v->length;
}

static bool is_count(const lg_json_value *v) {
    return v->type == LG_JSON_INTEGER && v->integer >= 0;
}

/* {"path", "step", "tokens"} */
static lg_status read_checkpoint(const reader *f, run *r, const lg_json_value *v, const char *place) {
    source s = {.single = true};
    const char *path = NULL;
    for (const lg_json_value *m = v->first; m; m = m->next) {
        char at[400];
        snprintf(at, sizeof at, "%s.%.100s", place, m->key);
        if (strcmp(m->key, "path") == 0) {
            if (!is_text(m)) return refuse(f, at, "must be a path or a hub id");
            path = m->string;
        } else if (strcmp(m->key, "step") == 0) {
            if (!is_count(m)) return refuse(f, at, "must be a whole number from 0 up");
            s.has_step = true;
            s.step = (uint64_t)m->integer;
        } else if (strcmp(m->key, "tokens") == 0) {
            if (!is_count(m)) return refuse(f, at, "must be a whole number from 0 up");
            s.has_tokens = true;
            s.tokens = (uint64_t)m->integer;
        } else {
            return refuse(f, at, "is no key of a checkpoint: path, step, tokens");
        }
    }
    if (!path) return refuse(f, place, "has no path");
    lg_step_name name;
    if (!s.has_step && !lg_step_of_name(path, &name))
        return refuse(f, place, "has no step, neither as \"step\" nor in its path");
    char *where = resolve(f, path);
    if (!where) return lg_fail_memory(f->error);
    s.where = where;
    lg_status status = add_source(f->runs, r, s, f->error);
    free(where);
    return status;
}

/* A glob, {…}, or a list of either. */
static lg_status read_checkpoints(const reader *f, run *r, const lg_json_value *v, const char *place,
                                  bool listed) {
    if (is_text(v)) {
        char *where = resolve(f, v->string);
        if (!where) return lg_fail_memory(f->error);
        lg_status status = add_source(f->runs, r, (source){.where = where}, f->error);
        free(where);
        return status;
    }
    if (v->type == LG_JSON_OBJECT) return read_checkpoint(f, r, v, place);
    if (v->type != LG_JSON_ARRAY || listed || !v->first)
        return refuse(f, place, "must be a glob, {\"path\": …, \"step\": …}, or a list of them");
    size_t i = 0;
    for (const lg_json_value *e = v->first; e; e = e->next) {
        char at[320];
        snprintf(at, sizeof at, "%s[%zu]", place, i++);
        lg_status status = read_checkpoints(f, r, e, at, true);
        if (status) return status;
    }
    return LG_OK;
}

static lg_status read_run(const reader *f, const lg_json_value *v, size_t i) {
    char place[64], at[300];
    snprintf(place, sizeof place, "runs[%zu]", i);
    if (v->type != LG_JSON_OBJECT) return refuse(f, place, "must be an object");
    const lg_json_value *name = lg_json_get(v, "name"), *list = lg_json_get(v, "checkpoints");
    if (!name || !is_text(name) || !is_name(name->string))
        return refuse(f, place,
                      "needs a \"name\" of letters, digits, '.', '_' and '-', without a dot in front");
    if (find_run(f->runs, name->string)) {
        snprintf(at, sizeof at, "%s.name: there is a run %.100s", place, name->string);
        return refuse(f, at, "already");
    }
    if (!list) return refuse(f, place, "has no \"checkpoints\"");
    run *r;
    lg_status status = make_run(f->runs, name->string, &r, f->error);
    for (const lg_json_value *m = v->first; m && !status; m = m->next) {
        snprintf(at, sizeof at, "%s.%.100s", place, m->key);
        if (strcmp(m->key, "checkpoints") == 0) {
            status = read_checkpoints(f, r, m, at, false);
        } else if (strcmp(m->key, "tokens_per_step") == 0) {
            if (!is_count(m) || !m->integer) return refuse(f, at, "must be a whole number from 1 up");
            r->public.tokens_per_step = (uint64_t)m->integer;
        } else if (strcmp(m->key, "name") != 0) {
            return refuse(f, at, "is no key of a run: name, checkpoints, tokens_per_step");
        }
    }
    return status;
}

lg_status lg_runs_parse(lg_runs *runs, const char *text, size_t length, const char *name, const char *folder,
                        lg_error *error) {
    reader f = {runs, name, folder, error};
    lg_arena arena = {0};
    lg_json_value *root;
    lg_status status = lg_json_parse(&arena, text, length, name, &root, error);
    if (!status && root->type != LG_JSON_OBJECT) status = refuse(&f, "it", "must hold an object");
    const lg_json_value *list = status ? NULL : lg_json_get(root, "runs");
    if (!status && (!list || list->type != LG_JSON_ARRAY || !list->first))
        status = refuse(&f, "it", "must have \"runs\", a list with a run in it");
    for (const lg_json_value *m = status ? NULL : root->first; m && !status; m = m->next) {
        char at[120];
        snprintf(at, sizeof at, "%.100s", m->key);
        if (strcmp(m->key, "baseline") == 0) {
            if (!is_text(m)) status = refuse(&f, at, "must be the name of a run");
            else if (!(runs->baseline = lg_arena_copy(&runs->arena, m->string, m->length)))
                status = lg_fail_memory(error);
        } else if (strcmp(m->key, "tokens_per_step") == 0) {
            if (!is_count(m) || !m->integer) status = refuse(&f, at, "must be a whole number from 1 up");
            else runs->tokens_per_step = (uint64_t)m->integer;
        } else if (strcmp(m->key, "runs") != 0) {
            status = refuse(&f, at, "is no key of this file: runs, baseline, tokens_per_step");
        }
    }
    size_t i = 0;
    for (const lg_json_value *v = list ? list->first : NULL; v && !status; v = v->next)
        status = read_run(&f, v, i++);
    if (!status && runs->baseline && !find_run(runs, runs->baseline))
        status = refuse(&f, "baseline:", "there is no such run");
    lg_arena_free(&arena);
    return status;
}

lg_status lg_runs_read(lg_runs *runs, const char *path, lg_error *error) {
    lg_mapping file = {0};
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup("");
    if (!folder) return lg_fail_memory(error);
    lg_status status = lg_map(path, &file, error);
    if (!status) status = lg_runs_parse(runs, (const char *)file.data, file.size, path, folder, error);
    lg_unmap(&file);
    free(folder);
    return status;
}

/* ---- looking ---- */

typedef struct search {
    lg_runs *runs;
    run *r;
    lg_error *error;
} search;

static lg_status remark(search *s, const char *where, bool taken, const char *format, ...) LG_PRINTF(4, 5);
static lg_status remark(search *s, const char *where, bool taken, const char *format, ...) {
    char text[600];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    lg_runs *runs = s->runs;
    char *copy = lg_arena_copy(&runs->found, text, strlen(text));
    char *place = lg_arena_copy(&runs->found, where, strlen(where));
    if (!copy || !place ||
        !lg_reserve(&runs->remarks, &runs->remarks_capacity, runs->n_remarks + 1, sizeof *runs->remarks))
        return lg_fail_memory(s->error);
    runs->remarks[runs->n_remarks++] =
        (lg_run_remark){.run = s->r->public.name, .where = place, .text = copy, .taken = taken};
    return LG_OK;
}

static bool has_file(const char *folder, const char *name) {
    char *path = lg_path_join(folder, name);
    bool there = path && lg_exists(path);
    free(path);
    return there;
}

/* The last component of PATH, slashes at its end aside, into NAME; false: there is none, or it is too long.
 */
static bool last_component(const char *path, size_t length, char name[256], size_t *rest) {
    while (length && path[length - 1] == '/') length--;
    size_t begin = length;
    while (begin && path[begin - 1] != '/') begin--;
    if (length == begin || length - begin >= 256) return false;
    memcpy(name, path + begin, length - begin);
    name[length - begin] = '\0';
    *rest = begin;
    return true;
}

/* The step in the name of the folder, else in that of the folder above (step100/hf). */
static bool step_of_path(const char *path, lg_step_name *step) {
    char name[256];
    size_t rest = strlen(path);
    for (int up = 0; up < 2; up++)
        if (!last_component(path, rest, name, &rest)) return false;
        else if (lg_step_of_name(name, step)) return true;
    return false;
}

/* num_input_tokens_seen and global_step of trainer_state.json, where they are. */
static lg_status read_trainer_state(const char *folder, int64_t *tokens, int64_t *step, lg_error *error) {
    *tokens = *step = -1;
    char *path = lg_path_join(folder, "trainer_state.json");
    if (!path) return lg_fail_memory(error);
    lg_mapping file = {0};
    lg_text scratch = {0};
    lg_status status = LG_OK;
    if (lg_exists(path) && lg_map(path, &file, NULL) == LG_OK) {
        lg_json json;
        lg_string key;
        lg_json_start(&json, (const char *)file.data, file.size, path, &scratch, NULL);
        for (lg_json_object(&json); lg_json_key(&json, &key);) {
            int64_t *value = lg_string_is(key, "num_input_tokens_seen") ? tokens
                             : lg_string_is(key, "global_step")         ? step
                                                                        : NULL;
            if (value && lg_json_peek(&json) == LG_JSON_INTEGER) lg_json_integer(&json, value);
            else lg_json_skip(&json);
        }
        if (lg_json_done(&json) == LG_FAILED) status = lg_fail_memory(error);
    }
    lg_text_free(&scratch);
    lg_unmap(&file);
    free(path);
    return status;
}

/* Takes the checkpoint at WHERE, which is known to have STEP. */
static lg_status take(search *s, const source *from, const char *where, const lg_step_name *step) {
    lg_runs *runs = s->runs;
    run *r = s->r;
    lg_run_checkpoint c = {.step = step->step};
    uint64_t per_step = r->public.tokens_per_step ? r->public.tokens_per_step : runs->tokens_per_step;
    int64_t seen = -1, global;
    lg_status status = LG_OK;
    if (!from->has_tokens && !per_step) status = read_trainer_state(where, &seen, &global, s->error);
    if (status) return status;
    if (from->has_tokens) {
        c.tokens = from->tokens;
        c.tokens_from = LG_TOKENS_GIVEN;
    } else if (per_step) {
        if (__builtin_mul_overflow(c.step, per_step, &c.tokens) || c.tokens > INT64_MAX)
            return lg_fail(s->error, LG_BAD_INPUT,
                           "step %" PRIu64 " of %s x %" PRIu64 " tokens per step is too large a number",
                           c.step, r->public.name, per_step);
        c.tokens_from = LG_TOKENS_PER_STEP;
    } else if (seen > 0 || (seen == 0 && c.step == 0)) { /* 0: the trainer did not count */
        c.tokens = (uint64_t)seen;
        c.tokens_from = LG_TOKENS_TRAINER;
    } else if (step->has_tokens) {
        c.tokens = step->tokens;
        c.tokens_from = LG_TOKENS_NAME;
    }
    if (step->several && !from->has_step) {
        status = remark(s, where, true, "its name holds several steps: taken as step %" PRIu64, c.step);
        if (status) return status;
    }
    for (size_t i = 0; i < r->public.n_checkpoints; i++) {
        if (r->found[i].step != c.step) continue;
        if (strcmp(r->found[i].where, where) == 0) return LG_OK; /* two patterns name it */
        return remark(s, where, false, "step %" PRIu64 " again, as %s, which was taken", c.step,
                      r->found[i].where);
    }
    c.where = lg_arena_copy(&runs->found, where, strlen(where));
    if (!c.where || !lg_reserve(&r->found, &r->found_capacity, r->public.n_checkpoints + 1, sizeof *r->found))
        return lg_fail_memory(s->error);
    r->found[r->public.n_checkpoints++] = c;
    return LG_OK;
}

static int not_hidden(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

/* The checkpoints in a run's folder. *N counts them. */
static lg_status search_folder(search *s, const source *from, const char *folder, size_t *n) {
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, not_hidden, alphasort);
    lg_status status = count < 0 && errno == ENOMEM ? lg_fail_memory(s->error) : LG_OK;
    for (int i = 0; i < count; i++) {
        lg_step_name step;
        char *path = status ? NULL : lg_path_join(folder, entries[i]->d_name);
        if (!status && !path) status = lg_fail_memory(s->error);
        if (!status && lg_step_of_name(entries[i]->d_name, &step) && lg_is_folder(path)) {
            status = take(s, from, path, &step);
            ++*n;
        }
        free(path);
        free(entries[i]);
    }
    if (count >= 0) free(entries);
    return status;
}

/* What PATH, which exists, is: a checkpoint, or the folder of a run. */
static lg_status search_path(search *s, const source *from, const char *path) {
    lg_step_name step = {0};
    size_t n = 0;
    if (!lg_is_folder(path)) return LG_OK;
    if (from->has_step) {
        step.step = from->step;
        return take(s, from, path, &step);
    }
    bool config = has_file(path, "config.json");
    char name[256];
    size_t rest;
    if (last_component(path, strlen(path), name, &rest) && lg_step_of_name(name, &step))
        return take(s, from, path, &step);
    if (!config) {
        lg_status status = search_folder(s, from, path, &n);
        if (status || n) return status;
        /* A last folder of a pattern like "step*" and "hf" below it that is not written yet. */
        return step_of_path(path, &step) ? take(s, from, path, &step) : LG_OK;
    }
    if (step_of_path(path, &step)) return take(s, from, path, &step);
    int64_t tokens, global;
    lg_status status = read_trainer_state(path, &tokens, &global, s->error);
    if (status) return status;
    if (global >= 0) {
        step.step = (uint64_t)global;
        return take(s, from, path, &step);
    }
    return remark(s, path, false,
                  "there is no step in its name; RUNS.json can say \"step\" beside its \"path\"");
}

/* Every path that begins with FOLDER and goes on as PATTERN says: *, ? and [...] within names. */
static lg_status search_pattern(search *s, const source *from, const char *folder, const char *pattern) {
    size_t fixed = 0, length; /* names without wildcards, and the length of the one with them */
    for (;;) {
        length = strcspn(pattern + fixed, "/");
        if (strcspn(pattern + fixed, "*?[") < length) break;
        fixed += length;
        if (!pattern[fixed]) break;
        while (pattern[fixed] == '/') fixed++;
    }
    char *name = strndup(pattern + fixed, length), *begin = NULL;
    lg_status status = LG_OK;
    struct dirent **entries = NULL;
    int n = 0;
    if (!name || asprintf(&begin, "%s%.*s", folder, (int)fixed, pattern) < 0) begin = NULL;
    if (!name || !begin) {
        status = lg_fail_memory(s->error);
    } else if (!pattern[fixed]) {
        if (lg_exists(begin)) status = search_path(s, from, begin);
    } else if ((n = scandir(*begin ? begin : ".", &entries, NULL, alphasort)) < 0 && errno == ENOMEM) {
        status = lg_fail_memory(s->error);
    }
    for (int i = 0; i < n; i++) {
        char *path = NULL;
        if (!status && fnmatch(name, entries[i]->d_name, FNM_PERIOD) == 0) {
            const char *rest = pattern + fixed + length;
            if (asprintf(&path, "%s%s", begin, entries[i]->d_name) < 0) path = NULL;
            if (!path) status = lg_fail_memory(s->error);
            else if (*rest) status = search_pattern(s, from, path, rest);
            else status = search_path(s, from, path);
        }
        free(path);
        free(entries[i]);
    }
    free(entries);
    free(name);
    free(begin);
    return status;
}

static lg_status search_source(search *s, const source *from) {
    if (from->single && !lg_exists(from->where)) { /* a hub id, or not there yet */
        lg_step_name step = {.step = from->step};
        if (!from->has_step) lg_step_of_name(from->where, &step);
        return take(s, from, from->where, &step);
    }
    if (lg_exists(from->where)) return search_path(s, from, from->where);
    if (strchr(from->where, '@') && !strpbrk(from->where, "*?[")) { /* REPO@step1000 */
        lg_step_name step;
        if (lg_step_of_name(from->where, &step)) return take(s, from, from->where, &step);
    }
    return search_pattern(s, from, "", from->where);
}

static int by_step(const void *a, const void *b) {
    const lg_run_checkpoint *x = a, *y = b;
    return x->step < y->step ? -1 : x->step > y->step;
}

lg_status lg_runs_find(lg_runs *runs, lg_error *error) {
    lg_arena_free(&runs->found);
    runs->found = (lg_arena){0};
    runs->n_remarks = 0;
    lg_status status = LG_OK;
    for (size_t i = 0; i < runs->n; i++) runs->runs[i].public.n_checkpoints = 0;
    for (size_t i = 0; i < runs->n && !status; i++) {
        run *r = &runs->runs[i];
        search s = {runs, r, error};
        for (size_t k = 0; k < r->n_sources && !status; k++) status = search_source(&s, &r->sources[k]);
        if (r->public.n_checkpoints) qsort(r->found, r->public.n_checkpoints, sizeof *r->found, by_step);
        uint64_t seen = 0;
        for (size_t k = 0; k < r->public.n_checkpoints && !status; k++) {
            const lg_run_checkpoint *c = &r->found[k];
            if (!c->tokens_from) continue;
            if (c->tokens < seen)
                status = remark(&s, c->where, true,
                                "has seen fewer tokens (%" PRIu64 ") than an earlier step (%" PRIu64
                                "): tokens per step may be wrong",
                                c->tokens, seen);
            seen = c->tokens;
        }
    }
    return status;
}

size_t lg_runs_count(const lg_runs *runs) {
    return runs->n;
}

const lg_run *lg_runs_at(const lg_runs *runs, size_t i) {
    runs->runs[i].public.checkpoints = runs->runs[i].found;
    return &runs->runs[i].public;
}

const char *lg_runs_baseline(const lg_runs *runs) {
    return runs->baseline;
}

size_t lg_runs_n_remarks(const lg_runs *runs) {
    return runs->n_remarks;
}

const lg_run_remark *lg_runs_remark(const lg_runs *runs, size_t i) {
    return &runs->remarks[i];
}
