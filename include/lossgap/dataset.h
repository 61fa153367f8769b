/* Corpora (folders, files, JSONL) and the dataset artefact: text, documents and tokens in one file. */
#ifndef LOSSGAP_DATASET_H
#define LOSSGAP_DATASET_H

#include "lossgap/base.h"
#include "lossgap/table.h"
#include "lossgap/tokenizer.h"

typedef enum lg_kind { LG_PROSE, LG_PYTHON, LG_HTML, LG_LATEX } lg_kind; /* chooses the tagger */
#define LG_N_KINDS 4
LG_API const char *lg_kind_name(lg_kind kind);              /* "prose", "python", "html", "latex" */
LG_API bool lg_kind_parse(const char *name, lg_kind *kind); /* false: no such kind */

typedef struct lg_dataset_options {
    const char *tokenizer; /* tokenizer.json or a folder with one; NULL with input_ids */
    const char *kind;      /* of every document, or NULL: by file ending (JSONL: prose) */
    const char *domain;    /* label where a document has none of its own, or NULL: its kind */
    uint64_t limit;        /* tokens per domain at most, by document hash (nested samples); 0: all */
    bool parse_special;    /* special tokens spelled in the text are tokens */
    bool input_ids;        /* JSONL lines hold "input_ids": already tokenised, no text */
    unsigned threads;      /* 0: all processors */
    const char *command;   /* for the provenance */
} lg_dataset_options;

/* Reads the corpora PATHS and writes the dataset to OUT, atomically. What is skipped, duplicated or repaired
   is counted in the artefact's "about" and told to MONITOR. */
LG_API lg_status lg_dataset_build(const char *const *paths, size_t n_paths, const lg_dataset_options *options,
                                  const char *out, const lg_monitor *monitor, lg_error *error);

/* Whether PATH is what lg_dataset_build would write now: the corpora are read and hashed, not tokenised. A
   file that is missing, or no dataset, is not. */
LG_API lg_status lg_dataset_is_current(const char *path, const char *const *paths, size_t n_paths,
                                       const lg_dataset_options *options, const lg_monitor *monitor,
                                       bool *current, lg_error *error);

/* A dataset, mapped and validated: ends rise, ids and names are in range. All arrays borrowed from `table`.
 */
typedef struct lg_dataset {
    lg_table *table;
    size_t n_docs, n_tokens, n_bytes, n_domains;
    const char *text;              /* [n_bytes]; none for already tokenised data */
    const uint64_t *doc_text_end;  /* [n_docs] */
    const uint64_t *doc_token_end; /* [n_docs] */
    const uint8_t *doc_kind;       /* [n_docs] lg_kind */
    const uint16_t *doc_domain;    /* [n_docs] index into domains */
    const char *doc_name;          /* names joined */
    const uint64_t *doc_name_end;  /* [n_docs] */
    const uint32_t *token_id;      /* [n_tokens] */
    const uint64_t *token_end;     /* [n_tokens] byte end in text; all 0 for already tokenised data */
    char **domains;                /* [n_domains] */
    uint32_t max_token_id;
    bool has_text;
    bool spans;            /* its "tokens" are spans that several tokenizers share (lossgap/align.h) */
    const char *tokenizer; /* its identity, "" for already tokenised data */
} lg_dataset;

LG_API lg_status lg_dataset_open(const char *path, lg_dataset *dataset, lg_error *error);
LG_API void lg_dataset_close(lg_dataset *dataset);

/* Writes to OUT, atomically, the documents of DATA with the tokens of the tokenizer in FOLDER (or its
   tokenizer.json). Special tokens are parsed if they were in DATA. THREADS 0: all processors. */
LG_API lg_status lg_dataset_retokenize(const lg_dataset *data, const char *folder, unsigned threads,
                                       const char *command, const char *out, const lg_monitor *monitor,
                                       lg_error *error);
/* Whether PATH is what lg_dataset_retokenize would write now. A file that is missing, or no dataset, is not.
 */
LG_API lg_status lg_dataset_is_retokenized(const char *path, const lg_dataset *data, const char *folder,
                                           bool *current, lg_error *error);

static inline uint64_t lg_begin_of(const uint64_t *ends, size_t i) {
    return i ? ends[i - 1] : 0;
}

/* Byte where token I of document DOC starts. */
static inline uint64_t lg_token_begin(const lg_dataset *d, size_t doc, size_t i) {
    return i > lg_begin_of(d->doc_token_end, doc) ? d->token_end[i - 1] : lg_begin_of(d->doc_text_end, doc);
}
#endif
