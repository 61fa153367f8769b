/* Losses over spans: walks over the spans that all tokenisations of a text share, adds up each model's losses
   in them, and writes a dataset of spans and scores over it. */
#include "lossgap/align.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/memory.h"
#include "score/align_internal.h"

enum { BLOCK = 4096 }; /* spans that are written together */

/* The losses of one model in the spans of a block. */
typedef struct model_block {
    float nll[BLOCK];
    uint32_t tokens[BLOCK];
    size_t nll_column, tokens_column, context_column; /* in its writer */
} model_block;

typedef struct aligner {
    lg_align_plan plan;
    lg_table_writer *spans;   /* NULL: they are there */
    lg_table_writer **scores; /* [n] */
    struct {
        size_t text, doc_text_end, doc_token_end, doc_kind, doc_domain, doc_name, doc_name_end, token_id,
            token_end;
    } column;
    lg_span_track *tracks; /* [n_data] */
    lg_types types;

    /* the block at hand */
    size_t count;
    uint64_t begin[BLOCK], end[BLOCK];
    uint32_t id[BLOCK], context[BLOCK];
    model_block *models; /* [n] */

    uint64_t *doc_end; /* ends of the spans of the document at hand */
    size_t n_doc, doc_room;
    lg_align_summary summary;
    lg_align_count *counts; /* [n] */
    uint64_t *seen;         /* [n] of the span at hand: the byte from which on a model saw the document */
} aligner;

/* ---- writing ---- */

static lg_status create_writers(aligner *a, const char *data_out, const char *const *scores_out,
                                lg_error *error) {
    const struct {
        const char *name;
        lg_dtype dtype;
        size_t *column;
    } all[] = {
        {"text", LG_U8, &a->column.text},
        {"doc_text_end", LG_U64, &a->column.doc_text_end},
        {"doc_token_end", LG_U64, &a->column.doc_token_end},
        {"doc_kind", LG_U8, &a->column.doc_kind},
        {"doc_domain", LG_U16, &a->column.doc_domain},
        {"doc_name", LG_U8, &a->column.doc_name},
        {"doc_name_end", LG_U64, &a->column.doc_name_end},
        {"token_id", LG_U32, &a->column.token_id},
        {"token_end", LG_U64, &a->column.token_end},
    };
    bool there;
    lg_status status = lg_align_data_is_current(&a->plan, data_out, &there, error);
    if (!status && !there) status = lg_table_writer_create(data_out, &a->spans, error);
    for (size_t i = 0; i < sizeof all / sizeof *all && a->spans && !status; i++)
        status = lg_table_writer_add(a->spans, all[i].name, all[i].dtype, 1, all[i].column, error);
    for (size_t m = 0; m < a->plan.n_scores && !status; m++) {
        model_block *b = &a->models[m];
        if ((status = lg_table_writer_create(scores_out[m], &a->scores[m], error)) ||
            (status = lg_table_writer_add(a->scores[m], "nll", LG_F32, 1, &b->nll_column, error)) ||
            (status = lg_table_writer_add(a->scores[m], "context", LG_U32, 1, &b->context_column, error)))
            break;
        status = lg_table_writer_add(a->scores[m], "tokens", LG_U32, 1, &b->tokens_column, error);
    }
    return status;
}

/* What the spans have from the datasets as it is. */
static lg_status write_text(aligner *a, lg_error *error) {
    const lg_dataset *d = a->plan.data[0];
    const size_t names = d->n_docs ? (size_t)d->doc_name_end[d->n_docs - 1] : 0;
    const struct {
        size_t column;
        const void *values;
        size_t count;
    } all[] = {
        {a->column.text, d->text, d->n_bytes},        {a->column.doc_text_end, d->doc_text_end, d->n_docs},
        {a->column.doc_kind, d->doc_kind, d->n_docs}, {a->column.doc_domain, d->doc_domain, d->n_docs},
        {a->column.doc_name, d->doc_name, names},     {a->column.doc_name_end, d->doc_name_end, d->n_docs},
    };
    lg_status status = LG_OK;
    for (size_t i = 0; i < sizeof all / sizeof *all && a->spans && !status; i++)
        if (all[i].count)
            status = lg_table_writer_append(a->spans, all[i].column, all[i].values, all[i].count, error);
    return status;
}

static lg_status flush(aligner *a, lg_error *error) {
    size_t n = a->count;
    if (!n) return LG_OK;
    lg_status status = LG_OK;
    if (a->spans) {
        if (!lg_types_number(&a->types, a->plan.data[0]->text, a->begin, a->end, n, a->id))
            return lg_fail_memory(error);
        status = lg_table_writer_append(a->spans, a->column.token_id, a->id, n, error);
        if (!status) status = lg_table_writer_append(a->spans, a->column.token_end, a->end, n, error);
    }
    for (size_t m = 0; m < a->plan.n_scores && !status; m++) {
        const model_block *b = &a->models[m];
        if ((status = lg_table_writer_append(a->scores[m], b->nll_column, b->nll, n, error)) ||
            (status = lg_table_writer_append(a->scores[m], b->context_column, a->context, n, error)))
            break;
        status = lg_table_writer_append(a->scores[m], b->tokens_column, b->tokens, n, error);
    }
    a->count = 0;
    return status;
}

/* ---- a span ---- */

/* What a model has in a span. */
typedef struct share {
    double nll;    /* NaN: a token has no loss, or there is no token */
    uint64_t seen; /* the byte from which on it saw the document, at the last token to see so little */
} share;

/* Model M in the span at hand, of document DOC. Losses are added in order, from the first one: a span of one
   token has its loss, to the bit. */
static share share_of(const aligner *a, size_t m, size_t doc) {
    const lg_dataset *d = a->plan.data[a->plan.track_of[m]];
    const lg_span_track *t = &a->tracks[a->plan.track_of[m]];
    const lg_scores *s = a->plan.sources[m].scores;
    const size_t first = (size_t)lg_begin_of(d->doc_token_end, doc);
    size_t hidden = 0; /* tokens at the document's begin that it did not see */
    share x = {t->last > t->first ? (double)s->nll[first + t->first] : (double)NAN, 0};
    for (size_t i = t->first; i < t->last; i++) {
        if (i > t->first) x.nll += (double)s->nll[first + i];
        if (s->context[first + i] < i && i - s->context[first + i] > hidden)
            hidden = i - s->context[first + i];
    }
    x.seen = hidden ? t->ends[hidden - 1] : lg_begin_of(d->doc_text_end, doc);
    return x;
}

/* Spans of the document before the last one that begin at byte SEEN or later. */
static uint32_t spans_since(const aligner *a, uint64_t doc_begin, uint64_t seen) {
    size_t before = a->n_doc - 1, low = 0, high = before;
    if (seen <= doc_begin) return (uint32_t)before;
    while (low < high) { /* the first that ends at SEEN or later: the next one begins there */
        size_t middle = low + (high - low) / 2;
        if (a->doc_end[middle] < seen) low = middle + 1;
        else high = middle;
    }
    return (uint32_t)(before - low - 1); /* SEEN is no later than the end of the last but one */
}

static lg_status take_span(aligner *a, size_t doc, uint64_t begin, uint64_t end, lg_error *error) {
    const uint64_t doc_begin = lg_begin_of(a->plan.data[0]->doc_text_end, doc);
    size_t k = a->count++;
    bool missing = false, uneven = false, one = true;
    uint64_t seen = 0;
    a->begin[k] = begin;
    a->end[k] = end;
    for (size_t t = 0; t < a->plan.n_data; t++) one &= a->tracks[t].last - a->tracks[t].first == 1;
    for (size_t m = 0; m < a->plan.n_scores; m++) {
        const lg_span_track *t = &a->tracks[a->plan.track_of[m]];
        share x = share_of(a, m, doc);
        if (fabs(x.nll) > (double)FLT_MAX)
            return lg_fail(error, LG_BAD_INPUT,
                           "%s: the losses of bytes %llu to %llu add up beyond all numbers",
                           lg_table_path(a->plan.sources[m].scores->table), (unsigned long long)begin,
                           (unsigned long long)end);
        a->models[m].nll[k] = (float)x.nll;
        a->models[m].tokens[k] = (uint32_t)(t->last - t->first);
        a->counts[m].missing += isnan(x.nll) != 0;
        missing |= isnan(x.nll);
        if (x.seen > begin) x.seen = begin;
        a->seen[m] = x.seen;
        uneven |= x.seen != a->seen[0];
        if (x.seen > seen) seen = x.seen;
    }
    a->context[k] = missing ? 0 : spans_since(a, doc_begin, seen);
    a->summary.one_token += one;
    a->summary.unscorable += missing;
    a->summary.uneven += uneven && !missing;
    for (size_t m = 0; m < a->plan.n_scores; m++) {
        if (missing) a->models[m].nll[k] = NAN; /* models are compared over the same spans */
        else a->counts[m].cut += a->seen[m] > doc_begin;
    }
    return a->count == BLOCK ? flush(a, error) : LG_OK;
}

/* ---- all of them ---- */

static lg_status take_document(aligner *a, size_t doc, lg_error *error) {
    uint64_t begin = lg_begin_of(a->plan.data[0]->doc_text_end, doc);
    const uint64_t stop = a->plan.data[0]->doc_text_end[doc];
    bool tokens = false;
    a->n_doc = 0;
    for (size_t t = 0; t < a->plan.n_data; t++) {
        const lg_dataset *d = a->plan.data[t];
        size_t first = (size_t)lg_begin_of(d->doc_token_end, doc), n = (size_t)d->doc_token_end[doc] - first;
        lg_span_start(&a->tracks[t], d->token_end + first, n, begin);
        tokens |= n > 0;
    }
    while (tokens && begin < stop) {
        uint64_t end = lg_span_next(a->tracks, a->plan.n_data, begin, stop);
        if (!lg_reserve(&a->doc_end, &a->doc_room, a->n_doc + 1, sizeof *a->doc_end))
            return lg_fail_memory(error);
        a->doc_end[a->n_doc++] = end;
        a->summary.spans++;
        lg_status status = take_span(a, doc, begin, end, error);
        if (status) return status;
        begin = end;
    }
    if (!a->spans) return LG_OK;
    return lg_table_writer_append(a->spans, a->column.doc_token_end, &a->summary.spans, 1, error);
}

static lg_status take_documents(aligner *a, const lg_monitor *monitor, lg_error *error) {
    enum { STEP = 1 << 20 };
    const lg_dataset *d = a->plan.data[0];
    uint64_t told = 0;
    lg_status status = LG_OK;
    for (size_t doc = 0; doc < d->n_docs && !status; doc++) {
        status = take_document(a, doc, error);
        if (status || d->doc_text_end[doc] - told < STEP) continue;
        told = d->doc_text_end[doc];
        lg_progress(monitor, "bytes", told, d->n_bytes);
        if (lg_is_cancelled(monitor)) status = lg_fail(error, LG_CANCELLED, "stopped; nothing was written");
    }
    return status ? status : flush(a, error);
}

static void put_number(lg_json_writer *w, const char *key, uint64_t value) {
    lg_json_put_key(w, key);
    lg_json_put_unsigned(w, value);
}

static lg_status commit_spans(aligner *a, const char *command, lg_error *error) {
    lg_text settings = {0}, inputs = {0}, about = {0};
    lg_json_writer w = {.out = &about};
    lg_align_put_data_settings(&a->plan, &settings);
    lg_align_put_data_inputs(&a->plan, &inputs);
    lg_json_put_object(&w);
    put_number(&w, "documents", a->summary.documents);
    put_number(&w, "spans", a->summary.spans);
    put_number(&w, "types", a->types.count);
    put_number(&w, "bytes", a->summary.bytes);
    put_number(&w, "one_token_in_all", a->summary.one_token);
    lg_json_put_key(&w, "tokens");
    lg_json_put_object(&w); /* of each dataset */
    for (size_t t = 0; t < a->plan.n_data; t++)
        put_number(&w, lg_table_provenance(a->plan.data[t]->table)->identity, a->plan.data[t]->n_tokens);
    lg_json_end_object(&w);
    lg_json_end_object(&w);
    lg_status status = settings.failed || inputs.failed || about.failed ? lg_fail_memory(error) : LG_OK;
    if (!status) {
        const lg_provenance provenance = {.format = "dataset",
                                          .version = 1,
                                          .command = command ? command : "",
                                          .inputs = inputs.data,
                                          .settings = settings.data};
        status = lg_table_writer_commit(a->spans, &provenance, about.data, error);
        a->spans = NULL;
    }
    lg_text_free(&settings);
    lg_text_free(&inputs);
    lg_text_free(&about);
    return status;
}

/* DATASET, TOKENS: identities of the spans. */
static lg_status commit_scores(aligner *a, size_t m, const char *dataset, const char *tokens,
                               const char *command, lg_error *error) {
    lg_text settings = {0}, inputs = {0}, about = {0};
    lg_json_writer w = {.out = &about};
    bool good = lg_align_put_score_settings(&a->plan, m, &settings);
    lg_align_put_score_inputs(&a->plan, m, dataset, tokens, &inputs);
    lg_json_put_object(&w);
    put_number(&w, "spans", a->summary.spans);
    put_number(&w, "scored", a->summary.spans - a->summary.unscorable);
    put_number(&w, "unscorable", a->summary.unscorable);
    put_number(&w, "uneven", a->summary.uneven);
    put_number(&w, "tokens", a->counts[m].tokens);
    put_number(&w, "missing", a->counts[m].missing);
    put_number(&w, "cut", a->counts[m].cut);
    lg_json_end_object(&w);
    lg_status status = good && !inputs.failed && !about.failed ? LG_OK : lg_fail_memory(error);
    if (!status) {
        const lg_provenance provenance = {.format = "scores",
                                          .version = LG_SCORE_VERSION,
                                          .command = command ? command : "",
                                          .inputs = inputs.data,
                                          .settings = settings.data};
        status = lg_table_writer_commit(a->scores[m], &provenance, about.data, error);
        a->scores[m] = NULL;
    }
    lg_text_free(&settings);
    lg_text_free(&inputs);
    lg_text_free(&about);
    return status;
}

/* What nobody should have to find out alone. */
static void tell(const aligner *a, const lg_monitor *monitor) {
    const lg_align_summary *s = &a->summary;
    if (s->unscorable)
        lg_note(monitor, "%llu of %llu spans have no loss, because some model has none there",
                (unsigned long long)s->unscorable, (unsigned long long)s->spans);
    if (s->uneven)
        lg_note(
            monitor,
            "before %llu of %llu spans the models saw different parts of the document, whose windows are as "
            "long in tokens, not in bytes; 'context = position' is true of those before which all saw all of "
            "it",
            (unsigned long long)s->uneven, (unsigned long long)s->spans);
}

static lg_status commit(aligner *a, const char *data_out, const char *command, lg_error *error) {
    lg_dataset data = {0};
    char tokens[33];
    lg_status status = a->spans ? commit_spans(a, command, error) : LG_OK;
    if (!status) status = lg_dataset_open(data_out, &data, error);
    if (!status) a->summary.types = data.n_tokens ? (uint64_t)data.max_token_id + 1 : 0;
    if (!status && !lg_score_tokens_identity(&data, tokens)) status = lg_fail_memory(error);
    for (size_t m = 0; m < a->plan.n_scores && !status; m++)
        status = commit_scores(a, m, lg_table_provenance(data.table)->identity, tokens, command, error);
    lg_dataset_close(&data);
    return status;
}

/* Refuses to replace what is no result of this: a dataset of tokens and its scores may be hours of work. */
static lg_status check_outputs(const char *data_out, const char *const *scores_out, size_t n,
                               lg_error *error) {
    lg_error unread;
    lg_dataset data;
    lg_score_table scores;
    lg_status status = lg_table_may_replace(data_out, "dataset", error);
    if (!status && !lg_dataset_open(data_out, &data, &unread)) {
        if (!data.spans)
            status = lg_fail(
                error, LG_USAGE,
                "%s holds a dataset of tokens, and would be overwritten by one of spans: choose another "
                "place",
                data_out);
        lg_dataset_close(&data);
    }
    for (size_t m = 0; m < n && !status; m++) {
        status = lg_table_may_replace(scores_out[m], "scores", error);
        if (status || lg_score_table_open(scores_out[m], &scores, &unread)) continue;
        if (!scores.settings.spans)
            status =
                lg_fail(error, LG_USAGE,
                        "%s holds losses over tokens, and would be overwritten by losses over spans: choose "
                        "another place",
                        scores_out[m]);
        lg_score_table_close(&scores);
    }
    return status;
}

lg_status lg_align_run(const lg_align_source *sources, size_t n, const char *data_out,
                       const char *const *scores_out, const char *command, lg_align_summary *summary,
                       lg_align_count *counts, const lg_monitor *monitor, lg_error *error) {
    aligner *a = calloc(1, sizeof *a);
    if (!a) return lg_fail_memory(error);
    lg_status status = lg_align_plan_make(sources, n, &a->plan, error);
    if (!status) status = check_outputs(data_out, scores_out, a->plan.n_scores, error);
    if (!status) status = lg_align_check_texts(&a->plan, error);
    if (status) goto done;
    a->tracks = calloc(a->plan.n_data, sizeof *a->tracks);
    a->models = calloc(n, sizeof *a->models);
    a->scores = calloc(n, sizeof *a->scores);
    a->counts = calloc(n, sizeof *a->counts);
    a->seen = calloc(n, sizeof *a->seen);
    if (!a->tracks || !a->models || !a->scores || !a->counts || !a->seen) {
        status = lg_fail_memory(error);
        goto done;
    }
    a->summary.documents = a->plan.data[0]->n_docs;
    a->summary.bytes = a->plan.data[0]->n_bytes;
    for (size_t m = 0; m < n; m++) a->counts[m].tokens = a->plan.data[a->plan.track_of[m]]->n_tokens;
    if ((status = create_writers(a, data_out, scores_out, error)) || (status = write_text(a, error)) ||
        (status = take_documents(a, monitor, error)))
        goto done;
    tell(a, monitor);
    status = commit(a, data_out, command, error);
    if (!status && summary) *summary = a->summary;
    if (!status && counts) memcpy(counts, a->counts, n * sizeof *counts);
done:
    lg_table_writer_discard(a->spans);
    for (size_t m = 0; a->scores && m < n; m++) lg_table_writer_discard(a->scores[m]);
    lg_types_free(&a->types);
    lg_align_plan_free(&a->plan);
    free(a->tracks);
    free(a->models);
    free(a->scores);
    free(a->counts);
    free(a->seen);
    free(a->doc_end);
    free(a);
    return status;
}
