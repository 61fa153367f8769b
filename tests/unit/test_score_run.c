/* Scheduling, reuse and resume, with a scorer that is a known function of what a token may see. */
#include "score_fake.h"

#include <math.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <fcntl.h>

enum { PREFIX = 600 };

static lg_score_settings settings_of(lg_windows kind, size_t L, size_t s, int64_t prefix, unsigned columns) {
    return (lg_score_settings){.name = "fake",
                               .model = "0123456789abcdef0123456789abcdef",
                               .isa = "c",
                               .precision = LG_PRECISION_F32,
                               .windows = {kind, L, s, prefix},
                               .columns = columns};
}

static void score_ok(lg_scorer *scorer, const corpus *c, const lg_score_settings *s, const char *out) {
    lg_error error = {0};
    lg_status status = lg_score_rows(scorer, &c->data, s, "lossgap score", out, NULL, &error);
    if (status) fail_msg("%s", error.message);
}

static const size_t lengths[] = {5, 0, 40, 1, 17, 17, 100, 2, 33};
static const uint64_t seeds[] = {1, 2, 3, 4, 5, 5, 6, 7, 8}; /* two documents are the same */
enum { N_DOCS = sizeof lengths / sizeof *lengths };

static corpus usual_corpus(void) {
    return make_corpus(N_DOCS, lengths, seeds);
}

/* Every value of the file against the definition of document windows. */
static void check_document_scores(const corpus *c, const lg_scores *scores, size_t L, size_t s,
                                  int64_t prefix) {
    size_t unscorable = 0, expected_unscorable = 0;
    for (size_t d = 0; d < c->data.n_docs; d++) {
        uint32_t y[512];
        size_t n = 0, begin = lg_begin_of(c->ends, d);
        if (prefix >= 0) y[n++] = (uint32_t)prefix;
        for (size_t t = begin; t < c->ends[d]; t++) y[n++] = c->ids[t];
        expected_unscorable += prefix < 0 && n > 0;
        for (size_t e = prefix >= 0; e < n; e++) {
            size_t t = begin + e - (prefix >= 0), k = 0;
            while (e >= (k * s + L + 1)) k++; /* the first row that reaches e */
            size_t start = k * s;
            assert_int_equal(scores->context[t], e - start);
            if (e == 0) {
                assert_true(isnan(scores->nll[t]));
                unscorable++;
                if (scores->rank) assert_int_equal(scores->rank[t], UINT32_MAX);
                if (scores->top1) assert_int_equal(scores->top1[t], UINT32_MAX);
                if (scores->entropy) assert_true(isnan(scores->entropy[t]));
                continue;
            }
            assert_true(scores->nll[t] == fake_nll(y + start, e - start));
            if (scores->entropy) assert_true(scores->entropy[t] == 2 * fake_nll(y + start, e - start));
            if (scores->rank) assert_int_equal(scores->rank[t], e - start);
            if (scores->top1) assert_int_equal(scores->top1[t], y[e] + 1);
        }
    }
    assert_int_equal(unscorable, expected_unscorable);
}

static void values_stand_where_they_belong(void **state) {
    (void)state;
    corpus c = usual_corpus();
    const char *out = in_folder("values");
    for (int turn = 0; turn < 60; turn++) {
        fake_seed = (uint64_t)turn + 100;
        size_t L = 1 + fake_draw(50), s = 1 + fake_draw(L);
        int64_t prefix = fake_draw(2) ? PREFIX : LG_PREFIX_NONE;
        lg_score_settings settings = settings_of(LG_WINDOWS_DOCUMENT, L, s, prefix, (unsigned)fake_draw(8));
        fake f;
        lg_score_plan plan;
        lg_error error = {0};
        assert_int_equal(lg_score_survey(fake_start(&f, 64), &c.data, &settings, out, &plan, &error), LG_OK);
        score_ok(&f.scorer, &c, &settings, out);
        assert_int_equal(f.rows, plan.rows_left);
        assert_int_equal(f.inputs, plan.inputs_left);
        assert_int_equal(plan.tokens_scored + plan.tokens_unscorable, c.data.n_tokens);
        lg_scores scores;
        assert_int_equal(lg_scores_open(out, &c.data, &scores, &error), LG_OK);
        assert_string_equal(scores.model_name, "fake");
        assert_int_equal(scores.prefix, prefix);
        assert_int_equal(scores.window_context, L);
        assert_int_equal(scores.stride, s);
        assert_true(!scores.entropy == !(settings.columns & LG_COLUMN_ENTROPY));
        assert_true(!scores.rank == !(settings.columns & LG_COLUMN_RANK));
        assert_true(!scores.top1 == !(settings.columns & LG_COLUMN_TOP1));
        check_document_scores(&c, &scores, L, s, prefix);
        lg_scores_close(&scores);
        assert_false(lg_exists(in_folder("values.journal")));
        /* nothing is left to do */
        lg_hash before = file_hash(out);
        assert_int_equal(lg_score_survey(fake_start(&f, 64), &c.data, &settings, out, &plan, &error), LG_OK);
        assert_int_equal(plan.rows_left, 0);
        score_ok(&f.scorer, &c, &settings, out);
        assert_int_equal(f.calls, 0);
        assert_true(lg_hash_equal(before, file_hash(out)));
    }
    free_corpus(&c);
}

static void paper_windows_run_through_documents(void **state) {
    (void)state;
    corpus c = usual_corpus();
    const char *out = in_folder("paper");
    enum { L = 23 };
    lg_score_settings settings = settings_of(LG_WINDOWS_PAPER, L, 0, PREFIX, 0);
    fake f;
    score_ok(fake_start(&f, 100), &c, &settings, out);
    uint32_t stream[512];
    size_t n = 0, at[512];
    for (size_t d = 0; d < N_DOCS; d++) {
        for (size_t t = lg_begin_of(c.ends, d); t < c.ends[d]; t++) {
            at[t] = n;
            stream[n++] = c.ids[t];
        }
        stream[n++] = PREFIX;
    }
    lg_scores scores;
    lg_error error = {0};
    assert_int_equal(lg_scores_open(out, &c.data, &scores, &error), LG_OK);
    assert_int_equal(scores.windows, LG_WINDOWS_PAPER);
    for (size_t t = 0; t < c.data.n_tokens; t++) {
        size_t start = at[t] / L * L;
        assert_int_equal(scores.context[t], at[t] - start);
        if (at[t] == start) assert_true(isnan(scores.nll[t]));
        else assert_true(scores.nll[t] == fake_nll(stream + start, at[t] - start));
    }
    lg_scores_close(&scores);
    free_corpus(&c);
}

static void batches_do_not_matter(void **state) {
    (void)state;
    corpus c = usual_corpus();
    lg_score_settings settings = settings_of(LG_WINDOWS_DOCUMENT, 20, 7, PREFIX, 7);
    fake f;
    score_ok(fake_start(&f, 1000000), &c, &settings, in_folder("whole"));
    assert_int_equal(f.calls, 1);
    for (size_t most = 1; most < 200; most += 1 + most / 3) {
        unlink(in_folder("cut"));
        score_ok(fake_start(&f, most), &c, &settings, in_folder("cut"));
        assert_same_file(in_folder("whole"), in_folder("cut"));
    }
    free_corpus(&c);
}

static void equal_rows_are_computed_once(void **state) {
    (void)state;
    const size_t length[] = {10, 10, 30, 10};
    const uint64_t seed[] = {1, 1, 2, 1};
    corpus c = make_corpus(4, length, seed);
    lg_score_settings settings = settings_of(LG_WINDOWS_DOCUMENT, 64, 32, PREFIX, 0);
    fake f;
    score_ok(fake_start(&f, 64), &c, &settings, in_folder("once"));
    assert_int_equal(f.rows, 2);
    lg_scores scores;
    assert_int_equal(lg_scores_open(in_folder("once"), &c.data, &scores, NULL), LG_OK);
    check_document_scores(&c, &scores, 64, 32, PREFIX);
    lg_scores_close(&scores);
    free_corpus(&c);
}

static void a_grown_or_shuffled_corpus_costs_its_new_rows(void **state) {
    (void)state;
    const size_t length_1[] = {10, 50, 30}, length_2[] = {30, 21, 10, 50, 0, 3};
    const uint64_t seed_1[] = {1, 2, 3}, seed_2[] = {3, 9, 1, 2, 4, 8};
    corpus c1 = make_corpus(3, length_1, seed_1), c2 = make_corpus(6, length_2, seed_2);
    lg_score_settings settings = settings_of(LG_WINDOWS_DOCUMENT, 16, 8, PREFIX, LG_COLUMN_RANK);
    fake f;
    score_ok(fake_start(&f, 64), &c1, &settings, in_folder("grown"));
    score_ok(fake_start(&f, 64), &c2, &settings, in_folder("grown"));
    assert_int_equal(f.rows, 2 + 1); /* 21 tokens: two rows; 3 tokens: one */
    score_ok(fake_start(&f, 64), &c2, &settings, in_folder("fresh"));
    assert_same_file(in_folder("grown"), in_folder("fresh"));
    score_ok(fake_start(&f, 64), &c1, &settings, in_folder("grown"));
    assert_int_equal(f.rows, 0);
    free_corpus(&c1);
    free_corpus(&c2);
}

static void other_settings_start_over(void **state) {
    (void)state;
    corpus c = usual_corpus();
    const char *out = in_folder("settings");
    lg_score_settings first = settings_of(LG_WINDOWS_DOCUMENT, 16, 8, PREFIX, 0), changed[8];
    for (size_t i = 0; i < 8; i++) changed[i] = first;
    changed[0].windows.context = 17;
    changed[1].windows.stride = 7;
    changed[2].windows.prefix = LG_PREFIX_NONE;
    changed[3].windows = (lg_window_settings){LG_WINDOWS_PAPER, 16, 0, PREFIX};
    changed[4].columns = LG_COLUMN_TOP1;
    changed[5].precision = LG_PRECISION_BF16;
    changed[6].isa = "avx2";
    changed[7].model = "another";
    for (size_t i = 0; i < 8; i++) {
        fake f;
        lg_score_plan plan;
        unlink(out);
        score_ok(fake_start(&f, 64), &c, &first, out);
        assert_int_equal(lg_score_survey(&f.scorer, &c.data, &changed[i], out, &plan, NULL), LG_OK);
        score_ok(fake_start(&f, 64), &c, &changed[i], out);
        assert_int_equal(f.rows, plan.rows_left);
        assert_true(f.rows >= 8);
        score_ok(fake_start(&f, 64), &c, &changed[i], in_folder("settings-fresh"));
        assert_same_file(out, in_folder("settings-fresh"));
    }
    /* a new name is no reason to compute */
    fake f;
    lg_score_settings renamed = changed[7];
    renamed.name = "other name";
    score_ok(fake_start(&f, 64), &c, &renamed, out);
    assert_int_equal(f.rows, 0);
    lg_scores scores;
    assert_int_equal(lg_scores_open(out, &c.data, &scores, NULL), LG_OK);
    assert_string_equal(scores.model_name, "other name");
    lg_scores_close(&scores);
    free_corpus(&c);
}

static void copy_file(const char *from, const char *to, size_t size) {
    lg_mapping m;
    assert_int_equal(lg_map(from, &m, NULL), LG_OK);
    FILE *f = fopen(to, "w");
    assert_int_equal(fwrite(m.data, 1, size < m.size ? size : m.size, f), size < m.size ? size : m.size);
    fclose(f);
    lg_unmap(&m);
}

static size_t file_size(const char *path) {
    lg_mapping m;
    assert_int_equal(lg_map(path, &m, NULL), LG_OK);
    size_t size = m.size;
    lg_unmap(&m);
    return size;
}

/* A journal cut at every byte, which is what a kill can leave, gives the same file, and what it holds is not
   computed again. */
static void a_journal_cut_anywhere_is_gone_on_from(void **state) {
    (void)state;
    const size_t length[] = {3, 9, 5, 12};
    const uint64_t seed[] = {1, 2, 3, 4};
    corpus c = make_corpus(4, length, seed);
    lg_score_settings settings = settings_of(LG_WINDOWS_DOCUMENT, 6, 3, PREFIX, LG_COLUMN_ENTROPY);
    fake f;
    lg_error error = {0};
    score_ok(fake_start(&f, 6), &c, &settings, in_folder("undisturbed"));
    size_t all = f.rows, calls = f.calls;
    fake_start(&f, 6);
    f.cancel_after = calls - 1;
    assert_int_equal(
        lg_score_rows(&f.scorer, &c.data, &settings, "lossgap score", in_folder("stopped"), NULL, &error),
        LG_CANCELLED);
    assert_non_null(strstr(error.message, "goes on"));
    assert_false(lg_exists(in_folder("stopped")));
    size_t size = file_size(in_folder("stopped.journal")), fewest = all, most = 0;
    for (size_t cut = 0; cut <= size; cut++) {
        copy_file(in_folder("stopped.journal"), in_folder("again.journal"), cut);
        lg_score_plan plan;
        assert_int_equal(
            lg_score_survey(fake_start(&f, 6), &c.data, &settings, in_folder("again"), &plan, &error), LG_OK);
        score_ok(&f.scorer, &c, &settings, in_folder("again"));
        assert_int_equal(f.rows, plan.rows_left);
        assert_same_file(in_folder("again"), in_folder("undisturbed"));
        assert_false(lg_exists(in_folder("again.journal")));
        unlink(in_folder("again"));
        if (f.rows < fewest) fewest = f.rows;
        if (f.rows > most) most = f.rows;
    }
    assert_int_equal(most, all);
    assert_true(fewest <= 2);
    /* and a flipped bit is found */
    for (size_t at = 0; at < size; at += 5) {
        copy_file(in_folder("stopped.journal"), in_folder("again.journal"), size);
        int fd = open(in_folder("again.journal"), O_RDWR);
        unsigned char byte;
        assert_int_equal(pread(fd, &byte, 1, (off_t)at), 1);
        byte ^= 0x10;
        assert_int_equal(pwrite(fd, &byte, 1, (off_t)at), 1);
        close(fd);
        fake_start(&f, 6);
        lg_status status =
            lg_score_rows(&f.scorer, &c.data, &settings, "lossgap score", in_folder("again"), NULL, &error);
        if (at < 32) { /* the magic bytes: not known as ours any more */
            assert_int_equal(status, LG_BAD_INPUT);
            assert_true(lg_exists(in_folder("again.journal")));
            continue;
        }
        assert_int_equal(status, LG_OK);
        assert_same_file(in_folder("again"), in_folder("undisturbed"));
        unlink(in_folder("again"));
    }
    free_corpus(&c);
}

static void a_killed_process_is_gone_on_from(void **state) {
    (void)state;
    corpus c = usual_corpus();
    lg_score_settings settings = settings_of(LG_WINDOWS_DOCUMENT, 16, 5, PREFIX, 0);
    fake f;
    score_ok(fake_start(&f, 16), &c, &settings, in_folder("alive"));
    size_t calls = f.calls;
    for (size_t after = 1; after < calls; after += 3) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (!child) {
            fake_start(&f, 16);
            f.kill_after = after;
            lg_score_rows(&f.scorer, &c.data, &settings, "lossgap score", in_folder("killed"), NULL, NULL);
            _exit(0);
        }
        int status;
        waitpid(child, &status, 0);
        assert_true(WIFSIGNALED(status));
        assert_false(lg_exists(in_folder("killed")));
        score_ok(fake_start(&f, 16), &c, &settings, in_folder("killed"));
        assert_int_equal(f.calls, calls - after);
        assert_same_file(in_folder("killed"), in_folder("alive"));
        unlink(in_folder("killed"));
    }
    free_corpus(&c);
}

static void a_stale_journal_is_dropped(void **state) {
    (void)state;
    corpus c = usual_corpus();
    lg_score_settings settings = settings_of(LG_WINDOWS_DOCUMENT, 16, 5, PREFIX, 0), other = settings;
    other.windows.stride = 4;
    fake f;
    fake_start(&f, 16);
    f.cancel_after = 3;
    assert_int_equal(lg_score_rows(&f.scorer, &c.data, &other, "", in_folder("stale"), NULL, NULL),
                     LG_CANCELLED);
    watch w = {0};
    lg_monitor monitor = {&w, watch_progress, watch_note, watch_cancelled};
    lg_score_plan plan;
    assert_int_equal(lg_score_survey(&f.scorer, &c.data, &settings, in_folder("stale"), &plan, NULL), LG_OK);
    fake_start(&f, 16);
    assert_int_equal(lg_score_rows(&f.scorer, &c.data, &settings, "", in_folder("stale"), &monitor, NULL),
                     LG_OK);
    assert_int_equal(f.rows, plan.rows_left);
    assert_non_null(strstr(w.note, "rows"));
    score_ok(fake_start(&f, 16), &c, &settings, in_folder("stale-fresh"));
    lg_scores a, b;
    assert_int_equal(lg_scores_open(in_folder("stale"), &c.data, &a, NULL), LG_OK);
    assert_int_equal(lg_scores_open(in_folder("stale-fresh"), &c.data, &b, NULL), LG_OK);
    assert_memory_equal(a.nll, b.nll, c.data.n_tokens * sizeof *a.nll);
    lg_scores_close(&a);
    lg_scores_close(&b);
    free_corpus(&c);
}

static void what_is_not_ours_is_left_alone(void **state) {
    (void)state;
    corpus c = usual_corpus();
    lg_score_settings settings = settings_of(LG_WINDOWS_DOCUMENT, 16, 5, PREFIX, 0);
    lg_error error = {0};
    fake f;
    assert_int_equal(lg_write_file(in_folder("foreign"), "a diary", 7, NULL), LG_OK);
    assert_int_equal(
        lg_score_rows(fake_start(&f, 16), &c.data, &settings, "", in_folder("foreign"), NULL, &error),
        LG_BAD_INPUT);
    assert_non_null(strstr(error.message, "overwritten"));
    assert_int_equal(f.calls, 0);
    assert_int_equal(file_size(in_folder("foreign")), 7);
    assert_false(lg_exists(in_folder("foreign.journal")));
    assert_int_equal(lg_write_file(in_folder("new.journal"), "a diary", 7, NULL), LG_OK);
    assert_int_equal(lg_score_rows(&f.scorer, &c.data, &settings, "", in_folder("new"), NULL, &error),
                     LG_BAD_INPUT);
    assert_non_null(strstr(error.message, "no score journal"));
    assert_int_equal(file_size(in_folder("new.journal")), 7);
    assert_int_equal(
        lg_score_rows(&f.scorer, &c.data, &settings, "", in_folder("no/such/folder"), NULL, &error),
        LG_BAD_INPUT);
    free_corpus(&c);
}

static void one_process_at_a_time(void **state) {
    (void)state;
    corpus c = usual_corpus();
    lg_score_settings settings = settings_of(LG_WINDOWS_DOCUMENT, 16, 5, PREFIX, 0);
    lg_error error = {0};
    fake f;
    int fd = open(in_folder("locked.journal"), O_RDWR | O_CREAT, 0666);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    assert_int_equal(
        lg_score_rows(fake_start(&f, 16), &c.data, &settings, "", in_folder("locked"), NULL, &error),
        LG_FAILED);
    assert_non_null(strstr(error.message, "another process"));
    assert_true(lg_exists(in_folder("locked.journal")));
    close(fd);
    score_ok(&f.scorer, &c, &settings, in_folder("locked"));
    free_corpus(&c);
}

static void a_token_without_loss_is_an_error(void **state) {
    (void)state;
    corpus c = usual_corpus();
    c.ids[30] = 7;
    lg_score_settings settings = settings_of(LG_WINDOWS_DOCUMENT, 16, 5, PREFIX, 0);
    lg_error error = {0};
    fake f;
    fake_start(&f, 16);
    f.nan = true;
    assert_int_equal(lg_score_rows(&f.scorer, &c.data, &settings, "", in_folder("nan"), NULL, &error),
                     LG_FAILED);
    assert_non_null(strstr(error.message, "token 30 "));
    assert_false(lg_exists(in_folder("nan")));
    free_corpus(&c);
}

static void ids_must_be_the_models(void **state) {
    (void)state;
    corpus c = usual_corpus();
    c.ids[7] = c.data.max_token_id = 1000;
    lg_score_settings settings = settings_of(LG_WINDOWS_DOCUMENT, 16, 5, PREFIX, 0);
    lg_error error = {0};
    fake f;
    assert_int_equal(
        lg_score_rows(fake_start(&f, 16), &c.data, &settings, "", in_folder("ids"), NULL, &error),
        LG_BAD_INPUT);
    assert_non_null(strstr(error.message, "document d3: token 2 has id 1000"));
    c.ids[7] = c.data.max_token_id = 999;
    settings.windows.prefix = 1000;
    assert_int_equal(lg_score_rows(&f.scorer, &c.data, &settings, "", in_folder("ids"), NULL, &error),
                     LG_USAGE);
    assert_non_null(strstr(error.message, "prefix 1000"));
    assert_false(lg_exists(in_folder("ids")));
    free_corpus(&c);
}

static void progress_rises_to_the_end(void **state) {
    (void)state;
    corpus c = usual_corpus();
    lg_score_settings settings = settings_of(LG_WINDOWS_DOCUMENT, 16, 5, PREFIX, 0);
    watch w = {0};
    lg_monitor monitor = {&w, watch_progress, watch_note, watch_cancelled};
    fake f;
    assert_int_equal(
        lg_score_rows(fake_start(&f, 16), &c.data, &settings, "", in_folder("progress"), &monitor, NULL),
        LG_OK);
    assert_int_equal(w.done, w.total);
    assert_int_equal(w.total, c.data.n_tokens - 17); /* the second of two equal documents is free */
    assert_true(w.reports > f.calls);
    /* and a wish to stop is heard between batches */
    w = (watch){.cancel_at = 100};
    unlink(in_folder("progress"));
    assert_int_equal(
        lg_score_rows(fake_start(&f, 16), &c.data, &settings, "", in_folder("progress"), &monitor, NULL),
        LG_CANCELLED);
    assert_true(w.done >= 100 && w.done < w.total);
    free_corpus(&c);
}

static void scores_belong_to_their_tokens(void **state) {
    (void)state;
    corpus c = usual_corpus(), same = usual_corpus(), other = usual_corpus();
    lg_score_settings settings = settings_of(LG_WINDOWS_DOCUMENT, 16, 5, PREFIX, 0);
    lg_scores scores;
    lg_error error = {0};
    fake f;
    score_ok(fake_start(&f, 16), &c, &settings, in_folder("tokens"));
    assert_int_equal(lg_scores_open(in_folder("tokens"), &same.data, &scores, &error), LG_OK);
    lg_scores_close(&scores);
    other.ids[50]++;
    assert_int_equal(lg_scores_open(in_folder("tokens"), &other.data, &scores, &error), LG_BAD_INPUT);
    assert_non_null(strstr(error.message, "another dataset"));
    other.ids[50]--;
    other.ends[3]--; /* the same tokens, cut into other documents */
    assert_int_equal(lg_scores_open(in_folder("tokens"), &other.data, &scores, &error), LG_BAD_INPUT);
    other.data.n_tokens--;
    assert_int_equal(lg_scores_open(in_folder("tokens"), &other.data, &scores, &error), LG_BAD_INPUT);
    free_corpus(&c);
    free_corpus(&same);
    free_corpus(&other);
}

static void nothing_is_scored_too(void **state) {
    (void)state;
    const size_t length[] = {0, 1, 0};
    const uint64_t seed[] = {1, 2, 3};
    lg_score_settings settings = settings_of(LG_WINDOWS_DOCUMENT, 16, 5, LG_PREFIX_NONE, 7);
    lg_scores scores;
    fake f;
    for (size_t n = 0; n <= 3; n++) {
        corpus c = make_corpus(n, length, seed);
        score_ok(fake_start(&f, 16), &c, &settings, in_folder("nothing"));
        assert_int_equal(f.calls, 0);
        assert_int_equal(lg_scores_open(in_folder("nothing"), &c.data, &scores, NULL), LG_OK);
        assert_int_equal(scores.n_tokens, n > 1);
        if (n > 1) assert_true(isnan(scores.nll[0]));
        lg_scores_close(&scores);
        unlink(in_folder("nothing"));
        free_corpus(&c);
    }
}

static void time_is_estimated(void **state) {
    (void)state;
    corpus c = usual_corpus();
    for (size_t L = 1; L < 70; L += 3)
        for (size_t most = L; most < 300; most = 2 * most + 1) {
            lg_score_settings settings = settings_of(LG_WINDOWS_DOCUMENT, L, 1 + L / 3, PREFIX, 7);
            lg_score_plan plan;
            double seconds = -1;
            fake f;
            const char *out = in_folder("time");
            assert_int_equal(lg_score_survey(fake_start(&f, most), &c.data, &settings, out, &plan, NULL),
                             LG_OK);
            assert_int_equal(lg_score_time(&f.scorer, &c.data, &settings, &plan, &seconds, NULL, NULL),
                             LG_OK);
            assert_true(seconds >= 0 && f.calls > 0 && f.most_inputs <= most);
            plan.rows_left = 0;
            assert_int_equal(lg_score_time(&f.scorer, &c.data, &settings, &plan, &seconds, NULL, NULL),
                             LG_OK);
            assert_true(seconds == 0);
        }
    free_corpus(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_stand_where_they_belong),
        cmocka_unit_test(paper_windows_run_through_documents),
        cmocka_unit_test(batches_do_not_matter),
        cmocka_unit_test(equal_rows_are_computed_once),
        cmocka_unit_test(a_grown_or_shuffled_corpus_costs_its_new_rows),
        cmocka_unit_test(other_settings_start_over),
        cmocka_unit_test(a_journal_cut_anywhere_is_gone_on_from),
        cmocka_unit_test(a_killed_process_is_gone_on_from),
        cmocka_unit_test(a_stale_journal_is_dropped),
        cmocka_unit_test(what_is_not_ours_is_left_alone),
        cmocka_unit_test(one_process_at_a_time),
        cmocka_unit_test(a_token_without_loss_is_an_error),
        cmocka_unit_test(ids_must_be_the_models),
        cmocka_unit_test(progress_rises_to_the_end),
        cmocka_unit_test(scores_belong_to_their_tokens),
        cmocka_unit_test(nothing_is_scored_too),
        cmocka_unit_test(time_is_estimated),
    };
    return cmocka_run_group_tests(tests, fake_enter, fake_leave);
}
