/* Error texts and the monitor. */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

lg_status lg_fail(lg_error *error, lg_status status, const char *format, ...) {
    if (!error) return status;
    error->status = status;
    va_list args;
    va_start(args, format);
    vsnprintf(error->message, sizeof error->message, format, args);
    va_end(args);
    /* One line, and nothing that could drive a terminal: neither C0 nor, in UTF-8, C1 controls. */
    for (unsigned char *c = (unsigned char *)error->message; *c; c++) {
        if (*c < 0x20 || *c == 0x7f) *c = '?';
        if (*c == 0xC2 && c[1] >= 0x80 && c[1] < 0xA0) c[0] = c[1] = '?';
    }
    return status;
}

lg_status lg_fail_memory(lg_error *error) {
    return lg_fail(error, LG_FAILED, "out of memory");
}

lg_status lg_fail_errno(lg_error *error, const char *what, const char *path) {
    int code = errno;
    bool input = code == ENOENT || code == EACCES || code == ENOTDIR || code == EISDIR || code == ELOOP ||
                 code == EPERM || code == ENAMETOOLONG;
    return lg_fail(error, input ? LG_BAD_INPUT : LG_FAILED, "cannot %s %s: %s", what, path, strerror(code));
}

lg_status lg_fail_write(lg_error *error, const char *what, const char *path) {
    return lg_fail(error, LG_FAILED, "cannot %s %s: %s", what, path, strerror(errno));
}

void lg_note(const lg_monitor *monitor, const char *format, ...) {
    if (!monitor || !monitor->note) return;
    char message[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    monitor->note(monitor->context, message);
}

void lg_progress(const lg_monitor *monitor, const char *unit, uint64_t done, uint64_t total) {
    if (monitor && monitor->progress) monitor->progress(monitor->context, unit, done, total);
}

bool lg_is_cancelled(const lg_monitor *monitor) {
    return monitor && monitor->cancelled && monitor->cancelled(monitor->context);
}
