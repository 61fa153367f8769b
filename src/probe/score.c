/* What a model gives the choices of probe items. An item is one row: prefix, prompt and the tokens that all
   its choices begin with are computed once, and what is left of each choice is a branch of it. */
#include "probe/score.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "score/journal.h"
#include "score/row_index.h"

/* An item to compute. */
typedef struct wanted {
    size_t item, inputs, targets; /* of its row */
    lg_hash hash;
} wanted;

typedef struct job {
    const lg_scorer *scorer;
    const lg_probe_rows *rows;
    lg_probe_scores *scores;
    lg_hasher *hasher;
    lg_journal *journal; /* NULL: none */
    lg_row_index index;  /* what it holds */
    wanted *wanted;      /* [n_wanted], longest first */
    size_t n_wanted;
    size_t inputs_left;
    lg_branch *branches; /* of one item, or of a batch's items */
    size_t branches_capacity;
    float *losses; /* likewise */
    size_t losses_capacity;
    lg_row *batch; /* [n_batch] */
    size_t batch_capacity;
} job;

static void job_free(job *j) {
    lg_hasher_free(j->hasher);
    lg_journal_close(j->journal, false);
    lg_row_index_free(&j->index);
    free(j->wanted);
    free(j->branches);
    free(j->losses);
    free(j->batch);
}

/* ---- an item as a row ---- */

static size_t n_choices(const lg_probe_rows *rows, size_t item) {
    return rows->first[item + 1] - rows->first[item];
}

/* Item ITEM as a row. BRANCHES [n_choices] is filled. Losses go to NLL, those of the shared tokens first,
   then each branch's; NULL: to count only. */
static lg_row row_of(const lg_probe_rows *rows, size_t item, lg_branch *branches, float *nll) {
    const lg_probe_ids *of = &rows->of[item];
    const uint32_t *tokens = rows->tokens + rows->first[item], *own = of->ids + of->n_prompt;
    float *to = nll ? nll + of->shared : NULL;
    size_t n = 0;
    for (size_t c = 0; c < n_choices(rows, item); own += tokens[c++]) {
        if (tokens[c] <= of->shared) continue; /* it ends with what all share, or cannot be scored */
        branches[n] = (lg_branch){own + of->shared, tokens[c] - of->shared, to};
        if (to) to += branches[n].n;
        n++;
    }
    /* The shared tokens are there behind the prompt, as the beginning of the first choice that has tokens. */
    return (lg_row){.y = of->ids,
                    .n = of->n_prompt + of->shared,
                    .first = of->n_prompt,
                    .nll = nll,
                    .branches = branches,
                    .n_branches = n};
}

/* The log-probabilities of ITEM out of its row's losses. */
static void take_losses(job *j, size_t item, const float *nll) {
    const size_t shared = j->rows->of[item].shared, first = j->rows->first[item];
    const uint32_t *tokens = j->rows->tokens + first;
    const float *own = nll + shared;
    for (size_t c = 0; c < n_choices(j->rows, item); c++) {
        double sum = 0;
        if (!tokens[c]) continue;
        for (size_t t = 0; t < shared; t++) sum += (double)nll[t];
        for (size_t t = shared; t < tokens[c]; t++) sum += (double)*own++;
        j->scores->logp[first + c] = sum > 0 ? -sum : 0;
    }
}

/* What the losses of a row depend on beside model and settings. */
static lg_hash hash_of(const job *j, size_t item) {
    const lg_probe_ids *of = &j->rows->of[item];
    const uint32_t *tokens = j->rows->tokens + j->rows->first[item];
    const uint64_t counts[2] = {of->n_prompt, n_choices(j->rows, item)};
    size_t n = of->n_prompt;
    for (size_t c = 0; c < counts[1]; c++) n += tokens[c];
    lg_hasher_reset(j->hasher);
    lg_hasher_add(j->hasher, counts, sizeof counts);
    lg_hasher_add(j->hasher, tokens, counts[1] * sizeof *tokens);
    lg_hasher_add(j->hasher, of->ids, n * sizeof *of->ids);
    return lg_hasher_value(j->hasher);
}

/* ---- what is there, and what is to be done ---- */

static lg_status index_record(void *context, lg_hash hash, uint32_t count, uint64_t offset, lg_error *error) {
    job *j = context;
    lg_row_entry *entry = lg_row_index_put(&j->index, hash);
    if (!entry) return lg_fail_memory(error);
    *entry = (lg_row_entry){hash, offset, count, LG_ROW_JOURNAL};
    return LG_OK;
}

static int longest_first(const void *a, const void *b) {
    const wanted *x = a, *y = b;
    if (x->inputs != y->inputs) return x->inputs > y->inputs ? -1 : 1;
    return x->item < y->item ? -1 : x->item > y->item;
}

static lg_status survey(job *j, lg_error *error) {
    const lg_probe_rows *rows = j->rows;
    j->wanted = lg_alloc(rows->n_items + 1, sizeof *j->wanted);
    j->hasher = lg_hasher_create();
    if (!j->wanted || !j->hasher) return lg_fail_memory(error);
    for (size_t i = 0; i < rows->n_items; i++) {
        if (!rows->of[i].ids) continue;
        if (!lg_reserve(&j->branches, &j->branches_capacity, n_choices(rows, i), sizeof *j->branches))
            return lg_fail_memory(error);
        const lg_row row = row_of(rows, i, j->branches, NULL);
        const wanted w = {i, lg_row_inputs(&row), lg_row_targets(&row), hash_of(j, i)};
        const lg_row_entry *entry = lg_row_index_find(&j->index, w.hash);
        if (entry && entry->count == w.targets) {
            if (!lg_reserve(&j->losses, &j->losses_capacity, w.targets, sizeof *j->losses))
                return lg_fail_memory(error);
            lg_status status =
                lg_journal_read(j->journal, entry->where, entry->count, (uint32_t *)(void *)j->losses, error);
            if (status) return status;
            take_losses(j, i, j->losses);
            continue;
        }
        j->wanted[j->n_wanted++] = w;
        j->inputs_left += w.inputs;
    }
    if (j->n_wanted) qsort(j->wanted, j->n_wanted, sizeof *j->wanted, longest_first);
    return LG_OK;
}

/* ---- computing ---- */

/* Progress in tokens, within a batch by its layers. */
typedef struct teller {
    const lg_monitor *monitor;
    size_t done, batch, all;
} teller;

static void on_progress(void *context, const char *unit, uint64_t done, uint64_t total) {
    const teller *t = context;
    (void)unit;
    double share = total ? (double)done / (double)total : 0;
    lg_progress(t->monitor, "tokens", t->done + (size_t)(share * (double)t->batch), t->all);
}

static void on_note(void *context, const char *message) {
    lg_note(((const teller *)context)->monitor, "%s", message);
}

static bool on_cancelled(void *context) {
    return lg_is_cancelled(((const teller *)context)->monitor);
}

/* Lays the N items from WANTED on out as the rows of a batch of BRANCHES and TARGETS. */
static lg_status lay_out(job *j, const wanted *w, size_t n, size_t n_branches, size_t targets,
                         lg_error *error) {
    if (!lg_reserve(&j->batch, &j->batch_capacity, n, sizeof *j->batch) ||
        !lg_reserve(&j->branches, &j->branches_capacity, n_branches, sizeof *j->branches) ||
        !lg_reserve(&j->losses, &j->losses_capacity, targets, sizeof *j->losses))
        return lg_fail_memory(error);
    lg_branch *branches = j->branches;
    float *losses = j->losses;
    for (size_t k = 0; k < n; k++) {
        j->batch[k] = row_of(j->rows, w[k].item, branches, losses);
        branches += n_choices(j->rows, w[k].item);
        losses += w[k].targets;
    }
    return LG_OK;
}

static lg_status keep(job *j, const wanted *w, const float *losses, lg_error *error) {
    uint64_t offset;
    take_losses(j, w->item, losses);
    if (!j->journal) return LG_OK;
    return lg_journal_append(j->journal, w->hash, (uint32_t)w->targets,
                             (const uint32_t *)(const void *)losses, &offset, error);
}

static lg_status compute(job *j, const lg_monitor *monitor, lg_error *error) {
    const size_t most = j->scorer->max_tokens;
    teller t = {.monitor = monitor, .all = j->inputs_left};
    const lg_monitor inner = {&t, on_progress, on_note, on_cancelled};
    for (size_t begin = 0, end; begin < j->n_wanted; begin = end) {
        size_t targets = 0, n_branches = 0;
        t.batch = 0;
        for (end = begin; end < j->n_wanted; end++) {
            const wanted *w = &j->wanted[end];
            if (end > begin && (t.batch + w->inputs > most || targets + w->targets > most)) break;
            t.batch += w->inputs;
            targets += w->targets;
            n_branches += n_choices(j->rows, w->item);
        }
        lg_status status = lay_out(j, j->wanted + begin, end - begin, n_branches, targets, error);
        if (!status)
            status = on_cancelled(&t)
                         ? LG_CANCELLED
                         : j->scorer->score(j->scorer->context, j->batch, end - begin, 0, &inner, error);
        if (status == LG_CANCELLED)
            return lg_fail(error, LG_CANCELLED, "stopped after %.0f %% of %s%s",
                           100 * (double)t.done / (double)t.all, j->scores->model,
                           j->journal ? ", which is kept: the same command goes on from there" : "");
        const float *losses = j->losses;
        for (size_t k = begin; k < end && !status; k++) {
            status = keep(j, &j->wanted[k], losses, error);
            losses += j->wanted[k].targets;
        }
        if (!status && j->journal) status = lg_journal_flush(j->journal, error);
        if (status) return status;
        t.done += t.batch;
        lg_progress(monitor, "tokens", t.done, t.all);
    }
    return LG_OK;
}

size_t lg_probe_largest(const lg_probe_rows *rows) {
    size_t largest = 0;
    for (size_t i = 0; i < rows->n_items; i++) {
        const lg_probe_ids *of = &rows->of[i];
        if (!of->ids) continue;
        size_t inputs = of->n_prompt + of->shared, targets = of->shared;
        for (size_t c = 0; c < n_choices(rows, i); c++) {
            const size_t tokens = rows->tokens[rows->first[i] + c];
            if (tokens <= of->shared) continue;
            inputs += tokens - of->shared - 1;
            targets += tokens - of->shared;
        }
        if (inputs > largest) largest = inputs;
        if (targets > largest) largest = targets;
    }
    return largest;
}

lg_status lg_probe_score_rows(const lg_scorer *scorer, const lg_probe_rows *rows, const char *journal,
                              lg_hash key, const lg_monitor *monitor, lg_probe_scores *scores,
                              lg_error *error) {
    job j = {.scorer = scorer, .rows = rows, .scores = scores};
    lg_status status = LG_OK;
    if (journal) status = lg_journal_open(journal, key, 1, &j.journal, index_record, &j, monitor, error);
    if (!status) status = survey(&j, error);
    if (!status && j.index.count)
        lg_note(monitor, "%s: %zu items are there already", scores->model, j.index.count);
    if (!status) status = compute(&j, monitor, error);
    if (!status) {
        lg_journal_close(j.journal, true);
        j.journal = NULL;
    }
    job_free(&j);
    return status;
}

/* ---- scores ---- */

lg_status lg_probe_scores_create(const lg_probe_rows *rows, const char *model, lg_probe_scores *scores,
                                 lg_error *error) {
    *scores = (lg_probe_scores){.model = strdup(model),
                                .logp = lg_alloc(rows->n_choices + 1, sizeof *scores->logp),
                                .tokens = lg_alloc(rows->n_choices + 1, sizeof *scores->tokens),
                                .outcome = lg_alloc(rows->n_items + 1, sizeof *scores->outcome)};
    if (!scores->model || !scores->logp || !scores->tokens || !scores->outcome) {
        lg_probe_scores_free(scores);
        return lg_fail_memory(error);
    }
    for (size_t c = 0; c < rows->n_choices; c++) scores->logp[c] = NAN;
    memcpy(scores->tokens, rows->tokens, rows->n_choices * sizeof *scores->tokens);
    memcpy(scores->outcome, rows->outcome, rows->n_items * sizeof *scores->outcome);
    return LG_OK;
}

void lg_probe_scores_free(lg_probe_scores *scores) {
    free((void *)(uintptr_t)scores->model);
    free(scores->logp);
    free(scores->tokens);
    free(scores->outcome);
    *scores = (lg_probe_scores){0};
}

/* ---- with a checkpoint ---- */

static lg_status resolve(const lg_model *model, const lg_tokenizer *tokenizer,
                         const lg_probe_score_options *options, lg_probe_plan *plan, const char **name,
                         const char **why, lg_hash *key, lg_error *error) {
    const lg_model_info *info = lg_model_get_info(model);
    const lg_score_options asked = {
        .precision = options->precision, .prefix = options->prefix, .model_name = options->model_name};
    lg_score_settings settings;
    lg_status status = lg_local_settings(model, &asked, &settings, why, error);
    if (status) return status;
    *name = settings.name;
    *plan = (lg_probe_plan){.precision = settings.precision,
                            .prefix = settings.windows.prefix,
                            .context = options->context ? options->context : info->max_positions,
                            .isa = settings.isa};
    if (plan->prefix >= 0 && (uint64_t)plan->prefix >= info->vocab_size)
        return lg_fail(error, LG_USAGE, "the prefix %lld is no token of the model %s, which has %zu",
                       (long long)plan->prefix, *name, info->vocab_size);
    lg_text text = {0};
    lg_text_printf(&text, "probe 1 %s %s %s %s %lld %zu", info->identity, lg_tokenizer_identity(tokenizer),
                   lg_precision_name(plan->precision), plan->isa, (long long)plan->prefix, plan->context);
    for (const char *const *also = options->also; also && *also; also++) lg_text_printf(&text, " %s", *also);
    if (text.failed) status = lg_fail_memory(error);
    else *key = lg_hash_of(text.data, text.length);
    lg_text_free(&text);
    lg_hash_hex(*key, plan->key);
    return status;
}

lg_status lg_probe_plan_make(const lg_model *model, const lg_tokenizer *tokenizer,
                             const lg_probe_score_options *options, lg_probe_plan *plan, lg_error *error) {
    const char *name, *why;
    lg_hash key = {0};
    return resolve(model, tokenizer, options, plan, &name, &why, &key, error);
}

/* Says how many items were left out, and which was the first. */
static void tell_left_out(const lg_probe_items *items, const lg_probe_rows *rows, const char *name,
                          const lg_monitor *monitor) {
    static const char *const why[] = {
        [LG_PROBE_STRADDLES] = "a token crosses the boundary between prompt and choice (a space between them "
                               "belongs to the choice)",
        [LG_PROBE_TOO_LONG] = "longer than the model's context",
        [LG_PROBE_NOT_MEANT] = "made for another tokenizer",
    };
    for (size_t outcome = LG_PROBE_STRADDLES; outcome <= LG_PROBE_NOT_MEANT; outcome++) {
        size_t n = 0, first = 0;
        for (size_t i = rows->n_items; i-- > 0;)
            if (rows->outcome[i] == outcome) first = i, n++;
        if (n)
            lg_note(monitor, "%s: left out %zu of %zu items (item %s is the first): %s", name, n,
                    rows->n_items, lg_probe_item_at(items, first)->id, why[outcome]);
    }
}

lg_status lg_probe_score(const lg_model *model, const lg_tokenizer *tokenizer, const lg_probe_items *items,
                         const lg_probe_score_options *options, const lg_monitor *monitor,
                         lg_probe_scores *scores, lg_error *error) {
    const lg_model_info *info = lg_model_get_info(model);
    lg_probe_plan plan;
    lg_probe_rows rows = {0};
    lg_scorer *scorer = NULL;
    const char *name, *why;
    lg_hash key = {0};
    *scores = (lg_probe_scores){0};
    lg_status status = resolve(model, tokenizer, options, &plan, &name, &why, &key, error);
    if (status) return status;
    if (options->prefix == LG_PREFIX_AUTO && plan.prefix >= 0)
        lg_note(monitor, "%s: prefix %" PRId64 " (%s)", name, plan.prefix, why);
    else if (options->prefix == LG_PREFIX_AUTO)
        lg_note(monitor, "%s: no prefix (%s): nothing stands before prompts", name, why);
    const lg_probe_reading how = {.tokenizer = tokenizer,
                                  .also = options->also,
                                  .prefix = plan.prefix,
                                  .context = plan.context,
                                  .vocabulary = info->vocab_size,
                                  .model = name,
                                  .threads = options->threads};
    status = lg_probe_rows_make(items, &how, monitor, &rows, error);
    if (status) return status;
    tell_left_out(items, &rows, name, monitor);
    status = lg_probe_scores_create(&rows, name, scores, error);
    const size_t largest = lg_probe_largest(&rows);
    if (!status && largest)
        status = lg_local_scorer_open(model, plan.precision, options->threads, options->batch, largest,
                                      &scorer, error);
    if (!status && largest)
        status = lg_probe_score_rows(scorer, &rows, options->journal, key, monitor, scores, error);
    lg_local_scorer_close(scorer);
    lg_probe_rows_free(&rows);
    if (status) lg_probe_scores_free(scores);
    return status;
}
