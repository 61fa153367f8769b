/* A checkpoint's identity: a hash of config.json and of every safetensors file, cheap the second time. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/hash.h"
#include "model/checkpoint.h"

/* Hashed apart and in parallel: a fixed size, so that the result does not depend on the machine. */
static const size_t SLICE = (size_t)64 << 20;
/* Hashing less than this is faster than looking it up. */
static const size_t WORTH_KEEPING = (size_t)64 << 20;

char *lg_cache_folder(void) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache && cache[0] == '/') return lg_path_join(cache, "lossgap");
    return home && home[0] == '/' ? lg_path_join(home, ".cache/lossgap") : NULL;
}

static lg_hash hash_slice(const lg_mapping *file, size_t i) {
    size_t size = file->size - i * SLICE;
    if (size > SLICE) size = SLICE;
    const unsigned char *slice = file->data + i * SLICE;
    lg_hash hash = lg_hash_of(slice, size);
    madvise((void *)(uintptr_t)slice, size,
            MADV_DONTNEED); /* read once: a process need not hold all of a large file */
    return hash;
}

static lg_status hash_slices(const lg_mapping *file, const lg_monitor *monitor, lg_hash *hash,
                             lg_error *error) {
    size_t n = (file->size + SLICE - 1) / SLICE;
    lg_hash *slices = calloc(n ? n : 1, sizeof *slices);
    if (!slices) return lg_fail_memory(error);
    enum { ROUND = 32 }; /* slices between two looks at the monitor */
    lg_status status = LG_OK;
    if (n == 1) slices[0] = hash_slice(file, 0); /* small models need no threads */
    for (size_t first = 0; n > 1 && first < n && !status; first += ROUND) {
        size_t last = first + ROUND < n ? first + ROUND : n;
#pragma omp parallel for schedule(dynamic, 1)
        for (size_t i = first; i < last; i++) slices[i] = hash_slice(file, i);
        if (lg_is_cancelled(monitor))
            status = lg_fail(error, LG_CANCELLED, "stopped while reading the model");
    }
    *hash = lg_hash_of(slices, n * sizeof *slices);
    free(slices);
    return status;
}

/* In a hub cache files are links to blobs that are called by what they hold: that name into NAME, or false.
 */
static bool blob_name(const char *path, char name[128]) {
    char target[PATH_MAX];
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length <= 0) return false;
    target[length] = '\0';
    const char *slash = strrchr(target, '/');
    if (!slash || slash - target < 5 || strncmp(slash - 5, "blobs", 5) != 0) return false;
    size_t digits = strspn(slash + 1, "0123456789abcdef");
    if (slash[1 + digits] || digits < 40 || digits >= 128) return false;
    memcpy(name, slash + 1, digits + 1);
    return true;
}

/* Where the hash of this very file would be kept; NULL: nowhere. free(). */
static char *cache_entry(const char *path, const struct stat *info) {
    char *folder = lg_cache_folder(), *real = realpath(path, NULL), *entry = NULL;
    lg_text key = {0};
    if (folder && real)
        lg_text_printf(&key, "%s %lld %lld.%09ld %lld.%09ld %llu", real, (long long)info->st_size,
                       (long long)info->st_mtim.tv_sec, info->st_mtim.tv_nsec,
                       (long long)info->st_ctim.tv_sec, info->st_ctim.tv_nsec,
                       (unsigned long long)info->st_ino);
    if (key.length && !key.failed) {
        char hex[33];
        lg_hash_hex(lg_hash_of(key.data, key.length), hex);
        if (asprintf(&entry, "%s/%s.hash", folder, hex) < 0) entry = NULL;
    }
    lg_text_free(&key);
    free(folder);
    free(real);
    return entry;
}

static bool read_entry(const char *entry, lg_hash *hash) {
    FILE *stream = fopen(entry, "r");
    if (!stream) return false;
    unsigned long long high, low;
    bool read = fscanf(stream, "%16llx%16llx", &high, &low) == 2 && fgetc(stream) == '\n';
    if (read) *hash = (lg_hash){high, low};
    fclose(stream);
    return read;
}

/* A cache that cannot be written is no reason to fail. */
static void write_entry(const char *entry, lg_hash hash) {
    char *folder = lg_cache_folder(), text[34];
    lg_hash_hex(hash, text);
    strcat(text, "\n");
    if (folder && lg_make_folders(folder, NULL) == LG_OK) lg_write_file(entry, text, 33, NULL);
    free(folder);
}

static lg_status hash_file(const char *path, const lg_monitor *monitor, lg_hash *hash, lg_error *error) {
    lg_mapping file = {0};
    char *entry = NULL;
    lg_status status = LG_OK;
    struct stat info;
    char blob[128];
    if (blob_name(path, blob)) {
        *hash = lg_hash_of(blob, strlen(blob));
        goto done;
    }
    if (stat(path, &info) != 0) {
        status = lg_fail_errno(error, "read", path);
        goto done;
    }
    if ((size_t)info.st_size >= WORTH_KEEPING) entry = cache_entry(path, &info);
    if (entry && read_entry(entry, hash)) goto done;
    status = lg_map(path, &file, error);
    if (!status) status = hash_slices(&file, monitor, hash, error);
    if (!status && entry) write_entry(entry, *hash);
done:
    lg_unmap(&file);
    free(entry);
    return status;
}

lg_status lg_model_identify(const lg_mapping *config, lg_safetensors *const *files, size_t n_files,
                            const lg_monitor *monitor, char hex[33], lg_error *error) {
    lg_hasher *hasher = lg_hasher_create();
    if (!hasher) return lg_fail_memory(error);
    static const char kind[] = "lossgap checkpoint 1";
    lg_hash part = lg_hash_of(config->data, config->size);
    lg_status status = LG_OK;
    lg_hasher_add(hasher, kind, sizeof kind);
    lg_hasher_add(hasher, &part, sizeof part);
    for (size_t i = 0; i < n_files && !status; i++) {
        size_t size;
        const void *header = lg_safetensors_header(files[i], &size);
        part = lg_hash_of(header, size);
        lg_hasher_add(hasher, &part, sizeof part);
        status = hash_file(lg_safetensors_path(files[i]), monitor, &part, error);
        lg_hasher_add(hasher, &part, sizeof part);
    }
    lg_hash_hex(lg_hasher_value(hasher), hex);
    lg_hasher_free(hasher);
    return status;
}
