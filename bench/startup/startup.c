/* startup.c - starts two programs by turns, argv[1] and argv[2], argv[3] times each, and prints how
 * long they lived, "BENCH {json}": medians of wall and CPU time in ms.  SPDX-License-Identifier: MIT */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

static double now_ms(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static double ms_of(struct timeval tv)
{
    return (double)tv.tv_sec * 1e3 + (double)tv.tv_usec / 1e3;
}

static void time_of(char *path, double *wall_ms, double *cpu_ms)
{
    char *argv[] = {path, NULL};
    pid_t pid;
    int status;
    struct rusage used;
    double start = now_ms();
    if (posix_spawn(&pid, path, NULL, NULL, argv, environ) ||
        wait4(pid, &status, 0, &used) != pid || status != 0) {
        fprintf(stderr, "%s: failed\n", path);
        exit(1);
    }
    *wall_ms = now_ms() - start;
    *cpu_ms = ms_of(used.ru_utime) + ms_of(used.ru_stime);
}

static int compare_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
    int n = argc > 3 ? atoi(argv[3]) : 0;
    if (n < 1) {
        fprintf(stderr, "usage: %s PROGRAM PROGRAM TIMES\n", argv[0]);
        return 2;
    }
    double *times[4]; /* wall of the first and the second, CPU of both */
    for (int i = 0; i < 4; i++)
        if (!(times[i] = (double *)calloc((size_t)n, sizeof(double))))
            return 1;
    for (int i = 0; i < 2 * n; i++) {
        int which = (i + 1) / 2 % 2; /* first, second, second, first */
        time_of(argv[1 + which], &times[which][i / 2], &times[2 + which][i / 2]);
    }
    for (int i = 0; i < 4; i++)
        qsort(times[i], (size_t)n, sizeof(double), compare_double);
    printf("BENCH {\"first_ms\": %.3f, \"second_ms\": %.3f, \"first_cpu_ms\": %.3f, "
           "\"second_cpu_ms\": %.3f}\n",
           times[0][n / 2], times[1][n / 2], times[2][n / 2], times[3][n / 2]);
    return 0;
}
