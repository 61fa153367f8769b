/* What `lossgap probe` does with log-probabilities: evaluates them, writes the results, prints the table. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "cli/cli.h"
#include "lossgap/probe_results.h"
#include "lossgap/report.h"

/* Writes TEXT [LENGTH], which is freed, as NAME in FOLDER. */
static lg_status write_text(const char *folder, const char *name, char *text, size_t length,
                            lg_error *error) {
    char *path = lg_path_join(folder, name);
    lg_status status = path ? lg_write_file(path, text, length, error) : lg_fail_memory(error);
    free(path);
    free(text);
    return status;
}

static lg_status write_results(const lg_probe_results *results, const char *folder, lg_error *error) {
    static const char *const tables[LG_N_PROBE_LISTS] = {[LG_PROBE_ROWS] = "probes.csv",
                                                         [LG_PROBE_PAIRS] = "probes-pairs.csv",
                                                         [LG_PROBE_BIAS] = "probes-bias.csv",
                                                         [LG_PROBE_PICKS] = "probes-picks.csv",
                                                         [LG_PROBE_BASELINES] = "probes-baselines.csv"};
    char *text;
    size_t length;
    lg_status status = lg_make_folders(folder, error);
    for (int list = 0; list < LG_N_PROBE_LISTS && !status; list++) {
        status = lg_probe_csv(results, (lg_probe_list)list, &text, &length, error);
        if (!status) status = write_text(folder, tables[list], text, length, error);
    }
    if (!status && !(status = lg_probe_view(results, &text, &length, error)))
        status = write_text(folder, "probes.vl.json", text, length, error);
    if (!status && !(status = lg_probe_json(results, &text, &length, error)))
        status = write_text(folder, "probes.json", text, length, error);
    return status;
}

lg_status cli_report_probes(cli *c, const lg_probe_items *items, const lg_probe_scores *scores,
                            size_t n_models, const char *folder, bool full) {
    lg_probe_results *results;
    lg_probe_evaluate_options options = {.command = c->command_line};
    char *text;
    size_t length;
    lg_status status = lg_probe_evaluate(items, scores, n_models, &options, &results, &c->error);
    if (status) return status;
    if (folder) status = write_results(results, folder, &c->error);
    lg_table_style style = {.width = cli_width(stdout), .color = cli_color(stdout), .full = full};
    if (!status)
        status = c->json ? lg_probe_json(results, &text, &length, &c->error)
                         : lg_probe_table(results, &style, &text, &length, &c->error);
    if (!status) {
        fwrite(text, 1, length, stdout);
        free(text);
    }
    lg_probe_results_free(results);
    return status;
}
