/* Code and markup: cutting Python, HTML and LaTeX into leaves, by tree-sitter's parsers. */
#ifndef LG_TAG_CODE_H
#define LG_TAG_CODE_H

#include "lossgap/dataset.h"
#include "tag/spans.h"
#include "tag/tagsets.h"

/* All leaf tags of all languages; a NULL name ends them. */
extern const lg_code_tag lg_code_tags[];

/* A thread's parsers and scratch. */
typedef struct lg_code lg_code;
lg_code *lg_code_create(void); /* NULL: no memory */
void lg_code_free(lg_code *code);

/* Appends the leaves of TEXT in order: every byte lies in exactly one; tag: index into lg_code_tags. KIND is
   not prose. Broken input gets leaves too. Time and memory are O(n) with a known bound. false: no memory. */
bool lg_code_leaves(lg_code *code, lg_kind kind, const char *text, const uint8_t *classes, size_t n_bytes,
                    lg_spans *leaves);

#endif
