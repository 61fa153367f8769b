/* The score artefact: its settings, reading it (also to take rows over), writing it row by row. */
#ifndef LG_SCORE_ARTEFACT_H
#define LG_SCORE_ARTEFACT_H

#include "base/memory.h"
#include "base/text.h"
#include "score/windows.h"
#include "store/table_writer.h"

enum { LG_SCORE_VERSION = 1 };
enum { LG_SCORE_COLUMNS = 4 }; /* nll, entropy, rank, top1: 4-byte values, one per token */

/* What the numbers depend on, and what the model is called. Strings borrowed. */
typedef struct lg_score_settings {
    const char *name;       /* of the model, for tables */
    const char *model;      /* identity of the checkpoint; NULL: computed elsewhere and imported */
    const char *imported;   /* hash of the file of an import, else NULL */
    const char *isa;        /* which kernels; NULL for imports */
    lg_precision precision; /* AUTO: not known, for imports */
    lg_window_settings windows;
    unsigned columns; /* LG_COLUMN_* */
    bool spans;       /* scores over spans; windows and prefix then say nothing */
    const char *of;   /* of spans: the settings of the scores of tokens, as JSON; not read back */
} lg_score_settings;

/* Writes SETTINGS as they are stored. False: no memory. */
bool lg_score_put_settings(const lg_score_settings *settings, lg_text *out);

/* Stands for all but the name: rows of equal key and hash have the same results. False: no memory. */
bool lg_score_settings_key(const lg_score_settings *settings, lg_hash *key);

/* The columns beside nll, in file order. Index 0 is nll itself. */
const char *lg_score_column_name(size_t i);
lg_dtype lg_score_column_dtype(size_t i);
bool lg_score_has_column(unsigned columns, size_t i);
unsigned lg_score_n_columns(unsigned columns); /* with nll */
/* What stands for "cannot be scored" in column I. */
uint32_t lg_score_missing(size_t i);

/* 32 hex digits of the dataset's tokens and document ends, which are all that scores know of it. False: no
 * memory. */
bool lg_score_tokens_identity(const lg_dataset *data, char hex[33]);

/* A score file, mapped and validated. */
typedef struct lg_score_table {
    lg_table *table;
    lg_arena arena; /* strings of the settings */
    lg_score_settings settings;
    const char *dataset, *tokens; /* identities */
    size_t n_tokens, n_rows;
    const uint32_t *columns[LG_SCORE_COLUMNS]; /* bits of each, NULL where it is not there */
    const uint32_t *context;
    const uint32_t *in_span;  /* [n_tokens] of spans: the model's tokens in each; else NULL */
    const uint64_t *row_end;  /* [n_rows] none of spans */
    const uint64_t *row_hash; /* [n_rows, 2] high, low */
} lg_score_table;

lg_status lg_score_table_open(const char *path, lg_score_table *table, lg_error *error);
/* The same if there is a file OUT, which is about to be replaced: refuses one that is no score file. No file:
   TABLE->table is NULL. */
lg_status lg_score_table_open_out(const char *out, lg_score_table *table, lg_error *error);
void lg_score_table_close(lg_score_table *table);

/* Writing: rows in dataset order. */
typedef struct lg_score_writer {
    lg_table_writer *writer;
    const lg_score_settings *settings;
    size_t columns[LG_SCORE_COLUMNS], context, row_end, row_hash; /* indices in the writer */
    uint64_t n_tokens, n_scored, n_rows;
} lg_score_writer;

lg_status lg_score_writer_create(const char *out, const lg_score_settings *settings, lg_score_writer *writer,
                                 lg_error *error);
/* PAYLOAD [n_columns, owned tokens], POSITION [owned tokens]. Refuses a row that does not begin where the
   last one ended, a token that should have a loss and has none, and the reverse. */
lg_status lg_score_writer_row(lg_score_writer *writer, const lg_window *window, lg_hash hash,
                              const uint32_t *position, const uint32_t *payload, lg_error *error);
/* Refuses to finish if a token of DATA was left out. Consumes the writer, whatever the result. */
lg_status lg_score_writer_commit(lg_score_writer *writer, const lg_dataset *data, const char *command,
                                 lg_error *error);
void lg_score_writer_discard(lg_score_writer *writer);

/* True where the PAYLOAD's losses are numbers where they should be, and nowhere else. *AT: the first owned
   token for which that is not so. */
bool lg_score_payload_fits(const lg_window *window, const uint32_t *position, const uint32_t *payload,
                           size_t *at);

#endif
