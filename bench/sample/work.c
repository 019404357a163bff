/* work.c - work of a fixed size without a mark, 20 calls deep, and the CPU time that it took.
 *
 *   work turns N THREADS   a loop of one function in each thread; prints the CPU time of a turn
 *   work leaves N          every turn in another of 4,096 places of one function
 *   work sleeps N          N short sleeps; prints the CPU time of the thread
 *   work crowd N           N threads that wait until the input ends
 *   work ready N           N times some work and a short sleep, on a processor that another thread keeps busy; prints how long it was ready and did not run
 *
 * Prints "BENCH {json}".  SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { DEPTH = 20, TURN = 1000, THREADS_MAX = 64 };

static volatile unsigned long sink;

static double cpu_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static __attribute__((noinline)) void turns(long n)
{
    for (long i = 0; i < n * TURN; i++)
        sink += (unsigned long)i;
}

/* 4,096 places, each of some instructions. */
#define P1(x)                         \
    case x:                           \
        sink += x * (unsigned long)i; \
        sink ^= sink >> 3;            \
        break;
#define P4(x)    P1(x) P1(x + 1) P1(x + 2) P1(x + 3)
#define P16(x)   P4(x) P4(x + 4) P4(x + 8) P4(x + 12)
#define P64(x)   P16(x) P16(x + 16) P16(x + 32) P16(x + 48)
#define P256(x)  P64(x) P64(x + 64) P64(x + 128) P64(x + 192)
#define P1024(x) P256(x) P256(x + 256) P256(x + 512) P256(x + 768)

static __attribute__((noinline)) void leaves(long n)
{
    for (long i = 0; i < n * TURN; i++)
        switch ((unsigned long)i * 2654435761u >> 7 & 4095) {
            P1024(0) P1024(1024) P1024(2048) P1024(3072)
        }
}

static void sleeps(long n)
{
    struct timespec rest = {0, 50000};
    for (long i = 0; i < n; i++)
        nanosleep(&rest, NULL);
}

static __attribute__((noinline)) void run(void (*work)(long), long n, int depth)
{
    if (depth)
        run(work, n, depth - 1);
    else
        work(n);
    __asm__ volatile("" ::: "memory"); /* no tail call */
}

static void *run_turns(void *n)
{
    run(turns, *(long *)n, DEPTH);
    return NULL;
}

static void *wait_for_end(void *nothing)
{
    pause();
    return nothing;
}

static volatile int is_over;

static void *burn(void *nothing)
{
    while (!is_over)
        sink++;
    return nothing;
}

/* The thread's time on a processor and ready for one, as the scheduler has it. */
static void read_schedstat(double *ran_ns, double *ready_ns)
{
    unsigned long long ran = 0, ready = 0;
    FILE *in = fopen("/proc/thread-self/schedstat", "r");
    if (!in || fscanf(in, "%llu %llu", &ran, &ready) != 2)
        ran = ready = 0;
    if (in)
        fclose(in);
    *ran_ns = (double)ran;
    *ready_ns = (double)ready;
}

static int ready(long n)
{
    cpu_set_t one;
    pthread_t thread;
    double ran[2], delay[2];
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    if (sched_setaffinity(0, sizeof one, &one) || pthread_create(&thread, NULL, burn, NULL))
        return 1;
    read_schedstat(&ran[0], &delay[0]);
    for (long i = 0; i < n; i++) {
        turns(1000);
        sleeps(1);
    }
    read_schedstat(&ran[1], &delay[1]);
    is_over = 1;
    pthread_join(thread, NULL);
    printf("BENCH {\"cpu_ns\": %.0f, \"ready_ns\": %.0f}\n", ran[1] - ran[0], delay[1] - delay[0]);
    return 0;
}

static int crowd(long n)
{
    char end;
    pthread_t thread;
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 64 << 10);
    for (long i = 0; i < n; i++)
        if (pthread_create(&thread, &attr, wait_for_end, NULL))
            return 1;
    puts("ready");
    fflush(stdout);
    return read(0, &end, 1) < 0;
}

int main(int argc, char **argv)
{
    long n = argc > 2 ? atol(argv[2]) : 0, n_threads = argc > 3 ? atol(argv[3]) : 1;
    pthread_t threads[THREADS_MAX];
    if (n < 1 || n_threads < 1 || n_threads > THREADS_MAX)
        return 2;
    if (!strcmp(argv[1], "crowd"))
        return crowd(n);
    if (!strcmp(argv[1], "ready"))
        return ready(n);
    double begin = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
    if (!strcmp(argv[1], "turns")) {
        for (long i = 0; i < n_threads; i++)
            if (pthread_create(&threads[i], NULL, run_turns, &n))
                return 1;
        for (long i = 0; i < n_threads; i++)
            pthread_join(threads[i], NULL);
    } else {
        run(!strcmp(argv[1], "leaves") ? leaves : sleeps, n, DEPTH);
    }
    double spent = cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - begin;
    printf("BENCH {\"cpu_ns\": %.0f, \"thread_ns\": %.0f, \"turn_ns\": %.4f}\n", spent,
           cpu_ns(CLOCK_THREAD_CPUTIME_ID), spent / (double)(n * n_threads));
    return 0;
}
