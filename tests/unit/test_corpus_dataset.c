/* Datasets built from corpora: exact arrays, limits, threads, packing, hostile text, stopping. */
#include "corpus_files.h"

#include <dirent.h>

#include "base/hash.h"
#include "base/json.h"
#include "lossgap/dataset.h"

/* A tokenizer whose tokens are bytes: id = byte, so that what must come out is known without it. Only its
   special tokens (<|endoftext|> 256, <|x|> 257) are longer. */
static void put_byte_tokenizer(const char *name) {
    lg_text json = {0};
    lg_text_puts(
        &json,
        "{\"version\": \"1.0\", \"truncation\": null, \"padding\": null, \"added_tokens\": ["
        "{\"id\": 256, \"content\": \"<|endoftext|>\", \"single_word\": false, \"lstrip\": false, "
        "\"rstrip\": false, \"normalized\": false, \"special\": true},"
        "{\"id\": 257, \"content\": \"<|x|>\", \"single_word\": false, \"lstrip\": false, "
        "\"rstrip\": false, \"normalized\": false, \"special\": true}],"
        "\"normalizer\": null, \"pre_tokenizer\": {\"type\": \"ByteLevel\", \"add_prefix_space\": false, "
        "\"trim_offsets\": false, \"use_regex\": false}, \"post_processor\": null, "
        "\"decoder\": {\"type\": \"ByteLevel\"}, \"model\": {\"type\": \"BPE\", \"dropout\": null, "
        "\"unk_token\": null, \"continuing_subword_prefix\": null, \"end_of_word_suffix\": null, "
        "\"fuse_unk\": false, \"byte_fallback\": false, \"merges\": [], \"vocab\": {");
    for (unsigned byte = 0, shifted = 0; byte < 256; byte++) { /* GPT-2's letters for bytes */
        bool plain = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
        lg_text_printf(&json, "%s\"\\u%04x\": %u", byte ? ", " : "", plain ? byte : 256 + shifted++, byte);
    }
    lg_text_puts(&json, "}}}");
    put_bytes(name, json.data, json.length);
    lg_text_free(&json);
}

typedef struct notes {
    char text[4000];
    uint64_t done, total;
    unsigned calls, stop_after; /* 0: never */
} notes;

static void on_note(void *context, const char *message) {
    notes *n = context;
    strncat(n->text, message, sizeof n->text - strlen(n->text) - 2);
    strcat(n->text, "\n");
}

static void on_progress(void *context, const char *unit, uint64_t done, uint64_t total) {
    notes *n = context;
    assert_string_equal(unit, "bytes");
    assert_true(done >= n->done && done <= total);
    n->done = done;
    n->total = total;
}

static bool on_cancelled(void *context) {
    notes *n = context;
    return n->stop_after && ++n->calls >= n->stop_after;
}

static lg_monitor monitor_of(notes *n) {
    return (lg_monitor){n, on_progress, on_note, on_cancelled};
}

static void build(const char *corpus, const char *out, lg_dataset_options options, notes *n) {
    lg_error error = {0};
    const char *path = in_scratch(corpus);
    lg_monitor monitor = monitor_of(n);
    lg_status status = lg_dataset_build(&path, 1, &options, in_scratch(out), n ? &monitor : NULL, &error);
    assert_string_equal(error.message, "");
    assert_int_equal(status, LG_OK);
}

static void build_fails(const char *corpus, lg_dataset_options options, lg_status expected,
                        const char *part) {
    lg_error error = {0};
    const char *path = in_scratch(corpus);
    assert_int_equal(mkdir(in_scratch("none"), 0700), 0);
    lg_status status = lg_dataset_build(&path, 1, &options, in_scratch("none/data"), NULL, &error);
    if (status != expected || !strstr(error.message, part))
        fail_msg("%d \"%s\" is not %d \"%s\"", status, error.message, expected, part);
    assert_int_equal(rmdir(in_scratch("none")), 0); /* nothing is left */
}

static lg_dataset load(const char *name) {
    lg_dataset d;
    lg_error error = {0};
    lg_status status = lg_dataset_open(in_scratch(name), &d, &error);
    assert_string_equal(error.message, "");
    assert_int_equal(status, LG_OK);
    return d;
}

static void assert_same_files(const char *a, const char *b) {
    lg_mapping x, y;
    assert_int_equal(lg_map(in_scratch(a), &x, NULL), LG_OK);
    assert_int_equal(lg_map(in_scratch(b), &y, NULL), LG_OK);
    assert_int_equal(x.size, y.size);
    assert_memory_equal(x.data, y.data, x.size);
    lg_unmap(&x);
    lg_unmap(&y);
}

static void assert_name(const lg_dataset *d, size_t doc, const char *name) {
    uint64_t begin = lg_begin_of(d->doc_name_end, doc);
    assert_int_equal(d->doc_name_end[doc] - begin, strlen(name));
    assert_memory_equal(d->doc_name + begin, name, strlen(name));
}

/* Every document's tokens are its bytes, and nothing is lost between documents. */
static void assert_bytes_are_tokens(const lg_dataset *d) {
    assert_int_equal(d->n_bytes, d->n_tokens);
    for (size_t doc = 0; doc < d->n_docs; doc++)
        assert_int_equal(d->doc_text_end[doc], d->doc_token_end[doc]);
    for (size_t i = 0; i < d->n_tokens; i++) {
        assert_int_equal(d->token_id[i], (unsigned char)d->text[i]);
        assert_int_equal(d->token_end[i], i + 1);
    }
}

static uint64_t number_in(const char *json, const char *key) {
    lg_arena arena = {0};
    lg_json_value *value;
    assert_int_equal(lg_json_parse(&arena, json, strlen(json), "json", &value, NULL), LG_OK);
    const lg_json_value *member = lg_json_get(value, key);
    assert_non_null(member);
    uint64_t number = (uint64_t)member->integer;
    lg_arena_free(&arena);
    return number;
}

static void test_input_ids(void **state) {
    (void)state;
    put_text("ids.jsonl", "{\"input_ids\": [3, 1, 4], \"id\": \"pi\", \"domain\": \"math\"}\n"
                          "{\"input_ids\": []}\n"
                          "{\"input_ids\": [2147483647], \"domain\": \"math\", \"kind\": \"html\"}\n"
                          "{\"input_ids\": [3, 1, 4], \"domain\": \"a\\\"b\"}\n");
    notes n = {0};
    build("ids.jsonl", "ids.data", (lg_dataset_options){.input_ids = true, .command = "the command"}, &n);
    lg_dataset d = load("ids.data");
    assert_int_equal(d.n_docs, 4);
    assert_int_equal(d.n_tokens, 7);
    assert_int_equal(d.n_bytes, 0);
    assert_false(d.has_text);
    assert_string_equal(d.tokenizer, "");
    assert_int_equal(d.max_token_id, 2147483647);
    static const uint32_t ids[] = {3, 1, 4, 2147483647, 3, 1, 4};
    static const uint64_t token_ends[] = {3, 3, 4, 7};
    static const uint8_t kinds[] = {LG_PROSE, LG_PROSE, LG_HTML, LG_PROSE};
    static const uint16_t domains[] = {0, 1, 0, 2};
    assert_memory_equal(d.token_id, ids, sizeof ids);
    assert_memory_equal(d.doc_token_end, token_ends, sizeof token_ends);
    assert_memory_equal(d.doc_kind, kinds, sizeof kinds);
    assert_memory_equal(d.doc_domain, domains, sizeof domains);
    for (size_t i = 0; i < 7; i++) assert_int_equal(d.token_end[i], 0);
    for (size_t i = 0; i < 4; i++) assert_int_equal(d.doc_text_end[i], 0);
    assert_name(&d, 0, "pi");
    assert_name(&d, 1, "ids.jsonl:2");
    assert_int_equal(d.n_domains, 3);
    assert_string_equal(d.domains[0], "math");
    assert_string_equal(d.domains[1], "prose");
    assert_string_equal(d.domains[2], "a\"b");
    const lg_provenance *p = lg_table_provenance(d.table);
    assert_string_equal(p->command, "the command");
    assert_int_equal(number_in(p->about, "documents"), 4);
    assert_int_equal(number_in(p->about, "duplicates"), 1);
    assert_int_equal(number_in(p->about, "empty"), 1);
    assert_non_null(strstr(n.text, "1 document has the content of an earlier one"));
    assert_non_null(strstr(n.text, "1 document is empty"));
    lg_dataset_close(&d);
}

static void test_text(void **state) {
    (void)state;
    put_byte_tokenizer("tok/tokenizer.json");
    static const char odd[] = "\xef\xbb\xbf"
                              "a\r\n\0\xff\xfe \xe2\x80\xa8\xe2\x80\xa9<|endoftext|>\xf0\x9f\x98";
    put_bytes("odd/1.txt", odd, sizeof odd - 1);
    put_text("odd/2.py", "");
    put_text("odd/3.html", "<");
    put_text("odd/4.txt", "same");
    put_text("odd/5.jsonl", "{\"text\": \"same\"}\n{\"text\": \"\\ud800\\u0000\", \"source\": \"web\"}\n");
    put_text("odd/6.c", "int x;");
    notes n = {0};
    build("odd", "odd.data", (lg_dataset_options){.tokenizer = in_scratch("tok")}, &n);
    lg_dataset d = load("odd.data");
    assert_int_equal(d.n_docs, 6);
    assert_true(d.has_text);
    assert_bytes_are_tokens(&d);
    assert_memory_equal(d.text, odd, sizeof odd - 1);
    assert_memory_equal(d.text + sizeof odd - 1, "<samesame\xef\xbf\xbd\0", 13);
    assert_string_equal(d.domains[d.doc_domain[5]], "web");
    assert_string_equal(d.domains[d.doc_domain[2]], "html");
    assert_int_equal(d.doc_kind[1], LG_PYTHON);
    const char *about = lg_table_provenance(d.table)->about;
    assert_int_equal(number_in(about, "duplicates"), 1);
    assert_int_equal(number_in(about, "empty"), 1);
    assert_int_equal(number_in(about, "invalid_utf8"), 1);
    assert_int_equal(number_in(about, "lone_surrogates"), 1);
    assert_non_null(strstr(about, "{\".c\":1}"));
    assert_non_null(strstr(n.text, ".c 1"));
    lg_dataset_close(&d);

    build("odd", "special.data", (lg_dataset_options){.tokenizer = in_scratch("tok"), .parse_special = true},
          NULL);
    d = load("special.data");
    assert_int_equal(d.n_bytes - d.n_tokens, strlen("<|endoftext|>") - 1);
    assert_int_equal(d.max_token_id, 256);
    lg_dataset_close(&d);
}

/* Texts of all lengths, many documents, over several batches. */
static void put_corpus(const char *folder, size_t n, size_t longest) {
    lg_text lines = {0}, text = {0};
    uint32_t x = 12345;
    char name[300];
    for (size_t i = 0; i < n; i++) {
        text.length = 0;
        size_t length = (x = x * 1664525 + 1013904223) % longest;
        if (i % 7 == 3) length = length % 20;
        for (size_t k = 0; k < length; k++) {
            x = x * 1664525 + 1013904223;
            char c = (char)('a' + (x >> 24) % 26);
            lg_text_put(&text, x >> 29 ? &c : " ", 1);
        }
        static const char *const domains[] = {"one", "two", "three"};
        lg_text_printf(&lines, "{\"id\": %zu, \"domain\": \"%s\", \"text\": \"%s\"}\n", i, domains[i % 3],
                       text.data ? text.data : "");
        if (i % 5 == 0) {
            snprintf(name, sizeof name, "%s/%zu.tex", folder, i);
            put_bytes(name, text.data ? text.data : "", text.length);
        }
    }
    snprintf(name, sizeof name, "%s/lines.jsonl", folder);
    put_bytes(name, lines.data, lines.length);
    lg_text_free(&lines);
    lg_text_free(&text);
}

static void test_threads(void **state) {
    (void)state;
    put_byte_tokenizer("tok/tokenizer.json");
    put_corpus("many", 900, 30000);
    notes n = {0};
    for (unsigned threads = 1; threads <= 3; threads++) {
        char out[40];
        snprintf(out, sizeof out, "many%u.data", threads);
        memset(&n, 0, sizeof n);
        build("many", out,
              (lg_dataset_options){.tokenizer = in_scratch("tok"), .threads = threads, .command = "c"}, &n);
        assert_true(n.done > 10000000);
        if (threads > 1) assert_same_files("many1.data", out);
    }
    lg_dataset d = load("many1.data");
    assert_int_equal(d.n_docs, 900 + 180);
    assert_bytes_are_tokens(&d);
    lg_dataset_close(&d);
}

/* Long documents among short ones; in one batch, and alone. */
static void test_huge(void **state) {
    (void)state;
    enum { LONG = 5000000 };
    static const size_t lengths[] = {3, LONG, 0, 7, 100000, LONG / 2, LONG / 2, 1};
    put_byte_tokenizer("tok/tokenizer.json");
    lg_text lines = {0};
    char *text = malloc(LONG + 1);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        memset(text, 'a' + (int)i, lengths[i]);
        text[lengths[i]] = '\0';
        lg_text_printf(&lines, "{\"text\": \"%s\"}\n", text);
    }
    put_bytes("huge.jsonl", lines.data, lines.length);
    lg_text_free(&lines);
    for (unsigned threads = 1; threads <= 2; threads++)
        build("huge.jsonl", threads == 1 ? "huge1.data" : "huge2.data",
              (lg_dataset_options){.tokenizer = in_scratch("tok"), .threads = threads, .command = "c"}, NULL);
    assert_same_files("huge1.data", "huge2.data");
    lg_dataset d = load("huge1.data");
    assert_int_equal(d.n_docs, 8);
    assert_bytes_are_tokens(&d);
    for (size_t i = 0; i < d.n_docs; i++) {
        uint64_t begin = lg_begin_of(d.doc_text_end, i);
        assert_int_equal(d.doc_text_end[i] - begin, lengths[i]);
        for (size_t k = 0; k < lengths[i]; k++) assert_int_equal(d.text[begin + k], 'a' + (int)i);
    }
    lg_dataset_close(&d);
    free(text);
}

/* Is document DOC in the sample by definition: its tokens and those of all before it in its domain's order of
   (hash, place) are at most the limit? */
static bool belongs(const lg_dataset *all, const lg_hash *hashes, size_t doc, uint64_t limit) {
    uint64_t sum = 0;
    for (size_t i = 0; i < all->n_docs; i++) {
        if (all->doc_domain[i] != all->doc_domain[doc]) continue;
        lg_hash a = hashes[i], b = hashes[doc];
        bool before = a.high != b.high ? a.high < b.high : a.low != b.low ? a.low < b.low : i <= doc;
        if (before) sum += all->doc_token_end[i] - lg_begin_of(all->doc_token_end, i);
    }
    return sum <= limit;
}

static void test_limit(void **state) {
    (void)state;
    enum { N = 300 };
    put_byte_tokenizer("tok/tokenizer.json");
    put_corpus("limited", N, 3000);
    bool before[2 * N] = {false};
    lg_dataset_options o = {.tokenizer = in_scratch("tok"), .command = "c"};
    build("limited", "all.data", o, NULL);
    lg_dataset all = load("all.data");
    size_t kept_before = 0;
    lg_hash hashes[2 * N];
    for (size_t i = 0; i < all.n_docs; i++) {
        uint64_t begin = lg_begin_of(all.doc_text_end, i);
        hashes[i] = lg_hash_of(all.text + begin, all.doc_text_end[i] - begin);
    }
    for (o.limit = 100; o.limit < 1000000; o.limit *= 3) {
        notes n = {0};
        o.threads = 1;
        build("limited", "limit1.data", o, &n);
        o.threads = 2;
        build("limited", "limit2.data", o, NULL);
        assert_same_files("limit1.data", "limit2.data");
        lg_dataset d = load("limit1.data");
        assert_bytes_are_tokens(&d);
        uint64_t tokens[4] = {0};
        size_t j = 0; /* documents stay in order; match each with the next of its name */
        bool kept[2 * N] = {false};
        for (size_t i = 0; i < d.n_docs; i++, j++) {
            for (;; j++) {
                assert_true(j < all.n_docs);
                uint64_t b = lg_begin_of(d.doc_name_end, i), c = lg_begin_of(all.doc_name_end, j);
                if (d.doc_name_end[i] - b == all.doc_name_end[j] - c &&
                    !memcmp(d.doc_name + b, all.doc_name + c, d.doc_name_end[i] - b))
                    break;
            }
            kept[j] = true;
            assert_string_equal(d.domains[d.doc_domain[i]], all.domains[all.doc_domain[j]]);
            assert_int_equal(d.doc_kind[i], all.doc_kind[j]);
            assert_true(d.doc_domain[i] < 4);
            tokens[d.doc_domain[i]] += d.doc_token_end[i] - lg_begin_of(d.doc_token_end, i);
        }
        for (size_t i = 0; i < all.n_docs; i++) assert_true(kept[i] || !before[i]);
        for (size_t i = 0; i < all.n_docs; i++) assert_int_equal(kept[i], belongs(&all, hashes, i, o.limit));
        for (size_t i = 0; i < 4; i++) assert_true(tokens[i] <= o.limit);
        assert_true(d.n_docs >= kept_before);
        assert_non_null(strstr(n.text, "left"));
        kept_before = d.n_docs;
        memcpy(before, kept, sizeof kept);
        lg_dataset_close(&d);
    }
    assert_int_equal(kept_before, all.n_docs); /* a limit beyond all leaves all */
    lg_dataset_close(&all);

    put_text("long.jsonl", "{\"text\": \"much too long\"}\n{\"text\": \"ok\", \"domain\": \"d\"}\n");
    notes n = {0};
    o.limit = 5;
    build("long.jsonl", "long.data", o, &n);
    lg_dataset d = load("long.data");
    assert_int_equal(d.n_docs, 1);
    assert_int_equal(d.n_domains, 1);
    assert_non_null(strstr(
        n.text, "domain prose has no documents under the limit of 5 tokens: its first by hash has 13"));
    lg_dataset_close(&d);
}

static void test_packed(void **state) {
    (void)state;
    put_byte_tokenizer("tok/tokenizer.json");
    put_corpus("plain", 40, 5000);
    lg_mapping m;
    unsigned char *packed = malloc(1 << 20);
    for (size_t i = 0; i < 40; i += 5) {
        char name[60];
        snprintf(name, sizeof name, "plain/%zu.tex", i);
        assert_int_equal(lg_map(in_scratch(name), &m, NULL), LG_OK);
        snprintf(name, sizeof name, "gz/%zu.tex.gz", i);
        put_bytes(name, packed, pack_gzip(m.data ? (const void *)m.data : "", m.size, packed, 1 << 20));
        snprintf(name, sizeof name, "zst/%zu.tex.zst", i);
        put_bytes(name, packed, pack_zstd(m.data, m.size, packed, 1 << 20));
        lg_unmap(&m);
    }
    assert_int_equal(lg_map(in_scratch("plain/lines.jsonl"), &m, NULL), LG_OK);
    put_bytes("gz/lines.jsonl.gz", packed, pack_gzip(m.data, m.size, packed, 1 << 20));
    put_bytes("zst/lines.jsonl.zst", packed, pack_zstd(m.data, m.size, packed, 1 << 20));
    lg_unmap(&m);
    free(packed);
    lg_dataset_options o = {.tokenizer = in_scratch("tok"), .command = "c"};
    build("plain", "plain.data", o, NULL);
    build("gz", "gz.data", o, NULL);
    build("zst", "zst.data", o, NULL);
    assert_same_files("plain.data", "gz.data");
    assert_same_files("plain.data", "zst.data");
}

static void test_refusals(void **state) {
    (void)state;
    lg_dataset_options ids = {.input_ids = true}, text;
    put_byte_tokenizer("tok/tokenizer.json");
    text = (lg_dataset_options){.tokenizer = in_scratch("tok")};
    put_text("r/good.jsonl", "{\"text\": \"x\"}");
    put_text("r/bad.jsonl", "{\"text\": \"x\"}\n{\"text\": 1}");
    put_text("nothing/x.c", "int");
    put_text("blank.jsonl", "\n\n");
    build_fails("r", text, LG_BAD_INPUT, "bad.jsonl:2");
    build_fails("nothing", text, LG_BAD_INPUT, "no documents");
    build_fails("blank.jsonl", text, LG_BAD_INPUT, "no documents");
    build_fails("missing", text, LG_BAD_INPUT, "missing");
    build_fails("nothing/x.c", text, LG_BAD_INPUT, "--kind");
    build_fails("r/good.jsonl", ids, LG_BAD_INPUT, "no \"input_ids\"");
    build_fails("r/good.jsonl", (lg_dataset_options){0}, LG_USAGE, "tokenizer");
    ids.tokenizer = in_scratch("tok");
    build_fails("r/good.jsonl", ids, LG_USAGE, "no tokenizer");
    text.kind = "verse";
    build_fails("r/good.jsonl", text, LG_USAGE, "verse");
    text.kind = NULL;
    text.tokenizer = in_scratch("nowhere");
    build_fails("r/good.jsonl", text, LG_BAD_INPUT, "nowhere");
    /* the output must not replace a part of the corpus */
    lg_error error = {0};
    const char *path = in_scratch("r/good.jsonl");
    text.tokenizer = in_scratch("tok");
    assert_int_equal(lg_dataset_build(&path, 1, &text, path, NULL, &error), LG_USAGE);
    assert_non_null(strstr(error.message, "overwritten"));
    assert_int_equal(lg_dataset_build(&path, 1, &text, in_scratch("no/such/folder/data"), NULL, &error),
                     LG_FAILED);

    lg_text many = {0};
    for (unsigned i = 0; i < 65536; i++) lg_text_printf(&many, "{\"input_ids\":[1],\"domain\":\"%u\"}\n", i);
    put_bytes("domains.jsonl", many.data, many.length);
    ids.tokenizer = NULL;
    build_fails("domains.jsonl", ids, LG_BAD_INPUT, "more than 65535 domains");
    many.length = (size_t)(strrchr(many.data, '{') - many.data);
    put_bytes("domains.jsonl", many.data, many.length);
    build("domains.jsonl", "domains.data", ids, NULL);
    lg_dataset d = load("domains.data");
    assert_int_equal(d.n_domains, 65535);
    lg_dataset_close(&d);
    lg_text_free(&many);
}

static void test_stopping(void **state) {
    (void)state;
    put_byte_tokenizer("tok/tokenizer.json");
    put_corpus("stopped", 400, 30000);
    lg_dataset_options o = {.tokenizer = in_scratch("tok")};
    for (o.limit = 0; o.limit <= 1000; o.limit += 1000) {
        notes n = {.stop_after = 3};
        lg_monitor monitor = monitor_of(&n);
        lg_error error = {0};
        const char *path = in_scratch("stopped");
        assert_int_equal(mkdir(in_scratch("none"), 0700), 0);
        assert_int_equal(lg_dataset_build(&path, 1, &o, in_scratch("none/data"), &monitor, &error),
                         LG_CANCELLED);
        assert_int_equal(rmdir(in_scratch("none")), 0);
    }
}

/* Adds a document to the corpus once the second pass has begun. */
static void add_document(void *context, const char *unit, uint64_t done, uint64_t total) {
    bool *added = context;
    (void)unit;
    if (*added || 2 * done <= total) return;
    FILE *f = fopen(in_scratch("changed/lines.jsonl"), "a");
    assert_non_null(f);
    fputs("{\"text\": \"new\"}\n", f);
    assert_int_equal(fclose(f), 0);
    *added = true;
}

static void test_changed(void **state) {
    (void)state;
    put_byte_tokenizer("tok/tokenizer.json");
    put_corpus("changed", 400, 30000);
    bool added = false;
    lg_monitor monitor = {.context = &added, .progress = add_document};
    lg_dataset_options o = {.tokenizer = in_scratch("tok"), .limit = 1000};
    lg_error error = {0};
    const char *path = in_scratch("changed");
    assert_int_equal(mkdir(in_scratch("none"), 0700), 0);
    assert_int_equal(lg_dataset_build(&path, 1, &o, in_scratch("none/data"), &monitor, &error), LG_BAD_INPUT);
    assert_true(added);
    assert_non_null(strstr(error.message, "changed while it was read"));
    assert_int_equal(rmdir(in_scratch("none")), 0);
}

static void test_current(void **state) {
    (void)state;
    put_byte_tokenizer("tok/tokenizer.json");
    put_text("fresh/a.txt", "hello");
    put_text("fresh/b.txt", "world");
    const char *path = in_scratch("fresh"), *data = in_scratch("fresh.data");
    lg_dataset_options o = {.tokenizer = in_scratch("tok"), .limit = 1000};
    bool current = true;
    assert_int_equal(lg_dataset_is_current(data, &path, 1, &o, NULL, &current, NULL), LG_OK);
    assert_false(current);
    build("fresh", "fresh.data", o, NULL);
    assert_int_equal(lg_dataset_is_current(data, &path, 1, &o, NULL, &current, NULL), LG_OK);
    assert_true(current);
    o.threads = 1;
    o.command = "another";
    assert_int_equal(lg_dataset_is_current(data, &path, 1, &o, NULL, &current, NULL), LG_OK);
    assert_true(current);
    for (int change = 0; change < 4; change++) {
        lg_dataset_options other = o;
        if (change == 0) other.limit = 0;
        if (change == 1) other.parse_special = true;
        if (change == 2) other.domain = "d";
        if (change == 3) other.kind = "html";
        assert_int_equal(lg_dataset_is_current(data, &path, 1, &other, NULL, &current, NULL), LG_OK);
        assert_false(current);
    }
    put_text("fresh/b.txt", "World");
    assert_int_equal(lg_dataset_is_current(data, &path, 1, &o, NULL, &current, NULL), LG_OK);
    assert_false(current);
    put_text("fresh.data", "no dataset");
    assert_int_equal(lg_dataset_is_current(data, &path, 1, &o, NULL, &current, NULL), LG_OK);
    assert_false(current);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_input_ids), cmocka_unit_test(test_text),     cmocka_unit_test(test_threads),
        cmocka_unit_test(test_huge),      cmocka_unit_test(test_limit),    cmocka_unit_test(test_packed),
        cmocka_unit_test(test_refusals),  cmocka_unit_test(test_stopping), cmocka_unit_test(test_changed),
        cmocka_unit_test(test_current),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
