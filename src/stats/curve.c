/* Filtered losses of all checkpoints, step by step, so that runs are paired where they have the same step. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "lossgap/curve.h"
#include "lossgap/table.h"

static const char no_baseline[] = "the baseline has no checkpoint at this step: no gap";

struct lg_curve {
    lg_arena arena;
    lg_curve_about about;
    lg_curve_checkpoint *checkpoints; /* about.checkpoints */
    const char **identities;          /* [n] of their scores: names in the cache, where they have one */
    size_t *run_of;                   /* [n] */
    size_t *first;                    /* [n_runs + 1] checkpoints of a run: from first[r] to first[r + 1] */
    size_t n_filters;
    lg_curve_point *points; /* [n_filters, n checkpoints] */
    lg_text provenance;
};

typedef struct builder {
    lg_curve *curve;
    const lg_dataset *data;
    const lg_curve *earlier;
    lg_error *error;
} builder;

static const char *copy(lg_curve *c, const char *text) {
    return text ? lg_arena_copy(&c->arena, text, strlen(text)) : NULL;
}

void lg_curve_free(lg_curve *curve) {
    if (!curve) return;
    lg_text_free(&curve->provenance);
    lg_arena_free(&curve->arena);
    free(curve);
}

/* ---- what there is ---- */

typedef struct place {
    size_t run, index;
    uint64_t step;
} place;

static int by_run_and_step(const void *a, const void *b) {
    const place *x = a, *y = b;
    if (x->run != y->run) return x->run < y->run ? -1 : 1;
    return x->step < y->step ? -1 : x->step > y->step;
}

static lg_status copy_checkpoints(builder *b, const lg_curve_checkpoint *given, size_t n) {
    lg_curve *c = b->curve;
    size_t n_runs = c->about.n_runs;
    place *places = lg_alloc(n ? n : 1, sizeof *places);
    c->checkpoints = lg_arena_alloc(&c->arena, n * sizeof *c->checkpoints);
    c->identities = lg_arena_alloc(&c->arena, n * sizeof *c->identities);
    c->run_of = lg_arena_alloc(&c->arena, n * sizeof *c->run_of);
    c->first = lg_arena_alloc(&c->arena, (n_runs + 1) * sizeof *c->first);
    lg_status status = LG_OK;
    if (!places || !c->checkpoints || !c->identities || !c->run_of || !c->first)
        status = lg_fail_memory(b->error);
    for (size_t i = 0; i < n && !status; i++) {
        size_t r = 0;
        while (r < n_runs && strcmp(c->about.runs[r], given[i].run) != 0) r++;
        if (r == n_runs)
            status = lg_fail(b->error, LG_USAGE, "a checkpoint is of the run %s, which is none of the runs",
                             given[i].run);
        places[i] = (place){r, i, given[i].step};
    }
    if (!status && n) qsort(places, n, sizeof *places, by_run_and_step);
    c->about.all_tokens_seen = true;
    for (size_t i = 0; i < n && !status; i++) {
        const lg_curve_checkpoint *from = &given[places[i].index];
        lg_curve_checkpoint *to = &c->checkpoints[i];
        size_t r = places[i].run;
        if (i && r == places[i - 1].run && from->step == places[i - 1].step)
            status = lg_fail(b->error, LG_USAGE, "the run %s has two checkpoints of step %llu", from->run,
                             (unsigned long long)from->step);
        *to = *from;
        to->run = c->about.runs[r];
        to->tokens_from = copy(c, from->tokens_from);
        to->name = copy(c, from->name);
        const lg_provenance *of_scores = lg_table_provenance(from->scores->table);
        c->identities[i] = to->name ? to->name : copy(c, of_scores ? of_scores->identity : "");
        to->model = copy(c, from->scores->model ? from->scores->model : "");
        to->precision = from->scores->precision;
        if (!c->identities[i] || !to->model || (from->tokens_from && !to->tokens_from) ||
            (from->name && !to->name))
            status = lg_fail_memory(b->error);
        c->run_of[i] = r;
        c->first[r + 1]++;
        if (!from->tokens_from) c->about.all_tokens_seen = false;
    }
    for (size_t r = 0; r < n_runs && !status; r++) c->first[r + 1] += c->first[r];
    free(places);
    c->about.checkpoints = c->checkpoints;
    c->about.n_checkpoints = n;
    return status;
}

static lg_status copy_options(builder *b, const lg_curve_options *o) {
    lg_curve *c = b->curve;
    const char **runs = lg_arena_alloc(&c->arena, o->n_runs * sizeof *runs);
    lg_curve_skipped *skipped = lg_arena_alloc(&c->arena, o->n_skipped * sizeof *skipped);
    bool good = runs && skipped;
    for (size_t i = 0; i < o->n_runs && good; i++) good = (runs[i] = copy(c, o->runs[i]));
    for (size_t i = 0; i < o->n_skipped && good; i++) {
        const lg_curve_skipped *s = &o->skipped[i];
        skipped[i] =
            (lg_curve_skipped){copy(c, s->run), copy(c, s->checkpoint), copy(c, s->reason), s->broken};
        good = skipped[i].run && skipped[i].checkpoint && skipped[i].reason;
    }
    c->about.runs = runs;
    c->about.n_runs = o->n_runs;
    c->about.skipped = skipped;
    c->about.n_skipped = o->n_skipped;
    for (size_t i = 0; i < 2 && good; i++) {
        c->about.pair[i] = copy(c, o->pair[i]);
        good = !o->pair[i] || c->about.pair[i];
    }
    c->about.hard = copy(c, o->hard);
    return good && (!o->hard || c->about.hard) ? LG_OK : lg_fail_memory(b->error);
}

/* ---- a step ---- */

static lg_curve_point *point_of(const lg_curve *c, size_t filter, size_t checkpoint) {
    return &c->points[filter * c->about.n_checkpoints + checkpoint];
}

/* The checkpoints of STEP into MEMBERS [n_runs], the baseline's first; how many. *HAS_BASELINE. */
static size_t members_of(const lg_curve *c, uint64_t step, size_t *members, bool *has_baseline) {
    size_t n = 0;
    for (size_t i = 0; i < c->about.n_checkpoints; i++)
        if (c->checkpoints[i].step == step) members[n++] = i;
    *has_baseline = n && c->run_of[members[0]] == 0;
    return n;
}

/* Takes the losses of MEMBERS [n] from the earlier curve if it has the same checkpoints at this step. */
static bool take_earlier(const builder *b, const size_t *members, size_t n, size_t *old) {
    const lg_curve *c = b->curve, *e = b->earlier;
    bool with;
    if (!e || e->about.filters != c->about.filters || e->about.n_runs != c->about.n_runs) return false;
    for (size_t r = 0; r < c->about.n_runs; r++)
        if (strcmp(e->about.runs[r], c->about.runs[r]) != 0) return false;
    if (members_of(e, c->checkpoints[members[0]].step, old, &with) != n) return false;
    for (size_t i = 0; i < n; i++)
        if (e->run_of[old[i]] != c->run_of[members[i]] ||
            strcmp(e->identities[old[i]], c->identities[members[i]]) != 0)
            return false;
    for (size_t f = 0; f < c->n_filters; f++)
        for (size_t i = 0; i < n; i++) {
            const lg_curve_point *from = point_of(e, f, old[i]);
            lg_curve_point *to = point_of(c, f, members[i]);
            to->loss = from->loss;
            to->note = from->note;
            to->baseline = from->baseline ? c->about.runs[0] : NULL;
        }
    return true;
}

static lg_status compute_together(builder *b, const size_t *members, size_t n, bool paired) {
    lg_curve *c = b->curve;
    lg_filtered_loss *losses = NULL;
    lg_scores *scores = lg_alloc(n, sizeof *scores);
    if (!scores) return lg_fail_memory(b->error);
    for (size_t i = 0; i < n; i++) {
        scores[i] = *c->checkpoints[members[i]].scores;
        scores[i].model_name = c->checkpoints[members[i]].run;
    }
    lg_status status = lg_filtered_losses(b->data, scores, n, c->about.filters, &losses, b->error);
    for (size_t i = 0; i < n && !status; i++)
        for (size_t f = 0; f < c->n_filters; f++) {
            lg_curve_point *p = point_of(c, f, members[i]);
            p->loss = losses[i * c->n_filters + f];
            p->note = p->loss.note;
            p->baseline = paired && i ? c->about.runs[0] : NULL;
            if (!paired && c->run_of[members[i]] && !p->note) p->note = no_baseline;
        }
    free(losses);
    free(scores);
    return status;
}

static lg_status compute_step(builder *b, const size_t *members, size_t n, bool has_baseline, size_t *old) {
    if (take_earlier(b, members, n, old)) return LG_OK;
    if (has_baseline) return compute_together(b, members, n, n > 1);
    lg_status status = LG_OK; /* one at a time, or the first would be taken for the baseline */
    for (size_t i = 0; i < n && !status; i++) status = compute_together(b, &members[i], 1, false);
    return status;
}

static lg_status compute_points(builder *b) {
    lg_curve *c = b->curve;
    size_t n = c->about.n_checkpoints, n_runs = c->about.n_runs, cells;
    c->n_filters = lg_filters_n(c->about.filters);
    if (!lg_multiply(n, c->n_filters, &cells) || !lg_multiply(cells, sizeof *c->points, &cells) ||
        !(c->points = lg_arena_alloc(&c->arena, cells)))
        return lg_fail_memory(b->error);
    for (size_t f = 0; f < c->n_filters; f++)
        for (size_t i = 0; i < n; i++) {
            const lg_curve_checkpoint *from = &c->checkpoints[i];
            *point_of(c, f, i) = (lg_curve_point){.filter = lg_filters_at(c->about.filters, f)->name,
                                                  .run = from->run,
                                                  .step = from->step,
                                                  .tokens_seen = from->tokens_seen,
                                                  .has_tokens_seen = from->tokens_from != NULL,
                                                  .gone = from->gone};
        }
    size_t *members = lg_alloc(n_runs * 2 + 1, sizeof *members);
    bool *done = calloc(n ? n : 1, sizeof *done), has_baseline;
    lg_status status = members && done ? LG_OK : lg_fail_memory(b->error);
    for (size_t i = 0; i < n && !status; i++) {
        if (done[i]) continue;
        size_t count = members_of(c, c->checkpoints[i].step, members, &has_baseline);
        for (size_t k = 0; k < count; k++) done[members[k]] = true;
        status = compute_step(b, members, count, has_baseline, members + n_runs);
    }
    free(members);
    free(done);
    return status;
}

/* ---- provenance ---- */

static void put(lg_json_writer *w, const char *key, const char *value) {
    lg_json_put_key(w, key);
    lg_json_put_text(w, value);
}

static void put_raw(lg_json_writer *w, const char *key, const char *json) {
    lg_json_put_key(w, key);
    lg_json_put_raw(w, json, strlen(json));
}

static lg_status describe(builder *b, const char *command) {
    lg_curve *c = b->curve;
    lg_json_writer w = {.out = &c->provenance};
    const lg_provenance *of_data = b->data->table ? lg_table_provenance(b->data->table) : NULL;
    char program[64];
    snprintf(program, sizeof program, "lossgap %s", lg_version());
    lg_json_put_object(&w);
    put(&w, "program", program);
    put(&w, "command", command ? command : "");
    lg_json_put_key(&w, "inputs");
    lg_json_put_object(&w);
    put(&w, "dataset", of_data ? of_data->identity : NULL);
    put_raw(&w, "filters", lg_filters_inputs(c->about.filters));
    lg_json_put_key(&w, "scores");
    lg_json_put_array(&w);
    for (size_t i = 0; i < c->about.n_checkpoints; i++) lg_json_put_text(&w, c->identities[i]);
    lg_json_end_array(&w);
    lg_json_end_object(&w);
    lg_json_put_key(&w, "settings");
    lg_json_put_object(&w);
    put(&w, "sign", LG_CURVE_SIGN);
    put(&w, "interval",
        "95 %, clustered by document (CR1), Student's t with documents - 1 degrees of freedom");
    put(&w, "baseline", c->about.n_runs ? c->about.runs[0] : NULL);
    put(&w, "state_a", c->about.pair[0]);
    put(&w, "state_b", c->about.pair[1]);
    put(&w, "hard", c->about.hard);
    put_raw(&w, "filters", lg_filters_settings(c->about.filters));
    const lg_scores *one = c->about.n_checkpoints ? c->checkpoints[0].scores : NULL;
    if (one) { /* the same of all */
        put(&w, "windows", lg_windows_name(one->windows));
        lg_json_put_key(&w, "context");
        lg_json_put_unsigned(&w, one->window_context);
        lg_json_put_key(&w, "stride");
        if (one->stride) lg_json_put_unsigned(&w, one->stride);
        else lg_json_put_null(&w);
        lg_json_put_key(&w, "prefix");
        if (one->prefix >= 0) lg_json_put_integer(&w, one->prefix);
        else lg_json_put_null(&w);
    }
    lg_json_end_object(&w);
    lg_json_end_object(&w);
    c->about.provenance = c->provenance.data;
    return c->provenance.failed ? lg_fail_memory(b->error) : LG_OK;
}

lg_status lg_curve_compute(const lg_dataset *data, const lg_curve_checkpoint *checkpoints, size_t n,
                           const lg_filters *filters, const lg_curve_options *options,
                           const lg_curve *earlier, lg_curve **curve, lg_error *error) {
    *curve = NULL;
    lg_curve *c = calloc(1, sizeof *c);
    if (!c) return lg_fail_memory(error);
    c->about.filters = filters;
    c->about.has_text = data->has_text;
    c->about.documents = data->n_docs;
    c->about.tokens = data->n_tokens;
    builder b = {c, data, earlier, error};
    lg_status status = copy_options(&b, options);
    if (!status) status = copy_checkpoints(&b, checkpoints, n);
    if (!status) status = compute_points(&b);
    if (!status) status = describe(&b, options->command);
    for (size_t i = 0; i < n && !status; i++) c->checkpoints[i].scores = NULL; /* the caller may close them */
    if (status) lg_curve_free(c);
    else *curve = c;
    return status;
}

size_t lg_curve_n_points(const lg_curve *curve) {
    return curve->n_filters * curve->about.n_checkpoints;
}

const lg_curve_point *lg_curve_at(const lg_curve *curve, size_t i) {
    return &curve->points[i];
}

const lg_curve_point *lg_curve_line(const lg_curve *curve, size_t filter, size_t run, size_t *n) {
    *n = curve->first[run + 1] - curve->first[run];
    return point_of(curve, filter, curve->first[run]);
}

const lg_curve_about *lg_curve_get_about(const lg_curve *curve) {
    return &curve->about;
}
