/* For the tests of src/score: datasets in memory and a scorer whose results are a known function of what a
 * token may see. */
#ifndef LG_TESTS_SCORE_FAKE_H
#define LG_TESTS_SCORE_FAKE_H

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "score/scorer.h"

/* ---- datasets ---- */

typedef struct corpus {
    lg_dataset data;
    uint64_t *ends, *name_ends;
    uint32_t *ids;
    char *names;
} corpus;

static uint64_t fake_seed = 1;

static inline size_t fake_draw(size_t below) {
    fake_seed = fake_seed * 6364136223846793005u + 1442695040888963407u;
    return (size_t)((fake_seed >> 33) % below);
}

/* N_DOCS documents of LENGTH[d] tokens; document d has the tokens that SEED[d] draws, and the name "d<seed>".
 */
static inline corpus make_corpus(size_t n_docs, const size_t *length, const uint64_t *seeds) {
    corpus c = {.ends = calloc(n_docs + 1, sizeof(uint64_t)),
                .name_ends = calloc(n_docs + 1, sizeof(uint64_t))};
    size_t n = 0;
    for (size_t d = 0; d < n_docs; d++) n += length[d];
    c.ids = calloc(n + 1, sizeof *c.ids);
    c.names = calloc(n_docs + 1, 24);
    size_t at = 0, name_at = 0;
    for (size_t d = 0; d < n_docs; d++) {
        fake_seed = seeds[d];
        for (size_t i = 0; i < length[d]; i++) c.ids[at++] = (uint32_t)fake_draw(500);
        c.ends[d] = at;
        name_at += (size_t)sprintf(c.names + name_at, "d%llu", (unsigned long long)seeds[d]);
        c.name_ends[d] = name_at;
    }
    c.data = (lg_dataset){.n_docs = n_docs,
                          .n_tokens = n,
                          .doc_token_end = c.ends,
                          .token_id = c.ids,
                          .max_token_id = 499,
                          .doc_name = c.names,
                          .doc_name_end = c.name_ends};
    return c;
}

static inline void free_corpus(corpus *c) {
    free(c->ends);
    free(c->name_ends);
    free(c->ids);
    free(c->names);
}

/* ---- the scorer ---- */

typedef struct fake {
    size_t calls, rows, inputs, most_inputs; /* so far */
    size_t cancel_after, kill_after;         /* calls; 0: never */
    bool nan;                                /* gives no loss for id 7 */
    lg_scorer scorer;
} fake;

/* The loss of y[i] after y[0 … i-1], a pure function of both. */
static inline float fake_nll(const uint32_t *y, size_t i) {
    return (float)(lg_hash_of(y, (i + 1) * sizeof *y).low % 100000) / 8192.0f;
}

static inline lg_status fake_score(void *context, const lg_row *rows, size_t n_rows, unsigned columns,
                                   const lg_monitor *monitor, lg_error *error) {
    fake *f = context;
    size_t inputs = 0;
    (void)monitor;
    if (f->kill_after && f->calls == f->kill_after) raise(SIGKILL);
    if (f->cancel_after && f->calls == f->cancel_after) return lg_fail(error, LG_CANCELLED, "stop");
    for (size_t r = 0; r < n_rows; r++) {
        const lg_row *row = &rows[r];
        assert_true(row->n >= 2 && row->first >= 1 && row->first < row->n);
        assert_true(!row->entropy == !(columns & LG_COLUMN_ENTROPY));
        assert_true(!row->rank == !(columns & LG_COLUMN_RANK));
        assert_true(!row->top1 == !(columns & LG_COLUMN_TOP1));
        inputs += row->n - 1;
        for (size_t i = row->first; i < row->n; i++) {
            row->nll[i - row->first] = f->nan && row->y[i] == 7 ? 0.0f / 0.0f : fake_nll(row->y, i);
            if (row->entropy) row->entropy[i - row->first] = 2 * fake_nll(row->y, i);
            if (row->rank) row->rank[i - row->first] = (uint32_t)i;
            if (row->top1) row->top1[i - row->first] = row->y[i] + 1;
        }
    }
    f->calls++;
    f->rows += n_rows;
    f->inputs += inputs;
    if (inputs > f->most_inputs) f->most_inputs = inputs;
    assert_true(inputs <= f->scorer.max_tokens || n_rows == 1);
    return LG_OK;
}

static inline double fake_flops(void *context, size_t inputs, size_t scored) {
    (void)context;
    return 10.0 * (double)inputs + (double)scored;
}

static inline lg_scorer *fake_start(fake *f, size_t max_tokens) {
    *f = (fake){
        .scorer = {.vocab_size = 1000, .max_tokens = max_tokens, .score = fake_score, .flops = fake_flops}};
    f->scorer.context = f;
    return &f->scorer;
}

/* ---- files ---- */

static char fake_folder[256];

static inline int fake_enter(void **state) {
    (void)state;
    const char *base = getenv("TMPDIR");
    snprintf(fake_folder, sizeof fake_folder, "%s/lossgap-score-XXXXXX", base ? base : "/tmp");
    return mkdtemp(fake_folder) ? 0 : -1;
}

static inline int fake_leave(void **state) {
    (void)state;
    char command[300];
    snprintf(command, sizeof command, "rm -r '%s'", fake_folder);
    return system(command);
}

/* NAME in the tests' folder; valid to the end. */
static inline const char *in_folder(const char *name) {
    static struct { char name[64], path[400]; } known[64];
    size_t i = 0;
    while (known[i].name[0] && strcmp(known[i].name, name) != 0) i++;
    snprintf(known[i].name, sizeof known[i].name, "%s", name);
    snprintf(known[i].path, sizeof known[i].path, "%s/%s", fake_folder, name);
    return known[i].path;
}

static inline lg_hash file_hash(const char *path) {
    lg_mapping m;
    assert_int_equal(lg_map(path, &m, NULL), LG_OK);
    lg_hash h = lg_hash_of(m.data, m.size);
    lg_unmap(&m);
    return h;
}

static inline void assert_same_file(const char *a, const char *b) {
    assert_true(lg_hash_equal(file_hash(a), file_hash(b)));
}

/* Gathers progress, and cancels if told. */
typedef struct watch {
    uint64_t done, total, reports, cancel_at;
    char note[1024];
} watch;

static inline void watch_progress(void *context, const char *unit, uint64_t done, uint64_t total) {
    watch *w = context;
    (void)unit;
    assert_true(done >= w->done && done <= total);
    w->done = done;
    w->total = total;
    w->reports++;
}

static inline void watch_note(void *context, const char *message) {
    snprintf(((watch *)context)->note, 1024, "%s", message);
}

static inline bool watch_cancelled(void *context) {
    watch *w = context;
    return w->cancel_at && w->done >= w->cancel_at;
}

#endif
