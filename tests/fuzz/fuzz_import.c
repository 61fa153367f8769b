/* Losses made elsewhere: any bytes are either a score file for the dataset at hand or an error. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "lossgap/score.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const uint64_t token_end[] = {3, 3, 5}, name_end[] = {1, 2, 3};
    static const uint32_t ids[] = {1, 2, 3, 4, 5};
    static const lg_dataset dataset = {.n_docs = 3,
                                       .n_tokens = 5,
                                       .doc_token_end = token_end,
                                       .doc_name = "abb", /* two of one name */
                                       .doc_name_end = name_end,
                                       .token_id = ids,
                                       .max_token_id = 5};
    static char out[64];
    if (!out[0]) {
        snprintf(out, sizeof out, "%s/lossgap-fuzz-%ld", lg_is_folder("/dev/shm") ? "/dev/shm" : "/tmp",
                 (long)getpid());
    }
    int fd = memfd_create("losses", 0);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size) abort();
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    for (int turn = 0; turn < 3; turn++) {
        lg_error error = {0};
        lg_score_options o = {.prefix = turn ? 9 : LG_PREFIX_NONE,
                              .context = turn ? 2 : 0,
                              .windows = turn == 2 ? LG_WINDOWS_PAPER : LG_WINDOWS_DOCUMENT};
        lg_status status = lg_score_import(path, &dataset, &o, out, NULL, &error);
        if (!status != lg_exists(out) || !status == !!error.message[0]) abort();
        lg_scores scores;
        if (!status) {
            if (lg_scores_open(out, &dataset, &scores, &error)) abort();
            lg_scores_close(&scores);
        }
        unlink(out);
    }
    close(fd);
    return 0;
}
