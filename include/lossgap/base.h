/* What every call of the library shares: status, error text, progress and cancellation. */
#ifndef LOSSGAP_BASE_H
#define LOSSGAP_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LG_API               __attribute__((visibility("default")))
#define LG_PRINTF(at, first) __attribute__((format(printf, at, first)))

/* The values are the program's exit codes. */
typedef enum lg_status {
    LG_OK = 0,
    LG_FAILED = 1,    /* the work failed: no memory, no disk, an unreadable device */
    LG_USAGE = 2,     /* the caller asked for something that makes no sense */
    LG_BAD_INPUT = 3, /* a file is missing, broken, or not what it should be */
    LG_CANCELLED = 4, /* the monitor asked to stop; what was done is kept */
} lg_status;

/* Caller-owned; one line that says what, where, and what to do. Start with {0}. */
typedef struct lg_error {
    lg_status status;
    char message[1024];
} lg_error;

/* How long work reports and is stopped. May be NULL everywhere; so may each member. Called from one thread at
   a time. */
typedef struct lg_monitor {
    void *context;
    void (*progress)(void *context, const char *unit, uint64_t done, uint64_t total); /* total 0: unknown */
    void (*note)(void *context, const char *message); /* one line worth knowing, not an error */
    bool (*cancelled)(void *context);
} lg_monitor;

LG_API const char *lg_version(void);

/* Compiler and flags, as one line. */
LG_API const char *lg_build_info(void);

#endif
