/* Where a token stands in its document. The place in its window is made with the other columns of windows, in
 * run.c. */
#include "tag/tag_internal.h"

static bool fill(const lg_tag_maker *self, const lg_tag_document *d, const lg_spans *spans,
                 void *const *columns) {
    (void)self, (void)spans;
    uint32_t *position = columns[0];
    for (size_t i = 0; i < d->n_tokens; i++) position[i] = i < UINT32_MAX ? (uint32_t)i : UINT32_MAX;
    return true;
}

const lg_tag_maker lg_maker_position = {
    .name = "position",
    .help = "where the token stands in its document",
    .columns = {{.name = "position", .help = "tokens of the document before it", .dtype = LG_U32}},
    .fill = fill,
};
