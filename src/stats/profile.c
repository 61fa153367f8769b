/* Profiles: what is compared, whether it may be, and what the result says of itself. */
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "stats/comparable.h"
#include "stats/profile_internal.h"

const char *profile_join(lg_arena *arena, const char *first, const char *second, bool *failed) {
    if (!first || !second) return first ? first : second;
    char *text = lg_arena_alloc(arena, strlen(first) + strlen(second) + 3);
    if (!text) *failed = true;
    else stpcpy(stpcpy(stpcpy(text, first), "; "), second);
    return text;
}

/* ---- provenance ---- */

static void put_models(const collector *c, const char *key, size_t first, const size_t *more, size_t n,
                       lg_json_writer *w) {
    lg_json_put_key(w, key);
    lg_json_put_array(w);
    lg_json_put_text(w, c->gap->about.models[first]);
    for (size_t i = 0; i < n; i++) lg_json_put_text(w, c->gap->about.models[more[i]]);
    lg_json_end_array(w);
}

static lg_status describe(collector *c, const lg_table *tags, const lg_profile_options *o,
                          const gap_selection *selection, lg_error *error) {
    lg_gap *gap = c->gap;
    lg_json_writer w = {.out = &gap->provenance};
    lg_json_put_object(&w);
    lg_json_put_key(&w, "program");
    lg_json_put_text(&w, "lossgap " LG_VERSION);
    lg_json_put_key(&w, "command");
    lg_json_put_text(&w, o->command);
    gap_put_inputs(c, tags, &w);
    lg_json_put_key(&w, "settings");
    lg_json_put_object(&w);
    lg_json_put_key(&w, "sign");
    lg_json_put_text(&w, lg_gap_sign(c->data->spans));
    lg_json_put_key(&w, "profile");
    lg_json_put_text(&w, LG_PROFILE_MEANING);
    lg_json_put_key(&w, "interval");
    lg_json_put_text(
        &w, "95 %, clustered by document: CR1 for gaps, the delta method for profiles, Student's t with "
            "the group's documents - 1 degrees of freedom");
    gap_put_bootstrap(o->bootstrap, o->seed, &w);
    put_models(c, "pair", o->pair.a, &o->pair.b, 1, &w);
    lg_json_put_key(&w, "references");
    lg_json_put_array(&w);
    for (size_t k = 0; k < o->n_references; k++) {
        lg_json_put_array(&w);
        lg_json_put_text(&w, gap->about.models[o->references[k].a]);
        lg_json_put_text(&w, gap->about.models[o->references[k].b]);
        lg_json_end_array(&w);
    }
    lg_json_end_array(&w);
    if (o->n_seeds_a || o->n_seeds_b) {
        put_models(c, "seeds_a", o->pair.a, o->seeds_a, o->n_seeds_a, &w);
        put_models(c, "seeds_b", o->pair.b, o->seeds_b, o->n_seeds_b, &w);
    }
    gap_put_selection(c, selection, &w);
    lg_json_end_object(&w);
    lg_json_end_object(&w);
    if (gap->provenance.failed) return lg_fail_memory(error);
    gap->about.bootstrap = o->bootstrap;
    gap->about.seed = o->seed;
    gap->about.provenance = gap->provenance.data;
    gap_finish_about(c);
    return LG_OK;
}

/* ---- set-up ---- */

/* A file that counts as two seeds would make the noise look smaller than it is. */
static lg_status check_seeds(const collector *c, size_t first, const size_t *more, size_t n, const char *side,
                             lg_error *error) {
    for (size_t i = 0; i < n; i++) {
        size_t own = more[i];
        for (size_t j = 0; j <= i; j++) {
            size_t other = j ? more[j - 1] : first;
            const lg_table *x = c->scores[own].table, *y = c->scores[other].table;
            if (own == other ||
                strcmp(lg_table_provenance(x)->identity, lg_table_provenance(y)->identity) == 0)
                return lg_fail(
                    error, LG_USAGE,
                    "--seeds %s: %s and %s hold the same losses, which are one seed: leave one of them out",
                    side, lg_table_path(y), lg_table_path(x));
        }
    }
    return LG_OK;
}

static gap_pair *make_pairs(const lg_profile_options *o) {
    size_t n = 0;
    gap_pair *pairs = lg_alloc(1 + o->n_references + o->n_seeds_a + o->n_seeds_b, sizeof *pairs);
    if (!pairs) return NULL;
    pairs[n++] = (gap_pair){o->pair.a, o->pair.b};
    for (size_t k = 0; k < o->n_references; k++)
        pairs[n++] = (gap_pair){o->references[k].a, o->references[k].b};
    for (size_t i = 0; i < o->n_seeds_a; i++) pairs[n++] = (gap_pair){o->seeds_a[i], o->pair.b};
    for (size_t i = 0; i < o->n_seeds_b; i++) pairs[n++] = (gap_pair){o->pair.a, o->seeds_b[i]};
    return pairs;
}

static lg_status compute(lg_profile *profile, collector *c, const lg_table *tags, const lg_profile_options *o,
                         lg_error *error) {
    const char *by = tags && lg_table_find(tags, "family") ? "family" : "domain";
    gap_selection selection = {o->by ? o->by : &by, o->by ? o->n_by : 1, o->multi, o->where,
                               o->define,           o->n_define};
    lg_status status = check_seeds(c, o->pair.a, o->seeds_a, o->n_seeds_a, "A", error);
    if (!status) status = check_seeds(c, o->pair.b, o->seeds_b, o->n_seeds_b, "B", error);
    if (!status) status = gap_open(c, tags, &selection, NULL, error);
    if (!status) status = gap_order(c, error);
    if (!status) status = gap_make_rows(c, 0, 0, error);
    if (!status) status = profile_make_rows(profile, c, o, error);
    if (!status && profile->about.has_seeds) status = profile_add_seeds(profile, c, o, error);
    if (!status) status = describe(c, tags, o, &selection, error);
    return status;
}

lg_status lg_profile_compute(const lg_dataset *data, const lg_scores *scores, size_t n_scores,
                             const char *tags_path, const lg_profile_options *o, lg_profile **result,
                             lg_error *error) {
    *result = NULL;
    lg_table *tags = NULL;
    collector *c = calloc(1, sizeof *c);
    lg_profile *profile = calloc(1, sizeof *profile);
    gap_pair *pairs = make_pairs(o);
    lg_status status = c && profile && pairs ? LG_OK : lg_fail_memory(error);
    if (!status && !(profile->gap = calloc(1, sizeof *profile->gap))) status = lg_fail_memory(error);
    if (status) goto done;
    c->data = data;
    c->scores = scores;
    c->n_scores = n_scores;
    c->pairs = pairs;
    c->n_ordered = 1 + o->n_references;
    c->n_pairs = c->n_ordered + o->n_seeds_a + o->n_seeds_b;
    c->gap = profile->gap;
    c->threads = o->threads ? o->threads : (unsigned)omp_get_num_procs();
    profile->about = (lg_profile_about){.gap = &profile->gap->about,
                                        .n_references = o->n_references,
                                        .bootstrap = o->bootstrap,
                                        .seed = o->seed,
                                        .has_seeds = o->n_seeds_a || o->n_seeds_b};
    if (tags_path) status = lg_table_open(tags_path, "tags", &tags, error);
    if (!status) status = compute(profile, c, tags, o, error);
    if (!status) {
        *result = profile;
        profile = NULL;
    }
done:
    lg_table_close(tags);
    if (c) gap_free_groups(c);
    free(c);
    free(pairs);
    lg_profile_free(profile);
    return status;
}

void lg_profile_free(lg_profile *profile) {
    if (!profile) return;
    lg_gap_free(profile->gap);
    free(profile->rows);
    free(profile->agreements);
    free(profile->seed_gaps);
    free(profile);
}

size_t lg_profile_n_by(const lg_profile *profile) {
    return profile->gap->n_by;
}

const char *lg_profile_by(const lg_profile *profile, size_t i) {
    return profile->gap->by[i].name;
}

size_t lg_profile_n_rows(const lg_profile *profile) {
    return profile->n_rows;
}

const lg_profile_row *lg_profile_at(const lg_profile *profile, size_t i) {
    return &profile->rows[i];
}

size_t lg_profile_n_agreements(const lg_profile *profile) {
    return profile->n_agreements;
}

const lg_profile_agreement *lg_profile_agreement_at(const lg_profile *profile, size_t i) {
    return &profile->agreements[i];
}

size_t lg_profile_n_seed_gaps(const lg_profile *profile) {
    return profile->n_seed_gaps;
}

const lg_profile_seed_gap *lg_profile_seed_gap_at(const lg_profile *profile, size_t i) {
    return &profile->seed_gaps[i];
}

const lg_profile_about *lg_profile_get_about(const lg_profile *profile) {
    return &profile->about;
}
