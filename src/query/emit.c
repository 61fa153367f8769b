/* Putting down steps: which step an operation takes, by what its operands are. What is constant is worked out
 * here. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "query/compiler.h"

static const lg_block_kind kind_of_type[] = {
    [LG_QUERY_NUMBER] = LG_BLOCK_NUMBER,
    [LG_QUERY_BOOLEAN] = LG_BLOCK_TRUTH,
    [LG_QUERY_CATEGORY] = LG_BLOCK_LEVEL,
    [LG_QUERY_TEXT] = LG_BLOCK_TEXT,
};

static const char *const type_names[] = {"a number", "a condition", "a category", "text"};

/* ---- blocks and steps ---- */

static bool new_block(lg_compiler *c, lg_block_kind kind, uint32_t *index) {
    if (c->n_free[kind]) *index = c->free[kind][--c->n_free[kind]];
    else *index = c->query->n_blocks[kind]++;
    return true;
}

/* The operand is done with: its block may be written again. */
static bool release(lg_compiler *c, const lg_operand *x) {
    if (x->place != LG_BLOCK || x->keep) return true;
    lg_block_kind kind = kind_of_type[x->type];
    if (!lg_reserve(&c->free[kind], &c->free_room[kind], c->n_free[kind] + 1, sizeof **c->free))
        return lg_complain_memory(c);
    c->free[kind][c->n_free[kind]++] = x->index;
    return true;
}

static bool put(lg_compiler *c, lg_step step) {
    lg_query *q = c->query;
    if (!lg_reserve(&q->steps, &q->steps_room, q->n_steps + 1, sizeof *q->steps))
        return lg_complain_memory(c);
    step.item = (uint32_t)c->item;
    q->steps[q->n_steps++] = step;
    return true;
}

/* Puts down a step that writes a new block of TYPE, which becomes *X; its operands are released already. */
static bool put_result(lg_compiler *c, lg_step step, lg_query_type type, lg_operand *x) {
    *x = (lg_operand){.type = type, .place = LG_BLOCK, .at = x->at};
    if (!new_block(c, kind_of_type[type], &x->index)) return false;
    step.to = x->index;
    return put(c, step);
}

static bool set_truth(lg_operand *x, uint8_t truth) {
    *x = (lg_operand){.type = LG_QUERY_BOOLEAN, .place = LG_CONSTANT, .number = truth, .at = x->at};
    return true;
}

static bool set_number(lg_operand *x, double number) {
    *x = (lg_operand){.type = LG_QUERY_NUMBER, .place = LG_CONSTANT, .number = number, .at = x->at};
    return true;
}

static uint8_t truth_of(bool holds, bool negate) {
    return holds != negate ? LG_QUERY_TRUE : LG_QUERY_FALSE;
}

const char *lg_column_name(const lg_compiler *c, const lg_operand *x) {
    return x->place == LG_COLUMN ? c->query->columns[x->index].name : "this";
}

lg_query_column *lg_column_of(const lg_compiler *c, const lg_operand *x) {
    return &c->query->columns[x->index].column;
}

/* ---- columns into blocks ---- */

static bool is_whole(lg_dtype dtype) {
    return dtype != LG_F32 && dtype != LG_F64;
}

static bool has_values(const lg_compiler *c, const lg_operand *x) {
    return x->place == LG_COLUMN && lg_column_of(c, x)->values;
}

static lg_block_ref ref_of(const lg_operand *x) {
    return (lg_block_ref){x->index, x->place == LG_COLUMN};
}

bool lg_settle(lg_compiler *c, lg_operand *x, lg_block_ref *ref) {
    lg_step step = {.block = kind_of_type[x->type], .a = ref_of(x)};
    const lg_query_column *column = x->place == LG_COLUMN ? lg_column_of(c, x) : NULL;
    bool done = true;
    if (x->place == LG_CONSTANT) {
        step.kind = LG_STEP_FILL;
        step.low = x->number;
        done = put_result(c, step, x->type, x);
    } else if (column && !column->values) {
        step.kind = LG_STEP_READ;
        done = put_result(c, step, x->type, x);
    } else if (column && column->dtype != (x->type == LG_QUERY_NUMBER ? LG_F64 : LG_U32)) {
        step.dtype = column->dtype;
        step.kind = x->type == LG_QUERY_NUMBER ? LG_STEP_LOAD : LG_STEP_LEVEL;
        done = put_result(c, step, x->type, x);
    }
    *ref = ref_of(x);
    return done;
}

/* A condition that is a column: its values are true unless 0. */
static bool load_truth(lg_compiler *c, lg_operand *x) {
    double zero[2] = {0, 0};
    if (!has_values(c, x)) return true;
    x->type = LG_QUERY_NUMBER;
    return lg_emit_ranges(c, x, zero, 1, true);
}

static bool settle_truth(lg_compiler *c, lg_operand *x, lg_block_ref *ref) {
    return load_truth(c, x) && lg_settle(c, x, ref);
}

bool lg_want_condition(lg_compiler *c, lg_operand *x, const char *what) {
    if (x->type == LG_QUERY_BOOLEAN) return load_truth(c, x);
    const char *name = lg_column_name(c, x);
    if (x->type == LG_QUERY_CATEGORY) {
        const lg_query_column *column = lg_column_of(c, x);
        return lg_complain(c, x->at, "%s takes conditions, and %s is a category: compare it, as in %s = %s",
                           what, name, name, column->n_levels ? column->levels[0] : "…");
    }
    if (x->type == LG_QUERY_TEXT)
        return lg_complain(c, x->at,
                           "%s takes conditions, and %s is text: compare it, as in %s = \"the\" or %s ~ /^t/",
                           what, name, name, name);
    return lg_complain(c, x->at, "%s takes conditions, and %s is a number: compare it, as in %s > 0", what,
                       name, name);
}

bool lg_want_group(lg_compiler *c, lg_operand *x) {
    if (x->type == LG_QUERY_BOOLEAN) return load_truth(c, x);
    const char *name = lg_column_name(c, x);
    return lg_complain(c, x->at,
                       "groups are of conditions and categories, and %s is %s: compare it, as in %s %s", name,
                       type_names[x->type], name, x->type == LG_QUERY_TEXT ? "= \"the\"" : "> 0");
}

bool lg_want_number(lg_compiler *c, lg_operand *x, const char *what) {
    static const double value[] = {0, NAN, 1};
    if (x->type == LG_QUERY_NUMBER) return true;
    if (x->type != LG_QUERY_BOOLEAN)
        return lg_complain(c, x->at, "%s takes numbers, and %s is %s", what, lg_column_name(c, x),
                           type_names[x->type]);
    if (x->place == LG_CONSTANT) return set_number(x, value[(int)x->number]);
    lg_step step = {.kind = LG_STEP_NUMBER_OF};
    return settle_truth(c, x, &step.a) && release(c, x) && put_result(c, step, LG_QUERY_NUMBER, x);
}

/* ---- ranges ---- */

/* The values of a whole-number type that lie in [LOW, HIGH], as a first one and how many more. false: none.
 */
static bool whole_range(lg_dtype dtype, double low, double high, uint64_t *from, uint64_t *width) {
    bool is_signed = dtype == LG_I8 || dtype == LG_I16 || dtype == LG_I32 || dtype == LG_I64;
    unsigned bits = 8 * (unsigned)lg_dtype_size(dtype) - is_signed;
    double end = ldexp(1, (int)bits), least = is_signed ? -end : 0; /* the type's values: least … end - 1 */
    low = ceil(low);
    high = floor(high);
    if (!(low <= high) || low >= end || high < least) return false;
    uint64_t most = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1, first, last;
    if (is_signed) {
        first = low <= least ? (uint64_t)0 - ((uint64_t)1 << bits) : (uint64_t)(int64_t)low;
        last = high >= end ? most : (uint64_t)(int64_t)high;
    } else {
        first = low <= 0 ? 0 : (uint64_t)low;
        last = high >= end ? most : (uint64_t)high;
    }
    *from = first;
    *width = last - first;
    return true;
}

static void float_range(double *low, double *high) {
    float l = (float)*low, h = (float)*high;
    if ((double)l < *low) l = nextafterf(l, INFINITY);
    if ((double)h > *high) h = nextafterf(h, -INFINITY);
    *low = (double)l;
    *high = (double)h;
}

static bool emit_range(lg_compiler *c, lg_operand *x, double low, double high, bool negate) {
    if (x->place == LG_CONSTANT)
        return set_truth(x, isnan(x->number) ? LG_QUERY_UNKNOWN
                                             : truth_of(low <= x->number && x->number <= high, negate));
    lg_step step = {.kind = LG_STEP_RANGE,
                    .dtype = LG_F64,
                    .a = ref_of(x),
                    .yes = truth_of(true, negate),
                    .no = truth_of(false, negate),
                    .low = low,
                    .high = high};
    lg_dtype dtype = has_values(c, x) ? lg_column_of(c, x)->dtype : LG_F64;
    if (dtype == LG_F32) {
        step.dtype = LG_F32;
        float_range(&step.low, &step.high);
    } else if (is_whole(dtype)) {
        step.dtype = dtype;
        if (!whole_range(dtype, low, high, &step.from, &step.width)) return set_truth(x, step.no);
    } else if (!lg_settle(c, x, &step.a)) {
        return false;
    }
    return release(c, x) && put_result(c, step, LG_QUERY_BOOLEAN, x);
}

enum { FEW = 4 }; /* so many ranges are tested one after another: no search, no branches */

static bool emit_few_ranges(lg_compiler *c, lg_operand *x, const double *ranges, size_t n, bool negate) {
    lg_operand any = *x;
    lg_block_ref ref;
    set_truth(&any, LG_QUERY_FALSE);
    if (!has_values(c, x) && !lg_settle(c, x, &ref)) return false;
    for (size_t i = 0; i < n; i++) {
        lg_operand one = *x;
        one.keep = true; /* the next range needs it too */
        if (!emit_range(c, &one, ranges[2 * i], ranges[2 * i + 1], false)) return false;
        lg_step either = {.kind = LG_STEP_OR, .a = ref_of(&any), .b = ref_of(&one), .to = any.index};
        if (one.place == LG_CONSTANT) continue; /* holds of no value of the type */
        if (any.place == LG_CONSTANT) any = one;
        else if (!put(c, either) || !release(c, &one)) return false;
    }
    if (!release(c, x)) return false;
    *x = any;
    return !negate || lg_emit_not(c, x);
}

static int by_low(const void *a, const void *b) {
    const double *x = a, *y = b;
    return x[0] != y[0] ? (x[0] < y[0] ? -1 : 1) : x[1] < y[1] ? -1 : x[1] > y[1];
}

bool lg_emit_ranges(lg_compiler *c, lg_operand *x, double *ranges, size_t count, bool negate) {
    lg_query *q = c->query;
    qsort(ranges, count, 2 * sizeof *ranges, by_low);
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        double low = ranges[2 * i], high = ranges[2 * i + 1];
        if (!(low <= high)) continue;
        if (n && low <= ranges[2 * n - 1]) {
            if (high > ranges[2 * n - 1]) ranges[2 * n - 1] = high;
            continue;
        }
        ranges[2 * n] = low;
        ranges[2 * n++ + 1] = high;
    }
    if (!n)
        return emit_range(c, x, INFINITY, -INFINITY, negate); /* holds of nothing, and is unknown of NaN */
    if (n == 1) return emit_range(c, x, ranges[0], ranges[1], negate);
    if (x->place == LG_CONSTANT) {
        bool in = false;
        for (size_t i = 0; i < n; i++) in |= ranges[2 * i] <= x->number && x->number <= ranges[2 * i + 1];
        return set_truth(x, isnan(x->number) ? LG_QUERY_UNKNOWN : truth_of(in, negate));
    }
    if (n <= FEW) return emit_few_ranges(c, x, ranges, n, negate);
    if (!lg_reserve(&q->ranges, &q->ranges_room, q->n_ranges + 2 * n, sizeof *q->ranges))
        return lg_complain_memory(c);
    memcpy(q->ranges + q->n_ranges, ranges, 2 * n * sizeof *ranges);
    lg_step step = {.kind = LG_STEP_SET,
                    .offset = q->n_ranges,
                    .count = n,
                    .yes = truth_of(true, negate),
                    .no = truth_of(false, negate)};
    q->n_ranges += 2 * n;
    return lg_settle(c, x, &step.a) && release(c, x) && put_result(c, step, LG_QUERY_BOOLEAN, x);
}

/* ---- comparisons of numbers ---- */

static lg_compare mirror(lg_compare compare) {
    switch (compare) {
    case LG_LESS:
        return LG_GREATER;
    case LG_LESS_EQUAL:
        return LG_GREATER_EQUAL;
    case LG_GREATER:
        return LG_LESS;
    case LG_GREATER_EQUAL:
        return LG_LESS_EQUAL;
    default:
        return compare;
    }
}

/* With a constant a comparison asks whether a number lies in a closed range. */
static bool compare_with_constant(lg_compiler *c, lg_operand *x, double value, lg_compare compare) {
    if (isnan(value)) return release(c, x) && set_truth(x, LG_QUERY_UNKNOWN);
    double low = -INFINITY, high = INFINITY;
    bool empty = false;
    switch (compare) {
    case LG_EQUAL:
    case LG_UNEQUAL:
        low = high = value;
        break;
    case LG_LESS:
        high = nextafter(value, -INFINITY);
        empty = value == -INFINITY;
        break;
    case LG_LESS_EQUAL:
        high = value;
        break;
    case LG_GREATER:
        low = nextafter(value, INFINITY);
        empty = value == INFINITY;
        break;
    case LG_GREATER_EQUAL:
        low = value;
        break;
    }
    return empty ? emit_range(c, x, INFINITY, -INFINITY, false)
                 : emit_range(c, x, low, high, compare == LG_UNEQUAL);
}

bool lg_emit_compare(lg_compiler *c, lg_operand *left, const lg_operand *right, lg_compare compare) {
    if (right->place == LG_CONSTANT) return compare_with_constant(c, left, right->number, compare);
    lg_operand other = *right;
    if (left->place == LG_CONSTANT) {
        double value = left->number;
        other.at = left->at;
        *left = other;
        return compare_with_constant(c, left, value, mirror(compare));
    }
    bool turn = compare == LG_GREATER || compare == LG_GREATER_EQUAL, negate = compare == LG_UNEQUAL;
    lg_step step = {.kind = LG_STEP_COMPARE,
                    .compare = turn     ? mirror(compare)
                               : negate ? LG_EQUAL
                                        : compare,
                    .yes = truth_of(true, negate),
                    .no = truth_of(false, negate)};
    return lg_settle(c, left, turn ? &step.b : &step.a) && lg_settle(c, &other, turn ? &step.a : &step.b) &&
           release(c, left) && release(c, &other) && put_result(c, step, LG_QUERY_BOOLEAN, left);
}

/* ---- categories ---- */

/* The dtype that the levels lie in: as they are, or in a block. */
static bool settle_levels(lg_compiler *c, lg_operand *x, lg_step *step) {
    step->dtype = has_values(c, x) ? lg_column_of(c, x)->dtype : LG_U32;
    step->a = ref_of(x);
    return has_values(c, x) || lg_settle(c, x, &step->a);
}

bool lg_emit_levels(lg_compiler *c, lg_operand *x, const uint8_t *truth, bool negate) {
    lg_query *q = c->query;
    const lg_query_column *column = lg_column_of(c, x);
    size_t n = column->n_levels, held = 0, first = n, last = 0;
    for (size_t i = 0; i < n; i++) {
        if (!truth[i]) continue;
        if (!held++) first = i;
        last = i;
    }
    if ((!held || held == n) && !column->has_missing) return set_truth(x, truth_of(held, negate));
    lg_step step = {.kind = LG_STEP_RANGE,
                    .yes = truth_of(true, negate),
                    .no = truth_of(false, negate),
                    .from = first,
                    .width = last - first};
    if (!settle_levels(c, x, &step)) return false;
    if (column->has_missing || held != last - first + 1) {
        size_t room = n < 256 ? 256 : n;
        if (!lg_reserve(&q->tables, &q->tables_room, q->n_tables + room, 1)) return lg_complain_memory(c);
        uint8_t *table = q->tables + q->n_tables;
        for (size_t i = 0; i < room; i++) table[i] = i < n ? truth_of(truth[i], negate) : LG_QUERY_UNKNOWN;
        step.kind = LG_STEP_TABLE;
        step.offset = q->n_tables;
        step.count = n;
        q->n_tables += room;
    }
    return release(c, x) && put_result(c, step, LG_QUERY_BOOLEAN, x);
}

typedef struct named_level {
    const char *name;
    uint32_t index;
} named_level;

static int by_name(const void *a, const void *b) {
    const named_level *x = a, *y = b;
    int way = strcmp(x->name, y->name);
    return way ? way : (x->index > y->index) - (x->index < y->index);
}

/* Levels of two categories are the same if they have one name. */
bool lg_emit_same_category(lg_compiler *c, lg_operand *left, lg_operand *right, bool negate) {
    lg_query *q = c->query;
    const lg_query_column *a = lg_column_of(c, left), *b = lg_column_of(c, right);
    named_level *names = lg_alloc(b->n_levels, sizeof *names);
    size_t n = a->n_levels;
    if (!names || !lg_reserve(&q->maps, &q->maps_room, q->n_maps + n, sizeof *q->maps))
        return free(names), lg_complain_memory(c);
    for (size_t i = 0; i < b->n_levels; i++) names[i] = (named_level){b->levels[i], (uint32_t)i};
    qsort(names, b->n_levels, sizeof *names, by_name);
    for (size_t i = 0; i < n; i++) {
        size_t low = 0, high = b->n_levels; /* the first name not below it */
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (strcmp(names[middle].name, a->levels[i]) < 0) low = middle + 1;
            else high = middle;
        }
        bool found = low < b->n_levels && strcmp(names[low].name, a->levels[i]) == 0;
        q->maps[q->n_maps + i] = found ? names[low].index : UINT32_MAX;
    }
    free(names);
    lg_step step = {.kind = LG_STEP_SAME_LEVEL,
                    .offset = q->n_maps,
                    .count = n,
                    .width = b->n_levels,
                    .yes = truth_of(true, negate),
                    .no = truth_of(false, negate)};
    q->n_maps += n;
    return lg_settle(c, left, &step.a) && lg_settle(c, right, &step.b) && release(c, left) &&
           release(c, right) && put_result(c, step, LG_QUERY_BOOLEAN, left);
}

/* ---- texts ---- */

static int by_order(const void *a, const void *b) {
    return lg_string_order(*(const lg_string *)a, *(const lg_string *)b);
}

bool lg_emit_texts(lg_compiler *c, lg_operand *x, lg_string *list, size_t count, bool negate) {
    lg_query *q = c->query;
    if (!lg_reserve(&q->strings, &q->strings_room, q->n_strings + count, sizeof *q->strings))
        return lg_complain_memory(c);
    qsort(list, count, sizeof *list, by_order);
    memcpy(q->strings + q->n_strings, list, count * sizeof *list);
    lg_step step = {.kind = LG_STEP_TEXT_IN,
                    .offset = q->n_strings,
                    .count = count,
                    .yes = truth_of(true, negate),
                    .no = truth_of(false, negate)};
    q->n_strings += count;
    return lg_settle(c, x, &step.a) && release(c, x) && put_result(c, step, LG_QUERY_BOOLEAN, x);
}

bool lg_emit_same_text(lg_compiler *c, lg_operand *left, lg_operand *right, bool negate) {
    lg_step step = {.kind = LG_STEP_SAME_TEXT, .yes = truth_of(true, negate), .no = truth_of(false, negate)};
    return lg_settle(c, left, &step.a) && lg_settle(c, right, &step.b) && release(c, left) &&
           release(c, right) && put_result(c, step, LG_QUERY_BOOLEAN, left);
}

bool lg_emit_match(lg_compiler *c, lg_operand *x, lg_query_regex *regex, bool negate) {
    lg_query *q = c->query;
    if (!lg_reserve(&q->regexes, &q->regexes_room, q->n_regexes + 1, sizeof *q->regexes)) {
        lg_query_regex_free(regex);
        return lg_complain_memory(c);
    }
    lg_step step = {.kind = LG_STEP_MATCH,
                    .offset = q->n_regexes,
                    .yes = truth_of(true, negate),
                    .no = truth_of(false, negate)};
    q->regexes[q->n_regexes++] = regex;
    return lg_settle(c, x, &step.a) && release(c, x) && put_result(c, step, LG_QUERY_BOOLEAN, x);
}

/* ---- arithmetic ---- */

bool lg_emit_unary(lg_compiler *c, lg_math math, lg_operand *x) {
    if (x->place == LG_CONSTANT) return set_number(x, lg_query_unary(math, x->number));
    lg_step step = {.kind = LG_STEP_UNARY, .math = math};
    return lg_settle(c, x, &step.a) && release(c, x) && put_result(c, step, LG_QUERY_NUMBER, x);
}

bool lg_emit_binary(lg_compiler *c, lg_math math, lg_operand *left, lg_operand *right) {
    lg_step step = {.kind = LG_STEP_BINARY, .math = math};
    if (left->place == LG_CONSTANT && right->place == LG_CONSTANT)
        return set_number(left, lg_query_binary(math, left->number, right->number));
    if (right->place == LG_CONSTANT && math == LG_POWER && right->number == 2) {
        step.math = LG_MULTIPLY;
        return lg_settle(c, left, &step.a) && (step.b = step.a, release(c, left)) &&
               put_result(c, step, LG_QUERY_NUMBER, left);
    }
    if (right->place == LG_CONSTANT) {
        step.kind = LG_STEP_BINARY_LOW;
        step.low = right->number;
        return lg_settle(c, left, &step.a) && release(c, left) && put_result(c, step, LG_QUERY_NUMBER, left);
    }
    if (left->place == LG_CONSTANT) {
        step.kind = LG_STEP_LOW_BINARY;
        step.low = left->number;
        return lg_settle(c, right, &step.b) && release(c, right) &&
               put_result(c, step, LG_QUERY_NUMBER, left);
    }
    return lg_settle(c, left, &step.a) && lg_settle(c, right, &step.b) && release(c, left) &&
           release(c, right) && put_result(c, step, LG_QUERY_NUMBER, left);
}

bool lg_emit_missing(lg_compiler *c, lg_operand *x) {
    lg_step step = {.kind = LG_STEP_MISSING, .block = kind_of_type[x->type]};
    if (x->place == LG_CONSTANT) {
        bool truth = x->type == LG_QUERY_BOOLEAN;
        return set_truth(x, truth_of(truth ? x->number == LG_QUERY_UNKNOWN : isnan(x->number), false));
    }
    const lg_query_column *column = x->place == LG_COLUMN ? lg_column_of(c, x) : NULL;
    bool category = x->type == LG_QUERY_CATEGORY;
    bool never = category ? !column->has_missing : column && column->values && is_whole(column->dtype);
    if (never) return set_truth(x, LG_QUERY_FALSE);
    if (category) {
        step = (lg_step){.kind = LG_STEP_RANGE, .yes = LG_QUERY_TRUE, .from = column->n_levels};
        if (!settle_levels(c, x, &step)) return false;
        uint64_t most = UINT64_MAX >> (64 - 8 * lg_dtype_size(step.dtype));
        if (step.from > most) return set_truth(x, LG_QUERY_FALSE);
        step.width = most - step.from;
        return release(c, x) && put_result(c, step, LG_QUERY_BOOLEAN, x);
    }
    return (x->type == LG_QUERY_BOOLEAN ? settle_truth(c, x, &step.a) : lg_settle(c, x, &step.a)) &&
           release(c, x) && put_result(c, step, LG_QUERY_BOOLEAN, x);
}

/* ---- and, or, not ---- */

bool lg_emit_not(lg_compiler *c, lg_operand *x) {
    if (x->place == LG_CONSTANT) return set_truth(x, (uint8_t)(LG_QUERY_TRUE - (int)x->number));
    lg_step step = {.kind = LG_STEP_NOT};
    return settle_truth(c, x, &step.a) && release(c, x) && put_result(c, step, LG_QUERY_BOOLEAN, x);
}

bool lg_emit_junction(lg_compiler *c, lg_operand *left, bool is_or, lg_junction *j) {
    lg_block_ref ref;
    j->is_or = is_or;
    j->after = SIZE_MAX;
    if (left->place == LG_CONSTANT) return true;
    if (!settle_truth(c, left, &ref)) return false;
    if (left->keep) return true; /* the result will lie elsewhere, and a skip would leave it unwritten */
    j->after = c->query->n_steps + 1;
    return put(c, (lg_step){.kind = LG_STEP_SKIP, .a = ref, .yes = is_or ? LG_QUERY_TRUE : LG_QUERY_FALSE});
}

/* Whether looking first if steps FROM … can be skipped costs as much as doing them. */
static bool are_cheap(const lg_query *q, size_t from) {
    size_t cost = 0;
    for (size_t i = from; i < q->n_steps && cost <= 3; i++) {
        lg_step_kind kind = q->steps[i].kind;
        bool cheap = kind == LG_STEP_RANGE || kind == LG_STEP_TABLE || kind == LG_STEP_NOT ||
                     kind == LG_STEP_AND || kind == LG_STEP_OR || kind == LG_STEP_FILL;
        cost += cheap ? 1 : 4;
    }
    return cost <= 3;
}

bool lg_emit_join(lg_compiler *c, const lg_junction *j, lg_operand *left, lg_operand *right) {
    lg_query *q = c->query;
    const uint8_t decides = j->is_or ? LG_QUERY_TRUE : LG_QUERY_FALSE,
                  leaves = (uint8_t)(LG_QUERY_TRUE - decides);
    const lg_operand *constant = left->place == LG_CONSTANT    ? left
                                 : right->place == LG_CONSTANT ? right
                                                               : NULL;
    const lg_operand *other = constant == left ? right : left;
    if (constant && constant->number == decides) {
        q->n_steps = j->before; /* whatever the other is */
        return release(c, other) && set_truth(left, decides);
    }
    if (constant && constant->number == leaves) {
        if (other == left) q->n_steps = j->after == SIZE_MAX ? q->n_steps : j->after - 1;
        const char *at = left->at;
        *left = *other;
        left->at = at;
        return true;
    }
    lg_step step = {.kind = j->is_or ? LG_STEP_OR : LG_STEP_AND};
    if (!lg_settle(c, left, &step.a) || !settle_truth(c, right, &step.b) || !release(c, right)) return false;
    if (j->after == SIZE_MAX) return release(c, left) && put_result(c, step, LG_QUERY_BOOLEAN, left);
    step.to = left->index;
    if (!put(c, step)) return false;
    if (are_cheap(q, j->after)) {
        memmove(q->steps + j->after - 1, q->steps + j->after, (q->n_steps - j->after) * sizeof *q->steps);
        q->n_steps--;
    } else {
        q->steps[j->after - 1].count = q->n_steps - j->after;
    }
    return true;
}
