/* Progress on stderr: rate and time left, live on a terminal, a line now and then elsewhere. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"

double cli_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

char *cli_quantity(double value, const char *unit, char out[48]) {
    static const char *const scale[] = {"", "k", "M", "G", "T", "P"};
    size_t s = 0;
    while (value >= 999.5 && s < 5) {
        value /= 1000;
        s++;
    }
    int digits = s == 0 && value == floor(value) ? 0 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    bool bytes = strcmp(unit, "bytes") == 0;
    snprintf(out, 48, "%.*f %s%s%.24s", digits, value, scale[s], s && !bytes ? " " : "", bytes ? "B" : unit);
    return out;
}

char *cli_duration(double seconds, char out[32]) {
    unsigned long s = seconds < 1e9 ? (unsigned long)(seconds + 0.5) : 1000000000ul;
    if (s < 100) snprintf(out, 32, "%lu s", s);
    else if (s < 6000) snprintf(out, 32, "%lu min %lu s", s / 60, s % 60);
    else snprintf(out, 32, "%lu h %lu min", s / 3600, s % 3600 / 60);
    return out;
}

void cli_progress_start(cli_progress *p, const char *command) {
    const char *term = getenv("TERM");
    *p = (cli_progress){.command = command,
                        .terminal = isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0};
}

void cli_progress_clear(cli_progress *p) {
    if (p->shown) fputs("\r\033[K", stderr);
    p->shown = false;
}

void cli_progress_show(cli_progress *p, const char *unit, uint64_t done, uint64_t total) {
    double now = cli_now();
    if (strcmp(p->unit, unit) != 0 || done < p->last) { /* another stage */
        snprintf(p->unit, sizeof p->unit, "%s", unit);
        p->first = done;
        p->started = now;
        p->printed = p->terminal ? now - 1 : now;
    }
    p->last = done;
    if (now - p->printed < (p->terminal ? 0.1 : 10)) return;
    p->printed = now;

    char line[256], number[48], all[48], rate[48], left[32];
    int n = snprintf(line, sizeof line, "%s%s", p->label, p->label[0] ? ": " : "");
    if (total)
        n += snprintf(line + n, sizeof line - (size_t)n, "%.0f %% of %s", 100 * (double)done / (double)total,
                      cli_quantity((double)total, unit, all));
    else n += snprintf(line + n, sizeof line - (size_t)n, "%s", cli_quantity((double)done, unit, number));
    double seconds = now - p->started, speed = (double)(done - p->first) / (seconds > 0 ? seconds : 1);
    if (seconds > 0.5 && speed > 0) {
        n += snprintf(line + n, sizeof line - (size_t)n, ", %s/s", cli_quantity(speed, unit, rate));
        if (total > done)
            snprintf(line + n, sizeof line - (size_t)n, ", %s left",
                     cli_duration((double)(total - done) / speed, left));
    }
    if (!p->terminal) {
        fprintf(stderr, "lossgap %s: %s\n", p->command, line);
        return;
    }
    size_t width = cli_width(stderr), prefix = strlen(p->command) + 2;
    if (width > prefix + 1 && strlen(line) > width - prefix - 1) line[width - prefix - 1] = '\0';
    fprintf(stderr, "\r\033[K%s: %s", p->command, line);
    fflush(stderr);
    p->shown = true;
}
