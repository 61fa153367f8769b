/* NFC, cut before every character that it neither changes nor joins with the one before; only pieces that
   hold other characters are computed. Which these are is Hugging Face's view (Unicode 9), whatever utf8proc
   knows. */
#include "tokenizer/normalize.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "base/memory.h"
#include "tokenizer/unicode.h"

static unsigned combining_class(const lg_classes *classes, int32_t c) {
    return lg_class_of(classes, (uint32_t)c) & LG_JOINING
               ? (unsigned)utf8proc_get_property(c)->combining_class
               : 0;
}

/* The composite of a starter and a character, or -1. */
static int32_t compose(int32_t starter, int32_t c) {
    int32_t pair[2] = {starter, c};
    return utf8proc_normalize_utf32(pair, 2, UTF8PROC_COMPOSE | UTF8PROC_STABLE) == 1 ? pair[0] : -1;
}

/* Sorts C[0..n) by combining class, stably. SPARE: room for n more. */
static void sort_by_class(const lg_classes *classes, int32_t *c, size_t n, int32_t *spare) {
    size_t at[257] = {0};
    for (size_t i = 0; i < n; i++) at[combining_class(classes, c[i]) + 1]++;
    for (size_t k = 1; k < 257; k++) at[k] += at[k - 1];
    for (size_t i = 0; i < n; i++) spare[at[combining_class(classes, c[i])]++] = c[i];
    memcpy(c, spare, n * sizeof *c);
}

static void order_marks(const lg_classes *classes, int32_t *c, size_t n, int32_t *spare) {
    for (size_t i = 0; i < n;) {
        size_t end = i;
        bool sorted = true;
        for (unsigned last = 0, now; end < n && (now = combining_class(classes, c[end])) != 0; end++) {
            sorted &= last <= now;
            last = now;
        }
        if (!sorted) sort_by_class(classes, c + i, end - i, spare);
        i = end + (end == i);
    }
}

static size_t join(const lg_classes *classes, int32_t *c, size_t n) {
    size_t out = 0, starter = SIZE_MAX;
    unsigned last = 0; /* class of the last character put after the starter */
    for (size_t i = 0; i < n; i++) {
        unsigned now = combining_class(classes, c[i]);
        if (starter != SIZE_MAX && (starter + 1 == out || last < now)) {
            int32_t composite = compose(c[starter], c[i]);
            if (composite >= 0) {
                c[starter] = composite;
                continue;
            }
        }
        if (!now) starter = out;
        last = now;
        c[out++] = c[i];
    }
    return out;
}

/* Puts the NFC of TEXT[from, end), all valid UTF-8. */
static bool put_piece(lg_nfc *nfc, const lg_classes *classes, const char *text, size_t from, size_t end) {
    size_t n = 0;
    for (size_t at = from; at < end;) {
        uint32_t c;
        at += lg_decode((const unsigned char *)text + at, (const unsigned char *)text + end, &c);
        enum { MOST = 32 }; /* no canonical decomposition is longer than 4 */
        if (!lg_reserve(&nfc->characters, &nfc->characters_capacity, n + MOST, sizeof *nfc->characters))
            return false;
        int last_boundclass = 0;
        utf8proc_ssize_t put = utf8proc_decompose_char((int32_t)c, nfc->characters + n, MOST,
                                                       UTF8PROC_DECOMPOSE, &last_boundclass);
        if (put < 1 || put > MOST) {
            nfc->characters[n] = (int32_t)c;
            put = 1;
        }
        n += (size_t)put;
    }
    if (!lg_reserve(&nfc->characters, &nfc->characters_capacity, 2 * n, sizeof *nfc->characters))
        return false;
    order_marks(classes, nfc->characters, n, nfc->characters + n);
    n = join(classes, nfc->characters, n);
    size_t to = nfc->text.length;
    for (size_t i = 0; i < n; i++) {
        char utf8[4];
        lg_text_put(&nfc->text, utf8, lg_utf8_encode((uint32_t)nfc->characters[i], utf8));
    }
    if (nfc->text.failed) return false;
    size_t size = nfc->text.length - to;
    if (size == end - from && memcmp(nfc->text.data + to, text + from, size) == 0) return true;
    if (!lg_reserve(&nfc->changes, &nfc->capacity, nfc->count + 1, sizeof *nfc->changes)) return false;
    nfc->changes[nfc->count++] = (lg_change){from, end, to, nfc->text.length};
    return true;
}

bool lg_nfc_apply(lg_nfc *nfc, const lg_classes *classes, const char *text, size_t length, bool *failed) {
    const unsigned char *s = (const unsigned char *)text, *end = s + length;
    nfc->text.length = nfc->count = 0;
    *failed = false;
    size_t copied = 0; /* what is before is in nfc->text */
    size_t last = 0;   /* where the last character that joins nothing begins */
    for (size_t at = 0; at < length;) {
        if (s[at] < 0x80) { /* ASCII joins nothing */
            last = at++;
            continue;
        }
        uint32_t c;
        size_t size = lg_decode(s + at, end, &c);
        if (!(lg_class_of(classes, c) & LG_JOINING)) {
            last = c == LG_REPLACEMENT ? at + size : at;
            at += size;
            continue;
        }
        size_t stop = at + size;
        while (stop < length && s[stop] >= 0x80) {
            size = lg_decode(s + stop, end, &c);
            if (!(lg_class_of(classes, c) & LG_JOINING)) break;
            stop += size;
        }
        lg_text_put(&nfc->text, text + copied, last - copied);
        if (!put_piece(nfc, classes, text, last, stop)) {
            *failed = true;
            return false;
        }
        copied = last = at = stop;
    }
    if (!nfc->count) return false;
    lg_text_put(&nfc->text, text + copied, length - copied);
    *failed = nfc->text.failed;
    return !*failed;
}

void lg_nfc_free(lg_nfc *nfc) {
    lg_text_free(&nfc->text);
    free(nfc->changes);
    free(nfc->characters);
    *nfc = (lg_nfc){0};
}
