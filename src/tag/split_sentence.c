/* Where sentences begin among the words of a text: after a terminator and what closes behind it, and at blank
   lines. One pass with constant look-ahead. */
#include <string.h>

#include "tag/split_internal.h"

typedef enum role {
    PLAIN,
    TERMINATOR, /* . ! ? and runs of them */
    ELLIPSIS,
    ABBREVIATION, /* a word that ends with a period */
    CLOSER,       /* ) ] ” ’’ and quotes that close */
    OPENER,       /* ( [ “ `` */
    QUOTE,        /* " ' : by its place */
} role;

static role role_of(const char *text, size_t begin, size_t end) {
    size_t n = end - begin;
    const char *s = text + begin;
    unsigned char first = (unsigned char)*s, last = (unsigned char)s[n - 1];
    if (first >= 0x80) {
        if (n == 3 && first == 0xE2 && (unsigned char)s[1] == 0x80) {
            switch ((unsigned char)s[2]) {
            case 0x9C:
                return OPENER; /* “ */
            case 0x98:
                return OPENER; /* ‘ */
            case 0x9D:         /* ” */
            case 0x99:
                return CLOSER; /* ’ */
            case 0xA6:
                return ELLIPSIS;
            }
        }
        if (n == 3 && first == 0xE3 && (unsigned char)s[1] == 0x80 && (unsigned char)s[2] == 0x82)
            return TERMINATOR;
        if (n == 3 && first == 0xEF && (unsigned char)s[1] == 0xBC &&
            ((unsigned char)s[2] == 0x81 || (unsigned char)s[2] == 0x9F))
            return TERMINATOR;
        if (n > 3 && first == 0xE2 && (unsigned char)s[2] == 0xA6)
            return last == '!' || last == '?' ? TERMINATOR : ELLIPSIS;
        return last == '.' ? ABBREVIATION : PLAIN;
    }
    switch (first) {
    case '.':
        for (size_t i = 0; i < n; i++) {
            if (s[i] == '!' || s[i] == '?') return TERMINATOR;
            if (s[i] != '.') return PLAIN;
        }
        return n > 1 ? ELLIPSIS : TERMINATOR;
    case '!':
    case '?':
        return TERMINATOR;
    case '"':
        return QUOTE;
    case '\'':
        return n == 1 ? QUOTE : n == 2 && s[1] == '\'' ? CLOSER : PLAIN;
    case '`':
        return OPENER;
    case '(':
    case '[':
    case '{':
        return n == 1 ? OPENER : PLAIN;
    case ')':
    case ']':
    case '}':
        return CLOSER;
    }
    return last == '.' ? ABBREVIATION : PLAIN;
}

typedef enum gap { GLUED, SPACE, LINE, BLANK_LINE } gap;

static gap gap_before(const char *text, size_t from, size_t to) {
    if (from == to) return GLUED;
    size_t newlines = 0;
    for (size_t i = from; i < to; i++)
        newlines += text[i] == '\n' || (text[i] == '\r' && (i + 1 == to || text[i + 1] != '\n'));
    return newlines > 1 ? BLANK_LINE : newlines ? LINE : SPACE;
}

/* Whether a new sentence may begin with the word at AT: no small letter, or I after openers. */
static bool may_begin(const char *text, const lg_spans *w, size_t i, size_t n_bytes) {
    for (size_t last = i + 3; i < w->count && i < last; i++) {
        role r = role_of(text, w->begin[i], w->end[i]);
        if (r != OPENER && r != QUOTE) break;
    }
    if (i >= w->count) return false;
    char b = text[w->begin[i]];
    return lg_is_capital(text, w->begin[i], n_bytes) || lg_is_digit(b) || (unsigned char)b >= 0x80;
}

void lg_mark_sentences(const char *text, const uint8_t *classes, size_t n_bytes, lg_spans *w, size_t first) {
    (void)classes;
    role ended = PLAIN;  /* what ended the sentence, closers aside */
    bool closed = false; /* a closer follows it */
    bool open = false;   /* a straight double quote is open */
    for (size_t i = first; i < w->count; i++) {
        size_t begin = (size_t)w->begin[i], end = (size_t)w->end[i];
        gap g = i == first ? BLANK_LINE : gap_before(text, (size_t)w->end[i - 1], begin);
        role r = role_of(text, begin, end);
        gap after = i + 1 < w->count ? gap_before(text, end, (size_t)w->begin[i + 1]) : BLANK_LINE;
        if (g == BLANK_LINE) open = false;
        if (r == QUOTE) {
            bool closes = text[begin] == '"' ? open : g == GLUED;
            if (g == GLUED && after != GLUED) closes = true;
            if (g != GLUED && after == GLUED) closes = false;
            if (text[begin] == '"') open = !closes;
            r = closes ? CLOSER : OPENER;
        }
        bool begins = g == BLANK_LINE;
        if (!begins && g != GLUED) {
            bool capital = may_begin(text, w, i, n_bytes);
            switch (ended) {
            case TERMINATOR:
                begins = r != TERMINATOR && r != CLOSER && (!closed || capital);
                break;
            case ELLIPSIS:
                begins = capital;
                break;
            case ABBREVIATION:
                begins = capital && lg_listed(LG_LIST_STARTER, text + begin, end - begin) &&
                         !lg_listed(LG_LIST_TITLE, text + w->begin[i - 1],
                                    (size_t)(w->end[i - 1] - w->begin[i - 1]) - 1);
                break;
            default:
                break;
            }
        }
        if (begins) w->tag[i] = LG_BEGINS_SENTENCE;
        if (r == CLOSER && ended != PLAIN && !begins) {
            closed = true;
        } else {
            /* a number with a period at the beginning of a line: of a list */
            bool enumerates = r == TERMINATOR && i > first && (w->tag[i - 1] & LG_BEGINS_SENTENCE) &&
                              end - begin == 1 && g == GLUED && lg_is_digit(text[w->begin[i - 1]]);
            ended = enumerates ? PLAIN : r == TERMINATOR || r == ELLIPSIS || r == ABBREVIATION ? r : PLAIN;
            closed = false;
        }
    }
}
