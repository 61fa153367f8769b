/* What the parts of the design share. */
#ifndef LG_STATS_REGRESS_DESIGN_INTERNAL_H
#define LG_STATS_REGRESS_DESIGN_INTERNAL_H

#include "stats/regress_design.h"

/* Makes a category of a numeric variable: a level for each value, in order. */
lg_status lg_design_number_levels(lg_design *design, lg_variable *variable, lg_error *error);
/* Compiles the expressions among definitions, the formula and the condition. */
lg_status lg_design_compile(lg_design *design, const lg_regress_options *options, lg_error *error);
/* A column by its name or expression. */
lg_status lg_design_find(lg_design *design, const char *text, const lg_column **column, lg_error *error);
/* Gives a column that is computed values of its own, so that its rows can be read in any order. */
lg_status lg_design_store(lg_design *design, const lg_column **column, lg_error *error);
/* Numbers the clusters and the absorbed groups, and finds an order of rows in which each is in one piece. */
lg_status lg_design_group(lg_design *design, lg_error *error);

/* The values of the used ones among N positions: numbers, levels, weights, cluster and group; block.rows. */
void lg_loader_values(lg_loader *loader, size_t first, size_t n);
/* OUT [rows] = the product of the term's numbers. */
void lg_loader_product(const lg_loader *loader, const lg_design_term *term, double *out);
/* The combination of levels in used row I. */
static inline size_t lg_loader_combination(const lg_loader *l, const lg_design_term *t, size_t i) {
    size_t at = 0, radix = 1;
    for (size_t c = 0; c < t->n_categories; c++) {
        at += radix * l->levels[t->categories[c] * LG_REGRESS_BLOCK + i];
        radix *= l->design->variables[t->categories[c]].n_levels;
    }
    return at;
}
/* The term's column in used row I; NONE: all are 0. */
static inline uint32_t lg_loader_cell(const lg_loader *l, const lg_design_term *t, size_t i) {
    size_t cell = 0, radix = 1;
    for (size_t c = 0; c < t->n_categories; c++) {
        const lg_variable *v = &l->design->variables[t->categories[c]];
        size_t level = l->levels[t->categories[c] * LG_REGRESS_BLOCK + i];
        if (t->contrast[c]) {
            if (level == v->reference) return LG_REGRESS_NONE;
            level -= level > v->reference;
        }
        cell += radix * level;
        radix *= v->n_levels - t->contrast[c];
    }
    return (uint32_t)cell;
}

#endif
