/* Ready-made views: which columns and groupings answer a question, and the differences and slopes that sum it
 * up. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "stats/gap_internal.h"

enum { VIEW_COLUMNS = 3, VIEW_GROUPINGS = 6, SLOPE_TOKENS = 200, SLOPE_DOCUMENTS = 20, SLOPE_LEVELS = 3 };

typedef enum transform { AS_IS, SIDES, CURVE } transform;

struct gap_view {
    lg_gap_view head;
    struct {
        const char *name; /* in the dataset or tags */
        transform transform;
        bool optional;
    } columns[VIEW_COLUMNS];
    uint8_t groupings[VIEW_GROUPINGS]; /* bits: columns; in order, 0 ends them (the total comes first by
                                          itself) */
    struct {
        uint8_t column;
        const char *first, *second; /* levels; first NULL: each open.KIND against its close.KIND */
    } differences[2];
    bool composition; /* the first difference once more, at an equal mix of the second's levels */
    bool vocabulary;  /* the slope of column 1 on the logarithm of its levels' vocabularies */
};

static const gap_view views[] = {
    {.head = {"content", "content words against function words: difference and ratio"},
     .columns = {{"domain", AS_IS, false}, {"class", AS_IS, false}},
     .groupings = {1, 2, 3},
     .differences = {{1, "content", "function"}}},
    {.head = {"delimiters", "opening delimiters against closing ones, by domain and kind"},
     .columns = {{"domain", AS_IS, false}, {"delimiter", SIDES, false}, {"delimiter", AS_IS, false}},
     .groupings = {1, 2, 4, 3, 5},
     .differences = {{1, "open", "close"}, {2, NULL, NULL}}},
    {.head = {"copies", "tokens that end a copy of >=n tokens, or of =n; n = 1 to 16"},
     .columns = {{"copy_len", CURVE, false}, {"copy_len_window", CURVE, true}},
     .groupings = {1, 2}},
    {.head = {"vocabulary", "fine tags: slope of the gap on the log of their vocabulary"},
     .columns = {{"domain", AS_IS, false}, {"tag", AS_IS, false}},
     .groupings = {2, 3},
     .vocabulary = true},
    {.head = {"position", "losses and gap by tokens before, in powers of two"},
     .columns = {{"domain", AS_IS, false}, {"position", AS_IS, false}},
     .groupings = {2, 3}},
    {.head = {"reuse", "content and function words, first occurrence or used again"},
     .columns = {{"domain", AS_IS, false}, {"class", AS_IS, false}, {"reuse", AS_IS, false}},
     .groupings = {2, 4, 6, 7},
     .differences = {{1, "content", "function"}, {2, "first", "reuse"}},
     .composition = true},
};
enum { N_VIEWS = sizeof views / sizeof *views };

const lg_gap_view *lg_gap_view_at(size_t i) {
    return i < N_VIEWS ? &views[i].head : NULL;
}

const gap_view *gap_find_view(const char *name) {
    for (size_t i = 0; i < N_VIEWS; i++)
        if (strcmp(views[i].head.name, name) == 0) return &views[i];
    return NULL;
}

const char *gap_view_name(const gap_view *view) {
    return view->head.name;
}

bool gap_wants_vocabulary(const gap_view *view) {
    return view->vocabulary;
}

lg_status gap_open_view(collector *c, const gap_view *view, const lg_table *tags, lg_error *error) {
    lg_gap *gap = c->gap;
    lg_status status = LG_OK;
    for (size_t i = 0; i < VIEW_COLUMNS && view->columns[i].name && !status; i++) {
        if (view->columns[i].optional && (!tags || !lg_table_find(tags, view->columns[i].name))) break;
        lg_group_column *column = &gap->by[gap->n_by];
        status = lg_group_column_open(c->data, tags, view->columns[i].name, &gap->arena, column, error);
        if (!status && view->columns[i].transform == SIDES)
            status = lg_group_column_sides(column, &gap->arena, error);
        if (!status && view->columns[i].transform == CURVE)
            status = lg_group_column_curve(column, &gap->arena, error);
        if (!status) gap->n_by++;
    }
    if (!status) status = gap_add_grouping(c, 0, error);
    for (size_t i = 0; i < VIEW_GROUPINGS && view->groupings[i] && !status; i++)
        if (view->groupings[i] >> gap->n_by == 0) status = gap_add_grouping(c, view->groupings[i], error);
    return status;
}

/* ---- contrasts ---- */

/* What the contrasts of one pair are made with. */
typedef struct maker {
    collector *c;
    size_t pair, replicates;
    const double *means; /* [n_groups, replicates] in the order of rows, or NULL */
    size_t *place;       /* [n_groups] of a group in that order */
    size_t *groups;      /* [n_groups] those that take part */
    double *coefficients, *resampled, *ratios, *scratch;
    lg_contrast_part *parts;
} maker;

static double mean_of(const maker *m, size_t g) {
    const lg_cell *cells = gap_cells(m->c, m->pair, g);
    double sum = 0;
    for (size_t i = 0; i < m->c->groups[g].documents; i++) sum += cells[i].sum;
    return m->c->groups[g].tokens ? sum / (double)m->c->groups[g].tokens : NAN;
}

static void put_bootstrap(const maker *m, size_t n, lg_gap_contrast *row) {
    if (!m->means || row->documents < 2 || isnan(row->estimate)) return;
    size_t of_both = 0, positive = 0, r = m->replicates;
    for (size_t i = 0; i < r; i++) m->resampled[i] = m->ratios[i] = 0;
    for (size_t k = 0; k < n; k++) {
        const double *means = m->means + m->place[m->groups[k]] * r;
        for (size_t i = 0; i < r; i++) m->resampled[i] += m->coefficients[k] * means[i];
    }
    lg_bootstrap_interval interval = lg_bootstrap_percentile(m->resampled, r);
    row->bootstrap_low = interval.low;
    row->bootstrap_high = interval.high;
    row->replicates = interval.used;
    if (row->slope || n != 2) return;
    const double *first = m->means + m->place[m->groups[0]] * r,
                 *second = m->means + m->place[m->groups[1]] * r;
    for (size_t i = 0; i < r; i++) {
        m->ratios[i] = first[i] / second[i];
        if (isnan(m->ratios[i])) continue;
        of_both++;
        positive += second[i] > 0;
    }
    if (positive && positive < of_both) return; /* the second may be 0: the ratio may be anything */
    interval = lg_bootstrap_percentile(m->ratios, r);
    row->ratio_low = interval.low;
    row->ratio_high = interval.high;
}

/* Adds the sum of coefficients x means of m->groups [n]. LEVEL as in rows. NOTE: why it is none, or NULL. */
static lg_status add_contrast(maker *m, size_t n, lg_gap_contrast row, const char *note, lg_error *error) {
    collector *c = m->c;
    lg_gap *gap = c->gap;
    for (size_t k = 0; k < n; k++)
        m->parts[k] = (lg_contrast_part){gap_cells(c, m->pair, m->groups[k]),
                                         c->groups[m->groups[k]].documents, m->coefficients[k]};
    lg_contrast r;
    lg_contrast_compute(m->parts, note ? 0 : n, m->scratch, c->data->n_docs, &r);
    row.model_a = gap->about.models[m->c->pairs[m->pair].a];
    row.model_b = gap->about.models[m->c->pairs[m->pair].b];
    row.tokens = r.tokens;
    row.documents = r.documents;
    row.levels = note ? 0 : n;
    row.estimate = r.estimate;
    row.se = r.se;
    row.se_cr0 = r.se_cr0;
    row.df = r.df;
    row.low = r.low;
    row.high = r.high;
    row.t = r.t;
    row.p = row.p_bh = r.p;
    row.mde = r.mde;
    row.bootstrap_low = row.bootstrap_high = row.ratio_low = row.ratio_high = NAN;
    row.note = note              ? note
               : r.documents < 2 ? "one document: no error, no test"
               : isnan(r.se)     ? "too few tokens: no error, no test"
               : !(r.se > 0)     ? "no spread between documents: no test by t"
                                 : NULL;
    if (!note) put_bootstrap(m, n, &row);
    if (!row.note && !row.slope && n == 2 && m->means && isnan(row.ratio_low) && !isnan(row.ratio))
        row.note = "the second gap is on both sides of 0 in resamples: no interval of the ratio";
    if (!lg_reserve(&gap->contrasts, &gap->contrasts_room, gap->n_contrasts + 1, sizeof *gap->contrasts))
        return lg_fail_memory(error);
    gap->contrasts[gap->n_contrasts++] = row;
    return LG_OK;
}

static size_t find_level(const lg_group_column *column, const char *name) {
    for (size_t i = 0; i < column->n_levels; i++)
        if (strcmp(column->levels[i], name) == 0) return i;
    return SIZE_MAX;
}

/* The levels of a row about group G, but for COLUMN: "FIRST - SECOND". NULL: no memory. */
static const char **name_difference(maker *m, const group *g, size_t column, const char *first,
                                    const char *second) {
    lg_text text = {0};
    const char **level = gap_levels_of(m->c, g);
    lg_text_printf(&text, "%s - %s", first, second);
    if (level && !text.failed) level[column] = lg_arena_copy(&m->c->gap->arena, text.data, text.length);
    bool ok = level && !text.failed && level[column];
    lg_text_free(&text);
    return ok ? level : NULL;
}

/* Level FIRST of COLUMN less level SECOND, in every grouping that has the column. TOLD_ANYWAY: also that
 * there are none. */
static lg_status add_differences(maker *m, size_t column, const char *first, const char *second,
                                 bool told_anyway, lg_error *error) {
    collector *c = m->c;
    const lg_group_column *by = &c->gap->by[column];
    size_t level_a = find_level(by, first), level_b = find_level(by, second);
    size_t before = c->gap->n_contrasts;
    for (size_t i = 0; i < c->n_groups; i++) {
        const group *g = &c->groups[c->order[i]];
        const grouping *way = &c->groupings[g->grouping];
        if (!(way->columns >> column & 1)) continue;
        size_t level = gap_level_of(c, g, column);
        if (level != level_a && level != level_b) continue;
        uint64_t base = g->code - way->radix[column] * level;
        size_t a = level_a == SIZE_MAX ? SIZE_MAX
                                       : gap_find_group(c, g->grouping, base + way->radix[column] * level_a);
        size_t b = level_b == SIZE_MAX ? SIZE_MAX
                                       : gap_find_group(c, g->grouping, base + way->radix[column] * level_b);
        if (level == level_b && a != SIZE_MAX) continue; /* told where the first stands */
        const char **names = name_difference(m, g, column, first, second);
        if (!names) return lg_fail_memory(error);
        lg_gap_contrast row = {.level = names,
                               .grouping = way->columns,
                               .column = column,
                               .se_levels = NAN,
                               .low_levels = NAN,
                               .high_levels = NAN};
        row.first = a == SIZE_MAX ? NAN : mean_of(m, a);
        row.second = b == SIZE_MAX ? NAN : mean_of(m, b);
        row.ratio = row.second != 0 ? row.first / row.second : NAN;
        const char *note = a == SIZE_MAX   ? "the first has no tokens"
                           : b == SIZE_MAX ? "the second has no tokens"
                                           : NULL;
        m->groups[0] = a;
        m->groups[1] = b;
        m->coefficients[0] = 1;
        m->coefficients[1] = -1;
        lg_status status = add_contrast(m, note ? 0 : 2, row, note, error);
        if (status) return status;
    }
    if (c->gap->n_contrasts > before || !told_anyway) return LG_OK;
    const char **names = name_difference(m, &c->groups[gap_find_group(c, 0, 0)], column, first, second);
    if (!names) return lg_fail_memory(error);
    lg_gap_contrast row = {.level = names,
                           .grouping = 1u << column,
                           .column = column,
                           .first = NAN,
                           .second = NAN,
                           .ratio = NAN,
                           .se_levels = NAN,
                           .low_levels = NAN,
                           .high_levels = NAN};
    return add_contrast(m, 0, row, "neither has tokens", error);
}

static lg_status add_kinds(maker *m, size_t column, lg_error *error) {
    const lg_group_column *by = &m->c->gap->by[column];
    lg_status status = LG_OK;
    for (size_t i = 0; i < by->n_levels && !status; i++) {
        if (strncmp(by->levels[i], "open.", 5) != 0) continue;
        lg_text close = {0};
        lg_text_printf(&close, "close.%s", by->levels[i] + 5);
        if (close.failed) status = lg_fail_memory(error);
        else if (find_level(by, close.data) != SIZE_MAX)
            status = add_differences(m, column, by->levels[i], close.data, false, error);
        lg_text_free(&close);
    }
    return status;
}

/* Level FIRST less level SECOND of COLUMN within each level of MIX, averaged by how many tokens of both that
 * level has. */
static lg_status add_composition(maker *m, size_t column, const char *first, const char *second, size_t mix,
                                 lg_error *error) {
    collector *c = m->c;
    const lg_group_column *by = &c->gap->by[column];
    size_t level_a = find_level(by, first), level_b = find_level(by, second),
           n_mix = c->gap->by[mix].n_levels;
    if (level_a == SIZE_MAX || level_b == SIZE_MAX) return LG_OK;
    const group *last = NULL; /* of the group of levels that was told last */
    uint64_t told = 0;
    for (size_t i = 0; i < c->n_groups; i++) {
        const group *g = &c->groups[c->order[i]];
        const grouping *way = &c->groupings[g->grouping];
        if (!(way->columns >> column & 1) || !(way->columns >> mix & 1)) continue;
        uint64_t base = g->code - way->radix[column] * gap_level_of(c, g, column) -
                        way->radix[mix] * gap_level_of(c, g, mix);
        if (last && last->grouping == g->grouping && told == base) continue;
        last = g;
        told = base;
        size_t n = 0;
        double total = 0;
        for (size_t level = 0; level < n_mix && n + 2 <= c->n_groups; level++) {
            size_t a =
                gap_find_group(c, g->grouping, base + way->radix[column] * level_a + way->radix[mix] * level);
            size_t b =
                gap_find_group(c, g->grouping, base + way->radix[column] * level_b + way->radix[mix] * level);
            if (a == SIZE_MAX || b == SIZE_MAX) continue; /* nothing to compare at this level */
            double tokens = (double)(c->groups[a].tokens + c->groups[b].tokens);
            total += tokens;
            m->groups[n] = a;
            m->coefficients[n++] = tokens;
            m->groups[n] = b;
            m->coefficients[n++] = -tokens;
        }
        if (!n) continue;
        for (size_t k = 0; k < n; k++) m->coefficients[k] /= total;
        const char **names = name_difference(m, g, column, first, second);
        if (!names) return lg_fail_memory(error);
        names[mix] = "equal mix";
        lg_gap_contrast row = {.level = names,
                               .grouping = way->columns,
                               .column = column,
                               .se_levels = NAN,
                               .low_levels = NAN,
                               .high_levels = NAN,
                               .first = NAN,
                               .second = NAN,
                               .ratio = NAN};
        lg_status status = add_contrast(m, n, row, NULL, error);
        if (status) return status;
    }
    return LG_OK;
}

/* The slope of the levels' gaps on the logarithm of their vocabularies, weighted by tokens. With x and w of
   level k its mean counts w_k (x_k - x) / sum w (x_k - x)^2, so that it is a contrast like any other. */
static lg_status add_slope(maker *m, const size_t *levels, size_t n, const group *any, size_t column,
                           lg_error *error) {
    collector *c = m->c;
    const char **names = gap_levels_of(c, any);
    if (!names) return lg_fail_memory(error);
    names[column] = "slope on log(vocabulary)";
    lg_gap_contrast row = {.level = names,
                           .grouping = c->groupings[any->grouping].columns | 1u << column,
                           .column = column,
                           .slope = true,
                           .first = NAN,
                           .second = NAN,
                           .ratio = NAN,
                           .se_levels = NAN,
                           .low_levels = NAN,
                           .high_levels = NAN};
    double weights = 0, x = 0, y = 0, squares = 0, slope = 0, rest = 0;
    for (size_t k = 0; k < n; k++) {
        const group *g = &c->groups[levels[k]];
        weights += (double)g->tokens;
        x += (double)g->tokens * log((double)g->vocabulary);
        y += (double)g->tokens * mean_of(m, levels[k]);
    }
    x /= weights;
    y /= weights;
    for (size_t k = 0; k < n; k++) {
        const group *g = &c->groups[levels[k]];
        double off = log((double)g->vocabulary) - x;
        squares += (double)g->tokens * off * off;
    }
    const char *note = n < SLOPE_LEVELS ? "fewer than 3 tags with 200 tokens in 20 documents"
                       : !(squares > 0) ? "all vocabularies have one size"
                                        : NULL;
    for (size_t k = 0; k < n && !note; k++) {
        const group *g = &c->groups[levels[k]];
        m->groups[k] = levels[k];
        m->coefficients[k] = (double)g->tokens * (log((double)g->vocabulary) - x) / squares;
        slope += m->coefficients[k] * mean_of(m, levels[k]);
    }
    if (!note) {
        for (size_t k = 0; k < n; k++) {
            const group *g = &c->groups[levels[k]];
            double off = mean_of(m, levels[k]) - y - slope * (log((double)g->vocabulary) - x);
            rest += (double)g->tokens * off * off;
        }
        double df = (double)n - 2;
        row.se_levels = sqrt(rest / df / squares);
        row.low_levels = slope - lg_t_quantile(0.975, df) * row.se_levels;
        row.high_levels = slope + lg_t_quantile(0.975, df) * row.se_levels;
    }
    return add_contrast(m, note ? 0 : n, row, note, error);
}

static bool takes_part(const group *g, const char *level) {
    return g->tokens >= SLOPE_TOKENS && g->documents >= SLOPE_DOCUMENTS && strcmp(level, "none") != 0 &&
           strcmp(level, "whitespace") != 0;
}

/* A slope for every grouping with COLUMN and every combination of the other columns' levels. */
static lg_status add_slopes(maker *m, size_t column, lg_error *error) {
    collector *c = m->c;
    size_t *levels = lg_alloc(c->n_groups, sizeof *levels), before = c->gap->n_contrasts;
    lg_status status = levels ? LG_OK : lg_fail_memory(error);
    for (size_t i = 0, end; i < c->n_groups && !status; i = end) {
        const group *first = &c->groups[c->order[i]];
        const grouping *way = &c->groupings[first->grouping];
        end = i + 1;
        if (!(way->columns >> column & 1)) continue;
        uint64_t base =
            first->code -
            way->radix[column] * gap_level_of(c, first, column); /* column is the last: its radix is 1 */
        size_t n = 0;
        for (end = i; end < c->n_groups; end++) {
            const group *g = &c->groups[c->order[end]];
            size_t level = gap_level_of(c, g, column);
            if (g->grouping != first->grouping || g->code - way->radix[column] * level != base) break;
            if (takes_part(g, c->gap->by[column].levels[level])) levels[n++] = c->order[end];
        }
        status = add_slope(m, levels, n, first, column, error);
    }
    if (!status && c->gap->n_contrasts == before) /* no tokens at all: said, too */
        status = add_slope(m, levels, 0, &c->groups[gap_find_group(c, 0, 0)], column, error);
    free(levels);
    return status;
}

/* Adjusts p over the contrasts of one column and grouping, from contrast BEGIN on. */
static lg_status adjust_contrasts(lg_gap *gap, size_t begin, lg_error *error) {
    size_t n = gap->n_contrasts - begin;
    lg_gap_contrast *rows = gap->contrasts + begin;
    double *p = lg_alloc(n, sizeof *p);
    bool *done = calloc(n + 1, sizeof *done);
    lg_status status = p && done ? LG_OK : lg_fail_memory(error);
    for (size_t i = 0; i < n && !status; i++) {
        if (done[i]) continue;
        for (size_t k = 0; k < n; k++)
            p[k] = rows[k].grouping == rows[i].grouping && rows[k].column == rows[i].column ? rows[k].p : NAN;
        status = lg_adjust_bh(p, n, error);
        for (size_t k = 0; k < n; k++) {
            if (rows[k].grouping != rows[i].grouping || rows[k].column != rows[i].column) continue;
            rows[k].p_bh = p[k];
            done[k] = true;
        }
    }
    free(p);
    free(done);
    return status;
}

lg_status gap_make_contrasts(collector *c, size_t pair, const double *means, size_t replicates,
                             lg_error *error) {
    const gap_view *view = c->view;
    size_t begin = c->gap->n_contrasts, n = c->n_groups;
    maker m = {.c = c, .pair = pair, .replicates = replicates, .means = means};
    m.place = lg_alloc(n, sizeof *m.place);
    m.groups = lg_alloc(n + 2, sizeof *m.groups);
    m.coefficients = lg_alloc(n + 2, sizeof *m.coefficients);
    m.parts = lg_alloc(n + 2, sizeof *m.parts);
    m.resampled = lg_alloc(replicates, sizeof *m.resampled);
    m.ratios = lg_alloc(replicates, sizeof *m.ratios);
    m.scratch = lg_alloc(c->data->n_docs, sizeof *m.scratch);
    bool ok = m.place && m.groups && m.coefficients && m.parts && m.resampled && m.ratios && m.scratch;
    lg_status status = ok ? LG_OK : lg_fail_memory(error);
    for (size_t i = 0; i < n && ok; i++) m.place[c->order[i]] = i;
    for (size_t d = 0; d < 2 && !status; d++) {
        size_t column = view->differences[d].column;
        if (!column) continue;
        if (view->differences[d].first)
            status = add_differences(&m, column, view->differences[d].first, view->differences[d].second,
                                     true, error);
        else status = add_kinds(&m, column, error);
    }
    if (!status && view->composition)
        status = add_composition(&m, view->differences[0].column, view->differences[0].first,
                                 view->differences[0].second, view->differences[1].column, error);
    if (!status && view->vocabulary) status = add_slopes(&m, 1, error);
    if (!status) status = adjust_contrasts(c->gap, begin, error);
    free(m.place);
    free(m.groups);
    free(m.coefficients);
    free(m.parts);
    free(m.resampled);
    free(m.ratios);
    free(m.scratch);
    return status;
}
