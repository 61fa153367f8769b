/* Tokens to groups: one pass for the sums of each group, document by document, and one for what needs all of
 * a group's gaps side by side. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "stats/gap_internal.h"

enum { TABLE_MOST = 1 << 16 };

static inline bool is_counted(const collector *c, size_t token) {
    return (!c->keep || c->keep[token]) && !isnan(c->scores[0].nll[token]);
}

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

size_t gap_find_group(const collector *c, size_t way, uint64_t code) {
    const grouping *k = &c->groupings[way];
    uint32_t found = k->table ? k->table[code] : c->slots ? c->slots[slot_of(c, way, code)] : 0;
    return found ? found - 1 : SIZE_MAX;
}

static bool grow_slots(collector *c) {
    size_t old = c->n_slots;
    uint32_t *before = c->slots, *slots = calloc(old ? 2 * old : 1024, sizeof *slots);
    if (!slots) return false;
    c->slots = slots;
    c->n_slots = old ? 2 * old : 1024;
    for (size_t g = 0; g < c->n_groups; g++)
        if (!c->groupings[c->groups[g].grouping].table)
            c->slots[slot_of(c, c->groups[g].grouping, c->groups[g].code)] = (uint32_t)(g + 1);
    free(before);
    return true;
}

/* The group's index, made if it is new; SIZE_MAX: no memory. */
static size_t need_group(collector *c, size_t way, uint64_t code) {
    size_t n = gap_find_group(c, way, code);
    if (n != SIZE_MAX) return n;
    n = c->n_groups;
    grouping *k = &c->groupings[way];
    if (n >= UINT32_MAX / 2) return SIZE_MAX;
    if (!k->table && 2 * (n + 1) > c->n_slots && !grow_slots(c)) return SIZE_MAX;
    if (!lg_reserve(&c->groups, &c->groups_room, n + 1, sizeof *c->groups) ||
        !lg_reserve(&c->sums, &c->sums_room, (n + 1) * c->n_pairs, sizeof *c->sums))
        return SIZE_MAX;
    c->groups[n] = (group){.code = code, .grouping = way, .document = SIZE_MAX};
    memset(&c->sums[n * c->n_pairs], 0, c->n_pairs * sizeof *c->sums);
    if (k->table) k->table[code] = (uint32_t)(n + 1);
    else c->slots[slot_of(c, way, code)] = (uint32_t)(n + 1);
    return c->n_groups++;
}

/* Adds the document at hand to the group's totals. false: no memory. */
static bool close_document(collector *c, size_t index) {
    group *g = &c->groups[index];
    if (g->document == SIZE_MAX) return true;
    size_t n = c->n_cells, p = c->n_pairs;
    if (!lg_reserve(&c->closed, &c->closed_room, n + 1, sizeof *c->closed) ||
        !lg_reserve(&c->closed_sums, &c->closed_sums_room, (n + 1) * p, sizeof *c->closed_sums))
        return false;
    c->closed[n] = (closed){g->document, (uint32_t)index, (double)g->doc_tokens, (double)g->doc_bytes};
    for (size_t i = 0; i < p; i++) {
        sums *s = &c->sums[index * p + i];
        s->a += s->doc_a;
        s->b += s->doc_b;
        c->closed_sums[n * p + i] = s->doc_gap;
        s->doc_a = s->doc_b = s->doc_gap = 0;
    }
    c->n_cells++;
    g->tokens += g->doc_tokens;
    g->bytes += g->doc_bytes;
    g->documents++;
    g->doc_tokens = g->doc_bytes = 0;
    g->document = SIZE_MAX;
    return true;
}

/* ---- first pass: sums ---- */

/* Levels of COLUMNS for tokens BEGIN … BEGIN + N - 1 of DOC into LEVELS [n_by, BLOCK]: bits of a column of
 * `multi`, else the level. */
static void read_levels(const collector *c, uint32_t columns, size_t doc, size_t begin, size_t n,
                        uint64_t *levels) {
    uint32_t block[BLOCK];
    for (uint32_t left = columns; left; left &= left - 1) {
        unsigned b = (unsigned)__builtin_ctz(left);
        const lg_group_column *column = &c->gap->by[b];
        uint64_t *out = levels + b * BLOCK;
        if (c->multi >> b & 1) {
            for (size_t i = 0; i < n; i++) {
                uint64_t bits = lg_group_column_bits(column, begin + i);
                out[i] = c->drop && !column->curve && (bits & (bits - 1)) ? 0 : bits;
            }
            continue;
        }
        lg_group_column_read(column, doc, begin, n, block);
        for (size_t i = 0; i < n; i++) out[i] = block[i];
    }
}

/* What is done with token I of a block that carries CODE. false: stop. */
typedef bool visitor(void *context, size_t i, uint64_t code);

/* Visits CODE with every choice of a level of the columns LEFT. */
static bool visit_levels(const collector *c, const grouping *way, const uint64_t *levels, size_t i,
                         uint32_t left, uint64_t code, visitor *visit, void *context) {
    for (; left; left &= left - 1) {
        unsigned column = (unsigned)__builtin_ctz(left);
        uint64_t level = levels[column * BLOCK + i];
        if (!(c->multi >> column & 1)) {
            code += way->radix[column] * level;
            continue;
        }
        for (; level; level &= level - 1)
            if (!visit_levels(c, way, levels, i, left & (left - 1),
                              code + way->radix[column] * (uint64_t)__builtin_ctzll(level), visit, context))
                return false;
        return true;
    }
    return visit(context, i, code);
}

/* Visits the tokens BEGIN … BEGIN + N - 1 that count, with the codes of grouping WAY, in order. */
static inline __attribute__((always_inline)) bool visit_block(const collector *c, const grouping *way,
                                                              const uint64_t *levels, size_t begin, size_t n,
                                                              visitor *visit, void *context) {
    if (way->columns & c->multi) {
        for (size_t i = 0; i < n; i++)
            if (is_counted(c, begin + i) && !visit_levels(c, way, levels, i, way->columns, 0, visit, context))
                return false;
        return true;
    }
    uint64_t codes[BLOCK];
    for (size_t i = 0; i < n; i++) codes[i] = 0;
    for (uint32_t left = way->columns; left; left &= left - 1) {
        unsigned column = (unsigned)__builtin_ctz(left);
        const uint64_t *level = levels + column * BLOCK, radix = way->radix[column];
        for (size_t i = 0; i < n; i++) codes[i] += radix * level[i];
    }
    for (size_t i = 0; i < n; i++)
        if (is_counted(c, begin + i) && !visit(context, i, codes[i])) return false;
    return true;
}

typedef struct adding {
    collector *c;
    size_t way, doc, begin;
} adding;

static void add_span_tokens(const collector *c, size_t at, sums *s) {
    for (size_t p = 0; p < c->n_pairs; p++) {
        const uint32_t *a = c->scores[c->pairs[p].a].tokens, *b = c->scores[c->pairs[p].b].tokens;
        if (!a || !b) continue;
        s[p].tokens_a += a[at];
        s[p].tokens_b += b[at];
        s[p].one += a[at] == 1 && b[at] == 1;
    }
}

static inline bool add_token(void *context, size_t i, uint64_t code) {
    const adding *a = context;
    collector *c = a->c;
    size_t index = need_group(c, a->way, code), at = a->begin + i;
    if (index == SIZE_MAX) return false;
    group *g = &c->groups[index];
    if (g->document != a->doc) {
        if (!close_document(c, index)) return false;
        g->document = a->doc;
    }
    uint64_t bytes = c->data->has_text ? c->data->token_end[at] - lg_token_begin(c->data, a->doc, at) : 0;
    g->doc_tokens++;
    g->doc_bytes += bytes;
    sums *s = &c->sums[index * c->n_pairs];
    for (size_t p = 0; p < c->n_pairs; p++) {
        double loss_a = c->scores[c->pairs[p].a].nll[at], loss_b = c->scores[c->pairs[p].b].nll[at],
               gap = loss_a - loss_b;
        s[p].doc_a += loss_a;
        s[p].doc_b += loss_b;
        s[p].doc_gap += gap;
        s[p].bytes_gap += (double)bytes * gap;
    }
    if (c->data->spans) add_span_tokens(c, at, s);
    return true;
}

static void count_several(collector *c, size_t begin, size_t n) {
    for (size_t b = 0; b < c->gap->n_by; b++) {
        if (!c->gap->by[b].bits) continue;
        for (size_t i = begin; i < begin + n; i++) {
            uint64_t bits = lg_group_column_bits(&c->gap->by[b], i);
            c->gap->several[b] += (bits & (bits - 1)) && is_counted(c, i);
        }
    }
}

static void count_cut(collector *c, size_t doc, size_t begin, size_t n) {
    const size_t first = (size_t)lg_begin_of(c->data->doc_token_end, doc);
    for (size_t i = begin; i < begin + n; i++)
        c->cut += is_counted(c, i) && c->scores[0].context[i] < i - first;
}

/* Cells by group, and in each group by document: the order in which they were closed. */
static lg_status sort_cells(collector *c, lg_error *error) {
    size_t size;
    if (!lg_multiply(c->n_cells, c->n_pairs, &size) || !(c->cells = lg_alloc(size, sizeof *c->cells)))
        return lg_fail_memory(error);
    size_t at = 0;
    for (size_t g = 0; g < c->n_groups; g++) {
        c->groups[g].cells = at;
        at += c->groups[g].documents;
    }
    for (size_t i = 0; i < c->n_cells; i++) {
        const closed *from = &c->closed[i];
        size_t to = c->groups[from->group].cells++;
        for (size_t p = 0; p < c->n_pairs; p++)
            c->cells[p * c->n_cells + to] =
                (lg_cell){from->document, from->tokens, from->bytes, c->closed_sums[i * c->n_pairs + p]};
    }
    for (size_t g = 0; g < c->n_groups; g++) c->groups[g].cells -= c->groups[g].documents;
    free(c->closed);
    free(c->closed_sums);
    c->closed = NULL;
    c->closed_sums = NULL;
    return LG_OK;
}

lg_status gap_collect(collector *c, lg_error *error) {
    const lg_dataset *data = c->data;
    uint32_t columns = 0;
    uint64_t *levels = lg_alloc((c->gap->n_by + 1) * BLOCK, sizeof *levels);
    bool ok = levels != NULL;
    for (size_t k = 0; k < c->n_groupings && ok; k++) {
        grouping *way = &c->groupings[k];
        columns |= way->columns;
        if (way->n_codes > TABLE_MOST) continue;
        way->table = calloc(way->n_codes, sizeof *way->table);
        ok = way->table != NULL;
    }
    ok = ok && grow_slots(c) && need_group(c, 0, 0) != SIZE_MAX; /* the total is always told */
    for (size_t doc = 0; doc < data->n_docs && ok; doc++) {
        size_t end = (size_t)data->doc_token_end[doc];
        for (size_t at = (size_t)lg_begin_of(data->doc_token_end, doc); at < end && ok; at += BLOCK) {
            size_t n = end - at < BLOCK ? end - at : BLOCK;
            read_levels(c, columns, doc, at, n, levels);
            count_several(c, at, n);
            if (data->spans) count_cut(c, doc, at, n);
            for (size_t k = 0; k < c->n_groupings && ok; k++) {
                adding a = {c, k, doc, at};
                ok = visit_block(c, &c->groupings[k], levels, at, n, add_token, &a);
            }
        }
    }
    for (size_t g = 0; g < c->n_groups && ok; g++) ok = close_document(c, g);
    free(levels);
    return ok ? sort_cells(c, error) : lg_fail_memory(error);
}

/* ---- second pass: order statistics ---- */

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static inline void swap(double *a, double *b) {
    double kept = *a;
    *a = *b;
    *b = kept;
}

/* Moves the value of rank K to V[K], no larger ones before it and no smaller ones behind. Hoare's selection;
   should its pivots be bad for long, the rest is sorted. */
static void select_rank(double *v, size_t n, size_t k) {
    size_t low = 0, high = n;
    for (unsigned rounds = 0; high - low > 16 && rounds < 128; rounds++) {
        size_t middle = low + (high - low) / 2;
        if (v[middle] < v[low]) swap(&v[middle], &v[low]);
        if (v[high - 1] < v[middle]) swap(&v[high - 1], &v[middle]);
        if (v[middle] < v[low]) swap(&v[middle], &v[low]);
        double pivot = v[middle];
        size_t i = low, j = high - 1;
        for (;;) {
            while (v[i] < pivot) i++;
            while (pivot < v[j]) j--;
            if (i >= j) break;
            swap(&v[i++], &v[j--]);
        }
        /* v[low … j] <= pivot <= v[i …]; i == j: v[i] is the pivot, or they have crossed */
        if (i == j && k == i) return;
        if (k <= j) high = j + 1;
        else low = i;
    }
    qsort(v + low, high - low, sizeof *v, compare);
}

static int by_size(const void *a, const void *b) {
    double x = fabs(*(const double *)a), y = fabs(*(const double *)b);
    return x > y ? -1 : x < y;
}

/* V [n > 0] in any order; it is reordered. TOTAL: their sum. */
static bool order_of_group(double *v, size_t n, double total, sums *s) {
    double least = v[0], most = v[0], above = 0;
    for (size_t i = 0; i < n; i++) {
        least = v[i] < least ? v[i] : least;
        most = v[i] > most ? v[i] : most;
        above += v[i] > 0 ? 1 : v[i] == 0 ? 0.5 : 0;
    }
    s->constant = least == most;
    s->improved = above / (double)n;
    s->median = least;
    s->trimmed = total / (double)n;
    if (s->constant) return true;
    size_t half = n / 2, heavy = n / LG_GAP_TRIM;
    select_rank(v, n, half);
    s->median = v[half];
    if (n % 2 == 0) {
        double below = v[0];
        for (size_t i = 1; i < half; i++) below = v[i] > below ? v[i] : below;
        s->median = below + (v[half] - below) / 2;
    }
    if (!heavy) return true;
    /* The heaviest are among as many at either end. */
    select_rank(v, half, heavy - 1);
    select_rank(v + half, n - half, n - half - heavy);
    double *ends = lg_alloc(2 * heavy, sizeof *ends), border, taken = 0, level = 0;
    if (!ends) return false;
    memcpy(ends, v, heavy * sizeof *ends);
    memcpy(ends + heavy, v + n - heavy, heavy * sizeof *ends);
    qsort(ends, 2 * heavy, sizeof *ends, by_size);
    border = fabs(ends[heavy - 1]);
    size_t n_taken = 0, n_level = 0;
    for (; fabs(ends[n_taken]) > border; n_taken++) taken += ends[n_taken];
    free(ends);
    /* Those as heavy as the last to go leave in equal shares: no order of tokens decides. */
    for (size_t i = 0; i < n; i++) {
        bool same = fabs(v[i]) == border;
        level += same ? v[i] > 0 ? 1 : -1 : 0;
        n_level += same;
    }
    taken += level * border * ((double)(heavy - n_taken) / (double)n_level);
    s->trimmed = (total - taken) / (double)(n - heavy);
    return true;
}

typedef struct filling {
    const collector *c;
    size_t way, begin, *next; /* next: [n_groups] where a group's next value goes */
    const float *a, *b;
    double *values;
} filling;

static inline bool put_value(void *context, size_t i, uint64_t code) {
    const filling *f = context;
    size_t at = f->begin + i;
    f->values[f->next[gap_find_group(f->c, f->way, code)]++] = (double)f->a[at] - f->b[at];
    return true;
}

/* false: no memory. */
static bool order_grouping(const collector *c, size_t way, size_t pair) {
    const lg_dataset *data = c->data;
    uint32_t columns = c->groupings[way].columns;
    size_t total = 0;
    size_t *next = lg_alloc(c->n_groups, sizeof *next);
    uint64_t *levels = lg_alloc((c->gap->n_by + 1) * BLOCK, sizeof *levels);
    for (size_t g = 0; g < c->n_groups && next; g++) {
        if (c->groups[g].grouping != way) continue;
        next[g] = total;
        total += c->groups[g].tokens;
    }
    double *values = lg_alloc(total, sizeof *values);
    bool ok = next && levels && values;
    filling f = {c, way, 0, next, c->scores[c->pairs[pair].a].nll, c->scores[c->pairs[pair].b].nll, values};
    for (size_t doc = 0; doc < data->n_docs && ok; doc++) {
        size_t end = (size_t)data->doc_token_end[doc];
        for (f.begin = (size_t)lg_begin_of(data->doc_token_end, doc); f.begin < end; f.begin += BLOCK) {
            size_t n = end - f.begin < BLOCK ? end - f.begin : BLOCK;
            read_levels(c, columns, doc, f.begin, n, levels);
            visit_block(c, &c->groupings[way], levels, f.begin, n, put_value, &f);
        }
    }
    for (size_t g = 0; g < c->n_groups && ok; g++) {
        const group *own = &c->groups[g];
        if (own->grouping != way || !own->tokens) continue;
        const lg_cell *cells = gap_cells(c, pair, g);
        double sum = 0;
        for (size_t i = 0; i < own->documents; i++) sum += cells[i].sum;
        ok = order_of_group(values + (next[g] - own->tokens), own->tokens, sum,
                            &c->sums[g * c->n_pairs + pair]);
    }
    free(next);
    free(levels);
    free(values);
    return ok;
}

lg_status gap_order(collector *c, lg_error *error) {
    enum { ENOUGH = 1 << 29 }; /* bytes of values that threads may hold together; one has what it needs */
    size_t tasks = c->n_groupings * c->n_ordered,
           most = ENOUGH / (c->data->n_tokens * sizeof(double) + 1) + 1;
    size_t threads = c->threads < tasks ? c->threads : tasks;
    if (threads > most) threads = most;
    bool failed = false;
    if (threads == 1) { /* without a team, whose making cannot fail softly */
        for (size_t t = 0; t < tasks && !failed; t++)
            failed = !order_grouping(c, t / c->n_ordered, t % c->n_ordered);
        return failed ? lg_fail_memory(error) : LG_OK;
    }
#pragma omp parallel for schedule(dynamic) num_threads((int)threads) reduction(|| : failed)
    for (size_t t = 0; t < tasks; t++)
        failed = failed || !order_grouping(c, t / c->n_ordered, t % c->n_ordered);
    return failed ? lg_fail_memory(error) : LG_OK;
}

/* ---- vocabularies ---- */

typedef struct counting {
    collector *c;
    size_t way, begin, row; /* row: bytes of a set */
    uint8_t **seen;         /* [n_groups] sets of ids, NULL: none yet */
} counting;

static inline bool count_id(void *context, size_t i, uint64_t code) {
    const counting *v = context;
    size_t g = gap_find_group(v->c, v->way, code);
    uint32_t id = v->c->data->token_id[v->begin + i];
    if (!v->seen[g] && !(v->seen[g] = calloc(v->row, 1))) return false;
    uint8_t bit = (uint8_t)(1u << (id % 8)), *at = &v->seen[g][id / 8];
    v->c->groups[g].vocabulary += !(*at & bit);
    *at |= bit;
    return true;
}

lg_status gap_count_vocabulary(collector *c, size_t k, lg_error *error) {
    const lg_dataset *data = c->data;
    counting v = {c, k, 0, data->max_token_id / 8 + 1, calloc(c->n_groups, sizeof *v.seen)};
    uint64_t *levels = lg_alloc((c->gap->n_by + 1) * BLOCK, sizeof *levels);
    bool ok = v.seen && levels;
    for (size_t doc = 0; doc < data->n_docs && ok; doc++) {
        size_t end = (size_t)data->doc_token_end[doc];
        for (v.begin = (size_t)lg_begin_of(data->doc_token_end, doc); v.begin < end && ok; v.begin += BLOCK) {
            size_t n = end - v.begin < BLOCK ? end - v.begin : BLOCK;
            read_levels(c, c->groupings[k].columns, doc, v.begin, n, levels);
            ok = visit_block(c, &c->groupings[k], levels, v.begin, n, count_id, &v);
        }
    }
    for (size_t g = 0; g < c->n_groups && v.seen; g++) free(v.seen[g]);
    free(v.seen);
    free(levels);
    return ok ? LG_OK : lg_fail_memory(error);
}

void gap_free_groups(collector *c) {
    for (size_t k = 0; k < c->n_groupings; k++) free(c->groupings[k].table);
    free(c->groups);
    free(c->sums);
    free(c->slots);
    free(c->closed);
    free(c->closed_sums);
    free(c->cells);
    free(c->order);
    free(c->keep);
    for (size_t b = 0; b < MAX_BY; b++) free(c->defined[b]);
    lg_query_free(c->query);
    lg_token_source_close(c->source);
}
