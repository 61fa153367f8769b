/* Files of filters and of masks: any file gives filters whose masks hold 0 and 1 only and that can be
   printed, written and averaged over, or an error that names it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lossgap/filter.h"
#include "lossgap/report.h"
#include "lossgap/tag.h"

enum { TOKENS = 24 };

static const char corpus[] = "{\"id\": \"a\", \"input_ids\": [1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6, 1, 2]}\n"
                             "{\"id\": \"b\", \"input_ids\": [9, 8, 9, 8, 9, 8, 9, 8, 9, 8]}\n";
static lg_dataset data;
static lg_scores scores[2];
static float nll[2][TOKENS];
static uint32_t context[TOKENS];
static char tags[64];

static void check(bool good) {
    if (!good) abort();
}

/* A small dataset of two documents, with tags and scores. */
static void prepare(void) {
    char folder[] = "/tmp/fuzz-filter-XXXXXX", jsonl[64], path[64];
    lg_error error = {0};
    check(mkdtemp(folder));
    snprintf(jsonl, sizeof jsonl, "%s/c.jsonl", folder);
    snprintf(path, sizeof path, "%s/data", folder);
    snprintf(tags, sizeof tags, "%s/tags", folder);
    FILE *file = fopen(jsonl, "w");
    check(file && fputs(corpus, file) >= 0 && fclose(file) == 0);
    const char *paths[] = {jsonl};
    lg_dataset_options options = {.input_ids = true, .threads = 1, .command = "fuzz"};
    check(!lg_dataset_build(paths, 1, &options, path, NULL, &error));
    check(!lg_dataset_open(path, &data, &error) && data.n_tokens == TOKENS);
    lg_tag_options tag = {.threads = 1, .command = "fuzz"};
    check(!lg_tag_run(&data, &tag, tags, NULL, &error));
    for (size_t m = 0; m < 2; m++) {
        for (size_t i = 0; i < TOKENS; i++) nll[m][i] = i % 9 ? (float)(i % (3 + m)) : NAN;
        scores[m] = (lg_scores){.model_name = m ? "b" : "a",
                                .n_tokens = TOKENS,
                                .nll = nll[m],
                                .context = context,
                                .prefix = LG_PREFIX_NONE,
                                .table = data.table};
    }
}

static void use(const lg_filters *f, const char *out) {
    lg_error error = {0};
    lg_filtered_loss *losses;
    lg_filters *again = NULL;
    lg_table_style style = {0};
    char *text;
    size_t length;
    for (size_t k = 0; k < lg_filters_n(f); k++) {
        uint64_t tokens = 0;
        for (size_t i = 0; i < TOKENS; i++) {
            check(lg_filters_at(f, k)->mask[i] <= 1);
            tokens += lg_filters_at(f, k)->mask[i];
        }
        check(tokens == lg_filters_at(f, k)->tokens);
    }
    check(!lg_filtered_losses(&data, scores, 2, f, &losses, &error));
    check(!lg_filtered_json(f, scores, 2, losses, &text, &length, &error));
    free(text);
    free(losses);
    check(!lg_filters_json(f, &text, &length, &error));
    free(text);
    check(!lg_filters_table(f, &style, &text, &length, &error));
    free(text);
    if (!out) return;
    check(!lg_filters_write(f, out, &error) && !lg_masks_open(out, &data, &again, &error));
    check(lg_filters_n(again) == lg_filters_n(f));
    lg_filters_close(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size) {
    char path[64], out[80];
    lg_error error = {0};
    lg_filters *f;
    if (!data.table) prepare();
    if (size > 1 << 14) return 0;
    int fd = memfd_create("fuzz", 0);
    check(fd >= 0 && write(fd, input, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    snprintf(out, sizeof out, "%s.masks", tags);
    bool masks = size > 8 && input[8] == '{';
    lg_filter_options options = {
        .file = path, .pair = scores, .hard = &scores[1], .threads = 1, .command = "fuzz"};
    lg_status status =
        masks ? lg_masks_open(path, &data, &f, &error) : lg_filters_open(&data, tags, &options, &f, &error);
    if (status) check(status == LG_BAD_INPUT && error.status == status && strstr(error.message, path) && !f);
    else use(f, masks ? NULL : out);
    lg_filters_close(f);
    close(fd);
    return 0;
}
