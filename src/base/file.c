/* Files: mapped input, atomic output, folders. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
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

/* Like mkstemps, but with the permissions that the caller's umask gives any new file. */
static int open_beside(const char *path, char **name) {
    int fd = -1;
    for (int i = 0; i < 1000 && fd < 0; i++) {
        if (asprintf(name, "%s.%ld-%d.tmp", path, (long)getpid(), i) < 0) {
            *name = NULL;
            errno = ENOMEM;
            return -1;
        }
        fd = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0) return fd;
        int code = errno;
        free(*name);
        *name = NULL;
        errno = code;
        if (code != EEXIST) return -1;
    }
    return fd;
}

lg_status lg_output_open(const char *path, lg_output *output, lg_error *error) {
    *output = (lg_output){.path = strdup(path)};
    if (!output->path) return lg_fail_memory(error);
    lg_status status = LG_OK;
    int fd = open_beside(path, &output->temporary);
    if (fd < 0) {
        status = lg_fail_write(error, "create a file beside", path);
    } else if (!(output->stream = fdopen(fd, "w"))) {
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
    bool good = fflush(output->stream) == 0 && fsync(fileno(output->stream)) == 0;
    if (good) {
        good = fclose(output->stream) == 0;
        output->stream = NULL;
    }
    if (!good || rename(output->temporary, output->path) != 0) {
        lg_status status = lg_fail_write(error, "write", output->path);
        lg_output_discard(output);
        return status;
    }
    sync_folder_of(output->path);
    free(output->temporary);
    output->temporary = NULL;
    lg_output_discard(output);
    return LG_OK;
}

void lg_output_discard(lg_output *output) {
    if (output->stream) fclose(output->stream);
    if (output->temporary) unlink(output->temporary);
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
