/* A branch of a row has the losses of the row that goes on with it alone, and the same bits whatever the
   number of threads, the batch and the neighbours. */
#include <dirent.h>
#include <math.h>

#include "../model_helper.h"
#include "lossgap/score.h"

enum { N_ITEMS = 18, MAX_BRANCHES = 8, LONGEST_BRANCH = 5, LONGEST = 140 };

static uint64_t seed = 88172645463325252u;

static size_t draw(size_t below) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (size_t)(seed % below);
}

typedef struct item {
    uint32_t y[LONGEST + LONGEST_BRANCH], own[MAX_BRANCHES][LONGEST_BRANCH];
    size_t n, first, n_branches, length[MAX_BRANCHES];
    lg_branch branches[MAX_BRANCHES];
} item;

typedef struct losses { /* of one item */
    float row[LONGEST], branch[MAX_BRANCHES][LONGEST_BRANCH];
} losses;

static item items[N_ITEMS];

static void make_items(size_t vocabulary) {
    /* beside the chunk of the delta rule, the convolution's width, windows of 32 and a block of queries */
    static const size_t interesting[] = {1, 2, 3, 4, 31, 32, 33, 63, 64, 65, 95, 97, LONGEST};
    for (size_t i = 0; i < N_ITEMS; i++) {
        item *it = &items[i];
        it->n = i < 13 ? interesting[i] : 1 + draw(LONGEST);
        it->first = draw(2) ? it->n : 1 + draw(it->n);
        it->n_branches = i == 5 ? 0 : 1 + draw(MAX_BRANCHES);
        for (size_t t = 0; t < it->n; t++) it->y[t] = (uint32_t)draw(vocabulary);
        for (size_t b = 0; b < it->n_branches; b++) {
            it->length[b] = 1 + draw(LONGEST_BRANCH);
            for (size_t t = 0; t < it->length[b]; t++)
                /* some share their beginning with the one before, or are it, or are all there is of it */
                it->own[b][t] =
                    b && t < it->length[b - 1] && draw(3) ? it->own[b - 1][t] : (uint32_t)draw(vocabulary);
        }
    }
}

static lg_row row_of(item *it, losses *out) {
    for (size_t b = 0; b < it->n_branches; b++)
        it->branches[b] = (lg_branch){it->own[b], it->length[b], out->branch[b]};
    return (lg_row){.y = it->y,
                    .n = it->n,
                    .first = it->first,
                    .nll = out->row,
                    .branches = it->branches,
                    .n_branches = it->n_branches};
}

static lg_session *session_of(const lg_model *model, lg_precision precision, unsigned threads, size_t batch,
                              size_t longest) {
    lg_error error = {0};
    lg_session *session;
    assert_ok(lg_session_create(model, precision, threads, LG_ISA_BEST, batch, longest, &session, &error));
    return session;
}

static double check_against_rows(const lg_model *model, const char *folder, lg_precision precision,
                                 const losses *all, bool same_bits) {
    lg_error error = {0};
    float nll[LONGEST + LONGEST_BRANCH];
    double worst = 0;
    size_t compared = 0;
    lg_session *session = session_of(model, precision, 1, 0, LONGEST + LONGEST_BRANCH);
    for (size_t i = 0; i < N_ITEMS; i++) {
        item *it = &items[i];
        for (size_t b = 0; b < it->n_branches; b++) {
            memcpy(it->y + it->n, it->own[b], it->length[b] * sizeof *it->y);
            lg_row row = {.y = it->y, .n = it->n + it->length[b], .first = it->first, .nll = nll};
            assert_ok(lg_forward(session, &row, 1, 0, NULL, &error));
            for (size_t t = it->first; t < row.n; t++, compared++) {
                float right = nll[t - it->first],
                      got = t < it->n ? all[i].row[t - it->first] : all[i].branch[b][t - it->n];
                worst = fmax(worst, fabs((double)right - got));
                /* the row itself, and the first token of a branch, which it predicts */
                if (memcmp(&right, &got, sizeof got) && (same_bits || t <= it->n))
                    fail_msg("%s: item %zu, branch %zu, element %zu of %zu: %.9g, in a row of its own %.9g",
                             folder, i, b, t, it->n, got, right);
            }
        }
    }
    lg_session_free(session);
    assert_true(compared > 100);
    return worst;
}

static void check_neighbours(const lg_model *model, lg_precision precision, const losses *alone) {
    lg_error error = {0};
    losses *packed = calloc(N_ITEMS, sizeof *packed);
    for (unsigned round = 0; round < 4; round++) {
        size_t order[N_ITEMS], longest = LONGEST + LONGEST_BRANCH + draw(500);
        lg_session *session =
            session_of(model, precision, 1 + round % 3, round ? longest + draw(1500) : 0, longest);
        for (size_t i = 0; i < N_ITEMS; i++) order[i] = i;
        for (size_t i = N_ITEMS - 1; i > 0; i--) {
            size_t k = draw(i + 1), swap = order[i];
            order[i] = order[k], order[k] = swap;
        }
        memset(packed, 0, N_ITEMS * sizeof *packed);
        lg_row rows[N_ITEMS];
        size_t n = 0, inputs = 0, targets = 0, most = lg_session_max_tokens(session);
        for (size_t i = 0; i < N_ITEMS; i++) {
            lg_row row = row_of(&items[order[i]], &packed[order[i]]);
            if (n && (inputs + lg_row_inputs(&row) > most || targets + lg_row_targets(&row) > most)) {
                assert_ok(lg_forward(session, rows, n, 0, NULL, &error));
                n = inputs = targets = 0;
            }
            rows[n++] = row;
            inputs += lg_row_inputs(&row), targets += lg_row_targets(&row);
        }
        assert_ok(lg_forward(session, rows, n, 0, NULL, &error));
        assert_memory_equal(alone, packed, N_ITEMS * sizeof *packed);
        lg_session_free(session);
    }
    free(packed);
}

static void check_model(const char *folder, lg_precision precision, double tolerance) {
    lg_error error = {0};
    lg_model *model;
    losses *alone = calloc(N_ITEMS, sizeof *alone);
    assert_ok(lg_model_open(folder, &model, NULL, &error));
    const lg_model_info *info = lg_model_get_info(model);
    make_items(info->vocab_size);
    lg_session *session = session_of(model, precision, 1, 0, LONGEST + LONGEST_BRANCH);
    for (size_t i = 0; i < N_ITEMS; i++) {
        lg_row row = row_of(&items[i], &alone[i]);
        assert_ok(lg_forward(session, &row, 1, 0, NULL, &error));
    }
    lg_session_free(session);
    bool only_attention = info->n_attention_layers == info->n_layers;
    double worst = check_against_rows(model, folder, precision, alone, only_attention);
    print_message("# %s %s: %.1e nats from whole rows\n", folder, lg_precision_name(precision), worst);
    assert_true(worst <= tolerance);
    check_neighbours(model, precision, alone);
    lg_model_close(model);
    free(alone);
}

static void each_model(const char *root, lg_precision precision, double tolerance) {
    struct dirent **entries;
    int n = scandir(root, &entries, NULL, alphasort);
    size_t models = 0;
    assert_true(n > 0);
    for (int i = 0; i < n; i++) {
        char path[1024], config[1100];
        snprintf(path, sizeof path, "%s/%s", root, entries[i]->d_name);
        snprintf(config, sizeof config, "%s/config.json", path);
        if (entries[i]->d_name[0] != '.' && lg_exists(config)) {
            check_model(path, precision, tolerance);
            models++;
        }
        free(entries[i]);
    }
    free(entries);
    assert_true(models >= 6);
}

static void test_f32(void **state) {
    (void)state;
    each_model("tests/golden/models", LG_PRECISION_F32, 2e-5);
}

static void test_f32_all(void **state) {
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    print_message("skip: slow under sanitizers, and the same code as with fewer models\n");
    skip();
#endif
    each_model(shared_or_skip("golden/models"), LG_PRECISION_F32, 2e-5);
}

/* A rounding elsewhere in the delta rule's state may turn a product's operand to the next bf16. */
static void test_bf16(void **state) {
    (void)state;
    each_model("tests/golden/models", LG_PRECISION_BF16, 5e-2);
}

/* What makes no sense is refused, and so is what would not fit. */
static void test_refused(void **state) {
    (void)state;
    lg_error error = {0};
    lg_model *model;
    uint32_t y[8] = {1, 2, 3, 4}, beyond[] = {1, UINT32_MAX};
    float nll[16];
    assert_ok(lg_model_open("tests/golden/models/hybrid-rope", &model, NULL, &error));
    lg_session *session = session_of(model, LG_PRECISION_F32, 1, 6, 6);
    lg_branch branches[4] = {{y, 2, nll}, {y, 0, nll}, {beyond, 2, nll}, {y, 4, nll}};
    lg_row row = {.y = y, .n = 4, .first = 4, .nll = nll, .branches = branches, .n_branches = 1};
    assert_ok(lg_forward(session, &row, 1, 0, NULL, &error));
    row.branches = branches + 1; /* empty */
    assert_int_equal(lg_forward(session, &row, 1, 0, NULL, &error), LG_USAGE);
    assert_non_null(strstr(error.message, "branch 0 of row 0"));
    row.branches = branches + 2; /* an id that the model lacks */
    assert_int_equal(lg_forward(session, &row, 1, 0, NULL, &error), LG_BAD_INPUT);
    row.branches = branches + 3; /* 4 + 3 inputs */
    assert_int_equal(lg_forward(session, &row, 1, 0, NULL, &error), LG_USAGE);
    lg_branch many[7]; /* seven targets of a batch of six */
    for (size_t i = 0; i < 7; i++) many[i] = (lg_branch){y, 1, nll + i};
    row.branches = many, row.n_branches = 7;
    assert_int_equal(lg_forward(session, &row, 1, 0, NULL, &error), LG_USAGE);
    row.n_branches = 6;
    assert_ok(lg_forward(session, &row, 1, 0, NULL, &error));
    lg_session_free(session);
    lg_model_close(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_f32),
        cmocka_unit_test(test_f32_all),
        cmocka_unit_test(test_bf16),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
