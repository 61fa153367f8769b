/* Cells in aligned columns. */
#include "report/grid.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

enum { GAP = 2 };

void lg_grid_put(lg_grid *grid, lg_ink ink, const char *text) {
    lg_text clean = {0};
    size_t width = 0, length = strlen(text);
    for (size_t i = 0; i < length;) {
        uint32_t c;
        bool valid;
        size_t n = lg_utf8_decode(text + i, length - i, &c, &valid);
        utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)c);
        bool show = valid && category != UTF8PROC_CATEGORY_CC && category != UTF8PROC_CATEGORY_CF &&
                    category != UTF8PROC_CATEGORY_ZL && category != UTF8PROC_CATEGORY_ZP;
        lg_text_put(&clean, show ? text + i : "?", show ? n : 1);
        width += show ? (size_t)utf8proc_charwidth((utf8proc_int32_t)c) : 1;
        i += n;
    }
    const char *copy =
        clean.failed ? NULL : lg_arena_copy(&grid->arena, clean.data ? clean.data : "", clean.length);
    lg_text_free(&clean);
    if (!copy || !lg_reserve(&grid->cells, &grid->capacity, grid->count + 1, sizeof *grid->cells)) {
        grid->failed = true;
        return;
    }
    if (grid->column == grid->n_columns) return; /* no room: the caller's mistake costs a cell, not memory */
    grid->cells[grid->count++] = (lg_grid_cell){copy, width, ink};
    grid->column++;
}

void lg_grid_printf(lg_grid *grid, lg_ink ink, const char *format, ...) {
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    lg_grid_put(grid, ink, text);
}

void lg_grid_count(lg_grid *grid, uint64_t value) {
    char digits[32], text[48];
    int n = snprintf(digits, sizeof digits, "%llu", (unsigned long long)value), at = 0;
    for (int i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0) text[at++] = ',';
        text[at++] = digits[i];
    }
    text[at] = '\0';
    lg_grid_put(grid, LG_INK_PLAIN, text);
}

void lg_grid_number(lg_grid *grid, const char *format, double value) {
    char text[64] = "-";
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    if (!isnan(value)) snprintf(text, sizeof text, format, value);
#pragma GCC diagnostic pop
    lg_grid_put(grid, LG_INK_PLAIN, text);
}

void lg_grid_p(lg_grid *grid, double p) {
    lg_grid_number(grid, p > 0 && p < 1e-4 ? "%.0e" : "%.4f", p);
}

void lg_grid_end_row(lg_grid *grid) {
    if (!grid->column) lg_grid_put(grid, LG_INK_PLAIN, "");
    while (grid->column < grid->n_columns && !grid->failed) lg_grid_put(grid, LG_INK_PLAIN, "");
    grid->column = 0;
}

static size_t widths(const lg_grid *grid, size_t width[LG_GRID_COLUMNS]) {
    size_t total = 0;
    memset(width, 0, LG_GRID_COLUMNS * sizeof *width);
    for (size_t i = 0; i < grid->count; i++) {
        size_t c = i % grid->n_columns;
        if (grid->cells[i].width > width[c]) width[c] = grid->cells[i].width;
    }
    for (size_t c = 0; c < grid->n_columns; c++) total += width[c] + (width[c] && c ? GAP : 0);
    return total;
}

size_t lg_grid_width(const lg_grid *grid) {
    size_t width[LG_GRID_COLUMNS];
    return widths(grid, width);
}

static void put_spaces(lg_text *out, size_t n) {
    while (n--) lg_text_put(out, " ", 1);
}

void lg_grid_print(lg_grid *grid, bool color, lg_text *out) {
    static const char *const on[] = {"",         "\033[32m", "\033[31m", "\033[1m", "\033[2m",
                                     "\033[33m", "\033[34m", "\033[35m", "\033[36m"};
    if (grid->failed) {
        out->failed = true;
        return;
    }
    size_t width[LG_GRID_COLUMNS], pending = 0;
    widths(grid, width);
    for (size_t i = 0; i < grid->count; i++) {
        size_t c = i % grid->n_columns;
        const lg_grid_cell *cell = &grid->cells[i];
        size_t fill = width[c] - cell->width;
        if (c && width[c]) pending += GAP;
        bool left = !c || (grid->left >> c & 1);
        if (!left) pending += fill;
        if (cell->text[0]) { /* no white space at the end of a line */
            bool ink = color && cell->ink != LG_INK_PLAIN;
            put_spaces(out, pending);
            pending = 0;
            if (ink) lg_text_puts(out, on[cell->ink]);
            lg_text_puts(out, cell->text);
            if (ink) lg_text_puts(out, "\033[0m");
        }
        if (left) pending += fill;
        if (c + 1 == grid->n_columns) {
            while (out->length && !out->failed && out->data[out->length - 1] == ' ') out->length--;
            lg_text_puts(out, "\n");
            pending = 0;
        }
    }
}

void lg_grid_free(lg_grid *grid) {
    free(grid->cells);
    lg_arena_free(&grid->arena);
    *grid = (lg_grid){0};
}
