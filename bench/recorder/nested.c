/* nested.c - the generator of recorder/nested.h and its main: argv[1] zones, argv[2] seed.
 * SPDX-License-Identifier: MIT */
#include "recorder/nested.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const double work_ns = 65; /* per event; a zone has two */

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static __attribute__((noinline)) uint64_t work(uint64_t steps, uint64_t state)
{
    for (uint64_t i = 0; i < steps; i++)
        next_random(&state);
    return state;
}

static volatile uint64_t kept; /* the work's result goes here, so that it is done */

static double now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static double steps_per_ns(void)
{
    double best = 0;
    for (int i = 0; i < 20; i++) {
        double start = now_ns();
        kept = work(100000, kept + 1);
        double rate = 100000 / (now_ns() - start);
        best = rate > best ? rate : best;
    }
    return best;
}

void nested_zones(uint64_t n, uint64_t seed)
{
    uint64_t random = seed * 0x9e3779b97f4a7c15ull | 1, state = 1;
    uint64_t spread = (uint64_t)(2 * work_ns * steps_per_ns()) + 1;
    unsigned depth = 0;
    for (uint64_t begun = 0; begun < n || depth > 0;) {
        uint64_t dice = next_random(&random);
        int begin = depth == 0 || (depth < NESTED_DEPTH && (dice & 1));
        if (begin && begun < n) {
            nested_begin((unsigned)(dice >> 1) % NESTED_LOCATIONS);
            depth++;
            begun++;
        } else {
            nested_end();
            depth--;
        }
        state = work((dice >> 16) % spread, state);
    }
    kept = state;
}

#ifndef BENCH_NO_MAIN
int main(int argc, char **argv)
{
    uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 4000000;
    for (int i = 0; i < 2000 && getenv("BENCH_WAIT") && !nested_is_recorded(); i++)
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    double start = now_ns();
    nested_zones(n, argc > 2 ? strtoull(argv[2], NULL, 10) : 1);
    printf("BENCH {\"zones\": %llu, \"wall_s\": %.6f}\n", (unsigned long long)n,
           (now_ns() - start) / 1e9);
    return 0;
}
#endif
