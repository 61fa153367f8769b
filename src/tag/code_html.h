/* What the files of HTML share. */
#ifndef LG_TAG_CODE_HTML_H
#define LG_TAG_CODE_HTML_H

#include "tag/code_internal.h"

/* In place of a tag: the content of a script or a style, which another language cuts. */
enum { LG_HTML_RAW_JAVASCRIPT = 0x4000, LG_HTML_RAW_CSS };

/* code_html_lex.c: cuts all of TEXT into leaves. SEEN [n_bytes]: a copy without what the grammar does not
   know or takes amiss. O(n). false: no memory. */
bool lg_html_lex(const char *text, size_t n_bytes, char *seen, lg_spans *leaves);
/* Whether NAME, in any case, is an element without content. */
bool lg_html_is_void(const char *name, size_t length);

#endif
