/* Datasets: any file is one, or an error; in one that is accepted, every document, name and token can be
 * read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lossgap/dataset.h"

static void check(bool good) {
    if (!good) abort();
}

static volatile unsigned sink; /* so that the reads are done */

static void walk(const lg_dataset *d) {
    uint64_t at = 0, name = 0, token = 0;
    for (size_t doc = 0; doc < d->n_docs; doc++) {
        check(lg_begin_of(d->doc_text_end, doc) == at && lg_begin_of(d->doc_token_end, doc) == token);
        for (; token < d->doc_token_end[doc]; token++) {
            check(lg_token_begin(d, doc, token) == at);
            for (; at < d->token_end[token]; at++) sink += (unsigned char)d->text[at];
            check(at == d->token_end[token] && d->token_id[token] <= d->max_token_id);
        }
        for (; at < d->doc_text_end[doc]; at++)
            sink += (unsigned char)d->text[at]; /* of a document without tokens */
        check(at == d->doc_text_end[doc] && token == d->doc_token_end[doc]);
        for (; name < d->doc_name_end[doc]; name++) sink += (unsigned char)d->doc_name[name];
        sink += (unsigned)strlen(d->domains[d->doc_domain[doc]]) +
                (unsigned)strlen(lg_kind_name(d->doc_kind[doc]));
    }
    check(at == d->n_bytes && token == d->n_tokens);
    check(d->has_text || !d->n_bytes);
    sink += (unsigned)strlen(d->tokenizer) + (unsigned)strlen(lg_table_provenance(d->table)->identity);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    int fd = memfd_create("dataset", 0);
    char path[64];
    check(fd >= 0 && (!size || write(fd, data, size) == (ssize_t)size));
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    lg_dataset dataset;
    lg_error error = {0};
    lg_status status = lg_dataset_open(path, &dataset, &error);
    if (status) {
        check(status == LG_BAD_INPUT && error.status == status && strstr(error.message, path) &&
              !dataset.table);
    } else {
        walk(&dataset);
        lg_status verified = lg_table_verify(dataset.table, &error);
        check(verified == LG_OK || verified == LG_BAD_INPUT);
        lg_dataset_close(&dataset);
    }
    close(fd);
    return 0;
}
