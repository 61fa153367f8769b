/* The groups of the word problem. A5 and S5 are not solvable: no circuit of constant depth multiplies long
   sequences of their elements; A4×Z5 (solvable) and Z60 (commutative) have the same size and are easier. */
#include "probe/group.h"

#include <string.h>

#include "base/error.h"

/* Permutations of N in lexicographic order, only the even ones if EVEN. Returns how many. */
static size_t list_permutations(size_t n, bool even, uint8_t list[LG_LARGEST_GROUP + 1][5]) {
    size_t count = 0, all = 1;
    for (size_t i = 2; i <= n; i++) all *= i;
    for (size_t k = 0; k < all; k++) {
        uint8_t left[5] = {0, 1, 2, 3, 4};
        size_t rest = k, block = all, inversions = 0;
        for (size_t i = 0; i < n; i++) {
            block /= n - i;
            size_t at = rest / block;
            rest %= block;
            list[count][i] = left[at];
            memmove(left + at, left + at + 1, 4 - at);
            inversions += at;
        }
        if (!even || inversions % 2 == 0) count++;
    }
    return count;
}

/* Fills TABLE [count × stride] with the products of the permutations: (a·b)(x) = b(a(x)). */
static void multiply_permutations(size_t n, uint8_t list[LG_LARGEST_GROUP + 1][5], size_t count,
                                  uint8_t *table) {
    for (size_t a = 0; a < count; a++)
        for (size_t b = 0; b < count; b++) {
            uint8_t both[5] = {0};
            for (size_t x = 0; x < n; x++) both[x] = list[b][list[a][x]];
            size_t c = 0;
            while (memcmp(list[c], both, n) != 0) c++;
            table[a * count + b] = (uint8_t)c;
        }
}

/* Classes modulo the subgroup that the commutators generate. */
static void find_classes(lg_group *g) {
    size_t n = g->order, inverse[LG_LARGEST_GROUP], members[LG_LARGEST_GROUP], n_members = 0;
    bool in[LG_LARGEST_GROUP] = {false};
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++)
            if (lg_group_product(g, a, b) == 0) inverse[a] = b;
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++) {
            size_t c =
                lg_group_product(g, lg_group_product(g, a, b), lg_group_product(g, inverse[a], inverse[b]));
            if (!in[c]) members[n_members++] = c;
            in[c] = true;
        }
    for (size_t i = 0; i < n_members; i++) /* grows while it runs */
        for (size_t k = 0; k <= i; k++) {
            size_t products[2] = {lg_group_product(g, members[i], members[k]),
                                  lg_group_product(g, members[k], members[i])};
            for (size_t j = 0; j < 2; j++) {
                if (!in[products[j]]) members[n_members++] = products[j];
                in[products[j]] = true;
            }
        }
    uint8_t classes = 0;
    bool done[LG_LARGEST_GROUP] = {false};
    for (size_t a = 0; a < n; a++) {
        if (done[a]) continue;
        for (size_t k = 0; k < n_members; k++) {
            size_t b = lg_group_product(g, a, members[k]);
            g->class_of[b] = classes;
            done[b] = true;
        }
        classes++;
    }
}

static void build(lg_group *g, size_t which) {
    static const char *const names[LG_N_GROUPS] = {"A5", "S5", "A4xZ5", "Z60"};
    uint8_t list[LG_LARGEST_GROUP + 1][5]; /* one more: where an odd permutation stands for a moment */
    *g = (lg_group){.name = names[which]};
    if (which < 2) {
        g->order = list_permutations(5, which == 0, list);
        multiply_permutations(5, list, g->order, g->product);
    } else if (which == 2) {
        uint8_t a4[12 * 12];
        size_t n = list_permutations(4, true, list);
        multiply_permutations(4, list, n, a4);
        g->order = 60; /* element 5a + z */
        for (size_t a = 0; a < 60; a++)
            for (size_t b = 0; b < 60; b++)
                g->product[a * 60 + b] = (uint8_t)(5 * a4[a / 5 * 12 + b / 5] + (a % 5 + b % 5) % 5);
    } else {
        g->order = 60;
        for (size_t a = 0; a < 60; a++)
            for (size_t b = 0; b < 60; b++) g->product[a * 60 + b] = (uint8_t)((a + b) % 60);
    }
    find_classes(g);
}

lg_status lg_groups_named(const char *names, lg_group groups[LG_N_GROUPS], size_t *n_groups,
                          lg_error *error) {
    static const char *const known[LG_N_GROUPS] = {"A5", "S5", "A4xZ5", "Z60"};
    bool seen[LG_N_GROUPS] = {false};
    *n_groups = 0;
    if (!names) names = "A5,S5,A4xZ5,Z60";
    for (const char *at = names;; at++) {
        size_t length = strcspn(at, ","), k = 0;
        while (k < LG_N_GROUPS && (strlen(known[k]) != length || memcmp(at, known[k], length) != 0)) k++;
        if (k == LG_N_GROUPS)
            return lg_fail(error, LG_USAGE, "group \"%.*s\": there are A5, S5, A4xZ5 and Z60", (int)length,
                           at);
        if (seen[k]) return lg_fail(error, LG_USAGE, "group %s is asked for twice", known[k]);
        seen[k] = true;
        build(&groups[(*n_groups)++], k);
        at += length;
        if (!*at) return LG_OK;
    }
}
