/* RUNS.json from memory, for tests. */
#ifndef LG_MODEL_RUNS_H
#define LG_MODEL_RUNS_H

#include "base/json.h"
#include "lossgap/runs.h"

/* NAME stands for the file in errors; FOLDER is where its paths are from. */
lg_status lg_runs_parse(lg_runs *runs, const char *text, size_t length, const char *name, const char *folder,
                        lg_error *error);

#endif
