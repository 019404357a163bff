/* brief.c - a program that lives about 5 ms, and one that measures what recording adds to it.
 *   brief                 emits for 5 ms of which it prints nothing
 *   brief measure RUNS    runs itself by turns recorded and with STROBE_DISABLE=1; prints the
 * median of both in us SPDX-License-Identifier: MIT */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "strobe/strobe.h"

extern char **environ;

static double now_us(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static void live(void)
{
    double end = now_us() + 5000;
    for (int i = 0; i < 1000; i++) {
        STROBE_SCOPE("brief");
    }
    while (now_us() < end)
        ;
}

static double run_once(char *program)
{
    char *argv[] = {program, NULL};
    pid_t child;
    double start = now_us();
    if (posix_spawn(&child, "/proc/self/exe", NULL, NULL, argv, environ))
        exit(1);
    waitpid(child, NULL, 0);
    return now_us() - start;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    enum { RUNS_MAX = 1000 };
    static double times[2][RUNS_MAX];
    if (argc < 3) {
        live();
        return 0;
    }
    int runs = atoi(argv[2]);
    for (int i = 0; i < 2 * runs && runs <= RUNS_MAX; i++) {
        setenv("STROBE_DISABLE", i % 2 ? "1" : "0", 1);
        times[i % 2][i / 2] = run_once(argv[0]);
    }
    qsort(times[0], (size_t)runs, sizeof(double), compare);
    qsort(times[1], (size_t)runs, sizeof(double), compare);
    printf("%.0f %.0f\n", times[0][runs / 2], times[1][runs / 2]);
    return 0;
}
