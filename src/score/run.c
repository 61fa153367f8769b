/* Scheduling: which rows are wanted, in which batches they are computed, and how their results become a score
   file.

   Results go to the journal as they come and are read from there when the score file is written in dataset
   order, so memory holds one batch, and some 100 bytes for each row that is still to be computed. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "score/journal.h"
#include "score/row_index.h"
#include "score/scorer.h"

typedef struct wanted_row {
    lg_window window;
    lg_hash hash;
} wanted_row;

typedef struct job {
    const lg_scorer *scorer;
    const lg_dataset *data;
    const lg_score_settings *settings;
    unsigned n_columns;
    lg_hash key;
    lg_hasher *hasher;
    uint32_t *y, *position, *payload; /* one row: [longest], [longest], [n_columns, longest] */
    size_t longest;
    lg_score_table earlier; /* OUT as it was; table NULL: nothing that can be used */
    lg_journal *journal;
    lg_row_index index;
    wanted_row *wanted; /* [n_wanted] */
    size_t n_wanted, wanted_capacity;
    bool complete; /* OUT is already what would be written */
    lg_score_plan counts;
} job;

static void job_free(job *j) {
    lg_hasher_free(j->hasher);
    free(j->y);
    free(j->position);
    free(j->payload);
    free(j->wanted);
    lg_row_index_free(&j->index);
    lg_score_table_close(&j->earlier);
    lg_journal_close(j->journal, false);
}

/* Every id must be a row of the model's embedding. */
static lg_status check_ids(const job *j, lg_error *error) {
    const lg_dataset *data = j->data;
    size_t vocab = j->scorer->vocab_size;
    if (!vocab) return LG_OK;
    if (j->settings->windows.prefix >= 0 && (uint64_t)j->settings->windows.prefix >= vocab)
        return lg_fail(error, LG_USAGE, "the prefix %lld is no token of the model %s, which has %zu",
                       (long long)j->settings->windows.prefix, j->settings->name, vocab);
    if (!data->n_tokens || data->max_token_id < vocab) return LG_OK;
    for (size_t d = 0; d < data->n_docs; d++)
        for (uint64_t i = lg_begin_of(data->doc_token_end, d); i < data->doc_token_end[d]; i++)
            if (data->token_id[i] >= vocab) {
                uint64_t name = lg_begin_of(data->doc_name_end, d);
                return lg_fail(error, LG_BAD_INPUT,
                               "document %.*s: token %" PRIu64
                               " has id %u, but the model %s knows %zu: tokenize with the "
                               "model's own tokenizer",
                               (int)(data->doc_name_end[d] - name), data->doc_name + name,
                               i - lg_begin_of(data->doc_token_end, d), data->token_id[i], j->settings->name,
                               vocab);
            }
    return LG_OK;
}

static lg_status job_start(job *j, const lg_scorer *scorer, const lg_dataset *data,
                           const lg_score_settings *settings, lg_error *error) {
    *j = (job){.scorer = scorer, .data = data, .settings = settings};
    j->n_columns = lg_score_n_columns(settings->columns);
    j->longest = lg_window_longest(&settings->windows, data);
    j->hasher = lg_hasher_create();
    j->y = lg_alloc(j->longest, sizeof *j->y);
    j->position = lg_alloc(j->longest, sizeof *j->position);
    j->payload = lg_alloc(j->longest, sizeof *j->payload * j->n_columns);
    if (!j->hasher || !j->y || !j->position || !j->payload || !lg_score_settings_key(settings, &j->key))
        return lg_fail_memory(error);
    return check_ids(j, error);
}

/* What is there already */

static lg_status index_earlier(job *j, const char *out, const lg_monitor *monitor, lg_error *error) {
    lg_status status = lg_score_table_open_out(out, &j->earlier, error);
    if (status || !j->earlier.table) return status;
    lg_hash key;
    if (!lg_score_settings_key(&j->earlier.settings, &key)) return lg_fail_memory(error);
    if (!lg_hash_equal(key, j->key)) {
        lg_note(monitor,
                "%s holds scores of %s, of another model or with other settings: it will be replaced", out,
                j->earlier.settings.name);
        lg_score_table_close(&j->earlier);
        return LG_OK;
    }
    for (size_t r = 0; r < j->earlier.n_rows; r++) {
        uint64_t begin = lg_begin_of(j->earlier.row_end, r);
        lg_hash hash = {j->earlier.row_hash[2 * r], j->earlier.row_hash[2 * r + 1]};
        lg_row_entry *entry = lg_row_index_put(&j->index, hash);
        if (!entry) return lg_fail_memory(error);
        entry->place = LG_ROW_TABLE;
        entry->where = begin;
        entry->count = (uint32_t)(j->earlier.row_end[r] - begin);
    }
    return LG_OK;
}

static lg_status index_record(void *context, lg_hash hash, uint32_t count, uint64_t offset, lg_error *error) {
    job *j = context;
    lg_row_entry *entry = lg_row_index_put(&j->index, hash);
    if (!entry) return lg_fail_memory(error);
    *entry = (lg_row_entry){hash, offset, count, LG_ROW_JOURNAL};
    return LG_OK;
}

/* Copies the results of the row at ENTRY to j->payload [n_columns, count]. */
static lg_status fetch(const job *j, const lg_row_entry *entry, lg_error *error) {
    size_t count = entry->count;
    if (entry->place == LG_ROW_JOURNAL)
        return lg_journal_read(j->journal, entry->where, entry->count, j->payload, error);
    for (size_t i = 0, k = 0; i < LG_SCORE_COLUMNS; i++)
        if (j->earlier.columns[i])
            memcpy(j->payload + k++ * count, j->earlier.columns[i] + entry->where,
                   count * sizeof *j->payload);
    return LG_OK;
}

/* A row taken over from OUT must hold numbers where this row needs them; what the journal holds is under
 * checksum. */
static bool can_use(const job *j, const lg_row_entry *entry, const lg_window *window) {
    size_t at;
    if (entry->count != window->end - window->begin) return false;
    return entry->place != LG_ROW_TABLE ||
           lg_score_payload_fits(window, j->position, j->earlier.columns[0] + entry->where, &at);
}

static bool is_whole(const job *j) {
    const lg_score_table *t = &j->earlier;
    char tokens[33];
    const lg_provenance *of_data = j->data->table ? lg_table_provenance(j->data->table) : NULL;
    return t->n_tokens == j->data->n_tokens && t->n_rows == j->counts.rows &&
           strcmp(t->settings.name, j->settings->name) == 0 &&
           strcmp(t->dataset, of_data && of_data->identity ? of_data->identity : "") == 0 &&
           lg_score_tokens_identity(j->data, tokens) && strcmp(tokens, t->tokens) == 0;
}

/* Walks over all rows, counts them, and lists those without results. */
static lg_status survey(job *j, lg_error *error) {
    lg_window_walk walk;
    lg_window window;
    bool same = j->earlier.table != NULL; /* rows of OUT, in this order */
    lg_score_plan *c = &j->counts;
    lg_window_start(&walk, &j->settings->windows, j->data);
    while (lg_window_next(&walk, &window)) {
        size_t owned = window.end - window.begin;
        size_t scored = lg_window_elements(&j->settings->windows, j->data, &window, j->y, j->position);
        lg_hash hash = lg_window_hash(&window, j->y, j->position, j->hasher);
        same = same && c->rows < j->earlier.n_rows && j->earlier.row_end[c->rows] == window.end &&
               j->earlier.row_hash[2 * c->rows] == hash.high &&
               j->earlier.row_hash[2 * c->rows + 1] == hash.low;
        c->rows++;
        c->tokens_scored += scored;
        c->tokens_unscorable += owned - scored;
        if (!scored) continue; /* nothing to compute */
        c->inputs += window.n - 1;
        lg_row_entry *entry = lg_row_index_find(&j->index, hash);
        if (entry && (entry->place == LG_ROW_WANTED || can_use(j, entry, &window))) continue;
        if (!lg_reserve(&j->wanted, &j->wanted_capacity, j->n_wanted + 1, sizeof *j->wanted) ||
            !(entry = lg_row_index_put(&j->index, hash)))
            return lg_fail_memory(error);
        *entry = (lg_row_entry){hash, 0, (uint32_t)owned, LG_ROW_WANTED};
        j->wanted[j->n_wanted++] = (wanted_row){window, hash};
        c->rows_left++;
        c->inputs_left += window.n - 1;
        c->flops_left += j->scorer->flops(j->scorer->context, window.n - 1, window.n - window.first);
    }
    j->complete = same && !j->n_wanted && is_whole(j);
    return LG_OK;
}

/* Computing */

static int by_length(const void *a, const void *b) {
    const lg_window *x = &((const wanted_row *)a)->window, *y = &((const wanted_row *)b)->window;
    if (x->n != y->n) return x->n > y->n ? -1 : 1;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* Room for the rows that go through the model together, reused. */
typedef struct batch {
    const wanted_row **wanted; /* [n_rows] */
    lg_row *rows;              /* [n_rows] */
    size_t n_rows, rows_capacity, wanted_capacity;
    uint32_t *y;      /* elements of all rows */
    uint32_t *values; /* [n_columns, targets of all rows] */
    size_t y_capacity, values_capacity;
    size_t inputs, elements, targets;
    double flops;
} batch;

static void batch_free(batch *b) {
    free(b->wanted);
    free(b->rows);
    free(b->y);
    free(b->values);
}

static bool batch_add(batch *b, const wanted_row *row, double flops) {
    if (!lg_reserve(&b->wanted, &b->wanted_capacity, b->n_rows + 1, sizeof *b->wanted)) return false;
    b->wanted[b->n_rows++] = row;
    b->inputs += row->window.n - 1;
    b->elements += row->window.n;
    b->targets += row->window.n - row->window.first;
    b->flops += flops;
    return true;
}

/* Elements and room for results of all rows of B. */
static bool batch_lay_out(batch *b, const job *j) {
    if (!lg_reserve(&b->rows, &b->rows_capacity, b->n_rows, sizeof *b->rows) ||
        !lg_reserve(&b->y, &b->y_capacity, b->elements, sizeof *b->y) ||
        !lg_reserve(&b->values, &b->values_capacity, b->targets * j->n_columns, sizeof *b->values))
        return false;
    uint32_t *y = b->y, *values = b->values;
    for (size_t r = 0; r < b->n_rows; r++) {
        const lg_window *window = &b->wanted[r]->window;
        uint32_t *column[LG_SCORE_COLUMNS] = {0};
        for (size_t i = 0; i < LG_SCORE_COLUMNS; i++)
            if (lg_score_has_column(j->settings->columns, i)) {
                column[i] = values;
                values += window->n - window->first;
            }
        lg_window_elements(&j->settings->windows, j->data, window, y, j->position);
        b->rows[r] = (lg_row){.y = y,
                              .n = window->n,
                              .first = window->first,
                              .nll = (float *)(void *)column[0],
                              .entropy = (float *)(void *)column[1],
                              .rank = column[2],
                              .top1 = column[3]};
        y += window->n;
    }
    return true;
}

/* The payload of row R of B into j->payload: results stand at elements, owned tokens at their positions. */
static lg_status take_results(const job *j, const batch *b, size_t r, lg_error *error) {
    const lg_window *window = &b->wanted[r]->window;
    const lg_row *row = &b->rows[r];
    const uint32_t *column[LG_SCORE_COLUMNS] = {(const uint32_t *)(const void *)row->nll,
                                                (const uint32_t *)(const void *)row->entropy, row->rank,
                                                row->top1};
    size_t count = window->end - window->begin, bad;
    uint32_t *out = j->payload;
    lg_window_elements(&j->settings->windows, j->data, window, j->y, j->position);
    for (size_t c = 0; c < LG_SCORE_COLUMNS; c++) {
        if (!column[c]) continue;
        for (size_t i = 0; i < count; i++) {
            uint32_t p = j->position[i];
            *out++ = p >= window->first ? column[c][p - window->first] : lg_score_missing(c);
        }
    }
    if (lg_score_payload_fits(window, j->position, j->payload, &bad)) return LG_OK;
    return lg_fail(error, LG_FAILED,
                   "the model %s gives no finite loss for token %" PRIu64
                   " of the dataset: its weights are damaged, or it needs --precision f32",
                   j->settings->name, window->begin + bad);
}

/* Progress of a run is told in tokens, spread over the work by its arithmetic: the rate stays even where rows
   differ in cost, so that the time left is right. */
typedef struct teller {
    const lg_monitor *monitor;
    double done, batch, all; /* operations: earlier batches, this one, all */
    uint64_t tokens;
} teller;

static void tell(const teller *t, double share_of_batch) {
    double share = t->all > 0 ? (t->done + share_of_batch * t->batch) / t->all : 1;
    lg_progress(t->monitor, "tokens", (uint64_t)((double)t->tokens * (share < 1 ? share : 1)), t->tokens);
}

static void on_progress(void *context, const char *unit, uint64_t done, uint64_t total) {
    (void)unit;
    if (total) tell(context, (double)done / (double)total);
}

static void on_note(void *context, const char *message) {
    lg_note(((const teller *)context)->monitor, "%s", message);
}

static bool on_cancelled(void *context) {
    return lg_is_cancelled(((const teller *)context)->monitor);
}

static lg_status compute(job *j, const lg_monitor *monitor, lg_error *error) {
    batch b = {0};
    lg_status status = LG_OK;
    const lg_scorer *scorer = j->scorer;
    teller t = {.monitor = monitor, .all = j->counts.flops_left};
    lg_monitor inner = {&t, on_progress, on_note, on_cancelled};
    for (size_t i = 0; i < j->n_wanted; i++) {
        const lg_window *window = &j->wanted[i].window;
        t.tokens += window->end - window->begin;
    }
    if (j->n_wanted) qsort(j->wanted, j->n_wanted, sizeof *j->wanted, by_length);
    tell(&t, 0);
    /* Longest rows first, so that lack of memory shows early; what room they leave is filled with the
     * shortest. */
    for (size_t head = 0, tail = j->n_wanted; head < tail;) {
        b.n_rows = b.inputs = b.elements = b.targets = 0;
        b.flops = 0;
        while (head < tail) {
            bool fits = !b.n_rows || b.inputs + j->wanted[head].window.n - 1 <= scorer->max_tokens;
            if (!fits && b.inputs + j->wanted[tail - 1].window.n - 1 > scorer->max_tokens) break;
            const wanted_row *row = fits ? &j->wanted[head++] : &j->wanted[--tail];
            const lg_window *w = &row->window;
            if (!batch_add(&b, row, scorer->flops(scorer->context, w->n - 1, w->n - w->first))) {
                status = lg_fail_memory(error);
                goto done;
            }
        }
        if (!batch_lay_out(&b, j)) {
            status = lg_fail_memory(error);
            goto done;
        }
        t.batch = b.flops;
        status = on_cancelled(&t)
                     ? LG_CANCELLED
                     : scorer->score(scorer->context, b.rows, b.n_rows, j->settings->columns, &inner, error);
        if (status == LG_CANCELLED) {
            double share = t.all > 0 ? t.done / t.all : 0;
            status = lg_fail(error, LG_CANCELLED,
                             "stopped after %.0f %% of the work, which is kept: the same command "
                             "goes on from there",
                             100 * share);
        }
        for (size_t r = 0; r < b.n_rows && !status; r++) {
            const wanted_row *row = b.wanted[r];
            lg_row_entry *entry = lg_row_index_find(&j->index, row->hash);
            if (!(status = take_results(j, &b, r, error)))
                status =
                    lg_journal_append(j->journal, row->hash, entry->count, j->payload, &entry->where, error);
            entry->place = LG_ROW_JOURNAL;
        }
        if (status || (status = lg_journal_flush(j->journal, error))) goto done;
        t.done += b.flops;
        tell(&t, 0);
    }
done:
    batch_free(&b);
    return status;
}

/* Writing */

static lg_status write_out(job *j, const char *command, const char *out, lg_error *error) {
    lg_score_writer writer;
    lg_status status = lg_score_writer_create(out, j->settings, &writer, error);
    if (status) return status;
    lg_window_walk walk;
    lg_window window;
    lg_window_start(&walk, &j->settings->windows, j->data);
    while (!status && lg_window_next(&walk, &window)) {
        size_t count = window.end - window.begin;
        size_t scored = lg_window_elements(&j->settings->windows, j->data, &window, j->y, j->position);
        lg_hash hash = lg_window_hash(&window, j->y, j->position, j->hasher);
        if (scored) {
            status = fetch(j, lg_row_index_find(&j->index, hash), error);
        } else {
            uint32_t *payload = j->payload;
            for (size_t c = 0; c < LG_SCORE_COLUMNS; c++)
                for (size_t i = 0; lg_score_has_column(j->settings->columns, c) && i < count; i++)
                    *payload++ = lg_score_missing(c);
        }
        if (!status) status = lg_score_writer_row(&writer, &window, hash, j->position, j->payload, error);
    }
    if (!status) return lg_score_writer_commit(&writer, j->data, command, error);
    lg_score_writer_discard(&writer);
    return status;
}

lg_status lg_score_survey(const lg_scorer *scorer, const lg_dataset *data, const lg_score_settings *settings,
                          const char *out, lg_score_plan *plan, lg_error *error) {
    job j;
    lg_status status = job_start(&j, scorer, data, settings, error);
    if (!status) status = index_earlier(&j, out, NULL, error);
    if (!status) status = lg_journal_peek(out, j.key, j.n_columns, index_record, &j, error);
    if (!status) status = survey(&j, error);
    if (!status) {
        *plan = j.counts;
        plan->prefix = settings->windows.prefix;
        plan->context = settings->windows.context;
        plan->stride = settings->windows.stride;
        plan->precision = settings->precision;
    }
    job_free(&j);
    return status;
}

lg_status lg_score_rows(const lg_scorer *scorer, const lg_dataset *data, const lg_score_settings *settings,
                        const char *command, const char *out, const lg_monitor *monitor, lg_error *error) {
    job j;
    lg_status status = job_start(&j, scorer, data, settings, error);
    /* The lock first: OUT must not change between the look at it and the end. */
    if (!status)
        status = lg_journal_open(out, j.key, j.n_columns, &j.journal, index_record, &j, monitor, error);
    if (!status) status = index_earlier(&j, out, monitor, error);
    if (!status) status = survey(&j, error);
    if (!status && !j.complete) {
        if (j.counts.rows_left < j.counts.rows && j.counts.inputs > j.counts.inputs_left)
            lg_note(monitor, "%" PRIu64 " of %" PRIu64 " rows are there already or equal others",
                    j.counts.rows - j.counts.rows_left, j.counts.rows);
        status = compute(&j, monitor, error);
        if (!status) status = write_out(&j, command, out, error);
    }
    if (!status) {
        lg_journal_close(j.journal, true);
        j.journal = NULL;
    }
    job_free(&j);
    return status;
}

/* Estimating */

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Times rows of up to LENGTH inputs, INPUTS in all, from all over the dataset. */
static lg_status time_rows(job *j, size_t inputs, size_t length, double *seconds, double *flops,
                           const lg_monitor *monitor, lg_error *error) {
    batch b = {0};
    lg_status status = LG_OK;
    size_t n_rows = inputs > length ? inputs / length : 1;
    wanted_row *rows = calloc(n_rows, sizeof *rows);
    if (!rows) return lg_fail_memory(error);
    for (size_t r = 0; r < n_rows; r++) {
        lg_window *w = &rows[r].window;
        *w = (lg_window){.n = (uint32_t)length + 1, .first = 1};
        w->token = (j->data->n_tokens - w->n) / n_rows * r;
        w->begin = w->token + 1;
        w->end = w->token + w->n;
        if (!batch_add(&b, &rows[r], j->scorer->flops(j->scorer->context, length, length)))
            status = lg_fail_memory(error);
    }
    lg_score_settings plain = *j->settings;
    plain.windows.kind = LG_WINDOWS_DOCUMENT;
    job as_documents = *j;
    as_documents.settings = &plain;
    if (!status && !batch_lay_out(&b, &as_documents)) status = lg_fail_memory(error);
    double start = now();
    if (!status)
        status = j->scorer->score(j->scorer->context, b.rows, b.n_rows, j->settings->columns, monitor, error);
    *seconds = now() - start;
    *flops = b.flops;
    free(rows);
    batch_free(&b);
    return status;
}

lg_status lg_score_time(const lg_scorer *scorer, const lg_dataset *data, const lg_score_settings *settings,
                        const lg_score_plan *plan, double *seconds, const lg_monitor *monitor,
                        lg_error *error) {
    enum { SHORTEST = 128 };
    const double plenty = 4e12; /* operations: seconds on a few cores */
    double enough = plan->flops_left / 16 < plenty ? plan->flops_left / 16 : plenty;
    *seconds = 0;
    if (!plan->rows_left || data->n_tokens < 2) return LG_OK;
    lg_monitor quiet = {0};
    if (monitor) quiet = (lg_monitor){.context = monitor->context, .cancelled = monitor->cancelled};
    job j;
    lg_status status = job_start(&j, scorer, data, settings, error);
    if (status) goto done;
    size_t length = (size_t)(plan->inputs_left / plan->rows_left), inputs = scorer->max_tokens;
    if (length > data->n_tokens - 1) length = data->n_tokens - 1;
    double each =
        scorer->flops(scorer->context, length, length) / (double)length; /* inputs_left >= rows_left */
    if (each * (double)inputs > enough) inputs = (size_t)(enough / each);
    if (inputs < SHORTEST) inputs = SHORTEST;
    if (inputs > scorer->max_tokens) inputs = scorer->max_tokens;
    if (length > inputs / 2) length = inputs / 2;       /* so that two amounts of work can be told apart */
    if (length > j.longest - 1) length = j.longest - 1; /* a row that is left has two elements or more */
    if (length < 1) length = 1;
    size_t few = inputs / 4 > length ? inputs / 4 : length;
    double t[2], flops[2];
    if ((status = time_rows(&j, few, length, &t[0], &flops[0], &quiet, error)) || /* fills caches */
        (status = time_rows(&j, few, length, &t[0], &flops[0], &quiet, error)) ||
        (status = time_rows(&j, inputs, length, &t[1], &flops[1], &quiet, error)))
        goto done;
    /* time = fixed cost of a batch + operations at a rate */
    double per_flop = flops[1] > flops[0] ? (t[1] - t[0]) / (flops[1] - flops[0]) : 0;
    if (!(per_flop > 0) || t[0] - per_flop * flops[0] < 0) per_flop = t[1] / flops[1];
    double fixed = t[1] - per_flop * flops[1];
    double batches = (double)plan->inputs_left / (double)scorer->max_tokens;
    *seconds = per_flop * plan->flops_left + (fixed > 0 ? fixed * batches : 0);
done:
    job_free(&j);
    return status;
}
