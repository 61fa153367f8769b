/* Cutting prose into words. Text falls into chunks at white space, and a chunk into words from left to right;
   what is looked at ahead is either consumed or bounded, so that the time is linear. */
#include "tag/split_cutter.h"

/* Bytes of the invisible character at I that may stand inside a word: U+00AD, U+200C, U+200D, U+2060. */
static size_t invisible(const cutter *c, size_t i) {
    const unsigned char *s = (const unsigned char *)c->text + i;
    size_t left = c->end - i;
    if (left > 1 && s[0] == 0xC2 && s[1] == 0xAD) return 2;
    if (left > 2 && s[0] == 0xE2 && s[1] == 0x80 && (s[2] == 0x8C || s[2] == 0x8D)) return 3;
    return left > 2 && s[0] == 0xE2 && s[1] == 0x81 && s[2] == 0xA0 ? 3 : 0;
}

size_t lg_cut_run(const cutter *c, size_t i) {
    for (;;) {
        while (wordy(c, i)) i++;
        if (i >= c->end || (c->classes[i] & LG_CLASS_MASK) != LG_CLASS_OTHER) return i;
        size_t inside = invisible(c, i);
        if (!inside || !letter(c, i + inside)) return i;
        i += inside;
    }
}

/* The first byte that is no white space from I on, but not far; n_bytes if none or if a blank line is
 * between. */
size_t lg_cut_peek(const cutter *c, size_t i) {
    unsigned newlines = 0;
    for (size_t last = i + 64; i < c->n_bytes && i < last; i++) {
        if (!lg_is_space(c->classes, i)) return i;
        newlines += c->text[i] == '\n';
        if (newlines > 1) break;
    }
    return c->n_bytes;
}

static void cut_chunk(cutter *c) {
    for (size_t i = c->begin; i < c->end && !c->failed;) {
        switch (c->classes[i] & LG_CLASS_MASK) {
        case LG_CLASS_WORD:
            i = lg_cut_letters(c, i);
            break;
        case LG_CLASS_NUMBER:
            i = lg_is_digit(c->text[i]) ? lg_cut_number(c, i, i) : lg_cut_letters(c, i);
            break;
        case LG_CLASS_PUNCTUATION:
            i = lg_cut_mark(c, i);
            break;
        default: {
            size_t end = i + 1;
            while (end < c->end && (c->classes[end] & LG_CLASS_MASK) == LG_CLASS_OTHER) end++;
            emit(c, i, end);
            i = end;
        }
        }
    }
}

bool lg_split_prose(const char *text, const uint8_t *classes, size_t n_bytes, lg_split style,
                    lg_spans *words) {
    cutter c = {.text = text, .classes = classes, .n_bytes = n_bytes, .style = style, .words = words};
    size_t first = words->count;
    for (size_t i = 0; i < n_bytes && !c.failed;) {
        size_t newlines = 0;
        for (; i < n_bytes && lg_is_space(classes, i); i++) newlines += text[i] == '\n';
        if (newlines > 1) c.quoted = false;
        c.begin = i;
        while (i < n_bytes && !lg_is_space(classes, i)) i++;
        c.end = i;
        cut_chunk(&c);
    }
    if (c.failed) return false;
    lg_mark_sentences(text, n_bytes, style, words, first);
    return true;
}
