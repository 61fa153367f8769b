/* The external scanner of tree-sitter's HTML grammar, in place of the package's own.

   The package's scanner keeps the stack of open elements and copies it at every token (quadratic in the depth
   of nesting), searches the rest of the text for the end of each unclosed comment (quadratic too), and asks
   the locale what a letter is. Leaves do not depend on which element a closing tag closes, so this one keeps
   a single byte: what kind of element was opened last. A closing tag closes the innermost open element; the
   end of the text closes all. */
#include <string.h>

#include <tree_sitter/parser.h>

#include "tag/code_memory.h"

/* In the order of the grammar's `externals`. */
enum token {
    START_TAG_NAME,
    SCRIPT_START_TAG_NAME,
    STYLE_START_TAG_NAME,
    END_TAG_NAME,
    ERRONEOUS_END_TAG_NAME,
    SELF_CLOSING_TAG_DELIMITER,
    IMPLICIT_END_TAG,
    RAW_TEXT,
    COMMENT,
};

typedef enum element { NORMAL, EMPTY /* has no content and no closing tag */, SCRIPT, STYLE } element;

/* code_html_lex.c */
bool lg_html_is_void(const char *name, size_t length);

enum { LONGEST_NAME = 16 }; /* of those that are told apart */

static bool is_letter(int32_t c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_space(int32_t c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Takes a name; false: there is none. NAME [LONGEST_NAME]: its beginning, in lower case. */
static bool scan_name(TSLexer *lexer, char *name, size_t *length) {
    *length = 0;
    if (!is_letter(lexer->lookahead)) return false;
    for (;;) {
        int32_t c = lexer->lookahead;
        if (!is_letter(c) && !(c >= '0' && c <= '9') && c != '-' && c != ':') return true;
        if (*length < LONGEST_NAME) name[*length] = (char)(is_letter(c) ? c | 32 : c);
        ++*length;
        lexer->advance(lexer, false);
    }
}

static bool is(const char *name, size_t length, const char *word) {
    return length == strlen(word) && memcmp(name, word, length) == 0;
}

static bool scan_start_name(element *last, TSLexer *lexer) {
    char name[LONGEST_NAME];
    size_t length;
    if (!scan_name(lexer, name, &length)) return false;
    lexer->result_symbol = START_TAG_NAME;
    *last = NORMAL;
    if (length > LONGEST_NAME) return true;
    if (is(name, length, "script")) {
        *last = SCRIPT;
        lexer->result_symbol = SCRIPT_START_TAG_NAME;
    } else if (is(name, length, "style")) {
        *last = STYLE;
        lexer->result_symbol = STYLE_START_TAG_NAME;
    } else if (lg_html_is_void(name, length)) {
        *last = EMPTY;
    }
    return true;
}

/* Everything up to </script or </style. */
static bool scan_raw_text(element last, TSLexer *lexer) {
    const char *end = last == SCRIPT ? "</script" : "</style";
    bool any = false;
    size_t matched = 0;
    lexer->mark_end(lexer);
    while (!lexer->eof(lexer)) {
        int32_t c = lexer->lookahead;
        if ((is_letter(c) ? c | 32 : c) == end[matched]) {
            lexer->advance(lexer, false);
            if (!end[++matched]) break;
        } else if (matched) {
            matched = 0; /* and look at this character again: it may be a < */
            lexer->mark_end(lexer);
            any = true;
        } else {
            lexer->advance(lexer, false);
            lexer->mark_end(lexer);
            any = true;
        }
    }
    if (lexer->eof(lexer) && !(end[matched] == 0)) {
        any |= matched > 0;
        lexer->mark_end(lexer);
    }
    lexer->result_symbol = RAW_TEXT;
    return any;
}

static bool scan(element *last, TSLexer *lexer, const bool *valid) {
    if (valid[RAW_TEXT] && !valid[START_TAG_NAME] && !valid[END_TAG_NAME]) return scan_raw_text(*last, lexer);
    while (is_space(lexer->lookahead)) lexer->advance(lexer, true);
    bool recovers = valid[RAW_TEXT]; /* after an error everything is valid: nothing without a length, then */
    if (valid[IMPLICIT_END_TAG] && !recovers && (*last == EMPTY || lexer->eof(lexer))) {
        *last = NORMAL;
        lexer->mark_end(lexer);
        lexer->result_symbol = IMPLICIT_END_TAG;
        return true;
    }
    char name[LONGEST_NAME];
    size_t length;
    if (lexer->lookahead == '/' && valid[SELF_CLOSING_TAG_DELIMITER]) {
        lexer->advance(lexer, false);
        if (lexer->lookahead != '>') return false;
        lexer->advance(lexer, false);
        lexer->mark_end(lexer);
        *last = NORMAL;
        lexer->result_symbol = SELF_CLOSING_TAG_DELIMITER;
        return true;
    }
    if (recovers) return false;
    if (valid[START_TAG_NAME]) return scan_start_name(last, lexer);
    if ((valid[END_TAG_NAME] || valid[ERRONEOUS_END_TAG_NAME]) && scan_name(lexer, name, &length)) {
        lexer->result_symbol = valid[END_TAG_NAME] ? END_TAG_NAME : ERRONEOUS_END_TAG_NAME;
        *last = NORMAL;
        return true;
    }
    return false;
}

/* What the grammar calls. */
void *lg_grammar_html_create(void);
void lg_grammar_html_destroy(void *last);
unsigned lg_grammar_html_serialize(void *last, char *buffer);
void lg_grammar_html_deserialize(void *last, const char *buffer, unsigned length);
bool lg_grammar_html_scan(void *last, TSLexer *lexer, const bool *valid);

void *lg_grammar_html_create(void) {
    return lg_tree_calloc(1, sizeof(element));
}

void lg_grammar_html_destroy(void *last) {
    lg_tree_free(last);
}

unsigned lg_grammar_html_serialize(void *last, char *buffer) {
    buffer[0] = (char)(last ? *(element *)last : NORMAL);
    return 1;
}

void lg_grammar_html_deserialize(void *last, const char *buffer, unsigned length) {
    if (last) *(element *)last = length ? (element)buffer[0] : NORMAL;
}

bool lg_grammar_html_scan(void *last, TSLexer *lexer, const bool *valid) {
    return last && scan(last, lexer, valid);
}
