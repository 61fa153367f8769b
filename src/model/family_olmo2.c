/* OLMo 2: norms after attention and MLP, full-width q/k norm, full causal attention with rotary embedding
   (spec/models.md 2). */
#include <string.h>

#include "model/spec.h"

static bool set_layer(lg_spec *spec, size_t layer, const char *type) {
    (void)spec, (void)layer;
    return !type || strcmp(type, "full_attention") == 0;
}

static void read(lg_config *config, lg_spec *spec) {
    static const lg_defaults defaults = {50304, 4096, 11008, 32, 32, 2048, 1e-5};
    lg_read_common(config, spec, &defaults, "rms_norm_eps");
    spec->d_ff = lg_config_size(config, "intermediate_size", defaults.d_ff, 1, LG_MAX_FF);
    lg_read_heads(config, spec, defaults.n_heads);
    spec->qk_norm = true;
    lg_refuse_window(config);
    lg_read_layer_types(config, spec, set_layer, "full_attention");
    lg_read_rotaries(config, spec, 10000, LG_ROPE_DEFAULT | LG_ROPE_YARN, false);
}

static const lg_tensor_rule *const rules[] = {lg_rules_model,   lg_rules_mlp,       lg_rules_attention,
                                              lg_rules_qk_norm, lg_rules_post_norm, NULL};
const lg_family lg_family_olmo2 = {"olmo2", read, rules};
