/* Byte-level BPE tokenizers of the Hugging Face tokenizer.json kind, with byte offsets. */
#ifndef LOSSGAP_TOKENIZER_H
#define LOSSGAP_TOKENIZER_H

#include "lossgap/base.h"

typedef struct lg_tokenizer lg_tokenizer;                 /* immutable, shared by threads */
typedef struct lg_tokenizer_session lg_tokenizer_session; /* scratch and caches (4 MB) of one thread */

/* Growing output, caller-owned and reused: {0} to start, lg_tokens_free at the end. */
typedef struct lg_tokens {
    uint32_t *ids; /* [count] */
    /* [count] byte end of each token in the text: it starts where the one before ends, and the last ends with
       the text. Inside a piece that NFC changed, all tokens but the last end at its start. Text without a
       token (a step removes it, or the vocabulary lacks a byte) goes to the token after it, or to the last
       one. */
    size_t *ends;
    size_t count, capacity;
} lg_tokens;

LG_API void lg_tokens_free(lg_tokens *tokens);

/* PATH: a tokenizer.json or a folder that holds one. */
LG_API lg_status lg_tokenizer_open(const char *path, lg_tokenizer **tokenizer, lg_error *error);
/* The same from memory; NAME stands for the file in errors. JSON is not kept. */
LG_API lg_status lg_tokenizer_parse(const char *json, size_t length, const char *name,
                                    lg_tokenizer **tokenizer, lg_error *error);
LG_API void lg_tokenizer_close(lg_tokenizer *tokenizer);

LG_API size_t lg_tokenizer_size(const lg_tokenizer *tokenizer); /* 1 + the largest id */
/* 32 hex digits: XXH3-128 of what was parsed. */
LG_API const char *lg_tokenizer_identity(const lg_tokenizer *tokenizer);
/* One line for people. */
LG_API const char *lg_tokenizer_describe(const lg_tokenizer *tokenizer);
/* Id of an added token by its content; false: no such token. */
LG_API bool lg_tokenizer_added_token(const lg_tokenizer *tokenizer, const char *content, uint32_t *id);
/* The bytes that ID stands for (added tokens: their content), kept by the tokenizer, not NUL-terminated;
   NULL: no such id. */
LG_API const char *lg_tokenizer_bytes(const lg_tokenizer *tokenizer, uint32_t id, size_t *length);

LG_API lg_status lg_tokenizer_session_create(const lg_tokenizer *tokenizer, lg_tokenizer_session **session,
                                             lg_error *error);
LG_API void lg_tokenizer_session_free(lg_tokenizer_session *session);

/* Replaces TOKENS by those of TEXT (any bytes; an invalid byte acts as U+FFFD in patterns and stays itself).
   Special tokens spelled in TEXT are text unless PARSE_SPECIAL; other added tokens are always found. Nothing
   is added. Fails only for lack of memory (LG_FAILED) or where the file's pattern exceeds the matcher's
   limits (LG_BAD_INPUT); then TOKENS is empty. */
LG_API lg_status lg_tokenize(lg_tokenizer_session *session, const char *text, size_t length,
                             bool parse_special, lg_tokens *tokens, lg_error *error);
#endif
