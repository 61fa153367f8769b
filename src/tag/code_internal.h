/* Code and markup: how a language looks from inside. A language is one file (code_python.c …) that holds

     - a table of rules: which node of tree-sitter's tree gets which leaf tag, for people to read;
     - a plain lexer for what the tree does not tell: errors, characters that the parser left out, text that
   is too deep or too costly for the parser;
     - where it needs them, hooks: `prepare` before the parse, `put` on the way out.

   code_tree.c walks the tree's leaves in order and keeps the promise that every byte lies in exactly one
   leaf, whatever tables and hooks say. A rule may hand its node to another language (HTML's scripts and
   styles). */
#ifndef LG_TAG_CODE_INTERNAL_H
#define LG_TAG_CODE_INTERNAL_H

#include <tree_sitter/api.h>

#include "tag/code.h"
#include "tag/code_tags.h"

typedef enum lg_code_language_id {
    LG_CODE_PYTHON,
    LG_CODE_HTML,
    LG_CODE_JAVASCRIPT,
    LG_CODE_CSS,
    LG_CODE_LATEX,
    LG_N_CODE_LANGUAGES,
    LG_CODE_NO_LANGUAGE = LG_N_CODE_LANGUAGES,
} lg_code_language_id;

typedef struct lg_code_walk lg_code_walk;

/* A node on the way from the root to a leaf. */
typedef struct lg_code_node {
    uint16_t symbol;   /* of the grammar */
    uint16_t context;  /* of itself and its children: the nearest rule with `enter`, from the root 0 */
    uint16_t gaps;     /* what its bytes outside of its children are: a tag, or LG_CODE_LEX */
    size_t begin, end; /* in the text */
} lg_code_node;

/* What `choose` may return instead of a tag. */
enum {
    LG_CODE_NEXT = 0xFFFF, /* the rule does not fit: try the next one */
    LG_CODE_LEX = 0xFFFE,  /* let the plain lexer cut the node's bytes */
};

/* One rule. For each node the first that fits counts; a node that fits a rule with a tag is one leaf,
   whatever is below it. A leaf that fits none goes to the plain lexer, and so do the leaves right below an
   error. */
typedef struct lg_code_rule {
    const char *nodes;  /* types of named nodes, separated by single blanks */
    const char *tokens; /* or anonymous ones, as they are spelled */
    const char *parent; /* node type of the parent; NULL: any */
    const char *field;  /* field of the node in its parent; NULL: any */
    uint16_t within;    /* context that the node lies in; 0: any */
    uint16_t tag;       /* of the leaf; LG_CODE_LEX */
    /* For inner nodes, which are walked on then: the context of what is below (0: unchanged), and the tag of
       their bytes that lie outside of all children (0: the plain lexer's, white space as such). */
    uint16_t enter, gaps;
    bool inner; /* `tag` does not count: the row is about `enter` and `gaps` */
    /* The tag of NODE, whose bytes end at END; NULL: `tag`. PARENTS [n_parents]: from the root; the last is
     * the parent.
     */
    uint16_t (*choose)(const lg_code_walk *walk, const lg_code_node *node, size_t end,
                       const lg_code_node *parents, size_t n_parents);
    lg_code_language_id language; /* with `inject`: parse the node's bytes with it */
    bool inject;                  /* `choose` returns LG_CODE_NEXT where it should not */
} lg_code_rule;

typedef struct lg_code_language {
    const char *name;
    const TSLanguage *(*grammar)(void);
    const lg_code_rule *rules; /* the last has neither nodes nor tokens */
    /* Puts leaves that cover [begin, end) of the text, by a plain lexer. Any bytes, from any state; O(end -
     * begin). */
    void (*lex)(lg_code_walk *walk, size_t begin, size_t end);
    /* Before [begin, end) is parsed: SEEN [end - begin] is a copy that the parser gets to see and that may be
       changed (blanked, same length); leaves of FIXED, in order and inside, win over what the parser says.
       NULL: nothing to do. Sets walk->failed when there is no memory. */
    void (*prepare)(lg_code_walk *walk, size_t begin, size_t end, char *seen, lg_spans *fixed);
    /* Gets each leaf in order, and passes it on, or parts of it, by lg_code_add. NULL: lg_code_add itself. */
    void (*put)(lg_code_walk *walk, size_t begin, size_t end, uint16_t tag);
    void (*begin)(lg_code_walk *walk); /* a document begins; NULL: nothing to do */
    /* Where in [begin, end) something begins that has no end there, so that the parser should not see it: END
       if nothing does. NULL: nothing. */
    size_t (*open_at)(const lg_code_walk *walk, size_t begin, size_t end);
    /* Puts what goes on from the piece before into the one that begins at BEGIN; returns its end. NULL:
       nothing does. */
    size_t (*resume)(lg_code_walk *walk, size_t begin, size_t end);
    /* Where to end a piece of a long text that begins at BEGIN, near WANTED, behind which the parser can
       begin anew: more than BEGIN, at most END. NULL: anywhere. */
    size_t (*cut)(const lg_code_walk *walk, size_t begin, size_t wanted, size_t end);
} lg_code_language;

extern const lg_code_language lg_code_python, lg_code_html, lg_code_javascript, lg_code_css, lg_code_latex;

/* What a language needs to remember within a document. */
typedef struct lg_python_state {
    size_t depth;      /* of brackets */
    size_t line;       /* where the line begins */
    bool in_statement; /* something since the last newline that ended a statement */
    uint32_t *columns; /* [n_columns] of the blocks that are open */
    size_t n_columns, columns_room;
    size_t unclosed; /* where a triple-quoted string begins that has no end in the piece; its end if there is
                        none */
    /* A triple-quoted string that the lexer left open at OPEN_END; 0: none. */
    char open_quote;
    bool open_formatted;
    uint16_t open_tag;
    size_t open_end;
} lg_python_state;

/* A document as a plain lexer cut it that cannot begin in the middle. */
typedef struct lg_code_plain {
    lg_spans leaves; /* LG_CODE_FIXED is added to the tag of a leaf that wins over what the parser says */
    char *seen;      /* [n_bytes] what the parser sees */
    size_t seen_room;
    size_t hint; /* the leaf that was asked for last */
} lg_code_plain;
enum { LG_CODE_FIXED = 0x8000 };

/* A document at work. */
struct lg_code_walk {
    const char *text; /* [n_bytes] */
    const uint8_t *classes;
    size_t n_bytes;
    lg_spans *leaves;
    lg_code *code;
    const lg_code_language *language; /* at work now */
    size_t at;                        /* all bytes before it have their leaves */
    bool failed;                      /* no memory: nothing more is put */
    lg_python_state *python;
    lg_code_plain *plain;
};

/* For tests of tables: whether the grammar has nodes of type NAME. */
bool lg_code_knows(const lg_code_language *language, const char *name, bool is_named);

/* Appends a leaf; BEGIN is where the last one ended. Empty ones are left out. */
void lg_code_add(lg_code_walk *walk, size_t begin, size_t end, uint16_t tag);
/* The same, but makes the last leaf longer if it has this tag. */
void lg_code_extend(lg_code_walk *walk, size_t begin, size_t end, uint16_t tag);
/* Puts a leaf by the language's `put`: for lexers. */
void lg_code_put(lg_code_walk *walk, size_t begin, size_t end, uint16_t tag);

/* code_plain.c. Makes room for the document, and forgets the last one. false: no memory. */
bool lg_code_plain_room(lg_code_walk *walk);
/* The first plain leaf that ends behind AT, and its tag. */
size_t lg_code_plain_at(const lg_code_walk *walk, size_t at);
uint16_t lg_code_plain_tag(const lg_code_walk *walk, size_t at);
/* `lex` and `prepare` of such languages. */
void lg_code_plain_lex(lg_code_walk *walk, size_t begin, size_t end);
void lg_code_plain_prepare(lg_code_walk *walk, size_t begin, size_t end, char *seen, lg_spans *fixed);
/* `cut`: where a plain leaf begins, the last one in the second half of [begin, wanted); else WANTED. With
   FITS, only where it holds, else the first one behind. */
size_t lg_code_plain_cut(const lg_code_walk *walk, size_t begin, size_t wanted, size_t end,
                         bool (*fits)(const lg_code_walk *walk, size_t leaf));

#endif
