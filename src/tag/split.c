/* Cutting prose into words. Text falls into chunks at white space, and a chunk into words from left to right;
   what is looked at ahead is either consumed or bounded, so that the time is linear. */
#include <string.h>

#include "base/text.h"
#include "tag/split_internal.h"

typedef struct cutter {
    const char *text;
    const uint8_t *classes;
    size_t n_bytes;
    size_t begin, end; /* of the chunk */
    lg_split style;
    lg_spans *words;
    size_t plain_until; /* no address and no file name ends before it */
    bool quoted;        /* a single quote is open */
    bool failed;
} cutter;

static char at(const cutter *c, size_t i) {
    return i < c->end ? c->text[i] : '\0';
}
static bool wordy(const cutter *c, size_t i) {
    return i < c->end && lg_is_wordy(c->classes, i);
}
static bool digit(const cutter *c, size_t i) {
    return i < c->end && lg_is_digit(c->text[i]);
}
static bool letter(const cutter *c, size_t i) { /* or mark, or _ */
    return i < c->end && (c->classes[i] & LG_CLASS_MASK) == LG_CLASS_WORD;
}
static bool capital(const cutter *c, size_t i) {
    return lg_is_capital(c->text, i, c->end);
}
static size_t single_quote(const cutter *c, size_t i) {
    return lg_single_quote(c->text, i, c->end);
}
static bool listed(const cutter *c, lg_word_list list, size_t begin, size_t end) {
    return lg_listed(list, c->text + begin, end - begin);
}

/* Whether PREFIX stands at I, in any case. */
static bool starts_with(const cutter *c, size_t i, const char *prefix) {
    for (size_t k = 0; prefix[k]; k++)
        if ((at(c, i + k) | 0x20) != (prefix[k] | 0x20)) return false;
    return true;
}

static void emit(cutter *c, size_t begin, size_t end) {
    if (end > begin && !lg_spans_add(c->words, begin, end, 0)) c->failed = true;
}

/* Bytes of the invisible character at I that may stand inside a word: U+00AD, U+200C, U+200D, U+2060. */
static size_t invisible(const cutter *c, size_t i) {
    const unsigned char *s = (const unsigned char *)c->text + i;
    size_t left = c->end - i;
    if (left > 1 && s[0] == 0xC2 && s[1] == 0xAD) return 2;
    if (left > 2 && s[0] == 0xE2 && s[1] == 0x80 && (s[2] == 0x8C || s[2] == 0x8D)) return 3;
    return left > 2 && s[0] == 0xE2 && s[1] == 0x81 && s[2] == 0xA0 ? 3 : 0;
}

/* The end of the run of letters, marks, numbers and _ from I. */
static size_t word_run(const cutter *c, size_t i) {
    for (;;) {
        while (wordy(c, i)) i++;
        if (i >= c->end || (c->classes[i] & LG_CLASS_MASK) != LG_CLASS_OTHER) return i;
        size_t inside = invisible(c, i);
        if (!inside || !letter(c, i + inside)) return i;
        i += inside;
    }
}

/* The first byte that is no white space from I on, but not far; n_bytes if none or if a blank line is
 * between. */
static size_t peek(const cutter *c, size_t i) {
    unsigned newlines = 0;
    for (size_t last = i + 64; i < c->n_bytes && i < last; i++) {
        if (!lg_is_space(c->classes, i)) return i;
        newlines += c->text[i] == '\n';
        if (newlines > 1) break;
    }
    return c->n_bytes;
}

/* --- addresses, file names ---------------------------------------------------------------------------- */

static bool is_atom_byte(const cutter *c, size_t i) {
    return wordy(c, i) || (at(c, i) && strchr("._-+%#~@", at(c, i)));
}

/* The end of an address that reaches to the end of the chunk, without punctuation that belongs to the
 * sentence. */
static size_t trim(const cutter *c, size_t begin, size_t end) {
    size_t open = 0, close = 0;
    bool counted = false;
    while (end > begin) {
        unsigned char b = (unsigned char)c->text[end - 1];
        if (b < 0x80 && strchr(".,;:!?'\"*>]}`", b)) {
            end--;
        } else if (b == ')') {
            for (size_t i = begin; !counted && i < end; i++) {
                open += c->text[i] == '(';
                close += c->text[i] == ')';
            }
            counted = true;
            if (close <= open) return end;
            close--;
            end--;
        } else if (end - begin > 3 && (unsigned char)c->text[end - 3] == 0xE2 &&
                   (c->classes[end - 1] & LG_CLASS_MASK) == LG_CLASS_PUNCTUATION) {
            end -= 3; /* “ ” ‘ ’ … – — */
        } else {
            return end;
        }
    }
    return end;
}

static size_t url_end(const cutter *c, size_t begin, size_t i) {
    while (i < c->end && !strchr("<>\"", c->text[i] ? c->text[i] : ' ')) i++;
    return trim(c, begin, i);
}

/* The end of the URL, mail address or file name that begins at I, whose first run of letters ends at RUN; or
 * I. */
static size_t address(cutter *c, size_t i, size_t run) {
    if (at(c, run) == ':') {
        if (starts_with(c, run, "://") || (starts_with(c, i, "mailto:") && wordy(c, run + 1)))
            return url_end(c, i, run + 1);
        return i;
    }
    if (at(c, run) == '.' && starts_with(c, i, "www.") && wordy(c, run + 1)) return url_end(c, i, run);
    if (i < c->plain_until) return i;
    size_t end = run, mail = 0, dot = 0;
    for (; is_atom_byte(c, end); end++) {
        if (c->text[end] == '@' && !mail && wordy(c, end + 1)) mail = end;
    }
    size_t atom = end;
    while (end > run && !wordy(c, end - 1)) end--;
    if (mail && mail < end) return end;
    for (size_t k = end; k-- > run;)
        if (c->text[k] == '.') {
            dot = k;
            break;
        }
    if (dot && dot + 1 < end) {
        if (listed(c, LG_LIST_FILE, dot + 1, end)) return end;
        size_t label = dot;
        while (label > i && c->text[label - 1] != '.') label--;
        bool host = label < dot && listed(c, LG_LIST_DOMAIN, dot + 1, end);
        if (host && end - dot == 3) /* a country: only below a domain such as co.uk, or before a path */
            host = listed(c, LG_LIST_DOMAIN, label, dot) || (at(c, end) == '/' && dot - label > 2) ||
                   (label != i && dot - label > 2) ||
                   (dot - label == 2 && strncmp(c->text + label, "ac", 2) == 0);
        if (host) return at(c, end) == '/' || at(c, end) == ':' ? url_end(c, i, end) : end;
        if (at(c, run) == '.' && listed(c, LG_LIST_NEWSGROUP, i, run) && letter(c, run + 1)) return end;
    }
    c->plain_until = atom;
    return i;
}

/* --- contractions and possessives ---------------------------------------------------------------------- */

/* Emits the letters of [begin, end), cut where the treebanks cut a contraction written without apostrophe. */
static void emit_letters(cutter *c, size_t begin, size_t end) {
    size_t cuts[2], n = 0;
    if (c->style == LG_SPLIT_TREEBANK) n = lg_contraction(c->text + begin, end - begin, cuts);
    if (!n && end - begin == 3 && c->style == LG_SPLIT_TREEBANK && (c->text[begin] | 0x20) == 'i' &&
        (c->text[begin + 1] | 0x20) == 't' && (c->text[begin + 2] | 0x20) == 's') {
        size_t next = peek(c, end), last = next;
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

/* Whether [begin, end) are the letters of 's 'm 'd 'll 're 've. */
static bool is_clitic(const cutter *c, size_t begin, size_t end) {
    if (end - begin == 1) return strchr("smd", c->text[begin] | 0x20) != NULL;
    if (end - begin != 2) return false;
    char a = (char)(c->text[begin] | 0x20), b = (char)(c->text[begin + 1] | 0x20);
    return (a == 'l' && b == 'l') || ((a == 'r' || a == 'v') && b == 'e');
}

/* --- words of letters ---------------------------------------------------------------------------------- */

/* The end of the run of letters at I, anywhere in the text, or a place too far for any list. */
static size_t short_run(const cutter *c, size_t i) {
    size_t last = i;
    while (last < c->n_bytes && last <= i + LG_LONGEST_LISTED && lg_is_wordy(c->classes, last)) last++;
    return last;
}

/* Whether the word at I is capitalised and of those that often begin a sentence. */
static bool starter(const cutter *c, size_t i) {
    size_t last = short_run(c, i);
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

/* Whether the period at DOT ends its sentence although the letters [begin, DOT) are abbreviated. */
static bool sentence_ends(const cutter *c, size_t begin, size_t dot) {
    if (at(c, dot + 1) == ')' || at(c, dot + 1) == '.') return false;
    size_t i = dot + 1;
    for (size_t quote; i < c->end; i += quote) {
        quote = strchr("\")]", at(c, i) ? at(c, i) : ' ') ? 1 : single_quote(c, i);
        if (!quote) return false;
    }
    size_t next = peek(c, i);
    if (next == c->n_bytes) return true;
    if (dot - begin == 3 && starts_with(c, begin, "etc")) return lg_is_capital(c->text, next, c->n_bytes);
    return starter(c, next);
}

/* Whether the period at DOT after the letters [begin, DOT) belongs to them. */
static bool keeps_period(const cutter *c, size_t begin, size_t dot) {
    size_t n = dot - begin;
    bool two = at(c, dot + 1) == '.'; /* Inc.. at the end of a sentence */
    if (two && (at(c, dot + 2) == '.' || n == 1)) return false;
    size_t next = peek(c, dot + 1);
    bool number = next < c->n_bytes && (lg_is_digit(c->text[next]) || roman(c, next, short_run(c, next)));
    if (n == 1) { /* an initial */
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
    if (number && listed(c, LG_LIST_BEFORE_NUMBER, begin, dot)) return true;
    if (n > 1 && n < 8 && next < c->n_bytes && c->text[next] >= 'a' && c->text[next] <= 'z' &&
        roman(c, begin, dot))
        return true; /* chapter II. of */
    bool known = listed(c, LG_LIST_ABBREVIATION, begin, dot) ||
                 (lg_is_capital(c->text, begin, dot) && listed(c, LG_LIST_CAPITALISED, begin, dot));
    if (!known) return false;
    return c->style == LG_SPLIT_WHOLE || starts_with(c, begin, "al.") || !sentence_ends(c, begin, dot);
}

/* The end of the acronym whose first letter is at I ("U.S.", "e.g.", "p.m"); or I. */
static size_t acronym(const cutter *c, size_t i) {
    size_t k = i;
    while (letter(c, k) && at(c, k + 1) == '.' && letter(c, k + 2) && !letter(c, k + 3)) k += 2;
    if (k == i) return i;
    k++;
    if (at(c, k) != '.') return k;
    if (at(c, k + 1) == '.') return at(c, k + 2) == '.' ? k : k + 1;
    if (c->style == LG_SPLIT_WHOLE || !sentence_ends(c, i, k)) return k + 1;
    static const char always[][4] = {"U.S", "D.C", "P.S", "i.e", "e.g"};
    for (size_t a = 0; a < sizeof always / sizeof *always; a++)
        if (k - i == 3 && starts_with(c, i, always[a]) && peek(c, k + 1) < c->n_bytes) return k + 1;
    return k;
}

static bool joins_hyphen(const cutter *c, size_t begin, size_t hyphen) {
    if (c->style == LG_SPLIT_WHOLE) { /* hard-fought, 4-$5, year-'round; long- and short-range */
        size_t quote = single_quote(c, hyphen + 1);
        if (hyphen + 1 == c->end) {
            size_t next = peek(c, hyphen + 1), last = short_run(c, next);
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

static size_t cut_letters(cutter *c, size_t begin) {
    size_t end = word_run(c, begin), part = begin; /* PART: after the last joiner */
    if (c->text[begin] == '_') {                   /* marks emphasis: _word_ */
        end = begin + 1;
        while (at(c, end) == '_') end++;
        emit(c, begin, end);
        return end;
    }
    while (c->text[end - 1] == '_') end--;
    if (lg_is_digit(c->text[end - 1])) { /* Rs500 */
        size_t code = begin;
        while (code < begin + 4 && letter(c, code)) code++;
        if (digit(c, code) && listed(c, LG_LIST_CURRENCY, begin, code)) {
            emit(c, begin, code);
            return code;
        }
    }
    if (end >= c->end) {
        emit_letters(c, begin, end);
        return end;
    }
    size_t whole = address(c, begin, end);
    if (whole > begin) {
        emit(c, begin, whole);
        return whole;
    }
    for (;;) {
        char b = at(c, end);
        size_t quote = b == '\'' || b == '`' || (unsigned char)b == 0xE2 ? single_quote(c, end) : 0;
        if (quote) {
            size_t after = word_run(c, end + quote);
            if (after == end + quote) { /* trailing */
                char last = (char)(c->text[end - 1] | 0x20);
                bool elided = listed(c, LG_LIST_ELIDED, begin, end) || /* an', goin' */
                              (end - begin > 3 && last == 'n' && (c->text[end - 2] | 0x20) == 'i');
                bool genitive = c->style == LG_SPLIT_WHOLE && (last == 's' || last == 'z') && end - begin > 1;
                if (!c->quoted && b != '`' && (elided || genitive)) end += quote;
                break;
            }
            if (c->style == LG_SPLIT_WHOLE) {
                part = end + quote;
                end = after;
                continue;
            }
            bool n_t = after - end - quote == 1 && (c->text[end + quote] | 0x20) == 't' && end - begin > 1 &&
                       (c->text[end - 1] | 0x20) == 'n';
            if (after - end - quote == 2 && (c->text[after - 1] | 0x20) == 'a') { /* I'ma, wasn'ta */
                char first = (char)(c->text[end + quote] | 0x20), last = (char)(c->text[end - 1] | 0x20);
                size_t cut = first == 'm' && last == 'i' && end - begin == 1  ? end
                             : first == 't' && last == 'n' && end - begin > 1 ? end - 1
                                                                              : begin;
                if (cut > begin) {
                    emit(c, begin, cut);
                    emit(c, cut, after - 1);
                    begin = part = after - 1;
                    end = after;
                    continue;
                }
            }
            if (n_t || (is_clitic(c, end + quote, after) && !digit(c, end - 1))) {
                size_t cut = n_t ? end - 1 : end;
                emit(c, begin, cut);
                begin = cut;
                part = end + quote;
                end = after;
                continue;
            }
            if (b == '`') break;
            part = end + quote;
            end = after;
            continue;
        }
        if (b == '-' && joins_hyphen(c, part, end)) {
            part = end + 1;
            size_t skip = at(c, part) == '$' ? 1 : single_quote(c, part);
            end = word_run(c, part + skip);
            while (end > part + 1 && c->text[end - 1] == '_') end--;
            continue;
        }
        if (b == '.') {
            if (end - part == 1 && part == begin) {
                size_t k = acronym(c, begin);
                if (k > begin) {
                    end = k;
                    break;
                }
            }
            size_t n = end - part; /* Ph.D., M.Sc. */
            if (n <= 2 && letter(c, end + 1)) {
                size_t k = word_run(c, end + 1);
                if (k - part <= 5 && listed(c, LG_LIST_ABBREVIATION, part, k)) {
                    end = k + (at(c, k) == '.' && !sentence_ends(c, part, k));
                    break;
                }
            }
            if (keeps_period(c, part, end)) end++;
            break;
        }
        if (b == '&' && wordy(c, end + 1)) { /* AT&T, p&l */
            size_t after = word_run(c, end + 1);
            bool short_one = end - part <= 4 && after - end <= 5;
            bool capitals =
                capital(c, part) && capital(c, end - 1) && capital(c, end + 1) && capital(c, after - 1);
            if (short_one && (capitals || (end - part == 1 && after - end == 2))) {
                part = end + 1;
                end = after;
                continue;
            }
        }
        if (b == '/' && wordy(c, end + 1)) { /* w/o, l/c */
            size_t after = word_run(c, end + 1);
            bool first = end - begin == 1 && (begin == c->begin || c->text[begin - 1] != '/');
            bool listed_one =
                (starts_with(c, begin, "w/o") && after - end <= 4) || starts_with(c, begin, "s/he");
            if (c->style == LG_SPLIT_WHOLE || (first && listed_one) ||
                (first && after - end == 2 && at(c, after) != '/' && !starts_with(c, begin, "c/o"))) {
                part = end + 1;
                end = after;
                continue;
            }
        }
        if (b == '/' && end - begin == 1 && (c->text[begin] | 0x20) == 'w') {
            end++;
            break;
        }
        if (b == '-' && (c->text[begin] | 0x20) == 'x' && end - begin == 2 && digit(c, begin + 1)) {
            size_t k = end + 1; /* x3-9890 */
            while (k < end + 6 && digit(c, k)) k++;
            if (k == end + 5 && !wordy(c, k)) end = k;
            break;
        }
        if ((b == '*' || b == '$') && letter(c, end + 1)) { /* f*ck, me$$age */
            part = end + 1;
            end = word_run(c, part);
            continue;
        }
        if (b == '$' && end - begin <= 2 && capital(c, begin) && capital(c, end - 1)) end++; /* US$ */
        break;
    }
    if (part == begin) emit_letters(c, begin, end);
    else emit(c, begin, end);
    return end;
}

/* --- numbers ------------------------------------------------------------------------------------------- */

static size_t digits(const cutter *c, size_t i) {
    while (digit(c, i)) i++;
    return i;
}

/* Whether the digits [begin, end), at most four, make a number up to MOST. */
static bool at_most(const cutter *c, size_t begin, size_t end, int most) {
    int value = 0;
    if (end - begin > 4) return false;
    for (; begin < end; begin++) value = value * 10 + (c->text[begin] - '0');
    return value > 0 && value <= most;
}

/* The end of the groups of digits joined by JOINER from I on, and the lengths of the first four groups; looks
   at no more than 64 bytes. */
static size_t groups(const cutter *c, size_t i, char joiner, size_t length[4], size_t *n) {
    size_t limit = i + 64;
    *n = 0;
    for (;;) {
        size_t end = i;
        while (end < limit && digit(c, end)) end++;
        if (*n < 4) length[*n] = end - i;
        ++*n;
        if (at(c, end) != joiner || !digit(c, end + 1) || end >= limit) return end;
        i = end + 1;
    }
}

/* The end of the number without sign or unit whose first byte is at I. */
static size_t number_end(const cutter *c, size_t i) {
    size_t end = digits(c, i), length[4] = {0}, n;
    if (at(c, end) == '-' && digit(c, end + 1)) { /* 713-853-3989, 11-20-2000, 345-9945, 94720-1900 */
        size_t last = groups(c, i, '-', length, &n);
        if (!letter(c, last) && at(c, last) != '-' &&
            (n > 2 || (n == 2 && length[1] == 4 && (length[0] == 3 || length[0] == 5 || length[0] == 1))))
            return last;
    }
    if (at(c, end) == '/' && digit(c, end + 1)) { /* 11/28/2000, 9/11, but not 1/2 */
        size_t last = groups(c, i, '/', length, &n);
        if (n == 3) return last;
        size_t second = end + 1;
        bool day = at_most(c, i, end, 12) && at_most(c, second, last, 31) && length[0] <= 2 && length[1] <= 2;
        bool fraction = length[0] == 1 && length[1] == 1 && c->text[i] < c->text[second];
        if (n == 2 && day && !fraction && !letter(c, last)) return last;
        if (n == 2 && length[0] == 3 && length[1] == 3 && at(c, last) == '-') { /* 713/853-6197 */
            size_t k = last + 1;
            while (k < last + 6 && digit(c, k)) k++;
            if (k == last + 5) return k;
        }
        return end;
    }
    size_t first = end - i;
    bool thousands = first <= 3;
    for (;;) {
        char b = at(c, end);
        if (b == ',' && thousands && digit(c, end + 1) && digit(c, end + 2) && digit(c, end + 3) &&
            !digit(c, end + 4)) {
            end += 4;
        } else if (b == ',' && c->style == LG_SPLIT_TREEBANK && digit(c, end + 1) &&
                   c->text[c->begin] != '[' && c->text[c->begin] != '(' &&
                   at(c, i - 1) != ',') { /* 3,50 but not [1,2] */
            size_t k = end + 1;
            while (k < end + 4 && digit(c, k)) k++;
            return k < end + 4 && at(c, k) != ',' && !wordy(c, k) ? k : end;
        } else if ((b == '.' || b == ':') && digit(c, end + 1)) {
            end = digits(c, end + 1);
            thousands = false;
        } else {
            return end;
        }
    }
}

static size_t cut_number(cutter *c, size_t begin, size_t i) {
    size_t whole = address(c, begin, digits(c, i));
    if (whole > begin && i == begin) {
        emit(c, begin, whole);
        return whole;
    }
    size_t end = number_end(c, i);
    if (c->style == LG_SPLIT_WHOLE) {
        for (;;) {
            if (wordy(c, end)) end = word_run(c, end);
            else if (strchr("-/:", at(c, end) ? at(c, end) : ' ') && wordy(c, end + 1)) end++;
            else if (at(c, end) == '-' && at(c, end + 1) == '$' && digit(c, end + 2)) end += 2;
            else if (at(c, end) == '%') end++;
            else if (at(c, end) == '\'' && (at(c, end + 1) | 0x20) == 's') end += 2;
            else if ((at(c, end) == '.' || at(c, end) == ',') && digit(c, end + 1)) {
                size_t next = number_end(c, end + 1);
                if (at(c, end) == ',' && next - end < 4) break;
                end = next;
            } else break;
        }
        emit(c, begin, end);
        return end;
    }
    if ((at(c, end) | 0x20) == 'x' && digit(c, end + 1) && end - begin < 6) { /* 3x5 */
        emit(c, begin, end);
        emit(c, end, end + 1);
        return end + 1;
    }
    if (at(c, end) == '\xC2' && at(c, end + 1) == '\xBA') { /* 10º */
        emit(c, begin, end);
        emit(c, end, end + 2);
        return end + 2;
    }
    if (wordy(c, end)) {
        size_t after = word_run(c, end), square = after;
        if (after - end > 2 && c->text[after - 2] == '\xC2' && (c->text[after - 1] & 0xFE) == 0xB2)
            square -= 2;
        if (square < after && listed(c, LG_LIST_UNIT, end, square)) { /* 5km² */
            emit(c, begin, end);
            emit(c, end, square);
            emit(c, square, after);
            return after;
        }
        size_t quote = single_quote(c, after);
        bool stop = !wordy(c, after + 1) || at(c, after) != '.';
        if (after < c->end && at(c, after) == '.' && after - end == 1 && letter(c, after + 1)) { /* 5p.m. */
            size_t k = acronym(c, end);
            if (k > end && listed(c, LG_LIST_UNIT, end, k - (c->text[k - 1] == '.'))) after = k, stop = true;
        }
        size_t bare = after - (c->text[after - 1] == '.');
        if (stop && !quote && listed(c, LG_LIST_UNIT, end, bare) && letter(c, end)) {
            emit(c, begin, end);
            size_t unit = end;
            if (bare == after && at(c, after) == '.' && keeps_period(c, unit, after)) after++;
            emit(c, unit, after);
            return after;
        }
        end = after;
    }
    size_t quote = single_quote(c, end);
    if (quote && (at(c, end + quote) | 0x20) == 's' && !wordy(c, end + quote + 1)) { /* 1980's, but 2003 's */
        if (c->text[end - 1] != '0' && end - begin > 2) {
            emit(c, begin, end);
            begin = end;
        }
        end += quote + 1;
    }
    emit(c, begin, end);
    return end;
}

/* --- punctuation --------------------------------------------------------------------------------------- */

/* The end of the run of bytes of SET from I. */
static size_t run_of(const cutter *c, size_t i, const char *set) {
    while (i < c->end && c->text[i] && strchr(set, c->text[i])) i++;
    return i;
}

/* The end of the emoticon at I, or I. */
static size_t emoticon(const cutter *c, size_t i) {
    char b = at(c, i);
    size_t k = i + 1;
    if (b == '<' && at(c, k) == '3' && !wordy(c, k + 1)) return k + 1;
    if (b == '^' && at(c, k) == '_' && at(c, k + 1) == '^') return k + 2;
    if (b == '(' && (at(c, k) == ':' || at(c, k) == ';')) {
        k += at(c, k + 1) == '-' ? 2 : 1;
        return k >= c->end || strchr(".,!?", c->text[k]) ? k : i;
    }
    if (b == '-') return at(c, k) == '_' && at(c, k + 1) == '-' && !wordy(c, k + 2) ? k + 2 : i;
    if (b == '>' && at(c, k) == ':' && at(c, k + 1) == '(') return k + 2;
    if (b != ':' && b != ';' && b != '=') return i;
    if (i > c->begin && digit(c, i - 1)) return i;
    if (at(c, k) == '-' || at(c, k) == '\'' || at(c, k) == 'o') k++;
    char mouth = at(c, k);
    if (!mouth || !strchr("()DPpOoX|/\\*[]", mouth) || wordy(c, k + 1)) return i;
    if (strchr("|/\\*[]XOo", mouth) && k == i + 1 && b != ':') return i;
    if (strchr("/*|[]", mouth) && k == i + 1 && k + 1 < c->end && !strchr(".,)", c->text[k + 1])) return i;
    if (mouth == '(' || mouth == ')') k = run_of(c, k, mouth == '(' ? "(" : ")") - 1;
    return k + 1;
}

static size_t cut_beyond_ascii(cutter *c, size_t begin) {
    uint32_t point, next;
    bool valid;
    size_t length = lg_utf8_decode(c->text + begin, c->end - begin, &point, &valid);
    size_t end = begin + length;
    if (point == 0x2026) { /* … with the marks around it */
        while (at(c, end) == '.' || at(c, end) == '!' || at(c, end) == '?' ||
               (c->end - end > 2 && !memcmp(c->text + end, "\xE2\x80\xA6", 3)))
            end += (unsigned char)c->text[end] == 0xE2 ? 3 : 1;
    } else if (point == 0x2018 || point == 0x2019) {
        size_t second = single_quote(c, end);
        if (second == 3) return end + 3;
    } else if (point >= 0x2010 && point <= 0x2015) { /* dashes: a run of the same */
        while (c->end - end >= length && !memcmp(c->text + end, c->text + begin, length)) end += length;
    } else if (point >= 0x2190) { /* symbols: with what modifies them */
        bool flag = point >= 0x1F1E6 && point <= 0x1F1FF;
        while (end < c->end && (unsigned char)c->text[end] >= 0x80) {
            length = lg_utf8_decode(c->text + end, c->end - end, &next, &valid);
            if (next == 0x200D && end + length < c->end && (unsigned char)c->text[end + length] >= 0xE2) {
                end += length; /* joiner: the next symbol belongs to it */
                end += lg_utf8_decode(c->text + end, c->end - end, &next, &valid);
                continue;
            }
            bool modifies = (next >= 0xFE00 && next <= 0xFE0F) || next == 0x20E3 ||
                            (next >= 0x0300 && next < 0x0370) || (next >= 0x1F3FB && next <= 0x1F3FF) ||
                            (flag && next >= 0x1F1E6 && next <= 0x1F1FF);
            if (!modifies) break;
            if (next >= 0x1F1E6 && next <= 0x1F1FF) flag = false;
            end += length;
        }
    }
    return end;
}

static size_t cut_punctuation(cutter *c, size_t i) {
    size_t end = i + 1, k;
    char b = c->text[i];
    bool at_start = i == c->begin || !wordy(c, i - 1);
    switch (b) {
    case '.':
        if (digit(c, i + 1) && at_start) return cut_number(c, i, i + 1);
        if (letter(c, i + 1)) { /* .doc */
            k = word_run(c, i + 1);
            if (listed(c, LG_LIST_FILE, i + 1, k)) end = k;
            break;
        } /* fall through */
    case '!':
    case '?':
        end = run_of(c, i, ".!?");
        break;
    case '\'':
    case '`':
        if (at(c, i + 1) == b) {
            end = b == '`' ? run_of(c, i, "`") : i + 2;
            break;
        }
        /* fall through */
    case '\xE2':
        k = single_quote(c, i);
        if (!k) {
            end = cut_beyond_ascii(c, i);
            break;
        }
        end = i + k;
        if (at_start && wordy(c, end)) {
            size_t after = word_run(c, end);
            bool year = digit(c, end) && digit(c, end + 1) &&
                        (after - end == 2 || (after - end == 3 && (c->text[end + 2] | 0x20) == 's'));
            bool elided = (after - end == 2 && (starts_with(c, end, "em"))) ||
                          (after - end == 1 && (c->text[end] | 0x20) == 'n') ||
                          (after - end == 3 && (starts_with(c, end, "til") || starts_with(c, end, "tis"))) ||
                          (after - end == 4 && starts_with(c, end, "twas")) ||
                          (after - end == 5 && starts_with(c, end, "cause"));
            bool clitic = i == c->begin && is_clitic(c, end, after) && after == c->end;
            if (b != '`' && after - end == 1 && elided) end = after + single_quote(c, after); /* 'n' */
            else if (b != '`' && (year || elided || clitic)) end = after;
            else c->quoted = true;
        } else if (k == 3 && at(c, end) == '\xE2') {
            end = cut_beyond_ascii(c, i);
        } else {
            c->quoted = false;
        }
        break;
    case '-':
    case '=':
    case '<':
    case '>':
    case '|':
        k = emoticon(c, i);
        if (k > i) {
            end = k;
            break;
        }
        end = run_of(c, i, "-=<>|+");
        if (b == '<' && at(c, i + 1) == '>') end = i + 1;
        if (b == '<' || b == '>') {
            if (c->text[end - 1] == '-' && end - i > 1 && b == '>' && at(c, i + 1) == '-' && wordy(c, end))
                end = i + 1;
        }
        break;
    case '+':
        end = run_of(c, i, "+");
        if (end == i + 1 && at_start && digit(c, end)) return cut_number(c, i, end);
        break;
    case '*':
    case '~':
    case '_':
    case '%':
        end = run_of(c, i, b == '%' ? "%" : "*~");
        if (end == i) end = i + 1;
        break;
    case '#':
        end = run_of(c, i, "#");
        if (end == i + 1 && at_start && letter(c, end) && at(c, end) != '_') end = word_run(c, end);
        break;
    case '@':
        if (at_start && letter(c, end)) {
            end = word_run(c, end);
        }
        break;
    case ',':
        end = run_of(c, i, ",");
        break;
    case '$':
        if (c->style == LG_SPLIT_WHOLE && (digit(c, end) || (at(c, end) == '.' && digit(c, end + 1))))
            return cut_number(c, i, end + (at(c, end) == '.'));
        end = run_of(c, i, "$");
        break;
    case '&':
        k = i + 1;
        if (at(c, k) == '#') k++;
        while (k < i + 10 && wordy(c, k)) k++;
        if (k > i + 2 && at(c, k) == ';') end = k + 1; /* &amp; */
        break;
    case ':':
    case ';':
    case '(':
    case '^':
        end = emoticon(c, i);
        if (end == i) end = b == ':' ? run_of(c, i, ":") : i + 1;
        break;
    default:
        if ((unsigned char)b >= 0x80) end = cut_beyond_ascii(c, i);
    }
    emit(c, i, end);
    return end;
}

/* --- the whole ----------------------------------------------------------------------------------------- */

static void cut_chunk(cutter *c) {
    for (size_t i = c->begin; i < c->end && !c->failed;) {
        switch (c->classes[i] & LG_CLASS_MASK) {
        case LG_CLASS_WORD:
            i = cut_letters(c, i);
            break;
        case LG_CLASS_NUMBER:
            i = lg_is_digit(c->text[i]) ? cut_number(c, i, i) : cut_letters(c, i);
            break;
        case LG_CLASS_PUNCTUATION:
            i = cut_punctuation(c, i);
            break;
        default: {
            size_t end = i + 1;
            while (end < c->end && (c->classes[end] & LG_CLASS_MASK) == LG_CLASS_OTHER) end++;
            emit(c, i, end);
            i = end;
        }
        }
    }
}

bool lg_split_prose(const char *text, const uint8_t *classes, size_t n_bytes, lg_split style,
                    lg_spans *words) {
    cutter c = {.text = text, .classes = classes, .n_bytes = n_bytes, .style = style, .words = words};
    size_t first = words->count;
    for (size_t i = 0; i < n_bytes && !c.failed;) {
        size_t newlines = 0;
        for (; i < n_bytes && lg_is_space(classes, i); i++) newlines += text[i] == '\n';
        if (newlines > 1) c.quoted = false;
        c.begin = i;
        while (i < n_bytes && !lg_is_space(classes, i)) i++;
        c.end = i;
        cut_chunk(&c);
    }
    if (c.failed) return false;
    lg_mark_sentences(text, classes, n_bytes, style, words, first);
    return true;
}
