/* Datasets and scores made by hand, for tests of what reads them. */
#ifndef TESTS_FIXTURE_H
#define TESTS_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/text.h"
#include "lossgap/dataset.h"
#include "lossgap/score.h"
#include "store/table_writer.h"

/* A temporary folder, and paths in it. */
static char fixture_folder[64];

static inline int fixture_setup(void **state) {
    (void)state;
    snprintf(fixture_folder, sizeof fixture_folder, "/tmp/lossgap-test-XXXXXX");
    return mkdtemp(fixture_folder) ? 0 : -1;
}

static inline int fixture_teardown(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", fixture_folder);
    return system(command);
}

static inline const char *fixture_path(const char *name) {
    static char paths[4][128];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", fixture_folder, name);
    return path;
}

/* A document: tokens are given as the text with a bar '\1' between them; ids are made from their bytes. */
typedef struct fixture_document {
    const char *name, *domain;
    lg_kind kind;
    const char *tokens;
    size_t length; /* 0: strlen */
} fixture_document;

static inline uint32_t fixture_id(const char *bytes, size_t n) {
    uint32_t id = 7;
    for (size_t i = 0; i < n; i++) id = id * 31 + (unsigned char)bytes[i];
    return id % 50000;
}

static inline void fixture_append(lg_table_writer *w, size_t column, const void *values, size_t n) {
    lg_error error = {0};
    assert_int_equal(lg_table_writer_append(w, column, values, n, &error), LG_OK);
}

/* Writes the documents as a dataset to PATH. TEXT false: as already tokenised data. */
static inline void fixture_dataset(const char *path, const fixture_document *documents, size_t n, bool text) {
    static const char *const names[] = {"text",     "doc_text_end", "doc_token_end", "doc_kind", "doc_domain",
                                        "doc_name", "doc_name_end", "token_id",      "token_end"};
    static const lg_dtype types[] = {LG_U8, LG_U64, LG_U64, LG_U8, LG_U16, LG_U8, LG_U64, LG_U32, LG_U64};
    lg_error error = {0};
    lg_table_writer *w;
    size_t column[9];
    assert_int_equal(lg_table_writer_create(path, &w, &error), LG_OK);
    for (size_t i = 0; i < 9; i++)
        assert_int_equal(lg_table_writer_add(w, names[i], types[i], 1, &column[i], &error), LG_OK);
    const char *domains[16];
    uint64_t n_domains = 0, bytes = 0, tokens = 0, name_end = 0;
    for (size_t d = 0; d < n; d++) {
        const char *t = documents[d].tokens,
                   *end = t + (documents[d].length ? documents[d].length : strlen(t));
        uint16_t domain = 0;
        while (domain < n_domains && strcmp(domains[domain], documents[d].domain) != 0) domain++;
        if (domain == n_domains) domains[n_domains++] = documents[d].domain;
        while (t < end) {
            const char *bar = memchr(t, 1, (size_t)(end - t));
            size_t length = (size_t)((bar ? bar : end) - t);
            uint32_t id = fixture_id(t, length);
            if (text) fixture_append(w, column[0], t, length);
            bytes += text ? length : 0;
            tokens++;
            fixture_append(w, column[7], &id, 1);
            fixture_append(w, column[8], &bytes, 1);
            t += length + (bar != NULL);
        }
        uint8_t kind = (uint8_t)documents[d].kind;
        name_end += strlen(documents[d].name);
        fixture_append(w, column[1], &bytes, 1);
        fixture_append(w, column[2], &tokens, 1);
        fixture_append(w, column[3], &kind, 1);
        fixture_append(w, column[4], &domain, 1);
        fixture_append(w, column[5], documents[d].name, strlen(documents[d].name));
        fixture_append(w, column[6], &name_end, 1);
    }
    lg_text settings = {0};
    lg_text_puts(&settings, "{\"domains\":[");
    for (size_t i = 0; i < n_domains; i++) lg_text_printf(&settings, "%s\"%s\"", i ? "," : "", domains[i]);
    lg_text_printf(&settings, "],\"input_ids\":%s}", text ? "false" : "true");
    lg_provenance p = {.format = "dataset",
                       .version = 1,
                       .command = "test",
                       .inputs = text ? "{\"tokenizer\":\"made-by-hand\"}" : "{}",
                       .settings = settings.data};
    assert_int_equal(lg_table_writer_commit(w, &p, NULL, &error), LG_OK);
    lg_text_free(&settings);
}

#endif
