/* The gated delta rule of one value head over one row, in chunks of C tokens. Token by token it is
       S <- e^g S,  delta = beta (v - S^T k),  S <- S + k delta^T,  o = s S^T q,  s = 1 / sqrt(dk)
   and over a chunk, with G the running sum of g inside it, D_ij = e^(G_i - G_j) for i >= j and 0 above:
       A = strict lower part of diag(beta) (D * K K^T)            R = diag(beta) (V - diag(e^G) K S)
       (I + A) Delta = R, solved row by row                       P = s (D * Q K^T)
       O = s diag(e^G) Q S + P Delta                              S <- e^(G_n) S + (diag(e^(G_n - G)) K)^T
   Delta All in f32. Columns of v are independent, so S and Delta are handled in panels of columns. */
#include "layers/layers.h"

#include "kernels/block.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 64 };

typedef struct buffers { /* words */
    size_t width;        /* dv rounded up to lanes */
    float *k;            /* [CHUNK, dk]: -beta e^G K */
    float *kt;           /* [dk, CHUNK]: K transposed, then scaled for the state */
    float *a, *p;        /* [CHUNK, CHUNK]: -A and P */
    float *hi, *lo; /* [CHUNK]: G in two parts, so that differences keep their digits after a long decay */
    float *beta, *read; /* [CHUNK]: beta and s e^G */
    float *decay;       /* [CHUNK]: a row of D */
    float *forget;      /* [LG_BLOCK_MAX_ROWS]: e^(G_n) */
    float *delta;       /* [CHUNK, columns]: R, then Delta */
    float *o;           /* [rows, columns] */
    float *S;           /* panels of up to block->columns: [dk, columns] each */
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
static size_t lay_out(const lg_block *block, size_t dk, size_t dv, float *scratch, buffers *b) {
    size_t words = 0;
    b->width = round_up(dv, block->lanes);
    b->k = take(scratch, &words, CHUNK * dk);
    b->kt = take(scratch, &words, CHUNK * dk);
    b->a = take(scratch, &words, CHUNK * CHUNK);
    b->p = take(scratch, &words, CHUNK * CHUNK);
    b->hi = take(scratch, &words, CHUNK);
    b->lo = take(scratch, &words, CHUNK);
    b->decay = take(scratch, &words, CHUNK);
    b->delta = take(scratch, &words, CHUNK * block->columns);
    b->o = take(scratch, &words, block->rows * block->columns);
    b->S = take(scratch, &words, dk * b->width);
    b->beta = take(scratch, &words, CHUNK);
    b->read = take(scratch, &words, CHUNK);
    b->forget = take(scratch, &words, LG_BLOCK_MAX_ROWS);
    return words;
}

static const lg_block *block_of(const lg_compute *c) {
    return c->block ? c->block : lg_block_for(LG_ISA_BEST);
}

size_t lg_delta_scratch(const lg_compute *c, size_t T, size_t dk, size_t dv) {
    buffers b;
    (void)T;
    return sizeof(float) * lay_out(block_of(c), dk, dv, NULL, &b);
}

/* S between its panels and [dk, dv]. */
static void state_to_panels(const lg_block *block, const buffers *b, const float *S, size_t dk, size_t dv) {
    memset(b->S, 0, dk * b->width * sizeof *b->S);
    for (size_t p = 0; S && p < dv; p += block->columns) {
        const size_t width = least(block->columns, b->width - p);
        for (size_t i = 0; i < dk; i++)
            memcpy(b->S + p * dk + i * width, S + i * dv + p, least(width, dv - p) * sizeof *S);
    }
}

static void state_from_panels(const lg_block *block, const buffers *b, float *S, size_t dk, size_t dv) {
    for (size_t p = 0; p < dv; p += block->columns) {
        const size_t width = least(block->columns, b->width - p);
        for (size_t i = 0; i < dk; i++)
            memcpy(S + i * dv + p, b->S + p * dk + i * width, least(width, dv - p) * sizeof *S);
    }
}

/* Asks for rows t + i … of the next chunk while this one is computed: rows of one head lie far apart, where
   the processor does not look ahead by itself. */
static void prefetch_rows(const float *x, size_t stride, size_t T, size_t t, size_t n_rows, size_t n) {
    for (size_t end = least(T, t + n_rows); t < end; t++)
        for (size_t j = 0; j < n; j += 16) __builtin_prefetch(x + t * stride + j, 0, 2);
}

/* What a chunk's columns share: -A, P; and K, K^T scaled for R and the state. */
static void prepare_chunk(const lg_block *block, const lg_delta_args *a, const buffers *b, size_t t,
                          size_t n) {
    const size_t dk = a->dk, stride = a->qk_stride;
    const float *q = a->q + t * stride, *k = a->k + t * stride;
    const float s = (float)(1 / sqrt((double)dk));
    double G = 0;
    for (size_t i = 0; i < n; i++) {
        G += (double)a->g[(t + i) * a->gate_stride];
        b->hi[i] = (float)G;
        b->lo[i] = (float)(G - (double)b->hi[i]);
        b->beta[i] = a->beta[(t + i) * a->gate_stride];
    }
    if (n < CHUNK) {
        memset(b->kt, 0, CHUNK * dk * sizeof *b->kt);
        memset(b->hi + n, 0, (CHUNK - n) * sizeof *b->hi);
        memset(b->lo + n, 0, (CHUNK - n) * sizeof *b->lo);
    }
    block->transpose(n, dk, k, stride, b->kt, CHUNK);
    for (size_t i = 0; i < n; i += block->rows) {
        const size_t m = least(block->rows, n - i);
        prefetch_rows(a->k, stride, a->T, t + CHUNK + i, m, dk);
        prefetch_rows(a->q, stride, a->T, t + CHUNK + i, m, dk);
        for (size_t j = 0; j < i + m; j += block->columns) {
            const size_t width = least(block->columns, round_up(i + m - j, block->lanes));
            block->product(m, width, dk, k + i * stride, stride, b->kt + j, CHUNK, b->a + i * CHUNK + j,
                           CHUNK, NULL);
            block->product(m, width, dk, q + i * stride, stride, b->kt + j, CHUNK, b->p + i * CHUNK + j,
                           CHUNK, NULL);
        }
    }
    for (size_t i = 0; i < n; i++) {
        float *A = b->a + i * CHUNK, *P = b->p + i * CHUNK;
        const float gamma = expf(b->hi[i]);
        block->decay(i + 1, b->hi[i], b->lo[i], b->hi, b->lo, b->decay);
        block->multiply(i, A, -b->beta[i], b->decay, A);
        block->multiply(i + 1, P, s, b->decay, P);
        memset(P + i + 1, 0, (CHUNK - i - 1) * sizeof *P);
        block->multiply(dk, k + i * stride, -b->beta[i] * gamma, NULL, b->k + i * dk);
        b->read[i] = s * gamma;
    }
    for (size_t l = 0; l < LG_BLOCK_MAX_ROWS; l++) b->forget[l] = expf(b->hi[n - 1]);
    block->decay(n, b->hi[n - 1], b->lo[n - 1], b->hi, b->lo, b->decay);
    for (size_t j = 0; j < dk; j++) block->multiply(n, b->kt + j * CHUNK, 1, b->decay, b->kt + j * CHUNK);
}

/* Columns p … p + width - 1 of a chunk: R, Delta, O and the next state. */
static void chunk_columns(const lg_block *block, const lg_delta_args *a, const buffers *b, size_t t, size_t n,
                          size_t p, size_t width) {
    const size_t dk = a->dk, real = least(width, a->dv - p), rows = block->rows;
    const float *q = a->q + t * a->qk_stride;
    float *S = b->S + p * dk, *delta = b->delta;
    for (size_t i = 0; i < n; i++) {
        memcpy(delta + i * width, a->v + (t + i) * a->v_stride + p, real * sizeof *delta);
        memset(delta + i * width + real, 0, (width - real) * sizeof *delta);
    }
    for (size_t i = 0; i < n; i += rows) {
        prefetch_rows(a->v + p, a->v_stride, a->T, t + CHUNK + i, rows, real);
        block->product(least(rows, n - i), width, dk, b->k + i * dk, dk, S, width, delta + i * width, width,
                       b->beta + i);
    }
    for (size_t i = 0; i < n; i += rows)
        block->substitute(least(rows, n - i), width, i, b->a, CHUNK, delta, width);
    for (size_t i = 0; i < n; i += rows) {
        const size_t m = least(rows, n - i);
        block->product(m, width, dk, q + i * a->qk_stride, a->qk_stride, S, width, b->o, width, NULL);
        block->product(m, width, i + m, b->p + i * CHUNK, CHUNK, delta, width, b->o, width, b->read + i);
        for (size_t r = 0; r < m; r++)
            block->multiply(real, b->o + r * width, 1, NULL, a->out + (t + i + r) * a->out_stride + p);
    }
    for (size_t i = 0; i < dk; i += rows)
        block->product(least(rows, dk - i), width, n, b->kt + i * CHUNK, CHUNK, delta, width, S + i * width,
                       width, b->forget);
}

void lg_delta_rule(const lg_compute *c, const lg_delta_args *a, void *scratch) {
    const lg_block *block = block_of(c);
    buffers b;
    lay_out(block, a->dk, a->dv, scratch, &b);
    state_to_panels(block, &b, a->initial, a->dk, a->dv);
    for (size_t t = 0; t < a->T; t += CHUNK) {
        const size_t n = least(CHUNK, a->T - t);
        prepare_chunk(block, a, &b, t, n);
        for (size_t p = 0; p < b.width; p += block->columns)
            chunk_columns(block, a, &b, t, n, p, least(block->columns, b.width - p));
    }
    if (a->final) state_from_panels(block, &b, a->final, a->dk, a->dv);
}
