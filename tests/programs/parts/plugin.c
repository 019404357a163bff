/* plugin.c - a shared object with zones of its own.  SPDX-License-Identifier: MIT */
#include "strobe/strobe.h"

__attribute__((visibility("default"))) void plugin_run(int n);

void plugin_run(int n)
{
    STROBE_SCOPE("plugin");
    for (int i = 0; i < n; i++) {
        STROBE_SCOPE("inside");
    }
}
