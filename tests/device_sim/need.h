/* need.h - for programs with devices: what must not fail.  SPDX-License-Identifier: MIT */
#ifndef STROBE_TESTS_NEED_H
#define STROBE_TESTS_NEED_H

#include <stdio.h>
#include <stdlib.h>

#include "strobe/device.h"

static inline void need(enum strobe_device_result result, const char *what)
{
    if (!result)
        return;
    fprintf(stderr, "%s: %s (%s)\n", what, strobe_device_result_text(result),
            strobe_device_reason());
    exit(1);
}

#endif
