/* run.json of probes: any bytes are either a description or an error, and what was read is written as bytes
   that read as the same. */
#include <stdlib.h>
#include <string.h>

#include "probe/run_file.h"

static void check(bool good) {
    if (!good) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    lg_error error = {0};
    lg_probe_run run;
    char *copy = malloc(size ? size : 1); /* so that reading past its end shows */
    check(copy);
    if (size) memcpy(copy, data, size);
    lg_status status = lg_probe_run_parse(copy, size, "file", &run, &error);
    free(copy);
    if (status) {
        check(status == LG_BAD_INPUT && error.status == status && !run.models && !run.memory &&
              strncmp(error.message, "file:", 5) == 0);
        return 0;
    }
    check(strlen(run.items) == 32 && strlen(run.logp) == 32);
    lg_text text = {0}, again = {0};
    lg_probe_put_run(&text, &run, "command");
    lg_probe_run_free(&run);
    check(lg_probe_run_parse(text.data, text.length, "again", &run, &error) == LG_OK);
    lg_probe_put_run(&again, &run, "command");
    check(text.length == again.length && memcmp(text.data, again.data, text.length) == 0);
    lg_probe_run_free(&run);
    lg_text_free(&text);
    lg_text_free(&again);
    return 0;
}
