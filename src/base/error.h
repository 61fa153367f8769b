/* Filling an lg_error, and asking a monitor. */
#ifndef LG_BASE_ERROR_H
#define LG_BASE_ERROR_H

#include "lossgap/base.h"

/* Fills ERROR (may be NULL) and returns STATUS. The first error is the one worth telling: never call this
   over the failed result of a lower call, pass that on. */
lg_status lg_fail(lg_error *error, lg_status status, const char *format, ...) LG_PRINTF(3, 4);
lg_status lg_fail_memory(lg_error *error); /* LG_FAILED, "out of memory" */
/* "cannot WHAT PATH: strerror". Missing or unreadable files are LG_BAD_INPUT, the rest LG_FAILED. */
lg_status lg_fail_errno(lg_error *error, const char *what, const char *path);
/* The same for what is written: always LG_FAILED. */
lg_status lg_fail_write(lg_error *error, const char *what, const char *path);

void lg_note(const lg_monitor *monitor, const char *format, ...) LG_PRINTF(2, 3);
void lg_progress(const lg_monitor *monitor, const char *unit, uint64_t done, uint64_t total);
bool lg_is_cancelled(const lg_monitor *monitor);

#endif
