/* What tables say of the tokens that they are about. */
#ifndef LG_REPORT_ABOUT_H
#define LG_REPORT_ABOUT_H

#include "base/text.h"
#include "lossgap/gap.h"

/* "1 token", "1,234 tokens". */
void lg_about_counted(lg_text *out, uint64_t n, const char *what);
/* How many TOKENS in how many DOCUMENTS were counted, what was left out, definitions and the condition. */
void lg_about_tokens(const lg_gap_about *about, uint64_t tokens, uint64_t documents, lg_text *out);

#endif
