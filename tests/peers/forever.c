/* forever.c - a program on a Tracy client that is started by hand and never shut down: it ends without a goodbye.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "TracyC.h"

int main(int argc, char **argv)
{
    int turns = argc > 1 ? atoi(argv[1]) : 500;
    ___tracy_startup_profiler();
    for (int i = 0; i < turns; i++) {
        TracyCZoneN(zone, "turn", 1);
        TracyCZoneEnd(zone);
    }
    printf("zones %d\n", turns);
    return 0;
}
