/* flood.c - zones as fast as they come.
 *   flood N             N zones
 *   flood N left        until nobody records any more; 3 if somebody does after N
 *   flood N blocked     with SIGUSR1 blocked and pending; 1 if it was delivered
 * SPDX-License-Identifier: MIT */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "strobe/strobe.h"

int main(int argc, char **argv)
{
    sigset_t set;
    long n = argc > 1 ? atol(argv[1]) : 1000;
    if (argc > 2 && !strcmp(argv[2], "left")) {
        for (long i = 0; i < n && strobe_recording(); i++) {
            STROBE_SCOPE("flood");
        }
        return strobe_recording() ? 3 : 0;
    }
    if (argc > 2) {
        sigemptyset(&set);
        sigaddset(&set, SIGUSR1);
        sigprocmask(SIG_BLOCK, &set, NULL);
        raise(SIGUSR1);
    }
    for (long i = 0; i < n; i++) {
        STROBE_SCOPE("flood");
    }
    if (argc > 2) {
        sigpending(&set);
        return !sigismember(&set, SIGUSR1);
    }
    return 0;
}
