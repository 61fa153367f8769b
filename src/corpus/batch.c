/* Batches of documents: read in order, tokenised side by side. */
#include "corpus/batch.h"

#ifdef _OPENMP
#include <omp.h>
#endif
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* Documents of more tokens keep the arrays that they were tokenised into, and are not copied. */
enum { HUGE_TOKENS = 1 << 20 };

/* Enough that threads rarely wait for each other, little enough to be read again from the cache. */
enum { BATCH_BYTES = 4 << 20, BATCH_DOCUMENTS = 1 << 14 };

typedef struct worker {
    lg_tokenizer_session *session;
    lg_tokens tokens; /* of one document */
    uint32_t *ids;    /* [n] of all its documents in this batch */
    size_t *ends;     /* [n] */
    size_t n, ids_capacity, ends_capacity;
    lg_tokens *huge; /* [n_huge] of huge documents in this batch */
    size_t n_huge, huge_capacity;
    size_t failed; /* document; SIZE_MAX: none */
    lg_error error;
} worker;

static size_t all_processors(void) {
#ifdef _OPENMP
    return (size_t)omp_get_max_threads();
#else
    return 1;
#endif
}

static size_t this_thread(void) {
#ifdef _OPENMP
    return (size_t)omp_get_thread_num();
#else
    return 0;
#endif
}

struct lg_team {
    bool tokenized; /* contents are ids already */
    bool parse_special;
    size_t n;
    worker workers[];
};

void lg_batch_clear(lg_batch *batch) {
    if (batch->content.capacity > 4 * (size_t)BATCH_BYTES) lg_text_free(&batch->content);
    batch->content.length = batch->names.length = 0;
    batch->n = 0;
}

void lg_batch_free(lg_batch *batch) {
    free(batch->documents);
    lg_text_free(&batch->content);
    lg_text_free(&batch->names);
    *batch = (lg_batch){0};
}

bool lg_batch_full(const lg_batch *batch) {
    return batch->content.length >= BATCH_BYTES || batch->n >= BATCH_DOCUMENTS;
}

bool lg_batch_add(lg_batch *batch, const lg_document *document, lg_hash hash, uint64_t index, size_t domain) {
    lg_batch_document d = {.begin = batch->content.length - document->size,
                           .size = document->size,
                           .name_begin = batch->names.length,
                           .name_size = document->name.length,
                           .index = index,
                           .hash = hash,
                           .domain = domain,
                           .kind = document->kind,
                           .lone_surrogates = document->lone_surrogates};
    lg_text_put(&batch->names, document->name.data, document->name.length);
    if (batch->names.failed || !lg_reserve(&batch->documents, &batch->capacity, batch->n + 1, sizeof d))
        return false;
    batch->documents[batch->n++] = d;
    return true;
}

lg_status lg_team_create(const lg_tokenizer *tokenizer, bool parse_special, unsigned threads,
                         lg_team **result, lg_error *error) {
    size_t n = threads ? threads : all_processors();
    lg_team *team = calloc(1, sizeof *team + n * sizeof *team->workers);
    *result = NULL;
    if (!team) return lg_fail_memory(error);
    *team = (lg_team){.tokenized = !tokenizer, .parse_special = parse_special, .n = n};
    lg_status status = LG_OK;
    for (size_t i = 0; tokenizer && i < n && !status; i++)
        status = lg_tokenizer_session_create(tokenizer, &team->workers[i].session, error);
    if (status) {
        lg_team_free(team);
        return status;
    }
    *result = team;
    return LG_OK;
}

static bool is_valid_utf8(const char *text, size_t length) {
    for (size_t i = 0; i < length;) {
        uint64_t eight;
        if (length - i >= sizeof eight) { /* most text is ASCII */
            memcpy(&eight, text + i, sizeof eight);
            if (!(eight & UINT64_C(0x8080808080808080))) {
                i += sizeof eight;
                continue;
            }
        }
        uint32_t c;
        bool valid;
        i += lg_utf8_decode(text + i, length - i, &c, &valid);
        if (!valid) return false;
    }
    return true;
}

static lg_status tokenize_document(const lg_team *team, worker *w, const char *text, lg_batch_document *d) {
    lg_tokens *tokens = &w->tokens;
    lg_status status = lg_tokenize(w->session, text, d->size, team->parse_special, tokens, &w->error);
    if (status) return status;
    d->invalid_utf8 = !is_valid_utf8(text, d->size);
    d->n_tokens = tokens->count;
    if (tokens->count > HUGE_TOKENS) {
        if (!lg_reserve(&w->huge, &w->huge_capacity, w->n_huge + 1, sizeof *w->huge))
            return lg_fail_memory(&w->error);
        w->huge[w->n_huge++] = *tokens;
        d->ids = tokens->ids;
        d->ends = tokens->ends;
        *tokens = (lg_tokens){0};
        return LG_OK;
    }
    if (!lg_reserve(&w->ids, &w->ids_capacity, w->n + tokens->count, sizeof *w->ids) ||
        !lg_reserve(&w->ends, &w->ends_capacity, w->n + tokens->count, sizeof *w->ends))
        return lg_fail_memory(&w->error);
    if (tokens->count) {
        memcpy(w->ids + w->n, tokens->ids, tokens->count * sizeof *tokens->ids);
        memcpy(w->ends + w->n, tokens->ends, tokens->count * sizeof *tokens->ends);
    }
    d->first = w->n;
    w->n += tokens->count;
    return LG_OK;
}

static void start_worker(worker *w) {
    while (w->n_huge) lg_tokens_free(&w->huge[--w->n_huge]);
    w->n = 0;
    w->failed = SIZE_MAX;
}

/* The error of the first document that fails: those before it were tried, as they are handed out in order. */
static lg_status first_error(const lg_team *team, const lg_batch *batch, lg_error *error) {
    const worker *first = NULL;
    for (size_t i = 0; i < team->n; i++) {
        const worker *w = &team->workers[i];
        if (w->failed != SIZE_MAX && (!first || w->failed < first->failed)) first = w;
    }
    if (!first) return LG_OK;
    const lg_batch_document *d = &batch->documents[first->failed];
    int length = d->name_size < 200 ? (int)d->name_size : 200;
    return lg_fail(error, first->error.status, "%.*s: %s", length,
                   length ? batch->names.data + d->name_begin : "", first->error.message);
}

lg_status lg_team_tokenize(lg_team *team, lg_batch *batch, lg_error *error) {
    for (size_t i = 0; i < team->n; i++) start_worker(&team->workers[i]);
    if (team->tokenized) {
        for (size_t i = 0; i < batch->n; i++) {
            lg_batch_document *d = &batch->documents[i];
            d->n_tokens = d->size / sizeof *d->ids;
            d->ids = d->n_tokens ? (const uint32_t *)(const void *)(batch->content.data + d->begin) : NULL;
        }
        return LG_OK;
    }
#pragma omp parallel num_threads((int)team->n)
    {
        worker *w = &team->workers[this_thread()];
#pragma omp for schedule(dynamic)
        for (size_t i = 0; i < batch->n; i++) {
            lg_batch_document *d = &batch->documents[i];
            if (w->failed != SIZE_MAX) continue;
            d->worker = (size_t)(w - team->workers);
            if (tokenize_document(team, w, d->size ? batch->content.data + d->begin : "", d)) w->failed = i;
        }
    }
    lg_status status = first_error(team, batch, error);
    for (size_t i = 0; i < batch->n && !status; i++) { /* the arrays have stopped moving */
        lg_batch_document *d = &batch->documents[i];
        const worker *w = &team->workers[d->worker];
        if (d->ids || !d->n_tokens) continue;
        d->ids = w->ids + d->first;
        d->ends = w->ends + d->first;
    }
    return status;
}

void lg_team_free(lg_team *team) {
    if (!team) return;
    for (size_t i = 0; i < team->n; i++) {
        worker *w = &team->workers[i];
        lg_tokenizer_session_free(w->session);
        start_worker(w);
        free(w->huge);
        lg_tokens_free(&w->tokens);
        free(w->ids);
        free(w->ends);
    }
    free(team);
}
