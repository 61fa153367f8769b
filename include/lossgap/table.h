/* Tables: named typed columns in one safetensors file, mapped and never copied. Every artefact is one. */
#ifndef LOSSGAP_TABLE_H
#define LOSSGAP_TABLE_H

#include "lossgap/base.h"

typedef enum lg_dtype {
    LG_U8,
    LG_I8,
    LG_BOOL,
    LG_F8_E4M3,
    LG_F8_E5M2,
    LG_U16,
    LG_I16,
    LG_F16,
    LG_BF16,
    LG_U32,
    LG_I32,
    LG_F32,
    LG_U64,
    LG_I64,
    LG_F64,
} lg_dtype;

LG_API const char *lg_dtype_name(lg_dtype dtype); /* as in safetensors: "U8", "F32" … */
LG_API size_t lg_dtype_size(lg_dtype dtype);      /* bytes */

#define LG_MAX_DIMS 8

/* A named array. Borrowed from the file that it lies in. */
typedef struct lg_tensor {
    const char *name;
    lg_dtype dtype;
    unsigned n_dims;
    size_t shape[LG_MAX_DIMS];
    size_t count;     /* product of shape */
    const void *data; /* little endian; aligned to the dtype only if the writer cared: see lg_table_column */
} lg_tensor;

typedef struct lg_table lg_table;

/* What an artefact says of itself. Strings live as long as the table. */
typedef struct lg_provenance {
    const char *format;   /* "dataset", "scores", "tags"; NULL for foreign safetensors */
    unsigned version;     /* of that format */
    const char *program;  /* "lossgap 0.1.0" */
    const char *command;  /* command line that made it */
    const char *identity; /* 32 hex digits: XXH3-128 of the arrays and of the settings that change numbers */
    const char *inputs;   /* JSON object: name to identity */
    const char *settings; /* JSON object */
    const char *about;    /* JSON object: what does not count for the identity; NULL: none */
} lg_provenance;

/* The newest version of any format that this program reads and writes. */
#define LG_TABLE_VERSION 2

/* Maps and validates PATH. With FORMAT, refuses other formats and versions newer than this program. Costs no
   reading of the data. */
LG_API lg_status lg_table_open(const char *path, const char *format, lg_table **table, lg_error *error);
LG_API void lg_table_close(lg_table *table); /* NULL is fine */
LG_API const char *lg_table_path(const lg_table *table);
LG_API const lg_provenance *lg_table_provenance(const lg_table *table);
/* The string KEY of the file's own metadata; NULL: none. */
LG_API const char *lg_table_metadata(const lg_table *table, const char *key);
LG_API size_t lg_table_n_columns(const lg_table *table);
LG_API const lg_tensor *lg_table_at(const lg_table *table, size_t index);
LG_API const lg_tensor *lg_table_find(const lg_table *table, const char *name); /* NULL: no such column */

/* The values of column NAME, aligned; an error if it is missing, has another dtype, or not COUNT values
   (SIZE_MAX: any). Borrowed; never NULL. Where another program wrote the file without alignment, they are a
   copy that the table owns. Threads may share the table. */
LG_API lg_status lg_table_column(const lg_table *table, const char *name, lg_dtype dtype, size_t count,
                                 const void **values, lg_error *error);

/* Reads all data and compares them and the settings with the identity that the file states. */
LG_API lg_status lg_table_verify(const lg_table *table, lg_error *error);
#endif
