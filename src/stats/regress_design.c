/* From a formula to columns: which there are, what they are called, and which of them hold anything. */
#include "stats/regress_design.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "stats/regress_design_internal.h"
#include "stats/regress_team.h"

/* More columns than any dense algebra here would get through. */
enum { MAX_COLUMNS = 5000, MAX_CELLS = 20000000, SCAN_ROWS = 1 << 16 };

/* ---- variables ---- */

static lg_status check_length(const lg_design *d, const lg_column *c, lg_error *error) {
    const lg_column *y = d->variables[0].column;
    if (c->queried && c->count == SIZE_MAX) { /* a constant has as many rows as there are */
        ((lg_column *)(uintptr_t)c)->count = d->n_rows;
    }
    if (c->count == d->n_rows) return LG_OK;
    return lg_fail(error, LG_BAD_INPUT, "column '%s' has %zu rows, '%s' has %zu: the tables are not aligned",
                   c->name, c->count, y->name, y->count);
}

static lg_status add_variable(lg_design *d, const lg_column *column, bool category, size_t *index,
                              lg_error *error) {
    for (*index = 1; *index < d->n_variables; ++*index)
        if (strcmp(d->variables[*index].name, column->name) == 0 && d->variables[*index].category == category)
            return LG_OK;
    lg_variable *v = &d->variables[*index];
    *v = (lg_variable){
        .name = column->name, .column = column, .category = category, .coded_by_contrast = category};
    lg_status status = check_length(d, column, error);
    if (!status && category && !column->levels) status = lg_design_number_levels(d, v, error);
    if (status) return status;
    if (category && !v->column->classes)
        status = lg_frame_classes(d->frame, &d->arena, v->column, &v->classes, error);
    else v->classes = v->column->classes;
    if (status) return status;
    if (category) {
        v->n_levels = v->column->n_levels;
        v->first_level = d->n_levels;
        d->n_levels += v->n_levels;
    }
    d->n_variables++;
    return LG_OK;
}

const char *lg_variable_level(const lg_variable *v, size_t level) {
    return v->column->levels[level];
}

static lg_status set_references(lg_design *d, const lg_regress_options *o, lg_error *error) {
    for (size_t i = 0; i < o->n_references; i++) {
        const char *text = o->references[i], *sign = strchr(text, '=');
        bool found = false, known = false;
        if (!sign || sign == text)
            return lg_fail(error, LG_USAGE, "a reference level is given as COLUMN=LEVEL, not '%s'", text);
        for (size_t k = 1; k < d->n_variables; k++) {
            lg_variable *v = &d->variables[k];
            if (!v->category || strlen(v->name) != (size_t)(sign - text) ||
                strncmp(v->name, text, (size_t)(sign - text)) != 0)
                continue;
            known = true;
            for (size_t l = 0; l < v->n_levels; l++)
                if (strcmp(lg_variable_level(v, l), sign + 1) == 0) {
                    v->reference = l;
                    v->chosen = true;
                    found = true;
                }
        }
        if (!known)
            return lg_fail(error, LG_USAGE,
                           "the formula has no category '%.*s' to take '%s' as the reference of",
                           (int)(sign - text), text, sign + 1);
        if (!found)
            return lg_fail(error, LG_USAGE, "'%.*s' has no level '%s' to be the reference",
                           (int)(sign - text), text, sign + 1);
    }
    return LG_OK;
}

/* ---- terms ---- */

/* Whether the formula has the term T without its atom number LEFT_OUT. */
static bool has_margin(const lg_formula *f, const lg_formula_term *t, size_t left_out) {
    if (t->n == 1) return f->intercept;
    for (size_t i = 0; i < f->n_terms; i++) {
        const lg_formula_term *u = &f->terms[i];
        if (u->n != t->n - 1) continue;
        size_t same = 0;
        for (size_t a = 0; a < t->n; a++)
            for (size_t b = 0; b < u->n && a != left_out; b++) same += t->atoms[a] == u->atoms[b];
        if (same == u->n) return true;
    }
    return false;
}

/* A category is coded against its reference where the term without it is in the formula, else by all its
   levels; without an intercept the first category is coded by all its levels (as in R). */
static lg_status make_term(lg_design *d, const lg_formula_term *t, const size_t *variable_of,
                           lg_design_term *term, lg_error *error) {
    const lg_formula *f = &d->formula;
    term->n_factors = t->n;
    term->n_cells = term->n_combinations = 1;
    for (size_t i = 0; i < t->n; i++) {
        const lg_formula_atom *atom = &f->atoms[t->atoms[i]];
        size_t v = variable_of[t->atoms[i]];
        if (!d->variables[v].category) {
            term->order[i] = term->n_numbers;
            term->powers[term->n_numbers] = atom->power;
            term->numbers[term->n_numbers++] = v;
            continue;
        }
        if (atom->power != 1)
            return lg_fail(error, LG_USAGE, "'%s' is a category and has no powers", atom->text);
        term->order[i] = LG_FORMULA_DEGREE + term->n_categories;
        bool contrast = has_margin(f, t, i);
        if (t->n == 1 && !f->intercept) { /* a later category is aliased with the first one's full coding */
            for (size_t e = 0; e < d->n_terms && !contrast; e++)
                contrast = d->terms[e].n_factors == 1 && d->terms[e].n_categories == 1;
        }
        if (t->n == 1 || !contrast) d->variables[v].coded_by_contrast = contrast;
        term->contrast[term->n_categories] = contrast;
        term->categories[term->n_categories++] = v;
        size_t n = d->variables[v].n_levels - (contrast && d->variables[v].n_levels);
        if (!lg_multiply(term->n_cells, n, &term->n_cells) ||
            !lg_multiply(term->n_combinations, d->variables[v].n_levels, &term->n_combinations) ||
            term->n_combinations > MAX_CELLS)
            return lg_fail(error, LG_USAGE, "the product of '%s' with other categories has too many columns",
                           atom->text);
    }
    term->gram = lg_arena_alloc(&d->arena, (term->n_cells + 1) * sizeof *term->gram);
    term->counts = lg_arena_alloc(&d->arena, (term->n_cells + 1) * sizeof *term->counts);
    term->combinations = lg_arena_alloc(&d->arena, (term->n_combinations + 1) * sizeof *term->combinations);
    return term->gram && term->counts && term->combinations ? LG_OK : lg_fail_memory(error);
}

static lg_status read_formula(lg_design *d, const lg_regress_options *o, lg_error *error) {
    lg_formula *f = &d->formula;
    lg_status status = lg_formula_parse(o->formula, &d->arena, f, error);
    if (!status) status = lg_design_compile(d, o, error);
    if (status) return status;
    const lg_column *column;
    size_t *variable_of = lg_arena_alloc(&d->arena, (f->n_atoms + 1) * sizeof *variable_of);
    d->variables = lg_arena_alloc(&d->arena, (f->n_atoms + 1) * sizeof *d->variables);
    d->terms = lg_arena_alloc(&d->arena, (f->n_terms + 1) * sizeof *d->terms);
    if (!variable_of || !d->variables || !d->terms) return lg_fail_memory(error);
    if ((status = lg_design_find(d, f->outcome, &column, error))) return status;
    if (column->levels)
        return lg_fail(error, LG_USAGE, "the outcome '%s' is a category: a regression needs numbers",
                       f->outcome);
    d->variables[0] = (lg_variable){.name = f->outcome, .column = column};
    d->n_variables = 1;
    d->n_rows = column->count;
    if (d->n_rows == SIZE_MAX)
        return lg_fail(error, LG_USAGE, "the outcome '%s' names no column", f->outcome);
    if (d->n_rows >= UINT32_MAX) return lg_fail(error, LG_BAD_INPUT, "more than 4 294 967 294 rows");
    for (size_t i = 0; i < f->n_atoms; i++) {
        status = lg_design_find(d, f->atoms[i].text, &column, error);
        bool category = !status && (f->atoms[i].category || column->levels);
        if (!status) status = add_variable(d, column, category, &variable_of[i], error);
        if (status) return status;
    }
    if ((status = set_references(d, o, error))) return status;
    for (size_t i = 0; i < f->n_terms; i++) {
        status = make_term(d, &f->terms[i], variable_of, &d->terms[i], error);
        if (status) return status;
        d->n_terms++;
        d->n_sparse_terms += d->terms[i].n_categories > 0;
    }
    return LG_OK;
}

static lg_status find_others(lg_design *d, const lg_regress_options *o, lg_error *error) {
    const struct {
        const char *name;
        const lg_column **column;
    } wanted[] = {{o->weights, &d->weights}, {o->cluster, &d->cluster}, {o->absorb, &d->absorb}};
    for (size_t i = 0; i < 3; i++) {
        if (!wanted[i].name) continue;
        lg_status status = lg_design_find(d, wanted[i].name, wanted[i].column, error);
        if (!status) status = check_length(d, *wanted[i].column, error);
        if (status) return status;
    }
    if (d->where) {
        lg_status status = check_length(d, d->where, error);
        if (status) return status;
    }
    if (d->weights && d->weights->levels)
        return lg_fail(error, LG_USAGE, "the weights '%s' are a category, not numbers", d->weights->name);
    return LG_OK;
}

/* ---- names ---- */

void lg_design_cell_levels(const lg_design *d, const lg_design_term *t, size_t cell, size_t *levels) {
    for (size_t c = 0; c < t->n_categories; c++) {
        const lg_variable *v = &d->variables[t->categories[c]];
        size_t n = v->n_levels - t->contrast[c];
        size_t level = cell % n;
        cell /= n;
        levels[c] = level + (t->contrast[c] && level >= v->reference);
    }
}

const char *lg_design_name(const lg_design *d, size_t column, lg_arena *arena) {
    const lg_design_column *c = &d->columns[column];
    if (c->term == SIZE_MAX) return lg_arena_copy(arena, "(Intercept)", 11);
    const lg_design_term *t = &d->terms[c->term];
    size_t levels[LG_FORMULA_DEGREE];
    lg_design_cell_levels(d, t, c->cell, levels);
    lg_text name = {0};
    for (size_t i = 0; i < t->n_factors; i++) {
        if (i) lg_text_puts(&name, ":");
        if (t->order[i] < LG_FORMULA_DEGREE) {
            lg_text_puts(&name, d->variables[t->numbers[t->order[i]]].name);
            if (t->powers[t->order[i]] > 1) lg_text_printf(&name, "^%u", t->powers[t->order[i]]);
        } else {
            const lg_variable *v = &d->variables[t->categories[t->order[i] - LG_FORMULA_DEGREE]];
            lg_text_printf(&name, "%s=%s", v->name,
                           lg_variable_level(v, levels[t->order[i] - LG_FORMULA_DEGREE]));
        }
    }
    const char *copy = name.failed ? NULL : lg_arena_copy(arena, name.data, name.length);
    lg_text_free(&name);
    return copy;
}

/* ---- what the rows hold ---- */

/* What one thread finds. All of it may be joined in any order. */
typedef struct finding {
    lg_loader loader;
    uint64_t *counts; /* [all cells] */
    double *largest;  /* [n_terms + 1] the outcome's is the last */
    bool *whole;      /* [n_terms + 1] */
    double y_low, y_high, least_weight;
    size_t least_row;
    uint64_t n;
} finding;

static void look_at_numbers(const double *values, size_t n, double *largest, bool *whole) {
    double most[4] = {0}; /* no chain from value to value */
    bool fine = true;
    for (size_t i = 0; i < n; i++) {
        double size = fabs(values[i]);
        fine = fine && size < INFINITY;
        if (size > most[i % 4]) most[i % 4] = size;
    }
    for (size_t k = 0; k < 4; k++)
        if (most[k] > *largest) *largest = most[k];
    if (!fine) *largest = INFINITY; /* NaN too */
    *whole = *whole && *largest <= 0x1p52;
    for (size_t i = 0; i < n && *whole; i++) *whole = values[i] == (double)(int64_t)values[i];
}

static void look_at_block(const lg_design *d, finding *f) {
    lg_loader *l = &f->loader;
    size_t n = l->block.rows, cells = 0;
    const double *y = l->numbers;
    look_at_numbers(y, n, &f->largest[d->n_terms], &f->whole[d->n_terms]);
    for (size_t i = 0; i < n; i++) {
        if (y[i] < f->y_low) f->y_low = y[i];
        if (y[i] > f->y_high) f->y_high = y[i];
    }
    for (size_t t = 0; t < d->n_terms; t++) {
        const lg_design_term *term = &d->terms[t];
        lg_loader_product(l, term, l->product);
        look_at_numbers(l->product, n, &f->largest[t], &f->whole[t]);
        if (term->n_categories)
            for (size_t i = 0; i < n; i++) {
                if (l->product[i] != 0) f->counts[cells + lg_loader_combination(l, term, i)]++;
            }
        cells += term->n_combinations;
    }
    f->n += n;
}

typedef struct scan {
    const lg_design *design;
    finding *found; /* [threads] */
    size_t begin;
} scan;

/* The part of finding number I, whoever does it. */
static void scan_part(void *context, unsigned thread, size_t i) {
    const scan *s = context;
    size_t at = s->begin + i * SCAN_ROWS, end = at + SCAN_ROWS;
    (void)thread;
    if (end > s->design->n_rows) end = s->design->n_rows;
    for (; at < end; at += LG_REGRESS_BLOCK) {
        lg_loader_values(&s->found[i].loader, at, end - at < LG_REGRESS_BLOCK ? end - at : LG_REGRESS_BLOCK);
        look_at_block(s->design, &s->found[i]);
    }
}

static lg_status look(lg_design *d, unsigned threads, const lg_monitor *monitor, lg_error *error) {
    const size_t n_left = d->n_variables + LG_N_LEFT;
    size_t cells = 0;
    for (size_t t = 0; t < d->n_terms; t++) cells += d->terms[t].n_combinations;
    finding *found = calloc(threads, sizeof *found);
    lg_status status = found ? LG_OK : lg_fail_memory(error);
    d->left_out = lg_arena_alloc(&d->arena, n_left * sizeof *d->left_out);
    if (!d->left_out && !status) status = lg_fail_memory(error);
    for (unsigned i = 0; i < threads && !status; i++) {
        finding *f = &found[i];
        f->y_low = INFINITY;
        f->y_high = -INFINITY;
        f->counts = calloc(cells + 1, sizeof *f->counts);
        f->largest = calloc(d->n_terms + 1, sizeof *f->largest);
        f->whole = calloc(d->n_terms + 1, sizeof *f->whole);
        status = lg_loader_open(&f->loader, d, error);
        f->loader.left_out = calloc(n_left, sizeof *f->loader.left_out);
        if (!status && (!f->counts || !f->largest || !f->whole || !f->loader.left_out))
            status = lg_fail_memory(error);
        for (size_t t = 0; t <= d->n_terms && !status; t++) f->whole[t] = true;
    }
    const size_t round = (size_t)SCAN_ROWS * threads;
    for (size_t begin = 0; begin < d->n_rows && !status; begin += round) {
        if (lg_is_cancelled(monitor)) status = LG_CANCELLED;
        scan here = {.design = d, .found = found, .begin = begin};
        lg_team_for(threads, threads, scan_part, &here);
        lg_progress(monitor, "rows", begin + round < d->n_rows ? begin + round : d->n_rows, d->n_rows);
    }
    d->y_low = INFINITY;
    d->y_high = -INFINITY;
    for (size_t t = 0; t < d->n_terms; t++) d->terms[t].whole = true;
    uint32_t bad_level = 0;
    size_t bad_variable = 0;
    double negative = 0;
    for (unsigned i = 0; i < threads && !status; i++) {
        finding *f = &found[i];
        d->n += f->n;
        for (size_t k = 0; k < n_left; k++) d->left_out[k] += f->loader.left_out[k];
        size_t cell = 0;
        for (size_t t = 0; t < d->n_terms; t++) {
            d->terms[t].largest = fmax(d->terms[t].largest, f->largest[t]);
            d->terms[t].whole = d->terms[t].whole && f->whole[t];
            for (size_t c = 0; c < d->terms[t].n_combinations; c++)
                d->terms[t].combinations[c] += f->counts[cell++];
        }
        d->y_largest = fmax(d->y_largest, f->largest[d->n_terms]);
        d->y_low = fmin(d->y_low, f->y_low);
        d->y_high = fmax(d->y_high, f->y_high);
        if (f->loader.negative_weight < negative) negative = f->loader.negative_weight;
        if (!f->loader.bad_variable || (bad_variable && f->loader.bad_variable > bad_variable)) continue;
        if (f->loader.bad_variable == bad_variable && f->loader.bad_level >= bad_level) continue;
        bad_variable = f->loader.bad_variable;
        bad_level = f->loader.bad_level;
    }
    if (!status && negative < 0)
        status = lg_fail(error, LG_BAD_INPUT, "the weights '%s' hold %g: a weight must not be negative",
                         d->weights->name, negative);
    if (!status && bad_variable) {
        const lg_variable *v = &d->variables[bad_variable];
        status = lg_fail(error, LG_BAD_INPUT, "%s: column '%s' holds the value %u, but has %zu levels",
                         v->column->from, v->name, bad_level, v->n_levels);
    }
    for (unsigned i = 0; found && i < threads; i++) {
        free(found[i].counts);
        free(found[i].largest);
        free(found[i].whole);
        free(found[i].loader.left_out);
        lg_loader_close(&found[i].loader);
    }
    free(found);
    return status;
}

/* ---- the Gram matrix' columns ---- */

static int exponent_of(double largest) {
    int exponent = 0;
    if (largest > 0 && isfinite(largest)) frexp(largest, &exponent);
    return exponent;
}

/* Tags declare many levels: of those, the first one that occurs is the reference, unless another was asked
   for. A table's first level is the one that its author put first. */
static void choose_references(lg_design *d) {
    for (size_t v = 1; v < d->n_variables && d->frame->tokens; v++) {
        lg_variable *variable = &d->variables[v];
        if (!variable->category || variable->chosen) continue;
        variable->reference = variable->n_levels;
        for (size_t t = 0; t < d->n_terms; t++) {
            const lg_design_term *term = &d->terms[t];
            size_t radix = 1;
            for (size_t c = 0; c < term->n_categories; c++) {
                for (size_t i = 0; i < term->n_combinations && term->categories[c] == v; i++) {
                    size_t level = i / radix % variable->n_levels;
                    if (term->combinations[i] && level < variable->reference) variable->reference = level;
                }
                radix *= d->variables[term->categories[c]].n_levels;
            }
        }
        if (variable->reference == variable->n_levels) variable->reference = 0;
    }
}

static void count_cells(const lg_design *d, lg_design_term *term) {
    size_t levels[LG_FORMULA_DEGREE];
    for (size_t cell = 0; cell < term->n_cells; cell++) {
        size_t at = 0, radix = 1;
        lg_design_cell_levels(d, term, cell, levels);
        for (size_t c = 0; c < term->n_categories; c++) {
            at += radix * levels[c];
            radix *= d->variables[term->categories[c]].n_levels;
        }
        term->counts[cell] = term->combinations[at];
    }
}

static lg_status number_columns(lg_design *d, lg_error *error) {
    size_t n = d->formula.intercept;
    choose_references(d);
    for (size_t t = 0; t < d->n_terms; t++) {
        d->terms[t].first = n;
        n += d->terms[t].n_cells;
    }
    d->columns = lg_arena_alloc(&d->arena, (n + 1) * sizeof *d->columns);
    if (!d->columns) return lg_fail_memory(error);
    if (d->formula.intercept) d->columns[d->n_columns++] = (lg_design_column){SIZE_MAX, 0, 0};
    size_t dense = 1;
    for (size_t t = 0; t < d->n_terms; t++) dense += !d->terms[t].n_categories;
    size_t next = 1, sparse = dense + 1;
    for (size_t t = 0; t < d->n_terms; t++) {
        lg_design_term *term = &d->terms[t];
        if (!(term->largest < INFINITY)) {
            return lg_fail(error, LG_BAD_INPUT,
                           "a power or product of '%s' is too large for a double: scale it",
                           d->variables[term->numbers[0]].name);
        }
        term->exponent = exponent_of(term->largest);
        if (term->n_categories) count_cells(d, term);
        for (size_t c = 0; c < term->n_cells; c++) {
            bool empty = term->n_categories ? !term->counts[c] : !(term->largest > 0);
            /* an empty numeric column keeps its place: its zeros are no trouble */
            uint32_t gram = !term->n_categories ? (uint32_t)next++
                            : empty             ? LG_REGRESS_NONE
                                                : (uint32_t)sparse++;
            term->gram[c] = gram;
            d->columns[d->n_columns++] = (lg_design_column){t, c, empty ? LG_REGRESS_NONE : gram};
        }
        if (sparse > MAX_COLUMNS)
            return lg_fail(error, LG_USAGE, "the formula has more than %d columns that are not empty",
                           MAX_COLUMNS);
    }
    d->n_dense = dense + 1;
    d->n_gram = sparse;
    d->y_exponent = exponent_of(d->y_largest);
    return LG_OK;
}

lg_status lg_design_make(lg_design *d, lg_frame *frame, const lg_regress_options *o, unsigned threads,
                         const lg_monitor *monitor, lg_error *error) {
    *d = (lg_design){.frame = frame};
    lg_status status;
    if ((status = read_formula(d, o, error)) || (status = find_others(d, o, error)) ||
        (status = lg_design_group(d, error)) || (status = look(d, threads, monitor, error)) ||
        (status = number_columns(d, error)))
        return status;
    if (!d->n)
        return lg_fail(error, LG_BAD_INPUT,
                       o->where
                           ? "no row can be used: in each, --where does not hold, a value is missing or the "
                             "weight is 0"
                           : "no row can be used: in each, a value is missing or the weight is 0");
    return LG_OK;
}

void lg_design_free(lg_design *d) {
    lg_formula_free(&d->formula);
    lg_query_free(d->query);
    if (d->absorb_codes != d->cluster_codes) free(d->absorb_codes);
    free(d->cluster_codes);
    free(d->order);
    free(d->chunks);
    lg_arena_free(&d->arena);
    *d = (lg_design){0};
}
