/* A token's results have the same bits whatever the number of threads, the batch, the order and the
 * neighbours. */
#include "../model_helper.h"

enum { N_ROWS = 24, LONGEST = 300 };

static uint64_t seed = 88172645463325252u;

static size_t draw(size_t below) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (size_t)(seed % below);
}

typedef struct results {
    float nll[N_ROWS][LONGEST], entropy[N_ROWS][LONGEST];
    uint32_t rank[N_ROWS][LONGEST], top1[N_ROWS][LONGEST];
} results;

static uint32_t tokens[N_ROWS][LONGEST];
static size_t length[N_ROWS], first[N_ROWS];

static void make_rows(size_t vocabulary) {
    static const size_t interesting[] = {2, 3, 64, 65, 66, 128, 129, 130, LONGEST, 1, 0};
    for (size_t r = 0; r < N_ROWS; r++) {
        length[r] = r < 11 ? interesting[r] : 2 + draw(LONGEST - 1);
        first[r] = length[r] > 1 && draw(2) ? 1 + draw(length[r] - 1) : 1;
        for (size_t i = 0; i < LONGEST; i++) tokens[r][i] = (uint32_t)draw(vocabulary);
    }
}

static lg_row row_of(size_t r, results *out) {
    return (lg_row){.y = tokens[r],
                    .n = length[r],
                    .first = first[r],
                    .nll = out->nll[r],
                    .entropy = out->entropy[r],
                    .rank = out->rank[r],
                    .top1 = out->top1[r]};
}

static lg_session *session_of(const lg_model *model, lg_precision precision, unsigned threads, size_t batch,
                              size_t longest) {
    lg_error error = {0};
    lg_session *session;
    assert_ok(lg_session_create(model, precision, threads, LG_ISA_BEST, batch, longest, &session, &error));
    return session;
}

enum { ALL = LG_COLUMN_ENTROPY | LG_COLUMN_RANK | LG_COLUMN_TOP1 };

static void check_model(const char *folder, lg_precision precision) {
    lg_error error = {0};
    lg_model *model;
    results *alone = calloc(1, sizeof *alone), *packed = calloc(1, sizeof *packed);
    assert_ok(lg_model_open(folder, &model, NULL, &error));
    make_rows(lg_model_get_info(model)->vocab_size);

    lg_session *session = session_of(model, precision, 1, LONGEST, LONGEST);
    for (size_t r = 0; r < N_ROWS; r++) {
        lg_row row = row_of(r, alone);
        assert_ok(lg_forward(session, &row, 1, ALL, NULL, &error));
    }
    lg_session_free(session);

    for (unsigned round = 0; round < 6; round++) {
        size_t order[N_ROWS], batch = round == 0 ? 0 : LONGEST + draw(2000);
        unsigned threads = 1 + round % 3;
        memset(packed, 0, sizeof *packed);
        session = session_of(model, precision, threads, batch, LONGEST + draw(1000));
        for (size_t r = 0; r < N_ROWS; r++) order[r] = r;
        for (size_t r = N_ROWS - 1; r > 0; r--) {
            size_t k = draw(r + 1), swap = order[r];
            order[r] = order[k], order[k] = swap;
        }
        lg_row rows[N_ROWS];
        size_t n = 0, inputs = 0;
        for (size_t i = 0; i <= N_ROWS; i++) {
            size_t T = i < N_ROWS && length[order[i]] ? length[order[i]] - 1 : 0;
            if (i == N_ROWS || inputs + T > lg_session_max_tokens(session)) {
                assert_ok(lg_forward(session, rows, n, ALL, NULL, &error));
                n = inputs = 0;
            }
            if (i == N_ROWS) break;
            rows[n++] = row_of(order[i], packed);
            inputs += T;
        }
        lg_session_free(session);
        if (memcmp(alone, packed, sizeof *alone) != 0)
            for (size_t r = 0; r < N_ROWS; r++)
                for (size_t i = 0; i < LONGEST; i++)
                    if (memcmp(&alone->nll[r][i], &packed->nll[r][i], 4) ||
                        alone->rank[r][i] != packed->rank[r][i])
                        fail_msg("%s round %u (%u threads): row %zu of %zu, loss %zu: %.9g alone, %.9g among "
                                 "others",
                                 folder, round, threads, r, length[r], i, alone->nll[r][i],
                                 packed->nll[r][i]);
        assert_memory_equal(alone, packed, sizeof *alone);
    }

    /* a longer row's beginning is the shorter row */
    session = session_of(model, precision, 2, LONGEST, LONGEST);
    for (size_t r = 11; r < N_ROWS; r++) {
        size_t whole = length[r], part = 2 + draw(whole - 1), from = first[r];
        length[r] = part, first[r] = 1;
        lg_row row = row_of(r, packed);
        assert_ok(lg_forward(session, &row, 1, 0, NULL, &error));
        for (size_t i = from; i < part; i++)
            assert_memory_equal(&packed->nll[r][i - 1], &alone->nll[r][i - from], sizeof(float));
        length[r] = whole, first[r] = from;
    }
    lg_session_free(session);
    lg_model_close(model);
    free(alone), free(packed);
}

static void test_f32(void **state) {
    (void)state;
    check_model("tests/golden/models/hybrid-rope", LG_PRECISION_F32);
    check_model("tests/golden/models/olmo3-yarn", LG_PRECISION_F32);
    check_model("tests/golden/models/llama-tied", LG_PRECISION_F32);
}

static void test_bf16(void **state) {
    (void)state;
    check_model("tests/golden/models/olmo2-gqa-bf16", LG_PRECISION_BF16);
    check_model("tests/golden/models/rnn-fla-noneg", LG_PRECISION_BF16);
    check_model("tests/golden/models/olmo3-yarn", LG_PRECISION_BF16);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_f32), cmocka_unit_test(test_bf16)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
