/* hello.c - the smallest program worth recording, in C.
 *     cc hello.c $(pkg-config --cflags --libs strobe) && strobe record ./a.out
 * SPDX-License-Identifier: MIT */
#include <strobe/strobe.h>

#include <stdio.h>

static unsigned long collatz_steps(unsigned long n)
{
    STROBE_SCOPE("collatz");
    unsigned long steps = 0;
    for (; n != 1; steps++)
        n = n % 2 ? 3 * n + 1 : n / 2;
    STROBE_VALUE(steps);
    return steps;
}

int main(void)
{
    STROBE_SCOPE("main");
    unsigned long longest = 0;
    for (unsigned long n = 1; n <= 1000; n++) {
        unsigned long steps = collatz_steps(n);
        if (steps > longest) {
            longest = steps;
            STROBE_MESSAGEF(STROBE_INFO, "%lu takes %lu steps", n, steps);
        }
        STROBE_PLOT_INT("steps", (int64_t)steps);
    }
    printf("hello: the longest way to 1 has %lu steps\n", longest);
    return 0;
}
