/* many.c LOCATIONS THREADS - more locations in constant memory than the library has places for, from several threads at once;
 * then a zone that a fork cuts in two, and zones that end out of order.  SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tracy/TracyC.h>

static struct ___tracy_source_location_data *locations;
static int n_locations;

static void *work(void *unused)
{
    for (int i = 0; i < n_locations; i++) {
        TracyCZoneCtx zone = ___tracy_emit_zone_begin(&locations[i], 1);
        ___tracy_emit_zone_value(zone, (uint64_t)i);
        ___tracy_emit_zone_end(zone);
    }
    return unused;
}

static void make_locations(void)
{
    locations = calloc((size_t)n_locations, sizeof *locations);
    for (int i = 0; i < n_locations; i++) {
        char *name = malloc(32);
        snprintf(name, 32, "place %d", i);
        locations[i] = (struct ___tracy_source_location_data){name, "work", "many.c", (uint32_t)i, 0};
    }
}

static int fork_in_zone(void)
{
    int status = 1;
    TracyCZoneN(cut, "cut by a fork", 1);
    pid_t child = fork();
    TracyCZoneN(both, "in both", 1);
    TracyCZoneEnd(both);
    TracyCZoneEnd(cut);
    if (child == 0)
        exit(0);
    waitpid(child, &status, 0);
    return status;
}

int main(int argc, char **argv)
{
    pthread_t threads[16];
    n_locations = argc > 1 ? atoi(argv[1]) : 100;
    int n_threads = argc > 2 ? atoi(argv[2]) : 1;
    make_locations();
    for (int i = 0; i < n_threads; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < n_threads; i++)
        pthread_join(threads[i], NULL);
    TracyCZoneN(first, "ends first", 1);
    TracyCZoneN(second, "never ends", 1);
    TracyCZoneEnd(first);
    (void)second;
    return fork_in_zone();
}
