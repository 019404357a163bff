/* jobs.c - a program with much to look at: bench_jobs ZONES THREADS [PAUSE_US [RATE]].
 * Each thread does jobs: trees of calls, seven deep, from 1,200 places, each level shorter than the one above it; what it does
 * changes from phase to phase. With PAUSE_US a thread rests so long, more or less, after every job, so that thousands of
 * threads run side by side. With RATE all threads together do so many zones a second, over time, and the first marks a frame
 * and plots a value after each of its jobs, all in a zone that never ends.  SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <strobe/strobe.h>

enum { DEPTH = 7, PER_DEPTH = 171, PLACES = 1200, PHASE_JOBS = 64, STACK_BYTES = 64 << 10 };

static struct strobe_loc places[PLACES];
static char names[PLACES][48];
static struct strobe_loc main_loop = {0, "main loop", "run", "src/engine/jobs.c", 1, 0};

struct worker {
    pthread_t thread;
    uint64_t state;    /* of its random numbers */
    uint64_t left;     /* zones to do */
    uint64_t n_jobs;   /* done */
    uint64_t pause_us; /* after a job */
    uint64_t n_zones;  /* to do in all */
    double rate;       /* zones a second; 0: as fast as it goes */
    int is_first;      /* of the threads */
    uint32_t bound;    /* children of a call, at most */
    volatile uint64_t kept;
};

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void make_places(void)
{
    static const char *const what[] = {"frame", "stage", "pass",  "batch",
                                       "tile",  "block", "kernel"};
    for (unsigned i = 0; i < PLACES; i++) {
        unsigned depth = i / PER_DEPTH % DEPTH;
        snprintf(names[i], sizeof names[i], "%s %u", what[depth], i % PER_DEPTH);
        places[i] = (struct strobe_loc){0, names[i], "run", "src/engine/jobs.c", 10 + i, 0};
    }
}

/* The place of a call: of twelve that belong to the depth and the phase. */
static struct strobe_loc *place(const struct worker *worker, unsigned depth, uint64_t dice)
{
    uint64_t phase = worker->n_jobs / PHASE_JOBS;
    return &places[(depth * PER_DEPTH + (phase * 7 + dice % 12) % PER_DEPTH) % PLACES];
}

static void work(struct worker *worker, uint64_t steps)
{
    uint64_t state = worker->kept | 1;
    for (uint64_t i = 0; i < steps; i++)
        next_random(&state);
    worker->kept = state;
}

static void call(struct worker *worker, unsigned depth)
{
    uint64_t dice = next_random(&worker->state);
    struct strobe_zone zone = strobe_zone_begin(place(worker, depth, dice >> 32));
    uint64_t n_calls = depth + 1 < DEPTH ? 1 + (dice >> 8) % worker->bound : 0;
    worker->left--;
    work(worker, dice & 127);
    for (uint64_t i = 0; i < n_calls && worker->left; i++)
        call(worker, depth + 1);
    work(worker, dice >> 58);
    strobe_zone_end(&zone);
}

static void rest(struct worker *worker)
{
    uint64_t us = worker->pause_us / 2 + next_random(&worker->state) % worker->pause_us;
    struct timespec time = {(time_t)(us / 1000000), (long)(us % 1000000) * 1000};
    nanosleep(&time, NULL);
}

/* Until the zones that are done should have been. */
static void wait_for_turn(const struct worker *worker, const struct timespec *start)
{
    double due = (double)(worker->n_zones - worker->left) / worker->rate;
    struct timespec then = {start->tv_sec + (time_t)due,
                            start->tv_nsec + (long)(1e9 * (due - (double)(time_t)due))};
    if (then.tv_nsec >= 1000000000)
        then = (struct timespec){then.tv_sec + 1, then.tv_nsec - 1000000000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &then, NULL);
}

static void *run(void *arg)
{
    struct worker *worker = arg;
    struct timespec start;
    clock_gettime(CLOCK_MONOTONIC, &start);
    if (worker->is_first && worker->rate > 0)
        strobe_zone_begin(&main_loop);
    while (worker->left) {
        uint64_t before = worker->left;
        call(worker, 0);
        worker->n_jobs++;
        if (worker->pause_us)
            rest(worker);
        if (worker->rate <= 0)
            continue;
        if (worker->is_first) {
            STROBE_FRAME();
            STROBE_PLOT_INT("zones of a job", (int64_t)(before - worker->left));
        }
        wait_for_turn(worker, &start);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t n_zones = argc > 1 ? strtoull(argv[1], NULL, 10) : 20000000;
    uint64_t n_threads = argc > 2 ? strtoull(argv[2], NULL, 10) : 16;
    uint64_t pause_us = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    double rate = argc > 4 ? strtod(argv[4], NULL) : 0;
    struct worker *workers = calloc(n_threads ? n_threads : 1, sizeof *workers);
    pthread_attr_t small;
    if (!workers || !n_threads || pthread_attr_init(&small))
        return 1;
    pthread_attr_setstacksize(&small, STACK_BYTES);
    make_places();
    for (int i = 0; i < 2000 && getenv("BENCH_WAIT") && !strobe_recording(); i++)
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    for (uint64_t i = 0; i < n_threads; i++) {
        workers[i] = (struct worker){.state = 88172645463325252ull + i,
                                     .left = n_zones / n_threads,
                                     .n_zones = n_zones / n_threads,
                                     .rate = rate / (double)n_threads,
                                     .is_first = i == 0,
                                     .pause_us = pause_us,
                                     .bound = pause_us ? 3 : 9};
        if (pthread_create(&workers[i].thread, &small, run, &workers[i]))
            return 1;
    }
    for (uint64_t i = 0; i < n_threads; i++)
        pthread_join(workers[i].thread, NULL);
    printf("BENCH {\"zones\": %llu}\n", (unsigned long long)(n_zones / n_threads * n_threads));
    free(workers);
    return 0;
}
