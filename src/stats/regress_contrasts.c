/* Contrasts between levels of a category: content words less function words, opening less closing delimiters.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "stats/regress_internal.h"

enum { FIRST, SECOND, NEITHER };

/* Families of the method's table (section 3), and names that other taggers give them. */
static const char *const content[] = {"content",     "noun",         "verb",      "adjective", "adverb",
                                      "proper_noun", "interjection", "qualifier", NULL};
static const char *const function[] = {
    "function", "existential", "pronoun",   "determiner", "preposition", "conjunction", "aux_be",  "aux_have",
    "aux_do",   "aux",         "auxiliary", "modal",      "to",          "wh",          "wh_word", NULL};

static bool is_one_of(const char *name, const char *const *names) {
    for (; *names; names++)
        if (strcmp(name, *names) == 0) return true;
    return false;
}

static lg_level_class class_of(const lg_variable *v, size_t level) {
    if (v->classes) return v->classes[level];
    const char *name = lg_variable_level(v, level);
    return is_one_of(name, content)    ? LG_CLASS_CONTENT
           : is_one_of(name, function) ? LG_CLASS_FUNCTION
                                       : LG_CLASS_NEITHER;
}

/* The level that closes what LEVEL opens: open_bracket and close_bracket, open.round and close.round;
 * SIZE_MAX. */
static size_t closing_level(const lg_variable *v, size_t level) {
    const char *name = lg_variable_level(v, level), *open = strstr(name, "open");
    if (!open || (open > name && open[-1] != '.')) return SIZE_MAX;
    for (size_t l = 0; l < v->n_levels; l++) {
        const char *other = lg_variable_level(v, l);
        size_t before = (size_t)(open - name);
        if (strncmp(other, name, before) == 0 && strncmp(other + before, "close", 5) == 0 &&
            strcmp(other + before + 5, open + 4) == 0)
            return l;
    }
    return SIZE_MAX;
}

/* ---- pairs ---- */

static dd level_weight(const lg_regression *r, const lg_variable *v, size_t level) {
    size_t at = 2 * (v->first_level + level);
    return dd_two_sum(r->gram.levels.hi[at], r->gram.levels.lo[at]);
}

/* Adds a PAIR whose classes are known, unless one of them has no rows. */
static void add_pair(lg_regression *r, lg_class_pair pair) {
    const lg_variable *v = &r->design.variables[pair.variable];
    dd sums[3] = {{0}}, weights[3] = {{0}};
    for (size_t l = 0; l < v->n_levels; l++) {
        const size_t at = 2 * (v->first_level + l) + 1, class = pair.class_of[l];
        weights[class] = dd_add(weights[class], level_weight(r, v, l));
        sums[class] = dd_add(sums[class], dd_two_sum(r->gram.levels.hi[at], r->gram.levels.lo[at]));
    }
    if (!(weights[FIRST].hi > 0) || !(weights[SECOND].hi > 0)) return;
    for (size_t c = 0; c < 3; c++) {
        pair.weight[c] = dd_double(weights[c]);
        pair.mean[c] = weights[c].hi > 0 ? dd_double(dd_divide(sums[c], weights[c])) : 0;
    }
    r->pairs[r->n_pairs++] = pair;
}

static lg_status add_class_pair(lg_regression *r, size_t variable, lg_level_class first,
                                lg_level_class second, const char *name, const char *first_name,
                                const char *second_name, lg_error *error) {
    const lg_variable *v = &r->design.variables[variable];
    uint8_t *classes = lg_arena_alloc(&r->design.arena, v->n_levels + 1);
    if (!classes) return lg_fail_memory(error);
    for (size_t l = 0; l < v->n_levels; l++) {
        lg_level_class class = class_of(v, l);
        classes[l] = class == first ? FIRST : class == second ? SECOND : NEITHER;
    }
    add_pair(r, (lg_class_pair){.variable = variable,
                                .name = name,
                                .first = first_name,
                                .second = second_name,
                                .class_of = classes});
    return LG_OK;
}

/* Levels that open and close the same thing. */
static lg_status add_level_pairs(lg_regression *r, size_t variable, lg_error *error) {
    const lg_variable *v = &r->design.variables[variable];
    for (size_t l = 0; l < v->n_levels; l++) {
        const size_t closing = closing_level(v, l);
        if (closing == SIZE_MAX) continue;
        uint8_t *classes = lg_arena_alloc(&r->design.arena, v->n_levels + 1);
        if (!classes) return lg_fail_memory(error);
        memset(classes, NEITHER, v->n_levels);
        classes[l] = FIRST;
        classes[closing] = SECOND;
        add_pair(r, (lg_class_pair){.variable = variable,
                                    .name = "opening_minus_closing",
                                    .first = lg_variable_level(v, l),
                                    .second = lg_variable_level(v, closing),
                                    .single = true,
                                    .class_of = classes});
    }
    return LG_OK;
}

lg_status lg_regress_find_pairs(lg_regression *r, lg_error *error) {
    const lg_design *d = &r->design;
    lg_status status = LG_OK;
    size_t most = 0;
    for (size_t v = 1; v < d->n_variables; v++) most += 2 + d->variables[v].n_levels;
    r->pairs = lg_alloc(most + 1, sizeof *r->pairs);
    if (!r->pairs) return lg_fail_memory(error);
    for (size_t v = 1; v < d->n_variables && !status; v++) {
        if (!d->variables[v].category) continue;
        status = add_class_pair(r, v, LG_CLASS_CONTENT, LG_CLASS_FUNCTION, "content_minus_function",
                                "content", "function", error);
        if (!status)
            status = add_class_pair(r, v, LG_CLASS_OPENING, LG_CLASS_CLOSING, "opening_minus_closing",
                                    "opening", "closing", error);
        if (!status) status = add_level_pairs(r, v, error);
    }
    return status;
}

/* ---- contrasts ---- */

static lg_status put(lg_regression *r, const lg_regress_contrast *contrast, lg_error *error) {
    lg_regress *result = r->result;
    if (!lg_reserve(&result->contrasts, &result->contrasts_room, result->n_contrasts + 1,
                    sizeof *result->contrasts))
        return lg_fail_memory(error);
    result->contrasts[result->n_contrasts++] = *contrast;
    return LG_OK;
}

/* Whether a level's coefficient or prediction takes part in a class: one that was dropped does not. C
 * [n_columns]. */
static bool takes_part(const lg_regression *r, size_t variable, size_t level, dd *c) {
    const lg_design *d = &r->design;
    if (!(level_weight(r, &d->variables[variable], level).hi > 0)) return false;
    if (!lg_regress_main_effect(d, variable))
        return lg_regress_level_means(r, variable, level, false, c) && lg_regress_is_estimable(r, c);
    const size_t column = lg_regress_level_column(d, variable, level);
    return column == SIZE_MAX || r->solution.fate[column] == LG_COLUMN_KEPT;
}

/* Adds the level's share to the combination in the first half of C [2, n_columns]. */
static void add_share(const lg_regression *r, size_t variable, size_t level, dd share, dd *c) {
    const lg_design *d = &r->design;
    dd *means = c + d->n_columns;
    if (lg_regress_main_effect(d, variable)) {
        const size_t column = lg_regress_level_column(d, variable, level);
        if (column != SIZE_MAX) c[column] = share;
        return;
    }
    lg_regress_level_means(r, variable, level, false, means);
    for (size_t i = 0; i < d->n_columns; i++) c[i] = dd_add(c[i], dd_multiply(share, means[i]));
}

/* Difference of the classes' mean coefficients; of mean predictions where the category is part of a product.
   C [2, n_columns]. */
static lg_status coefficients(const lg_regression *r, const lg_class_pair *pair, bool by_count, dd *c,
                              lg_estimate *value, lg_error *error) {
    const lg_design *d = &r->design;
    const lg_solution *s = &r->solution;
    const lg_variable *v = &d->variables[pair->variable];
    dd total[2] = {{0}}, *means = c + d->n_columns;
    *value = LG_NO_ESTIMATE;
    for (size_t l = 0; l < v->n_levels; l++) {
        const uint8_t class = pair->class_of[l];
        if (class == NEITHER || !takes_part(r, pair->variable, l, means)) continue;
        total[class] = dd_add(total[class], by_count ? level_weight(r, v, l) : dd_of(1));
    }
    if (!(total[FIRST].hi > 0) || !(total[SECOND].hi > 0)) return LG_OK;
    for (size_t i = 0; i < d->n_columns; i++) c[i] = (dd){0};
    for (size_t l = 0; l < v->n_levels; l++) {
        const uint8_t class = pair->class_of[l];
        if (class == NEITHER || !takes_part(r, pair->variable, l, means)) continue;
        dd share = dd_divide(by_count ? level_weight(r, v, l) : dd_of(1), total[class]);
        add_share(r, pair->variable, l, class == FIRST ? share : dd_negate(share), c);
    }
    for (size_t i = 0; i < s->k; i++) c[i] = c[s->kept[i]]; /* kept columns keep their order */
    return lg_regress_combine(r, c, value, error);
}

/* Difference of the classes' means: a regression on the indicators of the classes that there are. */
static void raw(const lg_regression *r, size_t pair_number, lg_regress_contrast *contrast) {
    const lg_design *d = &r->design;
    const lg_class_pair *pair = &r->pairs[pair_number];
    const lg_sums *scalars = &r->residuals.scalars;
    const size_t at = 2 + 2 * pair_number;
    const double n = (double)d->n, k = 2 + (pair->weight[NEITHER] > 0), g = (double)r->residuals.n_clusters;
    const double scale = ldexp(1, d->y_exponent);
    lg_estimate *v = &contrast->value;
    *v = LG_NO_ESTIMATE;
    contrast->first_mean = pair->mean[FIRST] * scale;
    contrast->second_mean = pair->mean[SECOND] * scale;
    v->estimate = contrast->first_mean - contrast->second_mean;
    lg_regression about = *r; /* its degrees of freedom are others */
    about.df_resid = n - k;
    about.perfect = false;
    if (n > k)
        v->se_classical = scale * sqrt((scalars->hi[at + 1] + scalars->lo[at + 1]) / (n - k) *
                                       (1 / pair->weight[FIRST] + 1 / pair->weight[SECOND]));
    if (r->clustered) {
        v->se_cr0 = scale * sqrt(scalars->hi[at] + scalars->lo[at]);
        v->se = n > k ? v->se_cr0 * sqrt(g / (g - 1) * (n - 1) / (n - k)) : NAN;
    }
    if (!d->cluster) about.t_quantile = n > k ? lg_regress_t_quantile(n - k) : NAN;
    lg_regress_finish(&about, v);
}

lg_status lg_regress_fill_contrasts(lg_regression *r, lg_error *error) {
    const lg_design *d = &r->design;
    lg_arena *arena = &r->result->arena;
    dd *c = lg_alloc(2 * d->n_columns + 1, sizeof *c);
    lg_status status = c ? LG_OK : lg_fail_memory(error);
    for (size_t q = 0; q < r->n_pairs && !status; q++) {
        const lg_class_pair *pair = &r->pairs[q];
        const lg_variable *v = &d->variables[pair->variable];
        lg_regress_contrast contrast = {.column = lg_arena_copy(arena, v->name, strlen(v->name)),
                                        .name = pair->name,
                                        .first = lg_arena_copy(arena, pair->first, strlen(pair->first)),
                                        .second = lg_arena_copy(arena, pair->second, strlen(pair->second))};
        if (!contrast.column || !contrast.first || !contrast.second) {
            status = lg_fail_memory(error);
            break;
        }
        static const char *const kinds[] = {"equal", "by_count", "raw"};
        for (size_t k = 0; k < 3 && !status; k++) {
            if (k == 1 && pair->single) continue;
            contrast.kind = kinds[k];
            contrast.first_mean = contrast.second_mean = NAN;
            if (k == 2) raw(r, q, &contrast);
            else status = coefficients(r, pair, k == 1, c, &contrast.value, error);
            if (!status) status = put(r, &contrast, error);
        }
    }
    free(c);
    return status;
}
