/* safetensors: any bytes are a file or an error; what a file claims lies inside it, and adds up. */
#include <stdlib.h>
#include <string.h>

#include "store/safetensors.h"

static void check(bool good) {
    if (!good) abort();
}

static volatile unsigned sink; /* so that the reads are done */

/* Bytes as they are, or (RAW false) as the header and data of a file whose length field is right. */
static void run(const uint8_t *data, size_t size, bool raw) {
    size_t skip = raw ? 0 : 8;
    unsigned char *bytes = malloc(skip + size + 1);
    check(bytes != NULL);
    if (size) memcpy(bytes + skip, data, size);
    if (!raw) { /* the header ends at the first zero byte */
        const unsigned char *end = size ? memchr(bytes + 8, 0, size) : NULL;
        uint64_t length = end ? (uint64_t)(end - bytes - 8) : size;
        memcpy(bytes, &length, 8);
    }
    lg_safetensors *file;
    lg_error error = {0};
    lg_status status = lg_safetensors_parse(bytes, skip + size, "file", &file, &error);
    if (status) {
        check(status == LG_BAD_INPUT && error.status == status && !file &&
              memcmp(error.message, "file", 4) == 0);
        free(bytes);
        return;
    }
    size_t header;
    const unsigned char *at = (const unsigned char *)lg_safetensors_header(file, &header) + header;
    for (size_t i = 0; i < lg_safetensors_count(file); i++) {
        const lg_tensor *t = lg_safetensors_at(file, i);
        size_t count = 1, bytes_of_tensor = t->count * lg_dtype_size(t->dtype);
        check(t->n_dims <= LG_MAX_DIMS && t->data == at && lg_safetensors_find(file, t->name) == t);
        for (unsigned d = 0; d < t->n_dims; d++) count *= t->shape[d];
        check(count == t->count);
        for (size_t b = 0; b < bytes_of_tensor; b++) sink += at[b];
        at += bytes_of_tensor;
    }
    check(at == bytes + skip + size);
    const char *value = lg_safetensors_metadata(file, "format");
    if (value) sink += (unsigned)strlen(value);
    lg_safetensors_close(file);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    run(data, size, true);
    run(data, size, false);
    return 0;
}
