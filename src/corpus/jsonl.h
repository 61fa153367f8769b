/* One line of a JSONL corpus. */
#ifndef LG_CORPUS_JSONL_H
#define LG_CORPUS_JSONL_H

#include "base/json.h"
#include "lossgap/dataset.h"

/* {0} to start; lines reuse its buffers. */
typedef struct lg_jsonl_line {
    lg_string text; /* valid like all strings here until the next line, while the line's bytes live */
    uint32_t *ids;  /* [n_ids] */
    size_t n_ids;
    lg_string id;     /* data NULL: none; an integer as it is written */
    lg_string domain; /* `domain`, else `source`; data NULL: none */
    bool has_kind;
    lg_kind kind;
    size_t lone_surrogates; /* in the text */

    size_t ids_capacity;
    lg_text scratch[5]; /* text, id, source, domain, the rest */
} lg_jsonl_line;

/* Reads an object with "text" or, with INPUT_IDS, "input_ids". NAME ("file:line") stands for it in errors. */
lg_status lg_jsonl_read(const char *text, size_t length, const char *name, bool input_ids,
                        lg_jsonl_line *line, lg_error *error);
bool lg_jsonl_is_blank(const char *text, size_t length);
void lg_jsonl_free(lg_jsonl_line *line);

#endif
