/* The loss gap by category: what is compared with what, whether it may be, and what the result says of
 * itself. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "stats/comparable.h"
#include "stats/gap_internal.h"
#include "stats/where.h"

/* ---- set-up ---- */

lg_status gap_add_grouping(collector *c, uint32_t columns, lg_error *error) {
    grouping *g = &c->groupings[c->n_groupings++];
    *g = (grouping){.columns = columns, .n_codes = 1};
    for (size_t b = c->gap->n_by; b-- > 0;) {
        if (!(columns >> b & 1)) continue;
        g->radix[b] = g->n_codes;
        if (__builtin_mul_overflow(g->n_codes, c->gap->by[b].n_levels + 1, &g->n_codes) ||
            g->n_codes > UINT64_MAX / 4096)
            return lg_fail(error, LG_USAGE, "too many combinations of levels to group by");
    }
    return LG_OK;
}

static lg_status open_column(collector *c, const lg_table *tags, const char *name, lg_error *error) {
    size_t b = c->gap->n_by, item = gap_find_definition(c, name);
    lg_status status = item != SIZE_MAX
                           ? gap_open_definition(c, b, item, error)
                           : lg_group_column_open(c->data, tags, name, &c->gap->arena, &c->gap->by[b], error);
    if (!status) c->gap->n_by++;
    return status;
}

static lg_status open_columns(collector *c, const lg_table *tags, const gap_selection *options,
                              lg_error *error) {
    lg_status status = LG_OK;
    const char *const *by = options->by;
    size_t n_by = options->n_by;
    static const char *const standard[] = {"domain", LG_GAP_STANDARD};
    const char *list[sizeof standard / sizeof *standard];
    if (!by) {
        for (size_t i = 0; i < sizeof standard / sizeof *standard; i++)
            if (!i || (tags && lg_table_find(tags, standard[i]))) list[n_by++] = standard[i];
        by = list;
    }
    if (n_by > MAX_BY) return lg_fail(error, LG_USAGE, "at most %d columns to group by", MAX_BY);
    for (size_t i = 0; i < n_by && !status; i++) {
        for (size_t j = 0; j < i; j++)
            if (strcmp(by[i], by[j]) == 0)
                return lg_fail(error, LG_USAGE, "column '%s' is named twice", by[i]);
        status = open_column(c, tags, by[i], error);
    }
    if (!status) status = gap_add_grouping(c, 0, error);
    for (size_t i = 0; i < n_by && !status; i++) status = gap_add_grouping(c, 1u << i, error);
    if (!options->by)
        for (size_t i = 1; i < n_by && !status; i++) status = gap_add_grouping(c, 1u | 1u << i, error);
    else if (n_by > 1 && !status) status = gap_add_grouping(c, (uint32_t)(((uint64_t)1 << n_by) - 1), error);
    return status;
}

static lg_status open_view(collector *c, const lg_table *tags, const gap_selection *options, const char *view,
                           lg_error *error) {
    c->view = gap_find_view(view);
    c->gap->about.view = c->view ? gap_view_name(c->view) : NULL;
    if (!c->view) {
        lg_text names = {0};
        for (size_t i = 0; lg_gap_view_at(i); i++)
            lg_text_printf(&names, "%s%s", i ? ", " : "", lg_gap_view_at(i)->name);
        lg_status status =
            names.failed ? lg_fail_memory(error)
                         : lg_fail(error, LG_USAGE, "there is no view '%s'; there are %s", view, names.data);
        lg_text_free(&names);
        return status;
    }
    if (options->by)
        return lg_fail(error, LG_USAGE,
                       "a view has columns of its own to group by: give either the view or the columns");
    return gap_open_view(c, c->view, tags, error);
}

/* What becomes of tokens that carry several levels. */
static lg_status choose_multi(collector *c, const lg_table *tags, const char *wanted, lg_error *error) {
    lg_gap *gap = c->gap;
    lg_status status = LG_OK;
    gap->about.multi = "first";
    gap->about.several = gap->several;
    if (tags) status = lg_group_column_multi(tags, &gap->arena, &gap->about.multi, error);
    if (wanted) gap->about.multi = lg_arena_copy(&gap->arena, wanted, strlen(wanted));
    if (status || !gap->about.multi) return status ? status : lg_fail_memory(error);
    for (size_t b = 0; b < gap->n_by; b++)
        if (gap->by[b].curve) c->multi |= 1u << b;
    c->drop = strcmp(gap->about.multi, "drop") == 0;
    if (!c->drop && strcmp(gap->about.multi, "all") != 0) {
        if (strcmp(gap->about.multi, "first") == 0) return LG_OK;
        return lg_fail(error, wanted ? LG_USAGE : LG_BAD_INPUT,
                       "tokens of several tags: first, all or drop, not '%s'", gap->about.multi);
    }
    for (size_t b = 0; b < gap->n_by; b++)
        if (gap->by[b].bits) c->multi |= 1u << b;
    return LG_OK;
}

lg_status gap_open(collector *c, const lg_table *tags, const gap_selection *selection, const char *view,
                   lg_error *error) {
    c->gap->about.n_models = c->n_scores;
    c->gap->about.models = lg_name_models(&c->gap->arena, c->scores, c->n_scores);
    if (!c->gap->about.models) return lg_fail_memory(error);
    lg_status status = tags ? lg_check_tags(c->data, tags, error) : LG_OK;
    if (!status) status = lg_check_scores(c->data, c->scores, c->n_scores, c->gap->about.models, error);
    if (!status) status = gap_compile(c, tags, selection, error);
    if (!status && view) status = open_view(c, tags, selection, view, error);
    else if (!status) status = open_columns(c, tags, selection, error);
    if (!status) status = choose_multi(c, tags, selection->multi, error);
    if (!status) status = gap_select(c, error);
    return status ? status : gap_collect(c, error);
}

/* ---- provenance ---- */

void gap_put_inputs(const collector *c, const lg_table *tags, lg_json_writer *w) {
    lg_json_put_key(w, "inputs");
    lg_json_put_object(w);
    lg_json_put_key(w, "dataset");
    lg_json_put_text(w, lg_table_provenance(c->data->table)->identity);
    if (tags) {
        lg_json_put_key(w, "tags");
        lg_json_put_text(w, lg_table_provenance(tags)->identity);
    }
    lg_json_put_key(w, "scores");
    lg_json_put_object(w);
    for (size_t i = 0; i < c->n_scores; i++) {
        lg_json_put_key(w, c->gap->about.models[i]);
        lg_json_put_text(w, lg_table_provenance(c->scores[i].table)->identity);
    }
    lg_json_end_object(w);
    lg_json_end_object(w);
}

void gap_put_bootstrap(size_t replicates, uint64_t seed, lg_json_writer *w) {
    if (!replicates) return;
    lg_json_put_key(w, "bootstrap");
    lg_json_put_object(w);
    lg_json_put_key(w, "replicates");
    lg_json_put_unsigned(w, replicates);
    lg_json_put_key(w, "seed");
    lg_json_put_unsigned(w, seed);
    lg_json_put_key(w, "of");
    lg_json_put_text(w, "documents with a loss, drawn with replacement (Philox4x32-10); 2.5 % and 97.5 "
                        "% quantiles, type 7");
    lg_json_end_object(w);
}

void gap_put_selection(const collector *c, const gap_selection *options, lg_json_writer *w) {
    const lg_gap *gap = c->gap;
    lg_json_put_key(w, "by");
    lg_json_put_array(w);
    for (size_t i = 0; i < gap->n_by; i++) lg_json_put_text(w, gap->by[i].name);
    lg_json_end_array(w);
    lg_json_put_key(w, "multi");
    lg_json_put_text(w, gap->about.multi);
    lg_json_put_key(w, "several");
    lg_json_put_object(w);
    for (size_t i = 0; i < gap->n_by; i++) {
        if (!gap->by[i].bits) continue;
        lg_json_put_key(w, gap->by[i].name);
        lg_json_put_unsigned(w, gap->several[i]);
    }
    lg_json_end_object(w);
    lg_json_put_key(w, "unit");
    lg_json_put_text(w, c->data->spans ? "span" : "token");
    if (c->data->spans) {
        lg_json_put_key(w, "cut");
        lg_json_put_unsigned(w, c->cut);
    }
    lg_json_put_key(w, "documents");
    lg_json_put_unsigned(w, c->data->n_docs);
    lg_json_put_key(w, "tokens");
    lg_json_put_unsigned(w, c->data->n_tokens);
    lg_json_put_key(w, "unscorable");
    lg_json_put_unsigned(w, c->unscorable);
    if (options->n_define) {
        lg_json_put_key(w, "define");
        lg_json_put_array(w);
        for (size_t i = 0; i < options->n_define; i++) lg_json_put_text(w, options->define[i]);
        lg_json_end_array(w);
    }
    if (gap->about.where) {
        lg_json_put_key(w, "where");
        lg_json_put_text(w, gap->about.where);
        lg_json_put_key(w, "kept");
        lg_json_put_unsigned(w, c->kept);
        lg_json_put_key(w, "unknown");
        lg_json_put_unsigned(w, c->unknown);
    }
    lg_json_put_key(w, "scores");
    lg_json_put_object(w);
    for (size_t i = 0; i < c->n_scores; i++) {
        const char *settings = lg_table_provenance(c->scores[i].table)->settings;
        lg_json_put_key(w, gap->about.models[i]);
        lg_json_put_raw(w, settings, strlen(settings));
    }
    lg_json_end_object(w);
}

void gap_finish_about(collector *c) {
    lg_gap_about *about = &c->gap->about;
    about->documents = c->data->n_docs;
    about->tokens = c->data->n_tokens;
    about->unscorable = c->unscorable;
    about->kept = c->kept;
    about->unknown = c->unknown;
    about->has_text = c->data->has_text;
    about->spans = c->data->spans;
    about->cut = c->cut;
    for (size_t b = 0; b < c->gap->n_by; b++)
        c->gap->by[b].values = c->gap->by[b].bits = NULL; /* they end with the table */
}

static lg_status describe(collector *c, const lg_table *tags, const lg_gap_options *options,
                          const gap_selection *selection, lg_error *error) {
    lg_gap *gap = c->gap;
    lg_json_writer w = {.out = &gap->provenance};
    lg_json_put_object(&w);
    lg_json_put_key(&w, "program");
    lg_json_put_text(&w, "lossgap " LG_VERSION);
    lg_json_put_key(&w, "command");
    lg_json_put_text(&w, options->command);
    gap_put_inputs(c, tags, &w);
    lg_json_put_key(&w, "settings");
    lg_json_put_object(&w);
    lg_json_put_key(&w, "sign");
    lg_json_put_text(&w, lg_gap_sign(c->data->spans));
    lg_json_put_key(&w, "interval");
    lg_json_put_text(&w,
                     "95 %, clustered by document (CR1), Student's t with documents - 1 degrees of freedom");
    gap_put_bootstrap(options->bootstrap, options->seed, &w);
    if (c->view) {
        lg_json_put_key(&w, "view");
        lg_json_put_text(&w, gap->about.view);
    }
    gap_put_selection(c, selection, &w);
    lg_json_end_object(&w);
    lg_json_end_object(&w);
    if (gap->provenance.failed) return lg_fail_memory(error);
    gap->about.has_vocabulary = c->view && gap_wants_vocabulary(c->view);
    gap->about.bootstrap = options->bootstrap;
    gap->about.seed = options->seed;
    gap->about.provenance = gap->provenance.data;
    gap_finish_about(c);
    return LG_OK;
}

lg_status lg_gap_compute(const lg_dataset *data, const lg_scores *scores, size_t n_scores,
                         const char *tags_path, const lg_gap_options *options, lg_gap **result,
                         lg_error *error) {
    *result = NULL;
    if (n_scores < 2) return lg_fail(error, LG_USAGE, "a gap needs the scores of two models at least");
    lg_table *tags = NULL;
    collector *c = calloc(1, sizeof *c);
    lg_gap *gap = calloc(1, sizeof *gap);
    gap_pair *pairs = lg_alloc(n_scores, sizeof *pairs);
    lg_status status = c && gap && pairs ? LG_OK : lg_fail_memory(error);
    if (status) goto done;
    c->data = data;
    c->scores = scores;
    c->n_scores = n_scores;
    c->n_pairs = c->n_ordered = n_scores - 1;
    for (size_t p = 0; p < c->n_pairs; p++) pairs[p] = (gap_pair){0, p + 1};
    c->pairs = pairs;
    c->gap = gap;
    c->threads = options->threads ? options->threads : (unsigned)omp_get_num_procs();
    gap_selection selection = {options->by,    options->n_by,   options->multi,
                               options->where, options->define, options->n_define};
    if (!status && tags_path) status = lg_table_open(tags_path, "tags", &tags, error);
    if (!status) status = gap_open(c, tags, &selection, options->view, error);
    if (!status) status = gap_order(c, error);
    for (size_t k = 0; k < c->n_groupings && !status && c->view && gap_wants_vocabulary(c->view); k++)
        status = gap_count_vocabulary(c, k, error);
    if (!status) status = gap_make_rows(c, options->bootstrap, options->seed, error);
    if (!status) status = describe(c, tags, options, &selection, error);
    if (!status) {
        *result = gap;
        gap = NULL;
    }
done:
    lg_table_close(tags);
    if (c) gap_free_groups(c);
    free(c);
    free(pairs);
    lg_gap_free(gap);
    return status;
}

lg_status lg_gap_check_where(const char *where, const lg_dataset *data, const char *const *models,
                             size_t n_models, unsigned columns, const char *tags_path, lg_error *error) {
    lg_table *tags = NULL;
    lg_where w = {0};
    lg_scores *scores = lg_pretend_scores(data, n_models, columns);
    lg_status status = scores ? LG_OK : lg_fail_memory(error);
    if (!status && tags_path) status = lg_table_open(tags_path, "tags", &tags, error);
    if (!status && tags) status = lg_check_tags(data, tags, error);
    if (!status) status = lg_where_open(where, "--where", data, scores, models, n_models, tags, &w, error);
    lg_where_close(&w);
    lg_table_close(tags);
    free(scores);
    return status;
}

void lg_gap_free(lg_gap *gap) {
    if (!gap) return;
    lg_arena_free(&gap->arena);
    lg_text_free(&gap->provenance);
    free(gap->rows);
    free(gap->contrasts);
    free(gap);
}

size_t lg_gap_n_by(const lg_gap *gap) {
    return gap->n_by;
}

const char *lg_gap_by(const lg_gap *gap, size_t i) {
    return gap->by[i].name;
}

size_t lg_gap_n_rows(const lg_gap *gap) {
    return gap->n_rows;
}

const lg_gap_row *lg_gap_at(const lg_gap *gap, size_t i) {
    return &gap->rows[i];
}

size_t lg_gap_n_contrasts(const lg_gap *gap) {
    return gap->n_contrasts;
}

const lg_gap_contrast *lg_gap_contrast_at(const lg_gap *gap, size_t i) {
    return &gap->contrasts[i];
}

const lg_gap_about *lg_gap_get_about(const lg_gap *gap) {
    return &gap->about;
}
