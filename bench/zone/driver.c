/* driver.c - measures the cost of a zone against the limit of zone/loops.h, both in one run and by
 * turns. Linked with one of the loops_*.c; prints one line "BENCH {json}".
 *
 *   ratio N_THREADS         thread CPU time and wall time of zones and of the limit, by turns, all threads at once
 *   burst N_ZONES           a burst of zones in wall time after a rest, and of the limit likewise
 *   endless SECONDS         zones without a pause: wall time, CPU time, and so the share of waiting
 *   tail N_ZONES            cost of each single zone: median, p99.9, worst; and of the limit
 *   count N_ZONES           only the zones; their CPU time and how far the program grew
 *   paced N_ZONES SECONDS   so many zones a second, evenly: CPU time of a zone, and of the limit every tenth turn; ends
 *                           sooner when the file that BENCH_UNTIL names is there
 *
 * With BENCH_WAIT in the environment it first waits, at most 20 s, until it is recorded.
 * SPDX-License-Identifier: MIT */
#include "zone/loops.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { N_THREADS_MAX = 16, TURN_ZONES = 20000, N_TURNS = 100 };
enum { WARM_ZONES = 1500000 }; /* more than the pool holds: all of its pages are touched */

static void (*run_zones)(uint64_t n);
static void (*run_costs)(uint64_t n, uint32_t *ticks);
static int (*is_recorded)(void);

#ifdef BENCH_PLUGIN
#include <dlfcn.h>

static void find_loops(void)
{
    void *plugin = dlopen(BENCH_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    if (!plugin) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    *(void **)&run_zones = dlsym(plugin, "bench_zones");
    *(void **)&run_costs = dlsym(plugin, "bench_zone_costs");
    *(void **)&is_recorded = dlsym(plugin, "bench_is_recorded");
}
#else
static void find_loops(void)
{
    run_zones = bench_zones;
    run_costs = bench_zone_costs;
    is_recorded = bench_is_recorded;
}
#endif

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec ts;
    clock_gettime(clock, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void rest_ms(long ms)
{
    struct timespec ts = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&ts, NULL);
}

static __attribute__((noinline)) void run_limit(uint64_t n, struct bench_pair *pairs)
{
    uint64_t at = 0;
    for (uint64_t i = 0; i < n; i++) {
        bench_limit_store(&pairs[at], 1);
        bench_limit_store(&pairs[at + 1], 2);
        at = (at + 2) % BENCH_LIMIT_PAIRS;
    }
}

static __attribute__((noinline)) void run_limit_costs(uint64_t n, struct bench_pair *pairs,
                                                      uint32_t *ticks)
{
    for (uint64_t i = 0; i < n; i++) {
        uint64_t at = i * 2 % BENCH_LIMIT_PAIRS;
        uint64_t start = bench_ticks();
        bench_limit_store(&pairs[at], 1);
        bench_limit_store(&pairs[at + 1], 2);
        ticks[i] = (uint32_t)(bench_ticks() - start);
    }
}

/* ---- ratio and burst ---- */

struct cost {
    uint64_t cpu_ns, wall_ns;
};

struct worker {
    pthread_t thread;
    pthread_barrier_t *barrier; /* shared by all workers */
    struct cost zones, limit;   /* of N_TURNS * TURN_ZONES each */
};

static void add_time(struct cost *cost, int sign)
{
    uint64_t wall = clock_ns(CLOCK_MONOTONIC), cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    cost->cpu_ns += sign < 0 ? 0 - cpu : cpu;
    cost->wall_ns += sign < 0 ? 0 - wall : wall;
}

static void *measure_ratio(void *argument)
{
    struct worker *worker = (struct worker *)argument;
    static __thread struct bench_pair pairs[BENCH_LIMIT_PAIRS];
    run_limit(TURN_ZONES, pairs);
    run_zones(WARM_ZONES);
    pthread_barrier_wait(worker->barrier);
    for (int turn = 0; turn < 2 * N_TURNS; turn++) {
        int is_limit = (turn + 1) / 2 % 2; /* zones, limit, limit, zones: neither is always first */
        struct cost *cost = is_limit ? &worker->limit : &worker->zones;
        add_time(cost, -1);
        if (is_limit)
            run_limit(TURN_ZONES, pairs);
        else
            run_zones(TURN_ZONES);
        add_time(cost, 1);
    }
    return NULL;
}

static void print_costs(struct cost zones, struct cost limit, uint64_t n)
{
    printf("BENCH {\"zone_ns\": %.4f, \"limit_ns\": %.4f, \"zone_wall_ns\": %.4f, "
           "\"limit_wall_ns\": %.4f}\n",
           (double)zones.cpu_ns / (double)n, (double)limit.cpu_ns / (double)n,
           (double)zones.wall_ns / (double)n, (double)limit.wall_ns / (double)n);
}

static void do_ratio(int n_threads)
{
    static struct worker workers[N_THREADS_MAX];
    pthread_barrier_t barrier;
    struct cost zones = {0, 0}, limit = {0, 0};
    pthread_barrier_init(&barrier, NULL, (unsigned)n_threads);
    for (int i = 0; i < n_threads; i++) {
        workers[i].barrier = &barrier;
        if (pthread_create(&workers[i].thread, NULL, measure_ratio, &workers[i]))
            exit(1);
    }
    for (int i = 0; i < n_threads; i++) {
        pthread_join(workers[i].thread, NULL);
        zones.cpu_ns += workers[i].zones.cpu_ns;
        zones.wall_ns += workers[i].zones.wall_ns;
        limit.cpu_ns += workers[i].limit.cpu_ns;
        limit.wall_ns += workers[i].limit.wall_ns;
    }
    print_costs(zones, limit, (uint64_t)n_threads * N_TURNS * TURN_ZONES);
}

static void do_burst(uint64_t n)
{
    static struct bench_pair pairs[BENCH_LIMIT_PAIRS];
    struct cost zones = {0, 0}, limit = {0, 0};
    run_zones(WARM_ZONES);
    rest_ms(300);
    add_time(&limit, -1);
    run_limit(n, pairs);
    add_time(&limit, 1);
    rest_ms(300);
    add_time(&zones, -1);
    run_zones(n);
    add_time(&zones, 1);
    print_costs(zones, limit, n);
}

/* ---- endless, tail, count ---- */

static void do_endless(double seconds)
{
    uint64_t n = 0, cpu0 = clock_ns(CLOCK_THREAD_CPUTIME_ID), wall0 = clock_ns(CLOCK_MONOTONIC);
    uint64_t wall = 0;
    while ((double)wall < seconds * 1e9) {
        run_zones(TURN_ZONES);
        n += TURN_ZONES;
        wall = clock_ns(CLOCK_MONOTONIC) - wall0;
    }
    uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu0;
    printf("BENCH {\"zones\": %llu, \"wall_s\": %.6f, \"cpu_s\": %.6f}\n", (unsigned long long)n,
           (double)wall / 1e9, (double)cpu / 1e9);
}

static int compare_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static void print_tail(const char *name, uint32_t *ticks, uint64_t n, double ns_per_tick)
{
    qsort(ticks, n, sizeof *ticks, compare_u32);
    printf("\"%s\": {\"p50_ns\": %.1f, \"p999_ns\": %.1f, \"worst_ns\": %.1f}", name,
           ticks[n / 2] * ns_per_tick, ticks[n - 1 - n / 1000] * ns_per_tick,
           ticks[n - 1] * ns_per_tick);
}

static void do_tail(uint64_t n)
{
    static struct bench_pair pairs[BENCH_LIMIT_PAIRS];
    uint32_t *zones = (uint32_t *)malloc(n * sizeof *zones);
    uint32_t *limit = (uint32_t *)malloc(n * sizeof *limit);
    if (!zones || !limit)
        exit(1);
    memset(zones, 1, n * sizeof *zones);
    memset(limit, 1, n * sizeof *limit);
    uint64_t t0 = bench_ticks(), ns0 = clock_ns(CLOCK_MONOTONIC);
    uint64_t step = n / 20 ? n / 20 : n;
    for (uint64_t at = 0; at + step <= n; at += step) { /* by turns, the recorder keeps up */
        run_limit_costs(step, pairs, limit + at);
        run_costs(step, zones + at);
        rest_ms(20);
    }
    double ns_per_tick = (double)(clock_ns(CLOCK_MONOTONIC) - ns0) / (double)(bench_ticks() - t0);
    n = n / step * step;
    printf("BENCH {");
    print_tail("zone", zones, n, ns_per_tick);
    printf(", ");
    print_tail("limit", limit, n, ns_per_tick);
    printf("}\n");
    free(zones);
    free(limit);
}

/* Resident memory of this process in KiB. */
static long resident_kib(void)
{
    long total = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld %ld", &total, &resident) != 2)
        resident = 0;
    if (f)
        fclose(f);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static void do_count(uint64_t n)
{
    long before = resident_kib();
    uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID), wall = clock_ns(CLOCK_MONOTONIC);
    run_zones(n);
    cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
    wall = clock_ns(CLOCK_MONOTONIC) - wall;
    printf("BENCH {\"zones\": %llu, \"wall_s\": %.6f, \"cpu_s\": %.6f, \"grown_kib\": %ld}\n",
           (unsigned long long)n, (double)wall / 1e9, (double)cpu / 1e9, resident_kib() - before);
}

/* ---- paced ---- */

static void sleep_until(uint64_t ns)
{
    struct timespec at = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL))
        ;
}

/* A turn is a millisecond, or one zone where they are rarer. One that comes too late is made up for. */
static void do_paced(uint64_t per_second, double seconds)
{
    static struct bench_pair pairs[BENCH_LIMIT_PAIRS];
    uint64_t n = per_second > 1000 ? per_second / 1000 : 1;
    uint64_t pause_ns = 1000000000u * n / per_second;
    uint64_t zone_cpu = 0, limit_cpu = 0, n_limit = 0,
             n_turns = (uint64_t)(seconds * 1e9) / pause_ns;
    const char *until = getenv("BENCH_UNTIL");
    uint64_t start = clock_ns(CLOCK_MONOTONIC), turn = 0;
    for (; turn < n_turns; turn++) {
        sleep_until(start + turn * pause_ns);
        if (until && turn % (n > 1 ? 100 : 1) == 0 && access(until, F_OK) == 0)
            break;
        uint64_t t0 = clock_ns(CLOCK_THREAD_CPUTIME_ID);
        run_zones(n);
        uint64_t t1 = clock_ns(CLOCK_THREAD_CPUTIME_ID);
        zone_cpu += t1 - t0;
        if (turn % 10 == 0) {
            run_limit(n, pairs);
            limit_cpu += clock_ns(CLOCK_THREAD_CPUTIME_ID) - t1;
            n_limit += n;
        }
    }
    uint64_t wall = clock_ns(CLOCK_MONOTONIC) - start, zones = n * turn;
    printf("BENCH {\"zones\": %llu, \"wall_s\": %.3f, \"zone_ns\": %.4f, \"limit_ns\": %.4f}\n",
           (unsigned long long)zones, (double)wall / 1e9, (double)zone_cpu / (double)zones,
           (double)limit_cpu / (double)n_limit);
}

int main(int argc, char **argv)
{
    int is_paced = argc == 4 && !strcmp(argv[1], "paced");
    if (argc != 3 && !is_paced) {
        fprintf(stderr,
                "usage: %s ratio|burst|endless|tail|count NUMBER, or paced NUMBER SECONDS\n",
                argv[0]);
        return 2;
    }
    find_loops();
    for (int i = 0; i < 2000 && getenv("BENCH_WAIT") && !is_recorded(); i++)
        rest_ms(10);
    if (getenv("BENCH_WAIT") && !is_recorded())
        fprintf(stderr, "%s: nobody records\n", argv[0]);
    uint64_t n = strtoull(argv[2], NULL, 10);
    if (!strcmp(argv[1], "ratio") && n >= 1 && n <= N_THREADS_MAX)
        do_ratio((int)n);
    else if (!strcmp(argv[1], "burst"))
        do_burst(n);
    else if (!strcmp(argv[1], "endless"))
        do_endless(strtod(argv[2], NULL));
    else if (!strcmp(argv[1], "tail"))
        do_tail(n);
    else if (!strcmp(argv[1], "count"))
        do_count(n);
    else if (is_paced && n)
        do_paced(n, strtod(argv[3], NULL));
    else
        return 2;
    fflush(stdout);
    return 0;
}
