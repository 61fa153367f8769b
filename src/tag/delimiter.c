/* Delimiters: what opens and closes, of which kind, how deep, and how far back a closing one's opener is.
 *
 * In code and markup the parser says which leaves are delimiters. In prose, and inside leaves of text,
 * brackets and quotes are looked for here. A straight double quote opens and closes by turns; what is pending
 * at a blank line is given up. '' closes `` only, and U+2019 a U+2018 only and not inside a word; a straight
 * single quote is an apostrophe.
 *
 * A closing delimiter belongs to the last one of its kind (and name: tags, environments) that is still open;
 * those opened since then stay without a partner. What the parser found and what was looked for in text do
 * not disturb each other, nor do angle brackets and what they hold, for a tag's name opens inside of its
 * brackets what goes on behind them; comments, strings and attribute values keep to themselves. */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/memory.h"
#include "tag/code.h"
#include "tag/tag_internal.h"

static const char *const names[] = {
    [LG_NO_DELIMITER] = "none",
    [LG_OPEN_ROUND] = "open.round",
    [LG_CLOSE_ROUND] = "close.round",
    [LG_OPEN_SQUARE] = "open.square",
    [LG_CLOSE_SQUARE] = "close.square",
    [LG_OPEN_CURLY] = "open.curly",
    [LG_CLOSE_CURLY] = "close.curly",
    [LG_OPEN_ANGLE] = "open.angle",
    [LG_CLOSE_ANGLE] = "close.angle",
    [LG_OPEN_TAG] = "open.tag",
    [LG_CLOSE_TAG] = "close.tag",
    [LG_OPEN_ENVIRONMENT] = "open.environment",
    [LG_CLOSE_ENVIRONMENT] = "close.environment",
    [LG_OPEN_MATH] = "open.math",
    [LG_CLOSE_MATH] = "close.math",
    [LG_OPEN_QUOTE] = "open.quote",
    [LG_CLOSE_QUOTE] = "close.quote",
    [LG_N_DELIMITERS] = NULL,
};

/* What must agree for two delimiters to be partners: the kind; pairs of quotes that differ; a name. */
enum {
    KEY_STRAIGHT = LG_N_DELIMITERS / 2, /* "…" */
    KEY_CURLY,                          /* “…” */
    KEY_SINGLE,                         /* ‘…’ */
    KEY_GUILLEMETS,                     /* «…» */
    KEY_GRAVE,                          /* ``…'' */
    KEY_NAMED,                          /* from here on: names */
};

enum { NO_PARTNER = UINT32_MAX };

/* Delimiters that are open. */
typedef struct stack {
    struct opener {
        uint32_t span, key;
    } * open;
    size_t count, room;
    size_t floor;      /* those below belong to text around the leaf at hand */
    uint32_t *pending; /* [keys] how many of a key are open above the floor */
    size_t pending_room;
} stack;

typedef struct name {
    size_t begin, length;
    uint32_t key;
} name;

typedef struct scratch {
    stack parsed, text, angles;
    uint32_t *partner; /* [spans] the opener's span of a closing delimiter */
    uint16_t *depth;   /* [spans] 1: outermost; 0: a closing one without a partner */
    size_t partner_room, depth_room;
    uint32_t *token; /* [spans] that holds the span's first byte */
    size_t token_room;
    name *names; /* hash table, a power of two */
    size_t n_slots, n_names;
} scratch;

static void *start(const void *state) {
    (void)state;
    return calloc(1, sizeof(scratch));
}

static void stop(void *started) {
    scratch *own = started;
    if (!own) return;
    free(own->parsed.open);
    free(own->parsed.pending);
    free(own->text.open);
    free(own->text.pending);
    free(own->angles.open);
    free(own->angles.pending);
    free(own->partner);
    free(own->depth);
    free(own->token);
    free(own->names);
    free(own);
}

static bool want_key(stack *s, uint32_t key) {
    size_t before = s->pending_room;
    if (!lg_reserve(&s->pending, &s->pending_room, (size_t)key + 1, sizeof *s->pending)) return false;
    if (s->pending_room > before)
        memset(s->pending + before, 0, (s->pending_room - before) * sizeof *s->pending);
    return true;
}

/* ---- pairing ---- */

typedef struct pairing {
    const lg_tag_document *d;
    lg_spans *spans;
    scratch *own;
} pairing;

static bool add(pairing *p, stack *s, size_t begin, size_t end, unsigned delimiter, uint32_t key) {
    scratch *own = p->own;
    size_t at = p->spans->count;
    if (at >= NO_PARTNER || !lg_spans_add(p->spans, begin, end, (uint16_t)(delimiter - 1)) ||
        !lg_reserve(&own->partner, &own->partner_room, at + 1, sizeof *own->partner) ||
        !lg_reserve(&own->depth, &own->depth_room, at + 1, sizeof *own->depth) || !want_key(s, key))
        return false;
    own->partner[at] = NO_PARTNER;
    own->depth[at] = 0;
    if (delimiter % 2) { /* opens */
        if (!lg_reserve(&s->open, &s->room, s->count + 1, sizeof *s->open)) return false;
        s->open[s->count++] = (struct opener){(uint32_t)at, key};
        s->pending[key]++;
        size_t depth = own->parsed.count + own->text.count;
        if (delimiter != LG_OPEN_TAG) depth += own->angles.count; /* a tag is as deep as its brackets */
        own->depth[at] = depth < UINT16_MAX ? (uint16_t)depth : UINT16_MAX;
    } else if (s->pending[key]) {
        struct opener o;
        do {
            o = s->open[--s->count];
            s->pending[o.key]--;
        } while (o.key != key);
        own->partner[at] = o.span;
        own->depth[at] = own->depth[o.span];
    }
    return true;
}

/* Gives up what is open above the floor: all of it, or down to the last of KEY. */
static void give_up(stack *s, uint32_t key) {
    while (s->count > s->floor) {
        struct opener o = s->open[--s->count];
        s->pending[o.key]--;
        if (o.key == key) break;
    }
}

/* ---- in prose ---- */

static bool in_word(const lg_tag_document *d, size_t at) {
    return at < d->n_bytes && (d->classes[at] & LG_CLASS_IN_WORD);
}

/* Whether the bracket at AT is the mouth of :( or ;-) and not a bracket. */
static bool is_mouth(const lg_tag_document *d, size_t begin, size_t at) {
    if (at > begin && (d->text[at - 1] == '-' || d->text[at - 1] == '\'')) at--;
    if (at == begin || (d->text[at - 1] != ':' && d->text[at - 1] != ';')) return false;
    at--;
    return at == begin || (d->classes[at - 1] & LG_CLASS_MASK) == LG_CLASS_WHITESPACE;
}

/* Whether a word that has lost its first letters begins at AT: ‘tis, ‘90s; many write them with U+2018. */
static bool is_elided(const lg_tag_document *d, size_t at) {
    static const char *const words[] = {"tis", "twas", "em"};
    if (at < d->n_bytes && d->text[at] >= '0' && d->text[at] <= '9') return true;
    for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
        size_t n = strlen(words[w]);
        if (d->n_bytes - at >= n && strncasecmp(d->text + at, words[w], n) == 0 && !in_word(d, at + n))
            return true;
    }
    return false;
}

/* Which quote of several bytes begins at AT: its length, delimiter and key; 0: none. */
static size_t long_quote(const pairing *p, size_t at, size_t end, unsigned *delimiter, uint32_t *key) {
    const unsigned char *s = (const unsigned char *)p->d->text + at;
    const uint32_t *pending = p->own->text.pending;
    size_t left = end - at;
    if (left >= 2 && s[0] == s[1] && (s[0] == '`' || s[0] == '\'')) { /* `` also closes: reStructuredText */
        *key = KEY_GRAVE;
        *delimiter = pending[KEY_GRAVE] ? LG_CLOSE_QUOTE : LG_OPEN_QUOTE;
        return s[0] == '`' || pending[KEY_GRAVE] ? 2 : 0;
    }
    if (left >= 2 && s[0] == 0xC2 && (s[1] == 0xAB || s[1] == 0xBB)) {
        *key = KEY_GUILLEMETS;
        *delimiter = s[1] == 0xAB ? LG_OPEN_QUOTE : LG_CLOSE_QUOTE;
        return 2;
    }
    if (left < 3 || s[0] != 0xE2 || s[1] != 0x80) return 0;
    switch (s[2]) {
    case 0x98: /* ‘ */
    case 0x99: /* ’ */
        *key = KEY_SINGLE;
        *delimiter = s[2] == 0x98 ? LG_OPEN_QUOTE : LG_CLOSE_QUOTE;
        if (s[2] == 0x98 && is_elided(p->d, at + 3)) return 0;
        if (s[2] == 0x99 && (!pending[KEY_SINGLE] || (at && in_word(p->d, at - 1) && in_word(p->d, at + 3))))
            return 0;
        return 3;
    case 0x9C: /* “ */
    case 0x9D: /* ” */
        *key = KEY_CURLY;
        *delimiter = s[2] == 0x9C ? LG_OPEN_QUOTE : LG_CLOSE_QUOTE;
        return 3;
    default:
        return 0;
    }
}

/* Brackets and quotes of bytes BEGIN … END - 1. */
static bool scan_prose(pairing *p, size_t begin, size_t end) {
    static const char brackets[] = "()[]{}";
    stack *s = &p->own->text;
    if (!want_key(s, KEY_NAMED)) return false;
    unsigned newlines = 0;
    for (size_t i = begin; i < end;) {
        unsigned char c = (unsigned char)p->d->text[i];
        const char *bracket;
        unsigned delimiter;
        uint32_t key;
        size_t length = 1;
        if (c == '\n' && ++newlines == 2) {
            if (p->d->kind == LG_PROSE) give_up(s, UINT32_MAX);
            for (key = KEY_STRAIGHT; key < KEY_NAMED; key++)
                while (s->pending[key]) give_up(s, key);
        } else if (c > ' ') {
            newlines = 0;
        }
        if (c == '"') {
            if (!add(p, s, i, i + 1, s->pending[KEY_STRAIGHT] ? LG_CLOSE_QUOTE : LG_OPEN_QUOTE, KEY_STRAIGHT))
                return false;
        } else if (c && (bracket = strchr(brackets, c))) {
            delimiter = (unsigned)(bracket - brackets) + LG_OPEN_ROUND;
            if (!is_mouth(p->d, begin, i) && !add(p, s, i, i + 1, delimiter, (delimiter - 1) / 2))
                return false;
        } else if ((c == '`' || c == '\'' || c >= 0xC2) &&
                   (length = long_quote(p, i, end, &delimiter, &key))) {
            if (!add(p, s, i, i + length, delimiter, key)) return false;
        }
        i += length ? length : 1;
    }
    return true;
}

/* The same for a leaf that keeps to itself. */
static bool scan_apart(pairing *p, size_t begin, size_t end) {
    stack *s = &p->own->text;
    uint32_t outside[KEY_NAMED];
    if (!want_key(s, KEY_NAMED)) return false;
    size_t floor = s->floor;
    memcpy(outside, s->pending, sizeof outside);
    memset(s->pending, 0, sizeof outside);
    s->floor = s->count;
    bool good = scan_prose(p, begin, end);
    give_up(s, UINT32_MAX);
    s->floor = floor;
    memcpy(s->pending, outside, sizeof outside);
    return good;
}

/* ---- in code and markup ---- */

/* Bytes of a name as they are compared: HTML does not tell case apart. */
static inline char folded(const lg_tag_document *d, size_t at) {
    char c = d->text[at];
    return d->kind == LG_HTML && c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static size_t slot_of(const lg_tag_document *d, const scratch *own, size_t begin, size_t length) {
    XXH64_hash_t hash = length;
    char part[64];
    for (size_t i = 0; i < length;) {
        size_t n = 0;
        while (i < length && n < sizeof part) part[n++] = folded(d, begin + i++);
        hash = XXH3_64bits_withSeed(part, n, hash);
    }
    for (size_t slot = (size_t)hash & (own->n_slots - 1);; slot = (slot + 1) & (own->n_slots - 1)) {
        const name *n = &own->names[slot];
        size_t i = 0;
        if (!n->key) return slot;
        while (n->length == length && i < length && folded(d, n->begin + i) == folded(d, begin + i)) i++;
        if (n->length == length && i == length) return slot;
    }
}

/* The key of a name, the same for all that are equal in this document; 0: no memory. */
static uint32_t key_of(const lg_tag_document *d, scratch *own, size_t begin, size_t length) {
    if (own->n_names >= own->n_slots / 2) {
        size_t n = own->n_slots;
        name *before = own->names;
        own->names = calloc(n ? 2 * n : 64, sizeof *own->names);
        if (!own->names) return own->names = before, 0;
        own->n_slots = n ? 2 * n : 64;
        for (size_t i = 0; i < n; i++)
            if (before[i].key) own->names[slot_of(d, own, before[i].begin, before[i].length)] = before[i];
        free(before);
    }
    name *n = &own->names[slot_of(d, own, begin, length)];
    if (!n->key) *n = (name){begin, length, KEY_NAMED + (uint32_t)own->n_names++};
    return n->key;
}

/* A leaf that is a delimiter. Tags go by their name, environments by what stands in braces. */
static bool add_leaf(pairing *p, size_t begin, size_t end, unsigned delimiter) {
    uint32_t key = (delimiter - 1) / 2;
    if (delimiter >= LG_OPEN_TAG && delimiter <= LG_CLOSE_ENVIRONMENT) {
        size_t from = begin, to = end;
        if (delimiter >= LG_OPEN_ENVIRONMENT) {
            while (from < end && p->d->text[from] != '{') from++;
            while (to > from && p->d->text[to - 1] != '}') to--;
        }
        key = key_of(p->d, p->own, from, to - from);
        if (!key) return false;
    }
    bool angle = delimiter == LG_OPEN_ANGLE || delimiter == LG_CLOSE_ANGLE;
    return add(p, angle ? &p->own->angles : &p->own->parsed, begin, end, delimiter, key);
}

static void empty(stack *s) {
    s->count = s->floor = 0;
    if (s->pending) memset(s->pending, 0, s->pending_room * sizeof *s->pending);
}

static bool make_spans(const lg_tag_maker *self, const lg_tag_document *d, lg_spans *spans) {
    (void)self;
    pairing p = {d, spans, d->scratch};
    empty(&p.own->parsed);
    empty(&p.own->text);
    empty(&p.own->angles);
    p.own->n_names = 0;
    if (p.own->names) memset(p.own->names, 0, p.own->n_slots * sizeof *p.own->names);
    if (d->kind == LG_PROSE) return scan_prose(&p, 0, d->n_bytes);
    const lg_spans *leaves = lg_tag_layer(d, &lg_maker_code);
    for (size_t i = 0; i < leaves->count; i++) {
        const lg_code_tag *tag = &lg_code_tags[leaves->tag[i]];
        size_t begin = (size_t)leaves->begin[i], end = (size_t)leaves->end[i];
        bool flows = tag->family == LG_FAMILY_TEXT || tag->family == LG_FAMILY_GROUP_TEXT ||
                     tag->family == LG_FAMILY_MATH;
        if (tag->delimiter && !add_leaf(&p, begin, end, tag->delimiter)) return false;
        if (tag->prose && !(flows ? scan_prose(&p, begin, end) : scan_apart(&p, begin, end))) return false;
    }
    return true;
}

static bool fill(const lg_tag_maker *self, const lg_tag_document *d, const lg_spans *spans,
                 void *const *columns) {
    (void)self;
    uint8_t *single = columns[0];
    uint16_t *depth = columns[1];
    uint32_t *distance = columns[2], *bits = columns[3];
    scratch *own = d->scratch;
    if (!lg_reserve(&own->token, &own->token_room, spans->count, sizeof *own->token)) return false;
    lg_tag_cursor c = {.document = d, .spans = spans};
    size_t placed = 0; /* spans whose first byte has been reached */
    for (size_t i = 0; i < d->n_tokens; i++) {
        size_t first, last, at = lg_tag_next(&c, &first, &last), end = lg_tag_token_end(d, i);
        while (placed < spans->count && spans->begin[placed] < end) own->token[placed++] = (uint32_t)i;
        bits[i] = first == last;
        for (size_t k = first; k < last; k++) bits[i] |= 1u << (spans->tag[k] + 1);
        single[i] = 0;
        depth[i] = 0;
        distance[i] = 0;
        if (at == SIZE_MAX) continue;
        single[i] = (uint8_t)(spans->tag[at] + 1);
        depth[i] = own->depth[at];
        if (own->partner[at] != NO_PARTNER) distance[i] = (uint32_t)i - own->token[own->partner[at]];
    }
    return true;
}

const lg_tag_maker lg_maker_delimiter = {
    .name = "delimiter",
    .help = "what opens and closes: brackets, quotes, tags, environments, math",
    .needs_text = true,
    .tags = names + 1,
    .columns = {{.name = "delimiter",
                 .help = "of the token's first byte that is not white space",
                 .dtype = LG_U8,
                 .levels = names},
                {.name = "delimiter_depth",
                 .help = "1: outermost; 0: none, or closing without an opener",
                 .dtype = LG_U16},
                {.name = "delimiter_distance",
                 .help = "of a closing one: tokens back to its opener; 0: none",
                 .dtype = LG_U32},
                {.name = "delimiter_bits",
                 .help = "bit k: some of the token is delimiter k",
                 .dtype = LG_U32}},
    .start = start,
    .stop = stop,
    .make_spans = make_spans,
    .fill = fill,
};
