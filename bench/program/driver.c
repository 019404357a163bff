/* driver.c - renders the same picture again and again, by turns without zones, with the limit and
 * with a tracer, and prints the CPU time of each: "BENCH {json}".  argv[1]: how many times.
 * SPDX-License-Identifier: MIT */
#include "program/scene.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec ts;
    clock_gettime(clock, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static int compare_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Mean of the middle half of a[i] - b[i]: what was measured in the same turn is compared, so that a
 * change of the processor's speed between turns does not count. */
static double middle_of_differences(const double *a, const double *b, int n)
{
    double *differences = (double *)calloc((size_t)n, sizeof(double)), sum = 0;
    if (!differences)
        exit(1);
    for (int i = 0; i < n; i++)
        differences[i] = a[i] - b[i];
    qsort(differences, (size_t)n, sizeof(double), compare_double);
    for (int i = n / 4; i < n - n / 4; i++)
        sum += differences[i];
    free(differences);
    return sum / (n - n / 4 - n / 4);
}

int main(int argc, char **argv)
{
    float (*const films[3])(void) = {film_bare, film_limit, film_traced};
    static const char *const names[3] = {"bare", "limit", "traced"};
    int n = argc > 1 ? atoi(argv[1]) : 300;
    double *times[3];
    float sums[3] = {0, 0, 0};
    for (int f = 0; f < 3; f++)
        if (n < 1 || !(times[f] = (double *)calloc((size_t)n, sizeof(double))))
            return 2;
    for (int i = 0; i < 2000 && getenv("BENCH_WAIT") && !film_is_recorded(); i++)
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    for (int i = -10; i < n; i++) /* the first ten warm up */
        for (int turn = 0; turn < 3; turn++) {
            int f = (turn + i + 10) % 3;
            uint64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
            sums[f] = films[f]();
            if (i >= 0)
                times[f][i] = (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - start);
        }
    if (sums[0] != sums[1] || sums[0] != sums[2])
        fprintf(stderr, "the pictures differ\n");
    int zones = 1 + FILM_WIDTH * FILM_HEIGHT / (FILM_TILE * FILM_TILE) * (1 + FILM_TILE) +
                FILM_WIDTH * FILM_HEIGHT;
    double traced_added = middle_of_differences(times[2], times[0], n);
    double limit_added = middle_of_differences(times[1], times[0], n);
    printf("BENCH {\"zones\": %d, \"traced_added_ns\": %.1f, \"limit_added_ns\": %.1f", zones,
           traced_added, limit_added);
    for (int f = 0; f < 3; f++) {
        qsort(times[f], (size_t)n, sizeof(double), compare_double);
        printf(", \"%s_ns\": %.1f, \"%s_best_ns\": %.1f", names[f], times[f][n / 2], names[f],
               times[f][0]);
    }
    printf("}\n");
    return 0;
}
