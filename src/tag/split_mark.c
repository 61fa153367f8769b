/* Words of punctuation and symbols: quotes, runs, emoticons, what a sign and letters make together. */
#include "base/text.h"
#include "tag/split_cutter.h"

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

static size_t end_beyond_ascii(const cutter *c, size_t begin) {
    uint32_t point, next;
    bool valid;
    size_t length = lg_utf8_decode(c->text + begin, c->end - begin, &point, &valid);
    size_t end = begin + length;
    if (point == 0x2026) { /* … with the marks around it */
        while (at(c, end) == '.' || at(c, end) == '!' || at(c, end) == '?' ||
               (c->end - end > 2 && !memcmp(c->text + end, "\xE2\x80\xA6", 3)))
            end += (unsigned char)c->text[end] == 0xE2 ? 3 : 1;
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

/* Whether the letters [begin, end) behind an apostrophe are "it" and a verb: 'tis, 'twas, 'tisn't. */
static bool is_it_and_verb(const cutter *c, size_t begin, size_t end) {
    static const char verbs[][6] = {"is", "was", "were", "will", "would"};
    if ((at(c, begin) | 0x20) != 't') return false;
    size_t n = end - begin - 1, quote = single_quote(c, end);
    if (quote && (at(c, end - 1) | 0x20) == 'n' && (at(c, end + quote) | 0x20) == 't') n--;
    for (size_t k = 0; k < sizeof verbs / sizeof *verbs; k++)
        if (n == strlen(verbs[k]) && starts_with(c, begin + 1, verbs[k])) return true;
    return false;
}

/* Whether the letters [begin, end) behind an apostrophe are what is left of a word: 'em, '72, 'tis. */
static bool is_remainder(const cutter *c, size_t begin, size_t end) {
    static const char words[][6] = {"n", "em", "til", "cause"};
    size_t n = end - begin;
    if (digit(c, begin) && digit(c, begin + 1))
        return n == 2 || (n == 3 && (c->text[begin + 2] | 0x20) == 's'); /* '60s */
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (n == strlen(words[k]) && starts_with(c, begin, words[k])) return true;
    if (is_it_and_verb(c, begin, end)) return true;
    return lg_cut_is_clitic(c, begin, end) && begin - c->begin <= 3 && end == c->end; /* alone: 's */
}

/* The end of the quote or apostrophe of QUOTE bytes at I, with what belongs to it. */
static size_t quote_end(cutter *c, size_t i, size_t quote) {
    size_t inside = i + quote;
    bool at_start = i == c->begin || !wordy(c, i - 1);
    if (quote == 1 && at(c, inside) == c->text[i]) /* '' or ``, a fence of code */
        return c->text[i] == '`' ? run_of(c, i, "`") : i + 2;
    if (at_start && wordy(c, inside)) {
        size_t after = lg_cut_run(c, inside);
        if (c->text[i] == '`' || !is_remainder(c, inside, after)) {
            c->quoted = true;
            return inside;
        }
        if (is_it_and_verb(c, inside, after)) { /* 't is as Penn cuts it; 'tisn't */
            if (c->style == LG_SPLIT_TREEBANK) return inside + 1;
            quote = single_quote(c, after);
            return quote && wordy(c, after + quote) ? lg_cut_run(c, after + quote) : after;
        }
        return after - inside == 1 && !lg_cut_is_clitic(c, inside, after)
                   ? after + single_quote(c, after) /* 'n' */
                   : after;
    }
    if (quote == 3 && single_quote(c, inside) == 3) return inside + 3; /* ’’ */
    c->quoted = false;
    return inside;
}

size_t lg_cut_mark(cutter *c, size_t i) {
    size_t end = i + 1, k;
    char b = c->text[i];
    bool at_start = i == c->begin || !wordy(c, i - 1);
    switch (b) {
    case '.':
        if (digit(c, end) && at_start) return lg_cut_number(c, i, end);
        if (at_start && (at(c, end) == '/' || starts_with(c, end, "./"))) { /* ./run.sh */
            k = lg_cut_path(c, i);
            if (k > i) {
                end = k;
                break;
            }
        }
        if (letter(c, end)) { /* .doc */
            k = lg_cut_run(c, end);
            if (listed(c, LG_LIST_FILE, end, k)) end = k;
            break;
        } /* fall through */
    case '!':
    case '?':
        end = run_of(c, i, ".!?");
        break;
    case '\'':
    case '`':
        end = quote_end(c, i, 1);
        break;
    case '-':
    case '=':
    case '<':
    case '>':
    case '|':
        k = emoticon(c, i);
        if (k > i) end = k;
        else if (b == '<' && at(c, end) == '>') end = i + 1;
        else end = run_of(c, i, "-=<>|+"); /* arrows, rules, borders of tables */
        if (b == '>' && at(c, i + 1) == '-' && c->text[end - 1] == '-' && wordy(c, end)) end = i + 1;
        break;
    case ':':
    case ';':
    case '(':
    case '^':
        k = emoticon(c, i);
        end = k > i ? k : b == ':' ? run_of(c, i, ":") : end;
        break;
    case '+':
        end = run_of(c, i, "+");
        if (end == i + 1 && at_start && digit(c, end)) return lg_cut_number(c, i, end);
        break;
    case '/':
    case '~':
        k = at_start && at(c, b == '/' ? i : end) == '/' ? lg_cut_path(c, i) : i;
        if (k > i) end = k;
        else if (b == '~') end = run_of(c, i, "*~");
        break;
    case '*':
        end = run_of(c, i, "*~");
        break;
    case '%':
        end = run_of(c, i, "%");
        break;
    case ',':
        end = run_of(c, i, ",");
        break;
    case '#': /* ##, #tag */
        end = run_of(c, i, "#");
        if (end == i + 1 && at_start && letter(c, end) && at(c, end) != '_') end = lg_cut_run(c, end);
        break;
    case '@': /* @name */
        if (at_start && letter(c, end)) end = lg_cut_run(c, end);
        break;
    case '$':
        k = end + (at(c, end) == '.');
        if (c->style == LG_SPLIT_WHOLE && digit(c, k)) return lg_cut_number(c, i, k);
        end = run_of(c, i, "$");
        break;
    case '&': /* &amp;, &c. */
        if ((at(c, end) | 0x20) == 'c' && !wordy(c, end + 1) && at_start && at(c, end + 1) != ';') {
            end++;
            if (at(c, end) == '.' && (c->style == LG_SPLIT_WHOLE || !lg_cut_sentence_ends(c, i, end))) end++;
            break;
        }
        k = end + (at(c, end) == '#');
        while (k < i + 10 && wordy(c, k)) k++;
        if (k > i + 2 && at(c, k) == ';') end = k + 1;
        break;
    default:
        k = single_quote(c, i);
        if (k) end = quote_end(c, i, k);
        else if ((unsigned char)b >= 0x80) end = end_beyond_ascii(c, i);
    }
    emit(c, i, end);
    return end;
}
