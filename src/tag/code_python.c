/* Python: which node of tree-sitter's tree gets which tag, and the newlines and indentation that mean
   something.

   Layout is CPython's, from brackets and lines alone: a newline outside of brackets that ends a statement is
   `newline`; a statement's leading white space is `indent` if it is deeper than the statement before it,
   `dedent` if it is less deep, else white space. A dedent to the left margin has no bytes, so it has no leaf.
   Blank lines, lines of comment and inner blanks are white space; a backslash that joins lines is
   `continuation`, with its newline. */
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "tag/code_python.h"

const TSLanguage *lg_grammar_python(void);

/* Names of CPython's builtins that are no keywords, in order of strcmp; of those that site.py adds, exit and
 * quit. */
static const char *const builtins[] = {
    "ArithmeticError",
    "AssertionError",
    "AttributeError",
    "BaseException",
    "BaseExceptionGroup",
    "BlockingIOError",
    "BrokenPipeError",
    "BufferError",
    "BytesWarning",
    "ChildProcessError",
    "ConnectionAbortedError",
    "ConnectionError",
    "ConnectionRefusedError",
    "ConnectionResetError",
    "DeprecationWarning",
    "EOFError",
    "Ellipsis",
    "EncodingWarning",
    "EnvironmentError",
    "Exception",
    "ExceptionGroup",
    "FileExistsError",
    "FileNotFoundError",
    "FloatingPointError",
    "FutureWarning",
    "GeneratorExit",
    "IOError",
    "ImportError",
    "ImportWarning",
    "IndentationError",
    "IndexError",
    "InterruptedError",
    "IsADirectoryError",
    "KeyError",
    "KeyboardInterrupt",
    "LookupError",
    "MemoryError",
    "ModuleNotFoundError",
    "NameError",
    "NotADirectoryError",
    "NotImplemented",
    "NotImplementedError",
    "OSError",
    "OverflowError",
    "PendingDeprecationWarning",
    "PermissionError",
    "ProcessLookupError",
    "PythonFinalizationError",
    "RecursionError",
    "ReferenceError",
    "ResourceWarning",
    "RuntimeError",
    "RuntimeWarning",
    "StopAsyncIteration",
    "StopIteration",
    "SyntaxError",
    "SyntaxWarning",
    "SystemError",
    "SystemExit",
    "TabError",
    "TimeoutError",
    "TypeError",
    "UnboundLocalError",
    "UnicodeDecodeError",
    "UnicodeEncodeError",
    "UnicodeError",
    "UnicodeTranslateError",
    "UnicodeWarning",
    "UserWarning",
    "ValueError",
    "Warning",
    "ZeroDivisionError",
    "__build_class__",
    "__debug__",
    "__import__",
    "abs",
    "aiter",
    "all",
    "anext",
    "any",
    "ascii",
    "bin",
    "bool",
    "breakpoint",
    "bytearray",
    "bytes",
    "callable",
    "chr",
    "classmethod",
    "compile",
    "complex",
    "delattr",
    "dict",
    "dir",
    "divmod",
    "enumerate",
    "eval",
    "exec",
    "exit",
    "filter",
    "float",
    "format",
    "frozenset",
    "getattr",
    "globals",
    "hasattr",
    "hash",
    "help",
    "hex",
    "id",
    "input",
    "int",
    "isinstance",
    "issubclass",
    "iter",
    "len",
    "list",
    "locals",
    "map",
    "max",
    "memoryview",
    "min",
    "next",
    "object",
    "oct",
    "open",
    "ord",
    "pow",
    "print",
    "property",
    "quit",
    "range",
    "repr",
    "reversed",
    "round",
    "set",
    "setattr",
    "slice",
    "sorted",
    "staticmethod",
    "str",
    "sum",
    "super",
    "tuple",
    "type",
    "vars",
    "zip",
};

uint16_t lg_python_name_tag(const char *text, size_t length) {
    size_t low = 0, high = sizeof builtins / sizeof *builtins;
    while (low < high) {
        size_t middle = low + (high - low) / 2, n = strlen(builtins[middle]);
        int order = memcmp(text, builtins[middle], length < n ? length : n);
        if (!order && length == n) return LG_PYTHON_BUILTIN;
        if (!order) order = length < n ? -1 : 1;
        if (order < 0) high = middle;
        else low = middle + 1;
    }
    return LG_PYTHON_IDENTIFIER;
}

uint16_t lg_python_keyword_tag(const char *text, size_t length) {
    static const char *const keywords[] = {
        "and",      "as",      "assert", "break", "class",  "continue", "def",    "del",   "elif", "else",
        "except",   "finally", "for",    "from",  "global", "if",       "import", "in",    "is",   "lambda",
        "nonlocal", "not",     "or",     "pass",  "raise",  "return",   "try",    "while", "with", "yield"};
    static const char *const constants[] = {"False", "None", "True"};
    if (length < 2 || length > 8) return LG_PYTHON_IDENTIFIER;
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (lg_text_is(text, length, keywords[i])) return LG_PYTHON_KEYWORD;
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        if (lg_text_is(text, length, constants[i])) return LG_PYTHON_CONSTANT;
    return LG_PYTHON_IDENTIFIER;
}

/* Whether PART occurs in [text, end). */
static bool contains(const char *text, const char *end, const char *part) {
    size_t n = strlen(part);
    for (; (size_t)(end - text) >= n; text++)
        if (!memcmp(text, part, n)) return true;
    return false;
}

uint16_t lg_python_comment_tag(const lg_code_walk *w, size_t begin, size_t end) {
    const char *at = w->text + begin + 1, *stop = w->text + end;
    size_t lines = 0; /* before the comment, if they are few */
    for (size_t i = begin; i-- > 0 && lines < 2;) lines += w->text[i] == '\n';
    if (!begin && at < stop && *at == '!') return LG_PYTHON_HEADER_COMMENT;
    if (lines < 2 && (contains(at, stop, "coding:") || contains(at, stop, "coding=")))
        return LG_PYTHON_HEADER_COMMENT;
    while (at < stop && (*at == ' ' || *at == '\t')) at++;
    return stop - at >= 5 && !memcmp(at, "type:", 5) ? LG_PYTHON_TYPE_COMMENT : LG_PYTHON_COMMENT;
}

uint16_t lg_python_string_tag(const lg_code_walk *w, size_t begin) {
    bool formatted = false, bytes = false;
    size_t at = begin;
    for (; at < w->n_bytes && w->text[at] != '\'' && w->text[at] != '"' && at < begin + 3; at++) {
        formatted |= (w->text[at] | 32) == 'f' || (w->text[at] | 32) == 't';
        bytes |= (w->text[at] | 32) == 'b';
    }
    bool triple = at + 3 <= w->n_bytes && w->text[at] == w->text[at + 1] && w->text[at] == w->text[at + 2];
    if (formatted) return triple ? LG_PYTHON_FSTRING_TRIPLE : LG_PYTHON_FSTRING;
    if (bytes) return triple ? LG_PYTHON_BYTES_TRIPLE : LG_PYTHON_BYTES;
    return triple ? LG_PYTHON_STRING_TRIPLE : LG_PYTHON_STRING;
}

uint16_t lg_python_number_tag(const char *text, size_t length) {
    bool hexadecimal = length > 1 && text[0] == '0' && (text[1] | 32) == 'x';
    if (length && (text[length - 1] | 32) == 'j') return LG_PYTHON_IMAGINARY;
    for (size_t i = 0; i < length && !hexadecimal; i++)
        if (text[i] == '.' || (text[i] | 32) == 'e') return LG_PYTHON_FLOAT;
    return LG_PYTHON_INTEGER;
}

static uint16_t choose_name(const lg_code_walk *w, const lg_code_node *node, size_t end,
                            const lg_code_node *parents, size_t n_parents) {
    (void)parents, (void)n_parents;
    return lg_python_name_tag(w->text + node->begin, end - node->begin);
}

static uint16_t choose_comment(const lg_code_walk *w, const lg_code_node *node, size_t end,
                               const lg_code_node *parents, size_t n_parents) {
    (void)parents, (void)n_parents;
    return lg_python_comment_tag(w, node->begin, end);
}

static uint16_t choose_string(const lg_code_walk *w, const lg_code_node *node, size_t end,
                              const lg_code_node *parents, size_t n_parents) {
    (void)node, (void)end;
    return n_parents ? lg_python_string_tag(w, parents[n_parents - 1].begin) : LG_PYTHON_STRING;
}

static uint16_t choose_docstring(const lg_code_walk *w, const lg_code_node *node, size_t end,
                                 const lg_code_node *parents, size_t n_parents) {
    uint16_t tag = choose_string(w, node, end, parents, n_parents);
    return tag == LG_PYTHON_STRING || tag == LG_PYTHON_STRING_TRIPLE ? LG_PYTHON_DOCSTRING : tag;
}

static uint16_t choose_number(const lg_code_walk *w, const lg_code_node *node, size_t end,
                              const lg_code_node *parents, size_t n_parents) {
    (void)parents, (void)n_parents;
    return lg_python_number_tag(w->text + node->begin, end - node->begin);
}

enum { IN_IMPORT = 1, IN_STRING, IN_DOCSTRING };

static const lg_code_rule rules[] = {
    /* Names. A builtin's name is one only where it is read as a value: not as an attribute, nor where it is
       bound. */
    {.nodes = "import_statement import_from_statement future_import_statement",
     .inner = true,
     .enter = IN_IMPORT},
    {.nodes = "identifier", .within = IN_IMPORT, .tag = LG_PYTHON_IDENTIFIER},
    {.nodes = "identifier", .parent = "attribute", .field = "attribute", .tag = LG_PYTHON_IDENTIFIER},
    {.nodes = "identifier", .parent = "keyword_argument", .field = "name", .tag = LG_PYTHON_IDENTIFIER},
    {.nodes = "identifier", .parent = "assignment", .field = "left", .tag = LG_PYTHON_IDENTIFIER},
    {.nodes = "identifier", .parent = "named_expression", .field = "name", .tag = LG_PYTHON_IDENTIFIER},
    {.nodes = "identifier", .parent = "for_statement", .field = "left", .tag = LG_PYTHON_IDENTIFIER},
    {.nodes = "identifier", .parent = "for_in_clause", .field = "left", .tag = LG_PYTHON_IDENTIFIER},
    {.nodes = "identifier", .parent = "function_definition", .field = "name", .tag = LG_PYTHON_IDENTIFIER},
    {.nodes = "identifier", .parent = "class_definition", .field = "name", .tag = LG_PYTHON_IDENTIFIER},
    {.nodes = "identifier", .parent = "default_parameter", .field = "name", .tag = LG_PYTHON_IDENTIFIER},
    {.nodes = "identifier",
     .parent = "typed_default_parameter",
     .field = "name",
     .tag = LG_PYTHON_IDENTIFIER},
    {.nodes = "identifier", .parent = "typed_parameter", .tag = LG_PYTHON_IDENTIFIER},
    {.nodes = "identifier", .parent = "parameters", .tag = LG_PYTHON_IDENTIFIER},
    {.nodes = "identifier", .parent = "lambda_parameters", .tag = LG_PYTHON_IDENTIFIER},
    {.nodes = "identifier", .parent = "list_splat_pattern", .tag = LG_PYTHON_IDENTIFIER},
    {.nodes = "identifier", .parent = "dictionary_splat_pattern", .tag = LG_PYTHON_IDENTIFIER},
    {.nodes = "identifier", .parent = "pattern_list", .tag = LG_PYTHON_IDENTIFIER},
    {.nodes = "identifier", .parent = "tuple_pattern", .tag = LG_PYTHON_IDENTIFIER},
    {.nodes = "identifier", .parent = "as_pattern_target", .tag = LG_PYTHON_IDENTIFIER},
    {.nodes = "identifier", .parent = "global_statement", .tag = LG_PYTHON_IDENTIFIER},
    {.nodes = "identifier", .choose = choose_name},
    {.tokens = "__future__", .tag = LG_PYTHON_IDENTIFIER},

    /* Keywords; the soft ones are so where the grammar reads them as such. */
    {.tokens = "match case type _", .tag = LG_PYTHON_SOFT_KEYWORD},
    {.nodes = "true false none", .tag = LG_PYTHON_CONSTANT},
    {.tokens = "and as assert async await break class continue def del elif else except except* exec finally "
               "for from "
               "global if import in is lambda nonlocal not or pass print raise return try while with yield",
     .tag = LG_PYTHON_KEYWORD},

    /* Strings. A string that is a statement of its own documents something. */
    {.nodes = "string", .parent = "expression_statement", .inner = true, .enter = IN_DOCSTRING},
    {.nodes = "string", .inner = true, .enter = IN_STRING},
    {.nodes = "string_start", .tag = LG_PYTHON_OPEN_QUOTE},
    {.nodes = "string_end", .tag = LG_PYTHON_CLOSE_QUOTE},
    {.nodes = "string_content", .within = IN_DOCSTRING, .choose = choose_docstring},
    {.nodes = "string_content", .choose = choose_string},
    {.tokens = "{", .parent = "interpolation", .tag = LG_PYTHON_OPEN_FIELD},
    {.tokens = "}", .parent = "interpolation", .tag = LG_PYTHON_CLOSE_FIELD},
    {.tokens = "{", .parent = "format_expression", .tag = LG_PYTHON_OPEN_FIELD},
    {.tokens = "}", .parent = "format_expression", .tag = LG_PYTHON_CLOSE_FIELD},
    {.tokens = "=", .parent = "interpolation", .tag = LG_PYTHON_FORMAT},
    {.nodes = "format_specifier", .inner = true, .gaps = LG_PYTHON_FORMAT},
    {.tokens = ":", .parent = "format_specifier", .tag = LG_PYTHON_FORMAT},
    {.nodes = "type_conversion", .tag = LG_PYTHON_FORMAT},

    {.nodes = "comment", .choose = choose_comment},
    {.nodes = "integer float", .choose = choose_number},

    /* Delimiters, separators, operators. */
    {.tokens = "(", .tag = LG_PYTHON_OPEN_ROUND},
    {.tokens = ")", .tag = LG_PYTHON_CLOSE_ROUND},
    {.tokens = "[", .tag = LG_PYTHON_OPEN_SQUARE},
    {.tokens = "]", .tag = LG_PYTHON_CLOSE_SQUARE},
    {.tokens = "{", .tag = LG_PYTHON_OPEN_CURLY},
    {.tokens = "}", .tag = LG_PYTHON_CLOSE_CURLY},
    {.tokens = ",", .tag = LG_PYTHON_COMMA},
    {.tokens = ":", .tag = LG_PYTHON_COLON},
    {.tokens = ";", .tag = LG_PYTHON_SEMICOLON},
    {.tokens = ".", .tag = LG_PYTHON_DOT},
    {.nodes = "ellipsis", .tag = LG_PYTHON_ELLIPSIS},
    {.tokens = ":=", .tag = LG_PYTHON_WALRUS},
    {.tokens = "->", .tag = LG_PYTHON_ARROW},
    {.tokens = "@", .parent = "decorator", .tag = LG_PYTHON_DECORATOR},
    {.tokens = "= += -= *= /= //= %= @= &= |= ^= >>= <<= **=", .tag = LG_PYTHON_ASSIGN},
    {.tokens = "!= % & * ** + - / // < << <= <> == > >= >> @ ^ | ~", .tag = LG_PYTHON_OPERATOR},
    {.nodes = "line_continuation", .tag = LG_CODE_LEX},
    {0},
};

/* Layout. */

/* The statement that begins at AT, COLUMN columns in: what its leading white space is. */
static uint16_t indent_to(lg_code_walk *w, uint32_t column) {
    lg_python_state *s = w->python;
    uint32_t last = s->n_columns ? s->columns[s->n_columns - 1] : 0;
    if (column == last) return LG_CODE_WHITESPACE;
    if (column > last) {
        if (!lg_reserve(&s->columns, &s->columns_room, s->n_columns + 1, sizeof *s->columns)) {
            w->failed = true;
            return LG_CODE_WHITESPACE;
        }
        s->columns[s->n_columns++] = column;
        return LG_PYTHON_INDENT;
    }
    while (s->n_columns && s->columns[s->n_columns - 1] > column) s->n_columns--;
    return LG_PYTHON_DEDENT;
}

/* Columns of [begin, end) as CPython counts them. */
static uint32_t column_of(const char *text, size_t begin, size_t end) {
    uint32_t column = 0;
    for (size_t i = begin; i < end; i++)
        column = text[i] == '\t' ? (column / 8 + 1) * 8 : text[i] == '\f' ? 0 : column + 1;
    return column;
}

static bool is_blank(const char *at, const char *end) {
    while (at < end && (*at == ' ' || *at == '\t')) at++;
    return at >= end;
}

static void put_white(lg_code_walk *w, size_t end) {
    lg_python_state *s = w->python;
    for (size_t i = w->at; i < end; i++) {
        if (w->text[i] != '\n') continue;
        size_t newline = i > w->at && w->text[i - 1] == '\r' ? i - 1 : i;
        s->line = i + 1;
        if (s->depth || !s->in_statement) continue;
        lg_code_extend(w, w->at, newline, LG_CODE_WHITESPACE);
        lg_code_add(w, newline, i + 1, LG_PYTHON_NEWLINE);
        s->in_statement = false;
    }
    bool leads = !s->depth && !s->in_statement && s->line < end && end < w->n_bytes && w->text[end] != '#' &&
                 w->text[end] != '\\';
    if (!leads) {
        lg_code_extend(w, w->at, end, LG_CODE_WHITESPACE);
        return;
    }
    if (s->line > w->at) lg_code_extend(w, w->at, s->line, LG_CODE_WHITESPACE);
    uint16_t tag = indent_to(w, column_of(w->text, s->line, end));
    if (tag == LG_CODE_WHITESPACE) lg_code_extend(w, w->at, end, tag);
    else lg_code_add(w, w->at, end, tag);
}

static bool is_line_head(const lg_code_walk *w, size_t at) {
    return at == w->python->line || is_blank(w->text + w->python->line, w->text + at);
}

/* Keywords that begin a statement and nothing else: with one at a line's head, brackets left open are
 * forgotten. */
static bool begins_statement(const lg_code_walk *w, size_t begin, size_t end) {
    static const char *const words[] = {"assert", "break",  "class",    "continue", "def",
                                        "del",    "global", "nonlocal", "pass",     "raise",
                                        "return", "try",    "while",    "with",     "import"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (lg_text_is(w->text + begin, end - begin, words[i])) return true;
    return false;
}

/* Whether the name at BEGIN stands behind a keyword that no name is bound behind. Without their `try`, the
 * grammar takes `except E:` for an annotated assignment to E, and so on. */
static bool is_read_after_keyword(const lg_code_walk *w, size_t begin) {
    static const char *const words[] = {"except", "raise", "return"};
    const lg_spans *s = w->leaves;
    size_t last = s->count;
    while (last && last + 2 > s->count && s->tag[last - 1] == LG_CODE_WHITESPACE) last--;
    if (!last || s->end[s->count - 1] != begin || s->tag[last - 1] != LG_PYTHON_KEYWORD) return false;
    size_t at = (size_t)s->begin[last - 1], length = (size_t)s->end[last - 1] - at;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (lg_text_is(w->text + at, length, words[i])) return true;
    return false;
}

static bool is_word(uint16_t tag) {
    return tag == LG_PYTHON_IDENTIFIER || tag == LG_PYTHON_BUILTIN || tag == LG_PYTHON_KEYWORD ||
           tag == LG_PYTHON_SOFT_KEYWORD || tag == LG_PYTHON_CONSTANT;
}

/* Whether a word continues the last leaf: an error of the grammar may end inside of it. */
static bool joins(const lg_code_walk *w, uint16_t tag) {
    size_t n = w->leaves->count;
    return is_word(tag) && n && w->leaves->end[n - 1] == w->at && is_word(w->leaves->tag[n - 1]) &&
           (w->classes[w->at - 1] & LG_CLASS_IN_WORD);
}

static void put(lg_code_walk *w, size_t begin, size_t end, uint16_t tag) {
    lg_python_state *s = w->python;
    if (tag == LG_CODE_WHITESPACE) {
        put_white(w, end);
        return;
    }
    bool comment =
        tag == LG_PYTHON_COMMENT || tag == LG_PYTHON_TYPE_COMMENT || tag == LG_PYTHON_HEADER_COMMENT;
    if (comment) { /* the grammar's take the CR of the line's end along */
        bool cr = w->text[end - 1] == '\r' && end < w->n_bytes && w->text[end] == '\n';
        lg_code_add(w, begin, end - cr, tag);
        if (cr) put_white(w, end + 1);
        return;
    }
    if (tag == LG_PYTHON_CONTINUATION) {
        lg_code_add(w, begin, end, tag);
        return;
    }
    if (joins(w, tag)) {
        w->leaves->tag[w->leaves->count - 1] = LG_PYTHON_IDENTIFIER;
        lg_code_extend(w, begin, end, LG_PYTHON_IDENTIFIER);
        return;
    }
    if (tag == LG_PYTHON_IDENTIFIER) { /* in its errors, the grammar takes keywords for names */
        tag = lg_python_keyword_tag(w->text + begin, end - begin);
        if (tag == LG_PYTHON_IDENTIFIER && is_read_after_keyword(w, begin))
            tag = lg_python_name_tag(w->text + begin, end - begin);
    }
    if (tag == LG_PYTHON_BUILTIN && begin && w->text[begin - 1] == '.') tag = LG_PYTHON_IDENTIFIER;
    if (s->depth && tag == LG_PYTHON_KEYWORD && is_line_head(w, begin) && begins_statement(w, begin, end)) {
        s->depth = 0;
        s->in_statement = false;
    }
    if (!s->depth && !s->in_statement && begin == s->line) s->n_columns = 0; /* back at the margin */
    s->in_statement = true;
    switch (tag) {
    case LG_PYTHON_OPEN_ROUND:
    case LG_PYTHON_OPEN_SQUARE:
    case LG_PYTHON_OPEN_CURLY:
    case LG_PYTHON_OPEN_FIELD:
        s->depth++;
        break;
    case LG_PYTHON_CLOSE_ROUND:
    case LG_PYTHON_CLOSE_SQUARE:
    case LG_PYTHON_CLOSE_CURLY:
    case LG_PYTHON_CLOSE_FIELD:
        s->depth -= s->depth > 0;
        break;
    case LG_PYTHON_KEYWORD:
        if (w->text[end - 1] == '*') { /* `except*` is one token of the grammar, two of CPython */
            lg_code_add(w, begin, begin + 6, LG_PYTHON_KEYWORD);
            lg_python_lex(w, begin + 6, end);
            return;
        }
        break;
    case LG_PYTHON_FORMAT:
        lg_code_extend(w, begin, end, tag);
        return;
    default:
        break;
    }
    lg_code_add(w, begin, end, tag);
}

static void begin(lg_code_walk *w) {
    lg_python_state *s = w->python;
    s->depth = s->line = s->n_columns = 0;
    s->in_statement = false;
    s->open_quote = 0;
}

const lg_code_language lg_code_python = {
    .name = "python",
    .grammar = lg_grammar_python,
    .rules = rules,
    .lex = lg_python_lex,
    .put = put,
    .begin = begin,
    .prepare = lg_python_prepare,
    .open_at = lg_python_open_at,
    .resume = lg_python_resume,
    .cut = lg_python_cut,
};
