/* The pure RNN in flash-linear-attention's format: gated delta layers only, norms before
 * (spec/models.md 5.3). */
#include <math.h>

#include "model/spec.h"

/* The library's rule where intermediate_size is null: 2/3 of hidden_ratio x d, rounded up to a multiple of
 * 256. */
static size_t default_d_ff(lg_config *config, const lg_spec *spec) {
    double ratio = lg_config_number(config, NULL, NULL, "hidden_ratio", 4, 1e-3, 1024);
    size_t ff = (size_t)((double)spec->d_model * ratio * 2 / 3);
    return (ff + 255) / 256 * 256;
}

static void read(lg_config *config, lg_spec *spec) {
    static const lg_defaults defaults = {32000, 2048, 0, 21, 6, 2048, 1e-6};
    lg_read_common(config, spec, &defaults, "norm_eps");
    spec->d_ff = lg_config_size(config, "intermediate_size", default_d_ff(config, spec), 1, LG_MAX_FF);
    spec->n_key_heads = lg_config_size(config, "num_heads", defaults.n_heads, 1, LG_MAX_WIDTH);
    spec->n_value_heads = lg_config_size(config, "num_v_heads", spec->n_key_heads, 1, LG_MAX_WIDTH);
    spec->key_dim = lg_config_size(config, "head_dim", 256, 1, LG_MAX_HEAD_DIM);
    double value_dim =
        (double)spec->key_dim * lg_config_number(config, NULL, NULL, "expand_v", 2, 1e-3, 1024);
    if (value_dim != floor(value_dim) || value_dim < 1 || value_dim > LG_MAX_HEAD_DIM)
        lg_config_fail(config, "head_dim times expand_v is %g; it must be a whole number from 1 to %zu",
                       value_dim, LG_MAX_HEAD_DIM);
    else spec->value_dim = (size_t)value_dim;
    spec->conv_size = lg_config_size(config, "conv_size", 4, 1, 8);
    spec->doubled = lg_config_bool(config, "allow_neg_eigval", false);
    spec->delta_norm_eps = spec->norm_eps;
    lg_config_must_be(config, "use_gate", true);
    lg_config_must_be(config, "use_short_conv", true);
    lg_config_must_be(config, "conv_bias", false);
    const lg_json_value *attn = lg_config_member(config, "attn");
    if (attn)
        lg_config_refuse(config, NULL, attn, "attention layers in this format are not supported, only null");
    lg_check_delta(config, spec);
    for (size_t i = 0; !config->status && i < spec->n_layers; i++) {
        spec->layers[i].mixer = LG_DELTA;
        spec->layers[i].pre_norm = true;
    }
}

static const lg_tensor_rule *const rules[] = {lg_rules_model, lg_rules_mlp, lg_rules_delta, NULL};
const lg_family lg_family_gated_deltanet = {"gated_deltanet", read, rules};
