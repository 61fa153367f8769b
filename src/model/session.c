/* Allocates the rooms of a forward pass, and unpacks one layer's weights into them. */
#include "model/session.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "kernels/kernels.h"

/* What a session may take for activations if the longest row allows it, and the batch that is plenty:
   unpacking weights costs 1 % of it. */
static const size_t ACTIVATION_BYTES = (size_t)1 << 30;
static const size_t PLENTY = 8192;
static const size_t HEAD_ROWS = 1024;
/* Of the MLP's width at a time: a tile's gate and up parts then stay in the second cache until they are
 * multiplied. */
static const size_t FF_BLOCK = 512;

/* Zeroed, on huge pages where the system gives them: a head's channels lie a row of tens of kB apart. */
static void *alloc_activations(size_t count, size_t size) {
    size_t bytes;
    const size_t huge = (size_t)2 << 20;
    if (!lg_multiply(count, size, &bytes) || bytes > SIZE_MAX - huge) return NULL;
    bool large = bytes >= 4 * huge;
    void *block =
        large ? aligned_alloc(huge, lg_round_up(bytes, huge)) : lg_alloc_aligned(bytes ? bytes : 1, 1);
    if (block && large) madvise(block, lg_round_up(bytes, huge), MADV_HUGEPAGE);
    return block ? memset(block, 0, bytes) : NULL;
}

/* ---- vectors: norms and the like, widened to f32 ---- */

static float from_half(uint16_t h) {
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = (h >> 10) & 31, mantissa = h & 1023;
    float value;
    if (exponent == 0) { /* zero and subnormal */
        value = (float)mantissa * 0x1p-24f;
        return sign ? -value : value;
    }
    uint32_t bits = sign | (exponent == 31 ? 0x7f800000u : (exponent + 112) << 23) | mantissa << 13;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void widen(const lg_tensor *tensor, float *out) {
    const unsigned char *data = tensor->data;
    if (tensor->dtype == LG_F32) {
        memcpy(out, data, tensor->count * sizeof *out);
        return;
    }
    for (size_t i = 0; i < tensor->count; i++) {
        uint16_t half;
        memcpy(&half, data + 2 * i, sizeof half);
        uint32_t bits = (uint32_t)half << 16;
        if (tensor->dtype == LG_BF16) memcpy(out + i, &bits, sizeof bits);
        else out[i] = from_half(half);
    }
}

/* ---- creation ---- */

static const lg_slot attention_weights[] = {LG_Q, LG_K, LG_V, LG_O};
static const lg_slot delta_weights[] = {LG_Q, LG_K, LG_V, LG_GATE, LG_A, LG_B, LG_O};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static bool uses(const lg_spec *spec, lg_mixer mixer) {
    for (size_t i = 0; i < spec->n_layers; i++)
        if (spec->layers[i].mixer == mixer) return true;
    return false;
}

static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

/* Floats per row of the mixers' buffer; parts begin on cache lines. */
static void lay_out(lg_session *s) {
    const lg_spec *spec = &s->model->spec;
    if (uses(spec, LG_ATTENTION)) {
        lg_mix_layout *l = &s->layout[LG_ATTENTION];
        size_t q = spec->n_heads * spec->head_dim, kv = spec->n_kv_heads * spec->head_dim;
        l->k = lg_round_up(q, 16);
        l->v = l->k + lg_round_up(kv, 16);
        l->width = l->v + lg_round_up(kv, 16);
    }
    if (uses(spec, LG_DELTA)) {
        lg_mix_layout *l = &s->layout[LG_DELTA];
        size_t k = spec->n_key_heads * spec->key_dim, v = spec->n_value_heads * spec->value_dim;
        size_t heads = lg_round_up(spec->n_value_heads, 16);
        l->k = lg_round_up(k, 16);
        l->v = l->k + lg_round_up(k, 16);
        l->z = l->v + lg_round_up(v, 16);
        l->a = l->z + lg_round_up(v, 16);
        l->b = l->a + heads;
        l->width = l->b + heads;
    }
}

static lg_status create_weight(lg_session *s, lg_mixer mixer, lg_slot slot, lg_error *error) {
    size_t shape[3];
    lg_slot_shape(&s->model->spec, mixer, slot, shape);
    lg_compute *compute = slot == LG_A || slot == LG_B ? s->exact : s->compute;
    return lg_weight_create(compute, shape[0], shape[1], &s->weights[mixer][slot], error);
}

size_t lg_session_ff_rows(const lg_session *s, size_t block, size_t *first) {
    *first = block * FF_BLOCK;
    size_t left = s->model->spec.d_ff - *first;
    return left < FF_BLOCK ? left : FF_BLOCK;
}

static lg_status create_mlp(lg_session *s, lg_error *error) {
    const lg_spec *spec = &s->model->spec;
    size_t n = (spec->d_ff + FF_BLOCK - 1) / FF_BLOCK;
    s->gate = calloc(n, sizeof(lg_weight *));
    s->up = calloc(n, sizeof(lg_weight *));
    if (!s->gate || !s->up) return lg_fail_memory(error);
    s->n_ff_blocks = n;
    lg_status status = lg_weight_create(s->compute, spec->d_model, spec->d_ff, &s->down, error);
    for (size_t b = 0; b < n && !status; b++) {
        size_t first, rows = lg_session_ff_rows(s, b, &first);
        status = lg_weight_create(s->compute, rows, spec->d_model, &s->gate[b], error);
        if (!status) status = lg_weight_create(s->compute, rows, spec->d_model, &s->up[b], error);
    }
    return status;
}

static lg_status create_weights(lg_session *s, lg_error *error) {
    const lg_spec *spec = &s->model->spec;
    lg_status status = create_mlp(s, error);
    if (uses(spec, LG_ATTENTION))
        for (size_t i = 0; i < COUNT(attention_weights) && !status; i++)
            status = create_weight(s, LG_ATTENTION, attention_weights[i], error);
    if (uses(spec, LG_DELTA))
        for (size_t i = 0; i < COUNT(delta_weights) && !status; i++)
            status = create_weight(s, LG_DELTA, delta_weights[i], error);
    s->head_rows = spec->vocab_size < HEAD_ROWS ? lg_round_up(spec->vocab_size, 16) : HEAD_ROWS;
    if (!status) status = lg_weight_create(s->compute, s->head_rows, spec->d_model, &s->head, error);
    return status;
}

static lg_status create_vectors(lg_session *s, lg_error *error) {
    const lg_spec *spec = &s->model->spec;
    size_t d = spec->d_model, k = spec->n_key_heads * spec->key_dim,
           v = spec->n_value_heads * spec->value_dim;
    const size_t sizes[LG_N_SLOTS] = {
        [LG_FINAL_NORM] = d,
        [LG_MIXER_NORM] = d,
        [LG_MLP_NORM] = d,
        [LG_Q_NORM] = spec->n_heads * spec->head_dim,
        [LG_K_NORM] = spec->n_kv_heads * spec->head_dim,
        [LG_CONV] = (2 * k + v) * spec->conv_size,
        [LG_A_LOG] = spec->n_value_heads,
        [LG_DT_BIAS] = spec->n_value_heads,
        [LG_O_NORM] = spec->value_dim,
    };
    for (size_t i = 0; i < LG_N_SLOTS; i++)
        if (sizes[i] && !(s->vectors[i] = lg_alloc_aligned(sizes[i], sizeof(float))))
            return lg_fail_memory(error);
    widen(s->model->globals[LG_FINAL_NORM], s->vectors[LG_FINAL_NORM]);

    struct {
        const lg_rotary *rotary;
        float **table;
    } tables[] = {{&spec->full, &s->full_table}, {&spec->sliding, &s->sliding_table}};
    for (size_t i = 0; i < COUNT(tables); i++) {
        bool used = false;
        for (size_t layer = 0; layer < spec->n_layers; layer++)
            used = used || spec->layers[layer].rotary == tables[i].rotary;
        size_t count;
        if (!used) continue;
        if (!lg_multiply(s->longest_row, spec->head_dim, &count)) return lg_fail_memory(error);
        *tables[i].table = lg_alloc_aligned(count, sizeof(float));
        if (!*tables[i].table) return lg_fail_memory(error);
        lg_rope_table(tables[i].rotary->frequencies, tables[i].rotary->factor, spec->head_dim, s->longest_row,
                      *tables[i].table);
    }
    return LG_OK;
}

/* Bytes of activations per token of a batch. */
static size_t token_bytes(const lg_session *s) {
    size_t d = s->model->spec.d_model, width = larger(s->layout[0].width, s->layout[1].width);
    return (d + larger(width, d)) * sizeof(float) + sizeof(lg_softmax_state) + sizeof(lg_packed_row) +
           6 * sizeof(uint32_t);
}

static lg_status create_batch(lg_session *s, lg_error *error) {
    size_t n = lg_round_up(s->max_tokens, LG_TILE), d = s->model->spec.d_model;
    size_t width = larger(larger(s->layout[0].width, s->layout[1].width), d), total;
    if (!lg_multiply(n, width, &total)) return lg_fail_memory(error);
    s->x = alloc_activations(n * d, sizeof *s->x);
    s->mix = alloc_activations(total, sizeof *s->mix);
    s->head_operand = s->mix; /* free by then, and no narrower */
    s->ids = lg_alloc(n, sizeof *s->ids);
    s->position = lg_alloc(n, sizeof *s->position);
    s->rows = lg_alloc(n, sizeof *s->rows);
    s->scored = lg_alloc(n, sizeof *s->scored);
    s->targets = lg_alloc(n, sizeof *s->targets);
    s->by_target = lg_alloc(n, sizeof *s->by_target);
    s->target_logit = lg_alloc(n, sizeof *s->target_logit);
    s->states = lg_alloc(n, sizeof *s->states);
    bool all = s->x && s->mix && s->ids && s->position && s->rows && s->scored && s->targets &&
               s->by_target && s->target_logit && s->states;
    return all ? LG_OK : lg_fail_memory(error);
}

/* Bytes of scratch that any product needs. */
static size_t product_scratch(const lg_session *s) {
    size_t most = larger(lg_weight_scratch(s->head), lg_weight_scratch(s->down));
    for (size_t b = 0; b < s->n_ff_blocks; b++)
        most = larger(most, larger(lg_weight_scratch(s->gate[b]), lg_weight_scratch(s->up[b])));
    for (int mixer = 0; mixer < 2; mixer++)
        for (int slot = 0; slot < LG_N_SLOTS; slot++)
            if (s->weights[mixer][slot]) most = larger(most, lg_weight_scratch(s->weights[mixer][slot]));
    return most;
}

static lg_status create_tile_rooms(lg_session *s, lg_error *error) {
    const lg_spec *spec = &s->model->spec;
    size_t d = spec->d_model, operand_size = lg_operand_size(s->compute);
    size_t q = spec->n_heads * spec->head_dim, v = spec->n_value_heads * spec->value_dim;
    size_t mixing = 0;
    if (uses(spec, LG_ATTENTION))
        mixing = lg_attention_scratch(s->compute, s->longest_row, spec->n_heads / spec->n_kv_heads,
                                      spec->head_dim);
    if (uses(spec, LG_DELTA))
        mixing = larger(mixing, lg_delta_scratch(s->compute, s->longest_row, spec->key_dim, spec->value_dim));
    /* attention's heads and the delta rule's work in one region, tiles in another, the head in a third; they
     * share */
    size_t ff_first, ff_block = lg_session_ff_rows(s, 0, &ff_first);
    const size_t tile[] = {LG_TILE * larger(d, larger(q, v)) * operand_size,
                           LG_TILE * larger(d, v) * sizeof(float),
                           LG_TILE * d * sizeof(float),
                           LG_TILE * ff_block * sizeof(float),
                           LG_TILE * ff_block * sizeof(float),
                           LG_TILE * spec->d_ff * operand_size};
    size_t at[COUNT(tile)], total = 0;
    for (size_t i = 0; i < COUNT(tile); i++) {
        at[i] = total;
        total += lg_round_up(tile[i], 64);
    }
    size_t logits = at[1] + LG_TILE * s->head_rows * sizeof(float);
    const size_t state = lg_round_up(mixing, 64);
    const size_t joint = state + lg_round_up(spec->key_dim * spec->value_dim * sizeof(float), 64);
    if (uses(spec, LG_DELTA))
        mixing = joint + 2 * (spec->conv_size - 1) * larger(spec->key_dim, spec->value_dim) * sizeof(float);
    size_t product = lg_round_up(larger(larger(total, mixing), logits), 64);
    total = product + lg_round_up(product_scratch(s), 64);

    s->threads = calloc(s->compute->threads, sizeof *s->threads);
    if (!s->threads) return lg_fail_memory(error);
    for (unsigned i = 0; i < s->compute->threads; i++) {
        char *block = alloc_activations(total, 1);
        if (!block) return lg_fail_memory(error);
        s->threads[i] = (lg_tile_room){
            .operand = block + at[0],
            .normed = (float *)(void *)(block + at[1]),
            .y = (float *)(void *)(block + at[2]),
            .gate = (float *)(void *)(block + at[3]),
            .up = (float *)(void *)(block + at[4]),
            .operand_ff = block + at[5],
            .logits = (float *)(void *)(block + at[1]), /* beside the operand, over the rest */
            .mixing = block,
            .state = (float *)(void *)(block + state),
            .joint = (float *)(void *)(block + joint),
            .product = block + product,
            .block = block,
        };
    }
    return LG_OK;
}

lg_precision lg_model_resolve_precision(const lg_model *model, lg_precision wanted) {
    if (wanted != LG_PRECISION_AUTO) return wanted;
    bool bf16 = lg_cpu_has_bf16() && strcmp(model->info.dtype, "BF16") == 0;
    return bf16 ? LG_PRECISION_BF16 : LG_PRECISION_F32;
}

lg_status lg_session_create(const lg_model *model, lg_precision precision, unsigned threads, lg_isa isa,
                            size_t max_tokens, size_t longest_row, lg_session **created, lg_error *error) {
    *created = NULL;
    lg_session *s = calloc(1, sizeof *s);
    if (!s) return lg_fail_memory(error);
    s->model = model;
    s->longest_row = longest_row ? longest_row : 1;
    precision = lg_model_resolve_precision(model, precision);
    lg_status status = LG_OK;
    if (s->longest_row > UINT32_MAX - LG_TILE || max_tokens > UINT32_MAX - LG_TILE)
        status = lg_fail(error, LG_USAGE, "rows of %zu tokens and batches of %zu are too long", longest_row,
                         max_tokens);
    if (!status) status = lg_compute_create(precision, threads, isa, &s->compute, error);
    if (!status && precision != LG_PRECISION_F32 && uses(&model->spec, LG_DELTA))
        status = lg_compute_create(LG_PRECISION_F32, threads, isa, &s->exact, error);
    else if (!status) s->exact = s->compute;
    if (status) goto done;

    lay_out(s);
    if (!max_tokens) {
        max_tokens = ACTIVATION_BYTES / token_bytes(s);
        if (max_tokens > PLENTY) max_tokens = PLENTY;
    }
    s->max_tokens = larger(max_tokens, s->longest_row);
    status = create_weights(s, error);
    if (!status) status = create_vectors(s, error);
    if (!status) status = create_batch(s, error);
    if (!status) status = create_tile_rooms(s, error);
done:
    if (status) lg_session_free(s);
    else *created = s;
    return status;
}

void lg_session_free(lg_session *s) {
    if (!s) return;
    for (unsigned i = 0; s->threads && i < s->compute->threads; i++) free(s->threads[i].block);
    free(s->threads);
    for (int mixer = 0; mixer < 2; mixer++)
        for (int slot = 0; slot < LG_N_SLOTS; slot++) lg_weight_free(s->weights[mixer][slot]);
    for (size_t b = 0; b < s->n_ff_blocks; b++) {
        lg_weight_free(s->gate[b]);
        lg_weight_free(s->up[b]);
    }
    free(s->gate);
    free(s->up);
    lg_weight_free(s->down);
    lg_weight_free(s->head);
    for (int slot = 0; slot < LG_N_SLOTS; slot++) free(s->vectors[slot]);
    free(s->full_table);
    free(s->sliding_table);
    free(s->x);
    free(s->mix);
    free(s->ids);
    free(s->position);
    free(s->rows);
    free(s->scored);
    free(s->targets);
    free(s->by_target);
    free(s->target_logit);
    free(s->states);
    if (s->exact != s->compute) lg_compute_free(s->exact);
    lg_compute_free(s->compute);
    free(s);
}

size_t lg_session_max_tokens(const lg_session *session) {
    return session->max_tokens;
}

const char *lg_session_isa(const lg_session *session) {
    return session->compute->kernels->name;
}

const char *lg_session_best_isa(void) {
    return lg_isa_best_name();
}

lg_precision lg_session_precision(const lg_session *session) {
    return session->compute->precision;
}

/* ---- one layer's weights ---- */

void lg_release_pages(const void *data, size_t bytes) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = ((uintptr_t)data + page - 1) / page * page,
              end = ((uintptr_t)data + bytes) / page * page;
    if (end > begin) madvise((void *)begin, end - begin, MADV_DONTNEED);
}

lg_status lg_session_load(lg_weight *weight, const lg_tensor *tensor, size_t row, size_t n_rows,
                          lg_error *error) {
    lg_status status = lg_weight_load(weight, tensor, row, n_rows, error);
    size_t row_bytes = tensor->count / tensor->shape[0] * lg_dtype_size(tensor->dtype);
    lg_release_pages((const char *)tensor->data + row * row_bytes, n_rows * row_bytes);
    return status;
}

static lg_status load_whole(lg_weight *weight, const lg_tensor *tensor, lg_error *error) {
    return lg_session_load(weight, tensor, 0, tensor->shape[0], error);
}

lg_status lg_session_load_layer(lg_session *s, size_t layer, lg_error *error) {
    const lg_tensor *const *tensors = s->model->layers[layer];
    lg_mixer mixer = s->model->spec.layers[layer].mixer;
    const lg_slot *slots = mixer == LG_ATTENTION ? attention_weights : delta_weights;
    size_t n = mixer == LG_ATTENTION ? COUNT(attention_weights) : COUNT(delta_weights);
    lg_status status = load_whole(s->down, tensors[LG_MLP_DOWN], error);
    for (size_t i = 0; i < n && !status; i++)
        status = load_whole(s->weights[mixer][slots[i]], tensors[slots[i]], error);
    for (size_t b = 0; b < s->n_ff_blocks && !status; b++) {
        size_t first, rows = lg_session_ff_rows(s, b, &first);
        status = lg_session_load(s->gate[b], tensors[LG_MLP_GATE], first, rows, error);
        if (!status) status = lg_session_load(s->up[b], tensors[LG_MLP_UP], first, rows, error);
    }

    static const lg_slot vectors[] = {LG_MIXER_NORM, LG_MLP_NORM, LG_Q_NORM,  LG_K_NORM,
                                      LG_CONV,       LG_A_LOG,    LG_DT_BIAS, LG_O_NORM};
    for (size_t i = 0; i < COUNT(vectors); i++)
        if (tensors[vectors[i]]) widen(tensors[vectors[i]], s->vectors[vectors[i]]);
    if (mixer == LG_DELTA && !tensors[LG_CONV]) { /* three of them, side by side */
        float *conv = s->vectors[LG_CONV];
        for (int slot = LG_Q_CONV; slot <= LG_V_CONV; slot++) {
            widen(tensors[slot], conv);
            conv += tensors[slot]->count;
        }
    }
    return status;
}
