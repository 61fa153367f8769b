/* Tags a dataset: runs every family over every document and writes layers and token columns, a batch of
   documents at a time; then the copy features of `paper` windows, which cross documents. */
#ifdef _OPENMP
#include <omp.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/memory.h"
#include "store/table_writer.h"
#include "lossgap/tag.h"
#include "tag/tag_internal.h"

enum {
    VERSION = 1,
    BATCH_TOKENS = 1 << 18, /* a batch ends once it has so many tokens, bytes, or documents */
    BATCH_BYTES = 1 << 21,
    BATCH_DOCUMENTS = 4096,
    DEFAULT_WINDOW = 8192,
};

#ifdef _OPENMP
static int this_thread(void) {
    return omp_get_thread_num();
}

static unsigned processors(void) {
    return (unsigned)omp_get_num_procs();
}
#else /* fuzzers: one thread */
static int this_thread(void) {
    return 0;
}

static unsigned processors(void) {
    return 1;
}
#endif

bool lg_spans_add(lg_spans *s, uint64_t begin, uint64_t end, uint16_t tag) {
    if (s->count == s->capacity) {
        size_t begins = s->capacity, ends = s->capacity, tags = s->capacity;
        if (!lg_reserve(&s->begin, &begins, s->count + 1, sizeof *s->begin) ||
            !lg_reserve(&s->end, &ends, s->count + 1, sizeof *s->end) ||
            !lg_reserve(&s->tag, &tags, s->count + 1, sizeof *s->tag))
            return false;
        s->capacity = tags;
    }
    s->begin[s->count] = begin;
    s->end[s->count] = end;
    s->tag[s->count++] = tag;
    return true;
}

void lg_spans_free(lg_spans *s) {
    free(s->begin);
    free(s->end);
    free(s->tag);
    *s = (lg_spans){0};
}

bool lg_tag_fill_first(const lg_tag_document *d, const lg_spans *spans, void *const *columns) {
    uint8_t *out = columns[0];
    for (size_t i = 0, s = 0; i < d->n_tokens; i++) {
        size_t at = lg_tag_token_first(d, i);
        while (s < spans->count && spans->end[s] <= at) s++;
        bool inside = at < lg_tag_token_end(d, i) && s < spans->count && spans->begin[s] <= at;
        out[i] = inside ? (uint8_t)(spans->tag[s] + 1) : 0;
    }
    return true;
}

/* A family at work: where its layer and columns go in the file, and a batch of the columns' values. */
typedef struct work {
    const lg_tag_family *family;
    size_t layer[3]; /* begin, end, tag */
    size_t n_columns, column[LG_TAG_MAX_COLUMNS];
    void *values[LG_TAG_MAX_COLUMNS]; /* [batch's tokens] */
    lg_spans *spans;                  /* [BATCH_DOCUMENTS], reused */
} work;

/* What a thread needs for itself. */
typedef struct worker {
    lg_copy *copy;
    uint8_t *classes; /* of one document's bytes */
    size_t classes_room;
    uint32_t *ids; /* of one window, with its separators */
    bool *is_break;
    uint16_t *copy_len;
    uint32_t *distance;
} worker;

typedef struct tagger {
    const lg_dataset *data;
    lg_table_writer *writer;
    const lg_monitor *monitor;
    lg_error *error;
    work *works;
    size_t n_works, tokens_room;
    worker *workers;
    unsigned threads;
    size_t window, window_column[2];
} tagger;

static lg_status add_columns(tagger *t) {
    lg_status status = LG_OK;
    for (size_t w = 0; w < t->n_works && !status; w++) {
        work *k = &t->works[w];
        static const char *const parts[] = {"begin", "end", "tag"};
        for (size_t p = 0; k->family->tags && p < 3 && !status; p++) {
            char name[64];
            snprintf(name, sizeof name, "%s.%s", k->family->name, parts[p]);
            status = lg_table_writer_add(t->writer, name, p < 2 ? LG_U64 : LG_U16, 1, &k->layer[p], t->error);
        }
        for (size_t c = 0; c < LG_TAG_MAX_COLUMNS && k->family->columns[c].name && !status; c++) {
            const lg_tag_column *column = &k->family->columns[c];
            status = lg_table_writer_add(t->writer, column->name, column->dtype, 1, &k->column[c], t->error);
            k->n_columns++;
        }
    }
    if (!status)
        status = lg_table_writer_add(t->writer, "copy_len_window", LG_U16, 1, &t->window_column[0], t->error);
    if (!status)
        status =
            lg_table_writer_add(t->writer, "prev_distance_window", LG_U32, 1, &t->window_column[1], t->error);
    return status;
}

/* A stretch of documents or windows that is worked on together. */
typedef struct stretch {
    size_t first;   /* document or window */
    uint64_t token; /* its first */
    uint16_t *copy_len;
    uint32_t *distance; /* windows: values of the stretch's tokens */
} stretch;

/* Item I of the stretch ON. false: no memory. */
typedef bool work_on(const tagger *t, worker *own, size_t i, const stretch *on);

/* Spreads N items over the threads. One thread works without a team, whose making cannot fail softly. */
static bool for_each(const tagger *t, size_t n, work_on *run, const stretch *on) {
    bool failed = false;
    if (t->threads == 1) {
        for (size_t i = 0; i < n && !failed; i++) failed = !run(t, &t->workers[0], i, on);
        return !failed;
    }
#pragma omp parallel for schedule(dynamic) num_threads((int)t->threads) reduction(|| : failed)
    for (size_t i = 0; i < n; i++) failed = !run(t, &t->workers[this_thread()], i, on) || failed;
    return !failed;
}

/* All families over document I; their token values go to the batch's arrays. */
static bool tag_document(const tagger *t, worker *own, size_t i, const stretch *on) {
    const lg_dataset *data = t->data;
    size_t doc = on->first + i;
    size_t first_token = lg_begin_of(data->doc_token_end, doc),
           first_byte = lg_begin_of(data->doc_text_end, doc);
    lg_tag_document d = {
        .text = data->text ? data->text + first_byte : NULL,
        .n_bytes = (size_t)(data->doc_text_end[doc] - first_byte),
        .kind = (lg_kind)data->doc_kind[doc],
        .ids = data->token_id + first_token,
        .ends = data->token_end + first_token,
        .offset = first_byte,
        .n_tokens = (size_t)(data->doc_token_end[doc] - first_token),
        .copy = own->copy,
    };
    if (data->has_text) {
        if (!lg_reserve(&own->classes, &own->classes_room, d.n_bytes, 1)) return false;
        lg_classify(d.text, d.n_bytes, own->classes);
        d.classes = own->classes;
    }
    for (size_t w = 0; w < t->n_works; w++) {
        work *k = &t->works[w];
        lg_spans *spans = &k->spans[i];
        spans->count = 0;
        if (k->family->make_spans && !k->family->make_spans(&d, spans)) return false;
        void *columns[LG_TAG_MAX_COLUMNS] = {0};
        for (size_t c = 0; c < k->n_columns; c++)
            columns[c] = (char *)k->values[c] +
                         (first_token - (size_t)on->token) * lg_dtype_size(k->family->columns[c].dtype);
        if (!k->family->fill(&d, spans, columns)) return false;
        for (size_t s = 0; s < spans->count; s++) { /* from here on in the whole text */
            spans->begin[s] += first_byte;
            spans->end[s] += first_byte;
        }
    }
    return true;
}

static lg_status write_batch(tagger *t, size_t n_docs, size_t n_tokens) {
    lg_status status = LG_OK;
    for (size_t w = 0; w < t->n_works && !status; w++) {
        work *k = &t->works[w];
        for (size_t d = 0; k->family->tags && d < n_docs && !status; d++) {
            const lg_spans *s = &k->spans[d];
            status = lg_table_writer_append(t->writer, k->layer[0], s->begin, s->count, t->error);
            if (!status) status = lg_table_writer_append(t->writer, k->layer[1], s->end, s->count, t->error);
            if (!status) status = lg_table_writer_append(t->writer, k->layer[2], s->tag, s->count, t->error);
        }
        for (size_t c = 0; c < k->n_columns && !status; c++)
            status = lg_table_writer_append(t->writer, k->column[c], k->values[c], n_tokens, t->error);
    }
    return status;
}

static lg_status tag_documents(tagger *t) {
    const lg_dataset *data = t->data;
    for (size_t doc = 0; doc < data->n_docs;) {
        if (lg_is_cancelled(t->monitor)) return LG_CANCELLED;
        size_t begin = doc;
        uint64_t token = lg_begin_of(data->doc_token_end, begin),
                 byte = lg_begin_of(data->doc_text_end, begin);
        do doc++;
        while (doc < data->n_docs && doc - begin < BATCH_DOCUMENTS &&
               data->doc_token_end[doc - 1] - token < BATCH_TOKENS &&
               data->doc_text_end[doc - 1] - byte < BATCH_BYTES);
        size_t n_docs = doc - begin, n_tokens = (size_t)(data->doc_token_end[doc - 1] - token);
        if (n_tokens > t->tokens_room) {
            for (size_t w = 0; w < t->n_works; w++)
                for (size_t c = 0; c < t->works[w].n_columns; c++) {
                    void **values = &t->works[w].values[c];
                    free(*values);
                    *values = lg_alloc(n_tokens, lg_dtype_size(t->works[w].family->columns[c].dtype));
                    if (!*values) return t->tokens_room = 0, lg_fail_memory(t->error);
                }
            t->tokens_room = n_tokens;
        }
        stretch batch = {.first = begin, .token = token};
        if (!for_each(t, n_docs, tag_document, &batch)) return lg_fail_memory(t->error);
        lg_status status = write_batch(t, n_docs, n_tokens);
        if (status) return status;
        lg_progress(t->monitor, "tokens", data->doc_token_end[doc - 1], data->n_tokens);
    }
    return LG_OK;
}

/* Where document DOC's separator stands in the stream: each document's tokens, and one separator after them.
 */
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

/* Copy features of window I; those of its tokens go to the stretch's arrays. */
static bool tag_window(const tagger *t, worker *own, size_t i, const stretch *on) {
    const lg_dataset *data = t->data;
    uint64_t begin = (uint64_t)(on->first + i) * t->window, end = (uint64_t)data->n_tokens + data->n_docs;
    size_t n = end - begin < t->window ? (size_t)(end - begin) : t->window, doc = document_at(data, begin);
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
        on->distance[out++] = own->distance[k];
    }
    return true;
}

static lg_status tag_windows(tagger *t) {
    const lg_dataset *data = t->data;
    uint64_t elements = (uint64_t)data->n_tokens + data->n_docs;
    if (t->window > elements) t->window = (size_t)elements + !elements;
    size_t per_batch = BATCH_TOKENS / t->window + !(BATCH_TOKENS / t->window);
    size_t n_windows = (size_t)((elements + t->window - 1) / t->window);
    size_t room;
    lg_status status = LG_OK;
    if (!lg_multiply(per_batch, t->window, &room)) return lg_fail_memory(t->error);
    uint16_t *copy_len = lg_alloc(room, sizeof *copy_len);
    uint32_t *distance = lg_alloc(room, sizeof *distance);
    bool failed = !copy_len || !distance;
    for (unsigned i = 0; i < t->threads && !failed; i++) {
        worker *k = &t->workers[i];
        k->ids = lg_alloc(t->window, sizeof *k->ids);
        k->is_break = lg_alloc(t->window, sizeof *k->is_break);
        k->copy_len = lg_alloc(t->window, sizeof *k->copy_len);
        k->distance = lg_alloc(t->window, sizeof *k->distance);
        failed = !k->ids || !k->is_break || !k->copy_len || !k->distance;
    }
    if (failed) status = lg_fail_memory(t->error);
    for (size_t first = 0; first < n_windows && !status; first += per_batch) {
        size_t n = n_windows - first < per_batch ? n_windows - first : per_batch;
        uint64_t begin = tokens_before(data, (uint64_t)first * t->window);
        if (lg_is_cancelled(t->monitor)) {
            status = LG_CANCELLED;
            break;
        }
        stretch windows = {first, begin, copy_len, distance};
        if (!for_each(t, n, tag_window, &windows)) {
            status = lg_fail_memory(t->error);
            break;
        }
        size_t count = (size_t)(tokens_before(data, (uint64_t)(first + n) * t->window) - begin);
        status = lg_table_writer_append(t->writer, t->window_column[0], copy_len, count, t->error);
        if (!status)
            status = lg_table_writer_append(t->writer, t->window_column[1], distance, count, t->error);
        lg_progress(t->monitor, "windows", first + n, n_windows);
    }
    free(copy_len);
    free(distance);
    return status;
}

static void put_names(lg_json_writer *w, const char *key, const char *const *names) {
    lg_json_put_key(w, key);
    lg_json_put_array(w);
    for (; *names; names++) lg_json_put_text(w, *names);
    lg_json_end_array(w);
}

static bool applies(const lg_tag_family *family, const lg_dataset *data) {
    return data->has_text || !family->needs_text;
}

/* What changes the numbers, and what the numbers mean. */
static void describe(const lg_dataset *data, size_t window, lg_text *settings) {
    lg_json_writer w = {.out = settings};
    lg_json_put_object(&w);
    lg_json_put_key(&w, "window");
    lg_json_put_unsigned(&w, window);
    lg_json_put_key(&w, "layers");
    lg_json_put_object(&w);
    for (size_t i = 0; lg_tag_families[i]; i++)
        if (applies(lg_tag_families[i], data) && lg_tag_families[i]->tags)
            put_names(&w, lg_tag_families[i]->name, lg_tag_families[i]->tags);
    lg_json_end_object(&w);
    lg_json_put_key(&w, "levels");
    lg_json_put_object(&w);
    for (size_t i = 0; lg_tag_families[i]; i++) {
        if (!applies(lg_tag_families[i], data)) continue;
        for (size_t c = 0; c < LG_TAG_MAX_COLUMNS && lg_tag_families[i]->columns[c].name; c++)
            if (lg_tag_families[i]->columns[c].levels)
                put_names(&w, lg_tag_families[i]->columns[c].name, lg_tag_families[i]->columns[c].levels);
    }
    lg_json_end_object(&w);
    lg_json_end_object(&w);
}

/* What they were made of. */
static void describe_inputs(const lg_dataset *data, lg_text *inputs) {
    lg_json_writer w = {.out = inputs};
    lg_json_put_object(&w);
    lg_json_put_key(&w, "dataset");
    lg_json_put_text(&w, lg_table_provenance(data->table)->identity);
    lg_json_end_object(&w);
}

lg_status lg_tag_is_current(const char *path, const lg_dataset *data, const lg_tag_options *options,
                            bool *current, lg_error *error) {
    lg_text settings = {0}, inputs = {0};
    lg_table *tags = NULL;
    *current = false;
    describe(data, options->window ? options->window : DEFAULT_WINDOW, &settings);
    describe_inputs(data, &inputs);
    lg_status status = settings.failed || inputs.failed ? lg_fail_memory(error) : LG_OK;
    if (!status) {
        lg_error unread = {0}; /* a file that cannot be read is made again */
        status = lg_table_open(path, "tags", &tags, &unread);
        if (!status) {
            const lg_provenance *p = lg_table_provenance(tags);
            *current = p->version == VERSION && strcmp(p->settings, settings.data) == 0 &&
                       strcmp(p->inputs, inputs.data) == 0;
        } else if (status == LG_BAD_INPUT) {
            status = LG_OK;
        } else {
            *error = unread;
        }
    }
    lg_table_close(tags);
    lg_text_free(&settings);
    lg_text_free(&inputs);
    return status;
}

static lg_status commit(tagger *t, size_t window, const char *command) {
    lg_text settings = {0}, inputs = {0};
    describe(t->data, window, &settings);
    describe_inputs(t->data, &inputs);
    lg_status status;
    if (settings.failed || inputs.failed) {
        status = lg_fail_memory(t->error);
    } else {
        lg_provenance provenance = {.format = "tags",
                                    .version = VERSION,
                                    .command = command,
                                    .inputs = inputs.data,
                                    .settings = settings.data};
        status = lg_table_writer_commit(t->writer, &provenance, NULL, t->error);
        t->writer = NULL;
    }
    lg_text_free(&settings);
    lg_text_free(&inputs);
    return status;
}

static void free_tagger(tagger *t) {
    lg_table_writer_discard(t->writer);
    for (size_t w = 0; w < t->n_works; w++) {
        for (size_t c = 0; c < t->works[w].n_columns; c++) free(t->works[w].values[c]);
        for (size_t d = 0; t->works[w].spans && d < BATCH_DOCUMENTS; d++)
            lg_spans_free(&t->works[w].spans[d]);
        free(t->works[w].spans);
    }
    free(t->works);
    for (unsigned i = 0; t->workers && i < t->threads; i++) {
        worker *k = &t->workers[i];
        lg_copy_free(k->copy);
        free(k->classes);
        free(k->ids);
        free(k->is_break);
        free(k->copy_len);
        free(k->distance);
    }
    free(t->workers);
}

lg_status lg_tag_run(const lg_dataset *data, const lg_tag_options *options, const char *out,
                     const lg_monitor *monitor, lg_error *error) {
    size_t window = options->window ? options->window : DEFAULT_WINDOW, n_families = 0;
    if (window >= (size_t)1 << 31) return lg_fail(error, LG_USAGE, "a window has fewer than 2^31 tokens");
    while (lg_tag_families[n_families]) n_families++;
    tagger t = {.data = data,
                .monitor = monitor,
                .error = error,
                .window = window,
                .threads = options->threads ? options->threads : processors()};
    t.works = calloc(n_families, sizeof *t.works);
    t.workers = calloc(t.threads, sizeof *t.workers);
    lg_status status = t.works && t.workers ? LG_OK : lg_fail_memory(error);
    for (size_t i = 0; i < n_families && !status; i++) {
        if (!applies(lg_tag_families[i], data)) continue;
        work *k = &t.works[t.n_works++];
        k->family = lg_tag_families[i];
        k->spans = calloc(BATCH_DOCUMENTS, sizeof *k->spans);
        if (!k->spans) status = lg_fail_memory(error);
    }
    for (unsigned i = 0; i < t.threads && !status; i++)
        if (!(t.workers[i].copy = lg_copy_create())) status = lg_fail_memory(error);
    if (!status) status = lg_table_may_replace(out, "tags", error);
    if (!status) status = lg_table_writer_create(out, &t.writer, error);
    if (!status) status = add_columns(&t);
    if (!status) status = tag_documents(&t);
    if (!status) status = tag_windows(&t);
    if (!status) status = commit(&t, window, options->command);
    free_tagger(&t);
    return status;
}
