/* Gaps and regressions over spans: numbers worked out by hand, what they say of their unit, and what does not
   depend on spans. */
#include "../align_helper.h"

#include "lossgap/export.h"
#include "lossgap/gap.h"
#include "lossgap/regress.h"
#include "lossgap/report.h"
#include "lossgap/select.h"
#include "lossgap/tag.h"

/* A: "The c", "at", " sat" | "on it"; B: "The", " ", "cat", " s", "at" | "on", " it". */
static const fixture_document cut_a[] = {{"one", "prose", LG_PROSE, "The c\1at\1 sat", 0},
                                         {"two", "notes", LG_PROSE, "on it", 0}};
static const fixture_document cut_b[] = {{"one", "prose", LG_PROSE, "The\1 \1cat\1 s\1at", 0},
                                         {"two", "notes", LG_PROSE, "on\1 it", 0}};

typedef struct pair {
    lg_dataset a, b, spans;
    lg_scores of_a, of_b, sa, sb;
} pair;

static void write_scores(const lg_dataset *data, const char *name, const float *nll, const char *out) {
    char path[128];
    snprintf(path, sizeof path, "%s/losses.jsonl", fixture_folder);
    FILE *f = fopen(path, "w");
    for (size_t doc = 0, i = 0; doc < data->n_docs; doc++) {
        size_t first = i;
        fprintf(f, "{\"id\": \"%s\", \"input_ids\": [", doc ? "two" : "one");
        for (; i < data->doc_token_end[doc]; i++) fprintf(f, "%s%u", i > first ? "," : "", data->token_id[i]);
        fprintf(f, "], \"nll\": [");
        for (i = first; i < data->doc_token_end[doc]; i++)
            fprintf(f, isnan(nll[i]) ? "%snull" : "%s%g", i > first ? "," : "", (double)nll[i]);
        fprintf(f, "]}\n");
    }
    fclose(f);
    lg_score_options o = {.context = 100, .prefix = isnan(nll[0]) ? LG_PREFIX_NONE : 3, .model_name = name};
    lg_error error = {0};
    if (lg_score_import(path, data, &o, out, NULL, &error)) fail_msg("%s", error.message);
}

static void open_pair(pair *p, const float *nll_a, const float *nll_b) {
    static unsigned n;
    char path[6][128];
    const char *names[] = {"a", "b", "sa", "sb", "spans", "x"};
    for (size_t i = 0; i < 6; i++) snprintf(path[i], sizeof path[i], "%s/%u-%s", fixture_folder, n, names[i]);
    n++;
    fixture_dataset(path[0], cut_a, 2, true);
    fixture_dataset(path[1], cut_b, 2, true);
    p->a = align_open(path[0]);
    p->b = align_open(path[1]);
    write_scores(&p->a, "A", nll_a, path[2]);
    write_scores(&p->b, "B", nll_b, path[3]);
    p->of_a = align_open_scores(path[2], &p->a);
    p->of_b = align_open_scores(path[3], &p->b);
    const lg_align_source sources[] = {{&p->a, &p->of_a}, {&p->b, &p->of_b}};
    char out_a[140], out_b[140];
    snprintf(out_a, sizeof out_a, "%s-spans", path[2]);
    snprintf(out_b, sizeof out_b, "%s-spans", path[3]);
    const char *outs[] = {out_a, out_b};
    lg_error error = {0};
    if (lg_align_run(sources, 2, path[4], outs, "test", NULL, NULL, NULL, &error))
        fail_msg("%s", error.message);
    p->spans = align_open(path[4]);
    p->sa = align_open_scores(out_a, &p->spans);
    p->sb = align_open_scores(out_b, &p->spans);
}

static void close_pair(pair *p) {
    lg_scores_close(&p->sa);
    lg_scores_close(&p->sb);
    lg_scores_close(&p->of_a);
    lg_scores_close(&p->of_b);
    lg_dataset_close(&p->spans);
    lg_dataset_close(&p->a);
    lg_dataset_close(&p->b);
}

static const float losses_a[] = {4, 1, 2, 6}, losses_b[] = {1, 2, 0.5F, 1, 0.25F, 3, 2};

static lg_gap *gap_of(const pair *p, const lg_gap_options *options, const char *tags) {
    const lg_scores scores[] = {p->sa, p->sb};
    lg_gap *gap;
    lg_error error = {0};
    if (lg_gap_compute(&p->spans, scores, 2, tags, options, &gap, &error)) fail_msg("%s", error.message);
    return gap;
}

static void numbers_by_hand(void **state) {
    (void)state;
    pair p;
    open_pair(&p, losses_a, losses_b);
    /* "The cat": 4 + 1 against 1 + 2 + 0.5; " sat": 2 against 1 + 0.25; "on it": 6 against 3 + 2 */
    assert_int_equal(p.spans.n_tokens, 3);
    const float wanted_a[] = {5, 2, 6}, wanted_b[] = {3.5F, 1.25F, 5};
    const uint32_t tokens_a[] = {2, 1, 1}, tokens_b[] = {3, 2, 2}, context[] = {0, 1, 0};
    assert_memory_equal(p.sa.nll, wanted_a, sizeof wanted_a);
    assert_memory_equal(p.sb.nll, wanted_b, sizeof wanted_b);
    assert_memory_equal(p.sa.tokens, tokens_a, sizeof tokens_a);
    assert_memory_equal(p.sb.tokens, tokens_b, sizeof tokens_b);
    assert_memory_equal(p.sa.context, context, sizeof context);
    assert_memory_equal(p.sb.context, context, sizeof context);

    lg_gap *gap = gap_of(&p, &(lg_gap_options){0}, NULL);
    const lg_gap_row *all = lg_gap_at(gap, 0);
    assert_true(all->gap == (5 - 3.5 + 2 - 1.25 + 6 - 5) / 3);
    assert_int_equal(all->tokens, 3);
    assert_int_equal(all->bytes, 16);
    assert_int_equal(all->tokens_a, 4);
    assert_int_equal(all->tokens_b, 7);
    assert_int_equal(all->one_token, 0);
    assert_true(fabs(all->bits_per_byte_b - 9.75 / (16 * log(2))) < 1e-12);
    assert_true(lg_gap_get_about(gap)->spans);
    assert_int_equal(lg_gap_get_about(gap)->cut, 0);

    char *text;
    size_t length;
    lg_error error = {0};
    assert_int_equal(lg_gap_json(gap, &text, &length, &error), LG_OK);
    assert_non_null(strstr(text, "\"sign\":\"gap = loss(A) - loss(B), nats per span;"));
    assert_non_null(strstr(text, "\"unit\":\"span\""));
    assert_non_null(strstr(text, "\"tokens_a\":4,\"tokens_b\":7,\"one_token\":0"));
    assert_non_null(strstr(text, "\"prefix\":3")); /* the models' own settings */
    free(text);
    assert_int_equal(lg_gap_csv(gap, &text, &length, &error), LG_OK);
    assert_non_null(strstr(text, ",tokens_a,tokens_b,one_token,note,unit,"));
    assert_non_null(strstr(text, ",4,7,0,,span,"));
    free(text);
    assert_int_equal(lg_gap_table(gap, &(lg_table_style){0}, &text, &length, &error), LG_OK);
    assert_non_null(strstr(text, "3 spans in 2 documents"));
    assert_non_null(strstr(text, "nats per span"));
    assert_non_null(strstr(text, "5.33 bytes, 1.333 tokens of A, 2.333 of B; 0.0 % are one token in both"));
    assert_null(strstr(text, "nats per token"));
    free(text);
    lg_gap_free(gap);
    close_pair(&p);
}

/* The same losses, grouped otherwise: bits per byte stay. */
static void bits_per_byte_do_not_depend_on_spans(void **state) {
    (void)state;
    pair p;
    open_pair(&p, losses_a, losses_b);
    const lg_scores of_tokens[] = {p.of_b, p.of_b};
    lg_gap *tokens, *gap = gap_of(&p, &(lg_gap_options){0}, NULL);
    lg_error error = {0};
    assert_int_equal(lg_gap_compute(&p.b, of_tokens, 2, NULL, &(lg_gap_options){0}, &tokens, &error), LG_OK);
    assert_int_equal(lg_gap_n_rows(tokens), lg_gap_n_rows(gap));
    for (size_t i = 0; i < lg_gap_n_rows(gap); i++)
        assert_true(fabs(lg_gap_at(gap, i)->bits_per_byte_b - lg_gap_at(tokens, i)->bits_per_byte_b) < 1e-12);
    assert_false(lg_gap_get_about(tokens)->spans);
    lg_gap_free(tokens);
    lg_gap_free(gap);
    close_pair(&p);
}

/* Without a prefix A has no loss for the first token: the span has none, for B either. */
static void a_loss_that_is_missing_is_missing_for_all(void **state) {
    (void)state;
    pair p;
    const float none_a[] = {NAN, 1, 2, NAN};
    open_pair(&p, none_a, losses_b);
    assert_true(isnan(p.sa.nll[0]) && isnan(p.sb.nll[0]) && isnan(p.sb.nll[2]));
    lg_gap *gap = gap_of(&p, &(lg_gap_options){0}, NULL);
    assert_int_equal(lg_gap_at(gap, 0)->tokens, 1);
    assert_true(lg_gap_at(gap, 0)->gap == 0.75);
    assert_int_equal(lg_gap_get_about(gap)->unscorable, 2);
    lg_gap_free(gap);
    close_pair(&p);
}

/* A span of two words counts under each of their families. */
static void spans_carry_all_families_of_their_bytes(void **state) {
    (void)state;
    pair p;
    open_pair(&p, losses_a, losses_b);
    char tags[128];
    snprintf(tags, sizeof tags, "%s/tags", fixture_folder);
    lg_error error = {0};
    lg_tag_options all = {.multi = LG_MULTI_ALL, .threads = 1};
    if (lg_tag_run(&p.spans, &all, tags, NULL, &error)) fail_msg("%s", error.message);
    static const char *const by[] = {"family"};
    lg_gap *gap = gap_of(&p, &(lg_gap_options){.by = by, .n_by = 1}, tags);
    uint64_t determiners = 0, nouns = 0, under = 0;
    for (size_t i = 0; i < lg_gap_n_rows(gap); i++) {
        const lg_gap_row *row = lg_gap_at(gap, i);
        if (!row->grouping) continue;
        under += row->tokens;
        if (strcmp(row->level[0], "determiner") == 0) determiners = row->tokens;
        if (strcmp(row->level[0], "noun") == 0) nouns = row->tokens;
    }
    assert_int_equal(determiners, 1); /* "The cat" */
    assert_int_equal(nouns, 1);
    assert_int_equal(under, 5); /* "The cat" and "on it" have two each, " sat" one */
    lg_gap_free(gap);
    close_pair(&p);
}

static void tokens_of_a_model_are_a_column(void **state) {
    (void)state;
    pair p;
    open_pair(&p, losses_a, losses_b);
    const lg_scores scores[] = {p.sa, p.sb};
    uint8_t keep[3];
    uint64_t unknown;
    lg_error error = {0};
    assert_int_equal(lg_select_tokens("tokens(A) = 1 and tokens(B) = 2 and token = 'sat'", &p.spans, scores,
                                      2, NULL, keep, &unknown, &error),
                     LG_OK);
    assert_memory_equal(keep, ((uint8_t[]){0, 1, 0}), 3);
    const char *names[] = {"A", "B"};
    assert_int_equal(lg_gap_check_where("tokens(B) > 1", &p.spans, names, 2, 0, NULL, &error), LG_OK);
    assert_int_equal(lg_gap_check_where("tokens(B) > 1", &p.b, names, 2, 0, NULL, &error), LG_USAGE);
    char out[128];
    snprintf(out, sizeof out, "%s/export", fixture_folder);
    FILE *f = fopen(out, "w+");
    assert_int_equal(lg_export_tokens(&p.spans, scores, 2, NULL, NULL, LG_EXPORT_CSV, f, NULL, &error),
                     LG_OK);
    char line[256];
    rewind(f);
    assert_string_equal(fgets(line, sizeof line, f),
                        "document,domain,token,begin,end,text,id,nll.A,tokens.A,nll.B,tokens.B,context\n");
    assert_string_equal(fgets(line, sizeof line, f), "\"one\",\"prose\",0,0,7,\"The cat\",0,5,2,3.5,3,0\n");
    fclose(f);
    close_pair(&p);
}

static void regressions_name_their_unit(void **state) {
    (void)state;
    pair p;
    open_pair(&p, losses_a, losses_b);
    const lg_scores scores[] = {p.sa, p.sb};
    lg_frame *frame;
    lg_regress *regress;
    lg_error error = {0};
    assert_int_equal(lg_frame_create(&frame, &error), LG_OK);
    assert_int_equal(lg_frame_add_scores(frame, &p.spans, scores, 2, NULL, NULL, &error), LG_OK);
    lg_regress_options o = {.formula = "gap ~ tokens_b", .threads = 1};
    assert_int_equal(lg_frame_define(frame, "tokens_b=tokens(B)", &error), LG_OK);
    if (lg_regress_compute(frame, &o, NULL, &regress, &error)) fail_msg("%s", error.message);
    /* gaps 1.5, 0.75, 1 at 3, 2, 2 tokens of B */
    size_t n;
    const lg_regress_row *rows = lg_regress_rows(regress, &n);
    assert_int_equal(n, 2);
    assert_true(fabs(rows[1].value.estimate - 0.625) < 1e-12);
    char *text;
    size_t length;
    assert_int_equal(lg_regress_json(regress, &text, &length, &error), LG_OK);
    assert_non_null(strstr(text, "nats per span"));
    assert_non_null(strstr(text, "\"unit\":\"span\""));
    free(text);
    assert_int_equal(lg_regress_table(regress, &(lg_table_style){0}, &text, &length, &error), LG_OK);
    assert_non_null(strstr(text, "nats per span"));
    assert_non_null(strstr(text, "3 spans"));
    free(text);
    lg_regress_free(regress);
    lg_frame_free(frame);
    close_pair(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_by_hand),
        cmocka_unit_test(bits_per_byte_do_not_depend_on_spans),
        cmocka_unit_test(a_loss_that_is_missing_is_missing_for_all),
        cmocka_unit_test(spans_carry_all_families_of_their_bytes),
        cmocka_unit_test(tokens_of_a_model_are_a_column),
        cmocka_unit_test(regressions_name_their_unit),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
