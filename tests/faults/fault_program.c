/* fault_program.c - programs that are recorded while something goes wrong; they count their events
 * (counted.h).
 *
 *     fault_program PAGES steps N PAUSE_US [CODE]  N rounds of 4 events; results[0] = 1 at the end;
 * exits with CODE fault_program PAGES stall N THREADS          waits for `stop`, then N zones per
 * thread; results[0]: ns taken fault_program PAGES signals N                a loop of events,
 * interrupted by N signals that emit too fault_program PAGES overwrite WHAT SEED      a child
 * writes random words into its own pool; the parent emits WHAT: data, heads, table, control, all
 * SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

#include <strobe/strobe.h>

#include "counted.h"

static inline void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    __asm__ volatile("yield");
#endif
}

static struct counted_head *head;

static uint64_t now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static void sleep_us(int us)
{
    struct timespec ts = {us / 1000000, us % 1000000 * 1000L};
    if (us)
        nanosleep(&ts, NULL);
}

static struct counted_page *begin_thread(int i)
{
    struct counted_page *page = counted_thread(head, i);
    page->pid = (uint64_t)getpid();
    page->tid = (uint64_t)gettid();
    page->recorded = (uint64_t)strobe_recording();
    return page;
}

/* ---- steps ---- */

static struct strobe_loc step_loc = {0, "step", "step", __FILE__, __LINE__, 0};

static void step(struct counted_page *page, uint64_t i)
{
    struct strobe_zone zone;
    char name[40];
    snprintf(name, sizeof name, "plot %llu", (unsigned long long)(i % 100));
    COUNTED(page, zone = strobe_zone_begin(&step_loc));
    COUNTED(page, strobe_message(STROBE_INFO, 0, name, strlen(name)));
    COUNTED(page, strobe_plot_named(name, (double)i));
    COUNTED(page, strobe_zone_end(&zone));
}

static int run_steps(uint64_t n, int pause_us, int code)
{
    struct counted_page *page = begin_thread(0);
    for (uint64_t i = 0; i < n; i++) {
        step(page, i);
        if (i % 100 == 99)
            sleep_us(pause_us);
    }
    head->results[0] = 1;
    return code;
}

/* ---- stall ---- */

static uint64_t n_zones;
static pthread_barrier_t barrier;

static void *emit_zones(void *context)
{
    struct counted_page *page = begin_thread((int)(intptr_t)context);
    step(page, 0);
    __atomic_add_fetch(&head->n_ready, 1, __ATOMIC_SEQ_CST);
    while (!head->stop)
        sleep_us(500);
    pthread_barrier_wait(&barrier);
    uint64_t start = now_ns();
    for (uint64_t i = 0; i < n_zones; i++) {
        STROBE_ZONE(zone, "many");
        STROBE_ZONE_END(zone);
        if (i % 1024 == 0) /* names have a way of their own to wait */
            STROBE_PLOT("some", (double)i);
    }
    uint64_t took = now_ns() - start, seen = head->results[0];
    while (took > seen && !__atomic_compare_exchange_n(&head->results[0], &seen, took, false,
                                                       __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        ;
    return NULL;
}

static int run_stall(uint64_t n, int n_threads)
{
    pthread_t threads[16];
    n_zones = n;
    pthread_barrier_init(&barrier, NULL, (unsigned)n_threads);
    for (int i = 1; i < n_threads; i++)
        pthread_create(&threads[i], NULL, emit_zones, (void *)(intptr_t)i);
    emit_zones(NULL);
    for (int i = 1; i < n_threads; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

/* ---- signals ---- */

static struct counted_page *handler_page;
static uint64_t n_signals;
static pthread_t main_thread;

static void on_signal(int number)
{
    struct strobe_zone zone;
    (void)number;
    static struct strobe_loc loc = {0, "handler", "on_signal", __FILE__, __LINE__, 0};
    COUNTED(handler_page, zone = strobe_zone_begin(&loc));
    if (handler_page->before % 8 == 1)
        COUNTED(handler_page, strobe_zone_text("from the handler", 16));
    COUNTED(handler_page, strobe_zone_end(&zone));
    __atomic_add_fetch(&head->results[1], 1, __ATOMIC_SEQ_CST);
}

/* Signals from outside, at any instruction of the loop; it raises the rest itself, so that a busy
 * machine takes no longer. */
static void *shoot(void *context)
{
    (void)context;
    sigset_t prof;
    sigemptyset(&prof);
    sigaddset(&prof, SIGPROF);
    pthread_sigmask(SIG_BLOCK, &prof, NULL); /* the timer's too go to the loop */
    for (uint64_t i = 0; !head->stop; i++) {
        pthread_kill(main_thread, SIGPROF);
        for (uint64_t k = 0; k < 40 + i % 61; k++)
            relax();
    }
    return NULL;
}

static int run_signals(uint64_t n)
{
    struct counted_page *page = begin_thread(0);
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, 1000}, {0, 1000}};
    pthread_t shooter;
    handler_page = counted_thread(head, 1);
    n_signals = n;
    main_thread = pthread_self();
    sigaction(SIGPROF, &action, NULL);
    pthread_create(&shooter, NULL, shoot, NULL);
    setitimer(ITIMER_PROF, &often, NULL);
    for (uint64_t i = 0; head->results[1] < n_signals; i++) {
        if (i % 2)
            raise(SIGPROF), head->results[2]++;
        STROBE_LOC(outer, "outer", 0);
        STROBE_LOC(inner, "inner", 0);
        struct strobe_zone a, b;
        COUNTED(page, a = strobe_zone_begin(&outer));
        COUNTED(page, b = strobe_zone_begin(&inner));
        COUNTED(page, strobe_zone_end(&b));
        COUNTED(page, strobe_zone_end(&a));
        if (i % 4 == 0)
            step(page, i);
        if (i % 16 == 0)
            COUNTED(page, strobe_callstack(4));
    }
    head->stop = 1;
    memset(&often, 0, sizeof often);
    setitimer(ITIMER_PROF, &often, NULL);
    pthread_join(shooter, NULL);
    return 0;
}

/* ---- overwrite ---- */

struct range {
    uint64_t *words;
    uint64_t n;
};

static struct range find_pool(void)
{
    struct range pool = {NULL, 0};
    char line[4096];
    FILE *maps = fopen("/proc/self/maps", "r");
    char mine[32];
    snprintf(mine, sizeof mine, "/%d-", (int)getpid());
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long from, to;
        /* the largest of its mappings: another one only holds the lock */
        if (strstr(line, ".pool") && strstr(line, mine) &&
            sscanf(line, "%lx-%lx", &from, &to) == 2 && (to - from) / 8 > pool.n)
            pool = (struct range){(uint64_t *)from, (to - from) / 8};
    }
    if (maps)
        fclose(maps);
    return pool;
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

enum { TABLE_WORD = 512, DATA_WORD = 1024, CHUNK_WORDS = 8192 };

/* A place to hit, as a word of the pool. */
static uint64_t aim(const char *what, uint64_t random, uint64_t n)
{
    uint64_t n_chunks = (n - DATA_WORD) / CHUNK_WORDS;
    if (!strcmp(what, "control"))
        return 16 + random % 24; /* what the process writes itself: counts, ids */
    if (!strcmp(what, "table"))
        return TABLE_WORD + random % (2 * n_chunks);
    if (!strcmp(what, "heads"))
        return DATA_WORD + random % 16 * CHUNK_WORDS + (random >> 8) % 64 * 128 +
               (random >> 16) % 8;
    if (!strcmp(what, "data"))
        return DATA_WORD + random % (16 * CHUNK_WORDS);
    return 8 + random % (n - 8); /* all but the first words, which say what the file is */
}

static void *emit_endlessly(void *context)
{
    struct counted_page *page = context;
    for (uint64_t i = 0;; i++)
        step(page, i);
    return NULL;
}

static void destroy_own_pool(const char *what, uint64_t seed)
{
    struct counted_page *page = counted_thread(head, 1);
    struct range pool = find_pool();
    pthread_t thread;
    step(page, 0);
    pthread_create(&thread, NULL, emit_endlessly, page);
    uint64_t state = seed * 0x9e3779b97f4a7c15ull + 1, end = now_ns() + 250000000ull;
    while (pool.n && now_ns() < end) {
        for (int i = 0; i < 20; i++) {
            uint64_t at = aim(what, next_random(&state), pool.n);
            ((volatile uint64_t *)pool.words)[at] =
                next_random(&state) >> (next_random(&state) & 63);
        }
        sleep_us(50);
    }
    _exit(pool.n ? 0 : 9);
}

static int run_overwrite(const char *what, uint64_t seed)
{
    struct counted_page *page = begin_thread(0);
    pid_t child = fork();
    if (child == 0)
        destroy_own_pool(what, seed);
    uint64_t end = now_ns() + 350000000ull;
    int status = 0;
    for (uint64_t i = 0; now_ns() < end; i++) {
        step(page, i);
        sleep_us(20);
    }
    kill(child, SIGKILL); /* it may hang in what it made of its pool */
    waitpid(child, &status, 0);
    head->results[0] = 1;
    head->results[1] = (uint64_t)child;
    return WIFEXITED(status) && WEXITSTATUS(status) == 9 ? 9 : 0;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 3 ? argv[2] : "";
    alarm(300); /* should nobody come to stop it */
    if (argc > 3)
        head = counted_open(argv[1], 16);
    if (!strcmp(mode, "steps") && argc > 4)
        return run_steps(strtoull(argv[3], NULL, 10), atoi(argv[4]), argc > 5 ? atoi(argv[5]) : 0);
    if (!strcmp(mode, "stall") && argc > 4)
        return run_stall(strtoull(argv[3], NULL, 10), atoi(argv[4]));
    if (!strcmp(mode, "signals"))
        return run_signals(strtoull(argv[3], NULL, 10));
    if (!strcmp(mode, "overwrite") && argc > 4)
        return run_overwrite(argv[3], strtoull(argv[4], NULL, 10));
    fputs("usage: fault_program PAGES steps|stall|signals|overwrite ...\n", stderr);
    return 2;
}
