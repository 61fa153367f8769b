/* Reading config.json: typed members with bounds and specific complaints. */
#include "model/config.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

void lg_config_fail(lg_config *config, const char *format, ...) {
    if (config->status) return;
    char message[768];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    config->status = lg_fail(config->error, LG_BAD_INPUT, "%s: %s", config->path, message);
}

/* What VALUE holds, for people. */
static void describe(const lg_json_value *value, char *text, size_t size) {
    switch (value->type) {
    case LG_JSON_NULL:
        snprintf(text, size, "null");
        break;
    case LG_JSON_BOOL:
        snprintf(text, size, "%s", value->boolean ? "true" : "false");
        break;
    case LG_JSON_INTEGER:
        snprintf(text, size, "%lld", (long long)value->integer);
        break;
    case LG_JSON_NUMBER:
        snprintf(text, size, "%.17g", value->number);
        break;
    case LG_JSON_STRING:
        snprintf(text, size, "\"%.60s\"", value->string);
        break;
    case LG_JSON_ARRAY:
        snprintf(text, size, "a list");
        break;
    default:
        snprintf(text, size, "an object");
        break;
    }
}

void lg_config_refuse(lg_config *config, const char *object, const lg_json_value *value,
                      const char *supported) {
    char text[80];
    describe(value, text, sizeof text);
    lg_config_fail(config, "%s%s%s is %s; %s", object ? object : "", object ? "." : "",
                   value->key ? value->key : "?", text, supported);
}

static const lg_json_value *member(const lg_json_value *object, const char *key) {
    const lg_json_value *value = lg_json_get(object, key);
    return value && value->type != LG_JSON_NULL ? value : NULL;
}

const lg_json_value *lg_config_member(const lg_config *config, const char *key) {
    return member(config->root, key);
}

bool lg_config_has(const lg_config *config, const char *key) {
    return lg_config_member(config, key) != NULL;
}

size_t lg_config_size(lg_config *config, const char *key, size_t otherwise, size_t min, size_t max) {
    if (config->status) return 1;
    const lg_json_value *value = lg_config_member(config, key);
    if (!value) {
        if (otherwise >= min && otherwise <= max) return otherwise;
        lg_config_fail(config, "%s would be %zu by the other members; it must be from %zu to %zu", key,
                       otherwise, min, max);
        return 1;
    }
    if (value->type == LG_JSON_INTEGER && value->integer >= 0 && (uint64_t)value->integer >= min &&
        (uint64_t)value->integer <= max)
        return (size_t)value->integer;
    char range[96];
    snprintf(range, sizeof range, "it must be a whole number from %zu to %zu", min, max);
    lg_config_refuse(config, NULL, value, range);
    return 1;
}

double lg_config_number(lg_config *config, const lg_json_value *object, const char *name, const char *key,
                        double otherwise, double min, double max) {
    if (config->status) return otherwise;
    const lg_json_value *value = member(object ? object : config->root, key);
    if (!value) return otherwise;
    if ((value->type == LG_JSON_INTEGER || value->type == LG_JSON_NUMBER) && value->number >= min &&
        value->number <= max)
        return value->number;
    char range[96];
    snprintf(range, sizeof range, "it must be a number from %g to %g", min, max);
    lg_config_refuse(config, object ? name : NULL, value, range);
    return otherwise;
}

bool lg_config_bool(lg_config *config, const char *key, bool otherwise) {
    const lg_json_value *value = lg_config_member(config, key);
    if (config->status || !value) return otherwise;
    if (value->type != LG_JSON_BOOL) lg_config_refuse(config, NULL, value, "it must be true or false");
    return value->boolean;
}

void lg_config_must_be(lg_config *config, const char *key, bool wanted) {
    const lg_json_value *value = lg_config_member(config, key);
    if (!value || (value->type == LG_JSON_BOOL && value->boolean == wanted)) return;
    lg_config_refuse(config, NULL, value, wanted ? "only true is supported" : "only false is supported");
}
