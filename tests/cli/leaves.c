/* Prints the leaves of code: `leaves KIND [-o] FILE…`, one line each: tag, tab, text (C escapes); with -o
   tag, begin, end under a line `== FILE`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lossgap/dataset.h"
#include "tag/code.h"

static char *read_file(const char *path, size_t *n_bytes) {
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    size_t room = 0;
    *n_bytes = 0;
    while (f && !feof(f) && !ferror(f)) {
        text = realloc(text, room += 1 << 20);
        if (!text) break;
        *n_bytes += fread(text + *n_bytes, 1, room - *n_bytes, f);
    }
    if (f) fclose(f);
    return text;
}

static void print_text(const char *text, size_t n) {
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '\n') fputs("\\n", stdout);
        else if (c == '\r') fputs("\\r", stdout);
        else if (c == '\t') fputs("\\t", stdout);
        else if (c == '\\') fputs("\\\\", stdout);
        else if (c < 32 || c == 127) printf("\\x%02x", c);
        else putchar(c);
    }
}

int main(int argc, char **argv) {
    lg_kind kind = LG_PROSE;
    bool offsets = argc > 2 && !strcmp(argv[2], "-o");
    if (argc < 3 || !lg_kind_parse(argv[1], &kind)) return 2;
    lg_code *code = lg_code_create();
    lg_spans leaves = {0};
    int status = code ? 0 : 1;
    for (int i = 2 + offsets; i < argc && !status; i++) {
        size_t n;
        char *text = read_file(argv[i], &n);
        uint8_t *classes = malloc(n + 1);
        status = !text || !classes;
        if (!status) lg_classify(text, n, classes);
        leaves.count = 0;
        status = status || !lg_code_leaves(code, kind, text, classes, n, &leaves);
        if (offsets && !status) printf("== %s\n", argv[i]);
        for (size_t s = 0; s < leaves.count && !status; s++) {
            size_t begin = (size_t)leaves.begin[s], end = (size_t)leaves.end[s];
            const char *name = lg_code_tags[leaves.tag[s]].name;
            if (offsets) printf("%s\t%zu\t%zu\n", name, begin, end);
            else printf("%s\t", name), print_text(text + begin, end - begin), putchar('\n');
        }
        free(text);
        free(classes);
    }
    lg_spans_free(&leaves);
    lg_code_free(code);
    return status;
}
