/* flight.c - what a flight recorder is for: beats under a zone that is open all the time, and something at the end.
 *   flight MS late|ask|crash|wait [MS]   after MS of beats: a zone `late` of 30 ms, strobe_trigger(), abort(), or nothing;
 *   then MS more of beats.  SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "strobe/strobe.h"

static void nap_ms(long ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

static void beats(long ms)
{
    for (long i = 0; i < ms; i++) {
        for (int k = 0; k < 20; k++) {
            STROBE_SCOPE("beat");
        }
        nap_ms(1);
    }
}

int main(int argc, char **argv)
{
    STROBE_SCOPE("all");
    if (argc < 3)
        return 2;
    beats(atol(argv[1]));
    if (!strcmp(argv[2], "late")) {
        STROBE_SCOPE("late");
        nap_ms(30);
    } else if (!strcmp(argv[2], "ask")) {
        strobe_trigger("wanted");
    } else if (!strcmp(argv[2], "crash")) {
        abort();
    }
    if (argc > 3)
        beats(atol(argv[3]));
    return 0;
}
