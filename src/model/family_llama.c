/* Llama (and what keeps its format, such as SmolLM2): norms before attention and MLP, no q/k norm, rotary
   embedding with Llama-3 scaling where the config says so (spec/models.md 5a). */
#include <string.h>

#include "model/spec.h"

static bool set_layer(lg_spec *spec, size_t layer, const char *type) {
    spec->layers[layer].pre_norm = true;
    return !type || strcmp(type, "full_attention") == 0;
}

static void read(lg_config *config, lg_spec *spec) {
    static const lg_defaults defaults = {32000, 4096, 11008, 32, 32, 2048, 1e-6};
    lg_read_common(config, spec, &defaults, "rms_norm_eps");
    spec->d_ff = lg_config_size(config, "intermediate_size", defaults.d_ff, 1, LG_MAX_FF);
    lg_read_heads(config, spec, defaults.n_heads);
    lg_refuse_window(config);
    lg_read_layer_types(config, spec, set_layer, "full_attention");
    lg_read_rotaries(config, spec, 10000, LG_ROPE_DEFAULT | LG_ROPE_LLAMA3 | LG_ROPE_YARN, false);
}

static const lg_tensor_rule own_rules[] = {
    {LG_MIXER_NORM, LG_IN_ATTENTION, "model.layers.#.input_layernorm.weight"},
    {LG_MLP_NORM, LG_IN_ATTENTION, "model.layers.#.post_attention_layernorm.weight"},
    {0},
};
static const lg_tensor_rule *const rules[] = {lg_rules_model, lg_rules_mlp, lg_rules_attention, own_rules,
                                              NULL};
const lg_family lg_family_llama = {"llama", read, rules};
