/* The ready-made views against sums over the tokens that they are about, their contrasts against the
   definition, and the bootstrap against resamples made one by one. */
#include <math.h>

#include "fixture.h"

#include "lossgap/gap.h"
#include "lossgap/report.h"
#include "stats/cluster.h"
#include "base/philox.h"

enum { DOCS = 90, MOST = 90 * 120, TAGS = 9, REPLICATES = 203 };

static const char *const classes[] = {"none", "content", "function", "other"},
                         *const reuses[] = {"first", "reuse"}, *const delimiters[] = {"none",
                                                                                      "open.round",
                                                                                      "close.round",
                                                                                      "open.square",
                                                                                      "close.square",
                                                                                      "open.math"},
                         *const tag_names[] = {"none", "nn", "vb", "jj", "at", "*", "cc", "rare", "alone"};

static lg_dataset data;
static lg_scores scores[2];
static size_t n, document[MOST];
static float nll[2][MOST];
static uint8_t class[MOST], reuse[MOST], delimiter[MOST];
static uint32_t bits[MOST], position[MOST], context[MOST];
static uint16_t copy_len[MOST], window[MOST], tag[MOST];

static uint32_t draw(uint32_t below) {
    static uint32_t at;
    uint32_t out[4];
    lg_philox((const uint32_t[4]){at++, 0, 0, 0}, 2024, out);
    return out[0] % below;
}

static void put_levels(lg_text *out, const char *name, const char *const *levels, size_t count) {
    lg_text_printf(out, "%s\"%s\":[", out->data[out->length - 1] == '{' ? "" : ",", name);
    for (size_t i = 0; i < count; i++) lg_text_printf(out, "%s\"%s\"", i ? "," : "", levels[i]);
    lg_text_puts(out, "]");
}

static void make_tags(void) {
    static const struct {
        const char *name;
        lg_dtype dtype;
        const void *values;
    } columns[] = {{"position", LG_U32, position}, {"delimiter_bits", LG_U32, bits},
                   {"copy_len", LG_U16, copy_len}, {"copy_len_window", LG_U16, window},
                   {"tag", LG_U16, tag},           {"class", LG_U8, class},
                   {"reuse", LG_U8, reuse},        {"delimiter", LG_U8, delimiter}};
    lg_error error = {0};
    lg_table_writer *w;
    size_t column[8];
    assert_int_equal(lg_table_writer_create(fixture_path("tags"), &w, &error), LG_OK);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(lg_table_writer_add(w, columns[i].name, columns[i].dtype, 1, &column[i], &error),
                         LG_OK);
    for (size_t i = 0; i < 8; i++) fixture_append(w, column[i], columns[i].values, n);
    lg_text settings = {0};
    char inputs[96];
    lg_text_puts(&settings, "{\"levels\":{");
    put_levels(&settings, "class", classes, 4);
    put_levels(&settings, "reuse", reuses, 2);
    put_levels(&settings, "delimiter", delimiters, 6);
    put_levels(&settings, "tag", tag_names, TAGS);
    lg_text_puts(&settings, "}}");
    snprintf(inputs, sizeof inputs, "{\"dataset\":\"%s\"}", lg_table_provenance(data.table)->identity);
    lg_provenance p = {.format = "tags", .version = 1, .inputs = inputs, .settings = settings.data};
    assert_int_equal(lg_table_writer_commit(w, &p, NULL, &error), LG_OK);
    lg_text_free(&settings);
}

static int setup(void **state) {
    if (fixture_setup(state)) return -1;
    static fixture_document documents[DOCS];
    static char names[DOCS][8], texts[DOCS][400];
    lg_error error = {0};
    for (size_t d = 0; d < DOCS; d++) {
        size_t tokens = 1 + draw(120), at = 0;
        float effect = (float)draw(1000) / 1000;
        snprintf(names[d], sizeof names[d], "d%zu", d);
        for (size_t i = 0; i < tokens; i++, n++) {
            if (i) texts[d][at++] = 1;
            texts[d][at++] = (char)('a' + draw(10));
            if (draw(2)) texts[d][at++] = (char)('a' + draw(26));
            document[n] = d;
            position[n] = (uint32_t)i;
            context[n] = (uint32_t)i;
            class[n] = (uint8_t)draw(4);
            reuse[n] = (uint8_t)(draw(3) > 0);
            delimiter[n] = (uint8_t)(draw(2) ? 0 : draw(6));
            bits[n] = 1u << delimiter[n] | (draw(4) ? 0 : 1u << draw(6));
            copy_len[n] = (uint16_t)(draw(8) ? draw(20) : draw(65536));
            window[n] = (uint16_t)draw(4);
            tag[n] = (uint16_t)draw(7);
            if (n % 50 == 7) tag[n] = 7;      /* 2 %: too few tokens */
            if (d == 5 && i > 10) tag[n] = 8; /* in one document */
            nll[0][n] = i ? (float)draw(1000) / 117.f + effect : NAN;
            nll[1][n] = i ? (float)draw(1000) / 117.f + (float)class[n] * 0.25f + (float)tag[n] * 0.1f : NAN;
        }
        texts[d][at] = '\0';
        documents[d] = (fixture_document){names[d], d % 3 ? "x" : "y", LG_PROSE, texts[d], 0};
    }
    fixture_dataset(fixture_path("data"), documents, DOCS, true);
    if (lg_dataset_open(fixture_path("data"), &data, &error)) return -1;
    if (data.n_tokens != n) return -1;
    for (size_t m = 0; m < 2; m++)
        scores[m] = (lg_scores){.table = data.table,
                                .model_name = m ? "B" : "A",
                                .n_tokens = n,
                                .nll = nll[m],
                                .context = context};
    make_tags();
    return 0;
}

static int teardown(void **state) {
    lg_dataset_close(&data);
    return fixture_teardown(state);
}

static lg_gap *compute(const char *view, size_t bootstrap, unsigned threads) {
    lg_error error = {0};
    lg_gap_options options = {.view = view,
                              .bootstrap = bootstrap,
                              .seed = 11,
                              .threads = threads,
                              .multi = "first",
                              .command = "test"};
    lg_gap *gap;
    if (lg_gap_compute(&data, scores, 2, fixture_path("tags"), &options, &gap, &error))
        fail_msg("%s", error.message);
    return gap;
}

static void near(const char *what, double value, double expected, double tolerance) {
    if (isnan(expected) ? !isnan(value) : !(fabs(value - expected) <= tolerance))
        fail_msg("%s: %.17g, not %.17g", what, value, expected);
}

static size_t by_of(const lg_gap *gap, const char *name) {
    for (size_t b = 0; b < lg_gap_n_by(gap); b++)
        if (strcmp(lg_gap_by(gap, b), name) == 0) return b;
    fail_msg("no column %s", name);
    return 0;
}

/* ---- tokens of a set ---- */

static bool set[MOST];
static bool in_domain(size_t i, const char *name) {
    return strcmp(name, "*") == 0 || strcmp(name, document[i] % 3 ? "x" : "y") == 0;
}

/* Per document: how many of the set, and the sum of their gaps. */
typedef struct share {
    long double sum[DOCS], size[DOCS], total, tokens;
} share;

static share share_of_set(void) {
    share s = {.total = 0};
    for (size_t i = 0; i < n; i++) {
        if (!set[i] || isnan(nll[0][i])) continue;
        long double gap = (long double)nll[0][i] - nll[1][i];
        s.sum[document[i]] += gap;
        s.size[document[i]]++;
        s.total += gap;
        s.tokens++;
    }
    return s;
}

/* sum of c_k mean_k with its error by the definition. */
static void check_contrast(const lg_gap_contrast *row, const share *s, const long double *c, size_t k) {
    long double estimate = 0, squares = 0, documents = 0, tokens = 0;
    for (size_t i = 0; i < k; i++) {
        estimate += c[i] * s[i].total / s[i].tokens;
        tokens += s[i].tokens;
    }
    for (size_t d = 0; d < DOCS; d++) {
        long double score = 0, here = 0;
        for (size_t i = 0; i < k; i++) {
            score += c[i] * (s[i].sum[d] - s[i].total / s[i].tokens * s[i].size[d]) / s[i].tokens;
            here += s[i].size[d];
        }
        documents += here > 0;
        squares += score * score;
    }
    long double se = sqrtl(documents / (documents - 1) * (tokens - 1) / (tokens - (long double)k) * squares);
    near("estimate", row->estimate, (double)estimate, 1e-12);
    near("tokens", (double)row->tokens, (double)tokens, 0);
    near("documents", (double)row->documents, (double)documents, 0);
    near("se", row->se, (double)se, 1e-12);
    near("low", row->low, (double)(estimate - lg_t_quantile(0.975, (double)documents - 1) * se), 1e-11);
    near("p", row->p, 2 * lg_t_cdf(-fabs((double)(estimate / se)), (double)documents - 1), 1e-11);
    near("mde", row->mde,
         (lg_t_quantile(0.975, (double)documents - 1) + lg_t_quantile(0.8, (double)documents - 1)) *
             (double)se,
         1e-11);
    if (!row->replicates) return;
    size_t population[DOCS], count = 0; /* documents with a loss: all but those of one token */
    for (size_t d = 0; d < DOCS; d++)
        if (data.doc_token_end[d] - lg_begin_of(data.doc_token_end, d) > 1) population[count++] = d;
    lg_bootstrap b = {population, count, DOCS, REPLICATES, 11, 1};
    double values[REPLICATES], weights[DOCS] = {0};
    for (size_t r = 0; r < REPLICATES; r++) {
        values[r] = 0;
        lg_bootstrap_draw(&b, r, weights, 1);
        for (size_t i = 0; i < k; i++) {
            long double sum = 0, size = 0;
            for (size_t d = 0; d < DOCS; d++) {
                sum += weights[d] * s[i].sum[d];
                size += weights[d] * s[i].size[d];
            }
            values[r] += (double)(c[i] * sum / size);
        }
    }
    lg_bootstrap_interval interval = lg_bootstrap_percentile(values, REPLICATES);
    near("resamples", (double)row->replicates, (double)interval.used, 0);
    near("low of resamples", row->bootstrap_low, interval.low, 1e-12);
    near("high of resamples", row->bootstrap_high, interval.high, 1e-12);
}

static void test_content(void **state) {
    (void)state;
    lg_gap *gap = compute("content", REPLICATES, 2);
    size_t b_class = by_of(gap, "class"), b_domain = by_of(gap, "domain");
    assert_int_equal(lg_gap_n_contrasts(gap), 3);
    for (size_t i = 0; i < 3; i++) {
        const lg_gap_contrast *row = lg_gap_contrast_at(gap, i);
        assert_string_equal(row->level[b_class], "content - function");
        share s[2];
        for (uint8_t k = 0; k < 2; k++) {
            for (size_t t = 0; t < n; t++) set[t] = class[t] == k + 1 && in_domain(t, row->level[b_domain]);
            s[k] = share_of_set();
        }
        check_contrast(row, s, (const long double[]){1, -1}, 2);
        near("first", row->first, (double)(s[0].total / s[0].tokens), 1e-12);
        near("ratio", row->ratio, row->first / row->second, 1e-12);
        assert_int_equal(row->replicates, REPLICATES);
    }
    lg_gap_free(gap);
}

static void test_reuse(void **state) {
    (void)state;
    lg_gap *gap = compute("reuse", REPLICATES, 1);
    size_t b_class = by_of(gap, "class"), b_reuse = by_of(gap, "reuse"), b_domain = by_of(gap, "domain"),
           differences = 0, mixes = 0;
    for (size_t i = 0; i < lg_gap_n_contrasts(gap); i++) {
        const lg_gap_contrast *row = lg_gap_contrast_at(gap, i);
        const char *of_class = row->level[b_class], *of_reuse = row->level[b_reuse],
                   *domain = row->level[b_domain];
        bool mix = strcmp(of_reuse, "equal mix") == 0, by_class = row->column == b_class;
        share s[4];
        size_t k = mix ? 4 : 2;
        for (size_t j = 0; j < k; j++) {
            for (size_t t = 0; t < n; t++) {
                bool in = in_domain(t, domain);
                if (mix || by_class) in = in && class[t] == (j % 2 ? 2 : 1);
                else
                    in = in && reuse[t] == j &&
                         (of_class[0] == '*' || strcmp(of_class, classes[class[t]]) == 0);
                if (mix) in = in && reuse[t] == j / 2;
                else if (by_class) in = in && (of_reuse[0] == '*' || strcmp(of_reuse, reuses[reuse[t]]) == 0);
                set[t] = in;
            }
            s[j] = share_of_set();
        }
        long double all = 0, c[4] = {1, -1};
        for (size_t j = 0; j < k && mix; j++) all += s[j].tokens;
        for (size_t j = 0; j < k && mix; j++)
            c[j] = (j % 2 ? -1 : 1) * (s[j / 2 * 2].tokens + s[j / 2 * 2 + 1].tokens) / all;
        check_contrast(row, s, c, k);
        differences += !mix;
        mixes += mix;
    }
    assert_int_equal(mixes, 1 + 2);                                   /* in all, and by domain */
    assert_int_equal(differences, (1 + 2 + 2 * 2) + (1 + 4 + 2 * 4)); /* content - function; first - reuse */
    lg_gap_free(gap);
}

static void test_delimiters(void **state) {
    (void)state;
    lg_gap *gap = compute("delimiters", 0, 1);
    size_t b_side = by_of(gap, "side"), b_kind = by_of(gap, "delimiter"), b_domain = by_of(gap, "domain"),
           sides = 0, kinds = 0;
    for (size_t i = 0; i < lg_gap_n_contrasts(gap); i++) {
        const lg_gap_contrast *row = lg_gap_contrast_at(gap, i);
        share s[2];
        for (size_t j = 0; j < 2; j++) {
            for (size_t t = 0; t < n; t++) {
                const char *name = delimiters[delimiter[t]];
                bool side = strncmp(name, j ? "close." : "open.", j ? 6 : 5) == 0;
                bool round = strstr(name, "round") != NULL;
                set[t] = side && in_domain(t, row->level[b_domain]);
                if (row->column == b_kind)
                    set[t] =
                        set[t] && (strstr(row->level[b_kind], "round") ? round : !round && delimiter[t] < 5);
            }
            s[j] = share_of_set();
        }
        check_contrast(row, s, (const long double[]){1, -1}, 2);
        assert_true(isnan(row->bootstrap_low));
        sides += row->column == b_side;
        kinds += row->column == b_kind;
    }
    assert_int_equal(sides, 3);
    assert_int_equal(kinds, 2 * 3); /* close.math is no level: nothing to compare */
    lg_gap_free(gap);
}

static void test_copies(void **state) {
    (void)state;
    lg_gap *gap = compute("copies", 0, 1);
    size_t seen = 0;
    assert_int_equal(lg_gap_n_contrasts(gap), 0);
    for (size_t i = 0; i < lg_gap_n_rows(gap); i++) {
        const lg_gap_row *row = lg_gap_at(gap, i);
        size_t b = row->grouping == 1 ? 0 : 1;
        const uint16_t *values = b ? window : copy_len;
        if (!row->grouping) continue;
        assert_string_equal(lg_gap_by(gap, b), b ? "copy_len_window" : "copy_len");
        const char *level = row->level[b];
        unsigned from = (unsigned)strtoul(level + (level[0] == '>' ? 2 : 1), NULL, 10);
        bool open = level[0] == '>' || strchr(level, '+');
        for (size_t t = 0; t < n; t++) set[t] = open ? values[t] >= from : values[t] == from;
        share s = share_of_set();
        near(level, row->gap, (double)(s.total / s.tokens), 1e-12);
        near(level, (double)row->tokens, (double)s.tokens, 0);
        seen++;
    }
    assert_int_equal(seen, 34 + 4 + 3); /* the window has 0 to 3 */
    lg_gap_free(gap);
}

static void test_position(void **state) {
    (void)state;
    lg_gap *gap = compute("position", 0, 1);
    size_t b = by_of(gap, "position");
    for (size_t i = 0; i < lg_gap_n_rows(gap); i++) {
        const lg_gap_row *row = lg_gap_at(gap, i);
        if (row->grouping != 1u << b) continue;
        unsigned low, high;
        if (sscanf(row->level[b], "%u-%u", &low, &high) == 1) high = low;
        for (size_t t = 0; t < n; t++) set[t] = low <= position[t] && position[t] <= high;
        near(row->level[b], (double)row->tokens, (double)share_of_set().tokens, 0);
    }
    lg_gap_free(gap);
}

static size_t vocabulary_of_set(void) {
    static bool seen[50000];
    size_t count = 0;
    memset(seen, 0, sizeof seen);
    for (size_t i = 0; i < n; i++) {
        if (!set[i] || isnan(nll[0][i])) continue;
        count += !seen[data.token_id[i]];
        seen[data.token_id[i]] = true;
    }
    return count;
}

static void test_vocabulary(void **state) {
    (void)state;
    lg_gap *gap = compute("vocabulary", REPLICATES, 2);
    size_t b_tag = by_of(gap, "tag"), b_domain = by_of(gap, "domain"), stars = 0;
    for (size_t i = 0; i < lg_gap_n_rows(gap); i++) {
        const lg_gap_row *row = lg_gap_at(gap, i);
        for (size_t t = 0; t < n; t++)
            set[t] = in_domain(t, row->level[b_domain]) &&
                     (row->level[b_tag][0] == '*' ||
                      strcmp(row->level[b_tag], tag[t] == 5 ? "'*'" : tag_names[tag[t]]) == 0);
        stars += strcmp(row->level[b_tag], "'*'") == 0; /* a tag of that name is not all of them */
        assert_int_equal(row->vocabulary, vocabulary_of_set());
    }
    assert_int_equal(stars, 3);
    assert_int_equal(lg_gap_n_contrasts(gap), 3);
    for (size_t i = 0; i < 3; i++) {
        const lg_gap_contrast *row = lg_gap_contrast_at(gap, i);
        assert_true(row->slope);
        static share s[TAGS];
        long double x[TAGS], c[TAGS], w = 0, mean = 0, y = 0, squares = 0, slope = 0, rest = 0;
        size_t k = 0;
        for (size_t level = 1; level < TAGS; level++) { /* not "none" */
            for (size_t t = 0; t < n; t++) set[t] = tag[t] == level && in_domain(t, row->level[b_domain]);
            s[k] = share_of_set();
            size_t documents = 0;
            for (size_t d = 0; d < DOCS; d++) documents += s[k].size[d] > 0;
            if (s[k].tokens < 200 || documents < 20) continue;
            x[k] = logl((long double)vocabulary_of_set());
            w += s[k].tokens;
            mean += s[k].tokens * x[k];
            y += s[k].total;
            k++;
        }
        assert_int_equal(row->levels, k >= 3 ? k : 0);
        if (k < 3) {
            assert_true(isnan(row->estimate) && row->note);
            continue;
        }
        mean /= w;
        y /= w;
        for (size_t j = 0; j < k; j++) squares += s[j].tokens * (x[j] - mean) * (x[j] - mean);
        for (size_t j = 0; j < k; j++) {
            c[j] = s[j].tokens * (x[j] - mean) / squares;
            slope += c[j] * s[j].total / s[j].tokens;
        }
        check_contrast(row, s, c, k);
        for (size_t j = 0; j < k; j++) {
            long double off = s[j].total / s[j].tokens - y - slope * (x[j] - mean);
            rest += s[j].tokens * off * off;
        }
        long double se = sqrtl(rest / (long double)(k - 2) / squares);
        near("se of tags", row->se_levels, (double)se, 1e-12);
        near("high of tags", row->high_levels, (double)(slope + lg_t_quantile(0.975, (double)k - 2) * se),
             1e-11);
    }
    assert_true(lg_gap_contrast_at(gap, 0)->levels >= 5);
    lg_gap_free(gap);
}

/* Whole documents, to the last bit, for one and several threads; what they hold. */
static void test_threads(void **state) {
    (void)state;
    lg_error error = {0};
    for (size_t i = 0; lg_gap_view_at(i); i++) {
        char *texts[3];
        size_t length;
        for (unsigned threads = 1; threads <= 3; threads++) {
            lg_gap *gap = compute(lg_gap_view_at(i)->name, 100, threads);
            assert_int_equal(lg_gap_json(gap, &texts[threads - 1], &length, &error), LG_OK);
            if (threads == 1) {
                char *text;
                assert_int_equal(lg_gap_contrasts_csv(gap, &text, &length, &error), LG_OK);
                assert_null(strstr(text, "nan"));
                free(text);
                lg_table_style style = {.full = true};
                assert_int_equal(lg_gap_table(gap, &style, &text, &length, &error), LG_OK);
                assert_null(strstr(text, "nan"));
                assert_non_null(strstr(text, "bootstrap"));
                free(text);
            }
            lg_gap_free(gap);
        }
        assert_string_equal(texts[0], texts[1]);
        assert_string_equal(texts[0], texts[2]);
        assert_null(strstr(texts[0], ":nan"));
        assert_null(strstr(texts[0], ":-nan"));
        assert_non_null(strstr(texts[0], "\"contrasts\":["));
        for (size_t t = 0; t < 3; t++) free(texts[t]);
    }
}

/* The bootstrap of a plain gap goes in batches; the total's interval is that of the definition. */
static void test_bootstrap(void **state) {
    (void)state;
    lg_error error = {0};
    static const char *const by[] = {"class", "document"};
    lg_gap_options options = {.by = by,
                              .n_by = 2,
                              .bootstrap = REPLICATES,
                              .seed = 11,
                              .threads = 2,
                              .multi = "first",
                              .command = "test"};
    lg_gap *gap;
    if (lg_gap_compute(&data, scores, 2, fixture_path("tags"), &options, &gap, &error))
        fail_msg("%s", error.message);
    for (size_t t = 0; t < n; t++) set[t] = true;
    share all = share_of_set();
    lg_gap_contrast like = {0};
    const lg_gap_row *row = lg_gap_at(gap, 0);
    like = (lg_gap_contrast){.tokens = row->tokens,
                             .documents = row->documents,
                             .estimate = row->gap,
                             .se = row->se,
                             .low = row->low,
                             .p = row->p,
                             .mde = row->mde,
                             .bootstrap_low = row->bootstrap_low,
                             .bootstrap_high = row->bootstrap_high,
                             .replicates = row->replicates};
    check_contrast(&like, &all, (const long double[]){1}, 1);
    for (size_t i = 0; i < lg_gap_n_rows(gap); i++) {
        row = lg_gap_at(gap, i);
        assert_true(row->documents > 1 ? row->bootstrap_low <= row->bootstrap_high && row->replicates > 0
                                       : isnan(row->bootstrap_low) && !row->replicates && row->note != NULL);
        if (row->documents > 1) assert_true(row->p_bh >= row->p);
    }
    lg_gap_free(gap);
}

static void test_refusals(void **state) {
    (void)state;
    static const char *const by[] = {"class"};
    lg_error error = {0};
    lg_gap *gap;
    lg_gap_options options = {.view = "weather"};
    assert_int_equal(lg_gap_compute(&data, scores, 2, fixture_path("tags"), &options, &gap, &error),
                     LG_USAGE);
    assert_non_null(strstr(error.message, "content, delimiters, copies, vocabulary, position, reuse"));
    options = (lg_gap_options){.view = "content", .by = by, .n_by = 1};
    assert_int_equal(lg_gap_compute(&data, scores, 2, fixture_path("tags"), &options, &gap, &error),
                     LG_USAGE);
    options = (lg_gap_options){.view = "content"};
    assert_int_equal(lg_gap_compute(&data, scores, 2, NULL, &options, &gap, &error), LG_USAGE);
    assert_non_null(strstr(error.message, "--tags"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_content), cmocka_unit_test(test_reuse),     cmocka_unit_test(test_delimiters),
        cmocka_unit_test(test_copies),  cmocka_unit_test(test_position),  cmocka_unit_test(test_vocabulary),
        cmocka_unit_test(test_threads), cmocka_unit_test(test_bootstrap), cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
