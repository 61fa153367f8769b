/* What the files of LaTeX share. */
#ifndef LG_TAG_CODE_LATEX_H
#define LG_TAG_CODE_LATEX_H

#include "tag/code_internal.h"

/* What text is, by where it stands. */
typedef enum lg_latex_context {
    LG_LATEX_IN_TEXT,
    LG_LATEX_IN_GROUP,
    LG_LATEX_IN_MATH,
    LG_LATEX_IN_OPTION,
    LG_LATEX_IN_KEY,
    LG_LATEX_IN_PATH,
    LG_LATEX_IN_URI,
} lg_latex_context;

/* code_latex_words.c: the tables of commands and environments. NAME without \ and star. */

/* What the arguments in braces are, a letter each:
     t text, m mathematics, k keys, p paths, u an address, v values (numbers, lengths, options), x what stands
     around. NULL: not known. */
const char *lg_latex_command_arguments(const char *name, size_t length);
const char *lg_latex_environment_arguments(const char *name, size_t length);
bool lg_latex_is_math_environment(const char *name, size_t length);
/* Environments whose content is not LaTeX; COMMENT: not even text. */
bool lg_latex_is_verbatim_environment(const char *name, size_t length, bool *comment);
/* Commands like \verb, whose argument stands between two equal characters. */
bool lg_latex_is_verbatim_command(const char *name, size_t length);
/* Lengths and other numbers, with or without a unit: 2, -.5, 12pt. */
bool lg_latex_is_number(const char *word, size_t length);

/* code_latex_lex.c: cuts all of TEXT into leaves. SEEN [n_bytes]: a copy without what the grammar does not
   know or takes amiss. O(n). false: no memory. */
bool lg_latex_lex(const char *text, const uint8_t *classes, size_t n_bytes, char *seen, lg_spans *leaves);

#endif
