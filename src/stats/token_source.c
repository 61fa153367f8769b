/* The columns that queries over tokens may name (docs/guide/query.md). What lies in a file as an array is
   handed out as it lies; the rest is worked out block by block. */
#include "stats/token_source.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "stats/columns.h"

/* How a column is worked out; also its handle, with the model's index above. */
typedef enum rule {
    BY_DOCUMENT, /* a level of the document; above it: the index into by_document */
    DOC,
    POSITION,
    RELATIVE_POSITION,
    BYTES,
    TOKEN,
    WORD,
    GAP,
    DIFFICULTY,
    RANK,
    TOP1,
    HALF,
    FIRST_LOSS,
    N_RULES
} rule;

enum { N_BY_DOCUMENT = 3 };

struct lg_token_source {
    lg_query_source columns;
    lg_arena arena;
    const lg_dataset *data;
    const lg_scores *scores;
    const char *const *models;
    size_t n_scores;
    const lg_table *tags;
    const char **names;                         /* NULL ends */
    lg_group_column by_document[N_BY_DOCUMENT]; /* domain, kind, document; opened when named */
    const uint64_t *word_begin, *word_end;      /* [n_words] NULL: not opened */
    size_t n_words;
    const uint8_t *half;            /* [n_docs] NULL: not opened */
    const uint32_t *first_distance; /* [n_tokens] `first_distance_5`; NULL: not opened */
};

static const char *const by_document_names[N_BY_DOCUMENT] = {"domain", "kind", "document"};

/* ---- what there is ---- */

static bool is_token_column(const lg_token_source *s, const lg_tensor *t) {
    switch (t->dtype) {
    case LG_F8_E4M3:
    case LG_F8_E5M2:
    case LG_F16:
    case LG_BF16:
        return false;
    default: /* a point is in the names of the layers, which hold spans */
        return t->n_dims == 1 && t->count == s->data->n_tokens && !strchr(t->name, '.');
    }
}

static const lg_tensor *tag_column(const lg_token_source *s, const char *name) {
    const lg_tensor *t = s->tags ? lg_table_find(s->tags, name) : NULL;
    return t && is_token_column(s, t) ? t : NULL;
}

/* The tags' `first_distance_5`; NULL: there is none. */
static const lg_tensor *first_distances(const lg_token_source *s) {
    const lg_tensor *t = tag_column(s, "first_distance_5");
    return t && t->dtype == LG_U32 ? t : NULL;
}

static bool has_words(const lg_token_source *s) {
    return s->tags && s->data->has_text && lg_table_find(s->tags, "word.begin");
}

/* Which models have what NAME takes in parentheses; *KNOWN false: it takes nothing. */
static bool model_has(const lg_token_source *s, const char *name, size_t model, bool *known) {
    const lg_scores *scores = &s->scores[model];
    *known = true;
    if (strcmp(name, "loss") == 0 || strcmp(name, "nll") == 0) return true;
    if (strcmp(name, "gap") == 0) return model > 0;
    if (strcmp(name, "entropy") == 0) return scores->entropy;
    if (strcmp(name, "rank") == 0) return scores->rank;
    if (strcmp(name, "top1") == 0) return scores->top1;
    if (strcmp(name, "first_loss") == 0) return first_distances(s);
    if (strcmp(name, "tokens") == 0) return scores->tokens;
    *known = false;
    return false;
}

static const char *list_argument(const void *context, const char *name, size_t i) {
    const lg_token_source *s = context;
    bool known;
    for (size_t m = 0; m < s->n_scores; m++)
        if (model_has(s, name, m, &known) && i-- == 0) return s->models[m];
    return NULL;
}

static const char *list_name(const void *context, size_t i) {
    const lg_token_source *s = context;
    for (size_t k = 0; k <= i; k++)
        if (!s->names[k]) return NULL;
    return s->names[i];
}

/* All names, those of tags first. */
static lg_status collect_names(lg_token_source *s, lg_error *error) {
    static const char *const own[] = {"domain", "kind", "document", "doc"};
    static const char *const of_models[] = {"loss", "nll", "entropy", "rank", "top1", "first_loss", "tokens"};
    size_t n_columns = s->tags ? lg_table_n_columns(s->tags) : 0, n = 0;
    s->names = lg_arena_alloc(&s->arena, (n_columns + 24) * sizeof *s->names);
    if (!s->names) return lg_fail_memory(error);
    for (size_t i = 0; i < n_columns; i++)
        if (is_token_column(s, lg_table_at(s->tags, i))) s->names[n++] = lg_table_at(s->tags, i)->name;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) s->names[n++] = own[i];
    for (size_t i = 0; i < sizeof of_models / sizeof *of_models; i++)
        if (list_argument(s, of_models[i], 0)) s->names[n++] = of_models[i];
    if (s->n_scores >= 2) s->names[n++] = "gap";
    if (s->n_scores == 2) s->names[n++] = "difficulty";
    if (s->n_scores) s->names[n++] = "context";
    if (!tag_column(s, "position")) s->names[n++] = "position";
    s->names[n++] = "relpos";
    s->names[n++] = "half";
    s->names[n++] = "id";
    if (s->data->has_text) s->names[n++] = "bytes";
    if (s->data->has_text) s->names[n++] = "token";
    if (has_words(s)) s->names[n++] = "word";
    return LG_OK;
}

/* ---- finding one ---- */

static size_t handle_of(rule way, size_t which) {
    return which * N_RULES + way;
}

static bool computed(lg_query_column *column, lg_query_type type, rule way, size_t which) {
    *column = (lg_query_column){.type = type, .handle = handle_of(way, which)};
    return true;
}

static bool as_it_lies(lg_query_column *column, lg_dtype dtype, const void *values) {
    *column = (lg_query_column){.type = LG_QUERY_NUMBER, .dtype = dtype, .values = values};
    return true;
}

static lg_status find_by_document(lg_token_source *s, size_t i, lg_query_column *column, lg_error *error) {
    lg_group_column *g = &s->by_document[i];
    lg_status status = LG_OK;
    if (!g->levels) status = lg_group_column_open(s->data, NULL, by_document_names[i], &s->arena, g, error);
    if (status) return status;
    computed(column, LG_QUERY_CATEGORY, BY_DOCUMENT, i);
    column->levels = g->levels;
    column->n_levels = g->n_levels;
    return LG_OK;
}

static lg_status find_tag_column(lg_token_source *s, const lg_tensor *t, lg_query_column *column,
                                 lg_error *error) {
    const void *values;
    if (t->dtype == LG_U8 || t->dtype == LG_U16 || t->dtype == LG_U32) {
        lg_group_column g;
        lg_status status = lg_group_column_open(s->data, s->tags, t->name, &s->arena, &g, error);
        if (status) return status;
        as_it_lies(column, t->dtype, g.values);
        if (g.binned) return LG_OK;
        column->type = LG_QUERY_CATEGORY;
        column->levels = g.levels;
        column->n_levels = g.n_levels;
        return LG_OK;
    }
    lg_status status = lg_table_column(s->tags, t->name, t->dtype, s->data->n_tokens, &values, error);
    if (!status) as_it_lies(column, t->dtype, values);
    return status;
}

/* Opens the layer of words. Its spans must rise and lie in the text. */
static lg_status open_words(lg_token_source *s, lg_error *error) {
    const lg_tensor *t = lg_table_find(s->tags, "word.begin");
    const void *begin, *end;
    if (s->word_begin) return LG_OK;
    lg_status status = lg_table_column(s->tags, "word.begin", LG_U64, t->count, &begin, error);
    if (!status) status = lg_table_column(s->tags, "word.end", LG_U64, t->count, &end, error);
    if (status) return status;
    const uint64_t *b = begin, *e = end;
    for (size_t i = 0; i < t->count; i++)
        if (b[i] > e[i] || e[i] > s->data->n_bytes || (i && b[i] < e[i - 1]))
            return lg_fail(error, LG_BAD_INPUT,
                           "%s: word %zu lies outside the text or in another: run `lossgap tag` again",
                           lg_table_path(s->tags), i);
    s->word_begin = b;
    s->word_end = e;
    s->n_words = t->count;
    return LG_OK;
}

uint8_t lg_half_of_document(const lg_dataset *data, size_t doc) {
    const uint64_t *ends = data->has_text ? data->doc_text_end : data->doc_token_end;
    size_t begin = (size_t)lg_begin_of(ends, doc), n = (size_t)ends[doc] - begin;
    lg_hash hash = data->has_text ? lg_hash_of(data->text + begin, n)
                                  : lg_hash_of(data->token_id + begin, n * sizeof *data->token_id);
    return hash.low & 1;
}

static lg_status open_halves(lg_token_source *s, lg_error *error) {
    if (s->half) return LG_OK;
    uint8_t *half = lg_arena_alloc(&s->arena, s->data->n_docs + 1);
    if (!half) return lg_fail_memory(error);
    for (size_t d = 0; d < s->data->n_docs; d++) half[d] = lg_half_of_document(s->data, d);
    s->half = half;
    return LG_OK;
}

static lg_status open_first_distances(lg_token_source *s, lg_error *error) {
    const void *values;
    if (s->first_distance) return LG_OK;
    lg_status status =
        lg_table_column(s->tags, "first_distance_5", LG_U32, s->data->n_tokens, &values, error);
    if (!status) s->first_distance = values;
    return status;
}

/* NAME(MODEL), or NAME alone where that is clear. */
static bool find_of_model(lg_token_source *s, const char *name, const char *argument,
                          lg_query_column *column) {
    size_t model = SIZE_MAX;
    bool known = false;
    for (size_t m = 0; m < s->n_scores && argument; m++)
        if (model_has(s, name, m, &known) && strcmp(s->models[m], argument) == 0) model = m;
    if (!argument && strcmp(name, "gap") == 0 && s->n_scores == 2) model = 1;
    if (model == SIZE_MAX) return false;
    const lg_scores *scores = &s->scores[model];
    if (strcmp(name, "gap") == 0) return computed(column, LG_QUERY_NUMBER, GAP, model);
    if (strcmp(name, "rank") == 0) return computed(column, LG_QUERY_NUMBER, RANK, model);
    if (strcmp(name, "top1") == 0) return computed(column, LG_QUERY_NUMBER, TOP1, model);
    if (strcmp(name, "first_loss") == 0) return computed(column, LG_QUERY_NUMBER, FIRST_LOSS, model);
    if (strcmp(name, "tokens") == 0) return as_it_lies(column, LG_U32, scores->tokens);
    return as_it_lies(column, LG_F32, strcmp(name, "entropy") == 0 ? scores->entropy : scores->nll);
}

static bool find_of_dataset(lg_token_source *s, const char *name, lg_query_column *column) {
    bool text = s->data->has_text;
    if (strcmp(name, "doc") == 0) return computed(column, LG_QUERY_NUMBER, DOC, 0);
    if (strcmp(name, "position") == 0) return computed(column, LG_QUERY_NUMBER, POSITION, 0);
    if (strcmp(name, "relpos") == 0) return computed(column, LG_QUERY_NUMBER, RELATIVE_POSITION, 0);
    if (strcmp(name, "id") == 0) return as_it_lies(column, LG_U32, s->data->token_id);
    if (strcmp(name, "bytes") == 0 && text) return computed(column, LG_QUERY_NUMBER, BYTES, 0);
    if (strcmp(name, "token") == 0 && text) return computed(column, LG_QUERY_TEXT, TOKEN, 0);
    if (strcmp(name, "context") == 0 && s->n_scores) return as_it_lies(column, LG_U32, s->scores[0].context);
    if (strcmp(name, "difficulty") == 0 && s->n_scores == 2)
        return computed(column, LG_QUERY_NUMBER, DIFFICULTY, 0);
    return false;
}

static lg_status find(const void *context, const char *name, const char *argument, lg_query_column *column,
                      bool *found, lg_error *error) {
    lg_token_source *s = (lg_token_source *)(uintptr_t)context;
    *found = true;
    if (find_of_model(s, name, argument, column))
        return strcmp(name, "first_loss") == 0 ? open_first_distances(s, error) : LG_OK;
    if (!argument && strcmp(name, "half") == 0) {
        computed(column, LG_QUERY_NUMBER, HALF, 0);
        return open_halves(s, error);
    }
    for (size_t i = 0; i < N_BY_DOCUMENT && !argument; i++)
        if (strcmp(name, by_document_names[i]) == 0) return find_by_document(s, i, column, error);
    const lg_tensor *t = argument ? NULL : tag_column(s, name);
    if (t) return find_tag_column(s, t, column, error);
    if (!argument && strcmp(name, "word") == 0 && has_words(s)) {
        computed(column, LG_QUERY_TEXT, WORD, 0);
        return open_words(s, error);
    }
    *found = !argument && find_of_dataset(s, name, column);
    return LG_OK;
}

/* ---- blocks ---- */

/* Tokens of one document, one after another: the walk through a block. */
typedef struct walk {
    const lg_dataset *data;
    size_t doc, begin, end; /* of the document: first token, and after the last */
} walk;

static walk walk_from(const lg_dataset *data, size_t token) {
    size_t low = 0, high = data->n_docs;
    while (low < high) { /* the first document that ends after the token */
        size_t middle = low + (high - low) / 2;
        if (data->doc_token_end[middle] <= token) low = middle + 1;
        else high = middle;
    }
    return (walk){data, low, (size_t)lg_begin_of(data->doc_token_end, low), (size_t)data->doc_token_end[low]};
}

/* To the document of TOKEN, which lies there or in a later one. */
static inline void walk_to(walk *w, size_t token) {
    while (token >= w->end) {
        w->begin = w->end;
        w->end = (size_t)w->data->doc_token_end[++w->doc];
    }
}

/* Bytes of the white space (Unicode's White_Space) at TEXT; 0: none. */
static size_t white_space(const char *text, size_t length) {
    unsigned char c = (unsigned char)text[0];
    if (c == ' ' || (c >= '\t' && c <= '\r')) return 1;
    if (c < 0x80) return 0;
    uint32_t code;
    bool valid;
    size_t n = lg_utf8_decode(text, length, &code, &valid);
    bool white = code == 0x85 || code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) ||
                 code == 0x2028 || code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000;
    return valid && white ? n : 0;
}

/* The token without its leading white space. */
static lg_string bare_token(const walk *w, size_t token) {
    const lg_dataset *d = w->data;
    size_t at = (size_t)lg_token_begin(d, w->doc, token), end = (size_t)d->token_end[token], n;
    while (at < end && (n = white_space(d->text + at, end - at))) at += n;
    return (lg_string){d->text + at, end - at};
}

static void read_words(const lg_token_source *s, walk w, size_t first, size_t n, lg_string *out) {
    const char *text = s->data->text;
    size_t word = SIZE_MAX;
    for (size_t i = 0; i < n; i++) {
        walk_to(&w, first + i);
        lg_string token = bare_token(&w, first + i);
        size_t at = (size_t)(token.data - text);
        if (word == SIZE_MAX) { /* the first word that ends after it */
            size_t low = 0, high = s->n_words;
            while (low < high) {
                size_t middle = low + (high - low) / 2;
                if (s->word_end[middle] <= at) low = middle + 1;
                else high = middle;
            }
            word = low;
        }
        while (word < s->n_words && s->word_end[word] <= at) word++;
        bool inside = token.length && word < s->n_words && s->word_begin[word] <= at;
        out[i] = inside ? (lg_string){text + s->word_begin[word],
                                      (size_t)(s->word_end[word] - s->word_begin[word])}
                        : (lg_string){NULL, 0};
    }
}

/* Where the token stands, from more than 0 to 1: in its document, or in its window where windows hold
 * several. */
static double relative_position(const lg_token_source *s, const walk *w, size_t token) {
    if (s->n_scores && s->scores[0].windows == LG_WINDOWS_PAPER)
        return ((double)s->scores[0].context[token] + 1) / (double)s->scores[0].window_context;
    return (double)(token - w->begin + 1) / (double)(w->end - w->begin);
}

static lg_status read_block(const void *context, size_t handle, size_t first, size_t n, void *out,
                            lg_error *error) {
    const lg_token_source *s = context;
    const lg_dataset *d = s->data;
    size_t which = handle / N_RULES;
    if (!n) return LG_OK;
    walk w = walk_from(d, first);
    double *numbers = out;
    uint32_t *levels = out;
    lg_string *texts = out;
    if ((rule)(handle % N_RULES) == WORD) {
        read_words(s, w, first, n, texts);
        return LG_OK;
    }
    for (size_t i = 0; i < n; i++) {
        size_t token = first + i;
        walk_to(&w, token);
        switch ((rule)(handle % N_RULES)) {
        case BY_DOCUMENT:
            levels[i] = s->by_document[which].of_document[w.doc];
            break;
        case DOC:
            numbers[i] = (double)w.doc;
            break;
        case POSITION:
            numbers[i] = (double)(token - w.begin);
            break;
        case RELATIVE_POSITION:
            numbers[i] = relative_position(s, &w, token);
            break;
        case BYTES:
            numbers[i] = (double)(d->token_end[token] - lg_token_begin(d, w.doc, token));
            break;
        case TOKEN:
            texts[i] = bare_token(&w, token);
            break;
        case GAP:
            numbers[i] = (double)s->scores[0].nll[token] - (double)s->scores[which].nll[token];
            break;
        case DIFFICULTY:
            numbers[i] = ((double)s->scores[0].nll[token] + (double)s->scores[1].nll[token]) / 2;
            break;
        case RANK:
            numbers[i] =
                s->scores[which].rank[token] == UINT32_MAX ? (double)NAN : s->scores[which].rank[token];
            break;
        case TOP1:
            numbers[i] =
                s->scores[which].top1[token] == UINT32_MAX ? (double)NAN : s->scores[which].top1[token];
            break;
        case HALF:
            numbers[i] = s->half[w.doc];
            break;
        case FIRST_LOSS:
            if (s->first_distance[token] > token - w.begin)
                return lg_fail(error, LG_BAD_INPUT,
                               "%s: first_distance_5 of token %zu reaches out of its document: run `lossgap "
                               "tag` again",
                               lg_table_path(s->tags), token);
            numbers[i] = s->first_distance[token]
                             ? (double)s->scores[which].nll[token - s->first_distance[token]]
                             : (double)NAN;
            break;
        case WORD:
        case N_RULES:
            break;
        }
    }
    return LG_OK;
}

/* ---- the source ---- */

lg_status lg_token_source_open(const lg_dataset *data, const lg_scores *scores, const char *const *models,
                               size_t n_scores, const lg_table *tags, lg_token_source **source,
                               lg_error *error) {
    lg_token_source *s = *source = calloc(1, sizeof *s);
    if (!s) return lg_fail_memory(error);
    s->data = data;
    s->scores = scores;
    s->models = models;
    s->n_scores = n_scores;
    s->tags = tags;
    s->columns = (lg_query_source){.context = s,
                                   .name = list_name,
                                   .argument = list_argument,
                                   .find = find,
                                   .read = read_block,
                                   .more = tags ? NULL : "(and those of tags, with --tags)"};
    lg_status status = collect_names(s, error);
    if (status) {
        lg_token_source_close(s);
        *source = NULL;
    }
    return status;
}

void lg_token_source_close(lg_token_source *s) {
    if (!s) return;
    lg_arena_free(&s->arena);
    free(s);
}

const lg_query_source *lg_token_source_columns(const lg_token_source *s) {
    return &s->columns;
}
