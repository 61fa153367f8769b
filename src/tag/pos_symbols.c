/* The table of Brown's tags for signs. */
#include "tag/pos_symbols.h"

#include <string.h>
#include <utf8proc.h>

#include "base/text.h"

enum {
    OPEN,
    CLOSE,
    STOP,
    DASH,
    COMMA,
    COLON,
    OPEN_QUOTE,
    CLOSE_QUOTE,
    APOSTROPHE,
    AND,
    NOUN,
    NOUNS,
    IN,
    NIL
};

const char *const lg_pos_symbol_tags[] = {"(", ")",  ".",  "--",  ",",  ":",   "``", "''",
                                          "'", "cc", "nn", "nns", "in", "nil", NULL};

/* A word made of the signs of a row only, in any number, or (ONE) of one of them. */
static const struct {
    const char *signs;
    bool one;
    int tag;
} rows[] = {
    {"([{", false, OPEN},      {")]}", false, CLOSE}, {".!?;", false, STOP},    {"-", false, DASH},
    {",", false, COMMA},       {":", false, COLON},   {"`", false, OPEN_QUOTE}, {"'", true, APOSTROPHE},
    {"'", false, CLOSE_QUOTE}, {"&", true, AND},      {"%", true, NOUN},        {"$", true, NOUNS},
    {"/", true, IN},
};

static const struct {
    const char *form;
    int tag;
} wide[] = {{"\xC2\xAB", OPEN_QUOTE},
            {"\xC2\xBB", CLOSE_QUOTE},
            {"\xC2\xA3", NOUNS},
            {"\xE2\x82\xAC", NOUNS}}; /* « » £ € */

static bool has_letter_or_digit(const char *form, size_t n) {
    for (size_t at = 0; at < n;) {
        uint32_t code;
        bool valid;
        at += lg_utf8_decode(form + at, n - at, &code, &valid);
        utf8proc_category_t c = utf8proc_category((utf8proc_int32_t)code);
        if (c >= UTF8PROC_CATEGORY_LU && c <= UTF8PROC_CATEGORY_NO) return true; /* letters, marks, numbers */
    }
    return false;
}

int lg_pos_symbol(const char *form, size_t n, bool between_numbers) {
    if (!n || has_letter_or_digit(form, n)) return -1;
    if (n == 1 && form[0] == '-' && between_numbers) return -1;
    if (n == 1 && form[0] == ':') return -1;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t k = 0;
        while (k < n && form[k] && strchr(rows[i].signs, form[k])) k++;
        if (k == n && (n == 1 || !rows[i].one)) return rows[i].tag;
    }
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        if (n == strlen(wide[i].form) && memcmp(form, wide[i].form, n) == 0) return wide[i].tag;
    return NIL;
}
