/* Files and folders for the tests of the corpus room: a scratch folder, packers. */
#ifndef TESTS_CORPUS_FILES_H
#define TESTS_CORPUS_FILES_H

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
#include <zlib.h>
#include <zstd.h>

#include "base/file.h"

static char scratch_folder[256];

/* A path below the scratch folder, in one of many static buffers. */
static inline const char *in_scratch(const char *name) {
    static char buffers[2048][768];
    static unsigned next;
    char *buffer = buffers[next++ % 2048];
    snprintf(buffer, sizeof buffers[0], "%s/%s", scratch_folder, name);
    return buffer;
}

static inline int make_scratch(void **state) {
    (void)state;
    const char *base = getenv("TMPDIR");
    snprintf(scratch_folder, sizeof scratch_folder, "%s/lossgap-corpus-XXXXXX", base ? base : "/tmp");
    return mkdtemp(scratch_folder) ? 0 : -1;
}

static inline int remove_scratch(void **state) {
    (void)state;
    char command[600];
    snprintf(command, sizeof command, "rm -rf '%s'", scratch_folder);
    return system(command);
}

static inline void put_bytes(const char *name, const void *data, size_t size) {
    char folder[768];
    const char *path = in_scratch(name);
    snprintf(folder, sizeof folder, "%s", path);
    *strrchr(folder, '/') = '\0';
    assert_int_equal(lg_make_folders(folder, NULL), LG_OK);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

static inline void put_text(const char *name, const char *text) {
    put_bytes(name, text, strlen(text));
}

/* One gzip member; returns its size. */
static inline size_t pack_gzip(const void *data, size_t size, unsigned char *out, size_t room) {
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (unsigned char *)(uintptr_t)data;
    z.avail_in = (unsigned)size;
    z.next_out = out;
    z.avail_out = (unsigned)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    size_t length = room - z.avail_out;
    deflateEnd(&z);
    return length;
}

static inline size_t pack_zstd(const void *data, size_t size, unsigned char *out, size_t room) {
    size_t length = ZSTD_compress(out, room, data, size, 3);
    assert_false(ZSTD_isError(length));
    return length;
}

#endif
