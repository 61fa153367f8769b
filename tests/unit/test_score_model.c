/* Whole score files under real checkpoints: the same bits for any threads, batch, order and neighbours, and a
   later row of a document equals that row scored as a document of its own. */
#include "score_fake.h"

#include <math.h>

#include "lossgap/score.h"

static const char *const models[] = {
    "models/transformer",
    "models/hybrid",
    "SHARED/models/rnn/step360",
    "tests/golden/models/olmo3-yarn",
    "tests/golden/models/hybrid-rope",
    "tests/golden/models/rnn-fla-noneg",
    "tests/golden/models/llama-tied",
};

#ifdef __SANITIZE_ADDRESS__
enum {
    FIRST_MODEL = 3
}; /* the trained ones take minutes under sanitizers; the tiny ones run the same code */
#else
enum { FIRST_MODEL = 0 };
#endif

/* The folder of model I, or NULL where there is none: only ../shared may be missing. */
static const char *model_path(size_t i) {
    if ((int)i < FIRST_MODEL) return NULL;
    static char path[512];
    const char *shared = getenv("LG_SHARED");
    bool outside = strncmp(models[i], "SHARED", 6) == 0;
    if (!outside) return models[i];
    snprintf(path, sizeof path, "%s%s", shared ? shared : "../shared", models[i] + 6);
    return lg_exists(path) ? path : NULL;
}

static lg_model *open_model(size_t i) {
    lg_model *model;
    lg_error error = {0};
    const char *path = model_path(i);
    if (!path) return NULL;
    if (lg_model_open(path, &model, NULL, &error)) fail_msg("%s", error.message);
    return model;
}

#define OPEN_OR_SKIP(model, i)                                                                               \
    lg_model *model = open_model(i);                                                                         \
    if (!model) {                                                                                            \
        print_message("skip: %s %s\n", models[i], FIRST_MODEL ? "is too slow here" : "is not there");        \
        skip();                                                                                              \
    }

static const size_t lengths[] = {70, 1, 0, 200, 33, 129, 5, 64, 65, 2};
static const uint64_t seeds[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
enum { N_DOCS = sizeof lengths / sizeof *lengths };

/* Documents of ids that MODEL has. */
static corpus model_corpus(size_t n, const size_t *length, const uint64_t *seed, const lg_model *model) {
    corpus c = make_corpus(n, length, seed);
    size_t vocab = lg_model_get_info(model)->vocab_size;
    c.data.max_token_id = 0;
    for (size_t i = 0; i < c.data.n_tokens; i++) {
        c.ids[i] = (uint32_t)(c.ids[i] % vocab);
        if (c.ids[i] > c.data.max_token_id) c.data.max_token_id = c.ids[i];
    }
    return c;
}

static void score_ok(const lg_model *model, const corpus *c, const lg_score_options *o, const char *out) {
    lg_error error = {0};
    if (lg_score_run(model, &c->data, o, out, NULL, &error)) fail_msg("%s", error.message);
}

static lg_score_options options_of(lg_precision precision) {
    return (lg_score_options){.precision = precision,
                              .context = 64,
                              .stride = 16,
                              .prefix = 0,
                              .columns = 7,
                              .threads = 1,
                              .model_name = "m",
                              .command = "lossgap score"};
}

static void compare_documents(const lg_scores *a, size_t at_a, const lg_scores *b, size_t at_b, size_t n) {
    assert_memory_equal(a->nll + at_a, b->nll + at_b, n * sizeof(float));
    assert_memory_equal(a->entropy + at_a, b->entropy + at_b, n * sizeof(float));
    assert_memory_equal(a->rank + at_a, b->rank + at_b, n * sizeof(uint32_t));
    assert_memory_equal(a->top1 + at_a, b->top1 + at_b, n * sizeof(uint32_t));
}

static void same_files(size_t i, lg_precision precision) {
    OPEN_OR_SKIP(model, i);
    corpus c = model_corpus(N_DOCS, lengths, seeds, model);
    lg_score_options o = options_of(precision);
    score_ok(model, &c, &o, in_folder("one"));
    static const size_t batches[] = {100, 400, 2000};
    for (size_t b = 0; b < 3; b++) {
        unlink(in_folder("other"));
        o.threads = 3 - (unsigned)b; /* 3, 2, 1 */
        o.batch = batches[b];
        score_ok(model, &c, &o, in_folder("other"));
        assert_same_file(in_folder("one"), in_folder("other"));
    }
    /* shuffled, and some documents alone */
    o = options_of(precision);
    lg_scores all, some;
    assert_int_equal(lg_scores_open(in_folder("one"), &c.data, &all, NULL), LG_OK);
    size_t order[N_DOCS], length[N_DOCS];
    uint64_t seed[N_DOCS];
    for (size_t d = 0; d < N_DOCS; d++) {
        order[d] = (d * 7 + 3) % N_DOCS;
        length[d] = lengths[order[d]];
        seed[d] = seeds[order[d]];
    }
    static const struct { size_t from, n; } parts[] = {{0, N_DOCS}, {0, 1}, {4, 1}, {5, 3}};
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
        corpus part = model_corpus(parts[p].n, length + parts[p].from, seed + parts[p].from, model);
        unlink(in_folder("part"));
        score_ok(model, &part, &o, in_folder("part"));
        assert_int_equal(lg_scores_open(in_folder("part"), &part.data, &some, NULL), LG_OK);
        for (size_t d = 0; d < parts[p].n; d++)
            compare_documents(&some, lg_begin_of(part.ends, d), &all,
                              lg_begin_of(c.ends, order[parts[p].from + d]), length[parts[p].from + d]);
        lg_scores_close(&some);
        free_corpus(&part);
    }
    lg_scores_close(&all);
    free_corpus(&c);
    lg_model_close(model);
}

/* Each row of `--context 64 --stride 16` against the same elements as a document without prefix. */
static void rows_as_documents(size_t i, lg_precision precision) {
    OPEN_OR_SKIP(model, i);
    enum { L = 64, S = 16, MOST_ROWS = 100, MOST = MOST_ROWS * (L + 1) };
    corpus c = model_corpus(N_DOCS, lengths, seeds, model);
    lg_score_options o = options_of(precision);
    score_ok(model, &c, &o, in_folder("rows"));
    lg_scores all, alone;
    assert_int_equal(lg_scores_open(in_folder("rows"), &c.data, &all, NULL), LG_OK);
    /* the rows, as documents; where each one's elements are in it, and in c */
    static uint32_t elements[MOST];
    uint64_t end[MOST_ROWS], name_end[MOST_ROWS] = {0};
    struct {
        size_t token, element, n;
    } part[MOST_ROWS];
    size_t n_rows = 0, n_elements = 0;
    for (size_t d = 0; d < N_DOCS; d++) {
        uint32_t y[256] = {0}; /* the prefix, and the document */
        size_t begin = lg_begin_of(c.ends, d), n = lengths[d] + 1;
        memcpy(y + 1, c.ids + begin, lengths[d] * sizeof *y);
        for (size_t start = 0, scored = 1; scored < n; start += S) {
            size_t stop = start + L + 1 < n ? start + L + 1 : n;
            memcpy(elements + n_elements, y + start, (stop - start) * sizeof *y);
            part[n_rows].token = begin + scored - 1;
            part[n_rows].element = n_elements + scored - start;
            part[n_rows].n = stop - scored;
            for (size_t t = 0; t < stop - scored; t++)
                assert_int_equal(all.context[part[n_rows].token + t], scored - start + t);
            end[n_rows++] = n_elements += stop - start;
            scored = stop;
        }
    }
    lg_dataset rows = {.n_docs = n_rows,
                       .n_tokens = n_elements,
                       .doc_token_end = end,
                       .doc_name_end = name_end,
                       .doc_name = "",
                       .token_id = elements,
                       .max_token_id = c.data.max_token_id};
    lg_error error = {0};
    o.prefix = LG_PREFIX_NONE;
    if (lg_score_run(model, &rows, &o, in_folder("alone"), NULL, &error)) fail_msg("%s", error.message);
    assert_int_equal(lg_scores_open(in_folder("alone"), &rows, &alone, NULL), LG_OK);
    size_t compared = 0;
    for (size_t r = 0; r < n_rows; r++) {
        compare_documents(&all, part[r].token, &alone, part[r].element, part[r].n);
        compared += part[r].n;
    }
    assert_int_equal(compared, c.data.n_tokens);
    lg_scores_close(&alone);
    lg_scores_close(&all);
    unlink(in_folder("alone"));
    unlink(in_folder("rows"));
    unlink(in_folder("one"));
    free_corpus(&c);
    lg_model_close(model);
}

#define IN_F32(i)                                                                                            \
    static void same_files_f32_##i(void **state) {                                                           \
        (void)state, same_files(i, LG_PRECISION_F32);                                                        \
    }                                                                                                        \
    static void rows_f32_##i(void **state) {                                                                 \
        (void)state, rows_as_documents(i, LG_PRECISION_F32);                                                 \
    }
#define IN_BF16(i)                                                                                           \
    static void same_files_bf16_##i(void **state) {                                                          \
        (void)state, same_files(i, LG_PRECISION_BF16);                                                       \
    }                                                                                                        \
    static void rows_bf16_##i(void **state) {                                                                \
        (void)state, rows_as_documents(i, LG_PRECISION_BF16);                                                \
    }
IN_F32(0)
IN_F32(1)
IN_F32(2)
IN_F32(3)
IN_F32(4)
IN_F32(5)
IN_F32(6)
IN_BF16(0)
IN_BF16(1)
IN_BF16(2)
IN_BF16(4)
#define TESTS_F32(i)  cmocka_unit_test(same_files_f32_##i), cmocka_unit_test(rows_f32_##i)
#define TESTS_BF16(i) cmocka_unit_test(same_files_bf16_##i), cmocka_unit_test(rows_bf16_##i)

/* Paper windows, one stream: each row of it is that row as a document without prefix. */
static void paper_rows_as_documents(void **state) {
    (void)state;
    OPEN_OR_SKIP(model, 4);
    enum { L = 50, SEPARATOR = 1 };
    corpus c = model_corpus(N_DOCS, lengths, seeds, model);
    lg_score_options o = {.windows = LG_WINDOWS_PAPER, .context = L, .prefix = SEPARATOR, .threads = 2};
    score_ok(model, &c, &o, in_folder("paper"));
    lg_scores all, alone;
    assert_int_equal(lg_scores_open(in_folder("paper"), &c.data, &all, NULL), LG_OK);
    uint32_t stream[1024];
    size_t n = 0, at[1024];
    for (size_t d = 0; d < N_DOCS; d++) {
        for (size_t t = lg_begin_of(c.ends, d); t < c.ends[d]; t++) {
            at[t] = n;
            stream[n++] = c.ids[t];
        }
        stream[n++] = SEPARATOR;
    }
    o = (lg_score_options){.context = L, .prefix = LG_PREFIX_NONE, .threads = 1};
    size_t t = 0;
    for (size_t start = 0; start < n; start += L) {
        uint64_t length = start + L < n ? L : n - start, name_end = 0;
        corpus row = {.data = {.n_docs = 1,
                               .n_tokens = length,
                               .doc_token_end = &length,
                               .doc_name_end = &name_end,
                               .doc_name = "",
                               .token_id = stream + start,
                               .max_token_id = c.data.max_token_id}};
        unlink(in_folder("alone"));
        score_ok(model, &row, &o, in_folder("alone"));
        assert_int_equal(lg_scores_open(in_folder("alone"), &row.data, &alone, NULL), LG_OK);
        for (; t < c.data.n_tokens && at[t] < start + length; t++) {
            if (at[t] == start) assert_true(isnan(all.nll[t]));
            else assert_memory_equal(&all.nll[t], &alone.nll[at[t] - start], sizeof(float));
        }
        lg_scores_close(&alone);
    }
    assert_int_equal(t, c.data.n_tokens);
    lg_scores_close(&all);
    free_corpus(&c);
    lg_model_close(model);
}

/* Prefix, context and stride come from the model where they are not given. */
static void defaults_come_from_the_model(void **state) {
    (void)state;
    OPEN_OR_SKIP(model, 0);
    corpus c = model_corpus(N_DOCS, lengths, seeds, model);
    lg_score_options o = {.prefix = LG_PREFIX_AUTO, .model_name = "m"};
    lg_score_plan plan;
    lg_error error = {0};
    double seconds = -1;
    if (lg_score_plan_make(model, &c.data, &o, in_folder("defaults"), &plan, &error))
        fail_msg("%s", error.message);
    assert_int_equal(plan.prefix, 2046); /* eos_token_id; bos_token_id is null */
    assert_int_equal(plan.context, 1024);
    assert_int_equal(plan.stride, 512);
    assert_int_equal(plan.tokens_scored, c.data.n_tokens);
    assert_int_equal(plan.tokens_unscorable, 0);
    assert_true(plan.precision != LG_PRECISION_AUTO && plan.flops_left > 0);
    if (lg_score_estimate(model, &c.data, &o, &plan, &seconds, NULL, &error)) fail_msg("%s", error.message);
    assert_true(seconds > 0);
    assert_false(lg_exists(in_folder("defaults")) || lg_exists(in_folder("defaults.journal")));
    lg_model_close(model);
    free_corpus(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TESTS_F32(0),
        TESTS_F32(1),
        TESTS_F32(2),
        TESTS_F32(3),
        TESTS_F32(4),
        TESTS_F32(5),
        TESTS_F32(6),
        TESTS_BF16(0),
        TESTS_BF16(1),
        TESTS_BF16(2),
        TESTS_BF16(4),
        cmocka_unit_test(paper_rows_as_documents),
        cmocka_unit_test(defaults_come_from_the_model),
    };
    return cmocka_run_group_tests(tests, fake_enter, fake_leave);
}
