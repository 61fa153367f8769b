/* The files of a corpus: which ones, in which order, of which kind. */
#ifndef LG_CORPUS_FILES_H
#define LG_CORPUS_FILES_H

#include "base/memory.h"
#include "corpus/stream.h"
#include "lossgap/dataset.h"

typedef struct lg_corpus_file {
    const char *path; /* to open */
    const char *name; /* in the dataset: below the folder that was given, or the last part; no .gz or .zst */
    uint64_t size;    /* bytes as stored; 0 for pipes */
    bool regular;
    bool jsonl;
    lg_packing packing;
    lg_kind kind; /* by ending; prose for JSONL */
} lg_corpus_file;

typedef struct lg_skipped {
    const char *ending; /* ".png", ".tar.gz", "(none)" … in lower case, valid UTF-8 */
    uint64_t count;
} lg_skipped;

/* {0} to start. */
typedef struct lg_corpus_files {
    lg_corpus_file *files; /* [n] argument by argument, each folder by the bytes of the names */
    size_t n, capacity;
    lg_skipped *skipped; /* [n_skipped] most frequent first, then by ending */
    size_t n_skipped, skipped_capacity;
    lg_arena strings;
} lg_corpus_files;

/* What NAME's ending says. *ENDING (may be NULL) gets the place of the ending in NAME, .gz and .zst included.
   false: not a kind that is read. */
bool lg_corpus_kind_of(const char *name, bool *jsonl, lg_packing *packing, lg_kind *kind,
                       const char **ending);

/* Finds the files of PATHS. A single file is taken whatever its ending if it is told what it holds:
   ANY_ENDING, or as JSONL with ALL_JSONL (then nothing else is taken from folders). */
lg_status lg_corpus_files_find(const char *const *paths, size_t n_paths, bool any_ending, bool all_jsonl,
                               lg_corpus_files *files, lg_error *error);
void lg_corpus_files_free(lg_corpus_files *files);

#endif
