/* Batches of documents: read in order, tokenised side by side. */
#ifndef LG_CORPUS_BATCH_H
#define LG_CORPUS_BATCH_H

#include "base/hash.h"
#include "corpus/reader.h"

typedef struct lg_batch_document {
    size_t begin, size;           /* bytes of content */
    size_t name_begin, name_size; /* bytes of names */
    uint64_t index;               /* among all documents of the corpus */
    lg_hash hash;                 /* of the content */
    size_t domain;                /* the caller's number */
    lg_kind kind;
    size_t lone_surrogates;
    bool invalid_utf8;   /* set with the tokens */
    const uint32_t *ids; /* [n_tokens] */
    const size_t *ends;  /* [n_tokens] byte ends in the document; NULL for already tokenised data */
    size_t n_tokens;
    size_t worker, first; /* where the tokens are */
} lg_batch_document;

typedef struct lg_batch {
    lg_batch_document *documents; /* [n] */
    size_t n, capacity;
    lg_text content, names; /* joined */
} lg_batch;

void lg_batch_clear(lg_batch *batch); /* empties it; what a huge document made it grow to is given back */
void lg_batch_free(lg_batch *batch);
bool lg_batch_full(const lg_batch *batch);
/* Adds a document whose content is the last of batch->content. false: no memory. */
bool lg_batch_add(lg_batch *batch, const lg_document *document, lg_hash hash, uint64_t index, size_t domain);

/* Threads that tokenise, each with its own session. TOKENIZER NULL: contents are ids already. */
typedef struct lg_team lg_team;

lg_status lg_team_create(const lg_tokenizer *tokenizer, bool parse_special, unsigned threads, lg_team **team,
                         lg_error *error);
/* Fills in the tokens of every document; they live until the next call. Whatever the number of threads, the
   result is the same, and so is the error: that of the first document that fails. */
lg_status lg_team_tokenize(lg_team *team, lg_batch *batch, lg_error *error);
void lg_team_free(lg_team *team); /* NULL is fine */

#endif
