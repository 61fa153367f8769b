/* Python's plain lexer: for code that does not parse. It knows tokens, and nothing of how they go together.
 */
#include <string.h>

#include "tag/code_python.h"

enum { MAX_STRINGS = 32 }; /* formatted strings inside each other's fields; deeper fields are text */

typedef struct open_string {
    char quote;
    bool triple, raw, formatted;
    uint16_t tag;
    size_t depth; /* of brackets inside the field that is open */
} open_string;

typedef struct lexer {
    lg_code_walk *walk;
    const char *text;
    size_t at, end;
    open_string strings[MAX_STRINGS]; /* [n_strings] those whose field is open */
    size_t n_strings;
} lexer;

static char peek(const lexer *x, size_t ahead) {
    return ahead < x->end - x->at ? x->text[x->at + ahead] : 0;
}

static void take(lexer *x, size_t n, uint16_t tag) {
    lg_code_put(x->walk, x->at, x->at + n, tag);
    x->at += n;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_hexadecimal(char c) {
    return is_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'f');
}

static bool in_word(const lexer *x, size_t at) {
    return at < x->end && (x->walk->classes[at] & LG_CLASS_IN_WORD);
}

/* Bytes of a newline at AHEAD, 0: none. */
static size_t newline(const lexer *x, size_t ahead) {
    return peek(x, ahead) == '\n' ? 1 : peek(x, ahead) == '\r' && peek(x, ahead + 1) == '\n' ? 2 : 0;
}

/* Digits with single underscores among them. */
static size_t digits(const lexer *x, size_t n, bool (*is)(char)) {
    while (is(peek(x, n)) || (peek(x, n) == '_' && is(peek(x, n + 1)))) n++;
    return n;
}

static size_t number_length(const lexer *x) {
    char base = (char)(peek(x, 1) | 32);
    if (peek(x, 0) == '0' && (base == 'x' || base == 'o' || base == 'b')) {
        size_t n = digits(x, 2, base == 'x' ? is_hexadecimal : is_digit);
        if (n > 2) return n + ((peek(x, n) | 32) == 'l');
    }
    size_t n = digits(x, 0, is_digit);
    bool is_float = peek(x, n) == '.';
    if (is_float) n = digits(x, n + 1, is_digit);
    if ((peek(x, n) | 32) == 'e') {
        size_t sign = peek(x, n + 1) == '+' || peek(x, n + 1) == '-';
        if (is_digit(peek(x, n + 1 + sign))) {
            n = digits(x, n + 1 + sign, is_digit);
            is_float = true;
        }
    }
    char suffix = (char)(peek(x, n) | 32);
    return n + (suffix == 'j' || (suffix == 'l' && !is_float));
}

static uint16_t word_tag(const lexer *x, size_t length) {
    const char *word = x->text + x->at;
    uint16_t tag = lg_python_keyword_tag(word, length);
    if (tag != LG_PYTHON_IDENTIFIER) return tag;
    if ((length == 5) && (!memcmp(word, "async", 5) || !memcmp(word, "await", 5))) return LG_PYTHON_KEYWORD;
    bool attribute = x->at && x->text[x->at - 1] == '.';
    return attribute ? LG_PYTHON_IDENTIFIER : lg_python_name_tag(word, length);
}

/* Length of a string's prefix and quotes here; 0: there is none. */
static size_t string_start(const lexer *x, open_string *s) {
    size_t n = 0;
    *s = (open_string){0};
    for (; n < 3 && strchr("rRbBuUfFtT", peek(x, n) ? peek(x, n) : ' '); n++) {
        s->raw |= (peek(x, n) | 32) == 'r';
        s->formatted |= (peek(x, n) | 32) == 'f' || (peek(x, n) | 32) == 't';
    }
    s->quote = peek(x, n);
    if (s->quote != '"' && s->quote != '\'' && !(s->quote == '`' && !n)) return 0;
    s->triple = s->quote != '`' && peek(x, n + 1) == s->quote && peek(x, n + 2) == s->quote;
    s->tag = lg_python_string_tag(x->walk, x->at);
    return n + (s->triple ? 3 : 1);
}

/* The inside of string S from here on, until it ends or opens a field. */
static void lex_string(lexer *x, const open_string *s) {
    size_t n = 0;
    while (x->at + n < x->end) {
        char c = peek(x, n);
        if (c == '\\') {
            size_t line = newline(x, n + 1);
            n += x->at + n + 1 < x->end ? 1 + (line ? line : 1) : 1;
        } else if (c == s->quote && (!s->triple || (peek(x, n + 1) == c && peek(x, n + 2) == c))) {
            take(x, n, s->tag);
            take(x, s->triple ? 3 : 1, LG_PYTHON_CLOSE_QUOTE);
            return;
        } else if (!s->triple && newline(x, n)) {
            break; /* unterminated */
        } else if (s->formatted && (c == '{' || c == '}') && peek(x, n + 1) == c) {
            n += 2;
        } else if (s->formatted && c == '{' && x->n_strings < MAX_STRINGS) {
            take(x, n, s->tag);
            take(x, 1, LG_PYTHON_OPEN_FIELD);
            x->strings[x->n_strings++] = *s;
            return;
        } else n++;
    }
    take(x, n, s->tag);
    if (s->triple && x->at == x->end && !x->n_strings) {
        lg_python_state *state = x->walk->python;
        state->open_quote = s->quote;
        state->open_formatted = s->formatted;
        state->open_tag = s->tag;
        state->open_end = x->end;
    }
}

/* What only a field of a formatted string has: its end, conversion, format. */
static bool lex_field(lexer *x) {
    open_string *s = &x->strings[x->n_strings - 1], resumed = *s;
    char c = peek(x, 0);
    resumed.depth = 0;
    bool ends =
        s->triple ? c == s->quote && peek(x, 1) == c && peek(x, 2) == c : c == s->quote || newline(x, 0);
    if (ends) { /* the string ends inside its field */
        x->n_strings--;
        lex_string(x, &resumed);
        return true;
    }
    if (s->depth) return false;
    if (c == '}') {
        x->n_strings--;
        take(x, 1, LG_PYTHON_CLOSE_FIELD);
        lex_string(x, &resumed);
        return true;
    }
    if (c == ':' || (c == '!' && peek(x, 1) != '=')) {
        size_t n = 1;
        while (x->at + n < x->end && peek(x, n) != '{' && peek(x, n) != '}' && peek(x, n) != s->quote &&
               !newline(x, n))
            n++;
        take(x, n, LG_PYTHON_FORMAT);
        if (peek(x, 0) == '{') take(x, 1, LG_PYTHON_OPEN_FIELD), s->depth++;
        return true;
    }
    return false;
}

typedef struct spelling {
    const char *text;
    uint16_t tag;
} spelling;

static bool lex_sign(lexer *x) {
    static const spelling signs[] = {
        /* longer ones first */
        {"...", LG_PYTHON_ELLIPSIS},  {"**=", LG_PYTHON_ASSIGN},     {"//=", LG_PYTHON_ASSIGN},
        {">>=", LG_PYTHON_ASSIGN},    {"<<=", LG_PYTHON_ASSIGN},     {"->", LG_PYTHON_ARROW},
        {":=", LG_PYTHON_WALRUS},     {"+=", LG_PYTHON_ASSIGN},      {"-=", LG_PYTHON_ASSIGN},
        {"*=", LG_PYTHON_ASSIGN},     {"/=", LG_PYTHON_ASSIGN},      {"%=", LG_PYTHON_ASSIGN},
        {"@=", LG_PYTHON_ASSIGN},     {"&=", LG_PYTHON_ASSIGN},      {"|=", LG_PYTHON_ASSIGN},
        {"^=", LG_PYTHON_ASSIGN},     {"**", LG_PYTHON_OPERATOR},    {"//", LG_PYTHON_OPERATOR},
        {">>", LG_PYTHON_OPERATOR},   {"<<", LG_PYTHON_OPERATOR},    {"==", LG_PYTHON_OPERATOR},
        {"!=", LG_PYTHON_OPERATOR},   {"<=", LG_PYTHON_OPERATOR},    {">=", LG_PYTHON_OPERATOR},
        {"<>", LG_PYTHON_OPERATOR},   {"(", LG_PYTHON_OPEN_ROUND},   {")", LG_PYTHON_CLOSE_ROUND},
        {"[", LG_PYTHON_OPEN_SQUARE}, {"]", LG_PYTHON_CLOSE_SQUARE}, {"{", LG_PYTHON_OPEN_CURLY},
        {"}", LG_PYTHON_CLOSE_CURLY}, {",", LG_PYTHON_COMMA},        {":", LG_PYTHON_COLON},
        {";", LG_PYTHON_SEMICOLON},   {".", LG_PYTHON_DOT},          {"=", LG_PYTHON_ASSIGN},
        {"+", LG_PYTHON_OPERATOR},    {"-", LG_PYTHON_OPERATOR},     {"*", LG_PYTHON_OPERATOR},
        {"/", LG_PYTHON_OPERATOR},    {"%", LG_PYTHON_OPERATOR},     {"@", LG_PYTHON_OPERATOR},
        {"&", LG_PYTHON_OPERATOR},    {"|", LG_PYTHON_OPERATOR},     {"^", LG_PYTHON_OPERATOR},
        {"~", LG_PYTHON_OPERATOR},    {"<", LG_PYTHON_OPERATOR},     {">", LG_PYTHON_OPERATOR},
    };
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        if (*signs[i].text != peek(x, 0)) continue;
        size_t n = strlen(signs[i].text);
        if (n > x->end - x->at || memcmp(x->text + x->at, signs[i].text, n)) continue;
        uint16_t tag = signs[i].tag;
        if (tag == LG_PYTHON_OPERATOR && *signs[i].text == '@' && n == 1 && !x->walk->python->in_statement)
            tag = LG_PYTHON_DECORATOR;
        if (x->n_strings && n == 1) {
            size_t *depth = &x->strings[x->n_strings - 1].depth;
            if (strchr("([{", *signs[i].text)) ++*depth;
            if (strchr(")]}", *signs[i].text)) *depth -= *depth > 0;
        }
        take(x, n, tag);
        return true;
    }
    return false;
}

/* The next token. */
static void lex_token(lexer *x) {
    lg_code_walk *w = x->walk;
    open_string string;
    size_t n = 0;
    if (x->n_strings && lex_field(x)) return;
    while (x->at + n < x->end && (w->classes[x->at + n] & LG_CLASS_MASK) == LG_CLASS_WHITESPACE &&
           !(x->n_strings && newline(x, n)))
        n++;
    if (!n && x->n_strings) n = newline(x, 0); /* in a field of a triple-quoted string */
    if (n) {
        take(x, n, LG_CODE_WHITESPACE);
    } else if (peek(x, 0) == '\\' && newline(x, 1)) {
        take(x, 1 + newline(x, 1), LG_PYTHON_CONTINUATION);
    } else if (peek(x, 0) == '#') {
        while (x->at + n < x->end && !newline(x, n)) n++;
        take(x, n, lg_python_comment_tag(w, x->at, x->at + n));
    } else if ((n = string_start(x, &string))) {
        take(x, n, LG_PYTHON_OPEN_QUOTE);
        lex_string(x, &string);
    } else if (is_digit(peek(x, 0)) || (peek(x, 0) == '.' && is_digit(peek(x, 1)))) {
        n = number_length(x);
        take(x, n, lg_python_number_tag(w->text + x->at, n));
    } else if (in_word(x, x->at)) {
        while (in_word(x, x->at + n)) n++;
        take(x, n, word_tag(x, n));
    } else if (!lex_sign(x)) { /* one character that is nothing */
        for (n = 1; x->at + n < x->end && (w->text[x->at + n] & 0xC0) == 0x80; n++) {
        }
        take(x, n, LG_PYTHON_ERROR);
    }
}

void lg_python_lex(lg_code_walk *w, size_t begin, size_t end) {
    lexer x = {.walk = w, .text = w->text, .at = begin, .end = end};
    if (!begin && end >= 3 && !memcmp(w->text, "\xEF\xBB\xBF", 3)) take(&x, 3, LG_CODE_WHITESPACE);
    while (x.at < end && !w->failed) lex_token(&x);
}

size_t lg_python_resume(lg_code_walk *w, size_t begin, size_t end) {
    lg_python_state *s = w->python;
    lexer x = {.walk = w, .text = w->text, .at = begin, .end = end};
    if (s->open_quote && s->open_end == begin) {
        open_string string = {
            .quote = s->open_quote, .triple = true, .formatted = s->open_formatted, .tag = s->open_tag};
        s->open_quote = 0;
        lex_string(&x, &string);
    }
    while ((x.n_strings || s->depth) && x.at < end && !w->failed) lex_token(&x);
    return x.at;
}
