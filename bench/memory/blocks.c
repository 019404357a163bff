/* blocks.c - pairs of malloc and free, or of lock and unlock, 20 calls deep, and their CPU time.
 *
 * usage: blocks pairs | leak | locks  N. Prints "BENCH {json}".  SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DEPTH = 20 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static double cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void pairs(long n)
{
    for (long i = 0; i < n; i++) {
        void *volatile at = malloc(16 + (size_t)i % 256);
        free(at);
    }
}

static void locks(long n)
{
    for (long i = 0; i < n; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
}

static void leak(long n)
{
    for (long i = 0; i < n; i++) {
        char *volatile at = malloc(1000);
        *at = 1;
    }
}

static __attribute__((noinline)) double run(void (*work)(long), long n, int depth)
{
    double ns;
    if (depth) {
        ns = run(work, n, depth - 1);
    } else {
        double begin = cpu_ns();
        work(n);
        ns = cpu_ns() - begin;
    }
    __asm__ volatile("" ::: "memory"); /* no tail call */
    return ns;
}

int main(int argc, char **argv)
{
    long n = argc > 2 ? atol(argv[2]) : 0;
    if (n < 1)
        return 2;
    void (*work)(long) = !strcmp(argv[1], "locks")  ? locks
                         : !strcmp(argv[1], "leak") ? leak
                                                    : pairs;
    printf("BENCH {\"ns\": %.3f}\n", run(work, n, DEPTH) / (double)n);
    return 0;
}
