/* Filters: which there are, what they need, and their masks. All are compiled as one query, so that each may
   use those before it, and run over the tokens block by block. */
#include "lossgap/filter.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "stats/comparable.h"
#include "stats/filter_internal.h"
#include "stats/token_source.h"

#ifdef _OPENMP
#include <omp.h>

unsigned lg_filter_threads(unsigned wanted) {
    return wanted ? wanted : (unsigned)omp_get_num_procs();
}
#else /* fuzzers: one thread */
unsigned lg_filter_threads(unsigned wanted) {
    (void)wanted;
    return 1;
}
#endif

enum { N_BUILT_IN = 10, MOST_MODELS = 3 };
#define OF_TOKENISED "; text that came tokenised has none"

/* What a built-in filter is made of. */
typedef struct built_in {
    const char *name, *expression; /* expression NULL: made when its time comes */
    const char *columns[3];        /* of the tags, that it needs */
} built_in;

static const built_in built_ins[N_BUILT_IN] = {
    {"all", "1 = 1", {NULL}},
    {"state", NULL, {"tag", "class", "copy_len"}},
    {"copy5", "copy_len >= 5", {"copy_len"}},
    {"hard_copy5", NULL, {"copy_len", "first_distance_5"}},
    {"open", "delimiter ~ /^open\\./", {"delimiter"}},
    {"close", "delimiter ~ /^close\\./", {"delimiter"}},
    {"content", "class = content", {"class"}},
    {"function", "class = function", {"class"}},
    {"novel", "copy_len = 0", {"copy_len"}},
    {"reuse", "copy_len >= 1", {"copy_len"}},
};

/* All that the making of filters needs, and does not leave behind. */
typedef struct maker {
    lg_filters *filters;
    const lg_dataset *data;
    const lg_filter_options *options;
    lg_table *tags;
    const lg_scores
        *scores; /* [n_scores] A, B, and that of `hard` unless it is one of them; in a check any */
    lg_scores own[MOST_MODELS]; /* what they lie in, but for a check */
    const char *const *models;
    size_t n_scores, hard; /* hard: its index */
    bool check;            /* there are no losses yet: nothing is computed */
    lg_token_source *source;
    lg_query *query;
    lg_filter_list list;
    size_t *wanted; /* [n filters] index in list */
    lg_query_item *items;
    size_t *item_of; /* [list.n] */
    size_t n_items;
} maker;

/* ---- what is there ---- */

static bool same_scores(const lg_scores *a, const lg_scores *b) {
    if (a->nll == b->nll) return true;
    return a->table && b->table &&
           strcmp(lg_table_provenance(a->table)->identity, lg_table_provenance(b->table)->identity) == 0;
}

static lg_status take_scores(maker *m, lg_error *error) {
    const lg_filter_options *o = m->options;
    m->scores = m->own;
    if (o->pair) {
        memcpy(m->own, o->pair, 2 * sizeof *o->pair);
        m->n_scores = 2;
    }
    if (o->hard) {
        for (m->hard = 0; m->hard < m->n_scores && !same_scores(&m->own[m->hard], o->hard);) m->hard++;
        m->own[m->hard] = *o->hard;
        if (m->hard == m->n_scores) m->n_scores++;
    }
    if (m->n_scores && !(m->models = lg_name_models(&m->filters->arena, m->scores, m->n_scores)))
        return lg_fail_memory(error);
    lg_status status = o->pair ? lg_check_scores(m->data, m->scores, 2, m->models, error) : LG_OK;
    if (!status && o->hard)
        status = lg_check_scores(m->data, &m->scores[m->hard], 1, &m->models[m->hard], error);
    return status;
}

/* Why built-in filter B cannot be made, from the arena; *REASON NULL: it can, as far as one sees yet. */
static lg_status find_reason(const maker *m, const built_in *b, const char **reason, lg_error *error) {
    bool state = strcmp(b->name, "state") == 0, hard = strcmp(b->name, "hard_copy5") == 0;
    *reason = NULL;
    for (size_t i = 0; i < sizeof b->columns / sizeof *b->columns && b->columns[i]; i++) {
        char text[128];
        if (!m->tags) {
            *reason = "needs tags";
            return LG_OK;
        }
        if (lg_table_find(m->tags, b->columns[i])) continue;
        snprintf(text, sizeof text, "the tags have no column `%s`%s", b->columns[i],
                 m->data->has_text ? "" : OF_TOKENISED);
        *reason = lg_arena_copy(&m->filters->arena, text, strlen(text));
        return *reason ? LG_OK : lg_fail_memory(error);
    }
    bool has_pair = m->check ? m->n_scores > 1 : m->options->pair != NULL;
    bool has_hard = m->check ? m->n_scores > 0 : m->options->hard != NULL;
    if (state && !has_pair && !m->options->state_tags)
        *reason = "needs the scores of a pair (--scores A B) or a list of tags (--state-tags)";
    if (hard && !has_hard) *reason = "needs the scores of a model (--hard SCORES)";
    return LG_OK;
}

/* `copy_len >= 5 and first_loss("NAME") > 2` */
static lg_status put_hard(maker *m, lg_filter_definition *d, lg_error *error) {
    lg_text out = {0};
    lg_text_puts(&out, "copy_len >= 5 and first_loss(\"");
    for (const char *p = m->models[m->hard]; *p; p++)
        lg_text_printf(&out, *p == '"' || *p == '\\' ? "\\%c" : "%c", *p);
    lg_text_printf(&out, "\") > %d", LG_HARD_LOSS);
    d->expression = out.failed ? NULL : lg_arena_copy(&m->filters->arena, out.data, out.length);
    lg_text_free(&out);
    return d->expression ? LG_OK : lg_fail_memory(error);
}

static bool is_wanted(const maker *m, const char *name) {
    const char *const *only = m->options->only;
    for (size_t i = 0; only && only[i]; i++)
        if (strcmp(only[i], name) == 0) return true;
    return !only;
}

/* The built-in filters that the file has not replaced: what they are, or why they are not. `state` is chosen
   only if it is wanted, or if a file may use it. */
static lg_status define_built_ins(maker *m, lg_error *error) {
    lg_status status = LG_OK;
    for (size_t i = 0; i < m->list.n && !status; i++) {
        lg_filter_definition *d = &m->list.items[i];
        if (d->own) continue;
        const built_in *b = built_ins;
        while (strcmp(b->name, d->name) != 0) b++;
        status = find_reason(m, b, &d->reason, error);
        if (status || d->reason) continue;
        d->expression = b->expression;
        if (strcmp(b->name, "hard_copy5") == 0) status = put_hard(m, d, error);
        if (strcmp(b->name, "state") == 0) {
            if (m->check && !m->options->state_tags)
                d->expression = "1 = 1"; /* chosen when there are losses */
            else if (is_wanted(m, "state") || m->options->file)
                status = lg_filter_choose_state(m->filters, m->tags, m->options->pair, m->models,
                                                m->options->state_tags, d, error);
            else d->reason = "not asked for";
        }
    }
    return status;
}

static lg_status list_filters(maker *m, lg_error *error) {
    lg_arena *arena = &m->filters->arena;
    m->list.items = lg_arena_alloc(arena, (N_BUILT_IN + LG_MOST_FILTERS + 1) * sizeof *m->list.items);
    if (!m->list.items) return lg_fail_memory(error);
    for (size_t i = 0; i < N_BUILT_IN; i++)
        m->list.items[m->list.n++] =
            (lg_filter_definition){.name = built_ins[i].name, .what = built_ins[i].name};
    lg_status status = LG_OK;
    if (m->options->file) {
        lg_mapping file;
        status = lg_map(m->options->file, &file, error);
        if (status) return status;
        status =
            lg_filter_parse((const char *)file.data, file.size, m->options->file, arena, &m->list, error);
        lg_unmap(&file);
    }
    return status ? status : define_built_ins(m, error);
}

/* ---- which are wanted ---- */

static lg_status no_such_filter(const maker *m, const char *name, lg_error *error) {
    lg_text names = {0};
    for (size_t i = 0; i < m->list.n; i++)
        lg_text_printf(&names, "%s%s", i ? ", " : "", m->list.items[i].name);
    lg_status status =
        names.failed ? lg_fail_memory(error)
                     : lg_fail(error, LG_USAGE, "there is no filter '%s'; there are %s", name, names.data);
    lg_text_free(&names);
    return status;
}

static lg_status choose_filters(maker *m, lg_error *error) {
    lg_filters *f = m->filters;
    const char *const *only = m->options->only;
    size_t n = 0;
    while (only && only[n]) n++;
    m->wanted = lg_alloc(n + m->list.n + 1, sizeof *m->wanted);
    f->left_out = lg_arena_alloc(&f->arena, (m->list.n + 1) * sizeof *f->left_out);
    if (!m->wanted || !f->left_out) return lg_fail_memory(error);
    for (size_t k = 0; k < n; k++) {
        size_t i = 0;
        while (i < m->list.n && strcmp(m->list.items[i].name, only[k]) != 0) i++;
        if (i == m->list.n) return no_such_filter(m, only[k], error);
        for (size_t j = 0; j < k; j++)
            if (strcmp(only[j], only[k]) == 0)
                return lg_fail(error, LG_USAGE, "filter '%s' is named twice", only[k]);
        if (m->list.items[i].reason)
            return lg_fail(error, LG_USAGE, "filter '%s' cannot be made: %s", only[k],
                           m->list.items[i].reason);
        m->wanted[f->n++] = i;
    }
    for (size_t i = 0; i < m->list.n && !only; i++) {
        const lg_filter_definition *d = &m->list.items[i];
        if (d->reason) f->left_out[f->n_left_out++] = (lg_filter_left_out){d->name, d->reason};
        else m->wanted[f->n++] = i;
    }
    return LG_OK;
}

/* ---- masks ---- */

static bool names_a_column(const maker *m, const char *name) {
    const lg_query_source *s = lg_token_source_columns(m->source);
    const char *column;
    for (size_t i = 0; (column = s->name(s->context, i)); i++)
        if (strcmp(column, name) == 0) return true;
    return false;
}

static lg_status compile(maker *m, lg_error *error) {
    lg_filters *f = m->filters;
    lg_status status =
        lg_token_source_open(m->data, m->scores, m->models, m->n_scores, m->tags, &m->source, error);
    if (status) return status;
    m->items = calloc(m->list.n + 1, sizeof *m->items);
    m->item_of = calloc(m->list.n + 1, sizeof *m->item_of);
    if (!m->items || !m->item_of) return lg_fail_memory(error);
    for (size_t i = 0; i < m->list.n; i++) {
        const lg_filter_definition *d = &m->list.items[i];
        bool wanted = false;
        if (d->reason) continue;
        for (size_t k = 0; k < f->n; k++) wanted |= m->wanted[k] == i;
        m->item_of[i] = m->n_items;
        m->items[m->n_items++] = (lg_query_item){.what = d->what,
                                                 .name = names_a_column(m, d->name) ? NULL : d->name,
                                                 .text = d->expression,
                                                 .want = wanted ? LG_QUERY_CONDITION : LG_QUERY_HELPER};
    }
    lg_error reason = {0};
    status = lg_query_compile(m->items, m->n_items, lg_token_source_columns(m->source), &m->query, &reason);
    if (!status) return LG_OK;
    if (!reason.status) return status;
    const char *file = m->options->file;
    if (status == LG_USAGE && file && strncmp(reason.message, file, strlen(file)) == 0) status = LG_BAD_INPUT;
    return lg_fail(error, status, "%s", reason.message);
}

/* Block BLOCK of all filters, by SESSION; UNKNOWN [n filters] counts on. */
static lg_status make_block(const maker *m, lg_query_session *session, size_t block, uint64_t *unknown,
                            lg_error *error) {
    lg_filters *f = m->filters;
    size_t first = block * LG_QUERY_BLOCK, n = m->data->n_tokens - first;
    if (n > LG_QUERY_BLOCK) n = LG_QUERY_BLOCK;
    lg_status status = lg_query_run(session, first, n, error);
    if (status) return status;
    for (size_t k = 0; k < f->n; k++) {
        const uint8_t *truth = lg_query_truth(session, m->item_of[m->wanted[k]]);
        uint8_t *mask = f->masks + k * m->data->n_tokens + first;
        for (size_t i = 0; i < n; i++) {
            mask[i] = truth[i] == LG_QUERY_TRUE;
            unknown[k] += truth[i] == LG_QUERY_UNKNOWN;
        }
    }
    return LG_OK;
}

/* Every STEP-th block from FIRST on. */
static lg_status make_blocks(const maker *m, size_t first, size_t step, uint64_t *unknown, lg_error *error) {
    size_t n_blocks = m->data->n_tokens / LG_QUERY_BLOCK + (m->data->n_tokens % LG_QUERY_BLOCK != 0);
    lg_query_session *session = lg_query_session_create(m->query);
    if (!session) return lg_fail_memory(error);
    lg_status status = LG_OK;
    for (size_t b = first; b < n_blocks && !status; b += step)
        status = make_block(m, session, b, unknown, error);
    lg_query_session_free(session);
    return status;
}

static lg_status make_masks(maker *m, lg_error *error) {
    lg_filters *f = m->filters;
    size_t threads = f->threads;
    uint64_t *unknown = calloc(threads * f->n + 1, sizeof *unknown);
    lg_error *errors = calloc(threads, sizeof *errors);
    lg_status status = unknown && errors ? LG_OK : lg_fail_memory(error);
    if (!status && threads == 1) { /* without a team, whose making cannot fail softly */
        status = make_blocks(m, 0, 1, unknown, error);
    } else if (!status) {
        lg_status worst = LG_OK;
#pragma omp parallel for schedule(static, 1) num_threads((int)threads) reduction(max : worst)
        for (size_t t = 0; t < threads; t++) {
            lg_status own = make_blocks(m, t, threads, unknown + t * f->n, &errors[t]);
            if (own > worst) worst = own;
        }
        for (size_t t = 0; t < threads && worst && !status; t++)
            if (errors[t].status) status = lg_fail(error, errors[t].status, "%s", errors[t].message);
    }
    for (size_t t = 0; t < threads && !status; t++)
        for (size_t k = 0; k < f->n; k++) f->filters[k].unknown += unknown[t * f->n + k];
    free(unknown);
    free(errors);
    return status;
}

lg_status lg_filters_alloc(lg_filters *f, lg_error *error) {
    f->filters = lg_arena_alloc(&f->arena, (f->n + 1) * sizeof *f->filters);
    f->masks = calloc(f->n + 1, f->data->n_tokens + 1);
    if (!f->filters || !f->masks) return lg_fail_memory(error);
    for (size_t k = 0; k < f->n; k++) f->filters[k].mask = f->masks + k * f->data->n_tokens;
    return LG_OK;
}

void lg_filters_count(lg_filters *f) {
    const lg_dataset *data = f->data;
    for (size_t k = 0; k < f->n; k++) {
        lg_filter *filter = &f->filters[k];
        for (size_t d = 0; d < data->n_docs; d++) {
            uint64_t before = filter->tokens;
            for (size_t i = (size_t)lg_begin_of(data->doc_token_end, d); i < data->doc_token_end[d]; i++) {
                if (!filter->mask[i]) continue;
                filter->tokens++;
                if (data->has_text) filter->bytes += data->token_end[i] - lg_token_begin(data, d, i);
            }
            filter->documents += filter->tokens > before;
        }
        if (!filter->tokens && !filter->note) filter->note = "holds for no token";
    }
}

/* ---- what they say of themselves ---- */

static void describe_inputs(const maker *m, lg_text *out) {
    lg_json_writer w = {.out = out};
    lg_json_put_object(&w);
    lg_json_put_key(&w, "dataset");
    lg_json_put_text(&w, lg_table_provenance(m->data->table)->identity);
    if (m->tags) {
        lg_json_put_key(&w, "tags");
        lg_json_put_text(&w, lg_table_provenance(m->tags)->identity);
    }
    if (m->n_scores) {
        lg_json_put_key(&w, "scores");
        lg_json_put_object(&w);
        for (size_t i = 0; i < m->n_scores; i++) {
            lg_json_put_key(&w, m->models[i]);
            lg_json_put_text(&w, m->scores[i].table ? lg_table_provenance(m->scores[i].table)->identity : "");
        }
        lg_json_end_object(&w);
    }
    lg_json_end_object(&w);
}

static void describe_state(const maker *m, lg_json_writer *w) {
    const lg_filters *f = m->filters;
    lg_json_put_object(w);
    lg_json_put_key(w, "chosen");
    lg_json_put_text(
        w, m->options->state_tags ? "given" : "by the gap in half 0 of the documents; holds in half 1 only");
    if (m->options->pair) {
        lg_json_put_key(w, "pair");
        lg_json_put_array(w);
        for (size_t i = 0; i < 2; i++) lg_json_put_text(w, m->models[i]);
        lg_json_end_array(w);
    }
    lg_json_put_key(w, "tags");
    lg_json_put_array(w);
    for (size_t i = 0; i < f->n_state; i++) {
        lg_json_put_object(w);
        lg_json_put_key(w, "tag");
        lg_json_put_text(w, f->state[i].tag);
        lg_json_put_key(w, "gap");
        lg_json_put_double(w, f->state[i].gap);
        lg_json_put_key(w, "tokens");
        lg_json_put_unsigned(w, f->state[i].tokens);
        lg_json_put_key(w, "documents");
        lg_json_put_unsigned(w, f->state[i].documents);
        lg_json_end_object(w);
    }
    lg_json_end_array(w);
    lg_json_end_object(w);
}

static void describe_settings(const maker *m, lg_text *out) {
    const lg_filters *f = m->filters;
    lg_json_writer w = {.out = out};
    lg_json_put_object(&w);
    lg_json_put_key(&w, "filters");
    lg_json_put_array(&w);
    for (size_t k = 0; k < f->n; k++) {
        lg_json_put_object(&w);
        lg_json_put_key(&w, "name");
        lg_json_put_text(&w, f->filters[k].name);
        lg_json_put_key(&w, "expression");
        lg_json_put_text(&w, f->filters[k].expression);
        lg_json_put_key(&w, "note");
        lg_json_put_text(&w, f->filters[k].note);
        lg_json_end_object(&w);
    }
    lg_json_end_array(&w);
    if (f->n_state) {
        lg_json_put_key(&w, "state");
        describe_state(m, &w);
    }
    lg_json_end_object(&w);
}

/* ---- all of it ---- */

/* Everything up to the masks. */
static lg_status compile_filters(maker *m, const char *tags_path, lg_error *error) {
    lg_status status;
    if (tags_path && ((status = lg_table_open(tags_path, "tags", &m->tags, error)) ||
                      (status = lg_check_tags(m->data, m->tags, error))))
        return status;
    if ((!m->check && (status = take_scores(m, error))) || (status = list_filters(m, error)) ||
        (status = choose_filters(m, error)))
        return status;
    return compile(m, error);
}

static lg_status make_filters(maker *m, const char *tags_path, lg_error *error) {
    lg_filters *f = m->filters;
    lg_status status;
    if ((status = compile_filters(m, tags_path, error)) || (status = lg_filters_alloc(f, error)))
        return status;
    for (size_t k = 0; k < f->n; k++) {
        const lg_filter_definition *d = &m->list.items[m->wanted[k]];
        f->filters[k].name = d->name;
        f->filters[k].expression = d->expression;
        f->filters[k].note = d->note;
    }
    if ((status = make_masks(m, error))) return status;
    lg_filters_count(f);
    describe_inputs(m, &f->inputs);
    describe_settings(m, &f->settings);
    return f->inputs.failed || f->settings.failed ? lg_fail_memory(error) : LG_OK;
}

static void free_maker(maker *m) {
    lg_query_free(m->query);
    lg_token_source_close(m->source);
    lg_table_close(m->tags);
    free(m->items);
    free(m->item_of);
    free(m->wanted);
}

lg_status lg_filters_check(const lg_dataset *data, const char *tags, const lg_filter_options *options,
                           const char *const *models, size_t n_models, lg_error *error) {
    lg_filters *f = calloc(1, sizeof *f);
    lg_scores *scores = lg_pretend_scores(data, n_models, 0);
    maker m = {.filters = f,
               .data = data,
               .options = options,
               .scores = scores,
               .models = models,
               .n_scores = n_models,
               .check = true};
    if (f) f->data = data;
    lg_status status = f && scores ? compile_filters(&m, tags, error) : lg_fail_memory(error);
    free_maker(&m);
    lg_filters_close(f);
    free(scores);
    return status;
}

lg_status lg_filters_open(const lg_dataset *data, const char *tags, const lg_filter_options *options,
                          lg_filters **filters, lg_error *error) {
    lg_filters *f = *filters = calloc(1, sizeof *f);
    if (!f) return lg_fail_memory(error);
    maker m = {.filters = f, .data = data, .options = options};
    lg_status status = LG_OK;
    f->data = data;
    f->threads = lg_filter_threads(options->threads);
    if (options->command &&
        !(f->command = lg_arena_copy(&f->arena, options->command, strlen(options->command))))
        status = lg_fail_memory(error);
    if (!status) status = make_filters(&m, tags, error);
    free_maker(&m);
    if (status) {
        lg_filters_close(f);
        *filters = NULL;
    }
    return status;
}

void lg_filters_close(lg_filters *f) {
    if (!f) return;
    free(f->masks);
    lg_text_free(&f->inputs);
    lg_text_free(&f->settings);
    lg_arena_free(&f->arena);
    free(f);
}

size_t lg_filters_n(const lg_filters *f) {
    return f->n;
}

const lg_filter *lg_filters_at(const lg_filters *f, size_t i) {
    return &f->filters[i];
}

size_t lg_filters_n_left_out(const lg_filters *f) {
    return f->n_left_out;
}

const lg_filter_left_out *lg_filters_left_out(const lg_filters *f, size_t i) {
    return &f->left_out[i];
}

const lg_state_tag *lg_filters_state(const lg_filters *f, size_t *count) {
    *count = f->n_state;
    return f->state;
}

const lg_dataset *lg_filters_data(const lg_filters *f) {
    return f->data;
}

const char *lg_filters_command(const lg_filters *f) {
    return f->command;
}

const char *lg_filters_inputs(const lg_filters *f) {
    return f->inputs.data;
}

const char *lg_filters_settings(const lg_filters *f) {
    return f->settings.data;
}
