/* Taggers: any bytes are a model that tags every word with a tag that it has, or an error; any bytes are a
   tagged text, or an error with a line. The first byte says which: 0 a whole file, odd a text, even a model
   whose tables are filled with the bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "store/table_memory.h"
#include "tag/pos_corpus.h"
#include "tag/pos_model.h"

static void check(bool good) {
    if (!good) abort();
}

/* Tags a few words, and the bytes themselves in words of three. */
static void use(const lg_pos_model *model, const uint8_t *data, size_t size) {
    static const char sentence[] = "The dogs can't see \"it\" .";
    lg_spans words = {0};
    char *text = malloc(sizeof sentence + size);
    check(text != NULL);
    memcpy(text, sentence, sizeof sentence);
    if (size) memcpy(text + sizeof sentence, data, size);
    static const uint64_t ends[] = {3, 8, 14, 18, 20, 22, 23, 25};
    for (size_t i = 0; i < 8; i++) {
        uint64_t begin = i ? ends[i - 1] : 0;
        while (text[begin] == ' ') begin++;
        check(lg_spans_add(&words, begin, ends[i], i ? 0 : LG_BEGINS_SENTENCE));
    }
    for (size_t at = sizeof sentence; at < sizeof sentence + size && words.count < 2000; at += 3) {
        size_t end = at + 3 < sizeof sentence + size ? at + 3 : sizeof sentence + size;
        check(lg_spans_add(&words, at, end, text[at] & 1));
    }
    uint16_t *tags = malloc(words.count * sizeof *tags);
    lg_pos_scratch *scratch = lg_pos_scratch_create(model);
    check(tags && scratch && lg_pos_tag(model, scratch, text, &words, tags));
    size_t n_tags = 0;
    while (lg_pos_model_tags(model)[n_tags]) n_tags++;
    for (size_t i = 0; i < words.count; i++) check(tags[i] < n_tags);
    lg_pos_scratch_free(scratch);
    lg_spans_free(&words);
    free(tags);
    free(text);
}

static void open_model(const unsigned char *bytes, size_t size, const uint8_t *data, size_t n) {
    lg_table *table;
    lg_pos_model *model;
    lg_error error = {0};
    if (lg_table_parse(bytes, size, "file", "tagger", &table, &error)) {
        check(error.status == LG_BAD_INPUT && strstr(error.message, "file") != NULL);
        return;
    }
    if (lg_pos_model_from_table(table, &model, &error)) {
        check(error.status == LG_BAD_INPUT && strstr(error.message, "file") != NULL && !model);
        lg_table_close(table);
        return;
    }
    use(model, data, n);
    lg_pos_model_close(model);
}

/* A file with a right header for 13 feature slots, 5 word slots and as many weights as there are bytes. */
static void fill_model(const uint8_t *data, size_t size) {
    static const struct {
        const char *name, *dtype;
        size_t width, count; /* count 0: the rest */
    } columns[] = {{"feature_row", "U32", 4, 14},   {"word_check", "U32", 4, 5},
                   {"feature_check", "U16", 2, 13}, {"word_other", "U16", 2, 5},
                   {"word_own", "U16", 2, 5},       {"word_only", "U8", 1, 5},
                   {"weight", "U16", 2, 0}};
    const size_t fixed = 14 * 4 + 5 * 4 + 13 * 2 + 5 * 2 + 5 * 2 + 5;
    if (size < fixed) return;
    lg_text text = {0};
    uint64_t length = 0;
    lg_text_put(&text, &length, 8);
    lg_text_puts(
        &text, "{\"__metadata__\":{\"lossgap\":\"{\\\"format\\\":\\\"tagger\\\",\\\"version\\\":1,"
               "\\\"program\\\":\\\"\\\","
               "\\\"command\\\":\\\"\\\",\\\"identity\\\":\\\"00000000000000000000000000000000\\\","
               "\\\"inputs\\\":{},"
               "\\\"settings\\\":{\\\"tagset\\\":\\\"upos\\\",\\\"feature_set\\\":1,\\\"feature_homes\\\":10,"
               "\\\"feature_reach\\\":3,\\\"word_homes\\\":4,\\\"word_reach\\\":1,\\\"lexicon\\\":true,"
               "\\\"tags\\\":[\\\"a\\\",\\\"b\\\",\\\"c\\\"]}}\"}");
    size_t at = 0;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        size_t count = columns[i].count ? columns[i].count : (size - at) / columns[i].width,
               end = at + count * columns[i].width;
        lg_text_printf(&text, ",\"%s\":{\"dtype\":\"%s\",\"shape\":[%zu],\"data_offsets\":[%zu,%zu]}",
                       columns[i].name, columns[i].dtype, count, at, end);
        at = end;
    }
    lg_text_puts(&text, "}");
    while (text.length % 64) lg_text_puts(&text, " ");
    check(!text.failed);
    length = text.length - 8;
    memcpy(text.data, &length, 8);
    lg_text_put(&text, data, at);
    /* In an aligned block: the text's own may lie anywhere. */
    unsigned char *bytes = malloc(text.length);
    check(bytes && !text.failed);
    memcpy(bytes, text.data, text.length);
    open_model(bytes, text.length, data, size);
    free(bytes);
    lg_text_free(&text);
}

static void read_text(const uint8_t *data, size_t size) {
    static const char *const tagsets[] = {"brown", "upos", "penn"};
    for (size_t t = 0; t < 3; t++) {
        lg_pos_corpus corpus = {0};
        lg_error error = {0};
        if (lg_pos_corpus_parse(&corpus, (const char *)data, size, "file", tagsets[t], &error)) {
            check(error.status == LG_BAD_INPUT && memcmp(error.message, "file", 4) == 0);
        } else {
            check(corpus.words.count && corpus.document_end[corpus.n_documents - 1] == corpus.words.count);
            for (size_t i = 0; i < corpus.words.count; i++) {
                check(corpus.words.begin[i] < corpus.words.end[i] &&
                      corpus.words.end[i] <= corpus.given.length);
                check(corpus.gold[i] < corpus.tags.count);
                if (t)
                    check(corpus.raw_begin[i] < corpus.raw_end[i] && corpus.raw_end[i] <= corpus.raw.length);
            }
        }
        lg_pos_corpus_free(&corpus);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!size) return 0;
    if (data[0] == 0) open_model(data + 1, size - 1, data + 1, size - 1);
    else if (data[0] & 1) read_text(data + 1, size - 1);
    else fill_model(data + 1, size - 1);
    return 0;
}
