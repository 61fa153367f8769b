/* Counting which tags each form had, and where. */
#include "tag/pos_lexicon.h"

#include <stdlib.h>

#include "base/memory.h"

enum { OFTEN = 50, SELDOM = 1000 };

/* The slot of FORM or the empty one where it belongs. */
static size_t find(const lg_pos_lexicon *l, uint64_t form) {
    size_t i = (size_t)lg_pos_mix(form, 0) & (l->capacity - 1);
    while (l->forms[i].hash && l->forms[i].hash != form) i = (i + 1) & (l->capacity - 1);
    return i;
}

static bool grow(lg_pos_lexicon *l) {
    lg_pos_lexicon larger = *l;
    larger.capacity = l->capacity ? 2 * l->capacity : 64;
    if (!(larger.forms = calloc(larger.capacity, sizeof *larger.forms))) return false;
    for (size_t i = 0; i < l->capacity; i++)
        if (l->forms[i].hash) larger.forms[find(&larger, l->forms[i].hash)] = l->forms[i];
    free(l->forms);
    *l = larger;
    return true;
}

bool lg_pos_lexicon_add(lg_pos_lexicon *l, uint64_t form, uint64_t lower, uint16_t tag, unsigned part) {
    if (2 * l->n_forms >= l->capacity && !grow(l)) return false;
    const size_t at = find(l, form);
    for (uint32_t k = l->forms[at].first; k; k = l->tags[k - 1].next) {
        if (l->tags[k - 1].tag != tag) continue;
        l->tags[k - 1].parts |= 1ull << part;
        l->tags[k - 1].count++;
        return true;
    }
    if (l->n_tags >= UINT32_MAX - 1 ||
        !lg_reserve(&l->tags, &l->tag_capacity, l->n_tags + 1, sizeof *l->tags))
        return false;
    if (!l->forms[at].hash) l->n_forms++;
    l->tags[l->n_tags++] = (lg_pos_lexicon_tag){1ull << part, 1, tag, l->forms[at].first};
    l->forms[at].hash = form;
    l->forms[at].lower = lower;
    l->forms[at].first = (uint32_t)l->n_tags;
    return true;
}

uint16_t lg_pos_lexicon_class(const lg_pos_lexicon *l, uint64_t form, unsigned part) {
    if (!l->capacity) return 0;
    const uint64_t hidden = part < LG_POS_PARTS ? 1ull << part : 0;
    uint64_t sum = 0; /* the same in any order */
    bool any = false;
    for (uint32_t k = l->forms[find(l, form)].first; k; k = l->tags[k - 1].next) {
        if (!(l->tags[k - 1].parts & ~hidden)) continue;
        sum += lg_pos_mix(lg_pos_mix(7, l->tags[k - 1].tag), 7);
        any = true;
    }
    return any ? (uint16_t)(1 + (sum >> 16) % 65535) : 0;
}

uint8_t lg_pos_lexicon_only(const lg_pos_lexicon *l, uint64_t form) {
    if (!l->capacity) return LG_POS_NOT_ONE;
    uint64_t total = 0, most = 0;
    uint16_t tag = LG_POS_NOT_ONE;
    for (uint32_t k = l->forms[find(l, form)].first; k; k = l->tags[k - 1].next) {
        total += l->tags[k - 1].count;
        if (l->tags[k - 1].count > most) {
            most = l->tags[k - 1].count;
            tag = l->tags[k - 1].tag;
        }
    }
    return total >= OFTEN && (total - most) * SELDOM <= total ? (uint8_t)tag : LG_POS_NOT_ONE;
}

void lg_pos_lexicon_free(lg_pos_lexicon *l) {
    free(l->forms);
    free(l->tags);
    *l = (lg_pos_lexicon){0};
}
