/* Brown's tags for words without a letter or digit: its text has few of those that the web has. */
#ifndef LG_TAG_POS_SYMBOLS_H
#define LG_TAG_POS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>

/* The tags that lg_pos_symbol gives, NULL-terminated. */
extern const char *const lg_pos_symbol_tags[];

/* The index in lg_pos_symbol_tags of FORM's tag (typographic signs made plain, quotes by their side), or -1:
   it has a letter or digit, or Brown itself has it often and in two ways: a colon, a hyphen BETWEEN_NUMBERS.
 */
int lg_pos_symbol(const char *form, size_t n, bool between_numbers);

#endif
