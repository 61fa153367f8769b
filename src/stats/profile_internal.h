/* Between the files that make profiles. */
#ifndef LG_STATS_PROFILE_INTERNAL_H
#define LG_STATS_PROFILE_INTERNAL_H

#include "lossgap/profile.h"
#include "stats/gap_internal.h"

struct lg_profile {
    lg_gap *gap; /* groups' names, models, counts, provenance */
    lg_profile_row *rows;
    size_t n_rows;
    lg_profile_agreement *agreements;
    size_t n_agreements;
    lg_profile_seed_gap *seed_gaps;
    size_t n_seed_gaps, seed_gaps_room;
    lg_profile_about about;
};

/* Pairs of the collector: the one under study, the references, then those that bring further seeds in: (A_i,
   B) for i = 1 …, and (A, B_j) for j = 1 …. */

/* Joins notes: FIRST, or FIRST; SECOND. From ARENA; NULL where both are. *FAILED: no memory. */
const char *profile_join(lg_arena *arena, const char *first, const char *second, bool *failed);

/* ---- profile_rows.c ---- */

/* Rows (without seeds) and agreements, after gap_make_rows. */
lg_status profile_make_rows(lg_profile *profile, collector *c, const lg_profile_options *options,
                            lg_error *error);

/* ---- profile_seeds.c ---- */

/* Seeds of the rows, and the gaps between files of one side. */
lg_status profile_add_seeds(lg_profile *profile, collector *c, const lg_profile_options *options,
                            lg_error *error);

#endif
