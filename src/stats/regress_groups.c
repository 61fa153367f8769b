/* Clusters and absorbed groups: numbered by first appearance, and an order of rows that keeps each together.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "stats/regress_design_internal.h"

#define NONE LG_REGRESS_NONE

/* ---- numbering ---- */

typedef struct numbering {
    uint64_t *keys;  /* [n] by number */
    uint32_t *slots; /* number + 1, 0: free */
    size_t n, room, n_slots;
} numbering;

static size_t slot_of(const numbering *m, uint64_t key) {
    size_t mask = m->n_slots - 1, i = (size_t)((key * 0x9E3779B97F4A7C15u) >> 20) & mask;
    while (m->slots[i] && m->keys[m->slots[i] - 1] != key) i = (i + 1) & mask;
    return i;
}

/* The number of KEY, the next one if it is new; NONE: no memory. */
static uint32_t number_of(numbering *m, uint64_t key) {
    if (2 * (m->n + 1) > m->n_slots) {
        size_t n = m->n_slots ? 2 * m->n_slots : 1024;
        uint32_t *slots = calloc(n, sizeof *slots);
        if (!slots) return NONE;
        free(m->slots);
        m->slots = slots;
        m->n_slots = n;
        for (size_t i = 0; i < m->n; i++) slots[slot_of(m, m->keys[i])] = (uint32_t)(i + 1);
    }
    size_t at = slot_of(m, key);
    if (!m->slots[at]) {
        if (m->n >= NONE - 1 || !lg_reserve(&m->keys, &m->room, m->n + 1, sizeof *m->keys)) return NONE;
        m->keys[m->n] = key;
        m->slots[at] = (uint32_t)++m->n;
    }
    return m->slots[at] - 1;
}

static uint64_t key_of(double value) {
    uint64_t key;
    value = value == 0 ? 0 : value; /* -0 is 0 */
    memcpy(&key, &value, sizeof key);
    return key;
}

/* Bits that are the same for equal values, UINT64_MAX for a missing one. */
static void read_keys(const lg_column *c, size_t first, size_t n, uint64_t *keys, double *numbers,
                      uint32_t *levels) {
    if (c->levels) {
        lg_column_levels(c, NULL, NULL, first, n, levels);
        for (size_t i = 0; i < n; i++) keys[i] = levels[i] == UINT32_MAX ? UINT64_MAX : levels[i];
    } else if (c->values && (c->dtype == LG_U64 || c->dtype == LG_I64)) { /* not all are doubles */
        memcpy(keys, (const uint64_t *)c->values + first, n * sizeof *keys);
    } else {
        lg_column_numbers(c, NULL, NULL, first, n, numbers);
        for (size_t i = 0; i < n; i++) {
            keys[i] = isfinite(numbers[i]) ? key_of(numbers[i]) : UINT64_MAX;
        }
    }
}

/* Numbers the values of C: *CODES [n_rows], the caller's; *IN_PIECES: a value comes back after another one.
 */
static lg_status number_values(const lg_design *d, const lg_column *c, uint32_t **codes, uint32_t *count,
                               bool *in_pieces, lg_error *error) {
    enum { STEP = 512 };
    uint64_t keys[STEP];
    double numbers[STEP];
    uint32_t levels[STEP];
    numbering m = {0};
    lg_status status = LG_OK;
    *codes = lg_alloc(d->n_rows + 1, sizeof **codes);
    *in_pieces = false;
    if (!*codes) return lg_fail_memory(error);
    uint64_t before = UINT64_MAX;
    uint32_t code = NONE;
    for (size_t first = 0; first < d->n_rows && !status; first += STEP) {
        size_t n = d->n_rows - first < STEP ? d->n_rows - first : STEP;
        read_keys(c, first, n, keys, numbers, levels);
        for (size_t i = 0; i < n; i++) {
            if (keys[i] == UINT64_MAX) { /* left out; it does not part its neighbours */
                (*codes)[first + i] = NONE;
                continue;
            }
            if (keys[i] != before || code == NONE) {
                size_t known = m.n;
                code = number_of(&m, keys[i]);
                if (code == NONE) {
                    status = lg_fail_memory(error);
                    break;
                }
                if (code < known) *in_pieces = true;
                before = keys[i];
            }
            (*codes)[first + i] = code;
        }
    }
    *count = (uint32_t)m.n;
    free(m.keys);
    free(m.slots);
    return status;
}

/* ---- order ---- */

/* Sorts ROWS [n] by their codes (COUNT of them, missing ones last), stably. SCRATCH [n]. */
static bool sort_by(const uint32_t *codes, size_t count, uint32_t *rows, uint32_t *scratch, size_t n) {
    size_t *at = calloc(count + 2, sizeof *at);
    if (!at) return false;
    for (size_t i = 0; i < n; i++) at[(codes[rows[i]] == NONE ? count : codes[rows[i]]) + 1]++;
    for (size_t i = 0; i <= count; i++) at[i + 1] += at[i];
    for (size_t i = 0; i < n; i++) {
        uint32_t code = codes[rows[i]];
        scratch[at[code == NONE ? count : code]++] = rows[i];
    }
    memcpy(rows, scratch, n * sizeof *rows);
    free(at);
    return true;
}

static lg_status check_nested(const lg_design *d, lg_error *error) {
    uint32_t *cluster_of = lg_alloc(d->n_groups + (size_t)1, sizeof *cluster_of);
    if (!cluster_of) return lg_fail_memory(error);
    memset(cluster_of, 0xFF, (d->n_groups + (size_t)1) * sizeof *cluster_of);
    lg_status status = LG_OK;
    for (size_t i = 0; i < d->n_rows && !status; i++) {
        uint32_t group = d->absorb_codes[i], cluster = d->cluster_codes[i];
        if (group == NONE || cluster == NONE) continue;
        if (cluster_of[group] == NONE) cluster_of[group] = cluster;
        if (cluster_of[group] != cluster)
            status = lg_fail(
                error, LG_USAGE,
                "a value of the absorbed '%s' lies in several clusters of '%s': absorb what lies within "
                "clusters, and put '%s' into the formula",
                d->absorb->name, d->cluster->name, d->absorb->name);
    }
    free(cluster_of);
    return status;
}

static lg_status order_rows(lg_design *d, lg_error *error) {
    d->order = lg_alloc(d->n_rows + 1, sizeof *d->order);
    uint32_t *scratch = lg_alloc(d->n_rows + 1, sizeof *scratch);
    lg_status status = d->order && scratch ? LG_OK : lg_fail_memory(error);
    for (size_t i = 0; i < d->n_rows && !status; i++) d->order[i] = (uint32_t)i;
    if (!status && d->absorb && !sort_by(d->absorb_codes, d->n_groups, d->order, scratch, d->n_rows))
        status = lg_fail_memory(error);
    if (!status && d->cluster && !sort_by(d->cluster_codes, d->n_clusters, d->order, scratch, d->n_rows))
        status = lg_fail_memory(error);
    free(scratch);
    for (size_t v = 0; v < d->n_variables && !status; v++)
        status = lg_design_store(d, &d->variables[v].column, error);
    if (!status) status = lg_design_store(d, &d->weights, error);
    if (!status) status = lg_design_store(d, &d->where, error);
    return status;
}

lg_status lg_design_group(lg_design *d, lg_error *error) {
    bool clusters_in_pieces = false, groups_in_pieces = false;
    lg_status status = d->cluster && d->cluster->queried ? lg_design_store(d, &d->cluster, error) : LG_OK;
    if (d->absorb && d->cluster && strcmp(d->absorb->name, d->cluster->name) == 0) d->absorb = d->cluster;
    if (!status && d->absorb && d->absorb->queried) status = lg_design_store(d, &d->absorb, error);
    if (!status && d->cluster)
        status = number_values(d, d->cluster, &d->cluster_codes, &d->n_clusters, &clusters_in_pieces, error);
    if (!status && d->absorb && d->absorb == d->cluster) {
        d->absorb_codes = d->cluster_codes;
        d->n_groups = d->n_clusters;
    } else if (!status && d->absorb) {
        status = number_values(d, d->absorb, &d->absorb_codes, &d->n_groups, &groups_in_pieces, error);
        if (!status && d->cluster) status = check_nested(d, error);
    }
    if (!status && (clusters_in_pieces || groups_in_pieces)) status = order_rows(d, error);
    return status;
}

lg_status lg_design_cut(lg_design *d, size_t rows, bool grouped, lg_error *error) {
    const uint32_t *codes = d->cluster ? d->cluster_codes : d->absorb_codes; /* groups lie within clusters */
    size_t room = d->n_rows / rows + 2;
    free(d->chunks);
    grouped = grouped && codes;
    d->n_chunks = 0;
    d->chunks = lg_alloc(room, sizeof *d->chunks);
    if (!d->chunks) return lg_fail_memory(error);
    d->chunks[0] = 0;
    for (size_t at = 0; at < d->n_rows;) {
        size_t end = at + rows;
        if (grouped && end < d->n_rows) { /* on to where the next cluster begins */
            uint32_t inside = NONE;
            for (size_t i = end; i-- > at && inside == NONE;) inside = codes[d->order ? d->order[i] : i];
            for (; end < d->n_rows; end++) {
                uint32_t code = codes[d->order ? d->order[end] : end];
                if (code != NONE && code != inside) break;
            }
        }
        at = end < d->n_rows ? end : d->n_rows;
        d->chunks[++d->n_chunks] = at;
    }
    return LG_OK;
}

/* ---- categories of numbers ---- */

enum { MAX_LEVELS = 20000 };

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* CODES [rows] of the values of C by first appearance, NONE for missing ones. */
static lg_status code_numbers(const lg_column *c, numbering *m, uint32_t *codes, lg_error *error) {
    double block[LG_REGRESS_BLOCK];
    for (size_t first = 0; first < c->count; first += LG_REGRESS_BLOCK) {
        size_t n = c->count - first < LG_REGRESS_BLOCK ? c->count - first : LG_REGRESS_BLOCK;
        lg_column_numbers(c, NULL, NULL, first, n, block);
        for (size_t i = 0; i < n; i++) {
            codes[first + i] = NONE;
            if (!isfinite(block[i])) continue;
            codes[first + i] = number_of(m, key_of(block[i]));
            if (codes[first + i] == NONE) return lg_fail_memory(error);
            if (m->n > MAX_LEVELS)
                return lg_fail(error, LG_USAGE, "factor(%s) has more than %d values", c->name, MAX_LEVELS);
        }
    }
    return LG_OK;
}

/* Names LEVELS [n] by the values of M in their order; TO [n]: which each code becomes. */
static lg_status order_numbers(const numbering *m, lg_arena *arena, const char **levels, uint32_t *to,
                               lg_error *error) {
    double *values = lg_alloc(m->n + 1, sizeof *values);
    if (!values) return lg_fail_memory(error);
    if (m->n) memcpy(values, m->keys, m->n * sizeof *values);
    qsort(values, m->n, sizeof *values, by_value);
    lg_status status = LG_OK;
    for (size_t i = 0; i < m->n && !status; i++) {
        lg_text name = {0};
        lg_json_writer w = {.out = &name}; /* the fewest digits */
        lg_json_put_double(&w, values[i]);
        levels[i] = name.failed ? NULL : lg_arena_copy(arena, name.data, name.length);
        if (!levels[i]) status = lg_fail_memory(error);
        lg_text_free(&name);
        to[m->slots[slot_of(m, key_of(values[i]))] - 1] = (uint32_t)i;
    }
    free(values);
    return status;
}

lg_status lg_design_number_levels(lg_design *d, lg_variable *v, lg_error *error) {
    const lg_column *from = v->column;
    numbering m = {0};
    uint32_t *codes = lg_alloc(from->count + 1, sizeof *codes), *to = NULL;
    lg_column *c = lg_arena_alloc(&d->arena, sizeof *c);
    const char **levels = NULL;
    lg_status status = codes && c ? code_numbers(from, &m, codes, error) : lg_fail_memory(error);
    if (!status) {
        to = lg_alloc(m.n + 1, sizeof *to);
        levels = lg_arena_alloc(&d->arena, (m.n + 1) * sizeof *levels);
        status = to && levels ? order_numbers(&m, &d->arena, levels, to, error) : lg_fail_memory(error);
    }
    free(m.keys);
    free(m.slots);
    if (status) {
        free(codes);
        free(to);
        return status;
    }
    for (size_t i = 0; i < from->count; i++) codes[i] = codes[i] == NONE ? NONE : to[codes[i]];
    free(to);
    *c = (lg_column){.name = from->name,
                     .from = from->from,
                     .count = from->count,
                     .dtype = LG_U32,
                     .values = codes,
                     .levels = levels,
                     .n_levels = m.n,
                     .has_missing = true};
    v->column = c;
    return lg_frame_own(d->frame, codes, error);
}
