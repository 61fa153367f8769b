/* The forward pass: rows of tokens in, losses out. Layer by layer over the whole batch. */
#ifndef LG_MODEL_FORWARD_H
#define LG_MODEL_FORWARD_H

#include "kernels/compute.h"
#include "lossgap/model.h"

/* One window: elements y[0 … n-1]; inputs y[0 … n-2]. Scored: targets y[first … n-1], first >= 1. Output
   arrays hold n - first values each (entropy, rank, top1: NULL unless asked). */
typedef struct lg_row {
    const uint32_t *y;
    size_t n, first;
    float *nll;
    float *entropy;
    uint32_t *rank, *top1;
} lg_row;

typedef struct lg_session lg_session; /* mutable: scratch and unpacked weights for one model */

/* MAX_TOKENS: inputs in one batch at most (at least the longest row); 0: chosen by the model's size. */
lg_status lg_session_create(const lg_model *model, lg_precision precision, unsigned threads, lg_isa isa,
                            size_t max_tokens, size_t longest_row, lg_session **session, lg_error *error);
void lg_session_free(lg_session *session);
size_t lg_session_max_tokens(const lg_session *session);
lg_precision lg_session_precision(const lg_session *session);
const char *lg_session_isa(const lg_session *session);
/* bf16 where the CPU has it and most weights are BF16, else f32. */
lg_precision lg_model_resolve_precision(const lg_model *model, lg_precision wanted);

/* Scores N_ROWS rows (their inputs within max_tokens together). A row's results have the same bits for any
   threads, any batch, any neighbours. COLUMNS: LG_COLUMN_*. Progress is told in layers. */
lg_status lg_forward(lg_session *session, const lg_row *rows, size_t n_rows, unsigned columns,
                     const lg_monitor *monitor, lg_error *error);

/* The residual stream after layer LAYER (or, LAYER = n_layers, after the final norm) of one row: [n-1,
   d_model]. For tests and probes. */
lg_status lg_forward_hidden(lg_session *session, const lg_row *row, size_t layer, float *hidden,
                            lg_error *error);

/* Floating-point operations (2 per multiply-add) of the products with weights, attention and delta rule for
   one row of T inputs of which SCORED meet the head. */
double lg_model_flops(const lg_model *model, size_t T, size_t scored);

#endif
