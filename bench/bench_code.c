/* Code and markup: MB/s of lg_code_leaves beside tree-sitter's parse of the same text alone, and how they
   compare. Text: the files named on the command line, or Python written for the purpose. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tree_sitter/api.h>

#include "tag/code.h"

enum { ROUNDS = 7 };

const TSLanguage *lg_grammar_python(void);

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static char *python_text(size_t *n_bytes) {
    enum { COPIES = 1500 };
    static const char piece[] =
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
    char *text = malloc(COPIES * (sizeof piece + 8)), *at = text;
    for (int i = 0; text && i < COPIES; i++) at += sprintf(at, piece, i);
    *n_bytes = (size_t)(at - text);
    return text;
}

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

static int measure(const char *name, lg_kind kind, const TSLanguage *language, const char *text, size_t n) {
    uint8_t *classes = malloc(n);
    lg_code *code = lg_code_create();
    TSParser *parser = ts_parser_new();
    lg_spans leaves = {0};
    if (!classes || !code || !parser || !ts_parser_set_language(parser, language)) return 1;
    lg_classify(text, n, classes);
    double parse = 1e9, tag = 1e9;
    for (int i = 0; i < ROUNDS; i++) {
        double start = now();
        ts_tree_delete(ts_parser_parse_string(parser, NULL, text, (uint32_t)n));
        double middle = now();
        leaves.count = 0;
        if (!lg_code_leaves(code, kind, text, classes, n, &leaves)) return 1;
        double end = now();
        if (middle - start < parse) parse = middle - start;
        if (end - middle < tag) tag = end - middle;
    }
    printf("%-8s %6.2f MB: parse alone %6.2f MB/s, leaves %6.2f MB/s (%.0f %%), %zu leaves\n", name,
           1e-6 * (double)n, 1e-6 * (double)n / parse, 1e-6 * (double)n / tag, 100 * parse / tag,
           leaves.count);
    lg_spans_free(&leaves);
    ts_parser_delete(parser);
    lg_code_free(code);
    free(classes);
    return 0;
}

int main(int argc, char **argv) {
    size_t n;
    int failed = 0;
    for (int i = 1; i < argc; i++) {
        char *text = read_file(argv[i], &n);
        failed |= !text || measure(argv[i], LG_PYTHON, lg_grammar_python(), text, n);
        free(text);
    }
    if (argc > 1) return failed;
    char *text = python_text(&n);
    failed |= !text || measure("python", LG_PYTHON, lg_grammar_python(), text, n);
    free(text);
    return failed;
}
