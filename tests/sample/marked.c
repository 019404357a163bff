/* marked.c - a function that runs only inside of a zone, and one that runs only outside: whoever samples it knows what a clock is worth.
 *   marked ROUNDS   SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <strobe/strobe.h>

#define FAR static __attribute__((noinline, noclone))

static volatile unsigned long sink;

FAR void inside(void)
{
    for (int i = 0; i < 20000; i++)
        sink += (unsigned long)i;
}

FAR void outside(void)
{
    for (int i = 0; i < 20000; i++)
        sink ^= (unsigned long)i;
}

int main(int argc, char **argv)
{
    for (int i = argc > 1 ? atoi(argv[1]) : 1; i > 0; i--) {
        {
            STROBE_SCOPE("inside");
            inside();
        }
        outside();
    }
    return 0;
}
