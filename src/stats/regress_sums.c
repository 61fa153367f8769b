/* Chunks of rows summed by several threads, the same for any number of them; and the Gram matrix. */
#include "stats/regress_sums.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "stats/regress_team.h"

enum { PARTS_BYTES = 64 << 20 }; /* for sums of chunks beyond one for each thread */

bool lg_sums_create(lg_sums *s, size_t n, bool low) {
    *s = (lg_sums){.n = n};
    s->hi = lg_alloc_aligned(n + LG_REGRESS_PAD, sizeof *s->hi);
    s->lo = low ? lg_alloc_aligned(n + LG_REGRESS_PAD, sizeof *s->lo) : NULL;
    return s->hi && (s->lo || !low);
}

void lg_sums_clear(lg_sums *s) {
    memset(s->hi, 0, (s->n + LG_REGRESS_PAD) * sizeof *s->hi);
    if (s->lo) memset(s->lo, 0, (s->n + LG_REGRESS_PAD) * sizeof *s->lo);
}

void lg_sums_free(lg_sums *s) {
    free(s->hi);
    free(s->lo);
    *s = (lg_sums){0};
}

/* TOTAL += PART, entries FIRST … END - 1. */
static void sums_add(lg_sums *total, const lg_sums *part, size_t first, size_t end) {
    for (size_t i = first; i < end; i++) {
        dd sum = {total->hi[i], total->lo[i]};
        /* a chunk's lo is no small rest of its hi: both are added as they are */
        if (part->lo) sum = dd_add(sum, dd_two_sum(part->hi[i], part->lo[i]));
        else sum = dd_add_double(sum, part->hi[i]);
        total->hi[i] = sum.hi;
        total->lo[i] = sum.lo;
    }
}

typedef struct summing {
    lg_chunk_work *work;
    void *context;
    lg_sums *parts, *total;
    size_t first, n; /* chunks at hand */
    size_t shares;
} summing;

static void sum_chunk(void *context, unsigned thread, size_t i) {
    const summing *r = context;
    lg_sums_clear(&r->parts[i]);
    r->work(r->context, thread, r->first + i, &r->parts[i]);
}

/* A share of the entries: the chunks' sums in their order. */
static void add_share(void *context, unsigned thread, size_t i) {
    const summing *r = context;
    const size_t n = r->total->n, share = (n + r->shares - 1) / r->shares, begin = share * i;
    const size_t end = begin + share < n ? begin + share : n;
    (void)thread;
    for (size_t part = 0; part < r->n && begin < end; part++) sums_add(r->total, &r->parts[part], begin, end);
}

lg_status lg_sum_chunks(const lg_design *d, lg_sums *total, unsigned threads, lg_chunk_work *work,
                        void *context, bool extended, const lg_monitor *monitor, lg_error *error) {
    /* some more chunks at a time than threads, so that none waits long for another */
    const size_t bytes = (total->n + 1) * sizeof(double) * (extended ? 2 : 1), most = PARTS_BYTES / bytes;
    const size_t n_parts = most < threads ? threads : most > 8 * (size_t)threads ? 8 * (size_t)threads : most;
    lg_sums *parts = calloc(n_parts, sizeof *parts);
    lg_status status = parts ? LG_OK : lg_fail_memory(error);
    for (size_t i = 0; i < n_parts && !status; i++)
        if (!lg_sums_create(&parts[i], total->n, extended)) status = lg_fail_memory(error);
    for (size_t first = 0; first < d->n_chunks && !status; first += n_parts) {
        summing r = {work, context, parts, total, first, d->n_chunks - first, 4 * (size_t)threads};
        if (r.n > n_parts) r.n = n_parts;
        if (lg_is_cancelled(monitor)) {
            status = LG_CANCELLED;
            break;
        }
        lg_team_for(threads, r.n, sum_chunk, &r);
        lg_team_for(threads, r.shares, add_share, &r);
        lg_progress(monitor, "rows", d->chunks[first + r.n], d->n_rows);
    }
    for (size_t i = 0; parts && i < n_parts; i++) lg_sums_free(&parts[i]);
    free(parts);
    return status;
}

/* ---- the Gram matrix ---- */

/* One thread's. */
typedef struct gram_worker {
    lg_loader loader;
    double *scratch;
    lg_sums group;     /* [n_gram] sums of the group at hand */
    uint32_t *touched; /* columns of terms with categories that have any */
    bool *marked;      /* [n_gram] which these are */
    size_t n_touched;
    uint64_t n_groups;
} gram_worker;

typedef struct gram_work {
    const lg_design *design;
    const lg_regress_kernels *kernels;
    gram_worker *workers;
    bool extended;
    size_t triangle, levels, absorbed; /* where the parts of the sums lie */
} gram_work;

static void add_levels(const gram_work *g, const lg_loader *l, lg_sums *sums) {
    const lg_design *d = g->design;
    for (size_t v = 1; v < d->n_variables; v++) {
        if (!d->variables[v].category) continue;
        const uint32_t *levels = l->levels + v * LG_REGRESS_BLOCK;
        for (size_t i = 0; i < l->block.rows; i++) {
            const double *z = l->block.dense + i * l->block.width, root = z[0], y = z[d->n_dense - 1];
            size_t at = g->levels + 2 * (d->variables[v].first_level + levels[i]);
            if (g->extended) {
                lg_sums_add_product(sums, at, root, root);
                lg_sums_add_product(sums, at + 1, root, y);
            } else {
                sums->hi[at] += root * root;
                sums->hi[at + 1] += root * y;
            }
        }
    }
}

/* Takes the group at hand off: S S' / W, S its sums, W that of its weights. */
static void close_group(const gram_work *g, gram_worker *w, lg_sums *sums) {
    const size_t p = g->design->n_dense;
    lg_sums *s = &w->group;
    lg_sums to = {sums->hi + g->absorbed, sums->lo + g->absorbed, g->triangle};
    dd weight = dd_add(dd_of(s->hi[0]), dd_of(s->lo[0]));
    if (weight.hi > 0) w->n_groups++;
    for (size_t i = 0; i < p + w->n_touched && weight.hi > 0; i++) {
        size_t at = i < p ? i : w->touched[i - p];
        dd share = dd_divide(dd_two_sum(s->hi[at], s->lo[at]), weight);
        for (size_t j = 0; j <= i; j++) {
            size_t other = j < p ? j : w->touched[j - p];
            dd product = dd_multiply(share, dd_two_sum(s->hi[other], s->lo[other]));
            size_t entry = at < other ? lg_triangle(other) + at : lg_triangle(at) + other;
            lg_sums_add(&to, entry, product.hi, product.lo);
        }
    }
    for (size_t i = 0; i < p; i++) s->hi[i] = s->lo[i] = 0;
    for (size_t i = 0; i < w->n_touched; i++) {
        s->hi[w->touched[i]] = s->lo[w->touched[i]] = 0;
        w->marked[w->touched[i]] = false;
    }
    w->n_touched = 0;
}

static void add_groups(const gram_work *g, gram_worker *w, uint32_t *group, lg_sums *sums) {
    const lg_regress_block *b = &w->loader.block;
    for (size_t i = 0; i < b->rows; i++) {
        if (w->loader.group[i] != *group && *group != LG_REGRESS_NONE) close_group(g, w, sums);
        *group = w->loader.group[i];
        const double *z = b->dense + i * b->width;
        for (size_t j = 0; j < b->n_dense; j++) lg_sums_add_product(&w->group, j, z[0], z[j]);
        for (size_t t = 0; t < b->n_terms; t++) {
            uint32_t column = b->column[i * b->n_terms + t];
            if (column == LG_REGRESS_NONE) continue;
            if (!w->marked[column]) w->touched[w->n_touched++] = column;
            w->marked[column] = true;
            lg_sums_add_product(&w->group, column, z[0], b->value[i * b->n_terms + t]);
        }
    }
}

static void gram_chunk(void *context, unsigned thread, size_t chunk, lg_sums *sums) {
    gram_work *g = context;
    gram_worker *w = &g->workers[thread];
    const lg_design *d = g->design;
    uint32_t group = LG_REGRESS_NONE;
    for (size_t at = d->chunks[chunk], end = d->chunks[chunk + 1]; at < end; at += LG_REGRESS_BLOCK) {
        lg_loader_read(&w->loader, at, end - at < LG_REGRESS_BLOCK ? end - at : LG_REGRESS_BLOCK);
        if (g->extended) g->kernels->gram_dd(&w->loader.block, w->scratch, sums->hi, sums->lo);
        else g->kernels->gram(&w->loader.block, w->scratch, sums->hi);
        add_levels(g, &w->loader, sums);
        if (d->absorb) add_groups(g, w, &group, sums);
    }
    if (d->absorb && group != LG_REGRESS_NONE) close_group(g, w, sums);
}

/* Rows in a chunk: as few as make its sums worth adding to the total, few enough for sums in double. */
static size_t chunk_rows(const lg_design *d) {
    size_t rows = d->n_gram * d->n_gram / 16;
    return rows < 4096 ? 4096 : rows > 65536 ? 65536 : rows / LG_REGRESS_BLOCK * LG_REGRESS_BLOCK;
}

lg_status lg_sums_take(lg_sums *part, const lg_sums *all, size_t first, size_t n, lg_error *error) {
    if (!lg_sums_create(part, n, true)) return lg_fail_memory(error);
    memcpy(part->hi, all->hi + first, n * sizeof *part->hi);
    memcpy(part->lo, all->lo + first, n * sizeof *part->lo);
    return LG_OK;
}

lg_status lg_gram_make(lg_gram *gram, lg_design *d, bool extended, unsigned threads,
                       const lg_monitor *monitor, lg_error *error) {
    *gram = (lg_gram){0};
    const size_t triangle = lg_triangle(d->n_gram), width = (d->n_dense + 7) / 8 * 8;
    const size_t pad = LG_REGRESS_PAD; /* behind each triangle */
    gram_work g = {
        .design = d, .kernels = lg_regress_kernels_get(), .extended = extended, .triangle = triangle};
    g.levels = triangle + pad;
    g.absorbed = g.levels + 2 * d->n_levels;
    lg_sums all = {0};
    lg_status status = lg_design_cut(d, chunk_rows(d), d->absorb != NULL, error);
    if (!status && !lg_sums_create(&all, g.absorbed + (d->absorb ? triangle : 0), true))
        status = lg_fail_memory(error);
    if (!status) lg_sums_clear(&all);
    g.workers = calloc(threads, sizeof *g.workers);
    if (!status && !g.workers) status = lg_fail_memory(error);
    for (unsigned i = 0; i < threads && !status; i++) {
        gram_worker *w = &g.workers[i];
        status = lg_loader_open(&w->loader, d, error);
        w->scratch = lg_alloc_aligned(2 * width * width, sizeof *w->scratch);
        if (!status && !w->scratch) status = lg_fail_memory(error);
        if (status || !d->absorb) continue;
        w->touched = lg_alloc(d->n_gram, sizeof *w->touched);
        w->marked = calloc(d->n_gram, sizeof *w->marked);
        if (!w->touched || !w->marked || !lg_sums_create(&w->group, d->n_gram, true))
            status = lg_fail_memory(error);
        else lg_sums_clear(&w->group);
    }
    if (!status) status = lg_sum_chunks(d, &all, threads, gram_chunk, &g, extended, monitor, error);
    if (!status) status = lg_sums_take(&gram->x, &all, 0, triangle, error);
    if (!status) status = lg_sums_take(&gram->levels, &all, g.levels, 2 * d->n_levels, error);
    if (!status && d->absorb) status = lg_sums_take(&gram->absorbed, &all, g.absorbed, triangle, error);
    for (unsigned i = 0; g.workers && i < threads; i++) {
        gram_worker *w = &g.workers[i];
        gram->n_groups += w->n_groups;
        lg_loader_close(&w->loader);
        free(w->scratch);
        free(w->touched);
        free(w->marked);
        lg_sums_free(&w->group);
    }
    free(g.workers);
    lg_sums_free(&all);
    return status;
}

void lg_gram_free(lg_gram *gram) {
    lg_sums_free(&gram->x);
    lg_sums_free(&gram->absorbed);
    lg_sums_free(&gram->levels);
}
