/* What the tests of models share: finding golden folders, temporary folders, writing small checkpoints. */
#ifndef TESTS_MODEL_HELPER_H
#define TESTS_MODEL_HELPER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/text.h"
#include "model/forward.h"
#include "store/safetensors.h"

static inline const char *shared_folder(void) {
    const char *shared = getenv("LG_SHARED");
    return shared ? shared : "../shared";
}

/* Skips the test, saying so, when the shared folder lacks NAME. Static storage. */
static inline const char *shared_or_skip(const char *name) {
    static char path[1024];
    snprintf(path, sizeof path, "%s/%s", shared_folder(), name);
    if (!lg_exists(path)) {
        print_message("skip: %s is not there (set LG_SHARED)\n", path);
        skip();
    }
    return path;
}

/* Fails the test with what the local lg_error `error` says. */
#define assert_ok(call)                                                                                      \
    do {                                                                                                     \
        if ((call) != LG_OK) fail_msg("%s: %s", #call, error.message);                                       \
    } while (0)

/* A new folder under $TMPDIR; remove_folder() it. Static storage. */
static inline const char *temporary_folder(void) {
    static char path[512];
    const char *tmp = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/lossgap-model-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    assert_non_null(mkdtemp(path));
    return path;
}

static inline void remove_folder(const char *path) {
    char command[600];
    snprintf(command, sizeof command, "rm -rf '%s'", path);
    assert_int_equal(system(command), 0);
}

static inline void write_text(const char *folder, const char *name, const char *text) {
    char *path = lg_path_join(folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
    free(path);
}

/* A tensor to write: values are VALUE everywhere, or small and different if it is 0. */
typedef struct test_tensor {
    const char *name, *dtype; /* NULL: F32 */
    size_t shape[3];          /* unused dims 0 */
    double value;
} test_tensor;

static inline size_t test_dtype_size(const char *dtype) {
    return !dtype || !strcmp(dtype, "F32") || !strcmp(dtype, "I32") ? 4 : !strcmp(dtype, "I64") ? 8 : 2;
}

/* A safetensors file of N tensors; those without a name are left out. */
static inline void write_tensors(const char *folder, const char *file, const test_tensor *tensors, size_t n) {
    lg_text header = {0}, data = {0};
    uint32_t seed = 12345;
    lg_text_puts(&header, "{\"__metadata__\":{\"format\":\"pt\"}");
    for (size_t i = 0; i < n; i++) {
        const test_tensor *t = &tensors[i];
        if (!t->name) continue;
        size_t size = test_dtype_size(t->dtype), count = 1, begin = data.length;
        lg_text_printf(&header, ",\"%s\":{\"dtype\":\"%s\",\"shape\":[", t->name,
                       t->dtype ? t->dtype : "F32");
        for (size_t k = 0; k < 3 && t->shape[k]; k++) {
            lg_text_printf(&header, "%s%zu", k ? "," : "", t->shape[k]);
            count *= t->shape[k];
        }
        for (size_t k = 0; k < count; k++) {
            seed = seed * 1664525u + 1013904223u;
            float value = t->value != 0 ? (float)t->value : (float)(seed >> 8) / (float)(1 << 24) - 0.5f;
            uint32_t bits;
            memcpy(&bits, &value, sizeof bits);
            unsigned char bytes[8] = {0};
            if (size == 2) bits >>= 16;
            memcpy(bytes, &bits, size < 4 ? size : 4);
            lg_text_put(&data, bytes, size);
        }
        lg_text_printf(&header, "],\"data_offsets\":[%zu,%zu]}", begin, data.length);
    }
    lg_text_puts(&header, "}");
    while (header.length % 8) lg_text_puts(&header, " ");
    char *path = lg_path_join(folder, file);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    uint64_t length = header.length;
    fwrite(&length, sizeof length, 1, f);
    fwrite(header.data, 1, header.length, f);
    fwrite(data.data, 1, data.length, f);
    assert_int_equal(fclose(f), 0);
    free(path);
    lg_text_free(&header);
    lg_text_free(&data);
}

#endif
