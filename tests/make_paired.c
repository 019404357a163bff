/* make_paired.c - large traces of fibers, spans or GPU zones, for measurements: make_paired OUT KINDS ZONES [raw]. KINDS: letters t, f, s, g, G. With
 * raw the zones are left to readers to pair.  SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "paired_trace.h"
#include "query/pair.h"

int main(int argc, char **argv)
{
    static struct paired_trace t;
    struct strobe_file_writer *writer;
    if (argc < 4) {
        fprintf(stderr, "usage: make_paired OUT KINDS ZONES [raw]\n");
        return 2;
    }
    if (strobe_file_create(argv[1], "/run/synthetic", 1000000000, &writer) ||
        !paired_start(&t, writer, 1) || !paired_fill(&t, argv[2], strtoull(argv[3], NULL, 10)))
        return 1;
    paired_free(&t);
    strobe_file_totals(writer)->n_procs = 1;
    strobe_file_totals(writer)->n_threads = 2;
    if (argc == 4 && strobe_pair_write(writer, NULL))
        return 1;
    return strobe_file_finish(writer) != STROBE_OK;
}
