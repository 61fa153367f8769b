/* Losses, entropies, ranks and hidden states against independent implementations (tests/golden/models). */
#include <dirent.h>
#include <math.h>

#include "../model_helper.h"
#include "base/json.h"

static const char local[] = "tests/golden/models";

/* ---- one folder's cases ---- */

typedef struct cases {
    lg_safetensors *file;
    const char *folder;
} cases;

static const lg_tensor *member(const cases *c, const lg_tensor *ids, const char *what) {
    char name[128];
    snprintf(name, sizeof name, "%.*s.%s", (int)(strrchr(ids->name, '.') - ids->name), ids->name, what);
    return lg_safetensors_find(c->file, name);
}

typedef struct difference {
    double worst, sum, squares, library_squares, entropy;
    size_t n, ranks;
} difference;

/* Runs every case of FOLDER through a session; ranks and entropies too. */
static difference run_cases(const char *folder, const char *model_folder, lg_precision precision) {
    lg_error error = {0};
    lg_model *model;
    lg_session *session;
    char path[1024];
    cases c = {.folder = folder};
    difference d = {0};
    snprintf(path, sizeof path, "%s/cases.safetensors", folder);
    assert_ok(lg_model_open(model_folder, &model, NULL, &error));
    assert_ok(lg_safetensors_open(path, &c.file, &error));
    assert_ok(lg_session_create(model, precision, 2, LG_ISA_BEST, 0, 1024, &session, &error));
    for (size_t k = 0; k < lg_safetensors_count(c.file); k++) {
        const lg_tensor *ids = lg_safetensors_at(c.file, k);
        if (!strstr(ids->name, ".input_ids")) continue;
        size_t T = ids->count;
        uint32_t *y = calloc(T, sizeof *y), *rank = calloc(T, sizeof *rank);
        float *nll = calloc(T, sizeof *nll), *entropy = calloc(T, sizeof *entropy);
        for (size_t i = 0; i < T; i++) y[i] = (uint32_t)((const int64_t *)ids->data)[i];
        lg_row row = {.y = y, .n = T, .first = 1, .nll = nll, .entropy = entropy, .rank = rank};
        assert_ok(lg_forward(session, &row, 1, LG_COLUMN_ENTROPY | LG_COLUMN_RANK, NULL, &error));
        const double *right = member(&c, ids, "nll")->data, *spread = member(&c, ids, "entropy")->data;
        const double *gap = member(&c, ids, "rank_gap")->data;
        const int64_t *right_rank = member(&c, ids, "rank")->data;
        const lg_tensor *library = member(&c, ids, "nll_bf16");
        for (size_t i = 1; i < T; i++) {
            double e = fabs(nll[i - 1] - right[i]);
            d.n++;
            d.sum += e;
            d.squares += e * e;
            d.worst = fmax(d.worst, e);
            d.entropy = fmax(d.entropy, fabs(entropy[i - 1] - spread[i]));
            if (gap[i] > 1e-3 && rank[i - 1] != right_rank[i]) d.ranks++;
            if (library) d.library_squares += pow(((const float *)library->data)[i] - right[i], 2);
        }
        free(y), free(rank), free(nll), free(entropy);
    }
    assert_true(d.n > 500);
    lg_session_free(session);
    lg_safetensors_close(c.file);
    lg_model_close(model);
    return d;
}

static void check_f32(const char *folder, const char *model_folder) {
    difference d = run_cases(folder, model_folder, LG_PRECISION_F32);
    print_message("# %s f32: worst %.1e, mean %.1e nats; entropy %.1e\n", folder, d.worst,
                  d.sum / (double)d.n, d.entropy);
    assert_true(d.worst <= 1e-4);
    assert_true(d.sum / (double)d.n <= 3e-6);
    assert_true(d.entropy <= 1e-3);
    assert_int_equal(d.ranks, 0);
}

static void check_bf16(const char *folder) {
    difference d = run_cases(folder, folder, LG_PRECISION_BF16);
    if (d.library_squares == 0) return; /* no BF16 model */
    double ratio = sqrt(d.squares / d.library_squares);
    print_message("# %s bf16: rms %.4f nats, %.2f of the library's\n", folder, sqrt(d.squares / (double)d.n),
                  ratio);
    assert_true(ratio <= 0.75);
}

static void each_folder(const char *root, void (*check)(const char *folder)) {
    struct dirent **entries;
    int n = scandir(root, &entries, NULL, alphasort);
    size_t models = 0;
    assert_true(n > 0);
    for (int i = 0; i < n; i++) {
        char path[1024], config[1100];
        snprintf(path, sizeof path, "%s/%s", root, entries[i]->d_name);
        snprintf(config, sizeof config, "%s/cases.safetensors", path);
        if (entries[i]->d_name[0] != '.' && lg_exists(config)) {
            check(path);
            models++;
        }
        free(entries[i]);
    }
    free(entries);
    assert_true(models >= 6);
}

static void check_own(const char *folder) {
    check_f32(folder, folder);
}

static void test_f32(void **state) {
    (void)state;
    each_folder(local, check_own);
}

static void test_f32_all(void **state) {
    (void)state;
    each_folder(shared_or_skip("golden/models"), check_own);
}

static void test_bf16(void **state) {
    (void)state;
    each_folder(local, check_bf16);
}

static void test_bf16_all(void **state) {
    (void)state;
    each_folder(shared_or_skip("golden/models"), check_bf16);
}

/* The three ways to write YaRN down mean the same. */
static void test_config_forms(void **state) {
    (void)state;
    static const char *const forms[] = {"config.nested.json", "config.flat.json"};
    for (size_t i = 0; i < 2; i++) {
        char command[2048];
        const char *folder = temporary_folder();
        snprintf(command, sizeof command,
                 "cp %s/olmo3-yarn/model.safetensors %s && cp %s/olmo3-yarn/%s %s/config.json", local, folder,
                 local, forms[i], folder);
        assert_int_equal(system(command), 0);
        check_f32("tests/golden/models/olmo3-yarn", folder);
        remove_folder(folder);
    }
}

/* The residual stream after each layer, so that an error says where it begins. */
static void check_hidden(const char *folder) {
    lg_error error = {0};
    lg_model *model;
    lg_session *session;
    lg_safetensors *file;
    char path[1024];
    snprintf(path, sizeof path, "%s/cases.safetensors", folder);
    assert_ok(lg_model_open(folder, &model, NULL, &error));
    assert_ok(lg_safetensors_open(path, &file, &error));
    assert_ok(lg_session_create(model, LG_PRECISION_F32, 2, LG_ISA_BEST, 0, 128, &session, &error));
    const lg_model_info *info = lg_model_get_info(model);
    const lg_tensor *ids = lg_safetensors_find(file, "len65.input_ids");
    uint32_t y[66] = {0}; /* one more element, so that all 65 are inputs */
    assert_int_equal(ids->count, 65);
    for (size_t i = 0; i < 65; i++) y[i] = (uint32_t)((const int64_t *)ids->data)[i];
    lg_row row = {.y = y, .n = 66, .first = 1};
    float *hidden = calloc(65 * info->d_model, sizeof *hidden);
    for (size_t layer = 0; layer <= info->n_layers; layer++) {
        char name[64];
        if (layer < info->n_layers) snprintf(name, sizeof name, "len65.hidden.%zu", layer);
        else snprintf(name, sizeof name, "len65.hidden.final");
        const lg_tensor *right = lg_safetensors_find(file, name);
        assert_non_null(right);
        assert_int_equal(right->count, 65 * info->d_model);
        assert_ok(lg_forward_hidden(session, &row, layer, hidden, &error));
        double error_squares = 0, squares = 0;
        for (size_t i = 0; i < right->count; i++) {
            double value = ((const float *)right->data)[i];
            error_squares += pow(hidden[i] - value, 2);
            squares += value * value;
        }
        if (!(error_squares <= 1e-10 * squares))
            fail_msg("%s %s: %g of %g", folder, name, error_squares, squares);
    }
    free(hidden);
    lg_session_free(session);
    lg_safetensors_close(file);
    lg_model_close(model);
}

static void test_hidden(void **state) {
    (void)state;
    each_folder(local, check_hidden);
}

/* The trained triplet: losses by Transformers in f32. */
static void test_trained(void **state) {
    (void)state;
    lg_error error = {0};
    char root[1024];
    snprintf(root, sizeof root, "%s", shared_or_skip("models"));
    lg_model *model = NULL;
    lg_session *session = NULL;
    char open[256] = "", path[1400];
    snprintf(path, sizeof path, "%s/reference.jsonl", root);
    FILE *lines = fopen(path, "r");
    assert_non_null(lines);
    char *line = NULL;
    size_t capacity = 0, n = 0;
    double worst = 0;
    for (ssize_t length; (length = getline(&line, &capacity, lines)) > 0;) {
        lg_arena arena = {0};
        lg_json_value *v;
        assert_ok(lg_json_parse(&arena, line, (size_t)length, path, &v, &error));
        const char *name = lg_json_get(v, "model")->string;
        if (strcmp(name, open) != 0) {
            lg_session_free(session);
            lg_model_close(model);
            snprintf(open, sizeof open, "%s", name);
            snprintf(path, sizeof path, "%s/%s", root, name);
            assert_ok(lg_model_open(path, &model, NULL, &error));
            assert_ok(lg_session_create(model, LG_PRECISION_F32, 2, LG_ISA_BEST, 0, 8192, &session, &error));
        }
        const lg_json_value *ids = lg_json_get(v, "input_ids"), *right = lg_json_get(v, "nll")->first;
        uint32_t *y = calloc(ids->length + 1, sizeof *y);
        float *nll = calloc(ids->length + 1, sizeof *nll);
        size_t i = 0;
        y[i++] = (uint32_t)lg_json_get(v, "prefix")->integer;
        for (const lg_json_value *id = ids->first; id; id = id->next) y[i++] = (uint32_t)id->integer;
        lg_row row = {.y = y, .n = i, .first = 1, .nll = nll};
        assert_ok(lg_forward(session, &row, 1, 0, NULL, &error));
        for (i = 0; right; right = right->next, i++, n++) worst = fmax(worst, fabs(nll[i] - right->number));
        assert_int_equal(i, row.n - 1);
        free(y), free(nll);
        lg_arena_free(&arena);
    }
    print_message("# trained models: worst %.1e nats of %zu tokens\n", worst, n);
    assert_true(n > 10000);
    assert_true(worst <= 2e-4);
    free(line);
    fclose(lines);
    lg_session_free(session);
    lg_model_close(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_f32),     cmocka_unit_test(test_bf16),    cmocka_unit_test(test_config_forms),
        cmocka_unit_test(test_hidden),  cmocka_unit_test(test_f32_all), cmocka_unit_test(test_bf16_all),
        cmocka_unit_test(test_trained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
