/* The identity of a table: XXH3-128 of what its numbers say, whatever the file's layout and whoever made it.
 */
#ifndef LG_STORE_IDENTITY_H
#define LG_STORE_IDENTITY_H

#include "base/hash.h"
#include "lossgap/table.h"

/* One column of the identity; DATA is the XXH3-128 of its bytes. */
typedef struct lg_identity_column {
    const char *name;
    lg_dtype dtype;
    unsigned n_dims;
    const size_t *shape;
    lg_hash data;
} lg_identity_column;

/* COLUMNS are sorted here, by name. SETTINGS are hashed as the text that is stored. */
lg_status lg_identity_of(const char *format, unsigned version, const char *settings, size_t settings_length,
                         lg_identity_column *columns, size_t n_columns, char identity[33], lg_error *error);

#endif
