/* Finding a model: folders, hub ids, revisions, the variables that say where the hub cache is. */
#include "../model_helper.h"

static char root[512];

static void make_folders(const char *below) {
    char command[4096];
    snprintf(command, sizeof command, "mkdir -p '%s/%s'", root, below);
    assert_int_equal(system(command), 0);
}

/* A hub cache in HUB with two snapshots of org/model (main and a step) and one of a model without an
 * organisation. */
static void make_hub(const char *hub) {
    char path[1024], file[2048];
    snprintf(path, sizeof path, "%s/models--org--model-1.5B_x/snapshots/aaaa", hub);
    make_folders(path);
    snprintf(path, sizeof path, "%s/models--org--model-1.5B_x/snapshots/bbbb", hub);
    make_folders(path);
    snprintf(path, sizeof path, "%s/models--org--model-1.5B_x/refs/pr", hub);
    make_folders(path);
    snprintf(path, sizeof path, "%s/models--gpt2/snapshots/cccc", hub);
    make_folders(path);
    snprintf(path, sizeof path, "%s/models--gpt2/refs", hub);
    make_folders(path);
    static const char *const refs[][3] = {{"models--org--model-1.5B_x/refs", "main", "aaaa"},
                                          {"models--org--model-1.5B_x/refs", "step-10", "bbbb\n"},
                                          {"models--org--model-1.5B_x/refs/pr", "1", "bbbb"},
                                          {"models--org--model-1.5B_x/refs", "gone", "dddd"}};
    for (size_t i = 0; i < 4; i++) {
        snprintf(file, sizeof file, "%s/%s/%s", root, hub, refs[i][0]);
        write_text(file, refs[i][1], refs[i][2]);
    }
}

static int set_up(void **state) {
    (void)state;
    snprintf(root, sizeof root, "%s", temporary_folder());
    static const char *const variables[] = {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME",
                                            "XDG_CACHE_HOME"};
    for (size_t i = 0; i < 4; i++) unsetenv(variables[i]);
    setenv("HOME", root, 1);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    remove_folder(root);
    return 0;
}

static void finds(const char *where, const char *below) {
    lg_error error = {0};
    char path[1024], right[1024];
    assert_ok(lg_model_locate(where, path, sizeof path, &error));
    snprintf(right, sizeof right, "%s/%s", root, below);
    assert_string_equal(path, right);
}

static void refuses(const char *where, const char *const *parts) {
    lg_error error = {0};
    char path[1024];
    assert_int_equal(lg_model_locate(where, path, sizeof path, &error), LG_BAD_INPUT);
    for (; *parts; parts++)
        if (!strstr(error.message, *parts)) fail_msg("\"%s\" lacks \"%s\"", error.message, *parts);
}
#define REFUSES(where, ...) refuses(where, (const char *const[]){__VA_ARGS__, NULL})

static void test_revisions(void **state) {
    (void)state;
    make_hub("hub");
    char hub[1024];
    snprintf(hub, sizeof hub, "%s/hub", root);
    setenv("HF_HUB_CACHE", hub, 1);
    finds("org/model-1.5B_x", "hub/models--org--model-1.5B_x/snapshots/aaaa");
    finds("org/model-1.5B_x@main", "hub/models--org--model-1.5B_x/snapshots/aaaa");
    finds("org/model-1.5B_x@step-10", "hub/models--org--model-1.5B_x/snapshots/bbbb");
    finds("org/model-1.5B_x@pr/1", "hub/models--org--model-1.5B_x/snapshots/bbbb");
    finds("org/model-1.5B_x@bbbb", "hub/models--org--model-1.5B_x/snapshots/bbbb");
    finds("gpt2@cccc", "hub/models--gpt2/snapshots/cccc");
    REFUSES("org/model-1.5B_x@step-20", "revision step-20 of org/model-1.5B_x is not in",
            "gone, main, pr, step-10", "aaaa, bbbb");
    REFUSES("org/model-1.5B_x@gone", "revision gone", "aaaa, bbbb");
    REFUSES("gpt2", "revision main of gpt2", "the revisions nothing", "cccc");
    REFUSES("org/other", "no model org/other", hub, "models--org--other",
            "HF_HUB_CACHE, HF_HOME, XDG_CACHE_HOME");
    REFUSES("org/model-1.5B_x@..", "no revision");
    REFUSES("org/model-1.5B_x@../../../etc", "no revision");
    REFUSES("org/model-1.5B_x@", "no revision");
    REFUSES("../org/model", "no hub id");
    REFUSES("a/b/c", "no hub id");
    REFUSES("", "no hub id");
    REFUSES("org/", "no hub id");
    REFUSES("no such folder", "no hub id");
}

static void test_places(void **state) {
    (void)state;
    static const struct {
        const char *variable, *value, *hub;
    } places[] = {{"HOME", "", ".cache/huggingface/hub"},
                  {"XDG_CACHE_HOME", "/xdg", "xdg/huggingface/hub"},
                  {"HF_HOME", "/home", "home/hub"},
                  {"HUGGINGFACE_HUB_CACHE", "/old", "old"},
                  {"HF_HUB_CACHE", "/new", "new"}};
    for (size_t i = 0; i < 5; i++) { /* each goes before those above it */
        char value[1024], found[1024];
        make_hub(places[i].hub);
        snprintf(value, sizeof value, "%s%s", root, places[i].value);
        setenv(places[i].variable, value, 1);
        snprintf(found, sizeof found, "%s/models--org--model-1.5B_x/snapshots/aaaa", places[i].hub);
        finds("org/model-1.5B_x", found);
    }
}

static void test_folders(void **state) {
    (void)state;
    make_folders("org/model");
    char path[1024];
    snprintf(path, sizeof path, "%s/org/model", root);
    finds(path, "org/model");
    write_text(root, "file", "x");
    snprintf(path, sizeof path, "%s/file", root);
    REFUSES(path, "is a file", "config.json");
    snprintf(path, sizeof path, "%s/nothing", root);
    REFUSES(path, "there is no folder");

    lg_error error = {0};
    char small[8];
    assert_int_equal(lg_model_locate(root, small, sizeof small, &error), LG_BAD_INPUT);
    assert_non_null(strstr(error.message, "too long"));
}

/* A model of a hub cache goes by the names of its blobs, so that its files need not be read. */
static void test_blobs(void **state) {
    (void)state;
    static const char blob[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    char command[4096];
    lg_error error = {0};
    lg_model *model;
    char identity[3][33];
    make_hub("hub");
    for (int i = 0; i < 3; i++) {
        snprintf(
            command, sizeof command,
            "cd '%s/hub/models--org--model-1.5B_x' && mkdir -p blobs && rm -f snapshots/aaaa/* blobs/* && "
            "cp \"$OLDPWD/tests/golden/models/llama-tied/model.safetensors\" blobs/%s%c && "
            "cp \"$OLDPWD/tests/golden/models/llama-tied/config.json\" snapshots/aaaa && "
            "ln -s ../../blobs/%s%c snapshots/aaaa/model.safetensors",
            root, blob, i == 1 ? '1' : '2', blob, i == 1 ? '1' : '2');
        assert_int_equal(system(command), 0);
        setenv("HF_HUB_CACHE", (snprintf(command, sizeof command, "%s/hub", root), command), 1);
        assert_ok(lg_model_open("org/model-1.5B_x", &model, NULL, &error));
        snprintf(identity[i], sizeof identity[i], "%s", lg_model_get_info(model)->identity);
        lg_model_close(model);
    }
    assert_string_not_equal(identity[0], identity[1]);
    assert_string_equal(identity[0], identity[2]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_revisions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_places, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_folders, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_blobs, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
