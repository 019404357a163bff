/* host.c - loads plugins, runs and unloads them.
 *   host ROUNDS PLUGIN...   every round loads each plugin, runs it on a thread that lives on and on a new one
 * Built three ways: with the library shared, static, and (HOST_PLAIN) not at all.  SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef HOST_PLAIN
#define STROBE_SCOPE(name) (void)0
#else
#include "strobe/strobe.h"
#endif

typedef void (*run_fn)(int);

static void *run_on_thread(void *run)
{
    STROBE_SCOPE("host");
    ((run_fn)run)(5);
    return NULL;
}

static void run_plugin(const char *path, int forks)
{
    pthread_t thread;
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    run_fn run = handle ? (run_fn)dlsym(handle, "plugin_run") : NULL;
    if (!run) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    run_on_thread((void *)run);
    pthread_create(&thread, NULL, run_on_thread, (void *)run);
    pthread_join(thread, NULL);
    if (forks && fork() == 0) {
        run_on_thread((void *)run);
        _exit(0);
    }
    if (forks)
        wait(NULL);
    dlclose(handle);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 1, forks = getenv("HOST_FORKS") != NULL;
    for (int i = 0; i < rounds; i++)
        for (int k = 2; k < argc; k++)
            run_plugin(argv[k], forks);
    return 0;
}
