/* Leaves of code and markup while memory runs out: every allocation failing once is an error, and nothing is
   lost. */
#include "failing_malloc.h"

#include "base/error.h"
#include "tag/code.h"

typedef struct document {
    lg_kind kind;
    const char *text;
} document;

static lg_status cut(void *context, lg_error *error) {
    const document *d = context;
    size_t n = strlen(d->text);
    uint8_t classes[1024];
    lg_spans leaves = {0};
    assert_true(n <= sizeof classes);
    lg_classify(d->text, n, classes);
    lg_code *code = lg_code_create();
    bool fine = code && lg_code_leaves(code, d->kind, d->text, classes, n, &leaves);
    lg_spans_free(&leaves);
    lg_code_free(code);
    return fine ? LG_OK : lg_fail_memory(error);
}

static void no_memory_is_an_error(void **state) {
    (void)state;
    static document documents[] = {
        {LG_PYTHON, "def f(a):\n    return f'{a!r:>{3}}' + \"x\"  # so\n\nclass A(B): pass\nx = [(1, 2.5)\n"},
        {LG_HTML,
         "<!DOCTYPE html><p class=\"a\">x &amp; y<!-- c --><b <i>z</i></b><script>var a = `${1}`;</script>"
         "<style>p:hover { color: #fff }</style><?php x ?>{{ a }}<script "
         "type=text/html><b></b></script><title>"},
        {LG_LATEX, "\\begin{a}[b=2cm] $x_1$ \\emph{t $y$ u} \\verb|x| \\cite{a,b} % "
                   "c\n\\begin{verbatim}\n{\n\\end{verbatim} $5\n\n"
                   "\\url{a%b} $a$$b$ \\[ x \\] } \\end{a} \\iffalse\n"},
    };
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++)
        survives_failing_malloc(cut, &documents[i], documents[i].kind == LG_HTML ? "html" : "code");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_memory_is_an_error)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
