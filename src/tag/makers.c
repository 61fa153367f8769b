/* The table of makers. A new one is a source file and a row here; one that builds on another comes after it.
 */
#include "tag/tag_internal.h"

extern const lg_tag_maker lg_maker_sentence, lg_maker_upos, lg_maker_penn, lg_maker_family,
    lg_maker_delimiter, lg_maker_word, lg_maker_char_class, lg_maker_position, lg_maker_frequency,
    lg_maker_copy;

const lg_tag_maker *const lg_tag_makers[] = {
    &lg_maker_sentence,  &lg_maker_brown,     &lg_maker_upos, &lg_maker_penn,       &lg_maker_code,
    &lg_maker_family,    &lg_maker_delimiter, &lg_maker_word, &lg_maker_char_class, &lg_maker_position,
    &lg_maker_frequency, &lg_maker_copy,      NULL,
};

size_t lg_tag_place(const lg_tag_maker *maker) {
    size_t place = 0;
    while (lg_tag_makers[place] != maker) place++;
    return place;
}

const char *const *lg_tag_names(const lg_tag_maker *maker, const void *state) {
    return maker->state_tags ? maker->state_tags(state) : maker->tags;
}

const char *const *lg_tag_levels(const lg_tag_maker *maker, const void *state, const lg_tag_column *column,
                                 const char **before) {
    *before = column->tags ? "none" : NULL;
    if (column->tags) return lg_tag_names(maker, state);
    if (column->levels) return column->levels;
    return maker->levels ? maker->levels(state, column->name) : NULL;
}
