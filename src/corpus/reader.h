/* The documents of a corpus, one after the other. */
#ifndef LG_CORPUS_READER_H
#define LG_CORPUS_READER_H

#include "base/json.h"
#include "corpus/files.h"

typedef struct lg_reader lg_reader;

/* Where its bytes are, the caller knows: lg_reader_next. Strings live until the next call. */
typedef struct lg_document {
    size_t size;      /* bytes of text, or of uint32_t ids */
    lg_string name;   /* any bytes */
    lg_string domain; /* valid UTF-8 without NUL */
    lg_kind kind;
    size_t lone_surrogates; /* now U+FFFD */
} lg_document;

/* KIND (a lg_kind or -1) and DOMAIN (NULL: none) are the caller's wishes; FILES and DOMAIN are borrowed. */
lg_status lg_reader_create(const lg_corpus_files *files, int kind, const char *domain, bool input_ids,
                           lg_reader **reader, lg_error *error);
/* Appends the content of the next document, its text or its ids, to CONTENT. *MORE false: there is none. */
lg_status lg_reader_next(lg_reader *reader, lg_text *content, lg_document *document, bool *more,
                         lg_error *error);
uint64_t lg_reader_consumed(const lg_reader *reader); /* bytes of all files so far, as stored */
void lg_reader_free(lg_reader *reader);

#endif
