/* quiet.c - argv[1] processes that do almost nothing for argv[2] seconds: a zone every 100 ms each.
 * SPDX-License-Identifier: MIT */
#include <strobe/strobe.h>

#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void live_quietly(double seconds)
{
    for (int i = 0; i < (int)(seconds * 10); i++) {
        STROBE_SCOPE("tick");
        nanosleep(&(struct timespec){0, 100000000}, NULL);
    }
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 64;
    double seconds = argc > 2 ? strtod(argv[2], NULL) : 10;
    for (int i = 1; i < n; i++)
        if (fork() == 0) {
            live_quietly(seconds);
            return 0;
        }
    live_quietly(seconds);
    while (wait(NULL) > 0) {
    }
    return 0;
}
