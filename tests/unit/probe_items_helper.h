/* Tokenizers to make probe items with, and the items made. Include after fixture.h. */
#ifndef TESTS_UNIT_PROBE_ITEMS_HELPER_H
#define TESTS_UNIT_PROBE_ITEMS_HELPER_H

#include "base/file.h"
#include "lossgap/probe.h"
#include "probe/items.h"

/* Opens the tokenizer in the folder, or returns NULL where there is none. */
static inline lg_tokenizer *open_tokenizer(const char *folder) {
    lg_error error = {0};
    lg_tokenizer *tokenizer;
    char path[600];
    snprintf(path, sizeof path, "%s/tokenizer.json", folder);
    if (!lg_exists(path)) return NULL;
    if (lg_tokenizer_open(path, &tokenizer, &error)) fail_msg("%s", error.message);
    return tokenizer;
}

/* The tokenizer of the small models, which are part of the tree. */
static inline lg_tokenizer *small_tokenizer(void) {
    lg_tokenizer *tokenizer = open_tokenizer("models/transformer");
    if (!tokenizer) fail_msg("models/transformer has no tokenizer: run the tests from the tree's root");
    return tokenizer;
}

static inline const char *shared_folder(void) {
    const char *shared = getenv("LG_SHARED");
    return shared ? shared : "../shared";
}

static inline lg_probe_items *generate(const lg_tokenizer *tokenizer, const lg_probe_options *options) {
    lg_error error = {0};
    lg_probe_items *items;
    if (lg_probe_generate(options, tokenizer, NULL, &items, &error)) fail_msg("%s", error.message);
    return items;
}

static inline lg_text item_text(const lg_probe_item *item) {
    lg_text text = {0};
    lg_probe_put_item(&text, item);
    return text;
}

#endif
