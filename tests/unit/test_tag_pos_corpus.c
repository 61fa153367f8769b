/* Readers of tagged text: Brown's word/tag lines and CoNLL-U, by hand-made pieces; what is broken is told
   with its line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tag/pos_corpus.h"
#include "tag/prose.h"

static lg_pos_corpus corpus;

static int clear(void **state) {
    (void)state;
    lg_pos_corpus_free(&corpus);
    return 0;
}

static void parse(const char *tagset, const char *text) {
    lg_error error = {0};
    if (lg_pos_corpus_parse(&corpus, text, strlen(text), "file", tagset, &error))
        fail_msg("%s", error.message);
}

static void refuse(const char *tagset, const char *text, const char *message) {
    lg_error error = {0};
    lg_status status = lg_pos_corpus_parse(&corpus, text, strlen(text), "file", tagset, &error);
    if (status != LG_BAD_INPUT || error.status != status || !strstr(error.message, message))
        fail_msg("\"%s\": status %d, \"%s\"", text, (int)status, error.message);
    lg_pos_corpus_free(&corpus);
}

/* The words as "form/tag" with a bar before each sentence, and, where there is raw text, what of it each lies
   on. */
static const char *show(bool raw) {
    static char out[2048];
    size_t n = 0;
    for (size_t i = 0; i < corpus.words.count; i++) {
        const char *text = raw ? corpus.raw.data : corpus.given.data;
        uint64_t begin = raw ? corpus.raw_begin[i] : corpus.words.begin[i],
                 end = raw ? corpus.raw_end[i] : corpus.words.end[i];
        assert_in_range(end, begin + 1, raw ? corpus.raw.length : corpus.given.length);
        n += (size_t)snprintf(out + n, sizeof out - n, "%s%.*s/%s", corpus.words.tag[i] ? "|" : " ",
                              (int)(end - begin), text + begin, corpus.tags.names[corpus.gold[i]]);
    }
    return out;
}

static void test_brown(void **state) {
    (void)state;
    parse("brown", "# newdoc id = a genre = news\n"
                   "The/at-tl Jury/nn-TL said/vbd ./.\n"
                   "\n"
                   "  1/2/cd \t of/in-nc-tl   //nil\r\n"
                   "# newdoc id = b\n"
                   "#/nn 's/pps+bez-hl");
    assert_string_equal(show(false), "|The/at Jury/nn said/vbd ./.|1/2/cd of/in //nil|#/nn 's/pps+bez");
    assert_int_equal(corpus.n_documents, 2);
    assert_int_equal(corpus.document_end[0], 7);
    assert_int_equal(corpus.document_end[1], 9);
    assert_string_equal(corpus.given.data, "The Jury said .\n1/2 of /\n# 's");
}

static void test_brown_refused(void **state) {
    (void)state;
    refuse("brown", "a/b\nword\n", "file:2: \"word\" is no word/tag");
    refuse("brown", "a/b\n\n/nn", "file:3: \"/nn\" is no word/tag");
    refuse("brown", "a/b c/\n", "file:1: a tag of no bytes");
    refuse("brown", "a/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n", "or of more than 31");
    refuse("brown",
           "a/"
           "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
           "aaaaa\n",
           "file:1: a tag of more than 31");
    refuse("brown", "a/b\001\n", "file:1: a tag with a control character");
    refuse("brown", "", "file holds no words");
    refuse("brown", "# newdoc id = a\n\n", "file holds no words");
    refuse("upos", "a/b c/d\n", "file holds no CoNLL-U, but the tagset upos is read from CoNLL-U");
    refuse("brown", "1\ta\t_\tX\tY\t_\t_\t_\t_\t_\n", "file holds CoNLL-U");
    char many[4096];
    size_t n = 0;
    for (int i = 0; i < 256; i++) n += (size_t)snprintf(many + n, sizeof many - n, "w/t%d\n", i);
    refuse("brown", many, "file:256: more than 255 different tags");
}

#define LINE(id, form, upos, xpos, misc) id "\t" form "\tlemma\t" upos "\t" xpos "\t_\t0\troot\t_\t" misc "\n"

static const char dont[] =
    "# newdoc id = a\n# newpar\n# sent_id = 1\n# text = \"I don't go.\" \xE2\x80\x94 ok\n" LINE(
        "1", "\"", "PUNCT", "``", "SpaceAfter=No") LINE("2", "I", "PRON", "PRP", "_")
        LINE("3-4", "don't", "_", "_", "_") LINE("3", "do", "AUX", "VBP", "_")
            LINE("4", "n't", "PART", "RB", "_") LINE("5", "go", "VERB", "VB", "A=B|SpaceAfter=No")
                LINE("5.1", "ghost", "VERB", "VB", "_") LINE("6", ".", "PUNCT", ".", "SpaceAfter=No")
                    LINE("7", "\"", "PUNCT", "''", "_") LINE("8", "\xE2\x80\x94", "PUNCT", ":", "_")
                        LINE("9", "ok", "INTJ", "UH",
                             "NotSpaceAfter=No") "\n"
                                                 "# text = Bye\n" LINE("1", "Bye", "INTJ", "UH",
                                                                       "SpaceAfter=No") "\n\n"
                                                                                        "# text = now\n" LINE(
                                                                                            "1", "now", "ADV",
                                                                                            "RB", "_");

static void test_conllu(void **state) {
    (void)state;
    parse("upos", dont);
    const char *upos = "|\"/PUNCT I/PRON do/AUX n't/PART go/VERB ./PUNCT \"/PUNCT \xE2\x80\x94/PUNCT "
                       "ok/INTJ|Bye/INTJ|now/ADV";
    assert_string_equal(show(false), upos);
    assert_string_equal(show(true), upos);
    assert_string_equal(corpus.given.data, "\"I don't go.\" \xE2\x80\x94 ok\nBye\nnow");
    assert_string_equal(corpus.raw.data, "\"I don't go.\" \xE2\x80\x94 ok Byenow");
    lg_pos_corpus_free(&corpus);
    parse("penn", dont);
    assert_string_equal(show(false),
                        "|\"/`` I/PRP do/VBP n't/RB go/VB ./. \"/'' \xE2\x80\x94/: ok/UH|Bye/UH|now/RB");
}

/* Two files, several documents and paragraphs, no # text: spaces as the forms have them. */
static void test_join(void **state) {
    (void)state;
    parse("upos",
          "# newdoc id = a\n" LINE("1", "a", "X", "x", "SpaceAfter=No") LINE("2", ",", "X", "x", "_")
              LINE("3", "b", "X", "x", "_") "\n# newpar\n" LINE("1", "c", "X", "x", "_") "\n# newdoc\n" LINE(
                  "1", "d", "X", "x", "_") "\n" LINE("1", "e", "X", "x", "_"));
    parse("upos", "\xEF\xBB\xBF" LINE("1", "f", "Y", "y", "_"));
    assert_string_equal(corpus.raw.data, "a, b\n\nc\n\nd e\n\nf");
    assert_string_equal(show(true), "|a/X ,/X b/X|c/X|d/X|e/X|f/Y");
    assert_int_equal(corpus.n_documents, 3);
}

/* Parts that do not spell the surface share its span. */
static void test_shared_surface(void **state) {
    (void)state;
    parse("upos", "# text = Du coup\n" LINE("1-2", "Du", "_", "_", "_") LINE("1", "de", "ADP", "IN", "_")
                      LINE("2", "le", "DET", "DT", "_") LINE("3", "coup", "NOUN", "NN", "_"));
    assert_string_equal(show(false), "|de/ADP le/DET coup/NOUN");
    assert_string_equal(show(true), "|Du/ADP Du/DET coup/NOUN");
    assert_int_equal(corpus.parts[0], 2);
    assert_int_equal(corpus.parts[1], 0);
    assert_int_equal(corpus.parts[2], 1);
}

/* A # text that says something else does not count. */
static void test_other_text(void **state) {
    (void)state;
    parse("upos", "# text = completely different\n" LINE("1", "a", "X", "x", "SpaceAfter=No")
                      LINE("2", "b", "X", "x", "_"));
    assert_string_equal(corpus.raw.data, "ab");
    lg_pos_corpus_free(&corpus);
    parse("upos", "# text = ab and more\n" LINE("1", "ab", "X", "x", "_"));
    assert_string_equal(corpus.raw.data, "ab");
}

static void test_conllu_refused(void **state) {
    (void)state;
    refuse("upos", "1\ta\tX\n", "file:1: 3 columns, where CoNLL-U has 10");
    refuse("upos", LINE("1", "a", "X", "x", "_\t_"), "file:1: 11 columns");
    refuse("upos", LINE("1", "a", "X", "x", "_") LINE("3", "a", "X", "x", "_"),
           "file:2: word 3 where word 2 is expected");
    refuse("upos", LINE("x", "a", "X", "x", "_"), "file:1: the first column holds no number");
    refuse("upos", LINE("99999999999999999999", "a", "X", "x", "_"),
           "file:1: the first column holds no number");
    refuse("upos", LINE("1", "", "X", "x", "_"), "file:1: a word of no letters");
    refuse("upos", LINE("1", "a", "_", "x", "_"), "file:1: the word has no upos tag");
    refuse("penn", LINE("1", "a", "X", "_", "_"), "file:1: the word has no penn tag");
    refuse("upos", LINE("1-1", "a", "X", "x", "_"), "file:1: the first column holds no range");
    refuse("upos", LINE("1-500", "a", "X", "x", "_"), "file:1: the first column holds no range");
    refuse("upos", LINE("1-2-3", "a", "X", "x", "_"), "file:1: the first column holds no range");
    refuse("upos", LINE("1-2", "ab", "_", "_", "_") LINE("1-2", "ab", "_", "_", "_"),
           "file:2: the first column");
    refuse("upos", LINE("1-2", "ab", "_", "_", "_") LINE("1", "a", "X", "x", "_") "\n",
           "within a multiword token");
}

static void test_missing(void **state) {
    (void)state;
    lg_error error = {0};
    assert_int_equal(lg_pos_corpus_read(&corpus, "/does/not/exist", "brown", &error), LG_BAD_INPUT);
    assert_non_null(strstr(error.message, "/does/not/exist"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_brown, clear),
        cmocka_unit_test_teardown(test_brown_refused, clear),
        cmocka_unit_test_teardown(test_conllu, clear),
        cmocka_unit_test_teardown(test_join, clear),
        cmocka_unit_test_teardown(test_shared_surface, clear),
        cmocka_unit_test_teardown(test_other_text, clear),
        cmocka_unit_test_teardown(test_conllu_refused, clear),
        cmocka_unit_test_teardown(test_missing, clear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
