/* Whether a checkpoint's folder is all there: a training loop may still be writing it. Looks at names, sizes,
   headers and the ends of JSON files only; whether the numbers make a model is for lg_model_open to say. */
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "lossgap/runs.h"

static const size_t LARGEST_JSON = (size_t)64 << 20, LARGEST_HEADER = 100000000;

typedef struct looker {
    const char *folder;
    lg_checkpoint_look *look;
    lg_error *error;
    lg_status status; /* lack of memory */
} looker;

static bool missing(looker *l, const char *format, ...) LG_PRINTF(2, 3);
static bool missing(looker *l, const char *format, ...) {
    va_list args;
    va_start(args, format);
    if (l->look->whole) vsnprintf(l->look->why, sizeof l->look->why, format, args);
    va_end(args);
    l->look->whole = false;
    return false;
}

static bool no_memory(looker *l) {
    if (!l->status) l->status = lg_fail_memory(l->error);
    return false;
}

static bool ends_with(const char *text, const char *ending) {
    size_t n = strlen(text), m = strlen(ending);
    return n >= m && strcmp(text + n - m, ending) == 0;
}

/* ---- JSON files ---- */

/* Whether TEXT, which should be a JSON object, lacks its end: it is no JSON, and either all of it was read
   before that showed, or it ends in something else than a '}'. */
static bool is_cut_off(const char *text, size_t length, bool *memory) {
    lg_text scratch = {0};
    lg_json json;
    lg_json_start(&json, text, length, "", &scratch, NULL);
    lg_json_skip(&json);
    lg_status status = lg_json_done(&json);
    *memory = status != LG_FAILED;
    lg_text_free(&scratch);
    while (length && strchr(" \t\r\n", text[length - 1]) && text[length - 1]) length--;
    return status == LG_BAD_INPUT && (json.at >= text + length || !length || text[length - 1] != '}');
}

/* The first N bytes of STREAM, or all there are, into *DATA; free(). Read, not mapped: who looks at a file
   that somebody is writing anew must not touch pages that are gone. */
static bool read_bytes(looker *l, FILE *stream, size_t n, char **data, size_t *length) {
    *data = malloc(n ? n : 1);
    if (!*data) return no_memory(l);
    *length = fread(*data, 1, n, stream);
    return true;
}

/* NAME in the folder as a stream, and its size; NULL: it is said what is wrong. */
static FILE *open_file(looker *l, const char *name, size_t *size) {
    char *path = lg_path_join(l->folder, name);
    struct stat info;
    FILE *stream = NULL;
    if (!path) {
        no_memory(l);
        return NULL;
    }
    if (stat(path, &info) != 0) missing(l, "there is no %s", name);
    else if (!S_ISREG(info.st_mode)) missing(l, "%s is not a regular file", name);
    else if (!(stream = fopen(path, "rbe")) && errno == ENOMEM) no_memory(l);
    else if (!stream) missing(l, "%s cannot be read", name);
    *size = stream ? (size_t)info.st_size : 0;
    free(path);
    return stream;
}

/* NAME must be there and have its end. *DATA [*LENGTH] is its text if it has; free(). */
static bool look_at_json(looker *l, const char *name, char **data, size_t *length) {
    size_t size;
    bool good = false, memory = true;
    *data = NULL;
    FILE *stream = open_file(l, name, &size);
    if (!stream) return false;
    if (size == 0) missing(l, "%s is empty", name);
    else if (size > LARGEST_JSON) good = true; /* no such file: lg_model_open says so */
    else if (read_bytes(l, stream, size, data, length)) {
        if (is_cut_off(*data, *length, &memory)) missing(l, "%s lacks its end", name);
        else good = memory || no_memory(l);
    }
    fclose(stream);
    if (!good) {
        free(*data);
        *data = NULL;
    }
    return good;
}

static bool look_at_config(looker *l, const char *name) {
    char *data;
    size_t length;
    bool good = look_at_json(l, name, &data, &length);
    free(data);
    return good;
}

/* ---- weights ---- */

/* The end of the data by the header TEXT of a safetensors file; false: it is no such header. */
static bool end_of_data(const char *text, size_t length, uint64_t *end, bool *memory) {
    lg_text scratch = {0};
    lg_json json;
    lg_string key;
    lg_json_start(&json, text, length, "", &scratch, NULL);
    *end = 0;
    lg_json_object(&json);
    while (lg_json_key(&json, &key)) {
        if (lg_string_is(key, "__metadata__") || lg_json_peek(&json) != LG_JSON_OBJECT) {
            lg_json_skip(&json);
            continue;
        }
        lg_json_object(&json);
        while (lg_json_key(&json, &key)) {
            if (!lg_string_is(key, "data_offsets")) {
                lg_json_skip(&json);
                continue;
            }
            uint64_t offset;
            lg_json_array(&json);
            while (lg_json_element(&json))
                if (lg_json_unsigned(&json, &offset) && offset > *end) *end = offset;
        }
    }
    lg_status status = lg_json_done(&json);
    *memory = status != LG_FAILED;
    lg_text_free(&scratch);
    return status == LG_OK;
}

static bool look_at_weights(looker *l, const char *name) {
    uint64_t header = 0, end;
    size_t size, length;
    char *text = NULL;
    bool good = false, memory = true;
    FILE *stream = open_file(l, name, &size);
    if (!stream) return false;
    if (fread(&header, sizeof header, 1, stream) != 1 || header == 0) {
        missing(l, "%s has no header yet", name);
    } else if (header > LARGEST_HEADER) {
        good = true; /* no such file at all: lg_model_open says so */
    } else if (size < sizeof header || header > size - sizeof header) {
        missing(l, "%s ends within its header", name);
    } else if (!read_bytes(l, stream, (size_t)header, &text, &length)) {
        good = false;
    } else if (length < header) {
        missing(l, "%s ends within its header", name);
    } else if (end_of_data(text, length, &end, &memory) && end > size - sizeof header - header) {
        missing(l, "%s has %zu of its %llu bytes", name, size,
                (unsigned long long)(end + header + sizeof header));
    } else {
        good = memory || no_memory(l);
    }
    free(text);
    fclose(stream);
    return good;
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Every shard that the index names. */
static bool look_at_shards(looker *l) {
    static const char name[] = "model.safetensors.index.json";
    char *text;
    size_t length;
    if (!look_at_json(l, name, &text, &length)) return false;
    lg_arena arena = {0};
    lg_json_value *root = NULL;
    bool good = true;
    lg_status status = text ? lg_json_parse(&arena, text, length, name, &root, NULL) : LG_BAD_INPUT;
    if (status == LG_FAILED) good = no_memory(l);
    const lg_json_value *map = status ? NULL : lg_json_get(root, "weight_map");
    const char **names = NULL;
    size_t n = 0;
    if (map && map->type == LG_JSON_OBJECT && map->length && !(names = lg_alloc(map->length, sizeof *names)))
        good = no_memory(l);
    for (const lg_json_value *v = names ? map->first : NULL; v; v = v->next)
        if (v->type == LG_JSON_STRING && !strchr(v->string, '/')) names[n++] = v->string;
    if (n) qsort(names, n, sizeof *names, by_text);
    for (size_t i = 0; i < n && good; i++)
        if (!i || strcmp(names[i], names[i - 1]) != 0) good = look_at_weights(l, names[i]);
    free(names);
    lg_arena_free(&arena);
    free(text);
    return good;
}

/* ---- the folder ---- */

static int wanted(const struct dirent *entry) {
    const char *name = entry->d_name;
    return name[0] != '.' && (ends_with(name, ".safetensors") || ends_with(name, ".json"));
}

static lg_status sign(looker *l, struct dirent **entries, int n) {
    lg_text all = {0};
    for (int i = 0; i < n; i++) {
        struct stat info;
        char *path = lg_path_join(l->folder, entries[i]->d_name);
        if (!path) {
            lg_text_free(&all);
            return lg_fail_memory(l->error);
        }
        if (stat(path, &info) == 0) {
            lg_text_printf(&all, "%s %lld %lld.%09ld %llu\n", entries[i]->d_name, (long long)info.st_size,
                           (long long)info.st_mtim.tv_sec, info.st_mtim.tv_nsec,
                           (unsigned long long)info.st_ino);
            if (info.st_mtim.tv_sec > l->look->newest) l->look->newest = info.st_mtim.tv_sec;
        }
        free(path);
    }
    lg_status status = all.failed ? lg_fail_memory(l->error) : LG_OK;
    lg_hash_hex(lg_hash_of(all.data ? all.data : "", all.length), l->look->signature);
    lg_text_free(&all);
    return status;
}

static bool is_there(looker *l, const char *name) {
    char *path = lg_path_join(l->folder, name);
    if (!path) return no_memory(l);
    bool there = lg_exists(path);
    free(path);
    return there;
}

static bool has_temporary_name(const char *folder) {
    static const char *const endings[] = {".tmp", "-tmp", "_tmp", ".temp", ".partial", ".incomplete"};
    const char *slash = strrchr(folder, '/'), *name = slash ? slash + 1 : folder;
    if (strncasecmp(name, "tmp-", 4) == 0 || strncasecmp(name, "tmp_", 4) == 0) return true;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (ends_with(name, endings[i])) return true;
    return false;
}

lg_status lg_checkpoint_look_at(const char *folder, bool tokenizer, lg_checkpoint_look *look,
                                lg_error *error) {
    *look = (lg_checkpoint_look){.whole = true};
    looker l = {.folder = folder, .look = look, .error = error};
    struct dirent **entries = NULL;
    int n = scandir(folder, &entries, wanted, alphasort);
    if (n < 0 && errno == ENOMEM) return lg_fail_memory(error);
    if (n < 0) {
        missing(&l, "the folder cannot be read");
        return LG_OK;
    }
    l.status = sign(&l, entries, n);
    int weights = 0;
    for (int i = 0; i < n; i++) weights += ends_with(entries[i]->d_name, ".safetensors");
    if (has_temporary_name(folder)) missing(&l, "its name says that it is being written");
    bool good = look->whole && !l.status && look_at_config(&l, "config.json");
    if (good && tokenizer) {
        good =
            is_there(&l, "tokenizer.json")
                ? look_at_config(&l, "tokenizer.json")
                : l.status == LG_OK &&
                      missing(&l, "there is no tokenizer.json (where a run writes none, give --tokenizer)");
    }
    if (good && is_there(&l, "model.safetensors")) good = look_at_weights(&l, "model.safetensors");
    else if (good && is_there(&l, "model.safetensors.index.json")) good = look_at_shards(&l);
    else if (good && !weights)
        good = missing(&l, "there is no model.safetensors%s",
                       is_there(&l, "pytorch_model.bin") ? ", only a PyTorch pickle, which is not read" : "");
    else if (good)
        for (int i = 0; i < n && good; i++) {
            const char *name = entries[i]->d_name;
            if (!ends_with(name, ".safetensors")) continue;
            if (weights > 1 || strstr(name, "-of-")) /* shards: the index comes last */
                good = missing(&l, "there is no model.safetensors.index.json");
            else good = look_at_weights(&l, name);
        }
    for (int i = 0; i < n; i++) free(entries[i]);
    free(entries);
    return l.status;
}
