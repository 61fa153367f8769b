/* Reading tokenizer.json, in three files: read.c (the whole), read_model.c (vocabulary and merges),
   read_steps.c (normaliser and pre-tokenizers). */
#ifndef LG_TOKENIZER_READ_INTERNAL_H
#define LG_TOKENIZER_READ_INTERNAL_H

#include "base/json.h"
#include "tokenizer/tokenizer_internal.h"

typedef struct lg_reader {
    lg_tokenizer *tokenizer;
    const char *name;
    bool no_splitters;
    bool byte_level; /* a ByteLevel pre-tokenizer was read */
    lg_error *error;
    lg_text scratch;   /* the JSON parser's */
    lg_strings names;  /* the vocabulary's strings as written, with their ids */
    char byte_of[512]; /* [code point] of the byte-level alphabet */
    bool is_byte[512]; /* the code point belongs to it */
} lg_reader;

/* "NAME: PLACE: …", LG_BAD_INPUT. */
lg_status lg_reader_refuse(lg_reader *reader, const char *place, const char *format, ...) LG_PRINTF(3, 4);

/* Ends the reading of JSON with an error that was filled already. Returns false. */
bool lg_read_stop(lg_json *json, lg_status status);

lg_status lg_read_model(lg_reader *reader, lg_json *json);
/* The tokens' bytes, from the vocabulary and the added tokens; whole pieces for ignore_merges. */
lg_status lg_read_finish_vocabulary(lg_reader *reader);
lg_status lg_read_normalizer(lg_reader *reader, const lg_json_value *value);
lg_status lg_read_pre_tokenizer(lg_reader *reader, const lg_json_value *value);

#endif
