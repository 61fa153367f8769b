/* The loss gap by category. For every group: sums of losses in document order, and the spread of documents
   about the mean, in one pass.

   With S_d the sum of the gap over the group's n_d tokens in document d, N = sum n_d and m = sum S_d / N, the
   variance of m clustered by document (CR1, one coefficient) is G / (G - 1) sum_d (S_d - m n_d)^2 / N^2. As
   S_d - m n_d = n_d (S_d / n_d - m), that sum is one of squares with weights n_d^2 about m. West's update
   holds it about the mean under those weights, free of cancellation; at the end it is moved to m. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/memory.h"
#include "lossgap/gap.h"
#include "stats/columns.h"
#include "stats/comparable.h"
#include "stats/where.h"

enum { MAX_BY = 32, BLOCK = 2048 };
#define CONFIDENCE 0.95

/* Sums of one pair in one group. */
typedef struct sums {
    double a, b, gap;             /* of the documents before */
    double doc_a, doc_b, doc_gap; /* of the document at hand */
    double weight, mean, spread;  /* West: sum of weights, mean and squares about it */
} sums;

typedef struct group {
    uint64_t code;   /* levels in mixed radix; within one grouping */
    size_t grouping; /* which */
    size_t document; /* at hand */
    uint64_t doc_tokens, tokens, documents, bytes;
} group;

typedef struct grouping {
    uint32_t columns; /* bit i: by column i */
    uint64_t radix[MAX_BY];
    uint64_t n_codes;
} grouping;

struct lg_gap {
    lg_arena arena; /* names, levels, rows */
    lg_text provenance;
    uint64_t several[MAX_BY];
    lg_group_column by[MAX_BY];
    size_t n_by;
    lg_gap_row *rows;
    size_t n_rows;
    lg_gap_about about;
};

typedef struct collector {
    const lg_dataset *data;
    const lg_scores *scores;
    size_t n_pairs;
    lg_gap *gap;
    grouping groupings[2 * MAX_BY + 2];
    size_t n_groupings;
    group *groups;
    sums *sums; /* [n_groups, n_pairs] */
    size_t n_groups, groups_room, sums_room;
    uint32_t multi;  /* bit i: a token may carry several levels of column i, and that matters */
    bool drop;       /* such a token is in none of that column's groups; else under each of its levels */
    uint32_t *slots; /* hash of (grouping, code): group + 1, 0: free */
    size_t n_slots;
    uint64_t unscorable, kept, unknown;
    lg_where where;
} collector;

/* ---- groups ---- */

static inline size_t slot_of(const collector *c, size_t way, uint64_t code) {
    uint64_t h = (code * 67 + way) * 0x9E3779B97F4A7C15u;
    size_t mask = c->n_slots - 1, i = (size_t)(h >> 32) & mask;
    while (c->slots[i]) {
        const group *g = &c->groups[c->slots[i] - 1];
        if (g->code == code && g->grouping == way) break;
        i = (i + 1) & mask;
    }
    return i;
}

static bool grow_slots(collector *c) {
    size_t old = c->n_slots;
    uint32_t *before = c->slots, *slots = calloc(old ? 2 * old : 1024, sizeof *slots);
    if (!slots) return false;
    c->slots = slots;
    c->n_slots = old ? 2 * old : 1024;
    for (size_t g = 0; g < c->n_groups; g++)
        c->slots[slot_of(c, c->groups[g].grouping, c->groups[g].code)] = (uint32_t)(g + 1);
    free(before);
    return true;
}

/* The group's index; SIZE_MAX: no memory. */
static size_t find_group(collector *c, size_t way, uint64_t code) {
    size_t at = slot_of(c, way, code);
    if (c->slots[at]) return c->slots[at] - 1;
    if (c->n_groups >= UINT32_MAX / 2) return SIZE_MAX;
    if (2 * (c->n_groups + 1) > c->n_slots) {
        if (!grow_slots(c)) return SIZE_MAX;
        at = slot_of(c, way, code);
    }
    size_t n = c->n_groups;
    if (!lg_reserve(&c->groups, &c->groups_room, n + 1, sizeof *c->groups) ||
        !lg_reserve(&c->sums, &c->sums_room, (n + 1) * c->n_pairs, sizeof *c->sums))
        return SIZE_MAX;
    c->groups[n] = (group){.code = code, .grouping = way, .document = SIZE_MAX};
    memset(&c->sums[n * c->n_pairs], 0, c->n_pairs * sizeof *c->sums);
    c->slots[at] = (uint32_t)(n + 1);
    return c->n_groups++;
}

/* Adds the document at hand to the group's totals. */
static void close_document(collector *c, size_t index) {
    group *g = &c->groups[index];
    if (g->document == SIZE_MAX) return;
    double n = (double)g->doc_tokens, weight = n * n;
    for (size_t p = 0; p < c->n_pairs; p++) {
        sums *s = &c->sums[index * c->n_pairs + p];
        s->a += s->doc_a;
        s->b += s->doc_b;
        s->gap += s->doc_gap;
        double mean = s->doc_gap / n, off = mean - s->mean;
        s->weight += weight;
        s->mean += off * weight / s->weight;
        s->spread += weight * off * (mean - s->mean);
        s->doc_a = s->doc_b = s->doc_gap = 0;
    }
    g->tokens += g->doc_tokens;
    g->documents++;
    g->doc_tokens = 0;
    g->document = SIZE_MAX;
}

/* ---- one pass over the tokens ---- */

/* A token with its levels at hand. */
typedef struct position {
    size_t doc, at;
    uint64_t bytes;
    uint64_t levels[MAX_BY]; /* bits of a column of `multi`, else the level */
} position;

/* Adds the token to the groups of grouping K; LEFT: the columns that CODE does not tell yet. false: no
 * memory. */
static bool add_token(collector *c, const position *t, size_t k, uint32_t left, uint64_t code) {
    const grouping *way = &c->groupings[k];
    for (; left; left &= left - 1) {
        unsigned column = (unsigned)__builtin_ctz(left);
        if (!(c->multi >> column & 1)) {
            code += way->radix[column] * t->levels[column];
            continue;
        }
        for (uint64_t bits = t->levels[column]; bits; bits &= bits - 1)
            if (!add_token(c, t, k, left & (left - 1),
                           code + way->radix[column] * (uint64_t)__builtin_ctzll(bits)))
                return false;
        return true;
    }
    size_t index = find_group(c, k, code);
    if (index == SIZE_MAX) return false;
    group *g = &c->groups[index];
    if (g->document != t->doc) {
        close_document(c, index);
        g->document = t->doc;
    }
    g->doc_tokens++;
    g->bytes += t->bytes;
    sums *s = &c->sums[index * c->n_pairs];
    float loss_a = c->scores[0].nll[t->at];
    for (size_t p = 0; p < c->n_pairs; p++) {
        double loss_b = c->scores[p + 1].nll[t->at];
        s[p].doc_a += loss_a;
        s[p].doc_b += loss_b;
        s[p].doc_gap += loss_a - loss_b;
    }
    return true;
}

static lg_status add_block(collector *c, size_t doc, size_t begin, size_t n, uint32_t *levels,
                           lg_error *error) {
    const lg_dataset *data = c->data;
    lg_gap *gap = c->gap;
    uint8_t truth[BLOCK];
    lg_status status = lg_where_read(&c->where, begin, n, truth, error);
    if (status) return status;
    for (size_t b = 0; b < gap->n_by; b++)
        lg_group_column_read(&gap->by[b], doc, begin, n, levels + b * BLOCK);
    for (size_t i = 0; i < n; i++) {
        position t = {.doc = doc, .at = begin + i};
        if (isnan(c->scores[0].nll[t.at])) {
            c->unscorable++;
            continue;
        }
        c->unknown += truth[i] == LG_QUERY_UNKNOWN;
        if (truth[i] != LG_QUERY_TRUE) continue;
        c->kept++;
        t.bytes = data->has_text ? data->token_end[t.at] - lg_token_begin(data, doc, t.at) : 0;
        for (size_t b = 0; b < gap->n_by; b++) {
            uint64_t bits = gap->by[b].bits ? lg_group_column_bits(&gap->by[b], t.at) : 0;
            bool several = bits & (bits - 1);
            gap->several[b] += several;
            if (!(c->multi >> b & 1)) t.levels[b] = levels[b * BLOCK + i];
            else t.levels[b] = several && c->drop ? 0 : bits;
        }
        for (size_t k = 0; k < c->n_groupings; k++)
            if (!add_token(c, &t, k, c->groupings[k].columns, 0)) return lg_fail_memory(error);
    }
    return LG_OK;
}

static lg_status collect(collector *c, lg_error *error) {
    const lg_dataset *data = c->data;
    uint32_t *levels = lg_alloc((c->gap->n_by + 1) * BLOCK, sizeof *levels);
    lg_status status = levels && grow_slots(c) ? LG_OK : lg_fail_memory(error);
    if (!status && find_group(c, 0, 0) == SIZE_MAX)
        status = lg_fail_memory(error); /* the total is always told */
    for (size_t doc = 0; doc < data->n_docs && !status; doc++) {
        size_t end = (size_t)data->doc_token_end[doc];
        for (size_t at = (size_t)lg_begin_of(data->doc_token_end, doc); at < end && !status; at += BLOCK)
            status = add_block(c, doc, at, end - at < BLOCK ? end - at : BLOCK, levels, error);
    }
    for (size_t g = 0; g < c->n_groups && !status; g++) close_document(c, g);
    free(levels);
    return status;
}

/* ---- set-up ---- */

static lg_status add_grouping(collector *c, uint32_t columns, lg_error *error) {
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

static lg_status open_columns(collector *c, const lg_table *tags, const lg_gap_options *options,
                              lg_error *error) {
    lg_gap *gap = c->gap;
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
        status = lg_group_column_open(c->data, tags, by[i], &gap->arena, &gap->by[gap->n_by], error);
        if (!status) gap->n_by++;
    }
    if (!status) status = add_grouping(c, 0, error);
    for (size_t i = 0; i < n_by && !status; i++) status = add_grouping(c, 1u << i, error);
    if (!options->by)
        for (size_t i = 1; i < n_by && !status; i++) status = add_grouping(c, 1u | 1u << i, error);
    else if (n_by > 1 && !status) status = add_grouping(c, (uint32_t)(((uint64_t)1 << n_by) - 1), error);
    return status;
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

static lg_status open_where(collector *c, const lg_table *tags, const char *where, lg_error *error) {
    lg_gap *gap = c->gap;
    if (where && !(gap->about.where = lg_arena_copy(&gap->arena, where, strlen(where))))
        return lg_fail_memory(error);
    return lg_where_open(where, "--where", c->data, c->scores, gap->about.models, c->n_pairs + 1, tags,
                         &c->where, error);
}

/* ---- results ---- */

static void finish_row(const group *g, const sums *s, bool has_text, lg_gap_row *row) {
    double n = (double)g->tokens, documents = (double)g->documents;
    row->tokens = g->tokens;
    row->documents = g->documents;
    row->bytes = g->bytes;
    row->loss_a = row->loss_b = row->gap = row->se = row->df = row->low = row->high = NAN;
    row->bits_per_byte_a = row->bits_per_byte_b = NAN;
    if (!g->tokens) return;
    row->loss_a = s->a / n;
    row->loss_b = s->b / n;
    row->gap = s->gap / n;
    if (has_text && g->bytes) {
        row->bits_per_byte_a = s->a / (M_LN2 * (double)g->bytes);
        row->bits_per_byte_b = s->b / (M_LN2 * (double)g->bytes);
    }
    if (g->documents < 2) return;
    double off = row->gap - s->mean, squares = s->spread + s->weight * off * off;
    row->df = documents - 1;
    row->se = sqrt(documents / row->df * fmax(squares, 0)) / n;
    double half = lg_t_quantile(0.5 + CONFIDENCE / 2, row->df) * row->se;
    row->low = row->gap - half;
    row->high = row->gap + half;
}

static int compare_groups(const void *a, const void *b) {
    const group *x = *(const group *const *)a, *y = *(const group *const *)b;
    if (x->grouping != y->grouping) return x->grouping < y->grouping ? -1 : 1;
    return x->code < y->code ? -1 : x->code > y->code;
}

static lg_status make_rows(collector *c, lg_error *error) {
    lg_gap *gap = c->gap;
    const group **order = lg_alloc(c->n_groups, sizeof *order);
    gap->rows = lg_alloc(c->n_groups * c->n_pairs, sizeof *gap->rows);
    if (!order || !gap->rows) return free(order), lg_fail_memory(error);
    for (size_t g = 0; g < c->n_groups; g++) order[g] = &c->groups[g];
    qsort(order, c->n_groups, sizeof *order, compare_groups);
    for (size_t g = 0; g < c->n_groups; g++) {
        const grouping *way = &c->groupings[order[g]->grouping];
        const char **level = lg_arena_alloc(&gap->arena, (gap->n_by + 1) * sizeof *level);
        if (!level) return free(order), lg_fail_memory(error);
        uint64_t rest = order[g]->code;
        for (size_t b = 0; b < gap->n_by; b++) {
            level[b] = "*";
            if (!(way->columns >> b & 1)) continue;
            level[b] = gap->by[b].levels[rest / way->radix[b]];
            rest %= way->radix[b];
        }
        for (size_t p = 0; p < c->n_pairs; p++) {
            lg_gap_row *row = &gap->rows[p * c->n_groups + g];
            *row = (lg_gap_row){.model_a = gap->about.models[0],
                                .model_b = gap->about.models[p + 1],
                                .level = level,
                                .grouping = way->columns};
            size_t index = (size_t)(order[g] - c->groups);
            finish_row(order[g], &c->sums[index * c->n_pairs + p], c->data->has_text, row);
        }
    }
    gap->n_rows = c->n_groups * c->n_pairs;
    free(order);
    return LG_OK;
}

static lg_status describe(collector *c, const lg_table *tags, const char *command, lg_error *error) {
    lg_gap *gap = c->gap;
    lg_json_writer w = {.out = &gap->provenance};
    lg_json_put_object(&w);
    lg_json_put_key(&w, "program");
    lg_json_put_text(&w, "lossgap " LG_VERSION);
    lg_json_put_key(&w, "command");
    lg_json_put_text(&w, command);
    lg_json_put_key(&w, "inputs");
    lg_json_put_object(&w);
    lg_json_put_key(&w, "dataset");
    lg_json_put_text(&w, lg_table_provenance(c->data->table)->identity);
    if (tags) {
        lg_json_put_key(&w, "tags");
        lg_json_put_text(&w, lg_table_provenance(tags)->identity);
    }
    lg_json_put_key(&w, "scores");
    lg_json_put_object(&w);
    for (size_t i = 0; i <= c->n_pairs; i++) {
        lg_json_put_key(&w, gap->about.models[i]);
        lg_json_put_text(&w, lg_table_provenance(c->scores[i].table)->identity);
    }
    lg_json_end_object(&w);
    lg_json_end_object(&w);
    lg_json_put_key(&w, "settings");
    lg_json_put_object(&w);
    lg_json_put_key(&w, "sign");
    lg_json_put_text(&w, LG_GAP_SIGN);
    lg_json_put_key(&w, "interval");
    lg_json_put_text(&w,
                     "95 %, clustered by document (CR1), Student's t with documents - 1 degrees of freedom");
    lg_json_put_key(&w, "by");
    lg_json_put_array(&w);
    for (size_t i = 0; i < gap->n_by; i++) lg_json_put_text(&w, gap->by[i].name);
    lg_json_end_array(&w);
    lg_json_put_key(&w, "multi");
    lg_json_put_text(&w, gap->about.multi);
    lg_json_put_key(&w, "several");
    lg_json_put_object(&w);
    for (size_t i = 0; i < gap->n_by; i++) {
        if (!gap->by[i].bits) continue;
        lg_json_put_key(&w, gap->by[i].name);
        lg_json_put_unsigned(&w, gap->several[i]);
    }
    lg_json_end_object(&w);
    lg_json_put_key(&w, "documents");
    lg_json_put_unsigned(&w, c->data->n_docs);
    lg_json_put_key(&w, "tokens");
    lg_json_put_unsigned(&w, c->data->n_tokens);
    lg_json_put_key(&w, "unscorable");
    lg_json_put_unsigned(&w, c->unscorable);
    if (gap->about.where) {
        lg_json_put_key(&w, "where");
        lg_json_put_text(&w, gap->about.where);
        lg_json_put_key(&w, "kept");
        lg_json_put_unsigned(&w, c->kept);
        lg_json_put_key(&w, "unknown");
        lg_json_put_unsigned(&w, c->unknown);
    }
    lg_json_put_key(&w, "scores");
    lg_json_put_object(&w);
    for (size_t i = 0; i <= c->n_pairs; i++) {
        const char *settings = lg_table_provenance(c->scores[i].table)->settings;
        lg_json_put_key(&w, gap->about.models[i]);
        lg_json_put_raw(&w, settings, strlen(settings));
    }
    lg_json_end_object(&w);
    lg_json_end_object(&w);
    lg_json_end_object(&w);
    if (gap->provenance.failed) return lg_fail_memory(error);
    gap->about.documents = c->data->n_docs;
    gap->about.tokens = c->data->n_tokens;
    gap->about.unscorable = c->unscorable;
    gap->about.kept = c->kept;
    gap->about.unknown = c->unknown;
    gap->about.has_text = c->data->has_text;
    gap->about.provenance = gap->provenance.data;
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
    lg_status status = c && gap ? LG_OK : lg_fail_memory(error);
    if (status) goto done;
    c->data = data;
    c->scores = scores;
    c->n_pairs = n_scores - 1;
    c->gap = gap;
    gap->about.n_models = n_scores;
    gap->about.models = lg_name_models(&gap->arena, scores, n_scores);
    if (!gap->about.models) status = lg_fail_memory(error);
    if (!status && tags_path) status = lg_table_open(tags_path, "tags", &tags, error);
    if (!status && tags) status = lg_check_tags(data, tags, error);
    if (!status) status = open_columns(c, tags, options, error);
    if (!status) status = choose_multi(c, tags, options->multi, error);
    if (!status) status = lg_check_scores(data, scores, n_scores, gap->about.models, error);
    if (!status) status = open_where(c, tags, options->where, error);
    if (!status) status = collect(c, error);
    if (!status) status = make_rows(c, error);
    if (!status) status = describe(c, tags, options->command, error);
    for (size_t b = 0; b < gap->n_by; b++)
        gap->by[b].values = gap->by[b].bits = NULL; /* they end with the table */
    if (!status) {
        *result = gap;
        gap = NULL;
    }
done:
    if (c) {
        lg_where_close(&c->where);
        free(c->groups);
        free(c->sums);
        free(c->slots);
    }
    lg_table_close(tags);
    free(c);
    lg_gap_free(gap);
    return status;
}

lg_status lg_gap_check_where(const char *where, const lg_dataset *data, const char *const *models,
                             size_t n_models, unsigned columns, const char *tags_path, lg_error *error) {
    static const uint32_t none; /* what only has to be there: nothing is read */
    static const float no_loss;
    lg_table *tags = NULL;
    lg_where w = {0};
    lg_scores *scores = calloc(n_models + 1, sizeof *scores);
    lg_status status = scores ? LG_OK : lg_fail_memory(error);
    for (size_t i = 0; i < n_models && !status; i++)
        scores[i] = (lg_scores){.n_tokens = data->n_tokens,
                                .nll = &no_loss,
                                .context = &none,
                                .entropy = columns & LG_COLUMN_ENTROPY ? &no_loss : NULL,
                                .rank = columns & LG_COLUMN_RANK ? &none : NULL,
                                .top1 = columns & LG_COLUMN_TOP1 ? &none : NULL};
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

const lg_gap_about *lg_gap_get_about(const lg_gap *gap) {
    return &gap->about;
}
