/* UTF-8 and growing buffers. The rule for well-formed sequences is Table 3-7 of the Unicode standard, as
 * ranges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"

static const struct {
    unsigned char low[4], high[4];
    size_t length;
} well_formed[] = {
    {{0x00}, {0x7F}, 1},
    {{0xC2, 0x80}, {0xDF, 0xBF}, 2},
    {{0xE0, 0xA0, 0x80}, {0xE0, 0xBF, 0xBF}, 3},
    {{0xE1, 0x80, 0x80}, {0xEC, 0xBF, 0xBF}, 3},
    {{0xED, 0x80, 0x80}, {0xED, 0x9F, 0xBF}, 3},
    {{0xEE, 0x80, 0x80}, {0xEF, 0xBF, 0xBF}, 3},
    {{0xF0, 0x90, 0x80, 0x80}, {0xF0, 0xBF, 0xBF, 0xBF}, 4},
    {{0xF1, 0x80, 0x80, 0x80}, {0xF3, 0xBF, 0xBF, 0xBF}, 4},
    {{0xF4, 0x80, 0x80, 0x80}, {0xF4, 0x8F, 0xBF, 0xBF}, 4},
};

/* Length of the well-formed sequence that begins S, 0 if none does. */
static size_t rule(const unsigned char *s, size_t length) {
    for (size_t r = 0; r < sizeof well_formed / sizeof well_formed[0]; r++) {
        size_t n = well_formed[r].length, i = 0;
        if (n > length) continue;
        while (i < n && s[i] >= well_formed[r].low[i] && s[i] <= well_formed[r].high[i]) i++;
        if (i == n) return n;
    }
    return 0;
}

static size_t decoded; /* sequences looked at */

static void check_sequence(const unsigned char *s, size_t length) {
    uint32_t code = 0;
    bool valid = false;
    size_t wanted = rule(s, length), n = lg_utf8_decode((const char *)s, length, &code, &valid);
    decoded++;
    bool good = wanted ? valid && n == wanted : !valid && n == 1 && code == 0xFFFD;
    if (good && wanted) {
        char back[4];
        good = lg_utf8_encode(code, back) == n && memcmp(back, s, n) == 0;
    }
    if (!good)
        fail_msg("%02x %02x %02x %02x of %zu bytes: %zu, U+%04X", s[0], s[1], s[2], s[3], length, n, code);
}

static void decodes_what_is_well_formed(void **state) {
    (void)state;
    unsigned char s[4] = {0};
    for (unsigned a = 0; a < 256; a++) {
        s[0] = (unsigned char)a;
        check_sequence(s, 1);
        for (unsigned b = 0; b < 256; b++) {
            s[1] = (unsigned char)b;
            check_sequence(s, 2);
            for (unsigned c = 0; c < 256; c++) {
                s[2] = (unsigned char)c;
                check_sequence(s, 3);
            }
        }
    }
    static const unsigned char edges[] = {0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF};
    for (unsigned a = 0xE0; a < 256; a++)
        for (unsigned b = 0; b < 256; b++)
            for (size_t c = 0; c < sizeof edges; c++)
                for (size_t d = 0; d < sizeof edges; d++)
                    check_sequence(
                        (const unsigned char[]){(unsigned char)a, (unsigned char)b, edges[c], edges[d]}, 4);
    assert_int_equal(decoded, 256 + 65536 + 16777216 + 32 * 256 * 100);
}

static void encodes_every_code_point(void **state) {
    (void)state;
    char before[4] = {0};
    for (uint32_t c = 0; c <= 0x10FFFF; c++) {
        char bytes[4] = {0};
        uint32_t back;
        bool valid;
        if (c >= 0xD800 && c < 0xE000) continue;
        size_t n = lg_utf8_encode(c, bytes);
        if (lg_utf8_decode(bytes, n, &back, &valid) != n || !valid || back != c) fail_msg("U+%04X", c);
        if (c && memcmp(bytes, before, 4) <= 0) fail_msg("U+%04X does not sort after the one before", c);
        memcpy(before, bytes, 4);
    }
}

static void grows_buffers(void **state) {
    (void)state;
    lg_text t = {0};
    lg_text_put(&t, NULL, 0);
    assert_string_equal(t.data, "");
    lg_text_puts(&t, "ab");
    lg_text_put(&t, "\0c", 2);
    lg_text_printf(&t, "%d-%s", 7, "x");
    assert_int_equal(t.length, 7);
    assert_memory_equal(t.data, "ab\0c7-x", 8);
    for (int i = 0; i < 1000; i++) lg_text_printf(&t, "%0100d", i);
    assert_int_equal(t.length, 100007);
    assert_int_equal(t.data[t.length], 0);
    assert_memory_equal(t.data + 100000, "0000999", 7);
    lg_text_put(&t, t.data, SIZE_MAX - 10); /* refused before a byte is read */
    assert_true(t.failed);
    lg_text_puts(&t, "more");
    assert_int_equal(t.length, 100007);
    lg_text_free(&t);
    assert_null(t.data);
    lg_text_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decodes_what_is_well_formed),
        cmocka_unit_test(encodes_every_code_point),
        cmocka_unit_test(grows_buffers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
