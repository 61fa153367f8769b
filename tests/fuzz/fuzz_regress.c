/* Regressions: any formula over any CSV gives a result that can be printed, or an error that says something.
   The first line is the formula, the second a definition, the third a condition (either may be empty), the
   rest is the table; columns named doc, g and w are clusters, groups and weights. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lossgap/report.h"
#include "stats/regress_frame.h"

static void check(bool good) {
    if (!good) abort();
}

/* The next line as a string, and what is behind it. */
static char *next_line(const char **text, size_t *length) {
    const char *end = *length ? memchr(*text, '\n', *length) : NULL;
    size_t n = end ? (size_t)(end - *text) : *length;
    char *line = malloc(n + 1);
    check(line);
    if (n) memcpy(line, *text, n);
    line[n] = '\0';
    *text += end ? n + 1 : n;
    *length -= end ? n + 1 : n;
    return line;
}

static bool has(const lg_frame *frame, const char *name) {
    lg_arena arena = {0};
    const lg_column *column;
    bool found = !lg_frame_find(frame, name, &arena, &column, NULL);
    lg_arena_free(&arena);
    return found;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *text = (const char *)data;
    lg_error error = {0};
    lg_frame *frame;
    lg_regress *regress = NULL;
    if (size > 4096) return 0;
    char *formula = next_line(&text, &size), *definition = next_line(&text, &size),
         *where = next_line(&text, &size);
    check(!lg_frame_create(&frame, &error));
    lg_status status = lg_frame_add_csv(frame, text, size, "table.csv", &error);
    if (!status && *definition) status = lg_frame_define(frame, definition, &error);
    if (!status) {
        lg_regress_options o = {.formula = formula,
                                .where = *where ? where : NULL,
                                .cluster = has(frame, "doc") ? "doc" : NULL,
                                .absorb = has(frame, "g") ? "g" : NULL,
                                .weights = has(frame, "w") ? "w" : NULL,
                                .threads = 1,
                                .command = "fuzz"};
        status = lg_regress_compute(frame, &o, NULL, &regress, &error);
    }
    if (status) {
        check(error.status == status && error.message[0]);
    } else {
        const lg_table_style style = {.width = 80};
        char *json, *csv, *table;
        size_t length, n;
        check(!lg_regress_json(regress, &json, &length, &error) &&
              !lg_regress_csv(regress, &csv, &length, &error) &&
              !lg_regress_table(regress, &style, &table, &length, &error));
        const lg_regress_row *rows = lg_regress_rows(regress, &n);
        for (size_t i = 0; i < n; i++) {
            check(rows[i].dropped == (rows[i].reason != NULL));
            check(rows[i].dropped == !isfinite(rows[i].value.estimate) || isinf(rows[i].value.estimate));
            check(!(rows[i].value.se < 0) && !(rows[i].value.p < 0) && !(rows[i].value.p > 1));
        }
        free(json);
        free(csv);
        free(table);
    }
    lg_regress_free(regress);
    lg_frame_free(frame);
    free(formula);
    free(definition);
    free(where);
    return 0;
}
