/* crowd.c - many processes with many threads and deep stacks, as a Python service has them: bench_crowd PROCESSES THREADS DEPTH WAVES.
 * Each thread of each process calls itself DEPTH deep and returns, WAVES times, with three short calls at each depth on the way down,
 * and rests between.  SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <strobe/strobe.h>

enum { PLACES = 200, SHORT_CALLS = 3, REST_US = 20000, STACK_BYTES = 256 << 10 };

static struct strobe_loc places[PLACES];
static char names[PLACES][48];
static unsigned depth, n_waves;

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void make_places(void)
{
    static const char *const verb[] = {"parse", "visit", "check", "emit", "resolve"};
    static const char *const noun[] = {"module", "call", "body", "expression", "item"};
    for (unsigned i = 0; i < PLACES; i++) {
        snprintf(names[i], sizeof names[i], "%s_%s_%u", verb[i % 5], noun[i / 5 % 5], i / 25);
        places[i] = (struct strobe_loc){0, names[i], names[i], "service/app.py", 10 + i, 0};
    }
}

static void wait_us(uint64_t us)
{
    nanosleep(&(struct timespec){(time_t)(us / 1000000), (long)(us % 1000000) * 1000}, NULL);
}

static void call(uint64_t *state, unsigned left)
{
    struct strobe_zone zone = strobe_zone_begin(&places[next_random(state) % PLACES]);
    for (int i = 0; i < SHORT_CALLS; i++) {
        struct strobe_zone brief = strobe_zone_begin(&places[next_random(state) % PLACES]);
        for (uint64_t n = next_random(state) & 255; n; n--)
            next_random(state);
        strobe_zone_end(&brief);
    }
    if (left > 1)
        call(state, left - 1);
    strobe_zone_end(&zone);
}

static void *run(void *arg)
{
    uint64_t state = (uint64_t)(uintptr_t)arg | 1;
    for (unsigned i = 0; i < n_waves; i++) {
        call(&state, depth);
        wait_us(REST_US / 2 + next_random(&state) % REST_US);
    }
    return NULL;
}

static int run_threads(unsigned process, unsigned n_threads)
{
    pthread_t *threads = calloc(n_threads, sizeof *threads);
    pthread_attr_t small;
    if (!threads || pthread_attr_init(&small))
        return 1;
    pthread_attr_setstacksize(&small, STACK_BYTES);
    for (unsigned i = 0; i < n_threads; i++)
        if (pthread_create(
                &threads[i], &small, run,
                (void *)(uintptr_t)(0x9e3779b97f4a7c15u * (process * n_threads + i + 1))))
            return 1;
    for (unsigned i = 0; i < n_threads; i++)
        pthread_join(threads[i], NULL);
    free(threads);
    return 0;
}

int main(int argc, char **argv)
{
    unsigned n_processes = argc > 1 ? (unsigned)atoi(argv[1]) : 64,
             n_threads = argc > 2 ? (unsigned)atoi(argv[2]) : 32, n_failed = 0;
    depth = argc > 3 ? (unsigned)atoi(argv[3]) : 100;
    n_waves = argc > 4 ? (unsigned)atoi(argv[4]) : 20;
    if (!n_processes || !n_threads || !depth)
        return 1;
    make_places();
    for (int i = 0; i < 2000 && getenv("BENCH_WAIT") && !strobe_recording(); i++)
        wait_us(10000);
    for (unsigned i = 0; i < n_processes; i++) {
        pid_t pid = fork();
        if (pid < 0)
            return 1;
        if (!pid)
            exit(run_threads(i, n_threads));
    }
    for (int status; wait(&status) > 0;)
        n_failed += status != 0;
    printf("BENCH {\"zones\": %llu}\n",
           (unsigned long long)n_processes * n_threads * n_waves * depth * (1 + SHORT_CALLS));
    return n_failed != 0;
}
