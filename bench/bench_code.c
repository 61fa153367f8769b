/* Code and markup: MB/s of lg_code_leaves beside tree-sitter's parse of the same text alone, and how they
   compare; with HTML, the parse of its scripts and styles counts too. Text: the files named on the command
   line (.html, .tex; else Python), or text written for the purpose. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tree_sitter/api.h>

#include "tag/code.h"

enum { ROUNDS = 7 };

const TSLanguage *lg_grammar_python(void), *lg_grammar_html(void), *lg_grammar_javascript(void),
    *lg_grammar_css(void), *lg_grammar_latex(void);

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* COPIES of PIECE, in which %d stands for the number of the copy. */
static char *text_of(const char *piece, int copies, size_t *n_bytes) {
    size_t room = (size_t)copies * (strlen(piece) + 8);
    char *text = malloc(room);
    *n_bytes = 0;
    for (int i = 0; text && i < copies; i++)
        *n_bytes += (size_t)snprintf(text + *n_bytes, room - *n_bytes, piece, i);
    return text;
}

static const char python_piece[] =
    "class Reader%d(Base):\n"
    "    \"\"\"Reads lines, and counts what it has seen.\"\"\"\n\n"
    "    limit = 1_000\n\n"
    "    def __init__(self, path, *, encoding='utf-8', strict=False):\n"
    "        self.path = os.path.join(path, f'part-{strict!r:>8}.txt')  # where they are\n"
    "        self.seen = {name: 0 for name in ('a', 'b', \"c\")}\n\n"
    "    def read(self, count: int = 10) -> list[str]:\n"
    "        out = []\n"
    "        with open(self.path, encoding=self.encoding) as file:\n"
    "            for number, line in enumerate(file):\n"
    "                if number >= count or not line.strip():\n"
    "                    break\n"
    "                key, _, value = line.partition('=')\n"
    "                self.seen[key] = self.seen.get(key, 0) + len(value) * 2 - 1\n"
    "                out.append(value[1:-1] if value else None)\n"
    "        return sorted(out, key=lambda x: (x is None, x))\n\n\n";

static const char html_piece[] =
    "<div class=\"entry\" id=entry-%d>\n"
    "  <h2><a href=\"/posts/17?a=1&amp;b=2\" title='A post'>What was seen</a></h2>\n"
    "  <!-- the text -->\n"
    "  <p>It rained for days &mdash; then, at last, <em>the sun</em> came out.<br>\n"
    "  Nobody had expected it &lt;so soon&gt;, least of all the farmers.\n"
    "  <ul><li>first<li>second <b>and</b> third</ul>\n"
    "  <table><tr><td align=right>12</td><td>34</td></tr></table>\n"
    "  <script>var n = document.getElementById(\"x\"); if (n && n.size > 2) { show(n, 'all'); }</script>\n"
    "  <style>.entry > p:first-child { color: #333; margin: 0 1.5em }</style>\n"
    "</div>\n";

static const char latex_piece[] =
    "\\section{On the rain} \\label{sec:rain_%d}\n"
    "It rained for days, as we said in Section~\\ref{sec:wind}; then \\emph{at last} the sun came out\n"
    "\\cite{smith99,jones_01}. %% nobody had expected it\n\n"
    "Let $x_1, \\dots, x_n \\in \\mathbb{R}$ be so that $\\sum_{i=1}^n x_i^2 \\le 1$. Then\n"
    "\\begin{equation} \\label{eq:sum}\n"
    "  f(x) = \\left( \\frac{a + b}{2} \\right)^{n-1} + \\int_0^1 g(t)\\, dt .\n"
    "\\end{equation}\n"
    "\\begin{itemize}\n  \\item[(a)] the farmers, ``who knew'';\n  \\item others.\n\\end{itemize}\n"
    "\\includegraphics[width=0.8\\textwidth,angle=90]{figures/rain}\n\n";

static char *read_file(const char *path, size_t *n_bytes) {
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END)) return NULL;
    long size = ftell(f);
    char *text = size > 0 ? malloc((size_t)size) : NULL;
    rewind(f);
    *n_bytes = text ? fread(text, 1, (size_t)size, f) : 0;
    fclose(f);
    return text;
}

/* Seconds that the parse takes; the parse of what is raw text in it too. */
static double parse(TSParser *parser, const TSLanguage *language, const char *text, size_t n) {
    ts_parser_set_language(parser, language);
    double start = now();
    TSTree *tree = ts_parser_parse_string(parser, NULL, text, (uint32_t)n);
    double seconds = now() - start;
    TSTreeCursor at = ts_tree_cursor_new(ts_tree_root_node(tree));
    bool down = language == lg_grammar_html();
    while (down) {
        TSNode node = ts_tree_cursor_current_node(&at);
        if (!strcmp(ts_node_type(node), "raw_text")) {
            uint32_t begin = ts_node_start_byte(node), end = ts_node_end_byte(node);
            bool style = !strcmp(ts_node_type(ts_node_parent(node)), "style_element");
            seconds +=
                parse(parser, style ? lg_grammar_css() : lg_grammar_javascript(), text + begin, end - begin);
        }
        if (ts_tree_cursor_goto_first_child(&at)) continue;
        while (!ts_tree_cursor_goto_next_sibling(&at))
            if (!ts_tree_cursor_goto_parent(&at)) {
                down = false;
                break;
            }
    }
    ts_tree_cursor_delete(&at);
    ts_tree_delete(tree);
    return seconds;
}

static int measure(const char *name, lg_kind kind, const char *text, size_t n) {
    const TSLanguage *language = kind == LG_HTML    ? lg_grammar_html()
                                 : kind == LG_LATEX ? lg_grammar_latex()
                                                    : lg_grammar_python();
    uint8_t *classes = malloc(n);
    lg_code *code = lg_code_create();
    TSParser *parser = ts_parser_new();
    lg_spans leaves = {0};
    if (!classes || !code || !parser || !ts_parser_set_language(parser, language)) return 1;
    lg_classify(text, n, classes);
    double parsing = 1e9, tag = 1e9;
    for (int i = 0; i < ROUNDS; i++) {
        double seconds = parse(parser, language, text, n), middle = now();
        leaves.count = 0;
        if (!lg_code_leaves(code, kind, text, classes, n, &leaves)) return 1;
        double end = now();
        if (seconds < parsing) parsing = seconds;
        if (end - middle < tag) tag = end - middle;
    }
    printf("%-8s %6.2f MB: parse alone %6.2f MB/s, leaves %6.2f MB/s (%.0f %%), %zu leaves\n", name,
           1e-6 * (double)n, 1e-6 * (double)n / parsing, 1e-6 * (double)n / tag, 100 * parsing / tag,
           leaves.count);
    lg_spans_free(&leaves);
    ts_parser_delete(parser);
    lg_code_free(code);
    free(classes);
    return 0;
}

static bool ends_in(const char *path, const char *ending) {
    size_t n = strlen(path), m = strlen(ending);
    return n >= m && !strcmp(path + n - m, ending);
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        lg_kind kind;
        const char *piece;
    } own[] = {
        {"python", LG_PYTHON, python_piece}, {"html", LG_HTML, html_piece}, {"latex", LG_LATEX, latex_piece}};
    size_t n;
    int failed = 0;
    for (int i = 1; i < argc; i++) {
        char *text = read_file(argv[i], &n);
        lg_kind kind = ends_in(argv[i], ".html") ? LG_HTML : ends_in(argv[i], ".tex") ? LG_LATEX : LG_PYTHON;
        failed |= !text || measure(argv[i], kind, text, n);
        free(text);
    }
    if (argc > 1) return failed;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        char *text = text_of(own[i].piece, 1500, &n);
        failed |= !text || measure(own[i].name, own[i].kind, text, n);
        free(text);
    }
    return failed;
}
