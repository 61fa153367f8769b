/* The rooms that a forward pass works in: all allocated once, none proportional to vocabulary x rows. */
#ifndef LG_MODEL_SESSION_H
#define LG_MODEL_SESSION_H

#include "kernels/matmul.h"
#include "layers/layers.h"
#include "model/checkpoint.h"
#include "model/forward.h"

/* Where the parts of a token's row lie in the mixer's buffer, in floats. Attention: q (later the heads'
   outputs), k, v. Delta rule: q, k, v (later the outputs), output gate z, then a (later g) and b (later
   beta). */
typedef struct lg_mix_layout {
    size_t q, k, v, z, a, b, width;
} lg_mix_layout;

/* A thread's own scratch, pieces of one block; [LG_TILE, …] each. */
typedef struct lg_tile_room {
    void *operand;    /* [widest input of a product but the MLP's last] */
    float *normed;    /* [the wider of d_model and the value heads] */
    float *y;         /* [d_model] */
    float *gate, *up; /* [a block of d_ff] */
    void *operand_ff; /* [d_ff] */
    float *logits;    /* [head_rows] */
    void *mixing;     /* attention or delta rule */
    float *state;     /* [key_dim, value_dim]: the delta rule's, where branches begin */
    float *joint;     /* [2 (conv_size - 1), the wider of key_dim and value_dim] */
    void *product;    /* of lg_linear_tile */
    void *block;      /* owns them */
} lg_tile_room;

/* One row of the batch being computed. */
typedef struct lg_packed_row {
    size_t start, T, inputs;   /* first token; inputs of the row itself, and with those of its branches */
    const lg_branch *branches; /* [n_branches], the caller's */
    size_t n_branches;
} lg_packed_row;

struct lg_session {
    const lg_model *model;
    lg_compute *compute;
    lg_compute *exact; /* f32 products for the delta rule's a and b; may be COMPUTE itself */
    size_t max_tokens, longest_row;

    lg_weight *weights[2][LG_N_SLOTS]; /* by mixer; of the layer at hand */
    lg_weight **gate, **up; /* [n_ff_blocks]: so many rows of the MLP's that a tile's part stays in cache */
    lg_weight *down;
    size_t n_ff_blocks;
    lg_weight *head;
    size_t head_rows;           /* of the vocabulary in one block */
    float *vectors[LG_N_SLOTS]; /* norms, convolutions, A_log … of the layer at hand, f32 */
    float *full_table, *sliding_table;

    lg_mix_layout layout[2]; /* by mixer */
    float *x;                /* [padded, d_model] the residual stream */
    float *mix;              /* [padded, layout.width] */
    uint32_t *ids, *position;
    lg_packed_row *rows;
    size_t n_rows, n_tokens;

    /* head: scored positions of the batch, in order */
    void *head_operand; /* [padded, d_model]; lies in MIX */
    uint32_t *scored, *targets, *by_target;
    float *target_logit;
    lg_softmax_state *states;
    size_t n_scored;

    lg_tile_room *threads;
};

/* Rows of the MLP's gate and up weights in block B. */
size_t lg_session_ff_rows(const lg_session *session, size_t block, size_t *first);
/* Gives mapped pages back that were read and copied. They stay in the page cache, but a process that scores
   with a large model is no larger than one layer. */
void lg_release_pages(const void *data, size_t bytes);
/* lg_weight_load, and the file's pages are given back. */
lg_status lg_session_load(lg_weight *weight, const lg_tensor *tensor, size_t row, size_t n_rows,
                          lg_error *error);
/* Unpacks LAYER's weights. */
lg_status lg_session_load_layer(lg_session *session, size_t layer, lg_error *error);

/* head.c: the losses of the scored positions, from the residual stream after the last layer. */
lg_status lg_forward_head(lg_session *session, const lg_row *rows, size_t n_rows, unsigned columns,
                          const lg_monitor *monitor, lg_error *error);

/* parallel.c: calls WORK for items 0 … n-1, spread over the session's threads, each with its thread's ROOM;
   the first failure wins. */
typedef lg_status lg_work(lg_session *session, lg_tile_room *room, size_t item, const void *context,
                          lg_error *error);
lg_status lg_for_each(lg_session *session, size_t n, lg_work *work, const void *context, lg_error *error);

static inline size_t lg_n_tiles(size_t rows) {
    return (rows + LG_TILE - 1) / LG_TILE;
}

static inline size_t lg_round_up(size_t n, size_t multiple) {
    return (n + multiple - 1) / multiple * multiple;
}

#endif
