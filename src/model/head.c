/* The head: final norm over the scored positions, then the vocabulary a block at a time, so that all logits
   never exist. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/session.h"

/* One block of the vocabulary against the scored positions. */
typedef struct block_work {
    uint32_t first_id;
    size_t n_ids;
    unsigned columns;
    size_t first; /* targets: where in by_target this block's positions begin, and how many they are */
    size_t count;
} block_work;

static size_t tile_rows(size_t n, size_t tile) {
    size_t left = n - tile * LG_TILE;
    return left < LG_TILE ? left : LG_TILE;
}

static char *operand_at(const lg_session *s, size_t scored) {
    return (char *)s->head_operand + scored * s->model->spec.d_model * lg_operand_size(s->compute);
}

/* Final norm of a tile of scored positions. The operands overlay MIX, which nobody needs any more. */
static lg_status norm_tile(lg_session *s, lg_tile_room *room, size_t tile, const void *context,
                           lg_error *error) {
    (void)context, (void)error;
    const lg_spec *spec = &s->model->spec;
    size_t n = tile_rows(s->n_scored, tile), d = spec->d_model;
    for (size_t i = 0; i < n; i++)
        lg_rmsnorm(s->compute, room->y + i * d, d, s->x + s->scored[tile * LG_TILE + i] * d, d,
                   s->vectors[LG_FINAL_NORM], spec->norm_eps, 1, d);
    lg_to_operand(s->compute, room->y, operand_at(s, tile * LG_TILE), n * d);
    return LG_OK;
}

static lg_status block_tile(lg_session *s, lg_tile_room *room, size_t tile, const void *context,
                            lg_error *error) {
    const block_work *w = context;
    size_t first = tile * LG_TILE, n = tile_rows(s->n_scored, tile);
    lg_status status =
        lg_linear_tile(s->head, operand_at(s, first), n, room->logits, s->head_rows, room->product, error);
    if (status) return status;
    lg_softmax_add(s->compute, s->states + first, room->logits, s->head_rows, n, w->first_id, w->n_ids,
                   s->targets + first, s->target_logit + first, w->columns);
    return LG_OK;
}

/* The target's logit of positions whose target lies in this block: the same product, so the same bits, as
 * block_tile's. */
static lg_status target_tile(lg_session *s, lg_tile_room *room, size_t tile, const void *context,
                             lg_error *error) {
    const block_work *w = context;
    size_t n = tile_rows(w->count, tile), bytes = s->model->spec.d_model * lg_operand_size(s->compute);
    const uint32_t *at = s->by_target + w->first + tile * LG_TILE;
    for (size_t i = 0; i < n; i++) memcpy((char *)room->operand + i * bytes, operand_at(s, at[i]), bytes);
    lg_status status =
        lg_linear_tile(s->head, room->operand, n, room->logits, s->head_rows, room->product, error);
    if (status) return status;
    for (size_t i = 0; i < n; i++)
        s->target_logit[at[i]] = room->logits[i * s->head_rows + s->targets[at[i]] - w->first_id];
    return LG_OK;
}

/* Positions ordered by target: a counting sort over blocks would need vocabulary / block more memory for
 * nothing. */
static int by_target(const void *a, const void *b, void *targets) {
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const uint32_t *t = targets;
    if (t[i] != t[k]) return t[i] < t[k] ? -1 : 1;
    return i < k ? -1 : 1;
}

/* Calls WORK on all tiles for block after block of the vocabulary; TARGETS: only those that have targets in
 * it. */
static lg_status for_blocks(lg_session *s, bool targets, unsigned columns, const lg_monitor *monitor,
                            lg_error *error) {
    const lg_tensor *head = s->model->globals[LG_HEAD];
    size_t vocabulary = s->model->spec.vocab_size, next = 0;
    lg_status status = LG_OK;
    for (size_t id = 0; id < vocabulary && !status; id += s->head_rows) {
        size_t n_ids = vocabulary - id < s->head_rows ? vocabulary - id : s->head_rows;
        block_work w = {(uint32_t)id, n_ids, columns, next, 0};
        if (targets) {
            while (next < s->n_scored && s->targets[s->by_target[next]] < id + n_ids) next++;
            w.count = next - w.first;
            if (!w.count) continue;
        }
        if (lg_is_cancelled(monitor)) return lg_fail(error, LG_CANCELLED, "stopped");
        status = lg_session_load(s->head, head, id, n_ids, error);
        if (!status)
            status = lg_for_each(s, lg_n_tiles(targets ? w.count : s->n_scored),
                                 targets ? target_tile : block_tile, &w, error);
    }
    return status;
}

/* The loss of STATE into *NLL. */
static lg_status finite_loss(const lg_session *s, const lg_softmax_state *state, uint32_t target, float *nll,
                             lg_error *error) {
    *nll = (float)lg_softmax_nll(state);
    if (isfinite(*nll)) return LG_OK;
    return lg_fail(error, LG_BAD_INPUT,
                   "%s gives no finite loss for token %u: its weights hold infinities or NaN, or overflow",
                   s->model->info.path, target);
}

/* Each row's results out of its states, which stand in the order of the caller's rows. */
static lg_status deliver(const lg_session *s, const lg_row *rows, size_t n_rows, unsigned columns,
                         lg_error *error) {
    const lg_softmax_state *state = s->states;
    lg_status status = LG_OK;
    for (size_t r = 0; r < n_rows; r++) {
        const lg_row *row = &rows[r];
        for (size_t i = row->first; row->n >= 2 && i < row->n; i++, state++) {
            size_t k = i - row->first;
            if ((status = finite_loss(s, state, row->y[i], &row->nll[k], error))) return status;
            if (columns & LG_COLUMN_ENTROPY) row->entropy[k] = (float)lg_softmax_entropy(state);
            if (columns & LG_COLUMN_RANK) row->rank[k] = state->rank;
            if (columns & LG_COLUMN_TOP1) row->top1[k] = state->top1;
        }
        for (size_t b = 0; row->n && b < row->n_branches; b++)
            for (size_t i = 0; i < row->branches[b].n; i++, state++)
                if ((status = finite_loss(s, state, row->branches[b].y[i], &row->branches[b].nll[i], error)))
                    return status;
    }
    return LG_OK;
}

lg_status lg_forward_head(lg_session *s, const lg_row *rows, size_t n_rows, unsigned columns,
                          const lg_monitor *monitor, lg_error *error) {
    memset(s->states, 0, s->n_scored * sizeof *s->states);
    lg_status status = lg_for_each(s, lg_n_tiles(s->n_scored), norm_tile, NULL, error);
    if (!status &&
        columns & LG_COLUMN_RANK) { /* a rank is counted against the target's logit, so that comes first */
        for (size_t i = 0; i < s->n_scored; i++) s->by_target[i] = (uint32_t)i;
        qsort_r(s->by_target, s->n_scored, sizeof *s->by_target, by_target, s->targets);
        status = for_blocks(s, true, columns, monitor, error);
    }
    if (!status) status = for_blocks(s, false, columns, monitor, error);
    return status ? status : deliver(s, rows, n_rows, columns, error);
}
