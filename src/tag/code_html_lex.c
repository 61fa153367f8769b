/* The plain lexer of HTML: cuts a document into leaves as the tokenizer of the HTML standard does, whatever
   is wrong with it, in one pass.

   It runs before tree-sitter and helps it: a copy of the text, SEEN, has everything blanked that the grammar
   does not know or takes amiss (comments, processing instructions and PHP, templates, stray characters,
   broken tags); the leaves of those bytes are marked LG_CODE_FIXED and win over the tree's. */
#include <string.h>

#include "tag/code_html.h"

/* Terminators that are searched for; each search goes on where the last one ended, so all of them are O(n).
 */
typedef enum terminator {
    END_COMMENT,
    END_COMMENT_BANG,
    END_CDATA,
    END_INSTRUCTION,
    END_ASP,
    END_EXPRESSION,
    END_STATEMENT,
    END_NOTE,
    END_SINGLE_QUOTE,
    END_DOUBLE_QUOTE,
    END_ANGLE,
    END_SUBSET,
    END_SCRIPT,
    END_STYLE,
    END_TITLE,
    END_TEXTAREA,
    N_TERMINATORS
} terminator;

/* Those that begin with </ match in any case, and only as a whole name. */
static const char *const terminators[N_TERMINATORS] = {
    [END_COMMENT] = "-->",     [END_COMMENT_BANG] = "--!>",
    [END_CDATA] = "]]>",       [END_INSTRUCTION] = "?>",
    [END_ASP] = "%>",          [END_EXPRESSION] = "}}",
    [END_STATEMENT] = "%}",    [END_NOTE] = "#}",
    [END_SINGLE_QUOTE] = "'",  [END_DOUBLE_QUOTE] = "\"",
    [END_ANGLE] = ">",         [END_SUBSET] = "]",
    [END_SCRIPT] = "</script", [END_STYLE] = "</style",
    [END_TITLE] = "</title",   [END_TEXTAREA] = "</textarea",
};

enum {
    TEMPLATE_MAX = 2000, /* bytes of a {{ }} or {% %} */
    ENTITY_MAX = 32,     /* characters of an entity's name */
};

typedef struct lexer {
    const char *text; /* [n] */
    size_t n;
    char *seen; /* [n] */
    lg_spans *leaves;
    size_t run;    /* where the text that has no leaf yet begins */
    uint16_t flag; /* added to every tag: 0 or LG_CODE_FIXED */
    bool failed;   /* no memory */
    bool searched[N_TERMINATORS];
    size_t from[N_TERMINATORS], next[N_TERMINATORS]; /* if searched: in [from, next) there is none */
} lexer;

static bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c | 32) : c;
}

/* WORD in lower case. */
static bool equals(const char *text, size_t length, const char *word) {
    for (size_t i = 0; i < length; i++)
        if (lower(text[i]) != word[i] || !word[i]) return false;
    return !word[length];
}

static bool contains(const char *text, size_t length, const char *word) {
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= length; i++)
        if (equals(text + i, n, word)) return true;
    return false;
}

bool lg_html_is_void(const char *name, size_t length) {
    static const char *const names[] = {"area",  "base",   "br",       "col",     "embed",   "hr",    "img",
                                        "input", "link",   "meta",     "param",   "source",  "track", "wbr",
                                        "frame", "keygen", "basefont", "bgsound", "isindex", NULL};
    for (size_t i = 0; names[i]; i++)
        if (equals(name, length, names[i])) return true;
    return false;
}

/* ---- Leaves ---- */

static void put(lexer *l, size_t begin, size_t end, unsigned tag) {
    if (begin < end && !l->failed && !lg_spans_add(l->leaves, begin, end, (uint16_t)(tag | l->flag)))
        l->failed = true;
}

/* A leaf that the parser is not shown: its bytes are FILL (a blank, or x where they stand for a part of a
 * word). */
static void put_hidden(lexer *l, size_t begin, size_t end, unsigned tag, char fill) {
    memset(l->seen + begin, fill, end - begin);
    put(l, begin, end, tag | LG_CODE_FIXED);
}

/* A stretch of text: white space at its ends has leaves of its own. */
static void put_text(lexer *l, size_t begin, size_t end, unsigned flag) {
    size_t first = begin, last = end;
    while (first < end && is_space(l->text[first])) first++;
    while (last > first && is_space(l->text[last - 1])) last--;
    put(l, begin, first, LG_CODE_WHITESPACE | flag);
    put(l, first, last, LG_HTML_TEXT | flag);
    put(l, last, end, LG_CODE_WHITESPACE | flag);
}

/* Gives the text before AT its leaves. What follows, up to NEXT, has got or gets its own. */
static void end_run(lexer *l, size_t at) {
    put_text(l, l->run, at, 0);
}

/* ---- Searching ---- */

static bool matches(const lexer *l, size_t at, const char *word) {
    size_t length = strlen(word);
    if (length > l->n - at) return false;
    if (word[0] != '<') return memcmp(l->text + at, word, length) == 0;
    if (!equals(l->text + at, length, word)) return false;
    if (at + length == l->n) return true;
    char after = l->text[at + length];
    return is_space(after) || after == '/' || after == '>';
}

/* Where the terminator begins, from FROM on; n: nowhere. */
static size_t find(lexer *l, terminator which, size_t from) {
    if (l->searched[which] && l->from[which] <= from && from <= l->next[which]) return l->next[which];
    const char *word = terminators[which];
    size_t at = from;
    while (at < l->n) {
        const char *hit = memchr(l->text + at, word[0], l->n - at);
        at = hit ? (size_t)(hit - l->text) : l->n;
        if (hit && matches(l, at, word)) break;
        if (hit) at++;
    }
    l->searched[which] = true;
    l->from[which] = from;
    l->next[which] = at;
    return at;
}

static bool starts(const lexer *l, size_t at, const char *word) {
    size_t length = strlen(word);
    return length <= l->n - at && memcmp(l->text + at, word, length) == 0;
}

/* ---- What stands within text ---- */

/* BEGIN + opener, what is between, END: three leaves that the parser does not see. */
static size_t put_enclosed(lexer *l, size_t begin, size_t opener, size_t end, size_t closer, uint16_t open,
                           uint16_t inside, uint16_t close, char fill) {
    put_hidden(l, begin, begin + opener, open, fill);
    put_hidden(l, begin + opener, end, inside, fill);
    put_hidden(l, end, end + closer, close, fill);
    return end + closer;
}

/* <? ?> and <% %>, also within values of attributes. Returns where it ends; AT if there is none. */
static size_t lex_instruction(lexer *l, size_t at, char fill) {
    bool asp = l->text[at + 1] == '%';
    size_t end = find(l, asp ? END_ASP : END_INSTRUCTION, at + 2), closer = 2;
    if (end == l->n) {
        closer = 0;
        if (asp) return at;
        if (!starts(l, at, "<?php") && !starts(l, at, "<?=")) { /* as the standard has it: up to the next > */
            end = find(l, END_ANGLE, at + 2);
            closer = end < l->n;
        }
    }
    return put_enclosed(l, at, 2, end, closer, LG_HTML_OPEN_ANGLE, LG_HTML_INSTRUCTION, LG_HTML_CLOSE_ANGLE,
                        fill);
}

/* Where the template ({{ }}, {% %}, {# #}) that begins at AT ends; 0: none does. */
static size_t template_end(lexer *l, size_t at) {
    if (l->n - at < 4) return 0;
    char kind = l->text[at + 1];
    if (kind != '{' && kind != '%' && kind != '#') return 0;
    if (at && (memchr("\\{}_^$", l->text[at - 1], 6) || is_letter(l->text[at - 1])) && kind == '{') return 0;
    size_t end = find(l, kind == '{' ? END_EXPRESSION : kind == '%' ? END_STATEMENT : END_NOTE, at + 2);
    if (end == l->n || end - at > TEMPLATE_MAX) return 0;
    if (kind == '{' && memchr(l->text + at, '<', end - at)) return 0; /* braces of a programme, around tags */
    if (kind == '{' && end + 2 < l->n && l->text[end + 2] == '}') end++; /* {{{ }}} */
    return end + 2;
}

/* Returns where it ends; AT if there is none. */
static size_t lex_template(lexer *l, size_t at, char fill) {
    size_t end = template_end(l, at);
    if (!end) return at;
    put_hidden(l, at, end, LG_HTML_TEMPLATE, fill);
    return end;
}

/* The same for what may stand within a value: a template or an instruction. */
static size_t insertion_end(lexer *l, size_t at) {
    if (l->text[at] == '{') return template_end(l, at);
    if (l->text[at] != '<' || at + 1 >= l->n || (l->text[at + 1] != '?' && l->text[at + 1] != '%')) return 0;
    size_t end = find(l, l->text[at + 1] == '?' ? END_INSTRUCTION : END_ASP, at + 2);
    return end < l->n && end - at <= TEMPLATE_MAX ? end + 2 : 0;
}

/* Names that stand for a character without a semicolon too. */
static const char legacy_entities[] = " AElig AMP Aacute Acirc Agrave Aring Atilde Auml COPY Ccedil ETH "
                                      "Eacute Ecirc Egrave Euml GT Iacute Icirc Igrave"
                                      " Iuml LT Ntilde Oacute Ocirc Ograve Oslash Otilde Ouml QUOT REG THORN "
                                      "Uacute Ucirc Ugrave Uuml Yacute aacute acirc"
                                      " acute aelig agrave amp aring atilde auml brvbar ccedil cedil cent "
                                      "copy curren deg divide eacute ecirc egrave eth"
                                      " euml frac12 frac14 frac34 gt iacute icirc iexcl igrave iquest iuml "
                                      "laquo lt macr micro middot nbsp not ntilde"
                                      " oacute ocirc ograve ordf ordm oslash otilde ouml para plusmn pound "
                                      "quot raquo reg sect shy sup1 sup2 sup3 szlig"
                                      " thorn times uacute ucirc ugrave uml uuml yacute yen yuml ";

static bool is_legacy(const char *name, size_t length) {
    char word[ENTITY_MAX + 3] = " ";
    if (length > 6) return false;
    memcpy(word + 1, name, length);
    word[length + 1] = ' ';
    return strstr(legacy_entities, word) != NULL;
}

/* Bytes of the entity at the & at AT; 0: none. */
static size_t entity_length(const lexer *l, size_t at) {
    const char *text = l->text;
    size_t n = l->n, i = at + 1;
    if (i < n && text[i] == '#') {
        bool hexadecimal = ++i < n && lower(text[i]) == 'x';
        i += hexadecimal;
        size_t first = i;
        while (i < n &&
               (is_digit(text[i]) || (hexadecimal && lower(text[i]) >= 'a' && lower(text[i]) <= 'f')))
            i++;
        if (i == first) return 0;
        return i - at + (i < n && text[i] == ';');
    }
    while (i < n && i - at <= ENTITY_MAX && (is_letter(text[i]) || is_digit(text[i]))) i++;
    if (i == at + 1 || is_digit(text[at + 1])) return 0;
    if (i < n && text[i] == ';') return i + 1 - at;
    for (size_t length = i - at - 1; length >= 2; length--)
        if (is_legacy(text + at + 1, length)) return length + 1;
    return 0;
}

/* What the grammar takes for an entity there. */
static size_t grammar_entity_length(const lexer *l, size_t at) {
    const char *text = l->text;
    size_t n = l->n, i = at + 1, most = 30;
    bool number = i < n && text[i] == '#', hexadecimal = number && i + 1 < n && lower(text[i + 1]) == 'x';
    i += (size_t)number + hexadecimal;
    if (number) most = hexadecimal ? 6 : 5;
    size_t first = i;
    while (i < n && i - first < most) {
        char c = lower(text[i]);
        if (!(number ? is_digit(c) || (hexadecimal && c >= 'a' && c <= 'f') : is_letter(c))) break;
        i++;
    }
    return i == first ? 0 : i - at + (i < n && text[i] == ';');
}

/* One character of text, or what stands for one; returns where it ends. */
static size_t lex_character(lexer *l, size_t at) {
    size_t end, length;
    switch (l->text[at]) {
    case '&':
        length = entity_length(l, at);
        if (length && length == grammar_entity_length(l, at)) {
            end_run(l, at);
            put(l, at, at + length, LG_HTML_ENTITY);
            return l->run = at + length;
        }
        if (length) {
            end_run(l, at);
            put_hidden(l, at, at + length, LG_HTML_ENTITY, 'x');
            return l->run = at + length;
        }
        l->seen[at] = 'x';
        return at + 1;
    case '{':
        end = at;
        if (l->n - at >= 4 && (l->text[at + 1] == '{' || l->text[at + 1] == '%' || l->text[at + 1] == '#')) {
            size_t count = l->leaves->count;
            size_t run = l->run;
            end_run(l, at);
            end = lex_template(l, at, ' ');
            if (end == at) {
                l->leaves->count = count;
                l->run = run;
            } else l->run = end;
        }
        return end > at ? end : at + 1;
    case '<':
    case '>':
    case '\0':
        l->seen[at] = 'x';
        return at + 1;
    default:
        return at + 1;
    }
}

/* Text in which no tags are: title and textarea. Returns where it ends: behind END if a template is across
 * it. */
static size_t lex_text(lexer *l, size_t at, size_t end) {
    while (at < end) at = lex_character(l, at);
    return at;
}

/* ---- Tags ---- */

typedef struct tag {
    size_t name, name_end;
    size_t type, type_end;         /* of a script; both 0: none */
    size_t language, language_end; /* the same */
    bool closing, self_closing, complete;
} tag;

static bool begins_markup(const lexer *l, size_t at) {
    if (l->text[at] != '<' || at + 1 >= l->n) return false;
    char next = l->text[at + 1];
    return is_letter(next) || next == '/' || next == '!' || next == '?';
}

/* Everything since leaf FIRST is hidden from the parser. */
static void hide_since(lexer *l, size_t first) {
    for (size_t i = first; i < l->leaves->count; i++) {
        uint64_t begin = l->leaves->begin[i], end = l->leaves->end[i];
        l->leaves->tag[i] |= LG_CODE_FIXED;
        memset(l->seen + begin, ' ', (size_t)(end - begin));
    }
}

/* A value up to END, of which templates and instructions are leaves of their own. */
static void put_value(lexer *l, size_t at, size_t end) {
    memset(l->seen + at, 'x', end - at);
    size_t run = at;
    while (at < end) {
        size_t after = insertion_end(l, at);
        if (!after || after > end) {
            at++;
            continue;
        }
        put(l, run, at, LG_HTML_ATTRIBUTE_VALUE);
        run = at = l->text[at] == '{' ? lex_template(l, at, 'x') : lex_instruction(l, at, 'x');
    }
    put(l, run, end, LG_HTML_ATTRIBUTE_VALUE);
}

/* Where the value in quotes that begins at AT ends: its closing quote; n: there is none. What is inserted may
 * hold quotes. */
static size_t find_quote(lexer *l, size_t at, char quote) {
    terminator which = quote == '"' ? END_DOUBLE_QUOTE : END_SINGLE_QUOTE;
    for (size_t end = find(l, which, at); at < end; at++) {
        size_t after = insertion_end(l, at);
        if (!after) continue;
        at = after - 1;
        if (after > end) end = find(l, which, after);
    }
    return find(l, which, at);
}

static size_t unquoted_end(lexer *l, size_t at) {
    while (at < l->n && !is_space(l->text[at]) && l->text[at] != '>') {
        size_t after = insertion_end(l, at);
        if (!after && begins_markup(l, at)) break;
        at = after ? after : at + 1;
    }
    return at;
}

/* One attribute; returns where it ends. *SOUND becomes false if the parser must not see the tag. */
static size_t lex_attribute(lexer *l, size_t at, tag *t, bool *sound) {
    size_t begin = at;
    do at++; /* whatever it is, also = or a quote */
    while (at < l->n && !is_space(l->text[at]) && !memchr("/>=", l->text[at], 3) && !begins_markup(l, at) &&
           !insertion_end(l, at));
    size_t name_end = at;
    put(l, begin, name_end, LG_HTML_ATTRIBUTE_NAME);
    memset(l->seen + begin, 'x', name_end - begin);
    size_t equals_at = at;
    while (equals_at < l->n && is_space(l->text[equals_at])) equals_at++;
    if (equals_at >= l->n || l->text[equals_at] != '=') return at;
    put(l, at, equals_at, LG_CODE_WHITESPACE);
    at = equals_at + 1;
    while (at < l->n && is_space(l->text[at])) at++;
    put(l, equals_at, equals_at + 1, LG_HTML_EQUALS);
    put(l, equals_at + 1, at, LG_CODE_WHITESPACE);
    size_t value = at, value_end;
    if (at < l->n && (l->text[at] == '"' || l->text[at] == '\'')) {
        value_end = find_quote(l, at + 1, l->text[at]);
        bool closed = value_end < l->n;
        if (!closed) { /* runs to the end of the text: take what it would be without the quote */
            value_end = unquoted_end(l, at + 1);
            *sound = false;
        }
        put(l, at, at + 1, LG_HTML_OPEN_QUOTE);
        put_value(l, ++value, value_end);
        if (closed) put(l, value_end, value_end + 1, LG_HTML_CLOSE_QUOTE);
        at = value_end + closed;
    } else {
        value_end = unquoted_end(l, at);
        if (value_end == at) *sound = false;
        put_value(l, at, value_end);
        at = value_end;
    }
    if (equals(l->text + begin, name_end - begin, "type")) {
        t->type = value;
        t->type_end = value_end;
    } else if (equals(l->text + begin, name_end - begin, "language")) {
        t->language = value;
        t->language_end = value_end;
    }
    return at;
}

/* A tag, whose < is at AT; returns where it ends. */
static size_t lex_tag(lexer *l, size_t at, tag *t) {
    size_t first = l->leaves->count;
    bool sound = true;
    *t = (tag){.closing = l->text[at + 1] == '/'};
    size_t name = at + 1 + t->closing;
    put(l, at, name, LG_HTML_OPEN_ANGLE);
    for (at = name; at < l->n && is_space(l->text[at]); at++) sound = false;
    put(l, name, at, LG_CODE_WHITESPACE);
    t->name = at;
    while (at < l->n && !is_space(l->text[at]) && l->text[at] != '/' && l->text[at] != '>' &&
           !begins_markup(l, at)) {
        if (!is_letter(l->text[at]) && !is_digit(l->text[at]) && l->text[at] != '-' && l->text[at] != ':')
            l->seen[at] = 'x';
        at++;
    }
    t->name_end = at;
    if (t->name == at || !is_letter(l->text[t->name])) sound = false;
    bool is_void = lg_html_is_void(l->text + t->name, at - t->name);
    size_t name_leaf = l->leaves->count;
    put(l, t->name, at, t->closing ? LG_HTML_TAG_CLOSING : is_void ? LG_HTML_TAG_VOID : LG_HTML_TAG_OPENING);
    size_t bare = l->leaves->count;
    while (!t->complete) {
        size_t begin = at;
        while (at < l->n && is_space(l->text[at])) at++;
        put(l, begin, at, LG_CODE_WHITESPACE);
        if (at >= l->n) {
            sound = false;
            break;
        }
        if (l->text[at] == '>') {
            put(l, at, at + 1, LG_HTML_CLOSE_ANGLE);
            at++;
            t->complete = true;
        } else if (l->text[at] == '/' && at + 1 < l->n && l->text[at + 1] == '>') {
            t->self_closing = !t->closing;
            if (t->closing) sound = false;
            put(l, at, at + 2, LG_HTML_CLOSE_ANGLE);
            at += 2;
            t->complete = true;
        } else if (l->text[at] == '<' && at + 1 < l->n &&
                   (l->text[at + 1] == '?' || l->text[at + 1] == '%') &&
                   (begin = lex_instruction(l, at, ' ')) > at) {
            at = begin;
        } else if (l->text[at] == '{' && (begin = lex_template(l, at, ' ')) > at) {
            at = begin;
        } else if (begins_markup(l, at)) {
            sound = false; /* the next tag begins, this one has no end */
            break;
        } else if (l->text[at] == '/') {
            put_hidden(l, at, at + 1, LG_HTML_ATTRIBUTE_NAME, ' ');
            at++;
        } else {
            at = lex_attribute(l, at, t, &sound);
        }
    }
    if (t->self_closing && !l->failed) l->leaves->tag[name_leaf] = (uint16_t)(LG_HTML_TAG_VOID | l->flag);
    /* The grammar knows no attributes in closing tags, and no script that closes itself. */
    if (t->closing && l->leaves->count > bare + 1) sound = false;
    if (t->self_closing && (equals(l->text + t->name, t->name_end - t->name, "script") ||
                            equals(l->text + t->name, t->name_end - t->name, "style")))
        sound = false;
    if (!sound) hide_since(l, first);
    return at;
}

/* ---- Scripts and styles ---- */

typedef enum script { JAVASCRIPT, HTML_TEMPLATE, UNKNOWN_SCRIPT } script;

static script script_of(const lexer *l, const tag *t) {
    static const char *const javascript[] = {
        "javascript", "ecmascript",       "json",       "module",         "jsx", "babel", "jscript",
        "importmap",  "speculationrules", "livescript", "mathjax-config", NULL};
    static const char *const html[] = {"template", "html", "handlebars", "mustache", "tmpl", "xml", NULL};
    const char *type = l->text + t->type;
    size_t length = t->type_end - t->type;
    if (length == 0) {
        type = l->text + t->language;
        length = t->language_end - t->language;
        if (length == 0) return JAVASCRIPT;
    }
    for (size_t i = 0; javascript[i]; i++)
        if (contains(type, length, javascript[i])) return JAVASCRIPT;
    for (size_t i = 0; html[i]; i++)
        if (contains(type, length, html[i])) return HTML_TEMPLATE;
    return UNKNOWN_SCRIPT;
}

static void lex_content(lexer *l, size_t at);

/* The content of a script or style, from AT to END. CLOSED: its closing tag follows. */
static void lex_raw(lexer *l, const tag *t, size_t first, size_t at, size_t end, bool closed) {
    bool is_style = equals(l->text + t->name, t->name_end - t->name, "style");
    if (!closed) hide_since(l, first); /* the grammar wants a closing tag */
    memset(l->seen + at, closed ? 'x' : ' ', end - at);
    script kind = is_style ? JAVASCRIPT : script_of(l, t);
    if (l->flag) kind = UNKNOWN_SCRIPT; /* within a template: no deeper */
    if (kind == JAVASCRIPT) {
        put(l, at, end, is_style ? LG_HTML_RAW_CSS : LG_HTML_RAW_JAVASCRIPT);
    } else if (kind == UNKNOWN_SCRIPT) {
        put_text(l, at, end, LG_CODE_FIXED);
    } else {
        lexer inside = {.text = l->text,
                        .n = end,
                        .seen = l->seen,
                        .leaves = l->leaves,
                        .run = at,
                        .flag = LG_CODE_FIXED};
        lex_content(&inside, at);
        l->failed |= inside.failed;
        memset(l->seen + at, closed ? 'x' : ' ', end - at);
    }
    l->run = end;
}

/* ---- Content ---- */

/* What begins with <!; returns where it ends. */
static size_t lex_declaration(lexer *l, size_t at) {
    size_t end;
    if (starts(l, at, "<!--")) {
        if (starts(l, at, "<!-->"))
            return put_enclosed(l, at, 4, at + 4, 1, LG_HTML_COMMENT_OPEN, 0, LG_HTML_COMMENT_CLOSE, ' ');
        if (starts(l, at, "<!--->"))
            return put_enclosed(l, at, 4, at + 4, 2, LG_HTML_COMMENT_OPEN, 0, LG_HTML_COMMENT_CLOSE, ' ');
        end = find(l, END_COMMENT, at + 4);
        size_t bang = find(l, END_COMMENT_BANG, at + 4), closer = end < l->n ? 3 : 0;
        if (bang < end) {
            end = bang;
            closer = 4;
        }
        return put_enclosed(l, at, 4, end, closer, LG_HTML_COMMENT_OPEN, LG_HTML_COMMENT,
                            LG_HTML_COMMENT_CLOSE, ' ');
    }
    if (starts(l, at, "<![CDATA[") && (end = find(l, END_CDATA, at + 9)) < l->n) {
        put_hidden(l, at, at + 9, LG_HTML_OPEN_ANGLE, ' ');
        put_text(l, at + 9, end, LG_CODE_FIXED);
        memset(l->seen + at + 9, ' ', end - at - 9);
        put_hidden(l, end, end + 3, LG_HTML_CLOSE_ANGLE, ' ');
        return end + 3;
    }
    bool doctype = l->n - at > 9 && equals(l->text + at + 2, 7, "doctype");
    end = find(l, END_ANGLE, at + 2);
    const char *subset = memchr(l->text + at, '[', end - at);
    if (doctype && subset) { /* <!DOCTYPE x [ … ]> */
        size_t close = find(l, END_SUBSET, (size_t)(subset - l->text));
        if (close < l->n) end = find(l, END_ANGLE, close);
    }
    bool simple = doctype && !subset && end < l->n && end > at + 10 && is_space(l->text[at + 9]);
    size_t first = l->leaves->count;
    put(l, at, at + 2, LG_HTML_OPEN_ANGLE);
    put(l, at + 2, end, LG_HTML_DOCTYPE);
    if (end < l->n) put(l, end, end + 1, LG_HTML_CLOSE_ANGLE);
    if (!simple) hide_since(l, first);
    return end + (end < l->n);
}

static bool is_named(const lexer *l, const tag *t, const char *name) {
    return equals(l->text + t->name, t->name_end - t->name, name);
}

/* An element's beginning or end; with what is raw in it. */
static size_t lex_element(lexer *l, size_t at) {
    tag t;
    size_t first = l->leaves->count;
    at = l->run = lex_tag(l, at, &t);
    if (t.closing || t.self_closing || !t.complete || l->failed) return at;
    static const struct {
        const char *name;
        terminator end;
        bool raw;
    } special[] = {{"script", END_SCRIPT, true},
                   {"style", END_STYLE, true},
                   {"title", END_TITLE, false},
                   {"textarea", END_TEXTAREA, false}};
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        if (!is_named(l, &t, special[i].name)) continue;
        size_t end = find(l, special[i].end, at);
        if (special[i].raw)
            lex_raw(l, &t, first, at, end, end < l->n && !(l->leaves->tag[first] & LG_CODE_FIXED));
        else return end < l->n ? lex_text(l, at, end) : at;
        return end;
    }
    return at;
}

/* Nothing but text. */
static bool is_plain(char c) {
    return c != '<' && c != '&' && c != '{' && c != '>' && c;
}

static void lex_content(lexer *l, size_t at) {
    while (at < l->n && !l->failed) {
        char next = at + 1 < l->n ? l->text[at + 1] : '\0';
        if (is_plain(l->text[at])) {
            do at++;
            while (at < l->n && is_plain(l->text[at]));
        } else if (l->text[at] != '<') {
            at = lex_character(l, at);
        } else if (is_letter(next) || next == '/') {
            end_run(l, at);
            at = lex_element(l, at);
        } else if (next == '!') {
            end_run(l, at);
            l->run = at = lex_declaration(l, at);
        } else if (next == '?' || (next == '%' && find(l, END_ASP, at + 2) < l->n)) {
            end_run(l, at);
            l->run = at = lex_instruction(l, at, ' ');
        } else {
            at = lex_character(l, at);
        }
    }
    end_run(l, l->n);
}

bool lg_html_lex(const char *text, size_t n_bytes, char *seen, lg_spans *leaves) {
    if (n_bytes) memcpy(seen, text, n_bytes);
    lexer l = {.text = text, .n = n_bytes, .seen = seen, .leaves = leaves};
    lex_content(&l, 0);
    return !l.failed;
}
