/* The words that probes are made of, and how a tokenizer cuts them. */
#ifndef LG_PROBE_WORDS_H
#define LG_PROBE_WORDS_H

#include "lossgap/tokenizer.h"
#include "probe/random.h"

typedef enum lg_word_list {
    LG_NAMES_HE,  /* first names that English gives to men */
    LG_NAMES_SHE, /* … to women */
    LG_NAMES,     /* both */
    LG_ROLES,     /* what people are, said of anybody */
    LG_OBJECTS,   /* things to carry, each taking "a" */
    LG_THINGS,    /* "red lamp": every colour with every object */
    LG_PLACES,    /* that one is "in" */
    LG_N_WORD_LISTS,
} lg_word_list;

/* The words of LIST; *COUNT: how many. LG_NAMES and LG_THINGS are put together: see lg_words. */
const char *const *lg_word_list_of(lg_word_list list, size_t *count);

extern const char *const lg_predicates[]; /* of pronoun memory: "reviewed the report" */
extern const size_t lg_n_predicates;
extern const char *const lg_deeds[]; /* of entity tracking: "carried" */
extern const size_t lg_n_deeds;
extern const char *const lg_tags[], *const lg_environments[]; /* of closure: "header", "proof" */
extern const size_t lg_n_tags, lg_n_environments;
extern const char *const lg_common_words[]; /* of the filler */
extern const size_t lg_n_common_words;

/* A list as one tokenizer cuts it. Words with the same cut have the same number of tokens, both behind a
   space and at the beginning of a text. */
typedef struct lg_words {
    const char **words; /* [count] */
    char *storage;      /* of words that are put together */
    uint32_t *cuts;     /* [count] 65536 × tokens at the beginning + tokens behind a space */
    uint32_t *firsts;   /* [count] the first token behind a space */
    size_t count;
} lg_words;

lg_status lg_words_measure(lg_words *words, lg_word_list list, lg_tokenizer_session *session,
                           lg_tokens *tokens, lg_error *error);
void lg_words_free(lg_words *words);

/* Draws N different words with the same cut, and where possible different first tokens, into CHOSEN
   (indices). CUT 0: any, else that one. false: none found. */
bool lg_words_draw(const lg_words *words, lg_random *random, uint32_t cut, size_t n, size_t *chosen);

#endif
