/* Finds a checkpoint's folder: a path, or a hub id in the local Hugging Face cache. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "lossgap/model.h"

/* NAME or ORG/NAME as the hub allows them, so that nothing can climb out of the cache. */
static bool is_hub_id(const char *id, size_t length) {
    size_t slashes = 0;
    for (size_t i = 0; i < length; i++) {
        char c = id[i];
        bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                    c == '-';
        if (c == '/') slashes++;
        else if (!word && c != '.') return false;
        bool begins = i == 0 || id[i - 1] == '/';
        if (begins && !word) return false;
    }
    return length && length <= 200 && slashes <= 1 && id[length - 1] != '/';
}

/* A branch, tag or commit: path components, none of them "." or "..". */
static bool is_revision(const char *revision) {
    size_t length = strlen(revision);
    if (!length || length > 200 || revision[0] == '/' || revision[length - 1] == '/') return false;
    for (const char *part = revision; *part;) {
        size_t n = strcspn(part, "/");
        if (n == 0 || (n == 1 && part[0] == '.') || (n == 2 && part[0] == '.' && part[1] == '.'))
            return false;
        part += n + (part[n] == '/');
    }
    return true;
}

/* The hub cache, by the same variables and in the same order as huggingface_hub. free(); NULL: no memory. */
static char *hub_folder(void) {
    static const struct {
        const char *variable, *below;
    } places[] = {
        {"HF_HUB_CACHE", ""},
        {"HUGGINGFACE_HUB_CACHE", ""},
        {"HF_HOME", "hub"},
        {"XDG_CACHE_HOME", "huggingface/hub"},
        {"HOME", ".cache/huggingface/hub"},
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const char *value = getenv(places[i].variable);
        if (!value || !*value) continue;
        if (!*places[i].below) return strdup(value);
        return lg_path_join(value, places[i].below);
    }
    return strdup(".cache/huggingface/hub");
}

/* The names in FOLDER, for messages; "nothing" if there are none. */
static void list_names(const char *folder, char *text, size_t size) {
    snprintf(text, size, "nothing");
    struct dirent **entries;
    int n = scandir(folder, &entries, NULL, alphasort);
    size_t used = 0;
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name;
        if (name[0] != '.' && used + strlen(name) + 6 < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", name);
        free(entries[i]);
    }
    if (n >= 0) free(entries);
}

/* The commit in the small file REF, if it names one. */
static bool read_ref(const char *ref, char commit[128]) {
    FILE *stream = fopen(ref, "r");
    if (!stream) return false;
    bool read = fscanf(stream, "%127[0-9A-Za-z]", commit) == 1;
    fclose(stream);
    return read;
}

static lg_status find_snapshot(const char *repository, const char *id, const char *revision, char *path,
                               size_t size, lg_error *error) {
    lg_text ref = {0}, snapshot = {0}, folder = {0};
    lg_status status = LG_OK;
    char commit[128], refs[300], snapshots[400];
    lg_text_printf(&ref, "%s/refs/%s", repository, revision);
    lg_text_printf(&folder, "%s/snapshots", repository);
    if (ref.failed || folder.failed) {
        status = lg_fail_memory(error);
        goto done;
    }
    lg_text_printf(&snapshot, "%s/%s", folder.data, read_ref(ref.data, commit) ? commit : revision);
    if (snapshot.failed) {
        status = lg_fail_memory(error);
    } else if (!lg_is_folder(snapshot.data)) {
        list_names(folder.data, snapshots, sizeof snapshots);
        ref.length = 0;
        lg_text_printf(&ref, "%s/refs", repository);
        list_names(ref.data, refs, sizeof refs);
        status = lg_fail(
            error, LG_BAD_INPUT,
            "revision %s of %s is not in %s: it has the revisions %s and the snapshots %s (name one after @)",
            revision, id, repository, refs, snapshots);
    } else if ((size_t)snprintf(path, size, "%s", snapshot.data) >= size) {
        status = lg_fail(error, LG_BAD_INPUT, "the path %s is too long", snapshot.data);
    }
done:
    lg_text_free(&ref);
    lg_text_free(&snapshot);
    lg_text_free(&folder);
    return status;
}

lg_status lg_model_locate(const char *where, char *path, size_t size, lg_error *error) {
    if (lg_is_folder(where)) {
        if ((size_t)snprintf(path, size, "%s", where) < size) return LG_OK;
        return lg_fail(error, LG_BAD_INPUT, "the path %s is too long", where);
    }
    if (lg_exists(where))
        return lg_fail(error, LG_BAD_INPUT, "%s is a file; a model is the folder that holds its config.json",
                       where);

    size_t length = strcspn(where, "@");
    const char *revision = where[length] ? where + length + 1 : "main";
    if (!is_hub_id(where, length))
        return lg_fail(error, LG_BAD_INPUT,
                       "there is no folder %s, and it is no hub id (ORG/NAME or ORG/NAME@REVISION)", where);
    if (!is_revision(revision))
        return lg_fail(error, LG_BAD_INPUT, "\"%s\" is no revision of a hub model", revision);

    lg_text repository = {0}, id = {0};
    lg_status status;
    char *hub = hub_folder();
    lg_text_put(&id, where, length);
    if (hub) {
        lg_text_printf(&repository, "%s/models--", hub);
        for (size_t i = 0; i < length; i++)
            if (where[i] == '/') lg_text_puts(&repository, "--");
            else lg_text_put(&repository, where + i, 1);
    }
    if (!hub || repository.failed || id.failed) status = lg_fail_memory(error);
    else if (!lg_is_folder(repository.data))
        status = lg_fail(
            error, LG_BAD_INPUT,
            "no model %s: neither a folder of that name nor %s in the Hugging Face cache (its place follows "
            "HF_HUB_CACHE, HF_HOME, XDG_CACHE_HOME); download it first, or give its folder",
            id.data, repository.data);
    else status = find_snapshot(repository.data, id.data, revision, path, size, error);
    lg_text_free(&repository);
    lg_text_free(&id);
    free(hub);
    return status;
}
