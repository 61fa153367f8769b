/* Scores, over tokens and over spans: any file is one, or an error; in one that is accepted, every value can
 * be read, and its settings can be written again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "score/artefact.h"

static void check(bool good) {
    if (!good) abort();
}

static volatile uint64_t sink; /* so that the reads are done */

static void walk(const lg_score_table *t) {
    lg_hash key;
    check(lg_score_settings_key(&t->settings, &key));
    check(t->settings.spans ? t->in_span && !t->n_rows : !t->in_span);
    check(t->settings.spans || !t->n_tokens || t->row_end[t->n_rows - 1] == t->n_tokens);
    for (size_t i = 0; i < t->n_tokens; i++) {
        sink += t->context[i] + (t->in_span ? t->in_span[i] : 0);
        for (size_t c = 0; c < LG_SCORE_COLUMNS; c++) sink += t->columns[c] ? t->columns[c][i] : 0;
    }
    for (size_t r = 0; r < 2 * t->n_rows; r++) sink += t->row_hash[r];
    sink += strlen(t->settings.name) + strlen(t->dataset) + strlen(t->tokens);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    int fd = memfd_create("scores", 0);
    char path[64];
    check(fd >= 0 && (!size || write(fd, data, size) == (ssize_t)size));
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    lg_score_table table;
    lg_error error = {0};
    lg_status status = lg_score_table_open(path, &table, &error);
    if (status) check(status == LG_BAD_INPUT && error.status == status && !table.table);
    else walk(&table);
    lg_score_table_close(&table);
    close(fd);
    return 0;
}
