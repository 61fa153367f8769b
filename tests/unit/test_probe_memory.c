/* Probe items when memory runs out: at every single allocation, an error and nothing lost. */
#include "failing_malloc.h"

#include <stdio.h>
#include <unistd.h>

#include "base/text.h"
#include "lossgap/probe.h"
#include "probe/items.h"

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
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
