/* The external scanner of tree-sitter's CSS grammar, in place of the package's own, which looks ahead to the
   end of the text at every colon: this one looks LOOK_AHEAD characters far, and does not ask the locale what
   a letter is. */
#include <tree_sitter/parser.h>

/* In the order of the grammar's `externals`. */
enum token { DESCENDANT_OPERATOR, PSEUDO_CLASS_COLON, ERROR_RECOVERY };

enum { LOOK_AHEAD = 1000 };

static bool is_space(int32_t c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool begins_selector(int32_t c) {
    return c == '#' || c == '.' || c == '[' || c == '-' || c == '*' || c == '_' || (c >= '0' && c <= '9') ||
           (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 128;
}

typedef enum verdict { RULE, DECLARATION, UNDECIDED } verdict;

/* A { before the next ; or } tells that what stands here belongs to a selector. */
static verdict look_ahead(TSLexer *lexer) {
    for (size_t i = 0; i < LOOK_AHEAD; i++) {
        if (lexer->eof(lexer)) return UNDECIDED;
        if (lexer->lookahead == '{') return RULE;
        if (lexer->lookahead == ';' || lexer->lookahead == '}') return DECLARATION;
        lexer->advance(lexer, false);
    }
    return UNDECIDED;
}

void *lg_grammar_css_create(void);
void lg_grammar_css_destroy(void *scanner);
unsigned lg_grammar_css_serialize(void *scanner, char *buffer);
void lg_grammar_css_deserialize(void *scanner, const char *buffer, unsigned length);
bool lg_grammar_css_scan(void *scanner, TSLexer *lexer, const bool *valid);

void *lg_grammar_css_create(void) {
    return NULL;
}

void lg_grammar_css_destroy(void *scanner) {
    (void)scanner;
}

unsigned lg_grammar_css_serialize(void *scanner, char *buffer) {
    (void)scanner, (void)buffer;
    return 0;
}

void lg_grammar_css_deserialize(void *scanner, const char *buffer, unsigned length) {
    (void)scanner, (void)buffer, (void)length;
}

bool lg_grammar_css_scan(void *scanner, TSLexer *lexer, const bool *valid) {
    (void)scanner;
    if (valid[ERROR_RECOVERY]) return false;
    bool blank = is_space(lexer->lookahead);
    while (is_space(lexer->lookahead)) lexer->advance(lexer, true);
    if (blank && valid[DESCENDANT_OPERATOR]) { /* the white space between two selectors */
        lexer->result_symbol = DESCENDANT_OPERATOR;
        lexer->mark_end(lexer);
        if (begins_selector(lexer->lookahead)) return true;
        if (lexer->lookahead == ':') {
            lexer->advance(lexer, false);
            if (is_space(lexer->lookahead)) return false;
            return look_ahead(lexer) == RULE;
        }
    }
    if (valid[PSEUDO_CLASS_COLON] && lexer->lookahead == ':') {
        lexer->advance(lexer, false);
        if (lexer->lookahead == ':') return false;
        lexer->mark_end(lexer);
        lexer->result_symbol = PSEUDO_CLASS_COLON;
        return look_ahead(lexer) == RULE;
    }
    return false;
}
