/* URLs, mail addresses, host and file names: one word each, without the punctuation of the sentence. */
#include "tag/split_cutter.h"

static bool is_atom_byte(const cutter *c, size_t i) {
    return wordy(c, i) || (at(c, i) && strchr("._-+%#~@", at(c, i)));
}

/* The end of an address without the punctuation behind it that belongs to the sentence. */
static size_t trim(const cutter *c, size_t begin, size_t end) {
    while (end > begin) {
        unsigned char b = (unsigned char)c->text[end - 1];
        if (b < 0x80 && strchr(".,;:!?'\"*>}`", b)) {
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

/* The end of the URL that begins at BEGIN and goes on at I: at a bracket that it did not open, at the latest.
 */
static size_t url_end(const cutter *c, size_t begin, size_t i) {
    size_t round = 0, square = 0;
    for (; i < c->end && !strchr("<>\"", c->text[i] ? c->text[i] : ' '); i++) {
        char b = c->text[i];
        if ((b == ')' && !round) || (b == ']' && !square)) break;
        round = round + (b == '(') - (b == ')');
        square = square + (b == '[') - (b == ']');
    }
    return trim(c, begin, i);
}

static bool is_separator(const cutter *c, size_t i) {
    return at(c, i) == '/' || at(c, i) == '\\';
}

/* The end of the file name with its #fragment whose ending is behind DOT, and whose atom ends at END; DOT if
   it is none. */
static size_t file_end(const cutter *c, size_t dot, size_t end, bool path) {
    size_t last = dot + 1;
    while (last < end && wordy(c, last)) last++;
    bool source = path && last == dot + 2 && strchr("ch", at(c, dot + 1)); /* too short for a list */
    if (!source && !listed(c, LG_LIST_FILE, dot + 1, last)) return dot;
    if (last == end) return end;
    return at(c, last) == '#' && wordy(c, last + 1) ? end : dot;
}

size_t lg_cut_path(cutter *c, size_t i) {
    if (i < c->pathless_until) return i;
    size_t end = i, name = i, dot = i;
    while (is_atom_byte(c, end) || is_separator(c, end)) end++;
    size_t scanned = end;
    while (end > i && !wordy(c, end - 1)) end--;
    for (name = end; name > i && !is_separator(c, name - 1);) name--;
    for (size_t k = name; k < end && at(c, k) != '#'; k++)
        if (at(c, k) == '.') dot = k;
    if (name > i && dot > i) {
        size_t last = file_end(c, dot, end, true);
        if (last > dot && !(at(c, last) == '?' && wordy(c, last + 1))) return last; /* else of a URL */
    }
    c->pathless_until = scanned;
    return i;
}

/* The end of the URL, mail address or file name that begins at I, whose first run of letters ends at RUN; or
 * I. */
size_t lg_cut_address(cutter *c, size_t i, size_t run) {
    if (at(c, run) == ':') {
        if (starts_with(c, run, "://") || (starts_with(c, i, "mailto:") && wordy(c, run + 1)))
            return url_end(c, i, run + 1);
        size_t path =
            run == i + 1 && is_separator(c, run + 1) ? lg_cut_path(c, run + 1) : run + 1; /* C:/a.txt */
        return path > run + 1 ? path : i;
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
    size_t path = is_separator(c, atom) ? lg_cut_path(c, i) : i;
    if (path > i) return path;
    for (size_t k = end; k-- > run;)
        if (c->text[k] == '.') {
            dot = k;
            break;
        }
    if (dot && dot + 1 < end) {
        size_t file = file_end(c, dot, end, false);
        if (file > dot) return file;
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
