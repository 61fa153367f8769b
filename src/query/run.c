/* Running a query: its steps, each a loop over a block of rows. Truth is a byte: 0 false, 1 unknown, 2 true.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "query/query_internal.h"

static const size_t element_size[LG_N_BLOCKS] = {sizeof(double), 1, sizeof(uint32_t), sizeof(lg_string)};

struct lg_query_session {
    const lg_query *query;
    void *blocks[LG_N_BLOCKS];
    lg_query_matcher **matchers; /* one a regex */
    size_t first;                /* row of the last run */
};

lg_query_session *lg_query_session_create(const lg_query *query) {
    lg_query_session *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->query = query;
    bool failed = !(s->matchers = calloc(query->n_regexes + 1, sizeof *s->matchers));
    for (size_t k = 0; k < LG_N_BLOCKS && !failed; k++) {
        size_t n = (size_t)query->n_blocks[k] + 1;
        failed = !(s->blocks[k] = lg_alloc_aligned(n, LG_QUERY_BLOCK * element_size[k]));
    }
    for (size_t i = 0; i < query->n_regexes && !failed; i++)
        failed = !(s->matchers[i] = lg_query_matcher_create(query->regexes[i]));
    if (failed) {
        lg_query_session_free(s);
        return NULL;
    }
    return s;
}

void lg_query_session_free(lg_query_session *s) {
    if (!s) return;
    for (size_t i = 0; s->matchers && i < s->query->n_regexes; i++) lg_query_matcher_free(s->matchers[i]);
    for (size_t k = 0; k < LG_N_BLOCKS; k++) free(s->blocks[k]);
    free(s->matchers);
    free(s);
}

/* ---- where blocks lie ---- */

static inline void *block_at(const lg_query_session *s, lg_block_kind kind, uint32_t index) {
    return (char *)s->blocks[kind] + (size_t)index * LG_QUERY_BLOCK * element_size[kind];
}

static inline const void *values_at(const lg_query_session *s, lg_block_ref ref, lg_block_kind kind,
                                    lg_dtype dtype, size_t first) {
    if (!ref.column) return block_at(s, kind, ref.index);
    return (const char *)s->query->columns[ref.index].column.values + first * lg_dtype_size(dtype);
}

static inline const double *numbers_at(const lg_query_session *s, lg_block_ref ref, size_t first) {
    return values_at(s, ref, LG_BLOCK_NUMBER, LG_F64, first);
}

static inline const uint32_t *levels_at(const lg_query_session *s, lg_block_ref ref, size_t first) {
    return values_at(s, ref, LG_BLOCK_LEVEL, LG_U32, first);
}

static inline uint8_t *truth_at(const lg_query_session *s, lg_block_ref ref) {
    return block_at(s, LG_BLOCK_TRUTH, ref.index);
}

/* ---- columns ---- */

#define LOAD(TYPE)                                                                                           \
    do {                                                                                                     \
        const TYPE *restrict v = values;                                                                     \
        for (size_t i = 0; i < n; i++) to[i] = (double)v[i];                                                 \
    } while (0)

static void load(const void *values, lg_dtype dtype, size_t n, double *restrict to) {
    switch (dtype) {
    case LG_U8:
    case LG_BOOL:
        LOAD(uint8_t);
        break;
    case LG_I8:
        LOAD(int8_t);
        break;
    case LG_U16:
        LOAD(uint16_t);
        break;
    case LG_I16:
        LOAD(int16_t);
        break;
    case LG_U32:
        LOAD(uint32_t);
        break;
    case LG_I32:
        LOAD(int32_t);
        break;
    case LG_U64:
        LOAD(uint64_t);
        break;
    case LG_I64:
        LOAD(int64_t);
        break;
    case LG_F32:
        LOAD(float);
        break;
    default:
        LOAD(double);
    }
}

static void widen(const void *values, lg_dtype dtype, size_t n, uint32_t *restrict to) {
    const uint8_t *bytes = values;
    const uint16_t *words = values;
    if (dtype == LG_U8)
        for (size_t i = 0; i < n; i++) to[i] = bytes[i];
    else
        for (size_t i = 0; i < n; i++) to[i] = words[i];
}

/* ---- conditions ---- */

#define RANGE_WHOLE(TYPE)                                                                                    \
    do {                                                                                                     \
        const TYPE *restrict v = values;                                                                     \
        const TYPE from = (TYPE)step->from, width = (TYPE)step->width;                                       \
        for (size_t i = 0; i < n; i++) to[i] = (TYPE)(v[i] - from) <= width ? yes : no;                      \
    } while (0)

#define RANGE_FLOAT(TYPE)                                                                                    \
    do {                                                                                                     \
        const TYPE *restrict v = values;                                                                     \
        const TYPE low = (TYPE)step->low, high = (TYPE)step->high;                                           \
        for (size_t i = 0; i < n; i++) {                                                                     \
            uint8_t known = v[i] >= low && v[i] <= high ? yes : no;                                          \
            to[i] = v[i] != v[i] ? LG_QUERY_UNKNOWN : known;                                                 \
        }                                                                                                    \
    } while (0)

static void range(const lg_step *step, const void *values, size_t n, uint8_t *restrict to) {
    const uint8_t yes = step->yes, no = step->no;
    switch (lg_dtype_size(step->dtype)) {
    case 1:
        RANGE_WHOLE(uint8_t);
        break;
    case 2:
        RANGE_WHOLE(uint16_t);
        break;
    case 4:
        if (step->dtype == LG_F32) RANGE_FLOAT(float);
        else RANGE_WHOLE(uint32_t);
        break;
    default:
        if (step->dtype == LG_F64) RANGE_FLOAT(double);
        else RANGE_WHOLE(uint64_t);
    }
}

/* A level beyond the table is none. */
static void table(const lg_step *step, const uint8_t *restrict truth, const void *values, size_t n,
                  uint8_t *restrict to) {
    const size_t count = step->count;
    const uint8_t *bytes = values;
    const uint16_t *words = values;
    const uint32_t *longs = values;
    if (step->dtype == LG_U8)
        for (size_t i = 0; i < n; i++) to[i] = truth[bytes[i]];
    else if (step->dtype == LG_U16)
        for (size_t i = 0; i < n; i++) to[i] = words[i] < count ? truth[words[i]] : LG_QUERY_UNKNOWN;
    else
        for (size_t i = 0; i < n; i++) to[i] = longs[i] < count ? truth[longs[i]] : LG_QUERY_UNKNOWN;
}

/* RANGES [2 count]: pairs that rise. The last whose low end is not above x is the one that may hold it. */
static void set(const lg_step *step, const double *ranges, const double *restrict a, size_t n,
                uint8_t *restrict to) {
    for (size_t i = 0; i < n; i++) {
        size_t low = 0, left = step->count;
        while (left > 1) {
            size_t half = left / 2;
            low = ranges[2 * (low + half)] <= a[i] ? low + half : low;
            left -= half;
        }
        uint8_t known = ranges[2 * low] <= a[i] && a[i] <= ranges[2 * low + 1] ? step->yes : step->no;
        to[i] = a[i] != a[i] ? LG_QUERY_UNKNOWN : known;
    }
}

#define COMPARE(OPERATOR)                                                                                    \
    for (size_t i = 0; i < n; i++) {                                                                         \
        uint8_t known = a[i] OPERATOR b[i] ? yes : no;                                                       \
        to[i] = isunordered(a[i], b[i]) ? LG_QUERY_UNKNOWN : known;                                          \
    }

static void compare(const lg_step *step, const double *restrict a, const double *restrict b, size_t n,
                    uint8_t *restrict to) {
    const uint8_t yes = step->yes, no = step->no;
    if (step->compare == LG_EQUAL) {
        COMPARE(==)
    } else if (step->compare == LG_LESS) {
        COMPARE(<)
    } else {
        COMPARE(<=)
    }
}

static void same_level(const lg_step *step, const uint32_t *restrict map, const uint32_t *restrict a,
                       const uint32_t *restrict b, size_t n, uint8_t *restrict to) {
    for (size_t i = 0; i < n; i++)
        to[i] = a[i] >= step->count || b[i] >= step->width ? LG_QUERY_UNKNOWN
                : map[a[i]] == b[i]                        ? step->yes
                                                           : step->no;
}

static bool all_are(const uint8_t *restrict a, uint8_t value, size_t n) {
    uint8_t differ = 0;
    for (size_t i = 0; i < n; i++) differ |= a[i] ^ value;
    return !differ;
}

static void missing(const lg_step *step, const lg_query_session *s, size_t first, size_t n,
                    uint8_t *restrict to) {
    if (step->block == LG_BLOCK_NUMBER) {
        const double *restrict a = numbers_at(s, step->a, first);
        for (size_t i = 0; i < n; i++) to[i] = a[i] != a[i] ? LG_QUERY_TRUE : LG_QUERY_FALSE;
    } else if (step->block == LG_BLOCK_TRUTH) {
        const uint8_t *a = truth_at(s, step->a);
        for (size_t i = 0; i < n; i++) to[i] = a[i] == LG_QUERY_UNKNOWN ? LG_QUERY_TRUE : LG_QUERY_FALSE;
    } else {
        const lg_string *a = block_at(s, LG_BLOCK_TEXT, step->a.index);
        for (size_t i = 0; i < n; i++) to[i] = a[i].data ? LG_QUERY_FALSE : LG_QUERY_TRUE;
    }
}

/* ---- arithmetic ---- */

static void unary(lg_math math, const double *a, size_t n, double *to) {
#define UNARY(MATH)                                                                                          \
    case MATH:                                                                                               \
        for (size_t i = 0; i < n; i++) to[i] = lg_query_unary(MATH, a[i]);                                   \
        break
    switch (math) {
    case LG_NEGATE:
        for (size_t i = 0; i < n; i++) to[i] = -a[i];
        break;
    case LG_ABS:
        for (size_t i = 0; i < n; i++) to[i] = fabs(a[i]);
        break;
    case LG_SQRT:
        for (size_t i = 0; i < n; i++) to[i] = sqrt(a[i]);
        break;
    case LG_LOG:
        for (size_t i = 0; i < n; i++) to[i] = lg_query_log(a[i]);
        break;
    default:
        for (size_t i = 0; i < n; i++) to[i] = lg_query_unary(math, a[i]);
    }
#undef UNARY
}

#define BINARY(A, B)                                                                                         \
    switch (math) {                                                                                          \
    case LG_ADD:                                                                                             \
        for (size_t i = 0; i < n; i++) to[i] = A + B;                                                        \
        break;                                                                                               \
    case LG_SUBTRACT:                                                                                        \
        for (size_t i = 0; i < n; i++) to[i] = A - B;                                                        \
        break;                                                                                               \
    case LG_MULTIPLY:                                                                                        \
        for (size_t i = 0; i < n; i++) to[i] = A * B;                                                        \
        break;                                                                                               \
    case LG_DIVIDE:                                                                                          \
        for (size_t i = 0; i < n; i++) to[i] = A / B;                                                        \
        break;                                                                                               \
    case LG_MIN:                                                                                             \
        for (size_t i = 0; i < n; i++) to[i] = A < B || A != A ? A : B;                                      \
        break;                                                                                               \
    case LG_MAX:                                                                                             \
        for (size_t i = 0; i < n; i++) to[i] = A > B || A != A ? A : B;                                      \
        break;                                                                                               \
    default:                                                                                                 \
        for (size_t i = 0; i < n; i++) to[i] = lg_query_pow(A, B);                                           \
    }

static void binary(lg_math math, const double *a, const double *b, size_t n, double *to) {
    BINARY(a[i], b[i])
}

static void binary_low(lg_math math, const double *a, double b, size_t n, double *to) {
    BINARY(a[i], b)
}

static void low_binary(lg_math math, double a, const double *b, size_t n, double *to) {
    BINARY(a, b[i])
}

/* ---- texts ---- */

static void text_in(const lg_step *step, const lg_string *list, const lg_string *a, size_t n, uint8_t *to) {
    for (size_t i = 0; i < n; i++) {
        size_t low = 0, high = step->count;
        bool found = false;
        while (a[i].data && low < high && !found) {
            size_t middle = low + (high - low) / 2;
            int way = lg_string_order(a[i], list[middle]);
            found = way == 0;
            if (way < 0) high = middle;
            else low = middle + 1;
        }
        to[i] = !a[i].data ? LG_QUERY_UNKNOWN : found ? step->yes : step->no;
    }
}

static lg_status match(lg_query_session *s, const lg_step *step, size_t n, lg_error *error) {
    const lg_string *a = block_at(s, LG_BLOCK_TEXT, step->a.index);
    uint8_t *to = block_at(s, LG_BLOCK_TRUTH, step->to);
    for (size_t i = 0; i < n; i++) {
        if (!a[i].data) {
            to[i] = LG_QUERY_UNKNOWN;
            continue;
        }
        int found = lg_query_match_again(s->matchers[step->offset], a[i]);
        if (found == -2) return lg_fail_memory(error);
        if (found < 0)
            return lg_fail(error, LG_USAGE,
                           "%s: the pattern /%.200s/ takes too many steps on '%.*s': write a simpler one",
                           s->query->items[step->item].what,
                           lg_query_regex_pattern(s->query->regexes[step->offset]),
                           a[i].length > 100 ? 100 : (int)a[i].length, a[i].data);
        to[i] = found ? step->yes : step->no;
    }
    return LG_OK;
}

/* ---- steps ---- */

static void fill(const lg_query_session *s, const lg_step *step, size_t n) {
    double *numbers = block_at(s, LG_BLOCK_NUMBER, step->to);
    if (step->block == LG_BLOCK_TRUTH) memset(block_at(s, LG_BLOCK_TRUTH, step->to), (int)step->low, n);
    else
        for (size_t i = 0; i < n; i++) numbers[i] = step->low;
}

static lg_status run_step(lg_query_session *s, const lg_step *step, size_t first, size_t n, lg_error *error) {
    const lg_query *q = s->query;
    double *number = block_at(s, LG_BLOCK_NUMBER, step->to);
    uint8_t *truth = block_at(s, LG_BLOCK_TRUTH, step->to);
    uint32_t *level = block_at(s, LG_BLOCK_LEVEL, step->to);
    lg_block_kind kind =
        step->dtype == LG_F64 ? LG_BLOCK_NUMBER : LG_BLOCK_LEVEL; /* of a RANGE's or TABLE's a */
    switch (step->kind) {
    case LG_STEP_LOAD:
        load(values_at(s, step->a, LG_BLOCK_NUMBER, step->dtype, first), step->dtype, n, number);
        break;
    case LG_STEP_READ:
        return q->source.read(q->source.context, q->columns[step->a.index].column.handle, first, n,
                              block_at(s, step->block, step->to), error);
    case LG_STEP_LEVEL:
        widen(values_at(s, step->a, LG_BLOCK_LEVEL, step->dtype, first), step->dtype, n, level);
        break;
    case LG_STEP_FILL:
        fill(s, step, n);
        break;
    case LG_STEP_RANGE:
        range(step, values_at(s, step->a, kind, step->dtype, first), n, truth);
        break;
    case LG_STEP_TABLE:
        table(step, q->tables + step->offset, values_at(s, step->a, kind, step->dtype, first), n, truth);
        break;
    case LG_STEP_SET:
        set(step, q->ranges + step->offset, numbers_at(s, step->a, first), n, truth);
        break;
    case LG_STEP_COMPARE:
        compare(step, numbers_at(s, step->a, first), numbers_at(s, step->b, first), n, truth);
        break;
    case LG_STEP_SAME_LEVEL:
        same_level(step, q->maps + step->offset, levels_at(s, step->a, first), levels_at(s, step->b, first),
                   n, truth);
        break;
    case LG_STEP_AND: {
        const uint8_t *a = truth_at(s, step->a), *b = truth_at(s, step->b);
        for (size_t i = 0; i < n; i++) truth[i] = a[i] < b[i] ? a[i] : b[i];
        break;
    }
    case LG_STEP_OR: {
        const uint8_t *a = truth_at(s, step->a), *b = truth_at(s, step->b);
        for (size_t i = 0; i < n; i++) truth[i] = a[i] > b[i] ? a[i] : b[i];
        break;
    }
    case LG_STEP_NOT: {
        const uint8_t *a = truth_at(s, step->a);
        for (size_t i = 0; i < n; i++) truth[i] = (uint8_t)(LG_QUERY_TRUE - a[i]);
        break;
    }
    case LG_STEP_NUMBER_OF: {
        static const double value[] = {0, NAN, 1};
        const uint8_t *a = truth_at(s, step->a);
        for (size_t i = 0; i < n; i++) number[i] = value[a[i]];
        break;
    }
    case LG_STEP_MISSING:
        missing(step, s, first, n, truth);
        break;
    case LG_STEP_UNARY:
        unary(step->math, numbers_at(s, step->a, first), n, number);
        break;
    case LG_STEP_BINARY:
        binary(step->math, numbers_at(s, step->a, first), numbers_at(s, step->b, first), n, number);
        break;
    case LG_STEP_BINARY_LOW:
        binary_low(step->math, numbers_at(s, step->a, first), step->low, n, number);
        break;
    case LG_STEP_LOW_BINARY:
        low_binary(step->math, step->low, numbers_at(s, step->b, first), n, number);
        break;
    case LG_STEP_SAME_TEXT: {
        const lg_string *a = block_at(s, LG_BLOCK_TEXT, step->a.index),
                        *b = block_at(s, LG_BLOCK_TEXT, step->b.index);
        for (size_t i = 0; i < n; i++)
            truth[i] = !a[i].data || !b[i].data           ? LG_QUERY_UNKNOWN
                       : lg_string_order(a[i], b[i]) == 0 ? step->yes
                                                          : step->no;
        break;
    }
    case LG_STEP_TEXT_IN:
        text_in(step, q->strings + step->offset, block_at(s, LG_BLOCK_TEXT, step->a.index), n, truth);
        break;
    case LG_STEP_MATCH:
        return match(s, step, n, error);
    case LG_STEP_SKIP: /* in lg_query_run */
        break;
    }
    return LG_OK;
}

lg_status lg_query_run(lg_query_session *s, size_t first, size_t n, lg_error *error) {
    const lg_query *q = s->query;
    lg_status status = LG_OK;
    s->first = first;
    for (size_t k = 0; k < q->n_steps && !status; k++) {
        const lg_step *step = &q->steps[k];
        if (step->kind != LG_STEP_SKIP) status = run_step(s, step, first, n, error);
        else if (all_are(truth_at(s, step->a), step->yes, n)) k += step->count;
    }
    return status;
}

const double *lg_query_numbers(const lg_query_session *s, size_t item) {
    return numbers_at(s, s->query->items[item].block, s->first);
}

const uint8_t *lg_query_truth(const lg_query_session *s, size_t item) {
    return truth_at(s, s->query->items[item].block);
}

const uint32_t *lg_query_levels(const lg_query_session *s, size_t item) {
    return levels_at(s, s->query->items[item].block, s->first);
}
