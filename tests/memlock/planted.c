/* planted.c - a program that knows nothing of Strobe, with a cause planted in it. What it allocates is the same in every run.
 *
 * usage: planted leak | storm N | turns | sides | convoy | inversion | family | fork | remap FILE
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

static void *volatile kept[1000];
static volatile unsigned sink;

/* ---- memory ---- */

static APART void *forget_it(size_t n)
{
    void *at = malloc(n);
    memset(at, 1, n);
    return at;
}

static APART void leak_blocks(void)
{
    for (int i = 0; i < 100; i++)
        kept[i] = forget_it(10000);
    memset((void *)kept, 0, sizeof kept);
}

static APART void use_and_free(void)
{
    for (int i = 0; i < 100; i++)
        kept[i] = malloc(50000);
    for (int i = 0; i < 100; i++)
        free(kept[i]);
    memset((void *)kept, 0, sizeof kept);
}

static APART void storm(long n)
{
    for (long i = 0; i < n; i++) {
        void *volatile at = malloc(16 + (size_t)i % 256);
        free(at);
    }
}

static APART void deep(int depth, long n)
{
    if (depth)
        deep(depth - 1, n);
    else
        storm(n);
    __asm__ volatile("" ::: "memory"); /* no tail call */
}

/* Frames of every shape, from two places by turns: an alloca's size decides where what lies further in is. */
static APART void by_size(size_t n)
{
    volatile char *room = __builtin_alloca(n + 1);
    room[n] = 1;
    void *volatile at = malloc(24);
    free(at);
}

static APART void by_itself(size_t n)
{
    void *volatile at = malloc(24 + n % 2);
    free(at);
}

static APART void left(size_t n)
{
    by_size(n);
    by_itself(n);
    sink++;
}

static APART void right(size_t n)
{
    by_itself(n);
    by_size(n);
    sink++;
}

/* The same two places, at the same place of the stack, in turns, from callers that differ further out alone. */
static APART void in_both(size_t n)
{
    by_itself(n);
    by_size(16);
    sink++;
}

static APART void from_here(size_t n)
{
    in_both(n);
    sink++;
}

static APART void from_there(size_t n)
{
    in_both(n);
    sink += 2;
}

static APART void take_sides(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        from_here(i);
        if (i % 4)
            from_there(i);
    }
}

static APART void take_turns(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        left(i % 5 * 48);
        right(i % 3 * 48);
        if (i % 2)
            left(16);
    }
}

/* What programs rely on. */
static int family(void)
{
    void *at = NULL;
    errno = 77;
    int ok =
        !posix_memalign(&at, 256, 100) && !((uintptr_t)at & 255) && malloc_usable_size(at) >= 100;
    free(at);
    at = aligned_alloc(64, 128);
    ok = ok && !((uintptr_t)at & 63);
    at = realloc(at, 5000);
    free(at);
    char *zero = calloc(100, 10);
    for (int i = 0; i < 1000; i++)
        ok = ok && !zero[i];
    free(zero);
    at = reallocarray(NULL, 10, 10);
    free(at);
    free(NULL);
    ok = ok && errno == 77; /* nobody touched it */
    volatile size_t huge = SIZE_MAX / 2;
    ok = ok && !malloc(huge) && errno == ENOMEM;
    ok = ok && !calloc(huge, 4) && !reallocarray(NULL, huge, 4);
    at = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    at = mremap(at, 1 << 20, 2 << 20, MREMAP_MAYMOVE);
    ok = ok && at != MAP_FAILED && !munmap(at, 2 << 20);
    puts(ok ? "as ever" : "changed");
    return !ok;
}

/* Two mappings grow: one of a file, one of memory. */
static APART int remap(const char *path)
{
    FILE *file = fopen(path, "rb");
    void *of_file = file ? mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fileno(file), 0) : MAP_FAILED;
    void *plain = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return of_file == MAP_FAILED || plain == MAP_FAILED ||
           mremap(of_file, 4096, 8192, MREMAP_MAYMOVE) == MAP_FAILED ||
           mremap(plain, 1 << 20, 2 << 20, MREMAP_MAYMOVE) == MAP_FAILED;
}

static int fork_and_leak(void)
{
    use_and_free();
    pid_t child = fork();
    if (!child) {
        leak_blocks();
        exit(0);
    }
    int status = 1;
    waitpid(child, &status, 0);
    return status;
}

/* ---- locks ---- */

enum { THREADS = 3, TURNS = 20 };

pthread_mutex_t crowded = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER;

static void rest(long ms)
{
    struct timespec time = {0, ms * 1000000};
    nanosleep(&time, NULL);
}

static APART void stand_in_line(void)
{
    pthread_mutex_lock(&crowded);
    rest(2);
    pthread_mutex_unlock(&crowded);
}

static void *line(void *unused)
{
    (void)unused;
    for (int i = 0; i < TURNS; i++) {
        stand_in_line();
        rest(1);
    }
    return NULL;
}

static void *both(void *back)
{
    pthread_mutex_t *outer = back ? &two : &one, *inner = back ? &one : &two;
    pthread_mutex_lock(outer);
    pthread_mutex_lock(inner);
    pthread_mutex_unlock(inner);
    pthread_mutex_unlock(outer);
    return NULL;
}

static int run_threads(int n, void *(*run)(void *), void *(*argument)(int), int one_by_one)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < n; i++) {
        pthread_create(&threads[i], NULL, run, argument(i));
        if (one_by_one)
            pthread_join(threads[i], NULL);
    }
    for (int i = 0; i < n && !one_by_one; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

static void *number(int i)
{
    return (void *)(intptr_t)i;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "leak";
    if (!strcmp(what, "leak")) {
        use_and_free();
        leak_blocks();
    } else if (!strcmp(what, "storm")) {
        struct timespec begin, end;
        long n = argc > 2 ? atol(argv[2]) : 100000;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
        deep(19, n);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
        printf("%.1f ns\n",
               ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) /
                   (double)n);
    } else if (!strcmp(what, "lock")) {
        struct timespec begin, end;
        long n = argc > 2 ? atol(argv[2]) : 100000;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
        for (long i = 0; i < n; i++) {
            pthread_mutex_lock(&one);
            pthread_mutex_unlock(&one);
        }
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
        printf("%.1f ns\n",
               ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) /
                   (double)n);
    } else if (!strcmp(what, "convoy")) {
        return run_threads(THREADS, line, number, 0);
    } else if (!strcmp(what, "inversion")) {
        return run_threads(2, both, number, 1);
    } else if (!strcmp(what, "turns")) {
        take_turns(1000);
    } else if (!strcmp(what, "sides")) {
        take_sides(1000);
    } else if (!strcmp(what, "family")) {
        return family();
    } else if (!strcmp(what, "fork")) {
        return fork_and_leak();
    } else if (!strcmp(what, "remap")) {
        return remap(argv[argc - 1]);
    }
    return 0;
}
