/* Formulas, by recursive descent over lists of terms. */
#include "stats/regress_formula.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { MAX_TERMS = 20000, MAX_DEPTH = 50, MAX_POWER = 99 };

typedef struct list {
    lg_formula_term *terms;
    size_t n, room;
} list;

typedef struct parser {
    const char *text, *at;
    lg_arena *arena;
    lg_formula *formula;
    unsigned depth;
    lg_error *error;
} parser;

static lg_status complain(const parser *p, const char *what) {
    if (!*p->at) return lg_fail(p->error, LG_USAGE, "formula '%.300s': %s at its end", p->text, what);
    return lg_fail(p->error, LG_USAGE, "formula '%.300s': %s at '%.40s'", p->text, what, p->at);
}

static void skip_space(parser *p) {
    while (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r') p->at++;
}

static bool take(parser *p, char c) {
    skip_space(p);
    if (*p->at != c) return false;
    p->at++;
    return true;
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 0x80;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* ---- lists of terms ---- */

static bool has_atom(const lg_formula_term *t, size_t atom) {
    for (size_t i = 0; i < t->n; i++)
        if (t->atoms[i] == atom) return true;
    return false;
}

static bool same_term(const lg_formula_term *a, const lg_formula_term *b) {
    if (a->n != b->n) return false;
    for (size_t i = 0; i < a->n; i++)
        if (!has_atom(b, a->atoms[i])) return false;
    return true;
}

static lg_status add_term(parser *p, list *l, const lg_formula_term *t) {
    for (size_t i = 0; i < l->n; i++)
        if (same_term(&l->terms[i], t)) return LG_OK;
    if (l->n >= MAX_TERMS)
        return lg_fail(p->error, LG_USAGE, "the formula has more than %d terms", MAX_TERMS);
    if (!lg_reserve(&l->terms, &l->room, l->n + 1, sizeof *l->terms)) return lg_fail_memory(p->error);
    l->terms[l->n++] = *t;
    return LG_OK;
}

static lg_status add_all(parser *p, list *to, const list *from) {
    lg_status status = LG_OK;
    for (size_t i = 0; i < from->n && !status; i++) status = add_term(p, to, &from->terms[i]);
    return status;
}

/* Adds every product of a term of A and one of B. */
static lg_status add_products(parser *p, list *to, const list *a, const list *b) {
    lg_status status = LG_OK;
    for (size_t i = 0; i < a->n; i++)
        for (size_t j = 0; j < b->n && !status; j++) {
            lg_formula_term t = a->terms[i];
            for (size_t k = 0; k < b->terms[j].n; k++) {
                if (has_atom(&t, b->terms[j].atoms[k])) continue;
                if (t.n == LG_FORMULA_DEGREE)
                    return lg_fail(p->error, LG_USAGE, "the formula has a product of more than %d columns",
                                   LG_FORMULA_DEGREE);
                t.atoms[t.n++] = b->terms[j].atoms[k];
            }
            status = add_term(p, to, &t);
        }
    return status;
}

/* ---- the grammar ---- */

/* A name, perhaps `in backquotes`, or a call f(…) up to its closing parenthesis. */
static lg_status read_name(parser *p, const char **text, bool *call) {
    skip_space(p);
    const char *begin = p->at;
    *call = false;
    if (*p->at == '`') {
        const char *end = strchr(p->at + 1, '`');
        if (!end || end == p->at + 1) return complain(p, "an unfinished name in backquotes");
        *text = lg_arena_copy(p->arena, begin + 1, (size_t)(end - begin) - 1);
        p->at = end + 1;
        return *text ? LG_OK : lg_fail_memory(p->error);
    }
    if (!is_letter(*p->at)) return complain(p, "a column is missing");
    while (is_letter(*p->at) || is_digit(*p->at) || *p->at == '.') p->at++;
    if (*p->at == '(') {
        const char *open = p->at;
        size_t depth = 0;
        char quote = 0;
        for (;; p->at++) {
            if (!*p->at) {
                p->at = open;
                return complain(p, "a parenthesis that is never closed");
            }
            if (quote) quote = *p->at == quote ? 0 : quote;
            else if (*p->at == '"' || *p->at == '\'' || *p->at == '`') quote = *p->at;
            else if (*p->at == '(') depth++;
            else if (*p->at == ')' && !--depth) break;
        }
        p->at++;
        *call = true;
    }
    *text = lg_arena_copy(p->arena, begin, (size_t)(p->at - begin));
    return *text ? LG_OK : lg_fail_memory(p->error);
}

static lg_status read_power(parser *p, unsigned *power) {
    *power = 1;
    if (!take(p, '^')) return LG_OK;
    skip_space(p);
    const char *begin = p->at;
    unsigned value = 0;
    while (is_digit(*p->at) && value <= MAX_POWER) value = value * 10 + (unsigned)(*p->at++ - '0');
    if (!value || value > MAX_POWER || is_letter(*p->at) || *p->at == '.') {
        p->at = begin;
        return complain(p, "a power must be a whole number from 1 to 99");
    }
    *power = value;
    return LG_OK;
}

/* The inside of factor(NAME); NULL: TEXT is another call. */
static const char *factor_of(parser *p, const char *text, lg_status *status) {
    if (strncmp(text, "factor(", 7) != 0) return NULL;
    parser inner = *p;
    const char *name;
    bool call;
    inner.at = text + 7;
    *status = read_name(&inner, &name, &call);
    if (!*status && (call || !take(&inner, ')') || *inner.at)) {
        inner.at = text;
        *status = complain(&inner, "factor() takes the name of one column");
    }
    return *status ? text : name;
}

static lg_status find_atom(parser *p, const lg_formula_atom *atom, size_t *index) {
    lg_formula *f = p->formula;
    for (*index = 0; *index < f->n_atoms; ++*index) {
        const lg_formula_atom *a = &f->atoms[*index];
        if (a->power == atom->power && a->expression == atom->expression && a->category == atom->category &&
            strcmp(a->text, atom->text) == 0)
            return LG_OK;
    }
    if (!lg_reserve(&f->atoms, &f->atoms_room, f->n_atoms + 1, sizeof *f->atoms))
        return lg_fail_memory(p->error);
    f->atoms[f->n_atoms++] = *atom;
    return LG_OK;
}

static lg_status read_sum(parser *p, list *sum);

static lg_status read_primary(parser *p, list *l) {
    lg_status status;
    if (take(p, '(')) {
        if (p->depth == MAX_DEPTH) return complain(p, "too many parentheses");
        p->depth++;
        status = read_sum(p, l);
        p->depth--;
        if (!status && !take(p, ')')) status = complain(p, "a ')' is missing");
        skip_space(p);
        if (!status && *p->at == '^') status = complain(p, "no power of a sum (write a*b)");
        return status;
    }
    lg_formula_atom atom = {0};
    lg_formula_term term = {.n = 1};
    status = read_name(p, &atom.text, &atom.expression);
    if (status) return status;
    const char *name = atom.expression ? factor_of(p, atom.text, &status) : NULL;
    if (status) return status;
    if (name) atom = (lg_formula_atom){.text = name, .category = true};
    if ((status = read_power(p, &atom.power)) || (status = find_atom(p, &atom, &term.atoms[0])))
        return status;
    return add_term(p, l, &term);
}

static lg_status read_interaction(parser *p, list *l) {
    lg_status status = read_primary(p, l);
    while (!status && take(p, ':')) {
        list right = {0}, product = {0};
        status = read_primary(p, &right);
        if (!status) status = add_products(p, &product, l, &right);
        free(right.terms);
        free(l->terms);
        *l = product;
    }
    return status;
}

static lg_status read_product(parser *p, list *l) {
    lg_status status = read_interaction(p, l);
    while (!status && take(p, '*')) {
        list right = {0}, product = {0};
        status = read_interaction(p, &right);
        if (!status) status = add_products(p, &product, l, &right);
        if (!status) status = add_all(p, l, &right);
        if (!status) status = add_all(p, l, &product);
        free(right.terms);
        free(product.terms);
    }
    return status;
}

/* 0 and 1 (the intercept), or a product. */
static lg_status read_summand(parser *p, list *sum, bool minus) {
    skip_space(p);
    if ((*p->at == '0' || *p->at == '1') && !is_digit(p->at[1]) && p->at[1] != '.') {
        if (p->depth) return complain(p, "no intercept inside parentheses");
        p->formula->intercept = (*p->at++ == '1') != minus;
        return LG_OK;
    }
    if (minus) return complain(p, "only the intercept can be taken away (- 1)");
    list product = {0};
    lg_status status = read_product(p, &product);
    if (!status) status = add_all(p, sum, &product);
    free(product.terms);
    return status;
}

static lg_status read_sum(parser *p, list *sum) {
    bool minus = take(p, '-');
    lg_status status = read_summand(p, sum, minus);
    while (!status) {
        skip_space(p);
        if (*p->at != '+' && *p->at != '-') break;
        minus = *p->at++ == '-';
        status = read_summand(p, sum, minus);
    }
    return status;
}

lg_status lg_formula_parse(const char *text, lg_arena *arena, lg_formula *formula, lg_error *error) {
    *formula = (lg_formula){.intercept = true};
    parser p = {.text = text, .at = text, .arena = arena, .formula = formula, .error = error};
    list sum = {0};
    lg_status status = read_name(&p, &formula->outcome, &formula->outcome_is_expression);
    if (!status && !take(&p, '~')) status = complain(&p, "a '~' is missing behind the outcome");
    if (!status) status = read_sum(&p, &sum);
    skip_space(&p);
    if (!status && *p.at) status = complain(&p, "something unexpected (+, :, * or the end are possible)");
    /* By degree, as R orders them; a stable sort. */
    formula->terms = status ? NULL : lg_alloc(sum.n + 1, sizeof *formula->terms);
    if (!status && !formula->terms) status = lg_fail_memory(error);
    for (size_t degree = 1; degree <= LG_FORMULA_DEGREE && !status; degree++)
        for (size_t i = 0; i < sum.n; i++)
            if (sum.terms[i].n == degree) formula->terms[formula->n_terms++] = sum.terms[i];
    free(sum.terms);
    if (status) lg_formula_free(formula);
    return status;
}

void lg_formula_free(lg_formula *formula) {
    free(formula->atoms);
    free(formula->terms);
    formula->atoms = NULL;
    formula->terms = NULL;
    formula->n_atoms = formula->n_terms = 0;
}
