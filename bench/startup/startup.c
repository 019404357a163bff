/* startup.c - starts two programs by turns, argv[1] and argv[2], argv[3] times each, and prints how
 * long they lived in wall time: "BENCH {json}", medians and best in ms.  SPDX-License-Identifier:
 * MIT */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

static double now_ms(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static double time_of(char *path)
{
    char *argv[] = {path, NULL};
    pid_t pid;
    int status;
    double start = now_ms();
    if (posix_spawn(&pid, path, NULL, NULL, argv, environ) || waitpid(pid, &status, 0) != pid ||
        status != 0) {
        fprintf(stderr, "%s: failed\n", path);
        exit(1);
    }
    return now_ms() - start;
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
    double *times[2] = {(double *)calloc((size_t)n, sizeof(double)),
                        (double *)calloc((size_t)n, sizeof(double))};
    if (!times[0] || !times[1])
        return 1;
    for (int i = 0; i < n; i++)
        for (int which = 0; which < 2; which++)
            times[which][i] = time_of(argv[1 + which]);
    for (int which = 0; which < 2; which++)
        qsort(times[which], (size_t)n, sizeof(double), compare_double);
    printf("BENCH {\"first_ms\": %.3f, \"second_ms\": %.3f, \"first_best_ms\": %.3f, "
           "\"second_best_ms\": %.3f}\n",
           times[0][n / 2], times[1][n / 2], times[0][0], times[1][0]);
    return 0;
}
