/* Cross entropy without all logits at once: nll = log(sum_i exp(l_i - max)) + max - l_target, the sum kept
   relative to the greatest logit so far and rescaled when that grows. */
#include "layers/layers.h"

#include <math.h>

#include "kernels/kernels.h"

static void add_block(const lg_kernels *k, lg_softmax_state *s, const float *logits, uint32_t first_id,
                      size_t n, unsigned columns) {
    float block_max = k->max(logits, n), max = s->seen && s->max > block_max ? s->max : block_max;
    bool entropy = columns & LG_COLUMN_ENTROPY;
    if (columns & LG_COLUMN_TOP1 && (s->seen == 0 || block_max > s->max)) {
        size_t at = k->find(logits, block_max, n);
        if (at < n) s->top1 = first_id + (uint32_t)at;
    }
    if (s->seen && max > s->max) {
        double grown = (double)s->max - max, factor = s->sum > 0 ? exp(grown) : 0;
        if (entropy && factor > 0) s->weighted = factor * (s->weighted + grown * s->sum);
        else s->weighted = 0;
        s->sum *= factor;
    }
    s->max = max;
    s->seen += (uint32_t)n;
    double weighted;
    s->sum += k->sum_exp(logits, max > -INFINITY ? max : 0, n, entropy ? &weighted : NULL);
    if (entropy) s->weighted += weighted;
}

void lg_softmax_add(const lg_compute *c, lg_softmax_state *states, const float *logits, size_t stride,
                    size_t T, uint32_t first_id, size_t n, const uint32_t *targets, const float *target_logit,
                    unsigned columns) {
    if (n == 0) return;
    for (size_t t = 0; t < T; t++, logits += stride) {
        add_block(c->kernels, &states[t], logits, first_id, n, columns);
        if (targets[t] >= first_id && targets[t] - first_id < n)
            states[t].target = logits[targets[t] - first_id];
        if (columns & LG_COLUMN_RANK)
            states[t].rank += (uint32_t)c->kernels->count_above(logits, target_logit[t], n);
    }
}

double lg_softmax_nll(const lg_softmax_state *state) {
    return log(state->sum) + ((double)state->max - state->target);
}

/* -sum p log p with p = exp(d) / sum, d = logit - max. */
double lg_softmax_entropy(const lg_softmax_state *state) {
    return log(state->sum) - state->weighted / state->sum;
}
