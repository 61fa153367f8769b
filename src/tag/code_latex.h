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

/* What the lexer does about a command. */
typedef enum lg_latex_kind {
    LG_LATEX_ORDINARY,
    LG_LATEX_BEGIN_COMMAND,
    LG_LATEX_END_COMMAND,
    LG_LATEX_IF_FALSE,
    LG_LATEX_VERB,      /* like \verb: its argument stands between two equal characters */
    LG_LATEX_PATH_VERB, /* \path: like \verb before a |, which TikZ's is not */
    LG_LATEX_EXPL_ON,
    LG_LATEX_EXPL_OFF,
    LG_LATEX_STARRED, /* its star belongs to it in mathematics too */
    LG_LATEX_MISREAD, /* the grammar only takes it in pairs, or with arguments of a form that it often lacks
                       */
} lg_latex_kind;

typedef struct lg_latex_command {
    lg_latex_kind kind;
    /* What the arguments in braces are, a letter each:
         t text, m mathematics, k keys, p paths, u an address, v values (numbers, lengths, options), x what
       stands around. "": not known. */
    const char *arguments;
} lg_latex_command;

lg_latex_command lg_latex_find_command(const char *name, size_t length);
const char *lg_latex_environment_arguments(const char *name, size_t length);
bool lg_latex_is_math_environment(const char *name, size_t length);
/* Environments whose content is not LaTeX; COMMENT: not even text. */
bool lg_latex_is_verbatim_environment(const char *name, size_t length, bool *comment);
/* Lengths and other numbers, with or without a unit: 2, -.5, 12pt. */
bool lg_latex_is_number(const char *word, size_t length);

/* code_latex_lex.c: cuts all of TEXT into leaves. SEEN [n_bytes]: a copy without what the grammar does not
   know or takes amiss. O(n). false: no memory. */
bool lg_latex_lex(const char *text, const uint8_t *classes, size_t n_bytes, char *seen, lg_spans *leaves);

#endif
