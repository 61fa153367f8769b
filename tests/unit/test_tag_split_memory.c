/* The splitter of prose when memory runs out: it says so, and nothing is lost. */
#include "failing_malloc.h"

#include "base/error.h"
#include "tag/prose.h"

enum { N_BYTES = 3000 };
static char text[N_BYTES];
static uint8_t classes[N_BYTES];

static lg_status run_split(void *style, lg_error *error) {
    lg_spans words = {0};
    bool done = lg_split_prose(text, classes, N_BYTES, *(lg_split *)style, &words);
    lg_spans_free(&words);
    return done ? LG_OK : lg_fail_memory(error);
}

static void test_memory(void **state) {
    (void)state;
    static const char line[] =
        "She doesn't know: Mr. X-ray's $5.00, e.g. 5km (5.5%) at http://x.org/. \"No!\"\n";
    for (size_t i = 0; i < N_BYTES; i++) text[i] = line[i % (sizeof line - 1)];
    lg_classify(text, N_BYTES, classes);
    lg_split styles[] = {LG_SPLIT_WHOLE, LG_SPLIT_TREEBANK};
    for (int s = 0; s < 2; s++) survives_failing_malloc(run_split, &styles[s], "split");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
