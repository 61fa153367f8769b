/* OLMo 3: OLMo 2 with three windowed layers to each full one, and YaRN on the full ones only (spec/models.md
 * 3). */
#include <string.h>

#include "model/spec.h"

static bool set_layer(lg_spec *spec, size_t layer, const char *type) {
    bool full = type ? strcmp(type, "full_attention") == 0 : (layer + 1) % 4 == 0;
    if (type && !full && strcmp(type, "sliding_attention") != 0) return false;
    spec->layers[layer].window = full ? 0 : spec->window;
    return true;
}

static void read(lg_config *config, lg_spec *spec) {
    static const lg_defaults defaults = {50304, 4096, 11008, 32, 32, 2048, 1e-5};
    lg_read_common(config, spec, &defaults, "rms_norm_eps");
    spec->d_ff = lg_config_size(config, "intermediate_size", defaults.d_ff, 1, LG_MAX_FF);
    lg_read_heads(config, spec, defaults.n_heads);
    spec->qk_norm = true;
    spec->window = lg_config_size(config, "sliding_window", 4096, 1, LG_MAX_POSITIONS);
    lg_read_layer_types(config, spec, set_layer, "sliding_attention, full_attention");
    lg_read_rotaries(config, spec, 10000, LG_ROPE_DEFAULT | LG_ROPE_YARN, true);
}

static const lg_tensor_rule *const rules[] = {lg_rules_model,   lg_rules_mlp,       lg_rules_attention,
                                              lg_rules_qk_norm, lg_rules_post_norm, NULL};
const lg_family lg_family_olmo3 = {"olmo3", read, rules};
