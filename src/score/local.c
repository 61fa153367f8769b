/* Scoring with a checkpoint on this machine. */
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "score/prefix.h"
#include "score/scorer.h"

typedef struct local {
    const lg_model *model;
    lg_session *session;
    lg_scorer scorer;
} local;

static lg_status score(void *context, const lg_row *rows, size_t n_rows, unsigned columns,
                       const lg_monitor *monitor, lg_error *error) {
    return lg_forward(((local *)context)->session, rows, n_rows, columns, monitor, error);
}

static double flops(void *context, size_t inputs, size_t scored) {
    return lg_model_flops(((local *)context)->model, inputs, scored);
}

lg_status lg_local_scorer_open(const lg_model *model, lg_precision precision, unsigned threads, size_t batch,
                               size_t longest, lg_scorer **scorer, lg_error *error) {
    *scorer = NULL;
    local *l = calloc(1, sizeof *l);
    if (!l) return lg_fail_memory(error);
    if (batch && batch < longest) batch = longest;
    lg_status status =
        lg_session_create(model, precision, threads, LG_ISA_BEST, batch, longest, &l->session, error);
    if (status) {
        free(l);
        return status;
    }
    l->model = model;
    l->scorer = (lg_scorer){.context = l,
                            .vocab_size = lg_model_get_info(model)->vocab_size,
                            .max_tokens = lg_session_max_tokens(l->session),
                            .score = score,
                            .flops = flops};
    *scorer = &l->scorer;
    return LG_OK;
}

void lg_local_scorer_close(lg_scorer *scorer) {
    if (!scorer) return;
    local *l = scorer->context;
    lg_session_free(l->session);
    free(l);
}

lg_status lg_local_settings(const lg_model *model, const lg_score_options *options,
                            lg_score_settings *settings, const char **why, lg_error *error) {
    const lg_model_info *info = lg_model_get_info(model);
    lg_prefix_hints hints = {info->has_bos, info->has_eos, info->bos, info->eos,
                             options->tokenizer ? options->tokenizer : info->path};
    *settings = (lg_score_settings){.name = options->model_name ? options->model_name : info->path,
                                    .model = info->identity,
                                    .isa = lg_session_best_isa(),
                                    .precision = lg_model_resolve_precision(model, options->precision),
                                    .columns = options->columns};
    return lg_prefix_resolve(options->prefix, &hints, &settings->windows.prefix, why, error);
}

/* A dataset's rows under a model. */
typedef struct job {
    lg_scorer *scorer;
    lg_score_settings settings;
} job;

static void job_close(job *j) {
    lg_local_scorer_close(j->scorer);
}

/* Resolves the options, and makes a scorer of rows as long as DATA has them. */
static lg_status job_open(job *j, const lg_model *model, const lg_dataset *data,
                          const lg_score_options *options, const lg_monitor *monitor, lg_error *error) {
    const lg_model_info *info = lg_model_get_info(model);
    const char *why;
    *j = (job){0};
    if (data->spans)
        return lg_fail(error, LG_USAGE,
                       "%s holds spans, not tokens: score the model's own dataset, then align",
                       lg_table_path(data->table));
    lg_status status = lg_local_settings(model, options, &j->settings, &why, error);
    if (status) return status;
    lg_window_settings *windows = &j->settings.windows;
    status = lg_window_settings_make(options, info->max_positions, windows->prefix, windows, error);
    if (status) return status;
    const char *name = j->settings.name;
    if (options->prefix == LG_PREFIX_AUTO) {
        if (windows->prefix >= 0)
            lg_note(monitor, "%s: prefix %lld (%s)", name, (long long)windows->prefix, why);
        else lg_note(monitor, "%s: no prefix (%s): a document's first token is not scored", name, why);
    }
    if (info->max_positions && windows->context > info->max_positions)
        lg_note(monitor, "%s: windows of %zu go beyond its max_position_embeddings, %zu", name,
                windows->context, info->max_positions);
    size_t longest = lg_window_longest(windows, data);
    longest = longest > 1 ? longest - 1 : 1; /* inputs */
    return lg_local_scorer_open(model, j->settings.precision, options->threads, options->batch, longest,
                                &j->scorer, error);
}

lg_status lg_score_plan_make(const lg_model *model, const lg_dataset *data, const lg_score_options *options,
                             const char *out, lg_score_plan *plan, lg_error *error) {
    job j;
    lg_status status = job_open(&j, model, data, options, NULL, error);
    if (!status) status = lg_score_survey(j.scorer, data, &j.settings, out, plan, error);
    job_close(&j);
    return status;
}

lg_status lg_score_estimate(const lg_model *model, const lg_dataset *data, const lg_score_options *options,
                            const lg_score_plan *plan, double *seconds, const lg_monitor *monitor,
                            lg_error *error) {
    job j;
    lg_status status = job_open(&j, model, data, options, NULL, error);
    if (!status) status = lg_score_time(j.scorer, data, &j.settings, plan, seconds, monitor, error);
    job_close(&j);
    return status;
}

lg_status lg_score_run(const lg_model *model, const lg_dataset *data, const lg_score_options *options,
                       const char *out, const lg_monitor *monitor, lg_error *error) {
    job j;
    lg_status status = job_open(&j, model, data, options, monitor, error);
    if (!status) status = lg_score_rows(j.scorer, data, &j.settings, options->command, out, monitor, error);
    job_close(&j);
    return status;
}

lg_status lg_score_cache_name(const lg_model *model, const lg_dataset *data, const lg_score_options *options,
                              char name[LG_CACHE_NAME], lg_score_plan *plan, lg_error *error) {
    lg_score_settings settings;
    const char *why;
    lg_hash key;
    char hex[33], tokens[33];
    lg_status status = lg_local_settings(model, options, &settings, &why, error);
    lg_window_settings *windows = &settings.windows;
    if (!status)
        status = lg_window_settings_make(options, lg_model_get_info(model)->max_positions, windows->prefix,
                                         windows, error);
    if (!status && (!lg_score_settings_key(&settings, &key) || !lg_score_tokens_identity(data, tokens)))
        status = lg_fail_memory(error);
    if (!status) {
        lg_hash_hex(key, hex);
        snprintf(name, LG_CACHE_NAME, "%.16s-%.16s", hex, tokens);
        if (plan)
            *plan = (lg_score_plan){.prefix = settings.windows.prefix,
                                    .context = settings.windows.context,
                                    .stride = settings.windows.stride,
                                    .precision = settings.precision};
    }
    return status;
}
