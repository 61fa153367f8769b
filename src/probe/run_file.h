/* run.json: what a file of log-probabilities was computed with. */
#ifndef LG_PROBE_RUN_FILE_H
#define LG_PROBE_RUN_FILE_H

#include "base/text.h"
#include "lossgap/probe.h"

/* Reads it from memory; NAME stands for the file in errors. */
lg_status lg_probe_run_parse(const char *text, size_t length, const char *name, lg_probe_run *run,
                             lg_error *error);
/* The file's text. */
void lg_probe_put_run(lg_text *out, const lg_probe_run *run, const char *command);

#endif
