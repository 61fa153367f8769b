/* The leaf tags of HTML, JavaScript, CSS and LaTeX: part of code_tags.h, and laid out by hand like it. */
#ifndef LG_TAG_CODE_TAGS_MARKUP_H
#define LG_TAG_CODE_TAGS_MARKUP_H

/* clang-format off */

#define LG_CODE_TAGS_HTML(row) \
    row(HTML_TEXT, "html.text", TEXT, NO_DELIMITER, true)                                   \
    row(HTML_ENTITY, "html.entity", ENTITY, NO_DELIMITER, false)                            \
    row(HTML_TAG_OPENING, "html.tag.opening", TAG_NAME, OPEN_TAG, false)                    \
    row(HTML_TAG_CLOSING, "html.tag.closing", TAG_NAME, CLOSE_TAG, false)                   \
    row(HTML_TAG_VOID, "html.tag.void", TAG_NAME, NO_DELIMITER, false)                      \
    row(HTML_ATTRIBUTE_NAME, "html.attribute.name", ATTRIBUTE_NAME, NO_DELIMITER, false)    \
    row(HTML_EQUALS, "html.equals", OPERATOR, NO_DELIMITER, false)                          \
    row(HTML_ATTRIBUTE_VALUE, "html.attribute.value", ATTRIBUTE_VALUE, NO_DELIMITER, true)  \
    row(HTML_OPEN_QUOTE, "html.open.quote", OPEN, OPEN_QUOTE, false)                        \
    row(HTML_CLOSE_QUOTE, "html.close.quote", CLOSE, CLOSE_QUOTE, false)                    \
    row(HTML_OPEN_ANGLE, "html.open.angle", OPEN, OPEN_ANGLE, false)                        \
    row(HTML_CLOSE_ANGLE, "html.close.angle", CLOSE, CLOSE_ANGLE, false)                    \
    row(HTML_COMMENT_OPEN, "html.comment.open", COMMENT, OPEN_ANGLE, false)                 \
    row(HTML_COMMENT, "html.comment", COMMENT, NO_DELIMITER, true)                          \
    row(HTML_COMMENT_CLOSE, "html.comment.close", COMMENT, CLOSE_ANGLE, false)              \
    row(HTML_DOCTYPE, "html.doctype", DOCTYPE, NO_DELIMITER, true)                          \
    row(HTML_INSTRUCTION, "html.instruction", OTHER, NO_DELIMITER, true)                    \
    row(HTML_TEMPLATE, "html.template", OTHER, NO_DELIMITER, true)

#define LG_CODE_TAGS_JAVASCRIPT(row) \
    row(JS_IDENTIFIER, "javascript.identifier", IDENTIFIER, NO_DELIMITER, false)   \
    row(JS_PROPERTY, "javascript.property", IDENTIFIER, NO_DELIMITER, false)       \
    row(JS_KEYWORD, "javascript.keyword", KEYWORD, NO_DELIMITER, false)            \
    row(JS_CONSTANT, "javascript.keyword.constant", KEYWORD, NO_DELIMITER, false)  \
    row(JS_BUILTIN, "javascript.builtin", BUILTIN, NO_DELIMITER, false)            \
    row(JS_STRING, "javascript.string", STRING, NO_DELIMITER, true)                \
    row(JS_TEMPLATE, "javascript.template", STRING, NO_DELIMITER, true)            \
    row(JS_REGEX, "javascript.regex", STRING, NO_DELIMITER, true)                  \
    row(JS_NUMBER, "javascript.number", NUMBER, NO_DELIMITER, false)               \
    row(JS_COMMENT, "javascript.comment", COMMENT, NO_DELIMITER, true)             \
    row(JS_TEXT, "javascript.text", TEXT, NO_DELIMITER, true)                      \
    row(JS_OPERATOR, "javascript.operator", OPERATOR, NO_DELIMITER, false)         \
    row(JS_ASSIGN, "javascript.operator.assign", OPERATOR, NO_DELIMITER, false)    \
    row(JS_ARROW, "javascript.operator.arrow", OPERATOR, NO_DELIMITER, false)      \
    row(JS_COMMA, "javascript.comma", OPERATOR, NO_DELIMITER, false)               \
    row(JS_COLON, "javascript.colon", OPERATOR, NO_DELIMITER, false)               \
    row(JS_DOT, "javascript.dot", OPERATOR, NO_DELIMITER, false)                   \
    row(JS_SEMICOLON, "javascript.semicolon", OPERATOR, NO_DELIMITER, false)       \
    row(JS_OPEN_ROUND, "javascript.open.round", OPEN, OPEN_ROUND, false)           \
    row(JS_CLOSE_ROUND, "javascript.close.round", CLOSE, CLOSE_ROUND, false)       \
    row(JS_OPEN_SQUARE, "javascript.open.square", OPEN, OPEN_SQUARE, false)        \
    row(JS_CLOSE_SQUARE, "javascript.close.square", CLOSE, CLOSE_SQUARE, false)    \
    row(JS_OPEN_CURLY, "javascript.open.curly", OPEN, OPEN_CURLY, false)           \
    row(JS_CLOSE_CURLY, "javascript.close.curly", CLOSE, CLOSE_CURLY, false)       \
    row(JS_OPEN_FIELD, "javascript.open.field", OPEN, OPEN_CURLY, false)           \
    row(JS_CLOSE_FIELD, "javascript.close.field", CLOSE, CLOSE_CURLY, false)       \
    row(JS_OPEN_ANGLE, "javascript.open.angle", OPEN, OPEN_ANGLE, false)           \
    row(JS_CLOSE_ANGLE, "javascript.close.angle", CLOSE, CLOSE_ANGLE, false)       \
    row(JS_OPEN_QUOTE, "javascript.open.quote", OPEN, OPEN_QUOTE, false)           \
    row(JS_CLOSE_QUOTE, "javascript.close.quote", CLOSE, CLOSE_QUOTE, false)       \
    row(JS_ERROR, "javascript.error", OTHER, NO_DELIMITER, false)

#define LG_CODE_TAGS_CSS(row) \
    row(CSS_SELECTOR, "css.selector", IDENTIFIER, NO_DELIMITER, false)      \
    row(CSS_PROPERTY, "css.property", ATTRIBUTE_NAME, NO_DELIMITER, false)  \
    row(CSS_VALUE, "css.value", ATTRIBUTE_VALUE, NO_DELIMITER, false)       \
    row(CSS_FUNCTION, "css.function", BUILTIN, NO_DELIMITER, false)         \
    row(CSS_NUMBER, "css.number", NUMBER, NO_DELIMITER, false)              \
    row(CSS_COLOR, "css.color", NUMBER, NO_DELIMITER, false)                \
    row(CSS_STRING, "css.string", STRING, NO_DELIMITER, true)               \
    row(CSS_KEYWORD, "css.keyword", KEYWORD, NO_DELIMITER, false)           \
    row(CSS_COMMENT, "css.comment", COMMENT, NO_DELIMITER, true)            \
    row(CSS_OPERATOR, "css.operator", OPERATOR, NO_DELIMITER, false)        \
    row(CSS_COMMA, "css.comma", OPERATOR, NO_DELIMITER, false)              \
    row(CSS_COLON, "css.colon", OPERATOR, NO_DELIMITER, false)              \
    row(CSS_SEMICOLON, "css.semicolon", OPERATOR, NO_DELIMITER, false)      \
    row(CSS_OPEN_ROUND, "css.open.round", OPEN, OPEN_ROUND, false)          \
    row(CSS_CLOSE_ROUND, "css.close.round", CLOSE, CLOSE_ROUND, false)      \
    row(CSS_OPEN_SQUARE, "css.open.square", OPEN, OPEN_SQUARE, false)       \
    row(CSS_CLOSE_SQUARE, "css.close.square", CLOSE, CLOSE_SQUARE, false)   \
    row(CSS_OPEN_CURLY, "css.open.curly", OPEN, OPEN_CURLY, false)          \
    row(CSS_CLOSE_CURLY, "css.close.curly", CLOSE, CLOSE_CURLY, false)      \
    row(CSS_OPEN_QUOTE, "css.open.quote", OPEN, OPEN_QUOTE, false)          \
    row(CSS_CLOSE_QUOTE, "css.close.quote", CLOSE, CLOSE_QUOTE, false)      \
    row(CSS_ERROR, "css.error", OTHER, NO_DELIMITER, false)

#define LG_CODE_TAGS_LATEX(row) \
    row(LATEX_TEXT, "latex.text", TEXT, NO_DELIMITER, true)                            \
    row(LATEX_GROUP_TEXT, "latex.group.text", GROUP_TEXT, NO_DELIMITER, true)          \
    row(LATEX_KEY, "latex.group.key", GROUP_TEXT, NO_DELIMITER, false)                 \
    row(LATEX_PATH, "latex.group.path", GROUP_TEXT, NO_DELIMITER, false)               \
    row(LATEX_OPTION, "latex.option", GROUP_TEXT, NO_DELIMITER, true)                  \
    row(LATEX_VERBATIM, "latex.verbatim", STRING, NO_DELIMITER, true)                    \
    row(LATEX_COMMENT, "latex.comment", COMMENT, NO_DELIMITER, true)                   \
    row(LATEX_COMMAND, "latex.command", COMMAND, NO_DELIMITER, false)                  \
    row(LATEX_ACCENT, "latex.command.accent", COMMAND, NO_DELIMITER, false)            \
    row(LATEX_LINE_BREAK, "latex.command.linebreak", COMMAND, NO_DELIMITER, false)     \
    row(LATEX_PARAMETER, "latex.parameter", IDENTIFIER, NO_DELIMITER, false)           \
    row(LATEX_NUMBER, "latex.number", NUMBER, NO_DELIMITER, false)                     \
    row(LATEX_OPERATOR, "latex.operator", OPERATOR, NO_DELIMITER, false)               \
    row(LATEX_ALIGN, "latex.align", OPERATOR, NO_DELIMITER, false)                     \
    row(LATEX_TIE, "latex.tie", OPERATOR, NO_DELIMITER, false)                         \
    row(LATEX_MATH_SYMBOL, "latex.math.symbol", MATH, NO_DELIMITER, false)             \
    row(LATEX_MATH_NUMBER, "latex.math.number", MATH, NO_DELIMITER, false)             \
    row(LATEX_MATH_OPERATOR, "latex.math.operator", MATH, NO_DELIMITER, false)         \
    row(LATEX_MATH_SCRIPT, "latex.math.script", MATH, NO_DELIMITER, false)             \
    row(LATEX_BEGIN, "latex.environment.begin", ENVIRONMENT, OPEN_ENVIRONMENT, false)  \
    row(LATEX_END, "latex.environment.end", ENVIRONMENT, CLOSE_ENVIRONMENT, false)     \
    row(LATEX_OPEN_MATH, "latex.open.math", OPEN, OPEN_MATH, false)                    \
    row(LATEX_CLOSE_MATH, "latex.close.math", CLOSE, CLOSE_MATH, false)                \
    row(LATEX_OPEN_CURLY, "latex.open.curly", OPEN, OPEN_CURLY, false)                 \
    row(LATEX_CLOSE_CURLY, "latex.close.curly", CLOSE, CLOSE_CURLY, false)             \
    row(LATEX_OPEN_SQUARE, "latex.open.square", OPEN, OPEN_SQUARE, false)              \
    row(LATEX_CLOSE_SQUARE, "latex.close.square", CLOSE, CLOSE_SQUARE, false)          \
    row(LATEX_OPEN_ROUND, "latex.open.round", OPEN, OPEN_ROUND, false)                 \
    row(LATEX_CLOSE_ROUND, "latex.close.round", CLOSE, CLOSE_ROUND, false)             \
    row(LATEX_OPEN_QUOTE, "latex.open.quote", OPEN, OPEN_QUOTE, false)                 \
    row(LATEX_CLOSE_QUOTE, "latex.close.quote", CLOSE, CLOSE_QUOTE, false)

/* clang-format on */

#endif
