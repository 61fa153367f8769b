/* The journal beside a score file while it is made: results of rows in the order in which they were computed.
   A run that was killed goes on from it; a record cut off by the kill is dropped. It is locked: one process
   per score file. */
#ifndef LG_SCORE_JOURNAL_H
#define LG_SCORE_JOURNAL_H

#include "base/hash.h"
#include "lossgap/base.h"

typedef struct lg_journal lg_journal;

/* Called for each whole record found: COUNT tokens, whose payload starts at OFFSET. */
typedef lg_status (*lg_journal_visit)(void *context, lg_hash hash, uint32_t count, uint64_t offset,
                                      lg_error *error);

/* Opens OUT.journal, made if missing, and locks it. KEY stands for all that the results depend on beside the
   row: records of another key are dropped, with a note. N_COLUMNS: 4-byte values per token. */
lg_status lg_journal_open(const char *out, lg_hash key, unsigned n_columns, lg_journal **journal,
                          lg_journal_visit visit, void *context, const lg_monitor *monitor, lg_error *error);

/* The same visit without making, locking or mending anything; no journal, or one of another key: no visit. */
lg_status lg_journal_peek(const char *out, lg_hash key, unsigned n_columns, lg_journal_visit visit,
                          void *context, lg_error *error);

/* PAYLOAD [n_columns, count]. On disk (in the system's hands) after the next flush. *OFFSET is where it can
 * be read. */
lg_status lg_journal_append(lg_journal *journal, lg_hash hash, uint32_t count, const uint32_t *payload,
                            uint64_t *offset, lg_error *error);
lg_status lg_journal_flush(lg_journal *journal, lg_error *error);

/* PAYLOAD [n_columns, count] of the record at OFFSET, flushed before. */
lg_status lg_journal_read(const lg_journal *journal, uint64_t offset, uint32_t count, uint32_t *payload,
                          lg_error *error);

/* Unlocks; REMOVE: its results are safe elsewhere. NULL is fine. */
void lg_journal_close(lg_journal *journal, bool remove);

#endif
