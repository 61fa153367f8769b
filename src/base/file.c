/* Files: mapped input, atomic output, folders. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

lg_status lg_map(const char *path, lg_mapping *mapping, lg_error *error) {
    *mapping = (lg_mapping){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* or a pipe without writer would hold us */
    if (fd < 0) return lg_fail_errno(error, "open", path);
    lg_status status = LG_OK;
    struct stat info;
    if (fstat(fd, &info) != 0) {
        status = lg_fail_errno(error, "read", path);
    } else if (!S_ISREG(info.st_mode)) {
        status = lg_fail(error, LG_BAD_INPUT, "%s is not a regular file", path);
    } else if (info.st_size > 0) {
        void *data = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (data == MAP_FAILED) status = lg_fail_errno(error, "map", path);
        else *mapping = (lg_mapping){data, (size_t)info.st_size};
    }
    close(fd);
    return status;
}

void lg_unmap(lg_mapping *mapping) {
    if (mapping->data) munmap((void *)(uintptr_t)mapping->data, mapping->size);
    *mapping = (lg_mapping){0};
}

lg_status lg_check_output(const char *path, lg_error *error) {
    struct stat info;
    if (!*path) return lg_fail(error, LG_USAGE, "the name of the file to write is empty");
    if (stat(path, &info) != 0 || S_ISREG(info.st_mode)) return LG_OK;
    return lg_fail(error, LG_USAGE, "%s is a %s, where a file is to be written", path,
                   S_ISDIR(info.st_mode) ? "folder" : "device or pipe");
}

/* Locks the temporary file FD, called NAME; false: another process has it, or had it and renamed it. Where
   there are no locks, only a file that we made is ours. */
static bool lock_temporary(int fd, const char *name, bool made) {
    struct stat info, there;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 && (errno == EWOULDBLOCK || !made)) return false;
    return fstat(fd, &info) == 0 && stat(name, &there) == 0 && info.st_ino == there.st_ino &&
           info.st_dev == there.st_dev && S_ISREG(info.st_mode);
}

/* Makes a file beside PATH for this process alone, with the permissions that the umask gives any new file.
   One that a killed process left is taken over: nothing piles up. */
static int open_beside(const char *path, char **name) {
    for (int i = 0; i < 1000; i++) {
        if (asprintf(name, "%s.%d.tmp", path, i) < 0) {
            *name = NULL;
            errno = ENOMEM;
            return -1;
        }
        const int flags = O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
        int fd = open(*name, flags | O_CREAT | O_EXCL, 0666);
        bool made = fd >= 0, exists = !made && errno == EEXIST;
        if (exists) fd = open(*name, flags);
        if (fd >= 0 && lock_temporary(fd, *name, made) && (made || ftruncate(fd, 0) == 0)) return fd;
        int code = errno;
        if (fd >= 0) close(fd);
        free(*name);
        *name = NULL;
        errno = code;
        if (!made && !exists) return -1;
    }
    return -1;
}

lg_status lg_output_open(const char *path, lg_output *output, lg_error *error) {
    *output = (lg_output){0};
    lg_status status = lg_check_output(path, error);
    if (status) return status;
    struct stat info; /* what a link leads to is replaced, not the link */
    if (lstat(path, &info) == 0 && S_ISLNK(info.st_mode)) output->path = realpath(path, NULL);
    if (!output->path) output->path = strdup(path);
    if (!output->path) return lg_fail_memory(error);
    int fd = open_beside(output->path, &output->temporary);
    if (fd < 0) {
        status = lg_fail_write(error, "create a file beside", path);
    } else if (!(output->stream = fdopen(fd, "w"))) {
        unlink(output->temporary);
        close(fd);
        status = lg_fail_memory(error);
    }
    if (status) lg_output_discard(output);
    return status;
}

/* A rename lasts only once its folder is on disk. */
static void sync_folder_of(const char *path) {
    char *copy = strdup(path);
    if (!copy) return;
    char *slash = strrchr(copy, '/');
    if (slash) slash[slash == copy] = '\0';
    int fd = open(slash ? copy : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    free(copy);
}

lg_status lg_output_commit(lg_output *output, lg_error *error) {
    if (ferror(output->stream)) { /* nobody looked, and errno has gone */
        lg_status status = lg_fail(
            error, LG_FAILED, "cannot write %s: an earlier write failed; is the disk full?", output->path);
        lg_output_discard(output);
        return status;
    }
    if (fflush(output->stream) != 0 || fsync(fileno(output->stream)) != 0 ||
        rename(output->temporary, output->path) != 0) {
        lg_status status = lg_fail_write(error, "write", output->path);
        lg_output_discard(output);
        return status;
    }
    free(output->temporary);
    output->temporary = NULL;
    sync_folder_of(output->path);
    lg_output_discard(output);
    return LG_OK;
}

void lg_output_discard(lg_output *output) {
    if (output->temporary) unlink(output->temporary);
    if (output->stream) fclose(output->stream); /* last: closing it gives up the lock on the temporary file */
    free(output->temporary);
    free(output->path);
    *output = (lg_output){0};
}

lg_status lg_write_file(const char *path, const void *data, size_t size, lg_error *error) {
    lg_output output;
    lg_status status = lg_output_open(path, &output, error);
    if (status) return status;
    if (fwrite(data, 1, size, output.stream) == size) return lg_output_commit(&output, error);
    status = lg_fail_write(error, "write", path);
    lg_output_discard(&output);
    return status;
}

char *lg_path_join(const char *folder, const char *name) {
    char *path;
    size_t n = strlen(folder);
    return asprintf(&path, "%s%s%s", folder, n && folder[n - 1] != '/' ? "/" : "", name) < 0 ? NULL : path;
}

lg_status lg_make_folders(const char *path, lg_error *error) {
    char *copy = strdup(path);
    if (!copy) return lg_fail_memory(error);
    lg_status status = LG_OK;
    for (char *p = *copy ? copy + 1 : copy; !status; p++) {
        char c = *p;
        if (c && c != '/') continue;
        *p = '\0';
        if (mkdir(copy, 0777) != 0 && errno != EEXIST)
            status = lg_fail_write(error, "create the folder", path);
        *p = c;
        if (!c) break;
    }
    free(copy);
    if (!status && !lg_is_folder(path)) {
        errno = ENOTDIR;
        status = lg_fail_write(error, "create the folder", path);
    }
    return status;
}

bool lg_is_folder(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

bool lg_exists(const char *path) {
    struct stat info;
    return stat(path, &info) == 0;
}

bool lg_is_same_file(const char *a, const char *b) {
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}
