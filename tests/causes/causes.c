/* causes.c - a program that knows nothing of Strobe, with one cause of being slow planted in it, for about a second or less.
 *
 * usage: causes convoy | read | faults | crowd | leak | storm
 *   convoy  four threads that need one lock for nearly all they do
 *   read    a thread that reads what another writes once in 20 ms
 *   faults  touches pages that the kernel has to make, and gives them back
 *   crowd   four threads that may run on one processor alone
 *   leak    keeps a tenth of what it allocates, for good
 *   storm   allocates and frees all the time
 * SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define APART  __attribute__((noinline, noclone))
#define RUN_NS 1000000000ull

static uint64_t began;
static volatile uint64_t sink;

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int is_over(void)
{
    return now_ns() - began > RUN_NS;
}

static APART void work(uint64_t us)
{
    uint64_t until = now_ns() + us * 1000;
    while (now_ns() < until)
        sink += until;
}

static void run_threads(void *(*f)(void *), const char *const *names, int n)
{
    pthread_t threads[8];
    for (int i = 0; i < n; i++) {
        pthread_create(&threads[i], NULL, f, (void *)(intptr_t)i);
        pthread_setname_np(threads[i], names[i]);
    }
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
}

/* ---- convoy ---- */

static pthread_mutex_t ledger_lock = PTHREAD_MUTEX_INITIALIZER;

static APART void update_ledger(void)
{
    pthread_mutex_lock(&ledger_lock);
    work(900);
    pthread_mutex_unlock(&ledger_lock);
}

static void *clerk(void *arg)
{
    while (!is_over()) {
        update_ledger();
        work(50);
    }
    return arg;
}

static void convoy(void)
{
    static const char *const names[] = {"clerk 1", "clerk 2", "clerk 3", "clerk 4"};
    run_threads(clerk, names, 4);
}

/* ---- read ---- */

static int line_of[2];

static APART void read_request(void)
{
    char bytes[64];
    if (read(line_of[0], bytes, sizeof bytes) < 0)
        perror("read");
}

static void *reader_or_sender(void *arg)
{
    while (!is_over()) {
        if (arg) {
            struct timespec pause = {0, 20000000};
            nanosleep(&pause, NULL);
            if (write(line_of[1], "request", 7) < 0)
                perror("write");
        } else {
            read_request();
            work(200);
        }
    }
    if (arg)
        close(line_of[1]);
    return arg;
}

static void blocking_read(void)
{
    static const char *const names[] = {"reader", "sender"};
    if (!pipe(line_of))
        run_threads(reader_or_sender, names, 2);
}

/* ---- faults ---- */

static APART void touch_pages(void)
{
    const size_t n = 16 << 20;
    char *at = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return;
    for (size_t i = 0; i < n; i += 4096)
        at[i] = 1;
    munmap(at, n);
}

/* ---- crowd ---- */

static void *worker(void *arg)
{
    while (!is_over())
        work(500);
    return arg;
}

static void crowd(void)
{
    static const char *const names[] = {"worker 1", "worker 2", "worker 3", "worker 4"};
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    sched_setaffinity(0, sizeof one, &one);
    run_threads(worker, names, 4);
}

/* ---- memory ---- */

static void *volatile kept[500];
static unsigned n_kept;

static APART void *keep_session(void)
{
    void *at = malloc(20000);
    if (at)
        memset(at, 1, 20000);
    return at;
}

static APART void serve_request(unsigned i)
{
    void *answer = malloc(30000);
    if (answer)
        memset(answer, (int)i, 30000);
    if (i % 10 == 0)
        kept[n_kept++] = keep_session();
    free(answer);
}

static APART void parse_words(void)
{
    for (int i = 0; i < 10000; i++) {
        char *volatile word = malloc(24 + (size_t)i % 100);
        free(word);
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    began = now_ns();
    if (!strcmp(what, "convoy"))
        convoy();
    else if (!strcmp(what, "read"))
        blocking_read();
    else if (!strcmp(what, "faults"))
        while (!is_over())
            touch_pages();
    else if (!strcmp(what, "crowd"))
        crowd();
    else if (!strcmp(what, "leak"))
        for (unsigned i = 0; i < 5000; i++)
            serve_request(i);
    else if (!strcmp(what, "storm"))
        while (!is_over())
            parse_words();
    else
        return 2;
    return 0;
}
