/* Formulas: `outcome ~ term + term`, with interactions a:b and a*b, powers x^2 and `0 +` for no intercept. */
#ifndef LG_STATS_REGRESS_FORMULA_H
#define LG_STATS_REGRESS_FORMULA_H

#include "base/memory.h"
#include "lossgap/base.h"

enum { LG_FORMULA_DEGREE = 8 }; /* atoms in a term */

typedef struct lg_formula_atom {
    const char *text; /* a column's name, or an expression as it was typed */
    bool expression;
    bool category;  /* factor(text): its values are levels, numbers or not */
    unsigned power; /* 1 … 99 */
} lg_formula_atom;

/* A product of different atoms. */
typedef struct lg_formula_term {
    size_t n;
    size_t atoms[LG_FORMULA_DEGREE];
} lg_formula_term;

typedef struct lg_formula {
    const char *outcome;
    bool outcome_is_expression, intercept;
    lg_formula_atom *atoms; /* [n_atoms] each once */
    size_t n_atoms, atoms_room;
    lg_formula_term *terms; /* [n_terms] main effects, then products of two, of three …; else as written */
    size_t n_terms, terms_room;
} lg_formula;

/* LG_USAGE with the place for what is no formula. Strings lie in ARENA; lg_formula_free frees the rest, also
   after an error. */
lg_status lg_formula_parse(const char *text, lg_arena *arena, lg_formula *formula, lg_error *error);
void lg_formula_free(lg_formula *formula);

#endif
