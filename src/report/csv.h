/* CSV (RFC 4180, but with \n): commas and quoting are its business. */
#ifndef LG_REPORT_CSV_H
#define LG_REPORT_CSV_H

#include "base/text.h"

typedef struct lg_csv {
    lg_text *out;
    bool begun; /* a field of this row was put */
} lg_csv;

void lg_csv_put(lg_csv *csv, const char *value); /* NULL: an empty field */
void lg_csv_put_unsigned(lg_csv *csv, uint64_t value);
void lg_csv_put_double(lg_csv *csv,
                       double value); /* fewest digits that read back the same; NAN: an empty field */
void lg_csv_end_row(lg_csv *csv);

#endif
