/* Tokenizers: opening, asking, closing. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "tokenizer/tokenizer_internal.h"

lg_status lg_tokenizer_open(const char *path, lg_tokenizer **tokenizer, lg_error *error) {
    *tokenizer = NULL;
    char *joined = NULL;
    if (lg_is_folder(path)) {
        joined = lg_path_join(path, "tokenizer.json");
        if (!joined) return lg_fail_memory(error);
        path = joined;
    }
    lg_mapping mapping;
    lg_status status = lg_map(path, &mapping, error);
    if (!status) {
        status = lg_tokenizer_parse((const char *)mapping.data, mapping.size, path, tokenizer, error);
        lg_unmap(&mapping);
    }
    free(joined);
    return status;
}

lg_status lg_tokenizer_parse(const char *json, size_t length, const char *name, lg_tokenizer **tokenizer,
                             lg_error *error) {
    return lg_tokenizer_read(json, length, name, false, tokenizer, error);
}

void lg_tokenizer_close(lg_tokenizer *t) {
    if (!t) return;
    for (size_t i = 0; i < t->step_count; i++) lg_step_free(&t->steps[i]);
    free(t->steps);
    free(t->name);
    free(t->classes);
    lg_bpe_free(&t->bpe);
    lg_text_free(&t->bytes);
    lg_text_free(&t->description);
    free(t->tokens);
    free(t->added);
    lg_arena_free(&t->arena);
    free(t->keys);
    free(t);
}

size_t lg_tokenizer_size(const lg_tokenizer *tokenizer) {
    return tokenizer->token_count ? (size_t)tokenizer->tokens[tokenizer->token_count - 1].id + 1 : 0;
}

const char *lg_tokenizer_identity(const lg_tokenizer *tokenizer) {
    return tokenizer->identity;
}

const char *lg_tokenizer_describe(const lg_tokenizer *tokenizer) {
    return tokenizer->description.data;
}

bool lg_tokenizer_added_token(const lg_tokenizer *tokenizer, const char *content, uint32_t *id) {
    size_t length = strlen(content);
    for (size_t i = 0; i < tokenizer->added_count; i++) {
        const lg_added *a = &tokenizer->added[i];
        if (a->length != length || memcmp(a->content, content, length) != 0) continue;
        *id = a->id;
        return true;
    }
    return false;
}

const char *lg_tokenizer_bytes(const lg_tokenizer *tokenizer, uint32_t id, size_t *length) {
    const lg_token *tokens = tokenizer->tokens;
    size_t low = 0, high = tokenizer->token_count;
    if (id < high && tokens[id].id == id) low = id; /* without gaps below, as nearly always */
    else
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (tokens[middle].id < id) low = middle + 1;
            else high = middle;
        }
    if (low == tokenizer->token_count || tokens[low].id != id) return NULL;
    *length = tokens[low].length;
    return tokenizer->bytes.data + tokens[low].begin;
}

void lg_tokens_free(lg_tokens *tokens) {
    free(tokens->ids);
    free(tokens->ends);
    *tokens = (lg_tokens){0};
}
