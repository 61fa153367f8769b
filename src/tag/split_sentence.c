/* Where sentences begin among the words of a text: after a terminator and what closes behind it, at blank
   lines, and where lists, headings, letters and mail headers break the text without a mark. One pass over the
   words with a constant look around. */
#include <string.h>

#include "tag/split_internal.h"

typedef enum role {
    PLAIN,
    TERMINATOR, /* . ! ? and runs of them */
    ELLIPSIS,
    ABBREVIATION, /* a word that ends with a period */
    CLOSER,       /* ) ] ” ’’ */
    OPENER,       /* ( [ “ `` */
    QUOTE,        /* " ' : opens or closes, by its place */
    EMOTICON,
    ADDRESS, /* a URL */
    DIVIDER, /* ------ */
} role;

typedef enum gap { GLUED, SPACE, LINE, BLANK_LINE } gap; /* the white space between two words */

typedef struct marker {
    const char *text;
    size_t n_bytes;
    const lg_spans *words;
    lg_split style;
} marker;

static const char *word(const marker *m, size_t i) {
    return m->text + m->words->begin[i];
}
static size_t length(const marker *m, size_t i) {
    return (size_t)(m->words->end[i] - m->words->begin[i]);
}
static bool is(const marker *m, size_t i, const char *what) {
    return i < m->words->count && length(m, i) == strlen(what) && !memcmp(word(m, i), what, length(m, i));
}
static bool listed(const marker *m, size_t i, lg_word_list list) {
    return lg_listed(list, word(m, i), length(m, i));
}
static bool capital(const marker *m, size_t i) {
    return lg_is_capital(m->text, (size_t)m->words->begin[i], m->n_bytes);
}

/* Digits joined by JOINER, not more than 10 bytes. */
static bool is_number(const marker *m, size_t i, char joiner) {
    if (i >= m->words->count || length(m, i) > 10) return false;
    const char *s = word(m, i);
    bool joined = false;
    for (size_t k = 0; k < length(m, i); k++) {
        if (!lg_is_digit(s[k]) && s[k] != joiner) return false;
        joined |= s[k] == joiner;
    }
    return lg_is_digit(*s) && (joined || !joiner);
}

static role beyond_ascii(const unsigned char *s, size_t n) {
    static const unsigned char full_stops[][3] = {
        {0xE3, 0x80, 0x82}, {0xEF, 0xBC, 0x81}, {0xEF, 0xBC, 0x9F}, {0xE0, 0xA5, 0xA4}}; /* 。！？। */
    if (n < 3) return s[n - 1] == '.' ? ABBREVIATION : PLAIN;
    for (size_t k = 0; n == 3 && k < sizeof full_stops / sizeof *full_stops; k++)
        if (!memcmp(s, full_stops[k], 3)) return TERMINATOR;
    if (s[0] == 0xE2 && s[1] == 0x80) {
        if (s[2] == 0x9C || s[2] == 0x98) return OPENER; /* “ ‘ */
        if (s[2] == 0x9D || (s[2] == 0x99 && (n == 3 || (n == 6 && s[3] == 0xE2)))) return CLOSER; /* ” ’ */
        if (s[2] == 0xA6) return s[n - 1] == '!' || s[n - 1] == '?' ? TERMINATOR : ELLIPSIS;
    }
    return s[n - 1] == '.' ? ABBREVIATION : PLAIN;
}

static role role_of(const marker *m, size_t i) {
    const char *s = word(m, i);
    size_t n = length(m, i), same = 0;
    if ((unsigned char)*s >= 0x80) return beyond_ascii((const unsigned char *)s, n);
    switch (*s) {
    case '.':
        while (same < n && s[same] == '.') same++;
        if (same == n) return n > 1 ? ELLIPSIS : TERMINATOR;
        return s[same] == '!' || s[same] == '?' ? TERMINATOR : PLAIN;
    case '!':
    case '?':
        return TERMINATOR;
    case '"':
        return QUOTE;
    case '\'':
        return n == 1 ? QUOTE : n == 2 && s[1] == '\'' ? CLOSER : PLAIN;
    case '`':
        return n < 3 ? OPENER : PLAIN;
    case '(':
    case '[':
    case '{':
        return n == 1 ? OPENER : EMOTICON;
    case ')':
    case ']':
    case '}':
        return CLOSER;
    case ':':
    case ';':
    case '^':
        return n > 1 ? EMOTICON : PLAIN;
    case '=':
        if (n > 1 && n < 4 && (s[1] == ')' || s[1] == '(' || s[2 % n] == ')')) return EMOTICON;
        /* fall through */
    case '-':
    case '*':
    case '_':
    case '~':
    case '+':
        while (same < n && s[same] == *s) same++;
        return same == n && n > 4 ? DIVIDER : PLAIN;
    }
    if (s[n - 1] == '.') return ABBREVIATION;
    if (n > 10 && (*s | 0x20) == 'h' && (memchr(s, ':', 6) && !memcmp(s + 1, "ttp", 3))) return ADDRESS;
    return PLAIN;
}

static gap gap_before(const marker *m, size_t i) {
    if (i == 0) return BLANK_LINE;
    size_t newlines = 0, to = (size_t)m->words->begin[i], from = (size_t)m->words->end[i - 1];
    if (from == to) return GLUED;
    for (size_t k = from; k < to; k++)
        newlines += m->text[k] == '\n' || (m->text[k] == '\r' && (k + 1 == to || m->text[k + 1] != '\n'));
    return newlines > 1 ? BLANK_LINE : newlines ? LINE : SPACE;
}

/* Whether a sentence may begin at I as sentences are written: a capital, a digit, no Latin letter; behind
   what opens. */
static bool may_begin(const marker *m, size_t i) {
    for (size_t last = i + 3; i < m->words->count && i < last; i++) {
        role r = role_of(m, i);
        if (r != OPENER && r != QUOTE) break;
    }
    return i < m->words->count &&
           (capital(m, i) || lg_is_digit(*word(m, i)) || (unsigned char)*word(m, i) >= 0x80);
}

static bool is_small(const marker *m, size_t i) {
    return *word(m, i) >= 'a' && *word(m, i) <= 'z';
}

static bool ends_small(const marker *m, size_t i) {
    char last = word(m, i)[length(m, i) - 1];
    return last >= 'a' && last <= 'z' && length(m, i) > 1;
}

/* Whether a reference ends near after I, the word behind its bracket: [7], [citation needed] */
static bool is_reference(const marker *m, size_t i) {
    if (i >= m->words->count || (!is_number(m, i, 0) && !is_small(m, i))) return false;
    for (size_t last = i + 4; i < last; i++)
        if (is(m, i, "]")) return true;
    return false;
}

/* Whether the line that begins at I is an item of a list, a heading or a fence. */
static bool begins_block(const marker *m, size_t i) {
    const char *s = word(m, i);
    size_t n = length(m, i);
    bool alone = i + 1 >= m->words->count || gap_before(m, i + 1) != GLUED;
    if (*s == '#' && alone) return true;
    if (n == 1 && (*s == '-' || *s == '*' || *s == '+') && alone) return true;
    if (*s == '|' || (*s == ':' && !alone)) return true; /* of a table; :field: */
    if (n == 3 && !memcmp(s, ">>>", 3)) return true;
    if (n == 3 && !memcmp(s, "\xE2\x80\xA2", 3)) return true; /* • */
    if (n > 2 && (*s == '`' || *s == '~' || *s == '=' || *s == '-') && s[1] == *s && s[2] == *s)
        return i + 1 >= m->words->count || gap_before(m, i + 1) >= (*s == '`' ? GLUED : LINE);
    return n < 4 && is_number(m, i, 0) && (is(m, i + 1, ".") || is(m, i + 1, ")")) &&
           gap_before(m, i + 1) == GLUED && i + 2 < m->words->count && gap_before(m, i + 2) == SPACE;
}

void lg_mark_sentences(const char *text, size_t n_bytes, lg_split style, lg_spans *w, size_t first) {
    marker m = {.text = text, .n_bytes = n_bytes, .words = w, .style = style};
    role ended = PLAIN;     /* what ended the sentence, closers aside */
    bool closed = false;    /* a closer follows it */
    bool open = false;      /* a straight double quote is open */
    bool reference = false; /* inside [7] behind a terminator */
    bool heading = false;   /* on a line that began with # or a fence */
    bool fenced = false;    /* between fences of code */
    unsigned stamp = 0;     /* parts seen of 11/28/2000 10:05 AM */
    size_t start = first;   /* of the sentence */
    for (size_t i = first; i < w->count; i++) {
        gap g = i == first ? BLANK_LINE : gap_before(&m, i);
        role r = role_of(&m, i);
        if (g == BLANK_LINE) open = false;
        if (r == QUOTE) {
            gap after = i + 1 < w->count ? gap_before(&m, i + 1) : BLANK_LINE;
            bool closes = *word(&m, i) == '"' ? open : g == GLUED;
            if (g == GLUED && after != GLUED) closes = true;
            if (g != GLUED && after == GLUED) closes = false;
            if (*word(&m, i) == '"') open = !closes;
            r = closes ? CLOSER : OPENER;
        }
        bool begins = g == BLANK_LINE;
        if (!begins && r == OPENER && ended == TERMINATOR && is(&m, i, "[") && is_reference(&m, i + 1))
            reference = true;
        bool attached = r == CLOSER || r == TERMINATOR || r == EMOTICON || reference;
        if (g == GLUED && !attached && ended == TERMINATOR && !closed && capital(&m, i) && i > start + 1)
            begins = !is(&m, i - 1, ".") || ends_small(&m, i - 2); /* they said.Then we */
        if (g == GLUED && !attached && ended == TERMINATOR && (unsigned char)*word(&m, i - 1) >= 0x80)
            begins = true; /* 。 has no space behind it */
        if (!begins && g != GLUED && !attached) {
            switch (ended) {
            case TERMINATOR:
                begins = !closed || may_begin(&m, i);
                /* Oh! what … */
                if (is_small(&m, i) && *word(&m, i - 1) != '.' && (i - start <= 2 || style == LG_SPLIT_WHOLE))
                    begins = false;
                break;
            case ELLIPSIS:
            case EMOTICON:
                begins = may_begin(&m, i);
                break;
            case ABBREVIATION:
                begins = capital(&m, i) && listed(&m, i, LG_LIST_STARTER) &&
                         !lg_listed(LG_LIST_TITLE, word(&m, i - 1), length(&m, i - 1) - 1);
                break;
            case ADDRESS:
                begins = r == ADDRESS || capital(&m, i);
                break;
            default:
                begins = ended == DIVIDER || r == DIVIDER;
            }
            if (i - start <= 3 && i - start >= 2 && is(&m, i - 1, ",")) /* Best wishes, | John */
                begins |= listed(&m, start, LG_LIST_SIGN_OFF) || listed(&m, i - 2, LG_LIST_SIGN_OFF);
            if (stamp == 3 || (stamp == 2 && capital(&m, i) && !is(&m, i, "AM") && !is(&m, i, "PM")))
                begins = true;
            if (is_number(&m, i, '/') && is_number(&m, i + 1, ':'))
                begins |= !is(&m, i - 1, "on") && !is(&m, i - 1, "at");
            if (is(&m, i - 1, ":") && length(&m, i) < 3 && is_number(&m, i, 0) &&
                (is(&m, i + 1, ".") || is(&m, i + 1, ")")))
                begins = true;
        }
        if (g >= LINE) {
            bool block = begins_block(&m, i);
            bool fence = length(&m, i) > 2 && !memcmp(word(&m, i), "```", 3);
            if (g == LINE && (block || heading || fenced)) begins = true;
            if (fence) fenced = !fenced;
            heading = fence || (block && *word(&m, i) == '#');
        }
        if (begins) {
            w->tag[i] = LG_BEGINS_SENTENCE;
            start = i;
        }
        stamp = is_number(&m, i, '/')                                ? 1
                : stamp == 1 && is_number(&m, i, ':')                ? 2
                : stamp == 2 && (is(&m, i, "AM") || is(&m, i, "PM")) ? 3
                                                                     : 0;
        if (!begins && ended != PLAIN && (r == CLOSER || reference)) {
            closed |= !reference;
            if (r == CLOSER) reference = false;
        } else if (r != EMOTICON || ended != TERMINATOR || begins) {
            /* 1. What stands in a list; Figure 2. What it shows */
            bool enumerates = r == TERMINATOR && g == GLUED && length(&m, i) == 1 && i > first &&
                              is_number(&m, i - 1, 0) &&
                              (start == i - 1 || (start + 2 == i && capital(&m, start)));
            ended = enumerates || r == CLOSER || r == OPENER ? PLAIN : r;
            closed = reference = false;
        }
    }
}
