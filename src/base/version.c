/* What this build is. */
#include "lossgap/base.h"

const char *lg_version(void) {
    return LG_VERSION;
}

const char *lg_build_info(void) {
    return "compiler " __VERSION__ ", flags " LG_FLAGS;
}
