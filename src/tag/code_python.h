/* What the files of Python share. */
#ifndef LG_TAG_CODE_PYTHON_H
#define LG_TAG_CODE_PYTHON_H

#include "tag/code_internal.h"

/* The tag of a name that is read as a value: builtin or identifier. */
uint16_t lg_python_name_tag(const char *text, size_t length);
/* Keyword or constant where the word is nothing else (async and await were names once), or identifier. */
uint16_t lg_python_keyword_tag(const char *text, size_t length);
/* The tag of a comment that begins at BEGIN. */
uint16_t lg_python_comment_tag(const lg_code_walk *walk, size_t begin, size_t end);
/* The tag of the inside of a string whose prefix and quotes begin at BEGIN. */
uint16_t lg_python_string_tag(const lg_code_walk *walk, size_t begin);
/* The tag of a number. */
uint16_t lg_python_number_tag(const char *text, size_t length);

/* code_python_lex.c: the plain lexer. */
void lg_python_lex(lg_code_walk *walk, size_t begin, size_t end);

/* `resume`: the rest of brackets and of a triple-quoted string that were open where the last piece ended. */
size_t lg_python_resume(lg_code_walk *walk, size_t begin, size_t end);

/* code_python_scan.c. `prepare`: hides strings in single quotes that lack an end. */
void lg_python_prepare(lg_code_walk *walk, size_t begin, size_t end, char *seen, lg_spans *fixed);
/* `open_at`: a triple-quoted string that lacks one; `prepare` has found it. */
size_t lg_python_open_at(const lg_code_walk *walk, size_t begin, size_t end);
/* `cut`: the last statement at the margin, outside of strings and brackets; or else outside of strings. */
size_t lg_python_cut(const lg_code_walk *walk, size_t begin, size_t wanted, size_t end);

#endif
