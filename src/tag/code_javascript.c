/* JavaScript (in HTML): which node of tree-sitter's tree gets which tag, and the plain lexer. */
#include <string.h>

#include "tag/code_internal.h"

const TSLanguage *lg_grammar_javascript(void);

/* Each list between blanks. */
static const char keywords[] = " async await break case catch class const continue debugger default delete "
                               "do else export extends finally for"
                               " from function get if import in instanceof let new of return set static "
                               "super switch this throw try typeof var"
                               " void while with yield ";
static const char constants[] = " true false null ";
static const char builtins[] =
    " undefined NaN Infinity globalThis arguments eval isFinite isNaN parseFloat parseInt decodeURI"
    " decodeURIComponent encodeURI encodeURIComponent escape unescape Object Function Boolean Symbol Error"
    " AggregateError EvalError RangeError ReferenceError SyntaxError TypeError URIError Number BigInt Math "
    "Date String"
    " RegExp Array Int8Array Uint8Array Uint8ClampedArray Int16Array Uint16Array Int32Array Uint32Array "
    "BigInt64Array"
    " BigUint64Array Float32Array Float64Array Map Set WeakMap WeakSet WeakRef ArrayBuffer SharedArrayBuffer "
    "DataView"
    " Atomics JSON Promise Reflect Proxy Intl WebAssembly FinalizationRegistry window document console "
    "navigator"
    " location history screen self top parent localStorage sessionStorage alert confirm prompt fetch "
    "setTimeout"
    " setInterval clearTimeout clearInterval requestAnimationFrame cancelAnimationFrame queueMicrotask "
    "structuredClone"
    " XMLHttpRequest WebSocket Worker Event CustomEvent Image URL URLSearchParams FormData Headers Request "
    "Response"
    " Blob File FileReader performance crypto ";

static bool is_in(const char *list, const char *word, size_t length) {
    for (const char *at = list; (at = strchr(at, ' ')) && at[1]; at++)
        if (!strncmp(at + 1, word, length) && at[1 + length] == ' ') return true;
    return false;
}

enum { LONGEST_WORD = 24 };

/* The tag of a name that is read or bound as a variable. */
static uint16_t name_tag(const char *word, size_t length) {
    return length <= LONGEST_WORD && is_in(builtins, word, length) ? LG_JS_BUILTIN : LG_JS_IDENTIFIER;
}

static uint16_t choose_name(const lg_code_walk *w, const lg_code_node *node, size_t end,
                            const lg_code_node *parents, size_t n_parents) {
    (void)parents, (void)n_parents;
    return name_tag(w->text + node->begin, end - node->begin);
}

static uint16_t choose_quote(const lg_code_walk *w, const lg_code_node *node, size_t end,
                             const lg_code_node *parents, size_t n_parents) {
    (void)w, (void)end;
    return n_parents && node->begin == parents[n_parents - 1].begin ? LG_JS_OPEN_QUOTE : LG_JS_CLOSE_QUOTE;
}

static const lg_code_rule rules[] = {
    {.nodes = "identifier shorthand_property_identifier", .choose = choose_name},
    {.nodes = "shorthand_property_identifier_pattern statement_identifier", .tag = LG_JS_IDENTIFIER},
    {.nodes = "property_identifier private_property_identifier", .tag = LG_JS_PROPERTY},
    {.nodes = "undefined", .tag = LG_JS_BUILTIN},
    {.nodes = "true false null", .tag = LG_JS_CONSTANT},
    {.nodes = "this super import", .tag = LG_JS_KEYWORD},
    {.tokens =
         "as async await break case catch class const continue debugger default delete do else export "
         "extends "
         "finally for from function get if import in instanceof let meta new of return set static switch "
         "target throw try typeof using var void while with yield",
     .tag = LG_JS_KEYWORD},

    {.nodes = "string_fragment escape_sequence", .parent = "template_string", .tag = LG_JS_TEMPLATE},
    {.nodes = "string_fragment escape_sequence html_character_reference", .tag = LG_JS_STRING},
    {.nodes = "string", .inner = true, .gaps = LG_JS_STRING},
    {.nodes = "template_string", .inner = true, .gaps = LG_JS_TEMPLATE},
    {.tokens = "\" ' `", .choose = choose_quote},
    {.tokens = "${", .tag = LG_JS_OPEN_FIELD},
    {.tokens = "}", .parent = "template_substitution", .tag = LG_JS_CLOSE_FIELD},
    {.nodes = "regex", .tag = LG_JS_REGEX},
    {.nodes = "number", .tag = LG_JS_NUMBER},
    {.nodes = "comment html_comment hash_bang_line", .tag = LG_JS_COMMENT},
    {.nodes = "jsx_text", .tag = LG_JS_TEXT},

    {.tokens = "< </", .parent = "jsx_opening_element", .tag = LG_JS_OPEN_ANGLE},
    {.tokens = "< </", .parent = "jsx_closing_element", .tag = LG_JS_OPEN_ANGLE},
    {.tokens = "<", .parent = "jsx_self_closing_element", .tag = LG_JS_OPEN_ANGLE},
    {.tokens = ">", .parent = "jsx_opening_element", .tag = LG_JS_CLOSE_ANGLE},
    {.tokens = ">", .parent = "jsx_closing_element", .tag = LG_JS_CLOSE_ANGLE},
    {.tokens = "/>", .tag = LG_JS_CLOSE_ANGLE},
    {.tokens = "(", .tag = LG_JS_OPEN_ROUND},
    {.tokens = ")", .tag = LG_JS_CLOSE_ROUND},
    {.tokens = "[", .tag = LG_JS_OPEN_SQUARE},
    {.tokens = "]", .tag = LG_JS_CLOSE_SQUARE},
    {.tokens = "{", .tag = LG_JS_OPEN_CURLY},
    {.tokens = "}", .tag = LG_JS_CLOSE_CURLY},

    {.tokens = ",", .tag = LG_JS_COMMA},
    {.tokens = ";", .tag = LG_JS_SEMICOLON},
    {.tokens = ".", .tag = LG_JS_DOT},
    {.nodes = "optional_chain", .tag = LG_JS_DOT},
    {.tokens = ":", .tag = LG_JS_COLON},
    {.tokens = "=>", .tag = LG_JS_ARROW},
    {.tokens = "= += -= *= /= %= **= <<= >>= >>>= &= |= ^= &&= ||= ?\?=", .tag = LG_JS_ASSIGN},
    {.tokens = "+ - * / % ** ++ -- == === != !== < > <= >= && || ?? ! ~ & | ^ << >> >>> ? ... @",
     .tag = LG_JS_OPERATOR},
    {0},
};

/* ---- The plain lexer ---- */

enum { MAX_TEMPLATES = 32 }; /* one in the other; deeper ones are plain strings */

static bool is_name(unsigned char c, bool first) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c >= 128 ||
           (!first && c >= '0' && c <= '9');
}

static uint16_t operator_tag(const char *text, size_t left, size_t *length) {
    static const char *const operators[] = {
        ">>>=", "...", "===", "!==", "**=", "<<=", ">>=", ">>>", "&&=", "||=", "?\?=", "=>",
        "==",   "!=",  "<=",  ">=",  "&&",  "||",  "??",  "?.",  "++",  "--",  "+=",   "-=",
        "*=",   "/=",  "%=",  "&=",  "|=",  "^=",  "**",  "<<",  ">>",  NULL};
    *length = 1;
    for (size_t i = 0; operators[i]; i++) {
        size_t n = strlen(operators[i]);
        if (n > left || memcmp(text, operators[i], n)) continue;
        *length = n;
        if (!strcmp(operators[i], "=>")) return LG_JS_ARROW;
        if (!strcmp(operators[i], "?.")) return LG_JS_DOT;
        return text[n - 1] == '=' && strcmp(operators[i], "==") && strcmp(operators[i], "===") &&
                       strcmp(operators[i], "!=") && strcmp(operators[i], "!==") &&
                       strcmp(operators[i], "<=") && strcmp(operators[i], ">=")
                   ? LG_JS_ASSIGN
                   : LG_JS_OPERATOR;
    }
    switch (*text) {
    case '(':
        return LG_JS_OPEN_ROUND;
    case ')':
        return LG_JS_CLOSE_ROUND;
    case '[':
        return LG_JS_OPEN_SQUARE;
    case ']':
        return LG_JS_CLOSE_SQUARE;
    case '{':
        return LG_JS_OPEN_CURLY;
    case '}':
        return LG_JS_CLOSE_CURLY;
    case ',':
        return LG_JS_COMMA;
    case ';':
        return LG_JS_SEMICOLON;
    case ':':
        return LG_JS_COLON;
    case '.':
        return LG_JS_DOT;
    case '=':
        return LG_JS_ASSIGN;
    default:
        return strchr("+-*/%<>!~&|^?@#", *text) && *text ? LG_JS_OPERATOR : LG_JS_ERROR;
    }
}

static bool is_white(const lg_code_walk *w, size_t at) {
    return (w->classes[at] & LG_CLASS_MASK) == LG_CLASS_WHITESPACE;
}

/* Where the string's content ends: its closing quote, an unescaped newline, or END. */
static size_t string_end(const char *text, size_t at, size_t end, char quote) {
    while (at < end && text[at] != quote && text[at] != '\n') at += text[at] == '\\' && at + 1 < end ? 2 : 1;
    return at;
}

/* Where the regular expression whose / is at AT ends; AT: it is none. */
static size_t regex_end(const char *text, size_t at, size_t end) {
    bool in_class = false;
    size_t i = at + 1;
    for (; i < end && text[i] != '\n' && (in_class || text[i] != '/'); i++) {
        if (text[i] == '\\' && i + 1 < end && text[i + 1] != '\n') i++;
        else if (text[i] == '[') in_class = true;
        else if (text[i] == ']') in_class = false;
    }
    if (i >= end || text[i] != '/' || i == at + 1) return at;
    for (i++; i < end && is_name((unsigned char)text[i], false);) i++;
    return i;
}

/* Within a template, from AT: its content, and what ends it. */
static size_t lex_template(lg_code_walk *w, size_t at, size_t end, bool *closed) {
    size_t begin = at;
    const char *text = w->text;
    while (at < end && text[at] != '`' && !(text[at] == '$' && at + 1 < end && text[at + 1] == '{'))
        at += text[at] == '\\' && at + 1 < end ? 2 : 1;
    lg_code_put(w, begin, at, LG_JS_TEMPLATE);
    *closed = at >= end || text[at] == '`';
    if (at >= end) return end;
    lg_code_put(w, at, at + (*closed ? 1 : 2), *closed ? LG_JS_CLOSE_QUOTE : LG_JS_OPEN_FIELD);
    return at + (*closed ? 1 : 2);
}

static void lex(lg_code_walk *w, size_t begin, size_t end) {
    const char *text = w->text;
    size_t templates[MAX_TEMPLATES] = {0}, n_templates = 0; /* open braces within each open ${ */
    uint16_t last = LG_JS_OPERATOR; /* before a / it decides between division and regex */
    bool no_comment_end = false, closed;
    for (size_t at = begin, next; at < end && !w->failed; at = next) {
        char c = text[at];
        uint16_t tag;
        next = at + 1;
        if (is_white(w, at)) {
            while (next < end && is_white(w, next)) next++;
            lg_code_put(w, at, next, LG_CODE_WHITESPACE);
            continue;
        }
        char after = next < end ? text[next] : '\0';
        if (c == '/' && (after == '/' || (after == '*' && !no_comment_end))) {
            if (after == '/') {
                while (next < end && text[next] != '\n') next++;
            } else {
                const char *hit = memmem(text + at + 2, end - at - 2, "*/", 2);
                no_comment_end = !hit;
                next = hit ? (size_t)(hit - text) + 2 : end;
            }
            lg_code_put(w, at, next, LG_JS_COMMENT);
            continue;
        }
        if (c == '"' || c == '\'') {
            next = string_end(text, at + 1, end, c);
            lg_code_put(w, at, at + 1, LG_JS_OPEN_QUOTE);
            lg_code_put(w, at + 1, next < end ? next : end, LG_JS_STRING);
            if (next > end) next = end;
            if (next < end && text[next] == c) {
                lg_code_put(w, next, next + 1, LG_JS_CLOSE_QUOTE);
                next++;
            }
            last = LG_JS_STRING;
            continue;
        }
        if (c == '`') {
            lg_code_put(w, at, next, LG_JS_OPEN_QUOTE);
            next = lex_template(w, next, end, &closed);
            if (!closed && n_templates < MAX_TEMPLATES) templates[n_templates++] = 0;
            last = closed ? LG_JS_STRING : LG_JS_OPERATOR;
            continue;
        }
        if (c == '}' && n_templates && !templates[n_templates - 1]) {
            lg_code_put(w, at, next, LG_JS_CLOSE_FIELD);
            next = lex_template(w, next, end, &closed);
            n_templates -= closed;
            last = closed ? LG_JS_STRING : LG_JS_OPERATOR;
            continue;
        }
        if (is_name((unsigned char)c, true) || (c == '#' && is_name((unsigned char)after, true))) {
            while (next < end && is_name((unsigned char)text[next], false)) next++;
            size_t length = next - at;
            bool is_short = length <= LONGEST_WORD;
            if (last == LG_JS_DOT || c == '#') tag = LG_JS_PROPERTY;
            else if (is_short && is_in(keywords, text + at, length)) tag = LG_JS_KEYWORD;
            else if (is_short && is_in(constants, text + at, length)) tag = LG_JS_CONSTANT;
            else tag = name_tag(text + at, length);
        } else if ((c >= '0' && c <= '9') || (c == '.' && after >= '0' && after <= '9')) {
            while (next < end && (is_name((unsigned char)text[next], false) || text[next] == '.' ||
                                  ((text[next] == '+' || text[next] == '-') && (text[next - 1] | 32) == 'e' &&
                                   (text[at + 1] | 32) != 'x')))
                next++;
            tag = LG_JS_NUMBER;
        } else {
            bool operand = last == LG_JS_IDENTIFIER || last == LG_JS_PROPERTY || last == LG_JS_BUILTIN ||
                           last == LG_JS_NUMBER || last == LG_JS_STRING || last == LG_JS_CONSTANT ||
                           last == LG_JS_CLOSE_ROUND || last == LG_JS_CLOSE_SQUARE ||
                           last == LG_JS_CLOSE_CURLY;
            size_t regex = c == '/' && !operand ? regex_end(text, at, end) : at, length = 0;
            tag = regex > at ? LG_JS_REGEX : operator_tag(text + at, end - at, &length);
            next = regex > at ? regex : at + length;
            if (n_templates && tag == LG_JS_OPEN_CURLY) templates[n_templates - 1]++;
            if (n_templates && tag == LG_JS_CLOSE_CURLY) templates[n_templates - 1]--;
        }
        lg_code_put(w, at, next, tag);
        last = tag == LG_JS_REGEX ? LG_JS_STRING : tag;
    }
}

/* ---- Hooks ---- */

/* The parser does not see PHP, a bare CDATA mark (of XHTML), NULs, nor comments that do not end, for each of
   which it would search all that is left. */
static void prepare(lg_code_walk *w, size_t begin, size_t end, char *seen, lg_spans *fixed) {
    size_t n = end - begin, last_end = 0, unclosed = 0;
    const char *text = w->text + begin;
    for (size_t i = 0; i < n && !w->failed; i++) {
        if (text[i] == '\0') seen[i] = ' ';
        if (text[i] == '*' && i + 1 < n && text[i + 1] == '/') last_end = i;
        if (text[i] != '<') continue;
        size_t length = 0;
        uint16_t tag = LG_JS_COMMENT;
        if (n - i > 4 && (!memcmp(text + i, "<?php", 5) || !memcmp(text + i, "<?=", 3))) {
            const char *hit = memmem(text + i, n - i, "?>", 2);
            length = hit ? (size_t)(hit + 2 - (text + i)) : n - i;
            tag = LG_HTML_INSTRUCTION;
        } else if (n - i >= 9 && !memcmp(text + i, "<![CDATA[", 9)) {
            length = 9;
        }
        if (!length) continue;
        bool is_mark = tag == LG_JS_COMMENT;
        memset(seen + i, is_mark ? ' ' : 'x', length);
        size_t at = begin + i;
        bool ends = !is_mark && length > 3 && text[i + length - 1] == '>';
        if (is_mark ? !lg_spans_add(fixed, at, at + length, tag)
                    : !lg_spans_add(fixed, at, at + 2, LG_HTML_OPEN_ANGLE) ||
                          !lg_spans_add(fixed, at + 2, at + length - (ends ? 2 : 0), tag) ||
                          (ends && !lg_spans_add(fixed, at + length - 2, at + length, LG_HTML_CLOSE_ANGLE)))
            w->failed = true;
        i += length - 1;
    }
    for (size_t i = last_end; i + 1 < n; i++) {
        if (seen[i] != '/' || seen[i + 1] != '*') continue;
        if (++unclosed > 1) seen[i + 1] = '/';
    }
}

/* Pieces of one string are one leaf. */
static void put(lg_code_walk *w, size_t begin, size_t end, uint16_t tag) {
    if (tag == LG_JS_STRING || tag == LG_JS_TEMPLATE) lg_code_extend(w, begin, end, tag);
    else lg_code_add(w, begin, end, tag);
}

const lg_code_language lg_code_javascript = {
    .name = "javascript",
    .grammar = lg_grammar_javascript,
    .rules = rules,
    .lex = lex,
    .prepare = prepare,
    .put = put,
};
