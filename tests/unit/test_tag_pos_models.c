/* The models that come with the program: every word of our own obvious sentences, and, where the development
   files are at hand, the accuracies that the project promises. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lossgap/tagger.h"

static void eval(const char *tagset, const char *path, bool raw, lg_tagger_report *report) {
    lg_error error = {0};
    const lg_tagger_eval_options options = {.tagset = tagset, .raw = raw};
    if (lg_tagger_eval(&path, 1, &options, report, &error)) fail_msg("%s", error.message);
}

static void test_obvious(void **state) {
    (void)state;
    static const char *const golden[][2] = {{"brown", "tests/golden/tagger/brown.txt"},
                                            {"upos", "tests/golden/tagger/treebank.conllu"},
                                            {"penn", "tests/golden/tagger/treebank.conllu"}};
    for (size_t i = 0; i < 3; i++) {
        lg_tagger_report r;
        eval(golden[i][0], golden[i][1], i > 0, &r);
        assert_in_range(r.words, 80, 200);
        for (size_t k = 0; k < r.n_confusions; k++)
            print_message("%s: %s taken for %s\n", golden[i][0], r.confusions[k].gold,
                          r.confusions[k].predicted);
        assert_int_equal(r.correct, r.words);
        assert_int_equal(r.family_correct, r.words);
        if (i > 0) { /* and from raw text */
            assert_int_equal(r.raw_words, r.words);
            assert_int_equal(r.raw_same, r.words);
            assert_int_equal(r.raw_correct, r.words);
            assert_int_equal(r.raw_sentences_same, r.sentences);
        }
        lg_tagger_report_free(&r);
    }
}

/* LEAST and LEAST_FAMILY in thousandths, of words as given; WORDS_F1 of raw text, 0: not measured. */
static void hold(const char *tagset, const char *file, uint64_t least, uint64_t least_family,
                 uint64_t words_f1) {
    const char *shared = getenv("LG_SHARED");
    char path[512];
    snprintf(path, sizeof path, "%s/pos/%s", shared ? shared : "../shared", file);
    if (access(path, R_OK) != 0) {
        print_message("skip: no %s\n", path);
        skip();
    }
    lg_tagger_report r;
    eval(tagset, path, words_f1 > 0, &r);
    print_message("%s, %s: %llu of %llu words right, family %llu\n", tagset, file,
                  (unsigned long long)r.correct, (unsigned long long)r.words,
                  (unsigned long long)r.family_correct);
    assert_true(r.words > 10000);
    assert_true(r.correct * 1000 >= r.words * least);
    assert_true(r.family_correct * 1000 >= r.words * least_family);
    if (words_f1) assert_true(2000 * r.raw_same >= words_f1 * (r.words + r.raw_words));
    lg_tagger_report_free(&r);
}

static void test_brown(void **state) {
    (void)state;
    hold("brown", "brown-dev.txt", 970, 983, 0);
}
static void test_upos_ewt(void **state) {
    (void)state;
    hold("upos", "en_ewt-dev.conllu", 950, 0, 990);
}
static void test_upos_gum(void **state) {
    (void)state;
    hold("upos", "en_gum-dev.conllu", 960, 0, 990);
}
static void test_penn_ewt(void **state) {
    (void)state;
    hold("penn", "en_ewt-dev.conllu", 943, 0, 990);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_obvious), cmocka_unit_test(test_brown),
                                       cmocka_unit_test(test_upos_ewt), cmocka_unit_test(test_upos_gum),
                                       cmocka_unit_test(test_penn_ewt)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
