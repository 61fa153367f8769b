/* What a forward pass does at its edges: rows too short or too long, wrong ids, weights that are no numbers,
   cancelling; and the columns beside the loss, from their definitions. */
#include <math.h>

#include "../model_helper.h"

enum { D = 16, VOCABULARY = 2500 };

/* A llama of one layer whose vocabulary takes three blocks of the head. */
static const char config[] =
    "{\"model_type\":\"llama\",\"hidden_size\":16,\"intermediate_size\":24,\"num_hidden_layers\":1,"
    "\"num_attention_heads\":2,\"vocab_size\":2500}";
enum { N_TENSORS = 12, EMBEDDING = 0, HEAD = 2, DOWN = 9 };
static const test_tensor tensors[N_TENSORS] = {
    {"model.embed_tokens.weight", NULL, {VOCABULARY, D}, 0},
    {"model.norm.weight", NULL, {D}, 1},
    {"lm_head.weight", "BF16", {VOCABULARY, D}, 0},
    {"model.layers.0.self_attn.q_proj.weight", NULL, {D, D}, 0},
    {"model.layers.0.self_attn.k_proj.weight", NULL, {D, D}, 0},
    {"model.layers.0.self_attn.v_proj.weight", NULL, {D, D}, 0},
    {"model.layers.0.self_attn.o_proj.weight", NULL, {D, D}, 0},
    {"model.layers.0.mlp.gate_proj.weight", NULL, {24, D}, 0},
    {"model.layers.0.mlp.up_proj.weight", NULL, {24, D}, 0},
    {"model.layers.0.mlp.down_proj.weight", NULL, {D, 24}, 0},
    {"model.layers.0.input_layernorm.weight", NULL, {D}, 1},
    {"model.layers.0.post_attention_layernorm.weight", NULL, {D}, 1},
};

typedef struct scene {
    char folder[512];
    lg_model *model;
    lg_session *session;
} scene;

/* The small llama with one tensor filled with VALUE (SIZE_MAX: none), and a session for rows of up to 200
 * inputs. */
static scene open_scene(size_t tensor, double value) {
    lg_error error = {0};
    scene s;
    test_tensor list[N_TENSORS];
    memcpy(list, tensors, sizeof list);
    if (tensor < N_TENSORS) list[tensor].value = value;
    snprintf(s.folder, sizeof s.folder, "%s", temporary_folder());
    write_text(s.folder, "config.json", config);
    write_tensors(s.folder, "model.safetensors", list, N_TENSORS);
    assert_ok(lg_model_open(s.folder, &s.model, NULL, &error));
    assert_ok(lg_session_create(s.model, LG_PRECISION_F32, 2, LG_ISA_BEST, 400, 200, &s.session, &error));
    return s;
}

static void close_scene(scene *s) {
    lg_session_free(s->session);
    lg_model_close(s->model);
    remove_folder(s->folder);
}

static void fill(uint32_t *y, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = (uint32_t)(i * 7919 + 13) % VOCABULARY;
}

static void test_columns(void **state) {
    (void)state;
    enum { N = 150 };
    lg_error error = {0};
    scene s = open_scene(SIZE_MAX, 0);
    uint32_t y[N], rank[N - 1], top1[N - 1];
    float nll[N - 1], entropy[N - 1], hidden[(N - 1) * D];
    fill(y, N);
    lg_row row = {.y = y, .n = N, .first = 1, .nll = nll, .entropy = entropy, .rank = rank, .top1 = top1};
    assert_ok(
        lg_forward(s.session, &row, 1, LG_COLUMN_ENTROPY | LG_COLUMN_RANK | LG_COLUMN_TOP1, NULL, &error));
    assert_ok(lg_forward_hidden(s.session, &row, 1, hidden, &error));
    lg_safetensors *file;
    char path[600];
    snprintf(path, sizeof path, "%s/model.safetensors", s.folder);
    assert_ok(lg_safetensors_open(path, &file, &error));
    const uint16_t *head = lg_safetensors_find(file, "lm_head.weight")->data;
    static double logits[VOCABULARY];
    for (size_t t = 0; t + 1 < N; t++) {
        double max = -INFINITY, sum = 0, mean = 0, next = -INFINITY;
        size_t best = 0, above = 0;
        for (size_t v = 0; v < VOCABULARY; v++) {
            logits[v] = 0;
            for (size_t i = 0; i < D; i++) {
                uint32_t bits = (uint32_t)head[v * D + i] << 16;
                float w;
                memcpy(&w, &bits, sizeof w);
                logits[v] += (double)w * hidden[t * D + i];
            }
            if (logits[v] > max) next = max, max = logits[v], best = v;
            else if (logits[v] > next) next = logits[v];
        }
        double nearest = INFINITY, target = logits[y[t + 1]];
        for (size_t v = 0; v < VOCABULARY; v++) {
            sum += exp(logits[v] - max);
            mean += exp(logits[v] - max) * logits[v];
            above += logits[v] > target;
            if (v != y[t + 1]) nearest = fmin(nearest, fabs(logits[v] - target));
        }
        assert_true(fabs(nll[t] - (log(sum) + max - target)) < 1e-5);
        assert_true(fabs(entropy[t] - (log(sum) + max - mean / sum)) < 1e-5);
        if (nearest > 1e-5) assert_int_equal(rank[t], above);
        if (max - next > 1e-5) assert_int_equal(top1[t], best);
    }
    lg_safetensors_close(file);
    close_scene(&s);
}

/* All logits equal: nobody is larger, the lowest id wins, the loss is that of a fair die. */
static void test_ties(void **state) {
    (void)state;
    lg_error error = {0};
    scene s = open_scene(HEAD, 0.5);
    uint32_t y[] = {1, 2499, 0, 1024}, rank[3], top1[3];
    float nll[3], entropy[3];
    lg_row row = {.y = y, .n = 4, .first = 1, .nll = nll, .entropy = entropy, .rank = rank, .top1 = top1};
    assert_ok(
        lg_forward(s.session, &row, 1, LG_COLUMN_ENTROPY | LG_COLUMN_RANK | LG_COLUMN_TOP1, NULL, &error));
    for (size_t i = 0; i < 3; i++) {
        assert_true(fabs(nll[i] - log(VOCABULARY)) < 1e-6 && fabs(entropy[i] - log(VOCABULARY)) < 1e-6);
        assert_int_equal(rank[i], 0);
        assert_int_equal(top1[i], 0);
    }
    close_scene(&s);
}

static void test_short_rows(void **state) {
    (void)state;
    lg_error error = {0};
    scene s = open_scene(SIZE_MAX, 0);
    uint32_t y[] = {5, 6, 7};
    float nll[] = {-1, -1, -1}, one = -1;
    lg_row rows[] = {{.y = y, .n = 0, .first = 1, .nll = nll},
                     {.y = y, .n = 1, .first = 1, .nll = nll},
                     {.y = y, .n = 3, .first = 3, .nll = nll}, /* inputs, but nothing scored */
                     {.y = y, .n = 3, .first = 2, .nll = &one}};
    assert_ok(lg_forward(s.session, rows, 3, 0, NULL, &error));
    assert_ok(lg_forward(s.session, rows, 0, 0, NULL, &error));
    assert_true(nll[0] == -1 && nll[1] == -1);
    assert_ok(lg_forward(s.session, rows, 4, 0, NULL, &error));
    assert_true(nll[0] == -1 && one > 0);
    close_scene(&s);
}

static void refused(lg_session *session, const lg_row *rows, size_t n, lg_status status, const char *said) {
    lg_error error = {0};
    assert_int_equal(lg_forward(session, rows, n, 0, NULL, &error), status);
    assert_int_equal(error.status, status);
    if (!strstr(error.message, said)) fail_msg("\"%s\" lacks \"%s\"", error.message, said);
}

static void test_refused(void **state) {
    (void)state;
    static uint32_t y[500];
    static float nll[500];
    scene s = open_scene(SIZE_MAX, 0);
    fill(y, 500);
    assert_int_equal(lg_session_max_tokens(s.session), 400);
    assert_int_equal(lg_session_precision(s.session), LG_PRECISION_F32);
    lg_row row = {.y = y, .n = 202, .first = 1, .nll = nll};
    refused(s.session, &row, 1, LG_USAGE, "a row of more than 200");
    lg_row rows[] = {{.y = y, .n = 201, .first = 1, .nll = nll},
                     {.y = y, .n = 201, .first = 1, .nll = nll + 200},
                     {.y = y, .n = 2, .first = 1, .nll = nll + 400}};
    refused(s.session, rows, 3, LG_USAGE, "more than 400 tokens");
    row = (lg_row){.y = y, .n = 10, .first = 0, .nll = nll};
    refused(s.session, &row, 1, LG_USAGE, "from element 0");
    row.first = 11;
    refused(s.session, &row, 1, LG_USAGE, "from element 11");
    row.first = 1;
    y[9] = VOCABULARY; /* the last one is no input, but a target */
    refused(s.session, &row, 1, LG_BAD_INPUT, "token id 2500 is outside the vocabulary");
    lg_error error = {0};
    assert_int_equal(lg_forward_hidden(s.session, &rows[0], 2, nll, &error), LG_USAGE);
    close_scene(&s);
}

static void test_not_finite(void **state) {
    (void)state;
    uint32_t y[] = {1, 2, 3};
    float nll[2];
    lg_row row = {.y = y, .n = 3, .first = 1, .nll = nll};
    static const double values[] = {NAN, INFINITY};
    for (size_t i = 0; i < 2; i++) {
        scene s = open_scene(DOWN, values[i]);
        refused(s.session, &row, 1, LG_BAD_INPUT, "no finite loss");
        close_scene(&s);
    }
}

static int calls;

static bool stop(void *context) {
    return ++calls > *(int *)context;
}

static void test_cancelled(void **state) {
    (void)state;
    scene s = open_scene(SIZE_MAX, 0);
    uint32_t y[] = {1, 2, 3};
    float nll[2];
    lg_row row = {.y = y, .n = 3, .first = 1, .nll = nll};
    for (int after = 0; after < 3; after++) { /* before the layer, before the head's blocks */
        lg_error error = {0};
        lg_monitor monitor = {.context = &after, .cancelled = stop};
        calls = 0;
        assert_int_equal(lg_forward(s.session, &row, 1, 0, &monitor, &error), LG_CANCELLED);
        assert_int_equal(error.status, LG_CANCELLED);
    }
    lg_error error = {0};
    assert_ok(lg_forward(s.session, &row, 1, 0, NULL, &error)); /* and goes on working */
    close_scene(&s);
}

/* By hand, for one layer of each kind. */
static void test_flops(void **state) {
    (void)state;
    lg_error error = {0};
    scene s = open_scene(SIZE_MAX, 0);
    double weights = 4 * D * D + 3 * D * 24, pairs = 10 * 11 / 2.0;
    assert_true(lg_model_flops(s.model, 10, 4) == 2 * (10 * weights + pairs * 2 * D + 4.0 * D * VOCABULARY));
    close_scene(&s);

    lg_model *model;
    assert_ok(
        lg_model_open("tests/golden/models/rnn-fla-noneg", &model, NULL, &error)); /* 4 heads of 10 and 20 */
    weights = 3 * (2 * 40 * 40 + 3 * 40 * 80 + 2 * 40 * 4 + 3 * 40 * 96);
    double rule = 3 * 4 * 100 * (65.0 * (10 + 20) + 3 * 10 * 20);
    assert_true(lg_model_flops(model, 100, 0) == 2 * (100 * weights + rule));
    lg_model_close(model);

    assert_ok(
        lg_model_open("tests/golden/models/olmo3-yarn", &model, NULL, &error)); /* 6 windows of 32, 2 full */
    weights = 8 * (4 * 64 * 64 + 3 * 64 * 128);
    pairs = 6 * (32 * 33 / 2.0 + 68 * 32) + 2 * (100 * 101 / 2.0);
    assert_true(lg_model_flops(model, 100, 0) == 2 * (100 * weights + pairs * 2 * 64));
    lg_model_close(model);
}

static void test_precision(void **state) {
    (void)state;
    lg_error error = {0};
    lg_model *model;
    assert_ok(lg_model_open("tests/golden/models/olmo2-gqa-bf16", &model, NULL, &error));
    assert_int_equal(lg_model_resolve_precision(model, LG_PRECISION_AUTO),
                     lg_cpu_has_bf16() ? LG_PRECISION_BF16 : LG_PRECISION_F32);
    assert_int_equal(lg_model_resolve_precision(model, LG_PRECISION_F32), LG_PRECISION_F32);
    lg_model_close(model);
    assert_ok(lg_model_open("tests/golden/models/hybrid-rope", &model, NULL, &error));
    assert_int_equal(lg_model_resolve_precision(model, LG_PRECISION_AUTO), LG_PRECISION_F32);
    assert_int_equal(lg_model_resolve_precision(model, LG_PRECISION_BF16), LG_PRECISION_BF16);
    lg_model_close(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns), cmocka_unit_test(test_ties),       cmocka_unit_test(test_short_rows),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_not_finite), cmocka_unit_test(test_cancelled),
        cmocka_unit_test(test_flops),   cmocka_unit_test(test_precision),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
