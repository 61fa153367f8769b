/* Olmo Hybrid: gated delta layers (norms before) and full attention layers (norms after, rotated or not);
   also with every layer linear, the pure RNN (spec/models.md 4, 5.1). */
#include <string.h>

#include "model/spec.h"

static bool set_layer(lg_spec *spec, size_t layer, const char *type) {
    bool full;
    if (type) full = strcmp(type, "full_attention") == 0;
    else full = layer % 4 == 3 || (spec->n_layers < 4 && layer + 1 == spec->n_layers);
    if (type && !full && strcmp(type, "linear_attention") != 0) return false;
    spec->layers[layer].mixer = full ? LG_ATTENTION : LG_DELTA;
    spec->layers[layer].pre_norm = !full;
    return true;
}

/* rope_parameters null, missing, or with a null rope_theta: no rotary embedding. */
static void read_rope(lg_config *config, lg_spec *spec) {
    const lg_json_value *parameters = lg_config_member(config, "rope_parameters");
    if (parameters && parameters->type != LG_JSON_OBJECT)
        lg_config_refuse(config, NULL, parameters, "it must be an object or null");
    const lg_json_value *theta = lg_json_get(parameters, "rope_theta"),
                        *outer = lg_config_member(config, "rope_theta");
    bool rotated = theta && theta->type != LG_JSON_NULL;
    if (!rotated && outer)
        lg_config_refuse(
            config, NULL, outer,
            "say it inside rope_parameters, or set it to null: without rope_parameters.rope_theta this "
            "family has no rotary embedding");
    if (lg_config_has(config, "rope_scaling"))
        lg_config_refuse(config, NULL, lg_config_member(config, "rope_scaling"),
                         "this family has no scaling");
    if (rotated && outer && outer->number != theta->number)
        lg_config_refuse(config, "rope_parameters", theta, "the rope_theta outside it says otherwise");
    if (parameters && !rotated) /* nothing may hide in it */
        for (const lg_json_value *v = parameters->first; v; v = v->next)
            if (v->type != LG_JSON_NULL &&
                !(v->type == LG_JSON_STRING && strcmp(v->string, "default") == 0) &&
                !(strcmp(v->key, "partial_rotary_factor") == 0 && v->number == 1))
                lg_config_refuse(config, "rope_parameters", v,
                                 "without a rope_theta this means nothing here");
    if (rotated) lg_read_rotary(config, spec, parameters, "rope_parameters", 0, LG_ROPE_DEFAULT, &spec->full);
    if (rotated && !config->status)
        for (size_t i = 0; i < spec->n_layers; i++)
            if (spec->layers[i].mixer == LG_ATTENTION) spec->layers[i].rotary = &spec->full;
}

static void read(lg_config *config, lg_spec *spec) {
    static const lg_defaults defaults = {100352, 3840, 11008, 32, 30, 65536, 1e-6};
    lg_read_common(config, spec, &defaults, "rms_norm_eps");
    spec->d_ff = lg_config_size(config, "intermediate_size", defaults.d_ff, 1, LG_MAX_FF);
    lg_read_heads(config, spec, defaults.n_heads);
    spec->qk_norm = true;
    lg_read_layer_types(config, spec, set_layer, "linear_attention, full_attention");

    spec->n_key_heads = lg_config_size(config, "linear_num_key_heads", spec->n_heads, 1, LG_MAX_WIDTH);
    spec->n_value_heads = lg_config_size(config, "linear_num_value_heads", spec->n_heads, 1, LG_MAX_WIDTH);
    size_t key_dim = spec->d_model * 3 / (4 * spec->n_key_heads); /* int(0.75 d / heads) */
    spec->key_dim = lg_config_size(config, "linear_key_head_dim", key_dim, 1, LG_MAX_HEAD_DIM);
    spec->value_dim = lg_config_size(config, "linear_value_head_dim", 2 * spec->key_dim, 1, LG_MAX_HEAD_DIM);
    spec->conv_size = lg_config_size(config, "linear_conv_kernel_dim", 4, 1, 8);
    spec->doubled = lg_config_bool(config, "linear_allow_neg_eigval", true);
    spec->delta_norm_eps = 1e-5f; /* fixed in this format, whatever rms_norm_eps says */
    lg_config_must_be(config, "linear_use_gate", true);
    lg_check_delta(config, spec);
    read_rope(config, spec);
}

static const lg_tensor_rule *const rules[] = {
    lg_rules_model, lg_rules_mlp, lg_rules_attention, lg_rules_qk_norm, lg_rules_post_norm,
    lg_rules_delta, NULL};
const lg_family lg_family_olmo_hybrid = {"olmo_hybrid", read, rules};
