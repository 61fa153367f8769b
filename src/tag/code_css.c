/* CSS (in HTML): which node of tree-sitter's tree gets which tag, and the plain lexer. */
#include <string.h>

#include "tag/code_internal.h"

const TSLanguage *lg_grammar_css(void);

static uint16_t choose_quote(const lg_code_walk *w, const lg_code_node *node, size_t end,
                             const lg_code_node *parents, size_t n_parents) {
    (void)w, (void)end;
    return n_parents && node->begin == parents[n_parents - 1].begin ? LG_CSS_OPEN_QUOTE : LG_CSS_CLOSE_QUOTE;
}

static const lg_code_rule rules[] = {
    /* Selectors: names with the marks that belong to them, .class, #id, :hover, ::before, in one leaf. */
    {.nodes = "tag_name class_name id_name nesting_selector universal_selector namespace_name keyframes_name",
     .tag = LG_CSS_SELECTOR},
    {.tokens = ".", .parent = "class_selector", .tag = LG_CSS_SELECTOR},
    {.tokens = "#", .parent = "id_selector", .tag = LG_CSS_SELECTOR},
    {.tokens = ":", .parent = "pseudo_class_selector", .tag = LG_CSS_SELECTOR},
    {.tokens = "::", .tag = LG_CSS_SELECTOR},
    {.nodes = "attribute_name", .tag = LG_CSS_SELECTOR},

    {.nodes = "property_name feature_name", .tag = LG_CSS_PROPERTY},
    {.nodes = "integer_value float_value", .tag = LG_CSS_NUMBER},
    {.nodes = "color_value", .tag = LG_CSS_COLOR},
    {.nodes = "function_name", .tag = LG_CSS_FUNCTION},
    {.nodes = "plain_value identifier keyword_query", .tag = LG_CSS_VALUE},

    {.nodes = "at_keyword important from to", .tag = LG_CSS_KEYWORD},
    {.tokens = "@charset @import @keyframes @media @namespace @supports and not of only or selector from to",
     .tag = LG_CSS_KEYWORD},
    {.nodes = "comment js_comment", .tag = LG_CSS_COMMENT},

    {.nodes = "string_value", .inner = true, .gaps = LG_CSS_STRING},
    {.nodes = "string_content escape_sequence", .tag = LG_CSS_STRING},
    {.tokens = "\" '", .choose = choose_quote},

    {.tokens = "(", .tag = LG_CSS_OPEN_ROUND},
    {.tokens = ")", .tag = LG_CSS_CLOSE_ROUND},
    {.tokens = "[", .tag = LG_CSS_OPEN_SQUARE},
    {.tokens = "]", .tag = LG_CSS_CLOSE_SQUARE},
    {.tokens = "{", .tag = LG_CSS_OPEN_CURLY},
    {.tokens = "}", .tag = LG_CSS_CLOSE_CURLY},
    {.tokens = ",", .tag = LG_CSS_COMMA},
    {.tokens = ":", .tag = LG_CSS_COLON},
    {.tokens = ";", .tag = LG_CSS_SEMICOLON},
    {.tokens = "+ - * / > ~ | = ~= ^= |= *= $=", .tag = LG_CSS_OPERATOR},
    {0},
};

/* ---- The plain lexer ---- */

static bool is_name(unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c >= 128;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_white(const lg_code_walk *w, size_t at) {
    return (w->classes[at] & LG_CLASS_MASK) == LG_CLASS_WHITESPACE;
}

typedef enum part { SELECTOR, PROPERTY, VALUE, PRELUDE /* of an at-rule */ } part;

/* What begins at AT: a selector if a { comes before the next ; or }, else a declaration. */
static part part_at(const char *text, size_t at, size_t end, size_t *next) {
    if (*next <= at) {
        *next = at;
        while (*next < end && !memchr("{};", text[*next], 3)) ++*next;
    }
    return *next < end && text[*next] == '{' ? SELECTOR : PROPERTY;
}

static uint16_t mark_tag(char c, part *now) {
    switch (c) {
    case '(':
        return LG_CSS_OPEN_ROUND;
    case ')':
        return LG_CSS_CLOSE_ROUND;
    case '[':
        return LG_CSS_OPEN_SQUARE;
    case ']':
        return LG_CSS_CLOSE_SQUARE;
    case '{':
        return LG_CSS_OPEN_CURLY;
    case '}':
        return LG_CSS_CLOSE_CURLY;
    case ';':
        return LG_CSS_SEMICOLON;
    case ',':
        return LG_CSS_COMMA;
    case ':':
        if (*now == SELECTOR) return LG_CSS_SELECTOR;
        if (*now == PROPERTY) *now = VALUE;
        return LG_CSS_COLON;
    case '&':
    case '*':
        if (*now == SELECTOR) return LG_CSS_SELECTOR;
        return LG_CSS_OPERATOR;
    default:
        return c && strchr("+-/>~|=^$<%", c) ? LG_CSS_OPERATOR : LG_CSS_ERROR;
    }
}

static uint16_t name_tag(part now, bool called) {
    switch (now) {
    case SELECTOR:
        return LG_CSS_SELECTOR;
    case PROPERTY:
        return LG_CSS_PROPERTY;
    default:
        return called ? LG_CSS_FUNCTION : LG_CSS_VALUE;
    }
}

static void lex(lg_code_walk *w, size_t begin, size_t end) {
    const char *text = w->text;
    part now = SELECTOR;
    size_t stop = 0; /* the next { } or ; */
    bool fresh = true, no_comment_end = false;
    for (size_t at = begin, next; at < end && !w->failed; at = next) {
        char c = text[at];
        next = at + 1;
        if (is_white(w, at)) {
            while (next < end && is_white(w, next)) next++;
            lg_code_put(w, at, next, LG_CODE_WHITESPACE);
            continue;
        }
        char after = next < end ? text[next] : '\0';
        if (c == '/' && after == '*' && !no_comment_end) {
            const char *hit = memmem(text + at + 2, end - at - 2, "*/", 2);
            no_comment_end = !hit;
            next = hit ? (size_t)(hit - text) + 2 : end;
            lg_code_put(w, at, next, LG_CSS_COMMENT);
            continue;
        }
        if ((c == '<' || c == '-') && end - at >= 3 &&
            ((end - at >= 4 && !memcmp(text + at, "<!--", 4)) || !memcmp(text + at, "-->", 3))) {
            next = at + (c == '<' ? 4 : 3);
            if (next > end) next = end;
            lg_code_put(w, at, next, LG_CSS_COMMENT);
            continue;
        }
        if (fresh) now = part_at(text, at, end, &stop);
        fresh = false;
        uint16_t tag;
        if (c == '"' || c == '\'') {
            while (next < end && text[next] != c && text[next] != '\n')
                next += text[next] == '\\' && next + 1 < end ? 2 : 1;
            if (next > end) next = end;
            lg_code_put(w, at, at + 1, LG_CSS_OPEN_QUOTE);
            lg_code_put(w, at + 1, next, LG_CSS_STRING);
            if (next < end && text[next] == c) {
                lg_code_put(w, next, next + 1, LG_CSS_CLOSE_QUOTE);
                next++;
            }
            continue;
        }
        if (c == '@' && is_name((unsigned char)after)) {
            while (next < end && is_name((unsigned char)text[next])) next++;
            tag = LG_CSS_KEYWORD;
            now = PRELUDE;
        } else if (c == '!' && is_name((unsigned char)after)) {
            while (next < end && is_name((unsigned char)text[next])) next++;
            tag = LG_CSS_KEYWORD;
        } else if (now == SELECTOR && (c == '.' || c == '#') && is_name((unsigned char)after)) {
            while (next < end && is_name((unsigned char)text[next])) next++;
            tag = LG_CSS_SELECTOR;
        } else if (c == '#' && is_name((unsigned char)after)) {
            while (next < end && is_name((unsigned char)text[next])) next++;
            tag = LG_CSS_COLOR;
        } else if (now != SELECTOR && (is_digit(c) || ((c == '.' || c == '-' || c == '+') &&
                                                       (is_digit(after) || after == '.')))) {
            while (next < end &&
                   (is_name((unsigned char)text[next]) || text[next] == '.' || text[next] == '%'))
                next++;
            tag = LG_CSS_NUMBER;
        } else if (is_name((unsigned char)c)) {
            while (next < end && is_name((unsigned char)text[next])) next++;
            tag = name_tag(now, next < end && text[next] == '(');
        } else {
            tag = mark_tag(c, &now);
            fresh = c == '{' || c == '}' || c == ';';
        }
        lg_code_put(w, at, next, tag);
    }
}

/* ---- Hooks ---- */

/* The parser sees neither NULs nor the marks <!-- and --> nor CDATA's, which pages hide styles with. */
static void prepare(lg_code_walk *w, size_t begin, size_t end, char *seen, lg_spans *fixed) {
    static const char *const marks[] = {"<!--", "-->", "<![CDATA[", "]]>", NULL};
    size_t n = end - begin;
    for (size_t i = 0; i < n; i++) {
        char c = seen[i];
        if (c == '\0') seen[i] = ' ';
        if (c != '<' && c != '-' && c != ']') continue;
        for (size_t m = 0; marks[m]; m++) {
            size_t length = strlen(marks[m]);
            if (length > n - i || memcmp(seen + i, marks[m], length)) continue;
            memset(seen + i, ' ', length);
            if (!lg_spans_add(fixed, begin + i, begin + i + length, LG_CSS_COMMENT)) w->failed = true;
            break;
        }
    }
}

/* Pieces of one selector, and of one string, are one leaf. */
static void put(lg_code_walk *w, size_t begin, size_t end, uint16_t tag) {
    if (tag == LG_CSS_STRING || tag == LG_CSS_SELECTOR) lg_code_extend(w, begin, end, tag);
    else lg_code_add(w, begin, end, tag);
}

const lg_code_language lg_code_css = {
    .name = "css",
    .grammar = lg_grammar_css,
    .rules = rules,
    .lex = lex,
    .prepare = prepare,
    .put = put,
};
