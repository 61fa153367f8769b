/* Signs, names, numbers, strings and patterns of an expression, and messages that point into it. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "query/compiler.h"

/* ---- messages ---- */

static bool is_inside_character(char c) {
    return ((unsigned char)c & 0xC0) == 0x80;
}

/* The text, or what of it lies around AT, with an ellipsis where it was cut. */
static void excerpt(const char *text, const char *at, char *out, size_t size) {
    enum { BEFORE = 40, AFTER = 40 };
    const char *begin = at - text > BEFORE + 8 ? at - BEFORE : text, *end = at + strlen(at);
    if (end - at > AFTER + 8) end = at + AFTER;
    while (begin > text && is_inside_character(*begin)) begin--;
    while (*end && is_inside_character(*end)) end++;
    snprintf(out, size, "%s%.*s%s", begin > text ? "…" : "", (int)(end - begin), begin, *end ? "…" : "");
}

bool lg_complain(lg_compiler *c, const char *at, const char *format, ...) {
    if (c->status) return false;
    char around[160], what[700];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    size_t column = 1;
    for (const char *p = c->text; p < at; p++) column += !is_inside_character(*p);
    excerpt(c->text, at, around, sizeof around);
    c->status =
        lg_fail(c->error, LG_USAGE, "%s '%s', column %zu: %s", c->items[c->item].what, around, column, what);
    return false;
}

bool lg_complain_status(lg_compiler *c, lg_status status) {
    if (!c->status) c->status = status;
    return false;
}

bool lg_complain_memory(lg_compiler *c) {
    if (!c->status) c->status = lg_fail_memory(c->error);
    return false;
}

const char *lg_found(const char *at, char out[48]) {
    size_t n = lg_name_length(at);
    if (!n && *at) n = 1;
    while (n && is_inside_character(at[n])) n++;
    if (n > 40) n = 40;
    if (*at) snprintf(out, 48, "'%.*s'", (int)n, at);
    else snprintf(out, 48, "the end");
    return out;
}

/* ---- signs and words ---- */

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool begins_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 0x80;
}

size_t lg_name_length(const char *at) {
    size_t n = 0;
    if (!begins_name(*at)) return 0;
    while (begins_name(at[n]) || is_digit(at[n]) || (at[n] == '.' && at[n + 1] != '.')) n++;
    return n;
}

size_t lg_level_length(const char *at) {
    size_t n = 0;
    if (*at == '-' || *at == '+') return 0;
    while (begins_name(at[n]) || is_digit(at[n]) || (at[n] && strchr(".$+-", at[n]))) n++;
    return n;
}

void lg_skip_space(lg_compiler *c) {
    while (*c->at == ' ' || (*c->at >= '\t' && *c->at <= '\r')) c->at++;
}

bool lg_take_sign(lg_compiler *c, const char *sign) {
    size_t n = strlen(sign);
    lg_skip_space(c);
    if (strncmp(c->at, sign, n) != 0) return false;
    c->at += n;
    return true;
}

bool lg_sees_word(const lg_compiler *c, const char *word) {
    size_t n = strlen(word);
    return lg_name_length(c->at) == n && memcmp(c->at, word, n) == 0;
}

bool lg_take_word(lg_compiler *c, const char *word) {
    lg_skip_space(c);
    if (!lg_sees_word(c, word)) return false;
    c->at += strlen(word);
    return true;
}

bool lg_expect(lg_compiler *c, char sign, const char *after) {
    char found[48];
    lg_skip_space(c);
    if (*c->at != sign)
        return lg_complain(c, c->at, "expected '%c' %s, found %s", sign, after, lg_found(c->at, found));
    c->at++;
    return true;
}

/* ---- numbers ---- */

/* 12, 1.5, .5, 2., 1e-3; two points end it, as in 2..4. Read by the reader of JSON, once it looks like one of
   its numbers, which does not depend on the locale. */
bool lg_scan_number(lg_compiler *c, double *value) {
    char copy[512];
    size_t n = 0, digits = 0;
    const char *begin = c->at, *p = c->at;
    while (*p == '0' && is_digit(p[1])) p++;
    if (*p == '.') copy[n++] = '0';
    for (bool point = false; is_digit(*p) || (*p == '.' && !point && p[1] != '.'); p++) {
        if (n > sizeof copy - 16)
            return lg_complain(c, begin, "a number of more than %zu digits", sizeof copy - 16);
        copy[n++] = *p;
        digits += is_digit(*p);
        point |= *p == '.';
    }
    if (n && copy[n - 1] == '.') copy[n++] = '0';
    if (*p == 'e' || *p == 'E') {
        const char *e = p + 1;
        if (*e == '+' || *e == '-') e++;
        size_t length = 0;
        while (is_digit(e[length])) length++;
        if (length > 8) return lg_complain(c, begin, "a number too large or too small");
        if (length) {
            memcpy(copy + n, p, (size_t)(e - p) + length);
            n += (size_t)(e - p) + length;
            p = e + length;
        }
    }
    if (begins_name(*p)) return lg_complain(c, begin, "a number runs into a word; names begin with a letter");
    lg_json json;
    lg_error error = {0};
    lg_json_start(&json, copy, n, "number", &c->scratch, &error);
    if (!digits || !lg_json_number(&json, value)) {
        if (json.status == LG_FAILED) return lg_complain_memory(c);
        return lg_complain(c, begin, digits ? "a number too large" : "a point without digits");
    }
    c->at = p;
    return true;
}

/* ---- strings ---- */

static int hex_digit(char c) {
    return is_digit(c)            ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static bool keep_string(lg_compiler *c, lg_string *string) {
    if (c->scratch.failed) return lg_complain_memory(c);
    string->length = c->scratch.length;
    string->data = lg_arena_copy(&c->query->arena, c->scratch.data ? c->scratch.data : "", string->length);
    return string->data || lg_complain_memory(c);
}

bool lg_scan_quoted(lg_compiler *c, lg_string *string) {
    const char *begin = c->at;
    char quote = *c->at++;
    c->scratch.length = 0;
    for (; *c->at != quote; c->at++) {
        char byte = *c->at;
        if (!byte) return lg_complain(c, begin, "this quote is not closed");
        if (byte == '\\') {
            static const char letters[] = "ntr\\'\"", bytes[] = "\n\t\r\\'\"";
            const char *letter = *++c->at ? strchr(letters, *c->at) : NULL;
            if (letter) {
                byte = bytes[letter - letters];
            } else if (*c->at == 'x' && hex_digit(c->at[1]) >= 0 && hex_digit(c->at[2]) >= 0) {
                byte = (char)(hex_digit(c->at[1]) * 16 + hex_digit(c->at[2]));
                c->at += 2;
            } else {
                return lg_complain(c, c->at - 1,
                                   "after a backslash in quotes: n, t, r, \\, ', \" or x and two "
                                   "hexadecimal digits");
            }
        }
        lg_text_put(&c->scratch, &byte, 1);
    }
    c->at++;
    return keep_string(c, string);
}

bool lg_scan_backquoted(lg_compiler *c, lg_string *string) {
    const char *begin = c->at++, *end = strchr(c->at, '`');
    if (!end) return lg_complain(c, begin, "this quote is not closed");
    *string =
        (lg_string){lg_arena_copy(&c->query->arena, c->at, (size_t)(end - c->at)), (size_t)(end - c->at)};
    c->at = end + 1;
    return string->data || lg_complain_memory(c);
}

bool lg_scan_word(lg_compiler *c, const char *what, lg_string *string) {
    char found[48];
    lg_skip_space(c);
    if (*c->at == '"' || *c->at == '\'') return lg_scan_quoted(c, string);
    size_t n = lg_level_length(c->at);
    if (!n)
        return lg_complain(c, c->at, "expected %s, found %s; names with other signs go in quotes", what,
                           lg_found(c->at, found));
    *string = (lg_string){lg_arena_copy(&c->query->arena, c->at, n), n};
    c->at += n;
    return string->data || lg_complain_memory(c);
}

bool lg_scan_regex(lg_compiler *c, lg_query_regex **regex) {
    char message[256], found[48];
    lg_skip_space(c);
    const char *begin = c->at;
    if (*begin != '/')
        return lg_complain(c, begin, "expected a pattern between slashes, as in word ~ /^[A-Z]/, found %s",
                           lg_found(begin, found));
    const char *end = begin + 1;
    c->scratch.length = 0;
    for (; *end != '/'; end++) {
        if (!*end) return lg_complain(c, begin, "this pattern has no second slash");
        if (*end == '\\' && end[1] == '/') end++; /* the slash alone; any other escape is the pattern's own */
        else if (*end == '\\' && end[1]) lg_text_put(&c->scratch, end++, 1);
        lg_text_put(&c->scratch, end, 1);
    }
    if (c->scratch.failed) return lg_complain_memory(c);
    c->at = end + 1;
    bool ignore_case = *c->at == 'i';
    c->at += ignore_case;
    if (begins_name(*c->at) || is_digit(*c->at))
        return lg_complain(c, c->at,
                           "after a pattern only the letter i (case does not count) may follow at once");
    size_t at;
    lg_status status = lg_query_regex_compile(c->scratch.data ? c->scratch.data : "", c->scratch.length,
                                              ignore_case, regex, message, &at, c->error);
    if (status) return lg_complain_status(c, status);
    if (!*regex)
        return lg_complain(c, begin, "the pattern cannot be used: %s (at its byte %zu)", message, at + 1);
    return true;
}
