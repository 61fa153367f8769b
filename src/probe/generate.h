/* What the generators of items share: drawing, putting a prompt together, checking it against the tokenizer.
 */
#ifndef LG_PROBE_GENERATE_H
#define LG_PROBE_GENERATE_H

#include "probe/filler.h"
#include "probe/items.h"
#include "probe/random.h"
#include "probe/words.h"

/* An item in the making. */
typedef struct lg_draft {
    lg_text prompt, cell;
    lg_text choice_text;      /* of all choices */
    size_t *choice_ends;      /* [n_choices] in it */
    lg_probe_choice *choices; /* [n_choices]; text and length are set at the end */
    size_t n_choices, ends_capacity, choices_capacity, answer;
    lg_probe_span *spans;
    size_t n_spans, spans_capacity;
    /* The distance is counted from here … to here; both 0: it is not in tokens. */
    size_t from, to;
    int most_recent, most_frequent, first_mention;
    bool failed; /* no memory */
} lg_draft;

typedef struct lg_maker lg_maker;

enum { LG_MAX_ASIDES = 64 };

typedef struct lg_recipe_settings {
    uint64_t values[3];
    bool usual;
} lg_recipe_settings;

/* One kind of probe. */
typedef struct lg_recipe {
    /* Items that are made together, each in its cell. */
    size_t (*set_size)(const lg_maker *maker);
    /* Makes the DRAFTS [set_size] of a set, all drawn from RANDOM. *GOOD false: they did not come off,
       another draw may. */
    lg_status (*make)(lg_maker *maker, size_t set, lg_random random, lg_draft *drafts, bool *good);
    /* What else its items depend on, beside seed, tokenizer, distance and filler; `usual`: as by default.
       NULL: nothing. */
    lg_recipe_settings (*settings)(const lg_maker *maker);
    bool in_tokens;   /* the distance is one of tokens: filler */
    bool equal_items; /* all items of a set have the same number of tokens */
    bool equal_choices;
    bool own_text; /* items of a set share nothing: each is a group of its own */
} lg_recipe;

extern const lg_recipe lg_recipe_pronoun, lg_recipe_entity, lg_recipe_closure, lg_recipe_word_problem,
    lg_recipe_discourse;

struct lg_maker {
    const lg_probe_options *options;
    const lg_monitor *monitor;
    lg_error *error;
    const lg_tokenizer *tokenizer;
    lg_tokenizer_session *session;
    lg_tokens tokens, extended;
    lg_words words[LG_N_WORD_LISTS]; /* those that the recipe measured */
    lg_filler filler;
    size_t *pieces; /* [farthest + 1] of the filler drawn last */
    size_t n_pieces;
    size_t asides[LG_MAX_ASIDES]; /* pieces of filler that stand before the distance begins */
    size_t n_asides;
    lg_probe_items *items;
    uint64_t distance;
    /* The filler asked for is this much longer than the distance: what the last try lacked. */
    long long adjust;
    const char *obstacle; /* why no try has come off yet, of those that got farthest */
    int stage;            /* how far that was */
    bool hopeless;        /* more tries would not help */
    size_t n_curtailed;   /* distractors of discourse that did not fit into the distance */
    const struct lg_group *group;
    lg_words elements; /* of the group */
};

/* ---- for recipes: each does nothing once the draft has failed ---- */

void lg_draft_clear(lg_draft *draft);
void lg_draft_put(lg_draft *draft, const char *format, ...) LG_PRINTF(2, 3);
/* What is put between the two is a span. */
size_t lg_draft_open(const lg_draft *draft);
void lg_draft_close(lg_draft *draft, const char *role, size_t begin);
void lg_draft_choice(lg_draft *draft, int bound, int listed, const char *format, ...) LG_PRINTF(4, 5);

/* Puts a piece of filler into DRAFT, as long as there are fewer than LG_MAX_ASIDES; the recipe sets n_asides
   to 0 for each item. */
void lg_maker_put_aside(lg_maker *maker, lg_random *random, lg_draft *draft);
/* Draws filler of the distance less TAKEN tokens into `pieces`. false (and an obstacle): there is none. */
bool lg_maker_fill(lg_maker *maker, lg_random *random, size_t taken);
/* Why a try fails, and at what STAGE: 0 words, 1 putting together, 2 filler, 3 what the tokenizer makes of
 * it. */
void lg_maker_hinder(lg_maker *maker, int stage, const char *obstacle);
void lg_maker_put_pieces(const lg_maker *maker, lg_draft *draft, size_t begin, size_t end);
/* The list cut by this maker's tokenizer. */
lg_status lg_maker_words(lg_maker *maker, lg_word_list list, const lg_words **words);
/* Tokens that TEXT (with a space before it) adds behind a sentence. */
lg_status lg_maker_measure(lg_maker *maker, const char *text, size_t length, size_t *tokens);

#endif
