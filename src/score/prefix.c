/* Which token stands before a document. */
#include "score/prefix.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "lossgap/tokenizer.h"

lg_status lg_prefix_resolve(int64_t wanted, const lg_prefix_hints *hints, int64_t *prefix, const char **why,
                            lg_error *error) {
    *prefix = wanted;
    *why = wanted == LG_PREFIX_NONE ? "as asked" : "by its id";
    if (wanted == LG_PREFIX_NONE) return LG_OK;
    if (wanted >= 0) {
        if (wanted < UINT32_MAX) return LG_OK;
        return lg_fail(error, LG_USAGE, "the prefix %lld is no token id", (long long)wanted);
    }
    if (hints->has_bos || hints->has_eos) {
        *prefix = hints->has_bos ? hints->bos : hints->eos;
        *why = hints->has_bos ? "bos_token_id" : "eos_token_id";
        return LG_OK;
    }
    *prefix = LG_PREFIX_NONE;
    *why = "no bos, eos or <|endoftext|> is known";
    if (!hints->tokenizer) return LG_OK;
    char *file = lg_is_folder(hints->tokenizer) ? lg_path_join(hints->tokenizer, "tokenizer.json") : NULL;
    bool there = lg_exists(file ? file : hints->tokenizer);
    free(file);
    if (!there) return LG_OK;
    lg_tokenizer *tokenizer;
    uint32_t id;
    lg_status status = lg_tokenizer_open(hints->tokenizer, &tokenizer, error);
    if (status) return status;
    if (lg_tokenizer_added_token(tokenizer, "<|endoftext|>", &id)) {
        *prefix = id;
        *why = "<|endoftext|>";
    }
    lg_tokenizer_close(tokenizer);
    return LG_OK;
}

/* An id, or the first of a list of them. */
static bool token_id(const lg_json_value *value, uint32_t *id) {
    if (value && value->type == LG_JSON_ARRAY) value = value->first;
    if (!value || value->type != LG_JSON_INTEGER || value->integer < 0 || value->integer >= UINT32_MAX)
        return false;
    *id = (uint32_t)value->integer;
    return true;
}

lg_status lg_prefix_read_config(const char *folder, lg_prefix_hints *hints, lg_error *error) {
    if (!lg_is_folder(folder)) return LG_OK;
    char *path = lg_path_join(folder, "config.json");
    if (!path) return lg_fail_memory(error);
    lg_mapping text = {0};
    lg_arena arena = {0};
    lg_json_value *config;
    lg_status status = LG_OK;
    if (lg_exists(path) && !(status = lg_map(path, &text, error)) &&
        !(status = lg_json_parse(&arena, (const char *)text.data, text.size, path, &config, error))) {
        hints->has_bos = token_id(lg_json_get(config, "bos_token_id"), &hints->bos);
        hints->has_eos = token_id(lg_json_get(config, "eos_token_id"), &hints->eos);
    }
    lg_arena_free(&arena);
    lg_unmap(&text);
    free(path);
    return status;
}
