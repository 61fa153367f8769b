/* Scoring with a checkpoint on this machine. */
#include <string.h>

#include "base/error.h"
#include "score/prefix.h"
#include "score/scorer.h"

typedef struct local {
    const lg_model *model;
    lg_session *session;
    lg_scorer scorer;
    lg_score_settings settings;
} local;

static lg_status score(void *context, const lg_row *rows, size_t n_rows, unsigned columns,
                       const lg_monitor *monitor, lg_error *error) {
    return lg_forward(((local *)context)->session, rows, n_rows, columns, monitor, error);
}

static double flops(void *context, size_t inputs, size_t scored) {
    return lg_model_flops(((local *)context)->model, inputs, scored);
}

static void local_close(local *l) {
    lg_session_free(l->session);
}

/* Resolves the options, and makes a session for rows as long as DATA has them. *L must not move afterwards.
 */
static lg_status local_open(local *l, const lg_model *model, const lg_dataset *data,
                            const lg_score_options *options, const lg_monitor *monitor, lg_error *error) {
    const lg_model_info *info = lg_model_get_info(model);
    *l = (local){.model = model};
    lg_prefix_hints hints = {info->has_bos, info->has_eos, info->bos, info->eos,
                             options->tokenizer ? options->tokenizer : info->path};
    const char *why;
    int64_t prefix;
    lg_status status = lg_prefix_resolve(options->prefix, &hints, &prefix, &why, error);
    if (status) return status;
    status = lg_window_settings_make(options, info->max_positions, prefix, &l->settings.windows, error);
    if (status) return status;
    l->settings.name = options->model_name ? options->model_name : info->path;
    l->settings.model = info->identity;
    l->settings.columns = options->columns;
    l->settings.precision = lg_model_resolve_precision(model, options->precision);
    if (options->prefix == LG_PREFIX_AUTO) {
        if (prefix >= 0) lg_note(monitor, "%s: prefix %lld (%s)", l->settings.name, (long long)prefix, why);
        else
            lg_note(monitor, "%s: no prefix (%s): a document's first token is not scored", l->settings.name,
                    why);
    }
    if (info->max_positions && l->settings.windows.context > info->max_positions)
        lg_note(monitor, "%s: windows of %zu go beyond its max_position_embeddings, %zu", l->settings.name,
                l->settings.windows.context, info->max_positions);

    size_t longest = lg_window_longest(&l->settings.windows, data);
    longest = longest > 1 ? longest - 1 : 1; /* inputs */
    size_t batch = options->batch && options->batch < longest ? longest : options->batch;
    status = lg_session_create(model, l->settings.precision, options->threads, LG_ISA_BEST, batch, longest,
                               &l->session, error);
    if (status) return status;
    l->settings.isa = lg_session_isa(l->session);
    l->scorer = (lg_scorer){.context = l,
                            .vocab_size = info->vocab_size,
                            .max_tokens = lg_session_max_tokens(l->session),
                            .score = score,
                            .flops = flops};
    return LG_OK;
}

lg_status lg_score_plan_make(const lg_model *model, const lg_dataset *data, const lg_score_options *options,
                             const char *out, lg_score_plan *plan, lg_error *error) {
    local l;
    lg_status status = local_open(&l, model, data, options, NULL, error);
    if (!status) status = lg_score_survey(&l.scorer, data, &l.settings, out, plan, error);
    local_close(&l);
    return status;
}

lg_status lg_score_estimate(const lg_model *model, const lg_dataset *data, const lg_score_options *options,
                            const lg_score_plan *plan, double *seconds, const lg_monitor *monitor,
                            lg_error *error) {
    local l;
    lg_status status = local_open(&l, model, data, options, NULL, error);
    if (!status) status = lg_score_time(&l.scorer, data, &l.settings, plan, seconds, monitor, error);
    local_close(&l);
    return status;
}

lg_status lg_score_run(const lg_model *model, const lg_dataset *data, const lg_score_options *options,
                       const char *out, const lg_monitor *monitor, lg_error *error) {
    local l;
    lg_status status = local_open(&l, model, data, options, monitor, error);
    if (!status) status = lg_score_rows(&l.scorer, data, &l.settings, options->command, out, monitor, error);
    local_close(&l);
    return status;
}
