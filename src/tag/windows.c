/* Copy features and positions in `paper` windows: the dataset as one stream, each document's tokens and one
   separator after them, cut into rows. */
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "tag/run.h"

enum { BATCH_TOKENS = 1 << 18 };

/* What a thread needs for itself: one window with its separators. */
typedef struct worker {
    lg_copy *copy;
    uint32_t *ids, *distance; /* [window] */
    bool *is_break;
    uint16_t *copy_len;
} worker;

/* A stretch of windows, and the values of its tokens. */
typedef struct stretch {
    const lg_dataset *data;
    size_t window, first;
    uint64_t token; /* the stretch's first */
    uint16_t *copy_len;
    uint32_t *distance, *position;
    worker *workers;
} stretch;

/* Where document DOC's separator stands in the stream. */
static uint64_t separator(const lg_dataset *data, size_t doc) {
    return data->doc_token_end[doc] + doc;
}

/* The document that element AT of the stream belongs to. */
static size_t document_at(const lg_dataset *data, uint64_t at) {
    size_t low = 0, high = data->n_docs - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (separator(data, middle) < at) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* Tokens before element AT of the stream. */
static uint64_t tokens_before(const lg_dataset *data, uint64_t at) {
    return at < data->n_tokens + data->n_docs ? at - document_at(data, at) : data->n_tokens;
}

/* Window I of the stretch; its tokens' values go to the stretch's arrays. */
static bool tag_window(const void *shared, unsigned thread, size_t i) {
    const stretch *on = shared;
    const lg_dataset *data = on->data;
    worker *own = &on->workers[thread];
    uint64_t begin = (uint64_t)(on->first + i) * on->window, end = (uint64_t)data->n_tokens + data->n_docs;
    size_t n = end - begin < on->window ? (size_t)(end - begin) : on->window, doc = document_at(data, begin);
    size_t out = (size_t)(tokens_before(data, begin) - on->token);
    for (size_t k = 0; k < n; k++) {
        own->is_break[k] = begin + k == separator(data, doc);
        own->ids[k] = own->is_break[k] ? 0 : data->token_id[begin + k - doc];
        doc += own->is_break[k];
    }
    if (!lg_copy_features(own->copy, own->ids, own->is_break, n, own->copy_len, own->distance)) return false;
    for (size_t k = 0; k < n; k++) {
        if (own->is_break[k]) continue;
        on->copy_len[out] = own->copy_len[k];
        on->position[out] = (uint32_t)k;
        on->distance[out++] = own->distance[k];
    }
    return true;
}

static bool start_worker(worker *k, size_t window) {
    k->copy = lg_copy_create();
    k->ids = lg_alloc(window, sizeof *k->ids);
    k->is_break = lg_alloc(window, sizeof *k->is_break);
    k->copy_len = lg_alloc(window, sizeof *k->copy_len);
    k->distance = lg_alloc(window, sizeof *k->distance);
    return k->copy && k->ids && k->is_break && k->copy_len && k->distance;
}

lg_status lg_tag_windows(const lg_dataset *data, size_t window, unsigned threads, lg_table_writer *writer,
                         const lg_monitor *monitor, lg_error *error) {
    uint64_t elements = (uint64_t)data->n_tokens + data->n_docs;
    if (window > elements) window = (size_t)elements + !elements;
    size_t per_batch = BATCH_TOKENS / window + !(BATCH_TOKENS / window), room, columns[3];
    size_t n_windows = (size_t)((elements + window - 1) / window);
    if (!lg_multiply(per_batch, window, &room)) return lg_fail_memory(error);
    stretch on = {.data = data,
                  .window = window,
                  .copy_len = lg_alloc(room, sizeof *on.copy_len),
                  .distance = lg_alloc(room, sizeof *on.distance),
                  .position = lg_alloc(room, sizeof *on.position),
                  .workers = calloc(threads, sizeof *on.workers)};
    bool good = on.copy_len && on.distance && on.position && on.workers;
    for (unsigned i = 0; i < threads && good; i++) good = start_worker(&on.workers[i], window);
    lg_status status = good ? LG_OK : lg_fail_memory(error);
    if (!status) status = lg_table_writer_add(writer, "copy_len_window", LG_U16, 1, &columns[0], error);
    if (!status) status = lg_table_writer_add(writer, "prev_distance_window", LG_U32, 1, &columns[1], error);
    if (!status) status = lg_table_writer_add(writer, "position_window", LG_U32, 1, &columns[2], error);
    for (; on.first < n_windows && !status; on.first += per_batch) {
        size_t n = n_windows - on.first < per_batch ? n_windows - on.first : per_batch;
        on.token = tokens_before(data, (uint64_t)on.first * window);
        size_t count = (size_t)(tokens_before(data, (uint64_t)(on.first + n) * window) - on.token);
        if (lg_is_cancelled(monitor)) status = LG_CANCELLED;
        else if (!lg_tag_for_each(threads, n, tag_window, &on)) status = lg_fail_memory(error);
        if (!status) status = lg_table_writer_append(writer, columns[0], on.copy_len, count, error);
        if (!status) status = lg_table_writer_append(writer, columns[1], on.distance, count, error);
        if (!status) status = lg_table_writer_append(writer, columns[2], on.position, count, error);
        lg_progress(monitor, "windows", on.first + n, n_windows);
    }
    for (unsigned i = 0; on.workers && i < threads; i++) {
        worker *k = &on.workers[i];
        lg_copy_free(k->copy);
        free(k->ids);
        free(k->is_break);
        free(k->copy_len);
        free(k->distance);
    }
    free(on.workers);
    free(on.copy_len);
    free(on.distance);
    free(on.position);
    return status;
}
