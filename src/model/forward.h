/* The forward pass: rows of tokens in, losses out. Layer by layer over the whole batch. */
#ifndef LG_MODEL_FORWARD_H
#define LG_MODEL_FORWARD_H

#include "kernels/compute.h"
#include "lossgap/model.h"

/* One way in which a row may go on: elements y[0 … n-1] after the row's last one, n >= 1. All are scored. */
typedef struct lg_branch {
    const uint32_t *y;
    size_t n;
    float *nll; /* [n] */
} lg_branch;

/* One window: elements y[0 … n-1]; inputs y[0 … n-2]. Scored: targets y[first … n-1], first >= 1. Output
   arrays hold n - first values each (entropy, rank, top1: NULL unless asked).

   With branches y[n-1] is an input, too, n >= 1 is enough, and each branch is scored as if the row went on
   with it alone: the row itself is computed once. In memory a branch's inputs, its elements but the last, lie
   behind the row's. */
typedef struct lg_row {
    const uint32_t *y;
    size_t n, first;
    float *nll;
    float *entropy;
    uint32_t *rank, *top1;
    const lg_branch *branches; /* [n_branches] */
    size_t n_branches;
} lg_row;

/* The inputs of ROW with its branches, and its targets: what it takes of a batch. */
size_t lg_row_inputs(const lg_row *row);
size_t lg_row_targets(const lg_row *row);

typedef struct lg_session lg_session; /* mutable: scratch and unpacked weights for one model */

/* MAX_TOKENS: inputs in one batch at most (at least the longest row); 0: chosen by the model's size. */
lg_status lg_session_create(const lg_model *model, lg_precision precision, unsigned threads, lg_isa isa,
                            size_t max_tokens, size_t longest_row, lg_session **session, lg_error *error);
void lg_session_free(lg_session *session);
size_t lg_session_max_tokens(const lg_session *session);
lg_precision lg_session_precision(const lg_session *session);
const char *lg_session_isa(const lg_session *session);
const char *lg_session_best_isa(void); /* what lg_session_isa says of a session with LG_ISA_BEST */
/* bf16 where the CPU has it and most weights are BF16, else f32. */
lg_precision lg_model_resolve_precision(const lg_model *model, lg_precision wanted);

/* Scores N_ROWS rows (their inputs within max_tokens together, and their targets, too; a row with its longest
   branch has at most the session's longest_row inputs). A row's results have the same bits for any
   threads, any batch, any neighbours. COLUMNS: LG_COLUMN_*. Progress is told in layers. */
lg_status lg_forward(lg_session *session, const lg_row *rows, size_t n_rows, unsigned columns,
                     const lg_monitor *monitor, lg_error *error);

/* The residual stream after layer LAYER (or, LAYER = n_layers, after the final norm) of one row without
   branches: [n-1, d_model]. For tests. */
lg_status lg_forward_hidden(lg_session *session, const lg_row *row, size_t layer, float *hidden,
                            lg_error *error);

/* Floating-point operations (2 per multiply-add) of the products with weights, attention and delta rule for
   one row of T inputs of which SCORED meet the head. */
double lg_model_flops(const lg_model *model, size_t T, size_t scored);

#endif
