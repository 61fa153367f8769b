/* Lines of a JSONL corpus: any bytes are either a document or an error, and strings lie in valid memory. */
#include <stdlib.h>
#include <string.h>

#include "corpus/jsonl.h"

static volatile unsigned sink; /* so that the reads are done */

static unsigned touch(lg_string s) {
    unsigned sum = 0;
    for (size_t i = 0; i < s.length; i++) sum += (unsigned char)s.data[i];
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    lg_jsonl_line line = {0};
    /* Line by line over the same buffers, as the reader does; each copied, so that reading past its end
     * shows. */
    for (size_t at = 0; at < size || at == 0;) {
        const uint8_t *end = size ? memchr(data + at, '\n', size - at) : NULL;
        size_t length = end ? (size_t)(end - data) - at : size - at;
        char *copy = malloc(length ? length : 1);
        if (!copy) abort();
        if (length) memcpy(copy, data + at, length);
        for (int input_ids = 0; input_ids < 2 && !lg_jsonl_is_blank(copy, length); input_ids++) {
            lg_error error = {0};
            lg_status status = lg_jsonl_read(copy, length, "file:1", input_ids, &line, &error);
            if (status != LG_OK) {
                if (status != LG_BAD_INPUT || error.status != status ||
                    strncmp(error.message, "file:1", 6) != 0)
                    abort();
                continue;
            }
            if (line.text.length > length || line.n_ids > length || line.lone_surrogates > length / 6)
                abort();
            sink += touch(line.text) + touch(line.id) + touch(line.domain);
            for (size_t i = 0; i < line.n_ids; i++)
                if (line.ids[i] > INT32_MAX) abort();
            if (line.domain.data &&
                (line.domain.length == 0 || memchr(line.domain.data, 0, line.domain.length)))
                abort();
        }
        free(copy);
        if (!end) break;
        at += length + 1;
    }
    lg_jsonl_free(&line);
    return 0;
}
