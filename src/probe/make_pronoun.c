/* Pronoun memory: "X is the R1. Y is the R2. …filler… The R1 reviewed the report, and" → " he" / " she".
   A set is one pair of names, roles and filler: either gender first, either role asked for. */
#include "probe/generate.h"

#include "base/error.h"

static size_t set_size(const lg_maker *m) {
    (void)m;
    return 4;
}

static lg_status make(lg_maker *m, size_t set, lg_random r, lg_draft *drafts, bool *good) {
    (void)set;
    const lg_words *he, *she, *roles;
    size_t man, woman, role[2];
    lg_status status = lg_maker_words(m, LG_NAMES_HE, &he);
    if (!status) status = lg_maker_words(m, LG_NAMES_SHE, &she);
    if (!status) status = lg_maker_words(m, LG_ROLES, &roles);
    if (status) return status;
    lg_maker_hinder(m, 0, "it cuts no two names, or no two roles, into the same number of tokens");
    *good = lg_words_draw(he, &r, 0, 1, &man) && lg_words_draw(she, &r, he->cuts[man], 1, &woman) &&
            lg_words_draw(roles, &r, 0, 2, role) && lg_maker_fill(m, &r, 0);
    if (!*good) return LG_OK;
    const char *predicate = lg_predicates[lg_random_below(&r, lg_n_predicates)];
    for (size_t i = 0; i < 4; i++) {
        size_t he_second = i / 2, asked = i % 2;
        const char *man_s = he->words[man], *woman_s = she->words[woman];
        lg_draft *d = &drafts[i];
        lg_text_printf(&d->cell, "%s-first/%s", he_second ? "she" : "he", asked ? "second" : "first");
        size_t begin = lg_draft_open(d);
        lg_draft_put(d, "%s is the %s.", he_second ? woman_s : man_s, roles->words[role[0]]);
        lg_draft_close(d, "binding", begin);
        lg_draft_put(d, " ");
        begin = lg_draft_open(d);
        lg_draft_put(d, "%s is the %s.", he_second ? man_s : woman_s, roles->words[role[1]]);
        lg_draft_close(d, "binding", begin);
        d->from = d->prompt.length;
        lg_maker_put_pieces(m, d, 0, m->n_pieces);
        lg_draft_put(d, " ");
        d->to = begin = lg_draft_open(d);
        lg_draft_put(d, "The %s %s, and", roles->words[role[asked]], predicate);
        lg_draft_close(d, "query", begin);
        lg_draft_choice(d, (int)he_second, -1, " he");
        lg_draft_choice(d, (int)!he_second, -1, " she");
        d->answer = asked == he_second ? 0 : 1;
        d->failed |= d->cell.failed;
    }
    return LG_OK;
}

const lg_recipe lg_recipe_pronoun = {
    .set_size = set_size, .make = make, .in_tokens = true, .equal_items = true};
