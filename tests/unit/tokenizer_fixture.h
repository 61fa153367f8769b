/* Small tokenizer.json texts for tests, and their tokens as strings. Include after cmocka.h. */
#ifndef TESTS_UNIT_TOKENIZER_FIXTURE_H
#define TESTS_UNIT_TOKENIZER_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "lossgap/tokenizer.h"

/* The name of a byte in GPT-2's alphabet. */
static void put_byte_name(lg_text *out, unsigned byte) {
    uint32_t c = byte, next = 256;
    for (unsigned b = 0; b <= byte; b++) {
        int printable = (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
        c = printable ? b : next++;
    }
    char utf8[4];
    lg_text_put(out, utf8, lg_utf8_encode(c, utf8));
}

static void put_name(lg_text *out, const char *bytes) {
    for (; *bytes; bytes++) put_byte_name(out, (unsigned char)*bytes);
}

/* Ids 0 to 255 are the bytes, then come the EXTRA tokens (their bytes; NULL ends the list). The other parts
   are JSON; MODEL is put into the model as it is ("" or ", \"member\": value…"). free() it. */
static char *tokenizer_json(const char *normalizer, const char *pre_tokenizer, const char *added,
                            const char *merges, const char *model, const char *const *extra) {
    lg_text t = {0};
    lg_text_printf(&t,
                   "{\"normalizer\": %s, \"pre_tokenizer\": %s, \"added_tokens\": %s, \"model\": {\"type\": "
                   "\"BPE\"%s, \"merges\": %s, "
                   "\"vocab\": {",
                   normalizer, pre_tokenizer, added, model, merges);
    lg_json_writer w = {.out = &t};
    for (unsigned i = 0; i < 256 || (extra && extra[i - 256]); i++) {
        lg_text name = {0};
        if (i < 256) put_byte_name(&name, i);
        else put_name(&name, extra[i - 256]);
        lg_json_put_key(&w, name.data);
        lg_json_put_unsigned(&w, i);
        lg_text_free(&name);
    }
    lg_text_puts(&t, "}}}");
    return t.data;
}

#define BYTE_LEVEL                                                                                           \
    "{\"type\": \"ByteLevel\", \"add_prefix_space\": false, \"trim_offsets\": true, \"use_regex\": false}"

typedef struct fixture {
    lg_tokenizer *tokenizer;
    lg_tokenizer_session *session;
    lg_tokens tokens;
    lg_text shown;
} fixture;

__attribute__((unused)) static void fixture_open(fixture *f, char *json) {
    lg_error error = {0};
    *f = (fixture){0};
    if (lg_tokenizer_parse(json, strlen(json), "test.json", &f->tokenizer, &error))
        fail_msg("%s", error.message);
    free(json);
    if (lg_tokenizer_session_create(f->tokenizer, &f->session, &error)) fail_msg("%s", error.message);
}

__attribute__((unused)) static void fixture_close(fixture *f) {
    lg_tokenizer_session_free(f->session);
    lg_tokenizer_close(f->tokenizer);
    lg_tokens_free(&f->tokens);
    lg_text_free(&f->shown);
}

/* The tokens of TEXT as "bytes|bytes|…". */
__attribute__((unused)) static const char *fixture_show(fixture *f, const char *text, bool parse_special) {
    lg_error error = {0};
    if (lg_tokenize(f->session, text, strlen(text), parse_special, &f->tokens, &error))
        fail_msg("%s", error.message);
    f->shown.length = 0;
    lg_text_puts(&f->shown, "");
    for (size_t i = 0; i < f->tokens.count; i++) {
        size_t length = 0;
        const char *bytes = lg_tokenizer_bytes(f->tokenizer, f->tokens.ids[i], &length);
        if (i) lg_text_puts(&f->shown, "|");
        lg_text_put(&f->shown, bytes, length);
    }
    return f->shown.data;
}

/* Their ends as "1 5 …". */
__attribute__((unused)) static const char *fixture_ends(fixture *f) {
    f->shown.length = 0;
    lg_text_puts(&f->shown, "");
    for (size_t i = 0; i < f->tokens.count; i++)
        lg_text_printf(&f->shown, "%s%zu", i ? " " : "", f->tokens.ends[i]);
    return f->shown.data;
}

#endif
