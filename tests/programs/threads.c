/* threads.c - many threads.
 *   threads alive N_THREADS N_ZONES   all alive at once before the first one emits
 *   threads storm N_THREADS N_ZONES   starting and ending all the time, 16 at once; a thread-local
 * destructor emits SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "strobe/strobe.h"

static int n_zones;
static pthread_barrier_t barrier;
static pthread_key_t key;

static void *emit(void *unused)
{
    for (int i = 0; i < n_zones; i++) {
        STROBE_SCOPE("work");
    }
    return unused;
}

static void *emit_together(void *unused)
{
    pthread_barrier_wait(&barrier);
    emit(unused);
    pthread_barrier_wait(&barrier); /* nobody ends before all have emitted */
    return NULL;
}

static void *emit_and_leave(void *unused)
{
    pthread_setspecific(key, (void *)1);
    return emit(unused);
}

/* Rounds 1 to 3: in the fourth and last one the library may be gone before us. */
static void destroy(void *round)
{
    STROBE_SCOPE("destructor");
    if ((long)round < 3)
        pthread_setspecific(key, (void *)((long)round + 1));
}

static pthread_t start(void *(*run)(void *))
{
    pthread_attr_t attr;
    pthread_t thread;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 64 << 10);
    if (pthread_create(&thread, &attr, run, NULL)) {
        perror("pthread_create");
        exit(77);
    }
    return thread;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    int n_threads = atoi(argv[2]), alive = !strcmp(argv[1], "alive");
    int n_at_once = alive ? n_threads : 16;
    pthread_t *threads = calloc((size_t)n_at_once, sizeof *threads);
    n_zones = atoi(argv[3]);
    pthread_barrier_init(&barrier, NULL, (unsigned)n_threads);
    pthread_key_create(&key, destroy);
    for (int i = 0; i < n_threads; i++) {
        if (i >= n_at_once)
            pthread_join(threads[i % n_at_once], NULL);
        threads[i % n_at_once] = start(alive ? emit_together : emit_and_leave);
    }
    for (int i = 0; i < n_at_once && i < n_threads; i++)
        pthread_join(threads[i], NULL);
    free(threads);
    return 0;
}
