/* names.c - N zones with as many different run-time names; prints by how many KiB the process grew.
 *   names N [FILL]   FILL: a letter; every name is filled up to 5000 bytes with it
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "strobe/strobe.h"

static long resident_kib(void)
{
    long size = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%ld %ld", &size, &resident) != 2)
        resident = 0;
    if (file)
        fclose(file);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 1000, before = resident_kib();
    for (long i = 0; i < n; i++) {
        static char name[5000];
        size_t n_bytes = (size_t)snprintf(name, sizeof name, "name %ld", i);
        if (argc > 2) {
            memset(name + n_bytes, argv[2][0], sizeof name - n_bytes);
            n_bytes = sizeof name;
        }
        struct strobe_zone zone = strobe_zone_begin_at("names.c", 1, "main", name, n_bytes, 0);
        strobe_zone_end(&zone);
    }
    printf("%ld\n", resident_kib() - before);
    return 0;
}
