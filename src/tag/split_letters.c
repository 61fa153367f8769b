/* Words that begin with a letter: contractions, possessives, compounds. */
#include "tag/split_cutter.h"

/* Emits the letters of [begin, end), cut where the treebanks cut a contraction written without apostrophe. */
static void emit_letters(cutter *c, size_t begin, size_t end) {
    size_t cuts[2], n = 0;
    if (c->style == LG_SPLIT_TREEBANK) n = lg_contraction(c->text + begin, end - begin, cuts);
    if (!n && end - begin == 3 && c->style == LG_SPLIT_TREEBANK && (c->text[begin] | 0x20) == 'i' &&
        (c->text[begin + 1] | 0x20) == 't' && (c->text[begin + 2] | 0x20) == 's') {
        size_t next = lg_cut_peek(c, end), last = next;
        while (last < c->n_bytes && last < next + LG_LONGEST_LISTED && lg_is_wordy(c->classes, last)) last++;
        if (next > end && last > next && listed(c, LG_LIST_AFTER_ITS, next, last)) {
            cuts[0] = 2;
            n = 2;
        }
    }
    for (size_t k = 0; k + 1 < n; k++) {
        emit(c, begin, begin + cuts[k]);
        begin += cuts[k];
    }
    emit(c, begin, end);
}

bool lg_cut_is_clitic(const cutter *c, size_t begin, size_t end) {
    if (end - begin == 1) return strchr("smd", c->text[begin] | 0x20) != NULL;
    if (end - begin != 2) return false;
    char a = (char)(c->text[begin] | 0x20), b = (char)(c->text[begin + 1] | 0x20);
    return (a == 'l' && b == 'l') || ((a == 'r' || a == 'v') && b == 'e');
}

static bool joins_hyphen(const cutter *c, size_t begin, size_t hyphen) {
    if (c->style == LG_SPLIT_WHOLE) { /* hard-fought, 4-$5, year-'round; long- and short-range */
        size_t quote = single_quote(c, hyphen + 1);
        if (hyphen + 1 == c->end) {
            size_t next = lg_cut_peek(c, hyphen + 1), last = lg_cut_short_run(c, next);
            return last - next <= 3 && lg_listed(LG_LIST_COORDINATOR, c->text + next, last - next);
        }
        return wordy(c, hyphen + 1) || (at(c, hyphen + 1) == '$' && digit(c, hyphen + 2)) ||
               (quote && wordy(c, hyphen + 1 + quote));
    }
    if (!wordy(c, hyphen + 1)) return false;
    if (listed(c, LG_LIST_PREFIX, begin, hyphen)) {
        if (hyphen - begin == 1) { /* e-mail, but not E-J; X-ray but not x-1 */
            char b = c->text[begin], d = c->text[hyphen + 1];
            return (b | 0x20) == 'e' && d >= 'a' && d <= 'z';
        }
        if (!capital(c, begin) || !capital(c, hyphen + 1)) return true;
        static const char names[][8] = {"non-", "pro-", "anti-", "pre-", "post-", "mid-", "counter"};
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) /* Pro-Beijing, but Pan - Am */
            if (starts_with(c, begin, names[k])) return true;
        return false;
    }
    size_t end = hyphen + 1;
    while (end < hyphen + LG_LONGEST_LISTED && wordy(c, end)) end++;
    return listed(c, LG_LIST_SUFFIX, hyphen + 1, end);
}

/* A word being cut: [begin, end) so far, PART: after its last joiner. */
typedef struct letters {
    size_t begin, part, end;
} letters;

static size_t length(const letters *w) {
    return w->end - w->begin;
}
static char lower(const cutter *c, size_t i) {
    return (char)(at(c, i) | 0x20);
}
static bool join(letters *w, size_t part, size_t end) {
    w->part = part;
    w->end = end;
    return true;
}
/* Emits the word up to CUT and goes on with what follows. */
static void cut_before(cutter *c, letters *w, size_t cut) {
    emit(c, w->begin, cut);
    w->begin = cut;
}

/* The functions below look at the sign at the word's end. true: the word, or what is left of it, goes on
   behind the sign; false: it ends at w->end, moved where the sign belongs to it. */

static bool goes_on_after_quote(cutter *c, letters *w, size_t quote) {
    size_t inside = w->end + quote, after = lg_cut_run(c, inside);
    char b = c->text[w->end], last = lower(c, w->end - 1), first = lower(c, inside);
    if (after == inside) {
        bool elided = listed(c, LG_LIST_ELIDED, w->begin, w->end) || /* an', goin' */
                      (length(w) > 3 && last == 'n' && lower(c, w->end - 2) == 'i');
        bool genitive = c->style == LG_SPLIT_WHOLE && (last == 's' || last == 'z') && length(w) > 1;
        if (!c->quoted && b != '`' && (elided || genitive)) w->end = inside;
        return false;
    }
    if (c->style == LG_SPLIT_WHOLE) return join(w, inside, after);
    bool n_t = first == 't' && last == 'n' && length(w) > 1;
    bool i_m = first == 'm' && last == 'i' && length(w) == 1;
    if (after - inside == 2 && (n_t || i_m) && lower(c, after - 1) == 'a') { /* I'ma, wasn'ta */
        cut_before(c, w, n_t ? w->end - 1 : w->end);
        cut_before(c, w, after - 1);
        return join(w, w->begin, after);
    }
    n_t &= after - inside == 1;
    if (n_t || (lg_cut_is_clitic(c, inside, after) && !digit(c, w->end - 1)))
        cut_before(c, w, n_t ? w->end - 1 : w->end);
    else if (b == '`') return false;
    return join(w, inside, after);
}

static bool goes_on_after_hyphen(const cutter *c, letters *w) {
    if (joins_hyphen(c, w->part, w->end)) {
        size_t part = w->end + 1;
        size_t end = lg_cut_run(c, part + (at(c, part) == '$' ? 1 : single_quote(c, part)));
        while (end > part + 1 && c->text[end - 1] == '_') end--;
        return join(w, part, end);
    }
    if (length(w) == 2 && lower(c, w->begin) == 'x' && digit(c, w->begin + 1)) { /* x3-9890 */
        size_t k = w->end + 1;
        while (k < w->end + 6 && digit(c, k)) k++;
        if (k == w->end + 5 && !wordy(c, k)) w->end = k;
    }
    return false;
}

static bool goes_on_after_period(const cutter *c, letters *w) {
    size_t n = w->end - w->part;
    if (digit(c, w->end - 1) && digit(c, w->end + 1)) /* v1.2.3 */
        return join(w, w->end + 1, lg_cut_run(c, w->end + 1));
    size_t acronym = n == 1 && !lg_cut_inside_word(c, w->part) ? lg_cut_acronym(c, w->part) : w->part;
    size_t after = n <= 2 && letter(c, w->end + 1) ? lg_cut_run(c, w->end + 1) : w->end;
    if (acronym > w->part) {
        w->end = acronym;
    } else if (after > w->end && after - w->part <= 5 && listed(c, LG_LIST_ABBREVIATION, w->part, after)) {
        w->end = after; /* Ph.D., M.Sc. */
        if (at(c, after) == '.' && !lg_cut_sentence_ends(c, w->part, after)) w->end++;
    } else if (lg_cut_keeps_period(c, w->part, w->end)) {
        w->end++;
    }
    /* U.S.-based */
    return c->style == LG_SPLIT_WHOLE && at(c, w->end) == '-' && c->text[w->end - 1] == '.' &&
           wordy(c, w->end + 1);
}

static bool goes_on_after_and(const cutter *c, letters *w) { /* AT&T, p&l */
    size_t inside = w->end + 1, after = lg_cut_run(c, inside);
    if (after == inside || w->end - w->part > 4 || after - inside > 4) return false;
    bool capitals =
        capital(c, w->part) && capital(c, w->end - 1) && capital(c, inside) && capital(c, after - 1);
    bool two = w->end - w->part == 1 && after - inside == 1;
    return (capitals || two) && join(w, inside, after);
}

static bool goes_on_after_slash(const cutter *c, letters *w) { /* w/o, l/c */
    size_t inside = w->end + 1, after = lg_cut_run(c, inside);
    bool single = length(w) == 1 && (w->begin == c->begin || c->text[w->begin - 1] != '/');
    bool known = (starts_with(c, w->begin, "w/o") && after - inside <= 3) || starts_with(c, w->begin, "s/he");
    bool pair = after - inside == 1 && at(c, after) != '/' && !starts_with(c, w->begin, "c/o");
    if (after > inside && (c->style == LG_SPLIT_WHOLE || (single && (known || pair))))
        return join(w, inside, after);
    if (length(w) == 1 && lower(c, w->begin) == 'w') w->end++; /* w/ */
    return false;
}

static bool goes_on_after_sign(const cutter *c, letters *w) { /* f*ck, me$$age, US$ */
    if (letter(c, w->end + 1)) return join(w, w->end + 1, lg_cut_run(c, w->end + 1));
    if (c->text[w->end] == '$' && length(w) <= 2 && capital(c, w->begin) && capital(c, w->end - 1)) w->end++;
    return false;
}

static bool goes_on(cutter *c, letters *w) {
    size_t quote;
    switch (at(c, w->end)) {
    case '\'':
    case '`':
    case '\xE2':
        quote = single_quote(c, w->end);
        return quote && goes_on_after_quote(c, w, quote);
    case '-':
        return goes_on_after_hyphen(c, w);
    case '.':
        return goes_on_after_period(c, w);
    case '&':
        return goes_on_after_and(c, w);
    case '/':
        return goes_on_after_slash(c, w);
    case '*':
    case '$':
        return goes_on_after_sign(c, w);
    default:
        return false;
    }
}

size_t lg_cut_letters(cutter *c, size_t i) {
    if (c->text[i] == '_') { /* marks emphasis: _word_ */
        size_t end = i + 1;
        while (at(c, end) == '_') end++;
        emit(c, i, end);
        return end;
    }
    letters w = {i, i, lg_cut_run(c, i)};
    while (c->text[w.end - 1] == '_') w.end--;
    if (digit(c, w.end - 1)) { /* Rs500 */
        size_t code = i;
        while (code < i + 4 && letter(c, code)) code++;
        if (digit(c, code) && listed(c, LG_LIST_CURRENCY, i, code)) {
            emit(c, i, code);
            return code;
        }
    }
    if (w.end < c->end) {
        size_t address = lg_cut_address(c, i, w.end);
        if (address > i) {
            emit(c, i, address);
            return address;
        }
        while (goes_on(c, &w)) {
        }
    }
    if (w.part == w.begin) emit_letters(c, w.begin, w.end);
    else emit(c, w.begin, w.end);
    return w.end;
}
