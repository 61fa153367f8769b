/* A regression while it is made, and its result. */
#ifndef LG_STATS_REGRESS_INTERNAL_H
#define LG_STATS_REGRESS_INTERNAL_H

#include "base/text.h"
#include "stats/regress_solve.h"

#define LG_REGRESS_CONFIDENCE 0.95

struct lg_regress {
    lg_arena arena; /* strings, rows */
    lg_text provenance;
    lg_regress_fit fit;
    lg_regress_row *rows;
    lg_regress_level *levels;
    lg_regress_contrast *contrasts;
    lg_regress_left_out *left_out;
    const char **notes;
    size_t n_rows, n_levels, n_contrasts, n_left_out, n_notes;
    size_t contrasts_room, notes_room;
};

typedef struct lg_regression {
    lg_design design;
    lg_gram gram;
    lg_solution solution;
    lg_residuals residuals;
    lg_dd_matrix v; /* CR0 covariance of solution.b; rows 0: no clusters */
    lg_class_pair *pairs;
    size_t n_pairs;
    double mean;       /* of the scaled outcome */
    double s2;         /* variance of a row's error, in squares of the outcome's norm; NAN: none */
    double cr1_factor; /* NAN: none */
    double df_resid, df_cluster;
    bool clustered;    /* two clusters at least */
    bool perfect;      /* residuals are rounding */
    double t_quantile; /* of the df by which intervals are made; NAN: none */
    lg_regress *result;
} lg_regression;

/* The pairs of classes of the formula's categories whose raw means are compared (and where their contrasts
 * go). */
lg_status lg_regress_find_pairs(lg_regression *r, lg_error *error);
/* Coefficients, levels, contrasts. */
lg_status lg_regress_fill(lg_regression *r, lg_error *error);
lg_status lg_regress_fill_levels(lg_regression *r, lg_error *error);
lg_status lg_regress_fill_contrasts(lg_regression *r, lg_error *error);

/* c'b with its errors, for C over the kept columns (unscaled). */
lg_status lg_regress_combine(const lg_regression *r, const dd *c, lg_estimate *value, lg_error *error);
/* Fills t, p and the interval of VALUE from its estimate and errors. */
void lg_regress_finish(const lg_regression *r, lg_estimate *value);
double lg_regress_t_quantile(double df);
#define LG_NO_ESTIMATE ((lg_estimate){NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN})

/* What a coefficient for columns and outcome of norm 1 is multiplied with. */
dd lg_regress_scale(const lg_regression *r, size_t column);
/* Mean of a column of the design, weighted unless PLAIN (which needs weights to be there). */
dd lg_regress_column_mean(const lg_regression *r, size_t column, bool plain);
/* The only term of a category; NULL: there is none, or the category is part of a product. */
const lg_design_term *lg_regress_main_effect(const lg_design *design, size_t variable);
/* The column of LEVEL of a category with a main effect only. SIZE_MAX: the reference has none. */
size_t lg_regress_level_column(const lg_design *design, size_t variable, size_t level);
/* C [n_columns] = means of the columns if every row had LEVEL of a category; false: they cannot be told. */
bool lg_regress_level_means(const lg_regression *r, size_t variable, size_t level, bool plain, dd *c);
/* Whether c'b over all columns is the same whichever of aliased columns are dropped. */
bool lg_regress_is_estimable(const lg_regression *r, const dd *c);
/* c'b for C over all columns of the design; NAN if it is not estimable. */
lg_status lg_regress_predict(const lg_regression *r, const dd *c, lg_estimate *value, lg_error *error);

lg_status lg_regress_note(lg_regress *result, lg_error *error, const char *format, ...) LG_PRINTF(3, 4);
lg_status lg_regress_describe(lg_regression *r, const lg_regress_options *options, lg_error *error);

#endif
