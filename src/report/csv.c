/* CSV: the one place that escapes it. */
#include "report/csv.h"

#include <math.h>
#include <string.h>

#include "base/json.h"

static void separate(lg_csv *csv) {
    if (csv->begun) lg_text_puts(csv->out, ",");
    csv->begun = true;
}

void lg_csv_put(lg_csv *csv, const char *value) {
    separate(csv);
    if (!value) return;
    bool edge = value[0] == ' ' || (value[0] && value[strlen(value) - 1] == ' ');
    if (!edge && value[0] && !strpbrk(value, ",\"\r\n")) {
        lg_text_puts(csv->out, value);
        return;
    }
    lg_text_puts(csv->out, "\""); /* an empty name, too: it is not the same as no value */
    for (; *value; value++) lg_text_put(csv->out, *value == '"' ? "\"\"" : value, *value == '"' ? 2 : 1);
    lg_text_puts(csv->out, "\"");
}

void lg_csv_put_unsigned(lg_csv *csv, uint64_t value) {
    separate(csv);
    lg_text_printf(csv->out, "%llu", (unsigned long long)value);
}

void lg_csv_put_double(lg_csv *csv, double value) {
    separate(csv);
    if (!isfinite(value)) return;
    lg_json_writer number = {.out = csv->out}; /* the same digits as in JSON */
    lg_json_put_double(&number, value);
}

void lg_csv_end_row(lg_csv *csv) {
    lg_text_puts(csv->out, "\n");
    csv->begun = false;
}
