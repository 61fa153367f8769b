/* Why a model chooses as it does: knowledge, recency, position and identity as parts of its
   log-probabilities.

   In an item with n choices, let z_c = log p_c - mean of the n, and let part j's choice be t_j (the answer;
   the one bound last; the one listed first; the recurring option). Parts b minimise

       sum over items of w sum over c of (z_c - sum_j b_j h_jc)^2,     h_jc = [c = t_j] - 1/n

   whose normal equations need sum_c h_jc h_kc = [t_j = t_k] - 1/n and sum_c h_jc z_c = z_{t_j} only. With two
   choices and each condition as often as any other the parts are orthogonal, and b_j is the mean of log p of
   t_j minus that of the other choice. Errors: sandwich, clustered by group, times G / (G - 1). */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "lossgap/gap.h"
#include "stats/probe_internal.h"

enum { PARTS = LG_N_PROBE_PARTS };

const char *lg_probe_part_name(lg_probe_part part) {
    static const char *const names[] = {"knowledge", "recency",   "position",
                                        "identity",  "frequency", "primacy"};
    return (unsigned)part < PARTS ? names[part] : "?";
}

int lg_probe_bound_last(const lg_probe_item *item) {
    int last = -1, best = -1;
    for (size_t c = 0; c < item->n_choices; c++) {
        int rank = item->choices[c].bound;
        if (rank < 0) return -1;
        if (rank == best) last = -1;
        if (rank > best) {
            best = rank;
            last = (int)c;
        }
    }
    return last;
}

int lg_probe_listed_first(const lg_probe_item *item) {
    int first = -1;
    for (size_t c = 0; c < item->n_choices; c++) {
        if (item->choices[c].listed != 0) continue;
        if (first >= 0) return -1;
        first = (int)c;
    }
    return first;
}

/* The choice of ITEM that is OPTION; -1: none. */
static int find_option(const lg_probe_item *item, const lg_probe_choice *option) {
    for (size_t c = 0; c < item->n_choices; c++)
        if (probe_same(&item->choices[c], option)) return (int)c;
    return -1;
}

/* The two options of the probe's first item, if all items of the slice have the same two; else NULL. */
static const lg_probe_choice *recurring_options(const probe_work *w, const probe_slice *slice) {
    const lg_probe_item *first = lg_probe_item_at(w->items, w->probe[slice->items[0]]);
    for (size_t k = 0; k < slice->n; k++) {
        const lg_probe_item *item = lg_probe_item_at(w->items, slice->items[k]);
        if (item->n_choices != 2 || first->n_choices != 2 || find_option(item, &first->choices[0]) < 0 ||
            find_option(item, &first->choices[1]) < 0)
            return NULL;
    }
    return first->choices;
}

/* ---- least squares ---- */

typedef struct sums { /* of the normal equations; column PARTS: what is explained */
    double at[PARTS + 1][PARTS + 1];
} sums;

/* For each part the choice that has it; -1: none. */
static void find_targets(const lg_probe_item *item, const lg_probe_choice *option, int target[PARTS]) {
    bool ranks = false, several = item->n_choices > 2; /* of two, the first-mentioned is the one not last */
    for (size_t c = 0; c < item->n_choices; c++) ranks |= item->choices[c].bound >= 0;
    target[LG_PROBE_KNOWLEDGE] = (int)item->answer;
    target[LG_PROBE_RECENCY] = ranks ? lg_probe_bound_last(item) : item->most_recent;
    target[LG_PROBE_POSITION] = lg_probe_listed_first(item);
    target[LG_PROBE_IDENTITY] = option ? find_option(item, option) : -1;
    target[LG_PROBE_FREQUENCY] = item->most_frequent;
    target[LG_PROBE_PRIMACY] = several ? item->first_mention : -1;
}

/* An item's own sums, of weight 1. */
static void item_sums(const lg_probe_item *item, const double *logp, const int target[PARTS], sums *s) {
    double n = (double)item->n_choices, mean = 0;
    for (size_t c = 0; c < item->n_choices; c++) mean += logp[c];
    mean /= n;
    memset(s, 0, sizeof *s);
    for (int j = 0; j < PARTS; j++) {
        if (target[j] < 0) continue;
        for (int k = 0; k < PARTS; k++)
            if (target[k] >= 0) s->at[j][k] = (target[j] == target[k]) - 1 / n;
        s->at[j][PARTS] = s->at[PARTS][j] = logp[target[j]] - mean;
    }
}

/* Sweeps column J: a regression on it. */
static void sweep(sums *s, int j) {
    double pivot = s->at[j][j];
    for (int i = 0; i <= PARTS; i++) {
        if (i == j) continue;
        double factor = s->at[i][j] / pivot;
        for (int k = 0; k <= PARTS; k++)
            if (k != j) s->at[i][k] -= factor * s->at[j][k];
        s->at[i][j] = -factor;
    }
    for (int k = 0; k <= PARTS; k++) s->at[j][k] /= pivot;
    s->at[j][j] = 1 / pivot;
}

/* Regresses on the columns of SET, but for those that the earlier ones give already. Which were used. */
static unsigned sweep_set(const sums *from, unsigned set, sums *swept) {
    unsigned used = 0;
    *swept = *from;
    for (int j = 0; j < PARTS; j++) {
        if (!(set >> j & 1) || !(swept->at[j][j] > 1e-9 * from->at[j][j])) continue;
        sweep(swept, j);
        used |= 1u << j;
    }
    return used;
}

typedef struct fit {
    const probe_work *w;
    const lg_probe_scores *scores;
    const lg_probe_choice *option;
    const size_t *who; /* [n] */
    const double *weight;
    size_t n, groups;
    double scale; /* largest |z|: what is far below it is rounding */
    sums all;
} fit;

/* Weights [n]: 1, or such that each cell of the slice counts as much as another. */
static bool set_weights(const probe_work *w, const size_t *who, size_t n, double *weight) {
    size_t cells = 0;
    bool same = true;
    for (size_t k = 0; k < n; k++) {
        size_t *slot = &w->slot[w->cell[who[k]]];
        if (*slot == SIZE_MAX) {
            *slot = cells;
            w->sums[cells++] = 0;
        }
        w->sums[*slot]++;
    }
    for (size_t c = 1; c < cells; c++) same &= w->sums[c] == w->sums[0];
    for (size_t k = 0; k < n; k++)
        weight[k] = same ? 1 : (double)n / (double)cells / w->sums[w->slot[w->cell[who[k]]]];
    for (size_t k = 0; k < n; k++) w->slot[w->cell[who[k]]] = SIZE_MAX;
    return !same;
}

static void add_up(fit *f) {
    memset(&f->all, 0, sizeof f->all);
    f->scale = 0;
    for (size_t k = 0; k < f->n; k++) {
        const lg_probe_item *item = lg_probe_item_at(f->w->items, f->who[k]);
        int target[PARTS];
        sums own;
        find_targets(item, f->option, target);
        item_sums(item, probe_logp(f->w, f->scores, f->who[k]), target, &own);
        for (int i = 0; i < PARTS; i++) {
            f->scale = fmax(f->scale, fabs(own.at[i][PARTS]));
            for (int j = 0; j <= PARTS; j++) f->all.at[i][j] += f->weight[k] * own.at[i][j];
        }
    }
}

/* Part J with its error; what ALL [PARTS] gives is all parts' values. OTHERS: regression on the other parts.
 */
static lg_probe_mean estimate(const fit *f, int j, const sums *all, unsigned used, const sums *others,
                              unsigned used_others) {
    const probe_work *w = f->w;
    lg_probe_mean part = lg_probe_no_mean();
    double pivot = others->at[j][j], value = all->at[j][PARTS], squares = 0;
    part.mean = fabs(value) <= 1e-12 * f->scale ? 0 : value;
    if (f->groups < 2) return part;
    for (size_t k = 0; k < f->n; k++) {
        int target[PARTS];
        sums own;
        size_t i = f->who[k];
        find_targets(lg_probe_item_at(w->items, i), f->option, target);
        item_sums(lg_probe_item_at(w->items, i), probe_logp(w, f->scores, i), target, &own);
        double score = 0; /* residual times what of column j the others do not give */
        for (int a = 0; a < PARTS; a++) {
            double share = a == j ? 1 : used_others >> a & 1 ? -others->at[a][j] : 0;
            double residual = own.at[a][PARTS];
            for (int b = 0; b < PARTS; b++)
                if (used >> b & 1) residual -= all->at[b][PARTS] * own.at[a][b];
            score += share * residual;
        }
        size_t *slot = &w->slot[w->group[i]];
        if (*slot == SIZE_MAX) *slot = i, w->sums[i] = 0;
        w->sums[*slot] += f->weight[k] * score / pivot;
    }
    for (size_t k = 0; k < f->n; k++) { /* each group once, in order of first appearance */
        size_t *slot = &w->slot[w->group[f->who[k]]];
        if (*slot == SIZE_MAX) continue;
        squares += w->sums[*slot] * w->sums[*slot];
        *slot = SIZE_MAX;
    }
    double groups = (double)f->groups;
    part.df = groups - 1;
    part.se = sqrt(groups / part.df * squares);
    if (part.se <= 1e-12 * f->scale) part.se = 0;
    double half = lg_t_quantile(0.975, part.df) * part.se;
    part.low = part.mean - half;
    part.high = part.mean + half;
    if (part.se > 0) {
        part.t = part.mean / part.se;
        part.p = fmin(1, 2 * lg_t_cdf(-fabs(part.t), part.df));
    }
    return part;
}

static void fit_parts(fit *f, lg_probe_bias *bias) {
    sums all, others;
    add_up(f);
    unsigned used = sweep_set(&f->all, bias->has, &all);
    for (int j = 0; j < PARTS; j++) {
        if (!(bias->has >> j & 1)) continue;
        unsigned used_others = sweep_set(&f->all, bias->has & ~(1u << j), &others);
        if (!(others.at[j][j] > 1e-9 * f->all.at[j][j])) continue;
        bias->separate |= 1u << j;
        bias->part[j] = estimate(f, j, &all, used, &others, used_others);
    }
    for (int j = 0; j < PARTS; j++)
        for (int k = 0; k < j; k++) {
            if (!(bias->has >> j & 1) || !(bias->has >> k & 1)) continue;
            double r = fabs(f->all.at[j][k]) / sqrt(f->all.at[j][j] * f->all.at[k][k]);
            bias->overlap = fmax(bias->overlap, r <= 1e-12 ? 0 : r);
        }
}

/* ---- shares ---- */

/* How often the choice that part J is about is picked, over the scored items WHO [n]. */
static lg_probe_share picks_of(const probe_work *w, const lg_probe_scores *scores, const size_t *who,
                               size_t n, const lg_probe_choice *option, int j, double *answer) {
    size_t used = 0, right = 0;
    for (size_t k = 0; k < n; k++) {
        const lg_probe_item *item = lg_probe_item_at(w->items, who[k]);
        int target[PARTS];
        find_targets(item, option, target);
        if (target[j] < 0) continue;
        right += (size_t)target[j] == item->answer;
        w->used[used] = who[k];
        w->chance[used] = 1 / (double)item->n_choices;
        w->y[used++] = lg_probe_picked(probe_logp(w, scores, who[k]), item->n_choices, (size_t)target[j]);
    }
    *answer = used ? (double)right / (double)used : NAN;
    return lg_probe_share_of(w, w->used, w->y, w->chance, used);
}

static lg_probe_share accuracy_of(const probe_work *w, const probe_values *v, const size_t *who, size_t n) {
    for (size_t k = 0; k < n; k++) {
        w->chance[k] = 1 / (double)lg_probe_item_at(w->items, who[k])->n_choices;
        w->y[k] = v->right[SUMMED][who[k]];
    }
    return lg_probe_share_of(w, who, w->y, w->chance, n);
}

/* ---- words ---- */

enum { FEWEST_GROUPS = 6 }; /* from here on all of them on one side is rarer than 1 in 20 */

/* Parts whose p times the number of parts is below 0.05 (without spread: that are not 0), but for those below
   a tenth of the largest. Largest first. */
static void find_parts(lg_probe_bias *bias) {
    int tested = 0;
    double largest = 0;
    for (int j = 0; j < PARTS; j++) tested += (bias->separate >> j & 1) != 0;
    for (int j = 0; j < PARTS; j++) {
        const lg_probe_mean *part = &bias->part[j];
        if (!(bias->separate >> j & 1) || part->mean == 0) continue;
        if (!(part->se == 0 || part->p * tested < 0.05)) continue;
        size_t at = bias->n_found++;
        for (; at > 0 && fabs(bias->part[abs(bias->found[at - 1]) - 1].mean) < fabs(part->mean); at--)
            bias->found[at] = bias->found[at - 1];
        bias->found[at] = part->mean > 0 ? j + 1 : -(j + 1);
        largest = fmax(largest, fabs(part->mean));
    }
    while (bias->n_found && fabs(bias->part[abs(bias->found[bias->n_found - 1]) - 1].mean) < largest / 10)
        bias->found[--bias->n_found] = 0;
}

/* -1, 1: the share's interval is below, above chance. */
static int against_chance(const lg_probe_share *share) {
    bool spread = share->clustered.se > 0;
    double low = spread ? share->clustered.low : share->wilson_low,
           high = spread ? share->clustered.high : share->wilson_high;
    return high < share->chance ? -1 : low > share->chance ? 1 : 0;
}

/* Who does not choose better than chance, by a tenth of what is missing there, is not said to
   know. */
static void put_word(lg_text *out, const lg_probe_bias *bias, int found, bool two,
                     const lg_probe_share *accuracy) {
    static const char *const words[PARTS][2] = {
        {"knows", "prefers the wrong answer"},
        {"prefers the last-mentioned", "avoids the last-mentioned"},
        {"prefers the first option", "avoids the first option"},
        {NULL, NULL},
        {"prefers the most mentioned", "avoids the most mentioned"},
        {"prefers the first-mentioned", "avoids the first-mentioned"}};
    int j = abs(found) - 1;
    const char *option = found > 0 ? bias->option : bias->other_option;
    while (option && *option == ' ') option++;
    if (j == LG_PROBE_IDENTITY) lg_text_printf(out, "prefers \"%s\"", option ? option : "?");
    else if (found == LG_PROBE_KNOWLEDGE + 1 && against_chance(accuracy) <= 0)
        lg_text_puts(out, "leans to the answer, but chooses no better than chance");
    else if (found == LG_PROBE_KNOWLEDGE + 1 &&
             accuracy->clustered.mean - accuracy->chance < (1 - accuracy->chance) / 10)
        lg_text_puts(out, "leans to the answer, but chooses hardly better than chance");
    else if (two && found == -(LG_PROBE_RECENCY + 1)) lg_text_puts(out, "prefers the first-mentioned");
    else if (two && found == -(LG_PROBE_POSITION + 1)) lg_text_puts(out, "prefers the second option");
    else lg_text_puts(out, words[j][found < 0]);
}

static void put_percent(lg_text *out, double share) {
    lg_text_printf(out, "%.0f %%", 100 * share);
}

/* " (+4.02 nats, picks it in 98 %)"; of knowledge " (+4.02 nats, right in 98 %)", with more than two choices
   beside chance: "right in 13.8 %, by chance in 12.5 %". */
static void put_numbers(lg_text *out, const lg_probe_bias *bias, const lg_probe_share *accuracy, int found,
                        bool two) {
    int j = abs(found) - 1;
    double share = (j == LG_PROBE_KNOWLEDGE ? accuracy : &bias->picks[j])->clustered.mean;
    bool other = found < 0 && j != LG_PROBE_KNOWLEDGE && two; /* named is the other of the two */
    lg_text_printf(out, " (%+.2f nats, %s ", bias->part[j].mean,
                   j == LG_PROBE_KNOWLEDGE ? "right in" : "picks it in");
    if (j == LG_PROBE_KNOWLEDGE && !two)
        lg_text_printf(out, "%.3g %%, by chance in %.3g %%", 100 * share, 100 * accuracy->chance);
    else put_percent(out, other ? 1 - share : share);
    lg_text_puts(out, ")");
}

/* Items of one condition: what coincides in them. */
static void put_condition(lg_text *out, const lg_probe_bias *bias, const lg_probe_share *accuracy) {
    lg_text_puts(out, "one condition, where knowledge cannot be told from ");
    const char *comma = "";
    for (int j = 1; j < PARTS; j++) {
        if (!((bias->has & ~bias->separate) >> j & 1)) continue;
        lg_text_printf(out, "%s%s", comma, lg_probe_part_name((lg_probe_part)j));
        comma = ", ";
    }
    lg_text_puts(out, ": right in ");
    put_percent(out, accuracy->clustered.mean);
    static const char *const names[PARTS] = {
        [LG_PROBE_RECENCY] = "picks the last-mentioned", [LG_PROBE_POSITION] = "the first option"};
    for (int j = 0; j < PARTS; j++) {
        if (!names[j] || !bias->picks[j].items) continue;
        lg_text_printf(out, ", %s in ", names[j]);
        put_percent(out, bias->picks[j].clustered.mean);
    }
}

/* What the options themselves say, where they are no part: as shown. */
typedef struct habits {
    const char *constant;  /* the answer of all items; NULL: they differ */
    const char *favourite; /* what is picked above all; NULL: nothing is */
    lg_probe_share picked; /* the favourite */
} habits;

/* An option in quotation marks, without the space that most begin with. */
static void put_option(lg_text *out, const char *option) {
    while (*option == ' ') option++;
    lg_text_printf(out, "\"%s\"", option);
}

static void put_favourite(lg_text *out, const habits *h) {
    if (!h->favourite) return;
    lg_text_puts(out, "; its favourite is ");
    put_option(out, h->favourite);
    lg_text_puts(out, " (picks it in ");
    put_percent(out, h->picked.clustered.mean);
    lg_text_puts(out, ")");
}

static void put_verdict(lg_text *out, const lg_probe_bias *bias, const lg_probe_share *accuracy, bool two,
                        const habits *h) {
    bool knows = false, biases = bias->has & ~(1u << LG_PROBE_KNOWLEDGE);
    int side = against_chance(accuracy);
    if (!accuracy->items) {
        lg_text_puts(out, "no item scored");
        return;
    }
    if (bias->groups < FEWEST_GROUPS) {
        lg_text_printf(out, "too few groups of items to tell (%" PRIu64 "; it takes %d)", bias->groups,
                       FEWEST_GROUPS);
        return;
    }
    if (!(bias->separate >> LG_PROBE_KNOWLEDGE & 1)) {
        put_condition(out, bias, accuracy);
        return;
    }
    if (h->constant) {
        lg_text_puts(out, "one condition, where knowledge cannot be told from a liking for ");
        put_option(out, h->constant);
        lg_text_puts(out, ": right in ");
        put_percent(out, accuracy->clustered.mean);
        return;
    }
    for (size_t i = 0; i < bias->n_found; i++) {
        if (i) lg_text_puts(out, "; also ");
        put_word(out, bias, bias->found[i], two, accuracy);
        put_numbers(out, bias, accuracy, bias->found[i], two);
        knows |= abs(bias->found[i]) == LG_PROBE_KNOWLEDGE + 1;
    }
    if (!bias->n_found && !side) {
        lg_text_puts(out, biases && !h->favourite ? "at chance, no bias found" : "at chance");
        put_favourite(out, h);
        return;
    }
    if (!knows) lg_text_puts(out, bias->n_found ? "; no knowledge found" : "no part is clear in nats");
    if (side < 0 && !knows) {
        lg_text_puts(out,
                     bias->n_found ? ", which puts it below chance: right in " : "; below chance: right in ");
        put_percent(out, accuracy->clustered.mean);
    } else if (side > 0 && !knows) {
        lg_text_puts(out, "; above chance: right in ");
        put_percent(out, accuracy->clustered.mean);
    }
    put_favourite(out, h);
}

static void put_note(lg_text *out, const lg_probe_bias *bias) {
    unsigned lost = bias->has & ~bias->separate;
    if (bias->infinite)
        lg_text_printf(out, "; a log p is -inf in %" PRIu64 ": not in the parts", bias->infinite);
    if (bias->items && bias->groups < 2) lg_text_puts(out, "; one group of items: no clustered errors");
    if (bias->by_cells)
        lg_text_puts(out, "; cells differ in scored items: parts count each cell alike, shares each item");
    if (lost && bias->items) {
        const char *comma = "; cannot be told apart: ";
        for (int j = 0; j < PARTS; j++) {
            if (!(lost >> j & 1)) continue;
            lg_text_printf(out, "%s%s", comma, lg_probe_part_name((lg_probe_part)j));
            comma = ", ";
        }
    }
}

const char *lg_probe_shown(probe_work *w, const char *text, size_t length) {
    lg_text out = {0};
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)text[i];
        if (byte < 0x20 || byte == 0x7F) lg_text_printf(&out, "\\u%04x", byte);
        else lg_text_put(&out, text + i, 1);
    }
    const char *copy =
        out.failed ? NULL : lg_arena_copy(&w->results->arena, out.data ? out.data : "", out.length);
    lg_text_free(&out);
    return copy;
}

/* ---- the whole ---- */

static lg_status add(probe_work *w, const probe_slice *slice, const lg_probe_bias *bias,
                     const lg_probe_share *accuracy, const habits *h) {
    lg_probe_results *r = w->results;
    lg_text verdict = {0}, note = {0};
    lg_probe_bias *row = NULL;
    const char *words = NULL, *remark = NULL;
    bool two = true;
    for (size_t k = 0; k < slice->n; k++) two &= lg_probe_item_at(w->items, slice->items[k])->n_choices == 2;
    put_verdict(&verdict, bias, accuracy, two, h);
    put_note(&note, bias);
    if (!verdict.failed) words = lg_arena_copy(&r->arena, verdict.data, verdict.length);
    if (note.length && !note.failed) remark = lg_arena_copy(&r->arena, note.data + 2, note.length - 2);
    if (words && !note.failed && (remark || !note.length) &&
        lg_reserve(&r->biases, &r->biases_room, r->n_biases + 1, sizeof *r->biases)) {
        row = &r->biases[r->n_biases++];
        *row = *bias;
        row->verdict = words;
        row->note = remark;
    }
    lg_text_free(&verdict);
    lg_text_free(&note);
    return row ? LG_OK : lg_fail_memory(w->error);
}

/* The answer of all items of SLICE, if there are several and it is the same text. */
static const lg_probe_choice *constant_answer(const probe_work *w, const probe_slice *slice) {
    const lg_probe_item *first = lg_probe_item_at(w->items, slice->items[0]);
    for (size_t k = 1; k < slice->n; k++) {
        const lg_probe_item *item = lg_probe_item_at(w->items, slice->items[k]);
        if (!probe_same(&item->choices[item->answer], &first->choices[first->answer])) return NULL;
    }
    return slice->n > 1 ? &first->choices[first->answer] : NULL;
}

static lg_status find_habits(probe_work *w, const probe_slice *slice, size_t m, habits *h) {
    const lg_probe_choice *constant = constant_answer(w, slice), *favourite;
    if (constant && !(h->constant = lg_probe_shown(w, constant->text, constant->length)))
        return lg_fail_memory(w->error);
    if (lg_probe_favourite(w, slice, m, &favourite, &h->picked) &&
        !(h->favourite = lg_probe_shown(w, favourite->text, favourite->length)))
        return lg_fail_memory(w->error);
    return LG_OK;
}

lg_status lg_probe_add_bias(probe_work *w, const probe_slice *slice, size_t m) {
    const probe_values *v = &w->models[m];
    lg_probe_bias bias = {.at = slice->at};
    bias.at.model = w->results->models[m];
    for (int j = 0; j < PARTS; j++) bias.part[j] = lg_probe_no_mean();
    const lg_probe_choice *options = recurring_options(w, slice);
    if (options) {
        bias.option = lg_probe_shown(w, options[0].text, options[0].length);
        bias.other_option = lg_probe_shown(w, options[1].text, options[1].length);
        if (!bias.option || !bias.other_option) return lg_fail_memory(w->error);
    }
    size_t scored = lg_probe_select_scored(w, slice, m), n = 0;
    lg_probe_share accuracy = accuracy_of(w, v, w->who, scored);
    for (int j = 0; j < PARTS; j++) {
        bias.picks[j] = picks_of(w, v->scores, w->who, scored, options, j, &bias.answers[j]);
        bias.has |= bias.picks[j].items ? 1u << j : 0;
    }
    for (size_t k = 0; k < scored; k++) {
        size_t i = w->who[k];
        const double *logp = probe_logp(w, v->scores, i);
        bool finite = true;
        for (size_t c = 0; c < lg_probe_item_at(w->items, i)->n_choices; c++) finite &= !isinf(logp[c]);
        bias.infinite += !finite;
        if (finite) w->who[n++] = i;
    }
    bias.items = n;
    bias.groups = lg_probe_groups(w, w->who, n);
    if (n) {
        fit f = {.w = w, .scores = v->scores, .option = options, .who = w->who, .weight = w->y, .n = n};
        f.groups = bias.groups;
        if (bias.has != 1u << LG_PROBE_KNOWLEDGE) bias.by_cells = set_weights(w, w->who, n, w->y);
        else
            for (size_t k = 0; k < n; k++) w->y[k] = 1;
        fit_parts(&f, &bias);
    }
    habits h = {0};
    lg_status status = options ? LG_OK : find_habits(w, slice, m, &h);
    if (status) return status;
    if (bias.groups >= FEWEST_GROUPS && !h.constant) find_parts(&bias);
    return add(w, slice, &bias, &accuracy, &h);
}
