/* The compiler's parts: scan.c reads signs, emit.c puts down steps, parse.c holds the grammar. The steps are
   put down while the text is read, in one pass; there is no tree. */
#ifndef LG_QUERY_COMPILER_H
#define LG_QUERY_COMPILER_H

#include "query/query_internal.h"

typedef enum lg_operand_place { LG_CONSTANT, LG_COLUMN, LG_BLOCK } lg_operand_place;

/* What an expression came to so far. Columns are loaded late, since many steps take their values as they lie.
 */
typedef struct lg_operand {
    lg_query_type type;
    lg_operand_place place;
    uint32_t index;   /* of the column or block */
    double number;    /* constant: number; truth */
    lg_string string; /* constant: text */
    const char *at;   /* where in the text */
    bool keep;        /* the block is a named item's: never written again */
    uint32_t item;    /* whose, if kept */
} lg_operand;

/* An item refers to a column, or to an earlier item. */
typedef struct lg_reference {
    uint32_t item, to;
    bool column;
} lg_reference;

typedef struct lg_compiler {
    lg_query *query;
    const lg_query_source *source;
    const lg_query_item *items;
    size_t n_items, item; /* the one at hand */
    const char *text, *at;
    unsigned depth;
    uint32_t *free[LG_N_BLOCKS]; /* blocks that may be written again */
    size_t n_free[LG_N_BLOCKS], free_room[LG_N_BLOCKS];
    lg_operand *results; /* [n_items] */
    lg_reference *references;
    size_t n_references, references_room;
    size_t last_category; /* the column last named that is one, + 1; 0: none. For messages */
    lg_text scratch;
    lg_status status;
    lg_error *error;
} lg_compiler;

/* ---- scan.c ---- */

/* LG_USAGE: "WHAT 'TEXT', column N: …". Returns false, as do all that fail. */
bool lg_complain(lg_compiler *c, const char *at, const char *format, ...) LG_PRINTF(3, 4);
bool lg_complain_status(lg_compiler *c, lg_status status); /* the error is filled already */
bool lg_complain_memory(lg_compiler *c);

void lg_skip_space(lg_compiler *c);
/* Space, then SIGN or word WORD whole, taken if there. */
bool lg_take_sign(lg_compiler *c, const char *sign);
bool lg_take_word(lg_compiler *c, const char *word);
bool lg_sees_word(const lg_compiler *c, const char *word); /* after space was skipped */
bool lg_expect(lg_compiler *c, char sign, const char *after);
size_t lg_name_length(const char *at);  /* of a column's or function's name; 0: none */
size_t lg_level_length(const char *at); /* of a bare word that names a level or a text */
bool lg_scan_number(lg_compiler *c, double *value);
bool lg_scan_quoted(lg_compiler *c, lg_string *string);                 /* at ' or " */
bool lg_scan_backquoted(lg_compiler *c, lg_string *string);             /* at ` */
bool lg_scan_word(lg_compiler *c, const char *what, lg_string *string); /* bare or quoted; WHAT is expected */
bool lg_scan_regex(lg_compiler *c, lg_query_regex **regex);             /* at / */
/* "'x'" or "the end" of what stands at AT, for messages. */
const char *lg_found(const char *at, char out[48]);

/* ---- emit.c ---- */

const char *lg_column_name(const lg_compiler *c, const lg_operand *operand);
lg_query_column *lg_column_of(const lg_compiler *c, const lg_operand *operand);
/* The operand as a number: truth becomes 0 and 1; an error that says what else it is. */
bool lg_want_number(lg_compiler *c, lg_operand *operand, const char *what);
/* The operand as truth. */
bool lg_want_condition(lg_compiler *c, lg_operand *operand, const char *what);
bool lg_want_group(lg_compiler *c, lg_operand *operand); /* a condition; not for categories */
/* Puts it into a block, or makes sure that it lies like one. */
bool lg_settle(lg_compiler *c, lg_operand *operand, lg_block_ref *ref);
bool lg_emit_compare(lg_compiler *c, lg_operand *left, const lg_operand *right, lg_compare compare);
/* x lies in one of the RANGES [count] (low, high); sorts them. */
bool lg_emit_ranges(lg_compiler *c, lg_operand *x, double *ranges, size_t count, bool negate);
/* TRUTH [n_levels] by level of a category, 0 or 1. */
bool lg_emit_levels(lg_compiler *c, lg_operand *x, const uint8_t *truth, bool negate);
bool lg_emit_same_category(lg_compiler *c, lg_operand *left, lg_operand *right, bool negate);
bool lg_emit_texts(lg_compiler *c, lg_operand *x, lg_string *list, size_t count,
                   bool negate); /* sorts them */
bool lg_emit_same_text(lg_compiler *c, lg_operand *left, lg_operand *right, bool negate);
bool lg_emit_match(lg_compiler *c, lg_operand *x, lg_query_regex *regex, bool negate); /* takes the regex */
bool lg_emit_not(lg_compiler *c, lg_operand *x);
bool lg_emit_unary(lg_compiler *c, lg_math math, lg_operand *x);
bool lg_emit_binary(lg_compiler *c, lg_math math, lg_operand *left, lg_operand *right);
bool lg_emit_missing(lg_compiler *c, lg_operand *x);

/* `and`, `or`: between the left and the right operand, a step is put down that skips the right's. */
typedef struct lg_junction {
    size_t before, after; /* steps: of the left operand, and after the skip */
    bool is_or;
} lg_junction;
bool lg_emit_junction(lg_compiler *c, lg_operand *left, bool is_or, lg_junction *junction);
bool lg_emit_join(lg_compiler *c, const lg_junction *junction, lg_operand *left, lg_operand *right);

/* ---- parse.c ---- */
bool lg_parse(lg_compiler *c, lg_operand *result); /* the item at hand, whole */

#endif
