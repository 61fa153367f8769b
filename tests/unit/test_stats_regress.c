/* Regressions at the edges: rows without values, one cluster, nothing to explain, more columns than rows;
   formulas; CSV as programs write it; the columns of scores. Expected values are worked out by hand. */
#include "fixture.h"
#include "regress_golden.h"

#include "stats/regress_formula.h"
#include "stats/regress_frame.h"

/* ---- small tables as CSV ---- */

typedef struct outcome {
    lg_regress *regress;
    lg_error error;
    lg_status status;
} outcome;

static outcome fit(const char *csv, lg_regress_options options) {
    outcome out = {0};
    lg_frame *frame;
    options.command = "test";
    if (lg_frame_create(&frame, &out.error)) fail();
    out.status = lg_frame_add_csv(frame, csv, strlen(csv), "table.csv", &out.error);
    if (!out.status) out.status = lg_regress_compute(frame, &options, NULL, &out.regress, &out.error);
    lg_frame_free(frame);
    if (out.status) assert_int_equal(out.status, out.error.status);
    return out;
}

static outcome must_fit(const char *csv, lg_regress_options options) {
    outcome out = fit(csv, options);
    if (out.status) fail_msg("%s: %s", options.formula, out.error.message);
    return out;
}

static const lg_regress_row *row_of(const outcome *o, const char *term) {
    size_t n;
    const lg_regress_row *rows = lg_regress_rows(o->regress, &n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(rows[i].term, term) == 0) return &rows[i];
    fail_msg("there is no row %s", term);
    return NULL;
}

static bool has_note(const outcome *o, const char *text) {
    size_t n;
    const char *const *notes = lg_regress_notes(o->regress, &n);
    for (size_t i = 0; i < n; i++)
        if (strstr(notes[i], text)) return true;
    return false;
}

static void refused(const char *csv, lg_regress_options options, lg_status status, const char *text) {
    outcome out = fit(csv, options);
    if (out.status != status || !strstr(out.error.message, text))
        fail_msg("%s: status %d, \"%s\"; \"%s\" was expected", options.formula, (int)out.status,
                 out.error.message, text);
    lg_regress_free(out.regress);
}

#define NEAR(value, expected) check_close(#value, "table", value, expected, 1e-12, 1e-12)

/* y = 1 + 2 x + e; e is orthogonal to 1 and x. */
static const char line[] = "y,x,doc,g\n"
                           "2,0,a,p\n"
                           "2,1,a,p\n"
                           "4,2,b,q\n"
                           "8,3,b,q\n";

static void test_by_hand(void **state) {
    (void)state;
    outcome o = must_fit(line, (lg_regress_options){.formula = "y ~ x", .cluster = "doc"});
    const lg_regress_row *x = row_of(&o, "x");
    /* xbar 1.5, Sxx 5, Sxy 10: b 2, a 1; residuals 1 -1 -1 1, s2 = 4 / 2 */
    NEAR(x->value.estimate, 2);
    NEAR(row_of(&o, "(Intercept)")->value.estimate, 1);
    NEAR(x->value.se_classical, sqrt(2. / 5));
    /* scores of the slope about the mean: a: 1 (-1.5) - 1 (-.5) = -1, b: -1 (.5) + 1 (1.5) = 1 */
    NEAR(x->value.se_cr0, sqrt(2.) / 5);
    NEAR(x->value.se, sqrt(2. / 25 * 2 * 3 / 2));
    assert_true(x->value.df == 1 && !x->dropped && !x->counted);
    const lg_regress_fit *f = lg_regress_get_fit(o.regress);
    NEAR(f->rss, 4);
    NEAR(f->tss, 24);
    NEAR(f->r2, 1 - 4. / 24);
    NEAR(f->cr1_factor, 3);
    assert_true(f->n == 4 && f->clusters == 2 && f->k == 2 && f->df_resid == 2);
    lg_regress_free(o.regress);
    /* absorbed groups: within each x differs by 1, y by 0 and 4 */
    o = must_fit(line, (lg_regress_options){.formula = "y ~ x", .absorb = "g"});
    NEAR(row_of(&o, "x")->value.estimate, 2);
    assert_true(row_of(&o, "(Intercept)")->dropped);
    f = lg_regress_get_fit(o.regress);
    assert_true(f->groups == 2 && f->df_resid == 1);
    NEAR(f->rss, 4);
    NEAR(f->r2_within, 1 - 4. / 8);
    NEAR(row_of(&o, "x")->value.se, 2); /* s2 4, Sxx within 1 */
    lg_regress_free(o.regress);
}

static void test_left_out(void **state) {
    (void)state;
    const char csv[] = "y,x,w,doc,c\n"
                       "2,0,1,a,u\n"
                       ",1,1,a,u\n"    /* no outcome */
                       "nan,1,1,a,u\n" /* the same */
                       "2,1,1,a,v\n"
                       "5,inf,1,a,u\n" /* not finite */
                       "4,2,1,b,u\n"
                       "7,2,0,b,u\n"  /* no weight */
                       "7,2,NA,b,u\n" /* unknown weight */
                       "7,2,1,,u\n"   /* no cluster */
                       "7,2,1,b,\n"   /* no category */
                       "8,3,1,b,v\n";
    outcome o = must_fit(csv, (lg_regress_options){.formula = "y ~ x", .cluster = "doc", .weights = "w"});
    /* 2 2 4 7 8 over 0 1 2 2 3: xbar 1.6, Sxx 5.2, Sxy = 48 - 5 1.6 4.6 */
    NEAR(row_of(&o, "x")->value.estimate, (48 - 36.8) / 5.2);
    const lg_regress_fit *f = lg_regress_get_fit(o.regress);
    assert_true(f->rows == 11 && f->n == 5);
    lg_regress_free(o.regress);
    o = must_fit(csv, (lg_regress_options){.formula = "y ~ x + c", .cluster = "doc", .weights = "w"});
    size_t n;
    const lg_regress_left_out *out = lg_regress_left_outs(o.regress, &n);
    const struct {
        const char *column;
        uint64_t n;
    } expected[] = {{"y", 2}, {"x", 1}, {"c", 1}, {"w", 1}, {"w", 1}, {"doc", 1}};
    assert_int_equal(n, 6);
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(out[i].column, expected[i].column);
        assert_int_equal(out[i].n, expected[i].n);
    }
    assert_int_equal(lg_regress_get_fit(o.regress)->n, 4);
    lg_regress_free(o.regress);
    refused("y,x\n,1\n2,\n", (lg_regress_options){.formula = "y ~ x"}, LG_BAD_INPUT, "no row can be used");
    refused("y,x\n", (lg_regress_options){.formula = "y ~ x"}, LG_BAD_INPUT, "no row can be used");
    refused("y,w\n1,1\n2,-1\n", (lg_regress_options){.formula = "y ~ 1", .weights = "w"}, LG_BAD_INPUT,
            "must not be negative");
    refused("y,x\n1,1e200\n2,1\n", (lg_regress_options){.formula = "y ~ x^2"}, LG_BAD_INPUT,
            "too large for a double");
}

static void test_clusters(void **state) {
    (void)state;
    const char one[] = "y,x,doc\n2,0,a\n2,1,a\n4,2,a\n8,3,a\n";
    outcome o = must_fit(one, (lg_regress_options){.formula = "y ~ x", .cluster = "doc"});
    const lg_estimate *v = &row_of(&o, "x")->value;
    NEAR(v->estimate, 2);
    NEAR(v->se_classical, sqrt(2. / 5));
    assert_true(isnan(v->se) && isnan(v->se_cr0) && isnan(v->t) && isnan(v->p) && isnan(v->df) &&
                isnan(v->low));
    assert_true(v->p_classical > 0);
    assert_true(has_note(&o, "one cluster"));
    lg_regress_free(o.regress);
    /* clusters in pieces are the same clusters */
    const char pieces[] = "y,x,doc,g\n4,2,b,q\n2,0,a,p\n8,3,b,q\n2,1,a,p\n";
    outcome a = must_fit(line, (lg_regress_options){.formula = "y ~ x", .cluster = "doc"});
    outcome b = must_fit(pieces, (lg_regress_options){.formula = "y ~ x", .cluster = "doc"});
    NEAR(row_of(&b, "x")->value.se, row_of(&a, "x")->value.se);
    lg_regress_free(b.regress);
    b = must_fit(pieces, (lg_regress_options){.formula = "y ~ x", .cluster = "doc", .absorb = "g"});
    NEAR(row_of(&b, "x")->value.estimate, 2);
    lg_regress_free(a.regress);
    lg_regress_free(b.regress);
    refused("y,x,d,g\n1,2,a,p\n2,3,b,p\n5,1,b,q\n",
            (lg_regress_options){.formula = "y ~ x", .cluster = "d", .absorb = "g"}, LG_USAGE,
            "lies in several clusters");
}

static void test_nothing_to_explain(void **state) {
    (void)state;
    outcome o = must_fit("y,x,doc\n3,0,a\n3,1,a\n3,2,b\n3,5,b\n",
                         (lg_regress_options){.formula = "y ~ x", .cluster = "doc"});
    assert_true(has_note(&o, "the outcome is 3 in every row"));
    assert_true(isnan(lg_regress_get_fit(o.regress)->r2));
    assert_true(isnan(row_of(&o, "x")->value.t) && isnan(row_of(&o, "x")->value.p));
    assert_true(row_of(&o, "x")->value.se == 0);
    NEAR(row_of(&o, "(Intercept)")->value.estimate, 3);
    lg_regress_free(o.regress);
    o = must_fit("y,x\n1,0\n3,1\n5,2\n", (lg_regress_options){.formula = "y ~ x"});
    assert_true(has_note(&o, "to the last digit"));
    assert_true(row_of(&o, "x")->value.se == 0 && isnan(row_of(&o, "x")->value.p));
    NEAR(row_of(&o, "x")->value.estimate, 2);
    lg_regress_free(o.regress);
    o = must_fit("y\n0\n0\n", (lg_regress_options){.formula = "y ~ 1"});
    NEAR(row_of(&o, "(Intercept)")->value.estimate, 0);
    lg_regress_free(o.regress);
}

static void test_too_many_columns(void **state) {
    (void)state;
    outcome o = must_fit("y,a,b,c,doc\n1,1,0,2,x\n2,0,1,5,y\n4,1,3,1,y\n",
                         (lg_regress_options){.formula = "y ~ a + b + c", .cluster = "doc"});
    const lg_regress_row *c = row_of(&o, "c");
    assert_true(c->dropped && strstr(c->reason, "aliased with (Intercept), a, b"));
    assert_true(isnan(c->value.estimate));
    assert_true(lg_regress_get_fit(o.regress)->df_resid == 0);
    assert_true(isnan(row_of(&o, "a")->value.se) && isnan(row_of(&o, "a")->value.se_classical));
    assert_true(!isnan(row_of(&o, "a")->value.estimate));
    assert_true(has_note(&o, "nothing is left to take errors from"));
    lg_regress_free(o.regress);
    o = must_fit("y,k,z\n1,3,0\n2,3,0\n4,3,0\n", (lg_regress_options){.formula = "y ~ k + z"});
    assert_string_equal(row_of(&o, "k")->reason, "aliased with (Intercept)");
    assert_string_equal(row_of(&o, "z")->reason, "it is 0 in every row");
    lg_regress_free(o.regress);
}

static void test_levels(void **state) {
    (void)state;
    const char csv[] = "y,tag,doc\n1,noun,a\n2,to,a\n3,noun,b\n6,to,b\n8,\"open,x\",b\n4,\"close,x\",c\n";
    const char *reference[] = {"tag=to"};
    outcome o = must_fit(
        csv, (lg_regress_options){
                 .formula = "y ~ tag", .cluster = "doc", .references = reference, .n_references = 1});
    NEAR(row_of(&o, "tag=noun")->value.estimate, -2);
    assert_true(row_of(&o, "tag=noun")->n == 2 && row_of(&o, "tag=noun")->documents == 2);
    assert_true(has_note(&o, "one cluster only"));
    size_t n;
    const lg_regress_level *levels = lg_regress_levels(o.regress, &n);
    assert_int_equal(n, 4);
    NEAR(levels[1].raw_mean, 2);
    NEAR(levels[1].adjusted.estimate, 2);
    assert_true(levels[3].reference && !levels[1].reference);
    const lg_regress_contrast *contrasts = lg_regress_contrasts(o.regress, &n);
    assert_int_equal(n, 5);
    for (size_t i = 0; i < 3; i++) NEAR(contrasts[i].value.estimate, -2); /* noun less to, in each way */
    assert_string_equal(contrasts[3].name, "opening_minus_closing");
    NEAR(contrasts[3].value.estimate, 4);
    NEAR(contrasts[4].value.estimate, 4);
    lg_regress_free(o.regress);
    o = must_fit("y,k\n1,10\n2,9\n3,10\n6,9\n7,-1.5\n", (lg_regress_options){.formula = "y ~ 0 + factor(k)"});
    NEAR(row_of(&o, "k=-1.5")->value.estimate, 7); /* numbers in their order */
    NEAR(row_of(&o, "k=9")->value.estimate, 4);
    NEAR(row_of(&o, "k=10")->value.estimate, 2);
    lg_regress_free(o.regress);
    const char *unknown[] = {"tag=verb"}, *no_category[] = {"doc=a"}, *no_pair[] = {"tag"};
    refused(csv, (lg_regress_options){.formula = "y ~ tag", .references = unknown, .n_references = 1},
            LG_USAGE, "'tag' has no level 'verb'");
    refused(csv, (lg_regress_options){.formula = "y ~ tag", .references = no_category, .n_references = 1},
            LG_USAGE, "no category 'doc'");
    refused(csv, (lg_regress_options){.formula = "y ~ tag", .references = no_pair, .n_references = 1},
            LG_USAGE, "COLUMN=LEVEL");
}

static const lg_estimate *level_of(const outcome *o, const char *column, const char *level) {
    size_t n;
    const lg_regress_level *levels = lg_regress_levels(o->regress, &n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(levels[i].column, column) == 0 && strcmp(levels[i].level, level) == 0)
            return &levels[i].adjusted;
    fail_msg("there is no level %s of %s", level, column);
    return NULL;
}

/* Means of cells, noun: 2 in p, 5 in q; to: 4 in p, 9 in q. Half of the rows lie in p. */
static void test_products(void **state) {
    (void)state;
    const char csv[] = "y,tag,d,x\n1,noun,p,0\n3,noun,p,1\n4,to,p,2\n5,noun,q,0\n8,to,q,1\n10,to,q,3\n";
    static const char *const formulas[] = {"y ~ tag*d", "y ~ tag:d", "y ~ 0 + tag + tag:d", "y ~ d + tag:d"};
    for (size_t f = 0; f < 4; f++) {
        outcome o = must_fit(csv, (lg_regress_options){.formula = formulas[f]});
        NEAR(level_of(&o, "tag", "noun")->estimate, 0.5 * 2 + 0.5 * 5);
        NEAR(level_of(&o, "tag", "to")->estimate, 0.5 * 4 + 0.5 * 9);
        NEAR(level_of(&o, "d", "q")->estimate, 0.5 * 5 + 0.5 * 9);
        /* sigma 1 (2 + 0 + 0 + 2 over 2, squared: 2); a cell's variance 2 / rows */
        NEAR(level_of(&o, "tag", "noun")->se, sqrt(0.25 * 2 / 2 + 0.25 * 2));
        size_t n;
        const lg_regress_contrast *c = lg_regress_contrasts(o.regress, &n);
        assert_int_equal(n, 3);
        NEAR(c[0].value.estimate, 3.5 - 6.5);
        NEAR(c[1].value.estimate, 3.5 - 6.5);
        NEAR(c[2].value.estimate, 3. - 22. / 3);
        lg_regress_free(o.regress);
    }
    /* with a slope in each: y at the mean of x, 7 / 6; noun: least squares 1 3 5 over 0 1 0: 3 + 0 x */
    outcome o = must_fit(csv, (lg_regress_options){.formula = "y ~ tag*x"});
    NEAR(level_of(&o, "tag", "noun")->estimate, 3);
    lg_regress_free(o.regress);
    /* a combination that no row has */
    o = must_fit("y,tag,d\n1,a,p\n2,a,p\n3,b,p\n5,b,q\n6,b,q\n",
                 (lg_regress_options){.formula = "y ~ tag*d"});
    assert_true(isnan(level_of(&o, "tag", "a")->estimate));
    NEAR(level_of(&o, "tag", "b")->estimate, 0.6 * 3 + 0.4 * 5.5);
    lg_regress_free(o.regress);
}

/* A reference that no row has: the last level is aliased with the intercept and the others. */
static void test_missing_reference(void **state) {
    (void)state;
    const char *files[] = {"tests/golden/regression/data/tiny.safetensors", NULL};
    lg_error error = {0};
    regress_run run;
    if (regress_files(
            &run, files, NULL,
            (lg_regress_options){.formula = "gap ~ wordpos", .where = "wordpos != whole", .cluster = "doc"},
            &error))
        fail_msg("%s", error.message);
    size_t n;
    const lg_regress_row *rows = lg_regress_rows(run.regress, &n);
    assert_int_equal(n, 4);
    assert_true(!rows[1].dropped && !rows[2].dropped && rows[3].dropped);
    assert_string_equal(rows[3].reason, "aliased with (Intercept), wordpos=prefix, wordpos=middle");
    const lg_regress_level *levels = lg_regress_levels(run.regress, &n);
    assert_true(isnan(levels[0].adjusted.estimate) &&
                isnan(levels[0].raw_mean)); /* whole: nothing is known of it */
    assert_true(!isnan(levels[1].adjusted.estimate));
    NEAR(levels[3].adjusted.estimate, levels[3].raw_mean); /* dropped, but its mean is not */
    regress_close(&run);
}

/* Large offsets take the digits of double: the slope of y = 1e9 + x / 4 over x = 1e8 … */
static void test_offsets(void **state) {
    (void)state;
    lg_text csv = {0};
    lg_text_puts(&csv, "y,x,doc\n");
    for (int i = 0; i < 40; i++)
        lg_text_printf(&csv, "%.17g,%d,%d\n", 1e9 + (i - 20) * 0.25 + (i % 4 == 1 || i % 4 == 2 ? -0.5 : 0.5),
                       100000000 + i, i / 5);
    outcome o = must_fit(csv.data, (lg_regress_options){.formula = "y ~ x", .cluster = "doc"});
    assert_string_equal(lg_regress_get_fit(o.regress)->arithmetic, "double-double");
    check_close("slope", "offsets", row_of(&o, "x")->value.estimate, 0.25, 1e-12, 0);
    NEAR(lg_regress_get_fit(o.regress)->rss, 40 * 0.25);
    lg_regress_free(o.regress);
    lg_text_free(&csv);
}

/* ---- formulas ---- */

static void check_terms(const char *text, const char *expected) {
    lg_arena arena = {0};
    lg_formula f;
    lg_error error = {0};
    lg_text out = {0};
    if (lg_formula_parse(text, &arena, &f, &error)) fail_msg("%s", error.message);
    lg_text_puts(&out, f.intercept ? "1" : "0");
    for (size_t t = 0; t < f.n_terms; t++)
        for (size_t a = 0; a < f.terms[t].n; a++) {
            const lg_formula_atom *atom = &f.atoms[f.terms[t].atoms[a]];
            lg_text_printf(&out, "%s%s%s", a ? ":" : " ", atom->text, atom->category ? "!" : "");
            if (atom->power > 1) lg_text_printf(&out, "^%u", atom->power);
        }
    assert_string_equal(out.data, expected);
    lg_text_free(&out);
    lg_formula_free(&f);
    lg_arena_free(&arena);
}

static void test_formulas(void **state) {
    (void)state;
    check_terms("y ~ a", "1 a");
    check_terms("y~1", "1");
    check_terms("y ~ 0 + a + a", "0 a");
    check_terms("y ~ a - 1", "0 a");
    check_terms("y ~ -1 + a + 1", "1 a");
    check_terms("y ~ a:b + c", "1 c a:b"); /* products last */
    check_terms("y ~ a*b*c", "1 a b c a:b a:c b:c a:b:c");
    check_terms("y ~ a*b + b:a + b", "1 a b a:b");
    check_terms("y ~ (a + b):c", "1 a:c b:c");
    check_terms("y ~ a:a + x^2 + x:x^2", "1 a x^2 x:x^2");
    check_terms("y ~ `odd name` + log(x + (1)) ^ 3 + factor(k)", "1 odd name log(x + (1))^3 k!");
    static const struct {
        const char *text, *says;
    } wrong[] = {
        {"y", "a '~' is missing"},
        {"", "a column is missing"},
        {"y ~", "a column is missing at its end"},
        {"y ~ a +", "a column is missing at its end"},
        {"y ~ a b", "something unexpected"},
        {"y ~ a - b", "only the intercept"},
        {"y ~ x^0", "a power must be a whole number from 1 to 99"},
        {"y ~ x^1.5", "a power must be"},
        {"y ~ x^100", "a power must be"},
        {"y ~ (a + b)^2", "no power of a sum"},
        {"y ~ (a + b", "a ')' is missing"},
        {"y ~ log(x", "never closed"},
        {"y ~ `x", "unfinished name"},
        {"y ~ factor(a + b)", "factor() takes the name of one column"},
        {"y ~ a:b:c:d:e:f:g:h:i", "more than 8 columns"},
        {"y ~ 2 + a", "a column is missing"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        refused(line, (lg_regress_options){.formula = wrong[i].text}, LG_USAGE, wrong[i].says);
    refused(line, (lg_regress_options){.formula = "y ~ z"}, LG_USAGE,
            "no column 'z'; there are y, x, doc, g");
    refused(line, (lg_regress_options){.formula = "doc ~ x"}, LG_USAGE, "a category");
    refused(line, (lg_regress_options){.formula = "y ~ doc^2"}, LG_USAGE, "has no powers");
    refused(line, (lg_regress_options){.formula = "y ~ x", .weights = "doc"}, LG_USAGE, "not numbers");
    refused("y,y\n1,2\n", (lg_regress_options){.formula = "y ~ 1"}, LG_BAD_INPUT, "both");
    outcome o = must_fit(line, (lg_regress_options){.formula = "y ~ doc:x + exp(x)"});
    row_of(&o, "doc=a:x");
    row_of(&o, "exp(x)");
    lg_regress_free(o.regress);
}

static void test_definitions(void **state) {
    (void)state;
    lg_frame *frame;
    lg_error error = {0};
    lg_regress *regress;
    assert_int_equal(lg_frame_create(&frame, &error), LG_OK);
    assert_int_equal(lg_frame_add_csv(frame, line, strlen(line), "line.csv", &error), LG_OK);
    static const char *const wrong[] = {"x", "=x", "a b=x", "a="};
    for (size_t i = 0; i < 4; i++) assert_int_equal(lg_frame_define(frame, wrong[i], &error), LG_USAGE);
    assert_int_equal(lg_frame_define(frame, "half = x / 2", &error), LG_OK);
    assert_int_equal(lg_frame_define(frame, "half=x", &error), LG_USAGE);
    assert_int_equal(lg_frame_define(frame, "twice=half * 4", &error), LG_OK);
    assert_int_equal(lg_frame_define(frame, "late=x >= 2", &error), LG_OK);
    lg_regress_options o = {.formula = "y ~ twice", .cluster = "late", .where = "x < 3", .command = ""};
    assert_int_equal(lg_regress_compute(frame, &o, NULL, &regress, &error), LG_OK);
    const lg_regress_fit *f = lg_regress_get_fit(regress);
    assert_true(f->n == 3 && f->clusters == 2);
    size_t n;
    NEAR(lg_regress_rows(regress, &n)[1].value.estimate, 0.5); /* 2 2 4 over 0 2 4 */
    assert_string_equal(lg_regress_left_outs(regress, &n)[0].column, "--where");
    lg_regress_free(regress);
    o.where = "doc";
    assert_int_equal(lg_regress_compute(frame, &o, NULL, &regress, &error), LG_USAGE);
    o.where = NULL;
    o.formula = "y ~ log(nothing)";
    assert_int_equal(lg_regress_compute(frame, &o, NULL, &regress, &error), LG_USAGE);
    lg_frame_free(frame);
}

/* ---- scores ---- */

/* Eleven tokens of two documents, and what tags say of them. */
static const fixture_document documents[] = {
    {"one", "news", LG_PROSE, "The\1 cat\1 and\1 the\1 cat\1 sat\1.", 0},
    {"two", "code", LG_PYTHON, "x\1 =\1 x\1\n", 0},
};
enum { TOKENS = 11 };
static const float nll[3][TOKENS] = {{NAN, 2, 3, 5, 1, 4, 2.5f, NAN, 3, 6, 1},
                                     {NAN, 1, 3.5f, 2, 1, 2, 2.25f, NAN, 1, 5, 1.5f},
                                     {NAN, 7, 1, 2, 9, 4, 3, NAN, 2, 8, 5}};

static void write_table(const char *path, const char *format, const lg_dataset *data, const float *loss) {
    static const uint16_t tag[TOKENS] = {1, 2, 3, 1, 2, 4, 5, 6, 7, 6, 0},
                          copy_len[TOKENS] = {0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    static const uint8_t family[TOKENS] = {1, 2, 3, 1, 2, 4, 5, 6, 7, 6, 0},
                         word[TOKENS] = {1, 1, 1, 1, 1, 1, 0, 1, 0, 1, 0};
    static const uint32_t distance[TOKENS] = {0, 0, 0, 0, 3, 0, 0, 0, 0, 2, 0}, context[TOKENS] = {0};
    static const double frequency[TOKENS] = {.1, .2, .1, .1, .2, .1, .1, .2, .1, .2, .1};
    lg_table_writer *w;
    lg_error error = {0};
    size_t column;
    assert_int_equal(lg_table_writer_create(path, &w, &error), LG_OK);
    const struct {
        const char *name;
        lg_dtype dtype;
        const void *values;
    } of_tags[] = {{"tag", LG_U16, tag},
                   {"family", LG_U8, family},
                   {"word_position", LG_U8, word},
                   {"copy_len", LG_U16, copy_len},
                   {"prev_distance", LG_U32, distance},
                   {"frequency", LG_F64, frequency}},
      of_scores[] = {{"nll", LG_F32, loss}, {"context", LG_U32, context}};
    for (size_t i = 0; i < (loss ? 2 : 6); i++) {
        const char *name = loss ? of_scores[i].name : of_tags[i].name;
        lg_dtype dtype = loss ? of_scores[i].dtype : of_tags[i].dtype;
        assert_int_equal(lg_table_writer_add(w, name, dtype, 1, &column, &error), LG_OK);
        fixture_append(w, column, loss ? of_scores[i].values : of_tags[i].values, TOKENS);
    }
    char inputs[96];
    snprintf(inputs, sizeof inputs, "{\"dataset\":\"%s\"}", lg_table_provenance(data->table)->identity);
    lg_provenance p = {.format = format,
                       .version = 1,
                       .inputs = inputs,
                       .settings = loss ? "{}"
                                        : "{\"levels\":{\"tag\":[\"none\",\"at\",\"nn\",\"cc\",\"vbd\",\".\","
                                          "\"python.identifier\",\"python.operator\"],"
                                          "\"family\":[\"none\",\"determiner\",\"noun\",\"conjunction\","
                                          "\"verb\",\"punctuation\",\"identifier\","
                                          "\"operator\"],\"word_position\":[\"none\",\"whole\"]}}"};
    assert_int_equal(lg_table_writer_commit(w, &p, NULL, &error), LG_OK);
}

static lg_dataset data;
static lg_scores scores[3];

static void make_scores(void) {
    lg_error error = {0};
    static uint32_t context[TOKENS];
    static const char *const names[] = {"a", "b", "say \"c\""};
    fixture_dataset(fixture_path("data"), documents, 2, true);
    if (lg_dataset_open(fixture_path("data"), &data, &error)) fail_msg("%s", error.message);
    assert_int_equal(data.n_tokens, TOKENS);
    write_table(fixture_path("tags"), "tags", &data, NULL);
    for (size_t i = 0; i < 3; i++)
        scores[i] = (lg_scores){.table = data.table,
                                .model_name = names[i],
                                .n_tokens = TOKENS,
                                .nll = nll[i],
                                .context = context,
                                .prefix = LG_PREFIX_NONE};
}

static outcome fit_scores(size_t n, const char *difficulty, lg_regress_options options) {
    outcome out = {0};
    lg_frame *frame;
    options.command = "test";
    assert_int_equal(lg_frame_create(&frame, &out.error), LG_OK);
    out.status = lg_frame_add_scores(frame, &data, scores, n, fixture_path("tags"), difficulty, &out.error);
    if (!out.status) out.status = lg_regress_compute(frame, &options, NULL, &out.regress, &out.error);
    lg_frame_free(frame);
    return out;
}

static double mean_of(const lg_regress *r, const char *column, const char *level) {
    size_t n;
    const lg_regress_level *levels = lg_regress_levels(r, &n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(levels[i].column, column) == 0 && strcmp(levels[i].level, level) == 0)
            return levels[i].raw_mean;
    fail_msg("there is no level %s of %s", level, column);
    return NAN;
}

static void test_scores(void **state) {
    (void)state;
    make_scores();
    outcome o = fit_scores(2, NULL, (lg_regress_options){.formula = "gap ~ tag + domain", .cluster = "doc"});
    if (o.status) fail_msg("%s", o.error.message);
    const lg_regress_fit *f = lg_regress_get_fit(o.regress);
    assert_true(f->n == 9 && f->clusters == 2 && f->rows == TOKENS);
    /* gaps: 1 -.5 3 0 2 .25 | 2 1 -.5; the first tag that occurs is the reference: at comes after none, which
       the last token has */
    NEAR(mean_of(o.regress, "tag", "nn"), 0.5);
    NEAR(mean_of(o.regress, "tag", "at"), 3);
    NEAR(mean_of(o.regress, "domain", "code"), 2.5 / 3);
    size_t n;
    const lg_regress_contrast *c = lg_regress_contrasts(o.regress, &n);
    assert_int_equal(n, 3); /* nn and vbd are content, at and cc function, by their families */
    NEAR(c[2].value.estimate, (1 + 0 + 2) / 3. - (3 - .5) / 2);
    assert_string_equal(c[2].kind, "raw");
    lg_regress_free(o.regress);
    /* all that the paper's formula needs is there, but there are too few tokens for it */
    o = fit_scores(2, "mean", (lg_regress_options){.formula = LG_REGRESS_PAPER, .cluster = "doc"});
    if (o.status) fail_msg("%s", o.error.message);
    assert_true(has_note(&o, "nothing is left"));
    lg_regress_free(o.regress);
    /* difficulty: by the mean, or by another model */
    o = fit_scores(2, NULL, (lg_regress_options){.formula = "difficulty ~ 1"});
    NEAR(row_of(&o, "(Intercept)")->value.estimate, (1.5 + 3.25 + 3.5 + 1 + 3 + 2.375 + 2 + 5.5 + 1.25) / 9);
    lg_regress_free(o.regress);
    o = fit_scores(3, "say \"c\"", (lg_regress_options){.formula = "difficulty ~ 1"});
    if (o.status) fail_msg("%s", o.error.message);
    NEAR(row_of(&o, "(Intercept)")->value.estimate, (7 + 1 + 2 + 9 + 4 + 3 + 2 + 8 + 5) / 9.);
    lg_regress_free(o.regress);
    o = fit_scores(3, NULL,
                   (lg_regress_options){.formula = "gap ~ copy1 + log_frequency", .where = "loss(a) > 2"});
    if (o.status) fail_msg("%s", o.error.message);
    assert_int_equal(lg_regress_get_fit(o.regress)->n, 6);
    lg_regress_free(o.regress);
    o = fit_scores(2, "c", (lg_regress_options){.formula = "gap ~ 1"});
    assert_int_equal(o.status, LG_USAGE);
    assert_non_null(strstr(o.error.message, "no scores of 'c'"));
    o = fit_scores(2, NULL, (lg_regress_options){.formula = "gap ~ token"});
    assert_int_equal(o.status, LG_USAGE);
    assert_non_null(strstr(o.error.message, "is a text"));
    o = fit_scores(2, NULL, (lg_regress_options){.formula = "gap ~ nothing"});
    assert_int_equal(o.status, LG_USAGE);
    assert_int_equal(fit_scores(1, NULL, (lg_regress_options){.formula = "gap ~ 1"}).status, LG_USAGE);
    lg_dataset_close(&data);
}

/* ---- CSV ---- */

static void test_csv(void **state) {
    (void)state;
    /* byte order mark, CR LF, quotes with commas, line ends and quotes inside, spaces, an empty line, no last
     * line end */
    outcome o = must_fit("\xEF\xBB\xBFy,\"x\",\"a \"\"b\"\"\"\r\n 1 "
                         ",+2,\"p,\nq\"\r\n\r\n.5,1e0,\"p,\nq\"\r\n-3.25e0,0,z\r\n7,5.,z",
                         (lg_regress_options){.formula = "y ~ `a \"b\"` + x"});
    assert_int_equal(lg_regress_get_fit(o.regress)->n, 4);
    row_of(&o, "a \"b\"=z");
    lg_regress_free(o.regress);
    o = must_fit("y\tx\n1\t2\n2\t3\n4\t4\n", (lg_regress_options){.formula = "y ~ x"});
    NEAR(row_of(&o, "x")->value.estimate, 1.5);
    lg_regress_free(o.regress);
    lg_regress_options any = {.formula = "y ~ x"};
    refused("", any, LG_BAD_INPUT, "is empty");
    refused("y,x\n1\n", any, LG_BAD_INPUT, "line 2 has 1 fields, the header 2");
    refused("y,x\n1,2,3\n", any, LG_BAD_INPUT, "line 2 has 3 fields");
    refused("y,x\n1,\"2\n", any, LG_BAD_INPUT, "line 2: a quote that is never closed");
    refused("y,x\n1,\"2\"z\n", any, LG_BAD_INPUT, "text behind a closing quote");
    /* a quoted number is a text */
    o = must_fit("y,x\n1,\"1\"\n2,\"2\"\n3,\"1\"\n", any);
    row_of(&o, "x=2");
    lg_regress_free(o.regress);
}

static void test_files(void **state) {
    (void)state;
    lg_error error = {0};
    lg_frame *frame;
    assert_int_equal(lg_frame_create(&frame, &error), LG_OK);
    assert_int_equal(lg_frame_add_file(frame, "/nonexistent.csv", &error), LG_BAD_INPUT);
    assert_int_equal(lg_frame_add_file(frame, "/nonexistent.csv.gz", &error), LG_BAD_INPUT);
    assert_int_equal(lg_frame_add_file(frame, "/nonexistent", &error), LG_BAD_INPUT);
    lg_frame_free(frame);
    /* two files of other lengths */
    regress_run run;
    const char *files[] = {"tests/golden/regression/data/tiny.safetensors",
                           "tests/golden/regression/nist/norris.csv", NULL};
    assert_int_equal(regress_files(&run, files, NULL, (lg_regress_options){.formula = "gap ~ x"}, &error),
                     LG_BAD_INPUT);
    assert_non_null(strstr(error.message, "column 'x' has 36 rows, 'gap' has 46"));
    assert_int_equal(regress_files(&run, files, (const char *[]){"both=x + gap", NULL},
                                   (lg_regress_options){.formula = "gap ~ both"}, &error),
                     LG_BAD_INPUT);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_by_hand),
                                       cmocka_unit_test(test_left_out),
                                       cmocka_unit_test(test_clusters),
                                       cmocka_unit_test(test_nothing_to_explain),
                                       cmocka_unit_test(test_too_many_columns),
                                       cmocka_unit_test(test_levels),
                                       cmocka_unit_test(test_products),
                                       cmocka_unit_test(test_missing_reference),
                                       cmocka_unit_test(test_offsets),
                                       cmocka_unit_test(test_formulas),
                                       cmocka_unit_test(test_definitions),
                                       cmocka_unit_test(test_scores),
                                       cmocka_unit_test(test_csv),
                                       cmocka_unit_test(test_files)};
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
