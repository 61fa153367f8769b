/* A dataset's documents with other tokens: the same as from the corpus, and known when it is there. */
#include "fixture.h"

#include "base/file.h"

/* Two tokenizers: letters, and letters with the pair "ab". */
static void write_tokenizer(const char *path, bool pair) {
    lg_text t = {0};
    lg_text_printf(
        &t,
        "{\"added_tokens\":[],\"normalizer\":null,\"pre_tokenizer\":{\"type\":\"ByteLevel\","
        "\"add_prefix_space\":false,\"use_regex\":true},\"model\":{\"type\":\"BPE\",\"merges\":[%s],"
        "\"vocab\":{\"\\u0120\":1,\"\\u010a\":2%s",
        pair ? "[\"a\",\"b\"]" : "", pair ? ",\"ab\":3" : "");
    for (int c = 'a'; c <= 'z'; c++) lg_text_printf(&t, ",\"%c\":%d", c, c);
    lg_text_puts(&t, "}}}");
    assert_int_equal(lg_write_file(path, t.data, t.length, NULL), LG_OK);
    lg_text_free(&t);
}

static void same_as_from_the_corpus(void **state) {
    (void)state;
    char corpus[128], letters[128], pairs[128], one[128], other[128], wanted[128];
    snprintf(corpus, sizeof corpus, "%s/corpus.jsonl", fixture_folder);
    snprintf(letters, sizeof letters, "%s/letters.json", fixture_folder);
    snprintf(pairs, sizeof pairs, "%s/pairs.json", fixture_folder);
    snprintf(one, sizeof one, "%s/one", fixture_folder);
    snprintf(other, sizeof other, "%s/other", fixture_folder);
    snprintf(wanted, sizeof wanted, "%s/wanted", fixture_folder);
    static const char text[] =
        "{\"id\":\"x\",\"text\":\"ab cab\",\"domain\":\"d\"}\n{\"id\":\"y\",\"text\":\"\"}\n"
        "{\"id\":\"z\",\"text\":\"abba\",\"kind\":\"python\"}\n";
    assert_int_equal(lg_write_file(corpus, text, sizeof text - 1, NULL), LG_OK);
    write_tokenizer(letters, false);
    write_tokenizer(pairs, true);
    const char *paths[] = {corpus};
    lg_error error = {0};
    lg_dataset_options o = {.tokenizer = letters, .threads = 1, .command = "test"};
    if (lg_dataset_build(paths, 1, &o, one, NULL, &error)) fail_msg("%s", error.message);
    o.tokenizer = pairs;
    if (lg_dataset_build(paths, 1, &o, wanted, NULL, &error)) fail_msg("%s", error.message);
    lg_dataset data, got, from_corpus;
    bool current;
    assert_int_equal(lg_dataset_open(one, &data, &error), LG_OK);
    assert_int_equal(lg_dataset_is_retokenized(other, &data, pairs, &current, &error), LG_OK);
    assert_false(current);
    if (lg_dataset_retokenize(&data, pairs, 2, "test", other, NULL, &error)) fail_msg("%s", error.message);
    assert_int_equal(lg_dataset_is_retokenized(other, &data, pairs, &current, &error), LG_OK);
    assert_true(current);
    assert_int_equal(lg_dataset_is_retokenized(other, &data, letters, &current, &error), LG_OK);
    assert_false(current);
    assert_int_equal(lg_dataset_is_retokenized(one, &data, letters, &current, &error), LG_OK);
    assert_false(current); /* it does not say what it is like */
    assert_int_equal(lg_dataset_open(other, &got, &error), LG_OK);
    assert_int_equal(lg_dataset_open(wanted, &from_corpus, &error), LG_OK);
    assert_string_equal(lg_table_provenance(got.table)->identity,
                        lg_table_provenance(from_corpus.table)->identity);
    assert_string_equal(got.tokenizer, from_corpus.tokenizer);
    const uint32_t ids[] = {3, 1, 'c', 3, 3, 'b', 'a'};
    const uint64_t ends[] = {2, 3, 4, 6, 8, 9, 10}, docs[] = {4, 4, 7};
    assert_int_equal(got.n_tokens, 7);
    assert_memory_equal(got.token_id, ids, sizeof ids);
    assert_memory_equal(got.token_end, ends, sizeof ends);
    assert_memory_equal(got.doc_token_end, docs, sizeof docs);
    assert_int_equal(lg_dataset_retokenize(&data, pairs, 1, "test", one, NULL, &error), LG_USAGE);
    assert_int_equal(lg_dataset_retokenize(&data, corpus, 1, "test", other, NULL, &error), LG_BAD_INPUT);
    lg_dataset_close(&data);
    lg_dataset_close(&got);
    lg_dataset_close(&from_corpus);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_as_from_the_corpus)};
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
