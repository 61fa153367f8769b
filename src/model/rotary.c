/* Rotary frequencies from config.json in all its forms: rope_theta with rope_scaling (before transformers 5),
   rope_parameters flat, or one dictionary per layer type. Plain, YaRN and Llama-3 scaling
   (spec/models.md 3.3, 5a). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "model/spec.h"

static const double PI = 3.14159265358979323846;

static const lg_json_value *member(const lg_json_value *object, const char *key) {
    const lg_json_value *value = lg_json_get(object, key);
    return value && value->type != LG_JSON_NULL ? value : NULL;
}

/* An unknown member might mean arithmetic that we do not do; so might a known one beside a type that ignores
 * it. */
static void check_members(lg_config *config, const lg_json_value *object, const char *name, unsigned type) {
    static const struct {
        const char *key;
        unsigned types;
    } known[] = {
        {"rope_type", ~0u},
        {"type", ~0u},
        {"rope_theta", ~0u},
        {"finetuned", ~0u},
        {"original_max_position_embeddings", ~0u},
        {"factor", LG_ROPE_YARN | LG_ROPE_LLAMA3},
        {"attention_factor", LG_ROPE_YARN},
        {"beta_fast", LG_ROPE_YARN},
        {"beta_slow", LG_ROPE_YARN},
        {"low_freq_factor", LG_ROPE_LLAMA3},
        {"high_freq_factor", LG_ROPE_LLAMA3},
    };
    for (const lg_json_value *value = object->first; value; value = value->next) {
        if (value->type == LG_JSON_NULL) continue;
        bool fine = false;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            if (strcmp(value->key, known[i].key) == 0) fine = (known[i].types & type) != 0;
        double number = value->type == LG_JSON_INTEGER || value->type == LG_JSON_NUMBER ? value->number : NAN;
        if (!strcmp(value->key, "partial_rotary_factor")) fine = number == 1;
        if (!strcmp(value->key, "truncate") &&
            type == LG_ROPE_YARN) /* of the band's edges to whole indices */
            fine = value->type == LG_JSON_BOOL && value->boolean;
        if (!fine) lg_config_refuse(config, name, value, "this is not computed with this rope_type");
    }
}

static unsigned rope_type(lg_config *config, const lg_json_value *object, const char *name, unsigned types) {
    if (!object) return LG_ROPE_DEFAULT;
    const lg_json_value *value = member(object, "rope_type");
    if (!value) value = member(object, "type");
    if (!value) return LG_ROPE_DEFAULT;
    const char *text = value->type == LG_JSON_STRING ? value->string : "";
    unsigned type = !strcmp(text, "default")  ? LG_ROPE_DEFAULT
                    : !strcmp(text, "yarn")   ? LG_ROPE_YARN
                    : !strcmp(text, "llama3") ? LG_ROPE_LLAMA3
                                              : 0;
    if (type & types) return type;
    char supported[80];
    snprintf(supported, sizeof supported, "supported here: \"default\"%s%s",
             types & LG_ROPE_YARN ? ", \"yarn\"" : "", types & LG_ROPE_LLAMA3 ? ", \"llama3\"" : "");
    lg_config_refuse(config, name, value, supported);
    return LG_ROPE_DEFAULT;
}

/* A member that scaling cannot do without. */
static double required(lg_config *config, const lg_json_value *object, const char *name, const char *key,
                       double min, double max) {
    if (!member(object, key)) lg_config_fail(config, "%s.%s is missing", name, key);
    return lg_config_number(config, object, name, key, min, min, max);
}

void lg_read_rotary(lg_config *config, lg_spec *spec, const lg_json_value *object, const char *name,
                    double theta, unsigned types, lg_rotary *rotary) {
    if (config->status) return;
    size_t hd = spec->head_dim, n = hd / 2;
    if (hd % 2) {
        lg_config_fail(config, "head_dim is %zu; rotary embedding needs an even one", hd);
        return;
    }
    unsigned type = rope_type(config, object, name, types);
    if (object) {
        check_members(config, object, name, type);
        theta = lg_config_number(config, object, name, "rope_theta", theta, 1e-3, 1e15);
    }
    double factor = 1, original = 1, beta_fast = 32, beta_slow = 1, low = 1, high = 4;
    rotary->factor = 1;
    if (type != LG_ROPE_DEFAULT) {
        factor = required(config, object, name, "factor", 1, 1e6);
        original = required(config, object, name, "original_max_position_embeddings", 1, 1e12);
    }
    if (type == LG_ROPE_YARN) {
        beta_fast = lg_config_number(config, object, name, "beta_fast", 32, 1e-3, 1e6);
        beta_slow = lg_config_number(config, object, name, "beta_slow", 1, 1e-3, 1e6);
        rotary->factor =
            lg_config_number(config, object, name, "attention_factor", 0.1 * log(factor) + 1, 1e-3, 1e3);
    } else if (type == LG_ROPE_LLAMA3) {
        low = required(config, object, name, "low_freq_factor", 1e-3, 1e6);
        high = required(config, object, name, "high_freq_factor", 1e-3, 1e6);
        if (high <= low) lg_config_fail(config, "%s.high_freq_factor must be above low_freq_factor", name);
    }
    if (!config->status && theta <= 1 && type == LG_ROPE_YARN)
        lg_config_fail(config, "rope_theta must be above 1");
    if (config->status) return;
    rotary->frequencies = lg_arena_alloc(&spec->arena, (n ? n : 1) * sizeof(double));
    if (!rotary->frequencies) {
        config->status = lg_fail_memory(config->error);
        return;
    }

    double first = 0, last = 1; /* YaRN's band: below FIRST as trained, from LAST on divided by the factor */
    if (type == LG_ROPE_YARN) {
        double scale = (double)hd / (2 * log(theta));
        first = fmax(floor(scale * log(original / (2 * PI * beta_fast))), 0);
        last = fmin(ceil(scale * log(original / (2 * PI * beta_slow))), (double)hd - 1);
        if (last - first < 0.001) last = first + 0.001;
    }
    for (size_t i = 0; i < n; i++) {
        double w = pow(theta, -2 * (double)i / (double)hd);
        if (type == LG_ROPE_YARN) {
            double ramp = fmin(fmax(((double)i - first) / (last - first), 0), 1);
            w *= 1 - ramp + ramp / factor;
        } else if (type == LG_ROPE_LLAMA3) {
            double s = fmin(fmax((original * w / (2 * PI) - low) / (high - low), 0), 1);
            w = (1 - s) * w / factor + s * w;
        }
        rotary->frequencies[i] = w;
    }
}

void lg_read_rotaries(lg_config *config, lg_spec *spec, double default_theta, unsigned types,
                      bool sliding_plain) {
    const lg_json_value *scaling = lg_config_member(config, "rope_scaling");
    const lg_json_value *parameters = lg_config_member(config, "rope_parameters");
    double theta = lg_config_number(config, NULL, NULL, "rope_theta", default_theta, 1e-3, 1e15);
    if (scaling && scaling->type != LG_JSON_OBJECT)
        lg_config_refuse(config, NULL, scaling, "it must be an object or null");
    if (parameters && parameters->type != LG_JSON_OBJECT)
        lg_config_refuse(config, NULL, parameters, "it must be an object or null");
    if (scaling && parameters)
        lg_config_fail(config, "rope_scaling and rope_parameters are both given; keep one");
    if (config->status) return;

    const lg_json_value *full = member(parameters, "full_attention"),
                        *sliding = member(parameters, "sliding_attention");
    if (full || sliding) { /* one dictionary per layer type */
        for (const lg_json_value *value = parameters->first; value; value = value->next)
            if (value != full && value != sliding && value->type != LG_JSON_NULL)
                lg_config_refuse(config, "rope_parameters", value,
                                 "only full_attention and sliding_attention are known");
        if (full && full->type != LG_JSON_OBJECT)
            lg_config_refuse(config, "rope_parameters", full, "it must be an object");
        if (sliding && sliding->type != LG_JSON_OBJECT)
            lg_config_refuse(config, "rope_parameters", sliding, "it must be an object");
        for (size_t i = 0; i < spec->n_layers && !config->status; i++)
            if (spec->layers[i].window ? !sliding : !full)
                lg_config_fail(config, "rope_parameters.%s is missing",
                               full ? "sliding_attention" : "full_attention");
        if (full)
            lg_read_rotary(config, spec, full, "rope_parameters.full_attention", theta, types, &spec->full);
        if (sliding)
            lg_read_rotary(config, spec, sliding, "rope_parameters.sliding_attention", theta, types,
                           &spec->sliding);
    } else {
        const lg_json_value *object = parameters ? parameters : scaling;
        const char *name = parameters ? "rope_parameters" : "rope_scaling";
        const lg_json_value *own = member(object, "rope_theta");
        if (own && lg_config_has(config, "rope_theta") && own->number != theta)
            lg_config_refuse(config, name, own, "the rope_theta outside it says otherwise");
        lg_read_rotary(config, spec, object, name, theta, types, &spec->full);
        if (sliding_plain) {
            theta = lg_config_number(config, object, name, "rope_theta", theta, 1e-3, 1e15);
            lg_read_rotary(config, spec, NULL, name, theta, types, &spec->sliding);
        } else {
            spec->sliding = spec->full;
        }
    }
    for (size_t i = 0; i < spec->n_layers; i++)
        if (spec->layers[i].mixer == LG_ATTENTION)
            spec->layers[i].rotary = spec->layers[i].window ? &spec->sliding : &spec->full;
}
