/* Filler: text between binding and query that says nothing of what is asked, of an exact number of tokens. */
#ifndef LG_PROBE_FILLER_H
#define LG_PROBE_FILLER_H

#include "base/text.h"
#include "lossgap/tokenizer.h"
#include "probe/random.h"

/* A store of pieces, each a sentence or word with a space before it, and their lengths in tokens. */
typedef struct lg_filler {
    lg_text text; /* of all pieces */
    size_t *ends; /* [count] in text */
    uint32_t *tokens;
    size_t count, ends_capacity, tokens_capacity;
    size_t n_whole;  /* pieces from here on are sentences cut short, taken only to fit an end */
    bool in_order;   /* a text of somebody's: its sentences follow each other */
    bool by_default; /* the grammar */
    bool repeats;    /* pieces may come again in the same filler: words do */
    uint32_t *used;  /* [count] the draw that took a piece last */
    uint32_t draw;
    unsigned char *reachable; /* [n_reachable] some pieces have so many tokens together */
    size_t n_reachable;
    char *name; /* for errors */
} lg_filler;

/* KIND: "grammar", "words" or "text:FILE"; the grammar's sentences are drawn with SEED. FARTHEST: the most
   tokens that will be asked for. */
lg_status lg_filler_open(lg_filler *filler, const char *kind, uint64_t seed, size_t farthest,
                         lg_tokenizer_session *session, lg_tokens *tokens, const lg_monitor *monitor,
                         lg_error *error);
void lg_filler_close(lg_filler *filler);

/* A filler of N tokens as pieces (indices), of which PIECES has room for N; the pieces of AVOID [n_avoid] are
   in the text already. false: no pieces have N tokens together. */
bool lg_filler_draw(lg_filler *filler, lg_random *random, size_t n, const size_t *avoid, size_t n_avoid,
                    size_t *pieces, size_t *n_pieces);
const char *lg_filler_piece(const lg_filler *filler, size_t piece, size_t *length);

#endif
