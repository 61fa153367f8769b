/* A file read front to back, unpacked on the way: plain, gzip (zlib), zstd. */
#include "corpus/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/error.h"

enum { INPUT_SIZE = 1 << 17 };

struct lg_stream {
    char *path;
    lg_packing packing;
    int fd;
    bool file_ended;
    bool inside;       /* in the middle of a gzip member or a zstd frame */
    bool any;          /* at least one member or frame was begun */
    size_t at, filled; /* unread part of INPUT */
    uint64_t consumed;
    z_stream gzip;
    ZSTD_DStream *zstd;
    unsigned char input[INPUT_SIZE];
};

lg_status lg_stream_open(const char *path, lg_packing packing, lg_stream **result, lg_error *error) {
    lg_status status = LG_OK;
    lg_stream *stream = calloc(1, sizeof *stream);
    *result = NULL;
    if (!stream) return lg_fail_memory(error);
    stream->fd = -1;
    stream->path = strdup(path);
    if (!stream->path) {
        status = lg_fail_memory(error);
        goto done;
    }
    if (packing == LG_GZIP) {
        if (inflateInit2(&stream->gzip, 15 + 16) != Z_OK) { /* 15: largest window, + 16: gzip header only */
            status = lg_fail_memory(error);
            goto done;
        }
        stream->packing = LG_GZIP;
    } else if (packing == LG_ZSTD) {
        stream->zstd = ZSTD_createDStream();
        /* Text is often packed with `zstd --long=31`; memory is taken only as far as a frame asks. */
        if (!stream->zstd || ZSTD_isError(ZSTD_DCtx_setParameter(stream->zstd, ZSTD_d_windowLogMax,
                                                                 sizeof(size_t) > 4 ? 31 : 30))) {
            status = lg_fail_memory(error);
            goto done;
        }
        stream->packing = LG_ZSTD;
    }
    stream->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (stream->fd < 0) {
        status = lg_fail_errno(error, "open", path);
        goto done;
    }
    struct stat info;
    if (fstat(stream->fd, &info) == 0 && S_ISDIR(info.st_mode)) {
        errno = EISDIR;
        status = lg_fail_errno(error, "read", path);
        goto done;
    }
    posix_fadvise(stream->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    *result = stream;
    stream = NULL;
done:
    lg_stream_close(stream);
    return status;
}

static lg_status read_file(lg_stream *stream, void *data, size_t size, size_t *got, lg_error *error) {
    ssize_t n;
    do n = read(stream->fd, data, size < SSIZE_MAX ? size : SSIZE_MAX);
    while (n < 0 && errno == EINTR);
    if (n < 0) return lg_fail_errno(error, "read", stream->path);
    *got = (size_t)n;
    stream->consumed += (uint64_t)n;
    if (n == 0) stream->file_ended = true;
    return LG_OK;
}

static lg_status truncated(const lg_stream *stream, lg_error *error) {
    return lg_fail(error, LG_BAD_INPUT, "%s is cut off: the %s data end after byte %llu%s", stream->path,
                   stream->packing == LG_GZIP ? "gzip" : "zstd", (unsigned long long)stream->consumed,
                   stream->any ? " in the middle of a block; fetch the file again" : "");
}

static lg_status damaged(const lg_stream *stream, const char *why, lg_error *error) {
    return lg_fail(error, LG_BAD_INPUT, "%s is no intact %s file: %s before byte %llu", stream->path,
                   stream->packing == LG_GZIP ? "gzip" : "zstd", why,
                   (unsigned long long)(stream->consumed - (stream->filled - stream->at)));
}

/* Unpacks what is there; *GOT may stay 0 although more follows. */
static lg_status unpack_gzip(lg_stream *stream, void *data, size_t size, size_t *got, lg_error *error) {
    if (!stream
             ->inside) { /* zero bytes may pad a member (tapes, block devices); then another member begins */
        while (stream->any && stream->at < stream->filled && stream->input[stream->at] == 0) stream->at++;
        if (stream->at == stream->filled) return LG_OK;
        if (inflateReset(&stream->gzip) != Z_OK) return lg_fail_memory(error);
        stream->inside = stream->any = true;
    }
    z_stream *z = &stream->gzip;
    z->next_in = stream->input + stream->at;
    z->avail_in = (unsigned)(stream->filled - stream->at);
    z->next_out = data;
    z->avail_out = size < UINT_MAX ? (unsigned)size : UINT_MAX;
    unsigned room = z->avail_out;
    int code = inflate(z, Z_NO_FLUSH);
    stream->at = stream->filled - z->avail_in;
    *got = room - z->avail_out;
    if (code == Z_STREAM_END) stream->inside = false;
    else if (code == Z_MEM_ERROR) return lg_fail_memory(error);
    else if (code != Z_OK && code != Z_BUF_ERROR) return damaged(stream, z->msg ? z->msg : "bad data", error);
    return LG_OK;
}

static lg_status unpack_zstd(lg_stream *stream, void *data, size_t size, size_t *got, lg_error *error) {
    ZSTD_inBuffer in = {stream->input, stream->filled, stream->at};
    ZSTD_outBuffer out = {data, size, 0};
    if (in.pos == in.size && !stream->inside) return LG_OK;
    stream->any = true;
    size_t code = ZSTD_decompressStream(stream->zstd, &out, &in);
    stream->at = in.pos;
    *got = out.pos;
    if (ZSTD_isError(code)) {
        if (ZSTD_getErrorCode(code) == ZSTD_error_memory_allocation) return lg_fail_memory(error);
        return damaged(stream, ZSTD_getErrorName(code), error);
    }
    stream->inside = code != 0; /* 0: a frame ended and all of it was given out */
    return LG_OK;
}

lg_status lg_stream_read(lg_stream *stream, void *data, size_t size, size_t *got, lg_error *error) {
    *got = 0;
    if (stream->packing == LG_PLAIN) return read_file(stream, data, size, got, error);
    while (*got == 0) {
        lg_status status = LG_OK;
        /* The unpacker may hold output back although its input is used up: ask it before the file. */
        if (stream->inside || stream->at < stream->filled)
            status = stream->packing == LG_GZIP ? unpack_gzip(stream, data, size, got, error)
                                                : unpack_zstd(stream, data, size, got, error);
        if (status || *got) return status;
        if (stream->at < stream->filled) continue;
        if (!stream->file_ended) {
            stream->at = stream->filled = 0;
            status = read_file(stream, stream->input, INPUT_SIZE, &stream->filled, error);
            if (status) return status;
        }
        if (stream->file_ended) return stream->inside || !stream->any ? truncated(stream, error) : LG_OK;
    }
    return LG_OK;
}

uint64_t lg_stream_consumed(const lg_stream *stream) {
    return stream->consumed;
}

void lg_stream_close(lg_stream *stream) {
    if (!stream) return;
    if (stream->packing == LG_GZIP) inflateEnd(&stream->gzip);
    ZSTD_freeDStream(stream->zstd);
    if (stream->fd >= 0) close(stream->fd);
    free(stream->path);
    free(stream);
}
