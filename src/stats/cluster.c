/* Means, errors and contrasts clustered by document.

   With S_d the sum over the n_d tokens of document d, N = sum n_d and m = sum S_d / N, the variance of m is G
   / (G - 1) sum_d (S_d - m n_d)^2 / N^2 (CR1, one coefficient). As S_d - m n_d = n_d (S_d / n_d - m), that
   sum is one of squares with weights n_d^2 about m. West's update holds it about the mean under those
   weights, free of cancellation; at the end it is moved to m. */
#include "stats/cluster.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "lossgap/gap.h"

/* sum of n_d^2 (S_d / n_d - ratio)^2 where n_d counts tokens, or bytes. */
static double squares_about(const lg_cell *cells, size_t n, bool bytes, double ratio) {
    double weights = 0, mean = 0, spread = 0;
    for (size_t i = 0; i < n; i++) {
        double size = bytes ? cells[i].bytes : cells[i].tokens;
        if (size <= 0) {
            spread += cells[i].sum * cells[i].sum;
            continue;
        }
        double weight = size * size, own = cells[i].sum / size, off = own - mean;
        weights += weight;
        mean += off * weight / weights;
        spread += weight * off * (own - mean);
    }
    double off = ratio - mean;
    return fmax(spread + weights * off * off, 0);
}

static double two_sided(double t, double df) {
    return fmin(1, 2 * lg_t_cdf(-fabs(t), df));
}

static double detectable(double se, double df) {
    return (lg_t_quantile(0.975, df) + lg_t_quantile(0.8, df)) * se;
}

static lg_status test_documents(const lg_cell *cells, size_t n, lg_cluster *r, lg_error *error) {
    double *means = lg_alloc(n, sizeof *means);
    if (!means) return lg_fail_memory(error);
    for (size_t i = 0; i < n; i++) {
        means[i] = cells[i].sum / cells[i].tokens;
        r->better += means[i] > 0;
        r->worse += means[i] < 0;
    }
    lg_wilcoxon w;
    lg_status status = lg_wilcoxon_test(means, n, &w, error);
    r->w_plus = w.w_plus;
    r->p_wilcoxon = w.p;
    r->p_sign = lg_sign_test(r->better, r->worse);
    r->p_sign_flip = lg_sign_flip_test(means, n);
    free(means);
    return status;
}

lg_status lg_cluster_compute(const lg_cell *cells, size_t n, bool constant, lg_cluster *r, lg_error *error) {
    *r = (lg_cluster){.mean = NAN,
                      .se = NAN,
                      .se_cr0 = NAN,
                      .df = NAN,
                      .low = NAN,
                      .high = NAN,
                      .t = NAN,
                      .p = NAN,
                      .mde = NAN,
                      .per_byte = NAN,
                      .se_per_byte = NAN,
                      .se_per_byte_cr0 = NAN,
                      .of_documents = NAN,
                      .se_of_documents = NAN,
                      .low_of_documents = NAN,
                      .high_of_documents = NAN,
                      .t_of_documents = NAN,
                      .p_of_documents = NAN,
                      .w_plus = NAN,
                      .p_wilcoxon = NAN,
                      .p_sign = NAN,
                      .p_sign_flip = NAN};
    if (!n) return LG_OK;
    double sum = 0, tokens = 0, bytes = 0, means = 0, groups = (double)n;
    for (size_t i = 0; i < n; i++) {
        sum += cells[i].sum;
        tokens += cells[i].tokens;
        bytes += cells[i].bytes;
        means += cells[i].sum / cells[i].tokens;
    }
    r->mean = sum / tokens;
    r->of_documents = constant ? r->mean : means / groups;
    if (bytes > 0) r->per_byte = sum / bytes;
    if (n < 2) {
        r->better = r->mean > 0;
        r->worse = r->mean < 0;
        return LG_OK;
    }
    r->df = groups - 1;
    double quantile = lg_t_quantile(0.975, r->df),
           squares = constant ? 0 : squares_about(cells, n, false, r->mean);
    r->se_cr0 = sqrt(squares) / tokens;
    r->se = sqrt(groups / r->df * squares) / tokens;
    r->low = r->mean - quantile * r->se;
    r->high = r->mean + quantile * r->se;
    r->mde = detectable(r->se, r->df);
    if (r->se > 0) {
        r->t = r->mean / r->se;
        r->p = two_sided(r->t, r->df);
    }
    if (bytes > 0) {
        double of_bytes = squares_about(cells, n, true, r->per_byte);
        r->se_per_byte_cr0 = sqrt(of_bytes) / bytes;
        r->se_per_byte = sqrt(groups / r->df * of_bytes) / bytes;
    }
    double spread = 0;
    for (size_t i = 0; i < n && !constant; i++) {
        double off = cells[i].sum / cells[i].tokens - r->of_documents;
        spread += off * off;
    }
    r->se_of_documents = sqrt(spread / r->df / groups);
    r->low_of_documents = r->of_documents - quantile * r->se_of_documents;
    r->high_of_documents = r->of_documents + quantile * r->se_of_documents;
    if (r->se_of_documents > 0) {
        r->t_of_documents = r->of_documents / r->se_of_documents;
        r->p_of_documents = two_sided(r->t_of_documents, r->df);
    }
    return test_documents(cells, n, r, error);
}

void lg_contrast_compute(const lg_contrast_part *parts, size_t n_parts, double *scratch, size_t n_docs,
                         lg_contrast *r) {
    *r = (lg_contrast){.estimate = NAN,
                       .se = NAN,
                       .se_cr0 = NAN,
                       .df = NAN,
                       .low = NAN,
                       .high = NAN,
                       .t = NAN,
                       .p = NAN,
                       .mde = NAN};
    for (size_t d = 0; d < n_docs; d++) scratch[d] = NAN; /* in no part */
    double all = 0, estimate = 0, squares = 0, documents = 0;
    bool empty = !n_parts;
    for (size_t k = 0; k < n_parts; k++) {
        const lg_contrast_part *part = &parts[k];
        double sum = 0, tokens = 0;
        for (size_t i = 0; i < part->n; i++) {
            sum += part->cells[i].sum;
            tokens += part->cells[i].tokens;
        }
        all += tokens;
        empty |= !part->n;
        double mean = part->n ? sum / tokens : 0;
        estimate += part->coefficient * mean;
        for (size_t i = 0; i < part->n; i++) {
            const lg_cell *cell = &part->cells[i];
            double *at = &scratch[cell->document], own = cell->sum / cell->tokens;
            double score = part->coefficient * cell->tokens * (own - mean) / tokens;
            *at = isnan(*at) ? score : *at + score;
        }
    }
    for (size_t d = 0; d < n_docs; d++) {
        if (isnan(scratch[d])) continue;
        documents++;
        squares += scratch[d] * scratch[d];
    }
    r->tokens = (uint64_t)all;
    r->documents = (uint64_t)documents;
    if (empty) return;
    r->estimate = estimate;
    double left = all - (double)n_parts;
    if (documents < 2 || left <= 0) return;
    r->df = documents - 1;
    r->se_cr0 = sqrt(squares);
    r->se = sqrt(documents / r->df * (all - 1) / left * squares);
    double half = lg_t_quantile(0.975, r->df) * r->se;
    r->low = estimate - half;
    r->high = estimate + half;
    r->mde = detectable(r->se, r->df);
    if (r->se > 0) {
        r->t = estimate / r->se;
        r->p = two_sided(r->t, r->df);
    }
}
