/* Growing byte buffers and UTF-8. */
#ifndef LG_BASE_TEXT_H
#define LG_BASE_TEXT_H

#include <string.h>

#include "lossgap/base.h"

/* A growing byte buffer, always NUL-terminated once something was put. {0} to start. After a failed
   allocation `failed` stays set and puts do nothing, so that writers check once. */
typedef struct lg_text {
    char *data;
    size_t length, capacity;
    bool failed;
} lg_text;

void lg_text_put(lg_text *text, const void *bytes, size_t length);
void lg_text_puts(lg_text *text, const char *string);
void lg_text_printf(lg_text *text, const char *format, ...) LG_PRINTF(2, 3);
void lg_text_free(lg_text *text);
/* Hands the finished text over: *BYTES [*LENGTH] is the caller's to free(). Frees it where a put had failed.
 */
lg_status lg_text_take(lg_text *text, char **bytes, size_t *length, lg_error *error);

/* Whether TEXT [LENGTH], any bytes, is WORD. (strncmp stops at a zero byte in both.) */
static inline bool lg_text_is(const char *text, size_t length, const char *word) {
    return length == strlen(word) && memcmp(text, word, length) == 0;
}

/* Decodes the character at TEXT (LENGTH > 0) and returns its bytes. A byte that begins no well-formed UTF-8
   sequence (overlong, surrogate, above U+10FFFF, cut off) is U+FFFD of one byte, and *VALID false. */
size_t lg_utf8_decode(const char *text, size_t length, uint32_t *code_point, bool *valid);
size_t lg_utf8_encode(uint32_t code_point, char out[4]); /* bytes written */

#endif
