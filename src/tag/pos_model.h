/* The tagger's model as it lies in the file, mapped and checked: docs/formats/tagger.md. */
#ifndef LG_TAG_POS_MODEL_H
#define LG_TAG_POS_MODEL_H

#include "base/memory.h"
#include "lossgap/table.h"
#include "tag/pos_features.h"
#include "tag/prose.h"

/* Counts up whenever spelling, features or hashes change: weights are good for one set only. */
#define LG_POS_FEATURE_SET 1
#define LG_POS_FORMAT      "tagger"

/* Sizes of hash tables that a file may claim. */
enum { LG_POS_MAX_HOMES = 1 << 28, LG_POS_MAX_REACH = 255 };

extern const char *const lg_pos_tagsets[]; /* NULL-terminated */

/* pos_builtin.c: the models that come with the program, as files in memory. */
extern const unsigned char lg_pos_brown_begin[], lg_pos_brown_end[], lg_pos_upos_begin[], lg_pos_upos_end[],
    lg_pos_penn_begin[], lg_pos_penn_end[];

/* An open table of hashes, in the order of their hash. An entry lies at its home or after it, before the
   first empty slot, and less than `reach` slots away. */
typedef struct lg_pos_slots {
    size_t homes; /* there are homes + reach slots */
    size_t reach;
} lg_pos_slots;

static inline size_t lg_pos_home(lg_pos_slots slots, uint64_t hash) {
    return (size_t)((hash >> 32) * (uint64_t)slots.homes >> 32);
}
/* What a slot keeps of the hash; 0 is an empty slot. */
static inline uint16_t lg_pos_feature_check(uint64_t hash) {
    return (uint16_t)hash ? (uint16_t)hash : 1;
}
static inline uint32_t lg_pos_word_check(uint64_t hash) {
    return (uint32_t)hash ? (uint32_t)hash : 1;
}

struct lg_pos_model {
    lg_table *table;
    lg_arena arena;
    const char *tagset;
    const char **tags; /* NULL-terminated */
    size_t n_tags;
    lg_split split;

    lg_pos_slots features;
    const uint16_t *feature_check; /* [homes + reach] */
    const uint32_t *feature_row;   /* [homes + reach + 1] where the slot's weights begin */
    const uint16_t *weights;       /* [feature_row[last]] tag, and from bit 8 on the weight, signed */

    /* Brown only: the tag of each of lg_pos_symbol_tags, LG_POS_NOT_ONE where the model has none. */
    bool has_symbols;
    uint8_t symbols[16];

    bool has_other;
    lg_pos_slots words;
    const uint32_t *word_check; /* [homes + reach] */
    const uint16_t *word_own, *word_other;
    const uint8_t *word_only;
};

/* The slot of a feature; SIZE_MAX: the model does not know it. */
static inline size_t lg_pos_find_feature(const lg_pos_model *m, uint64_t hash) {
    const uint16_t check = lg_pos_feature_check(hash);
    const size_t home = lg_pos_home(m->features, hash), end = home + m->features.reach;
    for (size_t i = home; i < end && m->feature_check[i]; i++)
        if (m->feature_check[i] == check) return i;
    return SIZE_MAX;
}

static inline lg_pos_classes lg_pos_find_word(const lg_pos_model *m, uint64_t hash) {
    const uint32_t check = lg_pos_word_check(hash);
    const size_t home = lg_pos_home(m->words, hash), end = home + m->words.reach;
    for (size_t i = home; i < end && m->word_check[i]; i++)
        if (m->word_check[i] == check)
            return (lg_pos_classes){m->word_own[i], m->word_other[i], m->word_only[i]};
    return (lg_pos_classes){0, 0, LG_POS_NOT_ONE};
}

/* The classes of a form whatever its case. The table does not hold it where the same in lower case, as it is,
   says the same. */
static inline lg_pos_classes lg_pos_find_any(const lg_pos_model *m, uint64_t folded, uint64_t lower) {
    const lg_pos_classes any = lg_pos_find_word(m, folded);
    return any.own | any.other ? any : lg_pos_find_word(m, lower);
}

/* Checks TABLE and makes a model of it, which owns it then; on error it stays the caller's. */
lg_status lg_pos_model_from_table(lg_table *table, lg_pos_model **model, lg_error *error);

#endif
