/* Causal attention of the query heads that share one key/value head: out = softmax(q k^T scale) v.

   Queries go in blocks of QUERIES, keys in blocks of KEYS, these counted from the start of the row, so that a
   token's arithmetic depends neither on how long the row is nor on which queries are asked for. For a block
   of queries, each block of keys gives scores s, and with the running maximum m of a query's scores, sum z
   and output o: m' = max(m, max s), p = e^(s - m'), z <- z e^(m - m') + sum p, o <- o e^(m - m') + p v Inside
   a block work is skipped tile by tile where no query of the tile sees a key. */
#include "layers/layers.h"

#include "kernels/block.h"

#include <math.h>
#include <string.h>

enum { QUERIES = 96, KEYS = 512 };

/* Packed operands and running state, sized in words (32 bits). */
typedef struct buffers {
    bool bf16; /* operands are bf16 pairs; otherwise f32 */
    lg_block_product *product;
    lg_block_softmax *softmax;
    size_t depth;   /* words of a query or key */
    size_t width;   /* channels of values and outputs, rounded up to lanes */
    float *keys;    /* panels of block->columns keys: [depth, columns] each */
    float *values;  /* panels of up to block->columns channels: [T (bf16: pairs of tokens), channels] each */
    float *queries; /* [QUERIES, depth] */
    float *scores;  /* [QUERIES, KEYS] */
    float *o;       /* [QUERIES, width] */
    float *sum;     /* [QUERIES, lanes] */
    float *max, *rescale; /* [QUERIES] */
    float *rows;          /* [columns, depth]: keys on their way to a panel */
} buffers;

static size_t round_up(size_t n, size_t to) {
    return (n + to - 1) / to * to;
}

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

static float *take(float *scratch, size_t *words, size_t n) {
    float *at = scratch ? scratch + *words : NULL;
    *words += round_up(n, 16);
    return at;
}

/* Lays the buffers out over SCRATCH (NULL: only counts); returns their words. */
static size_t lay_out(const lg_compute *c, size_t T, size_t head_dim, float *scratch, buffers *b) {
    const lg_block *block = c->block ? c->block : lg_block_for(LG_ISA_BEST);
    size_t words = 0;
    b->bf16 = c->precision == LG_PRECISION_BF16 && c->native_bf16 && block->product_bf16;
    b->product = b->bf16 ? block->product_bf16 : block->product;
    b->softmax = b->bf16 ? block->softmax_bf16 : block->softmax;
    b->depth = b->bf16 ? (head_dim + 1) / 2 : head_dim;
    b->width = round_up(head_dim, block->lanes);
    b->keys = take(scratch, &words, round_up(T, block->columns) * b->depth);
    b->values = take(scratch, &words, (b->bf16 ? (T + 1) / 2 : T) * b->width);
    b->queries = take(scratch, &words, QUERIES * b->depth);
    b->scores = take(scratch, &words, QUERIES * KEYS);
    b->o = take(scratch, &words, QUERIES * b->width);
    b->sum = take(scratch, &words, QUERIES * block->lanes);
    b->max = take(scratch, &words, QUERIES);
    b->rescale = take(scratch, &words, QUERIES);
    b->rows = take(scratch, &words, block->columns * b->depth);
    return words;
}

size_t lg_attention_scratch(const lg_compute *c, size_t T, size_t n_group, size_t head_dim) {
    buffers b;
    (void)n_group;
    return sizeof(float) * lay_out(c, T, head_dim, NULL, &b);
}

/* Rows of one head lie far apart, where the processor does not look ahead by itself. */
static void prefetch_row(const float *rows, size_t stride, size_t row, size_t n_rows, size_t n) {
    enum { AHEAD = 8 };
    if (row + AHEAD >= n_rows) return;
    for (size_t j = 0; j < n; j += 16) __builtin_prefetch(rows + (row + AHEAD) * stride + j);
}

/* One query or key as an operand of products. */
static void pack_row(const lg_compute *c, const lg_block *block, const buffers *b, const float *x,
                     size_t head_dim, float *row) {
    if (b->bf16) {
        row[b->depth - 1] = 0; /* the last one's partner when head_dim is odd */
        block->round_bf16(head_dim, x, (uint16_t *)row);
    } else if (c->precision == LG_PRECISION_BF16) block->round(head_dim, x, row);
    else memcpy(row, x, head_dim * sizeof *row);
}

static void pack_keys(const lg_compute *c, const lg_block *block, const lg_attention_args *a, buffers *b) {
    const bool as_is = c->precision != LG_PRECISION_BF16;
    for (size_t t = 0; t < a->T; t += block->columns) {
        const size_t n = least(block->columns, a->T - t);
        float *panel = b->keys + t * b->depth;
        const float *k = a->k + t * a->kv_stride;
        if (n < block->columns) memset(panel, 0, block->columns * b->depth * sizeof *panel);
        if (as_is) {
            block->transpose(n, b->depth, k, a->kv_stride, panel, block->columns);
            continue;
        }
        for (size_t i = 0; i < n; i++) {
            prefetch_row(k, a->kv_stride, i, a->T - t, a->head_dim);
            pack_row(c, block, b, k + i * a->kv_stride, a->head_dim, b->rows + i * b->depth);
        }
        block->transpose(n, b->depth, b->rows, b->depth, panel, block->columns);
    }
}

static void pack_values(const lg_compute *c, const lg_block *block, const lg_attention_args *a, buffers *b) {
    const size_t step = b->bf16 ? 2 : 1, rows = (a->T + step - 1) / step;
    for (size_t p = 0; p < b->width; p += block->columns) {
        const size_t width = least(block->columns, b->width - p), n = least(width, a->head_dim - p);
        float *to = b->values + p * rows;
        for (size_t t = 0; t < a->T; t += step, to += width) {
            const float *v = a->v + t * a->kv_stride + p;
            prefetch_row(a->v + p, a->kv_stride, t, a->T, n);
            if (b->bf16) block->round_pairs(n, v, t + 1 < a->T ? v + a->kv_stride : NULL, (uint32_t *)to);
            else if (c->precision == LG_PRECISION_BF16) block->round(n, v, to);
            else memcpy(to, v, n * sizeof *to);
            memset(to + n, 0, (width - n) * sizeof *to);
        }
    }
}

/* Adds the keys KEY … KEY + KEYS - 1 to the state of the N queries from position QUERY on. */
static void add_keys(const lg_compute *c, const lg_block *block, const lg_attention_args *a, const buffers *b,
                     size_t query, size_t n, size_t key) {
    const size_t window = a->window && a->window < a->T ? a->window : a->T, columns = block->columns;
    const size_t pair = b->bf16 ? 2 : 1, value_rows = (a->T + pair - 1) / pair;
    /* The tiles of queries that see any key of the block: the others are done with it or have not reached it.
     */
    const size_t begin = query < key ? (key - query) / block->rows * block->rows : 0;
    size_t end = n;
    if (query + n > key + KEYS + window - 1)
        end = least(n, round_up(key + KEYS + window - 1 - query, block->rows));

    for (size_t j = 0; j < KEYS && key + j < query + n; j += columns)
        for (size_t i = begin; i < end; i += block->rows) {
            const size_t m = least(block->rows, n - i), first = query + i, last = first + m - 1;
            if (key + j > last || key + j + columns + window <= first + 1) continue;
            b->product(m, least(columns, round_up(last + 1 - key - j, block->lanes)), b->depth,
                       b->queries + i * b->depth, b->depth, b->keys + (key + j) * b->depth, columns,
                       b->scores + i * KEYS + j, KEYS, NULL);
        }
    lg_softmax_tile softmax = {.window = window,
                               .factor = a->scale * 0x1.715476p0f, /* log2(e) */
                               .round = c->precision == LG_PRECISION_BF16};
    for (size_t i = begin; i < end; i += block->rows) {
        softmax.row = (ptrdiff_t)(query + i) - (ptrdiff_t)key;
        b->softmax(least(block->rows, n - i), KEYS, &softmax, b->scores + i * KEYS, KEYS, b->max + i,
                   b->sum + i * block->lanes, b->rescale + i);
    }
    for (size_t p = 0; p < b->width; p += columns) {
        const size_t width = least(columns, b->width - p);
        const float *v = b->values + p * value_rows + key / pair * width;
        for (size_t i = begin; i < end; i += block->rows) {
            const size_t m = least(block->rows, n - i), first = query + i, last = first + m - 1;
            const size_t from = first + 1 > key + window ? (first + 1 - key - window) / pair : 0;
            const size_t to = (least(KEYS, last + 1 - key) + pair - 1) / pair;
            b->product(m, width, to - from, b->scores + i * KEYS + from, KEYS, v + from * width, width,
                       b->o + i * b->width + p, b->width, b->rescale + i);
        }
    }
}

void lg_attention(const lg_compute *c, const lg_attention_args *a, void *scratch) {
    const lg_block *block = c->block ? c->block : lg_block_for(LG_ISA_BEST);
    const size_t window = a->window && a->window < a->T ? a->window : a->T;
    buffers b;
    lay_out(c, a->T, a->head_dim, scratch, &b);
    pack_keys(c, block, a, &b);
    pack_values(c, block, a, &b);
    for (size_t h = 0; h < a->n_group; h++)
        for (size_t query = a->first; query < a->T; query += QUERIES) {
            const size_t n = least(QUERIES, a->T - query);
            const float *q = a->q + (query - a->first) * a->q_stride + h * a->head_dim;
            float *out = a->out + (query - a->first) * a->out_stride + h * a->head_dim;
            for (size_t i = 0; i < n; i++) {
                prefetch_row(q, a->q_stride, i, a->T - query, a->head_dim);
                pack_row(c, block, &b, q + i * a->q_stride, a->head_dim, b.queries + i * b.depth);
                b.max[i] = -INFINITY;
            }
            memset(b.sum, 0, n * block->lanes * sizeof *b.sum);
            memset(b.o, 0, n * b.width * sizeof *b.o);

            const size_t first_key = query + 1 > window ? query + 1 - window : 0;
            for (size_t key = first_key / KEYS * KEYS; key < query + n; key += KEYS)
                add_keys(c, block, a, &b, query, n, key);

            for (size_t i = 0; i < n; i++)
                block->average(a->head_dim, b.o + i * b.width, b.sum + i * block->lanes,
                               out + i * a->out_stride);
        }
}
