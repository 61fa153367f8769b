/* config.json: any JSON is a specification or an error, and a specification is within its bounds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/spec.h"

static void check(bool good) {
    if (!good) abort();
}

static void check_spec(const lg_spec *s) {
    check(s->d_model && s->d_model <= LG_MAX_WIDTH && s->d_ff && s->d_ff <= LG_MAX_FF);
    check(s->n_layers && s->n_layers <= LG_MAX_LAYERS && s->vocab_size && s->vocab_size <= LG_MAX_VOCABULARY);
    check(s->norm_eps >= 0 && s->norm_eps <= 1);
    for (size_t i = 0; i < s->n_layers; i++) {
        const lg_layer_spec *layer = &s->layers[i];
        size_t shape[3];
        for (lg_slot slot = 0; slot < LG_N_SLOTS; slot++) {
            unsigned n = lg_slot_shape(s, layer->mixer, slot, shape);
            check(n >= 1 && n <= 3);
        }
        if (layer->mixer == LG_ATTENTION) {
            check(s->n_kv_heads && s->n_heads % s->n_kv_heads == 0 && s->head_dim);
            check(s->n_heads * s->head_dim <= LG_MAX_WIDTH);
            for (size_t k = 0; layer->rotary && k < s->head_dim / 2; k++)
                check(isfinite(layer->rotary->frequencies[k]) && layer->rotary->frequencies[k] >= 0);
            if (layer->rotary) check(isfinite(layer->rotary->factor));
        } else {
            check(s->n_key_heads && s->n_value_heads % s->n_key_heads == 0 && s->key_dim && s->value_dim);
            check(s->n_key_heads * s->key_dim <= LG_MAX_WIDTH &&
                  s->n_value_heads * s->value_dim <= LG_MAX_WIDTH);
            check(s->conv_size >= 1 && s->conv_size <= 8);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    lg_arena arena = {0};
    lg_json_value *root;
    lg_error error = {0};
    if (lg_json_parse(&arena, (const char *)data, size, "config.json", &root, &error) == LG_OK) {
        static const char *const types[] = {"olmo2", "olmo3", "olmo_hybrid", "gated_deltanet", "llama"};
        for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
            lg_config config = {root, "config.json", LG_OK, &error};
            lg_spec spec = {0};
            error = (lg_error){0};
            lg_family_find(types[i])->read(&config, &spec);
            if (config.status) check(error.status == config.status && error.message[0]);
            else check_spec(&spec);
            lg_spec_free(&spec);
        }
    }
    lg_arena_free(&arena);
    return 0;
}
