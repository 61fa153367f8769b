/* What the word problem shows to its test, and to what makes its items. */
#ifndef LG_PROBE_WORD_PROBLEM_H
#define LG_PROBE_WORD_PROBLEM_H

#include "probe/generate.h"
#include "probe/group.h"

enum { LG_WORD_CHOICES = 4 };

/* Chooses the words of a group of ORDER elements: the first of our list among those of the commonest number
   of tokens. */
lg_status lg_maker_elements(lg_maker *maker, size_t order);

/* The product of SEQUENCE [n] first, then three elements that it is not. */
void lg_word_choices(const lg_group *group, const size_t *sequence, size_t n, lg_random *random,
                     size_t choices[LG_WORD_CHOICES]);

#endif
