/* Probe items, read and made, when memory runs out: at every single allocation, an error and nothing lost. */
#include "failing_malloc.h"

#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "lossgap/probe.h"
#include "probe/items.h"
#include "tokenizer_fixture.h"

static char path[64];

static lg_status read_and_write(void *context, lg_error *error) {
    const lg_text *text = context;
    lg_probe_items *items;
    char identity[33];
    lg_status status = lg_probe_items_parse(text->data, text->length, "t", &items, error);
    if (status) return status;
    status = lg_probe_items_write(items, path, error);
    if (!status) status = lg_probe_items_identity(items, identity, error);
    lg_probe_items_free(items);
    return status;
}

static void reading(void **state) {
    (void)state;
    lg_text text = {0};
    for (int i = 0; i < 70; i++)
        lg_text_printf(&text,
                       "{\"id\":\"\\u0069%d\",\"probe\":\"p\",\"distance\":%d,\"cell\":\"c\",\"group\":\"g\","
                       "\"prompt\":\"\\n%0300d\","
                       "\"choices\":[\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\",\"\\t9\",\"10\",\"11\","
                       "\"12\",\"13\",\"14\",\"15\","
                       "\"16\",\"17\"],\"answer\":3,\"bound\":[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16],"
                       "\"spans\":[{\"role\":\"q\",\"begin\":0,\"end\":5}],\"extra\":\"\\r\"}\n",
                       i, i, i);
    survives_failing_malloc(read_and_write, &text, "read and write items");
    lg_text_free(&text);
}

static lg_status add(void *context, lg_error *error) {
    (void)context;
    lg_probe_items *items;
    lg_status status = lg_probe_items_create(&items, error);
    for (int i = 0; i < 70 && !status; i++) {
        char id[16];
        snprintf(id, sizeof id, "%d", i);
        lg_probe_choice choices[2] = {{"a", 1, 0, 1}, {"b", 1, 1, 0}};
        lg_probe_span span = {"binding", 0, 1};
        lg_probe_item item = {.id = id,
                              .probe = "p",
                              .cell = "",
                              .group = "g",
                              .prompt = "prompt",
                              .prompt_length = 6,
                              .choices = choices,
                              .n_choices = 2,
                              .spans = &span,
                              .n_spans = 1};
        status = lg_probe_items_add(items, &item, error);
    }
    lg_probe_items_free(items);
    return status;
}

static void adding(void **state) {
    (void)state;
    survives_failing_malloc(add, NULL, "add items");
}

typedef struct generation {
    lg_tokenizer *tokenizer;
    lg_probe_options options;
} generation;

static lg_status generate(void *context, lg_error *error) {
    const generation *g = context;
    lg_probe_items *items;
    lg_status status = lg_probe_generate(&g->options, g->tokenizer, NULL, &items, error);
    lg_probe_items_free(items);
    return status;
}

/* A tokenizer of bytes is quick to make items with. */
static void generating(void **state) {
    (void)state;
    static const uint64_t distance[] = {120}, length[] = {3};
    static const char *const names[] = {"pronoun", "entity", "closure", "word problem", "discourse"};
    lg_error error = {0};
    char *json = tokenizer_json("null", BYTE_LEVEL, "[]", "[]", "", NULL), file[80];
    generation g = {.options = LG_PROBE_OPTIONS_INIT};
    assert_int_equal(lg_tokenizer_parse(json, strlen(json), "bytes", &g.tokenizer, &error), LG_OK);
    g.options.distances = distance;
    g.options.lengths = length;
    g.options.n_distances = g.options.n_lengths = g.options.count = g.options.updates = 1;
    for (unsigned kind = 0; kind < LG_N_PROBE_KINDS; kind++) {
        g.options.kinds = 1u << kind;
        g.options.filler = "words"; /* fewer pieces */
        survives_failing_malloc(generate, &g, names[kind]);
    }
    const char text[] = "One sentence is here. Another is there. (None.) And so on and on.";
    snprintf(file, sizeof file, "text:%s", path);
    assert_int_equal(lg_write_file(path, text, sizeof text - 1, &error), LG_OK);
    g.options.kinds = 1u << LG_PROBE_CLOSURE;
    g.options.filler = file;
    survives_failing_malloc(generate, &g, "filler from a file");
    g.options.filler = "grammar";
    survives_failing_malloc(generate, &g, "filler of the grammar");
    lg_tokenizer_close(g.tokenizer);
    free(json);
}

static lg_status train(void *context, lg_error *error) {
    return lg_probe_write_training(context, path, error);
}

static void training(void **state) {
    (void)state;
    static const uint64_t length[] = {3};
    lg_probe_training_options o = {.groups = "A5", .lengths = length, .n_lengths = 1, .count = 3};
    survives_failing_malloc(train, &o, "sequences to train on");
}

static int setup(void **state) {
    (void)state;
    snprintf(path, sizeof path, "/tmp/lossgap-probe-memory-%ld", (long)getpid());
    return 0;
}

static int teardown(void **state) {
    (void)state;
    remove(path);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reading),
        cmocka_unit_test(adding),
        cmocka_unit_test(generating),
        cmocka_unit_test(training),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
