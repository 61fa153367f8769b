/* Filters against brute force from tokens, losses and the tags' own levels; the file of filters; what is left
   out. */
#include "filter_fixture.h"

#include "base/hash.h"
#include "stats/token_source.h"

static const lg_filter_options everything = {.pair = scores, .hard = &scores[2], .threads = 2};

static int setup(void **state) {
    if (fixture_setup(state)) return -1;
    filter_open(FILTER_DOCS, 150, true);
    return 0;
}

static int teardown(void **state) {
    filter_close();
    return fixture_teardown(state);
}

/* ---- levels of the tags' columns, read as they lie ---- */

/* The text of "COLUMN":[…] in the tags' settings. */
static void read_levels(const lg_table *tags, const char *column, char levels[][40], size_t most, size_t *n) {
    char key[64];
    snprintf(key, sizeof key, "\"%s\":[", column);
    const char *at = strstr(lg_table_provenance(tags)->settings, "\"levels\":");
    assert_non_null(at = at ? strstr(at, key) : NULL);
    at += strlen(key);
    for (*n = 0; *at != ']'; (*n)++) {
        size_t length = 0;
        assert_true(*at == '"' && *n < most);
        for (at++; *at != '"'; at++) {
            if (*at == '\\') at++;
            levels[*n][length++] = *at;
        }
        levels[*n][length] = '\0';
        at += at[1] == ',' ? 2 : 1;
    }
}

static lg_table *open_tags(void) {
    lg_error error = {0};
    lg_table *tags;
    assert_int_equal(lg_table_open(tags_path, "tags", &tags, &error), LG_OK);
    return tags;
}

static const void *column(const lg_table *tags, const char *name, lg_dtype dtype) {
    lg_error error = {0};
    const void *values;
    assert_int_equal(lg_table_column(tags, name, dtype, data.n_tokens, &values, &error), LG_OK);
    return values;
}

static void same(const lg_filter *f, const uint8_t *expected, const char *name) {
    if (!f) fail_msg("there is no filter %s", name);
    uint64_t tokens = 0, bytes = 0, documents = 0;
    for (size_t d = 0; d < data.n_docs; d++) {
        bool any = false;
        for (size_t i = (size_t)lg_begin_of(data.doc_token_end, d); i < data.doc_token_end[d]; i++) {
            if (f->mask[i] != expected[i])
                fail_msg("%s: token %zu of document %zu is %u, not %u", name,
                         i - (size_t)lg_begin_of(data.doc_token_end, d), d, f->mask[i], expected[i]);
            tokens += expected[i];
            bytes += expected[i] ? data.token_end[i] - lg_token_begin(&data, d, i) : 0;
            any |= expected[i];
        }
        documents += any;
    }
    assert_int_equal(f->tokens, tokens);
    assert_int_equal(f->bytes, bytes);
    assert_int_equal(f->documents, documents);
    if (!tokens) fail_msg("%s holds nowhere: the test says nothing", name);
}

/* ---- the built-in filters ---- */

/* The first and the last earlier place of the n-gram that ends at I in its document; false: none. */
static bool find_earlier(size_t begin, size_t i, size_t n, size_t *first) {
    if (i + 1 < begin + n) return false;
    for (size_t j = begin + n - 1; j < i; j++)
        if (memcmp(data.token_id + j + 1 - n, data.token_id + i + 1 - n, n * sizeof *data.token_id) == 0) {
            *first = j;
            return true;
        }
    return false;
}

static void copies(void **state) {
    (void)state;
    lg_filters *f = filter_make(&everything, tags_path);
    uint8_t *copy5 = calloc(data.n_tokens, 1), *hard = calloc(data.n_tokens, 1),
            *novel = calloc(data.n_tokens, 1), *reuse = calloc(data.n_tokens, 1),
            *all = calloc(data.n_tokens, 1);
    uint64_t unknown = 0;
    for (size_t d = 0; d < data.n_docs; d++) {
        size_t begin = (size_t)lg_begin_of(data.doc_token_end, d), first;
        for (size_t i = begin; i < data.doc_token_end[d]; i++) {
            all[i] = 1;
            reuse[i] = find_earlier(begin, i, 1, &first);
            novel[i] = !reuse[i];
            copy5[i] = find_earlier(begin, i, 5, &first);
            hard[i] = copy5[i] && scores[2].nll[first] > 2; /* NaN: not */
            unknown += copy5[i] && isnan(scores[2].nll[first]);
        }
    }
    same(filter_find(f, "all"), all, "all");
    same(filter_find(f, "novel"), novel, "novel");
    same(filter_find(f, "reuse"), reuse, "reuse");
    same(filter_find(f, "copy5"), copy5, "copy5");
    same(filter_find(f, "hard_copy5"), hard, "hard_copy5");
    assert_true(unknown > 0);
    assert_int_equal(filter_find(f, "hard_copy5")->unknown, unknown);
    assert_int_equal(filter_find(f, "copy5")->unknown, 0);
    lg_filters_close(f);

    /* one of the pair may be the judge as well */
    lg_filter_options options = {.pair = scores, .hard = &scores[1]};
    f = filter_make(&options, tags_path);
    for (size_t d = 0; d < data.n_docs; d++) {
        size_t begin = (size_t)lg_begin_of(data.doc_token_end, d), first;
        for (size_t i = begin; i < data.doc_token_end[d]; i++)
            hard[i] = find_earlier(begin, i, 5, &first) && scores[1].nll[first] > 2;
    }
    same(filter_find(f, "hard_copy5"), hard, "hard_copy5 by b");
    assert_string_equal(filter_find(f, "hard_copy5")->expression, "copy_len >= 5 and first_loss(\"b\") > 2");
    lg_filters_close(f);
    free(copy5), free(hard), free(novel), free(reuse), free(all);
}

static void classes_and_delimiters(void **state) {
    (void)state;
    static char levels[512][40];
    size_t n;
    lg_table *tags = open_tags();
    const uint8_t *class = column(tags, "class", LG_U8), *delimiter = column(tags, "delimiter", LG_U8);
    uint8_t *expected = calloc(data.n_tokens, 1);
    lg_filters *f = filter_make(&everything, tags_path);
    for (size_t k = 0; k < 4; k++) {
        static const char *const names[] = {"content", "function", "open", "close"};
        read_levels(tags, k < 2 ? "class" : "delimiter", levels, 512, &n);
        for (size_t i = 0; i < data.n_tokens; i++)
            expected[i] = strncmp(levels[k < 2 ? class[i] : delimiter[i]], names[k], strlen(names[k])) == 0;
        same(filter_find(f, names[k]), expected, names[k]);
    }
    lg_filters_close(f);
    lg_table_close(tags);
    free(expected);
}

/* ---- halves ---- */

static void halves(void **state) {
    (void)state;
    size_t ones = 0;
    for (size_t d = 0; d < data.n_docs; d++) {
        size_t begin = (size_t)lg_begin_of(data.doc_text_end, d);
        uint8_t half = lg_half_of_document(&data, d);
        assert_int_equal(half, lg_hash_of(data.text + begin, (size_t)data.doc_text_end[d] - begin).low & 1);
        ones += half;
    }
    assert_true(ones > FILTER_DOCS / 4 && ones < FILTER_DOCS * 3 / 4);
}

/* Of many documents about a half falls into each half, also of the first by hash, as samples take them; other
   order and other neighbours change nothing. */
static void halves_of_many(void **state) {
    (void)state;
    enum { N = 4000 };
    static fixture_document documents[N];
    static char texts[N][16], names[N][16];
    static uint8_t half[N];
    lg_dataset many;
    lg_error error = {0};
    size_t ones = 0, early = 0, early_ones = 0;
    for (size_t round = 0; round < 2; round++) {
        size_t n = round ? N / 2 : N;
        for (size_t d = 0; d < n; d++) {
            size_t which = round ? N - 1 - 2 * d : d;
            snprintf(texts[which], sizeof *texts, "w%zu\1 .", which);
            snprintf(names[which], sizeof *names, "%zu", which);
            documents[d] = (fixture_document){names[which], "x", LG_PROSE, texts[which], 0};
        }
        fixture_dataset(fixture_path("many"), documents, n, true);
        assert_int_equal(lg_dataset_open(fixture_path("many"), &many, &error), LG_OK);
        for (size_t d = 0; d < n; d++) {
            uint8_t h = lg_half_of_document(&many, d);
            if (round) {
                assert_int_equal(h, half[N - 1 - 2 * d]);
                continue;
            }
            size_t begin = (size_t)lg_begin_of(many.doc_text_end, d);
            bool low = lg_hash_of(many.text + begin, (size_t)many.doc_text_end[d] - begin).high >> 62 == 0;
            half[d] = h;
            ones += h;
            early += low;
            early_ones += low && h;
        }
        lg_dataset_close(&many);
    }
    assert_true(fabs((double)ones - N / 2.0) < 5 * sqrt(N / 4.0)); /* five standard deviations */
    assert_true(fabs((double)early_ones - (double)early / 2) < 5 * sqrt((double)early / 4));
    assert_true(early > N / 8);
}

/* ---- state ---- */

typedef struct choice {
    char tag[40];
    double gap;
    uint64_t tokens, documents;
} choice;

static int by_gap(const void *a, const void *b) {
    const choice *x = a, *y = b;
    return x->gap > y->gap ? -1 : x->gap < y->gap ? 1 : strcmp(x->tag, y->tag);
}

/* By the method's words: content tags with 200 tokens in 20 documents of half 0, by their mean gap. */
static size_t choose(const lg_table *tags, choice *list, size_t *qualify) {
    static char tag_names[2048][40], class_names[16][40];
    size_t n_tags, n_classes, n = 0;
    read_levels(tags, "tag", tag_names, 2048, &n_tags);
    read_levels(tags, "class", class_names, 16, &n_classes);
    const uint16_t *tag = column(tags, "tag", LG_U16);
    const uint8_t *class = column(tags, "class", LG_U8);
    for (size_t t = 0; t < n_tags; t++) {
        choice c = {0};
        double sum = 0;
        for (size_t d = 0; d < data.n_docs; d++) {
            bool any = false;
            size_t begin = (size_t)lg_begin_of(data.doc_text_end, d);
            if (lg_hash_of(data.text + begin, (size_t)data.doc_text_end[d] - begin).low & 1) continue;
            for (size_t i = (size_t)lg_begin_of(data.doc_token_end, d); i < data.doc_token_end[d]; i++) {
                if (tag[i] != t || strcmp(class_names[class[i]], "content") != 0 || isnan(scores[0].nll[i]))
                    continue;
                sum += (double)scores[0].nll[i] - (double)scores[1].nll[i];
                c.tokens++;
                any = true;
            }
            c.documents += any;
        }
        if (c.tokens < 200 || c.documents < 20) continue;
        memcpy(c.tag, tag_names[t], sizeof c.tag);
        c.gap = sum / (double)c.tokens;
        list[n++] = c;
    }
    qsort(list, n, sizeof *list, by_gap);
    *qualify = n;
    return n < 10 ? n : 10;
}

static void state_is_chosen_on_the_other_half(void **state) {
    (void)state;
    static choice list[2048];
    static char tag_names[2048][40];
    size_t n_tags, qualify, n_state;
    lg_table *tags = open_tags();
    const uint16_t *tag = column(tags, "tag", LG_U16);
    size_t n = choose(tags, list, &qualify);
    assert_true(n >= 3);
    lg_filters *f = filter_make(&everything, tags_path);
    const lg_state_tag *chosen = lg_filters_state(f, &n_state);
    assert_int_equal(n_state, n);
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(chosen[i].tag, list[i].tag);
        assert_int_equal(chosen[i].tokens, list[i].tokens);
        assert_int_equal(chosen[i].documents, list[i].documents);
        assert_true(fabs(chosen[i].gap - list[i].gap) < 1e-12);
    }
    read_levels(tags, "tag", tag_names, 2048, &n_tags);
    uint8_t *expected = calloc(data.n_tokens, 1);
    for (size_t d = 0; d < data.n_docs; d++) {
        size_t begin = (size_t)lg_begin_of(data.doc_token_end, d), first;
        if (!lg_half_of_document(&data, d)) continue;
        for (size_t i = begin; i < data.doc_token_end[d]; i++) {
            bool is_new = !find_earlier(begin, i, 1, &first);
            for (size_t k = 0; k < n && is_new; k++)
                expected[i] |= strcmp(tag_names[tag[i]], list[k].tag) == 0;
        }
    }
    same(filter_find(f, "state"), expected, "state");
    const char *note = filter_find(f, "state")->note;
    char documents[64];
    size_t in_half = 0;
    for (size_t d = 0; d < data.n_docs; d++) in_half += !lg_half_of_document(&data, d);
    snprintf(documents, sizeof documents, "half 0 (%zu of %d documents)", in_half, FILTER_DOCS);
    assert_non_null(note);
    if (!strstr(note, documents) || !strstr(note, "half 1")) fail_msg("%s", note);
    lg_filters_close(f);

    /* the settings hold the choice */
    f = filter_make(&everything, tags_path);
    char first[128];
    snprintf(first, sizeof first, "\"tags\":[{\"tag\":\"%s\",\"gap\":", list[0].tag);
    assert_non_null(strstr(lg_filters_settings(f), first));
    lg_filters_close(f);
    lg_table_close(tags);
    free(expected);
}

static void state_of_a_list(void **state) {
    (void)state;
    static char tag_names[2048][40];
    static const char *const given[] = {"nn", "vbd", ".", "in", NULL};
    size_t n_tags, n_state;
    lg_table *tags = open_tags();
    const uint16_t *tag = column(tags, "tag", LG_U16);
    read_levels(tags, "tag", tag_names, 2048, &n_tags);
    uint8_t *expected = calloc(data.n_tokens, 1);
    uint64_t nouns = 0;
    for (size_t d = 0; d < data.n_docs; d++) {
        size_t begin = (size_t)lg_begin_of(data.doc_token_end, d), first;
        for (size_t i = begin; i < data.doc_token_end[d]; i++) {
            nouns += strcmp(tag_names[tag[i]], "nn") == 0;
            for (size_t k = 0; given[k] && !find_earlier(begin, i, 1, &first); k++)
                expected[i] |= strcmp(tag_names[tag[i]], given[k]) == 0;
        }
    }
    lg_filter_options options = {.state_tags = given, .threads = 1};
    lg_filters *f = filter_make(&options, tags_path);
    same(filter_find(f, "state"), expected, "state");
    assert_string_equal(filter_find(f, "state")->expression, "copy_len = 0 and tag in (nn, vbd, '.', 'in')");
    const lg_state_tag *taken = lg_filters_state(f, &n_state);
    assert_int_equal(n_state, 4);
    assert_string_equal(taken[0].tag, "nn");
    assert_int_equal(taken[0].tokens, nouns);
    assert_true(isnan(taken[0].gap));
    lg_filters_close(f);
    lg_table_close(tags);
    free(expected);

    static const char *const wrong[] = {"nn", "nuon", NULL};
    options.state_tags = wrong;
    lg_error error = {0};
    assert_int_equal(lg_filters_open(&data, tags_path, &options, &f, &error), LG_USAGE);
    if (!strstr(error.message, "no level 'nuon' of tag")) fail_msg("%s", error.message);
}

/* ---- the file ---- */

static lg_filters *with_file(const char *text, const char *const *only) {
    filter_write_file(fixture_path("f.txt"), text);
    char path[128];
    snprintf(path, sizeof path, "%s", fixture_path("f.txt"));
    lg_filter_options options = {
        .file = path, .only = only, .pair = scores, .hard = &scores[2], .threads = 2, .command = "x"};
    return filter_make(&options, tags_path);
}

static void file_of_filters(void **state) {
    (void)state;
    static const char *const names[] = {"all",   "state", "copy5", "hard_copy5", "open", "close", "function",
                                        "novel", "reuse", "nouns", "content",    "both", "long",  "again"};
    lg_filters *f = with_file("# what we look at\n"
                              "nouns = family = noun\n"
                              "\n"
                              "  content: class = content and copy_len = 0\r\n"
                              "both = nouns and content   \n"
                              "long : relpos > 0.5 and \\\n"
                              "       loss(hard) > 3\n"
                              "again = reuse = reuse", /* the column of that name, not the filter */
                              NULL);
    assert_int_equal(lg_filters_n(f), sizeof names / sizeof *names);
    for (size_t i = 0; i < lg_filters_n(f); i++) assert_string_equal(lg_filters_at(f, i)->name, names[i]);
    const lg_filter *nouns = filter_find(f, "nouns"), *content = filter_find(f, "content"),
                    *both = filter_find(f, "both"), *again = filter_find(f, "again"),
                    *reuse = filter_find(f, "reuse"), *lengthy = filter_find(f, "long");
    assert_string_equal(content->expression, "class = content and copy_len = 0");
    assert_string_equal(lengthy->expression, "relpos > 0.5 and loss(hard) > 3");
    assert_true(both->tokens > 0 && both->tokens < nouns->tokens);
    for (size_t i = 0; i < data.n_tokens; i++) {
        assert_int_equal(both->mask[i], nouns->mask[i] && content->mask[i]);
        assert_int_equal(again->mask[i], reuse->mask[i]);
    }
    uint64_t late = 0; /* where there is no loss, it cannot be told */
    for (size_t d = 0; d < data.n_docs; d++)
        for (size_t b = (size_t)lg_begin_of(data.doc_token_end, d), i = b; i < data.doc_token_end[d]; i++)
            late +=
                isnan(scores[2].nll[i]) && (double)(i - b + 1) / (double)(data.doc_token_end[d] - b) > 0.5;
    assert_int_equal(lengthy->unknown, late);
    lg_filters_close(f);

    static const char *const only[] = {"both", "all", NULL}; /* what it is made of need not be asked for */
    f = with_file("nouns = family = noun\nboth = nouns and novel\n", only);
    assert_int_equal(lg_filters_n(f), 2);
    assert_int_equal(lg_filters_n_left_out(f), 0);
    assert_string_equal(lg_filters_at(f, 0)->name, "both");
    assert_string_equal(lg_filters_at(f, 1)->name, "all");
    assert_true(lg_filters_at(f, 0)->tokens > 0);
    lg_filters_close(f);

    f = with_file("\xEF\xBB\xBFnone = 1 = 2\n", (const char *const[]){"none", NULL});
    assert_int_equal(lg_filters_at(f, 0)->tokens, 0);
    assert_string_equal(lg_filters_at(f, 0)->note, "holds for no token");
    lg_filters_close(f);
}

static void refuses(const char *text, size_t length, lg_status expected, const char *message) {
    lg_error error = {0};
    lg_filters *f;
    FILE *file = fopen(fixture_path("bad.txt"), "w");
    fwrite(text, 1, length ? length : strlen(text), file);
    fclose(file);
    char path[128];
    snprintf(path, sizeof path, "%s", fixture_path("bad.txt"));
    lg_filter_options options = {.file = path, .threads = 1};
    assert_int_equal(lg_filters_open(&data, tags_path, &options, &f, &error), expected);
    assert_null(f);
    if (!strstr(error.message, message) || !strstr(error.message, path)) fail_msg("%s", error.message);
}

static void broken_files(void **state) {
    (void)state;
    refuses("nouns\n", 0, LG_BAD_INPUT, ":1: column 6: expected NAME = EXPRESSION");
    refuses("\n\n= family = noun\n", 0, LG_BAD_INPUT, ":3: column 1: expected NAME");
    refuses("1st = family = noun\n", 0, LG_BAD_INPUT, ":1: column 1: expected NAME");
    refuses("my nouns = family = noun\n", 0, LG_BAD_INPUT, ":1: column 4: expected NAME");
    refuses("a = family = noun\n# and\nnouns =\n", 0, LG_BAD_INPUT, ":3: filter 'nouns' has no expression");
    refuses("a = family = noun\na: family = verb\n", 0, LG_BAD_INPUT,
            ":2: filter 'a' is defined above already");
    refuses("token_id = copy_len > 1\n", 0, LG_BAD_INPUT, ":1: 'token_id' is an array of the masks");
    refuses("in = copy_len > 1\n", 0, LG_BAD_INPUT, ":1: 'in' is a word of the language");
    refuses("a = copy_len > 1\nb = family = nuon\n", 0, LG_BAD_INPUT,
            ":2: filter b 'family = nuon', column 10: no level 'nuon' of family; did you mean noun?");
    refuses("a = copy_len > 1 and \\\n b > 2\nb = family = nuon\n", 0, LG_BAD_INPUT, ":1: filter a");
    refuses("a = copy_len\n", 0, LG_BAD_INPUT, ":1: filter a");
    refuses("a = loss > 1\n", 0, LG_BAD_INPUT, ":1: filter a");
    refuses("a = copy_len > 1\nb = \0\n", 24, LG_BAD_INPUT, ":2: a zero byte");
    char text[200];
    memset(text, 'x', sizeof text);
    memcpy(text + 65, " = 1 = 1\n", 10);
    refuses(text, 0, LG_BAD_INPUT, ":1: a filter's name has at most 64 bytes");
    lg_text many = {0};
    for (size_t i = 0; i < 257; i++) lg_text_printf(&many, "f%zu = 1 = 1\n", i);
    refuses(many.data, 0, LG_BAD_INPUT, ":257: at most 256 filters");
    lg_text_free(&many);
    lg_error error = {0};
    lg_filters *f;
    lg_filter_options options = {.file = "/nowhere/filters.txt"};
    assert_int_equal(lg_filters_open(&data, tags_path, &options, &f, &error), LG_BAD_INPUT);
    assert_non_null(strstr(error.message, "/nowhere/filters.txt"));
}

/* ---- what cannot be made ---- */

static const char *why(const lg_filters *f, const char *name) {
    for (size_t i = 0; i < lg_filters_n_left_out(f); i++)
        if (strcmp(lg_filters_left_out(f, i)->name, name) == 0) return lg_filters_left_out(f, i)->reason;
    return "it is not left out";
}

static void left_out(void **state) {
    (void)state;
    lg_filter_options options = {.threads = 1};
    lg_filters *f = filter_make(&options, tags_path);
    assert_int_equal(lg_filters_n(f), 8);
    assert_int_equal(lg_filters_n_left_out(f), 2);
    assert_non_null(strstr(why(f, "state"), "--scores"));
    assert_non_null(strstr(why(f, "hard_copy5"), "--hard"));
    lg_filters_close(f);
    f = filter_make(&options, NULL);
    assert_int_equal(lg_filters_n(f), 1);
    assert_int_equal(lg_filters_n_left_out(f), 9);
    assert_string_equal(why(f, "copy5"), "needs tags");
    lg_filters_close(f);

    static const struct {
        const char *only[3], *message;
    } cases[] = {{{"state"}, "filter 'state' cannot be made: needs the scores of a pair"},
                 {{"all", "hard_copy5"}, "filter 'hard_copy5' cannot be made"},
                 {{"al"}, "there is no filter 'al'; there are all, state, copy5"},
                 {{"all", "all"}, "filter 'all' is named twice"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lg_error error = {0};
        options.only = cases[i].only;
        assert_int_equal(lg_filters_open(&data, tags_path, &options, &f, &error), LG_USAGE);
        if (!strstr(error.message, cases[i].message)) fail_msg("%s", error.message);
    }
    /* too little text for `state` to choose by: said, not guessed */
    lg_scores few[2] = {scores[0], scores[1]};
    float *none = malloc(data.n_tokens * sizeof *none);
    for (size_t i = 0; i < data.n_tokens; i++) none[i] = i < 300 ? 1.0f : NAN;
    few[0].nll = few[1].nll = none;
    options = (lg_filter_options){.pair = few};
    f = filter_make(&options, tags_path);
    if (!strstr(why(f, "state"), "has 200 tokens in 20 documents")) fail_msg("%s", why(f, "state"));
    lg_filters_close(f);
    free(none);
}

static void any_threads(void **state) {
    (void)state;
    lg_filter_options options = everything;
    options.threads = 1;
    lg_filters *one = filter_make(&options, tags_path);
    for (unsigned threads = 2; threads < 8; threads += 3) {
        options.threads = threads;
        lg_filters *f = filter_make(&options, tags_path);
        assert_int_equal(lg_filters_n(f), lg_filters_n(one));
        for (size_t i = 0; i < lg_filters_n(f); i++) {
            const lg_filter *x = lg_filters_at(f, i), *y = lg_filters_at(one, i);
            assert_memory_equal(x->mask, y->mask, data.n_tokens);
            assert_true(x->tokens == y->tokens && x->unknown == y->unknown);
        }
        assert_string_equal(lg_filters_settings(f), lg_filters_settings(one));
        lg_filters_close(f);
    }
    lg_filters_close(one);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies),
        cmocka_unit_test(classes_and_delimiters),
        cmocka_unit_test(halves),
        cmocka_unit_test(halves_of_many),
        cmocka_unit_test(state_is_chosen_on_the_other_half),
        cmocka_unit_test(state_of_a_list),
        cmocka_unit_test(file_of_filters),
        cmocka_unit_test(broken_files),
        cmocka_unit_test(left_out),
        cmocka_unit_test(any_threads),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
