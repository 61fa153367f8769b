/* The identity of a table. */
#include "store/identity.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static void add_number(lg_hasher *hasher, uint64_t value) {
    lg_hasher_add(hasher, &value, sizeof value); /* little endian, as the whole format */
}

static void add_string(lg_hasher *hasher, const char *string, size_t length) {
    add_number(hasher, length);
    lg_hasher_add(hasher, string, length);
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const lg_identity_column *)a)->name, ((const lg_identity_column *)b)->name);
}

lg_status lg_identity_of(const char *format, unsigned version, const char *settings, size_t settings_length,
                         lg_identity_column *columns, size_t n_columns, char identity[33], lg_error *error) {
    lg_hasher *hasher = lg_hasher_create();
    if (!hasher) return lg_fail_memory(error);
    if (n_columns) qsort(columns, n_columns, sizeof *columns, by_name);
    add_string(hasher, format, strlen(format));
    add_number(hasher, version);
    add_string(hasher, settings, settings_length);
    add_number(hasher, n_columns);
    for (size_t i = 0; i < n_columns; i++) {
        const lg_identity_column *c = &columns[i];
        const char *dtype = lg_dtype_name(c->dtype);
        add_string(hasher, c->name, strlen(c->name));
        add_string(hasher, dtype, strlen(dtype));
        add_number(hasher, c->n_dims);
        for (unsigned d = 0; d < c->n_dims; d++) add_number(hasher, c->shape[d]);
        add_number(hasher, c->data.high);
        add_number(hasher, c->data.low);
    }
    lg_hash_hex(lg_hasher_value(hasher), identity);
    lg_hasher_free(hasher);
    return LG_OK;
}
