/* The splitter of prose, case by case: words and sentences in both styles, every kind of text, hostile input.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tag/prose.h"

static lg_spans split(const char *text, size_t n, lg_split style) {
    uint8_t *classes = malloc(n + 1);
    assert_non_null(classes);
    lg_classify(text, n, classes);
    lg_spans words = {0};
    assert_true(lg_split_prose(text, classes, n, style, &words));
    free(classes);
    return words;
}

/* EXPECTED: the words, a space between them and "| " before those that begin a sentence but the first. */
static void expect(lg_split style, const char *text, const char *expected) {
    lg_spans words = split(text, strlen(text), style);
    char seen[1024];
    size_t used = 0;
    for (size_t w = 0; w < words.count; w++) {
        const char *mark = !w ? "" : words.tag[w] & LG_BEGINS_SENTENCE ? " | " : " ";
        int length = (int)(words.end[w] - words.begin[w]);
        used +=
            (size_t)snprintf(seen + used, sizeof seen - used, "%s%.*s", mark, length, text + words.begin[w]);
        assert_true(used < sizeof seen);
    }
    seen[used] = '\0';
    if (words.count) assert_int_equal(words.tag[0], LG_BEGINS_SENTENCE);
    lg_spans_free(&words);
    if (strcmp(seen, expected) != 0) fail_msg("%s\nis cut as  %s\nnot        %s", text, seen, expected);
}

typedef struct split_case {
    const char *text, *treebank, *whole; /* NULL: as TREEBANK */
} split_case;

static void expect_all(const split_case *cases, size_t n) {
    for (size_t i = 0; i < n; i++) {
        expect(LG_SPLIT_TREEBANK, cases[i].text, cases[i].treebank);
        expect(LG_SPLIT_WHOLE, cases[i].text, cases[i].whole ? cases[i].whole : cases[i].treebank);
    }
}
#define EXPECT_ALL(cases) expect_all(cases, sizeof(cases) / sizeof *(cases))

static void test_contractions(void **state) {
    (void)state;
    static const split_case cases[] = {
        {"I don't know.", "I do n't know .", "I don't know ."},
        {"She's sure we'll see they're here, I'm told.", "She 's sure we 'll see they 're here , I 'm told .",
         "She's sure we'll see they're here , I'm told ."},
        {"You\xE2\x80\x99ve won\xE2\x80\x99t", "You \xE2\x80\x99ve wo n\xE2\x80\x99t",
         "You\xE2\x80\x99ve won\xE2\x80\x99t"},
        {"CAN'T SHE'D", "CA N'T SHE 'D", "CAN'T SHE'D"},
        {"I cannot; I'm gonna, dunno", "I can not ; I 'm gon na , du n no", "I cannot ; I'm gonna , dunno"},
        {"he dont wanna", "he do nt wan na", "he dont wanna"},
        {"its a bird in its nest", "it s a bird in its nest", "its a bird in its nest"},
        {"I shouldn't've", "I should n't 've", "I shouldn't've"},
        {"O'Neill's o'clock at L'Aquila", "O'Neill 's o'clock at L'Aquila", "O'Neill's o'clock at L'Aquila"},
        {"rock 'n' roll in '68, give 'em", "rock 'n' roll in '68 , give 'em", NULL},
        {"'Twas so, \xE2\x80\x99tis: 'tisn't 'TWAS. 'twisted'",
         "'T was so , \xE2\x80\x99t is : 't is n't 'T WAS . | ' twisted '",
         "'Twas so , \xE2\x80\x99tis : 'tisn't 'TWAS . | ' twisted '"},
        {"goin' home", "goin' home", NULL},
    };
    EXPECT_ALL(cases);
}

static void test_possessives(void **state) {
    (void)state;
    static const split_case cases[] = {
        {"the dog's bone, the dogs' bones", "the dog 's bone , the dogs ' bones",
         "the dog's bone , the dogs' bones"},
        {"Moby Dick's", "Moby Dick 's", "Moby Dick's"},
        {"the 1980's and 2015's best", "the 1980's and 2015 's best", "the 1980's and 2015's best"},
        {"She said 'the cats' twice", "She said ' the cats ' twice", NULL}, /* closes the quote */
    };
    EXPECT_ALL(cases);
}

static void test_hyphens(void **state) {
    (void)state;
    static const split_case cases[] = {
        {"a hard-fought two-year-old race", "a hard - fought two - year - old race",
         "a hard-fought two-year-old race"},
        {"an e-mail on re-entry of the anti-British co-owner",
         "an e-mail on re-entry of the anti-British co-owner", NULL},
        {"non-self-evident", "non-self - evident", "non-self-evident"},
        {"well - or not--said \xE2\x80\x93 she\xE2\x80\x94once",
         "well - or not -- said \xE2\x80\x93 she \xE2\x80\x94 once", NULL},
        {"clockwise, price-wise", "clockwise , price-wise", NULL},
        {"either/or, his/hers, w/o it", "either / or , his / hers , w/o it", "either/or , his/hers , w/o it"},
        {"R&D at AT&T, salt&pepper, this & that", "R&D at AT&T , salt & pepper , this & that", NULL},
        {"----- ===== ***", "----- | ===== | ***", NULL},
    };
    EXPECT_ALL(cases);
}

static void test_numbers(void **state) {
    (void)state;
    static const split_case cases[] = {
        {"$1,000.50 or 12,345,678", "$ 1,000.50 or 12,345,678", "$1,000.50 or 12,345,678"},
        {"\xE2\x82\xAC"
         "5 is 50%",
         "\xE2\x82\xAC 5 is 50 %", "\xE2\x82\xAC 5 is 50%"},
        {"at 10:30am on the 3rd, 5km away", "at 10:30 am on the 3rd , 5 km away",
         "at 10:30am on the 3rd , 5km away"},
        {"call 555-867-5309 on 12/25/1999", "call 555-867-5309 on 12/25/1999", NULL},
        {"pages 12-15 and 1/2 cup", "pages 12 - 15 and 1 / 2 cup", "pages 12-15 and 1/2 cup"},
        {"[3,4] and .75", "[ 3 , 4 ] and .75", NULL},
        {"v1.2.3, V2.0. Python3.11 is on r2.5-beta", "v1.2.3 , V2.0 . | Python3.11 is on r2.5 - beta",
         "v1.2.3 , V2.0 . | Python3.11 is on r2.5-beta"},
        {"3.14e-10 or 2E+10, 1e5", "3.14e-10 or 2E+10 , 1e5", NULL},
        {"5e-x, 2e-mails, 1-2e-3q", "5e - x , 2e - mails , 1 - 2e - 3q", "5e-x , 2e-mails , 1-2e-3q"},
        {"-5 to +3; 20 \xC2\xB0"
         "C",
         "- 5 to +3 ; 20 \xC2\xB0 C", NULL},
        {"the 1960s, a 4x4", "the 1960s , a 4 x 4", "the 1960s , a 4x4"},
        {"No. 7, no. I said", "No. 7 , no . | I said", NULL},
    };
    expect(LG_SPLIT_TREEBANK, "at 4a.m today, 5p.m\non", "at 4 a.m today , 5 p.m on");
    EXPECT_ALL(cases);
}

static void test_abbreviations(void **state) {
    (void)state;
    static const split_case cases[] = {
        {"Mr. Brown met Dr. May at St. Ives.", "Mr. Brown met Dr. May at St. Ives .", NULL},
        {"In the U.S. and the U.K., e.g. in D.C., etc., too.",
         "In the U.S. and the U.K. , e.g. in D.C. , etc. , too .", NULL},
        {"J. R. R. Smith wrote it. It sold.", "J. R. R. Smith wrote it . | It sold .", NULL},
        {"DON'T. CAN'T. WE'D. Then", "DO N'T . | CA N'T . | WE 'D . | Then",
         "DON'T . | CAN'T . | WE'D . | Then"},
        {"DON\xE2\x80\x99T. HE runs R&D. Ada", "DO N\xE2\x80\x99T . | HE runs R&D . | Ada",
         "DON\xE2\x80\x99T . | HE runs R&D . | Ada"},
        {"'J. R. Smith' of Alta V. Inc", "' J. R. Smith ' of Alta V. Inc", NULL},
        {"It was I. He knew plan B. The end.", "It was I . | He knew plan B . | The end .", NULL},
        {"We left at 5 p.m. The bus came.", "We left at 5 p.m . | The bus came .",
         "We left at 5 p.m. | The bus came ."},
        {"Bring cups, forks, etc.", "Bring cups , forks , etc .", "Bring cups , forks , etc."},
        {"U.S.-based, U.S.-Soviet, a Ph.D.-level, non-U.S. firm",
         "U.S. - based , U.S. - Soviet , a Ph.D. - level , non-U.S. firm",
         "U.S.-based , U.S.-Soviet , a Ph.D.-level , non-U.S. firm"},
        {"oil &c. is, oil &c, R&C, &cd; and so &c.", "oil &c. is , oil &c , R&C , &cd; and so &c .",
         "oil &c. is , oil &c , R&C , &cd; and so &c."},
        {"Q3 rev. rose 5%, 3 in. tall. He came in. then",
         "Q3 rev . | rose 5 % , 3 in . | tall . | He came in . | then",
         "Q3 rev. rose 5% , 3 in. tall . | He came in . | then"},
        {"on Jan. 5, fig. 3, pp. 7", "on Jan. 5 , fig. 3 , pp. 7", NULL},
        {"Acme Inc. said so. Acme Inc.. Then", "Acme Inc. said so . | Acme Inc. . | Then", NULL},
        {"Vol. II. p. 33, Chapter IV. The", "Vol. II. p. 33 , Chapter IV . | The", NULL},
        {"a Ph.D. student (b. 1950)", "a Ph.D. student ( b. 1950 )", NULL},
    };
    EXPECT_ALL(cases);
}

static void test_marks(void **state) {
    (void)state;
    static const split_case cases[] = {
        {"Wait... what?! No!!!", "Wait ... what ?! | No !!!", NULL},
        {"Well\xE2\x80\xA6 maybe\xE2\x80\xA6", "Well \xE2\x80\xA6 maybe \xE2\x80\xA6", NULL},
        {"\"Go,\" he said. \"Now.\"", "\" Go , \" he said . | \" Now . \"", NULL},
        {"``Go,'' he said.", "`` Go , '' he said .", NULL},
        {"\xE2\x80\x9CGo,\xE2\x80\x9D he said.", "\xE2\x80\x9C Go , \xE2\x80\x9D he said .", NULL},
        {"(see [2]) {x}", "( see [ 2 ] ) { x }", NULL},
        {"Nice :) really ;-) <3", "Nice :) really ;-) <3", NULL},
        {"a->b <= c >> d", "a -> b <= c >> d", NULL},
        {"_very_ good, *so* good", "_ very _ good , * so * good", NULL},
        {"the _watch-pocket_ is", "the _ watch - pocket _ is", "the _ watch-pocket _ is"},
        {"#news @anna #1", "#news @anna # 1", NULL},
    };
    EXPECT_ALL(cases);
}

static void test_addresses(void **state) {
    (void)state;
    static const split_case cases[] = {
        {"See http://example.org/a_(b)?x=1&y=2.", "See http://example.org/a_(b)?x=1&y=2 .", NULL},
        {"(https://example.org/~me/)", "( https://example.org/~me/ )", NULL},
        {"[![B](https://img.io/x.svg)](https://ci.x/y)",
         "[ ! [ B ] ( https://img.io/x.svg ) ] ( https://ci.x/y )", NULL},
        {"[https://example.org/[a]]; (https://example.org/(b)).",
         "[ https://example.org/[a] ] ; ( https://example.org/(b) ) .", NULL},
        {"at www.example.co.uk, or example.com!", "at www.example.co.uk , or example.com !", NULL},
        {"<first.last+tag@mail.example.org>", "< first.last+tag@mail.example.org >", NULL},
        {"open my-file_2.txt and .doc", "open my-file_2.txt and .doc", NULL},
        {"See usr/lib/x.so, a.md#x-1 or docs/a.md#x!", "See usr/lib/x.so , a.md#x-1 or docs/a.md#x !", NULL},
        {"(~/x/y.txt) ./run.sh ../a-b.py /etc/x.conf.", "( ~/x/y.txt ) ./run.sh ../a-b.py /etc/x.conf .",
         NULL},
        {"in C:\\a\\b.txt, src/tag/split.c: so. Read a/b.md? Yes",
         "in C:\\a\\b.txt , src/tag/split.c : so . | Read a/b.md ? | Yes", NULL},
        {"usr/lib, ab/cd.The", "usr / lib , ab / cd . | The", "usr/lib , ab/cd . | The"},
        {"example.com/a.html?x=1", "example.com/a.html?x=1", NULL},
        {"The end.Next one", "The end . | Next one", NULL},
    };
    EXPECT_ALL(cases);
}

static void test_scripts(void **state) {
    (void)state;
    static const split_case cases[] = {
        {"na\xC3\xAF"
         "ve caf\x65\xCC\x81",
         "na\xC3\xAF"
         "ve caf\x65\xCC\x81",
         NULL},
        {"\xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E\xE3\x80\x82 \xE6\x97\xA5",
         "\xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E \xE3\x80\x82 | \xE6\x97\xA5", NULL},
        {"\xE6\x97\xA5\xE3\x80\x82\xE6\x9C\xAC", "\xE6\x97\xA5 \xE3\x80\x82 | \xE6\x9C\xAC", NULL},
        {"\xD0\x94\xD0\xB0. \xD0\x9D\xD0\xB5\xD1\x82.", "\xD0\x94\xD0\xB0 . | \xD0\x9D\xD0\xB5\xD1\x82 .",
         NULL},
        {"soft\xC2\xADly", "soft\xC2\xADly", NULL},
        {"a\xE2\x80\x8B"
         "b",
         "a \xE2\x80\x8B b", NULL}, /* a zero-width space parts */
        {"a\xFF\xFE"
         "b",
         "a \xFF\xFE b", NULL}, /* no UTF-8: a run is a word */
        {"ok \xF0\x9F\x91\x8D\xF0\x9F\x8F\xBD", "ok \xF0\x9F\x91\x8D\xF0\x9F\x8F\xBD",
         NULL}, /* with its skin tone */
        {"", "", NULL},
        {" \n\t ", "", NULL},
    };
    EXPECT_ALL(cases);
}

static void test_sentences(void **state) {
    (void)state;
    static const split_case cases[] = {
        {"One. Two? He won! so did I", "One . | Two ? | He won ! | so did I",
         "One . | Two ? | He won ! so did I"},
        {"It was\nlate. We left.", "It was late . | We left .", NULL}, /* a line break is a space */
        {"A Heading\n\nThe text", "A Heading | The text", NULL},
        {"A Heading\r\n\r\nThe text", "A Heading | The text", NULL},
        {"\"Why?\" he asked. \"I ask.\" She left.", "\" Why ? \" he asked . | \" I ask . \" | She left .",
         NULL},
        {"He left. (She stayed.) They met.", "He left . | ( She stayed . ) | They met .", NULL},
        {"Oh! how fine.", "Oh ! how fine .", NULL},
        {"So... yes. So... He", "So ... yes . | So ... | He", NULL},
        {"True.[4] It is. [5] So", "True . [ 4 ] | It is . [ 5 ] | So", NULL},
        {"Great. :) See you", "Great . :) | See you", NULL},
        {"1. Stir it.\n2. Eat it.", "1 . Stir it . | 2 . Eat it .", NULL},
        {"Best wishes,\nAda", "Best wishes , | Ada", NULL},
    };
    EXPECT_ALL(cases);
}

static void test_markup(void **state) {
    (void)state;
    static const split_case cases[] = {
        {"# Use\nRun it\n## More\nStop", "# Use | Run it | ## More | Stop", NULL},
        {"You need:\n- a bowl\n- a spoon\n* salt", "You need : | - a bowl | - a spoon | * salt", NULL},
        {"Title\n=====\nText here", "Title | ===== | Text here", NULL},
        {"Do\n```sh\nmake\nmake check\n```\nDone", "Do | ``` sh | make | make check | ``` | Done", NULL},
        {"a|b\n|c|d", "a | b | | c | d", NULL}, /* the second | marks a sentence */
        {":param x: It\n:return: That", ": param x : It | : return : That", NULL},
        {">>> a = 1\n>>> b", ">>> a = 1 | >>> b", NULL},
    };
    EXPECT_ALL(cases);
}

/* Words in order, not empty, and every byte that is no white space in one. */
static void check_conserved(const char *text, size_t n, lg_split style) {
    uint8_t *classes = malloc(n + 1);
    assert_non_null(classes);
    lg_classify(text, n, classes);
    lg_spans words = {0};
    assert_true(lg_split_prose(text, classes, n, style, &words));
    size_t at = 0;
    bool kept = true;
    for (size_t w = 0; w < words.count; w++) {
        kept &= words.begin[w] >= at && words.end[w] > words.begin[w] && words.end[w] <= n;
        for (; at < words.begin[w]; at++) kept &= (classes[at] & LG_CLASS_MASK) == LG_CLASS_WHITESPACE;
        for (; at < words.end[w]; at++) kept &= (classes[at] & LG_CLASS_MASK) != LG_CLASS_WHITESPACE;
    }
    for (; at < n; at++) kept &= (classes[at] & LG_CLASS_MASK) == LG_CLASS_WHITESPACE;
    assert_true(kept);
    assert_true(words.count <= n);
    lg_spans_free(&words);
    free(classes);
}

static uint32_t draw(uint64_t *state, uint32_t below) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*state >> 33) % below);
}

static void test_random_pieces(void **state) {
    (void)state;
    static const char *const pieces[] = {"a",
                                         "B",
                                         "'",
                                         "'s",
                                         "n't",
                                         "\xE2\x80\x99",
                                         ".",
                                         "..",
                                         "!",
                                         "?",
                                         "-",
                                         "--",
                                         "/",
                                         "1",
                                         "23",
                                         ",",
                                         ":",
                                         "://",
                                         "@",
                                         "www.",
                                         ".com",
                                         "$",
                                         "%",
                                         "(",
                                         ")",
                                         "[",
                                         "]",
                                         "\"",
                                         "`",
                                         "_",
                                         "*",
                                         "#",
                                         "&",
                                         "\xFF",
                                         "\xE2\x80\xA6",
                                         "\xC2\xAD",
                                         "\xE2\x80\x8D",
                                         " ",
                                         "\n",
                                         "\n\n",
                                         "Mr",
                                         "etc",
                                         "its",
                                         "U.S",
                                         "cannot",
                                         "x",
                                         "\xC2\xB2",
                                         "\xC2\xBA",
                                         ";",
                                         "<3",
                                         "km",
                                         "\xF0\x9F\x87\xA9",
                                         "\xEF\xB8\x8F",
                                         "=",
                                         "|",
                                         "```",
                                         ">",
                                         "+"};
    uint64_t seed = 7;
    char text[400];
    for (int round = 0; round < 20000; round++) {
        size_t n = 0;
        for (uint32_t k = 1 + draw(&seed, 30); k > 0; k--) {
            const char *piece = pieces[draw(&seed, sizeof pieces / sizeof *pieces)];
            memcpy(text + n, piece, strlen(piece));
            n += strlen(piece);
        }
        check_conserved(text, n, round % 2 ? LG_SPLIT_TREEBANK : LG_SPLIT_WHOLE);
        for (size_t i = 0; i < n; i++) text[i] = (char)draw(&seed, 256);
        check_conserved(text, n, round % 2 ? LG_SPLIT_WHOLE : LG_SPLIT_TREEBANK);
    }
}

/* Text that would take hours if anything were looked at again and again. */
static void test_hostile(void **state) {
    (void)state;
    static const char *const repeated[] = {".",
                                           "'",
                                           "(",
                                           "\"",
                                           "a",
                                           "a.",
                                           "1",
                                           "1,",
                                           "1,000",
                                           "1-",
                                           "1/",
                                           "a/",
                                           "a/b.md?x",
                                           "./",
                                           "v1.",
                                           "1e-1",
                                           "1x",
                                           "1\xC2\xBA",
                                           "1p.m.",
                                           "1's",
                                           "Rs1",
                                           "a-",
                                           "a'",
                                           "a@",
                                           "a@.",
                                           "_",
                                           "a_",
                                           "http://",
                                           "://",
                                           "www.",
                                           ")",
                                           "a&",
                                           "a/",
                                           "etc.)",
                                           "'s",
                                           "`",
                                           "n't",
                                           ":(",
                                           "<-",
                                           ">-",
                                           "1km",
                                           "é",
                                           "\xFF",
                                           "\xE2\x80\x99",
                                           "\xE2\x80\xA6",
                                           "\xE2\x80\x8D",
                                           "e-",
                                           "U.S.",
                                           ". ",
                                           "[",
                                           "[1] .",
                                           "\n",
                                           "- ",
                                           "5p.m",
                                           "x.com/(",
                                           "a.b-",
                                           "\xF0\x9F\x91\x8D\xE2\x80\x8D"};
    size_t n = 1 << 20;
    char *text = malloc(n);
    assert_non_null(text);
    for (size_t r = 0; r < sizeof repeated / sizeof *repeated; r++) {
        size_t length = strlen(repeated[r]);
        for (size_t i = 0; i < n; i++) text[i] = repeated[r][i % length];
        check_conserved(text, n, r % 2 ? LG_SPLIT_WHOLE : LG_SPLIT_TREEBANK);
        check_conserved(text, n, r % 2 ? LG_SPLIT_TREEBANK : LG_SPLIT_WHOLE);
    }
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contractions),  cmocka_unit_test(test_possessives),
        cmocka_unit_test(test_hyphens),       cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_abbreviations), cmocka_unit_test(test_marks),
        cmocka_unit_test(test_addresses),     cmocka_unit_test(test_scripts),
        cmocka_unit_test(test_sentences),     cmocka_unit_test(test_markup),
        cmocka_unit_test(test_random_pieces), cmocka_unit_test(test_hostile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
