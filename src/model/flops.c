/* How much arithmetic a row costs: what is useful in it, so that padding and masked halves do not flatter a
 * rate. */
#include "model/checkpoint.h"
#include "model/forward.h"

/* Pairs of query and key that see each other. */
static double causal_pairs(double T, double window) {
    if (window == 0 || window >= T) return T * (T + 1) / 2;
    return window * (window + 1) / 2 + (T - window) * window;
}

/* Multiply-adds of the chunked delta rule (spec/models.md 7) over one row and value head. */
static double delta_cost(double T, double dk, double dv) {
    const double chunk = 64;
    double n = T < chunk ? T : chunk;
    return T * ((n + 1) * (dk + dv) + 3 * dk * dv);
}

double lg_model_flops(const lg_model *model, size_t T, size_t scored) {
    const lg_spec *s = &model->spec;
    double d = (double)s->d_model, t = (double)T, per_token = 0, mixing = 0;
    for (size_t i = 0; i < s->n_layers; i++) {
        per_token += 3 * d * (double)s->d_ff;
        if (s->layers[i].mixer == LG_ATTENTION) {
            double q = (double)(s->n_heads * s->head_dim), kv = (double)(s->n_kv_heads * s->head_dim);
            per_token += d * (2 * q + 2 * kv);
            mixing += 2 * q * causal_pairs(t, (double)s->layers[i].window);
        } else {
            double k = (double)(s->n_key_heads * s->key_dim), v = (double)(s->n_value_heads * s->value_dim);
            per_token += d * (2 * k + 3 * v + 2 * (double)s->n_value_heads);
            mixing += (double)s->n_value_heads * delta_cost(t, (double)s->key_dim, (double)s->value_dim);
        }
    }
    return 2 * (per_token * t + mixing + (double)scored * d * (double)s->vocab_size);
}
