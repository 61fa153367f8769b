/* Windows: how a dataset is cut into rows that a model sees, and which tokens each row accounts for.

   document: y = [prefix] + the document's tokens, n = |y|. Row k holds y[k s] … y[min(n, k s + L + 1) - 1];
   row 0 scores all but its first element, a later row what no earlier one has scored. paper: one stream of
   every document's tokens, each followed by a separator; rows of L elements; a row's first token and the
   separators are not scored. */
#include "score/windows.h"

#include <string.h>

#include "base/error.h"

enum { DEFAULT_CONTEXT = 8192 };

lg_status lg_window_settings_make(const lg_score_options *options, size_t max_positions, int64_t prefix,
                                  lg_window_settings *settings, lg_error *error) {
    bool paper = options->windows == LG_WINDOWS_PAPER;
    size_t context = options->context;
    if (!context)
        context = max_positions && max_positions < DEFAULT_CONTEXT ? max_positions : DEFAULT_CONTEXT;
    size_t stride = options->stride;
    if (!stride) stride = context > 1 ? context / 2 : 1;
    if (context >= UINT32_MAX)
        return lg_fail(error, LG_USAGE, "a context of %zu tokens is more than can be counted (%u)", context,
                       UINT32_MAX - 1);
    if (stride > context)
        return lg_fail(error, LG_USAGE,
                       "a stride of %zu would leave tokens out between rows of %zu: give --stride 1 … %zu",
                       stride, context, context);
    if (paper && options->stride)
        return lg_fail(error, LG_USAGE,
                       "paper windows do not overlap: --stride goes with --windows document");
    if (paper && context < 2)
        return lg_fail(error, LG_USAGE, "paper windows of one token score nothing: give --context 2 or more");
    if (paper && prefix < 0)
        return lg_fail(
            error, LG_USAGE,
            "paper windows put a separator after each document, but no prefix token is known: give "
            "--prefix ID");
    *settings = (lg_window_settings){options->windows, context, paper ? 0 : stride, prefix};
    return LG_OK;
}

void lg_window_start(lg_window_walk *walk, const lg_window_settings *settings, const lg_dataset *data) {
    *walk = (lg_window_walk){.settings = settings, .data = data};
}

static uint64_t tokens_of(const lg_dataset *data, size_t doc) {
    return data->doc_token_end[doc] - lg_begin_of(data->doc_token_end, doc);
}

static bool next_in_document(lg_window_walk *walk, lg_window *window) {
    const lg_dataset *data = walk->data;
    const lg_window_settings *settings = walk->settings;
    uint64_t prefix = settings->prefix >= 0;
    while (walk->doc < data->n_docs &&
           (!tokens_of(data, walk->doc) || walk->scored == tokens_of(data, walk->doc) + prefix)) {
        walk->doc++; /* empty, or its last row reached the end */
        walk->offset = walk->scored = 0;
    }
    if (walk->doc == data->n_docs) return false;
    uint64_t n = tokens_of(data, walk->doc) + prefix, start = walk->offset;
    uint64_t end = n - start > settings->context ? start + settings->context + 1 : n;
    uint64_t begin = lg_begin_of(data->doc_token_end, walk->doc);
    *window = (lg_window){
        .begin = start ? begin + walk->scored - prefix : begin,
        .end = begin + end - prefix,
        .token = start ? begin + start - prefix : begin,
        .doc = walk->doc,
        .n = (uint32_t)(end - start),
        .first = start ? (uint32_t)(walk->scored - start) : 1,
        .prefix = prefix && !start,
    };
    walk->offset = start + settings->stride;
    walk->scored = end;
    return true;
}

static bool next_in_stream(lg_window_walk *walk, lg_window *window) {
    const lg_dataset *data = walk->data;
    while (walk->doc < data->n_docs) {
        uint64_t token = lg_begin_of(data->doc_token_end, walk->doc) + walk->offset;
        *window = (lg_window){.begin = token, .end = token, .token = token, .doc = walk->doc, .first = 1};
        size_t room = walk->settings->context;
        while (room && walk->doc < data->n_docs) {
            uint64_t n = tokens_of(data, walk->doc), left = n - walk->offset;
            if (left) { /* tokens, then in the next turn the separator */
                uint64_t taken = left < room ? left : room;
                window->end += taken;
                walk->offset += taken;
                window->n += (uint32_t)taken;
                room -= taken;
            } else {
                window->n++;
                room--;
                walk->doc++;
                walk->offset = 0;
            }
        }
        if (window->end > window->begin) return true; /* else: nothing but separators */
    }
    return false;
}

bool lg_window_next(lg_window_walk *walk, lg_window *window) {
    return walk->settings->kind == LG_WINDOWS_PAPER ? next_in_stream(walk, window)
                                                    : next_in_document(walk, window);
}

size_t lg_window_longest(const lg_window_settings *settings, const lg_dataset *data) {
    uint64_t longest = 0, stream = 0;
    for (size_t d = 0; d < data->n_docs; d++) {
        uint64_t n = tokens_of(data, d);
        stream += n + 1;
        if (n && n + (settings->prefix >= 0) > longest) longest = n + (settings->prefix >= 0);
    }
    bool paper = settings->kind == LG_WINDOWS_PAPER;
    uint64_t most = paper ? settings->context : settings->context + 1;
    if (paper) longest = stream;
    return longest < most ? longest : most;
}

size_t lg_window_elements(const lg_window_settings *settings, const lg_dataset *data, const lg_window *window,
                          uint32_t *y, uint32_t *position) {
    size_t owned = window->end - window->begin, n = window->n;
    if (settings->kind == LG_WINDOWS_DOCUMENT) {
        if (window->prefix) y[0] = (uint32_t)settings->prefix;
        memcpy(y + window->prefix, data->token_id + window->token, (n - window->prefix) * sizeof *y);
        for (size_t i = 0; i < owned; i++) position[i] = (uint32_t)(n - owned + i);
    } else {
        uint64_t token = window->token;
        size_t doc = window->doc;
        for (size_t i = 0, k = 0; i < n; i++) {
            if (token < data->doc_token_end[doc]) {
                position[k++] = (uint32_t)i;
                y[i] = data->token_id[token++];
            } else {
                y[i] = (uint32_t)settings->prefix;
                doc++;
            }
        }
    }
    return owned - (position[0] < window->first); /* only the first can lack a context */
}

lg_hash lg_window_hash(const lg_window *window, const uint32_t *y, const uint32_t *position,
                       lg_hasher *hasher) {
    uint64_t head[4] = {window->n, window->first, window->end - window->begin, 0};
    lg_hasher_reset(hasher);
    lg_hasher_add(hasher, head, sizeof head);
    lg_hasher_add(hasher, y, window->n * sizeof *y);
    lg_hasher_add(hasher, position, (size_t)head[2] * sizeof *position);
    return lg_hasher_value(hasher);
}
