/* Spans against brute force: sets of ends, sums of losses, what models saw, types of bytes; alignment with
   itself changes nothing; what models are aligned with each other in which order does not matter. */
#include "../align_helper.h"

#include "score/spans.h"

enum { LONGEST = 60 };

/* ---- the walk ---- */

/* Rising ends of at most LONGEST bytes from BEGIN to STOP, some equal, also at both ends. */
static size_t random_ends(uint64_t *ends, uint64_t begin, uint64_t stop, uint32_t step, uint32_t without) {
    size_t n = 0;
    for (uint64_t at = begin; at < stop;) {
        while (without && n < 3 * LONGEST && align_draw(without) == 0) ends[n++] = at;
        at += 1 + align_draw(step);
        ends[n++] = at < stop ? at : stop;
    }
    while (without && n < 4 * LONGEST && align_draw(without) == 0) ends[n++] = stop;
    return n;
}

static int is_end(const uint64_t *ends, size_t n, uint64_t at) {
    for (size_t i = 0; i < n; i++)
        if (ends[i] == at) return 1;
    return 0;
}

static void spans_are_the_common_ends(void **state) {
    (void)state;
    for (unsigned round = 0; round < 4000; round++) {
        uint64_t ends[4][5 * LONGEST], begin = align_draw(3) * 1000, stop = begin + 1 + align_draw(LONGEST);
        size_t n[4], tracks = 1 + align_draw(4);
        lg_span_track track[4];
        for (size_t t = 0; t < tracks; t++) {
            n[t] =
                random_ends(ends[t], begin, stop, 1 + align_draw(6), align_draw(3) ? 2 + align_draw(9) : 0);
            if (align_draw(20) == 0) n[t] = 0; /* a tokenizer that has nothing for these bytes */
            lg_span_start(&track[t], ends[t], n[t], begin);
        }
        size_t taken[4] = {0};
        for (uint64_t at = begin; at < stop;) {
            uint64_t wanted = at + 1; /* the next byte that is an end in all */
            for (size_t t = 0; t < tracks; t++)
                if (n[t] ? !is_end(ends[t], n[t], wanted) : wanted < stop) {
                    wanted++;
                    t = SIZE_MAX;
                }
            uint64_t end = lg_span_next(track, tracks, at, stop);
            assert_int_equal(end, wanted);
            for (size_t t = 0; t < tracks; t++) {
                /* tokens with bytes in the span; those without bytes where it begins, or inside, or at the
                   end of all */
                size_t first = taken[t], last = first;
                for (; last < n[t]; last++) {
                    uint64_t from = last ? ends[t][last - 1] : begin;
                    if (from >= end && !(end == stop)) break;
                }
                assert_int_equal(track[t].first, first);
                assert_int_equal(track[t].last, last);
                taken[t] = last;
            }
            at = end;
        }
        for (size_t t = 0; t < tracks; t++) assert_int_equal(taken[t], n[t]); /* no token is lost */
    }
}

/* ---- the artefacts ---- */

enum { DOCS = 6, WAYS = 3, MODELS = 4 };

static const char *const texts[DOCS] = {
    "The cat sat on the mat, and the cat sat on the hat; so it goes.",
    "x",
    "",
    "def f(x):\n    return [x, x, (x + 1)]\n\n\ndef g(y):\n    return f(y) + f(y)\n",
    "caf\xC3\xA9 na\xC3\xAFve \xE6\x97\xA5\xE6\x9C\xAC \xF0\x9F\x98\x80!",
    "the the the the the the the the the the the the the the the the the the the the the the",
};

typedef struct way {
    char *tokens[DOCS];
    const char *path;
    lg_dataset data;
} way;

static const char *file(char out[128], const char *what, size_t i) {
    snprintf(out, 128, "%s/%s-%zu", fixture_folder, what, i);
    return out;
}

static void cut(way *w, size_t i, uint32_t longest, uint32_t without) {
    fixture_document documents[DOCS];
    char path[128];
    static const char *const names[DOCS] = {"a", "b", "c", "d", "e", "f"};
    for (size_t d = 0; d < DOCS; d++) {
        w->tokens[d] = align_cut(texts[d], longest, without);
        documents[d] = (fixture_document){names[d], d == 3 ? "code" : "prose", d == 3 ? LG_PYTHON : LG_PROSE,
                                          w->tokens[d], 0};
    }
    fixture_dataset(file(path, "data", i), documents, DOCS, true);
    w->data = align_open(path);
}

static void free_way(way *w) {
    for (size_t d = 0; d < DOCS; d++) free(w->tokens[d]);
    lg_dataset_close(&w->data);
}

typedef struct model {
    size_t way;
    lg_scores scores;
} model;

/* Of model M in document DOC: adds up tokens whose bytes lie in [BEGIN, END), with what is pushed into them.
 */
static void check_model(const way *w, const model *m, size_t doc, const lg_dataset *spans,
                        const lg_scores *got, size_t span, bool *missing, uint64_t *seen) {
    const lg_dataset *d = &w->data;
    uint64_t begin = lg_token_begin(spans, doc, span), end = spans->token_end[span];
    size_t first = (size_t)lg_begin_of(d->doc_token_end, doc), tokens = 0;
    double sum = 0;
    *missing = false;
    for (size_t i = first; i < d->doc_token_end[doc]; i++) {
        uint64_t at = lg_token_begin(d, doc, i);
        if (at < begin || at >= end)
            continue; /* the fixture puts no token without bytes at a document's end */
        tokens++;
        sum += (double)m->scores.nll[i];
        if (isnan(m->scores.nll[i])) *missing = true;
        if (m->scores.context[i] < i - first) { /* it began with this token */
            uint64_t from = lg_token_begin(d, doc, i - m->scores.context[i]);
            if (from > begin) from = begin;
            if (from > *seen) *seen = from;
        }
    }
    assert_true(tokens > 0);
    assert_int_equal(got->tokens[span], tokens);
    if (!isnan(got->nll[span])) assert_true(got->nll[span] == (float)sum);
}

static void check_spans(const way *ways, const model *models, size_t n, const lg_dataset *spans,
                        const lg_scores *scores, const lg_align_summary *summary,
                        const lg_align_count *counts) {
    uint64_t missing_spans = 0, one_token = 0, uneven = 0, per_model[MODELS] = {0}, cut_spans[MODELS] = {0};
    assert_true(spans->spans && spans->has_text);
    assert_int_equal(spans->n_docs, DOCS);
    for (size_t doc = 0, at = 0; doc < DOCS; doc++) {
        const uint64_t doc_begin = lg_begin_of(spans->doc_text_end, doc);
        size_t doc_first = at;
        for (uint64_t begin = doc_begin; begin < spans->doc_text_end[doc]; at++) {
            uint64_t end = begin + 1;
            for (size_t m = 0; m < n; m++) { /* brute force: the next end that all have */
                const lg_dataset *d = &ways[models[m].way].data;
                size_t first = (size_t)lg_begin_of(d->doc_token_end, doc);
                if (is_end(d->token_end + first, (size_t)d->doc_token_end[doc] - first, end)) continue;
                end++;
                m = SIZE_MAX;
            }
            assert_int_equal(spans->token_end[at], end);
            bool missing = false, one = true, differ = false;
            uint64_t seen = doc_begin, each[MODELS];
            for (size_t m = 0; m < n; m++) {
                bool none;
                each[m] = doc_begin;
                check_model(&ways[models[m].way], &models[m], doc, spans, &scores[m], at, &none, &each[m]);
                per_model[m] += none;
                missing |= none;
                one &= scores[m].tokens[at] == 1;
                differ |= each[m] != each[0];
                if (each[m] > seen) seen = each[m];
            }
            uint32_t context = 0;
            for (size_t s = doc_first; s < at; s++) context += lg_token_begin(spans, doc, s) >= seen;
            for (size_t m = 0; m < n; m++) {
                assert_true(isnan(scores[m].nll[at]) == missing);
                assert_int_equal(scores[m].context[at], missing ? 0 : context);
                if (!missing) cut_spans[m] += each[m] > doc_begin;
            }
            missing_spans += missing;
            one_token += one;
            uneven += differ && !missing;
            begin = end;
        }
        assert_int_equal(spans->doc_token_end[doc], at);
    }
    assert_int_equal(summary->spans, spans->n_tokens);
    assert_int_equal(summary->unscorable, missing_spans);
    assert_int_equal(summary->one_token, one_token);
    assert_int_equal(summary->uneven, uneven);
    for (size_t m = 0; m < n; m++) {
        assert_int_equal(counts[m].missing, per_model[m]);
        assert_int_equal(counts[m].cut, cut_spans[m]);
        assert_int_equal(counts[m].tokens, ways[models[m].way].data.n_tokens);
    }
    /* equal numbers for equal bytes, by first appearance */
    uint32_t types = 0;
    for (size_t doc = 0, i = 0; doc < DOCS; doc++)
        for (; i < spans->doc_token_end[doc]; i++) {
            uint64_t begin = lg_token_begin(spans, doc, i), length = spans->token_end[i] - begin;
            uint32_t id = types;
            for (size_t other = 0, k = 0; other < DOCS && id == types; other++)
                for (; k < spans->doc_token_end[other] && k < i; k++) {
                    uint64_t from = lg_token_begin(spans, other, k);
                    if (spans->token_end[k] - from == length &&
                        memcmp(spans->text + from, spans->text + begin, length) == 0) {
                        id = spans->token_id[k];
                        break;
                    }
                }
            types += id == types;
            assert_int_equal(spans->token_id[i], id);
        }
    assert_int_equal(summary->types, types);
}

/* Sums of a document are those of its tokens: before they are rounded to 32 bits, and after to that rounding.
 */
static void check_sums(const way *ways, const model *models, size_t n, const lg_dataset *spans,
                       const lg_scores *scores) {
    for (size_t m = 0; m < n; m++) {
        const lg_dataset *d = &ways[models[m].way].data;
        for (size_t doc = 0; doc < DOCS; doc++) {
            double tokens = 0, sum = 0, stored = 0;
            bool all = true;
            size_t i = (size_t)lg_begin_of(d->doc_token_end, doc),
                   s = (size_t)lg_begin_of(spans->doc_token_end, doc);
            for (; s < spans->doc_token_end[doc]; s++) {
                double span = 0;
                for (size_t k = 0; k < scores[m].tokens[s]; k++, i++) {
                    span += (double)models[m].scores.nll[i];
                    tokens += (double)models[m].scores.nll[i];
                }
                if (isnan(scores[m].nll[s])) all = false;
                sum += span;
                stored += (double)scores[m].nll[s];
            }
            assert_int_equal(i, d->doc_token_end[doc]);
            if (!all) continue;
            assert_true(fabs(sum - tokens) <= 1e-12 * tokens);
            assert_true(fabs(stored - tokens) <= 6e-8 * tokens);
        }
    }
}

static void align_all(const way *ways, const model *models, size_t n) {
    lg_align_source sources[MODELS];
    lg_align_summary summary;
    lg_align_count counts[MODELS];
    lg_scores scores[MODELS];
    lg_error error = {0};
    char paths[MODELS + 1][128];
    const char *outs[MODELS];
    for (size_t m = 0; m < n; m++) {
        sources[m] = (lg_align_source){&ways[models[m].way].data, &models[m].scores};
        outs[m] = file(paths[m], "aligned", m);
    }
    const char *out = file(paths[n], "spans", 0);
    bool current;
    if (lg_align_run(sources, n, out, outs, "test", &summary, counts, NULL, &error))
        fail_msg("%s", error.message);
    assert_int_equal(lg_align_is_current(sources, n, out, outs, &current, &error), LG_OK);
    assert_true(current);
    lg_dataset spans = align_open(out);
    for (size_t m = 0; m < n; m++) scores[m] = align_open_scores(outs[m], &spans);
    check_spans(ways, models, n, &spans, scores, &summary, counts);
    check_sums(ways, models, n, &spans, scores);

    /* the other way round: the same dataset, the same losses */
    char identity[33];
    snprintf(identity, sizeof identity, "%s", lg_table_provenance(spans.table)->identity);
    lg_align_source turned[MODELS];
    const char *other[MODELS], *turned_outs[MODELS];
    char more[MODELS + 1][128];
    for (size_t m = 0; m < n; m++) {
        turned[m] = sources[n - 1 - m];
        turned_outs[m] = outs[n - 1 - m];
        other[m] = file(more[m], "turned", n - 1 - m);
    }
    if (lg_align_run(turned, n, file(more[n], "spans", 1), other, "test", NULL, NULL, NULL, &error))
        fail_msg("%s", error.message);
    lg_dataset again = align_open(more[n]);
    assert_int_equal(lg_align_is_current(turned, n, out, turned_outs, &current, &error), LG_OK);
    assert_true(current);
    assert_string_equal(lg_table_provenance(again.table)->identity, identity);
    for (size_t m = 0; m < n; m++) {
        lg_scores s = align_open_scores(other[n - 1 - m], &again);
        assert_string_equal(lg_table_provenance(s.table)->identity,
                            lg_table_provenance(scores[m].table)->identity);
        lg_scores_close(&s);
        lg_scores_close(&scores[m]);
    }
    lg_dataset_close(&again);
    lg_dataset_close(&spans);
}

static void artefacts_equal_brute_force(void **state) {
    (void)state;
    for (unsigned round = 0; round < 12; round++) {
        way ways[WAYS];
        model models[MODELS];
        static const char *const names[MODELS] = {"A", "B", "C", "D"};
        for (size_t i = 0; i < WAYS; i++) cut(&ways[i], i, 1 + align_draw(7), i ? align_draw(2) * 5 : 0);
        size_t n = 2 + align_draw(MODELS - 1);
        for (size_t m = 0; m < n; m++) {
            char path[128];
            size_t context = align_draw(2) ? 2 + align_draw(12) : 1000;
            models[m].way = m < 2 ? m : align_draw(WAYS);
            align_scores(&ways[models[m].way].data, names[m], m, context, 1 + align_draw((uint32_t)context),
                         align_draw(3) ? 599 : LG_PREFIX_NONE, file(path, "scores", m));
            models[m].scores = align_open_scores(path, &ways[models[m].way].data);
        }
        align_all(ways, models, n);
        for (size_t m = 0; m < n; m++) lg_scores_close(&models[m].scores);
        for (size_t i = 0; i < WAYS; i++) free_way(&ways[i]);
    }
}

/* With one tokenization and tokens that all have bytes, spans are tokens and losses stay, to the bit. */
static void alignment_with_itself_changes_nothing(void **state) {
    (void)state;
    way w;
    char path[6][128];
    cut(&w, 0, 5, 0);
    align_scores(&w.data, "A", 1, 12, 5, 599, file(path[0], "scores", 0));
    align_scores(&w.data, "B", 2, 12, 5, 599, file(path[1], "scores", 1));
    lg_scores a = align_open_scores(path[0], &w.data), b = align_open_scores(path[1], &w.data);
    const lg_align_source sources[] = {{&w.data, &a}, {&w.data, &b}};
    const char *outs[] = {file(path[2], "aligned", 0), file(path[3], "aligned", 1)};
    lg_error error = {0};
    lg_align_summary summary;
    if (lg_align_run(sources, 2, file(path[4], "spans", 0), outs, "test", &summary, NULL, NULL, &error))
        fail_msg("%s", error.message);
    lg_dataset spans = align_open(path[4]);
    assert_int_equal(spans.n_tokens, w.data.n_tokens);
    assert_memory_equal(spans.token_end, w.data.token_end, w.data.n_tokens * sizeof *spans.token_end);
    assert_memory_equal(spans.doc_token_end, w.data.doc_token_end, DOCS * sizeof *spans.doc_token_end);
    for (size_t m = 0; m < 2; m++) {
        lg_scores s = align_open_scores(outs[m], &spans);
        assert_memory_equal(s.nll, (m ? b : a).nll, spans.n_tokens * sizeof *s.nll);
        lg_scores_close(&s);
    }
    assert_int_equal(summary.one_token, w.data.n_tokens);
    lg_dataset_close(&spans);
    lg_scores_close(&a);
    lg_scores_close(&b);
    free_way(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_are_the_common_ends),
        cmocka_unit_test(artefacts_equal_brute_force),
        cmocka_unit_test(alignment_with_itself_changes_nothing),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
