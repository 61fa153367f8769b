/* What a model's choices have in common: rank in the text, rank in the list, the option itself; and how they
   go with copy baselines. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "stats/probe_internal.h"

enum { MOST_OPTIONS = 16, MOST_RANKS = 64 };
enum { BOUND, LISTED, OPTION };

/* Choices of a kind: of a rank, or of a text. */
typedef struct choices {
    int by; /* BOUND, LISTED or OPTION */
    int rank;
    const lg_probe_choice *option;
} choices;

static bool is_of(const choices *kind, const lg_probe_choice *choice) {
    if (kind->by == OPTION) return probe_same(choice, kind->option);
    return (kind->by == BOUND ? choice->bound : choice->listed) == kind->rank;
}

/* How often choices of KIND are picked in the items that offer one, of the SCORED ones in w->who; how many
   these are. The level's name is still to be set. */
static size_t measure_pick(const probe_work *w, const probe_slice *slice, size_t m, size_t scored,
                           const choices *kind, lg_probe_pick *pick) {
    static const char *const by[] = {"bound", "listed", "option"};
    const lg_probe_scores *scores = w->models[m].scores;
    size_t used = 0, right = 0;
    for (size_t k = 0; k < scored; k++) {
        const lg_probe_item *item = lg_probe_item_at(w->items, w->who[k]);
        const double *logp = probe_logp(w, scores, w->who[k]);
        double picked = 0;
        size_t n = 0;
        for (size_t c = 0; c < item->n_choices; c++) {
            if (!is_of(kind, &item->choices[c])) continue;
            n++;
            picked += lg_probe_picked(logp, item->n_choices, c);
            right += c == item->answer;
        }
        if (!n) continue;
        w->used[used] = w->who[k];
        w->chance[used] = (double)n / (double)item->n_choices;
        w->y[used++] = picked;
    }
    if (!used) return 0;
    *pick = (lg_probe_pick){.at = slice->at, .by = by[kind->by]};
    pick->at.model = w->results->models[m];
    pick->share = lg_probe_share_of(w, w->used, w->y, w->chance, used);
    pick->answer = (double)right / (double)used;
    return used;
}

static lg_status add_pick(probe_work *w, const probe_slice *slice, size_t m, size_t scored,
                          const choices *kind) {
    lg_probe_results *r = w->results;
    lg_probe_pick pick;
    if (!measure_pick(w, slice, m, scored, kind, &pick)) return LG_OK;
    pick.level = kind->by == OPTION ? lg_probe_shown(w, kind->option->text, kind->option->length)
                                    : lg_probe_printf(w, "%d", kind->rank);
    if (!pick.level || !lg_reserve(&r->picks, &r->picks_room, r->n_picks + 1, sizeof *r->picks))
        return lg_fail_memory(w->error);
    r->picks[r->n_picks++] = pick;
    return LG_OK;
}

/* The options that every item of a slice offers, if they are few; else 0. */
static size_t list_constant(const probe_work *w, const probe_slice *slice,
                            const lg_probe_choice *options[MOST_OPTIONS]) {
    const lg_probe_item *first = lg_probe_item_at(w->items, slice->items[0]);
    size_t n = 0;
    for (size_t o = 0; o < first->n_choices; o++) {
        bool always = slice->n > 1;
        for (size_t k = 1; k < slice->n && always; k++) {
            const lg_probe_item *item = lg_probe_item_at(w->items, slice->items[k]);
            size_t c = 0;
            while (c < item->n_choices && !probe_same(&first->choices[o], &item->choices[c])) c++;
            always = c < item->n_choices;
        }
        if (!always) continue;
        if (n == MOST_OPTIONS) return 0;
        options[n++] = &first->choices[o];
    }
    return n;
}

/* The different options of a slice, if they are few and come again; else those of them that all items offer.
 */
static size_t list_options(const probe_work *w, const probe_slice *slice,
                           const lg_probe_choice *options[MOST_OPTIONS]) {
    size_t n = 0, seen = 0;
    for (size_t k = 0; k < slice->n; k++) {
        const lg_probe_item *item = lg_probe_item_at(w->items, slice->items[k]);
        for (size_t c = 0; c < item->n_choices; c++) {
            size_t known = 0;
            seen++;
            while (known < n && !probe_same(options[known], &item->choices[c])) known++;
            if (known < n) continue;
            if (n == MOST_OPTIONS) return list_constant(w, slice, options);
            options[n++] = &item->choices[c];
        }
    }
    return seen > n ? n : 0;
}

lg_status lg_probe_add_picks(probe_work *w, const probe_slice *slice, size_t m) {
    if (slice->by_cell && !slice->at.all_distances) return LG_OK; /* too few items each to be looked at */
    lg_status status = LG_OK;
    size_t scored = lg_probe_select_scored(w, slice, m);
    for (int by = BOUND; by <= LISTED && !status; by++) {
        int last = -1;
        for (size_t k = 0; k < scored; k++) {
            const lg_probe_item *item = lg_probe_item_at(w->items, w->who[k]);
            for (size_t c = 0; c < item->n_choices; c++) {
                int rank = by == BOUND ? item->choices[c].bound : item->choices[c].listed;
                if (rank > last) last = rank;
            }
        }
        for (int rank = 0; rank <= last && rank < MOST_RANKS && !status; rank++)
            status = add_pick(w, slice, m, scored, &(choices){.by = by, .rank = rank});
    }
    const lg_probe_choice *options[MOST_OPTIONS];
    size_t n = list_options(w, slice, options);
    for (size_t i = 0; i < n && !status; i++)
        status = add_pick(w, slice, m, scored, &(choices){.by = OPTION, .option = options[i]});
    return status;
}

bool lg_probe_favourite(const probe_work *w, const probe_slice *slice, size_t m,
                        const lg_probe_choice **option, lg_probe_share *share) {
    const lg_probe_choice *options[MOST_OPTIONS];
    size_t n = list_constant(w, slice, options), scored = lg_probe_select_scored(w, slice, m);
    *option = NULL;
    for (size_t i = 0; i < n; i++) {
        lg_probe_pick pick;
        if (!measure_pick(w, slice, m, scored, &(choices){.by = OPTION, .option = options[i]}, &pick))
            continue;
        const lg_probe_mean *picked = &pick.share.clustered;
        bool clear = picked->se > 0 ? picked->p * (double)n < 0.05 : pick.share.wilson_low > pick.answer;
        if (!clear || picked->mean < 2 * pick.answer || (*option && picked->mean <= share->clustered.mean))
            continue;
        *option = options[i];
        *share = pick.share;
    }
    return *option;
}

/* ---- copy baselines ---- */

static int baseline_of(const lg_probe_item *item, int which) {
    return which == 0 ? item->most_recent : which == 1 ? item->most_frequent : item->first_mention;
}

typedef enum question { BASELINE_RIGHT, MODEL_RIGHT, AGREE } question;

/* Share of items WHO [n] that have baseline WHICH (or only those where it is wrong). */
static lg_probe_share share_of(const probe_work *w, size_t m, size_t n, int which, bool wrong_only,
                               question asked) {
    const probe_values *v = &w->models[m];
    size_t used = 0;
    for (size_t k = 0; k < n; k++) {
        size_t i = w->who[k];
        const lg_probe_item *item = lg_probe_item_at(w->items, i);
        int choice = baseline_of(item, which);
        if (choice < 0 || (size_t)choice >= item->n_choices) continue;
        bool right = (size_t)choice == item->answer;
        if (right && wrong_only) continue;
        w->used[used] = i;
        w->chance[used] = 1 / (double)item->n_choices;
        w->y[used++] = asked == BASELINE_RIGHT ? right
                       : asked == MODEL_RIGHT
                           ? v->right[SUMMED][i]
                           : lg_probe_picked(probe_logp(w, v->scores, i), item->n_choices, (size_t)choice);
    }
    return lg_probe_share_of(w, w->used, w->y, w->chance, used);
}

lg_status lg_probe_add_baselines(probe_work *w, const probe_slice *slice, size_t m) {
    static const char *const names[] = {"most_recent", "most_frequent", "first_mention"};
    lg_probe_results *r = w->results;
    size_t n = lg_probe_select_scored(w, slice, m);
    for (int which = 0; which < 3; which++) {
        lg_probe_baseline b = {.at = slice->at, .baseline = names[which]};
        b.at.model = r->models[m];
        b.accuracy = share_of(w, m, n, which, false, BASELINE_RIGHT);
        if (!b.accuracy.items) continue;
        b.model_accuracy = share_of(w, m, n, which, false, MODEL_RIGHT);
        b.agreement = share_of(w, m, n, which, false, AGREE);
        b.model_accuracy_wrong = share_of(w, m, n, which, true, MODEL_RIGHT);
        b.agreement_wrong = share_of(w, m, n, which, true, AGREE);
        if (!lg_reserve(&r->baselines, &r->baselines_room, r->n_baselines + 1, sizeof *r->baselines))
            return lg_fail_memory(w->error);
        r->baselines[r->n_baselines++] = b;
    }
    return LG_OK;
}
