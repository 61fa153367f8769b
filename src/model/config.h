/* Reading config.json: typed members with bounds. The first failure sticks, later reads do nothing, so that a
   family file reads straight down and its caller looks once. */
#ifndef LG_MODEL_CONFIG_H
#define LG_MODEL_CONFIG_H

#include "base/json.h"

typedef struct lg_config {
    const lg_json_value *root;
    const char *path; /* for messages */
    lg_status status; /* LG_OK until the first failure */
    lg_error *error;
} lg_config;

/* "PATH: " and the message, LG_BAD_INPUT; unless something failed before. */
void lg_config_fail(lg_config *config, const char *format, ...) LG_PRINTF(2, 3);
/* Complains of VALUE (its key and what it holds) and says what is SUPPORTED. OBJECT: the member it lies in,
 * or NULL. */
void lg_config_refuse(lg_config *config, const char *object, const lg_json_value *value,
                      const char *supported);

/* Member KEY of the root; NULL if missing or null. */
const lg_json_value *lg_config_member(const lg_config *config, const char *key);
bool lg_config_has(const lg_config *config, const char *key);

/* A whole number in [min, max]; missing or null: DEFAULT, or a failure if that is LG_REQUIRED. 1 after a
 * failure. */
size_t lg_config_size(lg_config *config, const char *key, size_t otherwise, size_t min, size_t max);
/* A finite number in [min, max]; missing or null: OTHERWISE. OBJECT: where to look (NULL: the root), NAME its
 * name. */
double lg_config_number(lg_config *config, const lg_json_value *object, const char *name, const char *key,
                        double otherwise, double min, double max);
bool lg_config_bool(lg_config *config, const char *key, bool otherwise);
/* Refuses KEY unless missing, null, or WANTED. */
void lg_config_must_be(lg_config *config, const char *key, bool wanted);

#endif
