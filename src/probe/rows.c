/* Tokenises probe items: prompt alone, and with each choice; what comes behind the prompt's tokens is the
   choice's. */
#include "probe/rows.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

enum { BLOCK = 512 }; /* items between two looks at the monitor */

/* A thread's. */
typedef struct reader {
    lg_tokenizer_session *session;
    lg_tokens prompt, joint;
    lg_text text;
    uint32_t *ids; /* of the item at hand */
    size_t capacity;
} reader;

typedef struct job {
    const lg_probe_items *items;
    const lg_probe_reading *how;
    lg_probe_rows *rows;
    bool has[256]; /* tokens for these bytes */
} job;

static void reader_free(reader *r) {
    lg_tokenizer_session_free(r->session);
    lg_tokens_free(&r->prompt);
    lg_tokens_free(&r->joint);
    lg_text_free(&r->text);
    free(r->ids);
}

/* So many of the first tokens are the same in all of the item's choices that have any; IDS: the choices'. */
static size_t shared_tokens(const uint32_t *ids, const uint32_t *tokens, size_t n_choices) {
    const uint32_t *first = NULL;
    size_t shared = 0;
    for (size_t c = 0; c < n_choices; ids += tokens[c++]) {
        if (!tokens[c]) continue;
        if (!first) first = ids, shared = tokens[c];
        size_t same = 0;
        while (same < shared && same < tokens[c] && ids[same] == first[same]) same++;
        shared = same;
    }
    return shared;
}

bool lg_probe_spells(const lg_tokenizer *tokenizer, const uint32_t *ids, size_t n, const char *text,
                     size_t length) {
    for (size_t i = 0; i < n; i++) {
        size_t size;
        const char *bytes = lg_tokenizer_bytes(tokenizer, ids[i], &size);
        if (!bytes || size > length || memcmp(bytes, text, size) != 0) return false;
        text += size;
        length -= size;
    }
    return length == 0;
}

/* Which bytes the vocabulary has tokens for. */
static void find_bytes(const lg_tokenizer *tokenizer, bool has[256]) {
    const size_t n = lg_tokenizer_size(tokenizer);
    memset(has, 0, 256 * sizeof *has);
    for (size_t id = 0; id < n; id++) {
        size_t size;
        const char *bytes = lg_tokenizer_bytes(tokenizer, (uint32_t)id, &size);
        if (bytes && size == 1) has[(unsigned char)*bytes] = true;
    }
}

/* Whether tokens IDS [n] stand for less than CHOICE, for want of tokens for its bytes. What the tokenizer
   takes out or composes by rule is as the model is meant to read it. */
static bool lacks_bytes(const job *j, const uint32_t *ids, size_t n, const lg_probe_choice *choice) {
    if (lg_probe_spells(j->how->tokenizer, ids, n, choice->text, choice->length)) return false;
    for (size_t i = 0; i < choice->length; i++)
        if (!j->has[(unsigned char)choice->text[i]]) return true;
    return false;
}

static lg_status check_ids(const job *j, const lg_probe_item *item, const uint32_t *ids, size_t n,
                           lg_error *error) {
    for (size_t i = 0; i < n; i++)
        if (ids[i] >= j->how->vocabulary)
            return lg_fail(error, LG_BAD_INPUT,
                           "item %s: the tokenizer gives id %u, but the model %s knows %zu: it needs its own "
                           "tokenizer.json",
                           item->id, ids[i], j->how->model, j->how->vocabulary);
    return LG_OK;
}

/* Whether items made for TOKENIZER are for this reading. */
static bool is_meant(const lg_probe_reading *how, const char *tokenizer) {
    if (!tokenizer || strcmp(tokenizer, lg_tokenizer_identity(how->tokenizer)) == 0) return true;
    for (const char *const *also = how->also; also && *also; also++)
        if (strcmp(tokenizer, *also) == 0) return true;
    return false;
}

/* Item I into r->ids and the rows; *N: ids in all. */
static lg_status read_item(const job *j, reader *r, size_t i, size_t *n, lg_error *error) {
    const lg_probe_item *item = lg_probe_item_at(j->items, i);
    lg_probe_ids *of = &j->rows->of[i];
    uint32_t *tokens = j->rows->tokens + j->rows->first[i], longest = 0;
    const size_t prefix = j->how->prefix >= 0 ? 1 : 0;
    bool straddles = false;
    *n = 0;
    if (!is_meant(j->how, item->tokenizer)) {
        j->rows->outcome[i] = LG_PROBE_NOT_MEANT;
        return LG_OK;
    }
    lg_status status = lg_tokenize(r->session, item->prompt, item->prompt_length, false, &r->prompt, error);
    if (status) return status;
    const size_t n_prompt = r->prompt.count;
    of->n_prompt = prefix + n_prompt;
    if (!of->n_prompt)
        return lg_fail(error, LG_BAD_INPUT,
                       "item %s: its prompt has no tokens and there is no prefix: nothing stands before the "
                       "choices",
                       item->id);
    if (!lg_reserve(&r->ids, &r->capacity, of->n_prompt, sizeof *r->ids)) return lg_fail_memory(error);
    if (prefix) r->ids[0] = (uint32_t)j->how->prefix;
    if (n_prompt) memcpy(r->ids + prefix, r->prompt.ids, n_prompt * sizeof *r->ids);
    *n = of->n_prompt;
    for (size_t c = 0; c < item->n_choices; c++) {
        r->text.length = 0;
        lg_text_put(&r->text, item->prompt, item->prompt_length);
        lg_text_put(&r->text, item->choices[c].text, item->choices[c].length);
        if (r->text.failed) return lg_fail_memory(error);
        status = lg_tokenize(r->session, r->text.data, r->text.length, false, &r->joint, error);
        if (status) return status;
        if (r->joint.count < n_prompt ||
            (n_prompt && memcmp(r->joint.ids, r->prompt.ids, n_prompt * sizeof *r->ids) != 0)) {
            straddles = true;
            continue;
        }
        const size_t own = r->joint.count - n_prompt;
        if (!own)
            return lg_fail(error, LG_BAD_INPUT,
                           "item %s: choice %zu has no tokens behind the prompt, so nothing to be scored",
                           item->id, c);
        if (lacks_bytes(j, r->joint.ids + n_prompt, own, &item->choices[c]))
            return lg_fail(error, LG_BAD_INPUT,
                           "item %s: the vocabulary%s%s lacks tokens for choice %zu, so that something else "
                           "would be scored: write it with other characters, or take the item out",
                           item->id, *j->how->model ? " of " : "", j->how->model, c);
        if (own >= UINT32_MAX - *n) return lg_fail_memory(error);
        if (!lg_reserve(&r->ids, &r->capacity, *n + own, sizeof *r->ids)) return lg_fail_memory(error);
        memcpy(r->ids + *n, r->joint.ids + n_prompt, own * sizeof *r->ids);
        *n += own;
        tokens[c] = (uint32_t)own;
        if (tokens[c] > longest) longest = tokens[c];
    }
    if (straddles) j->rows->outcome[i] = LG_PROBE_STRADDLES;
    if (longest && j->how->context && of->n_prompt + longest - 1 > j->how->context) {
        j->rows->outcome[i] = LG_PROBE_TOO_LONG;
        memset(tokens, 0, item->n_choices * sizeof *tokens);
        longest = 0;
    }
    if (!longest) *n = 0; /* nothing to compute */
    of->shared = shared_tokens(r->ids + of->n_prompt, tokens, item->n_choices);
    return check_ids(j, item, r->ids, *n, error);
}

static lg_status make_item(const job *j, reader *r, size_t i, lg_error *error) {
    size_t n;
    lg_status status = read_item(j, r, i, &n, error);
    if (status || !n) return status;
    uint32_t *ids = lg_alloc(n, sizeof *ids);
    if (!ids) return lg_fail_memory(error);
    j->rows->of[i].ids = memcpy(ids, r->ids, n * sizeof *ids);
    return LG_OK;
}

static lg_status allocate(lg_probe_rows *rows, const lg_probe_items *items, lg_error *error) {
    rows->n_items = lg_probe_n_items(items);
    rows->first = lg_alloc(rows->n_items + 1, sizeof *rows->first);
    if (!rows->first) return lg_fail_memory(error);
    rows->first[0] = 0;
    for (size_t i = 0; i < rows->n_items; i++)
        rows->first[i + 1] = rows->first[i] + lg_probe_item_at(items, i)->n_choices;
    rows->n_choices = rows->first[rows->n_items];
    rows->of = calloc(rows->n_items + 1, sizeof *rows->of);
    rows->tokens = calloc(rows->n_choices + 1, sizeof *rows->tokens);
    rows->outcome = calloc(rows->n_items + 1, sizeof *rows->outcome);
    return rows->of && rows->tokens && rows->outcome ? LG_OK : lg_fail_memory(error);
}

/* Items BEGIN … END - 1; returns the first that fails, whichever thread meets one first, or END. One reader
   needs no threads, and no memory that libgomp would take. */
static size_t make_block(const job *j, reader *readers, unsigned n_readers, size_t begin, size_t end) {
    size_t bad = end;
    for (size_t i = begin; n_readers == 1 && i < end; i++)
        if (make_item(j, &readers[0], i, NULL)) return i;
    if (n_readers == 1) return end;
#pragma omp parallel for schedule(dynamic, 8) num_threads(n_readers) reduction(min : bad)
    for (size_t i = begin; i < end; i++)
        if (make_item(j, &readers[omp_get_thread_num()], i, NULL) && i < bad) bad = i;
    return bad;
}

lg_status lg_probe_rows_make(const lg_probe_items *items, const lg_probe_reading *how,
                             const lg_monitor *monitor, lg_probe_rows *rows, lg_error *error) {
    *rows = (lg_probe_rows){0};
    job j = {.items = items, .how = how, .rows = rows};
    find_bytes(how->tokenizer, j.has);
    const unsigned n_readers = how->threads ? how->threads : (unsigned)omp_get_num_procs();
    reader *readers = NULL;
    lg_status status = allocate(rows, items, error);
    if (status) goto done;
    readers = calloc(n_readers, sizeof *readers);
    if (!readers) status = lg_fail_memory(error);
    for (unsigned i = 0; i < n_readers && !status; i++)
        status = lg_tokenizer_session_create(how->tokenizer, &readers[i].session, error);
    for (size_t begin = 0; begin < rows->n_items && !status; begin += BLOCK) {
        const size_t end = rows->n_items - begin < BLOCK ? rows->n_items : begin + BLOCK;
        if (lg_is_cancelled(monitor)) status = lg_fail(error, LG_CANCELLED, "stopped");
        if (status) break;
        const size_t bad = make_block(&j, readers, n_readers, begin, end);
        if (bad < end) {
            status = make_item(&j, &readers[0], bad, error);
            if (!status) status = lg_fail_memory(error); /* it was short, and is not any more */
            break;
        }
        lg_progress(monitor, "items", end, rows->n_items);
    }
done:
    for (unsigned i = 0; readers && i < n_readers; i++) reader_free(&readers[i]);
    free(readers);
    if (status) lg_probe_rows_free(rows);
    return status;
}

void lg_probe_rows_free(lg_probe_rows *rows) {
    for (size_t i = 0; rows->of && i < rows->n_items; i++) free(rows->of[i].ids);
    free(rows->of);
    free(rows->first);
    free(rows->tokens);
    free(rows->outcome);
    *rows = (lg_probe_rows){0};
}

static bool same_row(const lg_probe_rows *a, const lg_probe_rows *b, size_t i) {
    const lg_probe_ids *x = &a->of[i], *y = &b->of[i];
    const size_t first = a->first[i], n_choices = a->first[i + 1] - first;
    size_t n = x->n_prompt;
    if (a->outcome[i] != b->outcome[i] || x->n_prompt != y->n_prompt ||
        memcmp(a->tokens + first, b->tokens + first, n_choices * sizeof *a->tokens) != 0)
        return false;
    for (size_t c = 0; c < n_choices; c++) n += a->tokens[first + c];
    return !x->ids == !y->ids && (!x->ids || memcmp(x->ids, y->ids, n * sizeof *x->ids) == 0);
}

lg_status lg_probe_same_tokens(const lg_probe_items *items, const lg_tokenizer *a, const lg_tokenizer *b,
                               unsigned threads, const lg_monitor *monitor, bool *same, lg_error *error) {
    const char *const identities[] = {lg_tokenizer_identity(a), NULL};
    /* something stands in front, so that no prompt is refused as empty */
    lg_probe_reading how = {.tokenizer = a, .vocabulary = SIZE_MAX, .model = "", .threads = threads};
    lg_probe_rows x = {0}, y = {0};
    *same = strcmp(lg_tokenizer_identity(a), lg_tokenizer_identity(b)) == 0;
    if (*same) return LG_OK;
    lg_status status = lg_probe_rows_make(items, &how, monitor, &x, error);
    how.tokenizer = b;
    how.also = identities;
    if (status) goto done;
    lg_error why = {0};
    status = lg_probe_rows_make(items, &how, monitor, &y, &why);
    *same = !status;
    if (status == LG_BAD_INPUT) status = LG_OK; /* what B cannot make tokens of, it makes other ones of */
    else if (status && error) *error = why;
    for (size_t i = 0; i < x.n_items && *same; i++)
        *same = x.outcome[i] == LG_PROBE_NOT_MEANT || same_row(&x, &y, i);
done:
    lg_probe_rows_free(&x);
    lg_probe_rows_free(&y);
    return status;
}
