/* The table of tag families. A new one is a source file and a row here. */
#include "tag/tag_internal.h"

extern const lg_tag_family lg_family_word, lg_family_char_class, lg_family_delimiter;

static bool fill_copy(const lg_tag_document *d, const lg_spans *spans, void *const *columns) {
    (void)spans;
    uint16_t *copy_len = columns[0];
    uint8_t *reuse = columns[2];
    if (!lg_copy_features(d->copy, d->ids, NULL, d->n_tokens, copy_len, columns[1])) return false;
    for (size_t i = 0; i < d->n_tokens; i++) reuse[i] = copy_len[i] > 0;
    return true;
}

static const char *const reuse_levels[] = {"first", "reuse", NULL};

static const lg_tag_family copy = {
    .name = "copy",
    .help = "what of the document was there before: run length, distance, first occurrence or reuse",
    .columns = {{"copy_len", LG_U16, NULL}, {"prev_distance", LG_U32, NULL}, {"reuse", LG_U8, reuse_levels}},
    .fill = fill_copy,
};

const lg_tag_family *const lg_tag_families[] = {
    &lg_family_word, &lg_family_char_class, &lg_family_delimiter, &copy, NULL,
};
