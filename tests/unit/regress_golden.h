/* Reading golden results, and running a regression by its JSON, as a user sees it. */
#ifndef TESTS_REGRESS_GOLDEN_H
#define TESTS_REGRESS_GOLDEN_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/json.h"
#include "lossgap/regress.h"
#include "lossgap/report.h"

/* Reads PATH as JSON into ARENA; NULL: there is no such file. */
static inline const lg_json_value *golden_read(lg_arena *arena, const char *path) {
    lg_mapping mapping;
    lg_json_value *value = NULL;
    lg_error error = {0};
    if (access(path, R_OK)) return NULL;
    if (lg_map(path, &mapping, &error) ||
        lg_json_parse(arena, (const char *)mapping.data, mapping.size, path, &value, &error))
        fail_msg("%s", error.message);
    lg_unmap(&mapping);
    return value;
}

/* A file of ../shared (or $LG_SHARED); the test is skipped where it is not. */
static inline const char *golden_shared(const char *name) {
    static char path[2][512];
    static unsigned next;
    const char *shared = getenv("LG_SHARED");
    char *p = path[next++ % 2];
    snprintf(p, sizeof path[0], "%s/golden/regression/%s", shared ? shared : "../shared", name);
    if (access(p, R_OK) == 0) return p;
    print_message("SKIP: there is no %s\n", p);
    skip();
    return NULL;
}

/* NAN for null and for what is not there. */
static inline double golden_number(const lg_json_value *v) {
    return v && (v->type == LG_JSON_NUMBER || v->type == LG_JSON_INTEGER) ? v->number : NAN;
}

static inline double golden_member(const lg_json_value *object, const char *key) {
    return golden_number(lg_json_get(object, key));
}

static inline const lg_json_value *golden_element(const lg_json_value *list, size_t i) {
    const lg_json_value *v = list ? list->first : NULL;
    while (v && i--) v = v->next;
    return v;
}

typedef struct regress_run {
    lg_regress *regress;
    lg_arena arena;
    const lg_json_value *json;
    char *text; /* of the JSON */
} regress_run;

/* FILES and DEFINITIONS end with NULL; DEFINITIONS may be NULL. Returns the status; fails where it is LG_OK
   and the result is no JSON. */
static inline lg_status regress_files(regress_run *run, const char *const *files,
                                      const char *const *definitions, lg_regress_options options,
                                      lg_error *error) {
    lg_frame *frame;
    size_t length;
    *run = (regress_run){0};
    options.command = options.command ? options.command : "test";
    lg_status status = lg_frame_create(&frame, error);
    for (; !status && *files; files++) status = lg_frame_add_file(frame, *files, error);
    for (; !status && definitions && *definitions; definitions++)
        status = lg_frame_define(frame, *definitions, error);
    if (!status) status = lg_regress_compute(frame, &options, NULL, &run->regress, error);
    lg_frame_free(frame); /* the result stands alone */
    if (status) return status;
    lg_json_value *json;
    if (lg_regress_json(run->regress, &run->text, &length, error) ||
        lg_json_parse(&run->arena, run->text, length, "result", &json, error))
        fail_msg("%s", error->message);
    run->json = json;
    return LG_OK;
}

static inline void regress_close(regress_run *run) {
    lg_regress_free(run->regress);
    lg_arena_free(&run->arena);
    free(run->text);
}

static inline void check_close(const char *what, const char *of, double value, double expected,
                               double tolerance, double floor) {
    if (isnan(expected) && isnan(value)) return;
    if (!(fabs(value - expected) <= tolerance * fmax(fabs(expected), floor)))
        fail_msg("%s of %s is %.17g, not %.17g: off by %.1e", what, of, value, expected,
                 fabs(value - expected) / fmax(fabs(expected), floor));
}

#endif
