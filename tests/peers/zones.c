/* zones.c - a program on Tracy's own client, through its C API: so many zones in so many threads, then what its words say.
 * Prints what it emitted.
 *
 *   zones TURNS THREADS [sleep MS | fork | exec PROGRAM ARGUMENTS... | inzone | frames N | kill | endless]
 *
 * SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "TracyC.h"

static int turns;

static void turn(void)
{
    TracyCZoneN(outer, "outer", 1);
    TracyCZoneN(inner, "inner", 1);
    TracyCZoneEnd(inner);
    TracyCZoneEnd(outer);
}

static void *work(void *unused)
{
    (void)unused;
    TracyCSetThreadName("worker");
    for (int i = 0; i < turns; i++)
        turn();
    return NULL;
}

static void run_threads(int n)
{
    pthread_t threads[64];
    for (int i = 0; i < n; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
}

static void run_frames(int n)
{
    for (int i = 0; i < n; i++) {
        TracyCFrameMark; /* has a semicolon of its own in some versions */
    }
}

/* A copy of this process emits too: nothing can send it. */
static void run_copy(void)
{
    pid_t child = fork();
    if (child == 0) {
        turn();
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
    turns = argc > 1 ? atoi(argv[1]) : 500;
    int n_threads = argc > 2 ? atoi(argv[2]) : 1;
    const char *word = argc > 3 ? argv[3] : "";
    long long zones = 2ll * turns * n_threads;
    run_threads(n_threads);
    if (!strcmp(word, "sleep"))
        usleep((useconds_t)atoi(argv[4]) * 1000);
    else if (!strcmp(word, "fork"))
        run_copy();
    else if (!strcmp(word, "frames"))
        run_frames(atoi(argv[4]));
    else if (!strcmp(word, "endless"))
        for (;;) {
            turn();
            usleep(1000);
        }
    printf("zones %lld\n", zones);
    fflush(stdout);
    if (!strcmp(word, "exec")) {
        pid_t child = fork();
        if (child == 0) {
            execv(argv[4], argv + 4);
            _exit(127);
        }
        waitpid(child, NULL, 0);
    } else if (!strcmp(word, "inzone")) {
        TracyCZoneN(left, "left open", 1);
        (void)left;
        exit(0);
    } else if (!strcmp(word, "kill")) {
        usleep(300000);
        raise(SIGKILL);
    }
    return 0;
}
