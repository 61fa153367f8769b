/* The table of families, and what their files share: common members, tensor names and shapes. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "model/spec.h"

static const lg_family *const families[] = {&lg_family_olmo2, &lg_family_olmo3, &lg_family_olmo_hybrid,
                                            &lg_family_gated_deltanet, &lg_family_llama};
enum { N_FAMILIES = sizeof families / sizeof *families };

const lg_family *lg_family_find(const char *model_type) {
    for (size_t i = 0; i < N_FAMILIES; i++)
        if (strcmp(families[i]->model_type, model_type) == 0) return families[i];
    return NULL;
}

void lg_family_list(char *text, size_t size) {
    size_t used = 0;
    for (size_t i = 0; i < N_FAMILIES && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", families[i]->model_type);
}

void lg_spec_free(lg_spec *spec) {
    lg_arena_free(&spec->arena);
    *spec = (lg_spec){0};
}

/* ---- config members that every family has ---- */

/* Members of other families (or forks of these) that change numbers; each with the value at which it does
   not. Below 0: none does, only null. */
static const struct {
    const char *key;
    double neutral;
} not_computed[] = {
    {"pretraining_tp", 1},
    {"partial_rotary_factor", 1},
    {"logit_scale", 1},
    {"logits_scaling", 1},
    {"attention_multiplier", -1},
    {"residual_multiplier", 1},
    {"embedding_multiplier", 1},
    {"embedding_scale", 1},
    {"clip_qkv", -1},
    {"attention_bias", 0},
    {"mlp_bias", 0},
    {"use_bias", 0},
    {"rope_interleaved", 0},
    {"num_experts", 0},
    {"num_local_experts", 0},
    {"n_routed_experts", 0},
    {"attn_output_gate", 0},
    {"query_pre_attn_scalar", -1},
    {"final_logit_softcapping", -1},
    {"attn_logit_softcapping", -1},
    {"quantization_config", -1},
    {"layer_norm_scaling", 0},
};

static void refuse_not_computed(lg_config *config) {
    for (size_t i = 0; i < sizeof not_computed / sizeof *not_computed; i++) {
        const lg_json_value *value = lg_config_member(config, not_computed[i].key);
        if (!value) continue;
        double neutral = not_computed[i].neutral;
        bool number = value->type == LG_JSON_INTEGER || value->type == LG_JSON_NUMBER;
        if (number && value->number == neutral) continue;
        if (value->type == LG_JSON_BOOL && neutral == 0 && !value->boolean) continue;
        char supported[64] = "this is not computed, only null is supported";
        if (neutral >= 0 && value->type == LG_JSON_BOOL)
            snprintf(supported, sizeof supported, "this is not computed, only false is supported");
        else if (neutral >= 0)
            snprintf(supported, sizeof supported, "this is not computed, only %g is supported", neutral);
        lg_config_refuse(config, NULL, value, supported);
    }
}

/* A token id, the first of a list, or none (null, negative). */
static bool read_token(lg_config *config, const char *key, uint32_t *id) {
    const lg_json_value *member = lg_config_member(config, key), *value = member;
    if (value && value->type == LG_JSON_ARRAY) value = value->first;
    if (!value || value->type == LG_JSON_NULL) return false;
    if (value->type != LG_JSON_INTEGER || value->integer > UINT32_MAX)
        lg_config_refuse(config, NULL, member, "it must be a token id or a list of them");
    *id = (uint32_t)value->integer;
    return value->type == LG_JSON_INTEGER && value->integer >= 0;
}

void lg_read_common(lg_config *config, lg_spec *spec, const lg_defaults *defaults, const char *norm_eps_key) {
    refuse_not_computed(config);
    const lg_json_value *act = lg_config_member(config, "hidden_act");
    if (act &&
        !(act->type == LG_JSON_STRING && (!strcmp(act->string, "silu") || !strcmp(act->string, "swish"))))
        lg_config_refuse(config, NULL, act, "only \"silu\" is supported");

    spec->vocab_size = lg_config_size(config, "vocab_size", defaults->vocab_size, 1, LG_MAX_VOCABULARY);
    spec->d_model = lg_config_size(config, "hidden_size", defaults->d_model, 1, LG_MAX_WIDTH);
    spec->n_layers = lg_config_size(config, "num_hidden_layers", defaults->n_layers, 1, LG_MAX_LAYERS);
    spec->max_positions =
        lg_config_size(config, "max_position_embeddings", defaults->max_positions, 1, LG_MAX_POSITIONS);
    spec->norm_eps = (float)lg_config_number(config, NULL, NULL, norm_eps_key, defaults->norm_eps, 0, 1);
    spec->tied = lg_config_bool(config, "tie_word_embeddings", false);
    spec->has_bos = read_token(config, "bos_token_id", &spec->bos);
    spec->has_eos = read_token(config, "eos_token_id", &spec->eos);
    if (config->status) return;
    spec->layers = lg_arena_alloc(&spec->arena, spec->n_layers * sizeof *spec->layers);
    if (!spec->layers) config->status = lg_fail_memory(config->error);
}

void lg_read_heads(lg_config *config, lg_spec *spec, size_t default_heads) {
    spec->n_heads = lg_config_size(config, "num_attention_heads", default_heads, 1, LG_MAX_WIDTH);
    spec->n_kv_heads = lg_config_size(config, "num_key_value_heads", spec->n_heads, 1, LG_MAX_WIDTH);
    if (config->status) return;
    if (spec->n_heads % spec->n_kv_heads)
        lg_config_fail(config, "num_attention_heads is %zu, which num_key_value_heads, %zu, does not divide",
                       spec->n_heads, spec->n_kv_heads);
    if (!lg_config_has(config, "head_dim") && spec->d_model % spec->n_heads)
        lg_config_fail(config,
                       "hidden_size is %zu, which num_attention_heads, %zu, does not divide; give head_dim",
                       spec->d_model, spec->n_heads);
    spec->head_dim = lg_config_size(config, "head_dim", spec->d_model / spec->n_heads, 1, LG_MAX_HEAD_DIM);
    if (!config->status && spec->n_heads * spec->head_dim > LG_MAX_WIDTH)
        lg_config_fail(config, "%zu heads of %zu channels are too wide; at most %zu in all", spec->n_heads,
                       spec->head_dim, LG_MAX_WIDTH);
}

void lg_refuse_window(lg_config *config) {
    const lg_json_value *window = lg_config_member(config, "sliding_window");
    if (window)
        lg_config_refuse(config, NULL, window, "this family has no windowed layers, only null is supported");
}

void lg_check_delta(lg_config *config, const lg_spec *spec) {
    if (config->status) return;
    if (spec->n_value_heads % spec->n_key_heads)
        lg_config_fail(config, "%zu value heads cannot share %zu key heads evenly", spec->n_value_heads,
                       spec->n_key_heads);
    if (spec->n_key_heads * spec->key_dim > LG_MAX_WIDTH ||
        spec->n_value_heads * spec->value_dim > LG_MAX_WIDTH)
        lg_config_fail(config,
                       "%zu key heads of %zu and %zu value heads of %zu channels are too wide; at most %zu",
                       spec->n_key_heads, spec->key_dim, spec->n_value_heads, spec->value_dim, LG_MAX_WIDTH);
}

void lg_read_layer_types(lg_config *config, lg_spec *spec,
                         bool (*set)(lg_spec *spec, size_t layer, const char *type), const char *supported) {
    if (config->status) return;
    const lg_json_value *types = lg_config_member(config, "layer_types");
    if (!types) {
        for (size_t i = 0; i < spec->n_layers; i++) set(spec, i, NULL);
        return;
    }
    if (types->type != LG_JSON_ARRAY) {
        lg_config_refuse(config, NULL, types, "it must be a list of names");
        return;
    }
    if (types->length != spec->n_layers) {
        lg_config_fail(config, "layer_types has %zu entries, but num_hidden_layers is %zu", types->length,
                       spec->n_layers);
        return;
    }
    size_t layer = 0;
    for (const lg_json_value *type = types->first; type; type = type->next, layer++) {
        if (type->type == LG_JSON_STRING && set(spec, layer, type->string)) continue;
        lg_config_fail(config, "layer_types[%zu] is %s%.60s%s; supported here: %s", layer,
                       type->type == LG_JSON_STRING ? "\"" : "",
                       type->type == LG_JSON_STRING ? type->string : "no name",
                       type->type == LG_JSON_STRING ? "\"" : "", supported);
        return;
    }
}

/* ---- tensors ---- */

const lg_tensor_rule lg_rules_model[] = {
    {LG_EMBEDDING, LG_IN_MODEL, "model.embed_tokens.weight model.embeddings.weight"},
    {LG_FINAL_NORM, LG_IN_MODEL, "model.norm.weight lm_head.norm.weight"},
    {LG_HEAD, LG_IN_MODEL, "lm_head.weight lm_head.w_out.weight"},
    {0},
};

const lg_tensor_rule lg_rules_mlp[] = {
    {LG_MLP_GATE, LG_IN_LAYERS, "model.layers.#.mlp.gate_proj.weight blocks.#.feed_forward.w1.weight"},
    {LG_MLP_UP, LG_IN_LAYERS, "model.layers.#.mlp.up_proj.weight blocks.#.feed_forward.w3.weight"},
    {LG_MLP_DOWN, LG_IN_LAYERS, "model.layers.#.mlp.down_proj.weight blocks.#.feed_forward.w2.weight"},
    {0},
};

const lg_tensor_rule lg_rules_attention[] = {
    {LG_Q, LG_IN_ATTENTION, "model.layers.#.self_attn.q_proj.weight blocks.#.attention.w_q.weight"},
    {LG_K, LG_IN_ATTENTION, "model.layers.#.self_attn.k_proj.weight blocks.#.attention.w_k.weight"},
    {LG_V, LG_IN_ATTENTION, "model.layers.#.self_attn.v_proj.weight blocks.#.attention.w_v.weight"},
    {LG_O, LG_IN_ATTENTION, "model.layers.#.self_attn.o_proj.weight blocks.#.attention.w_out.weight"},
    {0},
};

const lg_tensor_rule lg_rules_qk_norm[] = {
    {LG_Q_NORM, LG_IN_ATTENTION, "model.layers.#.self_attn.q_norm.weight blocks.#.attention.q_norm.weight"},
    {LG_K_NORM, LG_IN_ATTENTION, "model.layers.#.self_attn.k_norm.weight blocks.#.attention.k_norm.weight"},
    {0},
};

const lg_tensor_rule lg_rules_post_norm[] = {
    {LG_MIXER_NORM, LG_IN_ATTENTION,
     "model.layers.#.post_attention_layernorm.weight model.layers.#.feedforward_layer_norm.weight "
     "blocks.#.attention_norm.weight"},
    {LG_MLP_NORM, LG_IN_ATTENTION,
     "model.layers.#.post_feedforward_layernorm.weight blocks.#.feed_forward_norm.weight"},
    {0},
};

/* The layer's part is called linear_attn by olmo_hybrid, attn by gated_deltanet, attention by OLMo-core. */
#define DELTA(slot, name)                                                                                    \
    {                                                                                                        \
        slot, LG_IN_DELTA,                                                                                   \
            "model.layers.#.linear_attn." name " model.layers.#.attn." name " blocks.#.attention." name      \
    }
#define DELTA_PROJECTION(slot, x)                                                                            \
    {                                                                                                        \
        slot, LG_IN_DELTA,                                                                                   \
            "model.layers.#.linear_attn." x "_proj.weight model.layers.#.attn." x "_proj.weight "            \
            "blocks.#.attention.w_" x ".weight"                                                              \
    }
const lg_tensor_rule lg_rules_delta[] = {
    {LG_MIXER_NORM, LG_IN_DELTA,
     "model.layers.#.input_layernorm.weight model.layers.#.attention_layer_norm.weight "
     "model.layers.#.attn_norm.weight blocks.#.attention_norm.weight"},
    {LG_MLP_NORM, LG_IN_DELTA,
     "model.layers.#.post_attention_layernorm.weight model.layers.#.feedforward_layer_norm.weight "
     "model.layers.#.mlp_norm.weight blocks.#.feed_forward_norm.weight"},
    DELTA_PROJECTION(LG_Q, "q"),
    DELTA_PROJECTION(LG_K, "k"),
    DELTA_PROJECTION(LG_V, "v"),
    DELTA_PROJECTION(LG_GATE, "g"),
    DELTA_PROJECTION(LG_A, "a"),
    DELTA_PROJECTION(LG_B, "b"),
    {LG_O, LG_IN_DELTA,
     "model.layers.#.linear_attn.o_proj.weight model.layers.#.linear_attn.out_proj.weight "
     "model.layers.#.attn.o_proj.weight blocks.#.attention.w_out.weight"},
    DELTA(LG_Q_CONV, "q_conv1d.weight"),
    DELTA(LG_K_CONV, "k_conv1d.weight"),
    DELTA(LG_V_CONV, "v_conv1d.weight"),
    DELTA(LG_CONV, "conv1d.weight"),
    DELTA(LG_A_LOG, "A_log"),
    DELTA(LG_DT_BIAS, "dt_bias"),
    {LG_O_NORM, LG_IN_DELTA,
     "model.layers.#.linear_attn.o_norm.weight model.layers.#.linear_attn.norm.weight "
     "model.layers.#.attn.o_norm.weight blocks.#.attention.o_norm.weight"},
    {0},
};
#undef DELTA
#undef DELTA_PROJECTION

unsigned lg_slot_shape(const lg_spec *spec, lg_mixer mixer, lg_slot slot, size_t shape[3]) {
    bool attention = mixer == LG_ATTENTION;
    size_t d = spec->d_model, hd = spec->head_dim;
    size_t q = attention ? spec->n_heads * hd : spec->n_key_heads * spec->key_dim;
    size_t k = attention ? spec->n_kv_heads * hd : q;
    size_t v = attention ? k : spec->n_value_heads * spec->value_dim;
    size_t rows = d, columns = 0; /* 0: a vector of ROWS */
    bool conv = false;
    switch (slot) {
    case LG_EMBEDDING:
    case LG_HEAD:
        rows = spec->vocab_size, columns = d;
        break;
    case LG_MLP_GATE:
    case LG_MLP_UP:
        rows = spec->d_ff, columns = d;
        break;
    case LG_MLP_DOWN:
        columns = spec->d_ff;
        break;
    case LG_Q:
        rows = q, columns = d;
        break;
    case LG_K:
        rows = k, columns = d;
        break;
    case LG_V:
    case LG_GATE:
        rows = v, columns = d;
        break;
    case LG_O:
        columns = attention ? q : v;
        break;
    case LG_Q_NORM:
        rows = q;
        break;
    case LG_K_NORM:
        rows = k;
        break;
    case LG_A:
    case LG_B:
        rows = spec->n_value_heads, columns = d;
        break;
    case LG_Q_CONV:
    case LG_K_CONV:
        rows = q, conv = true;
        break;
    case LG_V_CONV:
        rows = v, conv = true;
        break;
    case LG_CONV:
        rows = 2 * q + v, conv = true;
        break;
    case LG_A_LOG:
    case LG_DT_BIAS:
        rows = spec->n_value_heads;
        break;
    case LG_O_NORM:
        rows = spec->value_dim;
        break;
    default:
        break; /* norms: [d] */
    }
    shape[0] = rows;
    if (conv) {
        shape[1] = 1;
        shape[2] = spec->conv_size;
        return 3;
    }
    shape[1] = columns;
    return columns ? 2 : 1;
}
