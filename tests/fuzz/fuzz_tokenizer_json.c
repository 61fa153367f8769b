/* tokenizer.json: any bytes are either a tokenizer or an error that names the file, and a tokenizer keeps a
   text's bytes. */
#include <stdlib.h>
#include <string.h>

#include "tokenizer/tokenizer_internal.h"

static const char text[] = "The  <e> caf\xC3\xA9 e\xCC\x81\xCC\xA7 <|x|> isn't 1234 \xFF\xC3 "
                           "\xE4\xB8\xAD\xE6\x96\x87 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"
                           "\r\n\n\tfoo_bar(x)  \xF0\x9F\x98\x80\xE1\xA0\x8E";

/* Nothing is put in, left out or rewritten: the tokens' bytes are the text. */
static bool keeps_bytes(const lg_tokenizer *t) {
    bool keeps = !t->nfc && !t->missing_bytes;
    for (size_t i = 0; i < t->step_count; i++)
        keeps &= t->steps[i].kind != LG_STEP_PREFIX && t->steps[i].behavior != LG_REMOVED;
    for (size_t i = 0; i < t->added_count; i++) keeps &= !t->added[i].lstrip && !t->added[i].rstrip;
    return keeps;
}

static void use(const lg_tokenizer *t) {
    lg_tokenizer_session *s;
    lg_error error = {0};
    lg_tokens tokens = {0};
    if (lg_tokenizer_session_create(t, &s, &error)) abort();
    for (int special = 0; special < 2; special++) {
        if (lg_tokenize(s, text, sizeof text, special, &tokens, &error)) {
            if (error.status != LG_BAD_INPUT || tokens.count) abort(); /* a pattern that needs too much */
            continue;
        }
        size_t begin = 0;
        for (size_t i = 0; i < tokens.count; i++) {
            size_t length, end = tokens.ends[i];
            const char *bytes = lg_tokenizer_bytes(t, tokens.ids[i], &length);
            if (!bytes || end < begin || end > sizeof text) abort();
            if (keeps_bytes(t) && (length != end - begin || memcmp(bytes, text + begin, length) != 0)) {
                /* an added token and a byte may share a name: then the content counts */
                bool named = false;
                for (size_t k = 0; k < t->added_count; k++) named |= t->added[k].id == tokens.ids[i];
                if (!named) abort();
            }
            begin = end;
        }
        if (tokens.count && begin != sizeof text) abort();
    }
    lg_tokens_free(&tokens);
    lg_tokenizer_session_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *copy = malloc(size ? size : 1); /* so that reading past the end shows */
    if (!copy) abort();
    if (size) memcpy(copy, data, size);
    for (int no_splitters = 0; no_splitters < 2; no_splitters++) {
        lg_error error = {0};
        lg_tokenizer *t;
        lg_status status = lg_tokenizer_read(copy, size, "file", no_splitters, &t, &error);
        if (status &&
            (t || status != LG_BAD_INPUT || error.status != status || strncmp(error.message, "file: ", 6)))
            abort();
        if (!status) use(t);
        lg_tokenizer_close(t);
    }
    free(copy);
    return 0;
}
