/* Leaves of Python: snippets cut by hand, whole and broken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tag/code_internal.h"
#include "tag/code_python.h"

static lg_code *code;

static int set_up(void **state) {
    (void)state;
    code = lg_code_create();
    return code ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    lg_code_free(code);
    return 0;
}

/* The leaves of TEXT as lines `name text`, white space left out; every byte must lie in exactly one. */
static void list_leaves(const char *text, size_t n, char *out, size_t room) {
    uint8_t *classes = malloc(n + 1);
    lg_spans leaves = {0};
    size_t at = 0, used = 0;
    assert_non_null(classes);
    lg_classify(text, n, classes);
    assert_true(lg_code_leaves(code, LG_PYTHON, text, classes, n, &leaves));
    out[0] = 0;
    for (size_t i = 0; i < leaves.count; i++) {
        assert_int_equal(leaves.begin[i], at);
        assert_true(leaves.end[i] > at);
        assert_true(leaves.tag[i] < LG_N_CODE_TAGS);
        at = (size_t)leaves.end[i];
        if (leaves.tag[i] == LG_CODE_WHITESPACE) continue;
        const char *name = strchr(lg_code_tags[leaves.tag[i]].name, '.') + 1;
        used += (size_t)snprintf(out + used, room - used, "%s ", name);
        for (size_t b = (size_t)leaves.begin[i]; b < at && used + 8 < room; b++)
            if (text[b] == '\n') used += (size_t)sprintf(out + used, "\\n");
            else if (text[b] == '\r') used += (size_t)sprintf(out + used, "\\r");
            else if (text[b] == '\t') used += (size_t)sprintf(out + used, "\\t");
            else out[used++] = text[b];
        assert_true(used + 80 < room);
        out[used++] = '\n';
        out[used] = 0;
    }
    assert_int_equal(at, n);
    lg_spans_free(&leaves);
    free(classes);
}

static void expect(const char *text, const char *lines) {
    static char found[1 << 14];
    list_leaves(text, strlen(text), found, sizeof found);
    if (strcmp(found, lines)) fail_msg("%s\nfound:\n%s\nexpected:\n%s", text, found, lines);
}

static void test_tables(void **state) {
    (void)state;
    for (const lg_code_rule *r = lg_code_python.rules; r->nodes || r->tokens; r++) {
        char names[1024], *rest = NULL;
        snprintf(names, sizeof names, "%s", r->nodes ? r->nodes : r->tokens);
        for (char *name = strtok_r(names, " ", &rest); name; name = strtok_r(NULL, " ", &rest))
            if (!lg_code_knows(&lg_code_python, name, r->nodes)) fail_msg("no node is called %s", name);
        if (r->parent && !lg_code_knows(&lg_code_python, r->parent, true))
            fail_msg("no node is called %s", r->parent);
    }
    for (size_t i = 0; i < LG_N_CODE_TAGS; i++) {
        assert_true(!i || strchr(lg_code_tags[i].name, '.'));
        for (size_t k = 0; k < i; k++) assert_string_not_equal(lg_code_tags[i].name, lg_code_tags[k].name);
        assert_true(lg_code_tags[i].family < LG_N_FAMILIES && lg_code_tags[i].delimiter < LG_N_DELIMITERS);
    }
    assert_null(lg_code_tags[LG_N_CODE_TAGS].name);
}

static void test_names(void **state) {
    (void)state;
    expect("x = len(a.len, len=1)\n", "identifier x\noperator.assign =\nbuiltin len\nopen.round (\n"
                                      "identifier a\ndot .\nidentifier len\ncomma ,\nidentifier len\n"
                                      "operator.assign =\nnumber.integer 1\nclose.round )\nnewline \\n\n");
    expect(
        "def id(str, int=3, *list, **dict): return str\n",
        "keyword def\nidentifier id\nopen.round (\nidentifier str\ncomma ,\nidentifier int\n"
        "operator.assign =\nnumber.integer 3\ncomma ,\noperator *\nidentifier list\ncomma ,\n"
        "operator **\nidentifier dict\nclose.round )\ncolon :\nkeyword return\nbuiltin str\nnewline \\n\n");
    expect("from . import open as bin\n", "keyword from\ndot .\nkeyword import\nidentifier open\nkeyword as\n"
                                          "identifier bin\nnewline \\n\n");
    expect("raise ValueError from None\n",
           "keyword raise\nbuiltin ValueError\nkeyword from\nkeyword.constant None\nnewline \\n\n");
    expect("\xC3\xA9t\xC3\xA9 = caf\xC3\xA9\n",
           "identifier \xC3\xA9t\xC3\xA9\noperator.assign =\nidentifier caf\xC3\xA9\nnewline \\n\n");
}

/* A zero byte belongs to the name; nothing behind the known names is looked at. */
static void test_zero_bytes(void **state) {
    (void)state;
    static const char name[] = "slice\0\0";
    assert_int_equal(lg_python_name_tag(name, 5), LG_PYTHON_BUILTIN);
    for (size_t n = 1; n < sizeof name; n++)
        if (n != 5) assert_int_equal(lg_python_name_tag(name, n), LG_PYTHON_IDENTIFIER);
    static const char keyword[] = "while\0\0";
    for (size_t n = 1; n < sizeof keyword; n++)
        assert_int_equal(lg_python_keyword_tag(keyword, n),
                         n == 5 ? LG_PYTHON_KEYWORD : LG_PYTHON_IDENTIFIER);
}

static void test_keywords(void **state) {
    (void)state;
    expect("if a is not b and c not in d: pass\n",
           "keyword if\nidentifier a\nkeyword is\nkeyword not\nidentifier b\nkeyword and\nidentifier c\n"
           "keyword not\nkeyword in\nidentifier d\ncolon :\nkeyword pass\nnewline \\n\n");
    expect("match x:\n  case _: match = type\n",
           "keyword.soft match\nidentifier x\ncolon :\nnewline \\n\nindent   \nkeyword.soft case\n"
           "keyword.soft _\ncolon :\nidentifier match\noperator.assign =\nbuiltin type\nnewline \\n\n");
    expect("type A = int\n",
           "keyword.soft type\nidentifier A\noperator.assign =\nbuiltin int\nnewline \\n\n");
    expect("async def f(): await g()\n",
           "keyword async\nkeyword def\nidentifier f\nopen.round (\nclose.round )\ncolon :\nkeyword await\n"
           "identifier g\nopen.round (\nclose.round )\nnewline \\n\n");
    expect("try: f()\nexcept* E: 1\n",
           "keyword try\ncolon :\nidentifier f\nopen.round (\nclose.round )\nnewline \\n\nkeyword except\n"
           "operator *\nidentifier E\ncolon :\nnumber.integer 1\nnewline \\n\n");
    expect("print >>f, 'a'\n", "keyword print\noperator >>\nidentifier f\ncomma ,\nopen.quote '\nstring a\n"
                               "close.quote '\nnewline \\n\n");
}

static void test_strings(void **state) {
    (void)state;
    expect("a = 'x\\'y', rb'\\d', \"\"\"t\nu\"\"\", ''\n",
           "identifier a\noperator.assign =\nopen.quote '\nstring x\\'y\nclose.quote '\ncomma ,\n"
           "open.quote rb'\nbytes \\d\nclose.quote '\ncomma ,\nopen.quote \"\"\"\nstring.triple t\\nu\n"
           "close.quote \"\"\"\ncomma ,\nopen.quote '\nclose.quote '\nnewline \\n\n");
    expect("\"\"\"Doc.\"\"\"\nclass A:\n    'doc'\n",
           "open.quote \"\"\"\ndocstring Doc.\nclose.quote \"\"\"\nnewline \\n\nkeyword class\n"
           "identifier A\ncolon :\nnewline \\n\nindent     \nopen.quote '\ndocstring doc\nclose.quote '\n"
           "newline \\n\n");
    expect("f'a{{{x!r:>{w}}b{y=}'\n",
           "open.quote f'\nfstring a{{\nopen.field {\nidentifier x\nformat !r:>\nopen.field {\n"
           "identifier w\nclose.field }\nclose.field }\nfstring b\nopen.field {\nidentifier y\nformat =\n"
           "close.field }\nclose.quote '\nnewline \\n\n");
    expect("F\"{'in' + d['k']}\"\n",
           "open.quote F\"\nopen.field {\nopen.quote '\nstring in\nclose.quote '\noperator +\n"
           "identifier d\nopen.square [\nopen.quote '\nstring k\nclose.quote '\nclose.square ]\n"
           "close.field }\nclose.quote \"\nnewline \\n\n");
}

static void test_numbers_and_signs(void **state) {
    (void)state;
    expect("x: int = 0x_FF + 1_0.5e-3 - 2J * .5 // 7\n",
           "identifier x\ncolon :\nbuiltin int\noperator.assign =\nnumber.integer 0x_FF\noperator +\n"
           "number.float 1_0.5e-3\noperator -\nnumber.imaginary 2J\noperator *\nnumber.float .5\n"
           "operator //\nnumber.integer 7\nnewline \\n\n");
    expect("@d\ndef f() -> ...: (y := 1); z @= y\n",
           "operator.decorator @\nidentifier d\nnewline \\n\nkeyword def\nidentifier f\nopen.round (\n"
           "close.round )\noperator.arrow ->\nellipsis ...\ncolon :\nopen.round (\nidentifier y\n"
           "operator.walrus :=\nnumber.integer 1\nclose.round )\nsemicolon ;\nidentifier z\n"
           "operator.assign @=\nidentifier y\nnewline \\n\n");
}

static void test_layout(void **state) {
    (void)state;
    expect("if a:\n\n    b(1,\n      2)  # c\n    # d\n\n  # e\n    x = \\\n  3\ny",
           "keyword if\nidentifier a\ncolon :\nnewline \\n\nindent     \nidentifier b\nopen.round (\n"
           "number.integer 1\ncomma ,\nnumber.integer 2\nclose.round )\ncomment # c\nnewline \\n\n"
           "comment # d\ncomment # e\nidentifier x\noperator.assign =\ncontinuation \\\\n\n"
           "number.integer 3\nnewline \\n\nidentifier y\n");
    expect("if a:\r\n\tif b:\r\n\t\tc\r\n\td\r\n",
           "keyword if\nidentifier a\ncolon :\nnewline \\r\\n\nindent \\t\nkeyword if\nidentifier b\n"
           "colon :\nnewline \\r\\n\nindent \\t\\t\nidentifier c\nnewline \\r\\n\ndedent \\t\n"
           "identifier d\nnewline \\r\\n\n");
    expect("\xEF\xBB\xBF#!/usr/bin/python\nx # y\r\n\f\n",
           "comment #!/usr/bin/python\nidentifier x\ncomment # y\nnewline \\r\\n\n");
    expect("#!/usr/bin/python\n# -*- coding: utf-8 -*-\nx = [] # type: List[int]\n# coding: no\n",
           "comment.header #!/usr/bin/python\ncomment.header # -*- coding: utf-8 -*-\nidentifier x\n"
           "operator.assign =\nopen.square [\nclose.square ]\ncomment.type # type: List[int]\n"
           "newline \\n\ncomment # coding: no\n");
}

static void test_broken(void **state) {
    (void)state;
    /* an unterminated string ends with its line, a triple-quoted one with the text */
    expect("x = 'abc\ny = 2\n", "identifier x\noperator.assign =\nopen.quote '\nstring abc\nnewline \\n\n"
                                "identifier y\noperator.assign =\nnumber.integer 2\nnewline \\n\n");
    expect("x = '''abc\ny = 2\n",
           "identifier x\noperator.assign =\nopen.quote '''\nstring.triple abc\\ny = 2\\n\n");
    /* a bracket left open is forgotten at the next statement that can be nothing else */
    expect("f(1,\ndef g():\n    return 2\n",
           "identifier f\nopen.round (\nnumber.integer 1\ncomma ,\nkeyword def\nidentifier g\n"
           "open.round (\nclose.round )\ncolon :\nnewline \\n\nindent     \nkeyword return\n"
           "number.integer 2\nnewline \\n\n");
    expect("x = $ ? 3\n",
           "identifier x\noperator.assign =\nerror $\nerror ?\nnumber.integer 3\nnewline \\n\n");
    expect("!ls -l\n", "error !\nidentifier ls\noperator -\nidentifier l\nnewline \\n\n");
    expect(") ] }\n", "close.round )\nclose.square ]\nclose.curly }\nnewline \\n\n");
    /* errors have keywords and builtins, as sound code has */
    expect("if x == y\n foo(\ntry:\n pass\nfinally:\n with a: yield\n nonlocal b\n",
           "keyword if\nidentifier x\noperator ==\nidentifier y\nnewline \\n\nindent  \nidentifier foo\n"
           "open.round (\nkeyword try\ncolon :\nnewline \\n\nindent  \nkeyword pass\nnewline \\n\n"
           "keyword finally\ncolon :\nnewline \\n\nindent  \nkeyword with\nidentifier a\ncolon :\n"
           "keyword yield\nnewline \\n\nkeyword nonlocal\nidentifier b\nnewline \\n\n");
    expect("try \n    x\nexcept IndexError:\n    raise\n",
           "keyword try\nnewline \\n\nindent     \nidentifier x\nnewline \\n\nkeyword except\n"
           "builtin IndexError\ncolon :\nnewline \\n\nindent     \nkeyword raise\nnewline \\n\n");
    expect("return Exception\nexcept Exception, e:\n  f.print, f.exec\n",
           "keyword return\nbuiltin Exception\nnewline \\n\nkeyword except\nbuiltin Exception\ncomma ,\n"
           "identifier e\ncolon :\nnewline \\n\nindent   \nidentifier f\ndot .\nidentifier print\ncomma ,\n"
           "identifier f\ndot .\nidentifier exec\nnewline \\n\n");
    expect("for for\n", "keyword for\nkeyword for\nnewline \\n\n");
    expect("", "");
    expect("\n \n", "");
}

/* Texts that are hard on parsers; all that is asked for is that they are cut, and soon. */
static void test_hostile(void **state) {
    (void)state;
    enum { N = 400000 };
    static const char *const pieces[] = {
        "(",       "a.",   "@a\n",    ")(",    "f\"{", "\"\"\"x", "\\\n",  "a;",           "not ",
        "x if y ", "[",    "lambda:", "'",     ":\n",  "else\n",  "f('\n", "a if b else ", "-",
        "a**",     "\xFF", "1\r",     "'''\n#"};
    char *text = malloc(N);
    uint8_t *classes = malloc(N);
    assert_true(text && classes);
    for (size_t p = 0; p < sizeof pieces / sizeof *pieces; p++) {
        size_t length = strlen(pieces[p]), at = 0;
        size_t n = p < 3 ? N : N / 10; /* three of more than one piece */
        for (size_t i = 0; i < n; i++) text[i] = pieces[p][i % length];
        lg_classify(text, n, classes);
        lg_spans leaves = {0};
        assert_true(lg_code_leaves(code, LG_PYTHON, text, classes, n, &leaves));
        for (size_t i = 0; i < leaves.count; i++) {
            assert_int_equal(leaves.begin[i], at);
            assert_true(leaves.end[i] > at);
            at = (size_t)leaves.end[i];
        }
        assert_int_equal(at, n);
        lg_spans_free(&leaves);
    }
    free(classes);
    free(text);
}

/* A long text has the leaves of its parts, wherever it is cut for the parser. */
static void test_long(void **state) {
    (void)state;
    static const char unit[] =
        "@d\ndef f(a):\n    '''Doc\n# no\ndef g(\n'''\n    if a:\n        return [1,\n2]\n"
        "    else:\n        x = f'{a}'\n\ny = f(3)\n";
    enum { COPIES = 8000 };
    size_t length = strlen(unit), n = COPIES * length;
    char *text = malloc(n);
    uint8_t *classes = malloc(n);
    assert_true(text && classes);
    for (size_t i = 0; i < COPIES; i++) memcpy(text + i * length, unit, length);
    lg_classify(text, n, classes);
    lg_spans one = {0}, all = {0};
    assert_true(lg_code_leaves(code, LG_PYTHON, unit, classes, length, &one));
    assert_true(lg_code_leaves(code, LG_PYTHON, text, classes, n, &all));
    assert_int_equal(all.count, one.count * COPIES);
    for (size_t i = 0; i < all.count; i++) {
        assert_int_equal(all.begin[i], i / one.count * length + one.begin[i % one.count]);
        assert_int_equal(all.tag[i], one.tag[i % one.count]);
    }
    lg_spans_free(&one);
    lg_spans_free(&all);
    free(classes);
    free(text);
}

/* A statement too long for one piece: its strings stay strings. */
static void test_long_statement(void **state) {
    (void)state;
    static const char unit[] = "    'a, (b': 'c \\'d', # it's\n    'e'\n    'f': [1,\n  2],\n";
    enum { COPIES = 15000 };
    size_t length = strlen(unit), n = 6 + COPIES * length + 10, strings = 0, comments = 0, indents = 0;
    char *text = malloc(n + 1);
    uint8_t *classes = malloc(n);
    lg_spans leaves = {0};
    assert_true(text && classes);
    memcpy(text, "x = {\n", 6);
    for (size_t i = 0; i < COPIES; i++) memcpy(text + 6 + i * length, unit, length);
    memcpy(text + n - 10, "}\ny = '1'\n", 11);
    n = strlen(text);
    lg_classify(text, n, classes);
    assert_true(lg_code_leaves(code, LG_PYTHON, text, classes, n, &leaves));
    for (size_t i = 0; i < leaves.count; i++) {
        strings += leaves.tag[i] == LG_PYTHON_STRING;
        comments += leaves.tag[i] == LG_PYTHON_COMMENT;
        indents += leaves.tag[i] == LG_PYTHON_INDENT || leaves.tag[i] == LG_PYTHON_NEWLINE;
    }
    assert_int_equal(strings, 4 * COPIES + 1);
    assert_int_equal(comments, COPIES);
    assert_int_equal(indents, 2);
    lg_spans_free(&leaves);
    free(classes);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables),         cmocka_unit_test(test_names),
        cmocka_unit_test(test_zero_bytes),     cmocka_unit_test(test_keywords),
        cmocka_unit_test(test_strings),        cmocka_unit_test(test_numbers_and_signs),
        cmocka_unit_test(test_layout),         cmocka_unit_test(test_broken),
        cmocka_unit_test(test_hostile),        cmocka_unit_test(test_long),
        cmocka_unit_test(test_long_statement),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
