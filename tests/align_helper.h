/* For tests of alignment: text cut into tokens in several ways, with losses made from what a token may see.
 */
#ifndef LG_TESTS_ALIGN_HELPER_H
#define LG_TESTS_ALIGN_HELPER_H

#include "unit/fixture.h"

#include <math.h>

#include "base/hash.h"
#include "lossgap/align.h"
#include "score/scorer.h"

static uint64_t align_seed = 1;

static inline uint32_t align_draw(uint32_t below) {
    align_seed = align_seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((align_seed >> 33) % below);
}

/* TEXT with bars (\1) put in at random: a token has 1 to LONGEST bytes; one in WITHOUT (0: none) has none
   before it. free() it. */
static inline char *align_cut(const char *text, uint32_t longest, uint32_t without) {
    size_t n = strlen(text), to = 0;
    char *out = malloc(4 * n + 8);
    for (size_t i = 0; i < n;) {
        while (without && align_draw(without) == 0 && to < 3 * n) out[to++] = 1;
        size_t length = 1 + align_draw(longest);
        if (length > n - i) length = n - i;
        memcpy(out + to, text + i, length);
        to += length;
        i += length;
        if (i < n) out[to++] = 1;
    }
    out[to] = '\0';
    return out;
}

/* Losses that depend on all that a token sees, SALTed by the model, with many bits. */
static inline lg_status align_score(void *context, const lg_row *rows, size_t n_rows, unsigned columns,
                                    const lg_monitor *monitor, lg_error *error) {
    (void)columns, (void)monitor, (void)error;
    const uint64_t salt = *(const uint64_t *)context;
    for (size_t r = 0; r < n_rows; r++)
        for (size_t i = rows[r].first; i < rows[r].n; i++) {
            lg_hash h = lg_hash_of(rows[r].y, (i + 1) * sizeof *rows[r].y);
            rows[r].nll[i - rows[r].first] = (float)((h.low ^ salt) % 10000019) / 1234567.0f;
        }
    return LG_OK;
}

static inline double align_flops(void *context, size_t inputs, size_t scored) {
    (void)context;
    return (double)(inputs + scored);
}

/* Scores DATA in windows of CONTEXT with STRIDE into OUT. */
static inline void align_scores(const lg_dataset *data, const char *name, uint64_t salt, size_t context,
                                size_t stride, int64_t prefix, const char *out) {
    lg_error error = {0};
    lg_scorer scorer = {
        .context = &salt, .vocab_size = 60000, .max_tokens = 256, .score = align_score, .flops = align_flops};
    lg_score_settings settings = {.name = name,
                                  .model = name,
                                  .isa = "c",
                                  .precision = LG_PRECISION_F32,
                                  .windows = {LG_WINDOWS_DOCUMENT, context, stride, prefix}};
    if (lg_score_rows(&scorer, data, &settings, "test", out, NULL, &error)) fail_msg("%s", error.message);
}

static inline lg_dataset align_open(const char *path) {
    lg_dataset data;
    lg_error error = {0};
    if (lg_dataset_open(path, &data, &error)) fail_msg("%s", error.message);
    return data;
}

static inline lg_scores align_open_scores(const char *path, const lg_dataset *data) {
    lg_scores scores;
    lg_error error = {0};
    if (lg_scores_open(path, data, &scores, &error)) fail_msg("%s", error.message);
    return scores;
}

#endif
