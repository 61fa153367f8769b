/* CSV escapes and aligned columns. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/csv.h"
#include "report/grid.h"

static void test_csv(void **state) {
    (void)state;
    lg_text out = {0};
    lg_csv csv = {.out = &out};
    static const char *const fields[] = {"plain", "a,b", "say \"no\"", "two\nlines",
                                         " edge", "",    "tab\there",  "\xC3\xA9"};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) lg_csv_put(&csv, fields[i]);
    lg_csv_put(&csv, NULL);
    lg_csv_end_row(&csv);
    lg_csv_put_unsigned(&csv, UINT64_MAX);
    lg_csv_put_double(&csv, 0.1);
    lg_csv_put_double(&csv, NAN);
    lg_csv_put_double(&csv, -2.5e-300);
    lg_csv_put_double(&csv, INFINITY);
    lg_csv_end_row(&csv);
    assert_false(out.failed);
    assert_string_equal(out.data,
                        "plain,\"a,b\",\"say \"\"no\"\"\",\"two\nlines\",\" edge\",\"\",tab\there,\xC3\xA9,\n"
                        "18446744073709551615,0.1,,-2.5e-300,\n");
    lg_text_free(&out);
}

static void test_grid(void **state) {
    (void)state;
    lg_text out = {0};
    lg_grid grid = {.n_columns = 3};
    lg_grid_put(&grid, LG_INK_HEAD, "name");
    lg_grid_put(&grid, LG_INK_HEAD, "n");
    lg_grid_end_row(&grid); /* ends early */
    lg_grid_put(&grid, LG_INK_PLAIN,
                "\xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E"); /* three characters, six columns */
    lg_grid_printf(&grid, LG_INK_GOOD, "%+d", 7);
    lg_grid_put(&grid, LG_INK_BAD, "x");
    lg_grid_end_row(&grid);
    lg_grid_put(&grid, LG_INK_PLAIN,
                "a\033[31m\xFF\xE2\x80\xAE"); /* escape, no UTF-8, right-to-left override */
    lg_grid_put(&grid, LG_INK_PLAIN, "12345");
    lg_grid_put(&grid, LG_INK_PLAIN, "y");
    lg_grid_put(&grid, LG_INK_PLAIN, "one too many");
    lg_grid_end_row(&grid);
    assert_int_equal(lg_grid_width(&grid), 8 + 2 + 5 + 2 + 1);
    lg_grid_print(&grid, false, &out);
    assert_string_equal(out.data, "name          n\n"
                                  "\xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E       +7  x\n"
                                  "a?[31m??  12345  y\n");
    out.length = 0;
    lg_grid_print(&grid, true, &out);
    assert_string_equal(out.data,
                        "\033[1mname\033[0m          \033[1mn\033[0m\n"
                        "\xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E       \033[32m+7\033[0m  \033[31mx\033[0m\n"
                        "a?[31m??  12345  y\n");
    lg_text_free(&out);
    lg_grid_free(&grid);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_csv), cmocka_unit_test(test_grid)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
