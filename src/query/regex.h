/* Regular expressions of queries: PCRE2 over bytes that need not be UTF-8, with limits. */
#ifndef LG_QUERY_REGEX_H
#define LG_QUERY_REGEX_H

#include "base/json.h"
#include "lossgap/base.h"

typedef struct lg_query_regex lg_query_regex;
typedef struct lg_query_matcher
    lg_query_matcher; /* of one thread: scratch, and what was found of texts before */

/* Compiles PATTERN [length]. *REGEX NULL: it is wrong (MESSAGE [256] and byte *AT say how), or too long;
   LG_FAILED: no memory. */
lg_status lg_query_regex_compile(const char *pattern, size_t length, bool ignore_case, lg_query_regex **regex,
                                 char message[256], size_t *at, lg_error *error);
void lg_query_regex_free(lg_query_regex *regex);

lg_query_matcher *lg_query_matcher_create(const lg_query_regex *regex); /* NULL: no memory */
void lg_query_matcher_free(lg_query_matcher *matcher);

/* Whether the regex matches somewhere in TEXT. 1, 0; -1: it took too many steps; -2: no memory. */
int lg_query_match(lg_query_matcher *matcher, lg_string text);
/* The same, remembering the answer: TEXT stays where it is as long as the matcher lives. */
int lg_query_match_again(lg_query_matcher *matcher, lg_string text);

const char *lg_query_regex_pattern(const lg_query_regex *regex); /* for messages */

#endif
