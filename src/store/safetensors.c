/* Reading safetensors: an 8-byte header length, a JSON header, the data. Everything the header claims is
   checked before any of it is believed, in time n log n of the number of tensors. */
#include "store/safetensors.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the format is little endian and mapped as it is");

/* The reference reader's limit. */
#define MAX_HEADER ((size_t)100000000)

typedef struct entry {
    const char *key, *value;
} entry;

struct lg_safetensors {
    lg_mapping mapping; /* empty when the bytes are borrowed */
    lg_arena arena;     /* names and metadata */
    const char *path;
    const unsigned char *bytes;
    size_t size, header_size; /* of the file; of the JSON in it */
    lg_tensor *tensors;       /* [count] in order of data */
    const lg_tensor **by_name;
    size_t count, capacity;
    entry *metadata; /* sorted by key */
    size_t n_metadata, metadata_capacity;
};

/* ---- dtypes ---- */

static const struct {
    const char *name;
    size_t size;
} dtypes[] = {
    [LG_U8] = {"U8", 1},           [LG_I8] = {"I8", 1},           [LG_BOOL] = {"BOOL", 1},
    [LG_F8_E4M3] = {"F8_E4M3", 1}, [LG_F8_E5M2] = {"F8_E5M2", 1}, [LG_U16] = {"U16", 2},
    [LG_I16] = {"I16", 2},         [LG_F16] = {"F16", 2},         [LG_BF16] = {"BF16", 2},
    [LG_U32] = {"U32", 4},         [LG_I32] = {"I32", 4},         [LG_F32] = {"F32", 4},
    [LG_U64] = {"U64", 8},         [LG_I64] = {"I64", 8},         [LG_F64] = {"F64", 8},
};
enum { N_DTYPES = sizeof dtypes / sizeof dtypes[0] };

const char *lg_dtype_name(lg_dtype dtype) {
    return (unsigned)dtype < N_DTYPES ? dtypes[dtype].name : "?";
}

size_t lg_dtype_size(lg_dtype dtype) {
    return (unsigned)dtype < N_DTYPES ? dtypes[dtype].size : 0;
}

static unsigned dtype_of(lg_string name) /* N_DTYPES: unknown */
{
    unsigned d = 0;
    while (d < N_DTYPES && !lg_string_is(name, dtypes[d].name)) d++;
    return d;
}

/* ---- the header ---- */

static lg_status damaged(const lg_safetensors *file, lg_error *error, const char *tensor, const char *what) {
    return lg_fail(error, LG_BAD_INPUT,
                   "%s: tensor \"%.200s\" %s: the file is damaged, make or download it again", file->path,
                   tensor, what);
}

static bool has_zero_byte(lg_string string) {
    return string.length && memchr(string.data, 0, string.length);
}

/* The unsigned integers of an array, at most MAX of them, into VALUES. *COUNT is their true number. */
static bool read_sizes(lg_json *json, uint64_t *values, size_t max, size_t *count) {
    *count = 0;
    if (!lg_json_array(json)) return false;
    for (; lg_json_element(json); ++*count) {
        uint64_t value;
        if (!lg_json_unsigned(json, &value)) return false;
        if (*count < max) values[*count] = value;
    }
    return !json->failed;
}

/* Reads the description {"dtype", "shape", "data_offsets"} of the tensor whose name is set, and checks all
   that can be checked without its neighbours. Other members are passed over, as in the reference reader. */
static lg_status read_tensor(lg_safetensors *file, lg_json *json, lg_tensor *tensor, lg_error *error) {
    const size_t data_size = file->size - 8 - file->header_size;
    uint64_t shape[LG_MAX_DIMS], range[2];
    size_t n_dims = 0, n_range = 0;
    unsigned dtype = 0;
    enum { DTYPE = 1, SHAPE = 2, OFFSETS = 4 };
    unsigned seen = 0;
    lg_string key, value;
    lg_json_object(json);
    while (lg_json_key(json, &key)) {
        unsigned member = lg_string_is(key, "dtype")          ? DTYPE
                          : lg_string_is(key, "shape")        ? SHAPE
                          : lg_string_is(key, "data_offsets") ? OFFSETS
                                                              : 0;
        if (seen & member) return damaged(file, error, tensor->name, "is described twice");
        seen |= member;
        if (member == DTYPE && lg_json_string(json, &value)) {
            dtype = dtype_of(value);
            if (dtype == N_DTYPES)
                return lg_fail(
                    error, LG_BAD_INPUT,
                    "%s: tensor \"%.200s\" has the dtype \"%.*s\", which this program does not know: "
                    "convert it to F32, BF16 or F16",
                    file->path, tensor->name, (int)(value.length < 20 ? value.length : 20), value.data);
        }
        if (member == SHAPE) read_sizes(json, shape, LG_MAX_DIMS, &n_dims);
        if (member == OFFSETS) read_sizes(json, range, 2, &n_range);
        if (!member) lg_json_skip(json);
    }
    if (json->failed) return json->status;
    if (seen != (DTYPE | SHAPE | OFFSETS))
        return damaged(file, error, tensor->name, "lacks its dtype, shape or data_offsets");

    tensor->dtype = (lg_dtype)dtype;
    const size_t size = dtypes[dtype].size;
    if (n_dims > LG_MAX_DIMS)
        return lg_fail(error, LG_BAD_INPUT, "%s: tensor \"%.200s\" has %zu dimensions, more than %d",
                       file->path, tensor->name, n_dims, LG_MAX_DIMS);
    tensor->n_dims = (unsigned)n_dims;
    /* The product of the sizes that are not 0 must fit too: nobody who multiplies some of them overflows. */
    size_t count = 1, bytes;
    bool empty = false;
    for (size_t i = 0; i < n_dims; i++) {
        tensor->shape[i] = shape[i];
        if (!shape[i]) empty = true;
        else if (!lg_multiply(count, shape[i], &count))
            return damaged(file, error, tensor->name, "has a shape too large for any file");
    }
    if (!lg_multiply(count, size, &bytes))
        return damaged(file, error, tensor->name, "has a shape too large for any file");
    if (empty) count = bytes = 0;
    tensor->count = count;

    if (n_range != 2 || range[0] > range[1])
        return damaged(file, error, tensor->name, "has data_offsets that are no range");
    if (range[1] > data_size)
        return lg_fail(error, LG_BAD_INPUT,
                       "%s: tensor \"%.200s\" ends at byte %llu of the data, but there are only %zu: the "
                       "file was cut off, "
                       "make or download it again",
                       file->path, tensor->name, (unsigned long long)range[1], data_size);
    if (range[1] - range[0] != bytes)
        return lg_fail(error, LG_BAD_INPUT,
                       "%s: tensor \"%.200s\" needs %zu bytes for its shape and dtype %s, but its "
                       "data_offsets hold %llu: "
                       "the file is damaged, make or download it again",
                       file->path, tensor->name, bytes, dtypes[dtype].name,
                       (unsigned long long)(range[1] - range[0]));
    tensor->data = file->bytes + 8 + file->header_size + range[0];
    return LG_OK;
}

static lg_status read_metadata(lg_safetensors *file, lg_json *json, lg_error *error) {
    if (lg_json_peek(json) == LG_JSON_NULL) return lg_json_null(json) ? LG_OK : json->status;
    lg_string string;
    lg_json_object(json);
    while (lg_json_key(json, &string)) {
        if (!lg_reserve(&file->metadata, &file->metadata_capacity, file->n_metadata + 1,
                        sizeof *file->metadata))
            return lg_fail_memory(error);
        entry *e = &file->metadata[file->n_metadata];
        bool zero = has_zero_byte(string);
        if (!(e->key = lg_arena_copy(&file->arena, string.data, string.length))) return lg_fail_memory(error);
        if (!lg_json_string(json, &string)) break;
        if (zero || has_zero_byte(string)) {
            lg_json_complain(json, "a zero byte in the metadata");
            break;
        }
        if (!(e->value = lg_arena_copy(&file->arena, string.data, string.length)))
            return lg_fail_memory(error);
        file->n_metadata++;
    }
    return json->status;
}

static lg_status read_header(lg_safetensors *file, lg_json *json, lg_error *error) {
    lg_string name;
    bool metadata_seen = false;
    lg_json_object(json);
    while (lg_json_key(json, &name)) {
        if (has_zero_byte(name)) {
            lg_json_complain(json, "a zero byte in a tensor's name");
            break;
        }
        lg_status status;
        if (lg_string_is(name, "__metadata__")) {
            if (metadata_seen) return damaged(file, error, "__metadata__", "is there twice");
            metadata_seen = true;
            status = read_metadata(file, json, error);
        } else {
            lg_tensor tensor = {.name = lg_arena_copy(&file->arena, name.data, name.length)};
            if (!tensor.name || !lg_reserve(&file->tensors, &file->capacity, file->count + 1, sizeof tensor))
                return lg_fail_memory(error);
            status = read_tensor(file, json, &tensor, error);
            file->tensors[file->count++] = tensor;
        }
        if (status) return status;
    }
    if (!json->failed && json->lone_surrogates)
        lg_json_complain(json, "half a surrogate pair in a string above");
    return lg_json_done(json);
}

/* ---- the whole ---- */

static size_t tensor_bytes(const lg_tensor *tensor) {
    return tensor->count * dtypes[tensor->dtype].size;
}

static int by_data(const void *a, const void *b) {
    const lg_tensor *x = a, *y = b;
    if (x->data != y->data) return (uintptr_t)x->data < (uintptr_t)y->data ? -1 : 1;
    if (!x->count != !y->count)
        return x->count ? 1 : -1; /* what is empty precedes what begins at the same place */
    return strcmp(x->name, y->name);
}

static int by_name(const void *a, const void *b) {
    return strcmp((*(const lg_tensor *const *)a)->name, (*(const lg_tensor *const *)b)->name);
}

static int by_key(const void *a, const void *b) {
    return strcmp(((const entry *)a)->key, ((const entry *)b)->key);
}

static lg_status check_whole(lg_safetensors *file, lg_error *error) {
    const size_t n = file->count;
    if (n) qsort(file->tensors, n, sizeof *file->tensors, by_data);
    if (file->n_metadata) qsort(file->metadata, file->n_metadata, sizeof *file->metadata, by_key);
    for (size_t i = 1; i < file->n_metadata; i++)
        if (strcmp(file->metadata[i - 1].key, file->metadata[i].key) == 0)
            return lg_fail(error, LG_BAD_INPUT,
                           "%s: the metadata holds \"%.200s\" twice: make or download the file again",
                           file->path, file->metadata[i].key);

    if (!(file->by_name = lg_alloc(n, sizeof *file->by_name))) return lg_fail_memory(error);
    for (size_t i = 0; i < n; i++) file->by_name[i] = &file->tensors[i];
    if (n) qsort(file->by_name, n, sizeof *file->by_name, by_name);
    for (size_t i = 1; i < n; i++)
        if (by_name(&file->by_name[i - 1], &file->by_name[i]) == 0)
            return damaged(file, error, file->by_name[i]->name, "is there twice");

    const unsigned char *at = file->bytes + 8 + file->header_size, *end = file->bytes + file->size;
    for (size_t i = 0; i < n; i++) {
        const lg_tensor *t = &file->tensors[i];
        const unsigned char *begin = t->data;
        if (begin < at) return damaged(file, error, t->name, "overlaps the one before it");
        if (begin > at) return damaged(file, error, t->name, "is preceded by bytes that belong to no tensor");
        at = begin + tensor_bytes(t);
    }
    if (at < end)
        return lg_fail(error, LG_BAD_INPUT,
                       "%s: %zu bytes after the last tensor: the file is damaged, make or download it again",
                       file->path, (size_t)(end - at));
    return LG_OK;
}

static bool is_utf8(const char *text, size_t length, size_t *bad) {
    for (size_t i = 0; i < length;) {
        uint32_t code;
        bool valid;
        size_t n = lg_utf8_decode(text + i, length - i, &code, &valid);
        if (!valid) {
            *bad = i;
            return false;
        }
        i += n;
    }
    return true;
}

static lg_status find_header(lg_safetensors *file, lg_error *error) {
    static const char pointer[] = "version https://git-lfs.github.com/";
    if (file->size >= sizeof pointer && memcmp(file->bytes, pointer, sizeof pointer - 1) == 0)
        return lg_fail(error, LG_BAD_INPUT,
                       "%s is a Git LFS pointer, not the file itself: fetch it with `git lfs pull`",
                       file->path);
    uint64_t length = 0;
    if (file->size >= 8) memcpy(&length, file->bytes, 8);
    if (file->size < 8)
        return lg_fail(error, LG_BAD_INPUT,
                       "%s is no safetensors file: it has only %zu bytes; make or download it again",
                       file->path, file->size);
    if (length > file->size - 8)
        return lg_fail(error, LG_BAD_INPUT,
                       "%s is no safetensors file, or was cut off: its header should have %llu bytes, but "
                       "only %zu follow; "
                       "make or download it again",
                       file->path, (unsigned long long)length, file->size - 8);
    if (length > MAX_HEADER)
        return lg_fail(error, LG_BAD_INPUT,
                       "%s: the header of %llu bytes is longer than the format allows (%zu)", file->path,
                       (unsigned long long)length, MAX_HEADER);
    const char *header = (const char *)file->bytes + 8;
    size_t bad;
    if (!length || header[0] != '{')
        return lg_fail(error, LG_BAD_INPUT, "%s is no safetensors file: its header does not begin with '{'",
                       file->path);
    if (!is_utf8(header, length, &bad))
        return lg_fail(error, LG_BAD_INPUT,
                       "%s: header: byte %zu: not UTF-8: the file is damaged, make or download it again",
                       file->path, bad);
    file->header_size = length;
    return LG_OK;
}

lg_status lg_safetensors_parse(const unsigned char *data, size_t size, const char *name,
                               lg_safetensors **result, lg_error *error) {
    lg_text scratch = {0}, place = {0};
    lg_json json;
    lg_error json_error = {0};
    *result = NULL;
    lg_safetensors *file = calloc(1, sizeof *file);
    if (!file) return lg_fail_memory(error);
    file->bytes = data;
    file->size = size;
    file->path = lg_arena_copy(&file->arena, name, strlen(name));
    lg_text_printf(&place, "%s: header", name);
    lg_status status = LG_OK;
    if (!file->path || place.failed) {
        status = lg_fail_memory(error);
        goto done;
    }
    if ((status = find_header(file, error))) goto done;
    lg_json_start(&json, (const char *)data + 8, file->header_size, place.data, &scratch, error);
    json.error = &json_error; /* which says where, but not what to do */
    status = read_header(file, &json, error);
    if (status && json.failed)
        lg_fail(error, status, "%s%s", json_error.message,
                status == LG_BAD_INPUT ? ": the file is damaged, make or download it again" : "");
    if (status) goto done;
    status = check_whole(file, error);
done:
    lg_text_free(&scratch);
    lg_text_free(&place);
    if (status) lg_safetensors_close(file);
    else *result = file;
    return status;
}

lg_status lg_safetensors_open(const char *path, lg_safetensors **file, lg_error *error) {
    lg_mapping mapping;
    *file = NULL;
    lg_status status = lg_map(path, &mapping, error);
    if (status) return status;
    status = lg_safetensors_parse(mapping.data, mapping.size, path, file, error);
    if (status) lg_unmap(&mapping);
    else (*file)->mapping = mapping;
    return status;
}

void lg_safetensors_close(lg_safetensors *file) {
    if (!file) return;
    lg_unmap(&file->mapping);
    lg_arena_free(&file->arena);
    free(file->tensors);
    free(file->by_name);
    free(file->metadata);
    free(file);
}

/* ---- looking ---- */

const char *lg_safetensors_path(const lg_safetensors *file) {
    return file->path;
}

size_t lg_safetensors_count(const lg_safetensors *file) {
    return file->count;
}

const lg_tensor *lg_safetensors_at(const lg_safetensors *file, size_t index) {
    return &file->tensors[index];
}

const lg_tensor *lg_safetensors_find(const lg_safetensors *file, const char *name) {
    const lg_tensor wanted = {.name = name}, *key = &wanted;
    const lg_tensor **found =
        file->count ? bsearch(&key, file->by_name, file->count, sizeof *file->by_name, by_name) : NULL;
    return found ? *found : NULL;
}

const char *lg_safetensors_metadata(const lg_safetensors *file, const char *key) {
    const entry wanted = {.key = key};
    const entry *found =
        file->n_metadata ? bsearch(&wanted, file->metadata, file->n_metadata, sizeof wanted, by_key) : NULL;
    return found ? found->value : NULL;
}

const void *lg_safetensors_header(const lg_safetensors *file, size_t *size) {
    *size = file->header_size;
    return file->bytes + 8;
}
