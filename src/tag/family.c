/* What a token is, whatever the kind of its document: its fine tag (Brown in prose, the leaf in code and
   markup), the family that this belongs to, and the class of the family. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "tag/code.h"
#include "tag/tag_internal.h"

enum { MAX_CLASSES = 8 };

typedef struct state {
    size_t n_brown; /* tags of the Brown layer; the code layer's come after them, but for its white space */
    const char **tags; /* levels of the columns */
    const char *families[LG_N_FAMILIES + 1], *classes[MAX_CLASSES];
    uint8_t *family;              /* [tags] */
    uint8_t class[LG_N_FAMILIES]; /* of each family */
} state;

static void close_state(void *opened) {
    state *s = opened;
    free(s->tags);
    free(s->family);
    free(s);
}

static size_t count(const char *const *names) {
    size_t n = 0;
    while (names[n]) n++;
    return n;
}

static lg_status open_tables(const lg_tag_maker *self, const lg_tag_context *context, void **opened,
                             lg_error *error) {
    (void)self;
    const char *const *brown = lg_tag_names(&lg_maker_brown, lg_tag_state(context, &lg_maker_brown));
    const char *const *code = lg_tag_names(&lg_maker_code, lg_tag_state(context, &lg_maker_code));
    size_t n_brown = count(brown), n_code = count(code);
    state *s = calloc(1, sizeof *s);
    if (!s) return lg_fail_memory(error);
    *opened = s;
    s->n_brown = n_brown;
    s->tags = lg_alloc(1 + n_brown + n_code, sizeof *s->tags);
    s->family = lg_alloc(n_brown + n_code, sizeof *s->family);
    if (!s->tags || !s->family) return lg_fail_memory(error);
    s->tags[0] = "none";
    memcpy(s->tags + 1, brown, n_brown * sizeof *brown);
    memcpy(s->tags + 1 + n_brown, code + 1, n_code * sizeof *code);
    s->family[0] = LG_FAMILY_NONE;
    s->family[1] = LG_FAMILY_WHITESPACE;
    for (size_t i = 1; i < n_brown; i++) s->family[1 + i] = (uint8_t)lg_family_of_tag("brown", brown[i]);
    for (size_t i = 1; i < n_code; i++) s->family[n_brown + i] = lg_code_tags[i].family;
    for (size_t f = 0; f < LG_N_FAMILIES; f++) {
        size_t c = 0;
        s->families[f] = lg_families[f].name;
        while (s->classes[c] && strcmp(s->classes[c], lg_families[f].class) != 0) c++;
        s->classes[c] = lg_families[f].class; /* "none", the class of the first family, is 0 */
        s->class[f] = (uint8_t)c;
    }
    return LG_OK;
}

static const char *const *levels_of(const void *opened, const char *column) {
    const state *s = opened;
    return strcmp(column, "tag") == 0      ? s->tags
           : strcmp(column, "family") == 0 ? s->families
           : strcmp(column, "class") == 0  ? s->classes
                                           : NULL;
}

static bool fill(const lg_tag_maker *self, const lg_tag_document *d, const lg_spans *spans,
                 void *const *columns) {
    (void)spans;
    const state *s = lg_tag_state(d->context, self);
    uint16_t *tag = columns[0];
    uint8_t *family = columns[1], *class = columns[2];
    uint64_t *bits = columns[3];
    uint8_t *class_bits = columns[4];
    bool prose = d->kind == LG_PROSE;
    const lg_spans *leaves = lg_tag_layer(d, prose ? &lg_maker_brown : &lg_maker_code);
    size_t shift = prose ? 1 : s->n_brown; /* from the layer's tags to those of all layers */
    lg_tag_cursor c = {.document = d, .spans = leaves, .whole = true};
    for (size_t i = 0; i < d->n_tokens; i++) {
        size_t first, last, single = lg_tag_next(&c, &first, &last);
        tag[i] = single == SIZE_MAX                    ? 0
                 : leaves->tag[single] == LG_TAG_BLANK ? 1
                                                       : (uint16_t)(leaves->tag[single] + shift);
        uint64_t families = 0;
        unsigned classes = 0;
        for (size_t k = first; k < last; k++)
            if (leaves->tag[k] != LG_TAG_BLANK) families |= (uint64_t)1 << s->family[leaves->tag[k] + shift];
        if (!families) families = (uint64_t)1 << s->family[tag[i]];
        for (uint64_t left = families; left; left &= left - 1)
            classes |=
                1u << (prose ? s->class[__builtin_ctzll(left)] : 0); /* content and function are of words */
        bits[i] = families;
        class_bits[i] = (uint8_t)classes;
        /* with --multi drop, several tags may still be of one family or class */
        bool dropped = single == SIZE_MAX && first < last;
        family[i] = !dropped                       ? s->family[tag[i]]
                    : !(families & (families - 1)) ? (uint8_t)__builtin_ctzll(families)
                                                   : LG_FAMILY_NONE;
        class[i] = dropped && !(classes & (classes - 1)) ? (uint8_t)__builtin_ctz(classes)
                   : prose                               ? s->class[family[i]]
                                                         : 0;
    }
    return true;
}

const lg_tag_maker lg_maker_family = {
    .name = "family",
    .help = "what the token is: Brown tag in prose, leaf in code and markup; its family and class",
    .needs_text = true,
    .columns = {{.name = "tag", .help = "the fine tag", .dtype = LG_U16},
                {.name = "family", .help = "families of tags (method, section 3)", .dtype = LG_U8},
                {.name = "class",
                 .help = "content or function words, other; none for code, markup and white space",
                 .dtype = LG_U8},
                {.name = "family_bits", .help = "bit k: some of the token is family k", .dtype = LG_U64},
                {.name = "class_bits", .help = "bit k: some of the token is class k", .dtype = LG_U8}},
    .open = open_tables,
    .close = close_state,
    .levels = levels_of,
    .fill = fill,
};
