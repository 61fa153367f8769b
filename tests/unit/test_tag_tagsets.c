/* Families of parts of speech, against the table of the method as written there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tag/tagsets.h"

/* Every tag of TAGS (blanks between) belongs to FAMILY. */
static void expect(const char *tagset, const char *family, const char *tags) {
    for (const char *at = tags; *at; at += strspn(at, " ")) {
        char tag[16] = {0};
        size_t n = strcspn(at, " ");
        assert_in_range(n, 1, sizeof tag - 1);
        memcpy(tag, at, n);
        const char *got = lg_families[lg_family_of_tag(tagset, tag)].name;
        if (strcmp(got, family) != 0) fail_msg("%s %s is %s, not %s", tagset, tag, got, family);
        at += n;
    }
}

static void test_brown(void **state) {
    (void)state;
    expect("brown", "noun", "nn nn$ nns nns$ np np$ nps nps$ nr nr$ nrs fw-nn nn-tl np-hl nn+bez nr-tl-hl");
    expect("brown", "verb", "vb vbd vbg vbn vbz vb+ppo vbg+to");
    expect("brown", "adjective", "jj jj$ jjr jjs jjt fw-jj-tl jjr+cs");
    expect("brown", "adverb", "rb rb$ rbr rbt rn");
    expect("brown", "interjection", "uh");
    expect("brown", "qualifier", "ql qlp");
    expect("brown", "existential", "ex ex+bez");
    expect("brown", "pronoun", "pp$ pp$$ ppl ppls ppo pps ppss pn pn$ pps+bez ppss+md");
    expect("brown", "determiner", "at dt dt$ dti dts dtx abl abn abx ap ap$ fw-at+nn");
    expect("brown", "preposition", "in fw-in+at-t");
    expect("brown", "conjunction", "cc cs");
    expect("brown", "aux_be", "be bed bed* bedz bedz* beg bem bem* ben ber ber* bez bez* fw-bez");
    expect("brown", "aux_have", "hv hv* hvd hvd* hvg hvn hvz hvz* hv+to");
    expect("brown", "aux_do", "do do* dod dod* doz doz* do+ppss");
    expect("brown", "modal", "md md* md+hv md*-hl");
    expect("brown", "to", "to to+vb");
    expect("brown", "wh", "wdt wp$ wpo wps wql wrb wdt+ber+pp");
    expect("brown", "numeral", "cd cd$ od");
    expect("brown", "particle", "rp rp+in");
    expect("brown", "punctuation", ", . : ' `` '' -- * fw-* .-hl");
    expect("brown", "open_bracket", "( (-hl");
    expect("brown", "close_bracket", ")");
    expect("brown", "other", "nil zz NN");
    assert_int_equal(lg_family_of_tag("brown", ""), LG_FAMILY_OTHER);
}

static void test_upos(void **state) {
    (void)state;
    expect("upos", "noun", "NOUN PROPN");
    expect("upos", "verb", "VERB");
    expect("upos", "adjective", "ADJ");
    expect("upos", "conjunction", "CCONJ SCONJ");
    expect("upos", "aux_be", "AUX");
    expect("upos", "to", "PART");
    expect("upos", "other", "SYM X _ VB");
}

static void test_penn(void **state) {
    (void)state;
    expect("penn", "noun", "NN NNS NNP NNPS");
    expect("penn", "verb", "VB VBD VBG VBN VBP VBZ");
    expect("penn", "pronoun", "PRP PRP$");
    expect("penn", "wh", "WDT WP WP$ WRB");
    expect("penn", "punctuation", ", . : `` '' HYPH NFP");
    expect("penn", "open_bracket", "-LRB-");
    expect("penn", "close_bracket", "-RRB-");
    expect("penn", "other", "FW LS SYM $ X");
    assert_int_equal(lg_family_of_tag("klingon", "NN"), LG_FAMILY_OTHER);
}

/* Every family has a name of its own and a class; classes as in the method. */
static void test_families(void **state) {
    (void)state;
    unsigned content = 0, function = 0, other = 0;
    assert_true(LG_N_FAMILIES <= 64);
    for (unsigned i = 0; i < LG_N_FAMILIES; i++) {
        const char *class = lg_families[i].class;
        assert_non_null(lg_families[i].name);
        assert_non_null(class);
        for (unsigned j = 0; j < i; j++) assert_string_not_equal(lg_families[i].name, lg_families[j].name);
        content += strcmp(class, "content") == 0;
        function += strcmp(class, "function") == 0;
        other += strcmp(class, "other") == 0;
        bool prose = i >= LG_FAMILY_NOUN && i <= LG_FAMILY_OTHER;
        assert_int_equal(strcmp(class, "none") != 0, prose);
    }
    assert_int_equal(content, 6);
    assert_int_equal(function, 11);
    assert_int_equal(other, 6);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_brown), cmocka_unit_test(test_upos),
                                       cmocka_unit_test(test_penn), cmocka_unit_test(test_families)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
