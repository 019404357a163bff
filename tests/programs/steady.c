/* steady.c - threads that emit without pause, for recorders that come and go; each counts what it emitted.
 *   steady PAGES N_THREADS [PAUSE_US]     PAGES: a file that gets a struct count per thread
 * Says "ready" when all run, ends when its stdin ends.  SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "strobe/strobe.h"

/* OFFSET SIZE FIELD    one per thread
 *      0    8 rounds   zones tried
 *      8    8 stored   of them emitted
 *     16    8 dropped  of them dropped and counted
 *     24    8 tid
 *     32    8 begins   1 while it begins a zone
 *     40   24 unused */
struct count {
    atomic_ulong rounds, stored, dropped, tid, begins;
    unsigned long unused[3];
};

static atomic_int stop, n_running;
static useconds_t pause_us;

static void *emit(void *context)
{
    struct count *count = context;
    atomic_store(&count->tid, (unsigned long)gettid());
    atomic_fetch_add(&n_running, 1);
    while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
        atomic_store_explicit(&count->begins, 1, memory_order_relaxed);
        STROBE_ZONE(zone, "steady");
        atomic_store_explicit(&count->begins, 0, memory_order_relaxed);
        if (strobe_zone_is_emitted(&zone))
            atomic_fetch_add_explicit(&count->stored, 1, memory_order_relaxed);
        else if (zone.on && zone.on / 4 != 3) /* 3: the recorder just left */
            atomic_fetch_add_explicit(&count->dropped, 1, memory_order_relaxed);
        STROBE_ZONE_END(zone);
        atomic_fetch_add_explicit(&count->rounds, 1, memory_order_relaxed);
        if (pause_us)
            usleep(pause_us);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int n = argc > 2 ? atoi(argv[2]) : 1;
    pause_us = argc > 3 ? (useconds_t)atoi(argv[3]) : 0;
    int fd = argc > 1 ? open(argv[1], O_RDWR | O_CREAT, 0600) : -1;
    size_t n_bytes = (size_t)n * sizeof(struct count);
    if (fd < 0 || ftruncate(fd, (off_t)n_bytes))
        return 2;
    struct count *counts = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    pthread_t *threads = calloc((size_t)n, sizeof *threads);
    if (counts == MAP_FAILED || !threads)
        return 2;
    for (int i = 0; i < n; i++)
        if (pthread_create(&threads[i], NULL, emit, &counts[i]))
            return 2;
    while (atomic_load(&n_running) < n)
        usleep(500);
    puts("ready");
    fflush(stdout);
    while (getchar() != EOF)
        ;
    atomic_store(&stop, 1);
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
