/* Looking for checkpoints, waiting for those that are being written, and scoring each once. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/curve.h"
#include "lossgap/tag.h"

enum { DEFAULT_CONTEXT = 8192, SETTLED = 60 }; /* seconds after which nobody is writing a file any more */

/* A checkpoint of this round that is whole. */
typedef struct ready {
    const lg_run_checkpoint *found;
    const char *run;
    char folder[4096], signature[33];
    bool dropped, busy;
} ready;

typedef struct round_ {
    curve_work *w;
    ready *list;
    size_t n, room;
    bool changed;
} round_;

curve_scored *curve_find(const curve_work *w, const char *run, uint64_t step) {
    for (size_t i = 0; i < w->n_scored; i++)
        if (w->scored[i].step == step && strcmp(w->scored[i].run, run) == 0) return &w->scored[i];
    return NULL;
}

static curve_waiting *find_waiting(const curve_work *w, const char *run, const char *where) {
    for (size_t i = 0; i < w->n_waiting; i++)
        if (strcmp(w->waiting[i].run, run) == 0 && strcmp(w->waiting[i].where, where) == 0)
            return &w->waiting[i];
    return NULL;
}

static lg_status note_waiting(curve_work *w, const char *run, const char *where, uint64_t step,
                              curve_waiting **entry) {
    *entry = find_waiting(w, run, where);
    if (!*entry) {
        if (!lg_reserve(&w->waiting, &w->waiting_room, w->n_waiting + 1, sizeof *w->waiting))
            return lg_fail_memory(&w->c->error);
        *entry = &w->waiting[w->n_waiting++];
        **entry = (curve_waiting){.run = strdup(run), .where = strdup(where)};
        if (!(*entry)->run || !(*entry)->where) return lg_fail_memory(&w->c->error);
    }
    (*entry)->step = step;
    (*entry)->seen = true;
    return LG_OK;
}

/* Why RUN's checkpoint at WHERE is not in the curve. Said once, and again when the reason is another. */
static lg_status skip(curve_work *w, const char *run, const char *where, uint64_t step, const char *signature,
                      bool broken, const char *reason) {
    curve_waiting *entry;
    lg_status status = note_waiting(w, run, where, step, &entry);
    if (status) return status;
    bool again = entry->reason && strcmp(entry->reason, reason) == 0 && entry->broken == broken;
    entry->broken = broken;
    memcpy(entry->signature, signature, sizeof entry->signature);
    if (again) return LG_OK;
    free(entry->reason);
    if (!(entry->reason = strdup(reason))) return lg_fail_memory(&w->c->error);
    if (broken) lg_note(&w->c->monitor, "skipped %s: %s", where, reason);
    else
        lg_note(&w->c->monitor, "%s is not complete yet: %s%s", where, reason,
                w->o->watch ? "" : "; it will be taken by the next run or --watch");
    return LG_OK;
}

static lg_status tell_remarks(curve_work *w) {
    lg_status status = LG_OK;
    for (size_t i = 0; i < lg_runs_n_remarks(w->runs) && !status; i++) {
        const lg_run_remark *r = lg_runs_remark(w->runs, i);
        curve_waiting *entry;
        status = note_waiting(w, r->run, r->where, 0, &entry);
        if (status) break;
        if (r->taken) { /* a doubt, no more: it goes its way */
            if (!entry->told) lg_note(&w->c->monitor, "%s: %s", r->where, r->text);
            entry->told = true;
            continue;
        }
        entry->doubt = true;
        entry->broken = false;
        if (entry->reason) continue;
        if (!(entry->reason = strdup(r->text))) status = lg_fail_memory(&w->c->error);
        lg_note(&w->c->monitor, "left out %s: %s", r->where, r->text);
    }
    return status;
}

/* ---- the text ---- */

lg_status curve_lock(curve_work *w, int *fd) {
    return cli_wait_folder(w->o->out, &w->c->monitor, fd, &w->c->error);
}

static lg_status open_data(curve_work *w, const char *path) {
    lg_status status = lg_dataset_open(path, &w->data, &w->c->error);
    if (!status && !w->data.n_tokens)
        status = lg_fail(&w->c->error, LG_BAD_INPUT, "there is no text to score the models on");
    w->has_data = !status;
    return status;
}

/* The dataset, with the tokenizer in FOLDER (NULL: none is left to make one with, so that what is there must
   do), and its tags. */
static lg_status make_data(curve_work *w, const char *folder) {
    lg_dataset_options wanted = w->o->dataset;
    const char *const *paths = w->o->corpora;
    wanted.tokenizer = wanted.input_ids ? NULL : w->o->tokenizer ? w->o->tokenizer : folder;
    wanted.threads = w->c->threads;
    wanted.command = w->c->command_line;
    bool current;
    char *path = curve_path(w, "data.safetensors");
    lg_status status = path ? LG_OK : lg_fail_memory(&w->c->error);
    if (!status && !wanted.tokenizer && !wanted.input_ids) {
        if (lg_exists(path))
            lg_note(&w->c->monitor,
                    "no checkpoint is left whose tokenizer could read the text: %s is taken as it is", path);
    } else if (!status) {
        status = lg_dataset_is_current(path, paths, w->o->n_corpora, &wanted, &w->c->monitor, &current,
                                       &w->c->error);
        if (!status && !current)
            status = lg_dataset_build(paths, w->o->n_corpora, &wanted, path, &w->c->monitor, &w->c->error);
    }
    if (!status) status = open_data(w, path);
    free(path);
    return status;
}

static lg_status make_tags(curve_work *w) {
    lg_tag_options wanted = {.threads = w->c->threads, .command = w->c->command_line};
    if (w->o->score.windows == LG_WINDOWS_PAPER) wanted.window = w->context;
    bool current;
    w->tags = curve_path(w, "tags.safetensors");
    if (!w->tags) return lg_fail_memory(&w->c->error);
    lg_status status = lg_tag_is_current(w->tags, &w->data, &wanted, &current, &w->c->error);
    if (!status && !current) status = lg_tag_run(&w->data, &wanted, w->tags, &w->c->monitor, &w->c->error);
    return status;
}

/* One context for all: the least of what the checkpoints that are there were made for. Those that cannot be
   opened are dropped. */
static lg_status choose_context(round_ *r) {
    curve_work *w = r->w;
    w->context = w->o->score.context ? w->o->score.context : DEFAULT_CONTEXT;
    lg_status status = LG_OK;
    for (size_t i = 0; i < r->n && !status && !w->o->score.context; i++) {
        lg_model *model;
        lg_error why = {0};
        ready *c = &r->list[i];
        status = lg_model_open(c->folder, &model, NULL, &why);
        if (!status) {
            size_t most = lg_model_get_info(model)->max_positions;
            if (most && most < w->context) w->context = most;
            lg_model_close(model);
        } else if (status == LG_BAD_INPUT) {
            c->dropped = true;
            status = skip(w, c->run, c->found->where, c->found->step, c->signature, true, why.message);
        } else {
            w->c->error = why;
        }
    }
    return status;
}

/* What is needed before the first checkpoint is scored. */
static lg_status prepare(round_ *r) {
    curve_work *w = r->w;
    int fd = -1;
    if (w->has_data) return LG_OK;
    if (w->o->watch && !r->n && w->n_waiting) return LG_OK; /* some may be ready at the next look */
    lg_status status = choose_context(r);
    size_t first = 0;
    while (first < r->n && r->list[first].dropped) first++;
    if (status || (first == r->n && !w->o->dataset.input_ids && !w->o->tokenizer)) {
        char *old = status ? NULL : curve_path(w, "data.safetensors");
        bool there = old && lg_exists(old); /* all checkpoints may be gone */
        free(old);
        if (status || !there) return status;
    }
    status = curve_lock(w, &fd);
    if (!status) status = make_data(w, first < r->n ? r->list[first].folder : NULL);
    if (!status) status = make_tags(w);
    if (!status) status = curve_check_filters(w);
    if (fd >= 0) close(fd);
    return status;
}

/* ---- a checkpoint ---- */

static lg_score_options settings_of(const curve_work *w, const ready *c, const char *name) {
    lg_score_options s = w->o->score;
    s.context = w->context;
    s.threads = w->c->threads;
    s.model_name = name;
    s.tokenizer = !w->data.has_text ? NULL : w->o->tokenizer ? w->o->tokenizer : c->folder;
    s.command = w->c->command_line;
    return s;
}

static const char *prefix_text(int64_t prefix, char out[32]) {
    if (prefix < 0) return "nothing";
    snprintf(out, 32, "token %lld", (long long)prefix);
    return out;
}

/* Whether MODEL reads the text as the others do: the same tokens, the same prefix, the same context. */
static lg_status check_model(curve_work *w, const ready *c, const lg_model *model, const lg_score_options *s,
                             lg_error *why) {
    char name[LG_CACHE_NAME], one[32], other[32];
    lg_score_plan plan;
    lg_status status = LG_OK;
    size_t most = lg_model_get_info(model)->max_positions;
    if (w->fixed && !w->o->score.context && most && most < w->context)
        return lg_fail(
            why, LG_BAD_INPUT,
            "it was made for %zu tokens of context, the others are scored with %zu: give --context", most,
            w->context);
    char difference[800];
    bool same = true;
    if (w->data.has_text && !w->o->tokenizer)
        status = cli_same_tokens(&w->data, c->folder, w->o->dataset.parse_special, "the first checkpoint",
                                 s->model_name, w->c->threads, &same, difference, sizeof difference,
                                 &w->c->monitor, why);
    if (!status && !same)
        return lg_fail(why, LG_BAD_INPUT, "%s; curves need the same tokens of all checkpoints", difference);
    if (!status) status = lg_score_cache_name(model, &w->data, s, name, &plan, why);
    if (status) return status;
    if (w->fixed && plan.prefix != w->prefix)
        return lg_fail(why, LG_BAD_INPUT,
                       "before a document it would see %s, the others %s: choose one with --prefix",
                       prefix_text(plan.prefix, one), prefix_text(w->prefix, other));
    if (!w->fixed) {
        lg_note(&w->c->monitor, "%s windows, context %zu; before a document: %s", lg_windows_name(s->windows),
                plan.context, prefix_text(plan.prefix, one));
        w->prefix = plan.prefix;
        w->fixed = true;
    }
    return LG_OK;
}

/* C has SCORES now, which are the work's from here on. */
static lg_status keep(curve_work *w, const ready *c, const char *name, lg_scores *scores) {
    curve_scored *s = curve_find(w, c->run, c->found->step);
    if (!s) {
        if (!lg_reserve(&w->scored, &w->scored_room, w->n_scored + 1, sizeof *w->scored)) {
            lg_scores_close(scores);
            return lg_fail_memory(&w->c->error);
        }
        s = &w->scored[w->n_scored++];
        *s = (curve_scored){.run = strdup(c->run)};
    }
    lg_scores_close(&s->scores);
    free(s->where);
    s->where = strdup(c->found->where);
    s->step = c->found->step;
    s->tokens = c->found->tokens;
    s->tokens_from = c->found->tokens_from;
    s->scores = *scores;
    s->gone = false;
    s->seen = true;
    memcpy(s->name, name, LG_CACHE_NAME);
    memcpy(s->signature, c->signature, sizeof s->signature);
    return s->run && s->where ? LG_OK : lg_fail_memory(&w->c->error);
}

static void forget_waiting(curve_work *w, const ready *c) {
    curve_waiting *entry = find_waiting(w, c->run, c->found->where);
    if (!entry) return;
    free(entry->reason);
    entry->reason = NULL;
    entry->broken = false;
}

/* Scores C, or finds its scores. *MADE: they were computed here. Busy ones are marked, unless WAIT. */
static lg_status score(curve_work *w, ready *c, size_t number, size_t all, bool wait, bool *made) {
    char name[160], cached[LG_CACHE_NAME];
    lg_model *model = NULL;
    lg_scores scores = {0};
    lg_error why = {0};
    lg_cache_result result = LG_CACHE_FOUND;
    *made = false;
    c->busy = false;
    snprintf(name, sizeof name, "%s-step%llu", c->run, (unsigned long long)c->found->step);
    lg_score_options s = settings_of(w, c, name);
    char *folder = curve_path(w, "scores");
    lg_status status = folder ? lg_model_open(c->folder, &model, NULL, &why) : lg_fail_memory(&why);
    if (!status) status = check_model(w, c, model, &s, &why);
    if (!status) {
        snprintf(w->c->progress.label, sizeof w->c->progress.label, "%.20s (%zu of %zu)", name, number, all);
        status = lg_score_cached(model, &w->data, &s, folder, wait, &w->c->monitor, &result, cached, &scores,
                                 &why);
        w->c->progress.label[0] = '\0';
    }
    lg_model_close(model);
    free(folder);
    if (status == LG_BAD_INPUT)
        return skip(w, c->run, c->found->where, c->found->step, c->signature, lg_is_folder(c->folder),
                    why.message);
    if (status) {
        w->c->error = why;
        return status;
    }
    if (result == LG_CACHE_BUSY) c->busy = true;
    if (result == LG_CACHE_CHANGED)
        return skip(w, c->run, c->found->where, c->found->step, "", false,
                    "its files changed while they were read");
    if (result == LG_CACHE_BUSY) return LG_OK;
    *made = result == LG_CACHE_MADE;
    w->computed += *made;
    forget_waiting(w, c);
    return keep(w, c, cached, &scores);
}

/* ---- a round ---- */

/* Looks at a checkpoint that was found, and adds it to the list if it can be scored now. */
static lg_status look(round_ *r, const lg_run *run, const lg_run_checkpoint *found) {
    curve_work *w = r->w;
    curve_scored *scored = curve_find(w, run->name, found->step);
    lg_checkpoint_look seen;
    lg_error why = {0};
    ready c = {.found = found, .run = run->name};
    curve_waiting *before = find_waiting(w, run->name, found->where);
    if (before) before->seen = true;
    if (lg_model_locate(found->where, c.folder, sizeof c.folder, &why)) {
        if (scored) return LG_OK; /* named in RUNS.json, and gone */
        return skip(w, run->name, found->where, found->step, "", false, why.message);
    }
    bool tokenizer = !w->o->dataset.input_ids && !w->o->tokenizer;
    lg_status status = lg_checkpoint_look_at(c.folder, tokenizer, &seen, &w->c->error);
    if (status) return status;
    if (scored && scored->where && strcmp(scored->signature, seen.signature) == 0) {
        scored->seen = true;
        r->changed |= scored->gone;
        scored->gone = false;
        return LG_OK;
    }
    if (scored) scored->seen = true; /* it is being written anew: what we have stays until that is done */
    if (!seen.whole) return skip(w, run->name, found->where, found->step, seen.signature, false, seen.why);
    memcpy(c.signature, seen.signature, sizeof c.signature);
    if (before && before->broken && strcmp(before->signature, seen.signature) == 0) return LG_OK;
    if (w->o->watch) { /* a second look must find the same, unless nobody has touched it for long */
        bool settled =
            time(NULL) - seen.newest > SETTLED || (before && strcmp(before->signature, seen.signature) == 0);
        if (!settled) {
            status = note_waiting(w, run->name, found->where, found->step, &before);
            if (status) return status;
            memcpy(before->signature, seen.signature, sizeof before->signature);
            return LG_OK;
        }
    }
    if (!lg_reserve(&r->list, &r->room, r->n + 1, sizeof *r->list)) return lg_fail_memory(&w->c->error);
    r->list[r->n++] = c;
    return LG_OK;
}

static void mark_gone(round_ *r) {
    curve_work *w = r->w;
    for (size_t i = 0; i < w->n_scored; i++) {
        curve_scored *s = &w->scored[i];
        if (s->seen || s->gone) continue;
        s->gone = true;
        r->changed = true;
        lg_note(&w->c->monitor, "%s is not there any more; its scores are kept",
                s->where ? s->where : s->run);
    }
    for (size_t i = w->n_waiting; i-- > 0;) { /* one that never came */
        curve_waiting *entry = &w->waiting[i];
        if (entry->seen) continue;
        free(entry->run);
        free(entry->where);
        free(entry->reason);
        memmove(entry, entry + 1, (w->n_waiting - i - 1) * sizeof *entry);
        w->n_waiting--;
    }
}

static lg_status score_all(round_ *r, lg_status (*publish)(curve_work *w)) {
    curve_work *w = r->w;
    lg_status status = LG_OK;
    for (int pass = 0; pass < 2 && !status; pass++) /* what others are at comes last */
        for (size_t i = 0; i < r->n && !status; i++) {
            ready *c = &r->list[i];
            bool made;
            if (c->dropped || (pass && !c->busy)) continue;
            if (cli_stopped()) return LG_CANCELLED;
            status = score(w, c, i + 1, r->n, pass == 1, &made);
            if (status || c->busy) continue;
            r->changed = true;
            if (made) status = curve_manifest_write(w);
            if (made && !status && w->o->watch) {
                status = publish(w);
                r->changed = false;
            }
        }
    return status;
}

static lg_status find_all(round_ *r) {
    curve_work *w = r->w;
    for (size_t i = 0; i < w->n_scored; i++) w->scored[i].seen = false;
    for (size_t i = 0; i < w->n_waiting; i++) w->waiting[i].seen = false;
    lg_status status = lg_runs_find(w->runs, &w->c->error);
    if (!status) status = tell_remarks(w);
    for (size_t i = 0; i < lg_runs_count(w->runs) && !status; i++) {
        const lg_run *run = lg_runs_at(w->runs, i);
        for (size_t k = 0; k < run->n_checkpoints && !status; k++)
            status = look(r, run, &run->checkpoints[k]);
    }
    return status;
}

lg_status curve_round(curve_work *w, lg_status (*publish)(curve_work *w), bool *changed) {
    round_ r = {.w = w};
    lg_status status = find_all(&r);
    bool had_data = w->has_data;
    if (!status) status = prepare(&r);
    if (!status && w->has_data) status = score_all(&r, publish);
    if (!status && w->has_data) {
        size_t n = w->n_scored;
        status = curve_manifest_read(w, !had_data);
        r.changed |= w->n_scored > n;
        if (!status) mark_gone(&r);
        if (!status && r.changed) status = curve_manifest_write(w);
    }
    *changed = r.changed;
    free(r.list);
    return status;
}

/* ---- --list ---- */

lg_status curve_list(curve_work *w) {
    lg_status status = lg_runs_find(w->runs, &w->c->error);
    bool tokenizer = !w->o->dataset.input_ids && !w->o->tokenizer;
    for (size_t i = 0; i < lg_runs_count(w->runs) && !status; i++) {
        const lg_run *run = lg_runs_at(w->runs, i);
        printf("%s: %zu checkpoint%s\n", run->name, run->n_checkpoints, run->n_checkpoints == 1 ? "" : "s");
        for (size_t k = 0; k < run->n_checkpoints && !status; k++) {
            const lg_run_checkpoint *found = &run->checkpoints[k];
            lg_checkpoint_look seen = {.why = "it is not there"};
            char folder[4096], tokens[48];
            lg_error why;
            if (!lg_model_locate(found->where, folder, sizeof folder, &why))
                status = lg_checkpoint_look_at(folder, tokenizer, &seen, &w->c->error);
            printf("  step %llu, %s%s%s%s: %s%s%s\n", (unsigned long long)found->step,
                   found->tokens_from ? cli_quantity((double)found->tokens, "tokens", tokens)
                                      : "tokens not known",
                   found->tokens_from ? " (" : "",
                   found->tokens_from ? lg_tokens_from_name(found->tokens_from) : "",
                   found->tokens_from ? ")" : "", found->where,
                   seen.whole ? "" : ": not complete yet: ", seen.why);
        }
    }
    for (size_t i = 0; i < lg_runs_n_remarks(w->runs) && !status; i++) {
        const lg_run_remark *r = lg_runs_remark(w->runs, i);
        printf("%s %s: %s\n", r->taken ? "doubt:" : "left out:", r->where, r->text);
    }
    return status;
}
