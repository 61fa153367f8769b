/* Tags a dataset: runs every maker over every document, a batch of documents at a time, and writes layers and
   token columns; then the columns of `paper` windows, which cross documents. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "store/table_writer.h"
#include "tag/run.h"

enum {
    VERSION = LG_TABLE_VERSION,
    BATCH_TOKENS = 1 << 18, /* a batch ends once it has so many tokens, bytes, or documents */
    BATCH_BYTES = 1 << 21,
    BATCH_DOCUMENTS = 4096,
    DEFAULT_WINDOW = 8192,
};

#ifdef _OPENMP
#include <omp.h>

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

bool lg_tag_for_each(unsigned threads, size_t n, lg_tag_item *run, const void *shared) {
    bool failed = false;
    if (threads == 1) { /* without a team, whose making cannot fail softly */
        for (size_t i = 0; i < n && !failed; i++) failed = !run(shared, 0, i);
        return !failed;
    }
#pragma omp parallel for schedule(dynamic) num_threads((int)threads) reduction(|| : failed)
    for (size_t i = 0; i < n; i++) failed = !run(shared, (unsigned)this_thread(), i) || failed;
    return !failed;
}

/* ---- what is made ---- */

bool lg_tag_applies(const lg_tag_maker *maker, const lg_tag_context *context) {
    for (const char *const *name = context->options->without; name && *name; name++)
        if (strcmp(*name, maker->name) == 0) return false;
    return !context->data || context->data->has_text || !maker->needs_text;
}

/* Refuses to leave out what is not there, or what others build on. */
static lg_status check_without(const lg_tag_options *options, lg_error *error) {
    for (const char *const *name = options->without; name && *name; name++) {
        lg_text names = {0};
        bool found = false;
        for (size_t m = 0; lg_tag_makers[m]; m++) {
            const lg_tag_maker *maker = lg_tag_makers[m];
            if (maker == &lg_maker_brown || maker == &lg_maker_code) continue;
            found |= strcmp(*name, maker->name) == 0;
            lg_text_printf(&names, "%s%s", names.length ? ", " : "", maker->name);
        }
        lg_status status = found ? LG_OK
                           : names.failed
                               ? lg_fail_memory(error)
                               : lg_fail(error, LG_USAGE, "cannot tag without '%s'; what can be left out: %s",
                                         *name, names.data);
        lg_text_free(&names);
        if (status) return status;
    }
    return LG_OK;
}

void lg_tag_close_makers(lg_tag_context *context) {
    for (size_t i = 0; lg_tag_makers[i]; i++) {
        if (context->state[i] && lg_tag_makers[i]->close) lg_tag_makers[i]->close(context->state[i]);
        context->state[i] = NULL;
    }
}

lg_status lg_tag_open_makers(const lg_dataset *data, const lg_tag_options *options, lg_tag_context *context,
                             lg_error *error) {
    *context = (lg_tag_context){.data = data, .options = options};
    lg_status status = check_without(options, error);
    for (size_t i = 0; lg_tag_makers[i] && !status; i++)
        if (lg_tag_makers[i]->open && lg_tag_applies(lg_tag_makers[i], context))
            status = lg_tag_makers[i]->open(lg_tag_makers[i], context, &context->state[i], error);
    if (status) lg_tag_close_makers(context);
    return status;
}

/* ---- a batch of documents ---- */

/* Documents FIRST … FIRST + N_DOCS - 1. */
typedef struct batch {
    lg_tag_context context;
    size_t first, n_docs, token, n_tokens, byte;
    uint8_t *classes; /* of the batch's bytes */
    size_t classes_room;
    size_t n_makers, making;          /* the maker at work */
    lg_spans *layers;                 /* [documents, n_makers] */
    void *values[LG_TAG_MAX_COLUMNS]; /* [n_tokens] of the maker at work */
    size_t values_room[LG_TAG_MAX_COLUMNS];
    void **scratch; /* [threads, n_makers] */
    unsigned threads;
} batch;

static void free_batch(batch *b, size_t documents) {
    for (size_t i = 0; b->scratch && i < b->threads * b->n_makers; i++)
        if (b->scratch[i]) lg_tag_makers[i % b->n_makers]->stop(b->scratch[i]);
    free(b->scratch);
    for (size_t i = 0; b->layers && i < documents * b->n_makers; i++) lg_spans_free(&b->layers[i]);
    free(b->layers);
    for (size_t c = 0; c < LG_TAG_MAX_COLUMNS; c++) free(b->values[c]);
    free(b->classes);
    lg_tag_close_makers(&b->context);
}

/* Opens the makers for DATA, and what each of THREADS needs; for batches of at most DOCUMENTS. */
static lg_status open_batch(const lg_dataset *data, const lg_tag_options *options, unsigned threads,
                            size_t documents, batch *b, lg_error *error) {
    *b = (batch){.threads = threads};
    lg_status status = lg_tag_open_makers(data, options, &b->context, error);
    if (status) return status;
    while (lg_tag_makers[b->n_makers]) b->n_makers++;
    b->layers = calloc(documents * b->n_makers, sizeof *b->layers);
    b->scratch = calloc(threads * b->n_makers, sizeof *b->scratch);
    if (!b->layers || !b->scratch) return lg_fail_memory(error);
    for (size_t i = 0; i < threads * b->n_makers; i++) {
        const lg_tag_maker *maker = lg_tag_makers[i % b->n_makers];
        if (!maker->start || !lg_tag_applies(maker, &b->context)) continue;
        b->scratch[i] = maker->start(b->context.state[i % b->n_makers]);
        if (!b->scratch[i]) return lg_fail_memory(error);
    }
    return LG_OK;
}

static lg_tag_document document_of(const batch *b, size_t i) {
    const lg_dataset *data = b->context.data;
    size_t doc = b->first + i, token = (size_t)lg_begin_of(data->doc_token_end, doc),
           byte = (size_t)lg_begin_of(data->doc_text_end, doc);
    return (lg_tag_document){
        .context = &b->context,
        .text = data->text ? data->text + byte : NULL,
        .classes = b->classes ? b->classes + (byte - b->byte) : NULL,
        .n_bytes = (size_t)data->doc_text_end[doc] - byte,
        .kind = (lg_kind)data->doc_kind[doc],
        .ids = data->token_id + token,
        .ends = data->token_end + token,
        .offset = byte,
        .n_tokens = (size_t)data->doc_token_end[doc] - token,
        .layers = &b->layers[i * b->n_makers],
    };
}

static bool classify(const void *shared, unsigned thread, size_t i) {
    (void)thread;
    const batch *b = shared;
    lg_tag_document d = document_of(b, i);
    lg_classify(d.text, d.n_bytes, b->classes + (d.offset - b->byte));
    return true;
}

/* The maker at work over document I of the batch. */
static bool make(const void *shared, unsigned thread, size_t i) {
    const batch *b = shared;
    const lg_tag_maker *maker = lg_tag_makers[b->making];
    lg_tag_document d = document_of(b, i);
    lg_spans *spans = &b->layers[i * b->n_makers + b->making];
    d.scratch = b->scratch[thread * b->n_makers + b->making];
    spans->count = 0;
    if (maker->make_spans && !maker->make_spans(maker, &d, spans)) return false;
    void *columns[LG_TAG_MAX_COLUMNS] = {0};
    for (size_t c = 0; c < LG_TAG_MAX_COLUMNS && maker->columns[c].name; c++)
        columns[c] = (char *)b->values[c] +
                     ((size_t)lg_begin_of(b->context.data->doc_token_end, b->first + i) - b->token) *
                         lg_dtype_size(maker->columns[c].dtype);
    return maker->fill(maker, &d, spans, columns);
}

static bool start_batch(batch *b, size_t first, size_t n_docs) {
    const lg_dataset *data = b->context.data;
    b->first = first;
    b->n_docs = n_docs;
    b->token = (size_t)lg_begin_of(data->doc_token_end, first);
    b->byte = (size_t)lg_begin_of(data->doc_text_end, first);
    b->n_tokens = (size_t)data->doc_token_end[first + n_docs - 1] - b->token;
    if (!data->has_text) return true;
    size_t bytes = (size_t)data->doc_text_end[first + n_docs - 1] - b->byte;
    return lg_reserve(&b->classes, &b->classes_room, bytes, 1) &&
           lg_tag_for_each(b->threads, n_docs, classify, b);
}

/* Maker PLACE over all documents of the batch. */
static bool make_all(batch *b, size_t place) {
    b->making = place;
    for (size_t c = 0; c < LG_TAG_MAX_COLUMNS && lg_tag_makers[place]->columns[c].name; c++)
        if (!lg_reserve(&b->values[c], &b->values_room[c], b->n_tokens, sizeof(uint64_t))) return false;
    return lg_tag_for_each(b->threads, b->n_docs, make, b);
}

lg_status lg_tag_one(const lg_dataset *data, size_t doc, const lg_tag_options *options,
                     void *(*values)[LG_TAG_MAX_COLUMNS], lg_error *error) {
    batch b;
    lg_status status = open_batch(data, options, 1, 1, &b, error);
    if (!status && !start_batch(&b, doc, 1)) status = lg_fail_memory(error);
    for (size_t m = 0; m < b.n_makers && !status; m++) {
        if (!lg_tag_applies(lg_tag_makers[m], &b.context)) continue;
        if (!make_all(&b, m)) status = lg_fail_memory(error);
        for (size_t c = 0; c < LG_TAG_MAX_COLUMNS && lg_tag_makers[m]->columns[c].name; c++) {
            values[m][c] = b.values[c];
            b.values[c] = NULL;
            b.values_room[c] = 0;
        }
    }
    free_batch(&b, 1);
    return status;
}

/* ---- the file ---- */

/* Where a maker's layer and columns go. */
typedef struct place_in_file {
    size_t layer[3], column[LG_TAG_MAX_COLUMNS]; /* layer: begin, end, tag */
} place_in_file;

static lg_status add_columns(const lg_tag_context *context, place_in_file *places, lg_table_writer *writer,
                             lg_error *error) {
    static const char *const parts[] = {"begin", "end", "tag"};
    lg_status status = LG_OK;
    for (size_t m = 0; lg_tag_makers[m] && !status; m++) {
        const lg_tag_maker *maker = lg_tag_makers[m];
        if (!lg_tag_applies(maker, context)) continue;
        for (size_t p = 0; lg_tag_names(maker, context->state[m]) && p < 3 && !status; p++) {
            char name[64];
            snprintf(name, sizeof name, "%s.%s", maker->name, parts[p]);
            status =
                lg_table_writer_add(writer, name, p < 2 ? LG_U64 : LG_U16, 1, &places[m].layer[p], error);
        }
        for (size_t c = 0; c < LG_TAG_MAX_COLUMNS && maker->columns[c].name && !status; c++)
            status = lg_table_writer_add(writer, maker->columns[c].name, maker->columns[c].dtype, 1,
                                         &places[m].column[c], error);
    }
    return status;
}

/* The spans of one document, in bytes of the whole text. */
static lg_status write_spans(lg_spans *s, uint64_t offset, const place_in_file *place,
                             lg_table_writer *writer, lg_error *error) {
    enum { BLOCK = 1024 };
    uint64_t block[BLOCK];
    lg_status status = lg_table_writer_append(writer, place->layer[2], s->tag, s->count, error);
    for (int part = 0; part < 2; part++) {
        const uint64_t *at = part ? s->end : s->begin;
        for (size_t i = 0; i < s->count && !status; i += BLOCK) {
            size_t n = s->count - i < BLOCK ? s->count - i : BLOCK;
            for (size_t k = 0; k < n; k++) block[k] = at[i + k] + offset;
            status = lg_table_writer_append(writer, place->layer[part], block, n, error);
        }
    }
    return status;
}

/* What maker PLACE made of the batch. Spans that nothing builds on are given back where they are many. */
static lg_status write_made(batch *b, size_t m, const place_in_file *place, lg_table_writer *writer,
                            lg_error *error) {
    const lg_tag_maker *maker = lg_tag_makers[m];
    lg_status status = LG_OK;
    for (size_t i = 0; lg_tag_names(maker, b->context.state[m]) && i < b->n_docs && !status; i++) {
        lg_spans *spans = &b->layers[i * b->n_makers + m];
        status = write_spans(spans, document_of(b, i).offset, place, writer, error);
        if (spans->capacity > BATCH_BYTES && maker != &lg_maker_brown && maker != &lg_maker_code)
            lg_spans_free(spans);
    }
    for (size_t c = 0; c < LG_TAG_MAX_COLUMNS && maker->columns[c].name && !status; c++)
        status = lg_table_writer_append(writer, place->column[c], b->values[c], b->n_tokens, error);
    return status;
}

static lg_status tag_documents(batch *b, const place_in_file *places, lg_table_writer *writer,
                               const lg_monitor *monitor, lg_error *error) {
    const lg_dataset *data = b->context.data;
    for (size_t doc = 0; doc < data->n_docs;) {
        size_t first = doc;
        uint64_t token = lg_begin_of(data->doc_token_end, first),
                 byte = lg_begin_of(data->doc_text_end, first);
        do doc++;
        while (doc < data->n_docs && doc - first < BATCH_DOCUMENTS &&
               data->doc_token_end[doc - 1] - token < BATCH_TOKENS &&
               data->doc_text_end[doc - 1] - byte < BATCH_BYTES);
        if (!start_batch(b, first, doc - first)) return lg_fail_memory(error);
        for (size_t m = 0; m < b->n_makers; m++) {
            if (lg_is_cancelled(monitor)) return LG_CANCELLED;
            if (!lg_tag_applies(lg_tag_makers[m], &b->context)) continue;
            if (!make_all(b, m)) return lg_fail_memory(error);
            lg_status status = write_made(b, m, &places[m], writer, error);
            if (status) return status;
        }
        lg_progress(monitor, "tokens", data->doc_token_end[doc - 1], data->n_tokens);
    }
    return LG_OK;
}

/* Names of the values of a column from BEFORE (NULL: none) and NAMES on. */
static void put_names(lg_json_writer *w, const char *key, const char *before, const char *const *names) {
    lg_json_put_key(w, key);
    lg_json_put_array(w);
    if (before) lg_json_put_text(w, before);
    for (; *names; names++) lg_json_put_text(w, *names);
    lg_json_end_array(w);
}

static size_t window_of(const lg_tag_options *options) {
    return options->window ? options->window : DEFAULT_WINDOW;
}

/* What changes the numbers, and what the numbers mean. */
static void describe(const lg_tag_context *context, lg_text *settings) {
    lg_json_writer w = {.out = settings};
    lg_json_put_object(&w);
    lg_json_put_key(&w, "window");
    lg_json_put_unsigned(&w, window_of(context->options));
    lg_json_put_key(&w, "multi");
    lg_json_put_text(&w, lg_multi_names[context->options->multi]);
    for (size_t m = 0; lg_tag_makers[m]; m++)
        if (lg_tag_makers[m]->describe && lg_tag_applies(lg_tag_makers[m], context))
            lg_tag_makers[m]->describe(context->state[m], &w);
    lg_json_put_key(&w, "layers");
    lg_json_put_object(&w);
    for (size_t m = 0; lg_tag_makers[m]; m++) {
        const lg_tag_maker *maker = lg_tag_makers[m];
        const char *const *tags =
            lg_tag_applies(maker, context) ? lg_tag_names(maker, context->state[m]) : NULL;
        if (tags) put_names(&w, maker->name, NULL, tags);
    }
    lg_json_end_object(&w);
    lg_json_put_key(&w, "levels");
    lg_json_put_object(&w);
    for (size_t m = 0; lg_tag_makers[m]; m++) {
        const lg_tag_maker *maker = lg_tag_makers[m];
        for (size_t c = 0; lg_tag_applies(maker, context) && c < LG_TAG_MAX_COLUMNS && maker->columns[c].name;
             c++) {
            const char *before, *const *levels =
                                    lg_tag_levels(maker, context->state[m], &maker->columns[c], &before);
            if (levels) put_names(&w, maker->columns[c].name, before, levels);
        }
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
    lg_tag_context context;
    *current = false;
    lg_status status = lg_tag_open_makers(data, options, &context, error);
    if (status) return status;
    describe(&context, &settings);
    describe_inputs(data, &inputs);
    if (settings.failed || inputs.failed) status = lg_fail_memory(error);
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
    lg_tag_close_makers(&context);
    lg_table_close(tags);
    lg_text_free(&settings);
    lg_text_free(&inputs);
    return status;
}

/* Consumes the writer. */
static lg_status commit(const lg_tag_context *context, lg_table_writer *writer, lg_error *error) {
    lg_text settings = {0}, inputs = {0};
    lg_status status;
    describe(context, &settings);
    describe_inputs(context->data, &inputs);
    if (settings.failed || inputs.failed) {
        lg_table_writer_discard(writer);
        status = lg_fail_memory(error);
    } else {
        lg_provenance provenance = {.format = "tags",
                                    .version = VERSION,
                                    .command = context->options->command,
                                    .inputs = inputs.data,
                                    .settings = settings.data};
        status = lg_table_writer_commit(writer, &provenance, NULL, error);
    }
    lg_text_free(&settings);
    lg_text_free(&inputs);
    return status;
}

lg_status lg_tag_run(const lg_dataset *data, const lg_tag_options *options, const char *out,
                     const lg_monitor *monitor, lg_error *error) {
    place_in_file places[LG_MAX_TAG_MAKERS];
    lg_table_writer *writer = NULL;
    unsigned threads = options->threads ? options->threads : processors();
    if (window_of(options) >= (size_t)1 << 31)
        return lg_fail(error, LG_USAGE, "a window has fewer than 2^31 tokens");
    lg_status status = lg_table_may_replace(out, "tags", error);
    if (status) return status;
    batch b;
    status = open_batch(data, options, threads, BATCH_DOCUMENTS, &b, error);
    if (!status) status = lg_table_writer_create(out, &writer, error);
    if (!status) status = add_columns(&b.context, places, writer, error);
    if (!status) status = tag_documents(&b, places, writer, monitor, error);
    if (!status) status = lg_tag_windows(data, window_of(options), threads, writer, monitor, error);
    if (!status) {
        status = commit(&b.context, writer, error);
        writer = NULL;
    }
    lg_table_writer_discard(writer);
    free_batch(&b, BATCH_DOCUMENTS);
    return status;
}
