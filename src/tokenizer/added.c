/* Finding added tokens: two bytes tell whether one can begin here, then sorted keys are narrowed byte by
 * byte. */
#include "tokenizer/added.h"

#include <stdlib.h>
#include <string.h>

#include "tokenizer/unicode.h"

static int compare_keys(const void *a, const void *b) {
    const lg_added_key *x = a, *y = b;
    int order = memcmp(x->text, y->text, x->length < y->length ? x->length : y->length);
    if (order) return order;
    if (x->length != y->length) return x->length < y->length ? -1 : 1;
    /* Hugging Face keeps the special tokens before the others. */
    if (x->token->special != y->token->special) return x->token->special ? -1 : 1;
    return x->token < y->token ? -1 : x->token > y->token;
}

void lg_added_set_build(lg_added_set *set, lg_added_key *keys, size_t count) {
    memset(set->pairs, 0, sizeof set->pairs);
    set->keys = keys;
    set->count = 0;
    if (count) qsort(keys, count, sizeof *keys, compare_keys);
    for (size_t i = 0; i < count; i++) {
        const lg_added_key *last = set->count ? &keys[set->count - 1] : NULL;
        if (last && last->length == keys[i].length && memcmp(last->text, keys[i].text, last->length) == 0)
            continue;
        const unsigned char *s = (const unsigned char *)keys[i].text;
        if (keys[i].length == 1) memset(set->pairs + s[0] * 4u, 0xFF, 32);
        else set->pairs[s[0] * 4u + s[1] / 64u] |= (uint64_t)1 << s[1] % 64u;
        keys[set->count++] = keys[i];
    }
}

/* The longest key that TEXT begins with. */
static const lg_added_key *longest(const lg_added_set *set, const unsigned char *text, size_t length) {
    const lg_added_key *keys = set->keys, *best = NULL;
    size_t low = 0, high = set->count; /* keys that agree with the text so far */
    for (size_t depth = 0; depth < length && low < high; depth++) {
        for (size_t end = high; low < end;) { /* the first with a byte not below the text's */
            size_t middle = low + (end - low) / 2;
            const lg_added_key *k = &keys[middle];
            if (k->length <= depth || (unsigned char)k->text[depth] < text[depth]) low = middle + 1;
            else end = middle;
        }
        for (size_t begin = low; begin < high;) { /* the first with a byte above it */
            size_t middle = begin + (high - begin) / 2;
            if ((unsigned char)keys[middle].text[depth] > text[depth]) high = middle;
            else begin = middle + 1;
        }
        if (low < high && keys[low].length == depth + 1) best = &keys[low];
    }
    return best;
}

static const lg_added_key *search(const lg_added_scan *scan, size_t *at) {
    const unsigned char *text = scan->text;
    const uint64_t *pairs = scan->set->pairs;
    for (size_t i = scan->from; i < scan->length; i++) {
        unsigned next = i + 1 < scan->length ? text[i + 1] : 0;
        bool may = pairs[text[i] * 4u + next / 64u] >> next % 64u & 1;
        const lg_added_key *key = may ? longest(scan->set, text + i, scan->length - i) : NULL;
        if (!key) continue;
        *at = i;
        return key;
    }
    return NULL;
}

const lg_added *lg_added_next(lg_added_scan *scan, size_t *start, size_t *stop) {
    const unsigned char *text = scan->text, *end = text + scan->length;
    const lg_added_key *key;
    size_t begin, size;
    if (!scan->set->count) return NULL;
    while ((key = search(scan, &begin)) != NULL) {
        const lg_added *token = key->token;
        size_t after = begin + key->length;
        scan->from = after;
        if (token->special && scan->skip_special) continue;
        if (token->single_word) {
            if (begin && lg_class_before(scan->classes, text, text + begin, &size) & LG_WORD) continue;
            if (after < scan->length && lg_class_at(scan->classes, text + after, end, &size) & LG_WORD)
                continue;
        }
        if (token->lstrip)
            while (begin > scan->taken &&
                   lg_class_before(scan->classes, text + scan->taken, text + begin, &size) & LG_SPACE)
                begin -= size;
        if (token->rstrip)
            while (after < scan->length && lg_class_at(scan->classes, text + after, end, &size) & LG_SPACE)
                after += size;
        *start = begin;
        *stop = scan->from = scan->taken = after;
        return token;
    }
    return NULL;
}
