/* Words that begin with a digit: amounts, times, dates, telephone numbers, units. */
#include "tag/split_cutter.h"

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

/* The end of the exponent at END, behind its number, if its sign would else part it: 3.14e-10; or END. */
static size_t exponent_end(const cutter *c, size_t end) {
    bool sign = at(c, end + 1) == '-' || at(c, end + 1) == '+';
    if ((at(c, end) | 0x20) != 'e' || !sign || !digit(c, end + 2)) return end;
    size_t last = digits(c, end + 2);
    return letter(c, last) ? end : last;
}

/* The end of what Brown writes with a number as one word: "4-1/2%", "1980's", "$5-$10". */
static size_t whole_end(const cutter *c, size_t end) {
    for (;;) {
        char b = at(c, end), next = at(c, end + 1);
        if (wordy(c, end)) {
            end = lg_cut_run(c, end);
        } else if ((b == '-' || b == '/' || b == ':') && wordy(c, end + 1)) {
            end++;
        } else if (b == '-' && next == '$' && digit(c, end + 2)) {
            end += 2;
        } else if (b == '%') {
            end++;
        } else if (b == '\'' && (next | 0x20) == 's') {
            end += 2;
        } else if ((b == '.' || b == ',') && digit(c, end + 1)) {
            size_t last = number_end(c, end + 1);
            if (b == ',' && last - end < 4) return end;
            end = last;
        } else {
            return end;
        }
    }
}

/* Emits the number [begin, end), the unit up to UNIT and what follows it up to AFTER. */
static size_t emit_unit(cutter *c, size_t begin, size_t end, size_t unit, size_t after) {
    emit(c, begin, end);
    emit(c, end, unit);
    emit(c, unit, after);
    return after;
}

/* Emits the number [begin, end) and the unit behind it, returns where they end; 0: no unit that is cut. */
static size_t cut_unit(cutter *c, size_t begin, size_t end) {
    /* Before anything looks at the whole run: "1x1x1x…" */
    if ((at(c, end) | 0x20) == 'x' && digit(c, end + 1) && end - begin < 6) /* 3x5 */
        return emit_unit(c, begin, end, end + 1, end + 1);
    if (at(c, end) == '\xC2' && at(c, end + 1) == '\xBA') /* 10º */
        return emit_unit(c, begin, end, end + 2, end + 2);
    size_t after = lg_cut_run(c, end), unit = after;
    char next = at(c, after);
    if (!letter(c, end)) return 0;
    if (after - end > 2 && c->text[after - 2] == '\xC2' && (c->text[after - 1] & 0xFE) == 0xB2) { /* 5km² */
        unit = after - 2;
    } else if (next == '.' && after - end == 1 && letter(c, after + 1)) { /* 5p.m. */
        unit = after = lg_cut_acronym(c, end);
        if (after > end && c->text[after - 1] == '.') unit--;
    } else if (single_quote(c, after) || (next == '.' && wordy(c, after + 1))) {
        return 0;
    }
    if (!listed(c, LG_LIST_UNIT, end, unit)) return 0;
    if (c->text[after - 1] == '.') unit = after;
    else if (at(c, after) == '.' && unit == after && lg_cut_keeps_period(c, end, after))
        unit = ++after; /* 5 min. */
    return emit_unit(c, begin, end, unit, after);
}

size_t lg_cut_number(cutter *c, size_t begin, size_t i) {
    size_t address = i == begin ? lg_cut_address(c, i, digits(c, i)) : begin;
    if (address > begin) {
        emit(c, begin, address);
        return address;
    }
    size_t end = exponent_end(c, number_end(c, i));
    if (c->style == LG_SPLIT_WHOLE) {
        end = whole_end(c, end);
        emit(c, begin, end);
        return end;
    }
    if (wordy(c, end)) {
        size_t after = cut_unit(c, begin, end);
        if (after) return after;
        end = lg_cut_run(c, end);
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
