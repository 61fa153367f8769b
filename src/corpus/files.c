/* The files of a corpus: folders walked in a fixed order, kinds by file ending. */
#include "corpus/files.h"

#include <dirent.h>
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"

static const struct {
    const char *ending;
    bool jsonl;
    lg_kind kind;
} endings[] = {
    {".txt", false, LG_PROSE}, {".md", false, LG_PROSE},   {".rst", false, LG_PROSE},
    {".py", false, LG_PYTHON}, {".html", false, LG_HTML},  {".htm", false, LG_HTML},
    {".tex", false, LG_LATEX}, {".ltx", false, LG_LATEX},  {".latex", false, LG_LATEX},
    {".sty", false, LG_LATEX}, {".jsonl", true, LG_PROSE}, {".ndjson", true, LG_PROSE},
};

/* Where the last ending of NAME[0, length) begins, or LENGTH. A dot that begins the name begins no ending. */
static size_t ending_at(const char *name, size_t length) {
    for (size_t i = length; i > 1; i--)
        if (name[i - 1] == '.') return i - 1;
    return length;
}

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Bytes of NAME without .gz or .zst. */
static size_t unpacked_length(const char *name, lg_packing *packing) {
    size_t length = strlen(name), at = ending_at(name, length);
    *packing = !strcasecmp(name + at, ".gz") ? LG_GZIP : !strcasecmp(name + at, ".zst") ? LG_ZSTD : LG_PLAIN;
    return *packing == LG_PLAIN ? length : at;
}

bool lg_corpus_kind_of(const char *path, bool *jsonl, lg_packing *packing, lg_kind *kind,
                       const char **ending) {
    const char *name = last_part(path);
    size_t length = unpacked_length(name, packing), at = ending_at(name, length);
    *jsonl = false;
    *kind = LG_PROSE;
    if (ending) *ending = name + at;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (length - at == strlen(endings[i].ending) &&
            !strncasecmp(name + at, endings[i].ending, length - at)) {
            *jsonl = endings[i].jsonl;
            *kind = endings[i].kind;
            return true;
        }
    return false;
}

static bool count_skipped(lg_corpus_files *files, const char *ending) {
    lg_text key = {0};
    for (size_t i = 0, n = strlen(ending); i < n;) { /* file names are bytes, JSON keys are text */
        uint32_t c;
        bool valid;
        char utf8[4];
        i += lg_utf8_decode(ending + i, n - i, &c, &valid);
        if (c < 0x80) c = (uint32_t)(c >= 'A' && c <= 'Z' ? c + 32 : c);
        lg_text_put(&key, utf8, lg_utf8_encode(c, utf8));
    }
    bool good = !key.failed;
    const char *text = key.data ? key.data : "(none)";
    size_t i = 0;
    while (good && i < files->n_skipped && strcmp(files->skipped[i].ending, text) != 0) i++;
    if (good && i == files->n_skipped) {
        char *copy = lg_arena_copy(&files->strings, text, strlen(text));
        good = copy && lg_reserve(&files->skipped, &files->skipped_capacity, i + 1, sizeof *files->skipped);
        if (good) files->skipped[files->n_skipped++] = (lg_skipped){.ending = copy};
    }
    if (good) files->skipped[i].count++;
    lg_text_free(&key);
    return good;
}

static lg_status add_file(lg_corpus_files *files, lg_corpus_file file, const char *path, const char *name,
                          lg_error *error) {
    lg_packing packing;
    const char *last = last_part(name);
    size_t length = (size_t)(last - name) + unpacked_length(last, &packing);
    file.path = lg_arena_copy(&files->strings, path, strlen(path));
    file.name = lg_arena_copy(&files->strings, name, length);
    if (!file.path || !file.name || !lg_reserve(&files->files, &files->capacity, files->n + 1, sizeof file))
        return lg_fail_memory(error);
    files->files[files->n++] = file;
    return LG_OK;
}

static int by_name(const void *a, const void *b) {
    const lg_corpus_file *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : strcmp(x->path, y->path);
}

static int by_count(const void *a, const void *b) {
    const lg_skipped *x = a, *y = b;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    return strcmp(x->ending, y->ending);
}

/* Folders still to read, and the ones seen. A folder is read once however many links lead to it, so that
   loops end and no text counts twice; folders proper go before links, so that a text has its proper name. */
typedef struct walk {
    struct folder {
        char *path, *name;
        bool link;
    } * todo;
    size_t n_todo, todo_capacity;
    void *seen; /* tsearch's tree of places */
} walk;

typedef struct place {
    dev_t device;
    ino_t inode;
} place;

static int compare_places(const void *a, const void *b) {
    const place *x = a, *y = b;
    if (x->device != y->device) return x->device < y->device ? -1 : 1;
    return x->inode < y->inode ? -1 : x->inode > y->inode;
}

static lg_status add_folder(walk *w, const char *path, const char *name, bool link, lg_error *error) {
    struct folder folder = {strdup(path), strdup(name), link};
    if (!folder.path || !folder.name ||
        !lg_reserve(&w->todo, &w->todo_capacity, w->n_todo + 1, sizeof folder)) {
        free(folder.path);
        free(folder.name);
        return lg_fail_memory(error);
    }
    w->todo[w->n_todo++] = folder;
    return LG_OK;
}

/* Takes the last folder proper, else the link with the least name: the order of readdir must not matter. */
static struct folder take_folder(walk *w) {
    size_t best = w->n_todo - 1;
    for (size_t i = w->n_todo; i-- > 0 && w->todo[best].link;)
        if (!w->todo[i].link || strcmp(w->todo[i].name, w->todo[best].name) < 0) best = i;
    struct folder folder = w->todo[best];
    w->todo[best] = w->todo[--w->n_todo];
    return folder;
}

static lg_status first_visit(walk *w, const struct stat *info, bool *first, lg_error *error) {
    place *here = malloc(sizeof *here);
    if (!here) return lg_fail_memory(error);
    *here = (place){info->st_dev, info->st_ino};
    place *const *found = tsearch(here, &w->seen, compare_places);
    *first = found && *found == here;
    if (!*first) free(here);
    return found ? LG_OK : lg_fail_memory(error);
}

/* One entry of a folder; PATH to open it, NAME in the dataset. */
static lg_status visit(lg_corpus_files *files, walk *w, const char *path, const char *name, bool all_jsonl,
                       lg_error *error) {
    struct stat info;
    if (lstat(path, &info) != 0) return lg_fail_errno(error, "read", path);
    bool link = S_ISLNK(info.st_mode);
    if (link && stat(path, &info) != 0) {
        if (errno != ENOENT && errno != ELOOP && errno != ENOTDIR) return lg_fail_errno(error, "read", path);
        return count_skipped(files, "(broken link)") ? LG_OK : lg_fail_memory(error);
    }
    if (S_ISDIR(info.st_mode)) return add_folder(w, path, name, link, error);
    if (!S_ISREG(info.st_mode)) return count_skipped(files, "(no file)") ? LG_OK : lg_fail_memory(error);
    lg_corpus_file file = {.size = (uint64_t)info.st_size, .regular = true};
    const char *ending;
    bool known = lg_corpus_kind_of(path, &file.jsonl, &file.packing, &file.kind, &ending);
    if (!known || (all_jsonl && !file.jsonl))
        return count_skipped(files, ending) ? LG_OK : lg_fail_memory(error);
    return add_file(files, file, path, name, error);
}

static lg_status read_folder(lg_corpus_files *files, walk *w, const struct folder *folder, bool all_jsonl,
                             lg_error *error) {
    lg_status status = LG_OK;
    bool first = false;
    struct stat info;
    struct dirent *entry;
    DIR *stream = opendir(folder->path);
    if (!stream) return lg_fail_errno(error, "open the folder", folder->path);
    if (fstat(dirfd(stream), &info) != 0) status = lg_fail_errno(error, "read the folder", folder->path);
    else status = first_visit(w, &info, &first, error);
    while (!status && first) {
        errno = 0;
        entry = readdir(stream);
        if (!entry) {
            if (errno) status = lg_fail_errno(error, "read the folder", folder->path);
            break;
        }
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        char *path = lg_path_join(folder->path, entry->d_name),
             *name = lg_path_join(folder->name, entry->d_name);
        status = path && name ? visit(files, w, path, name, all_jsonl, error) : lg_fail_memory(error);
        free(path);
        free(name);
    }
    closedir(stream);
    return status;
}

static lg_status find_in_folder(lg_corpus_files *files, const char *path, bool all_jsonl, lg_error *error) {
    walk w = {0};
    size_t begin = files->n;
    lg_status status = add_folder(&w, path, "", false, error);
    while (!status && w.n_todo) {
        struct folder folder = take_folder(&w);
        status = read_folder(files, &w, &folder, all_jsonl, error);
        free(folder.path);
        free(folder.name);
    }
    if (!status && files->n > begin)
        qsort(files->files + begin, files->n - begin, sizeof *files->files, by_name);
    for (size_t i = 0; i < w.n_todo; i++) {
        free(w.todo[i].path);
        free(w.todo[i].name);
    }
    free(w.todo);
    tdestroy(w.seen, free);
    return status;
}

lg_status lg_corpus_files_find(const char *const *paths, size_t n_paths, bool any_ending, bool all_jsonl,
                               lg_corpus_files *files, lg_error *error) {
    lg_status status = LG_OK;
    for (size_t i = 0; i < n_paths && !status; i++) {
        struct stat info;
        lg_corpus_file file = {0};
        if (stat(paths[i], &info) != 0) return lg_fail_errno(error, "read", paths[i]);
        if (S_ISDIR(info.st_mode)) {
            status = find_in_folder(files, paths[i], all_jsonl, error);
            continue;
        }
        bool known = lg_corpus_kind_of(paths[i], &file.jsonl, &file.packing, &file.kind, NULL);
        if (!known && !any_ending && !all_jsonl)
            return lg_fail(
                error, LG_BAD_INPUT,
                "%s: its ending does not say what it holds (known: .txt .md .rst .py .html .htm .tex .ltx "
                ".latex .sty .jsonl .ndjson, and these with .gz or .zst); say it with --kind",
                paths[i]);
        file.jsonl |= all_jsonl;
        file.regular = S_ISREG(info.st_mode);
        file.size = file.regular ? (uint64_t)info.st_size : 0;
        status = add_file(files, file, paths[i], last_part(paths[i]), error);
    }
    if (files->n_skipped > 1) qsort(files->skipped, files->n_skipped, sizeof *files->skipped, by_count);
    return status;
}

void lg_corpus_files_free(lg_corpus_files *files) {
    free(files->files);
    free(files->skipped);
    lg_arena_free(&files->strings);
    *files = (lg_corpus_files){0};
}
