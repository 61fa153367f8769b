/* The leaf tags of code and markup, one list per language. A tag is one row here; which syntax gets it stands
   in the language's own file (code_python.c …). The order is that of lg_code_tags: add rows at a list's end.
 */
#ifndef LG_TAG_CODE_TAGS_H
#define LG_TAG_CODE_TAGS_H

#include "tag/code_tags_markup.h"

/* row(NAME of the constant, name, family, delimiter, prose: delimiters inside are looked for as in prose) */
#define LG_CODE_TAGS_SHARED(row) row(CODE_WHITESPACE, "whitespace", WHITESPACE, NO_DELIMITER, false)

/* clang-format off */
#define LG_CODE_TAGS_PYTHON(row) \
    row(PYTHON_IDENTIFIER, "python.identifier", IDENTIFIER, NO_DELIMITER, false)       \
    row(PYTHON_KEYWORD, "python.keyword", KEYWORD, NO_DELIMITER, false)                \
    row(PYTHON_SOFT_KEYWORD, "python.keyword.soft", KEYWORD, NO_DELIMITER, false)      \
    row(PYTHON_CONSTANT, "python.keyword.constant", KEYWORD, NO_DELIMITER, false)      \
    row(PYTHON_BUILTIN, "python.builtin", BUILTIN, NO_DELIMITER, false)                \
    row(PYTHON_STRING, "python.string", STRING, NO_DELIMITER, true)                    \
    row(PYTHON_STRING_TRIPLE, "python.string.triple", STRING, NO_DELIMITER, true)      \
    row(PYTHON_FSTRING, "python.fstring", STRING, NO_DELIMITER, true)                  \
    row(PYTHON_FSTRING_TRIPLE, "python.fstring.triple", STRING, NO_DELIMITER, true)    \
    row(PYTHON_BYTES, "python.bytes", STRING, NO_DELIMITER, true)                      \
    row(PYTHON_BYTES_TRIPLE, "python.bytes.triple", STRING, NO_DELIMITER, true)        \
    row(PYTHON_DOCSTRING, "python.docstring", STRING, NO_DELIMITER, true)              \
    row(PYTHON_FORMAT, "python.format", STRING, NO_DELIMITER, false)                   \
    row(PYTHON_OPEN_QUOTE, "python.open.quote", OPEN, OPEN_QUOTE, false)               \
    row(PYTHON_CLOSE_QUOTE, "python.close.quote", CLOSE, CLOSE_QUOTE, false)           \
    row(PYTHON_OPEN_FIELD, "python.open.field", OPEN, OPEN_CURLY, false)               \
    row(PYTHON_CLOSE_FIELD, "python.close.field", CLOSE, CLOSE_CURLY, false)           \
    row(PYTHON_OPEN_ROUND, "python.open.round", OPEN, OPEN_ROUND, false)               \
    row(PYTHON_CLOSE_ROUND, "python.close.round", CLOSE, CLOSE_ROUND, false)           \
    row(PYTHON_OPEN_SQUARE, "python.open.square", OPEN, OPEN_SQUARE, false)            \
    row(PYTHON_CLOSE_SQUARE, "python.close.square", CLOSE, CLOSE_SQUARE, false)        \
    row(PYTHON_OPEN_CURLY, "python.open.curly", OPEN, OPEN_CURLY, false)               \
    row(PYTHON_CLOSE_CURLY, "python.close.curly", CLOSE, CLOSE_CURLY, false)           \
    row(PYTHON_INTEGER, "python.number.integer", NUMBER, NO_DELIMITER, false)          \
    row(PYTHON_FLOAT, "python.number.float", NUMBER, NO_DELIMITER, false)              \
    row(PYTHON_IMAGINARY, "python.number.imaginary", NUMBER, NO_DELIMITER, false)      \
    row(PYTHON_OPERATOR, "python.operator", OPERATOR, NO_DELIMITER, false)             \
    row(PYTHON_ASSIGN, "python.operator.assign", OPERATOR, NO_DELIMITER, false)        \
    row(PYTHON_WALRUS, "python.operator.walrus", OPERATOR, NO_DELIMITER, false)        \
    row(PYTHON_ARROW, "python.operator.arrow", OPERATOR, NO_DELIMITER, false)          \
    row(PYTHON_DECORATOR, "python.operator.decorator", OPERATOR, NO_DELIMITER, false)  \
    row(PYTHON_ELLIPSIS, "python.ellipsis", OPERATOR, NO_DELIMITER, false)             \
    row(PYTHON_COMMA, "python.comma", OPERATOR, NO_DELIMITER, false)                   \
    row(PYTHON_COLON, "python.colon", OPERATOR, NO_DELIMITER, false)                   \
    row(PYTHON_DOT, "python.dot", OPERATOR, NO_DELIMITER, false)                       \
    row(PYTHON_SEMICOLON, "python.semicolon", OPERATOR, NO_DELIMITER, false)           \
    row(PYTHON_COMMENT, "python.comment", COMMENT, NO_DELIMITER, true)                 \
    row(PYTHON_TYPE_COMMENT, "python.comment.type", COMMENT, NO_DELIMITER, false)      \
    row(PYTHON_HEADER_COMMENT, "python.comment.header", COMMENT, NO_DELIMITER, false)  \
    row(PYTHON_NEWLINE, "python.newline", LAYOUT, NO_DELIMITER, false)                 \
    row(PYTHON_INDENT, "python.indent", LAYOUT, NO_DELIMITER, false)                   \
    row(PYTHON_DEDENT, "python.dedent", LAYOUT, NO_DELIMITER, false)                   \
    row(PYTHON_CONTINUATION, "python.continuation", LAYOUT, NO_DELIMITER, false)       \
    row(PYTHON_ERROR, "python.error", OTHER, NO_DELIMITER, false)
/* clang-format on */

#define LG_CODE_TAGS(row)                                                                                    \
    LG_CODE_TAGS_SHARED(row)                                                                                 \
    LG_CODE_TAGS_PYTHON(row)                                                                                 \
    LG_CODE_TAGS_HTML(row)                                                                                   \
    LG_CODE_TAGS_JAVASCRIPT(row)                                                                             \
    LG_CODE_TAGS_CSS(row)                                                                                    \
    LG_CODE_TAGS_LATEX(row)

#define LG_CODE_TAG_CONSTANT(constant, name, family, delimiter, prose) LG_##constant,
enum { LG_CODE_TAGS(LG_CODE_TAG_CONSTANT) LG_N_CODE_TAGS };

#endif
