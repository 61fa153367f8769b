/* For an unknown name: which names there are that it may have been meant for. */
#include <stdio.h>
#include <string.h>

#include "query/query_internal.h"

enum {
    LONGEST = 48,     /* longer names are compared no further than whole */
    LOOKED_AT = 5000, /* names; of more (documents, say) the rest is not looked at */
    TOLD = 3,
    LISTED = 12,
};

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Edits (a byte put in, left out, exchanged, or two neighbours swapped) that make B of A, case aside; LIMIT +
   1 if more than LIMIT. */
static size_t distance(const char *a, size_t n, const char *b, size_t m, size_t limit) {
    if (n > LONGEST || m > LONGEST || (n > m ? n - m : m - n) > limit) return limit + 1;
    size_t rows[3][LONGEST + 1], *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= m; j++) last[j] = j;
    for (size_t i = 1; i <= n; i++) {
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            char x = lower(a[i - 1]), y = lower(b[j - 1]);
            size_t best = last[j - 1] + (x != y);
            if (last[j] + 1 < best) best = last[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            if (i > 1 && j > 1 && x == lower(b[j - 2]) && lower(a[i - 2]) == y && before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            row[j] = best;
        }
        size_t *spare = before;
        before = last;
        last = row;
        row = spare;
    }
    return last[m];
}

static void append(char *out, size_t size, const char *before, const char *name, const char *after) {
    size_t used = strlen(out);
    snprintf(out + used, size - used, "%s%.60s%s", before, name, after);
}

void lg_query_suggest(const char *word, size_t length, const char *(*name)(const void *context, size_t i),
                      const void *context, char *out, size_t size) {
    const char *near[TOLD], *n;
    size_t edits[TOLD], found = 0, limit = length < 3 ? 1 : length < 6 ? 2 : length / 3, i;
    for (i = 0; i < LOOKED_AT && (n = name(context, i)); i++) {
        size_t m = strlen(n), d = distance(word, length, n, m, limit);
        /* a beginning, or a part between points, is worth no more than the last of what is near */
        if (d > limit && length >= 2 && m > length && (strncmp(n, word, length) == 0 || strstr(n, ".")))
            for (const char *part = n; part; part = strchr(part + 1, '.')) {
                const char *at = *part == '.' ? part + 1 : part;
                if (strncmp(at, word, length) == 0) d = limit;
            }
        if (d > limit || d >= (m > length ? m : length)) continue; /* nothing in common */
        size_t at = found < TOLD ? found++ : TOLD;
        while (at > 0 && edits[at - 1] > d) {
            if (at < TOLD) {
                edits[at] = edits[at - 1];
                near[at] = near[at - 1];
            }
            at--;
        }
        if (at < TOLD) {
            edits[at] = d;
            near[at] = n;
        }
    }
    while (found > 1 && edits[found - 1] > edits[0]) found--;
    if (found) {
        append(out, size, "; did you mean ", near[0], "");
        for (size_t k = 1; k < found; k++) append(out, size, k + 1 < found ? ", " : " or ", near[k], "");
        append(out, size, "?", "", "");
        return;
    }
    for (i = 0; i < LISTED && (n = name(context, i)); i++)
        append(out, size, i ? ", " : "; there are ", n, "");
    if (i == LISTED && name(context, i)) append(out, size, " …", "", "");
}
