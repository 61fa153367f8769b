/* Probe items: what the file format holds, what is refused and how that is said, and the round trip. */
#include "fixture.h"

#include "base/file.h"
#include "base/json.h"
#include "lossgap/probe.h"

static lg_probe_items *read_text(const char *text, size_t length) {
    lg_error error = {0};
    lg_probe_items *items;
    const char *path = fixture_path("items.jsonl");
    if (lg_write_file(path, text, length, &error) || lg_probe_items_read(path, &items, &error))
        fail_msg("%s", error.message);
    return items;
}

static lg_text written(const lg_probe_items *items) {
    lg_error error = {0};
    const char *path = fixture_path("written.jsonl");
    lg_mapping file;
    lg_text text = {0};
    if (lg_probe_items_write(items, path, &error) || lg_map(path, &file, &error))
        fail_msg("%s", error.message);
    lg_text_put(&text, file.data, file.size);
    lg_unmap(&file);
    return text;
}

static void every_field(void **state) {
    (void)state;
    static const char line[] = "{\"most_frequent\": 2, \"id\": \"\\u0061\\/1\", \"probe\": \"own\", "
                               "\"distance\": 18446744073709551615, "
                               "\"cell\": \"x/y\", \"group\": \"g\", \"tokenizer\": \"0f\", \"prompt\": "
                               "\"A\\u0000\\u00e9 \\ud83d\\ude00.\", "
                               "\"choices\": [\" a\", \"b\\n\", \" \\\"\"], \"answer\": 1, \"bound\": [0, "
                               "null, 2], \"listed\": [1, 0, 2], "
                               "\"note\": {\"kept\": false}, \"most_recent\": null, \"first_mention\": 0, "
                               "\"spans\": [{\"end\": 4, \"begin\": 1, \"role\": \"binding\", \"x\": 1}, "
                               "{\"role\": \"query\", \"begin\": 9, \"end\": 10}]}\n";
    lg_probe_items *items = read_text(line, sizeof line - 1);
    assert_int_equal(lg_probe_n_items(items), 1);
    const lg_probe_item *item = lg_probe_item_at(items, 0);
    assert_string_equal(item->id, "\"a/1\"");
    assert_string_equal(item->probe, "own");
    assert_true(item->distance == UINT64_MAX);
    assert_string_equal(item->cell, "x/y");
    assert_string_equal(item->group, "g");
    assert_string_equal(item->tokenizer, "0f");
    assert_int_equal(item->prompt_length, 10);
    assert_memory_equal(item->prompt, "A\0\xC3\xA9 \xF0\x9F\x98\x80.", 10);
    assert_int_equal(item->n_choices, 3);
    assert_int_equal(item->choices[1].length, 2);
    assert_memory_equal(item->choices[1].text, "b\n", 2);
    assert_int_equal(item->answer, 1);
    assert_int_equal(item->choices[0].bound, 0);
    assert_int_equal(item->choices[1].bound, -1);
    assert_int_equal(item->choices[2].bound, 2);
    assert_int_equal(item->choices[0].listed, 1);
    assert_int_equal(item->n_spans, 2);
    assert_string_equal(item->spans[0].role, "binding");
    assert_int_equal(item->spans[0].begin, 1);
    assert_int_equal(item->spans[0].end, 4);
    assert_int_equal(item->most_recent, -1);
    assert_int_equal(item->most_frequent, 2);
    assert_int_equal(item->first_mention, 0);
    lg_text text = written(items);
    static const char canonical[] =
        "{\"id\":\"a/1\",\"probe\":\"own\",\"distance\":18446744073709551615,\"cell\":\"x/"
        "y\",\"group\":\"g\","
        "\"tokenizer\":\"0f\",\"prompt\":\"A\\u0000\xC3\xA9 \xF0\x9F\x98\x80.\",\"choices\":[\" "
        "a\",\"b\\n\",\" "
        "\\\"\"],\"answer\":1,\"bound\":[0,null,2],\"listed\":[1,0,2],\"most_frequent\":2,\"first_mention\":"
        "0,"
        "\"spans\":[{\"role\":\"binding\",\"begin\":1,\"end\":4},{\"role\":\"query\",\"begin\":9,\"end\":10}]"
        "}\n";
    assert_string_equal(text.data, canonical);
    lg_probe_items_free(items);
    items = read_text(canonical, sizeof canonical - 1);
    lg_text again = written(items);
    assert_string_equal(again.data, canonical);
    lg_text_free(&again);
    lg_text_free(&text);
    lg_probe_items_free(items);
}

static void defaults(void **state) {
    (void)state;
    static const char text[] =
        "\xEF\xBB\xBF{\"probe\": \"p\", \"prompt\": \"x\", \"choices\": [\"a\", \"b\"], \"answer\": 0}\r\n"
        "\n \t\r\n"
        "{\"probe\": \"p\", \"prompt\": \"x\", \"choices\": [\"a\", \"b\"], \"answer\": 0}\n"
        "{\"id\": -012, \"probe\": \"p\", \"prompt\": \"x\", \"choices\": [\"a\", \"b\"], \"answer\": 0}";
    lg_error error = {0};
    lg_probe_items *items;
    const char *path = fixture_path("items.jsonl");
    lg_write_file(path, text, sizeof text - 1, &error);
    assert_int_equal(lg_probe_items_read(path, &items, &error), LG_BAD_INPUT); /* -012 is no JSON */
    assert_null(items);
    char good[sizeof text];
    memcpy(good, text, sizeof text);
    char *minus = strstr(good, "-012");
    memcpy(minus, "-120", 4);
    items = read_text(good, sizeof text - 1);
    assert_int_equal(lg_probe_n_items(items), 3);
    assert_string_equal(lg_probe_item_at(items, 0)->id, "1");
    assert_string_equal(lg_probe_item_at(items, 1)->id, "4"); /* the number of its line */
    const lg_probe_item *item = lg_probe_item_at(items, 2);
    assert_string_equal(item->id, "-120");
    assert_string_equal(item->group, "-120");
    assert_string_equal(item->cell, "");
    assert_null(item->tokenizer);
    assert_int_equal(item->distance, 0);
    assert_int_equal(item->most_recent, -1);
    assert_int_equal(item->choices[0].bound, -1);
    lg_text out = written(items);
    assert_string_equal(
        out.data,
        "{\"id\":1,\"probe\":\"p\",\"distance\":0,\"prompt\":\"x\",\"choices\":[\"a\",\"b\"],\"answer\":0}\n"
        "{\"id\":4,\"probe\":\"p\",\"distance\":0,\"prompt\":\"x\",\"choices\":[\"a\",\"b\"],\"answer\":0}\n"
        "{\"id\":-120,\"probe\":\"p\",\"distance\":0,\"prompt\":\"x\",\"choices\":[\"a\",\"b\"],\"answer\":0}"
        "\n");
    lg_text_free(&out);
    lg_probe_items_free(items);
}

/* Every refusal names the file and the line, and says what to do. */
static void refusals(void **state) {
    (void)state;
#define ITEM(members) "{\"probe\":\"p\",\"prompt\":\"xy\",\"choices\":[\"a\",\"b\"],\"answer\":0" members "}"
    static const struct {
        const char *line, *says;
    } cases[] = {
        {"", "no items: write one JSON object a line"},
        {"[]", ":1: byte 0: the line is no JSON object"},
        {"{\"probe\":\"p\"", ":1: byte 12: expected"},
        {"{\"prompt\":\"x\",\"choices\":[\"a\",\"b\"],\"answer\":0}", "the item has no \"probe\""},
        {"{\"probe\":\"p\",\"choices\":[\"a\",\"b\"],\"answer\":0}", "the item has no \"prompt\""},
        {"{\"probe\":\"p\",\"prompt\":\"x\",\"answer\":0}", "the item has no \"choices\""},
        {"{\"probe\":\"p\",\"prompt\":\"x\",\"choices\":[\"a\",\"b\"]}", "the item has no \"answer\""},
        {"{\"probe\":\"\",\"prompt\":\"x\",\"choices\":[\"a\",\"b\"],\"answer\":0}", "\"probe\" is empty"},
        {"{\"probe\":null,\"prompt\":\"x\",\"choices\":[\"a\",\"b\"],\"answer\":0}", "\"probe\" is empty"},
        {"{\"probe\":7,\"prompt\":\"x\",\"choices\":[\"a\",\"b\"],\"answer\":0}", "\"probe\" is no string"},
        {"{\"probe\":\"p\",\"prompt\":\"\",\"choices\":[\"a\",\"b\"],\"answer\":0}", "the prompt is empty"},
        {"{\"probe\":\"p\",\"prompt\":\"\xFF\",\"choices\":[\"a\",\"b\"],\"answer\":0}",
         "the prompt is not UTF-8"},
        {"{\"probe\":\"p\",\"prompt\":\"\\ud800\",\"choices\":[\"a\",\"b\"],\"answer\":0}",
         "half a surrogate pair"},
        {"{\"probe\":\"p\",\"prompt\":\"x\",\"choices\":[\"a\"],\"answer\":0}",
         "1 choice: a probe needs two or more"},
        {"{\"probe\":\"p\",\"prompt\":\"x\",\"choices\":[],\"answer\":0}", "0 choices: a probe needs"},
        {"{\"probe\":\"p\",\"prompt\":\"x\",\"choices\":[\"a\",\"\"],\"answer\":0}", "choice 1 is empty"},
        {"{\"probe\":\"p\",\"prompt\":\"x\",\"choices\":[\"a\",3],\"answer\":0}", "\"choices\" is no string"},
        {"{\"probe\":\"p\",\"prompt\":\"x\",\"choices\":[\"a\",\"\xC3\"],\"answer\":0}",
         "choice 1 is not UTF-8"},
        {"{\"probe\":\"p\",\"prompt\":\"x\",\"choices\":[\"b\",\"a\",\"b\"],\"answer\":0}",
         "two choices are the same"},
        {"{\"probe\":\"p\",\"prompt\":\"x\",\"choices\":[\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\","
         "\"9\",\"5\"],"
         "\"answer\":0}",
         "two choices are the same"},
        {"{\"probe\":\"p\",\"prompt\":\"x\",\"choices\":[\"a\",\"b\"],\"answer\":2}",
         ":1: the answer 2 is no index of its 2 choices: count them from 0"},
        {"{\"probe\":\"p\",\"prompt\":\"x\",\"choices\":[\"a\",\"b\"],\"answer\":-1}", ":1: byte"},
        {"{\"probe\":\"p\",\"prompt\":\"x\",\"choices\":[\"a\",\"b\"],\"answer\":0.5}", ":1: byte"},
        {ITEM(",\"id\":1.0"), "neither a whole number nor a string"},
        {ITEM(",\"id\":true"), "neither a whole number nor a string"},
        {ITEM(",\"id\":{\"a\":1}"), "neither a whole number nor a string"},
        {ITEM(",\"id\":\"\xFF\""), "the id is not UTF-8"},
        {ITEM(",\"distance\":-3"), ":1: byte"},
        {ITEM(",\"cell\":\"a\\u0000\""), "\"cell\" holds U+0000"},
        {ITEM(",\"group\":\"\xE9\""), "a label is not UTF-8"},
        {ITEM(",\"tokenizer\":5"), "\"tokenizer\" is no string"},
        {ITEM(",\"bound\":[0]"), "\"bound\" has 1 entries, but there are 2 choices"},
        {ITEM(",\"listed\":[0,1,2]"), "\"listed\" has 3 entries, but there are 2 choices"},
        {ITEM(",\"bound\":[0,-1]"), "-1 in \"bound\" is not in 0 to"},
        {ITEM(",\"most_recent\":2"),
         "most_recent, most_frequent or first_mention is no index of its 2 choices"},
        {ITEM(",\"first_mention\":99"), "is no index of its 2 choices"},
        {ITEM(",\"spans\":[{\"role\":\"q\",\"begin\":1,\"end\":3}]"),
         "span 0 (1 to 3) does not lie in the prompt's 2 bytes"},
        {ITEM(",\"spans\":[{\"role\":\"q\",\"begin\":2,\"end\":1}]"), "span 0 (2 to 1) does not lie"},
        {ITEM(",\"spans\":[{\"begin\":1,\"end\":2}]"), "a span needs \"role\", \"begin\" and \"end\""},
        {ITEM(",\"spans\":[{\"role\":\"q\",\"begin\":0,\"begin\":0,\"end\":2}]"), "\"begin\" comes twice"},
        {ITEM(",\"answer\":1"), "\"answer\" comes twice"},
        {ITEM("") " x", ":1: byte"},
        {ITEM(",\"id\":5") "\n\n" ITEM(",\"id\":5"),
         ":3: the id 5 is that of line 1 already: give each item its own"},
        {ITEM(",\"id\":\"\\u0061\"") "\n" ITEM(",\"id\":\"a\""),
         ":2: the id \"a\" is that of line 1 already"},
        {ITEM(",\"id\":2") "\n" ITEM(""), ":2: the id 2 is that of line 1 already"},
    };
    const char *path = fixture_path("broken.jsonl");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lg_error error = {0};
        lg_probe_items *items = (lg_probe_items *)&error;
        assert_int_equal(lg_write_file(path, cases[i].line, strlen(cases[i].line), &error), LG_OK);
        lg_status status = lg_probe_items_read(path, &items, &error);
        if (status != LG_BAD_INPUT || error.status != LG_BAD_INPUT ||
            strncmp(error.message, path, strlen(path)) || !strstr(error.message, cases[i].says))
            fail_msg("case %zu (%s): status %d, \"%s\"", i, cases[i].line, (int)status, error.message);
        assert_null(items);
    }
    lg_error error = {0};
    lg_probe_items *items;
    assert_int_equal(lg_probe_items_read(fixture_path("none"), &items, &error), LG_BAD_INPUT);
    assert_non_null(strstr(error.message, "none"));
    /* a string and a number are different ids */
    static const char both[] = ITEM(",\"id\":5") "\n" ITEM(",\"id\":\"5\"");
    items = read_text(both, sizeof both - 1);
    assert_int_equal(lg_probe_n_items(items), 2);
    lg_probe_items_free(items);
}

static lg_probe_item simple(const char *id, const lg_probe_choice *choices) {
    return (lg_probe_item){.id = id,
                           .probe = "p",
                           .cell = "",
                           .prompt = "x",
                           .prompt_length = 1,
                           .choices = choices,
                           .n_choices = 2,
                           .most_recent = -1,
                           .most_frequent = -1,
                           .first_mention = -1};
}

static void adding(void **state) {
    (void)state;
    lg_error error = {0};
    lg_probe_items *items;
    assert_int_equal(lg_probe_items_create(&items, &error), LG_OK);
    lg_probe_choice choices[2] = {{"a", 1, -1, -1}, {"b", 1, -1, -1}};
    for (int i = 0; i < 1000; i++) {
        char id[32];
        snprintf(id, sizeof id, i % 2 ? "%d" : "\"%d\"", i);
        lg_probe_item item = simple(id, choices);
        assert_int_equal(lg_probe_items_add(items, &item, &error), LG_OK);
    }
    for (int i = 0; i < 1000; i++) {
        char id[32];
        snprintf(id, sizeof id, i % 2 ? "%d" : "\"%d\"", i);
        assert_string_equal(lg_probe_item_at(items, (size_t)i)->id, id);
        lg_probe_item item = simple(id, choices);
        assert_int_equal(lg_probe_items_add(items, &item, &error), LG_USAGE);
        assert_non_null(strstr(error.message, "is there already"));
    }
    static const char *const bad[] = {"", "a", "\"a", "\"a\"b", "01", "1.5", "-", "\"\xFF\"", "{}", " 1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        lg_probe_item item = simple(bad[i], choices);
        if (lg_probe_items_add(items, &item, &error) != LG_USAGE) fail_msg("took the id %s", bad[i]);
    }
    assert_int_equal(lg_probe_n_items(items), 1000);
    char before[33], after[33];
    assert_int_equal(lg_probe_items_identity(items, before, &error), LG_OK);
    assert_int_equal(strlen(before), 32);
    lg_probe_item item = simple("-1", choices);
    assert_int_equal(lg_probe_items_add(items, &item, &error), LG_OK);
    assert_int_equal(lg_probe_items_identity(items, after, &error), LG_OK);
    assert_string_not_equal(before, after);
    /* the identity is that of the file */
    lg_text text = written(items);
    lg_probe_items *again = read_text(text.data, text.length);
    assert_int_equal(lg_probe_items_identity(again, before, &error), LG_OK);
    assert_string_equal(before, after);
    lg_text_free(&text);
    lg_probe_items_free(again);
    lg_probe_items_free(items);
    lg_probe_items_free(NULL);
}

static void golden(void **state) {
    (void)state;
    const char *shared = getenv("LG_SHARED");
    char path[512];
    snprintf(path, sizeof path, "%s/golden/probes/items.jsonl", shared ? shared : "../shared");
    if (!lg_exists(path)) {
        print_message("skipped: %s is not there (LG_SHARED says where the shared data are)\n", path);
        skip();
    }
    lg_error error = {0};
    lg_probe_items *items;
    if (lg_probe_items_read(path, &items, &error)) fail_msg("%s", error.message);
    assert_int_equal(lg_probe_n_items(items), 180);
    const lg_probe_item *first = lg_probe_item_at(items, 0), *last = lg_probe_item_at(items, 179);
    assert_string_equal(first->id, "0");
    assert_string_equal(first->cell, "he-first/first");
    assert_memory_equal(first->choices[1].text, " she", 5);
    assert_string_equal(last->id, "179");
    assert_int_equal(last->distance, 512);
    assert_int_equal(last->n_choices, 5);
    lg_probe_items_free(items);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field), cmocka_unit_test(defaults), cmocka_unit_test(refusals),
        cmocka_unit_test(adding),      cmocka_unit_test(golden),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
