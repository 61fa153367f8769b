/* Speed of the tokenizer in one thread: bench_tokenizer [TOKENIZER TEXT…]. Text is cut at line ends into
   documents of about 16 kB. Without arguments: dolma2's tokenizer from ../shared, or else the small one of
   the tests, on the sources of this repository, over and over up to 16 MB (which flatters every cache; give a
   text of your own for a fair figure). */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/text.h"
#include "lossgap/tokenizer.h"

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void add_file(lg_text *text, const char *path) {
    lg_mapping m;
    lg_error error;
    if (lg_map(path, &m, &error)) {
        fprintf(stderr, "%s\n", error.message);
        exit((int)error.status);
    }
    lg_text_put(text, m.data, m.size);
    lg_unmap(&m);
}

static void add_sources(lg_text *text) {
    static const char *const patterns[] = {"src/*/*.c", "src/*/*.h", "tests/*/*.c", "*.md", "docs/*/*.md"};
    glob_t found = {0};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        glob(patterns[i], i ? GLOB_APPEND : 0, NULL, &found);
    while (found.gl_pathc && text->length < 16 << 20)
        for (size_t i = 0; i < found.gl_pathc; i++) add_file(text, found.gl_pathv[i]);
    globfree(&found);
}

/* One pass over the text; returns CPU seconds. */
static double pass(lg_tokenizer_session *session, const lg_text *text, lg_tokens *tokens, size_t *count) {
    enum { DOCUMENT = 16384 };
    lg_error error;
    double begin = seconds();
    *count = 0;
    for (size_t at = 0, size; at < text->length; at += size) {
        size = text->length - at < DOCUMENT ? text->length - at : DOCUMENT;
        const char *newline = memrchr(text->data + at, '\n', size);
        if (newline && at + size < text->length) size = (size_t)(newline + 1 - (text->data + at));
        if (lg_tokenize(session, text->data + at, size, false, tokens, &error)) {
            fprintf(stderr, "%s\n", error.message);
            exit((int)error.status);
        }
        *count += tokens->count;
    }
    return seconds() - begin;
}

int main(int argc, char **argv) {
    static const char *const defaults[] = {"../shared/golden/tokenizers/dolma2",
                                           "tests/golden/tokenizers/small"};
    const char *path = argc > 1 ? argv[1] : defaults[lg_exists(defaults[0]) ? 0 : 1];
    lg_error error;
    lg_tokenizer *tokenizer;
    lg_tokenizer_session *session;
    lg_tokens tokens = {0};
    lg_text text = {0};
    for (int i = 2; i < argc; i++) add_file(&text, argv[i]);
    if (argc < 3) add_sources(&text);

    double begin = seconds();
    if (lg_tokenizer_open(path, &tokenizer, &error) ||
        lg_tokenizer_session_create(tokenizer, &session, &error)) {
        fprintf(stderr, "%s\n", error.message);
        return (int)error.status;
    }
    printf("tokenizer      %s: %s\n", path, lg_tokenizer_describe(tokenizer));
    printf("open           %.1f ms\n", 1e3 * (seconds() - begin));

    double best = 0;
    size_t count = 0;
    for (int i = 0; i < 5; i++) {
        double t = pass(session, &text, &tokens, &count);
        if (i == 0) printf("first pass     %.1f MB/s\n", 1e-6 * (double)text.length / t);
        if (i == 0 || t < best) best = t;
    }
    printf("best of five   %.1f MB/s, %.2f million tokens/s (%.2f MB, %zu tokens, CPU time of one thread)\n",
           1e-6 * (double)text.length / best, 1e-6 * (double)count / best, 1e-6 * (double)text.length, count);
    lg_tokenizer_session_free(session);
    lg_tokenizer_close(tokenizer);
    lg_tokens_free(&tokens);
    lg_text_free(&text);
    return 0;
}
