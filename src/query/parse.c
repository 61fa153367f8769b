/* The grammar (docs/guide/query.md), by recursive descent:

     or         = and {"or" and}
     and        = not {"and" not}
     not        = "not" not | comparison
     comparison = sum [sign sum | ["not"] "in" "(" list ")" | "~" pattern | "!~" pattern]
     sum        = product {("+" | "-") product}
     product    = signed {("*" | "/") signed}
     signed     = "-" signed | "+" signed | power
     power      = primary ["^" signed]
     primary    = number | string | column | function "(" or {"," or} ")" | "(" or ")"

   Right of a category or a text, a bare word is a level or a text before it is a column. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "query/compiler.h"

static bool parse_or(lg_compiler *c, lg_operand *x);
static bool parse_sum(lg_compiler *c, lg_operand *x);
static bool parse_signed(lg_compiler *c, lg_operand *x);

static bool enter(lg_compiler *c) {
    if (c->depth++ < LG_QUERY_MAX_DEPTH) return true;
    return lg_complain(c, c->at, "nested more than %d deep", LG_QUERY_MAX_DEPTH);
}

/* ---- columns ---- */

typedef struct name_list {
    const lg_compiler *compiler;
    const char *column; /* whose arguments; NULL: names of items, then of columns */
} name_list;

static const char *const functions[] = {"log",  "exp", "sqrt", "abs",    "floor",
                                        "ceil", "min", "max",  "missing"};
enum { N_FUNCTIONS = sizeof functions / sizeof *functions };

static const char *listed_name(const void *context, size_t i) {
    const name_list *list = context;
    const lg_compiler *c = list->compiler;
    const lg_query_source *source = c->source;
    if (list->column) return source->argument(source->context, list->column, i);
    for (size_t k = 0; k < c->item; k++)
        if (c->items[k].name && i-- == 0) return c->items[k].name;
    return source->name(source->context, i);
}

/* What takes something in parentheses. */
static const char *listed_function(const void *context, size_t i) {
    const lg_compiler *c = context;
    const lg_query_source *source = c->source;
    const char *name;
    if (i < N_FUNCTIONS) return functions[i];
    i -= N_FUNCTIONS;
    for (size_t k = 0; (name = source->name(source->context, k)); k++)
        if (source->argument(source->context, name, 0) && i-- == 0) return name;
    return NULL;
}

static const char *listed_level(const void *context, size_t i) {
    const lg_query_column *column = context;
    return i < column->n_levels ? column->levels[i] : NULL;
}

static bool refer(lg_compiler *c, bool column, uint32_t to) {
    if (!lg_reserve(&c->references, &c->references_room, c->n_references + 1, sizeof *c->references))
        return lg_complain_memory(c);
    c->references[c->n_references++] = (lg_reference){(uint32_t)c->item, to, column};
    return true;
}

static bool complain_unknown(lg_compiler *c, const char *at, const lg_string *name,
                             const lg_string *argument) {
    char near[512] = "";
    const lg_query_source *source = c->source;
    name_list list = {c, NULL};
    const char *first = source->argument(source->context, name->data, 0);
    if (!argument && first)
        return lg_complain(c, at, "%s of what? As in %s(%s)", name->data, name->data, first);
    if (argument && first) {
        list.column = name->data;
        lg_query_suggest(argument->data, argument->length, listed_name, &list, near, sizeof near);
        return lg_complain(c, at, "there is no %s(%s)%s", name->data, argument->data, near);
    }
    if (argument) {
        lg_query_suggest(name->data, name->length, listed_function, c, near, sizeof near);
        return lg_complain(c, at, "there is no function or column %s(…)%s", name->data, near);
    }
    if (c->last_category) { /* family = noun or verb */
        const lg_used_column *used = &c->query->columns[c->last_category - 1];
        for (size_t i = 0; i < used->column.n_levels; i++)
            if (strcmp(used->column.levels[i], name->data) == 0)
                return lg_complain(c, at,
                                   "%s is a level of %s, and no column: write %s = %s, or %s in (…, %s)",
                                   name->data, used->name, used->name, name->data, used->name, name->data);
    }
    lg_query_suggest(name->data, name->length, listed_name, &list, near, sizeof near);
    return lg_complain(c, at, "there is no column '%s'%s%s%s", name->data, near, source->more ? " " : "",
                       source->more ? source->more : "");
}

/* Fills X with column NAME or NAME(ARGUMENT); *FOUND false: there is none, and nothing was said. */
static bool find_column(lg_compiler *c, const lg_string *name, const lg_string *argument, lg_operand *x,
                        bool *found) {
    lg_query *q = c->query;
    *found = true;
    for (size_t i = c->item; i-- > 0 && !argument;) {
        if (!c->items[i].name || strcmp(c->items[i].name, name->data) != 0) continue;
        const char *at = x->at;
        *x = c->results[i];
        x->at = at;
        return refer(c, false, (uint32_t)i);
    }
    for (size_t i = 0; i < q->n_columns; i++) {
        const lg_used_column *u = &q->columns[i];
        if (strcmp(u->column_name, name->data) != 0 || !u->argument != !argument) continue;
        if (argument && strcmp(u->argument, argument->data) != 0) continue;
        *x = (lg_operand){u->column.type, LG_COLUMN, .index = (uint32_t)i, .at = x->at};
        return refer(c, true, x->index);
    }
    lg_used_column used = {.name = name->data, .column_name = name->data};
    if (argument) { /* both lie in the query's arena already; so does what they are called together */
        c->scratch.length = 0;
        lg_text_printf(&c->scratch, "%s(%s)", name->data, argument->data);
        used.argument = argument->data;
        used.name = c->scratch.failed ? NULL : lg_arena_copy(&q->arena, c->scratch.data, c->scratch.length);
    }
    if (!used.name || !lg_reserve(&q->columns, &q->columns_room, q->n_columns + 1, sizeof *q->columns))
        return lg_complain_memory(c);
    const lg_query_source *source = c->source;
    lg_status status = source->find(source->context, name->data, argument ? argument->data : NULL,
                                    &used.column, found, c->error);
    if (status) return lg_complain_status(c, status);
    if (!*found) return true;
    *x = (lg_operand){used.column.type, LG_COLUMN, .index = (uint32_t)q->n_columns, .at = x->at};
    q->columns[q->n_columns++] = used;
    return refer(c, true, x->index);
}

static bool parse_column(lg_compiler *c, const lg_string *name, lg_operand *x) {
    lg_string argument = {0};
    const char *at = c->at;
    bool call = lg_take_sign(c, "("), found;
    if (!call) c->at = at;
    if (call && (!lg_scan_word(c, "a name", &argument) || !lg_expect(c, ')', "after the name"))) return false;
    bool cut = call && memchr(argument.data, 0, argument.length); /* no name has a byte 0 */
    found = false;
    if (!cut && !find_column(c, name, call ? &argument : NULL, x, &found)) return false;
    if (!found) return complain_unknown(c, x->at, name, call ? &argument : NULL);
    if (x->type == LG_QUERY_CATEGORY && x->place == LG_COLUMN) c->last_category = x->index + 1;
    return true;
}

/* ---- functions ---- */

/* After the parenthesis: the function's arguments. */
static bool parse_function(lg_compiler *c, size_t function, lg_operand *x) {
    static const lg_math unary[] = {LG_LOG, LG_EXP, LG_SQRT, LG_ABS, LG_FLOOR, LG_CEIL};
    const char *name = functions[function];
    lg_math math = strcmp(name, "min") == 0 ? LG_MIN : LG_MAX;
    const char *begin = x->at;
    bool many = math == LG_MIN || strcmp(name, "max") == 0, missing = strcmp(name, "missing") == 0;
    x->at = c->at;
    if (!parse_or(c, x)) return false;
    if (!missing && !lg_want_number(c, x, name)) return false;
    if (missing && !lg_emit_missing(c, x)) return false;
    if (function < sizeof unary / sizeof *unary && !lg_emit_unary(c, unary[function], x)) return false;
    while (lg_take_sign(c, ",")) {
        lg_operand y = {.at = c->at};
        if (!many) return lg_complain(c, c->at - 1, "%s takes one value", name);
        if (!parse_or(c, &y) || !lg_want_number(c, &y, name) || !lg_emit_binary(c, math, x, &y)) return false;
    }
    x->at = begin;
    return lg_expect(c, ')', "after what the function takes");
}

/* ---- primaries ---- */

static bool parse_name(lg_compiler *c, lg_operand *x) {
    lg_string name = {0};
    if (*c->at == '`') return lg_scan_backquoted(c, &name) && parse_column(c, &name, x);
    static const char *const words[] = {"and", "or", "not", "in"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (lg_sees_word(c, words[i]))
            return lg_complain(c, c->at, "expected a column, a number or a condition, found '%s'", words[i]);
    size_t n = lg_name_length(c->at);
    for (size_t i = 0; i < N_FUNCTIONS; i++) {
        if (!lg_sees_word(c, functions[i])) continue;
        const char *begin = c->at;
        c->at += n;
        if (lg_take_sign(c, "(")) return parse_function(c, i, x);
        c->at = begin;
    }
    name = (lg_string){lg_arena_copy(&c->query->arena, c->at, n), n};
    if (!name.data) return lg_complain_memory(c);
    c->at += n;
    return parse_column(c, &name, x);
}

static bool parse_primary(lg_compiler *c, lg_operand *x) {
    char found[48];
    lg_skip_space(c);
    *x = (lg_operand){.at = c->at};
    if ((*c->at >= '0' && *c->at <= '9') || (*c->at == '.' && c->at[1] != '.'))
        return lg_scan_number(c, &x->number);
    if (*c->at == '"' || *c->at == '\'') {
        x->type = LG_QUERY_TEXT;
        return lg_scan_quoted(c, &x->string);
    }
    if (*c->at == '`' || lg_name_length(c->at)) return parse_name(c, x);
    if (*c->at != '(') {
        const char *hint = *c->at == '!'   ? ": write `not`"
                           : *c->at == '/' ? ": a pattern stands after ~"
                                           : "";
        return lg_complain(c, c->at, "expected a column, a number or a condition, found %s%s",
                           lg_found(c->at, found), hint);
    }
    const char *begin = c->at++;
    if (!parse_or(c, x)) return false;
    lg_skip_space(c);
    if (!*c->at) return lg_complain(c, begin, "this parenthesis is not closed");
    x->at = begin;
    return lg_expect(c, ')', "or an operator");
}

static bool parse_power(lg_compiler *c, lg_operand *x) {
    lg_operand y;
    if (!parse_primary(c, x)) return false;
    if (!lg_take_sign(c, "^")) return true;
    if (!lg_want_number(c, x, "^") || !enter(c) || !parse_signed(c, &y)) return false;
    c->depth--;
    return lg_want_number(c, &y, "^") && lg_emit_binary(c, LG_POWER, x, &y);
}

static bool parse_signed(lg_compiler *c, lg_operand *x) {
    lg_skip_space(c);
    if (*c->at != '-' && *c->at != '+') return parse_power(c, x);
    const char *at = c->at++;
    bool negative = *at == '-';
    if (!enter(c) || !parse_signed(c, x) || !lg_want_number(c, x, negative ? "-" : "+")) return false;
    c->depth--;
    if (negative && !lg_emit_unary(c, LG_NEGATE, x)) return false;
    x->at = at;
    return true;
}

static bool parse_product(lg_compiler *c, lg_operand *x) {
    if (!parse_signed(c, x)) return false;
    for (;;) {
        lg_operand y;
        bool times = lg_take_sign(c, "*");
        if (!times && !lg_take_sign(c, "/")) return true;
        const char *sign = times ? "*" : "/";
        if (*c->at == '*') return lg_complain(c, c->at - 1, "a power is written ^");
        if (!lg_want_number(c, x, sign) || !parse_signed(c, &y) || !lg_want_number(c, &y, sign) ||
            !lg_emit_binary(c, times ? LG_MULTIPLY : LG_DIVIDE, x, &y))
            return false;
    }
}

static bool parse_sum(lg_compiler *c, lg_operand *x) {
    if (!parse_product(c, x)) return false;
    for (;;) {
        lg_operand y;
        bool plus = lg_take_sign(c, "+");
        if (!plus && !lg_take_sign(c, "-")) return true;
        const char *sign = plus ? "+" : "-";
        if (!lg_want_number(c, x, sign) || !parse_product(c, &y) || !lg_want_number(c, &y, sign) ||
            !lg_emit_binary(c, plus ? LG_ADD : LG_SUBTRACT, x, &y))
            return false;
    }
}

/* ---- comparisons ---- */

/* The sign of a comparison, taken if there. */
static bool take_compare(lg_compiler *c, lg_compare *compare) {
    static const struct {
        const char *sign;
        lg_compare compare;
    } signs[] = {{"==", LG_EQUAL},      {"=", LG_EQUAL},          {"!=", LG_UNEQUAL}, {"<>", LG_UNEQUAL},
                 {"<=", LG_LESS_EQUAL}, {">=", LG_GREATER_EQUAL}, {"<", LG_LESS},     {">", LG_GREATER}};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (lg_take_sign(c, signs[i].sign)) {
            *compare = signs[i].compare;
            return true;
        }
    return false;
}

/* The level of the column that NAME is; n_levels: none. */
static size_t find_level(const lg_query_column *column, const lg_string *name) {
    size_t i = 0;
    if (memchr(name->data, 0, name->length)) return column->n_levels; /* names of levels end there */
    while (i < column->n_levels && strcmp(column->levels[i], name->data) != 0) i++;
    return i;
}

static bool complain_level(lg_compiler *c, const char *at, const lg_operand *x, const lg_string *name) {
    char near[512] = "";
    lg_query_suggest(name->data, name->length, listed_level, lg_column_of(c, x), near, sizeof near);
    return lg_complain(c, at, "no level '%s' of %s%s", name->data, lg_column_name(c, x), near);
}

/* Right of category X: a level, or another category. */
static bool compare_category(lg_compiler *c, lg_operand *x, bool negate) {
    const lg_query_column *column = lg_column_of(c, x);
    lg_string name;
    lg_operand y = {0};
    lg_skip_space(c);
    const char *at = y.at = c->at;
    bool found, quoted = *at == '"' || *at == '\'';
    if (*at == '(' || *at == '`') {
        if (!parse_primary(c, &y)) return false;
    } else {
        if (!lg_scan_word(c, "a level", &name)) return false;
        size_t level = find_level(column, &name);
        if (level < column->n_levels) {
            uint8_t *truth = calloc(column->n_levels, 1);
            if (!truth) return lg_complain_memory(c);
            truth[level] = 1;
            bool fine = lg_emit_levels(c, x, truth, negate);
            free(truth);
            return fine;
        }
        if (quoted || lg_name_length(name.data) != name.length) return complain_level(c, at, x, &name);
        if (!find_column(c, &name, NULL, &y, &found)) return false;
        if (!found || y.type != LG_QUERY_CATEGORY) return complain_level(c, at, x, &name);
    }
    if (y.type == LG_QUERY_CATEGORY) return lg_emit_same_category(c, x, &y, negate);
    if (y.type == LG_QUERY_TEXT && y.place == LG_CONSTANT) return complain_level(c, at, x, &y.string);
    return lg_complain(c, at, "%s is a category: it can be compared with its levels and with categories",
                       lg_column_name(c, x));
}

/* Right of text X: a word, or another text. */
static bool compare_text(lg_compiler *c, lg_operand *x, bool negate) {
    lg_operand y = {.type = LG_QUERY_TEXT};
    lg_skip_space(c);
    y.at = c->at;
    if (*c->at == '(' || *c->at == '`') {
        if (!parse_primary(c, &y)) return false;
    } else if (!lg_scan_word(c, "a word", &y.string)) {
        return false;
    }
    if (y.type != LG_QUERY_TEXT)
        return lg_complain(c, y.at, "%s is text: it can be compared with texts only", lg_column_name(c, x));
    if (y.place == LG_CONSTANT) return lg_emit_texts(c, x, &y.string, 1, negate);
    return lg_emit_same_text(c, x, &y, negate);
}

/* A quoted string left of the sign: the sides are turned. */
static bool compare_string(lg_compiler *c, lg_operand *x, bool negate) {
    lg_string name = x->string;
    const char *at = x->at;
    if (!parse_primary(c, x)) return false;
    if (x->type == LG_QUERY_TEXT && x->place == LG_CONSTANT) {
        bool same = lg_string_order(name, x->string) == 0;
        *x = (lg_operand){LG_QUERY_BOOLEAN, .number = same != negate ? LG_QUERY_TRUE : LG_QUERY_FALSE,
                          .at = at};
        return true;
    }
    if (x->type == LG_QUERY_TEXT) return lg_emit_texts(c, x, &name, 1, negate);
    if (x->type != LG_QUERY_CATEGORY)
        return lg_complain(c, at, "text can be compared with texts and categories only; %s is neither",
                           lg_column_name(c, x));
    const lg_query_column *column = lg_column_of(c, x);
    size_t level = find_level(column, &name);
    if (level == column->n_levels) return complain_level(c, at, x, &name);
    uint8_t *truth = calloc(column->n_levels, 1);
    if (!truth) return lg_complain_memory(c);
    truth[level] = 1;
    bool fine = lg_emit_levels(c, x, truth, negate);
    free(truth);
    return fine;
}

static bool parse_compare(lg_compiler *c, lg_operand *x, lg_compare compare, const char *sign_at) {
    bool equality = compare == LG_EQUAL || compare == LG_UNEQUAL, negate = compare == LG_UNEQUAL;
    if (x->type == LG_QUERY_CATEGORY || x->type == LG_QUERY_TEXT) {
        if (!equality)
            return lg_complain(c, sign_at, "%s is %s, which has no order: use =, !=, in or ~",
                               x->place == LG_CONSTANT ? "this" : lg_column_name(c, x),
                               x->type == LG_QUERY_TEXT ? "text" : "a category");
        if (x->place == LG_CONSTANT) return compare_string(c, x, negate);
        return x->type == LG_QUERY_TEXT ? compare_text(c, x, negate) : compare_category(c, x, negate);
    }
    lg_operand y;
    if (!lg_want_number(c, x, "a comparison") || !parse_sum(c, &y)) return false;
    if (y.type == LG_QUERY_TEXT && y.place == LG_CONSTANT)
        return lg_complain(c, y.at, "%s is a number: it cannot be compared with text", lg_column_name(c, x));
    if (y.type == LG_QUERY_CATEGORY)
        return lg_complain(c, y.at,
                           "%s is a category: it can be compared with its levels, which stand on the right",
                           lg_column_name(c, &y));
    return lg_want_number(c, &y, "a comparison") && lg_emit_compare(c, x, &y, compare);
}

/* ---- in ---- */

/* A constant, or nothing before `..`, `,` and `)`. */
static bool parse_bound(lg_compiler *c, double none, double *value) {
    lg_operand y;
    lg_skip_space(c);
    if ((*c->at == '.' && c->at[1] == '.') || *c->at == ',' || *c->at == ')') {
        *value = none;
        return true;
    }
    if (!parse_sum(c, &y) || !lg_want_number(c, &y, "this list")) return false;
    *value = y.number;
    return y.place == LG_CONSTANT || lg_complain(c, y.at, "this list takes constants only");
}

static bool parse_number_list(lg_compiler *c, lg_operand *x, bool negate) {
    double *ranges = NULL, low, high;
    size_t count = 0, room = 0;
    bool fine = true;
    do {
        lg_skip_space(c);
        const char *at = c->at;
        fine = parse_bound(c, -INFINITY, &low);
        bool range = fine && lg_take_sign(c, "..");
        high = low;
        if (range) fine = parse_bound(c, INFINITY, &high);
        char found[48];
        if (fine && !range && (*at == ',' || *at == ')'))
            fine = lg_complain(c, at, "expected a number or a range, as 2..4 or 8.., found %s",
                               lg_found(at, found));
        if (fine && !(low <= high))
            fine = lg_complain(c, at, "this range holds nothing: its ends are out of order");
        if (fine && !lg_reserve(&ranges, &room, 2 * count + 2, sizeof *ranges)) fine = lg_complain_memory(c);
        if (!fine) break;
        ranges[2 * count] = low;
        ranges[2 * count++ + 1] = high;
    } while (lg_take_sign(c, ","));
    fine = fine && lg_expect(c, ')', "or ',' in the list") && lg_emit_ranges(c, x, ranges, count, negate);
    free(ranges);
    return fine;
}

static bool parse_level_list(lg_compiler *c, lg_operand *x, bool negate) {
    const lg_query_column *column = lg_column_of(c, x);
    uint8_t *truth = calloc(column->n_levels + 1, 1);
    bool fine = truth || lg_complain_memory(c);
    do {
        lg_string name;
        lg_skip_space(c);
        const char *at = c->at;
        fine = fine && lg_scan_word(c, "a level", &name);
        size_t level = fine ? find_level(column, &name) : 0;
        if (fine && level == column->n_levels) fine = complain_level(c, at, x, &name);
        if (fine) truth[level] = 1;
    } while (fine && lg_take_sign(c, ","));
    fine = fine && lg_expect(c, ')', "or ',' in the list") && lg_emit_levels(c, x, truth, negate);
    free(truth);
    return fine;
}

static bool parse_text_list(lg_compiler *c, lg_operand *x, bool negate) {
    lg_string *list = NULL;
    size_t count = 0, room = 0;
    bool fine = true;
    do {
        if (!lg_reserve(&list, &room, count + 1, sizeof *list)) fine = lg_complain_memory(c);
        fine = fine && lg_scan_word(c, "a word", &list[count]);
        count += fine;
    } while (fine && lg_take_sign(c, ","));
    fine = fine && lg_expect(c, ')', "or ',' in the list") && lg_emit_texts(c, x, list, count, negate);
    free(list);
    return fine;
}

static bool parse_in(lg_compiler *c, lg_operand *x, bool negate) {
    if (!lg_expect(c, '(', "after `in`, as in family in (noun, verb)")) return false;
    if (x->type == LG_QUERY_CATEGORY) return parse_level_list(c, x, negate);
    if (x->type == LG_QUERY_TEXT && x->place == LG_COLUMN) return parse_text_list(c, x, negate);
    if (x->type == LG_QUERY_TEXT) return lg_complain(c, x->at, "left of `in` stands a column, not a text");
    return lg_want_number(c, x, "in") && parse_number_list(c, x, negate);
}

/* ---- patterns ---- */

static bool match_levels(lg_compiler *c, lg_operand *x, const lg_query_regex *regex, bool negate) {
    const lg_query_column *column = lg_column_of(c, x);
    uint8_t *truth = calloc(column->n_levels + 1, 1);
    lg_query_matcher *matcher = lg_query_matcher_create(regex);
    bool fine = (truth && matcher) || lg_complain_memory(c);
    for (size_t i = 0; i < column->n_levels && fine; i++) {
        int found = lg_query_match(matcher, (lg_string){column->levels[i], strlen(column->levels[i])});
        if (found == -2) fine = lg_complain_memory(c);
        else if (found < 0)
            fine = lg_complain(c, x->at, "the pattern takes too many steps on '%.100s': write a simpler one",
                               column->levels[i]);
        else truth[i] = (uint8_t)found;
    }
    fine = fine && lg_emit_levels(c, x, truth, negate);
    lg_query_matcher_free(matcher);
    free(truth);
    return fine;
}

static bool parse_match(lg_compiler *c, lg_operand *x, const char *sign_at, bool negate) {
    lg_query_regex *regex;
    if ((x->type != LG_QUERY_TEXT && x->type != LG_QUERY_CATEGORY) || x->place != LG_COLUMN)
        return lg_complain(c, sign_at, "~ matches texts and the names of categories, and %s is neither",
                           lg_column_name(c, x));
    if (!lg_scan_regex(c, &regex)) return false;
    if (x->type == LG_QUERY_TEXT) return lg_emit_match(c, x, regex, negate);
    bool fine = match_levels(c, x, regex, negate);
    lg_query_regex_free(regex);
    return fine;
}

static bool parse_comparison(lg_compiler *c, lg_operand *x) {
    lg_compare compare;
    if (!parse_sum(c, x)) return false;
    lg_skip_space(c);
    const char *begin = x->at, *at = c->at;
    bool fine;
    if (take_compare(c, &compare)) {
        fine = parse_compare(c, x, compare, at);
    } else if (lg_take_sign(c, "~")) {
        fine = parse_match(c, x, at, false);
    } else if (lg_take_sign(c, "!~")) {
        fine = parse_match(c, x, at, true);
    } else if (lg_take_word(c, "in")) {
        fine = parse_in(c, x, false);
    } else if (lg_take_word(c, "not")) {
        fine = lg_take_word(c, "in") ? parse_in(c, x, true)
                                     : lg_complain(c, at, "`not` stands before a condition, or in `not in`");
    } else {
        return true;
    }
    if (!fine) return false;
    x->at = begin;
    lg_skip_space(c);
    at = c->at;
    if (take_compare(c, &compare))
        return lg_complain(c, at, "comparisons do not chain: write a < b and b < c, or (a < b) = 1");
    return true;
}

/* ---- not, and, or ---- */

static bool parse_not(lg_compiler *c, lg_operand *x) {
    lg_skip_space(c);
    const char *at = c->at;
    if (!lg_take_word(c, "not")) return parse_comparison(c, x);
    if (!enter(c) || !parse_not(c, x) || !lg_want_condition(c, x, "`not`") || !lg_emit_not(c, x))
        return false;
    c->depth--;
    x->at = at;
    return true;
}

static bool parse_junction(lg_compiler *c, lg_operand *x, bool is_or) {
    const char *what = is_or ? "`or`" : "`and`";
    lg_junction junction = {.before = c->query->n_steps};
    if (!(is_or ? parse_junction(c, x, false) : parse_not(c, x))) return false;
    while (lg_take_word(c, is_or ? "or" : "and")) {
        lg_operand y;
        if (!lg_want_condition(c, x, what) || !lg_emit_junction(c, x, is_or, &junction) ||
            !(is_or ? parse_junction(c, &y, false) : parse_not(c, &y)) || !lg_want_condition(c, &y, what) ||
            !lg_emit_join(c, &junction, x, &y))
            return false;
    }
    return true;
}

static bool parse_or(lg_compiler *c, lg_operand *x) {
    bool fine = enter(c) && parse_junction(c, x, true);
    c->depth--;
    return fine;
}

bool lg_parse(lg_compiler *c, lg_operand *result) {
    char found[48];
    c->text = c->at = c->items[c->item].text;
    c->depth = 0;
    c->last_category = 0;
    if (strlen(c->text) > LG_QUERY_MAX_LENGTH)
        return lg_complain(c, c->text, "longer than %d bytes", LG_QUERY_MAX_LENGTH);
    if (!parse_or(c, result)) return false;
    lg_skip_space(c);
    if (!*c->at) return true;
    if (*c->at == ')') return lg_complain(c, c->at, "a parenthesis is closed that was not opened");
    const char *hint = strncmp(c->at, "&&", 2) == 0   ? ": write `and`"
                       : strncmp(c->at, "||", 2) == 0 ? ": write `or`"
                       : lg_sees_word(c, "AND")       ? ": write `and`, in small letters"
                       : lg_sees_word(c, "OR")        ? ": write `or`, in small letters"
                                                      : "";
    return lg_complain(c, c->at, "expected an operator, `and`, `or` or the end, found %s%s",
                       lg_found(c->at, found), hint);
}
