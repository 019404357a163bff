/* smoke.c - a program for another machine: threads and a forked child that emit events which can be counted.
 *
 *     smoke           4 threads x 5,000 zones with 50 messages, then a child with 1,000 zones
 *     smoke hot N     N zones in one function, for who counts instructions
 * SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <strobe/strobe.h>

enum { N_THREADS = 4, N_ZONES = 5000, N_CHILD = 1000 };

__attribute__((noinline)) static void hot(struct strobe_loc *loc)
{
    struct strobe_zone zone = strobe_zone_begin(loc);
    strobe_zone_end(&zone);
}

static void *work(void *context)
{
    for (int i = 0; i < N_ZONES; i++) {
        STROBE_SCOPE("work");
        if (i % 100 == 0)
            strobe_message(STROBE_INFO, 0, "hundred", 7);
    }
    return context;
}

int main(int argc, char **argv)
{
    static struct strobe_loc loc = {0, "hot", "main", __FILE__, __LINE__, 0};
    pthread_t threads[N_THREADS];
    if (argc == 3 && !strcmp(argv[1], "hot")) {
        for (int i = atoi(argv[2]); i > 0; i--)
            hot(&loc);
        return 0;
    }
    for (int i = 0; i < N_THREADS; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < N_CHILD; i++)
            hot(&loc);
        exit(0);
    }
    return child < 0 || waitpid(child, NULL, 0) != child;
}
