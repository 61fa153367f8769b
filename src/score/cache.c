/* Scores kept by what they are of: FOLDER/<checkpoint and settings>-<tokens>.safetensors. Computed by one
   process, while others wait or do something else; found by all later ones, wherever the checkpoint lies. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "lossgap/score.h"

enum { ENDING = sizeof ".safetensors" - 1, OF_MODEL = 17 }; /* bytes of the name up to its '-', with it */

typedef struct entry {
    char *path, *lock_path, *journal;
    int lock;
} entry;

static void entry_free(entry *e) {
    if (e->lock >= 0) {
        unlink(e->lock_path); /* while it is ours: whoever opened it meanwhile finds that out */
        close(e->lock);
    }
    free(e->path);
    free(e->lock_path);
    free(e->journal);
}

static lg_status entry_make(const char *folder, const char *name, entry *e, lg_error *error) {
    *e = (entry){.lock = -1};
    const char *slash = *folder && folder[strlen(folder) - 1] == '/' ? "" : "/";
    if (asprintf(&e->path, "%s%s%s.safetensors", folder, slash, name) < 0) e->path = NULL;
    if (asprintf(&e->lock_path, "%s%s%s.lock", folder, slash, name) < 0) e->lock_path = NULL;
    if (asprintf(&e->journal, "%s%s%s.safetensors.journal", folder, slash, name) < 0) e->journal = NULL;
    return e->path && e->lock_path && e->journal ? LG_OK : lg_fail_memory(error);
}

/* Takes the lock of E if nobody has it; e->lock < 0: somebody has. */
static lg_status try_lock(entry *e, lg_error *error) {
    for (;;) {
        struct stat ours, there;
        int fd = open(e->lock_path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (fd < 0) return lg_fail_errno(error, "open", e->lock_path);
        if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
            lg_status status = errno == EWOULDBLOCK ? LG_OK : lg_fail_errno(error, "lock", e->lock_path);
            close(fd);
            return status;
        }
        if (fstat(fd, &ours) == 0 && stat(e->lock_path, &there) == 0 && ours.st_ino == there.st_ino &&
            ours.st_dev == there.st_dev) {
            e->lock = fd;
            return LG_OK;
        }
        close(fd); /* the process that had it took it away when it was done */
    }
}

static lg_status lock(entry *e, const char *model_name, bool wait, const lg_monitor *monitor,
                      lg_error *error) {
    lg_status status = try_lock(e, error);
    if (status || e->lock >= 0 || !wait) return status;
    lg_note(monitor, "%s: another process is scoring it; waiting until it is done", model_name);
    while (!status && e->lock < 0) {
        if (lg_is_cancelled(monitor))
            return lg_fail(error, LG_CANCELLED, "stopped while waiting for another process");
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
        status = try_lock(e, error);
    }
    return status;
}

/* Opens what is there; false: nothing that is of any use. */
static bool open_scores(const entry *e, const lg_dataset *data, const char *model, lg_scores *scores) {
    lg_error why;
    if (!lg_exists(e->path) || lg_scores_open(e->path, data, scores, &why)) return false;
    if (strcmp(scores->model, model) == 0) return true;
    lg_scores_close(scores);
    return false;
}

/* What is no table of scores any more, a cut file perhaps, would be in the way for ever. */
static void drop_unreadable(const entry *e) {
    lg_table *table;
    lg_error why;
    if (!lg_exists(e->path)) return;
    lg_status status = lg_table_open(e->path, "scores", &table, &why);
    if (!status) lg_table_close(table);
    else if (status == LG_BAD_INPUT) unlink(e->path);
}

/* Scores of the same checkpoint and settings over another dataset, which may hold many of the same rows,
   stand in for what is not there: lg_score_run takes its rows and puts the new file in its place. */
static void lend_rows(const char *folder, const char *name, const entry *e) {
    DIR *entries = lg_exists(e->path) ? NULL : opendir(folder);
    char best[64] = "";
    struct stat info, newest = {0};
    for (struct dirent *d; entries && (d = readdir(entries));) {
        size_t length = strlen(d->d_name);
        if (length >= sizeof best || length < OF_MODEL + ENDING || strncmp(d->d_name, name, OF_MODEL) != 0 ||
            strcmp(d->d_name + length - ENDING, ".safetensors") != 0 ||
            fstatat(dirfd(entries), d->d_name, &info, 0) != 0)
            continue;
        bool larger =
            info.st_size > newest.st_size || (info.st_size == newest.st_size && strcmp(d->d_name, best) < 0);
        if (*best && !larger) continue;
        newest = info;
        memcpy(best, d->d_name, length + 1);
    }
    if (entries) closedir(entries);
    char *path = *best ? lg_path_join(folder, best) : NULL;
    if (path && link(path, e->path) != 0) errno = 0; /* then all is computed */
    free(path);
}

/* Whether the checkpoint's files are what they were when MODEL was opened. Gone is as good: what we read
   stays what it was. */
static lg_status check_unchanged(const lg_model *model, bool *changed, lg_error *error) {
    const lg_model_info *info = lg_model_get_info(model);
    lg_model *again;
    lg_error why = {0};
    *changed = false;
    if (!lg_is_folder(info->path)) return LG_OK;
    lg_status status = lg_model_open(info->path, &again, NULL, &why);
    if (status == LG_OK) {
        *changed = strcmp(lg_model_get_info(again)->identity, info->identity) != 0;
        lg_model_close(again);
        return LG_OK;
    }
    *changed = status == LG_BAD_INPUT;
    if (!*changed && error) *error = why;
    return *changed ? LG_OK : status;
}

lg_status lg_score_cached(const lg_model *model, const lg_dataset *data, const lg_score_options *options,
                          const char *folder, bool wait, const lg_monitor *monitor, lg_cache_result *result,
                          char name[LG_CACHE_NAME], lg_scores *scores, lg_error *error) {
    const lg_model_info *info = lg_model_get_info(model);
    *scores = (lg_scores){0};
    entry e = {.lock = -1};
    lg_status status = lg_score_cache_name(model, data, options, name, NULL, error);
    if (!status) status = lg_make_folders(folder, error);
    if (!status) status = entry_make(folder, name, &e, error);
    if (status) goto done;
    *result = LG_CACHE_FOUND;
    if (open_scores(&e, data, info->identity, scores)) goto done;
    status = lock(&e, options->model_name, wait, monitor, error);
    if (status) goto done;
    if (e.lock < 0) {
        *result = LG_CACHE_BUSY;
        goto done;
    }
    if (open_scores(&e, data, info->identity, scores)) goto done; /* the other one was faster */
    *result = LG_CACHE_MADE;
    drop_unreadable(&e);
    lend_rows(folder, name, &e);
    lg_monitor quiet = {0}; /* what it would note is the same for every checkpoint */
    if (monitor) quiet = (lg_monitor){monitor->context, monitor->progress, NULL, monitor->cancelled};
    status = lg_score_run(model, data, options, e.path, &quiet, error);
    if (status == LG_FAILED) goto done;
    bool changed;
    lg_error of_check = {0};
    lg_status checked = check_unchanged(model, &changed, &of_check);
    if (changed) { /* rows of two checkpoints under one name: nobody must find them */
        unlink(e.path);
        unlink(e.journal);
        *result = LG_CACHE_CHANGED;
        if (status != LG_CANCELLED) status = LG_OK;
    } else if (checked && !status) {
        if (error) *error = of_check;
        status = checked;
    } else if (!status) {
        status = lg_scores_open(e.path, data, scores, error);
    }
done:
    entry_free(&e);
    return status;
}
