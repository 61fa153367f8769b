/* Structural closure: an opener, filler, and the closer among other closers. A set is one filler and eight
   openers, two of them tags and two environments; all have the same eight closers to choose from, so that a
   liking for one of them is right once and wrong seven times. */
#include "probe/generate.h"

#include "base/error.h"

enum { KINDS = 8 };

static size_t set_size(const lg_maker *m) {
    (void)m;
    return KINDS;
}

static lg_status make(lg_maker *m, size_t set, lg_random r, lg_draft *drafts, bool *good) {
    (void)set;
    static const struct {
        const char *cell, *opener, *closer; /* %s: the name of the tag or environment */
    } kinds[KINDS] = {
        {"parenthesis", "(%s", " )%s"},
        {"bracket", "[%s", " ]%s"},
        {"brace", "{%s", " }%s"},
        {"quotation", "\xE2\x80\x9C%s", " \xE2\x80\x9D%s"},
        {"tag-1", "<%s>", " </%s>"},
        {"tag-2", "<%s>", " </%s>"},
        {"environment-1", "\\begin{%s}", " \\end{%s}"},
        {"environment-2", "\\begin{%s}", " \\end{%s}"},
    };
    const char *names[KINDS] = {"", "", "", "", NULL, NULL, NULL, NULL};
    size_t tag = lg_random_below(&r, lg_n_tags), environment = lg_random_below(&r, lg_n_environments);
    size_t order[KINDS];
    names[4] = lg_tags[tag];
    names[5] = lg_tags[(tag + 1 + lg_random_below(&r, lg_n_tags - 1)) % lg_n_tags];
    names[6] = lg_environments[environment];
    names[7] =
        lg_environments[(environment + 1 + lg_random_below(&r, lg_n_environments - 1)) % lg_n_environments];
    lg_random_order(&r, order, KINDS);
    if (!(*good = lg_maker_fill(m, &r, 0))) return LG_OK;
    for (size_t i = 0; i < KINDS; i++) {
        lg_draft *d = &drafts[i];
        lg_text_puts(&d->cell, kinds[i].cell);
        lg_draft_put(d, kinds[i].opener, names[i]);
        lg_draft_close(d, "binding", 0);
        d->from = d->prompt.length;
        lg_maker_put_pieces(m, d, 0, m->n_pieces);
        d->to = d->prompt.length;
        for (size_t k = 0; k < KINDS; k++) {
            if (order[k] == i) d->answer = k;
            lg_draft_choice(d, -1, -1, kinds[order[k]].closer, names[order[k]]);
        }
        d->failed |= d->cell.failed;
    }
    return LG_OK;
}

const lg_recipe lg_recipe_closure = {.set_size = set_size, .make = make, .in_tokens = true};
