/* Spans that several tokenisations of one document share: the smallest whose ends are token ends in all. */
#ifndef LG_SCORE_SPANS_H
#define LG_SCORE_SPANS_H

#include <stddef.h>
#include <stdint.h>

/* The tokens of one document in one tokenisation. Tokens first … last - 1 lie in the span at hand. */
typedef struct lg_span_track {
    const uint64_t *ends; /* [n] rise to the document's end; equal ones: tokens without bytes */
    size_t n;
    size_t first, last;
    uint64_t end; /* where token last - 1 ends */
} lg_span_track;

/* To the first token of a document that begins at BEGIN. */
void lg_span_start(lg_span_track *track, const uint64_t *ends, size_t n, uint64_t begin);

/* The end of the span that begins at BEGIN, where the one before ended, in a document that ends at STOP >
   BEGIN. A token without bytes belongs to the span that begins where it stands (tokenizers put such tokens
   before the bytes that they stand for), or to the last one. A tokenisation without tokens ends at STOP only.
 */
uint64_t lg_span_next(lg_span_track *tracks, size_t n, uint64_t begin, uint64_t stop);

#endif
