/* The plain lexer's view of a whole document, for languages whose lexer cannot begin in the middle (HTML,
   LaTeX): what it cut, and what the parser gets to see. */
#include <string.h>

#include "base/memory.h"
#include "tag/code_internal.h"

bool lg_code_plain_room(lg_code_walk *w) {
    lg_code_plain *p = w->plain;
    p->leaves.count = p->hint = 0;
    return lg_reserve(&p->seen, &p->seen_room, w->n_bytes, 1);
}

size_t lg_code_plain_at(const lg_code_walk *w, size_t at) {
    lg_code_plain *p = w->plain;
    const lg_spans *leaves = &p->leaves;
    enum { NEAR = 16 };
    size_t low = 0, high = leaves->count;
    if (p->hint < high && leaves->begin[p->hint] <= at) { /* mostly it is one of the next */
        low = p->hint;
        for (size_t i = 0; i < NEAR && low < high; i++, low++)
            if (leaves->end[low] > at) return p->hint = low;
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (leaves->end[middle] > at) high = middle;
        else low = middle + 1;
    }
    return p->hint = low;
}

uint16_t lg_code_plain_tag(const lg_code_walk *w, size_t at) {
    size_t i = lg_code_plain_at(w, at);
    return i < w->plain->leaves.count ? w->plain->leaves.tag[i] & (uint16_t)~LG_CODE_FIXED : LG_CODE_NEXT;
}

void lg_code_plain_lex(lg_code_walk *w, size_t begin, size_t end) {
    const lg_spans *leaves = &w->plain->leaves;
    for (size_t i = lg_code_plain_at(w, begin); i < leaves->count && leaves->begin[i] < end; i++) {
        size_t from = leaves->begin[i] > begin ? (size_t)leaves->begin[i] : begin;
        size_t to = leaves->end[i] < end ? (size_t)leaves->end[i] : end;
        lg_code_put(w, from, to, leaves->tag[i] & (uint16_t)~LG_CODE_FIXED);
    }
}

void lg_code_plain_prepare(lg_code_walk *w, size_t begin, size_t end, char *seen, lg_spans *fixed) {
    const lg_spans *leaves = &w->plain->leaves;
    memcpy(seen, w->plain->seen + begin, end - begin);
    for (size_t i = lg_code_plain_at(w, begin); i < leaves->count && leaves->begin[i] < end && !w->failed;
         i++) {
        if (!(leaves->tag[i] & LG_CODE_FIXED)) continue;
        uint64_t from = leaves->begin[i] > begin ? leaves->begin[i] : begin;
        uint64_t to = leaves->end[i] < end ? leaves->end[i] : end;
        if (!lg_spans_add(fixed, from, to, leaves->tag[i] & (uint16_t)~LG_CODE_FIXED)) w->failed = true;
    }
}

size_t lg_code_plain_cut(const lg_code_walk *w, size_t begin, size_t wanted, size_t end,
                         bool (*fits)(const lg_code_walk *walk, size_t leaf)) {
    const lg_spans *leaves = &w->plain->leaves;
    size_t first = lg_code_plain_at(w, wanted), half = begin + (wanted - begin) / 2;
    for (size_t i = first; i < leaves->count && leaves->begin[i] > half; i--) {
        if (!fits || fits(w, i)) return (size_t)leaves->begin[i];
        if (!i) break;
    }
    if (!fits) return wanted; /* within a leaf: `put` joins the halves */
    for (size_t i = first; i < leaves->count && leaves->begin[i] < end; i++)
        if (leaves->begin[i] > begin && fits(w, i)) return (size_t)leaves->begin[i];
    return end;
}
