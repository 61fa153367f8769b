/* The splitter against the treebanks' dev files, from raw text; skipped without ../shared (or LG_SHARED). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tag/prose.h"

/* One document: its text and the words that the treebank has there. */
typedef struct treebank {
    char *text;
    size_t n, capacity;
    lg_spans gold;
    size_t at; /* the sentence's next word is looked for from here */
    size_t n_gold, n_split, n_same;
} treebank;

static void put(treebank *t, const char *text, size_t n) {
    if (t->n + n > t->capacity) {
        t->capacity = 2 * (t->n + n);
        t->text = realloc(t->text, t->capacity);
        assert_non_null(t->text);
    }
    memcpy(t->text + t->n, text, n);
    t->n += n;
}

static void score_document(treebank *t) {
    uint8_t *classes = malloc(t->n + 1);
    lg_spans words = {0};
    assert_non_null(classes);
    lg_classify(t->text, t->n, classes);
    assert_true(lg_split_prose(t->text, classes, t->n, LG_SPLIT_TREEBANK, &words));
    for (size_t g = 0, w = 0; g < t->gold.count && w < words.count;) {
        if (t->gold.begin[g] == words.begin[w] && t->gold.end[g] == words.end[w]) t->n_same++;
        if (t->gold.end[g] <= words.end[w]) g++;
        else w++;
    }
    t->n_gold += t->gold.count;
    t->n_split += words.count;
    t->n = t->gold.count = 0;
    lg_spans_free(&words);
    free(classes);
}

static void read_line(treebank *t, char *line, bool *paragraph) {
    if (!strncmp(line, "# newdoc", 8)) {
        score_document(t);
    } else if (!strncmp(line, "# newpar", 8)) {
        *paragraph = true;
    } else if (!strncmp(line, "# text = ", 9)) {
        if (t->n) put(t, *paragraph ? "\n\n" : " ", *paragraph ? 2 : 1);
        *paragraph = false;
        t->at = t->n;
        put(t, line + 9, strlen(line + 9));
    } else if (*line >= '0' && *line <= '9' && strspn(line, "0123456789") == strcspn(line, "\t")) {
        char *form = strchr(line, '\t') + 1;
        size_t n = strcspn(form, "\t");
        while (t->at < t->n && t->text[t->at] == ' ') t->at++;
        if (t->at + n > t->n || memcmp(t->text + t->at, form, n) != 0) fail_msg("not in the text: %s", line);
        assert_true(lg_spans_add(&t->gold, t->at, t->at + n, 0));
        t->at += n;
    }
}

static void expect_f1(const char *name, double least) {
    const char *shared = getenv("LG_SHARED");
    char path[4096], line[1 << 16];
    snprintf(path, sizeof path, "%s/pos/%s", shared ? shared : "../shared", name);
    FILE *file = fopen(path, "r");
    if (!file) {
        print_message("no %s: skipped\n", path);
        skip();
    }
    treebank t = {0};
    bool paragraph = false;
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        read_line(&t, line, &paragraph);
    }
    fclose(file);
    score_document(&t);
    double f1 = 2.0 * (double)t.n_same / (double)(t.n_gold + t.n_split);
    print_message("%s: F1 of %zu words %.4f\n", name, t.n_gold, f1);
    lg_spans_free(&t.gold);
    free(t.text);
    assert_true(f1 >= least);
}

static void test_ewt(void **state) {
    (void)state;
    expect_f1("en_ewt-dev.conllu", 0.993);
}

static void test_gum(void **state) {
    (void)state;
    expect_f1("en_gum-dev.conllu", 0.993);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ewt), cmocka_unit_test(test_gum)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
