/* Character classes of every byte of a document; the family `char_class` gives a token the class of its first
   character that is not white space. */
#include <string.h>
#include <utf8proc.h>

#include "base/text.h"
#include "tag/tag_internal.h"

static uint8_t class_of(uint32_t c) {
    enum { WORD = LG_CLASS_WORD | LG_CLASS_IN_WORD };
    if (c == '_') return WORD;
    if ((c >= 0x09 && c <= 0x0D) || c == 0x85) return LG_CLASS_WHITESPACE;
    if (c == 0xFFFD) return LG_CLASS_OTHER;
    switch (utf8proc_category((utf8proc_int32_t)c)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
        return WORD;
    case UTF8PROC_CATEGORY_ND:
        return LG_CLASS_NUMBER | LG_CLASS_IN_WORD;
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
        return LG_CLASS_NUMBER;
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO:
    case UTF8PROC_CATEGORY_SM:
    case UTF8PROC_CATEGORY_SC:
    case UTF8PROC_CATEGORY_SK:
    case UTF8PROC_CATEGORY_SO:
        return LG_CLASS_PUNCTUATION;
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
        return LG_CLASS_WHITESPACE;
    default:
        return LG_CLASS_OTHER;
    }
}

void lg_classify(const char *text, size_t n_bytes, uint8_t *classes) {
    uint8_t ascii[128];
    for (uint32_t c = 0; c < 128; c++) ascii[c] = class_of(c);
    for (size_t i = 0; i < n_bytes;) {
        unsigned char byte = (unsigned char)text[i];
        if (byte < 128) {
            classes[i++] = ascii[byte];
            continue;
        }
        uint32_t c;
        bool valid; /* a byte that is no UTF-8 decodes as U+FFFD */
        size_t length = lg_utf8_decode(text + i, n_bytes - i, &c, &valid);
        memset(classes + i, class_of(c), length);
        i += length;
    }
}

static bool fill(const lg_tag_maker *self, const lg_tag_document *d, const lg_spans *spans,
                 void *const *columns) {
    (void)self, (void)spans;
    uint8_t *out = columns[0];
    for (size_t i = 0; i < d->n_tokens; i++) {
        size_t at = lg_tag_token_first(d, i);
        out[i] = at < lg_tag_token_end(d, i) ? d->classes[at] & LG_CLASS_MASK : LG_CLASS_WHITESPACE;
    }
    return true;
}

static const char *const levels[] = {"whitespace", "word", "number", "punctuation", "other", NULL};

const lg_tag_maker lg_maker_char_class = {
    .name = "char_class",
    .help = "class of the token's first character that is not white space",
    .needs_text = true,
    .columns = {{.name = "char_class",
                 .help = "of the first character that is not white space",
                 .dtype = LG_U8,
                 .levels = levels}},
    .fill = fill,
};
