/* Random expressions, written with as few parentheses as the grammar asks for, against an interpreter that
   walks their trees row by row. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../query_table.h"
#include "base/text.h"
#include "query/query_internal.h"

enum { ROWS = 1500, EXPRESSIONS = 2500, MAX_NODES = 4000 };

static uint64_t random_state = 20260704;

static uint32_t draw(uint32_t n) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_state >> 33) % n);
}

/* ---- the table ---- */

static const char *const few[] = {"noun", "verb", "not", "in", "5", "a.b", "x+y"};
static const char *const many[] = {"verb", "zz", "noun", "q1",  "q2", "q3",
                                   "q4",   "q5", "q6",   "a.b", "q7", "q8"};
static const char *const words[] = {"the", "The", "and", "", "x1", "\xC3\xA9t\xC3\xA9", "don't"};

static uint8_t u8[ROWS], few8[ROWS], flag8[ROWS];
static int8_t i8[ROWS];
static uint16_t u16[ROWS], many16[ROWS];
static int16_t i16[ROWS];
static uint32_t u32[ROWS], many32[ROWS];
static int32_t i32[ROWS];
static uint64_t u64[ROWS];
static int64_t i64[ROWS];
static float f32[ROWS], flag32[ROWS];
static double f64[ROWS];
static lg_string text[ROWS];

#define NUMBER(NAME, DTYPE, VALUES, BLOCKS)                                                                  \
    { NAME, NULL, LG_QUERY_NUMBER, DTYPE, VALUES, NULL, 0, BLOCKS }
static const query_table_column columns[] = {
    NUMBER("u8", LG_U8, u8, QUERY_TABLE_PLAIN),
    NUMBER("i8", LG_I8, i8, QUERY_TABLE_PLAIN),
    NUMBER("u16", LG_U16, u16, QUERY_TABLE_PLAIN),
    NUMBER("i16", LG_I16, i16, QUERY_TABLE_PLAIN),
    NUMBER("u32", LG_U32, u32, QUERY_TABLE_PLAIN),
    NUMBER("i32", LG_I32, i32, QUERY_TABLE_PLAIN),
    NUMBER("u64", LG_U64, u64, QUERY_TABLE_PLAIN),
    NUMBER("i64", LG_I64, i64, QUERY_TABLE_PLAIN),
    NUMBER("f32", LG_F32, f32, QUERY_TABLE_PLAIN),
    NUMBER("f64", LG_F64, f64, QUERY_TABLE_PLAIN),
    NUMBER("block64", LG_F64, f64, QUERY_TABLE_IN_BLOCKS),
    NUMBER("block16", LG_I16, i16, QUERY_TABLE_IN_BLOCKS),
    {"flag", NULL, LG_QUERY_BOOLEAN, LG_BOOL, flag8, NULL, 0, QUERY_TABLE_PLAIN},
    {"flag32", NULL, LG_QUERY_BOOLEAN, LG_F32, flag32, NULL, 0, QUERY_TABLE_PLAIN},
    {"flag_block", NULL, LG_QUERY_BOOLEAN, LG_F32, flag32, NULL, 0, QUERY_TABLE_IN_BLOCKS},
    {"few", NULL, LG_QUERY_CATEGORY, LG_U8, few8, few, 7, QUERY_TABLE_PLAIN},
    {"many", NULL, LG_QUERY_CATEGORY, LG_U16, many16, many, 12, QUERY_TABLE_PLAIN},
    {"wide", NULL, LG_QUERY_CATEGORY, LG_U32, many32, many, 12, QUERY_TABLE_PLAIN},
    {"few_block", NULL, LG_QUERY_CATEGORY, LG_U8, few8, few, 7, QUERY_TABLE_IN_BLOCKS},
    {"text", NULL, LG_QUERY_TEXT, LG_U8, text, NULL, 0, QUERY_TABLE_IN_BLOCKS},
};
enum {
    N_NUMBERS = 12,
    FIRST_FLAG = 12,
    N_FLAGS = 3,
    FIRST_CATEGORY = 15,
    N_CATEGORIES = 4,
    TEXT_COLUMN = 19
};
static query_table table = {columns, sizeof columns / sizeof *columns, 0};

#define EXACT (UINT64_MAX << 11) /* what a double holds, so that comparing as doubles is exact too */

static int setup(void **state) {
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        u8[i] = (uint8_t)(draw(2) ? draw(4) : draw(256));
        i8[i] = (int8_t)(draw(2) ? draw(4) : draw(256));
        u16[i] = (uint16_t)(draw(2) ? draw(4) : draw(65536));
        i16[i] = (int16_t)(draw(2) ? (int)draw(7) - 3 : (int)draw(65536) - 32768);
        u32[i] = draw(2) ? draw(4) : draw(UINT32_MAX);
        i32[i] = (int32_t)(draw(2) ? draw(4) : draw(UINT32_MAX));
        u64[i] = draw(2) ? draw(4) : draw(4) ? random_state & EXACT : EXACT;
        i64[i] = (int64_t)(draw(2) ? draw(4) : draw(4) ? random_state & EXACT : (uint64_t)1 << 63);
        f32[i] = draw(8) ? (float)((int)draw(41) - 20) / 4 : draw(3) ? NAN : draw(2) ? INFINITY : -0.0f;
        f64[i] = draw(8)   ? (double)((int)draw(41) - 20) / 4
                 : draw(3) ? (double)NAN
                 : draw(2) ? -INFINITY
                           : 1e300;
        flag8[i] = (uint8_t)draw(2);
        flag32[i] = draw(5) ? (float)draw(2) : NAN;
        few8[i] = (uint8_t)draw(7);
        many16[i] = (uint16_t)draw(12);
        many32[i] = draw(12);
        const char *w = words[draw(7)];
        text[i] = draw(6) ? (lg_string){w, strlen(w)} : (lg_string){NULL, 0};
    }
    return 0;
}

/* ---- trees ---- */

typedef enum node_kind {
    CONSTANT,
    COLUMN,
    ITEM, /* the first item, where it is a number */
    UNARY,
    BINARY,
    TRUTH, /* numbers */
    COMPARE,
    IN,
    LEVELS,
    SAME_LEVEL,
    WORDS,
    FLAG,
    ITEM_FLAG, /* the first item, where it is a condition */
    MISSING,
    AND,
    OR,
    NOT
} node_kind;

typedef struct node {
    node_kind kind;
    struct node *a, *b;
    double value, low[8], high[8];
    unsigned column, other, operation, set, n;
    bool negate;
} node;

static node nodes[MAX_NODES];
static size_t n_nodes;
static node *first_item; /* NULL: none that may be named */

static node *new_node(node_kind kind) {
    assert_true(n_nodes < MAX_NODES);
    nodes[n_nodes] = (node){.kind = kind};
    return &nodes[n_nodes++];
}

static node *draw_condition(unsigned depth);

static double draw_constant(void) {
    static const double some[] = {
        0, 1, 2, 3, 0.5, 255, 256, 65535, 1e300, 4294967295., 18446744073709551616., 2.75};
    return draw(2) ? some[draw(12)] : (double)draw(20) / 4;
}

static node *draw_number(unsigned depth) {
    static const lg_math unary[] = {LG_NEGATE, LG_NEGATE, LG_ABS, LG_SQRT, LG_FLOOR, LG_CEIL, LG_LOG, LG_EXP};
    static const lg_math binary[] = {LG_ADD,      LG_SUBTRACT, LG_MULTIPLY, LG_DIVIDE, LG_POWER,
                                     LG_SUBTRACT, LG_DIVIDE,   LG_MIN,      LG_MAX};
    uint32_t way = depth ? draw(10) : draw(4);
    node *n;
    if (first_item && first_item->kind < COMPARE && draw(5) == 0) {
        n = new_node(ITEM);
        n->a = first_item;
    } else if (way == 0) {
        n = new_node(CONSTANT);
        n->value = draw_constant();
    } else if (way < 4) {
        n = new_node(COLUMN);
        n->column = draw(N_NUMBERS);
    } else if (way < 6) {
        n = new_node(UNARY);
        n->operation = unary[draw(8)];
        n->a = draw_number(depth - 1);
    } else if (way < 9) {
        n = new_node(BINARY);
        n->operation = binary[draw(9)];
        n->a = draw_number(depth - 1);
        n->b = draw_number(depth - 1);
    } else {
        n = new_node(TRUTH);
        n->a = draw_condition(depth - 1);
    }
    return n;
}

static node *draw_condition(unsigned depth) {
    node *n;
    if (first_item && first_item->kind >= COMPARE && draw(5) == 0) {
        n = new_node(ITEM_FLAG);
        n->a = first_item;
        return n;
    }
    switch (depth ? draw(12) : draw(7)) {
    case 0:
    case 1:
        n = new_node(COMPARE);
        n->operation = draw(6);
        n->a = draw_number(depth / 2);
        n->b = draw_number(depth / 2);
        return n;
    case 2:
        n = new_node(IN);
        n->a = draw_number(depth / 2);
        n->negate = draw(2);
        n->n = 1 + draw(8);
        for (unsigned i = 0; i < n->n; i++) {
            n->low[i] = draw_constant();
            n->high[i] = draw(2) ? n->low[i] : n->low[i] + draw_constant();
        }
        return n;
    case 3:
        n = new_node(LEVELS);
        n->column = FIRST_CATEGORY + draw(N_CATEGORIES);
        n->set = draw(2) ? 1u << draw((uint32_t)columns[n->column].n_levels)
                         : 1 + draw((1u << columns[n->column].n_levels) - 1);
        n->negate = draw(2);
        return n;
    case 4:
        n = new_node(draw(3) ? WORDS : SAME_LEVEL);
        n->column = FIRST_CATEGORY + draw(N_CATEGORIES);
        n->other = FIRST_CATEGORY + draw(N_CATEGORIES);
        n->set = 1 + draw((1u << 7) - 1);
        n->negate = draw(2);
        return n;
    case 5:
        n = new_node(FLAG);
        n->column = FIRST_FLAG + draw(N_FLAGS);
        return n;
    case 6:
        n = new_node(MISSING);
        n->a = draw(2) ? draw_number(depth / 2) : depth ? draw_condition(depth - 1) : draw_number(0);
        return n;
    case 7:
        n = new_node(NOT);
        n->a = draw_condition(depth - 1);
        return n;
    default:
        n = new_node(draw(2) ? AND : OR);
        n->a = draw_condition(depth - 1);
        n->b = draw_condition(depth - 1);
        return n;
    }
}

/* ---- the interpreter ---- */

static double walk_number(const node *n, size_t row);

static int truth(bool t) {
    return t ? 2 : 0;
}

static bool has_name(unsigned column, size_t row, unsigned other) {
    const query_table_column *a = &columns[column], *b = &columns[other];
    return strcmp(a->levels[(size_t)query_table_number(a, row)],
                  b->levels[(size_t)query_table_number(b, row)]) == 0;
}

static int walk_condition(const node *n, size_t row) {
    switch (n->kind) {
    case COMPARE: {
        double a = walk_number(n->a, row), b = walk_number(n->b, row);
        bool results[] = {a == b, a != b, a<b, a <= b, a> b, a >= b};
        return isnan(a) || isnan(b) ? 1 : truth(results[n->operation]);
    }
    case IN: {
        double a = walk_number(n->a, row);
        bool in = false;
        for (unsigned i = 0; i < n->n; i++) in |= n->low[i] <= a && a <= n->high[i];
        return isnan(a) ? 1 : truth(in != n->negate);
    }
    case LEVELS:
        return truth((n->set >> (unsigned)query_table_number(&columns[n->column], row) & 1) != n->negate);
    case SAME_LEVEL:
        return truth(has_name(n->column, row, n->other) != n->negate);
    case WORDS: {
        bool in = false;
        for (unsigned i = 0; i < 7; i++)
            in |= (n->set >> i & 1) && text[row].data && text[row].length == strlen(words[i]) &&
                  memcmp(text[row].data, words[i], text[row].length) == 0;
        return text[row].data ? truth(in != n->negate) : 1;
    }
    case FLAG: {
        double value = query_table_number(&columns[n->column], row);
        return isnan(value) ? 1 : truth(value != 0);
    }
    case ITEM_FLAG:
        return walk_condition(n->a, row);
    case MISSING:
        return truth(n->a->kind < COMPARE ? isnan(walk_number(n->a, row)) : walk_condition(n->a, row) == 1);
    case AND: {
        int a = walk_condition(n->a, row), b = walk_condition(n->b, row);
        return a == 0 || b == 0 ? 0 : a == 1 || b == 1 ? 1 : 2;
    }
    case OR: {
        int a = walk_condition(n->a, row), b = walk_condition(n->b, row);
        return a == 2 || b == 2 ? 2 : a == 1 || b == 1 ? 1 : 0;
    }
    default: {
        int a = walk_condition(n->a, row);
        return a == 1 ? 1 : a == 0 ? 2 : 0;
    }
    }
}

static double walk_number(const node *n, size_t row) {
    double a, b;
    switch (n->kind) {
    case CONSTANT:
        return n->value;
    case COLUMN:
        return query_table_number(&columns[n->column], row);
    case ITEM:
        return walk_number(n->a, row);
    case UNARY:
        a = walk_number(n->a, row);
        return n->operation == LG_NEGATE  ? -a
               : n->operation == LG_ABS   ? fabs(a)
               : n->operation == LG_SQRT  ? sqrt(a)
               : n->operation == LG_FLOOR ? floor(a)
               : n->operation == LG_CEIL  ? ceil(a)
               : n->operation == LG_LOG   ? lg_query_log(a)
                                          : lg_query_exp(a);
    case BINARY:
        a = walk_number(n->a, row);
        b = walk_number(n->b, row);
        if (n->operation == LG_MIN || n->operation == LG_MAX) {
            if (isnan(a) || isnan(b)) return NAN;
            return (n->operation == LG_MIN ? a < b : a > b) ? a : b;
        }
        return n->operation == LG_ADD        ? a + b
               : n->operation == LG_SUBTRACT ? a - b
               : n->operation == LG_MULTIPLY ? a * b
               : n->operation == LG_DIVIDE   ? a / b
                                             : lg_query_pow(a, b);
    default: {
        int t = walk_condition(n->a, row);
        return t == 1 ? (double)NAN : t / 2;
    }
    }
}

/* ---- writing it down ---- */

enum {
    OR_LEVEL = 1,
    AND_LEVEL,
    NOT_LEVEL,
    COMPARE_LEVEL,
    SUM_LEVEL,
    PRODUCT_LEVEL,
    SIGN_LEVEL,
    POWER_LEVEL,
    PRIMARY
};

static int level_of(const node *n) {
    switch (n->kind) {
    case UNARY:
        return n->operation == LG_NEGATE ? SIGN_LEVEL : PRIMARY;
    case BINARY:
        return n->operation == LG_ADD || n->operation == LG_SUBTRACT      ? SUM_LEVEL
               : n->operation == LG_MULTIPLY || n->operation == LG_DIVIDE ? PRODUCT_LEVEL
               : n->operation == LG_POWER                                 ? POWER_LEVEL
                                                                          : PRIMARY;
    case TRUTH:
        return level_of(n->a);
    case COMPARE:
    case IN:
    case LEVELS:
    case SAME_LEVEL:
    case WORDS:
        return COMPARE_LEVEL;
    case AND:
        return AND_LEVEL;
    case OR:
        return OR_LEVEL;
    case NOT:
        return NOT_LEVEL;
    default:
        return PRIMARY;
    }
}

static void put(lg_text *out, const char *sign) {
    static const char *const spaces[] = {"", " ", "  ", "\n"};
    lg_text_puts(out, spaces[draw(3) ? 1 : draw(4)]);
    lg_text_puts(out, sign);
    lg_text_puts(out, spaces[draw(3) ? 1 : draw(4)]);
}

static void put_name(lg_text *out, const char *name) {
    if (draw(2) || !*name || strchr(name, '\'')) lg_text_printf(out, "\"%s\"", name);
    else lg_text_puts(out, name);
}

static void write_down(lg_text *out, const node *n, int level);

static void put_number(lg_text *out, double value) {
    lg_text_printf(out, draw(2) ? "%.17g" : "%.17e", value);
}

/* The members of the set, by = where there is one. */
static void put_set(lg_text *out, const node *n, const char *name, const char *const *list, size_t count) {
    bool one = (n->set & (n->set - 1)) == 0 && draw(2), comma = false;
    lg_text_puts(out, name);
    lg_text_puts(out, one ? n->negate ? " != " : " = " : n->negate ? " not in (" : " in (");
    for (unsigned i = 0; i < count; i++) {
        if (!(n->set >> i & 1)) continue;
        if (comma) put(out, ",");
        put_name(out, list[i]);
        comma = true;
    }
    if (!one) lg_text_puts(out, ")");
}

static void write_bare(lg_text *out, const node *n) {
    static const char *const functions[] = {
        [LG_ABS] = "abs", [LG_SQRT] = "sqrt", [LG_FLOOR] = "floor", [LG_CEIL] = "ceil",
        [LG_LOG] = "log", [LG_EXP] = "exp",   [LG_MIN] = "min",     [LG_MAX] = "max"};
    static const char *const signs[] = {
        [LG_ADD] = "+", [LG_SUBTRACT] = "-", [LG_MULTIPLY] = "*", [LG_DIVIDE] = "/", [LG_POWER] = "^"};
    static const char *const compares[] = {"=", "!=", "<", "<=", ">", ">="};
    int level = level_of(n);
    const char *name = columns[n->column].name;
    switch (n->kind) {
    case CONSTANT:
        put_number(out, n->value);
        break;
    case COLUMN:
    case FLAG:
        lg_text_printf(out, draw(8) ? "%s" : "`%s`", name);
        break;
    case ITEM:
    case ITEM_FLAG:
        lg_text_puts(out, "first");
        break;
    case UNARY:
        if (n->operation == LG_NEGATE) {
            lg_text_puts(out, "-");
            write_down(out, n->a, SIGN_LEVEL);
        } else {
            lg_text_printf(out, "%s(", functions[n->operation]);
            write_down(out, n->a, OR_LEVEL);
            lg_text_puts(out, ")");
        }
        break;
    case BINARY:
        if (n->operation == LG_MIN || n->operation == LG_MAX) {
            lg_text_printf(out, "%s(", functions[n->operation]);
            write_down(out, n->a, OR_LEVEL);
            put(out, ",");
            write_down(out, n->b, OR_LEVEL);
            lg_text_puts(out, ")");
        } else {
            bool power = n->operation == LG_POWER;
            write_down(out, n->a, power ? PRIMARY : level);
            put(out, signs[n->operation]);
            write_down(out, n->b, power ? SIGN_LEVEL : level + 1);
        }
        break;
    case TRUTH:
        write_bare(out, n->a);
        break;
    case COMPARE:
        write_down(out, n->a, SUM_LEVEL);
        put(out, compares[n->operation]);
        write_down(out, n->b, SUM_LEVEL);
        break;
    case IN:
        write_down(out, n->a, SUM_LEVEL);
        lg_text_puts(out, n->negate ? " not in (" : " in (");
        for (unsigned i = 0; i < n->n; i++) {
            if (i) put(out, ",");
            put_number(out, n->low[i]);
            if (n->low[i] != n->high[i] || draw(4) == 0) {
                lg_text_puts(out, "..");
                put_number(out, n->high[i]);
            }
        }
        lg_text_puts(out, ")");
        break;
    case LEVELS:
        put_set(out, n, name, columns[n->column].levels, columns[n->column].n_levels);
        break;
    case SAME_LEVEL:
        lg_text_printf(out, n->negate ? "%s != (%s)" : "%s = `%s`", name, columns[n->other].name);
        break;
    case WORDS:
        put_set(out, n, "text", words, 7);
        break;
    case MISSING:
        lg_text_puts(out, "missing(");
        write_down(out, n->a, OR_LEVEL);
        lg_text_puts(out, ")");
        break;
    case NOT:
        lg_text_puts(out, "not ");
        write_down(out, n->a, NOT_LEVEL);
        break;
    case AND:
    case OR:
        write_down(out, n->a, level);
        lg_text_puts(out, n->kind == AND ? " and " : " or ");
        write_down(out, n->b, level + 1);
        break;
    }
}

static void write_down(lg_text *out, const node *n, int level) {
    bool parentheses = level_of(n) < level || draw(20) == 0;
    if (parentheses) lg_text_puts(out, "(");
    write_bare(out, n);
    if (parentheses) lg_text_puts(out, ")");
}

/* ---- both ---- */

static void random_expressions(void **state) {
    (void)state;
    lg_query_source source = query_table_source(&table);
    lg_text out[3] = {{0}};
    size_t seen[3] = {0};
    for (int k = 0; k < EXPRESSIONS; k++) {
        n_nodes = 0;
        node *trees[3];
        lg_query_item items[3];
        first_item = NULL;
        unsigned n_items = 1 + draw(3);
        for (unsigned i = 0; i < n_items; i++) {
            bool number = draw(2);
            trees[i] = number ? draw_number(1 + draw(5)) : draw_condition(1 + draw(5));
            out[i].length = 0;
            write_down(&out[i], trees[i], OR_LEVEL);
            lg_query_want want = number || draw(3) == 0 ? LG_QUERY_NUMERIC : LG_QUERY_CONDITION;
            bool helper = i == 0 && n_items > 1 && draw(2);
            items[i] =
                (lg_query_item){"item", i ? NULL : "first", out[i].data, helper ? LG_QUERY_HELPER : want};
            bool plain = number ? trees[0]->kind != TRUTH : helper || want == LG_QUERY_CONDITION;
            if (i == 0 && plain) first_item = trees[0];
        }
        lg_error error = {0};
        lg_query *query;
        if (lg_query_compile(items, n_items, &source, &query, &error)) fail_msg("%s", error.message);
        lg_query_session *session = lg_query_session_create(query);
        assert_non_null(session);
        size_t first = draw(ROWS), n = 1 + draw(LG_QUERY_BLOCK);
        if (n > ROWS - first) n = ROWS - first;
        for (int round = 0; round < 2; round++, first = 0, n = 200) {
            if (lg_query_run(session, first, n, &error)) fail_msg("%s", error.message);
            for (unsigned i = items[0].want == LG_QUERY_HELPER; i < n_items; i++) {
                for (size_t r = 0; r < n; r++) {
                    if (items[i].want == LG_QUERY_CONDITION) {
                        int expected = walk_condition(trees[i], first + r),
                            got = lg_query_truth(session, i)[r];
                        seen[got]++;
                        if (got != expected)
                            fail_msg("%s\nrow %zu: %d, not %d", items[i].text, first + r, got, expected);
                        continue;
                    }
                    node whole = {.kind = TRUTH, .a = trees[i]};
                    double expected = walk_number(trees[i]->kind < COMPARE ? trees[i] : &whole, first + r);
                    double got = lg_query_numbers(session, i)[r];
                    if (isnan(expected) ? !isnan(got) : memcmp(&got, &expected, 8) != 0)
                        fail_msg("%s\nrow %zu: %.17g, not %.17g", items[i].text, first + r, got, expected);
                }
            }
        }
        lg_query_session_free(session);
        lg_query_free(query);
    }
    for (int i = 0; i < 3; i++) {
        assert_true(seen[i] > 10000); /* each truth comes up */
        lg_text_free(&out[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_expressions)};
    return cmocka_run_group_tests(tests, setup, NULL);
}
