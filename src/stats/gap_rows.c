/* Groups to rows: means, errors, tests and resamples of each, and the adjustment of p over the levels of a
 * grouping. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "stats/gap_internal.h"

enum { BATCH = 1 << 23 }; /* resampled means that are held at a time, unless a view wants all */

size_t gap_level_of(const collector *c, const group *g, size_t column) {
    const grouping *way = &c->groupings[g->grouping];
    return (size_t)(g->code / way->radix[column] % (c->gap->by[column].n_levels + 1));
}

const char **gap_levels_of(collector *c, const group *g) {
    lg_gap *gap = c->gap;
    const char **level = lg_arena_alloc(&gap->arena, (gap->n_by + 1) * sizeof *level);
    for (size_t b = 0; b < gap->n_by && level; b++) {
        level[b] = "*";
        if (!(c->groupings[g->grouping].columns >> b & 1)) continue;
        level[b] = gap->by[b].levels[gap_level_of(c, g, b)];
        if (strcmp(level[b], "*") == 0) level[b] = "'*'"; /* Brown's tag of negations is not "all" */
    }
    return level;
}

/* Mean of the domains' means. DOMAINS [2, n_domains] scratch. */
static double mean_of_domains(const lg_dataset *data, const lg_cell *cells, size_t n, double *domains,
                              uint64_t *count) {
    double total = 0, *tokens = domains + data->n_domains;
    memset(domains, 0, 2 * data->n_domains * sizeof *domains);
    for (size_t i = 0; i < n; i++) {
        domains[data->doc_domain[cells[i].document]] += cells[i].sum;
        tokens[data->doc_domain[cells[i].document]] += cells[i].tokens;
    }
    *count = 0;
    for (size_t d = 0; d < data->n_domains; d++) {
        if (tokens[d] <= 0) continue;
        total += domains[d] / tokens[d];
        ++*count;
    }
    return *count ? total / (double)*count : NAN;
}

static const char *note_of(const lg_gap_row *row, bool constant) {
    if (!row->tokens) return "no tokens";
    if (row->documents == 1) return "one document: no error, no test";
    if (constant) return "all gaps are equal: no spread, no test by t";
    if (!(row->se > 0)) return "no spread between documents: no test by t";
    return NULL;
}

static lg_status finish_row(const collector *c, size_t index, size_t pair, double *domains, lg_gap_row *row,
                            lg_error *error) {
    const group *g = &c->groups[index];
    const sums *s = &c->sums[index * c->n_pairs + pair];
    const lg_cell *cells = gap_cells(c, pair, index);
    lg_cluster r;
    lg_status status = lg_cluster_compute(cells, g->documents, s->constant, &r, error);
    if (status) return status;
    double n = (double)g->tokens;
    bool bytes = c->data->has_text && g->bytes;
    row->tokens = g->tokens;
    row->documents = g->documents;
    row->bytes = g->bytes;
    row->vocabulary = g->vocabulary;
    row->tokens_a = s->tokens_a;
    row->tokens_b = s->tokens_b;
    row->one_token = s->one;
    row->loss_a = n > 0 ? s->a / n : NAN;
    row->loss_b = n > 0 ? s->b / n : NAN;
    row->bits_per_byte_a = bytes ? s->a / (M_LN2 * (double)g->bytes) : NAN;
    row->bits_per_byte_b = bytes ? s->b / (M_LN2 * (double)g->bytes) : NAN;
    row->gap = r.mean;
    row->se = r.se;
    row->se_cr0 = r.se_cr0;
    row->df = r.df;
    row->low = r.low;
    row->high = r.high;
    row->t = r.t;
    row->p = row->p_bh = r.p;
    row->mde = r.mde;
    row->median = n > 0 ? s->median : NAN;
    row->improved = n > 0 ? s->improved : NAN;
    row->trimmed = n > 0 ? s->trimmed : NAN;
    row->trimmed_tokens = g->tokens / LG_GAP_TRIM;
    row->per_byte = r.per_byte;
    row->se_per_byte = r.se_per_byte;
    row->se_per_byte_cr0 = r.se_per_byte_cr0;
    row->byte_weighted = bytes ? s->bytes_gap / (double)g->bytes : NAN;
    row->of_documents = r.of_documents;
    row->se_of_documents = r.se_of_documents;
    row->low_of_documents = r.low_of_documents;
    row->high_of_documents = r.high_of_documents;
    row->t_of_documents = r.t_of_documents;
    row->p_of_documents = row->p_of_documents_bh = r.p_of_documents;
    row->of_domains = mean_of_domains(c->data, cells, g->documents, domains, &row->domains);
    row->w_plus = r.w_plus;
    row->p_wilcoxon = row->p_wilcoxon_bh = r.p_wilcoxon;
    row->p_sign = row->p_sign_bh = r.p_sign;
    row->p_sign_flip = r.p_sign_flip;
    row->documents_better = r.better;
    row->documents_worse = r.worse;
    row->bootstrap_low = row->bootstrap_high = row->bootstrap_se = NAN;
    row->note = note_of(row, s->constant);
    return LG_OK;
}

/* Adjusts the p of each grouping's rows, which stand together in ROWS [n]. */
static lg_status adjust_rows(lg_gap_row *rows, size_t n, lg_error *error) {
    static const size_t at[] = {offsetof(lg_gap_row, p_bh), offsetof(lg_gap_row, p_of_documents_bh),
                                offsetof(lg_gap_row, p_wilcoxon_bh), offsetof(lg_gap_row, p_sign_bh)};
    double *p = lg_alloc(n, sizeof *p);
    lg_status status = p ? LG_OK : lg_fail_memory(error);
    for (size_t begin = 0, end; begin < n && !status; begin = end) {
        for (end = begin; end < n && rows[end].grouping == rows[begin].grouping;) end++;
        for (size_t k = 0; k < sizeof at / sizeof *at && !status; k++) {
            for (size_t i = begin; i < end; i++) p[i] = *(double *)((char *)&rows[i] + at[k]);
            status = lg_adjust_bh(p + begin, end - begin, error);
            for (size_t i = begin; i < end; i++) *(double *)((char *)&rows[i] + at[k]) = p[i];
        }
    }
    free(p);
    return status;
}

/* ---- resamples ---- */

/* Resampled means of the groups ORDER [n], N at a time, and what they say in ROWS. The last batch's stay in
 * MEANS [n, replicates]. */
static lg_status resample(const collector *c, const lg_bootstrap *b, size_t pair, const size_t *order,
                          size_t n, lg_gap_row *rows, double *means, lg_error *error) {
    lg_bootstrap_group *groups = lg_alloc(n, sizeof *groups);
    double *sorted = lg_alloc(b->replicates, sizeof *sorted);
    lg_status status = groups && sorted ? LG_OK : lg_fail_memory(error);
    for (size_t i = 0; i < n && !status; i++)
        groups[i] = (lg_bootstrap_group){gap_cells(c, pair, order[i]), c->groups[order[i]].documents};
    if (!status) status = lg_bootstrap_run(b, groups, n, means, error);
    for (size_t i = 0; i < n && !status; i++) {
        if (groups[i].n < 2) continue; /* one document: no interval of any kind */
        memcpy(sorted, means + i * b->replicates, b->replicates * sizeof *sorted);
        lg_bootstrap_interval r = lg_bootstrap_percentile(sorted, b->replicates);
        rows[i].bootstrap_low = r.low;
        rows[i].bootstrap_high = r.high;
        rows[i].bootstrap_se = r.se;
        rows[i].replicates = r.used;
    }
    free(groups);
    free(sorted);
    return status;
}

static lg_status resample_pair(collector *c, const lg_bootstrap *b, size_t pair, lg_gap_row *rows,
                               lg_error *error) {
    size_t batch = c->view ? c->n_groups : BATCH / b->replicates + 1;
    if (batch > c->n_groups) batch = c->n_groups;
    size_t size;
    double *means = lg_multiply(batch, b->replicates, &size) ? lg_alloc(size, sizeof *means) : NULL;
    lg_status status = means ? LG_OK : lg_fail_memory(error);
    for (size_t i = 0; i < c->n_groups && !status; i += batch) {
        size_t n = c->n_groups - i < batch ? c->n_groups - i : batch;
        status = resample(c, b, pair, c->order + i, n, rows + i, means, error);
    }
    if (!status && c->view) status = gap_make_contrasts(c, pair, means, b->replicates, error);
    free(means);
    return status;
}

/* ---- all of it ---- */

static int compare_groups(const void *a, const void *b, void *context) {
    const group *groups = context, *x = &groups[*(const size_t *)a], *y = &groups[*(const size_t *)b];
    if (x->grouping != y->grouping) return x->grouping < y->grouping ? -1 : 1;
    return x->code < y->code ? -1 : x->code > y->code;
}

static lg_status fill_rows(collector *c, double *domains, lg_error *error) {
    lg_gap *gap = c->gap;
    for (size_t i = 0; i < c->n_groups; i++) {
        size_t index = c->order[i];
        const group *g = &c->groups[index];
        const char **level = gap_levels_of(c, g);
        if (!level) return lg_fail_memory(error);
        for (size_t p = 0; p < c->n_pairs; p++) {
            lg_gap_row *row = &gap->rows[p * c->n_groups + i];
            *row = (lg_gap_row){.model_a = gap->about.models[c->pairs[p].a],
                                .model_b = gap->about.models[c->pairs[p].b],
                                .level = level,
                                .grouping = c->groupings[g->grouping].columns};
            lg_status status = finish_row(c, index, p, domains, row, error);
            if (status) return status;
        }
    }
    return LG_OK;
}

lg_status gap_make_rows(collector *c, size_t bootstrap, uint64_t seed, lg_error *error) {
    lg_gap *gap = c->gap;
    size_t n = c->n_groups;
    const group *total = &c->groups[gap_find_group(c, 0, 0)];
    size_t *population = lg_alloc(total->documents, sizeof *population);
    double *domains = lg_alloc(2 * c->data->n_domains, sizeof *domains);
    c->order = lg_alloc(n, sizeof *c->order);
    gap->rows = lg_alloc(n * c->n_pairs, sizeof *gap->rows);
    lg_status status = population && domains && c->order && gap->rows ? LG_OK : lg_fail_memory(error);
    if (status) goto done;
    for (size_t g = 0; g < n; g++) c->order[g] = g;
    qsort_r(c->order, n, sizeof *c->order, compare_groups, c->groups);
    for (size_t d = 0; d < total->documents; d++) population[d] = c->cells[total->cells + d].document;
    status = fill_rows(c, domains, error);
    lg_bootstrap b = {population, total->documents, c->data->n_docs, bootstrap, seed, c->threads};
    for (size_t p = 0; p < c->n_pairs && !status; p++) {
        lg_gap_row *rows = gap->rows + p * n;
        status = adjust_rows(rows, n, error);
        if (status) break;
        if (bootstrap) status = resample_pair(c, &b, p, rows, error);
        else if (c->view) status = gap_make_contrasts(c, p, NULL, 0, error);
    }
    gap->n_rows = n * c->n_pairs;
done:
    free(population);
    free(domains);
    return status;
}
