/* Growing byte buffers and UTF-8. */
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

static bool make_room(lg_text *text, size_t length) {
    if (!text->failed)
        text->failed = length >= SIZE_MAX - text->length ||
                       !lg_reserve(&text->data, &text->capacity, text->length + length + 1, 1);
    return !text->failed;
}

void lg_text_put(lg_text *text, const void *bytes, size_t length) {
    if (!make_room(text, length)) return;
    if (length) memcpy(text->data + text->length, bytes, length);
    text->length += length;
    text->data[text->length] = '\0';
}

void lg_text_puts(lg_text *text, const char *string) {
    lg_text_put(text, string, strlen(string));
}

void lg_text_printf(lg_text *text, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0) text->failed = true;
    if (length >= 0 && make_room(text, (size_t)length)) {
        vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    }
    va_end(again);
}

void lg_text_free(lg_text *text) {
    free(text->data);
    *text = (lg_text){0};
}

lg_status lg_text_take(lg_text *text, char **bytes, size_t *length, lg_error *error) {
    if (text->failed) {
        lg_text_free(text);
        return lg_fail_memory(error);
    }
    *bytes = text->data;
    *length = text->length;
    *text = (lg_text){0};
    return LG_OK;
}

size_t lg_utf8_decode(const char *text, size_t length, uint32_t *code_point, bool *valid) {
    const unsigned char *s = (const unsigned char *)text;
    *valid = true;
    *code_point = s[0];
    if (s[0] < 0x80) return 1;
    size_t n = s[0] >= 0xC2 && s[0] < 0xE0   ? 2
               : s[0] >= 0xE0 && s[0] < 0xF0 ? 3
               : s[0] >= 0xF0 && s[0] < 0xF5 ? 4
                                             : 0;
    uint32_t c = n ? s[0] & (0xFFu >> (n + 1)) : 0;
    size_t i = 1;
    for (; i < n && i < length && (s[i] & 0xC0) == 0x80; i++) c = c << 6 | (s[i] & 0x3Fu);
    if (!n || i < n || (n == 3 && (c < 0x800 || (c >= 0xD800 && c < 0xE000))) ||
        (n == 4 && (c < 0x10000 || c > 0x10FFFF))) {
        *code_point = 0xFFFD;
        *valid = false;
        return 1;
    }
    *code_point = c;
    return n;
}

size_t lg_utf8_encode(uint32_t c, char out[4]) {
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = n; i-- > 1; c >>= 6) out[i] = (char)(0x80 | (c & 0x3F));
    out[0] = (char)(lead[n] | c);
    return n;
}
