/* Samples of documents by content hash: nested, whatever the order of the corpus. */
#ifndef LG_CORPUS_SAMPLE_H
#define LG_CORPUS_SAMPLE_H

#include "base/hash.h"

/* Per domain, documents are taken by (hash, index) as long as their tokens together stay within the limit,
   and none after the first that does not fit: a larger limit takes the same documents and more. */
typedef struct lg_sample lg_sample;

lg_sample *lg_sample_create(uint64_t limit); /* NULL: no memory */
/* False if the document cannot be in the sample, whatever comes: its tokens need not be counted. Threads may
   ask at once. */
bool lg_sample_wants(const lg_sample *sample, size_t domain, lg_hash hash, uint64_t index);
/* Tells of a document and its tokens; those not wanted change nothing. false: no memory. */
bool lg_sample_add(lg_sample *sample, size_t domain, lg_hash hash, uint64_t index, uint64_t tokens);
/* Ends the telling. false: no memory. */
bool lg_sample_finish(lg_sample *sample);
/* After that, and with rising INDEX: is the document in the sample? */
bool lg_sample_has(lg_sample *sample, uint64_t index);
/* The tokens of DOMAIN's first document by hash, if these alone exceed the limit so that the domain stays
   empty; else 0. */
uint64_t lg_sample_too_long(const lg_sample *sample, size_t domain);
void lg_sample_free(lg_sample *sample); /* NULL is fine */

#endif
