/* sanitized.c - a program built with a sanitizer, linked with the library as it is installed: zones, records, names, threads
 * that come and go, a fork.  SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "strobe/strobe.h"

enum { THREADS = 8, ROUNDS = 6, ZONES = 300 };

static void *work(void *context)
{
    (void)context;
    STROBE_NAME(plot, "plot");
    strobe_set_thread_name("sanitized");
    for (int i = 0; i < ZONES; i++) {
        STROBE_ZONE(zone, "zone");
        STROBE_TEXT("text");
        struct strobe_zone inner =
            strobe_zone_begin_at("file", (uint32_t)i % 7, "function", "inner", 5, 0);
        strobe_plot_int(&plot, i);
        strobe_zone_end(&inner);
        strobe_messagef(STROBE_INFO, 0, "message %d", i);
        STROBE_ZONE_END(zone);
    }
    return NULL;
}

int main(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_t threads[THREADS];
        for (int k = 0; k < THREADS; k++)
            if (pthread_create(&threads[k], NULL, work, NULL))
                return 1;
        for (int k = 0; k < THREADS; k++)
            pthread_join(threads[k], NULL);
    }
    pid_t child = fork();
    int status = 0;
    if (!child) {
        work(NULL);
        _exit(0);
    }
    waitpid(child, &status, 0);
    printf("%d\n", (THREADS * ROUNDS + 1) * ZONES);
    return status != 0;
}
