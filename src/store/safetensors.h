/* safetensors files: mapped and fully validated (header length, JSON, dtypes, shape x dtype = bytes, no
   overlap, no gap, all inside the file, no duplicate name). A hostile file gets an error, never a crash. */
#ifndef LG_STORE_SAFETENSORS_H
#define LG_STORE_SAFETENSORS_H

#include "lossgap/table.h"

typedef struct lg_safetensors lg_safetensors;

lg_status lg_safetensors_open(const char *path, lg_safetensors **file, lg_error *error);
/* The same over bytes in memory, borrowed; NAME stands for the file in errors. */
lg_status lg_safetensors_parse(const unsigned char *data, size_t size, const char *name,
                               lg_safetensors **file, lg_error *error);
void lg_safetensors_close(lg_safetensors *file);
const char *lg_safetensors_path(const lg_safetensors *file);
size_t lg_safetensors_count(const lg_safetensors *file);
const lg_tensor *lg_safetensors_at(const lg_safetensors *file, size_t index);       /* in order of data */
const lg_tensor *lg_safetensors_find(const lg_safetensors *file, const char *name); /* NULL: none */
const char *lg_safetensors_metadata(const lg_safetensors *file, const char *key);   /* NULL: none */
/* The header's JSON as it is in the file, for content hashes. */
const void *lg_safetensors_header(const lg_safetensors *file, size_t *size);

#endif
