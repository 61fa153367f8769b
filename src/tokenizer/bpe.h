/* Byte-pair merging of one piece of text, and the cache of pieces seen before. */
#ifndef LG_TOKENIZER_BPE_H
#define LG_TOKENIZER_BPE_H

#include "lossgap/tokenizer.h"
#include "tokenizer/strings.h"

#define LG_NO_RANK UINT32_MAX
#define LG_NO_ID   UINT32_MAX

typedef struct lg_pair {
    uint32_t left, right; /* ids */
    uint32_t rank;        /* LG_NO_RANK: a free slot */
    uint32_t id;          /* of the two joined */
} lg_pair;

typedef struct lg_joined {
    uint32_t rank, id; /* of a pair */
} lg_joined;

/* The merges, as a table that is at most half full. {0} to start. */
typedef struct lg_bpe {
    uint32_t byte_id[256]; /* LG_NO_ID: no token stands for the byte, it is passed over */
    lg_pair *pairs;        /* [mask + 1] */
    size_t mask, count;
    lg_joined *byte_pairs; /* [256 * 256], the merges of two bytes, which every piece begins with */
    bool ignore_merges;    /* a piece that is a token as a whole is that token */
    lg_strings whole;      /* with ignore_merges: tokens by their bytes */
} lg_bpe;

bool lg_bpe_reserve(lg_bpe *bpe, size_t merges); /* once, first; false: no memory */
void lg_bpe_add(lg_bpe *bpe, uint32_t left, uint32_t right, uint32_t rank,
                uint32_t id);    /* a later one replaces */
bool lg_bpe_finish(lg_bpe *bpe); /* once, when merges and byte_id are there; false: no memory */
void lg_bpe_free(lg_bpe *bpe);

enum { LG_CACHE_KEY = 16, LG_CACHE_TOKENS = 8, LG_CACHE_SLOTS = 1 << 16 };

typedef struct lg_cached {
    uint64_t key[2]; /* the piece, zero-padded */
    uint32_t ids[LG_CACHE_TOKENS];
    uint8_t ends[LG_CACHE_TOKENS]; /* in the piece */
    uint8_t length, count;         /* length 0: a free slot */
    uint8_t unused[6];
} lg_cached;

/* What one thread needs besides the merges. {0} to start. */
typedef struct lg_bpe_scratch {
    lg_cached *cache;  /* [LG_CACHE_SLOTS], made at the first piece */
    uint32_t *symbols; /* arrays of the long merge, one allocation */
    size_t symbols_capacity;
    uint64_t *heap;
    size_t heap_count, heap_capacity;
} lg_bpe_scratch;

void lg_bpe_scratch_free(lg_bpe_scratch *scratch);

/* Appends the tokens of PIECE (SIZE > 0 bytes, READABLE >= SIZE of them mapped) to TOKENS; a token that ends
   at byte e of the piece gets the end ORIGIN + max(e, MADE_UP) - MADE_UP: the first MADE_UP (0 or 1) bytes
   are no text. false: no memory. */
bool lg_bpe_encode(const lg_bpe *bpe, lg_bpe_scratch *scratch, const char *piece, size_t size,
                   size_t readable, size_t origin, size_t made_up, lg_tokens *tokens);

/* Starts to bring in what the cache has of the piece. */
void lg_bpe_prefetch(const lg_bpe_scratch *scratch, const char *piece, size_t size, size_t readable);

bool lg_tokens_reserve(lg_tokens *tokens, size_t more); /* false: no memory */

#endif
