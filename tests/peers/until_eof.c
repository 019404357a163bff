/* until_eof.c - a program on Tracy's client that makes a zone every millisecond until its input ends.
 * SPDX-License-Identifier: MIT */
#include <poll.h>
#include <stdio.h>

#include "TracyC.h"

int main(void)
{
    struct pollfd input = {.fd = 0, .events = POLLIN};
    puts("begun");
    fflush(stdout);
    while (poll(&input, 1, 1) == 0) {
        TracyCZoneN(zone, "turn", 1);
        TracyCZoneEnd(zone);
    }
    return 0;
}
