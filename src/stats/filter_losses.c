/* Filtered losses: means over the tokens of each filter, for each model, with documents as clusters. */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "lossgap/gap.h"
#include "stats/cluster.h"
#include "stats/comparable.h"
#include "stats/filter_internal.h"

/* One value per token, summed by document: a model's losses, or its gap to the first model. */
typedef struct sums {
    lg_cell *cells; /* [n_docs] */
    double value;   /* of the first token */
    bool varies;    /* another token has another value */
} sums;

static void add_cell(sums *s, size_t n, size_t doc, double sum, uint64_t tokens, uint64_t bytes) {
    s->cells[n] = (lg_cell){.document = doc, .tokens = (double)tokens, .bytes = (double)bytes, .sum = sum};
}

/* Goes through the tokens of FILTER; *N cells of each. GAP->cells NULL: there is no gap. */
static void collect(const lg_dataset *data, const lg_scores *first, const lg_scores *own,
                    const lg_filter *filter, sums *loss, sums *gap, size_t *n_cells, lg_filtered_loss *out) {
    size_t n = 0;
    for (size_t d = 0; d < data->n_docs; d++) {
        double sum = 0, gap_sum = 0;
        uint64_t tokens = 0, bytes = 0;
        for (size_t i = (size_t)lg_begin_of(data->doc_token_end, d); i < data->doc_token_end[d]; i++) {
            if (!filter->mask[i]) continue;
            double value = (double)own->nll[i], ahead = (double)first->nll[i] - value;
            if (isnan(value)) {
                out->unscorable++;
                continue;
            }
            if (!out->tokens && !tokens) loss->value = value, gap->value = ahead;
            loss->varies |= value < loss->value || value > loss->value;
            gap->varies |= ahead < gap->value || ahead > gap->value;
            sum += value;
            gap_sum += ahead;
            tokens++;
            if (data->has_text) bytes += data->token_end[i] - lg_token_begin(data, d, i);
        }
        if (!tokens) continue;
        add_cell(loss, n, d, sum, tokens, bytes);
        if (gap->cells) add_cell(gap, n, d, gap_sum, tokens, bytes);
        n++;
        out->tokens += tokens;
        out->bytes += bytes;
    }
    out->documents = n;
    *n_cells = n;
}

static const double nats_per_bit = 0.693147180559945309417;

static lg_status infer(const sums *s, size_t n, lg_cluster *c, double *half, lg_error *error) {
    lg_status status = lg_cluster_compute(s->cells, n, !s->varies, c, error);
    *half =
        n > 1 ? lg_t_quantile(0.975, (double)n - 1) / nats_per_bit : NAN; /* per bit, as the bytes want it */
    return status;
}

static const char *note_of(const lg_filtered_loss *out, bool has_text) {
    if (!out->tokens)
        return out->unscorable ? "no token of the filter has a loss" : "the filter holds nowhere";
    if (out->documents == 1) return "one document: no interval";
    return has_text && !out->bytes ? "no bytes: no bits per byte" : NULL;
}

/* OUT of OWN over FILTER, against FIRST unless that is OWN. LOSS and GAP: cells [n_docs]. */
static lg_status compute(const lg_dataset *data, const lg_scores *first, const lg_scores *own,
                         const lg_filter *filter, lg_cell *loss_cells, lg_cell *gap_cells,
                         lg_filtered_loss *out, lg_error *error) {
    sums loss = {.cells = loss_cells}, gap = {.cells = first == own ? NULL : gap_cells};
    lg_cluster c;
    size_t n;
    double half;
    *out = (lg_filtered_loss){.gap = NAN,
                              .gap_se = NAN,
                              .gap_low = NAN,
                              .gap_high = NAN,
                              .gap_bits_per_byte = NAN,
                              .gap_bits_se = NAN,
                              .gap_bits_low = NAN,
                              .gap_bits_high = NAN};
    collect(data, first, own, filter, &loss, &gap, &n, out);
    out->note = note_of(out, data->has_text);
    lg_status status = infer(&loss, n, &c, &half, error);
    if (status) return status;
    out->loss = c.mean;
    out->se = c.se;
    out->df = c.df;
    out->low = c.low;
    out->high = c.high;
    out->bits_per_byte = c.per_byte / nats_per_bit;
    out->bits_se = c.se_per_byte / nats_per_bit;
    out->bits_low = out->bits_per_byte - half * c.se_per_byte;
    out->bits_high = out->bits_per_byte + half * c.se_per_byte;
    if (!gap.cells) return LG_OK;
    status = infer(&gap, n, &c, &half, error);
    if (status) return status;
    out->gap = c.mean;
    out->gap_se = c.se;
    out->gap_low = c.low;
    out->gap_high = c.high;
    out->gap_bits_per_byte = c.per_byte / nats_per_bit;
    out->gap_bits_se = c.se_per_byte / nats_per_bit;
    out->gap_bits_low = out->gap_bits_per_byte - half * c.se_per_byte;
    out->gap_bits_high = out->gap_bits_per_byte + half * c.se_per_byte;
    return LG_OK;
}

/* Every STEP-th task from FIRST on; a task is a model and a filter. */
static lg_status compute_some(const lg_dataset *data, const lg_scores *scores, const lg_filters *f,
                              size_t first, size_t step, size_t n_tasks, lg_filtered_loss *losses,
                              lg_error *error) {
    lg_cell *cells = lg_alloc(2 * data->n_docs + 1, sizeof *cells);
    lg_status status = cells ? LG_OK : lg_fail_memory(error);
    for (size_t i = first; i < n_tasks && !status; i += step)
        status = compute(data, &scores[0], &scores[i / f->n], &f->filters[i % f->n], cells,
                         cells + data->n_docs, &losses[i], error);
    free(cells);
    return status;
}

lg_status lg_filtered_losses(const lg_dataset *data, const lg_scores *scores, size_t n_scores,
                             const lg_filters *f, lg_filtered_loss **losses, lg_error *error) {
    lg_arena arena = {0};
    lg_error *errors = NULL;
    size_t n_tasks = 0, threads = f->threads;
    *losses = NULL;
    const char *const *names = lg_name_models(&arena, scores, n_scores);
    lg_status status = names ? LG_OK : lg_fail_memory(error);
    if (!status) status = lg_check_scores(data, scores, n_scores, names, error);
    if (status) goto done;
    errors = calloc(threads, sizeof *errors);
    if (!errors || !lg_multiply(n_scores, f->n, &n_tasks) ||
        !(*losses = lg_alloc(n_tasks + 1, sizeof **losses))) {
        status = lg_fail_memory(error);
    } else if (threads == 1) { /* without a team, whose making cannot fail softly */
        status = compute_some(data, scores, f, 0, 1, n_tasks, *losses, error);
    } else {
        lg_status worst = LG_OK;
#pragma omp parallel for schedule(static, 1) num_threads((int)threads) reduction(max : worst)
        for (size_t t = 0; t < threads; t++) {
            lg_status own = compute_some(data, scores, f, t, threads, n_tasks, *losses, &errors[t]);
            if (own > worst) worst = own;
        }
        for (size_t t = 0; t < threads && worst && !status; t++)
            if (errors[t].status) status = lg_fail(error, errors[t].status, "%s", errors[t].message);
    }
done:
    if (status) {
        free(*losses);
        *losses = NULL;
    }
    free(errors);
    lg_arena_free(&arena);
    return status;
}
