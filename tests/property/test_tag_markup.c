/* HTML and LaTeX, random: documents put together from pieces of syntax, whole and broken, are cut into leaves
   without gap or overlap, the same each time; so are texts that would cost a careless parser too much. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tag/code_html.h"
#include "tag/code_latex.h"

static uint64_t seed;

static uint64_t next_random(void) { /* splitmix64 */
    uint64_t z = seed += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static size_t below(size_t n) {
    return (size_t)(next_random() % n);
}

static const char *const html_pieces[] = {
    "<p>",
    "</p>",
    "<div class=\"a b\">",
    "</div>",
    "<br/>",
    "<img src=x alt='y'>",
    "<",
    ">",
    "</",
    "<!--",
    "-->",
    "<!",
    "<?php",
    "?>",
    "<%",
    "%>",
    "{{ a }}",
    "{%",
    "%}",
    "<script>",
    "</script>",
    "<style>",
    "</style>",
    "<title>",
    "</title>",
    "<![CDATA[",
    "]]>",
    "&amp;",
    "&",
    "&#x41;",
    "\"",
    "'",
    "=",
    " ",
    "\n",
    "word",
    "p { color: red; }",
    "var a = `x${b}`;",
    "/*",
    "*/",
    "<script type=text/template>",
    "<a href=\"",
    "\xc3\xa9",
    "\xff",
    "\xe2\x80\x99",
    "<!DOCTYPE html>",
    "<x y",
    "/>",
    "/regex[/]/g",
    "//",
    "{",
    "}",
    "@media (",
    ":hover",
    "#id",
    "url(x)",
    "\t",
    "<!-->",
    "--!>",
    "\\",
    "function f(",
};
static const char *const latex_pieces[] = {
    "\\begin{a}",
    "\\end{a}",
    "\\begin{equation}",
    "\\end{equation}",
    "\\begin{verbatim}",
    "\\end{verbatim}",
    "{",
    "}",
    "[",
    "]",
    "$",
    "$$",
    "\\(",
    "\\)",
    "\\[",
    "\\]",
    "%",
    "\n",
    "\n\n",
    " ",
    "word",
    "\\foo",
    "\\foo*",
    "\\verb|x|",
    "\\verb",
    "|",
    "\\label{a_b}",
    "\\cite{x,y}",
    "#1",
    "##",
    "#",
    "_",
    "^",
    "&",
    "~",
    "\\\\",
    "\\\\[2pt]",
    "\\'e",
    "\\iffalse",
    "\\fi",
    "\\url{a%b}",
    "\\ExplSyntaxOn",
    "\\tl_set:Nn",
    "\\text{a}",
    "\\left(",
    "\\right]",
    "2.5cm",
    "=",
    ",",
    "\\section{",
    "\xc3\xa9",
    "\xff",
    "\\item[",
    "\\begin{lstlisting}[a=b]",
    "\\end{lstlisting}",
    "\\",
    "(",
    ")",
    "\\usepackage[a=1]{b, c}",
    "\\lstinline[x]{",
    "\\begin{tabular}{l|r}",
    "\\ensuremath{",
    "\\begin",
    "\\end",
    "\\begin{comment}",
    "\\end{comment}",
    "\\sqrt[3]{x}",
    "'",
    "\\setlength{\\a}{1pt}",
    "\\verb*+ +",
};

typedef struct fixture {
    lg_code *code;
    lg_spans leaves, again, plain;
    size_t n_tags;
} fixture;

/* The plain lexer alone leaves nothing out either. */
static void check_plain(fixture *f, lg_kind kind, const char *text, const uint8_t *classes, size_t n) {
    char *seen = malloc(n ? n : 1);
    assert_non_null(seen);
    f->plain.count = 0;
    assert_true(kind == LG_HTML ? lg_html_lex(text, n, seen, &f->plain)
                                : lg_latex_lex(text, classes, n, seen, &f->plain));
    uint64_t at = 0;
    for (size_t i = 0; i < f->plain.count; i++) {
        assert_int_equal(f->plain.begin[i], at);
        assert_true(f->plain.end[i] > at);
        at = f->plain.end[i];
    }
    assert_int_equal(at, n);
    free(seen);
}

/* Cuts TEXT, and checks what holds for every text. */
static void check(fixture *f, lg_kind kind, const char *text, size_t n) {
    uint8_t *classes = malloc(n + 1);
    char *exact = malloc(n ? n : 1); /* so that a sanitizer sees a read behind its end */
    assert_true(classes && exact);
    if (n) memcpy(exact, text, n);
    lg_classify(exact, n, classes);
    f->leaves.count = 0;
    assert_true(lg_code_leaves(f->code, kind, exact, classes, n, &f->leaves));
    uint64_t at = 0;
    for (size_t i = 0; i < f->leaves.count; i++) {
        assert_int_equal(f->leaves.begin[i], at);
        assert_true(f->leaves.end[i] > at);
        assert_true(f->leaves.tag[i] < f->n_tags);
        at = f->leaves.end[i];
    }
    assert_int_equal(at, n);
    check_plain(f, kind, exact, classes, n);
    free(exact);
    free(classes);
}

static void same_again(fixture *f, lg_kind kind, const char *text, size_t n) {
    lg_spans first = f->leaves;
    f->leaves = f->again;
    check(f, kind, text, n);
    assert_int_equal(first.count, f->leaves.count);
    if (first.count) {
        assert_memory_equal(first.end, f->leaves.end, first.count * sizeof *first.end);
        assert_memory_equal(first.tag, f->leaves.tag, first.count * sizeof *first.tag);
    }
    f->again = first;
}

static void random_documents(fixture *f, lg_kind kind, const char *const *pieces, size_t n_pieces,
                             int rounds) {
    char text[4096];
    for (int round = 0; round < rounds; round++) {
        size_t n = 0, length = below(60);
        for (size_t i = 0; i < length; i++) {
            const char *piece = pieces[below(n_pieces)];
            memcpy(text + n, piece, strlen(piece));
            n += strlen(piece);
        }
        for (size_t i = below(4); i-- && n;) text[below(n)] = (char)below(256);
        check(f, kind, text, n);
        if (round % 16 == 0) same_again(f, kind, text, n);
    }
}

static void random_html_is_cut_whole(void **state) {
    random_documents(*state, LG_HTML, html_pieces, sizeof html_pieces / sizeof *html_pieces, 4000);
}

static void random_latex_is_cut_whole(void **state) {
    random_documents(*state, LG_LATEX, latex_pieces, sizeof latex_pieces / sizeof *latex_pieces, 4000);
}

static void repeat(fixture *f, lg_kind kind, const char *piece, size_t copies) {
    size_t n = strlen(piece);
    char *text = malloc(n * copies);
    assert_non_null(text);
    for (size_t i = 0; i < copies; i++) memcpy(text + i * n, piece, n);
    check(f, kind, text, n * copies);
    free(text);
}

static void repetition_is_cut_whole(void **state) {
    static const char *const html[] = {
        "<div>", "</div>",    "<!-- ", "<", "&",       "<script>",   "<style>a:b ", "{{",  "<?",
        "\"",    "<a b='\">", "<x",    "x", "<title>", "<script>/*", "<script>`${", "<a ", "<![CDATA["};
    static const char *const latex[] = {"{",
                                        "}",
                                        "[",
                                        "$",
                                        "$$ ",
                                        "\\begin{a}",
                                        "\\end{a}",
                                        "\\[",
                                        "\\verb|",
                                        "\\iffalse ",
                                        "\\lstinline[",
                                        "%",
                                        "\\begin{verbatim}",
                                        "\\foo[",
                                        "\\text{$",
                                        "\\",
                                        "^",
                                        "\n\n$",
                                        "\\\\[",
                                        "\\left("};
    for (size_t i = 0; i < sizeof html / sizeof *html; i++) repeat(*state, LG_HTML, html[i], 3000);
    for (size_t i = 0; i < sizeof latex / sizeof *latex; i++) repeat(*state, LG_LATEX, latex[i], 3000);
}

static void every_byte_alone(void **state) {
    for (int c = 0; c < 256; c++) {
        char text[3] = {(char)c, (char)c, (char)c};
        for (size_t n = 0; n <= 3; n++) {
            check(*state, LG_HTML, text, n);
            check(*state, LG_LATEX, text, n);
        }
    }
}

static int set_up(void **state) {
    static fixture f;
    f = (fixture){.code = lg_code_create()};
    while (lg_code_tags[f.n_tags].name) f.n_tags++;
    *state = &f;
    return f.code ? 0 : -1;
}

static int tear_down(void **state) {
    fixture *f = *state;
    lg_code_free(f->code);
    lg_spans_free(&f->leaves);
    lg_spans_free(&f->again);
    lg_spans_free(&f->plain);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_alone),
        cmocka_unit_test(random_html_is_cut_whole),
        cmocka_unit_test(random_latex_is_cut_whole),
        cmocka_unit_test(repetition_is_cut_whole),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
