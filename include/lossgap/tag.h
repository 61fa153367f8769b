/* Tags: what each token is. Span layers over the text, and token columns derived from them. */
#ifndef LOSSGAP_TAG_H
#define LOSSGAP_TAG_H

#include "lossgap/base.h"
#include "lossgap/dataset.h"

typedef struct lg_tag_options {
    size_t window;    /* L of the window variant of the copy features; 0: 8192 */
    unsigned threads; /* 0: all processors */
    const char *command;
} lg_tag_options;

/* Tags DATA into OUT, atomically (docs/formats/tags.md). */
LG_API lg_status lg_tag_run(const lg_dataset *data, const lg_tag_options *options, const char *out,
                            const lg_monitor *monitor, lg_error *error);

/* Whether PATH is what lg_tag_run would write now. A file that is missing, or holds something else, is not.
 */
LG_API lg_status lg_tag_is_current(const char *path, const lg_dataset *data, const lg_tag_options *options,
                                   bool *current, lg_error *error);
#endif
