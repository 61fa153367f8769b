/* The gap by category: against reference values, against the definition on random data, and what it refuses.
 */
#include <math.h>

#include "fixture.h"

#include "base/json.h"
#include "lossgap/gap.h"
#include "lossgap/report.h"

/* Scores without a file of their own but with a table that says who they are. */
static lg_scores make_scores(const char *name, const float *nll, const uint32_t *context, size_t n) {
    lg_error error = {0};
    lg_table_writer *w;
    size_t column;
    assert_int_equal(lg_table_writer_create(fixture_path("some-scores"), &w, &error), LG_OK);
    assert_int_equal(lg_table_writer_add(w, "nll", LG_F32, 1, &column, &error), LG_OK);
    fixture_append(w, column, nll, n);
    lg_provenance p = {.format = "scores", .version = 1, .settings = "{\"context\":8}"};
    assert_int_equal(lg_table_writer_commit(w, &p, NULL, &error), LG_OK);
    lg_scores s = {.model_name = name, .n_tokens = n, .nll = nll, .context = context, .prefix = 0};
    assert_int_equal(lg_table_open(fixture_path("some-scores"), "scores", &s.table, &error), LG_OK);
    return s;
}

/* Tags of DATA with columns `class` (U8: red, green, blue) and `copy_len` (U16, numbers). */
static const char *make_tags(const lg_dataset *data, const uint8_t *class, const uint16_t *copy_len) {
    lg_error error = {0};
    lg_table_writer *w;
    size_t column[2];
    assert_int_equal(lg_table_writer_create(fixture_path("tags"), &w, &error), LG_OK);
    assert_int_equal(lg_table_writer_add(w, "class", LG_U8, 1, &column[0], &error), LG_OK);
    assert_int_equal(lg_table_writer_add(w, "copy_len", LG_U16, 1, &column[1], &error), LG_OK);
    fixture_append(w, column[0], class, data->n_tokens);
    fixture_append(w, column[1], copy_len, data->n_tokens);
    char inputs[96];
    snprintf(inputs, sizeof inputs, "{\"dataset\":\"%s\"}", lg_table_provenance(data->table)->identity);
    lg_provenance p = {.format = "tags",
                       .version = 1,
                       .inputs = inputs,
                       .settings = "{\"levels\":{\"class\":[\"red\",\"green\",\"blue\"]}}"};
    assert_int_equal(lg_table_writer_commit(w, &p, NULL, &error), LG_OK);
    return fixture_path("tags");
}

static lg_gap *compute(const lg_dataset *data, const lg_scores *scores, size_t n, const char *tags,
                       const char *const *by, size_t n_by) {
    lg_error error = {0};
    lg_gap_options options = {.by = by, .n_by = n_by, .command = "test"};
    lg_gap *gap;
    if (lg_gap_compute(data, scores, n, tags, &options, &gap, &error)) fail_msg("%s", error.message);
    return gap;
}

/* The row of pair MODEL_B with these levels. */
static const lg_gap_row *find(const lg_gap *gap, const char *model_b, const char *const *levels) {
    for (size_t i = 0; i < lg_gap_n_rows(gap); i++) {
        const lg_gap_row *row = lg_gap_at(gap, i);
        bool same = strcmp(row->model_b, model_b) == 0;
        for (size_t b = 0; b < lg_gap_n_by(gap); b++) same &= strcmp(row->level[b], levels[b]) == 0;
        if (same) return row;
    }
    return NULL;
}

static void near(double value, double expected, double tolerance) {
    if (!(fabs(value - expected) <= tolerance)) fail_msg("%.17g, not %.17g", value, expected);
}

/* tests/golden/inference; losses are floats here, so six digits after the point are what can agree. */
static void test_reference(void **state) {
    (void)state;
    enum { TOKENS = 134 };
    FILE *file = fopen("tests/golden/inference/clusters.csv", "r");
    assert_non_null(file);
    char line[128], name[16][8], texts[16][2048];
    fixture_document documents[16];
    float a[TOKENS], b[TOKENS];
    uint8_t class[TOKENS];
    uint16_t copy_len[TOKENS] = {0};
    uint32_t context[TOKENS] = {0};
    size_t n = 0, n_docs = 0;
    assert_non_null(fgets(line, sizeof line, file));
    while (fgets(line, sizeof line, file)) {
        char doc[8], kind[16];
        int bytes;
        assert_int_equal(sscanf(line, "%7[^,],%15[^,],%f,%f,%d", doc, kind, &a[n], &b[n], &bytes), 5);
        class[n++] = strcmp(kind, "content") == 0;
        if (!n_docs || strcmp(name[n_docs - 1], doc) != 0) {
            strcpy(name[n_docs], doc);
            texts[n_docs][0] = '\0';
            documents[n_docs] = (fixture_document){name[n_docs], "x", LG_PROSE, texts[n_docs], 0};
            n_docs++;
        } else {
            strcat(texts[n_docs - 1], "\1");
        }
        for (int i = 0; i < bytes; i++) strcat(texts[n_docs - 1], "x");
    }
    fclose(file);
    assert_int_equal(n, TOKENS);
    fixture_dataset(fixture_path("data"), documents, n_docs, true);
    lg_error error = {0};
    lg_dataset data;
    assert_int_equal(lg_dataset_open(fixture_path("data"), &data, &error), LG_OK);
    lg_scores scores[] = {make_scores("A", a, context, n), make_scores("B", b, context, n)};
    const char *by[] = {"class"};
    lg_gap *gap = compute(&data, scores, 2, make_tags(&data, class, copy_len), by, 1);

    static const struct {
        const char *level;
        uint64_t tokens, documents, bytes;
        double gap, se, df;
    } expected[] = {{"*", 134, 12, 586, 0.005065671641791045, 0.08290232887998625, 11},
                    {"green", 80, 11, 356, -0.0059525, 0.07770898550790364, 10},
                    {"red", 54, 11, 230, 0.021388888888888888, 0.09588987467109344, 10}};
    for (size_t i = 0; i < 3; i++) {
        const lg_gap_row *row = find(gap, "B", &expected[i].level);
        assert_non_null(row);
        assert_int_equal(row->tokens, expected[i].tokens);
        assert_int_equal(row->documents, expected[i].documents);
        assert_int_equal(row->bytes, expected[i].bytes);
        near(row->gap, expected[i].gap, 1e-7);
        near(row->se, expected[i].se, 1e-7);
        near(row->df, expected[i].df, 0);
        near(row->bits_per_byte_a - row->bits_per_byte_b,
             row->gap * (double)row->tokens / (M_LN2 * (double)row->bytes), 1e-14);
    }
    const lg_gap_row *all = find(gap, "B", &expected[0].level);
    near(all->low, -0.17740112396009516, 2e-7);
    near(all->high, 0.18753246724367728, 2e-7);
    lg_gap_free(gap);
    lg_table_close(scores[0].table);
    lg_table_close(scores[1].table);
    lg_dataset_close(&data);
}

/* ---- random data, by the definition ---- */

enum { DOCS = 60, MAX_TOKENS = 4000 };

typedef struct sample {
    fixture_document documents[DOCS];
    char names[DOCS][8], texts[DOCS][400];
    float nll[3][MAX_TOKENS];
    uint32_t context[MAX_TOKENS];
    uint8_t class[MAX_TOKENS];
    uint16_t copy_len[MAX_TOKENS];
    size_t n;
    lg_dataset data;
    lg_scores scores[3];
    const char *tags;
} sample;

static uint64_t random_state = 5;
static uint32_t draw(uint32_t below) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_state >> 33) % below);
}

static void make_sample(sample *s) {
    static const char *const domains[] = {"prose", "python", "html"};
    s->n = 0;
    for (size_t d = 0; d < DOCS; d++) {
        snprintf(s->names[d], sizeof s->names[d], "d%zu", d);
        size_t tokens = draw(60), at = 0;
        for (size_t i = 0; i < tokens; i++) {
            if (i) s->texts[d][at++] = 1;
            for (uint32_t k = draw(4) + !i; k > 0; k--) s->texts[d][at++] = 'a';
            if (s->texts[d][at - 1] == 1) s->texts[d][at++] = 'b';
            for (size_t m = 0; m < 3; m++) s->nll[m][s->n] = i ? (float)draw(1000) / 117.f : NAN;
            s->context[s->n] = (uint32_t)i;
            s->class[s->n] = (uint8_t)draw(3);
            s->copy_len[s->n] = (uint16_t)(draw(2) ? draw(6) : draw(65536));
            s->n++;
        }
        s->texts[d][at] = '\0';
        s->documents[d] = (fixture_document){s->names[d], domains[draw(3)], LG_PROSE, s->texts[d], 0};
    }
    lg_error error = {0};
    fixture_dataset(fixture_path("data"), s->documents, DOCS, true);
    if (lg_dataset_open(fixture_path("data"), &s->data, &error)) fail_msg("%s", error.message);
    assert_int_equal(s->data.n_tokens, s->n);
    for (size_t m = 0; m < 3; m++)
        s->scores[m] = make_scores(m == 0 ? "A" : m == 1 ? "B" : "C", s->nll[m], s->context, s->n);
    s->tags = make_tags(&s->data, s->class, s->copy_len);
}

static void free_sample(sample *s) {
    for (size_t m = 0; m < 3; m++) lg_table_close(s->scores[m].table);
    lg_dataset_close(&s->data);
}

static const char *bin_name(unsigned value) {
    static const char *const names[] = {"0", "1", "2", "3", "4"};
    return value < 5 ? names[value] : value <= 8 ? "5-8" : value <= 16 ? "9-16" : "17+";
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static int by_weight(const void *a, const void *b) {
    double x = fabs(*(const double *)a), y = fabs(*(const double *)b);
    return x > y ? -1 : x < y;
}

/* Order statistics of the gaps V [n], by sorting. */
static void check_order(const lg_gap_row *row, double *v, size_t n) {
    double above = 0, taken = 0, level = 0, sum = 0;
    for (size_t i = 0; i < n; i++) {
        above += v[i] > 0 ? 1 : v[i] == 0 ? 0.5 : 0;
        sum += v[i];
    }
    near(row->improved, above / (double)n, 1e-15);
    qsort(v, n, sizeof *v, by_value);
    near(row->median, n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2, 1e-15);
    size_t heavy = n / 1000, same = 0, more = 0;
    assert_int_equal(row->trimmed_tokens, heavy);
    if (!heavy) {
        near(row->trimmed, row->gap, 1e-15);
        return;
    }
    qsort(v, n, sizeof *v, by_weight);
    for (size_t i = 0; i < n; i++) {
        more += fabs(v[i]) > fabs(v[heavy - 1]);
        same += fabs(v[i]) == fabs(v[heavy - 1]);
        taken += fabs(v[i]) > fabs(v[heavy - 1]) ? v[i] : 0;
        level += fabs(v[i]) == fabs(v[heavy - 1]) ? v[i] : 0;
    }
    taken += level * (double)(heavy - more) / (double)same;
    near(row->trimmed, (sum - taken) / (double)(n - heavy), 1e-13);
}

/* Two passes in long double over the tokens that a row is about. */
static void check_row(const sample *s, const lg_gap_row *row, size_t model) {
    long double a = 0, b = 0, squares = 0;
    uint64_t n = 0, bytes = 0, documents = 0;
    long double sum[DOCS] = {0}, weighted = 0, macro = 0, domain_sum[16] = {0}, domain_count[16] = {0};
    uint64_t count[DOCS] = {0}, domains = 0;
    static double values[MAX_TOKENS];
    for (size_t d = 0, i = 0; d < DOCS; d++) {
        for (; i < s->data.doc_token_end[d]; i++) {
            bool in = !isnan(s->nll[0][i]);
            in &= strcmp(row->level[0], "*") == 0 || strcmp(row->level[0], s->documents[d].domain) == 0;
            static const char *const classes[] = {"red", "green", "blue"};
            in &= strcmp(row->level[1], "*") == 0 || strcmp(row->level[1], classes[s->class[i]]) == 0;
            in &= strcmp(row->level[2], "*") == 0 || strcmp(row->level[2], bin_name(s->copy_len[i])) == 0;
            if (!in) continue;
            a += s->nll[0][i];
            b += s->nll[model][i];
            sum[d] += (long double)s->nll[0][i] - s->nll[model][i];
            count[d]++;
            values[n] = (double)s->nll[0][i] - s->nll[model][i];
            weighted += values[n] * (long double)(s->data.token_end[i] - lg_token_begin(&s->data, d, i));
            domain_sum[s->data.doc_domain[d]] += values[n];
            domain_count[s->data.doc_domain[d]]++;
            n++;
            bytes += s->data.token_end[i] - lg_token_begin(&s->data, d, i);
        }
        documents += count[d] > 0;
    }
    assert_int_equal(row->tokens, n);
    assert_int_equal(row->documents, documents);
    assert_int_equal(row->bytes, bytes);
    long double mean = (a - b) / (long double)n;
    for (size_t d = 0; d < DOCS; d++) {
        long double u = sum[d] - mean * (long double)count[d];
        squares += u * u;
    }
    near(row->loss_a, (double)(a / (long double)n), 1e-13);
    near(row->loss_b, (double)(b / (long double)n), 1e-13);
    near(row->gap, (double)mean, 1e-13);
    near(row->bits_per_byte_b, (double)(b / ((long double)M_LN2 * (long double)bytes)), 1e-12);
    near(row->byte_weighted, (double)(weighted / (long double)bytes), 1e-12);
    near(row->per_byte, (double)((a - b) / (long double)bytes), 1e-12);
    for (size_t d = 0; d < DOCS; d++)
        if (count[d]) macro += sum[d] / (long double)count[d] / (long double)documents;
    near(row->of_documents, (double)macro, 1e-12);
    macro = 0;
    for (size_t d = 0; d < 16; d++) {
        if (domain_count[d] == 0) continue;
        macro += domain_sum[d] / domain_count[d];
        domains++;
    }
    near(row->of_domains, (double)(macro / (long double)domains), 1e-12);
    assert_int_equal(row->domains, domains);
    check_order(row, values, n);
    assert_true((row->note != NULL) == (documents < 2 || !(row->se > 0)));
    if (documents < 2) {
        assert_true(isnan(row->se) && isnan(row->low) && isnan(row->high) && isnan(row->df));
        return;
    }
    long double g = (long double)documents, se = sqrtl(g / (g - 1) * squares) / (long double)n;
    near(row->se, (double)se, 1e-13);
    near(row->df, (double)(documents - 1), 0);
    near(row->high - row->gap, lg_t_quantile(0.975, row->df) * row->se, 1e-14);
    near(row->gap - row->low, lg_t_quantile(0.975, row->df) * row->se, 1e-14);
}

static void test_definition(void **state) {
    (void)state;
    static sample s;
    for (int round = 0; round < 5; round++) {
        make_sample(&s);
        static const char *const by[] = {"domain", "class", "copy_len"};
        lg_gap *gap = compute(&s.data, s.scores, 3, s.tags, by, 3);
        uint64_t tokens[2][8] = {{0}}, bytes[2][8] = {{0}};
        double sums[2][8] = {{0}};
        size_t seen = 0;
        for (size_t i = 0; i < lg_gap_n_rows(gap); i++) {
            const lg_gap_row *row = lg_gap_at(gap, i);
            size_t pair = row->model_b[0] == 'B' ? 0 : 1;
            assert_string_equal(row->model_a, "A");
            check_row(&s, row, pair + 1);
            tokens[pair][row->grouping] += row->tokens;
            bytes[pair][row->grouping] += row->bytes;
            sums[pair][row->grouping] += row->gap * (double)row->tokens;
            seen |= (size_t)1 << row->grouping;
        }
        assert_int_equal(seen,
                         1 << 0 | 1 << 1 | 1 << 2 | 1 << 4 | 1 << 7); /* total, each alone, all together */
        for (size_t pair = 0; pair < 2; pair++)
            for (size_t g = 1; g < 8; g++) {
                if (!(seen >> g & 1)) continue;
                assert_int_equal(tokens[pair][g], tokens[pair][0]);
                assert_int_equal(bytes[pair][g], bytes[pair][0]);
                near(sums[pair][g], sums[pair][0], 1e-10);
            }
        assert_int_equal(tokens[0][0] + lg_gap_get_about(gap)->unscorable, s.n);
        lg_gap_free(gap);

        gap = compute(&s.data, s.scores, 2, s.tags, NULL, 0); /* everything, alone and by domain */
        static const char *const names[] = {"domain", "copy_len", "class"};
        assert_int_equal(lg_gap_n_by(gap), 3);
        for (size_t i = 0; i < 3; i++) { /* in the file's order, whatever it is */
            bool found = false;
            for (size_t b = 0; b < 3; b++) found |= strcmp(lg_gap_by(gap, b), names[i]) == 0;
            assert_true(found);
        }
        assert_string_equal(lg_gap_by(gap, 0), "domain");
        seen = 0;
        for (size_t i = 0; i < lg_gap_n_rows(gap); i++) seen |= (size_t)1 << lg_gap_at(gap, i)->grouping;
        assert_int_equal(seen, 1 << 0 | 1 << 1 | 1 << 2 | 1 << 4 | 1 << 3 | 1 << 5);
        lg_gap_free(gap);
        free_sample(&s);
    }
}

/* Equal gaps have no spread, whatever their size: no square root of a negative rest, no noise. */
static void test_constant(void **state) {
    (void)state;
    static sample s;
    make_sample(&s);
    for (size_t i = 0; i < s.n; i++) {
        s.nll[0][i] = isnan(s.nll[0][i]) ? NAN : 1000.5f;
        s.nll[1][i] = isnan(s.nll[1][i]) ? NAN : 0.125f;
    }
    lg_gap *gap = compute(&s.data, s.scores, 2, NULL, NULL, 0);
    for (size_t i = 0; i < lg_gap_n_rows(gap); i++) {
        const lg_gap_row *row = lg_gap_at(gap, i);
        near(row->gap, 1000.375, 0);
        near(row->se, 0, 0);
        near(row->low, 1000.375, 0);
    }
    lg_gap_free(gap);
    for (size_t i = 0; i < s.n; i++) { /* sums of these round: that is no spread either */
        s.nll[0][i] = isnan(s.nll[0][i]) ? NAN : 0.7f;
        s.nll[1][i] = isnan(s.nll[1][i]) ? NAN : 0.1f;
    }
    gap = compute(&s.data, s.scores, 2, NULL, NULL, 0);
    for (size_t i = 0; i < lg_gap_n_rows(gap); i++) {
        const lg_gap_row *row = lg_gap_at(gap, i);
        near(row->se, 0, 0);
        near(row->median, (double)0.7f - (double)0.1f, 0);
        near(row->improved, 1, 0);
        assert_true(isnan(row->t) && isnan(row->p) && isnan(row->p_bh) && isnan(row->p_of_documents));
        assert_string_equal(row->note, "all gaps are equal: no spread, no test by t");
    }
    lg_gap_free(gap);
    for (size_t i = 0; i < s.n; i++) s.nll[1][i] = s.nll[0][i]; /* the same model twice */
    gap = compute(&s.data, s.scores, 2, NULL, NULL, 0);
    near(lg_gap_at(gap, 0)->gap, 0, 0);
    near(lg_gap_at(gap, 0)->improved, 0.5, 0);
    near(lg_gap_at(gap, 0)->p_wilcoxon, 1, 0);
    near(lg_gap_at(gap, 0)->p_sign, 1, 0);
    lg_gap_free(gap);
    free_sample(&s);
}

static void test_document_column(void **state) {
    (void)state;
    static sample s;
    make_sample(&s);
    static const char *const by[] = {"document", "kind"};
    lg_gap *gap = compute(&s.data, s.scores, 2, NULL, by, 2);
    uint64_t tokens = 0;
    for (size_t i = 0; i < lg_gap_n_rows(gap); i++) {
        const lg_gap_row *row = lg_gap_at(gap, i);
        if (row->grouping != 1) continue;
        tokens += row->tokens;
        assert_int_equal(row->documents, 1);
        assert_true(isnan(row->se));
    }
    assert_int_equal(tokens, lg_gap_at(gap, 0)->tokens);
    lg_gap_free(gap);
    free_sample(&s);
}

static void test_nothing_scored(void **state) {
    (void)state;
    lg_error error = {0};
    fixture_document one = {"d", "x", LG_PROSE, "abc", 0};
    float nll[] = {NAN};
    uint32_t context[] = {0};
    for (size_t n = 0; n < 2; n++) {
        fixture_dataset(fixture_path("data"), &one, n, true);
        lg_dataset data;
        assert_int_equal(lg_dataset_open(fixture_path("data"), &data, &error), LG_OK);
        lg_scores scores[] = {make_scores("A", nll, context, n), make_scores("A", nll, context, n)};
        lg_gap *gap = compute(&data, scores, 2, NULL, NULL, 0);
        assert_int_equal(lg_gap_n_rows(gap), 1);
        assert_int_equal(lg_gap_at(gap, 0)->tokens, 0);
        assert_true(isnan(lg_gap_at(gap, 0)->gap));
        assert_string_equal(lg_gap_at(gap, 0)->model_b, "A#2"); /* two models of one name are told apart */
        char *text;
        size_t length;
        assert_int_equal(lg_gap_json(gap, &text, &length, &error), LG_OK);
        assert_non_null(strstr(text, "\"gap\":null"));
        free(text);
        lg_table_style style = {0};
        assert_int_equal(lg_gap_table(gap, &style, &text, &length, &error), LG_OK);
        assert_null(strstr(text, "nan"));
        free(text);
        lg_gap_free(gap);
        lg_gap_options options = {.bootstrap = 9, .command = "test"};
        assert_int_equal(lg_gap_compute(&data, scores, 2, NULL, &options, &gap, &error), LG_OK);
        assert_true(isnan(lg_gap_at(gap, 0)->bootstrap_low) && isnan(lg_gap_at(gap, 0)->median));
        assert_string_equal(lg_gap_at(gap, 0)->note, "no tokens");
        lg_gap_free(gap);
        lg_table_close(scores[0].table);
        lg_table_close(scores[1].table);
        lg_dataset_close(&data);
    }
}

/* ---- what is refused ---- */

static void refuse(const sample *s, const char *const *by, size_t n_by, lg_status status, const char *text) {
    lg_error error = {0};
    lg_gap_options options = {.by = by, .n_by = n_by};
    lg_gap *gap;
    assert_int_equal(lg_gap_compute(&s->data, s->scores, 2, s->tags, &options, &gap, &error), status);
    assert_null(gap);
    if (!strstr(error.message, text)) fail_msg("'%s' does not say '%s'", error.message, text);
}

static void test_refusals(void **state) {
    (void)state;
    static sample s;
    make_sample(&s);
    size_t at = 0, doc = 0;
    while (isnan(s.nll[1][at])) at++;
    while (s.data.doc_token_end[doc] <= at) doc++;
    char place[64];
    snprintf(place, sizeof place, "token %zu of document 'd%zu'",
             at - (size_t)lg_begin_of(s.data.doc_token_end, doc), doc);

    float kept = s.nll[1][at];
    s.nll[1][at] = NAN;
    refuse(&s, NULL, 0, LG_BAD_INPUT, place);
    s.nll[1][at] = INFINITY;
    refuse(&s, NULL, 0, LG_BAD_INPUT, "infinite");
    s.nll[1][at] = kept;

    static uint32_t other[MAX_TOKENS];
    memcpy(other, s.context, sizeof other);
    other[at]++;
    s.scores[1].context = other;
    refuse(&s, NULL, 0, LG_BAD_INPUT, place);
    s.scores[1].context = s.context;

    s.scores[1].prefix = LG_PREFIX_NONE;
    refuse(&s, NULL, 0, LG_BAD_INPUT, "prefix none");
    s.scores[1].prefix = 0;

    s.scores[1].n_tokens--;
    refuse(&s, NULL, 0, LG_BAD_INPUT, "do not belong together");
    s.scores[1].n_tokens++;

    static const char *const nosuch[] = {"domain", "colour"}, *const twice[] = {"class", "class"};
    refuse(&s, nosuch, 2, LG_USAGE, "there are domain, kind, document");
    refuse(&s, twice, 2, LG_USAGE, "twice");

    s.class[at] = 3; /* a value without a name */
    s.tags = make_tags(&s.data, s.class, s.copy_len);
    refuse(&s, NULL, 0, LG_BAD_INPUT, "has 3 levels");

    fixture_document one = {"d", "x", LG_PROSE, "abc", 0}; /* tags of other data */
    fixture_dataset(fixture_path("other"), &one, 1, true);
    lg_error error = {0};
    lg_dataset data;
    assert_int_equal(lg_dataset_open(fixture_path("other"), &data, &error), LG_OK);
    s.tags = make_tags(&data, s.class, s.copy_len);
    lg_dataset_close(&data);
    refuse(&s, NULL, 0, LG_BAD_INPUT, "another dataset");
    free_sample(&s);
}

/* ---- documents ---- */

static void test_documents(void **state) {
    (void)state;
    lg_error error = {0};
    fixture_document documents[] = {{"1", "a,\\\"b\\\"", LG_PROSE, "ab\1c\1d", 0},
                                    {"2", "a,\\\"b\\\"", LG_PROSE, "ab\1cd", 0},
                                    {"3", "\\u001b[31m", LG_PROSE, "efg", 0}};
    float a[] = {2, 1, 3, 4, 1, 2}, b[] = {1, 1, 1, 5, 1, 0.5f};
    uint32_t context[6] = {0};
    fixture_dataset(fixture_path("data"), documents, 3, true);
    lg_dataset data;
    if (lg_dataset_open(fixture_path("data"), &data, &error)) fail_msg("%s", error.message);
    lg_scores scores[] = {make_scores("A", a, context, 6), make_scores("B", b, context, 6)};
    lg_gap *gap = compute(&data, scores, 2, NULL, NULL, 0);
    char *text;
    size_t length;
    assert_int_equal(lg_gap_csv(gap, &text, &length, &error), LG_OK);
    assert_int_equal(strlen(text), length);
    const char *begin =
        "model_a,model_b,domain,tokens,documents,bytes,loss_a,loss_b,gap,se,df,low,high,bits_per_byte_a,"
        "bits_per_byte_b,se_cr0,t,p,p_bh,mde,median_gap,improved,trimmed_gap,trimmed_tokens,gap_per_byte,"
        "se_per_byte,gap_byte_weighted,gap_of_documents,se_of_documents,low_of_documents,high_of_documents,"
        "gap_of_domains,domains,t_of_documents,p_of_documents,p_of_documents_bh,documents_better,"
        "documents_worse,w_plus,p_wilcoxon,p_wilcoxon_bh,p_sign,p_sign_bh,p_sign_flip,note,"
        "positive_gap_means\nA,B,*,6,3,11,";
    assert_memory_equal(text, begin, strlen(begin));
    assert_non_null(strstr(text, "\nA,B,\"a,\"\"b\"\"\",5,2,8,2.2,1.8,0.4,"));
    assert_non_null(strstr(text, ",1,3,2,0.5,1.5,,,,,")); /* one document: no interval */
    free(text);

    assert_int_equal(lg_gap_json(gap, &text, &length, &error), LG_OK);
    lg_arena arena = {0};
    lg_json_value *root;
    if (lg_json_parse(&arena, text, length, "gap.json", &root, &error)) fail_msg("%s", error.message);
    assert_string_equal(lg_json_get(root, "format")->string, "gap");
    assert_int_equal(lg_json_get(root, "version")->integer, 1);
    assert_string_equal(
        lg_json_get(lg_json_get(lg_json_get(root, "provenance"), "inputs"), "dataset")->string,
        lg_table_provenance(data.table)->identity);
    const lg_json_value *rows = lg_json_get(root, "rows"), *row = rows->first;
    assert_int_equal(rows->length, 3);
    static const char *const keys[] = {
        "model_a", "model_b", "domain", "tokens", "documents", "bytes",           "loss_a",         "loss_b",
        "gap",     "se",      "df",     "low",    "high",      "bits_per_byte_a", "bits_per_byte_b"};
    assert_int_equal(row->length, 45);
    const lg_json_value *member = row->first;
    for (size_t i = 0; i < 15; i++, member = member->next) assert_string_equal(member->key, keys[i]);
    assert_string_equal(lg_json_get(row, "domain")->string, "*");
    assert_true(lg_json_get(row, "loss_a")->number == 13. / 6);
    assert_string_equal(lg_json_get(row->next, "domain")->string, "a,\"b\"");
    assert_int_equal(lg_json_get(row->next->next, "se")->type, LG_JSON_NULL);
    free(text);
    lg_arena_free(&arena);

    lg_table_style style = {0};
    assert_int_equal(lg_gap_table(gap, &style, &text, &length, &error), LG_OK);
    assert_string_equal(text,
                        "A (A) against B (B): 6 tokens in 3 documents\n"
                        "gap = loss(A) - loss(B), nats per token; positive: B predicts better.\n"
                        "±: half of the 95 % interval, clustered by document; *: it leaves 0 out; -: none\n"
                        "(one document).\n"
                        "\n"
                        "     tokens  docs       A       B      gap       ±    bits/byte\n"
                        "all       6     3  2.1667  1.5833  +0.5833  2.3398  1.705 1.246\n"
                        "\n"
                        "domain  tokens  docs       A       B      gap       ±    bits/byte\n"
                        "a,\"b\"        5     2  2.2000  1.8000  +0.4000  9.1485  1.984 1.623\n"
                        "?[31m        1     1  2.0000  0.5000  +1.5000       -  0.962 0.240\n");
    free(text);
    lg_gap_free(gap);
    lg_table_close(scores[0].table);
    lg_table_close(scores[1].table);
    lg_dataset_close(&data);
}

/* Tokens that carry several levels: under the first, under each, or nowhere; against sums by hand. */
static void test_multi(void **state) {
    (void)state;
    fixture_document documents[] = {{"1", "x", LG_PROSE, "a\1b\1c", 0}, {"2", "y", LG_PROSE, "d\1e", 0}};
    static const float a[] = {1, 2, 4, 8, 16}, b[] = {0, 0, 0, 0, 0};
    static const uint32_t context[5] = {0};
    static const uint8_t family[] = {0, 1, 1, 2, 0};
    static const uint64_t bits[] = {1, 6, 2, 4, 7}; /* token 1: levels 1 and 2; token 4: all three */
    static const struct {
        const char *multi;
        uint64_t tokens[3];
        double sums[3];
    } want[] = {
        {"first", {2, 2, 1}, {17, 6, 8}}, {"all", {2, 3, 3}, {17, 22, 26}}, {"drop", {1, 1, 1}, {1, 4, 8}}};
    lg_error error = {0};
    lg_dataset data;
    fixture_dataset(fixture_path("data"), documents, 2, true);
    assert_int_equal(lg_dataset_open(fixture_path("data"), &data, &error), LG_OK);
    lg_scores scores[] = {make_scores("A", a, context, 5), make_scores("B", b, context, 5)};
    lg_table_writer *w;
    size_t column[2];
    assert_int_equal(lg_table_writer_create(fixture_path("tags"), &w, &error), LG_OK);
    assert_int_equal(lg_table_writer_add(w, "family", LG_U8, 1, &column[0], &error), LG_OK);
    assert_int_equal(lg_table_writer_add(w, "family_bits", LG_U64, 1, &column[1], &error), LG_OK);
    fixture_append(w, column[0], family, 5);
    fixture_append(w, column[1], bits, 5);
    char inputs[96];
    snprintf(inputs, sizeof inputs, "{\"dataset\":\"%s\"}", lg_table_provenance(data.table)->identity);
    lg_provenance p = {.format = "tags",
                       .version = 1,
                       .inputs = inputs,
                       .settings =
                           "{\"multi\":\"all\",\"levels\":{\"family\":[\"red\",\"green\",\"blue\"]}}"};
    assert_int_equal(lg_table_writer_commit(w, &p, NULL, &error), LG_OK);
    static const char *const by[] = {"family", "domain"}, *const names[] = {"red", "green", "blue"};
    for (size_t k = 0; k < 4; k++) { /* lastly as the tags say: all */
        size_t m = k < 3 ? k : 1;
        lg_gap_options options = {
            .by = by, .n_by = 2, .multi = k < 3 ? want[k].multi : NULL, .command = "test"};
        lg_gap *gap;
        if (lg_gap_compute(&data, scores, 2, fixture_path("tags"), &options, &gap, &error))
            fail_msg("%s", error.message);
        assert_string_equal(lg_gap_get_about(gap)->multi, want[m].multi);
        assert_int_equal(lg_gap_get_about(gap)->several[0], 2);
        assert_int_equal(find(gap, "B", (const char *[]){"*", "*"})->tokens, 5);
        assert_int_equal(find(gap, "B", (const char *[]){"*", "x"})->tokens, 3);
        for (size_t f = 0; f < 3; f++) {
            const lg_gap_row *row = find(gap, "B", (const char *[]){names[f], "*"});
            assert_int_equal(row->tokens, want[m].tokens[f]);
            near(row->gap * (double)row->tokens, want[m].sums[f], 1e-12);
            const lg_gap_row *x = find(gap, "B", (const char *[]){names[f], "x"}),
                             *y = find(gap, "B", (const char *[]){names[f], "y"});
            assert_int_equal((x ? x->tokens : 0) + (y ? y->tokens : 0), row->tokens);
        }
        lg_gap_free(gap);
    }
    lg_gap_options options = {.by = by, .n_by = 1, .multi = "most", .command = "test"};
    lg_gap *gap;
    assert_int_equal(lg_gap_compute(&data, scores, 2, fixture_path("tags"), &options, &gap, &error),
                     LG_USAGE);
    lg_table_close(scores[0].table);
    lg_table_close(scores[1].table);
    lg_dataset_close(&data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference),      cmocka_unit_test(test_definition),
        cmocka_unit_test(test_constant),       cmocka_unit_test(test_document_column),
        cmocka_unit_test(test_nothing_scored), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_documents),      cmocka_unit_test(test_multi),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
