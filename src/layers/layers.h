/* Layers over rows of activations, forward. T: rows (tokens), d: channels; arrays are row-major f32, rows
   STRIDE floats apart where a stride is given. All norms, rotations, gates and sums are f32 (spec: everything
   but products). None allocates; each row's result depends on that row (or its document) alone. */
#ifndef LG_LAYERS_LAYERS_H
#define LG_LAYERS_LAYERS_H

#include "kernels/compute.h"

/* rmsnorm.c: y = w * x / sqrt(mean(x^2) + eps). y may be x. */
void lg_rmsnorm(const lg_compute *c, float *y, size_t y_stride, const float *x, size_t x_stride,
                const float *w, float eps, size_t T, size_t d);
/* y += that: the residual after a post-norm. */
void lg_rmsnorm_add(const lg_compute *c, float *y, size_t y_stride, const float *x, size_t x_stride,
                    const float *w, float eps, size_t T, size_t d);

/* rope.c: rotate-half rotary embedding, in place. table [n_positions, head_dim]: cosines of the head_dim/2
   frequencies, then their sines, attention factor included, computed in double. Row t is at position pos[t].
 */
void lg_rope_table(const double *frequencies, double factor, size_t head_dim, size_t n_positions,
                   float *table);
void lg_rope(const lg_compute *c, float *x, size_t stride, const float *table, const uint32_t *pos, size_t T,
             size_t n_heads, size_t head_dim);

/* swiglu.c: h = silu(gate) * up. h may be either. */
void lg_swiglu(const lg_compute *c, float *h, const float *gate, const float *up, size_t n);

/* embedding.c: x[t] = E[id[t]]; E is F32, BF16 or F16, of any alignment; ids lie within it. */
void lg_embed(const lg_compute *c, const lg_tensor *embedding, const uint32_t *ids, float *x, size_t T,
              size_t d);

/* short_conv.c: one document. y[t,c] = silu(sum_j w[c,j] x[t-K+1+j, c]), x before the start is 0. In place is
   allowed (y == x, same stride). w [d, K] f32, 1 <= K <= 8. Channels are independent: a stripe of them is a
   call with shifted pointers. */
void lg_short_conv(const lg_compute *c, float *y, size_t y_stride, const float *x, size_t x_stride,
                   const float *w, size_t K, size_t T, size_t d);

/* attention.c: softmax(q k^T * scale, causal, last WINDOW keys including the own one; 0: all) v, for the
   query heads that share one key/value head, over one row of T tokens. No T x T matrix: key blocks at fixed
   places, softmax in f32 kept online. Products in the context's precision. The queries may be those of the
   last tokens only, with the same results as among all. */
typedef struct lg_attention_args {
    const float *q; /* [T - first, q_stride], the group's heads side by side: [n_group, head_dim] */
    const float *k; /* [T, kv_stride], this head's head_dim channels */
    const float *v;
    float *out; /* [T - first, out_stride], like q; may be q itself */
    size_t q_stride, kv_stride, out_stride;
    size_t T, n_group, head_dim, window;
    float scale;
    size_t first; /* the token of the first query; 0: all of them */
} lg_attention_args;
size_t lg_attention_scratch(const lg_compute *c, size_t T, size_t n_group,
                            size_t head_dim); /* bytes, per thread */
void lg_attention(const lg_compute *c, const lg_attention_args *a, void *scratch);

/* delta_rule.c: the gated delta rule (spec/models.md 6.7, 7) in chunks of 64, one value head over one row.
   q and k come L2-normalised (lg_l2norm); g is the log decay <= 0, beta in [0, 2]. f32 state. */
typedef struct lg_delta_args {
    const float *q, *k;    /* [T, qk_stride], dk channels */
    const float *v;        /* [T, v_stride], dv channels */
    const float *g, *beta; /* [T, gate_stride] */
    float *out;            /* [T, out_stride], dv channels; may be v itself */
    const float *initial;  /* [dk, dv] or NULL: zero */
    float *final;          /* [dk, dv] or NULL */
    size_t qk_stride, v_stride, gate_stride, out_stride;
    size_t T, dk, dv;
} lg_delta_args;
size_t lg_delta_scratch(const lg_compute *c, size_t T, size_t dk, size_t dv); /* bytes, per thread */
void lg_delta_rule(const lg_compute *c, const lg_delta_args *a, void *scratch);

/* gates.c: what surrounds the delta rule. l2norm: x / sqrt(sum x^2 + 1e-6) per head, in place. gates: beta =
   sigmoid(b) * (2 if doubled), g = -exp(a_log) * softplus(a + dt_bias), per head, in place over b and a, rows
   STRIDE apart. */
void lg_l2norm(const lg_compute *c, float *x, size_t stride, size_t T, size_t n_heads, size_t head_dim);
void lg_delta_gates(const lg_compute *c, float *a_to_g, float *b_to_beta, const float *a_log,
                    const float *dt_bias, bool doubled, size_t T, size_t n_heads, size_t stride);
/* y = rmsnorm(o; w, eps) over each head's dv channels, times silu(z). y may be o. Rows of n_heads * dv
 * channels. */
void lg_gated_norm(const lg_compute *c, float *y, const float *o, size_t o_stride, const float *z,
                   size_t z_stride, const float *w, float eps, size_t T, size_t n_heads, size_t dv,
                   size_t y_stride);

/* cross_entropy.c: one tile of rows against the vocabulary, a block of logits at a time; sums in vocabulary
 * order. */
typedef struct lg_softmax_state { /* of one row, {0} to start: the caller zeroes it */
    float max;                    /* of the logits so far */
    double sum;                   /* of exp(logit - max) */
    double weighted;              /* of exp(logit - max) * (logit - max), when entropy is asked */
    float target;                 /* the target's logit, once its block was seen */
    uint32_t rank;                /* entries with a strictly larger logit than target_logit */
    uint32_t top1;
    uint32_t seen; /* logits so far */
} lg_softmax_state;
/* Adds the logits of ids first_id … first_id + n - 1, one row per state. TARGET_LOGIT (per row) is needed
 * with rank only. */
void lg_softmax_add(const lg_compute *c, lg_softmax_state *states, const float *logits, size_t stride,
                    size_t T, uint32_t first_id, size_t n, const uint32_t *targets, const float *target_logit,
                    unsigned columns /* LG_COLUMN_* */);
double lg_softmax_nll(const lg_softmax_state *state);     /* log(sum) + max - target, nats */
double lg_softmax_entropy(const lg_softmax_state *state); /* nats */

#endif
