/* Every byte lies in exactly one leaf of every layer that covers its document, in all kinds, on text that is
   whole, broken and random; and layers do not depend on the tokens. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define CHECK(what) assert_true(what)
#include "../tag_check.h"

static uint64_t state = 1;

static uint32_t draw(uint32_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % below);
}

static const char *const samples[LG_N_KINDS] = {
    [LG_PROSE] = "Dr. Smith's dog didn't bark (it \"slept\") at 10:30 a.m.\xE2\x80\xA6 "
                 "\xE2\x80\x9CReally?\xE2\x80\x9D she asked; "
                 "e.g. see http://example.org/a_b?c=d or mail x.y@z.org\xE2\x80\x94"
                 "for $5.00, 50% off!\n\n\tNa\xC3\xAFve \xE6\x97\xA5\xE6\x9C\xAC 1st.\n",
    [LG_PYTHON] =
        "@dec\ndef f(a, *b: int = 0x1F, **k) -> {'x': [1]}:\n\t'''doc'''\n\tif a <= 1.5e3 and not b:  # why\n"
        "\t    return f\"{a!r:>{k}} \\n {b}\" + rb'\\x00'\n\telse:\n\t\tpass\n\nprint(f(1,\n  2), lambda: "
        "...)\nmatch x:\n case _: x \\\n   = 1\n",
    [LG_HTML] = "<!DOCTYPE html>\n<!-- c -->\n<html lang=en><head><style>p.x > a { color: #fff; "
                "}</style><script>var a = \"b\"; // c\n"
                "if (a) { f(`x${a}`); }</script></head><body class=\"a b\"><p>Tom &amp; &#65; "
                "(x)<br/>text<li>item</P></body></html>\n",
    [LG_LATEX] = "\\documentclass[a4paper]{article} % c\n\\begin{document}\\section*{Title}\nText $x^2_{i}$ "
                 "and \\[ \\frac{a}{b} \\] `q' ``Q''.\n"
                 "\\begin{verbatim}\n\\x{\n\\end{verbatim} \\label{a:b} \\\\ \\newcommand{\\foo}[1]{#1~\\&} "
                 "{\\bf x} \\end{document}\n",
};

static void cut_tokens(lg_tag_document *d, uint64_t *ends, uint32_t longest) {
    d->n_tokens = 0;
    for (size_t at = 0; at < d->n_bytes;) {
        at += 1 + draw(longest);
        ends[d->n_tokens++] = at < d->n_bytes ? at : d->n_bytes;
    }
    d->ends = ends;
}

enum { MAX = 4096 };

/* TEXT as a document of KIND: all checks, under two ways to cut it; the layers must be the same. */
static void check(const lg_tag_context *context, const char *text, size_t n, lg_kind kind) {
    static uint8_t classes[MAX];
    static uint32_t ids[MAX];
    static uint64_t ends[MAX];
    lg_classify(text, n, classes);
    for (size_t i = 0; i < n; i++) ids[i] = (unsigned char)text[i] % 9;
    lg_tag_document d = {.text = text, .classes = classes, .n_bytes = n, .kind = kind, .ids = ids};
    cut_tokens(&d, ends, 5);
    tag_check(context, &d);
    lg_spans layers[2][LG_MAX_TAG_MAKERS] = {0};
    for (int way = 0; way < 2; way++) {
        cut_tokens(&d, ends, way ? 1 : 9);
        d.layers = layers[way];
        d.context = context;
        for (size_t m = 0; lg_tag_makers[m]; m++) {
            const lg_tag_maker *maker = lg_tag_makers[m];
            if (!lg_tag_names(maker, context->state[m])) continue;
            d.scratch = maker->start ? maker->start(context->state[m]) : NULL;
            assert_true(maker->make_spans(maker, &d, &layers[way][m]));
            if (maker->start) maker->stop(d.scratch);
        }
    }
    for (size_t m = 0; m < LG_MAX_TAG_MAKERS; m++) {
        const lg_spans *a = &layers[0][m], *b = &layers[1][m];
        assert_int_equal(a->count, b->count);
        for (size_t i = 0; i < a->count; i++)
            assert_true(a->begin[i] == b->begin[i] && a->end[i] == b->end[i] && a->tag[i] == b->tag[i]);
        lg_spans_free(&layers[0][m]);
        lg_spans_free(&layers[1][m]);
    }
}

static void test_all_kinds(void **unused) {
    (void)unused;
    static const lg_tag_options options = {0};
    lg_tag_context context;
    lg_error error;
    assert_int_equal(lg_tag_open_makers(NULL, &options, &context, &error), LG_OK);
    for (int kind = 0; kind < LG_N_KINDS; kind++) {
        for (int sample = 0; sample < LG_N_KINDS; sample++)
            check(&context, samples[sample], strlen(samples[sample]), (lg_kind)kind);
        check(&context, "", 0, (lg_kind)kind);
        for (int round = 0; round < 150; round++) { /* pieces of samples, mixed and damaged */
            char text[MAX];
            size_t n = 0;
            for (uint32_t k = 1 + draw(6); k > 0; k--) {
                const char *from = samples[draw(4) ? kind : (int)draw(LG_N_KINDS)];
                size_t length = strlen(from), begin = draw((uint32_t)length),
                       size = draw((uint32_t)(length - begin)) + 1;
                memcpy(text + n, from + begin, size);
                n += size;
            }
            static const char damage[] = "()[]{}<>\"'\\$&;:#%\n\t ";
            for (uint32_t k = draw(8); k > 0; k--) {
                size_t at = draw((uint32_t)n);
                text[at] = draw(3) ? damage[draw(sizeof damage - 1)] : (char)draw(256);
            }
            check(&context, text, n, (lg_kind)kind);
        }
        for (int round = 0; round < 50; round++) {
            char text[256];
            size_t n = draw(sizeof text);
            for (size_t i = 0; i < n; i++) text[i] = (char)draw(256);
            check(&context, text, n, (lg_kind)kind);
        }
    }
    lg_tag_close_makers(&context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_kinds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
