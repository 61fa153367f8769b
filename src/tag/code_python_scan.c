/* Python before the parser sees it: where strings end, so that one without an end does not take the parser
   along, and where a long text may be cut. */
#include <string.h>

#include "tag/code_python.h"

enum {
    MAX_FIELD = 500, /* bytes of a field in which its end is looked for */
    MAX_NESTING = 8, /* formatted strings inside each other's fields */
};

typedef struct scanner {
    const char *text;
    size_t begin, end;
} scanner;

typedef struct string {
    size_t begin; /* its prefix */
    size_t inside, end;
    bool triple, closed;
} string;

/* Where the prefix of a string begins whose quote is at AT. */
static size_t prefix_of(const scanner *x, size_t at, bool *formatted) {
    size_t begin = at;
    *formatted = false;
    while (begin > x->begin && at - begin < 3 && strchr("rRbBuUfFtT", x->text[begin - 1])) {
        begin--;
        *formatted |= (x->text[begin] | 32) == 'f' || (x->text[begin] | 32) == 't';
    }
    return begin;
}

static string skip_string(const scanner *x, size_t at, size_t end, int nesting);

/* Where the field ends that begins behind its brace at AT; 0: nowhere near. */
static size_t skip_field(const scanner *x, size_t at, size_t end, int nesting) {
    size_t depth = 0;
    if (end - at > MAX_FIELD) end = at + MAX_FIELD;
    while (at < end) {
        char c = x->text[at];
        if (c == '"' || c == '\'') {
            if (nesting == MAX_NESTING) return 0;
            string inner = skip_string(x, at, end, nesting + 1);
            if (!inner.closed) return 0;
            at = inner.end;
        } else {
            if (c == '}' && !depth) return at + 1;
            depth += c == '(' || c == '[' || c == '{';
            depth -= depth && (c == ')' || c == ']' || c == '}');
            at += c == '\\' ? 2 : 1;
        }
    }
    return 0;
}

/* The string whose quote is at AT. Without an end, one in single quotes ends with its line. */
static string skip_string(const scanner *x, size_t at, size_t end, int nesting) {
    const char *text = x->text;
    char quote = text[at];
    bool formatted;
    string s = {.triple = end - at >= 3 && text[at + 1] == quote && text[at + 2] == quote};
    s.begin = prefix_of(x, at, &formatted);
    s.inside = at += s.triple ? 3 : 1;
    while (at < end) {
        char c = text[at];
        if (c == quote && (!s.triple || (end - at >= 3 && text[at + 1] == quote && text[at + 2] == quote))) {
            s.end = at + (s.triple ? 3 : 1);
            s.closed = true;
            return s;
        }
        if (!s.triple && c == '\n') break;
        if (formatted && c == '{' && (end - at < 2 || text[at + 1] != '{')) {
            size_t field = skip_field(x, at + 1, end, nesting);
            if (!field && nesting) break; /* the outermost string tries once more, without fields */
            at = field ? field : at + 1;
        } else at += c == '\\' || (formatted && c == '{') ? 2 : 1;
    }
    s.end = at < end ? at : end;
    if (!s.triple && s.end < end && s.end > s.inside && text[s.end - 1] == '\r') s.end--;
    return s;
}

/* The next string in [AT, x->end), behind comments; false: none. */
static bool next_string(const scanner *x, size_t at, string *s) {
    static const bool matters[256] = {['"'] = true, ['\''] = true, ['#'] = true, ['\\'] = true};
    while (at < x->end) {
        char c = x->text[at];
        if (!matters[(unsigned char)c]) {
            at++;
        } else if (c == '\\') {
            at += 2;
        } else if (c == '#') {
            const char *newline = memchr(x->text + at, '\n', x->end - at);
            if (!newline) return false;
            at = (size_t)(newline - x->text);
        } else {
            *s = skip_string(x, at, x->end, 0);
            return true;
        }
    }
    return false;
}

void lg_python_prepare(lg_code_walk *w, size_t begin, size_t end, char *seen, lg_spans *fixed) {
    scanner x = {w->text, begin, end};
    string s;
    w->python->unclosed = end;
    for (size_t at = begin; next_string(&x, at, &s) && !w->failed; at = s.end) {
        if (s.closed) continue;
        if (s.triple) {
            w->python->unclosed = s.begin;
            return;
        }
        /* to the parser it is a name */
        memset(seen + (s.begin - begin), ' ', s.end - s.begin);
        seen[s.begin - begin] = '_';
        w->failed =
            !lg_spans_add(fixed, s.begin, s.inside, LG_PYTHON_OPEN_QUOTE) ||
            (s.end > s.inside && !lg_spans_add(fixed, s.inside, s.end, lg_python_string_tag(w, s.begin)));
    }
}

size_t lg_python_open_at(const lg_code_walk *w, size_t begin, size_t end) {
    (void)begin, (void)end;
    return w->python->unclosed;
}

size_t lg_python_cut(const lg_code_walk *w, size_t begin, size_t wanted, size_t end) {
    scanner x = {w->text, begin, wanted};
    size_t depth = 0, cut = 0, inside = 0; /* the best place inside of a statement */
    char line = 0;                         /* the first character of the last line at the margin */
    (void)end;
    for (size_t at = begin; at < wanted;) {
        char c = w->text[at];
        if (c == '#') {
            while (at < wanted && w->text[at] != '\n') at++;
        } else if (c == '"' || c == '\'') {
            at = skip_string(&x, at, wanted, 0).end;
        } else {
            depth += c == '(' || c == '[' || c == '{';
            depth -= depth && (c == ')' || c == ']' || c == '}');
            at += c == '\\' ? 2 : 1;
            if (at >= wanted) continue;
            if (depth && at - begin > (wanted - begin) / 4 && (c == '\n' || c == ',' || c == ' '))
                inside = at;
            if (c != '\n' || depth) continue;
            /* decorators and else, elif, except, finally go with what is around them */
            bool margin = (w->classes[at] & LG_CLASS_IN_WORD) || w->text[at] == '@';
            bool fits = margin && line != '@' && w->text[at] != 'e' && w->text[at] != 'f';
            if (fits && at - begin > (wanted - begin) / 4)
                cut = at; /* or it would be a long way in small steps */
            if (margin) line = w->text[at];
        }
    }
    return cut ? cut : inside ? inside : wanted;
}
