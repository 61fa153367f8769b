/* Entity tracking: "X carried the O1. Y carried the O2. …filler… Q: Who carried the O1? (A) X (B) Y Answer:"
   → the names. A set is one pair of names, things and filler: either thing asked for, either order of
   options, either name first. */
#include "probe/generate.h"

#include <string.h>

#include "base/error.h"

static size_t set_size(const lg_maker *m) {
    (void)m;
    return 8;
}

/* "red lamp" and "blue key" share no word. */
static bool share_word(const char *a, const char *b) {
    const char *x = strchr(a, ' '), *y = strchr(b, ' ');
    return strcmp(x, y) == 0 || (x - a == y - b && memcmp(a, b, (size_t)(x - a)) == 0);
}

static lg_status make(lg_maker *m, size_t set, lg_random r, lg_draft *drafts, bool *good) {
    (void)set;
    const lg_words *names, *things;
    size_t name[2], thing[2];
    lg_status status = lg_maker_words(m, LG_NAMES, &names);
    if (!status) status = lg_maker_words(m, LG_THINGS, &things);
    if (status) return status;
    lg_maker_hinder(m, 0, "it cuts no two names, or no two things, into the same number of tokens");
    *good = lg_words_draw(names, &r, 0, 2, name) && lg_words_draw(things, &r, 0, 2, thing) &&
            !share_word(things->words[thing[0]], things->words[thing[1]]) && lg_maker_fill(m, &r, 0);
    if (!*good) return LG_OK;
    const char *deed = lg_deeds[lg_random_below(&r, lg_n_deeds)];
    for (size_t i = 0; i < 8; i++) {
        size_t y_first = i / 4, asked = i / 2 % 2, last_listed_first = i % 2;
        const char *bound[2] = {names->words[name[y_first]], names->words[name[!y_first]]};
        const char *listed[2] = {bound[last_listed_first], bound[!last_listed_first]};
        lg_draft *d = &drafts[i];
        lg_text_printf(&d->cell, "%s/%s/%s-first", asked ? "second" : "first",
                       last_listed_first ? "BA" : "AB", y_first ? "y" : "x");
        for (size_t k = 0; k < 2; k++) {
            if (k) lg_draft_put(d, " ");
            size_t begin = lg_draft_open(d);
            lg_draft_put(d, "%s %s the %s.", bound[k], deed, things->words[thing[k]]);
            lg_draft_close(d, "binding", begin);
        }
        d->from = d->prompt.length;
        lg_maker_put_pieces(m, d, 0, m->n_pieces);
        lg_draft_put(d, " ");
        size_t begin = d->to = lg_draft_open(d);
        lg_draft_put(d, "Q: Who %s the %s? (A) %s (B) %s Answer:", deed, things->words[thing[asked]],
                     listed[0], listed[1]);
        lg_draft_close(d, "query", begin);
        /* x and y stay choices 0 and 1, so that no answer has a place of its own */
        for (size_t k = 0; k < 2; k++) {
            size_t rank = k ^ y_first;
            lg_draft_choice(d, (int)rank, (int)(rank ^ last_listed_first), " %s", names->words[name[k]]);
        }
        d->answer = asked ^ y_first;
        d->failed |= d->cell.failed;
    }
    return LG_OK;
}

const lg_recipe lg_recipe_entity = {
    .set_size = set_size, .make = make, .in_tokens = true, .equal_items = true, .equal_choices = true};
