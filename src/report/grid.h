/* Cells in aligned columns, for terminals and files. Widths are those of the terminal, not bytes. */
#ifndef LG_REPORT_GRID_H
#define LG_REPORT_GRID_H

#include "base/memory.h"
#include "base/text.h"

typedef enum lg_ink {
    LG_INK_PLAIN,
    LG_INK_GOOD,
    LG_INK_BAD,
    LG_INK_HEAD,
    LG_INK_DIM,
    LG_INK_YELLOW,
    LG_INK_BLUE,
    LG_INK_MAGENTA,
    LG_INK_CYAN,
} lg_ink;

typedef struct lg_grid_cell {
    const char *text;
    size_t width;
    lg_ink ink;
} lg_grid_cell;

enum { LG_GRID_COLUMNS = 64 };

/* {0} to start, with n_columns <= LG_GRID_COLUMNS. Rows may end early. After a failed allocation `failed`
 * stays set. */
typedef struct lg_grid {
    size_t n_columns, column, count, capacity;
    uint64_t left; /* bit c: column c is flush left, as the first one always is */
    lg_grid_cell *cells;
    lg_arena arena;
    bool failed;
} lg_grid;

/* The next cell; control characters and invalid bytes become '?', so that no name drives the terminal. */
void lg_grid_put(lg_grid *grid, lg_ink ink, const char *text);
void lg_grid_printf(lg_grid *grid, lg_ink ink, const char *format, ...) LG_PRINTF(3, 4);
/* 1234567 as 1,234,567; a number by FORMAT, and a p; NAN: "-". */
void lg_grid_count(lg_grid *grid, uint64_t value);
void lg_grid_number(lg_grid *grid, const char *format, double value);
void lg_grid_p(lg_grid *grid, double p);
void lg_grid_end_row(lg_grid *grid);
/* Prints the rows to OUT: columns flush right but for the first and those in `left`, two spaces between. */
void lg_grid_print(lg_grid *grid, bool color, lg_text *out);
size_t lg_grid_width(const lg_grid *grid);
void lg_grid_free(lg_grid *grid);

#endif
