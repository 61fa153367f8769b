/* The second pass: residuals, their products with the columns by cluster, and the spread of those. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "stats/regress_sums.h"

enum { B = LG_REGRESS_BLOCK, SCALARS = 2, PER_PAIR = 2 };
#define NONE LG_REGRESS_NONE

/* One thread's. */
typedef struct worker {
    lg_loader loader;
    lg_sums score;     /* [n_gram] products of the cluster at hand */
    uint32_t *touched; /* its columns of terms with categories, rising */
    bool *marked;
    size_t n_touched;
    uint32_t *level_seen, *column_seen; /* the last cluster that had it */
    uint64_t *level_documents, *column_documents, *level_counts;
    double *pairs; /* [n_pairs, 2] the cluster's residuals about the classes' means */
    dd *effects;   /* of the chunk's absorbed groups */
    size_t effects_room;
    uint64_t n_clusters;
    bool no_memory;
} worker;

typedef struct work {
    const lg_design *design;
    const lg_regress_kernels *kernels;
    const dd *b;
    double mean;
    bool extended;
    const lg_class_pair *pairs;
    size_t n_pairs;
    size_t meat, x, scalars, plain; /* where the parts of the sums lie */
    worker *workers;
} work;

/* ---- residuals of a block ---- */

static void residuals(const work *k, const lg_regress_block *b, dd *e) {
    const size_t p = b->n_dense - 1;
    for (size_t i = 0; i < b->rows; i++) {
        const double *z = b->dense + i * b->width, *value = b->value + i * b->n_terms;
        const uint32_t *column = b->column + i * b->n_terms;
        if (k->extended) {
            dd sum = dd_of(z[p]);
            for (size_t j = 0; j < p; j++) sum = dd_subtract(sum, dd_scale(k->b[j], z[j]));
            for (size_t t = 0; t < b->n_terms; t++)
                if (column[t] != NONE) sum = dd_subtract(sum, dd_scale(k->b[column[t]], value[t]));
            e[i] = sum;
        } else {
            double sums[4] = {0};
            for (size_t j = 0; j < p; j++) sums[j % 4] += k->b[j].hi * z[j];
            double fitted = (sums[0] + sums[1]) + (sums[2] + sums[3]);
            for (size_t t = 0; t < b->n_terms; t++)
                if (column[t] != NONE) fitted += k->b[column[t]].hi * value[t];
            e[i] = dd_of(z[p] - fitted);
        }
    }
}

/* Effects of the chunk's groups: weighted means of what the columns leave. Groups have consecutive numbers
   within a chunk or not; effects are kept in the order in which they come. */
static size_t find_effects(const work *k, worker *w, size_t chunk) {
    const lg_design *d = k->design;
    lg_loader *l = &w->loader;
    dd e[B], sum = {0}, weight = {0};
    size_t n = 0;
    uint32_t group = NONE;
    for (size_t at = d->chunks[chunk], end = d->chunks[chunk + 1]; at < end; at += B) {
        lg_loader_read(l, at, end - at < B ? end - at : B);
        residuals(k, &l->block, e);
        for (size_t i = 0; i < l->block.rows; i++) {
            if (l->group[i] != group) {
                if (group != NONE) w->effects[n - 1] = dd_divide(sum, weight);
                group = l->group[i];
                if (!lg_reserve(&w->effects, &w->effects_room, ++n, sizeof *w->effects)) {
                    w->no_memory = true;
                    return 0;
                }
                sum = weight = (dd){0};
            }
            const double root = l->block.dense[i * l->block.width];
            sum = dd_add(sum, dd_scale(e[i], root));
            weight = dd_add(weight, dd_two_product(root, root));
        }
    }
    if (group != NONE) w->effects[n - 1] = dd_divide(sum, weight);
    return n;
}

/* ---- clusters ---- */

static int by_number(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Adds the cluster at hand to the sums and clears it. */
static void close_cluster(const work *k, worker *w, lg_sums *sums) {
    const lg_design *d = k->design;
    const size_t p = d->n_dense - 1;
    lg_sums *s = &w->score;
    qsort(w->touched, w->n_touched, sizeof *w->touched, by_number);
    const size_t n = p + w->n_touched;
    const bool dense = 3 * n > d->n_gram;
    for (size_t i = 0; i < n; i++) {
        const size_t at = i < p ? i : w->touched[i - p];
        if (s->lo) { /* normal from here on */
            dd value = dd_two_sum(s->hi[at], s->lo[at]);
            s->hi[at] = value.hi;
            s->lo[at] = value.lo;
        }
        lg_sums_add(sums, k->x + at, s->hi[at], s->lo ? s->lo[at] : 0);
    }
    for (size_t i = 0; i < n && d->cluster; i++) {
        const size_t at = i < p ? i : w->touched[i - p];
        const size_t row = k->meat + lg_triangle(at);
        const double hi = s->hi[at];
        if (s->lo && dense) {
            k->kernels->axpy_dd(hi, s->lo[at], s->hi, s->lo, at + 1, sums->hi + row, sums->lo + row);
        } else if (s->lo) {
            for (size_t j = 0; j <= i; j++) {
                const size_t other = j < p ? j : w->touched[j - p];
                dd value = dd_multiply((dd){hi, s->lo[at]}, (dd){s->hi[other], s->lo[other]});
                value = dd_add(value, (dd){sums->hi[row + other], sums->lo[row + other]});
                sums->hi[row + other] = value.hi;
                sums->lo[row + other] = value.lo;
            }
        } else {
            for (size_t j = 0; j < p && j <= at; j++) sums->hi[row + j] += hi * s->hi[j];
            for (size_t j = p; j <= i; j++)
                sums->hi[row + w->touched[j - p]] += hi * s->hi[w->touched[j - p]];
        }
    }
    for (size_t q = 0; q < k->n_pairs; q++) {
        const lg_class_pair *pair = &k->pairs[q];
        double difference = w->pairs[2 * q] / pair->weight[0] - w->pairs[2 * q + 1] / pair->weight[1];
        lg_sums_add_product(sums, k->scalars + SCALARS + PER_PAIR * q, difference, difference);
        w->pairs[2 * q] = w->pairs[2 * q + 1] = 0;
    }
    for (size_t j = 0; j < p; j++) s->hi[j] = 0;
    for (size_t i = 0; i < w->n_touched; i++) s->hi[w->touched[i]] = 0;
    if (s->lo) {
        for (size_t j = 0; j < p; j++) s->lo[j] = 0;
        for (size_t i = 0; i < w->n_touched; i++) s->lo[w->touched[i]] = 0;
    }
    for (size_t i = 0; i < w->n_touched; i++) w->marked[w->touched[i]] = false;
    w->n_touched = 0;
    w->n_clusters++;
}

/* s += e x. */
static void add_score(const work *k, worker *w, size_t i, dd e) {
    const lg_regress_block *b = &w->loader.block;
    const double *z = b->dense + i * b->width, *value = b->value + i * b->n_terms;
    const uint32_t *column = b->column + i * b->n_terms;
    const size_t p = b->n_dense - 1;
    lg_sums *s = &w->score;
    if (k->extended) {
        for (size_t j = 0; j < p; j++) {
            dd product = dd_scale(e, z[j]);
            lg_sums_add(s, j, product.hi, product.lo);
        }
    } else {
        for (size_t j = 0; j < p; j++) s->hi[j] += e.hi * z[j];
    }
    for (size_t t = 0; t < b->n_terms; t++) {
        const uint32_t c = column[t];
        if (c == NONE) continue;
        if (!w->marked[c]) w->touched[w->n_touched++] = c;
        w->marked[c] = true;
        dd product = dd_scale(e, value[t]);
        if (k->extended) lg_sums_add(s, c, product.hi, product.lo);
        else s->hi[c] += product.hi;
    }
}

/* Which levels and columns the row's cluster has. */
static void see(const work *k, worker *w, size_t i) {
    const lg_design *d = k->design;
    const lg_regress_block *b = &w->loader.block;
    const uint32_t cluster = w->loader.cluster[i];
    for (size_t v = 1; v < d->n_variables; v++) {
        if (!d->variables[v].category) continue;
        size_t level = d->variables[v].first_level + w->loader.levels[v * B + i];
        w->level_counts[level]++;
        if (w->level_seen[level] == cluster) continue;
        w->level_seen[level] = cluster;
        w->level_documents[level]++;
    }
    for (size_t t = 0; t < b->n_terms; t++) {
        const uint32_t c = b->column[i * b->n_terms + t];
        if (c == NONE || b->value[i * b->n_terms + t] == 0 || w->column_seen[c] == cluster) continue;
        w->column_seen[c] = cluster;
        w->column_documents[c]++;
    }
}

/* The row's values without the weight. */
static void add_plain(const work *k, const lg_regress_block *b, size_t i, lg_sums *sums) {
    const double *z = b->dense + i * b->width, *value = b->value + i * b->n_terms, root = z[0];
    for (size_t j = 0; j < b->n_dense; j++) lg_sums_add(sums, k->plain + j, z[j] / root, 0);
    for (size_t t = 0; t < b->n_terms; t++) {
        const uint32_t c = b->column[i * b->n_terms + t];
        if (c != NONE) lg_sums_add(sums, k->plain + c, value[t] / root, 0);
    }
}

static void chunk_work(void *context, unsigned thread, size_t chunk, lg_sums *sums) {
    const work *k = context;
    const lg_design *d = k->design;
    worker *w = &k->workers[thread];
    lg_loader *l = &w->loader;
    dd e[B];
    uint32_t cluster = NONE, group = NONE;
    size_t effect = 0, rows = 0;
    if (d->absorb && !find_effects(k, w, chunk)) return;
    for (size_t at = d->chunks[chunk], end = d->chunks[chunk + 1]; at < end; at += B) {
        lg_loader_read(l, at, end - at < B ? end - at : B);
        residuals(k, &l->block, e);
        for (size_t i = 0; i < l->block.rows; i++) {
            const double *z = l->block.dense + i * l->block.width, y = z[d->n_dense - 1];
            if (d->absorb) {
                if (l->group[i] != group) effect++;
                group = l->group[i];
                e[i] = dd_subtract(e[i], dd_scale(w->effects[effect - 1], z[0]));
            }
            if (rows && l->cluster[i] != cluster) close_cluster(k, w, sums);
            cluster = l->cluster[i];
            rows++;
            dd square = dd_multiply(e[i], e[i]), off = dd_subtract(dd_of(y), dd_two_product(k->mean, z[0]));
            lg_sums_add(sums, k->scalars, square.hi, square.lo);
            square = dd_multiply(off, off);
            lg_sums_add(sums, k->scalars + 1, square.hi, square.lo);
            for (size_t q = 0; q < k->n_pairs; q++) {
                const lg_class_pair *pair = &k->pairs[q];
                uint8_t class = pair->class_of[l->levels[pair->variable * B + i]];
                double rest = y - pair->mean[class] * z[0];
                lg_sums_add_product(sums, k->scalars + SCALARS + PER_PAIR * q + 1, rest, rest);
                if (class < 2) w->pairs[2 * q + class] += z[0] * rest;
            }
            add_score(k, w, i, e[i]);
            if (d->weights) add_plain(k, &l->block, i, sums);
            see(k, w, i);
        }
    }
    if (rows) close_cluster(k, w, sums);
}

static lg_status open_worker(const work *k, worker *w, lg_error *error) {
    const lg_design *d = k->design;
    const size_t levels = d->n_levels + 1, columns = d->n_gram;
    lg_status status = lg_loader_open(&w->loader, d, error);
    if (status) return status;
    w->touched = lg_alloc(columns, sizeof *w->touched);
    w->marked = calloc(columns, sizeof *w->marked);
    w->level_seen = lg_alloc(levels, sizeof *w->level_seen);
    w->column_seen = lg_alloc(columns, sizeof *w->column_seen);
    w->level_documents = calloc(levels, sizeof *w->level_documents);
    w->level_counts = calloc(levels, sizeof *w->level_counts);
    w->column_documents = calloc(columns, sizeof *w->column_documents);
    w->pairs = calloc(2 * k->n_pairs + 1, sizeof *w->pairs);
    if (!w->touched || !w->marked || !w->level_seen || !w->column_seen || !w->level_documents ||
        !w->level_counts || !w->column_documents || !w->pairs ||
        !lg_sums_create(&w->score, columns, k->extended))
        return lg_fail_memory(error);
    lg_sums_clear(&w->score);
    memset(w->level_seen, 0xFF, levels * sizeof *w->level_seen);
    memset(w->column_seen, 0xFF, columns * sizeof *w->column_seen);
    return LG_OK;
}

static void close_worker(worker *w) {
    lg_loader_close(&w->loader);
    lg_sums_free(&w->score);
    free(w->touched);
    free(w->marked);
    free(w->level_seen);
    free(w->column_seen);
    free(w->level_documents);
    free(w->level_counts);
    free(w->column_documents);
    free(w->pairs);
    free(w->effects);
}

lg_status lg_residuals_make(lg_residuals *r, lg_design *d, bool extended, const dd *b, double mean,
                            const lg_class_pair *pairs, size_t n_pairs, unsigned threads,
                            const lg_monitor *monitor, lg_error *error) {
    *r = (lg_residuals){0};
    const size_t triangle = d->cluster ? lg_triangle(d->n_gram) : 0;
    const size_t n_scalars = SCALARS + PER_PAIR * n_pairs;
    work k = {.design = d,
              .kernels = lg_regress_kernels_get(),
              .b = b,
              .mean = mean,
              .extended = extended,
              .pairs = pairs,
              .n_pairs = n_pairs,
              .x = triangle + LG_REGRESS_PAD};
    k.scalars = k.x + d->n_gram;
    k.plain = k.scalars + n_scalars;
    const size_t n_plain = d->weights ? d->n_gram : 0;
    lg_sums all = {0};
    lg_status status = lg_design_cut(d, 16384, true, error);
    if (!status && !lg_sums_create(&all, k.plain + n_plain, true)) status = lg_fail_memory(error);
    if (!status) lg_sums_clear(&all);
    k.workers = calloc(threads, sizeof *k.workers);
    r->level_documents = calloc(d->n_levels + 1, sizeof *r->level_documents);
    r->level_counts = calloc(d->n_levels + 1, sizeof *r->level_counts);
    r->column_documents = calloc(d->n_gram, sizeof *r->column_documents);
    if (!status && (!k.workers || !r->level_documents || !r->level_counts || !r->column_documents))
        status = lg_fail_memory(error);
    for (unsigned i = 0; i < threads && !status; i++) status = open_worker(&k, &k.workers[i], error);
    /* sums by row and scalars are in double-double always */
    if (!status) status = lg_sum_chunks(d, &all, threads, chunk_work, &k, true, monitor, error);
    for (unsigned i = 0; k.workers && i < threads; i++) {
        worker *w = &k.workers[i];
        if (w->no_memory && !status) status = lg_fail_memory(error);
        for (size_t l = 0; l < d->n_levels && !status; l++) {
            r->level_documents[l] += w->level_documents[l];
            r->level_counts[l] += w->level_counts[l];
        }
        for (size_t c = 0; c < d->n_gram && !status; c++) r->column_documents[c] += w->column_documents[c];
        r->n_clusters += w->n_clusters;
        close_worker(w);
    }
    free(k.workers);
    if (!status && triangle) status = lg_sums_take(&r->meat, &all, 0, triangle, error);
    if (!status) status = lg_sums_take(&r->x, &all, k.x, d->n_gram, error);
    if (!status) status = lg_sums_take(&r->scalars, &all, k.scalars, n_scalars, error);
    if (!status && n_plain) status = lg_sums_take(&r->plain, &all, k.plain, n_plain, error);
    lg_sums_free(&all);
    return status;
}

void lg_residuals_free(lg_residuals *r) {
    lg_sums_free(&r->meat);
    lg_sums_free(&r->x);
    lg_sums_free(&r->scalars);
    lg_sums_free(&r->plain);
    free(r->level_documents);
    free(r->level_counts);
    free(r->column_documents);
}
