/* The journal beside a score file while it is made.

   A head (magic, key, columns, checksum), then records: row hash, count, payload [n_columns, count] of 4-byte
   values, checksum of all that. Everything little endian. Records are appended by write() alone: what a
   killed process has written stays, at worst with a last record cut off, which its checksum shows. */
#include "score/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

static const char magic[32] = "lossgap score journal, format 1\n";

typedef struct head {
    char magic[32];
    lg_hash key;
    uint64_t n_columns;
    uint64_t check; /* of what stands above */
} head;

typedef struct record_head {
    lg_hash hash;
    uint64_t count;
} record_head;

struct lg_journal {
    int fd;
    char *path;
    unsigned n_columns;
    bool held;       /* locked by us, and ours to remove */
    uint64_t size;   /* on disk */
    lg_text pending; /* not yet written */
};

static uint64_t check_of(const void *data, size_t size) {
    return lg_hash_of(data, size).low;
}

static char *journal_path(const char *out) {
    char *path;
    return asprintf(&path, "%s.journal", out) < 0 ? NULL : path;
}

static head make_head(lg_hash key, unsigned n_columns) {
    head h = {.key = key, .n_columns = n_columns};
    memcpy(h.magic, magic, sizeof magic);
    h.check = check_of(&h, offsetof(head, check));
    return h;
}

/* Reads SIZE bytes at OFFSET; false with errno 0: the file ends before. */
static bool read_at(int fd, void *data, size_t size, uint64_t offset) {
    char *at = data;
    while (size) {
        ssize_t n = pread(fd, at, size, (off_t)offset);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            if (n == 0) errno = 0;
            return false;
        }
        at += n;
        size -= (size_t)n;
        offset += (uint64_t)n;
    }
    return true;
}

static bool write_at(int fd, const void *data, size_t size, uint64_t offset) {
    const char *at = data;
    while (size) {
        ssize_t n = pwrite(fd, at, size, (off_t)offset);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        at += n;
        size -= (size_t)n;
        offset += (uint64_t)n;
    }
    return true;
}

typedef enum head_state { HEAD_OURS, HEAD_OTHER, HEAD_TORN, HEAD_FOREIGN } head_state;

/* Whose journal FD is. */
static head_state look_at_head(int fd, uint64_t size, const head *wanted) {
    head found = {0};
    size_t there = size < sizeof found ? (size_t)size : sizeof found;
    size_t magic_there = there < sizeof magic ? there : sizeof magic;
    if (!read_at(fd, &found, there, 0) || memcmp(found.magic, magic, magic_there) != 0) return HEAD_FOREIGN;
    if (there < sizeof found || found.check != check_of(&found, offsetof(head, check))) return HEAD_TORN;
    return memcmp(&found, wanted, sizeof found) == 0 ? HEAD_OURS : HEAD_OTHER;
}

/* Visits the whole records of FD; *END is where they end. */
static lg_status scan(int fd, uint64_t size, unsigned n_columns, lg_journal_visit visit, void *context,
                      uint64_t *end, lg_error *error) {
    lg_status status = LG_OK;
    unsigned char *buffer = NULL;
    size_t capacity = 0;
    uint64_t at = sizeof(head);
    for (;;) {
        record_head record;
        if (size - at < sizeof record || !read_at(fd, &record, sizeof record, at)) break;
        uint64_t rest = size - at - sizeof record;
        if (!record.count || record.count >= UINT32_MAX || rest < sizeof(uint64_t) ||
            (rest - sizeof(uint64_t)) / (4 * n_columns) < record.count)
            break;
        size_t checked = sizeof record + (size_t)record.count * 4 * n_columns;
        if (!lg_reserve(&buffer, &capacity, checked + sizeof(uint64_t), 1)) {
            status = lg_fail_memory(error);
            break;
        }
        uint64_t check;
        if (!read_at(fd, buffer, checked + sizeof check, at)) break;
        memcpy(&check, buffer + checked, sizeof check);
        if (check != check_of(buffer, checked)) break;
        status = visit(context, record.hash, (uint32_t)record.count, at + sizeof record, error);
        if (status) break;
        at += checked + sizeof check;
    }
    *end = at;
    free(buffer);
    return status;
}

/* Opens and locks JOURNAL->path. The file that we locked may have been removed meanwhile by the process that
   held the lock before: then another one is made. */
static lg_status open_locked(lg_journal *journal, struct stat *info, lg_error *error) {
    for (;;) {
        journal->fd = open(journal->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (journal->fd < 0) return lg_fail_errno(error, "open", journal->path);
        struct stat there;
        if (fstat(journal->fd, info) != 0) return lg_fail_errno(error, "read", journal->path);
        if (!S_ISREG(info->st_mode))
            return lg_fail(error, LG_BAD_INPUT, "%s is in the way: not a regular file", journal->path);
        if (flock(journal->fd, LOCK_EX | LOCK_NB) != 0) {
            if (errno != EWOULDBLOCK) return lg_fail_errno(error, "lock", journal->path);
            return lg_fail(error, LG_FAILED,
                           "another process is scoring into the same file (it holds %s): wait for it, or "
                           "write elsewhere",
                           journal->path);
        }
        if (fstat(journal->fd, info) == 0 && stat(journal->path, &there) == 0 &&
            there.st_ino == info->st_ino && there.st_dev == info->st_dev)
            return LG_OK;
        close(journal->fd);
        journal->fd = -1;
    }
}

lg_status lg_journal_open(const char *out, lg_hash key, unsigned n_columns, lg_journal **result,
                          lg_journal_visit visit, void *context, const lg_monitor *monitor, lg_error *error) {
    *result = NULL;
    lg_journal *journal = calloc(1, sizeof *journal);
    if (!journal) return lg_fail_memory(error);
    journal->fd = -1;
    journal->n_columns = n_columns;
    journal->path = journal_path(out);
    if (!journal->path) {
        lg_journal_close(journal, false);
        return lg_fail_memory(error);
    }
    struct stat info;
    lg_status status = open_locked(journal, &info, error);
    if (status) goto done;
    head wanted = make_head(key, n_columns);
    uint64_t size = (uint64_t)info.st_size, end = 0;
    if (size) {
        switch (look_at_head(journal->fd, size, &wanted)) {
        case HEAD_OURS:
            status = scan(journal->fd, size, n_columns, visit, context, &end, error);
            if (!status && end < size)
                lg_note(monitor, "%s: dropped %llu bytes of an unfinished record", journal->path,
                        (unsigned long long)(size - end));
            break;
        case HEAD_OTHER:
            lg_note(monitor, "%s: started over, it holds rows of another model or of other settings",
                    journal->path);
            break;
        case HEAD_TORN:
            break;
        case HEAD_FOREIGN:
            status =
                lg_fail(error, LG_BAD_INPUT,
                        "%s exists and is no score journal: move it away, or write elsewhere", journal->path);
            break;
        }
        if (status) goto done;
    }
    if (size > end && ftruncate(journal->fd, (off_t)end) != 0) {
        status = lg_fail_errno(error, "write", journal->path);
        goto done;
    }
    if (!end) {
        if (!write_at(journal->fd, &wanted, sizeof wanted, 0)) {
            status = lg_fail_errno(error, "write", journal->path);
            goto done;
        }
        end = sizeof wanted;
    }
    journal->size = end;
    journal->held = true;
    *result = journal;
    journal = NULL;
done:
    lg_journal_close(journal, false);
    return status;
}

lg_status lg_journal_peek(const char *out, lg_hash key, unsigned n_columns, lg_journal_visit visit,
                          void *context, lg_error *error) {
    char *path = journal_path(out);
    if (!path) return lg_fail_memory(error);
    lg_status status = LG_OK;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat info;
    head wanted = make_head(key, n_columns);
    uint64_t end;
    if (fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
        look_at_head(fd, (uint64_t)info.st_size, &wanted) == HEAD_OURS)
        status = scan(fd, (uint64_t)info.st_size, n_columns, visit, context, &end, error);
    if (fd >= 0) close(fd);
    free(path);
    return status;
}

lg_status lg_journal_append(lg_journal *journal, lg_hash hash, uint32_t count, const uint32_t *payload,
                            uint64_t *offset, lg_error *error) {
    lg_text *pending = &journal->pending;
    size_t start = pending->length;
    record_head record = {hash, count};
    lg_text_put(pending, &record, sizeof record);
    *offset = journal->size + pending->length;
    lg_text_put(pending, payload, (size_t)count * 4 * journal->n_columns);
    if (pending->failed) return lg_fail_memory(error);
    uint64_t check = check_of(pending->data + start, pending->length - start);
    lg_text_put(pending, &check, sizeof check);
    return pending->failed ? lg_fail_memory(error) : LG_OK;
}

lg_status lg_journal_flush(lg_journal *journal, lg_error *error) {
    lg_text *pending = &journal->pending;
    if (!write_at(journal->fd, pending->data, pending->length, journal->size))
        return lg_fail_errno(error, "write", journal->path);
    journal->size += pending->length;
    pending->length = 0;
    return LG_OK;
}

lg_status lg_journal_read(const lg_journal *journal, uint64_t offset, uint32_t count, uint32_t *payload,
                          lg_error *error) {
    if (read_at(journal->fd, payload, (size_t)count * 4 * journal->n_columns, offset)) return LG_OK;
    if (!errno) return lg_fail(error, LG_FAILED, "%s was cut off while in use", journal->path);
    return lg_fail_errno(error, "read", journal->path);
}

void lg_journal_close(lg_journal *journal, bool remove) {
    if (!journal) return;
    /* Without a record it is of no use. Unlinked while the lock is held: nobody else can have begun to use
     * it. */
    if (journal->held && (remove || journal->size == sizeof(head))) unlink(journal->path);
    if (journal->fd >= 0) close(journal->fd);
    lg_text_free(&journal->pending);
    free(journal->path);
    free(journal);
}
