/* RUNS.json: any bytes are runs with names and places, or an error that says where; names of folders too. */
#include <stdlib.h>
#include <string.h>

#include "model/runs.h"

static void check(bool good) {
    if (!good) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    lg_runs *runs;
    lg_error error = {0};
    if (lg_runs_create(&runs, &error)) return 0;
    lg_status status =
        lg_runs_parse(runs, (const char *)data, size, "RUNS.json", "/nowhere/in/the/world/", &error);
    check(status == LG_OK || (error.status == status && strstr(error.message, "RUNS.json")));
    for (size_t i = 0; i < lg_runs_count(runs) && !status; i++) {
        const lg_run *run = lg_runs_at(runs, i);
        check(*run->name && *run->name != '.' && !strpbrk(run->name, "/ \n@"));
        for (size_t k = 0; k < i; k++) check(strcmp(lg_runs_at(runs, k)->name, run->name) != 0);
    }
    check(status || lg_runs_count(runs));
    lg_runs_free(runs);

    char name[256];
    size_t n = size < sizeof name ? size : sizeof name - 1;
    memcpy(name, data, n);
    name[n] = '\0';
    lg_step_name step;
    if (lg_step_of_name(name, &step)) check(step.step <= INT64_MAX && step.tokens <= INT64_MAX);
    else check(!step.step && !step.tokens);
    return 0;
}
