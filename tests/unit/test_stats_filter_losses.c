/* Filtered losses against direct sums over the score files, the textbook's formulas for their errors, and
   masks that are written and read again. */
#include "filter_fixture.h"

#include "lossgap/gap.h"
#include "lossgap/report.h"
#include "lossgap/table.h"

static const lg_filter_options everything = {
    .pair = scores, .hard = &scores[2], .threads = 2, .command = "x"};
static lg_filters *filters;

static int setup(void **state) {
    if (fixture_setup(state)) return -1;
    filter_open(FILTER_DOCS, 150, true);
    filters = filter_make(&everything, tags_path);
    return 0;
}

static int teardown(void **state) {
    lg_filters_close(filters);
    filter_close();
    return fixture_teardown(state);
}

static bool close_to(double a, double b) {
    return isnan(b) ? isnan(a) : fabs(a - b) <= 1e-12 * fmax(1, fabs(b));
}

/* A score file without the library: the array `nll` of the safetensors at PATH. */
static float *read_nll(const char *path, size_t n) {
    FILE *file = fopen(path, "rb");
    uint64_t header;
    unsigned long long begin, end;
    assert_non_null(file);
    assert_int_equal(fread(&header, sizeof header, 1, file), 1);
    char *json = calloc(header + 1, 1);
    assert_int_equal(fread(json, 1, header, file), header);
    const char *at = strstr(json, "\"nll\":");
    assert_non_null(at = at ? strstr(at, "\"data_offsets\":[") : NULL);
    assert_int_equal(sscanf(at, "\"data_offsets\":[%llu,%llu]", &begin, &end), 2);
    assert_int_equal(end - begin, n * sizeof(float));
    float *nll = malloc(n * sizeof *nll + 1);
    fseek(file, (long)(8 + header + begin), SEEK_SET);
    assert_int_equal(fread(nll, sizeof *nll, n, file), n);
    fclose(file);
    free(json);
    return nll;
}

/* Mean, and error with documents as clusters (CR1), of VALUES over MASK: sum of values / sum of weights,
   where weights are 1, or bytes. */
static void textbook(const double *values, const uint8_t *mask, bool bytes, double *mean, double *se,
                     uint64_t *tokens, uint64_t *documents) {
    double sum = 0, weight = 0, squares = 0;
    *tokens = *documents = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t d = 0; d < data.n_docs; d++) {
            double of_doc = 0, weight_of_doc = 0;
            uint64_t n = 0;
            for (size_t i = (size_t)lg_begin_of(data.doc_token_end, d); i < data.doc_token_end[d]; i++) {
                if (!mask[i] || isnan(values[i])) continue;
                of_doc += values[i];
                weight_of_doc += bytes ? (double)(data.token_end[i] - lg_token_begin(&data, d, i)) : 1;
                n++;
            }
            if (pass) {
                squares += pow(of_doc - sum / weight * weight_of_doc, 2);
                continue;
            }
            sum += of_doc;
            weight += weight_of_doc;
            *tokens += n;
            *documents += n > 0;
        }
    double g = (double)*documents;
    *mean = *tokens ? sum / weight : (double)NAN;
    *se = g > 1 ? sqrt(g / (g - 1) * squares) / weight : (double)NAN;
}

static void against_sums(void **state) {
    (void)state;
    lg_error error = {0};
    lg_filtered_loss *losses;
    static const char *const models[] = {"a", "b", "hard"};
    float *nll[FILTER_MODELS];
    double *values = malloc(data.n_tokens * sizeof *values);
    for (size_t m = 0; m < FILTER_MODELS; m++) nll[m] = read_nll(fixture_path(models[m]), data.n_tokens);
    assert_int_equal(lg_filtered_losses(&data, scores, FILTER_MODELS, filters, &losses, &error), LG_OK);
    for (size_t m = 0; m < FILTER_MODELS; m++)
        for (size_t k = 0; k < lg_filters_n(filters); k++) {
            const lg_filter *f = lg_filters_at(filters, k);
            const lg_filtered_loss *l = &losses[m * lg_filters_n(filters) + k];
            double mean, se;
            uint64_t tokens, documents;
            for (size_t i = 0; i < data.n_tokens; i++) values[i] = (double)nll[m][i];
            textbook(values, f->mask, false, &mean, &se, &tokens, &documents);
            double t = lg_t_quantile(0.975, (double)documents - 1);
            assert_true(tokens > 0);
            assert_int_equal(l->tokens, tokens);
            assert_int_equal(l->documents, documents);
            assert_int_equal(l->tokens + l->unscorable, f->tokens);
            assert_true(close_to(l->loss, mean) && close_to(l->se, se));
            assert_true(close_to(l->low, mean - t * se) && close_to(l->high, mean + t * se));
            assert_true(l->df == (double)documents - 1);
            textbook(values, f->mask, true, &mean, &se, &tokens, &documents);
            mean /= log(2), se /= log(2);
            assert_true(close_to(l->bits_per_byte, mean) && close_to(l->bits_se, se));
            assert_true(close_to(l->bits_low, mean - t * se) && close_to(l->bits_high, mean + t * se));
            assert_null(l->note);
            for (size_t i = 0; i < data.n_tokens; i++)
                values[i] = m ? (double)nll[0][i] - (double)nll[m][i] : (double)NAN;
            textbook(values, f->mask, false, &mean, &se, &tokens, &documents);
            assert_true(close_to(l->gap, mean) && close_to(l->gap_se, se));
            assert_true(close_to(l->gap_low, m ? mean - t * se : NAN));
            assert_true(close_to(l->gap_high, m ? mean + t * se : NAN));
            textbook(values, f->mask, true, &mean, &se, &tokens, &documents);
            mean /= log(2), se /= log(2);
            assert_true(close_to(l->gap_bits_per_byte, mean) && close_to(l->gap_bits_se, se));
            assert_true(close_to(l->gap_bits_low, m ? mean - t * se : NAN));
            assert_true(close_to(l->gap_bits_high, m ? mean + t * se : NAN));
        }
    for (size_t m = 0; m < FILTER_MODELS; m++) free(nll[m]);
    free(losses);
    free(values);
}

/* The gap over a filter is that of `lossgap gap --where` with its expression. */
static void agrees_with_the_gap(void **state) {
    (void)state;
    static const char *const names[] = {"content", "copy5", "close", "state"};
    lg_error error = {0};
    lg_filtered_loss *losses;
    assert_int_equal(lg_filtered_losses(&data, scores, 2, filters, &losses, &error), LG_OK);
    for (size_t k = 0; k < lg_filters_n(filters); k++)
        for (size_t w = 0; w < 4; w++) {
            const lg_filter *f = lg_filters_at(filters, k);
            const lg_filtered_loss *l = &losses[lg_filters_n(filters) + k];
            if (strcmp(f->name, names[w]) != 0) continue;
            static const char *const by[] = {"domain"};
            lg_gap_options options = {.by = by, .n_by = 1, .where = f->expression};
            lg_gap *gap;
            if (lg_gap_compute(&data, scores, 2, tags_path, &options, &gap, &error))
                fail_msg("%s", error.message);
            const lg_gap_row *row = lg_gap_at(gap, 0);
            assert_int_equal(row->tokens, l->tokens);
            assert_true(close_to(l->gap, row->gap) && close_to(l->gap_low, row->low) &&
                        close_to(l->loss, row->loss_b) && close_to(l->bits_per_byte, row->bits_per_byte_b));
            lg_gap_free(gap);
        }
    free(losses);
}

static void any_threads(void **state) {
    (void)state;
    lg_error error = {0};
    lg_filtered_loss *losses, *others;
    assert_int_equal(lg_filtered_losses(&data, scores, 3, filters, &losses, &error), LG_OK);
    for (unsigned threads = 1; threads < 8; threads += 3) {
        lg_filter_options options = everything;
        options.threads = threads;
        lg_filters *f = filter_make(&options, tags_path);
        assert_int_equal(lg_filtered_losses(&data, scores, 3, f, &others, &error), LG_OK);
        for (size_t i = 0; i < 3 * lg_filters_n(f); i++) {
            const lg_filtered_loss *x = &losses[i], *y = &others[i];
            assert_memory_equal(&x->loss, &y->loss,
                                (size_t)((const char *)&x->note - (const char *)&x->loss));
            assert_int_equal(x->tokens, y->tokens);
        }
        free(others);
        lg_filters_close(f);
    }
    free(losses);
}

/* ---- masks ---- */

static void masks_again(void **state) {
    (void)state;
    lg_error error = {0};
    lg_filters *f;
    lg_table *table;
    char path[128];
    const void *values;
    snprintf(path, sizeof path, "%s", fixture_path("masks"));
    if (lg_filters_write(filters, path, &error)) fail_msg("%s", error.message);
    assert_int_equal(lg_table_open(path, "masks", &table, &error), LG_OK);
    assert_int_equal(lg_table_verify(table, &error), LG_OK);
    assert_int_equal(lg_table_n_columns(table), lg_filters_n(filters) + 3);
    assert_int_equal(lg_table_column(table, "token_id", LG_U32, data.n_tokens, &values, &error), LG_OK);
    assert_memory_equal(values, data.token_id, data.n_tokens * sizeof *data.token_id);
    assert_int_equal(lg_table_column(table, "token_end", LG_U64, data.n_tokens, &values, &error), LG_OK);
    assert_memory_equal(values, data.token_end, data.n_tokens * sizeof *data.token_end);
    assert_int_equal(lg_table_column(table, "doc_token_end", LG_U64, data.n_docs, &values, &error), LG_OK);
    assert_memory_equal(values, data.doc_token_end, data.n_docs * sizeof *data.doc_token_end);
    const lg_provenance *p = lg_table_provenance(table);
    const char *const inputs[] = {
        lg_table_provenance(data.table)->identity, lg_table_provenance(scores[0].table)->identity,
        lg_table_provenance(scores[1].table)->identity, lg_table_provenance(scores[2].table)->identity};
    for (size_t i = 0; i < 4; i++) assert_non_null(strstr(p->inputs, inputs[i]));
    assert_non_null(strstr(p->settings, "{\"name\":\"copy5\",\"expression\":\"copy_len >= 5\""));
    assert_non_null(strstr(p->settings, "\"state\":{\"chosen\":"));
    lg_table_close(table);

    if (lg_masks_open(path, &data, &f, &error)) fail_msg("%s", error.message);
    assert_int_equal(lg_filters_n(f), lg_filters_n(filters));
    for (size_t k = 0; k < lg_filters_n(f); k++) {
        const lg_filter *x = lg_filters_at(f, k), *y = lg_filters_at(filters, k);
        assert_string_equal(x->name, y->name);
        assert_string_equal(x->expression, y->expression);
        assert_memory_equal(x->mask, y->mask, data.n_tokens);
        assert_true(x->tokens == y->tokens && x->documents == y->documents && x->bytes == y->bytes &&
                    x->unknown == y->unknown);
        assert_true(!x->note == !y->note && (!x->note || strcmp(x->note, y->note) == 0));
    }
    assert_string_equal(lg_filters_inputs(f), lg_filters_inputs(filters));
    assert_string_equal(lg_filters_settings(f), lg_filters_settings(filters));
    lg_filtered_loss *losses, *others;
    assert_int_equal(lg_filtered_losses(&data, scores, 1, filters, &losses, &error), LG_OK);
    assert_int_equal(lg_filtered_losses(&data, scores, 1, f, &others, &error), LG_OK);
    for (size_t k = 0; k < lg_filters_n(f); k++) assert_true(losses[k].loss == others[k].loss);
    free(losses);
    free(others);
    lg_filters_close(f);

    /* nothing but masks is replaced */
    assert_int_equal(lg_filters_write(filters, fixture_path("data"), &error), LG_BAD_INPUT);
}

/* A table of masks with ids IDS, ends ENDS and a mask M of VALUES; SETTINGS of its own. */
static void write_masks(const char *path, const uint32_t *ids, const uint64_t *ends, size_t n_docs,
                        const uint8_t *values, size_t n, const char *settings) {
    lg_error error = {0};
    lg_table_writer *w;
    size_t column;
    assert_int_equal(lg_table_writer_create(path, &w, &error), LG_OK);
    assert_int_equal(lg_table_writer_add(w, "doc_token_end", LG_U64, 1, &column, &error), LG_OK);
    fixture_append(w, column, ends, n_docs);
    assert_int_equal(lg_table_writer_add(w, "token_id", LG_U32, 1, &column, &error), LG_OK);
    fixture_append(w, column, ids, n);
    assert_int_equal(lg_table_writer_add(w, "m", LG_U8, 1, &column, &error), LG_OK);
    fixture_append(w, column, values, n);
    lg_provenance p = {.format = "masks", .version = 1, .settings = settings};
    assert_int_equal(lg_table_writer_commit(w, &p, NULL, &error), LG_OK);
}

static void refuses(const char *path, const char *message) {
    lg_error error = {0};
    lg_filters *f;
    assert_int_equal(lg_masks_open(path, &data, &f, &error), LG_BAD_INPUT);
    assert_null(f);
    if (!strstr(error.message, message) || !strstr(error.message, path)) fail_msg("%s", error.message);
}

static void broken_masks(void **state) {
    (void)state;
    static const char good[] = "{\"filters\":[{\"name\":\"m\",\"expression\":\"1 = 1\"}]}";
    size_t n = data.n_tokens;
    lg_error error = {0};
    lg_filters *f;
    uint32_t *ids = malloc(n * sizeof *ids);
    uint64_t *ends = malloc(data.n_docs * sizeof *ends);
    uint8_t *values = calloc(n, 1);
    char path[128];
    snprintf(path, sizeof path, "%s", fixture_path("broken"));
    memcpy(ids, data.token_id, n * sizeof *ids);
    memcpy(ends, data.doc_token_end, data.n_docs * sizeof *ends);
    write_masks(path, ids, ends, data.n_docs, values, n, good);
    if (lg_masks_open(path, &data, &f, &error)) fail_msg("%s", error.message);
    assert_int_equal(lg_filters_at(f, 0)->tokens, 0);
    lg_filters_close(f);

    ids[17]++;
    write_masks(path, ids, ends, data.n_docs, values, n, good);
    refuses(path, "another dataset");
    refuses(path, "token 17 has id");
    ids[17]--;
    ends[3]++;
    write_masks(path, ids, ends, data.n_docs, values, n, good);
    refuses(path, "its documents end elsewhere");
    ends[3]--;
    write_masks(path, ids, ends, data.n_docs, values, n - 1, good);
    refuses(path, "holds masks of");
    values[5] = 2;
    write_masks(path, ids, ends, data.n_docs, values, n, good);
    refuses(path, "mask 'm' holds 2 for token 5, not 0 or 1");
    values[5] = 1;
    write_masks(path, ids, ends, data.n_docs, values, n,
                "{\"filters\":[{\"name\":\"x\",\"expression\":\"1\"}]}");
    refuses(path, "no column \"x\"");
    write_masks(path, ids, ends, data.n_docs, values, n,
                "{\"filters\":[{\"name\":\"token_id\",\"expression\":\"\"}]}");
    refuses(path, "token_id");
    write_masks(path, ids, ends, data.n_docs, values, n, "{\"filters\":[{\"name\":3,\"expression\":\"1\"}]}");
    refuses(path, "filter 0 of its settings");
    write_masks(path, ids, ends, data.n_docs, values, n, "{\"filters\":3}");
    refuses(path, "its settings name no filters");
    refuses(fixture_path("data"), "masks");
    free(ids);
    free(ends);
    free(values);
}

/* ---- degenerate cases ---- */

static void nothing_and_one(void **state) {
    (void)state;
    lg_error error = {0};
    lg_filtered_loss *losses;
    char path[128];
    snprintf(path, sizeof path, "%s", fixture_path("f.txt"));
    filter_write_file(
        path, "nowhere = 1 = 2\nfirst = doc = 0\nheads = position = 0\nhead = id = id and doc = 1 and "
              "position = 0\n");
    static const char *const only[] = {"nowhere", "first", "heads", "head", NULL};
    lg_filter_options options = {.file = path, .only = only};
    lg_filters *f = filter_make(&options, NULL);
    assert_int_equal(lg_filtered_losses(&data, scores, 2, f, &losses, &error), LG_OK);
    const lg_filtered_loss *nowhere = &losses[4], *first = &losses[5], *heads = &losses[6];
    assert_true(nowhere->tokens == 0 && nowhere->documents == 0 && nowhere->unscorable == 0);
    assert_true(isnan(nowhere->loss) && isnan(nowhere->se) && isnan(nowhere->gap) &&
                isnan(nowhere->bits_per_byte));
    assert_string_equal(nowhere->note, "the filter holds nowhere");
    assert_int_equal(first->documents, 1);
    assert_true(!isnan(first->loss) && !isnan(first->gap) && isnan(first->se) && isnan(first->low) &&
                isnan(first->gap_high) && isnan(first->bits_low) && !isnan(first->bits_per_byte));
    assert_string_equal(first->note, "one document: no interval");
    assert_int_equal(heads->unscorable, FILTER_DOCS);
    assert_int_equal(heads->tokens, 0);
    assert_true(isnan(heads->loss));
    assert_string_equal(heads->note, "no token of the filter has a loss");

    char *json, *table;
    size_t length;
    lg_table_style style = {0};
    assert_int_equal(lg_filtered_json(f, scores, 2, losses, &json, &length, &error), LG_OK);
    assert_null(strstr(json, ":nan"));
    assert_non_null(strstr(json,
                           "\"filter\":\"nowhere\",\"tokens\":0,\"documents\":0,\"bytes\":0,\"unscorable\":0,"
                           "\"loss\":null,\"se\":null"));
    assert_int_equal(lg_filtered_table(f, scores, 2, losses, &style, &table, &length, &error), LG_OK);
    assert_null(strstr(table, " nan"));
    free(json);
    free(table);
    free(losses);
    lg_filters_close(f);
}

static void refused_scores(void **state) {
    (void)state;
    lg_error error = {0};
    lg_filtered_loss *losses;
    lg_scores other[2] = {scores[0], scores[1]};
    float *nll = malloc(data.n_tokens * sizeof *nll);
    memcpy(nll, scores[1].nll, data.n_tokens * sizeof *nll);
    other[1].nll = nll;
    nll[9] = NAN;
    assert_int_equal(lg_filtered_losses(&data, other, 2, filters, &losses, &error), LG_BAD_INPUT);
    assert_null(losses);
    assert_non_null(strstr(error.message, "token 9 of document 'doc0.txt'"));
    nll[9] = INFINITY;
    assert_int_equal(lg_filtered_losses(&data, other, 2, filters, &losses, &error), LG_BAD_INPUT);
    assert_non_null(strstr(error.message, "infinite loss"));
    lg_filters *f;
    lg_filter_options options = {.pair = other};
    assert_int_equal(lg_filters_open(&data, tags_path, &options, &f, &error), LG_BAD_INPUT);
    options = (lg_filter_options){.hard = &other[1]};
    assert_int_equal(lg_filters_open(&data, tags_path, &options, &f, &error), LG_BAD_INPUT);
    free(nll);
}

/* Losses that are all the same have no spread, not even that of rounding. */
static void constant(void **state) {
    (void)state;
    lg_error error = {0};
    lg_filtered_loss *losses;
    lg_scores same[2] = {scores[0], scores[1]};
    float *nll = malloc(data.n_tokens * sizeof *nll), *less = malloc(data.n_tokens * sizeof *less);
    for (size_t i = 0; i < data.n_tokens; i++) nll[i] = 0.1f, less[i] = 0.3f;
    same[0].nll = nll;
    same[1].nll = less;
    assert_int_equal(lg_filtered_losses(&data, same, 2, filters, &losses, &error), LG_OK);
    for (size_t i = 0; i < 2 * lg_filters_n(filters); i++) assert_true(losses[i].se == 0);
    for (size_t i = lg_filters_n(filters); i < 2 * lg_filters_n(filters); i++)
        assert_true(losses[i].gap_se == 0 && losses[i].gap < 0);
    free(losses);
    free(nll);
    free(less);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_sums),   cmocka_unit_test(agrees_with_the_gap),
        cmocka_unit_test(any_threads),    cmocka_unit_test(masks_again),
        cmocka_unit_test(broken_masks),   cmocka_unit_test(nothing_and_one),
        cmocka_unit_test(refused_scores), cmocka_unit_test(constant),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
