/* Results as documents: JSON and CSV for machines, tables for people. Each text is whole and the caller's:
 * free() it. */
#ifndef LOSSGAP_REPORT_H
#define LOSSGAP_REPORT_H

#include "lossgap/base.h"
#include "lossgap/curve.h"
#include "lossgap/filter.h"
#include "lossgap/gap.h"
#include "lossgap/profile.h"
#include "lossgap/tag.h"
#include "lossgap/regress.h"

/* docs/formats/gap.md */
LG_API lg_status lg_gap_json(const lg_gap *gap, char **text, size_t *length, lg_error *error);
LG_API lg_status lg_gap_csv(const lg_gap *gap, char **text, size_t *length, lg_error *error);
LG_API lg_status lg_gap_contrasts_csv(const lg_gap *gap, char **text, size_t *length,
                                      lg_error *error); /* of a view */

typedef enum lg_gap_sort {
    LG_SORT_GROUP,
    LG_SORT_CONTRIBUTION
} lg_gap_sort; /* |gap x tokens|, largest first */

typedef struct lg_table_style {
    size_t width; /* characters in a line, 0: no limit */
    bool color;   /* of the gap's sign, for terminals */
    bool full;    /* a second block of columns: medians, other averages, tests, resamples */
    lg_gap_sort sort;
    const char *const *hide; /* NULL-terminated grouping columns to leave out; NULL: none */
} lg_table_style;

LG_API lg_status lg_gap_table(const lg_gap *gap, const lg_table_style *style, char **text, size_t *length,
                              lg_error *error);

/* docs/formats/profile.md. The first CSV has the rows; the others have a head alone without references or
 * seeds. */
LG_API lg_status lg_profile_json(const lg_profile *profile, char **text, size_t *length, lg_error *error);
LG_API lg_status lg_profile_csv(const lg_profile *profile, char **text, size_t *length, lg_error *error);
LG_API lg_status lg_profile_agreements_csv(const lg_profile *profile, char **text, size_t *length,
                                           lg_error *error);
LG_API lg_status lg_profile_seeds_csv(const lg_profile *profile, char **text, size_t *length,
                                      lg_error *error); /* gaps between seeds */
LG_API lg_status lg_profile_table(const lg_profile *profile, const lg_table_style *style, char **text,
                                  size_t *length, lg_error *error);

/* What columns of tags there are, with their levels; the families and which tags belong to each. */
LG_API lg_status lg_tag_list_table(const lg_tag_view *view, char **text, size_t *length, lg_error *error);
LG_API lg_status lg_tag_list_json(const lg_tag_view *view, char **text, size_t *length, lg_error *error);
/* Document DOC of DATA, a token a line, with its tags; VIEW is of the same document. JSON: an object a line.
 */
LG_API lg_status lg_tag_document_table(const lg_tag_view *view, const lg_dataset *data, size_t doc,
                                       bool color, char **text, size_t *length, lg_error *error);
LG_API lg_status lg_tag_document_json(const lg_tag_view *view, const lg_dataset *data, size_t doc,
                                      char **text, size_t *length, lg_error *error);
/* Filters: how many tokens each holds, of how many it cannot be told, what `state` chose, what was left out.
 */
LG_API lg_status lg_filters_table(const lg_filters *filters, const lg_table_style *style, char **text,
                                  size_t *length, lg_error *error);
LG_API lg_status lg_filters_json(const lg_filters *filters, char **text, size_t *length, lg_error *error);
/* LOSSES [n_scores, n filters] of lg_filtered_losses; SCORES [n_scores] name the models. */
LG_API lg_status lg_filtered_table(const lg_filters *filters, const lg_scores *scores, size_t n_scores,
                                   const lg_filtered_loss *losses, const lg_table_style *style, char **text,
                                   size_t *length, lg_error *error);
LG_API lg_status lg_filtered_json(const lg_filters *filters, const lg_scores *scores, size_t n_scores,
                                  const lg_filtered_loss *losses, char **text, size_t *length,
                                  lg_error *error);
/* docs/formats/regress.md; CSV holds the coefficients. */
LG_API lg_status lg_regress_json(const lg_regress *regress, char **text, size_t *length, lg_error *error);
LG_API lg_status lg_regress_csv(const lg_regress *regress, char **text, size_t *length, lg_error *error);
LG_API lg_status lg_regress_table(const lg_regress *regress, const lg_table_style *style, char **text,
                                  size_t *length, lg_error *error);
/* docs/formats/curve.md */
LG_API lg_status lg_curve_json(const lg_curve *curve, char **text, size_t *length, lg_error *error);
LG_API lg_status lg_curve_csv(const lg_curve *curve, char **text, size_t *length, lg_error *error);

typedef struct lg_curve_style {
    bool color;
    bool unicode; /* else ASCII only */
} lg_curve_style;

/* A line for each filter and run, with the way of the loss as a sparkline. */
LG_API lg_status lg_curve_table(const lg_curve *curve, const lg_curve_style *style, char **text,
                                size_t *length, lg_error *error);

typedef enum lg_curve_axis {
    LG_AXIS_AUTO, /* tokens seen where all checkpoints have them, else steps */
    LG_AXIS_STEP,
    LG_AXIS_TOKENS,
} lg_curve_axis;

typedef struct lg_curve_picture_style {
    lg_curve_axis axis;
    bool log;   /* the axis is logarithmic; a checkpoint at 0 is then left out */
    bool bytes; /* bits per byte in place of nats per token */
} lg_curve_picture_style;

/* A Vega-Lite specification with its data in it: a panel for each filter with a line and a band for each run,
   and below the same for gaps. */
LG_API lg_status lg_curve_picture(const lg_curve *curve, const lg_curve_picture_style *style, char **text,
                                  size_t *length, lg_error *error);
#endif
