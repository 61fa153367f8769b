/* What this build is. */
#include "lossgap/base.h"

const char *lg_version(void)
{
    return LG_VERSION;
}
