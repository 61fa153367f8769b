/* Names of the kinds of text. */
#include <string.h>

#include "lossgap/dataset.h"

static const char *const names[LG_N_KINDS] = {"prose", "python", "html", "latex"};

const char *lg_kind_name(lg_kind kind) {
    return (unsigned)kind < LG_N_KINDS ? names[kind] : "unknown";
}

bool lg_kind_parse(const char *name, lg_kind *kind) {
    for (unsigned i = 0; i < LG_N_KINDS; i++)
        if (!strcmp(name, names[i])) {
            *kind = (lg_kind)i;
            return true;
        }
    return false;
}
