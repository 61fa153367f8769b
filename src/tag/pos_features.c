/* Features of words: spelling, classes of the lexicon, neighbours, earlier tags. */
#include "tag/pos_features.h"

#include <string.h>
#include <utf8proc.h>

#include "base/text.h"

enum { LONGEST = 256 };

/* Seeds of hashes, so that the same letters differ as a form and as a suffix. */
enum { EXACT = 1, FOLDED, PLAIN, SUFFIX, PREFIX, PART, SHAPE };

static uint64_t add_bytes(uint64_t hash, const char *bytes, size_t n) {
    for (size_t i = 0; i < n; i++) hash = lg_pos_mix(hash, (unsigned char)bytes[i]);
    return hash;
}

static uint64_t hash_bytes(unsigned kind, const char *bytes, size_t n) {
    return add_bytes(lg_pos_seed(kind), bytes, n);
}

/* ---- normal forms ---- */

/* Whether a straight double quote opens: by the white space and the brackets around it, and where they do not
   tell, by turns. */
static bool opens_quote(const char *text, const lg_spans *words, size_t i, const lg_pos_sentence *sentence) {
    bool before =
        i == 0 || words->end[i - 1] < words->begin[i] || strchr("([{-/", text[words->end[i - 1] - 1]) != NULL;
    bool after = i + 1 == words->count || words->begin[i + 1] > words->end[i] ||
                 strchr(")]}.,;:!?", text[words->begin[i + 1]]) != NULL;
    return before != after ? before : !sentence->quoted;
}

/* Writes the word as the features have it into FORM; returns its bytes, at most LONGEST. */
static size_t normalize(const char *text, const lg_spans *words, size_t i, lg_pos_sentence *sentence,
                        char form[LONGEST + 4]) {
    static const char plain[][4] = {"-", "-", "-", "-", "--", "--", "|", "_", "'", "'", ",", "'", "``", "''"};
    const char *word = text + words->begin[i];
    const size_t n = (size_t)(words->end[i] - words->begin[i]);
    size_t length = 0;
    for (size_t at = 0; at < n && length < LONGEST;) {
        const unsigned char *c = (const unsigned char *)word + at;
        if (c[0] == 0xE2 && n - at > 2 && c[1] == 0x80 && ((c[2] >= 0x90 && c[2] <= 0x9D) || c[2] == 0xA6)) {
            const char *put = c[2] == 0xA6 ? "..." : plain[c[2] - 0x90]; /* U+2010 … U+201D, U+2026 */
            size_t bytes = strlen(put);
            memcpy(form + length, put, bytes);
            length += bytes;
            at += 3;
        } else {
            form[length++] = word[at++];
        }
    }
    if (length == 1 && form[0] == '"') {
        memcpy(form, opens_quote(text, words, i, sentence) ? "``" : "''", 2);
        length = 2;
    }
    if (length == 2 && (memcmp(form, "``", 2) == 0 || memcmp(form, "''", 2) == 0))
        sentence->quoted = form[0] == '`';
    return length < LONGEST ? length : LONGEST;
}

/* Quotes, brackets and dashes that may stand before a sentence's first word. */
static bool is_opening(const char *form, size_t n) {
    return (n == 1 && strchr("'`(-*[", form[0])) ||
           (n == 2 && (!memcmp(form, "``", 2) || !memcmp(form, "''", 2) || !memcmp(form, "--", 2)));
}

/* ---- spelling ---- */

typedef enum letter { LETTER_NONE, LETTER_SMALL, LETTER_CAPITAL } letter;

/* The character at FORM in lower case into LOWER; returns its bytes in FORM. */
static size_t lower_case(const char *form, size_t n, char *lower, size_t *lower_bytes, letter *kind) {
    const char c = form[0];
    *kind = LETTER_NONE;
    if (!(c & 0x80)) {
        if (c >= 'A' && c <= 'Z') *kind = LETTER_CAPITAL;
        if (c >= 'a' && c <= 'z') *kind = LETTER_SMALL;
        lower[0] = (char)(*kind == LETTER_CAPITAL ? c + 32 : c);
        *lower_bytes = 1;
        return 1;
    }
    uint32_t code;
    bool valid;
    size_t bytes = lg_utf8_decode(form, n, &code, &valid);
    if (!valid) {
        lower[0] = c;
        *lower_bytes = 1;
        return 1;
    }
    uint32_t small = (uint32_t)utf8proc_tolower((utf8proc_int32_t)code);
    if (small != code) *kind = LETTER_CAPITAL;
    else if (utf8proc_toupper((utf8proc_int32_t)code) != (utf8proc_int32_t)code) *kind = LETTER_SMALL;
    *lower_bytes = lg_utf8_encode(small, lower);
    return bytes;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool continues(char c) { /* a character of several bytes */
    return ((unsigned char)c & 0xC0) == 0x80;
}

void lg_pos_spell(lg_pos_token *t, lg_pos_form *spelled, lg_pos_sentence *sentence, const char *text,
                  const lg_spans *words, size_t i) {
    char form[LONGEST + 4], plain[sizeof spelled->lower];
    char *const lower = spelled->lower;
    const size_t n = normalize(text, words, i, sentence, form);
    size_t length = 0;
    bool first_capital = false, capitals = false, small = false;
    size_t part = 0; /* where the last part after a hyphen begins */
    uint64_t shape = lg_pos_seed(SHAPE);
    char last_kind = 0, run = 0;
    for (size_t at = 0; at < n;) {
        letter kind;
        size_t bytes;
        const char c = form[at];
        at += lower_case(form + at, n - at, lower + length, &bytes, &kind);
        if (kind == LETTER_CAPITAL) {
            capitals = true;
            if (!length) first_capital = true;
        } else if (kind == LETTER_SMALL) small = true;
        char k = (char)(kind == LETTER_CAPITAL             ? 'X'
                        : kind == LETTER_SMALL || c & 0x80 ? 'x'
                        : is_digit(c)                      ? '0'
                                                           : c);
        run = (char)(k == last_kind ? run + (run < 2) : 0); /* two of a kind are as good as many */
        if (run < 2) shape = lg_pos_mix(shape, (unsigned char)k);
        last_kind = k;
        for (size_t b = 0; b < bytes; b++)
            plain[length + b] = is_digit(lower[length + b]) ? '0' : lower[length + b];
        if (c == '-' && length) part = length + 1;
        length += bytes;
    }
    t->exact = hash_bytes(EXACT, form, n);
    t->lower = capitals ? hash_bytes(EXACT, lower, length) : t->exact;
    t->folded = hash_bytes(FOLDED, lower, length);
    t->plain = hash_bytes(PLAIN, plain, length);
    memset(t->suffix, 0, sizeof t->suffix);
    memset(t->prefix, 0, sizeof t->prefix);
    uint64_t hash = lg_pos_seed(SUFFIX);
    for (size_t at = length, k = 0; at-- > 0 && k < 5;) {
        hash = lg_pos_mix(hash, (unsigned char)plain[at]);
        if (!continues(plain[at])) t->suffix[k++] = hash;
    }
    hash = lg_pos_seed(PREFIX);
    for (size_t at = 0, k = 0; at < length && k < 5; at++) {
        hash = lg_pos_mix(hash, (unsigned char)plain[at]);
        if (at + 1 == length || !continues(plain[at + 1])) t->prefix[k++] = hash;
    }
    spelled->length = length;
    spelled->last_part = part < length ? part : 0;
    t->last_part = spelled->last_part ? hash_bytes(PART, lower + part, length - part) : 0;
    t->shape = shape;
    t->ending = t->suffix[2] ? t->suffix[2] : t->plain;
    t->capitals =
        (uint64_t)first_capital | (uint64_t)(capitals && !small) << 1 | (uint64_t)!sentence->begun << 2;
    if (!is_opening(form, n)) sentence->begun = true;
}

/* ---- relatives ---- */

/* An unknown word whose relatives are wanted. */
typedef struct relatives {
    uint16_t (*look_up)(const void *context, uint64_t folded, uint64_t lower);
    const void *context;
    const char *form;
    size_t length;
} relatives;

/* The class of the first STEM letters with ENDING instead of the rest. */
static uint16_t class_of(const relatives *r, size_t stem, const char *ending) {
    const size_t n = strlen(ending);
    return r->look_up(r->context, add_bytes(hash_bytes(FOLDED, r->form, stem), ending, n),
                      add_bytes(hash_bytes(EXACT, r->form, stem), ending, n));
}

/* A known word that differs in its ending (walked, walks: walk; hoping: hope; cities: city), else in its
   prefix, else by a longer ending. */
static uint64_t find_relative(const relatives *r) {
    static const char *const endings[] = {"'s",   "ing",  "ed",  "es",  "ly",   "er",   "est", "s", "d",
                                          "ness", "ment", "ism", "ist", "able", "less", "ful", "'"};
    static const char *const prefixes[] = {"un", "re", "in"}, *const longer[] = {"s", "ed", "ing"};
    const size_t n = r->length;
    uint16_t class = 0;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const size_t k = strlen(endings[i]);
        if (n <= k + 2 || memcmp(r->form + n - k, endings[i], k) != 0) continue;
        class = class_of(r, n - k, "");
        if (!class && (endings[i][0] == 'i' || endings[i][0] == 'e')) class = class_of(r, n - k, "e");
        if (!class && strcmp(endings[i], "es") == 0 && r->form[n - 3] == 'i') class = class_of(r, n - 3, "y");
        if (class) return lg_pos_mix(class, i);
    }
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        if (n <= 4 || memcmp(r->form, prefixes[i], 2) != 0) continue;
        class = r->look_up(r->context, hash_bytes(FOLDED, r->form + 2, n - 2),
                           hash_bytes(EXACT, r->form + 2, n - 2));
        if (class) return lg_pos_mix(class, 32);
    }
    for (size_t i = 0; i < sizeof longer / sizeof *longer; i++)
        if ((class = class_of(r, n, longer[i]))) return lg_pos_mix(class, 33 + i);
    return 0;
}

void lg_pos_finish(lg_pos_token *t, const lg_pos_form *form,
                   uint16_t (*look_up)(const void *context, uint64_t folded, uint64_t lower),
                   const void *context) {
    t->own = t->as_is.own ? t->as_is.own : t->any.own ? 1u << 16 | t->any.own : 0;
    t->other = t->as_is.other ? t->as_is.other : t->any.other ? 1u << 16 | t->any.other : 0;
    t->known = (uint64_t)(t->as_is.own != 0) | (uint64_t)(t->small.own != 0) << 1 |
               (uint64_t)(t->any.own != 0) << 2 | (uint64_t)(t->as_is.other != 0) << 3 |
               (uint64_t)(t->small.other != 0) << 4 | (uint64_t)(t->any.other != 0) << 5;
    t->relative = t->part = 0;
    if (t->any.own) return;
    t->relative = find_relative(&(relatives){look_up, context, form->lower, form->length});
    if (!form->last_part) return;
    const char *part = form->lower + form->last_part;
    const size_t n = form->length - form->last_part;
    t->part = look_up(context, hash_bytes(FOLDED, part, n), hash_bytes(EXACT, part, n));
}

void lg_pos_border(lg_pos_token *t, bool has_other) {
    *t = (lg_pos_token){0};
    t->exact = t->lower = t->folded = t->plain = t->ending = 1;
    t->capitals = 8;
    t->own = 1u << 17;
    t->other = has_other ? 1u << 17 : 0;
}

/* ---- features ---- */

static uint64_t feature1(unsigned id, uint64_t a) {
    return lg_pos_mix(lg_pos_mix(lg_pos_seed(id), a), 1);
}
static uint64_t feature2(unsigned id, uint64_t a, uint64_t b) {
    return lg_pos_mix(lg_pos_mix(lg_pos_mix(lg_pos_seed(id), a), b), 2);
}
static uint64_t feature3(unsigned id, uint64_t a, uint64_t b, uint64_t c) {
    return lg_pos_mix(lg_pos_mix(lg_pos_mix(lg_pos_mix(lg_pos_seed(id), a), b), c), 3);
}

/* The numbers of templates only have to differ. */
size_t lg_pos_static_features(const lg_pos_token *const window[5], uint64_t f[LG_POS_STATIC]) {
    const lg_pos_token *b2 = window[0], *b1 = window[1], *w = window[2], *a1 = window[3], *a2 = window[4];
    size_t n = 0;
    /* the word itself */
    f[n++] = feature1(1, 0);
    f[n++] = feature1(2, w->exact);
    f[n++] = feature1(3, w->plain);
    for (unsigned k = 0; k < 5 && w->suffix[k]; k++) f[n++] = feature1(4, w->suffix[k]);
    for (unsigned k = 0; k < 5 && w->prefix[k]; k++) f[n++] = feature1(5, w->prefix[k]);
    if (w->last_part) f[n++] = feature1(6, w->last_part);
    f[n++] = feature1(7, w->shape);
    f[n++] = feature2(8, w->shape, w->capitals & 4);
    f[n++] = feature2(9, w->ending, w->capitals);
    f[n++] = feature2(10, w->suffix[1], w->capitals);
    /* what the lexicon knows of it */
    f[n++] = feature1(11, w->own);
    f[n++] = feature3(12, w->capitals, w->small.own, w->any.own != 0);
    f[n++] = feature2(13, w->capitals, w->known);
    f[n++] = feature2(39, w->capitals, w->any.own);
    f[n++] = feature3(47, w->suffix[2], w->prefix[0], w->shape);
    if (!w->any.own) {
        if (w->relative) f[n++] = feature1(40, w->relative);
        if (w->part) f[n++] = feature1(41, w->part);
        f[n++] = feature3(42, w->relative, w->capitals, w->suffix[1]);
    }
    /* neighbours */
    f[n++] = feature1(14, b1->plain);
    f[n++] = feature1(15, b2->plain);
    f[n++] = feature1(16, a1->plain);
    f[n++] = feature1(17, a2->plain);
    f[n++] = feature2(18, b1->plain, w->plain);
    f[n++] = feature2(19, w->plain, a1->plain);
    f[n++] = feature2(20, b1->plain, a1->plain);
    f[n++] = feature2(21, a1->plain, a2->plain);
    f[n++] = feature2(43, b2->plain, b1->plain);
    f[n++] = feature1(44, b1->ending);
    f[n++] = feature1(45, a1->ending);
    f[n++] = feature1(22, a1->capitals);
    f[n++] = feature2(23, b1->capitals, w->capitals);
    f[n++] = feature1(24, a1->own);
    f[n++] = feature1(25, a2->own);
    f[n++] = feature2(26, a1->own, a2->own);
    f[n++] = feature2(27, w->own, a1->own);
    f[n++] = feature3(28, w->own, a1->own, a2->own);
    f[n++] = feature2(29, w->plain, a1->own);
    f[n++] = feature2(30, w->own, a1->plain);
    /* what another tagset's lexicon knows */
    if (w->other | a1->other | a2->other) {
        f[n++] = feature1(31, w->other);
        f[n++] = feature1(32, a1->other);
        f[n++] = feature1(33, a2->other);
        f[n++] = feature1(46, b1->other);
        f[n++] = feature2(34, w->other, a1->other);
        f[n++] = feature3(35, b1->other, w->other, a1->other);
        f[n++] = feature2(36, w->other, w->capitals);
        f[n++] = feature2(37, w->own, w->other);
        f[n++] = feature2(38, w->small.other, w->capitals);
    }
    return n;
}

size_t lg_pos_dynamic_features(const lg_pos_token *const window[5], const uint16_t previous[3],
                               uint64_t f[LG_POS_DYNAMIC]) {
    const lg_pos_token *w = window[2], *a1 = window[3];
    const uint64_t t1 = previous[0], t2 = previous[1], t12 = t1 << 16 | t2;
    size_t n = 0;
    f[n++] = feature1(51, t1);
    f[n++] = feature1(52, t12);
    f[n++] = feature2(53, t1, w->plain);
    f[n++] = feature2(54, t12, w->plain);
    f[n++] = feature2(55, t1, w->own);
    f[n++] = feature2(56, t12, w->own);
    f[n++] = feature2(57, t1, w->ending);
    f[n++] = feature3(58, t1, w->suffix[1], w->capitals);
    f[n++] = feature2(59, t1, w->capitals);
    f[n++] = feature2(60, t1, a1->plain);
    f[n++] = feature2(61, t1, a1->own);
    f[n++] = feature3(62, t1, w->own, a1->own);
    f[n++] = feature2(63, t12, a1->own);
    if (w->other | a1->other) {
        f[n++] = feature2(64, t1, w->other);
        f[n++] = feature3(65, t1, w->other, a1->other);
        f[n++] = feature2(66, t12, w->other);
    }
    return n;
}
