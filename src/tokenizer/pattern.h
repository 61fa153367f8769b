/* Regular expressions as tokenizer.json has them (Oniguruma, Ruby syntax), matched with PCRE2. */
#ifndef LG_TOKENIZER_PATTERN_H
#define LG_TOKENIZER_PATTERN_H

#include "base/text.h"
#include "tokenizer/unicode.h"

typedef struct lg_pattern lg_pattern; /* immutable, shared by threads */

/* LG_BAD_INPUT with the reason when the pattern is wrong or has what we do not translate; NAME is the file.
 */
lg_status lg_pattern_compile(const char *pattern, size_t length, const char *name, lg_pattern **out,
                             lg_error *error);
void lg_pattern_free(lg_pattern *pattern);

/* Puts the PCRE2 form of an Oniguruma pattern; returns NULL, or why there is none. */
const char *lg_pattern_translate(const char *pattern, size_t length, lg_text *out);

/* Where matches are looked for: valid UTF-8 that PCRE2 knows, made from any bytes. {0} to start. */
typedef struct lg_subject {
    const char *text;
    size_t length;
    lg_text copy;    /* what TEXT is when the original would not do */
    size_t *widened; /* [count] ends, in the copy, of the U+FFFD that stand for one byte, ascending */
    size_t count, capacity;
    size_t seen; /* of `widened`, by lg_subject_original */
} lg_subject;

bool lg_subject_is_plain(const lg_classes *classes, const char *text,
                         size_t length); /* can be matched as it is */
/* PLAIN: known to be so. false: no memory. TEXT is borrowed. */
bool lg_subject_set(lg_subject *subject, const lg_classes *classes, const char *text, size_t length,
                    bool plain);
size_t lg_subject_original(lg_subject *subject, size_t at); /* the byte of the original; AT never decreases */
void lg_subject_free(lg_subject *subject);

/* Finds matches front to back, as Hugging Face does: no empty match right after another. */
typedef struct lg_matcher lg_matcher; /* scratch of one thread */

lg_matcher *lg_matcher_create(void); /* NULL: no memory */
void lg_matcher_free(lg_matcher *matcher);

typedef struct lg_match_state {
    size_t from, last_end;
    bool matched;
} lg_match_state; /* {0} to start */

typedef enum lg_match { LG_MATCH_FOUND, LG_MATCH_NONE, LG_MATCH_LIMIT, LG_MATCH_MEMORY } lg_match;

lg_match lg_pattern_next(const lg_pattern *pattern, lg_matcher *matcher, const lg_subject *subject,
                         lg_match_state *state, size_t *start, size_t *end);

#endif
