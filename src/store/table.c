/* Tables: what an artefact says of itself, and its columns. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/memory.h"
#include "store/identity.h"
#include "store/safetensors.h"
#include "store/table_memory.h"

struct lg_table {
    lg_safetensors *file;
    lg_arena arena;
    lg_provenance provenance;
    pthread_mutex_t lock; /* of `aligned` */
    void **aligned;       /* [columns] copies of those that lie unaligned, made when first asked for */
};

static const char *keep(lg_table *table, lg_string string, bool *no_memory) {
    char *copy = lg_arena_copy(&table->arena, string.data, string.length);
    if (!copy) *no_memory = true;
    return copy;
}

/* Reads the provenance from the metadata. Its objects are kept as the text that they are. */
static lg_status read_provenance(lg_table *table, const char *text, lg_error *error) {
    lg_provenance *p = &table->provenance;
    const char *path = lg_safetensors_path(table->file);
    const struct {
        const char *key;
        const char **value;
        bool object;
    } members[] = {
        {"format", &p->format, false},     {"program", &p->program, false}, {"command", &p->command, false},
        {"identity", &p->identity, false}, {"inputs", &p->inputs, true},    {"settings", &p->settings, true},
        {"about", &p->about, true},
    };
    lg_text scratch = {0}, place = {0};
    lg_json json;
    lg_string key, value;
    uint64_t version = 0;
    bool no_memory = false;
    lg_status status;
    lg_text_printf(&place, "%s: provenance", path);
    if (place.failed) {
        status = lg_fail_memory(error);
        goto done;
    }
    lg_json_start(&json, text, strlen(text), place.data, &scratch, error);
    lg_json_object(&json);
    while (lg_json_key(&json, &key)) {
        if (lg_string_is(key, "version")) {
            if (lg_json_unsigned(&json, &version) && (version < 1 || version > UINT32_MAX))
                lg_json_complain(&json, "a version of %llu", (unsigned long long)version);
            continue;
        }
        size_t m = 0, n = sizeof members / sizeof members[0];
        while (m < n && !lg_string_is(key, members[m].key)) m++;
        if (m == n) {
            lg_json_skip(&json); /* what a later version adds */
        } else if (*members[m].value) {
            lg_json_complain(&json, "\"%s\" twice", members[m].key);
        } else if (!members[m].object) {
            if (!lg_json_string(&json, &value)) break;
            if (memchr(value.data, 0, value.length))
                lg_json_complain(&json, "a zero byte in \"%s\"", members[m].key);
            *members[m].value = keep(table, value, &no_memory);
        } else {
            if (lg_json_peek(&json) != LG_JSON_OBJECT) {
                lg_json_object(&json); /* which says what is wrong */
                break;
            }
            value.data = json.at;
            if (!lg_json_skip(&json)) break;
            value.length = (size_t)(json.at - value.data);
            *members[m].value = keep(table, value, &no_memory);
        }
    }
    status = no_memory ? lg_fail_memory(error) : lg_json_done(&json);
    if (status) goto done;
    for (size_t m = 0; m < sizeof members / sizeof members[0] && !status; m++)
        if (!*members[m].value && members[m].value != &p->about)
            status = lg_fail(error, LG_BAD_INPUT, "%s: the provenance lacks \"%s\": make the file again",
                             path, members[m].key);
    if (!status && !version)
        status =
            lg_fail(error, LG_BAD_INPUT, "%s: the provenance lacks \"version\": make the file again", path);
    if (!status && (strlen(p->identity) != 32 || strspn(p->identity, "0123456789abcdef") != 32))
        status = lg_fail(error, LG_BAD_INPUT,
                         "%s: the provenance has an \"identity\" that is none: make the file again", path);
    p->version = (unsigned)version;
done:
    lg_text_free(&scratch);
    lg_text_free(&place);
    return status;
}

static lg_status check_format(const lg_table *table, const char *format, lg_error *error) {
    const lg_provenance *p = &table->provenance;
    const char *path = lg_safetensors_path(table->file);
    if (!p->format)
        return lg_fail(error, LG_BAD_INPUT, "%s holds no %s: it is a safetensors file of another program",
                       path, format);
    if (strcmp(p->format, format) != 0)
        return lg_fail(error, LG_BAD_INPUT, "%s holds %s, where %s is wanted", path, p->format, format);
    if (p->version > LG_TABLE_VERSION)
        return lg_fail(error, LG_BAD_INPUT,
                       "%s has version %u of the format %s, and this program knows only %d: use a newer "
                       "lossgap",
                       path, p->version, format, LG_TABLE_VERSION);
    return LG_OK;
}

/* Makes a table of an open FILE, which it owns from here on, also on error. */
static lg_status make_table(lg_safetensors *file, const char *format, lg_table **result, lg_error *error) {
    *result = NULL;
    lg_table *table = calloc(1, sizeof *table);
    if (!table) {
        lg_safetensors_close(file);
        return lg_fail_memory(error);
    }
    pthread_mutex_init(&table->lock, NULL);
    table->file = file;
    lg_status status = LG_OK;
    const char *text = lg_safetensors_metadata(table->file, "lossgap");
    if (text && (status = read_provenance(table, text, error))) goto done;
    if (format && (status = check_format(table, format, error))) goto done;
    table->aligned = calloc(lg_safetensors_count(table->file) + 1, sizeof *table->aligned);
    if (!table->aligned) status = lg_fail_memory(error);
done:
    if (status) lg_table_close(table);
    else *result = table;
    return status;
}

lg_status lg_table_open(const char *path, const char *format, lg_table **table, lg_error *error) {
    lg_safetensors *file;
    *table = NULL;
    lg_status status = lg_safetensors_open(path, &file, error);
    return status ? status : make_table(file, format, table, error);
}

lg_status lg_table_parse(const unsigned char *data, size_t size, const char *name, const char *format,
                         lg_table **table, lg_error *error) {
    lg_safetensors *file;
    *table = NULL;
    lg_status status = lg_safetensors_parse(data, size, name, &file, error);
    return status ? status : make_table(file, format, table, error);
}

void lg_table_close(lg_table *table) {
    if (!table) return;
    if (table->aligned)
        for (size_t i = 0; i < lg_safetensors_count(table->file); i++) free(table->aligned[i]);
    free(table->aligned);
    lg_safetensors_close(table->file);
    lg_arena_free(&table->arena);
    pthread_mutex_destroy(&table->lock);
    free(table);
}

const char *lg_table_path(const lg_table *table) {
    return lg_safetensors_path(table->file);
}

const lg_provenance *lg_table_provenance(const lg_table *table) {
    return &table->provenance;
}

const char *lg_table_metadata(const lg_table *table, const char *key) {
    return lg_safetensors_metadata(table->file, key);
}

size_t lg_table_n_columns(const lg_table *table) {
    return lg_safetensors_count(table->file);
}

const lg_tensor *lg_table_at(const lg_table *table, size_t index) {
    return lg_safetensors_at(table->file, index);
}

const lg_tensor *lg_table_find(const lg_table *table, const char *name) {
    return lg_safetensors_find(table->file, name);
}

/* An aligned copy of a column, made once. */
static const void *align(lg_table *table, const lg_tensor *column) {
    void **copy = &table->aligned[column - lg_safetensors_at(table->file, 0)];
    pthread_mutex_lock(&table->lock);
    if (!*copy && (*copy = lg_alloc_aligned(column->count, lg_dtype_size(column->dtype))) && column->count)
        memcpy(*copy, column->data, column->count * lg_dtype_size(column->dtype));
    pthread_mutex_unlock(&table->lock);
    return *copy;
}

lg_status lg_table_column(const lg_table *table, const char *name, lg_dtype dtype, size_t count,
                          const void **values, lg_error *error) {
    *values = NULL;
    const char *path = lg_table_path(table);
    const lg_tensor *column = lg_table_find(table, name);
    if (!column) return lg_fail(error, LG_BAD_INPUT, "%s has no column \"%s\"", path, name);
    if (column->dtype != dtype)
        return lg_fail(error, LG_BAD_INPUT, "%s: column \"%s\" has the dtype %s, where %s is wanted", path,
                       name, lg_dtype_name(column->dtype), lg_dtype_name(dtype));
    if (count != SIZE_MAX && column->count != count)
        return lg_fail(error, LG_BAD_INPUT, "%s: column \"%s\" has %zu values, where %zu are wanted", path,
                       name, column->count, count);
    *values = column->data;
    /* The cache of aligned copies is the only part of a table that changes, under its lock. */
    if ((uintptr_t)column->data % lg_dtype_size(dtype)) *values = align((lg_table *)(uintptr_t)table, column);
    return *values ? LG_OK : lg_fail_memory(error);
}

lg_status lg_table_verify(const lg_table *table, lg_error *error) {
    const lg_provenance *p = &table->provenance;
    const size_t n = lg_table_n_columns(table);
    if (!p->format)
        return lg_fail(error, LG_BAD_INPUT,
                       "%s states no identity: it is a safetensors file of another program",
                       lg_table_path(table));
    lg_identity_column *columns = lg_alloc(n, sizeof *columns);
    if (!columns) return lg_fail_memory(error);
    for (size_t i = 0; i < n; i++) {
        const lg_tensor *t = lg_table_at(table, i);
        columns[i] = (lg_identity_column){t->name, t->dtype, t->n_dims, t->shape,
                                          lg_hash_of(t->data, t->count * lg_dtype_size(t->dtype))};
    }
    char identity[33];
    lg_status status =
        lg_identity_of(p->format, p->version, p->settings, strlen(p->settings), columns, n, identity, error);
    free(columns);
    if (!status && strcmp(identity, p->identity) != 0)
        status = lg_fail(error, LG_BAD_INPUT,
                         "%s: its content has the identity %s, but it states %s: make the file again",
                         lg_table_path(table), identity, p->identity);
    return status;
}
