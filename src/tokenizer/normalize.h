/* NFC as Hugging Face computes it, with the way back to the original bytes. */
#ifndef LG_TOKENIZER_NORMALIZE_H
#define LG_TOKENIZER_NORMALIZE_H

#include "base/text.h"
#include "tokenizer/unicode.h"

/* Bytes [from, from_end) of the original became [to, to_end). */
typedef struct lg_change {
    size_t from, from_end, to, to_end;
} lg_change;

/* Caller-owned scratch, reused: {0} to start. */
typedef struct lg_nfc {
    lg_text text;       /* the normalised text */
    lg_change *changes; /* [count], in order, everything else is as it was */
    size_t count, capacity;
    int32_t *characters; /* scratch */
    size_t characters_capacity;
} lg_nfc;

/* false: TEXT is its own NFC, or no memory (then *FAILED). An invalid byte stays itself, and nothing joins
 * it. */
bool lg_nfc_apply(lg_nfc *nfc, const lg_classes *classes, const char *text, size_t length, bool *failed);
void lg_nfc_free(lg_nfc *nfc);

#endif
