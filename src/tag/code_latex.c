/* LaTeX: which node of tree-sitter's tree gets which tag.

   The plain lexer (code_latex_lex.c) cuts the whole document before the parse; what the parser cannot be
   shown, or does not understand, keeps those leaves: comments, verbatim text, \begin{…} and \end{…}, keys,
   paths, options, ^ and _. Words are text, text of a group, or mathematics by the node that they lie in. */
#include <string.h>

#include "tag/code_latex.h"

const TSLanguage *lg_grammar_latex(void);

/* Contexts; the root's, 0, is text, or in a piece of a long document whatever the plain lexer says. */
enum { IN_GROUP = 1, IN_MATH };

static uint16_t choose_word(const lg_code_walk *w, const lg_code_node *node, size_t end,
                            const lg_code_node *parents, size_t n_parents) {
    (void)end, (void)parents, (void)n_parents;
    uint16_t plain = lg_code_plain_tag(w, node->begin);
    if (node->context == IN_MATH || (plain != LG_LATEX_TEXT && plain != LG_LATEX_GROUP_TEXT))
        return LG_CODE_LEX;
    return node->context == IN_GROUP ? LG_LATEX_GROUP_TEXT : plain;
}

/* A command of one character may be an accent or break a line; \{ and the like are commands. */
static uint16_t choose_command(const lg_code_walk *w, const lg_code_node *node, size_t end,
                               const lg_code_node *parents, size_t n_parents) {
    (void)w, (void)parents, (void)n_parents;
    return end - node->begin > 2 ? LG_LATEX_COMMAND : LG_CODE_LEX;
}

/* A dollar opens where its formula begins. */
static uint16_t choose_math(const lg_code_walk *w, const lg_code_node *node, size_t end,
                            const lg_code_node *parents, size_t n_parents) {
    (void)w, (void)end;
    return n_parents && node->begin == parents[n_parents - 1].begin ? LG_LATEX_OPEN_MATH
                                                                    : LG_LATEX_CLOSE_MATH;
}

#define GROUPS                                                                                               \
    "curly_group curly_group_text curly_group_word curly_group_value curly_group_spec "                      \
    "curly_group_text_list "                                                                                 \
    "curly_group_author_list curly_group_command_name curly_group_key_value curly_group_impl"

static const lg_code_rule rules[] = {
    /* Where words stand. */
    {.nodes = "curly_group", .parent = "text_mode", .inner = true, .enter = IN_GROUP}, /* \text{…} */
    {.nodes = GROUPS, .within = IN_MATH, .inner = true},
    {.nodes = GROUPS, .inner = true, .enter = IN_GROUP},
    {.nodes = "inline_formula displayed_equation math_environment", .inner = true, .enter = IN_MATH},
    {.nodes = "word operator letter", .choose = choose_word},

    /* Mathematics. */
    {.tokens = "$ $$", .choose = choose_math},
    {.tokens = "\\( \\[", .tag = LG_LATEX_OPEN_MATH},
    {.tokens = "\\) \\]", .tag = LG_LATEX_CLOSE_MATH},

    /* Commands; those that the grammar has tokens for go to the plain lexer, which knows them all. */
    {.nodes = "command_name todo_command_name", .choose = choose_command},
    {.nodes = "placeholder", .tag = LG_LATEX_PARAMETER},
    {.nodes = "delimiter", .tag = LG_LATEX_ALIGN},

    /* Arguments. */
    {.nodes = "label", .tag = LG_LATEX_KEY},
    {.nodes = "path uri glob_pattern", .tag = LG_LATEX_PATH},
    {.nodes = "value_literal argc", .tag = LG_LATEX_NUMBER},
    {.tokens = "{", .tag = LG_LATEX_OPEN_CURLY},
    {.tokens = "}", .tag = LG_LATEX_CLOSE_CURLY},
    {.tokens = "[", .tag = LG_LATEX_OPEN_SQUARE},
    {.tokens = "]", .tag = LG_LATEX_CLOSE_SQUARE},
    {.tokens = "(", .tag = LG_LATEX_OPEN_ROUND},
    {.tokens = ")", .tag = LG_LATEX_CLOSE_ROUND},
    {0},
};

static void begin(lg_code_walk *w) {
    if (!lg_code_plain_room(w) ||
        !lg_latex_lex(w->text, w->classes, w->n_bytes, w->plain->seen, &w->plain->leaves))
        w->failed = true;
}

/* Words of one stretch of text, or of options, are one leaf: the white space between them too, unless a line
   is blank. */
static void put(lg_code_walk *w, size_t begin, size_t end, uint16_t tag) {
    lg_spans *s = w->leaves;
    size_t n = s->count;
    bool joins = tag == LG_LATEX_TEXT || tag == LG_LATEX_GROUP_TEXT || tag == LG_LATEX_OPTION;
    if (joins && n >= 2 && s->tag[n - 1] == LG_CODE_WHITESPACE && s->tag[n - 2] == tag &&
        s->end[n - 1] == begin) {
        size_t from = (size_t)s->begin[n - 1], lines = 0;
        for (size_t i = from; i < begin; i++) lines += w->text[i] == '\n';
        if (lines < 2) {
            s->count--;
            s->end[n - 2] = w->at = begin;
        }
    }
    if (joins || tag == LG_LATEX_VERBATIM || tag == LG_LATEX_COMMENT || tag == LG_LATEX_KEY ||
        tag == LG_CODE_WHITESPACE)
        lg_code_extend(w, begin, end, tag);
    else lg_code_add(w, begin, end, tag);
}

static size_t cut(const lg_code_walk *w, size_t begin, size_t wanted, size_t end) {
    return lg_code_plain_cut(w, begin, wanted, end, NULL);
}

const lg_code_language lg_code_latex = {
    .name = "latex",
    .grammar = lg_grammar_latex,
    .rules = rules,
    .lex = lg_code_plain_lex,
    .prepare = lg_code_plain_prepare,
    .put = put,
    .begin = begin,
    .cut = cut,
};
