/* Character classes as Hugging Face tokenizers see them, and a decoder that never fails. */
#ifndef LG_TOKENIZER_UNICODE_H
#define LG_TOKENIZER_UNICODE_H

#include <stddef.h>
#include <stdint.h>

enum {
    LG_LETTER = 1,   /* \p{L} */
    LG_NUMBER = 2,   /* \p{N} */
    LG_SPACE = 4,    /* \s, Unicode's White_Space */
    LG_NEWLINE = 8,  /* \r and \n */
    LG_WORD = 16,    /* \w, as the single_word flag of added tokens means it */
    LG_JOINING = 32, /* NFC may change it or join it with the character before */
    LG_NEWER = 64,   /* PCRE2's tables do not know its class */
    LG_BLANK = 128,  /* U+0020 */
};

#define LG_CODE_POINTS 0x110000u
#define LG_REPLACEMENT 0xFFFDu

/* The class of every code point, in blocks of 256 of which many are the same. */
typedef struct lg_classes {
    uint16_t block[LG_CODE_POINTS / 256];
    uint8_t values[][256]; /* the first block is that of U+0000 to U+00FF */
} lg_classes;

lg_classes *lg_classes_create(void); /* free(); NULL: no memory */

static inline unsigned lg_class_of(const lg_classes *classes, uint32_t code_point) {
    return classes->values[classes->block[code_point >> 8]][code_point & 0xFF];
}

/* The bytes of the character at TEXT < END; a byte that begins no well-formed UTF-8 sequence is U+FFFD of
   length 1. The same as lg_utf8_decode, in line for the splitters. */
static inline size_t lg_decode(const unsigned char *text, const unsigned char *end, uint32_t *code_point) {
    uint32_t a = text[0];
    size_t left = (size_t)(end - text);
    *code_point = a;
    if (a < 0x80) return 1;
    *code_point = LG_REPLACEMENT;
    if (a < 0xC2 || left < 2) return 1;
    uint32_t b = text[1] ^ 0x80u;
    if (b > 0x3F) return 1;
    if (a < 0xE0) {
        *code_point = (a & 0x1F) << 6 | b;
        return 2;
    }
    if (left < 3) return 1;
    uint32_t c = text[2] ^ 0x80u;
    if (c > 0x3F) return 1;
    if (a < 0xF0) {
        uint32_t p = (a & 0x0F) << 12 | b << 6 | c;
        if (p < 0x800 || (p >= 0xD800 && p < 0xE000)) return 1;
        *code_point = p;
        return 3;
    }
    if (left < 4 || a > 0xF4) return 1;
    uint32_t d = text[3] ^ 0x80u;
    uint32_t p = (a & 0x07) << 18 | b << 12 | c << 6 | d;
    if (d > 0x3F || p < 0x10000 || p >= LG_CODE_POINTS) return 1;
    *code_point = p;
    return 4;
}

/* The class and *LENGTH of the character at TEXT < END. */
static inline unsigned lg_class_at(const lg_classes *classes, const unsigned char *text,
                                   const unsigned char *end, size_t *length) {
    if (text[0] < 0x80) {
        *length = 1;
        return classes->values[0][text[0]];
    }
    uint32_t code_point;
    *length = lg_decode(text, end, &code_point);
    return lg_class_of(classes, code_point);
}

/* The character that ends at END > BEGIN: its *LENGTH, and its class. */
unsigned lg_class_before(const lg_classes *classes, const unsigned char *begin, const unsigned char *end,
                         size_t *length);

#endif
