/* Delimiters: opening and closing brackets by kind; angle ones in HTML only. */
#include <string.h>

#include "tag/tag_internal.h"

static const char characters[] = "()[]{}<>"; /* in the order of the tags */
enum { OPEN_ANGLE = 6 };

static const char *const tags[] = {"open.round",   "close.round", "open.square",
                                   "close.square", "open.curly",  "close.curly",
                                   "open.angle",   "close.angle", NULL};
static const char *const levels[] = {"none",         "open.round", "close.round", "open.square",
                                     "close.square", "open.curly", "close.curly", "open.angle",
                                     "close.angle",  NULL};

static bool make_spans(const lg_tag_document *d, lg_spans *spans) {
    uint16_t tag_of[256]; /* plus one; 0: none */
    memset(tag_of, 0, sizeof tag_of);
    for (uint16_t t = 0; characters[t] && (t < OPEN_ANGLE || d->kind == LG_HTML); t++)
        tag_of[(unsigned char)characters[t]] = (uint16_t)(t + 1);
    for (size_t i = 0; i < d->n_bytes; i++) {
        uint16_t tag = tag_of[(unsigned char)d->text[i]];
        if (tag && !lg_spans_add(spans, i, i + 1, (uint16_t)(tag - 1))) return false;
    }
    return true;
}

const lg_tag_family lg_family_delimiter = {
    .name = "delimiter",
    .help = "opening and closing delimiters by kind",
    .needs_text = true,
    .tags = tags,
    .make_spans = make_spans,
    .columns = {{"delimiter", LG_U8, levels}},
    .fill = lg_tag_fill_first,
};
