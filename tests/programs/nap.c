/* nap.c - a zone of 50 ms around ten of 2 ms.  SPDX-License-Identifier: MIT */
#include <time.h>

#include "strobe/strobe.h"

static void sleep_ms(long ms)
{
    struct timespec ts = {0, ms * 1000000};
    nanosleep(&ts, NULL);
}

int main(void)
{
    STROBE_SCOPE("nap");
    for (int i = 0; i < 10; i++) {
        STROBE_SCOPE("doze");
        sleep_ms(2);
    }
    sleep_ms(30);
    return 0;
}
