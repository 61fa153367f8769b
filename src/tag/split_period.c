/* Whether a period belongs to the word before it: abbreviations, initials, acronyms. */
#include "tag/split_cutter.h"

size_t lg_cut_short_run(const cutter *c, size_t i) {
    size_t last = i;
    while (last < c->n_bytes && last <= i + LG_LONGEST_LISTED && lg_is_wordy(c->classes, last)) last++;
    return last;
}

/* Whether the word at I is capitalised and of those that often begin a sentence. */
static bool starter(const cutter *c, size_t i) {
    size_t last = lg_cut_short_run(c, i);
    return lg_is_capital(c->text, i, c->n_bytes) && lg_listed(LG_LIST_STARTER, c->text + i, last - i) &&
           (last == i + 1 ? last == c->n_bytes || c->text[last] != '.'
                          : !lg_is_capital(c->text, i + 1, c->n_bytes)); /* not an initial, not CAPITALS */
}

/* Whether the letters [begin, end) are a Roman numeral, or look like one. */
static bool roman(const cutter *c, size_t begin, size_t end) {
    for (size_t i = begin; i < end; i++)
        if (!c->text[i] || !strchr("IVXLC", c->text[i])) return false;
    bool followed = end < c->n_bytes && c->text[end] && strchr(".,;:)", c->text[end]);
    return end > begin + 1 || (end > begin && followed); /* Vol. I, but "no. I said" */
}

bool lg_cut_sentence_ends(const cutter *c, size_t begin, size_t dot) {
    if (at(c, dot + 1) == ')' || at(c, dot + 1) == '.') return false;
    size_t i = dot + 1;
    for (size_t quote; i < c->end; i += quote) {
        quote = strchr("\")]", at(c, i) ? at(c, i) : ' ') ? 1 : single_quote(c, i);
        if (!quote) return false;
    }
    size_t next = lg_cut_peek(c, i);
    if (next == c->n_bytes) return true;
    if (dot - begin == 3 && starts_with(c, begin, "etc")) return lg_is_capital(c->text, next, c->n_bytes);
    return starter(c, next);
}

bool lg_cut_inside_word(const cutter *c, size_t i) {
    if (i == c->begin) return false;
    if (wordy(c, i - 1)) return true;
    size_t joiner = i - 1;
    if (i - c->begin > 3 && single_quote(c, i - 3) == 3) joiner = i - 3;
    else if (!c->text[joiner] || !strchr("'`&*$", c->text[joiner])) return false;
    return joiner > c->begin && wordy(c, joiner - 1);
}

/* Whether the letters [begin, dot) are abbreviated if a small letter follows, for edited text begins no
   sentence with one: "Q3 rev. rose", "3 in. tall". */
static bool abbreviated_before_small(const cutter *c, size_t begin, size_t dot) {
    static const char measures[][4] = {"in", "min", "sec", "yd", "yds", "yr"};
    if (listed(c, LG_LIST_TITLE, begin, dot) || listed(c, LG_LIST_CAPITALISED, begin, dot)) return true;
    if (listed(c, LG_LIST_BEFORE_NUMBER, begin, dot)) return true;
    bool measured = begin > 1 && lg_is_digit(c->text[begin - 2]);
    for (size_t k = 0; measured && k < sizeof measures / sizeof *measures; k++)
        if (dot - begin == strlen(measures[k]) && starts_with(c, begin, measures[k])) return true;
    return false;
}

bool lg_cut_keeps_period(const cutter *c, size_t begin, size_t dot) {
    size_t n = dot - begin;
    bool two = at(c, dot + 1) == '.'; /* Inc.. at the end of a sentence */
    if (two && (at(c, dot + 2) == '.' || n == 1)) return false;
    size_t next = lg_cut_peek(c, dot + 1);
    bool number =
        next < c->n_bytes && (lg_is_digit(c->text[next]) || roman(c, next, lg_cut_short_run(c, next)));
    if (n == 1) { /* an initial; not the T of DON'T */
        if (lg_cut_inside_word(c, begin)) return false;
        char b = c->text[begin];
        bool name = next < c->n_bytes && lg_is_capital(c->text, next, c->n_bytes);
        if (b >= 'a' && b <= 'z') /* (b. March 1950), p. 5 */
            return strchr("bcdmprv", b) && (number || (begin > c->begin && c->text[begin - 1] == '('));
        if (b < 'A' || b > 'Z' || next == c->n_bytes) return false;
        if (!name)
            return c->text[next] == ',' || c->text[next] == '&' ||
                   (b != 'I' && c->text[next] >= 'a' && c->text[next] <= 'z');
        if (c->words->count == 0) return true;
        if (starter(c, next)) return false;
        size_t before = (size_t)c->words->begin[c->words->count - 1];
        return b != 'I' || lg_is_capital(c->text, before, c->n_bytes);
    }
    if (listed(c, LG_LIST_TITLE, begin, dot) && lg_is_capital(c->text, begin, dot) && next < c->n_bytes)
        return true;
    bool small = next < c->n_bytes && c->text[next] >= 'a' && c->text[next] <= 'z';
    if (small && c->style == LG_SPLIT_WHOLE && abbreviated_before_small(c, begin, dot)) return true;
    if (number && listed(c, LG_LIST_BEFORE_NUMBER, begin, dot)) return true;
    if (small && n > 1 && n < 8 && roman(c, begin, dot)) return true; /* chapter II. of */
    bool known = listed(c, LG_LIST_ABBREVIATION, begin, dot) ||
                 (lg_is_capital(c->text, begin, dot) && listed(c, LG_LIST_CAPITALISED, begin, dot));
    if (!known) return false;
    return c->style == LG_SPLIT_WHOLE || starts_with(c, begin, "al.") || !lg_cut_sentence_ends(c, begin, dot);
}

size_t lg_cut_acronym(const cutter *c, size_t i) {
    size_t k = i;
    while (letter(c, k) && at(c, k + 1) == '.' && letter(c, k + 2) && !letter(c, k + 3)) k += 2;
    if (k == i) return i;
    k++;
    if (at(c, k) != '.') return k;
    if (at(c, k + 1) == '.') return at(c, k + 2) == '.' ? k : k + 1;
    if (c->style == LG_SPLIT_WHOLE || !lg_cut_sentence_ends(c, i, k)) return k + 1;
    static const char always[][4] = {"U.S", "D.C", "P.S", "i.e", "e.g"};
    for (size_t a = 0; a < sizeof always / sizeof *always; a++)
        if (k - i == 3 && starts_with(c, i, always[a]) && lg_cut_peek(c, k + 1) < c->n_bytes) return k + 1;
    return k;
}
