/* Files, streams and documents of a corpus. */
#include "corpus_files.h"

#include "corpus/reader.h"

/* All documents, one line each: kind domain name content, in brackets what could hide. */
static char *read_all(const char *const *paths, size_t n_paths, int kind, const char *domain, bool input_ids,
                      lg_error *error) {
    lg_corpus_files files = {0};
    lg_reader *reader = NULL;
    lg_text content = {0}, out = {0};
    lg_status status = lg_corpus_files_find(paths, n_paths, kind >= 0, input_ids, &files, error);
    if (!status) status = lg_reader_create(&files, kind, domain, input_ids, &reader, error);
    bool more = true;
    lg_text_puts(&out, "");
    while (!status) {
        lg_document d;
        content.length = 0;
        status = lg_reader_next(reader, &content, &d, &more, error);
        if (status || !more) break;
        assert_int_equal(content.length, d.size);
        lg_text_printf(&out, "%s [%.*s] [%.*s] [", lg_kind_name(d.kind), (int)d.domain.length, d.domain.data,
                       (int)d.name.length, d.name.data);
        if (input_ids)
            for (size_t i = 0; i < d.size / 4; i++)
                lg_text_printf(&out, "%s%u", i ? " " : "", ((uint32_t *)(void *)content.data)[i]);
        else lg_text_put(&out, content.data, d.size);
        lg_text_puts(&out, "]");
        if (d.lone_surrogates) lg_text_printf(&out, " %zu lone", d.lone_surrogates);
        lg_text_puts(&out, "\n");
    }
    lg_text_free(&content);
    lg_reader_free(reader);
    lg_corpus_files_free(&files);
    if (!status) return out.data;
    assert_int_equal(status, error ? error->status : status);
    lg_text_free(&out);
    return NULL;
}

static void expect_all(const char *name, int kind, const char *domain, bool input_ids, const char *expected) {
    lg_error error = {0};
    const char *path = in_scratch(name);
    char *got = read_all(&path, 1, kind, domain, input_ids, &error);
    assert_string_equal(error.message, "");
    assert_string_equal(got, expected);
    free(got);
}

static void expect_error(const char *name, bool input_ids, lg_status status, const char *part,
                         const char *part2) {
    lg_error error = {0};
    const char *path = in_scratch(name);
    assert_null(read_all(&path, 1, -1, NULL, input_ids, &error));
    assert_int_equal(error.status, status);
    if (!strstr(error.message, part) || !strstr(error.message, part2))
        fail_msg("\"%s\" does not hold \"%s\" and \"%s\"", error.message, part, part2);
}

static void test_endings(void **state) {
    (void)state;
    static const struct {
        const char *name;
        bool known, jsonl;
        lg_packing packing;
        lg_kind kind;
        const char *ending;
    } all[] = {
        {"a.txt", true, false, LG_PLAIN, LG_PROSE, ".txt"},
        {"x/a.MD", true, false, LG_PLAIN, LG_PROSE, ".MD"},
        {"a.rst.gz", true, false, LG_GZIP, LG_PROSE, ".rst.gz"},
        {"a.py.ZST", true, false, LG_ZSTD, LG_PYTHON, ".py.ZST"},
        {"a.html", true, false, LG_PLAIN, LG_HTML, ".html"},
        {"a.b.Htm", true, false, LG_PLAIN, LG_HTML, ".Htm"},
        {"a.tex", true, false, LG_PLAIN, LG_LATEX, ".tex"},
        {"a.ltx", true, false, LG_PLAIN, LG_LATEX, ".ltx"},
        {"a.latex", true, false, LG_PLAIN, LG_LATEX, ".latex"},
        {"a.sty", true, false, LG_PLAIN, LG_LATEX, ".sty"},
        {"a.jsonl.zst", true, true, LG_ZSTD, LG_PROSE, ".jsonl.zst"},
        {"a.ndjson", true, true, LG_PLAIN, LG_PROSE, ".ndjson"},
        {"a.json", false, false, LG_PLAIN, LG_PROSE, ".json"},
        {"a.gz", false, false, LG_GZIP, LG_PROSE, ".gz"},
        {"a.tar.gz", false, false, LG_GZIP, LG_PROSE, ".tar.gz"},
        {"d.txt/Makefile", false, false, LG_PLAIN, LG_PROSE, ""},
        {".txt", false, false, LG_PLAIN, LG_PROSE, ""},
        {"a.", false, false, LG_PLAIN, LG_PROSE, "."},
        {"txt", false, false, LG_PLAIN, LG_PROSE, ""},
        {"a.txt.bz2", false, false, LG_PLAIN, LG_PROSE, ".bz2"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        bool jsonl;
        lg_packing packing;
        lg_kind kind;
        const char *ending;
        assert_int_equal(lg_corpus_kind_of(all[i].name, &jsonl, &packing, &kind, &ending), all[i].known);
        assert_int_equal(jsonl, all[i].jsonl);
        assert_int_equal(packing, all[i].packing);
        assert_int_equal(kind, all[i].kind);
        assert_string_equal(ending, all[i].ending);
    }
}

static void test_folder(void **state) {
    (void)state;
    put_text("tree/b.py", "B");
    put_text("tree/a/z.html", "Z");
    put_text("tree/a/deep/er/x.tex", "X");
    put_text("tree/a.txt", "A");
    put_text("tree/a-b.txt", "AB");
    put_text("tree/\xc3\xa9.txt", "E");
    put_text("tree/B.md", "upper");
    put_text("tree/empty.txt", "");
    put_text("tree/lines.jsonl", "{\"text\":\"one\"}\n\n{\"text\":\"two\",\"id\":\"t\"}");
    put_text("tree/picture.PNG", "no");
    put_text("tree/other.png", "no");
    put_text("tree/archive.tar.gz", "no");
    put_text("tree/bad.\xff\xfe", "no");
    put_text("tree/README", "no");
    put_text("tree/.hidden", "no");
    assert_int_equal(symlink("..", in_scratch("tree/a/up")), 0);
    assert_int_equal(symlink("loop", in_scratch("tree/loop")), 0);
    assert_int_equal(symlink("nowhere.txt", in_scratch("tree/dangling.txt")), 0);
    assert_int_equal(symlink("a", in_scratch("tree/0link")), 0);
    assert_int_equal(mkfifo(in_scratch("tree/pipe.txt"), 0600), 0);
    /* by the bytes of the whole path: '-' < '.' < '/' */
    expect_all("tree", -1, NULL, false,
               "prose [prose] [B.md] [upper]\n"
               "prose [prose] [a-b.txt] [AB]\n"
               "prose [prose] [a.txt] [A]\n"
               "latex [latex] [a/deep/er/x.tex] [X]\n"
               "html [html] [a/z.html] [Z]\n"
               "python [python] [b.py] [B]\n"
               "prose [prose] [empty.txt] []\n"
               "prose [prose] [lines.jsonl:1] [one]\n"
               "prose [prose] [t] [two]\n"
               "prose [prose] [\xc3\xa9.txt] [E]\n");
    lg_corpus_files files = {0};
    const char *path = in_scratch("tree/");
    assert_int_equal(lg_corpus_files_find(&path, 1, false, false, &files, NULL), LG_OK);
    static const lg_skipped skipped[] = {{"(broken link)", 2}, {"(none)", 2},
                                         {".png", 2},          {"(no file)", 1},
                                         {".tar.gz", 1},       {".\xef\xbf\xbd\xef\xbf\xbd", 1}};
    assert_int_equal(files.n_skipped, sizeof skipped / sizeof *skipped);
    for (size_t i = 0; i < files.n_skipped; i++) {
        assert_string_equal(files.skipped[i].ending, skipped[i].ending);
        assert_int_equal(files.skipped[i].count, skipped[i].count);
    }
    lg_corpus_files_free(&files);
}

static void test_links_to_elsewhere(void **state) {
    (void)state;
    put_text("store/inner/one.txt", "1");
    put_text("store/two.txt", "2");
    put_text("linked/own.txt", "o");
    assert_int_equal(symlink("../store", in_scratch("linked/s")), 0);
    assert_int_equal(symlink("../store/inner", in_scratch("linked/again")), 0);
    assert_int_equal(symlink("../store/two.txt", in_scratch("linked/file.txt")), 0);
    /* "again" < "s": the inner folder is read there, and not a second time below s */
    expect_all("linked", -1, "L", false,
               "prose [L] [again/one.txt] [1]\n"
               "prose [L] [file.txt] [2]\n"
               "prose [L] [own.txt] [o]\n"
               "prose [L] [s/two.txt] [2]\n");
}

static void test_single_files(void **state) {
    (void)state;
    put_text("single/notes", "N");
    put_text("single/page.HTM", "P");
    put_bytes("single/raw.txt",
              "\xef\xbb\xbf"
              "a\r\nb\0c\xff\n",
              11);
    expect_error("single/notes", false, LG_BAD_INPUT, "notes", "--kind");
    expect_all("single/notes", LG_PYTHON, NULL, false, "python [python] [notes] [N]\n");
    expect_all("single/page.HTM", -1, "web", false, "html [web] [page.HTM] [P]\n");
    expect_all("single/page.HTM", LG_LATEX, NULL, false, "latex [latex] [page.HTM] [P]\n");
    expect_error("single/missing.txt", false, LG_BAD_INPUT, "missing.txt", "No such file");
    lg_error error = {0};
    const char *path = in_scratch("single/raw.txt");
    char *got = read_all(&path, 1, -1, NULL, false, &error);
    assert_memory_equal(got,
                        "prose [prose] [raw.txt] [\xef\xbb\xbf"
                        "a\r\nb\0c\xff\n]\n",
                        38);
    free(got);
    const char *several[] = {in_scratch("single/page.HTM"), in_scratch("single/raw.txt"),
                             in_scratch("single")};
    put_text("single/raw.txt", "raw");
    got = read_all(several, 3, -1, NULL, false, &error); /* arguments in their order */
    assert_string_equal(got, "html [html] [page.HTM] [P]\nprose [prose] [raw.txt] [raw]\n"
                             "html [html] [page.HTM] [P]\nprose [prose] [raw.txt] [raw]\n");
    free(got);
    if (geteuid() != 0) {
        assert_int_equal(chmod(in_scratch("single/raw.txt"), 0), 0);
        expect_error("single", false, LG_BAD_INPUT, "raw.txt", "Permission denied");
    }
}

static void test_jsonl(void **state) {
    (void)state;
    put_text(
        "j/a.jsonl",
        "\xef\xbb\xbf{\"text\": \"plain\", \"id\": \"doc one\"}\r\n"
        "   \t\r\n"
        "{\"id\": 12345678901234567890123, \"text\": \"big\", \"source\": \"wiki\"}\n"
        "{\"id\": -7, \"text\": \"neg\", \"source\": \"wiki\", \"domain\": \"news\"}\n"
        "{\"id\": 1.5, \"text\": \"\", \"domain\": null, \"source\": \"\"}\n"
        "{\"id\": null, \"meta\": {\"text\": \"no\", \"a\": [1, {}]}, \"text\": \"x\", \"kind\": \"latex\"}\n"
        "{\"t\\u0065xt\": \"\\ud83d\\ude00 \\ud800 \\udc00x \\u00e9\", \"kind\": \"Latex\"}\n"
        "{\"text\": \"raw \xff\xc3\", \"kind\": 3, \"input_ids\": \"whatever\", \"id\": \"\"}");
    expect_all("j/a.jsonl", -1, NULL, false,
               "prose [prose] [doc one] [plain]\n"
               "prose [wiki] [12345678901234567890123] [big]\n"
               "prose [news] [-7] [neg]\n"
               "prose [prose] [a.jsonl:5] []\n"
               "latex [latex] [a.jsonl:6] [x]\n"
               "prose [prose] [a.jsonl:7] [\xf0\x9f\x98\x80 \xef\xbf\xbd \xef\xbf\xbdx \xc3\xa9] 2 lone\n"
               "prose [prose] [] [raw \xff\xc3]\n");
    put_text("j/b.jsonl", "{\"text\": \"x\", \"kind\": \"latex\", \"source\": \"s\"}\n");
    expect_all("j/b.jsonl", LG_PYTHON, "D", false, "python [s] [b.jsonl:1] [x]\n");
    put_text("j/empty.jsonl", "\n\n  \n");
    expect_all("j/empty.jsonl", -1, NULL, false, "");
}

static void test_bad_lines(void **state) {
    (void)state;
    static const char *const bad[][2] = {
        {"{\"text\": \"x\"", ""},
        {"{\"text\": 3}", "\"text\" is no string"},
        {"{\"text\": null}", "\"text\" is no string"},
        {"{\"Text\": \"x\"}", "no \"text\""},
        {"{}", "no \"text\""},
        {"[\"text\"]", "no JSON object"},
        {"\"text\"", "no JSON object"},
        {"{\"text\": \"x\"} {\"text\": \"y\"}", ""},
        {"{\"text\": \"x\", \"text\": \"y\"}", "comes twice"},
        {"{\"text\": \"x\", \"id\": 1, \"id\": 2}", "comes twice"},
        {"{\"text\": \"x\", \"domain\": 3}", "\"domain\" is no string"},
        {"{\"text\": \"x\", \"source\": [\"a\"]}", "\"source\" is no string"},
        {"{\"text\": \"x\", \"domain\": \"a\\u0000b\"}", "U+0000"},
        {"{\"text\": \"x\\q\"}", ""},
        {"{\"text\": \"x", ""},
        {"{\"text\": \"x\",}", ""},
        {"{'text': 'x'}", ""},
        {"{\"text\": \"x\", \"id\": 01}", ""},
        {"nonsense", ""},
        {"{\"text\": \"a\tb\"}", ""},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char file[400];
        snprintf(file, sizeof file, "{\"text\": \"good\"}\n\n%s\n{\"text\": \"good\"}\n", bad[i][0]);
        put_text("bad/lines.jsonl", file);
        expect_error("bad/lines.jsonl", false, LG_BAD_INPUT, "bad/lines.jsonl:3", bad[i][1]);
    }
    put_bytes("bad/nul.jsonl", "{\"text\": \"a\0b\"}", 15);
    expect_error("bad/nul.jsonl", false, LG_BAD_INPUT, "bad/nul.jsonl:1", "");
    char deep[5000] = "{\"text\": \"x\", \"deep\": ";
    memset(deep + strlen(deep), '[', 4000);
    put_text("bad/deep.jsonl", deep);
    expect_error("bad/deep.jsonl", false, LG_BAD_INPUT, "bad/deep.jsonl:1", "deep");
}

static void test_input_ids(void **state) {
    (void)state;
    put_text("ids/a.data", "{\"input_ids\": [0, 5, 2147483647], \"id\": \"x\"}\n"
                           "{\"input_ids\": [], \"domain\": \"d\", \"text\": 7}\n");
    put_text("ids/skipped.txt", "no");
    put_text("ids/b.jsonl", "{\"input_ids\":[1]}");
    expect_all("ids/a.data", -1, NULL, true, "prose [prose] [x] [0 5 2147483647]\nprose [d] [a.data:2] []\n");
    expect_all("ids", -1, NULL, true, "prose [prose] [b.jsonl:1] [1]\n");
    static const char *const bad[] = {
        "[2147483648]",           "[-1]",  "[1.0]", "[1e2]", "[\"1\"]", "5", "null", "[1,]", "[1", "[[1]]",
        "[18446744073709551617]", "[true]"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char line[100];
        snprintf(line, sizeof line, "\n{\"input_ids\": %s}\n", bad[i]);
        put_text("ids/bad.jsonl", line);
        expect_error("ids/bad.jsonl", true, LG_BAD_INPUT, "ids/bad.jsonl:2", "");
    }
    put_text("ids/bad.jsonl", "{\"text\": \"x\"}");
    expect_error("ids/bad.jsonl", true, LG_BAD_INPUT, "bad.jsonl:1", "no \"input_ids\"");
}

/* Lines much longer than the reader's chunks, and lines that end exactly at their border. */
static void test_long_lines(void **state) {
    (void)state;
    static const size_t lengths[] = {0,      1,      131000, 131053, 131054,  131055, 131056,
                                     131057, 131058, 131059, 262144, 5000000, 3};
    lg_text file = {0}, expected = {0};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        char *x = malloc(lengths[i] + 1);
        memset(x, 'a' + (int)i, lengths[i]);
        x[lengths[i]] = '\0';
        lg_text_printf(&file, "{\"text\": \"%s\"}\n", x);
        lg_text_printf(&expected, "prose [prose] [long.jsonl:%zu] [%s]\n", i + 1, x);
        free(x);
    }
    put_bytes("long.jsonl", file.data, file.length);
    expect_all("long.jsonl", -1, NULL, false, expected.data);
    lg_text_free(&file);
    lg_text_free(&expected);
}

/* ---- streams ---- */

static lg_status read_stream(const char *path, lg_packing packing, size_t chunk, lg_text *out,
                             lg_error *error) {
    lg_stream *stream;
    size_t got = 1;
    char *buffer = malloc(chunk);
    lg_status status = lg_stream_open(path, packing, &stream, error);
    while (!status && got) {
        status = lg_stream_read(stream, buffer, chunk, &got, error);
        if (!status) lg_text_put(out, buffer, got);
    }
    lg_stream_close(stream);
    free(buffer);
    return status;
}

static void test_packed(void **state) {
    (void)state;
    enum { SIZE = 700000, ROOM = 2 * SIZE };
    unsigned char *data = malloc(SIZE), *packed = malloc(ROOM);
    uint32_t x = 1;
    for (size_t i = 0; i < SIZE; i++) data[i] = (unsigned char)((x = x * 1664525 + 1013904223) >> 28);
    for (int packing = LG_GZIP; packing <= LG_ZSTD; packing++) {
        size_t n = 0; /* three members or frames, the middle one empty */
        static const size_t parts[] = {400000, 0, 300000};
        for (size_t i = 0, at = 0; i < 3; at += parts[i], i++)
            n += (packing == LG_GZIP ? pack_gzip : pack_zstd)(data + at, parts[i], packed + n, ROOM - n);
        static const size_t chunks[] = {1, 1000, 131072, 1000000};
        put_bytes("packed", packed, n);
        for (size_t c = 0; c < 4; c++) {
            lg_text out = {0};
            assert_int_equal(read_stream(in_scratch("packed"), (lg_packing)packing, chunks[c], &out, NULL),
                             LG_OK);
            assert_int_equal(out.length, SIZE);
            assert_memory_equal(out.data, data, SIZE);
            lg_text_free(&out);
        }
        /* Cut off anywhere but between members, it is an error that names the file. */
        size_t first = (packing == LG_GZIP ? pack_gzip : pack_zstd)(data, parts[0], packed, ROOM);
        size_t second = (packing == LG_GZIP ? pack_gzip : pack_zstd)(data, 0, packed + first, ROOM - first);
        for (size_t cut = 0; cut <= first + second; cut += cut < 40 || cut + 40 > first ? 1 : 7919) {
            lg_error error = {0};
            lg_text out = {0};
            put_bytes("cut", packed, cut);
            lg_status status = read_stream(in_scratch("cut"), (lg_packing)packing, 65536, &out, &error);
            bool whole = cut == first || cut == first + second;
            if (status != (whole ? LG_OK : LG_BAD_INPUT))
                fail_msg("cut at %zu of %zu: %s", cut, first, error.message);
            if (!whole) assert_non_null(strstr(error.message, in_scratch("cut")));
            lg_text_free(&out);
        }
        /* Damage is found by the checksum or earlier; garbage after the end too. */
        lg_error error = {0};
        lg_text out = {0};
        memcpy(packed + first, "garbage that is no header", 25);
        put_bytes("cut", packed, first + 25);
        assert_int_equal(read_stream(in_scratch("cut"), (lg_packing)packing, 65536, &out, &error),
                         LG_BAD_INPUT);
        if (packing == LG_GZIP) {
            packed[first - 6] ^= 1; /* in the CRC */
            put_bytes("cut", packed, first);
            assert_int_equal(read_stream(in_scratch("cut"), LG_GZIP, 65536, &out, &error), LG_BAD_INPUT);
            packed[first - 6] ^= 1;
            memset(packed + first, 0, 1000); /* padding */
            put_bytes("cut", packed, first + 1000);
            out.length = 0;
            assert_int_equal(read_stream(in_scratch("cut"), LG_GZIP, 65536, &out, &error), LG_OK);
            assert_int_equal(out.length, parts[0]);
        }
        lg_text_free(&out);
    }
    put_text("cut", "no packed data at all");
    lg_error error = {0};
    lg_text out = {0};
    assert_int_equal(read_stream(in_scratch("cut"), LG_GZIP, 100, &out, &error), LG_BAD_INPUT);
    assert_int_equal(read_stream(in_scratch("cut"), LG_ZSTD, 100, &out, &error), LG_BAD_INPUT);
    free(data);
    free(packed);
}

static void test_packed_folder(void **state) {
    (void)state;
    unsigned char packed[1000];
    const char *text = "hello", *lines = "{\"text\":\"a\"}\n{\"text\":\"b\"}\n";
    put_text("p/plain/a.py", text);
    put_text("p/plain/b.jsonl", lines);
    put_bytes("p/packed/a.py.gz", packed, pack_gzip(text, 5, packed, sizeof packed));
    put_bytes("p/packed/b.jsonl.zst", packed, pack_zstd(lines, strlen(lines), packed, sizeof packed));
    const char *same =
        "python [python] [a.py] [hello]\nprose [prose] [b.jsonl:1] [a]\nprose [prose] [b.jsonl:2] [b]\n";
    expect_all("p/plain", -1, NULL, false, same);
    expect_all("p/packed", -1, NULL, false, same);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_endings),
        cmocka_unit_test(test_folder),
        cmocka_unit_test(test_links_to_elsewhere),
        cmocka_unit_test(test_single_files),
        cmocka_unit_test(test_jsonl),
        cmocka_unit_test(test_bad_lines),
        cmocka_unit_test(test_input_ids),
        cmocka_unit_test(test_long_lines),
        cmocka_unit_test(test_packed),
        cmocka_unit_test(test_packed_folder),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
