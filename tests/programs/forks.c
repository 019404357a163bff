/* forks.c - new processes while 8 threads emit.
 *   forks MODE N   N children, one after the other, by fork, _Fork, clone or vfork (which execs)
 *   forks leaf     what vfork's children run
 *   forks inherit  a child that ends zones which its parent began, and goes on
 * Every child emits 10 zones. Prints how many zones each thread emitted.  SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "strobe/strobe.h"

enum { N_THREADS = 8 };
static atomic_int stop;
static long counts[N_THREADS];

static void *work(void *context)
{
    int me = (int)(long)context;
    char name[16];
    snprintf(name, sizeof name, "worker%d", me);
    STROBE_THREAD_NAME(name);
    while (!atomic_load(&stop)) {
        for (int i = 0; i < 10; i++) {
            STROBE_SCOPE("outer");
            STROBE_SCOPE("inner");
            STROBE_VALUE((uint64_t)i);
            counts[me] += 2;
        }
        usleep(300);
    }
    return NULL;
}

static void emit(int n)
{
    for (int i = 0; i < n; i++) {
        STROBE_SCOPE("child");
    }
}

static void be_child(void)
{
    emit(10);
    _exit(0);
}

static pid_t start_child(const char *mode, char **argv)
{
    pid_t child;
    if (!strcmp(mode, "fork"))
        child = fork();
    else if (!strcmp(mode, "_Fork"))
        child = _Fork();
    else if (!strcmp(mode, "clone"))
        child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    else {
        child = vfork();
        if (child == 0) {
            execl("/proc/self/exe", argv[0], "leaf", (char *)NULL);
            _exit(127);
        }
        return child;
    }
    if (child == 0)
        be_child();
    return child;
}

/* `really`: else only once through all locations, so that they have names. */
static void inherit(int really)
{
    STROBE_ZONE(outer, "begun by the parent");
    STROBE_ZONE(inner, "inner of the parent");
    pid_t child = really ? fork() : 0;
    STROBE_ZONE_END(inner);
    emit(10);
    STROBE_ZONE_END(outer);
    if (child)
        waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
    pthread_t threads[N_THREADS];
    if (argc == 2 && !strcmp(argv[1], "leaf"))
        be_child();
    if (argc == 2 && !strcmp(argv[1], "inherit"))
        return inherit(0), inherit(1), 0;
    if (argc != 3)
        return 2;
    emit(1); /* so that the location has a name before the first child uses it */
    STROBE_ZONE(whole, "open in the parent");
    for (long i = 0; i < N_THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = atoi(argv[2]); i > 0; i--) {
        int status = 1;
        pid_t child = start_child(argv[1], argv);
        if (child < 0 || waitpid(child, &status, 0) != child || status) {
            fprintf(stderr, "a child failed: %x\n", status);
            return 1;
        }
    }
    atomic_store(&stop, 1);
    for (int i = 0; i < N_THREADS; i++) {
        pthread_join(threads[i], NULL);
        printf("worker%d %ld\n", i, counts[i]);
    }
    STROBE_ZONE_END(whole);
    return 0;
}
