/* Opening a tokenizer and using it when memory runs out: at every allocation, an error and nothing lost. */
#include "failing_malloc.h"

#include <stdio.h>

#include "tokenizer_fixture.h"

/* The whole of it: NFC, added tokens, a regular expression, invalid bytes, short and long pieces, and the
 * prefix. */
static lg_status open_and_use(void *context, lg_error *error) {
    const char *json = context;
    lg_tokenizer *tokenizer = NULL;
    lg_tokenizer_session *session = NULL;
    lg_tokens tokens = {0};
    char text[400];
    memset(text, 'a', sizeof text);
    memcpy(text + 100, "e\xCC\x81 <x\xCC\xA7\xCC\x81> <e>\xFF 12 ", 20);
    lg_status status = lg_tokenizer_parse(json, strlen(json), "test.json", &tokenizer, error);
    if (!status) status = lg_tokenizer_session_create(tokenizer, &session, error);
    if (!status) status = lg_tokenize(session, text, sizeof text, true, &tokens, error);
    if (!status && tokens.ends[tokens.count - 1] != sizeof text) abort();
    if (status && tokens.count) abort();
    lg_tokens_free(&tokens);
    lg_tokenizer_session_free(session);
    lg_tokenizer_close(tokenizer);
    return status;
}

static void everything(void **state) {
    (void)state;
    char *json =
        tokenizer_json("{\"type\": \"NFC\"}",
                       "{\"type\": \"Sequence\", \"pretokenizers\": [{\"type\": \"Split\", \"pattern\": "
                       "{\"Regex\": \"[0-9]{1,2}+| \"}, "
                       "\"behavior\": \"MergedWithNext\", \"invert\": false}, {\"type\": \"Split\", "
                       "\"pattern\": {\"String\": \"12\"}, "
                       "\"behavior\": \"Isolated\", \"invert\": false}, {\"type\": \"ByteLevel\", "
                       "\"add_prefix_space\": true}]}",
                       "[{\"id\": 300, \"content\": \"<e>\", \"special\": true}, {\"id\": 301, \"content\": "
                       "\"<x\\u0327\\u0301>\", "
                       "\"normalized\": true, \"lstrip\": true}]",
                       "[\"a a\", [\"aa\", \"aa\"]]", ", \"ignore_merges\": true, \"unk_token\": \"a\"",
                       (const char *const[]){"aa", "aaaa", NULL});
    survives_failing_malloc(open_and_use, json, "tokenizer");
    free(json);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(everything)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
