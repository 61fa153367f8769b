/* The forward pass, layer after layer over a batch of packed rows.

   Three parallel regions a layer, cut at fixed places so that a token's bits depend on its own row only:
   tiles of tokens through the mixer's projections; (row, head) pairs through attention or the delta rule;
   tiles again through the output projection, the residual and the whole MLP. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/session.h"

/* ---- tiles ---- */

/* What a layer's regions need to know. */
typedef struct layer_work {
    const lg_layer_spec *layer;
    const lg_mix_layout *layout;
    lg_weight *const *weights; /* the mixer's */
    float *const *vectors;
    const float *table; /* rotary, or NULL */
} layer_work;

static size_t tile_rows(const lg_session *s, size_t tile) {
    size_t left = s->n_tokens - tile * LG_TILE;
    return left < LG_TILE ? left : LG_TILE;
}

/* The operand of a branch: the residual stream, normed first where the layer says so; returns it as floats.
   Rows below N are left as they are: what stands there meets no other row. */
static const float *branch_operand(lg_session *s, lg_tile_room *room, const layer_work *w, const float *x,
                                   const float *norm, size_t n) {
    size_t d = s->model->spec.d_model;
    if (w->layer->pre_norm) {
        lg_rmsnorm(s->compute, room->normed, d, x, d, norm, s->model->spec.norm_eps, n, d);
        x = room->normed;
    }
    lg_to_operand(s->compute, x, room->operand, n * d);
    return x;
}

/* x += y, y normed first where the layer says so. */
static void add_branch(const lg_session *s, const layer_work *w, float *x, const float *y, const float *norm,
                       size_t n) {
    size_t d = s->model->spec.d_model;
    if (w->layer->pre_norm)
        for (size_t i = 0; i < n * d; i++) x[i] += y[i];
    else lg_rmsnorm_add(s->compute, x, d, y, d, norm, s->model->spec.norm_eps, n, d);
}

static lg_status embed_tile(lg_session *s, lg_tile_room *room, size_t tile, const void *context,
                            lg_error *error) {
    (void)room, (void)context, (void)error;
    size_t t0 = tile * LG_TILE, d = s->model->spec.d_model;
    lg_embed(s->compute, s->model->globals[LG_EMBEDDING], s->ids + t0, s->x + t0 * d, tile_rows(s, tile), d);
    return LG_OK;
}

/* Products of one tile's operand with COUNT weights, each to its place in the tile's rows of the mixers'
 * buffer. */
typedef struct product {
    lg_slot slot;
    size_t at;
} product;

static lg_status products(const lg_tile_room *room, const layer_work *w, const void *operand, size_t n,
                          float *mix, const product *list, size_t count, lg_error *error) {
    for (size_t i = 0; i < count; i++) {
        lg_status status = lg_linear_tile(w->weights[list[i].slot], operand, n, mix + list[i].at,
                                          w->layout->width, room->product, error);
        if (status) return status;
    }
    return LG_OK;
}

static lg_status project_attention(lg_session *s, lg_tile_room *room, size_t tile, const void *context,
                                   lg_error *error) {
    const layer_work *w = context;
    const lg_spec *spec = &s->model->spec;
    const lg_mix_layout *at = w->layout;
    size_t t0 = tile * LG_TILE, n = tile_rows(s, tile), d = spec->d_model, hd = spec->head_dim,
           width = at->width;
    float *mix = s->mix + t0 * width;
    const product list[] = {{LG_Q, at->q}, {LG_K, at->k}, {LG_V, at->v}};
    branch_operand(s, room, w, s->x + t0 * d, w->vectors[LG_MIXER_NORM], n);
    lg_status status = products(room, w, room->operand, n, mix, list, 3, error);
    if (status) return status;
    if (spec->qk_norm) {
        lg_rmsnorm(s->compute, mix + at->q, width, mix + at->q, width, w->vectors[LG_Q_NORM], spec->norm_eps,
                   n, spec->n_heads * hd);
        lg_rmsnorm(s->compute, mix + at->k, width, mix + at->k, width, w->vectors[LG_K_NORM], spec->norm_eps,
                   n, spec->n_kv_heads * hd);
    }
    if (w->table) {
        lg_rope(s->compute, mix + at->q, width, w->table, s->position + t0, n, spec->n_heads, hd);
        lg_rope(s->compute, mix + at->k, width, w->table, s->position + t0, n, spec->n_kv_heads, hd);
    }
    return LG_OK;
}

static lg_status project_delta(lg_session *s, lg_tile_room *room, size_t tile, const void *context,
                               lg_error *error) {
    const layer_work *w = context;
    const lg_mix_layout *at = w->layout;
    size_t t0 = tile * LG_TILE, n = tile_rows(s, tile), d = s->model->spec.d_model;
    float *mix = s->mix + t0 * at->width;
    const product list[] = {{LG_Q, at->q}, {LG_K, at->k}, {LG_V, at->v}, {LG_GATE, at->z}};
    const float *x = branch_operand(s, room, w, s->x + t0 * d, w->vectors[LG_MIXER_NORM], n);
    lg_status status = products(room, w, room->operand, n, mix, list, 4, error);
    if (status) return status;
    /* a and b, one row a head, are a thousandth of the work but their rounding compounds through the
     * recurrence */
    const product exact[] = {{LG_A, at->a}, {LG_B, at->b}};
    return products(room, w, s->exact == s->compute ? room->operand : x, n, mix, exact, 2, error);
}

/* ---- mixing ---- */

/* One row and the query heads of one key/value head. A branch sees the keys and values of the row and its
   own, so these come behind the row's in turn; the branch laid first has them there. */
static lg_status attend(lg_session *s, lg_tile_room *room, size_t item, const void *context,
                        lg_error *error) {
    (void)error;
    const layer_work *w = context;
    const lg_spec *spec = &s->model->spec;
    const lg_packed_row *row = &s->rows[item / spec->n_kv_heads];
    size_t head = item % spec->n_kv_heads, group = spec->n_heads / spec->n_kv_heads, hd = spec->head_dim;
    size_t width = w->layout->width;
    float *mix = s->mix + row->start * width;
    float *q = mix + w->layout->q + head * group * hd;
    float *k = mix + w->layout->k + head * hd, *v = mix + w->layout->v + head * hd;
    lg_attention_args a = {
        .q = q,
        .k = k,
        .v = v,
        .out = q,
        .q_stride = width,
        .kv_stride = width,
        .out_stride = width,
        .T = row->T,
        .n_group = group,
        .head_dim = hd,
        .window = w->layer->window,
        .scale = (float)(1 / sqrt((double)hd)),
    };
    lg_attention(s->compute, &a, room->mixing);
    a.first = row->T;
    for (size_t b = 0, at = row->T; b < row->n_branches; b++) {
        size_t n = row->branches[b].n - 1;
        if (!n) continue; /* its one target is the row's last position */
        for (size_t t = 0; at > row->T && t < n; t++) {
            memcpy(k + (row->T + t) * width, k + (at + t) * width, hd * sizeof *k);
            memcpy(v + (row->T + t) * width, v + (at + t) * width, hd * sizeof *v);
        }
        a.q = a.out = q + at * width;
        a.T = row->T + n;
        lg_attention(s->compute, &a, room->mixing);
        at += n;
    }
    return LG_OK;
}

/* The short convolution of D channels of a row and its branches, in place. A branch's first tokens also meet
   the row's last ones, which must not have been convolved yet: branches come first. */
static void convolve(const lg_session *s, lg_tile_room *room, const lg_packed_row *row, float *x,
                     const float *w, size_t d) {
    const size_t K = s->model->spec.conv_size, width = s->layout[LG_DELTA].width;
    const size_t before = row->T < K - 1 ? row->T : K - 1;
    for (size_t b = 0, at = row->T; b < row->n_branches; b++) {
        const size_t n = row->branches[b].n - 1, joint = n < K - 1 ? n : K - 1;
        if (!n) continue;
        for (size_t t = 0; t < before + joint; t++) {
            size_t from = t < before ? row->T - before + t : at + t - before;
            memcpy(room->joint + t * d, x + from * width, d * sizeof *x);
        }
        lg_short_conv(s->compute, room->joint, d, room->joint, d, w, K, before + joint, d);
        lg_short_conv(s->compute, x + at * width, width, x + at * width, width, w, K, n, d);
        for (size_t t = 0; t < joint; t++)
            memcpy(x + (at + t) * width, room->joint + (before + t) * d, d * sizeof *x);
        at += n;
    }
    lg_short_conv(s->compute, x, width, x, width, w, K, row->T, d);
}

/* One row and the value heads of one key head: convolutions, gates, delta rule. Branches go on from the
   row's last state. */
static lg_status delta(lg_session *s, lg_tile_room *room, size_t item, const void *context, lg_error *error) {
    (void)error;
    const layer_work *w = context;
    const lg_spec *spec = &s->model->spec;
    const lg_mix_layout *at = w->layout;
    const lg_packed_row *row = &s->rows[item / spec->n_key_heads];
    size_t head = item % spec->n_key_heads, group = spec->n_value_heads / spec->n_key_heads;
    size_t dk = spec->key_dim, dv = spec->value_dim, K = spec->conv_size, width = at->width;
    size_t keys = spec->n_key_heads * dk;
    float *mix = s->mix + row->start * width, *q = mix + at->q + head * dk, *k = mix + at->k + head * dk;
    const float *conv = w->vectors[LG_CONV];
    convolve(s, room, row, q, conv + head * dk * K, dk);
    convolve(s, room, row, k, conv + (keys + head * dk) * K, dk);
    lg_l2norm(s->compute, q, width, row->inputs, 1, dk);
    lg_l2norm(s->compute, k, width, row->inputs, 1, dk);
    for (size_t h = head * group; h < (head + 1) * group; h++) {
        float *v = mix + at->v + h * dv, *a = mix + at->a + h, *b = mix + at->b + h;
        convolve(s, room, row, v, conv + (2 * keys + h * dv) * K, dv);
        lg_delta_gates(s->compute, a, b, w->vectors[LG_A_LOG] + h, w->vectors[LG_DT_BIAS] + h, spec->doubled,
                       row->inputs, 1, width);
        lg_delta_args args = {
            .q = q,
            .k = k,
            .v = v,
            .g = a,
            .beta = b,
            .out = v,
            .final = row->inputs > row->T ? room->state : NULL,
            .qk_stride = width,
            .v_stride = width,
            .gate_stride = width,
            .out_stride = width,
            .T = row->T,
            .dk = dk,
            .dv = dv,
        };
        lg_delta_rule(s->compute, &args, room->mixing);
        args.initial = args.final;
        args.final = NULL;
        for (size_t i = 0, t = row->T; i < row->n_branches; i++) {
            args.q = q + t * width, args.k = k + t * width, args.v = args.out = v + t * width;
            args.g = a + t * width, args.beta = b + t * width;
            args.T = row->branches[i].n - 1;
            if (args.T) lg_delta_rule(s->compute, &args, room->mixing);
            t += args.T;
        }
    }
    return LG_OK;
}

/* ---- after mixing ---- */

static lg_status finish_tile(lg_session *s, lg_tile_room *room, size_t tile, const void *context,
                             lg_error *error) {
    const layer_work *w = context;
    const lg_spec *spec = &s->model->spec;
    size_t t0 = tile * LG_TILE, n = tile_rows(s, tile), d = spec->d_model, ff = spec->d_ff,
           width = w->layout->width;
    float *x = s->x + t0 * d, *mix = s->mix + t0 * width;
    size_t operand_size = lg_operand_size(s->compute);
    if (w->layer->mixer == LG_ATTENTION) {
        size_t q = spec->n_heads * spec->head_dim;
        for (size_t t = 0; t < n; t++)
            lg_to_operand(s->compute, mix + t * width + w->layout->q,
                          (char *)room->operand + t * q * operand_size, q);
    } else {
        size_t v = spec->n_value_heads * spec->value_dim;
        lg_gated_norm(s->compute, room->normed, mix + w->layout->v, width, mix + w->layout->z, width,
                      w->vectors[LG_O_NORM], spec->delta_norm_eps, n, spec->n_value_heads, spec->value_dim,
                      v);
        lg_to_operand(s->compute, room->normed, room->operand, n * v);
    }
    lg_status status = lg_linear_tile(w->weights[LG_O], room->operand, n, room->y, d, room->product, error);
    if (status) return status;
    add_branch(s, w, x, room->y, w->vectors[LG_MIXER_NORM], n);

    branch_operand(s, room, w, x, w->vectors[LG_MLP_NORM], n);
    for (size_t b = 0; b < s->n_ff_blocks && !status; b++) {
        size_t first, rows = lg_session_ff_rows(s, b, &first);
        status = lg_linear_tile(s->gate[b], room->operand, n, room->gate, rows, room->product, error);
        if (!status)
            status = lg_linear_tile(s->up[b], room->operand, n, room->up, rows, room->product, error);
        if (status) return status;
        lg_swiglu(s->compute, room->gate, room->gate, room->up, n * rows);
        for (size_t t = 0; t < n; t++)
            lg_to_operand(s->compute, room->gate + t * rows,
                          (char *)room->operand_ff + (t * ff + first) * operand_size, rows);
    }
    status = lg_linear_tile(s->down, room->operand_ff, n, room->y, d, room->product, error);
    if (status) return status;
    add_branch(s, w, x, room->y, w->vectors[LG_MLP_NORM], n);
    return LG_OK;
}

/* ---- the batch ---- */

static lg_status run_layer(lg_session *s, size_t index, lg_error *error) {
    const lg_spec *spec = &s->model->spec;
    const lg_layer_spec *layer = &spec->layers[index];
    lg_status status = lg_session_load_layer(s, index, error);
    if (status) return status;
    layer_work w = {
        .layer = layer,
        .layout = &s->layout[layer->mixer],
        .weights = s->weights[layer->mixer],
        .vectors = s->vectors,
        .table = !layer->rotary                 ? NULL
                 : layer->rotary == &spec->full ? s->full_table
                                                : s->sliding_table,
    };
    bool attention = layer->mixer == LG_ATTENTION;
    size_t tiles = lg_n_tiles(s->n_tokens), heads = attention ? spec->n_kv_heads : spec->n_key_heads;
    status = lg_for_each(s, tiles, attention ? project_attention : project_delta, &w, error);
    if (!status) status = lg_for_each(s, s->n_rows * heads, attention ? attend : delta, &w, error);
    if (!status) status = lg_for_each(s, tiles, finish_tile, &w, error);
    return status;
}

static int longest_first(const void *a, const void *b) {
    const lg_packed_row *p = a, *q = b;
    if (p->inputs != q->inputs) return p->inputs > q->inputs ? -1 : 1;
    return p->start < q->start ? -1 : 1;
}

size_t lg_row_inputs(const lg_row *row) {
    size_t inputs = row->n_branches ? row->n : row->n ? row->n - 1 : 0;
    for (size_t b = 0; b < row->n_branches; b++) inputs += row->branches[b].n - 1;
    return inputs;
}

size_t lg_row_targets(const lg_row *row) {
    size_t targets = row->n > row->first ? row->n - row->first : 0;
    for (size_t b = 0; b < row->n_branches; b++) targets += row->branches[b].n;
    return targets;
}

static lg_status check_ids(const lg_session *s, const uint32_t *y, size_t n, lg_error *error) {
    size_t vocabulary = s->model->spec.vocab_size;
    for (size_t i = 0; i < n; i++)
        if (y[i] >= vocabulary)
            return lg_fail(error, LG_BAD_INPUT, "token id %u is outside the vocabulary of %s, which has %zu",
                           y[i], s->model->info.path, vocabulary);
    return LG_OK;
}

/* Places the inputs Y [n], the first of them at POSITION of its row. */
static void put_inputs(lg_session *s, const uint32_t *y, size_t n, size_t position) {
    if (n) memcpy(s->ids + s->n_tokens, y, n * sizeof *s->ids);
    for (size_t t = 0; t < n; t++) s->position[s->n_tokens + t] = (uint32_t)(position + t);
    s->n_tokens += n;
}

static void put_target(lg_session *s, size_t token, uint32_t target) {
    s->scored[s->n_scored] = (uint32_t)token;
    s->targets[s->n_scored++] = target;
}

static lg_status check_row(const lg_session *s, const lg_row *row, size_t r, lg_error *error) {
    size_t longest = 0, inputs = lg_row_inputs(row), targets = lg_row_targets(row);
    for (size_t b = 0; b < row->n_branches; b++) {
        if (!row->branches[b].n)
            return lg_fail(error, LG_USAGE, "branch %zu of row %zu has no elements", b, r);
        if (row->branches[b].n - 1 > longest) longest = row->branches[b].n - 1;
    }
    size_t deepest = (row->n_branches ? row->n : row->n - 1) + longest;
    if (deepest > s->longest_row || inputs > s->max_tokens - s->n_tokens ||
        targets > s->max_tokens - s->n_scored)
        return lg_fail(error, LG_USAGE, "a batch of more than %zu tokens or a row of more than %zu",
                       s->max_tokens, s->longest_row);
    if (row->first < 1 || row->first > row->n)
        return lg_fail(error, LG_USAGE, "row %zu is scored from element %zu of %zu", r, row->first, row->n);
    lg_status status = check_ids(s, row->y, row->n, error);
    for (size_t b = 0; b < row->n_branches && !status; b++)
        status = check_ids(s, row->branches[b].y, row->branches[b].n, error);
    return status;
}

/* Checks the rows and lays their inputs side by side. */
static lg_status pack(lg_session *s, const lg_row *rows, size_t n_rows, lg_error *error) {
    s->n_rows = s->n_tokens = s->n_scored = 0;
    for (size_t r = 0; r < n_rows; r++) {
        const lg_row *row = &rows[r];
        if (row->n < 2 && !(row->n && row->n_branches)) continue; /* nothing to predict */
        lg_status status = check_row(s, row, r, error);
        if (status) return status;
        size_t start = s->n_tokens, T = row->n_branches ? row->n : row->n - 1;
        put_inputs(s, row->y, T, 0);
        for (size_t i = row->first; i < row->n; i++) put_target(s, start + i - 1, row->y[i]);
        for (size_t b = 0; b < row->n_branches; b++) {
            const lg_branch *branch = &row->branches[b];
            put_target(s, start + T - 1, branch->y[0]);
            for (size_t i = 1; i < branch->n; i++) put_target(s, s->n_tokens + i - 1, branch->y[i]);
            put_inputs(s, branch->y, branch->n - 1, T);
        }
        s->rows[s->n_rows++] = (lg_packed_row){start, T, s->n_tokens - start, row->branches, row->n_branches};
    }
    /* the longest rows first, so that no thread begins one at the end */
    qsort(s->rows, s->n_rows, sizeof *s->rows, longest_first);
    return LG_OK;
}

static lg_status run_layers(lg_session *s, size_t n_layers, const lg_monitor *monitor, lg_error *error) {
    lg_status status = lg_for_each(s, lg_n_tiles(s->n_tokens), embed_tile, NULL, error);
    const lg_tensor *embedding = s->model->globals[LG_EMBEDDING];
    lg_release_pages(embedding->data, embedding->count * lg_dtype_size(embedding->dtype));
    for (size_t i = 0; i < n_layers && !status; i++) {
        if (lg_is_cancelled(monitor)) return lg_fail(error, LG_CANCELLED, "stopped");
        status = run_layer(s, i, error);
        lg_progress(monitor, "layers", i + 1, n_layers + 1); /* the head counts as one more */
    }
    return status;
}

lg_status lg_forward(lg_session *s, const lg_row *rows, size_t n_rows, unsigned columns,
                     const lg_monitor *monitor, lg_error *error) {
    lg_status status = pack(s, rows, n_rows, error);
    if (!status && s->n_scored) status = run_layers(s, s->model->spec.n_layers, monitor, error);
    if (!status && s->n_scored) status = lg_forward_head(s, rows, n_rows, columns, monitor, error);
    return status;
}

lg_status lg_forward_hidden(lg_session *s, const lg_row *row, size_t layer, float *hidden, lg_error *error) {
    const lg_spec *spec = &s->model->spec;
    if (layer > spec->n_layers)
        return lg_fail(error, LG_USAGE, "layer %zu of a model with %zu", layer, spec->n_layers);
    lg_status status = pack(s, row, 1, error);
    if (status || !s->n_tokens) return status;
    bool final = layer == spec->n_layers;
    status = run_layers(s, final ? layer : layer + 1, NULL, error);
    if (status) return status;
    size_t d = spec->d_model;
    if (final)
        lg_rmsnorm(s->compute, hidden, d, s->x, d, s->vectors[LG_FINAL_NORM], spec->norm_eps, s->n_tokens, d);
    else memcpy(hidden, s->x, s->n_tokens * d * sizeof *hidden);
    return LG_OK;
}
